#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What bit widths chosen for a budget are worth on ResNet8: bits, bytes, accuracy, agreement with float, seconds.

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

SIX_WIDTHS = """\
#float = #tpc.attr_quant_config<method = power_of_two, bits = 8>
{kernels}
{options}
tpc.derive @six_widths from "imx500" type("six_widths") version 1, 0
  linear(#tpc.qc_options<[{names}], base = #linear8>)
"""


def six_widths(folder: Path) -> Path:
    """The file of a target like imx500 whose kernels may have 8, 6, 5, 4, 3 or 2 bits."""
    widths = [8, 6, 5, 4, 3, 2]
    kernel = "#kernel{0} = #tpc.attr_quant_config<method = symmetric, bits = {0}, per_channel = true, enabled = true>"
    option = (
        "#linear{0} = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8],\n"
        "  weights = {{kernel_attr = #kernel{0}, bias_attr = #float}}, default_weight = #float>"
    )
    path = folder / "six_widths.mlir"
    path.write_text(
        SIX_WIDTHS.format(
            kernels="\n".join(kernel.format(bits) for bits in widths),
            options="\n".join(option.format(bits) for bits in widths),
            names=", ".join(f"#linear{bits}" for bits in widths),
        )
    )
    return path


def quantize(folder: Path, budget: str, target: str | Path = "imx500", **options: object) -> dict:
    """Quantizes ResNet8 within a budget; what was chosen, and what it is worth."""
    output, chosen = folder / "quantized.mlirbc", folder / "bit_widths.json"
    options = {"target": target, "budget": budget, "bit_widths_out": chosen} | options
    network = corrections.RESNET8
    finished = measure.run_ok(measure.ptq_command(network["model"], network["calibration"], output, **options))
    result = json.loads(chosen.read_text()) | corrections.judge(network, output)
    return result | {"seconds": finished.seconds, "cpu_seconds": finished.cpu_seconds, "peak_mb": finished.peak_mb}


def main() -> None:
    print("| bits | weights | bytes | conv0..8, dense | top-1 % | agreement % | seconds | CPU seconds | MB |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for bits, target in [("8/4/2", "imx500"), ("8/6/5/4/3/2", six_widths(folder))]:
            for budget in BUDGETS:
                result = quantize(folder, f"weights:{budget}", target)
                widths = " ".join(str(one["bits"]["kernel_attr"]) for one in result["operators"])
                print(
                    f"| {bits} | {budget} | {result['resources']['weights_bytes']} | {widths} "
                    f"| {100 * result['top1']:.2f} | {100 * result['agreement']:.2f} | {result['seconds']:.2f} "
                    f"| {result['cpu_seconds']:.2f} | {result['peak_mb']:.0f} |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
