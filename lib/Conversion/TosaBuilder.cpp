// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/TosaBuilder.h"
#include "mct/IR/ConstantTensor.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mct;

TosaBuilder::TosaBuilder(Operation *op, PatternRewriter &rewriter)
    : ImplicitLocOpBuilder(op->getLoc(), rewriter), rewriter(rewriter), op(op),
      before(op->getPrevNode()) {
  setInsertionPoint(op);
}

TosaBuilder::~TosaBuilder() {
  while (op && op->getPrevNode() != before)
    rewriter.eraseOp(op->getPrevNode());
}

void TosaBuilder::replace(ArrayRef<Value> values) {
  for (OpResult result : op->getResults()) {
    Value value = values[result.getResultNumber()];
    if (!value)
      continue;
    Type from = getTensorType(value).getElementType(),
         to = getTensorType(result).getElementType();
    if (from != to) {
      auto extend = [&](auto tag) -> Value {
        return decltype(tag)::create(*this, result.getType(), value);
      };
      value = isa<FloatType>(to)  ? extend(arith::ExtFOp())
              : from.isInteger(1) ? extend(arith::ExtUIOp())
                                  : extend(arith::ExtSIOp());
    }
    rewriter.replaceAllUsesWith(result, value);
  }
  rewriter.eraseOp(op);
  op = nullptr;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Type TosaBuilder::getElementType(Type type) {
  MLIRContext *context = type.getContext();
  if (type.isF64())
    return Float32Type::get(context);
  if (type.isInteger(64) || type.isIndex())
    return IntegerType::get(context, 32);
  if (type.isF32() || type.isF16() || type.isBF16() ||
      (type.isSignlessInteger() &&
       llvm::is_contained({1, 4, 8, 16, 32}, type.getIntOrFloatBitWidth())))
    return type;
  return nullptr;
}

Value TosaBuilder::read(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  Type element = type ? getElementType(type.getElementType()) : nullptr;
  if (!element || type.getElementType().isIndex())
    return nullptr;
  if (element == type.getElementType())
    return value;
  if (isa_and_nonnull<arith::ExtFOp, arith::ExtSIOp>(value.getDefiningOp())) {
    Value source = value.getDefiningOp()->getOperand(0);
    if (getTensorType(source).getElementType() == element)
      return source;
  }
  std::optional<ConstantTensor> constant = ConstantTensor::get(value);
  if (!constant)
    return isa<FloatType>(element) ? Value() : cast(value, element);
  auto narrow = type.clone(element);
  ConstantTensor narrowed;
  if (isa<FloatType>(element)) {
    narrowed =
        ConstantTensor::create<double>(narrow, constant->decode<double>());
  } else {
    std::vector<int64_t> values = constant->decode<int64_t>();
    if (!llvm::all_of(values,
                      [](int64_t each) { return llvm::isInt<32>(each); }))
      return nullptr;
    narrowed = ConstantTensor::create<int64_t>(narrow, std::move(values));
  }
  return tosa::ConstOp::create(*this, narrow, narrowed.toAttribute("raised"));
}

Value TosaBuilder::getRepeated(Value value) {
  auto tile = value.getDefiningOp<tosa::TileOp>();
  if (!tile)
    return value;
  for (auto [from, to] :
       llvm::zip_equal(getTensorType(tile.getInput1()).getShape(),
                       getTensorType(value).getShape()))
    if (from != 1 && from != to)
      return value;
  return tile.getInput1();
}

std::optional<double> TosaBuilder::getNumber(Value value) {
  while (Operation *producer = value.getDefiningOp()) {
    if (auto fill = dyn_cast<linalg::FillOp>(producer))
      value = fill.getInputs().front();
    else if (isa<arith::TruncFOp, arith::ExtFOp, arith::ExtSIOp,
                 arith::TruncIOp, arith::IndexCastOp, tensor::ExtractOp>(
                 producer))
      value = producer->getOperand(0);
    else
      break;
  }
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto elements = dyn_cast<ElementsAttr>(attribute)) {
    std::optional<ConstantTensor> tensor = ConstantTensor::get(elements);
    if (!tensor || tensor->getNumStored() != 1)
      return std::nullopt;
    return tensor->decode<double>().front();
  }
  if (auto number = dyn_cast<FloatAttr>(attribute))
    return number.getValueAsDouble();
  auto integer = dyn_cast<IntegerAttr>(attribute);
  if (!integer || !integer.getValue().isSignedIntN(53))
    return std::nullopt;
  return integer.getType().isInteger(1)
             ? double(integer.getValue().getZExtValue())
             : double(integer.getValue().getSExtValue());
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Value TosaBuilder::createShape(ArrayRef<int64_t> sizes) {
  return tosa::getTosaConstShape(*this, sizes);
}

Value TosaBuilder::createSplat(ArrayRef<int64_t> shape, Type type,
                               double number) {
  auto tensor = RankedTensorType::get(shape, type);
  TypedAttr value = isa<FloatType>(type)
                        ? TypedAttr(getFloatAttr(type, number))
                        : TypedAttr(getIntegerAttr(type, int64_t(number)));
  return tosa::ConstOp::create(*this, tensor,
                               DenseElementsAttr::get(tensor, value));
}

Value TosaBuilder::createVector(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(int64_t(values.size()), getI32Type());
  SmallVector<int32_t> narrow(values.begin(), values.end());
  return tosa::ConstOp::create(
      *this, type, DenseElementsAttr::get(type, ArrayRef<int32_t>(narrow)));
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

Value TosaBuilder::reshape(Value value, ArrayRef<int64_t> shape) {
  if (getTensorType(value).getShape() == shape)
    return value;
  while (auto earlier = value.getDefiningOp<tosa::ReshapeOp>())
    value = earlier.getInput1();
  RankedTensorType type = getTensorType(value);
  if (type.getShape() == shape)
    return value;
  SmallVector<int64_t> sizes;
  for (int64_t size : shape)
    sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  // Create a splat directly in the new shape.
  if (auto constant = value.getDefiningOp<tosa::ConstOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValues()))
      return tosa::ConstOp::create(*this, type.clone(shape),
                                   splat.reshape(type.clone(shape)));
  return tosa::ReshapeOp::create(*this, type.clone(shape), value,
                                 createShape(sizes));
}

Value TosaBuilder::transpose(Value value, ArrayRef<int64_t> order) {
  if (llvm::is_sorted(order))
    return value;
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape;
  for (int64_t axis : order)
    shape.push_back(type.getDimSize(axis));
  return tosa::TransposeOp::create(
      *this, type.clone(shape), value,
      getDenseI32ArrayAttr(SmallVector<int32_t>(order.begin(), order.end())));
}

Value TosaBuilder::rearrange(Value value, ArrayRef<int64_t> order,
                             ArrayRef<int64_t> shape) {
  SmallVector<int64_t> others;
  for (int64_t axis : order)
    if (getTensorType(value).getDimSize(axis) != 1)
      others.push_back(axis);
  if (!llvm::is_sorted(others))
    value = transpose(value, order);
  return reshape(value, shape);
}

Value TosaBuilder::broadcast(Value value, ArrayRef<int64_t> shape) {
  RankedTensorType type = getTensorType(value);
  if (type.getShape() == shape)
    return value;
  SmallVector<int64_t> multiples;
  for (auto [from, to] : llvm::zip_equal(type.getShape(), shape)) {
    if (from != to && (from != 1 || ShapedType::isDynamic(to)))
      return nullptr;
    multiples.push_back(from == to ? 1 : to);
  }
  if (auto constant = value.getDefiningOp<tosa::ConstOp>())
    if (auto splat = dyn_cast<SplatElementsAttr>(constant.getValues()))
      return tosa::ConstOp::create(*this, type.clone(shape),
                                   splat.resizeSplat(type.clone(shape)));
  return tosa::TileOp::create(*this, type.clone(shape), value,
                              createShape(multiples));
}

Value TosaBuilder::slice(Value value, ArrayRef<int64_t> offsets,
                         ArrayRef<int64_t> sizes) {
  RankedTensorType type = getTensorType(value);
  if (type.getShape() == sizes)
    return value;
  SmallVector<int64_t> numbers;
  for (int64_t size : sizes)
    numbers.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return tosa::SliceOp::create(*this, type.clone(sizes), value,
                               createShape(offsets), createShape(numbers));
}

Value TosaBuilder::slice(Value value, ArrayRef<int64_t> offsets,
                         ArrayRef<int64_t> sizes, ArrayRef<int64_t> strides) {
  // For a stride s, take all s * n elements, and keep the first of every s.
  SmallVector<int64_t> whole, low(sizes.size(), 0), high, apart, first;
  for (auto [axis, size] : llvm::enumerate(sizes)) {
    int64_t length = getTensorType(value).getDimSize(axis);
    // An axis of dynamic size has to be taken as a whole.
    if (ShapedType::isDynamic(length) || ShapedType::isDynamic(size)) {
      if (length != size || offsets[axis] != 0 || strides[axis] != 1)
        return nullptr;
      whole.push_back(size);
      high.push_back(0);
    } else {
      if (strides[axis] < 1 || offsets[axis] < 0 ||
          offsets[axis] + (size - 1) * strides[axis] >= length)
        return nullptr;
      whole.push_back(std::min(length - offsets[axis], size * strides[axis]));
      high.push_back(size * strides[axis] - whole.back());
    }
    apart.append({size, strides[axis]});
    first.append({size, 1});
  }
  value = slice(value, offsets, whole);
  if (llvm::all_of(strides, [](int64_t stride) { return stride == 1; }))
    return value;
  value = reshape(pad(value, low, high, 0), apart);
  value = slice(value, SmallVector<int64_t>(apart.size(), 0), first);
  return reshape(value, sizes);
}

Value TosaBuilder::pad(Value value, ArrayRef<int64_t> low,
                       ArrayRef<int64_t> high, double number) {
  RankedTensorType type = getTensorType(value);
  SmallVector<int64_t> shape, sizes;
  for (auto [size, before, after] :
       llvm::zip_equal(type.getShape(), low, high)) {
    shape.push_back(ShapedType::isDynamic(size) ? size : before + size + after);
    sizes.append({before, after});
  }
  if (llvm::all_of(sizes, [](int64_t size) { return size == 0; }))
    return value;
  return tosa::PadOp::create(*this, type.clone(shape), value,
                             createShape(sizes),
                             createSplat(1, type.getElementType(), number));
}

Value TosaBuilder::cast(Value value, Type elementType) {
  RankedTensorType type = getTensorType(value);
  if (type.getElementType() == elementType)
    return value;
  return tosa::CastOp::create(*this, type.clone(elementType), value);
}

Value TosaBuilder::add(Value a, Value b) {
  return binary<tosa::AddOp>(a, b, nullptr);
}

Value TosaBuilder::multiply(Value a, Value b) {
  return binary<tosa::MulOp>(a, b, nullptr, createSplat(1, getI8Type(), 0));
}

RankedTensorType TosaBuilder::getBroadcastType(Value a, Value b,
                                               Type elementType) {
  RankedTensorType left = getTensorType(a), right = getTensorType(b);
  if (left.getRank() != right.getRank())
    return nullptr;
  SmallVector<int64_t> shape;
  for (auto [first, second] :
       llvm::zip_equal(left.getShape(), right.getShape())) {
    if (first != second && first != 1 && second != 1)
      return nullptr;
    shape.push_back(first == 1 ? second : first);
  }
  return RankedTensorType::get(shape, elementType ? elementType
                                                  : left.getElementType());
}
