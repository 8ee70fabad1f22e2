// SPDX-License-Identifier: Apache-2.0
#include "Linalg.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/Names.h"
#include "mct/IR/QuantizedValues.h"
#include "mlir/Conversion/TosaToArith/TosaToArith.h"
#include "mlir/Conversion/TosaToLinalg/TosaToLinalg.h"
#include "mlir/Conversion/TosaToTensor/TosaToTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <numeric>

using namespace mlir;
using namespace mct;

bool mct::hasLinalg(func::FuncOp function) {
  return function
      .walk([](linalg::LinalgOp op) {
        return isa<linalg::FillOp, linalg::BroadcastOp>(op)
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

//===----------------------------------------------------------------------===//
// To TOSA
//===----------------------------------------------------------------------===//

namespace {
/// Replaces ops of linalg by ops of TOSA, one after the other.
class Raising {
public:
  Raising(func::FuncOp function, const KernelOps &kernels)
      : function(function), kernels(kernels), builder(function.getContext()) {}

  void run() {
    SmallVector<Operation *> ops;
    for (Operation &op : function.front().without_terminator())
      ops.push_back(&op);
    for (Operation *op : ops) {
      builder.setInsertionPoint(op);
      loc = op->getLoc();
      if (Value raised = raise(op))
        op->getResult(0).replaceAllUsesWith(raised);
    }
  }

private:
  Value raise(Operation *op);
  Value raiseLayer(const KernelOp &layer);
  Value raiseConvolution(Operation *op, Value input, Value kernel, Value bias,
                         ArrayRef<int64_t> strides,
                         ArrayRef<int64_t> dilations);
  Value raiseProduct(const KernelOp &layer, Value kernel, Value bias);
  Value raiseGeneric(linalg::GenericOp op);
  Value raisePool(linalg::PoolingNhwcMaxOp op);
  /// Raises a sum of whole images.
  Value raiseSum(linalg::PoolingNhwcSumOp op);
  Value raiseReduction(linalg::ReduceOp op);
  Value raisePad(tensor::PadOp op);
  /// Raises an element-wise op, by what it computes of one element.
  Value raiseElement(Operation *op, ValueRange operands, RankedTensorType type);

  Value createConstant(RankedTensorType type, std::vector<float> values) {
    return tosa::ConstOp::create(
        builder, loc, type,
        ConstantTensor::create<float>(type, std::move(values))
            .toAttribute("raised"));
  }
  Value createZero() {
    return createConstant(RankedTensorType::get({1}, builder.getF32Type()),
                          {0});
  }
  Value reshape(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    ImplicitLocOpBuilder here(loc, builder);
    return tosa::ReshapeOp::create(builder, loc, type.clone(shape), value,
                                   tosa::getTosaConstShape(here, shape));
  }
  /// Returns the first elements of every axis.
  Value cut(Value value, ArrayRef<int64_t> shape) {
    auto type = cast<RankedTensorType>(value.getType());
    if (type.getShape() == shape)
      return value;
    ImplicitLocOpBuilder here(loc, builder);
    SmallVector<int64_t> start(shape.size(), 0);
    return tosa::SliceOp::create(builder, loc, type.clone(shape), value,
                                 tosa::getTosaConstShape(here, start),
                                 tosa::getTosaConstShape(here, shape));
  }
  /// Returns what ops that broadcast read in the place of a value: it without
  /// the axes that it only repeats.
  Value narrow(Value value);
  /// Returns the number that a tensor holds everywhere.
  std::optional<float> getNumber(Value value);

  func::FuncOp function;
  const KernelOps &kernels;
  OpBuilder builder;
  Location loc = builder.getUnknownLoc();
};
} // namespace

static bool isFloatTensor(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

std::optional<float> Raising::getNumber(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs().front();
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValue().convertToFloat();
  auto elements = dyn_cast<SplatElementsAttr>(attribute);
  if (!elements || !elements.getElementType().isF32())
    return std::nullopt;
  return elements.getSplatValue<float>();
}

Value Raising::narrow(Value value) {
  auto broadcast = value.getDefiningOp<linalg::BroadcastOp>();
  if (std::optional<float> number = getNumber(value)) {
    SmallVector<int64_t> one(cast<RankedTensorType>(value.getType()).getRank(),
                             1);
    return createConstant(RankedTensorType::get(one, builder.getF32Type()),
                          {*number});
  }
  if (!broadcast)
    return value;
  SmallVector<int64_t> shape(
      cast<RankedTensorType>(value.getType()).getShape());
  for (int64_t axis : broadcast.getDimensions())
    shape[axis] = 1;
  return reshape(broadcast.getInput(), shape);
}

Value Raising::raiseLayer(const KernelOp &layer) {
  Operation *op = layer.getOperation();
  tpc::QuantizeOp point = layer.getKernelPoint();
  std::optional<std::vector<float>> bias = layer.getBias();
  // Places of the axes of the kernel in that of TOSA's op, and its shape.
  SmallVector<int64_t> order, shape;
  ArrayRef<int64_t> from = layer.getKernelShape();
  if (isa<linalg::Conv2DNhwcHwcfOp>(op))
    order = {3, 0, 1, 2};
  else if (isa<linalg::Conv2DNhwcFhwcOp>(op))
    order = {0, 1, 2, 3};
  else if (isa<linalg::DepthwiseConv2DNhwcHwcOp>(op))
    order = {0, 1, 2};
  else if (isa<linalg::MatmulOp>(op))
    order = {0, 1};
  if (order.empty() || !bias || !isFloatTensor(op->getResult(0)))
    return nullptr;
  for (int64_t axis : order)
    shape.push_back(from[axis]);
  int64_t moved = 0;
  if (isa<linalg::DepthwiseConv2DNhwcHwcOp>(op))
    shape.push_back(1);
  if (isa<linalg::MatmulOp>(op)) {
    shape.insert(shape.begin(), 1);
    moved = 1;
  }
  // The constant in that order.
  ConstantFloats floats = layer.getKernel();
  SmallVector<int64_t> strides(from.size(), 1);
  for (size_t axis = from.size(); axis-- > 1;)
    strides[axis - 1] = strides[axis] * from[axis];
  std::vector<float> values(floats.values().size());
  for (auto [i, value] : llvm::enumerate(values)) {
    auto rest = int64_t(i);
    int64_t element = 0;
    for (size_t place = order.size(); place-- > 0;) {
      int64_t axis = order[place];
      element += rest % from[axis] * strides[axis];
      rest /= from[axis];
    }
    value = floats.values()[element];
  }
  Value kernel = createConstant(
      RankedTensorType::get(shape, builder.getF32Type()), std::move(values));
  if (point) {
    auto copy = cast<tpc::QuantizeOp>(builder.clone(*point));
    copy->setOperand(0, kernel);
    copy.getResult().setType(cast<RankedTensorType>(kernel.getType()));
    SmallVector<int64_t> axes;
    for (int64_t axis : point.getChannelAxes())
      axes.push_back(moved + (llvm::find(order, axis) - order.begin()));
    copy.setAxesAttr(builder.getDenseI64ArrayAttr(axes));
    kernel = copy.getResult();
  }
  int64_t numOutputs = layer.numOutputChannels();
  Value biasConstant = createConstant(
      RankedTensorType::get({numOutputs}, builder.getF32Type()), *bias);
  return isa<linalg::MatmulOp>(op)
             ? raiseProduct(layer, kernel, biasConstant)
             : raiseConvolution(op, layer.getInput().get(), kernel,
                                biasConstant, layer.getStrides(),
                                layer.getDilations());
}

Value Raising::raiseProduct(const KernelOp &layer, Value kernel, Value bias) {
  auto type =
      cast<RankedTensorType>(layer.getOperation()->getResult(0).getType());
  Value input = layer.getInput().get();
  ArrayRef<int64_t> from = cast<RankedTensorType>(input.getType()).getShape();
  // The constant stands at the right.
  if (layer.getInput().getOperandNumber() != 0)
    return nullptr;
  SmallVector<int64_t> to = {1, type.getDimSize(0), type.getDimSize(1)};
  Value zero = createZero();
  Value product = tosa::MatMulOp::create(builder, loc, type.clone(to),
                                         reshape(input, {1, from[0], from[1]}),
                                         kernel, zero, zero);
  Value sum = tosa::AddOp::create(builder, loc, type.clone(to), product,
                                  reshape(bias, {1, 1, type.getDimSize(1)}));
  return reshape(sum, type.getShape());
}

/// Raises a convolution. `kernel` and `bias`: operands of the op of TOSA.
Value Raising::raiseConvolution(Operation *op, Value input, Value kernel,
                                Value bias, ArrayRef<int64_t> strides,
                                ArrayRef<int64_t> dilations) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool isDepthwise =
      isa<linalg::DepthwiseConv2DNhwcHwcOp, linalg::DepthwiseConv2DNhwcHwcmOp>(
          op);
  ArrayRef<int64_t> window = cast<RankedTensorType>(kernel.getType())
                                 .getShape()
                                 .slice(isDepthwise ? 0 : 1, 2);
  // TOSA leaves nothing over behind the last window.
  SmallVector<int64_t> needed(
      cast<RankedTensorType>(input.getType()).getShape());
  for (unsigned i = 0; i != 2; ++i)
    needed[1 + i] = (type.getDimSize(1 + i) - 1) * strides[i] +
                    (window[i] - 1) * dilations[i] + 1;
  input = cut(input, needed);
  Value zero = createZero();
  auto pads = builder.getDenseI64ArrayAttr({0, 0, 0, 0});
  auto steps = builder.getDenseI64ArrayAttr(strides);
  auto spread = builder.getDenseI64ArrayAttr(dilations);
  auto accumulator = TypeAttr::get(builder.getF32Type());
  if (!isDepthwise)
    return tosa::Conv2DOp::create(builder, loc, type, input, kernel, bias, zero,
                                  zero, pads, steps, spread, accumulator);
  // With a multiplier linalg's result has an axis more.
  SmallVector<int64_t> flat(type.getShape().take_front(3));
  flat.push_back(cast<RankedTensorType>(bias.getType()).getDimSize(0));
  Value result = tosa::DepthwiseConv2DOp::create(
      builder, loc, type.clone(flat), input, kernel, bias, zero, zero, pads,
      steps, spread, accumulator);
  return reshape(result, type.getShape());
}

Value Raising::raiseElement(Operation *op, ValueRange operands,
                            RankedTensorType type) {
  auto unary = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, loc, type, operands[0]);
  };
  auto binary = [&](auto tag) -> Value {
    return decltype(tag)::create(builder, loc, type, operands[0], operands[1]);
  };
  auto limited = [&](bool isMaximum) -> Value {
    for (unsigned i = 0; i != 2; ++i) {
      std::optional<float> number = getNumber(operands[i]);
      if (!number || operands[1 - i].getType() != type)
        continue;
      float far = std::numeric_limits<float>::max();
      return tosa::ClampOp::create(
          builder, loc, type, operands[1 - i],
          builder.getF32FloatAttr(isMaximum ? *number : -far),
          builder.getF32FloatAttr(isMaximum ? far : *number),
          tosa::NanPropagationMode::PROPAGATE);
    }
    if (isMaximum)
      return tosa::MaximumOp::create(builder, loc, type, operands[0],
                                     operands[1],
                                     tosa::NanPropagationMode::PROPAGATE);
    return tosa::MinimumOp::create(builder, loc, type, operands[0], operands[1],
                                   tosa::NanPropagationMode::PROPAGATE);
  };
  auto multiply = [&](Value a, Value b) -> Value {
    auto eight = RankedTensorType::get({1}, builder.getI8Type());
    auto shift = tosa::ConstOp::create(
        builder, loc, eight,
        DenseElementsAttr::get(eight, builder.getI8IntegerAttr(0)));
    return tosa::MulOp::create(builder, loc, type, a, b, shift);
  };
  return TypeSwitch<Operation *, Value>(op)
      .Case<linalg::AddOp, arith::AddFOp>(
          [&](auto) { return binary(tosa::AddOp()); })
      .Case<linalg::SubOp, arith::SubFOp>(
          [&](auto) { return binary(tosa::SubOp()); })
      .Case<linalg::MulOp, arith::MulFOp>(
          [&](auto) { return multiply(operands[0], operands[1]); })
      .Case<linalg::NegFOp, arith::NegFOp>([&](auto) -> Value {
        SmallVector<int64_t> one(type.getRank(), 1);
        return multiply(operands[0], createConstant(type.clone(one), {-1}));
      })
      .Case<linalg::DivOp, arith::DivFOp>([&](auto) -> Value {
        if (getNumber(operands[0]) == 1.0f && operands[1].getType() == type)
          return tosa::ReciprocalOp::create(builder, loc, type, operands[1]);
        std::optional<float> divisor = getNumber(operands[1]);
        if (!divisor || *divisor == 0)
          return nullptr;
        // A mean: the factor stands for the quotient.
        auto one = cast<RankedTensorType>(operands[1].getType());
        return multiply(
            operands[0],
            createConstant(
                one, std::vector<float>(one.getNumElements(), 1 / *divisor)));
      })
      .Case<linalg::MaxOp, arith::MaximumFOp, arith::MaxNumFOp>(
          [&](auto) { return limited(true); })
      .Case<linalg::MinOp, arith::MinimumFOp, arith::MinNumFOp>(
          [&](auto) { return limited(false); })
      .Case<linalg::ExpOp, math::ExpOp>(
          [&](auto) { return unary(tosa::ExpOp()); })
      .Case<linalg::LogOp, math::LogOp>(
          [&](auto) { return unary(tosa::LogOp()); })
      .Case<linalg::AbsOp, math::AbsFOp>(
          [&](auto) { return unary(tosa::AbsOp()); })
      .Case<linalg::CeilOp, math::CeilOp>(
          [&](auto) { return unary(tosa::CeilOp()); })
      .Case<linalg::FloorOp, math::FloorOp>(
          [&](auto) { return unary(tosa::FloorOp()); })
      .Case<linalg::TanhOp, math::TanhOp>(
          [&](auto) { return unary(tosa::TanhOp()); })
      .Case<linalg::ErfOp, math::ErfOp>(
          [&](auto) { return unary(tosa::ErfOp()); })
      .Case<linalg::RsqrtOp, math::RsqrtOp>(
          [&](auto) { return unary(tosa::RsqrtOp()); })
      .Case<linalg::ReciprocalOp>(
          [&](auto) { return unary(tosa::ReciprocalOp()); })
      .Default([](Operation *) { return Value(); });
}

Value Raising::raiseGeneric(linalg::GenericOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getResultTypes().front());
  if (op->getNumResults() != 1 || !isFloatTensor(op->getResult(0)) ||
      op.getNumParallelLoops() != op.getNumLoops() ||
      !op.getMatchingIndexingMap(op.getDpsInitOperand(0)).isIdentity() ||
      !op.getRegionOutputArgs().front().use_empty())
    return nullptr;
  // What stands for each value of the body.
  DenseMap<Value, Value> tensors;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    AffineMap map = op.getMatchingIndexingMap(operand);
    Value value = operand->get();
    if (!isFloatTensor(value))
      return nullptr;
    // Axes in their order; those of size 1 may be read at 0.
    SmallVector<int64_t> shape(type.getRank(), 1);
    int64_t last = -1;
    for (auto [axis, expression] : llvm::enumerate(map.getResults())) {
      auto size = cast<RankedTensorType>(value.getType()).getDimSize(axis);
      if (isa<AffineConstantExpr>(expression) && size == 1)
        continue;
      auto dimension = dyn_cast<AffineDimExpr>(expression);
      if (!dimension || int64_t(dimension.getPosition()) <= last)
        return nullptr;
      last = dimension.getPosition();
      shape[last] = size;
    }
    tensors[op.getMatchingBlockArgument(operand)] =
        getNumber(value) && map.getNumResults() == type.getRank()
            ? narrow(value)
            : reshape(value, shape);
  }
  for (Operation &inner : op.getBody()->without_terminator()) {
    SmallVector<Value> operands;
    SmallVector<int64_t> shape(type.getRank(), 1);
    for (Value operand : inner.getOperands()) {
      Value tensor = tensors.lookup(operand);
      if (!tensor) {
        std::optional<float> number = getNumber(operand);
        if (!number)
          return nullptr;
        tensor = createConstant(
            type.clone(SmallVector<int64_t>(type.getRank(), 1)), {*number});
      }
      for (auto [axis, size] :
           llvm::enumerate(cast<RankedTensorType>(tensor.getType()).getShape()))
        shape[axis] = std::max(shape[axis], size);
      operands.push_back(tensor);
    }
    if (isa<arith::ConstantOp>(inner))
      continue;
    Value result = raiseElement(&inner, operands, type.clone(shape));
    if (!result)
      return nullptr;
    tensors[inner.getResult(0)] = result;
  }
  Value result = tensors.lookup(op.getBody()->getTerminator()->getOperand(0));
  return result && result.getType() == type ? result : Value();
}

Value Raising::raisePool(linalg::PoolingNhwcMaxOp op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  std::optional<float> initial = getNumber(op.getDpsInits().front());
  auto window = dyn_cast<RankedTensorType>(op.getInputs()[1].getType());
  Value input = op.getInputs().front();
  SmallVector<int64_t> strides(op.getStrides().getValues<int64_t>()),
      dilations(op.getDilations().getValues<int64_t>());
  if (!isFloatTensor(op->getResult(0)) || !isFloatTensor(input) || !initial ||
      !(*initial <= std::numeric_limits<float>::lowest()) ||
      dilations != SmallVector<int64_t>{1, 1})
    return nullptr;
  SmallVector<int64_t> needed(
      cast<RankedTensorType>(input.getType()).getShape());
  for (unsigned i = 0; i != 2; ++i)
    needed[1 + i] =
        (type.getDimSize(1 + i) - 1) * strides[i] + window.getDimSize(i);
  return tosa::MaxPool2dOp::create(
      builder, loc, type, cut(input, needed),
      builder.getDenseI64ArrayAttr(window.getShape()),
      builder.getDenseI64ArrayAttr(strides),
      builder.getDenseI64ArrayAttr({0, 0, 0, 0}),
      tosa::NanPropagationMode::PROPAGATE);
}

Value Raising::raiseSum(linalg::PoolingNhwcSumOp op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Value input = op.getInputs().front();
  ArrayRef<int64_t> shape = cast<RankedTensorType>(input.getType()).getShape();
  if (!isFloatTensor(input) || getNumber(op.getDpsInits().front()) != 0.0f ||
      cast<RankedTensorType>(op.getInputs()[1].getType()).getShape() !=
          shape.slice(1, 2) ||
      type.getDimSize(1) != 1 || type.getDimSize(2) != 1)
    return nullptr;
  SmallVector<int64_t> flat = {shape[0], shape[1] * shape[2], shape[3]},
                       reduced = {shape[0], 1, shape[3]};
  Value sum = tosa::ReduceSumOp::create(builder, loc, type.clone(reduced),
                                        reshape(input, flat),
                                        builder.getI32IntegerAttr(1));
  return reshape(sum, type.getShape());
}

Value Raising::raiseReduction(linalg::ReduceOp op) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  Operation &inner = op.getBody()->front();
  if (op.getInputs().size() != 1 || !isFloatTensor(op.getInputs().front()) ||
      op.getBody()->getOperations().size() != 2 ||
      inner.getNumOperands() != 2 ||
      !llvm::all_of(inner.getOperands(), llvm::IsaPred<BlockArgument>))
    return nullptr;
  std::optional<float> initial = getNumber(op.getInits().front());
  bool isSum = isa<arith::AddFOp>(inner) && initial == 0.0f;
  bool isMaximum = isa<arith::MaximumFOp, arith::MaxNumFOp>(inner) && initial &&
                   *initial <= std::numeric_limits<float>::lowest();
  if (!isSum && !isMaximum)
    return nullptr;
  Value result = op.getInputs().front();
  for (int64_t axis : op.getDimensions()) {
    auto before = cast<RankedTensorType>(result.getType());
    SmallVector<int64_t> shape(before.getShape());
    shape[axis] = 1;
    if (isSum)
      result =
          tosa::ReduceSumOp::create(builder, loc, before.clone(shape), result,
                                    builder.getI32IntegerAttr(int32_t(axis)));
    else
      result = tosa::ReduceMaxOp::create(builder, loc, before.clone(shape),
                                         result, uint32_t(axis),
                                         tosa::NanPropagationMode::PROPAGATE);
  }
  return reshape(result, type.getShape());
}

Value Raising::raisePad(tensor::PadOp op) {
  Value filling = op.getConstantPaddingValue();
  std::optional<float> number = filling ? getNumber(filling) : std::nullopt;
  if (!number || !isFloatTensor(op.getSource()) ||
      !isFloatTensor(op.getResult()) || !op.getLow().empty() ||
      !op.getHigh().empty())
    return nullptr;
  SmallVector<int64_t> sizes;
  for (auto [low, high] : llvm::zip(op.getStaticLow(), op.getStaticHigh())) {
    sizes.push_back(low);
    sizes.push_back(high);
  }
  ImplicitLocOpBuilder here(loc, builder);
  return tosa::PadOp::create(
      builder, loc, op.getType(), op.getSource(),
      tosa::getTosaConstShape(here, sizes),
      createConstant(RankedTensorType::get({1}, builder.getF32Type()),
                     {*number}));
}

Value Raising::raise(Operation *op) {
  if (op->getNumResults() != 1 || !isFloatTensor(op->getResult(0)))
    return nullptr;
  if (std::optional<KernelOp> layer = kernels.get(op))
    return raiseLayer(*layer);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  // With its multiplier on an axis of its own, which is no channel axis.
  if (auto depthwise = dyn_cast<linalg::DepthwiseConv2DNhwcHwcmOp>(op)) {
    Value kernel = depthwise.getInputs()[1];
    if (!isFloatTensor(kernel) ||
        getNumber(depthwise.getDpsInits().front()) != 0.0f)
      return nullptr;
    int64_t numOutputs = type.getDimSize(3) * type.getDimSize(4);
    return raiseConvolution(
        op, depthwise.getInputs()[0], kernel,
        createConstant(
            RankedTensorType::get({numOutputs}, builder.getF32Type()),
            std::vector<float>(numOutputs, 0)),
        SmallVector<int64_t>(depthwise.getStrides().getValues<int64_t>()),
        SmallVector<int64_t>(depthwise.getDilations().getValues<int64_t>()));
  }
  if (auto generic = dyn_cast<linalg::GenericOp>(op))
    return raiseGeneric(generic);
  if (auto pool = dyn_cast<linalg::PoolingNhwcMaxOp>(op))
    return raisePool(pool);
  if (auto sum = dyn_cast<linalg::PoolingNhwcSumOp>(op))
    return raiseSum(sum);
  if (auto reduction = dyn_cast<linalg::ReduceOp>(op))
    return raiseReduction(reduction);
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return raisePad(pad);
  if (isa<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op) &&
      isFloatTensor(op->getOperand(0)))
    return reshape(op->getOperand(0), type.getShape());
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op);
      slice && isFloatTensor(slice.getSource()) && slice.hasUnitStride() &&
      slice.getSourceType().getRank() == type.getRank() &&
      slice.getOffsets().empty() && slice.getSizes().empty()) {
    ImplicitLocOpBuilder here(loc, builder);
    return tosa::SliceOp::create(
        builder, loc, type, slice.getSource(),
        tosa::getTosaConstShape(here, slice.getStaticOffsets()),
        tosa::getTosaConstShape(here, slice.getStaticSizes()));
  }
  if (auto transpose = dyn_cast<linalg::TransposeOp>(op)) {
    SmallVector<int32_t> axes(transpose.getPermutation());
    return tosa::TransposeOp::create(builder, loc, type, transpose.getInput(),
                                     builder.getDenseI32ArrayAttr(axes));
  }
  auto product = dyn_cast<linalg::BatchMatmulOp>(op);
  if (product && !product.hasUserDefinedMaps() &&
      getNumber(product.getDpsInits().front()) == 0.0f) {
    Value zero = createZero();
    return tosa::MatMulOp::create(builder, loc, type, product.getInputs()[0],
                                  product.getInputs()[1], zero, zero);
  }
  auto elementwise = dyn_cast<linalg::LinalgOp>(op);
  if (!elementwise || op->getNumRegions() != 1 ||
      elementwise.getNumParallelLoops() != elementwise.getNumLoops() ||
      isa<linalg::FillOp, linalg::BroadcastOp>(op))
    return nullptr;
  SmallVector<Value> operands;
  for (Value operand : elementwise.getDpsInputs()) {
    if (!isFloatTensor(operand))
      return nullptr;
    operands.push_back(narrow(operand));
  }
  return raiseElement(op, operands, type);
}

void mct::raiseLinalg(func::FuncOp function, const KernelOps &kernels) {
  Raising(function, kernels).run();
}

//===----------------------------------------------------------------------===//
// Back
//===----------------------------------------------------------------------===//

void mct::registerLinalgDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, linalg::LinalgDialect, math::MathDialect,
                  tensor::TensorDialect, tosa::TosaDialect>();
}

LogicalResult mct::lowerToLinalg(
    func::FuncOp function,
    llvm::function_ref<LogicalResult(OpPassManager &)> runPipeline) {
  OpPassManager passes(func::FuncOp::getOperationName());
  passes.addPass(tosa::createTosaMakeBroadcastablePass());
  passes.addPass(tosa::createTosaToLinalgNamed(TosaToLinalgNamedOptions()));
  passes.addPass(tosa::createTosaMakeBroadcastablePass());
  passes.addPass(tosa::createTosaToLinalg());
  passes.addPass(createTosaToTensorPass());
  TosaToArithPassOptions arith;
  arith.includeApplyRescale = true;
  passes.addPass(createTosaToArithPass(arith));
  if (failed(runPipeline(passes)))
    return failure();
  // What was one op has several now, the last of which makes the value.
  llvm::StringSet<> named;
  for (Attribute entry : function->getAttrOfType<ArrayAttr>(kPointsAttrName))
    named.insert(
        cast<StringAttr>(cast<DictionaryAttr>(entry).get("name")).getValue());
  SmallVector<Operation *> ops;
  for (Operation &op : function.front())
    ops.push_back(&op);
  // Shapes that were operands.
  llvm::erase_if(ops, [](Operation *op) {
    if (!isa<tosa::ConstShapeOp>(op) || !op->use_empty())
      return false;
    op->erase();
    return true;
  });
  llvm::StringSet<> seen;
  for (Operation *op : llvm::reverse(ops)) {
    StringAttr name = getName(op->getLoc());
    if (!name || !named.contains(name.getValue()) ||
        (!op->hasTrait<OpTrait::ConstantLike>() &&
         seen.insert(name.getValue()).second))
      continue;
    op->setLoc(NameLoc::get(
        StringAttr::get(op->getContext(), name.getValue() + "/linalg"),
        op->getLoc()));
  }
  // Reshapes of reshapes are gone; constants are no values of interest.
  SmallVector<Attribute> left;
  for (Attribute entry : function->getAttrOfType<ArrayAttr>(kPointsAttrName))
    if (seen.contains(cast<StringAttr>(cast<DictionaryAttr>(entry).get("name"))
                          .getValue()))
      left.push_back(entry);
  function->setAttr(kPointsAttrName,
                    ArrayAttr::get(function.getContext(), left));
  return success();
}
