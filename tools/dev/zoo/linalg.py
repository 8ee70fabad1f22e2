# SPDX-License-Identifier: Apache-2.0
"""Networks by linalg beside the same ones by TOSA: points, thresholds, SQNR, and what has no integer form."""

from __future__ import annotations

import difflib
import json
import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import judging
import measure
import networks
import numpy as np

TARGET = "imx500"
# Names of networks that there are by both.
PAIRS = [name.removesuffix("_linalg") for name in networks.BY_NAME if name.endswith("_linalg")]

HEADER = ["network", "chain", "float error", "points", "same thresholds", "dB", "float ops", "without a set"]


def compare(name: str, import_network: Callable[[networks.Network], Path], samples: int) -> dict:
    """Returns the findings of both chains, by their names.

    "same": how many points have thresholds that the other has, too, in the same order.
    """
    found = {}
    for chain, key in (("tosa", name), ("linalg", f"{name}_linalg")):
        folder = import_network(networks.BY_NAME[key])
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            found[chain] = _measure(folder, samples, Path(scratch))
    lists = [[tuple(point) for point in found[chain].pop("thresholds")] for chain in ("tosa", "linalg")]
    blocks = difflib.SequenceMatcher(a=lists[0], b=lists[1], autojunk=False).get_matching_blocks()
    return found | {"same": sum(block.size for block in blocks)}


def _measure(folder: Path, samples: int, scratch: Path) -> dict:
    module = folder / "network.mlirbc"
    inputs = judging.numbered(folder, "input")
    references = [np.load(path) for path in judging.numbered(folder, "output")]
    tests = [array[len(array) // 2 :] for array in references]
    calibration, test = judging.divide(scratch, inputs, samples, samples // 2)
    quantized, parameters = scratch / "quantized.mlirbc", scratch / "points.json"
    opt = measure.BIN / "mct-opt"
    judging.limited_ok(measure.ptq_command(module, judging.by_number(calibration), quantized, target=TARGET))
    judging.limited_ok([measure.BIN / "mct-translate", "--export-parameters", quantized, "-o", parameters])
    points = json.loads(parameters.read_text())["points"]
    lowered = judging.limited_ok([opt, quantized, "--mct-lower-to-integer", "-o", scratch / "integer.mlirbc"])
    judging.limited_ok([opt, module, "--mct-prepare", "-o", scratch / "prepared.mlirbc"])
    values = judging.outputs_of(quantized, test, len(tests), scratch)
    return {
        "error": judging.error(module, inputs, references, scratch),
        "points": len(points),
        # Chains have the axes of kernels in different orders; four digits, since sums are added up differently.
        "thresholds": [
            [point.get("weight", ""), point["bits"], *(f"{value:.4g}" for value in sorted(point.get("threshold", [])))]
            for point in points
        ],
        "sqnr": min(judging.sqnr(value, other) for value, other in zip(values, tests, strict=True)),
        "float ops": len(re.findall("remark: .*stays float: ", lowered.stderr)),
        "unmatched": sum(
            int(entry.rpartition(" x")[2]) if re.search(r" x\d+$", entry) else 1
            for entry in judging.unmatched(scratch / "prepared.mlirbc", TARGET)
        ),
    }


def markdown(results: dict[str, dict]) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    for name, result in results.items():
        for chain in ("tosa", "linalg"):
            entry = result[chain]
            numbers = [f"{entry['error']:.1e}", str(entry["points"]), str(result["same"]), f"{entry['sqnr']:.1f}"]
            cells = [name, chain, *numbers, str(entry["float ops"]), str(entry["unmatched"])]
            lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"
