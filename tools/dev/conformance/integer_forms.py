# SPDX-License-Identifier: Apache-2.0
"""TOSA on integers as a lowering writes it, by hand: tables, shifts, zero points, limits, conversions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from corpus import Made, family, maker
from network import Network, array_text, windows

Description = Iterator[tuple[str, dict[str, Any]]]


@maker
def table(random, kind, bits, count):
    """Look-ups in 256 entries, or in 513 with interpolation between them."""
    network = Network()
    element = f"i{bits}"
    entries = 256 if bits == 8 else 513
    limit = 1 << (bits - 1)
    # Neighbours of 16 bits are at most 2^15 - 1 apart, as the specification requires.
    largest = limit if bits == 8 else limit // 2
    if kind == "random":
        numbers = random.integers(-largest, largest, entries)
    elif kind == "ends":
        numbers = np.where(np.arange(entries) % 2, largest - 1, -largest)
    else:
        numbers = np.clip(np.round(limit * np.tanh(np.linspace(-4, 4, entries))), -limit, limit - 1).astype(int)
    x = network.argument((1, count), element=element)
    y = network.op("table", [x, network.constant(numbers, element)], (1, count), element="i8" if bits == 8 else "i32")
    values = [-limit, limit - 1, -1, 0, 1, -127, -128, -129, 127, 128, 129, limit - 128, limit - 129]
    return Made(network.finish(y), ((() if bits == 8 else tuple(values)),))


@family("table")
def tables() -> Description:
    for kind in ("random", "ends", "tanh"):
        yield "table", dict(kind=kind, bits=8, count=256)
        yield "table", dict(kind=kind, bits=16, count=200)


@maker
def shift(random, element, amount, rounds, count):
    network = Network()
    x = network.argument((1, count), element=element)
    by = network.constant(np.full((1, 1), amount), element)
    y = network.op("arithmetic_right_shift", [x, by], (1, count), f"round = {'true' if rounds else 'false'}", element)
    half = 1 << max(amount - 1, 0)
    return Made(network.finish(y), ((half - 1, half, half + 1, 1 - half, -half, -half - 1, 3, -3),))


@maker
def shifted_product(random, amount, count):
    """A product of 32 bits, shifted with rounding."""
    network = Network()
    x, y = (network.argument((1, count), element="i32") for _ in range(2))
    z = network.op("mul", [x, y, network.constant([amount], "i8")], (1, count), element="i32")
    bound = (1 << 15) - 1 if amount < 16 else (1 << 30) if amount == 31 else (1 << 22)
    half = 1 << max(amount // 2 - 1, 0)
    return Made(
        network.finish(z), ((half, -half, 3, -3, 1, -1), (1 << (amount - amount // 2),) * 6), ((-bound, bound),) * 2
    )


@family("shift")
def shifts() -> Description:
    for element, amounts in (("i8", (0, 1, 7)), ("i16", (1, 9, 15)), ("i32", (1, 16, 31))):
        for amount in amounts:
            for rounds in (0, 1):
                yield "shift", dict(element=element, amount=amount, rounds=rounds, count=128)
    for amount in (1, 8, 15, 20, 31):
        yield "shifted_product", dict(amount=amount, count=64)


@maker
def convolution(random, height, width, inputs, outputs, kernel_height, kernel_width, zero, weight_zero, element="i8"):
    """Sums of 32 bits; zero points of both operands."""
    network = Network()
    x = network.argument((1, height, width, inputs), element="i8")
    limit = 128 if element == "i8" else 8
    weights = random.integers(-limit + 1, limit, (outputs, kernel_height, kernel_width, inputs))
    rows = windows((height, width), (kernel_height, kernel_width), 1, [1, 0, 0, 1])
    operands = [
        x,
        network.constant(weights, element),
        network.constant(random.integers(-1000, 1000, outputs), "i32"),
        network.constant([zero], "i8"),
        network.constant([weight_zero], element),
    ]
    attributes = (
        f"acc_type = i32, pad = {array_text([1, 0, 0, 1])}, stride = {array_text([1, 1])}, "
        f"dilation = {array_text([1, 1])}"
    )
    return network.finish(network.op("conv2d", operands, (1, *rows, outputs), attributes, "i32"))


@maker
def average(random, height, width, channels, kernel_height, kernel_width, zero, stride=1, pad=0):
    network = Network()
    x = network.argument((1, height, width, channels), element="i8")
    if pad >= min(kernel_height, kernel_width):
        raise ValueError("pads are smaller than windows")
    rows = windows((height, width), (kernel_height, kernel_width), stride, [pad] * 4)
    zeros = [network.constant([zero], "i8") for _ in range(2)]
    attributes = (
        f"acc_type = i32, kernel = {array_text([kernel_height, kernel_width])}, pad = {array_text([pad] * 4)}, "
        f"stride = {array_text([stride] * 2)}"
    )
    return network.finish(network.op("avg_pool2d", [x, *zeros], (1, *rows, channels), attributes, "i8"))


@family("sums of integers")
def layers() -> Description:
    sizes = dict(height=4, width=4, inputs=3, outputs=2, kernel_height=2, kernel_width=2)
    for zero, weight_zero in ((0, 0), (-128, 0), (127, 0), (5, -3)):
        yield "convolution", dict(zero=zero, weight_zero=weight_zero, **sizes)
    yield "convolution", dict(zero=-7, weight_zero=0, element="i4", **sizes)
    for zero in (0, -128, 37):
        sizes = dict(height=6, width=6, channels=8, zero=zero)
        yield "average", dict(kernel_height=2, kernel_width=2, stride=2, **sizes)
        yield "average", dict(kernel_height=3, kernel_width=3, pad=1, **sizes)


@maker
def negation(random, count, zeros):
    network = Network()
    x = network.argument((1, count), element="i8")
    points = [network.constant([zero], "i8") for zero in zeros]
    return network.finish(network.op("negate", [x, *points], (1, count), element="i8"))


@maker
def conversion(random, source, target, count):
    """Integers that a type does not hold are cut off, not limited."""
    network = Network()
    x = network.argument((1, count), element=source)
    return Made(
        network.finish(network.op("cast", [x], (1, count), element=target)), ((127, 128, -128, -129, 255, 256),)
    )


@maker
def quotient(random, count):
    network = Network()
    x, y = (network.argument((1, count), element="i32") for _ in range(2))
    z = network.op("intdiv", [x, y], (1, count), element="i32")
    return Made(network.finish(z), ((7, -7, 7, -7, 1, 0), (2, 2, 3, 3, 9, 9)), ((-(1 << 30), 1 << 30), (1, 1000)))


@maker
def integer_pair(random, kind, element, count):
    network = Network()
    x, y = (network.argument((1, count), element=element) for _ in range(2))
    result = "i1" if kind in ("greater", "greater_equal", "equal") else element
    attributes = "nan_mode = PROPAGATE" if kind in ("maximum", "minimum") else ""
    z = network.op(kind, [x, y], (1, count), attributes, result)
    bound = (1 << 30) - 1
    return Made(network.finish(z), ((5, -5, 0), (5, 5, 0)), ((-bound, bound),) * 2 if element == "i32" else ())


@family("other integers")
def others() -> Description:
    for zeros in ((0, 0), (-128, 127), (37, -5)):
        yield "negation", dict(count=256, zeros=zeros)
    for source, target in (("i32", "i8"), ("i16", "i8"), ("i32", "i16"), ("i8", "i32")):
        yield "conversion", dict(source=source, target=target, count=64)
    yield "quotient", dict(count=64)
    for kind in ("add", "sub", "maximum", "minimum", "greater", "greater_equal", "equal"):
        yield "integer_pair", dict(kind=kind, element="i32", count=64)
    for kind in ("bitwise_and", "bitwise_xor"):
        yield "integer_pair", dict(kind=kind, element="i8", count=64)
