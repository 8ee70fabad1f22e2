# SPDX-License-Identifier: Apache-2.0
"""Quantized `.tflite` files become float networks whose points have the scales, zero points and codes of the file."""

import os
import re
import struct
import time

import importer_networks as networks
import numpy as np
import pytest
import quantized_tflite
import tflite_quantizer

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("tosa_converter_for_tflite", "ai_edge_litert"):
    pytest.importorskip(module, reason='the extra "tflite" is not installed (tools/dev/importers)')

from mct.importers import _flatbuffer, _tflite_points  # noqa: E402

# Where a quotient is that near to the middle of two codes, float32 decides.
ROUNDING = 1e-5


def file_of(name: str) -> bytes:
    return (quantized_tflite.FOLDER / f"{name}.tflite").read_bytes()


def parameters(model, folder) -> dict[str, dict]:
    """What the compiler says of every point, by its name and that of its weight."""
    path = folder / "parameters.json"
    mct.exporters.export_parameters(model, path)
    import json

    return json.loads(path.read_text())


def tensors(data: bytes) -> dict[str, _flatbuffer.Tensor]:
    return {tensor.name: tensor for tensor in _flatbuffer.File(data).graphs[0].tensors}


def litert(data: bytes, samples: np.ndarray, resolver: str) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The codes of the result, and of every tensor inside, by the kernels of `resolver`."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    model = schema.ModelT.InitFromPackedBuf(data, 0)
    graph = model.subgraphs[0]
    model.signatureDefs = None
    made = [int(index) for node in graph.operators for index in node.outputs]
    graph.outputs = [*graph.outputs, *[index for index in made if index not in list(graph.outputs)]]
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    interpreter = Interpreter(
        model_content=bytes(builder.Output()), experimental_op_resolver_type=getattr(OpResolverType, resolver)
    )
    interpreter.allocate_tensors()
    (source,) = interpreter.get_input_details()
    scale, zero_point = source["quantization"]
    runs = []
    for sample in samples:
        if scale:
            limits = np.iinfo(source["dtype"])
            sample = np.clip(np.round(sample / np.float32(scale)) + zero_point, limits.min, limits.max)
        interpreter.set_tensor(source["index"], sample[None].astype(source["dtype"]))
        interpreter.invoke()
        runs.append([interpreter.get_tensor(details["index"]).copy() for details in interpreter.get_output_details()])
    names = [graph.tensors[index].name.decode() for index in graph.outputs]
    found = {name: np.concatenate([run[i] for run in runs]) for i, name in enumerate(names)}
    return found[names[0]], found
