# SPDX-License-Identifier: Apache-2.0
"""Networks run on samples: outputs, accuracy, and distances to another network."""

from __future__ import annotations

import json
import math
import os
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mct.errors import Error
from mct.progress import Callback, reporting
from mct.samples import Array, Spooled, as_array, load_npy, recorded, spool

if TYPE_CHECKING:
    from mct.model import Model
    from mct.preprocessing import Preprocessing


@dataclass(frozen=True)
class ComparedPoint:
    """How far the values of one point are from those of the reference.

    sqnr_db:   signal-to-quantization-noise ratio in dB; infinite for equal values.
    cosine:    of the angle between both, as vectors of all values of all samples.
    max_error: the largest difference.
    """

    name: str
    sqnr_db: float
    cosine: float
    max_error: float


@dataclass(frozen=True)
class ComparedIntegers:
    """How many stored integers of one point are others than those of the simulation.

    max_steps: the largest difference, in steps of the grid.
    """

    name: str
    values: int
    differing: int
    max_steps: float


@dataclass(frozen=True)
class ComparedGroup:
    """Channels of a result that mean something else than others: boxes beside scores.

    name:     the values that they are made of, or which channels they are.
    channels: positions along `ComparedResult.axis`.
    """

    name: str
    channels: tuple[int, ...]
    sqnr_db: float
    cosine: float
    max_error: float


@dataclass(frozen=True)
class ComparedResult:
    """How far a result is from that of the reference.

    is_scores: whether it is one row of scores of classes for each sample.
    axis:      axis of the channels of the groups.
    groups:    none, or two and more.
    """

    name: str
    sqnr_db: float
    cosine: float
    max_error: float
    is_scores: bool = False
    axis: int = 0
    groups: tuple[ComparedGroup, ...] = ()


def _sqnr_lines(title: str, rows: Sequence[tuple[str, ComparedResult | ComparedGroup | ComparedPoint]]) -> list[str]:
    """A table with the distances of each row; nothing where there are none."""
    if not rows:
        return []
    lines = [f"{title:<32} {'SQNR dB':>10} {'cosine':>10} {'max error':>12}"]
    for name, one in rows:
        lines.append(f"{name:<32} {one.sqnr_db:>10.2f} {one.cosine:>10.6f} {one.max_error:>12.4g}")
    return lines


@dataclass(frozen=True)
class Evaluation:
    """Results of a run over samples.

    top1:      share of the samples whose largest score is the label; None without labels.
    agreement: share of the samples whose largest score is that of the reference; None without one, and for results that
               are not scores of classes: one value for each sample, boxes, coordinates, pictures. Scores are the first
               result where there are labels, else the only one, when it is one row of values for each sample, and rows
               are distributions, or behave as what a softmax reads.
    seconds:   of the run.
    results:   how far each result is from that of the reference, and each group of its channels.
    """

    samples: int
    seconds: float
    top1: float | None = None
    agreement: float | None = None
    results: tuple[ComparedResult, ...] = ()

    def __str__(self) -> str:
        shares = [
            (name, share) for name, share in (("top-1", self.top1), ("agreement", self.agreement)) if share is not None
        ]
        text = "".join(f"{name:<11}{100 * share:.2f} %\n" for name, share in shares)
        rows: list[tuple[str, ComparedResult | ComparedGroup | ComparedPoint]] = []
        for result in self.results:
            rows += [(result.name, result), *(("  " + group.name, group) for group in result.groups)]
        return "\n".join(
            [f"samples    {self.samples}\n{text}seconds    {self.seconds:.3f}", *_sqnr_lines("result", rows)]
        )


@dataclass(frozen=True)
class Comparison(Evaluation):
    """Distances to a reference.

    points:       in program order.
    exact:        those of stored integers, where they were asked for; `points` is empty then.
    not_compared: names of points that the reference does not have.
    """

    points: tuple[ComparedPoint, ...] = ()
    exact: tuple[ComparedIntegers, ...] = ()
    not_compared: tuple[str, ...] = ()

    def worst(self) -> Comparison:
        """The same with the worst point first: the lowest SQNR, or the most integers that differ."""
        points = sorted(self.points, key=lambda point: -math.inf if math.isnan(point.sqnr_db) else point.sqnr_db)
        exact = sorted(self.exact, key=lambda point: -point.differing)
        return replace(self, points=tuple(points), exact=tuple(exact))

    def __str__(self) -> str:
        lines = [super().__str__()]
        if self.not_compared:
            lines.append(
                "not compared, as the reference has no value of that name and size: " + ", ".join(self.not_compared)
            )
        if self.exact:
            lines.append(f"{'point':<32} {'values':>12} {'differing':>12} {'max steps':>12}")
            total = ComparedIntegers(
                "total",
                sum(point.values for point in self.exact),
                sum(point.differing for point in self.exact),
                max(point.max_steps for point in self.exact),
            )
            for point in (*self.exact, total):
                lines.append(f"{point.name:<32} {point.values:>12} {point.differing:>12} {point.max_steps:>12.6g}")
        lines += _sqnr_lines("point", [(one.name, one) for one in self.points])
        return "\n".join(lines)


def _labels(labels: Any, data: Any, spooled: Spooled) -> Array | None:
    """The index of a class for each sample, from the labels or from the data."""
    if labels is None:
        labels = getattr(data, "labels", None)
    if labels is None:
        labels = spooled.labels
    if labels is None:
        return None
    array = load_npy(labels) if isinstance(labels, (str, os.PathLike)) else as_array(labels)
    if array.dtype.kind not in "iub":
        raise Error(f"labels: expected integers, found {array.dtype}")
    result: Array = array.astype(np.int64)
    return result


def _read(text: str) -> Comparison:
    """From the JSON of mct-run."""

    def number(value: float | None, missing: float = math.nan) -> float:
        return missing if value is None else float(value)

    def distances(entry: Mapping[str, Any]) -> tuple[float, float, float]:
        # JSON has no infinity: equal values have no noise.
        sqnr = number(entry["sqnr_db"], math.inf if entry["max_error"] == 0 else math.nan)
        return sqnr, number(entry["cosine"]), number(entry["max_error"])

    found = json.loads(text)
    results = []
    for entry in found.get("results", ()):
        groups = tuple(ComparedGroup(one["name"], tuple(one["channels"]), *distances(one)) for one in entry["groups"])
        results.append(
            ComparedResult(entry["name"], *distances(entry), entry["is_scores"], axis=entry["axis"], groups=groups)
        )
    points, exact = [], []
    for entry in found.get("points", ()):
        if "differing" in entry:
            exact.append(
                ComparedIntegers(
                    entry["name"], entry["values"], entry["differing"], number(entry["max_steps"], math.inf)
                )
            )
        else:
            points.append(ComparedPoint(entry["name"], *distances(entry)))
    return Comparison(
        samples=found["samples"],
        seconds=found["seconds"],
        top1=found.get("top1"),
        agreement=found.get("agreement"),
        results=tuple(results),
        points=tuple(points),
        exact=tuple(exact),
        not_compared=tuple(found.get("not_compared", ())),
    )


def execute(
    model: Model,
    data: Any,
    *,
    labels: Any = None,
    outputs: Sequence[str | os.PathLike[str]] = (),
    reference: Model | None = None,
    preprocessing: Preprocessing | Mapping[str, Preprocessing] | None = None,
    float_points: Sequence[str] = (),
    function: str = "",
    samples: int | None = None,
    batch_size: int = 0,
    threads: int = 0,
    max_memory: str = "",
    exact: bool = False,
    progress: bool | Callback | None = None,
) -> Comparison:
    """Run a model of any stage on samples; what the other functions here are made of.

    data:          samples, see `mct.samples`.
    labels:        class numbers, an array or a `.npy`; None: those that the data has.
    outputs:       `.npy` files to write, one for each output of the network.
    reference:     another model, which runs beside it.
    preprocessing: of the samples, in place of what the module has recorded.
    float_points:  points that do not quantize, by name or pattern (`*/kernel_attr`).
    exact:         compares the stored integers of an integer network with those that `reference` simulates.

    Raises mct.Error; no output is written then.
    """
    module, signature = recorded(model.module, data, preprocessing, function)
    with reporting(progress) as report, spool(data, signature, limit=samples, report=report) as spooled:
        classes = _labels(labels, data, spooled)
        with tempfile.TemporaryDirectory(prefix="mct-") as folder:
            label_file = ""
            if classes is not None:
                label_file = os.path.join(folder, "labels.npy")
                np.save(label_file, classes)
            return _read(
                module.execute(
                    spooled.arguments,
                    [os.fspath(path) for path in outputs],
                    reference=reference.module if reference else None,
                    labels=label_file,
                    float_points=list(float_points),
                    function=function,
                    samples=samples or 0,
                    batch_size=batch_size,
                    threads=threads,
                    max_memory=max_memory,
                    exact=exact,
                    poll=report.poll if report else None,
                )
            )


def run(model: Model, data: Any, **options: Any) -> Array | tuple[Array, ...]:
    """The outputs for all samples, as the network stores them: an array, or a tuple of them where there are several.

    data:    samples, see `mct.samples`.
    options: those of `execute`.
    """
    function = options.get("function", "")
    count = len(json.loads(model.module.signature(function))["outputs"])
    with tempfile.TemporaryDirectory(prefix="mct-") as folder:
        paths = [Path(folder, f"output{number}.npy") for number in range(count)]
        execute(model, data, outputs=paths, **options)
        found = tuple(np.load(path) for path in paths)
    return found[0] if count == 1 else found


def evaluate(model: Model, data: Any, labels: Any = None, **options: Any) -> Evaluation:
    """Accuracy on samples with labels, and agreement with `reference`, where there is one, with the distance of each
    result.

    labels:  class numbers, one for each sample, an array or a `.npy`; default: those that the data has (`mct.images`
             of folders that are classes, a `DataLoader`).
    options: those of `execute`.
    """
    found = execute(model, data, labels=labels, **options)
    if found.top1 is None and found.agreement is None and not found.results:
        raise Error("labels: there are none; give them as the second argument, or a reference to agree with")
    return Evaluation(found.samples, found.seconds, found.top1, found.agreement, found.results)


def compare(model: Model, data: Any, reference: Model | None = None, **options: Any) -> Comparison:
    """How far every point is from the value of its name in another model.

    reference: default: the float model that `model` was made of.
    options:   those of `execute`.
    """
    reference = reference or getattr(model, "float_model", None)
    if reference is None:
        raise Error("compare: the float model is not known; give the model to compare with")
    return execute(model, data, reference=reference, **options)
