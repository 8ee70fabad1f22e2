// SPDX-License-Identifier: Apache-2.0
//
// The teacher of a training run, with which the network is compared.
#ifndef MCT_LIB_TRAINING_TEACHER_H
#define MCT_LIB_TRAINING_TEACHER_H

#include "CompiledTraining.h"

namespace mct::training {

class Teacher {
public:
  /// `chosen`: the samples of the run. The results of all of them are kept if
  /// they take at most `settings.teacherBytes`.
  Teacher(const CompiledTraining &compiled,
          const execution::SampleSource &source, llvm::ArrayRef<int64_t> chosen,
          const TrainingSettings &settings, const execution::RunSettings &run);
  ~Teacher();

  bool hasMemory() const;
  bool keepsResults() const { return keeps; }

  /// Returns the batch with the teacher's values, valid until the next call.
  /// `places`: indices of the batch's samples among the chosen ones, or empty
  /// if they are not known.
  llvm::Expected<TrainingBatch> begin(llvm::ArrayRef<int64_t> samples,
                                      llvm::ArrayRef<int64_t> places);

private:
  struct Lane;
  /// Runs the teacher on samples and writes one block for each result.
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
  /// Results for a batch, and for all chosen samples if they are kept.
  std::vector<std::vector<float>> batch, kept;
  std::vector<llvm::ArrayRef<float>> views;
};

} // namespace mct::training

#endif // MCT_LIB_TRAINING_TEACHER_H
