// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_LIB_QUANTIZATION_CLIPPINGRULES_H
#define MCT_LIB_QUANTIZATION_CLIPPINGRULES_H

#include "StepSearch.h"

namespace mct::quantization {

/// Ends of a range in scaled units, lo <= 0 <= hi.
struct ClippingRange {
  double lo = 0;
  double hi = 0;
};

/// Returns the range of the values that remain when the magnitudes above the
/// given percentile (percent of the weight, nearest rank) are clipped to it.
ClippingRange percentileOfMagnitudes(const ScaledAtoms &atoms, double percent);

/// Returns the range from the (100 - percent)th to the percent-th percentile,
/// extended to zero.
ClippingRange percentileOfValues(const ScaledAtoms &atoms, double percent);

/// Computes OCTAV for a grid from -s (or 0) to s with `bits` bits: the fixed
/// point of s = (sum of the magnitudes above s) / (a * weight of those in (0,
/// s] + weight of those above s), a = 4^-bits / 3, unsigned 4^-bits / 12. It is
/// where the derivative of clipping error plus step^2 / 12 vanishes. Source:
/// Sakr et al., "Optimal Clipping and Magnitude-aware Differentiation for
/// Improved Quantization-aware Training", 2022, equation 6.
double octavThreshold(const ScaledAtoms &atoms, unsigned bits, bool isSigned);

/// Returns the range with the same condition at both ends, with step = width /
/// 2^bits.
ClippingRange octavRange(const ScaledAtoms &atoms, unsigned bits);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_CLIPPINGRULES_H
