// SPDX-License-Identifier: Apache-2.0
#include "CompressedWeights.h"

#include "mct/Cost/StoredValues.h"
#include "mct/IR/Constants.h"
#include "mct/Quantization/WeightCoding.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Quantizers/Grid.h"
#include "mct/Transforms/Candidates.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using quantization::Grid;
using quantization::KernelCodes;

/// Returns the codes of all weights, less the zero points.
static std::vector<int16_t> getCodes(const ConstantFloats &values,
                                     ArrayRef<Grid> grids,
                                     ArrayRef<int64_t> axes) {
  std::vector<int16_t> codes(values.values().size());
  quantization::forEachChannelRun(
      values.shape(), axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        for (size_t i = 0; i != length; ++i) {
          const Grid &grid =
              grids[grids.size() == 1 ? 0 : channel + int64_t(i) * channelStep];
          double code = std::nearbyint(values.values()[begin + i] / grid.step) +
                        double(grid.zeroPoint);
          codes[begin + i] =
              int16_t(std::clamp(code, double(grid.qmin), double(grid.qmax)) -
                      double(grid.zeroPoint));
        }
      });
  return codes;
}

/// Returns the kernel by output channel, position and input channel.
static KernelCodes arrange(const KernelOp &layer, ArrayRef<int16_t> codes) {
  KernelCodes kernel;
  kernel.outputs = layer.numOutputChannels();
  kernel.isDepthwise = layer.isDepthwise();
  kernel.inputs = kernel.isDepthwise ? 1 : layer.numInputChannels();
  kernel.positions = std::max<int64_t>(
      1, int64_t(codes.size()) /
             std::max<int64_t>(1, kernel.outputs * kernel.inputs));
  kernel.codes.resize(kernel.outputs * kernel.positions * kernel.inputs);
  // Elements of one pair of channels follow one another in the window.
  std::vector<int64_t> seen(kernel.outputs * kernel.inputs);
  for (auto [element, code] : llvm::enumerate(codes)) {
    int64_t output = layer.outChannelOf(int64_t(element));
    int64_t input =
        kernel.isDepthwise ? 0 : layer.inChannelOf(int64_t(element));
    int64_t position = seen[output * kernel.inputs + input]++;
    if (position < kernel.positions)
      kernel.codes[(output * kernel.positions + position) * kernel.inputs +
                   input] = code;
  }
  return kernel;
}

/// Returns the bits of a weight under a quantizer.
static int64_t estimateBits(tpc::QuantizeOp point,
                            tpc::QuantizerAttrInterface quantizer,
                            ArrayRef<int64_t> axes, const KernelOps &kernels) {
  std::optional<ConstantFloats> values = ConstantFloats::get(point.getInput());
  if (!values)
    return 0;
  auto elements = int64_t(values->values().size());
  std::optional<KernelOp> layer = findLayer(point, kernels);
  SmallVector<Grid> grids = quantizer.getGrids();
  constexpr int64_t kCodeBits = 8;
  if (!layer || grids.empty() || quantizer.getBits() > kCodeBits)
    return elements * int64_t(quantizer.getBits());
  return quantization::estimateEncodedBits(
      arrange(*layer, getCodes(*values, grids, axes)));
}

/// Returns the cycles that a layer computes for.
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
        int64_t size = estimateBits(point, own.quantizer, own.axes, kernels);
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
      found.others += estimateBits(point, point.getParametersAttr(),
                                   point.getChannelAxes(), kernels);
  });
  return found;
}
