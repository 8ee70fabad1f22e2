// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZATION_EXACTSUM_H
#define MCT_QUANTIZATION_EXACTSUM_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace mct::quantization {

/// The sum of any number (below 2^64) of finite floats and squares of floats,
/// without rounding: a fixed-point number wide enough for all of them. Sums of
/// the same terms are equal whatever their order or grouping.
class ExactSum {
public:
  /// Adds a finite float.
  void add(float value) { addExact(value); }
  /// Adds the square of a finite float; a double holds it exactly.
  void addSquare(float value) { addExact(double(value) * double(value)); }
  /// Adds a finite double that is a multiple of 2^-298 and below 2^320 in
  /// magnitude, as every sum of fewer than 2^64 floats or squares of floats is.
  void addExact(double value);
  /// Adds another sum.
  void merge(const ExactSum &other);

  /// Returns the sum rounded once to the nearest double, ties to even.
  double round() const;

  bool operator==(const ExactSum &other) const;
  bool operator!=(const ExactSum &other) const { return !(*this == other); }

  /// Returns the hexadecimal digits of the sum in units of 2^kUnitExponent,
  /// with a leading '-' when negative; "0" for zero. Equal sums give equal
  /// strings.
  std::string toHex() const;
  /// Parses the result of `toHex`. Fails on anything but an optional '-' and
  /// hexadecimal digits, and if the number is too large.
  static llvm::Expected<ExactSum> fromHex(llvm::StringRef text);

  static constexpr int kUnitExponent = -320;

private:
  // A limb holds 32 value bits; the other 32 of its 64 bits delay the carries.
  static constexpr int kLimbs = 24;
  using Limbs = std::array<int64_t, kLimbs>;
  Limbs canonical() const;
  void propagate();

  Limbs limbs{};
  uint32_t additions = 0; // since the last carry propagation
};

/// Sum, sum of squares, minimum, maximum and number of the finite values of
/// each channel of row-major [..., channels] tensors. The state depends only on
/// the multiset of values of each channel.
class ChannelStatistics {
public:
  /// Adds `rows` x `channels` values, channel fastest. `channels` is the same
  /// in every call. NaN and infinities are left out.
  void observe(const float *data, size_t rows, size_t channels);

  /// Adds all observations of `other`. One side may be empty; otherwise both
  /// have the same number of channels.
  void merge(const ChannelStatistics &other);

  struct Channel {
    ExactSum sum;
    ExactSum sumOfSquares;
    float min = std::numeric_limits<float>::infinity();
    float max = -std::numeric_limits<float>::infinity();
    uint64_t count = 0;

    /// Returns the mean; 0 if nothing was observed. The sum and the quotient
    /// are rounded once each.
    double mean() const { return count ? sum.round() / double(count) : 0.0; }
    bool operator==(const Channel &other) const;
    bool operator!=(const Channel &other) const { return !(*this == other); }
  };

  /// Returns one entry per channel; empty before the first observation.
  llvm::ArrayRef<Channel> channels() const { return perChannel; }
  /// Rebuilds statistics from stored channels.
  static ChannelStatistics fromChannels(std::vector<Channel> channels);

private:
  // Both take columns of rows that may hold several rows of the tensor: the
  // channel is the column modulo the number of channels.
  void observeTile(const float *data, size_t rows, size_t stride,
                   size_t firstColumn);
  void observeScalar(const float *data, size_t rows, size_t stride,
                     size_t firstColumn, size_t columns);

  std::vector<Channel> perChannel;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_EXACTSUM_H
