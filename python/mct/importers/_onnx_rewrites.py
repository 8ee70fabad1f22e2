# SPDX-License-Identifier: Apache-2.0
"""Rewrites operators of an ONNX graph for which torch-mlir has no TOSA.

An STFT becomes a convolution of the signal, whose kernel is the window times sines and cosines, and a DFT a product
with these; both have the name of the node. Operators that only order their elements have names below it. Slices with
negative steps, and padding with elements of the tensor, select elements by their indices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper, numpy_helper

from mct.importers import _onnx_large
from mct.importers._child import Refused
from mct.importers._onnx_recurrent import name_of

_OPERATORS = ("DFT", "STFT", "Slice", "Pad")


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
        size = size or shape[axis]
        is_inverse, is_one_sided = given.get("inverse", 0), given.get("onesided", 0)
        if is_inverse and is_one_sided:
            raise _refuse(node, "is the inverse of one side of a transform", "write it with both sides")
        bins = size // 2 + 1 if is_one_sided else size
        kernel = _kernel(shape[axis], size, bins, shape[-1], 1 if is_inverse else -1)
        kernel = kernel.reshape(-1, 2 * bins) / (size if is_inverse else 1)
        leading = [other for other in range(len(shape) - 1) if other != axis]
        order = [*leading, axis, len(shape) - 1]
        signal = self.add("Transpose", f"{name}/order", [node.input[0]], perm=order)
        flat = self.constant(f"{name}/flat", np.array([*[0] * len(leading), -1]))
        signal = self.add("Reshape", f"{name}/signal", [signal, flat])
        weights = self.constant(f"{name}/kernel", kernel.astype(np.float32))
        result = self.add("MatMul", name, [signal, weights], f"{name}/product")
        parts = self.constant(f"{name}/shape", np.array([*[0] * len(leading), bins, 2]))
        result = self.add("Reshape", f"{name}/complex", [result, parts])
        self.add("Transpose", f"{name}/back", [result], node.output[0], perm=np.argsort(order).tolist())

    def rewrite(self, node: onnx.NodeProto) -> bool:
        """Adds what a node becomes; returns whether that is something else."""
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
        return self.slice(node, shape) if node.op_type == "Slice" else self.pad(node, given, shape)


def write_out(model: onnx.ModelProto) -> None:
    """Rewrites these operators in a model whose shapes are fixed. Raises Refused for transforms that depend on data
    otherwise than by their signal."""
    if not any(node.op_type in _OPERATORS for node in model.graph.node):
        return
    writer = _Writer(model)
    for node in model.graph.node:
        if node.op_type not in _OPERATORS or not writer.rewrite(node):
            writer.nodes.append(node)
    del model.graph.node[:]
    model.graph.node.extend(writer.nodes)
