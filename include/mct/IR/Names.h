// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_NAMES_H
#define MCT_IR_NAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mct {

/// Returns the name in a location: that of the outermost `NameLoc` in it; null
/// if there is none or it is empty.
mlir::StringAttr getName(mlir::Location loc);

/// Returns the name of a value: that of its defining op or of the argument.
/// Null before `assignNames`.
mlir::StringAttr getName(mlir::Value value);

/// Returns the name of an op's result, or the kind of the op if it has no name:
/// `conv2d`.
std::string getNameOrKind(mlir::Operation *op);

/// Returns the name of an argument, or its number if it has no name.
std::string getNameOrNumber(mlir::BlockArgument argument);

/// Returns the location without the name of the value there, for new ops
/// derived from it.
mlir::Location withoutName(mlir::Location loc);

/// Suffix of the names of values that are shifted: they differ from the values
/// of that name in the float network.
inline constexpr llvm::StringLiteral kShiftedSuffix = "_shifted";

/// A value that is another one with its axes in another order.
struct TransposedName {
  mlir::StringAttr original;
  /// Axis of the original for each axis of the value, as in `tosa.transpose`.
  llvm::SmallVector<int32_t> permutation;
};

/// Returns the location of a value that is the one at `loc` with its axes in
/// another order: it has the same name with `_transposed` appended, and
/// `getTransposed` reads the order from it.
mlir::Location getTransposedLoc(mlir::Location loc,
                                llvm::ArrayRef<int32_t> permutation);

/// Returns whether `getTransposedLoc` could have created a name.
bool isTransposedName(llvm::StringRef name);

/// Reads a location that `getTransposedLoc` created, combining several of them
/// in a row; none for other locations, or if the value has been renamed since.
std::optional<TransposedName> getTransposed(mlir::Location loc);

/// Gives every argument and every op with a result, except constants and
/// quantization points, a unique name in its location. See the pass
/// `mct-assign-names`.
void assignNames(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_IR_NAMES_H
