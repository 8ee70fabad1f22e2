// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Compare.h"
#include "CompareFields.h"
#include "JsonFields.h"
#include "ShiftedNames.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include <map>

using namespace mct;
using namespace mct::report;

void mct::report::print(json::OStream &stream, const Comparison &comparison) {
  printDocument(stream, kComparisonFormat, kComparisonVersion, comparison);
}

llvm::Expected<Comparison> mct::report::parseComparison(StringRef text) {
  return parseDocument<Comparison>(text, "comparison", kComparisonFormat,
                                   kComparisonVersion);
}

//===----------------------------------------------------------------------===//
// Contents of both reports
//===----------------------------------------------------------------------===//

namespace {
/// Numbers and texts of a part of a report with their paths, in order.
struct ReportValues {
  struct Value {
    std::string path;
    Real value;
    /// Numbers are only compared if their units are equal.
    StringRef unit;
  };
  std::vector<Value> numbers;
  std::vector<std::pair<std::string, std::string>> texts;

  void number(std::string path, std::optional<Real> value,
              StringRef unit = "") {
    if (value)
      numbers.push_back({std::move(path), *value, unit});
  }
  void distance(const std::string &path, const std::optional<Distance> &found) {
    if (!found)
      return;
    number(path + ".sqnr", found->sqnr);
    number(path + ".cosine", found->cosine);
    number(path + ".largest", found->largest);
  }
  void effect(const std::optional<Effect> &found, StringRef metric) {
    if (!found)
      return;
    number("effect.without", found->without, metric);
    number("effect.gain", found->gain, metric);
    number("effect.share", found->share);
  }
  /// `metric`: name of the user's metric, or empty.
  void accuracy(const std::string &path, const std::optional<Accuracy> &found,
                const std::string &metric) {
    if (!found)
      return;
    if (found->judged)
      number(path + "." + metric, found->judged->value);
    number(path + ".top1", found->top1);
    number(path + ".agreement", found->agreement);
    distance(path + ".output", found->output);
  }
  void resources(const std::string &path, const Report::Resources &found) {
    number(path + ".weight_bytes", found.weightBytes);
    number(path + ".activation_bytes", found.activationBytes);
    number(path + ".total_bytes", found.totalBytes);
    number(path + ".bops", found.bops);
  }
};
} // namespace

static std::string toText(llvm::ArrayRef<int64_t> numbers) {
  return llvm::join(
      llvm::map_range(numbers, [](int64_t n) { return std::to_string(n); }),
      ", ");
}

static ReportValues listNumbers(const Point &point, StringRef metric) {
  ReportValues values;
  if (point.parameters)
    values.number("parameters.bits", Real(point.parameters->bits));
  if (point.selection && point.selection->error.size() == 1)
    values.number("selection.error", point.selection->error.front(),
                  point.selection->errorMethod);
  values.number("clipped", point.clipped);
  values.number("used", point.used);
  if (point.shift)
    values.number("shift.by", point.shift->by);
  values.distance("total", point.total);
  values.distance("own", point.own);
  values.distance("inherited", point.inherited);
  values.effect(point.effect, metric);
  if (point.integer)
    values.number("integer.differing", Real(point.integer->differing));
  values.texts = {
      {"shape", toText(point.shape)},
      {"axes", toText(point.axes)},
      {"group", llvm::join(point.group, ", ")},
      {"parameters", point.parameters ? point.parameters->text : ""},
      {"error_method", point.selection ? point.selection->errorMethod : ""},
      {"decisions",
       llvm::join(llvm::map_range(point.decisions,
                                  [](const report::Decision &each) {
                                    return each.pass + ": " + each.text;
                                  }),
                  "\n")},
  };
  return values;
}

static ReportValues listNumbers(const Operator &op, StringRef metric) {
  ReportValues values;
  values.number("weight_bytes", op.weightBytes);
  values.number("activation_bytes", op.activationBytes);
  values.number("bops", Real(op.bops));
  if (op.sums)
    values.number("sums.largest", op.sums->largest);
  values.effect(op.effect, metric);
  values.texts = {
      {"operator_set", op.operatorSet},        {"matched_by", op.matchedBy},
      {"overridden_by", op.overriddenBy},      {"cover", op.cover},
      {"why_float", op.floatReason},           {"group", op.group},
      {"points", llvm::join(op.points, ", ")},
  };
  return values;
}

static ReportValues listNumbers(const Report &report) {
  ReportValues values;
  std::string metric = report.judgedBy ? report.judgedBy->name : "";
  values.accuracy("floating", report.floating, metric);
  values.accuracy("simulated", report.simulated, metric);
  values.accuracy("integer", report.integer, metric);
  for (const Result &result : report.results) {
    std::string path = "results." + result.name;
    values.distance(path, result.simulated);
    for (const ResultGroup &group : result.groups)
      values.distance(path + "." + group.name, group.simulated);
  }
  values.number("distance", report.distance, report.metric);
  values.number("num_changed", Real(report.numChanged));
  values.number("samples", Real(report.samples));
  values.number("effect_samples", Real(report.effectSamples));
  if (report.calibrationSamples)
    values.number("calibration_samples", Real(*report.calibrationSamples));
  values.number("float_weight_bytes", report.floatWeightBytes);
  values.resources("resources", report.resources);
  values.number("seconds", report.seconds);
  if (!report.passes.empty()) {
    Real sum = 0;
    for (const PassTime &pass : report.passes)
      sum += pass.seconds;
    values.number("passes.seconds", sum);
  }
  return values;
}

/// Pairs the items in the order of `after`, followed by those that only
/// `before` has.
static std::vector<Change> compareNumbers(const ReportValues &before,
                                          const ReportValues &after) {
  std::vector<Change> changes;
  auto find = [](const ReportValues &values,
                 StringRef path) -> const ReportValues::Value * {
    auto found =
        llvm::find_if(values.numbers, [&](const ReportValues::Value &value) {
          return value.path == path;
        });
    return found == values.numbers.end() ? nullptr : &*found;
  };
  for (const ReportValues::Value &value : after.numbers) {
    Change &change = changes.emplace_back();
    change.name = value.path;
    change.after = value.value;
    const ReportValues::Value *old = find(before, value.path);
    if (!old)
      continue;
    change.before = old->value;
    if (old->unit == value.unit && std::isfinite(old->value) &&
        std::isfinite(value.value))
      change.difference = value.value - old->value;
  }
  for (const ReportValues::Value &value : before.numbers)
    if (!find(after, value.path))
      changes.push_back({value.path, value.value, std::nullopt, std::nullopt});
  return changes;
}

/// Pairs the texts of both reports. Both have the same texts in the same order.
static std::vector<TextChange> compareTexts(const ReportValues &before,
                                            const ReportValues &after) {
  std::vector<TextChange> changes;
  for (auto [old, now] : llvm::zip_equal(before.texts, after.texts))
    if (old.second != now.second)
      changes.push_back({now.first, old.second, now.second});
  return changes;
}

template <typename T>
static void match(const std::vector<T> &before, const std::vector<T> &after,
                  StringRef metricBefore, StringRef metricAfter,
                  std::vector<Matched> &both,
                  std::vector<std::string> &onlyBefore,
                  std::vector<std::string> &onlyAfter) {
  llvm::StringMap<const T *> exact, unshifted;
  for (const T &each : before) {
    exact.try_emplace(each.name, &each);
    if (std::string old = unshift(each.name); !old.empty())
      unshifted.try_emplace(old, &each);
  }
  llvm::StringMap<bool> taken;
  for (const T &now : after) {
    std::string plain = unshift(now.name);
    const T *old = exact.lookup(now.name);
    if (!old)
      old = plain.empty() ? unshifted.lookup(now.name) : exact.lookup(plain);
    if (!old || !taken.try_emplace(old->name, true).second) {
      onlyAfter.push_back(now.name);
      continue;
    }
    ReportValues valuesBefore = listNumbers(*old, metricBefore);
    ReportValues valuesAfter = listNumbers(now, metricAfter);
    both.push_back({now.name, old->name,
                    compareNumbers(valuesBefore, valuesAfter),
                    compareTexts(valuesBefore, valuesAfter)});
  }
  for (const T &old : before)
    if (!taken.contains(old.name))
      onlyBefore.push_back(old.name);
}

static void compareDiagnoses(const Report &before, const Report &after,
                             Comparison &result) {
  using Key = std::pair<StringRef, StringRef>;
  std::map<Key, const Diagnosis *> old;
  for (const Diagnosis &each : before.diagnoses)
    old.try_emplace({each.rule, each.subject}, &each);
  std::map<Key, bool> met;
  for (const Diagnosis &each : after.diagnoses) {
    Key key(each.rule, each.subject);
    met[key] = true;
    auto found = old.find(key);
    if (found == old.end())
      result.diagnosesThatCame.push_back(each);
    else
      result.diagnosesThatStayed.push_back(
          {each.rule, each.subject, found->second->severity, each.severity});
  }
  for (const Diagnosis &each : before.diagnoses)
    if (!met.count({each.rule, each.subject}))
      result.diagnosesThatWent.push_back(each);
}

static Comparison::Side toSide(const Report &report) {
  return {report.model,
          report.target,
          report.metric,
          report.digest,
          report.calibrationDigest,
          report.verdict,
          report.reproduce};
}

Comparison mct::report::compare(const Report &before, const Report &after) {
  Comparison result;
  result.before = toSide(before);
  result.after = toSide(after);
  result.sameSamples = !after.digest.empty() && before.digest == after.digest;
  result.sameCalibration = !after.calibrationDigest.empty() &&
                           before.calibrationDigest == after.calibrationDigest;
  result.numbers = compareNumbers(listNumbers(before), listNumbers(after));
  match(before.points, after.points, before.metric, after.metric, result.points,
        result.pointsOnlyBefore, result.pointsOnlyAfter);
  match(before.operators, after.operators, before.metric, after.metric,
        result.operators, result.operatorsOnlyBefore,
        result.operatorsOnlyAfter);
  compareDiagnoses(before, after, result);
  return result;
}
