// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/EvaluationTotals.h"

#include "mct/Evaluation/Evaluation.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Rows of a metric
//===----------------------------------------------------------------------===//

/// Returns whether a row comes before another one, by the bits of its numbers,
/// so that rows compare equal only if all bits are.
static int compareBits(ArrayRef<double> left, ArrayRef<double> right) {
  for (auto [own, other] : llvm::zip_equal(left, right))
    if (uint64_t a = llvm::bit_cast<uint64_t>(own),
        b = llvm::bit_cast<uint64_t>(other);
        a != b)
      return a < b ? -1 : 1;
  return 0;
}

static MetricRows reorder(const MetricRows &rows, ArrayRef<int64_t> order) {
  MetricRows sorted;
  sorted.length = rows.length;
  sorted.values.reserve(rows.values.size());
  for (int64_t row : order)
    llvm::append_range(sorted.values, rows[row]);
  return sorted;
}

void MetricTotals::sort() {
  std::vector<int64_t> order(size_t(rows.getNumRows()));
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](int64_t left, int64_t right) {
    int found = compareBits(rows[left], rows[right]);
    if (found == 0 && reference)
      found = compareBits((*reference)[left], (*reference)[right]);
    return found < 0;
  });
  rows = reorder(rows, order);
  if (reference)
    reference = reorder(*reference, order);
}

llvm::Error MetricTotals::merge(const MetricTotals &other) {
  if (rows.length != other.rows.length ||
      reference.has_value() != other.reference.has_value())
    return llvm::createStringError("has rows of another metric than the files "
                                   "before it");
  llvm::append_range(rows.values, other.rows.values);
  if (reference)
    llvm::append_range(reference->values, other.reference->values);
  sort();
  return llvm::Error::success();
}

llvm::Expected<MetricResult> MetricTotals::judge(const Metric &metric) const {
  MetricTotals finished = *this;
  auto finish = [&](MetricRows &of) -> llvm::Error {
    if (llvm::Error error = metric.finish(of))
      return llvm::createStringError("metric '" + metric.getText() +
                                     "': " + llvm::toString(std::move(error)));
    return llvm::Error::success();
  };
  if (llvm::Error error = finish(finished.rows))
    return std::move(error);
  if (finished.reference)
    if (llvm::Error error = finish(*finished.reference))
      return std::move(error);
  return execution::judge(metric, finished.rows,
                          finished.reference ? &*finished.reference : nullptr);
}

/// Equal rows are written once, with their number: those of a metric that is a
/// share of the samples are few, whatever the number of samples.
llvm::json::Object MetricTotals::toJson() const {
  llvm::json::Array values, counts;
  int64_t count = rows.getNumRows();
  for (int64_t row = 0, next = 0; row != count; row = next) {
    for (next = row + 1;
         next != count && compareBits(rows[row], rows[next]) == 0 &&
         (!reference ||
          compareBits((*reference)[row], (*reference)[next]) == 0);
         ++next) {
    }
    counts.push_back(next - row);
    for (const MetricRows *each : {&rows, reference ? &*reference : nullptr}) {
      if (each)
        for (double value : (*each)[row])
          values.push_back(int64_t(llvm::bit_cast<uint64_t>(value)));
    }
  }
  return llvm::json::Object{{"length", rows.length},
                            {"has_reference", reference.has_value()},
                            {"counts", std::move(counts)},
                            {"bits", std::move(values)}};
}

llvm::Expected<MetricTotals>
MetricTotals::fromJson(const llvm::json::Object &object) {
  auto fail = [] {
    return llvm::createStringError(
        "expected 'length', 'has_reference', and as many rows in 'bits' as "
        "there are 'counts'");
  };
  auto length = object.getInteger("length");
  auto hasReference = object.getBoolean("has_reference");
  const llvm::json::Array *counts = object.getArray("counts"),
                          *bits = object.getArray("bits");
  if (!length || *length < 1 || !hasReference || !counts || !bits ||
      bits->size() / size_t(*length) != counts->size() * (1 + *hasReference) ||
      bits->size() % size_t(*length) != 0)
    return fail();
  MetricTotals read;
  read.rows.length = *length;
  if (*hasReference)
    read.reference = read.rows;
  size_t at = 0;
  for (const llvm::json::Value &value : *counts) {
    auto count = value.getAsInteger();
    if (!count || *count < 1)
      return fail();
    for (MetricRows *rows :
         {&read.rows, read.reference ? &*read.reference : nullptr}) {
      if (!rows)
        continue;
      std::vector<double> row;
      for (int64_t index = 0; index != *length; ++index) {
        auto number = (*bits)[at++].getAsInteger();
        if (!number)
          return fail();
        row.push_back(llvm::bit_cast<double>(uint64_t(*number)));
      }
      for (int64_t copy = 0; copy != *count; ++copy)
        llvm::append_range(rows->values, row);
    }
  }
  return read;
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

static llvm::Error merge(PointTotals &to, const PointTotals &from) {
  if (to.name != from.name || to.steps.has_value() != from.steps.has_value() ||
      to.own.has_value() != from.own.has_value() ||
      to.inherited.has_value() != from.inherited.has_value())
    return llvm::createStringError(
        "has other values than the files before it: '" + from.name +
        "' in place of '" + to.name + "'");
  to.sums.merge(from.sums);
  if (to.steps)
    to.steps->merge(*from.steps);
  if (to.own)
    to.own->merge(*from.own);
  if (to.inherited)
    to.inherited->merge(*from.inherited);
  return llvm::Error::success();
}

static ComparedPoint round(const PointTotals &totals) {
  auto roundIf = [](const std::optional<ExactErrorSums> &sums) {
    return sums ? std::optional(sums->round()) : std::nullopt;
  };
  return {totals.name, totals.sums.round(), totals.steps, roundIf(totals.own),
          roundIf(totals.inherited)};
}

static llvm::json::Object toJson(const PointTotals &point) {
  llvm::json::Object object{{"name", point.name},
                            {"sums", point.sums.toText()}};
  if (point.own)
    object["own"] = point.own->toText();
  if (point.inherited)
    object["inherited"] = point.inherited->toText();
  if (point.steps)
    object["steps"] = llvm::json::Array{
        point.steps->values, point.steps->differing,
        int64_t(llvm::bit_cast<uint64_t>(point.steps->largest))};
  return object;
}

/// Reads a member that may be missing.
static llvm::Error readSums(const llvm::json::Object &object,
                            llvm::StringRef name,
                            std::optional<ExactErrorSums> &sums) {
  auto text = object.getString(name);
  if (!text)
    return llvm::Error::success();
  auto read = ExactErrorSums::fromText(*text);
  if (!read)
    return read.takeError();
  sums = *read;
  return llvm::Error::success();
}

static llvm::Error readPoint(const llvm::json::Value &value,
                             PointTotals &point) {
  const llvm::json::Object *object = value.getAsObject();
  auto name = object ? object->getString("name") : std::nullopt;
  std::optional<ExactErrorSums> sums;
  if (object)
    if (llvm::Error error = readSums(*object, "sums", sums))
      return error;
  if (!name || !sums)
    return llvm::createStringError("expected 'name' and 'sums' of each point");
  point.name = name->str();
  point.sums = *sums;
  if (llvm::Error error = readSums(*object, "own", point.own))
    return error;
  if (llvm::Error error = readSums(*object, "inherited", point.inherited))
    return error;
  const llvm::json::Array *steps = object->getArray("steps");
  if (!steps)
    return llvm::Error::success();
  std::vector<int64_t> numbers;
  for (const llvm::json::Value &number : *steps)
    if (auto integer = number.getAsInteger())
      numbers.push_back(*integer);
  if (numbers.size() != 3)
    return llvm::createStringError("expected three numbers of 'steps'");
  point.steps = {numbers[0], numbers[1],
                 llvm::bit_cast<double>(uint64_t(numbers[2]))};
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// All of it
//===----------------------------------------------------------------------===//

llvm::Error EvaluationTotals::merge(const EvaluationTotals &other) {
  if (exact != other.exact ||
      correct.has_value() != other.correct.has_value() ||
      metric.has_value() != other.metric.has_value() ||
      results.has_value() != other.results.has_value() ||
      points.size() != other.points.size() ||
      notCompared != other.notCompared ||
      digest.empty() != other.digest.empty())
    return llvm::createStringError("evaluates in another way than the files "
                                   "before it");
  samples += other.samples;
  seconds += other.seconds;
  if (!digest.empty())
    if (llvm::Error error = addDigest(digest, other.digest))
      return error;
  if (correct)
    *correct += *other.correct;
  if (metric)
    if (llvm::Error error = metric->merge(*other.metric))
      return error;
  if (results)
    if (llvm::Error error = results->merge(*other.results))
      return error;
  for (auto [point, added] : llvm::zip_equal(points, other.points))
    if (llvm::Error error = ::merge(point, added))
      return error;
  return llvm::Error::success();
}

llvm::Expected<Evaluation>
EvaluationTotals::judge(const Metric *judging) const {
  Evaluation evaluation;
  evaluation.samples = samples;
  evaluation.digest = digest;
  evaluation.seconds = seconds;
  evaluation.compared = results.has_value();
  evaluation.exact = exact;
  if (correct)
    evaluation.top1 = double(*correct) / double(samples);
  if (metric && judging) {
    auto judged = metric->judge(*judging);
    if (!judged)
      return judged.takeError();
    evaluation.metric = std::move(*judged);
  }
  if (!results)
    return evaluation;
  evaluation.agreement = results->agreement();
  evaluation.results = results->compareAll();
  evaluation.notCompared = notCompared;
  for (const PointTotals &point : points) {
    evaluation.points.push_back(round(point));
    if (point.steps)
      evaluation.steps.merge(*point.steps);
  }
  return evaluation;
}

llvm::json::Object EvaluationTotals::toJson() const {
  llvm::json::Object object{{"samples", samples},
                            {"seconds", seconds},
                            {"exact", exact},
                            {"has_labels", hasLabels}};
  if (!digest.empty())
    object["digest"] = digest;
  if (correct)
    object["correct"] = *correct;
  if (metric)
    object["metric"] = metric->toJson();
  if (!results)
    return object;
  object["results"] = results->toJson();
  llvm::json::Array all;
  for (const PointTotals &point : points)
    all.push_back(::toJson(point));
  object["points"] = std::move(all);
  object["not_compared"] = llvm::json::Array(notCompared);
  return object;
}

llvm::Expected<EvaluationTotals>
EvaluationTotals::fromJson(const llvm::json::Object &object) {
  EvaluationTotals read;
  auto samples = object.getInteger("samples");
  auto seconds = object.getNumber("seconds");
  auto exact = object.getBoolean("exact");
  if (!samples || *samples < 1 || !seconds || !exact)
    return llvm::createStringError("expected 'samples', 'seconds' and 'exact'");
  read.samples = *samples;
  read.seconds = *seconds;
  read.exact = *exact;
  read.hasLabels = object.getBoolean("has_labels").value_or(false);
  read.digest = object.getString("digest").value_or("").str();
  if (auto correct = object.getInteger("correct"))
    read.correct = *correct;
  if (const llvm::json::Object *rows = object.getObject("metric")) {
    auto metric = MetricTotals::fromJson(*rows);
    if (!metric)
      return metric.takeError();
    read.metric = std::move(*metric);
  }
  const llvm::json::Object *results = object.getObject("results");
  if (!results)
    return read;
  auto totals = ResultTotals::fromJson(*results);
  if (!totals)
    return totals.takeError();
  read.results = std::move(*totals);
  const llvm::json::Array *points = object.getArray("points");
  const llvm::json::Value *missing = object.get("not_compared");
  llvm::json::Path::Root root;
  if (!points || !missing ||
      !llvm::json::fromJSON(*missing, read.notCompared, root))
    return llvm::createStringError("expected 'points' and 'not_compared'");
  for (const llvm::json::Value &value : *points)
    if (llvm::Error error = readPoint(value, read.points.emplace_back()))
      return std::move(error);
  return read;
}
