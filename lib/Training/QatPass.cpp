// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Labels.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Support/Npy.h"
#include "mct/Training/Passes.h"
#include "mct/Training/Qat.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mct {
#define GEN_PASS_DEF_QATPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct QatPass : public WithGradientModels<execution::NetworkPass<
                     EntryFunctionPass<mct::impl::QatPassBase<QatPass>>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override {
    QatOptions options;
    FailureOr<execution::RunSettings> settings = readOptions(options, entry);
    if (failed(settings))
      return failure();
    std::vector<double> stepLosses;
    options.settings.afterStep = [&](const TrainingStepInfo &info) {
      stepLosses.push_back(info.loss);
      return true;
    };
    if (failed(trainQuantized(entry, getAnalysis<KernelOps>(), options,
                              *settings)) ||
        failed(writeLosses(stepLosses)))
      return failure();
    return success();
  }

private:
  LogicalResult readSettings(TrainingSettings &settings);
  FailureOr<execution::RunSettings> readOptions(QatOptions &options,
                                                func::FuncOp entry);
  LogicalResult writeLosses(ArrayRef<double> losses);
};
} // namespace

LogicalResult QatPass::readSettings(TrainingSettings &settings) {
  auto createOptimizer = [&](double rate) {
    OptimizerSettings made = makeOptimizer(optimizer, rate, momentum, schedule);
    made.isRelative = true;
    made.schedule.warmup = int64_t(uint64_t(warmup));
    return made;
  };
  if (momentum != 0 && optimizer != OptimizerKind::GradientDescent)
    return fail() << "momentum=" << double(momentum)
                  << " is of optimizer=sgd; Adam has its own";
  settings.epochs = int64_t(uint64_t(epochs));
  settings.batch = int64_t(uint64_t(batch));
  settings.seed = seed;
  settings.weights = createOptimizer(weightsRate);
  if (trainBias)
    settings.biases = createOptimizer(biasesRate);
  settings.quantizers = createOptimizer(quantizersRate);
  settings.checkpoint = checkpoint;
  settings.checkpointEvery = int64_t(uint64_t(checkpointEvery));
  if (checkpointEvery != 0 && checkpoint.empty())
    return fail() << "checkpoint-every=" << uint64_t(checkpointEvery)
                  << " needs a file; give checkpoint=FILE";
  return success();
}

FailureOr<execution::RunSettings> QatPass::readOptions(QatOptions &options,
                                                       func::FuncOp entry) {
  options.trainable.weights = weights;
  options.trainable.activations = activations;
  options.trainable.masksClipped = maskClipped;
  options.loss = loss;
  options.trainsBiases = trainBias;
  if (failed(readSettings(options.settings)))
    return failure();
  if (epochs == 0)
    return execution::RunSettings();
  if (llvm::none_of(entry.getOps<tpc::QuantizeOp>(), [](tpc::QuantizeOp point) {
        return point.getParametersAttr() || point.getTrainableAttr();
      }))
    return entry.emitOpError("has no point with parameters, or one that says "
                             "how it is trained; quantize it first, with "
                             "mct-ptq for example");
  if (failed(checkSamples("training")))
    return failure();
  if ((loss == QatLoss::CrossEntropy) != !labels.empty()) {
    if (labels.empty())
      return fail() << "loss=cross-entropy needs the class of each sample; "
                       "give labels=FILE.npy, or take loss=kl";
    return fail() << "labels are of loss=cross-entropy; the other losses "
                     "compare with the float network";
  }
  if (failed(checkOutputs({checkpoint, lossesOut}, {labels})))
    return failure();
  if (!labels.empty()) {
    auto read = execution::readLabels(labels);
    if (!read)
      return fail() << llvm::toString(read.takeError());
    options.labels = std::move(*read);
  }
  return parseRunSettings("training", /*batchSize=*/0, threads);
}

LogicalResult QatPass::writeLosses(ArrayRef<double> losses) {
  if (lossesOut.empty())
    return success();
  auto writer = support::NpyWriter::create(lossesOut, support::ElementType::F64,
                                           {int64_t(losses.size())});
  if (!writer)
    return fail() << llvm::toString(writer.takeError());
  (*writer)->write(losses.data(), losses.size() * sizeof(double));
  if (llvm::Error error = (*writer)->commit())
    return fail() << llvm::toString(std::move(error));
  return success();
}
