// SPDX-License-Identifier: Apache-2.0
//
// Converts integers of one encoding, or sums, to integers of another encoding,
// with a single rounding.
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct;
using quantization::FactorRounding;
using quantization::Rescale;

/// Returns true if some integer up to `bound` lies halfway between two levels,
/// so that 2 * integer * scale / step is odd.
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
  // The smallest such integer is odd and cancels the denominator.
  int exponent = high - low - 1;
  return exponent >= 0 &&
         bound >=
             std::ldexp(double(denominator / std::gcd(numerator, denominator)),
                        exponent);
}

//===----------------------------------------------------------------------===//
// Even codes
//===----------------------------------------------------------------------===//

/// Stores codes that have been rounded.
static Value storeRounded(IntegerBuilder &b, Value codes,
                          const Encoding &encoding, double bound) {
  // A rescale by 1 accepts this range; larger codes saturate anyway.
  constexpr double kMost = 0x1p29;
  if (bound >= kMost)
    codes = b.limit(codes, -kFarCode, kFarCode);
  return b.rescale(codes, 0, 1.0, encoding.zeroPoint, encoding.storageBits);
}

/// Stores the even one of two codes, rounded up and down, that differ only for
/// values halfway between two codes. Accepts any factors. `bound`: largest code
/// before saturation.
static Value chooseEven(IntegerBuilder &b, Value up, Value down,
                        const Encoding &encoding, double bound) {
  // This is 1 if the value lies halfway, 0 otherwise; subtract it if `up` is
  // odd.
  Value isHalfway = b.subtract(up, down);
  Value back = b.bitwiseAnd(isHalfway, up);
  // Tells range analysis that the result is 0 or 1.
  back = b.bitwiseAnd(back, b.createNumber(back, 1));
  return storeRounded(b, b.subtract(up, back), encoding, bound);
}

/// Multiplies by powers of two. Values halfway between two levels are rounded
/// up first, and back if that gives an odd code.
static Value rescaleToEven(IntegerBuilder &b, Value value,
                           ArrayRef<double> factors, const Encoding &encoding,
                           double bound) {
  Value rounded = b.rescale(value, 0, factors, 0, 32);
  if (!rounded)
    return nullptr;
  auto type = cast<RankedTensorType>(value.getType());
  SmallVector<int64_t> masks, halves;
  for (double factor : factors) {
    int discarded = -std::ilogb(factor);
    // If no bits are discarded, no masked value may equal the half, so use 1.
    bool isRounded = discarded > 0 && discarded < 32;
    masks.push_back(isRounded ? (int64_t(1) << discarded) - 1 : 0);
    halves.push_back(isRounded ? int64_t(1) << (discarded - 1) : 1);
  }
  Value rest = b.bitwiseAnd(value, b.createAlongLastAxis(value, masks));
  Value isHalfway = tosa::EqualOp::create(b, type.clone(b.getI1Type()), rest,
                                          b.createAlongLastAxis(value, halves));
  Value odd = b.bitwiseAnd(rounded, b.createNumber(value, 1));
  Value back =
      tosa::SelectOp::create(b, type, isHalfway, odd, b.createNumber(value, 0));
  return storeRounded(b, b.subtract(rounded, back), encoding, bound);
}

//===----------------------------------------------------------------------===//
// The codes of f32
//===----------------------------------------------------------------------===//

float FloatHistory::compute(int64_t integer, size_t channel) const {
  auto value = float(double(integer) * step);
  for (const Step &next : steps) {
    float number = next.getNumber(channel);
    value = next.isSum ? value + number : value * number;
  }
  return value;
}

bool FloatHistory::isRounded(size_t numChannels) const {
  for (size_t channel = 0; channel != numChannels; ++channel)
    for (int64_t integer = low; integer <= high; ++integer) {
      double value = double(integer) * step;
      for (const Step &next : steps) {
        double number = next.getNumber(channel);
        value = next.isSum ? value + number : value * number;
      }
      if (value != double(compute(integer, channel)))
        return true;
    }
  return false;
}

namespace {
/// The range of offsets for which a rescale of factor * integer + offset
/// returns the required codes.
struct Offsets {
  __int128 low = std::numeric_limits<int32_t>::min(),
           high = std::numeric_limits<int32_t>::max();

  void require(const Rescale &parts, int64_t scaled, int64_t code) {
    // The factor is too small for any multiplier.
    if (parts.multiplier == 0) {
      if (code != 0)
        high = low - 1;
      return;
    }
    __int128 one = __int128(1) << parts.shift, half = one / 2;
    auto roundDown = [&](__int128 number) {
      __int128 quotient = number / parts.multiplier;
      return quotient * parts.multiplier > number ? quotient - 1 : quotient;
    };
    // code * one <= x * multiplier + half < (code + 1) * one
    low = std::max(low, roundDown(code * one - half - 1) + 1 - scaled);
    high = std::min(high, roundDown((code + 1) * one - half - 1) - scaled);
  }
};

/// Factors and offsets that reproduce the codes computed in f32 exactly, for
/// every integer and channel.
struct FloatRescale {
  enum class Fit { Yes, TooFine, Never };

  SmallVector<int64_t> signs;
  SmallVector<double> factors;
  /// Offsets for rounding half up, and for rounding half down.
  std::array<SmallVector<int64_t>, 2> offsets;

  /// Adds a channel. `bits`: number of fractional bits of the offset.
  Fit append(const FloatHistory &history, const Encoding &encoding,
             size_t channel, int bits);
};
} // namespace

FloatRescale::Fit FloatRescale::append(const FloatHistory &history,
                                       const Encoding &encoding, size_t channel,
                                       int bits) {
  double slope = 1;
  for (const FloatHistory::Step &step : history.steps)
    if (!step.isSum)
      slope *= step.getNumber(channel);
  int64_t sign = (slope > 0) - (slope < 0);
  signs.push_back(sign * (int64_t(1) << bits));
  factors.push_back(sign == 0
                        ? 1
                        : std::ldexp(std::abs(slope) * history.step, -bits) /
                              encoding.scale);
  std::optional<Rescale> parts = Rescale::get(factors.back());
  if (!parts)
    return Fit::TooFine;
  std::array<Offsets, 2> possible;
  for (int64_t integer = history.low; integer <= history.high; ++integer) {
    double level = double(history.compute(integer, channel)) / encoding.scale;
    if (!(std::abs(level) < 0x1p28))
      return Fit::TooFine;
    // Round half up, and half down.
    std::array<double, 2> codes = {std::floor(level), std::ceil(level)};
    codes[0] += level - codes[0] >= 0.5;
    codes[1] -= codes[1] - level >= 0.5;
    for (unsigned i = 0; i != 2; ++i)
      possible[i].require(*parts, signs.back() * integer, int64_t(codes[i]));
  }
  bool isEven = encoding.rounding == quantization::Rounding::HalfToEven;
  for (unsigned i = 0; i != (isEven ? 2 : 1); ++i) {
    if (possible[i].low > possible[i].high)
      return Fit::Never;
    auto offset = int64_t((possible[i].low + possible[i].high) / 2);
    int64_t limit = std::min<int64_t>(parts->getLimit(), 1 << 30);
    for (int64_t integer : {-history.reach, history.reach})
      if (std::abs(signs.back() * integer) >= limit ||
          std::abs(signs.back() * integer + offset) >= limit)
        return Fit::TooFine;
    offsets[i].push_back(offset);
  }
  return Fit::Yes;
}

/// Creates the rescale that reproduces the codes computed in f32.
static Value createFloatRescale(IntegerBuilder &b, const FloatRescale &rescale,
                                const FloatHistory &history,
                                const Encoding &encoding) {
  Value scaled = b.multiply(history.base,
                            b.createAlongLastAxis(history.base, rescale.signs));
  auto add = [&](unsigned i) {
    return b.add(scaled, b.createAlongLastAxis(scaled, rescale.offsets[i]));
  };
  if (encoding.rounding != quantization::Rounding::HalfToEven)
    return b.rescale(add(0), 0, rescale.factors, encoding.zeroPoint,
                     encoding.storageBits);
  Value up = b.rescale(add(0), 0, rescale.factors, 0, 32);
  Value down = b.rescale(add(1), 0, rescale.factors, 0, 32);
  double bound = 0;
  for (size_t channel = 0; channel != rescale.factors.size(); ++channel)
    for (int64_t end : {-history.reach, history.reach})
      bound = std::max(
          bound,
          std::abs(double(history.compute(end, channel))) / encoding.scale + 1);
  return chooseEven(b, up, down, encoding, bound);
}

/// Reproduces the codes computed in f32 exactly. Returns nothing if f32 does
/// not round, or if too many integers would have to be tried.
static std::optional<IntegerOr<Value>>
requantizeAsFloat(IntegerBuilder &b, const FloatHistory &history,
                  const Encoding &encoding) {
  // All integers are tried in all channels.
  constexpr int64_t kMaxTried = 1 << 22;
  constexpr int kMaxBits = 16, kMinBits = 4;
  size_t count = 1;
  for (const FloatHistory::Step &step : history.steps)
    count = std::max(count, step.numbers.size());
  if (history.steps.empty() || !quantization::isPowerOfTwo(encoding.scale) ||
      (history.high - history.low + 1) * int64_t(count) > kMaxTried ||
      !history.isRounded(count))
    return std::nullopt;
  for (int bits = kMaxBits; bits >= kMinBits; --bits) {
    FloatRescale rescale;
    auto fit = FloatRescale::Fit::Yes;
    for (size_t channel = 0; channel != count && fit == FloatRescale::Fit::Yes;
         ++channel)
      fit = rescale.append(history, encoding, channel, bits);
    if (fit == FloatRescale::Fit::Never)
      return IntegerFailure{IntegerReason::NoExactRescale, nullptr};
    if (fit == FloatRescale::Fit::Yes)
      return createFloatRescale(b, rescale, history, encoding);
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {
/// Rounds an accumulator to the codes of an encoding.
class Requantizer {
public:
  Requantizer(IntegerContext &context, const IntegerAccumulator &accumulator,
              const Encoding &encoding)
      : context(context), b(context.getBuilder()), encoding(encoding),
        accumulator(accumulator), value(accumulator.value),
        bound(accumulator.bound),
        isWide(getElementTypeOrSelf(value).isInteger(48)) {
    for (double scale : accumulator.scales)
      factors.push_back(scale / encoding.scale);
  }

  /// Returns codes that may exceed the limits of the encoding, or null if a
  /// factor is too large.
  Value run();

private:
  bool roundsToEven() const {
    return context.getOptions().rounding == IntegerRounding::HalfEven;
  }
  bool roundsTwice() const {
    IntegerRounding rounding = context.getOptions().rounding;
    if (rounding == IntegerRounding::DoubleConvolutions &&
        accumulator.isFullyConnected)
      return false;
    return mct::roundsTwice(rounding) && !accumulator.isPool;
  }
  /// Returns by how many bits the multiplier of a mean is shorter because
  /// kernels that round twice divide it by the number of values.
  unsigned countDroppedBits() const {
    if (!accumulator.mean || !roundsTwice())
      return 0;
    int exponent = 0;
    std::frexp(factors.front(), &exponent);
    double ratio = accumulator.mean->step / encoding.scale;
    return unsigned(getMeanExponent(ratio, accumulator.mean->count) - exponent);
  }
  /// Limits sums to the range of `rescale`; larger ones saturate anyway.
  Value keepInside(Value sum);
  Value rescaleWide(Value sum) {
    return b.rescale(keepInside(sum), 0, factors, 0, 32);
  }
  Value rescaleToCodes(Value sum) {
    return b.rescale(keepInside(sum), 0, factors, encoding.zeroPoint,
                     encoding.storageBits, direction, roundsTwice(),
                     countDroppedBits());
  }
  Value chooseEven(Value up, Value down) {
    return up && down ? ::chooseEven(b, up, down, encoding, getCodeBound())
                      : nullptr;
  }
  /// Returns the largest distance of a code from the zero point before
  /// saturation.
  double getCodeBound() const {
    return bound * *std::max_element(factors.begin(), factors.end()) + 1;
  }
  Value roundShiftedMean(double ratio);
  Value roundMean();
  Value roundToEven();

  IntegerContext &context;
  IntegerBuilder &b;
  const Encoding &encoding;
  const IntegerAccumulator &accumulator;
  Value value;
  double bound;
  bool isWide;
  SmallVector<double> factors;
  FactorRounding direction = FactorRounding::Nearest;
};
} // namespace

Value Requantizer::keepInside(Value sum) {
  int64_t reach = std::numeric_limits<int64_t>::max();
  for (double factor : factors)
    if (std::optional<Rescale> parts = Rescale::get(factor, direction))
      reach = std::min(reach, parts->getLimit());
  return !isWide && bound >= double(reach) ? b.limit(sum, -reach, reach - 1)
                                           : sum;
}

/// Rounds a mean of codes half up. Codes are counted from a lower code on, so
/// that sums are negative only if the result saturates. Returns null for other
/// sums, and if no zero point of the result can compensate for that.
Value Requantizer::roundShiftedMean(double ratio) {
  const std::optional<SumsOfCodes> &origin = accumulator.mean->origin;
  if (!origin || origin->sums != value || encoding.storageBits != 8)
    return nullptr;
  StoredIntegers codes = origin->codes;
  const Encoding &from = codes.encoding;
  double count = ratio / factors.front();
  // Number of codes between both zero points, a multiple of the number that
  // makes a whole code of the result.
  double whole = std::max(1.0, 1 / ratio);
  double below = std::min(
      std::ceil(double(encoding.zeroPoint - encoding.low) / ratio / whole),
      std::ceil(double(from.zeroPoint - from.low) / whole));
  double zero = double(encoding.zeroPoint) - below * whole * ratio;
  double start = double(from.zeroPoint) - below * whole;
  bool isInside = start >= -128 && zero >= -128 &&
                  (start <= double(from.low) || zero <= double(encoding.low));
  double range = std::max(double(from.high) - start, start - double(from.low));
  // The multiplier is too large by less than 2^-30, and a mean that is not
  // halfway is at least 1 / (2 * count) of a code away from that.
  if (from.storageBits != 8 || !isInside || 2 * count * range * ratio >= 0x1p30)
    return nullptr;
  codes.encoding.zeroPoint = int64_t(start);
  value = sumCodes(b, codes, origin->axes);
  bound = count * range;
  direction = FactorRounding::Up;
  return b.rescale(keepInside(value), 0, factors, int64_t(zero),
                   encoding.storageBits, direction);
}

/// Moves sums by less than a step away from the halfway points, in the
/// direction in which a mean is to be rounded.
Value Requantizer::roundMean() {
  value = b.multiply(value, b.createNumber(value, kNudge));
  for (double &factor : factors)
    factor /= kNudge;
  bound = kNudge * bound + 1;
  Value above = b.add(value, b.createNumber(value, 1));
  if (!roundsToEven())
    return rescaleToCodes(above);
  Value below = b.subtract(value, b.createNumber(value, 1));
  Value up = rescaleWide(above), down = rescaleWide(below);
  return chooseEven(up, down);
}

Value Requantizer::roundToEven() {
  bool isExact = llvm::all_of(factors, [](double factor) {
    std::optional<Rescale> parts = Rescale::get(factor);
    return parts &&
           std::ldexp(double(parts->multiplier), -parts->shift) == factor;
  });
  if (isWide)
    context.noteRoundHalfUp("sums that 32 bits may not hold");
  else if (!isExact)
    context.noteRoundHalfUp("a factor that no multiplier of 31 bits has");
  bool isPower = llvm::all_of(factors, quantization::isPowerOfTwo);
  if (isWide || (!isPower && !isExact))
    return rescaleToCodes(value);
  value = keepInside(value);
  if (isPower)
    return rescaleToEven(b, value, factors, encoding, getCodeBound());
  // Negating the value before and after rounds half down.
  Value zero = b.createNumber(value, 0);
  Value up = rescaleWide(value);
  Value down =
      rescaleWide(tosa::SubOp::create(b, value.getType(), zero, value));
  if (down)
    down = tosa::SubOp::create(b, value.getType(), zero, down);
  return chooseEven(up, down);
}

Value Requantizer::run() {
  bool isEven =
      roundsToEven() && llvm::any_of(accumulator.scales, [&](double scale) {
        return meetsMiddles(scale, encoding.scale, bound);
      });
  // The sums fit into 32 bits.
  if (isEven && isWide && bound < 0x1p31) {
    value = b.rescale(value, 0, 1.0, 0, 32);
    isWide = false;
  }
  // Means lie halfway if the ratio of the steps is a power of two and n is a
  // multiple of twice that ratio.
  double ratio = accumulator.mean ? accumulator.mean->step / encoding.scale : 0;
  bool isMean = accumulator.mean && !roundsTwice() &&
                quantization::isPowerOfTwo(ratio) &&
                meetsMiddles(ratio, std::round(ratio / factors.front()), bound);
  bool isNudged = isMean && ratio <= kNudge / 4.0;
  if (isMean && roundsToEven() && !isNudged)
    context.noteRoundHalfUp(
        "means on a grid that is more than 16 times as fine");
  if (isNudged && (accumulator.mean->hasNegative || roundsToEven())) {
    Value codes = roundsToEven() ? nullptr : roundShiftedMean(ratio);
    return codes ? codes : roundMean();
  }
  if (isNudged)
    direction = FactorRounding::Up;
  return isEven ? roundToEven() : rescaleToCodes(value);
}

IntegerOr<Value> mct::requantize(IntegerContext &context,
                                 const IntegerAccumulator &accumulator,
                                 const Encoding &encoding) {
  IntegerBuilder &b = context.getBuilder();
  Value codes;
  if (accumulator.history && !roundsTwice(context.getOptions().rounding))
    if (std::optional<IntegerOr<Value>> exact =
            requantizeAsFloat(b, *accumulator.history, encoding)) {
      if (!*exact)
        return *exact;
      codes = **exact;
    }
  if (!codes)
    codes = Requantizer(context, accumulator, encoding).run();
  if (!codes)
    return {IntegerReason::ScaleTooLarge, accumulator.value.getDefiningOp()};
  return b.reshape(b.clamp(codes, encoding.low, encoding.high, encoding),
                   accumulator.shape);
}

IntegerOr<Value> mct::requantize(IntegerContext &context,
                                 const StoredIntegers &stored,
                                 const Encoding &encoding) {
  if (stored.encoding == encoding)
    return stored.value;
  IntegerBuilder &b = context.getBuilder();
  double factor = stored.encoding.scale / encoding.scale;
  int64_t zero = stored.encoding.zeroPoint;
  bool meets = context.getOptions().rounding == IntegerRounding::HalfEven &&
               meetsMiddles(stored.encoding.scale, encoding.scale,
                            stored.encoding.getReach());
  // If the steps of the result are so fine that the range of `rescale` is
  // exceeded, convert to i32, where values can be limited.
  std::optional<Rescale> parts = Rescale::get(factor);
  if (meets ||
      (parts && stored.encoding.getReach() >= double(parts->getLimit()))) {
    IntegerAccumulator wide = accumulate(b, stored);
    wide.history.reset();
    return requantize(context, wide, encoding);
  }
  Value codes = stored.value;
  // If only the limits differ, nothing is rounded.
  if (factor != 1 || zero != encoding.zeroPoint ||
      stored.encoding.storageBits != encoding.storageBits)
    codes = b.rescale(codes, zero, factor, encoding.zeroPoint,
                      encoding.storageBits, FactorRounding::Nearest,
                      roundsTwice(context.getOptions().rounding));
  if (!codes)
    return {IntegerReason::ScaleTooLarge, stored.value.getDefiningOp()};
  return b.clamp(codes, encoding.low, encoding.high, encoding);
}
