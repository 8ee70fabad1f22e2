// SPDX-License-Identifier: Apache-2.0
#include "ConstantPoints.h"
#include "TablePoints.h"
#include "mct/Conversion/Passes.h"
#include "mct/Conversion/RoundTwice.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/IntegerLayer.h"
#include "mct/Support/Troubleshooting.h"
#include "mct/Transforms/LiftVariables.h"
#include "mct/Transforms/PreservedParameters.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcRounding.h"
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

/// Returns the first point after a value, if there are only fused ops in
/// between.
static tpc::QuantizeOp findPointAfter(Value value) {
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

/// Quantizes the next value of each state with the grid on which the next run
/// reads it, unless it is on that grid: codes are passed on as they are.
static void insertStatePoints(func::FuncOp function) {
  for (NetworkState state : findStates(function)) {
    auto read = state.argument.hasOneUse()
                    ? dyn_cast<tpc::QuantizeOp>(*state.argument.user_begin())
                    : tpc::QuantizeOp();
    if (!read || !read.isActivation() || !read.getParametersAttr())
      continue;
    Value value = state.next->get();
    auto written = getMovedSource(value).getDefiningOp<tpc::QuantizeOp>();
    if (written && written.getParametersAttr() == read.getParametersAttr())
      continue;
    OpBuilder builder(state.next->getOwner());
    state.next->set(tpc::QuantizeOp::create(
        builder, value.getLoc(), value, getName(value), /*weight=*/{},
        /*axes=*/{}, /*config=*/{}, read.getParametersAttr()));
  }
}

/// Returns the layer in integers, or the reason why it cannot be computed in
/// integers.
static std::variant<IntegerLayer, Record> describe(const KernelOp &layer) {
  std::optional<Grid> input = findGrid(layer.getInput().get());
  std::variant<IntegerLayer, Reason> integers =
      IntegerLayer::get(layer, input.value_or(Grid()));
  Reason *reason = std::get_if<Reason>(&integers);
  if (reason && *reason == Reason::KernelNotQuantized)
    return Record(*reason);
  if (reason && *reason == Reason::NotEvenlySpaced)
    return Record(*reason) << "the levels of its kernel are not evenly spaced";
  if (!input)
    return Record(Reason::NoSingleGrid) << "its input has no single grid";
  if (reason)
    return Record(*reason)
           << "its kernel has not one step for each output channel";
  return std::get<IntegerLayer>(std::move(integers));
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
    quantization::Rounding mode = rounding == IntegerRounding::HalfEven
                                      ? quantization::Rounding::HalfToEven
                                      : quantization::Rounding::HalfUp;
    // Corrections may have changed the parameters of points.
    sharePreservedParameters(getOperation());
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      roundOnce(function);
      if (tablePoints)
        insertTablePoints(function, kernels, mode,
                          [&](Operation *op, const Record &record) {
                            if (remarks)
                              emitRecord(op, getArgument(), record);
                          });
      if (rounding == IntegerRounding::HalfEven)
        insertConstantPoints(function);
      insertStatePoints(function);
      function.walk([&](tpc::QuantizeOp point) { round(point, mode); });
      for (const KernelOp &layer : kernels.findBelow(function))
        roundBias(layer);
      if (roundsTwice(rounding))
        roundTwice(function, kernels, rounding);
      else
        roundHalfwayMeans(function, rounding);
      function->setAttr(
          tpc::kIntegerRoundingAttrName,
          StringAttr::get(
              &getContext(),
              tpc::kIntegerRoundings[size_t(IntegerRounding(rounding))]));
    }
  }

private:
  /// Sets the rounding of an activation point. Weights are rounded only once,
  /// when the integer network is created.
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
    std::variant<IntegerLayer, Record> described = describe(layer);
    if (Record *why = std::get_if<Record>(&described))
      return leave(layer, *why);
    const auto &integers = std::get<IntegerLayer>(described);
    std::optional<std::vector<float>> bias = layer.getBias();
    if (!bias)
      return leave(layer, Reason::BiasNotConstant);
    if (Value constant = layer.getBiasConstant())
      for (Operation *user : constant.getUsers())
        if (auto point = dyn_cast<tpc::QuantizeOp>(user);
            point && point.getParametersAttr())
          return leave(layer, Reason::BiasHasQuantizer);
    tpc::QuantizeOp point = findPointAfter(layer.getResult());
    SmallVector<Grid> after;
    if (point && point.getParametersAttr())
      after = point.getParametersAttr().getGrids();
    std::vector<float> rounded = *bias;
    double bound = 0;
    for (auto [channel, value] : llvm::enumerate(rounded)) {
      double step = integers.getStep(int64_t(channel));
      // The channel has no elements.
      if (step == 0)
        continue;
      double code = integers.getBiasCode(int64_t(channel), value);
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
      double halfStep = after.size() == 1 ? after.front().step / step / 2 : 0;
      bound = std::max(bound, integers.getReach(int64_t(channel)) +
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
