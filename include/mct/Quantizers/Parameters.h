// SPDX-License-Identifier: Apache-2.0
//
// Options and results of the searches for quantization parameters, which are
// in mct/Quantization/Selection.h and mct/Quantization/Lut.h.

#ifndef MCT_QUANTIZERS_PARAMETERS_H
#define MCT_QUANTIZERS_PARAMETERS_H

#include "mct/Quantizers/Kinds.h"

#include <cstdint>
#include <limits>
#include <vector>

namespace mct::quantization {

struct SelectionOptions {
  QuantizationMethod kind = QuantizationMethod::PowerOfTwo;
  /// Width of the stored integer, sign included; 1..16.
  unsigned bits = 8;
  /// Tells whether a symmetric grid has negative levels. The uniform kind and
  /// the weight functions do not read it: weights are always signed.
  bool isSigned = true;
  ErrorMethod errorMethod = ErrorMethod::MSE;
  /// p of the LP method, 1..64.
  double lpNorm = 2;
  /// Percentile method: the part of the weight, in percent above 0 up to 100,
  /// whose magnitudes are covered (uniform: on each side of zero).
  double percentile = 99.99;
  /// Activations: values further than this many standard deviations from the
  /// mean are left out, of the range and of the error. Infinity: none.
  double zThreshold = std::numeric_limits<double>::infinity();
  /// Smallest threshold of the symmetric kinds, and the step of a uniform grid
  /// when every value is zero. Positive. Rounded up to a power of two for
  /// PowerOfTwo.
  double minThreshold = 0x1p-16;
  /// Weights, where the mean squared error is minimized: the largest threshold
  /// (or step) is taken whose error is at most so many times the least one.
  /// Codes are smaller then, and compress better. At least 1.
  double errorTolerance = 1;
};

struct SelectedParameters {
  /// Symmetric kinds, else 0.
  double threshold = 0;
  /// Uniform kind, else 0. Real value = step * (q - zeroPoint).
  double step = 0;
  int64_t zeroPoint = 0;
  /// Error of the selected grid over the given values, in the unit of the error
  /// method: mean |e|^p in the unit of the values to the p (p = 1 for MAE, 2
  /// for MSE and HMSE and for the methods that minimize nothing), nats for KL.
  /// selectForBounds: 0, there are no values.
  double error = 0;
  Certificate certificate = Certificate::None;
  /// Certificate::Bound: no parameters of the kind have an error below error /
  /// (1 + bound). 0 for the exact ones, infinity for None.
  double bound = std::numeric_limits<double>::infinity();
  /// Tells whether the step is a larger one than that of the least error, as
  /// `errorTolerance` allows.
  bool isLarger = false;
};

struct LutParameters {
  /// One, or one per channel.
  std::vector<double> thresholds;
  /// The table, ascending, without repetitions.
  std::vector<int64_t> table;
  /// Mean squared error over the given values.
  double error = 0;
  Certificate certificate = Certificate::ExactAtThreshold;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_PARAMETERS_H
