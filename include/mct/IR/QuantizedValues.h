// SPDX-License-Identifier: Apache-2.0
//
// Record of the real numbers that values of an integer network represent, in
// attributes of builtin types, which tools without our dialect keep.
#ifndef MCT_IR_QUANTIZEDVALUES_H
#define MCT_IR_QUANTIZEDVALUES_H

#include "mct/Quantizers/Grid.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mct {

/// Name of the attribute of an argument or result that is stored as integers, a
/// dictionary.
inline constexpr llvm::StringLiteral kQuantizedAttrName = "tpc.quantized";
/// Name of the attribute of a function that holds an array of them for values
/// inside it: each is the result of the op whose location has that name
/// (`getName`).
inline constexpr llvm::StringLiteral kPointsAttrName = "tpc.points";

/// A tensor of signless integers and the real numbers it represents: real =
/// scale * (stored - zeroPoint). As an attribute
///
///     {name = "conv1", scale = 7.8125e-03 : f64, zero_point = -128 : i64,
///      bits = 8 : i64}
struct QuantizedValue {
  /// Name of the point of the simulation whose quantized result this value is.
  std::string name;
  double scale = 1; // positive and finite
  int64_t zeroPoint = 0;
  /// Number of bits, at most that of the element type. If they are equal, all
  /// values of the type are stored; if there are fewer, those in [-2^(bits-1),
  /// 2^(bits-1)), or in [0, 2^bits) if the attribute has `is_signed = false`.
  int64_t bits = 8;
  bool isSigned = true;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Returns the levels, in stored integers of an element type of `storageBits`
  /// bits; halves are rounded up.
  quantization::Grid getGrid(unsigned storageBits) const;
};

/// Reads the record of a value of type `type`. Emits a diagnostic if the
/// attribute is not a record, or if a value of the type cannot have it.
mlir::FailureOr<QuantizedValue>
readQuantizedValue(mlir::Attribute attribute, mlir::Type type,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// Records of arguments or results, by number; none for those without a record.
using QuantizedValues = llvm::SmallVector<std::optional<QuantizedValue>>;
mlir::FailureOr<QuantizedValues>
readQuantizedArguments(mlir::func::FuncOp function);
mlir::FailureOr<QuantizedValues>
readQuantizedResults(mlir::func::FuncOp function);

/// A value of a function that has a record. `findRecordedValues` returns all of
/// them: arguments, the values that `tpc.points` names, and results. A value
/// that is a result and a point under one name is returned once. Values are
/// found by the names in their locations: call it before `assignNames`.
struct RecordedValue {
  mlir::Value value;
  QuantizedValue record;
};
mlir::FailureOr<std::vector<RecordedValue>>
findRecordedValues(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_IR_QUANTIZEDVALUES_H
