# SPDX-License-Identifier: Apache-2.0
"""Gradients against those of torch.autograd, where torch is installed.

A network is written as TOSA op by op while torch computes the same in double precision. Numbers of both are compared:
results, and the gradients by all arguments. MCT_RANDOM_NETWORKS=2000 is for more random networks.
"""

import collections
import os
import subprocess

import numpy as np
import pytest
import torch_networks as tn
from random_torch_networks import RANDOM_OPS, random_network

torch = pytest.importorskip("torch", reason="torch is not installed")

# Both sides draw numbers of float32, and torch computes in double, so that all differences are the roundings
# of ours: some hundred products of about 1 in a sum, a half unit in the last place (6e-8) each, through up to a dozen
# ops. The largest of 1000 random networks is 2.6e-6.
TOLERANCE = 1e-5


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    # Tensors are tiny: more threads only wait for each other.
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def net():
    return tn.Network()


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
        source = f"func.func @f({header}) -> ({types}) {{\n{tn.CONSTANTS}{body}\n{returned}\n}}\n"
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


@pytest.mark.alternating
@pytest.mark.parametrize("op, bias", [("conv2d", 6), ("conv2d", 1), ("depthwise_conv2d", 8), ("depthwise_conv2d", 1)])
def test_convolution(check, net, op, bias):
    for kernel, pads, stride, dilation in WINDOWS:
        channels, window = (5, (6, *kernel, 5)) if op == "conv2d" else (4, (*kernel, 4, 2))
        x = net.argument(3, *input_sizes(kernel, pads, stride, dilation), channels)
        w, b = net.argument(*window), net.argument(bias)
        net.result(tn.convolution(net, op, x, w, b, pads, stride, dilation))
    check(net)


@pytest.mark.parametrize("bias", [3, 1])
def test_convolution_of_volumes(check, net, bias):
    for kernel, pads, stride, dilation in WINDOWS_OF_VOLUMES:
        x = net.argument(2, *input_sizes(kernel, pads, stride, dilation), 2)
        w, b = net.argument(3, *kernel, 2), net.argument(bias)
        net.result(tn.convolution(net, "conv3d", x, w, b, pads, stride, dilation))
    check(net)


@pytest.mark.alternating
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
        net.result(tn.transposed_convolution(net, x, w, net.argument(bias), out_pad, stride))
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
        net.result(tn.pool(net, op, x, kernel, pads, stride))
    check(net)


# Up, down, neither; other factors on both axes.
FACTORS = [((2, 1), (2, 1)), ((1, 2), (1, 2)), ((3, 1), (1, 2)), ((1, 1), (4, 1)), ((1, 3), (3, 1))]


def test_bilinear_resize_between_corners(check, net):
    for factors in [*FACTORS, ((3, 2), (2, 3))]:
        net.result(tn.resize_between_corners(net, net.argument(2, 7, 7, 3), factors))
    check(net)


@pytest.mark.parametrize("mode", ["BILINEAR", "NEAREST_NEIGHBOR"])
def test_resize_of_areas(check, net, mode):
    for factors in FACTORS:
        net.result(tn.resize_areas(net, net.argument(2, 6, 6, 3), factors, mode))
    check(net)


def test_resize_to_lower_neighbor(check, net):
    for factors in FACTORS:
        net.result(tn.resize_to_lower_neighbor(net, net.argument(2, 6, 6, 3), factors))
    check(net)


def test_unary(check, net):
    for op in tn.UNARY:
        if op not in tn.STEPS:
            net.result(tn.unary(net, op, net.argument(4, 6, low=-2, high=2)))
    for op in tn.OF_POSITIVE:
        net.result(tn.unary(net, op, net.argument(4, 6, low=0.25, high=2)))
    check(net)


def test_absolute_value_has_no_gradient_at_zero(check, net):
    net.result(tn.unary(net, "abs", net.few(4, 6)))
    check(net)


def test_steps_pass_no_gradient_beside_what_does(check, net):
    for op in tn.STEPS:
        x = net.argument(4, 6, low=-3, high=3)
        net.result(tn.binary(net, "mul", x, tn.step(net, op, x)))
    check(net)


def test_gradient_by_what_only_steps_read_is_zero(check, net):
    # Sizes differ: equal first ones are samples, and a constant comes once for each run of some of them.
    for rows, op in enumerate(tn.STEPS, start=3):
        net.result(tn.step(net, op, net.argument(rows, 6, low=-3, high=3)))
    check(net)


def test_cast_to_a_narrower_type_and_back(check, net):
    net.result(tn.cast(net, tn.cast(net, net.argument(4, 6), torch.half), torch.double))
    check(net)


@pytest.mark.alternating
@pytest.mark.parametrize("op", tn.BINARY)
def test_binary_with_repeated_operands(check, net, op):
    for shapes in [
        ((2, 3, 4), (2, 3, 4)),
        ((1, 3, 1), (2, 3, 4)),
        ((2, 3, 4), (2, 1, 1)),
        ((2, 1, 4), (1, 3, 1)),
    ]:
        # Positive, as bases of powers are.
        a, b = (net.argument(*shape, low=0.25, high=2) for shape in shapes)
        net.result(tn.binary(net, op, a, b))
    check(net)


def test_binary_with_the_same_value_twice(check, net):
    for op in ("add", "sub", "mul", "maximum", "minimum"):
        x = net.argument(4, 6)
        net.result(tn.binary(net, op, x, x))
    check(net)


def test_equal_operands_share(check, net):
    for op in ("maximum", "minimum"):
        net.result(tn.binary(net, op, net.few(4, 6), net.few(1, 6)))
    check(net)


def test_power_of_whole_numbers(check, net):
    a, b = (net.given(net.random.integers(1, 4, shape)) for shape in [(4, 6), (1, 6)])
    net.result(tn.binary(net, "pow", a, b))
    check(net)


def test_clamp(check, net):
    for low, high in [(0.0, tn.LARGEST), (0.0, 2.0), (-tn.LARGEST, 1.0), (-tn.LARGEST, tn.LARGEST)]:
        net.result(tn.clamp(net, net.argument(4, 6, low=-3, high=3), low, high))
    check(net)


def test_relu_has_no_gradient_at_its_bounds(check, net):
    for relu, bound in [(torch.relu, tn.LARGEST), (torch.nn.functional.relu6, 6.0)]:
        # 0 and 6 among them.
        x = net.given(net.random.integers(-3, 4, (4, 6)) * 2)
        net.result(net.op("clamp", [x], relu(x.tensor), f"min_val = 0.0 : f32, max_val = {bound:.8e} : f32"))
    check(net)


def test_closed_clamp_has_a_gradient_at_its_bounds(check, net):
    net.result(tn.clamp(net, net.few(4, 6), -1.0, 1.0))
    net.result(tn.clamp(net, net.few(4, 6), 0.0, tn.LARGEST))
    check(net, options="closed-clamps")


@pytest.mark.parametrize("comparison", tn.COMPARISONS)
def test_select_by_a_comparison(check, net, comparison):
    for decides, a, b in [((2, 3), (2, 3), (2, 3)), ((2, 1), (1, 3), (2, 3)), ((2, 3), (1, 1), (2, 1))]:
        chosen = tn.compare(net, comparison, net.few(*decides), net.few(1, decides[1]))
        net.result(tn.select(net, chosen, net.argument(*a), net.argument(*b)))
    # The operands that are compared are also those that are chosen.
    x, y = net.argument(4, 6), net.argument(4, 6)
    net.result(tn.select(net, tn.compare(net, comparison, x, y), x, y))
    check(net)


def test_select_by_a_constant(check, net):
    chosen = net.constant(net.random.integers(0, 2, (4, 6)).astype(bool))
    net.result(tn.select(net, chosen, net.argument(4, 6), net.argument(1, 6)))
    check(net)


def test_matrix_product(check, net):
    for batches, rows, inner, columns in [(1, 4, 5, 3), (3, 2, 1, 4), (2, 1, 6, 1)]:
        net.result(tn.matmul(net, net.argument(batches, rows, inner), net.argument(batches, inner, columns)))
    check(net)


def test_reshape(check, net):
    for shape in [(24,), (4, 6), (1, 3, 1, 8), (2, 3, 2, 2)]:
        net.result(tn.reshape(net, net.argument(2, 3, 4), shape))
    check(net)


def test_transpose(check, net):
    for axes in [(1, 0), (2, 0, 1), (1, 2, 0), (0, 3, 1, 2), (3, 0, 2, 1)]:
        net.result(tn.transpose(net, net.argument(*[2, 3, 4, 5][: len(axes)]), axes))
    check(net)


def test_reverse(check, net):
    for axis in range(3):
        net.result(tn.reverse(net, net.argument(2, 3, 4), axis))
    check(net)


def test_concat_of_values_one_of_which_comes_twice(check, net):
    for axis in range(3):
        x, shape = net.argument(2, 3, 4), [2, 3, 4]
        shape[axis] = 5
        net.result(tn.concat(net, [x, net.argument(*shape), x], axis))
    check(net)


def test_slice(check, net):
    for start, size in [((0, 0, 0), (2, 3, 4)), ((1, 0, 1), (1, 3, 2)), ((0, 2, 3), (2, 1, 1))]:
        net.result(tn.cut(net, net.argument(2, 3, 4), start, size))
    check(net)


def test_pad_and_its_filler(check, net):
    for padding in [(0, 0, 0, 0, 0, 0), (0, 1, 2, 0, 1, 3), (2, 0, 0, 0, 0, 1)]:
        net.result(tn.pad(net, net.argument(2, 3, 4), padding, net.argument(1)))
    check(net)


def test_tile(check, net):
    for multiples in [(1, 1, 1), (2, 1, 3), (3, 2, 2), (1, 4, 1)]:
        net.result(tn.tile(net, net.argument(2, 3, 4), multiples))
    check(net)


@pytest.mark.alternating
@pytest.mark.parametrize("op", tn.REDUCTIONS)
def test_reduction(check, net, op):
    for axis in range(3):
        net.result(tn.reduce(net, op, net.argument(2, 3, 4), axis))
    check(net)


def test_equal_extremes_share(check, net):
    for op in ("reduce_max", "reduce_min"):
        net.result(tn.reduce(net, op, net.few(4, 6), 1))
    check(net)


def test_product_with_zeros(check, net):
    x = net.given([[2, 3, -4], [2, 0, 4], [0, 5, 0], [0, 0, 0]])
    for axis in range(2):
        net.result(tn.reduce(net, "reduce_product", x, axis))
    check(net)


def test_gather_that_reads_rows_twice_and_never(check, net):
    net.result(tn.gather(net, net.argument(2, 5, 3), [[4, 0, 4, 4], [1, 2, 1, 0]]))
    check(net)


def test_scatter(check, net):
    net.result(tn.scatter(net, net.argument(2, 5, 3), [[4, 0, 2], [1, 2, 3]], net.argument(2, 3, 3)))
    check(net)


# ---------------------------------------------------------------------------------------------------------------------
# Random networks
# ---------------------------------------------------------------------------------------------------------------------

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
