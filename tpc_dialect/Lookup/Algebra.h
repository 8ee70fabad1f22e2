// SPDX-License-Identifier: Apache-2.0
//
// Operators that are formulas, such as a layer norm. Importers write them in so
// many ways that no table of forms could be complete: they are recognized by
// their computation.
#ifndef TPC_DIALECT_LOOKUP_ALGEBRA_H
#define TPC_DIALECT_LOOKUP_ALGEBRA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mct::tpc {

/// Returns the floating-point number that all elements of a constant are equal
/// to; none if they differ.
std::optional<double> getSplatNumber(mlir::ElementsAttr elements);

/// An operator that is recognized by its formula.
struct Formula {
  llvm::StringLiteral name;
  /// The function of x, for messages.
  llvm::StringLiteral text;
};

llvm::ArrayRef<Formula> listFormulas();

/// A place where a formula is computed.
struct FormulaMatch {
  llvm::StringRef name;
  /// x.
  mlir::Value input;
  /// Ops in program order. The last one is the root; results of the others have
  /// no uses outside.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Returns the formulas that the TOSA ops of a block compute, in program order
/// of their roots, including overlapping ones. The order of operands and of
/// products, numbers as splats or as ops on constants, casts between float
/// types, reshapes and the various forms of means, squares and roots do not
/// matter. A formula that continues with constant factors and terms is longer.
///
/// For each value that may be an x, only as many ops are visited as the longest
/// formula needs: time is linear in the number of ops. `visited` counts how
/// often an op was evaluated.
std::vector<FormulaMatch> findFormulas(mlir::Block &block,
                                       uint64_t *visited = nullptr);

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_ALGEBRA_H
