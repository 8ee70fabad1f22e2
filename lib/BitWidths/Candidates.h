// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_CANDIDATES_H
#define MCT_LIB_BITWIDTHS_CANDIDATES_H

#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <map>
#include <string>
#include <vector>

namespace mct::bit_widths {

/// The quantizer of a point in an alternative.
struct PointQuantizer {
  tpc::QuantizerAttrInterface quantizer;
  /// Channel axes of the quantizer.
  llvm::SmallVector<int64_t> axes;
  /// True if rounding the weights keeps the parameters.
  bool keepsThresholds = false;
};
/// Quantizers of points by their unique names.
using Quantizers = std::map<std::string, PointQuantizer>;

/// An operator with several alternatives, and the quantizers of its points in
/// each of them.
struct OperatorCandidates {
  std::string name;
  std::vector<Quantizers> alternatives;
};

/// Returns the operators of a function that have several alternatives, in
/// program order, with the parameters selected for each alternative. `select`
/// runs the passes that select missing parameters on a copy of the module;
/// `kernels` are its kernel ops.
mlir::FailureOr<std::vector<OperatorCandidates>> selectCandidates(
    mlir::func::FuncOp function, const KernelOps &kernels,
    llvm::function_ref<mlir::LogicalResult(mlir::ModuleOp)> select);

/// Fails with a diagnostic if a function cannot be run with its alternatives:
/// it has several blocks, calls functions, or has points without parameters.
mlir::LogicalResult checkMeasurable(mlir::func::FuncOp function);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_CANDIDATES_H
