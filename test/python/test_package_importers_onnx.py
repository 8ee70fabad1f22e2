# SPDX-License-Identifier: Apache-2.0
"""ONNX: what ONNX Runtime computes, our executor computes from the import."""

import subprocess
import sys

import importer_networks as networks
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("torch_mlir", "onnx", "onnxruntime"):
    pytest.importorskip(module, reason='the extra "onnx" is not installed (tools/dev/importers)')

import onnx  # noqa: E402
from onnx import helper  # noqa: E402

# Relative to the range of the outputs. Orders of summation differ; 1e-6 is seen.
TOLERANCE = 1e-4


def images(count: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(count, 3, 32, 32)).astype(np.float32)


def one_node(kind: str, shape, result=None, constants=None, inputs=("x",), opset: int = 17, **attributes):
    """A model of one node called `layer`, of x and constants, with results y."""
    node = helper.make_node(kind, list(inputs), ["y"], name="layer", **attributes)
    return networks.onnx_model([node], [("x", shape)], [("y", result)], constants or {}, opset)


@pytest.mark.alternating
def test_resnet8_of_seeded_weights_computes_what_onnx_runtime_computes(tmp_path):
    proto = networks.resnet8_onnx(networks.seeded_parameters())
    onnx.save(proto, tmp_path / "resnet8.onnx")
    model = mct.load(tmp_path / "resnet8.onnx")
    assert "tensor<1x3x32x32xf32>" in model.text  # the layout of the file, the open batch is 1
    result = model.run(images(5))
    assert networks.relative_error(result, networks.onnx_runtime(proto, images(5))) < TOLERANCE


def test_trained_resnet8_goes_to_a_quantized_module(shared, tools):
    text = subprocess.check_output([tools / "mct-opt", shared / "models" / "resnet8_cifar10.mlirbc"], text=True)
    proto = networks.resnet8_onnx(networks.parameters_in(text))
    model = mct.load(proto)
    pictures = np.load(shared / "cifar10" / "test_images.npy")[:64].transpose(0, 3, 1, 2).astype(np.float32)
    expected = networks.onnx_runtime(proto, pictures)
    assert networks.relative_error(model.run(pictures), expected) < TOLERANCE
    calibration = np.load(shared / "cifar10" / "calib_images.npy").transpose(0, 3, 1, 2)
    quantized = mct.quantize(model, target="imx500", data=calibration)
    agreement = quantized.run(pictures).argmax(1) == expected.argmax(1)
    assert agreement.mean() > 0.9  # 97.6 % of 2000 images


@pytest.mark.alternating
def test_nodes_give_layers_and_points_their_names():
    model = mct.load(networks.resnet8_onnx(networks.seeded_parameters()))
    quantized = mct.quantize(model, target="imx500", data=images(2)).text
    for name in ("image", "relu", "conv1", "relu0b", "pool"):
        assert f'as "{name}' in quantized
    assert 'as "conv0" weight' in quantized


def test_a_node_without_a_name_has_that_of_its_result(tools, tmp_path):
    proto = one_node("Relu", [1, 4], [1, 4])
    proto.graph.node[0].ClearField("name")
    signature = subprocess.check_output([tools / "mct-run", "--signature", save(mct.load(proto), tmp_path)], text=True)
    assert signature.split("\n")[2].split()[:2] == ["output", "y"]


def save(model, folder):
    model.save(folder / "model.mlirbc")
    return folder / "model.mlirbc"


def test_an_older_opset_is_converted():
    """Softmax of opset 11 flattens the dimensions from its axis on."""
    proto = one_node("Softmax", [1, 2, 3], [1, 2, 3], opset=11, axis=1)
    samples = np.random.default_rng(0).normal(size=(4, 2, 3)).astype(np.float32)
    result = mct.load(proto).run(samples)
    assert networks.relative_error(result, networks.onnx_runtime(proto, samples, per_call=1)) < TOLERANCE


def test_shapes_that_are_computed_are_folded():
    nodes = [
        helper.make_node("Shape", ["x"], ["shape"]),
        helper.make_node("Gather", ["shape", "zero"], ["batch"]),
        helper.make_node("Concat", ["batch", "rest"], ["flat"], axis=0),
        helper.make_node("Reshape", ["x", "flat"], ["y"], name="flatten"),
    ]
    constants = {"zero": np.array([0]), "rest": np.array([-1])}
    proto = networks.onnx_model(nodes, [("x", ["N", 3, 4])], [("y", None)], constants)
    samples = np.random.default_rng(0).normal(size=(4, 3, 4)).astype(np.float32)
    assert np.array_equal(mct.load(proto).run(samples), samples.reshape(4, 12))


def test_open_shapes_are_those_of_the_example():
    proto = one_node("GlobalAveragePool", ["N", 3, "H", "W"])
    with pytest.raises(mct.Error, match=r"input 'x' leaves dimension 2 open"):
        mct.load(proto)
    samples = np.random.default_rng(0).normal(size=(2, 3, 6, 5)).astype(np.float32)
    for example in (samples[:1], [samples[:1]], {"x": samples[:1]}):
        result = mct.load(proto, example).run(samples)
        assert networks.relative_error(result, samples.mean((2, 3), keepdims=True)) < TOLERANCE


@pytest.mark.parametrize(
    "example, message",
    [
        ({"image": np.zeros((1, 3))}, "shapes or examples are given for image; the inputs are x"),
        (np.zeros((1, 2, 3)), "input 'x' has 2 dimensions, its example has 3"),
        (np.zeros((1, 4)), "dimension 1 of input 'x' is 3, of its example 4"),
    ],
)
def test_an_example_of_another_shape_is_an_error(example, message):
    with pytest.raises(mct.Error, match=message):
        mct.load(one_node("Relu", ["N", 3], ["N", 3]), example)


# TOSA requires strides that divide the sizes: the last row and column, which are not used, are not padded.
@pytest.mark.parametrize("size, pad", [(6, 1), (7, 1), (8, 0), (9, 2)])
def test_strides_that_leave_a_rest_keep_what_is_computed(size, pad):
    kernel = np.random.default_rng(1).normal(size=(4, 2, 3, 3)).astype(np.float32)
    attributes = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [pad] * 4}
    proto = one_node("Conv", [1, 2, size, size], constants={"w": kernel}, inputs=("x", "w"), **attributes)
    samples = np.random.default_rng(2).normal(size=(1, 2, size, size)).astype(np.float32)
    expected = networks.onnx_runtime(proto, samples)
    result = mct.load(proto).run(samples)
    assert result.shape == expected.shape
    assert networks.relative_error(result, expected) < TOLERANCE


ENLARGEMENTS = [("asymmetric", "floor"), ("half_pixel", "round_prefer_floor"), ("half_pixel", "round_prefer_ceil")]


@pytest.mark.alternating
@pytest.mark.parametrize("factor", [2, 3])
@pytest.mark.parametrize("positions, rounding", ENLARGEMENTS)
def test_enlargement_takes_the_neighbours_that_onnx_takes(positions, rounding, factor):
    modes = {"mode": "nearest", "coordinate_transformation_mode": positions, "nearest_mode": rounding}
    scales = {"scales": np.array([1, 1, factor, factor], np.float32)}
    proto = one_node("Resize", [1, 2, 4, 3], constants=scales, inputs=("x", "", "scales"), **modes)
    samples = np.random.default_rng(0).normal(size=(2, 2, 4, 3)).astype(np.float32)
    assert np.array_equal(mct.load(proto).run(samples), samples.repeat(factor, 2).repeat(factor, 3))


@pytest.mark.parametrize("rounding, factor", [("ceil", 2.0), ("floor", 1.5)])
def test_enlargement_that_tosa_does_not_have_is_refused(rounding, factor):
    modes = {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": rounding}
    scales = {"scales": np.array([1, 1, factor, factor], np.float32)}
    with pytest.raises(mct.Error, match=f"Resize 'layer' takes nearest neighbours by asymmetric and {rounding}"):
        mct.load(one_node("Resize", [1, 2, 4, 4], constants=scales, inputs=("x", "", "scales"), **modes))


def test_what_the_converter_leaves_is_refused_with_its_layer():
    node = helper.make_node("NonZero", ["x"], ["y"], name="layer")
    proto = networks.onnx_model([node], [("x", [1, 8])], [], {})
    proto.graph.output.append(helper.make_tensor_value_info("y", onnx.TensorProto.INT64, None))
    with pytest.raises(mct.Error, match=r"torch-mlir has no TOSA for NonZero") as caught:
        mct.load(proto)
    assert caught.value.location == 'model.onnx: "layer"'


def test_an_operator_of_somebody_else_is_an_error():
    with pytest.raises(mct.Error, match=r"torch-mlir: .*Foo"):
        mct.load(one_node("Foo", [1, 4], [1, 4], domain="somebody"))


def test_weights_in_a_file_beside_it_are_found(tmp_path):
    proto = networks.resnet8_onnx(networks.seeded_parameters())
    expected = mct.load(proto).text
    onnx.save(proto, tmp_path / "external.onnx", save_as_external_data=True, location="weights.bin", size_threshold=0)
    assert mct.load(tmp_path / "external.onnx").text == expected


def test_a_file_that_is_cut_off_is_an_error(tmp_path):
    data = networks.resnet8_onnx(networks.seeded_parameters()).SerializeToString()
    (tmp_path / "cut.onnx").write_bytes(data[:5000])
    with pytest.raises(mct.Error, match=r"cut.onnx: torch-mlir: DecodeError"):
        mct.load(tmp_path / "cut.onnx")


@pytest.mark.alternating
def test_shapes_on_the_command_line_close_what_the_file_leaves_open(tmp_path):
    onnx.save(one_node("GlobalAveragePool", ["N", 3, "H", "W"]), tmp_path / "open.onnx")
    command = [sys.executable, "-m", "mct.cli", "import", tmp_path / "open.onnx", "-o", tmp_path / "m.mlir"]
    failed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert failed.returncode == 1 and "or --shape x=1x3xNxN with sizes in place of N" in failed.stderr
    subprocess.run([*command, "--shape", "x=1x3x6x5"], check=True)
    assert "tensor<1x3x6x5xf32>" in (tmp_path / "m.mlir").read_text()
    failed = subprocess.run([*command, "--shape=y=1x3x6x5"], capture_output=True, text=True, check=False)
    assert "shapes or examples are given for y; the inputs are x" in failed.stderr


def test_types_that_nothing_can_hold_are_refused_when_the_file_is_read():
    node = helper.make_node("Cast", ["x"], ["y"], name="wide", to=onnx.TensorProto.DOUBLE)
    proto = networks.onnx_model([node], [("x", [1, 4])], [], {})
    proto.graph.output.append(helper.make_tensor_value_info("y", onnx.TensorProto.DOUBLE, None))
    with pytest.raises(mct.Error, match=r"cannot be run: 'tosa.cast' op makes result 0 of type 'tensor<1x4xf64>'") as e:
        mct.load(proto)
    assert e.value.location == 'ModelProto: "wide"'
