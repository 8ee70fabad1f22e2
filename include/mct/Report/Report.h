// SPDX-License-Identifier: Apache-2.0
//
// Document of where the accuracy of a quantized network goes, why, and what to
// do: as data. No IR in it: whoever has a report needs no context.
#ifndef MCT_REPORT_REPORT_H
#define MCT_REPORT_REPORT_H

#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mct::report {

/// Version of the document. Readers refuse a later one, and read earlier ones:
/// what those do not have is empty.
inline constexpr int64_t kFormatVersion = 2;

/// A number, infinite or not defined where JSON has null.
using Real = double;

/// Distance between the values of one tensor in two networks, all samples
/// together.
struct Distance {
  /// Signal-to-noise ratio in dB; infinite for equal values.
  Real sqnr = 0;
  Real cosine = 0;
  /// The largest difference, in the unit of the values.
  Real largest = 0;
};

/// Distance of a point in an integer network from the simulation.
struct IntegerDistance {
  int64_t values = 0, differing = 0;
  /// Difference in steps of the grid.
  Real largest = 0;
};

/// Counts over equal bins; zeros are counted apart and not binned.
struct Histogram {
  /// Left edge of the first bin, and width of each, in the unit of the values.
  Real first = 0, width = 0;
  /// Bins, at most 256: neighbours are joined.
  std::vector<int64_t> counts;
};

/// Statistics of an activation from calibration; of a weight, its values.
struct Statistics {
  int64_t count = 0, zeros = 0;
  Real min = 0, max = 0;
  std::optional<Histogram> histogram;
  /// Extremes by channel of the last axis, where calibration kept them; else
  /// empty.
  std::vector<Real> channelMin, channelMax;
};

/// A quantizer.
struct Parameters {
  /// `power_of_two`, `symmetric`, `uniform`, `lut_pot_quantizer`, …
  std::string method;
  int64_t bits = 0;
  bool isSigned = true;
  /// Tells whether thresholds have to be powers of two; none in documents of
  /// before it was told.
  std::optional<bool> hasPowersOfTwo;
  /// One, or one for each channel. Thresholds, where the method has them; the
  /// smallest and largest level; the distance of levels, where they are evenly
  /// spaced (else empty).
  std::vector<Real> threshold, lowest, highest, step;
  /// Levels of a table at threshold 1; else empty.
  std::vector<Real> levels;
  /// Text as the IR has it.
  std::string text;
};

/// How parameters were found; see `#tpc.selection`.
struct Selection {
  /// Words of the attribute.
  std::string errorMethod, certificate;
  std::vector<Real> error;
  /// Bound of the certificate `bound`: no parameters have an error below error
  /// / (1 + bound).
  std::optional<Real> bound;
  /// Error (mean of the squares, over the histogram of an activation or the
  /// elements of a weight) of other thresholds of the same method, bits and
  /// sign, ascending; of per-channel parameters, all multiplied by `scale`.
  struct Trial {
    Real scale = 1, error = 0;
  };
  std::vector<Trial> curve;
};

struct Number {
  std::string name;
  Real value = 0;
};

/// A change that a pass made to a point or operator, or did not, and why; see
/// `Records.h`.
struct Decision {
  std::string pass, decision, reason, text;
  /// Values of the record: `error_before` and `error_after` of a shift, say.
  std::vector<Number> numbers;
};

/// The effect of a point, or of all points of an operator, on the results of
/// the network, in the unit of `Report::metric`. No correction is made
/// meanwhile, of this point or of others: biases and weights are those of the
/// float network, which the quantizers round one by one.
struct Effect {
  /// Distance of the results from those of the float network when only this is
  /// quantized.
  Real own = 0;
  /// The distance that is left when everything but this is quantized; and by
  /// how much that is less than `Report::uncorrectedDistance` (may be
  /// negative).
  Real without = 0, gain = 0;
  /// Share of the samples whose largest output stays that of the float network
  /// when only this is quantized; none where outputs are no scores.
  std::optional<Real> agreement;
};

/// One channel of a weight.
struct WeightChannel {
  Real min = 0, max = 0;
  /// Mean of the squares, and in dB below those of the values.
  Real error = 0, sqnr = 0;
};

/// A tensor that is quantized.
struct Point {
  /// Unique: `conv1`, or `conv1/kernel_attr` of a weight.
  std::string name;
  /// Name of the `Operator` that it belongs to.
  std::string owner;
  /// Empty for an activation: the generic name of a weight.
  std::string weight;
  bool isWeight() const { return !weight.empty(); }
  /// Names of the fused operators of which this is the result.
  std::vector<std::string> group;
  std::vector<int64_t> shape, axes;
  std::optional<Statistics> statistics;
  /// The same of the samples of the report in the float network (moved by the
  /// shift, where there is one); none for weights. Channels of the last axis
  /// are always there.
  std::optional<Statistics> observed;
  /// Shift of an activation that was moved above zero: the constant that is
  /// added, and the mean squared error over the histogram, with the best signed
  /// grid of the same bits before, and with the one that it has.
  struct Shift {
    Real by = 0, errorBefore = 0, error = 0;
  };
  std::optional<Shift> shift;
  /// None: nothing is quantized here.
  std::optional<Parameters> parameters;
  std::optional<Selection> selection;
  /// Share of the values beyond the outermost levels by more than half a step;
  /// share of the levels' range that values reach. Of activations by the
  /// histogram.
  std::optional<Real> clipped, used;
  /// Decisions of `tpc.corrections` and of the records of passes.
  std::vector<Decision> decisions;

  /// Distance from the float network, behind the quantizer, with everything
  /// quantized. Of a weight: of its values.
  std::optional<Distance> total;
  /// When nothing else is quantized: what this quantizer does to the values of
  /// the float network.
  std::optional<Distance> own;
  /// Distance in front of the quantizer, with everything else quantized: what
  /// comes in. None for weights.
  std::optional<Distance> inherited;
  std::optional<Effect> effect;
  /// Set where an integer network was given.
  std::optional<IntegerDistance> integer;
  /// Channels of weights.
  std::vector<WeightChannel> channels;
};

/// An operator as the target describes it: one or several ops, also those that
/// stay float. Arguments of the function are operators, too, whose only op is
/// `argument`.
struct Operator {
  /// Unique.
  std::string name;
  /// Names of its ops: `tosa.conv2d`.
  std::vector<std::string> ops;
  /// Empty: none matches, the default applies.
  std::string operatorSet;
  /// The pattern that matched, and the lines of `overrides` that apply, as
  /// texts; empty: none.
  std::string matchedBy, overriddenBy;
  /// `point`, `fused`, `preserved` or `float`, and why it is float.
  std::string cover, whyFloat;
  /// The fused group, by the name of its last operator; empty: none.
  std::string group;
  /// Names of operators and arguments that make what it reads.
  std::vector<std::string> inputs;
  /// Names of its points.
  std::vector<std::string> points;
  /// Bits of its kernel, or 0, and of the alternatives that it has.
  struct Alternative {
    int64_t activationBits = 0, weightBits = 0;
  };
  std::vector<Alternative> alternatives;
  int64_t chosen = 0;
  bool isDepthwise = false;
  /// Sums of a layer whose input and kernel have evenly spaced levels, as an
  /// integer network adds them up, in steps of the input times steps of the
  /// kernel.
  struct Sums {
    /// Width of the accumulator.
    int64_t bits = 32;
    /// The magnitude that the terms and the bias can reach, in whatever order,
    /// and that of the bias alone, in the worst output channel of each.
    Real largest = 0, largestBias = 0;
    int64_t channel = 0, biasChannel = 0;
    /// How far biases are from the nearest of those steps, in steps of the grid
    /// of the result: the root of the mean of the squares. 0 without such a
    /// grid.
    Real biasError = 0;
  };
  std::optional<Sums> sums;
  std::vector<int64_t> shape; // of the result
  /// Stored bytes, quantized and in float: of its weights and of its result.
  Real weightBytes = 0, floatWeightBytes = 0, activationBytes = 0,
       floatActivationBytes = 0;
  int64_t multiplications = 0, bops = 0;
  /// Cost on the device; of a fused chain it is that of the last operator.
  struct Cost {
    int64_t cycles = 0, memoryBytes = 0;
    /// Cycles that its alternative saves beside the first one; negative: it
    /// costs more.
    int64_t savedCycles = 0;
    /// `Effect::gain` by these, where there are any and it is known: how much
    /// the results lose for each.
    std::optional<Real> lossPerCycle;
  };
  std::optional<Cost> cost;
  /// All its points together, and that of its group.
  std::optional<Effect> effect;
  /// Records of passes that are about it and none of its points.
  std::vector<Decision> decisions;
};

/// The user's metric of one network.
struct Judged {
  Real value = 0;
  /// The value with its unit.
  std::string shown;
  /// Bounds of the value with 95 % confidence; none for too few samples.
  std::optional<Real> low, high;
  /// How much the network loses against float, and its bounds with 95 %
  /// confidence; none for the float network itself.
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

/// A run of the network on samples.
struct Accuracy {
  int64_t samples = 0;
  std::optional<Real> top1, agreement;
  std::optional<Judged> judged;
  /// Distance of the results from those of the float network; none for the
  /// float network itself.
  std::optional<Distance> output;
};

/// A sample whose largest output is another one than in the float network.
struct ChangedPrediction {
  int64_t sample = 0;
  int64_t floatClass = 0, simulatedClass = 0;
  std::optional<int64_t> label;
  /// Lead of the float class over the other one in the float network, and the
  /// other one leads in the quantized network; in the unit of the outputs.
  Real floatMargin = 0, simulatedMargin = 0;
};

/// A choice of bit widths on the Pareto front, or the chosen one beside it.
struct FrontPoint {
  Real weightsBytes = 0, sensitivities = 0;
  /// Alternative of each of `Report::frontOperators`.
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
  /// How bad, for the order: about the share of the distance of the results
  /// that it causes, less where that distance as a whole is small; above 1 for
  /// what makes every other number worthless (the calibration samples); 0 for
  /// what costs no accuracy. See `Diagnose.h`.
  Real severity = 0;
  /// Point or operator that it is about; empty: the network.
  std::string subject;
  /// One sentence each: what is wrong, with numbers; and what to do.
  std::string cause, remedy;
  /// Text that can be pasted: lines of `overrides` (`overrides`), an option of
  /// `mct-ptq` (`option`), or nothing (`data`).
  std::string kind, paste;
  /// Index of the one of `Report::trials` that tried the remedy; none: it needs
  /// another run of `mct-ptq`, other data, or was not tried.
  std::optional<int64_t> trial;
  /// Numbers on which the condition of the rule decided.
  std::vector<Number> numbers;
};

/// Channels of a result that mean the same, and differ from others in what they
/// are made of, or in their range by more than 8 times.
struct ResultGroup {
  /// The values that they are made of, or which channels they are.
  std::string name;
  /// Positions along `Result::axis`.
  std::vector<int64_t> channels;
  /// Distance from those of the float network.
  Distance simulated;
  std::optional<Distance> integer;
  /// The point that makes the largest distance by itself, and its share of what
  /// all points make by themselves; empty: not known.
  std::string worstPoint;
  Real worstShare = 0;
};

/// A result of the function, real numbers.
struct Result {
  int64_t number = 0;
  std::string name;
  /// True if each sample has one row of scores of classes; see
  /// `execution::ResultComparison`.
  bool isScores = false;
  /// Distances as in a group. `integer`: of the integer network.
  Distance simulated;
  std::optional<Distance> integer;
  /// Distance of the logits of the quantized network, where the result is
  /// probabilities (`execution::ComparedResult`).
  std::optional<Distance> logits;
  std::string worstPoint;
  Real worstShare = 0;
  /// Axis of the channels of the groups.
  int64_t axis = 0;
  /// None, or two and more.
  std::vector<ResultGroup> groups;
  /// One sentence.
  std::string verdict;
};

/// The effect of a correction on the results, with everything quantized and all
/// other corrections made.
struct CorrectionEffect {
  /// Words of `tpc.corrections`, with commas between them.
  std::string correction;
  /// Names of the points of the kernels of the layers that have it: one layer,
  /// or all of them.
  std::vector<std::string> layers;
  bool isWhole = false;
  /// Distance of the results without it, by how much that is less than with it
  /// (negative: the correction helps), and the standard error of that.
  Real without = 0, loss = 0, standardError = 0;
  /// Result, or group, that loses most by it: its name, distance with and
  /// without it.
  std::string worst;
  Real worstWith = 0, worstWithout = 0;
  /// True if it makes results worse beyond chance.
  bool isHarmful = false;
};

/// A correction that mct-ptq undid, as `tpc.rejected_corrections` says.
struct RejectedCorrection {
  std::string correction;
  /// Names of points of kernels; empty: all of it.
  std::vector<std::string> layers;
  /// Name of the result that lost most; empty: results of the layers.
  std::string result;
  /// Loss in dB by the correction, and its standard error over the samples;
  /// none where they were too few to tell.
  Real loss = 0;
  std::optional<Real> standardError;
  int64_t samples = 0;
};

/// A remedy that was tried on the quantized network, with the samples of the
/// effects.
struct Trial {
  /// Kind of the lines, as in Diagnosis.
  std::string kind;
  /// One, or two that were tried together.
  std::vector<std::string> lines;
  /// Points that changed.
  std::vector<std::string> points;
  /// Distance of the results without the remedy and with it, by how much that
  /// is less, and the standard error of that. Of points without harmful
  /// corrections.
  Real before = 0, after = 0, gain = 0, standardError = 0;
  /// Result, or group, that is worst without the remedy: its name and distance
  /// without and with it, and what it gains in dB where that is not a
  /// divergence.
  std::string worst;
  Real worstBefore = 0, worstAfter = 0;
  std::optional<Real> worstGain;
  /// True if results gain beyond chance.
  bool isWorthwhile = false;
};

struct Report {
  /// Versions of mct and of LLVM, and the instruction set that the numbers were
  /// computed with.
  std::string mctVersion, llvmVersion, instructionSet;
  /// File or name of the model, function, and name of the target.
  std::string model, function, target;
  /// `kl` or `mse`: what distances of results are, and that of the whole
  /// network, all samples of `effectSamples`.
  std::string metric;
  Real distance = 0;
  /// Standard deviation of that distance from sample to sample; divided by the
  /// root of the number of samples it is the standard error of their mean.
  Real deviation = 0;
  /// Returns whether distances of results are divergences; otherwise they are
  /// squared errors.
  bool comparesByDivergence() const { return metric == "kl"; }
  /// The same distance without any correction: what effects are parts of.
  Real uncorrectedDistance = 0;
  /// Why there are no effects of points and operators; empty: there are.
  std::string whyNoEffects;
  int64_t samples = 0, effectSamples = 0;
  bool hasLabels = false;
  /// Digests of the samples that the report ran on, and of those of the
  /// calibration (32 hexadecimal digits; does not depend on their order);
  /// empty: not known.
  std::string digest, calibrationDigest;
  std::optional<int64_t> calibrationSamples;
  /// The metric of `Accuracy::judged`, where there is one.
  std::optional<JudgedBy> judgedBy;
  Accuracy floating, simulated;
  std::optional<Accuracy> integer;
  /// Results that are real numbers, in the order of the function.
  std::vector<Result> results;
  /// Operators in program order.
  std::vector<Operator> operators;
  std::vector<Point> points;
  /// Bits of the weights, the largest cut of activations, both, and BOPS.
  struct Resources {
    Real weightBytes = 0, activationBytes = 0, totalBytes = 0, bops = 0;
  };
  Resources resources, eightBit;
  /// The device that operators have costs on, and the cycles of all.
  struct Costs {
    std::string device;
    int64_t cycles = 0;
  };
  std::optional<Costs> costs;
  Real weightBytes = 0, floatWeightBytes = 0; // all weights and biases
  int64_t numChanged = 0;
  /// The first 64 of them.
  std::vector<ChangedPrediction> changed;
  /// Counts by float class and simulated class, row by row; empty where outputs
  /// are no scores of at most 64 classes.
  std::vector<std::vector<int64_t>> confusion;
  /// Operators that had a choice.
  std::vector<std::string> frontOperators;
  std::vector<FrontPoint> front;
  /// Passes of the run that made the module, in the order in which they began.
  std::vector<PassTime> passes;
  /// Records of passes that are about neither a point nor an operator.
  std::vector<Decision> decisions;
  std::vector<CorrectionEffect> corrections;
  std::vector<RejectedCorrection> rejectedCorrections;
  /// Trials, at most eight of one remedy, then at most two of two remedies.
  std::vector<Trial> trials;
  Real seconds = 0; // of making the report
  /// Worst first.
  std::vector<Diagnosis> diagnoses;
  /// Sentences: what quantization did to the results, the worst first, and why.
  std::string verdict;
  /// The command that makes this module again; empty where it is not known.
  std::string reproduce;
  /// Words of it in capitals that stand for files whose names are not known.
  std::vector<std::string> placeholders;
};

/// Prints one JSON document. Keys are the names of the members in snake case,
/// behind
/// `"format": "mct-report"` and `"version": 2`. What is optional and not there
/// has no key; a number that is infinite or not defined is null.
void print(llvm::json::OStream &stream, const Report &report);
/// Reads it; what was null is NaN, and printed again it is the same document.
/// Errors name the path in the document, and the version where it is a later
/// one.
llvm::Expected<Report> parse(llvm::StringRef text);

/// Prints the JSON Schema (2020-12) of the document, with what each key means.
void printSchema(llvm::json::OStream &stream);

} // namespace mct::report

#endif // MCT_REPORT_REPORT_H
