# SPDX-License-Identifier: Apache-2.0
"""ONNX, by torch-mlir, which needs no PyTorch for it: names of nodes become names of layers, inputs stay NCHW.

ONNX Runtime simplifies the graph first, within the standard: shapes that are computed, conditions, constants.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from mct import _extras
from mct.errors import Error
from mct.importers import _process, _text

_CONVERTER = "torch-mlir"


def import_model(
    source: str | PathLike[str] | Any, example_inputs: Any = None, *, timeout: float | None = None
) -> bytes:
    """The text of the module that an `.onnx` file, given by its path, or an `onnx.ModelProto` stands for.

    torch-mlir takes fixed shapes only. A leading dimension that the file leaves open, the batch, becomes 1, which
    `mct-set-batch` changes; for other open ones give `example_inputs`: arrays, or anything with a `shape`, in the order
    of the inputs or by name. Raises ImportError without the extra, Error for a model that cannot be converted.
    """
    shapes = _shapes(example_inputs)
    if hasattr(source, "SerializeToString"):
        _extras.require("onnx", "an ONNX model")
        from mct.importers import _onnx_large

        with _process.folder() as folder:
            model = folder / "model.onnx"
            _onnx_large.write(source, model)
            return _convert(model, shapes, timeout)
    path = Path(fspath(source))
    if not path.is_file():
        raise Error(
            f"cannot read it: {'not a regular file' if path.exists() else 'No such file or directory'}", str(path)
        )
    _extras.require("onnx", "an .onnx file")
    # Large weights lie in files beside it: the child reads it where it is.
    return _convert(path.absolute(), shapes, timeout)


def _shapes(example_inputs: Any) -> dict[str, list[int]]:
    """Shapes by name, or by number as text."""
    if example_inputs is None:
        return {}
    if hasattr(example_inputs, "shape"):
        example_inputs = [example_inputs]
    named = isinstance(example_inputs, Mapping)
    entries = example_inputs.items() if named else enumerate(example_inputs)
    return {str(key): [int(extent) for extent in value.shape] for key, value in entries}


def _convert(model: Path, shapes: Mapping[str, Sequence[int]], timeout: float | None) -> bytes:
    with _process.folder() as work:
        command: list[str | Path] = ["mct.importers._onnx_child", model, "module.mlir", json.dumps(shapes)]
        _process.run(_CONVERTER, model.name, command, work, timeout, keeps_loaded=True)
        return _process.read_large(_CONVERTER, model.name, work / "module.mlir", _text.name_layers)
