# SPDX-License-Identifier: Apache-2.0
"""The console command `mct`."""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import logging
import math
import os
import re
import signal
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

# Nothing that takes time is imported before the command is known.

# Parameters of `mct.quantize` that have arguments of their own here.
_OWN_OPTIONS = (
    *("model", "target", "data", "preprocessing", "config", "metric", "validation", "progress"),
    *("calibration_data", "calibration_samples", "input_scale", "input_offset"),
    *("client", "shards_in", "shards_out", "shard"),
)


class _Help(argparse.RawDescriptionHelpFormatter):
    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=32, width=min(120, _width()))


class _Version(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        import mct

        print(f"mct {mct.__version__}")
        parser.exit()


def _width() -> int:
    try:
        return os.get_terminal_size().columns
    except OSError:
        return 100


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise argparse.ArgumentTypeError(f"expected numbers separated by commas, got '{text}'") from None


def _size(text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d+)(?:x(\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"expected HEIGHTxWIDTH or one number, got '{text}'")
    return int(found[1]), int(found[2] or found[1])


def _shape(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, sizes = text.rpartition("=")
    if not name or not re.fullmatch(r"[1-9]\d*(x[1-9]\d*)*", sizes):
        raise argparse.ArgumentTypeError(f"expected NAME=DIMS such as x=1x3x320x320, got '{text}'")
    return name, tuple(map(int, sizes.split("x")))


def _bool(text: str) -> bool:
    if text not in ("true", "false"):
        raise argparse.ArgumentTypeError(f"expected true or false, got '{text}'")
    return text == "true"


# ----------------------------------------------------------------------------------------------------------------------
# Samples
# ----------------------------------------------------------------------------------------------------------------------


def _add_samples(parser: argparse.ArgumentParser, required: bool = True) -> None:
    group = parser.add_argument_group("samples")
    group.add_argument(
        "--data",
        nargs="+",
        required=required,
        metavar="PATH",
        help="a folder of images, images, or .npy files; for a model with several inputs, NAME:FILE.npy",
    )
    group.add_argument("--samples", type=int, metavar="N", help="use N samples (images: evenly spread)")
    group.add_argument(
        "--mean",
        type=_numbers,
        metavar="M[,M…]",
        help="the network reads (value - mean) * scale; recorded in the module",
    )
    group.add_argument("--scale", type=_numbers, metavar="S[,S…]", help="factor: one number, or one per channel")
    group.add_argument("--size", type=_size, metavar="HxW", help="size of images (default: that of the model's input)")
    group.add_argument(
        "--resize",
        choices=("crop", "stretch", "pad"),
        default="crop",
        help="how images are resized (default: %(default)s)",
    )
    group.add_argument(
        "--layout",
        choices=("NHWC", "NCHW"),
        help="layout of the .npy files, if it is not that of the model; recorded in the module",
    )


def _add_execution(parser: argparse.ArgumentParser) -> Any:
    group = parser.add_argument_group("execution")
    group.add_argument(
        "--function", default="", metavar="NAME", help="the function to use (default: main, or the only public one)"
    )
    group.add_argument("--batch-size", type=int, default=0, metavar="N", help="samples per batch of a worker")
    group.add_argument("--threads", type=int, default=0, metavar="N", help="worker threads (default: one per core)")
    group.add_argument("--max-memory", default="", metavar="N[K|M|G]", help="memory limit of the process in bytes")
    parser.add_argument("--no-progress", action="store_true", help="print no progress bars")
    return group


def _add_run(parser: argparse.ArgumentParser) -> None:
    group = _add_execution(parser)
    group.add_argument(
        "--float-points", nargs="+", default=[], metavar="NAME", help="points to leave in float: names or patterns"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _data(arguments: argparse.Namespace, input_names: Sequence[str]) -> Any:
    """Returns the `data` for functions of the package that the command line describes."""
    from mct.errors import Error
    from mct.image_folder import images
    from mct.samples import image_paths

    if any(Path(text).is_dir() for text in arguments.data) and len(arguments.data) != 1:
        raise Error("--data: expected one folder of images, images, or .npy files, found several of these")
    paths = image_paths(arguments.data[0] if len(arguments.data) == 1 else arguments.data)
    if paths is not None:
        return images(
            paths, arguments.size, arguments.mean, arguments.scale, resize=arguments.resize, limit=arguments.samples
        )
    if arguments.size:
        raise Error("--size: is for images; --data names none")
    named: dict[str, list[str]] = {}
    plain = []
    for text in arguments.data:
        name, colon, path = text.partition(":")
        if colon and name in input_names:
            named.setdefault(name, []).append(path)
        else:
            plain.append(text)
    if named and plain:
        raise Error(f"--data: '{plain[0]}' names no input; the inputs are {', '.join(input_names)}")
    return named or plain


def _preprocessing(arguments: argparse.Namespace, data: Any) -> Any:
    """Returns the preprocessing of .npy files that the command line describes; images have their own."""
    from mct.preprocessing import Preprocessing

    if not isinstance(data, (list, dict)):
        return None
    if not (arguments.mean or arguments.scale or arguments.layout):
        return None
    return Preprocessing.of(arguments.scale, mean=arguments.mean, layout=arguments.layout)


def _input_names(model: Any, function: str = "") -> list[str]:
    return [entry["name"] for entry in json.loads(model.module.signature(function))["inputs"]]


def _progress(arguments: argparse.Namespace) -> bool | None:
    return False if arguments.no_progress else None


def _jsonable(value: Any) -> Any:
    """JSON has neither infinity nor NaN."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {key: _jsonable(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(entry) for entry in value]
    return value


def _print_json(value: Any) -> None:
    print(json.dumps(_jsonable(value), indent=1))


# ----------------------------------------------------------------------------------------------------------------------
# Commands
# ----------------------------------------------------------------------------------------------------------------------


# By how the name of the file ends.
_FORMAT_NAMES = {"onnx": "ONNX", "tflite": "TFLite"}
_EXPORTS = {".onnx": "onnx", ".tflite": "tflite", ".tosa": "tosa", ".json": "parameters", ".npz": "parameters"}


def _load(path: str, shapes: Sequence[tuple[str, tuple[int, ...]]] = ()) -> Any:
    """Loads a model; `shapes` gives, by name, the shapes of inputs that the file leaves open."""
    import numpy as np

    import mct
    from mct.errors import Error

    if not shapes:
        return mct.load(path)
    if mct.importers.importer_of(path) not in ("onnx", "torch"):
        raise Error(f"--shape: is for .onnx and .pt2 files; '{path}' has shapes of its own")
    # Only the shape of an example counts.
    return mct.load(path, {name: np.broadcast_to(np.float32(0), shape) for name, shape in shapes})


def _add_shape(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--shape",
        type=_shape,
        action="append",
        default=[],
        metavar="NAME=DIMS",
        help="shape of an input that an .onnx or .pt2 file leaves open, such as x=1x3x320x320; may be repeated",
    )


def _quantize(arguments: argparse.Namespace) -> None:
    from mct import _native, stages
    from mct.model import check_output

    check_output(arguments.output, "--output")
    _check_trace(arguments)
    options = {name: getattr(arguments, name) for name, _ in _quantize_options() if hasattr(arguments, name)}
    model = _load(arguments.model, arguments.shape)
    if arguments.data:
        options["data"] = _data(arguments, _input_names(model, options.get("function", "")))
        options["preprocessing"] = _preprocessing(arguments, options["data"])
    for name, value in (("calibration_samples", arguments.samples), ("client", arguments.dask)):
        if value:
            options[name] = value
    quantized = stages.quantize(model, target=arguments.target, progress=_progress(arguments), **options)
    quantized.save(arguments.output)
    if quantized.contract:
        print(quantized.contract.text)
    print(arguments.output)
    if layers := quantized.module.integer_layers(options.get("function", "")):
        print(layers, file=sys.stderr)
    if arguments.trace:
        # A command that can be repeated is more useful than the passes that it ran.
        trace = json.loads(quantized.trace)
        trace |= {"command": ["mct", *_without(arguments.words, "--trace")], "placeholders": []}
        _native.write_file(arguments.trace, (json.dumps(trace, indent=1) + "\n").encode())


def _check_trace(arguments: argparse.Namespace) -> None:
    from mct.errors import Error, check_place

    path = arguments.trace
    if path and os.path.realpath(path) == os.path.realpath(arguments.output):
        raise Error(f"--trace: '{path}' is the output, too; give it a file of its own")
    if path:
        check_place(path, "--trace")


def _without(words: Sequence[str], option: str) -> list[str]:
    """The words of a command line without an option and its value."""
    left: list[str] = []
    skips = False
    for word in words:
        if not skips and word != option and not word.startswith(option + "="):
            left.append(word)
        skips = word == option
    return left


def _run(arguments: argparse.Namespace) -> None:
    from mct.errors import Error
    from mct.evaluation import Evaluation, evaluate, execute
    from mct.running import find_metric

    model = _load(arguments.model)
    data = _data(arguments, _input_names(model, arguments.function))
    reference = _load(arguments.reference) if arguments.reference else None
    options = _options(arguments, data)
    metric = find_metric(arguments.metric or None)
    found: Evaluation
    if metric is None or isinstance(metric, str):
        outputs = arguments.output or ()
        found = execute(
            model,
            data,
            labels=arguments.labels,
            outputs=outputs,
            metric=metric or "",
            reference=reference,
            **options,
        )
    elif arguments.output:
        raise Error(f"--output: not with --metric {arguments.metric}; write outputs in a run without it")
    else:
        found = evaluate(model, data, arguments.labels, metric=metric, reference=reference, **options)
    if reference:
        found = Evaluation(found.samples, found.seconds, found.top1, found.agreement, found.results, found.metric)
    if arguments.json:
        numbers = {name: getattr(found, name) for name in ("samples", "seconds", "top1", "agreement")}
        numbers["metric"] = asdict(found.metric) if found.metric else None
        _print_json({name: value for name, value in numbers.items() if value is not None})
    else:
        print(found)


def _options(arguments: argparse.Namespace, data: Any) -> dict[str, Any]:
    return {
        "preprocessing": _preprocessing(arguments, data),
        "float_points": arguments.float_points,
        "function": arguments.function,
        "samples": arguments.samples,
        "batch_size": arguments.batch_size,
        "threads": arguments.threads,
        "max_memory": arguments.max_memory,
        "progress": _progress(arguments),
    }


def _compare(arguments: argparse.Namespace) -> int:
    from mct.evaluation import execute

    model, reference = _load(arguments.model), _load(arguments.reference)
    data = _data(arguments, _input_names(model, arguments.function))
    found = execute(model, data, reference=reference, exact=arguments.exact, **_options(arguments, data))
    if arguments.sort == "error":
        found = found.worst()
    if arguments.json:
        _print_json(
            {
                "samples": found.samples,
                "agreement": found.agreement,
                "results": [asdict(result) for result in found.results],
                "points": [vars(point) for point in found.exact or found.points],
                "not_compared": found.not_compared,
            }
        )
    else:
        print(found)
    differs = sum(point.differing for point in found.exact)
    if arguments.exact and (differs or found.not_compared):
        print(f"error: {differs} values differ, {len(found.not_compared)} points are not compared", file=sys.stderr)
        return 1
    return 0


# Arguments of `mct report` that determine how a report is made. They have no effect on an existing report.
_MAKING = (
    *("model", "data", "labels", "metric", "integer", "effect_samples", "samples", "mean", "scale", "size", "layout"),
    *("function", "batch_size", "threads", "max_memory", "trace", "cost_table", "dask"),
)


def _report(arguments: argparse.Namespace) -> None:
    from mct import report
    from mct.errors import Error

    outputs = arguments.output or []
    for output in outputs:
        report.check_output(output)
    if arguments.source.endswith(".json"):
        if given := [name for name in _MAKING if getattr(arguments, name)]:
            option = "--" + given[0].replace("_", "-")
            raise Error(f"{option} is about a model, and '{arguments.source}' is a report that was made of one")
        made = report.load(arguments.source)
    else:
        made = _make_report(arguments)
    shown: Any = made.against(report.load(arguments.against)) if arguments.against else made
    for output in outputs:
        shown.save(output)
        print(output)
    if not outputs:
        shown.show()


def _make_report(arguments: argparse.Namespace) -> Any:
    from mct import report
    from mct.errors import Error

    if not arguments.model:
        raise Error("--model: expected the float model that this one was made of")
    if not arguments.data:
        raise Error("--data: expected samples to run both models on")
    model, reference = _load(arguments.source), _load(arguments.model)
    data = _data(arguments, _input_names(model, arguments.function))
    return report.make_report(
        model,
        data,
        arguments.labels,
        reference=reference,
        integer=_load(arguments.integer) if arguments.integer else None,
        preprocessing=_preprocessing(arguments, data),
        effect_samples=128 if arguments.effect_samples is None else arguments.effect_samples,
        metric=arguments.metric or None,
        **{name: getattr(arguments, name) for name in ("samples", "function", "batch_size", "threads", "max_memory")},
        trace=arguments.trace,
        cost_table=arguments.cost_table or "",
        client=arguments.dask,
        progress=_progress(arguments),
    )


def _explain(arguments: argparse.Namespace) -> None:
    from mct import stages

    model = _load(arguments.model)
    if arguments.target:
        model = stages.attach_target(model, target=arguments.target)
    print(model.explain(format="json" if arguments.json else "text"), end="")


def _targets(arguments: argparse.Namespace) -> None:
    from mct import _native

    if arguments.name is not None and arguments.json:
        print(_native.export_target(arguments.name), end="")
        return
    if arguments.name is not None:
        empty = _native.Module.parse(b"module {}", arguments.name)
        print(empty.run(f"tpc-attach-target{{target={arguments.name}}}").text(), end="")
        return
    if arguments.json:
        _print_json(dict(_native.stock_targets()))
    else:
        print(_native.print_targets(), end="")


def _import(arguments: argparse.Namespace) -> None:
    import mct
    from mct.errors import Error

    if arguments.quantized == "points":
        model = _load(arguments.source, arguments.shape)
    elif mct.importers.importer_of(arguments.source) != "tflite":
        raise Error(f"--quantized: is for .tflite files, which '{arguments.source}' is not")
    else:
        model = mct.load(arguments.source, quantized=arguments.quantized)
    model.save(arguments.output)
    print(arguments.output)


def _export(arguments: argparse.Namespace) -> None:
    from mct import exporters
    from mct.errors import Error

    formats: dict[str, Callable[..., None]] = {
        "onnx": exporters.export_onnx,
        "tflite": exporters.export_tflite,
        "tosa": exporters.export_tosa,
        "parameters": exporters.export_parameters,
        "target": exporters.export_target,
    }
    suffix = Path(arguments.output).suffix
    name = arguments.format or _EXPORTS.get(suffix)
    if name is None:
        raise Error(
            f"cannot tell the format of '{arguments.output}' by its name",
            notes=[f"names end in {', '.join(_EXPORTS)}; or give --format, one of {', '.join(formats)}"],
        )
    labels = arguments.labels
    options = {
        "onnx": {key: getattr(arguments, key) for key in ("profile", "producer", "opset", "activations")},
        "tflite": {
            "io": arguments.io,
            "int4": arguments.int4 or None,
            "labels": labels and Path(labels).read_text().splitlines(),
        },
    }
    for kind, values in options.items():
        wrong = next((key for key, value in values.items() if value is not None and kind != name), None)
        if wrong:
            raise Error(f"--{wrong} is about {_FORMAT_NAMES[kind]} files, and '{arguments.output}' is none")
    given = {key: value for key, value in options.get(name, {}).items() if value is not None}
    formats[name](_load(arguments.model), arguments.output, **given)
    print(arguments.output)


def _completion(arguments: argparse.Namespace) -> None:
    from mct._completion import completion_script

    print(completion_script(arguments.shell, make_parser()), end="")


# ----------------------------------------------------------------------------------------------------------------------
# The parser
# ----------------------------------------------------------------------------------------------------------------------


def _quantize_options() -> list[tuple[str, inspect.Parameter]]:
    """The options of the pipeline, as `mct.quantize` has them."""
    from mct.stages import quantize

    parameters = inspect.signature(quantize).parameters
    return [(name, parameter) for name, parameter in parameters.items() if name not in _OWN_OPTIONS]


def _add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    from mct.stages import SECTIONS, quantize

    described = dict(re.findall(r"^ *(\w+): (.*(?:\n {4,}.*)*)", inspect.getdoc(quantize) or "", re.MULTILINE))
    sections = SECTIONS["quantize"]
    groups = {section: parser.add_argument_group(section) for section in dict.fromkeys(sections.values())}
    for name, parameter in _quantize_options():
        annotation, initial = str(parameter.annotation), parameter.default
        text = " ".join(described.get(name, "").split()).replace("%", "%%")
        if initial not in ("", ()):
            text += f" (default: {str(initial).lower() if isinstance(initial, bool) else initial})"
        words = re.findall(r"[\"']([^\"']*)[\"']", annotation) if annotation.startswith("Literal") else None
        options: dict[str, Any] = {"help": text, "default": argparse.SUPPRESS}
        if isinstance(initial, bool):
            options |= {"type": _bool, "metavar": "true|false"}
        elif words:
            options |= {"choices": words}
        elif isinstance(initial, (int, float)):
            options |= {"type": float if annotation == "float" else type(initial), "metavar": "N"}
        elif initial == ():
            options |= {"nargs": "+", "metavar": "VALUE"}
        else:
            options |= {"metavar": "VALUE"}
        groups[sections[name]].add_argument("--" + name.replace("_", "-"), **options)


MODEL_HELP = ".mlir, .mlirbc, .tflite or .onnx"
_Add = Callable[[str, Callable[[argparse.Namespace], Any], str, str], argparse.ArgumentParser]


def _add_quantize(add: _Add, with_options: bool) -> None:
    quantize = add(
        "quantize",
        _quantize,
        "quantize a model",
        "mct quantize model.tflite --target imx500 --data images/ -o q.mlirbc",
    )
    quantize.add_argument("model", help=MODEL_HELP)
    quantize.add_argument("--target", required=True, help="a stock target (see mct targets), or a .mlir or .json file")
    quantize.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="bytecode if it ends in .mlirbc, otherwise text"
    )
    quantize.add_argument("--trace", metavar="FILE.json", help="write a record of this run for mct report --trace")
    _add_dask(quantize)
    _add_shape(quantize)
    quantize.add_argument("--no-progress", action="store_true", help="print no progress bars")
    _add_samples(quantize, required=False)
    if with_options:
        _add_pipeline_options(quantize)


def _add_metric(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--metric",
        default="",
        metavar="NAME",
        help="metric of the outputs and --labels: topK, miou, psnr, cosine, auc, ap, ap50, … (see mct-run --metrics)",
    )


def _add_run_and_compare(add: _Add) -> None:
    run = add("run", _run, "run a model at any stage", "mct run q.mlirbc --data images/ --output logits.npy")
    run.add_argument("model", help=MODEL_HELP)
    _add_samples(run)
    run.add_argument(
        "--labels", metavar="FILE.npy", help="class of each sample, to print top-1 (default: the folders of the images)"
    )
    _add_metric(run)
    run.add_argument(
        "--reference", metavar="FILE", help="model to compare with, usually the float model: print the loss against it"
    )
    run.add_argument("--output", nargs="+", metavar="FILE.npy", help="write the outputs, one file per output")
    _add_run(run)

    compare = add(
        "compare",
        _compare,
        "compare every point of a model with the value of the same name in another model",
        "mct compare q.mlirbc model.tflite --data images/ --sort error",
    )
    compare.add_argument("model", help=MODEL_HELP)
    compare.add_argument("reference", help="model to compare with, usually the float model")
    _add_samples(compare)
    compare.add_argument(
        "--sort", choices=("program", "error"), default="program", help="order; error: the worst point first"
    )
    compare.add_argument(
        "--exact", action="store_true", help="compare stored integers; exit with status 1 if any differs"
    )
    _add_run(compare)


def _add_dask(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="Dask scheduler whose workers process shards of the samples (.npy files, URLs)",
    )


def _add_report(add: _Add) -> None:
    report = add(
        "report",
        _report,
        "explain where accuracy is lost, why, and what to do, as a page or as text",
        "mct report q.mlirbc --model model.tflite --data images/ -o report.html",
    )
    report.add_argument("source", metavar="model", help="quantized model (.mlir, .mlirbc), or a report (.json)")
    report.add_argument("--model", metavar="FILE", help="the float model that the quantized model was made from")
    report.add_argument("--integer", metavar="FILE", help="the integer network that was made from the quantized model")
    report.add_argument("--trace", metavar="FILE.json", help="record of the run from mct quantize --trace")
    report.add_argument("--against", metavar="FILE.json", help="show the differences from an earlier report")
    report.add_argument(
        "-o",
        "--output",
        action="append",
        metavar="FILE",
        help="page (.html) or document (.json); may be repeated (default: print the worst points as text)",
    )
    _add_samples(report, required=False)
    report.add_argument(
        "--labels", metavar="FILE.npy", help="class of each sample, for top-1 (default: the folders of the images)"
    )
    _add_metric(report)
    report.add_argument(
        "--effect-samples",
        type=int,
        metavar="N",
        help="number of samples on which the effect of every point is measured",
    )
    report.add_argument(
        "--cost-table", metavar="FILE.json", help="cycles of each operator on the device, from mct.cost.write_table"
    )
    _add_dask(report)
    _add_execution(report)


def _add_explain_and_targets(add: _Add) -> None:
    explain = add(
        "explain",
        _explain,
        "show how a target quantizes every op, by which rule, and what stays float",
        "mct explain model.tflite --target imx500",
    )
    explain.add_argument("model", help=MODEL_HELP)
    explain.add_argument("--target", help="name of a stock target, or a file (default: the target in the model)")
    explain.add_argument("--json", action="store_true", help="print JSON")

    targets = add("targets", _targets, "list the stock targets, or print one", "mct targets imx500")
    targets.add_argument("name", nargs="?", help="name of a stock target, or a file: print the target as MLIR")
    targets.add_argument("--json", action="store_true", help="print JSON; a target is printed in MCT's format")


def _add_import_and_export(add: _Add) -> None:
    convert = add("import", _import, "convert a model to MLIR", "mct import model.onnx -o model.mlirbc")
    convert.add_argument("source", help=".tflite, .onnx, .mlir or .mlirbc")
    convert.add_argument(
        "-o", "--output", required=True, metavar="FILE", help="bytecode if it ends in .mlirbc, otherwise text"
    )
    convert.add_argument(
        "--quantized",
        choices=("points", "integer"),
        default="points",
        help="how to import a quantized .tflite file: as a float network with points (default), or as integers",
    )
    _add_shape(convert)

    export = add("export", _export, "write a model for other tools", "mct export q.mlirbc -o q.onnx")
    export.add_argument("model", help=".mlir or .mlirbc")
    export.add_argument(
        "-o",
        "--output",
        required=True,
        metavar="FILE",
        help="output: .onnx, .tflite, .tosa, or the parameters as .json or .npz",
    )
    export.add_argument(
        "--format",
        choices=("onnx", "tflite", "tosa", "parameters", "target"),
        help="format, if the suffix does not tell; target: the target of the model in MCT's JSON format",
    )
    export.add_argument(
        "--profile",
        help="what the ONNX file is for: a device, by name or as a file (default: that of the target); qdq: any ONNX "
        "runtime; mct_quantizers: runtimes that register the ops of that package (older name: none)",
    )
    export.add_argument(
        "--opset", type=int, choices=(13, 21, 25), help="opset of an ONNX file of profile qdq (default: 21)"
    )
    export.add_argument(
        "--activations",
        choices=("unsigned", "signed"),
        help="integers for activations with profile qdq (default: unsigned)",
    )
    export.add_argument(
        "--producer",
        metavar="NAME[:VERSION]",
        help="producer recorded in the ONNX file; the camera's converter takes pytorch:2.0.0 and later only",
    )
    export.add_argument(
        "--io",
        choices=("integer", "float"),
        help="type of quantized inputs and outputs of a TFLite file (default: integer)",
    )
    export.add_argument("--int4", action="store_true", help="store kernels of at most 4 bits as INT4 in a TFLite file")
    export.add_argument("--labels", metavar="FILE", help="names of the classes for a TFLite file, one per line")


def make_parser(with_options: bool = True) -> argparse.ArgumentParser:
    """Returns the parser of the command line; `with_options` adds the options of the pipeline, for which the extension
    module is loaded."""
    parser = argparse.ArgumentParser(
        prog="mct",
        description="Quantizes neural networks for the chip that a target describes.",
        epilog="example:\n  mct quantize model.tflite --target imx500 --data images/ -o q.mlirbc",
        formatter_class=_Help,
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="also show remarks")
    parser.add_argument("--version", action=_Version, nargs=0, help="print the version and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    def add(
        name: str, function: Callable[[argparse.Namespace], Any], text: str, example: str
    ) -> argparse.ArgumentParser:
        command = commands.add_parser(
            name,
            help=text,
            description=text[0].upper() + text[1:] + ".",
            epilog=f"example:\n  {example}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        command.set_defaults(function_to_call=function)
        return command

    _add_quantize(add, with_options)
    _add_run_and_compare(add)
    _add_report(add)
    _add_explain_and_targets(add)
    _add_import_and_export(add)
    completion = add("completion", _completion, "print a shell completion script", "source <(mct completion bash)")
    completion.add_argument("shell", choices=("bash", "zsh", "fish"))
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    if sys.stdout is None:
        # Its number may be that of any file that is opened later.
        print("error: cannot write the output: standard output is closed", file=sys.stderr)
        return 1
    try:
        try:
            return _main(sys.argv[1:] if arguments is None else arguments)
        finally:
            # Here a failure to write is an exception that can be caught.
            sys.stdout.flush()
    except KeyboardInterrupt:
        # It may arrive while modules are imported, and once more while the interpreter ends.
        with contextlib.suppress(ValueError):
            signal.signal(signal.SIGINT, signal.SIG_IGN)
        print("interrupted", file=sys.stderr)
        return 130
    except OSError as error:
        # The program that reads the output has closed it (`mct report … | head`), or there is no room for it. The rest
        # of the buffer is dropped.
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, sys.stdout.fileno())
        os.close(null)
        if isinstance(error, BrokenPipeError):
            return 128 + signal.SIGPIPE
        print(f"error: cannot write the output: {error.strerror}", file=sys.stderr)
        return 1


def _main(words: Sequence[str]) -> int:
    parsed = make_parser("quantize" in words).parse_args(words)
    parsed.words = words
    from mct.errors import CONSOLE_WORDS, Error, use_words

    logging.basicConfig(
        level=logging.INFO if parsed.verbose else logging.WARNING, format="%(message)s", stream=sys.stderr, force=True
    )
    try:
        with use_words(CONSOLE_WORDS):
            return parsed.function_to_call(parsed) or 0
    except BrokenPipeError:
        raise
    except (Error, ImportError, ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
