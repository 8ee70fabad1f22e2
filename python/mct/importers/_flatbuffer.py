# SPDX-License-Identifier: Apache-2.0
"""Facts of a `.tflite` file that its converter to TOSA drops: what the integers at its boundary stand for, and of which
operator a layer is."""

from __future__ import annotations

import struct
from typing import NamedTuple

# Fields of the tables, by their order in the schema.
_MODEL_OPERATOR_CODES, _MODEL_SUBGRAPHS = 1, 2
_CODE_DEPRECATED, _CODE_CUSTOM, _CODE_BUILTIN = 0, 1, 3
_GRAPH_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS, _GRAPH_OPERATORS = 0, 1, 2, 3
_OPERATOR_CODE, _OPERATOR_OUTPUTS, _OPERATOR_OPTIONS = 0, 2, 4
_TENSOR_TYPE, _TENSOR_NAME, _TENSOR_QUANTIZATION = 1, 3, 4
_QUANTIZATION_SCALE, _QUANTIZATION_ZERO_POINT = 2, 3
# Bits of the types of stored values that have a scale.
_BITS = {9: 8, 7: 16}

# Builtin operators by their numbers; behind them come those of StableHLO.
BUILTIN = """
ADD AVERAGE_POOL_2D CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE EMBEDDING_LOOKUP FLOOR
FULLY_CONNECTED HASHTABLE_LOOKUP L2_NORMALIZATION L2_POOL_2D LOCAL_RESPONSE_NORMALIZATION LOGISTIC LSH_PROJECTION
LSTM MAX_POOL_2D MUL RELU RELU_N1_TO_1 RELU6 RESHAPE RESIZE_BILINEAR RNN SOFTMAX SPACE_TO_DEPTH SVDF TANH
CONCAT_EMBEDDINGS SKIP_GRAM CALL CUSTOM EMBEDDING_LOOKUP_SPARSE PAD UNIDIRECTIONAL_SEQUENCE_RNN GATHER
BATCH_TO_SPACE_ND SPACE_TO_BATCH_ND TRANSPOSE MEAN SUB DIV SQUEEZE UNIDIRECTIONAL_SEQUENCE_LSTM STRIDED_SLICE
BIDIRECTIONAL_SEQUENCE_RNN EXP TOPK_V2 SPLIT LOG_SOFTMAX DELEGATE BIDIRECTIONAL_SEQUENCE_LSTM CAST PRELU MAXIMUM
ARG_MAX MINIMUM LESS NEG PADV2 GREATER GREATER_EQUAL LESS_EQUAL SELECT SLICE SIN TRANSPOSE_CONV SPARSE_TO_DENSE TILE
EXPAND_DIMS EQUAL NOT_EQUAL LOG SUM SQRT RSQRT SHAPE POW ARG_MIN FAKE_QUANT REDUCE_PROD REDUCE_MAX PACK LOGICAL_OR
ONE_HOT LOGICAL_AND LOGICAL_NOT UNPACK REDUCE_MIN FLOOR_DIV REDUCE_ANY SQUARE ZEROS_LIKE FILL FLOOR_MOD RANGE
RESIZE_NEAREST_NEIGHBOR LEAKY_RELU SQUARED_DIFFERENCE MIRROR_PAD ABS SPLIT_V UNIQUE CEIL REVERSE_V2 ADD_N GATHER_ND
COS WHERE RANK ELU REVERSE_SEQUENCE MATRIX_DIAG QUANTIZE MATRIX_SET_DIAG ROUND HARD_SWISH IF WHILE
NON_MAX_SUPPRESSION_V4 NON_MAX_SUPPRESSION_V5 SCATTER_ND SELECT_V2 DENSIFY SEGMENT_SUM BATCH_MATMUL
PLACEHOLDER_FOR_GREATER_OP_CODES CUMSUM CALL_ONCE BROADCAST_TO RFFT2D CONV_3D IMAG REAL COMPLEX_ABS HASHTABLE
HASHTABLE_FIND HASHTABLE_IMPORT HASHTABLE_SIZE REDUCE_ALL CONV_3D_TRANSPOSE VAR_HANDLE READ_VARIABLE ASSIGN_VARIABLE
BROADCAST_ARGS RANDOM_STANDARD_NORMAL BUCKETIZE RANDOM_UNIFORM MULTINOMIAL GELU DYNAMIC_UPDATE_SLICE RELU_0_TO_1
UNSORTED_SEGMENT_PROD UNSORTED_SEGMENT_MAX UNSORTED_SEGMENT_SUM ATAN2 UNSORTED_SEGMENT_MIN SIGN BITCAST BITWISE_XOR
RIGHT_SHIFT
""".split()  # noqa: SIM905
# Aligned corners and half-pixel centers; whether it is approximate.
_FLAGGED = frozenset({"RESIZE_NEAREST_NEIGHBOR", "GELU"})


class Stored(NamedTuple):
    """real = scale * (stored - zero_point)."""

    name: str
    scale: float
    zero_point: int
    bits: int


class Operator(NamedTuple):
    """An operator of any graph of the file.

    kind:  as the schema calls it; CUSTOM for those that are not builtin.
    name:  of its first result, by which the converter calls the layer.
    types: of its results, by the schema.
    flags: the first two fields of its options, where these are booleans.
    """

    kind: str
    name: str
    types: tuple[int, ...]
    flags: tuple[bool, bool]


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

    def integer(self, number: int, code: str) -> int:
        """Returns a field that is one number; 0 when the table has none."""
        place = self.field(number)
        return int(struct.unpack_from(f"<{code}", self.data, place)[0]) if place else 0

    def text(self, number: int) -> str:
        return bytes(map(int, self.numbers(number, "B"))).decode(errors="replace")


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
    return Stored(tensor.text(_TENSOR_NAME), scales[0], int(zero_points[0]) if zero_points else 0, bits)


def boundary(data: bytes) -> tuple[list[Stored | None], list[Stored | None]]:
    """Describes every input and every output of the first graph; nothing for those that are stored as they are.

    struct.error or IndexError for a damaged file.
    """
    graph = _Table(data, _follow(data, 0)).tables(_MODEL_SUBGRAPHS)[0]
    tensors = graph.tables(_GRAPH_TENSORS)
    inputs, outputs = (graph.numbers(field, "i") for field in (_GRAPH_INPUTS, _GRAPH_OUTPUTS))
    return [_stored(tensors[int(i)]) for i in inputs], [_stored(tensors[int(i)]) for i in outputs]


def operators(data: bytes) -> list[Operator]:
    """All of them. struct.error or IndexError for a damaged file."""
    model = _Table(data, _follow(data, 0))
    codes = [
        max(code.integer(_CODE_DEPRECATED, "b"), code.integer(_CODE_BUILTIN, "i"))
        for code in model.tables(_MODEL_OPERATOR_CODES)
    ]
    result = []
    for graph in model.tables(_MODEL_SUBGRAPHS):
        tensors = graph.tables(_GRAPH_TENSORS)
        for entry in graph.tables(_GRAPH_OPERATORS):
            results = [tensors[int(i)] for i in entry.numbers(_OPERATOR_OUTPUTS, "i")]
            code = codes[entry.integer(_OPERATOR_CODE, "I")]
            kind = BUILTIN[code] if code < len(BUILTIN) else f"builtin operator {code}"
            options = entry.table(_OPERATOR_OPTIONS) if kind in _FLAGGED else None
            flags = tuple(bool(options and options.integer(number, "B")) for number in (0, 1))
            result.append(
                Operator(
                    kind,
                    results[0].text(_TENSOR_NAME) if results else "",
                    tuple(tensor.integer(_TENSOR_TYPE, "B") for tensor in results),
                    (flags[0], flags[1]),
                )
            )
    return result
