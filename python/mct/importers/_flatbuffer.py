# SPDX-License-Identifier: Apache-2.0
"""What the integers at the boundary of a `.tflite` file stand for, which its converter to TOSA drops."""

from __future__ import annotations

import struct
from typing import NamedTuple

# Fields of the tables, by their order in the schema.
_MODEL_SUBGRAPHS = 2
_GRAPH_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS = 0, 1, 2
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_QUANTIZATION = 1, 3, 4
_QUANTIZATION_SCALE, _QUANTIZATION_ZERO_POINT = 2, 3
# Bits of the types of stored values that have a scale.
_BITS = {9: 8, 7: 16}


class Stored(NamedTuple):
    """real = scale * (stored - zero_point)."""

    name: str
    scale: float
    zero_point: int
    bits: int


class _Table:
    def __init__(self, data: bytes, place: int) -> None:
        self.data, self.place = data, place
        self.fields = place - struct.unpack_from("<i", data, place)[0]

    def field(self, number: int) -> int:
        """Where the value of a field lies; 0 when the table has none."""
        (size,) = struct.unpack_from("<H", self.data, self.fields)
        entry = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < size else 0
        return self.place + int(offset) if offset else 0

    def table(self, number: int) -> _Table | None:
        place = self.field(number)
        return _Table(self.data, _follow(self.data, place)) if place else None

    def tables(self, number: int) -> list[_Table]:
        place = self.field(number)
        if not place:
            return []
        start = _follow(self.data, place)
        (count,) = struct.unpack_from("<I", self.data, start)
        return [_Table(self.data, _follow(self.data, start + 4 + 4 * i)) for i in range(count)]

    def numbers(self, number: int, code: str) -> tuple[float, ...]:
        place = self.field(number)
        if not place:
            return ()
        start = _follow(self.data, place)
        (count,) = struct.unpack_from("<I", self.data, start)
        return struct.unpack_from(f"<{count}{code}", self.data, start + 4)


def _follow(data: bytes, place: int) -> int:
    return place + int(struct.unpack_from("<I", data, place)[0])


def _stored(tensor: _Table) -> Stored | None:
    place = tensor.field(_TENSOR_TYPE)
    quantization = tensor.table(_TENSOR_QUANTIZATION)
    bits = _BITS.get(tensor.data[place]) if place else None
    if bits is None or quantization is None:
        return None
    scales = quantization.numbers(_QUANTIZATION_SCALE, "f")
    zero_points = quantization.numbers(_QUANTIZATION_ZERO_POINT, "q")
    if len(scales) != 1:
        return None
    name = bytes(map(int, tensor.numbers(_TENSOR_NAME, "B"))).decode(errors="replace")
    return Stored(name, scales[0], int(zero_points[0]) if zero_points else 0, bits)


def boundary(data: bytes) -> tuple[list[Stored | None], list[Stored | None]]:
    """Of every input and of every output of the first graph; nothing for those that are stored as what they are.

    struct.error or IndexError for a damaged file.
    """
    graph = _Table(data, _follow(data, 0)).tables(_MODEL_SUBGRAPHS)[0]
    tensors = graph.tables(_GRAPH_TENSORS)
    inputs, outputs = (graph.numbers(field, "i") for field in (_GRAPH_INPUTS, _GRAPH_OUTPUTS))
    return [_stored(tensors[int(i)]) for i in inputs], [_stored(tensors[int(i)]) for i in outputs]
