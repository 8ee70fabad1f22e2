# SPDX-License-Identifier: Apache-2.0
"""Gradient-based post-training quantization: mct-gptq lowers the error on samples that it is not trained on."""

import math
import re

import corrections
import measure
import numpy as np
import pytest
from killed_runs import run_killed

DIGITS = {"calibration-data": measure.DIGITS / "digits_calib.npy", "input-scale": 0.0625}
REMARK = re.compile(
    r"training (?:lowers|does not lower) the (?:divergence|mean squared error) of its results on (\d+) samples "
    r"from (\S+?),? (?:to|but makes it) (\S+?)(?:;.*)?$"
)


WEIGHTS = np.random.default_rng(7).normal(size=(4, 1, 1, 8)).astype(np.float32)
LAYER = f"""
func.func @main(%x: tensor<1x1x1x8xf32>) -> tensor<1x1x1x4xf32> {{
  %k = "tosa.const"() <{{values = dense<{WEIGHTS.tolist()}> : tensor<4x1x1x8xf32>}}> : () -> tensor<4x1x1x8xf32>
  %w = tpc.quantize %k as "layer" weight "kernel_attr" parameters(#tpc.symmetric<threshold = [2.5], bits = 3>)
         : tensor<4x1x1x8xf32>
  %b = "tosa.const"() <{{values = dense<0.0> : tensor<4xf32>}}> : () -> tensor<4xf32>
  %z = "tosa.const"() <{{values = dense<0.0> : tensor<1xf32>}}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>,
    stride = array<i64: 1, 1>}}
    : (tensor<1x1x1x8xf32>, tensor<4x1x1x8xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x4xf32>
    loc("layer")
  return %0 : tensor<1x1x1x4xf32>
}}
"""


def train(module, output, **options):
    """Runs mct-gptq with remarks. Returns what is judged before and after training, and by how many samples."""
    text = " ".join(f"{name}={value}" for name, value in (DIGITS | {"remarks": "true"} | options).items())
    finished = measure.run_ok([measure.BIN / "mct-opt", module, f"--mct-gptq={text}", "-o", output])
    prefixes = ("remark:", "warning:")
    found = [REMARK.search(line) for line in finished.stderr.splitlines() if any(kind in line for kind in prefixes)]
    (match,) = [one for one in found if one]
    return float(match[2]), float(match[3]), int(match[1])


@pytest.fixture(scope="session")
def two_bits(tools, tmp_path_factory):
    """The digits with weights of two bits, rounded together."""
    folder = tmp_path_factory.mktemp("two_bits")
    output = folder / "rounded.mlir"
    rules = folder / "two_bits.rules"
    rules.write_text('name "*" weights=2\n')
    options = {"overrides": rules, "input_scale": 0.0625}
    measure.run_ok(measure.ptq_command(measure.DIGITS / "digits.mlirbc", DIGITS["calibration-data"], output, **options))
    return output


@pytest.mark.alternating
def test_training_lowers_the_error_on_other_samples(two_bits, tmp_path):
    output = tmp_path / "trained.mlir"
    before, after, judged = train(two_bits, output, epochs=10)
    assert judged == len(np.load(DIGITS["calibration-data"])) // 5
    assert after < 0.95 * before
    start, end = (
        measure.run_json(
            module, measure.DIGITS / "digits_test.npy", compare=measure.DIGITS / "digits.mlirbc", input_scale=0.0625
        )
        for module in (two_bits, output)
    )
    # The trained weights depend on the order of the processor's sums, and 899 images show an agreement within two
    # standard errors.
    images, agreement = start["samples"], start["agreement"]
    assert end["agreement"] >= agreement - 2 * math.sqrt(agreement * (1 - agreement) / images)


# The records of the first run give the teacher of a second one.
@pytest.mark.alternating
def test_the_float_network_can_be_told_from_what_was_trained(two_bits, tmp_path):
    once, twice = tmp_path / "once.mlir", tmp_path / "twice.mlir"
    _, after, _ = train(two_bits, once, epochs=5)
    before, _, _ = train(once, twice, epochs=1)
    assert before == after


# Nothing can be learned with rates of zero from weights that start on their levels.
def test_without_a_gain_the_network_stays(two_bits, tmp_path):
    output = tmp_path / "trained.mlir"
    before, after, _ = train(two_bits, output, epochs=1, rate=0, **{"quantizer-rate": 0, "bias-rate": 0})
    assert after == before
    assert output.read_bytes() == two_bits.read_bytes()


@pytest.mark.alternating
@pytest.mark.parametrize("variant", [{"threads": 1}, {"threads": 3, "batch-size": 7}], ids=["one", "three"])
def test_the_result_does_not_depend_on_workers_or_order(two_bits, tmp_path, variant):
    images = np.load(DIGITS["calibration-data"])
    mixed = tmp_path / "mixed.npy"
    np.save(mixed, images[np.random.default_rng(1).permutation(len(images))])
    outputs = tmp_path / "reference.mlir", tmp_path / "other.mlir"
    train(two_bits, outputs[0], epochs=2)
    train(two_bits, outputs[1], epochs=2, **{"calibration-data": mixed}, **variant)
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.alternating
def test_the_seed_orders_the_samples(two_bits, tmp_path):
    results = {train(two_bits, tmp_path / "trained.mlir", epochs=2, seed=seed)[1] for seed in (1, 2)}
    assert len(results) == 2


# An option, and what has to be set for it to mean something.
MSE, GRADUAL = {"loss": "mse"}, {"gradual": "true"}
OPTIONS = [
    ({}, "epochs=3"),
    ({}, "batch=20"),
    ({}, "loss=mse"),
    ({}, "loss=attention"),
    ({}, "temperature=1"),
    ({}, "rounding=perturbed"),
    ({}, "softness=0.3"),
    ({}, "regularization=0.01"),
    ({}, "optimizer=sgd"),
    ({"optimizer": "sgd"}, "momentum=0.9"),
    ({}, "rate=0.03"),
    ({}, "train-bias=false"),
    ({}, "bias-optimizer=sgd"),
    ({"bias-optimizer": "sgd"}, "bias-momentum=0.9"),
    ({}, "bias-rate=0.0001"),
    ({}, "learn-scales=false"),
    # Powers of two: a threshold has to move far for another one.
    ({"learn-scales": "false", "quantizer-rate": 1}, "learn-thresholds=true"),
    ({}, "quantizer-optimizer=sgd"),
    ({"quantizer-optimizer": "sgd"}, "quantizer-momentum=0.9"),
    ({}, "quantizer-rate=0.0001"),
    ({}, "schedule=constant"),
    ({}, "schedule=linear"),
    ({}, "gradual=true"),
    (GRADUAL, "gradual-initial=0.5"),
    (GRADUAL, "gradual-target=0.5"),
    (GRADUAL, "gradual-start=3"),
    (GRADUAL, "gradual-end=5"),
    (MSE, "hessian-weights=false"),
    (MSE, "hessian-samples=5"),
    (MSE, "norm-scores=false"),
    (MSE, "log-norm=false"),
    # Adam takes no notice of the scale of a loss.
    (MSE | {"bias-optimizer": "sgd", "bias-rate": 0.01}, "scale-log-norm=true"),
    # Rates with which weights come as far as they may, and are cut off.
    ({"rounding": "perturbed", "rate": 0.3}, "most-levels=0.25"),
    ({"rounding": "perturbed", "rate": 0.3}, "mask-clipped=false"),
]


@pytest.fixture(scope="session")
def trained_with(two_bits, tmp_path_factory):
    """Returns the loss after training with options, once for each set."""
    folder = tmp_path_factory.mktemp("options")
    done = {}

    def get(options):
        key = tuple(sorted(options.items()))
        if key not in done:
            done[key] = train(two_bits, folder / "trained.mlir", **({"epochs": 2} | options))[1]
        return done[key]

    return get


@pytest.mark.alternating
@pytest.mark.parametrize(("base", "option"), OPTIONS, ids=[option for _, option in OPTIONS])
def test_every_option_has_an_effect(trained_with, base, option):
    name, value = option.split("=")
    assert trained_with(base | {name: value}) != trained_with(base)


@pytest.mark.alternating
def test_hessian_scores_do_not_depend_on_their_batch(trained_with):
    assert trained_with(MSE | {"hessian-batch": 3}) == trained_with(MSE)


@pytest.mark.alternating
def test_a_killed_run_goes_on_to_the_same_bytes(two_bits, tmp_path):
    whole, output, checkpoint = tmp_path / "whole.mlir", tmp_path / "resumed.mlir", tmp_path / "checkpoint"
    options = {"epochs": 6, "checkpoint-every": 3, "threads": 2}
    train(two_bits, whole, **options, checkpoint=tmp_path / "other")
    listed = " ".join(f"{name}={value}" for name, value in (DIGITS | options | {"checkpoint": checkpoint}).items())
    run_killed([measure.BIN / "mct-opt", two_bits, f"--mct-gptq={listed}", "-o", output], checkpoint, output)
    assert output.read_bytes() == whole.read_bytes()


@pytest.mark.alternating
def test_a_run_that_started_elsewhere_does_not_go_on(two_bits, tmp_path):
    output, checkpoint = tmp_path / "trained.mlir", tmp_path / "checkpoint"
    train(two_bits, output, epochs=1, checkpoint=checkpoint)
    listed = " ".join(f"{name}={value}" for name, value in (DIGITS | {"epochs": 1, "softness": 0.5}).items())
    finished = measure.run(
        [measure.BIN / "mct-opt", two_bits, f"--mct-gptq={listed} checkpoint={checkpoint}", "-o", tmp_path / "other"]
    )
    assert finished.returncode != 0 and f"'{checkpoint}' was made with other settings" in finished.stderr


# Scores of one layer are the smallest and the largest, and say nothing.
def test_one_layer_is_trained_whatever_its_score(tools, tmp_path):
    module = tmp_path / "layer.mlir"
    module.write_text(LAYER)
    samples = np.random.default_rng(3).normal(size=(40, 1, 1, 8)).astype(np.float32)
    np.save(tmp_path / "samples.npy", samples)
    options = {"calibration-data": tmp_path / "samples.npy", "input-scale": 1, "loss": "mse", "epochs": 10}
    judged = [
        train(module, tmp_path / "o.mlir", **options, **{"hessian-weights": weighs}) for weighs in ("true", "false")
    ]
    assert judged[0] == judged[1] and judged[0][1] < judged[0][0]


@pytest.mark.alternating
def test_a_run_goes_on_from_its_checkpoint(two_bits, tmp_path):
    whole, cut, checkpoint = tmp_path / "whole.mlir", tmp_path / "cut.mlir", tmp_path / "checkpoint"
    train(two_bits, whole, epochs=2)
    train(two_bits, cut, epochs=2, checkpoint=checkpoint, **{"checkpoint-every": 5})
    assert cut.read_bytes() == whole.read_bytes()
    # All of it is done: the file alone gives the result.
    train(two_bits, cut, epochs=2, checkpoint=checkpoint)
    assert cut.read_bytes() == whole.read_bytes()


# The goals of ResNet8 with the 500 images, of which the result is no worse than rounding without gradients (see
# `REQUIRED` of test_corrections.py).
@pytest.mark.alternating
@pytest.mark.parametrize(
    ("target", "required"),
    [
        ("2-bit weights", 0.6951),
        pytest.param("4-bit weights, 4-bit activations", 0.7199, marks=pytest.mark.thorough),
    ],
)
def test_resnet8_reaches_what_is_required(shared, tmp_path, target, required):
    output = tmp_path / "trained.mlirbc"
    row = {"gptq_epochs": 10}
    network = corrections.RESNET8_TRAINING_IMAGES
    corrections.quantize(network, corrections.target_for(target, tmp_path), row, output)
    assert corrections.judge(network, output)["top1"] >= required
