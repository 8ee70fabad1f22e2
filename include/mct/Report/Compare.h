// SPDX-License-Identifier: Apache-2.0
//
// Compares two reports: before and after, two targets, or two settings.
#ifndef MCT_REPORT_COMPARE_H
#define MCT_REPORT_COMPARE_H

#include "mct/Report/Report.h"

namespace mct::report {

/// Version of the document. Parsers reject a later one.
inline constexpr int64_t kComparisonVersion = 1;

/// A number of both reports; none in a report that does not have it.
struct Change {
  /// Path of the number in the report: `simulated.top1`, or `total.sqnr` of a
  /// point.
  std::string name;
  std::optional<Real> before, after;
  /// after - before; none if one of them is missing or not finite, or if their
  /// units differ.
  std::optional<Real> difference;
};

/// A text that differs between the reports.
struct TextChange {
  std::string name, before, after;
};

/// A point, or an operator, of both reports. A value that was shifted above
/// zero in one report is matched with its old name in the other.
struct Matched {
  std::string name, nameBefore;
  /// All numbers that at least one of the reports has.
  std::vector<Change> numbers;
  /// Texts that differ: quantizer, shape, cover, rules, …
  std::vector<TextChange> texts;
};

struct Comparison {
  /// Identifies one of the reports.
  struct Side {
    std::string model, target, metric, digest, calibrationDigest, verdict,
        reproduce;
  };
  Side before, after;
  /// True if the samples are the same; false also if that is unknown.
  bool sameSamples = false, sameCalibration = false;
  /// Numbers of the network: accuracy, distance, memory, seconds.
  std::vector<Change> numbers;
  /// Points in the order of the later report.
  std::vector<Matched> points, operators;
  std::vector<std::string> pointsOnlyBefore, pointsOnlyAfter,
      operatorsOnlyBefore, operatorsOnlyAfter;
  /// Diagnoses, matched by rule and subject. Those in both reports have both
  /// severities.
  std::vector<Diagnosis> diagnosesThatWent, diagnosesThatCame;
  struct Stayed {
    std::string rule, subject;
    Real severityBefore = 0, severityAfter = 0;
  };
  std::vector<Stayed> diagnosesThatStayed;
};

Comparison compare(const Report &before, const Report &after);

/// Prints one JSON document with the keys of a report, after `"format":
/// "mct-comparison"` and `"version": 1`. Equal reports give equal documents.
void print(llvm::json::OStream &stream, const Comparison &comparison);
/// Parses the document; errors are like those of `parse`.
llvm::Expected<Comparison> parseComparison(llvm::StringRef text);
/// Prints the JSON Schema (2020-12) of the document.
void printComparisonSchema(llvm::json::OStream &stream);

} // namespace mct::report

#endif // MCT_REPORT_COMPARE_H
