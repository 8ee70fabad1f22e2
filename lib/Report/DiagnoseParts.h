// SPDX-License-Identifier: Apache-2.0
//
// Declarations that the rules of a diagnosis share.
#ifndef MCT_LIB_REPORT_DIAGNOSEPARTS_H
#define MCT_LIB_REPORT_DIAGNOSEPARTS_H

#include "mct/Report/Diagnose.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace mct::report {

/// Largest relative standard error of a mean distance: two standard errors are
/// as large as the distance, which then cannot be distinguished from zero.
inline constexpr Real kLargestStandardError = 0.5;

/// Returns whether the operator is an argument of the network, which computes
/// nothing.
bool isArgument(const Operator &op);
/// Returns whether the elements of the result are elements of the input, or
/// zeros.
bool movesOrSelects(const Operator &op);

/// A report in the form that the rules use.
class DiagnosisContext {
public:
  explicit DiagnosisContext(const Report &report);

  const Report &report;

  /// Return the operator of that name, or the one that owns a point; null if
  /// there is none.
  const Operator *getOperator(llvm::StringRef name) const {
    return operators.lookup(name);
  }
  const Operator *getOwner(const Point &point) const {
    return getOperator(point.owner);
  }
  /// Returns the point of an operator's result or of an argument, or null if it
  /// has no parameters.
  const Point *getResultPoint(llvm::StringRef name) const {
    return results.lookup(name);
  }
  /// Returns the points of the network's arguments.
  llvm::ArrayRef<const Point *> getInputs() const { return inputs; }
  bool isInput(const Point &point) const {
    return llvm::is_contained(inputs, &point);
  }
  /// Returns the operators with a quantized weight, in program order.
  llvm::ArrayRef<const Operator *> getLayers() const { return layers; }
  size_t countReaders(llvm::StringRef name) const {
    return readers.lookup(name);
  }

  /// Returns the severity of the point's effect on the results: its share of
  /// the sum of all points' own effects, reduced if the whole distance is
  /// small.
  Real getSeverity(const Point &point) const;
  /// Returns the share alone.
  Real getShare(const Point &point) const;
  /// Returns how much the distance of the results matters, from 0 to 1.
  Real getHarm() const { return harm; }
  /// Returns the relative standard error of the mean distance of the results
  /// over `samples` samples, or 0 if it is not known.
  Real getStandardError(int64_t samples) const;
  /// Returns whether the distance of the results, and therefore the points'
  /// shares of it, cannot be distinguished from chance.
  bool isUncertain() const;

  /// Return the number of samples in the calibration and in the report, or 0 if
  /// it is not known.
  int64_t getCalibrationSamples() const { return calibrationSamples; }
  int64_t getObservedSamples(const Point &point) const;

private:
  llvm::StringMap<const Operator *> operators;
  llvm::StringMap<const Point *> results;
  llvm::StringMap<size_t> readers;
  std::vector<const Point *> inputs;
  std::vector<const Operator *> layers;
  int64_t calibrationSamples = 0;
  /// `whole`: the value of which shares are computed.
  Real harm = 0, whole = 0;
};

using Diagnoses = std::vector<Diagnosis>;

struct Rule {
  RuleDescription description;
  void (*find)(const DiagnosisContext &, Diagnoses &);
};
llvm::ArrayRef<Rule> getSampleRules();
llvm::ArrayRef<Rule> getPointRules();
llvm::ArrayRef<Rule> getOperatorRules();
llvm::ArrayRef<Rule> getCorrectionRules();
llvm::ArrayRef<Rule> getGridRules();
/// Returns the rules that depend on what others have found.
llvm::ArrayRef<Rule> getLastRules();

//===----------------------------------------------------------------------===//
// Values and grids
//===----------------------------------------------------------------------===//

/// Share of the error above which a diagnosis is worthwhile.
inline constexpr Real kWorthALine = 0.1;

/// Mean squared error of a grid for a histogram: of the values outside of its
/// range, and of the others.
struct GridError {
  Real clipping = 0, rounding = 0;
  Real total() const { return clipping + rounding; }
};
/// Estimates the error for the point's first parameters, with step and limits
/// multiplied by `scale`. Returns none without a histogram or evenly spaced
/// levels.
std::optional<GridError> estimateError(const Statistics &statistics,
                                       const Parameters &parameters,
                                       Real scale = 1);
/// Returns the largest difference of the two distribution functions, from 0 to
/// 1. It never exceeds the true one, regardless of the bins' width. Returns
/// none without histograms.
std::optional<Real> compareDistributions(const Statistics &one,
                                         const Statistics &other);
/// Returns the root mean square of the values, estimated from the histogram.
Real getRootMeanSquare(const Statistics &statistics);
Real getMagnitude(const Statistics &statistics);

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Formats a number with three significant digits.
std::string brief(Real value);
std::string percent(Real share);
std::string quoted(llvm::StringRef name);
/// Formats numbers as in `0, 3, 5 and 9 more`.
std::string listNumbers(llvm::ArrayRef<int64_t> numbers);

/// A line of `overrides` that gives the tensor of a point more bits (the fewest
/// among its operator's alternatives) or, if there are none, leaves it float;
/// and a description of it for a sentence.
struct MoreBits {
  std::string line, words;
};
MoreBits proposeMoreBits(const DiagnosisContext &network, const Point &point);
/// Returns a line of `overrides` that gives the tensor of a point this many
/// bits.
std::string giveBits(const Point &point, int64_t bits);
/// Returns a line of `overrides` that leaves an argument or the result of an
/// operator float.
std::string leaveFloat(llvm::StringRef name);
/// Returns the option of mct-ptq that disables a correction, given its name in
/// `tpc.corrections`; empty if there is none.
std::string getSwitchOff(llvm::StringRef correction);
/// Formats a signal-to-noise ratio for a sentence: `17.3 dB`, `no error`.
std::string inDecibels(Real sqnr);
/// Same as above for a distance that is a share of the energy.
std::string describeDecibels(Real distance);
/// Name of the rule for remedies found by trials.
inline constexpr llvm::StringLiteral kMeasuredRemedy = "measured-remedy";
/// Returns the operator's name at the time its points were inserted.
llvm::StringRef getInsertedName(const Point &point);

} // namespace mct::report

#endif // MCT_LIB_REPORT_DIAGNOSEPARTS_H
