// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_TRACEFIELDS_H
#define MCT_LIB_REPORT_TRACEFIELDS_H

#include "Fields.h"
#include "mct/Report/Trace.h"

namespace mct::report {

template <> struct Fields<TracedRecord> {
  template <typename V, typename T> static void visit(V &v, T &x) {
    v("op", x.op, "kind of the op");
    v("name", x.name, "that its point or value had then; empty: none");
    Fields<Decision>::visit(v, x.decision);
  }
};

template <> struct Fields<Trace> {
  template <typename V, typename T> static void visit(V &v, T &x) {
    v("mct_version", x.mctVersion, "version of mct");
    v("llvm_version", x.llvmVersion, "version of LLVM");
    v("instruction_set", x.instructionSet, "of the machine");
    v("command", x.command, "words of the command that ran; empty: none");
    v("input", x.input, "what the first of the pipelines read");
    v("asked", x.asked, "what was asked for without a command");
    v("pipelines", x.pipelines, "passes with all their options");
    v("placeholders", x.placeholders,
      "words in them for files that nobody keeps");
    v("target", x.target, "name of the target");
    v("calibration_digest", x.calibrationDigest,
      "of the samples of the calibration; empty: not known");
    v("calibration_samples", x.calibrationSamples, "how many those were");
    v("passes", x.passes, "what passes took, as they began");
    v("records", x.records, "what passes did or left alone");
    v("front_operators", x.frontOperators, "those that had a choice of bits");
    v("front", x.front, "Pareto front of bit widths, and the choice");
  }
};

} // namespace mct::report

#endif // MCT_LIB_REPORT_TRACEFIELDS_H
