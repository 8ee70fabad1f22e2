# SPDX-License-Identifier: Apache-2.0
"""The main job on the embedded network and on the real ones: what the float and the quantized module answer."""

import re

import measure
import numpy as np
import pytest

DIGITS = {"input_scale": 0.0625}
PIXEL_TO_UNIT = {"input_scale": 1 / 255}
LABELS = measure.DIGITS / "digits_test_labels.npy"

# Model, its test inputs, how the network wants them.
REAL = {
    "resnet8_cifar10": ("cifar10/test_images.npy", {}),
    "mobilenet_vww": ("vww/test_images.npy", PIXEL_TO_UNIT),
    "autoencoder_ad": ("ad/synthetic_test_windows.npy", {}),
}


def outputs(model, inputs, folder, **options):
    """Returns the outputs of the network, flattened to one row per sample."""
    path = folder / "outputs.npy"
    measure.run_json(model, inputs, output=path, **options)
    values = np.load(path)
    return values.reshape(len(values), -1)


def assert_close_to_reference(values, expected):
    # The reference adds in another order; the bound is the one of the project's issue on the executor.
    expected = expected.reshape(len(expected), -1)
    assert values.shape == expected.shape
    assert np.all(np.abs(values - expected) <= 1e-4 + 1e-5 * np.abs(expected))


def quantized_digits(quantize):
    return quantize(measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_calib.npy", **DIGITS)


def test_digits_float_equals_torch(tools, tmp_path):
    expected = np.load(measure.DIGITS / "digits_expected.npy")
    model, inputs = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_test.npy"
    assert_close_to_reference(outputs(model, inputs, tmp_path, samples=len(expected), **DIGITS), expected)


def test_digits_quantized_loses_at_most_one_point(quantize):
    model, inputs = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_test.npy"
    before = measure.run_json(model, inputs, labels=LABELS, **DIGITS)
    after = measure.run_json(quantized_digits(quantize), inputs, labels=LABELS, compare=model, **DIGITS)
    assert before["samples"] == after["samples"] == 899
    assert before["top1"] >= 0.97
    assert after["top1"] >= before["top1"] - 0.01
    assert after["agreement"] >= 0.98


def test_digits_with_tables_of_values(quantize, tmp_path):
    """Every convolution but the depthwise one as sixteen levels, chosen freely among 256."""
    rules = tmp_path / "rules.txt"
    rules.write_text("op tosa.conv2d weights=4\n")
    model, inputs = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_test.npy"
    calibration = measure.DIGITS / "digits_calib.npy"
    quantized = quantize(model, calibration, target="imx500_v1_lut", overrides=rules, **DIGITS)
    tables = re.findall(r"#tpc\.lookup_table<method = lut_sym_quantizer, .*bits = 4>", quantized.read_text())
    assert len(tables) == 4
    before = measure.run_json(model, inputs, labels=LABELS, **DIGITS)
    after = measure.run_json(quantized, inputs, labels=LABELS, compare=model, **DIGITS)
    assert after["top1"] >= before["top1"] - 0.02
    assert after["agreement"] >= 0.97
    eight_bits = measure.weight_bytes(quantized_digits(quantize))
    assert measure.weight_bytes(quantized) < 0.7 * eight_bits


def test_top1_is_what_the_outputs_say(tools, tmp_path):
    model, inputs = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_test.npy"
    answers = outputs(model, inputs, tmp_path, **DIGITS).argmax(axis=1)
    report = measure.run_json(model, inputs, labels=LABELS, **DIGITS)
    assert report["top1"] == pytest.approx(np.mean(answers == np.load(LABELS)), abs=1e-6)


def test_compare_reports_every_point_by_name(quantize):
    model, inputs = measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_test.npy"
    report = measure.run_json(quantized_digits(quantize), inputs, compare=model, samples=100, **DIGITS)
    points = {point["name"]: point for point in report["points"]}
    assert len(points) == len(report["points"])
    # The names are the model's own; a fused group is named by one of its ops.
    assert any(name.startswith("stem/") for name in points)
    assert any(name.startswith("head/") for name in points)
    for name, point in points.items():
        assert point["sqnr_db"] is None or point["sqnr_db"] > 15, name  # None: equal values
        assert point["cosine"] > 0.98, name
        assert point["max_error"] >= 0, name


def test_weights_shrink_to_a_quarter(quantize):
    before = measure.weight_bytes(measure.DIGITS / "digits.mlirbc")
    after = measure.weight_bytes(quantized_digits(quantize))
    # Biases stay in float, so it is not quite four times less.
    assert before / 4 < after < before / 3


def test_quantized_bytecode_runs_like_text(tools, tmp_path, quantize):
    bytecode = tmp_path / "digits.mlirbc"
    calibration = measure.DIGITS / "digits_calib.npy"
    measure.run_ok(measure.ptq_command(measure.DIGITS / "digits.mlirbc", calibration, bytecode, **DIGITS))
    assert bytecode.read_bytes()[:4] == b"ML\xefR"
    inputs = measure.DIGITS / "digits_test.npy"
    from_bytecode = outputs(bytecode, inputs, tmp_path, samples=64, **DIGITS)
    from_text = outputs(quantized_digits(quantize), inputs, tmp_path, samples=64, **DIGITS)
    assert np.array_equal(from_bytecode, from_text)


@pytest.mark.parametrize("name", REAL)
def test_real_float_equals_reference(shared, tmp_path, name):
    inputs, options = REAL[name]
    expected = np.load(shared / "expected" / f"{name}.npy")
    model = shared / "models" / f"{name}.mlirbc"
    values = outputs(model, shared / inputs, tmp_path, samples=len(expected), **options)
    assert_close_to_reference(values, expected)


def test_resnet8_quantized_loses_at_most_half_a_point(shared, quantize):
    model = shared / "models" / "resnet8_cifar10.mlirbc"
    quantized = quantize(model, shared / "cifar10" / "calib_images.npy")
    inputs, labels = shared / "cifar10" / "test_images.npy", shared / "cifar10" / "test_labels.npy"
    before = measure.run_json(model, inputs, labels=labels)
    after = measure.run_json(quantized, inputs, labels=labels, compare=model)
    assert before["top1"] == pytest.approx(0.7485, abs=0.0011)  # an argmax or two may fall on the other side
    assert after["top1"] >= before["top1"] - 0.005


def test_vww_quantized_agrees_with_float(shared, quantize):
    model = shared / "models" / "mobilenet_vww.mlirbc"
    quantized = quantize(model, shared / "vww" / "calib_images.npy", **PIXEL_TO_UNIT)
    report = measure.run_json(quantized, shared / "vww" / "test_images.npy", compare=model, **PIXEL_TO_UNIT)
    assert report["agreement"] >= 0.97


def test_autoencoder_quantized_output_is_above_20_db(shared, quantize, tmp_path):
    model = shared / "models" / "autoencoder_ad.mlirbc"
    quantized = quantize(model, shared / "ad/synthetic_calib_windows.npy")
    inputs = shared / "ad/synthetic_test_windows.npy"
    before = outputs(model, inputs, tmp_path).astype(np.float64)
    error = outputs(quantized, inputs, tmp_path) - before
    assert 10 * np.log10(np.sum(before**2) / np.sum(error**2)) >= 20
