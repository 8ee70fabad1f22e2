// SPDX-License-Identifier: Apache-2.0
//
// Decides whether one network is worse than another one, from their errors on
// the same samples.

#ifndef MCT_QUANTIZATION_PAIREDLOSS_H
#define MCT_QUANTIZATION_PAIREDLOSS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <limits>

namespace mct::quantization {

/// Excess, in dB, of the squared errors of one network over those of another
/// one.
struct PairedLoss {
  /// Loss in dB: 10 log10 of the ratio of the sums; negative if those of the
  /// first network are smaller.
  double loss = 0;
  /// Standard error of `loss`, in dB, over the samples; infinite for fewer than
  /// 4 of them.
  double standardError = std::numeric_limits<double>::infinity();
  int64_t samples = 0;

  /// Returns two standard errors, or more for so few samples that the standard
  /// error itself is uncertain (by the root of (n - 1) / (n - 3)).
  double chance() const;
  /// Returns whether other samples are expected to show a loss, too.
  bool isBeyondChance() const { return loss > chance(); }
};

/// Compares `with` and `without`, the squared errors of the two networks, one
/// for each sample. The result does not depend on their order, not even in the
/// last bit. `negligible` is a positive error, summed over all samples, that is
/// ignored in each network: where both are nearly exact, there is no loss.
/// Errors that are not finite are larger than all finite ones: a loss of
/// `kLargestLoss`.
PairedLoss compareErrors(llvm::ArrayRef<double> with,
                         llvm::ArrayRef<double> without, double negligible);

/// Largest loss, in dB.
inline constexpr double kLargestLoss = 300;

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_PAIREDLOSS_H
