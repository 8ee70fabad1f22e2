# SPDX-License-Identifier: Apache-2.0
"""The average precision of boxes, by pycocotools (extra `detection`): a metric for `evaluate` and `report`."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from mct import _extras
from mct.errors import Error, describe
from mct.samples import Array, as_array

# For one image: boxes [n, 4] as left, top, right, bottom; a score and the number of a class for each.
Detections: TypeAlias = "tuple[Array, Array, Array]"
# The metrics by name, with the overlaps (intersection over union) from which on a box counts.
OVERLAPS: dict[str, tuple[float, ...]] = {
    "ap": tuple(0.5 + 0.05 * step for step in range(10)),
    "ap50": (0.5,),
}
# Descriptions for `mct.evaluation.metrics`.
DESCRIPTIONS = {
    "ap": "average precision of boxes, the mean over overlaps of 0.5 to 0.95 (extra 'detection')",
    "ap50": "average precision of boxes at an overlap of 0.5 (extra 'detection')",
}
# Boxes of each image and class that count, those with the largest scores, as in COCO.
MOST_BOXES = 100


class Matched(NamedTuple):
    """The average precision of a network, and what it is made of.

    precision: as pycocotools computes it.
    classes:   for each class the images of its detections, the most certain first; the overlaps at which each one is
               matched with a box, a bit for each; and the number of boxes of each image.
    overlaps:  number of overlaps.
    """

    precision: float
    classes: list[tuple[list[int], list[int], list[int]]]
    overlaps: int


class AveragePrecision:
    """The mean over classes of the average precision, as COCO defines it: one number between 0 and 1 for all images.

    name:   of `OVERLAPS`.
    decode: makes of the outputs of all images, as `Model.run` returns them, `Detections` for each image. By default
            there are two outputs: boxes [images, n, 4] and scores [images, n, classes], in either order.

    Labels are boxes with classes: an array [images, m, 5] of left, top, right, bottom and class, or an array [m, 5] for
    each image. Rows of a negative class are not boxes. Units are those of the outputs.
    """

    def __init__(
        self, name: str = "ap", decode: Callable[[Any], Sequence[Detections] | Iterator[Detections]] | None = None
    ) -> None:
        if name not in OVERLAPS:
            raise Error(f"metric: expected one of {', '.join(OVERLAPS)}, found {name!r}")
        _extras.require_modules("detection", ("pycocotools",), f"the metric {name}")
        self.__name__ = name
        self.decode = decode or _decode

    def __call__(self, outputs: Any, labels: Any) -> float:
        """Raises mct.Error for outputs or labels of another form."""
        return self.match(outputs, labels).precision

    def match(self, outputs: Any, labels: Any) -> Matched:
        """Returns the average precision, and what it is made of. Raises mct.Error as a call does."""
        found = list(self.decode(outputs))
        expected = _read_labels(labels, len(found))
        annotations = [
            {"image_id": image, "category_id": int(row[4]), **_box(row[:4]), "iscrowd": 0}
            for image, rows in enumerate(expected)
            for row in rows
            if row[4] >= 0
        ]
        if not annotations:
            raise Error("labels: there is no box; without one there is no average precision")
        detections = [
            {"image_id": image, "category_id": int(label), "score": float(score), **_box(box)}
            for image, one in enumerate(found)
            for box, score, label in zip(*_most_certain(*map(as_array, one)), strict=True)
        ]
        return _match(len(found), annotations, detections, OVERLAPS[self.__name__])


def _box(edges: Array) -> dict[str, Any]:
    left, top, right, bottom = map(float, edges)
    return {"bbox": [left, top, right - left, bottom - top], "area": (right - left) * (bottom - top)}


def _decode(outputs: Any) -> Iterator[Detections]:
    arrays = [as_array(one) for one in outputs] if isinstance(outputs, tuple) else [as_array(outputs)]
    shapes = ", ".join(str(array.shape) for array in arrays)
    if len(arrays) == 2 and arrays[0].shape[-1] != 4:
        arrays.reverse()
    if (
        len(arrays) != 2
        or any(array.ndim != 3 for array in arrays)
        or arrays[0].shape[-1] != 4
        or arrays[0].shape[:2] != arrays[1].shape[:2]
    ):
        raise Error(
            f"metric: expected boxes [images, n, 4] and scores [images, n, classes], found outputs of shape {shapes}",
            notes=["mct.detection.AveragePrecision(decode=...) takes a function that makes boxes of other outputs"],
        )
    for boxes, scores in zip(*arrays, strict=True):
        classes = scores.shape[1]
        yield np.repeat(boxes, classes, axis=0), scores.reshape(-1), np.tile(np.arange(classes), len(boxes))


def _most_certain(boxes: Array, scores: Array, classes: Array) -> Detections:
    """Leaves out boxes that pycocotools would leave out, which are most where there is a score for every class."""
    if boxes.shape != (len(scores), 4) or scores.ndim != 1 or scores.shape != classes.shape:
        shapes = ", ".join(str(array.shape) for array in (boxes, scores, classes))
        raise Error(f"metric: expected boxes [n, 4], scores [n] and classes [n] of an image, found shapes {shapes}")
    kept = [
        np.flatnonzero(classes == label)[np.argsort(-scores[classes == label], kind="stable")[:MOST_BOXES]]
        for label in np.unique(classes)
    ]
    chosen = np.concatenate(kept) if kept else np.zeros(0, np.int64)
    return boxes[chosen], scores[chosen], classes[chosen]


def _read_labels(labels: Any, images: int) -> list[Array]:
    if labels is None:
        raise Error("labels: there are none; give boxes and classes, [images, m, 5]")
    if not isinstance(labels, Sequence | np.ndarray):
        raise Error(
            f"labels: expected rows of left, top, right, bottom, class for each image, found {describe(labels)}"
        )
    rows = [as_array(one) for one in labels]
    for image, one in enumerate(rows):
        if one.ndim != 2 or one.shape[1] != 5 or one.dtype.kind not in "iuf":
            raise Error(
                f"labels: expected rows of left, top, right, bottom, class, found {describe(one)} for image {image}"
            )
    if len(rows) != images:
        raise Error(f"labels: {len(rows)} for {images} images")
    return rows


def _match(images: int, annotations: list[Any], detections: list[Any], overlaps: Sequence[float]) -> Matched:
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    classes = sorted({entry["category_id"] for entry in annotations})
    with contextlib.redirect_stdout(io.StringIO()):  # it prints its progress
        truth = COCO()
        truth.dataset = {
            "info": {},
            "images": [{"id": image} for image in range(images)],
            "annotations": [entry | {"id": number + 1} for number, entry in enumerate(annotations)],
            "categories": [{"id": label} for label in classes],
        }
        truth.createIndex()
        # Without a detection there is nothing that it could load.
        judge = COCOeval(truth, truth.loadRes(detections) if detections else COCO(), "bbox")
        judge.params.iouThrs = np.array(overlaps)
        # Boxes of all sizes, in one list.
        judge.params.areaRng, judge.params.areaRngLbl = judge.params.areaRng[:1], judge.params.areaRngLbl[:1]
        judge.params.maxDets = [MOST_BOXES]
        judge.evaluate()
        judge.accumulate()
    precisions = judge.eval["precision"]
    known = precisions[precisions > -1]
    rows = [_matched_class(judge.evalImgs[number * images : (number + 1) * images]) for number in range(len(classes))]
    return Matched(float(known.mean()), rows, len(overlaps))


def _matched_class(found: list[Any]) -> tuple[list[int], list[int], list[int]]:
    """Returns images and matches of the detections of a class, the most certain first, and the boxes of each image."""
    boxes = [0 if one is None else len(one["gtIds"]) for one in found]
    there = [(image, one) for image, one in enumerate(found) if one is not None and one["dtScores"]]
    if not there:
        return [], [], boxes
    scores = np.concatenate([one["dtScores"] for _, one in there])
    images = np.concatenate([np.full(len(one["dtScores"]), image) for image, one in there])
    matches = np.concatenate([one["dtMatches"] > 0 for _, one in there], axis=1)
    bits = (matches << np.arange(len(matches))[:, None]).sum(axis=0)
    order = np.argsort(-scores, kind="stable")
    return images[order].tolist(), bits[order].tolist(), boxes
