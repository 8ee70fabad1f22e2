// SPDX-License-Identifier: Apache-2.0
//
// APFloat multiplies out all digits of a binary fraction, m / 2^f = m 5^f /
// 10^f, and divides by the power of ten that leaves the digits it needs. Both
// powers of five cancel but for a small one, so that 192 bits are enough.
#include "tpc_dialect/IR/RealText.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include <array>
#include <cmath>
#include <cstdint>

namespace {
using Wide = unsigned __int128;

// 5^55 is the largest power below 2^128.
constexpr int kPowersOfFive = 56;
constexpr auto kPowerOfFive = [] {
  std::array<Wide, kPowersOfFive> powers{};
  Wide power = 1;
  for (Wide &entry : powers) {
    entry = power;
    power *= 5;
  }
  return powers;
}();

// Powers of ten up to here are floats in double.
constexpr int kExactTens = 22;
constexpr auto kPowerOfTen = [] {
  std::array<double, kExactTens + 1> powers{};
  double power = 1;
  for (double &entry : powers) {
    entry = power;
    power *= 10;
  }
  return powers;
}();

// Digits with which a double is told from all others, and those that are tried
// before.
constexpr int kAllDigits = 17;
constexpr int kFewDigits = 6;
// Zeros behind the point before an exponent is written instead.
constexpr int kMostZeros = 3;

/// The number digits * 10^exponent; the last digit is not zero.
struct Decimal {
  uint64_t digits = 0;
  int exponent = 0;
};

/// A positive number m * 2^-f, m odd or f = 0, and the bits of m * 5^f.
struct Fraction {
  uint64_t m = 0;
  int f = 0;
  int bits = 0;
};
} // namespace

/// Returns whether `value` could be taken apart into what fits.
static bool splitReal(double value, Fraction &fraction) {
  uint64_t pattern = llvm::bit_cast<uint64_t>(value);
  int exponent = int(pattern >> 52 & 0x7ff);
  if (exponent == 0 || exponent == 0x7ff)
    return false;
  fraction.m = (pattern & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  fraction.f = 1075 - exponent;
  int zeros = llvm::countr_zero(fraction.m);
  if (fraction.f <= zeros) {
    // An integer.
    if (fraction.f < -10)
      return false;
    fraction.m =
        fraction.f >= 0 ? fraction.m >> fraction.f : fraction.m << -fraction.f;
    fraction.f = 0;
    fraction.bits = llvm::bit_width(fraction.m);
    return true;
  }
  fraction.m >>= zeros;
  fraction.f -= zeros;
  // The logarithm is off by less than 1e-12; a power of five is no power of
  // two, but may be close to one.
  double logarithm = std::log2(double(fraction.m)) +
                     double(fraction.f) * 2.3219280948873623478703194294894;
  double whole = std::floor(logarithm);
  double rest = logarithm - whole;
  fraction.bits = int(whole) + 1;
  return rest > 1e-9 && rest < 1 - 1e-9;
}

static void dropZeros(Decimal &decimal) {
  while (decimal.digits % 10 == 0) {
    decimal.digits /= 10;
    ++decimal.exponent;
  }
}

/// Returns the first digits as APFloat finds them: it cuts at a number of bits
/// and then rounds what is left half up.
static bool findDigits(const Fraction &fraction, int precision,
                       Decimal &decimal) {
  int needed = (precision * 196 + 58) / 59;
  int tens = std::max(fraction.bits - needed, 0) * 59 / 196;
  // floor(m 5^f / 10^tens)
  int fives = fraction.f - tens;
  if (fives >= kPowersOfFive)
    return false;
  if (fives >= 0) {
    Wide power = kPowerOfFive[fives];
    Wide low = Wide(fraction.m) * uint64_t(power);
    Wide high = Wide(fraction.m) * uint64_t(power >> 64) + (low >> 64);
    if (tens >= 64)
      decimal.digits = uint64_t(high >> (tens - 64));
    else if (tens > 0)
      decimal.digits = uint64_t(high << (64 - tens) | uint64_t(low) >> tens);
    else
      decimal.digits = uint64_t(low);
  } else {
    if (tens >= 64 || -fives > 27)
      return false;
    decimal.digits = (fraction.m >> tens) / uint64_t(kPowerOfFive[-fives]);
  }
  decimal.exponent = tens - fraction.f;
  dropZeros(decimal);
  int digits = 0;
  for (uint64_t rest = decimal.digits; rest != 0; rest /= 10)
    ++digits;
  if (digits <= precision)
    return true;
  for (; digits != precision + 1; --digits) {
    decimal.digits /= 10;
    ++decimal.exponent;
  }
  bool up = decimal.digits % 10 >= 5;
  decimal.digits = decimal.digits / 10 + up;
  ++decimal.exponent;
  dropZeros(decimal);
  return true;
}

/// Returns whether a number of few digits is read as `value`.
static bool isReadAs(const Decimal &decimal, double value, bool &isKnown) {
  isKnown = std::abs(decimal.exponent) <= kExactTens;
  if (!isKnown)
    return false;
  // Both operands are exact, so that the result is rounded once.
  double power = kPowerOfTen[std::abs(decimal.exponent)];
  double read = decimal.exponent < 0 ? double(decimal.digits) / power
                                     : double(decimal.digits) * power;
  return read == value;
}

/// Appends a sign and the digits of an exponent, at least `width`.
static void appendExponent(int exponent, unsigned width,
                           llvm::SmallVectorImpl<char> &text) {
  text.push_back(exponent < 0 ? '-' : '+');
  std::string digits = llvm::utostr(unsigned(std::abs(exponent)));
  text.append(width - std::min<size_t>(width, digits.size()), '0');
  text.append(digits.begin(), digits.end());
}

bool mct::tpc::writeReal(double value, llvm::SmallVectorImpl<char> &text) {
  Fraction fraction;
  Decimal few, all;
  bool isKnown = false;
  if (!splitReal(value, fraction) || !findDigits(fraction, kFewDigits, few))
    return false;
  bool isFew = isReadAs(few, std::fabs(value), isKnown);
  if (!isKnown || (!isFew && !findDigits(fraction, kAllDigits, all)))
    return false;
  const Decimal &decimal = isFew ? few : all;
  std::string digits = llvm::utostr(decimal.digits);
  auto count = int(digits.size());
  int first = decimal.exponent + count - 1; // power of ten of the first digit
  // Integers of more digits are written in hexadecimal.
  if (!isFew && decimal.exponent >= 0 && decimal.exponent <= kMostZeros &&
      count + decimal.exponent <= kAllDigits)
    return false;
  if (std::signbit(value))
    text.push_back('-');
  if (isFew || first < -kMostZeros || decimal.exponent >= 0) {
    text.push_back(digits.front());
    text.push_back('.');
    text.append(digits.begin() + 1, digits.end());
    if (isFew)
      text.append(kFewDigits + 1 - count, '0');
    else if (count == 1)
      text.push_back('0');
    text.push_back(isFew ? 'e' : 'E');
    appendExponent(first, isFew ? 2 : 1, text);
    return true;
  }
  if (first >= 0) {
    text.append(digits.begin(), digits.begin() + first + 1);
    text.push_back('.');
    text.append(digits.begin() + first + 1, digits.end());
    return true;
  }
  text.append({'0', '.'});
  text.append(-first - 1, '0');
  text.append(digits.begin(), digits.end());
  return true;
}
