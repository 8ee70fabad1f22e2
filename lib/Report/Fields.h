// SPDX-License-Identifier: Apache-2.0
//
// The single list of the contents of the document, used by printing, parsing
// and the schema.
#ifndef MCT_LIB_REPORT_FIELDS_H
#define MCT_LIB_REPORT_FIELDS_H

#include "mct/Report/Report.h"

namespace mct::report {

inline constexpr llvm::StringLiteral kReportFormat = "mct-report";

/// Names the struct in `visitFields(Fields<Struct>(), visitor, object)`, which
/// calls `visitor(key, member, meaning)` for each member, in the order of the
/// document, and `visitor.since(version, key, member, meaning)` for those that
/// documents of earlier versions do not have, and `visitor.dropped(key)` for
/// those that only earlier versions have, which are ignored. `T` may be const.
template <typename Struct> struct Fields {};

template <typename V, typename T>
void visitFields(Fields<Distance>, V &v, T &x) {
  v("sqnr", x.sqnr, "signal-to-noise ratio in dB; null: equal values");
  v("cosine", x.cosine, "cosine of the angle between both tensors");
  v("largest", x.largest, "largest difference, in the unit of the values");
}

template <typename V, typename T>
void visitFields(Fields<IntegerDistance>, V &v, T &x) {
  v("values", x.values, "values compared");
  v("differing", x.differing, "of them, those that differ");
  v("largest", x.largest, "largest difference in steps of the grid");
}

template <typename V, typename T>
void visitFields(Fields<Histogram>, V &v, T &x) {
  v("first", x.first, "left edge of the first bin, unit of the values");
  v("width", x.width, "width of each bin");
  v("counts", x.counts, "values that are not zero, by bin; at most 256 bins");
}

template <typename V, typename T>
void visitFields(Fields<Statistics>, V &v, T &x) {
  v("count", x.count, "values seen");
  v("zeros", x.zeros, "of them, zeros");
  v("min", x.min, "smallest value");
  v("max", x.max, "largest value");
  v("histogram", x.histogram, "their distribution");
  v("channel_min", x.channelMin,
    "smallest value by channel of the last axis, where calibration kept "
    "them");
  v("channel_max", x.channelMax, "largest value by channel");
}

template <typename V, typename T>
void visitFields(Fields<Parameters>, V &v, T &x) {
  v("method", x.method, "quantization method: power_of_two, symmetric, …");
  v("bits", x.bits, "width of a stored value");
  v("is_signed", x.isSigned, "whether stored values are signed");
  v("has_powers_of_two", x.hasPowersOfTwo,
    "whether thresholds have to be powers of two");
  v("threshold", x.threshold,
    "one, or one by channel; empty where the method has none");
  v("lowest", x.lowest, "smallest level; as many");
  v("highest", x.highest, "largest level; as many");
  v("step", x.step,
    "distance of levels; as many, empty where they are not evenly spaced");
  v("levels", x.levels, "for a table: its levels at threshold 1; else empty");
  v("text", x.text, "the attribute as printed in the IR");
}

template <typename V, typename T>
void visitFields(Fields<Selection::Trial>, V &v, T &x) {
  v("scale", x.scale, "factor on the chosen thresholds");
  v("error", x.error, "mean squared error with it");
}

template <typename V, typename T>
void visitFields(Fields<Selection>, V &v, T &x) {
  v("error_method", x.errorMethod,
    "the error that was minimized, or another rule that found the "
    "parameters");
  v("certificate", x.certificate,
    "what is proven about the error: exact, exact_at_threshold, bound, none");
  v("error", x.error, "in the unit of the method; one for each parameter");
  v("bound", x.bound,
    "with the certificate bound: nothing is below error / (1 + bound)");
  v("curve", x.curve,
    "error of other thresholds, ascending; 1 is the chosen one");
}

template <typename V, typename T> void visitFields(Fields<Number>, V &v, T &x) {
  v("name", x.name, "name of the number");
  v("value", x.value, "the number");
}

template <typename V, typename T>
void visitFields(Fields<Decision>, V &v, T &x) {
  v("pass", x.pass, "flag of the pass");
  v("decision", x.decision, "applied, declined or noted");
  v("reason", x.reason, "identifier of the reason");
  v("text", x.text, "the sentence");
  v("numbers", x.numbers, "numbers of the sentence, and others");
}

template <typename V, typename T> void visitFields(Fields<Effect>, V &v, T &x) {
  v("without", x.without,
    "distance of the results from float when everything but this is quantized, "
    "and biases that were corrected for its error are fitted again");
  v("gain", x.gain, "by how much `without` is below `distance`");
  v("share", x.share, "the gain as a share of `distance`, at least 0");
  v.dropped("own");
  v.dropped("agreement");
}

template <typename V, typename T>
void visitFields(Fields<WeightChannel>, V &v, T &x) {
  v("min", x.min, "smallest value");
  v("max", x.max, "largest value");
  v("error", x.error, "mean squared error");
  v("sqnr", x.sqnr, "signal-to-noise ratio in dB; null: equal values");
}

template <typename V, typename T>
void visitFields(Fields<Point::Shift>, V &v, T &x) {
  v("by", x.by, "the constant that is added");
  v("error_before", x.errorBefore,
    "mean squared error with the best signed grid of the same bits, not "
    "moved");
  v("error", x.error, "mean squared error as it is");
}

template <typename V, typename T> void visitFields(Fields<Point>, V &v, T &x) {
  v("name", x.name, "unique: `conv1`, or `conv1/kernel_attr` of a weight");
  v("owner", x.owner, "name of its operator");
  v("weight", x.weight, "generic name of a weight; empty: an activation");
  v("group", x.group, "fused operators of which this is the result");
  v("shape", x.shape, "shape of the tensor; -1: a dynamic size");
  v("axes", x.axes, "axes along which each channel has its own parameters");
  v("statistics", x.statistics,
    "statistics of the calibration; for a weight: of its values");
  v("observed", x.observed,
    "statistics of the float values on the samples of the report, with the "
    "shift added");
  v("shift", x.shift, "the shift of an activation above zero");
  v("parameters", x.parameters, "the quantizer; no key: stays float");
  v("selection", x.selection, "how parameters were found");
  v("clipped", x.clipped,
    "share of values beyond the outermost levels by more than half a step");
  v("used", x.used, "share of the levels' range that values reach");
  v("decisions", x.decisions, "decisions of passes at this point");
  v("total", x.total,
    "against float, behind the quantizer, with everything quantized; for a "
    "weight: of its values");
  v("own", x.own, "effect of this quantizer alone on the float values");
  v("inherited", x.inherited,
    "in front of the quantizer, with everything else quantized");
  v("effect", x.effect, "effect on the results");
  v("integer", x.integer, "integer network against the simulation");
  v("channels", x.channels, "channels of a weight");
}

template <typename V, typename T>
void visitFields(Fields<Operator::Alternative>, V &v, T &x) {
  v("activation_bits", x.activationBits, "bits of its result; 0: float");
  v("weight_bits", x.weightBits, "bits of its kernel; 0: float, or none");
}

template <typename V, typename T>
void visitFields(Fields<Operator::Sums>, V &v, T &x) {
  v("bits", x.bits, "bits of the accumulator");
  v("largest", x.largest,
    "magnitude that terms and bias can reach, in the worst channel");
  v("largest_bias", x.largestBias, "that of the bias alone");
  v("channel", x.channel, "in which `largest` is");
  v("bias_channel", x.biasChannel, "in which `largest_bias` is");
  v("bias_error", x.biasError,
    "how far biases are from these steps, in steps of the result's grid");
}

template <typename V, typename T>
void visitFields(Fields<Operator::Cost>, V &v, T &x) {
  v("cycles", x.cycles, "cycles for which the device is busy with it");
  v("memory_bytes", x.memoryBytes,
    "bytes of the device's memory that live while it runs");
  v("saved_cycles", x.savedCycles,
    "cycles that its alternative saves beside the first one");
  v("loss_per_cycle", x.lossPerCycle,
    "gain of its effect by saved cycle: how much the results lose for each");
}

template <typename V, typename T>
void visitFields(Fields<Operator>, V &v, T &x) {
  v("name", x.name, "unique");
  v("ops", x.ops, "names of its ops; `argument`: an input of the network");
  v("operator_set", x.operatorSet,
    "operator set of the target; empty: none matches");
  v("matched_by", x.matchedBy, "the pattern that matches; empty: none");
  v("overridden_by", x.overriddenBy,
    "lines of the overrides that apply to it; empty: none");
  v("cover", x.cover,
    "how the result is quantized: point, fused, preserved, or float");
  v("why_float", x.floatReason, "why the result stays float");
  v("group", x.group, "last operator of its fused chain; empty: none");
  v("inputs", x.inputs, "operators and arguments that are its producers");
  v("points", x.points, "names of its points");
  v("alternatives", x.alternatives, "bit widths of its alternatives");
  v("chosen", x.chosen, "index of the alternative that it has");
  v("is_depthwise", x.isDepthwise, "is a depthwise convolution");
  v("sums", x.sums,
    "sums of the integer network, in steps of input times kernel");
  v("shape", x.shape, "shape of the result; -1: a dynamic size");
  v("weight_bytes", x.weightBytes, "bytes of its quantized weights");
  v("float_weight_bytes", x.floatWeightBytes, "the same in float");
  v("activation_bytes", x.activationBytes,
    "bytes of its result if that is quantized and leaves its fused chain");
  v("float_activation_bytes", x.floatActivationBytes, "the same in float");
  v("multiplications", x.multiplications,
    "for one batch, or a sample of a dynamic one");
  v("bops", x.bops,
    "multiplications by bits of the input and bits of the kernel");
  v("cost", x.cost,
    "cost on the device; of a fused chain that of its last operator");
  v("effect", x.effect, "effect of all its points together, and of its group");
  v("decisions", x.decisions,
    "decisions of passes about the operator that are not about a point");
}

template <typename V, typename T> void visitFields(Fields<Judged>, V &v, T &x) {
  v("value", x.value, "value of the metric");
  v("shown", x.shown, "the value with its unit");
  v("low", x.low, "lower bound of the value with 95 % confidence");
  v("high", x.high, "upper bound of the value with 95 % confidence");
  v("loss", x.loss,
    "how much the network loses against float; negative: it gains");
  v("loss_low", x.lossLow, "lower bound of the loss with 95 % confidence");
  v("loss_high", x.lossHigh, "upper bound of the loss with 95 % confidence");
  v("is_beyond_chance", x.isBeyondChance,
    "whether the samples are enough to tell that it loses, or gains");
  v("text", x.text, "the loss in words; empty: of the float network");
}

template <typename V, typename T>
void visitFields(Fields<JudgedBy>, V &v, T &x) {
  v("name", x.name, "name of the metric");
  v("unit", x.unit, "share (between 0 and 1), dB, or number");
  v("is_higher_better", x.isHigherBetter, "whether larger values are better");
  v("samples", x.samples, "number of samples that count");
}

template <typename V, typename T>
void visitFields(Fields<Accuracy>, V &v, T &x) {
  v("samples", x.samples, "samples run");
  v("top1", x.top1, "share of samples whose label is predicted");
  v("agreement", x.agreement,
    "share of the samples whose largest output is that of float");
  v("judged", x.judged, "value of the metric of `judged_by`");
  v("output", x.output, "distance of the results from float");
}

template <typename V, typename T>
void visitFields(Fields<ChangedPrediction>, V &v, T &x) {
  v("sample", x.sample, "index of the sample");
  v("float_class", x.floatClass, "largest output of the float network");
  v("simulated_class", x.simulatedClass,
    "largest output of the quantized network");
  v("label", x.label, "its label, where there are labels");
  v("float_margin", x.floatMargin,
    "lead of the float class over the other one, in the float network");
  v("simulated_margin", x.simulatedMargin,
    "lead of the other class, in the quantized network");
}

template <typename V, typename T>
void visitFields(Fields<FrontPoint>, V &v, T &x) {
  v("weights_bytes", x.weightsBytes, "bytes of the weights");
  v("sensitivities", x.sensitivities, "sum of the sensitivities");
  v("alternatives", x.alternatives,
    "index of the alternative of each of `front_operators`");
  v("is_chosen", x.isChosen, "the choice of the module");
}

template <typename V, typename T>
void visitFields(Fields<PassTime>, V &v, T &x) {
  v("pass", x.pass, "flag of the pass");
  v("seconds", x.seconds, "seconds that it took");
}

template <typename V, typename T>
void visitFields(Fields<Diagnosis>, V &v, T &x) {
  v("rule", x.rule, "name of the rule");
  v("severity", x.severity,
    "about the share of the distance that it causes; above 1: every other "
    "number is worthless; 0: it costs no accuracy");
  v("subject", x.subject, "point or operator; empty: the network");
  v("cause", x.cause, "what is wrong, in one sentence");
  v("remedy", x.remedy, "what to do, in one sentence");
  v("kind", x.kind, "kind of `paste`: overrides, option, or data (nothing)");
  v("paste", x.paste, "lines of overrides, or an option, to paste");
  v("trial", x.trial, "index of the trial of the remedy; no key: not tried");
  v("numbers", x.numbers, "numbers on which the rule decided");
}

template <typename V, typename T>
void visitFields(Fields<Report::Resources>, V &v, T &x) {
  v("weight_bytes", x.weightBytes, "bytes of quantized weights");
  v("activation_bytes", x.activationBytes,
    "largest number of bytes of activations that are live at the same time");
  v("total_bytes", x.totalBytes, "both");
  v("bops", x.bops, "operations on bits");
}

template <typename V, typename T>
void visitFields(Fields<Report::Costs>, V &v, T &x) {
  v("device", x.device, "configuration of the device");
  v("cycles", x.cycles, "cycles of all operators");
}

template <typename V, typename T>
void visitFields(Fields<ResultGroup>, V &v, T &x) {
  v("name", x.name, "values that its channels are made of, or their indices");
  v("channels", x.channels, "positions along the axis of the result");
  v("simulated", x.simulated, "distance of the quantized network from float");
  v("integer", x.integer, "distance of the integer network from float");
  v("worst_point", x.worstPoint,
    "point without which the distance is the smallest; empty: not known");
  v("worst_share", x.worstShare,
    "share of the distance that is gone without it");
}

template <typename V, typename T> void visitFields(Fields<Result>, V &v, T &x) {
  v("number", x.number, "index of the result");
  v("name", x.name, "name of its value");
  v("is_scores", x.isScores, "whether it is one row of scores of classes");
  v("simulated", x.simulated, "distance of the quantized network from float");
  v("integer", x.integer, "distance of the integer network from float");
  v("logits", x.logits,
    "distance of the logits of the quantized network from float, of a result "
    "that is probabilities, of 1e-6 at least");
  v("worst_point", x.worstPoint,
    "point without which the distance is the smallest; empty: not known");
  v("worst_share", x.worstShare,
    "share of the distance that is gone without it");
  v("axis", x.axis, "axis of the channels of the groups");
  v("groups", x.groups,
    "channels with different meanings: no group, or two and more");
  v("verdict", x.verdict, "one sentence");
}

template <typename V, typename T>
void visitFields(Fields<CorrectionEffect>, V &v, T &x) {
  v("correction", x.correction, "words of `tpc.corrections`");
  v("layers", x.layers, "points of the kernels of the layers that have it");
  v("is_whole", x.isWhole, "whether these are all layers that have it");
  v("without", x.without, "distance of the results without it");
  v("loss", x.loss,
    "by how much that is less than with it; negative: it helps");
  v("standard_error", x.standardError,
    "standard error of the loss, over the samples");
  v("worst", x.worst, "result, or group, that loses most by it");
  v("worst_with", x.worstWith, "distance of that with the correction");
  v("worst_without", x.worstWithout, "the same without");
  v("is_harmful", x.isHarmful, "whether results lose beyond chance");
}

template <typename V, typename T>
void visitFields(Fields<RejectedCorrection>, V &v, T &x) {
  v("correction", x.correction, "the correction");
  v("layers", x.layers,
    "points of the kernels of the layers where it was undone; empty: all");
  v("result", x.result, "result that lost most; empty: results of the layers");
  v("loss", x.loss, "by how many dB that was worse with the correction");
  v("standard_error", x.standardError,
    "standard error of the loss, in dB; no key: too few samples to tell");
  v("samples", x.samples, "number of samples on which it was judged");
}

template <typename V, typename T> void visitFields(Fields<Trial>, V &v, T &x) {
  v("kind", x.kind, "kind of the lines: overrides or option");
  v("lines", x.lines, "lines that were tried, together");
  v("points", x.points, "points that changed");
  v("before", x.before,
    "distance of the results without it; that of points without harmful "
    "corrections");
  v("after", x.after, "distance of the results with it");
  v("gain", x.gain, "by how much that is less");
  v("standard_error", x.standardError,
    "standard error of the gain, over the samples");
  v("worst", x.worst, "result, or group, that is worst without it");
  v("worst_before", x.worstBefore, "distance of that without the remedy");
  v("worst_after", x.worstAfter, "the same with it");
  v("worst_gain", x.worstGain, "gain in dB; no key: distances are divergences");
  v("is_worthwhile", x.isWorthwhile, "whether results gain beyond chance");
}

template <typename V, typename T> void visitFields(Fields<Report>, V &v, T &x) {
  v("mct_version", x.mctVersion, "version of mct");
  v("llvm_version", x.llvmVersion, "version of LLVM");
  v("instruction_set", x.instructionSet,
    "instruction set of the machine that ran it");
  v("model", x.model, "file or name of the model");
  v("function", x.function, "its function");
  v("target", x.target, "name of the target");
  v("metric", x.metric, "unit of distances of results: kl or mse");
  v("distance", x.distance,
    "distance of the results from float with everything quantized, over "
    "`effect_samples`");
  v("deviation", x.deviation,
    "standard deviation of that distance from sample to sample");
  v.dropped("uncorrected_distance");
  v("why_no_effects", x.noEffectsReason,
    "why no effects were measured; empty: they were");
  v("samples", x.samples, "number of samples for accuracies");
  v("effect_samples", x.effectSamples,
    "number of samples for errors and effects");
  v("has_labels", x.hasLabels, "whether there were labels");
  v("digest", x.digest, "digest of the samples; empty: not known");
  v("calibration_digest", x.calibrationDigest,
    "digest of the samples of the calibration; empty: not known");
  v("calibration_samples", x.calibrationSamples,
    "number of samples of the calibration");
  v("judged_by", x.judgedBy, "the user's metric; no key: none was asked for");
  v("floating", x.floating, "accuracy of the float network");
  v("simulated", x.simulated, "accuracy of the quantized network");
  v("integer", x.integer, "accuracy of the integer network");
  v.since(2, "results", x.results,
          "results of the function that are real numbers");
  v("operators", x.operators, "in program order");
  v("points", x.points, "in program order");
  v("resources", x.resources, "resources that the network uses");
  v("eight_bit", x.eightBit, "the same with 8 bits everywhere");
  v("costs", x.costs, "cost on the device; no key: no table was given");
  v.dropped("weight_bytes");
  v("float_weight_bytes", x.floatWeightBytes,
    "bytes of the weights of `resources` in float");
  v("num_changed", x.numChanged, "samples whose largest output changed");
  v("changed", x.changed, "the first 64 of them");
  v("confusion", x.confusion,
    "samples by float class (row) and simulated class; empty: no scores, or "
    "of more than 64 classes");
  v("front_operators", x.frontOperators, "operators with several alternatives");
  v("front", x.front,
    "Pareto front of bit widths, and the choice, where there is one");
  v("passes", x.passes,
    "seconds of the passes that made the module, where known");
  v("decisions", x.decisions,
    "decisions of these passes that are not about a point or an operator");
  v.since(2, "corrections", x.corrections,
          "effect of each correction on the results, for each layer and for "
          "all layers");
  v.since(2, "rejected_corrections", x.rejectedCorrections,
          "corrections that mct-ptq undid");
  v.since(2, "trials", x.trials,
          "remedies that were tried: one, then two at a time");
  v("seconds", x.seconds, "seconds for making the report");
  v("diagnoses", x.diagnoses, "worst first");
  v("verdict", x.verdict,
    "sentences: error of the results, and the remedy that helps most of those "
    "that were tried");
  v("reproduce", x.reproduce,
    "command that makes the module again; empty: not known");
  v("placeholders", x.placeholders,
    "words of that command for files whose names are not known");
}

} // namespace mct::report

#endif // MCT_LIB_REPORT_FIELDS_H
