// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Intervals.h"
#include "mct/IR/Saturating.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <array>

using namespace mlir;
using namespace mct;

/// Returns the range of a function that is monotonic in each operand for any
/// value of the other.
template <typename Function>
static Interval atCorners(Interval a, Interval b, Function function) {
  std::array<int64_t, 4> values = {
      function(a.low, b.low), function(a.low, b.high), function(a.high, b.low),
      function(a.high, b.high)};
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {*low, *high};
}

std::optional<Interval> Interval::ofType(Type type) {
  auto integer = dyn_cast<IntegerType>(getElementTypeOrSelf(type));
  if (!integer || !integer.isSignless() || integer.getWidth() > 48)
    return std::nullopt;
  if (integer.getWidth() == 1)
    return Interval{0, 1};
  int64_t half = int64_t(1) << (integer.getWidth() - 1);
  return Interval{-half, half - 1};
}

Interval mct::unite(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval mct::intersect(Interval a, Interval b) {
  Interval both = {std::max(a.low, b.low), std::min(a.high, b.high)};
  return both.low <= both.high ? both : a;
}

Interval mct::add(Interval a, Interval b) {
  return {addSaturating(a.low, b.low), addSaturating(a.high, b.high)};
}

Interval mct::subtract(Interval a, Interval b) {
  return {saturate(__int128(a.low) - b.high),
          saturate(__int128(a.high) - b.low)};
}

Interval mct::multiply(Interval a, Interval b, unsigned shift) {
  // Most products have a constant factor, a weight.
  if (shift == 0 && b.low == b.high)
    return b.low >= 0 ? Interval{multiplySaturating(a.low, b.low),
                                 multiplySaturating(a.high, b.low)}
                      : Interval{multiplySaturating(a.high, b.low),
                                 multiplySaturating(a.low, b.low)};
  __int128 half = shift == 0 ? 0 : __int128(1) << (shift - 1);
  return atCorners(a, b, [&](int64_t x, int64_t y) {
    return saturate((__int128(x) * y + half) >> shift);
  });
}

Interval mct::divide(Interval a, Interval b) {
  auto quotient = [](int64_t x, int64_t y) {
    return saturate(__int128(x) / y);
  };
  std::optional<Interval> result;
  if (b.low < 0)
    result = atCorners(a, {b.low, std::min<int64_t>(b.high, -1)}, quotient);
  if (b.high > 0) {
    Interval positive =
        atCorners(a, {std::max<int64_t>(b.low, 1), b.high}, quotient);
    result = result ? unite(*result, positive) : positive;
  }
  return result.value_or(Interval());
}

Interval mct::clamp(Interval a, Interval limits) {
  return {std::clamp(a.low, limits.low, limits.high),
          std::clamp(a.high, limits.low, limits.high)};
}

Interval mct::absolute(Interval a) {
  int64_t low = saturate(-__int128(a.low)), high = a.high;
  if (a.low >= 0)
    return a;
  if (a.high <= 0)
    return {-a.high, low};
  return {0, std::max(low, high)};
}

Interval mct::shiftRight(Interval a, Interval amount, bool round) {
  return atCorners(a, amount, [&](int64_t value, int64_t by) {
    __int128 half = round && by > 0 ? __int128(1) << (by - 1) : 0;
    return int64_t((value + half) >> by);
  });
}

Interval mct::shiftLeft(Interval a, Interval amount) {
  return atCorners(a, amount, [](int64_t value, int64_t by) {
    return multiplySaturating(value, int64_t(1) << by);
  });
}

Interval mct::countLeadingZeros(Interval a) {
  auto count = [](int64_t value) {
    return int64_t(llvm::countl_zero(uint32_t(value)));
  };
  // Negative values have no leading zeros.
  if (a.high < 0)
    return Interval::point(0);
  int64_t most = count(std::max<int64_t>(a.low, 0));
  return {a.low < 0 ? 0 : count(a.high), most};
}

int64_t RescaleFactor::operator()(int64_t value) const {
  __int128 half = __int128(1) << (shift - 1);
  if (doubleRound && shift > 31)
    half += value >= 0 ? 1 << 30 : -(1 << 30);
  return saturate((__int128(value) * multiplier + half) >> shift);
}

Interval mct::lookUp(ArrayRef<int64_t> table, Interval index) {
  index = table.size() == 256 ? clamp(index, {-128, 127})
                              : clamp(index, {-32768, 32767});
  std::optional<Interval> result;
  auto extend = [&](int64_t value) {
    result = result ? unite(*result, Interval::point(value))
                    : Interval::point(value);
  };
  if (table.size() == 256) {
    for (int64_t i = index.low; i <= index.high; ++i)
      extend(table[i + 128]);
    return *result;
  }
  // Interpolate linearly between the multiples of 128.
  auto interpolate = [&](int64_t value) {
    int64_t entry = (value + 32768) >> 7, fraction = value & 127;
    int64_t base = table[entry], next = table[entry + 1];
    extend(base * 128 + (next - base) * fraction);
  };
  interpolate(index.low);
  interpolate(index.high);
  for (int64_t i = llvm::alignTo<128>(uint64_t(index.low + 32768)) - 32768;
       i <= index.high; i += 128)
    interpolate(i);
  return *result;
}
