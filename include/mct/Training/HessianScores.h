// SPDX-License-Identifier: Apache-2.0
//
// How much the results of a float network change with values inside of it, by
// random vectors: Hutchinson's method.
#ifndef MCT_TRAINING_HESSIANSCORES_H
#define MCT_TRAINING_HESSIANSCORES_H

#include "mct/Execution/Run.h"
#include "mct/Execution/RunCache.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cstdint>
#include <vector>

namespace mct {

/// The vectors of a sample: signs +-1, one for each element of all results.
/// They depend on a seed and on what the sample holds, not on its place.
class RandomSigns {
public:
  /// `sample`: the bytes of each input. `elements`: of all results.
  RandomSigns(uint64_t seed, llvm::ArrayRef<llvm::ArrayRef<char>> sample,
              int64_t elements);

  /// Writes the signs of the elements from `first` on in vector `vector`.
  void fill(int64_t vector, int64_t first,
            llvm::MutableArrayRef<float> signs) const;

private:
  uint64_t key;
  int64_t words;
};

/// How the mean squared gradients of the elements of a value become a score.
enum class ScoreReduction {
  /// Their sum: the trace of J^T J, where J is the derivative of the results by
  /// the value.
  Sum,
  /// The largest of the channels (the last axis), each a mean over positions.
  LargestChannel,
};

struct HessianOptions {
  ScoreReduction reduction = ScoreReduction::Sum;
  uint64_t seed = 0;
  /// Vectors for each sample, at least 1. Less where, behind the first ten of
  /// them, one more changes no mean by more than this part of it.
  int64_t maxVectors = 100;
  double tolerance = 1e-3;
  /// Largest number of samples, about, as thinSamples takes it; all samples
  /// where it is 0 or the batch is fixed.
  int64_t maxSamples = 0;
  execution::RunOptions run;
  /// Limit as CompileOptions::maxMemory.
  int64_t maxMemory = 0;
  /// Cache that the run shares with others; may be null.
  std::shared_ptr<execution::RunCache> cache;
};

struct HessianScores {
  int64_t samples = 0, layers = 0;
  /// [samples, layers].
  std::vector<double> scores;
  /// How many vectors each sample took.
  std::vector<int64_t> vectors;

  /// Returns the mean of each layer over the samples, which does not depend on
  /// their order.
  std::vector<double> means() const;
};

/// Computes for each sample and each of `values` (results of ops of `function`,
/// or arguments; f32, the batch first) the mean of the squares of d(sum v f) /
/// d(value) over random vectors v, where f are the results of f32. The network
/// computes without its points. Where a result is the softmax of something, or
/// where the largest of it lies, f is what that reads: behind a softmax that is
/// certain everything would be 0. A value that no f depends on scores 0.
///
/// `samples`: of the arguments of the function. The scores of a sample depend
/// on what it holds and on `seed`, not on threads, batches and its place.
///
/// A diagnostic where addGradient has one, where there is no such f, where the
/// samples are others than the function reads, and for scores that are not
/// finite; where `run.progress` is cancelled.
///
/// Source: MCT, Hessian scores of activations, which refuses such results.
mlir::FailureOr<HessianScores>
computeHessianScores(mlir::func::FuncOp function,
                     llvm::ArrayRef<mlir::Value> values,
                     std::shared_ptr<const execution::SampleSource> samples,
                     const HessianOptions &options);

} // namespace mct

#endif // MCT_TRAINING_HESSIANSCORES_H
