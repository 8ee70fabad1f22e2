# SPDX-License-Identifier: Apache-2.0
"""Rewrites operators of an exported PyTorch program that ExecuTorch's TOSA backend lacks, or computes otherwise.

The operators that replace another one are of its layer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from executorch.backends.transforms.utils import create_constant_placeholder
from torch.export.graph_signature import InputKind
from torch.fx.node import map_arg

_ATEN = torch.ops.aten


class _Replacement:
    """Adds the operators that replace a node."""

    def __init__(self, program: torch.export.ExportedProgram, node: torch.fx.Node) -> None:
        self.program, self.node, self.graph = program, node, program.graph

    def call(self, target: Any, *operands: Any, **options: Any) -> torch.fx.Node:
        with self.graph.inserting_before(self.node):
            result = self.graph.call_function(target, operands, options)
        result.meta = dict(self.node.meta)
        result.meta["val"] = target(*map_arg(operands, lambda operand: operand.meta["val"]), **options)
        return result

    def constant(self, name: str, value: torch.Tensor) -> torch.fx.Node:
        first = next(node for node in self.graph.nodes if node.op == "placeholder")
        with self.graph.inserting_before(first):
            name = f"{self.node.name}_{name}"
            return create_constant_placeholder(
                self.program, self.graph, name, InputKind.BUFFER, value, persistent_buffer=True
            )


def _interpolation(size: int, scale: float) -> torch.Tensor:
    """Factors of the elements of an axis in those of the axis that bilinear interpolation makes of it, [result, size].

    Source: `torch.nn.functional.interpolate` without `align_corners`.
    """
    rows = []
    for place in range(int(size * scale)):
        source = max((place + 0.5) / scale - 0.5, 0.0)
        first = min(int(source), size - 1)
        row = [0.0] * size
        row[first] += 1 - (source - first)
        row[min(first + 1, size - 1)] += source - first
        rows.append(row)
    return torch.tensor(rows, dtype=torch.float32)


def _interpolate(place: _Replacement, value: Any, size: Any, align: bool, scales: Any = None) -> torch.fx.Node | None:
    """A product along each axis, if the scales are not the quotients of the sizes, which the backend takes instead."""
    if size is not None or align:
        return None
    sizes = value.meta["val"].shape[2:]
    # 10 * 1.1 is not exactly 11.
    if all(abs(int(each * scale) / each / scale - 1) < 1e-6 for each, scale in zip(sizes, scales, strict=True)):
        return None
    rows, columns = map(_interpolation, sizes, scales)
    value = place.call(_ATEN.matmul.default, place.constant("rows", rows), value)
    return place.call(_ATEN.matmul.default, value, place.constant("columns", columns.T.contiguous()))


def _log_softmax(place: _Replacement, value: Any, axis: int, dtype: Any = None) -> torch.fx.Node | None:
    """Subtracts the logarithm of the sum of exponentials. The backend takes the logarithm of the softmax, which is 0 in
    float32 for scores far below the largest one."""
    if dtype is not None:
        return None
    scores = place.call(_ATEN.sub.Tensor, value, place.call(_ATEN.amax.default, value, [axis], True))
    total = place.call(_ATEN.sum.dim_IntList, place.call(_ATEN.exp.default, scores), [axis], True)
    return place.call(_ATEN.sub.Tensor, scores, place.call(_ATEN.log.default, total))


def _instance_norm(
    place: _Replacement, value: Any, weight: Any, bias: Any, mean: Any, variance: Any, of_input: bool, *rest: Any
) -> torch.fx.Node | None:
    if not of_input:
        return None
    rank, epsilon = len(value.meta["val"].shape), rest[1]
    axes = list(range(2, rank))
    value = place.call(_ATEN.sub.Tensor, value, place.call(_ATEN.mean.dim, value, axes, True))
    squares = place.call(_ATEN.mean.dim, place.call(_ATEN.mul.Tensor, value, value), axes, True)
    factor = place.call(_ATEN.rsqrt.default, place.call(_ATEN.add.Tensor, squares, epsilon))
    value = place.call(_ATEN.mul.Tensor, value, factor)
    for operand, target in ((weight, _ATEN.mul.Tensor), (bias, _ATEN.add.Tensor)):
        if operand is not None:
            value = place.call(target, value, place.call(_ATEN.view.default, operand, [1, -1, *[1] * len(axes)]))
    return value


def _transposed_convolution(
    place: _Replacement, value: Any, weight: Any, bias: Any = None, *options: Any
) -> torch.fx.Node:
    """Computes a transposed convolution along one axis as one of images with one row."""
    defaults: list[Any] = [[1], [0], [0], 1, [1]]
    steps, pads, beyond, groups, dilations = [*options, *defaults[len(options) :]]
    image, kernel = (place.call(_ATEN.unsqueeze.default, each, 2) for each in (value, weight))
    windows = ([1, *steps], [0, *pads], [0, *beyond], groups, [1, *dilations])
    return place.call(_ATEN.squeeze.dim, place.call(_ATEN.conv_transpose2d.input, image, kernel, bias, *windows), 2)


def _roll(place: _Replacement, value: Any, shifts: Any, axes: Any = ()) -> torch.fx.Node | None:
    if not axes:
        return None
    for shift, axis in zip(shifts, axes, strict=True):
        size = value.meta["val"].shape[axis]
        first = size - shift % size
        parts = [place.call(_ATEN.slice.Tensor, value, axis, *ends) for ends in ((first, size), (0, first))]
        value = place.call(_ATEN.cat.default, parts, axis)
    return value


def _attention(
    place: _Replacement,
    query: Any,
    key: Any,
    value: Any,
    mask: Any = None,
    dropout: float = 0,
    causal: bool = False,
    **rest: Any,
) -> torch.fx.Node | None:
    """The mask of a causal attention is a constant; the backend has no ops that compute it."""
    if not causal:
        return None
    extents = query.meta["val"].shape[-2], key.meta["val"].shape[-2]
    mask = place.constant("mask", torch.full(extents, -torch.inf).triu(1))
    return place.call(_ATEN.scaled_dot_product_attention.default, query, key, value, mask, dropout, False, **rest)


_HANDLERS: dict[Any, Callable[..., torch.fx.Node | None]] = {
    _ATEN.upsample_bilinear2d.vec: _interpolate,
    _ATEN.log_softmax.int: _log_softmax,
    _ATEN.instance_norm.default: _instance_norm,
    _ATEN.conv_transpose1d.default: _transposed_convolution,
    _ATEN.roll.default: _roll,
    _ATEN.scaled_dot_product_attention.default: _attention,
}


def rewrite(program: torch.export.ExportedProgram) -> None:
    """Rewrites these operators in place."""
    for node in list(program.graph.nodes):
        handler = _HANDLERS.get(node.target) if node.op == "call_function" else None
        result = handler(_Replacement(program, node), *node.args, **node.kwargs) if handler else None
        if result is not None:
            node.replace_all_uses_with(result)
            program.graph.erase_node(node)
    program.graph_module.recompile()
