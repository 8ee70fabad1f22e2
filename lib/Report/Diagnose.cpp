// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Diagnose.h"
#include "DiagnoseParts.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <cmath>
#include <numeric>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;
using llvm::StringRef;

static std::vector<Rule> getRules() {
  std::vector<Rule> rules;
  for (ArrayRef<Rule> some :
       {getSampleRules(), getCorrectionRules(), getPointRules(),
        getOperatorRules(), getGridRules(), getLastRules()})
    llvm::append_range(rules, some);
  return rules;
}

std::vector<RuleDescription> mct::report::listRules() {
  std::vector<RuleDescription> descriptions;
  for (const Rule &rule : getRules())
    descriptions.push_back(rule.description);
  return descriptions;
}

void mct::report::printRules(llvm::raw_ostream &stream) {
  stream << "| rule | condition | remedy |\n|---|---|---|\n";
  for (const RuleDescription &rule : listRules())
    stream << "| `" << rule.name << "` | " << rule.condition << " | "
           << rule.remedy << " |\n";
}

std::vector<Diagnosis> mct::report::diagnose(const Report &report) {
  DiagnosisContext network(report);
  Diagnoses diagnoses;
  for (const Rule &rule : getRules()) {
    size_t before = diagnoses.size();
    rule.find(network, diagnoses);
    for (size_t index = before; index != diagnoses.size(); ++index)
      diagnoses[index].rule = rule.description.name;
  }
  std::vector<size_t> order(diagnoses.size());
  std::iota(order.begin(), order.end(), 0);
  llvm::sort(order, [&](size_t lhs, size_t rhs) {
    return std::make_pair(-diagnoses[lhs].severity, lhs) <
           std::make_pair(-diagnoses[rhs].severity, rhs);
  });
  std::vector<Diagnosis> sorted;
  for (size_t index : order)
    sorted.push_back(std::move(diagnoses[index]));
  return sorted;
}

// SQNR below which a result is lost: its error is a third of it or more.
static constexpr Real kLost = 10;

namespace {
/// A result, or a group of its channels.
struct ResultPart {
  std::string name;
  Real sqnr = 0;
  StringRef worstPoint;
  Real worstShare = 0;
};
} // namespace

static ResultPart toPart(const Result &result) {
  return {quoted(result.name), result.simulated.sqnr, result.worstPoint,
          result.worstShare};
}

static ResultPart toPart(const Result &result, const ResultGroup &group,
                         bool namesResult) {
  return {quoted(group.name) +
              (namesResult ? " of " + quoted(result.name) : ""),
          group.simulated.sqnr, group.worstPoint, group.worstShare};
}

/// Returns the results, or their groups of channels, from the worst to the
/// best.
static std::vector<ResultPart> listParts(ArrayRef<Result> results) {
  std::vector<ResultPart> parts;
  for (const Result &result : results) {
    if (result.groups.empty())
      parts.push_back(toPart(result));
    for (const ResultGroup &group : result.groups)
      parts.push_back(toPart(result, group, results.size() > 1));
  }
  std::vector<std::pair<Real, size_t>> order;
  for (auto [number, part] : llvm::enumerate(parts))
    // A NaN stands for values that are not finite.
    order.push_back({std::isnan(part.sqnr) ? -HUGE_VAL : part.sqnr, number});
  llvm::sort(order);
  std::vector<ResultPart> sorted;
  for (auto [key, number] : order)
    sorted.push_back(std::move(parts[number]));
  return sorted;
}

static bool isLost(const ResultPart &part) { return !(part.sqnr >= kLost); }

/// Returns a description of the level that can follow `is` or a name.
static std::string describeLevel(Real sqnr) {
  if (std::isnan(sqnr))
    return "not finite";
  if (std::isinf(sqnr))
    return sqnr > 0 ? "as in float" : "wrong where float has zeros alone";
  return "at " + inDecibels(sqnr);
}

static std::string describeWorstPoint(const ResultPart &part) {
  if (part.worstPoint.empty())
    return "";
  return "the largest part of its error, " + percent(part.worstShare) +
         ", comes from " + quoted(part.worstPoint);
}

/// Describes the shares of correct and of equal answers, without a full stop;
/// empty if they are not known.
static std::string describeAnswers(const Report &report) {
  const Accuracy &simulated = report.simulated;
  std::string text;
  if (report.judgedBy && report.floating.judged && simulated.judged) {
    text = report.judgedBy->name + " is " + simulated.judged->shown +
           " instead of " + report.floating.judged->shown +
           " in float: quantization " + simulated.judged->text;
    if (simulated.agreement)
      text += ". The quantized network agrees with float on " +
              percent(*simulated.agreement) + " of " +
              std::to_string(simulated.samples) + " samples";
    return text;
  }
  if (report.floating.top1 && simulated.top1)
    text = "Top-1 is " + percent(*simulated.top1) + " instead of " +
           percent(*report.floating.top1) + " in float";
  if (simulated.agreement)
    text += (text.empty() ? "The quantized network agrees with float on "
                          : ", and ") +
            percent(*simulated.agreement) +
            (text.empty() ? " of " : " of the predictions are the same, on ") +
            std::to_string(simulated.samples) + " samples";
  return text;
}

/// Describes the effect of quantization, with a full stop.
static std::string describeResults(const Report &report,
                                   ArrayRef<ResultPart> parts) {
  constexpr size_t kMost = 4;
  const Accuracy &simulated = report.simulated;
  std::string text = describeAnswers(report),
              samples = std::to_string(simulated.samples) + " samples";
  bool areEqual = !parts.empty() && parts.front().sqnr == HUGE_VAL;
  if (parts.size() > 1 && !areEqual) {
    text += (text.empty() ? "" : ". ") + std::string("The worst of ") +
            std::to_string(parts.size()) +
            " results and groups of their channels, " + parts.front().name +
            ", is " + describeLevel(parts.front().sqnr);
    for (const ResultPart &part : parts.drop_front().take_front(kMost - 1))
      text += ", " + part.name + " " + describeLevel(part.sqnr);
    if (parts.size() > kMost)
      text += " and the others above";
    return text + ", on " + samples + ".";
  }
  if (!text.empty()) {
    if (!parts.empty() && isLost(parts.front()))
      text += "; the results are " + describeLevel(parts.front().sqnr);
    return text + ".";
  }
  if (simulated.output && std::isfinite(simulated.output->sqnr))
    return "The results are " + brief(simulated.output->sqnr) +
           " dB above their error, on " + samples + ".";
  return "The results are those of float, on " + samples + ".";
}

std::string mct::report::describeResult(const Report &report,
                                        const Result &result) {
  std::string text =
      quoted(result.name) + " is " + describeLevel(result.simulated.sqnr);
  if (result.isScores && report.simulated.agreement)
    text += " and agrees with float on " +
            percent(*report.simulated.agreement) + " of the samples";
  std::vector<ResultPart> parts = listParts(ArrayRef<Result>(result));
  if (parts.size() > 1)
    text += "; its worst group, " + parts.front().name + ", is " +
            describeLevel(parts.front().sqnr);
  std::string worst = describeWorstPoint(parts.front());
  return text + (worst.empty() ? "" : "; " + worst) + ".";
}

/// Returns the trial that helps most; null if none does.
static const Trial *findBestTrial(const Report &report) {
  const Trial *best = nullptr;
  for (const Trial &trial : report.trials)
    if (trial.isWorthwhile && (!best || trial.gain > best->gain))
      best = &trial;
  return best;
}

/// Returns sentences on the remedy that helps most, with the cause that it
/// removes if a rule found one.
static std::string describeBestTrial(const Report &report, const Trial &best) {
  std::string text;
  for (const Diagnosis &diagnosis : report.diagnoses)
    if (diagnosis.trial && &report.trials[size_t(*diagnosis.trial)] == &best) {
      text = diagnosis.cause + " ";
      break;
    }
  size_t count = report.trials.size();
  return text +
         (count == 1 ? "The only remedy that was tried helps, `"
                     : "Of " + std::to_string(count) +
                           " remedies that were tried, this one helps "
                           "most, `") +
         llvm::join(best.lines, "` with `") + "`: " + describeGain(best) + ".";
}

std::string mct::report::describeVerdict(const Report &report) {
  // Below this share, a cause is only one of many.
  constexpr Real kWorthASentence = 0.1;
  std::vector<ResultPart> parts = listParts(report.results);
  std::string text = describeResults(report, parts) + " ";
  const Diagnosis *cause =
      report.diagnoses.empty() ? nullptr : &report.diagnoses.front();
  // A trial says nothing if the samples are wrong.
  if (cause && cause->severity >= kWorthless)
    return text + cause->cause;
  if (const Trial *best = findBestTrial(report))
    return text + describeBestTrial(report, *best);
  if (!report.trials.empty())
    text += report.trials.size() == 1
                ? "The only remedy that was tried does not help beyond chance. "
                : "None of " + std::to_string(report.trials.size()) +
                      " remedies that were tried helps beyond chance. ";
  // The cause may have a remedy that needs another run.
  if (cause && cause->severity >= kWorthASentence)
    return text + cause->cause;
  if (!parts.empty() && isLost(parts.front())) {
    std::string worst = describeWorstPoint(parts.front());
    if (worst.empty())
      return text + "The error of " + parts.front().name + " was not traced" +
             (report.noEffectsReason.empty()
                  ? "."
                  : ": " + report.noEffectsReason + ".");
    return text + "In " + parts.front().name + ", " + worst + ".";
  }
  if (!report.trials.empty())
    return text + "No cause stands out.";
  return text + "No remedy was tried" +
         (report.noEffectsReason.empty() ? "" : ": " + report.noEffectsReason) +
         ".";
}
