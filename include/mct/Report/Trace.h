// SPDX-License-Identifier: Apache-2.0
//
// Trace of a run of passes, stored next to its module, from which a report
// describes how the module was created.
#ifndef MCT_REPORT_TRACE_H
#define MCT_REPORT_TRACE_H

#include "mct/IR/Records.h"
#include "mct/Report/Report.h"
#include "mlir/Pass/PassManager.h"

namespace mct::report {

/// Version of the document. Parsers reject a later one.
inline constexpr int64_t kTraceVersion = 1;

/// A decision of a pass.
struct TracedRecord {
  /// Kind of the op (`tosa.conv2d`), and the name of the point or value at that
  /// time; empty if there is none.
  std::string op, name;
  Decision decision;
};

struct Trace {
  /// Versions of the programs that created the module.
  std::string mctVersion, llvmVersion, instructionSet;
  /// Words of the command that was run, without those that requested the trace;
  /// empty if there was no command, or it cannot be repeated.
  std::vector<std::string> command;
  /// The input of the first pipeline: a file, or any other name.
  std::string input;
  /// Pipelines that were requested without a command, as they were written,
  /// without `builtin.module(…)`; in order.
  std::vector<std::string> requested;
  /// All passes with all their options, in the order in which they ran on a
  /// module. Numbers are rounded to seven digits.
  std::vector<std::string> pipelines;
  /// Placeholders in capitals in the pipelines, for files that are not kept.
  std::vector<std::string> placeholders;
  /// Name of the target; empty if the module has none.
  std::string target;
  /// Digest of the calibration, as in `Report`; empty if unknown.
  std::string calibrationDigest;
  std::optional<int64_t> calibrationSamples;
  /// Passes in the order in which they began. A pass that ran on several
  /// functions is listed once, with their total time; a pass that runs others
  /// includes their time.
  std::vector<PassTime> passes;
  /// Records of all passes that have the option `remarks`, whether it is on or
  /// off.
  std::vector<TracedRecord> records;
  std::vector<std::string> frontOperators;
  std::vector<FrontPoint> front;
};

/// Prints one JSON document with the keys of a report, after `"format":
/// "mct-trace"` and `"version": 1`.
void print(llvm::json::OStream &stream, const Trace &trace);
/// Parses the document; errors are like those of `parse`.
llvm::Expected<Trace> parseTrace(llvm::StringRef text);
/// Prints the JSON Schema (2020-12) of the document.
void printTraceSchema(llvm::json::OStream &stream);

/// Adds the actions of a manager's passes to a trace, which must outlive the
/// manager. Must be called when all passes have been added. Neither the output
/// nor the module changes: passes create records also if their option `remarks`
/// is off, but those are not printed. `records` (may be null) gets the printed
/// ones.
void addTracing(mlir::PassManager &passes, Trace *trace,
                std::vector<CollectedRecord> *records = nullptr);

/// Adds the contents of a trace to the report, which must have its operators
/// and points already.
void addTrace(Report &report, const Trace &trace);

/// Returns the command that creates the module of a trace again, in the syntax
/// of a shell, and the placeholders in capitals for files whose names are
/// unknown.
std::string makeReproduceLine(const Trace &trace,
                              std::vector<std::string> &placeholders);

} // namespace mct::report

#endif // MCT_REPORT_TRACE_H
