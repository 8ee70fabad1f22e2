// SPDX-License-Identifier: Apache-2.0
#include "RaiseLinalg.h"
#include "mct/Conversion/TosaBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace mct;

/// Returns true if the shapes of all tensors are static.
static bool isStatic(Operation *op) {
  auto check = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return !type || type.hasStaticShape();
  };
  return llvm::all_of(op->getOperands(), check) &&
         llvm::all_of(op->getResults(), check);
}

namespace {
/// Raises an op by a function that returns null, or the reason why it failed.
template <typename Op>
struct RaiseTensorOp : RaisingPattern<OpRewritePattern<Op>> {
  using Raise = const char *(*)(Op, TosaBuilder &);

  RaiseTensorOp(MLIRContext *context, RaiseFailures *failures, Raise raise)
      : RaisingPattern<OpRewritePattern<Op>>(context, failures), raise(raise) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    TosaBuilder builder(op, rewriter);
    const char *reason = raise(op, builder);
    return reason ? this->decline(op, reason) : success();
  }

  Raise raise;
};
} // namespace

/// Raises constants of element types that TOSA supports.
static const char *raiseConstant(arith::ConstantOp op, TosaBuilder &builder) {
  auto value = dyn_cast<ElementsAttr>(op.getValue());
  Type type = value ? value.getElementType() : Type();
  if (!type || TosaBuilder::getElementType(type) != type ||
      value.getNumElements() == 0)
    return "has elements that TOSA does not have";
  builder.replace(
      tosa::ConstOp::create(builder, op.getType(), value).getResult());
  return nullptr;
}

template <typename Op>
static const char *raiseReshape(Op op, TosaBuilder &builder) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  Value value = builder.read(op->getOperand(0));
  if (!value || !type || type.getNumDynamicDims() > 1)
    return "has no reshape in TOSA";
  builder.replace(builder.reshape(value, type.getShape()));
  return nullptr;
}

/// Returns true if all non-constant sizes are those of the source.
static bool hasWholeAxes(tensor::ExtractSliceOp op) {
  for (auto [axis, size] : llvm::enumerate(op.getMixedSizes())) {
    auto value = dyn_cast<Value>(size);
    auto dim = value ? value.getDefiningOp<tensor::DimOp>() : tensor::DimOp();
    if (value && (!dim || dim.getSource() != op.getSource() ||
                  dim.getConstantIndex() != int64_t(axis)))
      return false;
  }
  return true;
}

/// Raises slices with any strides. An axis of dynamic size has to be taken as a
/// whole.
static const char *raiseSlice(tensor::ExtractSliceOp op, TosaBuilder &builder) {
  Value value = builder.read(op.getSource());
  SmallVector<int64_t> sizes(op.getStaticSizes());
  if (!value || !op.getOffsets().empty() || !op.getStrides().empty() ||
      !hasWholeAxes(op) || op.getType().getNumDynamicDims() > 1)
    return "has places that are computed";
  value =
      builder.slice(value, op.getStaticOffsets(), sizes, op.getStaticStrides());
  if (!value)
    return "has a step below 1";
  builder.replace(builder.reshape(value, op.getType().getShape()));
  return nullptr;
}

/// Raises the insertion into a tensor whose elements are all equal, with any
/// strides.
static const char *raiseInsertion(tensor::InsertSliceOp op,
                                  TosaBuilder &builder) {
  Value value = builder.read(op.getSource());
  std::optional<double> number = TosaBuilder::getNumber(op.getDest());
  if (!value || !number || !isStatic(op) || !op.getOffsets().empty() ||
      !op.getSizes().empty() || !op.getStrides().empty())
    return "inserts into a tensor that is not one number everywhere";
  ArrayRef<int64_t> offsets = op.getStaticOffsets(),
                    sizes = op.getStaticSizes(),
                    strides = op.getStaticStrides(),
                    shape = op.getType().getShape();
  SmallVector<int64_t> apart, zeros, after, spread, cut, high;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t stride = std::max<int64_t>(strides[axis], 1);
    apart.append({size, 1});
    zeros.append({0, 0});
    after.append({0, stride - 1});
    spread.push_back(size * stride);
    cut.push_back(std::min(size * stride, shape[axis] - offsets[axis]));
    high.push_back(shape[axis] - offsets[axis] - cut.back());
  }
  value = builder.reshape(value, apart);
  value = builder.reshape(builder.pad(value, zeros, after, *number), spread);
  value = builder.slice(value, SmallVector<int64_t>(sizes.size(), 0), cut);
  builder.replace(builder.pad(value, offsets, high, *number));
  return nullptr;
}

static const char *raiseConcatenation(tensor::ConcatOp op,
                                      TosaBuilder &builder) {
  SmallVector<Value> values;
  for (Value input : op.getInputs()) {
    // TOSA does not allow tensors without elements.
    if (getTensorType(input).getDimSize(op.getDim()) == 0)
      continue;
    values.push_back(builder.read(input));
    if (!values.back())
      return "has elements that TOSA does not have";
  }
  if (values.empty())
    return "has no elements";
  Type element = getTensorType(values.front()).getElementType();
  builder.replace(tosa::ConcatOp::create(builder, op.getType().clone(element),
                                         values, uint32_t(op.getDim()))
                      .getResult());
  return nullptr;
}

static const char *raisePadding(tensor::PadOp op, TosaBuilder &builder) {
  Value value = builder.read(op.getSource()),
        filling = op.getConstantPaddingValue();
  std::optional<double> number =
      filling ? TosaBuilder::getNumber(filling) : std::nullopt;
  std::optional<SmallVector<int64_t>> low =
      getConstantIntValues(op.getMixedLowPad());
  std::optional<SmallVector<int64_t>> high =
      getConstantIntValues(op.getMixedHighPad());
  if (!value || !number || !low || !high)
    return "pads by computed sizes or numbers";
  auto isNegative = [](int64_t size) { return size < 0; };
  if (llvm::any_of(*low, isNegative) || llvm::any_of(*high, isNegative))
    return "pads by a negative size";
  Value padded = builder.pad(value, *low, *high, *number);
  if (getTensorType(padded).getShape() != op.getType().getShape())
    return "has a dynamic size that is padded";
  builder.replace(padded);
  return nullptr;
}

/// Raises a splat of a constant.
static const char *raiseSplat(tensor::SplatOp op, TosaBuilder &builder) {
  std::optional<double> number = TosaBuilder::getNumber(op.getInput());
  Type type = TosaBuilder::getElementType(op.getType().getElementType());
  if (!number || !type || !isStatic(op))
    return "is not a constant";
  builder.replace(builder.createSplat(op.getType().getShape(), type, *number));
  return nullptr;
}

/// Decomposes a softmax.
static const char *raiseSoftmax(linalg::SoftmaxOp op, TosaBuilder &builder) {
  Value value =
      op.hasPureTensorSemantics() ? builder.read(op.getInput()) : Value();
  if (!value || !isa<FloatType>(getTensorType(value).getElementType()))
    return "is not a softmax of floats";
  RankedTensorType type = getTensorType(value);
  auto axis = uint32_t(op.getDimension());
  SmallVector<int64_t> shape(type.getShape());
  shape[axis] = 1;
  RankedTensorType reduced = type.clone(shape);
  Value largest = tosa::ReduceMaxOp::create(
      builder, reduced, value, axis, tosa::NanPropagationMode::PROPAGATE);
  Value power = tosa::ExpOp::create(
      builder, type, tosa::SubOp::create(builder, type, value, largest));
  Value sum = tosa::ReduceSumOp::create(builder, reduced, power, axis);
  builder.replace(builder.multiply(
      power, tosa::ReciprocalOp::create(builder, reduced, sum)));
  return nullptr;
}

namespace {
/// Removes assertions that always hold.
struct RemoveAssertion : RaisingPattern<OpRewritePattern<cf::AssertOp>> {
  using RaisingPattern::RaisingPattern;

  LogicalResult matchAndRewrite(cf::AssertOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<double> condition = TosaBuilder::getNumber(op.getArg());
    if (!condition || *condition == 0)
      return decline(op, "may not hold");
    rewriter.eraseOp(op);
    return success();
  }
};

} // namespace

template <typename Op>
static void addRaise(RewritePatternSet &patterns, RaiseFailures *failures,
                     const char *(*raise)(Op, TosaBuilder &)) {
  patterns.add<RaiseTensorOp<Op>>(patterns.getContext(), failures, raise);
}

void mct::populateRaiseTensorsPatterns(RewritePatternSet &patterns,
                                       RaiseFailures *failures) {
  addRaise(patterns, failures, raiseConstant);
  addRaise(patterns, failures, raiseReshape<tensor::CollapseShapeOp>);
  addRaise(patterns, failures, raiseReshape<tensor::ExpandShapeOp>);
  addRaise(patterns, failures, raiseReshape<tensor::ReshapeOp>);
  addRaise(patterns, failures, raiseSlice);
  addRaise(patterns, failures, raiseInsertion);
  addRaise(patterns, failures, raiseConcatenation);
  addRaise(patterns, failures, raisePadding);
  addRaise(patterns, failures, raiseSplat);
  addRaise(patterns, failures, raiseSoftmax);
  patterns.add<RemoveAssertion>(patterns.getContext(), failures);
}
