# SPDX-License-Identifier: Apache-2.0
"""Measures whether promised drops of the detector and the segmentation network hold on images that nothing has seen.

    PYTHONPATH=build/python build/venv/bin/python tools/dev/shapes/promise.py [detector] [unet] [--seeds N]

For each seed, images with labels for `max-drop` and others that judge the result are made by `scenes.py`. Prints a
table in Markdown, and each seed on standard error.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import mct
import measure
import scenes

FOLDER = measure.REPOSITORY / "test" / "data" / "shapes"
CALIBRATION = 256
# Seeds of the images of a division are this number and the following ones; smaller ones made the network.
FIRST_SEED = 1000


class Case(NamedTuple):
    """A metric and what it may drop, the images with labels for `max-drop`, and those that judge."""

    metric: str
    max_drop: float
    validation: int
    judging: int

    def get_metric(self) -> Any:
        if self.metric in mct.detection.OVERLAPS:
            return mct.detection.AveragePrecision(self.metric, decode=scenes.detections)
        return self.metric

    def get_labels(self, made: scenes.Scenes) -> Any:
        return made.boxes if self.metric in mct.detection.OVERLAPS else made.classes


CASES = {"detector": Case("ap", 0.02, 600, 1000), "unet": Case("miou", 0.005, 300, 1000)}


def weight_bytes(model: mct.Model) -> int:
    [found] = model.resources()["functions"]
    return sum(op["weights_bytes"] for op in found["ops"])


def measure_seed(network: mct.Model, case: Case, calibration: scenes.Scenes, seed: int) -> dict | None:
    """Returns the figures of a seed; None where nothing is promised."""
    validation = scenes.scenes(case.validation, FIRST_SEED + 2 * seed)
    others = scenes.scenes(case.judging, FIRST_SEED + 2 * seed + 1)
    metric = case.get_metric()
    begun = time.process_time()
    try:
        made = mct.quantize(
            network,
            "imx500",
            calibration.images,
            metric=metric,
            max_drop=case.max_drop,
            validation=validation.images,
            labels=case.get_labels(validation),
            progress=False,
        )
    except mct.Error as error:
        if "cannot promise" in str(error):
            return None
        raise
    seconds = time.process_time() - begun
    drop = made.evaluate(others.images, case.get_labels(others), metric=metric).metric.loss
    return {"drop": drop, "bytes": weight_bytes(made), "cpu": seconds, "text": made.contract.text}


def spread(numbers: list[float]) -> str:
    return f"{statistics.median(numbers):.0f} ({min(numbers):.0f} to {max(numbers):.0f})"


def make_row(name: str, measured: list[dict | None], whole: int, half: int) -> list:
    case = CASES[name]
    made = [each for each in measured if each]
    row = [name, f"`{case.metric}`", f"{100 * case.max_drop:g} points", case.validation, case.judging]
    row += [len(measured), len(made), sum(each["drop"] <= case.max_drop for each in made)]
    if not made:
        return [*row, "", "", whole, half, ""]
    row += [f"{100 * statistics.mean(each['drop'] for each in made):.2f} points"]
    row += [spread([each["bytes"] for each in made]), whole, half]
    return [*row, f"{statistics.median(each['cpu'] for each in made):.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=list(CASES))
    parser.add_argument("--seeds", type=int, default=20)
    options = parser.parse_args()
    columns = ["network", "metric", "allowed", "images with labels", "judging images", "seeds", "promised", "holds"]
    columns += ["drop on others, mean", "weights, median", "weights of 8 bits", "weights within 50 %"]
    columns += ["CPU seconds, median"]
    print("| " + " | ".join(columns) + " |\n|" + "---|" * len(columns))
    calibration = scenes.scenes(CALIBRATION, scenes.CALIBRATION)
    for name in options.networks:
        case, network = CASES[name], mct.load(FOLDER / f"{name}.mlirbc")
        whole = weight_bytes(mct.quantize(network, "imx500", calibration.images, progress=False))
        budget = ("weights:50%",)
        half = weight_bytes(mct.quantize(network, "imx500", calibration.images, budget=budget, progress=False))
        measured = []
        for seed in range(options.seeds):
            measured.append(measure_seed(network, case, calibration, seed))
            print(name, seed, measured[-1], file=sys.stderr, flush=True)
        print("| " + " | ".join(map(str, make_row(name, measured, whole, half))) + " |", flush=True)


if __name__ == "__main__":
    main()
