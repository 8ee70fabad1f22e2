// SPDX-License-Identifier: Apache-2.0
//
// Finds causes and remedies by rules over the numbers of a report.
#ifndef MCT_REPORT_DIAGNOSE_H
#define MCT_REPORT_DIAGNOSE_H

#include "mct/Report/Report.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mct::report {

/// Bounds of `Diagnosis::severity`. From kGrave on, the cause deserves
/// attention before all others: it causes a quarter of a distance that matters.
/// Above kWorthless, no other number of the report is meaningful.
inline constexpr Real kGrave = 0.25, kWorthless = 1;

/// A rule as the documentation lists it.
struct RuleDescription {
  /// Stable name, in kebab case.
  llvm::StringRef name;
  /// Condition of the rule, and the remedy that it proposes, as half sentences.
  llvm::StringRef condition, remedy;
};
/// Returns the rules in the order in which they are tried.
std::vector<RuleDescription> listRules();
/// Prints the rules as a table in Markdown.
void printRules(llvm::raw_ostream &stream);

/// Returns the diagnoses of all rules, the most severe first; of equal
/// severity, in the order of the rules, then of the document. Ignores
/// `diagnoses`, `verdict`, and all trials.
std::vector<Diagnosis> diagnose(const Report &report);

/// Returns a sentence on the effect of quantization on a result.
std::string describeResult(const Report &report, const Result &result);

/// Returns sentences on the effect of quantization on the results, the worst
/// first, and on what to look at first. Uses `results` and `diagnoses`.
std::string describeVerdict(const Report &report);

} // namespace mct::report

#endif // MCT_REPORT_DIAGNOSE_H
