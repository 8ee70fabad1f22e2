// SPDX-License-Identifier: Apache-2.0
#include "ChangedAnswers.h"

#include "mct/Evaluation/Labels.h"
#include "mct/IR/QuantizedValues.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;
using execution::UnitResults;
namespace json = llvm::json;

static constexpr StringLiteral kAnswers = "answers";

llvm::Error ChangedAnswers::add(const UnitResults &results) {
  int64_t unit = results.unitSize, valid = results.unit.validSamples;
  if (results.specs.empty() || results.referenceSpecs.empty() ||
      !execution::hasScores(results.specs.front(), unit) ||
      !execution::hasScores(results.referenceSpecs.front(), unit))
    return llvm::Error::success();
  QuantizedValues none;
  auto values = execution::readResult(results.specs.front(),
                                      results.unit.outputs.front(), unit, valid,
                                      none, 0),
       references = execution::readResult(results.referenceSpecs.front(),
                                          results.reference.front(), unit,
                                          valid, none, 0);
  if (!values || !references || values->size() != references->size())
    return llvm::Error::success();
  int64_t count = int64_t(values->size()) / valid;
  std::lock_guard<std::mutex> lock(mutex);
  hasLabels |= !results.labels.empty();
  classes = count;
  for (int64_t sample = 0; sample != valid; ++sample) {
    ArrayRef<float> row = ArrayRef<float>(*values).slice(sample * count, count),
                    reference = ArrayRef<float>(*references)
                                    .slice(sample * count, count);
    int64_t answer = execution::findAnswer(results.specs.front(),
                                           results.unit.outputs.front(), sample,
                                           count),
            referenceAnswer =
                execution::findAnswer(results.referenceSpecs.front(),
                                      results.reference.front(), sample, count);
    ++samples;
    ++counts[{referenceAnswer, answer}];
    int64_t number = results.unit.firstSample + sample;
    std::optional<int64_t> label;
    if (!results.labels.empty()) {
      label = results.labels[number];
      correct += referenceAnswer == *label;
    }
    if (answer == referenceAnswer || answer < 0 || referenceAnswer < 0)
      continue;
    ++numChanged;
    changed[number] = {number,
                       referenceAnswer,
                       answer,
                       label,
                       double(reference[referenceAnswer]) -
                           double(reference[answer]),
                       double(row[answer]) - double(row[referenceAnswer])};
  }
  trim();
  return llvm::Error::success();
}

void ChangedAnswers::trim() {
  while (changed.size() > kMaxChanged)
    changed.erase(std::prev(changed.end()));
}

std::optional<double> ChangedAnswers::referenceTop1() const {
  if (!hasLabels || samples == 0)
    return std::nullopt;
  return double(correct) / double(samples);
}

void ChangedAnswers::fillChanges(Report &report) const {
  report.numChanged = numChanged;
  for (const auto &[number, prediction] : changed)
    report.changed.push_back(prediction);
  if (classes > kMaxClasses)
    return;
  report.confusion.assign(classes, std::vector<int64_t>(classes));
  for (auto [answers, count] : counts)
    if (answers.first >= 0 && answers.second >= 0)
      report.confusion[answers.first][answers.second] += count;
}

//===----------------------------------------------------------------------===//
// Shards
//===----------------------------------------------------------------------===//

static int64_t toBits(double value) {
  return int64_t(llvm::bit_cast<uint64_t>(value));
}

json::Object ChangedAnswers::toJson() const {
  json::Array predictions, pairs;
  for (const auto &[number, each] : changed)
    predictions.push_back(json::Array{
        number, each.floatClass, each.simulatedClass, each.label.value_or(-1),
        toBits(each.floatMargin), toBits(each.simulatedMargin)});
  for (auto [answers, count] : counts)
    pairs.push_back(json::Array{answers.first, answers.second, count});
  return json::Object{
      {"has_labels", hasLabels},   {"classes", classes},
      {"samples", samples},        {"correct", correct},
      {"num_changed", numChanged}, {"changed", std::move(predictions)},
      {"counts", std::move(pairs)}};
}

/// Appends the samples of another shard.
llvm::Error ChangedAnswers::readJson(const json::Object &object) {
  json::Value value = json::Object(object);
  json::Path::Root root(kAnswers);
  json::ObjectMapper map(value, root);
  bool ownLabels = false;
  int64_t ownClasses = 0, ownSamples = 0, ownCorrect = 0, ownChanged = 0;
  std::vector<std::vector<int64_t>> predictions, pairs;
  if (!map || !map.map("has_labels", ownLabels) ||
      !map.map("classes", ownClasses) || !map.map("samples", ownSamples) ||
      !map.map("correct", ownCorrect) || !map.map("num_changed", ownChanged) ||
      !map.map("changed", predictions) || !map.map("counts", pairs))
    return root.getError();
  auto isClass = [&](int64_t number) {
    return number >= -1 && number < ownClasses;
  };
  for (ArrayRef<int64_t> each : predictions) {
    if (each.size() != 6)
      return llvm::createStringError("expected six numbers in 'changed'");
    ChangedPrediction &prediction = changed[samples + each[0]];
    prediction.sample = samples + each[0];
    prediction.floatClass = each[1];
    prediction.simulatedClass = each[2];
    if (ownLabels)
      prediction.label = each[3];
    prediction.floatMargin = llvm::bit_cast<double>(uint64_t(each[4]));
    prediction.simulatedMargin = llvm::bit_cast<double>(uint64_t(each[5]));
  }
  for (ArrayRef<int64_t> each : pairs) {
    if (each.size() != 3 || !isClass(each[0]) || !isClass(each[1]))
      return llvm::createStringError(
          "expected two classes and a number in 'counts'");
    counts[{each[0], each[1]}] += each[2];
  }
  hasLabels |= ownLabels;
  classes = ownClasses;
  samples += ownSamples;
  correct += ownCorrect;
  numChanged += ownChanged;
  trim();
  return llvm::Error::success();
}

LogicalResult ChangedAnswers::exchange(execution::Shards &shards,
                                       bool isMeasured) {
  // The evaluation in the same file identifies the network.
  constexpr StringLiteral kKey = "report";
  if (isMeasured) {
    shards.record(kAnswers, kKey, toJson());
    return success();
  }
  auto parts = shards.find(kAnswers, kKey);
  if (failed(parts))
    return failure();
  for (const execution::ShardPart *part : *parts)
    if (failed(shards.read(*part, [&](const json::Object &content) {
          return readJson(content);
        })))
      return failure();
  return success();
}
