// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/IntegerLayer.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantizers/Channels.h"
#include "mlir/IR/TypeUtilities.h"
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

namespace {
/// Origin of the values of a tensor.
struct GridSources {
  SmallVector<tpc::QuantizeOp> points;
  /// Numbers that paddings add.
  SmallVector<float> fills;
};
} // namespace

/// Returns the points that the values of a tensor come from, moved or selected
/// since; none if some come from elsewhere.
static std::optional<GridSources> findSources(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> visited;
  GridSources sources;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!visited.insert(next).second)
      continue;
    Operation *op = next.getDefiningOp();
    if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op)) {
      sources.points.push_back(point);
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
      sources.fills.push_back(*fill);
    }
    for (unsigned number : moving.getMovedOperands())
      open.push_back(op->getOperand(number));
  }
  return sources;
}

static std::optional<Grid> findGrid(const GridSources &sources) {
  std::optional<Grid> grid;
  for (tpc::QuantizeOp point : sources.points) {
    tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
    SmallVector<Grid> grids;
    if (parameters)
      grids = parameters.getGrids();
    if (grids.size() != 1 || (grid && *grid != grids.front()))
      return std::nullopt;
    grid = grids.front();
  }
  // Filled-in values have to be on the grid, too.
  for (float fill : sources.fills) {
    float level = fill;
    if (grid)
      quantization::fakeQuantize(*grid, &fill, &level, 1);
    if (level != fill)
      return std::nullopt;
  }
  return grid;
}

std::optional<Grid> mct::findGrid(Value value) {
  std::optional<GridSources> sources = findSources(value);
  return sources ? ::findGrid(*sources) : std::nullopt;
}

/// Returns whether a factor of a layer has codes, or will have them when its
/// points have parameters.
static bool isQuantized(Value factor) {
  if (auto point = factor.getDefiningOp<tpc::QuantizeOp>();
      point && !point.isActivation())
    return true;
  std::optional<GridSources> sources = findSources(factor);
  if (!sources || sources->points.empty())
    return false;
  bool haveParameters =
      llvm::all_of(sources->points, [](tpc::QuantizeOp point) {
        return point.getParametersAttr() != nullptr;
      });
  return haveParameters ? ::findGrid(*sources).has_value()
                        : sources->points.size() == 1;
}

IntegerLayers mct::findIntegerLayers(Operation *root,
                                     const KernelOps &kernels) {
  IntegerLayers layers;
  root->walk([&](Operation *op) {
    tpc::OpInfoAttr info = kernels.getInfo(op->getName().getStringRef());
    int64_t kernel = info ? info.getKernel().value_or(-1) : -1;
    unsigned input = kernel == 0 ? 1 : 0;
    if (kernel < 0 || op->getNumResults() != 1 ||
        std::max<int64_t>(kernel, input) >= op->getNumOperands() ||
        !getElementTypeOrSelf(op->getResult(0)).isF32())
      return;
    ++layers.count;
    for (unsigned number : {input, unsigned(kernel)})
      if (!isQuantized(op->getOperand(number))) {
        layers.notInIntegers.push_back(&op->getOpOperand(number));
        break;
      }
  });
  return layers;
}

std::string IntegerLayers::describe() const {
  if (count == 0)
    return "";
  return (Twine(count - int64_t(notInIntegers.size())) + " of " + Twine(count) +
          (count == 1 ? " layer" : " layers") + " in integers")
      .str();
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
