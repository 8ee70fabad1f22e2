// SPDX-License-Identifier: Apache-2.0
//
// Rounds the channels of a group under several candidates at once: a lane of
// the vectors is one channel under one candidate.
#include "RoundingGroup.h"

#include "DenseAlgebra.h"
#include "ProductMoments.h"
#include "mct/Quantizers/Simd.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <array>
#include <limits>

namespace mct::quantization {

/// Number of floats in a vector.
static constexpr size_t kVector = 16;

namespace {
/// Levels of many lanes, level by level, in the layout of the vector loops. A
/// lane is one channel with one candidate.
struct LaneLevels {
  // Parameters of grids.
  std::vector<float> inverse, step, lo, hi;
  // Parameters of tables: [levels, lanes] values, and where the next level
  // begins.
  size_t numLevels = 0;
  std::vector<float> levels, middles;

  explicit LaneLevels(llvm::ArrayRef<RoundingLane> lanes) {
    size_t count = lanes.size();
    for (const RoundingLane &lane : lanes)
      numLevels = std::max(numLevels, lane.second->levels.size());
    if (numLevels == 0) {
      for (const RoundingLane &lane : lanes) {
        const Grid &grid = lane.second->grid;
        inverse.push_back(float(1 / double(float(grid.step))));
        step.push_back(float(grid.step));
        lo.push_back(float(grid.qmin - grid.zeroPoint));
        hi.push_back(float(grid.qmax - grid.zeroPoint));
      }
      // Loads read whole vectors, so pad the arrays.
      for (std::vector<float> *values : {&inverse, &step, &lo, &hi})
        values->resize(llvm::alignTo(count, kVector), 0.0f);
      return;
    }
    levels.resize(numLevels * count);
    middles.assign(numLevels * count, std::numeric_limits<float>::infinity());
    for (size_t lane = 0; lane != count; ++lane) {
      llvm::ArrayRef<float> own = lanes[lane].second->levels;
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
/// and afterwards the distance of its level from it; `shift` is the correction
/// for the columns rounded before.
static MCT_VECTOR_BODY void roundToGrid(const LaneLevels &lanes, size_t count,
                                        const float *shift, float square,
                                        float *errors, float *objective) {
  const float *inverse = lanes.inverse.data(), *step = lanes.step.data(),
              *lo = lanes.lo.data(), *hi = lanes.hi.data();
  for (size_t lane = 0; lane != count; ++lane) {
    float target = errors[lane], unshifted = target - shift[lane];
    float code = unshifted * inverse[lane];
    code = code < lo[lane] ? lo[lane] : code;
    code = code > hi[lane] ? hi[lane] : code;
    code = (code + kFloatRounder) - kFloatRounder;
    float level = code * step[lane], miss = level - unshifted;
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

static MCT_VECTOR_BODY void gatherFloats(const double *from,
                                         const int32_t *places, size_t count,
                                         float *__restrict to) {
  for (size_t i = 0; i != count; ++i)
    to[i] = float(from[places[i]]);
}

static MCT_VECTOR_BODY void multiplyRow(float factor, int64_t count,
                                        float *row) {
  for (int64_t i = 0; i != count; ++i)
    row[i] *= factor;
}

/// Adds to each of `sums` the squares of a column of `values`, times `factor`.
static MCT_VECTOR_BODY void addColumnSquares(const float *values, int64_t rows,
                                             int64_t stride, int64_t count,
                                             double factor, double *sums) {
  for (int64_t row = 0; row != rows; ++row)
    for (int64_t i = 0; i != count; ++i) {
      auto value = double(values[row * stride + i]);
      sums[i] += factor * value * value;
    }
}

namespace {
/// Columns of one block, [size], for each of some lanes.
struct LaneBlock {
  /// Stride of the rows of lanes, in whole vectors.
  size_t stride;
  int64_t size;
  /// Factor within the block, [size, size], and the squares of the diagonal.
  const float *factor, *squares;
  /// [size, lanes]; the last one: [lanes].
  const float *shifts;
  float *errors, *objectives;
};
} // namespace

/// Rounds to grids, from the last column to the first, as `addMultiple` and
/// `roundToGrid` do one by one, `Vectors` vectors of lanes from `first` on.
template <int Vectors>
static MCT_VECTOR_BODY void roundVectorsToGrid(const LaneLevels &lanes,
                                               const LaneBlock &block,
                                               size_t first) {
  Float16 objective[Vectors];
#pragma clang loop unroll(full)
  for (int v = 0; v != Vectors; ++v)
    objective[v] = loadVector<Float16>(block.objectives + first + v * kVector);
  for (int64_t i = block.size - 1; i >= 0; --i) {
    const float *shifts = block.shifts + size_t(i) * block.stride + first;
    const float *factor = block.factor + i * block.size;
    Float16 shift[Vectors];
#pragma clang loop unroll(full)
    for (int v = 0; v != Vectors; ++v)
      shift[v] = loadVector<Float16>(shifts + v * kVector);
    for (int64_t j = i + 1; j != block.size; ++j) {
      const float *errors = block.errors + size_t(j) * block.stride + first;
#pragma clang loop unroll(full)
      for (int v = 0; v != Vectors; ++v)
        shift[v] += factor[j] * loadVector<Float16>(errors + v * kVector);
    }
    float *errors = block.errors + size_t(i) * block.stride + first;
#pragma clang loop unroll(full)
    for (int v = 0; v != Vectors; ++v) {
      size_t lane = first + v * kVector;
      auto inverse = loadVector<Float16>(lanes.inverse.data() + lane);
      auto step = loadVector<Float16>(lanes.step.data() + lane);
      auto lo = loadVector<Float16>(lanes.lo.data() + lane);
      auto hi = loadVector<Float16>(lanes.hi.data() + lane);
      auto target = loadVector<Float16>(errors + v * kVector);
      Float16 unshifted = target - shift[v], code = unshifted * inverse;
      code = code < lo ? lo : code;
      code = code > hi ? hi : code;
      code = (code + kFloatRounder) - kFloatRounder;
      Float16 level = code * step, miss = level - unshifted;
      objective[v] += block.squares[i] * miss * miss;
      storeVector(errors + v * kVector, level - target);
    }
  }
#pragma clang loop unroll(full)
  for (int v = 0; v != Vectors; ++v)
    storeVector(block.objectives + first + v * kVector, objective[v]);
}

static MCT_VECTOR_BODY void roundBlockToGrid(const LaneLevels &lanes,
                                             const LaneBlock &block,
                                             size_t count) {
  for (size_t first = 0; first < count;) {
    size_t vectors = (count - first + kVector - 1) / kVector;
    if (vectors >= 4) {
      roundVectorsToGrid<4>(lanes, block, first);
      first += 4 * kVector;
    } else if (vectors >= 2) {
      roundVectorsToGrid<2>(lanes, block, first);
      first += 2 * kVector;
    } else {
      roundVectorsToGrid<1>(lanes, block, first);
      first += kVector;
    }
  }
}

/// Rounds the weights of lanes, from the last column to the first.
class RoundingGroup::LaneRun {
public:
  LaneRun(const RoundingGroup &group, llvm::ArrayRef<RoundingLane> lanes)
      : group(group), columns(group.columns), count(lanes.size()),
        stride(llvm::alignTo(lanes.size(), kVector)), levels(lanes),
        scratch(stride), objectives(stride, 0.0f) {
    for (const RoundingLane &lane : lanes)
      channels.push_back(int32_t(lane.first));
  }

  void run();
  /// Rounds every column independently.
  void runWithoutShifts();
  /// Returns the objective of each lane.
  llvm::ArrayRef<float> getObjectives() const {
    return llvm::ArrayRef<float>(objectives).take_front(count);
  }
  /// Returns the distance of the level of a lane from the best weight.
  float error(int64_t column, size_t lane) const {
    return errors[column * stride + lane];
  }

private:
  /// Sets `row` to the best weights of a column, followed by zeros.
  void startColumn(int64_t column, float *row) const;
  /// Adds the contributions of [from, to) to `shift` of [begin, end).
  void addShifts(int64_t begin, int64_t end, int64_t from, int64_t to,
                 float *shift);
  /// Adds the contributions of the errors of [begin, end) to the rows of a low
  /// rank.
  void addOutputs(int64_t begin, int64_t end);
  void roundColumn(int64_t column, const float *shift, float *errors);
  void roundBlock(int64_t begin, int64_t end, float *shift);

  // The number of columns that one product with all columns after them updates;
  // with fewer, it would mostly move data.
  static constexpr int64_t kOuter = 256;

  const RoundingGroup &group;
  int64_t columns;
  size_t count;
  /// Stride of the rows of `errors` and of shifts: whole vectors.
  size_t stride;
  /// The channels of the lanes.
  std::vector<int32_t> channels;
  LaneLevels levels;
  std::vector<float> scratch, objectives;
  /// The best weights, and then their differences from the rounded ones:
  /// [columns, lanes]. They are written before they are read.
  support::AlignedBuffer errorMemory;
  float *errors = nullptr;
  /// Contributions of the rounded columns to the rows of a low rank: [rank,
  /// lanes].
  std::vector<float> outputs;
  ProductAdder products;
};

void RoundingGroup::LaneRun::startColumn(int64_t column, float *row) const {
  runVectorLoop<gatherFloats>(&group.best[column * group.moments.outputs],
                              channels.data(), channels.size(), row);
  std::fill(row + count, row + stride, 0.0f);
}

void RoundingGroup::LaneRun::addShifts(int64_t begin, int64_t end, int64_t from,
                                       int64_t to, float *shift) {
  auto rows = int64_t(stride);
  Result<float> result{shift, end - begin, int64_t(count), rows};
  int64_t rank = group.lowRank.rank;
  if (group.isLowRank())
    products.add(1.0f, {&group.lowRank.factor[begin], 1, columns},
                 {outputs.data(), rows, 1}, rank, result);
  else
    products.add(1.0f, {&group.factor[from * columns + begin], 1, columns},
                 {&errors[from * stride], rows, 1}, to - from, result);
}

void RoundingGroup::LaneRun::addOutputs(int64_t begin, int64_t end) {
  auto rows = int64_t(stride);
  int64_t rank = group.lowRank.rank;
  products.add(1.0f, {&group.lowRank.inputs[begin * rank], 1, rank},
               {&errors[begin * stride], rows, 1}, end - begin,
               {outputs.data(), rank, int64_t(count), rows});
}

void RoundingGroup::LaneRun::roundColumn(int64_t column, const float *shift,
                                         float *errors) {
  auto square = float(group.diagonal[column] * group.diagonal[column]);
  if (levels.numLevels == 0)
    runVectorLoop<roundToGrid>(levels, count, shift, square, errors,
                               objectives.data());
  else
    runVectorLoop<roundToTable>(levels, count, shift, square, errors,
                                objectives.data(), scratch.data());
}

void RoundingGroup::LaneRun::roundBlock(int64_t begin, int64_t end,
                                        float *shift) {
  if (levels.numLevels == 0) {
    int64_t size = end - begin;
    std::array<float, kBlock * kBlock> factor;
    std::array<float, kBlock> squares;
    for (int64_t i = 0; i != size; ++i) {
      double diagonal = group.diagonal[begin + i];
      squares[i] = float(diagonal * diagonal);
      for (int64_t j = i + 1; j != size; ++j)
        factor[i * size + j] = group.inBlock(begin + i, begin + j, begin);
    }
    LaneBlock block{stride,           size,  factor.data(),
                    squares.data(),   shift, &errors[begin * stride],
                    objectives.data()};
    runVectorLoop<roundBlockToGrid>(levels, block, count);
    return;
  }
  for (int64_t i = end - 1; i >= begin; --i) {
    float *own = shift + (i - begin) * stride;
    for (int64_t j = i + 1; j != end; ++j)
      runVectorLoop<addMultiple>(group.inBlock(i, j, begin),
                                 &errors[j * stride], count, own);
    roundColumn(i, own, &errors[i * stride]);
  }
}

void RoundingGroup::LaneRun::run() {
  errorMemory = support::AlignedBuffer(columns * stride * sizeof(float));
  errors = reinterpret_cast<float *>(errorMemory.get());
  int64_t outer =
      columns > kWideColumns && !group.isLowRank() ? kOuter : kBlock;
  std::vector<float> shifts(outer * stride);
  outputs.assign(group.lowRank.rank * stride, 0.0f);
  for (int64_t outerEnd = columns; outerEnd > 0;) {
    int64_t first = std::max<int64_t>(0, outerEnd - outer);
    for (int64_t column = first; column != outerEnd; ++column)
      startColumn(column, &errors[column * stride]);
    // Add the shifts by the columns after the block.
    std::fill(shifts.begin(), shifts.end(), 0.0f);
    if (outerEnd != columns)
      addShifts(first, outerEnd, outerEnd, columns, shifts.data());
    for (int64_t end = outerEnd; end > first;) {
      int64_t begin = std::max(first, end - kBlock);
      float *shift = &shifts[(begin - first) * stride];
      if (end != outerEnd)
        addShifts(begin, end, end, outerEnd, shift);
      roundBlock(begin, end, shift);
      if (group.isLowRank())
        addOutputs(begin, end);
      end = begin;
    }
    outerEnd = first;
  }
}

void RoundingGroup::LaneRun::runWithoutShifts() {
  std::vector<float> zeros(stride, 0.0f), own(stride);
  for (int64_t column = columns - 1; column >= 0; --column) {
    startColumn(column, own.data());
    roundColumn(column, zeros.data(), own.data());
  }
}

std::vector<float>
RoundingGroup::roundLanes(llvm::ArrayRef<RoundingLane> lanes,
                          std::vector<float> *weights) const {
  LaneRun run(*this, lanes);
  run.run();
  if (weights) {
    weights->resize(lanes.size() * columns);
    for (size_t lane = 0; lane != lanes.size(); ++lane)
      for (int64_t i = 0; i != columns; ++i)
        (*weights)[lane * columns + order[i]] = lanes[lane].second->nearest(
            double(run.error(i, lane)) +
            best[i * moments.outputs + int64_t(lanes[lane].first)]);
  }
  return run.getObjectives().vec();
}

std::vector<float>
RoundingGroup::estimate(llvm::ArrayRef<RoundingLane> lanes) const {
  LaneRun run(*this, lanes);
  run.runWithoutShifts();
  return run.getObjectives().vec();
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// Number of rows of a factor that are multiplied at a time. The bits of sums
/// depend on it.
static constexpr int64_t kFactorRows = 256;

RoundingGroup::Image
RoundingGroup::computeImage(llvm::ArrayRef<size_t> channels,
                            llvm::ArrayRef<float> weights) const {
  auto count = int64_t(channels.size());
  Image image;
  image.stride = int64_t(llvm::alignTo(channels.size(), kVector));
  int64_t stride = image.stride, rank = lowRank.rank;
  image.errors.assign(columns * stride, 0.0f);
  for (int64_t row = 0; row != count; ++row)
    for (int64_t i = 0; i != columns; ++i)
      image.errors[i * stride + row] =
          float(double(weights[row * columns + order[i]]) -
                best[i * moments.outputs + int64_t(channels[row])]);
  ProductAdder products;
  image.objectives.assign(count, 0.0);
  if (isLowRank()) {
    image.values.assign(rank * stride, 0.0f);
    products.add(1.0f, {lowRank.inputs.data(), 1, rank},
                 {image.errors.data(), stride, 1}, columns,
                 {image.values.data(), rank, count, stride});
    runVectorLoop<addColumnSquares>(image.errors.data(), columns, stride, count,
                                    addition, image.objectives.data());
  } else {
    // The part of the factor that is not right of the diagonal is 0.
    image.values = image.errors;
    for (int64_t begin = 0; begin < columns; begin += kFactorRows) {
      int64_t rows = std::min(kFactorRows, columns - begin);
      products.add(1.0f, {&factor[begin * columns + begin], 1, columns},
                   {&image.errors[begin * stride], stride, 1}, columns - begin,
                   {&image.values[begin * stride], rows, count, stride});
    }
    for (int64_t i = 0; i != columns; ++i)
      runVectorLoop<multiplyRow>(float(diagonal[i]), count,
                                 &image.values[i * stride]);
  }
  runVectorLoop<addColumnSquares>(image.values.data(),
                                  int64_t(image.values.size()) / stride, stride,
                                  count, 1.0, image.objectives.data());
  return image;
}

std::vector<double>
RoundingGroup::computeObjectives(llvm::ArrayRef<size_t> channels,
                                 llvm::ArrayRef<float> weights) const {
  return computeImage(channels, weights).objectives;
}

RoundingGroup::Point RoundingGroup::pointAt(llvm::ArrayRef<size_t> channels,
                                            std::vector<float> weights) const {
  Image image = computeImage(channels, weights);
  auto count = int64_t(channels.size());
  int64_t stride = image.stride, rank = lowRank.rank;
  // R^T R (q - w*)
  std::vector<float> gradient(columns * stride, 0.0f);
  ProductAdder products;
  if (isLowRank()) {
    for (size_t i = 0; i != gradient.size(); ++i)
      gradient[i] = float(addition) * image.errors[i];
    products.add(1.0f, {lowRank.inputs.data(), rank, 1},
                 {image.values.data(), stride, 1}, rank,
                 {gradient.data(), columns, count, stride});
  } else {
    for (int64_t i = 0; i != columns; ++i)
      runVectorLoop<multiplyRow>(float(diagonal[i]), count,
                                 &image.values[i * stride]);
    gradient = image.values;
    for (int64_t begin = 0; begin < columns; begin += kFactorRows) {
      int64_t end = std::min(columns, begin + kFactorRows);
      products.add(1.0f, {&factor[begin * columns], columns, 1},
                   {image.values.data(), stride, 1}, end,
                   {&gradient[begin * stride], end - begin, count, stride});
    }
  }
  Point point{std::move(weights), {}, std::move(image.objectives)};
  point.gradient.resize(count * columns);
  for (int64_t row = 0; row != count; ++row)
    for (int64_t i = 0; i != columns; ++i)
      point.gradient[row * columns + order[i]] =
          double(gradient[i * stride + row]);
  return point;
}

} // namespace mct::quantization
