// SPDX-License-Identifier: Apache-2.0
//
// The teacher of a training run: the results that the network is compared with.
#ifndef MCT_LIB_TRAINING_TEACHER_H
#define MCT_LIB_TRAINING_TEACHER_H

#include "CompiledTraining.h"

namespace mct::training {

class Teacher {
public:
  /// `chosen` has the samples of the run. Results of all of them are kept if
  /// they need at most `settings.teacherBytes`.
  Teacher(const CompiledTraining &compiled,
          const execution::SampleSource &source, llvm::ArrayRef<int64_t> chosen,
          const TrainingSettings &settings, const execution::RunSettings &run);
  ~Teacher();

  bool hasMemory() const;
  bool keepsResults() const { return keeps; }

  /// Returns the batch with the values of the teacher, valid until the next
  /// call. `places` has the positions of its samples among the chosen ones;
  /// empty if unknown.
  llvm::Expected<TrainingBatch> begin(llvm::ArrayRef<int64_t> samples,
                                      llvm::ArrayRef<int64_t> places);

private:
  struct Lane;
  /// Runs the teacher on samples, into one block for each result.
  llvm::Error run(llvm::ArrayRef<int64_t> samples,
                  std::vector<std::vector<float>> &blocks);
  llvm::Error runUnit(Lane &lane, llvm::ArrayRef<int64_t> samples,
                      int64_t first,
                      std::vector<std::vector<float>> &blocks) const;

  const CompiledTraining &compiled;
  const execution::SampleSource &source;
  llvm::ArrayRef<int64_t> chosen;
  const execution::RunSettings &settings;
  std::vector<std::unique_ptr<Lane>> lanes;
  bool keeps = false;
  /// Results of a batch, and of all chosen samples if they are kept.
  std::vector<std::vector<float>> batch, kept;
  std::vector<llvm::ArrayRef<float>> views;
};

} // namespace mct::training

#endif // MCT_LIB_TRAINING_TEACHER_H
