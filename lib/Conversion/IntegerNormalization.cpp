// SPDX-License-Identifier: Apache-2.0
//
// A layer norm whose only point lies behind it, on integers.
#include "IntegerLowering.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;

//===----------------------------------------------------------------------===//
// What it computes
//===----------------------------------------------------------------------===//

/// Behind reshapes, and conversions between float types, as variances are
/// computed in f64.
static Value skipMoves(Value value) {
  for (;;) {
    Operation *op = value.getDefiningOp();
    auto cast = dyn_cast_or_null<tosa::CastOp>(op);
    if (!isa_and_nonnull<tosa::ReshapeOp>(op) &&
        !(cast && isa<FloatType>(getElementTypeOrSelf(cast.getInput())) &&
          isa<FloatType>(getElementTypeOrSelf(cast.getType()))))
      return value;
    value = op->getOperand(0);
  }
}

/// The operand of an op of two that is not constant, and the numbers of the
/// other one: one, or `channels` along the last axis.
static std::optional<std::pair<Value, std::vector<double>>>
splitConstant(ConstantEvaluator &constants, Operation *op, int64_t channels) {
  for (unsigned number : {0u, 1u}) {
    std::optional<ConstantTensor> tensor =
        constants.evaluate(op->getOperand(1 - number));
    if (!tensor)
      continue;
    std::optional<ConstantFloats> floats = ConstantFloats::convert(*tensor);
    if (!floats)
      continue;
    ArrayRef<float> values = floats->values();
    ArrayRef<int64_t> shape = tensor->getType().getShape();
    if (values.size() != 1 && (int64_t(values.size()) != channels ||
                               shape.empty() || shape.back() != channels))
      return std::nullopt;
    return std::pair(op->getOperand(number),
                     std::vector<double>(values.begin(), values.end()));
  }
  return std::nullopt;
}

std::optional<IntegerLowering::LayerNorm>
IntegerLowering::findNormalized(Value value, bool &isRefused) {
  auto it = normalized.find(value);
  if (it == normalized.end())
    return std::nullopt;
  // (x - mean) * rsqrt(factor * sum((x - mean)^2) + epsilon)
  auto product = value.getDefiningOp<tosa::MulOp>();
  tosa::RsqrtOp root;
  tosa::SubOp centred;
  if (product)
    for (Value operand : {product.getInput1(), product.getInput2()}) {
      Operation *op = skipMoves(operand).getDefiningOp();
      if (auto found = dyn_cast_or_null<tosa::RsqrtOp>(op))
        root = found;
      else
        centred = dyn_cast_or_null<tosa::SubOp>(op);
    }
  // What a gain or an offset makes is looked at with these.
  if (!root || !centred)
    return std::nullopt;
  LayerNorm norm;
  norm.input = centred.getInput1();
  Operation *variance = skipMoves(root.getInput1()).getDefiningOp();
  auto number = [&](Operation *op) -> std::optional<std::pair<Value, double>> {
    auto split = splitConstant(constants, op, /*channels=*/1);
    if (!split || split->second.size() != 1)
      return std::nullopt;
    return std::pair(split->first, split->second.front());
  };
  if (isa_and_nonnull<tosa::AddOp>(variance))
    if (auto added = number(variance)) {
      norm.epsilon = added->second;
      variance = skipMoves(added->first).getDefiningOp();
    }
  if (isa_and_nonnull<tosa::MulOp>(variance))
    if (auto factor = number(variance)) {
      norm.factor = factor->second;
      variance = skipMoves(factor->first).getDefiningOp();
    }
  auto sum = dyn_cast_or_null<tosa::ReduceSumOp>(variance);
  auto square = sum ? sum.getInput().getDefiningOp<tosa::MulOp>() : nullptr;
  auto difference = square && square.getInput1() == square.getInput2()
                        ? square.getInput1().getDefiningOp<tosa::SubOp>()
                        : nullptr;
  auto type = cast<RankedTensorType>(norm.input.getType());
  Value source = skipMoves(it->second);
  if (!difference || skipMoves(difference.getInput1()) != source ||
      skipMoves(norm.input) != source || !(norm.factor > 0) ||
      !std::isfinite(norm.factor) || !(norm.epsilon >= 0) ||
      type.getRank() == 0 || type.getNumElements() == 0 ||
      int64_t(sum.getAxis()) != type.getRank() - 1 ||
      cast<RankedTensorType>(square.getType()).getShape() != type.getShape() ||
      value.getType() != Type(type) || !type.getElementType().isF32()) {
    isRefused = true;
    fail(product, "ends a layer norm that is not a sum of squared differences "
                  "over the last axis");
    return std::nullopt;
  }
  return norm;
}

std::optional<IntegerLowering::LayerNorm>
IntegerLowering::findLayerNorm(Value value, bool &isRefused) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t channels = type.getRank() == 0 ? 1 : type.getShape().back();
  // What lies behind the normalized values, the last first.
  std::vector<double> gain = {1}, offset = {0};
  auto combine = [](std::vector<double> &into, ArrayRef<double> with,
                    auto apply) {
    if (into.size() < with.size())
      into.resize(with.size(), into.front());
    for (auto [i, number] : llvm::enumerate(into))
      number = apply(number, with[with.size() == 1 ? 0 : i]);
  };
  for (;;) {
    if (std::optional<LayerNorm> norm = findNormalized(value, isRefused)) {
      norm->gain = std::move(gain);
      norm->offset = std::move(offset);
      return norm;
    }
    Operation *op = value.getDefiningOp();
    // Anything behind one is a formula, too.
    if (isRefused || !normalized.contains(value) ||
        !isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
      return std::nullopt;
    auto split = splitConstant(constants, op, channels);
    if (!split || split->first.getType() != Type(type))
      return std::nullopt;
    auto &[next, numbers] = *split;
    if (isa<tosa::MulOp>(op)) {
      combine(gain, numbers, std::multiplies<>());
    } else {
      bool isNegated = isa<tosa::SubOp>(op) && next == op->getOperand(1);
      bool isTaken = isa<tosa::SubOp>(op) && !isNegated;
      std::vector<double> added = gain;
      combine(added, numbers, std::multiplies<>());
      combine(offset, added, [&](double sum, double term) {
        return isTaken ? sum - term : sum + term;
      });
      if (isNegated)
        for (double &each : gain)
          each = -each;
    }
    value = next;
  }
}

//===----------------------------------------------------------------------===//
// On integers
//===----------------------------------------------------------------------===//

Value IntegerLowering::createInverseRoot(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> one(type.getRank(), 1);
  auto number = [&](int64_t integer) {
    return createConstant(one, 32, integer);
  };
  auto multiply = [&](Value a, Value b, int64_t shift) -> Value {
    return tosa::MulOp::create(builder, loc, type, a, b,
                               createConstant(1, 8, shift));
  };
  // By an even number of places into [2^29, 2^31), whose root the table of 192
  // parts approximates to some parts in a thousand.
  Value zeros = tosa::ClzOp::create(builder, loc, type, value);
  zeros = tosa::SubOp::create(builder, loc, type, zeros, number(1));
  Value places =
      tosa::BitwiseAndOp::create(builder, loc, type, zeros, number(30));
  Value scaled =
      tosa::LogicalLeftShiftOp::create(builder, loc, type, value, places);
  auto shift = [&](Value shifted, Value by) -> Value {
    return tosa::ArithmeticRightShiftOp::create(builder, loc, type, shifted, by,
                                                /*round=*/false);
  };
  constexpr int kIndexBits = 8, kFraction = 28;
  Value index =
      rescale(shift(scaled, number(31 - kIndexBits)), 0, 1.0, -128, 8);
  std::vector<int64_t> entries;
  for (int64_t code = -128; code != 128; ++code) {
    // Numbers below a quarter do not occur.
    double middle = std::max(double(code + 128) + 0.5, 64.0) / 256;
    entries.push_back(std::clamp<int64_t>(
        std::llround(256 / std::sqrt(middle)) - 384, -128, 127));
  }
  Value entry = tosa::TableOp::create(builder, loc, getType(index, 8), index,
                                      createConstant(256, 8, entries));
  Value root = rescale(entry, -384 + 256, 1.0, 0, 32);
  root = tosa::AddOp::create(builder, loc, type, root, number(256));
  root = tosa::LogicalLeftShiftOp::create(builder, loc, type, root,
                                          number(kFraction - 8));
  // Each step squares the error: r (3 - x r^2) / 2.
  for (int step = 0; step != 2; ++step) {
    Value square = multiply(root, root, kFraction);
    Value rest =
        tosa::SubOp::create(builder, loc, type, number(int64_t(3) << kFraction),
                            multiply(scaled, square, 31));
    root = limit(multiply(root, rest, kFraction + 1), int64_t(1) << kFraction,
                 int64_t(2) << kFraction);
  }
  // Half as many places back, of the 15 that there are at most.
  return shift(root, tosa::SubOp::create(builder, loc, type, number(15),
                                         shift(places, number(1))));
}

Value IntegerLowering::lowerLayerNorm(Operation *op, const LayerNorm &norm,
                                      const Encoding &encoding) {
  std::optional<Stored> stored = getStored(norm.input);
  if (!stored)
    return fail(op, "reads an input that is not quantized");
  if (stored->encoding.storageBits != 8)
    return fail(op, "normalizes values of more than 8 bits");
  auto input = cast<RankedTensorType>(norm.input.getType());
  int64_t count = input.getShape().back();
  double step = stored->encoding.scale;
  // No value is further from the mean.
  int64_t reach = stored->encoding.high - stored->encoding.low;
  // Squares of differences, with as many bits behind the point as a sum has
  // room for, and of epsilon beside it.
  constexpr double kMost = 0x1p31 - 1;
  int bits = -1;
  double added = 0;
  auto limitOf = [&](int number) {
    return std::ldexp(double(reach), number) + 1;
  };
  for (int tried = 0; tried <= 10; ++tried) {
    double epsilon =
        norm.epsilon / (norm.factor * step * step) * std::ldexp(1, 2 * tried);
    double most = double(count) * limitOf(tried) * limitOf(tried);
    if (most + 2 * double(count) + epsilon > kMost)
      break;
    bits = tried;
    added = epsilon;
  }
  if (bits < 0)
    return fail(op, "has rows that are too long, or an epsilon that is too "
                    "large, for sums of 32 bits");

  SmallVector<int64_t> reducedShape(input.getShape()), one(input.getRank(), 1);
  reducedShape.back() = 1;
  auto wide = input.clone(builder.getI32Type());
  auto reduced = wide.clone(reducedShape);
  auto number = [&](int64_t integer) {
    return createConstant(one, 32, integer);
  };
  auto multiply = [&](RankedTensorType type, Value a, Value b,
                      int64_t shift = 0) -> Value {
    return tosa::MulOp::create(builder, loc, type, a, b,
                               createConstant(1, 8, shift));
  };
  auto sumOf = [&](Value values) -> Value {
    return tosa::ReduceSumOp::create(
        builder, loc, reduced, values,
        builder.getI32IntegerAttr(int32_t(input.getRank() - 1)));
  };
  Value codes = widen(*stored);
  Value sum = sumOf(codes);
  // What rounding the mean adds to the squares is known exactly.
  Value mean = rescale(sum, 0, std::ldexp(1.0, bits) / double(count), 0, 32);
  Value fine = multiply(wide, codes, number(int64_t(1) << bits));
  auto most = int64_t(limitOf(bits));
  Value difference =
      limit(tosa::SubOp::create(builder, loc, wide, fine, mean).getResult(),
            -most, most);
  Value squares = sumOf(multiply(wide, difference, difference));
  Value rest = tosa::SubOp::create(
      builder, loc, reduced, multiply(reduced, sum, number(int64_t(1) << bits)),
      multiply(reduced, mean, number(count)));
  rest = limit(rest, -count, count);
  Value excess =
      rescale(multiply(reduced, rest, rest), 0, 1 / double(count), 0, 32);
  squares = tosa::SubOp::create(builder, loc, reduced, squares, excess);
  if (int64_t epsilon = std::llround(added))
    squares =
        tosa::AddOp::create(builder, loc, reduced, squares, number(epsilon));
  // Rows of one value have no difference that the root is multiplied with.
  squares = limit(squares, 1, int64_t(kMost));
  Value root = createInverseRoot(squares);

  // count * (x - mean), exactly.
  Value exact = tosa::SubOp::create(builder, loc, wide,
                                    multiply(wide, codes, number(count)), sum);
  exact = limit(exact, -count * reach, count * reach);
  int shift =
      std::max<int>(0, int(std::ceil(std::log2(double(count * reach)))) - 1);
  Value product = multiply(wide, exact, root, shift);
  double unit = std::ldexp(1.0, shift + bits) * std::exp2(-28.5) /
                (double(count) * std::sqrt(norm.factor));
  // |x - mean| is at most the root of the squares.
  double bound = std::ceil(1.01 / std::sqrt(norm.factor) / unit) + 1;
  product = limit(product, -int64_t(bound), int64_t(bound));

  auto channels = int64_t(std::max(norm.gain.size(), norm.offset.size()));
  Accumulator result;
  SmallVector<int64_t> signs, offsets;
  double largest = 0;
  for (int64_t channel = 0; channel != channels; ++channel) {
    double gain = norm.gain[norm.gain.size() == 1 ? 0 : channel],
           offset = norm.offset[norm.offset.size() == 1 ? 0 : channel];
    signs.push_back(gain == 0 ? 0 : gain < 0 ? -1 : 1);
    // Without a gain the offset is the result, in fine steps.
    double scale =
        gain == 0 ? std::ldexp(encoding.scale, -8) : std::abs(gain) * unit;
    double inSteps = std::nearbyint(offset / scale);
    // No number is not small, either.
    if (!(bound + std::abs(inSteps) <= kMost))
      return fail(op, "has an offset that is too large beside its gain for "
                      "sums of 32 bits");
    largest = std::max(largest, std::abs(inSteps));
    offsets.push_back(int64_t(inSteps));
    result.scales.push_back(scale);
  }
  SmallVector<int64_t> alongLast(one);
  alongLast.back() = channels;
  if (llvm::any_of(signs, [](int64_t sign) { return sign != 1; }))
    product = multiply(wide, product, createConstant(alongLast, 32, signs));
  if (largest != 0)
    product = tosa::AddOp::create(builder, loc, wide, product,
                                  createConstant(alongLast, 32, offsets));
  result.value = product;
  result.bound = bound + largest;
  result.shape.assign(input.getShape().begin(), input.getShape().end());
  return requantize(result, encoding);
}
