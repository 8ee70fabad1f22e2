#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints tables of exported `.tflite` files: what LiteRT and microcontrollers make of them, and Vela's cycles.

    tools/dev/importers small                                          LiteRT and the schema, once
    build/venv/bin/python tools/dev/downstream --install tosa vela micro
    build/venv/bin/python tools/dev/tflite_results.py kernels [NETWORK...]
    build/venv/bin/python tools/dev/tflite_results.py cycles [NETWORK...]
    build/venv/bin/python tools/dev/tflite_results.py targets
    build/venv/bin/python tools/dev/tflite_results.py round-trip [NETWORK...]

Needs the built tools and ../shared (see measure.py); networks of the zoo that were not imported are left out. All are
quantized and made to round as integers (mct-simulate-integers), and written without the softmax at the end, but for
the round trip:

kernels: for `imx500`; codes of LiteRT's kernels and of TensorFlow Lite for microcontrollers that differ from those of
         mct-lower-to-integer, with the rounding that each of them has;
cycles:  for `imx500`; of the `.tflite` file and of the `.tosa` file, without a profile of the device;
targets: ResNet8 for the targets of 8-bit runtimes: accuracy of the simulation, rescales, cycles;
round-trip: for several targets; points that the importer reads from the file, of those of the network.

docs/results/tflite.md has the tables.
"""

from __future__ import annotations

import csv
import json
import os
import re
import sys
import tempfile
from pathlib import Path

import corrections
import ethos_results
import integer_results
import measure
import numpy as np
import onnx_results

sys.path.insert(0, str(Path(__file__).resolve().parent / "downstream"))

import consumers
import tool_environments

SCRIPTS = Path(__file__).resolve().parent / "downstream"
IMPORTERS = measure.REPOSITORY / "build" / "importers" / "small" / "bin" / "python"
# For want of recordings.
KEYWORDS = {"model": measure.SHARED / "data" / "models" / "dscnn_kws.mlirbc", "random": (49, 10, 1), "options": {}}
# Name, network, samples that are compared.
NETWORKS = [
    ("ResNet8", corrections.RESNET8, 2000),
    ("ResNet-20", corrections.RESNET20, 300),
    ("MobileNet-VWW", corrections.VWW, 100),
    ("autoencoder", corrections.AUTOENCODER, 200),
    ("wake word", corrections.WAKEWORD, 45),
    ("keyword spotting (random samples)", KEYWORDS, 200),
    ("digits", integer_results.DIGITS, 300),
    ("Tiny Darknet", corrections.DARKNET, 20),
    ("MobileNetV2", onnx_results.of_zoo("mobilenet_v2"), 16),
    ("ViT-S", onnx_results.of_zoo("vit_s"), 4),
    ("LSTM", onnx_results.of_zoo("lstm"), 16),
]
# Targets, and options of mct-ptq beside.
TARGETS: list[tuple[str, dict]] = [
    ("imx500", {}),
    ("tflite", {}),
    ("qnnpack", {}),
    ("qnnpack", {"round_weights_max_bits": 6}),
]


def with_samples(network: dict, folder: Path) -> dict:
    """The network with files of samples, drawn where there are none."""
    if "random" not in network:
        return network
    samples = folder / "random.npy"
    np.save(samples, 20 * np.random.default_rng(5).standard_normal((200, *network["random"])).astype(np.float32))
    return network | {"calibration": samples, "inputs": samples}


def simulate(network: dict, target: str, folder: Path, **options: object) -> Path:
    simulated = folder / f"{target}.mlirbc"
    options = network["options"] | options
    ptq = measure.ptq_command(network["model"], network["calibration"], simulated, target=target, **options)
    measure.run_ok([*ptq[:3], "--mct-simulate-integers", *ptq[3:]])
    return simulated


def read_samples(network: dict, count: int) -> np.ndarray:
    """Samples as the network takes them."""
    options = network["options"]
    scale, offset = (
        np.array([float(value) for value in str(options.get(key, default)).split(";")])
        for key, default in (("input_scale", 1), ("input_offset", 0))
    )
    return (np.load(network["inputs"], mmap_mode="r")[:count] * scale + offset).astype(np.float32)


def run_tflite(simulated: Path, samples: np.ndarray, folder: Path) -> dict:
    """Writes `network.tflite` and `codes.npy` into a folder; returns what LiteRT makes of the samples."""
    if not IMPORTERS.exists():
        raise SystemExit("LiteRT and the schema are not installed (tools/dev/importers small)")
    np.save(folder / "samples.npy", samples)
    files = [folder / name for name in ("samples.npy", "network.tflite", "codes.npy")]
    os.environ["PYTHONPATH"] = str(measure.REPOSITORY / "build" / "python")
    return json.loads(measure.run_ok([IMPORTERS, SCRIPTS / "run_tflite.py", simulated, *files]).stdout)


def run_micro(simulated: Path, folder: Path) -> dict | str:
    """Codes of microcontrollers beside those of `rounding=double`, or why there are none."""
    environment = tool_environments.folder("micro")
    if not (environment / "installed.txt").exists():
        return "not installed"
    integer, few, ours, theirs = (folder / name for name in ("twice.mlirbc", "few.npy", "ours.npy", "theirs.npy"))
    np.save(few, np.load(folder / "codes.npy")[:20])
    lower = "--mct-lower-to-integer=io=integer softmax=cut rounding=double"
    measure.run_ok([measure.BIN / "mct-opt", simulated, lower, "-o", integer])
    measure.run_ok([measure.BIN / "mct-run", integer, f"--input={few}", f"--output={ours}"])
    python = environment / "bin" / "python"
    if measure.run([python, SCRIPTS / "run_micro.py", folder / "network.tflite", few, theirs]).returncode != 0:
        return "refused"  # an operator that it lacks, or more memory than it has
    expected = np.load(ours)
    differences = np.abs(np.load(theirs).reshape(expected.shape).astype(int) - expected.astype(int))
    return {"values": differences.size, "differing": np.count_nonzero(differences), "largest": differences.max()}


def spell(found: dict | str) -> str:
    if isinstance(found, str):
        return found
    values = f"{found['differing']:,} of {found['values']:,}".replace(",", " ")
    return f"{values}, by {found['largest']}" if found["differing"] else values


def kernels_row(name: str, network: dict, count: int, folder: Path) -> list[str]:
    network = with_samples(network, folder)
    simulated = simulate(network, "imx500", folder)
    found = run_tflite(simulated, read_samples(network, count), folder)
    return [name, *(spell(found[key]) for key in ("xnnpack", "reference")), spell(run_micro(simulated, folder))]


def vela_cycles(file: Path, device: str, folder: Path) -> str:
    """Cycles of a `.tflite` file, or how much of it is left to the CPU."""
    program = tool_environments.program("vela")
    if program is None:
        raise SystemExit("Vela is not installed (tools/dev/downstream --install vela)")
    accelerator, system, memory = consumers.VELA_SYSTEMS[device]
    command = [program, "--config", "Arm/vela.ini", "--system-config", system, "--memory-mode", memory]
    finished = measure.run_ok([*command, "--accelerator-config", accelerator, "--output-dir", folder, file])
    left = re.search(r"CPU operators = (\d+)", finished.stdout)
    (summary,) = folder.glob(f"{file.stem}_summary_*.csv")
    (row,) = csv.DictReader(summary.open())
    summary.unlink()
    if left and left[1] != "0":
        return f"{left[1]} operators on the CPU"
    return f"{int(float(row['cycles_total'])):,}".replace(",", " ")


def both_cycles(simulated: Path, folder: Path) -> list[str]:
    """Cycles of `network.tflite` and of the `.tosa` file, for each device."""
    integer = folder / "integer.mlirbc"
    lower = "--mct-lower-to-integer=io=integer softmax=cut"
    measure.run_ok([measure.BIN / "mct-opt", simulated, lower, "-o", integer])
    cells = []
    for device, accelerator in integer_results.DEVICES.items():
        cycles = int(ethos_results.compile_for(integer, accelerator, folder)["cycles"])
        cells += [vela_cycles(folder / "network.tflite", device, folder), f"{cycles:,}".replace(",", " ")]
    return cells


def cycles_row(name: str, network: dict, _: int, folder: Path) -> list[str]:
    network = with_samples(network, folder)
    simulated = simulate(network, "imx500", folder)
    run_tflite(simulated, read_samples(network, 1), folder)
    return [name, *both_cycles(simulated, folder)]


def targets_row(target: str, options: dict, folder: Path) -> list[str]:
    network = corrections.RESNET8
    simulated = simulate(network, target, folder, **options)
    judged = corrections.judge(network, simulated)
    run_tflite(simulated, read_samples(network, 1), folder)
    cells = both_cycles(simulated, folder)
    text = measure.run_ok([measure.BIN / "mct-opt", folder / "integer.mlirbc"]).stdout
    more = network | {name: corrections.DATA / "cifar10" / f"train_{file}.npy" for name, file in MORE.items()}
    accuracy = [f"{100 * judged[key]:.2f}" for key in ("top1", "agreement")]
    accuracy += [f"{100 * corrections.judge(more, simulated)['agreement']:.2f}"]
    label = " ".join([target, *(f"{key.replace('_', '-')}={value}" for key, value in options.items())])
    return [f"`{label}`", *accuracy, str(text.count("tosa.rescale ")), *cells]


def round_trip_row(name: str, network: dict, _: int, folder: Path) -> list[str]:
    """Points that come back from the file, of those of the network, for each target."""
    network = with_samples(network, folder)
    os.environ["PYTHONPATH"] = str(measure.REPOSITORY / "build" / "python")
    cells = []
    for target in ROUND_TRIPS:
        command = [IMPORTERS, SCRIPTS / "run_round_trip.py", simulate(network, target, folder)]
        found = json.loads(measure.run_ok([*command, folder / "network.tflite"]).stdout)
        more = f", and {found['more']}" if found["more"] else ""
        cells.append(f"{found['same']} of {found['points']}{more}")
    return [name, *cells]


ROUND_TRIPS = ["imx500", "imx500_v1_pot", "tflite", "qnnpack"]
# Images and labels that nothing is calibrated on either, by the keys of a network.
MORE = {"inputs": "images", "labels": "labels"}
CYCLES = ["U55-256, `.tflite`", "U55-256, `.tosa`", "U85-256, `.tflite`", "U85-256, `.tosa`"]
COLUMNS = {
    "kernels": ["network", "XNNPACK", "reference kernels", "microcontrollers"],
    "cycles": ["network", *CYCLES],
    "targets": ["target", "top-1 %", "agreement %", "agreement %, 10 000 more", "rescales", *CYCLES],
    "round-trip": ["network", *(f"`{target}`" for target in ROUND_TRIPS)],
}


def main(arguments: list[str]) -> None:
    if not arguments or arguments[0] not in COLUMNS:
        raise SystemExit(f"tflite_results.py: name a table: {', '.join(COLUMNS)}")
    kind, *names = arguments
    print("| " + " | ".join(COLUMNS[kind]) + " |\n" + "|---" * len(COLUMNS[kind]) + "|")
    with tempfile.TemporaryDirectory() as created:
        folder = Path(created)
        if kind == "targets":
            rows = (targets_row(target, options, folder) for target, options in TARGETS)
        else:
            make = {"kernels": kernels_row, "cycles": cycles_row, "round-trip": round_trip_row}[kind]
            rows = (
                make(*entry, folder)
                for entry in NETWORKS
                if (not names or entry[0] in names) and Path(entry[1]["model"]).exists()
            )
        for cells in rows:
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
