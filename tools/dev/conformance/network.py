# SPDX-License-Identifier: Apache-2.0
"""Writes small networks in MLIR: float ops between points with parameters, or TOSA on integers.

Every value is (name, shape, element type). `finish` gives the text of a module with one function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from tosa_text import array_text, float_text, tensor_type

LARGEST = "3.40282347E+38"


@dataclass(frozen=True)
class Grid:
    """A quantizer.

    kind:       power_of_two, symmetric or uniform (with a zero point, `threshold` is then its scale).
    threshold:  of the tensor, or one for each channel.
    """

    kind: str
    threshold: float | tuple[float, ...]
    bits: int = 8
    signed: bool = True
    zero_point: int = 0

    @property
    def text(self) -> str:
        numbers = self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)
        values = ", ".join(repr(float(number)) for number in numbers)
        if self.kind == "uniform":
            points = ", ".join([str(self.zero_point)] * len(numbers))
            return f"#tpc.uniform<scale = [{values}], zero_point = [{points}], bits = {self.bits}>"
        sign = "" if self.signed else ", is_signed = false"
        return f"#tpc.{self.kind}<threshold = [{values}], bits = {self.bits}{sign}>"

    def wider(self, factor: float) -> Grid:
        """Returns the same with a threshold that is `factor` times as large."""
        assert not isinstance(self.threshold, tuple)
        return replace(self, threshold=self.threshold * factor)


def pot(threshold: float | tuple[float, ...], bits: int = 8, signed: bool = True) -> Grid:
    return Grid("power_of_two", threshold, bits, signed)


def symmetric(threshold: float | tuple[float, ...], bits: int = 8, signed: bool = True) -> Grid:
    return Grid("symmetric", threshold, bits, signed)


def uniform(scale: float, zero_point: int, bits: int = 8) -> Grid:
    return Grid("uniform", scale, bits, False, zero_point)


class Value(NamedTuple):
    name: str
    shape: tuple[int, ...]
    element: str = "f32"

    @property
    def type(self) -> str:
        return tensor_type(self.shape, self.element) if self.shape else f"tensor<{self.element}>"


class Network:
    """Collects arguments and ops of one function."""

    def __init__(self) -> None:
        self.arguments: list[Value] = []
        self.lines: list[str] = []
        self.count = 0

    def name(self) -> str:
        self.count += 1
        return f"%{self.count}"

    def argument(self, shape: Sequence[int], grid: Grid | None = None, element: str = "f32") -> Value:
        """An argument, after its point if it has a grid."""
        value = Value(f"%arg{len(self.arguments)}", tuple(shape), element)
        self.arguments.append(value)
        return self.point(value, grid) if grid else value

    def point(self, value: Value, grid: Grid, axes: Sequence[int] = (), weight: str = "") -> Value:
        result = Value(self.name(), value.shape)
        role = f'weight "{weight}"' if weight else "activation"
        channels = f" axes [{', '.join(map(str, axes))}]" if axes else ""
        self.lines.append(
            f'{result.name} = tpc.quantize {value.name} as "p{self.count}" {role}{channels} '
            f"parameters({grid.text}) : {value.type}"
        )
        return result

    def constant(self, numbers: object, element: str = "f32") -> Value:
        data = np.asarray(numbers, np.float32 if element == "f32" else np.int64)
        value = Value(self.name(), data.shape, element)
        words = [float_text(number) if element == "f32" else str(number) for number in data.reshape(-1).tolist()]
        self.lines.append(
            f'{value.name} = "tosa.const"() <{{values = dense<{_nest(words, data.shape)}> : {value.type}}}> '
            f": () -> {value.type}"
        )
        return value

    def zero(self, element: str = "f32") -> Value:
        return self.constant([0], element)

    def sizes(self, numbers: Sequence[int]) -> str:
        name = self.name()
        rank = len(numbers)
        values = f"dense<[{', '.join(map(str, numbers))}]> : tensor<{rank}xindex>"
        self.lines.append(f"{name} = tosa.const_shape {{values = {values}}} : () -> !tosa.shape<{rank}>")
        return f"{name} !tosa.shape<{rank}>"

    def op(
        self,
        kind: str,
        operands: Sequence[Value | str],
        shape: Sequence[int],
        attributes: str = "",
        element: str = "f32",
    ) -> Value:
        """Appends `tosa.<kind>`; operands that are text are what `sizes` returned."""
        result = Value(self.name(), tuple(shape), element)
        pairs = [tuple(one.split(" ", 1)) if isinstance(one, str) else (one.name, one.type) for one in operands]
        extra = f" {{{attributes}}}" if attributes else ""
        self.lines.append(
            f"{result.name} = tosa.{kind} {', '.join(name for name, _ in pairs)}{extra} : "
            f"({', '.join(type_ for _, type_ in pairs)}) -> {result.type}"
        )
        return result

    def binary(self, kind: str, left: Value, right: Value, element: str = "f32") -> Value:
        shape = tuple(max(pair) for pair in zip(left.shape, right.shape, strict=True))
        operands = [left, right] + ([self.zero("i8")] if kind == "mul" else [])
        return self.op(kind, operands, shape, element=element)

    def clamp(self, value: Value, low: str, high: str = LARGEST) -> Value:
        limits = f"min_val = {low} : f32, max_val = {high} : f32"
        return self.op("clamp", [value], value.shape, limits)

    def kernel(self, data: np.ndarray, grid: Grid, axes: Sequence[int]) -> Value:
        channels = axes if isinstance(grid.threshold, tuple) else ()
        return self.point(self.constant(data), grid, channels, "kernel_attr")

    def finish(self, *results: Value) -> str:
        arguments = ", ".join(f"{value.name}: {value.type}" for value in self.arguments)
        types = ", ".join(value.type for value in results)
        body = "".join(f"  {line}\n" for line in self.lines)
        names = ", ".join(value.name for value in results)
        return f"func.func @main({arguments}) -> ({types}) {{\n{body}  return {names} : {types}\n}}\n"


def _nest(words: list[str], shape: Sequence[int]) -> str:
    """Returns the literal of a tensor; one word for a tensor of equal elements."""
    if len(set(words)) == 1:
        return words[0]
    if len(shape) <= 1:
        return f"[{', '.join(words)}]"
    step = len(words) // shape[0]
    return f"[{', '.join(_nest_all(words[i : i + step], shape[1:]) for i in range(0, len(words), step))}]"


def _nest_all(words: list[str], shape: Sequence[int]) -> str:
    if not shape:
        return words[0]
    step = len(words) // shape[0]
    return f"[{', '.join(_nest_all(words[i : i + step], shape[1:]) for i in range(0, len(words), step))}]"


def windows(
    shape: Sequence[int], kernel: Sequence[int], stride: int, pad: Sequence[int], dilation: int = 1
) -> list[int]:
    """Rows and columns of what a window makes; ValueError where TOSA has no such one, because a rest is left."""
    result = []
    for size, length, before, after in zip(shape, kernel, pad[0::2], pad[1::2], strict=True):
        span = size + before + after - (length - 1) * dilation - 1
        if span < 0 or span % stride:
            raise ValueError(f"{size} + {before} + {after} is no size for windows of {length} by {stride}")
        result.append(span // stride + 1)
    return result


__all__ = ["LARGEST", "Grid", "Network", "Value", "array_text", "pot", "symmetric", "uniform", "windows"]
