// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_CHANGEDANSWERS_H
#define MCT_LIB_REPORT_CHANGEDANSWERS_H

#include "mct/Evaluation/Evaluation.h"
#include "mct/Execution/Shards.h"
#include "mct/Report/Report.h"
#include <map>
#include <mutex>

namespace mct::report {

/// Finds samples whose class with the largest score differs from the reference,
/// if the first result may be a row of scores.
class ChangedAnswers {
public:
  /// Adds the samples of a unit. Thread-safe.
  llvm::Error add(const execution::SeenResults &seen);
  /// Records the added samples as those of the current shard, or loads those
  /// that all shards have recorded.
  mlir::LogicalResult exchange(execution::Shards &shards, bool isMeasured);

  /// Returns the share of correct answers of the reference.
  std::optional<double> referenceTop1() const;
  void fillChanges(Report &report) const;

private:
  static constexpr int64_t kMaxClasses = 64;
  static constexpr size_t kMaxChanged = 64;

  /// Keeps only the first changed samples.
  void trim();
  llvm::json::Object toJson() const;
  llvm::Error readJson(const llvm::json::Object &object);

  std::mutex mutex;
  bool hasLabels = false;
  int64_t classes = 0, samples = 0, correct = 0, numChanged = 0;
  /// The first changed samples, by number.
  std::map<int64_t, ChangedPrediction> changed;
  /// Number of samples for each pair of a float and a simulated class, -1 for
  /// none.
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_CHANGEDANSWERS_H
