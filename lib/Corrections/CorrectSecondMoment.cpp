// SPDX-License-Identifier: Apache-2.0
#include "ChannelRun.h"
#include "CorrectLayers.h"
#include "Layers.h"
#include "mct/Corrections/Passes.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/IR/DependentOps.h"

namespace mct {
#define GEN_PASS_DEF_CORRECTSECONDMOMENTPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;
using quantization::Affine;

/// Returns the reason why the thresholds of a layer cannot be scaled with its
/// channels; none if they can.
static std::optional<Record> getNotScalableReason(const Layer &layer,
                                                  unsigned maxBits) {
  tpc::QuantizeOp point = layer.point;
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (parameters.getBits() > maxBits)
    return Record(Reason::TooManyBits)
           << "its kernel has more bits than max-bits";
  if (!parameters.takesFactors())
    return Record(Reason::TakesNoFactors)
           << "parameters of its method, "
           << named("method",
                    parameters.getQuantizationMethod().getMethodName())
           << ", cannot be multiplied by any factor";
  if (layer.op.numOutputChannels() == 1)
    return std::nullopt;
  if (!llvm::equal(point.getChannelAxes(), layer.op.getOutAxes()) ||
      int64_t(parameters.getNumChannels()) != layer.op.numOutputChannels())
    return Reason::NotPerChannel;
  return std::nullopt;
}

/// Drops statistics and parameters of the points after a value, which belong to
/// another network now.
static void forgetDependentPoints(ArrayRef<Value> values) {
  for (Operation *op : findDependentOps(values))
    if (auto point = dyn_cast<tpc::QuantizeOp>(op);
        point && point.isActivation()) {
      point.removeStatisticsAttr();
      point.removeQuantizer();
    }
}

namespace {
struct CorrectSecondMomentPass
    : public execution::ShardedNetworkPass<
          mct::impl::CorrectSecondMomentPassBase<CorrectSecondMomentPass>> {
  using ShardedNetworkPass::ShardedNetworkPass;

  void runOnOperation() override {
    FailureOr<Layers> found =
        Layers::find(getOperation(), getAnalysis<KernelOps>(), function,
                     getArgument(), remarks);
    if (failed(found))
      return signalPassFailure();
    SmallVector<Layer *> layers;
    for (Layer &layer : found->layers) {
      std::optional<Record> why = layer.point.getCorrectionsAttr()
                                      ? Reason::CorrectedBefore
                                      : getNotScalableReason(layer, maxBits);
      if (!why)
        layers.push_back(&layer);
      else if (remarks)
        remarkLeftAlone(layer.op.getOperation(), getArgument(), *why);
    }
    if (layers.empty())
      return;
    FailureOr<execution::RunSettings> settings =
        parseOwnSettings("correcting", batchSize, threads);
    if (failed(settings) || failed(correct(*found, layers, *settings)))
      signalPassFailure();
  }

private:
  LogicalResult correct(const Layers &found, ArrayRef<Layer *> layers,
                        const execution::RunSettings &settings);
};
} // namespace

LogicalResult
CorrectSecondMomentPass::correct(const Layers &found, ArrayRef<Layer *> layers,
                                 const execution::RunSettings &settings) {
  LayerCorrectionOptions options;
  options.moments = true;
  std::optional<execution::Shards> shards;
  std::optional<ShardMoments> moments;
  if (isSharded()) {
    auto opened = openShards();
    if (failed(opened))
      return failure();
    shards = std::move(*opened);
    std::string key = execution::nameContent(getOperation()) + " " +
                      func::FuncOp(found.function).getSymName().str() + " " +
                      std::to_string(maxBits);
    auto known = ShardMoments::find(*shards, key);
    if (failed(known))
      return failure();
    moments = std::move(*known);
    options.shards = &*moments;
  }
  options.how = tpc::kSecondMomentCorrection;
  if (failed(correctLayers(
          found, layers, settings, options,
          [&](size_t, const ChannelSummary &exact,
              const ChannelSummary &measured, int64_t) {
            SmallVector<Affine> correction;
            for (int64_t channel = 0; channel != measured.numChannels();
                 ++channel)
              correction.push_back(quantization::secondMomentCorrection(
                  exact.moments(channel), measured.moments(channel)));
            return correction;
          })))
    return failure();
  forgetDependentPoints(llvm::map_to_vector(
      layers, [](Layer *layer) { return layer->op.getResult(); }));
  return success();
}
