# SPDX-License-Identifier: Apache-2.0
"""JAX, by the importer of StableHLO: functions of `jax.jit`, such as one that applies a network of Flax and holds its
parameters.

Names of scopes become names of layers: of Flax those of the modules, without that of the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from mct import _extras
from mct.errors import Error
from mct.importers import stablehlo

if TYPE_CHECKING:
    import jax


def import_model(
    source: jax.stages.Wrapped | jax.stages.Lowered | jax.export.Exported,
    example_inputs: Any = None,
    *,
    timeout: float | None = None,
) -> bytes:
    """The bytecode of the module that a function of `jax.jit`, what it has been lowered to, or what `jax.export` has
    made of it, stands for.

    `example_inputs` are an array, a sequence of them, or a dict by the names of the parameters, of which each may be a
    tree of arrays; only shapes and types matter, and anything with a `shape` and a `dtype` will do. Lowered and
    exported functions have shapes of their own; error functions are polynomials in exported ones. Raises ImportError
    without the extra, Error for a function that cannot be converted.
    """
    _extras.require("jax", "a function of JAX")
    import jax

    name = str(getattr(source, "__name__", None) or getattr(source, "fun_name", type(source).__name__))
    if not isinstance(source, (jax.stages.Lowered, jax.export.Exported)):
        source = _lower(source, example_inputs, name)
    elif example_inputs is not None:
        raise Error(f"{type(source).__name__} has shapes of its own", name, ["leave example_inputs out"])
    if isinstance(source, jax.export.Exported):
        text = str(source.mlir_module())
    else:
        text = source.as_text(dialect="stablehlo", debug_info=True)
    return stablehlo.convert(text.encode(), name, timeout)


def _lower(function: jax.stages.Wrapped, example_inputs: Any, name: str) -> jax.stages.Lowered:
    import jax

    if example_inputs is None:
        raise Error(
            "a function has no shapes of its own", name, ["give example_inputs: one array for each of its parameters"]
        )
    args: tuple[Any, ...] = ()
    kwargs: dict[str, Any] = {}
    if isinstance(example_inputs, Mapping):
        kwargs = {str(key): value for key, value in example_inputs.items()}
    elif isinstance(example_inputs, (list, tuple)):
        args = tuple(example_inputs)
    else:
        args = (example_inputs,)

    def describe(value: Any) -> jax.ShapeDtypeStruct:
        value = value if hasattr(value, "dtype") else jax.numpy.asarray(value)
        return jax.ShapeDtypeStruct(value.shape, jax.dtypes.canonicalize_dtype(value.dtype))

    args, kwargs = jax.tree_util.tree_map(describe, (args, kwargs))
    try:
        return function.lower(*args, **kwargs)
    except Exception as problem:
        lines = [line for line in str(problem).splitlines() if line.strip()] or [type(problem).__name__]
        raise Error(f"JAX cannot lower the function: {lines[0]}", name, lines[1:12]) from problem
