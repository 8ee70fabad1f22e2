# SPDX-License-Identifier: Apache-2.0
"""Prints a table of what quantization costs the detector and the segmentation network of `test/data/shapes`.

    PYTHONPATH=build/python build/venv/bin/python tools/dev/shapes/judge.py

Calibrated with 256 images and judged by 500 others, all of them made by `scenes.py`. The last column tells how many
stored values of the integer network differ from its simulation, on 8 images.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import mct
import measure
import scenes

FOLDER = measure.REPOSITORY / "test" / "data" / "shapes"
IMAGES = {"calibration": 256, "test": 500, "integers": 8}
COLUMNS = ["network", "target", "options", "weight bytes", "metric", "float %", "quantized %", "loss", "integers"]

QUANTIZED_DECODING = {"decode": "quantize"}
ONE_GRID = {**QUANTIZED_DECODING, "split_shared_grids": False}
HALF = {"budget": ["weights:50%"]}
# Network, target, options with what the table calls them.
STUDIES = [
    ("detector", "imx500", "defaults", {}),
    ("detector", "imx500", "`decode=quantize`", QUANTIZED_DECODING),
    ("detector", "imx500", "one grid", ONE_GRID),
    ("detector", "imx500", "`weights:50%`", HALF),
    ("detector", "imx500_v1_pot", "defaults", {}),
    ("detector", "tflite", "defaults", {}),
    ("detector", "tflite", "`decode=quantize`", QUANTIZED_DECODING),
    ("detector", "tflite", "one grid", ONE_GRID),
    ("unet", "imx500", "defaults", {}),
    ("unet", "imx500", "`weights:50%`", HALF),
    ("unet", "imx500_v1_pot", "defaults", {}),
    ("unet", "tflite", "defaults", {}),
]


def metrics(network: str, found: scenes.Scenes) -> dict:
    """Names of metrics with what judges by them, and the labels."""
    if network == "unet":
        return {"miou": ("miou", found.classes)}
    named = {name: mct.detection.AveragePrecision(name, decode=scenes.detections) for name in ("ap50", "ap")}
    return {name: (metric, found.boxes) for name, metric in named.items()}


def differing(quantized: mct.Model, images) -> tuple[int, int]:
    """Returns how many of the stored values of all points are others than in the simulation, and how many there are."""
    simulated = mct.simulate_integers(quantized)
    integer = mct.lower_to_integer(simulated)
    points = mct.evaluation.execute(integer, images[: IMAGES["integers"]], reference=simulated, exact=True).exact
    return sum(point.differing for point in points), sum(point.values for point in points)


def rows(
    network: str, target: str, shown: str, options: dict, calibration: scenes.Scenes, test: scenes.Scenes
) -> list[list[str]]:
    model = mct.load(FOLDER / f"{network}.mlirbc")
    quantized = mct.quantize(model, target=target, data=calibration.images, progress=False, **options)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "quantized.mlirbc"
        quantized.save(path)
        weights = measure.weight_bytes(path)
    integers = "{} of {}".format(*differing(quantized, test.images))
    lines = []
    for name, (metric, labels) in metrics(network, test).items():
        found = quantized.evaluate(test.images, labels, metric=metric).metric
        numbers = [f"{100 * value:.2f}" for value in (found.reference, found.value, found.loss)]
        lines.append([network, f"`{target}`", shown, f"{weights:.0f}", f"`{name}`", *numbers, integers])
    return lines


def main() -> None:
    calibration = scenes.scenes(IMAGES["calibration"], scenes.CALIBRATION)
    test = scenes.scenes(IMAGES["test"], scenes.TEST)
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    for study in STUDIES:
        for row in rows(*study, calibration, test):
            print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main()
