# SPDX-License-Identifier: Apache-2.0
"""Rewrites what MediaPipe's .tflite files have and no converter knows into ordinary operators.

DENSIFY of a sparse constant       the dense constant
custom Convolution2DTransposeBias  TRANSPOSE_CONV, which takes a bias too since its version 3
"""

from __future__ import annotations

from pathlib import Path

import flatbuffers
import numpy as np
from ai_edge_litert import schema_py_generated as schema
from ai_edge_litert.interpreter import Interpreter, OpResolverType

CUSTOM = b"Convolution2DTransposeBias"


def add_buffer(model: schema.ModelT, values: np.ndarray) -> int:
    buffer = schema.BufferT()
    buffer.data = np.frombuffer(values.tobytes(), np.uint8)
    model.buffers.append(buffer)
    return len(model.buffers) - 1


def densify(model: schema.ModelT, path: Path) -> None:
    """The interpreter expands its sparse constants; this keeps what it makes of them."""
    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(str(path), experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=True)
    interpreter.allocate_tensors()
    interpreter.invoke()
    graph = model.subgraphs[0]
    kept = []
    for operator in graph.operators:
        if model.operatorCodes[operator.opcodeIndex].builtinCode == schema.BuiltinOperator.DENSIFY:
            result = operator.outputs[0]
            graph.tensors[result].buffer = add_buffer(model, interpreter.get_tensor(result))
        else:
            kept.append(operator)
    graph.operators = kept


def transpose_convolution(model: schema.ModelT) -> None:
    graph = model.subgraphs[0]
    code = schema.OperatorCodeT()
    code.builtinCode = schema.BuiltinOperator.TRANSPOSE_CONV
    code.deprecatedBuiltinCode = schema.BuiltinOperator.TRANSPOSE_CONV
    code.version = 3
    model.operatorCodes.append(code)
    for operator in graph.operators:
        if model.operatorCodes[operator.opcodeIndex].customCode != CUSTOM:
            continue
        # A C struct of the interpreter: padding (1 same, 2 valid), stride along the width, along the height.
        padding, stride_width, stride_height = np.frombuffer(bytes(operator.customOptions), np.int32)[:3]
        options = schema.TransposeConvOptionsT()
        options.padding = schema.Padding.SAME if padding == 1 else schema.Padding.VALID
        options.strideW, options.strideH = int(stride_width), int(stride_height)
        size = schema.TensorT()
        size.name = graph.tensors[operator.outputs[0]].name + b"/size"
        size.shape, size.type = [4], schema.TensorType.INT32
        size.buffer = add_buffer(model, np.array(graph.tensors[operator.outputs[0]].shape, np.int32))
        graph.tensors.append(size)
        image, kernel, bias = operator.inputs
        operator.inputs = [len(graph.tensors) - 1, kernel, image, bias]
        operator.opcodeIndex = len(model.operatorCodes) - 1
        operator.builtinOptionsType = schema.BuiltinOptions.TransposeConvOptions
        operator.builtinOptions, operator.customOptions = options, None


def standardize(path: Path, output: Path) -> Path:
    """Writes `output` and returns it, or returns `path` when it has none of these operators."""
    model = schema.ModelT.InitFromPackedBuf(path.read_bytes(), 0)
    sparse = any(code.builtinCode == schema.BuiltinOperator.DENSIFY for code in model.operatorCodes)
    custom = any(code.customCode == CUSTOM for code in model.operatorCodes)
    if sparse:
        densify(model, path)
    if custom:
        transpose_convolution(model)
    if not sparse and not custom:
        return path
    builder = flatbuffers.Builder(path.stat().st_size)
    builder.Finish(model.Pack(builder), b"TFL3")
    output.write_bytes(builder.Output())
    return output
