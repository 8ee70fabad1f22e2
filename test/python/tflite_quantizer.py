# SPDX-License-Identifier: Apache-2.0
"""Quantizes a float `.tflite` file after training, as LiteRT's kernels want it: for tests of the importer.

Ranges are those of the samples; kernels of convolutions have a scale for each channel.
"""

from __future__ import annotations

import numpy as np

# The operand with the kernel, and the axis of its channels.
_KERNELS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}
# Versions of operators on integers.
_VERSIONS = {"CONV_2D": 3, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 4, "ADD": 2, "AVERAGE_POOL_2D": 2, "SOFTMAX": 2}
_SAME_GRID = frozenset({"RESHAPE", "AVERAGE_POOL_2D", "MAX_POOL_2D", "PAD", "TRANSPOSE", "SLICE"})
_FIXED = {"SOFTMAX": {8: (1 / 256, -128), 16: (1 / 32768, 0)}, "LOGISTIC": {8: (1 / 256, -128), 16: (1 / 32768, 0)}}


def _ranges(data: bytes, samples: np.ndarray) -> dict[int, tuple[float, float]]:
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_REF
    interpreter = Interpreter(
        model_content=data, experimental_op_resolver_type=resolver, experimental_preserve_all_tensors=True
    )
    interpreter.allocate_tensors()
    (source,) = interpreter.get_input_details()
    found: dict[int, tuple[float, float]] = {}
    for sample in samples:
        interpreter.set_tensor(source["index"], sample[None])
        interpreter.invoke()
        for details in interpreter.get_tensor_details():
            if details["dtype"] == np.float32 and details["shape"].size:
                values = interpreter.get_tensor(details["index"])
                low, high = found.get(details["index"], (0.0, 0.0))
                found[details["index"]] = (min(low, float(values.min())), max(high, float(values.max())))
    return found


def quantize(data: bytes, samples: np.ndarray, activation_bits: int = 8, weight_bits: int = 8) -> bytes:
    """The file with integers of `activation_bits` (8, 16) between its operators and kernels of `weight_bits` (4, 8)."""
    import flatbuffers
    from ai_edge_litert import schema_py_generated as schema

    ranges = _ranges(data, samples)
    model = schema.ModelT.InitFromPackedBuf(data, 0)
    graph = model.subgraphs[0]
    kinds = {value: name for name, value in vars(schema.BuiltinOperator).items()}
    grids: dict[int, tuple[float, int]] = {}

    def mark(index: int, kind: str, scales, zero_points, axis: int = 0) -> None:
        tensor = graph.tensors[index]
        tensor.type = getattr(schema.TensorType, kind)
        tensor.quantization = schema.QuantizationParametersT()
        tensor.quantization.scale = np.asarray(scales, np.float32)
        tensor.quantization.zeroPoint = np.asarray(zero_points, np.int64)
        tensor.quantization.quantizedDimension = axis

    def mark_activation(index: int, kind: str = "", like: int = -1) -> None:
        if index in grids:
            return
        low, high = ranges[index]
        scale = float(np.float32((high - low) / 255)) or 1.0
        grids[index] = (scale, int(np.clip(round(-128 - low / scale), -128, 127)))
        if activation_bits == 16:
            grids[index] = (float(np.float32(max(-low, high) / 32767)) or 1.0, 0)
        grids[index] = _FIXED.get(kind, {}).get(activation_bits, grids[index])
        if kind in _SAME_GRID:
            grids[index] = grids[like]
        mark(index, f"INT{activation_bits}", [grids[index][0]], [grids[index][1]])

    def store(index: int, codes: np.ndarray) -> None:
        buffer = schema.BufferT()
        buffer.data = np.frombuffer(codes.tobytes(), np.uint8)
        model.buffers.append(buffer)
        graph.tensors[index].buffer = len(model.buffers) - 1

    def values(index: int) -> np.ndarray:
        stored = bytes(model.buffers[graph.tensors[index].buffer].data)
        return np.frombuffer(stored, np.float32).reshape(graph.tensors[index].shape)

    for index in graph.inputs:
        mark_activation(index)
    for node in graph.operators:
        code = model.operatorCodes[node.opcodeIndex]
        kind = kinds[max(code.builtinCode, code.deprecatedBuiltinCode)]
        code.version = max(code.version, _VERSIONS.get(kind, 1))
        for index in node.outputs:
            mark_activation(index, kind, node.inputs[0])
        if kind not in _KERNELS:
            continue
        kernel, bias = node.inputs[1:3]
        axis = _KERNELS[kind]
        real, offsets = values(kernel), values(bias)
        rest = tuple(other for other in range(real.ndim) if other != axis)
        largest = (1 << (weight_bits - 1)) - 1
        scales = (np.abs(real).max(rest, keepdims=True) / largest).astype(np.float32)
        codes = np.clip(np.round(real / scales), -largest, largest).astype(np.int8)
        mark(kernel, f"INT{weight_bits}", scales.reshape(-1), np.zeros(scales.size), axis)
        if weight_bits == 4:
            flat = np.append(codes.reshape(-1), [0] * (codes.size % 2)).astype(np.uint8) & 15
            codes = (flat[::2] | flat[1::2] << 4).astype(np.uint8)
        store(kernel, codes)
        steps = scales.reshape(-1).astype(np.float64) * grids[node.inputs[0]][0]
        mark(bias, "INT32" if activation_bits == 8 else "INT64", steps, np.zeros(steps.size))
        store(bias, np.round(offsets / steps).astype(np.int32 if activation_bits == 8 else np.int64))
    builder = flatbuffers.Builder(1024)
    builder.Finish(model.Pack(builder), b"TFL3")
    return bytes(builder.Output())
