// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_NAMES_H
#define MCT_IR_NAMES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mct {

/// Returns the name in a location: the outermost `NameLoc` in it, or null. An
/// empty name is none.
mlir::StringAttr getName(mlir::Location loc);

/// Returns the name of a value: of the op that makes it, or of the argument.
/// Null before `assignNames`.
mlir::StringAttr getName(mlir::Value value);

/// Returns the name of an op's result, or the kind of the op where it has none:
/// `conv2d`.
std::string getNameOrKind(mlir::Operation *op);

/// Returns the name of an argument, or its number where it has none.
std::string getNameOrNumber(mlir::BlockArgument argument);

/// Returns the location without the name of the value there: what is made
/// beside it has none.
mlir::Location withoutName(mlir::Location loc);

/// Ends the names of values that are shifted: they are not those of that name
/// in the float network.
inline constexpr llvm::StringLiteral kShiftedSuffix = "_shifted";

/// A value that is another one with its axes in another order.
struct TransposedName {
  mlir::StringAttr original;
  /// Axis of the original for each axis of the value, as in `tosa.transpose`.
  llvm::SmallVector<int32_t> permutation;
};

/// Returns the location of a value that is the one at `loc` with its axes in
/// another order: it is named after that, with `_transposed` behind, and
/// `getTransposed` reads the order from it.
mlir::Location getTransposedLoc(mlir::Location loc,
                                llvm::ArrayRef<int32_t> permutation);

/// Returns whether a name is one that `getTransposedLoc` makes.
bool isTransposedName(llvm::StringRef name);

/// Reads a location that `getTransposedLoc` made, several of them in a row
/// as one; none for other locations, or when the value has got another name
/// since.
std::optional<TransposedName> getTransposed(mlir::Location loc);

/// Gives every argument and every op with a result, constants and quantizer
/// points apart, a unique name in its location. See the pass
/// `mct-assign-names`.
void assignNames(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_IR_NAMES_H
