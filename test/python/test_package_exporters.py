# SPDX-License-Identifier: Apache-2.0
"""The package `mct`: files for the tools of others, made of modules."""

import importlib
import json
import subprocess
import sys

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

sys.path.insert(0, str(measure.REPOSITORY / "tools" / "dev" / "downstream"))
tool_environments = importlib.import_module("tool_environments")

PTQ = (
    f"mct-ptq{{target=imx500_v1_pot calibration-data={measure.DIGITS}/digits_calib.npy input-scale=0.0625}},"
    "mct-simulate-integers"
)


@pytest.fixture(scope="module")
def digits():
    return mct.load(measure.DIGITS / "digits.mlirbc")


@pytest.fixture(scope="module")
def simulated(digits):
    return mct.Model(digits.module.run(PTQ))


@pytest.fixture
def serializer(monkeypatch):
    program = tool_environments.program("tosa")
    if program is None:
        pytest.skip('the extra "tosa" is not installed (tools/dev/downstream --install tosa)')
    monkeypatch.setenv("MCT_TOSA_TOOLS", str(program.parent))
    return program


def translate(module, path, *options):
    subprocess.run([measure.BIN / "mct-translate", *options, module, "-o", path], check=True)
    return path.read_bytes()


def test_onnx_is_what_mct_translate_writes(tools, tmp_path, simulated):
    even = mct.Model(simulated.module.run("mct-simulate-integers{rounding=half-even}"))
    even.save(tmp_path / "even.mlirbc")
    for name, arguments, options in [
        ("plain", {}, []),
        ("device", {"profile": "imx500"}, ["--onnx-profile=imx500"]),
        ("package", {"profile": "mct_quantizers"}, ["--onnx-profile=mct_quantizers"]),
        ("qdq", {"profile": "qdq"}, ["--onnx-profile=qdq"]),
        ("set", {"profile": "qdq", "opset": 13}, ["--onnx-profile=qdq", "--onnx-opset=13"]),
        ("signed", {"profile": "qdq", "activations": "signed"}, ["--onnx-profile=qdq", "--onnx-activations=signed"]),
        ("producer", {"producer": "pytorch:2.0.0"}, ["--onnx-producer=pytorch:2.0.0"]),
    ]:
        expected = translate(tmp_path / "even.mlirbc", tmp_path / f"{name}.mct", "--export-onnx", *options)
        mct.exporters.export_onnx(even, tmp_path / f"{name}.onnx", **arguments)
        assert (tmp_path / f"{name}.onnx").read_bytes() == expected


def test_command_has_the_options_of_onnx(tools, tmp_path, simulated):
    even = mct.Model(simulated.module.run("mct-simulate-integers{rounding=half-even}"))
    even.save(tmp_path / "even.mlirbc")
    for arguments, options in [
        (["--producer=pytorch:2.0.0"], ["--onnx-producer=pytorch:2.0.0"]),
        (["--profile=mct_quantizers"], ["--onnx-profile=mct_quantizers"]),
        (["--profile=qdq", "--opset=25"], ["--onnx-profile=qdq", "--onnx-opset=25"]),
        (["--profile=qdq", "--activations=signed"], ["--onnx-profile=qdq", "--onnx-activations=signed"]),
    ]:
        expected = translate(tmp_path / "even.mlirbc", tmp_path / "expected.onnx", "--export-onnx", *options)
        command = [sys.executable, "-m", "mct", "export", tmp_path / "even.mlirbc", "-o", tmp_path / "found.onnx"]
        subprocess.run([*command, *arguments], check=True)
        assert (tmp_path / "found.onnx").read_bytes() == expected
    refused = subprocess.run(
        [
            sys.executable,
            "-m",
            "mct.cli",
            "export",
            tmp_path / "even.mlirbc",
            "-o",
            tmp_path / "p.json",
            "--profile=none",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 1 and "--profile is about ONNX files" in refused.stderr
    assert not (tmp_path / "p.json").exists()


def test_onnx_says_what_is_wrong_and_where(tmp_path, digits, simulated):
    kept = tmp_path / "kept.onnx"
    kept.write_text("precious")
    even = mct.Model(simulated.module.run("mct-simulate-integers{rounding=half-even}"))
    with pytest.raises(mct.Error, match="rounds halves up; quantizers of the format round them to the even") as caught:
        mct.exporters.export_onnx(simulated, kept)
    assert "mct-simulate-integers{rounding=half-even}" in caught.value.notes[0]
    with pytest.raises(mct.Error, match="has a kernel that is not quantized") as caught:
        mct.exporters.export_onnx(digits, kept, profile="imx500")
    assert "stem" in caught.value.location
    with pytest.raises(mct.Error, match="unknown device 'imx'; known: none, ethos-u55, ethos-u85, imx500"):
        mct.exporters.export_onnx(simulated, kept, profile="imx")
    with pytest.raises(mct.Error, match="activations are 'unsigned' or 'signed', not 'u8'"):
        mct.exporters.export_onnx(simulated, kept, profile="qdq", activations="u8")
    with pytest.raises(mct.Error, match="cannot be written with operator set 7"):
        mct.exporters.export_onnx(even, kept, profile="qdq", opset=7)
    with pytest.raises(mct.Error, match="has no function 'absent'"):
        mct.exporters.export_onnx(simulated, kept, function="absent")
    assert kept.read_text() == "precious"


def test_onnx_with_its_older_profile_warns(tmp_path, simulated):
    even = mct.Model(simulated.module.run("mct-simulate-integers{rounding=half-even}"))
    with pytest.warns(FutureWarning, match="profile 'none' is 'mct_quantizers' now"):
        mct.exporters.export_onnx(even, tmp_path / "old.onnx", profile="none")
    mct.exporters.export_onnx(even, tmp_path / "new.onnx", profile="mct_quantizers")
    assert (tmp_path / "old.onnx").read_bytes() == (tmp_path / "new.onnx").read_bytes()


def test_onnx_has_its_constants_in_another_file_where_asked(tools, tmp_path, simulated):
    even = mct.Model(simulated.module.run("mct-simulate-integers{rounding=half-even}"))
    even.save(tmp_path / "even.mlirbc")
    expected = translate(
        tmp_path / "even.mlirbc",
        tmp_path / "network.onnx",
        "--export-onnx",
        "--onnx-profile=qdq",
        "--onnx-external-data-above=1000",
    )
    data = (tmp_path / "network.onnx.data").read_bytes()
    (tmp_path / "network.onnx.data").unlink()
    mct.exporters.export_onnx(even, tmp_path / "network.onnx", profile="qdq", external_data_above=1000)
    assert (tmp_path / "network.onnx").read_bytes() == expected
    assert (tmp_path / "network.onnx.data").read_bytes() == data
    assert len(data) > 1000


def test_parameters_as_json_and_archive_agree(tmp_path, simulated):
    mct.exporters.export_parameters(simulated, tmp_path / "parameters.json")
    found = json.loads((tmp_path / "parameters.json").read_text())
    assert [entry["type"] for entry in found["inputs"]] == ["tensor<1x8x8x1xf32>"]
    points = {point["name"]: point for point in found["points"]}
    assert len(points) == len(found["points"])
    kernel = next(point for point in found["points"] if point.get("weight") == "kernel_attr")
    assert kernel["method"] == "power_of_two" and len(kernel["threshold"]) == 16
    # Levels are 2^bits, half of them negative.
    assert kernel["scale"] == [threshold / 128 for threshold in kernel["threshold"]]

    mct.exporters.export_parameters(simulated, tmp_path / "parameters.npz")
    with np.load(tmp_path / "parameters.npz") as archive:
        assert bytes(archive["json"]) == (tmp_path / "parameters.json").read_bytes()
        for name, point in points.items():
            assert archive[f"{name}/scale"].tolist() == point["scale"]
            assert archive[f"{name}/zero_point"].dtype == np.int64


def test_parameters_of_tables_are_padded(tmp_path):
    text = """func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {
      %0 = tpc.quantize %x as "x" activation parameters(#tpc.lookup_table<method = lut_sym_quantizer,
             threshold = [2.0], table = [-64, 0, 32], bits = 2>) : tensor<1x2xf32>
      return %0 : tensor<1x2xf32>
    }"""
    mct.exporters.export_parameters(mct.Model.parse(text), tmp_path / "table.npz")
    with np.load(tmp_path / "table.npz") as archive:
        assert archive["x/levels"].tolist() == [[-1.0, 0.0, 0.5]]


def test_parameters_have_a_known_suffix(tmp_path, simulated):
    with pytest.raises(mct.Error, match=r"cannot write parameters to '.*parameters.txt'") as caught:
        mct.exporters.export_parameters(simulated, tmp_path / "parameters.txt")
    assert caught.value.notes == ("give a name that ends in .json or .npz",)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("schema", [1, 2])
def test_target_is_what_mct_translate_writes(tools, tmp_path, simulated, schema):
    simulated.save(tmp_path / "simulated.mlirbc")
    options = ["--export-tpc-json", f"--tpc-json-schema={schema}"]
    expected = translate(tmp_path / "simulated.mlirbc", tmp_path / "expected.json", *options)
    mct.exporters.export_target(simulated, tmp_path / "target.json", schema=schema)
    assert (tmp_path / "target.json").read_bytes() == expected


def test_module_without_target_is_refused(tmp_path, digits):
    with pytest.raises(mct.Error, match="platform"):
        mct.exporters.export_target(digits, tmp_path / "target.json")
    assert not list(tmp_path.iterdir())


def run_reference(serializer, flatbuffer, samples, folder):
    """Outputs of Arm's reference model."""
    np.save(folder / "input0.npy", samples)
    script = measure.REPOSITORY / "tools" / "dev" / "downstream" / "run_reference.py"
    subprocess.run([serializer.parent / "python", script, flatbuffer, folder, "1"], check=True)
    return np.load(folder / "reference0.npy").reshape(len(samples), -1)


def test_float_flatbuffer_computes_the_same(tools, serializer, tmp_path, digits):
    samples = np.load(measure.DIGITS / "digits_test.npy")[:8].astype(np.float32) * np.float32(0.0625)
    mct.exporters.export_tosa(digits, tmp_path / "digits.tosa")
    expected = np.load(measure.DIGITS / "digits_expected.npy")[:8].reshape(8, -1)
    found = run_reference(serializer, tmp_path / "digits.tosa", samples[:, None], tmp_path)
    # Exponentials of others, in the softmax.
    np.testing.assert_allclose(found, expected, atol=1e-5)
    beside = json.loads((tmp_path / "digits.json").read_text())
    assert beside["inputs"][0]["type"] == "tensor<1x8x8x1xf32>" and "scale" not in beside["inputs"][0]


def test_integer_flatbuffer_has_its_scales_beside_it(tools, serializer, tmp_path, simulated):
    integer = mct.Model(simulated.module.run("mct-lower-to-integer{io=integer softmax=cut}"))
    mct.exporters.export_tosa(integer, tmp_path / "digits.tosa")
    beside = json.loads((tmp_path / "digits.json").read_text())
    entry, result = beside["inputs"][0], beside["outputs"][0]
    assert entry["type"] == "tensor<1x8x8x1xi8>" and len(beside["points"]) > 5
    samples = np.load(measure.DIGITS / "digits_test.npy")[:8].astype(np.float64) * 0.0625
    stored = np.clip(np.floor(samples / entry["scale"] + 0.5) + entry["zero_point"], -128, 127).astype(np.int8)
    found = run_reference(serializer, tmp_path / "digits.tosa", stored[:, None], tmp_path)
    # The logits of mct-run, which reads and writes real numbers.
    integer.save(tmp_path / "integer.mlirbc")
    np.save(tmp_path / "samples.npy", samples.astype(np.float32))
    files = [f"--input={tmp_path}/samples.npy", f"--output={tmp_path}/logits.npy"]
    subprocess.run([measure.BIN / "mct-run", tmp_path / "integer.mlirbc", *files], check=True, capture_output=True)
    logits = np.load(tmp_path / "logits.npy")
    if logits.dtype != np.int8:
        found = (found - float(result["zero_point"])) * result["scale"]
    assert np.array_equal(logits.reshape(found.shape), found)


def test_simulation_is_refused_with_what_to_do(serializer, tmp_path, simulated):
    with pytest.raises(mct.Error, match="tosa-opt refuses the network") as caught:
        mct.exporters.export_tosa(simulated, tmp_path / "digits.tosa")
    assert "mct-lower-to-integer" in caught.value.notes[0]
    assert not list(tmp_path.iterdir())


def test_serializer_that_crashes_is_an_error(tmp_path, monkeypatch, digits):
    program = tmp_path / "tools" / "tosa-opt"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nkill -ABRT $$\n")
    program.chmod(0o755)
    monkeypatch.setenv("MCT_TOSA_TOOLS", str(program.parent))
    with pytest.raises(mct.Error, match="tosa-opt ended by signal 6"):
        mct.exporters.export_tosa(digits, tmp_path / "digits.tosa")
    assert not (tmp_path / "digits.tosa").exists()


def test_flatbuffer_and_its_json_have_names_of_their_own(tmp_path, digits):
    with pytest.raises(mct.Error, match="cannot write a flatbuffer to"):
        mct.exporters.export_tosa(digits, tmp_path / "digits.json")


def test_missing_serializer_is_named_with_its_extra(tmp_path, monkeypatch, digits):
    monkeypatch.setenv("MCT_TOSA_TOOLS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    with pytest.raises(ImportError, match="pip install tosa-tools=="):
        mct.exporters.export_tosa(digits, tmp_path / "digits.tosa")
