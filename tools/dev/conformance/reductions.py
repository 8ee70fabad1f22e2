# SPDX-License-Identifier: Apache-2.0
"""Pools, means, sums, extrema and the position of the largest."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from corpus import family, maker
from network import Network, array_text, pot, symmetric, uniform, windows

Description = Iterator[tuple[str, dict[str, Any]]]

STYLES = {
    "one grid": (pot(4.0), pot(4.0)),
    "unsigned": (pot(4.0, signed=False), pot(4.0, signed=False)),
    "finer": (pot(4.0), pot(1.0)),
    "symmetric": (symmetric(3.7), symmetric(2.9)),
    "symmetric, one grid": (symmetric(3.7), symmetric(3.7)),
    "zero points": (uniform(0.031, 37), uniform(0.029, 41)),
    "zero point, one grid": (uniform(0.031, 37), uniform(0.031, 37)),
    "4 bits": (pot(4.0, 4), pot(4.0, 4)),
    "16 bits": (pot(4.0, 16), pot(4.0, 16)),
}


@maker
def pool(random, kind, style, height, width, channels, kernel_height, kernel_width, stride=1, pad=0):
    network = Network()
    first, second = STYLES[style]
    x = network.argument((1, height, width, channels), first)
    size, pads = (kernel_height, kernel_width), [pad] * 4
    if pad >= min(size):
        raise ValueError("pads are smaller than windows")
    rows = windows((height, width), size, stride, pads)
    average = kind == "avg_pool2d"
    attributes = ("acc_type = f32, " if average else "") + (
        f"kernel = {array_text(size)}, pad = {array_text(pads)}, stride = {array_text([stride] * 2)}"
    )
    operands = [x, network.zero(), network.zero()] if average else [x]
    return network.finish(network.point(network.op(kind, operands, (1, *rows, channels), attributes), second))


def pools(kind: str) -> Description:
    for style in STYLES:
        yield (
            "pool",
            dict(kind=kind, style=style, height=6, width=6, channels=4, kernel_height=2, kernel_width=2, stride=2),
        )
        yield (
            "pool",
            dict(
                kind=kind, style=style, height=5, width=7, channels=3, kernel_height=3, kernel_width=3, stride=2, pad=1
            ),
        )
        yield "pool", dict(kind=kind, style=style, height=8, width=8, channels=2, kernel_height=8, kernel_width=8)


@family("average pool")
def average_pools() -> Description:
    return pools("avg_pool2d")


@family("max pool")
def max_pools() -> Description:
    for number, entry in enumerate(pools("max_pool2d")):
        if number % 3 != 2:
            yield entry


@maker
def mean(random, style, height, width, channels, divide=1):
    """A mean over images, or a sum where it does not `divide`."""
    network = Network()
    first, second = STYLES[style]
    x = network.argument((1, height, width, channels), first)
    rows = network.op("reduce_sum", [x], (1, 1, width, channels), "axis = 1 : i32")
    y = network.op("reduce_sum", [rows], (1, 1, 1, channels), "axis = 2 : i32")
    if divide:
        factor = network.constant(np.full((1, 1, 1, 1), 1 / (height * width), np.float32))
        y = network.binary("mul", y, factor)
    return network.finish(
        network.point(y, second if divide else second.wider(2.0 ** (height * width - 1).bit_length()))
    )


@family("mean and sum")
def means() -> Description:
    for style in STYLES:
        for height, width in ((2, 2), (4, 4), (7, 7)):
            yield "mean", dict(style=style, height=height, width=width, channels=16)
        yield "mean", dict(style=style, height=3, width=4, channels=16, divide=0)


@maker
def extremum(random, kind, style, height, width, channels, axis=1):
    network = Network()
    first, second = STYLES[style]
    shape = [1, height, width, channels]
    x = network.argument(shape, first)
    shape[axis] = 1
    return network.finish(network.point(network.op(kind, [x], shape, f"axis = {axis} : i32"), second))


@family("reduced maximum and minimum")
def reduced_extrema() -> Description:
    for kind in ("reduce_max", "reduce_min"):
        for style in ("one grid", "zero point, one grid", "symmetric", "16 bits"):
            yield "extremum", dict(kind=kind, style=style, height=5, width=4, channels=3)
        yield "extremum", dict(kind=kind, style="unsigned", height=5, width=4, channels=3, axis=3)


@maker
def argmax(random, style, height, width, channels, axis=3):
    network = Network()
    shape = [1, height, width, channels]
    x = network.argument(shape, STYLES[style][0])
    del shape[axis]
    return network.finish(network.op("argmax", [x], shape, f"axis = {axis} : i32", "i32"))


@family("argmax")
def positions() -> Description:
    for style in ("one grid", "unsigned", "zero points", "4 bits", "16 bits"):
        yield "argmax", dict(style=style, height=4, width=6, channels=10)
    # Many of 4 bits are equal: the first one counts.
    yield "argmax", dict(style="4 bits", height=32, width=4, channels=2, axis=1)
