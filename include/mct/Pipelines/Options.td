// SPDX-License-Identifier: Apache-2.0
//
// The options of the pipelines: those of their passes, under the same names where only one pass has them, else under
// those of MCT's QuantizationConfig, and which passes there are.
#ifndef MCT_PIPELINES_OPTIONS_TD
#define MCT_PIPELINES_OPTIONS_TD

include "mct/BitWidths/Passes.td"
include "mct/Calibration/Passes.td"
include "mct/Corrections/Passes.td"
include "mct/Transforms/Passes.td"
include "tpc_dialect/Transforms/Passes.td"

class Mct_Switch<string varName, string arg, string default, string desc> : Option<varName, arg, "bool", default, desc>;

def TargetOptionGroup : Mct_OptionGroup<"The target.", "general", [Tpc_TargetOption]>;

def RemarksOptionGroup : Mct_OptionGroup<"Remarks of the passes.", "general", [Mct_RemarksOption]>;

def PointOptionGroup : Mct_OptionGroup<"Insertion of points.", "bit widths", [Mct_OverridesOption]>;

def KeepOptionGroup : Mct_OptionGroup<"Networks that are quantized already.", "general", [Mct_KeepPointsOption]>;

def DecodingOptionGroup : Mct_OptionGroup<"The part of a detector that decodes positions.", "preparation", [Mct_DecodingOption]>;

def WidthOptionGroup : Mct_OptionGroup<"Widths and operators that stay float, in short form.", "bit widths", Mct_WidthOptions>;

def EffortOptionGroup : Mct_OptionGroup<"Time that quantization may take.", "general", [
  Option<"effort", "effort", "::mct::Effort", /*default=*/"::mct::Effort::Default",
         "Preset of the options that determine the time; explicit options take precedence",
         "::mct::effortValues()">,
], /*copied=*/false>;

def CheckpointOptionGroup : Mct_OptionGroup<"Resumption of an interrupted run.", "general", [
  Option<"checkpoint", "checkpoint", "std::string", /*default=*/"",
         "Keep the module after each stage that runs the network in this folder, and resume from there; see "
         "mct-checkpoint">,
], /*copied=*/false>;

def SampleOptionGroup : Mct_OptionGroup<"The samples that the network is run on, and its function.", "calibration",
                                        Mct_SampleOptions>;

def StatisticsOptionGroup : Mct_OptionGroup<"Statistics from files, and their output file.", "calibration", Mct_StatisticsOptions>;

def PrepareOptionGroup : Mct_OptionGroup<"Rewrites before the points are inserted.", "preparation", [
  Mct_Switch<"linearCollapsing", "linear-collapsing", "true", "Merge a convolution and the 1x1 convolution after it">,
  Mct_Switch<"residualCollapsing", "residual-collapsing", "true", "Merge a convolution and the addition of its input">,
  Mct_Switch<"reluBoundToPowerOfTwo", "relu-bound-to-power-of-2", "false",
             "Scale layers so that bounded ReLUs get the bound 8">,
], /*copied=*/false>;

def EqualizationOptionGroup : Mct_OptionGroup<"Changes before the parameters are chosen.", "preparation", [
  Mct_Switch<"channelEqualization", "activation-channel-equalization", "false",
             "Equalize the ranges of the channels between two layers">,
  Mct_Switch<"residualEqualization", "residual-equalization", "true",
             "Scale the outlier channels of residual sums before a layer norm">,
  Mct_Switch<"rescaleParts", "rescale-parts", "true",
             "Rescale parts of concatenations to one range by powers of two">,
  Mct_Switch<"splitSharedGrids", "split-shared-grids", "true",
             "Remove common grids from concatenations and sliced layers of very different ranges">,
], /*copied=*/false>;

def SelectionOptionGroup : Mct_OptionGroup<"Selection of parameters, for activations and weights.", "selection", [
  Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption,
]>;

def ActivationOptionGroup : Mct_OptionGroup<"Selection of the parameters of activations.", "selection", [
  Mct_PipelineOption<"activationErrorMethod", "activation-error-method", Mct_ActivationErrorOption>,
  Mct_ZThresholdOption,
]>;

def WeightOptionGroup : Mct_OptionGroup<"Selection of the parameters of weights.", "selection", [
  Mct_PipelineOption<"weightsErrorMethod", "weights-error-method", Mct_WeightErrorOption>,
  Mct_PipelineOption<"weightsErrorTolerance", "weights-error-tolerance", Mct_ErrorToleranceOption>,
]>;

def CorrectionOptionGroup : Mct_OptionGroup<"Corrections that run.", "corrections", [
  Mct_Switch<"weightsSecondMoment", "weights-second-moment-correction", "true",
             "Restore the deviation of the outputs of layers">,
  Mct_Switch<"softmaxShift", "softmax-shift", "false", "Center the range of the operand of a softmax">,
  Mct_Switch<"inputScaling", "input-scaling", "false", "Scale the input so that it fills its threshold">,
  Mct_Switch<"concatThresholdUpdate", "concat-threshold-update", "false",
             "Give the operands of a concatenation its threshold">,
  Mct_Switch<"shiftNegative", "shift-negative-activation-correction", "true",
             "Shift activations with a short negative tail above zero">,
  Mct_Switch<"refineThresholds", "refine-thresholds", "false",
             "Choose thresholds of activations by the results of the network">,
  Mct_Switch<"roundWeights", "round-weights", "true",
             "Round weights of few bits jointly, instead of correcting deviations">,
  Mct_Switch<"weightsBias", "weights-bias-correction", "true", "Restore the mean of the outputs of layers">,
  Mct_Switch<"activationBias", "activation-bias-correction", "false",
             "Remove the mean error of activations from biases">,
], /*copied=*/false>;

def RoundingOptionGroup : Mct_OptionGroup<"Joint rounding of weights.", "corrections", [
  Mct_PipelineOption<"roundWeightsMaxBits", "round-weights-max-bits", Mct_MaxBitsOption>,
  Mct_PipelineOption<"roundWeightsMaxSamples", "round-weights-max-samples", Mct_RoundingSamplesOption>,
]>;

def SecondMomentOptionGroup : Mct_OptionGroup<"Correction of deviations.", "corrections", [
  Mct_PipelineOption<"secondMomentMaxBits", "second-moment-max-bits", Mct_MaxBitsOption>,
]>;

def ShiftNegativeOptionGroup : Mct_OptionGroup<"Shifts of negative tails.", "corrections", [
  Mct_PipelineOption<"shiftNegativeRatio", "shift-negative-ratio", Mct_ShiftRatioOption>,
  Mct_PipelineOption<"shiftNegativeThresholdRecalculation", "shift-negative-threshold-recalculation",
                     Mct_ThresholdRecalculationOption>,
  Mct_PipelineOption<"shiftNegativeParametersSearch", "shift-negative-params-search", Mct_ParameterSearchOption>,
]>;

def RefinementOptionGroup : Mct_OptionGroup<"Thresholds by the results of the network.", "corrections", [
  Mct_PipelineOption<"refineThresholdsMaxSamples", "refine-thresholds-max-samples", Mct_RefinementSamplesOption>,
]>;

def BiasOptionGroup : Mct_OptionGroup<"Correction of the biases of layers.", "corrections", [
  Mct_PipelineOption<"biasEstimate", "bias-estimate", Mct_BiasEstimateOption>,
  Mct_PipelineOption<"biasMaxSamples", "bias-max-samples", Mct_BiasSamplesOption>,
]>;

def JudgeOptionGroup : Mct_OptionGroup<"Judgement of corrections, which may be undone.", "corrections", [
  Mct_PipelineOption<"judgeCorrections", "judge-corrections", Mct_JudgeOption>,
]>;

def ActivationBiasOptionGroup : Mct_OptionGroup<"Removal of errors of activations from biases.", "corrections", [
  Mct_PipelineOption<"activationBiasThreshold", "activation-bias-correction-threshold", Mct_BiasErrorOption>,
]>;

def SensitivityOptionGroup : Mct_OptionGroup<"Measurement of the sensitivity to alternatives.", "bit widths", [
  Mct_PipelineOption<"sensitivityMetric", "sensitivity-metric", Mct_SensitivityMetricOption>,
  Mct_PipelineOption<"sensitivityMaxSamples", "sensitivity-max-samples", Mct_SensitivitySamplesOption>,
]>;

def ComparePointOptionGroup : Mct_OptionGroup<"Points inside the network that are compared for that.", "bit widths", [
  Mct_PipelineOption<"sensitivityComparePoints", "sensitivity-compare-points", Mct_ComparePointsOption>,
  Mct_PipelineOption<"sensitivityDistance", "sensitivity-distance", Mct_SensitivityDistanceOption>,
  Mct_PipelineOption<"sensitivityWeighting", "sensitivity-weighting", Mct_SensitivityWeightingOption>,
]>;

def BudgetOptionGroup : Mct_OptionGroup<"Limits for the choice of alternatives.", "bit widths", [
  Mct_BudgetOption, Mct_MaxLossOption, Mct_MaxDropOption, Mct_DropMetricOption, Mct_MinimizeOption, Mct_ValidationDataOption,
  Mct_ValidationLabelsOption, Mct_DeviceOption, Mct_CostTableOption, Mct_BitWidthsInOption, Mct_BitWidthsOutOption, Mct_RemeasureOption,
]>;

def ToleranceOptionGroup : Mct_OptionGroup<"Larger steps of kernels, among which bit widths are chosen.", "bit widths", [
  Mct_ErrorTolerancesOption,
], /*copied=*/false>;

def TrainingOptionGroup : Mct_OptionGroup<"Training of the network to reproduce the float network.", "training", [
  Option<"gptqEpochs", "gptq-epochs", "uint64_t", /*default=*/"0",
         "Train rounding, biases and thresholds on all samples this many times, as mct-gptq does; 0: not at all">,
], /*copied=*/false>;

//===----------------------------------------------------------------------===//
// Pipelines: mct-tblgen makes a struct of options of each
//===----------------------------------------------------------------------===//

def PrepareOptions : Mct_Pipeline<"mct-prepare", "Names and float-exact rewrites before quantization points", [
  Mct_Member<"prepare", PrepareOptionGroup>, Mct_Member<"decoding", DecodingOptionGroup>,
  Mct_Member<"remarks", RemarksOptionGroup>,
]>;

def CorrectOptions : Mct_Pipeline<"mct-correct",
    "Corrections of a module whose points have parameters: negative tails, moments and biases", [
  Mct_Member<"samples", SampleOptionGroup>, Mct_Member<"selection", SelectionOptionGroup>,
  Mct_Member<"activations", ActivationOptionGroup>, Mct_Member<"weights", WeightOptionGroup>,
  Mct_Member<"corrections", CorrectionOptionGroup>, Mct_Member<"rounding", RoundingOptionGroup>,
  Mct_Member<"secondMoment", SecondMomentOptionGroup>, Mct_Member<"shiftNegative", ShiftNegativeOptionGroup>,
  Mct_Member<"refinement", RefinementOptionGroup>,
  Mct_Member<"bias", BiasOptionGroup>, Mct_Member<"judge", JudgeOptionGroup>, Mct_Member<"activationBias", ActivationBiasOptionGroup>,
  Mct_Member<"training", TrainingOptionGroup>, Mct_Member<"checkpoint", CheckpointOptionGroup>,
  Mct_Member<"remarks", RemarksOptionGroup>,
]>;

/// Options of `mct-prepare` and of `mct-correct`, and those of the passes between them.
def PtqOptions : Mct_Pipeline<"mct-ptq",
    "Post-training quantization: attach a target, prepare, insert points, calibrate, choose parameters, correct", [
  Mct_Member<"target", TargetOptionGroup>, Mct_Member<"effort", EffortOptionGroup>,
  Mct_Member<"widths", WidthOptionGroup>, Mct_Member<"points", PointOptionGroup>, Mct_Member<"keep", KeepOptionGroup>,
  Mct_Member<"statistics", StatisticsOptionGroup>, Mct_Member<"prepare", PrepareOptionGroup>,
  Mct_Member<"decoding", DecodingOptionGroup>,
  Mct_Member<"equalization", EqualizationOptionGroup>, Mct_Member<"sensitivity", SensitivityOptionGroup>,
  Mct_Member<"comparePoints", ComparePointOptionGroup>, Mct_Member<"budget", BudgetOptionGroup>,
  Mct_Member<"tolerances", ToleranceOptionGroup>,
], [CorrectOptions]>;

#endif // MCT_PIPELINES_OPTIONS_TD
