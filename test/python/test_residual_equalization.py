# SPDX-License-Identifier: Apache-2.0
"""Residual sums with outlier channels in front of layer norms, as post-norm transformers have them: what
mct-equalize-residuals makes of them computes the same bits in float, and quantizes better."""

import re

import numpy as np
import pytest
from mlir_text import const
from quantized_modules import calibrate, decibels, opt, quantize, run, write_samples

# Most of them run the pipeline.
pytestmark = pytest.mark.alternating

TOKENS, WIDTH, SAMPLES = 6, 16, 48
VALUES = f"tensor<1x{TOKENS}x{WIDTH}xf32>"
MEANS = f"tensor<1x{TOKENS}x1xf32>"
ONE = "tensor<1x1x1xf32>"


def multiply(result, left, right, kinds):
    a, b, c = kinds
    return f"%{result} = tosa.mul %{left}, %{right}, %shift : ({a}, {b}, tensor<1xi8>) -> {c}"


def norm(name, x, generator):
    """A layer norm with gain and offset."""
    channels = f"tensor<1x1x{WIDTH}xf32>"
    return [
        f"%{name}s = tosa.reduce_sum %{x} {{axis = 2 : i32}} : ({VALUES}) -> {MEANS}",
        multiply(f"{name}m", f"{name}s", "part", (MEANS, ONE, MEANS)),
        f"%{name}c = tosa.sub %{x}, %{name}m : ({VALUES}, {MEANS}) -> {VALUES}",
        multiply(f"{name}q", f"{name}c", f"{name}c", (VALUES, VALUES, VALUES)),
        f"%{name}t = tosa.reduce_sum %{name}q {{axis = 2 : i32}} : ({VALUES}) -> {MEANS}",
        multiply(f"{name}v", f"{name}t", "part", (MEANS, ONE, MEANS)),
        f"%{name}e = tosa.add %{name}v, %epsilon : ({MEANS}, {ONE}) -> {MEANS}",
        f"%{name}r = tosa.rsqrt %{name}e : ({MEANS}) -> {MEANS}",
        multiply(f"{name}n", f"{name}c", f"{name}r", (VALUES, MEANS, VALUES)),
        const(f"{name}g", generator.uniform(0.5, 1.5, (1, 1, WIDTH))),
        const(f"{name}b", generator.normal(size=(1, 1, WIDTH))),
        multiply(f"{name}k", f"{name}n", f"{name}g", (VALUES, channels, VALUES)),
        f'%{name} = tosa.add %{name}k, %{name}b : ({VALUES}, {channels}) -> {VALUES} loc("{name}")',
    ]


def dense(name, x, generator, outlier=1.0):
    """A linear layer; the result's channel 3 is `outlier` times as large as the others."""
    kernel = generator.normal(size=(1, WIDTH, WIDTH)) / np.sqrt(WIDTH)
    kernel[..., 3] *= outlier
    kinds = f"({VALUES}, tensor<1x{WIDTH}x{WIDTH}xf32>, tensor<1xf32>, tensor<1xf32>) -> {VALUES}"
    return [
        const(f"{name}k", kernel),
        const(f"{name}b", generator.normal(size=(1, 1, WIDTH))),
        f"%{name}p = tosa.matmul %{x}, %{name}k, %zero, %zero : {kinds}",
        f'%{name} = tosa.add %{name}p, %{name}b : ({VALUES}, tensor<1x1x{WIDTH}xf32>) -> {VALUES} loc("{name}")',
    ]


def network(outlier):
    """Three post-norm blocks of one layer each."""
    generator = np.random.default_rng(1)
    lines = [
        const("zero", [0]),
        const("part", np.full((1, 1, 1), 1 / WIDTH)),
        const("epsilon", np.full((1, 1, 1), 1e-5)),
        '%shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>',
        *norm("l0", "x", generator),
    ]
    for i in range(3):
        lines += dense(f"d{i}", f"l{i}", generator, outlier)
        lines += [f'%s{i} = tosa.add %d{i}, %l{i} : ({VALUES}, {VALUES}) -> {VALUES} loc("s{i}")']
        lines += norm(f"l{i + 1}", f"s{i}", generator)
    body = "\n".join([*lines, f"return %l3 : {VALUES}"])
    return f"module {{ func.func @main(%x: {VALUES}) -> {VALUES} {{ {body} }} }}"


@pytest.fixture
def files(tmp_path):
    (tmp_path / "outliers.mlir").write_text(network(100.0))
    (tmp_path / "even.mlir").write_text(network(1.0))
    write_samples(tmp_path, (SAMPLES, TOKENS, WIDTH))
    return tmp_path


def test_the_float_network_computes_the_same_bits(tools, files):
    calibrate(tools, files, "outliers.mlir", "imx500", "before.mlir")
    opt(tools, files, "before.mlir", "mct-equalize-residuals", "after.mlir")
    text = (files / "after.mlir").read_text()
    # Sums, layers in front of them, and the layer norms that only layers and sums use.
    for name in ("s0", "s1", "s2", "d0", "d1", "d2", "l2"):
        assert f'as "{name}_scaled" activation' in text, name
    before, after = run(tools, files, "before.mlir"), run(tools, files, "after.mlir")
    assert before.tobytes() == after.tobytes()


@pytest.mark.parametrize("target", ["imx500", "tflite_v1", "qnnpack"])
def test_outlier_channels_leave_the_others_their_codes(tools, files, target):
    reference = run(tools, files, "outliers.mlir")
    without = quantize(tools, files, "outliers.mlir", target, "residual-equalization=false", "without.mlir")
    equalized = quantize(tools, files, "outliers.mlir", target, "", "equalized.mlir")
    # Measured: 4.6 to 8.2 dB more; kernels with one range are rounded together, which makes up for a part.
    assert decibels(reference, equalized) > decibels(reference, without) + 4


def test_networks_without_outliers_stay_as_they_are(tools, files):
    with_it = quantize(tools, files, "even.mlir", "imx500", "", "with.mlir")
    without = quantize(tools, files, "even.mlir", "imx500", "residual-equalization=false", "without.mlir")
    assert with_it.tobytes() == without.tobytes()
    # Keys of resources are numbered.
    texts = [
        re.sub(r"(histogram\.\w+?)_\d+\b", r"\1", (files / name).read_text()) for name in ("with.mlir", "without.mlir")
    ]
    assert texts[0] == texts[1]


def test_integers_compute_what_is_simulated(tools, files):
    quantize(tools, files, "outliers.mlir", "imx500", "", "quantized.mlirbc")
    opt(tools, files, "quantized.mlirbc", "mct-simulate-integers", "simulated.mlirbc")
    opt(tools, files, "simulated.mlirbc", "mct-lower-to-integer", "integers.mlirbc")
    assert run(tools, files, "simulated.mlirbc").tobytes() == run(tools, files, "integers.mlirbc").tobytes()
