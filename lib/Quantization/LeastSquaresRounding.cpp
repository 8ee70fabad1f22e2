// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/LeastSquaresRounding.h"

#include "Blas.h"
#include "ClosestLevels.h"
#include "Simd.h"
#include "mct/Quantization/Parallel.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cblas.h>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <tuple>

extern "C" {
void dpotrf_(const char *uplo, const int *n, double *a, const int *lda,
             int *info);
void dpotrs_(const char *uplo, const int *n, const int *nrhs, const double *a,
             const int *lda, double *b, const int *ldb, int *info);
}

namespace mct::quantization {

//===----------------------------------------------------------------------===//
// Moments
//===----------------------------------------------------------------------===//

/// Rows whose products are added in float.
static constexpr int64_t kRowsInFloat = 256;
/// Columns of a tile of the covariance.
static constexpr int64_t kTile = 128;
/// A layer with more columns is wide: what is quick for it is not for others.
static constexpr int64_t kWideColumns = 1024;
/// Columns of a tile of its covariance, for which rows are packed once.
static constexpr int64_t kWideTile = 512;

static std::vector<double> columnMeans(const MatrixView &matrix) {
  std::vector<double> means(matrix.columns, 0.0);
  for (int64_t row = 0; row != matrix.rows; ++row)
    for (int64_t column = 0; column != matrix.columns; ++column)
      means[column] += double(matrix.data[row * matrix.stride + column]);
  for (double &mean : means)
    mean /= double(std::max<int64_t>(matrix.rows, 1));
  return means;
}

static MCT_VECTOR_BODY void subtract(const float *from, const double *means,
                                     int64_t count, float *to) {
  for (int64_t i = 0; i != count; ++i)
    to[i] = float(double(from[i]) - means[i]);
}
MCT_DEFINE_VECTOR_LOOPS(subtractMeans,
                        (const float *from, const double *means, int64_t count,
                         float *to),
                        subtract(from, means, count, to))

/// Columns [first, first + count) of some rows without their means, packed.
static void centre(const MatrixView &matrix, llvm::ArrayRef<double> means,
                   int64_t firstRow, int64_t rows, int64_t first, int64_t count,
                   float *to) {
  for (int64_t row = 0; row != rows; ++row, to += count)
    MCT_CALL_VECTOR_LOOP(subtractMeans,
                         matrix.data + (firstRow + row) * matrix.stride + first,
                         means.data() + first, count, to);
}

ProductMoments productMoments(const MatrixView &inputs,
                              const MatrixView &targets,
                              const support::Threads &threads) {
  ProductMoments moments;
  int64_t columns = moments.columns = inputs.columns;
  int64_t outputs = moments.outputs = targets.columns;
  moments.inputMean = columnMeans(inputs);
  moments.targetMean = columnMeans(targets);
  moments.covariance.assign(columns * columns, 0.0);
  moments.cross.assign(outputs * columns, 0.0);
  moments.targetVariance.assign(outputs, 0.0);
  int64_t rows = inputs.rows;
  if (rows == 0)
    return moments;

  int64_t tileSize = columns > kWideColumns ? kWideTile : kTile;
  // Tiles of the lower triangle of the covariance, and of the cross moments.
  struct Tile {
    bool isCross;
    int64_t left, right;
  };
  std::vector<Tile> tiles;
  for (int64_t left = 0; left < columns; left += tileSize)
    for (int64_t right = 0; right <= left; right += tileSize)
      tiles.push_back({false, left, right});
  for (int64_t left = 0; left < outputs; left += tileSize)
    for (int64_t right = 0; right < columns; right += tileSize)
      tiles.push_back({true, left, right});
  parallelFor(tiles.size(), threads, [&](size_t number) {
    if (threads.isCancelled())
      return;
    const Tile &tile = tiles[number];
    const MatrixView &source = tile.isCross ? targets : inputs;
    llvm::ArrayRef<double> means =
        tile.isCross ? moments.targetMean : moments.inputMean;
    int64_t height = std::min(tileSize, source.columns - tile.left);
    int64_t width = std::min(tileSize, columns - tile.right);
    bool isDiagonal = !tile.isCross && tile.left == tile.right;
    std::vector<float> left(kRowsInFloat * height),
        right(isDiagonal ? 0 : kRowsInFloat * width), product(height * width);
    std::vector<double> sum(height * width, 0.0);
    for (int64_t first = 0; first < rows; first += kRowsInFloat) {
      int64_t count = std::min(kRowsInFloat, rows - first);
      centre(source, means, first, count, tile.left, height, left.data());
      if (!isDiagonal)
        centre(inputs, moments.inputMean, first, count, tile.right, width,
               right.data());
      callBlas([&] {
        cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, int(height),
                    int(width), int(count), 1.0f, left.data(), int(height),
                    isDiagonal ? left.data() : right.data(), int(width), 0.0f,
                    product.data(), int(width));
      });
      for (size_t i = 0; i != sum.size(); ++i)
        sum[i] += double(product[i]);
    }
    for (int64_t i = 0; i != height; ++i)
      for (int64_t j = 0; j != width; ++j) {
        double mean = sum[i * width + j] / double(rows);
        int64_t row = tile.left + i, column = tile.right + j;
        if (tile.isCross) {
          moments.cross[row * columns + column] = mean;
        } else if (column <= row) {
          moments.covariance[row * columns + column] = mean;
          moments.covariance[column * columns + row] = mean;
        }
      }
  });
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t output = 0; output != outputs; ++output) {
      double centred = double(targets.data[row * targets.stride + output]) -
                       moments.targetMean[output];
      moments.targetVariance[output] += centred * centred;
    }
  for (double &variance : moments.targetVariance)
    variance /= double(rows);
  return moments;
}

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
  // Of grids.
  std::vector<float> inverse, step, lo, hi;
  // Of tables: [levels, lanes] values, and where the next one begins.
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

/// Of one column: `errors` holds what each lane's weight should be without
/// levels, and then by how much the level taken misses that; `shift` is what
/// the columns rounded before ask of it.
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

MCT_DEFINE_VECTOR_LOOPS(roundGridLanes,
                        (const LaneLevels &lanes, size_t count,
                         const float *shift, float square, float *errors,
                         float *objective),
                        roundToGrid(lanes, count, shift, square, errors,
                                    objective))
MCT_DEFINE_VECTOR_LOOPS(roundTableLanes,
                        (const LaneLevels &lanes, size_t count,
                         const float *shift, float square, float *errors,
                         float *objective, float *scratch),
                        roundToTable(lanes, count, shift, square, errors,
                                     objective, scratch))
MCT_DEFINE_VECTOR_LOOPS(addLanes,
                        (float factor, const float *from, size_t count,
                         float *to),
                        addMultiple(factor, from, count, to))

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

/// So many weights of a channel, or fewer, take the levels that are best
/// together, as far as so many steps find them.
static constexpr int64_t kSearchedColumns = 12;
static constexpr int64_t kSearchSteps = 1 << 16;

namespace {
/// A channel of a group and levels for it.
using Lane = std::pair<size_t, const WeightLevels *>;

/// One group, its columns in the order in which they are rounded, the last one
/// first.
class Group {
public:
  Group(const ProductMoments &moments, llvm::ArrayRef<float> weights,
        double damping);

  /// Rounds under each of `lanes`. `objective` becomes what the float
  /// arithmetic sees of it, for each lane; `weights` (null: none) the levels,
  /// [lanes, columns].
  void roundLanes(llvm::ArrayRef<Lane> lanes, float *objective,
                  std::vector<float> *weights) const;

  /// Whether so few weights are searched for together.
  bool isSmall() const { return columns <= kSearchedColumns; }
  /// Of a small group: makes weights, [lanes, columns], the best levels.
  void search(llvm::ArrayRef<Lane> lanes, std::vector<float> &weights) const;

  /// Weights of some channels, [channels, columns], with half the gradient of
  /// the objective.
  struct Point {
    std::vector<float> weights;
    std::vector<double> gradient;
  };
  Point pointAt(size_t firstChannel, std::vector<float> weights) const;
  /// Changes single weights of row `row`, which is the channel's, while the
  /// objective falls.
  void descend(size_t channel, const WeightLevels &levels, size_t row,
               Point &point) const;
  /// The mean squared difference from the target, with the best bias, and the
  /// objective.
  std::pair<double, double> measure(size_t channel, size_t row,
                                    const Point &point) const;

  const ProductMoments &moments;
  llvm::ArrayRef<float> original;

private:
  int64_t columns;
  std::vector<int64_t> order;
  /// Added to the diagonal of the covariance.
  double addition = 0;
  /// [columns, columns], row-major, in the order of rounding: the part right of
  /// the diagonal, divided by it; and the diagonal.
  std::vector<float> factor;
  std::vector<double> diagonal;
  /// The whole factor, of a small group.
  std::vector<double> exactFactor;
  /// [outputs, columns], in the order of the columns.
  std::vector<double> best;
};
} // namespace

Group::Group(const ProductMoments &moments, llvm::ArrayRef<float> weights,
             double damping)
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

  int size = int(columns), outputs = int(moments.outputs), info = 0;
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
    // What is row-major and right of the diagonal for us lies below it for
    // Fortran.
    callBlas([&] { dpotrf_("L", &size, cholesky.data(), &size, &info); });
    if (info == 0)
      break;
  }

  // (H + addition) best = cross + addition * original
  best.resize(moments.outputs * columns);
  for (int64_t output = 0; output != moments.outputs; ++output)
    for (int64_t i = 0; i != columns; ++i) {
      int64_t element = output * columns + order[i];
      best[output * columns + i] =
          moments.cross[element] + addition * double(original[element]);
    }
  callBlas([&] {
    dpotrs_("L", &size, &outputs, cholesky.data(), &size, best.data(), &size,
            &info);
  });

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

void Group::search(llvm::ArrayRef<Lane> lanes,
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

void Group::roundLanes(llvm::ArrayRef<Lane> lanes, float *objective,
                       std::vector<float> *weights) const {
  constexpr int64_t kBlock = 32;
  // What all columns behind ask of a block is one product with them; with few
  // rows it would mostly move them.
  constexpr int64_t kOuter = 256;
  int64_t outer = columns > kWideColumns ? kOuter : kBlock;
  size_t count = lanes.size();
  std::vector<const WeightLevels *> levelsOf;
  for (const Lane &lane : lanes)
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
  // Adds to `shifts` of [begin, end) what [from, to) ask of them.
  auto addShifts = [&](int64_t begin, int64_t end, int64_t from, int64_t to,
                       float before, float *shift) {
    callBlas([&] {
      cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, int(end - begin),
                  int(count), int(to - from), 1.0f,
                  &factor[begin * columns + from], int(columns),
                  &errors[from * count], int(count), before, shift, int(count));
    });
  };
  for (int64_t outerEnd = columns; outerEnd > 0;) {
    int64_t first = std::max<int64_t>(0, outerEnd - outer);
    // What the columns behind the block ask of it.
    if (outerEnd == columns)
      std::fill(shifts.begin(), shifts.end(), 0.0f);
    else
      addShifts(first, outerEnd, outerEnd, columns, 0.0f, shifts.data());
    for (int64_t end = outerEnd; end > first;) {
      int64_t begin = std::max(first, end - kBlock);
      if (end != outerEnd)
        addShifts(begin, end, end, outerEnd, 1.0f,
                  &shifts[(begin - first) * count]);
      for (int64_t i = end - 1; i >= begin; --i) {
        float *shift = &shifts[(i - first) * count];
        for (int64_t j = i + 1; j != end; ++j)
          MCT_CALL_VECTOR_LOOP(addLanes, factor[i * columns + j],
                               &errors[j * count], count, shift);
        auto square = float(diagonal[i] * diagonal[i]);
        if (levels.numLevels == 0)
          MCT_CALL_VECTOR_LOOP(roundGridLanes, levels, count, shift, square,
                               &errors[i * count], objective);
        else
          MCT_CALL_VECTOR_LOOP(roundTableLanes, levels, count, shift, square,
                               &errors[i * count], objective, scratch.data());
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

Group::Point Group::pointAt(size_t firstChannel,
                            std::vector<float> weights) const {
  std::vector<double> exact(weights.begin(), weights.end());
  std::vector<double> gradient(weights.size());
  auto rows = int(int64_t(weights.size()) / columns);
  callBlas([&] {
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, rows, int(columns),
                int(columns), 1.0, exact.data(), int(columns),
                moments.covariance.data(), int(columns), 0.0, gradient.data(),
                int(columns));
  });
  for (size_t i = 0; i != gradient.size(); ++i) {
    size_t element = firstChannel * columns + i;
    gradient[i] += addition * (exact[i] - double(original[element])) -
                   moments.cross[element];
  }
  return {std::move(weights), std::move(gradient)};
}

void Group::descend(size_t channel, const WeightLevels &levels, size_t row,
                    Point &point) const {
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
      // What rounding makes of nothing is no gain.
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

std::pair<double, double> Group::measure(size_t channel, size_t row,
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

namespace {
class LayerRounding {
public:
  LayerRounding(const RoundingProblem &problem, const support::Threads &threads)
      : problem(problem), threads(threads) {}
  RoundedWeights run();
  /// [channels, candidates]: |R (q - w*)|^2 of the rounding by each candidate.
  std::vector<float> scoreAll();

private:
  void start();
  /// Some channels of one group.
  using Task = llvm::function_ref<void(const Group &, size_t firstChannel,
                                       size_t begin, size_t end)>;

  const WeightLevels &levelsOf(size_t candidate, size_t channel) const {
    const std::vector<WeightLevels> &all = problem.candidates[candidate];
    return all.size() == 1 ? all.front() : all[channel];
  }
  void forChannels(size_t atATime, Task task) const;
  /// Fills in the scores of the candidates that `wanted` names for a channel.
  void score(llvm::function_ref<void(size_t, std::vector<size_t> &)> wanted);
  /// Of wide layers only some, and those around the best of them, unless `all`.
  void scoreCandidates(bool all);
  /// Rounds to the levels that were chosen.
  void finish();
  void finish(const Group &group, size_t first, size_t begin, size_t end);

  const RoundingProblem &problem;
  const support::Threads &threads;
  size_t outputs = 0, columns = 0, channels = 0;
  /// Kept where it is the only one.
  std::unique_ptr<Group> single;
  /// [channels, candidates].
  std::vector<float> scores;
  RoundedWeights result;
};
} // namespace

/// One wide group is shared by its channels, many small ones by groups. What is
/// computed together does not depend on the threads.
void LayerRounding::forChannels(size_t atATime, Task task) const {
  if (single)
    return parallelFor(
        (outputs + atATime - 1) / atATime, threads, [&](size_t block) {
          if (threads.isCancelled())
            return;
          size_t begin = block * atATime;
          task(*single, 0, begin, std::min(outputs, begin + atATime));
        });
  parallelFor(problem.groups.size(), threads, [&](size_t number) {
    if (threads.isCancelled())
      return;
    Group group(
        problem.groups[number],
        problem.weights.slice(number * outputs * columns, outputs * columns),
        problem.damping);
    for (size_t begin = 0; begin < outputs; begin += atATime)
      task(group, number * outputs, begin, std::min(outputs, begin + atATime));
  });
}

/// For each channel the candidate of the least score; one for all, that of the
/// least sum, unless `perChannel`.
static std::vector<size_t> chooseCandidates(llvm::ArrayRef<float> scores,
                                            size_t candidates,
                                            bool perChannel) {
  auto leastOf = [&](auto score) {
    size_t best = 0;
    for (size_t candidate = 1; candidate < candidates; ++candidate)
      if (score(candidate) < score(best))
        best = candidate;
    return best;
  };
  size_t channels = scores.size() / candidates;
  std::vector<size_t> chosen(channels);
  if (perChannel) {
    for (size_t channel = 0; channel != channels; ++channel)
      chosen[channel] = leastOf([&](size_t candidate) {
        return scores[channel * candidates + candidate];
      });
    return chosen;
  }
  chosen.assign(channels, leastOf([&](size_t candidate) {
                  double sum = 0;
                  for (size_t channel = 0; channel != channels; ++channel)
                    sum += double(scores[channel * candidates + candidate]);
                  return sum;
                }));
  return chosen;
}

void LayerRounding::score(
    llvm::function_ref<void(size_t, std::vector<size_t> &)> wanted) {
  size_t candidates = problem.candidates.size();
  constexpr size_t kLanes = 256;
  size_t atATime = std::max<size_t>(1, kLanes / candidates);
  forChannels(
      atATime, [&](const Group &group, size_t first, size_t begin, size_t end) {
        std::vector<Lane> lanes;
        std::vector<size_t> places, of;
        for (size_t output = begin; output != end; ++output) {
          of.clear();
          wanted(first + output, of);
          for (size_t candidate : of) {
            lanes.push_back({output, &levelsOf(candidate, first + output)});
            places.push_back((first + output) * candidates + candidate);
          }
        }
        if (lanes.empty())
          return;
        std::vector<float> objectives(lanes.size());
        group.roundLanes(lanes, objectives.data(), nullptr);
        for (auto [place, objective] : llvm::zip(places, objectives))
          scores[place] = objective;
      });
}

void LayerRounding::scoreCandidates(bool all) {
  size_t candidates = problem.candidates.size();
  scores.assign(channels * candidates, std::numeric_limits<float>::infinity());
  // By how wide their levels are.
  std::vector<size_t> order(candidates);
  std::iota(order.begin(), order.end(), 0);
  auto width = [&](size_t candidate) {
    const WeightLevels &levels = levelsOf(candidate, 0);
    return levels.levels.empty()
               ? levels.grid.step * double(levels.grid.qmax - levels.grid.qmin)
               : double(levels.levels.back()) - double(levels.levels.front());
  };
  llvm::sort(order, [&](size_t a, size_t b) {
    return std::make_pair(width(a), a) < std::make_pair(width(b), b);
  });
  constexpr size_t kStride = 4;
  size_t stride = all || int64_t(columns) <= kWideColumns ? 1 : kStride;
  score([&](size_t, std::vector<size_t> &wanted) {
    for (size_t place = 0; place < candidates; ++place)
      if (place % stride == 0 || order[place] == 0)
        wanted.push_back(order[place]);
  });
  if (stride == 1)
    return;
  // Those around the best, which were left out.
  std::vector<size_t> best =
      chooseCandidates(scores, candidates, problem.choosesPerChannel);
  std::vector<size_t> placeOf(candidates);
  for (size_t place = 0; place != candidates; ++place)
    placeOf[order[place]] = place;
  score([&](size_t channel, std::vector<size_t> &wanted) {
    size_t place = placeOf[best[channel]];
    size_t from = place < kStride ? 0 : place - kStride + 1;
    for (size_t other = from; other < std::min(candidates, place + kStride);
         ++other)
      if (other % kStride != 0 && order[other] != 0)
        wanted.push_back(order[other]);
  });
}

void LayerRounding::finish(const Group &group, size_t first, size_t begin,
                           size_t end) {
  std::vector<Lane> lanes;
  std::vector<float> nearest, rounded;
  for (size_t output = begin; output != end; ++output) {
    size_t channel = first + output;
    lanes.push_back({output, &levelsOf(result.chosen[channel], channel)});
    for (float weight : group.original.slice(output * columns, columns))
      nearest.push_back(levelsOf(0, channel).nearest(double(weight)));
  }
  std::vector<float> objectives(lanes.size());
  group.roundLanes(lanes, objectives.data(), &rounded);
  if (group.isSmall())
    group.search(lanes, rounded);
  Group::Point from = group.pointAt(begin, std::move(nearest));
  Group::Point to = group.pointAt(begin, std::move(rounded));
  for (size_t output = begin; output != end; ++output) {
    size_t channel = first + output, row = output - begin;
    std::tie(result.nearestError[channel], result.nearestObjective[channel]) =
        group.measure(output, row, from);
    Group::Point *point = &to;
    group.descend(output, *lanes[row].second, row, to);
    auto [error, objective] = group.measure(output, row, to);
    // Nearest plane is the better start on average, not always.
    if (objective > result.nearestObjective[channel] &&
        (problem.choosesPerChannel || result.chosen[channel] == 0)) {
      result.chosen[channel] = 0;
      point = &from;
      group.descend(output, levelsOf(0, channel), row, from);
      std::tie(error, objective) = group.measure(output, row, from);
    }
    result.error[channel] = error;
    result.objective[channel] = objective;
    double bias = group.moments.targetMean[output];
    for (size_t column = 0; column != columns; ++column) {
      float weight = point->weights[row * columns + column];
      result.weights[channel * columns + column] = weight;
      bias -= double(weight) * group.moments.inputMean[column];
    }
    result.bias[channel] = bias;
  }
}

void LayerRounding::finish() {
  // Of a wide layer more, for all of them go through its covariance at once.
  size_t atATime = int64_t(columns) > kWideColumns ? 128 : 32;
  forChannels(atATime, [&](const Group &group, size_t first, size_t begin,
                           size_t end) { finish(group, first, begin, end); });
}

void LayerRounding::start() {
  outputs = size_t(problem.groups.front().outputs);
  columns = size_t(problem.groups.front().columns);
  channels = outputs * problem.groups.size();
  result.weights.resize(channels * columns);
  result.chosen.assign(channels, 0);
  for (std::vector<double> *each :
       {&result.bias, &result.error, &result.nearestError, &result.objective,
        &result.nearestObjective})
    each->resize(channels);
  if (problem.groups.size() == 1)
    single = std::make_unique<Group>(problem.groups.front(), problem.weights,
                                     problem.damping);
}

std::vector<float> LayerRounding::scoreAll() {
  start();
  scoreCandidates(/*all=*/true);
  return std::move(scores);
}

RoundedWeights LayerRounding::run() {
  if (problem.groups.empty())
    return {};
  start();
  if (problem.candidates.size() > 1) {
    scoreCandidates(/*all=*/false);
    result.chosen = chooseCandidates(scores, problem.candidates.size(),
                                     problem.choosesPerChannel);
  }
  finish();
  auto total = [](llvm::ArrayRef<double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
  };
  if (total(result.objective) > total(result.nearestObjective)) {
    result.chosen.assign(channels, 0);
    finish();
  }
  return std::move(result);
}

RoundedWeights roundLeastSquares(const RoundingProblem &problem,
                                 const support::Threads &threads) {
  return LayerRounding(problem, threads).run();
}

//===----------------------------------------------------------------------===//
// Wide layers
//===----------------------------------------------------------------------===//

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
  /// [outputs, block.count] of [outputs, columns].
  std::vector<float> slice(llvm::ArrayRef<float> weights,
                           const Block &block) const;
  /// Adds factor * inputs * weights^T to `sums`, [rows, outputs]; `weights` are
  /// those of the block.
  void addProduct(const Block &block, llvm::ArrayRef<float> weights,
                  float factor, std::vector<float> &sums) const;
  /// What is missing from the targets with these weights.
  std::vector<float> residualOf(llvm::ArrayRef<float> weights) const;
  /// The moments of a block, which makes up for `residual` beside what its
  /// weights make.
  ProductMoments momentsOf(const Block &block, llvm::ArrayRef<float> weights,
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
  /// The channel takes the nearest levels of the first candidate.
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
  callBlas([&] {
    cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, int(rows),
                int(outputs), int(block.count), factor, inputs.data,
                int(inputs.stride), weights.data(), int(block.count), 1.0f,
                sums.data(), int(outputs));
  });
}

std::vector<float>
WideRounding::residualOf(llvm::ArrayRef<float> weights) const {
  std::vector<float> residual(rows * outputs);
  for (int64_t row = 0; row != rows; ++row)
    std::copy_n(problem.targets.data + row * problem.targets.stride, outputs,
                &residual[row * outputs]);
  for (const Block &block : blocks)
    addProduct(block, slice(weights, block), -1, residual);
  return residual;
}

ProductMoments WideRounding::momentsOf(const Block &block,
                                       llvm::ArrayRef<float> weights,
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
    ProductMoments moments = momentsOf(block, weights, residual);
    RoundingProblem part{moments, weights, problem.candidates,
                         problem.choosesPerChannel, problem.damping};
    for (auto [sum, own] :
         llvm::zip(scores, LayerRounding(part, threads).scoreAll()))
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
  std::vector<float> residual = residualOf(problem.weights);
  result.chosen = choose(residual);
  // Each channel with the levels of its candidate.
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
    ProductMoments moments = momentsOf(block, weights, residual);
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
  measure(nearest, residualOf(nearest), result.nearestError,
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
