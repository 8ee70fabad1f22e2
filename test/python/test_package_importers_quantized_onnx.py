# SPDX-License-Identifier: Apache-2.0
"""ONNX networks that are quantized already: codes and parameters are those of the file, and what they compute is what
ONNX Runtime computes."""

import os
import random
import re
import time
from pathlib import Path

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
import onnx  # noqa: E402
import quantized_onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

# A code that is another one stands for a value a step away; what is smaller are rounding errors of float32.
SAME = 1e-5


def samples_for(net, seed: int = 3) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(seed)
    return {name: generator.normal(0, 1.2, shape).astype(np.float32) for name, shape in net.inputs.items()}


def differing(results, expected) -> tuple[int, int]:
    """Values of all outputs, and how many of them are another code."""
    results = results if isinstance(results, tuple) else (results,)
    assert [result.shape for result in results] == [value.shape for value in expected]
    pairs = list(zip(results, expected, strict=True))
    return sum(value.size for value in expected), sum(
        int((np.abs(a - b) > SAME * np.abs(b).max()).sum()) for a, b in pairs
    )


def constants_in(text: str) -> dict[str, np.ndarray]:
    """Weights by the names of their layers, as they stand in front of their points."""
    arrays = {}
    blobs = dict(re.findall(r'("[^"]*"|[\w.$-]+): "0x([0-9A-F]+)"', text))
    for name, resource, values, shape in re.findall(
        r'(%\w+) = "tosa\.const"\(\) <\{values = dense(_resource)?<(.*)> : tensor<([\dx]+)xf32>\}>', text
    ):
        if resource:  # behind its alignment
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
    """Of a quantizer as MLIR writes it; zero points as a file counts them."""
    numbers = {
        name: list(map(float, values.split(","))) for name, values in re.findall(r"(\w+) = \[(.*?)\]", quantizer)
    }
    if "threshold" in numbers:
        return [t / 2 ** (bits - signed) for t in numbers["threshold"]], [0] * len(numbers["threshold"])
    return numbers["scale"], [int(z) - signed * 2 ** (bits - 1) for z in numbers["zero_point"]]


def check_weights(model, net, type_of=lambda name: "int8") -> None:
    """No code and no parameter of a weight is another one than that of the file."""
    found = constants_in(model.text)
    points = {point.name.removesuffix(f"/{point.weight}"): point for point in model.points if point.weight}
    for name, (codes, scales, zero_points) in net.weights.items():
        bits = points[name].bits
        signed = quantized_onnx.LIMITS[type_of(name)][0] < 0
        steps, zeros = steps_and_zero_points(points[name].quantizer, bits, signed)
        assert np.array_equal(steps, np.ravel(scales).astype(np.float64)), name
        assert np.array_equal(zeros, np.ravel(zero_points)), name
        values = np.sort(found[name].ravel())
        axis = 0 if codes.ndim == 4 or name == "dense" else codes.ndim - 1
        shape = [-1 if i == axis and np.size(scales) > 1 else 1 for i in range(codes.ndim)]
        real = (codes - np.reshape(zero_points, shape)).astype(np.float32) * np.reshape(scales, shape)
        # The converter has transposed them.
        assert np.array_equal(values, np.sort(real.astype(np.float32).ravel())), name


# ----------------------------------------------------------------------------------------------------------------------
# Every operator and type
# ----------------------------------------------------------------------------------------------------------------------

FEW = ("int8", "uint8")
MANY = ("int8", "uint8", "int16", "int4", "uint4")


@pytest.mark.parametrize(
    ("opset", "activations", "weights"),
    [
        (10, "uint8", ("int8",)),
        (13, "int8", FEW),
        (17, "uint8", FEW),
        (19, "int8", FEW),
        (21, "uint8", MANY),
        (23, "int8", MANY),
        (25, "uint8", MANY),
    ],
)
def test_quantize_and_dequantize_become_points(opset, activations, weights):
    net = quantized_onnx.qdq(opset, activations, weights)
    proto, samples = net.model(), samples_for(net)
    model = mct.load(proto)
    count, others = differing(model.run(samples), quantized_onnx.run(proto, samples))
    assert count > 2300 and others == 0
    check_weights(model, net, lambda name: name.rpartition("_")[2])
    found = {
        tuple(values[0] for values in steps_and_zero_points(point.quantizer, point.bits, activations == "int8"))
        for point in model.points
        if not point.weight
    }
    assert found == {(scale, zero) for scale, zero, _ in net.activations}
    assert all("error_method = imported" in line for line in model.text.splitlines() if "tpc.quantize" in line)


@pytest.mark.parametrize("activations", ["int16", "uint16"])
def test_activations_of_sixteen_bits(activations):
    net = quantized_onnx.qdq(21, activations, ("int16", "uint4"))
    proto, samples = net.model(), samples_for(net)
    results, expected = mct.load(proto).run(samples), quantized_onnx.run(proto, samples)
    # A sum in float32 may be an error of 2^-23 of it apart, which is up to 1 % of a step of 16 bits.
    for result, value in zip(results, expected, strict=True):
        steps = np.abs(result - value) / (quantized_onnx.STEP / 200)
        assert steps.max() < 1.01 and (steps > 0.5).mean() < 0.02


def test_operators_on_codes_become_layers_between_points():
    net = quantized_onnx.qoperator()
    proto, samples = net.model(), samples_for(net)
    model = mct.load(proto)
    count, others = differing(model.run(samples), quantized_onnx.run(proto, samples))
    assert count > 1500 and others == 0
    check_weights(model, net, lambda name: "uint8" if name == "shifted" else "int8")
    # The names of operators are those of the float network.
    assert {"conv", "product", "dense", "sum", "softmax"} <= {point.name for point in model.points}


def test_sums_of_integers_with_static_scales_become_layers():
    net = quantized_onnx.integers()
    proto, samples = net.model(), samples_for(net)
    model = mct.load(proto)
    _, others = differing(model.run(samples), quantized_onnx.run(proto, samples))
    assert others == 0
    check_weights(model, net)


def test_rarer_operators_of_onnx_runtime(caplog):
    net = quantized_onnx.Network(17, {"v": [3, 8], "u": [3, 8]}, domains=("com.microsoft",))
    gv, gu, given = net.grid("uint8", 0.03), net.grid("uint8", 0.05), net.random.integers(0, 2, (3, 8)).astype(bool)
    v, u = net.op("QuantizeLinear", "v", *gv), net.op("QuantizeLinear", "u", *gu)
    grid = net.grid("uint8", quantized_onnx.STEP)
    microsoft = {"domain": "com.microsoft"}
    chosen = net.op("QLinearWhere", net.constant(given), v, *gv, u, *gu, *grid, name="where_quant", **microsoft)
    net.end(net.op("DequantizeLinear", chosen, *grid))
    net.weights["product"] = net.codes([8, 6], "int8", 1, centered=True)
    net.weights["free"] = net.codes([8, 6], "int8", None, centered=True)
    bias = net.constant(net.random.normal(size=6).astype(np.float32))
    for name, kind in (("product", "MatMulIntegerToFloat"), ("free", "DynamicQuantizeMatMul")):
        codes, scale, zero = net.weights[name]
        kernel = [net.constant(codes, "int8"), net.constant(scale), net.constant(zero, "int8")]
        operands = [v, kernel[0], gv[0], kernel[1], gv[1], kernel[2]] if name == "product" else ["v", *kernel]
        net.end(net.op(kind, *operands, bias, name=name, **microsoft))
    proto, samples = net.model(), samples_for(net)
    model = mct.load(proto)
    results, expected = model.run(samples), quantized_onnx.run(proto, samples)
    assert differing(tuple(results[:2]), expected[:2]) == (42, 0)
    # ONNX Runtime quantizes the input of this one to 8 bits that it finds, and here it is free.
    assert "the inputs of 1 layers ('free')" in caplog.text
    assert 0 < np.abs(results[2] - expected[2]).max() < 0.01 * np.abs(expected[2]).max()
    # The sum with a bias has the name of the node, and is put together with it.
    net.weights = {f"{name}/product/MatMulAddFusion": weight for name, weight in net.weights.items()}
    check_weights(model, net)


def test_means_of_codes():
    """ONNX Runtime has no kernel of this one: by its definition."""
    net = quantized_onnx.Network(17, {"x": quantized_onnx.IMAGE}, domains=("com.microsoft",))
    gx, grid = net.grid("uint8"), net.grid("uint8", 0.0173, 90)
    x = net.op("QuantizeLinear", "x", *gx)
    mean = net.op(
        "QLinearReduceMean", x, *gx, *grid, name="mean_quant", domain="com.microsoft", axes=[2, 3], keepdims=1
    )
    net.end(net.op("DequantizeLinear", mean, *grid))
    samples = samples_for(net)
    codes = np.clip(np.rint(samples["x"] / np.float32(0.02)) + 131, 0, 255) - 131
    expected = np.clip(np.rint(codes.mean((2, 3), keepdims=True) * 0.02 / 0.0173) + 90, 0, 255) - 90
    model = mct.load(net.model())
    assert np.abs(model.run(samples) - expected * 0.0173).max() < 1e-5
    assert "mean" in {point.name for point in model.points}


# ----------------------------------------------------------------------------------------------------------------------
# Networks that tools make
# ----------------------------------------------------------------------------------------------------------------------


def images(count: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(count, 3, 32, 32)).astype(np.float32)


class Samples:
    """What ONNX Runtime calibrates on."""

    def __init__(self, pictures) -> None:
        self.pictures = iter(pictures)

    def get_next(self):
        picture = next(self.pictures, None)
        return None if picture is None else {"image": picture[None]}


def quantized_by_onnx_runtime(folder, proto, pictures, form: str, method: str, activations: str, per_channel: bool):
    from onnxruntime import quantization as q

    source, result = folder / "float.onnx", folder / "quantized.onnx"
    onnx.save(proto, source)
    q.quantize_static(
        source,
        result,
        Samples(pictures),
        quant_format=q.QuantFormat[form],
        calibrate_method=q.CalibrationMethod[method],
        activation_type=q.QuantType[activations],
        weight_type=q.QuantType.QInt8,
        per_channel=per_channel,
    )
    return onnx.load(result)


FORMS = [
    (form, method, activations, per_channel)
    for method in ("MinMax", "Entropy")
    for form in ("QDQ", "QOperator")
    for activations, per_channel in (("QUInt8", True), ("QInt8", False))
]


def file_parameters(proto) -> tuple[set, dict[str, np.ndarray]]:
    """Scale and zero point of every activation that has such, and all stored codes of eight bits by their names."""
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    grids = set()
    places = {"QuantizeLinear": (1,), "QLinearConv": (6,), "QLinearAdd": (6,), "QGemm": (7,), "QLinearSoftmax": (3,)}
    places |= {"QLinearGlobalAveragePool": (3,)}
    for node in proto.graph.node:
        for place in places.get(node.op_type, ()):
            grids.add((float(stored[node.input[place]]), int(stored[node.input[place + 1]])))
    codes = {name: array for name, array in stored.items() if array.dtype == np.int8 and array.ndim > 1}
    return grids, codes


@pytest.mark.alternating
@pytest.mark.parametrize(("form", "method", "activations", "per_channel"), FORMS)
def test_what_onnx_runtime_quantizes_keeps_all_codes_and_parameters(tmp_path, form, method, activations, per_channel):
    float_proto = networks.resnet8_onnx(networks.seeded_parameters())
    proto = quantized_by_onnx_runtime(tmp_path, float_proto, images(8), form, method, activations, per_channel)
    model = mct.load(proto)
    grids, codes = file_parameters(proto)
    points = {point.name: point for point in model.points}
    found = {
        tuple(values[0] for values in steps_and_zero_points(point.quantizer, 8, activations == "QInt8"))
        for point in points.values()
        if not point.weight
    }
    assert found <= grids and len(found) >= 10
    reals = constants_in(model.text)
    kernels = {name: array for name, array in reals.items() if name.startswith(("conv", "dense"))}
    assert len(kernels) == len(codes) == 10
    for (layer, real), code in zip(
        sorted(kernels.items()), [codes[name] for name in sorted(codes, key=order)], strict=True
    ):
        point = points[f"{layer}/kernel_attr"]
        steps, zeros = steps_and_zero_points(point.quantizer, 8, True)
        assert not any(zeros)
        axis = point.axes[0] if point.axes else 0
        shape = [-1 if i == axis and len(steps) > 1 else 1 for i in range(real.ndim)]
        exact = np.rint(real.astype(np.float64) / np.reshape(steps, shape))
        assert np.array_equal((exact * np.reshape(steps, shape)).astype(np.float32), real)
        assert np.array_equal(np.sort(exact.ravel()), np.sort(code.astype(np.float64).ravel())), layer


def order(name: str) -> str:
    return name.replace("kernel", "conv") if "dense" not in name else name


def layers_of(proto):
    """Of every operator between QuantizeLinear and DequantizeLinear its name, what it reads, and its result."""
    made = {node.output[0]: node for node in proto.graph.node}
    stored = {tensor.name for tensor in proto.graph.initializer}
    users: dict[str, list] = {}
    for node in proto.graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    for node in proto.graph.node:
        if node.op_type != "QuantizeLinear" or node.input[0] not in made:
            continue
        real = made[node.input[0]]
        sources = [name for name in real.input if name in made and made[name].input[0] not in stored]
        (back,) = [user for user in users[node.output[0]] if user.op_type == "DequantizeLinear"][:1]
        if all(made[name].op_type == "DequantizeLinear" for name in sources):
            yield real.name, sources, back.output[0]


def test_layers_compute_the_codes_of_onnx_runtime_where_they_arise(tmp_path):
    """Each layer gets the values that ONNX Runtime gives it, so that no difference is one of a layer before."""
    float_proto = networks.resnet8_onnx(networks.seeded_parameters())
    proto = quantized_by_onnx_runtime(tmp_path, float_proto, images(8), "QDQ", "MinMax", "QUInt8", True)
    proto.graph.input[0].type.tensor_type.shape.dim[0].dim_value = 1
    layers = list(layers_of(proto))
    assert len(layers) >= 13
    names = sorted({name for _, sources, result in layers for name in [*sources, result]})
    whole = onnx.ModelProto()
    whole.CopyFrom(proto)
    del whole.graph.output[:]
    whole.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    values = [dict(zip(names, quantized_onnx.run(whole, {"image": x[None]}), strict=True)) for x in images(6)]
    onnx.save(onnx.shape_inference.infer_shapes(whole), tmp_path / "whole.onnx")
    count = others = 0
    for _, sources, result in layers:
        onnx.utils.extract_model(tmp_path / "whole.onnx", tmp_path / "layer.onnx", sources, [result])
        layer = onnx.load(tmp_path / "layer.onnx")
        for value in layer.graph.input:
            value.type.CopyFrom(helper.make_tensor_type_proto(TensorProto.FLOAT, values[0][value.name].shape))
        model = mct.load(layer)
        for value in values:
            results = model.run({name: value[name] for name in sources} if len(sources) > 1 else value[sources[0]])
            each = differing(results, [value[result]])
            count, others = count + each[0], others + each[1]
    assert count > 500_000 and others <= 1e-5 * count, f"{others} of {count}"


@pytest.mark.alternating
@pytest.mark.parametrize("form", ["QDQ", "QOperator"])
def test_trained_resnet8_is_as_accurate_as_in_onnx_runtime(shared, tools, tmp_path, form):
    import subprocess

    text = subprocess.check_output([tools / "mct-opt", shared / "models" / "resnet8_cifar10.mlirbc"], text=True)
    pictures, calibration = (
        np.load(shared / "cifar10" / f"{name}_images.npy").transpose(0, 3, 1, 2).astype(np.float32)
        for name in ("test", "calib")
    )
    labels = np.load(shared / "cifar10" / "test_labels.npy").ravel()
    float_proto = networks.resnet8_onnx(networks.parameters_in(text))
    proto = quantized_by_onnx_runtime(tmp_path, float_proto, calibration[:100], form, "MinMax", "QUInt8", True)
    expected = networks.onnx_runtime(proto, pictures).argmax(1)
    found = mct.load(proto).run(pictures).argmax(1)
    accuracies = [100 * (classes == labels).mean() for classes in (found, expected)]
    assert abs(accuracies[0] - accuracies[1]) <= 0.1  # both 74.65 %


def test_what_nncf_quantizes():
    """A small network of seeded weights with the defaults of NNCF 3.4."""
    proto = onnx.load(Path(__file__).parents[1] / "data" / "quantized_by_nncf.onnx")
    model = mct.load(proto)
    pictures = np.random.default_rng(6).normal(size=(40, 3, 8, 8)).astype(np.float32)
    expected = np.concatenate([quantized_onnx.run(proto, {"image": x[None]})[0] for x in pictures])
    _, others = differing(model.run(pictures), [expected])
    assert others == 0
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in proto.graph.initializer}
    scales = {
        float(scale)
        for node in proto.graph.node
        if node.op_type in ("QuantizeLinear", "DequantizeLinear")
        for scale in np.ravel(stored[node.input[1]])
    }
    found = [step for p in model.points for step in steps_and_zero_points(p.quantizer, p.bits, p.signed)[0]]
    assert len(found) > 20 and set(found) <= scales


def test_weights_that_are_quantized_for_sums_at_run_time_are_those_of_the_file(tmp_path, caplog):
    from onnxruntime import quantization as q

    random = np.random.default_rng(2)
    constants = {
        "w1": random.normal(0, 0.3, (8, 12)),
        "b1": random.normal(size=12),
        "w2": random.normal(0, 0.3, (12, 5)),
    }
    constants = {name: array.astype(np.float32) for name, array in constants.items()}
    nodes = [
        helper.make_node("MatMul", ["x", "w1"], ["p1"], "first"),
        helper.make_node("Add", ["p1", "b1"], ["s1"], "biased"),
        helper.make_node("Relu", ["s1"], ["r1"], "relu"),
        helper.make_node("MatMul", ["r1", "w2"], ["y"], "second"),
    ]
    onnx.save(networks.onnx_model(nodes, [("x", [4, 8])], [("y", [4, 5])], constants), tmp_path / "float.onnx")
    q.quantize_dynamic(tmp_path / "float.onnx", tmp_path / "dynamic.onnx", per_channel=True)
    model = mct.load(tmp_path / "dynamic.onnx")
    assert "the inputs of 2 layers ('first', 'second') are quantized at run time" in caplog.text
    assert "their activations are free" in caplog.text
    stored = {t.name: numpy_helper.to_array(t) for t in onnx.load(tmp_path / "dynamic.onnx").graph.initializer}
    weights = [
        (stored[f"{name}_quantized"].astype(np.float32) - stored[f"{name}_zero_point"]) * stored[f"{name}_scale"]
        for name in ("w1", "w2")
    ]
    x = random.normal(size=(4, 8)).astype(np.float32)
    expected = np.maximum(x @ weights[0] + constants["b1"], 0) @ weights[1]
    assert networks.relative_error(model.run(x), expected) < 1e-6
    assert [point.weight for point in model.points] == ["kernel_attr", "kernel_attr"]


def test_real_weights_under_quantizers_as_modelopt_writes_them():
    """Scales are Constant nodes, weights real numbers, and every reader has quantizers of its own."""
    random = np.random.default_rng(4)
    kernel = random.normal(0, 0.3, (5, 4, 3, 3)).astype(np.float32)
    scales = (np.abs(kernel).max((1, 2, 3)) / 127).astype(np.float32)
    nodes, constants = [], {"w": kernel, "z5": np.zeros(5, np.int8), "z": np.int8(0)}
    for name, value in (("s", np.float32(0.02)), ("s5", scales)):
        tensor = numpy_helper.from_array(np.asarray(value), name)
        nodes.append(helper.make_node("Constant", [], [name], f"{name}_constant", value=tensor))

    def point(source, scale, zero, name, **attributes):
        nodes.append(
            helper.make_node("QuantizeLinear", [source, scale, zero], [f"{name}_q"], f"{name}_q", **attributes)
        )
        nodes.append(
            helper.make_node("DequantizeLinear", [f"{name}_q", scale, zero], [name], f"{name}_dq", **attributes)
        )
        return name

    conv = [point("x", "s", "z", "x1"), point("w", "s5", "z5", "wd", axis=0)]
    nodes.append(helper.make_node("Conv", conv, ["c"], "conv", pads=[1] * 4))
    nodes.append(helper.make_node("Relu", [point("x", "s", "z", "x2")], ["r"], "relu"))
    proto = networks.onnx_model(nodes, [("x", quantized_onnx.IMAGE)], [("c", None), ("r", None)], constants)
    model = mct.load(proto)
    x = random.normal(size=quantized_onnx.IMAGE).astype(np.float32)
    _, others = differing(model.run(x), quantized_onnx.run(proto, {"x": x}))
    assert others == 0
    # The input is one point, whose two quantizers are the same.
    assert [point.name for point in model.points] == ["x", "conv/kernel_attr"]
    (weight,) = [point for point in model.points if point.weight]
    assert np.array_equal(steps_and_zero_points(weight.quantizer, 8, True)[0], scales.astype(np.float64))


# ----------------------------------------------------------------------------------------------------------------------
# Quantizers of others
# ----------------------------------------------------------------------------------------------------------------------


def with_fake_quantize(levels: int = 256, low: float = -1.28, high: float = 1.27, out_high: float | None = None):
    """A convolution between the FakeQuantize of OpenVINO, whose kernel has 255 levels for each channel."""
    random = np.random.default_rng(1)
    bound = random.uniform(0.5, 1, (3, 1, 1, 1)).astype(np.float32)
    constants = {
        "w": random.uniform(-0.9, 0.9, (3, 2, 1, 1)),
        "l": low,
        "h": high,
        "oh": high if out_high is None else out_high,
        "wl": -bound,
        "wh": bound,
    }
    constants = {name: np.array(array, np.float32) for name, array in constants.items()}
    domain = "org.openvinotoolkit"
    nodes = [
        helper.make_node("FakeQuantize", ["x", "l", "h", "l", "oh"], ["xq"], "fq_x", domain=domain, levels=levels),
        helper.make_node("FakeQuantize", ["w", "wl", "wh", "wl", "wh"], ["wq"], "fq_w", domain=domain, levels=255),
        helper.make_node("Conv", ["xq", "wq"], ["y"], "conv"),
    ]
    proto = networks.onnx_model(nodes, [("x", [1, 2, 4, 4])], [("y", None)], constants)
    proto.opset_import.append(helper.make_opsetid(domain, 1))
    return proto, constants


def test_fake_quantize_of_openvino():
    proto, constants = with_fake_quantize()
    model = mct.load(proto)
    x = np.random.default_rng(2).normal(size=(1, 2, 4, 4)).astype(np.float32)
    # By its definition.
    step = 2.55 / 255
    real_x = np.clip(np.rint((x.astype(np.float64) + 1.28) / step), 0, 255) * step - 1.28
    steps = 2 * constants["wh"].astype(np.float64) / 254
    real_w = np.clip(np.rint(constants["w"] / steps), -127, 127) * steps
    expected = np.einsum("bchw,oc->bohw", real_x, real_w[:, :, 0, 0])
    assert networks.relative_error(model.run(x), expected) < 1e-5
    assert {point.bits for point in model.points} == {8}
    assert [len(point.thresholds) for point in model.points if point.weight] == [3]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"levels": 100}, "FakeQuantize 'fq_x' has 100 levels, which are not all codes of some bits"),
        ({"levels": 255}, "FakeQuantize 'fq_x' has 255 levels"),
        ({"low": -1.2834}, "FakeQuantize 'fq_x' has levels none of which is zero"),
        ({"out_high": 1.0}, "FakeQuantize 'fq_x' has a result with other bounds than what it quantizes"),
        ({"low": 2.0}, "FakeQuantize 'fq_x' has bounds that are not ascending"),
    ],
)
def test_fake_quantize_that_no_point_is_names_its_node(options, message):
    with pytest.raises(mct.Error, match=re.escape(message)) as caught:
        mct.load(with_fake_quantize(**options)[0])
    assert caught.value.location == 'model.onnx: "fq_x"'


def test_a_file_like_those_of_sonys_exporter():
    """Thresholds of weights are Constant nodes, weights are float, and quantizers stand in a domain of their own: so
    writes Model Compression Toolkit 2.6.1."""
    random = np.random.default_rng(4)
    weights = random.uniform(-0.6, 0.6, (6, 3, 1, 1)).astype(np.float32)
    bias, thresholds = random.normal(size=6).astype(np.float32), np.array([0.4, 0.5, 0.6, 0.3, 0.55, 0.45], np.float32)
    given = {"domain": "mct_quantizers", "mctq_version": "1.7.0", "num_bits": 8}
    activation = [
        helper.make_node(
            "ActivationPOTQuantizer",
            [source],
            [f"{source}_q"],
            f"/{source}_activation_holder_quantizer/ActivationPOTQuantizer",
            signed=signed,
            threshold=threshold,
            **given,
        )
        for source, signed, threshold in (("input", 1, 4.0), ("relu", 0, 2.0), ("y", 0, 1.0))
    ]
    tensor = numpy_helper.from_array(thresholds.reshape(6, 1, 1, 1))
    kernel = ["/a/Constant_output_0", "/a/WeightsSymmetricQuantizer_output_0"]
    nodes = [
        activation[0],
        helper.make_node("Constant", [], [kernel[0]], "/a/Constant", value=tensor),
        helper.make_node(
            "WeightsSymmetricQuantizer",
            ["a.weight", kernel[0]],
            [kernel[1]],
            "/a/WeightsSymmetricQuantizer",
            signed=1,
            per_channel=1,
            channel_axis=0,
            **given,
        ),
        helper.make_node("Conv", ["input_q", kernel[1], "a.bias"], ["conv"], "/a/layer/Conv"),
        helper.make_node("Relu", ["conv"], ["relu"], "/Relu"),
        activation[1],
        helper.make_node("HardSwish", ["relu_q"], ["y"], "/HardSwish"),
        activation[2],
    ]
    constants = {"a.weight": weights, "a.bias": bias}
    proto = networks.onnx_model(nodes, [("input", [1, 3, 4, 4])], [("y_q", None)], constants, 20)
    proto.opset_import.append(helper.make_opsetid("mct_quantizers", 1))
    model = mct.load(proto)
    x = random.normal(size=(1, 3, 4, 4)).astype(np.float32)

    def quantized(values, step, low, high):
        return np.clip(np.rint(values / step), low, high) * step

    steps = (thresholds.astype(np.float64) / 128)[:, None]
    real = quantized(weights[:, :, 0, 0], steps, -128, 127)
    sums = np.einsum("bchw,oc->bohw", quantized(x, 1 / 32, -128, 127), real) + bias[:, None, None]
    relu = quantized(np.maximum(sums, 0), 1 / 128, 0, 255)
    expected = quantized(relu * np.clip(relu + 3, 0, 6) / 6, 1 / 256, 0, 255)
    assert np.abs(model.run(x) - expected).max() < 1e-6
    assert [point.thresholds for point in model.points if point.weight] == [tuple(map(float, thresholds))]


def all_parameters(model) -> list:
    return sorted((point.bits, point.quantizer.partition("<")[2], point.axes) for point in model.points)


def test_a_quantized_network_is_exported_with_its_codes_and_parameters(tmp_path):
    net = quantized_onnx.qdq(21, "uint8", ("int8", "uint4"))
    model = mct.load(net.model())
    mct.exporters.export_onnx(model, tmp_path / "again.onnx", profile="qdq")
    again = onnx.load(tmp_path / "again.onnx")
    back = mct.load(again)
    samples = samples_for(net)
    for result, expected in zip(back.run(samples), model.run(samples), strict=True):
        # An exported file has its channels first.
        same = result if result.shape == expected.shape else result.transpose(0, 2, 3, 1)
        assert np.array_equal(same, expected)
    # Parts of a graph that only move values have the point of what they move.
    assert {entry[:2] for entry in all_parameters(back)} == {entry[:2] for entry in all_parameters(model)}
    # Signed codes with a zero point are written without a sign, and kernels in another layout.
    kernels = [
        sorted(np.sort(array.ravel()).tolist() for array in constants_in(of.text).values()) for of in (model, back)
    ]
    assert kernels[0] == kernels[1]


@pytest.mark.alternating
@pytest.mark.parametrize("target", ["imx500", "imx500_v1_lut", "tflite_v1"])
def test_what_we_export_comes_back_as_it_was(tools, tmp_path, target):
    import subprocess

    proto = networks.resnet8_onnx(networks.seeded_parameters())
    quantized = mct.quantize(mct.load(proto), target=target, data=images(4))
    quantized.save(tmp_path / "quantized.mlirbc")
    command = [tools / "mct-translate", "--export-onnx", "--onnx-profile=none", tmp_path / "quantized.mlirbc"]
    subprocess.run([*command, "-o", tmp_path / "exported.onnx"], check=True)
    back = mct.load(tmp_path / "exported.onnx")
    pictures = images(3)
    expected = quantized.run(pictures)
    result = back.run(pictures)
    assert np.abs(result - expected).max() <= 1e-6 * np.abs(expected).max()

    def grids(model):
        """Bits and, of each quantizer that has them, steps and zero points above the lowest code."""
        found = []
        for point in model.points:
            if "lookup_table" in point.quantizer:
                found.append(
                    (
                        point.bits,
                        0,
                        *point.thresholds,
                        *map(float, re.findall(r"table = \[(.*?)\]", point.quantizer)[0].split(",")),
                    )
                )
                continue
            steps, zeros = steps_and_zero_points(
                point.quantizer, point.bits, "threshold" in point.quantizer and point.signed
            )
            lowest = 2 ** (point.bits - 1) if "threshold" in point.quantizer and point.signed else 0
            found.append((point.bits, zeros[0] + lowest, *steps))
        return sorted(found)

    # The file has thresholds, and ends of ranges, as float32.
    for ours, theirs in zip(grids(back), grids(quantized), strict=True):
        assert ours[:2] == theirs[:2] and np.allclose(ours, theirs, rtol=1e-6)


# ----------------------------------------------------------------------------------------------------------------------
# What passes make of them
# ----------------------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def imported(tmp_path_factory):
    """A network that ONNX Runtime has quantized, without a sign, so that it removed the ReLUs; and its float one."""
    float_proto = networks.resnet8_onnx(networks.seeded_parameters())
    folder = tmp_path_factory.mktemp("imported")
    proto = quantized_by_onnx_runtime(folder, float_proto, images(8), "QDQ", "MinMax", "QUInt8", True)
    assert not any(node.op_type == "Relu" for node in proto.graph.node)
    return mct.load(proto), mct.load(float_proto)


def test_ptq_keeps_points_that_the_target_can_hold(imported, caplog):
    model, _ = imported
    kept = mct.quantize(model, target="tflite_v1", data=images(4))
    before, after = ({point.name: point for point in each.points} for each in (model, kept))
    # The target has one grid for all channels of a dense layer.
    kernels = [name for name in before if name.endswith("kernel_attr") and "dense" not in name]
    assert len(kernels) == 9
    for name in kernels:
        assert after[name].thresholds == before[name].thresholds
    codes, same = constants_in(model.text), constants_in(kept.text)
    assert all(np.array_equal(codes[name], same[name]) for name in codes if name != "dense")
    # All but that one, the grid of the softmax, which the target fixes, and that of the pool, which is its input's.
    lines = [line for line in kept.text.splitlines() if " = tpc.quantize" in line and "imported" not in line]
    assert sorted(re.findall(r'as "([\w/]+)"', "\n".join(lines))) == ["dense", "pool", "probabilities"]
    assert "'pool' has in its file: it keeps the grid of its operand" in caplog.text


def test_ptq_without_the_points_keeps_what_they_clipped(imported):
    model, float_model = imported
    anew = mct.quantize(model, target="tflite_v1", data=images(8), keep_points=False)
    assert "imported" not in anew.text
    pictures = images(6)
    expected = float_model.run(pictures)
    # Codes of eight bits, of weights that were codes; without the ReLUs it is 0.5 and more.
    assert networks.relative_error(anew.run(pictures), expected) < 0.15


def test_another_target_says_which_points_it_cannot_hold(imported, caplog):
    model, _ = imported
    quantized = mct.quantize(model, target="imx500", data=images(4))
    told = caplog.text
    assert "the target cannot hold the parameters that 'dense' has in its file: it has the zero point" in told
    assert "keep-points=false" in told
    assert quantized.text.count("error_method = imported") >= 10  # kernels


def test_integer_networks_compute_what_was_imported(imported, tmp_path):
    model, _ = imported
    integer = mct.Model(model.module.run("mct-prepare")).module.run("mct-lower-to-integer")
    pictures = images(4)
    expected = model.run(pictures)
    result = mct.Model(integer).run(pictures)
    assert "tosa.rescale" in integer.text()
    # Sums round once in integers; a code of the softmax is 1/256.
    assert np.abs(result - expected).max() <= 0.03


def test_reports_compare_with_the_float_original(imported):
    model, float_model = imported
    comparison = model.compare(images(4), float_model)
    compared = {point.name: point.sqnr_db for point in comparison.points}
    # Of a ReLU that was removed, what the one of the float network makes.
    assert min(compared[name] for name in ("conv1/relu", "conv2", "add0/relu", "dense")) > 15
    assert len(compared) >= 14
    report = model.report(data=images(4), reference=float_model)
    assert {"conv1/relu", "dense"} <= {point["name"] for point in report.document["points"]}
    assert report.document["diagnoses"] and "SQNR of the results" in str(report)


# ----------------------------------------------------------------------------------------------------------------------
# What is refused
# ----------------------------------------------------------------------------------------------------------------------


def one_layer(change):
    """A dense layer whose nodes and constants `change` gets."""
    random = np.random.default_rng(0)
    constants = {
        "s": np.float32(0.02),
        "z": np.int8(0),
        "wq": random.integers(-128, 128, (8, 4)).astype(np.int8),
        "ws": np.float32(0.01),
        "s2": np.float32(0.03),
    }
    nodes = {
        "quantize": helper.make_node("QuantizeLinear", ["x", "s", "z"], ["xq"], "quantize"),
        "dequantize": helper.make_node("DequantizeLinear", ["xq", "s", "z"], ["xd"], "dequantize"),
        "kernel": helper.make_node("DequantizeLinear", ["wq", "ws", "z"], ["w"], "kernel"),
        "layer": helper.make_node("MatMul", ["xd", "w"], ["y"], "layer"),
    }
    opset = change(nodes, constants) or 21
    tensors = [constants.pop(name) for name in list(constants) if isinstance(constants[name], onnx.TensorProto)]
    proto = networks.onnx_model(list(nodes.values()), [("x", [2, 8])], [("y", None)], constants, opset)
    proto.graph.initializer.extend(tensors)
    proto.ir_version = 10 if opset < 25 else 13
    return proto


def replace(node, index, name):
    node.input[index] = name


def in_blocks(codes, scales, zero_points, type, block):
    """What makes the kernel one with parameters for blocks of `block` elements along its first axis."""

    def change(nodes, constants):
        constants["ws"] = scales
        for name, values in (("wq", codes), ("wz", zero_points)):
            constants[name] = helper.make_tensor(name, type, values.shape, values.ravel().tolist())
        replace(nodes["kernel"], 2, "wz")
        nodes["kernel"].attribute.extend([helper.make_attribute("axis", 0), helper.make_attribute("block_size", block)])

    return change


def wrong_blocks(nodes, constants):
    zeros, codes = np.zeros((3, 4), np.int64), np.zeros((8, 4), np.int64)
    in_blocks(codes, np.linspace(0.01, 0.02, 12, dtype=np.float32).reshape(3, 4), zeros, TensorProto.INT8, 2)(
        nodes, constants
    )


def too_many_blocks(nodes, constants):
    scales = np.linspace(0.01, 0.02, 4 << 10, dtype=np.float32).reshape(2, 2048)
    constants["wq"] = np.zeros((4096, 2048), np.int8)
    constants["ws"], constants["wz"] = scales, np.zeros((2, 2048), np.int8)
    replace(nodes["kernel"], 2, "wz")
    nodes["kernel"].attribute.extend([helper.make_attribute("axis", 0), helper.make_attribute("block_size", 2048)])


def product_of_blocks(**options):
    """A MatMulNBits of 8 rows in blocks of 4."""

    def change(nodes, constants):
        constants |= {"wq": np.zeros((4, 2, 2), np.uint8), "ws": np.full((4, 2), 0.1, np.float32)}
        constants |= options.get("constants", {})
        given = {"K": 8, "N": 4, "bits": 4, "block_size": 4} | options.get("given", {})
        operands = ["xd", "wq", "ws", *options.get("operands", [])]
        nodes["layer"].CopyFrom(
            helper.make_node("MatMulNBits", operands, ["y"], "layer", domain="com.microsoft", **given)
        )
        del nodes["kernel"]

    return change


def named(change, name):
    change.__name__ = name
    return change


def channels_of_an_activation(nodes, constants):
    constants["s"] = np.linspace(0.01, 0.02, 8, dtype=np.float32)
    constants["z"] = np.zeros(8, np.int8)
    constants["wz"] = np.int8(0)
    replace(nodes["kernel"], 2, "wz")


def other_scale(nodes, constants):
    replace(nodes["dequantize"], 1, "s2")


def scale_at_run_time(nodes, constants):
    nodes["abs"] = helper.make_node("ReduceMax", ["x"], ["m"], "largest", keepdims=0)
    names = list(nodes)
    for name in names[:-1]:
        nodes[name] = nodes.pop(name)
    replace(nodes["quantize"], 1, "m")


def no_scale(nodes, constants):
    constants["s"] = np.float32(0)


def too_many_scales(nodes, constants):
    constants["ws"] = np.full(3, 0.01, np.float32) * np.arange(1, 4, dtype=np.float32)


def computes_with_codes(nodes, constants):
    nodes["dequantize"].CopyFrom(helper.make_node("Cast", ["xq"], ["xd"], "cast", to=TensorProto.FLOAT))


def float8(nodes, constants):
    replace(nodes["quantize"], 2, "")
    nodes["quantize"].attribute.append(helper.make_attribute("output_dtype", TensorProto.FLOAT8E4M3FN))
    return 21


def unknown(nodes, constants):
    nodes["layer"].CopyFrom(helper.make_node("MatMulBnb4", ["xd", "wq", "ws"], ["y"], "layer", domain="com.microsoft"))


def real_zero_point(nodes, constants):
    constants["rz"] = np.float32(0)
    replace(nodes["dequantize"], 2, "rz")


def missing_operand(nodes, constants):
    del nodes["quantize"].input[1:]


@pytest.mark.parametrize(
    ("change", "name", "message"),
    [
        (wrong_blocks, "kernel", "has scales of shape (3, 4) for (8, 4) in blocks of 2 along axis 0"),
        (too_many_blocks, "kernel", "has a scale for every 2048 of 8388608 elements, and constants in blocks have at"),
        (
            named(product_of_blocks(operands=["", "g"], constants={"g": np.arange(8, dtype=np.int32)}), "order"),
            "layer",
            "MatMulNBits 'layer' sorts the rows of its kernel by g_idx",
        ),
        (
            named(product_of_blocks(given={"bits": 3}), "bits"),
            "layer",
            "MatMulNBits 'layer' has a kernel of 8 rows in blocks of 4 with codes of 3 bits",
        ),
        (
            named(product_of_blocks(constants={"ws": np.full((4, 2), -0.1, np.float32)}), "negative"),
            "layer",
            "MatMulNBits 'layer' has the scale -0.1",
        ),
        (
            named(product_of_blocks(operands=["wz"], constants={"wz": np.full((4, 2), 0.5, np.float32)}), "fraction"),
            "layer",
            "MatMulNBits 'layer' has a zero point that is not an integer",
        ),
        (channels_of_an_activation, "quantize", "QuantizeLinear 'quantize' quantizes an activation with 8 scales"),
        (
            other_scale,
            "dequantize",
            "DequantizeLinear 'dequantize' reads the codes 'xq' as 8 bits signed, scale 0.02999",
        ),
        (scale_at_run_time, "quantize", "QuantizeLinear 'quantize' has a scale that is computed at run time, 'm'"),
        (no_scale, "quantize", "QuantizeLinear 'quantize' has the scale 0.0, which is not positive and finite"),
        (too_many_scales, "kernel", "DequantizeLinear 'kernel' has 3 scales for 4 channels along axis 1"),
        (computes_with_codes, "cast", "Cast 'cast' computes with codes, and is not an operator of quantized networks"),
        (float8, "quantize", "QuantizeLinear 'quantize' has codes of type FLOAT8E4M3FN, which no grid of integers has"),
        (unknown, "layer", "MatMulBnb4 'layer' is an operator of quantized networks that has no form here"),
        (
            real_zero_point,
            "dequantize",
            "DequantizeLinear 'dequantize' has a zero point of float32, not of integers",
        ),
        (missing_operand, "quantize", "QuantizeLinear 'quantize' has no scale"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_what_no_point_can_be_is_refused_by_the_name_of_its_node(change, name, message):
    with pytest.raises(mct.Error, match=re.escape(message)) as caught:
        mct.load(one_layer(change))
    assert caught.value.location == f'model.onnx: "{name}"'
    assert caught.value.notes


def test_one_block_is_a_scale_for_each_channel():
    def change(nodes, constants):
        constants["ws"] = np.linspace(0.01, 0.02, 4, dtype=np.float32).reshape(1, 4)
        constants["wz"] = np.zeros((1, 4), np.int8)
        replace(nodes["kernel"], 2, "wz")
        nodes["kernel"].attribute.extend([helper.make_attribute("axis", 0), helper.make_attribute("block_size", 8)])

    proto = one_layer(change)
    model = mct.load(proto)
    x = np.random.default_rng(1).normal(size=(2, 8)).astype(np.float32)
    (point,) = [point for point in model.points if point.weight]
    assert len(point.thresholds) == 4 and point.axes == (2,)
    assert networks.relative_error(model.run(x), quantized_onnx.run(proto, {"x": x})[0]) < 1e-6


def kernel_of(model, signed: bool) -> tuple[np.ndarray, list[float], list[int], tuple[int, ...]]:
    """The only one of a model, and the parameters of its point, one for each element."""
    (point,) = [point for point in model.points if point.weight]
    steps, zeros = steps_and_zero_points(point.quantizer, point.bits, signed)
    (kernel,) = constants_in(model.text).values()
    return kernel.squeeze(), steps, zeros, point.axes


@pytest.mark.parametrize(
    ("type", "limits", "block"),
    [
        (TensorProto.INT8, (-128, 128), 2),
        (TensorProto.UINT4, (0, 16), 4),
        (TensorProto.INT4, (-8, 8), 3),
        (TensorProto.INT2, (-2, 2), 2),
    ],
)
def test_kernels_in_blocks_keep_codes_and_parameters(type, limits, block, tmp_path):
    generator = np.random.default_rng(4)
    shape = (-(-8 // block), 4)
    codes, scales = generator.integers(*limits, (8, 4)), generator.uniform(0.01, 0.02, shape).astype(np.float32)
    zero_points = generator.integers(*limits, shape)
    change = in_blocks(codes, scales, zero_points, type, block)
    proto = one_layer(lambda nodes, constants: change(nodes, constants) or 25 * (type == TensorProto.INT2))
    model = mct.load(proto)
    kernel, steps, zeros, axes = kernel_of(model, limits[0] < 0)
    spread = [np.repeat(values, block, 0)[:8] for values in (scales, zero_points)]
    assert np.array_equal(steps, spread[0].ravel().astype(np.float64)) and np.array_equal(zeros, spread[1].ravel())
    assert np.array_equal(kernel, ((codes - spread[1]) * spread[0].astype(np.float64)).astype(np.float32))
    assert len(axes) == 2


# ONNX Runtime takes no zero points of real numbers where codes have 8 bits.
@pytest.mark.parametrize(("bits", "zero_points"), [(2, ""), (2, "packed"), (4, "packed"), (4, "halves"), (8, "packed")])
def test_kernels_of_matmulnbits_keep_codes_and_parameters(bits, zero_points):
    """3 blocks of 16 rows, the last of which is not full, with scales of 16 bits."""
    generator = np.random.default_rng(bits)
    rows, outputs, block, blocks, half = 40, 5, 16, 3, 1 << (bits - 1)

    def pack(values):
        width = 8 // bits
        filled = np.pad(values, ((0, 0), (0, -values.shape[1] % width))).reshape(len(values), -1, width)
        return (filled << (bits * np.arange(width))).sum(2).astype(np.uint8)

    codes = generator.integers(0, 1 << bits, (outputs, blocks * block))
    scales = generator.uniform(0.01, 0.02, (outputs, blocks)).astype(np.float16)
    zeros = generator.integers(0, 1 << bits, (outputs, blocks)) if zero_points else np.full((outputs, blocks), half)
    constants = {"w": pack(codes).reshape(outputs, blocks, -1), "s": scales, "b": np.ones(outputs, np.float16)}
    constants["z"] = pack(zeros) if zero_points == "packed" else zeros.astype(np.float16)
    given = {"K": rows, "N": outputs, "bits": bits, "block_size": block}
    operands = ["x", "w", "s", "z" if zero_points else "", "", "b"]
    node = helper.make_node("MatMulNBits", operands, ["y"], "layer", domain="com.microsoft", **given)
    proto = networks.onnx_model([node], [], [], constants, 21)
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    proto.graph.input.append(helper.make_tensor_value_info("x", TensorProto.FLOAT16, [2, rows]))
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT16, None))
    model = mct.load(proto)
    kernel, steps, found, _ = kernel_of(model, not zero_points)
    real = [np.repeat(values, block, 1)[:, :rows] for values in (scales.astype(np.float32), zeros)]
    assert np.array_equal(np.reshape(steps, (rows, outputs)), real[0].T)
    if zero_points:
        assert np.array_equal(np.reshape(found, (rows, outputs)), real[1].T)
    assert np.array_equal(kernel, ((codes[:, :rows] - real[1]) * real[0]).astype(np.float32).T)
    x = generator.normal(size=(2, rows)).astype(np.float16)
    (expected,) = quantized_onnx.run(proto, {"x": x})
    assert np.abs(model.run(x.astype(np.float32)) - expected).max() < 2e-3 * np.abs(expected).max()


def test_scales_of_sixteen_bits_are_those_of_thirty_two(caplog):
    """Parts of a network are numbers of 16 bits, between Casts."""

    def change(nodes, constants):
        constants["s"], constants["ws"] = np.float16(0.02), np.float16(0.01) * np.arange(1, 5, dtype=np.float16)
        constants["wz"] = np.zeros(4, np.int8)
        replace(nodes["kernel"], 2, "wz")
        nodes["half"] = helper.make_node("Cast", ["x"], ["h"], "half", to=TensorProto.FLOAT16)
        replace(nodes["quantize"], 0, "h")
        nodes["layer"].output[0] = "p"
        nodes["back"] = helper.make_node("Cast", ["p"], ["y"], "back", to=TensorProto.FLOAT)
        nodes["quantize"], nodes["half"] = nodes["half"], nodes["quantize"]
        order = ["quantize", "half", "dequantize", "kernel", "layer", "back"]
        for name in order:
            nodes[name] = nodes.pop(name)

    model = mct.load(one_layer(change))
    steps = sorted(
        step for point in model.points for step in steps_and_zero_points(point.quantizer, point.bits, True)[0]
    )
    assert steps == sorted(map(float, [np.float16(0.02), *np.float16(0.01) * np.arange(1, 5, dtype=np.float16)]))
    assert "the file computes with numbers of 16 bits" in caplog.text


def test_a_quantizer_inside_of_a_loop_is_refused():
    inner = [
        helper.make_node("QuantizeLinear", ["c", "s", "z"], ["q"], "inner"),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["r"], "back"),
        helper.make_node("Identity", ["go"], ["next"]),
    ]
    value = helper.make_tensor_value_info
    body = helper.make_graph(
        inner,
        "body",
        [value("i", TensorProto.INT64, []), value("go", TensorProto.BOOL, []), value("c", TensorProto.FLOAT, [2])],
        [value("next", TensorProto.BOOL, []), value("r", TensorProto.FLOAT, [2])],
    )
    loop = helper.make_node("Loop", ["n", "", "x"], ["y"], "loop", body=body)
    constants = {"n": np.int64(3), "s": np.float32(0.1), "z": np.int8(0)}
    with pytest.raises(mct.Error, match="QuantizeLinear 'inner' quantizes inside of Loop 'loop'"):
        mct.load(networks.onnx_model([loop], [("x", [2])], [("y", [2])], constants))


def test_integers_at_the_boundary_become_real_numbers(caplog):
    random = np.random.default_rng(0)
    constants = {"s": np.float32(0.1), "z": np.uint8(100), "b": random.normal(size=4).astype(np.float32)}
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "s", "z"], ["r"], "dequantize"),
        helper.make_node("Add", ["r", "b"], ["t"], "add"),
        helper.make_node("QuantizeLinear", ["t", "s", "z"], ["y"], "quantize"),
    ]
    proto = networks.onnx_model(nodes, [], [], constants)
    proto.graph.input.append(helper.make_tensor_value_info("x", TensorProto.UINT8, [1, 4]))
    proto.graph.output.append(helper.make_tensor_value_info("y", TensorProto.UINT8, [1, 4]))
    model = mct.load(proto)
    codes = random.integers(0, 256, (1, 4)).astype(np.uint8)
    (expected,) = quantized_onnx.run(proto, {"x": codes})
    result = model.run((codes.astype(np.float32) - 100) * np.float32(0.1))
    assert np.array_equal(np.rint(result / 0.1) + 100, expected)
    assert "input 'x' has codes in the file (8 bits unsigned, scale 0.1" in caplog.text
    assert "output 'y' is codes in the file (8 bits unsigned" in caplog.text


# ----------------------------------------------------------------------------------------------------------------------
# Fuzzing
# ----------------------------------------------------------------------------------------------------------------------

SECONDS = float(os.environ.get("MCT_FUZZ_SECONDS", "7"))
SEED = int(os.environ.get("MCT_FUZZ_SEED", "1"))


def mutate(proto, generator: random.Random):
    """Changes one thing of a model that its checker may not find."""
    graph, node = proto.graph, generator.choice(proto.graph.node)
    tensor = generator.choice(graph.initializer)
    names = [name for each in graph.node for name in [*each.input, *each.output]]
    kind = generator.randrange(10)
    if kind == 0 and node.input:
        node.input[generator.randrange(len(node.input))] = generator.choice(["", "nowhere", *names])
    elif kind == 1 and node.input:
        del node.input[generator.randrange(len(node.input))]
    elif kind == 2:
        node.op_type = generator.choice([each.op_type for each in graph.node])
    elif kind == 3:
        graph.node.remove(node)
    elif kind == 4:
        tensor.data_type = generator.randrange(0, 26)
    elif kind == 5 and tensor.dims:
        tensor.dims[generator.randrange(len(tensor.dims))] = generator.choice([0, 1, 3, -1, 1 << 40])
    elif kind == 6:
        tensor.raw_data = tensor.raw_data[: generator.randrange(len(tensor.raw_data) + 1)]
    elif kind == 7:
        tensor.raw_data = bytes(generator.randrange(256) for _ in tensor.raw_data)
    elif kind == 8 and node.attribute:
        attribute = generator.choice(node.attribute)
        attribute.i = generator.choice([-7, 0, 1, 99, 1 << 40])
        attribute.type = generator.randrange(0, 9)
    else:
        node.attribute.append(
            helper.make_attribute(generator.choice(["axis", "block_size", "alpha"]), generator.choice([-9, 0, 5]))
        )
    return proto


def bases():
    return [
        quantized_onnx.qdq(21, "int8", ("int4",)).model(),
        quantized_onnx.qoperator().model(),
        quantized_onnx.integers().model(),
    ]


def test_damaged_networks_are_read_or_refused_by_the_name_of_a_node():
    """What reads quantizers, alone: it raises nothing else than a refusal that has a name."""
    from mct.importers import _onnx_child, _onnx_operators, _onnx_quantized
    from mct.importers._child import Refused

    generator, end, count, refused = random.Random(SEED), time.monotonic() + SECONDS, 0, 0
    while time.monotonic() < end:
        base = generator.choice(bases())
        for _ in range(10):
            proto = onnx.ModelProto()
            proto.CopyFrom(base)
            for _ in range(generator.choice([1, 1, 2, 4])):
                mutate(proto, generator)
            count += 1
            try:
                _onnx_child.close(proto, {})
                _onnx_quantized.Reader(proto).read(_onnx_operators.HANDLERS)
            except Refused as refusal:
                refused += 1
                assert refusal.layer or "input '" in refusal.message, refusal.message
    assert count > 100 and refused > count / 10


def test_damaged_files_are_loaded_or_an_error():
    """The whole way, in processes of their own, from damaged bytes as well."""
    from mct.importers import onnx as importer

    generator, end = random.Random(SEED), time.monotonic() + SECONDS
    while time.monotonic() < end:
        proto = mutate(generator.choice(bases()), generator)
        data = bytearray(proto.SerializeToString())
        if generator.random() < 0.5:
            for _ in range(generator.choice([1, 3, 9])):
                data[generator.randrange(len(data))] = generator.randrange(256)

        class Bytes:
            def SerializeToString(self):
                return bytes(data)  # noqa: B023

        try:
            importer.import_model(Bytes(), timeout=60)
        except mct.Error as error:
            assert error.message
