// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TRANSFORMS_LIFTVARIABLES_H
#define MCT_TRANSFORMS_LIFTVARIABLES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringRef.h"

namespace mct {

/// Name of the attribute of an argument that was a variable: its elements
/// before the first run, of the type of the argument. Absent if the variable
/// had none.
inline constexpr llvm::StringLiteral kInitialValueAttrName =
    "tpc.initial_value";

/// Suffix of the name of the result that is the value of a variable after a
/// run.
inline constexpr llvm::StringLiteral kNextSuffix = "_next";

/// A state that a network keeps from one run to the next.
struct NetworkState {
  /// The value before a run.
  mlir::BlockArgument argument;
  /// The operand of the terminator that is the value after it.
  mlir::OpOperand *next;
};

/// Returns the states of a function by the names that `mct-lift-variables`
/// gives them, in the order of the results.
llvm::SmallVector<NetworkState> findStates(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_TRANSFORMS_LIFTVARIABLES_H
