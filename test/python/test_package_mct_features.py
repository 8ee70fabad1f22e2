# SPDX-License-Identifier: Apache-2.0
"""MCT's names beside its functions of quantization: rules of its network editor, exports, resources, reports."""

import json
import logging

import measure
import numpy as np
import pytest

mct = pytest.importorskip("mct", reason="the package is not built (tools/dev/build)")
tp = pytest.importorskip("mct.target_platform")

DIGITS = str(measure.DIGITS / "digits.mlirbc")
editor, exporter = mct.network_editor, mct.exporter
Method = tp.QuantizationMethod
PIXELS = np.load(measure.DIGITS / "digits_calib.npy")[:32].astype(np.float32) / 16


def samples():
    yield [PIXELS]


@pytest.fixture(scope="module")
def quantized():
    return mct.ptq.pytorch_post_training_quantization(DIGITS, samples)


def of(name):
    return mct.core.NodeNameFilter(name)


# ----------------------------------------------------------------------------------------------------------------------
# Network editor
# ----------------------------------------------------------------------------------------------------------------------


def test_actions_are_rules_of_overrides():
    dense = of("head/dense")
    rules = [
        editor.EditRule(dense, editor.ChangeCandidatesActivationQuantConfigAttr(activation_n_bits=16)),
        editor.EditRule(dense, editor.ChangeFinalActivationQuantConfigAttr(enable_activation_quantization=False)),
        editor.EditRule(dense, editor.ChangeCandidatesWeightsQuantConfigAttr("weight", weights_n_bits=4)),
        editor.EditRule(dense, editor.ChangeFinalWeightsQuantConfigAttr(enable_weights_quantization=False)),
        editor.EditRule(dense, editor.ChangeCandidatesActivationQuantizationMethod(Method.UNIFORM)),
        editor.EditRule(dense, editor.ChangeCandidatesWeightsQuantizationMethod("weight", Method.LUT_POT_QUANTIZER)),
        editor.EditRule(
            dense, editor.ChangeFinalWeightsQuantizationMethod(None, weights_quantization_method=Method.SYMMETRIC)
        ),
    ]
    assert mct.core.DebugConfig(network_editor=rules).rules == [
        'name "head/dense" activation=16',
        'name "head/dense" activation=float',
        'name "head/dense" weights.kernel_attr=4',
        'name "head/dense" weights=float',
        'name "head/dense" activation-method=uniform',
        'name "head/dense" weights-method.kernel_attr=lut_pot_quantizer',
        'name "head/dense" weights-method=symmetric',
    ]


def test_rules_change_the_network():
    rules = [
        editor.EditRule(of("head/dense"), editor.ChangeCandidatesWeightsQuantConfigAttr("kernel", weights_n_bits=4)),
        editor.EditRule(of("head/dense"), editor.ChangeFinalWeightsQuantizationMethod("kernel", Method.POWER_OF_TWO)),
        editor.EditRule(of("block/add"), editor.ChangeCandidatesActivationQuantConfigAttr(**{ENABLE: False})),
    ]
    config = mct.core.CoreConfig(debug_config=mct.core.DebugConfig(network_editor=rules))
    network, _ = mct.ptq.pytorch_post_training_quantization(DIGITS, samples, core_config=config)
    bits = {(point.name, point.weight): point.bits for point in network.points}
    assert bits["head/dense/kernel_attr", "kernel_attr"] == 4 and ("block/add", None) not in bits
    methods = {point.name: point.method for point in network.points if point.weight == "kernel_attr"}
    assert {name for name, method in methods.items() if method == "power_of_two"} == {"head/dense/kernel_attr"}
    # The target's own is a special case of nothing else.
    rule = editor.EditRule(of("head/dense"), editor.ChangeCandidatesActivationQuantizationMethod(Method.UNIFORM))
    with pytest.raises(mct.Error, match=r"cannot have the method 'uniform'; the target offers power_of_two here"):
        mct.ptq.pytorch_post_training_quantization(DIGITS, samples, network_editor=[rule])
    # MCT up to 1.8 has a parameter for the same.
    same, _ = mct.ptq.pytorch_post_training_quantization(DIGITS, samples, network_editor=rules)
    assert same.bytecode == network.bytecode


ENABLE = "enable_activation_quantization"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: editor.ChangeCandidatesActivationQuantConfigAttr(activation_error_method=1),
            "'activation_error_method' cannot be changed for one operator; known: activation_n_bits, enable_activation",
        ),
        (lambda: editor.ChangeCandidatesActivationQuantConfigAttr(), "needs activation_n_bits, or enable_activation"),
        (
            lambda: editor.ChangeCandidatesActivationQuantConfigAttr(activation_n_bits=0),
            "must be a positive integer, but is 0",
        ),
        (
            lambda: editor.ChangeCandidatesWeightsQuantConfigAttr(3, weights_n_bits=4),
            "attr_name must be the name of a weight, but is 3",
        ),
        (
            lambda: editor.ChangeCandidatesActivationQuantizationMethod("uniform"),
            "activation_quantization_method must be one of QuantizationMethod.POWER_OF_TWO, .*, but is 'uniform'",
        ),
        (
            lambda: editor.ChangeFinalWeightsQuantizationMethod("kernel"),
            "ChangeFinalWeightsQuantizationMethod: weights_quantization_method must be one of .*, but is None",
        ),
        (
            lambda: editor.ChangeCandidatesWeightsQuantizationMethod(3, tp.QuantizationMethod.UNIFORM),
            "attr_name must be the name of a weight, but is 3",
        ),
        (lambda: editor.ChangeQuantizationParamFunction(), "parameters are selected by activation_error_method"),
        (lambda: editor.EditRule(3, 4).to_rules(), "filter must be a NodeNameFilter or the like, but is 3"),
        (lambda: editor.EditRule(of("x"), 4).to_rules(), "action must be one of mct.core.network_editor, but is 4"),
        (lambda: mct.core.DebugConfig(network_editor=[3]), r"network_editor must be a list of EditRule, but is \[3\]"),
        (lambda: mct.core.DebugConfig(analyze_similarity=True), "QuantizedModel.compare and report tell the same"),
        (lambda: mct.core.DebugConfig(simulate_scheduler=True), "prints what Model.resources returns"),
    ],
)
def test_changes_that_cannot_be_made_say_what_does_the_same(make, message):
    with pytest.raises(tp.TargetError, match=message):
        make()


def test_bypass_returns_the_network_as_it_is():
    config = mct.core.CoreConfig(debug_config=mct.core.DebugConfig(bypass=True))
    network, information = mct.ptq.pytorch_post_training_quantization(DIGITS, samples, core_config=config)
    assert network.points == () and information.mixed_precision_cfg == {}
    assert np.array_equal(network.run(PIXELS), mct.load(DIGITS).run(PIXELS))


# ----------------------------------------------------------------------------------------------------------------------
# Resources
# ----------------------------------------------------------------------------------------------------------------------


def test_resources_before_and_after_bits_are_chosen(quantized):
    needed = mct.core.pytorch_resource_utilization_data(DIGITS, samples)
    assert needed == mct.core.keras_resource_utilization_data(DIGITS) == quantized[1].final_resource_utilization
    assert needed.total_memory == needed.weights_memory + needed.activation_memory
    limit = mct.core.ResourceUtilization(weights_memory=needed.weights_memory * 0.6)
    _, information = mct.ptq.pytorch_post_training_quantization(DIGITS, samples, limit)
    used = information.final_resource_utilization
    assert limit.is_satisfied_by(used) and not limit.is_satisfied_by(needed)
    assert used.activation_memory == needed.activation_memory and used.bops < needed.bops


def test_limits_as_text_and_by_resource():
    target = mct.core.RUTarget
    limits = mct.core.ResourceUtilization(activation_memory=5, bops=10)
    assert limits.get_summary_str(restricted=True) == "Activation memory: 5, BOPS: 10"
    everything = "Weights memory: inf, Activation memory: 5, Total memory: inf, BOPS: 10"
    assert limits.get_summary_str(restricted=False) == everything
    assert limits.get_restricted_targets() == {target.ACTIVATION, target.BOPS}
    assert limits.get_resource_utilization_dict()[target.TOTAL] == float("inf")
    is_restricted = (limits.weight_restricted(), limits.activation_restricted())
    assert (*is_restricted, limits.total_mem_restricted(), limits.bops_restricted()) == (False, True, False, True)
    assert not limits.holds_constraints({target.BOPS: 1}) and limits.holds_constraints(limits)
    with pytest.raises(tp.TargetError, match="ru must be a ResourceUtilization, but is 3"):
        limits.is_satisfied_by(3)


def test_enums_of_mixed_precision_are_taken():
    config = mct.core.MixedPrecisionQuantizationConfig(
        distance_weighting_method=mct.core.MpDistanceWeighting.LAST_LAYER,
        metric_normalization=mct.core.MpMetricNormalization.MAXBIT,
    )
    assert config.to_options()["sensitivity_weighting"] == "last-layer"
    with pytest.raises(tp.TargetError, match="metric_normalization belongs to the search of MCT"):
        mct.core.MixedPrecisionQuantizationConfig(metric_normalization=mct.core.MpMetricNormalization.MINBIT)
    assert (mct.core.ChannelAxis.NHWC.value, mct.core.ChannelAxis.NCHW.value) == (-1, 1)
    assert mct.core.QuantizationConfig() == mct.core.DEFAULTCONFIG
    assert mct.core.FrameworkInfo is mct.FrameworkInfo and mct.core.network_editor is editor


# ----------------------------------------------------------------------------------------------------------------------
# Exports
# ----------------------------------------------------------------------------------------------------------------------


def test_exports_are_those_of_exporters(quantized, tmp_path):
    network = quantized[0]
    exporter.pytorch_export_model(network, tmp_path / "a.onnx", samples)
    mct.exporters.export_onnx(network, tmp_path / "b.onnx")
    assert (tmp_path / "a.onnx").read_bytes() == (tmp_path / "b.onnx").read_bytes()
    fake = exporter.QuantizationFormat.FAKELY_QUANT
    exporter.pytorch_export_model(network, tmp_path / "c.onnx", quantization_format=fake, onnx_opset_version=21)
    simulated = mct.simulate_integers(network, rounding="half-even")
    simulated = mct.Model(simulated.module.run("func.func(mct-set-batch{size=0})"))
    mct.exporters.export_onnx(simulated, tmp_path / "d.onnx", profile="qdq")
    assert (tmp_path / "c.onnx").read_bytes() == (tmp_path / "d.onnx").read_bytes()


TFLITE, INT8 = exporter.KerasExportSerializationFormat.TFLITE, exporter.QuantizationFormat.INT8


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        ("pytorch", {"serialization_format": 0}, "there is no TorchScript; take PytorchExportSerializationFormat.ONNX"),
        ("pytorch", {"output_names": ["y"]}, "results have the names of the network"),
        ("pytorch", {"quantization_format": INT8}, "a file of codes is a .tflite"),
        ("pytorch", {"onnx_opset_version": 21}, "onnx_opset_version is of QuantizationFormat.FAKELY_QUANT"),
        ("keras", {}, "there is no .keras file of a compiled network"),
        ("keras", {"serialization_format": TFLITE}, "a .tflite has no operators of mct_quantizers; take Quant"),
    ],
)
def test_formats_that_are_not_there(quantized, tmp_path, function, options, message):
    with pytest.raises(tp.TargetError, match=message):
        getattr(exporter, f"{function}_export_model")(quantized[0], tmp_path / "x", **options)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(tp.TargetError, match="model must be a quantized model of mct, but is 3"):
        getattr(exporter, f"{function}_export_model")(3, tmp_path / "x", **options)


def test_tflite_by_the_name_of_keras(quantized, tmp_path):
    pytest.importorskip("tflite", reason='the extra "tflite" is not installed')
    assert exporter.keras_export_model(quantized[0], tmp_path / "a.tflite", None, TFLITE, INT8) == {}
    mct.exporters.export_tflite(quantized[0], tmp_path / "b.tflite")
    assert (tmp_path / "a.tflite").read_bytes() == (tmp_path / "b.tflite").read_bytes()


# ----------------------------------------------------------------------------------------------------------------------
# The wrapper, reports, messages, quantizers
# ----------------------------------------------------------------------------------------------------------------------


def test_wrapper_quantizes_and_exports(tmp_path, caplog):
    wrapper = mct.wrapper.MCTWrapper()
    path = tmp_path / "q.onnx"
    items = [["save_model_path", str(path)], ["weights_compression_ratio", 0.6], ["n_epochs", 3]]
    done, network = wrapper.quantize_and_export(DIGITS, samples, use_mixed_precision=True, param_items=items)
    assert done and path.read_bytes().startswith(b"\x08")
    assert "PTQ with mixed precision has no parameter 'n_epochs', which is left out; known: sdsp_version" in caplog.text
    needed = mct.core.pytorch_resource_utilization_data(DIGITS)
    totals = network.resources()["functions"][0]["totals"]
    assert totals["weights_bytes"] <= 0.6 * needed.weights_memory
    # The same object, for another method.
    trained = wrapper.quantize_and_export(
        DIGITS, samples, method="GPTQ", param_items=[["save_model_path", str(path)], ["n_epochs", 1]]
    )[1]
    assert "mct-gptq" in trained.pass_pipeline


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"framework": "jax"}, "framework must be 'pytorch' or 'tensorflow', but is 'jax'"),
        ({"method": "LQPTQ"}, "method must be 'PTQ' or 'GPTQ', but is 'LQPTQ'"),
        ({"use_mixed_precision": 1}, "use_mixed_precision must be True or False, but is 1"),
        ({"param_items": [3]}, "param_items must be pairs of a name and a value, but has 3"),
        ({"param_items": [["sdsp_version", "1"]]}, "SDSP version '1' is not known"),
    ],
)
def test_bad_arguments_of_the_wrapper(options, message):
    with pytest.raises(tp.TargetError, match=message):
        mct.wrapper.MCTWrapper().quantize_and_export(DIGITS, samples, **options)


def test_reports_of_xquant_are_comparisons(quantized, tmp_path):
    network = quantized[0]
    config = mct.xquant.XQuantConfig(tmp_path / "reports")
    document, diagnoses = mct.xquant.xquant_report_troubleshoot_pytorch_experimental(
        DIGITS, network, samples, samples, config
    )
    compared = network.compare(PIXELS)
    result = compared.results[0]
    assert document["output_metrics_repr"] == document["output_metrics_val"]
    assert document["output_metrics_val"][result.name] == {
        "cs": result.cosine,
        "sqnr_db": result.sqnr_db,
        "max_error": result.max_error,
    }
    assert list(document["intermediate_metrics_repr"]) == [point.name for point in compared.points]
    assert json.loads((tmp_path / "reports/quant_report.json").read_text()) == document
    assert json.loads((tmp_path / "reports/troubleshoot_report.json").read_text()) == diagnoses
    assert diagnoses == network.report(data=PIXELS).document["diagnoses"]
    # A network that was loaded does not know the float one.
    loaded = mct.Model.parse(network.bytecode)
    assert mct.xquant.xquant_report_keras_experimental(DIGITS, loaded, samples, samples, config) == document


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: mct.xquant.XQuantConfig(3), "report_dir must be a folder, but is 3"),
        (lambda: mct.xquant.XQuantConfig("x", {"mae": print}), "metric=function of Model.evaluate and Model.report"),
        (lambda: mct.xquant.XQuantConfig("x", threshold_degrade_layer_ratio=1), "belongs to the search of MCT for"),
        (lambda: mct.xquant.XQuantConfig("x", bogus=1), "XQuantConfig has no parameter 'bogus'; known: quantize_rep"),
        (lambda: report(config=3), "xquant_config must be a XQuantConfig, but is 3"),
        (lambda: report(network=3), "quantized_model must be a quantized model of mct, but is 3"),
    ],
)
def test_bad_arguments_of_reports(make, message):
    with pytest.raises(tp.TargetError, match=message):
        make()


def report(network=None, config=None):
    config = mct.xquant.XQuantConfig("x") if config is None else config
    return mct.xquant.xquant_report_pytorch_experimental(DIGITS, network, samples, samples, config)


def test_messages_go_to_a_folder(tmp_path):
    logger = logging.getLogger("mct")
    level, before = logger.level, list(logger.handlers)
    try:
        mct.set_log_folder(tmp_path / "first")
        mct.set_log_folder(tmp_path / "logs", logging.WARNING)
        logger.info("not this")
        logger.warning("but this")
        assert len(logger.handlers) == len(before) + 2
        assert (tmp_path / "logs/mct.log").read_text().endswith("WARNING but this\n")
        assert (tmp_path / "first/mct.log").read_text() == ""
    finally:
        for handler in set(logger.handlers) - set(before):
            logger.removeHandler(handler)
            handler.close()
        logger.setLevel(level)


def test_a_file_that_is_not_there_and_an_object_of_another_type():
    with pytest.raises(FileNotFoundError) as missing:
        mct.load("nothing.mlir")
    with pytest.raises(TypeError) as wrong:
        mct.load(3)
    assert isinstance(missing.value, mct.Error) and isinstance(wrong.value, mct.Error)
    with pytest.raises(FileNotFoundError, match=r"there is no file 'nothing\.json'"):
        tp.load_target_platform_capabilities("nothing.json")
    with pytest.raises(TypeError, match="a target is a TargetPlatformCapabilities or the path of one, not 3"):
        tp.load_target_platform_capabilities(3)


def test_targets_as_pydantic_calls_their_methods(tmp_path):
    target = mct.get_target_platform_capabilities("pytorch", "imx500", "v1_pot")
    assert target.version == "v1_pot" and mct.get_target_platform_capabilities("pytorch", "default").version == "v1"
    tp.export_target_platform_capabilities(target, tmp_path / "a/target.json")
    assert (tmp_path / "a/target.json").read_text() == target.model_dump_json(indent=4)
    assert json.loads(target.model_dump_json()) == json.loads(target.to_json())
    other = target.model_copy(update={"name": "other"})
    assert other.name == "other" and other.model_copy(update={"name": target.name}) == target
    with pytest.raises(tp.TargetError, match="has no parameter 'bogus'; known: default_qco"):
        target.model_copy(update={"bogus": 1})
    with pytest.raises(tp.TargetError, match="model_copy is of capabilities without a tp_model"):
        tp.TargetPlatformCapabilities(tp.TargetPlatformModel(target.default_qco)).model_copy()
    with pytest.raises(OSError, match="Failed to write to file"):
        tp.export_target_platform_capabilities(target, tmp_path / "a")
    unnamed = target.model_copy(update={"name": ""})
    assert mct.attach_target(mct.load(DIGITS), unnamed).explain("json")


def test_joined_sets_count_as_a_set():
    base = mct.get_target_platform_capabilities().default_qco
    model = tp.TargetPlatformModel(base)
    with model:
        both = tp.OperatorSetConcat(tp.OperatorsSet("Conv"), tp.OperatorsSet("Add"))
    assert len(model.operator_set) == 3 and model.is_opset_in_model("Conv_Add")
    assert model.get_config_options_by_operators_set("Conv_Add") is None
    assert [one.name for one in model.plain_sets] == ["Conv", "Add"]
    assert model.get_opset_by_name("Conv_Add") is both and "Conv_Add" not in model.to_mlir()


def test_layers_and_chains_of_capabilities_by_block():
    add, relu = tp.OperatorsSet(name="opA"), tp.OperatorsSet(name="opB")
    options = mct.get_target_platform_capabilities().default_qco
    target = tp.TargetPlatformCapabilities(
        default_qco=options, operator_set=(add, relu), fusing_patterns=[tp.Fusing(operator_groups=(add, relu))]
    )
    with tp.FrameworkQuantizationCapabilities(target) as capabilities:
        assert tp.get_current_tpc() is capabilities
        tp.OperationsSetToLayers("opA", ["tosa.add"])
        tp.OperationsSetToLayers("opB", ["torch.nn.ReLU", "torch.nn.ReLU6"])
    assert capabilities.get_layers_by_opset_name("opB") == capabilities.get_layers_by_opset(relu)
    assert capabilities.get_layers_by_opset_name("nothing") == []
    assert capabilities.get_fusing_patterns() == [
        {"fused_layer_pattern": ["tosa.add", layer], "fused_op_quantization_config": None}
        for layer in ("torch.nn.ReLU", "torch.nn.ReLU6")
    ]
    with pytest.raises(tp.TargetError, match="there are current capabilities inside of the 'with' block"):
        tp.get_current_tpc()


# ----------------------------------------------------------------------------------------------------------------------
# Trainable quantizers
# ----------------------------------------------------------------------------------------------------------------------


def activation(method, **parameters):
    infrastructure = mct.trainable_infrastructure
    return infrastructure.TrainableQuantizerActivationConfig(tp.QuantizationMethod[method], 8, parameters, True, 0)


def weight(method, **parameters):
    infrastructure = mct.trainable_infrastructure
    method = tp.QuantizationMethod[method]
    return infrastructure.TrainableQuantizerWeightsConfig(method, 4, parameters, True, 0, True, 0)


@pytest.mark.parametrize(
    ("kind", "config", "attribute", "becomes"),
    [
        (
            "STESymmetricActivationTrainableQuantizer",
            lambda: activation("POWER_OF_TWO", threshold=[1.0], is_signed=False),
            "#tpc.learned_threshold<bits = 8, is_signed = false, power_of_two = true, gradient = straight_through>",
            "ActivationPOTInferableQuantizer",
        ),
        (
            "LSQSymmetricActivationTrainableQuantizer",
            lambda: activation("SYMMETRIC", threshold=3, is_signed=True),
            "#tpc.learned_threshold<bits = 8>",
            "ActivationSymmetricInferableQuantizer",
        ),
        (
            "STEUniformActivationTrainableQuantizer",
            lambda: activation("UNIFORM", range_min=0, range_max=5),
            "#tpc.learned_range<bits = 8, gradient = straight_through>",
            "ActivationUniformInferableQuantizer",
        ),
        (
            "LSQUniformActivationTrainableQuantizer",
            lambda: activation("UNIFORM", range_min=-1, range_max=5),
            "#tpc.learned_range<bits = 8>",
            "ActivationUniformInferableQuantizer",
        ),
        (
            "LSQWeightQATQuantizer",
            lambda: weight("POWER_OF_TWO", threshold=[1.0, 2.0]),
            "#tpc.learned_threshold<bits = 4, power_of_two = true>",
            "WeightsPOTInferableQuantizer",
        ),
        (
            "LSQUniformWeightQATQuantizer",
            lambda: weight("UNIFORM", range_min=[-1.0, -2.0], range_max=[1.0, 1.0]),
            "#tpc.learned_range<bits = 4>",
            "WeightsUniformInferableQuantizer",
        ),
        (
            "STEWeightQATQuantizer",
            lambda: weight("SYMMETRIC", threshold=[1.5, 2.5]),
            "#tpc.straight_through<>",
            "WeightsSymmetricInferableQuantizer",
        ),
        (
            "STEUniformWeightQATQuantizer",
            lambda: weight("UNIFORM", range_min=[-1.0, -2.0], range_max=[1.0, 1.0]),
            "#tpc.straight_through<>",
            "WeightsUniformInferableQuantizer",
        ),
    ],
)
def test_trainable_quantizers_are_attributes_of_the_compiler(kind, config, attribute, becomes):
    infrastructure = mct.trainable_infrastructure
    quantizer_class = getattr(infrastructure, kind)
    quantizer = quantizer_class(config())
    assert quantizer.to_attribute() == attribute and type(quantizer.convert2inferable()).__name__ == becomes
    found = infrastructure.get_trainable_quantizer_class(
        quantizer.quantization_target,
        quantizer.identifier,
        quantizer.quantization_method[0],
        mct.trained_quantizers.BasePytorchQATTrainableQuantizer,
    )
    assert found is quantizer_class
    # Parameters that are kept are not variables to train.
    owner = infrastructure.VariableOwner()
    kept = quantizer_class(config(), freeze_quant_params=True)
    kept.initialize_quantization((5,), "x", owner)
    assert kept.to_attribute() == "#tpc.straight_through<>"
    assert owner.variables and not any(variable.trainable for variable in owner.variables.values())
    with pytest.raises(tp.TargetError, match=r"is computed by the compiler, .* convert2inferable\(\) gives"):
        quantizer(PIXELS, training=True)


def test_a_quantizer_of_a_script_goes_before_the_one_that_is_here():
    infrastructure = mct.trainable_infrastructure
    target, method = infrastructure.QuantizationTarget.Activation, tp.QuantizationMethod.UNIFORM
    lsq = infrastructure.TrainingMethod.LSQ

    @infrastructure.mark_quantizer(target, [method], lsq)
    class Own(mct.trained_quantizers.BasePytorchActivationTrainableQuantizer):
        pass

    base = mct.trained_quantizers.BasePytorchActivationTrainableQuantizer
    assert infrastructure.get_trainable_quantizer_class(target, lsq, method, base) is Own
    # Undo the change for later tests.
    Own.quantization_target = None


def test_a_network_is_trained_with_one():
    config = activation("SYMMETRIC", threshold=[4.0], is_signed=True)
    learned = mct.trainable_infrastructure.LSQSymmetricActivationTrainableQuantizer(config)

    class Learned(mct.quantize_config.NoOpQuantizeConfig):
        def get_output_quantizers(self, layer):
            return [learned]

    prepared = mct.prepare(mct.load(DIGITS))
    layers = mct.quantize_config.layers(prepared)
    convolution = next(layer for layer in layers.values() if layer.operator_set == "Conv")
    annotated = mct.quantize_config.quantize_annotate_layer(convolution, Learned())
    with mct.quantize_config.quantize_scope({"Learned": Learned}):
        text = mct.quantize_config.quantize_apply(annotated).text
    assert text.count("#tpc.learned_threshold<bits = 8>") == 1


def test_without_parameters_there_is_nothing_to_begin_with():
    quantizer = mct.trainable_infrastructure.STESymmetricActivationTrainableQuantizer(activation("SYMMETRIC"))
    with pytest.raises(tp.TargetError, match="the configuration has no parameter 'threshold' to begin with"):
        quantizer.initialize_quantization((5,), "x", mct.trainable_infrastructure.VariableOwner())


def test_a_holder_quantizes_as_a_network_does():
    holder = mct.trained_quantizers.ActivationQuantizationHolder(
        mct.quantizers.ActivationPOTInferableQuantizer(4, [2.0], signed=True)
    )
    values = np.array([[-3, -0.3], [0.3, 3]])
    assert np.array_equal(holder(values), [[-2, -0.25], [0.25, 1.75]])
    config = activation("POWER_OF_TWO", threshold=[2.0], is_signed=False)
    trained = mct.trainable_infrastructure.STESymmetricActivationTrainableQuantizer(config)
    # Steps of 2 / 256.
    assert np.array_equal(
        mct.trained_quantizers.ActivationQuantizationHolder(trained)(values), [[0, 0], [38 / 128, 255 / 128]]
    )
    with pytest.raises(
        tp.TargetError, match=r"takes a quantizer of mct\.quantizers or a BaseTrainableQuantizer, not 3"
    ):
        mct.trained_quantizers.ActivationQuantizationHolder(3)
    with pytest.raises(tp.TargetError, match=r"quantize takes a quantizer of mct\.quantizers, not 3"):
        mct.quantizers.quantize(3, values)
