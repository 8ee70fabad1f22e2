// SPDX-License-Identifier: Apache-2.0
#include "RoundingGroup.h"

#include "ClosestLevels.h"
#include "DenseAlgebra.h"
#include "ProductMoments.h"
#include "mct/Quantizers/Simd.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <cassert>
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
  const float *inverse = lanes.inverse.data(), *step = lanes.step.data(),
              *lo = lanes.lo.data(), *hi = lanes.hi.data();
  for (size_t lane = 0; lane != count; ++lane) {
    float target = errors[lane], wanted = target - shift[lane];
    float code = wanted * inverse[lane];
    code = code < lo[lane] ? lo[lane] : code;
    code = code > hi[lane] ? hi[lane] : code;
    code = (code + kFloatRounder) - kFloatRounder;
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
  // Columns that are constant say nothing: weights stay where they are.
  addition = meanVariance > 0 ? damping * meanVariance : 1.0;
  // Next to no damping leaves a matrix that rounding may make indefinite.
  if (!moments.centred.empty() && addition >= 0x1p-20 * meanVariance)
    factorizeRows(threads);
  else
    factorizeCovariance(threads);
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
  std::vector<double> solution = rightSide();
  solveCholesky(cholesky.data(), columns, solution.data(), outputs, threads);
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

void RoundingGroup::factorizeRows(const support::Threads &threads) {
  int64_t rank = lowRank.rank = int64_t(moments.centred.size()) / columns;
  double scale = 1 / std::sqrt(double(rank));
  for (int64_t i = 0; i != columns; ++i)
    for (int64_t row = 0; row != rank; ++row)
      lowRank.exact.push_back(
          scale * double(moments.centred[row * columns + order[i]]));
  lowRank.inputs.assign(lowRank.exact.begin(), lowRank.exact.end());
  solveRows(threads);
  lowRank.factor.resize(columns * rank);
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
  best.resize(outputs * columns);
  for (int64_t output = 0; output != outputs; ++output)
    for (int64_t i = 0; i != columns; ++i)
      best[output * columns + i] = solution[i * outputs + output] / addition;
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
      lowRank.factor[(begin + i) * rank + row] =
          float(v[i * rank + row] / pivot);
    for (int64_t j = i + 1; j != size; ++j)
      lowRank.blocks[(begin + i) * kBlock + j] =
          float(own[i * size + j] / pivot);
  }
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

/// Rounds the weights of lanes, from the last column to the first.
class RoundingGroup::LaneRun {
public:
  LaneRun(const RoundingGroup &group, llvm::ArrayRef<RoundingLane> lanes,
          llvm::ArrayRef<float> bounds)
      : group(group), lanes(lanes), bounds(bounds), columns(group.columns),
        outer(columns > kWideColumns && !group.isLowRank() ? kOuter : kBlock),
        stride(lanes.size()),
        active(llvm::to_vector(llvm::seq<size_t>(0, lanes.size()))),
        levels(levelsOfActive()), errors(columns * stride),
        shifts(outer * stride), scratch(stride), objectives(stride, 0.0f),
        outputs(group.lowRank.rank * stride, 0.0f) {}

  void run();
  /// Rounds every column for itself.
  void runWithoutShifts();
  /// Writes the objective of each lane; infinity for those that were given up.
  void takeObjectives(float *objective) const;
  /// Returns the distance of the level of a lane from the best weight, where no
  /// lane was given up.
  float error(int64_t column, size_t lane) const {
    return errors[column * stride + lane];
  }

private:
  // One product with all columns behind is what they ask of a block; with few
  // rows it would mostly move them.
  static constexpr int64_t kOuter = 256;

  LaneLevels levelsOfActive() const;
  /// Makes `errors` of [begin, end) the best weights.
  void startColumns(int64_t begin, int64_t end);
  /// Adds to `shift` of [begin, end) what [from, to) ask of them.
  void addShifts(int64_t begin, int64_t end, int64_t from, int64_t to,
                 float *shift);
  /// Adds what the errors of [begin, end) make of the rows of a low rank.
  void addOutputs(int64_t begin, int64_t end);
  void roundColumn(int64_t column, const float *shift);
  void roundBlock(int64_t begin, int64_t end, float *shift);
  /// Gives up lanes beyond their bounds. Columns from `rounded` on are rounded,
  /// those from `first` on have been started and have shifts.
  void giveUp(int64_t first, int64_t rounded);

  const RoundingGroup &group;
  llvm::ArrayRef<RoundingLane> lanes;
  llvm::ArrayRef<float> bounds;
  int64_t columns, outer;
  /// Distance of the rows of `errors` and `shifts`, of which the first elements
  /// are those of the lanes that are active.
  size_t stride;
  llvm::SmallVector<size_t> active;
  LaneLevels levels;
  /// The best weights, and their differences from the rounded ones as soon as
  /// there are such.
  std::vector<float> errors, shifts, scratch, objectives;
  /// Errors of what the rows of a low rank make of the columns that are
  /// rounded: [rank, lanes].
  std::vector<float> outputs;
  ProductAdder products;
};

LaneLevels RoundingGroup::LaneRun::levelsOfActive() const {
  std::vector<const WeightLevels *> levelsOf;
  for (size_t lane : active)
    levelsOf.push_back(lanes[lane].second);
  return LaneLevels(levelsOf);
}

void RoundingGroup::LaneRun::startColumns(int64_t begin, int64_t end) {
  for (int64_t i = begin; i != end; ++i)
    for (auto [place, lane] : llvm::enumerate(active))
      errors[i * stride + place] =
          float(group.best[lanes[lane].first * columns + i]);
}

void RoundingGroup::LaneRun::addShifts(int64_t begin, int64_t end, int64_t from,
                                       int64_t to, float *shift) {
  auto rows = int64_t(stride);
  Result<float> result{shift, end - begin, int64_t(active.size()), rows};
  int64_t rank = group.lowRank.rank;
  if (group.isLowRank())
    products.add(1.0f, {&group.lowRank.factor[begin * rank], rank, 1},
                 {outputs.data(), rows, 1}, rank, result);
  else
    products.add(1.0f, {&group.factor[begin * columns + from], columns, 1},
                 {&errors[from * stride], rows, 1}, to - from, result);
}

void RoundingGroup::LaneRun::addOutputs(int64_t begin, int64_t end) {
  auto rows = int64_t(stride);
  int64_t rank = group.lowRank.rank;
  products.add(1.0f, {&group.lowRank.inputs[begin * rank], 1, rank},
               {&errors[begin * stride], rows, 1}, end - begin,
               {outputs.data(), rank, int64_t(active.size()), rows});
}

void RoundingGroup::LaneRun::roundColumn(int64_t column, const float *shift) {
  size_t count = active.size();
  auto square = float(group.diagonal[column] * group.diagonal[column]);
  float *error = &errors[column * stride];
  if (levels.numLevels == 0)
    runVectorLoop<roundToGrid>(levels, count, shift, square, error,
                               objectives.data());
  else
    runVectorLoop<roundToTable>(levels, count, shift, square, error,
                                objectives.data(), scratch.data());
}

void RoundingGroup::LaneRun::roundBlock(int64_t begin, int64_t end,
                                        float *shift) {
  size_t count = active.size();
  for (int64_t i = end - 1; i >= begin; --i) {
    float *own = shift + (i - begin) * stride;
    for (int64_t j = i + 1; j != end; ++j)
      runVectorLoop<addMultiple>(group.inBlock(i, j, begin),
                                 &errors[j * stride], count, own);
    roundColumn(i, own);
  }
}

void RoundingGroup::LaneRun::giveUp(int64_t first, int64_t rounded) {
  std::vector<size_t> kept;
  for (auto [place, lane] : llvm::enumerate(active))
    if (!(objectives[place] > bounds[lane]))
      kept.push_back(place);
  // Moving the others has to be worth it.
  constexpr size_t kShare = 8;
  if (active.size() - kept.size() <= active.size() / kShare)
    return;
  auto keep = [&](auto *values) {
    for (auto [to, from] : llvm::enumerate(kept))
      values[to] = values[from];
  };
  keep(active.data());
  keep(objectives.data());
  // Errors of columns of a low rank have been added to `outputs`.
  int64_t end = group.isLowRank() ? rounded : columns;
  for (int64_t column = first; column != end; ++column)
    keep(&errors[column * stride]);
  for (int64_t row = 0; row != rounded - first; ++row)
    keep(&shifts[row * stride]);
  for (int64_t row = 0; row != group.lowRank.rank; ++row)
    keep(&outputs[row * stride]);
  active.resize(kept.size());
  levels = levelsOfActive();
}

void RoundingGroup::LaneRun::run() {
  for (int64_t outerEnd = columns; outerEnd > 0 && !active.empty();) {
    int64_t first = std::max<int64_t>(0, outerEnd - outer);
    startColumns(first, outerEnd);
    // Terms that the columns behind the block ask of it.
    for (int64_t row = 0; row != outerEnd - first; ++row)
      std::fill_n(&shifts[row * stride], active.size(), 0.0f);
    if (outerEnd != columns)
      addShifts(first, outerEnd, outerEnd, columns, shifts.data());
    for (int64_t end = outerEnd; end > first && !active.empty();) {
      int64_t begin = std::max(first, end - kBlock);
      float *shift = &shifts[(begin - first) * stride];
      if (end != outerEnd)
        addShifts(begin, end, end, outerEnd, shift);
      roundBlock(begin, end, shift);
      if (group.isLowRank())
        addOutputs(begin, end);
      if (!bounds.empty())
        giveUp(first, begin);
      end = begin;
    }
    outerEnd = first;
  }
}

void RoundingGroup::LaneRun::runWithoutShifts() {
  startColumns(0, columns);
  std::fill_n(shifts.begin(), stride, 0.0f);
  for (int64_t column = columns - 1; column >= 0; --column)
    roundColumn(column, shifts.data());
}

void RoundingGroup::LaneRun::takeObjectives(float *objective) const {
  std::fill_n(objective, lanes.size(), std::numeric_limits<float>::infinity());
  for (auto [place, lane] : llvm::enumerate(active))
    objective[lane] = objectives[place];
}

void RoundingGroup::roundLanes(llvm::ArrayRef<RoundingLane> lanes,
                               float *objective,
                               std::vector<float> *weights) const {
  LaneRun run(*this, lanes, {});
  run.run();
  run.takeObjectives(objective);
  if (!weights)
    return;
  weights->resize(lanes.size() * columns);
  for (size_t lane = 0; lane != lanes.size(); ++lane)
    for (int64_t i = 0; i != columns; ++i)
      (*weights)[lane * columns + order[i]] = lanes[lane].second->nearest(
          double(run.error(i, lane)) + best[lanes[lane].first * columns + i]);
}

void RoundingGroup::roundLanes(llvm::ArrayRef<RoundingLane> lanes,
                               llvm::ArrayRef<float> bounds,
                               float *objective) const {
  LaneRun run(*this, lanes, bounds);
  run.run();
  run.takeObjectives(objective);
}

std::vector<float>
RoundingGroup::estimate(llvm::ArrayRef<RoundingLane> lanes) const {
  LaneRun run(*this, lanes, {});
  run.runWithoutShifts();
  std::vector<float> objective(lanes.size());
  run.takeObjectives(objective.data());
  return objective;
}

std::vector<double>
RoundingGroup::timesCovariance(llvm::ArrayRef<double> values) const {
  int64_t channels = int64_t(values.size()) / columns, rank = lowRank.rank;
  std::vector<double> product(values.size(), 0.0);
  Result<double> result{product.data(), channels, columns, columns};
  ProductAdder products;
  if (!isLowRank()) {
    products.add(1.0, {values.data(), columns, 1},
                 {moments.covariance.data(), columns, 1}, columns, result);
    return product;
  }
  const double *x = lowRank.exact.data();
  std::vector<double> ordered, outputs(channels * rank, 0.0);
  for (int64_t channel = 0; channel != channels; ++channel)
    for (int64_t column : order)
      ordered.push_back(values[channel * columns + column]);
  products.add(1.0, {ordered.data(), columns, 1}, {x, rank, 1}, columns,
               {outputs.data(), channels, rank, rank});
  products.add(1.0, {outputs.data(), rank, 1}, {x, 1, rank}, rank, result);
  std::swap(ordered, product);
  for (int64_t channel = 0; channel != channels; ++channel)
    for (int64_t i = 0; i != columns; ++i)
      product[channel * columns + order[i]] = ordered[channel * columns + i];
  return product;
}

RoundingGroup::Point RoundingGroup::pointAt(size_t firstChannel,
                                            std::vector<float> weights) const {
  std::vector<double> exact(weights.begin(), weights.end());
  std::vector<double> gradient = timesCovariance(exact);
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
      runVectorLoop<addMultipleOfRow>(step, covariance, columns, gradient);
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
