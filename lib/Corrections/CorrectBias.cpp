// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"
#include "Layers.h"
#include "mct/Corrections/Passes.h"
#include "mct/Execution/RunCache.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {
#define GEN_PASS_DEF_CORRECTBIASPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::Affine;

namespace {
struct CorrectBiasPass
    : public mct::impl::CorrectBiasPassBase<CorrectBiasPass> {
  using CorrectBiasPassBase::CorrectBiasPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpc::TpcDialect>();
    execution::Executor::registerDependencies(registry);
  }

  void runOnOperation() override {
    FailureOr<Layers> found =
        Layers::find(getOperation(), function, getArgument(), remarks);
    if (failed(found))
      return signalPassFailure();
    bool fromInputs = estimate == BiasEstimate::InputMean;
    SmallVector<Layer *> layers;
    for (Layer &layer : found->layers) {
      auto leaveAlone = [&](Reason why) {
        if (remarks)
          remarkLeftAlone(layer.op.getOperation(), getArgument(), why);
      };
      if (layer.isCorrected(tpc::kInputMeanCorrection) ||
          layer.isCorrected(tpc::kQuantizedNetworkCorrection))
        leaveAlone(Reason::CorrectedBefore);
      else if (fromInputs && layer.isCorrected(tpc::kSecondMomentCorrection))
        leaveAlone(Reason::MeanCorrected);
      else
        layers.push_back(&layer);
    }
    if (layers.empty())
      return;
    FailureOr<execution::RunSettings> settings =
        parseSettings(getOperation().getLoc(), calibrationData, inputScale,
                      inputOffset, calibrationSamples, batchSize, threads,
                      maxMemory, getAnalysis<execution::RunCache>());
    if (failed(settings) ||
        failed(fromInputs ? correctFromInputs(*found, layers, *settings)
                          : correctFromOutputs(*found, layers, *settings)))
      signalPassFailure();
  }

private:
  LogicalResult correctFromInputs(const Layers &found, ArrayRef<Layer *> layers,
                                  const execution::RunSettings &settings);
  LogicalResult correctFromOutputs(const Layers &found,
                                   ArrayRef<Layer *> layers,
                                   const execution::RunSettings &settings);
};
} // namespace

LogicalResult
CorrectBiasPass::correctFromInputs(const Layers &found,
                                   ArrayRef<Layer *> layers,
                                   const execution::RunSettings &settings) {
  StringRef name = func::FuncOp(found.function).getSymName();
  IRMapping mapping;
  OwningOpRef<ModuleOp> floating = found.cloneFloat(mapping);
  SmallVector<ChannelValue> inputs;
  for (Layer *layer : layers) {
    Operation *copy = mapping.lookup(layer->op.getOperation());
    unsigned number = layer->op.getInput().getOperandNumber();
    inputs.push_back({copy->getOperand(number), layer->op.inputAxis()});
  }
  auto inputMeans = runFloat(floating->lookupSymbol<func::FuncOp>(name), inputs,
                             settings, {});
  if (failed(inputMeans))
    return failure();

  for (auto [layer, summary] : llvm::zip(layers, *inputMeans)) {
    std::vector<double> mean;
    for (int64_t channel = 0; channel != summary.numChannels(); ++channel)
      mean.push_back(summary.mean(channel));
    ConstantFloats kernel = layer->op.getKernel();
    std::vector<float> error = quantizedKernel(*layer);
    for (auto [quantized, exact] : llvm::zip(error, kernel.values()))
      quantized -= exact;
    SmallVector<Affine> correction;
    for (double term : layer->op.contract(error, mean))
      correction.push_back({1, -term});
    if (failed(applyCorrection(*layer, correction, tpc::kInputMeanCorrection)))
      return failure();
  }
  return success();
}

LogicalResult
CorrectBiasPass::correctFromOutputs(const Layers &found,
                                    ArrayRef<Layer *> layers,
                                    const execution::RunSettings &settings) {
  ChannelRunOptions options;
  options.maxSamples = int64_t(uint64_t(maxSamples));
  return correctLayers(
      found, layers, settings, options, tpc::kQuantizedNetworkCorrection,
      [&](size_t number, const ChannelSummary &exact,
          const ChannelSummary &seen, int64_t numSamples) {
        const std::vector<float> &bias = layers[number]->bias;
        SmallVector<Affine> correction;
        SmallVector<SampleMeans::Difference> errors;
        // Squares of errors in units of what chance makes of them, with so
        // many samples.
        auto samples = double(numSamples);
        double total = 0, known = 0, energy = 0;
        for (int64_t channel = 0; channel != seen.numChannels(); ++channel) {
          errors.push_back(exact.differenceFrom(seen, channel));
          auto [error, variance] = errors.back();
          energy += error * error - variance;
          if (variance == 0)
            continue;
          constexpr double kSureEnough = 9;
          total += std::min(kSureEnough, error * error / variance *
                                             (samples - 3) / (samples - 1));
          ++known;
        }
        // What other samples would not show again is left out: more where
        // the errors of a layer differ little from chance altogether, for
        // few samples say little about a single channel. Both the largest
        // errors and the many may show that they are more than that.
        double ofMany = total > 0 ? std::max(0.0, 1 - known / total) : 0;
        double spread = std::max(0.0, energy / double(errors.size()));
        for (auto [error, variance] : errors) {
          if (shrink && variance > 0 && error != 0)
            error *= std::clamp(1 - variance / (error * error), 0.0,
                                std::max(ofMany, spread / (spread + variance)));
          correction.push_back({1, error});
        }
        // The layers behind see the bias that the module gets.
        for (auto [affine, value] : llvm::zip(correction, bias))
          affine.offset = double(float(value + affine.offset)) - double(value);
        return correction;
      });
}
