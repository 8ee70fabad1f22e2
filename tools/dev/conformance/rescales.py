# SPDX-License-Identifier: Apache-2.0
"""`tosa.rescale` by itself: multipliers, shifts, zero points and types at their ends, and middles between codes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from corpus import Made, family, maker
from network import Network, Value

Description = Iterator[tuple[str, dict[str, Any]]]

# Factors are multiplier * 2^-shift.
FACTORS = {
    "1": (1 << 30, 30),
    "1/2": (1 << 30, 31),
    "1/4": (1 << 30, 32),
    "1/8": (1 << 30, 33),
    "1/256": (1 << 30, 38),
    "2^-32": (1 << 30, 62),
    "largest multiplier, 31": ((1 << 31) - 1, 31),
    "largest multiplier, 32": ((1 << 31) - 1, 32),
    "largest multiplier, 38": ((1 << 31) - 1, 38),
    "above 1/2": ((1 << 30) + 1, 31),
    "above 1/256": ((1 << 30) + 1, 38),
    "below 1/256": ((1 << 30) - 1, 38),
    "0.022097": (1518500250, 36),
    "1/3": (1431655765, 32),
    "1 by the smallest shift": (4, 2),
    "3/4 by the smallest shift": (3, 2),
    "small multiplier": (1, 16),
    "another small multiplier": (12345, 20),
    "zero": (0, 31),
}
BITS = {"i8": 8, "i16": 16, "i32": 32}


def limits(source: str, is_unsigned: bool) -> tuple[int, int]:
    bits = BITS[source]
    return (0, (1 << bits) - 1) if is_unsigned else (-(1 << (bits - 1)), (1 << (bits - 1)) - 1)


def rescale(network: Network, x: Value, factors, target: str, zeros, flags: dict[str, str]) -> Value:
    multipliers, shifts = zip(*factors, strict=True)
    operands = [
        x,
        network.constant(list(multipliers), "i32"),
        network.constant(list(shifts), "i8"),
        network.constant([zeros[0]], x.element),
        network.constant([zeros[1]], target),
    ]
    attributes = ", ".join(f"{key} = {value}" for key, value in sorted(flags.items()))
    return network.op("rescale", operands, x.shape, attributes, target)


def middles(multiplier: int, shift: int, low: int, high: int) -> list[int]:
    """Integers whose products lie in the middle of two results, or next to it."""
    found = []
    if multiplier:
        for result in range(-6, 6):
            place = ((2 * result + 1) << shift) // (2 * multiplier)
            found += [place, place + 1]
    return [value for value in dict.fromkeys(found) if low <= value <= high]


@maker
def rescaled(random, factor, count, source="i32", target="i8", rounding="SINGLE_ROUND", zeros=(0, 0), unsigned=(0, 0)):
    network = Network()
    multiplier, shift = FACTORS[factor]
    x = network.argument((1, count), element=source)
    flags = {
        "input_unsigned": "true" if unsigned[0] else "false",
        "output_unsigned": "true" if unsigned[1] else "false",
        "per_channel": "false",
        "rounding_mode": rounding,
        "scale32": "true",
    }
    y = rescale(network, x, [(multiplier, shift)], target, zeros, flags)
    low, high = limits(source, False)
    # The specification requires |value| < 2^(shift - 1), and a result of 32 bits.
    bound = (1 << (shift - 1)) - 1
    if multiplier:
        bound = min(bound, ((1 << 31) - 1 << shift) // multiplier - 1)
    zero = zeros[0] % 256 if unsigned[0] else zeros[0]
    if unsigned[0]:
        if bound < 256:
            raise ValueError("not every code is one")
    else:
        low, high = max(low, zero - bound), min(high, zero + bound)
    values = [low, high, zero, zero + 1, zero - 1]
    values += [value + zero for value in middles(multiplier, shift, low - zero, high - zero)]
    # Results that are not all beyond the ends of the type.
    if multiplier and source == "i32" and target != "i32":
        reach = (1 << (BITS[target] + shift)) // multiplier + 2
        return Made(network.finish(y), (tuple(values),), ((max(low, -reach), min(high, reach)),))
    return Made(network.finish(y), (tuple(values),), ((low, high),))


@maker
def by_channel(random, factors, rows, rounding="SINGLE_ROUND", zero=0):
    network = Network()
    chosen = [FACTORS[factor] for factor in factors]
    x = network.argument((1, rows, len(chosen)), element="i32")
    flags = {
        "input_unsigned": "false",
        "output_unsigned": "false",
        "per_channel": "true",
        "rounding_mode": rounding,
        "scale32": "true",
    }
    y = rescale(network, x, chosen, "i8", (0, zero), flags)
    bound = min((1 << (shift - 1)) - 1 for _, shift in chosen)
    bound = min(bound, 1 << 20)
    return Made(network.finish(y), (), ((-bound, bound),))


@family("rescale, one rounding")
def single() -> Description:
    for factor in FACTORS:
        yield "rescaled", dict(factor=factor, count=128)
    for factor in ("1/2", "1/256", "0.022097", "1/3"):
        yield "rescaled", dict(factor=factor, count=64, zeros=(0, -128))
        yield "rescaled", dict(factor=factor, count=64, target="i16")
        yield "rescaled", dict(factor=factor, count=64, target="i32")


@family("rescale, two roundings")
def double() -> Description:
    for factor in FACTORS:
        yield "rescaled", dict(factor=factor, count=128, rounding="DOUBLE_ROUND")
    for factor in ("1/2", "1/256", "0.022097", "1/3"):
        yield "rescaled", dict(factor=factor, count=64, zeros=(0, 5), rounding="DOUBLE_ROUND")
        yield "rescaled", dict(factor=factor, count=64, target="i32", rounding="DOUBLE_ROUND")


@family("rescale by channel")
def channels() -> Description:
    for rounding in ("SINGLE_ROUND", "DOUBLE_ROUND"):
        yield "by_channel", dict(factors=("1/4", "1/256", "2^-32"), rows=40, rounding=rounding)
        yield "by_channel", dict(factors=("1/3", "0.022097", "1/8", "1/2"), rows=40, rounding=rounding, zero=-7)
        yield "by_channel", dict(factors=("above 1/256", "below 1/256"), rows=40, rounding=rounding)
        yield (
            "by_channel",
            dict(factors=("largest multiplier, 38", "largest multiplier, 32"), rows=40, rounding=rounding),
        )


@family("rescale of 8 and 16 bits")
def narrow() -> Description:
    for source, target in (("i8", "i8"), ("i8", "i16"), ("i8", "i32"), ("i16", "i8"), ("i16", "i16"), ("i16", "i32")):
        for factor in ("1", "1/2", "1/3"):
            yield "rescaled", dict(factor=factor, count=256, source=source, target=target)
    for factor in ("1", "1/2", "0.022097"):
        yield "rescaled", dict(factor=factor, count=256, source="i8", zeros=(-128, 127))
        yield "rescaled", dict(factor=factor, count=256, source="i8", target="i32", zeros=(37, 0))
        # Bytes without a sign: 128 is written -128.
        yield "rescaled", dict(factor=factor, count=256, source="i8", zeros=(-128, 0), unsigned=(1, 0))
        yield "rescaled", dict(factor=factor, count=256, source="i8", zeros=(0, -128), unsigned=(0, 1))
