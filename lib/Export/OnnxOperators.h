// SPDX-License-Identifier: Apache-2.0
//
// Operators of ONNX that TOSA expresses by several ops.
#ifndef MCT_LIB_EXPORT_ONNXOPERATORS_H
#define MCT_LIB_EXPORT_ONNXOPERATORS_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

#include <string>

namespace mct::onnx {

/// Ops that form one operator.
struct Operator {
  /// Name as in `tpc-list-subgraphs`.
  std::string name;
  /// Ops in program order; the last one computes the result of the operator.
  llvm::SmallVector<mlir::Operation *> ops;
  mlir::Value input;

  mlir::Operation *root() const { return ops.back(); }
  /// Returns the first op of this name, or null.
  mlir::Operation *find(llvm::StringRef opName) const;
};

/// The operators of a block that have their own form in a file, by their roots.
/// Each op is in at most one of them.
struct Operators {
  llvm::DenseMap<mlir::Operation *, Operator> byRoot;
  /// Ops inside of operators, except for the roots.
  llvm::DenseSet<mlir::Operation *> interior;
};
mlir::FailureOr<Operators> findOperators(mlir::Block &block);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXOPERATORS_H
