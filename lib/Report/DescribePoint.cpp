// SPDX-License-Identifier: Apache-2.0
#include "Describe.h"
#include "mct/IR/Constants.h"
#include "mct/Quantization/HistogramShift.h"
#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::report;
using quantization::Atom;
using quantization::Grid;

//===----------------------------------------------------------------------===//
// Statistics
//===----------------------------------------------------------------------===//

static constexpr size_t kMaxBins = 256;

/// Returns at most kMaxBins bins, merging as many neighbours as necessary.
static report::Histogram joinBins(double first, double width,
                                  ArrayRef<uint64_t> counts) {
  size_t joined = (counts.size() + kMaxBins - 1) / kMaxBins;
  report::Histogram histogram;
  histogram.first = first;
  histogram.width = width * double(joined);
  for (size_t bin = 0; bin < counts.size(); bin += joined) {
    int64_t &sum = histogram.counts.emplace_back();
    for (uint64_t count :
         counts.slice(bin, std::min(joined, counts.size() - bin)))
      sum += int64_t(count);
  }
  return histogram;
}

Statistics report::toStatistics(const quantization::Histogram &histogram) {
  quantization::Histogram::Parts parts = histogram.parts();
  Statistics statistics;
  statistics.count = int64_t(histogram.count());
  statistics.zeros = int64_t(histogram.zeros());
  statistics.min = histogram.min();
  statistics.max = histogram.max();
  if (!parts.counts.empty())
    statistics.histogram = joinBins(histogram.binEdge(parts.firstBin),
                                    histogram.binWidth(), parts.counts);
  return statistics;
}

static std::vector<Real> toReals(ElementsAttr attribute) {
  std::vector<Real> values;
  std::optional<ConstantTensor> tensor =
      attribute ? ConstantTensor::get(attribute) : std::nullopt;
  if (tensor && !tensor->isSplat())
    values = tensor->decode<double>();
  else if (tensor)
    values.assign(tensor->getNumElements(), tensor->decode<double>().front());
  return values;
}

static std::optional<quantization::Histogram>
readHistogramOf(tpc::QuantizeOp op) {
  tpc::StatisticsAttr statistics = op.getStatisticsAttr();
  if (!statistics)
    return std::nullopt;
  llvm::Expected<quantization::Histogram> histogram = readHistogram(statistics);
  if (histogram)
    return std::move(*histogram);
  llvm::consumeError(histogram.takeError());
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

static Parameters toParameters(tpc::QuantizerAttrInterface quantizer) {
  Parameters parameters;
  parameters.method = quantizer.getQuantizationMethod().getMethodName();
  parameters.bits = quantizer.getBits();
  parameters.isSigned = quantizer.getIsSigned();
  parameters.hasPowersOfTwo =
      quantizer.getQuantizationMethod().hasPowerOfTwoThresholds();
  parameters.threshold = quantizer.getThresholds().vec();
  for (const Grid &grid : quantizer.getGrids()) {
    parameters.lowest.push_back(grid.step * double(grid.qmin - grid.zeroPoint));
    parameters.highest.push_back(grid.step *
                                 double(grid.qmax - grid.zeroPoint));
    parameters.step.push_back(grid.step);
  }
  for (size_t channel = 0;
       parameters.step.empty() && channel != quantizer.getNumChannels();
       ++channel) {
    SmallVector<float> levels = quantizer.getLevels(channel);
    parameters.lowest.push_back(levels.empty() ? 0 : levels.front());
    parameters.highest.push_back(levels.empty() ? 0 : levels.back());
    // All channels share one table.
    ArrayRef<double> thresholds = quantizer.getThresholds();
    if (channel == 0)
      for (float level : levels)
        parameters.levels.push_back(
            level / (thresholds.empty() ? 1 : thresholds.front()));
  }
  llvm::raw_string_ostream(parameters.text) << quantizer;
  return parameters;
}

namespace {
/// Range of the levels of one parameter, and range of the values that are not
/// clipped.
struct GridRange {
  double lowest = 0, highest = 0, below = 0, above = 0;
};
} // namespace

static std::vector<GridRange> toRanges(tpc::QuantizerAttrInterface quantizer) {
  std::vector<GridRange> ranges;
  SmallVector<Grid> grids = quantizer.getGrids();
  for (const Grid &grid : grids) {
    double lowest = grid.step * double(grid.qmin - grid.zeroPoint),
           highest = grid.step * double(grid.qmax - grid.zeroPoint);
    ranges.push_back(
        {lowest, highest, lowest - grid.step / 2, highest + grid.step / 2});
  }
  if (!grids.empty())
    return ranges;
  for (size_t channel = 0; channel != quantizer.getNumChannels(); ++channel) {
    SmallVector<float> levels = quantizer.getLevels(channel);
    GridRange &range = ranges.emplace_back();
    if (levels.empty())
      continue;
    size_t last = levels.size() - 1, inner = std::min<size_t>(1, last);
    range.lowest = levels.front();
    range.highest = levels.back();
    range.below = range.lowest - (levels[inner] - range.lowest) / 2;
    range.above = range.highest + (range.highest - levels[last - inner]) / 2;
  }
  return ranges;
}

/// Returns the share of the grid's range that values from `min` to `max` cover.
static double getUsed(const GridRange &range, double min, double max) {
  double width = range.highest - range.lowest;
  if (!(width > 0))
    return 0;
  return std::max(0.0,
                  std::min(max, range.highest) - std::max(min, range.lowest)) /
         width;
}

//===----------------------------------------------------------------------===//
// Errors of other thresholds
//===----------------------------------------------------------------------===//

/// Factors from 1/8 to 4, six per octave and including 1.
static constexpr int kTrialsPerOctave = 6;
static constexpr int kFirstOctave = -3, kLastOctave = 2;

/// Returns the quantizer with all thresholds, or scales, multiplied by
/// `factor`; null if its method does not allow it.
static std::unique_ptr<quantization::TensorQuantizer>
scale(tpc::QuantizerAttrInterface quantizer, double factor) {
  SmallVector<Grid> grids = quantizer.getGrids();
  if (!grids.empty()) {
    for (Grid &grid : grids) {
      grid.step *= factor;
      if (!std::isfinite(static_cast<float>(grid.step)) || grid.step <= 0)
        return nullptr;
    }
    return std::make_unique<quantization::AffineQuantizer>(grids);
  }
  if (factor == 1)
    return quantizer.prepare();
  SmallVector<double> thresholds(quantizer.getThresholds());
  for (double &threshold : thresholds)
    threshold *= factor;
  tpc::QuantizerAttrInterface scaled =
      thresholds.empty() ? tpc::QuantizerAttrInterface()
                         : quantizer.withThresholds(thresholds);
  return scaled ? scaled.prepare() : nullptr;
}

/// `errorOf`: mean squared error of a quantizer.
static std::vector<Selection::Trial>
makeCurve(tpc::QuantizerAttrInterface quantizer,
          function_ref<double(const quantization::TensorQuantizer &)> errorOf) {
  std::vector<Selection::Trial> curve;
  int step = quantizer.getQuantizationMethod().hasPowerOfTwoThresholds()
                 ? kTrialsPerOctave
                 : 1;
  for (int trial = kFirstOctave * kTrialsPerOctave;
       trial <= kLastOctave * kTrialsPerOctave; trial += step) {
    double factor = std::exp2(double(trial) / kTrialsPerOctave);
    if (std::unique_ptr<quantization::TensorQuantizer> scaled =
            scale(quantizer, factor))
      curve.push_back({factor, errorOf(*scaled)});
  }
  return curve;
}

static Selection toSelection(tpc::SelectionAttr attribute) {
  Selection selection;
  selection.errorMethod =
      tpc::stringifyErrorMethod(attribute.getErrorMethod()).str();
  selection.certificate =
      tpc::stringifyCertificate(attribute.getCertificate()).str();
  llvm::append_range(selection.error, ArrayRef<double>(attribute.getError()));
  if (attribute.getBound())
    selection.bound = double(*attribute.getBound());
  return selection;
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

/// Returns the number that an op adds to each element of its other operand, or
/// none.
static std::optional<double> getAddedNumber(Operation *op) {
  if (!op || op->getNumOperands() < 2 ||
      !llvm::is_contained({"tosa.add", "linalg.add"},
                          op->getName().getStringRef()))
    return std::nullopt;
  for (Value operand : op->getOperands().take_front(2)) {
    if (Operation *fill = operand.getDefiningOp();
        fill && fill->getName().getStringRef() == "linalg.fill")
      operand = fill->getOperand(0);
    FloatAttr number;
    if (matchPattern(operand, m_Constant(&number)))
      return number.getValueAsDouble();
    std::optional<ConstantFloats> values = ConstantFloats::get(operand);
    if (values && values->values().size() == 1)
      return values->values().front();
  }
  return std::nullopt;
}

/// Returns the shift that `mct-correct-shift-negative` inserted before a point,
/// which it recognizes by the name, or none.
static std::optional<Point::Shift>
findShift(tpc::QuantizeOp op, tpc::QuantizerAttrInterface quantizer,
          const quantization::Histogram &histogram) {
  if (!op.getPointName().contains("_shifted") || !quantizer ||
      quantizer.getIsSigned())
    return std::nullopt;
  std::optional<double> by = getAddedNumber(op.getInput().getDefiningOp());
  std::optional<quantization::QuantizationMethod> kind =
      quantizer.getQuantizationMethod().getGridSearch();
  if (!by || !kind || quantizer.getBits() > 16)
    return std::nullopt;
  std::vector<Atom> atoms = quantization::atomsOf(histogram);
  Point::Shift shift;
  shift.by = *by;
  shift.error = meanSquaredError(*quantizer.prepare(), atoms);
  quantization::SelectionOptions options;
  options.kind = *kind;
  options.bits = quantizer.getBits();
  options.isSigned = true;
  std::vector<Atom> before = quantization::shiftAtoms(atoms, -*by);
  Grid grid = quantization::gridFor(
      quantization::selectForAtoms(before, options), options);
  shift.errorBefore = quantization::meanSquaredError(before, grid);
  return shift;
}

static void describeActivation(tpc::QuantizeOp op,
                               tpc::QuantizerAttrInterface quantizer,
                               Point &point) {
  std::optional<quantization::Histogram> histogram = readHistogramOf(op);
  if (tpc::StatisticsAttr attribute = op.getStatisticsAttr()) {
    Statistics &statistics = point.statistics.emplace();
    if (histogram)
      statistics = toStatistics(*histogram);
    statistics.count = attribute.getCount();
    statistics.zeros = attribute.getZeros();
    statistics.min = attribute.getMin();
    statistics.max = attribute.getMax();
    statistics.channelMin = toReals(attribute.getChannelMin());
    statistics.channelMax = toReals(attribute.getChannelMax());
  }
  if (!quantizer || !histogram || histogram->empty())
    return;
  point.shift = findShift(op, quantizer, *histogram);
  std::vector<Atom> atoms = quantization::atomsOf(*histogram);
  if (!point.selection)
    point.selection.emplace().errorMethod = "given";
  point.selection->curve =
      makeCurve(quantizer, [&](const quantization::TensorQuantizer &tried) {
        return meanSquaredError(tried, atoms);
      });
  std::vector<GridRange> ranges = toRanges(quantizer);
  if (ranges.size() != 1)
    return;
  double beyond = 0, all = 0;
  for (const Atom &atom : atoms) {
    all += atom.weight;
    if (atom.value < ranges[0].below || atom.value > ranges[0].above)
      beyond += atom.weight;
  }
  point.clipped = beyond / all;
  point.used = getUsed(ranges[0], histogram->min(), histogram->max());
}

//===----------------------------------------------------------------------===//
// Weights
//===----------------------------------------------------------------------===//

namespace {
struct ErrorSum {
  double squares = 0, errors = 0, products = 0, largest = 0, quantized = 0;

  void add(double value, double other) {
    squares += value * value;
    quantized += other * other;
    products += value * other;
    errors += (value - other) * (value - other);
    largest = std::max(largest, std::abs(value - other));
  }
  double sqnr() const {
    return errors == 0 ? std::numeric_limits<double>::infinity()
                       : 10 * std::log10(squares / errors);
  }
  double cosine() const {
    if (squares == 0 && quantized == 0)
      return 1;
    return squares == 0 || quantized == 0
               ? 0
               : products / std::sqrt(squares * quantized);
  }
};
} // namespace

/// Describes the float values and their quantized values. If weights were
/// rounded together, the record of corrections has the float kernel.
static void describeWeight(tpc::QuantizeOp op,
                           tpc::QuantizerAttrInterface quantizer,
                           ArrayRef<int64_t> channelAxes, Point &point) {
  std::optional<ConstantFloats> stored = ConstantFloats::get(op.getInput());
  if (!stored || stored->values().empty())
    return;
  ConstantFloats floating = *stored;
  if (tpc::CorrectionsAttr corrections = op.getCorrectionsAttr())
    if (ElementsAttr kernel = corrections.getKernel())
      if (std::optional<ConstantTensor> tensor = ConstantTensor::get(kernel))
        if (std::optional<ConstantFloats> original =
                ConstantFloats::convert(*tensor))
          floating = *original;
  ArrayRef<float> values = floating.values();
  if (values.size() != stored->values().size())
    return;
  quantization::Histogram histogram;
  quantization::HistogramScratch scratch;
  histogram.observe(values.data(), values.size(), scratch);
  if (!histogram.empty())
    point.statistics = toStatistics(histogram);
  if (!quantizer)
    return;

  ArrayRef<int64_t> shape = stored->shape(), axes = op.getChannelAxes();
  std::vector<float> quantized(values.size());
  quantizer.fakeQuantize(shape, axes, stored->values().data(),
                         quantized.data());
  size_t count = quantizer.getNumChannels();
  std::vector<GridRange> ranges = toRanges(quantizer);
  if (ranges.size() != count)
    return;
  bool hasOne = count == 1;
  if (hasOne) {
    axes = channelAxes;
    for (int64_t axis : axes)
      count *= size_t(shape[axis]);
    ranges.resize(count, ranges.front());
  }
  std::vector<float> rows = quantization::gatherChannels(values, shape, axes);
  quantized = quantization::gatherChannels(quantized, shape, axes);
  if (count == 0 || rows.empty())
    return;
  size_t length = rows.size() / count;
  ErrorSum all;
  size_t clipped = 0;
  double used = 0;
  for (size_t channel = 0; channel != count; ++channel) {
    auto row = ArrayRef(rows).slice(channel * length, length);
    ErrorSum sum;
    for (auto [value, other] : llvm::zip_equal(
             row, ArrayRef(quantized).slice(channel * length, length))) {
      sum.add(value, other);
      all.add(value, other);
      clipped += value < ranges[channel].below || value > ranges[channel].above;
    }
    auto [min, max] = std::minmax_element(row.begin(), row.end());
    used += getUsed(ranges[channel], *min, *max);
    point.channels.push_back(
        {*min, *max, sum.errors / double(length), sum.sqnr()});
  }
  point.clipped = double(clipped) / double(rows.size());
  point.used = hasOne ? getUsed(ranges[0], histogram.min(), histogram.max())
                      : used / double(count);
  point.total = Distance{all.sqnr(), all.cosine(), all.largest};
  point.own = point.total;
  if (!point.selection)
    point.selection.emplace().errorMethod = "given";
  point.selection->curve =
      makeCurve(quantizer, [&](const quantization::TensorQuantizer &tried) {
        tried.run({int64_t(count), int64_t(length)},
                  hasOne ? ArrayRef<int64_t>() : ArrayRef<int64_t>{0},
                  rows.data(), quantized.data());
        double sum = 0;
        for (auto [value, other] : llvm::zip_equal(rows, quantized))
          sum += (double(other) - value) * (double(other) - value);
        return sum / double(rows.size());
      });
}

void report::describePoint(tpc::QuantizeOp op, ArrayRef<int64_t> channelAxes,
                           Point &point) {
  point.name = op.getUniqueName();
  if (op.isWeight())
    point.weight = op.getWeight()->str();
  point.shape = cast<RankedTensorType>(op.getType()).getShape().vec();
  for (int64_t &size : point.shape)
    if (ShapedType::isDynamic(size))
      size = -1;
  point.axes = op.getChannelAxes().vec();
  tpc::QuantizerAttrInterface quantizer = op.getParametersAttr();
  if (quantizer)
    point.parameters = toParameters(quantizer);
  if (tpc::SelectionAttr selection = op.getSelectionAttr())
    point.selection = toSelection(selection);
  if (op.isWeight())
    describeWeight(op, quantizer, channelAxes, point);
  else
    describeActivation(op, quantizer, point);
}
