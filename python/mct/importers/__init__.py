# SPDX-License-Identifier: Apache-2.0
"""Networks of others as TOSA: `.tflite`, ONNX, PyTorch, Keras, StableHLO, JAX, each by the converters of an extra
(`pip install "mct-mlir[tflite]"`), which run in a process of their own.

Every importer has `import_model(source, example_inputs=None, **options) -> bytes`: a module of `func` and `tosa`, as
text or bytecode, in which the layers of the source have their names. Inputs have the layout of the source.
"""

from __future__ import annotations

import importlib
import os
import sys
from pathlib import Path
from typing import Any

from mct.importers import _text

# By how the name of a file ends.
SUFFIXES = {
    ".tflite": "tflite",
    ".onnx": "onnx",
    ".pt2": "torch",
    ".keras": "keras",
    ".h5": "keras",
    ".hdf5": "keras",
    ".stablehlo": "stablehlo",
}

# Suffixes of MLIR files, and the number of bytes that are searched for operations of StableHLO.
_MODULES = (".mlir", ".mlirbc", ".bc")
_HEAD = 1 << 20


def _head(path: Path) -> bytes:
    """The beginning of a file, empty if it cannot be read, which the caller reports."""
    try:
        with path.open("rb") as stream:
            return stream.read(_HEAD)
    except OSError:
        return b""


def _is(source: Any, module: str, names: tuple[str, ...]) -> bool:
    """Returns whether `source` is an instance of a class of this name; one of a module that was not imported is not."""
    found: Any = sys.modules.get(module)
    classes = tuple(getattr(found, name, None) for name in names)
    return isinstance(source, tuple(c for c in classes if isinstance(c, type)))


def importer_of(source: Any) -> str | None:
    """The importer that `source` is for, `"onnx"` for "model.onnx"; nothing when there is none."""
    if isinstance(source, (str, os.PathLike)):
        path = Path(os.fspath(source))
        if (path / "saved_model.pb").exists():
            return "keras"
        # A file of MLIR may be a module of StableHLO.
        if path.suffix.lower() in _MODULES and path.is_file() and _text.is_stablehlo(_head(path)):
            return "stablehlo"
        return SUFFIXES.get(path.suffix.lower())
    if isinstance(source, bytes):
        if _text.is_stablehlo(source[:_HEAD]):
            return "stablehlo"
        return "tflite" if source[4:8] == b"TFL3" else None
    if _is(source, "torch.nn", ("Module",)) or _is(source, "torch.export", ("ExportedProgram",)):
        return "torch"
    if _is(source, "onnx", ("ModelProto",)):
        return "onnx"
    if _is(source, "keras", ("Model",)):
        return "keras"
    if _is(source, "jax.stages", ("Wrapped", "Lowered")) or _is(source, "jax.export", ("Exported",)):
        return "jax"
    return None


def import_model(source: Any, example_inputs: Any = None, **options: Any) -> bytes:
    """Imports `source` with the importer for its type; raises TypeError if there is none."""
    name = importer_of(source)
    if name is None:
        raise TypeError(f"no importer for {type(source).__name__} {source!r:.100}")
    importer = importlib.import_module(f"{__name__}.{name}")
    result: bytes = importer.import_model(source, example_inputs, **options)
    return result
