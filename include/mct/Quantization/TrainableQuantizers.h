// SPDX-License-Identifier: Apache-2.0
//
// Parameters of trainable quantizers, as far as they are computed outside the
// networks that train them.
#ifndef MCT_QUANTIZATION_TRAINABLEQUANTIZERS_H
#define MCT_QUANTIZATION_TRAINABLEQUANTIZERS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace mct::quantization {

/// The smallest threshold, and half of the narrowest range.
inline constexpr double kSmallestThreshold = 0x1p-16;

/// Returns the threshold that a learned threshold stands for: at least
/// kSmallestThreshold and, if `isPowerOfTwo`, the smallest power of two that is
/// not below it.
double getEffectiveThreshold(double threshold, bool isPowerOfTwo);

struct TrainedRange {
  double min = 0, max = 0;
};
/// Returns the range that a learned range stands for, which is at least 2 *
/// kSmallestThreshold wide.
TrainedRange getEffectiveRange(TrainedRange range);

/// Share of its mean that an observer of averaged ranges keeps, and the range
/// that observers of unknown values begin with. Source: TensorFlow Model
/// Optimization, `quantize.quantizers`.
inline constexpr double kObserverDecay = 0.999;
inline constexpr TrainedRange kFirstRange = {-6, 6};

/// Returns 1 / sqrt(levels above zero * parameters): the scale of the gradients
/// of thresholds and ranges that MCT takes for LSQ. `parameters` is the number
/// of channels of a weight, or the size of the last axis of an activation.
double learnedStepGradientScale(unsigned bits, bool isSigned,
                                int64_t parameters);

//===----------------------------------------------------------------------===//
// Rounding that is learned
//===----------------------------------------------------------------------===//

/// Return h in [0, 1], a sigmoid of the variable that is stretched so that it
/// reaches both ends, and its derivative, which does not vanish at the ends.
/// Source: Nagel et al., Up or Down? Adaptive Rounding for Post-Training
/// Quantization (ICML 2020).
double soften(double variable);
double softenDerivative(double variable);
/// Returns the variable of an h in [0, 1].
double unsoften(double soft);

/// Returns the sum of 1 - |2 h - 1|^power over the variables, which is zero
/// when all are decided.
double roundingRegularizer(llvm::ArrayRef<float> variables, double power);
/// Adds `factor` times the derivative of the regularizer by each variable to
/// `gradients`.
void addRoundingRegularizerGradient(llvm::ArrayRef<float> variables,
                                    double power, double factor,
                                    llvm::MutableArrayRef<float> gradients);
/// Returns factor * importance / largest importance for each layer. Fails
/// unless there is one importance for each layer, none is negative, and not all
/// are zero.
llvm::Expected<std::vector<double>>
regularizerFactors(llvm::ArrayRef<double> importances, size_t layers,
                   double factor);

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

/// Changes linearly from `initial` to `target` between two steps, and is
/// constant outside.
struct LinearAnnealing {
  int64_t start = 0, end = 1;
  double initial = 0, target = 1;

  /// Fails unless 0 <= start < end.
  static llvm::Expected<LinearAnnealing> create(int64_t start, int64_t end,
                                                double initial, double target);
  double at(int64_t step) const;
};

/// Returns the schedule of the share of an activation that is quantized, from
/// `initial` to `target`. Fails unless 0 <= initial < target <= 1 and 0 <=
/// start < end.
llvm::Expected<LinearAnnealing> createQuantizedFraction(double initial,
                                                        double target,
                                                        int64_t start,
                                                        int64_t end);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_TRAINABLEQUANTIZERS_H
