# SPDX-License-Identifier: Apache-2.0
"""Networks with boxes and scores in one tensor: SQNR of every result, and of its groups of channels, with one common
grid and with grids of their own."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import judging
import measure

TARGETS = ("imx500", "tflite_v1")

# Detectors: what they return holds values of several layers.
NETWORKS = (
    "boxes_scores",
    "boxes_scores_sliced",
    "detector",
    "nudenet",
    "palm_lite",
    "palm_full",
    "face_short",
    "face_sparse",
    "face_back",
    "face_full",
    "pose_detection",
)

HEADER = ["network", "target", "result", "group", "common grid dB", "own grids dB", "split"]


def compare(folder: Path, samples: int) -> dict:
    """For each target the results of the network in `folder`; what failed stands under "failure"."""
    found: dict = {}
    module = folder / "network.mlirbc"
    with tempfile.TemporaryDirectory(dir=folder) as name:
        scratch = Path(name)
        calibration, test = judging.divide(scratch, judging.numbered(folder, "input"), samples, samples // 2)
        for target in TARGETS:
            try:
                pair = [_measure(module, target, split, calibration, test, scratch) for split in ("false", "true")]
            except RuntimeError as failure:
                found[target] = {"failure": str(failure)}
                continue
            (common, _), (own, split) = pair
            found[target] = {"split": split, "results": [[*key, common[key], own[key]] for key in common]}
    return found


def _measure(
    module: Path, target: str, split: str, calibration: list[Path], test: list[Path], scratch: Path
) -> tuple[dict[tuple[str, str], float | None], int]:
    """dB by the names of results and groups, null where they are equal; how many common grids were split."""
    quantized = scratch / "quantized.mlirbc"
    options = {"target": target, "split_shared_grids": split}
    finished = judging.limited_ok(measure.ptq_command(module, judging.by_number(calibration), quantized, **options))
    command = [measure.BIN / "mct-run", quantized, f"--compare={module}", f"--input={judging.by_number(test)}"]
    decibels = {}
    for result in json.loads(judging.limited_ok([*command, "--json"]).stdout)["results"]:
        decibels[result["name"], ""] = result["sqnr_db"]
        for group in result["groups"]:
            decibels[result["name"], group["name"]] = group["sqnr_db"]
    return decibels, len(re.findall("no common grid|grid of its own", finished.stderr))


def short(name: str) -> str:
    """The last part of the name that identifies the layer."""
    parts = re.split("[;/]", name)
    named = [part for part in parts if not re.fullmatch(r"(resource|BiasAdd|Conv2D|model|_)\w*", part)]
    last = (named or parts)[-1]
    return last if len(last) <= 40 else last[:39] + "…"


def rows(results: dict[str, dict]) -> list[list[str]]:
    """Returns all results of networks in which a grid was split, and the worst one of others."""
    lines = []
    for name, result in results.items():
        for target, entry in result.items():
            if "failure" in entry:
                lines.append([name, target, *["-"] * 4, f"failed: {entry['failure']}"])
                continue
            shown = entry["results"]
            if not entry["split"]:
                shown = [min(shown, key=lambda row: float("inf") if row[2] is None else row[2])]
            for output, group, common, own in shown:
                numbers = ["equal" if value is None else f"{value:.1f}" for value in (common, own)]
                lines.append([name, target, short(output), short(group), *numbers, str(entry["split"])])
    return lines


def markdown(results: dict[str, dict]) -> str:
    lines = ["| " + " | ".join(HEADER) + " |", "|" + "---|" * len(HEADER)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows(results))]) + "\n"
