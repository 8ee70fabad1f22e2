# SPDX-License-Identifier: Apache-2.0
"""Networks run on samples: outputs, accuracy, and distances to another network."""

from __future__ import annotations

import json
import logging
import math
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mct import _native, detection
from mct._arguments import Count, checked, with_options_of
from mct.errors import Error, describe
from mct.progress import Callback, reporting
from mct.running import ClientLike, MetricLike, find_metric
from mct.samples import Array, Spooled, as_array, load_npy, read_signature, recorded, spool

if TYPE_CHECKING:
    from mct.model import Model
    from mct.preprocessing import Preprocessing


# A simulation is compared with the quantized network on so many samples, and a loss is reported from here.
_JUDGED_SAMPLES = 32
_REPORTED_LOSS_DB = 0.5


@dataclass(frozen=True)
class Metric:
    """A metric of a network.

    name, unit:       the metric; `share` (between 0 and 1), `dB`, or `number`.
    is_higher_better: whether larger values are better.
    samples:          those that count.
    value, low, high: of the network, with 95 % confidence; NaN where there are too few samples, or one number for all.
    reference:        value of the reference; None without one, as everything below.
    loss, loss_low, loss_high: how much the network loses against it on the same samples; negative: it gains.
    is_beyond_chance: whether the samples are enough to tell that it loses, or gains.
    samples_needed:   about so many would be, for a loss of that size; None: not known.
    text:             the loss in words.
    """

    name: str
    unit: str
    is_higher_better: bool
    samples: int
    value: float
    low: float = math.nan
    high: float = math.nan
    reference: float | None = None
    loss: float | None = None
    loss_low: float = math.nan
    loss_high: float = math.nan
    is_beyond_chance: bool | None = None
    samples_needed: int | None = None
    text: str = ""

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Metric:
        """Makes one of the JSON of mct-run, in which null stands for numbers that are not finite."""
        known: dict[str, Any] = {name: math.nan if value is None else value for name, value in entry.items()}
        return cls(**known)

    def _shown(self, value: float) -> str:
        return {"share": f"{100 * value:.2f} %", "dB": f"{value:.2f} dB"}.get(self.unit, f"{value:.4f}")

    def __str__(self) -> str:
        text = self._shown(self.value)
        if not math.isnan(self.low):
            text += f" (95 %: {self._shown(self.low)} to {self._shown(self.high)})"
        if self.reference is not None:
            text += f"\nreference  {self._shown(self.reference)}; the network {self.text}"
        return text


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

    logits_sqnr_db: of the logits, where a sigmoid or a softmax makes it: probabilities, which count as at least one
               in a million. None for other results.
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
    logits_sqnr_db: float | None = None


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
               are not scores of classes: one value for each sample, boxes, coordinates, pictures, embeddings. Scores
               are the first result where there are labels, else the only one, when it is one row of values for each
               sample, and rows are distributions, or behave as what a softmax reads.
    seconds:   of the run.
    results:   how far each result is from that of the reference, and each group of its channels.
    metric:    result of the requested metric.
    """

    samples: int
    seconds: float
    top1: float | None = None
    agreement: float | None = None
    results: tuple[ComparedResult, ...] = ()
    metric: Metric | None = None

    def __str__(self) -> str:
        shares = [
            (name, share) for name, share in (("top-1", self.top1), ("agreement", self.agreement)) if share is not None
        ]
        text = "".join(f"{name:<11}{100 * share:.2f} %\n" for name, share in shares)
        if self.metric is not None:
            text += f"{self.metric.name:<10} {self.metric}\n"
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
    exact:        those of stored integers, if they were requested; `points` is empty then.
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


def _judged_labels(labels: Any, metric: str | None) -> Any:
    """Returns, of a dictionary, the labels of the result that the metric is about."""
    if not isinstance(labels, Mapping):
        return labels
    judged = (metric or "").partition("@")[2]
    if judged not in labels:
        existing = f"none of the result {judged!r}" if judged else "those of several results"
        raise Error(
            f"labels: there are {existing}, by name: {', '.join(map(str, labels))}",
            notes=['metric="top1@NAME" says which result is judged'],
        )
    return labels[judged]


def prepare_labels(labels: Any, are_classes: bool) -> Array:
    """Labels, an array or a `.npy`, as `mct-run` takes them."""
    array = load_npy(labels) if isinstance(labels, (str, os.PathLike)) else as_array(labels)
    if not are_classes:
        return np.ascontiguousarray(array, np.float32 if array.dtype == np.float16 else None)
    if array.dtype.kind not in "iu":
        raise Error(f"labels: expected integers, found {array.dtype}")
    result: Array = array.astype(np.int64)
    return result


def _labels(labels: Any, data: Any, spooled: Spooled, metric: str | None = None) -> Array | None:
    """The index of a class for each sample, or what a metric takes, from the labels or from the data."""
    labels = _judged_labels(getattr(data, "labels", None) if labels is None else labels, metric)
    if labels is None:
        labels = spooled.labels
    return None if labels is None else prepare_labels(labels, are_classes=not metric)


def _read(text: str) -> Comparison:
    """Makes one of the JSON of mct-run."""

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
            ComparedResult(
                entry["name"],
                *distances(entry),
                entry["is_scores"],
                axis=entry["axis"],
                groups=groups,
                logits_sqnr_db=distances(entry["logits"])[0] if "logits" in entry else None,
            )
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
        metric=Metric.of(found["metric"]) if "metric" in found else None,
    )


def run_distributed(
    model: Model,
    data: Any,
    labels: Any,
    method: str,
    others: Mapping[str, Model | None],
    keywords: Mapping[str, Any],
    client: ClientLike,
    preprocessing: Preprocessing | Mapping[str, Preprocessing] | None,
    progress: bool | Callback | None,
    **alone: Any,
) -> str:
    """The JSON of `_native.Module.execute` or `report` for samples that the workers of a client read."""
    from mct import distributed
    from mct.model import Model

    function = keywords.get("function", "")
    module, _ = recorded(model.module, None, preprocessing, function)
    classes = _judged_labels(labels, keywords.get("metric"))
    with reporting(progress) as report:
        poll = {"poll": report.poll if report else None}
        return distributed.run_networks(
            client, Model(module), data, classes, method, others, keywords, report, **alone, **poll
        )


@checked
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
    samples: Count | None = None,
    batch_size: Count = 0,
    threads: Count = 0,
    max_memory: str = "",
    exact: bool = False,
    metric: str = "",
    client: ClientLike = None,
    progress: bool | Callback | None = None,
) -> Comparison:
    """Runs a model at any stage on samples; the other functions here are built on this one.

    data:          samples, see `mct.samples`.
    labels:        class numbers, or what the metric takes, an array or a `.npy`, or a dictionary of these by names of
                   results; None: those that the data has.
    outputs:       `.npy` files to write, one for each output of the network.
    reference:     another model, which runs beside it.
    preprocessing: of the samples, in place of what the module has recorded.
    float_points:  points that do not quantize, by name or pattern (`*/kernel_attr`).
    exact:         compares the stored integers of an integer network with those that `reference` simulates.
    metric:        a name of `metrics`, of the first result, or of another one, with the suffix `@RESULT`.
    client:        whose workers each run the model on some of the samples; see `mct.distributed`.

    Raises mct.Error; no output is written then.
    """
    outputs = [outputs] if isinstance(outputs, (str, os.PathLike)) else outputs
    float_points = [float_points] if isinstance(float_points, str) else float_points
    if client is not None:
        if outputs or samples:
            option = "outputs" if outputs else "samples"
            raise Error(f"{option}: with a client, workers read all samples, and write no outputs; leave it out")
        keywords = {
            "float_points": list(float_points),
            "function": function,
            "batch_size": batch_size,
            "threads": threads,
            "max_memory": max_memory,
            "exact": exact,
            "metric": metric,
        }
        return _read(
            run_distributed(
                model, data, labels, "execute", {"reference": reference}, keywords, client, preprocessing, progress
            )
        )
    module, signature = recorded(model.module, data, preprocessing, function)
    with reporting(progress) as report, spool(data, signature, limit=samples, report=report) as spooled:
        classes = _labels(labels, data, spooled, metric)
        with tempfile.TemporaryDirectory(prefix="mct-") as folder:
            label_file = ""
            if classes is not None:
                label_file = os.path.join(folder, "labels.npy")
                np.save(label_file, classes)
            text = module.execute(
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
                metric=metric,
                poll=report.poll if report else None,
            )
            assert text is not None
            return _read(text)


def report_loss(model: Model, simulated: Model) -> Model:
    """Logs a warning for each result of a simulation that is further from the float network than that of the quantized
    network, by more than 0.5 dB on 32 samples of the calibration; returns the simulation, with the same samples.

    Models without samples of a calibration are not compared.
    """
    from mct.model import QuantizedModel

    if not isinstance(model, QuantizedModel):
        return simulated
    simulated = QuantizedModel(simulated.module, model.float_model, model.calibration, model.metric)
    if model.calibration is None or model.float_model is None:
        return simulated
    samples = min(model.calibration.limit or _JUDGED_SAMPLES, _JUDGED_SAMPLES)
    data, reference = model.calibration.data, model.float_model
    before, after = (
        execute(each, data, reference=reference, samples=samples, progress=False).results for each in (model, simulated)
    )
    for quantized, integers in zip(before, after, strict=True):
        if quantized.sqnr_db - integers.sqnr_db > _REPORTED_LOSS_DB:
            logging.getLogger("mct").warning(
                "the integers of '%s' are %.1f dB below the quantized network (%.1f dB, %.1f dB); remarks=True of "
                "mct.simulate_integers lists the points that they need",
                quantized.name,
                quantized.sqnr_db - integers.sqnr_db,
                integers.sqnr_db,
                quantized.sqnr_db,
            )
    return simulated


@with_options_of(execute)
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


def metrics() -> dict[str, str]:
    """Metrics that have a name, and what they are. `K`, `CLASSES` and `PEAK` stand for numbers."""
    return dict(_native.metrics()) | detection.DESCRIPTIONS


def numbers_of(found: Any, samples: int, name: str) -> tuple[list[float], bool]:
    """The numbers that a function of the user returned, and whether it is a number for each sample."""
    array = as_array(found)
    if array.dtype.kind not in "biuf" or array.shape not in ((), (samples,)):
        raise Error(
            f"metric: expected one number, or an array of {samples} numbers, one for each sample, from '{name}', found "
            f"{describe(found) if array.dtype.kind not in 'biuf' else f'an array of shape {array.shape}'}"
        )
    return [float(value) for value in array.reshape(-1)], array.ndim == 1


def judge(
    metric: Callable[[Any, Any], Any],
    models: Sequence[Model | None],
    data: Any,
    labels: Any = None,
    *,
    higher_is_better: bool = True,
    **options: Any,
) -> _native.UserMetric:
    """A function judges models: the network, its reference and the integer one; None for one that is not there.

    metric:  called with the outputs of all samples, as `run` returns them, and the labels.
    options: those of `run`; samples of the reference are read as those of the network are.
    """
    network, function = models[0], options.get("function", "")
    assert network is not None
    _, signature = recorded(network.module, data, options.pop("preprocessing", None), function)
    if labels is None:
        labels = getattr(data, "labels", None)
    if isinstance(labels, (str, os.PathLike)):
        labels = load_npy(labels)
    name = getattr(metric, "__name__", type(metric).__name__)
    found: list[list[float]] = []
    matched: dict[int, detection.Matched] = {}
    kinds = set()
    count = 0
    for model in models:
        if model is None:
            found.append([])
            continue
        inputs = read_signature(model.module, function)
        read = {own.name: first.preprocessing for own, first in zip(inputs, signature, strict=False)}
        outputs = run(model, data, preprocessing=read, **options)
        count = len(outputs[0] if isinstance(outputs, tuple) else outputs)
        if isinstance(metric, detection.AveragePrecision):
            matched[len(found)] = metric.match(outputs, labels)
        result = matched[len(found)].precision if len(found) in matched else metric(outputs, labels)
        numbers, has_rows = numbers_of(result, count, name)
        found.append(numbers)
        kinds.add(has_rows)
    if len(kinds) > 1:
        raise Error(f"metric: '{name}' returned one number for one network, and several for another one")
    values, reference, integer = (*found, [], [])[:3]
    user = _native.UserMetric(name, higher_is_better, count, values, reference, integer, kinds.pop())
    # The interval is that of images which are drawn again.
    for number, one in matched.items():
        user.set_detections(number, one.classes, one.overlaps)
    return user


@with_options_of(execute)
def evaluate(
    model: Model,
    data: Any,
    labels: Any = None,
    *,
    metric: MetricLike | None = None,
    higher_is_better: bool = True,
    **options: Any,
) -> Evaluation:
    """Accuracy on samples with labels, and agreement with `reference`, where there is one, with the distance of each
    result.

    labels:  class numbers, one for each sample, or what the metric takes, an array or a `.npy`; default: those that the
             data has (`mct.images` of folders that are classes, a `DataLoader`). A dictionary has those of several
             results, by name.
    metric:  a name of `metrics` (`top5`, `miou`, `psnr:255`), of the first result, or of another one with the suffix
             `@RESULT` (`top1@digits`), by name or index; or a function of the outputs of all samples and the labels
             that returns a number for each sample, or one number. It is compared with that of `reference`, by default
             the float model that `model` was made of. Default: what `model` was quantized with, else top-1.
    higher_is_better: of a metric that is a function.
    options: those of `execute`.
    """
    metric = metric if metric is not None else getattr(model, "metric", None)
    metric = find_metric(metric)
    if metric is not None and options.get("reference") is None:
        options["reference"] = getattr(model, "float_model", None)
    if metric is None or isinstance(metric, str):
        found = execute(model, data, labels=labels, metric=metric or "", **options)
        judged = found.metric
    else:
        if options.get("client") is not None:
            raise Error("metric: with a client, expected a name; a function sees the outputs of all samples")
        if isinstance(data, Iterator):
            raise Error("metric: a function sees the outputs of two networks; give samples that can be read twice")
        reference = options.pop("reference")
        user = judge(metric, (model, reference), data, labels, higher_is_better=higher_is_better, **options)
        judged = Metric.of(json.loads(user.print()))
        found = Comparison(samples=judged.samples, seconds=0)
    if found.top1 is None and found.agreement is None and not found.results and judged is None:
        raise Error("labels: there are none; give them as the second argument, or a reference to agree with")
    return Evaluation(found.samples, found.seconds, found.top1, found.agreement, found.results, judged)


@with_options_of(execute)
def compare(model: Model, data: Any, reference: Model | None = None, **options: Any) -> Comparison:
    """How far every point is from the value of its name in another model.

    reference: default: the float model that `model` was made of.
    options:   those of `execute`.
    """
    reference = reference or getattr(model, "float_model", None)
    if reference is None:
        raise Error("compare: the float model is not known; give the model to compare with")
    return execute(model, data, reference=reference, **options)
