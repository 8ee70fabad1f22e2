# SPDX-License-Identifier: Apache-2.0
"""A `.tflite` file computes in LiteRT the codes of the integer network."""

import importlib
import io
import json
import re
import zipfile

import measure
import numpy as np
import pytest
from tflite_networks import CASES, text

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
pytest.importorskip("tflite", reason='the extra "tflite" is not installed (tools/dev/importers)')

KERNELS = ("AUTO", "BUILTIN_REF")
# LiteRT registers no reference kernels of these.
DEFAULT_ONLY = ("ceil", "round")


def litert(data, samples, kernels="AUTO"):
    """Outputs of LiteRT, of one sample for each input."""
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    runner = interpreter.Interpreter(
        model_content=data, experimental_op_resolver_type=getattr(interpreter.OpResolverType, kernels)
    )
    runner.allocate_tensors()
    for detail, sample in zip(runner.get_input_details(), samples, strict=True):
        runner.set_tensor(detail["index"], sample)
    runner.invoke()
    return [runner.get_tensor(detail["index"]) for detail in runner.get_output_details()], runner


def exported(model, path, **options):
    mct.exporters.export_tflite(model, path, **options)
    return path.read_bytes()


def operators(model, **options):
    document = json.loads(model.module.export_tflite(*options.values()))
    return [entry["operator"] for entry in document["operators"]]


def codes(model, integer):
    """Codes of every argument, all of those that there are."""
    generator = np.random.default_rng(7)
    entries = json.loads(integer.module.export_parameters(""))["inputs"]
    result = []
    for entry in entries:
        sizes, element = entry["type"].removeprefix("tensor<").removesuffix(">").rsplit("x", 1)
        limit = 1 << (int(element[1:]) - 1)
        shape = [int(size) for size in sizes.split("x")]
        result.append(generator.integers(-limit, limit, shape).astype(f"int{element[1:]}"))
    return result


def lowered(model):
    return mct.Model(model.module.run("mct-lower-to-integer{io=integer extensions=int16}"))


def outputs(model, samples):
    result = model.run(samples[0] if len(samples) == 1 else tuple(samples))
    return result if isinstance(result, tuple) else (result,)


@pytest.mark.alternating
@pytest.mark.parametrize("name", CASES)
def test_an_operator_computes_the_codes_of_the_integer_network(name, tmp_path):
    case = CASES[name]
    model = mct.Model.parse(text(case), name)
    integer = lowered(model)
    samples = codes(model, integer)
    data = exported(model, tmp_path / "network.tflite")
    assert operators(model) == case.operators
    (expected,) = outputs(integer, samples)
    for kernels in KERNELS[: 1 if name in DEFAULT_ONLY else 2]:
        (found,), _ = litert(data, samples, kernels)
        assert found.shape == expected.shape and found.dtype == expected.dtype
        # LiteRT rounds halves to even or away from zero, its reference kernels twice: one step where it rounds at all.
        assert np.abs(found.astype(int) - expected.astype(int)).max() <= case.steps


def quantized_digits(target):
    float_model = mct.load(measure.DIGITS / "digits.mlirbc")
    pipeline = f"mct-ptq{{target={target} calibration-data={measure.DIGITS}/digits_calib.npy input-scale=0.0625}}"
    return mct.Model(float_model.module.run(f"{pipeline},mct-simulate-integers"))


@pytest.fixture(scope="module")
def digits():
    return quantized_digits("imx500")


def samples_of(model, count):
    numbers = np.load(measure.DIGITS / "digits_test.npy")[:count].astype(np.float32) * 0.0625
    entry = json.loads(lowered(model).module.export_parameters(""))["inputs"][0]
    found = np.clip(np.floor(numbers / entry["scale"] + 0.5) + entry["zero_point"], -128, 127)
    return found.astype(np.int8)


def test_a_network_computes_the_codes_of_the_integer_network(digits, tmp_path):
    integer = mct.Model(digits.module.run("mct-lower-to-integer{io=integer}"))
    data = exported(digits, tmp_path / "digits.tflite")
    inputs = samples_of(digits, 50)
    expected = integer.run(inputs)
    found = np.concatenate([litert(data, [image[None]])[0][0] for image in inputs])
    # XNNPACK rounds halves to even: 7 of 500 codes are seen to differ, by one.
    differences = np.abs(found.astype(int) - expected.astype(int))
    assert differences.max() <= 1 and (differences != 0).mean() < 0.05


def test_reference_kernels_compute_the_codes_that_round_twice(digits, tmp_path):
    """The pool of this network is on another grid than its input: once is its sum rounded, by all kernels."""
    data = exported(digits, tmp_path / "digits.tflite")
    inputs = samples_of(digits, 100)
    found = np.concatenate([litert(data, [image[None]], "BUILTIN_REF")[0][0] for image in inputs])
    twice, once = (
        mct.Model(digits.module.run(f"mct-lower-to-integer{{io=integer{rounding}}}")).run(inputs)
        for rounding in (" rounding=double", "")
    )
    assert np.array_equal(found, twice) and not np.array_equal(found, once)


# Thresholds of the result: with factors of more and of less than a code for positive and negative codes.
@pytest.mark.parametrize("slope, threshold", [(0.1, 21.0), (0.1, 8.0), (0.3, 64.0), (0.77, 64.0)])
def test_reference_kernels_compute_leaky_relus_that_round_twice(slope, threshold, tmp_path):
    codes = np.arange(-128, 128, dtype=np.int8).reshape(1, 1, 256, 1)
    type_ = "tensor<1x1x256x1xf32>"
    source = f"""func.func @main(%x: {type_}) -> {type_} {{
      %shift = "tosa.const"() <{{values = dense<0> : tensor<1xi8>}}> : () -> tensor<1xi8>
      %slope = "tosa.const"() <{{values = dense<{slope}> : tensor<1x1x1x1xf32>}}> : () -> tensor<1x1x1x1xf32>
      %0 = tpc.quantize %x as "x" activation parameters(#tpc.power_of_two<threshold = [32.0], bits = 8>) : {type_}
      %1 = tosa.mul %0, %slope, %shift : ({type_}, tensor<1x1x1x1xf32>, tensor<1xi8>) -> {type_}
      %2 = tosa.maximum %1, %0 : ({type_}, {type_}) -> {type_}
      %3 = tpc.quantize %2 as "y" activation parameters(#tpc.symmetric<threshold = [{threshold}], bits = 8>) : {type_}
      return %3 : {type_}
    }}"""
    model = mct.simulate_integers(mct.Model.parse(source))
    assert operators(model) == ["LEAKY_RELU"]
    ((found,), _) = litert(exported(model, tmp_path / "leaky.tflite"), [codes], "BUILTIN_REF")
    twice, once = (
        mct.Model(model.module.run(f"mct-lower-to-integer{{io=integer{rounding}}}")).run(codes)
        for rounding in (" rounding=double-convolutions", "")
    )
    assert np.array_equal(found, twice) and not np.array_equal(found, once)
    simulated = mct.Model(model.module.run("mct-simulate-integers{rounding=double}"))
    assert np.array_equal(simulated.run(0.25 * codes.astype(np.float32)), np.float32(threshold / 128) * found)


@pytest.mark.parametrize("rounding", ("double", "double-convolutions"))
def test_networks_that_are_simulated_to_round_twice_have_the_same_file(rounding, digits, tmp_path):
    twice = mct.Model(digits.module.run(f"mct-simulate-integers{{rounding={rounding}}}"))
    assert "tosa.select" in twice.text and "tosa.select" not in digits.text
    files = [exported(model, tmp_path / "digits.tflite") for model in (twice, digits)]
    assert files[0] == files[1]


@pytest.mark.alternating
def test_the_importer_reads_what_is_written(digits, tmp_path):
    pytest.importorskip("tosa_converter_for_tflite", reason='the extra "tflite" is not installed (tools/dev/importers)')
    data = exported(digits, tmp_path / "digits.tflite")
    imported = mct.load(tmp_path / "digits.tflite", quantized="integer")
    original = mct.Model(digits.module.run("mct-lower-to-integer{io=integer}"))
    for which in ("inputs", "outputs"):
        grids = [json.loads(model.module.export_parameters(""))[which][0] for model in (imported, original)]
        assert len({(grid["scale"], grid["zero_point"]) for grid in grids}) == 1
    inputs = samples_of(digits, 20)
    found = np.concatenate([imported.run(image[None]) for image in inputs])
    expected = np.concatenate([litert(data, [image[None]])[0][0] for image in inputs])
    # The converter rescales with two roundings, XNNPACK with one: a logit by one step, and the softmax multiplies that.
    assert (found != expected).mean() < 0.05 and np.array_equal(found.argmax(1), expected.argmax(1))


def grids(model):
    """Steps and ends of all points: LiteRT has a ReLU as a part of its layer, which changes names."""
    return sorted(
        (
            point.get("weight") is not None,
            np.unique(np.float32(point["scale"])).tolist(),
            *([] if point.get("weight") else [point[key][0] - point["zero_point"][0] for key in ("lowest", "highest")]),
        )
        for point in json.loads(model.module.export_parameters(""))["points"]
    )


@pytest.mark.alternating
@pytest.mark.parametrize("target", ["imx500", "imx500_v1_pot", "tflite", "qnnpack"])
def test_the_importer_gives_back_the_points(target, tmp_path):
    pytest.importorskip("tosa_converter_for_tflite", reason='the extra "tflite" is not installed (tools/dev/importers)')
    model = quantized_digits(target)
    exported(model, tmp_path / "digits.tflite")
    assert grids(mct.load(tmp_path / "digits.tflite")) == grids(model)


def test_constants_that_no_file_holds_are_refused_before_it_is_written(digits, tmp_path, monkeypatch):
    monkeypatch.setattr("mct.exporters.tflite._LARGEST", 1000)
    with pytest.raises(mct.Error, match=r"have \d+ bytes, and a .tflite file holds at most 1000"):
        mct.exporters.export_tflite(digits, tmp_path / "large.tflite")
    assert not (tmp_path / "large.tflite").exists()


def test_the_bytes_are_the_same_each_time(digits, tmp_path):
    first = exported(digits, tmp_path / "same.tflite", labels=["a", "b"])
    assert exported(digits, tmp_path / "same.tflite", labels=["a", "b"]) == first


def test_inputs_and_outputs_may_be_numbers(digits, tmp_path):
    images = np.load(measure.DIGITS / "digits_test.npy")[:5].astype(np.float32) * 0.0625
    data = exported(digits, tmp_path / "float.tflite", io="float")
    expected = digits.run(images)
    found = np.concatenate([litert(data, [image[None]])[0][0] for image in images])
    step = json.loads(lowered(digits).module.export_parameters(""))["outputs"][0]["scale"]
    assert found.dtype == np.float32
    # One step of the output, and float rounding of it.
    assert np.abs(found - expected).max() <= step * 1.001


def test_the_signature_has_the_names_of_inputs_and_outputs(digits, tmp_path):
    _, runner = litert(exported(digits, tmp_path / "digits.tflite"), [samples_of(digits, 1)])
    document = json.loads(digits.module.export_tflite())
    assert runner.get_signature_list() == {"serving_default": document["signature"]}
    assert [detail["name"] for detail in runner.get_input_details()] == document["signature"]["inputs"]


def test_a_batch_that_is_not_known_can_be_chosen(tmp_path):
    case = CASES["conv SAME"]
    dynamic = mct.Model.parse(text(case).replace("tensor<1x8x8", "tensor<?x8x8"))
    data = exported(dynamic, tmp_path / "network.tflite")
    interpreter = pytest.importorskip("ai_edge_litert.interpreter", reason="ai-edge-litert is not installed")
    runner = interpreter.Interpreter(model_content=data)
    (detail,) = runner.get_input_details()
    assert list(detail["shape_signature"]) == [-1, 8, 8, 4]
    runner.resize_tensor_input(detail["index"], [3, 8, 8, 4])
    runner.allocate_tensors()
    images = np.random.default_rng(1).integers(-128, 128, (3, 8, 8, 4)).astype(np.int8)
    runner.set_tensor(detail["index"], images)
    runner.invoke()
    found = runner.get_tensor(runner.get_output_details()[0]["index"])
    single = exported(mct.Model.parse(text(case)), tmp_path / "single.tflite")
    expected = np.concatenate([litert(single, [image[None]])[0][0] for image in images])
    assert np.array_equal(found, expected)


NARROW = {"CONV_2D": "conv VALID", "FULLY_CONNECTED": "dense", "DEPTHWISE_CONV_2D": "depthwise"}


@pytest.mark.parametrize("operator", NARROW)
def test_kernels_of_four_bits_compute_the_same_in_int4(operator, tmp_path):
    source = text(CASES[NARROW[operator]])
    kernel = source[source.index("%w = ") :].split("\n")[0]
    # Codes of -8, which threshold 1 has for -1, would stay in INT8.
    narrow = re.sub(r"1\.0\b", "1.3", kernel).replace("bits = 8", "bits = 4")
    model = mct.Model.parse(source.replace(kernel, narrow))
    inputs = codes(model, lowered(model))
    results = []
    for int4 in (False, True):
        data = exported(model, tmp_path / "network.tflite", int4=int4)
        document = json.loads(model.module.export_tflite("integer", int4))
        (stored,) = [tensor["type"] for tensor in document["tensors"] if "kernel_attr" in tensor["name"]]
        assert stored == ("INT4" if int4 else "INT8")
        # XNNPACK rounds otherwise, and leaves some kernels in INT4 to these.
        results.append(litert(data, inputs, "BUILTIN_WITHOUT_DEFAULT_DELEGATES")[0][0])
    assert np.array_equal(*results)


def test_token_ids_of_64_bits_are_indices(tmp_path):
    """A negative one counts from the end, as importers write it."""
    model = mct.Model.parse(
        """func.func @main(%ids: tensor<1x3xi64> loc("ids")) -> tensor<1x3x2xf32> {
  %zero = "tosa.const"() <{values = dense<0> : tensor<1x1xi64>}> : () -> tensor<1x1xi64>
  %count = "tosa.const"() <{values = dense<4> : tensor<1x1xi64>}> : () -> tensor<1x1xi64>
  %below = tosa.greater %zero, %ids : (tensor<1x1xi64>, tensor<1x3xi64>) -> tensor<1x3xi1>
  %added = tosa.add %ids, %count : (tensor<1x3xi64>, tensor<1x1xi64>) -> tensor<1x3xi64>
  %whole = tosa.select %below, %added, %ids : (tensor<1x3xi1>, tensor<1x3xi64>, tensor<1x3xi64>) -> tensor<1x3xi64>
  %index = tosa.cast %whole : (tensor<1x3xi64>) -> tensor<1x3xi32>
  %table = "tosa.const"() <{values = dense<[[[0.5, -1.5], [2.5, 3.5], [-4.5, 5.5], [6.5, 7.5]]]> : tensor<1x4x2xf32>}>
    : () -> tensor<1x4x2xf32>
  %rows = tosa.gather %table, %index : (tensor<1x4x2xf32>, tensor<1x3xi32>) -> tensor<1x3x2xf32> loc("rows")
  return %rows : tensor<1x3x2xf32>
}""",
        "ids",
    )
    data, ids = exported(model, tmp_path / "ids.tflite"), np.array([[3, -2, 1]])
    for kernels in KERNELS:
        (found,), runner = litert(data, [ids], kernels)
        assert runner.get_input_details()[0]["dtype"] == np.int64
        assert np.array_equal(found, model.run(ids))


def test_metadata_tell_labels_and_normalization(digits, tmp_path):
    labels = [f"digit {number}" for number in range(10)]
    data = exported(digits, tmp_path / "digits.tflite", labels=labels)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        assert archive.read("labels.txt").decode().split("\n")[:-1] == labels
    assert b"TFLITE_METADATA" in data and b"M001" in data
    litert(data, [samples_of(digits, 1)])  # what follows the flatbuffer does no harm


def test_metadata_tell_what_samples_are_normalized_with(tmp_path):
    record = "{tpc.preprocessing = {scale = array<f64: 0.015625>, offset = array<f64: -2.0>}}"
    source = text(CASES["exp"])
    plain = exported(mct.Model.parse(source), tmp_path / "plain.tflite")
    recorded = mct.Model.parse(source.replace(' loc("a0")', f' {record} loc("a0")'))
    data = exported(recorded, tmp_path / "recorded.tflite")
    # x / 64 - 2 is (x - 128) / 64
    assert json.loads(recorded.module.export_tflite())["normalization"] == [
        {"input": "a0", "mean": [128.0], "std": [64.0]}
    ]
    assert b"M001" not in plain
    metadata = data[data.index(b"M001") :]
    assert np.float32(128.0).tobytes() in metadata and np.float32(64.0).tobytes() in metadata


def test_what_is_computed_with_numbers_is_told(tmp_path, caplog):
    caplog.set_level("INFO", logger="mct")
    exported(mct.Model.parse(text(CASES["exp"])), tmp_path / "network.tflite")
    assert "exp is computed with numbers: it has no operator on codes" in caplog.text


def test_what_no_file_says_leaves_no_file(tmp_path):
    model = mct.Model.parse(
        "func.func @main(%x: tensor<1x2xf32>) -> tensor<1x2xf32> {\n"
        "  %0 = tosa.erf %x : (tensor<1x2xf32>) -> tensor<1x2xf32>\n  return %0 : tensor<1x2xf32>\n}"
    )
    with pytest.raises(mct.Error, match="has no form in TensorFlow Lite"):
        mct.exporters.export_tflite(model, tmp_path / "network.tflite")
    with pytest.raises(mct.Error, match="there is no io 'codes'"):
        mct.exporters.export_tflite(model, tmp_path / "network.tflite", io="codes")
    assert not list(tmp_path.iterdir())


def test_without_the_extra_the_error_says_how_to_install_it(digits, tmp_path, monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match=r"writing a \.tflite file needs tflite, flatbuffers: .*tflite"):
        mct.exporters.export_tflite(digits, tmp_path / "network.tflite")


def test_the_console_writes_the_same_file(digits, tmp_path, capsys):
    from mct import cli

    digits.save(tmp_path / "q.mlirbc")
    (tmp_path / "labels.txt").write_text("\n".join("abcdefghij") + "\n")
    arguments = ["export", str(tmp_path / "q.mlirbc"), "-o", str(tmp_path / "q.tflite")]
    assert cli.main([*arguments, "--io", "float", "--int4", "--labels", str(tmp_path / "labels.txt")]) == 0
    written = (tmp_path / "q.tflite").read_bytes()
    assert written == exported(digits, tmp_path / "q.tflite", io="float", int4=True, labels="abcdefghij")
    assert written != exported(digits, tmp_path / "q.tflite")
    assert cli.main([*arguments, "--profile", "none"]) == 1
    assert "--profile is about ONNX files" in capsys.readouterr().err
