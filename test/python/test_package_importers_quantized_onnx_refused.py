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
    proto = networks.onnx_model(list(nodes.values()), [("x", [2, 8])], [("y", None)], constants, opset)
    proto.ir_version = 10
    return proto


def replace(node, index, name):
    node.input[index] = name


def blocks(nodes, constants):
    constants["ws"] = np.linspace(0.01, 0.02, 16, dtype=np.float32).reshape(4, 4)
    constants["wz"] = np.zeros((4, 4), np.int8)
    replace(nodes["kernel"], 2, "wz")
    nodes["kernel"].attribute.extend([helper.make_attribute("axis", 0), helper.make_attribute("block_size", 2)])


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
    nodes["layer"].CopyFrom(
        helper.make_node("MatMulNBits", ["xd", "wq", "ws"], ["y"], "layer", domain="com.microsoft", K=8, N=4)
    )


def real_zero_point(nodes, constants):
    constants["rz"] = np.float32(0)
    replace(nodes["dequantize"], 2, "rz")


def missing_operand(nodes, constants):
    del nodes["quantize"].input[1:]


@pytest.mark.parametrize(
    ("change", "name", "message"),
    [
        (blocks, "kernel", "DequantizeLinear 'kernel' has a scale for every 2 elements along axis 0"),
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
        (unknown, "layer", "MatMulNBits 'layer' is an operator of quantized networks that has no form here"),
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
