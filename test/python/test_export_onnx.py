# SPDX-License-Identifier: Apache-2.0
"""ONNX files in ONNX Runtime, with ops of mct_quantizers or without: they compute what mct-run computes of the module.

Where all steps are powers of two, biases lie on the grid and halves go to even (mct-simulate-integers), every sum is
exact, and nothing may differ. The environment is that of `tools/dev/downstream --install onnx`; the program that runs
in it checks each file (`onnx.checker` in full, and shapes of a plain file in strict mode).
"""

import json
import re
import sys

import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import forks
import tool_environments

FOLDER = measure.REPOSITORY / "test" / "Export" / "export-onnx"
OPS = sorted((FOLDER / "ops").glob("*.mlir"))
QDQ = sorted((FOLDER / "qdq").glob("*.mlir"))
RUN = measure.REPOSITORY / "tools" / "dev" / "downstream" / "run_onnx.py"
INSPECT = measure.REPOSITORY / "tools" / "dev" / "downstream" / "run_qdq.py"
PACKAGES = "mct_quantizers,onnx,onnxruntime,openvino"
# Sums in another order, and other roundings of the same formulas, in float32.
RELATIVE, ABSOLUTE = 1e-5, 1e-6
EXACT = "--mct-simulate-integers=rounding=half-even"
PLAIN = "--onnx-profile=qdq"
# Makes f32 sum exactly, and multiply once, for kernels with other steps, as ONNX Runtime does.
EXACT_SUMS = "--mct-separate-steps"


@pytest.fixture(scope="module")
def runtime(tools):
    program = tool_environments.program("onnx")
    if program is None:
        pytest.skip("ONNX Runtime is not installed (tools/dev/downstream --install onnx)")
    return program.parent / "python"


def export(module, path, *options):
    measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", *options, module, "-o", path])
    return path


def run_there(*command):
    return measure.succeeded(command, forks.run(command, PACKAGES))


def run_both(runtime, module, onnx, samples, folder):
    """Outputs of mct-run, and those of ONNX Runtime, in order."""
    signature = json.loads(measure.run_ok([measure.BIN / "mct-run", "--signature", "--json", module]).stdout)
    files = []
    for i, values in enumerate(samples):
        files.append(folder / f"input{i}.npy")
        np.save(files[-1], values)
    ours = [folder / f"ours{i}.npy" for i in range(len(signature["outputs"]))]
    theirs = [folder / f"theirs{i}.npy" for i in range(len(ours))]
    given = ",".join(f"{i}:{file}" for i, file in enumerate(files))
    written = ",".join(map(str, ours))
    measure.run_ok([measure.BIN / "mct-run", module, f"--input={given}", f"--output={written}"])
    run_there(runtime, RUN, onnx, ",".join(map(str, files)), ",".join(map(str, theirs)))
    return [(np.load(one), np.load(other)) for one, other in zip(ours, theirs, strict=True)]


def samples_for(signature):
    """Sixteen random samples of each input."""
    random = np.random.default_rng(3)
    result = []
    for entry in signature["inputs"]:
        sizes = [1 if size == "?" else int(size) for size in re.findall(r"(\?|\d+)x", entry["type"])]
        element = re.search(r"(\w+)>$", entry["type"])[1].rpartition("x")[2]
        shape = (16, *sizes[1:])
        if element == "f32":
            result.append(2 * random.standard_normal(shape).astype(np.float32))
        else:
            result.append(random.integers(-1, 6, shape).astype({"i1": "bool", "i32": "int32", "i64": "int64"}[element]))
    return result


@pytest.mark.alternating
@pytest.mark.parametrize("module", OPS, ids=lambda path: path.stem)
def test_ops_compute_the_same(runtime, tmp_path, module):
    onnx = export(module, tmp_path / "network.onnx", "--onnx-profile=mct_quantizers")
    signature = json.loads(measure.run_ok([measure.BIN / "mct-run", "--signature", "--json", module]).stdout)
    samples = samples_for(signature)
    for ours, theirs in run_both(runtime, module, onnx, samples, tmp_path):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(theirs, ours, rtol=RELATIVE, atol=ABSOLUTE)


def has_form(module, operator_set):
    """16 bits, and parameters on several axes, are no part of operator set 13."""
    return operator_set != 13 or module.stem not in ("points", "activations", "weights")


PLAIN_FILES = [
    *((module, number, "unsigned") for module in [*OPS, *QDQ] for number in (13, 21, 25) if has_form(module, number)),
    *((module, 21, "signed") for module in QDQ),
]


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("module", "operator_set", "activations"), PLAIN_FILES, ids=lambda value: getattr(value, "stem", value)
)
def test_plain_files_compute_the_same(runtime, tmp_path, module, operator_set, activations):
    options = [PLAIN, f"--onnx-opset={operator_set}", f"--onnx-activations={activations}"]
    onnx = export(module, tmp_path / "network.onnx", *options)
    even = tmp_path / "even.mlirbc"
    measure.run_ok([measure.BIN / "mct-opt", module, EXACT, "-o", even])
    signature = json.loads(measure.run_ok([measure.BIN / "mct-run", "--signature", "--json", module]).stdout)
    samples = samples_for(signature)
    for ours, theirs in run_both(runtime, even, onnx, samples, tmp_path):
        assert ours.shape == theirs.shape
        np.testing.assert_allclose(theirs, ours, rtol=RELATIVE, atol=ABSOLUTE)


def quantized(quantize, folder, model, calibration, passes, **options):
    """A quantized model after further passes."""
    source = quantize(model, calibration, **options)
    module = folder / "module.mlirbc"
    measure.run_ok([measure.BIN / "mct-opt", source, *passes, "-o", module])
    return module


def count_differing(runtime, module, samples, folder, *options):
    onnx = export(module, folder / "network.onnx", *options)
    ((ours, theirs),) = run_both(runtime, module, onnx, [samples], folder)
    assert ours.shape == theirs.shape
    assert np.array_equal(ours.argmax(1), theirs.argmax(1))
    return int(np.count_nonzero(ours != theirs))


def digits():
    return (measure.DIGITS / "digits.mlirbc", measure.DIGITS / "digits_calib.npy"), np.load(
        measure.DIGITS / "digits_test.npy"
    ).astype(np.float32) * np.float32(0.0625)


@pytest.mark.alternating
def test_digits_with_powers_of_two_are_the_same(runtime, quantize, tmp_path):
    (model, calibration), samples = digits()
    passes = [EXACT, "--mct-insert-shift-points"]
    options = {"target": "imx500_v1_pot", "input_scale": 0.0625}
    module = quantized(quantize, tmp_path, model, calibration, passes, **options)
    assert count_differing(runtime, module, samples, tmp_path) == 0


@pytest.mark.alternating
def test_digits_with_symmetric_kernels_are_the_same(runtime, quantize, tmp_path):
    # Sums are rounded, by both in their own order, and none of the 8990 outputs sees it.
    (model, calibration), samples = digits()
    options = {"target": "imx500", "input_scale": 0.0625}
    module = quantized(quantize, tmp_path, model, calibration, ["--mct-insert-shift-points"], **options)
    assert count_differing(runtime, module, samples, tmp_path) == 0


@pytest.mark.alternating
def test_digits_differ_by_the_points_of_shifts_alone(runtime, quantize, tmp_path):
    # The module without them is not what the camera computes; profile 'mct_quantizers' writes it as it is.
    (model, calibration), samples = digits()
    options = {"target": "imx500", "input_scale": 0.0625}
    module = quantized(quantize, tmp_path, model, calibration, [], **options)
    assert count_differing(runtime, module, samples, tmp_path, "--onnx-profile=mct_quantizers") == 0
    assert 0 < count_differing(runtime, module, samples, tmp_path) < 100


@pytest.mark.alternating
def test_tables_are_the_same(runtime, quantize, tmp_path):
    (model, calibration), samples = digits()
    rules = tmp_path / "rules"
    rules.write_text('name "*" weights=4\n')
    options = {"target": "imx500_v1_lut", "input_scale": 0.0625, "overrides": rules}
    module = quantized(quantize, tmp_path, model, calibration, ["--mct-insert-shift-points"], **options)
    text = measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", "--onnx-format=text", module]).stdout
    assert "WeightsLUTSymmetricQuantizer" in text
    assert count_differing(runtime, module, samples, tmp_path) == 0


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("model", "data", "scale", "count"),
    [("resnet8_cifar10", "cifar10", 1.0, 200), ("mobilenet_vww", "vww", 1 / 255, 50)],
    ids=["resnet8", "vww"],
)
def test_real_networks_with_powers_of_two_are_the_same(runtime, shared, quantize, tmp_path, model, data, scale, count):
    calibration = shared / data / "calib_images.npy"
    options = {"target": "imx500_v1_pot", "input_scale": scale}
    module = quantized(quantize, tmp_path, shared / "models" / f"{model}.mlirbc", calibration, [EXACT], **options)
    images = np.load(shared / data / "test_images.npy")[:count]
    samples = (images.astype(np.float64) * scale).astype(np.float32)
    assert count_differing(runtime, module, samples, tmp_path) == 0


def inspect(runtime, onnx):
    """Returns the optimized operators of a plain file in ONNX Runtime, and checks that OpenVINO compiles it."""
    found = json.loads(run_there(runtime, INSPECT, onnx, "--openvino", "--repeat=1").stdout)
    assert found["openvino"]
    return found["operators"]


# Operators that are left float where one between two points is not fused.
FLOAT_OPERATORS = {"Conv", "Gemm", "MatMul", "MatMulIntegerToFloat", "AveragePool", "GlobalAveragePool", "Concat"}


def test_plain_digits_are_the_same_and_fused(runtime, quantize, tmp_path):
    (model, calibration), samples = digits()
    # Exported as mct-ptq leaves it: the file is that of the integers, halves to even.
    source = quantize(model, calibration, target="imx500_v1_pot", input_scale=0.0625)
    onnx = export(source, tmp_path / "network.onnx", PLAIN)
    even = tmp_path / "even.mlirbc"
    measure.run_ok([measure.BIN / "mct-opt", source, EXACT, "-o", even])
    ((ours, theirs),) = run_both(runtime, even, onnx, [samples], tmp_path)
    np.testing.assert_array_equal(theirs, ours)
    operators = inspect(runtime, onnx)
    assert operators["QLinearConv"] == 5
    assert operators["QLinearAdd"] == 1
    assert operators["QLinearGlobalAveragePool"] == 1
    # The shift after a swish is a part of a zero point.
    assert not FLOAT_OPERATORS & set(operators) and "Add" not in operators


@pytest.mark.alternating
@pytest.mark.parametrize(
    ("model", "data", "calibration", "scale", "count", "expected"),
    [
        (
            "resnet8_cifar10",
            "cifar10/test_images",
            "cifar10/calib_images",
            1.0,
            200,
            {"QLinearConv": 10, "QLinearAdd": 3, "QLinearGlobalAveragePool": 1},
        ),
        (
            "mobilenet_vww",
            "vww/test_images",
            "vww/calib_images",
            1 / 255,
            100,
            {"QLinearConv": 28, "QLinearGlobalAveragePool": 1},
        ),
        ("wakeword_ds_cnn", "ww/features", "ww/features", 1.0, 45, {"QLinearConv": 9}),
        ("autoencoder_ad", "ad/synthetic_test_windows", "ad/synthetic_calib_windows", 1.0, 200, {"QGemm": 10}),
        (
            "resnet20_cifar10",
            "cifar10/test_images",
            "cifar10/calib_images",
            1 / 255,
            100,
            {"QLinearConv": 20, "QLinearAdd": 9, "QLinearGlobalAveragePool": 1},
        ),
        (
            "tiny_darknet_imagenet",
            "imagenet/test_images",
            "imagenet/calib_images",
            1 / 255,
            4,
            {"QLinearConv": 16, "NhwcMaxPool": 4, "QLinearLeakyRelu": 15},
        ),
    ],
    ids=["resnet8", "vww", "wakeword", "autoencoder", "resnet20", "tiny_darknet"],
)
@pytest.mark.parametrize("target", ["imx500_v1_pot", "imx500"])
def test_plain_real_networks_are_the_same_and_fused(
    runtime, shared, quantize, tmp_path, target, model, data, calibration, scale, count, expected
):
    options = {"target": target, "input_scale": scale}
    source = quantize(shared / "models" / f"{model}.mlirbc", shared / f"{calibration}.npy", **options)
    onnx = export(source, tmp_path / "network.onnx", PLAIN)
    even = tmp_path / "even.mlirbc"
    measure.run_ok([measure.BIN / "mct-opt", source, EXACT, EXACT_SUMS, "-o", even])
    samples = np.load(shared / f"{data}.npy", mmap_mode="r")[:count]
    ((ours, theirs),) = run_both(runtime, even, onnx, [(samples * np.float64(scale)).astype(np.float32)], tmp_path)
    np.testing.assert_array_equal(theirs, ours)
    operators = inspect(runtime, onnx)
    assert {name: operators.get(name, 0) for name in expected} == expected
    assert not FLOAT_OPERATORS & set(operators)


def test_constants_in_another_file_are_the_same(runtime, quantize, tmp_path):
    (model, calibration), samples = digits()
    source = quantize(model, calibration, target="imx500_v1_pot", input_scale=0.0625)
    whole = export(source, tmp_path / "whole.onnx", PLAIN)
    parts = export(source, tmp_path / "parts.onnx", PLAIN, "--onnx-external-data-above=1000")
    assert not (tmp_path / "whole.onnx.data").exists()
    assert (tmp_path / "parts.onnx.data").stat().st_size > 1000
    ((_, expected),) = run_both(runtime, source, whole, [samples[:50]], tmp_path)
    ((_, found),) = run_both(runtime, source, parts, [samples[:50]], tmp_path)
    np.testing.assert_array_equal(found, expected)


def test_files_have_no_transposes(tools, quantize, tmp_path):
    (model, calibration), _ = digits()
    source = quantize(model, calibration, target="imx500", input_scale=0.0625)
    text = measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", "--onnx-format=text", source]).stdout
    assert "Conv <" in text
    assert "Transpose" not in text
