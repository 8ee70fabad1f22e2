// SPDX-License-Identifier: Apache-2.0
//
// Parts that the rules of a diagnosis share.
#ifndef MCT_LIB_REPORT_DIAGNOSEPARTS_H
#define MCT_LIB_REPORT_DIAGNOSEPARTS_H

#include "mct/Report/Diagnose.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

namespace mct::report {

/// Largest standard error of a mean distance, as a share of it: two of them
/// equal the distance itself, which then cannot be distinguished from zero.
inline constexpr Real kLargestStandardError = 0.5;

/// Returns whether it is an argument of the network and computes nothing.
bool isArgument(const Operator &op);
/// Returns whether the values of the result are some of those of the input, or
/// zeros.
bool movesOrSelects(const Operator &op);

/// A report, prepared for rules.
class DiagnosisContext {
public:
  explicit DiagnosisContext(const Report &report);

  const Report &report;

  /// Return the operator with that name, or null.
  const Operator *getOperator(llvm::StringRef name) const {
    return operators.lookup(name);
  }
  const Operator *getOwner(const Point &point) const {
    return getOperator(point.owner);
  }
  /// Returns the point of an operator's result, or of an argument; null without
  /// parameters.
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
  size_t countUsers(llvm::StringRef name) const { return users.lookup(name); }

  /// Returns the severity of the point for the results: its share, less if the
  /// whole distance is small.
  Real getSeverity(const Point &point) const {
    return getSeverity(getShare(point));
  }
  Real getSeverity(Real share) const;
  /// Returns the share of the distance that it causes in the network as it is.
  Real getShare(const Point &point) const;
  /// Returns how much the distance of the results matters, 0 to 1.
  Real getHarm() const { return harm; }
  /// Returns the standard error of the mean distance of the results over
  /// `samples` samples, as a share of it; 0 if unknown.
  Real getStandardError(int64_t samples) const;
  /// Returns whether the distance of the results, and thus the shares of the
  /// points, cannot be distinguished from chance.
  bool isUncertain() const;

  /// Return the number of samples of the calibration and of the report; 0 if
  /// unknown.
  int64_t getCalibrationSamples() const { return calibrationSamples; }
  int64_t getObservedSamples(const Point &point) const;

private:
  llvm::StringMap<const Operator *> operators;
  llvm::StringMap<const Point *> results;
  llvm::StringMap<size_t> users;
  std::vector<const Point *> inputs;
  std::vector<const Operator *> layers;
  int64_t calibrationSamples = 0;
  Real harm = 0;
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
/// Returns the rules that use the results of others.
llvm::ArrayRef<Rule> getLastRules();

//===----------------------------------------------------------------------===//
// Values and grids
//===----------------------------------------------------------------------===//

/// Smallest share of the error that is worth a line.
inline constexpr Real kWorthALine = 0.1;

/// Mean squared error of a grid over a histogram, of the values beyond its ends
/// and of the others.
struct GridError {
  Real clipping = 0, rounding = 0;
  Real total() const { return clipping + rounding; }
};
/// Returns the error of the first parameters of the point, with step and ends
/// multiplied by `scale`. None without a histogram or evenly spaced levels.
std::optional<GridError> estimateError(const Statistics &statistics,
                                       const Parameters &parameters,
                                       Real scale = 1);
/// Returns the largest difference of the two distribution functions, 0 to 1;
/// never above the true one, however wide bins are. None without histograms.
std::optional<Real> compareDistributions(const Statistics &one,
                                         const Statistics &other);
/// Returns the root of the mean square of the values, by the histogram.
Real getRootMeanSquare(const Statistics &statistics);
Real getMagnitude(const Statistics &statistics);

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

/// Returns a number with three significant digits.
std::string brief(Real value);
std::string percent(Real share);
std::string quoted(llvm::StringRef name);
/// Returns `0, 3, 5 and 9 more`.
std::string listNumbers(llvm::ArrayRef<int64_t> numbers);

/// A line of `overrides` that gives the tensor of a point more bits, the fewest
/// of the alternatives of its operator, or leaves it float if there are none;
/// and a description of it, for a sentence.
struct MoreBits {
  std::string line, words;
};
MoreBits proposeMoreBits(const DiagnosisContext &network, const Point &point);
/// Returns a line of `overrides` that gives the tensor of a point `bits` bits.
std::string giveBits(const Point &point, int64_t bits);
/// Returns a line of `overrides` that leaves the result of an operator or an
/// argument float.
std::string leaveFloat(llvm::StringRef name);
/// Returns the option of mct-ptq that switches a correction off, by its name in
/// `tpc.corrections`; empty if there is none.
std::string getSwitchOff(llvm::StringRef correction);
/// Returns a signal-to-noise ratio, for a sentence: `17.3 dB`, `no error`.
std::string inDecibels(Real sqnr);
/// Returns the same of a distance that is a share of the energy.
std::string describeDecibels(Real distance);
/// Returns a clause on the distances without and with a remedy.
std::string describeGain(const Trial &trial);
/// Name of the rule for remedies that trials found.
inline constexpr llvm::StringLiteral kMeasuredRemedy = "measured-remedy";
/// Returns the name of the operator at the time its points were inserted.
llvm::StringRef getInsertedName(const Point &point);

} // namespace mct::report

#endif // MCT_LIB_REPORT_DIAGNOSEPARTS_H
