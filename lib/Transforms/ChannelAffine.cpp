// SPDX-License-Identifier: Apache-2.0
#include "ChannelAffine.h"
#include "mct/IR/Names.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include <cmath>

using namespace mlir;
using namespace mct;

void ChannelAffine::append(const ChannelAffine &next) {
  for (size_t channel = 0; channel != scale.size(); ++channel) {
    scale[channel] *= next.scale[channel];
    offset[channel] =
        next.scale[channel] * offset[channel] + next.offset[channel];
  }
  scales |= next.scales;
  scalesChannels |= next.scalesChannels;
  shiftsChannels |= next.shiftsChannels;
}

bool ChannelAffine::isFinite() const {
  auto isFinite = [](double value) { return std::isfinite(value); };
  return llvm::all_of(scale, isFinite) && llvm::all_of(offset, isFinite);
}

bool ChannelAffine::shifts() const {
  return llvm::any_of(offset, [](double value) { return value != 0; });
}

static bool isConstant(Value value) {
  Operation *op = value.getDefiningOp();
  return op && (op->hasTrait<OpTrait::ConstantLike>() ||
                isa<linalg::FillOp, linalg::BroadcastOp>(op));
}

/// Returns true if a constant has a value for each channel. A single number for
/// all of them is stored as one element or as a splat of the tensor's shape, or
/// is the result of a fill.
static bool hasChannels(Value constant, int64_t channels) {
  if (auto broadcast = constant.getDefiningOp<linalg::BroadcastOp>())
    constant = broadcast.getInput();
  int64_t count = cast<ShapedType>(constant.getType()).getNumElements();
  SplatElementsAttr splat;
  return !constant.getDefiningOp<linalg::FillOp>() &&
         (count == channels ||
          (count > channels && !matchPattern(constant, m_Constant(&splat))));
}

std::optional<ChannelStep> mct::getChannelStep(Operation *op, int64_t axis) {
  bool isAdd = isa<tosa::AddOp, linalg::AddOp>(op);
  bool isSub = isa<tosa::SubOp, linalg::SubOp>(op);
  bool isMul = isa<tosa::MulOp, linalg::MulOp>(op);
  if (!isAdd && !isSub && !isMul)
    return std::nullopt;
  unsigned number = isConstant(op->getOperand(0)) ? 1 : 0;
  OpOperand &input = op->getOpOperand(number);
  Value other = op->getOperand(1 - number);
  auto type = dyn_cast<RankedTensorType>(input.get().getType());
  if (!type || axis >= type.getRank() || type.isDynamicDim(axis) ||
      op->getNumResults() != 1 || op->getResult(0).getType() != type)
    return std::nullopt;
  int64_t channels = type.getDimSize(axis);
  std::optional<std::vector<float>> values =
      getChannelConstant(other, axis, channels);
  if (!values)
    return std::nullopt;
  ChannelStep step{op, &input, ChannelAffine(channels)};
  for (int64_t channel = 0; channel != channels; ++channel) {
    double value = (*values)[channel];
    if (isMul)
      step.affine.scale[channel] = value;
    else if (isAdd)
      step.affine.offset[channel] = value;
    else if (number == 0)
      step.affine.offset[channel] = -value;
    else {
      step.affine.scale[channel] = -1;
      step.affine.offset[channel] = value;
    }
  }
  bool varies = hasChannels(other, channels);
  step.affine.scales = isMul || (isSub && number == 1);
  step.affine.scalesChannels = isMul && varies;
  step.affine.shiftsChannels = !isMul && varies;
  return step;
}

void mct::renameChanged(Operation *op, StringRef suffix) {
  if (StringAttr name = getName(op->getLoc()))
    op->setLoc(NameLoc::get(
        StringAttr::get(op->getContext(), name.getValue() + suffix),
        op->getLoc()));
}
