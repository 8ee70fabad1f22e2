// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"
#include "CorrectLayers.h"
#include "Layers.h"
#include "mct/Corrections/Passes.h"
#include "mct/Execution/NetworkPass.h"
#include "tpc_dialect/IR/TpcRejections.h"

namespace mct {
#define GEN_PASS_DEF_CORRECTBIASPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::Affine;

namespace {
struct CorrectBiasPass : public execution::ShardedNetworkPass<
                             mct::impl::CorrectBiasPassBase<CorrectBiasPass>> {
  using ShardedNetworkPass::ShardedNetworkPass;

  void runOnOperation() override {
    FailureOr<Layers> found =
        Layers::find(getOperation(), getAnalysis<KernelOps>(), function,
                     getArgument(), remarks);
    if (failed(found))
      return signalPassFailure();
    bool fromInputs = estimate == BiasEstimate::InputMean;
    SmallVector<Layer *> layers;
    StringRef how = fromInputs ? tpc::kInputMeanCorrection
                               : tpc::kQuantizedNetworkCorrection;
    for (Layer &layer : found->layers) {
      auto leaveAlone = [&](const Record &why) {
        if (remarks)
          remarkLeftAlone(layer.op.getOperation(), getArgument(), why);
      };
      if (layer.isCorrected(tpc::kInputMeanCorrection) ||
          layer.isCorrected(tpc::kQuantizedNetworkCorrection) ||
          layer.isCorrected(tpc::kRoundedWeights))
        leaveAlone(Reason::CorrectedBefore);
      else if (tpc::isRejected(found->function, how,
                               layer.point.getUniqueName()))
        leaveAlone(describeRejectedBefore());
      else if (fromInputs && layer.isCorrected(tpc::kSecondMomentCorrection))
        leaveAlone(Reason::MeanCorrected);
      else
        layers.push_back(&layer);
    }
    if (layers.empty())
      return;
    FailureOr<execution::RunSettings> settings = parseRunSettings(
        "correcting", batchSize, threads,
        {int64_t(uint64_t(maxSamples)), half != execution::SampleHalf::All});
    if (succeeded(settings))
      settings->half = half;
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
  LayerCorrectionOptions options;
  options.maxSamples = int64_t(uint64_t(maxSamples));
  options.how = tpc::kQuantizedNetworkCorrection;
  options.judges = judge;
  options.method = shrink ? "shrunk biases" : "biases";
  options.remarks = remarks;
  options.pass = getArgument();
  return correctLayers(found, layers, settings, options,
                       [&](size_t number, const ChannelSummary &exact,
                           const ChannelSummary &measured, int64_t numSamples) {
                         return biasCorrection(exact, measured, numSamples,
                                               layers[number]->bias, shrink);
                       });
}
