# SPDX-License-Identifier: Apache-2.0
"""Convolutions, matrix products and fully connected layers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from corpus import family, maker
from network import Grid, Network, Value, array_text, pot, symmetric, uniform, windows

Description = Iterator[tuple[str, dict[str, Any]]]


class Style(NamedTuple):
    """Grids of input, kernel and output of a layer.

    kernel:     thresholds, one for the tensor or several that channels take in turn.
    activation: "", "relu" or "relu6".
    halves:     kernels of few values, so that many sums lie in the middle of two codes.
    """

    input: Grid
    kernel: tuple[float, ...]
    output: Grid
    kernel_kind: str = "power_of_two"
    kernel_bits: int = 8
    activation: str = ""
    halves: bool = False
    bias: float = 0.5


STYLES = {
    "powers of two": Style(pot(4.0), (1.0,), pot(8.0)),
    "powers of two by channel": Style(pot(4.0), (1.0, 0.5, 2.0), pot(8.0)),
    "symmetric": Style(symmetric(3.7), (0.93,), symmetric(6.1), "symmetric"),
    "symmetric by channel": Style(symmetric(3.7), (0.93, 0.61, 1.17), symmetric(6.1), "symmetric"),
    "zero points": Style(uniform(0.031, 37), (0.93, 0.61, 1.17), uniform(0.047, 201), "symmetric"),
    "zero points at the ends": Style(uniform(0.03, 0), (0.9,), uniform(0.05, 255), "symmetric"),
    "unsigned, ReLU": Style(pot(4.0, signed=False), (1.0, 0.5), pot(4.0, signed=False), activation="relu"),
    "ReLU6": Style(symmetric(3.7), (0.93, 0.61), uniform(6 / 255, 0), "symmetric", activation="relu6"),
    "saturating": Style(pot(4.0), (1.0,), pot(0.5)),
    "halves": Style(pot(1.0), (1.0,), pot(2.0), halves=True, bias=0.0),
    "kernels of 4 bits": Style(pot(4.0), (1.0, 0.5), pot(8.0), kernel_bits=4),
    "kernels of 2 bits": Style(symmetric(3.7), (0.9,), symmetric(5.3), "symmetric", kernel_bits=2),
    "4 bits": Style(pot(4.0, 4), (1.0,), pot(8.0, 4), kernel_bits=4),
    "16 bits": Style(pot(4.0, 16), (1.0, 0.5), pot(8.0, 16)),
    "16 bits, symmetric": Style(symmetric(3.7, 16), (0.93,), symmetric(6.1, 16), "symmetric"),
}


def numbers(random: np.random.Generator, shape: tuple[int, ...], style: Style) -> np.ndarray:
    if style.halves:
        return random.choice(np.array([-0.5, -0.25, -0.125, 0.125, 0.25, 0.5], np.float32), shape)
    return (random.uniform(-1, 1, shape) * max(style.kernel)).astype(np.float32)


def kernel(
    network: Network, random: np.random.Generator, shape: tuple[int, ...], axes: list[int], style: Style
) -> Value:
    channels = int(np.prod([shape[axis] for axis in axes]))
    thresholds = tuple(style.kernel[i % len(style.kernel)] for i in range(channels))
    threshold = thresholds if len(style.kernel) > 1 else style.kernel[0]
    grid = Grid(style.kernel_kind, threshold, style.kernel_bits)
    return network.kernel(numbers(random, shape, style), grid, axes)


def bias(network: Network, random: np.random.Generator, channels: int, style: Style) -> Value:
    return network.constant((random.uniform(-1, 1, channels) * style.bias).astype(np.float32))


def end(network: Network, value: Value, style: Style) -> str:
    if style.activation == "relu":
        value = network.clamp(value, "0.0")
    elif style.activation == "relu6":
        value = network.clamp(value, "0.0", "6.0")
    return network.finish(network.point(value, style.output))


def convolve(network, random, image: Value, outputs: int, kernel_size, stride, dilation, pad, style: Style) -> Value:
    shape = (outputs, *kernel_size, image.shape[3])
    operands = [image, kernel(network, random, shape, [0], style), bias(network, random, outputs, style)]
    operands += [network.zero(), network.zero()]
    rows = windows(image.shape[1:3], kernel_size, stride, pad, dilation)
    attributes = (
        f"acc_type = f32, pad = {array_text(pad)}, stride = {array_text([stride] * 2)}, "
        f"dilation = {array_text([dilation] * 2)}"
    )
    return network.op("conv2d", operands, (image.shape[0], *rows, outputs), attributes)


@maker
def conv2d(random, style, height, width, inputs, outputs, kernel_height, kernel_width, stride=1, dilation=1, pad=0):
    network, chosen = Network(), STYLES[style]
    image = network.argument((1, height, width, inputs), chosen.input)
    size = (kernel_height, kernel_width)
    return end(network, convolve(network, random, image, outputs, size, stride, dilation, [pad] * 4, chosen), chosen)


@maker
def conv1d(random, style, width, inputs, outputs, kernel_width, stride=1, dilation=1, pad=0):
    network, chosen = Network(), STYLES[style]
    image = network.argument((1, 1, width, inputs), chosen.input)
    pads = [0, 0, pad, pad]
    rows = windows(image.shape[1:3], (1, kernel_width), stride, pads, dilation)
    operands = [
        image,
        kernel(network, random, (outputs, 1, kernel_width, inputs), [0], chosen),
        bias(network, random, outputs, chosen),
        network.zero(),
        network.zero(),
    ]
    attributes = (
        f"acc_type = f32, pad = {array_text(pads)}, stride = {array_text([1, stride])}, "
        f"dilation = {array_text([1, dilation])}"
    )
    return end(network, network.op("conv2d", operands, (1, *rows, outputs), attributes), chosen)


@maker
def depthwise(random, style, height, width, inputs, multiplier, kernel_height, kernel_width, stride=1, pad=0):
    network, chosen = Network(), STYLES[style]
    image = network.argument((1, height, width, inputs), chosen.input)
    size, pads = (kernel_height, kernel_width), [pad] * 4
    rows = windows((height, width), size, stride, pads)
    operands = [
        image,
        kernel(network, random, (*size, inputs, multiplier), [2, 3], chosen),
        bias(network, random, inputs * multiplier, chosen),
        network.zero(),
        network.zero(),
    ]
    attributes = (
        f"acc_type = f32, pad = {array_text(pads)}, stride = {array_text([stride] * 2)}, "
        f"dilation = {array_text([1, 1])}"
    )
    result = network.op("depthwise_conv2d", operands, (1, *rows, inputs * multiplier), attributes)
    return end(network, result, chosen)


@maker
def grouped(random, style, height, width, inputs, outputs, groups, kernel_height, kernel_width, pad=0):
    """`inputs` and `outputs` of each group: slices of channels, a convolution of each, and a concatenation."""
    network, chosen = Network(), STYLES[style]
    image = network.argument((1, height, width, inputs * groups), chosen.input)
    parts = []
    for group in range(groups):
        start = network.sizes([0, 0, 0, group * inputs])
        size = network.sizes([1, height, width, inputs])
        part = network.op("slice", [image, start, size], (1, height, width, inputs))
        kernel_size = (kernel_height, kernel_width)
        parts.append(convolve(network, random, part, outputs, kernel_size, 1, 1, [pad] * 4, chosen))
    shape = (*parts[0].shape[:3], outputs * groups)
    return end(network, network.op("concat", parts, shape, "axis = 3 : i32"), chosen)


@maker
def transposed(random, style, height, width, inputs, outputs, kernel_height, kernel_width, stride=2):
    network, chosen = Network(), STYLES[style]
    image = network.argument((1, height, width, inputs), chosen.input)
    operands = [
        image,
        kernel(network, random, (outputs, kernel_height, kernel_width, inputs), [0], chosen),
        bias(network, random, outputs, chosen),
        network.zero(),
        network.zero(),
    ]
    shape = (1, (height - 1) * stride + kernel_height, (width - 1) * stride + kernel_width, outputs)
    attributes = f"acc_type = f32, out_pad = {array_text([0] * 4)}, stride = {array_text([stride] * 2)}"
    return end(network, network.op("transpose_conv2d", operands, shape, attributes), chosen)


@maker
def dense(random, style, rows, inputs, outputs):
    """`tosa.matmul` with a constant kernel, and its bias."""
    network, chosen = Network(), STYLES[style]
    x = network.argument((1, rows, inputs), chosen.input)
    w = kernel(network, random, (1, inputs, outputs), [2], chosen)
    y = network.op("matmul", [x, w, network.zero(), network.zero()], (1, rows, outputs))
    if chosen.bias:
        y = network.binary("add", y, network.constant(random.uniform(-0.5, 0.5, (1, 1, outputs)).astype(np.float32)))
    return end(network, y, chosen)


@maker
def fully_connected(random, style, inputs, outputs):
    """A 1x1 convolution of one place."""
    return conv2d(random, style, 1, 1, inputs, outputs, 1, 1)


PRODUCTS = {
    "powers of two": (pot(4.0), pot(2.0), pot(16.0)),
    "symmetric": (symmetric(3.7), symmetric(2.2), symmetric(13.0)),
    "zero points": (uniform(0.031, 37), uniform(0.021, 190), uniform(0.11, 120)),
    "unsigned": (pot(4.0), pot(1.0, signed=False), pot(8.0)),
    "saturating": (pot(4.0), pot(2.0), pot(1.0)),
    "4 bits": (pot(4.0, 4), pot(2.0, 4), pot(16.0, 4)),
    "16 bits": (pot(4.0, 16), pot(2.0, 16), pot(16.0, 16)),
}


@maker
def product(random, style, count, rows, depth, columns):
    network = Network()
    left, right, output = PRODUCTS[style]
    x = network.argument((count, rows, depth), left)
    y = network.argument((count, depth, columns), right)
    z = network.op("matmul", [x, y, network.zero(), network.zero()], (count, rows, columns))
    return network.finish(network.point(z, output))


IMAGES = [
    dict(height=5, width=5, inputs=2, outputs=3, kernel_height=3, kernel_width=3, pad=1),
    dict(height=6, width=5, inputs=3, outputs=4, kernel_height=2, kernel_width=3),
    dict(height=7, width=7, inputs=4, outputs=2, kernel_height=3, kernel_width=3, stride=2, pad=1),
    dict(height=7, width=8, inputs=1, outputs=6, kernel_height=2, kernel_width=2, dilation=2),
]


@family("convolution")
def convolutions() -> Description:
    for style in STYLES:
        for sizes in IMAGES:
            yield "conv2d", {"style": style, **sizes}


@family("1-D convolution")
def rows_convolutions() -> Description:
    for style in STYLES:
        yield "conv1d", dict(style=style, width=16, inputs=3, outputs=4, kernel_width=3, pad=1)


@family("depthwise convolution")
def depthwise_convolutions() -> Description:
    for style in STYLES:
        yield (
            "depthwise",
            dict(style=style, height=5, width=6, inputs=4, multiplier=1, kernel_height=3, kernel_width=3, pad=1),
        )
        yield (
            "depthwise",
            dict(style=style, height=6, width=6, inputs=2, multiplier=2, kernel_height=2, kernel_width=2, stride=2),
        )


@family("grouped convolution")
def grouped_convolutions() -> Description:
    for style in STYLES:
        sizes = dict(height=4, width=4, inputs=2, outputs=2, groups=2, kernel_height=3, kernel_width=3, pad=1)
        yield "grouped", {"style": style, **sizes}


@family("transposed convolution")
def transposed_convolutions() -> Description:
    for style in STYLES:
        yield "transposed", dict(style=style, height=3, width=4, inputs=2, outputs=3, kernel_height=2, kernel_width=2)
        if "4 bits" not in style and "2 bits" not in style:
            yield (
                "transposed",
                dict(style=style, height=3, width=3, inputs=3, outputs=2, kernel_height=3, kernel_width=3),
            )


@family("fully connected")
def dense_layers() -> Description:
    for style in STYLES:
        yield "dense", dict(style=style, rows=4, inputs=8, outputs=5)
        yield "fully_connected", dict(style=style, inputs=24, outputs=7)


@family("matrix product")
def products() -> Description:
    for style in PRODUCTS:
        yield "product", dict(style=style, count=1, rows=4, depth=6, columns=5)
        yield "product", dict(style=style, count=2, rows=3, depth=17, columns=4)
