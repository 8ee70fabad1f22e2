// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Names.h"
#include "mct/Analysis/Constants.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/SetVector.h"

namespace mct {
#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using mct::ConstantFloats;

namespace {
/// value -> scale * value + offset, per channel. Kept in double: the chain is
/// rounded once, when it is folded.
struct ChannelAffine {
  std::vector<double> scale, offset;
  bool scalesChannels = false;
};
} // namespace

/// The constant's value for each of `channels` channels when it varies along
/// the last axis at most.
static std::optional<std::vector<double>> getPerChannel(Value value,
                                                        int64_t channels) {
  std::optional<ConstantFloats> constant = ConstantFloats::get(value);
  if (!constant)
    return std::nullopt;
  ArrayRef<float> values = constant->values();
  bool isLastAxisOnly = llvm::all_of(
      constant->shape().drop_back(constant->shape().empty() ? 0 : 1),
      [](int64_t size) { return size == 1; });
  if (!isLastAxisOnly ||
      (int64_t(values.size()) != channels && values.size() != 1))
    return std::nullopt;
  std::vector<double> result(channels, values.front());
  if (values.size() != 1)
    result.assign(values.begin(), values.end());
  return result;
}

/// Appends one op of the chain; false when it is not part of one.
static bool append(Operation *op, Value input, ChannelAffine &affine) {
  if (!isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
    return false;
  bool inputIsFirst = op->getOperand(0) == input;
  if (isa<tosa::SubOp>(op) && !inputIsFirst)
    return false;
  Value other = op->getOperand(inputIsFirst ? 1 : 0);
  size_t channels = affine.scale.size();
  std::optional<std::vector<double>> values = getPerChannel(other, channels);
  if (!values || op->getResult(0).getType() != input.getType())
    return false;
  for (size_t channel = 0; channel != channels; ++channel) {
    double value = (*values)[channel];
    if (isa<tosa::MulOp>(op)) {
      affine.scale[channel] *= value;
      affine.offset[channel] *= value;
    } else {
      affine.offset[channel] += isa<tosa::SubOp>(op) ? -value : value;
    }
  }
  affine.scalesChannels |= isa<tosa::MulOp>(op) &&
                           cast<ShapedType>(other.getType()).getNumElements() ==
                               static_cast<int64_t>(channels);
  return true;
}

/// `channelOf(element)`: output channel of an element of the kernel.
template <typename ConvolutionOp>
static void fold(ConvolutionOp op,
                 llvm::function_ref<int64_t(int64_t element)> channelOf) {
  auto type = cast<RankedTensorType>(op.getType());
  int64_t channels = type.getShape().back();
  std::optional<ConstantFloats> kernel = ConstantFloats::get(op.getWeight());
  std::optional<std::vector<double>> bias =
      getPerChannel(op.getBias(), channels);
  if (!kernel || !bias || ShapedType::isDynamic(channels))
    return;

  ChannelAffine affine{std::vector<double>(channels, 1.0),
                       std::vector<double>(channels, 0.0)};
  SmallVector<Operation *> chain;
  Value result = op.getResult();
  while (result.hasOneUse() && append(*result.user_begin(), result, affine)) {
    chain.push_back(*result.user_begin());
    result = chain.back()->getResult(0);
  }
  // Without a scale per channel this is arithmetic of the model's own, such as
  // the `add 3` of a hard-sigmoid.
  if (!affine.scalesChannels)
    return;

  std::vector<float> newKernel(kernel->values().begin(),
                               kernel->values().end()),
      newBias(channels);
  for (auto [element, value] : llvm::enumerate(newKernel))
    value = float(affine.scale[channelOf(element)] * value);
  for (int64_t channel = 0; channel != channels; ++channel)
    newBias[channel] = float(affine.scale[channel] * (*bias)[channel] +
                             affine.offset[channel]);

  OpBuilder builder(op);
  Location loc = chain.back()->getLoc();
  StringAttr given = mct::getName(loc);
  std::string name = given ? given.str() : "folded";
  llvm::SmallSetVector<Operation *, 8> oldConstants;
  oldConstants.insert(op.getWeight().getDefiningOp());
  oldConstants.insert(op.getBias().getDefiningOp());
  for (Operation *link : chain)
    for (Value operand : link->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && producer->hasTrait<OpTrait::ConstantLike>())
        oldConstants.insert(producer);
  op.getWeightMutable().assign(mct::createConstant(
      builder, loc, cast<RankedTensorType>(op.getWeight().getType()), newKernel,
      name + ".kernel"));
  op.getBiasMutable().assign(mct::createConstant(
      builder, loc, RankedTensorType::get(channels, builder.getF32Type()),
      newBias, name + ".bias"));
  op->setLoc(loc);
  result.replaceAllUsesWith(op.getResult());
  for (Operation *link : llvm::reverse(chain))
    link->erase();
  for (Operation *constant : oldConstants)
    if (constant->use_empty())
      constant->erase();
}

namespace {
struct FoldBatchNormPass
    : public mct::impl::FoldBatchNormPassBase<FoldBatchNormPass> {
  void runOnOperation() override {
    SmallVector<Operation *> convolutions;
    getOperation().walk([&](Operation *op) {
      if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp>(op))
        convolutions.push_back(op);
    });
    for (Operation *op : convolutions) {
      if (auto conv = dyn_cast<tosa::Conv2DOp>(op)) {
        // Kernel [OC, KH, KW, IC].
        auto kernel = cast<ShapedType>(conv.getWeight().getType());
        int64_t perChannel = kernel.hasStaticShape() ? kernel.getNumElements() /
                                                           kernel.getDimSize(0)
                                                     : 1;
        fold(conv, [&](int64_t element) { return element / perChannel; });
      } else if (auto depthwise = dyn_cast<tosa::DepthwiseConv2DOp>(op)) {
        // Kernel [KH, KW, C, M]; the result's channels are C x M.
        int64_t channels =
            cast<ShapedType>(depthwise.getType()).getShape().back();
        fold(depthwise, [&](int64_t element) { return element % channels; });
      }
    }
  }
};
} // namespace
