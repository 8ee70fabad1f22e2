# SPDX-License-Identifier: Apache-2.0
"""ONNX networks that are quantized already: all operators and types of codes, and what ONNX Runtime makes of them."""

from __future__ import annotations

import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper

TYPES = {
    "int8": TensorProto.INT8,
    "uint8": TensorProto.UINT8,
    "int16": TensorProto.INT16,
    "uint16": TensorProto.UINT16,
    "int4": TensorProto.INT4,
    "uint4": TensorProto.UINT4,
    "int32": TensorProto.INT32,
}
LIMITS = {
    "int8": (-128, 127),
    "uint8": (0, 255),
    "int16": (-32768, 32767),
    "uint16": (0, 65535),
    "int4": (-8, 7),
    "uint4": (0, 15),
    "int32": (-2000, 2000),
}
# The first version of the format that has an operator set.
_FORMATS = {10: 5, 11: 6, 12: 7, 13: 7, 14: 7, 15: 8, 16: 8, 17: 8, 18: 8, 19: 9, 20: 9, 21: 10, 22: 10, 23: 11, 24: 11}


class Network:
    """A model of several branches, each of which ends in an output of its own. `weights`: codes, scales and zero points
    of every stored tensor of codes by the name of the node that reads it."""

    def __init__(self, opset: int, inputs: dict[str, list[int]], seed: int = 0, domains: tuple[str, ...] = ()) -> None:
        self.opset, self.inputs, self.domains = opset, inputs, domains
        self.nodes, self.constants, self.outputs = [], [], []
        self.random = np.random.default_rng(seed)
        self.weights: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        self.activations: list[tuple[float, int, str]] = []

    def fresh(self, prefix: str) -> str:
        return f"{prefix}{len(self.nodes)}_{len(self.constants)}"

    def constant(self, array, type: str | None = None) -> str:
        name = self.fresh("c")
        array = np.asarray(array)
        if type:
            tensor = helper.make_tensor(name, TYPES[type], array.shape, array.ravel().tolist())
        else:
            tensor = numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
        self.constants.append(tensor)
        return name

    def op(self, kind: str, *inputs: str, name: str = "", domain: str = "", **attributes) -> str:
        result = self.fresh("t")
        self.nodes.append(
            helper.make_node(kind, list(inputs), [result], name=name or self.fresh(kind), domain=domain, **attributes)
        )
        return result

    def grid(self, type: str, scale: float = 0.02, zero_point: int | None = None) -> tuple[str, str]:
        """Scale and zero point of an activation."""
        low, high = LIMITS[type]
        if high > 1000:
            scale /= 200
        if zero_point is None:
            zero_point = (low + high + 1) // 2 + 3
        self.activations.append((float(np.float32(scale)), zero_point, type))
        return self.constant(np.float32(scale)), self.constant(zero_point, type)

    def point(self, x: str, type: str, scale: float = 0.02, zero_point: int | None = None) -> str:
        """QuantizeLinear and DequantizeLinear."""
        parameters = self.grid(type, scale, zero_point)
        return self.op("DequantizeLinear", self.op("QuantizeLinear", x, *parameters), *parameters)

    def codes(self, shape, type: str, axis: int | None, scale: float = 0.01, centered: bool = False):
        """Stored codes with their scale and zero point, per channel along `axis`."""
        low, high = LIMITS[type]
        codes = self.random.integers(low, high + 1, shape)
        count = 1 if axis is None else shape[axis]
        scales = (scale * self.random.uniform(0.5, 1.5, count)).astype(np.float32)
        middle = (low + high + 1) // 2
        zero_points = np.full(count, middle if centered else middle + 1)
        if axis is None:
            scales, zero_points = scales[0], zero_points[0]
        return codes, scales, zero_points

    def weight(self, shape, type: str = "int8", axis: int | None = None, node: str = "", **options) -> str:
        """DequantizeLinear of stored codes."""
        codes, scales, zero_points = self.codes(shape, type, axis, **options)
        if node:
            self.weights[node] = (codes, scales, zero_points)
        attributes = {} if axis is None else {"axis": axis}
        return self.op(
            "DequantizeLinear",
            self.constant(codes, type),
            self.constant(scales),
            self.constant(zero_points, type),
            **attributes,
        )

    def bias(self, count: int, scale: float = 2e-4) -> str:
        codes = self.random.integers(-2000, 2000, count)
        return self.op(
            "DequantizeLinear",
            self.constant(codes, "int32"),
            self.constant(np.full(count, scale, np.float32)),
            self.constant(np.zeros(count, np.int64), "int32"),
            axis=0,
        )

    def end(self, value: str) -> None:
        self.outputs.append(value)

    def model(self):
        graph = helper.make_graph(
            self.nodes,
            "test",
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in self.inputs.items()],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in self.outputs],
            self.constants,
        )
        opsets = [helper.make_opsetid("", self.opset), *(helper.make_opsetid(domain, 1) for domain in self.domains)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_FORMATS.get(self.opset, 12))


IMAGE = [1, 4, 6, 6]


# Results of layers have this step, of which products of others are no multiples: there are no ties that rounding errors
# of float32 decide.
STEP = 0.0471


def qdq(opset: int, type: str = "int8", weights: tuple[str, ...] = ("int8",)) -> Network:
    """Every layer between QuantizeLinear and DequantizeLinear; `type`: of activations."""
    net = Network(opset, {"x": IMAGE, "v": [3, 8]}, seed=opset)
    x, v = net.point("x", type), net.point("v", type, 0.03)
    per_channel = opset >= 13

    def end(value: str, scale: float = STEP) -> None:
        net.end(net.point(value, type, scale))

    for kind in weights:
        axis = 0 if per_channel else None
        kernel = net.weight([5, 4, 3, 3], kind, axis, f"conv_{kind}")
        biases = [net.bias(5)] if per_channel else []
        end(net.op("Conv", x, kernel, *biases, name=f"conv_{kind}", pads=[1] * 4))
        kernel = net.weight([8, 6], kind, 1 if per_channel else None, f"product_{kind}")
        end(net.op("MatMul", v, kernel, name=f"product_{kind}"))
    end(net.op("Conv", x, net.weight([4, 4, 1, 1]), name="pointwise"))
    end(net.op("Conv", x, net.weight([8, 1, 3, 3], axis=0 if per_channel else None), name="depthwise", group=4))
    end(net.op("Conv", x, net.weight([6, 2, 2, 2]), name="grouped", group=2, strides=[2, 2]))
    end(net.op("ConvTranspose", x, net.weight([4, 3, 2, 2]), name="transposed", strides=[2, 2]))
    gemm = net.weight([6, 8], axis=0 if per_channel else None)
    # Before version 11 the bias is no option.
    end(
        net.op(
            "Gemm",
            v,
            gemm,
            net.bias(6) if per_channel else net.constant(np.zeros(6, np.float32)),
            name="dense",
            transB=1,
        )
    )
    end(net.op("Relu", x, name="relu"))
    end(net.op("Sigmoid", x, name="sigmoid"), 0.004)
    end(net.op("Add", x, net.op("Relu", x), name="sum"))
    end(net.op("Mul", x, x, name="square"))
    end(net.op("MaxPool", x, name="max", kernel_shape=[2, 2]))
    end(net.op("AveragePool", x, name="average", kernel_shape=[2, 2]))
    end(net.op("GlobalAveragePool", x, name="mean"))
    end(net.op("Concat", x, net.op("Relu", x), name="concat", axis=1))
    end(net.op("Transpose", x, name="transpose", perm=[0, 2, 3, 1]))
    end(net.op("Flatten", x, name="flatten"))
    return net


def qoperator() -> Network:
    """Operators on codes, of the standard and of ONNX Runtime."""
    net = Network(17, {"x": IMAGE, "v": [3, 8]}, domains=("com.microsoft",))
    microsoft = "com.microsoft"
    gx, gv = net.grid("uint8"), net.grid("uint8", 0.03)
    x, v = net.op("QuantizeLinear", "x", *gx), net.op("QuantizeLinear", "v", *gv)

    def stored(shape, type="int8", axis=None, node="", **options):
        codes, scales, zero_points = net.codes(shape, type, axis, centered=True, **options)
        net.weights[node] = (codes, scales, zero_points)
        return net.constant(codes, type), net.constant(scales), net.constant(zero_points, type)

    def end(kind, *inputs, scale=STEP, domain=microsoft, name="", grid=None, tail=(), **attributes):
        grid = grid or net.grid("uint8", scale)
        result = net.op(kind, *inputs, *grid, *tail, name=name, domain=domain, **attributes)
        net.end(net.op("DequantizeLinear", result, *grid))

    bias = net.constant(net.random.integers(-2000, 2000, 5), "int32")
    kernel = stored([5, 4, 3, 3], axis=0, node="conv")
    end("QLinearConv", x, *gx, *kernel, domain="", name="conv_quant", tail=(bias,), pads=[1] * 4)
    end("QLinearMatMul", v, *gv, *stored([8, 6], node="product"), domain="", name="product_quant")
    bias = net.constant(net.random.integers(-2000, 2000, 6), "int32")
    end("QGemm", v, *gv, *stored([6, 8], axis=0, node="dense"), bias, name="dense_quant", transB=1)
    end("QLinearAdd", x, *gx, x, *gx, name="sum_quant")
    end("QLinearAdd", v, *gv, *stored([8], "uint8", node="shifted"), name="shifted_quant")
    end("QLinearMul", x, *gx, x, *gx, name="square_quant")
    end("QLinearSigmoid", x, *gx, name="sigmoid_quant", scale=1 / 256)
    end("QLinearLeakyRelu", x, *gx, name="leaky_quant", alpha=0.1)
    end("QLinearAveragePool", x, *gx, name="average_quant", kernel_shape=[2, 2])
    end("QLinearGlobalAveragePool", x, *gx, name="mean_quant")
    end("QLinearSoftmax", v, *gv, name="softmax_quant", scale=1 / 256, axis=1, opset=13)
    grid = net.grid("uint8", 0.05)
    result = net.op("QLinearConcat", *grid, x, *gx, x, *gx, name="concat_quant", domain=microsoft, axis=1)
    net.end(net.op("DequantizeLinear", result, *grid))
    # Codes are moved like what they stand for.
    moved = net.op("MaxPool", x, name="max_quant", kernel_shape=[2, 2])
    moved = net.op("Transpose", moved, name="transpose_quant", perm=[0, 2, 3, 1])
    shape = net.constant(np.array([1, -1]))
    net.end(net.op("DequantizeLinear", net.op("Reshape", moved, shape, name="reshape_quant"), *gx))
    padded = net.op("Pad", x, net.constant(np.array([0, 0, 1, 1, 0, 0, 1, 1])), gx[1], name="pad_quant")
    net.end(net.op("DequantizeLinear", padded, *gx))
    return net


def integers() -> Network:
    """Sums of 32 bits that Cast and Mul make real, of codes with a static scale."""
    net = Network(17, {"x": IMAGE, "v": [3, 8]})
    gx, gv = net.grid("uint8"), net.grid("uint8", 0.03)
    x, v = net.op("QuantizeLinear", "x", *gx), net.op("QuantizeLinear", "v", *gv)
    for kind, source, grid, shape in (("ConvInteger", x, gx, [5, 4, 3, 3]), ("MatMulInteger", v, gv, [8, 6])):
        codes, scale, zero_point = net.codes(shape, "int8", None, centered=True)
        net.weights[kind] = (codes, scale, zero_point)
        kernel = net.constant(codes, "int8")
        sums = net.op(kind, source, kernel, grid[1], net.constant(zero_point, "int8"), name=kind)
        real = net.op("Cast", sums, to=TensorProto.FLOAT)
        net.end(net.op("Mul", real, net.op("Mul", grid[0], net.constant(scale))))
    return net


def integer_biases(node: str = "Div") -> tuple[Network, dict[str, np.ndarray]]:
    """Biases as integers in sums of 32 bits: one that is stored, of sums with a static scale, and one that is rounded
    at run time, as ONNX Runtime's quantizer of 2020 writes it. Also the real biases. `node`: what makes the integers of
    the second one."""
    net = Network(17, {"x": IMAGE, "v": [3, 8]})
    gv = net.grid("uint8", 0.03)
    v = net.op("QuantizeLinear", "v", *gv)
    biases: dict[str, np.ndarray] = {}

    def layer(kind: str, codes: str, zero_point: str, scale: str, shape: list[int], make_bias) -> None:
        stored, own, zero = net.codes(shape, "int8", None, centered=True)
        net.weights[kind] = (stored, own, zero)
        factor = net.op("Mul", scale, net.constant(own))
        bias = make_bias(factor, own)
        sums = net.op(kind, codes, net.constant(stored, "int8"), zero_point, net.constant(zero, "int8"), name=kind)
        real = net.op("Cast", net.op("Add", sums, bias), to=TensorProto.FLOAT)
        net.end(net.op("Mul", real, net.op("Mul", scale, net.constant(own))))

    def static(_: str, own: np.ndarray) -> str:
        integers = net.random.integers(-2000, 2000, 6)
        biases["MatMulInteger"] = integers * np.float32(0.03) * own
        return net.constant(integers, "int32")

    def at_run_time(factor: str, _: np.ndarray) -> str:
        biases["ConvInteger"] = net.random.normal(0, 2, 5).astype(np.float32)
        quotient = net.op(node, net.constant(biases["ConvInteger"]), factor)
        integers = net.op("Cast", net.op("Floor", quotient), to=TensorProto.INT32)
        return net.op("Reshape", integers, net.constant(np.array([1, 5, 1, 1])))

    layer("MatMulInteger", v, gv[1], gv[0], [8, 6], static)
    codes, scale, zero_point = (net.fresh(name) for name in ("codes", "scale", "zero"))
    net.nodes.append(helper.make_node("DynamicQuantizeLinear", ["x"], [codes, scale, zero_point]))
    layer("ConvInteger", codes, zero_point, scale, [5, 4, 3, 3], at_run_time)
    return net, biases


def run(model, samples: dict[str, np.ndarray]) -> list[np.ndarray]:
    """Runs ONNX Runtime on one sample, operator by operator."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    return session.run(None, samples)


def constants_in(text: str) -> dict[str, np.ndarray]:
    """Weights by the names of their layers, as they stand in front of their points."""
    arrays = {}
    blobs = dict(re.findall(r'("[^"]*"|[\w.$-]+): "0x([0-9A-F]+)"', text))
    for name, resource, values, shape in re.findall(
        r'(%\w+) = "tosa\.const"\(\) <\{values = dense(_resource)?<(.*)> : tensor<([\dx]+)xf32>\}>', text
    ):
        if resource:  # after its alignment
            array = np.frombuffer(bytes.fromhex(blobs[values][8:]), "<f4")
        elif values.startswith('"0x'):
            array = np.frombuffer(bytes.fromhex(values[3:-1]), "<f4")
        else:
            array = np.array(re.findall(r"[-+.\deE]+", values), np.float32)
        extents = [int(extent) for extent in shape.split("x")]
        arrays[name] = np.broadcast_to(array, extents) if array.size == 1 else array.reshape(extents)
    points = re.findall(r'tpc\.quantize (%\w+) as "(.*?)" weight "(?:kernel|pos)_attr"', text)
    return {layer: arrays[name] for name, layer in points if name in arrays}


def steps_and_zero_points(quantizer: str, bits: int, signed: bool) -> tuple[list[float], list[int]]:
    """Returns the parameters of a quantizer as MLIR prints it; zero points are counted as in the file."""
    numbers = {
        name: list(map(float, values.split(","))) for name, values in re.findall(r"(\w+) = \[(.*?)\]", quantizer)
    }
    if "threshold" in numbers:
        return [t / 2 ** (bits - signed) for t in numbers["threshold"]], [0] * len(numbers["threshold"])
    return numbers["scale"], [int(z) - signed * 2 ** (bits - 1) for z in numbers["zero_point"]]
