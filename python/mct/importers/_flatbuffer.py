# SPDX-License-Identifier: Apache-2.0
"""Facts of a `.tflite` file that its converter to TOSA drops: what its integers stand for, and of which operator a
layer is; and a writer for another graph of the same file."""

from __future__ import annotations

import struct
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

# Fields of the tables, by their order in the schema.
_MODEL_VERSION, _MODEL_OPERATOR_CODES, _MODEL_SUBGRAPHS, _MODEL_BUFFERS = 0, 1, 2, 4
_CODE_DEPRECATED, _CODE_CUSTOM, _CODE_BUILTIN = 0, 1, 3
# Operators that sum up elements along axes: the type of their options, and the field of these that keeps the axes.
_REDUCER, _REDUCER_KEEPS, _INT32 = 27, 0, 2
_GRAPH_TENSORS, _GRAPH_INPUTS, _GRAPH_OUTPUTS, _GRAPH_OPERATORS, _GRAPH_NAME = 0, 1, 2, 3, 4
_OPERATOR_CODE, _OPERATOR_INPUTS, _OPERATOR_OUTPUTS, _OPERATOR_KIND, _OPERATOR_OPTIONS = 0, 1, 2, 3, 4
_TENSOR_SHAPE, _TENSOR_TYPE, _TENSOR_BUFFER, _TENSOR_NAME, _TENSOR_QUANTIZATION = 0, 1, 2, 3, 4
_TENSOR_VARIABLE, _TENSOR_SPARSITY, _TENSOR_SIGNATURE, _TENSOR_RANKED = 5, 6, 7, 8
_QUANTIZATION_SCALE, _QUANTIZATION_ZERO_POINT, _QUANTIZATION_DETAILS, _QUANTIZATION_AXIS = 2, 3, 4, 6
_BUFFER_DATA, _BUFFER_OFFSET, _BUFFER_SIZE = 0, 1, 2
# Fields of an operator that are kept as they are: numbers with their sizes, and tables or vectors.
_OPERATOR_NUMBERS = {0: "I", 3: "B", 6: "b", 11: "B"}
_OPERATOR_TABLES = (4, 5, 12)
# Bits of the types of stored values that have a scale.
_BITS = {9: 8, 7: 16}
# Tables that a file may have: counts of damaged files, whose tables lie in each other, have no other bound.
_MOST_TABLES = 2_000_000

# Builtin operators by their numbers; those of StableHLO follow.
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
        if self.fields < 0:
            raise IndexError("a table lies in front of the file")

    def field(self, number: int) -> int:
        """Returns the offset of the value of a field; 0 if the table has no such field."""
        (size,) = struct.unpack_from("<H", self.data, self.fields)
        entry = 4 + 2 * number
        offset = struct.unpack_from("<H", self.data, self.fields + entry)[0] if entry < size else 0
        return self.place + int(offset) if offset else 0

    def target(self, number: int) -> int:
        """Returns the offset of the table or vector of a field; 0 if the table has no such field."""
        place = self.field(number)
        return _follow(self.data, place) if place else 0

    def table(self, number: int) -> _Table | None:
        place = self.target(number)
        return _Table(self.data, place) if place else None

    def tables(self, number: int) -> list[_Table]:
        start = self.target(number)
        if not start:
            return []
        (count,) = struct.unpack_from("<I", self.data, start)
        return [_Table(self.data, _follow(self.data, start + 4 + 4 * i)) for i in range(count)]

    def numbers(self, number: int, code: str) -> tuple[Any, ...]:
        start = self.target(number)
        if not start:
            return ()
        (count,) = struct.unpack_from("<I", self.data, start)
        return struct.unpack_from(f"<{count}{code}", self.data, start + 4)

    def integer(self, number: int, code: str) -> int:
        """Returns a field that is one number; 0 when the table has none."""
        place = self.field(number)
        return int(struct.unpack_from(f"<{code}", self.data, place)[0]) if place else 0

    def real(self, number: int) -> float:
        place = self.field(number)
        return float(struct.unpack_from("<f", self.data, place)[0]) if place else 0.0

    def bytes(self, number: int) -> bytes:
        start = self.target(number)
        if not start:
            return b""
        (count,) = struct.unpack_from("<I", self.data, start)
        if start + 4 + count > len(self.data):
            raise IndexError("a vector ends behind the file")
        return self.data[start + 4 : start + 4 + count]

    def text(self, number: int) -> str:
        return self.bytes(number).decode(errors="replace")


def _follow(data: bytes, place: int) -> int:
    return place + int(struct.unpack_from("<I", data, place)[0])


class Tensor:
    """A tensor of a graph.

    type, buffer: numbers of the schema and of the file.
    scales:       of its integers, along `axis` where there are several; none for what is stored as it is.
    details:      how it is quantized otherwise than by these, a number of the schema; 0: by these.
    """

    def __init__(self, table: _Table) -> None:
        self.table = table
        self.name = table.text(_TENSOR_NAME)
        self.shape: tuple[int, ...] = table.numbers(_TENSOR_SHAPE, "i")
        self.type, self.buffer = table.integer(_TENSOR_TYPE, "B"), table.integer(_TENSOR_BUFFER, "I")
        quantization = table.table(_TENSOR_QUANTIZATION)
        self.scales: tuple[float, ...] = quantization.numbers(_QUANTIZATION_SCALE, "f") if quantization else ()
        self.zero_points: tuple[int, ...] = quantization.numbers(_QUANTIZATION_ZERO_POINT, "q") if quantization else ()
        self.axis = quantization.integer(_QUANTIZATION_AXIS, "i") if quantization else 0
        self.details = quantization.integer(_QUANTIZATION_DETAILS, "B") if quantization else 0

    @property
    def variable(self) -> bool:
        return bool(self.table.integer(_TENSOR_VARIABLE, "B"))

    @property
    def sparse(self) -> bool:
        return bool(self.table.field(_TENSOR_SPARSITY))

    @property
    def stored(self) -> Stored | None:
        bits = _BITS.get(self.type)
        if bits is None or len(self.scales) != 1:
            return None
        return Stored(self.name, self.scales[0], self.zero_points[0] if self.zero_points else 0, bits)


class Node(NamedTuple):
    """An operator of a graph; operands and results are tensors, by their numbers, -1 for one that is not given."""

    kind: str
    operands: list[int]
    results: list[int]
    table: _Table

    def option(self, number: int) -> int:
        """A field of one byte of its options."""
        options = self.table.table(_OPERATOR_OPTIONS)
        return options.integer(number, "B") if options else 0

    def option_text(self, number: int) -> str:
        """A field of its options that is a string."""
        options = self.table.table(_OPERATOR_OPTIONS)
        return options.text(number) if options else ""

    def number(self, number: int) -> float:
        """A field of its options that is a float."""
        options = self.table.table(_OPERATOR_OPTIONS)
        return options.real(number) if options else 0.0


class Graph:
    def __init__(self, table: _Table, kinds: Sequence[str]) -> None:
        self.place, self.name = table.place, table.text(_GRAPH_NAME)
        self.tensors = [Tensor(entry) for entry in table.tables(_GRAPH_TENSORS)]
        self.inputs, self.outputs = (self._tensors(table, field) for field in (_GRAPH_INPUTS, _GRAPH_OUTPUTS))
        self.nodes = []
        for entry in table.tables(_GRAPH_OPERATORS):
            operands, results = (self._tensors(entry, field) for field in (_OPERATOR_INPUTS, _OPERATOR_OUTPUTS))
            self.nodes.append(Node(kinds[entry.integer(_OPERATOR_CODE, "I")], operands, results, entry))

    def _tensors(self, table: _Table, field: int) -> list[int]:
        numbers = list(table.numbers(field, "i"))
        if any(not -1 <= number < len(self.tensors) for number in numbers):
            raise IndexError("a tensor that there is not")
        return numbers


class File:
    """struct.error or IndexError for a damaged file."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.model = _Table(data, _follow(data, 0))
        codes = [
            max(code.integer(_CODE_DEPRECATED, "b"), code.integer(_CODE_BUILTIN, "i"))
            for code in self.model.tables(_MODEL_OPERATOR_CODES)
        ]
        kinds = [BUILTIN[code] if 0 <= code < len(BUILTIN) else f"builtin operator {code}" for code in codes]
        self.graphs: list[Graph] = []
        tables = 0
        for entry in self.model.tables(_MODEL_SUBGRAPHS):
            self.graphs.append(Graph(entry, kinds))
            tables += len(self.graphs[-1].tensors) + len(self.graphs[-1].nodes)
            if tables > _MOST_TABLES:
                raise IndexError("more tables than a network has")
        self.buffers = self.model.tables(_MODEL_BUFFERS)

    def buffer(self, number: int) -> bytes:
        """The values that are stored with this number."""
        buffer = self.buffers[number]
        if not _follows_tables(buffer):
            return buffer.bytes(_BUFFER_DATA)
        start, size = (buffer.integer(field, "Q") for field in (_BUFFER_OFFSET, _BUFFER_SIZE))
        if start + size > len(self.data):
            raise IndexError("values end behind the file")
        return self.data[start : start + size]


def _follows_tables(buffer: _Table) -> bool:
    """Returns whether the values of a buffer follow the tables, as large files require."""
    return buffer.integer(_BUFFER_OFFSET, "Q") > 1


def boundary(file: File) -> tuple[list[Stored | None], list[Stored | None]]:
    """Describes every input and every output of the first graph; nothing for those that are stored as they are."""
    graph = file.graphs[0]
    inputs, outputs = ([graph.tensors[i].stored for i in numbers] for numbers in (graph.inputs, graph.outputs))
    return inputs, outputs


def operators(file: File) -> list[Operator]:
    """All of them."""
    result = []
    for graph in file.graphs:
        for node in graph.nodes:
            results = [graph.tensors[i] for i in node.results if i >= 0]
            flags = [bool(node.option(number)) if node.kind in _FLAGGED else False for number in (0, 1)]
            name = results[0].name if results else ""
            types = tuple(tensor.type for tensor in results)
            result.append(Operator(node.kind, name, types, (flags[0], flags[1])))
    return result


class Writer:
    """Writes another first graph in front of the bytes of a file, whose tables it refers to.

    References of the format lead forward, so that nothing of the old file has to be read.
    """

    def __init__(self, data: bytes) -> None:
        import flatbuffers

        # The old bytes keep their place, counted from the end, and with it their alignment.
        self.data = data + bytes(-len(data) % 16)
        self.builder = flatbuffers.Builder(len(self.data) + 65536)
        self.builder.Prep(16, 0)
        self.builder.CreateByteVector(self.data)
        # Buffers and kinds of operators that are appended to those of the file.
        self.values: list[bytes] = []
        self.kinds: list[str] = []

    def old(self, place: int) -> int:
        """A table or a vector of the file."""
        if not 0 <= place < len(self.data):
            raise IndexError("a table lies behind the file")
        return len(self.data) - place

    def references(self, entries: Sequence[int]) -> int:
        self.builder.StartVector(4, len(entries), 4)
        for entry in reversed(entries):
            self.builder.PrependUOffsetTRelative(entry)
        return int(self.builder.EndVector())

    def numbers(self, values: Sequence[int]) -> int:
        self.builder.StartVector(4, len(values), 4)
        for value in reversed(values):
            self.builder.PrependInt32(value)
        return int(self.builder.EndVector())

    def tensor(self, name: str, like: Tensor, kind: int, buffer: int = 0) -> int:
        """A tensor that has the shape of another one, and the values of a buffer; 0: none."""
        text = self.builder.CreateString(name)
        self.builder.StartObject(_TENSOR_RANKED + 1)
        self.builder.PrependUint8Slot(_TENSOR_TYPE, kind, 0)
        self.builder.PrependUint32Slot(_TENSOR_BUFFER, buffer, 0)
        self.builder.PrependUOffsetTRelativeSlot(_TENSOR_NAME, text, 0)
        for field in (_TENSOR_SHAPE, _TENSOR_SIGNATURE):
            self._refer(like.table, field)
        self.builder.PrependUint8Slot(_TENSOR_RANKED, like.table.integer(_TENSOR_RANKED, "B"), 0)
        return int(self.builder.EndObject())

    def _refer(self, table: _Table, field: int) -> None:
        """A field that leads to what it led to."""
        if place := table.target(field):
            self.builder.PrependUOffsetTRelativeSlot(field, self.old(place), 0)

    def node(self, node: Node) -> int:
        """An operator with the options that it had, and its operands and results."""
        vectors = {_OPERATOR_INPUTS: self.numbers(node.operands), _OPERATOR_OUTPUTS: self.numbers(node.results)}
        self.builder.StartObject(max(_OPERATOR_TABLES) + 1)
        for field, vector in vectors.items():
            self.builder.PrependUOffsetTRelativeSlot(field, vector, 0)
        for field in _OPERATOR_TABLES:
            self._refer(node.table, field)
        for field, code in _OPERATOR_NUMBERS.items():
            prepend = {"I": self.builder.PrependUint32Slot, "B": self.builder.PrependUint8Slot}
            prepend.get(code, self.builder.PrependInt8Slot)(field, node.table.integer(field, code), 0)
        return int(self.builder.EndObject())

    def add_buffer(self, file: File, values: bytes) -> int:
        """Returns the number of a buffer with these values."""
        self.values.append(values)
        return len(file.buffers) + len(self.values) - 1

    def integer(self, file: File, name: str, value: int) -> int:
        """A constant tensor of one element."""
        buffer = self.add_buffer(file, struct.pack("<i", value))
        text, shape = self.builder.CreateString(name), self.numbers([1])
        self.builder.StartObject(_TENSOR_RANKED + 1)
        self.builder.PrependUint8Slot(_TENSOR_TYPE, _INT32, 0)
        self.builder.PrependUint32Slot(_TENSOR_BUFFER, buffer, 0)
        for field, reference in ((_TENSOR_NAME, text), (_TENSOR_SHAPE, shape)):
            self.builder.PrependUOffsetTRelativeSlot(field, reference, 0)
        return int(self.builder.EndObject())

    def reducer(self, file: File, node: Node) -> int:
        """An operator that reduces its first operand along the axes of the second one, which stay as 1."""
        if node.kind not in self.kinds:
            self.kinds.append(node.kind)
        code = len(file.model.tables(_MODEL_OPERATOR_CODES)) + self.kinds.index(node.kind)
        vectors = {_OPERATOR_INPUTS: self.numbers(node.operands), _OPERATOR_OUTPUTS: self.numbers(node.results)}
        self.builder.StartObject(_REDUCER_KEEPS + 1)
        self.builder.PrependBoolSlot(_REDUCER_KEEPS, True, False)
        vectors[_OPERATOR_OPTIONS] = self.builder.EndObject()
        self.builder.StartObject(max(_OPERATOR_TABLES) + 1)
        for field, vector in vectors.items():
            self.builder.PrependUOffsetTRelativeSlot(field, vector, 0)
        self.builder.PrependUint32Slot(_OPERATOR_CODE, code, 0)
        self.builder.PrependUint8Slot(_OPERATOR_KIND, _REDUCER, 0)
        return int(self.builder.EndObject())

    def _codes(self, file: File) -> int:
        codes = [self.old(table.place) for table in file.model.tables(_MODEL_OPERATOR_CODES)]
        for kind in self.kinds:
            self.builder.StartObject(_CODE_BUILTIN + 1)
            self.builder.PrependInt8Slot(_CODE_DEPRECATED, BUILTIN.index(kind), 0)
            self.builder.PrependInt32Slot(_CODE_BUILTIN, BUILTIN.index(kind), 0)
            codes.append(int(self.builder.EndObject()))
        return self.references(codes)

    def _buffer(self, file: File, number: int, used: Collection[int]) -> int:
        """Values that lie at a place of the file, which is another one now, become those of a table."""
        buffer = file.buffers[number]
        if not _follows_tables(buffer):
            return self.old(buffer.place)
        return self._store(file.buffer(number) if number in used else b"")

    def _store(self, values: bytes) -> int:
        self.builder.Prep(16, len(values))
        vector = self.builder.CreateByteVector(values)
        self.builder.StartObject(_BUFFER_DATA + 1)
        self.builder.PrependUOffsetTRelativeSlot(_BUFFER_DATA, vector, 0)
        return int(self.builder.EndObject())

    def graph(
        self,
        like: Graph,
        tensors: Sequence[int],
        inputs: Sequence[int],
        outputs: Sequence[int],
        nodes: Sequence[int],
    ) -> int:
        """A graph that has these tables and the name of another one."""
        parts = {
            _GRAPH_TENSORS: self.references(tensors),
            _GRAPH_INPUTS: self.numbers(inputs),
            _GRAPH_OUTPUTS: self.numbers(outputs),
            _GRAPH_OPERATORS: self.references(nodes),
            _GRAPH_NAME: self.builder.CreateString(like.name),
        }
        self.builder.StartObject(_GRAPH_NAME + 1)
        for field, part in parts.items():
            self.builder.PrependUOffsetTRelativeSlot(field, part, 0)
        return int(self.builder.EndObject())

    def model(self, file: File, graphs: Sequence[int], used: Collection[int]) -> bytes:
        """The file that has these graphs, and whose tensors have the values of the buffers `used`.

        It has no signatures, which name tensors of the old graph.
        """
        subgraphs = self.references(graphs)
        stored = [self._buffer(file, number, used) for number in range(len(file.buffers))]
        buffers = self.references([*stored, *map(self._store, self.values)])
        codes = self._codes(file)
        self.builder.StartObject(_MODEL_BUFFERS + 1)
        self.builder.PrependUint32Slot(_MODEL_VERSION, file.model.integer(_MODEL_VERSION, "I"), 0)
        self.builder.PrependUOffsetTRelativeSlot(_MODEL_SUBGRAPHS, subgraphs, 0)
        self.builder.PrependUOffsetTRelativeSlot(_MODEL_OPERATOR_CODES, codes, 0)
        self.builder.PrependUOffsetTRelativeSlot(_MODEL_BUFFERS, buffers, 0)
        self.builder.Finish(self.builder.EndObject(), b"TFL3")
        return bytes(self.builder.Output())
