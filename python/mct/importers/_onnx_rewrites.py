# SPDX-License-Identifier: Apache-2.0
"""Rewrites operators of an ONNX graph for which torch-mlir has no TOSA.

An STFT becomes a convolution of the signal, whose kernel is the window times sines and cosines, and a DFT a product
with these; both have the name of the node. Operators that only order their elements have names below it. Slices with
negative steps, and padding with elements of the tensor, select elements by their indices. An interpolation by a scale
that torch-mlir would replace is a product with constant factors. Some operators become what the standard defines them
by.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, inliner, numpy_helper
from onnx.reference import ReferenceEvaluator

from mct.importers import _onnx_large
from mct.importers._child import Refused
from mct.importers._onnx_recurrent import name_of

_OPERATORS = ("AveragePool", "ConvTranspose", "DFT", "LRN", "LpNormalization", "Pad", "Resize", "STFT", "Slice")
_FUNCTIONS = ("Attention", "RMSNormalization", "RotaryEmbedding")


def _refuse(node: onnx.NodeProto, what: str, *notes: str) -> Refused:
    name = name_of(node)
    return Refused(f"{node.op_type} '{name}' {what}", notes, layer=name)


def _kernel(length: int, size: int, bins: int, channels: int, sign: int) -> np.ndarray[Any, Any]:
    """Factors of the numbers of a signal in those of its transform, [length, channels, bins, 2].

    length, channels: of the signal; one channel for real numbers, two for complex ones.
    size:             of the transform, beyond which numbers of the signal are left out.
    sign:             of the exponent.
    """
    angle = 2 * np.pi / size * (np.outer(np.arange(length), np.arange(bins)) % size)
    cosine, sine = np.cos(angle), sign * np.sin(angle)
    kernel = np.stack([np.stack([cosine, sine], -1), np.stack([-sine, cosine], -1)], 1)
    kernel[size:] = 0
    return kernel[:, :channels]


def _real_kernel(bins: int, size: int) -> np.ndarray[Any, Any]:
    """Factors of one side of a transform in the real numbers that have it, [bins, 2, size, 1], times `size`."""
    kernel = _kernel(size, size, bins, 1, 1).transpose(2, 3, 0, 1) * [[[[1]], [[-1]]]]
    # Each number of the other side adds as much as the one that it is conjugate to.
    kernel[1 : (size + 1) // 2] *= 2
    kernel[size // 2 + 1 :] = 0
    return kernel


def _interpolation(size: int, scale: float, given: Mapping[str, Any]) -> np.ndarray[Any, Any]:
    """Factors of the elements of an axis in those of the axis that Resize makes of it, [result, size]."""
    node = helper.make_node("Resize", ["x", "", "scales"], ["y"], **given)
    value = [helper.make_tensor_value_info("x", TensorProto.DOUBLE, [size, size])]
    scales = numpy_helper.from_array(np.array([1, scale], np.float32), "scales")
    result = [helper.make_tensor_value_info("y", TensorProto.DOUBLE, None)]
    graph = helper.make_graph([node], "interpolation", value, result, [scales])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
    results: Any = ReferenceEvaluator(model).run(None, {"x": np.eye(size)})
    return np.asarray(results[0]).T


class _Writer:
    def __init__(self, model: onnx.ModelProto) -> None:
        self.model = model
        self.shapes = _onnx_large.known_shapes(model)
        self.constants = {tensor.name: tensor for tensor in model.graph.initializer}
        self.nodes: list[onnx.NodeProto] = []

    def constant(self, name: str, values: Any) -> str:
        self.model.graph.initializer.append(numpy_helper.from_array(np.ascontiguousarray(values), name))
        return name

    def add(self, kind: str, name: str, inputs: Sequence[str], result: str = "", **attributes: Any) -> str:
        result = result or f"{name}/result"
        self.nodes.append(helper.make_node(kind, inputs, [result], name, **attributes))
        return result

    def operand(self, node: onnx.NodeProto, index: int, what: str) -> np.ndarray[Any, Any] | None:
        """The elements of an operand; nothing where it is left out."""
        if index >= len(node.input) or not node.input[index]:
            return None
        if node.input[index] not in self.constants:
            raise _refuse(node, f"has a {what} that is computed at run time")
        return np.asarray(numpy_helper.to_array(self.constants[node.input[index]]))

    def number(self, node: onnx.NodeProto, index: int, what: str) -> int | None:
        """An operand of one element."""
        value = self.operand(node, index, what)
        return None if value is None else int(value.reshape(()))

    def shape(self, node: onnx.NodeProto) -> list[int]:
        """The shape of the signal: the last axis has real numbers, or real and imaginary parts."""
        shape = self.shapes.get(node.input[0], [])
        if node.op_type == "STFT" and len(shape) == 2:
            # ONNX Runtime takes signals without that axis.
            shape = [*shape, 1]
        if len(shape) < 2 or min(shape) < 1:
            remedy = "give example_inputs / --shape NAME=… with the shapes to convert for"
            raise _refuse(node, "transforms a signal whose shape is not known", remedy)
        if shape[-1] > 2:
            raise _refuse(node, f"transforms a signal with {shape[-1]} parts, not of real or complex numbers")
        return shape

    def select(self, node: onnx.NodeProto, indices: Mapping[int, np.ndarray[Any, Any]]) -> None:
        """Selects elements of the first operand by their indices along each of these axes."""
        name, value = name_of(node), node.input[0]
        for number, (axis, places) in enumerate(indices.items(), 1):
            constant = self.constant(f"{name}/indices{axis}", places.astype(np.int64))
            is_last = number == len(indices)
            result = node.output[0] if is_last else f"{name}/axis{axis}/result"
            value = self.add("Gather", name if is_last else f"{name}/axis{axis}", [value, constant], result, axis=axis)

    def slice(self, node: onnx.NodeProto, shape: Sequence[int]) -> bool:
        """Rewrites a slice whose bounds are known and one of whose steps is negative."""
        if any(name and name not in self.constants for name in node.input[1:]):
            return False
        starts, ends, axes, steps = (self.operand(node, index, "bound") for index in range(1, 5))
        if starts is None or ends is None or steps is None or steps.min() > 0:
            return False
        indices = {}
        for number, (start, end, step) in enumerate(zip(starts.tolist(), ends.tolist(), steps.tolist(), strict=True)):
            axis = number if axes is None else int(axes[number]) % len(shape)
            # Python's slices count an end below -size from the end as well.
            stop = None if step < 0 and end < -shape[axis] else end
            indices[axis] = np.arange(shape[axis])[start:stop:step]
        self.select(node, indices)
        return True

    def pad(self, node: onnx.NodeProto, given: Mapping[str, Any], shape: Sequence[int]) -> bool:
        """Rewrites padding with the elements at the edge, or with those at the other edge."""
        mode = given.get("mode", b"constant").decode()
        pads = self.operand(node, 1, "width") if mode in ("edge", "wrap") else None
        if pads is None:
            return False
        axes = self.operand(node, 3, "axis")
        indices = {}
        numbers = range(len(shape)) if axes is None else [int(axis) % len(shape) for axis in axes]
        for axis, before, after in zip(numbers, *np.split(pads, 2), strict=True):
            places = np.arange(-before, shape[axis] + after)
            if before or after:
                size = shape[axis]
                indices[axis] = places % size if mode == "wrap" else places.clip(0, size - 1)
        if not indices:
            return False
        self.select(node, indices)
        return True

    def stft(self, node: onnx.NodeProto, given: Mapping[str, Any]) -> None:
        name, channels = name_of(node), self.shape(node)[-1]
        step, size = self.number(node, 1, "step"), self.number(node, 3, "length")
        window = self.operand(node, 2, "window")
        if window is None and size is None:
            raise _refuse(node, "has neither a window nor a length of its frames")
        window = np.ones(size or 0) if window is None else window
        size = window.size
        bins = size // 2 + 1 if given.get("onesided", 1) else size
        kernel = _kernel(size, size, bins, channels, -1) * window.astype(np.float64).reshape(-1, 1, 1, 1)
        kernel = kernel.transpose(2, 3, 1, 0).reshape(2 * bins, channels, size)
        if channels == 1:
            row = self.constant(f"{name}/row", np.array([0, 1, -1]))
            signal = self.add("Reshape", f"{name}/signal", [node.input[0], row])
        else:
            signal = self.add("Transpose", f"{name}/signal", [node.input[0]], perm=[0, 2, 1])
        weights = self.constant(f"{name}/kernel", kernel.astype(np.float32))
        frames = self.add("Conv", name, [signal, weights], f"{name}/frames/result", strides=[step])
        frames = self.add("Transpose", f"{name}/order", [frames], perm=[0, 2, 1])
        shape = self.constant(f"{name}/shape", np.array([0, 0, bins, 2]))
        self.add("Reshape", f"{name}/complex", [frames, shape], node.output[0])

    def dft(self, node: onnx.NodeProto, given: Mapping[str, Any]) -> None:
        name, shape = name_of(node), self.shape(node)
        size, axis = self.number(node, 1, "length"), self.number(node, 2, "axis")
        if axis is None:
            # The axis is an attribute before version 20.
            version = next(entry.version for entry in self.model.opset_import if entry.domain == "")
            axis = int(given.get("axis", 1 if version < 20 else -2))
        axis %= len(shape)
        is_inverse, is_one_sided = given.get("inverse", 0), given.get("onesided", 0)
        if is_inverse and is_one_sided:
            size = size or 2 * (shape[axis] - 1)
            kernel = _real_kernel(shape[axis], size)
        else:
            size = size or shape[axis]
            bins = size // 2 + 1 if is_one_sided else size
            kernel = _kernel(shape[axis], size, bins, shape[-1], 1 if is_inverse else -1)
        count, parts = kernel.shape[2:]
        kernel = kernel.reshape(-1, count * parts) / (size if is_inverse else 1)
        leading = [other for other in range(len(shape) - 1) if other != axis]
        order = [*leading, axis, len(shape) - 1]
        signal = self.add("Transpose", f"{name}/order", [node.input[0]], perm=order)
        flat = self.constant(f"{name}/flat", np.array([*[0] * len(leading), -1]))
        signal = self.add("Reshape", f"{name}/signal", [signal, flat])
        weights = self.constant(f"{name}/kernel", kernel.astype(np.float32))
        result = self.add("MatMul", name, [signal, weights], f"{name}/product")
        numbers = self.constant(f"{name}/shape", np.array([*[0] * len(leading), count, parts]))
        result = self.add("Reshape", f"{name}/numbers", [result, numbers])
        self.add("Transpose", f"{name}/back", [result], node.output[0], perm=np.argsort(order).tolist())

    def average(self, node: onnx.NodeProto, given: dict[str, Any], shape: Sequence[int]) -> bool:
        """Rewrites an average along one axis as one over images of one row: torch-mlir makes an invalid op of some."""
        if len(shape) != 3:
            return False
        name = name_of(node)
        axis = self.constant(f"{name}/row", np.array([2]))
        for key in ("kernel_shape", "strides", "dilations"):
            given[key] = [1, *given.get(key, [1])]
        if "pads" in given:
            given["pads"] = [0, given["pads"][0], 0, given["pads"][1]]
        image = self.add("Unsqueeze", f"{name}/image", [node.input[0], axis])
        image = self.add("AveragePool", name, [image], f"{name}/averages/result", **given)
        self.add("Squeeze", f"{name}/averages", [image, axis], node.output[0])
        return True

    def transposed_convolution(self, node: onnx.NodeProto, given: dict[str, Any], shape: Sequence[int]) -> bool:
        """Rewrites one with groups, dilations or unequal padding as others without."""
        kernel, rank = self.shapes.get(node.input[1], []), len(shape) - 2
        groups, dilations = given.get("group", 1), given.get("dilations", [1] * rank)
        pads = self.padding(given, kernel)
        if len(kernel) != len(shape) or (groups == 1 and max(dilations) == 1 and pads[:rank] == pads[rank:]):
            return False
        name, weights, result = name_of(node), node.input[1], node.output[0]
        if max(dilations) > 1:
            values = self.operand(node, 1, "kernel")
            if values is None:
                return False
            extents = [*kernel[:2], *((size - 1) * step + 1 for size, step in zip(kernel[2:], dilations, strict=True))]
            wide = np.zeros(extents, values.dtype)
            wide[(slice(None), slice(None), *(slice(None, None, step) for step in dilations))] = values
            weights = self.constant(f"{name}/kernel", wide)
        for key in ("group", "dilations", "auto_pad", "kernel_shape", "pads"):
            given.pop(key, None)
        if pads[:rank] != pads[rank:]:
            # A slice removes the padding.
            result = f"{name}/all/result"
        elif any(pads):
            given["pads"] = pads
        self.groups(node, name, weights, groups, given, result)
        if result != node.output[0]:
            ends = [-last if last else 1 << 62 for last in pads[rank:]]
            bounds = {"starts": pads[:rank], "ends": ends, "axes": range(2, rank + 2)}
            operands = [self.constant(f"{name}/{key}", np.array(value, np.int64)) for key, value in bounds.items()]
            self.add("Slice", f"{name}/cut", [result, *operands], node.output[0])
        return True

    def padding(self, given: Mapping[str, Any], kernel: Sequence[int]) -> list[int]:
        """Sizes of the padding that a transposed convolution removes, at the beginnings and at the ends of the axes."""
        rank = len(kernel) - 2
        ones, mode = [1] * rank, given.get("auto_pad", b"NOTSET").decode()
        if not mode.startswith("SAME"):
            return list(given.get("pads", [0] * 2 * rank)) if mode == "NOTSET" else [0] * 2 * rank
        options = (given.get("strides", ones), given.get("dilations", ones), given.get("output_padding", [0] * rank))
        total = [
            max((size - 1) * dilation + 1 - step + more, 0)
            for size, step, dilation, more in zip(kernel[2:], *options, strict=True)
        ]
        first = [each // 2 if mode == "SAME_UPPER" else each - each // 2 for each in total]
        return [*first, *(whole - one for whole, one in zip(total, first, strict=True))]

    def groups(
        self, node: onnx.NodeProto, name: str, weights: str, groups: int, given: Mapping[str, Any], result: str
    ) -> None:
        """Adds a transposed convolution for each group of channels."""
        if groups == 1:
            self.add("ConvTranspose", name, [node.input[0], weights, *node.input[2:]], result, **given)
            return
        parts = [
            self.split(f"{name}/input", node.input[0], groups, 1),
            self.split(f"{name}/kernel", weights, groups, 0),
        ]
        if len(node.input) > 2 and node.input[2]:
            parts.append(self.split(f"{name}/bias", node.input[2], groups, 0))
        results = [
            self.add("ConvTranspose", f"{name}/group{number}", operands, **given)
            for number, operands in enumerate(zip(*parts, strict=True))
        ]
        self.add("Concat", name, results, result, axis=1)

    def split(self, name: str, value: str, count: int, axis: int) -> list[str]:
        """Parts of equal size along an axis."""
        results = [f"{name}/part{number}" for number in range(count)]
        self.nodes.append(helper.make_node("Split", [value], results, name, axis=axis, num_outputs=count))
        return results

    def local_response(self, node: onnx.NodeProto, given: Mapping[str, Any], shape: Sequence[int]) -> bool:
        """Rewrites a normalization by the squares of channels beside; a convolution sums these up."""
        if len(shape) != 4:
            return False
        name, size = name_of(node), given["size"]
        channels = np.arange(shape[1])
        distance = channels[:, None] - channels
        is_beside = (distance <= (size - 1) // 2) & (-distance <= size // 2)
        kernel = np.where(is_beside, given.get("alpha", 1e-4) / size, 0)[..., None, None].astype(np.float32)
        bias = np.full(shape[1], given.get("bias", 1.0), np.float32)
        squares = self.add("Mul", f"{name}/squares", [node.input[0]] * 2)
        operands = [squares, self.constant(f"{name}/kernel", kernel), self.constant(f"{name}/bias", bias)]
        sums = self.add("Conv", f"{name}/sums", operands)
        exponent = self.constant(f"{name}/exponent", np.float32(-given.get("beta", 0.75)))
        factors = self.add("Pow", f"{name}/factors", [sums, exponent])
        self.add("Mul", name, [node.input[0], factors], node.output[0])
        return True

    def normalization(self, node: onnx.NodeProto, given: Mapping[str, Any], _: Sequence[int]) -> bool:
        """Rewrites a division by a norm so that zeros stay zeros."""
        name = name_of(node)
        axes = self.constant(f"{name}/axes", np.array([given.get("axis", -1)]))
        norm = self.add(f"ReduceL{given.get('p', 2)}", f"{name}/norm", [node.input[0], axes], keepdims=1)
        least = self.constant(f"{name}/least", np.finfo(np.float32).tiny)
        norm = self.add("Max", f"{name}/positive", [norm, least])
        self.add("Div", name, [node.input[0], norm], node.output[0])
        return True

    def resize(self, node: onnx.NodeProto, given: dict[str, Any], shape: Sequence[int]) -> bool:
        """Rewrites an interpolation by scales that are not the quotients of the sizes, which torch-mlir takes instead,
        as a product along each axis, or as a selection of the nearest elements."""
        scales = self.operand(node, 2, "scale")
        if scales is None or not scales.size or given.get("coordinate_transformation_mode") == b"tf_crop_and_resize":
            return False
        axes = [axis % len(shape) for axis in given.pop("axes", range(len(shape)))]
        changes = {axis: float(scale) for axis, scale in zip(axes, scales, strict=True) if scale != 1}
        # A scale of float32 is known to seven digits.
        if all(abs(int(shape[axis] * scale) / shape[axis] / scale - 1) < 1e-6 for axis, scale in changes.items()):
            return False
        matrices = {axis: _interpolation(shape[axis], scale, given) for axis, scale in changes.items()}
        if given.get("mode", b"nearest") == b"nearest":
            self.select(node, {axis: matrix.argmax(1) for axis, matrix in matrices.items()})
            return True
        name, value, last = name_of(node), node.input[0], len(shape) - 1
        for number, (axis, factors) in enumerate(matrices.items(), 1):
            matrix = factors.astype(np.float32)
            is_done = number == len(changes)
            own, result = (name, node.output[0]) if is_done else (f"{name}/axis{axis}", f"{name}/axis{axis}/result")
            if axis == last - 1:
                self.add("MatMul", own, [self.constant(f"{own}/matrix", matrix), value], result)
            elif axis == last:
                self.add("MatMul", own, [value, self.constant(f"{own}/matrix", matrix.T)], result)
            else:
                order = [*(other for other in range(len(shape)) if other != axis), axis]
                value = self.add("Transpose", f"{own}/order", [value], perm=order)
                value = self.add("MatMul", own, [value, self.constant(f"{own}/matrix", matrix.T)], f"{own}/product")
                self.add("Transpose", f"{own}/back", [value], result, perm=np.argsort(order).tolist())
            value = result
        return True

    def rewrite(self, node: onnx.NodeProto) -> bool:
        """Adds the operators that replace a node; returns whether there are any."""
        given = {attribute.name: helper.get_attribute_value(attribute) for attribute in node.attribute}
        if node.op_type == "STFT":
            self.stft(node, given)
            return True
        if node.op_type == "DFT":
            self.dft(node, given)
            return True
        shape = self.shapes.get(node.input[0], [])
        if not shape or min(shape) < 1:
            return False
        if node.op_type == "Slice":
            return self.slice(node, shape)
        handlers = {
            "AveragePool": self.average,
            "ConvTranspose": self.transposed_convolution,
            "LRN": self.local_response,
            "LpNormalization": self.normalization,
            "Pad": self.pad,
            "Resize": self.resize,
        }
        return handlers[node.op_type](node, given, shape)


def write_out(model: onnx.ModelProto) -> None:
    """Rewrites these operators in a model whose shapes are fixed. Raises Refused for transforms that depend on data
    otherwise than by their signal."""
    if not any(node.op_type in _OPERATORS for node in model.graph.node):
        return
    writer = _Writer(model)
    for node in model.graph.node:
        if node.op_type not in _OPERATORS or node.domain not in ("", "ai.onnx") or not writer.rewrite(node):
            writer.nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(writer.nodes)


def _expand(node: onnx.NodeProto, model: onnx.ModelProto, values: Mapping[str, onnx.ValueInfoProto]) -> onnx.GraphProto:
    """The graph by which the standard defines an operator; its tensors have names below that of the node."""
    name = name_of(node)
    inputs = [values[each] for each in dict.fromkeys(node.input) if each]
    outputs = [onnx.ValueInfoProto(name=each) for each in node.output if each]
    graph = helper.make_graph([node], "operator", inputs, outputs)
    whole = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    expanded = inliner.inline_selected_functions(whole, [("", node.op_type)], inline_schema_functions=True).graph
    kept = {"", *node.input, *node.output}
    for inner in expanded.node:
        for tensors in (inner.input, inner.output):
            for number, tensor in enumerate(tensors):
                if tensor not in kept:
                    tensors[number] = f"{name}/{tensor.removesuffix('__1')}"
        inner.name = name if inner.output[0] == node.output[0] else inner.output[0]
    return expanded


def expand_functions(model: onnx.ModelProto) -> None:
    """Replaces operators by what the standard defines them by, in a model whose shapes are fixed."""
    if not any(node.op_type in _FUNCTIONS and node.domain == "" for node in model.graph.node):
        return
    inferred = _onnx_large.infer_shapes(model)
    values = {value.name: value for value in [*inferred.value_info, *inferred.input]}
    for tensor in model.graph.initializer:
        values[tensor.name] = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
    nodes: list[onnx.NodeProto] = []
    for node in model.graph.node:
        if node.op_type in _FUNCTIONS and node.domain == "" and all(each in values for each in node.input if each):
            try:
                nodes.extend(_expand(node, model, values).node)
                continue
            except RuntimeError:
                # The standard defines it by another one of whose operands a type is not known.
                pass
        nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
