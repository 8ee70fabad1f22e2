// SPDX-License-Identifier: Apache-2.0
#include "RoundingGroup.h"

#include "ClosestLevels.h"
#include "DenseAlgebra.h"
#include "ProductMoments.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Simd.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

namespace mct::quantization {

/// Number of weights of a channel up to which the jointly best levels are
/// searched, and limit on the steps of that search.
static constexpr int64_t kSearchedColumns = 12;
static constexpr int64_t kSearchSteps = 1 << 16;

/// Smallest gain that counts, as a share of curvature * step^2; smaller ones
/// may be due to the rounding of a gradient in float.
static constexpr double kLeastGain = 1e-5;

//===----------------------------------------------------------------------===//
// Levels
//===----------------------------------------------------------------------===//

float WeightLevels::nearest(double value) const {
  if (levels.empty()) {
    auto lo = double(grid.qmin - grid.zeroPoint);
    auto hi = double(grid.qmax - grid.zeroPoint);
    double code =
        std::clamp(std::nearbyint(value / double(float(grid.step))), lo, hi);
    return float(code) * float(grid.step);
  }
  auto above = std::lower_bound(
      levels.begin(), levels.end(), value,
      [](float level, double limit) { return double(level) < limit; });
  if (above == levels.begin())
    return *above;
  if (above == levels.end())
    return levels.back();
  return double(*above) - value < value - double(above[-1]) ? *above
                                                            : above[-1];
}

/// Finds which of up to `kGains` columns, those of `order`, have a better level
/// on a grid, as `RoundingGroup::improve` does for each.
static constexpr int64_t kGains = 8;
static MCT_VECTOR_BODY void findGains(const Grid &grid, const int64_t *order,
                                      const double *curvatures, int64_t count,
                                      const float *weights,
                                      const double *gradient, bool *isBetter) {
  Double8 weight = {}, slope = {}, curvature = {};
  for (int64_t k = 0; k != count; ++k) {
    weight[k] = double(weights[order[k]]);
    slope[k] = gradient[order[k]];
  }
  for (int64_t k = count; k != 8; ++k)
    curvature[k] = 1;
  if (count == 8)
    curvature = loadVector<Double8>(curvatures);
  else
    for (int64_t k = 0; k != count; ++k)
      curvature[k] = curvatures[k];
  auto lo = double(grid.qmin - grid.zeroPoint);
  auto hi = double(grid.qmax - grid.zeroPoint);
  auto size = double(float(grid.step));
  Double8 code = (weight - slope / curvature) / size;
  code = __builtin_elementwise_nearbyint(code);
  code = code < lo ? lo + Double8{} : code;
  code = hi < code ? hi + Double8{} : code;
  Double8 level;
  for (int k = 0; k != 8; ++k)
    level[k] = double(float(code[k]) * float(grid.step));
  Double8 step = level - weight;
  Double8 gain = -step * (2 * slope + curvature * step);
  Double8 least = kLeastGain * curvature * step * step;
  for (int64_t k = 0; k != count; ++k)
    isBetter[k] = gain[k] > least[k];
}

static MCT_VECTOR_BODY void addMultipleOfRow(double factor, const double *from,
                                             int64_t count, double *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] += factor * from[i];
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

RoundingGroup::RoundingGroup(const ProductMoments &moments,
                             llvm::ArrayRef<float> weights, double damping,
                             const support::Threads &threads)
    : moments(moments), original(weights), columns(moments.columns) {
  auto variance = [&](int64_t column) {
    return moments.covariance[column * columns + column];
  };
  order.resize(columns);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::make_pair(variance(a), a) < std::make_pair(variance(b), b);
  });
  for (int64_t column = 0; column != columns; ++column)
    meanVariance += variance(column) / double(columns);
  // If all columns are constant, they determine no weights, which then stay
  // where they are.
  addition = meanVariance > 0 ? damping * meanVariance : 1.0;
  // With hardly any damping, rounding may make the matrix indefinite.
  if (!moments.centred.empty() && addition >= 0x1p-20 * meanVariance)
    factorizeRows(threads);
  else
    factorizeCovariance(threads);
  for (int64_t column : order)
    curvatures.push_back(variance(column) + addition);
  findLeastObjectives();
}

void RoundingGroup::findLeastObjectives() {
  // With b = cross + addition * original, the objective of q is
  // variance + addition * |original|^2 - 2 q^T b + q^T (H + addition) q.
  int64_t outputs = moments.outputs;
  leastObjectives = moments.targetVariance;
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t i = 0; i != columns; ++i) {
      int64_t element = output * columns + order[i];
      auto weight = double(original[element]);
      leastObjectives[output] +=
          addition * weight * weight -
          best[i * outputs + output] *
              (moments.cross[element] + addition * weight);
    }
}

std::vector<double> RoundingGroup::getBest() const {
  int64_t outputs = moments.outputs;
  std::vector<double> weights(outputs * columns);
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t i = 0; i != columns; ++i)
      weights[output * columns + order[i]] = best[i * outputs + output];
  return weights;
}

std::vector<double> RoundingGroup::rightSide() const {
  int64_t outputs = moments.outputs;
  std::vector<double> values(columns * outputs);
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t i = 0; i != columns; ++i) {
      int64_t element = output * columns + order[i];
      values[i * outputs + output] =
          moments.cross[element] + addition * double(original[element]);
    }
  return values;
}

void RoundingGroup::factorizeCovariance(const support::Threads &threads) {
  std::vector<double> cholesky(columns * columns);
  // More is added to a matrix that rounding makes indefinite.
  for (;; addition = std::max(10 * addition, 0x1p-40 * meanVariance)) {
    for (int64_t i = 0; i != columns; ++i) {
      const double *row = &moments.covariance[order[i] * columns];
      double *to = &cholesky[i * columns];
      for (int64_t j = i; j != columns; ++j)
        to[j] = row[order[j]];
      to[i] += addition;
    }
    if (factorizeCholesky(cholesky.data(), columns, threads))
      break;
  }

  // (H + addition) best = cross + addition * original
  int64_t outputs = moments.outputs;
  best = rightSide();
  solveCholesky(cholesky.data(), columns, best.data(), outputs, threads);
  takeFactor(cholesky, threads);
  if (isSmall())
    exactFactor = std::move(cholesky);
}

void RoundingGroup::takeFactor(llvm::ArrayRef<double> cholesky,
                               const support::Threads &threads) {
  for (int64_t i = 0; i != columns; ++i)
    diagonal.push_back(cholesky[i * columns + i]);
  factor.assign(columns * columns, 0.0f);
  parallelFor(
      size_t((columns + kBlock - 1) / kBlock), threads, [&](size_t block) {
        int64_t begin = int64_t(block) * kBlock;
        int64_t end = std::min(columns, begin + kBlock);
        for (int64_t j = begin + 1; j < columns; ++j)
          for (int64_t i = begin, last = std::min(j, end); i < last; ++i)
            factor[j * columns + i] =
                float(cholesky[i * columns + j] / diagonal[i]);
      });
}

void RoundingGroup::factorizeRows(const support::Threads &threads) {
  int64_t rank = lowRank.rank = int64_t(moments.centred.size()) / columns;
  double scale = 1 / std::sqrt(double(rank));
  for (int64_t i = 0; i != columns; ++i)
    for (int64_t row = 0; row != rank; ++row)
      lowRank.exact.push_back(
          scale * double(moments.centred[row * columns + order[i]]));
  lowRank.inputs.assign(lowRank.exact.begin(), lowRank.exact.end());
  solveRows(threads);
  lowRank.factor.resize(rank * columns);
  lowRank.blocks.assign(columns * kBlock, 0.0f);
  diagonal.resize(columns);
  std::vector<double> inverse(rank * rank, 0.0);
  for (int64_t row = 0; row != rank; ++row)
    inverse[row * rank + row] = 1;
  // Blocks are counted from the last column.
  for (int64_t begin = 0, end = (columns - 1) % kBlock + 1; begin != columns;
       begin = end, end += kBlock)
    factorizeBlock(begin, end, inverse);
}

void RoundingGroup::solveRows(const support::Threads &threads) {
  // (x^T x + addition) best = b, x of few rows: with (x x^T + addition) y = x b
  // best is (b - x^T y) / addition.
  int64_t rank = lowRank.rank, outputs = moments.outputs;
  std::vector<double> solution = rightSide(), y(rank * outputs, 0.0),
                      square(rank * rank, 0.0);
  const double *x = lowRank.exact.data();
  ProductAdder products;
  products.add(1.0, {x, 1, rank}, {x, rank, 1}, columns,
               {square.data(), rank, rank, rank});
  for (int64_t row = 0; row != rank; ++row)
    square[row * rank + row] += addition;
  products.add(1.0, {x, 1, rank}, {solution.data(), outputs, 1}, columns,
               {y.data(), rank, outputs, outputs});
  [[maybe_unused]] bool isDefinite =
      factorizeCholesky(square.data(), rank, threads);
  assert(isDefinite && "the addition is too small");
  solveCholesky(square.data(), rank, y.data(), outputs, threads);
  products.add(-1.0, {x, rank, 1}, {y.data(), outputs, 1}, rank,
               {solution.data(), columns, outputs, outputs});
  for (double &value : solution)
    value /= addition;
  best = std::move(solution);
}

void RoundingGroup::factorizeBlock(int64_t begin, int64_t end,
                                   std::vector<double> &inverse) {
  int64_t rank = lowRank.rank, size = end - begin;
  const double *x = &lowRank.exact[begin * rank];
  std::vector<double> v(size * rank, 0.0), own(size * size, 0.0);
  ProductAdder products;
  products.add(1.0, {x, rank, 1}, {inverse.data(), rank, 1}, rank,
               {v.data(), size, rank, rank});
  products.add(1.0, {x, rank, 1}, {v.data(), 1, rank}, rank,
               {own.data(), size, size, size});
  for (int64_t i = 0; i != size; ++i)
    own[i * size + i] += addition;
  [[maybe_unused]] bool isDefinite = factorizeCholesky(own.data(), size);
  assert(isDefinite && "the addition is too small");
  solveTransposedFactor(own.data(), size, v.data(), rank);
  products.add(-1.0, {v.data(), 1, rank}, {v.data(), rank, 1}, size,
               {inverse.data(), rank, rank, rank});
  for (int64_t i = 0; i != size; ++i) {
    double pivot = diagonal[begin + i] = own[i * size + i];
    for (int64_t row = 0; row != rank; ++row)
      lowRank.factor[row * columns + begin + i] =
          float(v[i * rank + row] / pivot);
    for (int64_t j = i + 1; j != size; ++j)
      lowRank.blocks[(begin + i) * kBlock + j] =
          float(own[i * size + j] / pivot);
  }
}

bool RoundingGroup::isSmall() const { return columns <= kSearchedColumns; }

void RoundingGroup::search(llvm::ArrayRef<RoundingLane> lanes,
                           std::vector<float> &weights) const {
  std::vector<double> targets(columns);
  for (auto [row, lane] : llvm::enumerate(lanes)) {
    for (int64_t i = 0; i != columns; ++i)
      targets[i] = best[i * moments.outputs + int64_t(lane.first)];
    ClosestLevels found =
        findClosestLevels({exactFactor, targets, lane.second, kSearchSteps});
    for (auto [i, level] : llvm::enumerate(found.levels))
      weights[row * columns + order[i]] = level;
  }
}

void RoundingGroup::descend(const WeightLevels &levels, size_t row,
                            Point &point) const {
  float *weights = &point.weights[row * columns];
  double *gradient = &point.gradient[row * columns];
  double &objective = point.objectives[row];
  // Each change lowers the objective, so that it ends; mostly sooner.
  constexpr int kMaxSweeps = 16;
  bool changed = true;
  for (int sweep = 0; changed && sweep != kMaxSweeps; ++sweep) {
    changed = false;
    if (!levels.levels.empty()) {
      for (int64_t i : order)
        changed |= improve(i, levels, weights, gradient, objective);
      continue;
    }
    for (int64_t place = 0;;) {
      place = findBetterPlace(levels.grid, place, weights, gradient);
      if (place == columns)
        break;
      changed |= improve(order[place++], levels, weights, gradient, objective);
    }
  }
}

int64_t RoundingGroup::findBetterPlace(const Grid &grid, int64_t place,
                                       const float *weights,
                                       const double *gradient) const {
  for (; place < columns; place += kGains) {
    std::array<bool, kGains> isBetter;
    int64_t count = std::min(kGains, columns - place);
    runVectorLoop<findGains>(grid, &order[place], &curvatures[place], count,
                             weights, gradient, isBetter.data());
    for (int64_t k = 0; k != count; ++k)
      if (isBetter[k])
        return place + k;
  }
  return columns;
}

bool RoundingGroup::improve(int64_t column, const WeightLevels &levels,
                            float *weights, double *gradient,
                            double &objective) const {
  const double *covariance = &moments.covariance[column * columns];
  double curvature = covariance[column] + addition;
  float level =
      levels.nearest(double(weights[column]) - gradient[column] / curvature);
  double step = double(level) - double(weights[column]);
  double gain = -step * (2 * gradient[column] + curvature * step);
  if (!(gain > kLeastGain * curvature * step * step))
    return false;
  objective -= gain;
  runVectorLoop<addMultipleOfRow>(step, covariance, columns, gradient);
  gradient[column] += step * addition;
  weights[column] = level;
  return true;
}

std::pair<double, double> RoundingGroup::measure(size_t channel,
                                                 llvm::ArrayRef<float> weights,
                                                 double objective) const {
  double moved = 0;
  for (auto [now, before] :
       llvm::zip(weights, original.slice(channel * columns, columns))) {
    double difference = double(now) - double(before);
    moved += difference * difference;
  }
  if (columns <= kFewColumns) {
    double error = moments.targetVariance[channel];
    for (int64_t i = 0; i != columns; ++i) {
      double product = -2 * moments.cross[channel * columns + i];
      for (int64_t j = 0; j != columns; ++j)
        product += double(weights[j]) * moments.covariance[i * columns + j];
      error += double(weights[i]) * product;
    }
    return {error, error + addition * moved};
  }
  // Rounding errors may make the remaining variance negative where the inputs
  // determine the target.
  double whole = std::max(leastObjectives[channel], 0.0) + objective;
  return {std::max(0.0, whole - addition * moved), whole};
}

} // namespace mct::quantization
