// SPDX-License-Identifier: Apache-2.0
//
// Runs a function of a module on .npy samples: accuracy, outputs, and distances
// to another module.
#include "mct/Analysis/EntryFunction.h"
#include "mct/Analysis/Names.h"
#include "mct/Analysis/QuantizedValues.h"
#include "mct/Analysis/Shapes.h"
#include "mct/Execution/Comparison.h"
#include "mct/Execution/Executor.h"
#include "mct/Execution/Npy.h"
#include "mct/Execution/Run.h"
#include "mct/Execution/RunCache.h"
#include "mct/Execution/SampleSource.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/Threads.h"
#include "mct/Transforms/Passes.h"
#include "mlir/IR/AsmState.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/GlobPattern.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>
#include <cmath>
#include <csignal>
#include <limits>
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
static cl::opt<bool> signature(
    "signature",
    cl::desc("Print inputs and outputs, and what their integers stand "
             "for, and run nothing"),
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
static cl::opt<std::string> maxMemory(
    "max-memory",
    cl::desc("Refuse a network that needs more bytes to run, or K, M, "
             "G of them; default: what the machine has"),
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

static LogicalResult report(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return failure();
}

static LogicalResult report(llvm::Error error) {
  return report(llvm::toString(std::move(error)));
}

/// A module from text or bytecode, its values named. `records`: what the
/// function that is run says of its integers, by names that are in the file.
static OwningOpRef<ModuleOp>
load(StringRef path, MLIRContext &context,
     std::vector<RecordedValue> *records = nullptr) {
  auto buffer = support::readInputFile(path);
  if (!buffer) {
    (void)report("cannot read '" + path +
                 "': " + llvm::toString(buffer.takeError()));
    return {};
  }
  auto sourceManager = std::make_shared<llvm::SourceMgr>();
  sourceManager->AddNewSourceBuffer(std::move(*buffer), SMLoc());
  SourceMgrDiagnosticHandler handler(*sourceManager, &context);
  // MLIR's reader of bytecode refuses some without a word.
  bool isSilent = true;
  ScopedDiagnosticHandler listener(&context, [&](Diagnostic &) {
    isSilent = false;
    return failure();
  });
  auto module = parseSourceFile<ModuleOp>(sourceManager, &context);
  if (!module && isSilent)
    (void)report("'" + path + "' is damaged bytecode");
  if (!module || failed(verifyShapes(*module)))
    return {};
  if (records) {
    FailureOr<func::FuncOp> entry = findEntryFunction(*module, functionName);
    if (failed(entry))
      return {};
    FailureOr<std::vector<RecordedValue>> found = findRecordedValues(*entry);
    if (failed(found))
      return {};
    *records = std::move(*found);
  }
  for (auto function : module->getOps<func::FuncOp>())
    assignNames(function);
  return module;
}

/// The points of the function that --float-points names do not quantize.
static LogicalResult switchOff(func::FuncOp function,
                               execution::CompileOptions &options) {
  for (const std::string &text : floatPoints) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return report("--float-points: '" + text +
                    "': " + llvm::toString(pattern.takeError()));
    bool isFound = false;
    function.walk([&](tpc::QuantizeOp point) {
      std::string name = point.getUniqueName();
      if (!pattern->match(name))
        return;
      isFound = true;
      options.quantizers[name] = Attribute();
    });
    if (!isFound)
      return report("--float-points: no point is named '" + text + "'");
  }
  return success();
}

/// Compiles the function that was asked for.
static FailureOr<execution::NetworkRun>
prepare(ModuleOp module, execution::CompileOptions options,
        const execution::RunSettings &settings,
        std::shared_ptr<const execution::SampleSource> samples = nullptr,
        bool isReference = false) {
  FailureOr<func::FuncOp> entry = findEntryFunction(module, functionName);
  if (failed(entry))
    return failure();
  options.function = entry->getSymName().str();
  if (!isReference && failed(switchOff(*entry, options)))
    return failure();
  return execution::NetworkRun::prepare(module, options, settings,
                                        std::move(samples));
}

/// Which values of `module` are values of `other` with their axes in another
/// order, as mct-move-transposes leaves them: as their locations say, or, as
/// text without locations only has their names, as the pass does it in `other`.
static execution::TransposedNames
findTransposed(ModuleOp module, ArrayRef<execution::ComparedValue> values,
               ModuleOp other) {
  execution::TransposedNames names;
  auto collect = [&](ModuleOp from) {
    from.walk([&](Operation *op) {
      auto point = dyn_cast<tpc::QuantizeOp>(op);
      StringAttr name = getName(op->getLoc());
      if (std::optional<TransposedName> found = getTransposed(op->getLoc()))
        names.try_emplace(point ? point.getUniqueName() : name.str(), *found);
    });
  };
  collect(module);
  if (llvm::all_of(values, [&](const auto &value) {
        return names.contains(value.name) || !isTransposedName(value.name);
      }))
    return names;
  OwningOpRef<ModuleOp> moved = other.clone();
  PassManager manager(other.getContext());
  manager.addNestedPass<func::FuncOp>(createFoldConstantsPass());
  manager.addNestedPass<func::FuncOp>(createMoveTransposesPass());
  if (succeeded(manager.run(*moved)))
    collect(*moved);
  return names;
}

/// Index of the largest of `count` elements, the first of equals; -1 where one
/// is NaN.
static int64_t argmax(const execution::TensorSpec &output, const void *data,
                      int64_t sample, int64_t count) {
  auto largest = [&](auto *typed) -> int64_t {
    auto *begin = typed + sample * count;
    // NaN alone differs from itself.
    if (std::any_of(begin, begin + count, [](auto x) { return x != x; }))
      return -1;
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

/// Whether an output has the same number of comparable elements for each sample
/// of a unit.
static bool hasAnswers(const execution::TensorSpec &output, int64_t unit) {
  Type type = output.type.getElementType();
  return (type.isF32() || type.isInteger(8) || type.isInteger(16) ||
          type.isInteger(32)) &&
         output.type.getNumElements() > 0 &&
         output.type.getNumElements() % unit == 0;
}

/// Whether the elements of a sample are one score for each class.
static bool hasScores(const execution::TensorSpec &output, int64_t unit) {
  if (!hasAnswers(output, unit) || output.type.getRank() == 0 ||
      output.type.getDimSize(0) % unit != 0)
    return false;
  int64_t classes = output.type.getNumElements() / unit;
  return output.type.getDimSize(0) / unit == classes ||
         llvm::is_contained(output.type.getShape().drop_front(), classes);
}

/// One class for each of the samples that are run; the file may have those of
/// all samples.
static llvm::Expected<std::vector<int64_t>>
readLabels(StringRef path, const execution::SampleSource &samples,
           int64_t classes) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(path + ": " + message);
  };
  auto file = execution::NpyFile::open(path);
  if (!file)
    return file.takeError();
  std::vector<int64_t> labels;
  auto convert = [&](auto zero) -> llvm::Error {
    auto values = (*file)->readAll<decltype(zero)>();
    if (!values)
      return values.takeError();
    labels.assign(values->begin(), values->end());
    return llvm::Error::success();
  };
  auto read = [&]() -> llvm::Error {
    switch ((*file)->elementType()) {
    case ElementType::U8:
      return convert(uint8_t());
    case ElementType::I8:
      return convert(int8_t());
    case ElementType::U16:
      return convert(uint16_t());
    case ElementType::I16:
      return convert(int16_t());
    case ElementType::U32:
      return convert(uint32_t());
    case ElementType::I32:
      return convert(int32_t());
    case ElementType::I64:
      return convert(int64_t());
    default:
      return fail("expected integer labels, found " +
                  execution::getName((*file)->elementType()));
    }
  };
  ArrayRef<int64_t> shape = (*file)->shape();
  if (shape.empty() || (*file)->numElements() != shape.front())
    return fail("expected one class number for each sample, shape N or Nx1, "
                "found shape " +
                (shape.empty()
                     ? "of a scalar"
                     : llvm::join(llvm::map_range(shape,
                                                  [](int64_t size) {
                                                    return std::to_string(size);
                                                  }),
                                  "x")));
  if (shape.front() != samples.numAvailable() &&
      shape.front() != samples.numSamples())
    return fail("expected " + Twine(samples.numAvailable()) +
                " labels, found " + Twine(shape.front()));
  if (llvm::Error error = read())
    return std::move(error);
  for (auto [index, label] : llvm::enumerate(labels))
    if (label < 0 || label >= classes)
      return fail("expected classes in [0, " + Twine(classes) +
                  "), as many as the output has scores, found " + Twine(label) +
                  " at " + Twine(index));
  return labels;
}

static std::optional<ElementType> getFileType(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isInteger(1))
    return ElementType::Bool;
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
  std::vector<execution::ComparedPoint> points;
  /// Of all points that are stored as integers.
  execution::StepCounts steps;
  /// Points that the other module does not have.
  std::vector<std::string> notCompared;
};
} // namespace

static double peakMegabytes() {
  rusage usage;
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_maxrss) / 1024;
}

/// JSON has neither infinity nor NaN.
static llvm::json::Value jsonNumber(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

/// A NaN without a sign.
static double plain(double value) {
  return std::isnan(value) ? std::numeric_limits<double>::quiet_NaN() : value;
}

static void printSteps(llvm::json::OStream &stream,
                       const execution::StepCounts &steps) {
  stream.attribute("values", steps.values);
  stream.attribute("differing", steps.differing);
  stream.attribute("max_steps", jsonNumber(steps.largest));
}

static void printSteps(StringRef name, const execution::StepCounts &steps) {
  llvm::outs() << llvm::format("%-32s %12lld %12lld %12.6g\n",
                               name.str().c_str(), (long long)steps.values,
                               (long long)steps.differing, steps.largest);
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
              const execution::ErrorSums &sums = point.sums;
              stream.attribute("name", point.name);
              if (exact)
                return printSteps(stream, *point.steps);
              stream.attribute("sqnr_db", jsonNumber(sums.sqnr()));
              stream.attribute("cosine", jsonNumber(sums.cosine()));
              stream.attribute("max_error", jsonNumber(sums.largest));
            });
        });
      if (exact)
        stream.attributeObject("total",
                               [&] { printSteps(stream, results.steps); });
      if (!otherFile.empty())
        stream.attributeArray("not_compared", [&] {
          for (const std::string &name : results.notCompared)
            stream.value(name);
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
  if (!results.notCompared.empty())
    llvm::outs() << "not compared, as " << otherFile
                 << " has no value of that name and size: "
                 << llvm::join(results.notCompared, ", ") << '\n';
  if (results.points.empty())
    return;
  if (exact) {
    llvm::outs() << llvm::format("%-32s %12s %12s %12s\n", "point", "values",
                                 "differing", "max steps");
    for (const execution::ComparedPoint &point : results.points)
      printSteps(point.name, *point.steps);
    return printSteps("total", results.steps);
  }
  llvm::outs() << llvm::format("%-32s %10s %10s %12s\n", "point", "SQNR dB",
                               "cosine", "max error");
  for (const auto &[name, sums, steps] : results.points)
    llvm::outs() << llvm::format("%-32s %10.2f %10.6f %12.4g\n", name.c_str(),
                                 plain(sums.sqnr()), plain(sums.cosine()),
                                 plain(sums.largest));
}

/// Lowest SQNR first, and before it what has none; of integers those of which
/// the most differ. Equals stay in order.
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

/// What the options say on their own.
static LogicalResult checkOptions() {
  if (inputFile == "-" && otherFile == "-")
    return report("standard input can only be read once");
  if (pointOrder.getNumOccurrences() && otherFile.empty())
    return report("--sort needs --compare");
  if (exact && otherFile.empty())
    return report("--exact needs --compare: the module that simulates");
  if (local && !exact)
    return report("--local needs --exact");
  if (samplesFiles.empty())
    return report("--input is missing: the samples to run on; --signature "
                  "prints what the inputs are");
  std::vector<std::string> inputs =
      execution::SampleOptions::getPaths(samplesFiles);
  inputs.insert(inputs.end(), {inputFile, otherFile, labelsFile});
  if (llvm::Error error = support::checkOutputFiles(outputFiles, inputs))
    return report("--output: " + llvm::toString(std::move(error)));
  return success();
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

namespace {
struct SignatureEntry {
  std::string name;
  Type type;
  std::optional<QuantizedValue> stored;
};
} // namespace

static void printSignature(StringRef title, ArrayRef<SignatureEntry> entries) {
  for (const SignatureEntry &entry : entries) {
    llvm::outs() << title << "  " << entry.name << "  " << entry.type;
    if (entry.stored)
      llvm::outs() << llvm::format("  scale %.17g  zero point %lld  bits %lld",
                                   entry.stored->scale,
                                   (long long)entry.stored->zeroPoint,
                                   (long long)entry.stored->bits)
                   << (entry.stored->isSigned ? "" : "  unsigned");
    llvm::outs() << '\n';
  }
}

static void printSignature(llvm::json::OStream &stream, StringRef key,
                           ArrayRef<SignatureEntry> entries) {
  stream.attributeArray(key, [&] {
    for (const SignatureEntry &entry : entries)
      stream.object([&] {
        stream.attribute("name", entry.name);
        stream.attribute("type", llvm::formatv("{0}", entry.type).str());
        if (!entry.stored)
          return;
        stream.attribute("scale", entry.stored->scale);
        stream.attribute("zero_point", entry.stored->zeroPoint);
        stream.attribute("bits", entry.stored->bits);
        stream.attribute("is_signed", entry.stored->isSigned);
      });
  });
}

/// Names, types and records of what goes into the function and comes out.
static LogicalResult printSignature(MLIRContext &context) {
  OwningOpRef<ModuleOp> module = load(inputFile, context);
  if (!module)
    return failure();
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler(sourceManager, &context);
  FailureOr<func::FuncOp> function = findEntryFunction(*module, functionName);
  if (failed(function))
    return failure();
  FailureOr<QuantizedValues> arguments = readQuantizedArguments(*function);
  if (failed(arguments))
    return failure();
  FailureOr<QuantizedValues> results = readQuantizedResults(*function);
  if (failed(results))
    return failure();
  SmallVector<SignatureEntry> inputs, outputs;
  for (auto [argument, stored] :
       llvm::zip_equal(function->getArguments(), *arguments))
    inputs.push_back({getName(argument).str(), argument.getType(), stored});
  auto end =
      dyn_cast<func::ReturnOp>(function->getBody().front().getTerminator());
  for (auto [number, stored] : llvm::enumerate(*results)) {
    // A point has the name of what it quantizes.
    Value value = end ? end.getOperand(number) : Value();
    while (auto point = value ? value.getDefiningOp<tpc::QuantizeOp>()
                              : tpc::QuantizeOp())
      value = point.getInput();
    StringAttr name = value ? getName(value) : StringAttr();
    outputs.push_back({stored ? stored->name
                       : name ? name.str()
                              : std::to_string(number),
                       function->getResultTypes()[number], stored});
  }
  if (!printJson) {
    llvm::outs() << "function  " << function->getSymName() << '\n';
    printSignature("input   ", inputs);
    printSignature("output  ", outputs);
    return success();
  }
  llvm::json::OStream stream(llvm::outs(), /*IndentSize=*/1);
  stream.object([&] {
    stream.attribute("function", function->getSymName());
    printSignature(stream, "inputs", inputs);
    printSignature(stream, "outputs", outputs);
  });
  llvm::outs() << '\n';
  return success();
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Says what --exact found besides numbers.
static LogicalResult judge(const Results &results) {
  LogicalResult verdict = success();
  if (!results.notCompared.empty())
    verdict = report("--exact: " + otherFile +
                     " has no value of the name and size of " +
                     llvm::join(results.notCompared, ", "));
  if (results.steps.differing)
    verdict = report("--exact: " + Twine(results.steps.differing) + " of " +
                     Twine(results.steps.values) +
                     " values differ from those of " + otherFile);
  return verdict;
}

static LogicalResult run(MLIRContext &context) {
  if (signature)
    return printSignature(context);
  if (failed(checkOptions()))
    return failure();
  std::vector<RecordedValue> recorded;
  OwningOpRef<ModuleOp> module = load(inputFile, context, &recorded);
  if (!module)
    return failure();
  // Diagnostics speak of locations inside the modules.
  llvm::SourceMgr sourceManager;
  SourceMgrDiagnosticHandler handler(sourceManager, &context);
  if (exact && recorded.empty())
    return report("--exact: " + inputFile + " has no '" + kPointsAttrName +
                  "' and no '" + kQuantizedAttrName +
                  "', which say what the integers of a network stand for; "
                  "mct-lower-to-integer writes them");
  execution::RunCache cache;
  FailureOr<execution::RunSettings> settings = execution::RunSettings::parse(
      module->getLoc(), samplesFiles, inputScale, inputOffset, sampleLimit,
      batchSize, numThreads, maxMemory, &cache);
  if (failed(settings))
    return failure();
  for (const RecordedValue &value : recorded)
    if (auto argument = dyn_cast<BlockArgument>(value.value)) {
      QuantizedValues &codes = settings->samples.codes;
      codes.resize(argument.getOwner()->getNumArguments());
      codes[argument.getArgNumber()] = value.record;
    }
  // The other module reads the samples as real numbers.
  execution::RunSettings otherSettings = *settings;
  settings->samples.quantized = settings->samples.codes;
  execution::CompileOptions options;
  if (!otherFile.empty()) {
    for (const RecordedValue &value : recorded)
      options.observedValues.push_back(value.value);
    options.observeAllPoints = !exact;
  }
  FailureOr<execution::NetworkRun> network =
      prepare(*module, options, *settings);
  if (failed(network))
    return failure();
  const Executor &executor = network->executor();

  std::vector<execution::ComparedValue> values;
  for (auto [index, spec] : llvm::enumerate(executor.observed()))
    if (index < recorded.size())
      values.push_back({recorded[index].record.name, recorded[index].record});
    else
      values.push_back({spec.name, std::nullopt});
  OwningOpRef<ModuleOp> otherModule;
  FailureOr<execution::NetworkRun> other = failure();
  execution::TransposedNames transposed;
  size_t numEdited = 0;
  bool sharesSamples = settings->samples.quantized.empty();
  if (!otherFile.empty()) {
    std::vector<RecordedValue> integers;
    otherModule = load(otherFile, context, &integers);
    if (!otherModule)
      return failure();
    if (!integers.empty())
      return report("--compare: " + otherFile +
                    " is an integer network; run that one, and compare it "
                    "with the network that simulates it");
    execution::CompileOptions otherOptions;
    otherOptions.ignoreUnknownNames = true;
    otherOptions.unit = executor.unit();
    transposed = findTransposed(*module, values, *otherModule);
    llvm::SetVector<StringRef> wanted;
    for (const execution::ComparedValue &value : values) {
      wanted.insert(value.name);
      if (auto found = transposed.find(value.name); found != transposed.end())
        wanted.insert(found->second.original.getValue());
    }
    for (StringRef name : wanted)
      otherOptions.observed.push_back(name.str());
    if (local) {
      FailureOr<func::FuncOp> entry =
          findEntryFunction(*otherModule, functionName);
      if (failed(entry))
        return failure();
      // What may be edited comes first.
      llvm::StringSet<> points;
      entry->walk([&](tpc::QuantizeOp point) {
        if (point.isActivation() &&
            cast<RankedTensorType>(point.getType()).getElementType().isF32())
          points.insert(point.getUniqueName());
      });
      SmallVector<std::string> edited, others;
      for (std::string &name : otherOptions.observed)
        (points.contains(name) ? edited : others).push_back(std::move(name));
      otherOptions.numEdited = edited.size();
      edited.append(others.begin(), others.end());
      otherOptions.observed = std::move(edited);
    }
    numEdited = otherOptions.numEdited;
    other = prepare(*otherModule, otherOptions, otherSettings,
                    sharesSamples ? network->sharedSamples() : nullptr,
                    /*isReference=*/true);
    if (failed(other))
      return failure();
    auto readsSame = [&](const execution::TensorSpec &own,
                         const execution::TensorSpec &theirs, size_t index) {
      if (sharesSamples || !settings->samples.quantized[index])
        return own.type == theirs.type;
      return own.type.getShape() == theirs.type.getShape() &&
             theirs.type.getElementType().isF32();
    };
    ArrayRef<execution::TensorSpec> own = executor.inputs(),
                                    theirs = other->executor().inputs();
    bool fits = other->executor().unit() == executor.unit() &&
                own.size() == theirs.size();
    for (size_t index = 0; fits && index != own.size(); ++index)
      fits = readsSame(own[index], theirs[index], index);
    if (!fits)
      return report(otherFile + ": its inputs are not those of " + inputFile);
  }
  const Executor *otherExecutor =
      succeeded(other) ? &other->executor() : nullptr;

  Results results;
  results.samples = network->samples().numSamples();
  ArrayRef<execution::TensorSpec> outputs = executor.outputs();
  int64_t unit = executor.unit();
  bool answers = !outputs.empty() && hasAnswers(outputs.front(), unit);
  int64_t classes = answers ? outputs.front().type.getNumElements() / unit : 0;

  std::vector<int64_t> labels;
  if (!labelsFile.empty()) {
    if (outputs.empty() || !hasScores(outputs.front(), unit))
      return report(
          "--labels needs a first output with one score for each "
          "class of a sample" +
          (outputs.empty()
               ? std::string()
               : llvm::formatv(", found {0}", outputs.front().type).str()));
    auto read = readLabels(labelsFile, network->samples(), classes);
    if (!read)
      return report(read.takeError());
    labels = std::move(*read);
  }
  if (!outputFiles.empty() && outputFiles.size() != outputs.size())
    return report("--output: expected " + Twine(outputs.size()) +
                  " files, one for each output, but got " +
                  Twine(outputFiles.size()));
  std::vector<std::unique_ptr<OutputStream>> streams;
  for (auto [index, path] : llvm::enumerate(outputFiles)) {
    RankedTensorType type = outputs[index].type;
    std::optional<ElementType> fileType = getFileType(type.getElementType());
    // A scalar for each call makes a vector.
    SmallVector<int64_t> shape(type.getShape());
    if (shape.empty())
      shape.push_back(1);
    if (!fileType || shape[0] % unit != 0 ||
        llvm::MulOverflow(shape[0] / unit, results.samples, shape[0]))
      return report(path + ": cannot write an output of type " +
                    llvm::formatv("{0}", Type(type)).str());
    auto writer = execution::NpyWriter::create(path, *fileType, shape);
    if (!writer)
      return report(writer.takeError());
    streams.push_back(std::make_unique<OutputStream>(
        std::move(*writer),
        type.getNumElements() / unit * execution::getByteSize(*fileType)));
  }

  size_t workers = network->numWorkers();
  std::vector<Counts> counts(workers);
  std::optional<execution::Comparison> comparison;
  if (otherExecutor)
    comparison.emplace(executor, values, *otherExecutor,
                       sharesSamples ? nullptr : other->sharedSamples(),
                       transposed, workers, (results.samples + unit - 1) / unit,
                       local, numEdited);
  bool canAgree = otherExecutor && answers &&
                  !otherExecutor->outputs().empty() &&
                  hasAnswers(otherExecutor->outputs().front(), unit) &&
                  otherExecutor->outputs().front().type.getNumElements() ==
                      outputs.front().type.getNumElements();

  auto start = std::chrono::steady_clock::now();
  LogicalResult ran = network->run(
      [&](size_t index, execution::Worker &worker) {
        if (comparison)
          comparison->setUp(index, worker);
      },
      [&](const execution::Unit &done) -> llvm::Error {
        if (comparison)
          if (llvm::Error error = comparison->compare(done))
            return error;
        Counts &own = counts[done.worker];
        for (int64_t sample = 0; sample != done.validSamples; ++sample) {
          if (labels.empty() && !canAgree)
            break;
          int64_t answer =
              argmax(outputs.front(), done.outputs.front(), sample, classes);
          if (!labels.empty())
            own.correct += answer == labels[done.firstSample + sample];
          if (canAgree && answer >= 0)
            own.agreeing +=
                answer ==
                argmax(otherExecutor->outputs().front(),
                       comparison->referenceOutputs(done.worker).front(),
                       sample, classes);
        }
        for (auto [index, stream] : llvm::enumerate(streams))
          stream->add(done.index, done.outputs[index], done.validSamples);
        return llvm::Error::success();
      });
  if (failed(ran))
    return failure();
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
  if (comparison) {
    results.points = comparison->results();
    results.notCompared = comparison->withoutPartner();
    for (const execution::ComparedPoint &point : results.points)
      if (point.steps)
        results.steps.merge(*point.steps);
  }
  if (pointOrder == PointOrder::Error)
    sortByError(results.points);
  print(results);
  return exact ? judge(results) : success();
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialized(argc, argv);
  // A limit of the size of files is an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
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
      (void)report(plugin.takeError());
      return EXIT_FAILURE;
    }
    plugin->registerDialectRegistryCallbacks(registry);
  }
  // The context's own threads must not be refused.
  bool threads = support::canRunThreads(support::Threads().count());
  MLIRContext context(registry, threads ? MLIRContext::Threading::ENABLED
                                        : MLIRContext::Threading::DISABLED);
  // A diagnostic says what is wrong; the op may hold a megabyte of weights.
  context.printOpOnDiagnostic(false);
  for (StringRef name : dependencies.getDialectNames())
    context.getOrLoadDialect(name);
  return succeeded(run(context)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
