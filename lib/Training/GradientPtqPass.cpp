// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/NetworkPass.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/Records.h"
#include "mct/Training/GradientPtq.h"
#include "mct/Training/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mct {
#define GEN_PASS_DEF_GRADIENTPTQPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct GradientPtqPass
    : public WithGradientModels<execution::NetworkPass<
          EntryFunctionPass<mct::impl::GradientPtqPassBase<GradientPtqPass>>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override {
    if (epochs == 0)
      return success();
    GradientPtqOptions options;
    if (failed(readOptions(options)))
      return failure();
    FailureOr<execution::RunSettings> settings =
        parseRunSettings("training", batchSize, threads);
    if (failed(settings) || failed(checkOutputs(std::string(checkpoint))))
      return failure();
    FailureOr<GradientPtqResult> result =
        trainRounding(entry, getAnalysis<KernelOps>(), options, *settings);
    if (failed(result))
      return failure();
    report(entry, *result);
    return success();
  }

private:
  LogicalResult readOptions(GradientPtqOptions &options);
  LogicalResult readLoss(GradientPtqOptions &options);
  void report(func::FuncOp entry, const GradientPtqResult &result);
};
} // namespace

LogicalResult GradientPtqPass::readLoss(GradientPtqOptions &options) {
  options.loss = loss;
  options.temperature = temperature;
  if (!(temperature > 0))
    return fail() << "a temperature is positive, but temperature="
                  << double(temperature);
  if (loss == GptqLoss::Attention && !hessianWeights)
    return fail() << "loss=attention is made of Hessian scores; drop "
                     "hessian-weights=false, or take loss=mse";
  if (loss == GptqLoss::Divergence || !hessianWeights)
    return success();
  options.hessian.emplace();
  options.hessian->samples = int64_t(uint64_t(hessianSamples));
  options.hessian->batch = int64_t(uint64_t(hessianBatch));
  options.hessian->normalization = {normScores, logNorm, scaleLogNorm};
  return success();
}

LogicalResult GradientPtqPass::readOptions(GradientPtqOptions &options) {
  if (failed(readLoss(options)))
    return failure();
  options.rounding = rounding;
  options.softness = softness;
  if (!(softness >= 0 && softness <= 0.5))
    return fail() << "a weight starts at most half a step from its level, but "
                     "softness="
                  << double(softness) << "; give a number from 0 to 0.5";
  options.mostLevels = mostLevels;
  if (!(mostLevels > 0))
    return fail() << "weights are moved by a positive number of levels at "
                     "most, but most-levels="
                  << double(mostLevels);
  options.learnsScales = learnScales;
  options.learnsActivations = learnThresholds;
  options.masksClipped = maskClipped;
  if (!gradual && (gradualInitial != 0 || gradualTarget != 1 ||
                   gradualStart != 0 || gradualEnd != -1))
    return fail() << "gradual-initial, gradual-target, gradual-start and "
                     "gradual-end are of gradual=true; give it, too";
  if (gradual)
    options.gradual = {gradualInitial, gradualTarget, gradualStart, gradualEnd};

  const std::tuple<StringRef, OptimizerKind, double> optimizers[] = {
      {"", optimizer, momentum},
      {"bias-", biasOptimizer, biasMomentum},
      {"quantizer-", quantizerOptimizer, quantizerMomentum}};
  for (auto [prefix, kind, given] : optimizers)
    if (given != 0 && kind == OptimizerKind::Adam)
      return fail() << prefix << "momentum=" << given << " is of " << prefix
                    << "optimizer=sgd; Adam has its own";
  TrainingSettings &settings = options.settings;
  settings.epochs = int64_t(uint64_t(epochs));
  settings.batch = int64_t(uint64_t(batch));
  settings.seed = seed;
  settings.rounding = makeOptimizer(optimizer, rate, momentum, schedule);
  if (trainBias)
    settings.biases =
        makeOptimizer(biasOptimizer, biasRate, biasMomentum, schedule);
  if (learnScales || learnThresholds)
    settings.quantizers = makeOptimizer(quantizerOptimizer, quantizerRate,
                                        quantizerMomentum, schedule);
  double factor = regularization;
  if (factor < 0)
    factor = loss == GptqLoss::Attention    ? 10
             : loss == GptqLoss::Divergence ? 0
                                            : 0.01;
  if (rounding == GptqRounding::Soft && factor != 0) {
    settings.regularizer.emplace();
    settings.regularizer->factor = factor;
  }
  settings.checkpoint = checkpoint;
  settings.checkpointEvery = int64_t(uint64_t(checkpointEvery));
  if (checkpointEvery != 0 && checkpoint.empty())
    return fail() << "checkpoint-every=" << uint64_t(checkpointEvery)
                  << " needs a file; give checkpoint=FILE";
  return success();
}

/// Same as `emitRecord`, but emits a warning: users must notice that training
/// gained nothing.
static void emitWarningRecord(Operation *op, StringRef pass,
                              const Record &record, const Twine &prefix) {
  InFlightDiagnostic warning = op->emitWarning() << prefix << record.getText();
  warning.getUnderlyingDiagnostic()->getMetadata().push_back(
      DiagnosticArgument(Attribute(record.toAttribute(op, pass))));
}

void GradientPtqPass::report(func::FuncOp entry,
                             const GradientPtqResult &result) {
  if (result.layers == 0) {
    emitWarningRecord(entry, getArgument(),
                      Record(Reason::KernelNotQuantized)
                          << "no layer has a kernel of its own on evenly "
                             "spaced levels",
                      "'func.func' op is not trained: ");
    return;
  }
  Record record(result.isBetter() ? Decision::Applied : Decision::Declined,
                result.isBetter() ? Reason::RoundedTogether
                                  : Reason::ErrorWouldRise);
  record << (result.isBetter() ? "training lowers" : "training does not lower")
         << (result.metric == execution::ResultMetric::KL
                 ? " the divergence"
                 : " the mean squared error")
         << " of its results on " << named("judged", result.judged)
         << " samples from " << named("before", result.before, "%.6g")
         << (result.isBetter() ? " to " : ", but makes it ")
         << named("after", result.after, "%.6g");
  if (!result.isBetter())
    record << "; it stays as it is";
  record.add(named("layers", result.layers))
      .add(named("trained", result.trained));
  // Users must notice that training was in vain.
  if (!result.isBetter())
    emitWarningRecord(entry, getArgument(), record, "'func.func' op: ");
  else if (remarks)
    emitRecord(entry, getArgument(), record, "'func.func' op: ");
}
