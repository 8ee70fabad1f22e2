// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Constants.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;

// Below this many elements an inline attribute is smaller and more readable
// than a resource.
static constexpr int64_t kInlineElements = 32;

std::optional<mct::ConstantFloats> mct::ConstantFloats::get(Value value) {
  ElementsAttr attribute;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isF32() ||
      !matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  ConstantFloats result;
  result.type = type;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob ||
        blob->getData().size() != size_t(type.getNumElements()) * sizeof(float))
      return std::nullopt;
    result.stored = blob->getDataAs<float>();
    return result;
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return std::nullopt;
  if (dense.isSplat())
    result.expanded.assign(type.getNumElements(), dense.getSplatValue<float>());
  else
    result.stored =
        ArrayRef(reinterpret_cast<const float *>(dense.getRawData().data()),
                 type.getNumElements());
  return result;
}

ElementsAttr mct::createFloats(RankedTensorType type, ArrayRef<float> values,
                               StringRef name) {
  if (type.getNumElements() <= kInlineElements)
    return DenseElementsAttr::get(type, values);
  return DenseResourceElementsAttr::get(
      type, name,
      HeapAsmResourceBlob::allocateAndCopyInferAlign<float>(values));
}

Value mct::createConstant(OpBuilder &builder, Location loc,
                          RankedTensorType type, ArrayRef<float> values,
                          StringRef name) {
  return tosa::ConstOp::create(builder, loc, type,
                               createFloats(type, values, name));
}

ElementsAttr mct::createIntegers(MLIRContext *context, ArrayRef<int64_t> values,
                                 StringRef name) {
  auto type = RankedTensorType::get(int64_t(values.size()),
                                    IntegerType::get(context, 64));
  if (type.getNumElements() <= kInlineElements)
    return DenseElementsAttr::get(type, values);
  return DenseResourceElementsAttr::get(
      type, name,
      HeapAsmResourceBlob::allocateAndCopyInferAlign<int64_t>(values));
}
