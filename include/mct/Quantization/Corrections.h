// SPDX-License-Identifier: Apache-2.0
//
// Arithmetic of the passes that correct a quantized network.

#ifndef MCT_QUANTIZATION_CORRECTIONS_H
#define MCT_QUANTIZATION_CORRECTIONS_H

#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/Grid.h"

#include "llvm/ADT/ArrayRef.h"

#include <optional>

namespace mct::quantization {

/// Mean and standard deviation.
struct Moments {
  double mean = 0;
  double deviation = 0;
};

/// Returns the moments of max(0, x) for x normally distributed with these
/// moments. `deviation` >= 0.
Moments rectifiedMoments(const Moments &moments);

/// Returns the factor <= 1 that reduces the standard deviation of max(0, x) to
/// 1; 1 if the deviation is not above 1. Source: MCT `scale_equalization`.
double equalizationFactor(const Moments &beforeRelu);

/// Returns the smallest multiple of the unsigned step threshold / 2^bits that
/// lifts `minimum` to zero or above; 0 for a minimum >= 0. Returns none if no
/// multiple below the threshold does. Source: MCT `shift_negative_function`.
std::optional<double> shiftForNegative(double minimum, double threshold,
                                       unsigned bits);

/// Returns whether a negative tail is short enough to be shifted: minimum < 0
/// and |minimum| / threshold <= ratio.
bool isShortNegativeTail(double minimum, double threshold, double ratio);

/// A shift with the unsigned threshold that quantizes the shifted values.
struct NegativeShift {
  double shift = 0;
  double threshold = 0;
  /// Mean squared error over the atoms, of clipping as well as of rounding.
  double error = 0;
};

/// Returns the best shift for `threshold` and twice `threshold`, over all
/// multiples of their steps up to the one that lifts the smallest atom to zero.
/// Prefers the smaller threshold among equal errors, then the larger shift.
///
/// MCT's parameter search also tries larger shifts, which can win by
/// coincidence of rounding: no value needs them, and values at the upper end
/// that calibration has not seen would be clipped. Source: MCT
/// `shift_negative_function` with `shift_negative_params_search`.
NegativeShift searchNegativeShift(llvm::ArrayRef<Atom> atoms, double threshold,
                                  unsigned bits);

/// Returns the mean of the quantized values minus the mean of the float values
/// of a histogram whose bins lie between consecutive `edges` (counts.size() + 1
/// of them). A bin stands for its centre; its quantized value is the mean of
/// its quantized edges. Returns 0 if there are no counts. Source: MCT
/// `compute_activation_bias_correction`.
double meanQuantizationError(llvm::ArrayRef<double> edges,
                             llvm::ArrayRef<double> counts, const Grid &grid);

/// The function value -> scale * value + offset.
struct Affine {
  double scale = 1;
  double offset = 0;
};

/// Returns the correction that gives the output of a channel the moments of the
/// float network again: scale = deviation_float / deviation_quantized, offset =
/// mean_float - scale * mean_quantized. Kernel, threshold and bias of the
/// channel are multiplied by the scale, and the offset is added to the bias. A
/// channel that is constant in one of the two networks keeps its scale. Source:
/// MCT `apply_second_moment_correction_to_graph`.
Affine secondMomentCorrection(const Moments &floating,
                              const Moments &quantized);

/// Returns the offset that makes the range [lo, hi] of the operand of a softmax
/// symmetric. Source: MCT `softmax_shift`.
inline double softmaxShift(double lo, double hi) { return -(lo + hi) / 2; }

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_CORRECTIONS_H
