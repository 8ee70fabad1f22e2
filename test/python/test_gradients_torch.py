# SPDX-License-Identifier: Apache-2.0
"""Gradients against those of torch.autograd, where torch is installed."""

import subprocess

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

ZERO = '%zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>'


def tensor_type(shape):
    return "tensor<" + "".join(f"{size}x" for size in shape) + "f32>"


def nhwc(array):
    return array.permute(0, 2, 3, 1).contiguous()


def nchw(array):
    return array.permute(0, 3, 1, 2)


@pytest.fixture
def gradients_of(tools, tmp_path):
    """What mct-run makes of the gradient function of a body at some arguments."""

    def run(body, arguments, result_gradient):
        types = ", ".join(f"%{i}: {tensor_type(a.shape)}" for i, a in enumerate(arguments))
        result = tensor_type(result_gradient.shape)
        source = tmp_path / "f.mlir"
        source.write_text(f"func.func @f({types}) -> {result} {{\n{ZERO}\n{body}\nreturn %y : {result}\n}}\n")
        module = tmp_path / "gradient.mlir"
        subprocess.run([tools / "mct-opt", source, "--mct-add-gradient", "-o", module], check=True)
        inputs, outputs = [], []
        for i, array in enumerate([*arguments, result_gradient]):
            path = tmp_path / f"in{i}.npy"
            np.save(path, np.ascontiguousarray(array.detach().numpy(), dtype=np.float32))
            inputs.append(f"{i}:{path}")
        for i in range(len(arguments)):
            outputs.append(str(tmp_path / f"out{i}.npy"))
        command = [tools / "mct-run", module, "--function=f_gradient"]
        command += [f"--input={','.join(inputs)}", f"--output={','.join(outputs)}"]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return [np.load(path).reshape(a.shape) for path, a in zip(outputs, arguments, strict=True)]

    return run


def compare(found, expected):
    # Sums of some hundred products, in float32 on both sides, in another order.
    for ours, theirs in zip(found, expected, strict=True):
        theirs = theirs.detach().numpy()
        assert np.abs(ours - theirs).max() <= 1e-5 * max(1.0, np.abs(theirs).max())


@pytest.fixture(autouse=True)
def same_numbers():
    torch.manual_seed(7)


def random(*shape):
    return torch.rand(shape) * 2 - 1


# Kernel size, padding, stride and dilation so that every division is exact.
@pytest.mark.parametrize(
    "kernel, pad, stride, dilation, size",
    [(3, 1, 1, 1, 8), (3, 1, 2, 1, 9), (3, 2, 1, 2, 8), (2, 0, 2, 1, 8), (1, 0, 2, 1, 9), (3, 3, 3, 2, 8)],
)
@pytest.mark.parametrize("depthwise", [False, True])
def test_convolution(gradients_of, kernel, pad, stride, dilation, size, depthwise):
    inputs, outputs, groups = (4, 8, 4) if depthwise else (5, 6, 1)
    x = random(3, inputs, size, size).requires_grad_()
    w = random(outputs, inputs // groups, kernel, kernel).requires_grad_()
    b = random(outputs).requires_grad_()
    y = torch.nn.functional.conv2d(x, w, b, stride, pad, dilation, groups)
    g = random(*y.shape)
    y.backward(g)
    if depthwise:

        def to_tosa(v):
            return v.reshape(inputs, outputs // inputs, kernel, kernel).permute(2, 3, 0, 1)
    else:
        to_tosa = nhwc
    ours = [nhwc(x), to_tosa(w), b]
    op = "tosa.depthwise_conv2d" if depthwise else "tosa.conv2d"
    operands = ", ".join(tensor_type(v.shape) for v in ours)
    body = (
        f"%y = {op} %0, %1, %2, %zero, %zero {{acc_type = f32, dilation = array<i64: {dilation}, {dilation}>, "
        f"pad = array<i64: {pad}, {pad}, {pad}, {pad}>, stride = array<i64: {stride}, {stride}>}} : "
        f"({operands}, tensor<1xf32>, tensor<1xf32>) -> {tensor_type(nhwc(y).shape)}"
    )
    compare(gradients_of(body, ours, nhwc(g)), [nhwc(x.grad), to_tosa(w.grad), b.grad])


@pytest.mark.parametrize("kernel, cut, stride", [(3, 1, 2), (2, 0, 2), (4, 1, 2), (3, 0, 3)])
def test_transposed_convolution(gradients_of, kernel, cut, stride):
    x = random(2, 3, 5, 4).requires_grad_()
    w = random(3, 4, kernel, kernel).requires_grad_()
    b = random(4).requires_grad_()
    y = torch.nn.functional.conv_transpose2d(x, w, b, stride, cut)
    g = random(*y.shape)
    y.backward(g)

    def to_tosa(v):
        return v.permute(1, 2, 3, 0)

    ours = [nhwc(x), to_tosa(w), b]
    operands = ", ".join(tensor_type(v.shape) for v in ours)
    body = (
        f"%y = tosa.transpose_conv2d %0, %1, %2, %zero, %zero {{acc_type = f32, "
        f"out_pad = array<i64: {-cut}, {-cut}, {-cut}, {-cut}>, stride = array<i64: {stride}, {stride}>}} : "
        f"({operands}, tensor<1xf32>, tensor<1xf32>) -> {tensor_type(nhwc(y).shape)}"
    )
    compare(gradients_of(body, ours, nhwc(g)), [nhwc(x.grad), to_tosa(w.grad), b.grad])


@pytest.mark.parametrize("maximum", [False, True])
def test_pool(gradients_of, maximum):
    # Few different values: equal ones meet in a window, and the first gets the gradient.
    x = (random(2, 3, 7, 7) * 3).round().requires_grad_()
    functional = torch.nn.functional
    y = functional.max_pool2d(x, 3, 2, 1) if maximum else functional.avg_pool2d(x, 3, 2, 1, count_include_pad=False)
    g = random(*y.shape)
    y.backward(g)
    shape, result = tensor_type(nhwc(x).shape), tensor_type(nhwc(y).shape)
    window = "kernel = array<i64: 3, 3>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 2, 2>"
    body = f"%y = tosa.max_pool2d %0 {{{window}}} : ({shape}) -> {result}"
    if not maximum:
        types = f"({shape}, tensor<1xf32>, tensor<1xf32>)"
        body = f"%y = tosa.avg_pool2d %0, %zero, %zero {{{window}, acc_type = f32}} : {types} -> {result}"
    compare(gradients_of(body, [nhwc(x)], nhwc(g)), [nhwc(x.grad)])


OPS = {
    "abs": torch.abs,
    "erf": torch.erf,
    "exp": torch.exp,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "sin": torch.sin,
    "cos": torch.cos,
}


@pytest.mark.parametrize("name", OPS)
def test_unary(gradients_of, name):
    x = random(4, 6).requires_grad_()
    y = OPS[name](x)
    g = random(4, 6)
    y.backward(g)
    body = f"%y = tosa.{name} %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>"
    compare(gradients_of(body, [x], g), [x.grad])


@pytest.mark.parametrize("name", ["maximum", "minimum", "pow", "sub"])
def test_binary_with_repeated_operand_and_ties(gradients_of, name):
    a = (random(4, 6) * 2).round().abs().add(1).requires_grad_()
    b = (random(1, 6) * 2).round().abs().add(1).requires_grad_()
    y = getattr(torch, name)(a, b)
    g = random(4, 6)
    y.backward(g)
    body = f"%y = tosa.{name} %0, %1 : (tensor<4x6xf32>, tensor<1x6xf32>) -> tensor<4x6xf32>"
    compare(gradients_of(body, [a, b], g), [a.grad, b.grad])


def test_relu_has_no_gradient_at_zero(gradients_of):
    x = (random(4, 6) * 2).round().requires_grad_()
    y = torch.relu(x)
    g = random(4, 6)
    y.backward(g)
    relu = "{min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}"
    body = f"%y = tosa.clamp %0 {relu} : (tensor<4x6xf32>) -> tensor<4x6xf32>"
    compare(gradients_of(body, [x], g), [x.grad])


def test_equal_extremes_share(gradients_of):
    x = (random(4, 6) * 2).round().requires_grad_()
    y = x.amax(dim=1, keepdim=True)
    g = random(4, 1)
    y.backward(g)
    body = "%y = tosa.reduce_max %0 {axis = 1 : i32} : (tensor<4x6xf32>) -> tensor<4x1xf32>"
    compare(gradients_of(body, [x], g), [x.grad])
