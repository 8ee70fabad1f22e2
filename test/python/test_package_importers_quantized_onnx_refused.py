# SPDX-License-Identifier: Apache-2.0
"""ONNX networks that are quantized already, and are refused, or damaged: an error names the node."""

import os
import random
import re
import time

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
import onnx  # noqa: E402
import quantized_onnx  # noqa: E402
from onnx import TensorProto, helper  # noqa: E402
from quantized_onnx import constants_in, steps_and_zero_points  # noqa: E402

# ----------------------------------------------------------------------------------------------------------------------
# Refusals
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
    """Returns a change that gives the kernel parameters for blocks of `block` elements along its first axis."""

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


@pytest.mark.alternating
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


def test_integers_that_are_no_bias_are_refused():
    net, _ = quantized_onnx.integer_biases("Mul")
    message = "ConvInteger 'ConvInteger' adds '.*' to its sums, which is computed at run time"
    with pytest.raises(mct.Error, match=message) as caught:
        mct.load(net.model())
    assert caught.value.location == 'model.onnx: "ConvInteger"'


def test_integers_of_run_time_that_are_not_added_to_sums_are_refused():
    net, _ = quantized_onnx.integer_biases()
    [node for node in net.nodes if node.op_type == "Add"][-1].op_type = "Sub"
    with pytest.raises(mct.Error, match=r"Div '.*' divides by a scale for Sub '.*', which adds no bias") as caught:
        mct.load(net.model())
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
@pytest.mark.alternating
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


@pytest.mark.alternating
def test_damaged_networks_are_read_or_refused_by_the_name_of_a_node():
    """The reader of quantizers alone raises nothing else than a refusal that has a name."""
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


@pytest.mark.alternating
def test_damaged_files_are_loaded_or_an_error(tmp_path):
    """The whole way, in processes of their own, from damaged bytes as well."""
    from mct.importers import onnx as importer

    generator, end = random.Random(SEED), time.monotonic() + SECONDS
    while time.monotonic() < end:
        proto = mutate(generator.choice(bases()), generator)
        data = bytearray(proto.SerializeToString())
        if generator.random() < 0.5:
            for _ in range(generator.choice([1, 3, 9])):
                data[generator.randrange(len(data))] = generator.randrange(256)
        path = tmp_path / "model.onnx"
        path.write_bytes(data)
        try:
            importer.import_model(path, timeout=60)
        except mct.Error as error:
            assert error.message
