# SPDX-License-Identifier: Apache-2.0
"""ONNX files in ONNX Runtime, with the ops of mct_quantizers: they compute what mct-run computes of the module.

Where all steps are powers of two, biases lie on the grid and halves go to even (mct-simulate-integers), every sum is
exact, and nothing may differ. The environment is that of `tools/dev/downstream --install onnx`.
"""

import json
import re
import sys

import measure
import numpy as np
import pytest

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))

import tool_environments

OPS = sorted((measure.REPOSITORY / "test" / "Export" / "export-onnx" / "ops").glob("*.mlir"))
RUN = measure.REPOSITORY / "tools" / "dev" / "downstream" / "run_onnx.py"
# Sums in another order, and other roundings of the same formulas, in float32.
RELATIVE, ABSOLUTE = 1e-5, 1e-6
EXACT = "--mct-simulate-integers=rounding=half-even"


@pytest.fixture(scope="module")
def runtime(tools):
    program = tool_environments.program("onnx")
    if program is None:
        pytest.skip("ONNX Runtime is not installed (tools/dev/downstream --install onnx)")
    return program.parent / "python"


def export(module, path, *options):
    measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", *options, module, "-o", path])
    return path


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
    measure.run_ok([runtime, RUN, onnx, ",".join(map(str, files)), ",".join(map(str, theirs))])
    return [(np.load(one), np.load(other)) for one, other in zip(ours, theirs, strict=True)]


def sizes(text):
    return [1 if size == "?" else int(size) for size in re.findall(r"(\?|\d+)x", text)]


@pytest.mark.parametrize("module", OPS, ids=lambda path: path.stem)
def test_ops_compute_the_same(runtime, tmp_path, module):
    onnx = export(module, tmp_path / "network.onnx", "--onnx-profile=mct_quantizers")
    signature = json.loads(measure.run_ok([measure.BIN / "mct-run", "--signature", "--json", module]).stdout)
    random = np.random.default_rng(3)
    samples = [
        2 * random.standard_normal((16, *sizes(entry["type"])[1:])).astype(np.float32) for entry in signature["inputs"]
    ]
    for ours, theirs in run_both(runtime, module, onnx, samples, tmp_path):
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


def test_digits_with_powers_of_two_are_the_same(runtime, quantize, tmp_path):
    (model, calibration), samples = digits()
    passes = [EXACT, "--mct-insert-shift-points"]
    options = {"target": "imx500_v1_pot", "input_scale": 0.0625}
    module = quantized(quantize, tmp_path, model, calibration, passes, **options)
    assert count_differing(runtime, module, samples, tmp_path) == 0


def test_digits_with_symmetric_kernels_are_the_same(runtime, quantize, tmp_path):
    # Sums are rounded, by both in their own order, and none of the 8990 outputs sees it.
    (model, calibration), samples = digits()
    options = {"target": "imx500", "input_scale": 0.0625}
    module = quantized(quantize, tmp_path, model, calibration, ["--mct-insert-shift-points"], **options)
    assert count_differing(runtime, module, samples, tmp_path) == 0


def test_digits_differ_by_the_points_of_shifts_alone(runtime, quantize, tmp_path):
    # The module without them is not what the camera computes; profile 'mct_quantizers' writes it as it is.
    (model, calibration), samples = digits()
    options = {"target": "imx500", "input_scale": 0.0625}
    module = quantized(quantize, tmp_path, model, calibration, [], **options)
    assert count_differing(runtime, module, samples, tmp_path, "--onnx-profile=mct_quantizers") == 0
    assert 0 < count_differing(runtime, module, samples, tmp_path) < 100


def test_tables_are_the_same(runtime, quantize, tmp_path):
    (model, calibration), samples = digits()
    rules = tmp_path / "rules"
    rules.write_text('name "*" weights=4\n')
    options = {"target": "imx500_v1_lut", "input_scale": 0.0625, "overrides": rules}
    module = quantized(quantize, tmp_path, model, calibration, ["--mct-insert-shift-points"], **options)
    text = measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", "--onnx-format=text", module]).stdout
    assert "WeightsLUTSymmetricQuantizer" in text
    assert count_differing(runtime, module, samples, tmp_path) == 0


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


def test_files_have_no_transposes(tools, quantize, tmp_path):
    (model, calibration), _ = digits()
    source = quantize(model, calibration, target="imx500", input_scale=0.0625)
    text = measure.run_ok([measure.BIN / "mct-translate", "--export-onnx", "--onnx-format=text", source]).stdout
    assert "Conv <" in text
    assert "Transpose" not in text
