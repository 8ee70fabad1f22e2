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
  /// True if a symmetric grid has negative levels. The uniform kind and the
  /// weight functions ignore it: weights are always signed.
  bool isSigned = true;
  ErrorMethod errorMethod = ErrorMethod::MSE;
  /// Exponent p of the LP method, 1..64.
  double lpNorm = 2;
  /// Percentile method: share of the weight whose magnitudes are covered
  /// (uniform: on each side of zero), in percent, above 0 and at most 100.
  double percentile = 99.99;
  /// Activations: values further than this many standard deviations from the
  /// mean are excluded from the range and from the error. Infinity excludes
  /// none.
  double zThreshold = std::numeric_limits<double>::infinity();
  /// Smallest threshold of the symmetric kinds, and the step of a uniform grid
  /// when every value is zero. Positive; rounded up to a power of two for
  /// PowerOfTwo.
  double minThreshold = 0x1p-16;
  /// Weights, if the mean squared error is minimized: selects the largest
  /// threshold (or step) whose error is at most this factor times the least
  /// error. Codes are smaller then, and compress better. At least 1.
  double errorTolerance = 1;
};

struct SelectedParameters {
  /// Threshold of the symmetric kinds, else 0.
  double threshold = 0;
  /// Step and zero point of the uniform kind, else 0. Real value = step * (q -
  /// zeroPoint).
  double step = 0;
  int64_t zeroPoint = 0;
  /// Error of the selected grid over the given values, in the unit of the error
  /// method: mean |e|^p in the unit of the values to the p (p = 1 for MAE, 2
  /// for MSE and HMSE and for the methods that minimize nothing), nats for KL.
  /// 0 for `selectForBounds`, which has no values.
  double error = 0;
  Certificate certificate = Certificate::None;
  /// Bound of Certificate::Bound: no parameters of the kind have an error below
  /// error / (1 + bound). 0 for the exact certificates, infinity for None.
  double bound = std::numeric_limits<double>::infinity();
  /// True if the step is larger than that of the least error, as
  /// `errorTolerance` allows.
  bool isLarger = false;
};

struct LutParameters {
  /// One threshold, or one per channel.
  std::vector<double> thresholds;
  /// The table, ascending, without repetitions.
  std::vector<int64_t> table;
  /// Mean squared error over the given values.
  double error = 0;
  Certificate certificate = Certificate::ExactAtThreshold;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_PARAMETERS_H
