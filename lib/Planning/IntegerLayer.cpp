// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/IntegerLayer.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantizers/Channels.h"
#include "llvm/ADT/DenseSet.h"

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

std::optional<Grid> mct::findGrid(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> visited;
  std::optional<Grid> grid;
  SmallVector<float> fills;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!visited.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op)) {
      tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
      SmallVector<Grid> grids;
      if (parameters)
        grids = parameters.getGrids();
      if (grids.size() != 1 || (grid && *grid != grids.front()))
        return std::nullopt;
      grid = grids.front();
      continue;
    }
    auto moving = dyn_cast_or_null<DataMovementOpInterface>(op);
    std::optional<Movement> movement =
        moving ? moving.getMovement() : std::nullopt;
    if (!movement || *movement == Movement::Average)
      return std::nullopt;
    if (*movement == Movement::Fill) {
      std::optional<float> fill = moving.getFill();
      if (!fill)
        return std::nullopt;
      fills.push_back(*fill);
    }
    for (unsigned number : moving.getMovedOperands())
      open.push_back(op->getOperand(number));
  }
  // Filled-in values have to be on the grid, too.
  for (float fill : fills) {
    float level = fill;
    if (grid)
      quantization::fakeQuantize(*grid, &fill, &level, 1);
    if (level != fill)
      return std::nullopt;
  }
  return grid;
}

bool mct::isFullyConnected(const KernelOp &layer) {
  if (!layer.isConvolution())
    return true;
  auto type = cast<RankedTensorType>(layer.getResult().getType());
  // The batch size may be dynamic.
  ArrayRef<int64_t> sizes = type.getShape().drop_front(type.getRank() > 0);
  return layer.isPointwise() && !ShapedType::isDynamicShape(sizes) &&
         ShapedType::getNumElements(sizes) == layer.numOutputChannels();
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
  size_t outputs = size_t(layer.numOutputChannels());
  result.steps.assign(outputs, 0);
  result.positive.assign(outputs, 0);
  result.negative.assign(outputs, 0);
  result.highest = double(std::max<int64_t>(input.qmax - input.zeroPoint, 0));
  result.lowest = double(std::max<int64_t>(input.zeroPoint - input.qmin, 0));
  result.codes.reserve(levels.size());
  bool isPerChannel = true;
  auto append = [&](size_t element, const Grid &grid) {
    // The simulation multiplies both steps in f32.
    double gridStep = double(float(grid.step));
    double step = double(float(input.step)) * gridStep;
    int64_t channel = layer.outChannelOf(int64_t(element));
    double &known = result.steps[channel];
    isPerChannel &= known == 0 || known == step;
    known = step;
    int64_t code = std::llround(double(levels[element]) / gridStep);
    (code > 0 ? result.positive : result.negative)[channel] +=
        std::abs(double(code));
    result.codes.push_back(code);
  };
  quantization::forEachChannelRun(
      shape, axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        bool isOne = result.grids.size() == 1;
        for (size_t i = 0; i != length; ++i)
          append(begin + i,
                 isOne ? result.grids.front()
                       : result.grids[channel + int64_t(i) * channelStep]);
      });
  if (!isPerChannel)
    return Reason::NotPerChannel;
  return result;
}
