// SPDX-License-Identifier: Apache-2.0
//
// How real numbers are stored in the integer tensors of an integer network.
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

/// A tensor of signless integers that stands for real numbers:
/// real = scale * (stored - zero point), low <= stored <= high.
struct Encoding {
  /// As float(step) of the grid: what the simulation multiplies with.
  double scale = 1;
  int64_t zeroPoint = 0;
  int64_t low = 0, high = 0;
  /// Of the quantizer.
  unsigned bits = 8;
  /// Of the elements: 8 or 16.
  unsigned storageBits = 8;
  quantization::Rounding rounding = quantization::Rounding::HalfUp;

  /// That of a quantizer with one grid for the tensor: up to 8 bits as they
  /// are, an unsigned one of 8 bits less 128; 9 to 16 bits in 16, symmetric
  /// ones only, as TOSA has no zero points there. None for any other.
  static std::optional<Encoding> get(tpc::QuantizerAttrInterface quantizer);

  quantization::Grid getGrid() const {
    return {scale, zeroPoint, low, high, rounding};
  }
  /// The stored integer of a real number: what the grid's quantizer does.
  int64_t quantize(float value) const;
  /// As the simulation has it.
  float dequantize(int64_t stored) const {
    return float(stored - zeroPoint) * float(scale);
  }
  /// The largest |stored - zero point|.
  double getReach() const {
    return double(
        std::max(std::abs(low - zeroPoint), std::abs(high - zeroPoint)));
  }
  /// Whether real numbers below zero are stored.
  bool hasNegative() const { return low < zeroPoint; }
  mlir::Type getStorageType(mlir::MLIRContext *context) const {
    return mlir::IntegerType::get(context, storageBits);
  }
  /// What the integer network says of the tensor that has this name.
  QuantizedValue describe(llvm::StringRef name) const;

  bool operator==(const Encoding &other) const {
    return scale == other.scale && zeroPoint == other.zeroPoint &&
           low == other.low && high == other.high &&
           storageBits == other.storageBits;
  }
  bool operator!=(const Encoding &other) const { return !(*this == other); }
  /// Some order of those that differ; scales are numbers, not NaN.
  bool operator<(const Encoding &other) const {
    return std::tie(scale, zeroPoint, low, high, storageBits) <
           std::tie(other.scale, other.zeroPoint, other.low, other.high,
                    other.storageBits);
  }
};

} // namespace mct

#endif // MCT_CONVERSION_ENCODING_H
