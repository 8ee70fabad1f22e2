# SPDX-License-Identifier: Apache-2.0
"""Replaces, in the text of converters, computations that differ from the operator of the source.

A repair looks at the operations of one layer, which it finds by the name in their locations, and only at layers that
have that operator in the source: elsewhere, the same operations are what the network computes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import NamedTuple

from mct.importers import _text
from mct.importers._flatbuffer import Operator

_LINE = re.compile(
    r"^\s*(%\w+) = tosa\.(\w+) ((?:%\w+(?:, )?)+)(?: (\{.*?\}))? : \((.*?)\) -> (tensor<[^>]*>)(?: loc\(.*\))?$"
)
_INTEGER = re.compile(r'^\s*(%\w+) = "tosa\.const"\(\) <\{values = dense<(-?\d+)> : tensor<[\dx]*i\d+>\}>')
_SHAPE = re.compile(r"^\s*(%\w+) = tosa\.const_shape\s+\{values = dense<\[?([-\d, ]+)\]?>")


class Value(NamedTuple):
    name: str
    type: str

    @property
    def element(self) -> str:
        return self.type[self.type.rfind("x") + 1 : -1] if "x" in self.type else self.type[7:-1]


class Line(NamedTuple):
    """An operation of TOSA with its place in the text."""

    number: int
    result: Value
    kind: str
    operands: tuple[Value, ...]
    attributes: str


class Function:
    """The lines of one function, whose operations get others in front of them or become others with the same result."""

    def __init__(self, lines: Sequence[str], names: dict[str, str]) -> None:
        self.lines = list(lines)
        self.fresh = 0
        self.before: dict[int, list[str]] = {}
        self.obsolete: dict[int, Line] = {}
        self.made: dict[str, Line] = {}
        self.integers: dict[str, int] = {}
        self.shapes: dict[str, list[int]] = {}
        self.layers: dict[str, list[Line]] = {}
        for number, line in enumerate(self.lines):
            if constant := _INTEGER.match(line):
                self.integers[constant[1]] = int(constant[2])
            elif shape := _SHAPE.match(line):
                self.shapes[shape[1]] = [int(value) for value in shape[2].split(",")]
            elif match := _LINE.match(line):
                types = match[5].split(", ")
                operands = tuple(map(Value, match[3].split(", "), types))
                parsed = Line(number, Value(match[1], match[6]), match[2], operands, match[4] or "")
                self.made[match[1]] = parsed
                self.layers.setdefault(names.get(_location(line), ""), []).append(parsed)

    def write(self, place: Line, text: str, result: str) -> Value:
        """An operation in front of `place`, with its location; `text`: from the kind on, without results."""
        value = Value(f"%repaired{self.fresh}", result)
        self.fresh += 1
        location = self.lines[place.number].rpartition(" loc(")[2]
        suffix = f" loc({location}" if " loc(" in self.lines[place.number] else ""
        self.before.setdefault(place.number, []).append(f"    {value.name} = {text}{suffix}")
        return value

    def compute(self, place: Line, kind: str, *operands: Value, type: str = "", attributes: str = "") -> Value:
        """`type`: default: that of the first operand."""
        result = type or operands[0].type
        return self.write(place, _operation(kind, operands, result, attributes), result)

    def multiply(self, place: Line, left: Value, right: Value) -> Value:
        shift = self.write(place, _constant("0", "tensor<1xi8>"), "tensor<1xi8>")
        return self.compute(place, "mul", left, right, shift)

    def number(self, place: Line, value: float | int, like: Value) -> Value:
        """A constant of the rank and element type of `like`."""
        type = _retyped(like.type, None, 1)
        text = f"{value:.9e}" if like.element.startswith("f") else str(value)
        return self.write(place, _constant(text, type), type)

    def replace(self, line: Line, kind: str, *operands: Value, attributes: str = "") -> None:
        """Makes another operation of the line, with the same result."""
        head, _, tail = self.lines[line.number].partition(" = ")
        location = f" loc({tail.rpartition(' loc(')[2]}" if " loc(" in tail else ""
        self.lines[line.number] = f"{head} = {_operation(kind, operands, line.result.type, attributes)}{location}"

    def replace_operand(self, line: Line, place: int, new: Value) -> None:
        operands = [*line.operands[:place], new, *line.operands[place + 1 :]]
        self.replace(line, line.kind, *operands, attributes=line.attributes)

    def finish(self) -> list[str]:
        """The lines, without those of `obsolete` that nothing uses."""
        lines = {number: [*self.before.get(number, []), line] for number, line in enumerate(self.lines)}
        uses = Counter(
            name
            for group in lines.values()
            for line in group
            if '= "tosa.const"' not in line
            for name in re.findall(r"%\w+", line.partition(" = ")[2] or line)
        )
        for line in sorted(self.obsolete.values(), reverse=True):
            if not uses[line.result.name]:
                uses.subtract(value.name for value in line.operands)
                lines[line.number].pop()
        return [line for group in lines.values() for line in group]


def _operation(kind: str, operands: Sequence[Value], result: str, attributes: str = "") -> str:
    values = ", ".join(operand.name for operand in operands)
    types = ", ".join(operand.type for operand in operands)
    return f"tosa.{kind} {values}{' ' if attributes else ''}{attributes} : ({types}) -> {result}"


def _constant(value: str, type: str) -> str:
    return f'"tosa.const"() <{{values = dense<{value}> : {type}}}> : () -> {type}'


def _retyped(type: str, element: str | None = None, extent: int | None = None) -> str:
    """The tensor type with another element, and with all extents the same."""
    parts = type[len("tensor<") : -1].split("x")
    extents = parts[:-1] if extent is None else [str(extent)] * (len(parts) - 1)
    return f"tensor<{'x'.join([*extents, element or parts[-1]])}>"


def _location(line: str) -> str:
    return line.rpartition(" loc(")[2]


def _repair(text: str, repairs: Callable[[Function], None]) -> str:
    """The text after `repairs` of every function."""
    body = _text.body(text)
    rest = text[len(body) :]
    names = _text.location_names(body)
    result: list[str] = []
    lines = body.split("\n")
    starts = [number for number, line in enumerate(lines) if line.startswith("  func.func ")]
    result += lines[: starts[0]] if starts else lines
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        function = Function(lines[start:end], names)
        repairs(function)
        result += function.finish()
    return "\n".join(result) + rest


# ----------------------------------------------------------------------------------------------------------------------
# Nearest neighbours
# ----------------------------------------------------------------------------------------------------------------------


def round_positions_down(text: str) -> str:
    """The text of a converter of ONNX in which each `tosa.resize` takes the nearest neighbours that ONNX takes."""

    def repair(function: Function) -> None:
        for lines in list(function.layers.values()):
            _round_down(function, lines)

    return _repair(text, repair)


def _round_down(function: Function, lines: Sequence[Line]) -> None:
    """Moves each resize of nearest neighbours by half a pixel of its source, the border with it.

    TOSA takes the nearest position where ONNX, and TensorFlow Lite without options, round down, and converters write as
    if these were the same.
    """
    for line in lines:
        if line.kind != "resize" or "NEAREST" not in line.attributes:
            continue
        scale = function.shapes[line.operands[1].name]
        moved = []
        for operand in line.operands[2:]:
            values = function.shapes[operand.name]
            extents = [values[axis % len(values)] - scale[2 * axis] // 2 for axis in (0, 1)]
            text = f"tosa.const_shape {{values = dense<{extents}> : tensor<2xindex>}} : () -> {operand.type}"
            moved.append(function.write(line, text, operand.type))
        function.replace(line, line.kind, *line.operands[:2], *moved, attributes=line.attributes)


# ----------------------------------------------------------------------------------------------------------------------
# TensorFlow Lite
# ----------------------------------------------------------------------------------------------------------------------


def _round_resize_down(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """RESIZE_NEAREST_NEIGHBOR; with corners or centers aligned, it takes the nearest position."""
    if not any(operator.flags):
        _round_down(function, lines)


def _saturate_quantize(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """QUANTIZE: real numbers beyond those that the type has wrap around; they are bounded before they are rounded."""
    for narrow in lines:
        sum_ = function.made.get(narrow.operands[0].name)
        if narrow.kind != "cast" or sum_ not in lines or not sum_ or sum_.kind != "add":
            continue
        codes = function.made.get(sum_.operands[0].name)
        zero_point = function.integers.get(sum_.operands[1].name)
        if codes not in lines or not codes or codes.kind != "cast" or zero_point is None:
            continue
        if codes.operands[0].element != "f32" or narrow.result.element not in ("i8", "i16"):
            continue
        limit = 1 << (int(narrow.result.element[1:]) - 1)
        bounds = f"max_val = {limit - 1 - zero_point:.9e} : f32, min_val = {-limit - zero_point:.9e} : f32"
        real = codes.operands[0]
        function.replace_operand(codes, 0, function.compute(codes, "clamp", real, attributes=f"{{{bounds}}}"))


def _truncate_cast(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """CAST truncates real numbers, where TOSA rounds; codes of unsigned integers are those of the values less 128."""
    unsigned = operator.types[:1] == (_UINT8,)
    for line in lines:
        source = line.operands[0]
        if line.kind != "cast" or not line.result.element.startswith("i") or line.result.element == "i1":
            continue
        if source.element.startswith("f"):
            zero = function.number(line, 0.0, source)
            floor, ceil = (function.compute(line, kind, source) for kind in ("floor", "ceil"))
            condition = function.compute(line, "greater", zero, source, type=_retyped(source.type, "i1"))
            whole = function.compute(line, "select", condition, ceil, floor, type=source.type)
            if unsigned and line.result.element == "i8":
                whole = function.compute(line, "sub", whole, function.number(line, 128.0, source))
            function.replace_operand(line, 0, whole)
        elif unsigned and line.result.element == "i8":
            code = function.compute(line, "cast", source, type=line.result.type)
            function.replace(line, "bitwise_xor", code, function.number(line, -128, code))


def _round_half_to_even(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """ROUND: written as the floor of half above, which takes ties up."""
    for line in lines:
        half = function.made.get(line.operands[0].name)
        if line.kind != "floor" or not half or half.kind != "add" or half not in lines:
            continue
        source = half.operands[0]
        floor = function.compute(line, "floor", source)
        rest = function.compute(line, "sub", source, floor)
        middle = function.number(line, 0.5, source)
        halved = function.multiply(line, floor, middle)
        truth = _retyped(source.type, "i1")
        odd = function.compute(line, "greater", halved, function.compute(line, "floor", halved), type=truth)
        above = function.compute(line, "greater", rest, middle, type=truth)
        tie = function.compute(line, "equal", rest, middle, type=truth)
        up = function.compute(line, "logical_or", above, function.compute(line, "logical_and", tie, odd))
        next_ = function.compute(line, "add", floor, function.number(line, 1.0, source))
        function.replace(line, "select", up, next_, floor)
        function.obsolete[half.number] = half


def _exact_gelu(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """GELU without `approximate` is the error function; it is written with tanh, which is 5e-4 off."""
    if operator.flags[0]:
        return
    for line in lines:
        power = next((other for other in lines if other.kind == "pow"), None)
        if line.kind != "tanh" or not power:
            continue
        source = power.operands[0]
        scaled = function.multiply(line, source, function.number(line, 0.5**0.5, source))
        function.replace(line, "erf", scaled)
        function.obsolete |= {other.number: other for other in lines if other.number < line.number}


def _floor_modulo(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """FLOOR_MOD: written as the fraction of the quotient; the remainder is less than the divisor."""
    for line in lines:
        floor = function.made.get(line.operands[1].name) if line.kind == "sub" else None
        quotient = function.made.get(line.operands[0].name)
        if not floor or floor.kind != "floor" or not quotient or quotient.kind != "mul":
            continue
        inverse = function.made.get(quotient.operands[1].name)
        if not inverse or inverse.kind != "reciprocal" or inverse.operands[0].element != "f32":
            continue
        whole = function.multiply(line, floor.result, inverse.operands[0])
        if whole.type != line.result.type:
            continue
        function.replace(line, "sub", quotient.operands[0], whole)


def _stable_log_softmax(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """LOG_SOFTMAX: written as the logarithm of quotients of powers, which are zero or infinite for moderate scores."""
    for line in lines:
        share = function.made.get(line.operands[0].name)
        if line.kind != "log" or not share or share.kind != "mul":
            continue
        power, inverse = (function.made.get(operand.name) for operand in share.operands[:2])
        total = function.made.get(inverse.operands[0].name) if inverse and inverse.kind == "reciprocal" else None
        if not power or power.kind != "exp" or not total or total.kind != "reduce_sum":
            continue
        scores, narrow = power.operands[0], total.result.type
        largest = function.compute(line, "reduce_max", scores, type=narrow, attributes=total.attributes)
        below = function.compute(line, "sub", scores, largest)
        exponentials = function.compute(line, "exp", below)
        sum_ = function.compute(line, "reduce_sum", exponentials, type=narrow, attributes=total.attributes)
        function.replace(line, "sub", below, function.compute(line, "log", sum_))
        function.obsolete |= {other.number: other for other in (share, inverse, power, total) if other}


def _saturate_softmax(function: Function, lines: Sequence[Line], operator: Operator) -> None:
    """SOFTMAX of 16 bits: what is far below the largest score wrapped around on its way into the table."""
    for table in lines:
        narrow = function.made.get(table.operands[0].name) if table.kind == "table" else None
        if not narrow or narrow.kind != "cast" or narrow.result.element != "i16" or narrow.operands[0].element != "i32":
            continue
        source = narrow.operands[0]
        low = function.compute(narrow, "maximum", source, function.number(narrow, -32768, source))
        high = function.compute(narrow, "minimum", low, function.number(narrow, 32767, source))
        function.replace_operand(narrow, 0, high)


# The number of the type in the schema.
_UINT8 = 3
_REPAIRS: dict[str, Callable[[Function, Sequence[Line], Operator], None]] = {
    "CAST": _truncate_cast,
    "FLOOR_MOD": _floor_modulo,
    "GELU": _exact_gelu,
    "LOG_SOFTMAX": _stable_log_softmax,
    "QUANTIZE": _saturate_quantize,
    "RESIZE_NEAREST_NEIGHBOR": _round_resize_down,
    "ROUND": _round_half_to_even,
    "SOFTMAX": _saturate_softmax,
}


def repair_tflite(text: str, operators: Sequence[Operator]) -> str:
    """The text of the converter of TensorFlow Lite, whose locations have the names of tensors, computing what the
    operators of the file do."""
    wanted = {(operator.name, operator.kind): operator for operator in operators if operator.kind in _REPAIRS}

    def repair(function: Function) -> None:
        for (name, kind), operator in wanted.items():
            if lines := function.layers.get(name):
                _REPAIRS[kind](function, lines, operator)

    return _repair(text, repair) if wanted else text
