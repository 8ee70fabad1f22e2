// SPDX-License-Identifier: Apache-2.0
//
// Tells whether one network is worse than another one, from their errors on the
// same samples.

#ifndef MCT_QUANTIZATION_PAIREDLOSS_H
#define MCT_QUANTIZATION_PAIREDLOSS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <limits>

namespace mct::quantization {

/// How much larger the squared errors of one network are than those of another
/// one.
struct PairedLoss {
  /// Loss in dB: 10 log10 of the ratio of the sums; negative where they are
  /// smaller.
  double loss = 0;
  /// Standard error of `loss`, in dB, over the samples; infinite for fewer than
  /// 4 of them.
  double standardError = std::numeric_limits<double>::infinity();
  int64_t samples = 0;

  /// Returns two standard errors, or more where so few samples say little about
  /// the standard error itself (as (n - 1) / (n - 3) grows).
  double chance() const;
  /// Returns whether other samples would show a loss, too.
  bool isBeyondChance() const { return loss > chance(); }
};

/// `with` and `without`: squared errors of the two networks, one for each
/// sample. Their order does not matter, not in the last bit either.
/// `negligible`: an error of each network that does not count, a positive sum
/// over all samples: what both compute nearly exactly is no loss. Errors that
/// are not finite are larger than all that are: a loss of `kLargestLoss`.
PairedLoss compareErrors(llvm::ArrayRef<double> with,
                         llvm::ArrayRef<double> without, double negligible);

/// Loss in dB.
inline constexpr double kLargestLoss = 300;

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_PAIREDLOSS_H
