// SPDX-License-Identifier: Apache-2.0
//
// Runs a function of a module on .npy samples: accuracy, outputs, and distances
// to another module.
#include "Comparison.h"
#include "mct/Analysis/Names.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Npy.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/SampleSource.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <sys/resource.h>

using namespace mlir;
using namespace mct;
namespace cl = llvm::cl;
using execution::ElementType;
using execution::Executor;

static cl::OptionCategory category("mct-run options");
static cl::opt<std::string> inputFile(cl::Positional, cl::Required,
                                      cl::desc("<module>"), cl::cat(category));
static cl::list<std::string>
    samplesFiles("input", cl::CommaSeparated, cl::OneOrMore,
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
static cl::opt<std::string> labelsFile("labels",
                                       cl::desc("Integer labels: print top-1"),
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
static cl::opt<uint64_t> sampleLimit("samples",
                                     cl::desc("Read that many samples; 0: all"),
                                     cl::init(0), cl::cat(category));
static cl::opt<uint64_t>
    batchSize("batch-size",
              cl::desc("Samples that a worker takes at once; 0: automatic"),
              cl::init(0), cl::cat(category));
static cl::opt<unsigned> numThreads("num-threads",
                                    cl::desc("Worker threads; 0: one per core"),
                                    cl::init(0), cl::cat(category));
static cl::opt<std::string> functionName("function",
                                         cl::desc("Function to run"),
                                         cl::init("main"), cl::cat(category));
static cl::opt<bool> printJson("json", cl::desc("Print one JSON object"),
                               cl::cat(category));

static LogicalResult report(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return failure();
}

static LogicalResult report(llvm::Error error) {
  return report(llvm::toString(std::move(error)));
}

/// A module from text or bytecode, its values named.
static OwningOpRef<ModuleOp> load(StringRef path, MLIRContext &context) {
  std::string message;
  auto buffer = openInputFile(path, &message);
  if (!buffer) {
    (void)report(message);
    return {};
  }
  auto sourceManager = std::make_shared<llvm::SourceMgr>();
  sourceManager->AddNewSourceBuffer(std::move(buffer), SMLoc());
  SourceMgrDiagnosticHandler handler(*sourceManager, &context);
  auto module = parseSourceFile<ModuleOp>(sourceManager, &context);
  if (module)
    for (auto function : module->getOps<func::FuncOp>())
      assignNames(function);
  return module;
}

static FailureOr<std::unique_ptr<Executor>>
compile(ModuleOp module, const execution::CompileOptions &options) {
  // Diagnostics of the compiler speak of locations inside the module.
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler(sourceManager, module.getContext());
  return Executor::compile(module, options);
}

/// Index of the largest of `count` elements, the first of equals.
static int64_t argmax(const execution::TensorSpec &output, const void *data,
                      int64_t sample, int64_t count) {
  auto largest = [&](auto *typed) -> int64_t {
    auto *begin = typed + sample * count;
    return std::max_element(begin, begin + count) - begin;
  };
  Type type = output.type.getElementType();
  if (type.isF32())
    return largest(static_cast<const float *>(data));
  if (type.isInteger(8))
    return type.isUnsignedInteger()
               ? largest(static_cast<const uint8_t *>(data))
               : largest(static_cast<const int8_t *>(data));
  if (type.isInteger(16))
    return largest(static_cast<const int16_t *>(data));
  return largest(static_cast<const int32_t *>(data));
}

static bool isComparable(const execution::TensorSpec &output) {
  Type type = output.type.getElementType();
  return type.isF32() || type.isInteger(8) || type.isInteger(16) ||
         type.isInteger(32);
}

static llvm::Expected<std::vector<int64_t>> readLabels(StringRef path) {
  auto file = execution::NpyFile::open(path);
  if (!file)
    return file.takeError();
  std::vector<int64_t> labels((*file)->numElements());
  auto convert = [&](auto zero) {
    for (auto [index, label] : llvm::enumerate(labels)) {
      decltype(zero) value;
      std::memcpy(&value, (*file)->data() + index * sizeof(value),
                  sizeof(value));
      label = int64_t(value);
    }
  };
  switch ((*file)->elementType()) {
  case ElementType::U8:
    convert(uint8_t());
    break;
  case ElementType::I8:
    convert(int8_t());
    break;
  case ElementType::I32:
    convert(int32_t());
    break;
  case ElementType::I64:
    convert(int64_t());
    break;
  default:
    return llvm::createStringError(
        path + ": expected integer labels (u8, i8, i32 or i64), found " +
        execution::getName((*file)->elementType()));
  }
  return labels;
}

static std::optional<ElementType> getFileType(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? ElementType::U8 : ElementType::I8;
  if (type.isInteger(16))
    return ElementType::I16;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64))
    return ElementType::I64;
  return std::nullopt;
}

namespace {
/// Writes one output in the order of the samples, whichever worker is first.
class OutputStream {
public:
  OutputStream(std::unique_ptr<execution::NpyWriter> writer, size_t sampleBytes)
      : writer(std::move(writer)), sampleBytes(sampleBytes) {}

  void add(int64_t unit, const void *data, int64_t samples) {
    std::lock_guard<std::mutex> lock(mutex);
    auto *bytes = static_cast<const char *>(data);
    waiting[unit].assign(bytes, bytes + samples * sampleBytes);
    while (!waiting.empty() && waiting.begin()->first == next) {
      const std::vector<char> &ready = waiting.begin()->second;
      writer->write(ready.data(), ready.size());
      waiting.erase(waiting.begin());
      ++next;
    }
  }

  llvm::Error commit() { return writer->commit(); }

private:
  std::unique_ptr<execution::NpyWriter> writer;
  size_t sampleBytes;
  std::mutex mutex;
  std::map<int64_t, std::vector<char>> waiting;
  int64_t next = 0;
};

/// Correct and agreeing answers of one worker.
struct Counts {
  int64_t correct = 0, agreeing = 0;
};

struct Results {
  int64_t samples = 0;
  double seconds = 0;
  std::optional<double> top1, agreement;
  std::vector<std::pair<std::string, ErrorSums>> points;
};
} // namespace

static double peakMegabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

static void print(const Results &results) {
  if (printJson) {
    llvm::json::OStream stream(llvm::outs(), /*IndentSize=*/1);
    stream.object([&] {
      stream.attribute("samples", results.samples);
      if (results.top1)
        stream.attribute("top1", *results.top1);
      if (results.agreement)
        stream.attribute("agreement", *results.agreement);
      stream.attribute("seconds", results.seconds);
      stream.attribute("peak_rss_mb", peakMegabytes());
      if (!otherFile.empty())
        stream.attributeArray("points", [&] {
          for (const auto &point : results.points)
            stream.object([&] {
              const ErrorSums &sums = point.second;
              stream.attribute("name", point.first);
              // JSON has no infinity: equal values have no noise to speak of.
              if (std::isfinite(sums.sqnr()))
                stream.attribute("sqnr_db", sums.sqnr());
              else
                stream.attribute("sqnr_db", nullptr);
              stream.attribute("cosine", sums.cosine());
              stream.attribute("max_error", sums.largest);
            });
        });
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
  llvm::outs() << "seconds    " << llvm::format("%.3f", results.seconds) << '\n'
               << "peak MB    " << llvm::format("%.0f", peakMegabytes())
               << '\n';
  if (results.points.empty())
    return;
  llvm::outs() << llvm::format("%-32s %10s %10s %12s\n", "point", "SQNR dB",
                               "cosine", "max error");
  for (const auto &[name, sums] : results.points)
    llvm::outs() << llvm::format("%-32s %10.2f %10.6f %12.4g\n", name.c_str(),
                                 sums.sqnr(), sums.cosine(), sums.largest);
}

static LogicalResult run(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = load(inputFile, context);
  if (!module)
    return failure();
  execution::CompileOptions options;
  options.function = functionName;
  options.observeAllPoints = !otherFile.empty();
  FailureOr<std::unique_ptr<Executor>> executor = compile(*module, options);
  if (failed(executor))
    return failure();

  OwningOpRef<ModuleOp> otherModule;
  std::unique_ptr<Executor> other;
  if (!otherFile.empty()) {
    otherModule = load(otherFile, context);
    if (!otherModule)
      return failure();
    execution::CompileOptions otherOptions;
    otherOptions.function = functionName;
    otherOptions.ignoreUnknownNames = true;
    otherOptions.unit = (*executor)->unit();
    for (const execution::TensorSpec &point : (*executor)->observed())
      otherOptions.observed.push_back(point.name);
    FailureOr<std::unique_ptr<Executor>> compiled =
        compile(*otherModule, otherOptions);
    if (failed(compiled))
      return failure();
    other = std::move(*compiled);
    auto sameTypes = [](ArrayRef<execution::TensorSpec> left,
                        ArrayRef<execution::TensorSpec> right) {
      return left.size() == right.size() &&
             llvm::all_of(llvm::zip_equal(left, right), [](auto pair) {
               return std::get<0>(pair).type == std::get<1>(pair).type;
             });
    };
    if (other->unit() != (*executor)->unit() ||
        !sameTypes(other->inputs(), (*executor)->inputs()))
      return report(otherFile + ": its inputs are not those of " + inputFile);
  }

  auto sampleOptions = execution::SampleOptions::parse(
      samplesFiles, inputScale, inputOffset, sampleLimit);
  if (!sampleOptions)
    return report(sampleOptions.takeError());
  auto samples = execution::SampleSource::open(
      *sampleOptions, (*executor)->inputs(), (*executor)->unit());
  if (!samples)
    return report(samples.takeError());

  Results results;
  results.samples = (*samples)->numSamples();
  ArrayRef<execution::TensorSpec> outputs = (*executor)->outputs();
  int64_t unit = (*executor)->unit();
  int64_t classes =
      outputs.empty() ? 0 : outputs.front().type.getNumElements() / unit;
  bool hasAnswers = !outputs.empty() && isComparable(outputs.front());

  std::vector<int64_t> labels;
  if (!labelsFile.empty()) {
    auto read = readLabels(labelsFile);
    if (!read)
      return report(read.takeError());
    labels = std::move(*read);
    if (int64_t(labels.size()) < results.samples)
      return report(labelsFile + ": expected " + Twine(results.samples) +
                    " labels, found " + Twine(labels.size()));
    if (!hasAnswers)
      return report("--labels needs an output of numbers");
  }
  if (!outputFiles.empty() && outputFiles.size() != outputs.size())
    return report("--output: expected " + Twine(outputs.size()) +
                  " files, one for each output, but got " +
                  Twine(outputFiles.size()));
  std::vector<std::unique_ptr<OutputStream>> streams;
  for (auto [index, path] : llvm::enumerate(outputFiles)) {
    RankedTensorType type = outputs[index].type;
    std::optional<ElementType> fileType = getFileType(type.getElementType());
    if (!fileType || type.getRank() == 0 || type.getDimSize(0) % unit != 0)
      return report(path + ": cannot write an output of type " +
                    llvm::formatv("{0}", Type(type)).str());
    SmallVector<int64_t> shape(type.getShape());
    shape[0] = type.getDimSize(0) / unit * results.samples;
    auto writer = execution::NpyWriter::create(path, *fileType, shape);
    if (!writer)
      return report(writer.takeError());
    streams.push_back(std::make_unique<OutputStream>(
        std::move(*writer),
        type.getNumElements() / unit * execution::getByteSize(*fileType)));
  }

  execution::RunOptions runOptions;
  runOptions.threads = numThreads;
  runOptions.batchSize = int64_t(uint64_t(batchSize));
  size_t workers = execution::numWorkers(**executor, **samples, runOptions);
  std::vector<Counts> counts(workers);
  std::optional<Comparison> comparison;
  if (other)
    comparison.emplace(**executor, *other, workers,
                       (results.samples + unit - 1) / unit);
  bool canAgree = other && hasAnswers && !other->outputs().empty() &&
                  isComparable(other->outputs().front()) &&
                  other->outputs().front().type.getNumElements() ==
                      outputs.front().type.getNumElements();

  auto start = std::chrono::steady_clock::now();
  llvm::Error error = execution::forEachUnit(
      **executor, **samples, runOptions,
      [&](size_t index, execution::Worker &worker) {
        if (comparison)
          comparison->setUp(index, worker);
      },
      [&](const execution::Unit &done) -> llvm::Error {
        if (comparison)
          comparison->compare(done);
        Counts &own = counts[done.worker];
        for (int64_t sample = 0; sample != done.validSamples; ++sample) {
          if (labels.empty() && !canAgree)
            break;
          int64_t answer =
              argmax(outputs.front(), done.outputs.front(), sample, classes);
          if (!labels.empty())
            own.correct += answer == labels[done.firstSample + sample];
          if (canAgree)
            own.agreeing +=
                answer ==
                argmax(other->outputs().front(),
                       comparison->referenceOutputs(done.worker).front(),
                       sample, classes);
        }
        for (auto [index, stream] : llvm::enumerate(streams))
          stream->add(done.index, done.outputs[index], done.validSamples);
        return llvm::Error::success();
      });
  if (error)
    return report(std::move(error));
  results.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  for (const std::unique_ptr<OutputStream> &stream : streams)
    if (llvm::Error failed = stream->commit())
      return report(std::move(failed));

  Counts total;
  for (const Counts &own : counts) {
    total.correct += own.correct;
    total.agreeing += own.agreeing;
  }
  if (!labels.empty())
    results.top1 = double(total.correct) / double(results.samples);
  if (canAgree)
    results.agreement = double(total.agreeing) / double(results.samples);
  if (comparison)
    results.points = comparison->results();
  print(results);
  return success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialized(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Run a module of any stage on .npy samples\n");
  DialectRegistry dependencies;
  Executor::registerDependencies(dependencies);
  DialectRegistry registry;
  registerAllDialects(registry);
  registry.insert<tpc::TpcDialect>();
  dependencies.appendTo(registry);
  MLIRContext context(registry);
  for (StringRef name : dependencies.getDialectNames())
    context.getOrLoadDialect(name);
  return succeeded(run(context)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
