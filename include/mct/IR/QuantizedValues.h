// SPDX-License-Identifier: Apache-2.0
//
// Record of what an integer network says of the real numbers that its values
// stand for, in attributes of builtin types, which tools without our dialect
// keep.
#ifndef MCT_IR_QUANTIZEDVALUES_H
#define MCT_IR_QUANTIZEDVALUES_H

#include "mct/Quantizers/Grid.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mct {

/// Attribute of an argument or result that is stored as integers, a dictionary.
inline constexpr llvm::StringLiteral kQuantizedAttrName = "tpc.quantized";
/// Attribute of a function, an array of them for values inside of it: each is
/// the result of the op whose location has that name (`getName`).
inline constexpr llvm::StringLiteral kPointsAttrName = "tpc.points";

/// A tensor of signless integers and what they stand for: real = scale *
/// (stored - zeroPoint). As an attribute
///
///     {name = "conv1", scale = 7.8125e-03 : f64, zero_point = -128 : i64,
///      bits = 8 : i64}
struct QuantizedValue {
  /// The point of the simulation that this value is behind its quantizer.
  std::string name;
  double scale = 1; // positive and finite
  int64_t zeroPoint = 0;
  /// Number of bits, at most that of the element type. As many: all its values
  /// are stored. Fewer: [-2^(bits-1), 2^(bits-1)), or [0, 2^bits) where the
  /// attribute has `is_signed = false`.
  int64_t bits = 8;
  bool isSigned = true;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Returns the levels, in stored integers of an element type of
  /// `storageBits`; halves go up.
  quantization::Grid getGrid(unsigned storageBits) const;
};

/// Reads the record of a value of type `type`. A diagnostic where it is none,
/// or where the value cannot hold it.
mlir::FailureOr<QuantizedValue>
readQuantizedValue(mlir::Attribute attribute, mlir::Type type,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

/// The records of arguments or results, by number; none where there is none.
using QuantizedValues = llvm::SmallVector<std::optional<QuantizedValue>>;
mlir::FailureOr<QuantizedValues>
readQuantizedArguments(mlir::func::FuncOp function);
mlir::FailureOr<QuantizedValues>
readQuantizedResults(mlir::func::FuncOp function);

/// All values of a function that have a record: its arguments, what
/// `tpc.points` names, its results. A value that is a result and a point under
/// one name comes once. Values are found by the names in their locations: ask
/// before `assignNames`.
struct RecordedValue {
  mlir::Value value;
  QuantizedValue record;
};
mlir::FailureOr<std::vector<RecordedValue>>
findRecordedValues(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_IR_QUANTIZEDVALUES_H
