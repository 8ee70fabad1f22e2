// SPDX-License-Identifier: Apache-2.0
#include "Module.h"

#include "mct/Cost/CostTable.h"
#include "mct/Execution/RunCache.h"
#include "mct/Execution/Shards.h"
#include "mct/Export/Parameters.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/IR/Shapes.h"
#include "mct/Inspection/Explain.h"
#include "mct/Inspection/ReportCosts.h"
#include "mct/Inspection/ReportResources.h"
#include "mct/Planning/IntegerLayer.h"
#include "mct/Support/Threads.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mct;
using namespace mct::python;

//===----------------------------------------------------------------------===//
// Job
//===----------------------------------------------------------------------===//

void Job::addMessage(Message message) {
  std::lock_guard<std::mutex> lock(mutex);
  messages.push_back(std::move(message));
}

std::vector<Message> Job::takeMessages() {
  std::lock_guard<std::mutex> lock(mutex);
  return std::exchange(messages, {});
}

void Job::setStage(StringRef flag) {
  std::lock_guard<std::mutex> lock(mutex);
  stage = flag.str();
  samples.beginParts(0);
}

std::string Job::getStage() const {
  std::lock_guard<std::mutex> lock(mutex);
  return stage;
}

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

/// Returns the outermost name, and the position in a file.
static std::string describe(Location location) {
  std::string name;
  FileLineColLoc place;
  location->walk([&](Location inner) {
    if (auto named = dyn_cast<NameLoc>(inner); named && name.empty())
      name = named.getName().str();
    if (auto found = dyn_cast<FileLineColLoc>(inner)) {
      place = found;
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (!place)
    return name;
  std::string text = place.getFilename().str();
  if (place.getLine() != 0)
    text += ":" + std::to_string(place.getLine()) + ":" +
            std::to_string(place.getColumn());
  return name.empty() ? text : name + " (" + text + ")";
}

Message mct::python::toMessage(Diagnostic &diagnostic) {
  Message message;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error:
    message.kind = Message::Kind::Error;
    break;
  case DiagnosticSeverity::Warning:
    message.kind = Message::Kind::Warning;
    break;
  case DiagnosticSeverity::Remark:
  case DiagnosticSeverity::Note:
    message.kind = Message::Kind::Remark;
    break;
  }
  message.location = describe(diagnostic.getLocation());
  message.text = diagnostic.str();
  for (Diagnostic &note : diagnostic.getNotes())
    message.notes.push_back({describe(note.getLocation()), note.str()});
  return message;
}

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

Module::Module(StringRef name) : name(name.str()) {
  trace.input = this->name;
  // Enable threads only if the system does not refuse them to the context.
  static const bool threads =
      support::canRunThreads(support::Threads().count());
  context = std::make_unique<MLIRContext>(
      getRegistry(), threads ? MLIRContext::Threading::ENABLED
                             : MLIRContext::Threading::DISABLED);
  // Diagnostics describe the error; the op may hold a megabyte of weights.
  context->printOpOnDiagnostic(false);
}

OwningOpRef<ModuleOp> Module::readInto(MLIRContext &context,
                                       FallbackAsmResourceMap &resources,
                                       const std::string &bytes, StringRef name,
                                       Job &job) {
  // MLIR's bytecode reader rejects some input without a diagnostic.
  bool isSilent = true;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    isSilent &= diagnostic.getSeverity() != DiagnosticSeverity::Error;
    job.addMessage(toMessage(diagnostic));
  });
  llvm::MemoryBufferRef given(bytes, name);
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  if (isBytecode(given)) {
    // The reader requires this alignment.
    auto aligned = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
        bytes.size(), name, llvm::Align(64));
    if (!aligned) {
      job.fail("not enough memory for '" + name.str() + "'");
      return nullptr;
    }
    llvm::copy(bytes, aligned->getBufferStart());
    buffer = std::move(aligned);
  } else {
    // Text may have gigabytes; a string ends in the zero that the parser reads.
    buffer = llvm::MemoryBuffer::getMemBuffer(given);
  }
  auto sourceManager = std::make_shared<llvm::SourceMgr>();
  sourceManager->AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  ParserConfig config(&context, /*verifyAfterParse=*/true, &resources);
  auto op = parseSourceFile<ModuleOp>(sourceManager, config);
  if (!op && isSilent)
    job.fail(isBytecode(given) ? "'" + name.str() + "' is damaged bytecode"
                               : "'" + name.str() + "' cannot be parsed");
  if (!op || failed(verifyShapes(*op)))
    return nullptr;
  return op;
}

std::unique_ptr<Module> Module::read(const std::string &bytes, StringRef name,
                                     Job &job) {
  std::unique_ptr<Module> module(new Module(name));
  module->op = readInto(*module->context, module->resources, bytes, name, job);
  return module->op ? std::move(module) : nullptr;
}

std::shared_ptr<const Module> Module::parse(std::string bytes, StringRef name,
                                            Job &job) {
  std::unique_ptr<Module> module = read(bytes, name, job);
  if (!module)
    return nullptr;
  module->source = std::move(bytes);
  // Stop the threads of the context.
  module->context->disableMultithreading();
  return module;
}

namespace {
/// Reports the pass that runs.
class StageInstrumentation : public PassInstrumentation {
public:
  explicit StageInstrumentation(Job &job) : job(job) {}

  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      job.setStage(pass->getArgument());
  }

private:
  Job &job;
};
} // namespace

std::optional<std::string>
Module::translate(function_ref<LogicalResult(ModuleOp, raw_ostream &)> work,
                  Job &job) const {
  std::unique_ptr<Module> module = read(getSource(), name, job);
  if (!module)
    return std::nullopt;
  MLIRContext *context = module->context.get();
  context->loadDialect<mct::tpc::TpcDialect>();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    job.addMessage(toMessage(diagnostic));
  });
  std::string written;
  llvm::raw_string_ostream stream(written);
  if (failed(work(*module->op, stream)))
    return std::nullopt;
  return written;
}

std::optional<std::string> Module::exportOnnx(const OnnxOptions &options,
                                              Job &job) const {
  return translate(
      [&](ModuleOp module, raw_ostream &os) {
        return mct::exportOnnx(module, options, os);
      },
      job);
}

std::optional<std::string> Module::exportParameters(StringRef function,
                                                    Job &job) const {
  return translate(
      [&](ModuleOp module, raw_ostream &os) {
        return mct::exportParameters(module, function, os);
      },
      job);
}

std::optional<std::string> Module::exportTflite(const TfliteOptions &options,
                                                Job &job) const {
  return translate(
      [&](ModuleOp module, raw_ostream &os) {
        return mct::exportTflite(module, options, os);
      },
      job);
}

std::optional<std::string> Module::exportTarget(int64_t schema,
                                                Job &job) const {
  return translate(
      [&](ModuleOp module, raw_ostream &os) -> LogicalResult {
        tpc::PlatformOp platform =
            tpc::findPlatform(module, name, module.getLoc());
        return platform ? tpc::exportTpcJson(platform, os, schema) : failure();
      },
      job);
}

/// Replaces names of files in the texts of the last pipeline.
static void callFiles(report::Trace &trace,
                      ArrayRef<std::pair<std::string, std::string>> renamed) {
  for (const auto &[path, word] : renamed) {
    bool isThere = false;
    for (std::string *text : {&trace.requested.back(), &trace.pipelines.back()})
      for (size_t at = 0; (at = text->find(path, at)) != std::string::npos;
           at += word.size()) {
        text->replace(at, path.size(), word);
        isThere = true;
      }
    if (isThere && !llvm::is_contained(trace.placeholders, word))
      trace.placeholders.push_back(word);
  }
}

std::shared_ptr<const Module>
Module::run(StringRef passes, Job &job,
            ArrayRef<std::pair<std::string, std::string>> renamed) const {
  std::unique_ptr<Module> result = read(getSource(), name, job);
  if (!result)
    return nullptr;
  MLIRContext *context = result->context.get();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    job.addMessage(toMessage(diagnostic));
  });
  support::ProgressScope scope(context, job.progress());
  execution::RunCache cache;
  execution::RunCacheScope cacheScope(context, cache);
  execution::ShardState shards;
  execution::ShardStateScope shardScope(context, shards);
  std::optional<TrainingHostScope> training;
  if (job.getTraining())
    training.emplace(context, *job.getTraining());
  std::optional<execution::MetricHostScope> metric;
  if (job.getMetric())
    metric.emplace(context, *job.getMetric());
  job.attachHosts(context);
  // The module outlives the job, and would keep objects of Python alive that
  // may hold it.
  llvm::scope_exit forgetHosts([&] { HostQuantizers::detach(context); });
  PassManager manager(context, ModuleOp::getOperationName(),
                      PassManager::Nesting::Implicit);
  std::string errors;
  llvm::raw_string_ostream stream(errors);
  if (!passes.empty() && failed(parsePassPipeline(passes, manager, stream))) {
    job.fail(StringRef(errors).trim());
    return nullptr;
  }
  llvm::raw_string_ostream pipelineStream(result->pipeline);
  manager.printAsTextualPipeline(pipelineStream);
  manager.addInstrumentation(std::make_unique<StageInstrumentation>(job));
  result->trace = trace;
  if (!passes.empty()) {
    result->trace.requested.push_back(passes.str());
    report::addTracing(manager, &result->trace);
  }
  // A cancelled job skips the passes that have not begun.
  context->registerActionHandler(
      [&](function_ref<void()> act, const tracing::Action &action) {
        if (!isa<PassExecutionAction>(action) || !job.isCancelled())
          act();
      });
  if (!passes.empty())
    callFiles(result->trace, renamed);
  LogicalResult ran = manager.run(*result->op);
  context->registerActionHandler(nullptr);
  if (failed(ran) || job.isCancelled())
    return nullptr;
  context->disableMultithreading();
  return result;
}

std::string Module::getTrace() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream, /*IndentSize=*/1);
  report::print(json, trace);
  return text + "\n";
}

std::string Module::text() const {
  std::lock_guard<std::mutex> lock(mutex);
  std::string text;
  llvm::raw_string_ostream stream(text);
  AsmState state(op.get(), OpPrintingFlags(), /*locationMap=*/nullptr,
                 &resources);
  op.get()->print(stream, state);
  stream << '\n';
  return text;
}

std::string Module::write() const {
  std::string bytes;
  llvm::raw_string_ostream stream(bytes);
  BytecodeWriterConfig config(resources);
  // Only an older version of the format can fail.
  (void)writeBytecodeToFile(op.get(), stream, config);
  return bytes;
}

const std::string &Module::getSource() const {
  std::lock_guard<std::mutex> lock(mutex);
  if (source.empty())
    source = write();
  return source;
}

std::string Module::bytecode() const {
  std::lock_guard<std::mutex> lock(mutex);
  return write();
}

//===----------------------------------------------------------------------===//
// Contents of a module
//===----------------------------------------------------------------------===//

namespace json = llvm::json;

static json::Value describe(StringRef function, mct::tpc::QuantizeOp point) {
  json::Object object{
      {"name", json::fixUTF8(point.getUniqueName())},
      {"function", json::fixUTF8(function)},
      {"weight", point.isWeight()
                     ? json::Value(json::fixUTF8(*point.getWeight()))
                     : json::Value(nullptr)},
      {"type", llvm::to_string(point.getType())},
      {"config",
       point.getConfigAttr()
           ? json::Value(json::fixUTF8(llvm::to_string(point.getConfigAttr())))
           : json::Value(nullptr)},
  };
  json::Array axes, group, thresholds;
  if (std::optional<ArrayRef<int64_t>> all = point.getAxes())
    for (int64_t axis : *all)
      axes.push_back(axis);
  if (ArrayAttr names = point.getGroupAttr())
    for (auto name : names.getAsRange<StringAttr>())
      group.push_back(json::fixUTF8(name.getValue()));
  object["axes"] = std::move(axes);
  object["group"] = std::move(group);
  mct::tpc::QuantizerAttrInterface quantizer = point.getParametersAttr();
  if (!quantizer) {
    object["quantizer"] = nullptr;
    return object;
  }
  for (double threshold : quantizer.getThresholds())
    thresholds.push_back(threshold);
  object["quantizer"] = json::Object{
      {"text", json::fixUTF8(llvm::to_string(quantizer))},
      {"method", quantizer.getQuantizationMethod().getMethodName()},
      {"bits", int64_t(quantizer.getBits())},
      {"signed", quantizer.getIsSigned()},
      {"thresholds", std::move(thresholds)},
  };
  return object;
}

std::string Module::points() const {
  std::lock_guard<std::mutex> lock(mutex);
  json::Array points;
  for (auto function : op.get().getOps<func::FuncOp>())
    function.walk([&](mct::tpc::QuantizeOp point) {
      points.push_back(describe(function.getSymName(), point));
    });
  return llvm::to_string(json::Value(std::move(points)));
}

std::optional<std::string> Module::printCopy(
    Job &job,
    function_ref<LogicalResult(ModuleOp, llvm::raw_ostream &)> print) const {
  std::unique_ptr<Module> copy = read(getSource(), name, job);
  if (!copy)
    return std::nullopt;
  MLIRContext *context = copy->context.get();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    job.addMessage(toMessage(diagnostic));
  });
  context->getOrLoadDialect<mct::tpc::TpcDialect>();
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (failed(print(*copy->op, stream)))
    return std::nullopt;
  return text;
}

std::optional<std::string>
Module::explain(StringRef format, StringRef overrides, Job &job) const {
  auto kind = format == "json" ? ExplainFormat::JSON : ExplainFormat::Text;
  return printCopy(job, [&](ModuleOp copy, llvm::raw_ostream &stream) {
    return mct::explain(copy, kind, overrides, stream);
  });
}

std::optional<std::string> Module::reportResources(Job &job) const {
  return printCopy(job, [&](ModuleOp copy, llvm::raw_ostream &stream) {
    return mct::reportResources(copy, KernelOps(copy), ExplainFormat::JSON,
                                stream);
  });
}

std::optional<std::string> Module::reportCosts(StringRef table,
                                               Job &job) const {
  return printCopy(job, [&](ModuleOp copy, llvm::raw_ostream &stream) {
    auto costs = findCostTable(table, /*device=*/nullptr, copy);
    return failure(failed(costs) ||
                   failed(mct::reportCosts(copy, KernelOps(copy),
                                           *costs ? &**costs : nullptr,
                                           ExplainFormat::JSON, stream)));
  });
}

std::string Module::integerLayers(const std::string &function) const {
  std::lock_guard<std::mutex> lock(mutex);
  FailureOr<func::FuncOp> found = mct::findEntryFunction(op.get(), function);
  if (failed(found))
    return "";
  return mct::findIntegerLayers(*found, mct::KernelOps(op.get())).describe();
}

std::string Module::opNames() const {
  std::lock_guard<std::mutex> lock(mutex);
  json::Array functions;
  for (auto function : op.get().getOps<func::FuncOp>()) {
    json::Array names, results;
    llvm::DenseMap<Operation *, int64_t> numbers;
    function.walk([&](Operation *each) {
      StringAttr name = mct::getName(each->getLoc());
      if (each->getNumResults() != 0) {
        numbers[each] = int64_t(names.size());
        names.push_back(json::fixUTF8(name ? name.getValue() : ""));
      }
    });
    function.walk([&](func::ReturnOp end) {
      for (Value result : end.getOperands()) {
        auto found = numbers.find(result.getDefiningOp());
        results.push_back(found == numbers.end() ? -1 : found->second);
      }
    });
    functions.push_back(json::Object{{"function", function.getSymName()},
                                     {"names", std::move(names)},
                                     {"results", std::move(results)}});
  }
  return llvm::to_string(json::Value(std::move(functions)));
}
