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

def PointOptionGroup : Mct_OptionGroup<"Where points are put.", "bit widths", [Mct_OverridesOption]>;

def KeepOptionGroup : Mct_OptionGroup<"Networks that are quantized already.", "general", [Mct_KeepPointsOption]>;

def DecodingOptionGroup : Mct_OptionGroup<"The part of a detector that decodes places.", "preparation", [Mct_DecodingOption]>;

def WidthOptionGroup : Mct_OptionGroup<"Widths and what stays float, in a few words.", "bit widths", Mct_WidthOptions>;

def EffortOptionGroup : Mct_OptionGroup<"How much time quantization may take.", "general", [
  Option<"effort", "effort", "::mct::Effort", /*default=*/"::mct::Effort::Default",
         "Preset of the options that decide about the time; an option that is given goes before it",
         "::mct::effortValues()">,
], /*copied=*/false>;

def CheckpointOptionGroup : Mct_OptionGroup<"How a run goes on that was ended.", "general", [
  Option<"checkpoint", "checkpoint", "std::string", /*default=*/"",
         "Keep the module behind each stage that runs the network in this folder, and go on from there; see mct-checkpoint">,
], /*copied=*/false>;

def SampleOptionGroup : Mct_OptionGroup<"The samples that the network runs on, and which function that is.", "calibration",
                                        Mct_SampleOptions>;

def StatisticsOptionGroup : Mct_OptionGroup<"Statistics from files, and to one.", "calibration", Mct_StatisticsOptions>;

def PrepareOptionGroup : Mct_OptionGroup<"Rewrites before the points are inserted.", "preparation", [
  Mct_Switch<"linearCollapsing", "linear-collapsing", "true", "Join a convolution and the 1x1 convolution behind it">,
  Mct_Switch<"residualCollapsing", "residual-collapsing", "true", "Join a convolution and the addition of its input">,
  Mct_Switch<"reluBoundToPowerOfTwo", "relu-bound-to-power-of-2", "false",
             "Scale layers so that bounded ReLUs get the bound 8">,
], /*copied=*/false>;

def EqualizationOptionGroup : Mct_OptionGroup<"Changes before the parameters are chosen.", "preparation", [
  Mct_Switch<"channelEqualization", "activation-channel-equalization", "false",
             "Make the channels between two layers equally wide">,
  Mct_Switch<"residualEqualization", "residual-equalization", "true",
             "Scale the outlier channels of residual sums that a layer norm reads">,
  Mct_Switch<"rescaleParts", "rescale-parts", "true",
             "Bring parts of concatenations to one range by powers of two">,
  Mct_Switch<"splitSharedGrids", "split-shared-grids", "true",
             "Take common grids from concatenations and sliced layers of very different ranges">,
], /*copied=*/false>;

def SelectionOptionGroup : Mct_OptionGroup<"How parameters are chosen, of activations and of weights.", "selection", [
  Mct_LpNormOption, Mct_PercentileOption, Mct_MinThresholdOption,
]>;

def ActivationOptionGroup : Mct_OptionGroup<"How parameters of activations are chosen.", "selection", [
  Mct_PipelineOption<"activationErrorMethod", "activation-error-method", Mct_ActivationErrorOption>,
  Mct_ZThresholdOption,
]>;

def WeightOptionGroup : Mct_OptionGroup<"How parameters of weights are chosen.", "selection", [
  Mct_PipelineOption<"weightsErrorMethod", "weights-error-method", Mct_WeightErrorOption>,
  Mct_PipelineOption<"weightsErrorTolerance", "weights-error-tolerance", Mct_ErrorToleranceOption>,
]>;

def CorrectionOptionGroup : Mct_OptionGroup<"Which corrections run.", "corrections", [
  Mct_Switch<"weightsSecondMoment", "weights-second-moment-correction", "true",
             "Give layers back the deviation of their outputs">,
  Mct_Switch<"softmaxShift", "softmax-shift", "false", "Center the range of what a softmax reads">,
  Mct_Switch<"inputScaling", "input-scaling", "false", "Scale the input so that it fills its threshold">,
  Mct_Switch<"concatThresholdUpdate", "concat-threshold-update", "false",
             "Give the operands of a concatenation its threshold">,
  Mct_Switch<"shiftNegative", "shift-negative-activation-correction", "true",
             "Shift activations with a short negative tail above zero">,
  Mct_Switch<"roundWeights", "round-weights", "true",
             "Round weights of few bits together; instead of the correction of deviations">,
  Mct_Switch<"weightsBias", "weights-bias-correction", "true", "Give layers back the mean of their outputs">,
  Mct_Switch<"activationBias", "activation-bias-correction", "false",
             "Take the mean error of activations out of biases">,
], /*copied=*/false>;

def RoundingOptionGroup : Mct_OptionGroup<"How weights are rounded together.", "corrections", [
  Mct_PipelineOption<"roundWeightsMaxBits", "round-weights-max-bits", Mct_MaxBitsOption>,
  Mct_PipelineOption<"roundWeightsMaxSamples", "round-weights-max-samples", Mct_RoundingSamplesOption>,
]>;

def SecondMomentOptionGroup : Mct_OptionGroup<"How deviations are corrected.", "corrections", [
  Mct_PipelineOption<"secondMomentMaxBits", "second-moment-max-bits", Mct_MaxBitsOption>,
]>;

def ShiftNegativeOptionGroup : Mct_OptionGroup<"How negative tails are shifted.", "corrections", [
  Mct_PipelineOption<"shiftNegativeRatio", "shift-negative-ratio", Mct_ShiftRatioOption>,
  Mct_PipelineOption<"shiftNegativeThresholdRecalculation", "shift-negative-threshold-recalculation",
                     Mct_ThresholdRecalculationOption>,
  Mct_PipelineOption<"shiftNegativeParametersSearch", "shift-negative-params-search", Mct_ParameterSearchOption>,
]>;

def BiasOptionGroup : Mct_OptionGroup<"How biases of layers are corrected.", "corrections", [
  Mct_PipelineOption<"biasEstimate", "bias-estimate", Mct_BiasEstimateOption>,
  Mct_PipelineOption<"biasMaxSamples", "bias-max-samples", Mct_BiasSamplesOption>,
]>;

def JudgeOptionGroup : Mct_OptionGroup<"Corrections that are undone.", "corrections", [
  Mct_PipelineOption<"judgeCorrections", "judge-corrections", Mct_JudgeOption>,
]>;

def ActivationBiasOptionGroup : Mct_OptionGroup<"How errors of activations are taken out of biases.", "corrections", [
  Mct_PipelineOption<"activationBiasThreshold", "activation-bias-correction-threshold", Mct_BiasErrorOption>,
]>;

def SensitivityOptionGroup : Mct_OptionGroup<"How it is measured what alternatives cost.", "bit widths", [
  Mct_PipelineOption<"sensitivityMetric", "sensitivity-metric", Mct_SensitivityMetricOption>,
  Mct_PipelineOption<"sensitivityMaxSamples", "sensitivity-max-samples", Mct_SensitivitySamplesOption>,
]>;

def ComparePointOptionGroup : Mct_OptionGroup<"Which points inside of the network are compared for that, and how.", "bit widths", [
  Mct_PipelineOption<"sensitivityComparePoints", "sensitivity-compare-points", Mct_ComparePointsOption>,
  Mct_PipelineOption<"sensitivityDistance", "sensitivity-distance", Mct_SensitivityDistanceOption>,
  Mct_PipelineOption<"sensitivityWeighting", "sensitivity-weighting", Mct_SensitivityWeightingOption>,
]>;

def BudgetOptionGroup : Mct_OptionGroup<"Limits for the alternatives that are chosen.", "bit widths", [
  Mct_BudgetOption, Mct_MaxLossOption, Mct_MaxDropOption, Mct_DropMetricOption, Mct_MinimizeOption, Mct_ValidationDataOption,
  Mct_ValidationLabelsOption, Mct_DeviceOption, Mct_CostTableOption, Mct_BitWidthsInOption, Mct_BitWidthsOutOption, Mct_RemeasureOption,
]>;

def ToleranceOptionGroup : Mct_OptionGroup<"Larger steps of kernels that bit widths are chosen with.", "bit widths", [
  Mct_ErrorTolerancesOption,
], /*copied=*/false>;

def TrainingOptionGroup : Mct_OptionGroup<"Whether the network is trained to make what the float one makes.", "training", [
  Option<"gptqEpochs", "gptq-epochs", "uint64_t", /*default=*/"0",
         "Train rounding, biases and thresholds on all samples so many times, as mct-gptq; 0: not at all">,
], /*copied=*/false>;

//===----------------------------------------------------------------------===//
// Pipelines: mct-tblgen makes a struct of options of each
//===----------------------------------------------------------------------===//

def PrepareOptions : Mct_Pipeline<"mct-prepare", "Names and float-exact rewrites that come before quantization points", [
  Mct_Member<"prepare", PrepareOptionGroup>, Mct_Member<"decoding", DecodingOptionGroup>,
  Mct_Member<"remarks", RemarksOptionGroup>,
]>;

def CorrectOptions : Mct_Pipeline<"mct-correct",
    "Corrections of a module whose points have parameters: negative tails, moments and biases", [
  Mct_Member<"samples", SampleOptionGroup>, Mct_Member<"selection", SelectionOptionGroup>,
  Mct_Member<"activations", ActivationOptionGroup>, Mct_Member<"weights", WeightOptionGroup>,
  Mct_Member<"corrections", CorrectionOptionGroup>, Mct_Member<"rounding", RoundingOptionGroup>,
  Mct_Member<"secondMoment", SecondMomentOptionGroup>, Mct_Member<"shiftNegative", ShiftNegativeOptionGroup>,
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
