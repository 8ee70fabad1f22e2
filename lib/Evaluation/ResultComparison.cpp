// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/ResultComparison.h"

#include "mct/Evaluation/Labels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::execution;

// Channels whose ranges are further apart share no grid of 8 bits without
// losing three of them.
static constexpr float kOtherRange = 8;
// More are no channels but positions.
static constexpr int64_t kMaxChannels = 4096;

std::optional<std::vector<float>>
execution::readResult(const TensorSpec &spec, const void *data, int64_t unit,
                      int64_t valid, const QuantizedValues &stored,
                      size_t number) {
  Type type = spec.type.getElementType();
  if (spec.type.getNumElements() % unit != 0)
    return std::nullopt;
  int64_t count = spec.type.getNumElements() / unit * valid;
  if (type.isF32()) {
    auto *floats = static_cast<const float *>(data);
    return std::vector<float>(floats, floats + count);
  }
  if (number >= stored.size() || !stored[number])
    return std::nullopt;
  quantization::Grid grid =
      stored[number]->getGrid(spec.type.getElementTypeBitWidth());
  std::vector<float> values;
  auto decode = [&](auto *codes) {
    for (int64_t index = 0; index != count; ++index)
      values.push_back(
          float(grid.step * double(int64_t(codes[index]) - grid.zeroPoint)));
  };
  if (type.isInteger(8))
    decode(static_cast<const int8_t *>(data));
  else if (type.isInteger(16))
    decode(static_cast<const int16_t *>(data));
  else if (type.isInteger(32))
    decode(static_cast<const int32_t *>(data));
  else
    return std::nullopt;
  return values;
}

std::vector<Probabilities> execution::findProbabilities(func::FuncOp function) {
  std::vector<Probabilities> found(function.getNumResults());
  Block &block = function.getBody().front();
  std::vector<tpc::FormulaMatch> formulas = tpc::findFormulas(block);
  for (auto [kind, result] :
       llvm::zip_equal(found, block.getTerminator()->getOperands())) {
    Operation *op = result.getDefiningOp();
    while (isa_and_present<tpc::QuantizeOp, tosa::ReshapeOp, tosa::TransposeOp>(
        op))
      op = op->getOperand(0).getDefiningOp();
    if (isa_and_present<tosa::SigmoidOp>(op))
      kind = Probabilities::Sigmoid;
    else if (llvm::any_of(formulas, [&](const tpc::FormulaMatch &match) {
               return match.name == "softmax" && match.ops.back() == op;
             }))
      kind = Probabilities::Softmax;
  }
  return found;
}

/// Turns probabilities into logits.
static std::vector<float> toLogits(ArrayRef<float> values, Probabilities kind) {
  // Less likely is never, for whoever decides.
  constexpr double kLeast = 1e-6;
  std::vector<float> logits;
  logits.reserve(values.size());
  for (float value : values) {
    double share = std::clamp(double(value), kLeast, 1 - kLeast);
    logits.push_back(float(kind == Probabilities::Sigmoid
                               ? std::log(share / (1 - share))
                               : std::log(std::max(double(value), kLeast))));
  }
  return logits;
}

ResultComparison::ResultComparison(Inputs given) : inputs(std::move(given)) {
  size_t count = std::min(inputs.specs.size(), inputs.referenceSpecs.size());
  comparedAs.resize(count);
  inputs.groups.resize(count);
  inputs.probabilities.resize(count);
  inputs.names.resize(count);
  for (size_t number = 0; number != count; ++number) {
    const TensorSpec &spec = inputs.specs[number],
                     &reference = inputs.referenceSpecs[number];
    bool isReal = spec.type.getElementType().isF32() ||
                  (number < inputs.stored->size() && (*inputs.stored)[number]);
    if (!isReal || !reference.type.getElementType().isF32() ||
        spec.type.getNumElements() != reference.type.getNumElements() ||
        reference.type.getNumElements() % inputs.unit != 0)
      continue;
    ResultGroups &groups = inputs.groups[number];
    ArrayRef<int64_t> shape = reference.type.getShape();
    int64_t channels = shape.size() > 1 && groups.axis > 0 &&
                               groups.axis < reference.type.getRank()
                           ? shape[groups.axis]
                           : 1;
    if (channels != int64_t(groups.groupOf.size())) {
      groups.groupOf.clear();
      groups.names.clear();
    }
    comparedAs[number] = groups.groupOf;
    if (comparedAs[number].empty()) {
      comparedAs[number].assign(size_t(std::max<int64_t>(channels, 1)), 0);
      if (channels <= kMaxChannels)
        std::iota(comparedAs[number].begin(), comparedAs[number].end(), 0);
    }
  }
  bool mayBeScores = count != 0 && isCompared(0) &&
                     (inputs.hasLabels || inputs.referenceSpecs.size() == 1) &&
                     hasScores(inputs.specs.front(), inputs.unit) &&
                     hasScores(inputs.referenceSpecs.front(), inputs.unit);
  if (!mayBeScores)
    return;
  classes = inputs.specs.front().type.getNumElements() / inputs.unit;
  isReconstruction =
      llvm::any_of(inputs.arguments, [&](const TensorSpec &argument) {
        return argument.type.getNumElements() / inputs.unit == classes;
      });
}

void ResultComparison::addResult(size_t number, ArrayRef<float> values,
                                 ArrayRef<float> references, Sums &to) const {
  to.whole.add(values, references);
  if (Probabilities kind = inputs.probabilities[number];
      kind != Probabilities::None)
    to.logits.add(toLogits(values, kind), toLogits(references, kind));
  ArrayRef<int64_t> partOf = comparedAs[number];
  size_t parts = size_t(*llvm::max_element(partOf)) + 1;
  to.parts.resize(parts);
  to.magnitudes.resize(parts);
  if (parts == 1)
    return;
  int64_t inner = 1;
  for (int64_t size : inputs.referenceSpecs[number].type.getShape().drop_front(
           inputs.groups[number].axis + 1))
    inner *= size;
  size_t channel = 0;
  for (size_t at = 0; at < values.size(); at += size_t(inner)) {
    size_t part = size_t(partOf[channel]);
    ArrayRef<float> row = references.slice(at, size_t(inner));
    to.parts[part].add(values.slice(at, size_t(inner)), row);
    for (float value : row)
      to.magnitudes[part] = std::max(to.magnitudes[part], std::abs(value));
    channel = channel + 1 == partOf.size() ? 0 : channel + 1;
  }
}

void ResultComparison::addRows(const Unit &unit, ArrayRef<float> references,
                               const void *reference, RowCounts &to) const {
  constexpr double kTolerance = 1e-3;
  for (int64_t sample = 0; sample != unit.validSamples; ++sample) {
    ++to.samples;
    ArrayRef<float> row =
        references.slice(size_t(sample * classes), size_t(classes));
    int64_t wanted = findAnswer(inputs.referenceSpecs.front(), reference,
                                sample, classes),
            found = findAnswer(inputs.specs.front(), unit.outputs.front(),
                               sample, classes);
    to.agreeing += found >= 0 && found == wanted;
    if (wanted < 0)
      continue;
    if (to.firstAnswer < 0)
      to.firstAnswer = wanted;
    to.otherAnswers += wanted != to.firstAnswer;
    double largest = row[size_t(wanted)], sum = 0, squares = 0, exponents = 0;
    bool isNegative = false;
    for (double value : row) {
      isNegative |= !(value >= 0);
      sum += value;
      squares += value * value;
      exponents += std::exp(value - largest);
    }
    double mean = sum / double(classes),
           variance = squares / double(classes) - mean * mean;
    to.distributions += !isNegative && std::abs(sum - 1) <= kTolerance;
    to.decided += exponents <= 2;
    to.centred += 4 * mean * mean < variance;
  }
}

void ResultComparison::merge(Part &&part) {
  total.results.resize(comparedAs.size());
  for (auto [to, from] : llvm::zip(total.results, part.results)) {
    to.whole.merge(from.whole);
    to.logits.merge(from.logits);
    to.parts.resize(from.parts.size());
    to.magnitudes.resize(from.magnitudes.size());
    for (auto [sums, added] : llvm::zip(to.parts, from.parts))
      sums.merge(added);
    for (auto [magnitude, other] : llvm::zip(to.magnitudes, from.magnitudes))
      magnitude = std::max(magnitude, other);
  }
  RowCounts &to = total.rows, &from = part.rows;
  to.samples += from.samples;
  to.distributions += from.distributions;
  to.decided += from.decided;
  to.centred += from.centred;
  to.agreeing += from.agreeing;
  to.otherAnswers += from.otherAnswers;
  if (to.firstAnswer < 0)
    to.firstAnswer = from.firstAnswer;
  else if (from.firstAnswer >= 0 && from.firstAnswer != to.firstAnswer)
    ++to.otherAnswers;
}

void ResultComparison::compare(const Unit &unit, ArrayRef<void *> reference) {
  Part own;
  own.results.resize(comparedAs.size());
  QuantizedValues none;
  for (size_t number = 0; number != comparedAs.size(); ++number) {
    if (!isCompared(number))
      continue;
    auto values =
        readResult(inputs.specs[number], unit.outputs[number], inputs.unit,
                   unit.validSamples, *inputs.stored, number);
    auto references =
        readResult(inputs.referenceSpecs[number], reference[number],
                   inputs.unit, unit.validSamples, none, number);
    if (!values || !references)
      continue;
    addResult(number, *values, *references, own.results[number]);
    if (number == 0 && classes != 0)
      addRows(unit, *references, reference.front(), own.rows);
  }
  std::lock_guard<std::mutex> lock(mutex);
  waiting[unit.index] = std::move(own);
  for (; !waiting.empty() && waiting.begin()->first == next; ++next) {
    merge(std::move(waiting.begin()->second));
    waiting.erase(waiting.begin());
  }
}

bool ResultComparison::isScores() const {
  const RowCounts &rows = total.rows;
  if (classes < 2 || rows.samples == 0)
    return false;
  if (inputs.hasLabels)
    return true;
  bool areLogits = !isReconstruction && 2 * rows.decided > rows.samples &&
                   2 * rows.centred > rows.samples && rows.otherAnswers != 0;
  return rows.distributions == rows.samples || areLogits;
}

std::optional<double> ResultComparison::agreement() const {
  if (!isScores() || total.rows.samples == 0)
    return std::nullopt;
  return double(total.rows.agreeing) / double(total.rows.samples);
}

/// `channels 0 to 3`, or `channels 0, 2 and 5 more`.
static std::string nameChannels(ArrayRef<int64_t> channels) {
  constexpr size_t kMost = 8;
  if (channels.size() == 1)
    return "channel " + std::to_string(channels.front());
  if (channels.back() - channels.front() + 1 == int64_t(channels.size()))
    return "channels " + std::to_string(channels.front()) + " to " +
           std::to_string(channels.back());
  std::string text =
      "channels " + llvm::join(llvm::map_range(channels.take_front(kMost),
                                               [](int64_t channel) {
                                                 return std::to_string(channel);
                                               }),
                               ", ");
  if (channels.size() > kMost)
    text += " and " + std::to_string(channels.size() - kMost) + " more";
  return text;
}

/// Returns for each channel the index of a group of channels with ranges alike;
/// in the order of their first channels. Empty: all are alike.
static std::vector<int64_t> groupByRange(ArrayRef<float> magnitudes) {
  if (llvm::any_of(magnitudes,
                   [](float value) { return !std::isfinite(value); }))
    return {};
  std::vector<size_t> order(magnitudes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::sort(order, [&](size_t lhs, size_t rhs) {
    return std::pair(magnitudes[lhs], lhs) < std::pair(magnitudes[rhs], rhs);
  });
  std::vector<int64_t> groupOf(magnitudes.size());
  int64_t last = 0;
  float before = 0;
  for (size_t channel : order) {
    float magnitude = magnitudes[channel];
    // A value that is always 0 has no range.
    last += before > 0 && magnitude > kOtherRange * before;
    before = magnitude;
    groupOf[channel] = last;
  }
  if (last == 0)
    return {};
  std::vector<int64_t> numbers(size_t(last) + 1, -1);
  int64_t count = 0;
  for (int64_t &group : groupOf) {
    if (numbers[size_t(group)] < 0)
      numbers[size_t(group)] = count++;
    group = numbers[size_t(group)];
  }
  return groupOf;
}

void ResultComparison::addGroups(size_t number, ComparedResult &result) const {
  const Sums &sums = total.results[number];
  const ResultGroups &known = inputs.groups[number];
  std::vector<int64_t> groupOf = known.groupOf;
  bool isKnown = !groupOf.empty();
  if (!isKnown && !result.isScores)
    groupOf = groupByRange(sums.magnitudes);
  if (groupOf.empty())
    return;
  result.groups.resize(size_t(*llvm::max_element(groupOf)) + 1);
  for (auto [channel, group] : llvm::enumerate(groupOf))
    result.groups[size_t(group)].channels.push_back(int64_t(channel));
  for (auto [index, group] : llvm::enumerate(result.groups)) {
    if (isKnown)
      group.sums = sums.parts[index];
    else
      for (int64_t channel : group.channels)
        group.sums.merge(sums.parts[size_t(channel)]);
    group.name = isKnown ? known.names[index] : nameChannels(group.channels);
  }
}

std::vector<ComparedResult> ResultComparison::results() const {
  std::vector<ComparedResult> found;
  for (size_t number = 0; number != total.results.size(); ++number) {
    if (!isCompared(number))
      continue;
    ComparedResult &result = found.emplace_back();
    result.number = int64_t(number);
    result.name = inputs.names[number];
    result.sums = total.results[number].whole;
    if (inputs.probabilities[number] != Probabilities::None)
      result.logits = total.results[number].logits;
    result.isScores = number == 0 && isScores();
    result.axis = inputs.groups[number].axis;
    addGroups(number, result);
  }
  return found;
}
