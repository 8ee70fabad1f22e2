// SPDX-License-Identifier: Apache-2.0
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/Lookup/Algebra.h"

using namespace mlir;
using namespace mct;

#include "mct/Conversion/IntegerOp.cpp.inc"

/// Most ops that are visited between a point and the value that it quantizes.
static constexpr unsigned kMaxDepth = 256;

StringRef IntegerFailure::getText() const {
  static constexpr StringLiteral kTexts[] = {
#define MCT_INTEGER_REASON(Name, Text) StringLiteral(Text),
#include "mct/Conversion/IntegerReasons.def"
#undef MCT_INTEGER_REASON
  };
  return kTexts[size_t(reason)];
}

void mct::registerIntegerModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tosa::TosaDialect *) {
    attachIntegerComparisonModels(context);
    attachIntegerMovementModels(context);
    attachIntegerProductModels(context);
    attachIntegerReductionModels(context);
    attachIntegerSumModels(context);
  });
  registry.addExtension(+[](MLIRContext *context, tpc::TpcDialect *) {
    attachIntegerPointModel(context);
  });
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

/// Returns the levels of a constant that a weight point quantizes.
static std::optional<ConstantTensor>
evaluatePoint(tpc::QuantizeOp point, ConstantEvaluator::Operands operands) {
  std::optional<ConstantFloats> values =
      ConstantFloats::convert(operands.front());
  if (point.isActivation() || !values)
    return std::nullopt;
  if (!point.getParametersAttr())
    return operands.front();
  std::vector<float> levels(values->values().size());
  point.getParametersAttr().fakeQuantize(
      values->shape(), point.getChannelAxes(), values->values().data(),
      levels.data());
  return ConstantTensor::create<float>(operands.front().getType(),
                                       std::move(levels));
}

namespace {
/// Model that stores the codes of constants. The integers of activations are
/// recorded when their points are lowered.
struct PointModel
    : IntegerOpInterface::ExternalModel<PointModel, tpc::QuantizeOp> {
  IntegerOr<StoredIntegers> getStoredIntegers(Operation *op,
                                              IntegerContext &context) const {
    auto point = cast<tpc::QuantizeOp>(op);
    std::optional<Encoding> encoding;
    if (point.isWeight() && point.getParametersAttr())
      encoding = Encoding::get(point.getParametersAttr());
    std::optional<ConstantTensor> levels;
    if (encoding && encoding->storageBits == 8)
      levels = context.getConstants().evaluate(point.getResult());
    if (!levels)
      return {IntegerReason::NoForm, op};
    std::vector<int64_t> codes;
    for (float level : levels->decode<float>())
      codes.push_back(encoding->quantize(level));
    return StoredIntegers{
        context.getBuilder().createConstant(levels->getShape(), 8, codes),
        *encoding};
  }
};
} // namespace

void mct::attachIntegerPointModel(MLIRContext *context) {
  tpc::QuantizeOp::attachInterface<PointModel>(*context);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

IntegerForms::IntegerForms(func::FuncOp function, const KernelOps &kernels,
                           const IntegerOptions &options)
    : options(options), builder(function.getLoc(), function.getContext()),
      layers(kernels.findByResult(function)) {
  // Constants of ops other than layers may have points, too.
  constants.handle<tpc::QuantizeOp>(evaluatePoint);
  for (const tpc::FormulaMatch &match : tpc::findFormulas(function.front()))
    if (match.name == "layer_norm")
      layerNormInputs[match.ops.back()->getResult(0)] = match.input;
}

bool IntegerContext::isTooDeep() const { return depth == kMaxDepth; }

IntegerOr<StoredIntegers> IntegerContext::getStored(Value value) {
  if (auto it = forms.storedValues.find(value); it != forms.storedValues.end())
    return it->second;
  if (isTooDeep())
    return {IntegerReason::TooDeep, nullptr};
  return forms.storedValues.try_emplace(value, getDeeper().createStored(value))
      .first->second;
}

IntegerOr<StoredIntegers> IntegerContext::createStored(Value value) {
  auto op = dyn_cast_or_null<IntegerOpInterface>(value.getDefiningOp());
  if (!op || op->getNumResults() != 1 ||
      !isa<RankedTensorType>(value.getType()))
    return {IntegerReason::NoForm, value.getDefiningOp()};
  // Insert after the op, so that all users of the value can use the integers.
  OpBuilder::InsertionGuard guard(getBuilder());
  getBuilder().setInsertionPointAfter(op);
  return op.getStoredIntegers(*this);
}

IntegerOr<IntegerAccumulator> IntegerContext::getAccumulator(Value value) {
  if (auto it = forms.accumulators.find(value); it != forms.accumulators.end())
    return it->second;
  if (isTooDeep())
    return {IntegerReason::TooDeep, nullptr};
  IntegerOr<IntegerAccumulator> result = getDeeper().createAccumulator(value);
  if (result && result->shape.empty())
    result->shape = SmallVector<int64_t>(
        cast<RankedTensorType>(value.getType()).getShape());
  return forms.accumulators.try_emplace(value, std::move(result)).first->second;
}

IntegerOr<IntegerAccumulator> IntegerContext::createAccumulator(Value value) {
  if (auto layer = forms.layers.find(value); layer != forms.layers.end())
    return accumulateLayer(*this, layer->second);
  Operation *op = value.getDefiningOp();
  if (!op)
    return {IntegerReason::MadeOfArgument, nullptr};
  if (auto integerOp = dyn_cast<IntegerOpInterface>(op))
    return integerOp.getAccumulator(*this);
  return {IntegerReason::NoForm, op};
}

IntegerOr<Value> IntegerContext::getCodes(Value value,
                                          const Encoding &encoding) {
  auto key =
      std::pair(value.getAsOpaquePointer(), forms.encodings.insert(encoding));
  if (auto it = forms.codes.find(key); it != forms.codes.end())
    return it->second;
  if (isTooDeep())
    return {IntegerReason::TooDeep, value.getDefiningOp()};
  IntegerOr<Value> result = getDeeper().createCodes(value, encoding);
  if (result)
    forms.codes[key] = *result;
  return result;
}

IntegerOr<Value> IntegerContext::createCodes(Value value,
                                             const Encoding &encoding) {
  if (IntegerOr<StoredIntegers> stored = getStored(value))
    return requantize(*this, *stored, encoding);
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op)
    return {IntegerReason::ArgumentNotQuantized, nullptr};
  if (!type || !type.getElementType().isF32())
    return {IntegerReason::NotQuantized, op};
  if (std::optional<ConstantTensor> constant = getConstants().evaluate(value)) {
    std::vector<int64_t> integers;
    for (float element : constant->decode<float>())
      integers.push_back(encoding.quantize(element));
    return getBuilder().createConstant(type.getShape(), encoding.storageBits,
                                       integers);
  }
  for (auto *lowerExpression : {lowerTable, lowerSoftmax, lowerLayerNorm})
    if (std::optional<IntegerOr<Value>> result =
            lowerExpression(*this, value, encoding))
      return *result;
  if (auto integerOp = dyn_cast<IntegerOpInterface>(op))
    return integerOp.getCodes(*this, encoding);
  return roundAccumulator(value, encoding);
}

IntegerOr<Value> IntegerContext::roundAccumulator(Value value,
                                                  const Encoding &encoding) {
  IntegerOr<IntegerAccumulator> accumulator = getAccumulator(value);
  if (!accumulator)
    return accumulator.getFailure();
  return requantize(*this, *accumulator, encoding);
}

//===----------------------------------------------------------------------===//
// Remembered answers
//===----------------------------------------------------------------------===//

void IntegerForms::setStored(Value value, const StoredIntegers &stored) {
  storedValues.insert_or_assign(value, stored);
}

const StoredIntegers *IntegerForms::findPoint(Value value) const {
  if (!value.getDefiningOp<tpc::QuantizeOp>())
    return nullptr;
  auto it = storedValues.find(value);
  return it == storedValues.end() || !it->second ? nullptr : &*it->second;
}

void IntegerForms::leave(Region &region) {
  // Stored integers are created next to the value that they represent, so only
  // the other caches need to be cleared.
  auto isInside = [&](Value value) {
    return region.isAncestor(value.getParentRegion());
  };
  for (auto it = codes.begin(); it != codes.end();)
    it = isInside(it->second) ? codes.erase(it) : std::next(it);
  for (auto &[value, accumulator] : llvm::make_early_inc_range(accumulators))
    if (accumulator && isInside(accumulator->value))
      accumulators.erase(value);
}
