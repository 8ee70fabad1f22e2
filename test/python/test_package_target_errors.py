# SPDX-License-Identifier: Apache-2.0
"""Descriptions of hardware in MCT's words, and files of them, that cannot be a target: each is one error."""

import json

import pytest

tp = pytest.importorskip("mct.target_platform", reason="the package is not built (tools/dev/build)")
mct_scripts = pytest.importorskip("mct_scripts")
small_targets = pytest.importorskip("small_targets")

TORCH = mct_scripts.TORCH
config, options, platform = small_targets.config, small_targets.options, small_targets.platform


A, B = tp.OperatorsSet("A"), tp.OperatorsSet("B")
FLAT = dict(
    weights_quantization_method=tp.QuantizationMethod.SYMMETRIC,
    weights_n_bits=8,
    weights_per_channel_threshold=True,
    enable_weights_quantization=True,
)


class Unheard(tp.AttributeFilter):
    """A filter that is none of ours."""

    def __init__(self, attr, value):
        pass


def linear(**changes):
    _, config, _ = mct_scripts.imx500_op_configs()
    return config.clone_and_edit(attr_to_edit={tp.KERNEL_ATTR: changes})


def own_weight():
    return linear().with_weights({"taps": tp.AttributeQuantizationConfig()})


def attached_own():
    model = tp.TargetPlatformModel(options(config()))
    with model:
        tp.OperatorsSet("Conv", options(own_weight()))
    with tp.TargetPlatformCapabilities(model):
        tp.OperationsSetToLayers("Conv", ["Conv2D"])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: tp.AttributeQuantizationConfig("symmetric"), "weights_quantization_method must be one of Quant"),
        (
            lambda: tp.AttributeQuantizationConfig(weights_n_bits=0),
            "weights_n_bits must be a positive integer, but is 0",
        ),
        (lambda: tp.AttributeQuantizationConfig(weights_n_bits=3.5), "must be a positive integer, but is 3.5"),
        (lambda: tp.AttributeQuantizationConfig(enable_weights_quantization=1), "must be True or False, but is 1"),
        (lambda: tp.AttributeQuantizationConfig(lut_values_bitwidth=-3), "lut_values_bitwidth must be a positive"),
        (lambda: tp.AttributeQuantizationConfig().clone_and_edit(bits=1), "has no parameter 'bits'; known: weights_q"),
        (lambda: tp.OpQuantizationConfig(), "needs default_weight_attr_config, attr_weights_configs_mapping"),
        (lambda: tp.OpQuantizationConfig(bogus=1), "has no parameter 'bogus'"),
        (lambda: tp.OpQuantizationConfig(*range(1, 14)), "takes 12 parameters, but got 13"),
        (lambda: tp.OpQuantizationConfig(None, default_weight_attr_config=1), "is given twice"),
        (lambda: tp.OpQuantizationConfig(weights_n_bits=8), "needs weights_quantization_method, weights_per_channel"),
        (lambda: config(activation_n_bits=-1), "activation_n_bits must be a positive integer"),
        (lambda: config(supported_input_activation_n_bits=[]), "must be a width or several of them, but is []"),
        (lambda: config(supported_input_activation_n_bits=8.5), "must be a width or several of them, but is 8.5"),
        (lambda: config(simd_size=0), "simd_size must be a positive integer"),
        (lambda: config(fixed_scale=0.5), "fixed_scale and fixed_zero_point must be given together"),
        (lambda: config(fixed_scale=-1.0, fixed_zero_point=0), "fixed_scale must be a positive number, but is -1.0"),
        (lambda: config(fixed_scale=1.0, fixed_zero_point=0.5), "fixed_zero_point must be an integer, but is 0.5"),
        (lambda: config(fixed_scale=1.0, fixed_zero_point=300), "fixed_zero_point 300 does not fit in 8 bits"),
        (lambda: config(signedness="no"), "signedness must be one of Signedness.AUTO"),
        (
            lambda: config(activation_quantization_method=tp.QuantizationMethod.LUT_SYM_QUANTIZER),
            "activations cannot be quantized by LUT_SYM_QUANTIZER",
        ),
        (lambda: config(attr_weights_configs_mapping={"a": 1}), "must be a AttributeQuantizationConfig, but is 1"),
        (lambda: config(attr_to_edit={"a": {}}), "has no weight 'a' to edit; known: none"),
        (lambda: tp.QuantizationConfigOptions(), "needs 'quantization_config_list' or 'quantization_configurations'"),
        (lambda: options(), "needs at least one OpQuantizationConfig"),
        (lambda: tp.QuantizationConfigOptions(3), "the alternatives must be a list"),
        (lambda: options(3), "alternative #0 must be a OpQuantizationConfig"),
        (lambda: options(config(), config(simd_size=1)), "needs base_config, for there are 2 alternatives"),
        (lambda: options(config(), base_config=config(simd_size=1)), "base_config must be one of the alternatives"),
        (
            lambda: options(config(), config(enable_activation_quantization=False), base_config=config()),
            "alternatives #0 and #1 disagree on whether the result is quantized",
        ),
        (lambda: tp.OperatorsSet(""), "the name must be a string that is not empty"),
        (lambda: tp.OperatorsSet("A", config()), "qc_options must be a QuantizationConfigOptions"),
        (lambda: tp.OperatorSetConcat(), "needs at least one OperatorsSet"),
        (lambda: tp.OperatorSetConcat(A, A), "names operator set 'A' twice"),
        (lambda: tp.OperatorSetConcat(tp.OperatorSetConcat(A, B)), "member #0 must be a OperatorsSet"),
        (lambda: tp.OperatorSetConcat(A, operators_set=[B]), "takes its members either way, not both"),
        (lambda: tp.Fusing([A]), "needs at least two operator groups, but got 1"),
        (lambda: tp.Fusing(A), "the operator groups must be a list"),
        (lambda: tp.Fusing([A, "B"]), "element #1 must be an OperatorsSet or a group, but is 'B'"),
        (lambda: tp.Fusing([A, B], operator_groups=[A, B]), "takes one of .*, not both"),
        (lambda: platform(A, A), "operator set 'A' is defined more than once"),
        (lambda: platform("A"), "operator set #0 must be an OperatorsSet, but is 'A'"),
        (
            lambda: platform(A, fusing_patterns=[tp.Fusing([A, B])]),
            "names operator set 'B', which the platform does not",
        ),
        (lambda: platform(A, fusing_patterns=[3]), "fusing pattern #0 must be a Fusing"),
        (lambda: platform(A, B, fusing_patterns=[tp.Fusing([A, B])] * 2), "fusing pattern name 'A_B' is used twice"),
        (
            lambda: platform(A, B, fusing_patterns=[tp.Fusing([tp.OperatorsSet("A", options(config())), B])]),
            "'A' of fusing pattern #0 has other options than the platform's",
        ),
        (lambda: platform(bogus=1), "has no parameter 'bogus'; known: default_qco"),
        (lambda: platform(operator_sets=1), "has no parameter 'operator_sets'"),
        (lambda: platform(version="1"), "'version' belongs to a tp_model"),
        (lambda: platform(name=3), "the name must be a string that is not empty, but is 3"),
        (lambda: platform(tpc_minor_version="1"), "tpc_minor_version must be an integer"),
        (lambda: platform(SCHEMA_VERSION=99), "schema version 99 is not known; known: 1, 2"),
        (lambda: platform(fusing_patterns=3), "fusing_patterns must be a list, but is 3"),
        (lambda: tp.TargetPlatformCapabilities(), "needs tp_model or default_qco"),
        (lambda: tp.TargetPlatformCapabilities(3), "tp_model must be a TargetPlatformModel, but is 3"),
        (lambda: tp.TargetPlatformModel(3), "default_qco must be a QuantizationConfigOptions, but is 3"),
        (
            lambda: tp.TargetPlatformModel(options(config(), config(simd_size=1), base_config=config())),
            "default_qco must have one alternative, but has 2",
        ),
        (lambda: tp.TargetPlatformModel(options(config())).append_component(3), "has no place for 3"),
        (lambda: mct_scripts.imx500_first().tp_model.__enter__(), "does not change once its block has closed"),
        (lambda: platform().__enter__(), "a 'with' block gives layers to a TargetPlatformModel"),
        (lambda: tp.OperationsSetToLayers("A", []), r"must stand inside 'with TargetPlatformCapabilities\(...\)'"),
        (lambda: tp.OperationsSetToLayers("A", 3), "layers must be a list, but are 3"),
        (lambda: tp.OperationsSetToLayers("A", [], attr_mapping=3), "attr_mapping must be a dictionary"),
        (
            lambda: tp.OperationsSetToLayers("A", [], attr_mapping={"a": 3}),
            r"attr_mapping\['a'\] must be a DefaultDict",
        ),
        (lambda: tp.OperationsSetToLayers("A", ["Con2D"]), "layer 'Con2D' is not known; did you mean 'Conv2D'"),
        (lambda: tp.OperationsSetToLayers("A", [object()]), "a layer must be a class, a function or a name"),
        (lambda: tp.OperationsToLayers(3), "OperationsToLayers takes a list, but got 3"),
        (lambda: tp.OperationsToLayers([3]), "OperationsToLayers has no place for 3"),
        (
            lambda: small_targets.target_of(A=TORCH["ReLU"], B=TORCH["ReLU"]),
            "layer ReLU is in more than one operator set",
        ),
        (
            lambda: small_targets.target_of(A=tp.LayerFilterParams(TORCH["Softmax"], dim=1)).to_mlir(),
            "attribute 'dim' of layer 'Softmax' cannot be told from the ops that it becomes; known: none",
        ),
        (lambda: tp.LayerFilterParams(TORCH["ReLU"], 3), "a condition must be a filter such as Eq, but is 3"),
        (lambda: tp.LayerFilterParams(tp.LayerFilterParams("ReLU")), "takes a layer, not filtered layers"),
        (lambda: tp.LayerFilterParams("Conv2D", tp.Greater("strides", 1)), "can be compared by Eq and NotEq only"),
        (lambda: tp.LayerFilterParams("Conv2D", kernel_size=(1, 2, 3)), "expected 2 sizes, but got"),
        (lambda: tp.LayerFilterParams("Conv2D", tp.Greater("kernel_size", (1, 1))), "can be compared by Eq and NotEq"),
        (
            lambda: tp.LayerFilterParams("Concatenate", axis=-1),
            "an axis can be asked for when it counts from the front",
        ),
        (
            lambda: tp.LayerFilterParams("tf.image.resize", tp.Greater("method", "a")),
            "a resizing can be compared by Eq",
        ),
        (lambda: tp.LayerFilterParams("tosa.add", a={}), "an op cannot be asked for {}"),
        (lambda: tp.LayerFilterParams("tosa.add", a=float("inf")), "inf cannot be written as a number"),
        (lambda: tp.Eq("a", 1) | 3, "a filter can be joined with another one only, not with 3"),
        (lambda: tp.AndAttributeFilter(tp.Eq("a", 1)), "joins at least two filters, but got 1"),
        (lambda: tp.DefaultDict(3), "known_dict must be a dictionary, but is 3"),
        (lambda: tp.FrameworkQuantizationCapabilities(3), "tpc must be a TargetPlatformCapabilities, but is 3"),
        (lambda: platform().to_json(schema=3), "schema version 3 is not known; known: 1, 2"),
        (lambda: platform(insert_preserving_quantizers=True).to_json(1), "cannot be said in schema version 1"),
        (lambda: tp.export_target_platform_capabilities(3, "x.json"), "can be exported, not 3"),
        (lambda: tp.DerivedTarget("imx500", default_qco=3), "default_qco must be a QuantizationConfigOptions"),
        (
            lambda: small_targets.target_of(
                A=tp.LayerFilterParams("tosa.custom", tp.Contains("operator_name", "a")),
                B="FakeQuant",
            ),
            "'operator_name contains' cannot be excluded from another operator set",
        ),
        (lambda: tp.LayerFilterParams("Conv2D", Unheard("a", 1)), "is not a condition on an op"),
        (
            lambda: small_targets.target_of(A=tp.LayerFilterParams("subgraph:softmax", axis=1)).to_mlir(),
            "attribute 'axis' of layer 'subgraph:softmax' cannot",
        ),
        (
            lambda: tp.OpQuantizationConfig(weights_multiplier_nbits=8, **FLAT),
            "weights_multiplier_nbits has never been",
        ),
        (
            lambda: options(linear()).clone_and_map_weights_attr_keys({tp.KERNEL_ATTR: tp.BIAS_ATTR}),
            "two weights are both renamed to 'bias_attr'",
        ),
        (
            lambda: options(linear(), linear(enable_weights_quantization=False), base_config=linear()),
            "whether 'kernel_attr'",
        ),
        (attached_own, "weight 'taps' of operator set 'Conv' is not known; give attr_mapping"),
    ],
)
def test_bad_description_is_an_error_at_construction(make, message):
    with pytest.raises(tp.TargetError, match=message.replace("[]", r"\[\]")) as caught:
        make()
    # Scripts for MCT catch these.
    assert isinstance(caught.value, ValueError) and isinstance(caught.value, AssertionError)


def test_weight_that_is_no_operand_is_an_error():
    def map_layers(*entries):
        with tp.TargetPlatformCapabilities(mct_scripts.imx500_first().tp_model):
            for entry in entries:
                tp.OperationsSetToLayers(*entry)

    both = {tp.KERNEL_ATTR: {"Conv2D": "kernel", "Dense": "bias"}}
    with pytest.raises(tp.TargetError, match="weight 'kernel_attr' of operator set 'Conv' stands for kernel and bias"):
        map_layers(("Conv", ["Conv2D", "Dense"], both))
    attached = tp.FrameworkQuantizationCapabilities(mct_scripts.imx500_second())
    with pytest.raises(tp.TargetError, match="'NoSuch' is not defined in the capabilities"), attached:
        tp.OperationsSetToLayers("NoSuch", [])
    with pytest.raises(tp.TargetError, match="TargetPlatformCapabilities 'imx500' does not change any more"):
        mct_scripts.imx500_first().__enter__()
    mapping = {tp.KERNEL_ATTR: {"tosa.add": "gamma"}}
    with pytest.raises(tp.TargetError, match=r"'gamma' of layer 'tosa.add' in operator set 'Conv' is not an operand"):
        map_layers(("Conv", ["tosa.add"], mapping))
    with pytest.raises(tp.TargetError, match="operator set 'NoSuch' is not defined in the target platform model"):
        map_layers(("NoSuch", []))
    with pytest.raises(tp.TargetError, match="operator set 'Conv' is mapped to layers more than once"):
        map_layers(("Conv", []), ("Conv", []))


def edited(change):
    document = json.loads(mct_scripts.imx500_second().to_json())
    change(document)
    return json.dumps(document)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "invalid JSON"),
        ("[]", r"expected an object, but got \[\]"),
        ("{}", "needs 'default_qco'"),
        (edited(lambda d: d.update(bogus=1)), "^bogus: unknown key; known: default_qco"),
        (edited(lambda d: d.update(SCHEMA_VERSION=7)), "^SCHEMA_VERSION: schema version 7 is not known"),
        (edited(lambda d: d.update(operator_set=3)), "^operator_set: expected a list, but got 3"),
        (edited(lambda d: d["operator_set"][3].update(name="")), r"^operator_set\[3\]: .*name must be a string"),
        (edited(lambda d: d["operator_set"][3].update(type="x")), r"^operator_set\[3\].type: expected 'OperatorsSet'"),
        (
            edited(lambda d: d["default_qco"]["quantization_configurations"][0].update(signedness="sometimes")),
            r"^default_qco.quantization_configurations\[0\]: .*signedness must be one of",
        ),
        (
            edited(lambda d: d["default_qco"]["base_config"].pop("signedness")),
            "^default_qco.base_config: needs 'signedness'",
        ),
        (
            edited(lambda d: d["default_qco"]["base_config"].update(supported_input_activation_n_bits=None)),
            "needs 'supported_input_activation_n_bits'",
        ),
        (
            edited(lambda d: d["default_qco"]["base_config"].update(attr_weights_configs_mapping=3)),
            "^default_qco.base_config.attr_weights_configs_mapping: expected an object",
        ),
    ],
)
def test_bad_json_is_told_with_its_place(tmp_path, text, message):
    with pytest.raises(tp.TargetError, match=message):
        tp.read_json(text)
    path = tmp_path / "bad.json"
    path.write_text(text)
    with pytest.raises(ValueError, match=r"bad\.json: "):
        tp.load_target_platform_capabilities(str(path))


def test_files_that_are_no_target(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no file"):
        tp.load_target_platform_capabilities(str(tmp_path / "missing.json"))
    with pytest.raises(TypeError, match="not 3"):
        tp.load_target_platform_capabilities(3)
    other = tmp_path / "target.txt"
    other.write_text("{}")
    with pytest.raises(ValueError, match=r"ends in \.json"):
        tp.load_target_platform_capabilities(other)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match="cannot be read"):
        tp.load_target_platform_capabilities(tmp_path / "binary.json")


def test_names_and_schema_one_of_json():
    text = edited(lambda d: d["default_qco"]["base_config"].update(activation_quantization_method="power_of_two"))
    assert tp.read_json(text) == mct_scripts.imx500_second()
    old = mct_scripts.imx500_second().to_json(schema=1)
    assert "fuse_op_quantization_config" not in old and tp.read_json(old) == mct_scripts.imx500_second()
