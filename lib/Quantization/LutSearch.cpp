// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Lut.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Quantizers/Channels.h"

#include "mct/Quantizers/Simd.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

namespace mct::quantization {

namespace {

// A gain below this part of the sum of squares is rounding.
constexpr double kRoundingOfGains = 1e-14;
// Relative gain of a round below which the search ends.
constexpr double kRelativeGain = 1e-5;
constexpr int kMaxRounds = 30;

/// The values of one channel in ascending order.
struct Row {
  std::vector<double> values;
  /// Prefix sums over the first i values: their number, or the sum of their
  /// weights, and the sum of weight * value. `counts` is empty if every weight
  /// is 1.
  std::vector<double> counts;
  std::vector<double> sums;
  double energy = 0;                // sum of weight * value^2
  double largest = 0, smallest = 0; // zero included

  double countBelow(size_t rank) const {
    return counts.empty() ? double(rank) : counts[rank];
  }
  double weight(size_t i) const {
    return counts.empty() ? 1.0 : counts[i + 1] - counts[i];
  }
  double totalWeight() const { return countBelow(values.size()); }
};

Row makeRow(llvm::ArrayRef<float> values) {
  std::vector<float> sorted;
  sorted.reserve(values.size());
  for (float value : values)
    if (std::isfinite(value))
      sorted.push_back(value);
  llvm::sort(sorted);
  Row row;
  row.values.assign(sorted.begin(), sorted.end());
  row.sums.reserve(sorted.size() + 1);
  double sum = 0;
  row.sums.push_back(sum);
  for (double value : row.values) {
    row.energy += value * value;
    row.sums.push_back(sum += value);
  }
  if (!sorted.empty()) {
    row.smallest = std::min(0.0, row.values.front());
    row.largest = std::max(0.0, row.values.back());
  }
  return row;
}

Row makeRow(llvm::ArrayRef<Atom> atoms) {
  std::vector<Atom> sorted;
  for (const Atom &atom : atoms)
    if (std::isfinite(atom.value))
      sorted.push_back(atom);
  // Equal values are ordered too, so that the order of the atoms changes no
  // sum.
  llvm::sort(sorted, [](const Atom &left, const Atom &right) {
    return std::tie(left.value, left.weight) <
           std::tie(right.value, right.weight);
  });
  Row row;
  double count = 0, sum = 0;
  row.counts.push_back(count);
  row.sums.push_back(sum);
  for (const Atom &atom : sorted) {
    row.values.push_back(atom.value);
    row.counts.push_back(count += atom.weight);
    row.sums.push_back(sum += atom.weight * atom.value);
    row.energy += atom.weight * atom.value * atom.value;
  }
  if (!sorted.empty()) {
    row.smallest = std::min(0.0, row.values.front());
    row.largest = std::max(0.0, row.values.back());
  }
  return row;
}

/// The integers that a table may hold.
struct TableRange {
  int lo, hi;
  bool isSigned;
  explicit TableRange(bool isSigned)
      : lo(tableMin(isSigned)), hi(tableMax(isSigned)), isSigned(isSigned) {}
  int size() const { return hi - lo + 1; }
  double scale() const { return isSigned ? 128.0 : 256.0; }
};

/// Cell of each value: ceil(2 * position) counted from that of the smallest
/// entry.
MCT_VECTOR_BODY void findCells(const double *values, size_t count,
                               double halvesPerUnit, double first, double last,
                               uint16_t *cells) {
  size_t i = 0;
  const Double8 zero{}, scale = zero + halvesPerUnit, end = zero + last;
  for (; i + 8 <= count; i += 8) {
    Double8 cell =
        __builtin_elementwise_ceil(loadVector<Double8>(values + i) * scale) -
        first;
    cell = cell > zero ? cell : zero;
    cell = cell < end ? cell : end;
    using Short8 = uint16_t __attribute__((vector_size(16)));
    using Int8x32 = int32_t __attribute__((vector_size(32)));
    storeVector(cells + i, __builtin_convertvector(
                               __builtin_convertvector(cell, Int8x32), Short8));
  }
  for (; i < count; ++i)
    cells[i] = static_cast<uint16_t>(
        std::clamp(std::ceil(values[i] * halvesPerUnit) - first, 0.0, last));
}

/// Sums that the error of every table depends on, in squared units of the
/// values.
struct Moments {
  /// Sums over the values in a cell: weight * unit^2, and weight * unit *
  /// value, with unit the width of one integer. Cell c holds the positions in
  /// ((c - 1) / 2 + lo, c / 2 + lo], the first and last also clipped values.
  std::vector<double> count, sum;
  double energy = 0;

  explicit Moments(const TableRange &range)
      : count(2 * range.size() - 1), sum(count.size()) {}

  void add(const Row &row, double threshold, const TableRange &range,
           std::vector<uint16_t> &cells) {
    cells.resize(row.values.size());
    runVectorLoop<findCells>(row.values.data(), row.values.size(),
                             2 * range.scale() / (threshold + kTableEpsilon),
                             2.0 * range.lo, double(count.size() - 1),
                             cells.data());
    double unit = threshold / range.scale();
    auto add = [&](size_t i) {
      count[cells[i]] += unit * unit * row.weight(i);
      sum[cells[i]] += unit * row.weight(i) * row.values[i];
    };
    // The values ascend. Taking them in turns from all parts of the row avoids
    // adding to the same cell twice in a row.
    constexpr size_t kParts = 8;
    size_t length = row.values.size() / kParts;
    for (size_t i = 0; i < length; ++i)
      for (size_t part = 0; part < kParts; ++part)
        add(part * length + i);
    for (size_t i = kParts * length; i < row.values.size(); ++i)
      add(i);
    energy += row.energy;
  }

  void merge(const Moments &other) {
    for (size_t i = 0; i < count.size(); ++i) {
      count[i] += other.count[i];
      sum[i] += other.sum[i];
    }
    energy += other.energy;
  }
};

MCT_VECTOR_BODY double cheapestBody(const double *previous, const double *gain,
                                    int first, int end) {
  // previous[a] + (end - a) * gain[a] over first <= a < end.
  double best = std::numeric_limits<double>::infinity();
  int a = first;
  if (a + 8 <= end) {
    Double8 distance =
        Double8{} + double(end - a) - Double8{0, 1, 2, 3, 4, 5, 6, 7};
    Double8 cheapest = Double8{} + best;
    for (; a + 8 <= end; a += 8) {
      Double8 cost = loadVector<Double8>(previous + a) +
                     distance * loadVector<Double8>(gain + a);
      cheapest = cost < cheapest ? cost : cheapest;
      distance -= Double8{} + 8.0;
    }
    for (int lane = 0; lane < 8; ++lane)
      best = std::min(best, cheapest[lane]);
  }
  for (; a < end; ++a)
    best = std::min(best, previous[a] + double(end - a) * gain[a]);
  return best;
}

MCT_VECTOR_BODY void findNextLayer(const double *previous, const double *gain,
                                   int size, int zero, double *next) {
  for (int b = 0; b < size; ++b) {
    // No neighbours on both sides of zero when zero is an entry.
    int first = zero >= 0 && b > zero ? zero : 0;
    next[b] = cheapestBody(previous, gain + b, first, b);
  }
}

/// next[b] = min over a < b of previous[a] + (b - a) * gain[a + b].

struct Table {
  std::vector<int64_t> entries;
  double error = HUGE_VAL; // sum of weight * squared error
};

Table bestTable(const Moments &moments, const TableRange &range,
                unsigned maxEntries, bool forceZero) {
  int size = range.size(), zero = forceZero ? -range.lo : -1;
  // Indices below are a - lo for an entry a, so h = a + b is their sum + 2 lo.
  std::vector<double> gain(2 * size - 1), last(size);
  double count = 0, sum = 0;
  for (int h = 0; h < 2 * size - 1; ++h) {
    count += moments.count[h];
    sum += moments.sum[h];
    gain[h] = 2 * sum - double(h + 2 * range.lo) * count;
  }
  for (int b = 0; b < size; ++b) {
    double entry = b + range.lo;
    last[b] = b < zero ? HUGE_VAL : entry * (entry * count - 2 * sum);
  }

  std::vector<std::vector<double>> layers;
  std::vector<double> layer(size, 0.0);
  if (forceZero)
    std::fill(layer.begin() + zero + 1, layer.end(), HUGE_VAL);
  Table table;
  int lastEntry = 0;
  double tolerance = kRoundingOfGains * moments.energy;
  for (unsigned entries = 1; entries <= maxEntries; ++entries) {
    if (entries > 1) {
      std::vector<double> next(size);
      runVectorLoop<findNextLayer>(layers.back().data(), gain.data(), size,
                                   zero, next.data());
      layer = std::move(next);
    }
    int best = 0;
    for (int b = 1; b < size; ++b)
      if (layer[b] + last[b] < layer[best] + last[best])
        best = b;
    double error = moments.energy + layer[best] + last[best];
    // The gain of each further entry is smaller than that of the one before.
    if (!(error < table.error - (entries > 1 ? tolerance : 0)))
      break;
    table.error = error;
    lastEntry = best;
    layers.push_back(layer);
  }
  if (layers.empty())
    return table;

  int b = lastEntry;
  table.entries.push_back(b + range.lo);
  for (size_t i = layers.size() - 1; i-- > 0;) {
    int first = forceZero && b > zero ? zero : 0, best = first;
    auto cost = [&](int a) {
      return layers[i][a] + double(b - a) * gain[a + b];
    };
    for (int a = first + 1; a < b; ++a)
      if (cost(a) < cost(best))
        best = a;
    b = best;
    table.entries.push_back(b + range.lo);
  }
  std::reverse(table.entries.begin(), table.entries.end());
  return table;
}

/// The error of a table as a function of the threshold of one channel.
class ThresholdSearch {
public:
  ThresholdSearch(const Row &row, llvm::ArrayRef<int64_t> table,
                  const TableRange &range)
      : row(row), table(table), scale(range.scale()) {}

  struct Result {
    double threshold = 0;
    double error = HUGE_VAL;
    double refined = 0; // the best threshold for the same entries, 0: none
  };

  Result evaluate(double threshold) const {
    double unit = threshold / scale;
    double perHalf = (threshold + kTableEpsilon) / scale * 0.5;
    double squares = 0, products = 0, countBefore = 0, sumBefore = 0;
    size_t from = 0;
    for (size_t i = 0; i < table.size(); ++i) {
      size_t rank = row.values.size();
      if (i + 1 < table.size())
        rank = llvm::upper_bound(
                   llvm::ArrayRef<double>(row.values).drop_front(from),
                   double(table[i] + table[i + 1]) * perHalf) -
               row.values.data();
      double entry = table[i];
      double countHere = row.countBelow(rank), sumHere = row.sums[rank];
      squares += entry * entry * (countHere - countBefore);
      products += entry * (sumHere - sumBefore);
      countBefore = countHere;
      sumBefore = sumHere;
      from = rank;
    }
    Result result;
    result.threshold = threshold;
    result.error = row.energy + unit * (unit * squares - 2 * products);
    if (squares > 0 && products > 0)
      result.refined = scale * products / squares;
    return result;
  }

private:
  const Row &row;
  llvm::ArrayRef<int64_t> table;
  double scale;
};

/// Returns the sum over the row of weight * (value - nearest entry)^2, term by
/// term.
double exactError(const Row &row, llvm::ArrayRef<int64_t> table,
                  double threshold, const TableRange &range) {
  double unit = threshold / range.scale(), error = 0;
  size_t i = 0;
  for (size_t entry = 0; entry < table.size(); ++entry) {
    double end = entry + 1 < table.size()
                     ? 0.5 * double(table[entry] + table[entry + 1])
                     : HUGE_VAL;
    double level = unit * double(table[entry]);
    for (; i < row.values.size() &&
           tablePosition(row.values[i], threshold, range.isSigned) <= end;
         ++i) {
      double difference = row.values[i] - level;
      error += row.weight(i) * difference * difference;
    }
  }
  return error;
}

/// Returns 0 for 0.
double powerOfTwoAtLeast(double value) {
  if (value == 0)
    return 0;
  int exponent = 0;
  double fraction = std::frexp(value, &exponent);
  return std::ldexp(1.0, fraction == 0.5 ? exponent - 1 : exponent);
}

/// Channels with one table.
class LutSearch {
public:
  LutSearch(std::vector<Row> rows, const SelectionOptions &options,
            bool forceZero, const support::Threads &threads)
      : rows(std::move(rows)), range(options.isSigned), bits(options.bits),
        powerOfTwo(options.kind == QuantizationMethod::LutPowerOfTwo),
        forceZero(forceZero), threads(threads),
        minThreshold(powerOfTwo ? powerOfTwoAtLeast(options.minThreshold)
                                : options.minThreshold) {}

  LutParameters atThresholds(std::vector<double> thresholds) const {
    Table table = bestTableAt(thresholds);
    return finish(std::move(thresholds), std::move(table.entries));
  }
  LutParameters selectWeights() const;
  LutParameters selectActivation() const;

private:
  // Channels of a group are summed one after the other, the groups in their
  // order: no sum depends on the number of threads.
  static constexpr size_t kGroup = 16;

  template <typename Work> void forEachGroup(Work work) const {
    parallelFor((rows.size() + kGroup - 1) / kGroup, threads,
                [&](size_t group) {
                  work(group, group * kGroup,
                       std::min(rows.size(), (group + 1) * kGroup));
                });
  }

  Table bestTableAt(llvm::ArrayRef<double> thresholds) const {
    // There is at least one group, since a tensor may have no channels.
    std::vector<Moments> groups(
        std::max<size_t>(1, (rows.size() + kGroup - 1) / kGroup),
        Moments(range));
    forEachGroup([&](size_t group, size_t begin, size_t end) {
      std::vector<uint16_t> cells;
      for (size_t row = begin; row < end; ++row)
        groups[group].add(rows[row],
                          thresholds[thresholds.size() == 1 ? 0 : row], range,
                          cells);
    });
    for (size_t group = 1; group < groups.size(); ++group)
      groups[0].merge(groups[group]);
    return bestTable(groups[0], range, 1u << bits, forceZero);
  }

  std::vector<double> bestThresholdsFor(llvm::ArrayRef<int64_t> table,
                                        llvm::ArrayRef<double> thresholds,
                                        bool wide) const;
  double bestThresholdFor(const Row &row, llvm::ArrayRef<int64_t> table,
                          double threshold, bool wide) const;

  LutParameters finish(std::vector<double> thresholds,
                       std::vector<int64_t> table) const {
    std::vector<double> errors(rows.size());
    forEachGroup([&](size_t, size_t begin, size_t end) {
      for (size_t row = begin; row < end; ++row)
        errors[row] =
            exactError(rows[row], table,
                       thresholds[thresholds.size() == 1 ? 0 : row], range);
    });
    double error = 0, weight = 0;
    for (size_t row = 0; row < rows.size(); ++row) {
      error += errors[row];
      weight += rows[row].totalWeight();
    }
    return {std::move(thresholds), std::move(table),
            weight > 0 ? error / weight : 0.0};
  }

  double clampThreshold(double threshold) const {
    return std::max(minThreshold,
                    powerOfTwo ? powerOfTwoAtLeast(threshold) : threshold);
  }

  std::vector<Row> rows;
  TableRange range;
  unsigned bits;
  bool powerOfTwo;
  bool forceZero;
  support::Threads threads;
  double minThreshold;
};

double LutSearch::bestThresholdFor(const Row &row,
                                   llvm::ArrayRef<int64_t> table,
                                   double threshold, bool wide) const {
  ThresholdSearch search(row, table, range);
  ThresholdSearch::Result best = search.evaluate(threshold);
  if (!(best.error > kRoundingOfGains * row.energy))
    return threshold;
  auto consider = [&](double candidate) {
    if (candidate < minThreshold)
      return false;
    ThresholdSearch::Result result = search.evaluate(candidate);
    if (!(result.error < best.error - kRoundingOfGains * row.energy))
      return false;
    best = result;
    return true;
  };
  if (powerOfTwo) {
    for (int shift = wide ? -4 : -1; shift <= (wide ? 4 : 1); ++shift)
      consider(std::ldexp(threshold, shift));
    return best.threshold;
  }
  if (wide) {
    // Start from the threshold that maps the outermost values to the outermost
    // entries.
    double cover = 0;
    if (table.back() > 0)
      cover = std::max(cover, row.largest / double(table.back()));
    if (table.front() < 0)
      cover = std::max(cover, row.smallest / double(table.front()));
    cover *= range.scale();
    constexpr int kSteps = 24;
    for (int i = 0; i <= kSteps; ++i)
      consider(cover * std::exp2(0.25 - 2.0 * i / kSteps));
  } else {
    for (double factor : {0.8, 0.86, 0.92, 0.96, 1.04, 1.08, 1.16, 1.25})
      consider(threshold * factor);
  }
  for (int i = 0; i < 10 && best.refined > 0; ++i)
    if (!consider(best.refined))
      break;
  return best.threshold;
}

std::vector<double>
LutSearch::bestThresholdsFor(llvm::ArrayRef<int64_t> table,
                             llvm::ArrayRef<double> thresholds,
                             bool wide) const {
  std::vector<double> result(rows.size());
  forEachGroup([&](size_t, size_t begin, size_t end) {
    for (size_t row = begin; row < end; ++row)
      result[row] = bestThresholdFor(rows[row], table, thresholds[row], wide);
  });
  return result;
}

LutParameters LutSearch::selectWeights() const {
  // Returns thresholds that cover all values of their channels and map the
  // largest positive value to an entry: of the table, and, as in MCT, of a grid
  // as wide as the index.
  auto covering = [&](unsigned width, double factor) {
    double half = std::ldexp(1.0, int(width) - 1);
    double widening = width > 1 ? half / (half - 1) : 0.0;
    std::vector<double> thresholds;
    for (const Row &row : rows)
      thresholds.push_back(clampThreshold(
          factor * std::max(-row.smallest, row.largest * widening)));
    return thresholds;
  };
  std::vector<std::vector<double>> starts;
  starts.push_back(covering(kTableBits, 1.0));
  starts.push_back(covering(bits, 1.0));
  for (double factor : {0.85, 0.7, 0.5})
    starts.push_back(covering(kTableBits, factor));
  // Also start from thresholds that are the same multiple of each channel's
  // root mean square.
  for (double factor : {2.5, 3.5}) {
    std::vector<double> thresholds;
    for (const Row &row : rows)
      thresholds.push_back(clampThreshold(
          row.totalWeight() > 0
              ? factor * std::sqrt(row.energy / row.totalWeight())
              : 0.0));
    starts.push_back(std::move(thresholds));
  }

  std::vector<double> thresholds;
  Table table;
  double energy = 0;
  for (const Row &row : rows)
    energy += row.energy;
  double tolerance = kRoundingOfGains * energy;
  for (std::vector<double> &start : starts) {
    Table candidate = bestTableAt(start);
    if (thresholds.empty() || candidate.error < table.error - tolerance) {
      table = std::move(candidate);
      thresholds = std::move(start);
    }
  }
  for (int round = 0; round < kMaxRounds && table.error > tolerance; ++round) {
    std::vector<double> moved =
        bestThresholdsFor(table.entries, thresholds, /*wide=*/round == 0);
    Table candidate = bestTableAt(moved);
    double gain = table.error - candidate.error;
    // The error can grow only by rounding. If it stays the same, a channel with
    // much smaller values than the others may still gain.
    if (gain < 0)
      break;
    bool isLast = gain <= kRelativeGain * table.error;
    thresholds = std::move(moved);
    table = std::move(candidate);
    if (isLast)
      break;
  }
  return finish(std::move(thresholds), std::move(table.entries));
}

LutParameters LutSearch::selectActivation() const {
  const Row &row = rows.front();
  double cover = clampThreshold(
      range.isSigned ? std::max(-row.smallest, row.largest) : row.largest);
  std::vector<double> candidates = {cover};
  if (powerOfTwo)
    for (int shift : {1, -1, -2, -3, -4})
      candidates.push_back(std::ldexp(cover, shift));
  else
    for (int i = -2; i < 16; ++i)
      candidates.push_back(cover * std::exp2(-i / 8.0));
  Table table;
  double threshold = cover;
  for (double candidate : candidates) {
    if (candidate < minThreshold)
      continue;
    Table found = bestTableAt(candidate);
    if (table.entries.empty() ||
        found.error < table.error - kRoundingOfGains * row.energy) {
      table = std::move(found);
      threshold = candidate;
    }
  }
  return finish({threshold}, std::move(table.entries));
}

std::vector<Row> makeRows(llvm::ArrayRef<float> values,
                          llvm::ArrayRef<int64_t> shape,
                          llvm::ArrayRef<int64_t> axes,
                          const support::Threads &threads) {
  size_t channels = channelCount(shape, axes);
  std::vector<Row> rows(channels);
  ChannelRows channelRows(values, shape, axes);
  size_t together = channelRows.numTogether();
  parallelFor((channels + together - 1) / together, threads, [&](size_t block) {
    size_t first = block * together;
    size_t count = std::min(together, channels - first);
    std::vector<float> buffer;
    llvm::ArrayRef<float> read = channelRows.read(first, count, buffer);
    size_t length = channelRows.length();
    for (size_t i = 0; i < count; ++i)
      rows[first + i] = makeRow(read.slice(i * length, length));
  });
  return rows;
}

SelectionOptions forWeights(SelectionOptions options) {
  options.isSigned = true;
  return options;
}

} // namespace

LutParameters bestLutTable(llvm::ArrayRef<float> values,
                           llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> axes,
                           llvm::ArrayRef<double> thresholds,
                           const SelectionOptions &options) {
  if (thresholds.size() == 1)
    axes = {};
  return LutSearch(makeRows(values, shape, axes, 1), forWeights(options),
                   /*forceZero=*/true, 1)
      .atThresholds(thresholds.vec());
}

LutParameters bestLutTableForAtoms(llvm::ArrayRef<Atom> atoms, double threshold,
                                   const SelectionOptions &options,
                                   bool forceZero) {
  return LutSearch({makeRow(atoms)}, options, forceZero, 1)
      .atThresholds({threshold});
}

LutParameters selectLut(llvm::ArrayRef<float> values,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> axes,
                        const SelectionOptions &options,
                        const support::Threads &threads) {
  // Small tensors are not worth more threads.
  support::Threads useful = threads.atMost(values.size() / 4096);
  return LutSearch(makeRows(values, shape, axes, useful), forWeights(options),
                   /*forceZero=*/true, useful)
      .selectWeights();
}

int64_t selectLutAxis(llvm::ArrayRef<float> values,
                      llvm::ArrayRef<int64_t> shape,
                      const SelectionOptions &options,
                      const support::Threads &threads) {
  int64_t best = 0;
  double bestError = HUGE_VAL;
  for (int64_t axis = 0, end = int64_t(shape.size()); axis < end; ++axis) {
    double error = selectLut(values, shape, {axis}, options, threads).error;
    if (error < bestError) {
      best = axis;
      bestError = error;
    }
  }
  return best;
}

LutParameters selectLutForAtoms(llvm::ArrayRef<Atom> atoms,
                                const SelectionOptions &options,
                                bool forceZero) {
  std::vector<Atom> kept;
  if (std::isfinite(options.zThreshold)) {
    kept = withoutOutliers(atoms, options.zThreshold);
    atoms = kept;
  }
  return LutSearch({makeRow(atoms)}, options, forceZero, 1).selectActivation();
}

llvm::Expected<LutParameters>
selectLutForHistogram(const Histogram &histogram,
                      const SelectionOptions &options, bool forceZero) {
  if (histogram.empty())
    return llvm::createStringError(
        "no finite value was observed (%llu values that are not finite)",
        static_cast<unsigned long long>(histogram.nonFinite()));
  return selectLutForAtoms(atomsOf(histogram), options, forceZero);
}

} // namespace mct::quantization
