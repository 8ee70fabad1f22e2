// SPDX-License-Identifier: Apache-2.0
#include "Module.h"

#include "mct/Execution/Evaluation.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/InputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mct;
using namespace mct::python;

std::optional<std::string> Module::execute(const Module *reference,
                                           const ExecuteOptions &options,
                                           Job &job) const {
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return std::nullopt;
  MLIRContext *context = own->context.get();
  ScopedDiagnosticHandler handler(context, [&](Diagnostic &diagnostic) {
    job.tell(toMessage(diagnostic));
  });
  support::ProgressScope scope(context, job.progress());
  job.setStage("run");
  DialectRegistry dependencies;
  execution::Executor::registerDependencies(dependencies);
  context->appendDialectRegistry(dependencies);
  for (StringRef dialect : dependencies.getDialectNames())
    context->getOrLoadDialect(dialect);
  // Types of both are compared: they share a context.
  OwningOpRef<ModuleOp> other;
  if (reference) {
    other = readInto(*context, own->resources, reference->getSource(),
                     reference->name, job);
    if (!other)
      return std::nullopt;
  }
  std::vector<std::string> files =
      execution::SampleOptions::getPaths(options.inputs);
  files.push_back(options.labels);
  if (llvm::Error error = support::checkOutputFiles(options.outputs, files)) {
    job.fail(llvm::toString(std::move(error)));
    return std::nullopt;
  }
  execution::RunCache cache;
  FailureOr<execution::RunSettings> settings = execution::RunSettings::parse(
      own->op->getLoc(), options.inputs, "", "", options.samples,
      options.batchSize, options.threads, options.maxMemory, &cache);
  if (failed(settings))
    return std::nullopt;
  execution::EvaluationOptions asked;
  asked.function = options.function;
  asked.name = name;
  asked.referenceName = reference ? reference->name : "";
  asked.floatPoints = options.floatPoints;
  asked.labelsFile = options.labels;
  asked.outputFiles = options.outputs;
  asked.exact = options.exact;
  auto fail = [&](const Twine &message) { job.fail(message.str()); };
  asked.fail = fail;
  FailureOr<execution::Evaluation> found = execution::evaluate(
      *own->op, other ? *other : ModuleOp(), *settings, asked);
  if (failed(found))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  json.object([&] { execution::printMembers(json, *found); });
  return text;
}

std::optional<std::string> Module::signature(StringRef function,
                                             Job &job) const {
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return std::nullopt;
  ScopedDiagnosticHandler handler(
      own->context.get(),
      [&](Diagnostic &diagnostic) { job.tell(toMessage(diagnostic)); });
  FailureOr<execution::Signature> found =
      execution::readSignature(*own->op, function);
  if (failed(found))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  execution::print(json, *found);
  return text;
}
