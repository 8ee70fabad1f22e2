// SPDX-License-Identifier: Apache-2.0
//
// Updates the ranges of points with the values of samples, without training:
// the network is run forward, batch by batch, in the same way as in a training
// run.
#include "mct/Execution/CallBuffers.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Training/Gradients.h"
#include "mct/Training/Passes.h"
#include "mct/Training/Training.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/MapVector.h"

#include <cstring>

namespace mct {
#define GEN_PASS_DEF_OBSERVERANGESPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using execution::Executor;
using execution::SampleSource;
using mct::tpc::QuantizeOp;

/// Returns whether the point learns something from observed values.
static bool observes(QuantizeOp point) {
  auto follows = [](tpc::LearnedRole role) {
    return role == tpc::LearnedRole::ObservedMinimum ||
           role == tpc::LearnedRole::ObservedMaximum;
  };
  tpc::TrainableAttrInterface trainable = point.getTrainableAttr();
  return trainable && llvm::any_of(trainable.getRoles(), follows);
}

namespace {
/// A network with ranges as arguments and results, compiled for a batch.
struct RangeFunction {
  TrainingFunction training;
  std::unique_ptr<Executor> executor;
};

/// Samples, and the learned values.
class RangeRun {
public:
  RangeRun(Location loc, int64_t batch, const KernelOps &kernels)
      : loc(loc), batch(batch), kernels(kernels) {}

  /// `isFirst`: moving averages begin with the range of the values.
  LogicalResult compile(func::FuncOp network, bool isFirst,
                        const execution::RunSettings &settings,
                        RangeFunction &made);
  LogicalResult open(const RangeFunction &function,
                     const execution::RunSettings &settings);
  /// Runs one batch and stores the new states.
  LogicalResult observe(const RangeFunction &function, int64_t first);

  std::shared_ptr<const SampleSource> samples;
  std::vector<std::vector<float>> values;

private:
  InFlightDiagnostic fail() { return emitError(loc) << "observing ranges: "; }

  Location loc;
  int64_t batch;
  const KernelOps &kernels;
};
} // namespace

LogicalResult RangeRun::compile(func::FuncOp network, bool isFirst,
                                const execution::RunSettings &settings,
                                RangeFunction &made) {
  // The caller's module is not changed.
  OwningOpRef<ModuleOp> module(network->getParentOfType<ModuleOp>().clone());
  auto copy = module->lookupSymbol<func::FuncOp>(network.getName());
  if (isFirst)
    for (auto point : copy.getOps<QuantizeOp>())
      if (auto range = dyn_cast_or_null<tpc::ObservedRangeAttr>(
              point.getTrainableAttr());
          range && range.getObserver() == tpc::Observer::MovingAverage)
        point.setTrainableAttr(tpc::ObservedRangeAttr::get(
            range.getContext(), tpc::Observer::LastValue, range.getBits(),
            range.getIsSymmetric(), range.getIsNarrow(),
            /*decay=*/std::nullopt));
  TrainingRequest request;
  request.name = (network.getName() + "_ranges").str();
  request.samples = batch;
  request.weights = request.biases = false;
  request.kernels = &kernels;
  FailureOr<TrainingFunction> training = makeTrainingFunction(copy, request);
  if (failed(training) || failed(expandTrainablePoints(training->function)))
    return failure();
  execution::CompileOptions options;
  options.function = training->function.getName().str();
  options.keepTypes = true;
  options.maxMemory = settings.maxMemory;
  FailureOr<std::unique_ptr<Executor>> compiled =
      Executor::compile(*module, options, settings.cache.get());
  if (failed(compiled))
    return failure();
  made.training = std::move(*training);
  // It belongs to a module that is destroyed.
  made.training.function = nullptr;
  made.executor = std::move(*compiled);
  return success();
}

LogicalResult RangeRun::open(const RangeFunction &function,
                             const execution::RunSettings &settings) {
  llvm::Expected<std::unique_ptr<SampleSource>> opened = SampleSource::open(
      settings.samples,
      function.executor->inputs().take_front(function.training.numInputs),
      batch, settings.cache.get());
  if (!opened)
    return fail() << llvm::toString(opened.takeError());
  samples = std::move(*opened);
  for (const LearnedValue &value : function.training.learned) {
    values.push_back(value.initial.values);
    // Points that are faded in during training quantize completely.
    if (value.kind == LearnedKind::Schedule)
      llvm::fill(values.back(), 1.0f);
  }
  return success();
}

LogicalResult RangeRun::observe(const RangeFunction &function, int64_t first) {
  const Executor &executor = *function.executor;
  execution::CallBuffers call;
  ArrayRef<execution::TensorSpec> inputs =
      executor.inputs().take_front(function.training.numInputs);
  SmallVector<void *> sampled = call.addInputs(inputs);
  for (const std::vector<float> &value : values)
    call.inputs.push_back(value.data());
  call.addOutputs(executor.outputs());
  if (call.missing)
    return fail() << "there is no memory for a batch";
  int64_t valid = std::min(batch, samples->numSamples() - first);
  // Copies of the last sample do not change a range.
  for (auto [number, buffer] : llvm::enumerate(sampled))
    if (llvm::Error error = execution::loadUnit(
            *samples, number, first, valid, batch, static_cast<char *>(buffer)))
      return fail() << llvm::toString(std::move(error));
  execution::Worker worker(executor);
  if (llvm::Error error =
          worker.run(call.inputs, call.outputs, executor.unit(), 0))
    return fail() << llvm::toString(std::move(error));
  size_t output = function.training.numResults;
  for (auto [value, learned] :
       llvm::zip_equal(values, function.training.learned))
    if (learned.kind == LearnedKind::State)
      std::memcpy(value.data(), call.outputs[output++],
                  value.size() * sizeof(float));
  return success();
}

namespace {
struct ObserveRangesPass
    : public WithGradientModels<execution::NetworkPass<EntryFunctionPass<
          mct::impl::ObserveRangesPassBase<ObserveRangesPass>>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override;
};
} // namespace

LogicalResult ObserveRangesPass::runOn(func::FuncOp entry) {
  if (llvm::none_of(entry.getOps<QuantizeOp>(), observes))
    return entry.emitOpError("has no point with a range that follows its "
                             "values; mct-quantize-apply inserts such points");
  if (batch < 1)
    return entry.emitOpError("cannot observe ranges of batches of 0 samples; "
                             "give batch=32, for example");
  if (calibrationData.empty())
    return entry.emitOpError("needs samples to observe ranges of; give "
                             "calibration-data=FILE.npy");
  FailureOr<execution::RunSettings> settings =
      parseRunSettings("observing", /*batchSize=*/0, /*threads=*/1);
  if (failed(settings))
    return failure();
  RangeRun run(entry.getLoc(), int64_t(batch), getAnalysis<KernelOps>());
  RangeFunction function;
  if (failed(run.compile(entry, /*isFirst=*/false, *settings, function)) ||
      failed(run.open(function, *settings)))
    return failure();
  if (fromFirstBatch) {
    // The other function observes this batch again.
    RangeFunction first;
    if (failed(run.compile(entry, /*isFirst=*/true, *settings, first)) ||
        failed(run.observe(first, 0)))
      return failure();
  }
  for (int64_t first = 0; first < run.samples->numSamples();
       first += int64_t(batch))
    if (failed(run.observe(function, first)))
      return failure();

  // Other learned values are left to a training run.
  llvm::MapVector<QuantizeOp, tpc::TrainableAttrInterface> others;
  for (auto point : entry.getOps<QuantizeOp>())
    if (point.getTrainableAttr() && !observes(point)) {
      others[point] = point.getTrainableAttr();
      point.removeTrainableAttr();
    }
  if (failed(writeLearned(entry, function.training, run.values)))
    return failure();
  for (auto [point, trainable] : others)
    QuantizeOp(point).setTrainableAttr(trainable);
  return success();
}
