# SPDX-License-Identifier: Apache-2.0
"""StableHLO, as JAX and torch-mlir write it, by torch-mlir's conversion to linalg, and `mct-raise-linalg`.

Names of scopes become names of layers: of Flax those of the modules, without that of the network.
"""

from __future__ import annotations

from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mct import _extras, _native
from mct.errors import Error
from mct.importers import _process

_CONVERTER = "torch-mlir"
_RAISE = "func.func(mct-raise-linalg)"


def import_model(
    source: str | PathLike[str] | bytes, example_inputs: Any = None, *, timeout: float | None = None
) -> bytes:
    """The bytecode of the module that a file of StableHLO, given by its path or its contents, stands for.

    The file is text or a portable artifact, with tensors of fixed shapes, so that `example_inputs` are of no use.
    Raises ImportError without the extra, Error for a module that cannot be converted.
    """
    name = "a module of StableHLO" if isinstance(source, bytes) else Path(fspath(source)).name
    if example_inputs is not None:
        raise Error("a module of StableHLO has shapes of its own", name, ["leave example_inputs out"])
    if not isinstance(source, bytes) and not Path(fspath(source)).is_file():
        raise Error("cannot read it: No such file or directory", fspath(source))
    _extras.require("stablehlo", "a module of StableHLO")
    return convert(source, name, timeout)


def convert(source: str | PathLike[str] | bytes, name: str, timeout: float | None = None) -> bytes:
    """Imports a module of StableHLO; messages call the source `name`."""
    with _process.folder() as work:
        path = work / "module.stablehlo" if isinstance(source, bytes) else Path(fspath(source)).absolute()
        if isinstance(source, bytes):
            path.write_bytes(source)
        result = work / "linalg.mlir"
        _process.run(_CONVERTER, name, ["mct.importers._stablehlo_child", path, result.name], work, timeout)
        if not result.exists():
            raise Error(f"{_CONVERTER} ended without an error and wrote nothing", name)
        return _native.Module.parse(result.read_bytes(), name).run(_RAISE).bytecode()
