// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Passes.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Records.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDevices.h"
#include "llvm/ADT/STLExtras.h"

namespace mct {
#define GEN_PASS_DEF_LOWERTOQUANTPASS
#include "mct/Conversion/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the channel axes without those of size 1, which do not affect the
/// number of a channel.
static SmallVector<int64_t> getLongAxes(tpc::QuantizeOp point) {
  auto type = cast<RankedTensorType>(point.getType());
  SmallVector<int64_t> axes(point.getChannelAxes());
  llvm::erase_if(axes,
                 [&](int64_t axis) { return type.getDimSize(axis) == 1; });
  // The tensor has a single channel.
  if (axes.empty() && !point.getChannelAxes().empty())
    axes.push_back(point.getChannelAxes().back());
  return axes;
}

/// Returns why `quant` has no type for the point.
static Record getReason(tpc::QuantizeOp point) {
  Record record(Reason::NoQuantizedType);
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (parameters.getGrids().empty())
    return record << "its levels are not evenly spaced";
  if (size_t axes = getLongAxes(point).size();
      axes > 1 && parameters.getNumChannels() > 1)
    return record << "its channels run over " << named("axes", int64_t(axes))
                  << " axes, those of a !quant.uniform type over one";
  return record << "no !quant.uniform type of "
                << named("bits", int64_t(parameters.getBits()))
                << " bits holds its steps";
}

namespace {
struct LowerToQuantPass
    : public mct::impl::LowerToQuantPassBase<LowerToQuantPass> {
  using LowerToQuantPassBase::LowerToQuantPassBase;

  void runOnOperation() override {
    if (failed(requireFrozenPoints(getOperation())))
      return signalPassFailure();
    SmallVector<tpc::QuantizeOp> points;
    SmallVector<tpc::BiasOp> biases;
    SmallVector<Operation *> target;
    getOperation().walk([&](Operation *op) {
      removeTags(op);
      if (auto point = dyn_cast<tpc::QuantizeOp>(op))
        points.push_back(point);
      else if (auto bias = dyn_cast<tpc::BiasOp>(op))
        biases.push_back(bias);
      else if (tpc::isTargetDescription(op))
        target.push_back(op);
    });
    for (tpc::QuantizeOp point : points)
      lower(point);
    for (tpc::BiasOp bias : biases) {
      OpBuilder builder(bias);
      auto constant = tosa::ConstOp::create(
          builder, bias.getLoc(), bias.getType(), bias.getValuesAttr());
      bias.replaceAllUsesWith(constant.getResult());
      bias.erase();
    }
    for (Operation *op : target)
      op->erase();
  }

private:
  /// Removes attributes that only earlier passes read.
  static void removeTags(Operation *op) {
    for (NamedAttribute attribute : llvm::to_vector(op->getDiscardableAttrs()))
      if (isa_and_present<tpc::TpcDialect>(attribute.getNameDialect()))
        op->removeDiscardableAttr(attribute.getName());
  }

  void lower(tpc::QuantizeOp point) {
    if (!point.getParametersAttr()) {
      point.getResult().replaceAllUsesWith(point.getInput());
      point.erase();
      return;
    }
    auto type = cast<RankedTensorType>(point.getType());
    auto expressed = dyn_cast<FloatType>(type.getElementType());
    Type quantized;
    if (expressed)
      quantized = point.getParametersAttr().getQuantizedType(
          expressed, getLongAxes(point));
    if (!quantized) {
      if (remarks)
        emitRecord(point, getArgument(), getReason(point),
                   "'" + point.getUniqueName() + "' stays a point: ");
      return;
    }
    OpBuilder builder(point);
    auto cast = quant::QuantizeCastOp::create(
        builder, point.getLoc(), type.clone(quantized), point.getInput());
    auto back = quant::DequantizeCastOp::create(builder, point.getLoc(), type,
                                                cast.getResult());
    point.getResult().replaceAllUsesWith(back.getResult());
    point.erase();
  }
};
} // namespace
