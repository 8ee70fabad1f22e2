// SPDX-License-Identifier: Apache-2.0
//
// Corrections that are undone, and the division of samples to judge them.
#ifndef MCT_LIB_CORRECTIONS_REJECTIONS_H
#define MCT_LIB_CORRECTIONS_REJECTIONS_H

#include "SampleRun.h"
#include "mct/Execution/SampleParts.h"
#include "tpc_dialect/IR/TpcRejections.h"

namespace mct::corrections {

/// Limits on the number of samples. With at least kManySamples, kJudgingSamples
/// are held out. With fewer, each half judges the correction fitted to the
/// other one. With fewer than kFewSamples, none are held out, and with fewer
/// than kFewestSamples, nothing is judged.
inline constexpr int64_t kManySamples = 256, kFewSamples = 16,
                         kFewestSamples = 4, kJudgingSamples = 64;

/// Divides the samples into those to fit and those to judge; none if all
/// samples do both, because there are few of them or the batch is fixed, or if
/// nothing is judged. Emits a diagnostic at `loc` if samples cannot be read.
mlir::FailureOr<std::optional<execution::SampleParts>>
divideToJudge(mlir::Location loc, const execution::Executor &executor,
              const std::shared_ptr<const execution::SampleSource> &samples,
              bool judges);

/// A correction that is undone in some layers.
struct Rejection {
  std::vector<Layer *> layers;
  JudgedLoss loss;

  /// Adds a layer; `loss` becomes the largest of the losses of the layers.
  void add(Layer *layer, const JudgedLoss &own);
  /// Writes the rejection to the function, and emits a remark with the flag
  /// `pass` for each layer unless the flag is empty.
  void record(const Layers &found, llvm::StringRef correction,
              llvm::StringRef pass) const;
};

/// Returns the record of a loss in the IR.
tpc::RejectedCorrection describeRejection(llvm::StringRef correction,
                                          const JudgedLoss &loss);
/// Returns the record of a loss for a remark.
Record describeLoss(const JudgedLoss &loss);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_REJECTIONS_H
