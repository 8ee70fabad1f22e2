// SPDX-License-Identifier: Apache-2.0

#include "DenseAlgebra.h"
#include "ProductMoments.h"
#include "RoundingCandidates.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mct::quantization {

int64_t WideRoundingProblem::mostColumns(int64_t bytes) {
  // A covariance, its factor in double, and that in float.
  return std::max<int64_t>(1, int64_t(std::sqrt(double(bytes) / 20)));
}

namespace {
class WideRounding {
public:
  WideRounding(const WideRoundingProblem &problem,
               const support::Threads &threads)
      : problem(problem), threads(threads), rows(problem.inputs.rows),
        columns(problem.inputs.columns), outputs(problem.targets.columns) {}
  RoundedWeights run();

private:
  struct Block {
    int64_t first, count;
  };
  MatrixView inputsOf(const Block &block) const {
    return {problem.inputs.data + block.first, rows, block.count,
            problem.inputs.stride};
  }
  /// Returns [outputs, block.count] of [outputs, columns].
  std::vector<float> slice(llvm::ArrayRef<float> weights,
                           const Block &block) const;
  /// Adds factor * inputs * weights^T to `sums`, [rows, outputs]; `weights` are
  /// those of the block.
  void addProduct(const Block &block, llvm::ArrayRef<float> weights,
                  float factor, std::vector<float> &sums) const;
  /// Returns the difference of the targets from the outputs with these weights.
  std::vector<float> computeResidual(llvm::ArrayRef<float> weights) const;
  /// Returns the moments of a block whose target is its own output plus
  /// `residual`.
  ProductMoments computeMoments(const Block &block,
                                llvm::ArrayRef<float> weights,
                                llvm::ArrayRef<float> residual) const;
  const WeightLevels &levelsOf(size_t candidate, size_t channel) const {
    const std::vector<WeightLevels> &all = problem.candidates[candidate];
    return all.size() == 1 ? all.front() : all[channel];
  }
  std::vector<size_t> choose(llvm::ArrayRef<float> residual) const;
  /// Error and objective of each channel.
  void measure(llvm::ArrayRef<float> weights, llvm::ArrayRef<float> residual,
               std::vector<double> &error,
               std::vector<double> &objective) const;
  /// Sets the channel to the nearest levels of the first candidate.
  void takeNearest(RoundedWeights &result, llvm::ArrayRef<float> nearest,
                   int64_t channel) const;

  const WideRoundingProblem &problem;
  const support::Threads &threads;
  int64_t rows, columns, outputs;
  std::vector<Block> blocks;
  std::vector<double> inputMean;
  double addition = 0;
};
} // namespace

std::vector<float> WideRounding::slice(llvm::ArrayRef<float> weights,
                                       const Block &block) const {
  std::vector<float> result;
  result.reserve(outputs * block.count);
  for (int64_t output = 0; output != outputs; ++output) {
    const float *from = weights.data() + output * columns + block.first;
    result.insert(result.end(), from, from + block.count);
  }
  return result;
}

void WideRounding::addProduct(const Block &block, llvm::ArrayRef<float> weights,
                              float factor, std::vector<float> &sums) const {
  MatrixView inputs = inputsOf(block);
  ProductAdder().add(factor, {inputs.data, inputs.stride, 1},
                     {weights.data(), 1, block.count}, block.count,
                     {sums.data(), rows, outputs, outputs});
}

std::vector<float>
WideRounding::computeResidual(llvm::ArrayRef<float> weights) const {
  std::vector<float> residual(rows * outputs);
  for (int64_t row = 0; row != rows; ++row)
    std::copy_n(problem.targets.data + row * problem.targets.stride, outputs,
                &residual[row * outputs]);
  for (const Block &block : blocks)
    addProduct(block, slice(weights, block), -1, residual);
  return residual;
}

ProductMoments
WideRounding::computeMoments(const Block &block, llvm::ArrayRef<float> weights,
                             llvm::ArrayRef<float> residual) const {
  std::vector<float> targets = residual.vec();
  addProduct(block, weights, 1, targets);
  return productMoments(inputsOf(block),
                        {targets.data(), rows, outputs, outputs}, threads);
}

std::vector<size_t> WideRounding::choose(llvm::ArrayRef<float> residual) const {
  size_t candidates = problem.candidates.size();
  if (candidates == 1)
    return std::vector<size_t>(outputs, 0);
  std::vector<float> scores(outputs * candidates, 0.0f);
  for (const Block &block : blocks) {
    std::vector<float> weights = slice(problem.weights, block);
    ProductMoments moments = computeMoments(block, weights, residual);
    RoundingProblem part{moments, weights, problem.candidates,
                         problem.choosesPerChannel, problem.damping};
    for (auto [sum, own] : llvm::zip(scores, scoreCandidates(part, threads)))
      sum += own;
  }
  return chooseCandidates(scores, candidates, problem.choosesPerChannel);
}

void WideRounding::measure(llvm::ArrayRef<float> weights,
                           llvm::ArrayRef<float> residual,
                           std::vector<double> &error,
                           std::vector<double> &objective) const {
  MatrixView view{residual.data(), rows, outputs, outputs};
  std::vector<double> means = columnMeans(view);
  error.assign(outputs, 0.0);
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t output = 0; output != outputs; ++output) {
      double centred = double(residual[row * outputs + output]) - means[output];
      error[output] += centred * centred / double(rows);
    }
  objective = error;
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t column = 0; column != columns; ++column) {
      int64_t element = output * columns + column;
      double moved =
          double(weights[element]) - double(problem.weights[element]);
      objective[output] += addition * moved * moved;
    }
}

void WideRounding::takeNearest(RoundedWeights &result,
                               llvm::ArrayRef<float> nearest,
                               int64_t channel) const {
  std::copy_n(&nearest[channel * columns], columns,
              &result.weights[channel * columns]);
  result.chosen[channel] = 0;
  result.error[channel] = result.nearestError[channel];
  result.objective[channel] = result.nearestObjective[channel];
}

RoundedWeights WideRounding::run() {
  int64_t most = WideRoundingProblem::mostColumns(problem.maxBytes);
  int64_t count = (columns + most - 1) / most;
  if (count <= 1) {
    ProductMoments moments =
        productMoments(problem.inputs, problem.targets, threads);
    return roundLeastSquares({moments, problem.weights, problem.candidates,
                              problem.choosesPerChannel, problem.damping},
                             threads);
  }
  for (int64_t number = 0; number != count; ++number) {
    int64_t first = number * columns / count;
    blocks.push_back({first, (number + 1) * columns / count - first});
  }
  inputMean = columnMeans(problem.inputs);
  double variance = 0;
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t column = 0; column != columns; ++column) {
      double centred =
          double(problem.inputs.data[row * problem.inputs.stride + column]) -
          inputMean[column];
      variance += centred * centred;
    }
  variance /= double(rows) * double(columns);
  addition = variance > 0 ? problem.damping * variance : 1.0;

  RoundedWeights result;
  std::vector<float> residual = computeResidual(problem.weights);
  result.chosen = choose(residual);
  // The levels of each channel's chosen candidate.
  std::vector<std::vector<WeightLevels>> levels(1);
  std::vector<float> nearest;
  nearest.reserve(problem.weights.size());
  for (int64_t output = 0; output != outputs; ++output) {
    levels.front().push_back(levelsOf(result.chosen[output], output));
    for (float weight : problem.weights.slice(output * columns, columns))
      nearest.push_back(levelsOf(0, output).nearest(double(weight)));
  }
  result.weights.resize(problem.weights.size());
  for (const Block &block : blocks) {
    std::vector<float> weights = slice(problem.weights, block);
    ProductMoments moments = computeMoments(block, weights, residual);
    RoundedWeights rounded = roundLeastSquares(
        {moments, weights, levels, problem.choosesPerChannel, problem.damping},
        threads);
    for (int64_t output = 0; output != outputs; ++output)
      std::copy_n(&rounded.weights[output * block.count], block.count,
                  &result.weights[output * columns + block.first]);
    addProduct(block, weights, 1, residual);
    addProduct(block, rounded.weights, -1, residual);
  }

  measure(result.weights, residual, result.error, result.objective);
  measure(nearest, computeResidual(nearest), result.nearestError,
          result.nearestObjective);
  auto total = [](llvm::ArrayRef<double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  bool isWorse = total(result.objective) > total(result.nearestObjective);
  for (int64_t output = 0; output != outputs; ++output)
    if (problem.choosesPerChannel
            ? result.objective[output] > result.nearestObjective[output]
            : isWorse)
      takeNearest(result, nearest, output);

  std::vector<double> targetMean = columnMeans(problem.targets);
  for (int64_t output = 0; output != outputs; ++output) {
    double bias = targetMean[output];
    for (int64_t column = 0; column != columns; ++column)
      bias -=
          double(result.weights[output * columns + column]) * inputMean[column];
    result.bias.push_back(bias);
  }
  return result;
}

RoundedWeights roundWideLayer(const WideRoundingProblem &problem,
                              const support::Threads &threads) {
  return WideRounding(problem, threads).run();
}

} // namespace mct::quantization
