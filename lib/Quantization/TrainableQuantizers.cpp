// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/TrainableQuantizers.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <cmath>

using namespace mct;
using namespace mct::quantization;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

double quantization::getEffectiveThreshold(double threshold,
                                           bool isPowerOfTwo) {
  threshold = std::max(threshold, kSmallestThreshold);
  if (!isPowerOfTwo)
    return threshold;
  int exponent;
  // The mantissa is in [1/2, 1): that of a power of two is 1/2, with the next
  // exponent.
  double mantissa = std::frexp(threshold, &exponent);
  return std::ldexp(1.0, mantissa == 0.5 ? exponent - 1 : exponent);
}

TrainedRange quantization::getEffectiveRange(TrainedRange range) {
  if (range.max - range.min >= 2 * kSmallestThreshold)
    return range;
  double middle = (range.min + range.max) / 2;
  return {middle - kSmallestThreshold, middle + kSmallestThreshold};
}

double quantization::learnedStepGradientScale(unsigned bits, bool isSigned,
                                              int64_t parameters) {
  double above = std::ldexp(1.0, int(bits) - int(isSigned)) - 1;
  return 1 / std::sqrt(std::max(1.0, above * double(parameters)));
}

//===----------------------------------------------------------------------===//
// Rounding that is learned
//===----------------------------------------------------------------------===//

/// Ends of the stretched sigmoid.
static constexpr double kGamma = -0.1, kZeta = 1.1;
/// Error of h for a variable at an end, because variables are f32.
static constexpr double kEndTolerance = 1e-6;

static double sigmoid(double value) { return 1 / (1 + std::exp(-value)); }

static double stretch(double variable) {
  return sigmoid(variable) * (kZeta - kGamma) + kGamma;
}

double quantization::soften(double variable) {
  return std::clamp(stretch(variable), 0.0, 1.0);
}

double quantization::softenDerivative(double variable) {
  double stretched = stretch(variable);
  // A weight on a level starts at an end of the range, where it would remain
  // without the tolerance.
  if (stretched < -kEndTolerance || stretched > 1 + kEndTolerance)
    return 0;
  double value = sigmoid(variable);
  return (kZeta - kGamma) * value * (1 - value);
}

double quantization::unsoften(double soft) {
  return -std::log((kZeta - kGamma) / (soft - kGamma) - 1);
}

double quantization::roundingRegularizer(ArrayRef<float> variables,
                                         double power) {
  double sum = 0;
  for (float variable : variables)
    sum += 1 - std::pow(std::abs(2 * soften(variable) - 1), power);
  return sum;
}

void quantization::addRoundingRegularizerGradient(
    ArrayRef<float> variables, double power, double factor,
    MutableArrayRef<float> gradients) {
  for (auto [variable, gradient] : llvm::zip(variables, gradients)) {
    double both = 2 * soften(variable) - 1;
    double bySoft =
        -2 * power * std::copysign(std::pow(std::abs(both), power - 1), both);
    gradient += float(factor * bySoft * softenDerivative(variable));
  }
}

llvm::Expected<std::vector<double>>
quantization::regularizerFactors(ArrayRef<double> importances, size_t layers,
                                 double factor) {
  if (importances.size() != layers)
    return llvm::createStringError(
        llvm::formatv("expected the importances of {0} layers, found {1}",
                      layers, importances.size()));
  double largest = 0;
  for (double importance : importances) {
    if (!(importance >= 0) || std::isinf(importance))
      return llvm::createStringError(
          "an importance is a finite number from 0 on, found %g", importance);
    largest = std::max(largest, importance);
  }
  if (layers != 0 && largest == 0)
    return llvm::createStringError("all importances are 0");
  std::vector<double> factors;
  for (double importance : importances)
    factors.push_back(factor * importance / largest);
  return factors;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

llvm::Expected<LinearAnnealing> LinearAnnealing::create(int64_t start,
                                                        int64_t end,
                                                        double initial,
                                                        double target) {
  if (start < 0 || end <= start)
    return llvm::createStringError(llvm::formatv(
        "expected steps 0 <= start < end, found {0} and {1}", start, end));
  return LinearAnnealing{start, end, initial, target};
}

double LinearAnnealing::at(int64_t step) const {
  double share = double(step - start) / double(end - start);
  return initial + std::clamp(share, 0.0, 1.0) * (target - initial);
}

llvm::Expected<LinearAnnealing>
quantization::createQuantizedFraction(double initial, double target,
                                      int64_t start, int64_t end) {
  if (!(initial >= 0) || !(target > initial) || !(target <= 1))
    return llvm::createStringError(
        "expected fractions 0 <= initial < target <= 1, found %g and %g",
        initial, target);
  return LinearAnnealing::create(start, end, initial, target);
}
