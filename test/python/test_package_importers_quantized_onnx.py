# SPDX-License-Identifier: Apache-2.0
"""ONNX networks that are quantized already: codes and parameters are those of the file, and what they compute is what
ONNX Runtime computes."""

import re
from pathlib import Path

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
import measure  # noqa: E402
import onnx  # noqa: E402
import quantized_onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from quantized_onnx import constants_in, steps_and_zero_points  # noqa: E402

needs_exact_sums = pytest.mark.skipif(
    measure.has_saturating_sums(), reason="ONNX Runtime's sums of 8-bit products saturate on this processor (no VNNI)"
)

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


@pytest.mark.alternating
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
    # Sums in float32 may differ by 2^-23 of their value, which is up to 1 % of a step of 16 bits.
    for result, value in zip(results, expected, strict=True):
        steps = np.abs(result - value) / (quantized_onnx.STEP / 200)
        assert steps.max() < 1.01 and (steps > 0.5).mean() < 0.02


@needs_exact_sums
def test_operators_on_codes_become_layers_between_points():
    net = quantized_onnx.qoperator()
    proto, samples = net.model(), samples_for(net)
    model = mct.load(proto)
    count, others = differing(model.run(samples), quantized_onnx.run(proto, samples))
    assert count > 1500 and others == 0
    check_weights(model, net, lambda name: "uint8" if name == "shifted" else "int8")
    # The names of operators are those of the float network.
    assert {"conv", "product", "dense", "sum", "softmax"} <= {point.name for point in model.points}


@needs_exact_sums
def test_sums_of_integers_with_static_scales_become_layers():
    net = quantized_onnx.integers()
    proto, samples = net.model(), samples_for(net)
    model = mct.load(proto)
    _, others = differing(model.run(samples), quantized_onnx.run(proto, samples))
    assert others == 0
    check_weights(model, net)


def test_integers_that_are_added_to_sums_become_biases(caplog):
    """By the definition of the operators: sums of ONNX Runtime may saturate."""
    net, biases = quantized_onnx.integer_biases()
    samples = samples_for(net)
    model = mct.load(net.model())
    assert "the inputs of 1 layers ('ConvInteger')" in caplog.text
    weights = {name: (codes - zero) * scale for name, (codes, scale, zero) in net.weights.items()}
    codes = np.clip(np.rint(samples["v"] / np.float32(0.03)) + 131, 0, 255) - 131
    product, image = model.run(samples)
    expected = codes * np.float32(0.03) @ weights["MatMulInteger"] + biases["MatMulInteger"]
    assert networks.relative_error(product, expected) < 1e-6
    windows = np.lib.stride_tricks.sliding_window_view(samples["x"], (3, 3), (2, 3))
    expected = np.einsum("nchwij,ocij->nohw", windows, weights["ConvInteger"])
    expected += biases["ConvInteger"][:, None, None]
    assert networks.relative_error(image, expected) < 1e-6
    assert [point.weight for point in model.points if point.weight] == ["kernel_attr", "kernel_attr"]


@pytest.mark.parametrize("scales", [(2,), (2, 12)], ids=["directions", "gates"])
def test_an_lstm_that_is_quantized_at_run_time_has_the_weights_of_the_file(scales, caplog):
    random = np.random.default_rng(6)
    # Sums of two products of larger codes saturate in ONNX Runtime on processors without VNNI.
    codes = {name: random.integers(-63, 64, (2, size, 12), np.int8) for name, size in (("W", 5), ("R", 3))}
    scale = {name: random.uniform(0.004, 0.02, scales).astype(np.float32) for name in codes}
    # ONNX Runtime takes no others.
    zero = {name: np.zeros(scales, np.int8) for name in codes}
    bias = random.normal(0, 0.3, (2, 24)).astype(np.float32)
    given = {"hidden_size": 3, "direction": "bidirectional"}
    constants = {"b": bias}
    for name in codes:
        constants |= {f"{name}q": codes[name], f"{name}s": scale[name], f"{name}z": zero[name]}
    operands = ["x", "Wq", "Rq", "b", "", "", "", "", "Ws", "Wz", "Rs", "Rz"]
    node = helper.make_node("DynamicQuantizeLSTM", operands, ["y"], "lstm_quant", domain="com.microsoft", **given)
    proto = networks.onnx_model([node], [("x", [7, 1, 5])], [("y", [7, 2, 1, 3])], constants)
    proto.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    model = mct.load(proto)
    assert "the inputs of 1 layers ('lstm')" in caplog.text

    def real(name: str) -> np.ndarray:
        return (codes[name] * scale[name].reshape(2, 1, -1)).transpose(0, 2, 1)

    node = helper.make_node("LSTM", ["x", "W", "R", "b"], ["y"], "lstm", **given)
    constants = {"W": real("W"), "R": real("R"), "b": bias}
    floating = networks.onnx_model([node], [("x", [7, 1, 5])], [("y", [7, 2, 1, 3])], constants)
    x = random.normal(size=(7, 1, 5)).astype(np.float32)
    (expected,) = quantized_onnx.run(floating, {"x": x})
    assert networks.relative_error(model.run(x), expected) < 1e-5
    # Its own inputs have 8 bits; gates in the wrong order would be wrong by about 1.
    (theirs,) = quantized_onnx.run(proto, {"x": x})
    assert 0 < np.abs(expected - theirs).max() < 0.05


@needs_exact_sums
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
    """Samples on which ONNX Runtime calibrates."""

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
    """Returns name, operands and result of every operator between QuantizeLinear and DequantizeLinear."""
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


@pytest.mark.alternating
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


@pytest.mark.parametrize("is_moved", [False, True])
def test_another_zero_point_behind_the_codes_adds_whole_steps(is_moved):
    net = quantized_onnx.Network(21, {"x": [1, 3, 4]})
    scale, made = net.grid("uint8", 0.0625, 20)
    codes = net.op("QuantizeLinear", net.op("Abs", net.point("x", "int8")), scale, made)
    if is_moved:
        limits = [net.constant(each, "uint8") for each in (22, 50)]
        codes = net.op("Clip", net.op("Transpose", codes, perm=[0, 2, 1]), *limits)
    net.end(net.op("DequantizeLinear", codes, scale, net.constant(9, "uint8")))
    model = mct.load(net.model())
    (real,) = quantized_onnx.run(net.model(), samples_for(net))
    assert real.max() > 11 * 0.0625
    assert np.array_equal(model.run(samples_for(net)["x"]), real)
    # One point of the sum, with the zero point that the codes are read with.
    _, point = model.points
    assert steps_and_zero_points(point.quantizer, 8, False) == ([0.0625], [9])


def test_whole_steps_that_are_added_come_back_from_a_plain_file(tmp_path):
    model = mct.load(Path(__file__).parents[1] / "Export" / "export-onnx" / "qdq" / "shifts.mlir")
    mct.exporters.export_onnx(model, tmp_path / "shifts.onnx", profile="qdq")
    back = mct.load(tmp_path / "shifts.onnx")
    samples = np.linspace(-9, 9, 8, dtype=np.float32)[None]
    for result, expected in zip(back.run(samples), model.run(samples), strict=True):
        assert np.array_equal(result, expected)
    grids = [
        sorted(
            steps_and_zero_points(point.quantizer, 8, "[8.0" in point.quantizer)[0]
            for point in of.points
            if not point.weight
        )
        for of in (model, back)
    ]
    assert grids[0] == grids[1]
    # A number beside codes is one code in the file.
    assert all(point.weight == "pos_attr" for point in back.points if point.weight)


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
    # All but that one, the grid of the softmax, which the target fixes, and those of two products of the batch norm:
    # the target asks for points there, and the file has none.
    lines = [line for line in kept.text.splitlines() if " = tpc.quantize" in line and "imported" not in line]
    assert sorted(re.findall(r'as "([\w/]+)"', "\n".join(lines))) == [
        "dense",
        "norm/mul_1_transposed",
        "norm/mul_transposed",
        "probabilities",
    ]
    # A pool over the whole image has a grid of its own, which the target writes as a scale.
    (step,), (zero_point,) = steps_and_zero_points(after["pool"].quantizer, 8, False)
    assert zero_point == 0 and step == pytest.approx(before["pool"].thresholds[0] / 256, rel=1e-7)
    assert "'pool'" not in caplog.text


@pytest.mark.alternating
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
    messages = caplog.text
    assert "the target cannot hold the parameters that 'dense' has in its file: it has the zero point" in messages
    assert "keep-points=false" in messages
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


@pytest.mark.alternating
def test_reports_compare_with_the_float_original(imported):
    model, float_model = imported
    comparison = model.compare(images(4), float_model)
    compared = {point.name: point.sqnr_db for point in comparison.points}
    # A ReLU that was removed is compared with that of the float network.
    assert min(compared[name] for name in ("conv1/relu", "conv2", "add0/relu", "dense")) > 15
    assert len(compared) >= 14
    report = model.report(data=images(4), reference=float_model)
    assert {"conv1/relu", "dense"} <= {point["name"] for point in report.document["points"]}
    assert report.document["diagnoses"] and "SQNR of the results" in str(report)
