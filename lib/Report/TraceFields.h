// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_TRACEFIELDS_H
#define MCT_LIB_REPORT_TRACEFIELDS_H

#include "Fields.h"
#include "mct/Report/Trace.h"

namespace mct::report {

inline constexpr llvm::StringLiteral kTraceFormat = "mct-trace";

template <typename V, typename T>
void visitFields(Fields<TracedRecord>, V &v, T &x) {
  v("op", x.op, "kind of the op");
  v("name", x.name, "that its point or value had then; empty: none");
  visitFields(Fields<Decision>(), v, x.decision);
}

template <typename V, typename T> void visitFields(Fields<Trace>, V &v, T &x) {
  v("mct_version", x.mctVersion, "version of mct");
  v("llvm_version", x.llvmVersion, "version of LLVM");
  v("instruction_set", x.instructionSet, "instruction set of the machine");
  v("command", x.command, "words of the command that ran; empty: none");
  v("input", x.input, "input of the first pipeline");
  v("asked", x.requested, "options of the call, where there was no command");
  v("pipelines", x.pipelines, "passes with all their options");
  v("placeholders", x.placeholders,
    "words in them that stand for temporary files");
  v("target", x.target, "name of the target");
  v("calibration_digest", x.calibrationDigest,
    "digest of the samples of the calibration; empty: not known");
  v("calibration_samples", x.calibrationSamples,
    "number of samples of the calibration");
  v("passes", x.passes,
    "seconds of the passes, in the order in which they began");
  v("records", x.records, "decisions of the passes");
  v("front_operators", x.frontOperators, "those that had a choice of bits");
  v("front", x.front, "Pareto front of bit widths, and the choice");
}

} // namespace mct::report

#endif // MCT_LIB_REPORT_TRACEFIELDS_H
