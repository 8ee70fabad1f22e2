// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/ResultComparison.h"

#include "mct/Evaluation/Labels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using namespace mct::execution;

// Channels whose ranges are further apart share no grid of 8 bits without
// losing three of them.
static constexpr float kOtherRange = 8;
// A larger number of channels are positions.
static constexpr int64_t kMaxChannels = 4096;
// Sums of integers do not depend on the order of the samples.
static constexpr double kStandardUnit = 0x1p16;

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
  // Smaller probabilities count as this one.
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

ResultComparison::ResultComparison(Inputs given)
    : inputs(std::move(given)), workerParts(inputs.workers) {
  size_t count = std::min(inputs.specs.size(), inputs.referenceSpecs.size());
  comparedAs.resize(count);
  for (Part &part : workerParts)
    part.results.resize(count);
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
    if (channels != int64_t(groups.groupByChannel.size())) {
      groups.groupByChannel.clear();
      groups.names.clear();
    }
    comparedAs[number] = groups.groupByChannel;
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

/// Adds the parts of one sample.
static void addParts(ArrayRef<float> values, ArrayRef<float> references,
                     ArrayRef<int64_t> partByChannel, size_t inner,
                     std::vector<ErrorSums> &sums,
                     std::vector<float> &magnitudes) {
  size_t channel = 0;
  for (size_t at = 0; at < values.size(); at += inner) {
    size_t part = size_t(partByChannel[channel]);
    ArrayRef<float> row = references.slice(at, inner);
    sums[part].add(values.slice(at, inner), row);
    for (float value : row)
      magnitudes[part] = std::max(magnitudes[part], std::abs(value));
    channel = channel + 1 == partByChannel.size() ? 0 : channel + 1;
  }
}

void ResultComparison::addResult(size_t number, ArrayRef<float> values,
                                 ArrayRef<float> references,
                                 ResultTotals::Result &to) const {
  RankedTensorType type = inputs.referenceSpecs[number].type;
  size_t length = size_t(type.getNumElements() / inputs.unit);
  auto samples = int64_t(values.size() / length);
  to.whole.add(values, references, samples);
  if (Probabilities kind = inputs.probabilities[number];
      kind != Probabilities::None)
    to.logits.add(toLogits(values, kind), toLogits(references, kind), samples);
  ArrayRef<int64_t> partByChannel = comparedAs[number];
  size_t parts = size_t(*llvm::max_element(partByChannel)) + 1;
  to.parts.resize(parts);
  to.magnitudes.resize(parts);
  if (parts == 1)
    return;
  int64_t inner = llvm::product_of(
      type.getShape().drop_front(inputs.groups[number].axis + 1));
  for (int64_t sample = 0; sample != samples; ++sample) {
    size_t first = size_t(sample) * length;
    std::vector<ErrorSums> own(parts);
    addParts(values.slice(first, length), references.slice(first, length),
             partByChannel, size_t(inner), own, to.magnitudes);
    for (auto [sums, added] : llvm::zip_equal(to.parts, own))
      sums.add(added);
  }
}

void ResultComparison::addRows(const Unit &unit, ArrayRef<float> references,
                               const void *reference,
                               ResultTotals::Rows &to) const {
  constexpr double kTolerance = 1e-3;
  for (int64_t sample = 0; sample != unit.validSamples; ++sample) {
    ++to.samples;
    ArrayRef<float> row =
        references.slice(size_t(sample * classes), size_t(classes));
    int64_t referenceAnswer = findAnswer(inputs.referenceSpecs.front(),
                                         reference, sample, classes),
            found = findAnswer(inputs.specs.front(), unit.outputs.front(),
                               sample, classes);
    to.agreeing += found >= 0 && found == referenceAnswer;
    if (referenceAnswer < 0)
      continue;
    double largest = row[size_t(referenceAnswer)], sum = 0, squares = 0,
           exponents = 0;
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
    to.standardized.resize(size_t(classes));
    if (variance > 0 && std::isfinite(variance))
      for (auto [value, standardized] : llvm::zip_equal(row, to.standardized))
        standardized +=
            std::llround((value - mean) / std::sqrt(variance) * kStandardUnit);
  }
}

void ResultComparison::compare(const Unit &unit, ArrayRef<void *> reference) {
  Part &own = workerParts[unit.worker];
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
}

/// Adds the sums of one result for other samples.
static void merge(ResultTotals::Result &to, const ResultTotals::Result &from) {
  to.whole.merge(from.whole);
  to.logits.merge(from.logits);
  // A shard may have no samples, and a worker no unit.
  to.parts.resize(std::max(to.parts.size(), from.parts.size()));
  to.magnitudes.resize(to.parts.size());
  for (auto [sums, added] : llvm::zip(to.parts, from.parts))
    sums.merge(added);
  for (auto [magnitude, other] : llvm::zip(to.magnitudes, from.magnitudes))
    magnitude = std::max(magnitude, other);
}

ResultTotals ResultComparison::totals() const {
  ResultTotals all;
  all.classes = classes;
  all.isReconstruction = isReconstruction;
  all.hasLabels = inputs.hasLabels;
  for (size_t number = 0; number != comparedAs.size(); ++number) {
    if (!isCompared(number))
      continue;
    ResultTotals::Result &result = all.results.emplace_back();
    result.number = int64_t(number);
    result.name = inputs.names[number];
    result.axis = inputs.groups[number].axis;
    result.groups = inputs.groups[number];
    result.hasLogits = inputs.probabilities[number] != Probabilities::None;
    for (const Part &worker : workerParts)
      ::merge(result, worker.results[number]);
  }
  for (const Part &worker : workerParts)
    all.rows.merge(worker.rows);
  return all;
}

//===----------------------------------------------------------------------===//
// Totals
//===----------------------------------------------------------------------===//

void ResultTotals::Rows::merge(const Rows &other) {
  samples += other.samples;
  distributions += other.distributions;
  decided += other.decided;
  centred += other.centred;
  agreeing += other.agreeing;
  standardized.resize(std::max(standardized.size(), other.standardized.size()));
  for (auto [sum, added] : llvm::zip(standardized, other.standardized))
    sum += added;
}

double ResultTotals::Rows::computeShareBetweenClasses() const {
  double squares = 0;
  for (int64_t sum : standardized) {
    double mean = double(sum) / (kStandardUnit * double(samples));
    squares += mean * mean;
  }
  return standardized.empty() ? 0 : squares / double(standardized.size());
}

llvm::Error ResultTotals::merge(const ResultTotals &other) {
  bool isSame =
      classes == other.classes && isReconstruction == other.isReconstruction &&
      hasLabels == other.hasLabels &&
      llvm::equal(results, other.results,
                  [](const Result &left, const Result &right) {
                    return std::tie(left.number, left.name, left.axis,
                                    left.groups.groupByChannel,
                                    left.groups.names, left.hasLogits) ==
                               std::tie(right.number, right.name, right.axis,
                                        right.groups.groupByChannel,
                                        right.groups.names, right.hasLogits) &&
                           left.parts.size() == right.parts.size();
                  });
  if (!isSame)
    return llvm::createStringError(
        "has other results than the files before it");
  for (auto [result, added] : llvm::zip_equal(results, other.results))
    ::merge(result, added);
  rows.merge(other.rows);
  return llvm::Error::success();
}

bool ResultTotals::isScores() const {
  if (classes < 2 || rows.samples == 0)
    return false;
  if (hasLabels)
    return true;
  bool areLogits = !isReconstruction && 2 * rows.decided > rows.samples &&
                   2 * rows.centred > rows.samples &&
                   2 * rows.computeShareBetweenClasses() < 1;
  return rows.distributions == rows.samples || areLogits;
}

std::optional<double> ResultTotals::agreement() const {
  if (!isScores())
    return std::nullopt;
  return double(rows.agreeing) / double(rows.samples);
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

/// Returns for each channel the index of its group of channels with similar
/// ranges, in the order of their first channels; empty if all are similar.
static std::vector<int64_t> groupByRange(ArrayRef<float> magnitudes) {
  if (llvm::any_of(magnitudes,
                   [](float value) { return !std::isfinite(value); }))
    return {};
  std::vector<size_t> order(magnitudes.size());
  std::iota(order.begin(), order.end(), size_t(0));
  llvm::sort(order, [&](size_t lhs, size_t rhs) {
    return std::pair(magnitudes[lhs], lhs) < std::pair(magnitudes[rhs], rhs);
  });
  std::vector<int64_t> groupByChannel(magnitudes.size());
  int64_t last = 0;
  float before = 0;
  for (size_t channel : order) {
    float magnitude = magnitudes[channel];
    // A value that is always 0 has no range.
    last += before > 0 && magnitude > kOtherRange * before;
    before = magnitude;
    groupByChannel[channel] = last;
  }
  if (last == 0)
    return {};
  std::vector<int64_t> numbers(size_t(last) + 1, -1);
  int64_t count = 0;
  for (int64_t &group : groupByChannel) {
    if (numbers[size_t(group)] < 0)
      numbers[size_t(group)] = count++;
    group = numbers[size_t(group)];
  }
  return groupByChannel;
}

void ResultTotals::addGroups(const Result &totals,
                             ComparedResult &result) const {
  std::vector<int64_t> groupByChannel = totals.groups.groupByChannel;
  bool isKnown = !groupByChannel.empty();
  if (!isKnown && !result.isScores)
    groupByChannel = groupByRange(totals.magnitudes);
  if (groupByChannel.empty())
    return;
  result.groups.resize(size_t(*llvm::max_element(groupByChannel)) + 1);
  for (auto [channel, group] : llvm::enumerate(groupByChannel))
    result.groups[size_t(group)].channels.push_back(int64_t(channel));
  for (auto [index, group] : llvm::enumerate(result.groups)) {
    ExactErrorSums sums;
    if (isKnown)
      sums = totals.parts[index];
    else
      for (int64_t channel : group.channels)
        sums.merge(totals.parts[size_t(channel)]);
    group.sums = sums.round();
    group.name =
        isKnown ? totals.groups.names[index] : nameChannels(group.channels);
  }
}

std::vector<ComparedResult> ResultTotals::compareAll() const {
  std::vector<ComparedResult> found;
  for (const Result &totals : results) {
    ComparedResult &result = found.emplace_back();
    result.number = totals.number;
    result.name = totals.name;
    result.sums = totals.whole.round();
    if (totals.hasLogits)
      result.logits = totals.logits.round();
    result.isScores = totals.number == 0 && isScores();
    result.axis = totals.axis;
    addGroups(totals, result);
  }
  return found;
}

static llvm::json::Object toJson(const ResultTotals::Result &result) {
  llvm::json::Array parts, magnitudes;
  for (const ExactErrorSums &part : result.parts)
    parts.push_back(part.toText());
  for (float magnitude : result.magnitudes)
    magnitudes.push_back(int64_t(llvm::bit_cast<uint32_t>(magnitude)));
  llvm::json::Object object{
      {"number", result.number},
      {"name", result.name},
      {"axis", result.axis},
      {"group_of", llvm::json::Array(result.groups.groupByChannel)},
      {"groups", llvm::json::Array(result.groups.names)},
      {"sums", result.whole.toText()},
      {"parts", std::move(parts)},
      {"magnitudes", std::move(magnitudes)}};
  if (result.hasLogits)
    object["logits"] = result.logits.toText();
  return object;
}

static llvm::Error readTotals(const llvm::json::Value &value,
                              ResultTotals::Result &result) {
  llvm::json::Path::Root root("result");
  llvm::json::ObjectMapper map(value, root);
  std::string sums, logits;
  std::vector<std::string> parts;
  std::vector<int64_t> magnitudes;
  if (!map || !map.map("number", result.number) ||
      !map.map("name", result.name) || !map.map("axis", result.axis) ||
      !map.map("group_of", result.groups.groupByChannel) ||
      !map.map("groups", result.groups.names) || !map.map("sums", sums) ||
      !map.map("parts", parts) || !map.map("magnitudes", magnitudes) ||
      !map.mapOptional("logits", logits))
    return root.getError();
  result.groups.axis = result.axis;
  result.hasLogits = !logits.empty();
  auto read = [](llvm::StringRef text, ExactErrorSums &to) -> llvm::Error {
    auto found = ExactErrorSums::fromText(text);
    if (!found)
      return found.takeError();
    to = *found;
    return llvm::Error::success();
  };
  if (llvm::Error error = read(sums, result.whole))
    return error;
  if (result.hasLogits)
    if (llvm::Error error = read(logits, result.logits))
      return error;
  for (const std::string &part : parts)
    if (llvm::Error error = read(part, result.parts.emplace_back()))
      return error;
  for (int64_t bits : magnitudes)
    result.magnitudes.push_back(llvm::bit_cast<float>(uint32_t(bits)));
  // Groups index names and parts.
  auto groups = int64_t(result.groups.names.size());
  if (magnitudes.size() != parts.size() ||
      (groups != 0 && groups != int64_t(parts.size())) ||
      llvm::any_of(result.groups.groupByChannel,
                   [&](int64_t group) { return group < 0 || group >= groups; }))
    return llvm::createStringError("expected as many 'magnitudes' and 'groups' "
                                   "as 'parts'");
  return llvm::Error::success();
}

llvm::json::Object ResultTotals::toJson() const {
  llvm::json::Array all;
  for (const Result &result : results)
    all.push_back(::toJson(result));
  return llvm::json::Object{
      {"results", std::move(all)},
      {"classes", classes},
      {"is_reconstruction", isReconstruction},
      {"has_labels", hasLabels},
      {"rows", llvm::json::Array{rows.samples, rows.distributions, rows.decided,
                                 rows.centred, rows.agreeing}},
      {"standardized", llvm::json::Array(rows.standardized)}};
}

llvm::Expected<ResultTotals>
ResultTotals::fromJson(const llvm::json::Object &object) {
  ResultTotals read;
  const llvm::json::Array *all = object.getArray("results");
  const llvm::json::Value *counts = object.get("rows");
  auto classes = object.getInteger("classes");
  auto isReconstruction = object.getBoolean("is_reconstruction"),
       hasLabels = object.getBoolean("has_labels");
  const llvm::json::Value *standardized = object.get("standardized");
  std::vector<int64_t> numbers;
  llvm::json::Path::Root root;
  if (!all || !counts || !classes || !isReconstruction || !hasLabels ||
      !standardized || !llvm::json::fromJSON(*counts, numbers, root) ||
      numbers.size() != 5 ||
      !llvm::json::fromJSON(*standardized, read.rows.standardized, root))
    return llvm::createStringError(
        "expected 'results', 'rows', 'standardized', 'classes', "
        "'is_reconstruction' and 'has_labels'");
  read.classes = *classes;
  read.isReconstruction = *isReconstruction;
  read.hasLabels = *hasLabels;
  read.rows.samples = numbers[0];
  read.rows.distributions = numbers[1];
  read.rows.decided = numbers[2];
  read.rows.centred = numbers[3];
  read.rows.agreeing = numbers[4];
  for (const llvm::json::Value &value : *all)
    if (llvm::Error error = readTotals(value, read.results.emplace_back()))
      return std::move(error);
  return read;
}
