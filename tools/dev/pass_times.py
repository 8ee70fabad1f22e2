#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Seconds of each pass on networks of many ops, as a table in Markdown: they should grow with the number of ops.

    build/venv/bin/python tools/dev/pass_times.py [SIZE ...]

The network is a chain of residual blocks with weights of their own. Seconds are those of `mct-opt --mlir-timing` on one
thread, times the share of its time in which a processor ran it, so that other programs lengthen them little; the least
of `ROUNDS` runs counts. Passes that run the network are below the others.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from pathlib import Path

import measure
import numpy as np

SIZES = [5000, 10000, 20000]
ROUNDS = 2
SAMPLES = 4
TENSOR = "tensor<1x4x4x2xf32>"
# Flags that quantize the network, and those for the quantized one.
QUANTIZE = "--mct-ptq=target=imx500 calibration-data={samples}"
AFTER = [
    ["--mct-lower-to-integer", "--mct-check-integer"],
    ["--mct-report-memory", "--mct-report-resources", "--mct-verify-shapes"],
    ["--mct-lower-to-quant"],
    ["--mct-lower-to-linalg"],
    ["--mct-simulate-integers"],
]
RUN_THE_NETWORK = {"CalibratePass", "CorrectBiasPass", "RoundWeightsPass", "JudgeCorrectionPass"}
# Not passes.
OTHERS = {"root", "Parser", "Output", "Rest", "Total"}
# Passes that take less are not listed.
LEAST_SECONDS = 0.01


def network(num_ops: int) -> str:
    """Returns a module whose function has `num_ops` ops that compute, or up to four more."""
    lines = [
        f"func.func @main(%v0: {TENSOR}) -> {TENSOR} {{",
        '  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>',
    ]
    count = 0

    def add(text: str) -> str:
        nonlocal count
        count += 1
        lines.append(f"  %v{count} = {text} -> {TENSOR}")
        return f"%v{count}"

    def convolve(value: str) -> str:
        name, weight = count + 1, 0.5 + count % 97 / 200
        kernel = f"dense<[[[[0.5, 0.25]]], [[[-0.25, {weight}]]]]> : tensor<2x1x1x2xf32>"
        lines.append(f'  %k{name} = "tosa.const"() <{{values = {kernel}}}> : () -> tensor<2x1x1x2xf32>')
        lines.append(
            f'  %b{name} = "tosa.const"() <{{values = dense<[0.125, -0.125]> : tensor<2xf32>}}> : () -> tensor<2xf32>'
        )
        return add(
            f"tosa.conv2d {value}, %k{name}, %b{name}, %z, %z {{acc_type = f32, dilation = array<i64: 1, 1>, "
            f"pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}} : ({TENSOR}, tensor<2x1x1x2xf32>, "
            "tensor<2xf32>, tensor<1xf32>, tensor<1xf32>)"
        )

    def clamp(value: str) -> str:
        return add(f"tosa.clamp {value} {{min_val = 0.0 : f32, max_val = 6.0 : f32}} : ({TENSOR})")

    value = "%v0"
    while count < num_ops:
        inner = convolve(clamp(convolve(value)))
        value = clamp(add(f"tosa.add {inner}, {value} : ({TENSOR}, {TENSOR})"))
    return "\n".join([*lines, f"  return {value} : {TENSOR}", "}", ""])


def parse_timing(report: str) -> dict[str, float]:
    """Returns the seconds of each pass, summed over its runs, in the order of the report."""
    seconds: dict[str, float] = {}
    for number, name in re.findall(r"^ +([\d.]+) \( *[\d.]+%\)  +(\S.*)$", report, re.MULTILINE):
        if re.fullmatch(r"\w+", name) and name not in OTHERS:
            seconds[name] = seconds.get(name, 0.0) + float(number)
    return seconds


def run_passes(flags: list[str], module: Path, output: Path) -> dict[str, float]:
    timing = ["--mlir-timing", "--mlir-timing-display=tree", "--mlir-disable-threading"]
    command = [measure.BIN / "mct-opt", module, *flags, *timing, "-o", output]
    finished = measure.run_ok(command)
    share = min(1.0, finished.cpu_seconds / finished.seconds)
    return {name: share * seconds for name, seconds in parse_timing(finished.stderr).items()}


def time_passes(num_ops: int, folder: Path) -> dict[str, float]:
    """Returns the least seconds of each pass on a network of `num_ops` ops."""
    module, quantized, samples = folder / "float.mlir", folder / "quantized.mlirbc", folder / "samples.npy"
    module.write_text(network(num_ops))
    np.save(samples, np.random.default_rng(0).standard_normal((SAMPLES, 4, 4, 2), dtype=np.float32))
    steps = [([QUANTIZE.format(samples=samples)], module, quantized)]
    steps += [(flags, quantized, folder / "after.mlirbc") for flags in AFTER]
    least: dict[str, float] = {}
    for flags, source, output in steps:
        for _ in range(ROUNDS):
            for name, seconds in run_passes(flags, source, output).items():
                least[name] = min(seconds, least.get(name, seconds))
    return least


def markdown(sizes: list[int]) -> str:
    with tempfile.TemporaryDirectory() as folder:
        found = [time_passes(size, Path(folder)) for size in sizes]
    columns = ["pass", *(f"{size} ops, s" for size in sizes), "runs the network"]
    lines = ["| " + " | ".join(columns) + " |", "|" + " --- |" * len(columns)]
    listed = [name for name in found[-1] if found[-1][name] >= LEAST_SECONDS]
    for name in sorted(listed, key=lambda name: (name in RUN_THE_NETWORK, -found[-1][name])):
        cells = [name.removesuffix("Pass"), *(f"{seconds.get(name, 0):.2f}" for seconds in found)]
        lines.append("| " + " | ".join([*cells, "yes" if name in RUN_THE_NETWORK else ""]) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", metavar="SIZE", type=int, nargs="*", help=f"numbers of ops; by default {SIZES}")
    sys.stdout.write(markdown(parser.parse_args().sizes or SIZES))


if __name__ == "__main__":
    main()
