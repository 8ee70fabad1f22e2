// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_COMPAREFIELDS_H
#define MCT_LIB_REPORT_COMPAREFIELDS_H

#include "Fields.h"
#include "mct/Report/Compare.h"

namespace mct::report {

inline constexpr llvm::StringLiteral kComparisonFormat = "mct-comparison";

template <typename V, typename T> void visitFields(Fields<Change>, V &v, T &x) {
  v("name", x.name, "path of the number in the report");
  v("before", x.before, "none: that report has no such number");
  v("after", x.after, "likewise");
  v("difference", x.difference, "after - before");
}

template <typename V, typename T>
void visitFields(Fields<TextChange>, V &v, T &x) {
  v("name", x.name, "its text");
  v("before", x.before, "as it was");
  v("after", x.after, "as it is");
}

template <typename V, typename T>
void visitFields(Fields<Matched>, V &v, T &x) {
  v("name", x.name, "in the later report");
  v("name_before", x.nameBefore, "in the earlier one");
  v("numbers", x.numbers, "those of one of the reports");
  v("texts", x.texts, "those that differ");
}

template <typename V, typename T>
void visitFields(Fields<Comparison::Side>, V &v, T &x) {
  v("model", x.model, "as in the report");
  v("target", x.target, "as in the report");
  v("metric", x.metric, "as in the report");
  v("digest", x.digest, "as in the report");
  v("calibration_digest", x.calibrationDigest, "as in the report");
  v("verdict", x.verdict, "as in the report");
  v("reproduce", x.reproduce, "as in the report");
}

template <typename V, typename T>
void visitFields(Fields<Comparison::Stayed>, V &v, T &x) {
  v("rule", x.rule, "name of the rule");
  v("subject", x.subject, "point or operator; empty: the network");
  v("severity_before", x.severityBefore, "in the earlier report");
  v("severity_after", x.severityAfter, "in the later one");
}

template <typename V, typename T>
void visitFields(Fields<Comparison>, V &v, T &x) {
  v("before", x.before, "what the earlier report is about");
  v("after", x.after, "what the later one is about");
  v("same_samples", x.sameSamples, "both ran on the same samples");
  v("same_calibration", x.sameCalibration,
    "both modules come from the same samples");
  v("numbers", x.numbers, "of the network");
  v("points", x.points, "of both");
  v("operators", x.operators, "of both");
  v("points_only_before", x.pointsOnlyBefore, "names");
  v("points_only_after", x.pointsOnlyAfter, "names");
  v("operators_only_before", x.operatorsOnlyBefore, "names");
  v("operators_only_after", x.operatorsOnlyAfter, "names");
  v("diagnoses_that_went", x.diagnosesThatWent, "only before");
  v("diagnoses_that_came", x.diagnosesThatCame, "only after");
  v("diagnoses_that_stayed", x.diagnosesThatStayed, "in both");
}

} // namespace mct::report

#endif // MCT_LIB_REPORT_COMPAREFIELDS_H
