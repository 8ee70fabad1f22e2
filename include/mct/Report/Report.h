// SPDX-License-Identifier: Apache-2.0
//
// Document, as data, of where the accuracy of a quantized network is lost, why,
// and what to do. It contains no IR and needs no context.
#ifndef MCT_REPORT_REPORT_H
#define MCT_REPORT_REPORT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::report {

/// Version of the document. Parsers reject a later one, and accept earlier
/// ones: members that those do not have are empty.
inline constexpr int64_t kFormatVersion = 3;

/// A number; infinite or NaN where JSON has null.
using Real = double;

/// Distance between the values of one tensor in two networks, over all samples.
struct Distance {
  /// Signal-to-noise ratio in dB; infinite for equal values.
  Real sqnr = 0;
  Real cosine = 0;
  /// Largest difference, in the unit of the values.
  Real largest = 0;
};

/// Distance of a point in an integer network from the simulation.
struct IntegerDistance {
  int64_t values = 0, differing = 0;
  /// Largest difference in steps of the grid.
  Real largest = 0;
};

/// Counts over equal bins; zeros are counted separately and not binned.
struct Histogram {
  /// Left edge of the first bin, and width of each, in the unit of the values.
  Real first = 0, width = 0;
  /// Counts of the bins, at most 256: adjacent bins are merged.
  std::vector<int64_t> counts;
};

/// Statistics of an activation from calibration, or of the values of a weight.
struct Statistics {
  int64_t count = 0, zeros = 0;
  Real min = 0, max = 0;
  std::optional<Histogram> histogram;
  /// Extremes by channel of the last axis if calibration kept them; otherwise
  /// empty.
  std::vector<Real> channelMin, channelMax;
};

/// A quantizer.
struct Parameters {
  /// `power_of_two`, `symmetric`, `uniform`, `lut_pot_quantizer`, …
  std::string method;
  int64_t bits = 0;
  bool isSigned = true;
  /// True if thresholds have to be powers of two; none in documents of versions
  /// without this key.
  std::optional<bool> hasPowersOfTwo;
  /// One entry, or one for each channel: the threshold, if the method has one;
  /// the smallest and the largest level; the distance of levels, if they are
  /// evenly spaced (otherwise empty).
  std::vector<Real> threshold, lowest, highest, step;
  /// Levels of a table at threshold 1; otherwise empty.
  std::vector<Real> levels;
  /// Text of the quantizer in the IR.
  std::string text;
};

/// Origin of the parameters; see `#tpc.selection`.
struct Selection {
  /// Keywords of the attribute.
  std::string errorMethod, certificate;
  std::vector<Real> error;
  /// Bound of the certificate `bound`: no parameters have an error below error
  /// / (1 + bound).
  std::optional<Real> bound;
  /// Errors (mean squares, over the histogram of an activation or the elements
  /// of a weight) of other thresholds of the same method, bits and sign,
  /// ascending. Per-channel parameters are all multiplied by `scale`.
  struct Trial {
    Real scale = 1, error = 0;
  };
  std::vector<Trial> curve;
};

struct Number {
  std::string name;
  Real value = 0;
};

/// A change that a pass made to a point or operator, or did not make, and the
/// reason; see `Records.h`.
struct Decision {
  std::string pass, decision, reason, text;
  /// Values of the record: `error_before` and `error_after` of a shift, for
  /// example.
  std::vector<Number> numbers;
};

/// Effect of a point, or of all points of an operator, on the results of the
/// network as it is, in the unit of `Report::metric`. Biases that were
/// corrected for its error are fitted again without it.
struct Effect {
  /// Distance that remains if everything but this is quantized, and its
  /// difference from `Report::distance` (negative: results are better with it).
  Real without = 0, gain = 0;
  /// The gain as a share of that distance, at least 0; none in documents of
  /// versions without this key, whose gains refer to the network without
  /// corrections.
  std::optional<Real> share;
};

/// One channel of a weight.
struct WeightChannel {
  Real min = 0, max = 0;
  /// Mean squared error, and its ratio to the mean square of the values in dB.
  Real error = 0, sqnr = 0;
};

/// A quantized tensor.
struct Point {
  /// Unique name: `conv1`, or `conv1/kernel_attr` of a weight.
  std::string name;
  /// Name of the `Operator` that it belongs to.
  std::string owner;
  /// Generic name of a weight; empty for an activation.
  std::string weight;
  bool isWeight() const { return !weight.empty(); }
  /// Names of the fused operators whose result this is.
  std::vector<std::string> group;
  std::vector<int64_t> shape, axes;
  std::optional<Statistics> statistics;
  /// The same statistics for the samples of the report in the float network
  /// (shifted if the activation is); none for weights. Channels of the last
  /// axis are always present.
  std::optional<Statistics> observed;
  /// Shift of an activation that was moved above zero: the added constant, and
  /// the mean squared error over the histogram, before with the best signed
  /// grid of the same bits, and now.
  struct Shift {
    Real by = 0, errorBefore = 0, error = 0;
  };
  std::optional<Shift> shift;
  /// Parameters; none if nothing is quantized here.
  std::optional<Parameters> parameters;
  std::optional<Selection> selection;
  /// Share of the values beyond the outermost levels by more than half a step,
  /// and share of the levels' range that values reach. For activations they are
  /// computed from the histogram.
  std::optional<Real> clipped, used;
  /// Decisions of `tpc.corrections` and of the records of passes.
  std::vector<Decision> decisions;

  /// Distance of the quantized values from the float network, with everything
  /// quantized. For a weight: distance of its values.
  std::optional<Distance> total;
  /// Distance if nothing else is quantized: the effect of this quantizer on the
  /// values of the float network.
  std::optional<Distance> own;
  /// Distance before the quantizer, with everything else quantized: the
  /// inherited error. None for weights.
  std::optional<Distance> inherited;
  std::optional<Effect> effect;
  /// Set if an integer network was given.
  std::optional<IntegerDistance> integer;
  /// Channels of a weight.
  std::vector<WeightChannel> channels;
};

/// An operator as the target describes it: one or several ops, including those
/// that stay float. Arguments of the function are operators, too; their only op
/// is `argument`.
struct Operator {
  /// Unique name.
  std::string name;
  /// Names of its ops: `tosa.conv2d`.
  std::vector<std::string> ops;
  /// Name of the operator set; empty if none matches, and the default applies.
  std::string operatorSet;
  /// The pattern that matched, and the lines of `overrides` that apply, as
  /// texts; empty if there are none.
  std::string matchedBy, overriddenBy;
  /// `point`, `fused`, `preserved` or `float`, and the reason for `float`.
  std::string cover, floatReason;
  /// The fused group, named by its last operator; empty if there is none.
  std::string group;
  /// Names of the operators and arguments that produce its operands.
  std::vector<std::string> inputs;
  /// Names of its points.
  std::vector<std::string> points;
  /// Widths of the alternatives of an operator, in bits. `weightBits` is that
  /// of its kernel, or 0.
  struct Alternative {
    int64_t activationBits = 0, weightBits = 0;
  };
  std::vector<Alternative> alternatives;
  int64_t chosen = 0;
  bool isDepthwise = false;
  /// Sums of a layer whose input and kernel have evenly spaced levels, as an
  /// integer network accumulates them, in steps of the input times steps of the
  /// kernel.
  struct Sums {
    /// Width of the accumulator.
    int64_t bits = 32;
    /// Largest magnitude that the terms and the bias can reach, in any order,
    /// and that of the bias alone, each in its worst output channel.
    Real largest = 0, largestBias = 0;
    int64_t channel = 0, biasChannel = 0;
    /// Root mean square of the distance of biases from the nearest of those
    /// steps, in steps of the grid of the result. 0 without such a grid.
    Real biasError = 0;
  };
  std::optional<Sums> sums;
  std::vector<int64_t> shape; // of the result
  /// Bytes of the quantized weights and of the quantized result, as in
  /// `Report::resources`, and of the same tensors in float.
  Real weightBytes = 0, floatWeightBytes = 0, activationBytes = 0,
       floatActivationBytes = 0;
  int64_t multiplications = 0, bops = 0;
  /// Cost on the device; a fused chain's cost is that of its last operator.
  struct Cost {
    int64_t cycles = 0, memoryBytes = 0;
    /// Cycles that its alternative saves compared to the first one; negative if
    /// it costs more.
    int64_t savedCycles = 0;
    /// `Effect::gain` per saved cycle, if there are saved cycles and the gain
    /// is known: the loss of the results for each.
    std::optional<Real> lossPerCycle;
  };
  std::optional<Cost> cost;
  /// Effect of all its points together, and that of its group.
  std::optional<Effect> effect;
  /// Records of passes about the operator, but not about one of its points.
  std::vector<Decision> decisions;
};

/// The user's metric of one network.
struct Judged {
  Real value = 0;
  /// The value with its unit.
  std::string shown;
  /// Bounds of the value with 95 % confidence; none if there are too few
  /// samples.
  std::optional<Real> low, high;
  /// Loss of the network against float, and its bounds with 95 % confidence;
  /// none for the float network itself.
  std::optional<Real> loss, lossLow, lossHigh;
  bool isBeyondChance = false;
  /// The loss in words.
  std::string text;
};

/// The user's metric.
struct JudgedBy {
  std::string name;
  /// `share`, `dB`, or `number`.
  std::string unit;
  bool isHigherBetter = true;
  /// Number of samples that count.
  int64_t samples = 0;
};

/// Results of a run of the network on samples.
struct Accuracy {
  int64_t samples = 0;
  std::optional<Real> top1, agreement;
  std::optional<Judged> judged;
  /// Distance of the results from those of the float network; none for the
  /// float network itself.
  std::optional<Distance> output;
};

/// A sample whose largest output is not the same one as in the float network.
struct ChangedPrediction {
  int64_t sample = 0;
  int64_t floatClass = 0, simulatedClass = 0;
  std::optional<int64_t> label;
  /// Lead of the float class over the other one in the float network, and lead
  /// of the other one in the quantized network; in the unit of the outputs.
  Real floatMargin = 0, simulatedMargin = 0;
};

/// A choice of bit widths on the Pareto front, or the chosen one beside it.
struct FrontPoint {
  Real weightsBytes = 0, sensitivities = 0;
  /// Alternative for each of `Report::frontOperators`.
  std::vector<int64_t> alternatives;
  bool isChosen = false;
};

struct PassTime {
  std::string pass;
  Real seconds = 0;
};

/// A cause with its remedy.
struct Diagnosis {
  /// Name of the rule, in kebab case.
  std::string rule;
  /// Severity, which determines the order: about the share of the distance of
  /// the results that it causes, less if that distance as a whole is small;
  /// above 1 for a cause that makes every other number worthless (the
  /// calibration samples); 0 for one that costs no accuracy. See `Diagnose.h`.
  Real severity = 0;
  /// Point or operator that it is about; empty for the network.
  std::string subject;
  /// One sentence each: the problem, with numbers, and the remedy.
  std::string cause, remedy;
  /// Text to paste: lines of `overrides` (`overrides`), an option of `mct-ptq`
  /// (`option`), or nothing (`data`).
  std::string kind, paste;
  /// Index in `Report::trials` of the trial of the remedy; none if it needs
  /// another run of `mct-ptq` or other data, or was not tried.
  std::optional<int64_t> trial;
  /// Numbers that decided the condition of the rule.
  std::vector<Number> numbers;
};

/// Channels of a result with the same meaning, which differ from others in the
/// values that they come from, or in their range by a factor of more than 8.
struct ResultGroup {
  /// Name of the values that the channels come from, or the channels
  /// themselves.
  std::string name;
  /// Positions along `Result::axis`.
  std::vector<int64_t> channels;
  /// Distance from the same channels of the float network.
  Distance simulated;
  std::optional<Distance> integer;
  /// The point without which the distance is the smallest, and the share of the
  /// distance that it causes in the network as it is; empty if unknown.
  std::string worstPoint;
  Real worstShare = 0;
};

/// A result of the function that consists of real numbers.
struct Result {
  int64_t number = 0;
  std::string name;
  /// True if each sample has one row of scores of classes; see
  /// `execution::ResultComparison`.
  bool isScores = false;
  /// Distances as in a group; `integer` is that of the integer network.
  Distance simulated;
  std::optional<Distance> integer;
  /// Distance of the logits of the quantized network if the result is
  /// probabilities (`execution::ComparedResult`).
  std::optional<Distance> logits;
  std::string worstPoint;
  Real worstShare = 0;
  /// Axis of the channels of the groups.
  int64_t axis = 0;
  /// Groups; none, or at least two.
  std::vector<ResultGroup> groups;
  /// One sentence.
  std::string verdict;
};

/// Effect of a correction on the results, with everything quantized and all
/// other corrections applied.
struct CorrectionEffect {
  /// Names as in `tpc.corrections`, separated by commas.
  std::string correction;
  /// Names of the kernel points of the corrected layers: one layer, or all of
  /// them.
  std::vector<std::string> layers;
  bool isWhole = false;
  /// Distance of the results without it, its difference from the distance with
  /// it (negative: the correction helps), and the standard error of the
  /// difference.
  Real without = 0, loss = 0, standardError = 0;
  /// Result, or group, that loses most by the correction: its name, and its
  /// distance with and without it.
  std::string worst;
  Real worstWith = 0, worstWithout = 0;
  /// True if it worsens the results beyond chance.
  bool isHarmful = false;
};

/// A correction that mct-ptq undid, as recorded in `tpc.rejected_corrections`.
struct RejectedCorrection {
  std::string correction;
  /// Names of the points of the kernels; empty if all layers are meant.
  std::vector<std::string> layers;
  /// Name of the result that lost most; empty if the results of the layers were
  /// compared.
  std::string result;
  /// Loss in dB by the correction, and its standard error over the samples;
  /// none if there were too few to estimate it.
  Real loss = 0;
  std::optional<Real> standardError;
  int64_t samples = 0;
};

/// A remedy that was tried on the quantized network, with the samples of the
/// effects.
struct Trial {
  /// Kind of the lines, as in Diagnosis.
  std::string kind;
  /// One line, or two that were tried together.
  std::vector<std::string> lines;
  /// Names of the points that changed.
  std::vector<std::string> points;
  /// Distance of the results without the remedy and with it, their difference,
  /// and its standard error. All points are without harmful corrections.
  Real before = 0, after = 0, gain = 0, standardError = 0;
  /// Result, or group, that is worst without the remedy: its name, its distance
  /// without and with it, and its gain in dB unless the distance is a
  /// divergence.
  std::string worst;
  Real worstBefore = 0, worstAfter = 0;
  std::optional<Real> worstGain;
  /// True if results improve beyond chance.
  bool isWorthwhile = false;
};

struct Report {
  /// Versions of mct and of LLVM, and the instruction set with which the
  /// numbers were computed.
  std::string mctVersion, llvmVersion, instructionSet;
  /// File or name of the model, function, and name of the target.
  std::string model, function, target;
  /// Metric of distances between results, `kl` or `mse`, and the distance of
  /// the whole network, over all samples of `effectSamples`.
  std::string metric;
  Real distance = 0;
  /// Standard deviation of that distance over the samples; divided by the root
  /// of the number of samples, it is the standard error of their mean.
  Real deviation = 0;
  /// Returns whether distances of results are divergences; otherwise they are
  /// squared errors.
  bool comparesByDivergence() const { return metric == "kl"; }
  /// Reason for the absence of effects of points and operators; empty if there
  /// are effects.
  std::string noEffectsReason;
  int64_t samples = 0, effectSamples = 0;
  bool hasLabels = false;
  /// Digests of the samples that the report ran on, and of those of the
  /// calibration (32 hexadecimal digits, independent of the order of the
  /// samples); empty if unknown.
  std::string digest, calibrationDigest;
  std::optional<int64_t> calibrationSamples;
  /// The metric of `Accuracy::judged`, if there is one.
  std::optional<JudgedBy> judgedBy;
  Accuracy floating, simulated;
  std::optional<Accuracy> integer;
  /// Results of real numbers, in the order of the function.
  std::vector<Result> results;
  /// Operators in program order.
  std::vector<Operator> operators;
  std::vector<Point> points;
  /// Bytes of the quantized weights, the largest sum of activations alive at
  /// once, both, and BOPS, as of `computeResources`.
  struct Resources {
    Real weightBytes = 0, activationBytes = 0, totalBytes = 0, bops = 0;
  };
  Resources resources, eightBit;
  /// The device of the operators' costs, and the cycles of all.
  struct Costs {
    std::string device;
    int64_t cycles = 0;
  };
  std::optional<Costs> costs;
  /// Bytes of the same weights in float.
  Real floatWeightBytes = 0;
  int64_t numChanged = 0;
  /// The first 64 of them.
  std::vector<ChangedPrediction> changed;
  /// Counts by float class and simulated class, row by row; empty unless
  /// outputs are scores of at most 64 classes.
  std::vector<std::vector<int64_t>> confusion;
  /// Operators with several alternatives.
  std::vector<std::string> frontOperators;
  std::vector<FrontPoint> front;
  /// Passes of the run that created the module, in the order in which they
  /// began.
  std::vector<PassTime> passes;
  /// Records of passes that are about neither a point nor an operator.
  std::vector<Decision> decisions;
  std::vector<CorrectionEffect> corrections;
  std::vector<RejectedCorrection> rejectedCorrections;
  /// Trials: at most eight of one remedy, then at most two of two remedies.
  std::vector<Trial> trials;
  Real seconds = 0; // of making the report
  /// Diagnoses, the most severe first.
  std::vector<Diagnosis> diagnoses;
  /// Sentences on the effect of quantization on the results, the worst first,
  /// with reasons.
  std::string verdict;
  /// Command that creates this module again; empty if unknown.
  std::string reproduce;
  /// Placeholders in capitals in that command, for files whose names are
  /// unknown.
  std::vector<std::string> placeholders;
};

/// Prints one JSON document. Keys are the names of the members in snake case,
/// after `"format": "mct-report"` and `"version": 3`. Optional members without
/// a value have no key; a number that is infinite or NaN is null.
void print(llvm::json::OStream &stream, const Report &report);
/// Parses the document; null becomes NaN, and printing the result gives the
/// same document again. Errors name the path in the document, and the version
/// if it is a later one.
llvm::Expected<Report> parse(llvm::StringRef text);

/// Prints the JSON Schema (2020-12) of the document, with a description of each
/// key.
void printSchema(llvm::json::OStream &stream);

} // namespace mct::report

#endif // MCT_REPORT_REPORT_H
