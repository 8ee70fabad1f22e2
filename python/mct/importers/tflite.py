# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite, by Arm's tosa-converter-for-tflite: names of tensors become names of layers, NHWC stays.

Files of litert-torch and of TensorFlow's converter are the same to it.
"""

from __future__ import annotations

import logging
import re
import struct
from collections.abc import Callable, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

from mct import _extras
from mct.errors import Error
from mct.importers import _flatbuffer, _points, _process, _repairs, _text, _tflite_points
from mct.importers._flatbuffer import Stored

_CONVERTER = "tosa-converter-for-tflite"
# Bytes 4 to 8 of every such file.
_IDENTIFIER = b"TFL3"


# The form in which a quantized file is imported.
Quantized = Literal["points", "integer"]


def import_model(
    source: str | PathLike[str] | bytes,
    example_inputs: Any = None,
    *,
    timeout: float | None = None,
    quantized: Quantized = "points",
) -> bytes:
    """The text of the module that a `.tflite` file, given by its path or as bytes, stands for.

    The batch stays dynamic if it is in the file. `example_inputs` is not needed: the file has its shapes. A file
    whose tensors are quantized becomes a float network with points that have the scales and zero points of the file
    (`quantized="points"`), or one of the integer operators that the file has ("integer").
    Raises ImportError without the extra, Error for a file that cannot be converted.
    """
    if quantized not in ("points", "integer"):
        raise ValueError(f'quantized is "points" or "integer", not {quantized!r}')
    name = "model.tflite" if isinstance(source, bytes) else Path(fspath(source)).name
    if isinstance(source, bytes):
        data = source
    else:
        try:
            data = Path(fspath(source)).read_bytes()
        except OSError as problem:
            raise Error(f"cannot read it: {problem.strerror}", fspath(source)) from problem
    if data[4:8] != _IDENTIFIER:
        raise Error("not a TensorFlow Lite file", name, [f"bytes 4 to 8 are {data[4:8]!r}, not {_IDENTIFIER!r}"])
    _extras.require("tflite", "a .tflite file")
    return convert(data, name, timeout, quantized=quantized)


def _cut(data: bytes, name: str) -> tuple[bytes, _tflite_points.Cuts] | None:
    """The file without quantized tensors, where it has some; a damaged file is left to its converter."""
    try:
        return _tflite_points.cut(data, name)
    except (struct.error, IndexError, ValueError, OverflowError):
        return None


def convert(
    data: bytes,
    name: str,
    timeout: float | None = None,
    rename: Callable[[str], str] | None = None,
    layer_of: _text.LayerOf | None = None,
    quantized: Quantized = "points",
) -> bytes:
    """Converts the bytes of a file that messages and locations call `name`.

    `rename` gives tensors other names; `layer_of` returns the layer of an operation, see `_text.give_layer_names`.
    """
    cuts = None
    if quantized == "points" and (found := _cut(data, name)):
        data, cuts = found
        if cuts.free:
            first = ", ".join(f'"{layer}"' for layer in cuts.free[:3]) + (", …" if len(cuts.free) > 3 else "")
            logging.getLogger("mct").warning(
                "%s: %d layers (%s) have quantized weights and results that are none: their weights are those of the "
                "file, and their activations are free",
                name,
                len(cuts.free),
                first,
            )
    with _process.folder() as work:
        (work / "model.tflite").write_bytes(data)
        command = ["tosa_converter_for_tflite.cli", "model.tflite", "--text", "--emit-debug-info", "-o", "module.mlir"]
        try:
            _process.run(_CONVERTER, name, command, work, timeout)
        except Error as problem:
            raise _explained(problem, data, name) from None
        try:
            file = _flatbuffer.File(data)
            operators = _flatbuffer.operators(file)
            if quantized == "points" and not cuts:
                # The converter takes a file that it took for damaged.
                _tflite_points.cut(data, name)
            boundary = _flatbuffer.boundary(file)
        except (struct.error, IndexError, ValueError, OverflowError) as problem:
            raise Error(f"a damaged file: {problem}", name) from problem
        kinds = {operator.name: operator.kind for operator in operators}
        text = _process.read(_CONVERTER, name, work / "module.mlir", standardize, kinds)
    text = _repairs.repair_tflite(text, operators)
    if rename:
        text = _text.rename(text, rename)
    if cuts:
        text = _points.write_records(text, cuts.arguments, cuts.results)
    text = record_boundary(text, *boundary)
    text = _text.name_layers(text)
    if layer_of:
        text = _text.give_layer_names(text, layer_of)
    return text.replace('loc("model.tflite":0:0)', f'loc("{_text.escape(name)}":0:0)').encode()


# On some constants, sizes or types these end the converter, or make it fail without a place.
_FRAGILE = frozenset({"COMPLEX_ABS", "FILL", "IMAG", "REAL", "RFFT2D", "SPARSE_TO_DENSE"})


def _explained(problem: Error, data: bytes, name: str) -> Error:
    """The error of the converter with the operator and the layer, as far as either is known."""
    try:
        operators = _flatbuffer.operators(_flatbuffer.File(data))
    except (struct.error, IndexError, ValueError, OverflowError):
        return problem
    kinds = {operator.name: operator.kind for operator in operators}
    # The place may be one of several that are fused.
    if failed := re.search(r'loc\([^\n]*?"((?:[^"\\]|\\.)*)"(?!:\d)[^\n]*\): error: (.*)', problem.diagnostics):
        layer = _text.unescape(failed[1])
        what = kinds.get(layer, "")
        message = f"{_CONVERTER} cannot convert {what or 'the layer'}: {failed[2][:300]}"
        return Error(message, f'{name}: "{layer}"', _process.REMEDY, problem.diagnostics)
    # Operators that the converter names, or else those that it is known to fail on.
    said = problem.diagnostics.lower()
    found = [each for each in operators if f"tfl.{each.kind.lower()}'" in said]
    found = found or [each for each in operators if each.kind in _FRAGILE]
    if found and re.search("crashed|failed", problem.message):
        notes = [f'it does so on {each.kind} of layer "{each.name}"' for each in found[:20]]
        return Error(problem.message, f'{name}: "{found[0].name}"', [*notes, *_process.REMEDY], problem.diagnostics)
    return problem


def standardize(text: str) -> str:
    """The converter's text with constants that our MLIR has, its arguments named, and nothing of its container."""
    # litert-torch requires this in a metadata entry, so that constants survive TensorFlow's optimizer.
    constant = re.compile(r"^(\s*%\w+) = stablehlo\.constant (dense.*) : (tensor<[^>]*>)", re.MULTILINE)
    text = constant.sub(r'\1 = "tosa.const"() <{values = \2 : \3}> : () -> \3', text)
    text = _drop_casts(text)
    # Attributes of the flatbuffer's container, of dialects that no other tool has.
    text = re.sub(r"^module attributes \{.*\} \{$", "module {", text, count=1, flags=re.MULTILINE)
    return re.sub(r"^  func\.func .*$", lambda match: _standardize_function(match[0]), text, flags=re.MULTILINE)


def _drop_casts(text: str) -> str:
    """The text without casts of a type to itself, which remain where the converter drops scales of variables."""
    cast = re.compile(
        r"^ *(%[\w.]+) = builtin\.unrealized_conversion_cast (%[\w.]+) : (.*) to \3(?: loc\(.*\))?\n", re.M
    )
    same = {match[1]: match[2] for match in cast.finditer(text)}
    if not same:
        return text

    def source(value: str) -> str:
        # A variable that is written as it was read is cast twice.
        while value in same:
            value = same[value]
        return value

    return re.sub(r"%[\w.]+", lambda match: source(match[0]), cast.sub("", text))


def _standardize_function(line: str) -> str:
    # All arguments have the name of the function.
    line = re.sub(r" \{tf_saved_model\.[^{}]*\}", "", _name_arguments(line))
    return re.sub(r" attributes \{.*\} \{$", " {", line)


def _name_arguments(line: str) -> str:
    entry = re.search(r'tf\.entry_function = \{[^{}]*inputs = "((?:[^"\\]|\\.)*)"', line)
    if not entry:
        return line
    names: Sequence[str] = entry[1].split(",")
    argument = re.compile(r'(%arg(\d+): [^%]*?) loc\((?:#\w+|"(?:[^"\\]|\\.)*"(?:\([^()]*\))?)\)')
    if len(names) != len(argument.findall(line)):
        return line
    return argument.sub(lambda match: f'{match[1]} loc("{names[int(match[2])]}")', line)


def record_boundary(text: str, inputs: Sequence[Stored | None], outputs: Sequence[Stored | None]) -> str:
    """The text in which arguments and results of `main` record the meaning of their integers."""

    def recorded(values: str, stored: Sequence[Stored | None]) -> str:
        """`values`: types, each with the text before it, and the locations of the arguments after them."""
        places = list(re.finditer(r"tensor<[^>]*>", values))
        if len(places) != len(stored):
            return values
        for match, entry in reversed(list(zip(places, stored, strict=True))):
            if entry:
                what = f'name = "{_text.escape(entry.name)}", scale = {entry.scale:.17e} : f64, '
                what += f"zero_point = {entry.zero_point} : i64, bits = {entry.bits} : i64"
                values = f"{values[: match.end()]} {{tpc.quantized = {{{what}}}}}{values[match.end() :]}"
        return values

    def function(match: re.Match[str]) -> str:
        return f"{match[1]}{recorded(match[2], inputs)}) -> ({recorded(match[3], outputs)}){match[4]}"

    if not any(inputs) and not any(outputs):
        return text
    main = re.compile(
        r"^(  func\.func @main\()(.*)\) -> \(?(tensor<[^>]*>(?:, tensor<[^>]*>)*)\)?(.*\{)$", re.MULTILINE
    )
    return main.sub(function, text, count=1)
