// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of element-wise products and matrix products.
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

using namespace mlir;
using namespace mct;

std::optional<double> mct::findCount(double factor) {
  double count = std::nearbyint(1 / factor);
  if (count > 1 && double(float(1 / count)) == factor)
    return count;
  return std::nullopt;
}

int mct::getMeanExponent(double ratio, double count) {
  int exponent = 0, bits = 0;
  std::frexp(ratio, &exponent);
  std::frexp(count, &bits);
  return exponent - (bits - 1);
}

IntegerOr<IntegerAccumulator> mct::scale(IntegerContext &context, Operation *op,
                                         IntegerAccumulator sums,
                                         ArrayRef<double> factors) {
  auto type = cast<RankedTensorType>(sums.value.getType());
  if (!llvm::all_of(factors,
                    [](double factor) { return std::isfinite(factor); }) ||
      !type.getElementType().isInteger(32) ||
      (factors.size() > 1 && type.getShape().back() != sums.shape.back()))
    return {IntegerReason::NumbersNotScales, op};
  // The factors of a rescale are positive, so multiply by signs or 0 first.
  size_t count = std::max(factors.size(), sums.scales.size());
  std::vector<double> scales;
  std::vector<int64_t> signs;
  for (size_t i = 0; i != count; ++i) {
    double factor = factors[factors.size() == 1 ? 0 : i];
    signs.push_back((factor > 0) - (factor < 0));
    scales.push_back(sums.getScale(i) * (factor == 0 ? 1 : std::abs(factor)));
  }
  if (llvm::any_of(signs, [](int64_t sign) { return sign != 1; })) {
    IntegerBuilder &b = context.getBuilder();
    sums.value =
        b.multiply(sums.value, b.createAlongLastAxis(sums.value, signs));
    sums.mean.reset();
  }
  if (sums.mean && factors.size() == 1)
    sums.mean->step *= factors.front();
  else
    sums.mean.reset();
  std::optional<double> values =
      factors.size() == 1 ? findCount(factors.front()) : std::nullopt;
  if (sums.summands && values && !quantization::isPowerOfTwo(*values) &&
      kNudge * sums.bound + 1 < 0x1p31) {
    sums.mean = sums.summands;
    sums.mean->count = *values;
    // The f32 number may be less than 1 / n, which would round means that lie
    // halfway down. Kernels that round twice multiply by that number.
    if (!roundsTwice(context.getOptions().rounding))
      scales = {sums.getScale(0) / *values};
  }
  sums.summands.reset();
  sums.scales = std::move(scales);
  if (sums.history)
    sums.history->steps.push_back(
        {/*isSum=*/false, std::vector<float>(factors.begin(), factors.end())});
  return sums;
}

/// Returns an operand of a product in i32.
static IntegerOr<IntegerAccumulator> getFactor(IntegerContext &context,
                                               Operation *op, Value operand) {
  IntegerBuilder &b = context.getBuilder();
  if (IntegerOr<StoredIntegers> stored = context.getStored(operand))
    return accumulate(b, *stored);
  std::optional<ConstantTensor> number =
      context.getConstants().evaluate(operand);
  if (!number)
    return getTerm(context, op, operand);
  std::optional<ExactCodes> codes = getExactCodes(number->decode<double>());
  if (!codes)
    return {IntegerReason::NumbersNotQuantized, op};
  return IntegerAccumulator{
      b.createConstant(number->getShape(), 32, codes->values),
      {codes->unit},
      codes->bound,
      std::nullopt,
      {}};
}

static IntegerOr<IntegerAccumulator> accumulateProduct(IntegerContext &context,
                                                       tosa::MulOp op) {
  // Unrounded sums times a number, or times one number for each channel.
  for (unsigned i = 0; i != 2; ++i) {
    std::optional<ConstantTensor> number =
        context.getConstants().evaluate(op->getOperand(i));
    Value other = op->getOperand(1 - i);
    if (!number || op.getType() != other.getType() ||
        !(number->isSplat() || number->getNumElements() == 1 ||
          number->getNumElements() == number->getShape().back()))
      continue;
    IntegerOr<IntegerAccumulator> sums = accumulate(context, other);
    return sums ? scale(context, op, *sums, number->decode<double>()) : sums;
  }
  IntegerAccumulator result;
  result.bound = 1;
  result.scales = {1};
  std::array<Value, 2> factors;
  for (unsigned i = 0; i != 2; ++i) {
    IntegerOr<IntegerAccumulator> factor =
        getFactor(context, op, op->getOperand(i));
    if (!factor)
      return factor;
    factors[i] = factor->value;
    result.bound *= factor->bound;
    if (result.scales.size() < factor->scales.size())
      result.scales.resize(factor->scales.size(), result.scales.front());
    for (auto [channel, scale] : llvm::enumerate(result.scales))
      scale *= factor->getScale(channel);
  }
  if (!(result.bound < 0x1p31))
    return {IntegerReason::ProductsDoNotFit, op};
  IntegerBuilder &b = context.getBuilder();
  result.value =
      tosa::MulOp::create(b, b.getType(op.getResult(), 32), factors[0],
                          factors[1], b.createConstant(1, 8, 0));
  return result;
}

static IntegerOr<IntegerAccumulator> accumulateMatMul(IntegerContext &context,
                                                      tosa::MatMulOp op) {
  IntegerOr<StoredIntegers> first = context.getStored(op.getA()),
                            second = context.getStored(op.getB());
  if (!first || !second)
    return {IntegerReason::InputNotQuantized, op};
  const Encoding &a = first->encoding, &c = second->encoding;
  if (a.storageBits != 8 || c.storageBits != 8)
    return {IntegerReason::WideFactors, op};
  IntegerAccumulator result;
  auto type = cast<RankedTensorType>(op.getA().getType());
  result.bound = a.getReach() * c.getReach() * double(type.getDimSize(2));
  if (!(result.bound < 0x1p31))
    return {IntegerReason::NarrowAccumulator, op};
  result.scales = {a.scale * c.scale};
  IntegerBuilder &b = context.getBuilder();
  result.value = tosa::MatMulOp::create(
      b, b.getType(op.getResult(), 32), first->value, second->value,
      b.createConstant(1, 8, a.zeroPoint), b.createConstant(1, 8, c.zeroPoint));
  return result;
}

void mct::attachIntegerProductModels(MLIRContext *context) {
  attachAccumulators<accumulateProduct, accumulateMatMul>(context);
}
