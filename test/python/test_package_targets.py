# SPDX-License-Identifier: Apache-2.0
"""Hardware described in MCT's words becomes the target that the dialect has for it."""

import concurrent.futures
import copy
import enum
import json
import logging
import re
import threading

import measure
import pytest

tp = pytest.importorskip("mct.target_platform", reason="the package is not built (tools/dev/build)")
vocabulary = pytest.importorskip("mct.target_platform._vocabulary")
mct_scripts = pytest.importorskip("mct_scripts")
small_targets = pytest.importorskip("small_targets")

FUNCTIONS, KERAS, TORCH = mct_scripts.FUNCTIONS, mct_scripts.KERAS, mct_scripts.TORCH
TARGETS = measure.REPOSITORY / "tpc_dialect" / "targets"
# Targets that describe a chip.
STOCK = sorted(path.stem for path in TARGETS.glob("*.mlir") if path.stem not in ("tosa", "linalg"))


@pytest.fixture
def bound(attach):
    """Returns the operator sets in the binding of a target to TOSA."""

    def get(target):
        return dict(re.findall(r'#tpc\.ops_of<"(\w+)", \[(.*)\].*>', attach(target).split("_on_linalg")[0]))

    return get


# ----------------------------------------------------------------------------------------------------------------------
# Equal to the stock targets
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("script", "stock"),
    [
        (mct_scripts.imx500_first, "imx500_v1_0"),
        (mct_scripts.imx500_second, "imx500_v1_0"),
        (mct_scripts.tflite_first, "tflite_v1_mct"),
        (mct_scripts.tflite_second, "tflite_v1_mct"),
    ],
)
def test_scripts_of_mct_give_the_stock_targets(attach, script, stock):
    assert attach(script()) == attach(stock)


def test_a_set_that_is_matched_one_by_one_has_no_options(tools, tmp_path):
    path = tmp_path / "tflite.json"
    measure.run_ok([tools / "mct-translate", "--export-tpc-json", TARGETS / "tflite_v1.mlir", "-o", path])
    default = tp.load_target_platform_capabilities(str(path)).default_qco
    with pytest.raises(tp.TargetError, match="'Swish' is matched one by one and must have no options"):
        tp.OperatorsSet("Swish", default, one_by_one=True)
    assert '"one_by_one": true' in path.read_text()
    options = json.dumps(json.loads(path.read_text())["default_qco"])
    path.write_text(
        re.sub(r'("name": "Swish",\s*"qc_options": )null', lambda found: found[1] + options, path.read_text())
    )
    with pytest.raises(tp.TargetError, match="is matched one by one and must have no options"):
        tp.load_target_platform_capabilities(str(path))
    finished = measure.run([tools / "mct-translate", "--import-tpc-json", path, "-o", tmp_path / "target.mlir"])
    assert finished.returncode == 1 and "is matched one by one and must have no options" in finished.stderr


@pytest.mark.parametrize("stock", STOCK)
def test_json_of_mct_goes_in_and_out(tools, attach, tmp_path, stock):
    path = tmp_path / f"{stock}.json"
    measure.run_ok([tools / "mct-translate", "--export-tpc-json", TARGETS / f"{stock}.mlir", "-o", path])
    target = tp.load_target_platform_capabilities(str(path))
    assert attach(target) == attach(stock)
    copied = tmp_path / "folder" / "copy.json"
    tp.export_target_platform_capabilities(target, copied)
    assert copied.read_text() == path.read_text()
    assert tp.load_target_platform_capabilities(target) is target


@pytest.mark.parametrize("ir", ["tosa", "linalg"])
def test_vocabulary_is_that_of_the_stock_bindings(tools, tmp_path, ir):
    stock = (TARGETS / f"{ir}.mlir").read_text().split("tpc.framework")[0]
    lines = []
    for name, entry in getattr(vocabulary, ir.upper()).items():
        weights = ", ".join(f"{weight} = {operand}" for weight, operand in entry.weights)
        patterns = ", ".join(map(str, entry.patterns))
        lines.append(f'#tpc.ops_of<"{name}", [{patterns}]{f", weights = {{{weights}}}" if weights else ""}>')
    ours = tmp_path / "ours.mlir"
    ours.write_text(f"tpc.binding @on_{ir} [{', '.join(lines)}]")
    theirs = tmp_path / "theirs.mlir"
    theirs.write_text(stock)
    assert measure.run_ok([tools / "mct-opt", ours]).stdout == measure.run_ok([tools / "mct-opt", theirs]).stdout


def test_names_of_operator_sets_are_those_of_the_stock_binding():
    assert sorted(tp.OperatorSetNames.get_values()) == sorted(vocabulary.TOSA)
    assert "Conv" in tp.OperatorSetNames and "Convolution" not in tp.OperatorSetNames


def test_flat_configs_quantize_kernels_only(attach):
    text = attach(mct_scripts.imx500_flat())
    # An operator without a kernel has the default without weights, so that there is no rule for a weight that it
    # lacks.
    options = dict(re.findall(r'#tpc\.operator_set<"(\w+)", options = (#\w+)>', text))
    assert options["Add"] == options["AnyReLU"] != options["Conv"] == options["FullyConnected"]
    assert len(re.findall("bits = 2, per_channel = true, enabled = true", text)) == 1


def test_target_works_in_the_pipeline(tools, tmp_path):
    target, stock, ours = tmp_path / "t.mlir", tmp_path / "stock.mlir", tmp_path / "ours.mlir"
    target.write_text(mct_scripts.imx500_first().to_mlir())
    data = measure.DIGITS
    for name, output in (("imx500", stock), (target, ours)):
        measure.run_ok(measure.ptq_command(data / "digits.mlirbc", data / "digits_calib.npy", output, target=name))
    assert ours.read_text() == stock.read_text()


def test_coarse_sets_quantize_as_the_stock_target(tools, tmp_path):
    target, stock, ours = tmp_path / "t.mlir", tmp_path / "stock.mlir", tmp_path / "ours.mlir"
    target.write_text(mct_scripts.imx500_coarse().to_mlir())
    data = measure.DIGITS
    for name, output in (("imx500", stock), (target, ours)):
        measure.run_ok(measure.ptq_command(data / "digits.mlirbc", data / "digits_calib.npy", output, target=name))

    def body(path):
        # Names of the sets stand in the target only.
        return path.read_text().split("func.func")[1]

    assert re.sub(r"#\w+", "#", body(ours)) == re.sub(r"#\w+", "#", body(stock))


def test_layers_that_become_one_op_are_told_apart_where_they_differ(bound):
    squeeze = bound(mct_scripts.tflite_coarse())["Squeeze"]
    assert squeeze == '#tpc.op<"tosa.reshape" where "$unit_axes" lt 0 : i64>'
    sets = bound(small_targets.target_of(A=["tf.squeeze", "tf.expand_dims"], B=["tf.reshape", "Flatten"]))
    assert sets["A"] == (
        '#tpc.op<"tosa.reshape" where "$unit_axes" lt 0 : i64>, #tpc.op<"tosa.reshape" where "$unit_axes" gt 0 : i64>'
    )
    assert sets["B"] == '#tpc.op<"tosa.reshape">, #tpc.op<"tosa.reshape" where "$rank" eq 2 : i64>'
    # In one set they are one op.
    assert bound(small_targets.target_of(A=["tf.squeeze", "Flatten"]))["A"] == '#tpc.op<"tosa.reshape">'


# ----------------------------------------------------------------------------------------------------------------------
# Layers and filters
# ----------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "layer",
    [
        "tosa.conv2d",
        "Conv2D",
        "torch.nn.Conv2d",
        "keras.layers.Conv2D",
        "tf.nn.conv2d",
        "CONV_2D",
        "onnx.Conv",
        tp.OperatorSetNames.CONV,
        TORCH["Conv2d"],
        KERAS["Conv2D"],
    ],
)
def test_layer_is_known_by_many_names(bound, layer):
    depthwise = tp.OperatorSetNames.DEPTHWISE_CONV
    assert bound(small_targets.target_of(Kernels=layer, Other=depthwise))["Kernels"] == '#tpc.op<"tosa.conv2d">'


def test_convolution_of_torch_is_depthwise_too_unless_another_set_is(bound):
    both = '#tpc.op<"tosa.conv2d">, #tpc.op<"tosa.depthwise_conv2d">'
    assert bound(small_targets.target_of(Kernels=TORCH["Conv2d"]))["Kernels"] == both
    split = bound(small_targets.target_of(Kernels=TORCH["Conv2d"], Other="DepthwiseConv2D"))
    assert split == {"Kernels": '#tpc.op<"tosa.conv2d">', "Other": '#tpc.op<"tosa.depthwise_conv2d">'}


def test_own_dialects_and_subgraphs_are_layers(bound):
    sets = bound(small_targets.target_of(Mine="mine.conv", Graph="subgraph:softmax"))
    assert sets == {"Mine": '#tpc.op<"mine.conv">', "Graph": '#tpc.subgraph<"softmax">'}


CLAMP = '#tpc.op<"tosa.clamp" where min_val eq 0.000000e+00 : f32 and '


@pytest.mark.parametrize(
    ("layer", "pattern"),
    [
        (
            tp.LayerFilterParams(KERAS["ReLU"], max_value=6),
            CLAMP + 'max_val eq 6.000000e+00 : f32>, #tpc.subgraph<"relu6">',
        ),
        (
            tp.LayerFilterParams(KERAS["ReLU"], tp.Eq("max_value", None)),
            CLAMP + 'max_val ge 3.40282347E+38 : f32>, #tpc.subgraph<"relu">',
        ),
        (
            tp.LayerFilterParams(KERAS["ReLU"], tp.Greater("max_value", 1) & tp.SmallerEq("max_value", 4)),
            CLAMP + "max_val ne 6.000000e+00 : f32 and max_val lt 3.40282347E+38 : f32 and "
            "max_val gt 1.000000e+00 : f32 and max_val le 4.000000e+00 : f32>",
        ),
        (
            tp.LayerFilterParams(TORCH["Hardtanh"], tp.NotEq("min_val", 0) & tp.GreaterEq("max_val", 1)),
            '#tpc.op<"tosa.clamp" where min_val ne 0.000000e+00 : f32 and max_val lt 3.40282347E+38 : f32 and '
            "max_val ge 1.000000e+00 : f32>",
        ),
        (
            tp.LayerFilterParams(TORCH["Conv2d"], kernel_size=(1, 1), groups=1),
            '#tpc.op<"tosa.conv2d" where "$kernel_h" eq 1 : i64 and "$kernel_w" eq 1 : i64>, '
            '#tpc.op<"tosa.depthwise_conv2d" where "$kernel_h" eq 1 : i64 and "$kernel_w" eq 1 : i64 and '
            '"$in_channels" eq 1 : i64>',
        ),
        (
            tp.LayerFilterParams(TORCH["Conv2d"], tp.Greater("groups", 1), stride=2),
            '#tpc.op<"tosa.depthwise_conv2d" where "$in_channels" gt 1 : i64 and stride eq array<i64: 2, 2>>',
        ),
        (
            tp.LayerFilterParams("Conv2D", tp.Smaller("filters", 16) | tp.Eq("kernel_size", 3)),
            '#tpc.op<"tosa.conv2d" where "$out_channels" lt 16 : i64 or "$kernel_h" eq 3 : i64 and '
            '"$kernel_w" eq 3 : i64>',
        ),
        (tp.LayerFilterParams(KERAS["Activation"], activation="tanh"), '#tpc.op<"tosa.tanh">'),
        (
            tp.LayerFilterParams(KERAS["Activation"], tp.Contains("activation", "hard_si")),
            '#tpc.subgraph<"hard_sigmoid">',
        ),
        (
            tp.LayerFilterParams(FUNCTIONS["normalize"], tp.Eq("p", 2) | tp.Eq("p", None)),
            '#tpc.subgraph<"l2_norm">',
        ),
        (
            tp.LayerFilterParams("torch.nn.functional.interpolate", mode="bilinear"),
            '#tpc.op<"tosa.resize" where mode eq #tosa.resize_mode<BILINEAR>>',
        ),
        (tp.LayerFilterParams("keras.layers.Concatenate", axis=3), '#tpc.op<"tosa.concat" where axis eq 3 : i64>'),
        (
            tp.LayerFilterParams("tosa.clamp", tp.Smaller("min_val", -1.5), max_val=2),
            '#tpc.op<"tosa.clamp" where min_val lt -1.500000e+00 : f32 and max_val eq 2 : i64>',
        ),
    ],
)
def test_filters_become_predicates(bound, layer, pattern):
    assert bound(small_targets.target_of(Filtered=layer))["Filtered"] == pattern


@pytest.mark.parametrize(
    ("layer", "attributes"),
    [
        ("torch.nn.Softmax", {"dim": 1}),
        ("LeakyReLU", {"alpha": 0.1}),
        ("Conv2D", {"activation": "relu"}),
        ("torch.nn.Linear", {"in_features": 3}),
        ("torch.cat", {"dim": 1}),
    ],
)
def test_filters_of_what_ops_do_not_tell_match_layers_and_make_no_target(layer, attributes):
    filtered = tp.LayerFilterParams(layer, **attributes)
    assert filtered.match(layer, attributes) and not filtered.match(layer, {})
    # A script may describe it, and ask for its layers; a network cannot be quantized for it.
    target = small_targets.target_of(A=filtered)
    assert target.get_layers_by_opset_name("A") == [filtered]
    with pytest.raises(tp.TargetError, match="cannot be told from the ops that it becomes"):
        target.to_mlir()


def test_a_name_without_framework_is_that_of_the_layer_with_the_attributes(bound):
    # "ReLU" alone is the operator set, which has no attributes.
    assert bound(small_targets.target_of(A=tp.LayerFilterParams("ReLU", max_value=6))) == bound(
        small_targets.target_of(A=tp.LayerFilterParams(KERAS["ReLU"], max_value=6))
    )


def test_fusing_patterns_may_have_equal_automatic_names():
    a, b, c = (tp.OperatorsSet(name) for name in ("Conv", "Add", "Tanh"))
    patterns = [tp.Fusing((a, tp.OperatorSetGroup(operators_set=[b, c]))), tp.Fusing((a, b, c))]
    assert patterns[0].name == patterns[1].name == "Conv_Add_Tanh"
    made = small_targets.platform(a, b, c, fusing_patterns=patterns)
    assert '#tpc.fusing<["Conv", #tpc.operator_set_group<["Add", "Tanh"]>]>' in made.to_mlir()
    assert tp.read_json(made.to_json()) == made
    # One that was given is another matter.
    with pytest.raises(tp.TargetError, match="fusing pattern name 'Conv_Add_Tanh' is used twice"):
        small_targets.platform(a, b, c, fusing_patterns=[patterns[1], tp.Fusing((a, b), name="Conv_Add_Tanh")])


def test_filter_goes_before_the_plain_layer_of_another_set(bound):
    bounded = tp.LayerFilterParams(TORCH["Hardtanh"], tp.Eq("max_val", 4), min_val=0)
    sets = bound(small_targets.target_of(Special=bounded, Other=TORCH["Hardtanh"]))
    assert sets["Special"].endswith("and max_val eq 4.000000e+00 : f32>")
    assert "max_val ne 4.000000e+00 : f32" in sets["Other"] and "max_val eq 4" not in sets["Other"]


def test_filters_match_as_those_of_mct():
    both = tp.Greater("a", 1) & tp.Smaller("a", 4)
    assert both.match({"a": 2}) and not both.match({"a": 4})
    either = tp.GreaterEq("a", 5) | tp.Eq("a", None)
    assert either.match({"a": 5}) and either.match({"a": None}) and not either.match({})
    # An attribute that the layer lacks is never as asked, and what cannot be compared is not either.
    assert not tp.NotEq("a", 1).match({}) and not tp.Greater("a", 1).match({"a": None})
    assert tp.Contains("name", "conv").match({"name": "conv_1"}) and not tp.Contains("name", "CONV").match(
        {"name": "conv"}
    )
    chained = (tp.Eq("a", 1) | tp.Eq("a", 2)) | tp.Eq("a", 3)
    assert chained.match({"a": 3}) and repr(chained) == "((a = 1 | a = 2) | a = 3)"
    layer = tp.LayerFilterParams(TORCH["Hardtanh"], tp.Greater("max_val", 2), min_val=0)
    assert layer.match(TORCH["Hardtanh"], {"max_val": 3, "min_val": 0})
    assert not layer.match(TORCH["Hardtanh"], {"max_val": 3}) and not layer.match(TORCH["ReLU"], {"min_val": 0})
    assert repr(layer) == "Hardtanh(min_val=0, max_val > 2)"
    assert layer == tp.LayerFilterParams(TORCH["Hardtanh"], tp.Greater("max_val", 2), min_val=0)
    assert layer != tp.LayerFilterParams("Clip", tp.Greater("max_val", 2), min_val=0)


def test_attribute_mapping_gives_operands(attach):
    default, linear, _ = mct_scripts.imx500_op_configs()
    weights = linear.attr_weights_configs_mapping
    own = linear.with_weights({"taps": weights[tp.KERNEL_ATTR], tp.BIAS_ATTR: weights[tp.BIAS_ATTR]})
    model = tp.TargetPlatformModel(tp.QuantizationConfigOptions([default]), name="t")
    with model:
        tp.OperatorsSet("Kernels", tp.QuantizationConfigOptions([own]))
    capabilities = tp.TargetPlatformCapabilities(model)
    with capabilities:
        mapping = {"taps": tp.DefaultDict({KERAS["DepthwiseConv2D"]: "depthwise_kernel"}, default_value="kernel")}
        tp.OperationsSetToLayers("Kernels", [KERAS["Conv2D"], KERAS["DepthwiseConv2D"]], attr_mapping=mapping)
    text = attach(capabilities)
    assert "weights = {bias_attr = 2 : i64, taps = 1 : i64}" in text


def test_custom_sets_have_the_layers_that_are_given(bound):
    default, _, _ = mct_scripts.imx500_op_configs()
    options = tp.QuantizationConfigOptions(quantization_configurations=[default])
    sets = [tp.OperatorsSet(name="Mine", qc_options=options), tp.OperatorsSet(name="Add"), tp.OperatorsSet(name="ReLU")]
    target = tp.TargetPlatformCapabilities(default_qco=options, operator_set=sets, name="t")
    layers = {"Mine": tp.CustomOpsetLayers(["mine.op"]), "ReLU": tp.CustomOpsetLayers(operators=[TORCH["ReLU6"]])}
    found = bound(tp.FrameworkQuantizationCapabilities(target, custom_opset_to_layer=layers))
    assert found["Mine"] == '#tpc.op<"mine.op">' and found["Add"] == '#tpc.op<"tosa.add">'
    assert "max_val eq 6" in found["ReLU"] and "max_val ge" not in found["ReLU"]
    with pytest.raises(tp.TargetError, match="'Mine' is not in OperatorSetNames and not mapped"):
        tp.FrameworkQuantizationCapabilities(target).to_mlir()
    # MCT's own way to give layers to all sets.
    attached = tp.FrameworkQuantizationCapabilities(target)
    with attached:
        tp.OperationsSetToLayers("Mine", ["tosa.exp"])
        tp.OperationsSetToLayers("Add", [TORCH["ReLU"]])
    assert list(bound(attached)) == ["Add", "Mine"]


# ----------------------------------------------------------------------------------------------------------------------
# Objects
# ----------------------------------------------------------------------------------------------------------------------


def test_defaults_are_those_of_the_page():
    weight = tp.AttributeQuantizationConfig()
    assert weight.weights_quantization_method is tp.QuantizationMethod.POWER_OF_TWO
    assert (weight.weights_n_bits, weight.weights_per_channel_threshold) == (tp.FLOAT_BITWIDTH, False)
    assert (weight.enable_weights_quantization, weight.lut_values_bitwidth) == (False, None)
    default, _, _ = mct_scripts.imx500_op_configs()
    options = tp.QuantizationConfigOptions([default])
    model = tp.TargetPlatformModel(options)
    assert (model.add_metadata, model.name, model.is_simd_padding) == (False, "default_tp_model", False)
    attached = tp.TargetPlatformCapabilities(model)
    assert (attached.capabilities_name, attached.version) == ("base", None)
    plain = tp.TargetPlatformCapabilities(default_qco=options)
    assert (plain.add_metadata, plain.name, plain.insert_preserving_quantizers) == (True, "default_tpc", False)
    assert [method.value for method in tp.QuantizationMethod] == [0, 1, 2, 3, 4]
    assert tp.QuantizationMethod.SYMMETRIC_UNIFORM is tp.QuantizationMethod.POWER_OF_TWO
    assert tp.Signedness.AUTO.value == 0 and tp.OperatorsSet("a").qc_options is None


def test_positional_parameters_are_in_the_order_of_the_page():
    weight = tp.AttributeQuantizationConfig(tp.QuantizationMethod.UNIFORM, 4, True, True, 8)
    method = tp.QuantizationMethod.SYMMETRIC
    config = tp.OpQuantizationConfig(weight, {}, method, 8, (8, 16), True, False, 0.5, 3, 64, True)
    assert config.get_info() == {
        "default_weight_attr_config": weight,
        "attr_weights_configs_mapping": {},
        "activation_quantization_method": method,
        "activation_n_bits": 8,
        "supported_input_activation_n_bits": (8, 16),
        "enable_activation_quantization": True,
        "quantization_preserving": False,
        "fixed_scale": 0.5,
        "fixed_zero_point": 3,
        "simd_size": 64,
        "signedness": tp.Signedness.SIGNED,
    }
    assert config.max_input_activation_n_bits == 16


def test_clones_differ_in_what_was_edited_only():
    _, linear, mixed = mct_scripts.imx500_op_configs()
    assert mixed[1].attr_weights_configs_mapping[tp.KERNEL_ATTR].weights_n_bits == 4
    assert mixed[1].attr_weights_configs_mapping[tp.BIAS_ATTR] == linear.attr_weights_configs_mapping[tp.BIAS_ATTR]
    assert linear.attr_weights_configs_mapping[tp.KERNEL_ATTR].weights_n_bits == 8
    options = tp.QuantizationConfigOptions(mixed, base_config=mixed[0])
    narrow = options.clone_and_edit(activation_n_bits=4)
    assert [config.activation_n_bits for config in narrow.quantization_configurations] == [4, 4, 4]
    assert narrow.base_config == narrow.quantization_configurations[0]
    # The other weights stay, which MCT 2.3 to 2.6 forget.
    per_tensor = options.clone_and_edit_weight_attribute([tp.KERNEL_ATTR], weights_per_channel_threshold=False)
    assert list(per_tensor.base_config.attr_weights_configs_mapping) == [tp.KERNEL_ATTR, tp.BIAS_ATTR]
    renamed = options.clone_and_map_weights_attr_keys({tp.KERNEL_ATTR: "weight"})
    assert list(renamed.base_config.attr_weights_configs_mapping) == ["weight", tp.BIAS_ATTR]
    assert copy.deepcopy(options) == options and options != narrow
    assert list(options.get_info()) == ["option_0", "option_1", "option_2"]


def test_platform_answers_questions():
    target = mct_scripts.imx500_second()
    assert target.get_config_options_by_operators_set("ReLU") == target.default_qco
    assert len(target.get_config_options_by_operators_set("Conv").quantization_configurations) == 3
    assert target.get_config_options_by_operators_set("NoSuch") == target.default_qco
    assert target.is_opset_in_model("Conv") and not target.is_opset_in_model("NoSuch")
    assert target.get_opset_by_name("NoSuch") is None
    assert target.get_default_op_quantization_config() == target.default_qco.base_config
    info = target.get_info()
    assert info["Model name"] == "imx500_tpc" and len(info["Operators sets"]) == 40
    layers = mct_scripts.imx500_first()
    assert layers.get_layers_by_opset_name("ReLU") == [TORCH["ReLU"], FUNCTIONS["relu"]]
    assert layers.get_layers_by_opset_name("NoSuch") == [] and layers.get_info()["Version"] == "v1"


def test_functions_ask_a_target_as_those_of_mct():
    functions = pytest.importorskip("mct.target_platform.schema_functions")
    target = mct_scripts.imx500_second()
    default = functions.get_default_op_quantization_config(target)
    assert functions.max_input_activation_n_bits(default) == 8 and functions.is_opset_in_model(target, "Conv")
    assert functions.get_config_options_by_operators_set(target, "ReLU") == target.default_qco
    assert functions.get_opset_by_name(target, "Conv") == target.get_opset_by_name("Conv")


def test_model_without_layers_is_a_target_too(attach):
    model = mct_scripts.imx500_first().tp_model
    assert attach(model) == attach("imx500") and model == mct_scripts.imx500_first().tp_model
    assert tp.load_target_platform_capabilities(model) == mct_scripts.imx500_second()
    with pytest.raises(tp.TargetError, match="the default options are those of a TargetPlatformModel"):
        tp.get_default_quantization_config_options()


def test_chains_of_layers_are_those_of_the_patterns():
    chains = mct_scripts.imx500_coarse().get_fusing_patterns()
    assert chains[0] == [TORCH["Conv2d"], TORCH["ReLU"]] and len(chains) == 106


def test_derived_target_says_what_differs(attach):
    default, linear, _ = mct_scripts.imx500_op_configs()
    target = tp.DerivedTarget(
        "imx500",
        name="mine",
        default_qco=tp.QuantizationConfigOptions([default.clone_and_edit(simd_size=16)]),
        linear_qco=tp.QuantizationConfigOptions([linear.clone_and_edit(simd_size=48)]),
        operator_set=[tp.OperatorsSet("MaxPool")],
    )
    text = attach(target)
    assert 'tpc.platform @mine type("imx500") version 1, 0' in text and "simd_size = 16" in text
    assert '#tpc.operator_set<"MaxPool">' in text and "simd_size = 48" in text


def test_what_is_said_of_a_kernel_that_an_operator_lacks_has_no_effect(attach):
    _, linear, _ = mct_scripts.imx500_op_configs()
    options = tp.QuantizationConfigOptions([linear])
    sets = [tp.OperatorsSet("Conv"), tp.OperatorsSet("Add", options), tp.OperatorsSet("ReLU")]
    plain = tp.TargetPlatformCapabilities(default_qco=options, operator_set=sets)
    given = tp.FrameworkQuantizationCapabilities(plain)
    for target in (plain, given):
        found = dict(re.findall(r'#tpc\.operator_set<"(\w+)"(?:, options = (#\w+))?>', attach(target)))
        assert found["Conv"] == "" and found["Add"] == found["ReLU"] != ""


def test_names_need_no_care(attach):
    default, _, _ = mct_scripts.imx500_op_configs()
    options = tp.QuantizationConfigOptions([default])
    sets = [tp.OperatorsSet('a "b" \\ ä'), tp.OperatorsSet("B")]
    group = tp.OperatorSetGroup(sets, name="any of them")
    fusing = tp.Fusing([group, sets[1]], name="both", fuse_op_quantization_config=default)
    target = tp.TargetPlatformCapabilities(
        default_qco=options,
        operator_set=sets,
        fusing_patterns=[fusing],
        name="4 my chip",
        insert_preserving_quantizers=True,
    )
    text = attach(target)
    assert 'tpc.platform @"4 my chip" metadata insert_preserving_quantizers default' in text
    assert 'name = "any of them"' in text and 'name = "both"' in text
    assert tp.read_json(target.to_json()) == target
    with pytest.raises(tp.TargetError, match="fuse_op_quantization_config cannot be said in schema version 1"):
        tp.TargetPlatformCapabilities(default_qco=options, operator_set=sets, fusing_patterns=[fusing]).to_json(
            schema=1
        )


def test_descriptions_are_short():
    default, _, _ = mct_scripts.imx500_op_configs()
    assert repr(default).startswith("OpQuantizationConfig(default_weight_attr_config=")
    assert repr(tp.QuantizationConfigOptions([default])).endswith(")")
    a = tp.OperatorsSet("a", tp.QuantizationConfigOptions([default]))
    assert (repr(a), repr(tp.OperatorSetConcat(a)), repr(tp.Fusing([a, a]))) == (
        "OperatorsSet('a', options)",
        "OperatorSetConcat('a')",
        "Fusing(a -> a)",
    )
    assert (tp.OperatorSetConcat(a).get_info(), tp.OperatorSetConcat(a).op_set_list) == (
        {"name": "a", "operators_set": ["a"]},
        [a],
    )
    assert len({a, tp.OperatorSetConcat(a), tp.Fusing([a, a])}) == 3 and tp.Fusing([a, a]).operator_groups_list == [
        a,
        a,
    ]
    assert repr(mct_scripts.imx500_second()) == "TargetPlatformCapabilities('imx500_tpc', 40 operator sets)"


def test_platform_is_shown(capsys):
    mct_scripts.imx500_second().show()
    assert "'Model name': 'imx500_tpc'" in capsys.readouterr().out


def test_patterns_contain_their_parts():
    a, b, c = (tp.OperatorsSet(name) for name in "abc")
    group = tp.OperatorSetConcat(b, c)
    assert group.name == "b_c" and tp.OperatorSetGroup(operators_set=[b, c]) == group
    chain = tp.Fusing([a, group, c])
    assert chain.name == "a_b_c_c" and chain.get_info() == {"a_b_c_c": "a -> b_c -> c"}
    assert chain.contains(tp.Fusing([a, b])) and chain.contains(tp.Fusing([group, c])) and chain.contains(chain)
    assert not chain.contains(tp.Fusing([a, c, b])) and not tp.Fusing([a, b]).contains(chain)


def test_enums_of_mct_itself_are_taken_by_name():
    # The codes have changed between versions.
    method = enum.Enum("QuantizationMethod", {"POWER_OF_TWO": 0, "SYMMETRIC": 3})
    assert tp.AttributeQuantizationConfig(method.SYMMETRIC).weights_quantization_method.value == 2
    assert tp.AttributeQuantizationConfig(2).weights_quantization_method is tp.QuantizationMethod.SYMMETRIC


def test_filters_of_other_kinds(bound):
    clamp = tp.LayerFilterParams("torch.nn.Hardtanh", tp.Greater("min_val", -2) & tp.NotEq("max_val", None))
    assert "min_val gt -2.000000e+00 : f32" in bound(small_targets.target_of(A=clamp))["A"]
    other = tp.LayerFilterParams("Conv2D", tp.NotEq("kernel_size", 3))
    assert '"$kernel_h" ne 3 : i64 or "$kernel_w" ne 3 : i64' in bound(small_targets.target_of(A=other))["A"]
    # Neither bilinear nor nearest is left of what the op can do.
    assert bound(small_targets.target_of(A=tp.LayerFilterParams("tf.image.resize", method="lanczos3")))["A"] == ""
    assert "nan_mode eq true" in bound(small_targets.target_of(A=tp.LayerFilterParams("mine.op", nan_mode=True)))["A"]
    assert hash(clamp) == hash(tp.LayerFilterParams("torch.nn.Hardtanh", *clamp.conditions))
    # Filters that are no numbers do not contradict each other.
    text = tp.LayerFilterParams("tosa.custom", tp.Eq("operator_name", "a") & tp.NotEq("operator_name", "b"))
    assert 'operator_name eq "a" and operator_name ne "b"' in bound(small_targets.target_of(A=text))["A"]


def test_format_of_export_is_no_part_of_a_target():
    model = tp.TargetPlatformModel(mct_scripts.imx500_second().default_qco)
    before = model.to_mlir()
    model.set_quantization_format(tp.QuantizationFormat.INT8)
    assert model.to_mlir() == before
    with pytest.raises(tp.TargetError, match=r"quantization_format must be one of Quant"):
        model.set_quantization_format("int8")


def test_layers_of_sets_are_collected():
    target = small_targets.target_of(A=[TORCH["ReLU"]], B=["tosa.add"])
    collected = tp.OperationsToLayers(op_sets_to_layers=target.op_sets_to_layers.op_sets_to_layers)
    a, b = tp.OperatorsSet("A"), tp.OperatorsSet("B")
    assert collected.get_layers_by_op(tp.OperatorSetConcat(a, b)) == [TORCH["ReLU"], "tosa.add"]
    more = tp.OperationsToLayers() + collected.op_sets_to_layers[1]
    assert repr(more.op_sets_to_layers) == "[OperationsSetToLayers('B', ['tosa.add'])]"
    default = tp.DefaultDict({"a": [1]}, default_value=[2])
    assert (default.get("a"), default.get("b")) == ([1], [2]) and list(default.keys()) == ["a"]
    default.get("b").append(3)
    assert default.get("b") == [2] and tp.DefaultDict().get("x") is None


def test_threads_describe_targets_of_their_own():
    together = threading.Barrier(2)

    def describe(name):
        default, _, _ = mct_scripts.imx500_op_configs()
        model = tp.TargetPlatformModel(tp.QuantizationConfigOptions([default]), name=name)
        with model:
            together.wait()
            tp.OperatorsSet(name)
            together.wait()
        return [operators.name for operators in model.operator_sets]

    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(describe, ["A", "B"])) == [["A"], ["B"]]


def test_set_without_layers_is_told(caplog):
    default, _, _ = mct_scripts.imx500_op_configs()
    model = tp.TargetPlatformModel(tp.QuantizationConfigOptions([default]))
    with model:
        tp.OperatorsSet("A")
        tp.OperatorsSet("B")
    with caplog.at_level(logging.WARNING, "mct"), tp.TargetPlatformCapabilities(model):
        tp.OperationsSetToLayers("A", ["tosa.add"])
    assert [record.getMessage() for record in caplog.records] == [
        "operator set 'B' is not mapped to layers; it will never apply"
    ]


def test_objects_do_not_change():
    target = mct_scripts.imx500_second()
    config = target.get_default_op_quantization_config()
    for change in (
        lambda: setattr(target, "name", "x"),
        lambda: setattr(config, "activation_n_bits", 4),
        lambda: setattr(target.default_qco, "base_config", config),
        lambda: setattr(target.operator_set[0], "name", "x"),
        lambda: setattr(target.fusing_patterns[0], "name", "x"),
        lambda: setattr(mct_scripts.imx500_first().tp_model, "name", "x"),
    ):
        with pytest.raises((tp.TargetError, AttributeError), match="not change"):
            change()
