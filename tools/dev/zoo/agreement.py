# SPDX-License-Identifier: Apache-2.0
"""Prints how much average precision NudeNet loses by quantization, on photographs that nobody has labelled.

    git clone https://github.com/EliSchwartz/imagenet-sample-images build/photographs
    PYTHONPATH=build/python build/venv/bin/python tools/dev/zoo/agreement.py build/photographs

Labels are what the float network finds in most of eight views of a photograph: smaller, moved, mirrored. Boxes of the
views that overlap are one, at the mean of their places, with the mean of their scores, 0 where a view has none. Views
that judge are others than those, so that the float network itself finds some of these boxes only. Intervals come from
photographs that are drawn again, each with all its views.

The photographs are the folder's, one of each class of ImageNet, cut to squares. Every fifth is for the calibration,
which takes the 40 of these in which the float network is surest to have found something, and the others judge, but for
those in which it finds next to nothing. The network is that of `tools/dev/zoo --import-only nudenet`.

Some rows take boxes or scores from the float network, or leave a part of the network in float: they show which part
causes the loss. All rows take about an hour of processor time. `--only` takes those whose target and options contain
a text, and `--keep` stores what the float network finds, for further calls.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "shapes"))

import mct
import measure
import numpy as np
import scenes
from mct import _native
from PIL import Image

NETWORK = measure.REPOSITORY / "build" / "zoo" / "nudenet" / "network.mlirbc"

SIZE, GREY = 320, 114 / 255


class View(NamedTuple):
    """How large a photograph is in the image, 1 for all of it, and whether it is mirrored."""

    scale: float
    mirrored: bool


LABELLING = [View(scale, mirrored) for scale in (0.7, 0.8, 0.9, 1.0) for mirrored in (False, True)]
JUDGING = [View(0.75, False), View(0.95, True)]
CALIBRATION = View(0.9, False)

# One photograph of EVERY is for the calibration, which takes CALIBRATING of them. A photograph whose scores are all at
# most NOTHING is left out.
EVERY, CALIBRATING, NOTHING = 5, 40, 0.08

# The corners of a photograph lie up to so many pixels beyond those of the image.
BEYOND = 4
# Boxes of views are one from this overlap on. It is a label with this mean score, where more than half of the views
# have it, with scores that are no noise.
SAME, LEAST_MEAN, LEAST_VIEWS, NOISE = 0.5, 0.2, 0.5, 0.05
# Photographs whose pixels are in memory together.
AT_ONCE = 100
# Columns between the views of a photograph, whose boxes lie beside each other.
APART = 1000

COLUMNS = ["network", "target", "options", "metric", "classes", "boxes", "float %", "quantized %", "loss, points"]


class Case(NamedTuple):
    """Says how the network is quantized, and what is judged of it: a row of the table for each metric."""

    target: str
    title: str
    options: dict[str, Any]
    metrics: tuple[str, ...] = ("ap",)
    # Channels of the result that the float network computes, and the description of them in the row.
    own: tuple[tuple[slice, str], ...] = ()


PARTS = ((slice(0, 4), "boxes of the float network"), (slice(4, None), "scores of the float network"))
ONE_GRID = {"decode": "quantize", "split_shared_grids": False, "rescale_parts": False}
NO_ACTIVATIONS = {"overrides": ['name "*" activation=float']}
CASES = [
    *(
        case
        for target in ("imx500", "tflite")
        for case in (
            Case(target, "defaults", {}, ("ap50", "ap"), PARTS),
            Case(target, "`decode=quantize`", {"decode": "quantize"}),
            Case(target, "one grid", ONE_GRID),
            Case(target, "`refine-thresholds`", {"refine_thresholds": True}, ("ap50", "ap"), PARTS),
        )
    ),
    Case("imx500", "`weights-bias-correction=false`", {"weights_bias_correction": False}),
    Case("imx500", "`gptq-epochs=5`", {"gptq_epochs": 5}),
    Case("tflite", "`gptq-epochs=20`", {"gptq_epochs": 20}),
    Case("imx500", "activations in float", NO_ACTIVATIONS),
]

# Boxes [n, 4], scores and classes of what is found in an image.
Found = tuple[np.ndarray, np.ndarray, np.ndarray]


def read_square(file: Path) -> np.ndarray:
    """Returns the middle of a photograph as 320x320 pixels of 0 to 1."""
    with Image.open(file) as stored:
        image = stored.convert("RGB")
    side = min(image.size)
    left, top = (image.width - side) // 2, (image.height - side) // 2
    square = image.resize((SIZE, SIZE), Image.Resampling.BILINEAR, box=(left, top, left + side, top + side))
    return np.asarray(square, np.float32) / np.float32(255)


class Placed(NamedTuple):
    """Views of photographs, an image each, and where the left upper corner of each one is."""

    view: View
    corners: np.ndarray
    images: np.ndarray


def _weights(pixels: int, corner: float, side: float, mirrored: bool) -> np.ndarray:
    """Linear interpolation of a row of pixels, at the pixels of the image; nothing outside."""
    place = (np.arange(SIZE) + 0.5 - corner) / side
    inside = (place > 0) & (place < 1)
    where = np.clip((1 - place if mirrored else place) * pixels - 0.5, 0, pixels - 1)
    left = np.minimum(where.astype(int), pixels - 2)
    weights = np.zeros((SIZE, pixels), np.float32)
    weights[np.arange(SIZE), left] = 1 - (where - left)
    weights[np.arange(SIZE), left + 1] += where - left
    return weights * inside[:, None]


def place(photographs: Sequence[np.ndarray], view: View, random: np.random.Generator) -> Placed:
    side = SIZE * view.scale
    corners = random.uniform(-BEYOND, SIZE - side + BEYOND, (len(photographs), 2))
    images = np.empty((len(photographs), 3, SIZE, SIZE), np.float32)
    for image, photograph, (x, y) in zip(images, photographs, corners, strict=True):
        columns = _weights(photograph.shape[1], x, side, view.mirrored)
        rows = _weights(photograph.shape[0], y, side, False)
        covered = rows.sum(1)[:, None] * columns.sum(1)
        image[:] = np.einsum("yh,hwc,xw->cyx", rows, photograph, columns, optimize=True) + GREY * (1 - covered)
    return Placed(view, corners, images)


def detections(outputs: np.ndarray, placed: Placed) -> Iterator[Found]:
    """Yields what is found on each photograph, in pixels of one that fills the image; outputs are those of the network,
    [images, 4 + classes, cells]."""
    for columns, corner in zip(outputs, placed.corners, strict=True):
        rows = columns.T
        ((boxes, scores, classes),) = scenes.detections(rows[None, rows[:, 4:].max(axis=1) >= scenes.LEAST_SCORE])
        boxes = (boxes - np.tile(corner, 2)) / placed.view.scale
        if placed.view.mirrored:
            boxes[:, [0, 2]] = SIZE - boxes[:, [2, 0]]
        yield boxes, scores, classes


def fuse(views: Sequence[Found]) -> np.ndarray:
    """Returns boxes and classes, [n, 5], on which the views of a photograph agree."""
    sure = [
        (score, number, label, box)
        for number, found in enumerate(views)
        for box, score, label in zip(*found, strict=True)
        if score >= NOISE
    ]
    groups: list[list[tuple]] = []
    for each in sorted(sure, key=lambda entry: -entry[0]):
        open_groups = [group for group in groups if group[0][2] == each[2] and each[1] not in {one[1] for one in group}]
        near = [scenes.overlaps(each[3][None], _mean(group)[None])[0, 0] for group in open_groups]
        if near and max(near) >= SAME:
            open_groups[int(np.argmax(near))].append(each)
        else:
            groups.append([each])
    kept = [
        [*_mean(group), group[0][2]]
        for group in groups
        if len(group) > LEAST_VIEWS * len(views) and sum(one[0] for one in group) >= LEAST_MEAN * len(views)
    ]
    return np.array(kept, np.float32).reshape(-1, 5)


def _mean(group: Sequence[tuple]) -> np.ndarray:
    """The box of a group, in which certain boxes weigh more."""
    return np.average([one[3] for one in group], axis=0, weights=[one[0] for one in group])


def beside(views: Sequence[Found]) -> Found:
    """The views of a photograph as one image."""
    boxes = [found[0] + [APART * number, 0, APART * number, 0] for number, found in enumerate(views)]
    return np.concatenate(boxes), *(np.concatenate([found[part] for found in views]) for part in (1, 2))


def run(model: mct.Model, views: Iterable[Placed]) -> Iterator[np.ndarray]:
    """Yields the results of each view."""
    for placed in views:
        parts = np.split(placed.images, range(AT_ONCE, len(placed.images), AT_ONCE))
        yield np.concatenate([np.asarray(model.run(part)) for part in parts])


def by_photograph(results: Iterable[np.ndarray], views: Iterable[Placed]) -> list[list[Found]]:
    """For each photograph what is found in each of its views."""
    found = [list(detections(outputs, placed)) for outputs, placed in zip(results, views, strict=True)]
    return [list(each) for each in zip(*found, strict=True)]


def without_classes(found: Sequence[Found]) -> list[Found]:
    return [(boxes, scores, np.zeros_like(classes)) for boxes, scores, classes in found]


def compare(metric: str, found: Sequence[Found], reference: Sequence[Found], labels: Sequence[np.ndarray]) -> Any:
    """Returns the average precision of two networks by their detections, with an interval for the loss."""
    precision = mct.detection.AveragePrecision(metric, decode=lambda outputs: outputs)
    matched = [precision.match(each, labels) for each in (found, reference)]
    user = _native.UserMetric(metric, True, len(labels), *([one.precision] for one in matched), [], False)
    for number, one in enumerate(matched):
        user.set_detections(number, one.classes, one.overlaps)
    return json.loads(user.print())


def draw_after(placed: int) -> np.random.Generator:
    """Returns the generator for the places of photographs, after those of so many."""
    return np.random.Generator(np.random.PCG64(31).advance(2 * placed))


def find_best(model: mct.Model, files: Sequence[Path]) -> np.ndarray:
    """Returns the largest score that the model finds in each photograph."""
    random = draw_after(0)
    parts = [files[first : first + AT_ONCE] for first in range(0, len(files), AT_ONCE)]
    placed = (place([read_square(file) for file in part], CALIBRATION, random) for part in parts)
    return np.concatenate([np.asarray(model.run(each.images))[:, 4:].max(axis=(1, 2)) for each in placed])


def find_labels(model: mct.Model, test: Sequence[np.ndarray], random: np.random.Generator) -> np.ndarray:
    """Returns boxes, classes and numbers of photographs on which the views of the float network agree, [n, 6]."""
    agreed = []
    for view in LABELLING:
        placed = place(test, view, random)
        agreed.append([found for (found,) in by_photograph(run(model, [placed]), [placed])])
    labels = [fuse(views) for views in zip(*agreed, strict=True)]
    return np.concatenate([np.insert(rows, 5, number, axis=1) for number, rows in enumerate(labels)])


class Kept:
    """Holds arrays in a folder, if one is given. Those that it has are not made again."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, name: str, make: Callable[[], np.ndarray]) -> np.ndarray:
        file = self.folder / f"{name}.npy" if self.folder else None
        if file and file.exists():
            return np.load(file)
        made = make()
        if file:
            file.parent.mkdir(parents=True, exist_ok=True)
            np.save(file, made)
        return made


class Judge:
    """Compares what a network finds in the views that judge with the labels and with what the float network finds."""

    def __init__(self, model: mct.Model, test: Sequence[np.ndarray], drawn: int, kept: Kept) -> None:
        """`drawn`: how many photographs have been placed before."""
        labels = kept.get("labels", lambda: find_labels(model, test, draw_after(drawn)))
        random = draw_after(drawn + len(LABELLING) * len(test))
        self.views = [place(test, view, random) for view in JUDGING]
        # The same boxes in each view.
        offsets = [np.array([APART * number, 0, APART * number, 0, 0], np.float32) for number in range(len(JUDGING))]
        own = [labels[labels[:, 5] == number, :5] for number in range(len(test))]
        self.labels = [np.concatenate([rows + offset for offset in offsets]) for rows in own]
        self.results = kept.get("results", lambda: np.stack(list(run(model, self.views))))
        self.reference = self.find(self.results)

    def find(self, results: Iterable[np.ndarray]) -> list[Found]:
        return [beside(views) for views in by_photograph(results, self.views)]

    def print_rows(self, target: str, title: str, metrics: Sequence[str], results: Sequence[np.ndarray]) -> None:
        found = self.find(results)
        for metric in metrics:
            apart = compare(metric, found, self.reference, self.labels)
            ignored = [rows * [1, 1, 1, 1, 0] for rows in self.labels]
            joined = compare(metric, without_classes(found), without_classes(self.reference), ignored)
            for classes, judged in (("each", apart), ("as one", joined)):
                numbers = [f"{100 * judged[name]:.2f}" for name in ("reference", "value")]
                loss = f"{100 * judged['loss']:.2f}"
                # Few photographs have no interval.
                if "loss_low" in judged:
                    loss += " ({:.2f} to {:.2f})".format(*(100 * judged[name] for name in ("loss_low", "loss_high")))
                row = ["nudenet", f"`{target}`", title, f"`{metric}`", classes, str(sum(map(len, self.labels)))]
                print("| " + " | ".join([*row, *numbers, loss]) + " |", flush=True)

    def print_case(self, case: Case, quantized: mct.Model) -> None:
        results = list(run(quantized, self.views))
        self.print_rows(case.target, case.title, case.metrics, results)
        for part, title in case.own:
            mixed = [outputs.copy() for outputs in results]
            for outputs, reference in zip(mixed, self.results, strict=True):
                outputs[:, part] = reference[:, part]
            self.print_rows(case.target, f"{case.title}, {title}", ("ap",), mixed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("photographs", type=Path, help="folder of .JPEG files")
    parser.add_argument("--only", default="", metavar="TEXT", help="rows whose target and options contain the text")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keeps what the float network finds")
    arguments = parser.parse_args()
    files = sorted(arguments.photographs.glob("*.JPEG"))
    if not files:
        sys.exit("the folder has no .JPEG files")
    if not NETWORK.exists():
        sys.exit(f"{NETWORK} is missing: run tools/dev/zoo --import-only nudenet")
    cases = [case for case in CASES if arguments.only in f"{case.target} {case.title}"]
    if not cases:
        sys.exit(f"no row has '{arguments.only}'")
    model = mct.load(NETWORK)
    kept = Kept(arguments.keep)
    best = kept.get("best", lambda: find_best(model, files))
    surest = sorted(range(0, len(files), EVERY), key=lambda number: -best[number])[:CALIBRATING]
    calibration = place([read_square(files[number]) for number in surest], CALIBRATION, np.random.default_rng(5)).images
    test = [
        read_square(file)
        for n, (file, score) in enumerate(zip(files, best, strict=True))
        if n % EVERY and score > NOTHING
    ]
    judge = Judge(model, test, len(files), kept)
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS), flush=True)
    for case in cases:
        judge.print_case(
            case, mct.quantize(model, target=case.target, data=calibration, progress=False, **case.options)
        )


if __name__ == "__main__":
    main()
