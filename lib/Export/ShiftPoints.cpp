// SPDX-License-Identifier: Apache-2.0
#include "ShiftPoints.h"
#include "mct/Export/Passes.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantization/Selection.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <cmath>

namespace mct {
#define GEN_PASS_DEF_INSERTSHIFTPOINTSPASS
#include "mct/Export/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the value that all elements of a constant have, or none.
static std::optional<float> getNumber(Value value) {
  std::optional<ConstantFloats> constant = ConstantFloats::get(value);
  if (!constant || constant->values().empty() ||
      !llvm::all_equal(constant->values()))
    return std::nullopt;
  return constant->values().front();
}

/// Returns whether the value is quantized, perhaps moved since, or is the
/// result of a layer, whose bias can absorb the constant.
static bool isPointOrLayer(Value value, const KernelOps &kernels) {
  while (Operation *op = value.getDefiningOp()) {
    if (isa<tpc::QuantizeOp>(op) || kernels.get(op))
      return true;
    OpOperand *moved = getMovedOperand(op);
    if (!moved)
      return false;
    value = moved->get();
  }
  return true;
}

/// Returns the quantizer for the values that `outer` does not clip after adding
/// `shift`; values beyond are clipped there as well.
static tpc::QuantizerAttrInterface makeQuantizer(tpc::QuantizeOp outer,
                                                 float shift) {
  tpc::QuantizerAttrInterface parameters = outer.getParametersAttr();
  SmallVector<quantization::Grid> grids =
      parameters ? parameters.getGrids() : SmallVector<quantization::Grid>();
  if (grids.size() != 1)
    return {};
  const quantization::Grid &grid = grids.front();
  double low = grid.step * double(grid.qmin - grid.zeroPoint) - shift;
  double high = grid.step * double(grid.qmax + 1 - grid.zeroPoint) - shift;
  double reach = std::max(std::abs(low), std::abs(high));
  if (!(reach > 0) || !std::isfinite(reach))
    return {};
  quantization::SelectionOptions options;
  options.kind = quantization::QuantizationMethod::PowerOfTwo;
  options.bits = kShiftPointBits;
  quantization::SelectedParameters selected;
  selected.threshold = std::exp2(std::ceil(std::log2(reach)));
  auto method = tpc::MethodAttr::get(outer.getContext(),
                                     tpc::QuantizationMethod::PowerOfTwo);
  tpc::QuantizerAttrInterface inner =
      cast<tpc::QuantizationMethodAttrInterface>(method).createQuantizer(
          selected, options);
  std::optional<quantization::Rounding> rounding = parameters.getRoundingMode();
  return rounding && inner ? inner.withRoundingMode(*rounding) : inner;
}

void mct::insertShiftPoints(func::FuncOp function, const KernelOps &kernels) {
  SmallVector<tosa::AddOp> sums;
  function.walk([&](tosa::AddOp op) { sums.push_back(op); });
  for (tosa::AddOp sum : sums) {
    auto outer = sum.getResult().hasOneUse()
                     ? dyn_cast<tpc::QuantizeOp>(*sum->user_begin())
                     : tpc::QuantizeOp();
    if (!outer)
      continue;
    for (OpOperand &operand : sum->getOpOperands()) {
      std::optional<float> shift =
          getNumber(sum->getOperand(1 - operand.getOperandNumber()));
      if (!shift || isPointOrLayer(operand.get(), kernels))
        continue;
      tpc::QuantizerAttrInterface parameters = makeQuantizer(outer, *shift);
      if (!parameters)
        continue;
      OpBuilder builder(sum);
      StringAttr name = getName(operand.get());
      if (!name)
        name = builder.getStringAttr(outer.getPointName() + "_unshifted");
      operand.set(tpc::QuantizeOp::create(
          builder, operand.get().getLoc(), operand.get(), name, /*weight=*/{},
          /*axes=*/{}, /*config=*/{}, parameters));
    }
  }
}

namespace {
struct InsertShiftPointsPass
    : public WithOpModels<
          mct::impl::InsertShiftPointsPassBase<InsertShiftPointsPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        insertShiftPoints(function, getAnalysis<KernelOps>());
  }
};
} // namespace
