# SPDX-License-Identifier: Apache-2.0
"""How importers tell the compiler of the points of a network that is quantized already.

An importer cuts its network at every point before it is converted: what a point quantizes becomes a result, what its
users read an argument, and quantized constants become arguments. Behind the conversion it writes here what they are,
as attributes `tpc.imported`, of which `mct-insert-imported-points` makes quantization points.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from mct.importers import _text

if TYPE_CHECKING:
    import numpy as np


class Parameters(NamedTuple):
    """real = scale * (code - zero_point), with the numbers of the file.

    scale, zero_point: one number, or one for each channel.
    bits, is_signed:   of the codes.
    axes:              of the channels of a constant; () for one number.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    bits: int
    is_signed: bool
    axes: tuple[int, ...] = ()

    def text(self) -> str:
        scales = ", ".join(f"{scale:.17e}" for scale in self.scale)
        zero_points = ", ".join(map(str, self.zero_point))
        return (
            f"scale = array<f64: {scales}>, zero_point = array<i64: {zero_points}>, bits = {self.bits} : i64, "
            f"is_signed = {str(self.is_signed).lower()}{_axes(self.axes)}"
        )


class Quantizer(NamedTuple):
    """A quantizer as the compiler writes it (`#tpc.power_of_two<…>`), for what has no scale."""

    attribute: str
    axes: tuple[int, ...] = ()

    def text(self) -> str:
        return f"parameters = {self.attribute}{_axes(self.axes)}"


def _axes(axes: Sequence[int]) -> str:
    return f", axes = array<i64: {', '.join(map(str, axes))}>" if axes else ""


def point(key: str, parameters: Parameters | Quantizer) -> str:
    """The record of the argument that is what the point `key` makes."""
    return f'{{point = "{_text.escape(key)}", {parameters.text()}}}'


def constant(elements: np.ndarray[Any, Any], parameters: Parameters | Quantizer | None) -> str:
    """The record of an argument that is constant: integers are codes, real numbers what the point quantizes."""
    import numpy as np

    if elements.dtype.kind in "iu":
        size = next(size for size in (8, 16, 32) if getattr(parameters, "bits", 32) <= size)
        what, type, stored = "codes", f"i{size}", elements.astype(f"<i{size // 8}", casting="unsafe")
    else:
        what, type, stored = "values", "f32", elements.astype("<f4")
    shape = "".join(f"{extent}x" for extent in stored.shape)
    data = np.ascontiguousarray(stored).tobytes().hex().upper()
    literal = f'"0x{data}"' if data else ""
    rest = f", {parameters.text()}" if parameters else ""
    return f"{{{what} = dense<{literal}> : tensor<{shape}{type}>{rest}}}"


def _types(line: str) -> Iterator[tuple[bool, int]]:
    """Yields, for each argument and result of the function that a line begins, whether it is a result and the end of
    its type."""
    depth, is_result, place = 0, False, line.index("@")
    while place < len(line):
        character = line[place]
        if character == '"':
            place += 1
            while line[place] != '"':
                place += 2 if line[place] == "\\" else 1
        elif character in "({[":
            if character == "{" and depth == 0:
                return
            depth += 1
        elif character in ")}]":
            depth -= 1
        elif line.startswith("->", place) and depth == 0:
            is_result = True
        elif line.startswith("tensor<", place) and depth <= 1:
            place = line.index(">", place)
            yield is_result, place + 1
        place += 1


def write_records(text: str, arguments: Mapping[int, str], results: Mapping[int, str]) -> str:
    """The module in which arguments and results of `main`, by number, have records: what `point` and `constant` make,
    and the keys of points."""
    head, separator, rest = text.partition("\n  func.func @main(")
    line, end, following = ("  func.func @main(" + rest).partition("\n")
    places = list(_types(line))
    ends = [[end for is_result, end in places if is_result == wanted] for wanted in (False, True)]
    records = [(ends[0][number], record) for number, record in arguments.items()]
    records += [(ends[1][number], f'"{_text.escape(key)}"') for number, key in results.items()]
    if not records:
        return text
    if len(ends[1]) == 1 and line[: ends[1][0]].rpartition("-> ")[2].startswith("tensor"):
        # A result with an attribute stands in parentheses.
        start = line[: ends[1][0]].rindex("-> ") + 3
        line = f"{line[:start]}({line[start : ends[1][0]]}){line[ends[1][0] :]}"
        records = [(place + (place > start), record) for place, record in records]
    pieces, last = [], 0
    for place, record in sorted(records):
        pieces += [line[last:place], f" {{tpc.imported = {record}}}"]
        last = place
    return head + "\n" + "".join(pieces) + line[last:] + end + following if separator else text
