// SPDX-License-Identifier: Apache-2.0
//
// Causes and remedies: rules over the numbers of a report.
#ifndef MCT_REPORT_DIAGNOSE_H
#define MCT_REPORT_DIAGNOSE_H

#include "mct/Report/Report.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace mct::report {

/// Bounds of `Diagnosis::severity`: from here on the cause deserves attention
/// before all others, a quarter of a distance that matters; and above that no
/// other number of the report says much.
inline constexpr Real kGrave = 0.25, kWorthless = 1;

/// A rule as the documentation lists it.
struct RuleDescription {
  /// Name in kebab case; does not change.
  llvm::StringRef name;
  /// When it speaks, and what it proposes: half sentences.
  llvm::StringRef condition, remedy;
};
/// Returns the rules in the order in which they are tried.
std::vector<RuleDescription> listRules();
/// The same as a table in Markdown.
void printRules(llvm::raw_ostream &stream);

/// Returns what the rules find, worst first; of equal severity in the order of
/// the rules, then of the document. Reads neither `diagnoses` nor `verdict`,
/// and nothing that was tried.
std::vector<Diagnosis> diagnose(const Report &report);

/// Returns what quantization did to a result, in a sentence.
std::string describeResult(const Report &report, const Result &result);

/// Returns what quantization did to the results, the worst first, and what is
/// the first thing to look at. Reads `results` and `diagnoses`.
std::string describeVerdict(const Report &report);

} // namespace mct::report

#endif // MCT_REPORT_DIAGNOSE_H
