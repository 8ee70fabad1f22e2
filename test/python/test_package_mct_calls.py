# SPDX-License-Identifier: Apache-2.0
"""MCT's functions: stock targets by its names, and calls that quantize with its arguments."""

import json

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
tp = pytest.importorskip("mct.target_platform")
mct_scripts = pytest.importorskip("mct_scripts")

KERAS = mct_scripts.KERAS
DIGITS = str(measure.DIGITS / "digits.mlirbc")


@pytest.mark.parametrize(
    ("arguments", "stock"),
    [
        ((), "imx500_v1_0"),
        (("5.0",), "imx500_v5_0"),
        ((4.0, "imx500"), "imx500_v4_0"),
        (("1.0", "tflite"), "tflite_v1"),
        (("1.0", "qnnpack"), "qnnpack_v1"),
        (("pytorch", "default"), "imx500_v1_0"),
        (("tensorflow", "imx500", "v1_lut"), "imx500_v1_lut"),
        (("keras", "tflite", "v1"), "tflite_v1"),
    ],
)
def test_stock_targets_by_the_names_of_mct(attach, arguments, stock):
    target = mct.get_target_platform_capabilities(*arguments)
    assert isinstance(target, tp.TargetPlatformCapabilities)
    assert attach(target.to_mlir()) == attach((measure.REPOSITORY / f"tpc_dialect/targets/{stock}.mlir").read_text())


def test_stock_targets_by_keywords_and_converter():
    first = mct.get_target_platform_capabilities(fw_name="pytorch", target_platform_name="imx500")
    assert first == mct.get_target_platform_capabilities(tpc_version="1.0", device_type="imx500")
    assert mct.get_target_platform_capabilities_sdsp() == first
    assert mct.get_target_platform_capabilities_sdsp(sdsp_version="3.18").tpc_minor_version == 5
    assert mct.get_tpc_model("x", first) is first


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        (("1.0", "vx9"), {}, "device 'vx9' is not known; known: imx500, tflite, qnnpack"),
        (("9.0",), {}, "version '9.0' is not known; known: 1.0, 4.0, 5.0, 6.0"),
        ((5,), {}, "version '5' is not known"),
        (("pytorch", "vx9"), {}, "target platform 'vx9' is not known; known: default"),
        (("pytorch", "imx500", "v9"), {}, "version 'v9' is not known; known: latest, v1"),
        ((), {"fw_name": "jax", "target_platform_name": "imx500"}, "framework 'jax' is not known"),
        (("1.0",), {"tpc_version": "1.0"}, "'tpc_version' is unknown or given twice"),
        (("1.0", "imx500", 3), {}, "takes 2 parameters, but got 3"),
    ],
)
def test_unknown_stock_target(arguments, named, message):
    with pytest.raises(AssertionError, match=message):
        mct.get_target_platform_capabilities(*arguments, **named)
    with pytest.raises(AssertionError, match=r"SDSP version '3.15' is not known; known: 3.14, 3.16, 3.17, 3.18"):
        mct.get_target_platform_capabilities_sdsp("3.15")


def test_target_of_a_file_is_read_as_json(tmp_path):
    native = pytest.importorskip("mct._native")
    path = tmp_path / "mine.mlir"
    path.write_text('tpc.derive @mine from "imx500" operator_sets [#tpc.operator_set<"MaxPool">]')
    target = tp.read_json(native.export_target(str(path)))
    assert target.name == "mine" and target.get_opset_by_name("MaxPool").qc_options is None
    with pytest.raises(mct.Error, match="unknown target 'imx50'; did you mean 'imx500'"):
        native.export_target("imx50")


def samples():
    """As MCT's users write it: a generator of lists of arrays."""
    data = np.load(measure.DIGITS / "digits_calib.npy")[:64].astype(np.float32) / 16
    for start in range(0, len(data), 16):
        yield [data[start : start + 16]]


@pytest.fixture
def collect(monkeypatch):
    """Returns the arguments that a call hands to `mct.quantize`."""
    calls = []

    def quantize(model, **arguments):
        calls.append(arguments | {"model": model})
        return model

    monkeypatch.setattr(mct, "quantize", quantize, raising=False)

    def call(*arguments, function=None, **named):
        result, information = (function or mct.post_training_quantization)(*arguments, **named)
        assert isinstance(result, mct.Model) and information.input_scale == 1
        return calls[-1] | {"options": calls[-1]["config"].to_options()}

    return call


def test_arguments_of_2_6(collect):
    target = mct_scripts.imx500_second()
    core = mct.core.CoreConfig(
        quantization_config=mct.core.QuantizationConfig(z_threshold=12),
        mixed_precision_config=mct.core.MixedPrecisionQuantizationConfig(num_of_images=16),
    )
    got = collect(
        in_module=mct.load(DIGITS),
        representative_data_gen=samples,
        target_resource_utilization=mct.core.ResourceUtilization(weights_memory=1000.5, bops=1e6),
        core_config=core,
        target_platform_capabilities=target,
        function=mct.ptq.pytorch_post_training_quantization,
    )
    assert got["target"] is target and got["overrides"] == []
    assert got["options"]["z_threshold"] == 12 and got["options"]["sensitivity_max_samples"] == 16
    assert got["options"]["budget"] == "weights:1000,bops:1000000"
    assert [batch[0].shape[0] for batch in got["data"]()] == [16] * 4
    # Every pass over the samples begins anew.
    assert len(list(got["data"]())) == 4
    plain = collect(DIGITS, samples, function=mct.keras_post_training_quantization)
    assert plain["target"] == "default" and plain["options"] == {}


def test_arguments_of_1_0(collect):
    data = list(samples())
    config = mct.QuantizationConfig(activation_n_bits=6)
    info = mct.FrameworkInfo(["tosa.conv2d"], ["tosa.clamp"], [], {}, {}, {})
    got = collect(DIGITS, lambda: data[0], 3, config, info)
    assert len(list(got["data"]())) == 3
    assert "act_bits = 6" in got["target"].to_mlir() and 'ops_of<"kernel_ops"' in got["target"].to_mlir()
    assert got["options"]["shift_negative_ratio"] == 0.25
    got = collect(DIGITS, samples, n_iter=2, quant_config=mct.QuantizationConfig())
    assert len(list(got["data"]())) == 2 and "tpc.derive" in got["target"].to_mlir()
    got = collect(DIGITS, lambda: data[0], fw_info=info)
    assert len(list(got["data"]())) == 1 and "framework_info" in got["target"].to_mlir()


def test_layers_of_the_configuration_reach_the_target(collect):
    default, _, _ = mct_scripts.imx500_op_configs()
    options = tp.QuantizationConfigOptions([default])
    target = tp.TargetPlatformCapabilities(default_qco=options, operator_set=[tp.OperatorsSet("Mine")])
    layers = {"Mine": tp.CustomOpsetLayers(["mine.op"])}
    core = mct.core.CoreConfig(mct.core.QuantizationConfig(custom_tpc_opset_to_layer=layers))
    got = collect(DIGITS, samples, None, core, target)
    assert '#tpc.ops_of<"Mine", [#tpc.op<"mine.op">]>' in got["target"].to_mlir()
    core = mct.core.CoreConfig(mct.core.QuantizationConfig(custom_tpc_opset_to_layer={"Add": (["mine.add"],)}))
    assert "mine.add" in collect(DIGITS, samples, None, core)["target"].to_mlir()
    with pytest.raises(tp.TargetError, match="'Mine' is not in OperatorSetNames and not mapped"):
        collect(DIGITS, samples, None, mct.core.CoreConfig(), target)
    bits = mct.core.BitWidthConfig()
    bits.set_manual_weights_bit_width(mct.core.NodeNameFilter("conv"), 4, "weight")
    got = collect(DIGITS, samples, core_config=mct.core.CoreConfig(bit_width_config=bits))
    assert got["overrides"] == ['name "conv" weights.kernel_attr=4']


INFO = mct.FrameworkInfo([], [], [], {}, {}, {})


@pytest.mark.parametrize(
    ("arguments", "named", "message"),
    [
        ((), {}, "needs one of in_model and in_module"),
        ((DIGITS, 3), {}, "representative_data_gen must be a function that gives samples, not 3"),
        ((DIGITS, samples, 0), {}, "n_iter must be a positive integer, but is 0"),
        ((DIGITS, samples, "x"), {}, "target_resource_utilization must be a ResourceUtilization, but is 'x'"),
        ((DIGITS, samples, None, 3), {}, "the configuration must be a CoreConfig or mct.QuantizationConfig"),
        ((DIGITS, samples), {"bogus": 1}, "has no parameter 'bogus'"),
        ((DIGITS, samples), {"network_editor": [1]}, r"network_editor must be a list of EditRule, but is \[1\]"),
        (
            (DIGITS, samples, 1, None, INFO, [], 3),
            {},
            "gptq_config must be a mct.gptq.GradientPTQConfig, but is 3",
        ),
        ((DIGITS, samples), {"analyze_similarity": True}, "QuantizedModel.compare tells the same"),
        ((DIGITS, samples, 1, None, None, [], None, False, 3), {}, "takes 8 parameters by position, but got 9"),
        (
            (DIGITS, samples, None, mct.QuantizationConfig(), "imx500"),
            {"fw_info": INFO},
            "fw_info and target_platform_capabilities both say",
        ),
        (
            (DIGITS, samples, None, None, "imx500"),
            {"fw_info": INFO},
            "fw_info and target_platform_capabilities both say",
        ),
        (
            (DIGITS, samples, None, mct.QuantizationConfig(weights_n_bits=4), "imx500"),
            {},
            "weights_n_bits say what the hardware can do, which the target decides",
        ),
    ],
)
def test_bad_arguments(collect, arguments, named, message):
    with pytest.raises(tp.TargetError, match=message):
        collect(*arguments, **named)


def every_sample():
    """All calibration samples, in one batch."""
    yield [np.load(measure.DIGITS / "digits_calib.npy").astype(np.float32) * 0.0625]


def test_call_of_2_6_is_one_of_quantize(tmp_path):
    core = mct.core.CoreConfig(
        mct.core.QuantizationConfig(shift_negative_ratio=0.1), mct.core.MixedPrecisionQuantizationConfig(16)
    )
    quantized, information = mct.ptq.pytorch_post_training_quantization(
        DIGITS,
        every_sample,
        mct.core.ResourceUtilization(weights_memory=2500),
        core,
        mct_scripts.imx500_first(),
    )
    choices = tmp_path / "bits.json"
    same = mct.quantize(
        mct.load(DIGITS),
        target="imx500",
        data=every_sample,
        config=core.quantization_config,
        sensitivity_max_samples=16,
        budget=["weights:2500"],
        bit_widths_out=choices,
    )
    assert quantized.text == same.text
    operators = {entry["name"]: entry["alternative"] for entry in json.loads(choices.read_text())["operators"]}
    assert information.mixed_precision_cfg == operators and any(operators.values())


def test_call_of_1_0_quantizes_what_is_listed():
    info = mct.FrameworkInfo(
        [KERAS["Conv2D"], KERAS["Dense"]],
        ["tf.nn.relu"],
        ["Reshape"],
        tp.DefaultDict({KERAS["Conv2D"]: (3, 2)}),
        {},
        {},
    )
    batch = next(iter(every_sample()))
    config = mct.QuantizationConfig(activation_n_bits=6, weights_n_bits=5)
    quantized, information = mct.keras_post_training_quantization(DIGITS, lambda: batch, 1, config, info)
    assert information.mixed_precision_cfg == {}
    weights = {point.name for point in quantized.points if point.weight}
    assert {point.bits for point in quantized.points if point.weight} == {5}
    assert {point.bits for point in quantized.points if not point.weight} == {6}
    assert {point.method for point in quantized.points} == {"power_of_two"}
    # Neither the input, which no list names, nor what only moves values.
    assert len(weights) == 4 and "input" not in {point.name for point in quantized.points}


def test_torch_module_is_exported_for_the_first_batch(collect, monkeypatch):
    importers = pytest.importorskip("mct.importers")
    loaded = mct.load(DIGITS)
    given = []
    monkeypatch.setattr(importers, "importer_of", lambda source: "torch")
    monkeypatch.setattr(mct, "load", lambda source, example_inputs=None: given.append(example_inputs) or loaded)
    got = collect("a module", samples, function=mct.pytorch_post_training_quantization)
    assert got["model"] is loaded and given[0][0].shape == (16, 8, 8, 1)
    with pytest.raises(tp.TargetError, match="representative_data_gen gives no sample"):
        collect("a module", lambda: iter([]))
