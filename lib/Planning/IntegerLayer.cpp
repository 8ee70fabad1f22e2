// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/IntegerLayer.h"

using namespace mlir;
using namespace mct;
using quantization::Grid;

SmallVector<Grid> mct::getKernelGrids(tpc::QuantizerAttrInterface quantizer) {
  SmallVector<Grid> grids = quantizer.getGrids();
  if (!grids.empty())
    return grids;
  for (double threshold : quantizer.getThresholds()) {
    double step = double(float(threshold)) / 128;
    for (float level : quantizer.getLevels(grids.size())) {
      double code = double(level) / step;
      if (std::abs(code - std::nearbyint(code)) > 0x1p-12 || code < -128.5 ||
          code > 127.5)
        return {};
    }
    grids.push_back({step, 0, -128, 127});
  }
  return grids;
}

std::variant<IntegerLayer, Reason> IntegerLayer::get(const KernelOp &layer,
                                                     const Grid &input) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  tpc::QuantizerAttrInterface quantizer =
      point ? point.getParametersAttr() : tpc::QuantizerAttrInterface();
  if (!quantizer)
    return Reason::KernelNotQuantized;
  IntegerLayer result;
  result.grids = mct::getKernelGrids(quantizer);
  if (result.grids.empty())
    return Reason::NotEvenlySpaced;
  ArrayRef<int64_t> shape = layer.getKernelShape();
  ArrayRef<int64_t> axes = point.getChannelAxes();
  ConstantFloats kernel = layer.getKernel();
  std::vector<float> levels(kernel.values().size());
  quantizer.fakeQuantize(shape, axes, kernel.values().data(), levels.data());
  // The number of an element's grid: its row-major index over the axes.
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  auto gridOf = [&](int64_t element) {
    int64_t number = 0;
    for (int64_t axis : axes)
      number = number * shape[axis] + element / strides[axis] % shape[axis];
    return result.grids.size() == 1 ? 0 : number;
  };
  size_t outputs = size_t(layer.numOutputChannels());
  result.steps.assign(outputs, 0);
  result.positive.assign(outputs, 0);
  result.negative.assign(outputs, 0);
  result.highest = double(std::max<int64_t>(input.qmax - input.zeroPoint, 0));
  result.lowest = double(std::max<int64_t>(input.zeroPoint - input.qmin, 0));
  result.codes.reserve(levels.size());
  for (auto [element, level] : llvm::enumerate(levels)) {
    double gridStep = double(float(result.grids[gridOf(element)].step));
    int64_t channel = layer.outChannelOf(int64_t(element));
    // The simulation multiplies with both as f32.
    double step = double(float(input.step)) * gridStep;
    if (result.steps[channel] != 0 && result.steps[channel] != step)
      return Reason::NotPerChannel;
    result.steps[channel] = step;
    int64_t code = std::llround(double(level) / gridStep);
    (code > 0 ? result.positive : result.negative)[channel] +=
        std::abs(double(code));
    result.codes.push_back(code);
  }
  return result;
}
