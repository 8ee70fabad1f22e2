# SPDX-License-Identifier: Apache-2.0
"""Prints how well NudeNet finds after quantization what it finds in float, by average precision.

    PYTHONPATH=build/python build/venv/bin/python tools/dev/zoo/agreement.py

There are no labels: those are what the float network finds with a score of at least 0.25, by which it has 100 %. The
images are photographs of `../shared`, 40 for the calibration and 360 others that judge, enlarged to 320x320. The
network is that of `tools/dev/zoo --import-only nudenet`.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shapes"))

import mct
import measure
import numpy as np
import scenes

NETWORK = measure.REPOSITORY / "build" / "zoo" / "nudenet" / "network.mlirbc"
SHARED = Path(os.environ.get("MCT_SHARED_DIR", measure.REPOSITORY.parent / "shared"))

SIZE, GREY = 320, 114

# Scores of the float network's boxes that are labels.
FOUND_FROM = 0.25

ONE_GRID = {"decode": "quantize", "split_shared_grids": False, "rescale_parts": False}
STUDIES = [
    (target, shown, options)
    for target in ("imx500", "tflite")
    for shown, options in (("defaults", {}), ("`decode=quantize`", {"decode": "quantize"}), ("one grid", ONE_GRID))
]
COLUMNS = ["network", "target", "options", "boxes", "`ap50` %", "`ap` %"]


def images(*files: str) -> np.ndarray:
    """Photographs of `../shared` as the network takes them: every pixel several times, and grey around them."""
    prepared = []
    for file in files:
        pixels = np.load(SHARED / "data" / f"{file}_images.npy").transpose(0, 3, 1, 2)
        times = SIZE // pixels.shape[-1]
        enlarged = np.repeat(np.repeat(pixels, times, axis=2), times, axis=3)
        border = (SIZE - enlarged.shape[-1]) // 2
        edges = ((0, 0), (0, 0), (border, border), (border, border))
        prepared.append(np.pad(enlarged, edges, constant_values=GREY).astype(np.float32) / 255)
    return np.concatenate(prepared)


def detections(outputs: Any) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """Boxes, scores and classes for each image; outputs are [images, 4 + classes, cells]."""
    for columns in np.asarray(outputs):
        rows = columns.T
        yield from scenes.detections(rows[None, rows[:, 4:].max(axis=1) >= scenes.LEAST_SCORE])


def labels(outputs: Any) -> list[np.ndarray]:
    """Returns the boxes and classes that are found with some certainty, for each image."""
    found = []
    for boxes, scores, classes in detections(outputs):
        sure = scores >= FOUND_FROM
        found.append(np.concatenate([boxes[sure], classes[sure, None]], axis=1))
    return found


def main() -> None:
    if not NETWORK.exists():
        sys.exit(f"{NETWORK} is missing: run tools/dev/zoo --import-only nudenet")
    model = mct.load(NETWORK)
    calibration = images("imagenet/calib")
    test = images("imagenet/test", "vww/calib", "vww/test")
    found = labels(model.run(test))
    metrics = [mct.detection.AveragePrecision(name, decode=detections) for name in ("ap50", "ap")]
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for target, shown, options in STUDIES:
        outputs = mct.quantize(model, target=target, data=calibration, progress=False, **options).run(test)
        numbers = [f"{100 * metric(outputs, found):.2f}" for metric in metrics]
        row = ["nudenet", f"`{target}`", shown, str(sum(map(len, found))), *numbers]
        print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
