// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Diagnose.h"
#include "DiagnoseParts.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;

static std::vector<Rule> getRules() {
  std::vector<Rule> rules;
  for (ArrayRef<Rule> some :
       {getSampleRules(), getPointRules(), getOperatorRules(), getGridRules(),
        getLastRules()})
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
  stream << "| rule | speaks when | proposes |\n|---|---|---|\n";
  for (const RuleDescription &rule : listRules())
    stream << "| `" << rule.name << "` | " << rule.condition << " | "
           << rule.remedy << " |\n";
}

std::vector<Diagnosis> mct::report::diagnose(const Report &report) {
  Case network(report);
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

/// What quantization did, without the full stop.
static std::string describeResults(const Report &report) {
  const Accuracy &simulated = report.simulated;
  std::string text;
  if (report.floating.top1 && simulated.top1)
    text = "Top-1 is " + percent(*simulated.top1) + " instead of " +
           percent(*report.floating.top1) + " in float";
  if (simulated.agreement)
    text += (text.empty() ? "The quantized network agrees with float on "
                          : ", and ") +
            percent(*simulated.agreement) +
            (text.empty() ? " of " : " of the predictions are the same, on ") +
            std::to_string(simulated.samples) + " samples";
  if (!text.empty())
    return text;
  if (simulated.output && std::isfinite(simulated.output->sqnr))
    return "The results are " + brief(simulated.output->sqnr) +
           " dB above their error, on " + std::to_string(simulated.samples) +
           " samples";
  return "The results are those of float, on " +
         std::to_string(simulated.samples) + " samples";
}

std::string mct::report::describeVerdict(const Report &report) {
  // Below it a cause is no more than one of many.
  constexpr Real kWorthASentence = 0.1;
  std::string text = describeResults(report) + ". ";
  if (!report.diagnoses.empty()) {
    const Diagnosis &worst = report.diagnoses.front();
    if (worst.severity >= kWorthASentence)
      return text + worst.cause;
  }
  Case network(report);
  const Point *largest = nullptr;
  for (const Point &point : report.points)
    if (network.getShare(point) > (largest ? network.getShare(*largest) : 0))
      largest = &point;
  if (!largest)
    return text + "No rule finds a cause of errors.";
  return text + "No cause stands out; the largest part of the error, " +
         percent(network.getShare(*largest)) + ", comes from " +
         quoted(largest->name) + ".";
}
