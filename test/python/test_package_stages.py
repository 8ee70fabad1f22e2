# SPDX-License-Identifier: Apache-2.0
"""The functions that the package has for passes and pipelines, made of the definitions of their options."""

import inspect
import os
import re
import subprocess
import typing

import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")

DATA = os.path.join(os.path.dirname(__file__), "..", "data")
DIGITS = os.path.join(DATA, "digits.mlirbc")
NOT_OPTIONS = {"model", "data", "preprocessing", "client", "config", "metric", "validation", "progress"}
SAMPLES = {"calibration_data": [os.path.join(DATA, "digits_calib.npy")], "input_scale": 0.0625}


@pytest.fixture(scope="module")
def digits():
    return mct.load(DIGITS)


@pytest.fixture(scope="module")
def quantized(digits):
    return mct.quantize(digits, "imx500", **SAMPLES)


@pytest.fixture(scope="module")
def described(tools):
    """Descriptions of the options in the help and their words, by pass or pipeline and option."""
    text = subprocess.run([tools / "mct-opt", "--help"], capture_output=True, text=True, check=True).stdout
    found, options, words = {}, {}, {}
    for line in text.splitlines():
        if match := re.match(r"^ {6}--([\w-]+) +- ", line):
            options = found.setdefault(match[1], {})
        elif match := re.match(r"^ {8}--([\w-]+)(?:=<[\w-]+>)? +- (.*)$", line):
            words = {}
            options[match[1]] = (match[2], words)
        elif match := re.match(r"^ {10}=([\w-]+) +- +(.*)$", line):
            words[match[1]] = match[2]
    return found


# `mct.ptq`, `mct.gptq` and `mct.qat` are modules with the names of MCT.
RENAMED = {"quantize": "mct-ptq", "train_rounding": "mct-gptq", "train": "mct-qat"}


def flag_of(name, described):
    flags = [RENAMED[name]] if name in RENAMED else [f"{group}-{name.replace('_', '-')}" for group in ("mct", "tpc")]
    return next(flag for flag in flags if flag in described)


@pytest.mark.parametrize("name", mct.stages.__all__)
def test_function_has_the_options_of_its_pass(described, name):
    function = getattr(mct, name)
    options = described[flag_of(name, described)]
    parameters = inspect.signature(function).parameters
    known = {parameter.replace("_", "-") for parameter in parameters} - (NOT_OPTIONS - set(options))
    assert known == set(options)
    documentation = " ".join(function.__doc__.split())
    for option, (text, words) in options.items():
        assert f"{option.replace('-', '_')}: {' '.join(text.split())}" in documentation
        if words:
            hint = eval(parameters[option.replace("-", "_")].annotation, {"Literal": typing.Literal})
            assert set(typing.get_args(hint)) == set(words)


def test_a_pass_on_functions_runs_on_each(digits):
    assert mct.assign_names(digits).text == digits.text
    assert "tensor<5x8x8x1xf32>" in mct.set_batch(digits, size=5).text


def test_passes_that_print_are_methods():
    assert not {"explain", "report_memory"} & set(mct.stages.__all__)


def test_quantize_is_mct_ptq(tools, tmp_path, digits, quantized):
    options = f"target=imx500 calibration-data={SAMPLES['calibration_data'][0]} input-scale=0.0625"
    subprocess.run([tools / "mct-opt", DIGITS, f"--mct-ptq={options}", "-o", tmp_path / "expected.mlirbc"], check=True)
    quantized.save(tmp_path / "found.mlirbc")
    assert (tmp_path / "found.mlirbc").read_bytes() == (tmp_path / "expected.mlirbc").read_bytes()
    assert isinstance(quantized, mct.QuantizedModel)
    assert quantized.float_model is digits


def test_stages_one_by_one_are_the_whole(digits, quantized):
    model = mct.prepare(mct.attach_target(digits, "imx500"))
    model = mct.select_weight_parameters(mct.insert_quantizers(model))
    model = mct.select_parameters(mct.calibrate(model, **SAMPLES))
    model = mct.correct(model, **SAMPLES)
    assert model.text == quantized.text


def test_option_that_is_given_counts(digits, quantized):
    other = mct.quantize(digits, "imx500", activation_error_method="no-clipping", **SAMPLES)
    assert "error-method=no-clipping" in other.pass_pipeline
    assert "error-method=no-clipping" not in quantized.pass_pipeline
    assert other.text != quantized.text


def test_target_may_be_an_object(digits, quantized):
    class Target:
        def to_mlir(self):
            return mct.attach_target(mct.Model.parse("module {}"), "imx500").text

    assert mct.quantize(digits, Target(), **SAMPLES).text == quantized.text


def test_overrides_may_be_a_list_of_rules(digits, tmp_path):
    rules = ['name "*" weights=4', "?op tosa.add float"]
    (tmp_path / "rules").write_text("\n".join(rules) + "\n")
    found = mct.quantize(digits, "imx500", overrides=rules, **SAMPLES)
    assert found.text == mct.quantize(digits, "imx500", overrides=tmp_path / "rules", **SAMPLES).text
    assert {point.bits for point in found.points if point.weight == "kernel_attr"} == {4}


def test_widths_and_patterns_are_rules_of_overrides(digits):
    found = mct.quantize(digits, "imx500", weights=4, activations=8, keep_float=["head*"], **SAMPLES)
    rules = ["all weights=4", "all activation=8", 'name "head*" float']
    assert found.text == mct.quantize(digits, "imx500", overrides=rules, **SAMPLES).text
    assert {point.bits for point in found.points if point.weight == "kernel_attr"} == {4}
    assert not [point for point in found.points if point.name.startswith("head")]
    # An override for one kind of layers takes precedence.
    found = mct.quantize(digits, "imx500", weights=4, overrides=["op tosa.depthwise_conv2d weights=2"], **SAMPLES)
    kernels = [point.bits for point in found.points if point.weight == "kernel_attr"]
    assert kernels.count(2) == 1 and kernels.count(4) == len(kernels) - 1


@pytest.mark.parametrize(
    ("target", "options", "message"),
    [
        ("imx500", {"weights": 3}, "weights=3: none of the quantized weights can have 3 bits; .* 8, 4 and 2 in this"),
        ("tflite", {"weights": 4}, "weights=4: none of the quantized weights can have 4 bits; .* offers 8 in this"),
        ("imx500", {"activations": 4}, "activations=4: none of the results can have 4 bits; the target offers 8 in"),
        ("imx500", {"keep_float": ["haed*"]}, r"keep_float=haed\*: the rule matches nothing"),
        ("imx500", {"effort": "quick"}, "effort: expected one of 'fast', 'default', 'best', found 'quick'"),
    ],
)
def test_width_that_is_not_offered_is_an_error(digits, target, options, message):
    with pytest.raises(mct.Error, match=message):
        mct.quantize(digits, target, **options, **SAMPLES)


def test_effort_is_a_set_of_options(digits):
    fast = mct.quantize(digits, "imx500", weights=4, effort="fast", **SAMPLES)
    switched_off = {
        "round_weights": False,
        "weights_second_moment_correction": False,
        "weights_bias_correction": False,
        "residual_equalization": False,
        "rescale_parts": False,
        "judge_corrections": False,
    }
    assert fast.text == mct.quantize(digits, "imx500", weights=4, **switched_off, **SAMPLES).text
    trained = mct.quantize(digits, "imx500", weights=4, effort="best", gptq_epochs=1, **SAMPLES)
    assert "epochs=1 " in trained.pass_pipeline and fast.text != trained.text


def test_options_of_a_pipeline_are_listed_by_section():
    sections = mct.stages.SECTIONS["quantize"]
    assert set(sections.values()) >= {"calibration", "selection", "corrections", "bit widths", "training"}
    documentation = mct.quantize.__doc__
    for option, section in sections.items():
        before = documentation[: documentation.index(f"\n    {option}: ")]
        assert before.rfind(f"{section.capitalize()}:\n") == max(
            before.rfind(f"{other.capitalize()}:\n") for other in set(sections.values())
        )


def test_config_gives_options_that_are_not_given(digits):
    class Config:
        def to_options(self):
            return {"weights_error_method": "mae", "z_threshold": 5.0}

    found = mct.quantize(digits, "imx500", config=Config(), weights_error_method="lp", **SAMPLES)
    expected = mct.quantize(digits, "imx500", z_threshold=5.0, weights_error_method="lp", **SAMPLES)
    assert found.pass_pipeline == expected.pass_pipeline


def test_config_with_an_unknown_option_is_an_error(digits):
    class Config:
        def to_options(self):
            return {"no_such_option": 1}

    with pytest.raises(mct.Error, match="config: there is no option 'no_such_option'"):
        mct.quantize(digits, config=Config())


def test_path_with_spaces_and_quotes_is_read(digits, tmp_path):
    folder = tmp_path / "a folder's {content}"
    folder.mkdir()
    mct.attach_target(mct.Model.parse("module {}"), "imx500").save(folder / "my target.mlir")
    assert mct.attach_target(digits, folder / "my target.mlir").text == mct.attach_target(digits, "imx500").text


@pytest.mark.parametrize(
    "options, message",
    [
        ({"threads": -1}, "threads: expected a number that is not negative, found -1"),
        ({"weights": 10**30}, f"weights: expected at most {2**32 - 1}, found 10*"),
        ({"bias_max_samples": 10**30}, f"bias_max_samples: expected at most {2**64 - 1}, found 10*"),
        ({"threads": 1.5}, "threads: expected a whole number, found 1.5"),
        ({"lp_norm": "two"}, "lp_norm: expected a number, found 'two'"),
        ({"remarks": 1}, "remarks: expected True or False, found 1"),
        ({"weights_error_method": "best"}, "weights_error_method: expected one of 'no-clipping', .*, found 'best'"),
        ({"target": 3}, "target: expected a stock name, a path, or an object with a method `to_mlir`, found 3"),
        ({"target": "nobody"}, "unknown target 'nobody'"),
        ({"overrides": 3}, "overrides: expected the path of a file with rules, or a list of rules, found 3"),
        ({"calibration_data": 3}, "calibration_data: expected a sequence, found 3"),
        ({"calibration_data": ["a,b.npy"]}, "calibration_data: expected items without a comma, found 'a,b.npy'"),
        ({"function": 3}, "function: expected text, found 3"),
        ({"function": "both\"'"}, "function: .* has both kinds of quotation marks"),
        ({"data": [0], "calibration_data": ["a.npy"]}, "data and calibration_data are two ways to say the same"),
    ],
)
def test_option_that_makes_no_sense_is_an_error(digits, options, message):
    with pytest.raises(mct.Error, match=message):
        mct.quantize(digits, **options)


def test_stage_of_something_else_is_an_error():
    with pytest.raises(mct.Error, match=r"model: expected a model \(mct.load makes one\), found "):
        mct.prepare("model.mlir")


def test_points_say_what_is_quantized(quantized):
    kernel = next(point for point in quantized.points if point.name == "head/dense/kernel_attr")
    assert (kernel.weight, kernel.bits, kernel.method, kernel.signed) == ("kernel_attr", 8, "symmetric", True)
    assert len(kernel.thresholds) == 10 and kernel.axes == (0,)
    assert kernel.function == "main" and kernel.type.startswith("tensor<10x")
    assert all(f'as "{point.name.split("/kernel_attr")[0]}"' in quantized.text for point in quantized.points)


def test_points_without_a_quantizer_have_none(digits):
    points = mct.insert_quantizers(mct.prepare(mct.attach_target(digits, "imx500"))).points
    assert points and all(point.bits is None and point.quantizer is None for point in points)


def test_explain_is_what_the_pass_prints(tools, tmp_path, digits):
    attached = mct.attach_target(digits, "imx500")
    attached.save(tmp_path / "attached.mlirbc")
    for form in ("text", "json"):
        command = [tools / "mct-opt", tmp_path / "attached.mlirbc", f"--tpc-explain=format={form}", "-o", "/dev/null"]
        assert attached.explain(form) == subprocess.run(command, capture_output=True, text=True, check=True).stdout
    with pytest.raises(mct.Error, match="format: expected 'text' or 'json', found 'xml'"):
        attached.explain("xml")
    with pytest.raises(mct.Error, match="has no target"):
        digits.explain()


def test_samples_may_be_an_array(digits, quantized):
    samples = np.load(SAMPLES["calibration_data"][0])
    assert mct.quantize(digits, "imx500", samples, input_scale=0.0625).points == quantized.points
    whole = mct.calibrate(mct.insert_quantizers(mct.attach_target(digits, "imx500")), samples, input_scale=0.0625)
    assert "statistics(" in whole.text


def test_preprocessing_stays_with_the_model(digits, quantized):
    samples = np.load(SAMPLES["calibration_data"][0])
    found = mct.quantize(digits, "imx500", samples, preprocessing=mct.Preprocessing.of(scale=0.0625))
    assert found.points == quantized.points
    assert (found.run(samples[:4]) == quantized.run(samples[:4] * np.float32(0.0625))).all()


def test_scale_of_samples_stays_with_the_model(digits):
    samples = np.load(SAMPLES["calibration_data"][0])
    recorded = mct.quantize(digits, "imx500", samples, preprocessing=mct.Preprocessing.of(0.0625, 0.5))
    given = mct.quantize(digits, "imx500", samples, input_scale=0.0625, input_offset=0.5)
    assert given.text == recorded.text
    as_text = mct.calibrate(mct.insert_quantizers(mct.attach_target(digits, "imx500")), samples, input_scale="0.0625")
    assert "tpc.preprocessing = {scale = array<f64: 6.250000e-02>}" in as_text.text


def test_scale_is_told_once(digits):
    samples = np.load(SAMPLES["calibration_data"][0])
    with pytest.raises(mct.Error, match="preprocessing and input_scale or input_offset are two ways to say the same"):
        mct.quantize(digits, "imx500", samples, input_scale=0.0625, preprocessing=mct.Preprocessing.of(0.5))
    with pytest.raises(mct.Error, match="input_scale: expected a number, or numbers separated by"):
        mct.quantize(digits, "imx500", samples, input_scale="many")


def test_scale_of_files_is_not_recorded_and_says_so(digits, caplog):
    model = mct.calibrate(mct.insert_quantizers(mct.attach_target(digits, "imx500")), **SAMPLES)
    assert "tpc.preprocessing" not in model.text
    assert "preprocessing=mct.Preprocessing.of(scale, offset) is recorded in the model" in caplog.text


def test_progress_tells_of_samples_and_passes(digits, quantized):
    def factory():
        yield from np.load(SAMPLES["calibration_data"][0])[:, None]

    reports = []
    mct.quantize(digits, "imx500", factory, input_scale=0.0625, progress=reports.append)
    assert reports[0].stage == "samples"
    passes = set(re.findall(r"(?:mct|tpc)-[\w-]+", quantized.pass_pipeline))
    assert {report.stage for report in reports} - {"samples"} <= {"mct-ptq", *passes}
    assert len({report.stage for report in reports}) > 1


def test_progress_tells_of_the_parts_of_a_stage(digits):
    reports = []
    mct.quantize(digits, "imx500", weights=4, progress=reports.append, **SAMPLES)
    parts = {(report.stage, report.parts) for report in reports}
    assert any(stage == "mct-round-weights" and count > 1 for stage, count in parts)
    assert all(count == 0 for stage, count in parts if stage == "mct-calibrate")
    assert all(report.part <= report.parts for report in reports)


def test_quantized_model_is_compared_with_the_float_one(quantized):
    samples = np.load(SAMPLES["calibration_data"][0])[:20] * np.float32(0.0625)
    assert {point.name for point in quantized.compare(samples).points} <= {point.name for point in quantized.points}


def test_real_network_from_an_array_is_what_mct_opt_writes(tools, shared, tmp_path):
    model, images = shared / "models" / "resnet8_cifar10.mlirbc", shared / "cifar10" / "calib_images.npy"
    options = f"target=imx500 calibration-data={images}"
    subprocess.run([tools / "mct-opt", model, f"--mct-ptq={options}", "-o", tmp_path / "expected.mlirbc"], check=True)
    mct.quantize(mct.load(model), "imx500", np.load(images)).save(tmp_path / "found.mlirbc")
    assert (tmp_path / "found.mlirbc").read_bytes() == (tmp_path / "expected.mlirbc").read_bytes()
