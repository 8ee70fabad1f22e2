# SPDX-License-Identifier: Apache-2.0
"""Gradients against those of torch.autograd, where torch is installed.

A network is written as TOSA op by op while torch computes the same in double precision. Numbers of both are compared:
results, and the gradients by all arguments. MCT_RANDOM_NETWORKS=2000 is for more random networks.
"""

import collections
import copy
import functools
import math
import os
import subprocess
from dataclasses import dataclass

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")
functional = torch.nn.functional

LARGEST = 3.40282347e38

# What both sides draw is a number of float32, and torch computes in double, so that all differences are the roundings
# of ours: some hundred products of about 1 in a sum, a half unit in the last place (6e-8) each, through up to a dozen
# ops. The largest of 1000 random networks is 2.6e-6.
TOLERANCE = 1e-5

# More than what roundings move a number by: closer to a kink, both sides may be on different ones of its.
MARGIN = 1e-3

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
        # What reaches no argument has no gradient in torch, and zeros in ours.
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


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    # Tensors are tiny: more threads only wait for each other.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def net():
    return Network()


@pytest.fixture
def check(tools, tmp_path):
    """Compares what our gradient function returns for some networks with torch; one function has them all."""

    def run(*networks, options=""):
        expected = [network.differentiate() for network in networks]
        arguments = [value for network in networks for value in network.arguments]
        results = [value for network in networks for value in network.results]
        header = ", ".join(f"{value.name}: {value.type}" for value in arguments)
        types = ", ".join(value.type for value in results)
        body = "\n".join(line for network in networks for line in network.lines)
        returned = f"return {', '.join(value.name for value in results)} : {types}"
        source = f"func.func @f({header}) -> ({types}) {{\n{CONSTANTS}{body}\n{returned}\n}}\n"
        (tmp_path / "f.mlir").write_text(source)
        command = [tools / "mct-opt", "f.mlir", f"--mct-add-gradient=with-results {options}", "-o", "gradient.mlir"]
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr + source
        inputs = [value.tensor.detach().numpy() for value in arguments]
        inputs += [seed for network in networks for seed in network.seeds]
        for i, array in enumerate(inputs):
            np.save(tmp_path / f"in{i}.npy", np.float32(array))
        command = [tools / "mct-run", "gradient.mlir", "--function=f_gradient"]
        command.append("--input=" + ",".join(f"{i}:in{i}.npy" for i in range(len(inputs))))
        command.append("--output=" + ",".join(f"out{i}.npy" for i in range(len(results) + len(arguments))))
        done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
        assert done.returncode == 0, done.stderr + source
        next_result, next_gradient = 0, len(results)
        for network, numbers in zip(networks, expected, strict=True):
            outputs = list(range(next_result, next_result + len(network.results)))
            outputs += range(next_gradient, next_gradient + len(network.arguments))
            next_result += len(network.results)
            next_gradient += len(network.arguments)
            for output, value, theirs in zip(outputs, network.results + network.arguments, numbers, strict=True):
                ours = np.load(tmp_path / f"out{output}.npy")
                what = f"{'result' if value in network.results else 'gradient by'} {value.name}"
                assert ours.size == theirs.size, "\n".join([f"{what}: {ours.shape}", *network.lines])
                worst = np.abs(ours.reshape(value.shape) - theirs).max() / max(1.0, np.abs(theirs).max())
                assert worst <= TOLERANCE, "\n".join([f"{what}: {worst:.3g}", *network.lines])

    return run


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


# ---------------------------------------------------------------------------------------------------------------------
# Op by op
# ---------------------------------------------------------------------------------------------------------------------

# Kernel, pad, stride and dilation: other ones on each axis and side, as much padding as the window reaches, and more.
WINDOWS = [
    ((3, 3), (1, 1, 1, 1), (1, 1), (1, 1)),
    ((3, 3), (1, 1, 1, 1), (2, 2), (1, 1)),
    ((3, 3), (2, 2, 2, 2), (1, 1), (2, 2)),
    ((2, 2), (0, 0, 0, 0), (2, 2), (1, 1)),
    ((1, 1), (0, 0, 0, 0), (2, 2), (1, 1)),
    ((3, 3), (3, 3, 3, 3), (3, 3), (2, 2)),
    ((3, 2), (0, 1, 2, 0), (1, 1), (1, 1)),
    ((2, 3), (1, 0, 0, 2), (2, 1), (1, 1)),
    ((3, 2), (2, 0, 1, 2), (1, 3), (2, 1)),
    ((3, 2), (0, 3, 1, 0), (2, 3), (3, 2)),
    ((4, 1), (2, 1, 0, 0), (3, 2), (1, 1)),
    ((1, 2), (1, 0, 0, 3), (1, 2), (1, 2)),
    ((2, 1), (3, 4, 2, 1), (2, 1), (2, 1)),
]
WINDOWS_OF_VOLUMES = [
    ((2, 3, 2), (0, 0, 1, 1, 0, 0), (1, 1, 1), (1, 1, 1)),
    ((3, 2, 3), (1, 1, 1, 1, 1, 1), (2, 2, 2), (1, 1, 1)),
    ((2, 3, 2), (1, 0, 0, 2, 2, 1), (1, 2, 3), (3, 1, 2)),
    ((1, 2, 3), (1, 2, 0, 3, 4, 0), (2, 3, 1), (1, 2, 2)),
]


def input_sizes(windows, pad, stride, dilation):
    """Sizes for which TOSA's divisions leave no rest, with at least three windows."""
    sizes = []
    for d, window in enumerate(windows):
        size = (window - 1) * dilation[d] + 1 - pad[2 * d] - pad[2 * d + 1] + 2 * stride[d]
        while size < 2:
            size += stride[d]
        sizes.append(size)
    return sizes


@pytest.mark.parametrize("op, bias", [("conv2d", 6), ("conv2d", 1), ("depthwise_conv2d", 8), ("depthwise_conv2d", 1)])
def test_convolution(check, net, op, bias):
    for kernel, pads, stride, dilation in WINDOWS:
        channels, window = (5, (6, *kernel, 5)) if op == "conv2d" else (4, (*kernel, 4, 2))
        x = net.argument(3, *input_sizes(kernel, pads, stride, dilation), channels)
        w, b = net.argument(*window), net.argument(bias)
        net.result(convolution(net, op, x, w, b, pads, stride, dilation))
    check(net)


@pytest.mark.parametrize("bias", [3, 1])
def test_convolution_of_volumes(check, net, bias):
    for kernel, pads, stride, dilation in WINDOWS_OF_VOLUMES:
        x = net.argument(2, *input_sizes(kernel, pads, stride, dilation), 2)
        w, b = net.argument(3, *kernel, 2), net.argument(bias)
        net.result(convolution(net, "conv3d", x, w, b, pads, stride, dilation))
    check(net)


@pytest.mark.parametrize("bias", [3, 1])
def test_transposed_convolution(check, net, bias):
    for kernel, out_pad, stride in [
        ((3, 3), (-1, -1, -1, -1), (2, 2)),
        ((2, 2), (0, 0, 0, 0), (2, 2)),
        ((4, 4), (-1, -1, -1, -1), (2, 2)),
        ((3, 3), (0, 0, 0, 0), (3, 3)),
        ((3, 2), (-2, -1, 0, -1), (1, 3)),
        ((2, 4), (-1, 2, 1, -3), (3, 2)),
        ((1, 3), (2, 0, 3, 1), (2, 1)),
    ]:
        x, w = net.argument(2, 5, 4, 4), net.argument(3, *kernel, 4)
        net.result(transposed_convolution(net, x, w, net.argument(bias), out_pad, stride))
    check(net)


@pytest.mark.parametrize("op", ["avg_pool2d", "max_pool2d"])
def test_pool(check, net, op):
    for kernel, pads, stride in [
        ((3, 3), (1, 1, 1, 1), (2, 2)),
        ((2, 3), (0, 1, 2, 0), (1, 2)),
        ((3, 2), (2, 0, 0, 1), (2, 3)),
        ((1, 4), (0, 0, 3, 2), (3, 1)),
        ((3, 1), (1, 2, 0, 0), (4, 2)),
    ]:
        # Equal elements meet in a window, and the first gets the gradient.
        x = net.few(2, *input_sizes(kernel, pads, stride, (1, 1)), 3)
        net.result(pool(net, op, x, kernel, pads, stride))
    check(net)


# Up, down, neither; other factors on both axes.
FACTORS = [((2, 1), (2, 1)), ((1, 2), (1, 2)), ((3, 1), (1, 2)), ((1, 1), (4, 1)), ((1, 3), (3, 1))]


def test_bilinear_resize_between_corners(check, net):
    for factors in [*FACTORS, ((3, 2), (2, 3))]:
        net.result(resize_between_corners(net, net.argument(2, 7, 7, 3), factors))
    check(net)


@pytest.mark.parametrize("mode", ["BILINEAR", "NEAREST_NEIGHBOR"])
def test_resize_of_areas(check, net, mode):
    for factors in FACTORS:
        net.result(resize_areas(net, net.argument(2, 6, 6, 3), factors, mode))
    check(net)


def test_resize_to_lower_neighbor(check, net):
    for factors in FACTORS:
        net.result(resize_to_lower_neighbor(net, net.argument(2, 6, 6, 3), factors))
    check(net)


def test_unary(check, net):
    for op in UNARY:
        if op not in STEPS:
            net.result(unary(net, op, net.argument(4, 6, low=-2, high=2)))
    for op in OF_POSITIVE:
        net.result(unary(net, op, net.argument(4, 6, low=0.25, high=2)))
    check(net)


def test_absolute_value_has_no_gradient_at_zero(check, net):
    net.result(unary(net, "abs", net.few(4, 6)))
    check(net)


def test_steps_pass_no_gradient_beside_what_does(check, net):
    for op in STEPS:
        x = net.argument(4, 6, low=-3, high=3)
        net.result(binary(net, "mul", x, step(net, op, x)))
    check(net)


def test_gradient_by_what_only_steps_read_is_zero(check, net):
    # Of other sizes: equal first ones are samples, and a constant comes once for each run of some of them.
    for rows, op in enumerate(STEPS, start=3):
        net.result(step(net, op, net.argument(rows, 6, low=-3, high=3)))
    check(net)


def test_cast_to_a_narrower_type_and_back(check, net):
    net.result(cast(net, cast(net, net.argument(4, 6), torch.half), torch.double))
    check(net)


@pytest.mark.parametrize("op", BINARY)
def test_binary_with_repeated_operands(check, net, op):
    for shapes in [
        ((2, 3, 4), (2, 3, 4)),
        ((1, 3, 1), (2, 3, 4)),
        ((2, 3, 4), (2, 1, 1)),
        ((2, 1, 4), (1, 3, 1)),
    ]:
        # Positive, as bases of powers are.
        a, b = (net.argument(*shape, low=0.25, high=2) for shape in shapes)
        net.result(binary(net, op, a, b))
    check(net)


def test_binary_with_the_same_value_twice(check, net):
    for op in ("add", "sub", "mul", "maximum", "minimum"):
        x = net.argument(4, 6)
        net.result(binary(net, op, x, x))
    check(net)


def test_equal_operands_share(check, net):
    for op in ("maximum", "minimum"):
        net.result(binary(net, op, net.few(4, 6), net.few(1, 6)))
    check(net)


def test_power_of_whole_numbers(check, net):
    a, b = (net.given(net.random.integers(1, 4, shape)) for shape in [(4, 6), (1, 6)])
    net.result(binary(net, "pow", a, b))
    check(net)


def test_clamp(check, net):
    for low, high in [(0.0, LARGEST), (0.0, 2.0), (-LARGEST, 1.0), (-LARGEST, LARGEST)]:
        net.result(clamp(net, net.argument(4, 6, low=-3, high=3), low, high))
    check(net)


def test_relu_has_no_gradient_at_its_bounds(check, net):
    for relu, bound in [(torch.relu, LARGEST), (functional.relu6, 6.0)]:
        # 0 and 6 among them.
        x = net.given(net.random.integers(-3, 4, (4, 6)) * 2)
        net.result(net.op("clamp", [x], relu(x.tensor), f"min_val = 0.0 : f32, max_val = {bound:.8e} : f32"))
    check(net)


def test_closed_clamp_has_a_gradient_at_its_bounds(check, net):
    net.result(clamp(net, net.few(4, 6), -1.0, 1.0))
    net.result(clamp(net, net.few(4, 6), 0.0, LARGEST))
    check(net, options="closed-clamps")


@pytest.mark.parametrize("comparison", COMPARISONS)
def test_select_by_a_comparison(check, net, comparison):
    for decides, a, b in [((2, 3), (2, 3), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((2, 3), (1, 1), (2, 1))]:
        chosen = compare(net, comparison, net.few(*decides), net.few(1, decides[1]))
        net.result(select(net, chosen, net.argument(*a), net.argument(*b)))
    # What is compared is also what is chosen.
    x, y = net.argument(4, 6), net.argument(4, 6)
    net.result(select(net, compare(net, comparison, x, y), x, y))
    check(net)


def test_select_by_a_constant(check, net):
    chosen = net.constant(net.random.integers(0, 2, (4, 6)).astype(bool))
    net.result(select(net, chosen, net.argument(4, 6), net.argument(1, 6)))
    check(net)


def test_matrix_product(check, net):
    for batches, rows, inner, columns in [(1, 4, 5, 3), (3, 2, 1, 4), (2, 1, 6, 1)]:
        net.result(matmul(net, net.argument(batches, rows, inner), net.argument(batches, inner, columns)))
    check(net)


def test_reshape(check, net):
    for shape in [(24,), (4, 6), (1, 3, 1, 8), (2, 3, 2, 2)]:
        net.result(reshape(net, net.argument(2, 3, 4), shape))
    check(net)


def test_transpose(check, net):
    for axes in [(1, 0), (2, 0, 1), (1, 2, 0), (0, 3, 1, 2), (3, 0, 2, 1)]:
        net.result(transpose(net, net.argument(*[2, 3, 4, 5][: len(axes)]), axes))
    check(net)


def test_reverse(check, net):
    for axis in range(3):
        net.result(reverse(net, net.argument(2, 3, 4), axis))
    check(net)


def test_concat_of_values_one_of_which_comes_twice(check, net):
    for axis in range(3):
        x, shape = net.argument(2, 3, 4), [2, 3, 4]
        shape[axis] = 5
        net.result(concat(net, [x, net.argument(*shape), x], axis))
    check(net)


def test_slice(check, net):
    for start, size in [((0, 0, 0), (2, 3, 4)), ((1, 0, 1), (1, 3, 2)), ((0, 2, 3), (2, 1, 1))]:
        net.result(cut(net, net.argument(2, 3, 4), start, size))
    check(net)


def test_pad_and_its_filler(check, net):
    for padding in [(0, 0, 0, 0, 0, 0), (0, 1, 2, 0, 1, 3), (2, 0, 0, 0, 0, 1)]:
        net.result(pad(net, net.argument(2, 3, 4), padding, net.argument(1)))
    check(net)


def test_tile(check, net):
    for multiples in [(1, 1, 1), (2, 1, 3), (3, 2, 2), (1, 4, 1)]:
        net.result(tile(net, net.argument(2, 3, 4), multiples))
    check(net)


@pytest.mark.parametrize("op", REDUCTIONS)
def test_reduction(check, net, op):
    for axis in range(3):
        net.result(reduce(net, op, net.argument(2, 3, 4), axis))
    check(net)


def test_equal_extremes_share(check, net):
    for op in ("reduce_max", "reduce_min"):
        net.result(reduce(net, op, net.few(4, 6), 1))
    check(net)


def test_product_with_zeros(check, net):
    x = net.given([[2, 3, -4], [2, 0, 4], [0, 5, 0], [0, 0, 0]])
    for axis in range(2):
        net.result(reduce(net, "reduce_product", x, axis))
    check(net)


def test_gather_that_reads_rows_twice_and_never(check, net):
    net.result(gather(net, net.argument(2, 5, 3), [[4, 0, 4, 4], [1, 2, 1, 0]]))
    check(net)


def test_scatter(check, net):
    net.result(scatter(net, net.argument(2, 5, 3), [[4, 0, 2], [1, 2, 3]], net.argument(2, 3, 3)))
    check(net)


# ---------------------------------------------------------------------------------------------------------------------
# Random networks
# ---------------------------------------------------------------------------------------------------------------------


def between(net, first, last):
    return int(net.random.integers(first, last + 1))


def one_of(net, values):
    return values[between(net, 0, len(values) - 1)]


def of_rank(net, x, rank):
    """The same numbers in a shape of that rank."""
    if len(x.shape) == rank:
        return x
    shape, rest = [], x.tensor.numel()
    for _ in range(rank - 1):
        shape.append(one_of(net, [size for size in range(1, rest + 1) if rest % size == 0 and size <= 8]))
        rest //= shape[-1]
    return reshape(net, x, [*shape, rest])


def positive(net, x):
    return binary(net, "add", unary(net, "sigmoid", x), net.argument(*[1] * len(x.shape), low=0.3, high=0.8))


def axis_of(net, x):
    return between(net, 0, len(x.shape) - 1)


def random_window(net, size, dilations=2):
    """Kernel, padding before and behind, stride and dilation that fit a size; without dilation, those of pools."""
    while True:
        kernel, stride, dilation = between(net, 1, 3), between(net, 1, 3), between(net, 1, dilations)
        # That of a convolution may be more than what the window reaches.
        most = kernel - 1 if dilations == 1 else (kernel - 1) * dilation + 1
        before, behind = between(net, 0, most), between(net, 0, most)
        rest = size - 1 + before + behind - (kernel - 1) * dilation
        if rest >= 0 and rest % stride == 0:
            return kernel, (before, behind), stride, dilation


def random_convolution(net, x, op):
    space = 3 if op == "conv3d" else 2
    x = of_rank(net, x, space + 2)
    kernel, pads, stride, dilation = zip(*(random_window(net, size) for size in x.shape[1:-1]), strict=True)
    channels, outputs = x.shape[-1], between(net, 1, 3)
    window = (*kernel, channels, min(outputs, 2)) if op == "depthwise_conv2d" else (outputs, *kernel, channels)
    bias = channels * window[-1] if op == "depthwise_conv2d" else outputs
    w, b = net.argument(*window), net.argument(one_of(net, [bias, 1]))
    return convolution(net, op, x, w, b, [side for sides in pads for side in sides], stride, dilation)


def random_transposed_convolution(net, x):
    x = of_rank(net, x, 4)
    kernel, stride, outputs = (between(net, 2, 3), between(net, 1, 3)), (between(net, 1, 2), between(net, 1, 3)), 2
    out_pad = [between(net, 1 - kernel[side // 2], 1) for side in range(4)]
    if any((x.shape[d + 1] - 1) * stride[d] + kernel[d] + out_pad[2 * d] + out_pad[2 * d + 1] < 1 for d in range(2)):
        out_pad = [0] * 4
    w, b = net.argument(outputs, *kernel, x.shape[-1]), net.argument(one_of(net, [outputs, 1]))
    return transposed_convolution(net, x, w, b, out_pad, stride)


def random_pool(net, x, op):
    x = of_rank(net, x, 4)
    kernel, pads, stride, _ = zip(*(random_window(net, size, 1) for size in x.shape[1:-1]), strict=True)
    return pool(net, op, x, kernel, [side for sides in pads for side in sides], stride)


def random_resize(net, x):
    x = of_rank(net, x, 4)
    kind = one_of(net, [resize_between_corners, resize_areas, resize_to_lower_neighbor])
    less = 1 if kind is resize_between_corners else 0
    # One row stays one row between corners.
    factors = [
        one_of(net, [(n, d) for n, d in [(1, 1), (2, 1), (3, 1), (1, 2)] if (size - less) % d == 0])
        for size in x.shape[1:3]
    ]
    if kind is resize_areas:
        return kind(net, x, factors, one_of(net, ["BILINEAR", "NEAREST_NEIGHBOR"]))
    return kind(net, x, factors)


def random_binary(net, x, op):
    if op == "pow":
        x = positive(net, x)
    others = [value for value in net.values if value.type == x.type]
    if op == "pow" or between(net, 0, 2):
        other = net.argument(*(one_of(net, [size, 1]) for size in x.shape), low=-2, high=2)
    else:
        other = one_of(net, others)
    return binary(net, op, x, other) if op == "pow" or between(net, 0, 1) else binary(net, op, other, x)


def random_select(net, x):
    bounds = net.argument(*(one_of(net, [size, 1]) for size in x.shape))
    chosen = compare(net, one_of(net, list(COMPARISONS)), x, bounds)
    other = net.argument(*(one_of(net, [size, 1]) for size in x.shape))
    return select(net, chosen, x, other) if between(net, 0, 1) else select(net, chosen, other, x)


def random_step(net, x, op):
    # Beside what it rounds, which has a gradient.
    return binary(net, one_of(net, ["add", "mul"]), x, step(net, op, x))


def random_clamp(net, x):
    low = float(np.float32(net.random.uniform(-1.5, 0)))
    return clamp(net, x, *one_of(net, [(0.0, LARGEST), (0.0, 6.0), (low, low + 1.5)]))


def random_matmul(net, x):
    x = of_rank(net, x, 3)
    batches, rows, inner = x.shape
    if between(net, 0, 1):
        return matmul(net, x, net.argument(batches, inner, between(net, 1, 4)))
    return matmul(net, net.argument(batches, between(net, 1, 4), rows), x)


def random_concat(net, x):
    axis = axis_of(net, x)
    values = [x, net.argument(*(between(net, 1, 3) if d == axis else size for d, size in enumerate(x.shape)))]
    if between(net, 0, 1):
        values.append(x)
    net.random.shuffle(values)
    return concat(net, values, axis)


def random_slice(net, x):
    start = [between(net, 0, size - 1) for size in x.shape]
    return cut(net, x, start, [between(net, 1, size - first) for first, size in zip(start, x.shape, strict=True)])


def random_gather(net, x):
    x = of_rank(net, x, 3)
    return gather(net, x, net.random.integers(0, x.shape[1], (x.shape[0], between(net, 1, 5))))


def random_scatter(net, x):
    x = of_rank(net, x, 3)
    batches, rows, columns = x.shape
    count = between(net, 1, rows)
    places = np.stack([net.random.permutation(rows)[:count] for _ in range(batches)])
    return scatter(net, x, places, net.argument(batches, count, columns))


RANDOM_OPS = (
    {op: lambda net, x, op=op: random_convolution(net, x, op) for op in ("conv2d", "conv3d", "depthwise_conv2d")}
    | {op: lambda net, x, op=op: random_pool(net, x, op) for op in ("avg_pool2d", "max_pool2d")}
    | {op: lambda net, x, op=op: random_binary(net, x, op) for op in BINARY}
    | {op: lambda net, x, op=op: unary(net, op, positive(net, x)) for op in OF_POSITIVE}
    | {op: lambda net, x, op=op: unary(net, op, x) for op in UNARY if op not in STEPS}
    | {op: lambda net, x, op=op: random_step(net, x, op) for op in STEPS}
    | {op: lambda net, x, op=op: reduce(net, op, x, axis_of(net, x)) for op in REDUCTIONS}
    | {
        "transpose_conv2d": random_transposed_convolution,
        "resize": random_resize,
        "select": random_select,
        "clamp": random_clamp,
        "matmul": random_matmul,
        "reshape": lambda net, x: of_rank(net, x, one_of(net, [r for r in (1, 2, 3, 4) if r != len(x.shape)])),
        "transpose": lambda net, x: transpose(net, x, net.random.permutation(len(x.shape))),
        "reverse": lambda net, x: reverse(net, x, axis_of(net, x)),
        "concat": random_concat,
        "slice": random_slice,
        "pad": lambda net, x: pad(net, x, net.random.integers(0, 3, 2 * len(x.shape)), net.argument(1)),
        "tile": lambda net, x: tile(net, x, net.random.integers(1, 4, len(x.shape))),
        "gather": random_gather,
        "scatter": random_scatter,
    }
)


@functools.cache
def random_network(seed):
    """Three to six ops, not counting those that make an operand fit, on values with any number of readers."""
    net = Network(seed, f"n{seed}_")
    shape = [between(net, 1, 4) for _ in range(between(net, 2, 4))]
    chosen = [net.argument(*shape)]
    count = between(net, 3, 6)
    while len(chosen) <= count:
        # What comes last most often.
        x = chosen[-1] if between(net, 0, 2) else one_of(net, chosen)
        draft = net.draft()
        y = one_of(net, list(RANDOM_OPS.values()))(draft, x)
        # Where numbers are large, so are the roundings.
        is_small = y.tensor.numel() <= 300 and y.tensor.detach().abs().max() <= 8
        if is_small and draft.margin >= MARGIN:
            net = draft
            chosen.append(y)
    read = set(name for line in net.lines for name in line.replace(",", " ").split()[1:])
    for value in chosen[1:]:
        if value.name not in read:
            net.result(value)
    return net


NUMBER = int(os.environ.get("MCT_RANDOM_NETWORKS", "200"))
# In one function each: that is two processes.
BATCH = 50


@pytest.mark.alternating
@pytest.mark.parametrize("first", range(0, NUMBER, BATCH))
def test_random_networks(check, first):
    check(*(random_network(seed) for seed in range(first, min(first + BATCH, NUMBER))))


def test_random_networks_have_all_ops():
    counts = collections.Counter(op for seed in range(200) for op in set(random_network(seed).ops))
    assert {op for op in RANDOM_OPS if counts[op] < 5} == set()
