# SPDX-License-Identifier: Apache-2.0
"""The names of MCT beside those of targets, each used as its page shows."""

import inspect
import math
import re

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
tp = pytest.importorskip("mct.target_platform")
mct_scripts = pytest.importorskip("mct_scripts")
infrastructure = pytest.importorskip("mct.trainable_infrastructure")
quantize_config = pytest.importorskip("mct.quantize_config")

KERAS, TORCH = mct_scripts.KERAS, mct_scripts.TORCH
DIGITS = str(measure.DIGITS / "digits.mlirbc")


# ----------------------------------------------------------------------------------------------------------------------
# FrameworkInfo
# ----------------------------------------------------------------------------------------------------------------------


def test_framework_info_as_its_page_shows(attach):
    kernel_ops = [KERAS["Conv2D"]]
    kernel_channels_mapping = tp.DefaultDict({KERAS["Conv2D"]: (3, 2)})
    mct.FrameworkInfo(kernel_ops, [], [], kernel_channels_mapping, {}, {})
    activation_ops = [KERAS["ReLU"]]
    mct.FrameworkInfo(kernel_ops, activation_ops, [], kernel_channels_mapping, {}, {})
    no_quantization_ops = [KERAS["Reshape"]]
    mct.FrameworkInfo(kernel_ops, activation_ops, no_quantization_ops, kernel_channels_mapping, {}, {})
    activation_min_max_mapping = {"softmax": (0, 1)}
    layer_min_max_mapping = {KERAS["Softmax"]: (0, 1)}
    info = mct.FrameworkInfo(
        kernel_ops,
        activation_ops,
        no_quantization_ops,
        kernel_channels_mapping,
        activation_min_max_mapping,
        layer_min_max_mapping,
    )
    text = attach(mct_scripts.imx500_second().to_mlir() + info.to_mlir())
    described = text.split("tpc.framework @framework_info [")[1].split("]\n")[0]
    expected = """
    #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,
    #tpc.op_info<"tosa.reshape", quantize = false>,
    #tpc.op_info<"subgraph:softmax", range = [0.000000e+00, 1.000000e+00]>
    """
    assert described.split() == expected.split()


def test_framework_info_by_all_its_parameters():
    info = mct.FrameworkInfo(
        kernel_ops=["tosa.conv2d"],
        activation_ops=[],
        no_quantization_ops=[],
        activation_quantizer_mapping={},
        weights_quantizer_mapping={},
        kernel_channels_mapping={"mine.conv": (0, 1), TORCH["Linear"]: (0, 1), KERAS["DepthwiseConv2D"]: (2, 2)},
        activation_min_max_mapping={"swish": (-0.279, None), "linear": (None, None), "relu": (0, math.inf)},
        layer_min_max_mapping={"tosa.exp": (0, None)},
    )
    assert info.to_mlir().split("[\n")[1] == (
        '  #tpc.op_info<"mine.conv", kernel = 1, out_axes = [0], in_axis = 1>,\n'
        '  #tpc.op_info<"tosa.matmul", kernel = 1, out_axes = [2], in_axis = 1, result_axis = -1>,\n'
        '  #tpc.op_info<"tosa.conv2d", kernel = 1, bias = 2, out_axes = [0], in_axis = 3, result_axis = -1>,\n'
        '  #tpc.op_info<"tosa.depthwise_conv2d", kernel = 1, bias = 2, out_axes = [2, 3], in_axis = 2, '
        "result_axis = -1>,\n"
        '  #tpc.op_info<"tosa.exp", range = [0.0, ?]>,\n'
        '  #tpc.op_info<"subgraph:swish", range = [-0.279, ?]>,\n'
        '  #tpc.op_info<"subgraph:relu", range = [0.0, ?]>\n'
        "]\n"
    )


def info(kernels=(), activations=(), others=(), channels=None, names=None, layers=None):
    return mct.FrameworkInfo(list(kernels), list(activations), list(others), channels or {}, names or {}, layers or {})


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mct.FrameworkInfo(3, [], [], {}, {}, {}), "kernel_ops must be a list, but is 3"),
        (lambda: mct.FrameworkInfo([], [], [], {}, {}, {}, {}, {}, {}), "takes 8 parameters, but got 9"),
        (lambda: mct.FrameworkInfo([], [], [], bogus=1), "'bogus' is unknown or given twice; known: activation_quant"),
        (
            lambda: mct.FrameworkInfo([], [], [], {mct.QuantizationMethod.UNIFORM: print}, {}, {}, {}, {}),
            "activation_quantizer_mapping maps methods to functions of Keras, .*QuantizationMethodAttrInterface",
        ),
        (lambda: info(channels=tp.DefaultDict({"Conv2D": 3})), "the channels of Conv2D must be two axes"),
        (lambda: info(channels={"Conv2D": (4, 2)}), "the kernel of Conv2D has 4 axes, but none is 4"),
        (lambda: info(channels={"ReLU": (0, 1)}), "the layout of the kernel of ReLU is not known; known: Conv2D"),
        (lambda: info(channels={"mine.conv": (-1, 0)}), "the kernel of mine.conv has no axis -1"),
        (lambda: mct.FrameworkInfo([], [], [], 3, {}, {}), "kernel_channels_mapping must be a dictionary"),
        (lambda: info(names={3: (0, 1)}), "an activation is known by its name, not by 3"),
        (lambda: info(layers={"Softmax": 3}), "the range of Softmax must be two numbers or None"),
        (lambda: info(layers={"Softmax": (0, "1")}), "the range of Softmax must be two numbers or None"),
        (lambda: info(layers={"Softmax": (1, 0)}), "the range of Softmax does not ascend"),
        (lambda: info(layers={"Softmax": (0, 1)}, names={"softmax": (0, 2)}), "what another layer contradicts"),
        (lambda: info(kernels=["Conv2D"], others=["Conv2D"]), "is to be quantized, and not to be"),
        (lambda: info(others=["ReLU6"]), "'tosa.clamp' is ReLU6 only sometimes"),
    ],
)
def test_bad_framework_info(make, message):
    with pytest.raises(tp.TargetError, match=message):
        make()


# ----------------------------------------------------------------------------------------------------------------------
# QuantizationConfig
# ----------------------------------------------------------------------------------------------------------------------

PAGE = {
    "activation_threshold_method": mct.ThresholdSelectionMethod.MSE,
    "weights_threshold_method": mct.ThresholdSelectionMethod.MSE,
    "activation_quantization_method": mct.QuantizationMethod.SYMMETRIC_UNIFORM,
    "weights_quantization_method": mct.QuantizationMethod.SYMMETRIC_UNIFORM,
    "activation_n_bits": 8,
    "weights_n_bits": 8,
    "relu_unbound_correction": False,
    "weights_bias_correction": True,
    "weights_per_channel_threshold": True,
    "input_scaling": False,
    "enable_weights_quantization": True,
    "enable_activation_quantization": True,
    "shift_negative_activation_correction": False,
    "activation_channel_equalization": False,
    "z_threshold": math.inf,
    "min_threshold": 2**-16,
    "l_p_value": 2,
    "shift_negative_ratio": 0.25,
    "shift_negative_threshold_recalculation": False,
}


def test_configuration_has_the_parameters_and_defaults_of_its_page():
    parameters = inspect.signature(mct.QuantizationConfig).parameters
    assert {name: p.default for name, p in parameters.items() if name != "later"} == PAGE
    assert all(getattr(mct.QuantizationConfig(), name) == value for name, value in PAGE.items())
    methods = mct.ThresholdSelectionMethod
    assert [methods[name].name for name in ("NOCLIPPING", "MSE", "MAE", "KL", "Lp")] == [
        "NOCLIPPING",
        "MSE",
        "MAE",
        "KL",
        "LP",
    ]
    assert mct.QuantizationErrorMethod is methods and methods.Lp is methods.LP


def test_configuration_as_its_page_shows(attach):
    config = mct.QuantizationConfig(
        activation_n_bits=6,
        weights_n_bits=7,
        activation_quantization_method=mct.QuantizationMethod.SYMMETRIC_UNIFORM,
        weights_quantization_method=mct.QuantizationMethod.SYMMETRIC_UNIFORM,
        weights_threshold_method=mct.ThresholdSelectionMethod.MSE,
        activation_threshold_method=mct.ThresholdSelectionMethod.NOCLIPPING,
        relu_unbound_correction=True,
        weights_bias_correction=True,
        weights_per_channel_threshold=True,
    )
    options = config.to_options(target_is_made_of_it=True)
    assert options["activation_error_method"] == "no-clipping" and options["weights_error_method"] == "mse"
    assert options["relu_bound_to_power_of_2"] is True and options["weights_bias_correction"] is True
    text = attach(config.to_target().to_mlir())
    assert "act_method = power_of_two, act_bits = 6, input_bits = [6]" in text
    assert "method = power_of_two, bits = 7, per_channel = true, enabled = true" in text
    with pytest.raises(tp.TargetError, match="activation_n_bits, weights_n_bits say what the hardware can do"):
        config.to_options()


# A network in which a convolution is read by operators that only move values, and by one with options of its own.
MOVED = """
func.func @main(%x: tensor<1x4x4x4xf32> loc("x")) -> tensor<1x16xf32> {
  %kernel = "tosa.const"() <{values = dense<0.5> : tensor<4x1x1x4xf32>}> : () -> tensor<4x1x1x4xf32>
  %bias = "tosa.const"() <{values = dense<0.1> : tensor<4xf32>}> : () -> tensor<4xf32>
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %starts = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %sizes = tosa.const_shape {values = dense<[1, 2, 4, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %pads = tosa.const_shape {values = dense<[0, 0, 1, 1, 0, 0, 0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>
  %flat = tosa.const_shape {values = dense<[1, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %0 = tosa.conv2d %x, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x4xf32> loc("first")
  %1 = tosa.slice %0, %starts, %sizes : (tensor<1x4x4x4xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x2x4x4xf32> loc("slice")
  %2 = tosa.pad %1, %pads, %zero : (tensor<1x2x4x4xf32>, !tosa.shape<8>, tensor<1xf32>) -> tensor<1x4x4x4xf32> loc("pad")
  %3 = tosa.max_pool2d %2 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x4xf32>) -> tensor<1x2x2x4xf32> loc("pool")
  %4 = tosa.conv2d %3, %kernel, %bias, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x4xf32> loc("second")
  %5 = tosa.reshape %4, %flat : (tensor<1x2x2x4xf32>, !tosa.shape<2>) -> tensor<1x16xf32> loc("flat")
  return %5 : tensor<1x16xf32>
}
"""  # noqa: E501


@pytest.mark.parametrize("activations", [4, 6, 16])
@pytest.mark.parametrize("weights", [3, 8])
def test_bits_of_a_configuration_are_those_of_all_operators(activations, weights):
    config = mct.QuantizationConfig(activation_n_bits=activations, weights_n_bits=weights)
    data = np.random.default_rng(1).random((4, 4, 4, 4), np.float32)
    network = mct.Model.parse(MOVED)
    quantized, _ = mct.post_training_quantization(network, lambda: [[data]], quant_config=config)
    assert {point.bits for point in quantized.points if point.weight} == {weights}
    assert {point.bits for point in quantized.points if not point.weight} == {activations}
    # The rest of the target has the same widths, so that any operator can read the result of any other one.
    text = config.to_target().to_mlir()
    assert set(re.findall(r"act_bits = (\d+)", text)) == {str(activations)}
    assert set(re.findall(r"input_bits = \[(.*?)\]", text)) == {str(activations)}
    stock = mct.get_target_platform_capabilities(device_type="imx500")
    changed = [operators.name for operators in config.to_target().operator_set]
    own = [operators.name for operators in stock.operator_set if operators.qc_options is not None]
    assert changed == [
        name for name in own if name not in ("Conv", "ConvTranspose", "DepthwiseConv2D", "FullyConnected")
    ]


def test_without_activations_no_operator_set_quantizes_any():
    target = mct.QuantizationConfig(enable_activation_quantization=False).to_target()
    for operators in target.operator_set:
        assert not operators.qc_options.quantization_configurations[0].enable_activation_quantization


def test_options_of_both_generations_are_those_of_the_pipeline(tools, tmp_path):
    first, second = mct.QuantizationConfig(), mct.core.QuantizationConfig()
    assert set(first.to_options()) < set(second.to_options())
    every = second.to_options() | mct.core.MixedPrecisionQuantizationConfig(8, 0.5, "EXP").to_options()
    every["budget"] = mct.core.ResourceUtilization(weights_memory=1e6).to_budget()
    words = [f"{key.replace('_', '-')}={str(value).lower()}" for key, value in every.items()]
    data = measure.DIGITS
    pipeline = " ".join(["target=imx500", f"calibration-data={data / 'digits_calib.npy'}", *words])
    measure.run_ok([tools / "mct-opt", data / "digits.mlirbc", f"--mct-ptq={pipeline}", "--dump-pass-pipeline"])


@pytest.mark.parametrize(
    ("arguments", "points", "weighting"),
    [
        ({}, None, None),
        ({"num_interest_points_factor": 0.5}, 0.5, None),
        ({"distance_weighting_method": "LAST_LAYER"}, 1.0, "last-layer"),
        ({"distance_weighting_method": "HESSIAN", "num_interest_points_factor": 0.5}, 0.5, "hessian"),
        ({"use_hessian_based_scores": True}, 1.0, "hessian"),
        ({"use_hessian_based_scores": True, "distance_weighting_method": "HESSIAN"}, 1.0, "hessian"),
    ],
)
def test_points_and_weightings_of_mixed_precision(arguments, points, weighting):
    options = mct.core.MixedPrecisionQuantizationConfig(**arguments).to_options()
    assert options.get("sensitivity_compare_points") == points
    assert options.get("sensitivity_weighting") == weighting


def test_every_parameter_of_the_page_reaches_an_option_or_the_target():
    others = {
        "activation_threshold_method": mct.ThresholdSelectionMethod.KL,
        "weights_threshold_method": mct.ThresholdSelectionMethod.HMSE,
        "activation_quantization_method": mct.QuantizationMethod.UNIFORM,
        "weights_quantization_method": mct.QuantizationMethod.LUT_SYM_QUANTIZER,
        "z_threshold": 10.0,
        "min_threshold": 0.5,
        "l_p_value": 3,
        "shift_negative_ratio": 0.5,
        "activation_n_bits": 4,
        "weights_n_bits": 4,
    }

    def effect(config):
        return config.to_options(target_is_made_of_it=True), config.to_target().to_mlir()

    default = effect(mct.QuantizationConfig())
    for name, value in PAGE.items():
        other = others.get(name, not value)
        assert effect(mct.QuantizationConfig(**{name: other})) != default, name
    # The names of 2.6, of which one that is not given leaves the pipeline's default.
    assert "softmax_shift" not in default[0]
    config = mct.QuantizationConfig(softmax_shift=True, weights_error_method=mct.QuantizationErrorMethod.MAE)
    assert config.to_options()["softmax_shift"] is True and config.weights_threshold_method.name == "MAE"
    assert config.to_options()["weights_error_method"] == "mae"


def test_configuration_of_2_6():
    parameters = inspect.signature(mct.core.QuantizationConfig).parameters
    assert (parameters["shift_negative_ratio"].default, len(parameters)) == (0.05, 21)
    options = mct.core.QuantizationConfig(z_threshold=16, l_p_value=3).to_options()
    assert (options["z_threshold"], options["lp_norm"], options["min_threshold"]) == (16, 3, 2**-16)
    assert options["shift_negative_activation_correction"] is True
    assert mct.core.QuantizationConfig() == mct.core.QuantizationConfig()
    assert mct.core.QuantizationConfig(z_threshold=1) != mct.core.QuantizationConfig()


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mct.QuantizationConfig(bogus=1), "has no parameter 'bogus'; known: activation_threshold_method"),
        (lambda: mct.QuantizationConfig(z_threshold=-1), "z_threshold must be a number from 0 on, but is -1"),
        (lambda: mct.QuantizationConfig(min_threshold=math.inf), "min_threshold must be a number"),
        (lambda: mct.QuantizationConfig(l_p_value="2"), "l_p_value must be a number from 1 on, but is '2'"),
        (lambda: mct.QuantizationConfig(input_scaling=1), "input_scaling must be True or False, but is 1"),
        (lambda: mct.QuantizationConfig(weights_n_bits=0), "weights_n_bits must be a positive integer"),
        (lambda: mct.QuantizationConfig("mse"), "activation_threshold_method must be one of Threshold"),
        (
            lambda: mct.QuantizationConfig(mct.ThresholdSelectionMethod.HMSE),
            "activation_threshold_method cannot be HMSE, which is for weights",
        ),
        (
            lambda: mct.core.QuantizationConfig(custom_tpc_opset_to_layer=3),
            "custom_tpc_opset_to_layer must be a Mapping",
        ),
        (lambda: mct.core.ResourceUtilization(bops=-1), "bops must be a number from 0 on, but is -1"),
        (lambda: mct.core.MixedPrecisionQuantizationConfig(0), "num_of_images must be a positive integer"),
        (lambda: mct.core.MixedPrecisionQuantizationConfig(1, 2.0), "must be above 0 and at most 1, but is 2.0"),
        (
            lambda: mct.core.MixedPrecisionQuantizationConfig(distance_weighting_method="LARGEST"),
            "distance_weighting_method 'LARGEST' is not known; known: AVG, LAST_LAYER, EXP, HESSIAN",
        ),
        (lambda: mct.core.MixedPrecisionQuantizationConfig(bogus=1), "has no parameter 'bogus'"),
        (
            lambda: mct.core.MixedPrecisionQuantizationConfig(use_hessian_based_scores=1),
            "use_hessian_based_scores must be True or False, but is 1",
        ),
        (
            lambda: mct.core.MixedPrecisionQuantizationConfig(
                distance_weighting_method="EXP", use_hessian_based_scores=True
            ),
            "use_hessian_based_scores is the distance_weighting_method HESSIAN, and that is 'EXP'",
        ),
        (
            lambda: mct.core.MixedPrecisionQuantizationConfig(metric_epsilon=1e-3),
            "metric_epsilon belongs to the search of MCT",
        ),
        (lambda: mct.core.CoreConfig(3), "quantization_config must be a "),
        (lambda: mct.core.CoreConfig(mixed_precision_config=3), "mixed_precision_config must be a Mixed"),
        (lambda: mct.core.CoreConfig(bit_width_config=3), "bit_width_config must be a BitWidthConfig"),
        (lambda: mct.core.CoreConfig(debug_config=3), "debug_config must be a DebugConfig, but is 3"),
        (lambda: mct.core.NodeTypeFilter("torch.pixel_shuffle"), "cannot be told from other layers by the ops"),
        (lambda: mct.core.NodeNameFilter('a"b'), "a rule cannot name 'a\"b'"),
        (
            lambda: mct.core.BitWidthConfig().set_manual_activation_bit_width(3, 8),
            "'int' object is not iterable",
        ),
        (
            lambda: mct.core.BitWidthConfig().set_manual_activation_bit_width([3], 8),
            "filter #0 must be a NodeNameFilter",
        ),
        (
            lambda: mct.core.BitWidthConfig().set_manual_activation_bit_width(mct.core.NodeNameFilter("a"), [8, 4]),
            "there are 1 filters, but 2 bit widths",
        ),
    ],
)
def test_bad_configuration(make, message):
    with pytest.raises((tp.TargetError, TypeError), match=message):
        make()


def test_resources_become_a_budget():
    unlimited = mct.core.ResourceUtilization()
    assert unlimited.to_budget() == "" and not unlimited.is_any_restricted()
    limited = mct.core.ResourceUtilization(activation_memory=10.9, total_memory=20)
    assert limited.to_budget() == "activations:10,total:20" and limited.is_any_restricted()
    assert repr(limited) == (
        "ResourceUtilization(weights_memory=inf, activation_memory=10.9, total_memory=20, bops=inf)"
    )
    assert limited != unlimited and "z_threshold=inf" in repr(mct.core.QuantizationConfig())


@pytest.mark.parametrize(
    ("layer", "pattern"),
    [
        ("torch.nn.Linear", '[#tpc.subgraph<"fully_connected">]'),
        ("Dense", '[#tpc.subgraph<"fully_connected">]'),
        ("Softmax", '[#tpc.subgraph<"softmax">, #tpc.op<"linalg.softmax">]'),
        ("torch.nn.Hardswish", '[#tpc.subgraph<"hard_swish">]'),
        ("BatchNorm2d", '[#tpc.subgraph<"batch_norm">]'),
        (
            "ReLU",
            '[#tpc.op<"tosa.clamp" where min_val eq 0.0 : f32 and max_val ge 3.40282347E+38 : f32>, '
            '#tpc.subgraph<"relu">]',
        ),
    ],
)
def test_types_of_layers_are_patterns(layer, pattern):
    assert mct.core.NodeTypeFilter(layer).selectors == (f"?pattern {pattern}",)


def test_bits_by_type_are_those_of_that_type_alone():
    prepared = mct.attach_target(mct.prepare(mct.load(DIGITS)), "imx500")

    def narrow(layer):
        chosen = mct.core.BitWidthConfig()
        chosen.set_manual_weights_bit_width(mct.core.NodeTypeFilter(layer), 4, "kernel")
        points = mct.insert_quantizers(prepared, overrides=chosen.rules).points
        return [point.name.split("/")[0] for point in points if point.weight and "bits = 4" in point.config]

    # The dense layer of the head is a convolution, too, but a filter for convolutions does not match it.
    assert narrow("Conv2D") == ["stem", "block", "reduce"] and narrow("Dense") == ["head"]
    assert narrow("DepthwiseConv2D") == ["block"] and narrow("torch.nn.Linear") == ["head"]
    # Torch has one layer for both.
    assert narrow("torch.nn.Conv2d") == ["stem", "block", "block", "reduce"]
    assert narrow("Softmax") == []


def test_bits_by_hand_are_rules(tools, tmp_path):
    bits = mct.core.BitWidthConfig()
    bits.set_manual_weights_bit_width(mct.core.NodeTypeFilter("Conv2D"), 4, "kernel")
    bits.set_manual_activation_bit_width([mct.core.NodeNameScopeFilter("conv"), mct.core.NodeNameFilter("a*")], [8, 16])
    assert bits.rules == [
        '?pattern [#tpc.op<"tosa.conv2d">, #tpc.op<"linalg.conv_2d_nhwc_fhwc">, #tpc.op<"linalg.conv_2d_nhwc_hwcf">, '
        '#tpc.op<"linalg.conv_2d_nchw_fchw">] weights.kernel_attr=4',
        'name "*conv*" activation=8',
        'name "a\\*" activation=16',
    ]
    rules, output = tmp_path / "bits.rules", tmp_path / "out.mlir"
    rules.write_text(bits.rules[0])
    data = measure.DIGITS
    options = {"overrides": rules, "target": "imx500"}
    measure.run_ok(measure.ptq_command(data / "digits.mlirbc", data / "digits_calib.npy", output, **options))
    assert "#tpc.symmetric<threshold" in output.read_text() and "bits = 4" in output.read_text()


# ----------------------------------------------------------------------------------------------------------------------
# Trainable quantizers, QuantizeConfig
# ----------------------------------------------------------------------------------------------------------------------


def parse_point(tools, tmp_path, parameters, kind='weight "kernel_attr"'):
    """Returns whether the dialect takes the parameters, and writes them as they are."""
    source = tmp_path / "point.mlir"
    source.write_text(
        "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
        f'  %0 = tpc.quantize %x as "a" {kind} parameters({parameters}) : tensor<4xf32>\n'
        "  return %0 : tensor<4xf32>\n}\n"
    )
    return measure.run_ok([tools / "mct-opt", source]).stdout


def test_trainable_configs_as_their_page_shows(tools, tmp_path):
    threshold, min_threshold = infrastructure.THRESHOLD, infrastructure.MIN_THRESHOLD
    weights = infrastructure.TrainableQuantizerWeightsConfig(
        weights_quantization_method=mct.QuantizationMethod.SYMMETRIC,
        weights_n_bits=8,
        weights_quantization_params={threshold: 2.0},
        enable_weights_quantization=True,
        weights_channels_axis=3,
        weights_per_channel_threshold=True,
        min_threshold=min_threshold,
    )
    assert "#tpc.symmetric<threshold = [2.000000e+00], bits = 8>" in parse_point(tools, tmp_path, weights.to_mlir())
    assert weights.weights_channels_axis == 3 and weights.weights_quantization_candidates is None
    low, high = infrastructure.RANGE_MIN, infrastructure.RANGE_MAX
    activation = infrastructure.TrainableQuantizerActivationConfig(
        activation_quantization_method=mct.QuantizationMethod.UNIFORM,
        activation_n_bits=8,
        activation_quantization_params={low: -1.0, high: 1.55},
        enable_activation_quantization=True,
        min_threshold=min_threshold,
    )
    text = parse_point(tools, tmp_path, activation.to_mlir(), "activation")
    assert "#tpc.uniform<scale = [0.0099999" in text and "zero_point = [100], bits = 8>" in text
    # The page's own parameters, which are not those of a range.
    shown = infrastructure.TrainableQuantizerActivationConfig(
        activation_quantization_method=mct.QuantizationMethod.UNIFORM,
        activation_n_bits=8,
        activation_quantization_params={threshold: 2.0},
        enable_activation_quantization=True,
        min_threshold=min_threshold,
    )
    with pytest.raises(tp.TargetError, match="a quantizer of method UNIFORM needs the parameter 'range_min'"):
        shown.to_mlir()
    power = infrastructure.TrainableQuantizerActivationConfig(
        mct.QuantizationMethod.POWER_OF_TWO, 4, {threshold: np.float32([3.0]), "is_signed": False}, True, min_threshold
    )
    text = parse_point(tools, tmp_path, power.to_mlir(), "activation")
    assert "#tpc.power_of_two<threshold = [4.000000e+00], bits = 4, is_signed = false>" in text
    table = infrastructure.TrainableQuantizerWeightsConfig(
        mct.QuantizationMethod.LUT_SYM_QUANTIZER,
        2,
        {threshold: 1.5, "lut_values": [0, -90, 64, -20]},
        True,
        0,
        False,
        0.5,
    )
    assert "table = [-90, -20, 0, 64], bits = 2" in parse_point(tools, tmp_path, table.to_mlir())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (3, "activation_quantization_params must be a dictionary, but is 3"),
        ({}, "a quantizer of method SYMMETRIC needs the parameter 'threshold'"),
        ({"threshold": "a"}, "threshold must be numbers, but is 'a'"),
    ],
)
def test_bad_trainable_config(parameters, message):
    kind = infrastructure.TrainableQuantizerActivationConfig
    with pytest.raises(tp.TargetError, match=message):
        kind(mct.QuantizationMethod.SYMMETRIC, 8, parameters, True, 2**-16).to_mlir()
    with pytest.raises(tp.TargetError, match="min_threshold must be a number from 0 on, but is -1"):
        kind(mct.QuantizationMethod.SYMMETRIC, 8, {}, True, -1)
    # Zero is MCT's word for no least threshold.
    with pytest.raises(tp.TargetError, match=r"a threshold must be above 0, but is 0\.0; give a min_threshold"):
        kind(mct.QuantizationMethod.SYMMETRIC, 8, {"threshold": [0.0]}, True, 0).to_mlir()
    assert "2.5" in kind(mct.QuantizationMethod.SYMMETRIC, 8, {"threshold": [2.5]}, True, 0).to_mlir()
    with pytest.raises(tp.TargetError, match=r"the range from 0.0 to 0.0 is empty"):
        kind(mct.QuantizationMethod.UNIFORM, 8, {"range_min": 0, "range_max": 0}, True, 1).to_mlir()


class MyDenseQuantizeConfig(quantize_config.QuantizeConfig):
    """As the page shows it."""

    def get_weights_and_quantizers(self, layer):
        return [(layer.kernel, quantize_config.LastValueQuantizer())]

    def get_activations_and_quantizers(self, layer):
        return [(layer.activation, quantize_config.MovingAverageQuantizer())]

    def set_quantize_weights(self, layer, quantize_weights):
        layer.kernel = quantize_weights[0]

    def set_quantize_activations(self, layer, quantize_activations):
        layer.activation = quantize_activations[0]

    def get_output_quantizers(self, layer):
        return []

    def get_config(self):
        return {}


def test_quantize_config_as_its_page_shows(attach):
    config = MyDenseQuantizeConfig()
    op_config = config.to_op_config()
    assert (
        op_config.activation_quantization_method is tp.QuantizationMethod.UNIFORM and op_config.activation_n_bits == 8
    )
    kernel = op_config.attr_weights_configs_mapping[tp.KERNEL_ATTR]
    assert (kernel.weights_n_bits, kernel.enable_weights_quantization) == (8, True)
    default, _, _ = mct_scripts.imx500_op_configs()
    target = tp.TargetPlatformCapabilities(
        default_qco=tp.QuantizationConfigOptions([default]),
        operator_set=[tp.OperatorsSet("FullyConnected", config.to_options())],
    )
    assert "act_method = uniform, act_bits = 8" in attach(target.to_mlir())
    layer = quantize_config.StandInLayer("dense")
    config.set_quantize_weights(layer, ["kernel"])
    config.set_quantize_activations(layer, ["activation"])
    assert (layer.name, layer.kernel, layer.activation, config.get_config()) == ("dense", "kernel", "activation", {})
    with pytest.raises(TypeError, match="abstract"):
        quantize_config.QuantizeConfig()


def test_quantize_config_that_asks_for_nothing_leaves_floats():
    class Nothing(MyDenseQuantizeConfig):
        def get_weights_and_quantizers(self, layer):
            return []

        def get_activations_and_quantizers(self, layer):
            return []

    op_config = Nothing().to_op_config()
    assert not op_config.enable_activation_quantization and not op_config.attr_weights_configs_mapping


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"get_weights_and_quantizers": lambda s, layer: [3]},
            "must give pairs of a part of the layer and a quantizer",
        ),
        (
            {"get_weights_and_quantizers": lambda s, layer: [(layer.activation, quantize_config.LastValueQuantizer())]},
            "may name kernel and bias of a layer only",
        ),
        ({"get_output_quantizers": lambda s, layer: [3]}, "get_output_quantizers must give quantizers, but gives 3"),
        (
            {"get_output_quantizers": lambda s, layer: [quantize_config.AllValuesQuantizer(4)]},
            "the result of a layer has one quantizer, but several differ",
        ),
        (
            {"get_output_quantizers": lambda s, layer: [quantize_config.LastValueQuantizer(per_axis=True)]},
            "an activation has one grid",
        ),
    ],
)
def test_bad_quantize_config(methods, message):
    with pytest.raises(tp.TargetError, match=message):
        type("Bad", (MyDenseQuantizeConfig,), methods)().to_op_config()
    narrow = {"get_output_quantizers": lambda s, layer: [quantize_config.AllValuesQuantizer(8, narrow_range=True)]}
    narrow["get_activations_and_quantizers"] = lambda s, layer: []
    fixed = {**narrow, "get_output_quantizers": lambda s, layer: [quantize_config.FixedQuantizer(8, 0, 1)]}
    for methods in (narrow, fixed):
        with pytest.raises(tp.TargetError, match=r"a target cannot ask for .*; it knows ranges that are observed"):
            type("Bad", (MyDenseQuantizeConfig,), methods)().to_op_config()
