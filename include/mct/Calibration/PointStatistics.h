// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CALIBRATION_POINTSTATISTICS_H
#define MCT_CALIBRATION_POINTSTATISTICS_H

#include "mct/Quantization/ExactSum.h"
#include "mct/Quantization/Histogram.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <map>
#include <optional>
#include <set>
#include <string>

namespace mct::calibration {

/// Statistics of one tensor that calibration collects; merging is exact.
struct PointStatistics {
  quantization::Histogram histogram;
  /// Computed over the last axis of one sample; none when not asked for.
  std::optional<quantization::ChannelStatistics> channels;

  /// Adds everything `other` has seen. Fails, and changes nothing, when one
  /// side has per-channel statistics and the other has not, or of another
  /// number of channels, or when there were more than 2^63 - 1 values, which no
  /// attribute can count.
  llvm::Error merge(const PointStatistics &other);
};

/// Statistics by the unique name of the point, sorted, so that files are
/// reproducible.
using StatisticsMap = std::map<std::string, PointStatistics>;

/// A statistics file: JSON, with exact numbers (counts, and sums in hexadecimal
/// fixed point), so that loading and merging lose nothing.
///
/// ```json
/// {"format": "mct-statistics", "version": 1, "instruction_set": "…",
///  "points": {"conv1": {"min": 0.0, "max": 6.0, "zeros": 12, "exponent": 3,
///             "first": 2048, "counts": […], "channels": […]}}}
/// ```
///
/// `instruction_set` is a list of names where machines of several kinds had a
/// part in the numbers.
struct StatisticsFile {
  /// Instruction sets of the machines that ran the network: results of another
  /// one may differ in the last bits.
  std::set<std::string> instructionSets;
  StatisticsMap points;

  /// Adds everything `other` has. Fails with the name of a point whose
  /// statistics do not go together.
  llvm::Error merge(const StatisticsFile &other);
  /// The same for one point.
  llvm::Error merge(const std::string &name, const PointStatistics &added);

  /// Fails with the file's name and what is wrong in it: names that are there
  /// twice, numbers that no data can give.
  static llvm::Expected<StatisticsFile> load(llvm::StringRef path);
  /// Writes to a temporary that is renamed when complete.
  llvm::Error save(llvm::StringRef path) const;

  /// Returns `points` alone, as they stand in a file.
  llvm::json::Value pointsToJson() const;
  /// Reads what pointsToJson returned.
  static llvm::Expected<StatisticsMap>
  pointsFromJson(const llvm::json::Object &points);
};

} // namespace mct::calibration

#endif // MCT_CALIBRATION_POINTSTATISTICS_H
