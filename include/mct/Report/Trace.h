// SPDX-License-Identifier: Apache-2.0
//
// Trace that a run of passes leaves behind, beside its module, so that a report
// can tell how the module came about.
#ifndef MCT_REPORT_TRACE_H
#define MCT_REPORT_TRACE_H

#include "mct/IR/Records.h"
#include "mct/Report/Report.h"
#include "mlir/Pass/PassManager.h"

namespace mct::report {

/// Version of the document. Readers refuse a later one.
inline constexpr int64_t kTraceVersion = 1;

/// A decision of a pass.
struct TracedRecord {
  /// Kind of the op (`tosa.conv2d`), and the name that the point or value had
  /// then; empty: none.
  std::string op, name;
  Decision decision;
};

struct Trace {
  /// The programs that made the module.
  std::string mctVersion, llvmVersion, instructionSet;
  /// Words of the command that ran, but for what made the trace; empty: none
  /// did, or it cannot be given again.
  std::vector<std::string> command;
  /// The input of the first pipeline: a file, or any name.
  std::string input;
  /// Requests without a command, as they were written, without
  /// `builtin.module(…)`; in order.
  std::vector<std::string> asked;
  /// All passes with all their options, in the order in which they ran on a
  /// module. Numbers are rounded to seven digits.
  std::vector<std::string> pipelines;
  /// Words in capitals that stand for files of these which nobody keeps.
  std::vector<std::string> placeholders;
  /// Name of the target; empty: the module has none.
  std::string target;
  /// Digest of the calibration, as in Report; empty: not known.
  std::string calibrationDigest;
  std::optional<int64_t> calibrationSamples;
  /// Passes in the order in which they began. A pass that ran on several
  /// functions is there once, with all their time; one that runs others has
  /// their time, too.
  std::vector<PassTime> passes;
  /// Records of all passes that have the option `remarks`, on or off.
  std::vector<TracedRecord> records;
  std::vector<std::string> frontOperators;
  std::vector<FrontPoint> front;
};

/// Prints one JSON document, keys as in a report, behind `"format":
/// "mct-trace"` and
/// `"version": 1`.
void print(llvm::json::OStream &stream, const Trace &trace);
/// Reads it; errors as those of `parse`.
llvm::Expected<Trace> parseTrace(llvm::StringRef text);
/// Prints the JSON Schema (2020-12) of the document.
void printTraceSchema(llvm::json::OStream &stream);

/// Adds what the passes of a manager do to a trace that lives longer than the
/// manager: call it when all passes are in it. What is printed does not change,
/// and neither does the module: passes make records also where their option
/// `remarks` is off, and those are not printed.
/// `records` (null: nobody wants them) gets those that are.
void addTracing(mlir::PassManager &passes, Trace *trace,
                std::vector<CollectedRecord> *records = nullptr);

/// Tells the report what a trace knows; the operators and points are there.
void addTrace(Report &report, const Trace &trace);

/// Returns the command that makes the module of a trace again, as a shell reads
/// it, and the words in capitals of files whose names are not known.
std::string makeReproduceLine(const Trace &trace,
                              std::vector<std::string> &placeholders);

} // namespace mct::report

#endif // MCT_REPORT_TRACE_H
