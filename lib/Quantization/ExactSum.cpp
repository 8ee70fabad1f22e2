// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/ExactSum.h"

#include "mct/Quantizers/Simd.h"

#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mct::quantization {

namespace {
constexpr int64_t kLimbMask = 0xffffffff;
/// An addition changes a limb by less than 2^32, so this many keep it in 63
/// bits.
constexpr uint32_t kMaxAdditions = uint32_t(1) << 30;
} // namespace

void ExactSum::addExact(double value) {
  uint64_t pattern;
  std::memcpy(&pattern, &value, sizeof(pattern));
  int biased = static_cast<int>(pattern >> 52) & 0x7ff;
  // The term is zero, since no term is subnormal.
  if (biased == 0)
    return;
  uint64_t mantissa = (pattern & ((uint64_t(1) << 52) - 1)) | uint64_t(1) << 52;
  int position = biased - 1075 - kUnitExponent;
  // Low bits below the unit are zero by contract.
  if (position < 0) {
    mantissa >>= -position;
    position = 0;
  }
  int limb = position >> 5, shift = position & 31;
  // 53 bits shifted by up to 31 reach into three limbs.
  uint64_t low = (mantissa & kLimbMask) << shift;
  uint64_t high = ((mantissa >> 32) << shift) + (low >> 32);
  int64_t sign = (pattern >> 63) ? -1 : 1;
  limbs[limb] += sign * static_cast<int64_t>(low & kLimbMask);
  limbs[limb + 1] += sign * static_cast<int64_t>(high & kLimbMask);
  limbs[limb + 2] += sign * static_cast<int64_t>(high >> 32);
  if (++additions == kMaxAdditions)
    propagate();
}

void ExactSum::propagate() {
  int64_t carry = 0;
  for (int i = 0; i + 1 < kLimbs; ++i) {
    int64_t value = limbs[i] + carry;
    limbs[i] = value & kLimbMask;
    carry = value >> 32;
  }
  limbs[kLimbs - 1] += carry;
  additions = 1;
}

ExactSum::Limbs ExactSum::canonical() const {
  ExactSum copy = *this;
  copy.propagate();
  return copy.limbs;
}

void ExactSum::merge(const ExactSum &other) {
  Limbs added = other.canonical();
  for (int i = 0; i < kLimbs; ++i)
    limbs[i] += added[i];
  if (++additions >= kMaxAdditions)
    propagate();
}

bool ExactSum::operator==(const ExactSum &other) const {
  return canonical() == other.canonical();
}

/// Replaces canonical limbs by those of the magnitude; returns the sign.
template <typename Limbs> static bool toMagnitude(Limbs &limbs) {
  if (limbs.back() >= 0)
    return false;
  int64_t carry = 1;
  for (int64_t &limb : limbs) {
    int64_t value = (~limb & kLimbMask) + carry;
    limb = value & kLimbMask;
    carry = value >> 32;
  }
  return true;
}

double ExactSum::round() const {
  Limbs magnitude = canonical();
  bool negative = toMagnitude(magnitude);
  int top = kLimbs - 1;
  while (top >= 0 && magnitude[top] == 0)
    --top;
  if (top < 0)
    return 0.0;
  // The leading 64 bits; the last of them is set if any lower bit is.
  auto limb = [&](int i) -> uint64_t { return i >= 0 ? magnitude[i] : 0; };
  int zeros = __builtin_clz(static_cast<uint32_t>(limb(top)));
  uint64_t leading = limb(top) << 32 | limb(top - 1);
  uint64_t next = limb(top - 2);
  if (zeros > 0)
    leading = leading << zeros | next >> (32 - zeros);
  bool rest = ((next << zeros) & kLimbMask) != 0;
  for (int i = 0; i < top - 2 && !rest; ++i)
    rest = magnitude[i] != 0;
  uint64_t kept = leading >> 11;
  uint64_t dropped = leading & 0x7ff;
  bool up = dropped > 0x400 || (dropped == 0x400 && (rest || (kept & 1)));
  double result = std::ldexp(static_cast<double>(kept + up),
                             32 * (top - 1) - zeros + 11 + kUnitExponent);
  return negative ? -result : result;
}

std::string ExactSum::toHex() const {
  Limbs magnitude = canonical();
  bool negative = toMagnitude(magnitude);
  std::string digits;
  for (int i = kLimbs - 1; i >= 0; --i)
    for (int shift = 28; shift >= 0; shift -= 4) {
      unsigned digit = (magnitude[i] >> shift) & 15;
      if (digit != 0 || !digits.empty())
        digits.push_back(llvm::hexdigit(digit, /*LowerCase=*/true));
    }
  if (digits.empty())
    return "0";
  return negative ? "-" + digits : digits;
}

llvm::Expected<ExactSum> ExactSum::fromHex(llvm::StringRef text) {
  llvm::StringRef digits = text;
  bool negative = digits.consume_front("-");
  // The top limb keeps its sign bit and room for carries.
  if (digits.empty() || digits.size() > 8 * kLimbs - 2)
    return llvm::createStringError(
        "'%s' is not a sum: expected an optional '-' and 1 to %d hexadecimal "
        "digits",
        text.str().c_str(), 8 * kLimbs - 2);
  ExactSum result;
  int position = 0;
  for (char c : llvm::reverse(digits)) {
    unsigned digit = llvm::hexDigitValue(c);
    if (digit > 15)
      return llvm::createStringError(
          "'%s' is not a sum: '%c' is not a hexadecimal digit",
          text.str().c_str(), c);
    int64_t part = static_cast<int64_t>(digit) << (position % 8 * 4);
    result.limbs[position / 8] += negative ? -part : part;
    ++position;
  }
  result.propagate();
  return result;
}

bool ChannelStatistics::Channel::operator==(const Channel &other) const {
  return sum == other.sum && sumOfSquares == other.sumOfSquares &&
         min == other.min && max == other.max && count == other.count;
}

namespace {

/// Columns of one tile: a vector of doubles.
constexpr size_t kLanes = 8;
/// Rows of one tile.
constexpr size_t kTileRows = 512;
/// Bits a window keeps below its top: sums of kTileRows such terms, one more
/// bit each, fit into the 53 bits of a double.
constexpr int kWindowBits = 43;
constexpr int kValueWindows = 2;
constexpr int kSquareWindows = 3;

struct Tile {
  double values[kValueWindows][kLanes];
  double squares[kSquareWindows][kLanes];
  float min[kLanes];
  float max[kLanes];
  // False if a value is not finite or has bits below the last window.
  bool exact;
};

/// Adding and subtracting 1.5 * 2^52 units rounds to a multiple of the unit;
/// the unit of a window is its top's times 2^-kWindowBits, and the next window
/// starts there.
struct TileRounders {
  double values[kValueWindows];
  double squares[kSquareWindows];

  /// `top`: every magnitude is below 2^top.
  explicit TileRounders(int top) {
    for (int i = 0; i < kValueWindows; ++i)
      values[i] = std::ldexp(1.5, top - (i + 1) * kWindowBits + 52);
    for (int i = 0; i < kSquareWindows; ++i)
      squares[i] = std::ldexp(1.5, 2 * top - (i + 1) * kWindowBits + 52);
  }
};

using Float8 = float __attribute__((vector_size(32)));
using Int64x8 = int64_t __attribute__((vector_size(64)));

/// Adds the part of each term that a window holds to its sum, which is exact,
/// and leaves the rest of the terms to the next window.
template <int Windows>
MCT_VECTOR_BODY void splitIntoWindows(Double8 &term, const Double8 *rounders,
                                      Double8 *sums) {
  for (int i = 0; i < Windows; ++i) {
    Double8 kept = (term + rounders[i]) - rounders[i];
    sums[i] += kept;
    term -= kept;
  }
}

/// Sums `rows` x kLanes finite values.
MCT_VECTOR_BODY void sumTile(const float *data, size_t rows, size_t stride,
                             const TileRounders &rounders, Tile &tile) {
  Double8 valueRounders[kValueWindows], values[kValueWindows] = {};
  Double8 squareRounders[kSquareWindows], squares[kSquareWindows] = {};
  for (int i = 0; i < kValueWindows; ++i)
    valueRounders[i] = Double8{} + rounders.values[i];
  for (int i = 0; i < kSquareWindows; ++i)
    squareRounders[i] = Double8{} + rounders.squares[i];
  // Rests are far below the windows or zero, so those of one lane cannot cancel
  // unnoticed as long as their magnitudes are added.
  Double8 lost{};
  const Double8 zero{};
  for (size_t row = 0; row < rows; ++row, data += stride) {
    Double8 value = __builtin_convertvector(loadVector<Float8>(data), Double8);
    Double8 square = value * value;
    splitIntoWindows<kValueWindows>(value, valueRounders, values);
    splitIntoWindows<kSquareWindows>(square, squareRounders, squares);
    lost += value * value;
    lost += square < zero ? -square : square;
  }
  for (int i = 0; i < kValueWindows; ++i)
    storeVector(tile.values[i], values[i]);
  for (int i = 0; i < kSquareWindows; ++i)
    storeVector(tile.squares[i], squares[i]);
  tile.exact = true;
  for (size_t lane = 0; lane < kLanes; ++lane)
    tile.exact &= lost[lane] == 0;
}

/// Minimum, maximum and whether all are finite.
MCT_VECTOR_BODY void findTileRange(const float *data, size_t rows,
                                   size_t stride, Tile &tile) {
  Float8 low = Float8{} + std::numeric_limits<float>::infinity();
  Float8 high = -low;
  // x - x is 0 for finite values and NaN for the others, and a NaN stays.
  Float8 check{};
  for (size_t row = 0; row < rows; ++row, data += stride) {
    Float8 x = loadVector<Float8>(data);
    low = x < low ? x : low;
    high = x > high ? x : high;
    check += x - x;
  }
  storeVector(tile.min, low);
  storeVector(tile.max, high);
  tile.exact = true;
  for (size_t lane = 0; lane < kLanes; ++lane)
    tile.exact &= check[lane] == 0;
}

} // namespace

void ChannelStatistics::observeScalar(const float *data, size_t rows,
                                      size_t stride, size_t firstColumn,
                                      size_t columns) {
  for (size_t row = 0; row < rows; ++row, data += stride)
    for (size_t i = 0; i < columns; ++i) {
      float value = data[i];
      if (!std::isfinite(value))
        continue;
      Channel &channel = perChannel[(firstColumn + i) % perChannel.size()];
      channel.sum.add(value);
      channel.sumOfSquares.addSquare(value);
      // + 0 so that -0 does not depend on which zero came first.
      channel.min = std::min(channel.min, value + 0.0f);
      channel.max = std::max(channel.max, value + 0.0f);
      ++channel.count;
    }
}

void ChannelStatistics::observeTile(const float *data, size_t rows,
                                    size_t stride, size_t firstColumn) {
  Tile tile;
  runVectorLoop<findTileRange>(data, rows, stride, tile);
  if (tile.exact) {
    float largest = 0;
    for (size_t lane = 0; lane < kLanes; ++lane)
      largest = std::max({largest, -tile.min[lane], tile.max[lane]});
    TileRounders rounders(largest > 0 ? std::ilogb(largest) + 1 : 0);
    runVectorLoop<sumTile>(data, rows, stride, rounders, tile);
  }
  if (!tile.exact)
    return observeScalar(data, rows, stride, firstColumn, kLanes);
  for (size_t lane = 0; lane < kLanes; ++lane) {
    Channel &channel = perChannel[(firstColumn + lane) % perChannel.size()];
    for (const auto &window : tile.values)
      channel.sum.addExact(window[lane]);
    for (const auto &window : tile.squares)
      channel.sumOfSquares.addExact(window[lane]);
    channel.min = std::min(channel.min, tile.min[lane] + 0.0f);
    channel.max = std::max(channel.max, tile.max[lane] + 0.0f);
    channel.count += rows;
  }
}

void ChannelStatistics::observe(const float *data, size_t rows,
                                size_t channels) {
  if (perChannel.empty())
    perChannel.resize(channels);
  // Several rows side by side make the columns a multiple of the lanes.
  size_t together = kLanes / std::gcd(channels, kLanes);
  size_t columns = channels * together;
  size_t wideRows = rows / together;
  for (size_t row = 0; row < wideRows; row += kTileRows)
    for (size_t column = 0; column < columns; column += kLanes)
      observeTile(data + row * columns + column,
                  std::min(kTileRows, wideRows - row), columns, column);
  size_t done = wideRows * together;
  observeScalar(data + done * channels, rows - done, channels, 0, channels);
}

void ChannelStatistics::merge(const ChannelStatistics &other) {
  if (other.perChannel.empty())
    return;
  if (perChannel.empty()) {
    perChannel = other.perChannel;
    return;
  }
  for (size_t i = 0; i < perChannel.size(); ++i) {
    Channel &channel = perChannel[i];
    const Channel &added = other.perChannel[i];
    channel.sum.merge(added.sum);
    channel.sumOfSquares.merge(added.sumOfSquares);
    channel.min = std::min(channel.min, added.min);
    channel.max = std::max(channel.max, added.max);
    channel.count += added.count;
  }
}

ChannelStatistics
ChannelStatistics::fromChannels(std::vector<Channel> channels) {
  ChannelStatistics result;
  result.perChannel = std::move(channels);
  return result;
}

} // namespace mct::quantization
