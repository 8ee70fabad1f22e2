// SPDX-License-Identifier: Apache-2.0
//
// A softmax on integers: tables of exponentials, their sum, and products with
// its reciprocal, since few devices divide integers.
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

using namespace mlir;
using namespace mct;

/// Fractional bits of exponentials, chosen so that a sum of `kMostValues` fits
/// into 32 bits.
static constexpr int kExponentialBits = 22;
static constexpr int64_t kMostValues = 511;
/// Fractional bits of quotients: far more than 8, since codes are rounded
/// again.
static constexpr int kQuotientBits = 24;

namespace {
struct Softmax {
  Value input;
  int64_t axis;
};
} // namespace

static std::optional<Softmax> findSoftmax(Value value) {
  auto product = value.getDefiningOp<tosa::MulOp>();
  for (unsigned i = 0; product && i != 2; ++i) {
    auto exp = product->getOperand(i).getDefiningOp<tosa::ExpOp>();
    auto inverse =
        product->getOperand(1 - i).getDefiningOp<tosa::ReciprocalOp>();
    auto sum = inverse ? inverse.getInput1().getDefiningOp<tosa::ReduceSumOp>()
                       : nullptr;
    if (!exp || !sum || sum.getInput() != exp.getResult())
      continue;
    Softmax softmax{exp.getInput1(), int64_t(sum.getAxis())};
    if (auto shifted = softmax.input.getDefiningOp<tosa::SubOp>())
      if (auto max = shifted.getInput2().getDefiningOp<tosa::ReduceMaxOp>();
          max && max.getInput() == shifted.getInput1() &&
          int64_t(max.getAxis()) == softmax.axis)
        softmax.input = shifted.getInput1();
    return softmax;
  }
  return std::nullopt;
}

Value mct::getSoftmaxInput(Value value) {
  std::optional<Softmax> softmax = findSoftmax(value);
  return softmax ? softmax->input : Value();
}

/// Returns exp(scale * (code - 127)) in i32, from a table for each byte of the
/// result, the lowest byte first.
static Value createExponentials(IntegerBuilder &b, Value code, double scale) {
  std::array<std::vector<int64_t>, 3> bytes;
  for (int64_t i = -128; i < 128; ++i) {
    double exact = std::exp(scale * double(i - 127));
    int64_t rest = std::llround(std::ldexp(exact, kExponentialBits));
    for (std::vector<int64_t> &table : bytes) {
      auto low = int64_t(int8_t(uint8_t(rest & 255)));
      table.push_back(low);
      rest = (rest - low) >> 8;
    }
  }
  RankedTensorType wide = b.getType(code, 32);
  Value result;
  for (auto [number, table] : llvm::enumerate(bytes)) {
    Value entry = tosa::TableOp::create(b, code.getType(), code,
                                        b.createConstant(256, 8, table));
    Value part = tosa::CastOp::create(b, wide, entry);
    if (number != 0)
      part = tosa::LogicalLeftShiftOp::create(
          b, wide, part, b.createNumber(part, int64_t(8 * number)));
    result = result ? b.add(result, part) : part;
  }
  return result;
}

/// Returns 2^59 / divisor for divisors in [2^30, 2^31), with a relative error
/// of some parts in 2^28.
static Value createReciprocal(IntegerBuilder &b, Value divisor) {
  Type type = divisor.getType();
  auto number = [&](int64_t integer) {
    return b.createNumber(divisor, integer);
  };
  // The table of 128 entries approximates it to some parts in a thousand.
  constexpr int kFraction = 28;
  Value index = b.rescale(divisor, 0, 0x1p-23, -128, 8);
  std::vector<int64_t> entries;
  for (int64_t code = -128; code != 128; ++code) {
    // Numbers below a half do not occur.
    double exact = 256 / (double(std::max<int64_t>(code, 0) + 128) / 256);
    entries.push_back(
        std::clamp<int64_t>(std::llround(exact) - 384, -128, 127));
  }
  Value entry = tosa::TableOp::create(b, index.getType(), index,
                                      b.createConstant(256, 8, entries));
  Value result = b.rescale(entry, -384 + 256, 1.0, 0, 32);
  result = b.add(result, number(256));
  result =
      tosa::LogicalLeftShiftOp::create(b, type, result, number(kFraction - 8));
  // Each Newton step squares the error: r (2 - d r).
  for (int step = 0; step != 2; ++step) {
    Value rest = tosa::SubOp::create(b, type, number(int64_t(2) << kFraction),
                                     b.multiply(divisor, result, 31));
    result = b.limit(b.multiply(result, rest, kFraction),
                     int64_t(1) << kFraction, int64_t(2) << kFraction);
  }
  return result;
}

static IntegerOr<Value> lowerSoftmaxTo(IntegerContext &context, Operation *op,
                                       const Softmax &softmax,
                                       const Encoding &encoding) {
  IntegerOr<StoredIntegers> stored = context.getStored(softmax.input);
  if (!stored)
    return {IntegerReason::InputNotQuantized, op};
  auto type = cast<RankedTensorType>(softmax.input.getType());
  if (stored->encoding.storageBits != 8 || encoding.storageBits != 8 ||
      type.getDimSize(softmax.axis) > kMostValues)
    return {IntegerReason::LongSoftmax, op};
  IntegerBuilder &b = context.getBuilder();
  SmallVector<int64_t> shape(type.getShape()), reduced(shape);
  reduced[softmax.axis] = 1;
  RankedTensorType wide = type.clone(b.getI32Type());
  RankedTensorType wideSum = wide.clone(reduced);
  Value largest = tosa::ReduceMaxOp::create(
      b, type.clone(b.getIntegerType(8)).clone(reduced), stored->value,
      uint32_t(softmax.axis), tosa::NanPropagationMode::PROPAGATE);
  Value codes = b.widen(*stored);
  Value difference = b.subtract(codes, b.widen({largest, stored->encoding}));
  // The difference is in [-255, 0], so adding 127 gives a code.
  Value code = b.rescale(difference, 0, 1.0, 127, 8);
  Value exponentials = createExponentials(b, code, stored->encoding.scale);
  Value sum = tosa::ReduceSumOp::create(
      b, wideSum, exponentials, b.getI32IntegerAttr(int32_t(softmax.axis)));
  // One of the exponentials is 1.
  constexpr int64_t kOne = int64_t(1) << kExponentialBits;
  sum = b.limit(sum, kOne, kMostValues * kOne);
  // Shift both so that the sum is in [2^30, 2^31).
  Value places =
      b.subtract(tosa::ClzOp::create(b, wideSum, sum), b.createNumber(sum, 1));
  Value inverse = createReciprocal(
      b, tosa::LogicalLeftShiftOp::create(b, wideSum, sum, places));
  Value dividend =
      tosa::LogicalLeftShiftOp::create(b, wide, exponentials, places);
  constexpr int64_t kMostQuotient = int64_t(1) << kQuotientBits;
  IntegerAccumulator quotient;
  quotient.value = b.multiply(dividend, inverse, 59 - kQuotientBits);
  quotient.scales = {std::ldexp(1.0, -kQuotientBits)};
  quotient.bound = kMostQuotient;
  quotient.shape = shape;
  return requantize(context, quotient, encoding);
}

std::optional<IntegerOr<Value>> mct::lowerSoftmax(IntegerContext &context,
                                                  Value value,
                                                  const Encoding &encoding) {
  std::optional<Softmax> softmax = findSoftmax(value);
  if (!softmax)
    return std::nullopt;
  Operation *op = value.getDefiningOp();
  if (context.getOptions().softmax != IntegerSoftmax::Integer)
    return IntegerFailure{IntegerReason::EndsSoftmax, op};
  return lowerSoftmaxTo(context, op, *softmax, encoding);
}
