# SPDX-License-Identifier: Apache-2.0
"""ONNX networks of ONNX Runtime's dynamic quantizer: weights and tables are those of the file."""

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import importer_networks as networks  # noqa: E402
import onnx  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402


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


@pytest.mark.parametrize("is_summed", [False, True])
def test_rows_of_quantized_embeddings_have_the_numbers_of_the_file(tmp_path, is_summed):
    """The dynamic quantizer moves codes of tables, which a product of integers or a DequantizeLinear then reads."""
    from onnxruntime import quantization as q

    random = np.random.default_rng(5)
    shapes = {"words": (50, 8), "places": (6, 8), "w": (8, 5)}
    constants = {name: random.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
    nodes = [helper.make_node("Gather", ["words", "ids"], ["e"], "embed")]
    if is_summed:
        nodes += [
            helper.make_node("Slice", ["places", "begin", "end"], ["p"], "first_places"),
            helper.make_node("Add", ["e", "p"], ["sum"], "sum"),
        ]
        constants |= {"begin": np.array([0]), "end": np.array([4])}
    nodes.append(helper.make_node("MatMul", ["sum" if is_summed else "e", "w"], ["y"], "product"))
    inputs = [helper.make_tensor_value_info("ids", TensorProto.INT64, [1, 4])]
    results = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 4, 5])]
    stored = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "text", inputs, results, stored)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(proto, tmp_path / "float.onnx")
    q.quantize_dynamic(tmp_path / "float.onnx", tmp_path / "dynamic.onnx")
    stored = {t.name: numpy_helper.to_array(t) for t in onnx.load(tmp_path / "dynamic.onnx").graph.initializer}

    def real(name: str) -> np.ndarray:
        codes = stored.get(f"{name}_quantized")
        if codes is None:
            return constants[name]
        return (codes.astype(np.float32) - stored[f"{name}_zero_point"]) * stored[f"{name}_scale"]

    ids = np.array([[3, 49, 0, 7]])
    rows = real("words")[ids] + (real("places")[:4] if is_summed else 0)
    assert networks.relative_error(mct.load(tmp_path / "dynamic.onnx").run(ids), rows @ real("w")) < 1e-6
