# SPDX-License-Identifier: Apache-2.0
"""The way of a network behind quantization: integers that are those of the simulation, and the report."""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Sequence
from pathlib import Path

import judging
import measure
import numpy as np

# With scales that are powers of two sums of products are exact in f32: what differs elsewhere is its rounding.
TARGETS = ("imx500", "tflite_v1", "imx500_v1_pot")

HEADER = ["network", "target", "dB", "values", "differing", "by steps", "check", "report s", "diagnoses", "first"]


def check(folder: Path, samples: int, targets: Sequence[str] = TARGETS) -> dict:
    """For each target what became of the network in `folder`; what failed stands under "failure"."""
    found = {}
    references = [np.load(path) for path in judging.numbered(folder, "output")]
    tests = [array[len(array) // 2 :] for array in references]
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        calibration, test = judging.divide(scratch, judging.numbered(folder, "input"), samples, samples // 2)
        for target in targets:
            entry: dict = {}
            try:
                modules = _modules(folder / "network.mlirbc", target, judging.by_number(calibration), scratch)
                values = judging.outputs_of(modules[0], test, len(tests), scratch)
                entry["sqnr"] = [judging.sqnr(value, other) for value, other in zip(values, tests, strict=True)]
                _compare(folder / "network.mlirbc", *modules, judging.by_number(test), scratch, entry)
            except RuntimeError as failure:
                entry["failure"] = str(failure)
            found[target] = entry
    return found


def _modules(module: Path, target: str, calibration: str, scratch: Path) -> tuple[Path, Path, Path]:
    """The quantized network, the simulation of its integers, and the network of integers."""
    quantized, simulated, integer = (scratch / f"{name}.mlirbc" for name in ("quantized", "simulated", "integer"))
    opt = measure.BIN / "mct-opt"
    judging.limited_ok(measure.ptq_command(module, calibration, quantized, target=target))
    judging.limited_ok([opt, quantized, "--mct-simulate-integers", "-o", simulated])
    judging.limited_ok([opt, simulated, "--mct-lower-to-integer", "-o", integer])
    return quantized, simulated, integer


def _compare(
    module: Path, quantized: Path, simulated: Path, integer: Path, test: str, scratch: Path, entry: dict
) -> None:
    finished = judging.limited([measure.BIN / "mct-opt", integer, "--mct-check-integer", "-o", "/dev/null"])
    entry["check"] = re.findall(r"error: (.*)", finished.stderr)
    run = measure.BIN / "mct-run"
    # Its exit status is 1 where values differ.
    finished = judging.limited([run, integer, f"--compare={simulated}", "--exact", "--json", f"--input={test}"])
    if finished.returncode not in (0, 1) or not finished.stdout:
        raise RuntimeError(f"mct-run --exact: exit status {finished.returncode}: {finished.stderr.strip()[:300]}")
    proof = json.loads(finished.stdout)
    entry |= {"values": proof["total"]["values"], "differing": proof["total"]["differing"]}
    entry["steps"] = max((point["max_steps"] for point in proof["points"]), default=0)
    document = scratch / "report.json"
    command = [run, quantized, f"--compare={module}", f"--input={test}", f"--report={document}"]
    entry["seconds"] = judging.limited_ok(command).cpu_seconds
    entry["diagnoses"] = [diagnosis["rule"] for diagnosis in json.loads(document.read_text())["diagnoses"]]


def markdown(results: dict[str, dict]) -> str:
    """A table of all results that were checked, by the names of networks; empty where none was."""
    lines = []
    for name, result in results.items():
        for target, entry in result.get("integers", {}).items():
            decibels = f"{min(entry['sqnr']):.1f}" if "sqnr" in entry else "-"
            cells = [name, target, decibels, *["-"] * 6, f"failed: {entry.get('failure')}"]
            if "failure" not in entry:
                diagnoses = entry["diagnoses"]
                cells[3:] = [str(entry[key]) for key in ("values", "differing", "steps")]
                cells += [f"{len(entry['check'])} errors" if entry["check"] else "passes", f"{entry['seconds']:.1f}"]
                cells += [str(len(diagnoses)), diagnoses[0] if diagnoses else "-"]
            lines.append("| " + " | ".join(cells) + " |")
    head = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join(["", *head, *lines]) + "\n" if lines else ""
