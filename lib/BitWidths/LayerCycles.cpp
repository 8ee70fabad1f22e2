// SPDX-License-Identifier: Apache-2.0
#include "LayerCycles.h"

#include "BitWidthModel.h"
#include "mct/Cost/EncodedWeights.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

static LogicalResult checkActivations(ArrayRef<OperatorPoints> choices) {
  for (const OperatorPoints &of : choices)
    for (tpc::QuantizeOp point : of.points) {
      if (!point.isActivation())
        continue;
      for (int64_t each = 1; each != of.numAlternatives(); ++each)
        if (getBitsIn(point, each) != getBitsIn(point, 0))
          return point.emitError()
                 << "alternatives of '" << of.name.getValue()
                 << "' have results of " << getBitsIn(point, 0) << " and "
                 << getBitsIn(point, each)
                 << " bits; cycles are known of alternatives that differ in "
                    "their kernels: give activations one width by overrides";
    }
  return success();
}

/// Returns the size of a layer's weights in bytes if an operator has an
/// alternative and all others keep theirs.
static int64_t getBytes(const CostedLayer &layer,
                        const Quantizers &alternative) {
  int64_t bits = 0;
  for (const CostedLayer::Weight &weight : layer.weights) {
    tpc::QuantizeOp point = weight.point;
    tpc::QuantizerAttrInterface quantizer = point.getParametersAttr();
    SmallVector<int64_t> axes(point.getChannelAxes());
    if (auto own = alternative.find(point.getUniqueName());
        own != alternative.end()) {
      quantizer = own->second.quantizer;
      axes = own->second.axes;
    }
    if (quantizer)
      bits += estimateEncodedBits(point, quantizer, axes, weight.layer);
  }
  return int64_t(llvm::divideCeil(uint64_t(bits), 8));
}

/// Returns the width of the kernel in an alternative.
static std::optional<int64_t> getKernelBits(const CostedLayer &layer,
                                            const OperatorPoints &of,
                                            int64_t alternative) {
  for (const CostedLayer::Weight &weight : layer.weights)
    if (weight.layer && llvm::is_contained(of.points, weight.point))
      return getBitsIn(weight.point, alternative);
  return layer.getKernelBits();
}

FailureOr<LayerCycles> mct::bit_widths::computeLayerCycles(
    func::FuncOp function, const KernelOps &kernels,
    ArrayRef<OperatorPoints> choices, ArrayRef<OperatorCandidates> candidates,
    const CostTable &table) {
  if (failed(checkActivations(choices)))
    return failure();
  LayerCycles found;
  llvm::DenseMap<Operation *, size_t> groups;
  for (auto [number, of] : llvm::enumerate(choices)) {
    found.cycles.emplace_back(of.numAlternatives(), 0);
    for (tpc::QuantizeOp point : of.points)
      groups[point] = number;
  }
  for (const CostedLayer &layer : findCostedLayers(function, kernels)) {
    std::optional<size_t> group;
    for (const CostedLayer::Weight &weight : layer.weights)
      if (auto known = groups.find(weight.point); known != groups.end())
        group = known->second;
    if (!group) {
      std::optional<LayerCost> cost = table.find(layer);
      if (!cost)
        return table.reportMissing(layer);
      found.others += cost->cycles;
      continue;
    }
    for (auto [index, alternative] :
         llvm::enumerate(candidates[*group].alternatives)) {
      std::optional<LayerCost> cost = table.find(
          layer, getKernelBits(layer, choices[*group], int64_t(index)),
          getBytes(layer, alternative));
      if (!cost)
        return table.reportMissing(layer);
      found.cycles[*group][index] += cost->cycles;
    }
  }
  return found;
}
