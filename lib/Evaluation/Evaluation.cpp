// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Evaluation.h"

#include "MetricRun.h"
#include "mct/Evaluation/Labels.h"
#include "mct/Evaluation/Signature.h"
#include "mct/Execution/Check.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Support/Npy.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/GlobPattern.h"
#include <chrono>
#include <map>
#include <mutex>
#include <numeric>

using namespace mlir;
using namespace mct;
using execution::EvaluationOptions;
using execution::Executor;

/// Names the values of the functions, and returns the one that is run. Sets
/// `records` to the values that the function records for its integers, by their
/// names in the file.
static FailureOr<func::FuncOp> nameValues(ModuleOp module, StringRef function,
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
  return entry;
}

/// Adds the quantizers of the points among the values.
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

/// Marks the values whose samples are consecutive.
static void findBatches(func::FuncOp entry, ArrayRef<RecordedValue> recorded,
                        std::vector<execution::ComparedValue> &values) {
  FailureOr<BatchDimensions> dimensions =
      followBatch(entry, /*emitErrors=*/false);
  if (failed(dimensions))
    return;
  llvm::StringMap<Value> points;
  entry.walk([&](tpc::QuantizeOp point) {
    points[point.getUniqueName()] = point.getInput();
  });
  for (auto [index, value] : llvm::enumerate(values)) {
    Value of = index < recorded.size() ? recorded[index].value
                                       : points.lookup(value.name);
    auto batch = dimensions->find(of);
    value.isBatchFirst =
        of && batch != dimensions->end() && batch->second.dimension == 0;
  }
}

/// Finds the partner of a ReLU that an import has restored: in a network that
/// has the ReLU, it is the only user of the layer, perhaps with its axes in
/// another order.
static void findRestoredRelus(ArrayRef<execution::ComparedValue> values,
                              ModuleOp other,
                              execution::TransposedNames &names) {
  llvm::StringMap<Operation *> ops;
  other.walk([&](Operation *op) {
    if (StringAttr name = getName(op->getLoc());
        name && op->getNumResults() == 1 && !isa<tpc::QuantizeOp>(op))
      ops[name.getValue()] = op;
  });
  for (const execution::ComparedValue &value : values) {
    StringRef layer = value.name;
    if (ops.contains(layer) || !layer.consume_back(kRestoredReluSuffix))
      continue;
    Operation *op = ops.lookup(layer);
    auto type = op ? dyn_cast<RankedTensorType>(op->getResult(0).getType())
                   : RankedTensorType();
    if (!type)
      continue;
    // Maps each axis of the layer's result to the axis of the value that is
    // read.
    SmallVector<int32_t> permutation(type.getRank());
    std::iota(permutation.begin(), permutation.end(), 0);
    while (op->hasOneUse() && isa<tosa::TransposeOp>(*op->user_begin())) {
      op = *op->user_begin();
      ArrayRef<int32_t> moved = cast<tosa::TransposeOp>(op).getPerms();
      for (int32_t &axis : permutation)
        axis = int32_t(llvm::find(moved, axis) - moved.begin());
    }
    if (!op->hasOneUse() || !isa<tosa::ClampOp>(*op->user_begin()))
      continue;
    if (StringAttr name = getName(op->user_begin()->getLoc()))
      names.try_emplace(value.name, TransposedName{name, permutation});
  }
}

/// Finds the values of `module` that are values of `other` with their axes in
/// another order after mct-move-transposes. The locations record this order;
/// for text without locations, the pass is run on `other`.
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
  findRestoredRelus(values, other, names);
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

namespace {
/// Writes one output in the order of the samples, in whatever order workers
/// finish.
class OutputStream {
public:
  OutputStream(std::unique_ptr<support::NpyWriter> writer, size_t sampleBytes)
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
  std::unique_ptr<support::NpyWriter> writer;
  size_t sampleBytes;
  std::mutex mutex;
  std::map<int64_t, std::vector<char>> waiting;
  int64_t next = 0;
};

} // namespace

namespace {
/// One evaluation, step by step.
class EvaluationRun {
public:
  EvaluationRun(ModuleOp module, ModuleOp reference,
                execution::RunSettings settings,
                const EvaluationOptions &request)
      : module(module), reference(reference), settings(std::move(settings)),
        request(request) {}

  FailureOr<execution::EvaluationTotals> run();

private:
  const Executor &executor() const { return network->executor(); }
  /// The executor of the reference, or null.
  const Executor *otherExecutor() const {
    return succeeded(other) ? &other->executor() : nullptr;
  }
  InFlightDiagnostic emitError() { return mlir::emitError(module.getLoc()); }
  LogicalResult report(llvm::Error error) {
    return emitError() << llvm::toString(std::move(error));
  }
  LogicalResult switchOff(execution::CompileOptions &options);
  LogicalResult prepareNetwork();
  void observeReference(execution::CompileOptions &options);
  LogicalResult prepareReference();
  bool readSameInputs() const;
  LogicalResult describeSamples();
  LogicalResult readClasses();
  LogicalResult prepareMetric();
  LogicalResult openOutputs();
  LogicalResult prepareComparison(size_t workers);
  llvm::Error handleUnit(const execution::Unit &done);
  void collect();

  ModuleOp module, reference;
  /// Functions that are run.
  func::FuncOp entry, otherEntry;
  execution::RunSettings settings;
  /// Settings of the reference, which reads samples as real numbers.
  execution::RunSettings otherSettings;
  const EvaluationOptions &request;
  std::vector<RecordedValue> recorded;
  std::vector<execution::ComparedValue> values;
  execution::CompileOptions networkOptions;
  FailureOr<execution::NetworkRun> network = failure(), other = failure();
  execution::TransposedNames transposed;
  size_t numEdited = 0;
  bool sharesSamples = true;

  int64_t classes = 0;
  std::vector<int64_t> labels;
  std::vector<std::unique_ptr<OutputStream>> streams;
  /// Number of samples that each worker has found to be classified as labelled.
  std::vector<int64_t> correct;
  std::optional<execution::Comparison> comparison;
  QuantizedValues stored;
  std::unique_ptr<execution::ResultComparison> compared;
  std::unique_ptr<execution::Metric> metric;
  std::unique_ptr<execution::MetricRun> measured;
  execution::EvaluationTotals totals;
};
} // namespace

/// Makes the points that the options name keep their values.
LogicalResult EvaluationRun::switchOff(execution::CompileOptions &options) {
  for (const std::string &text : request.floatPoints) {
    llvm::Expected<llvm::GlobPattern> pattern = llvm::GlobPattern::create(text);
    if (!pattern)
      return emitError() << "'" << text
                         << "': " << llvm::toString(pattern.takeError());
    bool isFound = false;
    entry.walk([&](tpc::QuantizeOp point) {
      std::string name = point.getUniqueName();
      if (!pattern->match(name))
        return;
      isFound = true;
      options.quantizers[name] = Attribute();
    });
    if (!isFound)
      return emitError() << "no point is named '" << text << "'";
  }
  return success();
}

LogicalResult EvaluationRun::prepareNetwork() {
  FailureOr<func::FuncOp> named =
      nameValues(module, request.function, recorded);
  if (failed(named))
    return failure();
  entry = *named;
  if (request.exact && recorded.empty())
    return emitError() << request.name << " has no '" << kPointsAttrName
                       << "' and no '" << kQuantizedAttrName
                       << "', which say what the integers of a network stand "
                          "for; mct-lower-to-integer writes them";
  for (const RecordedValue &value : recorded)
    if (auto argument = dyn_cast<BlockArgument>(value.value)) {
      QuantizedValues &codes = settings.samples.codes;
      codes.resize(argument.getOwner()->getNumArguments());
      codes[argument.getArgNumber()] = value.record;
    }
  otherSettings = settings;
  settings.samples.quantized = settings.samples.codes;
  sharesSamples = settings.samples.quantized.empty();
  execution::CompileOptions &options = networkOptions;
  options.function = entry.getSymName().str();
  if (reference) {
    for (const RecordedValue &value : recorded)
      options.observedValues.push_back(value.value);
    options.observeAllPoints = !request.exact;
    options.observeAfterQuantization = !request.splitErrors;
  }
  if (failed(switchOff(options)))
    return failure();
  network = execution::NetworkRun::prepare(module, options, settings);
  if (failed(network))
    return failure();
  for (const execution::TensorSpec &input : executor().inputs())
    otherSettings.samples.preprocessing.push_back(input.preprocessing);

  for (auto [index, spec] : llvm::enumerate(executor().observed()))
    if (index < recorded.size())
      values.push_back(
          {recorded[index].record.name, recorded[index].record, {}, {}});
    else
      values.push_back({spec.name, std::nullopt, {}, {}});
  if (request.splitErrors)
    findQuantizers(module, values);
  findBatches(entry, recorded, values);
  return success();
}

/// Observes the partners of the values. For a local comparison, those that may
/// be edited come first.
void EvaluationRun::observeReference(execution::CompileOptions &options) {
  llvm::SetVector<StringRef> partnerNames;
  for (const execution::ComparedValue &value : values) {
    partnerNames.insert(value.name);
    if (auto found = transposed.find(value.name); found != transposed.end())
      partnerNames.insert(found->second.original.getValue());
  }
  llvm::StringSet<> points;
  if (request.local)
    otherEntry.walk([&](tpc::QuantizeOp point) {
      if (point.isActivation() &&
          cast<RankedTensorType>(point.getType()).getElementType().isF32())
        points.insert(point.getUniqueName());
    });
  SmallVector<std::string> others;
  for (StringRef name : partnerNames)
    (points.contains(name) ? options.observed : others).push_back(name.str());
  numEdited = options.numEdited = options.observed.size();
  options.observed.append(others.begin(), others.end());
}

bool EvaluationRun::readSameInputs() const {
  ArrayRef<execution::TensorSpec> own = executor().inputs(),
                                  theirs = other->executor().inputs();
  if (other->executor().unit() != executor().unit() ||
      own.size() != theirs.size())
    return false;
  for (auto [index, pair] : llvm::enumerate(llvm::zip_equal(own, theirs))) {
    RankedTensorType mine = std::get<0>(pair).type,
                     its = std::get<1>(pair).type;
    bool isSame =
        sharesSamples || !settings.samples.quantized[index]
            ? mine == its
            : mine.getShape() == its.getShape() && its.getElementType().isF32();
    if (!isSame)
      return false;
  }
  return true;
}

LogicalResult EvaluationRun::prepareReference() {
  std::vector<RecordedValue> integers;
  FailureOr<func::FuncOp> named =
      nameValues(reference, request.function, integers);
  if (failed(named))
    return failure();
  otherEntry = *named;
  if (!integers.empty())
    return emitError() << request.referenceName
                       << " is an integer network; run that one, and compare "
                          "it with the network that simulates it";
  transposed = findTransposed(module, values, reference);
  execution::CompileOptions options;
  options.function = otherEntry.getSymName().str();
  options.ignoreUnknownNames = true;
  options.unit = executor().unit();
  observeReference(options);
  other = execution::NetworkRun::prepare(
      reference, options, otherSettings,
      sharesSamples ? network->sharedSamples() : nullptr);
  if (failed(other))
    return failure();
  // The batch may be followed through only one of the networks. Results can
  // only be compared in units of the same size.
  if (int64_t unit = other->executor().unit(); unit < executor().unit()) {
    networkOptions.unit = unit;
    network = execution::NetworkRun::prepare(module, networkOptions, settings);
    if (failed(network))
      return failure();
  }
  if (!readSameInputs())
    return emitError() << request.referenceName
                       << ": its inputs are not those of " << request.name;
  return success();
}

LogicalResult EvaluationRun::describeSamples() {
  totals.exact = request.exact;
  totals.samples = network->samples().numSamples();
  if (!request.digest)
    return success();
  auto digest = digestSamples(network->samples());
  if (!digest)
    return report(digest.takeError());
  totals.digest = std::move(*digest);
  return success();
}

LogicalResult EvaluationRun::readClasses() {
  // Labels of another result do not apply to the first one.
  if (request.labelsFile.empty() ||
      (metric && (!metric->takesClasses() || !metric->getResult().empty())))
    return success();
  ArrayRef<execution::TensorSpec> outputs = executor().outputs();
  int64_t unit = executor().unit();
  if (outputs.empty() || !hasScores(outputs.front(), unit)) {
    InFlightDiagnostic error =
        emitError() << "labels need a first output with one score for each "
                       "class of a sample";
    if (!outputs.empty())
      error << ", found " << outputs.front().type;
    return error;
  }
  classes = outputs.front().type.getNumElements() / unit;
  auto read =
      execution::readLabels(network->samples(), request.labelsFile, classes);
  if (!read)
    return report(read.takeError());
  labels = std::move(*read);
  return success();
}

/// Prepares to measure results of both networks. That of the reference has real
/// numbers.
LogicalResult EvaluationRun::prepareMetric() {
  if (!metric)
    return success();
  FailureOr<QuantizedValues> read = readQuantizedResults(entry);
  if (failed(read))
    return failure();
  execution::MetricRun::Inputs inputs;
  inputs.metric = std::move(metric);
  inputs.labelsFile = request.labelsFile;
  inputs.samples = &network->samples();
  inputs.specs = executor().outputs();
  if (reference)
    inputs.referenceSpecs = other->executor().outputs();
  inputs.names = execution::readResultNames(entry, *read);
  inputs.stored = std::move(*read);
  inputs.unit = executor().unit();
  auto made = execution::MetricRun::create(std::move(inputs));
  if (!made)
    return report(made.takeError());
  measured = std::move(*made);
  return success();
}

LogicalResult EvaluationRun::openOutputs() {
  ArrayRef<execution::TensorSpec> outputs = executor().outputs();
  int64_t unit = executor().unit();
  if (!request.outputFiles.empty() &&
      request.outputFiles.size() != outputs.size())
    return emitError() << "expected " << outputs.size()
                       << " output files, one for each output, but got "
                       << request.outputFiles.size();
  for (auto [index, path] : llvm::enumerate(request.outputFiles)) {
    RankedTensorType type = outputs[index].type;
    std::optional<support::ElementType> fileType =
        execution::getFileType(type.getElementType());
    // A scalar for each call becomes a vector.
    SmallVector<int64_t> shape(type.getShape());
    if (shape.empty())
      shape.push_back(1);
    if (!fileType || shape[0] % unit != 0 ||
        llvm::MulOverflow(shape[0] / unit, totals.samples, shape[0]))
      return emitError() << path << ": cannot write an output of type " << type;
    auto writer = support::NpyWriter::create(path, *fileType, shape);
    if (!writer)
      return report(writer.takeError());
    streams.push_back(std::make_unique<OutputStream>(
        std::move(*writer),
        type.getNumElements() / unit * support::getByteSize(*fileType)));
  }
  return success();
}

/// Prepares to compare values and results. The values of both networks must
/// have names.
LogicalResult EvaluationRun::prepareComparison(size_t workers) {
  int64_t unit = executor().unit();
  comparison.emplace(executor(), values, other->executor(),
                     sharesSamples ? nullptr : other->sharedSamples(),
                     transposed, workers, request.local, numEdited);
  FailureOr<QuantizedValues> read = readQuantizedResults(entry);
  if (failed(read))
    return failure();
  stored = std::move(*read);
  execution::ResultComparison::Inputs inputs;
  inputs.specs = executor().outputs();
  inputs.stored = &stored;
  inputs.referenceSpecs = other->executor().outputs();
  inputs.arguments = other->executor().inputs();
  inputs.unit = unit;
  inputs.workers = workers;
  inputs.hasLabels = !request.labelsFile.empty();
  for (unsigned number = 0; number != otherEntry.getNumResults(); ++number)
    inputs.names.push_back(execution::getResultName(otherEntry, number));
  inputs.groups = findResultGroups(otherEntry);
  inputs.probabilities = execution::findProbabilities(otherEntry);
  compared = std::make_unique<execution::ResultComparison>(std::move(inputs));
  return success();
}

/// Compares, counts, writes and reports a unit in the thread of its worker.
llvm::Error EvaluationRun::handleUnit(const execution::Unit &done) {
  ArrayRef<execution::TensorSpec> outputs = executor().outputs();
  ArrayRef<void *> theirs;
  if (comparison) {
    if (llvm::Error error = comparison->compare(done))
      return error;
    theirs = comparison->referenceOutputs(done.worker);
    compared->compare(done, theirs);
  }
  for (int64_t sample = 0; !labels.empty() && sample != done.validSamples;
       ++sample)
    correct[done.worker] +=
        execution::findAnswer(outputs.front(), done.outputs.front(), sample,
                              classes) == labels[done.firstSample + sample];
  if (measured)
    if (llvm::Error error = measured->measure(done, theirs))
      return error;
  for (auto [index, stream] : llvm::enumerate(streams))
    stream->add(done.index, done.outputs[index], done.validSamples);
  if (!request.onUnitDone)
    return llvm::Error::success();
  ArrayRef<execution::TensorSpec> theirSpecs;
  if (const Executor *reference = otherExecutor())
    theirSpecs = reference->outputs();
  return request.onUnitDone(
      {done, executor().unit(), outputs, theirSpecs, theirs, labels});
}

void EvaluationRun::collect() {
  if (measured)
    totals.metric = measured->totals();
  if (!labels.empty())
    totals.correct =
        std::accumulate(correct.begin(), correct.end(), int64_t(0));
  if (!comparison)
    return;
  totals.results = compared->totals();
  totals.points = comparison->totals();
  totals.notCompared = comparison->withoutPartner();
}

FailureOr<execution::EvaluationTotals> EvaluationRun::run() {
  if (!request.metric.empty()) {
    auto made = execution::Metric::create(request.metric);
    if (!made)
      return report(made.takeError());
    metric = std::move(*made);
  }
  if (failed(prepareNetwork()) || (reference && failed(prepareReference())) ||
      failed(describeSamples()) || failed(readClasses()) ||
      failed(prepareMetric()) || failed(openOutputs()))
    return failure();
  size_t workers = network->numWorkers();
  correct.resize(workers);
  if (reference && failed(prepareComparison(workers)))
    return failure();

  auto start = std::chrono::steady_clock::now();
  if (failed(network->run(
          [&](size_t index, execution::Worker &worker) {
            if (comparison)
              comparison->setUp(index, worker);
          },
          [&](const execution::Unit &done) { return handleUnit(done); })))
    return failure();
  totals.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  collect();
  for (const std::unique_ptr<OutputStream> &stream : streams)
    if (llvm::Error error = stream->commit())
      return report(std::move(error));
  return std::move(totals);
}

FailureOr<execution::EvaluationTotals>
execution::measure(ModuleOp module, ModuleOp reference, RunSettings settings,
                   const EvaluationOptions &options) {
  return EvaluationRun(module, reference, std::move(settings), options).run();
}
