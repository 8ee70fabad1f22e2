// SPDX-License-Identifier: Apache-2.0
//
// Two reports side by side: before and after, two targets, two settings.
#ifndef MCT_REPORT_COMPARE_H
#define MCT_REPORT_COMPARE_H

#include "mct/Report/Report.h"

namespace mct::report {

/// Version of the document. Readers refuse a later one.
inline constexpr int64_t kComparisonVersion = 1;

/// A number of both reports; none where a report does not have it.
struct Change {
  /// Its path in the report: `simulated.top1`, or `total.sqnr` of a point.
  std::string name;
  std::optional<Real> before, after;
  /// after - before; none where one of them is missing or not finite, or where
  /// they are in different units.
  std::optional<Real> difference;
};

/// A text that differs.
struct TextChange {
  std::string name, before, after;
};

/// A point, or an operator, of both reports. A value that was moved above zero
/// in one of them is that of its old name in the other.
struct Matched {
  std::string name, nameBefore;
  /// All numbers that one of the reports has.
  std::vector<Change> numbers;
  /// Only those that differ: quantizer, shape, cover, rules, …
  std::vector<TextChange> texts;
};

struct Comparison {
  /// Identifies one of the reports.
  struct Side {
    std::string model, target, metric, digest, calibrationDigest, verdict,
        reproduce;
  };
  Side before, after;
  /// The same samples; false also where that is not known.
  bool sameSamples = false, sameCalibration = false;
  /// Numbers of the network: accuracy, distance, memory, seconds.
  std::vector<Change> numbers;
  /// Points in the order of the later report.
  std::vector<Matched> points, operators;
  std::vector<std::string> pointsOnlyBefore, pointsOnlyAfter,
      operatorsOnlyBefore, operatorsOnlyAfter;
  /// Diagnoses by rule and subject. Those that stayed with their severities.
  std::vector<Diagnosis> diagnosesThatWent, diagnosesThatCame;
  struct Stayed {
    std::string rule, subject;
    Real severityBefore = 0, severityAfter = 0;
  };
  std::vector<Stayed> diagnosesThatStayed;
};

Comparison compare(const Report &before, const Report &after);

/// Prints one JSON document, keys as in a report, behind `"format":
/// "mct-comparison"` and `"version": 1`. The same for the same reports.
void print(llvm::json::OStream &stream, const Comparison &comparison);
/// Reads it; errors as those of `parse`.
llvm::Expected<Comparison> parseComparison(llvm::StringRef text);
/// Prints the JSON Schema (2020-12) of the document.
void printComparisonSchema(llvm::json::OStream &stream);

} // namespace mct::report

#endif // MCT_REPORT_COMPARE_H
