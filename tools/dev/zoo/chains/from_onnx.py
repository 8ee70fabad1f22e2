# SPDX-License-Identifier: Apache-2.0
"""ONNX to TOSA with torch-mlir, which needs no PyTorch for that; judged by ONNX Runtime.

    python from_onnx.py MODEL.onnx FOLDER [SPECS]

SPECS is a JSON list, one object for each argument: `chain.one_sample`, and "shape" where the file leaves it open.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import chain
import numpy as np
import onnx
import onnxruntime
import recurrent
from onnx import helper, numpy_helper, version_converter
from torch_mlir import ir
from torch_mlir.dialects import torch as torch_d
from torch_mlir.extras import onnx_importer

# The operators of torch-mlir are those of this version; exporters wrote older ones.
OPSET = 17
PIPELINE = "builtin.module(torch-onnx-to-torch-backend-pipeline,torch-backend-to-tosa-backend-pipeline)"


def close(model: onnx.ModelProto, specs: list[dict]) -> onnx.ModelProto:
    """Gives every argument its shape, and removes the shapes that the file states of everything else."""
    constants = {tensor.name for tensor in model.graph.initializer}
    arguments = [value for value in model.graph.input if value.name not in constants]
    for value, spec in zip(arguments, specs, strict=False):
        dimensions = value.type.tensor_type.shape.dim
        for dimension, extent in zip(dimensions, spec.get("shape", []), strict=False):
            dimension.ClearField("dim_param")
            dimension.dim_value = extent
    for value in arguments:
        if any(dimension.dim_value < 1 for dimension in value.type.tensor_type.shape.dim):
            raise ValueError(f"argument '{value.name}' has no fixed shape: give one in its spec")
    # Files before version 4 of the format list the constants as arguments too.
    del model.graph.input[:]
    model.graph.input.extend(arguments)
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")
    return model


def simplify(model: onnx.ModelProto, output: Path) -> onnx.ModelProto:
    """The model as ONNX Runtime simplifies it without leaving the standard: shapes, conditions, constants."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(output)
    options.log_severity_level = 3
    onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return onnx.load(output)


def floors(model: onnx.ModelProto) -> bool:
    """Whether every enlargement by nearest neighbours rounds positions down."""
    modes = [{a.name: a.s for a in node.attribute} for node in model.graph.node if node.op_type == "Resize"]
    return all(mode.get("nearest_mode") == b"floor" for mode in modes if mode.get("mode") == b"nearest")


def center_nearest(text: str) -> str:
    """Moves the `tosa.resize` of nearest neighbours by half a pixel of the source, its border with it.

    TOSA takes the nearest position where ONNX says `floor`, and torch-mlir converts as if these were the same.
    """
    shape = r"(%\w+) = tosa\.const_shape\s+\{values = dense<\[?([-\d, ]+)\]?>"
    values = {name: [int(v) for v in numbers.split(",")] for name, numbers in re.findall(shape, text)}
    line = re.compile(r"^(\s*)(%\w+ = tosa\.resize %\w+, )(%\w+), (%\w+), (%\w+)( \{mode = NEAREST.*)$", re.MULTILINE)

    def pair(name: str, numbers: list[int]) -> str:
        elements = ", ".join(map(str, numbers))
        return f"{name} = tosa.const_shape {{values = dense<[{elements}]> : tensor<2xindex>}} : () -> !tosa.shape<2>"

    def move(match: re.Match) -> str:
        indent, head, scale, offset, border, tail = match.groups()
        numerators = values[scale][::2]
        if any(n % d for n, d in zip(numerators, values[scale][1::2], strict=True)) or any(values[offset]):
            return match[0]
        moved = [[v[i % len(v)] - numerators[i] // 2 for i in (0, 1)] for v in (values[offset], values[border])]
        names = [f"{kind}_of_{head.split()[0][1:]}" for kind in ("%offset", "%border")]
        lines = [pair(name, numbers) for name, numbers in zip(names, moved, strict=True)]
        return indent + f"\n{indent}".join([*lines, f"{head}{scale}, {', '.join(names)}{tail}"])

    return line.sub(move, text)


def inline_integers(model: onnx.ModelProto) -> None:
    """Makes the importer write indices as literals: behind a resource, upstream's constant folding crashes on them."""
    for tensor in model.graph.initializer:
        values = numpy_helper.to_array(tensor)
        if values.dtype.kind == "i":
            tensor.CopyFrom(helper.make_tensor(tensor.name, tensor.data_type, values.shape, values.ravel().tolist()))


def convert(model: Path, specs: list[dict], output: Path) -> None:
    """Writes `output`. What torch-mlir's own command does, but nodes keep their names as locations."""
    proto = close(onnx.load(model), specs)
    for entry in proto.opset_import:
        if entry.domain == "" and entry.version < OPSET:
            proto = version_converter.convert_version(proto, OPSET)
            break
    proto = recurrent.write_out(simplify(proto, output.with_suffix(".onnx")))
    proto = onnx.shape_inference.infer_shapes(proto, data_prop=True)
    proto.graph.name = "main"
    for node in proto.graph.node:
        node.name = node.name or node.output[0]
    inline_integers(proto)
    context = ir.Context()
    torch_d.register_dialect(context)
    info = onnx_importer.ModelInfo(proto, config=onnx_importer.Config())
    module = info.create_module(context=context).operation
    importer = onnx_importer.NodeImporter.define_function(info.main_graph, module)
    importer.import_all()
    module.verify()
    torch = output.with_suffix(".torch.mlir")
    torch.write_text(module.get_asm(enable_debug_info=True))
    command = [Path(sys.executable).with_name("torch-mlir-opt"), torch, f"--pass-pipeline={PIPELINE}"]
    subprocess.run([*command, "--mlir-print-debuginfo", "-o", output], check=True)
    if floors(proto):
        output.write_text(center_nearest(output.read_text()))


class Reference:
    def __init__(self, model: Path, specs: list[dict]):
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        proto = close(onnx.load(model), specs)
        self.session = onnxruntime.InferenceSession(
            proto.SerializeToString(), options, providers=["CPUExecutionProvider"]
        )
        self.names = [argument.name for argument in self.session.get_inputs()]

    def arguments(self, specs: list[dict]) -> list[tuple[list[int], np.dtype, dict]]:
        types = {"tensor(float)": np.float32, "tensor(int32)": np.int32, "tensor(int64)": np.int64}
        return [
            (argument.shape, types[argument.type], specs[i] if i < len(specs) else {})
            for i, argument in enumerate(self.session.get_inputs())
        ]

    def __call__(self, arrays: list[np.ndarray]) -> list[np.ndarray]:
        return self.session.run(None, dict(zip(self.names, arrays, strict=True)))


def main(model: str, folder: str, specs: str = "[]") -> None:
    given = json.loads(specs)
    convert(Path(model), given, Path(folder) / "module.mlir")
    reference = Reference(Path(model), given)
    chain.record(Path(folder), chain.samples(Path(folder).name, reference.arguments(given)), reference)


if __name__ == "__main__":
    main(*sys.argv[1:])
