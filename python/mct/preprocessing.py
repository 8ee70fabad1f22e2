# SPDX-License-Identifier: Apache-2.0
"""Preprocessing of samples before a network reads them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from mct._arguments import checked
from mct.errors import ArgumentValueError, describe

Numbers = float | Iterable[float]
# Axis of the channels of samples, and the permutation for a network that has the other layout.
LAYOUTS: dict[str, tuple[int, tuple[int, ...]]] = {"NHWC": (1, (2, 0, 1)), "NCHW": (3, (1, 2, 0))}


def _numbers(values: Numbers | None, what: str) -> tuple[float, ...]:
    if values is None:
        return ()
    listed: Any = values if isinstance(values, Iterable) else [values]
    try:
        # Digits of a text are no numbers of channels.
        numbers = () if isinstance(values, str) else tuple(map(float, listed))
    except (TypeError, ValueError):
        numbers = ()
    if not numbers or not all(map(math.isfinite, numbers)):
        raise ArgumentValueError(f"{what}: expected one finite number, or one for each channel, got {describe(values)}")
    return numbers


@dataclass(frozen=True)
class Preprocessing:
    """The network reads `value * scale + offset`, of samples whose axes were brought into order.

    scale, offset: one number, or one for each channel; () is 1 and 0.
    axis:          dimension of the network's input that the channels are, where 0 holds the samples; None is the last.
    permutation:   after the first, dimension i of the input is dimension `permutation[i]` of a sample; () is as it is.

    It is written into the module (the pass `mct-record-preprocessing`), where everything that reads samples finds it:
    give it once.
    """

    scale: tuple[float, ...] = ()
    offset: tuple[float, ...] = ()
    axis: int | None = None
    permutation: tuple[int, ...] = ()

    @classmethod
    @checked
    def of(
        cls,
        scale: Numbers | None = None,
        offset: Numbers | None = None,
        *,
        mean: Numbers | None = None,
        axis: int | None = None,
        permutation: Sequence[int] = (),
        layout: str | None = None,
    ) -> Preprocessing:
        """Makes a preprocessing of single numbers or sequences.

        mean:   the network reads `(value - mean) * scale`: replaces `offset`, which is left out then.
        layout: of images for a network that has the other one: `"NHWC"` or `"NCHW"`; instead of `axis` and
                `permutation`.
        """
        if layout is not None:
            if layout not in LAYOUTS:
                raise ArgumentValueError(f"layout: expected one of {', '.join(LAYOUTS)}, got {layout!r}")
            if axis is not None or permutation:
                raise ArgumentValueError("layout: give it, or axis and permutation")
            axis, permutation = LAYOUTS[layout]
        factors, means = _numbers(scale, "scale"), _numbers(mean, "mean")
        if 0 in factors:
            raise ArgumentValueError("scale: a scale of 0 makes all samples equal")
        if means and offset is not None:
            raise ArgumentValueError(
                "offset and mean: give one of them; (value - mean) * scale has offset -mean * scale"
            )
        if not means:
            return cls(factors, _numbers(offset, "offset"), axis, tuple(permutation))
        used = factors or (1.0,)
        if len(used) != len(means) and 1 not in (len(used), len(means)):
            raise ArgumentValueError(f"mean has {len(means)} channels, scale {len(used)}")
        count = max(len(used), len(means))
        offsets = tuple(-means[i % len(means)] * used[i % len(used)] for i in range(count))
        return cls(factors, offsets, axis, tuple(permutation))

    @classmethod
    def from_record(cls, record: Mapping[str, Sequence[float]]) -> Preprocessing:
        """Reads the `preprocessing` of an input that `mct-run --signature --json` prints."""
        axis = record.get("axis")
        return cls(
            tuple(map(float, record.get("scale", ()))),
            tuple(map(float, record.get("offset", ()))),
            int(axis[0]) if axis else None,
            tuple(map(int, record.get("permutation", ()))),
        )

    def __bool__(self) -> bool:
        return self != Preprocessing()

    def over(self, other: Preprocessing) -> Preprocessing:
        """Returns this one, with the values of `other` for those that are not set."""
        order = self.permutation or other.permutation
        if self.scale or self.offset:
            return Preprocessing(self.scale, self.offset, self.axis, order)
        axis = other.axis if other.scale or other.offset else self.axis if self.axis is not None else other.axis
        return Preprocessing(other.scale, other.offset, axis, order)

    def sample_shape(self, row: Sequence[int | None]) -> tuple[int | None, ...]:
        """The shape of a sample of an input whose dimensions after the first are `row`."""
        if not self.permutation:
            return tuple(row)
        if sorted(self.permutation) != list(range(len(row))):
            raise ArgumentValueError(
                f"permutation {self.permutation} does not order the {len(row)} dimensions of a sample"
            )
        shape: list[int | None] = [None] * len(row)
        for dimension, source in enumerate(self.permutation):
            shape[source] = row[dimension]
        return tuple(shape)

    def pass_pipeline(self, input: str = "", function: str = "") -> str:
        """The pass that writes this into a module, as text; `input`: name or number, or "" for all of real numbers."""
        options = [f"{name}={value}" for name, value in (("input", input), ("function", function)) if value]
        for name, values in (("scale", self.scale), ("offset", self.offset), ("permutation", self.permutation)):
            if values:
                options.append(f"{name}={','.join(repr(value) for value in values)}")
        if self.axis is not None:
            options.append(f"axis={self.axis}")
        return "mct-record-preprocessing" + ("{" + " ".join(options) + "}" if options else "")
