# SPDX-License-Identifier: Apache-2.0
"""Targets whose runtimes compute on integers only end in networks of integers."""

import json
import re

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

TARGETS = ("tflite", "qnnpack")
IMAGE, HALF, MEAN = "tensor<1x8x8x4xf32>", "tensor<1x4x4x4xf32>", "tensor<1x1x1x4xf32>"
ATTRIBUTES = "acc_type = f32, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>"


def conv(name: str, source: str, kernel: int, type_: str) -> str:
    pad = kernel // 2
    weights = f"tensor<4x{kernel}x{kernel}x4xf32>"
    values = np.random.default_rng(kernel).normal(0, 0.3, (4, kernel, kernel, 4)).round(3).tolist()
    return f"""
    %k{name} = "tosa.const"() {{values = dense<{values}> : {weights}}} : () -> {weights}
    %{name} = tosa.conv2d {source}, %k{name}, %bias, %zero, %zero
      {{{ATTRIBUTES}, pad = array<i64: {pad}, {pad}, {pad}, {pad}>}}
      : ({type_}, {weights}, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> {type_}"""


def pool(name: str, source: str, kernel: int, before: str, after: str) -> str:
    sizes = f"kernel = array<i64: {kernel}, {kernel}>, stride = array<i64: {kernel}, {kernel}>"
    return f"""
    %{name} = tosa.avg_pool2d {source}, %zero, %zero {{acc_type = f32, {sizes}, pad = array<i64: 0, 0, 0, 0>}}
      : ({before}, tensor<1xf32>, tensor<1xf32>) -> {after}"""


def relu(name: str, source: str) -> str:
    return f"""
    %{name} = tosa.clamp {source} {{min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32}} : ({IMAGE}) -> {IMAGE}"""


# A residual block, an average pool in front of a layer, and one in front of the classes.
NETWORK = f"""
  func.func @main(%x: {IMAGE}) -> {MEAN} {{
    %bias = "tosa.const"() {{values = dense<[0.1, -0.2, 0.3, 0.0]> : tensor<4xf32>}} : () -> tensor<4xf32>
    %zero = "tosa.const"() {{values = dense<0.0> : tensor<1xf32>}} : () -> tensor<1xf32>
    {conv("a", "%x", 3, IMAGE)}
    {relu("b", "%a")}
    {conv("c", "%b", 5, IMAGE)}
    %sum = tosa.add %b, %c : ({IMAGE}, {IMAGE}) -> {IMAGE}
    {relu("d", "%sum")}
    {pool("e", "%d", 2, IMAGE, HALF)}
    {conv("f", "%e", 3, HALF)}
    {pool("g", "%f", 4, HALF, MEAN)}
    {conv("h", "%g", 1, MEAN)}
    return %h : {MEAN}
  }}
"""


def quantized(target: str, samples: np.ndarray) -> mct.Model:
    simulated = mct.quantize(mct.Model.parse(NETWORK), target, samples).module.run("mct-simulate-integers")
    return mct.Model(simulated)


def codes_of(integer: mct.Model, which: str, numbers: np.ndarray) -> np.ndarray:
    grid = json.loads(integer.module.export_parameters(""))[which][0]
    return np.clip(np.floor(numbers / grid["scale"] + 0.5) + grid["zero_point"], -128, 127).astype(np.int8)


@pytest.mark.parametrize("target", TARGETS)
def test_pools_layers_and_activations_are_integers(target):
    samples = np.random.default_rng(4).normal(size=(32, 8, 8, 4)).astype(np.float32)
    simulated = quantized(target, samples)
    integer = mct.Model(simulated.module.run("mct-lower-to-integer{io=integer}"))
    assert "f32" not in integer.text
    # One for each of four layers; three for the sum, with its operands; those of means on other grids, and no other.
    rescales = len(re.findall("tosa.rescale ", integer.text))
    means = len(re.findall("tosa.reduce_sum |tosa.depthwise_conv2d ", integer.text))
    assert rescales - 4 - 3 <= 2 * means
    codes = integer.run(codes_of(integer, "inputs", samples))
    steps = np.abs(codes.astype(int) - codes_of(integer, "outputs", simulated.run(samples)).astype(int))
    # Every fourth mean of four codes lies between two, where roundings of f32 decide; the layers after it multiply
    # that.
    assert steps.max() <= 4 and (steps > 1).mean() < 0.1


@pytest.mark.parametrize("target", TARGETS)
def test_the_embedded_network_is_integers_with_its_softmax(target):
    calibration = f"calibration-data={measure.DIGITS}/digits_calib.npy input-scale=0.0625"
    pipeline = f"mct-ptq{{target={target} {calibration}}},mct-simulate-integers"
    pipeline += ",mct-lower-to-integer{io=integer softmax=integer}"
    assert "f32" not in mct.Model(mct.load(measure.DIGITS / "digits.mlirbc").module.run(pipeline)).text
