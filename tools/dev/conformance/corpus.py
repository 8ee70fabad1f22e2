# SPDX-License-Identifier: Apache-2.0
"""The corpus: small networks, each made by a function of numbers and a seed, and values to run them on.

A case is described by its maker and the arguments of it alone, so that the reducer can make it with smaller ones.
Makers are registered by the modules of families; nothing here depends on the machine or on what was made before.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

# Numbers among the arguments of makers that the reducer makes smaller, down to 1.
SIZES = (
    *("height", "width", "inputs", "outputs", "channels", "kernel_height", "kernel_width", "stride", "dilation"),
    *("multiplier", "groups", "rows", "columns", "depth", "count"),
)
# Why a case is no file of integer TOSA although it has a module.
STAYS_FLOAT = "a part stays float"


class Made(NamedTuple):
    """A network as a maker returns it.

    text:   a module with one function.
    values: for each argument integers that are put first into its samples, in order.
    ranges: for each argument the smallest and the largest integer of it; None: those of its grid, or of its type.
    """

    text: str
    values: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[tuple[int, int] | None, ...] = ()


Maker = Callable[..., Made | str]
MAKERS: dict[str, Maker] = {}
# Functions that yield (maker, arguments), by the name of their family, in the order of the matrix.
FAMILIES: dict[str, Callable[[], Iterator[tuple[str, dict[str, Any]]]]] = {}


def maker(function: Maker) -> Maker:
    MAKERS[function.__name__] = function
    return function


def family(name: str):
    def register(function):
        FAMILIES[name] = function
        return function

    return register


@dataclass(frozen=True)
class Case:
    """A network and the integers that go in.

    integers: the text is integer TOSA; otherwise float TOSA with points.
    """

    name: str
    family: str
    maker: str
    arguments: dict[str, Any]
    seed: int
    text: str
    values: tuple[tuple[int, ...], ...] = ()
    ranges: tuple[tuple[int, int] | None, ...] = ()
    size: int = field(default=0, compare=False)

    @property
    def integers(self) -> bool:
        return "tpc.quantize" not in self.text


def make(family_name: str, maker_name: str, arguments: dict[str, Any], seed: int, name: str) -> Case:
    """Raises ValueError where the arguments describe no network."""
    made = MAKERS[maker_name](np.random.default_rng(seed), **arguments)
    made = Made(made) if isinstance(made, str) else made
    return Case(
        name,
        family_name,
        maker_name,
        arguments,
        seed,
        made.text,
        made.values,
        made.ranges,
        sum(value for key, value in arguments.items() if key in SIZES and isinstance(value, int)),
    )


def read(path: Path) -> Case:
    """A network of one's own, on random values. Raises OSError and ValueError for a file that is no text."""
    text = path.read_text()
    return Case(path.stem, "network", "", {}, zlib.crc32(text.encode()), text)


def smaller(case: Case) -> Iterator[Case]:
    """Cases of the same maker and seed with one size less: one, its half, and one less where that is small."""
    for key, value in case.arguments.items():
        if key not in SIZES or not isinstance(value, int):
            continue
        for size in sorted({1, value // 2, value - 1 if value <= 4 else 1}):
            if 1 <= size < value:
                try:
                    yield make(case.family, case.maker, case.arguments | {key: size}, case.seed, case.name)
                except ValueError:
                    continue


def build() -> list[Case]:
    """Makes the whole corpus, the same on every machine. The seed of a case follows from its name."""
    # Registers the makers.
    import elementwise
    import extremes
    import integer_forms
    import layers
    import moving
    import reductions
    import rescales

    assert all((elementwise, extremes, integer_forms, layers, moving, reductions, rescales))
    cases = []
    for family_name, describe in FAMILIES.items():
        for number, (maker_name, arguments) in enumerate(describe()):
            name = f"{family_name.replace(' ', '-').replace(',', '')}-{number:02}"
            cases.append(make(family_name, maker_name, arguments, zlib.crc32(name.encode()), name))
    return cases


def sample(case: Case, argument: int, shape: tuple[int, ...], low: int, high: int) -> np.ndarray:
    """Integers for an argument: those that the case names, both ends of the range, all others where they fit, and
    random ones."""
    if argument < len(case.ranges) and case.ranges[argument]:
        low, high = case.ranges[argument]
    count = int(np.prod(shape))
    random = np.random.default_rng([case.seed, argument])
    first = list(case.values[argument]) if argument < len(case.values) else []
    first = [value for value in first if low <= value <= high][:count]
    left = count - len(first)
    if left >= high - low + 1:
        first += range(low, high + 1)
    elif left >= 8 and not first:
        first += [low, high, low + 1, high - 1]
    rest = random.integers(low, high, count - len(first), endpoint=True)
    return np.concatenate([np.array(first, np.int64), rest]).reshape(shape)
