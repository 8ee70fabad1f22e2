# SPDX-License-Identifier: Apache-2.0
"""Values that are always zero, single values, and scales that are as far apart as thresholds can be."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from corpus import family, maker
from network import Grid, Network, Value, array_text, pot, uniform

Description = Iterator[tuple[str, dict[str, Any]]]

# The smallest threshold that is chosen, that of a tensor whose values are all zero; and a large one.
SMALLEST, LARGE = 2.0**-16, 2.0**12

# Grids of the operands and of the result.
GRIDS: dict[str, tuple[Grid, Grid]] = {
    "zero beside 4": (pot(4.0), pot(SMALLEST)),
    "unsigned zero beside 4": (pot(4.0), pot(SMALLEST, signed=False)),
    "zero beside a range": (uniform(0.031, 37), uniform(0.031 * 2.0**-24, 37)),
    "zero beside the largest": (pot(LARGE), pot(SMALLEST)),
    "zero beside 4, 16 bits": (pot(4.0, 16), pot(SMALLEST, 16)),
    "the largest beside zero": (pot(SMALLEST), pot(LARGE)),
    "all the smallest": (pot(SMALLEST), pot(SMALLEST)),
}


@maker
def self_difference(random, grid, height, width, channels):
    """x - max(x) along an axis of size one, which is always zero."""
    network = Network()
    operand, result = GRIDS[grid]
    x = network.argument((1, height, width, channels, 1), operand)
    largest = network.op("reduce_max", [x], (1, height, width, channels, 1), "axis = 4 : i32")
    return network.finish(network.point(network.binary("sub", x, largest), result))


@maker
def far_pair(random, kind, grid, height, width, channels):
    network = Network()
    operand, result = GRIDS[grid]
    x = network.argument((1, height, width, channels), operand)
    y = network.argument((1, height, width, channels), operand)
    return network.finish(network.point(network.binary(kind, x, y), result))


def _layer(network: Network, image: Value, weights: np.ndarray, threshold: float) -> Value:
    outputs = weights.shape[0]
    kernel = network.kernel(weights.astype(np.float32), pot(threshold), [0])
    operands = [image, kernel, network.constant(np.zeros(outputs)), network.zero(), network.zero()]
    attributes = (
        f"acc_type = f32, pad = {array_text([0] * 4)}, stride = {array_text([1, 1])}, dilation = {array_text([1, 1])}"
    )
    return network.op("conv2d", operands, (*image.shape[:3], outputs), attributes)


@maker
def far_convolution(random, grid, weights, height, width, inputs, outputs):
    """`weights`: "zero", for which the smallest threshold is chosen, or "one"."""
    network = Network()
    operand, result = GRIDS[grid]
    image = network.argument((1, height, width, inputs), operand)
    values = np.full((outputs, 1, 1, inputs), 0.5 if weights == "one" else 0.0)
    convolved = _layer(network, image, values, 1.0 if weights == "one" else SMALLEST)
    return network.finish(network.point(convolved, result))


@maker
def far_grid(random, grid, count):
    network = Network()
    operand, result = GRIDS[grid]
    return network.finish(network.point(network.argument((1, count), operand), result))


@maker
def wider_result(random, before, after, stride, height, width, inputs, outputs):
    """A transposed convolution that adds to its result before and behind what its windows reach."""
    network = Network()
    image = network.argument((1, height, width, inputs), pot(4.0))
    kernel = network.kernel(random.uniform(-1, 1, (outputs, 2, 2, inputs)).astype(np.float32), pot(1.0), [0])
    sizes = [(size - 1) * stride + 2 + before + after for size in (height, width)]
    operands = [image, kernel, network.constant(np.full(outputs, 0.5)), network.zero(), network.zero()]
    attributes = f"acc_type = f32, out_pad = {array_text([before, after] * 2)}, stride = {array_text([stride, stride])}"
    result = network.op("transpose_conv2d", operands, (1, *sizes, outputs), attributes)
    return network.finish(network.point(result, pot(8.0)))


@family("extremes")
def extremes() -> Description:
    sizes = dict(height=4, width=4, channels=4)
    for grid in GRIDS:
        yield "self_difference", dict(grid=grid, **sizes)
        for kind in ("add", "mul"):
            yield "far_pair", dict(kind=kind, grid=grid, **sizes)
        yield "far_grid", dict(grid=grid, count=256)
        for weights in ("zero", "one"):
            yield "far_convolution", dict(grid=grid, weights=weights, height=4, width=4, inputs=3, outputs=4)
    for kind in ("add", "sub", "mul"):
        yield "far_pair", dict(kind=kind, grid="zero beside 4", height=1, width=1, channels=1)
    for before, after, stride in ((0, 1, 1), (1, 0, 1), (0, 1, 2), (2, 3, 2)):
        yield "wider_result", dict(before=before, after=after, stride=stride, height=3, width=4, inputs=2, outputs=3)
