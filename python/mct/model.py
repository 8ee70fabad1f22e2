# SPDX-License-Identifier: Apache-2.0
"""Models: modules of the compiler that can be read, saved and run."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mct import _native, importers
from mct._arguments import check_path, checked
from mct.errors import ArgumentTypeError, Error, NoFileError, check_place
from mct.importers import _process

if TYPE_CHECKING:
    from mct.evaluation import Comparison, Evaluation
    from mct.report import Report
    from mct.running import Calibration, MetricLike
    from mct.samples import Array

# Seconds for MLIR's reader, which counts in a damaged file may keep for ever.
_READING = 300.0


_SUFFIXES = (".mlir", ".mlirbc")
_SUFFIX_HINT = (
    f"the name of a model ends in {', '.join((*_SUFFIXES, *importers.SUFFIXES))}, or is that of the folder of a "
    "SavedModel"
)
# Suffixes of files in other formats, which `Model.save` does not write.
_OTHERS = {*importers.SUFFIXES, ".tosa", ".json", ".npz"}
# First bytes of a file of bytecode.
_BYTECODE = b"ML\xefR"


def _seems_mlir(data: bytes) -> bool:
    """Returns whether a file that may have any name is bytecode, or text."""
    return data.startswith(_BYTECODE) or b"\0" not in data[:4096]


def check_output(path: str | os.PathLike[str], option: str = "") -> None:
    """Checks the path of a model before the model is made, which takes a while. `option` begins the message."""
    prefix = f"{option}: " if option else ""
    if Path(path).suffix.lower() in _OTHERS:
        raise Error(
            f"{prefix}'{os.fspath(path)}' would be a file of MLIR, which its name does not say",
            notes=["names end in .mlirbc or .mlir; mct.exporters, and mct export, write other formats"],
        )
    check_place(path, option)


@dataclass(frozen=True)
class Point:
    """A tensor that is, or will be, quantized.

    name:       what statistics, overrides and reports call it.
    weight:     name of the weight; None of an activation.
    type:       of the tensor, as MLIR writes it.
    axes:       those of the channels; () for one parameter per tensor.
    group:      names of the fused ops of which this is the result.
    config:     settings of the target, as MLIR prints them; None if it has none.
    method, bits, signed, thresholds, quantizer: the chosen quantizer, and as MLIR writes it; None before one is chosen.
                Thresholds are in the unit of the tensor, one or one for each channel; () for a quantizer without.
    function:   the function that it is in.
    """

    name: str
    weight: str | None
    type: str
    axes: tuple[int, ...]
    group: tuple[str, ...]
    config: str | None
    function: str
    method: str | None = None
    bits: int | None = None
    signed: bool | None = None
    thresholds: tuple[float, ...] | None = None
    quantizer: str | None = None

    @classmethod
    def of(cls, entry: Mapping[str, Any]) -> Point:
        """Makes one of an entry of the compiler's JSON."""
        chosen = entry["quantizer"]
        point = {name: entry[name] for name in ("name", "weight", "type", "config", "function")}
        point |= {"axes": tuple(entry["axes"]), "group": tuple(entry["group"])}
        if chosen:
            point |= {name: chosen[name] for name in ("method", "bits", "signed")}
            point |= {"thresholds": tuple(map(float, chosen["thresholds"])), "quantizer": chosen["text"]}
        return cls(**point)


class Model:
    """A network at any stage. It is never changed: operations return another one.

    module: the module of the compiler.
    """

    def __init__(self, module: _native.Module) -> None:
        self.module = module

    @classmethod
    @checked
    def parse(cls, source: str | bytes, name: str = "<module>") -> Model:
        """Makes a model of MLIR text or bytecode from a trusted source; messages call it `name`.

        MLIR's parser may end the process where bytes are damaged; `load` reads files in another process first.
        """
        return cls(_native.Module.parse(source.encode() if isinstance(source, str) else source, name))

    @property
    def text(self) -> str:
        """The module as MLIR text."""
        return self.module.text()

    @property
    def bytecode(self) -> bytes:
        """The module as MLIR bytecode."""
        return self.module.bytecode()

    @property
    def pass_pipeline(self) -> str:
        """The passes that it comes from, with all their options; "" for one that was loaded."""
        return self.module.pipeline

    @property
    def trace(self) -> str:
        """How the model was made since it was loaded, as the JSON that `mct-opt --mct-trace` writes; for reports."""
        return self.module.trace

    @checked
    def save(self, path: str | os.PathLike[str], trace: str | os.PathLike[str] | None = None) -> None:
        """Write bytecode to a `.mlirbc`, else text. The file has its name when it is complete, or never.

        Names of files in other formats (`.onnx`, `.tflite`) are refused; `mct.exporters` writes these.

        trace: path of a file that gets `trace`.
        """
        path = os.fspath(path)
        if trace is not None and os.path.realpath(trace) == os.path.realpath(path):
            raise Error(f"trace: '{os.fspath(trace)}' is the file of the model; give it one of its own")
        if trace is not None:
            check_place(trace, "trace")
        check_output(path)
        data = self.bytecode if path.endswith(".mlirbc") else self.text.encode()
        _native.write_file(path, data)
        if trace is not None:
            _native.write_file(os.fspath(trace), self.trace.encode())

    @property
    def points(self) -> tuple[Point, ...]:
        """The quantization points with their parameters, in the order of the program."""
        return tuple(Point.of(entry) for entry in json.loads(self.module.points()))

    @checked
    def explain(self, format: str = "text", *, overrides: str | os.PathLike[str] = "") -> str:
        """How the target quantizes every op, and why, as `tpc-explain` prints it.

        format:    "text", or "json" for programs.
        overrides: path of a file with rules that precede those of the target.
        """
        if format not in ("text", "json"):
            raise Error(f"format: expected 'text' or 'json', found {format!r}")
        return self.module.explain(format, os.fspath(overrides))

    def resources(self) -> dict[str, Any]:
        """Returns what each function uses of its target, now and with 8 bits everywhere.

        The document is that of `mct-report-resources=format=json`.
        """
        document: dict[str, Any] = json.loads(self.module.resources())
        return document

    @checked
    def costs(self, table: str | os.PathLike[str] = "") -> dict[str, Any]:
        """Returns what the layers of each function cost on a device, by a table of `mct.cost.write_table`.

        The document is that of `mct-report-costs=format=json`; without a table layers have no cycles.
        """
        document: dict[str, Any] = json.loads(self.module.costs(os.fspath(table)))
        return document

    def run(self, data: Any, **options: Any) -> Array | tuple[Array, ...]:
        """The outputs for samples; see `mct.evaluation.run`."""
        from mct import evaluation

        return evaluation.run(self, data, **options)

    def evaluate(self, data: Any, labels: Any = None, **options: Any) -> Evaluation:
        """Returns how often the largest score is that of the label, or the value of another metric; see
        `mct.evaluation.evaluate`."""
        from mct import evaluation

        return evaluation.evaluate(self, data, labels, **options)

    def compare(self, data: Any, reference: Model | None = None, **options: Any) -> Comparison:
        """How far every point is from the value of its name in another model; see `mct.evaluation.compare`.

        reference: default: the float model that this one was made of.
        """
        from mct import evaluation

        return evaluation.compare(self, data, reference, **options)

    @checked
    def report(
        self, path: str | os.PathLike[str] | None = None, data: Any = None, labels: Any = None, **options: Any
    ) -> Report:
        """Explains where accuracy is lost, why, and what to do; see `mct.report.make_report`, which has the options.

        path: a `.html` or `.json` to write.
        data: default: the samples that it was quantized with, where they can be read twice.
        """
        from mct import report

        if path is not None:
            report.check_output(path)
        made = report.make_report(self, data, labels, **options)
        if path is not None:
            made.save(path)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.module.name}>"


@dataclass(frozen=True)
class Contract:
    """Promise of `mct.quantize(…, max_drop=…)`.

    max_drop:         the metric drops by no more than that, in its unit.
    drop:             what it drops on the held-out samples.
    drop_at_most:     what it drops at most, with 95 % confidence.
    held_out_samples: their number.
    text:             the same in words, with the next cheaper assignment.
    """

    max_drop: float
    drop: float
    drop_at_most: float
    held_out_samples: int
    text: str


class QuantizedModel(Model):
    """A network whose points have parameters.

    float_model: the network before quantization, for comparisons; None where it is not known.
    calibration: the samples that it was quantized with; None where they cannot be read again.
    metric:      what `evaluate` and `report` judge it by; None: top-1.
    """

    def __init__(
        self,
        module: _native.Module,
        float_model: Model | None = None,
        calibration: Calibration | None = None,
        metric: MetricLike | None = None,
    ) -> None:
        super().__init__(module)
        self.float_model = float_model
        self.calibration = calibration
        self.metric = metric

    @property
    def contract(self) -> Contract | None:
        """The promise of `max_drop`; None where bit widths were not chosen by it, or the model was loaded."""
        for record in json.loads(self.trace or "{}").get("records", ()):
            numbers = {number["name"]: number["value"] for number in record["numbers"]}
            if record["pass"] == "mct-assign-bit-widths" and "max_drop" in numbers:
                numbers["held_out_samples"] = int(numbers["held_out_samples"])
                return Contract(**numbers, text=record["text"])
        return None


class AnnotatedModel(Model):
    """A network, some operators of which are marked; see `mct.quantize_config`.

    base:        the network without the marks.
    annotations: settings of each operator; None: those of the scheme.
    """

    def __init__(self, module: _native.Module, base: Model, annotations: Mapping[str, Any]) -> None:
        super().__init__(module)
        self.base = base
        self.annotations = dict(annotations)


def _check_runs(model: Model, name: str) -> None:
    """Raises Error, with the operation and its layer, for what an importer takes and the executor does not."""
    try:
        model.module.check()
    except Error as problem:
        location = f'{name}: "{problem.location}"' if problem.location else name
        notes = [*problem.notes, *_process.REMEDY]
        raise Error(f"the network cannot be run: {problem.message}", location, notes, problem.diagnostics) from None


def _with_state_outside(model: Model, data: str | bytes) -> Model:
    """The model with variables, which keep their value from run to run, as arguments and results."""
    # Names of ops stand in bytecode as they do in text; printing a model takes longer than looking for them.
    mentions = "variable_" in data if isinstance(data, str) else b"variable_" in data
    if not mentions or "tosa.variable_" not in model.text:
        return model
    return Model(model.module.run("mct-lift-variables"))


def _with_imported_points(model: Model, imported: bytes) -> Model:
    """The model with the quantization points of its file, where its importer has cut it."""
    return Model(model.module.run("mct-insert-imported-points")) if b"tpc.imported" in imported else model


def load(source: Any, example_inputs: Any = None, **options: Any) -> Model:
    """A model from a file or a framework's object. Files are first read in a separate process: a damaged file that
    ends the parser is an error as well.

    source: path of a `.mlir`, `.mlirbc`, `.tflite`, `.onnx`, `.pt2`, `.keras`, `.h5` or `.hdf5` file or of the folder
            of a SavedModel, or a `torch.nn.Module`, an `ExportedProgram`, an `onnx.ModelProto` or a Keras model.
    example_inputs: of a `torch.nn.Module`: the tensors that it is called with; of others: where they leave shapes open.
    options: those of the importer, `mct.importers`.

    State that a network keeps from run to run (`tosa.variable`) becomes arguments and results, by the pass
    `mct-lift-variables`: an argument has the name of its variable, and its attribute `tpc.initial_value` in `text` has
    what the first run reads; the name of the result is this one with `_next` appended.

    A network that is quantized already has its quantization points, with the parameters of its file, which no pass
    estimates again; the tensors in front of them are float.

    Raises `mct.Error` for a file that cannot be read, that has unsupported operators, or that could not be run, and
    `ImportError` with the command that installs it if the importer is missing.
    """
    if importers.importer_of(source):
        name = str(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__
        imported = importers.import_model(source, example_inputs, **options)
        model = _with_state_outside(Model.parse(imported, name), imported)
        model = _with_imported_points(model, imported)
        _check_runs(model, name)
        return model
    if not isinstance(source, (str, os.PathLike)):
        raise ArgumentTypeError(
            f"cannot load an object of type {type(source).__name__}", notes=["give the path of a file"]
        )
    check_path(source)
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        kind = NoFileError if isinstance(error, FileNotFoundError) else Error
        raise kind(f"cannot read '{path}': {error.strerror}") from error
    if path.suffix.lower() not in _SUFFIXES and not _seems_mlir(data):
        raise Error(f"cannot tell what '{path}' is", notes=[_SUFFIX_HINT])
    with _process.folder() as work:
        _process.run("MLIR's parser", str(path), ["mct._read", path.absolute()], work, _READING)
    try:
        return _with_state_outside(Model.parse(data, str(path)), data)
    except Error as error:
        if path.suffix.lower() not in _SUFFIXES:
            error.notes += (_SUFFIX_HINT,)
        raise
