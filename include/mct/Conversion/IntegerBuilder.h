// SPDX-License-Identifier: Apache-2.0
//
// Builds the ops of integer networks.
#ifndef MCT_CONVERSION_INTEGERBUILDER_H
#define MCT_CONVERSION_INTEGERBUILDER_H

#include "mct/Conversion/Encoding.h"
#include "mct/Quantization/Rescale.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mct {

/// Integers that represent a float value exactly.
struct StoredIntegers {
  mlir::Value value;
  Encoding encoding;
};

/// Builds TOSA ops on integers, and the conversions between integers and f32.
/// All tensors have static shapes.
class IntegerBuilder : public mlir::ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  /// Returns the type of `value` with integers of `bits` bits as elements.
  mlir::RankedTensorType getType(mlir::Value value, unsigned bits);

  //===--- Constants ------------------------------------------------------===//

  mlir::Value createConstant(llvm::ArrayRef<int64_t> shape, unsigned bits,
                             llvm::ArrayRef<int64_t> values);
  /// Creates an i32 number that is broadcast to `like`.
  mlir::Value createNumber(mlir::Value like, int64_t number);
  /// Creates i32 numbers, one for each position along the last axis of `like`.
  mlir::Value createAlongLastAxis(mlir::Value like,
                                  llvm::ArrayRef<int64_t> numbers);
  mlir::Value createShape(llvm::ArrayRef<int64_t> sizes);

  //===--- Integers -------------------------------------------------------===//

  mlir::Value reshape(mlir::Value value, llvm::ArrayRef<int64_t> shape);
  /// Multiplies i32 values of the type of `a`, and divides by 2^shift, rounded
  /// half up.
  mlir::Value multiply(mlir::Value a, mlir::Value b, int64_t shift = 0);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value subtract(mlir::Value a, mlir::Value b);
  mlir::Value bitwiseAnd(mlir::Value a, mlir::Value b);
  /// Multiplies by one factor, or by one for each position along the last axis;
  /// `from` and `to` are zero points. `roundsTwice` rounds as DOUBLE_ROUND
  /// does, with multipliers that have `droppedBits` bits fewer. Returns null if
  /// no multiplier can express a factor.
  mlir::Value rescale(mlir::Value value, int64_t from,
                      llvm::ArrayRef<double> factors, int64_t to, unsigned bits,
                      quantization::FactorRounding rounding =
                          quantization::FactorRounding::Nearest,
                      bool roundsTwice = false, unsigned droppedBits = 0);
  /// Returns stored - zero point in i32, times a factor for which the result is
  /// exact.
  mlir::Value widen(const StoredIntegers &stored, double factor = 1);
  /// Limits codes to [low, high].
  mlir::Value clamp(mlir::Value value, int64_t low, int64_t high,
                    const Encoding &encoding);
  /// Limits i32 values, which `tosa.clamp` does not support.
  mlir::Value limit(mlir::Value value, int64_t low, int64_t high);

  //===--- Conversions ----------------------------------------------------===//

  /// Returns the f32 values that integers represent.
  mlir::Value dequantize(const StoredIntegers &stored);
  /// Returns the integers of f32 values, as the simulation computes them.
  mlir::Value quantize(mlir::Value value, const Encoding &encoding);

private:
  /// Creates an f32 number that is broadcast to values of this rank.
  mlir::Value createFloat(float value, int64_t rank);
};

} // namespace mct

#endif // MCT_CONVERSION_INTEGERBUILDER_H
