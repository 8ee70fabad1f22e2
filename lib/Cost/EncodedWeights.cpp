// SPDX-License-Identifier: Apache-2.0
#include "mct/Cost/EncodedWeights.h"

#include "mct/Quantizers/Channels.h"
#include "mct/Quantizers/Grid.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::Grid;
using quantization::KernelCodes;

/// Returns the codes of all weights minus their zero points.
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

/// Orders the kernel's codes by output channel, position and input channel.
static KernelCodes arrange(const KernelOp &layer, ArrayRef<int16_t> codes) {
  KernelCodes kernel;
  kernel.outputs = layer.numOutputChannels();
  kernel.isDepthwise = layer.isDepthwise();
  kernel.inputs = kernel.isDepthwise ? 1 : layer.numInputChannels();
  auto positions = std::max<int64_t>(
      1, int64_t(codes.size()) /
             std::max<int64_t>(1, kernel.outputs * kernel.inputs));
  // The last axis of the window.
  for (auto [axis, size] : llvm::enumerate(layer.getKernelShape()))
    if (!llvm::is_contained(layer.getOutAxes(), int64_t(axis)) &&
        layer.getInAxis() != int64_t(axis) && positions % size == 0)
      kernel.width = size;
  kernel.height = positions / kernel.width;
  kernel.codes.resize(kernel.outputs * positions * kernel.inputs);
  // The elements of a pair of channels are in the order of window positions.
  std::vector<int64_t> numPrevious(kernel.outputs * kernel.inputs);
  for (auto [element, code] : llvm::enumerate(codes)) {
    int64_t output = layer.outChannelOf(int64_t(element));
    int64_t input =
        kernel.isDepthwise ? 0 : layer.inChannelOf(int64_t(element));
    int64_t position = numPrevious[output * kernel.inputs + input]++;
    if (position < positions)
      kernel.codes[(output * positions + position) * kernel.inputs + input] =
          code;
  }
  return kernel;
}

int64_t mct::estimateEncodedBits(tpc::QuantizeOp point,
                                 tpc::QuantizerAttrInterface quantizer,
                                 ArrayRef<int64_t> axes,
                                 const std::optional<KernelOp> &layer,
                                 quantization::WeightOrder order) {
  std::optional<ConstantFloats> values = ConstantFloats::get(point.getInput());
  if (!values)
    return 0;
  auto elements = int64_t(values->values().size());
  SmallVector<Grid> grids = quantizer.getGrids();
  constexpr int64_t kCodeBits = 8;
  if (!layer || grids.empty() || quantizer.getBits() > kCodeBits)
    return elements * int64_t(quantizer.getBits());
  return quantization::estimateEncodedBits(
      arrange(*layer, getCodes(*values, grids, axes)), order);
}
