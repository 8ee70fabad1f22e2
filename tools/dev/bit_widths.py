#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures bit widths that are chosen for a budget on ResNet8: bits, bytes, accuracy, agreement with float, seconds.

    build/venv/bin/python tools/dev/bit_widths.py

Prints a table in Markdown. Needs the built tools and ../shared (see measure.py).
"""

from __future__ import annotations

import json
import tempfile
from pathlib import Path

import corrections
import measure

BUDGETS = ["75%", "50%", "37.5%"]

SIX = (8, 6, 5, 4, 3, 2)
# The stock target offers kernels of 8, 4 or 2 bits, and activations of 8.
STOCK = (8, 4, 2)

CHOICES = """\
#float = #tpc.attr_quant_config<method = power_of_two, bits = 8>
{kernels}
{options}
#act = #tpc.qc_options<[{activations}], base = #act8>
tpc.derive @choices from "imx500" type("choices") version 1, 0
  default(#tpc.qc_options<[#act8]>)
  linear(#tpc.qc_options<[{layers}], base = #layer8_8>)
  operator_sets [{sets}]
"""
KERNEL = "#kernel{0} = #tpc.attr_quant_config<method = symmetric, bits = {0}, per_channel = true, enabled = true>"
ACTIVATION = (
    "#act{0} = #tpc.op_quant_config<act_method = power_of_two, act_bits = {0}, input_bits = [4, 8], "
    "default_weight = #float>"
)
LAYER = (
    "#layer{0}_{1} = #tpc.op_quant_config<act_method = power_of_two, act_bits = {0}, input_bits = [4, 8],\n"
    "  weights = {{kernel_attr = #kernel{1}, bias_attr = #float}}, default_weight = #float>"
)
MOVES = (
    "#moves = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [4, 8], act_enabled = false, "
    "default_weight = #float>\n#moved = #tpc.qc_options<[#moves]>"
)
# Sets of the base whose results are quantized, beside layers.
QUANTIZED = ["ReLU", "ReLU6", "LeakyReLU", "HardTanh", "PReLU", "Swish", "HardSwish", "Sigmoid", "Tanh"]
QUANTIZED += ["Add", "Sub", "Mul", "Div", "Stack"]


def choices(folder: Path, kernels: tuple[int, ...], activations: tuple[int, ...] = (8,)) -> Path:
    """The file of a target like imx500 whose kernels and activations may have these widths, 8 among them."""
    layers = [(act, bits) for act in activations for bits in kernels]
    options = [ACTIVATION.format(act) for act in activations] + [LAYER.format(*layer) for layer in layers]
    sets = [f'#tpc.operator_set<"{name}", options = #act>' for name in QUANTIZED]
    sets += [f'#tpc.operator_set<"{name}", options = #moved>' for name in corrections.UNQUANTIZED]
    path = folder / "choices.mlir"
    path.write_text(
        CHOICES.format(
            kernels="\n".join(KERNEL.format(bits) for bits in kernels),
            options="\n".join([*options, MOVES]),
            activations=", ".join(f"#act{act}" for act in activations),
            layers=", ".join("#layer{}_{}".format(*layer) for layer in layers),
            sets=", ".join(sets),
        )
    )
    return path


def quantize(
    folder: Path, budget: str, target: str | Path = "imx500", network: dict = corrections.RESNET8, **options: object
) -> dict:
    """Quantizes ResNet8 (of `network`) within a budget; what was chosen, and what it is worth."""
    output, chosen = folder / "quantized.mlirbc", folder / "bit_widths.json"
    options = {"target": target, "budget": budget, "bit_widths_out": chosen} | options
    finished = measure.run_ok(measure.ptq_command(network["model"], network["calibration"], output, **options))
    result = json.loads(chosen.read_text()) | corrections.judge(network, output)
    return result | {"seconds": finished.seconds, "cpu_seconds": finished.cpu_seconds, "peak_mb": finished.peak_mb}


def widths_of(result: dict, point: str) -> str:
    """The bits of all kernels, or of all activations that have a choice."""
    return " ".join(str(one["bits"][point]) for one in result["operators"] if point in one["bits"])


def main() -> None:
    print("| kernels | activations | budget | kernel bits | activation bits | weights | largest cut | top-1 % ", end="")
    print("| agreement % | seconds | CPU seconds | MB |")
    print("|---|---|---|---|---|---|---|---|---|---|---|---|")
    rows = [(kernels, (8,), f"weights:{budget}") for kernels in (STOCK, SIX) for budget in BUDGETS]
    rows += [((8,), (8, 4), "activations:50%"), ((8,), (8, 4), "bops:75%")]
    rows += [(STOCK, (8, 4), budget) for budget in ("total:60%", "bops:25%", "weights:50%,activations:75%")]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kernels, activations, budget in rows:
            target = "imx500" if (kernels, activations) == (STOCK, (8,)) else choices(folder, kernels, activations)
            result = quantize(folder, budget, target)
            print(
                f"| {'/'.join(map(str, kernels))} | {'/'.join(map(str, activations))} | {budget} "
                f"| {widths_of(result, 'kernel_attr')} | {widths_of(result, 'activation')} "
                f"| {result['resources']['weights_bytes']} | {result['resources']['activations_bytes']} "
                f"| {100 * result['top1']:.2f} | {100 * result['agreement']:.2f} | {result['seconds']:.2f} "
                f"| {result['cpu_seconds']:.2f} | {result['peak_mb']:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
