// SPDX-License-Identifier: Apache-2.0
//
// Storage of real numbers in the integer tensors of an integer network.
#ifndef MCT_CONVERSION_ENCODING_H
#define MCT_CONVERSION_ENCODING_H

#include "mct/IR/QuantizedValues.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <algorithm>
#include <cstdlib>
#include <optional>
#include <tuple>

namespace mct {

/// A tensor of signless integers that represents real numbers: real = scale *
/// (stored - zero point), low <= stored <= high.
struct Encoding {
  /// The step of the grid as f32, which the simulation multiplies with.
  double scale = 1;
  int64_t zeroPoint = 0;
  int64_t low = 0, high = 0;
  /// Bits of the quantizer.
  unsigned bits = 8;
  /// Bits of the elements: 8 or 16; 32 for sums.
  unsigned storageBits = 8;
  quantization::Rounding rounding = quantization::Rounding::HalfUp;

  /// Returns the encoding of a quantizer with one grid for the tensor: codes of
  /// up to 8 bits are stored as they are, unsigned ones of 8 bits minus 128;
  /// codes of 9 to 16 bits are stored in 16 bits, symmetric ones only, because
  /// TOSA has no zero points there. Returns none for any other quantizer.
  static std::optional<Encoding> get(tpc::QuantizerAttrInterface quantizer);

  /// Returns the grid of the stored integers.
  quantization::Grid getGrid() const {
    return {scale, zeroPoint, low, high, rounding};
  }
  /// Returns the stored integer of a real number, rounded as by the quantizer.
  int64_t quantize(float value) const;
  /// Returns the real number, as the simulation computes it.
  float dequantize(int64_t stored) const {
    return float(stored - zeroPoint) * float(scale);
  }
  /// Returns the largest |stored - zero point|.
  double getReach() const {
    return double(
        std::max(std::abs(low - zeroPoint), std::abs(high - zeroPoint)));
  }
  /// Returns true if real numbers below zero are stored.
  bool hasNegative() const { return low < zeroPoint; }
  /// Returns the record of a tensor with this name in the integer network.
  QuantizedValue describe(llvm::StringRef name) const;

  bool operator==(const Encoding &other) const {
    return scale == other.scale && zeroPoint == other.zeroPoint &&
           low == other.low && high == other.high &&
           storageBits == other.storageBits;
  }
  bool operator!=(const Encoding &other) const { return !(*this == other); }
  /// Orders encodings, for maps; scales are never NaN.
  bool operator<(const Encoding &other) const {
    return std::tie(scale, zeroPoint, low, high, storageBits) <
           std::tie(other.scale, other.zeroPoint, other.low, other.high,
                    other.storageBits);
  }
};

} // namespace mct

#endif // MCT_CONVERSION_ENCODING_H
