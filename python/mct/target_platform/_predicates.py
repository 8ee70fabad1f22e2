# SPDX-License-Identifier: Apache-2.0
"""Filters as the dialect writes them, after `where` of `#tpc.op`."""

from __future__ import annotations

import json
import math
import operator
import re
from dataclasses import dataclass

from mct.errors import describe
from mct.target_platform._errors import TargetError

_NEGATED = {"eq": "ne", "ne": "eq", "gt": "le", "le": "gt", "ge": "lt", "lt": "ge"}


@dataclass(frozen=True)
class Leaf:
    """A comparison of an attribute of an op; `value` is the text of an MLIR attribute."""

    name: str
    word: str
    value: str


@dataclass(frozen=True)
class Join:
    """At least two predicates joined by `and` or `or`."""

    word: str
    operands: tuple[Predicate, ...]


# A truth that is known for every op, or a question to it.
Predicate = Leaf | Join
Truth = bool | Predicate


def join(word: str, *operands: Truth) -> Truth:
    """All of them (`and`) or any (`or`), without what is known."""
    neutral = word == "and"
    parts: list[Predicate] = []
    for operand in operands:
        if isinstance(operand, bool):
            if operand is not neutral:
                return operand
            continue
        for part in operand.operands if isinstance(operand, Join) and operand.word == word else (operand,):
            if part not in parts:
                parts.append(part)
    if not parts:
        return neutral
    if word == "and" and any(_contradict(one, other) for i, one in enumerate(parts) for other in parts[:i]):
        return False
    return parts[0] if len(parts) == 1 else Join(word, tuple(parts))


def _contradict(one: Predicate, other: Predicate) -> bool:
    """Returns whether two comparisons of one number cannot both hold."""
    if not isinstance(one, Leaf) or not isinstance(other, Leaf) or one.name != other.name:
        return False
    try:
        a, b = (float(leaf.value.removesuffix(" : f32")) for leaf in (one, other))
    except ValueError:
        return False
    # Every order of the number and the two values that can be: below, at, between, at, above.
    low, high = min(a, b), max(a, b)
    places = [low - 1.0, low, (low + high) / 2, high, high + abs(high) + 1.0]
    holds = {"eq": operator.eq, "ne": operator.ne, "gt": operator.gt, "ge": operator.ge, "lt": operator.lt}
    holds["le"] = operator.le
    if one.word not in holds or other.word not in holds:
        return False
    return not any(holds[one.word](x, a) and holds[other.word](x, b) for x in places)


def negate(predicate: Truth) -> Truth:
    """True where the predicate is not, for an op that has all its attributes."""
    if isinstance(predicate, bool):
        return not predicate
    if isinstance(predicate, Join):
        return join("or" if predicate.word == "and" else "and", *map(negate, predicate.operands))
    if predicate.word not in _NEGATED:
        raise TargetError(f"'{predicate.name} {predicate.word}' cannot be excluded from another operator set")
    return Leaf(predicate.name, _NEGATED[predicate.word], predicate.value)


def write_predicate(predicate: Predicate) -> str:
    """Returns a predicate in the syntax of the dialect."""
    if isinstance(predicate, Leaf):
        name = predicate.name if re.fullmatch(r"[A-Za-z_][\w$.]*", predicate.name) else quote(predicate.name)
        return f"{name} {predicate.word} {predicate.value}"
    parts = []
    for operand in predicate.operands:
        text = write_predicate(operand)
        binds_closer = predicate.word == "or" and isinstance(operand, Join) and operand.word == "and"
        parts.append(text if isinstance(operand, Leaf) or binds_closer else f"({text})")
    return f" {predicate.word} ".join(parts)


def quote(text: str) -> str:
    """A string of MLIR."""
    escaped = "".join(
        chr(byte) if 0x20 <= byte < 0x7F and byte not in b'"\\' else f"\\{byte:02X}" for byte in text.encode()
    )
    return f'"{escaped}"'


def write_real(value: float) -> str:
    """A finite number, with all its digits."""
    if not math.isfinite(value):
        raise TargetError(f"{value} cannot be written as a number")
    text = json.dumps(float(value))
    mantissa, exponent, power = text.partition("e")
    return (mantissa if "." in mantissa else f"{mantissa}.0") + exponent + power


def write_value(value: object) -> str:
    """A number, string, truth value or list of integers as an attribute."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        # Attributes of ops are f32: a comparison goes by value.
        return f"{write_real(value)} : f32"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (list, tuple)) and all(isinstance(i, int) and not isinstance(i, bool) for i in value):
        return f"array<i64: {', '.join(map(str, value))}>"
    raise TargetError(
        f"an op cannot be asked for {describe(value)}; known: numbers, strings, truth values, lists of integers"
    )
