# SPDX-License-Identifier: Apache-2.0
"""Models: modules of the compiler that can be read, saved and run."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from mct import _native, importers
from mct.errors import Error


class Model:
    """A network at any stage. It is never changed: whatever works on it returns another one.

    module: the module of the compiler that it stands for.
    """

    def __init__(self, module: _native.Module) -> None:
        self.module = module

    @classmethod
    def parse(cls, source: str | bytes, name: str = "<module>") -> Model:
        """From MLIR text or bytecode; `name` is what messages call it."""
        return cls(_native.Module.parse(source.encode() if isinstance(source, str) else source, name))

    @property
    def text(self) -> str:
        """The module as MLIR text."""
        return self.module.text()

    @property
    def bytecode(self) -> bytes:
        """The module as MLIR bytecode."""
        return self.module.bytecode()

    @property
    def pass_pipeline(self) -> str:
        """The passes that it comes from, with all their options; "" for one that was loaded."""
        return self.module.pipeline

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write bytecode to a `.mlirbc`, else text. The file has its name when it is complete, or never."""
        path = os.fspath(path)
        data = self.bytecode if path.endswith(".mlirbc") else self.text.encode()
        _native.write_file(path, data)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} of {self.module.name}>"


class QuantizedModel(Model):
    """A network whose points have parameters."""


def load(source: Any, example_inputs: Any = None, **options: Any) -> Model:
    """A model from a file or a framework's object.

    source: path of a `.mlir`, `.mlirbc`, `.tflite` or `.onnx` file, or a `torch.nn.Module`, an `ExportedProgram` or a
            Keras model.
    example_inputs: of a `torch.nn.Module`: the tensors that it is called with.
    options: those of the importer, `mct.importers`.

    Raises `mct.Error` for what cannot be read or has operators left over, `ImportError`, which says how to install it,
    where the importer is missing.
    """
    if importers.importer_of(source):
        name = str(source) if isinstance(source, (str, os.PathLike)) else type(source).__name__
        return Model.parse(importers.import_model(source, example_inputs, **options), name)
    if not isinstance(source, (str, os.PathLike)):
        raise Error(f"cannot load an object of type {type(source).__name__}", notes=["give the path of a file"])
    path = Path(source)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise Error(f"cannot read '{path}': {error.strerror}") from error
    return Model.parse(data, str(path))
