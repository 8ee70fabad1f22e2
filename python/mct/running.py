# SPDX-License-Identifier: Apache-2.0
"""How the functions of `mct.stages` run passes: what people give becomes the text of a pipeline and files.

All that is computed is computed by the passes.
"""

from __future__ import annotations

import contextlib
import json
import logging
import math
import os
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from mct import _host
from mct.errors import Error, ShardEnd, describe

if TYPE_CHECKING:
    from mct import _native
    from mct.model import Model
    from mct.preprocessing import Preprocessing
    from mct.progress import Report, Reporter
    from mct.samples import Array

PathLike: TypeAlias = "str | os.PathLike[str]"
# One number, or one for each channel; text as the option itself takes it.
Channels: TypeAlias = "float | Sequence[float] | str"
# True or None: bars on standard error, where that is a terminal; False: nothing; or a function that is called.
Progress: TypeAlias = "bool | Callable[[Report], None] | None"
# Class of each sample: an array, or the path of a `.npy`.
Labels: TypeAlias = "PathLike | Sequence[int] | Array"
# Path of a file with rules, or the rules themselves.
Overrides: TypeAlias = "PathLike | Sequence[str]"
# The name of a metric of the compiler, or a function of the outputs of all samples and the labels that returns a number
# for each sample, or one number.
MetricLike: TypeAlias = "str | Callable[[Any, Any], Any]"


class HasTarget(Protocol):
    """A target that is described in Python."""

    def to_mlir(self) -> str:
        """Text of a module that holds the target."""


# A `dask.distributed.Client`, or the address of a scheduler.
ClientLike: TypeAlias = "Any"

# A stock name, the path of a file, or an object.
Target: TypeAlias = "PathLike | HasTarget"


class Config(Protocol):
    """Options under the names that they have in Python."""

    def to_options(self) -> Mapping[str, object]:
        """Values that differ from the defaults of the functions."""


# By the flag of an option: its value, the value it begins with, and what it is: a word for its type, or its words.
Kind: TypeAlias = "str | tuple[str, ...]"
Options: TypeAlias = "dict[str, tuple[object, object, Kind]]"


def _invalid(flag: str, expected: str, value: object) -> Error:
    return Error(f"{flag.replace('-', '_')}: expected {expected}, found {describe(value)}")


def _quote(text: str, flag: str) -> str:
    """Returns a value in the syntax that the parser of pipelines reads back."""
    if not text or any(character in " \t\n,{}[]()<>\"'=" for character in text):
        for quote in "\"'":
            if quote not in text:
                return f"{quote}{text}{quote}"
        raise Error(f"{flag}: {text!r} has both kinds of quotation marks, which no option can have")
    return text


def _number(flag: str, value: object) -> str:
    if isinstance(value, bool) or (not isinstance(value, (int, float)) and not hasattr(value, "__float__")):
        raise _invalid(flag, "a number", value)
    return repr(float(value))


# By the kind of an option: the smallest and the largest number that it takes.
_INTEGERS: dict[Kind, tuple[int, int]] = {
    "int64": (-(1 << 63), (1 << 63) - 1),
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
}


def _text(flag: str, value: object, kind: Kind) -> str:
    """The value of an option in a pipeline."""
    if isinstance(kind, tuple):
        if value not in kind:
            raise _invalid(flag, "one of " + ", ".join(map(repr, kind)), value)
        return str(value)
    if kind == "bool":
        if not isinstance(value, bool):
            raise _invalid(flag, "True or False", value)
        return "true" if value else "false"
    if kind in _INTEGERS:
        if isinstance(value, bool) or not hasattr(value, "__index__"):
            raise _invalid(flag, "a whole number", value)
        number = value.__index__()
        smallest, largest = _INTEGERS[kind]
        if number < smallest:
            raise _invalid(flag, "a number that is not negative" if smallest == 0 else f"at least {smallest}", value)
        if number > largest:
            raise _invalid(flag, f"at most {largest}", value)
        return str(number)
    if kind == "float":
        return _number(flag, value)
    if kind == "list":
        items = [value] if isinstance(value, (str, os.PathLike)) else value
        if not isinstance(items, Sequence):
            raise _invalid(flag, "a sequence", value)
        texts = [os.fspath(item) if isinstance(item, (str, os.PathLike)) else str(item) for item in items]
        for text in texts:
            if "," in text and not isinstance(value, str):
                raise _invalid(flag, "items without a comma", text)
        return "{" + ",".join(texts) + "}" if any(" " in text for text in texts) else ",".join(texts)
    if flag in ("input-scale", "input-offset") and not isinstance(value, str):
        return ";".join(_number(flag, number) for number in (value if isinstance(value, Iterable) else [value]))
    if not isinstance(value, (str, os.PathLike)):
        raise _invalid(flag, "text", value)
    return _quote(os.fspath(value), flag)


def _check_classes(metric: str, module: _native.Module, function: str) -> None:
    """Raises Error for `topK` of a result with no more than K scores, as a run does for the samples."""
    found = re.fullmatch(r"top(\d+)(?:@(.*))?", metric)
    if not found:
        return
    outputs = json.loads(module.signature(function))["outputs"]
    named = [entry for index, entry in enumerate(outputs) if found[2] in (entry["name"], str(index))]
    result = (named if found[2] else outputs)[:1]
    sizes = re.findall(r"(\d+)x", result[0]["type"].partition("x")[2]) if result else []
    if sizes and int(found[1]) >= math.prod(map(int, sizes)):
        raise Error(f"metric: '{metric}' is 100 %: the result has {math.prod(map(int, sizes))} scores for each sample")


def find_metric(
    metric: MetricLike | None, module: _native.Module | None = None, function: str = ""
) -> MetricLike | None:
    """Returns the function of a metric that is computed in Python, and any other one as it is.

    Raises Error for what is not a metric, or none of the results of the module.
    """
    from mct import _native, detection

    if isinstance(metric, str) and metric in detection.OVERLAPS:
        return detection.AveragePrecision(metric)
    if isinstance(metric, str):
        _native.check_metric(metric)
        if module is not None:
            _check_classes(metric, module, function)
    elif metric is not None and not callable(metric):
        raise Error(f"metric: expected a name of mct.evaluation.metrics(), or a function, found {describe(metric)}")
    return metric


def find_drop_metric(
    metric: MetricLike | None, max_drop: float, drop_metric: str
) -> tuple[str, Callable[[Any, Any], Any] | None]:
    """Returns the name of the metric that max_drop limits, and the function where it is computed in Python.

    metric: of the call, as `find_metric` returns it; the option goes before it.
    """
    from mct import detection

    chosen = find_metric(drop_metric or None) if drop_metric in detection.OVERLAPS else drop_metric or metric
    if not max_drop or chosen is None or isinstance(chosen, str):
        return drop_metric or (metric if max_drop and isinstance(metric, str) else ""), None
    name = getattr(chosen, "__name__", type(chosen).__name__)
    return name, chosen


def _is_default(value: object, initial: object) -> bool:
    if isinstance(value, float) and math.isnan(value):
        return False
    if initial == ():
        return value is None or (isinstance(value, (str, Sequence)) and len(value) == 0)
    return value is initial or (type(value) in (bool, int, float, str) and value == initial)


class _Files:
    """Files that options name, for what people gave as objects; they go with their folder."""

    def __init__(self, stack: contextlib.ExitStack) -> None:
        self.stack = stack
        self.folder: Path | None = None
        # Paths, and words that stand for them where people read them.
        self.renamed: list[tuple[str, str]] = []

    def place(self, name: str) -> Path:
        if self.folder is None:
            self.folder = Path(self.stack.enter_context(tempfile.TemporaryDirectory(prefix="mct-")))
        path = self.folder / name
        self.renamed.append((str(path), path.stem.upper() + path.suffix))
        return path

    def write(self, name: str, text: str) -> str:
        path = self.place(name)
        path.write_text(text)
        return str(path)


def _prepare(flag: str, value: object, files: _Files, are_classes: bool = True) -> object:
    """Other forms that a caller may give for the value of the option. `are_classes`: of labels."""
    if flag == "target" and not isinstance(value, (str, os.PathLike)):
        if not hasattr(value, "to_mlir"):
            raise _invalid(flag, "a stock name, a path, or an object with a method `to_mlir`", value)
        return files.write("target.mlir", value.to_mlir())
    if flag == "labels" and not isinstance(value, (str, os.PathLike)):
        from mct.samples import as_array

        labels = as_array(value)
        if labels.dtype == np.float16:
            labels = labels.astype(np.float32)
        if are_classes and (labels.ndim != 1 or not np.issubdtype(labels.dtype, np.integer)):
            raise _invalid(flag, "the path of a .npy file, or one class number for each sample", value)
        path = files.place("labels.npy")
        np.save(path, labels)
        return str(path)
    if flag == "overrides" and not isinstance(value, (str, os.PathLike)):
        if not isinstance(value, Sequence):
            raise _invalid(flag, "the path of a file with rules, or a list of rules", value)
        for index, rule in enumerate(value):
            if not isinstance(rule, str) or "\n" in rule:
                raise Error(f"overrides[{index}]: expected a rule of one line, found {describe(rule)}")
        return files.write("overrides.rules", "".join(f"{rule}\n" for rule in value))
    return value


def _labels_of(path: str, data: Any, count: int, files: _Files) -> str:
    """The labels of the samples that are read, where a file has those of all that there are."""
    from mct.samples import load_npy

    try:
        labels = load_npy(path.strip("\"'"))
    except Error:
        return path  # The compiler reports the error.
    if labels.ndim != 1 or len(labels) <= count or (hasattr(data, "shape") and len(data) != len(labels)):
        return path
    target = files.place("labels.npy")
    np.save(target, labels[:count])
    return _quote(str(target), "labels")


# Options about samples that a model can record.
_SCALES = ("input-scale", "input-offset")


def _take_scale(
    texts: dict[str, str],
    module: _native.Module,
    data: Any,
    preprocessing: Preprocessing | Mapping[str, Preprocessing] | None,
    function: str,
) -> Preprocessing | None:
    """Removes scale and offset from the options; the preprocessing to record, so that later calls need no option for
    it."""
    from mct.preprocessing import Preprocessing
    from mct.samples import preprocessing_of, read_signature

    if preprocessing is not None:
        raise Error("preprocessing and input_scale or input_offset are two ways to say the same; give preprocessing")
    try:
        scale, offset = (
            [float(number) for number in texts[flag].split(";")] if flag in texts else None for flag in _SCALES
        )
        found = Preprocessing.of(scale, offset)
    except ValueError:
        return None  # The compiler reports the error.
    for flag in _SCALES:
        texts.pop(flag, None)
    return found.over(preprocessing_of(data, read_signature(module, function)))


def _configured(options: Options, config: Config) -> Options:
    """Returns the options, with the values of a configuration for those that were not given."""
    by_name = {flag.replace("-", "_"): flag for flag in options}
    result = dict(options)
    for name, value in config.to_options().items():
        if name not in by_name:
            raise Error(f"config: there is no option '{name}'")
        given, initial, kind = options[by_name[name]]
        if _is_default(given, initial):
            result[by_name[name]] = (value, initial, kind)
    return result


@dataclass(frozen=True)
class Calibration:
    """Samples that a model was quantized with, to be read once more.

    data:  as they were given.
    limit: at most so many of them; None: all.
    """

    data: Any
    limit: int | None = None


def keep(data: Any, calibration_data: Any, limit: object, client: ClientLike = None) -> Calibration | None:
    """Returns None for samples that cannot be read twice: those of an exhausted generator, and files that are gone.

    client: has run on the data, which need not be on this machine.
    """
    from mct.samples import Spooled

    if client is not None:
        return None
    if data is None and calibration_data:
        paths = [calibration_data] if isinstance(calibration_data, (str, os.PathLike)) else list(calibration_data)
        # `0:FILE.npy` is the option's own way to name the input.
        data = None if any(re.match(r"\d+:", os.fspath(path)) for path in paths) else paths
    streams = data.values() if isinstance(data, Mapping) else data if isinstance(data, (list, tuple)) else [data]
    if data is None or isinstance(data, Spooled) or any(isinstance(stream, Iterator) for stream in streams):
        return None
    return Calibration(data, limit if isinstance(limit, int) and limit > 0 else None)


@contextlib.contextmanager
def reporting(progress: Progress) -> Iterator[Reporter | None]:
    """The reporter of a call; rich is imported where it is needed."""
    if not callable(progress) and (progress is False or not sys.stderr.isatty()):
        yield None
        return
    from mct import progress as bars

    with bars.reporting(progress) as report:
        yield report


def _validate(
    data: Any,
    module: _native.Module,
    texts: dict[str, str],
    function: object,
    files: _Files,
    stack: contextlib.ExitStack,
    judge: _host.HostedMetric | None,
) -> None:
    """Adds samples with labels, those of the data where none are given, to the options.

    judge: the metric that is computed in Python, which gets the labels; or None.
    """
    from mct.samples import recorded, spool

    if "validation-data" in texts:
        raise Error("validation and validation_data are two ways to say the same; give one")
    _, inputs = recorded(module, data, None, function if isinstance(function, str) else "")
    spooled = stack.enter_context(spool(data, inputs))
    texts["validation-data"] = spooled.option
    files.renamed += [(path, word.replace("SAMPLES", "VALIDATION")) for path, word in spooled.renamed]
    labels = getattr(data, "labels", None)
    if labels is None:
        labels = spooled.labels
    if judge is not None:
        judge.labels = labels if judge.labels is None else judge.labels
    elif "labels" not in texts and labels is not None:
        texts["labels"] = _text("labels", _prepare("labels", labels, files, are_classes=False), "str")


def _write_pipeline(flag: str, texts: Mapping[str, str]) -> str:
    listed = " ".join(f"{name}={text}" for name, text in texts.items())
    return f"{flag}{{{listed}}}" if listed else flag


def _distribute(
    client: ClientLike,
    module: _native.Module,
    flag: str,
    texts: Mapping[str, str],
    data: Any,
    options: Options,
    run: Callable[[str], Any],
    report: Reporter | None,
) -> _native.Module:
    """The module that a pass makes of shards of the samples, on which workers run."""
    from mct import distributed
    from mct.samples import read_signature

    if data is None:
        raise Error("client: its workers read the samples of `data`; give data=…")
    for name, why in distributed.ALONE.items():
        if name in texts:
            raise Error(f"{name.replace('-', '_')}: {why}")
    function = options["function"][0]
    inputs = read_signature(module, function if isinstance(function, str) else "")
    job = distributed.Job(module.bytecode(), inputs, flag, texts)

    def work(known: Sequence[str], request: str) -> Any:
        return run(job.write_pipeline({"shards-in": ",".join(known), "shards-out": request}))

    found: _native.Module = distributed.run(client, job, data, work, report)
    return found


def _host_metric(options: Options, judge: Callable[[Any, Any], Any]) -> tuple[Options, _host.HostedMetric]:
    """Takes the labels out of the options: a metric that is computed in Python may have some of any form."""
    from mct.samples import load_npy

    labels, initial, kind = options["labels"]
    if isinstance(labels, (str, os.PathLike)):
        labels = load_npy(labels) if os.fspath(labels) else None
    elif hasattr(labels, "__array__"):
        labels = np.asarray(labels)
    name = str(options["drop-metric"][0])
    return {**options, "labels": (initial, initial, kind)}, _host.HostedMetric(name, judge, labels)


def run_stage(
    model: Model,
    flag: str,
    options: Options,
    progress: Progress = None,
    *,
    data: Any = None,
    preprocessing: Preprocessing | Mapping[str, Preprocessing] | None = None,
    config: Config | None = None,
    client: ClientLike = None,
    validation: Any = None,
    judge: Callable[[Any, Any], Any] | None = None,
    on_functions: bool = False,
) -> Model:
    """The model that a pass or pipeline makes of another one.

    options: see `Options`; those that are as they begin are left to the compiler.
    data:    samples, for the option `calibration-data`.
    preprocessing: of the samples, written into the module; see `mct.samples.recorded`. With `data`, `input-scale` and
             `input-offset` are written there, too.
    config:  more options, for those that are as they begin.
    client:  whose workers read the samples; see `mct.distributed`.
    on_functions: the pass takes one function at a time, and runs on each.
    validation: samples for the option `validation-data`, to which the labels belong where there is one.
    judge:   the metric of the option `drop-metric` where it is computed in Python.
    """
    from mct.model import Model

    if config is not None:
        options = _configured(options, config)
    hosted = None
    if judge is not None:
        options, hosted = _host_metric(options, judge)
    with contextlib.ExitStack() as stack:
        files = _Files(stack)
        validates = "validation-data" in options
        texts = {
            name: _text(name, _prepare(name, value, files, are_classes=not validates), kind)
            for name, (value, initial, kind) in options.items()
            if not _is_default(value, initial)
        }
        module = model.module
        report = stack.enter_context(reporting(progress))
        has_scale = not texts.keys().isdisjoint(_SCALES)
        if has_scale and data is None and "calibration-data" in texts:
            logging.getLogger("mct").warning(
                "input_scale and input_offset with calibration_data hold for this call alone; "
                "preprocessing=mct.Preprocessing.of(scale, offset) is recorded in the model"
            )
        if data is not None or preprocessing is not None:
            from mct.samples import recorded, spool

            if data is not None and "calibration-data" in texts:
                raise Error("data and calibration_data are two ways to say the same; give one")
            function = options["function"][0]
            name = function if isinstance(function, str) else ""
            described = None if client is not None else data
            if has_scale and data is not None:
                preprocessing = _take_scale(texts, module, described, preprocessing, name)
            module, inputs = recorded(module, described, preprocessing, name)
            if described is not None:
                most = options["calibration-samples"][0]
                limit = most if isinstance(most, int) and most > 0 else None
                spooled = stack.enter_context(spool(data, inputs, limit=limit, report=report))
                texts["calibration-data"] = spooled.option
                if "labels" in texts and limit is not None and not validates:
                    texts["labels"] = _labels_of(texts["labels"], data, spooled.count, files)
                files.renamed += spooled.renamed
        if validation is not None:
            _validate(validation, module, texts, options["function"][0], files, stack, hosted)
        poll = report.poll if report else None

        def run(pipeline: str) -> Any:
            # None where passes end because of shards.
            return module.run(pipeline, poll, files.renamed, _host.current_training(), hosted)

        if client is not None:
            return Model(_distribute(client, module, flag, texts, data, options, run, report))
        pipeline = _write_pipeline(flag, texts)
        found = run(f"func.func({pipeline})" if on_functions else pipeline)
        if found is None:
            raise ShardEnd(str(options["shards-out"][0]))
        return Model(found)
