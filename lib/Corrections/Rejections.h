// SPDX-License-Identifier: Apache-2.0
//
// Corrections that are undone, and how samples are divided to find out.
#ifndef MCT_LIB_CORRECTIONS_REJECTIONS_H
#define MCT_LIB_CORRECTIONS_REJECTIONS_H

#include "SampleRun.h"
#include "mct/Execution/SampleParts.h"
#include "tpc_dialect/IR/TpcRejections.h"

namespace mct::corrections {

/// Numbers of samples: from kManySamples on some are held out. With fewer, both
/// halves judge what is fitted to the other one; of fewer than kFewSamples none
/// are held out; fewer than kFewestSamples say nothing.
inline constexpr int64_t kManySamples = 256, kFewSamples = 16,
                         kFewestSamples = 4, kJudgingSamples = 64;

/// Returns both parts; none where all samples are fitted to and judge, because
/// they are few or those of a fixed batch, or where nothing is judged. A
/// diagnostic at `loc` when samples cannot be read.
mlir::FailureOr<std::optional<execution::SampleParts>>
divideToJudge(mlir::Location loc, const execution::Executor &executor,
              const std::shared_ptr<const execution::SampleSource> &samples,
              bool judges);

/// A correction that is undone in some layers.
struct Rejection {
  std::vector<Layer *> layers;
  JudgedLoss loss;

  /// A layer with a loss of its own.
  void add(Layer *layer, const JudgedLoss &own);
  /// Writes it to the function; `pass`: that of the remarks, one for each
  /// layer; empty: none.
  void record(const Layers &found, llvm::StringRef correction,
              llvm::StringRef pass) const;
};

/// Returns what stands in the IR of a loss.
tpc::RejectedCorrection describeRejection(llvm::StringRef correction,
                                          const JudgedLoss &loss);
/// Returns what a remark says of it.
Record describeLoss(const JudgedLoss &loss);

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_REJECTIONS_H
