// SPDX-License-Identifier: Apache-2.0
//
// Sensitivity of the results of a float network to values inside it, estimated
// with random vectors: Hutchinson's method.
#ifndef MCT_TRAINING_HESSIANSCORES_H
#define MCT_TRAINING_HESSIANSCORES_H

#include "mct/Execution/Run.h"
#include "mct/Execution/RunCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <vector>

namespace mct {

/// The random vectors of a sample: signs +-1, one for each element of all
/// results. They depend on a seed and on the values of the sample, not on its
/// position.
class RandomSigns {
public:
  /// `sample` holds the bytes of each input, `elements` is the number of
  /// elements of all results.
  RandomSigns(uint64_t seed, llvm::ArrayRef<llvm::ArrayRef<char>> sample,
              int64_t elements);

  /// Writes the signs of vector `vector` from element `first` on.
  void fill(int64_t vector, int64_t first,
            llvm::MutableArrayRef<float> signs) const;

private:
  uint64_t key;
  int64_t words;
};

/// Reductions of the mean squared gradients of the elements of a value to a
/// score.
enum class ScoreReduction {
  /// Their sum: the trace of J^T J, where J is the derivative of the results by
  /// the value.
  Sum,
  /// The largest over the channels (the last axis), each a mean over positions.
  LargestChannel,
};

struct HessianOptions {
  ScoreReduction reduction = ScoreReduction::Sum;
  uint64_t seed = 0;
  /// Largest number of vectors for each sample, at least 1. After the first
  /// ten, fewer are used if another one changes no mean by more than the
  /// relative `tolerance`.
  int64_t maxVectors = 100;
  double tolerance = 1e-3;
  /// Approximate number of samples, chosen by `thinSamples`; all samples if it
  /// is 0 or the batch is fixed.
  int64_t maxSamples = 0;
  execution::RunOptions run;
  /// Limit on the memory, as in `CompileOptions::maxMemory`.
  int64_t maxMemory = 0;
  /// Cache that is shared with other runs; may be null.
  std::shared_ptr<execution::RunCache> cache;
};

struct HessianScores {
  int64_t samples = 0, layers = 0;
  /// [samples, layers].
  std::vector<double> scores;
  /// Number of vectors that each sample took.
  std::vector<int64_t> vectors;

  /// Returns the mean of each layer over the samples, which does not depend on
  /// their order.
  std::vector<double> means() const;
};

/// Computes for each sample and each of `values` (results of ops of `function`,
/// or arguments; f32, the batch first) the mean of the squares of d(sum v f) /
/// d(value) over random vectors v, where f are the f32 results. The network is
/// computed without its points. If a result is a softmax, or an argmax, f is
/// its operand: after a saturated softmax every gradient would be 0. A value
/// that no f depends on has the score 0.
///
/// `samples` are those of the arguments of the function. The scores of a sample
/// depend on its values and on `seed`, not on threads, batches and its
/// position.
///
/// Emits the diagnostics of `addGradient`, and one if there is no such f, if
/// the samples do not fit the function, if scores are not finite, and if
/// `run.progress` is cancelled.
///
/// Source: MCT, Hessian scores of activations, which rejects such results.
mlir::FailureOr<HessianScores>
computeHessianScores(mlir::func::FuncOp function,
                     llvm::ArrayRef<mlir::Value> values,
                     std::shared_ptr<const execution::SampleSource> samples,
                     const HessianOptions &options);

} // namespace mct

#endif // MCT_TRAINING_HESSIANSCORES_H
