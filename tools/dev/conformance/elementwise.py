# SPDX-License-Identifier: Apache-2.0
"""Sums, differences, products, extrema, limits, functions by table, softmax, and codes of one grid on another."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from corpus import family, maker
from network import LARGEST, Grid, Network, pot, symmetric, uniform

Description = Iterator[tuple[str, dict[str, Any]]]

# Grids of both operands and of the result.
STYLES = {
    "one grid": (pot(4.0), pot(4.0), pot(4.0)),
    "a finer operand": (pot(4.0), pot(0.5), pot(4.0)),
    # The result has twice the steps of the operands: every second sum is in the middle of two codes.
    "halves": (pot(2.0), pot(2.0), pot(4.0)),
    "halves of the finer one": (pot(4.0), pot(1.0), pot(8.0)),
    "symmetric": (symmetric(3.7), symmetric(2.9), symmetric(5.3)),
    "symmetric, one grid": (symmetric(3.7), symmetric(3.7), symmetric(7.4)),
    "zero points": (uniform(0.031, 37), uniform(0.024, 180), uniform(0.049, 99)),
    "unsigned": (pot(4.0, signed=False), pot(2.0, signed=False), pot(8.0)),
    "saturating": (pot(4.0), pot(4.0), pot(1.0)),
    "far apart": (symmetric(90.0), symmetric(0.07), symmetric(91.0)),
    "4 bits": (pot(4.0, 4), pot(2.0, 4), pot(4.0, 4)),
    "16 bits": (pot(4.0, 16), pot(4.0, 16), pot(8.0, 16)),
    "16 bits, symmetric": (symmetric(3.7, 16), symmetric(2.9, 16), symmetric(5.3, 16)),
}


@maker
def pair(random, kind, style, height, width, channels, broadcast=0, relu=0, wider=1.0):
    """`broadcast`: the second operand is one value for each channel."""
    network = Network()
    left, right, output = STYLES[style]
    x = network.argument((1, height, width, channels), left)
    y = network.argument((1, 1, 1, channels) if broadcast else (1, height, width, channels), right)
    z = network.binary(kind, x, y)
    if relu:
        z = network.clamp(z, "0.0")
    return network.finish(network.point(z, output.wider(wider)))


@maker
def all_pairs(random, kind, style, rows, columns):
    """Every code of one operand with every one of the other, where there are 256 rows and columns."""
    network = Network()
    left, right, output = STYLES[style]
    x = network.argument((1, rows, 1), left)
    y = network.argument((1, 1, columns), right)
    return network.finish(network.point(network.binary(kind, x, y), output))


@maker
def with_number(random, kind, style, number, height, width, channels):
    network = Network()
    left, _, output = STYLES[style]
    x = network.argument((1, height, width, channels), left)
    y = network.constant(np.full((1, 1, 1, 1), number, np.float32))
    return network.finish(network.point(network.binary(kind, x, y), output))


def pairs(kind: str, wider: float = 1.0) -> Description:
    sizes = dict(height=8, width=8, channels=4)
    for style in STYLES:
        yield "pair", dict(kind=kind, style=style, wider=wider, **sizes)
    for style in ("one grid", "symmetric", "zero points", "halves"):
        yield "pair", dict(kind=kind, style=style, wider=wider, broadcast=1, **sizes)
        yield "pair", dict(kind=kind, style=style, wider=wider, relu=1, **sizes)
    for style in ("halves", "symmetric", "zero points"):
        yield "all_pairs", dict(kind=kind, style=style, rows=64, columns=64)
    for style in ("one grid", "symmetric"):
        yield "with_number", dict(kind=kind, style=style, number=0.75, **sizes)


@family("sum")
def sums() -> Description:
    return pairs("add")


@family("difference")
def differences() -> Description:
    return pairs("sub")


@family("product")
def products() -> Description:
    return pairs("mul", wider=2.0)


@family("maximum and minimum")
def extrema() -> Description:
    for kind in ("maximum", "minimum"):
        for style in (
            "one grid",
            "a finer operand",
            "symmetric",
            "symmetric, one grid",
            "zero points",
            "4 bits",
            "16 bits",
        ):
            yield "pair", dict(kind=kind, style=style, height=4, width=4, channels=4)


LIMITS = {"relu": ("0.0", LARGEST), "relu6": ("0.0", "6.0"), "one": ("-1.0", "1.0"), "odd": ("-0.7", "2.3")}


@maker
def limits(random, grid, kind, count):
    network = Network()
    x = network.argument((1, count), GRIDS[grid])
    return network.finish(network.point(network.clamp(x, *LIMITS[kind]), GRIDS[grid]))


GRIDS: dict[str, Grid] = {
    "powers of two": pot(4.0),
    "unsigned": pot(4.0, signed=False),
    "symmetric": symmetric(6.1),
    "zero point": uniform(0.037, 77),
    "4 bits": pot(4.0, 4),
    "16 bits": pot(8.0, 16),
}


@family("clamp")
def clamps() -> Description:
    for grid in GRIDS:
        for kind in LIMITS:
            yield "limits", dict(grid=grid, kind=kind, count=256)


FUNCTIONS = {
    "sigmoid": pot(1.0, signed=False),
    "tanh": pot(1.0),
    "exp": pot(64.0, signed=False),
    "erf": pot(1.0),
    "abs": pot(8.0),
    "sin": pot(1.0),
    "hard swish": pot(4.0),
    "swish": pot(4.0),
    "leaky ReLU": pot(4.0),
}


@maker
def function(random, kind, grid, count):
    """A function of one value: one look-up. `grid` is that of the operand."""
    network = Network()
    x = network.argument((1, count), GRIDS[grid])
    one = lambda number: network.constant(np.full((1, 1), number, np.float32))  # noqa: E731
    if kind == "hard swish":
        gate = network.clamp(network.binary("add", x, one(3.0)), "0.0", "6.0")
        y = network.binary("mul", network.binary("mul", x, gate), one(1 / 6))
    elif kind == "swish":
        y = network.binary("mul", x, network.op("sigmoid", [x], x.shape))
    elif kind == "leaky ReLU":
        y = network.binary("maximum", x, network.binary("mul", x, one(0.1)))
    else:
        y = network.op(kind, [x], x.shape)
    return network.finish(network.point(y, FUNCTIONS[kind]))


@family("function by table")
def functions() -> Description:
    for kind in FUNCTIONS:
        for grid in ("powers of two", "symmetric", "zero point", "4 bits"):
            yield "function", dict(kind=kind, grid=grid, count=256)


@maker
def softmax(random, grid, rows, columns):
    network = Network()
    x = network.argument((rows, columns), GRIDS[grid])
    largest = network.op("reduce_max", [x], (rows, 1), "axis = 1 : i32")
    exponent = network.op("exp", [network.binary("sub", x, largest)], x.shape)
    total = network.op("reduce_sum", [exponent], (rows, 1), "axis = 1 : i32")
    y = network.binary("mul", exponent, network.op("reciprocal", [total], (rows, 1)))
    return network.finish(network.point(y, pot(1.0, signed=False)))


@family("softmax by table")
def softmaxes() -> Description:
    for grid in ("powers of two", "symmetric", "zero point", "unsigned"):
        for columns in (3, 10, 64):
            yield "softmax", dict(grid=grid, rows=6, columns=columns)


OTHERS: dict[str, tuple[Grid, Grid]] = {
    "the same": (pot(4.0), pot(4.0)),
    "halves, one bit less": (pot(4.0), pot(8.0)),
    "halves, two bits less": (pot(4.0), pot(16.0)),
    "halves, four bits less": (pot(4.0), pot(64.0)),
    "finer, saturating": (pot(4.0), pot(1.0)),
    "signed to unsigned": (pot(4.0), pot(4.0, signed=False)),
    "unsigned to signed": (pot(4.0, signed=False), pot(4.0)),
    "symmetric": (symmetric(3.7), symmetric(5.3)),
    "symmetric, finer": (symmetric(3.7), symmetric(1.3)),
    "zero points": (uniform(0.031, 37), uniform(0.047, 201)),
    "zero points, halves": (uniform(0.5, 100), uniform(1.0, 50)),
    "zero points at the ends": (uniform(0.03, 0), uniform(0.05, 255)),
    "factor 1/3": (uniform(0.25, 128), uniform(0.75, 128)),
    "factor 3/2": (uniform(0.75, 128), uniform(0.5, 128)),
    "8 to 4 bits": (pot(4.0), pot(4.0, 4)),
    "4 to 8 bits": (pot(4.0, 4), pot(2.0)),
    "8 to 16 bits": (pot(4.0), pot(4.0, 16)),
    "16 to 8 bits": (pot(4.0, 16), pot(4.0)),
    "16 to 16 bits": (pot(4.0, 16), pot(8.0, 16)),
    "16 to 8 bits, symmetric": (symmetric(3.7, 16), symmetric(5.3)),
}


@maker
def requantize(random, grids, count):
    network = Network()
    first, second = OTHERS[grids]
    x = network.argument((1, count), first)
    return network.finish(network.point(x, second))


@family("another grid")
def requantizations() -> Description:
    for grids in OTHERS:
        yield "requantize", dict(grids=grids, count=256)
