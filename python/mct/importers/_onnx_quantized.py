# SPDX-License-Identifier: Apache-2.0
"""Reads an ONNX graph that is quantized already: the float graph, cut at its quantizers (see `_points`).

QuantizeLinear, and what stands for it, becomes a point, and DequantizeLinear vanishes; stored codes become constants of
the compiler. Operators on codes (`_onnx_operators`) become those on real numbers between such points.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from mct.importers import _onnx_halves, _onnx_large, _points
from mct.importers._child import Refused, warn
from mct.importers._onnx_recurrent import name_of, subgraphs
from mct.importers._points import Parameters, Quantizer

# Bits and signs of the types of codes.
CODES = {
    TensorProto.INT8: (8, True),
    TensorProto.UINT8: (8, False),
    TensorProto.INT16: (16, True),
    TensorProto.UINT16: (16, False),
    TensorProto.INT32: (32, True),
    TensorProto.UINT4: (4, False),
    TensorProto.INT4: (4, True),
} | {getattr(TensorProto, name): (2, name == "INT2") for name in ("INT2", "UINT2") if hasattr(TensorProto, name)}
# Operators of the standard that only move elements, so that codes are as good to them as what they stand for.
_MOVING = frozenset(
    [
        "DepthToSpace",
        "Expand",
        "Flatten",
        "Gather",
        "GatherElements",
        "GatherND",
        "Identity",
        "MaxPool",
        "Reshape",
        "Slice",
        "SpaceToDepth",
        "Split",
        "Squeeze",
        "Tile",
        "Transpose",
        "Unsqueeze",
        "Concat",
    ]
)
# Each of their elements has a scale of its own in a module.
MOST_IN_BLOCKS = 1 << 22
_REMEDY = "give the float network that it was made of, or quantize it with parameters per tensor or per channel"


class Codes(NamedTuple):
    """Codes that are computed, or stored: the tensor of the real numbers that they stand for, and how they do."""

    real: str
    parameters: Parameters
    # Shape of a constant; None for an activation.
    shape: tuple[int, ...] | None = None


class Point(NamedTuple):
    """The tensor that is quantized, and the one that takes its place for its users."""

    source: str
    result: str
    parameters: Parameters | Quantizer


class Cut(NamedTuple):
    """Inputs and outputs that follow those of the graph of before: points, then constants."""

    points: list[Point]
    constants: dict[str, str]
    inputs: int
    outputs: int

    def record(self, text: str) -> str:
        """The module with the records of what was cut; arguments and results are those of the graph."""
        arguments = {
            self.inputs + number: _points.point(str(number), point.parameters)
            for number, point in enumerate(self.points)
        }
        arguments |= {
            self.inputs + len(self.points) + number: record for number, record in enumerate(self.constants.values())
        }
        results = {self.outputs + number: str(number) for number in range(len(self.points))}
        return _points.write_records(text, arguments, results)


def refuse(node: onnx.NodeProto, what: str, *notes: str) -> Refused:
    """The error of a node that cannot be read."""
    name = name_of(node)
    return Refused(f"{node.op_type} '{name}' {what}", notes or (_REMEDY,), layer=name)


class Reader:
    """Rewrites the nodes of a graph one by one. `nodes`: those of the float graph so far."""

    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.opset = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 17)
        self.stored = {tensor.name: tensor for tensor in model.graph.initializer}
        self.makers = {name: node for node in model.graph.node for name in node.output if name}
        self.readers: dict[str, list[onnx.NodeProto]] = {}
        for node in model.graph.node:
            for name in node.input:
                self.readers.setdefault(name, []).append(node)
        self.inputs = {value.name: value for value in model.graph.input if value.name not in self.stored}
        self.names = {*self.makers, *self.stored, *self.inputs, *self.readers}
        self.nodes: list[onnx.NodeProto] = []
        self.codes: dict[str, Codes] = {}
        # Quantizer of each tensor that is the result of a point: quantizing it again in the same way has no effect.
        self.quantized: dict[str, Parameters | Quantizer] = {}
        self.points: dict[tuple[str, Parameters | Quantizer], Point] = {}
        self.constants: dict[str, str] = {}
        # The types and shapes of arguments that are constants.
        self.arguments: list[onnx.ValueInfoProto] = []
        self.skipped: set[int] = set()
        # Codes that are made at run time: their real numbers and the tensor of their scale.
        self.dynamic: dict[str, tuple[str, str]] = {}
        # Integers that are made at run time and added to sums: the real numbers, and the tensor they are divided by.
        self.biases: dict[str, tuple[str, str]] = {}
        # Layers that read such codes.
        self.free: list[str] = []
        self.values: dict[str, np.ndarray[Any, Any] | None] = {}

    # Constants.

    def constant(self, name: str) -> np.ndarray[Any, Any] | None:
        """The elements of a tensor that depends on no input; nothing for others."""
        if name in self.values:
            return self.values[name]
        value: np.ndarray[Any, Any] | None = None
        if name in self.stored:
            try:
                value = numpy_helper.to_array(self.stored[name])
            except Exception as problem:
                what = str(problem).partition("\n")[0][:200]
                raise Refused(f"the constant '{name}' is damaged ({what})", layer=name) from problem
        elif name in self.makers and (self.makers[name].input or self.makers[name].op_type == "Constant"):
            node = self.makers[name]
            inputs = {each: self.constant(each) for each in node.input if each}
            if all(each is not None for each in inputs.values()):
                value = self._evaluate(node, name, inputs)
        self.values[name] = value
        return value

    def _evaluate(self, node: onnx.NodeProto, name: str, inputs: dict[str, Any]) -> np.ndarray[Any, Any] | None:
        if node.domain not in ("", "ai.onnx") or is_quantizing(node) or any(True for _ in subgraphs(node)):
            return None
        graph = helper.make_graph(
            [node],
            "constant",
            [
                helper.make_tensor_value_info(each, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
                for each, v in inputs.items()
            ],
            [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None)],
        )
        model = helper.make_model(graph, opset_imports=self.model.opset_import, ir_version=self.model.ir_version)
        try:
            results: Any = ReferenceEvaluator(model).run(None, inputs)
        except Exception:
            return None  # the network computes it
        return np.asarray(results[0])

    def type_of(self, name: str) -> int:
        """The type of a constant, an input or codes; UNDEFINED for others."""
        if name in self.stored:
            return int(self.stored[name].data_type)
        if name in self.inputs:
            return int(self.inputs[name].type.tensor_type.elem_type)
        value = self.constant(name)
        return TensorProto.UNDEFINED if value is None else int(helper.np_dtype_to_tensor_dtype(value.dtype))

    # Parameters.

    def parameters(
        self,
        node: onnx.NodeProto,
        scale: str,
        zero_point: str,
        type: int,
        shape: Sequence[int] | None = None,
        axis: int = 1,
        block: int = 0,
    ) -> Parameters:
        """`type`: of the codes; `shape`: of a constant, None of an activation."""
        scales = self.constant(scale) if scale else None
        if not scale:
            raise refuse(node, "has no scale", "check the file with onnx.checker")
        if scales is None:
            raise refuse(node, f"has a scale that is computed at run time, '{scale}'")
        if scales.dtype != np.float32:
            raise refuse(node, f"has a scale of {scales.dtype}, not of float32", "store scales as float32")
        zero_points = self.constant(zero_point) if zero_point else np.zeros(1, np.int64)
        if zero_points is None:
            raise refuse(node, f"has a zero point that is computed at run time, '{zero_point}'")
        if type not in CODES:
            raise refuse(node, f"has codes of type {TensorProto.DataType.Name(type)}, which no grid of integers has")
        bits, signed = CODES[type]
        if zero_points.dtype.kind in "fcSUO":
            raise refuse(node, f"has a zero point of {zero_points.dtype}, not of integers")
        zero_points = zero_points.astype(np.int64)
        axes, scales = self._axes(node, scales, shape, axis, block)
        if zero_points.size not in (1, scales.size):
            _, zero_points = self._axes(node, zero_points, shape, axis, block)
        if zero_points.size not in (1, scales.size):
            raise refuse(node, f"has {zero_points.size} zero points for {scales.size} scales")
        if not (np.isfinite(scales).all() and (scales > 0).all()):
            wrong = scales[~(np.isfinite(scales) & (scales > 0))][0]
            raise refuse(node, f"has the scale {wrong}, which is not positive and finite")
        return Parameters(tuple(map(float, scales.ravel())), tuple(map(int, zero_points.ravel())), bits, signed, axes)

    def _axes(
        self, node: onnx.NodeProto, values: np.ndarray[Any, Any], shape: Sequence[int] | None, axis: int, block: int
    ) -> tuple[tuple[int, ...], np.ndarray[Any, Any]]:
        """The axes of the channels that these values are of, and the values."""
        if values.size and (values == values.ravel()[0]).all() and (values.size == 1 or shape is None):
            return (), values.ravel()[:1]
        if shape is None:
            raise refuse(
                node,
                f"quantizes an activation with {values.size} scales or zero points",
                "an activation has one scale: quantize it per tensor",
            )
        axis += len(shape) if axis < 0 else 0
        if not 0 <= axis < len(shape):
            raise refuse(node, f"has the axis {axis} of a tensor of {len(shape)} dimensions")
        if values.ndim <= 1 and not block:
            if values.size != shape[axis]:
                raise refuse(node, f"has {values.size} scales for {shape[axis]} channels along axis {axis}")
            return (axis,), values
        # Every element of an axis of blocks is a channel, which has the parameters of its block; that of one block is
        # no channel. The other axes are those of channels.
        if block > 0 and values.ndim == len(shape) and values.shape[axis] == -(-shape[axis] // block) > 1:
            if math.prod(shape) > MOST_IN_BLOCKS:
                what = f"has a scale for every {block} of {math.prod(shape)} elements, and constants in blocks"
                remedy = "quantize it with a scale for each channel"
                raise refuse(node, f"{what} have at most {MOST_IN_BLOCKS} here", remedy)
            values = np.repeat(values, block, axis).take(range(shape[axis]), axis)
        if values.ndim != len(shape) or any(
            extent not in (1, whole) for extent, whole in zip(values.shape, shape, strict=False)
        ):
            raise refuse(
                node,
                f"has scales of shape {values.shape} for {tuple(shape)} in blocks of {block} along axis {axis}",
                "scales have the shape of what they scale, and one element for each block along its axis",
            )
        return tuple(i for i, extent in enumerate(values.shape) if extent != 1), values.ravel()

    # Real numbers and codes.

    def fresh(self, wanted: str) -> str:
        """A name that no tensor has."""
        name, number = wanted, 1
        while name in self.names:
            name, number = f"{wanted}_{number}", number + 1
        self.names.add(name)
        return name

    def emit(self, kind: str, name: str, inputs: Sequence[str], output: str, **attributes: Any) -> str:
        self.nodes.append(helper.make_node(kind, inputs, [output], name, **attributes))
        return output

    def stored_real(self, name: str, elements: np.ndarray[Any, Any], parameters: Parameters | Quantizer | None) -> str:
        """The argument that is a constant of the compiler."""
        argument = self.fresh(f"{name}/real")
        self.constants[argument] = _points.constant(elements, parameters)
        self.arguments.append(helper.make_tensor_value_info(argument, TensorProto.FLOAT, elements.shape))
        return argument

    def add_point(self, node: onnx.NodeProto, source: str, parameters: Parameters | Quantizer) -> str:
        """The result of a point of `source`; that of an equal one where there is one."""
        if self.quantized.get(source) == parameters:
            return source
        known = self.points.get((source, parameters))
        if known is None:
            known = Point(source, self.fresh(f"{name_of(node)}/point"), parameters)
            self.points[source, parameters] = known
            # The graph computes it until it is cut.
            self.emit("Identity", known.result, [source], known.result)
            self.quantized[known.result] = parameters
        return known.result

    def real(self, node: onnx.NodeProto, name: str, scale: str, zero_point: str, axis: int = 1, block: int = 0) -> str:
        """The tensor of the real numbers that the codes `name` stand for, read with this scale and zero point."""
        if name in self.codes:
            made = self.codes[name].parameters
            shape = self.codes[name].shape
            parameters = self.parameters(node, scale, zero_point, type_of_codes(made), shape, axis, block)
            if parameters != made:
                raise refuse(
                    node,
                    f"reads the codes '{name}' as {describe(parameters)}, which were made as {describe(made)}",
                    "give both the same scale and zero point",
                )
            return self.codes[name].real
        elements = self.constant(name)
        type = self.type_of(name)
        if elements is not None:
            parameters = self.parameters(node, scale, zero_point, type, elements.shape, axis, block)
            return self.stored_real(name, elements.astype(np.int64), parameters)
        if name in self.inputs:
            parameters = self.parameters(node, scale, zero_point, type)
            self.inputs[name].type.tensor_type.elem_type = TensorProto.FLOAT
            warn(f"input '{name}' has codes in the file ({describe(parameters)}); here it takes real numbers")
            self.codes[name] = Codes(self.add_point(node, name, parameters), parameters)
            return self.codes[name].real
        raise refuse(node, f"reads the codes '{name}', which no quantizer makes")

    def output(self, node: onnx.NodeProto, real: str, name: str, scale: str, zero_point: str) -> None:
        """Makes the codes `name` of real numbers."""
        type = self.type_of(zero_point) if zero_point else TensorProto.UINT8
        parameters = self.parameters(node, scale, zero_point, type)
        self.codes[name] = Codes(self.add_point(node, real, parameters), parameters)

    def shift(self, node: onnx.NodeProto, real: str, parameters: Parameters) -> tuple[str, Parameters]:
        """Returns what a node quantizes, and its parameters: another zero point of who reads it adds whole steps."""
        read = self._zero_points_read(node.output[0])
        if len(read) != 1 or read == set(parameters.zero_point):
            return real, parameters
        steps = parameters.zero_point[0] - min(read)
        number = self.fresh(f"{name_of(node)}/shift")
        value = np.array(steps * parameters.scale[0], np.float32)
        self.model.graph.initializer.append(numpy_helper.from_array(value, number))
        sum = self.emit("Add", number, [real, number], self.fresh(f"{name_of(node)}/shifted"))
        return sum, parameters._replace(zero_point=tuple(read))

    def _zero_points_read(self, name: str) -> set[int]:
        """The zero points that codes are dequantized with, also once they are moved; none if not all are known."""
        found: set[int] = set()
        for node in self.readers.get(name, []):
            if node.op_type == "DequantizeLinear":
                zero_point = self.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else np.zeros(1)
                read = set() if zero_point is None else set(map(int, zero_point.ravel()))
            elif node.op_type in {*_MOVING, "Clip"} and node.input[0] == name:
                read = self._zero_points_read(node.output[0])
            else:
                read = set()
            if not read:
                return set()
            found |= read
        return found

    # Nodes.

    def read(self, handlers: dict[str, Callable[[Reader, onnx.NodeProto], None]]) -> None:
        """Rewrites all nodes; `handlers`: of operators by their names."""
        for node in self.model.graph.node:
            if id(node) in self.skipped:
                continue
            try:
                for graph in subgraphs(node):
                    self._check_inner(node, graph)
                if node.output and self._is_constant(node):
                    continue
                if handler := handlers.get(node.op_type):
                    handler(self, node)
                elif any(name in self.codes or self._is_stored_table(node, name) for name in node.input):
                    self._move(node)
                else:
                    self.nodes.append(node)
            except Refused:
                raise
            except Exception as problem:
                # Operands, attributes or elements that the operator does not have.
                what = f"{type(problem).__name__}: {problem}".splitlines()[0][:200]
                raise refuse(node, f"is damaged ({what})", "check the file with onnx.checker") from problem
        self._finish_outputs()

    def _is_constant(self, node: onnx.NodeProto) -> bool:
        """Keeps constants as initializers, so that they can be read from there."""
        value = self.constant(node.output[0]) if len(node.output) == 1 else None
        if value is None:
            return False
        if node.output[0] not in self.stored:
            tensor = numpy_helper.from_array(value, node.output[0])
            self.stored[node.output[0]] = tensor
            self.model.graph.initializer.append(tensor)
        return True

    def _check_inner(self, node: onnx.NodeProto, graph: onnx.GraphProto) -> None:
        for inner in graph.node:
            if is_quantizing(inner) or any(name in self.codes for name in inner.input):
                raise Refused(
                    f"{inner.op_type} '{name_of(inner)}' quantizes inside of {node.op_type} '{name_of(node)}'",
                    ["write loops and branches out before quantization"],
                    layer=name_of(inner),
                )
            for deeper in subgraphs(inner):
                self._check_inner(inner, deeper)

    def _is_stored_table(self, node: onnx.NodeProto, name: str) -> bool:
        """Reads constant codes that a node moves, such as those of an embedding, as their users read what it moves."""
        if node.op_type not in _MOVING or (name != node.input[0] and node.op_type != "Concat"):
            return False
        elements = self.constant(name)
        if elements is None or self.type_of(name) not in CODES:
            return False
        for user in sorted(self._users(node.output[0]), key=lambda user: user.op_type != "DequantizeLinear"):
            if user.op_type == "DequantizeLinear":
                scale, zero_point = user.input[1], user.input[2] if len(user.input) > 2 else ""
            elif scale := self._scale_of_sums(user):
                zero_point = user.input[2] if len(user.input) > 2 else ""
            else:
                continue
            parameters = self.parameters(node, scale, zero_point, self.type_of(name), elements.shape)
            real = self.stored_real(name, elements.astype(np.int64), parameters)
            self.codes[name] = Codes(real, parameters, elements.shape)
            return True
        return False

    def _users(self, name: str) -> Iterator[onnx.NodeProto]:
        """The nodes that compute with codes, also once they are moved."""
        for user in self.readers.get(name, []):
            if user.op_type in _MOVING:
                yield from self._users(user.output[0])
            else:
                yield user

    def _scale_of_sums(self, node: onnx.NodeProto) -> str:
        """The scale of the first operand of a layer whose sums Cast and Mul make real; "" where it is not found."""
        if node.op_type not in ("ConvInteger", "MatMulInteger"):
            return ""
        name = node.output[0]
        while len(users := self.readers.get(name, [])) == 1 and users[0].op_type in ("Add", "Cast"):
            name = users[0].output[0]
        if len(users) != 1 or users[0].op_type != "Mul":
            return ""
        maker = self.makers.get(next((factor for factor in users[0].input if factor != name), ""))
        # ONNX Runtime multiplies the scales in the order of the operands.
        return str(maker.input[0]) if maker is not None and maker.op_type == "Mul" else ""

    def _move(self, node: onnx.NodeProto) -> None:
        """An operator that moves codes moves what they stand for."""
        read = [self.codes[name] for name in node.input if name in self.codes]
        if any(codes.parameters != read[0].parameters for codes in read) or (
            node.op_type == "Concat" and len(read) != len(node.input)
        ):
            raise refuse(node, "puts codes together that do not mean the same", "dequantize them before")
        copy = onnx.NodeProto()
        copy.CopyFrom(node)
        if node.op_type == "Pad":
            self._pad(node, copy, read[0].parameters)
        elif node.op_type == "Clip":
            self._limit(node, copy, read[0].parameters)
        elif node.op_type not in _MOVING:
            raise refuse(node, "computes with codes, and is not an operator of quantized networks that is known here")
        for index, name in enumerate(node.input):
            if name in self.codes:
                copy.input[index] = self.codes[name].real
        for index, name in enumerate(node.output):
            if name:
                real = self.fresh(f"{name}/real")
                copy.output[index] = real
                self.codes[name] = Codes(real, read[0].parameters)
                # Nothing but what a point has made.
                self.quantized[real] = read[0].parameters
        self.nodes.append(copy)

    def _pad(self, node: onnx.NodeProto, copy: onnx.NodeProto, parameters: Parameters) -> None:
        mode = next((attribute.s for attribute in node.attribute if attribute.name == "mode"), b"constant")
        if mode != b"constant":
            return
        code = self.constant(node.input[2]) if len(node.input) > 2 and node.input[2] else np.zeros((), np.int64)
        if code is None:
            raise refuse(node, f"pads with a code that is computed at run time, '{node.input[2]}'")
        value = np.float32((int(code.reshape(())) - parameters.zero_point[0]) * parameters.scale[0])
        name = self.fresh(f"{name_of(node)}/value")
        self.model.graph.initializer.append(numpy_helper.from_array(np.array(value), name))
        while len(copy.input) < 3:
            copy.input.append("")
        copy.input[2] = name

    def _limit(self, node: onnx.NodeProto, copy: onnx.NodeProto, parameters: Parameters) -> None:
        """Real numbers have the limits that these codes stand for; those that all codes keep are none."""
        lowest = -(1 << (parameters.bits - 1)) if parameters.is_signed else 0
        highest = lowest + (1 << parameters.bits) - 1
        names = ["", ""]
        for index, unlimited in ((1, lowest), (2, highest)):
            name = node.input[index] if len(node.input) > index else ""
            code = self.constant(name) if name else None
            if name and code is None:
                raise refuse(node, f"limits codes by one that is computed at run time, '{name}'")
            if code is None or int(code.reshape(())) == unlimited:
                continue
            value = np.float32((int(code.reshape(())) - parameters.zero_point[0]) * parameters.scale[0])
            names[index - 1] = self.fresh(f"{name_of(node)}/limit{index}")
            self.model.graph.initializer.append(numpy_helper.from_array(np.array(value), names[index - 1]))
        del copy.input[1:]
        if any(names):
            copy.input.extend(names)
        else:
            copy.op_type = "Identity"

    def _finish_outputs(self) -> None:
        for value in self.model.graph.output:
            if codes := self.codes.get(value.name):
                warn(f"output '{value.name}' is codes in the file ({describe(codes.parameters)}); here it is real")
                self.emit("Identity", value.name, [codes.real], value.name)
                value.type.tensor_type.elem_type = TensorProto.FLOAT


def type_of_codes(parameters: Parameters) -> int:
    return next(int(type) for type, known in CODES.items() if known == (parameters.bits, parameters.is_signed))


def describe(parameters: Parameters) -> str:
    kind = "signed" if parameters.is_signed else "unsigned"
    return f"{parameters.bits} bits {kind}, scale {parameters.scale[0]:.9g}, zero point {parameters.zero_point[0]}"


def is_quantizing(node: onnx.NodeProto) -> bool:
    from mct.importers import _onnx_operators

    return node.op_type in _onnx_operators.HANDLERS


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from _nodes(inner)


def is_quantized(model: onnx.ModelProto) -> bool:
    return any(map(is_quantizing, _nodes(model.graph)))


def read(model: onnx.ModelProto) -> Cut:
    """Makes the float graph of a quantized one, cut at its points: what they quantize are its last results, what they
    make, and constants, its last inputs. Shapes of inputs are fixed."""
    from mct.importers import _onnx_operators

    if model.functions:
        model.CopyFrom(onnx.inliner.inline_local_functions(model))
    _onnx_halves.widen(model)
    reader = Reader(model)
    reader.read(_onnx_operators.HANDLERS)
    graph = model.graph
    del graph.node[:]
    graph.node.extend(reader.nodes)
    del graph.value_info[:]
    _drop_unused(model)
    cut = Cut(_used_points(graph, reader), reader.constants, len(graph.input), len(graph.output))
    if reader.free:
        first = ", ".join(f"'{name}'" for name in reader.free[:3]) + (", …" if len(reader.free) > 3 else "")
        warn(
            f"the inputs of {len(reader.free)} layers ({first}) are quantized at run time: their weights are those of "
            "the file, and their activations are free"
        )
    graph.input.extend(reader.arguments)
    shapes = _find_shapes(model, [point.source for point in cut.points])
    results = {point.result for point in cut.points}
    kept = [node for node in graph.node if node.op_type != "Identity" or node.output[0] not in results]
    del graph.node[:]
    graph.node.extend(kept)
    arguments = [
        helper.make_tensor_value_info(point.result, TensorProto.FLOAT, shapes[point.source]) for point in cut.points
    ]
    given = list(graph.input)
    del graph.input[:]
    graph.input.extend([*given[: cut.inputs], *arguments, *given[cut.inputs :]])
    _add_results(graph, cut)
    return cut


def _add_results(graph: onnx.GraphProto, cut: Cut) -> None:
    """Makes the source of each point a result of its own, also where it is an input or that of another point."""
    for number, point in enumerate(cut.points):
        name = f"{point.result}/source{number}"
        graph.node.append(helper.make_node("Identity", [point.source], [name], name))
        graph.output.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, None))


def _used_points(graph: onnx.GraphProto, reader: Reader) -> list[Point]:
    """Points that have a use, directly or by other points."""
    used = {value.name for value in graph.output}
    for node in reversed(graph.node):
        if any(name in used for name in node.output):
            used |= {name for name in node.input if name}
            for inner in subgraphs(node):
                used |= {name for each in _nodes(inner) for name in each.input if name}
    return [point for point in reader.points.values() if point.result in used]


def _drop_unused(model: onnx.ModelProto) -> None:
    """Drops constants without a use, whose type the simplifier may not know."""
    read = {name for node in _nodes(model.graph) for name in node.input}
    read |= {value.name for value in model.graph.output}
    kept = [tensor for tensor in model.graph.initializer if tensor.name in read]
    del model.graph.initializer[:]
    model.graph.initializer.extend(kept)
    domains = {node.domain for node in _nodes(model.graph)} | {""}
    imports = [entry for entry in model.opset_import if entry.domain.replace("ai.onnx", "") in domains]
    del model.opset_import[:]
    model.opset_import.extend(imports)


def _find_shapes(model: onnx.ModelProto, names: Sequence[str]) -> dict[str, list[int]]:
    """The shapes of tensors: what is known without running the network, or else what one run of it has."""
    inferred = _onnx_large.infer_shapes(model)
    shapes: dict[str, list[int]] = {}
    for value in [*inferred.input, *inferred.value_info, *inferred.output]:
        dimensions = value.type.tensor_type.shape.dim
        if value.type.tensor_type.HasField("shape") and all(each.dim_value >= 1 for each in dimensions):
            shapes[value.name] = [each.dim_value for each in dimensions]
    missing = [name for name in dict.fromkeys(names) if name not in shapes]
    if not missing:
        return shapes
    probe = onnx.ModelProto()
    probe.CopyFrom(model)
    del probe.graph.output[:]
    probe.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in missing)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = _onnx_large.start_session(probe, options)
    zeros = {
        value.name: np.zeros(
            [each.dim_value for each in value.type.tensor_type.shape.dim],
            helper.tensor_dtype_to_np_dtype(value.type.tensor_type.elem_type),
        )
        for value in probe.graph.input
    }
    for name, result in zip(missing, session.run(None, zeros), strict=True):
        shapes[name] = list(result.shape)
    return shapes
