// SPDX-License-Identifier: Apache-2.0
//
// Runs a function of a module on .npy samples: accuracy, outputs, and distances
// to another module.
#include "../common/BusErrors.h"
#include "../common/EndWithShards.h"
#include "../common/StartTool.h"
#include "mct/Evaluation/Evaluation.h"
#include "mct/Evaluation/Signature.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Shards.h"
#include "mct/IR/QuantizedValues.h"
#include "mct/IR/Shapes.h"
#include "mct/Report/Analyse.h"
#include "mct/Report/Compare.h"
#include "mct/Report/Diagnose.h"
#include "mct/Support/ContextFiles.h"
#include "mct/Support/OutputFile.h"
#include "mct/Support/Threads.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>
#include <sys/resource.h>

using namespace mlir;
using namespace mct;
namespace cl = llvm::cl;
using execution::Executor;

static cl::OptionCategory category("mct-run options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("<module>"),
                                      cl::cat(category));
static cl::list<std::string>
    samplesFiles("input", cl::CommaSeparated,
                 cl::desc("Samples: FILE.npy or INPUT:FILE.npy, …"),
                 cl::cat(category));
static cl::opt<std::string>
    inputScale("input-scale",
               cl::desc("Factor from stored value to network input, S or S;S;… "
                        "per channel"),
               cl::cat(category));
static cl::opt<std::string> inputOffset("input-offset",
                                        cl::desc("Added after the factor"),
                                        cl::cat(category));
static cl::opt<std::string>
    labelsFile("labels",
               cl::desc("Integer labels: print top-1; or "
                        "those of --metric"),
               cl::cat(category));
static cl::opt<std::string> metricName(
    "metric",
    cl::desc("With --labels: print that metric of the first result, and with "
             "--compare how much is lost, with 95 % confidence; --metrics "
             "lists them"),
    cl::value_desc("NAME"), cl::cat(category));
static cl::opt<bool> listMetrics("metrics",
                                 cl::desc("List the metrics, and run nothing"),
                                 cl::cat(category));
static cl::list<std::string>
    outputFiles("output", cl::CommaSeparated,
                cl::desc("Write the outputs, one .npy each"),
                cl::cat(category));
static cl::opt<std::string>
    otherFile("compare",
              cl::desc("Compare every point with the value of that name in "
                       "another module"),
              cl::cat(category));
static cl::opt<bool>
    exact("exact",
          cl::desc("With --compare: every stored integer of an integer network "
                   "must be the one that the other module simulates"),
          cl::cat(category));
static cl::opt<bool> local(
    "local",
    cl::desc("With --exact: every point computes from the integers of the "
             "network, so that differences are counted where they arise"),
    cl::cat(category));
static cl::opt<bool>
    signature("signature",
              cl::desc("Print inputs and outputs and the scales of their "
                       "integers, and run nothing"),
              cl::cat(category));
static cl::opt<uint64_t> sampleLimit("samples",
                                     cl::desc("Read that many samples; 0: all"),
                                     cl::init(0), cl::cat(category));
static cl::list<std::string>
    shardsIn("shards-in", cl::CommaSeparated,
             cl::desc("Files that the shards of the samples have written, in "
                      "place of --input"),
             cl::value_desc("FILE,…"), cl::cat(category));
static cl::opt<std::string> shardsOut(
    "shards-out",
    cl::desc("--input is a shard of the samples: write its results to that "
             "file; without --input, what the shards are to answer"),
    cl::value_desc("FILE"), cl::cat(category));
static cl::opt<std::string>
    shardOf("shard",
            cl::desc("With --shards-out: which of how many shards --input is"),
            cl::value_desc("I/N"), cl::cat(category));
static cl::opt<uint64_t>
    batchSize("batch-size",
              cl::desc("Samples that a worker takes at once; 0: automatic"),
              cl::init(0), cl::cat(category));
static cl::opt<unsigned> numThreads("num-threads",
                                    cl::desc("Worker threads; 0: one per core"),
                                    cl::init(0), cl::cat(category));
static cl::opt<std::string> maxMemory(
    "max-memory",
    cl::desc("Bytes that the process may have (suffixes K, M, G): fewer "
             "workers and smaller batches, and an error where running needs "
             "more; default: the memory of the machine"),
    cl::cat(category));
static cl::opt<std::string> functionName("function",
                                         cl::desc("Function to run; default: "
                                                  "main, or the only public "
                                                  "one"),
                                         cl::cat(category));
static cl::list<std::string>
    floatPoints("float-points", cl::CommaSeparated,
                cl::desc("Points that do not quantize: names, or patterns with "
                         "*; those of weights are OP/WEIGHT"),
                cl::cat(category));
static cl::opt<std::string>
    reportFile("report",
               cl::desc("With --compare, the float module: write a JSON "
                        "document about where accuracy goes, and why"),
               cl::value_desc("FILE.json"), cl::cat(category));
static cl::opt<std::string>
    integerFile("integer",
                cl::desc("With --report: the integer network, which is "
                         "compared with its simulation"),
                cl::value_desc("module"), cl::cat(category));
static cl::opt<uint64_t> reportSamples(
    "report-samples",
    cl::desc("With --report: samples for the runs that find the errors of "
             "single points; 0: all"),
    cl::init(128), cl::cat(category));
static cl::opt<std::string>
    traceFile("trace",
              cl::desc("With --report: file that mct-opt --mct-trace wrote "
                       "when it made the module"),
              cl::cat(category));
static cl::opt<bool>
    reportSchema("report-schema",
                 cl::desc("Print the JSON Schema of --report, and run nothing"),
                 cl::cat(category));
static cl::opt<bool>
    traceSchema("trace-schema",
                cl::desc("Print the JSON Schema of the file that mct-opt "
                         "--mct-trace writes, and run nothing"),
                cl::cat(category));
static cl::opt<bool> comparisonSchema(
    "comparison-schema",
    cl::desc("Print the JSON Schema of the comparison of two reports (mct "
             "report --against), and run nothing"),
    cl::cat(category));
static cl::opt<bool>
    reportRules("report-rules",
                cl::desc("Print the rules of the diagnoses of --report as a "
                         "table in Markdown, and run nothing"),
                cl::cat(category));
static cl::list<std::string> dialectPlugins(
    "load-dialect-plugin",
    cl::desc("Load the dialects of a plugin, for quantizers that "
             "are not ours"),
    cl::cat(category));
static cl::opt<bool>
    printJson("json",
              cl::desc("Print one JSON object; a number that is infinite or "
                       "not defined is null"),
              cl::cat(category));

namespace {
enum class PointOrder { Program, Error };
} // namespace
static cl::opt<PointOrder> pointOrder(
    "sort", cl::desc("Order in which --compare prints the points:"),
    cl::init(PointOrder::Program),
    cl::values(clEnumValN(PointOrder::Program, "program",
                          "that of the program"),
               clEnumValN(PointOrder::Error, "error", "lowest SQNR first")),
    cl::cat(category));

static LogicalResult refuse(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return failure();
}

static LogicalResult refuse(llvm::Error error) {
  return refuse(llvm::toString(std::move(error)));
}

/// Loads a module from text or bytecode.
static OwningOpRef<ModuleOp> load(StringRef path, MLIRContext &context) {
  auto &files = *support::ContextObjects::find<support::MappedFiles>(&context);
  auto buffer = files.readModule(path);
  if (!buffer) {
    (void)refuse("cannot read '" + path +
                 "': " + llvm::toString(buffer.takeError()));
    return {};
  }
  auto sourceManager = std::make_shared<llvm::SourceMgr>();
  sourceManager->AddNewSourceBuffer(std::move(*buffer), SMLoc());
  SourceMgrDiagnosticHandler handler(*sourceManager, &context);
  // MLIR's reader refuses some bytecode without a diagnostic.
  bool isSilent = true;
  ScopedDiagnosticHandler listener(&context, [&](Diagnostic &) {
    isSilent = false;
    return failure();
  });
  auto module = parseSourceFile<ModuleOp>(sourceManager, &context);
  files.release();
  if (llvm::Error error = files.check()) {
    (void)refuse(std::move(error));
    return {};
  }
  if (!module && isSilent)
    (void)refuse("'" + path + "' is damaged bytecode");
  if (!module || failed(verifyShapes(*module)))
    return {};
  return module;
}

static double peakMegabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/// Returns the value, with NaN without its sign.
static double plain(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

static void printSteps(StringRef name, const execution::StepCounts &steps) {
  llvm::outs() << llvm::format("%-32s %12lld %12lld %12.6g\n",
                               name.str().c_str(), (long long)steps.values,
                               (long long)steps.differing, steps.largest);
}

static void printSums(StringRef name, const execution::ErrorSums &sums) {
  llvm::outs() << llvm::format("%-32s %10.2f %10.6f %12.4g\n",
                               name.str().c_str(), plain(sums.sqnr()),
                               plain(sums.cosine()), plain(sums.largest));
}

static void printHeader(const char *title) {
  llvm::outs() << llvm::format("%-32s %10s %10s %12s\n", title, "SQNR dB",
                               "cosine", "max error");
}

/// Prints the results and the groups of their channels.
static void printResults(ArrayRef<execution::ComparedResult> results) {
  if (results.empty())
    return;
  printHeader("result");
  for (const execution::ComparedResult &result : results) {
    printSums(result.name, result.sums);
    if (result.logits)
      printSums("  logits", *result.logits);
    for (const execution::ComparedGroup &group : result.groups)
      printSums("  " + group.name, group.sums);
  }
}

/// Prints a metric with its interval, and the loss compared to the reference.
static void printMetric(const execution::MetricResult &metric) {
  auto describe = [&](double value) {
    return execution::describeValue(value, metric.unit);
  };
  llvm::outs() << llvm::format("%-11s", (metric.name + " ").c_str())
               << describe(metric.value);
  if (metric.interval)
    llvm::outs() << " (95 %: " << describe(metric.interval->low) << " to "
                 << describe(metric.interval->high) << ')';
  llvm::outs() << '\n';
  if (metric.loss)
    llvm::outs() << "reference  " << describe(*metric.reference)
                 << "; the network " << execution::describeLoss(metric) << '\n';
}

static void print(const execution::Evaluation &results) {
  if (printJson) {
    llvm::json::OStream stream(llvm::outs(), /*IndentSize=*/1);
    stream.object([&] {
      execution::printMembers(stream, results);
      stream.attribute("peak_rss_mb", peakMegabytes());
    });
    llvm::outs() << '\n';
    return;
  }
  llvm::outs() << "samples    " << results.samples << '\n';
  if (results.top1)
    llvm::outs() << "top-1      "
                 << llvm::format("%.2f %%", 100 * *results.top1) << '\n';
  if (results.agreement)
    llvm::outs() << "agreement  "
                 << llvm::format("%.2f %%", 100 * *results.agreement) << '\n';
  if (results.metric)
    printMetric(*results.metric);
  llvm::outs() << "seconds    " << llvm::format("%.3f", results.seconds) << '\n'
               << "peak MB    " << llvm::format("%.0f", peakMegabytes())
               << '\n';
  if (!results.notCompared.empty())
    llvm::outs() << "not compared, as " << otherFile
                 << " has no value of that name and size: "
                 << llvm::join(results.notCompared, ", ") << '\n';
  if (!exact)
    printResults(results.results);
  if (results.points.empty())
    return;
  if (exact) {
    llvm::outs() << llvm::format("%-32s %12s %12s %12s\n", "point", "values",
                                 "differing", "max steps");
    for (const execution::ComparedPoint &point : results.points)
      printSteps(point.name, *point.steps);
    return printSteps("total", results.steps);
  }
  printHeader("point");
  for (const execution::ComparedPoint &point : results.points)
    printSums(point.name, point.sums);
}

/// Sorts by ascending SQNR, after points that have none. Sorts integers by the
/// number that differs, the largest first. The order of equal ones is kept.
static void sortByError(std::vector<execution::ComparedPoint> &points) {
  std::vector<std::pair<double, size_t>> keys;
  for (auto [index, point] : llvm::enumerate(points)) {
    double key = exact ? -double(point.steps->differing) : point.sums.sqnr();
    keys.emplace_back(std::isnan(key) ? -std::numeric_limits<double>::infinity()
                                      : key,
                      index);
  }
  llvm::sort(keys);
  std::vector<execution::ComparedPoint> sorted;
  for (auto [key, index] : keys)
    sorted.push_back(std::move(points[index]));
  points = std::move(sorted);
}

/// Checks the options of the report by themselves.
static LogicalResult checkReportOptions() {
  if (reportFile.empty()) {
    for (const cl::Option *option : std::initializer_list<const cl::Option *>{
             &integerFile, &reportSamples, &traceFile})
      if (option->getNumOccurrences())
        return refuse("--" + option->ArgStr + " needs --report");
    return success();
  }
  if (otherFile.empty())
    return refuse("--report needs --compare: the float module that the "
                  "quantized one was made of");
  if (exact)
    return refuse("--report does not go with --exact; it takes the quantized "
                  "module, and the integer one as --integer");
  if (!floatPoints.empty())
    return refuse("--report does not go with --float-points; it finds out by "
                  "itself what each point does");
  if (!outputFiles.empty())
    return refuse("--report does not go with --output; write the outputs with "
                  "a run of their own");
  return success();
}

static bool isSharded() { return !shardsIn.empty() || !shardsOut.empty(); }

/// Checks the options of shards by themselves.
static LogicalResult checkShardOptions() {
  if (!isSharded()) {
    if (!shardOf.empty())
      return refuse("--shard needs --shards-out: the file of that shard");
    return success();
  }
  if (!samplesFiles.empty() && shardsOut.empty())
    return refuse("--input beside --shards-in is a shard of the samples; give "
                  "--shards-out=FILE, too");
  if (!outputFiles.empty())
    return refuse("--output does not go with shards; write the outputs of each "
                  "with a run of its own");
  if (sampleLimit)
    return refuse("--samples counts the samples of one process; leave it out "
                  "where there are shards");
  std::vector<std::string> inputs =
      execution::SampleOptions::getPaths(samplesFiles);
  inputs.insert(inputs.end(), shardsIn.begin(), shardsIn.end());
  inputs.insert(inputs.end(), {inputFile, otherFile, integerFile, labelsFile,
                               traceFile, reportFile});
  if (!shardsOut.empty())
    if (llvm::Error error =
            support::checkOutputFiles({std::string(shardsOut)}, inputs))
      return refuse("--shards-out: " + llvm::toString(std::move(error)));
  return success();
}

/// Checks the options by themselves.
static LogicalResult checkOptions() {
  if ((inputFile == "-") + (otherFile == "-") + (integerFile == "-") > 1)
    return refuse("standard input can only be read once");
  if (failed(checkReportOptions()) || failed(checkShardOptions()))
    return failure();
  if (pointOrder.getNumOccurrences() && otherFile.empty())
    return refuse("--sort needs --compare");
  if (!metricName.empty() && labelsFile.empty() && shardsIn.empty())
    return refuse("--metric needs --labels: what is right of each sample");
  if (!metricName.empty() && exact)
    return refuse("--metric does not go with --exact, which compares integers; "
                  "--compare without it takes the float module");
  if (exact && otherFile.empty())
    return refuse("--exact needs --compare: the module that simulates");
  if (local && !exact)
    return refuse("--local needs --exact");
  if (samplesFiles.empty() && !isSharded())
    return refuse("--input is missing: the samples to run on; --signature "
                  "prints what the inputs are");
  std::vector<std::string> inputs =
      execution::SampleOptions::getPaths(samplesFiles);
  inputs.insert(inputs.end(),
                {inputFile, otherFile, integerFile, labelsFile, traceFile});
  if (llvm::Error error = support::checkOutputFiles(outputFiles, inputs))
    return refuse("--output: " + llvm::toString(std::move(error)));
  if (!reportFile.empty())
    if (llvm::Error error =
            support::checkOutputFiles({std::string(reportFile)}, inputs))
      return refuse("--report: " + llvm::toString(std::move(error)));
  return success();
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

static void printSignature(StringRef title,
                           ArrayRef<execution::Signature::Entry> entries) {
  for (const execution::Signature::Entry &entry : entries) {
    llvm::outs() << title << "  " << entry.name << "  " << entry.type;
    if (entry.stored)
      llvm::outs() << llvm::format("  scale %.17g  zero point %lld  bits %lld",
                                   entry.stored->scale,
                                   (long long)entry.stored->zeroPoint,
                                   (long long)entry.stored->bits)
                   << (entry.stored->isSigned ? "" : "  unsigned");
    if (entry.preprocessing)
      execution::forEachPart(
          *entry.preprocessing,
          [](StringRef key, ArrayRef<double> values) {
            llvm::outs() << "  sample " << key;
            for (double value : values)
              llvm::outs() << llvm::format(" %.17g", value);
          },
          [](StringRef key, ArrayRef<int64_t> values) {
            llvm::outs() << "  sample " << key;
            for (int64_t value : values)
              llvm::outs() << ' ' << value;
          });
    llvm::outs() << '\n';
  }
}

/// Prints names, types and records of the function's inputs and outputs.
static LogicalResult printSignature(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = load(inputFile, context);
  if (!module)
    return failure();
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler(sourceManager, &context);
  FailureOr<execution::Signature> found =
      execution::readSignature(*module, functionName);
  if (failed(found))
    return failure();
  if (printJson) {
    llvm::json::OStream stream(llvm::outs(), /*IndentSize=*/1);
    execution::print(stream, *found);
    llvm::outs() << '\n';
    return success();
  }
  llvm::outs() << "function  " << found->function << '\n';
  printSignature("input   ", found->inputs);
  printSignature("output  ", found->outputs);
  return success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Reports the findings of --exact other than numbers.
static LogicalResult judge(const execution::Evaluation &results) {
  LogicalResult verdict = success();
  if (!results.notCompared.empty())
    verdict = refuse("--exact: " + otherFile +
                     " has no value of the name and size of " +
                     llvm::join(results.notCompared, ", "));
  if (results.steps.differing)
    verdict = refuse(
        "--exact: " + Twine(results.steps.differing) + " of " +
        Twine(results.steps.values) + " values differ from those of " +
        otherFile +
        (local ? "" : "; with --local they are counted where they arise"));
  return verdict;
}

static llvm::Expected<report::Trace> readTrace() {
  auto buffer = support::readInputFile(traceFile);
  if (!buffer)
    return buffer.takeError();
  return report::parseTrace((*buffer)->getBuffer());
}

/// Makes the report and writes it.
static LogicalResult writeReport(ModuleOp module, ModuleOp floating,
                                 ModuleOp integer,
                                 const execution::RunSettings &settings,
                                 bool hasLabels, execution::Shards *shards,
                                 support::OutputFile &file) {
  std::optional<report::Trace> trace;
  if (!traceFile.empty()) {
    llvm::Expected<report::Trace> found = readTrace();
    if (!found)
      return refuse("--trace: '" + traceFile +
                    "': " + llvm::toString(found.takeError()));
    trace = std::move(*found);
  }
  report::AnalyseInputs inputs;
  inputs.trace = trace ? &*trace : nullptr;
  inputs.quantized = module;
  inputs.floating = floating;
  inputs.integer = integer;
  inputs.name = inputFile;
  inputs.floatName = otherFile;
  inputs.integerName = integerFile;
  inputs.function = functionName;
  inputs.settings = settings;
  inputs.labelsFile = labelsFile;
  inputs.metric = metricName;
  inputs.effectSamples = int64_t(reportSamples);
  inputs.shards = shards;
  inputs.hasLabels = hasLabels;
  FailureOr<report::Report> made = report::analyse(inputs);
  if (failed(made))
    return failure();
  {
    llvm::json::OStream stream(file);
    report::print(stream, *made);
  }
  file << '\n';
  if (llvm::Error error = file.keep())
    return refuse(std::move(error));
  return success();
}

static LogicalResult openShards(ModuleOp module,
                                std::optional<execution::Shards> &shards) {
  if (!isSharded())
    return success();
  execution::Shards::Options options;
  options.in.assign(shardsIn.begin(), shardsIn.end());
  options.out = shardsOut;
  options.shard = shardOf;
  options.hasSamples = !samplesFiles.empty();
  FailureOr<execution::Shards> opened =
      execution::Shards::open(module, options);
  if (failed(opened))
    return failure();
  shards = std::move(*opened);
  return success();
}

/// Evaluates all samples, or those of a shard; returns none if the results of
/// other shards are missing. Sets whether there are labels.
static FailureOr<std::optional<execution::Evaluation>>
evaluate(ModuleOp module, ModuleOp reference,
         const execution::RunSettings &settings,
         execution::EvaluationOptions &options,
         std::optional<execution::Shards> &shards) {
  options.hasLabels = !labelsFile.empty();
  if (!shards) {
    FailureOr<execution::Evaluation> found =
        execution::evaluate(module, reference, settings, options);
    if (failed(found))
      return failure();
    return std::optional(std::move(*found));
  }
  // Without samples, the files record whether the shards had labels.
  if (!shards->canMeasure())
    options.hasLabels = execution::haveLabels(*shards);
  auto found =
      execution::evaluateShards(*shards, module, reference, settings, options);
  if (succeeded(found) && *found && reportFile.empty() &&
      failed(shards->checkOthers(execution::kEvaluationPart)))
    return failure();
  return found;
}

static LogicalResult run(MLIRContext &context, support::MappedFiles &files) {
  const std::pair<bool, void (*)(llvm::json::OStream &)> schemas[] = {
      {reportSchema, report::printSchema},
      {traceSchema, report::printTraceSchema},
      {comparisonSchema, report::printComparisonSchema}};
  for (auto [isRequested, printOne] : schemas) {
    if (!isRequested)
      continue;
    llvm::json::OStream stream(llvm::outs(), /*IndentSize=*/1);
    printOne(stream);
    llvm::outs() << '\n';
    return success();
  }
  if (reportRules) {
    report::printRules(llvm::outs());
    return success();
  }
  if (listMetrics) {
    for (const auto &[name, meaning] : execution::Metric::list())
      llvm::outs() << llvm::format("%-11s", name.c_str()) << meaning << '\n';
    return success();
  }
  if (inputFile.empty())
    return refuse("a module is missing: the network to run");
  if (signature)
    return printSignature(context);
  if (failed(checkOptions()))
    return failure();
  OwningOpRef<ModuleOp> module = load(inputFile, context), reference, integer;
  if (!module)
    return failure();
  if (!otherFile.empty()) {
    reference = load(otherFile, context);
    if (!reference)
      return failure();
  }
  if (!integerFile.empty()) {
    integer = load(integerFile, context);
    if (!integer)
      return failure();
  }
  // Diagnostics refer to locations inside the modules.
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler(sourceManager, &context);
  support::OutputFile file(reportFile);
  if (!reportFile.empty())
    if (llvm::Error error = file.open())
      return refuse(std::move(error));
  FailureOr<execution::RunSettings> settings = execution::RunSettings::parse(
      module->getLoc(), samplesFiles, inputScale, inputOffset, sampleLimit,
      batchSize, numThreads, maxMemory);
  if (failed(settings))
    return failure();
  execution::EvaluationOptions options;
  options.function = functionName;
  options.name = inputFile;
  options.referenceName = otherFile;
  options.floatPoints.assign(floatPoints.begin(), floatPoints.end());
  options.labelsFile = labelsFile;
  options.metric = metricName;
  options.outputFiles.assign(outputFiles.begin(), outputFiles.end());
  options.exact = exact;
  options.local = local;
  std::optional<execution::Shards> shards;
  if (failed(openShards(*module, shards)))
    return failure();
  FailureOr<std::optional<execution::Evaluation>> results = evaluate(
      *module, reference ? *reference : ModuleOp(), *settings, options, shards);
  if (llvm::Error error = files.check())
    return refuse(std::move(error));
  if (failed(results))
    return failure();
  if (!reportFile.empty() &&
      failed(writeReport(*module, *reference, integer ? *integer : ModuleOp(),
                         *settings, options.hasLabels,
                         shards ? &*shards : nullptr, file)))
    return failure();
  if (!*results)
    return shards->stop(execution::kEvaluationPart);
  if (pointOrder == PointOrder::Error)
    sortByError((*results)->points);
  print(**results);
  return exact ? judge(**results) : success();
}

int main(int argc, char **argv) {
  tools::StartTool started(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Run a module of any stage on .npy samples\n");
  DialectRegistry dependencies;
  Executor::registerDependencies(dependencies);
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<tpc::TpcDialect>();
  dependencies.appendTo(registry);
  for (const std::string &path : dialectPlugins) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin) {
      (void)refuse(plugin.takeError());
      return EXIT_FAILURE;
    }
    plugin->registerDialectRegistryCallbacks(registry);
  }
  support::MappedFiles files;
  tools::BusErrors busErrors(files);
  // The context's own threads must not be refused.
  bool threads = support::canRunThreads(support::Threads().count());
  MLIRContext context(registry, threads ? MLIRContext::Threading::ENABLED
                                        : MLIRContext::Threading::DISABLED);
  // Diagnostics describe the error; the op may hold a megabyte of weights.
  context.printOpOnDiagnostic(false);
  for (StringRef name : dependencies.getDialectNames())
    context.getOrLoadDialect(name);
  execution::ShardState shards;
  execution::ShardStateScope shardScope(&context, shards);
  support::ContextScope<support::MappedFiles> fileScope(&context, files);
  return succeeded(run(context, files)) ? EXIT_SUCCESS
                                        : tools::endWithShards(shards);
}
