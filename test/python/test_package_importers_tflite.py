# SPDX-License-Identifier: Apache-2.0
"""`.tflite` files: what LiteRT computes, our executor computes from the import."""

import subprocess

import importer_networks as networks
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
for module in ("tosa_converter_for_tflite", "ai_edge_litert"):
    pytest.importorskip(module, reason='the extra "tflite" is not installed (tools/dev/importers)')

from mct.importers import tflite  # noqa: E402

# Relative to the range of the outputs. Orders of summation differ; 1e-6 is seen.
TOLERANCE = 1e-4


def images(count: int) -> np.ndarray:
    return np.random.default_rng(5).normal(size=(count, 32, 32, 3)).astype(np.float32)


def small(
    file: networks.Tflite, kernel: int, options: dict | None = None, size: int = 8, stride: int = 1, padding: int = 0
) -> bytes:
    """One convolution of a square image of 3 channels by `kernel`, which has four filters; padding 0: to all of it."""
    image = file.tensor("image", (1, size, size, 3))
    bias = file.constant("bias", np.array([0.1, -0.2, 0.3, 0], np.float32))
    rows = -(-(size if padding == 0 else size - 2) // stride)
    result = file.tensor("conv", (1, rows, rows, 4))
    fields = {"padding": padding, "strideH": stride, "strideW": stride, "dilationHFactor": 1, "dilationWFactor": 1}
    file.operator("CONV_2D", [image, kernel, bias], [result], "Conv2DOptions", **fields)
    return file.finish([image], [result], **(options or {}))


KERNEL = np.random.default_rng(6).normal(size=(4, 3, 3, 3)).astype(np.float32)


# TOSA requires strides that divide the sizes: the pads of both sides differ, or unused elements are left out.
@pytest.mark.parametrize("size, padding", [(6, 0), (7, 0), (6, 1), (7, 1)])
def test_strides_that_leave_a_rest_keep_what_is_computed(size, padding):
    file = networks.Tflite()
    data = small(file, file.constant("kernel", KERNEL), size=size, stride=2, padding=padding)
    samples = np.random.default_rng(2).normal(size=(3, size, size, 3)).astype(np.float32)
    expected = networks.litert(data, samples)
    result = mct.load(data).run(samples)
    assert result.shape == expected.shape
    assert networks.relative_error(result, expected) < TOLERANCE


def test_resnet8_of_seeded_weights_computes_what_litert_computes(tmp_path):
    file = networks.resnet8_tflite(networks.seeded_parameters())
    (tmp_path / "resnet8.tflite").write_bytes(file)
    model = mct.load(tmp_path / "resnet8.tflite")
    assert "tensor<?x32x32x3xf32>" in model.text  # the batch stays open
    samples = images(5)
    assert networks.relative_error(model.run(samples), networks.litert(file, samples)) < TOLERANCE


def test_trained_resnet8_goes_to_a_quantized_module(shared, tools):
    text = subprocess.check_output([tools / "mct-opt", shared / "models" / "resnet8_cifar10.mlirbc"], text=True)
    file = networks.resnet8_tflite(networks.parameters_in(text))
    model = mct.load(file)
    pictures = np.load(shared / "cifar10" / "test_images.npy")[:64].astype(np.float32)
    expected = networks.litert(file, pictures)
    assert networks.relative_error(model.run(pictures), expected) < TOLERANCE
    quantized = mct.quantize(model, target="imx500", data=shared / "cifar10" / "calib_images.npy")
    agreement = quantized.run(pictures).argmax(1) == expected.argmax(1)
    assert agreement.mean() > 0.9  # 97.6 % of 2000 images


def test_tensors_give_layers_and_points_their_names(tmp_path):
    model = mct.load(networks.resnet8_tflite(networks.seeded_parameters()))
    for name in ("image", "conv0", "conv0/conv2d", "add2", "probabilities/exp", "probabilities"):
        assert f'"{name}"' in locations(model, tmp_path)
    quantized = mct.quantize(model, target="imx500", data=images(2)).text
    for name in ("image", "conv0", "add0", "pool"):
        assert f'as "{name}" activation' in quantized


def locations(model, folder) -> str:
    """The text with its locations."""
    import measure

    model.save(folder / "named.mlirbc")
    return measure.run_ok([measure.BIN / "mct-opt", folder / "named.mlirbc", "--mlir-print-debuginfo"]).stdout


def test_what_a_file_is_called_stands_in_its_locations_and_nothing_else_changes(tmp_path):
    file = networks.resnet8_tflite(networks.seeded_parameters())
    (tmp_path / "a.tflite").write_bytes(file)
    model = mct.load(tmp_path / "a.tflite")
    assert '"a.tflite":0:0' in locations(model, tmp_path)
    assert str(tmp_path) not in locations(model, tmp_path)
    assert mct.load(file).text == model.text


@pytest.mark.parametrize("stored", ["float16", "int8", "int8 per channel"])
def test_stored_weights_become_weights_that_quantizers_see(stored):
    file = networks.Tflite()
    if stored == "float16":
        constant = file.constant("stored", KERNEL.astype(np.float16))
    else:
        steps = np.abs(KERNEL).max((0, 1, 2) if "per" in stored else None) / 127
        constant = file.constant("stored", np.round(KERNEL / steps).astype(np.int8), np.atleast_1d(steps).tolist())
    kernel = file.tensor("kernel", KERNEL.shape)
    file.operator("DEQUANTIZE", [constant], [kernel], "DequantizeOptions")
    data = small(file, kernel)
    model = mct.load(data)
    samples = np.random.default_rng(7).normal(size=(3, 8, 8, 3)).astype(np.float32)
    expected = networks.litert(data, samples)
    assert networks.relative_error(model.run(samples), expected) < TOLERANCE
    prepared = mct.Model(model.module.run("mct-prepare")).text
    assert "tosa.cast" not in prepared and "tosa.mul" not in prepared
    assert 'weight "kernel_attr"' in mct.quantize(model, target="imx500", data=samples).text


def test_integers_of_the_file_have_their_scales(tools, tmp_path):
    """Codes of real numbers go in, and codes come out that LiteRT makes of the same."""
    file = networks.Tflite()
    source, result = (file.tensor(name, (1, 4), "INT8") for name in ("codes", "clipped"))
    for tensor in (source, result):
        file.graph.tensors[tensor].quantization = file.schema.QuantizationParametersT()
        file.graph.tensors[tensor].quantization.scale = [0.3]
        file.graph.tensors[tensor].quantization.zeroPoint = [-3]
    file.operator("RELU", [source], [result])
    data = file.finish([source], [result])
    model = mct.load(data, quantized="integer")
    model.save(tmp_path / "integer.mlirbc")
    signature = subprocess.check_output([tools / "mct-run", "--signature", tmp_path / "integer.mlirbc"], text=True)
    fields = " ".join(signature.split())
    scale = float(np.float32(0.3))
    assert f"input codes tensor<1x4xi8> scale {scale} zero point -3 bits 8" in fields
    assert f"output clipped tensor<1x4xi8> scale {scale} zero point -3 bits 8" in fields
    codes = np.array([[-128, -3, 5, 127]], np.int8)
    assert np.array_equal(model.run(codes), networks.litert(data, codes))


def test_constants_that_litert_torch_keeps_become_ours():
    file = networks.Tflite()
    data = small(file, file.constant("kernel", KERNEL), {"keep_stablehlo_constant": "true"})
    samples = np.random.default_rng(7).normal(size=(3, 8, 8, 3)).astype(np.float32)
    result = mct.load(data).run(samples)
    assert networks.relative_error(result, networks.litert(data, samples)) < TOLERANCE


def test_what_the_converter_leaves_is_refused_with_its_layer():
    file = networks.Tflite()
    scores = file.tensor("scores", (1, 8))
    count = file.constant("count", np.array(2, np.int32))
    best, places = file.tensor("best", (1, 2)), file.tensor("places", (1, 2), "INT32")
    file.operator("TOPK_V2", [scores, count], [best, places], "TopKV2Options")
    with pytest.raises(mct.Error, match=r"has no TOSA for tfl.topk_v2") as caught:
        mct.load(file.finish([scores], [best, places]))
    assert '"best' in caught.value.location


def test_an_operator_of_somebody_else_is_refused_with_its_layer():
    file = networks.Tflite()
    source, result = file.tensor("source", (1, 8)), file.tensor("secret", (1, 8))
    file.operator("custom:Secret", [source], [result])
    with pytest.raises(mct.Error, match=r"has no TOSA for t") as caught:
        mct.load(file.finish([source], [result]))
    assert caught.value.location == 'model.tflite: "secret"'


@pytest.mark.parametrize("size", [100, 3000])
def test_a_file_that_is_cut_off_is_an_error(tmp_path, size):
    (tmp_path / "cut.tflite").write_bytes(networks.resnet8_tflite(networks.seeded_parameters())[:size])
    with pytest.raises(mct.Error, match=r"cut.tflite: tosa-converter-for-tflite"):
        mct.load(tmp_path / "cut.tflite")


def test_a_recurrent_layer_is_refused_by_name():
    generator, file = np.random.default_rng(0), networks.Tflite()

    def constants(name: str, *shape: int) -> list[int]:
        values = generator.normal(size=(4, *shape)).astype(np.float32)
        return [file.constant(f"{name}{gate}", value) for gate, value in enumerate(values)]

    series, result = file.tensor("series", (1, 3, 2)), file.tensor("memory", (1, 3, 4))
    states = [file.tensor(name, (1, 4)) for name in ("output_state", "cell_state")]
    for state in states:
        file.graph.tensors[state].isVariable = True
    # Without peepholes, projection and layer norms.
    weights = [*constants("input", 4, 2), *constants("recurrent", 4, 4), *[-1] * 3, *constants("bias", 4), -1, -1]
    options = {"fusedActivationFunction": 4, "cellClip": 0.0, "projClip": 0.0}
    operands = [series, *weights, *states, *[-1] * 4]
    file.operator("UNIDIRECTIONAL_SEQUENCE_LSTM", operands, [result], "UnidirectionalSequenceLSTMOptions", **options)
    with pytest.raises(mct.Error, match=r"has no TOSA for tfl.unidirectional_sequence_lstm\n") as caught:
        mct.load(file.finish([series], [result]))
    assert caught.value.location == 'model.tflite: "memory"'


def test_casts_of_a_type_to_itself_are_dropped_in_chains():
    text = """  %1 = builtin.unrealized_conversion_cast %0 : tensor<2xi8> to tensor<2xi8> loc(#loc1)
  %2 = builtin.unrealized_conversion_cast %1 : tensor<2xi8> to tensor<2xi8>
  %12 = builtin.unrealized_conversion_cast %2 : tensor<2xi8> to tensor<2xui8>
  return %2, %12, %1 : tensor<2xi8>, tensor<2xui8>, tensor<2xi8>
"""
    assert (
        tflite._drop_casts(text)
        == """  %12 = builtin.unrealized_conversion_cast %0 : tensor<2xi8> to tensor<2xui8>
  return %0, %12, %0 : tensor<2xi8>, tensor<2xui8>, tensor<2xi8>
"""
    )
