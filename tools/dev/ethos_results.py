#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of networks on Ethos-U: cycles of Vela, and how near the results are to those of the float network.

    build/venv/bin/python tools/dev/downstream --install tosa vela
    build/venv/bin/python tools/dev/zoo --import-only mobilenet_v2_224
    build/venv/bin/python tools/dev/ethos_results.py [NETWORK...]

Needs the built tools and ../shared (see measure.py); networks of the zoo that were not imported are left out. Of these
48 samples are drawn to calibrate with, because a loss that 16 tell is mostly chance, and 16 to judge. Each is
quantized for `imx500`, with and without the options of mct-ptq that choose weights for a device, and lowered for that;
docs/results/downstream.md has the table.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import corrections
import integer_results
import measure
import numpy as np
import onnx_results

sys.path.insert(0, str(Path(__file__).resolve().parent / "zoo"))
sys.path.insert(0, str(Path(__file__).resolve().parent / "zoo" / "chains"))

import chain
import networks

DRAWN = {"calibration": 48, "inputs": 16}


def of_zoo(name: str) -> dict:
    """Returns a network of the zoo with samples of its own, which `draw_samples` makes."""
    folder = onnx_results.ZOO / name
    files = {key: folder / f"{key}{count}.npy" for key, count in DRAWN.items()}
    return onnx_results.of_zoo(name) | files | {"labels": None, "drawn": networks.BY_NAME[name].samples[0]}


NETWORKS = {
    "ResNet8": corrections.RESNET8,
    "MobileNet-VWW": corrections.VWW,
    "wake word": corrections.WAKEWORD,
    "autoencoder": corrections.AUTOENCODER,
    "Tiny Darknet": corrections.DARKNET,
    "MobileNetV2": of_zoo("mobilenet_v2_224"),
}
DEVICES = integer_results.DEVICES
# Options of mct-ptq; {device} stands for the device that is lowered for.
ROWS = {"": {}, "device": {"device": "{device}"}}
MORE = {
    "MobileNet-VWW": {"device, max-loss=0.8": {"device": "{device}", "max_loss": 0.8}},
    "autoencoder": {
        "budget=weights:60%": {"budget": "weights:60%"},
        "budget=compressed:60%": {"budget": "compressed:60%"},
    },
}


def draw_samples(network: dict) -> None:
    """Draws the samples of a network of the zoo, where they are not there."""
    if "drawn" not in network:
        return
    for seed, (key, count) in enumerate(DRAWN.items()):
        if not network[key].exists():
            generator, spec = np.random.default_rng(seed), network["drawn"]
            samples = [chain.one_sample(generator, spec["shape"], np.float32, spec) for _ in range(count)]
            np.save(network[key], np.concatenate(samples))


def quantize(network: dict, options: dict, device: str, folder: Path) -> tuple[Path, Path]:
    """Returns the simulation and the network of integers."""
    simulated, integer = folder / "simulated.mlirbc", folder / "integer.mlirbc"
    given = {key: str(value).format(device=device) for key, value in options.items()}
    command = measure.ptq_command(
        network["model"], network["calibration"], simulated, target="imx500", **network["options"], **given
    )
    measure.run_ok([*command[:3], "--mct-simulate-integers", *command[3:]])
    lower = f"--mct-lower-to-integer=io=integer softmax=cut profile={device}"
    measure.run_ok([measure.BIN / "mct-opt", simulated, lower, "-o", integer])
    return simulated, integer


def compile_for(integer: Path, accelerator: str, folder: Path) -> dict:
    """Returns Vela's estimates of a network for a device."""
    document = folder / "downstream.json"
    script = measure.REPOSITORY / "tools" / "dev" / "downstream"
    measure.run_ok([sys.executable, script, "--tools", "tosa,vela", "--count", "1", "--json", document, integer])
    (found,) = (one for one in json.loads(document.read_text()) if one["tool"] == f"vela {accelerator}")
    return found


def row(name: str, label: str, options: dict, folder: Path) -> list[str]:
    cells = []
    for device, accelerator in DEVICES.items():
        simulated, integer = quantize(NETWORKS[name], options, device, folder)
        cycles = f"{int(compile_for(integer, accelerator, folder)['cycles']):,}".replace(",", " ")
        cells += [cycles, f"{corrections.judge(NETWORKS[name], simulated)['sqnr']:.2f}"]
    return [name, f"`{label}`" if label else "none", *cells]


def main(arguments: list[str]) -> None:
    columns = ["network", "options", "cycles U55-256", "SQNR, dB", "cycles U85-256", "SQNR, dB"]
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for name in arguments or NETWORKS:
            if not NETWORKS[name]["model"].exists():
                continue
            draw_samples(NETWORKS[name])
            for label, options in (ROWS | MORE.get(name, {})).items():
                print("| " + " | ".join(row(name, label, options, Path(folder))) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
