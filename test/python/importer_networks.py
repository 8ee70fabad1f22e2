# SPDX-License-Identifier: Apache-2.0
"""Networks for the importers' tests, as a `.tflite` file and as ONNX, made of plain arrays.

ResNet8 is a classifier of 32x32 images with three residual blocks, by its parameters in the order of its layers: pairs
of a kernel [out, height, width, in] and a bias.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np

Parameters = list[tuple[np.ndarray, np.ndarray]]

# Kernel size and channels of each layer; the third of a later block is its shortcut.
_RESNET8 = [(3, 3, 16), (3, 16, 16), (3, 16, 16)]
_RESNET8 += [(3, 16, 32), (3, 32, 32), (1, 16, 32), (3, 32, 64), (3, 64, 64), (1, 32, 64), (1, 64, 10)]


def seeded_parameters() -> Parameters:
    """For images of about unit size."""
    generator = np.random.default_rng(8)
    result = []
    for size, inputs, outputs in _RESNET8:
        kernel = generator.normal(0, (2 / (size * size * inputs)) ** 0.5, (outputs, size, size, inputs))
        result.append((kernel.astype(np.float32), generator.normal(0, 0.1, outputs).astype(np.float32)))
    return result


def constants_in(text: str) -> dict[str, np.ndarray]:
    """The constants of real numbers in the text of a module, by their names."""
    arrays = {}
    blobs = dict(re.findall(r'^ +("(?:[^"\\]|\\.)*"|\w+): "0x([0-9A-F]*)"', text.partition("{-#")[2], re.MULTILINE))
    constant = re.compile(r'(%\w+) = "tosa\.const"\(\) <\{values = dense(_resource)?<(.*)> : tensor<([\dx]+)xf32>\}>')
    for name, resource, values, shape in constant.findall(text):
        extents = [int(extent) for extent in shape.split("x")]
        if resource:
            array = np.frombuffer(bytes.fromhex(blobs[values]), "<f4")[1:]  # after the alignment
        elif values.startswith('"0x'):
            array = np.frombuffer(bytes.fromhex(values[3:-1]), "<f4")
        else:
            array = np.array([float(v) for v in re.findall(r"[-+.\deE]+", values)], np.float32)
        arrays[name] = np.broadcast_to(array, extents) if array.size == 1 else array.reshape(extents)
    return arrays


def parameters_in(text: str) -> Parameters:
    """Kernels and biases of the convolutions in the text of a module, in their order."""
    arrays = constants_in(text)
    return [(arrays[k], arrays[b]) for k, b in re.findall(r"tosa\.conv2d %\w+, (%\w+), (%\w+),", text)]


class Tflite:
    """A `.tflite` file under construction, with the schema that LiteRT carries."""

    def __init__(self) -> None:
        from ai_edge_litert import schema_py_generated as schema

        self.schema = schema
        self.model = schema.ModelT()
        self.model.version, self.model.description = 3, "a test"
        self.model.buffers = [schema.BufferT()]  # the empty one, by convention
        self.model.operatorCodes, self.model.metadata = [], []
        self.graph = schema.SubGraphT()
        self.graph.tensors, self.graph.operators, self.graph.name = [], [], "main"
        self.model.subgraphs = [self.graph]

    def buffer(self, data: bytes) -> int:
        buffer = self.schema.BufferT()
        buffer.data = np.frombuffer(data, np.uint8)
        self.model.buffers.append(buffer)
        return len(self.model.buffers) - 1

    @staticmethod
    def kind(dtype: np.dtype) -> str:
        """Returns the schema's name of a type of NumPy."""
        words = {"f": "FLOAT", "i": "INT", "u": "UINT", "b": "BOOL"}
        return words[dtype.kind] + ("" if dtype.kind == "b" else str(8 * dtype.itemsize))

    def quantize(self, tensor: int, scale: float, zero_point: int) -> int:
        """Says what the integers of a tensor stand for; returns the tensor."""
        quantization = self.schema.QuantizationParametersT()
        quantization.scale, quantization.zeroPoint = [scale], [zero_point]
        self.graph.tensors[tensor].quantization = quantization
        return tensor

    def tensor(self, name: str, shape: Sequence[int], kind: str = "FLOAT32", dynamic: bool = False) -> int:
        """An activation; `dynamic` opens the first dimension."""
        tensor = self.schema.TensorT()
        tensor.name, tensor.shape, tensor.type = name, list(shape), getattr(self.schema.TensorType, kind)
        if dynamic:
            tensor.shapeSignature = [-1, *shape[1:]]
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def constant(self, name: str, values: np.ndarray, scale: Sequence[float] = ()) -> int:
        """A constant; `scale` makes it one of quantized values, along the last axis where there are several."""
        index = self.tensor(name, values.shape, self.kind(values.dtype))
        self.graph.tensors[index].buffer = self.buffer(np.ascontiguousarray(values).tobytes())
        if scale:
            quantization = self.schema.QuantizationParametersT()
            quantization.scale, quantization.zeroPoint = list(scale), [0] * len(scale)
            quantization.quantizedDimension = values.ndim - 1 if len(scale) > 1 else 0
            self.graph.tensors[index].quantization = quantization
        return index

    def operator(
        self,
        kind: str,
        inputs: Sequence[int],
        outputs: Sequence[int],
        options: str = "",
        *,
        version: int = 1,
        **fields,
    ) -> None:
        """Options are those of the schema's class `options`; `kind` is a builtin operator, or "custom:NAME"."""
        code = self.schema.OperatorCodeT()
        custom = kind.partition("custom:")[2]
        builtin = getattr(self.schema.BuiltinOperator, "CUSTOM" if custom else kind)
        code.builtinCode, code.deprecatedBuiltinCode, code.version = builtin, min(builtin, 127), version
        code.customCode = custom or None
        self.model.operatorCodes.append(code)
        operator = self.schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes) - 1
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        if options:
            operator.builtinOptionsType = getattr(self.schema.BuiltinOptions, options)
            operator.builtinOptions = getattr(self.schema, options + "T")()
            for field, value in fields.items():
                setattr(operator.builtinOptions, field, value)
        self.graph.operators.append(operator)

    def finish(self, inputs: Sequence[int], outputs: Sequence[int], **metadata: str) -> bytes:
        import flatbuffers

        self.graph.inputs, self.graph.outputs = list(inputs), list(outputs)
        for name, value in metadata.items():
            entry = self.schema.MetadataT()
            entry.name, entry.buffer = name, self.buffer(value.encode())
            self.model.metadata.append(entry)
        builder = flatbuffers.Builder(1024)
        builder.Finish(self.model.Pack(builder), b"TFL3")
        return bytes(builder.Output())


def resnet8_tflite(parameters: Parameters) -> bytes:
    """With a dynamic batch, as TensorFlow's converter writes it."""
    file = Tflite()
    relu = file.schema.ActivationFunctionType.RELU
    layers = iter(enumerate(parameters))

    def convolution(x: int, size: int, stride: int = 1, activation: int = 0) -> int:
        number, (kernel, bias) = next(layers)
        weights = [file.constant(f"conv{number}/kernel", kernel), file.constant(f"conv{number}/bias", bias)]
        result = file.tensor(f"conv{number}", (1, size, size, len(bias)), dynamic=True)
        strides = {"strideH": stride, "strideW": stride}
        fields = {"padding": 0, "fusedActivationFunction": activation, "dilationHFactor": 1, "dilationWFactor": 1}
        file.operator("CONV_2D", [x, *weights], [result], "Conv2DOptions", **fields, **strides)
        return result

    image = file.tensor("image", (1, 32, 32, 3), dynamic=True)
    x = convolution(image, 32, activation=relu)
    for block, (size, width) in enumerate(((32, 16), (16, 32), (8, 64))):
        stride = 2 if block else 1
        y = convolution(convolution(x, size, stride, relu), size)
        shortcut = convolution(x, size, stride) if block else x
        x = file.tensor(f"add{block}", (1, size, size, width), dynamic=True)
        file.operator("ADD", [shortcut, y], [x], "AddOptions", fusedActivationFunction=relu)
    pool = file.tensor("pool", (1, 1, 1, 64), dynamic=True)
    window = {"filterHeight": 8, "filterWidth": 8, "strideH": 8, "strideW": 8, "padding": 1}
    file.operator("AVERAGE_POOL_2D", [x], [pool], "Pool2DOptions", **window)
    kernel, bias = next(layers)[1]
    weights = [file.constant("dense/kernel", kernel.reshape(10, 64)), file.constant("dense/bias", bias)]
    logits, result = (file.tensor(name, (1, 10), dynamic=True) for name in ("dense", "probabilities"))
    file.operator("FULLY_CONNECTED", [pool, *weights], [logits], "FullyConnectedOptions")
    file.operator("SOFTMAX", [logits], [result], "SoftmaxOptions", beta=1.0)
    return file.finish([image], [result])


def onnx_model(nodes, inputs, outputs, constants, opset: int = 17):
    """`inputs`, `outputs`: names and shapes of floats; `constants`: arrays by name."""
    from onnx import TensorProto, helper, numpy_helper

    graph = helper.make_graph(
        nodes,
        "test",
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in outputs],
        [numpy_helper.from_array(np.asarray(array, order="C"), name) for name, array in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def resnet8_onnx(parameters: Parameters):
    """Channels first, with a batch norm after the first layer that changes nothing and a dynamic batch."""
    from onnx import helper

    nodes, constants = [], {}
    layers = iter(enumerate(parameters))

    def node(kind: str, name: str, *inputs: str, **attributes) -> str:
        nodes.append(helper.make_node(kind, list(inputs), [f"{name}_out"], name=name, **attributes))
        return f"{name}_out"

    def convolution(x: str, stride: int = 1) -> str:
        number, (kernel, bias) = next(layers)
        constants[f"kernel{number}"], constants[f"bias{number}"] = kernel.transpose(0, 3, 1, 2), bias
        size = kernel.shape[1]
        before, after = (size - stride) // 2, size - stride - (size - stride) // 2
        pads = [max(before, 0)] * 2 + [max(after, 0)] * 2
        parts = {"kernel_shape": [size, size], "strides": [stride, stride], "pads": pads}
        return node("Conv", f"conv{number}", x, f"kernel{number}", f"bias{number}", **parts)

    channels = len(parameters[0][1])
    for name, value in (("gamma", 1.0), ("beta", 0.0), ("mean", 0.0), ("variance", 1.0)):
        constants[name] = np.full(channels, value, np.float32)
    x = node("BatchNormalization", "norm", convolution("image"), "gamma", "beta", "mean", "variance", epsilon=0.0)
    x = node("Relu", "relu", x)
    for block in range(3):
        stride = 2 if block else 1
        y = convolution(node("Relu", f"relu{block}a", convolution(x, stride)))
        shortcut = convolution(x, stride) if block else x
        x = node("Relu", f"relu{block}b", node("Add", f"add{block}", shortcut, y))
    x = node("Flatten", "flatten", node("GlobalAveragePool", "pool", x))
    kernel, bias = next(layers)[1]
    constants["dense_kernel"], constants["dense_bias"] = kernel.reshape(10, 64), bias
    x = node("Gemm", "dense", x, "dense_kernel", "dense_bias", transB=1)
    node("Softmax", "probabilities", x, axis=1)
    return onnx_model(nodes, [("image", ["N", 3, 32, 32])], [("probabilities_out", ["N", 10])], constants)


def litert(model: bytes, samples: np.ndarray) -> np.ndarray:
    """Runs the interpreter's own kernels on each sample; delegates have another precision on some machines."""
    from ai_edge_litert.interpreter import Interpreter, OpResolverType

    resolver = OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES
    interpreter = Interpreter(model_content=model, experimental_op_resolver_type=resolver)
    interpreter.allocate_tensors()
    (source,), (result,) = interpreter.get_input_details(), interpreter.get_output_details()
    outputs = []
    for sample in samples:
        interpreter.set_tensor(source["index"], sample[None])
        interpreter.invoke()
        outputs.append(interpreter.get_tensor(result["index"])[0].copy())
    return np.stack(outputs)


def onnx_runtime(model, samples: np.ndarray, per_call: int = 0) -> np.ndarray:
    """Runs ONNX Runtime on all samples, `per_call` at once."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # Otherwise, sums of 8-bit products saturate in 16 bits on processors without VNNI.
    options.add_session_config_entry("session.x64quantprecision", "1")
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    step = per_call or len(samples)
    parts = [session.run(None, {name: samples[i : i + step]})[0] for i in range(0, len(samples), step)]
    return np.concatenate(parts)


def relative_error(result: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference over the range of what is expected."""
    return float(np.abs(result - expected).max() / (expected.max() - expected.min()))
