// SPDX-License-Identifier: Apache-2.0
#include "RoundingGroup.h"

#include "ClosestLevels.h"
#include "DenseAlgebra.h"
#include "ProductMoments.h"
#include "mct/Quantizers/Simd.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace mct::quantization {

/// So many weights of a channel, or fewer, take the levels that are best
/// together, as far as so many steps find them.
static constexpr int64_t kSearchedColumns = 12;
static constexpr int64_t kSearchSteps = 1 << 16;

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
      [](float level, double wanted) { return double(level) < wanted; });
  if (above == levels.begin())
    return *above;
  if (above == levels.end())
    return levels.back();
  return double(*above) - value < value - double(above[-1]) ? *above
                                                            : above[-1];
}

namespace {
/// Levels of many lanes, level by level, as the vector loops read them. A lane
/// is one channel under one candidate.
struct LaneLevels {
  // Numbers of grids.
  std::vector<float> inverse, step, lo, hi;
  // Numbers of tables: [levels, lanes] values, and where the next one begins.
  size_t numLevels = 0;
  std::vector<float> levels, middles;

  explicit LaneLevels(llvm::ArrayRef<const WeightLevels *> lanes) {
    size_t count = lanes.size();
    for (const WeightLevels *lane : lanes)
      numLevels = std::max(numLevels, lane->levels.size());
    if (numLevels == 0) {
      for (const WeightLevels *lane : lanes) {
        const Grid &grid = lane->grid;
        inverse.push_back(float(1 / double(float(grid.step))));
        step.push_back(float(grid.step));
        lo.push_back(float(grid.qmin - grid.zeroPoint));
        hi.push_back(float(grid.qmax - grid.zeroPoint));
      }
      return;
    }
    levels.resize(numLevels * count);
    middles.assign(numLevels * count, std::numeric_limits<float>::infinity());
    for (size_t lane = 0; lane != count; ++lane) {
      llvm::ArrayRef<float> own = lanes[lane]->levels;
      for (size_t level = 0; level != numLevels; ++level) {
        bool exists = level < own.size();
        levels[level * count + lane] = exists ? own[level] : own.back();
        if (exists && level > 0)
          middles[level * count + lane] =
              float((double(own[level - 1]) + double(own[level])) / 2);
      }
    }
  }
};
} // namespace

/// Rounds one column. `errors` holds the weight of each lane without levels,
/// and afterwards the distance of its level from that; `shift` is the
/// correction for the columns rounded before.
static MCT_VECTOR_BODY void roundToGrid(const LaneLevels &lanes, size_t count,
                                        const float *shift, float square,
                                        float *errors, float *objective) {
  // Adding and subtracting it rounds to an integer, half to even.
  constexpr float kRounder = 0x1.8p23f;
  const float *inverse = lanes.inverse.data(), *step = lanes.step.data(),
              *lo = lanes.lo.data(), *hi = lanes.hi.data();
  for (size_t lane = 0; lane != count; ++lane) {
    float target = errors[lane], wanted = target - shift[lane];
    float code = wanted * inverse[lane];
    code = code < lo[lane] ? lo[lane] : code;
    code = code > hi[lane] ? hi[lane] : code;
    code = (code + kRounder) - kRounder;
    float level = code * step[lane], miss = level - wanted;
    objective[lane] += square * miss * miss;
    errors[lane] = level - target;
  }
}

static MCT_VECTOR_BODY void roundToTable(const LaneLevels &lanes, size_t count,
                                         const float *shift, float square,
                                         float *errors, float *objective,
                                         float *scratch) {
  for (size_t lane = 0; lane != count; ++lane)
    scratch[lane] = lanes.levels[lane];
  for (size_t level = 1; level < lanes.numLevels; ++level) {
    const float *values = &lanes.levels[level * count];
    const float *middles = &lanes.middles[level * count];
    for (size_t lane = 0; lane != count; ++lane)
      scratch[lane] = errors[lane] - shift[lane] > middles[lane]
                          ? values[lane]
                          : scratch[lane];
  }
  for (size_t lane = 0; lane != count; ++lane) {
    float target = errors[lane], miss = scratch[lane] - (target - shift[lane]);
    objective[lane] += square * miss * miss;
    errors[lane] = scratch[lane] - target;
  }
}

static MCT_VECTOR_BODY void addMultiple(float factor, const float *from,
                                        size_t count, float *to) {
  for (size_t lane = 0; lane != count; ++lane)
    to[lane] += factor * from[lane];
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

RoundingGroup::RoundingGroup(const ProductMoments &moments,
                             llvm::ArrayRef<float> weights, double damping)
    : moments(moments), original(weights), columns(moments.columns) {
  auto variance = [&](int64_t column) {
    return moments.covariance[column * columns + column];
  };
  order.resize(columns);
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int64_t a, int64_t b) {
    return std::make_pair(variance(a), a) < std::make_pair(variance(b), b);
  });
  double mean = 0;
  for (int64_t column = 0; column != columns; ++column)
    mean += variance(column) / double(columns);
  // Columns that are constant say nothing: weights stay where they are.
  addition = mean > 0 ? damping * mean : 1.0;

  std::vector<double> cholesky(columns * columns);
  // More is added to a matrix that rounding makes indefinite.
  for (;; addition = std::max(10 * addition, 0x1p-40 * mean)) {
    for (int64_t i = 0; i != columns; ++i) {
      const double *row = &moments.covariance[order[i] * columns];
      double *to = &cholesky[i * columns];
      for (int64_t j = i; j != columns; ++j)
        to[j] = row[order[j]];
      to[i] += addition;
    }
    if (factorizeCholesky(cholesky.data(), columns))
      break;
  }

  // (H + addition) best = cross + addition * original
  int64_t outputs = moments.outputs;
  std::vector<double> solution(columns * outputs);
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t i = 0; i != columns; ++i) {
      int64_t element = output * columns + order[i];
      solution[i * outputs + output] =
          moments.cross[element] + addition * double(original[element]);
    }
  solveCholesky(cholesky.data(), columns, solution.data(), outputs);
  best.resize(outputs * columns);
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t i = 0; i != columns; ++i)
      best[output * columns + i] = solution[i * outputs + output];

  factor.assign(columns * columns, 0.0f);
  for (int64_t i = 0; i != columns; ++i) {
    diagonal.push_back(cholesky[i * columns + i]);
    for (int64_t j = i + 1; j != columns; ++j)
      factor[i * columns + j] =
          float(cholesky[i * columns + j] / diagonal.back());
  }
  if (isSmall())
    exactFactor = std::move(cholesky);
}

bool RoundingGroup::isSmall() const { return columns <= kSearchedColumns; }

void RoundingGroup::search(llvm::ArrayRef<RoundingLane> lanes,
                           std::vector<float> &weights) const {
  llvm::ArrayRef<double> targets = best;
  for (auto [row, lane] : llvm::enumerate(lanes)) {
    ClosestLevels found = findClosestLevels(
        {exactFactor, targets.slice(lane.first * columns, columns), lane.second,
         kSearchSteps});
    for (auto [i, level] : llvm::enumerate(found.levels))
      weights[row * columns + order[i]] = level;
  }
}

void RoundingGroup::roundLanes(llvm::ArrayRef<RoundingLane> lanes,
                               float *objective,
                               std::vector<float> *weights) const {
  constexpr int64_t kBlock = 32;
  // One product with all columns behind is what they ask of a block; with few
  // rows it would mostly move them.
  constexpr int64_t kOuter = 256;
  int64_t outer = columns > kWideColumns ? kOuter : kBlock;
  size_t count = lanes.size();
  std::vector<const WeightLevels *> levelsOf;
  for (const RoundingLane &lane : lanes)
    levelsOf.push_back(lane.second);
  LaneLevels levels(levelsOf);
  // The best weights, and their differences from the rounded ones as soon as
  // there are such.
  std::vector<float> errors(columns * count), shifts(outer * count),
      scratch(count);
  for (int64_t i = 0; i != columns; ++i)
    for (size_t lane = 0; lane != count; ++lane)
      errors[i * count + lane] = float(best[lanes[lane].first * columns + i]);
  std::fill_n(objective, count, 0.0f);
  ProductAdder products;
  // Adds to `shifts` of [begin, end) what [from, to) ask of them.
  auto addShifts = [&](int64_t begin, int64_t end, int64_t from, int64_t to,
                       float *shift) {
    auto lanes = int64_t(count);
    products.add(1.0f, {&factor[begin * columns + from], columns, 1},
                 {&errors[from * count], lanes, 1}, to - from,
                 {shift, end - begin, lanes, lanes});
  };
  for (int64_t outerEnd = columns; outerEnd > 0;) {
    int64_t first = std::max<int64_t>(0, outerEnd - outer);
    // Terms that the columns behind the block ask of it.
    std::fill(shifts.begin(), shifts.end(), 0.0f);
    if (outerEnd != columns)
      addShifts(first, outerEnd, outerEnd, columns, shifts.data());
    for (int64_t end = outerEnd; end > first;) {
      int64_t begin = std::max(first, end - kBlock);
      if (end != outerEnd)
        addShifts(begin, end, end, outerEnd, &shifts[(begin - first) * count]);
      for (int64_t i = end - 1; i >= begin; --i) {
        float *shift = &shifts[(i - first) * count];
        for (int64_t j = i + 1; j != end; ++j)
          runVectorLoop<addMultiple>(factor[i * columns + j],
                                     &errors[j * count], count, shift);
        auto square = float(diagonal[i] * diagonal[i]);
        if (levels.numLevels == 0)
          runVectorLoop<roundToGrid>(levels, count, shift, square,
                                     &errors[i * count], objective);
        else
          runVectorLoop<roundToTable>(levels, count, shift, square,
                                      &errors[i * count], objective,
                                      scratch.data());
      }
      end = begin;
    }
    outerEnd = first;
  }
  if (!weights)
    return;
  weights->resize(count * columns);
  for (size_t lane = 0; lane != count; ++lane)
    for (int64_t i = 0; i != columns; ++i)
      (*weights)[lane * columns + order[i]] =
          lanes[lane].second->nearest(double(errors[i * count + lane]) +
                                      best[lanes[lane].first * columns + i]);
}

RoundingGroup::Point RoundingGroup::pointAt(size_t firstChannel,
                                            std::vector<float> weights) const {
  std::vector<double> exact(weights.begin(), weights.end());
  std::vector<double> gradient(weights.size());
  ProductAdder().add(
      1.0, {exact.data(), columns, 1}, {moments.covariance.data(), columns, 1},
      columns,
      {gradient.data(), int64_t(weights.size()) / columns, columns, columns});
  for (size_t i = 0; i != gradient.size(); ++i) {
    size_t element = firstChannel * columns + i;
    gradient[i] += addition * (exact[i] - double(original[element])) -
                   moments.cross[element];
  }
  return {std::move(weights), std::move(gradient)};
}

void RoundingGroup::descend(size_t channel, const WeightLevels &levels,
                            size_t row, Point &point) const {
  float *weights = &point.weights[row * columns];
  double *gradient = &point.gradient[row * columns];
  // Each change lowers the objective, so that it ends; mostly sooner.
  constexpr int kMaxSweeps = 16;
  bool changed = true;
  for (int sweep = 0; changed && sweep != kMaxSweeps; ++sweep) {
    changed = false;
    for (int64_t i : order) {
      const double *covariance = &moments.covariance[i * columns];
      double curvature = covariance[i] + addition;
      float level =
          levels.nearest(double(weights[i]) - gradient[i] / curvature);
      double step = double(level) - double(weights[i]);
      double gain = -step * (2 * gradient[i] + curvature * step);
      // A gain that rounding makes of nothing does not count.
      if (!(gain > 1e-9 * curvature * step * step))
        continue;
      for (int64_t j = 0; j != columns; ++j)
        gradient[j] += step * covariance[j];
      gradient[i] += step * addition;
      weights[i] = level;
      changed = true;
    }
  }
}

std::pair<double, double> RoundingGroup::measure(size_t channel, size_t row,
                                                 const Point &point) const {
  double error = moments.targetVariance[channel], moved = 0;
  for (int64_t i = 0; i != columns; ++i) {
    size_t element = channel * columns + i;
    auto weight = double(point.weights[row * columns + i]);
    double difference = weight - double(original[element]);
    moved += difference * difference;
    error += weight * (point.gradient[row * columns + i] -
                       addition * difference - moments.cross[element]);
  }
  return {error, error + addition * moved};
}

} // namespace mct::quantization
