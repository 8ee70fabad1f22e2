# SPDX-License-Identifier: Apache-2.0
"""TensorFlow Lite to TOSA with Arm's tosa-converter-for-tflite; judged by the LiteRT interpreter.

    python from_tflite.py MODEL.tflite FOLDER [SPECS]

SPECS is a JSON list, one object for each argument (`chain.one_sample`).
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import chain
import flatbuffer
import numpy as np


def convert(model: Path, output: Path) -> None:
    """Writes `output`. The converter silently leaves the operations that it cannot convert; `importing.left_over`
    finds them."""
    converter = Path(sys.executable).with_name("tosa-converter-for-tflite")
    subprocess.run([converter, model, "--text", "--emit-debug-info", "-o", output], check=True)
    # Attributes of the flatbuffer's container, in the name of a dialect that no other tool has.
    text = output.read_text()
    text = re.sub(r"^module attributes \{.*\} \{$", "module {", text, count=1, flags=re.MULTILINE)
    text = re.sub(r"tf\.entry_function = \{[^{}]*\}(, )?", "", text)
    output.write_text(text)


class Reference:
    """The interpreter's own kernels, without delegates: they compute in another precision on some machines."""

    def __init__(self, model: Path):
        from ai_edge_litert.interpreter import Interpreter, OpResolverType

        resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
        self.interpreter = Interpreter(str(model), experimental_op_resolver_type=resolver)
        self.inputs = self.interpreter.get_input_details()
        self.outputs = self.interpreter.get_output_details()
        self.interpreter.allocate_tensors()

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        for detail, array in zip(self.inputs, arrays, strict=True):
            self.interpreter.set_tensor(detail["index"], array)
        self.interpreter.invoke()
        return [self.interpreter.get_tensor(detail["index"]).copy() for detail in self.outputs]


def main(model: str, folder: str, specs: str = "[]") -> None:
    given = json.loads(specs)
    standard = flatbuffer.standardize(Path(model), Path(folder) / "module.tflite")
    convert(standard, Path(folder) / "module.mlir")
    reference = Reference(standard)
    arguments = [
        (detail["shape"].tolist(), detail["dtype"], given[i] if i < len(given) else {})
        for i, detail in enumerate(reference.inputs)
    ]
    chain.record(Path(folder), chain.samples(Path(folder).name, arguments), reference)


if __name__ == "__main__":
    main(*sys.argv[1:])
