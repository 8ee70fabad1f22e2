// SPDX-License-Identifier: Apache-2.0
#include "CompressedWeights.h"

#include "mct/Cost/EncodedWeights.h"
#include "mct/Cost/StoredValues.h"
#include "mct/Transforms/Candidates.h"
#include <algorithm>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using quantization::WeightOrder;

/// Returns the number of cycles that the computation of a layer takes.
static double getComputeCycles(const KernelOp &layer,
                               tpc::RepeatedLayersOp costs) {
  auto result =
      dyn_cast<RankedTensorType>(layer.getOperation()->getResult(0).getType());
  if (!result || !costs)
    return 0;
  auto results = double(countElements(result));
  double products = results / double(layer.numOutputChannels());
  for (int64_t size : layer.getKernelShape())
    products *= double(size);
  return std::max(results * costs.getResult().convertToDouble(),
                  products * costs.getProduct().convertToDouble());
}

CompressedWeights mct::bit_widths::estimateCompressedWeights(
    func::FuncOp function, const KernelOps &kernels,
    ArrayRef<OperatorPoints> choices, ArrayRef<OperatorCandidates> candidates,
    tpc::DeviceOp device) {
  CompressedWeights found;
  llvm::DenseSet<Operation *> chosen;
  tpc::CompressedWeightsOp reading;
  tpc::RepeatedLayersOp costs;
  if (device) {
    reading = device.getFact<tpc::CompressedWeightsOp>();
    costs = device.getFact<tpc::RepeatedLayersOp>();
  }
  WeightOrder order = reading ? reading.getOrder() : WeightOrder::EthosU55;
  for (auto [of, candidate] : llvm::zip(choices, candidates)) {
    std::vector<int64_t> &bits =
        found.bits.emplace_back(candidate.alternatives.size());
    std::vector<int64_t> &waits =
        found.waits.emplace_back(candidate.alternatives.size());
    for (tpc::QuantizeOp point : of.points) {
      chosen.insert(point);
      if (!point.isWeight())
        continue;
      std::optional<KernelOp> layer = findLayer(point, kernels);
      for (auto [index, alternative] :
           llvm::enumerate(candidate.alternatives)) {
        const PointQuantizer &own =
            alternative.find(point.getUniqueName())->second;
        if (!own.quantizer)
          continue;
        int64_t size =
            estimateEncodedBits(point, own.quantizer, own.axes, layer, order);
        bits[index] += size;
        if (!layer || !reading)
          continue;
        double cycles = double(size) / 8 * reading.getByte().convertToDouble();
        waits[index] +=
            int64_t(std::max(0.0, cycles - getComputeCycles(*layer, costs)));
      }
    }
  }
  function.walk([&](tpc::QuantizeOp point) {
    if (point.isWeight() && point.getParametersAttr() &&
        !chosen.contains(point))
      found.others += estimateEncodedBits(point, point.getParametersAttr(),
                                          point.getChannelAxes(),
                                          findLayer(point, kernels), order);
  });
  return found;
}
