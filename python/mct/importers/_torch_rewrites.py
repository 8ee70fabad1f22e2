# SPDX-License-Identifier: Apache-2.0
"""Rewrites operators of an exported PyTorch program that ExecuTorch's TOSA backend lacks, or computes otherwise.

The operators that replace another one are of its layer.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from typing import Any

import torch
from executorch.backends.transforms.utils import create_constant_placeholder
from torch.export.graph_signature import InputKind
from torch.fx.node import map_arg

_ATEN = torch.ops.aten

# Most slices of which a selection of elements consists.
_MOST_PARTS = 64
# Elements of the largest constant that is computed.
_MOST_ELEMENTS = 1 << 24


class _Replacement:
    """Adds the operators that replace a node."""

    def __init__(self, program: torch.export.ExportedProgram, node: torch.fx.Node) -> None:
        self.program, self.node, self.graph = program, node, program.graph

    def known(self, node: torch.fx.Node) -> torch.Tensor | None:
        """The elements of a constant of the program, None for other values."""
        return _constants(self.program).get(node)

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


def _factors(target: Any, sizes: list[int], axis: int, *operands: Any) -> torch.Tensor:
    """Factors of the elements of a spatial axis in those that `target` makes of it, [result, size]: what it makes of a
    unit matrix, one axis of which keeps its size. The operands are those of `target`, of which lists have an entry for
    each axis."""
    size = sizes[axis]

    def along(operand: Any) -> Any:
        if not isinstance(operand, list | tuple):
            return operand
        same = size if isinstance(operand[axis], int) else 1.0
        return [each if number == axis else same for number, each in enumerate(operand)]

    units = torch.eye(size).reshape([1, size, size] if len(sizes) == 1 else [1, 1, size, size])
    result = target(units, *map(along, operands)).flatten(end_dim=-2)
    return (result.T if axis == len(sizes) - 1 else result).contiguous()


def _resample(place: _Replacement, value: Any, *operands: Any) -> torch.fx.Node:
    """Interpolates by a product along each axis: results are linear in the elements."""
    sizes = list(value.meta["val"].shape[2:])
    factors = [_factors(place.node.target, sizes, axis, *operands) for axis in range(len(sizes))]
    if len(sizes) == 2:
        value = place.call(_ATEN.matmul.default, place.constant("rows", factors[0]), value)
    return place.call(_ATEN.matmul.default, value, place.constant("columns", factors[-1].T.contiguous()))


def _interpolate(place: _Replacement, value: Any, size: Any, align: bool, scales: Any = None) -> torch.fx.Node | None:
    """A product along each axis, if the scales are not the quotients of the sizes, which the backend takes instead."""
    if size is not None or align:
        return None
    sizes = value.meta["val"].shape[2:]
    # 10 * 1.1 is not exactly 11.
    if all(abs(int(each * scale) / each / scale - 1) < 1e-6 for each, scale in zip(sizes, scales, strict=True)):
        return None
    return _resample(place, value, size, align, scales)


def _take(place: _Replacement, value: Any, axis: int, indices: list[int]) -> torch.fx.Node | None:
    """Takes elements of an axis, as slices of neighbours."""
    starts = [0, *(n for n in range(1, len(indices)) if indices[n] != indices[n - 1] + 1), len(indices)]
    if len(starts) - 1 > _MOST_PARTS or not indices:
        return None
    parts = [
        place.call(_ATEN.slice.Tensor, value, axis, indices[first], indices[last - 1] + 1)
        for first, last in itertools.pairwise(starts)
    ]
    return parts[0] if len(parts) == 1 else place.call(_ATEN.cat.default, parts, axis)


def _nearest(place: _Replacement, value: Any, size: Any, scales: Any = None) -> torch.fx.Node:
    """Takes the nearest elements, along one axis after the other, or by a product if they are many."""
    sizes = list(value.meta["val"].shape[2:])
    factors = [_factors(place.node.target, sizes, axis, size, scales) for axis in range(len(sizes))]
    indices = [each.argmax(1).tolist() for each in factors]
    if len(sizes) == 2 and all(
        each == [n * size // len(each) for n in range(len(each))] for each, size in zip(indices, sizes, strict=True)
    ):
        return place.call(_ATEN.upsample_nearest2d.vec, value, [len(each) for each in indices], None)
    taken: Any = value
    for axis, each in enumerate(indices):
        taken = _take(place, taken, axis + 2, each) if taken is not None else None
    return taken if taken is not None else _resample(place, value, size, scales)


def _index(place: _Replacement, value: Any, indices: Any) -> torch.fx.Node | None:
    """Takes elements by one constant list of indices."""
    (axis, index), *others = [(axis, each) for axis, each in enumerate(indices) if each is not None]
    known = None if others else place.known(index)
    if known is None or known.dim() != 1 or known.dtype not in (torch.int32, torch.int64):
        return None
    size = value.meta["val"].shape[axis]
    return _take(place, value, axis, [each % size for each in known.tolist()])


def _index_select(place: _Replacement, value: Any, axis: int, index: Any) -> torch.fx.Node | None:
    return _index(place, value, [*[None] * (axis % len(value.meta["val"].shape)), index])


def _triangle(place: _Replacement, value: Any, diagonal: int = 0) -> torch.fx.Node:
    """A product with ones and zeros: elements are finite."""
    mask = place.node.target(torch.ones(value.meta["val"].shape[-2:]), diagonal)
    return place.call(_ATEN.mul.Tensor, value, place.constant("mask", mask))


def _adaptive_maximum(place: _Replacement, value: Any, sizes: list[int]) -> torch.fx.Node:
    """The maxima of windows, along one axis after the other."""
    for axis, count in zip(range(-len(sizes), 0), sizes, strict=True):
        size = value.meta["val"].shape[axis]
        windows = [(n * size // count, -(-(n + 1) * size // count)) for n in range(count)]
        parts = [
            place.call(
                _ATEN.amax.default,
                place.call(_ATEN.slice.Tensor, value, axis, *window) if count > 1 else value,
                [axis],
                True,
            )
            for window in windows
        ]
        value = place.call(_ATEN.cat.default, parts, axis) if count > 1 else parts[0]
    return value


def _average_of_depths(
    place: _Replacement, value: Any, kernel: list[int], steps: Any = (), pads: Any = 0, *rest: Any
) -> torch.fx.Node | None:
    """An average over neighbours along the first of three axes (local response normalization), as one of images."""
    steps, pads = steps or kernel, [pads] * 3 if isinstance(pads, int) else [*pads, *pads, *pads][:3]
    if list(kernel[1:]) != [1, 1] or list(steps[1:]) != [1, 1] or list(pads[1:]) != [0, 0]:
        return None
    channels, depth, *image = value.meta["val"].shape[1:]
    flat = place.call(_ATEN.view.default, value, [-1, channels, depth, image[0] * image[1]])
    flat = place.call(_ATEN.avg_pool2d.default, flat, [kernel[0], 1], [steps[0], 1], [pads[0], 0], *rest)
    return place.call(_ATEN.view.default, flat, [-1, *flat.meta["val"].shape[1:3], *image])


def _windows(
    place: _Replacement, value: Any, kernel: list[int], dilations: list[int], pads: list[int], steps: list[int]
) -> torch.fx.Node | None:
    """The elements of windows, one slice for each place in the window."""
    if len(value.meta["val"].shape) != 4:
        return None
    value = place.call(_ATEN.constant_pad_nd.default, value, [pads[1], pads[1], pads[0], pads[0]])
    channels, *sizes = value.meta["val"].shape[1:]
    parts = []
    for offsets in itertools.product(*map(range, kernel)):
        part = value
        for axis in range(2):
            first = offsets[axis] * dilations[axis]
            end = sizes[axis] - dilations[axis] * (kernel[axis] - 1) + first
            part = place.call(_ATEN.slice.Tensor, part, axis + 2, first, end, steps[axis])
        parts.append(place.call(_ATEN.unsqueeze.default, part, 2))
    result = parts[0] if len(parts) == 1 else place.call(_ATEN.cat.default, parts, 2)
    rows, columns = result.meta["val"].shape[3:]
    return place.call(_ATEN.view.default, result, [-1, channels * len(parts), rows * columns])


def _truncate(place: _Replacement, value: Any) -> torch.fx.Node:
    floor, ceiling = (place.call(target, value) for target in (_ATEN.floor.default, _ATEN.ceil.default))
    return place.call(_ATEN.where.self, place.call(_ATEN.lt.Scalar, value, 0.0), ceiling, floor)


def _fraction(place: _Replacement, value: Any) -> torch.fx.Node:
    return place.call(_ATEN.sub.Tensor, value, _truncate(place, value))


def _remainder(place: _Replacement, value: Any, divisor: float) -> torch.fx.Node:
    """The remainder has the sign of the dividend."""
    whole = _truncate(place, place.call(_ATEN.div.Tensor, value, float(divisor)))
    return place.call(_ATEN.sub.Tensor, value, place.call(_ATEN.mul.Tensor, whole, float(divisor)))


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


def _dilated(place: _Replacement, value: Any, weight: Any, bias: Any = None, *options: Any) -> torch.fx.Node | None:
    """A transposed convolution whose kernel has zeros between its elements in place of dilations."""
    defaults: list[Any] = [[1, 1], [0, 0], [0, 0], 1, [1, 1]]
    steps, pads, beyond, groups, dilations = [*options, *defaults[len(options) :]]
    kernel = place.known(weight)
    dilations = [*dilations, *dilations][:2]
    if kernel is None or dilations == [1, 1]:
        return None
    sizes = [(size - 1) * dilation + 1 for size, dilation in zip(kernel.shape[2:], dilations, strict=True)]
    spread = torch.zeros(*kernel.shape[:2], *sizes)
    spread[:, :, :: dilations[0], :: dilations[1]] = kernel
    operands = (value, place.constant("kernel", spread), bias, steps, pads, beyond, groups, [1, 1])
    return place.call(_ATEN.conv_transpose2d.input, *operands)


_HANDLERS: dict[Any, Callable[..., torch.fx.Node | None]] = {
    _ATEN.upsample_bilinear2d.vec: _interpolate,
    _ATEN.upsample_linear1d.vec: _resample,
    _ATEN.upsample_bicubic2d.vec: _resample,
    _ATEN._upsample_bilinear2d_aa.vec: _resample,
    _ATEN._upsample_bicubic2d_aa.vec: _resample,
    _ATEN._upsample_nearest_exact1d.vec: _nearest,
    _ATEN._upsample_nearest_exact2d.vec: _nearest,
    _ATEN.index.Tensor: _index,
    _ATEN.index_select.default: _index_select,
    _ATEN.tril.default: _triangle,
    _ATEN.triu.default: _triangle,
    _ATEN.adaptive_max_pool1d.default: _adaptive_maximum,
    _ATEN.adaptive_max_pool2d.default: _adaptive_maximum,
    _ATEN.avg_pool3d.default: _average_of_depths,
    _ATEN.im2col.default: _windows,
    _ATEN.trunc.default: _truncate,
    _ATEN.frac.default: _fraction,
    _ATEN.fmod.Scalar: _remainder,
    _ATEN.conv_transpose2d.input: _dilated,
    _ATEN.log_softmax.int: _log_softmax,
    _ATEN.instance_norm.default: _instance_norm,
    _ATEN.conv_transpose1d.default: _transposed_convolution,
    _ATEN.roll.default: _roll,
    _ATEN.scaled_dot_product_attention.default: _attention,
}


def _changes(node: torch.fx.Node) -> bool:
    """Returns whether an operator writes to one of its operands."""
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable and node.target != _ATEN.detach_.default


def _written(program: torch.export.ExportedProgram) -> set[torch.fx.Node]:
    """Values that operators may write to: operands, and what these are made of, as both may be the same memory."""
    pending = [each for node in program.graph.nodes if _changes(node) for each in node.all_input_nodes]
    written = set()
    while pending:
        node = pending.pop()
        if node not in written:
            written.add(node)
            pending += node.all_input_nodes
    return written


def _constants(program: torch.export.ExportedProgram) -> dict[torch.fx.Node, torch.Tensor]:
    """The parameters, buffers and other constants of a program by the nodes that stand for them."""
    signature = program.graph_signature
    names = {
        **signature.inputs_to_parameters,
        **signature.inputs_to_buffers,
        **signature.inputs_to_lifted_tensor_constants,
    }
    changed = set(signature.buffers_to_mutate.values())
    written = _written(program)
    stored = {**program.constants, **program.state_dict}
    return {
        node: stored[names[node.name]].detach()
        for node in program.graph.nodes
        if node.op == "placeholder"
        and names.get(node.name) in stored
        and names[node.name] not in changed
        and node not in written
    }


def _fold_constants(program: torch.export.ExportedProgram) -> None:
    """Computes tensors that the program makes of constants alone: masks, indices, tables of positions.

    Parameters stay as they are, but for elements that are taken of them (the tables of relative positions).
    """
    stored = _constants(program)
    parameters = {node for node in stored if node.name in program.graph_signature.inputs_to_parameters}
    values, written = dict(stored), _written(program)
    for node in program.graph.nodes:
        target = node.target
        if node.op != "call_function" or not isinstance(target, torch._ops.OpOverload):
            continue
        # Points of a quantized program are operators of other namespaces.
        if (
            target.namespace != "aten"
            or _changes(node)
            or node in written
            or torch.Tag.nondeterministic_seeded in target.tags
        ):
            continue
        inputs = node.all_input_nodes
        if any(each not in values for each in inputs) or (
            parameters.intersection(inputs) and target not in (_ATEN.index.Tensor, _ATEN.index_select.default)
        ):
            continue
        value = node.meta.get("val")
        if not isinstance(value, torch.Tensor) or value.numel() > _MOST_ELEMENTS:
            continue
        values[node] = target(*map_arg(node.args, values.get), **map_arg(node.kwargs, values.get))
    for node, value in list(values.items()):
        if node not in stored and any(user not in values for user in node.users):
            place = _Replacement(program, node)
            constant = place.constant("value", value.contiguous())
            node.replace_all_uses_with(constant, lambda user: user not in values)
    program.graph.eliminate_dead_code()


def _is_static(node: torch.fx.Node) -> bool:
    """Returns whether an operator reads tensors only, whose sizes are known but for the batch."""
    operands = [each.meta.get("val") for each in node.all_input_nodes]
    return all(
        isinstance(each, torch.Tensor) and all(isinstance(size, int) for size in each.shape[1:]) for each in operands
    )


def rewrite(program: torch.export.ExportedProgram) -> None:
    """Rewrites these operators in place."""
    _fold_constants(program)
    for node in list(program.graph.nodes):
        handler = _HANDLERS.get(node.target) if node.op == "call_function" and _is_static(node) else None
        result = handler(_Replacement(program, node), *node.args, **node.kwargs) if handler else None
        if result is None:
            continue
        # Maxima come with their places, which nothing may read here.
        taken = [user for user in node.users if user.target is operator.getitem]
        if any(user.args[1] != 0 for user in taken):
            continue
        for user in taken or [node]:
            user.replace_all_uses_with(result)
            program.graph.erase_node(user)
        if taken:
            program.graph.erase_node(node)
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()
