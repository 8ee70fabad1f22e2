# SPDX-License-Identifier: Apache-2.0
"""Networks that are written down as TOSA, op by op, while torch computes the same in double precision."""

import copy
import math
from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
functional = torch.nn.functional

LARGEST = 3.40282347e38

# torch.double stands for f32.
ELEMENTS = {torch.double: "f32", torch.half: "f16", torch.int32: "i32", torch.bool: "i1", torch.int8: "i8"}


@dataclass(frozen=True, eq=False)
class Value:
    name: str
    type: str
    tensor: torch.Tensor = None

    @property
    def shape(self):
        return tuple(self.tensor.shape)


class Network:
    """A network that is written down and computed at once.

    margin: how far the numbers are from where a gradient jumps.
    ops:    names of the ops, in order.
    """

    def __init__(self, seed=7, prefix=""):
        self.random = np.random.default_rng(seed)
        self.prefix = prefix
        self.lines, self.ops, self.values, self.arguments, self.results = [], [], [], [], []
        self.margin = math.inf

    def draft(self):
        """Another one that goes on from here."""
        made = copy.copy(self)
        for name in ("lines", "ops", "values", "arguments", "results"):
            setattr(made, name, list(getattr(self, name)))
        return made

    def new(self, tensor=None, type=None):
        if type is None:
            type = "tensor<" + "".join(f"{size}x" for size in tensor.shape) + ELEMENTS[tensor.dtype] + ">"
        self.values.append(Value(f"%{self.prefix}v{len(self.values)}", type, tensor))
        return self.values[-1]

    def given(self, numbers):
        """An argument."""
        self.arguments.append(self.new(torch.tensor(np.float32(numbers), dtype=torch.double, requires_grad=True)))
        return self.arguments[-1]

    def argument(self, *shape, low=-1.0, high=1.0):
        return self.given(self.random.uniform(low, high, shape))

    def few(self, *shape):
        """An argument of few different numbers, which meet often."""
        return self.given(self.random.integers(-2, 3, shape))

    def constant(self, array):
        value = self.new(torch.as_tensor(array))
        numbers = str(value.tensor.tolist()).lower()
        self.lines.append(f'{value.name} = "tosa.const"() <{{values = dense<{numbers}> : {value.type}}}>')
        self.lines[-1] += f" : () -> {value.type}"
        return value

    def sizes(self, sizes):
        sizes = list(map(int, sizes))
        value = self.new(type=f"!tosa.shape<{len(sizes)}>")
        self.lines.append(f"{value.name} = tosa.const_shape {{values = dense<{sizes}> : tensor<{len(sizes)}xindex>}}")
        self.lines[-1] += f" : () -> {value.type}"
        return value

    def op(self, name, operands, tensor, attributes=""):
        result = self.new(tensor)
        names, types = ", ".join(o.name for o in operands), ", ".join(o.type for o in operands)
        self.lines.append(f"{result.name} = tosa.{name} {names} {{{attributes}}} : ({types}) -> {result.type}")
        self.ops.append(name)
        return result

    def keep_apart(self, distances):
        if distances.numel():
            self.margin = min(self.margin, distances.detach().abs().min().item())

    def result(self, value):
        self.results.append(value)

    def differentiate(self):
        """Numbers of the results, then of the gradients by the arguments; sets what the results' gradients are."""
        self.seeds = [np.float32(self.random.uniform(-1, 1, value.shape)) for value in self.results]
        numbers = [value.tensor.detach().numpy() for value in self.results]
        # A result that reaches no argument has no gradient in torch, and zeros in ours.
        moving = [
            (value.tensor, torch.tensor(seed).to(value.tensor.dtype))
            for value, seed in zip(self.results, self.seeds, strict=True)
            if value.tensor.requires_grad
        ]
        gradients = [None] * len(self.arguments)
        if moving:
            tensors, seeds = zip(*moving, strict=True)
            arguments = [value.tensor for value in self.arguments]
            gradients = torch.autograd.grad(tensors, arguments, seeds, allow_unused=True)
        for value, gradient in zip(self.arguments, gradients, strict=True):
            numbers.append(np.zeros(value.shape) if gradient is None else gradient.numpy())
        return numbers


ZERO = Value("%zero", "tensor<1xf32>")
SHIFT = Value("%shift", "tensor<1xi8>")
CONSTANTS = """%zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
"""


# ---------------------------------------------------------------------------------------------------------------------
# Ops, in TOSA and in torch
# ---------------------------------------------------------------------------------------------------------------------


def channels_first(tensor):
    return tensor.movedim(-1, 1)


def channels_last(tensor):
    return tensor.movedim(1, -1)


def integers(values):
    return f"array<i64: {', '.join(map(str, values))}>"


def around(pad):
    """As torch has it: the last axis first."""
    return [int(size) for d in reversed(range(len(pad) // 2)) for size in pad[2 * d : 2 * d + 2]]


def convolution(net, op, x, w, b, pad, stride, dilation):
    convolve = functional.conv3d if op == "conv3d" else functional.conv2d
    groups, kernel = 1, channels_first(w.tensor)
    if op == "depthwise_conv2d":
        groups = x.shape[-1]
        kernel = w.tensor.flatten(2)[:, :, :, None].permute(2, 3, 0, 1)
    padded = functional.pad(channels_first(x.tensor), around(pad))
    y = channels_last(convolve(padded, kernel, None, stride, 0, dilation, groups)) + b.tensor
    attributes = f"acc_type = f32, pad = {integers(pad)}, stride = {integers(stride)}, dilation = {integers(dilation)}"
    return net.op(op, [x, w, b, ZERO, ZERO], y, attributes)


def transposed_convolution(net, x, w, b, out_pad, stride):
    y = functional.conv_transpose2d(channels_first(x.tensor), w.tensor.permute(3, 0, 1, 2), None, stride)
    y = channels_last(functional.pad(y, around(out_pad))) + b.tensor
    attributes = f"acc_type = f32, out_pad = {integers(out_pad)}, stride = {integers(stride)}"
    return net.op("transpose_conv2d", [x, w, b, ZERO, ZERO], y, attributes)


def pool(net, op, x, kernel, pad, stride):
    attributes = f"kernel = {integers(kernel)}, pad = {integers(pad)}, stride = {integers(stride)}"
    if op == "avg_pool2d":

        def total(tensor):
            padded = functional.pad(channels_first(tensor), around(pad))
            return channels_last(functional.avg_pool2d(padded, kernel, stride, divisor_override=1))

        y = total(x.tensor) / total(torch.ones_like(x.tensor))
        return net.op(op, [x, ZERO, ZERO], y, attributes + ", acc_type = f32")
    padded = functional.pad(channels_first(x.tensor), around(pad), value=-math.inf)
    windows = padded.unfold(2, kernel[0], stride[0]).unfold(3, kernel[1], stride[1]).flatten(4)
    keep_extremes_apart(net, windows, 4)
    return net.op(op, [x], channels_last(functional.max_pool2d(padded, kernel, stride)), attributes)


def keep_extremes_apart(net, tensor, axis):
    if tensor.shape[axis] > 1:
        first, second = tensor.detach().topk(2, axis).values.unbind(axis)
        net.keep_apart(first - second)


def resize(net, x, mode, scale, offset, border, tensor):
    operands = [x, net.sizes(scale), net.sizes(offset), net.sizes(border)]
    return net.op("resize", operands, tensor, f"mode = {mode}")


def resize_between_corners(net, x, factors):
    """Corners stay corners: each of the factors n / d makes (size - 1) * n / d + 1 of a size."""
    size = [(old - 1) * n // d + 1 for old, (n, d) in zip(x.shape[1:3], factors, strict=True)]
    tensor = functional.interpolate(channels_first(x.tensor), size, mode="bilinear", align_corners=True)
    scale = [number for factor in factors for number in factor]
    return resize(net, x, "BILINEAR", scale, [0, 0], [0, 0], channels_last(tensor))


def resize_areas(net, x, factors, mode="BILINEAR"):
    """Elements are areas, the middles of which are interpolated between."""
    size = [old * n // d for old, (n, d) in zip(x.shape[1:3], factors, strict=True)]
    theirs = {"mode": "bilinear", "align_corners": False} if mode == "BILINEAR" else {"mode": "nearest-exact"}
    tensor = functional.interpolate(channels_first(x.tensor), size, **theirs)
    # Middles are at halves.
    scale = [2 * number for factor in factors for number in factor]
    return resize(net, x, mode, scale, [d - n for n, d in factors], [n - d for n, d in factors], channels_last(tensor))


def resize_to_lower_neighbor(net, x, factors):
    size = [old * n // d for old, (n, d) in zip(x.shape[1:3], factors, strict=True)]
    tensor = functional.interpolate(channels_first(x.tensor), size, mode="nearest")
    # TOSA takes the nearest one: half an element back, that is the one before.
    scale = [2 * number for factor in factors for number in factor]
    offset, border = [-n for n, _ in factors], [n - 2 * d for n, d in factors]
    return resize(net, x, "NEAREST_NEIGHBOR", scale, offset, border, channels_last(tensor))


UNARY = {
    "abs": torch.abs,
    "erf": torch.erf,
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "sin": torch.sin,
    "cos": torch.cos,
    "identity": torch.clone,
    "negate": torch.neg,
    "ceil": torch.ceil,
    "floor": torch.floor,
}
OF_POSITIVE = {"log": torch.log, "reciprocal": torch.reciprocal, "rsqrt": torch.rsqrt}
BINARY = {
    "add": torch.add,
    "sub": torch.sub,
    "mul": torch.mul,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "pow": torch.pow,
}
COMPARISONS = {"greater": torch.gt, "greater_equal": torch.ge, "equal": torch.eq}
# Whole numbers, as numbers of float32.
STEPS = ("ceil", "floor", "cast")
REDUCTIONS = {
    "reduce_sum": torch.sum,
    "reduce_max": torch.amax,
    "reduce_min": torch.amin,
    "reduce_product": torch.prod,
}


def unary(net, op, x):
    if op == "abs":
        net.keep_apart(x.tensor)
    elif op in ("ceil", "floor"):
        net.keep_apart(x.tensor - x.tensor.round())
    operands = [x, ZERO, ZERO] if op == "negate" else [x]
    return net.op(op, operands, (UNARY | OF_POSITIVE)[op](x.tensor))


def binary(net, op, a, b):
    if op in ("maximum", "minimum"):
        net.keep_apart(a.tensor - b.tensor)
    return net.op(op, [a, b, SHIFT] if op == "mul" else [a, b], BINARY[op](a.tensor, b.tensor))


def compare(net, op, a, b):
    net.keep_apart(a.tensor - b.tensor)
    return net.op(op, [a, b], COMPARISONS[op](a.tensor, b.tensor))


def clamp(net, x, low, high):
    for bound in (low, high):
        net.keep_apart(x.tensor - bound)
    bounds = f"min_val = {low:.8e} : f32, max_val = {high:.8e} : f32"
    return net.op("clamp", [x], x.tensor.clamp(low, high), bounds)


def select(net, chosen, a, b):
    return net.op("select", [chosen, a, b], torch.where(chosen.tensor, a.tensor, b.tensor))


def cast(net, x, dtype):
    if dtype == torch.int32:
        net.keep_apart(x.tensor - x.tensor.floor() - 0.5)
        return net.op("cast", [x], x.tensor.round().to(dtype))
    # By way of float32, which x is of.
    return net.op("cast", [x], x.tensor.float().to(dtype) if dtype == torch.half else x.tensor.to(dtype))


def step(net, op, x):
    return cast(net, cast(net, x, torch.int32), torch.double) if op == "cast" else unary(net, op, x)


def matmul(net, a, b):
    return net.op("matmul", [a, b, ZERO, ZERO], a.tensor @ b.tensor)


def reshape(net, x, shape):
    return net.op("reshape", [x, net.sizes(shape)], x.tensor.reshape([int(size) for size in shape]))


def transpose(net, x, axes):
    axes = list(map(int, axes))
    return net.op("transpose", [x], x.tensor.permute(axes), f"perms = array<i32: {', '.join(map(str, axes))}>")


def reverse(net, x, axis):
    return net.op("reverse", [x], x.tensor.flip(axis), f"axis = {axis} : i32")


def concat(net, values, axis):
    return net.op("concat", values, torch.cat([value.tensor for value in values], axis), f"axis = {axis} : i32")


def cut(net, x, start, size):
    tensor = x.tensor[tuple(slice(first, first + count) for first, count in zip(start, size, strict=True))]
    return net.op("slice", [x, net.sizes(start), net.sizes(size)], tensor)


def pad(net, x, padding, filler):
    """`filler`: one number."""
    inner = functional.pad(torch.ones_like(x.tensor), around(padding)) == 1
    tensor = torch.where(inner, functional.pad(x.tensor, around(padding)), filler.tensor)
    return net.op("pad", [x, net.sizes(padding), filler], tensor)


def tile(net, x, multiples):
    return net.op("tile", [x, net.sizes(multiples)], x.tensor.tile([int(count) for count in multiples]))


def reduce(net, op, x, axis):
    if op in ("reduce_max", "reduce_min"):
        keep_extremes_apart(net, x.tensor if op == "reduce_max" else -x.tensor, axis)
    tensor = REDUCTIONS[op](x.tensor, axis, keepdim=True)
    return net.op(op, [x], tensor, f"axis = {axis} : i32")


def gather(net, x, rows):
    indices = torch.as_tensor(rows, dtype=torch.int32)
    tensor = x.tensor[torch.arange(len(indices))[:, None], indices.long()]
    return net.op("gather", [x, net.constant(indices)], tensor)


def scatter(net, x, rows, written):
    indices = torch.as_tensor(rows, dtype=torch.int32)
    places = indices.long()[:, :, None].expand(written.shape)
    return net.op("scatter", [x, net.constant(indices), written], x.tensor.scatter(1, places, written.tensor))
