// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EntryFunction.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Training/Gradients.h"
#include "mct/Training/Passes.h"
#include "mct/Training/Training.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

namespace mct {
#define GEN_PASS_DEF_FIXRANGESPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using mct::tpc::QuantizeOp;

/// Returns the points whose inputs are arguments of the function.
static SmallVector<QuantizeOp> findInputPoints(func::FuncOp function) {
  SmallVector<QuantizeOp> points;
  for (auto point : function.getOps<QuantizeOp>())
    if (point.isActivation() && isa<BlockArgument>(point.getInput()))
      points.push_back(point);
  return points;
}

/// Returns the points whose values the function returns, perhaps moved.
static llvm::SetVector<QuantizeOp> findOutputPoints(func::FuncOp function) {
  llvm::SetVector<QuantizeOp> points;
  for (Value value :
       function.getBody().front().getTerminator()->getOperands()) {
    Operation *producer = value.getDefiningOp();
    auto isMoved = [](Movement movement) {
      return movement == Movement::Permute || movement == Movement::Repeat ||
             movement == Movement::Select;
    };
    while (producer && !isa<QuantizeOp>(producer)) {
      OpOperand *moved = getMovedOperand(producer, isMoved);
      producer = moved ? moved->get().getDefiningOp() : nullptr;
    }
    if (auto point = dyn_cast_or_null<QuantizeOp>(producer);
        point && point.isActivation() && !isa<BlockArgument>(point.getInput()))
      points.insert(point);
  }
  return points;
}

namespace {
struct FixRangesPass
    : public WithGradientModels<WithOpModels<
          EntryFunctionPass<mct::impl::FixRangesPassBase<FixRangesPass>>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override;

private:
  LogicalResult fix(QuantizeOp point, double min, double max);
};
} // namespace

LogicalResult FixRangesPass::fix(QuantizeOp point, double min, double max) {
  auto fixed = tpc::ObservedRangeAttr::get(&getContext(), tpc::Observer::Fixed,
                                           bits, /*is_symmetric=*/false, narrow,
                                           /*decay=*/std::nullopt);
  float ends[] = {float(min), float(max)};
  ArrayRef<float> learned[] = {ArrayRef<float>(ends[0]),
                               ArrayRef<float>(ends[1])};
  FailureOr<FrozenQuantizer> frozen =
      cast<TrainableQuantizerAttrInterface>(Attribute(fixed))
          .freeze(point, /*weights=*/{}, learned);
  if (failed(frozen))
    return failure();
  point.setQuantizer(frozen->parameters);
  point.removeTrainableAttr();
  return success();
}

LogicalResult FixRangesPass::runOn(func::FuncOp entry) {
  if (!entry.getBody().hasOneBlock())
    return entry.emitOpError("has several blocks; ranges are fixed in a "
                             "network without control flow");
  if (bits < 2 || bits > 16)
    return entry.emitOpError("cannot have ranges of ")
           << bits.getValue() << " bits; give 2 to 16";
  for (auto [what, min, max] :
       {std::tuple("input", inputMin.getValue(), inputMax.getValue()),
        {"output", outputMin.getValue(), outputMax.getValue()}})
    if (!(min < max) || !std::isfinite(float(max) - float(min)) || min > 0 ||
        max < 0)
      return entry.emitOpError("cannot have the ")
             << what << " range [" << min << ", " << max
             << "]; it must ascend, and hold 0";
  SmallVector<QuantizeOp> atInputs = findInputPoints(entry);
  llvm::SetVector<QuantizeOp> atOutputs = findOutputPoints(entry);
  if ((!inputs || atInputs.empty()) && (!outputs || atOutputs.empty()))
    return entry.emitOpError("has no point ")
           << (!outputs  ? "that reads an argument"
               : !inputs ? "of a result"
                         : "that reads an argument, or of a result")
           << "; insert points first";
  if (outputs)
    for (QuantizeOp point : atOutputs)
      if (failed(fix(point, outputMin, outputMax)))
        return failure();
  if (!inputs)
    return success();
  for (QuantizeOp point : atInputs) {
    if (!removeInputs) {
      if (failed(fix(point, inputMin, inputMax)))
        return failure();
      continue;
    }
    point.getOutput().replaceAllUsesWith(point.getInput());
    point.erase();
  }
  return success();
}
