// SPDX-License-Identifier: Apache-2.0
#include "IntegerLowering.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using quantization::Rescale;
using quantization::ShortRescale;

static constexpr StringLiteral kPass = "mct-lower-to-integer";

/// The operand that an op of TOSA moves. Those of linalg write into another
/// one, which has a type of its own.
static OpOperand *getMoved(Operation *op) {
  return isa_and_present<tosa::TosaDialect>(op->getDialect())
             ? getMovedOperand(op, takesElements)
             : nullptr;
}

/// Ops between a point and what it quantizes that are looked through.
static constexpr unsigned kMaxDepth = 256;

IntegerLowering::IntegerLowering(func::FuncOp function,
                                 const KernelOps &kernels,
                                 const IntegerOptions &options)
    : function(function), options(options), builder(function.getContext()),
      loc(function.getLoc()) {
  // Constants of ops that are no layers may have points, too.
  constants.handle<tpc::QuantizeOp>(
      [](tpc::QuantizeOp point, ConstantEvaluator::Operands operands)
          -> std::optional<ConstantTensor> {
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
      });
  for (const tpc::FormulaMatch &match : tpc::findFormulas(function.front()))
    if (match.name == "layer_norm")
      normalized[match.ops.back()->getResult(0)] = match.input;
  function.walk([&](Operation *op) {
    if (std::optional<KernelOp> layer = kernels.get(op))
      layers.try_emplace(layer->getResult(), *layer);
    if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      points.push_back(point);
  });
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

Value IntegerLowering::fail(Operation *op, StringRef what) {
  culprit = op;
  why = what.str();
  return nullptr;
}

Value IntegerLowering::createConstant(ArrayRef<int64_t> shape, unsigned bits,
                                      ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get(shape, builder.getIntegerType(bits));
  ElementsAttr attribute;
  if (bits == 48) {
    SmallVector<APInt> wide;
    for (int64_t value : values)
      wide.emplace_back(48, uint64_t(value), /*isSigned=*/true);
    attribute = DenseElementsAttr::get(type, wide);
  } else {
    StringAttr name = getName(loc);
    attribute = ConstantTensor::create<int64_t>(
                    type, std::vector<int64_t>(values.begin(), values.end()))
                    .toAttribute(name ? name.getValue() : "integers");
  }
  return tosa::ConstOp::create(builder, loc, type, attribute);
}

Value IntegerLowering::createFloat(float value, int64_t rank) {
  auto type = RankedTensorType::get(SmallVector<int64_t>(rank, 1),
                                    builder.getF32Type());
  return tosa::ConstOp::create(builder, loc, type,
                               DenseElementsAttr::get(type, value));
}

Value IntegerLowering::createShape(ArrayRef<int64_t> sizes) {
  ImplicitLocOpBuilder here(loc, builder);
  return tosa::getTosaConstShape(here, sizes);
}

Value IntegerLowering::reshape(Value value, ArrayRef<int64_t> shape) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return tosa::ReshapeOp::create(builder, loc, type.clone(shape), value,
                                 createShape(shape));
}

RankedTensorType IntegerLowering::getType(Value value, unsigned bits) {
  return cast<RankedTensorType>(value.getType())
      .clone(builder.getIntegerType(bits));
}

Value IntegerLowering::rescale(Value value, int64_t from,
                               ArrayRef<double> factors, int64_t to,
                               unsigned bits,
                               quantization::FactorRounding rounding) {
  unsigned fromBits = getElementTypeOrSelf(value).getIntOrFloatBitWidth();
  if (llvm::all_equal(factors))
    factors = factors.take_front();
  bool isWide = fromBits == 48;
  SmallVector<int64_t> multipliers, shifts;
  for (double factor : factors) {
    if (isWide) {
      std::optional<ShortRescale> parts = ShortRescale::get(factor);
      if (!parts)
        return nullptr;
      multipliers.push_back(parts->multiplier);
      shifts.push_back(parts->shift);
      continue;
    }
    std::optional<Rescale> parts = Rescale::get(factor, rounding);
    if (!parts)
      return nullptr;
    multipliers.push_back(parts->multiplier);
    shifts.push_back(parts->shift);
  }
  auto count = int64_t(factors.size());
  return tosa::RescaleOp::create(
      builder, loc, getType(value, bits), value,
      createConstant(count, isWide ? 16 : 32, multipliers),
      createConstant(count, 8, shifts), createConstant(1, fromBits, from),
      createConstant(1, bits, to), /*scale32=*/!isWide,
      tosa::RoundingMode::SINGLE_ROUND, /*per_channel=*/count > 1,
      /*input_unsigned=*/false, /*output_unsigned=*/false);
}

Value IntegerLowering::widen(const Stored &stored, double factor) {
  return rescale(stored.value, stored.encoding.zeroPoint, factor, 0, 32);
}

Value IntegerLowering::clamp(Value value, int64_t low, int64_t high,
                             const Encoding &encoding) {
  int64_t limit = int64_t(1) << (encoding.storageBits - 1);
  if (low <= -limit && high >= limit - 1)
    return value;
  auto type = builder.getIntegerType(encoding.storageBits);
  // Two in a row are one.
  if (auto before = value.getDefiningOp<tosa::ClampOp>()) {
    int64_t first = cast<IntegerAttr>(before.getMinVal()).getInt();
    int64_t last = cast<IntegerAttr>(before.getMaxVal()).getInt();
    low = std::clamp(first, low, high);
    high = std::clamp(last, low, high);
    value = before.getInput();
  }
  return tosa::ClampOp::create(
      builder, loc, value.getType(), value, builder.getIntegerAttr(type, low),
      builder.getIntegerAttr(type, high), tosa::NanPropagationMode::PROPAGATE);
}

Value IntegerLowering::limit(Value value, int64_t low, int64_t high) {
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> one(type.getRank(), 1);
  value = tosa::MinimumOp::create(builder, loc, type, value,
                                  createConstant(one, 32, high),
                                  tosa::NanPropagationMode::PROPAGATE);
  return tosa::MaximumOp::create(builder, loc, type, value,
                                 createConstant(one, 32, low),
                                 tosa::NanPropagationMode::PROPAGATE);
}

//===----------------------------------------------------------------------===//
// Other encodings
//===----------------------------------------------------------------------===//

/// Whether any integer up to `bound` lies in the middle between two levels:
/// 2 * integer * scale / step is odd.
static bool meetsMiddles(double scale, double step, double bound) {
  auto split = [](double number) {
    int exponent;
    auto odd = int64_t(std::ldexp(std::frexp(number, &exponent), 53));
    exponent -= 53;
    int zeros = llvm::countr_zero(uint64_t(odd));
    return std::pair(odd >> zeros, exponent + zeros);
  };
  auto [numerator, low] = split(scale);
  auto [denominator, high] = split(step);
  // The smallest such integer: what cancels the denominator, odd.
  int exponent = high - low - 1;
  return exponent >= 0 &&
         bound >=
             std::ldexp(double(denominator / std::gcd(numerator, denominator)),
                        exponent);
}

Value IntegerLowering::requantize(const Stored &stored,
                                  const Encoding &encoding) {
  if (stored.encoding == encoding)
    return stored.value;
  double factor = stored.encoding.scale / encoding.scale;
  int64_t zero = stored.encoding.zeroPoint;
  bool meets = options.rounding == IntegerRounding::HalfEven &&
               meetsMiddles(stored.encoding.scale, encoding.scale,
                            stored.encoding.getReach());
  // So much coarser that the range of `rescale` is exceeded: in i32 there is a
  // limit.
  std::optional<Rescale> parts = Rescale::get(factor);
  if (meets ||
      (parts && stored.encoding.getReach() >= double(parts->getLimit()))) {
    Value wide = widen(stored);
    return requantize(
        Accumulator{wide,
                    {stored.encoding.scale},
                    stored.encoding.getReach(),
                    std::nullopt,
                    SmallVector<int64_t>(
                        cast<RankedTensorType>(wide.getType()).getShape())},
        encoding);
  }
  Value result;
  // Same steps, other limits: nothing is rounded.
  if (factor == 1 && zero == encoding.zeroPoint &&
      stored.encoding.storageBits == encoding.storageBits)
    result = stored.value;
  else
    result = rescale(stored.value, zero, factor, encoding.zeroPoint,
                     encoding.storageBits);
  if (!result)
    return fail(stored.value.getDefiningOp(),
                "has a scale that is too large for that of the result");
  return clamp(result, encoding.low, encoding.high, encoding);
}

/// Codes that are rounded, as they are stored.
Value IntegerLowering::storeRounded(Value codes, const Encoding &encoding,
                                    double bound) {
  // A rescale by 1 takes so many; what is beyond saturates anyway.
  constexpr double kMost = 0x1p29;
  constexpr int64_t kFar = int64_t(1) << 20;
  if (bound >= kMost)
    codes = limit(codes, -kFar, kFar);
  return rescale(codes, 0, 1.0, encoding.zeroPoint, encoding.storageBits);
}

Value IntegerLowering::chooseEven(Value up, Value down,
                                  const Encoding &encoding, double bound) {
  auto type = cast<RankedTensorType>(up.getType());
  // 1 in the middle, else 0; and up is odd.
  Value isHalfway = tosa::SubOp::create(builder, loc, type, up, down);
  Value back = tosa::BitwiseAndOp::create(builder, loc, type, isHalfway, up);
  // What is known of its range is 0 and 1 then.
  SmallVector<int64_t> one(type.getRank(), 1);
  back = tosa::BitwiseAndOp::create(builder, loc, type, back,
                                    createConstant(one, 32, 1));
  return storeRounded(tosa::SubOp::create(builder, loc, type, up, back),
                      encoding, bound);
}

/// What is halfway between two levels goes up first, and back from an odd one.
Value IntegerLowering::rescaleToEven(Value value, ArrayRef<double> factors,
                                     const Encoding &encoding, double bound) {
  Value rounded = rescale(value, 0, factors, 0, 32);
  if (!rounded)
    return nullptr;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> one(type.getRank(), 1), channels(one);
  SmallVector<int64_t> masks, halves;
  for (double factor : factors) {
    int discarded = -std::ilogb(factor);
    // Nothing is discarded: no masked value equals 1.
    bool isRounded = discarded > 0 && discarded < 32;
    masks.push_back(isRounded ? (int64_t(1) << discarded) - 1 : 0);
    halves.push_back(isRounded ? int64_t(1) << (discarded - 1) : 1);
  }
  channels.back() = int64_t(masks.size());
  Value rest = tosa::BitwiseAndOp::create(builder, loc, type, value,
                                          createConstant(channels, 32, masks));
  Value isHalfway =
      tosa::EqualOp::create(builder, loc, type.clone(builder.getI1Type()), rest,
                            createConstant(channels, 32, halves));
  Value odd = tosa::BitwiseAndOp::create(builder, loc, type, rounded,
                                         createConstant(one, 32, 1));
  Value back = tosa::SelectOp::create(builder, loc, type, isHalfway, odd,
                                      createConstant(one, 32, 0));
  return storeRounded(tosa::SubOp::create(builder, loc, type, rounded, back),
                      encoding, bound);
}

float IntegerLowering::History::compute(int64_t integer, size_t channel) const {
  auto value = float(double(integer) * step);
  for (const Step &next : steps) {
    float number = next.numbers[next.numbers.size() == 1 ? 0 : channel];
    value = next.isSum ? value + number : value * number;
  }
  return value;
}

bool IntegerLowering::History::isRounded(size_t numChannels) const {
  for (size_t channel = 0; channel != numChannels; ++channel)
    for (int64_t integer = low; integer <= high; ++integer) {
      double value = double(integer) * step;
      for (const Step &next : steps) {
        double number = next.numbers[next.numbers.size() == 1 ? 0 : channel];
        value = next.isSum ? value + number : value * number;
      }
      if (value != double(compute(integer, channel)))
        return true;
    }
  return false;
}

namespace {
/// Which offsets make a rescale of factor * integer + offset the codes.
struct Offsets {
  __int128 low = std::numeric_limits<int32_t>::min(),
           high = std::numeric_limits<int32_t>::max();

  void require(const Rescale &parts, int64_t scaled, int64_t code) {
    // Factors that are too small for any multiplier.
    if (parts.multiplier == 0) {
      if (code != 0)
        high = low - 1;
      return;
    }
    __int128 one = __int128(1) << parts.shift, half = one / 2;
    auto floorOf = [&](__int128 number) {
      __int128 quotient = number / parts.multiplier;
      return quotient * parts.multiplier > number ? quotient - 1 : quotient;
    };
    // code * one <= x * multiplier + half < (code + 1) * one
    low = std::max(low, floorOf(code * one - half - 1) + 1 - scaled);
    high = std::min(high, floorOf((code + 1) * one - half - 1) - scaled);
  }
};
} // namespace

Value IntegerLowering::requantizeAsFloat(const History &history,
                                         const Encoding &encoding,
                                         bool &isRefused) {
  // All integers in all channels are tried.
  constexpr int64_t kMaxTried = 1 << 22;
  // Bits behind the point of what is added to the integers.
  constexpr int kMaxBits = 16, kMinBits = 4;
  auto type = cast<RankedTensorType>(history.base.getType());
  int64_t count = 1;
  for (const History::Step &step : history.steps)
    count = std::max(count, int64_t(step.numbers.size()));
  if (history.steps.empty() || !quantization::isPowerOfTwo(encoding.scale) ||
      (history.high - history.low + 1) * count > kMaxTried ||
      !history.isRounded(size_t(count)))
    return nullptr;
  bool isEven = encoding.rounding == quantization::Rounding::HalfToEven;
  auto fits = [&](int bits, SmallVector<int64_t> &signs,
                  SmallVector<double> &factors,
                  std::array<SmallVector<int64_t>, 2> &added) {
    for (int64_t channel = 0; channel != count; ++channel) {
      double slope = 1;
      for (const History::Step &step : history.steps)
        if (!step.isSum)
          slope *= step.numbers[step.numbers.size() == 1 ? 0 : channel];
      int64_t sign = (slope > 0) - (slope < 0);
      signs.push_back(sign * (int64_t(1) << bits));
      factors.push_back(
          sign == 0 ? 1
                    : std::ldexp(std::abs(slope) * history.step, -bits) /
                          encoding.scale);
      std::optional<Rescale> parts = Rescale::get(factors.back());
      if (!parts)
        return false;
      std::array<Offsets, 2> offsets;
      for (int64_t integer = history.low; integer <= history.high; ++integer) {
        double level =
            double(history.compute(integer, size_t(channel))) / encoding.scale;
        if (!(std::abs(level) < 0x1p28))
          return false;
        // Halves up, and down.
        std::array<double, 2> codes = {std::floor(level), std::ceil(level)};
        codes[0] += level - codes[0] >= 0.5;
        codes[1] -= codes[1] - level >= 0.5;
        for (unsigned i = 0; i != 2; ++i)
          offsets[i].require(*parts, signs.back() * integer, int64_t(codes[i]));
      }
      for (unsigned i = 0; i != 2; ++i) {
        if (i == 1 && !isEven)
          continue;
        if (offsets[i].low > offsets[i].high) {
          isRefused = true;
          return false;
        }
        auto offset = int64_t((offsets[i].low + offsets[i].high) / 2);
        int64_t limit = std::min<int64_t>(parts->getLimit(), 1 << 30);
        for (int64_t integer : {-history.reach, history.reach})
          if (std::abs(signs.back() * integer) >= limit ||
              std::abs(signs.back() * integer + offset) >= limit)
            return false;
        added[i].push_back(offset);
      }
    }
    return true;
  };
  for (int bits = kMaxBits; bits >= kMinBits; --bits) {
    SmallVector<int64_t> signs;
    SmallVector<double> factors;
    std::array<SmallVector<int64_t>, 2> added;
    if (!fits(bits, signs, factors, added)) {
      if (isRefused)
        return fail(nullptr,
                    "no rescale makes the codes that its products and sums "
                    "have in f32; one exists for factors of at most 16 bits");
      continue;
    }
    SmallVector<int64_t> channels(type.getRank(), 1);
    channels.back() = count;
    Value scaled = tosa::MulOp::create(builder, loc, type, history.base,
                                       createConstant(channels, 32, signs),
                                       createConstant(1, 8, 0));
    auto add = [&](unsigned i) -> Value {
      return tosa::AddOp::create(builder, loc, type, scaled,
                                 createConstant(channels, 32, added[i]));
    };
    if (!isEven)
      return rescale(add(0), 0, factors, encoding.zeroPoint,
                     encoding.storageBits);
    Value up = rescale(add(0), 0, factors, 0, 32),
          down = rescale(add(1), 0, factors, 0, 32);
    double bound = 0;
    for (int64_t channel = 0; channel != count; ++channel)
      for (int64_t end : {-history.reach, history.reach})
        bound = std::max(
            bound, std::abs(double(history.compute(end, size_t(channel)))) /
                           encoding.scale +
                       1);
    return chooseEven(up, down, encoding, bound);
  }
  return nullptr;
}

Value IntegerLowering::requantize(const Accumulator &accumulator,
                                  const Encoding &encoding) {
  if (accumulator.history) {
    bool isRefused = false;
    if (Value exact =
            requantizeAsFloat(*accumulator.history, encoding, isRefused))
      return reshape(clamp(exact, encoding.low, encoding.high, encoding),
                     accumulator.shape);
    if (isRefused)
      return nullptr;
  }
  SmallVector<double> factors;
  bool isWide = getElementTypeOrSelf(accumulator.value).isInteger(48);
  for (double scale : accumulator.scales)
    factors.push_back(scale / encoding.scale);
  Value value = accumulator.value;
  double bound = accumulator.bound;
  auto direction = quantization::FactorRounding::Nearest;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> one(type.getRank(), 1);
  bool isEven = options.rounding == IntegerRounding::HalfEven &&
                llvm::any_of(accumulator.scales, [&](double scale) {
                  return meetsMiddles(scale, encoding.scale, bound);
                });
  // Bits are those of 32.
  if (isEven && isWide && bound < 0x1p31) {
    value = rescale(value, 0, 1.0, 0, 32);
    type = cast<RankedTensorType>(value.getType());
    isWide = false;
  }
  // What is beyond the range of `rescale` saturates anyway.
  auto keepInside = [&](Value sum) {
    int64_t reach = std::numeric_limits<int64_t>::max();
    for (double factor : factors)
      if (std::optional<Rescale> parts = Rescale::get(factor, direction))
        reach = std::min(reach, parts->getLimit());
    return !isWide && bound >= double(reach) ? limit(sum, -reach, reach - 1)
                                             : sum;
  };
  // Of codes that count from zero, before they saturate.
  auto codeBound = [&] {
    return bound * *std::max_element(factors.begin(), factors.end()) + 1;
  };
  auto rescaleWide = [&](Value sum) {
    return rescale(keepInside(sum), 0, factors, 0, 32);
  };
  // Means lie halfway where the steps differ by a power of two. Finer results
  // have no middles that a mean lies on, but for n that are multiples of
  // kNudge.
  double ratio = accumulator.mean ? accumulator.mean->step / encoding.scale : 0;
  bool isMean = accumulator.mean && quantization::isPowerOfTwo(ratio);
  bool isNudged = isMean && ratio <= kNudge / 4.0;
  if (isMean && options.rounding == IntegerRounding::HalfEven && !isNudged)
    halvesUp = "means on a grid that is more than 16 times as fine";
  if (isNudged && (accumulator.mean->hasNegative ||
                   options.rounding == IntegerRounding::HalfEven)) {
    value = tosa::MulOp::create(builder, loc, type, value,
                                createConstant(one, 32, kNudge),
                                createConstant(1, 8, 0));
    for (double &factor : factors)
      factor /= kNudge;
    bound = kNudge * bound + 1;
    Value above = tosa::AddOp::create(builder, loc, type, value,
                                      createConstant(one, 32, 1));
    if (options.rounding == IntegerRounding::HalfEven) {
      Value below = tosa::SubOp::create(builder, loc, type, value,
                                        createConstant(one, 32, 1));
      Value up = rescaleWide(above), down = rescaleWide(below);
      value =
          up && down ? chooseEven(up, down, encoding, codeBound()) : nullptr;
    } else {
      value = rescale(keepInside(above), 0, factors, encoding.zeroPoint,
                      encoding.storageBits);
    }
  } else {
    if (isNudged)
      direction = quantization::FactorRounding::Up;
    bool isPower = llvm::all_of(factors, quantization::isPowerOfTwo);
    bool isExact = llvm::all_of(factors, [](double factor) {
      std::optional<Rescale> parts = Rescale::get(factor);
      return parts &&
             std::ldexp(double(parts->multiplier), -parts->shift) == factor;
    });
    if (isEven && isWide)
      halvesUp = "sums that 32 bits may not hold";
    else if (isEven && !isExact)
      halvesUp = "a factor that no multiplier of 31 bits has";
    if (isEven && !isWide && isPower) {
      value = rescaleToEven(keepInside(value), factors, encoding, codeBound());
    } else if (isEven && !isWide && isExact) {
      // The other way round halves go down.
      value = keepInside(value);
      Value zero = createConstant(one, 32, 0);
      Value up = rescaleWide(value);
      Value down = rescaleWide(
          tosa::SubOp::create(builder, loc, type, zero, value).getResult());
      if (down)
        down = tosa::SubOp::create(builder, loc, type, zero, down);
      value =
          up && down ? chooseEven(up, down, encoding, codeBound()) : nullptr;
    } else {
      value = rescale(keepInside(value), 0, factors, encoding.zeroPoint,
                      encoding.storageBits, direction);
    }
  }
  if (!value)
    return fail(accumulator.value.getDefiningOp(),
                "has a scale that is too large for that of the result");
  value = clamp(value, encoding.low, encoding.high, encoding);
  return reshape(value, accumulator.shape);
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value IntegerLowering::lowerTo(Value value, const Encoding &encoding) {
  auto key = std::pair(value.getAsOpaquePointer(), encodings.insert(encoding));
  if (auto it = lowered.find(key); it != lowered.end() && it->second)
    return it->second;
  if (depth == kMaxDepth)
    return fail(value.getDefiningOp(),
                "too many ops lie between it and the quantizers before it");
  ++depth;
  Value result = createTo(value, encoding);
  --depth;
  return lowered[key] = result;
}

Value IntegerLowering::createTo(Value value, const Encoding &encoding) {
  if (std::optional<Stored> stored = getStored(value))
    return requantize(*stored, encoding);
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op)
    return fail(op, "an argument that it is made of is not quantized");
  if (!type || !type.getElementType().isF32())
    return fail(op, "is not quantized");
  if (std::optional<ConstantTensor> constant = constants.evaluate(value)) {
    std::vector<int64_t> codes;
    for (float element : constant->decode<float>())
      codes.push_back(encoding.quantize(element));
    return createConstant(type.getShape(), encoding.storageBits, codes);
  }
  if (isa<tpc::QuantizeOp>(op))
    return fail(op, kNoForm);
  bool isRefused = false;
  if (Value table = lowerTable(value, encoding, isRefused))
    return table;
  if (isRefused)
    return nullptr;

  if (auto clampOp = dyn_cast<tosa::ClampOp>(op)) {
    Value before = lowerTo(clampOp.getInput(), encoding);
    if (!before)
      return nullptr;
    auto bound = [&](Attribute attribute) {
      return encoding.quantize(
          cast<FloatAttr>(attribute).getValue().convertToFloat());
    };
    return clamp(before, bound(clampOp.getMinVal()), bound(clampOp.getMaxVal()),
                 encoding);
  }
  if (auto concatOp = dyn_cast<tosa::ConcatOp>(op))
    return concat(concatOp, encoding);
  if (isa<tosa::MaximumOp, tosa::MinimumOp>(op))
    return lowerExtreme(op, encoding);
  if (auto select = dyn_cast<tosa::SelectOp>(op))
    return lowerSelect(select, encoding);
  if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op))
    if (Value result = lowerPool(pool, encoding))
      return result;
  Value input;
  int64_t axis;
  if (isSoftmax(value, input, axis)) {
    if (options.softmax == IntegerSoftmax::Integer)
      return lowerSoftmax(value, encoding);
    return fail(op, "ends a softmax; softmax=integer lowers it to integers, "
                    "and softmax=cut removes one at the end");
  }
  if (std::optional<LayerNorm> norm = findLayerNorm(value, isRefused)) {
    if (options.layerNorm == IntegerLayerNorm::Integer)
      return lowerLayerNorm(op, *norm, encoding);
    return fail(op, "ends a layer norm; layer-norm=integer makes that integer");
  }
  if (isRefused)
    return nullptr;
  if (std::optional<Accumulator> accumulator = getAccumulator(value))
    return requantize(*accumulator, encoding);
  OpOperand *moved = getMoved(op);
  if (!moved)
    if (auto resize = dyn_cast<tosa::ResizeOp>(op))
      if (resize.getMode() == tosa::ResizeMode::NEAREST_NEIGHBOR)
        moved = &resize.getInputMutable();
  if (moved)
    if (Value before = lowerTo(moved->get(), encoding))
      return move(op, before, encoding);
  return nullptr;
}

std::optional<IntegerLowering::Stored> IntegerLowering::getStored(Value value) {
  auto it = storedValues.find(value);
  if (it != storedValues.end())
    return it->second.value ? std::optional(it->second) : std::nullopt;
  if (depth == kMaxDepth)
    return std::nullopt;
  ++depth;
  std::optional<Stored> result = createStored(value);
  --depth;
  storedValues[value] = result.value_or(Stored());
  return result;
}

std::optional<IntegerLowering::Stored>
IntegerLowering::createStored(Value value) {
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || op->getNumResults() != 1 || !type)
    return std::nullopt;
  // Where the value is made, so that all that reads it can.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfter(op);
  if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
    // Levels of a constant are codes, too.
    std::optional<Encoding> encoding =
        point.isWeight() && point.getParametersAttr()
            ? Encoding::get(point.getParametersAttr())
            : std::nullopt;
    std::optional<ConstantTensor> levels =
        encoding && encoding->storageBits == 8 ? constants.evaluate(value)
                                               : std::nullopt;
    if (!levels)
      return std::nullopt;
    std::vector<int64_t> codes;
    for (float level : levels->decode<float>())
      codes.push_back(encoding->quantize(level));
    return Stored{createConstant(type.getShape(), 8, codes), *encoding};
  }
  if (auto concatOp = dyn_cast<tosa::ConcatOp>(op)) {
    std::optional<Stored> first = getStored(op->getOperand(0));
    if (!first)
      return std::nullopt;
    for (Value operand : op->getOperands()) {
      std::optional<Stored> other = getStored(operand);
      if (!other || other->encoding != first->encoding)
        return std::nullopt;
    }
    return Stored{concat(concatOp, first->encoding), first->encoding};
  }
  OpOperand *moved = getMoved(op);
  std::optional<Stored> before = moved ? getStored(moved->get()) : std::nullopt;
  if (!before)
    return std::nullopt;
  // What a pad fills with must be one of the levels.
  if (auto moving = cast<DataMovementOpInterface>(op);
      moving.getMovement() == Movement::Fill) {
    std::optional<float> fill = moving.getFill();
    if (!fill ||
        before->encoding.dequantize(before->encoding.quantize(*fill)) != *fill)
      return std::nullopt;
  }
  Value result = move(op, before->value, before->encoding);
  if (!result)
    return std::nullopt;
  return Stored{result, before->encoding};
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::getAccumulator(Value value) {
  auto it = accumulators.find(value);
  if (it != accumulators.end())
    return it->second;
  if (depth == kMaxDepth)
    return std::nullopt;
  ++depth;
  std::optional<Accumulator> result = createAccumulator(value);
  --depth;
  if (result && result->shape.empty())
    result->shape = SmallVector<int64_t>(
        cast<RankedTensorType>(value.getType()).getShape());
  accumulators[value] = result;
  return result;
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::createAccumulator(Value value) {
  if (auto layer = layers.find(value); layer != layers.end())
    return accumulateLayer(layer->second);
  Operation *op = value.getDefiningOp();
  if (!op)
    return failed(nullptr, "it is made of an argument that is not quantized");
  return TypeSwitch<Operation *, std::optional<Accumulator>>(op)
      .Case([&](tosa::MatMulOp matMul) { return accumulateMatMul(matMul); })
      .Case([&](tosa::AddOp) { return accumulateSum(op, false); })
      .Case([&](tosa::SubOp) { return accumulateSum(op, true); })
      .Case([&](tosa::MulOp mul) { return accumulateProduct(mul); })
      .Case([&](tosa::ReduceSumOp sum) { return accumulateReduction(sum); })
      .Case([&](tosa::AvgPool2dOp pool) { return accumulatePool(pool); })
      .Case([&](tosa::ResizeOp resize) { return accumulateResize(resize); })
      .Case([&](tosa::ReshapeOp reshapeOp) -> std::optional<Accumulator> {
        // The shape changes when it is small again.
        std::optional<Accumulator> before =
            getAccumulator(reshapeOp.getInput1());
        if (before)
          before->shape = SmallVector<int64_t>(
              cast<RankedTensorType>(value.getType()).getShape());
        return before;
      })
      .Case([&](tosa::ClampOp clampOp) { return accumulateClamp(clampOp); })
      .Default([&](Operation *) { return accumulateMovement(op); });
}

std::optional<IntegerLowering::Accumulator>
IntegerLowering::accumulateMovement(Operation *op) {
  OpOperand *moved = getMoved(op);
  if (!moved)
    return failed(op, kNoForm);
  if (auto moving = cast<DataMovementOpInterface>(op);
      moving.getMovement() == Movement::Fill && moving.getFill() != 0.0f)
    return failed(op, "fills up sums with numbers");
  std::optional<Accumulator> term = getTerm(op, moved->get());
  if (!term)
    return std::nullopt;
  if (term->scales.size() > 1)
    return failed(op, "moves sums that have a scale for each channel");
  Encoding wide;
  wide.storageBits = 32;
  Value result = move(op, term->value, wide);
  if (!result)
    return std::nullopt;
  Accumulator accumulator;
  accumulator.value = result;
  accumulator.scales = term->scales;
  accumulator.bound = term->bound;
  accumulator.mean = term->mean;
  return accumulator;
}

//===----------------------------------------------------------------------===//
// What moves values
//===----------------------------------------------------------------------===//

Value IntegerLowering::move(Operation *op, Value operand,
                            const Encoding &encoding) {
  if (auto padOp = dyn_cast<tosa::PadOp>(op))
    return pad(padOp, operand, encoding);
  OpOperand *moved = getMovedOperand(op);
  IRMapping mapping;
  mapping.map(moved ? moved->get() : op->getOperand(0), operand);
  Operation *copy = builder.clone(*op, mapping);
  copy->setLoc(loc);
  copy->getResult(0).setType(getType(op->getResult(0), encoding.storageBits));
  return copy->getResult(0);
}

Value IntegerLowering::pad(tosa::PadOp op, Value operand,
                           const Encoding &encoding) {
  auto from = cast<RankedTensorType>(op.getInput1().getType());
  auto to = cast<RankedTensorType>(op.getType());
  std::optional<float> fill =
      cast<DataMovementOpInterface>(op.getOperation()).getFill();
  SmallVector<int64_t> sizes;
  auto constant = op.getPadding().getDefiningOp();
  if (!fill || !constant || !tosa::getConstShapeValues(constant, sizes))
    return fail(op, "pads by sizes, or with a number, that are not constant");
  Value number =
      createConstant(1, encoding.storageBits, encoding.quantize(*fill));
  // Level 8k knows no shapes of 8 numbers: one axis after the other, the others
  // merged around it.
  Value result = operand;
  SmallVector<int64_t> shape(from.getShape());
  for (int64_t axis = 0; axis < from.getRank(); ++axis) {
    int64_t low = sizes[2 * axis], high = sizes[2 * axis + 1];
    if (low == 0 && high == 0)
      continue;
    int64_t outer = 1, inner = 1;
    for (int64_t i = 0; i < axis; ++i)
      outer *= shape[i];
    for (int64_t i = axis + 1; i < from.getRank(); ++i)
      inner *= shape[i];
    result = reshape(result, {outer, shape[axis], inner});
    shape[axis] += low + high;
    auto type = cast<RankedTensorType>(result.getType())
                    .clone({outer, shape[axis], inner});
    result = tosa::PadOp::create(builder, loc, type, result,
                                 createShape({0, 0, low, high, 0, 0}), number);
  }
  return reshape(result, to.getShape());
}

Value IntegerLowering::concat(tosa::ConcatOp op, const Encoding &encoding) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    operands.push_back(lowerTo(operand, encoding));
    if (!operands.back())
      return nullptr;
  }
  return tosa::ConcatOp::create(builder, loc,
                                getType(op.getResult(), encoding.storageBits),
                                operands, op.getAxis());
}

//===----------------------------------------------------------------------===//
// Between float and integer
//===----------------------------------------------------------------------===//

Value IntegerLowering::dequantize(const Stored &stored) {
  auto type = cast<RankedTensorType>(stored.value.getType());
  auto floats = type.clone(builder.getF32Type());
  Value result = tosa::CastOp::create(builder, loc, floats, stored.value);
  if (stored.encoding.zeroPoint != 0)
    result = tosa::SubOp::create(
        builder, loc, floats, result,
        createFloat(float(stored.encoding.zeroPoint), type.getRank()));
  return tosa::MulOp::create(
      builder, loc, floats, result,
      createFloat(float(stored.encoding.scale), type.getRank()),
      createConstant(1, 8, 0));
}

Value IntegerLowering::quantize(Value value, const Encoding &encoding) {
  auto type = cast<RankedTensorType>(value.getType());
  int64_t rank = type.getRank();
  auto numbers = [&](float number) { return createFloat(number, rank); };
  // As the simulation computes it.
  Value scaled = tosa::MulOp::create(builder, loc, type, value,
                                     numbers(1 / float(encoding.scale)),
                                     createConstant(1, 8, 0));
  auto zero = float(encoding.zeroPoint);
  Value level = tosa::ClampOp::create(
      builder, loc, type, scaled,
      builder.getF32FloatAttr(float(encoding.low) - zero),
      builder.getF32FloatAttr(float(encoding.high) - zero),
      tosa::NanPropagationMode::IGNORE);
  if (encoding.rounding == quantization::Rounding::HalfUp) {
    // floor(x + 0.5) would round the sum: 0.49999997 would become 1.
    Value floor = tosa::FloorOp::create(builder, loc, type, level);
    Value rest = tosa::SubOp::create(builder, loc, type, level, floor);
    Value isUp = tosa::GreaterEqualOp::create(
        builder, loc, type.clone(builder.getI1Type()), rest, numbers(0.5f));
    Value up = tosa::AddOp::create(builder, loc, type, floor, numbers(1));
    level = tosa::SelectOp::create(builder, loc, type, isUp, up, floor);
  }
  auto to = getType(value, encoding.storageBits);
  if (encoding.rounding == quantization::Rounding::HalfUp) {
    if (zero != 0)
      level = tosa::AddOp::create(builder, loc, type, level, numbers(zero));
    return tosa::CastOp::create(builder, loc, to, level);
  }
  // `cast` rounds half to even; the zero point may be odd.
  Value wide = tosa::CastOp::create(builder, loc, getType(value, 32), level);
  if (zero != 0)
    wide = tosa::AddOp::create(
        builder, loc, wide.getType(), wide,
        createConstant(SmallVector<int64_t>(rank, 1), 32, encoding.zeroPoint));
  return tosa::CastOp::create(builder, loc, to, wide);
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

void IntegerLowering::name(Value value, tpc::QuantizeOp point) {
  // A value that another point has named stays that point's.
  if (!namedValues.insert(value).second)
    return;
  auto named = NameLoc::get(point.getPointNameAttr(), point.getLoc());
  if (auto argument = dyn_cast<BlockArgument>(value))
    return;
  value.getDefiningOp()->setLoc(named);
}

void IntegerLowering::lowerArgument(tpc::QuantizeOp point) {
  auto argument = cast<BlockArgument>(point.getInput());
  std::optional<Encoding> encoding = Encoding::get(point.getParametersAttr());
  unsigned number = argument.getArgNumber();
  argument.setType(getType(argument, encoding->storageBits));
  function.setArgAttr(number, kQuantizedAttrName,
                      encoding->describe(point.getPointName())
                          .toAttribute(builder.getContext()));
  namedValues.insert(argument);
  storedValues[point.getResult()] = {argument, *encoding};
}

void IntegerLowering::lowerPoint(tpc::QuantizeOp point) {
  if (!point.isActivation() || !point.getParametersAttr())
    return;
  builder.setInsertionPoint(point);
  loc = NameLoc::get(builder.getStringAttr(point.getPointName() + "/integer"),
                     point.getLoc());
  auto decline = [&](StringRef text, Operation *at) {
    Record record(Decision::Declined, Reason::StaysFloat,
                  at == point ? nullptr : at);
    record << "stays float: "
           << (at && at != point
                   ? ("'" + at->getName().getStringRef() + "' op ").str()
                   : std::string())
           << text;
    emitRecord(point, kPass, record);
  };
  std::optional<Encoding> encoding = Encoding::get(point.getParametersAttr());
  if (!encoding)
    return decline("its levels are not a grid that integers of 8 or 16 "
                   "bits store",
                   nullptr);
  if (encoding->storageBits == 16 && !options.allowsInt16)
    return decline("it has more than 8 bits; extensions=int16 allows 16",
                   nullptr);
  Value input = point.getInput();
  auto argument = dyn_cast<BlockArgument>(input);
  // Those of branches and loops are made of other values.
  if (argument && argument.getOwner() != &function.front())
    argument = nullptr;
  if (argument && options.boundary == IntegerBoundary::Integer &&
      argument.hasOneUse())
    return lowerArgument(point);
  // A softmax that is cut is not computed at all.
  Value logits;
  int64_t axis;
  if (options.softmax == IntegerSoftmax::Cut && point->hasOneUse() &&
      isa<func::ReturnOp>(*point->user_begin()) &&
      isSoftmax(input, logits, axis))
    return;
  culprit = nullptr;
  why.clear();
  halvesUp = "";
  depth = 0;
  Value result = lowerTo(input, *encoding);
  if (result && !halvesUp.empty())
    emitRecord(
        point, kPass,
        Record(Decision::Noted, Reason::RoundsItsOwnWay, input.getDefiningOp())
            << "halves go up in it, not to the even code: it has " << halvesUp);
  if (!result) {
    // A float argument is converted; anything else could have been integer.
    if (!argument)
      decline(why.empty() ? "it has no integer form" : StringRef(why), culprit);
    result = quantize(input, *encoding);
  }
  name(result, point);
  storedValues[point.getResult()] = {result, *encoding};
  entries.push_back(encoding->describe(point.getPointName())
                        .toAttribute(builder.getContext()));
}

void IntegerLowering::leave(Region &region) {
  // What is stored is made beside what it stands for.
  auto isInside = [&](Value value) {
    return value && region.isAncestor(value.getParentRegion());
  };
  for (auto it = lowered.begin(); it != lowered.end();)
    it = isInside(it->second) ? lowered.erase(it) : std::next(it);
  for (auto &[value, accumulator] : llvm::make_early_inc_range(accumulators))
    if (accumulator && isInside(accumulator->value))
      accumulators.erase(value);
}

void IntegerLowering::lower() {
  Region *body = &function.getBody(), *region = body;
  for (tpc::QuantizeOp point : points) {
    for (; !region->isAncestor(point->getParentRegion());
         region = region->getParentRegion())
      leave(*region);
    region = point->getParentRegion();
    lowerPoint(point);
  }
  for (; region != body; region = region->getParentRegion())
    leave(*region);
}
