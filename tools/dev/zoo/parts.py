# SPDX-License-Identifier: Apache-2.0
"""Prints SQNR of networks that join parts of very different ranges, with them as they are and brought to one range.

    build/venv/bin/python tools/dev/zoo/parts.py

Networks are those of `tools/dev/zoo --import-only deepcut`: half of the samples calibrates, the others judge.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parent / "chains"))

import chain
import importing
import judging
import measure
import networks
import numpy as np

NETWORKS = ("deepcut",)
COLUMNS = ["network", "target", "parts as they are dB", "parts in one range dB"]


def decibels(folder: Path, target: str, rescale: str) -> float:
    """SQNR of the worst result."""
    references = [np.load(path) for path in judging.numbered(folder, "output")]
    tests = [array[len(array) // 2 :] for array in references]
    with tempfile.TemporaryDirectory() as name:
        scratch = Path(name)
        inputs = judging.numbered(folder, "input")
        calibration, test = judging.divide(scratch, inputs, chain.SAMPLES, chain.SAMPLES // 2)
        quantized = scratch / "quantized.mlirbc"
        options = {"target": target, "rescale_parts": rescale}
        module = folder / "network.mlirbc"
        judging.limited_ok(measure.ptq_command(module, judging.by_number(calibration), quantized, **options))
        values = judging.outputs_of(quantized, test, len(tests), scratch)
    return min(judging.sqnr(value, reference) for value, reference in zip(values, tests, strict=True))


def main() -> None:
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for name in NETWORKS:
        folder = importing.import_network(networks.BY_NAME[name])
        for target in judging.TARGETS:
            numbers = [f"{decibels(folder, target, rescale):.1f}" for rescale in ("false", "true")]
            print("| " + " | ".join([name, target, *numbers]) + " |", flush=True)


if __name__ == "__main__":
    main()
