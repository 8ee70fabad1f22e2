# SPDX-License-Identifier: Apache-2.0
"""The public names of MCT 2.6.1, each with its counterpart, of which the page "Names of MCT" and its test are made."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["MCT_VERSION", "NAMES", "Name"]

# The release whose names these are; scripts may read `__version__`.
MCT_VERSION = "2.6.1"


@dataclass(frozen=True)
class Name:
    """A public name.

    here: the object that stands for it, `module:name`, or the module; "" where it has no meaning here.
    does: the sentence of the page; of a name without meaning, the words of its error: what does the same.
    """

    here: str
    does: str


_PRUNING = "mct does not prune; train a smaller network, or fit into memory by bits: mct.core.ResourceUtilization"
_GENERATION = (
    "mct makes no images; give a few dozen real samples (mct.images reads a folder), or any of the right statistics"
)
_KERAS_WRAPPER = (
    "a quantized network is a module of the compiler, without layers of Keras: QuantizedModel.points has bits and "
    "parameters, mct.exporters.export_parameters the integers"
)


def _same(module: str, names: str, does: str) -> dict[str, Name]:
    """Returns names that have the same path, which begins with `module`."""
    return {f"{module}.{name}": Name(f"mct.{module}:{name}", does) for name in names.split()}


def _none(module: str, names: str, instead: str) -> dict[str, Name]:
    return {f"{module}.{name}": Name("", instead) for name in names.split()}


NAMES: dict[str, Name] = {
    "__version__": Name("mct.compat:MCT_VERSION", "The version of MCT whose names these are; mct.__version__ is ours."),
    "DefaultDict": Name("mct.target_platform:DefaultDict", "The same: a value for every key that is not known."),
    "core": Name("mct.core", "The module with the names below `core`."),
    "data_generation": Name("mct.compat", "The module; its names are errors."),
    "exporter": Name("mct.exporter", "The module with the names below `exporter`."),
    "get_target_platform_capabilities": Name(
        "mct:get_target_platform_capabilities", "The stock target of a device and version, as an object."
    ),
    "get_target_platform_capabilities_sdsp": Name(
        "mct:get_target_platform_capabilities_sdsp", "The IMX500 for a version of Sony's converter."
    ),
    "gptq": Name("mct.gptq", "The module with the names below `gptq`."),
    "keras_load_quantized_model": Name("mct:load", "`mct.load`, of a model that was saved or exported."),
    "pruning": Name("mct.compat", "The module; its names are errors."),
    "ptq": Name("mct.ptq", "The module with the names below `ptq`."),
    "qat": Name("mct.qat", "The module with the names below `qat`."),
    "set_log_folder": Name("mct:set_log_folder", "Messages of mct go to a file in the folder, too."),
    "target_platform_capabilities": Name(
        "mct.target_platform_capabilities", "The module with the names below `target_platform_capabilities`."
    ),
    "trainable_infrastructure": Name("mct.trainable_infrastructure", "The module with names of trainable quantizers."),
    "wrapper": Name("mct.wrapper", "The module with the name below `wrapper`."),
    "xquant": Name("mct.xquant", "The module with the names below `xquant`."),
    # core
    "core.BitWidthConfig": Name("mct.core:BitWidthConfig", "Bits by hand, as rules of `overrides`."),
    "core.ChannelAxis": Name("mct.core:ChannelAxis", "The enum; a network has the layout of its source."),
    "core.CoreConfig": Name("mct.core:CoreConfig", "All settings of the quantization of a network."),
    "core.CustomOpsetLayers": Name("mct.core:CustomOpsetLayers", "The layers of an operator set of your own."),
    "core.DEFAULTCONFIG": Name("mct.core:DEFAULTCONFIG", "A `QuantizationConfig` with its defaults."),
    "core.DebugConfig": Name(
        "mct.core:DebugConfig", "`network_editor` and `bypass`; the two others are errors that name what does the same."
    ),
    "core.FrameworkInfo": Name("mct:FrameworkInfo", "`FrameworkInfo` of MCT 1.0, as a `tpc.framework`."),
    "core.MixedPrecisionQuantizationConfig": Name(
        "mct.core:MixedPrecisionQuantizationConfig", "How alternatives are compared; the choice itself is exact."
    ),
    "core.MpDistanceWeighting": Name("mct.core:MpDistanceWeighting", "The enum: option `sensitivity_weighting`."),
    "core.MpMetricNormalization": Name("mct.core:MpMetricNormalization", "The enum; its default alone is taken."),
    "core.QuantizationConfig": Name("mct.core:QuantizationConfig", "Options of `mct.quantize` by the names of MCT."),
    "core.QuantizationErrorMethod": Name(
        "mct.core:QuantizationErrorMethod", "The error that thresholds minimize: options `…_error_method`."
    ),
    "core.ResourceUtilization": Name("mct.core:ResourceUtilization", "Limits of resources: option `budget`."),
    "core.keras_resource_utilization_data": Name(
        "mct.mct_names:resource_utilization_data",
        "The resources at the target's own bits, as `Model.resources` counts.",
    ),
    "core.mixed_precision_quantization_config": Name("mct.core", "The module `mct.core`, which has its names."),
    "core.network_editor": Name("mct.network_editor", "The module with the names below `core.network_editor`."),
    "core.pytorch_resource_utilization_data": Name(
        "mct.mct_names:resource_utilization_data",
        "The resources at the target's own bits, as `Model.resources` counts.",
    ),
    "core.quantization_config": Name("mct.core", "The module `mct.core`, which has its names."),
    # core.network_editor
    "core.network_editor.EditRule": Name(
        "mct.network_editor:EditRule", "An action for operators: rules of `overrides`."
    ),
    "core.network_editor.NodeNameFilter": Name("mct.core:NodeNameFilter", "The operator of a name."),
    "core.network_editor.NodeNameScopeFilter": Name("mct.core:NodeNameScopeFilter", "Operators with a part of a name."),
    "core.network_editor.NodeTypeFilter": Name("mct.core:NodeTypeFilter", "The operators that a layer becomes."),
    **{
        f"core.network_editor.Change{part}": Name(f"mct.network_editor:Change{part}", does)
        for part, does in {
            "CandidatesActivationQuantConfigAttr": "Bits of results, or float: `activation=N`.",
            "FinalActivationQuantConfigAttr": "The same as for candidates: bits are decided before parameters.",
            "CandidatesWeightsQuantConfigAttr": "Bits of weights, or float: `weights=N`, `weights.kernel_attr=N`.",
            "FinalWeightsQuantConfigAttr": "The same as for candidates: bits are decided before parameters.",
            "CandidatesActivationQuantizationMethod": "A method of results that the target has: `activation-method=M`.",
            "CandidatesWeightsQuantizationMethod": "The same of weights: `weights-method.kernel_attr=M`.",
            "FinalWeightsQuantizationMethod": "The same as for candidates: methods are decided before parameters.",
            "QuantizationParamFunction": "Making one is an error that names `…_error_method`.",
        }.items()
    },
    # exporter
    "exporter.KerasExportSerializationFormat": Name(
        "mct.exporter:KerasExportSerializationFormat", "TFLITE; KERAS is an error that names what to take."
    ),
    "exporter.PytorchExportSerializationFormat": Name(
        "mct.exporter:PytorchExportSerializationFormat", "ONNX; TORCHSCRIPT is an error that names what to take."
    ),
    "exporter.QuantizationFormat": Name(
        "mct.exporter:QuantizationFormat", "MCTQ and FAKELY_QUANT of ONNX, INT8 of TFLITE."
    ),
    "exporter.keras_export_model": Name("mct.exporter:keras_export_model", "`mct.exporters.export_tflite`."),
    "exporter.pytorch_export_model": Name("mct.exporter:pytorch_export_model", "`mct.exporters.export_onnx`."),
    # gptq
    **_same("gptq", "GPTQHessianScoresConfig", "How layers count: options `hessian_…` of `mct.train_rounding`."),
    **_same("gptq", "GradientPTQConfig", "Options of `mct.train_rounding`."),
    **_same(
        "gptq",
        "GradualActivationQuantizationConfig QFractionLinearAnnealingConfig",
        "How the part of quantized activations grows: options `gradual_…`.",
    ),
    **_same("gptq", "RoundingType", "Option `rounding` of `mct.train_rounding`: soft, or perturbed (STE)."),
    **_same("gptq", "get_keras_gptq_config get_pytorch_gptq_config", "A configuration with what MCT recommends."),
    **_same(
        "gptq",
        "keras_gradient_post_training_quantization pytorch_gradient_post_training_quantization",
        "`mct.quantize`, and training of rounding without labels, `mct.train_rounding`.",
    ),
    # qat
    **_same("qat", "QATConfig", "Options of `mct.make_trainable`."),
    **_same(
        "qat",
        "keras_quantization_aware_training_init_experimental pytorch_quantization_aware_training_init_experimental",
        "`mct.quantize`, with points that `mct.train` trains.",
    ),
    **_same(
        "qat",
        "keras_quantization_aware_training_finalize_experimental "
        "pytorch_quantization_aware_training_finalize_experimental",
        "The network with ordinary points.",
    ),
    # ptq
    **_same(
        "ptq",
        "keras_post_training_quantization pytorch_post_training_quantization",
        "`mct.quantize(mct.load(model), target, data)`; `UserInformation` has `final_resource_utilization`.",
    ),
    # pruning
    **_none(
        "pruning",
        "ChannelsFilteringStrategy ImportanceMetric PruningConfig PruningInfo keras_pruning_experimental "
        "pytorch_pruning_experimental",
        _PRUNING,
    ),
    # xquant
    **_same("xquant", "XQuantConfig", "The folder that reports are written to."),
    **_same(
        "xquant",
        "xquant_report_keras_experimental xquant_report_pytorch_experimental",
        "`Model.compare` on two sets of samples, written as JSON.",
    ),
    **_same(
        "xquant", "xquant_report_troubleshoot_pytorch_experimental", "The same, and the diagnoses of `Model.report`."
    ),
    # data_generation
    **_none(
        "data_generation",
        "BNLayerWeightingType BatchNormAlignemntLossType DataGenerationConfig DataInitType ImageGranularity "
        "ImageNormalizationType ImagePipelineType OutputLossType SchedulerType get_keras_data_generation_config "
        "get_pytorch_data_generation_config keras_data_generation_experimental pytorch_data_generation_experimental",
        _GENERATION,
    ),
    # wrapper
    **_same("wrapper", "MCTWrapper", "Quantizes for the IMX500 and exports in one call; may be used again."),
    # target_platform_capabilities
    **{
        f"target_platform_capabilities.{name}": Name(f"mct.target_platform:{name}", does)
        for names, does in {
            "AttributeFilter": "Base of conditions on attributes.",
            "Eq Greater GreaterEq NotEq Smaller SmallerEq": "A condition on an attribute of a layer.",
            "AttributeQuantizationConfig": "How one weight may be quantized: `#tpc.attr_quant_config`.",
            "FrameworkQuantizationCapabilities": "A target with the layers of its sets: `tpc.binding`.",
            "Fusing": "A chain of operators that runs as one: `#tpc.fusing`.",
            "LayerFilterParams": "The layers of a kind whose attributes have given values.",
            "OpQuantizationConfig": "One way to run an operator: `#tpc.op_quant_config`.",
            "OperationsSetToLayers OperationsToLayers": "Layers of operator sets: `#tpc.ops_of`.",
            "OperatorSetGroup": "Sets that are interchangeable in a chain: `#tpc.operator_set_group`.",
            "OperatorSetNames": "The names of operator sets that need no layers.",
            "OperatorsSet": "Operators that share their options: `#tpc.operator_set`.",
            "QuantizationConfigOptions": "The alternatives of an operator: `#tpc.qc_options`.",
            "QuantizationMethod": "Families of grids.",
            "Signedness": "Signedness of the grid of a result.",
            "TargetPlatformCapabilities": "A target: `tpc.platform`.",
            "get_current_tpc": "The capabilities whose `with` block is open.",
        }.items()
        for name in names.split()
    },
    # trainable_infrastructure
    **_same(
        "trainable_infrastructure",
        "TrainableQuantizerActivationConfig TrainableQuantizerWeightsConfig",
        "The quantizer of one tensor, for those of your own.",
    ),
    **_same("trainable_infrastructure", "TrainingMethod", "STE or LSQ: options of `mct.make_trainable`."),
    **_same(
        "trainable_infrastructure",
        "BaseKerasTrainableQuantizer BasePytorchTrainableQuantizer",
        "Base of quantizers of your own, on arrays.",
    ),
    "trainable_infrastructure.KerasTrainableQuantizationWrapper": Name("", _KERAS_WRAPPER),
    "trainable_infrastructure.BasePytorchActivationTrainableQuantizer": Name(
        "mct.trained_quantizers:BasePytorchActivationTrainableQuantizer", "Base of the four that follow."
    ),
    **{
        f"trainable_infrastructure.{name}ActivationTrainableQuantizer": Name(
            f"mct.trained_quantizers:{name}ActivationTrainableQuantizer", does
        )
        for name, does in {
            "LSQSymmetric": "`#tpc.learned_threshold<…>`.",
            "LSQUniform": "`#tpc.learned_range<…>`.",
            "STESymmetric": "`#tpc.learned_threshold<…, gradient = straight_through>`.",
            "STEUniform": "`#tpc.learned_range<…, gradient = straight_through>`.",
        }.items()
    },
}
