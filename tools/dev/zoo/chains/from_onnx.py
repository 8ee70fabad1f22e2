# SPDX-License-Identifier: Apache-2.0
"""ONNX to TOSA with the package's own importer; judged by ONNX Runtime.

    python from_onnx.py MODEL.onnx FOLDER [SPECS]

SPECS is a JSON list, one object for each argument: `chain.one_sample`, and "shape" where the file leaves it open.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import chain
import numpy as np
import onnxruntime

# The package as it is built; its importer finds what it runs in this environment.
sys.path.insert(0, str(Path(__file__).resolve().parents[4] / "build" / "python"))

from mct import importers

TYPES = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}


class Reference:
    def __init__(self, model: Path):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        self.names = [argument.name for argument in self.session.get_inputs()]

    def arguments(self, specs: list[dict]) -> list[tuple[list[int], np.dtype, dict]]:
        found = []
        for index, argument in enumerate(self.session.get_inputs()):
            spec = specs[index] if index < len(specs) else {}
            shape = spec.get("shape", argument.shape)
            if not all(isinstance(extent, int) for extent in shape):
                raise ValueError(f"argument '{argument.name}' has no fixed shape: give one in its spec")
            found.append((shape, TYPES[argument.type], spec))
        return found

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        return self.session.run(None, dict(zip(self.names, arrays, strict=True)))


def main(model: str, folder: str, specs: str = "[]") -> None:
    reference = Reference(Path(model))
    arguments = reference.arguments(json.loads(specs))
    examples = [np.zeros(shape, dtype) for shape, dtype, _ in arguments]
    (Path(folder) / "module.mlir").write_bytes(importers.import_model(model, examples))
    chain.record(Path(folder), chain.samples(Path(folder).name, arguments), reference)


if __name__ == "__main__":
    main(*sys.argv[1:])
