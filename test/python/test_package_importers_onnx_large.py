# SPDX-License-Identifier: Apache-2.0
"""ONNX models of any size: nothing serializes large constants, because protobuf writes no message of 2 GB."""

import importer_networks as networks
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from mct.importers import _onnx_child, _onnx_large, _process, _text  # noqa: E402
from onnx import helper, numpy_helper  # noqa: E402

EXTENT = 160
assert EXTENT * EXTENT * 4 > _onnx_large.LARGE


def kernel(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.1, (EXTENT, EXTENT)).astype(np.float32)


def dense() -> onnx.ModelProto:
    """Large constants as initializer, in a node and in a branch, of an old version of the operators."""
    branches = []
    for number in (1, 2):
        nodes = [helper.make_node("MatMul", ["h", f"w{number}"], [f"b{number}"], name=f"product{number}")]
        output = helper.make_tensor_value_info(f"b{number}", onnx.TensorProto.FLOAT, [1, EXTENT])
        stored = [numpy_helper.from_array(kernel(number), f"w{number}")]
        branches.append(helper.make_graph(nodes, f"branch{number}", [], [output], stored))
    nodes = [
        helper.make_node("Constant", [], ["w"], value=numpy_helper.from_array(kernel(3))),
        helper.make_node("MatMul", ["x", "w"], ["h"], name="product"),
        helper.make_node("If", ["condition"], ["c"], name="branch", then_branch=branches[0], else_branch=branches[1]),
        helper.make_node("MatMul", ["c", "v"], ["y"], name="last"),
    ]
    constants = {"condition": np.array(True), "v": kernel(4)}
    return networks.onnx_model(nodes, [("x", [1, EXTENT])], [("y", [1, EXTENT])], constants, 11)


def recurrent() -> onnx.ModelProto:
    node = helper.make_node("RNN", ["x", "w", "r"], ["", "y"], name="layer", hidden_size=EXTENT)
    constants = {"w": kernel(1)[np.newaxis], "r": kernel(2)[np.newaxis]}
    return networks.onnx_model([node], [("x", [3, 1, EXTENT])], [("y", [1, 1, EXTENT])], constants, 17)


def quantized() -> onnx.ModelProto:
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "scale"], ["kernel"], name="codes"),
        helper.make_node("MatMul", ["x", "kernel"], ["h"], name="product"),
        helper.make_node("QuantizeLinear", ["h", "scale", "zero"], ["q"], name="quantize"),
        helper.make_node("DequantizeLinear", ["q", "scale", "zero"], ["y"], name="dequantize"),
    ]
    codes = np.random.default_rng(1).integers(-127, 128, (EXTENT * 2, EXTENT * 2)).astype(np.int8)
    constants = {"w": codes, "scale": np.array(0.01, np.float32), "zero": np.array(0, np.int8)}
    return networks.onnx_model(nodes, [("x", [1, EXTENT * 2])], [("y", [1, EXTENT * 2])], constants, 17)


@pytest.fixture
def nothing_large_is_serialized(monkeypatch):
    """Refuses messages with large constants where tools of ONNX serialize them."""
    infer, convert = onnx.shape_inference.infer_shapes, onnx.version_converter.convert_version
    start, recorded = onnxruntime.InferenceSession, []

    def check(model: onnx.ModelProto) -> None:
        recorded.append(model.ByteSize())
        assert recorded[-1] < _onnx_large.LARGE

    def infer_small(model, *arguments, **options):
        check(model)
        return infer(model, *arguments, **options)

    def convert_small(model, *arguments):
        check(model)
        return convert(model, *arguments)

    def start_small(model, *arguments, **options):
        check(onnx.load(model, load_external_data=False))
        return start(model, *arguments, **options)

    monkeypatch.setattr(onnx.shape_inference, "infer_shapes", infer_small)
    monkeypatch.setattr(onnx.version_converter, "convert_version", convert_small)
    monkeypatch.setattr(onnxruntime, "InferenceSession", start_small)
    return recorded


@pytest.mark.parametrize("make", [dense, recurrent, quantized])
def test_large_constants_are_not_serialized(make, tmp_path, monkeypatch, nothing_large_is_serialized):
    proto = make()
    onnx.save(proto, tmp_path / "model.onnx", save_as_external_data=True, location="model.bin", size_threshold=1024)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setattr(_onnx_large, "ONE_FILE", 0)
    _onnx_child.convert(tmp_path / "model.onnx", tmp_path / "work" / "module.mlir", {})
    assert nothing_large_is_serialized


@pytest.mark.parametrize("make", [dense, recurrent, quantized])
def test_networks_with_external_data_compute_what_onnx_runtime_computes(make, tmp_path):
    proto = make()
    model = mct.load(proto)
    # A model that is given as an object keeps its constants.
    assert proto == make()
    onnx.save(proto, tmp_path / "model.onnx", save_as_external_data=True, location="model.bin", size_threshold=1024)
    assert mct.load(tmp_path / "model.onnx").text == model.text
    shape = [dimension.dim_value for dimension in make().graph.input[0].type.tensor_type.shape.dim]
    samples = np.random.default_rng(5).normal(size=shape).astype(np.float32)
    expected = networks.onnx_runtime(make(), samples)
    assert networks.relative_error(model.run(samples), expected) < 1e-4


def test_elements_of_long_constants_stay_on_disk(tmp_path):
    digits, short = "0123456789ABCDEF" * 1024, "00000000"
    module = f'a dense<"0x{digits}"> b dense<"0x{short}"> c dense<"0x{digits[::-1]}"> "#1#" d\n'
    file = tmp_path / "module.mlir"
    for resources in ("", f"\n{{-# dense<{digits}> dropped #-}}\n"):
        file.write_text(module + resources)
        recorded = []

        def swap(text: str, recorded=recorded) -> str:
            recorded.append(text)
            first, _, rest = text.partition(" c ")
            return rest.replace("dropped", "kept") + "|" + first

        _text.edit(file, swap)
        assert recorded == [f'a dense<"0x#0#"> b dense<"0x{short}"> c dense<"0x#1#"> "#1#" d\n']
        expected = f'dense<"0x{digits[::-1]}"> "#1#" d\n|a dense<"0x{digits}"> b dense<"0x{short}">'
        assert file.read_text() == expected + resources


def test_an_empty_module_is_an_error(tmp_path):
    (tmp_path / "module.mlir").touch()
    with pytest.raises(mct.Error, match="converter wrote a module without a function"):
        _process.read_large("converter", "model.onnx", tmp_path / "module.mlir", str)
