// SPDX-License-Identifier: Apache-2.0
//
// Integer form of a layer norm whose only point is after it.
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

using namespace mlir;
using namespace mct;

namespace {
/// A layer norm: gain * (x - mean) / sqrt(factor * squares + epsilon) + offset,
/// where `squares` is the sum over the last axis of the squared differences
/// from the mean.
struct LayerNorm {
  Value input;
  double factor = 1, epsilon = 0;
  /// One number, or one for each position along the last axis.
  std::vector<double> gain = {1}, offset = {0};

  double getGain(size_t channel) const {
    return gain[gain.size() == 1 ? 0 : channel];
  }
  double getOffset(size_t channel) const {
    return offset[offset.size() == 1 ? 0 : channel];
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Layer norms in the IR
//===----------------------------------------------------------------------===//

/// Returns the value before reshapes and conversions between float types:
/// variances are computed in f64.
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

/// Returns the non-constant operand of a binary op, and the values of the
/// constant one: either a single number, or `channels` numbers along the last
/// axis.
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

/// Matches (x - mean) * rsqrt(factor * sum((x - mean)^2) + epsilon), the
/// normalized values without gain and offset. Returns nothing if the value is
/// not such a product.
static std::optional<IntegerOr<LayerNorm>>
findNormalized(IntegerContext &context, Value value) {
  ConstantEvaluator &constants = context.getConstants();
  Value normalized = context.getLayerNormInput(value);
  auto product = value.getDefiningOp<tosa::MulOp>();
  if (!normalized || !product)
    return std::nullopt;
  tosa::RsqrtOp root;
  tosa::SubOp centred;
  for (Value operand : {product.getInput1(), product.getInput2()}) {
    Operation *op = skipMoves(operand).getDefiningOp();
    if (auto found = dyn_cast_or_null<tosa::RsqrtOp>(op))
      root = found;
    else
      centred = dyn_cast_or_null<tosa::SubOp>(op);
  }
  // The formula also matches values after a gain or an offset.
  if (!root || !centred)
    return std::nullopt;
  LayerNorm norm;
  norm.input = centred.getInput1();
  Operation *variance = skipMoves(root.getInput1()).getDefiningOp();
  // Reads the number that `variance`, an op of this kind, adds or multiplies
  // by.
  auto readNumber = [&](bool isKind, double &number) {
    auto split = isKind ? splitConstant(constants, variance, /*channels=*/1)
                        : std::nullopt;
    if (!split || split->second.size() != 1)
      return;
    number = split->second.front();
    variance = skipMoves(split->first).getDefiningOp();
  };
  readNumber(isa_and_nonnull<tosa::AddOp>(variance), norm.epsilon);
  readNumber(isa_and_nonnull<tosa::MulOp>(variance), norm.factor);
  auto sum = dyn_cast_or_null<tosa::ReduceSumOp>(variance);
  auto square = sum ? sum.getInput().getDefiningOp<tosa::MulOp>() : nullptr;
  auto difference = square && square.getInput1() == square.getInput2()
                        ? square.getInput1().getDefiningOp<tosa::SubOp>()
                        : nullptr;
  auto type = cast<RankedTensorType>(norm.input.getType());
  Value source = skipMoves(normalized);
  if (!difference || skipMoves(difference.getInput1()) != source ||
      skipMoves(norm.input) != source || !(norm.factor > 0) ||
      !std::isfinite(norm.factor) || !(norm.epsilon >= 0) ||
      type.getRank() == 0 || type.getNumElements() == 0 ||
      int64_t(sum.getAxis()) != type.getRank() - 1 ||
      cast<RankedTensorType>(square.getType()).getShape() != type.getShape() ||
      value.getType() != Type(type) || !type.getElementType().isF32())
    return IntegerFailure{IntegerReason::UnknownLayerNorm, product};
  return norm;
}

/// Returns the layer norm that computes this value, or nothing if there is
/// none.
static std::optional<IntegerOr<LayerNorm>>
findLayerNorm(IntegerContext &context, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t channels = type.getRank() == 0 ? 1 : type.getShape().back();
  // Gains and offsets after the normalization, the last one first.
  std::vector<double> gain = {1}, offset = {0};
  auto combine = [](std::vector<double> &into, ArrayRef<double> with,
                    auto apply) {
    if (into.size() < with.size())
      into.resize(with.size(), into.front());
    for (auto [i, number] : llvm::enumerate(into))
      number = apply(number, with[with.size() == 1 ? 0 : i]);
  };
  for (;;) {
    if (std::optional<IntegerOr<LayerNorm>> norm =
            findNormalized(context, value)) {
      if (*norm) {
        (*norm)->gain = std::move(gain);
        (*norm)->offset = std::move(offset);
      }
      return norm;
    }
    Operation *op = value.getDefiningOp();
    // Gains and offsets are part of the formula, too.
    if (!context.getLayerNormInput(value) ||
        !isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op))
      return std::nullopt;
    auto split = splitConstant(context.getConstants(), op, channels);
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
// A layer norm on integers
//===----------------------------------------------------------------------===//

/// Returns 2^28.5 / sqrt(value) for values in [1, 2^31).
static Value createInverseRoot(IntegerBuilder &b, Value value) {
  Type type = value.getType();
  auto number = [&](int64_t integer) { return b.createNumber(value, integer); };
  auto shiftLeft = [&](Value shifted, Value by) -> Value {
    return tosa::LogicalLeftShiftOp::create(b, type, shifted, by);
  };
  auto shiftRight = [&](Value shifted, Value by) -> Value {
    return tosa::ArithmeticRightShiftOp::create(b, type, shifted, by,
                                                /*round=*/false);
  };
  // Shift by an even number of bits into [2^29, 2^31), where the table of 192
  // entries approximates the inverse root to some parts in a thousand.
  Value zeros = tosa::ClzOp::create(b, type, value);
  zeros = b.subtract(zeros, number(1));
  Value places = b.bitwiseAnd(zeros, number(30));
  Value scaled = shiftLeft(value, places);
  constexpr int kIndexBits = 8, kFraction = 28;
  Value index =
      b.rescale(shiftRight(scaled, number(31 - kIndexBits)), 0, 1.0, -128, 8);
  std::vector<int64_t> entries;
  for (int64_t code = -128; code != 128; ++code) {
    // Numbers below a quarter do not occur.
    double middle = std::max(double(code + 128) + 0.5, 64.0) / 256;
    entries.push_back(std::clamp<int64_t>(
        std::llround(256 / std::sqrt(middle)) - 384, -128, 127));
  }
  Value entry = tosa::TableOp::create(b, index.getType(), index,
                                      b.createConstant(256, 8, entries));
  Value root = b.rescale(entry, -384 + 256, 1.0, 0, 32);
  root = b.add(root, number(256));
  root = shiftLeft(root, number(kFraction - 8));
  // Each Newton step squares the error: r (3 - x r^2) / 2.
  for (int step = 0; step != 2; ++step) {
    Value square = b.multiply(root, root, kFraction);
    Value three = number(int64_t(3) << kFraction);
    Value rest =
        tosa::SubOp::create(b, type, three, b.multiply(scaled, square, 31));
    root = b.limit(b.multiply(root, rest, kFraction + 1),
                   int64_t(1) << kFraction, int64_t(2) << kFraction);
  }
  // Shift back by half as many bits, at most 15.
  Value most = number(15);
  return shiftRight(
      root, tosa::SubOp::create(b, type, most, shiftRight(places, number(1))));
}

namespace {
/// Builds a layer norm over rows of 8-bit codes.
class LayerNormBuilder {
public:
  LayerNormBuilder(IntegerBuilder &b, Operation *op, const LayerNorm &norm,
                   const StoredIntegers &stored)
      : b(b), op(op), norm(norm), stored(stored),
        count(cast<RankedTensorType>(norm.input.getType()).getShape().back()),
        reach(stored.encoding.high - stored.encoding.low) {}

  /// Returns the result before it is rounded to codes of `step`.
  IntegerOr<IntegerAccumulator> create(double step);

private:
  bool choosePrecision();
  Value createSum(Value values);
  Value createRoot(Value codes, Value sum);

  /// Returns the largest difference from the mean with `fraction` fractional
  /// bits.
  double getLimit(int fraction) const {
    return std::ldexp(double(reach), fraction) + 1;
  }

  static constexpr double kMost = 0x1p31 - 1;

  IntegerBuilder &b;
  Operation *op;
  const LayerNorm &norm;
  const StoredIntegers &stored;
  /// Number of values in a row, and the largest distance of a code from the
  /// mean.
  int64_t count, reach;
  /// Fractional bits of the differences, and epsilon in units of their squares.
  int bits = -1;
  double epsilon = 0;
};
} // namespace

/// Chooses the number of fractional bits: as many as keep the sum of squares
/// and epsilon within 32 bits. Returns false if not even 0 bits do.
bool LayerNormBuilder::choosePrecision() {
  double step = stored.encoding.scale;
  for (int tried = 0; tried <= 10; ++tried) {
    double added =
        norm.epsilon / (norm.factor * step * step) * std::ldexp(1, 2 * tried);
    double most = double(count) * getLimit(tried) * getLimit(tried);
    if (most + 2 * double(count) + added > kMost)
      break;
    bits = tried;
    epsilon = added;
  }
  return bits >= 0;
}

Value LayerNormBuilder::createSum(Value values) {
  auto type = cast<RankedTensorType>(values.getType());
  SmallVector<int64_t> reduced(type.getShape());
  reduced.back() = 1;
  return tosa::ReduceSumOp::create(
      b, type.clone(reduced), values,
      b.getI32IntegerAttr(int32_t(type.getRank() - 1)));
}

/// Returns the inverse root of the sum of squared differences from the mean.
Value LayerNormBuilder::createRoot(Value codes, Value sum) {
  auto number = [&](int64_t integer) { return b.createNumber(codes, integer); };
  // The error that rounding the mean adds to the squares is known exactly.
  Value mean = b.rescale(sum, 0, std::ldexp(1.0, bits) / double(count), 0, 32);
  Value fine = b.multiply(codes, number(int64_t(1) << bits));
  auto most = int64_t(getLimit(bits));
  Value difference = b.limit(b.subtract(fine, mean), -most, most);
  Value squares = createSum(b.multiply(difference, difference));
  Value fineSum = b.multiply(sum, number(int64_t(1) << bits));
  Value rest = b.subtract(fineSum, b.multiply(mean, number(count)));
  rest = b.limit(rest, -count, count);
  Value excess = b.rescale(b.multiply(rest, rest), 0, 1 / double(count), 0, 32);
  squares = b.subtract(squares, excess);
  if (int64_t added = std::llround(epsilon))
    squares = b.add(squares, number(added));
  // The squares can be 0 only if all differences are, so the root does not
  // matter.
  squares = b.limit(squares, 1, int64_t(kMost));
  return createInverseRoot(b, squares);
}

IntegerOr<IntegerAccumulator> LayerNormBuilder::create(double step) {
  if (!choosePrecision())
    return {IntegerReason::LongRows, op};
  Value codes = b.widen(stored);
  Value sum = createSum(codes);
  Value root = createRoot(codes, sum);
  // count * (x - mean), exactly.
  Value exact =
      b.subtract(b.multiply(codes, b.createNumber(codes, count)), sum);
  exact = b.limit(exact, -count * reach, count * reach);
  int shift =
      std::max<int>(0, int(std::ceil(std::log2(double(count * reach)))) - 1);
  Value product = b.multiply(exact, root, shift);
  double unit = std::ldexp(1.0, shift + bits) * std::exp2(-28.5) /
                (double(count) * std::sqrt(norm.factor));
  // |x - mean| is at most the root of the squares.
  double bound = std::ceil(1.01 / std::sqrt(norm.factor) / unit) + 1;
  product = b.limit(product, -int64_t(bound), int64_t(bound));

  size_t channels = std::max(norm.gain.size(), norm.offset.size());
  IntegerAccumulator result;
  SmallVector<int64_t> signs, offsets;
  double largest = 0;
  for (size_t channel = 0; channel != channels; ++channel) {
    double gain = norm.getGain(channel);
    signs.push_back(gain == 0 ? 0 : gain < 0 ? -1 : 1);
    // If the gain is 0, the result is the offset, in small steps.
    double scale = gain == 0 ? std::ldexp(step, -8) : std::abs(gain) * unit;
    double inSteps = std::nearbyint(norm.getOffset(channel) / scale);
    // Negated so that a NaN is refused, too.
    if (!(bound + std::abs(inSteps) <= kMost))
      return {IntegerReason::LargeOffset, op};
    largest = std::max(largest, std::abs(inSteps));
    offsets.push_back(int64_t(inSteps));
    result.scales.push_back(scale);
  }
  if (llvm::any_of(signs, [](int64_t sign) { return sign != 1; }))
    product = b.multiply(product, b.createAlongLastAxis(product, signs));
  if (largest != 0)
    product = b.add(product, b.createAlongLastAxis(product, offsets));
  result.value = product;
  result.bound = bound + largest;
  result.shape = SmallVector<int64_t>(
      cast<RankedTensorType>(product.getType()).getShape());
  return result;
}

std::optional<IntegerOr<Value>> mct::lowerLayerNorm(IntegerContext &context,
                                                    Value value,
                                                    const Encoding &encoding) {
  std::optional<IntegerOr<LayerNorm>> norm = findLayerNorm(context, value);
  if (!norm)
    return std::nullopt;
  if (!*norm)
    return norm->getFailure();
  Operation *op = value.getDefiningOp();
  if (context.getOptions().layerNorm != IntegerLayerNorm::Integer)
    return IntegerFailure{IntegerReason::EndsLayerNorm, op};
  IntegerOr<StoredIntegers> stored = context.getStored((*norm)->input);
  if (!stored)
    return IntegerFailure{IntegerReason::InputNotQuantized, op};
  if (stored->encoding.storageBits != 8)
    return IntegerFailure{IntegerReason::WideLayerNorm, op};
  LayerNormBuilder builder(context.getBuilder(), op, **norm, *stored);
  IntegerOr<IntegerAccumulator> result = builder.create(encoding.scale);
  if (!result)
    return result.getFailure();
  return requantize(context, *result, encoding);
}
