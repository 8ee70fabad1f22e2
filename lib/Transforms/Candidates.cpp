// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/Candidates.h"
#include "mct/IR/DependentOps.h"
#include "mct/Planning/QuantizationPlan.h"

using namespace mlir;
using namespace mct;

std::optional<KernelOp> mct::findLayer(tpc::QuantizeOp point,
                                       const KernelOps &kernels) {
  for (Operation *user : point->getUsers())
    if (std::optional<KernelOp> layer = kernels.get(user);
        layer && layer->getKernelPoint() == point)
      return layer;
  return std::nullopt;
}

/// Returns true if the corrections depend on how the preceding layers are
/// quantized.
static bool dependsOnNetwork(tpc::CorrectionsAttr corrections) {
  return corrections.isApplied(tpc::kQuantizedNetworkCorrection) ||
         corrections.isApplied(tpc::kSecondMomentCorrection) ||
         corrections.isApplied(tpc::kActivationBiasCorrection) ||
         corrections.isApplied(tpc::kRoundedWeights);
}

static bool scalesKernel(tpc::CorrectionsAttr corrections) {
  return llvm::any_of(corrections.getKernelScale(),
                      [](double scale) { return scale != 1; });
}

static bool isQuantizedDifferently(tpc::QuantizeOp point, Attribute config) {
  if (!point.getAlternatives())
    return false;
  if (point.isWeight())
    return config != point.getConfigAttr();
  return !haveEqualActivation(point.getActivationConfig(),
                              cast<tpc::OpQuantConfigAttr>(config));
}

/// Returns each layer whose corrections become invalid when the results of
/// `changed` are quantized in another way.
static SmallVector<KernelOp> findStaleLayers(ArrayRef<tpc::QuantizeOp> changed,
                                             const KernelOps &kernels) {
  SmallVector<KernelOp> stale;
  SmallVector<Value> values;
  llvm::SmallPtrSet<Operation *, 8> visited;
  auto add = [&](const KernelOp &layer) {
    if (layer.getCorrections() && visited.insert(layer.getOperation()).second)
      stale.push_back(layer);
  };
  for (tpc::QuantizeOp point : changed) {
    values.push_back(point.getResult());
    if (point.isWeight())
      if (std::optional<KernelOp> layer = findLayer(point, kernels))
        add(*layer);
  }
  for (Operation *op : findDependentOps(values))
    if (std::optional<KernelOp> layer = kernels.get(op))
      if (tpc::CorrectionsAttr corrections = layer->getCorrections();
          corrections && dependsOnNetwork(corrections))
        add(*layer);
  return stale;
}

/// Returns the axes of a weight's channels under another config.
static DenseI64ArrayAttr getNewAxes(tpc::QuantizeOp point,
                                    tpc::AttrQuantConfigAttr config,
                                    const KernelOps &kernels) {
  StringRef genericName = getGenericWeightName(point);
  if (genericName != tpc::kPositionalWeight &&
      config.getPerChannel() == point.getWeightConfig().getPerChannel())
    return point.getAxesAttr();
  if (point->use_empty() ||
      point->use_begin()->getOwner()->getNumResults() == 0)
    return {};
  OpOperand &operand = *point->use_begin();
  Operation *user = operand.getOwner();
  return getChannelAxes(kernels.getInfo(user->getName().getStringRef()),
                        operand, genericName, user->getResult(0), config);
}

LogicalResult mct::chooseCandidate(const OperatorPoints &of, int64_t index,
                                   const KernelOps &kernels) {
  if (index == of.getChosen())
    return success();
  SmallVector<tpc::QuantizeOp> changed;
  for (tpc::QuantizeOp point : of.points)
    if (isQuantizedDifferently(point, OperatorPoints::getConfig(point, index)))
      changed.push_back(point);
  SmallVector<KernelOp> stale = findStaleLayers(changed, kernels);
  for (const KernelOp &layer : stale)
    if (!layer.canTakeBackCorrections()) {
      tpc::QuantizeOp point = layer.getKernelPoint(),
                      chosen = of.points.front();
      InFlightDiagnostic diagnostic =
          point.emitOpError()
          << "has corrections that cannot be taken back: they are of "
          << layer.getCorrections().getBiasOffset().size()
          << " channels, and the layer has " << layer.numOutputChannels()
          << (layer.getBias() ? "" : ", with a bias that is not constant")
          << (point->hasOneUse() ? "" : ", with a kernel that others share")
          << "; choose before the corrections are made";
      diagnostic.attachNote(chosen.getLoc())
          << "alternative " << index << " of '" << of.name.getValue()
          << "' changes what they were measured on";
      return diagnostic;
    }

  OpBuilder builder(of.name.getContext());
  SmallVector<Value> rescaled;
  for (const KernelOp &layer : stale) {
    if (scalesKernel(layer.getCorrections()))
      rescaled.push_back(layer.getResult());
    layer.takeBackCorrections(builder);
  }
  for (Operation *op : findDependentOps(rescaled))
    if (auto point = dyn_cast<tpc::QuantizeOp>(op);
        point && point.isActivation()) {
      point.removeStatisticsAttr();
      point.removeQuantizer();
    }
  for (tpc::QuantizeOp point : changed) {
    point.removeQuantizer();
    if (point.isActivation())
      continue;
    auto config =
        cast<tpc::AttrQuantConfigAttr>(OperatorPoints::getConfig(point, index));
    if (DenseI64ArrayAttr axes = getNewAxes(point, config, kernels))
      point.setAxesAttr(axes);
    else
      point.removeAxesAttr();
  }
  for (tpc::QuantizeOp point : of.points)
    if (tpc::AlternativesAttr alternatives = point.getAlternatives()) {
      point.setConfigAttr(alternatives.getConfigs()[index]);
      point.setCandidatesAttr(alternatives.withChosen(index));
    }
  return success();
}
