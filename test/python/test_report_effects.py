# SPDX-License-Identifier: Apache-2.0
"""Returns whether the report names the layers that are worth more bits."""

import json

import bit_widths
import corrections
import measure
import numpy as np
import pytest

# A probability of 0 has no logarithm; as mct-measure-sensitivity has it.
# The gain is that of the quantizers alone, without corrections that are fitted to the other layers.
UNCORRECTED = {"round_weights": "false", "weights_bias_correction": "false", "judge_corrections": "false"}
LEAST = 1e-10


def layers_of(report):
    """Operators with a kernel, with the operator that makes the result of each: its own, or what is fused to it."""
    return {
        operator["name"]: operator["group"] or operator["name"]
        for operator in report["operators"]
        if any("/kernel_attr" in point for point in operator["points"])
    }


def rules_for(report, raised=""):
    """Four bits wherever the target offers them; kernel and result of one layer get eight."""
    names = {point["name"] for point in report["points"]}
    lines = []
    for layer, result in layers_of(report).items():
        lines.append(f'name "{layer}" weights={8 if layer == raised else 4}')
        if result in names:
            lines.append(f'name "{result}" activation={8 if layer == raised else 4}')
    results = set(layers_of(report).values())
    for operator in report["operators"]:
        offers = {one["activation_bits"] for one in operator["alternatives"]}
        if operator["name"] in names - results and 4 in offers:
            lines.append(f'name "{operator["name"]}" activation=4')
    return "".join(line + "\n" for line in lines)


def ranks(values):
    """Places of distinct values in their order."""
    return np.argsort(np.argsort(values))


def spearman(left, right):
    return float(np.corrcoef(ranks(left), ranks(right))[0, 1])


# The target has kernels and activations of 8 or 4 bits. The prediction uses only 128 of the calibration images and the
# network of four bits; the gain is that in the divergence of the probabilities on 2000 other images, with one layer at
# eight bits, in networks without corrections. Layers in the middle gain about the same, by
# chance more or less. The correlation is 0.90 with the kernels for AVX-512.
@pytest.mark.thorough
def test_layers_of_resnet8_rank_by_their_effect_as_by_what_eight_bits_gain(shared, tmp_path):
    network = corrections.RESNET8
    target = bit_widths.choices(tmp_path, (8, 4), (8, 4))
    module, rules, output = tmp_path / "quantized.mlirbc", tmp_path / "rules", tmp_path / "probabilities.npy"

    def quantize(text):
        rules.write_text(text)
        measure.run_ok(
            measure.ptq_command(
                network["model"], network["calibration"], module, target=target, overrides=rules, **UNCORRECTED
            )
        )

    def report():
        path = tmp_path / "report.json"
        measure.run_ok(measure.run_command(module, network["calibration"], compare=network["model"], report=path))
        return json.loads(path.read_text())

    def probabilities(model, **options):
        measure.run_ok(measure.run_command(model, network["inputs"], output=output, **options))
        return np.maximum(np.load(output).astype(np.float64), LEAST)

    expected = probabilities(network["model"])

    def distance():
        # In front of the quantizer of the probabilities: those that it makes 0 would be all that counts.
        found = probabilities(module, float_points="mul")
        return float((expected * np.log(expected / found)).sum(axis=1).mean())

    quantize("")
    eight = report()
    quantize(rules_for(eight))
    four, whole = report(), distance()
    effects = {operator["name"]: operator["effect"]["gain"] for operator in four["operators"] if "effect" in operator}
    gains = {}
    for layer in layers_of(eight):
        quantize(rules_for(eight, layer))
        gains[layer] = whole - distance()
    assert len(gains) == 10
    for layer, gain in sorted(gains.items(), key=lambda item: -item[1]):
        print(f"{layer:10} in float {effects[layer]:.4f}, with 8 bits {gain:.4f}")
    correlation = spearman([effects[layer] for layer in gains], list(gains.values()))
    print(f"divergence {whole:.4f}, Spearman correlation {correlation:.3f}")
    assert correlation >= 0.8
