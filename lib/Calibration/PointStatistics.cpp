// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/PointStatistics.h"

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
    channels->merge(*other.channels);
  }
  histogram.merge(other.histogram);
  return llvm::Error::success();
}
