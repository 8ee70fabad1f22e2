# SPDX-License-Identifier: Apache-2.0
"""Processor seconds and peak memory of `mct-ptq` on large networks, as a table."""

from __future__ import annotations

import hashlib
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import measure
import networks
import numpy as np

SAMPLES = 8
OPTIONS: dict[str, dict[str, object]] = {
    "8/8": {},
    "w4a8": {"weights": 4, "activations": 8},
    "50 %": {"budget": "weights:50%"},
}
# ResNet8 is the only one that is not of the zoo.
RESNET8 = "resnet8"
CASES = (
    ("resnet50", "8/8"),
    ("resnet50", "w4a8"),
    ("vit_b", "8/8"),
    ("vit_b", "w4a8"),
    ("mobilenet_v3_224", "w4a8"),
    ("mobilenet_v3_224", "50 %"),
    ("nudenet", "w4a8"),
    (RESNET8, "8/8"),
    (RESNET8, "w4a8"),
    (RESNET8, "50 %"),
    ("gpt2", "8/8"),
)
ROUNDS = 1


def inputs(name: str, import_network: Callable[[networks.Network], Path], scratch: Path) -> tuple[Path, Path]:
    """A network and the samples that it is quantized with."""
    if name == RESNET8:
        data = measure.SHARED / "data"
        return data / "models" / "resnet8_cifar10.mlirbc", data / "cifar10" / "calib_images.npy"
    folder = import_network(networks.BY_NAME[name])
    samples = scratch / f"{name}.npy"
    if not samples.exists():
        np.save(samples, np.load(folder / "input0.npy")[:SAMPLES])
    return folder / "network.mlirbc", samples


def markdown(
    names: list[str], import_network: Callable[[networks.Network], Path], before: Path | None, rounds: int = ROUNDS
) -> str:
    """The table of the networks named, or of all; the least of `rounds` runs, those of both tools in turns."""
    tools = ([("before", before)] if before else []) + [("now", measure.BIN)]
    header = ["network", "weights/activations"]
    for name, _ in tools:
        header += [f"{name}, CPU s", f"{name}, peak MB"]
    lines = ["| " + " | ".join([*header, *(["output"] if before else [])]) + " |"]
    lines.append("|" + " --- |" * lines[0].count(" | ") + " --- |")
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for name, configuration in CASES:
            if names and name not in names:
                continue
            model, samples = inputs(name, import_network, scratch)
            output = scratch / "quantized.mlirbc"
            seconds: dict[str, float] = {}
            peak: dict[str, float] = {}
            digests = set()
            for _ in range(rounds):
                for tool, directory in tools:
                    command = measure.ptq_command(model, samples, output, **OPTIONS[configuration])
                    run = measure.run_ok([directory / "mct-opt", *command[1:]])
                    seconds[tool] = min(run.cpu_seconds, seconds.get(tool, run.cpu_seconds))
                    peak[tool] = min(run.peak_mb, peak.get(tool, run.peak_mb))
                    # One encoding of bytecode for both.
                    again = scratch / "again.mlirbc"
                    measure.run_ok([measure.BIN / "mct-opt", output, "-o", again])
                    digests.add(hashlib.sha256(again.read_bytes()).hexdigest())
            cells = [name, configuration]
            for tool, _ in tools:
                cells += [f"{seconds[tool]:.2f}", f"{peak[tool]:.0f}"]
            if before:
                cells.append("same bytes" if len(digests) == 1 else "other bytes")
            lines.append("| " + " | ".join(cells) + " |")
            print(lines[-1], file=sys.stderr, flush=True)
    return "\n".join(lines) + "\n"
