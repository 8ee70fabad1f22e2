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
  /// Computed over the last axis of one sample; none if not requested.
  std::optional<quantization::ChannelStatistics> channels;

  /// Adds all observations of `other`. Fails, and changes nothing, if only one
  /// side has per-channel statistics, if their numbers of channels differ, or
  /// if there are more than 2^63 - 1 values, which no attribute can count.
  llvm::Error merge(const PointStatistics &other);
};

/// Statistics by the unique name of the point, sorted, so that files are
/// reproducible.
using StatisticsMap = std::map<std::string, PointStatistics>;

/// A statistics file: JSON, with exact numbers (counts, and sums in hexadecimal
/// fixed point), so that loading and merging are lossless.
///
/// ```json
/// {"format": "mct-statistics", "version": 1, "instruction_set": "…",
///  "points": {"conv1": {"min": 0.0, "max": 6.0, "zeros": 12, "exponent": 3,
///             "first": 2048, "counts": […], "channels": […]}}}
/// ```
///
/// `instruction_set` is a list of names if machines of several kinds
/// contributed to the numbers.
struct StatisticsFile {
  /// Instruction sets of the machines that ran the network: results with
  /// another one may differ in the last bits.
  std::set<std::string> instructionSets;
  StatisticsMap points;

  /// Adds everything in `other`. Fails with the name of a point whose
  /// statistics cannot be merged.
  llvm::Error merge(const StatisticsFile &other);
  /// The same for one point.
  llvm::Error merge(const std::string &name, const PointStatistics &added);

  /// Loads a file. Fails with its name and the problem in it: duplicate names,
  /// or numbers that no data can have.
  static llvm::Expected<StatisticsFile> load(llvm::StringRef path);
  /// Writes to a temporary file that is renamed when complete.
  llvm::Error save(llvm::StringRef path) const;

  /// Returns `points` alone, in the format of the file.
  llvm::json::Value pointsToJson() const;
  /// Parses the result of `pointsToJson`.
  static llvm::Expected<StatisticsMap>
  pointsFromJson(const llvm::json::Object &points);
};

} // namespace mct::calibration

#endif // MCT_CALIBRATION_POINTSTATISTICS_H
