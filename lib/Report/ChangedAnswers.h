// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_CHANGEDANSWERS_H
#define MCT_LIB_REPORT_CHANGEDANSWERS_H

#include "mct/Evaluation/Evaluation.h"
#include "mct/Execution/Shards.h"
#include "mct/Report/Report.h"
#include <map>
#include <mutex>

namespace mct::report {

/// Finds samples whose largest scores differ from those of the reference, for a
/// first result that may be a row of scores.
class ChangedAnswers {
public:
  /// Adds the samples of a unit; several threads may do so.
  llvm::Error add(const execution::UnitResults &results);
  /// Records the added samples as those of the current shard, or merges those
  /// that all shards have recorded.
  mlir::LogicalResult exchange(execution::Shards &shards, bool isMeasured);

  /// Returns the share of correct answers of the reference.
  std::optional<double> referenceTop1() const;
  void fillChanges(Report &report) const;

private:
  static constexpr int64_t kMaxClasses = 64;
  static constexpr size_t kMaxChanged = 64;

  /// Keeps the first of the changed samples.
  void trim();
  llvm::json::Object toJson() const;
  llvm::Error readJson(const llvm::json::Object &object);

  std::mutex mutex;
  bool hasLabels = false;
  int64_t classes = 0, samples = 0, correct = 0, numChanged = 0;
  /// The first of them, by number.
  std::map<int64_t, ChangedPrediction> changed;
  /// Number of samples of each pair of a float and a simulated class; -1 if
  /// there is none.
  std::map<std::pair<int64_t, int64_t>, int64_t> counts;
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_CHANGEDANSWERS_H
