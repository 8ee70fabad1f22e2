// SPDX-License-Identifier: Apache-2.0
#include "Module.h"

#include "mct/Evaluation/Evaluation.h"
#include "mct/Evaluation/Signature.h"
#include "mct/Execution/Check.h"
#include "mct/Report/Analyse.h"
#include "mct/Support/InputFile.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mct;
using namespace mct::python;

namespace {
/// Settings of the runs of a module and of the modules beside it.
struct Session {
  Session(MLIRContext *context, Job &job)
      : handler(context,
                [&job](Diagnostic &diagnostic) {
                  job.addMessage(toMessage(diagnostic));
                }),
        scope(context, job.progress()), shardScope(context, shardState) {
    job.setStage("run");
    job.attachHosts(context);
    DialectRegistry dependencies;
    execution::Executor::registerDependencies(dependencies);
    context->appendDialectRegistry(dependencies);
    for (StringRef dialect : dependencies.getDialectNames())
      context->getOrLoadDialect(dialect);
  }

  ScopedDiagnosticHandler handler;
  support::ProgressScope scope;
  execution::ShardState shardState;
  execution::ShardStateScope shardScope;
};
} // namespace

/// Opens the shards that the options describe; none without.
static FailureOr<std::optional<execution::Shards>>
openShards(ModuleOp module, const ExecuteOptions &options) {
  if (options.shardsIn.empty() && options.shardsOut.empty())
    return std::optional<execution::Shards>();
  execution::Shards::Options runOptions;
  runOptions.in = options.shardsIn;
  runOptions.out = options.shardsOut;
  runOptions.shard = options.shard;
  runOptions.hasSamples = !options.inputs.empty();
  if (options.samples != 0)
    return emitError(module.getLoc())
           << "'samples' counts the samples of one process; leave it out where "
              "there are shards";
  if (runOptions.out.empty() && runOptions.hasSamples)
    return emitError(module.getLoc())
           << "samples beside 'shards_in' are a shard of all; give "
              "'shards_out', too";
  FailureOr<execution::Shards> opened =
      execution::Shards::open(module, runOptions);
  if (failed(opened))
    return failure();
  return std::optional(std::move(*opened));
}

/// Evaluates all samples, or those of a shard; returns none if that fails, or
/// if the results of other shards are missing.
static std::optional<execution::Evaluation>
evaluate(ModuleOp module, ModuleOp reference,
         const execution::RunSettings &settings,
         execution::EvaluationOptions &runOptions,
         std::optional<execution::Shards> &shards) {
  runOptions.hasLabels = !runOptions.labelsFile.empty();
  if (!shards) {
    FailureOr<execution::Evaluation> found =
        execution::evaluate(module, reference, settings, runOptions);
    return succeeded(found) ? std::optional(std::move(*found)) : std::nullopt;
  }
  if (!shards->canMeasure())
    runOptions.hasLabels = execution::haveLabels(*shards);
  auto found = execution::evaluateShards(*shards, module, reference, settings,
                                         runOptions);
  if (failed(found))
    return std::nullopt;
  LogicalResult ended = *found ? shards->checkOthers(execution::kEvaluationPart)
                               : shards->stop(execution::kEvaluationPart);
  return succeeded(ended) ? std::move(*found) : std::nullopt;
}

static FailureOr<execution::RunSettings>
parseSettings(ModuleOp module, const ExecuteOptions &options, Job &job) {
  std::vector<std::string> files =
      execution::SampleOptions::getPaths(options.inputs);
  files.push_back(options.labels);
  if (llvm::Error error = support::checkOutputFiles(options.outputs, files)) {
    job.fail(llvm::toString(std::move(error)));
    return failure();
  }
  return execution::RunSettings::parse(module.getLoc(), options.inputs, "", "",
                                       options.samples, options.batchSize,
                                       options.threads, options.maxMemory);
}

static std::string
printed(llvm::function_ref<void(llvm::json::OStream &)> print) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::json::OStream json(stream);
  print(json);
  return text;
}

bool mct::python::checkMetric(StringRef text, Job &job) {
  auto made = execution::Metric::create(text);
  if (made)
    return true;
  job.fail(llvm::toString(made.takeError()));
  return false;
}

static execution::MetricResult
judge(const UserMetric &metric, const std::vector<double> &values,
      const std::optional<execution::MatchedDetections> &detections) {
  const std::vector<double> &reference = metric.reference;
  if (detections)
    return execution::judgeDetections(
        metric.name, metric.samples, values.front(), *detections,
        reference.empty() ? std::nullopt : std::optional(reference.front()),
        metric.referenceDetections ? &*metric.referenceDetections : nullptr);
  if (!metric.hasRows)
    return execution::judgeNumber(
        metric.name, metric.isHigherBetter, metric.samples, values.front(),
        reference.empty() ? std::nullopt : std::optional(reference.front()));
  return execution::judgeMeans(
      metric.name, metric.isHigherBetter, values,
      reference.empty() ? std::nullopt
                        : std::optional(ArrayRef<double>(reference)));
}

execution::MetricResult UserMetric::judge() const {
  return ::judge(*this, values, detections);
}

execution::MetricResult UserMetric::judgeInteger() const {
  return ::judge(*this, integer, integerDetections);
}

std::string UserMetric::print() const {
  return printed(
      [&](llvm::json::OStream &json) { execution::print(json, judge()); });
}

std::optional<std::string> Module::execute(const Module *reference,
                                           const ExecuteOptions &options,
                                           Job &job) const {
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return std::nullopt;
  Session session(own->context.get(), job);
  // Types of both are compared: they share a context.
  OwningOpRef<ModuleOp> other;
  if (reference) {
    other = readInto(*own->context, own->resources, reference->getSource(),
                     reference->name, job);
    if (!other)
      return std::nullopt;
  }
  FailureOr<execution::RunSettings> settings =
      parseSettings(*own->op, options, job);
  if (failed(settings))
    return std::nullopt;
  execution::EvaluationOptions runOptions;
  runOptions.function = options.function;
  runOptions.name = name;
  runOptions.referenceName = reference ? reference->name : "";
  runOptions.floatPoints = options.floatPoints;
  runOptions.labelsFile = options.labels;
  runOptions.metric = options.metric;
  runOptions.outputFiles = options.outputs;
  runOptions.exact = options.exact;
  auto shards = openShards(*own->op, options);
  if (failed(shards))
    return std::nullopt;
  std::optional<execution::Evaluation> found = evaluate(
      *own->op, other ? *other : ModuleOp(), *settings, runOptions, *shards);
  if (!found)
    return std::nullopt;
  return printed([&](llvm::json::OStream &json) {
    json.object([&] { execution::printMembers(json, *found); });
  });
}

std::optional<std::string> Module::report(const Module &reference,
                                          const Module *integer,
                                          const ExecuteOptions &options,
                                          uint64_t effectSamples,
                                          StringRef traceText, Job &job) const {
  std::optional<report::Trace> known;
  if (!traceText.empty()) {
    llvm::Expected<report::Trace> parsed = report::parseTrace(traceText);
    if (!parsed) {
      job.fail("the trace: " + llvm::toString(parsed.takeError()));
      return std::nullopt;
    }
    known = std::move(*parsed);
  }
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return std::nullopt;
  Session session(own->context.get(), job);
  auto readOther = [&](const Module &other) {
    return readInto(*own->context, own->resources, other.getSource(),
                    other.name, job);
  };
  OwningOpRef<ModuleOp> floating = readOther(reference), integers;
  if (!floating)
    return std::nullopt;
  if (integer) {
    integers = readOther(*integer);
    if (!integers)
      return std::nullopt;
  }
  FailureOr<execution::RunSettings> settings =
      parseSettings(*own->op, options, job);
  if (failed(settings))
    return std::nullopt;
  job.setStage("report");
  report::AnalyseInputs inputs;
  inputs.quantized = *own->op;
  inputs.floating = *floating;
  inputs.integer = integers ? *integers : ModuleOp();
  inputs.name = name;
  inputs.floatName = reference.name;
  inputs.integerName = integer ? integer->name : "";
  inputs.function = options.function;
  inputs.settings = *settings;
  inputs.labelsFile = options.labels;
  inputs.metric = options.metric;
  if (options.judged) {
    inputs.judged = options.judged->judge();
    if (!options.judged->integer.empty())
      inputs.judgedInteger = options.judged->judgeInteger();
  }
  inputs.costTable = options.costTable;
  inputs.effectSamples = int64_t(effectSamples);
  inputs.trace = known ? &*known : &trace;
  auto shards = openShards(*own->op, options);
  if (failed(shards))
    return std::nullopt;
  inputs.hasLabels = !options.labels.empty();
  if (*shards) {
    inputs.shards = &**shards;
    inputs.hasLabels |= execution::haveLabels(**shards);
  }
  FailureOr<report::Report> made = report::analyse(inputs);
  if (failed(made) || job.isCancelled())
    return std::nullopt;
  return printed(
      [&](llvm::json::OStream &json) { report::print(json, *made); });
}

bool Module::check(StringRef function, Job &job) const {
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return false;
  ScopedDiagnosticHandler handler(
      own->context.get(), [&](Diagnostic &diagnostic) {
        // Running it emits the warnings on slow ops.
        if (diagnostic.getSeverity() != DiagnosticSeverity::Remark)
          job.addMessage(toMessage(diagnostic));
      });
  return succeeded(execution::checkRunnable(*own->op, function));
}

std::optional<std::string> Module::signature(StringRef function,
                                             Job &job) const {
  std::unique_ptr<Module> own = read(getSource(), name, job);
  if (!own)
    return std::nullopt;
  ScopedDiagnosticHandler handler(
      own->context.get(),
      [&](Diagnostic &diagnostic) { job.addMessage(toMessage(diagnostic)); });
  FailureOr<execution::Signature> found =
      execution::readSignature(*own->op, function);
  if (failed(found))
    return std::nullopt;
  return printed(
      [&](llvm::json::OStream &json) { execution::print(json, *found); });
}
