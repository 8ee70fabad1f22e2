// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Constants.h"
#include "mct/IR/ResourceKeys.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AsmState.h"

using namespace mlir;

// Splats of more elements than this are not weights, but accidental.
static constexpr int64_t kMaxExpanded = int64_t(1) << 26;

static bool isTooLarge(const mct::ConstantTensor &tensor) {
  return tensor.isSplat() && tensor.getNumElements() > kMaxExpanded;
}

/// Returns a tensor of f32, unless it is a huge splat.
static std::optional<mct::ConstantTensor> getTensor(Value value) {
  std::optional<mct::ConstantTensor> tensor = mct::ConstantTensor::get(value);
  if (!tensor || !tensor->getType().getElementType().isF32() ||
      isTooLarge(*tensor))
    return std::nullopt;
  return tensor;
}

bool mct::ConstantFloats::exists(Value value) {
  return getTensor(value).has_value();
}

std::optional<mct::ConstantFloats> mct::ConstantFloats::get(Value value) {
  std::optional<ConstantTensor> tensor = getTensor(value);
  return tensor ? convert(std::move(*tensor)) : std::nullopt;
}

std::optional<mct::ConstantFloats>
mct::ConstantFloats::convert(ConstantTensor tensor) {
  if (isTooLarge(tensor))
    return std::nullopt;
  ConstantFloats result;
  result.tensor = std::move(tensor);
  if (!result.tensor.isSplat() &&
      result.tensor.getType().getElementType().isF32())
    return result;
  result.converted = result.tensor.decode<float>();
  if (result.tensor.isSplat())
    result.converted.resize(result.tensor.getNumElements(),
                            result.converted.front());
  return result;
}

ElementsAttr mct::createFloats(RankedTensorType type, ArrayRef<float> values,
                               StringRef name) {
  if (type.getNumElements() <= mct::kInlineElements)
    return DenseElementsAttr::get(type, values);
  return createResource(
      type, name,
      HeapAsmResourceBlob::allocateAndCopyInferAlign<float>(values));
}

Value mct::createConstant(OpBuilder &builder, Location loc,
                          RankedTensorType type, ArrayRef<float> values,
                          StringRef name) {
  return tosa::ConstOp::create(builder, loc, type,
                               createFloats(type, values, name));
}

tosa::MulOp mct::createProduct(OpBuilder &builder, Location loc, Type type,
                               Value first, Value second) {
  auto shiftType = RankedTensorType::get({1}, builder.getI8Type());
  Value shift = tosa::ConstOp::create(
      builder, loc, shiftType,
      DenseElementsAttr::get(shiftType, builder.getI8IntegerAttr(0)));
  return tosa::MulOp::create(builder, loc, type, first, second, shift);
}

template <typename T>
static ElementsAttr createElements(MLIRContext *context, ArrayRef<T> values,
                                   StringRef name) {
  auto type = RankedTensorType::get(int64_t(values.size()),
                                    IntegerType::get(context, 8 * sizeof(T)));
  if (type.getNumElements() <= mct::kInlineElements)
    return DenseElementsAttr::get(type, values);
  return mct::createResource(
      type, name, HeapAsmResourceBlob::allocateAndCopyInferAlign<T>(values));
}

ElementsAttr mct::createIntegers(MLIRContext *context, ArrayRef<int64_t> values,
                                 StringRef name) {
  if (llvm::all_of(values, llvm::isInt<32>))
    return createElements<int32_t>(context, llvm::to_vector_of<int32_t>(values),
                                   name);
  return createElements<int64_t>(context, values, name);
}
