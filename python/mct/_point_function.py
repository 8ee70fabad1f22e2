# SPDX-License-Identifier: Apache-2.0
"""One quantization point as a function of arrays: what it makes of them, and the gradients that come back. The compiler
computes both; a function is compiled once for each shape."""

from __future__ import annotations

import atexit
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float32]

# Points that stay compiled: those of a network of some hundred layers.
_KEPT = 1024


@dataclass(frozen=True)
class PointFunction:
    """The function of one point.

    shape:       of the tensor.
    point:       the text of a `tpc.quantize` after its name: the quantized tensor, the axes of the channels, and
                 `parameters(…)` or `trainable(…)`.
    num_learned: number of tensors that the point learns.
    learned:     shape of each of them.
    """

    shape: tuple[int, ...]
    point: str
    num_learned: int
    learned: tuple[int, ...]

    @classmethod
    def of(
        cls, shape: Sequence[int], attribute: str, *, axis: int | None, is_weight: bool, num_learned: int = 0
    ) -> PointFunction:
        """Makes one.

        attribute: `parameters(…)` or `trainable(…)`.
        axis:      of the channels of a weight; None: one parameter for the tensor.
        """
        shape = tuple(int(size) for size in shape)
        channels = None if axis is None else axis % len(shape)
        learned = tuple(size if number == channels else 1 for number, size in enumerate(shape))
        axes = "" if channels is None else f" axes [{channels}]"
        kind = f'weight "kernel_attr"{axes}' if is_weight else "activation"
        return cls(shape, f"{kind} {attribute}", num_learned, learned)

    def values(self, arrays: Sequence[Array]) -> Array:
        """Returns the quantized array. `arrays`: the array, and what the point has learned."""
        found: Array = _compile(self, "main").run(list(arrays))[0]
        return found

    def gradients(self, arrays: Sequence[Array], gradient: Array) -> list[Array]:
        """Returns the derivatives by each of the arrays, for those by the result."""
        found: list[Array] = _compile(self, "gradient").run([*arrays, gradient])
        return found


def _write_type(shape: Sequence[int]) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}f32>"


@functools.lru_cache(maxsize=_KEPT)
def _make(function: PointFunction) -> Any:
    """Returns the module with the point, `main`, and its gradients, `gradient`."""
    from mct import stages
    from mct.model import Model

    kinds = [_write_type(function.shape), *[_write_type(function.learned)] * function.num_learned]
    arguments = ", ".join(f"%a{number}: {kind}" for number, kind in enumerate(kinds))
    names = ", ".join(f"%a{number + 1}" for number in range(function.num_learned))
    learned = f" learned({names} : {', '.join(kinds[1:])})" if function.num_learned else ""
    network = Model.parse(
        f"func.func @main({arguments}) -> {kinds[0]} {{ "
        f'%q = tpc.quantize %a0 as "x" {function.point}{learned} : {kinds[0]} return %q : {kinds[0]} }}'
    )
    return stages.expand_trainable_points(stages.add_gradient(network, name="gradient")).module


@functools.lru_cache(maxsize=2 * _KEPT)
def _compile(function: PointFunction, name: str) -> Any:
    return _make(function).compile(name)


def _forget() -> None:
    _compile.cache_clear()
    _make.cache_clear()


# Objects of the native module go before the module does.
atexit.register(_forget)
