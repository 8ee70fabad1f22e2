# SPDX-License-Identifier: Apache-2.0
"""Ops that move values: concatenations, pads, resizes, reshapes, transposes, slices, tiles, gathers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpus import family, maker
from network import Network, pot, symmetric, uniform

Description = Iterator[tuple[str, dict[str, Any]]]

GRIDS = {
    "powers of two": pot(4.0),
    "symmetric": symmetric(3.7),
    "zero point": uniform(0.031, 37),
    "4 bits": pot(4.0, 4),
    "16 bits": pot(4.0, 16),
}
PAIRS = {
    "one grid": (pot(4.0), pot(4.0), pot(4.0)),
    "powers of two": (pot(4.0), pot(1.0), pot(4.0)),
    "halves": (pot(4.0), pot(4.0), pot(8.0)),
    "symmetric": (symmetric(3.7), symmetric(2.9), symmetric(3.7)),
    "zero points": (uniform(0.031, 37), uniform(0.024, 180), uniform(0.04, 90)),
    "16 bits": (pot(4.0, 16), pot(2.0, 16), pot(4.0, 16)),
}


@maker
def concat(random, style, height, width, channels, axis):
    network = Network()
    first, second, output = PAIRS[style]
    shape = [1, height, width, channels]
    x, y = network.argument(shape, first), network.argument(shape, second)
    shape[axis] *= 2
    return network.finish(network.point(network.op("concat", [x, y], shape, f"axis = {axis} : i32"), output))


@family("concatenation")
def concatenations() -> Description:
    for style in PAIRS:
        for axis in (1, 3):
            yield "concat", dict(style=style, height=4, width=4, channels=3, axis=axis)


@maker
def pad(random, grid, number, height, width, channels):
    network = Network()
    x = network.argument((1, height, width, channels), GRIDS[grid])
    sizes = network.sizes([0, 0, 1, 2, 0, 1, 0, 0])
    y = network.op("pad", [x, sizes, network.constant([number])], (1, height + 3, width + 1, channels))
    return network.finish(network.point(y, GRIDS[grid]))


@family("pad")
def pads() -> Description:
    for grid in GRIDS:
        for number in (0.0, 0.5):
            yield "pad", dict(grid=grid, number=number, height=3, width=4, channels=2)


# scale_y_n, scale_y_d, scale_x_n, scale_x_d, offsets, borders, and rows and columns of the result.
RESIZES = {
    "half-pixel, twice": ([4, 2, 4, 2], [-1, -1], [1, 1], lambda h, w: (2 * h, 2 * w)),
    "aligned corners": ([6, 3, 6, 3], [0, 0], [0, 0], lambda h, w: (2 * h - 1, 2 * w - 1)),
    "asymmetric, twice": ([4, 2, 4, 2], [0, 0], [2, 2], lambda h, w: (2 * h, 2 * w)),
    "half-pixel, thrice": ([6, 2, 6, 2], [-2, -2], [2, 2], lambda h, w: (3 * h, 3 * w)),
}


@maker
def resize(random, mode, kind, style, height, width, channels):
    network = Network()
    first, _, output = PAIRS[style]
    scale, offset, border, size = RESIZES[kind]
    x = network.argument((1, height, width, channels), first)
    operands = [x, network.sizes(scale), network.sizes(offset), network.sizes(border)]
    y = network.op("resize", operands, (1, *size(height, width), channels), f"mode = {mode}")
    return network.finish(network.point(y, output))


@family("resize")
def resizes() -> Description:
    for kind in RESIZES:
        for style in ("one grid", "symmetric", "zero points"):
            yield "resize", dict(mode="BILINEAR", kind=kind, style=style, height=4, width=5, channels=2)
        for style in ("one grid", "zero points"):
            yield "resize", dict(mode="NEAREST_NEIGHBOR", kind=kind, style=style, height=4, width=5, channels=2)


@maker
def move(random, kind, grid, height, width, channels):
    network = Network()
    shape = (1, height, width, channels)
    x = network.argument(shape, GRIDS[grid])
    if kind == "reshape":
        to = [1, height * width, channels]
        y = network.op("reshape", [x, network.sizes(to)], to)
    elif kind == "transpose":
        to = (1, channels, height, width)
        y = network.op("transpose", [x], to, "perms = array<i32: 0, 3, 1, 2>")
    elif kind == "slice":
        if height < 2 or channels < 2:
            raise ValueError("nothing is left of it")
        to = [1, height - 1, width, channels - 1]
        y = network.op("slice", [x, network.sizes([0, 1, 0, 1]), network.sizes(to)], to)
    elif kind == "tile":
        y = network.op("tile", [x, network.sizes([1, 2, 1, 3])], (1, 2 * height, width, 3 * channels))
    else:
        y = network.op("reverse", [x], shape, "axis = 2 : i32")
    return network.finish(network.point(y, GRIDS[grid]))


@maker
def gather(random, grid, rows, channels):
    network = Network()
    x = network.argument((1, rows, channels), GRIDS[grid])
    indices = network.constant(random.integers(0, rows, (1, 5)), "i32")
    y = network.op("gather", [x, indices], (1, 5, channels))
    return network.finish(network.point(y, GRIDS[grid]))


@family("movement")
def movements() -> Description:
    for kind in ("reshape", "transpose", "slice", "tile", "reverse"):
        for grid in GRIDS:
            yield "move", dict(kind=kind, grid=grid, height=3, width=4, channels=5)
    for grid in GRIDS:
        yield "gather", dict(grid=grid, rows=8, channels=4)
