// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/PointStatistics.h"
#include <limits>

using namespace mct::calibration;

llvm::Error PointStatistics::merge(const PointStatistics &other) {
  if (channels.has_value() != other.channels.has_value())
    return llvm::createStringError(
        "has per-channel statistics on one side only; use the same "
        "channel-statistics everywhere");
  if (channels) {
    size_t own = channels->channels().size();
    size_t others = other.channels->channels().size();
    if (own && others && own != others)
      return llvm::createStringError("has %zu channels on one side and %zu on "
                                     "the other",
                                     own, others);
  }
  // Each is below 2^63, so that the sum does not overflow.
  if (histogram.count() + other.histogram.count() >
      uint64_t(std::numeric_limits<int64_t>::max()))
    return llvm::createStringError(
        "has %llu values on one side and %llu on the other, together more "
        "than can be counted",
        static_cast<unsigned long long>(histogram.count()),
        static_cast<unsigned long long>(other.histogram.count()));
  if (channels)
    channels->merge(*other.channels);
  histogram.merge(other.histogram);
  return llvm::Error::success();
}
