// SPDX-License-Identifier: Apache-2.0
#include "mct/Report/Trace.h"
#include "JsonFields.h"
#include "ShiftedNames.h"
#include "TraceFields.h"
#include "mct/Execution/Executor.h"
#include "mct/Support/PassSideOutputs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Config/llvm-config.h"
#include <chrono>

using namespace mlir;
using namespace mct;
using namespace mct::report;

void mct::report::print(json::OStream &stream, const Trace &trace) {
  printDocument(stream, kTraceFormat, kTraceVersion, trace);
}

llvm::Expected<Trace> mct::report::parseTrace(StringRef text) {
  return parseDocument<Trace>(text, "trace", kTraceFormat, kTraceVersion);
}

//===----------------------------------------------------------------------===//
// Tracing
//===----------------------------------------------------------------------===//

/// Returns whether the options of a pass, for example `{a=1 b={c d} e='f'}`,
/// contain `option` at the outermost level.
static bool setsOption(StringRef pass, StringRef option) {
  StringRef text = pass.drop_until([](char c) { return c == '{'; });
  if (!text.consume_front("{"))
    return false;
  int depth = 0;
  char quote = 0;
  size_t begin = 0;
  for (auto [index, c] : llvm::enumerate(text)) {
    if (quote) {
      quote = c == quote ? 0 : quote;
      continue;
    }
    if (c == '\'' || c == '"')
      quote = c;
    else if (c == '{')
      ++depth;
    else if (c == '}' && depth > 0)
      --depth;
    else if (depth == 0 && (c == ' ' || c == '}')) {
      if (text.slice(begin, index) == option)
        return true;
      begin = index + 1;
    }
  }
  return false;
}

static std::string print(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  pass.printAsTextualPipeline(stream);
  return text;
}

namespace {
/// Traces the passes of a pass manager, as long as that lives; its context
/// lives longer.
class Tracer : public PassInstrumentation {
public:
  Tracer(PassManager &passes, Trace *trace,
         std::vector<CollectedRecord> *records)
      : trace(trace), records(records), collector(passes.getContext()),
        silentScope(passes.getContext(), silent) {
    if (!trace)
      return;
    scope.emplace(passes.getContext(), findings);
    std::string pipeline;
    llvm::raw_string_ostream stream(pipeline);
    passes.printAsTextualPipeline(stream);
    StringRef inner = pipeline;
    if (inner.consume_front("builtin.module(") && inner.consume_back(")"))
      pipeline = inner.str();
    trace->pipelines.push_back(std::move(pipeline));
  }
  ~Tracer() override { finish(); }

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!trace || pass->getArgument().empty())
      return;
    Running running;
    if (setsOption(print(*pass), "remarks=false") &&
        succeeded(setRemarks(*pass, true)))
      running.isSilent = true;
    if (running.isSilent)
      silent.add(pass->getArgument());
    running.entry = enter(pass->getArgument(), op);
    running.start = std::chrono::steady_clock::now();
    std::lock_guard<std::mutex> lock(mutex);
    underWay[pass] = running;
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    leave(pass);
    if (auto module = dyn_cast<ModuleOp>(op); trace && module)
      for (auto platform : module.getOps<tpc::PlatformOp>())
        trace->target = platform.getSymName().str();
  }
  void runAfterPassFailed(Pass *pass, Operation *) override { leave(pass); }

private:
  struct Running {
    /// Index of its entry among the passes.
    size_t entry = 0;
    std::chrono::steady_clock::time_point start;
    /// True if its remarks were enabled for the trace.
    bool isSilent = false;
  };

  static LogicalResult setRemarks(Pass &pass, bool on) {
    return pass.initializeOptions(on ? "remarks=true" : "remarks=false",
                                  [](const Twine &) { return failure(); });
  }

  /// Returns the index of the pass's entry. A pass on functions has one entry
  /// for all functions in a row.
  size_t enter(StringRef flag, Operation *op) {
    std::lock_guard<std::mutex> lock(mutex);
    size_t next = trace->passes.size();
    if (!op->getParentOp())
      nested.clear();
    else if (auto [found, isNew] = nested.try_emplace(flag, next); !isNew)
      return found->second;
    trace->passes.push_back({flag.str(), 0});
    return next;
  }

  void leave(Pass *pass) {
    if (!trace || pass->getArgument().empty())
      return;
    std::lock_guard<std::mutex> lock(mutex);
    Running running = underWay.at(pass);
    underWay.erase(pass);
    std::chrono::duration<double> seconds =
        std::chrono::steady_clock::now() - running.start;
    if (running.isSilent) {
      silent.remove(pass->getArgument());
      (void)setRemarks(*pass, false);
    }
    trace->passes[running.entry].seconds += seconds.count();
  }

  void finish() {
    std::vector<CollectedRecord> collected = collector.takeRecords();
    if (trace) {
      for (const CollectedRecord &record : collected)
        trace->records.push_back(toTraced(record));
      if (findings.calibration) {
        trace->calibrationDigest = findings.calibration->digest;
        trace->calibrationSamples.reset();
        if (!trace->calibrationDigest.empty())
          trace->calibrationSamples = findings.calibration->count;
      }
      if (findings.bitWidths) {
        trace->frontOperators = findings.bitWidths->operators;
        trace->front.clear();
        for (const auto &choice : findings.bitWidths->front)
          trace->front.push_back(
              {choice.bytes,
               choice.sensitivities,
               {choice.alternatives.begin(), choice.alternatives.end()},
               choice.isChosen});
      }
    }
    if (records)
      llvm::append_range(*records, collected);
  }

  static TracedRecord toTraced(const CollectedRecord &record) {
    TracedRecord result{
        record.op,
        record.name,
        {record.pass, record.decision, record.reason, record.text, {}}};
    for (const NamedValue &value : record.values)
      if (const auto *number = std::get_if<double>(&value.value))
        result.decision.numbers.push_back({value.name, *number});
      else if (const auto *integer = std::get_if<int64_t>(&value.value))
        result.decision.numbers.push_back({value.name, double(*integer)});
    return result;
  }

  Trace *trace;
  std::vector<CollectedRecord> *records;
  RecordCollector collector;
  SilentPasses silent;
  SilentPassesScope silentScope;
  support::PassSideOutputs findings;
  std::optional<support::PassSideOutputsScope> scope;
  std::mutex mutex;
  /// The passes that are running; each runs on one op at a time.
  std::map<Pass *, Running> underWay;
  llvm::StringMap<size_t> nested;
};
} // namespace

void mct::report::addTracing(PassManager &passes, Trace *trace,
                             std::vector<CollectedRecord> *records) {
  if (trace) {
    trace->mctVersion = MCT_VERSION;
    trace->llvmVersion = LLVM_VERSION_STRING;
    trace->instructionSet = execution::Executor::instructionSet();
  }
  passes.addInstrumentation(std::make_unique<Tracer>(passes, trace, records));
}

//===----------------------------------------------------------------------===//
// Parts that a report takes
//===----------------------------------------------------------------------===//

namespace {
/// Finds points or operators by their present and former names.
class ByName {
public:
  template <typename T> explicit ByName(std::vector<T> &all) {
    for (T &each : all)
      decisions[each.name] = &each.decisions;
    for (T &each : all)
      if (std::string old = unshift(each.name); !old.empty())
        decisions.try_emplace(old, &each.decisions);
  }
  std::vector<report::Decision> *find(StringRef name) const {
    return decisions.lookup(name);
  }

private:
  llvm::StringMap<std::vector<report::Decision> *> decisions;
};
} // namespace

void mct::report::addTrace(Report &report, const Trace &trace) {
  ByName points(report.points), operators(report.operators);
  for (const TracedRecord &record : trace.records) {
    std::vector<report::Decision> *to = points.find(record.name);
    if (!to)
      to = operators.find(record.name);
    if (to)
      // The IR, or an earlier run of the pass, contains the same decision with
      // less detail.
      llvm::erase_if(*to, [&](const report::Decision &present) {
        return present.pass == record.decision.pass &&
               present.decision == record.decision.decision &&
               present.reason == record.decision.reason;
      });
    (to ? *to : report.decisions).push_back(record.decision);
  }
  if (report.target.empty())
    report.target = trace.target;
  report.calibrationDigest = trace.calibrationDigest;
  report.calibrationSamples = trace.calibrationSamples;
  report.frontOperators = trace.frontOperators;
  report.front = trace.front;
  report.passes = trace.passes;
  report.reproduce = makeReproduceLine(trace, report.placeholders);
}

static std::string quote(StringRef word) {
  constexpr StringLiteral kPlain = "_./:=,@%+-";
  if (!word.empty() && llvm::all_of(word, [&](char c) {
        return llvm::isAlnum(c) || kPlain.contains(c);
      }))
    return word.str();
  std::string text = "'";
  for (char c : word)
    text += c == '\'' ? "'\\''" : std::string(1, c);
  return text + "'";
}

std::string
mct::report::makeReproduceLine(const Trace &trace,
                               std::vector<std::string> &placeholders) {
  placeholders = trace.placeholders;
  if (!trace.command.empty())
    return llvm::join(llvm::map_range(trace.command, quote), " ");
  if (trace.requested.empty())
    return "";
  std::string input = trace.input;
  StringRef name = input;
  if (!name.ends_with(".mlir") && !name.ends_with(".mlirbc")) {
    input = "MODEL.mlirbc";
    placeholders.push_back(input);
  }
  placeholders.push_back("QUANTIZED.mlirbc");
  std::string pipeline =
      "builtin.module(" + llvm::join(trace.requested, ",") + ")";
  return "mct-opt " + quote(input) + " " +
         quote("--pass-pipeline=" + pipeline) + " -o QUANTIZED.mlirbc";
}
