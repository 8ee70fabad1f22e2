#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of the sizes of compressed weights: what mct-assign-bit-widths estimates, and what Vela writes.

    build/venv/bin/python tools/dev/downstream --install tosa vela
    build/venv/bin/python tools/dev/zoo --import-only mobilenet_v2_224
    build/venv/bin/python tools/dev/compressed_results.py [NETWORK...]

Needs the built tools and ../shared (see measure.py); networks of the zoo that were not imported are left out. Each is
quantized for `imx500` with a budget of compressed weights that limits nothing, and with one of half the bytes of 8
bits, by 16 samples: sizes hardly depend on them. Weights of Vela are those of layers whose kernel is one of the
network: kernels of ones, which stand for means, are not counted, and neither are biases. docs/results/downstream.md
has the table.
"""

from __future__ import annotations

import itertools
import json
import re
import sys
import tempfile
from pathlib import Path

import ethos_results
import integer_results
import measure

sys.path.insert(0, str(Path(__file__).resolve().parent / "downstream"))

import consumers
import tool_environments

NETWORKS = ethos_results.NETWORKS | {"digits": integer_results.DIGITS}
FEW = {"calibration_samples": 16, "effort": "fast"}
BUDGETS = ("compressed:200%", "compressed:50%")
# Bytes of the bias and the scale of an output channel, and the size to a multiple of which those of a range of channels
# are padded. CHANNELS: the number to a multiple of which channels are padded.
SCALE, FILLED = 10, 16
CHANNELS = {"ethos-u55": 1, "ethos-u85": 16}


def fill(number: int, unit: int) -> int:
    return -(-number // unit) * unit


def written(integer: Path, profile: str, folder: Path) -> int:
    """Returns the bytes of weights that Vela writes for a device."""
    flatbuffer = folder / "network.tosa"
    option = f"--tosa-serialize=tosa-flatbuffer-filename={flatbuffer} retain-graph-input-output-names"
    measure.run_ok([tool_environments.program("tosa"), option, integer, "-o", "/dev/null"])
    vela = tool_environments.program("vela")
    with tempfile.TemporaryDirectory() as results:
        finished, _ = consumers.compile_with_vela(vela, flatbuffer, profile, Path(results), "--verbose-schedule")
    # The last schedule is the one that is taken.
    schedule = finished.stdout[finished.stdout.rindex("Schedule: ") :]
    total = 0
    for operation in re.split(r"\n\t\d+: Operation ", schedule)[1:]:
        encoded = re.search(r"Encoded Weights = (\d+)", operation)
        # Means over images are depthwise kernels of ones, of columns that stand side by side.
        if not encoded or re.match(r"DepthwiseConv2D +- OFM 1, 1, (?!1,)", operation):
            continue
        slices = re.search(r"Depth slices = \[([\d, ]+)\]", operation)
        ends = [int(end) for end in slices[1].split(",")]
        channels = (fill(end - begin, CHANNELS[profile]) for begin, end in itertools.pairwise(ends))
        total += int(encoded[1]) - sum(fill(SCALE * count, FILLED) for count in channels)
    return total


def compare(network: dict, budget: str, device: str, folder: Path) -> tuple[int, int]:
    """Returns the estimated bytes of compressed weights, and those that Vela writes."""
    simulated, integer, bits = (folder / name for name in ("simulated.mlirbc", "integer.mlirbc", "bits.json"))
    options = {"budget": budget, "device": device, "bit_widths_out": bits} | FEW | network["options"]
    command = measure.ptq_command(network["model"], network["calibration"], simulated, target="imx500", **options)
    measure.run_ok([*command[:3], "--mct-simulate-integers", *command[3:]])
    lower = f"--mct-lower-to-integer=io=integer softmax=cut profile={device}"
    measure.run_ok([measure.BIN / "mct-opt", simulated, lower, "-o", integer])
    return json.loads(bits.read_text())["resources"]["compressed_bytes"], written(integer, device, folder)


def row(name: str, budget: str, folder: Path) -> list[str]:
    cells = []
    for device in integer_results.DEVICES:
        estimated, bytes_of_vela = compare(NETWORKS[name], budget, device, folder)
        more = 100 * (bytes_of_vela / estimated - 1)
        cells += [f"{estimated:,}".replace(",", " "), f"{bytes_of_vela:,}".replace(",", " "), f"{more:+.1f}"]
    return [name, f"`{budget}`", *cells]


def main(arguments: list[str]) -> None:
    columns = ["network", "budget"]
    for device in ("U55", "U85"):
        columns += [f"estimate {device}", f"Vela {device}", "difference, %"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments or NETWORKS:
            if not NETWORKS[name]["model"].exists():
                continue
            ethos_results.draw_samples(NETWORKS[name])
            for budget in BUDGETS:
                print("| " + " | ".join(row(name, budget, Path(folder))) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
