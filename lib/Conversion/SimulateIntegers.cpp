// SPDX-License-Identifier: Apache-2.0
#include "TablePoints.h"
#include "mct/Conversion/Encoding.h"
#include "mct/Conversion/Passes.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Support/Troubleshooting.h"
#include "mct/Transforms/PreservedParameters.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <limits>

namespace mct {
#define GEN_PASS_DEF_SIMULATEINTEGERSPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using quantization::Grid;

/// The grid that all values of a tensor lie on: of the points that they come
/// from, moved or selected since. None when there are several, or none.
static std::optional<Grid> findGrid(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen;
  std::optional<Grid> grid;
  SmallVector<float> fills;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
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
  // What is filled in lies on the grid, too, or on none.
  for (float fill : fills) {
    float level = fill;
    if (grid)
      quantization::fakeQuantize(*grid, &fill, &level, 1);
    if (level != fill)
      return std::nullopt;
  }
  return grid;
}

/// The first point behind a value, if only fused ops are in between.
static tpc::QuantizeOp findPointBehind(Value value) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto point = dyn_cast<tpc::QuantizeOp>(user))
      return point;
    if (user->getNumResults() != 1)
      break;
    value = user->getResult(0);
  }
  return {};
}

namespace {
/// A layer in integers.
struct IntegerLayer {
  /// Largest |stored - zero point| of the input.
  double inputReach = 0;
  /// Of the accumulator, one for each output channel.
  std::vector<double> steps;
  /// For each output channel the sum of |code - zero point| of its kernel.
  std::vector<double> kernelSums;
};
} // namespace

/// Why the layer cannot be computed in integers, or nothing.
static std::optional<Record> describe(const KernelOp &layer,
                                      IntegerLayer &result) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  tpc::QuantizerAttrInterface parameters =
      point ? point.getParametersAttr() : tpc::QuantizerAttrInterface();
  if (!parameters)
    return Record(Reason::KernelNotQuantized);
  // What lowers it stores the same codes.
  SmallVector<Grid> grids = getKernelGrids(parameters);
  if (grids.empty())
    return Record(Reason::NotEvenlySpaced)
           << "the levels of its kernel are not evenly spaced";
  std::optional<Grid> input = findGrid(layer.getInput().get());
  if (!input)
    return Record(Reason::NoSingleGrid) << "its input has no single grid";
  result.inputReach = double(
      std::max(input->qmax - input->zeroPoint, input->zeroPoint - input->qmin));

  ArrayRef<int64_t> shape = layer.getKernelShape();
  ArrayRef<int64_t> axes = point.getChannelAxes();
  ConstantFloats kernel = layer.getKernel();
  std::vector<float> quantized(kernel.values());
  parameters.fakeQuantize(shape, axes, quantized.data(), quantized.data());
  // The number of an element's grid: its row-major index over the axes.
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t axis = shape.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * shape[axis];
  auto gridOf = [&](int64_t element) {
    int64_t number = 0;
    for (int64_t axis : axes)
      number = number * shape[axis] + element / strides[axis] % shape[axis];
    return grids.size() == 1 ? 0 : number;
  };
  result.steps.assign(layer.numOutputChannels(), 0);
  result.kernelSums.assign(layer.numOutputChannels(), 0);
  for (auto [element, value] : llvm::enumerate(quantized)) {
    const Grid &grid = grids[gridOf(element)];
    int64_t channel = layer.outChannelOf(element);
    // The simulation multiplies with both as f32.
    double step = double(float(input->step)) * double(float(grid.step));
    if (result.steps[channel] != 0 && result.steps[channel] != step)
      return Record(Reason::NotPerChannel)
             << "its kernel has not one step for each output channel";
    result.steps[channel] = step;
    result.kernelSums[channel] += std::nearbyint(
        std::abs(double(value)) / double(static_cast<float>(grid.step)));
  }
  return std::nullopt;
}

namespace {
struct SimulateIntegersPass
    : public WithOpModels<
          mct::impl::SimulateIntegersPassBase<SimulateIntegersPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    if (failed(requireFrozenPoints(getOperation())))
      return signalPassFailure();
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    quantization::Rounding mode = rounding == IntegerRounding::HalfUp
                                      ? quantization::Rounding::HalfUp
                                      : quantization::Rounding::HalfToEven;
    // Corrections give points other parameters.
    sharePreservedParameters(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (tablePoints)
        insertTablePoints(function, kernels, mode,
                          [&](Operation *op, const Record &record) {
                            if (remarks)
                              emitRecord(op, getArgument(), record);
                          });
      function.walk([&](tpc::QuantizeOp point) { round(point, mode); });
      SmallVector<KernelOp> layers;
      function.walk([&](Operation *op) {
        if (std::optional<KernelOp> layer = kernels.get(op))
          layers.push_back(*layer);
      });
      for (const KernelOp &layer : layers)
        roundBias(layer);
    }
  }

private:
  /// Weights are rounded once, when the network is made.
  void round(tpc::QuantizeOp point, quantization::Rounding mode) {
    tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
    if (!point.isActivation() || !parameters ||
        parameters.getRoundingMode() == mode)
      return;
    tpc::QuantizerAttrInterface rounded = parameters.withRoundingMode(mode);
    if (rounded)
      point.setQuantizer(rounded, measureGiven(point, rounded));
    else if (remarks)
      emitRecord(point, getArgument(), Reason::RoundsItsOwnWay,
                 "'" + point.getPointName() + "' rounds as before: ");
  }

  void leave(const KernelOp &layer, const Record &why) {
    if (remarks)
      emitRecord(layer.getOperation(), getArgument(), why,
                 "is not a layer of integers: ");
  }

  void roundBias(const KernelOp &layer) {
    IntegerLayer integers;
    if (std::optional<Record> why = describe(layer, integers))
      return leave(layer, *why);
    std::optional<std::vector<float>> bias = layer.getBias();
    if (!bias)
      return leave(layer, Reason::BiasNotConstant);
    if (Value constant = layer.getBiasConstant())
      for (Operation *user : constant.getUsers())
        if (auto point = dyn_cast<tpc::QuantizeOp>(user);
            point && point.getParametersAttr())
          return leave(layer, Reason::BiasHasQuantizer);
    tpc::QuantizeOp point = findPointBehind(layer.getResult());
    SmallVector<Grid> behind;
    if (point && point.getParametersAttr())
      behind = point.getParametersAttr().getGrids();
    std::vector<float> rounded = *bias;
    double bound = 0;
    for (auto [channel, value] : llvm::enumerate(rounded)) {
      double step = integers.steps[channel];
      // A channel without elements.
      if (step == 0)
        continue;
      double code = std::nearbyint(value / step);
      constexpr double kLargest = std::numeric_limits<int32_t>::max();
      if (!(std::abs(code) <= kLargest)) {
        InFlightDiagnostic warning =
            layer.getOperation()->emitWarning(
                "keeps its bias in float: that of channel ")
            << channel << ", " << value << ", is " << code
            << " steps of the accumulator, more than 32 bits hold";
        warning.attachNote()
            << "the step is " << step
            << ", that of the input times that of the kernel; a larger "
               "threshold of the kernel makes it larger: min-threshold of "
               "mct-select-weight-parameters"
            << support::kTroubleshooting
            << "a-bias-does-not-fit-into-the-accumulator";
        return;
      }
      value = static_cast<float>(code * step);
      double halfStep = behind.size() == 1 ? behind.front().step / step / 2 : 0;
      bound =
          std::max(bound, integers.inputReach * integers.kernelSums[channel] +
                              std::abs(code) + halfStep);
    }
    if (rounded != *bias) {
      OpBuilder builder(layer.getOperation());
      layer.setBias(builder, rounded,
                    layer.getCorrectionsAfter(rounded, /*scale=*/{},
                                              /*offset=*/{}));
    }
    if (remarks && bound >= 0x1p24)
      emitRecord(layer.getOperation(), getArgument(),
                 Record(Decision::Noted, Reason::SumsBeyondFloat)
                     << "adds up to " << named("bound", bound, "%.0f")
                     << " in integers, and f32 adds exactly below 2^24: the "
                        "simulation may differ from an integer network");
  }
};
} // namespace
