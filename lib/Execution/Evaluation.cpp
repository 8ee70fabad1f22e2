// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Evaluation.h"

#include "mct/Execution/Check.h"
#include "mct/Execution/Npy.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/IR/Shapes.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/GlobPattern.h"
#include <chrono>
#include <cmath>
#include <map>
#include <mutex>
#include <numeric>

using namespace mlir;
using namespace mct;
using execution::ElementType;
using execution::EvaluationOptions;
using execution::Executor;

static LogicalResult report(const EvaluationOptions &options,
                            const Twine &message) {
  options.fail(message);
  return failure();
}

static LogicalResult report(const EvaluationOptions &options,
                            llvm::Error error) {
  return report(options, llvm::toString(std::move(error)));
}

/// Names the values of the functions. `records`: what the function that is run
/// says of its integers, by names that are in the file.
static LogicalResult nameValues(ModuleOp module, StringRef function,
                                std::vector<RecordedValue> &records) {
  FailureOr<func::FuncOp> entry = findEntryFunction(module, function);
  if (failed(entry))
    return failure();
  FailureOr<std::vector<RecordedValue>> found = findRecordedValues(*entry);
  if (failed(found))
    return failure();
  records = std::move(*found);
  for (auto other : module.getOps<func::FuncOp>())
    assignNames(other);
  return success();
}

/// The points of the function that the options name do not quantize.
static LogicalResult switchOff(func::FuncOp function,
                               const EvaluationOptions &asked,
                               execution::CompileOptions &options) {
  for (const std::string &text : asked.floatPoints) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return report(asked, "--float-points: '" + text +
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
      return report(asked, "--float-points: no point is named '" + text + "'");
  }
  return success();
}

/// Compiles the function that was asked for.
static FailureOr<execution::NetworkRun>
prepare(ModuleOp module, const EvaluationOptions &asked,
        execution::CompileOptions options,
        const execution::RunSettings &settings,
        std::shared_ptr<const execution::SampleSource> samples = nullptr,
        bool isReference = false) {
  FailureOr<func::FuncOp> entry = findEntryFunction(module, asked.function);
  if (failed(entry))
    return failure();
  options.function = entry->getSymName().str();
  if (!isReference && failed(switchOff(*entry, asked, options)))
    return failure();
  return execution::NetworkRun::prepare(module, options, settings,
                                        std::move(samples));
}

/// Those of the points among the values.
static void findQuantizers(ModuleOp module,
                           std::vector<execution::ComparedValue> &values) {
  llvm::StringMap<tpc::QuantizeOp> points;
  module.walk([&](tpc::QuantizeOp point) {
    if (point.isActivation())
      points[point.getUniqueName()] = point;
  });
  for (execution::ComparedValue &value : values)
    if (tpc::QuantizeOp point = points.lookup(value.name)) {
      value.quantizer = point.getParametersAttr();
      value.axes = llvm::to_vector(point.getChannelAxes());
    }
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

int64_t execution::findAnswer(const TensorSpec &output, const void *data,
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

bool execution::hasScores(const TensorSpec &output, int64_t unit) {
  if (!hasAnswers(output, unit) || output.type.getRank() == 0 ||
      output.type.getDimSize(0) % unit != 0)
    return false;
  int64_t classes = output.type.getNumElements() / unit;
  return output.type.getDimSize(0) / unit == classes ||
         llvm::is_contained(output.type.getShape().drop_front(), classes);
}

llvm::Expected<std::vector<int64_t>> execution::readLabels(StringRef path) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(path + ": " + message);
  };
  auto file = execution::NpyFile::open(path);
  if (!file)
    return file.takeError();
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
  auto convert = [&](auto zero) -> llvm::Expected<std::vector<int64_t>> {
    auto values = (*file)->readAll<decltype(zero)>();
    if (!values)
      return values.takeError();
    return std::vector<int64_t>(values->begin(), values->end());
  };
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
}

/// One class of so many for each of the samples that are run; the file may have
/// those of all samples.
static llvm::Expected<std::vector<int64_t>>
readLabelsOf(const execution::SampleSource &samples, StringRef path,
             int64_t classes) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError(path + ": " + message);
  };
  auto labels = execution::readLabels(path);
  if (!labels)
    return labels;
  auto count = int64_t(labels->size());
  if (count != samples.numAvailable() && count != samples.numSamples())
    return fail("expected " + Twine(samples.numAvailable()) +
                " labels, found " + Twine(count));
  for (auto [index, label] : llvm::enumerate(*labels))
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

} // namespace

/// Name of the value that a result is, behind points; else its number.
static std::string getResultName(func::FuncOp function, unsigned number) {
  auto end =
      dyn_cast<func::ReturnOp>(function->getRegion(0).front().getTerminator());
  Value value = end ? end.getOperand(number) : Value();
  // A point has the name of what it quantizes.
  while (auto point =
             value ? value.getDefiningOp<tpc::QuantizeOp>() : tpc::QuantizeOp())
    value = point.getInput();
  StringAttr name = value ? mct::getName(value) : StringAttr();
  return name ? name.str() : std::to_string(number);
}

/// What compares the results of two networks. Both are named.
static FailureOr<std::unique_ptr<execution::ResultComparison>>
compareResults(ModuleOp module, const Executor &executor, ModuleOp reference,
               const Executor &other, const QuantizedValues &stored,
               const EvaluationOptions &asked) {
  FailureOr<func::FuncOp> entry = findEntryFunction(reference, asked.function);
  if (failed(entry))
    return failure();
  execution::ResultComparison::Inputs inputs;
  inputs.specs = executor.outputs();
  inputs.stored = &stored;
  inputs.referenceSpecs = other.outputs();
  inputs.arguments = other.inputs();
  inputs.unit = executor.unit();
  inputs.hasLabels = !asked.labelsFile.empty();
  for (unsigned number = 0; number != entry->getNumResults(); ++number)
    inputs.names.push_back(getResultName(*entry, number));
  inputs.groups = findResultGroups(*entry);
  return std::make_unique<execution::ResultComparison>(std::move(inputs));
}

FailureOr<execution::Evaluation>
execution::evaluate(ModuleOp module, ModuleOp reference, RunSettings settings,
                    const EvaluationOptions &asked) {
  std::vector<RecordedValue> recorded;
  if (failed(nameValues(module, asked.function, recorded)))
    return failure();
  if (asked.exact && recorded.empty())
    return report(asked, "--exact: " + asked.name + " has no '" +
                             kPointsAttrName + "' and no '" +
                             kQuantizedAttrName +
                             "', which say what the integers of a network "
                             "stand for; mct-lower-to-integer writes them");
  for (const RecordedValue &value : recorded)
    if (auto argument = dyn_cast<BlockArgument>(value.value)) {
      QuantizedValues &codes = settings.samples.codes;
      codes.resize(argument.getOwner()->getNumArguments());
      codes[argument.getArgNumber()] = value.record;
    }
  // The other module reads the samples as real numbers.
  execution::RunSettings otherSettings = settings;
  settings.samples.quantized = settings.samples.codes;
  execution::CompileOptions options;
  if (reference) {
    for (const RecordedValue &value : recorded)
      options.observedValues.push_back(value.value);
    options.observeAllPoints = !asked.exact;
    options.observeAfterQuantization = !asked.splitErrors;
  }
  FailureOr<execution::NetworkRun> network =
      prepare(module, asked, options, settings);
  if (failed(network))
    return failure();
  const Executor &executor = network->executor();
  for (const execution::TensorSpec &input : executor.inputs())
    otherSettings.samples.preprocessing.push_back(input.preprocessing);

  std::vector<execution::ComparedValue> values;
  for (auto [index, spec] : llvm::enumerate(executor.observed()))
    if (index < recorded.size())
      values.push_back(
          {recorded[index].record.name, recorded[index].record, {}, {}});
    else
      values.push_back({spec.name, std::nullopt, {}, {}});
  if (asked.splitErrors)
    findQuantizers(module, values);
  FailureOr<execution::NetworkRun> other = failure();
  execution::TransposedNames transposed;
  size_t numEdited = 0;
  bool sharesSamples = settings.samples.quantized.empty();
  if (reference) {
    std::vector<RecordedValue> integers;
    if (failed(nameValues(reference, asked.function, integers)))
      return failure();
    if (!integers.empty())
      return report(asked,
                    "--compare: " + asked.referenceName +
                        " is an integer network; run that one, and compare it "
                        "with the network that simulates it");
    execution::CompileOptions otherOptions;
    otherOptions.ignoreUnknownNames = true;
    otherOptions.unit = executor.unit();
    transposed = findTransposed(module, values, reference);
    llvm::SetVector<StringRef> wanted;
    for (const execution::ComparedValue &value : values) {
      wanted.insert(value.name);
      if (auto found = transposed.find(value.name); found != transposed.end())
        wanted.insert(found->second.original.getValue());
    }
    for (StringRef name : wanted)
      otherOptions.observed.push_back(name.str());
    if (asked.local) {
      FailureOr<func::FuncOp> entry =
          findEntryFunction(reference, asked.function);
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
    other = prepare(reference, asked, otherOptions, otherSettings,
                    sharesSamples ? network->sharedSamples() : nullptr,
                    /*isReference=*/true);
    if (failed(other))
      return failure();
    auto readsSame = [&](const execution::TensorSpec &own,
                         const execution::TensorSpec &theirs, size_t index) {
      if (sharesSamples || !settings.samples.quantized[index])
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
      return report(asked, asked.referenceName +
                               ": its inputs are not those of " + asked.name);
  }
  const Executor *otherExecutor =
      succeeded(other) ? &other->executor() : nullptr;

  execution::Evaluation results;
  results.compared = bool(reference);
  results.exact = asked.exact;
  results.samples = network->samples().numSamples();
  if (asked.digest) {
    auto digest = digestSamples(network->samples());
    if (!digest)
      return report(asked, digest.takeError());
    results.digest = std::move(*digest);
  }
  ArrayRef<execution::TensorSpec> outputs = executor.outputs();
  int64_t unit = executor.unit();
  int64_t classes = 0;
  std::vector<int64_t> labels;
  if (!asked.labelsFile.empty()) {
    if (outputs.empty() || !hasScores(outputs.front(), unit))
      return report(
          asked,
          "--labels needs a first output with one score for each "
          "class of a sample" +
              (outputs.empty()
                   ? std::string()
                   : llvm::formatv(", found {0}", outputs.front().type).str()));
    classes = outputs.front().type.getNumElements() / unit;
    auto read = readLabelsOf(network->samples(), asked.labelsFile, classes);
    if (!read)
      return report(asked, read.takeError());
    labels = std::move(*read);
  }
  if (!asked.outputFiles.empty() && asked.outputFiles.size() != outputs.size())
    return report(asked, "--output: expected " + Twine(outputs.size()) +
                             " files, one for each output, but got " +
                             Twine(asked.outputFiles.size()));
  std::vector<std::unique_ptr<OutputStream>> streams;
  for (auto [index, path] : llvm::enumerate(asked.outputFiles)) {
    RankedTensorType type = outputs[index].type;
    std::optional<ElementType> fileType = getFileType(type.getElementType());
    // A scalar for each call makes a vector.
    SmallVector<int64_t> shape(type.getShape());
    if (shape.empty())
      shape.push_back(1);
    if (!fileType || shape[0] % unit != 0 ||
        llvm::MulOverflow(shape[0] / unit, results.samples, shape[0]))
      return report(asked, path + ": cannot write an output of type " +
                               llvm::formatv("{0}", Type(type)).str());
    auto writer = execution::NpyWriter::create(path, *fileType, shape);
    if (!writer)
      return report(asked, writer.takeError());
    streams.push_back(std::make_unique<OutputStream>(
        std::move(*writer),
        type.getNumElements() / unit * execution::getByteSize(*fileType)));
  }

  size_t workers = network->numWorkers();
  std::vector<int64_t> correct(workers);
  std::optional<execution::Comparison> comparison;
  if (otherExecutor)
    comparison.emplace(executor, values, *otherExecutor,
                       sharesSamples ? nullptr : other->sharedSamples(),
                       transposed, workers, (results.samples + unit - 1) / unit,
                       asked.local, numEdited);
  QuantizedValues stored;
  std::unique_ptr<execution::ResultComparison> compared;
  if (otherExecutor) {
    FailureOr<func::FuncOp> entry = findEntryFunction(module, asked.function);
    if (failed(entry))
      return failure();
    FailureOr<QuantizedValues> read = readQuantizedResults(*entry);
    if (failed(read))
      return failure();
    stored = std::move(*read);
    auto made = compareResults(module, executor, reference, *otherExecutor,
                               stored, asked);
    if (failed(made))
      return failure();
    compared = std::move(*made);
  }

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
        if (compared)
          compared->compare(done, comparison->referenceOutputs(done.worker));
        for (int64_t sample = 0; !labels.empty() && sample != done.validSamples;
             ++sample)
          correct[done.worker] +=
              findAnswer(outputs.front(), done.outputs.front(), sample,
                         classes) == labels[done.firstSample + sample];
        for (auto [index, stream] : llvm::enumerate(streams))
          stream->add(done.index, done.outputs[index], done.validSamples);
        if (!asked.see)
          return llvm::Error::success();
        if (!otherExecutor)
          return asked.see({done, unit, outputs, {}, {}, labels});
        return asked.see({done, unit, outputs, otherExecutor->outputs(),
                          comparison->referenceOutputs(done.worker), labels});
      });
  if (failed(ran))
    return failure();
  results.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  for (const std::unique_ptr<OutputStream> &stream : streams)
    if (llvm::Error failed = stream->commit())
      return report(asked, std::move(failed));

  if (!labels.empty())
    results.top1 =
        double(std::accumulate(correct.begin(), correct.end(), int64_t(0))) /
        double(results.samples);
  if (compared) {
    results.agreement = compared->agreement();
    results.results = compared->results();
  }
  if (comparison) {
    results.points = comparison->results();
    results.notCompared = comparison->withoutPartner();
    for (const execution::ComparedPoint &point : results.points)
      if (point.steps)
        results.steps.merge(*point.steps);
  }
  return results;
}

/// JSON has neither infinity nor NaN.
static llvm::json::Value jsonNumber(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

static void printSteps(llvm::json::OStream &stream,
                       const execution::StepCounts &steps) {
  stream.attribute("values", steps.values);
  stream.attribute("differing", steps.differing);
  stream.attribute("max_steps", jsonNumber(steps.largest));
}

static void printSums(llvm::json::OStream &stream,
                      const execution::ErrorSums &sums) {
  stream.attribute("sqnr_db", jsonNumber(sums.sqnr()));
  stream.attribute("cosine", jsonNumber(sums.cosine()));
  stream.attribute("max_error", jsonNumber(sums.largest));
}

static void printResult(llvm::json::OStream &stream,
                        const execution::ComparedResult &result) {
  stream.object([&] {
    stream.attribute("name", result.name);
    stream.attribute("is_scores", result.isScores);
    printSums(stream, result.sums);
    stream.attribute("axis", result.axis);
    stream.attributeArray("groups", [&] {
      for (const execution::ComparedGroup &group : result.groups)
        stream.object([&] {
          stream.attribute("name", group.name);
          stream.attributeArray("channels", [&] {
            for (int64_t channel : group.channels)
              stream.value(channel);
          });
          printSums(stream, group.sums);
        });
    });
  });
}

void execution::printMembers(llvm::json::OStream &stream,
                             const Evaluation &results) {
  stream.attribute("samples", results.samples);
  if (results.top1)
    stream.attribute("top1", *results.top1);
  if (results.agreement)
    stream.attribute("agreement", *results.agreement);
  stream.attribute("seconds", results.seconds);
  if (results.compared && !results.exact)
    stream.attributeArray("results", [&] {
      for (const execution::ComparedResult &result : results.results)
        printResult(stream, result);
    });
  if (results.compared)
    stream.attributeArray("points", [&] {
      for (const auto &point : results.points)
        stream.object([&] {
          stream.attribute("name", point.name);
          if (results.exact)
            return printSteps(stream, *point.steps);
          printSums(stream, point.sums);
        });
    });
  if (results.exact)
    stream.attributeObject("total", [&] { printSteps(stream, results.steps); });
  if (results.compared)
    stream.attributeArray("not_compared", [&] {
      for (const std::string &name : results.notCompared)
        stream.value(name);
    });
}

//===----------------------------------------------------------------------===//
// The signature
//===----------------------------------------------------------------------===//

LogicalResult execution::checkRunnable(ModuleOp module, StringRef function) {
  FailureOr<func::FuncOp> entry = findEntryFunction(module, function);
  if (failed(entry))
    return failure();
  auto check = [](Value value, StringRef kind,
                  unsigned number) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && getFileType(type.getElementType()))
      return success();
    InFlightDiagnostic error = emitError(value.getLoc());
    if (Operation *op = value.getDefiningOp())
      error << "'" << op->getName() << "' op makes ";
    return error << kind << " " << number << " of type " << value.getType()
                 << ", which the executor cannot "
                 << (kind == "argument" ? "read" : "write")
                 << "; expected f32, f16, or integers of 1, 8, 16, 32 or 64 "
                    "bits";
  };
  for (BlockArgument argument : entry->getArguments())
    if (failed(check(argument, "argument", argument.getArgNumber())))
      return failure();
  if (!entry->isExternal())
    for (auto [number, value] : llvm::enumerate(
             entry->getBody().back().getTerminator()->getOperands()))
      if (failed(check(value, "result", number)))
        return failure();
  CompileOptions options;
  options.function = entry->getName().str();
  return checkCompiles(module, options);
}

void execution::forEachPart(
    const Preprocessing &record,
    llvm::function_ref<void(StringRef, ArrayRef<double>)> numbers,
    llvm::function_ref<void(StringRef, ArrayRef<int64_t>)> integers) {
  if (!record.scale.empty())
    numbers("scale", record.scale);
  if (!record.offset.empty())
    numbers("offset", record.offset);
  if (record.axis)
    integers("axis", *record.axis);
  if (!record.permutation.empty())
    integers("permutation", record.permutation);
}

void execution::print(llvm::json::OStream &stream,
                      const Preprocessing &record) {
  auto list = [&](StringRef key, auto values) {
    stream.attributeArray(key, [&] {
      for (auto value : values)
        stream.value(value);
    });
  };
  stream.object([&] {
    forEachPart(
        record,
        [&](StringRef key, ArrayRef<double> values) { list(key, values); },
        [&](StringRef key, ArrayRef<int64_t> values) { list(key, values); });
  });
}

static void printSignature(llvm::json::OStream &stream, StringRef key,
                           ArrayRef<execution::Signature::Entry> entries) {
  stream.attributeArray(key, [&] {
    for (const execution::Signature::Entry &entry : entries)
      stream.object([&] {
        stream.attribute("name", entry.name);
        stream.attribute("type", llvm::formatv("{0}", entry.type).str());
        if (entry.preprocessing) {
          stream.attributeBegin("preprocessing");
          execution::print(stream, *entry.preprocessing);
          stream.attributeEnd();
        }
        if (!entry.stored)
          return;
        stream.attribute("scale", entry.stored->scale);
        stream.attribute("zero_point", entry.stored->zeroPoint);
        stream.attribute("bits", entry.stored->bits);
        stream.attribute("is_signed", entry.stored->isSigned);
      });
  });
}

void execution::printMembers(llvm::json::OStream &stream,
                             const Signature &signature) {
  stream.attribute("function", signature.function);
  printSignature(stream, "inputs", signature.inputs);
  printSignature(stream, "outputs", signature.outputs);
}

void execution::print(llvm::json::OStream &stream, const Signature &signature) {
  stream.object([&] { printMembers(stream, signature); });
}

FailureOr<execution::Signature> execution::readSignature(ModuleOp module,
                                                         StringRef name) {
  FailureOr<func::FuncOp> function = findEntryFunction(module, name);
  if (failed(function))
    return failure();
  FailureOr<QuantizedValues> arguments = readQuantizedArguments(*function);
  if (failed(arguments))
    return failure();
  FailureOr<QuantizedValues> results = readQuantizedResults(*function);
  if (failed(results))
    return failure();
  FailureOr<Preprocessings> preprocessing = readPreprocessing(*function);
  if (failed(preprocessing))
    return failure();
  for (auto other : module.getOps<func::FuncOp>())
    assignNames(other);
  Signature found;
  found.function = function->getSymName().str();
  for (auto [argument, stored, record] :
       llvm::zip_equal(function->getArguments(), *arguments, *preprocessing))
    found.inputs.push_back(
        {mct::getName(argument).str(), argument.getType(), stored, record});
  for (auto [number, stored] : llvm::enumerate(*results))
    found.outputs.push_back(
        {stored ? stored->name : getResultName(*function, unsigned(number)),
         function->getResultTypes()[number], stored});
  return found;
}
