// SPDX-License-Identifier: Apache-2.0
#include "TablePoints.h"
#include "ElementwiseExpression.h"
#include "mct/IR/Names.h"
#include "mct/Planning/IntegerLayer.h"
#include "mct/Quantization/Selection.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using quantization::Grid;

/// Returns the expression of element-wise ops that compute `result` from a
/// single value and from numbers, with the last such value on the way from the
/// result as its source. Does not look beyond values for which `isSource` is
/// true.
static ElementwiseExpression
findExpression(Value result, ConstantEvaluator &constants,
               llvm::function_ref<bool(Value)> isSource) {
  ElementwiseExpression expression;
  expression.result = expression.source = result;
  // Values that the result depends on, and ops on the way to them. Whenever
  // there is only one such value, it can be the source.
  llvm::SmallSetVector<Value, 4> open;
  open.insert(result);
  llvm::SetVector<Operation *> passed;
  while (passed.size() < expression.kMaxOps) {
    // Visit the last one first, since the others may be among its operands.
    Value last;
    for (Value value : open)
      if (Operation *op = value.getDefiningOp();
          op && !isSource(value) && !isa<tpc::QuantizeOp>(op) &&
          op->getBlock() == result.getDefiningOp()->getBlock() &&
          (!last || last.getDefiningOp()->isBeforeInBlock(op)))
        last = value;
    std::optional<SmallVector<Value>> variables;
    if (last)
      variables = expression.readOperands(last.getDefiningOp(), constants);
    if (!variables)
      break;
    open.remove(last);
    open.insert(variables->begin(), variables->end());
    passed.insert(last.getDefiningOp());
    if (open.size() == 1) {
      expression.source = open.front();
      expression.ops.insert(passed.begin(), passed.end());
    }
  }
  return expression;
}

/// Returns true for a mean, a sum along axes times positive numbers, which a
/// single rescale computes. Clamps may follow.
static bool isMean(const ElementwiseExpression &expression) {
  Value sum = expression.source;
  while (auto reshape = sum.getDefiningOp<tosa::ReshapeOp>())
    sum = reshape.getInput1();
  if (!sum.getDefiningOp<tosa::ReduceSumOp>())
    return false;
  return llvm::all_of(expression.ops, [&](Operation *op) {
    if (isa<tosa::ClampOp, tosa::IdentityOp>(op))
      return true;
    if (!isa<tosa::MulOp>(op))
      return false;
    bool isFirst = expression.numbers.contains(op->getOperand(0));
    auto number = expression.numbers.find(op->getOperand(isFirst ? 0 : 1));
    Value other = op->getOperand(isFirst ? 1 : 0);
    return number != expression.numbers.end() &&
           number->second.decode<double>().front() > 0 &&
           !other.getDefiningOp<tosa::ClampOp>();
  });
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

namespace {
/// Inputs with which an activation is evaluated, its results, and how often
/// such results have been observed.
struct Trial {
  std::vector<float> inputs, results;
  std::vector<double> weights;
};
} // namespace

/// Returns ascending inputs of all magnitudes, 2^8 per octave.
static std::vector<float> makeInputs() {
  constexpr int kLowest = -12, kHighest = 15, kPerOctave = 256;
  std::vector<float> inputs{0};
  for (int octave = kLowest; octave != kHighest; ++octave)
    for (int part = 0; part != kPerOctave; ++part) {
      float value = std::ldexp(1.0f + float(part) / float(kPerOctave), octave);
      inputs.push_back(value);
      inputs.push_back(-value);
    }
  llvm::sort(inputs);
  return inputs;
}

/// Returns the counts of the bins that have a width, followed by that of zeros.
/// A bin that no input reaches, since the bins of a histogram may be narrower
/// than the steps between the results of inputs, is counted in the nearest bin
/// that some reach. `zero`: the bin of the smallest positive numbers.
static std::vector<double> countReached(ArrayRef<int64_t> counts, int64_t zero,
                                        int64_t zeros,
                                        ArrayRef<double> widths) {
  SmallVector<int64_t> reached;
  for (size_t bin = 0; bin != counts.size(); ++bin)
    if (widths[bin] > 0)
      reached.push_back(int64_t(bin));
  std::vector<double> found(widths.size(), 0);
  auto add = [&](int64_t bin, int64_t count) {
    auto above = llvm::lower_bound(reached, bin);
    if (above == reached.end() ||
        (above != reached.begin() && *above - bin > bin - *(above - 1)))
      --above;
    found[size_t(*above)] += double(count);
  };
  if (widths.back() > 0 || reached.empty())
    found.back() = double(zeros);
  else
    add(zero, zeros);
  if (!reached.empty())
    for (auto [bin, count] : llvm::enumerate(counts))
      add(int64_t(bin), count);
  return found;
}

/// Weights the inputs by the statistics of the results: the count of a bin is
/// distributed evenly over the inputs whose results it contains. Without a
/// histogram, all inputs have the same weight whose results are in the observed
/// range or, without statistics, on the grid.
static void weigh(Trial &trial, tpc::StatisticsAttr statistics,
                  const Grid &outer) {
  size_t count = trial.inputs.size();
  std::vector<double> widths(count);
  for (size_t i = 0; i != count; ++i)
    widths[i] = (double(trial.inputs[std::min(i + 1, count - 1)]) -
                 double(trial.inputs[i ? i - 1 : 0])) /
                2;
  double lowest = statistics
                      ? statistics.getMin()
                      : outer.step * double(outer.qmin - outer.zeroPoint),
         highest = statistics
                       ? statistics.getMax()
                       : outer.step * double(outer.qmax - outer.zeroPoint);
  std::optional<SmallVector<int64_t>> counts;
  tpc::HistogramAttr histogram =
      statistics ? statistics.getHistogram() : tpc::HistogramAttr();
  int64_t first = 0;
  if (histogram)
    counts = readCounts(histogram);
  if (counts) {
    // Bins for all that was observed, which include the smallest results.
    auto getBin = [&](double value) {
      return int64_t(
          std::floor(std::ldexp(value, -int(histogram.getStepExponent()))));
    };
    first = std::min(histogram.getFirst(), getBin(lowest));
    counts->insert(counts->begin(), size_t(histogram.getFirst() - first), 0);
    counts->resize(
        std::max(counts->size(), size_t(getBin(highest) - first + 1)), 0);
  }
  // Returns the index of a result's bin; zeros have a bin of their own.
  auto findBin = [&](float value) -> std::optional<int64_t> {
    if (!std::isfinite(value) || value < lowest || value > highest)
      return std::nullopt;
    if (!counts)
      return 0;
    if (value == 0)
      return int64_t(counts->size());
    double position = std::floor(std::ldexp(
                          double(value), -int(histogram.getStepExponent()))) -
                      double(first);
    if (position < 0 || position >= double(counts->size()))
      return std::nullopt;
    return int64_t(position);
  };
  std::vector<double> shares((counts ? counts->size() : 0) + 1, 0);
  for (size_t i = 0; i != count; ++i)
    if (std::optional<int64_t> bin = findBin(trial.results[i]))
      shares[*bin] += widths[i];
  trial.weights.assign(count, 0);
  if (llvm::all_of(shares, [](double share) { return share == 0; })) {
    // The observed range is narrower than the step between two results.
    auto distance = [&](float result) {
      double size = std::max(lowest - result, result - highest);
      return std::isfinite(size) ? size : std::numeric_limits<double>::max();
    };
    auto nearest = llvm::min_element(trial.results, [&](float a, float b) {
      return distance(a) < distance(b);
    });
    trial.weights[size_t(nearest - trial.results.begin())] = 1;
    return;
  }
  std::vector<double> found =
      counts ? countReached(*counts, -first, statistics.getZeros(), shares)
             : shares;
  for (size_t i = 0; i != count; ++i)
    if (std::optional<int64_t> bin = findBin(trial.results[i]);
        bin && shares[*bin] > 0)
      trial.weights[i] = found[*bin] * widths[i] / shares[*bin];
}

/// Returns the quantizers to try, from coarse to fine.
static SmallVector<tpc::QuantizerAttrInterface>
makeCandidates(tpc::QuantizerAttrInterface outer, const Trial &trial,
               quantization::Rounding rounding) {
  SmallVector<tpc::QuantizerAttrInterface> candidates;
  tpc::QuantizationMethodAttrInterface method = outer.getQuantizationMethod();
  std::optional<quantization::QuantizationMethod> kind = method.getGridSearch();
  if (!kind || outer.getGrids().size() != 1)
    return candidates;
  quantization::SelectionOptions options;
  options.kind = *kind;
  options.bits = 8;
  auto add = [&](const quantization::SelectedParameters &selected) {
    tpc::QuantizerAttrInterface candidate =
        method.createQuantizer(selected, options);
    if (!candidate)
      return;
    if (tpc::QuantizerAttrInterface rounded =
            candidate.withRoundingMode(rounding))
      candidates.push_back(rounded);
  };
  // Range of the inputs with a weight.
  double lo = 0, hi = 0;
  for (auto [input, weight] : llvm::zip_equal(trial.inputs, trial.weights))
    if (weight > 0) {
      lo = std::min(lo, double(input));
      hi = std::max(hi, double(input));
    }
  constexpr int kPerOctave = 8, kOctaves = 24;
  double most = std::exp2(std::ceil(std::log2(std::max({-lo, hi, 0x1p-16}))));
  for (int part = 0; part != kOctaves * kPerOctave; ++part) {
    double size =
        std::ldexp(most * (1 - double(part % kPerOctave) / (2 * kPerOctave)),
                   -part / kPerOctave);
    if (auto selected =
            quantization::getParametersOfSize(options, lo, hi, size))
      add(*selected);
  }
  return candidates;
}

/// Returns the weighted squared error after the outer quantizer if `inner`
/// quantizes the input of the expression.
static double measure(const ElementwiseExpression &expression,
                      const Trial &trial, tpc::QuantizerAttrInterface inner,
                      tpc::QuantizerAttrInterface outer) {
  SmallVector<float> levels = inner.getLevels(0);
  std::optional<std::vector<float>> table = expression.evaluate(levels);
  if (!table)
    return std::numeric_limits<double>::infinity();
  outer.fakeQuantize({int64_t(table->size())}, {}, table->data(),
                     table->data());
  std::vector<float> quantized(trial.inputs.size());
  inner.fakeQuantize({int64_t(quantized.size())}, {}, trial.inputs.data(),
                     quantized.data());
  double step = double(levels[1]) - double(levels[0]), error = 0;
  for (size_t i = 0; i != quantized.size(); ++i) {
    if (trial.weights[i] == 0)
      continue;
    double code = std::nearbyint((quantized[i] - levels[0]) / step);
    double difference =
        double((
            *table)[size_t(std::clamp(code, 0.0, double(table->size() - 1)))]) -
        double(trial.results[i]);
    error += trial.weights[i] * difference * difference;
  }
  return std::isnan(error) ? std::numeric_limits<double>::infinity() : error;
}

namespace {
/// Parameters of a new point, and by how many dB it increases the squared error
/// after the outer quantizer.
struct Selection {
  tpc::QuantizerAttrInterface quantizer;
  double loss = 0;
};
} // namespace

/// Returns the weighted squared error of the outer quantizer alone.
static double measureAlone(const Trial &trial,
                           tpc::QuantizerAttrInterface outer) {
  std::vector<float> quantized(trial.results.size());
  outer.fakeQuantize({int64_t(quantized.size())}, {}, trial.results.data(),
                     quantized.data());
  double error = 0;
  for (auto [weight, level, result] :
       llvm::zip_equal(trial.weights, quantized, trial.results))
    if (weight > 0)
      error += weight * (double(level) - double(result)) *
               (double(level) - double(result));
  return error;
}

static Selection selectQuantizer(const ElementwiseExpression &expression,
                                 tpc::QuantizeOp point,
                                 quantization::Rounding rounding) {
  tpc::QuantizerAttrInterface outer = point.getParametersAttr();
  Trial trial;
  trial.inputs = makeInputs();
  std::optional<std::vector<float>> results = expression.evaluate(trial.inputs);
  if (!results)
    return {};
  trial.results = std::move(*results);
  weigh(trial, point.getStatisticsAttr(), outer.getGrids().front());
  Selection best;
  double least = std::numeric_limits<double>::infinity();
  for (tpc::QuantizerAttrInterface candidate :
       makeCandidates(outer, trial, rounding)) {
    double error = measure(expression, trial, candidate, outer);
    // If errors are equal, the finest quantizer is chosen.
    if (error <= least && std::isfinite(error)) {
      least = error;
      best.quantizer = candidate;
    }
  }
  double alone = measureAlone(trial, outer);
  if (best.quantizer && least > alone && alone > 0)
    best.loss = 10 * std::log10(least / alone);
  return best;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void mct::insertTablePoints(
    func::FuncOp function, const KernelOps &kernels,
    quantization::Rounding rounding,
    llvm::function_ref<void(Operation *, const Record &)> report) {
  SmallVector<tpc::QuantizeOp> points;
  llvm::StringSet<> names;
  llvm::DenseSet<Value> layers;
  function.walk([&](Operation *op) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
      points.push_back(point);
      names.insert(point.getUniqueName());
    }
    if (std::optional<KernelOp> layer = kernels.get(op))
      layers.insert(layer->getResult());
  });
  ConstantEvaluator constants;
  for (tpc::QuantizeOp point : points) {
    tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
    Operation *last = point.getInput().getDefiningOp();
    if (!point.isActivation() || !parameters || !last ||
        parameters.getGrids().size() != 1)
      continue;
    ElementwiseExpression expression =
        findExpression(point.getInput(), constants,
                       [&](Value value) { return layers.contains(value); });
    Value source = expression.source;
    Operation *op = source.getDefiningOp();
    auto type = dyn_cast<RankedTensorType>(source.getType());
    // Ops that only move values keep the grid of a point.
    std::optional<Grid> kept = findGrid(source);
    if (expression.isClamp() || isMean(expression) || !op ||
        isa<tpc::QuantizeOp>(op) || (kept && kept->qmax - kept->qmin < 256) ||
        !type || !type.getElementType().isF32())
      continue;
    std::string where = "before '" + point.getPointName().str() + "'";
    // Tables have 256 entries.
    if (parameters.getBits() > 8) {
      report(op, Record(Reason::TooManyBits)
                     << "gets no point " << where << ": that has "
                     << named("bits", int64_t(parameters.getBits()))
                     << " bits, more than a table of codes has");
      continue;
    }
    Selection selected = selectQuantizer(expression, point, rounding);
    tpc::QuantizerAttrInterface chosen = selected.quantizer;
    if (!chosen) {
      report(op, Record(Reason::NotComputable)
                     << "gets no point " << where
                     << ": no quantizer of its kind is known for what is in "
                        "between");
      continue;
    }
    StringAttr present = getName(source);
    std::string base =
        present ? present.str() : point.getPointName().str() + "_input";
    std::string name = base;
    for (unsigned number = 1; !names.insert(name).second; ++number)
      name = base + "_" + std::to_string(number);
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfterValue(source);
    auto inner =
        tpc::QuantizeOp::create(builder, source.getLoc(), source,
                                builder.getStringAttr(name), /*weight=*/{},
                                /*axes=*/{}, /*config=*/{}, chosen);
    source.replaceUsesWithIf(inner.getResult(), [&](OpOperand &use) {
      return expression.ops.contains(use.getOwner());
    });
    // Constants do not change, and cached values of earlier ops stay valid.
    const Grid grid = chosen.getGrids().front();
    report(op,
           Record(Decision::Applied, Reason::TablePoint)
               << "gets a point " << where << ": "
               << named("low", grid.step * double(grid.qmin - grid.zeroPoint))
               << " to "
               << named("high", grid.step * double(grid.qmax - grid.zeroPoint))
               << ", which costs that "
               << named("loss_db", selected.loss, "%.1f") << " dB");
    // Two bits of the point.
    constexpr double kReportedLoss = 12;
    if (selected.loss > kReportedLoss) {
      InFlightDiagnostic warning =
          op->emitWarning("gets a point, as integers need one before '")
          << point.getPointName() << "', which is "
          << llvm::formatv("{0:f1}", selected.loss).str()
          << " dB further from its observed values for that";
      warning.attachNote()
          << "quantize the operand of the activation, or leave the activation "
             "float (an override, or table-points=false)";
    }
  }
}
