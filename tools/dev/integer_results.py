#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a table of integer networks: values that differ from the simulation, and cycles of Vela on Ethos-U55 and U85.

    build/venv/bin/python tools/dev/downstream --install tosa vela
    build/venv/bin/python tools/dev/integer_results.py

Needs the built tools and ../shared (see measure.py). Networks are quantized for `imx500_v1_pot`, whose steps are powers
of two, and lowered for each device; docs/results/downstream.md has the table.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import corrections
import measure

DIGITS = {
    "model": measure.DIGITS / "digits.mlirbc",
    "calibration": measure.DIGITS / "digits_calib.npy",
    "inputs": measure.DIGITS / "digits_test.npy",
    "options": {"input_scale": 0.0625},
}
# Name, network, samples that are compared.
NETWORKS = [
    ("ResNet8", corrections.RESNET8, 100),
    ("MobileNet-VWW", corrections.VWW, 50),
    ("wake word", corrections.WAKEWORD, 45),
    ("autoencoder", corrections.AUTOENCODER, 50),
    ("Tiny Darknet", corrections.DARKNET, 8),
    ("digits", DIGITS, 899),
]
DEVICES = {"ethos-u55": "ethos-u55-256", "ethos-u85": "ethos-u85-256"}


def compare(integer: Path, simulated: Path, network: dict, samples: int) -> dict:
    """Compares all values of all points; the exit status is 1 if some differ."""
    options = {"compare": simulated, "samples": samples} | network["options"]
    command = [*measure.run_command(integer, network["inputs"], **options), "--exact"]
    finished = measure.run(command)
    if finished.returncode not in (0, 1) or not finished.stdout:
        raise RuntimeError(f"mct-run --exact: exit status {finished.returncode}\n{finished.stderr}")
    return json.loads(finished.stdout)["total"]


def cycles(integer: Path, accelerator: str, folder: Path) -> int:
    """Returns what Vela estimates for a device, with nothing left for the CPU."""
    document = folder / "downstream.json"
    script = measure.REPOSITORY / "tools" / "dev" / "downstream"
    measure.run_ok([sys.executable, script, "--tools", "tosa,vela", "--count", "1", "--json", document, integer])
    (found,) = (one for one in json.loads(document.read_text()) if one["tool"] == f"vela {accelerator}")
    return int(found["cycles"])


def row(name: str, network: dict, samples: int, folder: Path) -> list[str]:
    simulated = folder / "simulated.mlirbc"
    ptq = measure.ptq_command(
        network["model"], network["calibration"], simulated, target="imx500_v1_pot", **network["options"]
    )
    measure.run_ok([*ptq[:3], "--mct-simulate-integers", *ptq[3:]])
    found, total = [], {}
    for profile, accelerator in DEVICES.items():
        integer = folder / "integer.mlirbc"
        lower = f"--mct-lower-to-integer=io=integer softmax=cut profile={profile}"
        measure.run_ok([measure.BIN / "mct-opt", simulated, lower, "-o", integer])
        total = compare(integer, simulated, network, samples)
        found.append(f"{cycles(integer, accelerator, folder):,}".replace(",", " "))
    values = f"{total['values']:,}".replace(",", " ")
    return [f"{name} ({samples})", values, str(total["differing"]), *found]


def main() -> None:
    print(
        "| network (samples) | values compared | differing | cycles U55-256 | cycles U85-256 |\n|---|---|---|---|---|"
    )
    with tempfile.TemporaryDirectory() as folder:
        for name, network, samples in NETWORKS:
            print("| " + " | ".join(row(name, network, samples, Path(folder))) + " |", flush=True)


if __name__ == "__main__":
    main()
