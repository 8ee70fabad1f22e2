// SPDX-License-Identifier: Apache-2.0
//
// Operators that are formulas, such as a layer norm. Importers write them in so
// many ways that a table of forms never ends: they are known by what they
// compute.
#ifndef TPC_DIALECT_LOOKUP_ALGEBRA_H
#define TPC_DIALECT_LOOKUP_ALGEBRA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mct::tpc {

/// Returns the floating-point number that all elements of a constant are, if
/// they are one.
std::optional<double> getSplatNumber(mlir::ElementsAttr elements);

/// An operator that is known by its formula.
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
  /// The last is the root; no other result is used outside.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// Returns the formulas that the TOSA ops of a block compute, in program order
/// of their roots; of those that overlap all. The order of operands and of
/// products, numbers as splats or as ops on constants, casts between float
/// types, reshapes and the many spellings of means, squares and roots make no
/// difference. A formula that goes on with constant factors and terms is
/// longer.
///
/// Around each value that may be an x so many ops are looked at as the longest
/// formula needs: time is linear in the number of ops.
/// `visited` counts on how often an op was computed with.
std::vector<FormulaMatch> findFormulas(mlir::Block &block,
                                       uint64_t *visited = nullptr);

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_ALGEBRA_H
