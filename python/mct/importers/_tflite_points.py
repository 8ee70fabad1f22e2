# SPDX-License-Identifier: Apache-2.0
"""Cuts a quantized `.tflite` file at its points, so that its converter sees a float network and nothing of integers.

Every quantized activation becomes an output of the graph, which its operator makes of real numbers, and an input,
which its users read; quantized constants become inputs. The file keeps its bytes: new tables lie in front of them,
and refer to those that stay as they are.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

import numpy as np

from mct.errors import Error
from mct.importers import _flatbuffer, _points
from mct.importers._flatbuffer import Graph, Tensor
from mct.importers._points import Parameters, Quantizer

# Types of the schema that have a scale: bits, whether they are signed, how they are read.
_FLOAT32 = 0
_INTEGERS = {9: (8, True), 3: (8, False), 7: (16, True), 17: (4, True), 20: (4, False), 19: (2, True)}
# Bits of biases, constants without a point of their own.
_WIDE = {2: 32, 4: 64}
_STORED = {9: "i1", 3: "u1", 7: "<i2", 2: "<i4", 4: "<i8"}

# They give the values of an operand other places, and no others: on one grid, the point of the operand is theirs.
_MOVES = frozenset(
    """BATCH_TO_SPACE_ND BROADCAST_TO CONCATENATION DEPTH_TO_SPACE EXPAND_DIMS GATHER GATHER_ND MAX_POOL_2D MIRROR_PAD
    PACK PAD RESHAPE REVERSE_SEQUENCE REVERSE_V2 SLICE SPACE_TO_BATCH_ND SPACE_TO_DEPTH SPLIT SPLIT_V SQUEEZE
    STRIDED_SLICE TILE TRANSPOSE UNPACK""".split()  # noqa: SIM905
)
# Index of the field in their options that bounds the result; a bound need not be on the grid.
_BOUNDED = {"MAX_POOL_2D": 5, "CONCATENATION": 1}
# Index of the field in their options that names the activation; the first field is the padding.
_FUSED = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 4}
_VALID = 1
# Index of the field in the options of VAR_HANDLE by which graphs share a variable.
_SHARED_NAME = 1
# Their results depend on how a value is stored.
_OF_CODES = frozenset({"BITCAST", "BITWISE_XOR", "CAST", "RIGHT_SHIFT"})
_REMEDY = ('quantized="integer" imports the integer operators of the file as they are, without points',)


class Cuts(NamedTuple):
    """Inputs and outputs that are added to those of a graph.

    arguments: records of inputs, by their numbers.
    results:   keys of the points that quantize outputs, by their numbers.
    free:      layers with quantized weights whose results are real numbers.
    """

    arguments: dict[int, str]
    results: dict[int, str]
    free: list[str]


def cut(data: bytes, name: str) -> tuple[bytes, Cuts] | None:
    """The file without quantized tensors; nothing where it has none. `name` is what messages call it.

    Error names the tensor or the operator that cannot become one of a float network. struct.error, IndexError or
    ValueError for a damaged file.
    """
    file = _flatbuffer.File(data)
    simulates = any(node.kind == "FAKE_QUANT" for node in file.graphs[0].nodes)
    if not simulates and not any(_is_quantized(tensor) for graph in file.graphs for tensor in graph.tensors):
        return None
    for graph in file.graphs[1:]:
        tensor = next(filter(_is_quantized, graph.tensors), None)
        if tensor and not _sets_variables(graph):
            raise _refused(name, tensor.name, "a quantized tensor inside of a branch or a loop has no point")
    cutter = _Cutter(file, name)
    cutter.check_variables()
    cutter.run()
    if not cutter.arguments:
        return None
    return cutter.write(), Cuts(cutter.arguments, cutter.results, cutter.free)


def _is_quantized(tensor: Tensor) -> bool:
    return bool(tensor.scales or tensor.details) and (tensor.type in _INTEGERS or tensor.type in _WIDE)


def _real(codes: np.ndarray, parameters: Parameters) -> np.ndarray:
    """The numbers that are nearest to those that the codes stand for, in float32."""
    extents = [-1 if (axis,) == parameters.axes else 1 for axis in range(codes.ndim)]
    scale, zero = (np.asarray(values) for values in (parameters.scale, parameters.zero_point))
    scale, zero = (values.reshape(extents) if values.size > 1 else values for values in (scale, zero))
    real: np.ndarray = (codes.astype(np.int64) - zero) * scale
    return real.astype(np.dtype("<f4"))


def _grid(tensor: Tensor) -> tuple[int, tuple[float, ...], tuple[int, ...]]:
    return tensor.type, tensor.scales, tensor.zero_points


def _sets_variables(graph: Graph) -> bool:
    """Returns whether a graph only gives variables constants, as the one does that runs before the first run."""
    return all(node.kind in ("VAR_HANDLE", "ASSIGN_VARIABLE") for node in graph.nodes)


def _summed_axis(
    node: _flatbuffer.Node, image: Sequence[int], kernel: Sequence[int], result: Sequence[int]
) -> int | None:
    """The axis that a window of a convolution covers, all of it and nothing else, and moves along the others."""
    if not len(image) == len(kernel) == len(result) == 4:
        return None
    if node.kind == "CONV_2D":
        is_sum = tuple(kernel) == (1, 1, 1, image[3]) and tuple(result) == (*image[:3], 1)
        return 3 if is_sum else None
    is_sum = tuple(kernel) == (1, image[1], 1, image[3]) and tuple(result) == (image[0], 1, *image[2:])
    return 1 if is_sum and node.option(0) == _VALID else None


class _Simulated(NamedTuple):
    """The quantizer that FAKE_QUANT is, and the bounds of its levels."""

    quantizer: Quantizer
    low: float
    high: float


def _simulated(node: _flatbuffer.Node) -> _Simulated | None:
    """As its kernel computes it, in float32: the bounds move so that zero is a level, and halves go up. Nothing where
    no quantizer does so."""
    low, high = np.float32(node.number(0)), np.float32(node.number(1))
    bits, lowest = node.option(2), node.option(3)
    if not (2 <= bits <= 16 and -np.inf < low <= 0 <= high < np.inf and low < high and lowest in (0, 1)):
        return None
    highest = np.float32((1 << bits) - 1)
    scale = (high - low) / (highest - np.float32(lowest))
    zero = int(np.clip(np.floor(lowest - low / scale + np.float32(0.5)), lowest, highest))
    grid = f"scale = [{float(scale):.17e}], zero_point = [{zero}], bits = {bits}, rounding = half_up"
    return _Simulated(
        Quantizer(f"#tpc.uniform<{grid}>"), float((lowest - zero) * scale), float((highest - zero) * scale)
    )


def _refused(name: str, tensor: str, message: str) -> Error:
    return Error(message, f'{name}: "{tensor}"', _REMEDY)


class _Cutter:
    def __init__(self, file: _flatbuffer.File, name: str) -> None:
        self.file, self.name = file, name
        self.graph: Graph = file.graphs[0]
        self.arguments: dict[int, str] = {}
        self.results: dict[int, str] = {}
        self.free: list[str] = []
        # Tensors of the cut graph that stand for constants.
        self.constants: set[int] = set()
        # Tensors that the cut graph has in addition to those of the file: the tensor whose shape each has, and its
        # name.
        self.added: list[tuple[Tensor, str]] = []
        self.inputs, self.outputs = list(self.graph.inputs), list(self.graph.outputs)
        # Index of the tensor that is read instead of another.
        self.instead: dict[int, int] = {}
        self.operators: list[_flatbuffer.Node] = []
        # Axis of each operator, by its number, that sums up along one.
        self.axes: dict[int, int] = {}

    def run(self) -> None:
        made = {result for node in self.graph.nodes for result in node.results}
        for tensor in self.graph.inputs:
            self._quantize(tensor, tensor)
        for given in self.graph.nodes:
            self._check(given)
            node = self._reduction(given, made) or given
            for operand in node.operands:
                if operand >= 0 and operand not in made and operand not in self.graph.inputs:
                    self._make_argument(operand)
            operands = [self.instead.get(operand, operand) for operand in node.operands]
            if node.kind == "FAKE_QUANT" and self._simulate(node, operands[0], operands[0] in made):
                continue
            if self._is_conversion(node):
                # One point after another: what was quantized is quantized again.
                self.instead[node.results[0]] = operands[0]
                self._quantize(node.results[0], operands[0])
                continue
            self.operators.append(node._replace(operands=operands))
            results = [self._tensor(result) for result in node.results]
            if self.constants.intersection(operands) and results and not _is_quantized(results[0]):
                self.free.append(results[0].name)
            if not self._moves(node):
                for result in node.results:
                    self._quantize(result, result)
        for number, output in enumerate(self.graph.outputs):
            self.outputs[number] = self.instead.get(output, output)

    def check_variables(self) -> None:
        """Checks that all writes and reads of a variable agree about the grid of its codes."""
        grids: dict[str, Tensor] = {}
        for graph in self.file.graphs:
            names = {
                node.results[0]: node.option_text(_SHARED_NAME) for node in graph.nodes if node.kind == "VAR_HANDLE"
            }
            for node in graph.nodes:
                if node.kind not in ("READ_VARIABLE", "ASSIGN_VARIABLE") or node.operands[0] not in names:
                    continue
                tensor = graph.tensors[(*node.operands, *node.results)[1]]
                variable = names[node.operands[0]]
                first = grids.setdefault(variable, tensor)
                if _grid(first) != _grid(tensor):
                    message = f'the variable "{variable}" has another scale or zero point in "{first.name}"'
                    raise _refused(self.name, tensor.name, message)

    def _reduction(self, node: _flatbuffer.Node, made: Collection[int]) -> _flatbuffer.Node | None:
        """The mean or the sum that a convolution with one code everywhere in its kernel is, as exporters write them."""
        if node.kind not in _FUSED or len(node.operands) < 3 or node.option(_FUSED[node.kind]):
            return None
        image, kernel, bias, result = map(self._tensor, (*node.operands[:3], node.results[0]))
        constants = [index for index in node.operands[1:3] if index not in made and index not in self.graph.inputs]
        if len(constants) < 2 or kernel.type not in _INTEGERS or not all(map(_is_quantized, (image, kernel, bias))):
            return None
        axis = _summed_axis(node, image.shape, kernel.shape, result.shape)
        if axis is None or len(kernel.scales) != 1 or any(kernel.zero_points) or kernel.details or kernel.sparse:
            return None
        codes, offsets = self._codes(kernel), self._codes(bias)
        # An offset of 1 lets halves go up.
        if (codes != codes.flat[0]).any() or np.abs(offsets.astype(np.int64)).max(initial=0) > 1:
            return None
        weight = float(codes.flat[0]) * kernel.scales[0]
        for kind, expected in (("MEAN", 1 / image.shape[axis]), ("SUM", 1.0)):
            if abs(weight / expected - 1) < 1e-6:
                self.axes[len(self.operators)] = axis
                return node._replace(kind=kind, operands=node.operands[:1])
        return None

    def _tensor(self, index: int) -> Tensor:
        return self.graph.tensors[index]

    def _check(self, node: _flatbuffer.Node) -> None:
        tensors = [self._tensor(index) for index in (*node.operands, *node.results) if index >= 0]
        quantized = [tensor for tensor in tensors if _is_quantized(tensor)]
        if quantized and node.kind in _OF_CODES:
            message = f"{node.kind} reads or makes codes, whose real values a float network has instead"
            raise _refused(self.name, self._tensor(node.results[0]).name, message)

    def _is_conversion(self, node: _flatbuffer.Node) -> bool:
        if node.kind == "QUANTIZE":
            return _is_quantized(self._tensor(node.results[0]))
        return node.kind == "DEQUANTIZE" and _is_quantized(self._tensor(node.operands[0]))

    def _moves(self, node: _flatbuffer.Node) -> bool:
        if node.kind not in _MOVES or (node.kind in _BOUNDED and node.option(_BOUNDED[node.kind])):
            return False
        grids = {
            _grid(tensor)
            for index in (*node.operands, *node.results)
            if index >= 0 and _is_quantized(tensor := self._tensor(index))
        }
        return len(grids) == 1

    def _add(self, like: Tensor, name: str) -> int:
        self.added.append((like, name))
        self.inputs.append(len(self.graph.tensors) + len(self.added) - 1)
        return self.inputs[-1]

    def _quantize(self, index: int, source: int) -> None:
        """Cuts the graph at a tensor, whose real values are those of `source`."""
        tensor = self._tensor(index)
        if not _is_quantized(tensor):
            return
        if tensor.type in _WIDE:
            raise _refused(self.name, tensor.name, f"an activation of {_WIDE[tensor.type]} bits has no point")
        if len(tensor.scales) > 1:
            message = f"an activation has one scale for all of its channels, not {len(tensor.scales)}"
            raise _refused(self.name, tensor.name, message)
        self._cut(index, source, self._parameters(tensor))

    def _simulate(self, node: _flatbuffer.Node, source: int, is_made: bool) -> bool:
        """Makes a point of FAKE_QUANT, or leaves it as it is: that of an activation without its lowest code."""
        found = _simulated(node)
        tensor = self._tensor(node.operands[0])
        if not found or tensor.type != _FLOAT32:
            return False
        stored = self.file.buffer(tensor.buffer)
        is_constant = not is_made and source == node.operands[0] and source not in self.graph.inputs
        if is_constant and len(stored) == 4 * math.prod(tensor.shape):
            values = np.frombuffer(stored, "<f4").reshape(tensor.shape).clip(found.low, found.high)
            self.arguments[len(self.inputs)] = _points.constant(values, found.quantizer)
            self.instead[node.results[0]] = self._add(tensor, tensor.name)
            return True
        if is_constant or node.option(3):
            return False
        self._cut(node.results[0], source, found.quantizer)
        return True

    def _cut(self, index: int, source: int, parameters: Parameters | Quantizer) -> None:
        """Makes a point of `source`, whose result is read instead of a tensor."""
        key = f"point{len(self.results)}"
        self.arguments[len(self.inputs)] = _points.point(key, parameters)
        self.results[len(self.outputs)] = key
        self.outputs.append(source)
        # The file may write the shapes of operand and result of a conversion in two ways.
        place = source - len(self.graph.tensors)
        self.instead[index] = self._add(self.added[place][0] if place >= 0 else self._tensor(source), key)

    def _make_argument(self, index: int) -> None:
        """Takes a quantized constant out of the graph."""
        tensor = self._tensor(index)
        if index in self.instead or not _is_quantized(tensor):
            return
        if tensor.variable:
            raise _refused(self.name, tensor.name, "a quantized state of the network has no point")
        if tensor.sparse:
            raise _refused(self.name, tensor.name, "weights that are stored as sparse ones cannot be read")
        parameters = self._parameters(tensor)
        codes = self._codes(tensor)
        narrow = self._narrow(codes, parameters) if parameters.bits > 32 else (codes, parameters)
        self.arguments[len(self.inputs)] = _points.constant(*narrow)
        self.instead[index] = self._add(tensor, tensor.name)
        self.constants.add(self.instead[index])

    def _parameters(self, tensor: Tensor) -> Parameters:
        if tensor.details:
            kind = {2: "in blocks", 3: "along several axes"}.get(tensor.details, "in a way of its own")
            raise _refused(self.name, tensor.name, f"a tensor that is quantized {kind} has no point")
        scales, zero_points, axis = tensor.scales, tensor.zero_points, tensor.axis
        wrong = [scale for scale in scales if not (math.isfinite(scale) and scale >= 0)]
        if wrong or not any(scales):
            raise _refused(self.name, tensor.name, f"the scale {(wrong or scales)[0]:g} is not a positive number")
        if len(scales) > 1 and not (0 <= axis < len(tensor.shape) and tensor.shape[axis] == len(scales)):
            extents = "x".join(map(str, tensor.shape))
            message = f"{len(scales)} scales do not fit axis {axis} of {extents}"
            raise _refused(self.name, tensor.name, message)
        if len(zero_points) not in (0, 1, len(scales)):
            message = f"{len(zero_points)} zero points do not fit {len(scales)} scales"
            raise _refused(self.name, tensor.name, message)
        bits, is_signed = _INTEGERS.get(tensor.type) or (_WIDE[tensor.type], True)
        low, high = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        if outside := [zero for zero in zero_points if not low <= zero <= high]:
            message = f"the zero point {outside[0]} is not a number of {bits} bits"
            raise _refused(self.name, tensor.name, message)
        # All codes of a channel of scale 0 are 0, and so they are on every grid.
        smallest = min(scale for scale in scales if scale > 0)
        scales = tuple(scale or smallest for scale in scales)
        return Parameters(scales, zero_points or (0,), bits, is_signed, (axis,) if len(scales) > 1 else ())

    @staticmethod
    def _narrow(codes: np.ndarray, parameters: Parameters) -> tuple[np.ndarray, Parameters | None]:
        """Codes of 64 bits, which are those of biases, as codes of 32 bits, else as the numbers nearest to them."""
        if np.abs(codes).max(initial=0) < 1 << 31:
            return codes.astype(np.int32), parameters._replace(bits=32)
        return _real(codes, parameters), None

    def _codes(self, tensor: Tensor) -> np.ndarray:
        """One for each element, in the type that holds them."""
        stored = self.file.buffer(tensor.buffer)
        count = math.prod(tensor.shape)
        bits, is_signed = _INTEGERS.get(tensor.type, (0, True))
        if bits and bits < 8:
            packed = np.frombuffer(stored, np.uint8)
            # The first one of a byte has its lowest bits.
            fields = (packed[:, None] >> np.arange(0, 8, bits, dtype=np.uint8)) & ((1 << bits) - 1)
            codes = fields.reshape(-1).astype(np.int8)
            if is_signed:
                codes = np.where(codes >= 1 << (bits - 1), codes - (1 << bits), codes).astype(np.int8)
            needed = -(-count * bits // 8)
        else:
            dtype: np.dtype[Any] = np.dtype(_STORED[tensor.type])
            codes = np.frombuffer(stored, dtype, len(stored) // dtype.itemsize)
            needed = count * dtype.itemsize
        if len(stored) != needed:
            raise _refused(self.name, tensor.name, f"{needed} bytes of values are expected, {len(stored)} are stored")
        codes = codes[:count].reshape(tensor.shape)
        if 0 in tensor.scales:
            scales = np.asarray(tensor.scales).reshape([-1 if axis == tensor.axis else 1 for axis in range(codes.ndim)])
            zero = np.asarray(tensor.zero_points or (0,)).reshape(scales.shape if len(tensor.zero_points) > 1 else ())
            codes = np.where(scales == 0, zero, codes).astype(codes.dtype)
        return codes

    # ------------------------------------------------------------------------------------------------------------------
    # The file
    # ------------------------------------------------------------------------------------------------------------------

    def write(self) -> bytes:
        writer = _flatbuffer.Writer(self.file.data)
        tensors = [
            writer.tensor(tensor.name, tensor, _FLOAT32) if _is_quantized(tensor) else writer.old(tensor.table.place)
            for tensor in self.graph.tensors
        ]
        tensors += [writer.tensor(name, like, _FLOAT32) for like, name in self.added]
        nodes = []
        for number, node in enumerate(self.operators):
            if number in self.axes:
                tensors.append(writer.integer(self.file, f"axis{number}", self.axes[number]))
                nodes.append(writer.reducer(self.file, node._replace(operands=[*node.operands, len(tensors) - 1])))
            else:
                nodes.append(writer.node(node))
        graphs = self.file.graphs
        used = {tensor.buffer for graph in graphs for tensor in graph.tensors if not _is_quantized(tensor)}
        first = writer.graph(self.graph, tensors, self.inputs, self.outputs, nodes)
        rest = [self._write_initial(writer, graph) for graph in graphs[1:]]
        return writer.model(self.file, [first, *rest], used)

    def _write_initial(self, writer: _flatbuffer.Writer, graph: Graph) -> int:
        """Writes a graph that sets variables, if their codes have to become real numbers."""
        if not any(map(_is_quantized, graph.tensors)):
            return writer.old(graph.place)
        tensors = []
        for tensor in graph.tensors:
            if _is_quantized(tensor):
                values = _real(self._codes(tensor), self._parameters(tensor))
                tensors.append(
                    writer.tensor(tensor.name, tensor, _FLOAT32, writer.add_buffer(self.file, values.tobytes()))
                )
            else:
                tensors.append(writer.old(tensor.table.place))
        nodes = [writer.node(node) for node in graph.nodes]
        return writer.graph(graph, tensors, graph.inputs, graph.outputs, nodes)
