// SPDX-License-Identifier: Apache-2.0
//
// Adds a number to the result of a non-linearity, and subtracts its
// contribution from the biases of the layers that it reaches.
#ifndef MCT_LIB_TRANSFORMS_SHIFTREWRITER_H
#define MCT_LIB_TRANSFORMS_SHIFTREWRITER_H

#include "ShiftReach.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mct {

/// Keeps track of the names in a function and of its fused groups.
class ShiftRewriter {
public:
  /// `biasCorrectionFollows`: the biases compensate for the shift with the
  /// float kernels rather than the quantized ones.
  ShiftRewriter(mlir::func::FuncOp function, bool biasCorrectionFollows);

  /// Returns whether `apply` supports the op that defines the value.
  static bool canAdd(mlir::Value value);

  /// Adds `shift` to the result of a node, which `point` quantizes. Parameters
  /// and statistics are not changed.
  void apply(const tpc::Node &node, tpc::QuantizeOp point, double shift,
             const ShiftReach &reach);

private:
  void pad(const KernelOp &kernel, double value);
  void compensate(const KernelOp &kernel, double offset);

  mlir::StringAttr makeName(const llvm::Twine &wanted);
  void rename(mlir::Operation *op);
  void replaceInGroup(llvm::StringRef member,
                      llvm::ArrayRef<llvm::StringRef> replacement);

  mlir::OpBuilder builder;
  bool biasCorrectionFollows;
  llvm::StringSet<> names;
  /// Point whose fused group contains the op of a name.
  llvm::StringMap<tpc::QuantizeOp> pointOfMember;
  /// New names of shifted values, by their old names.
  llvm::StringMap<mlir::StringAttr> shiftedNames;
  llvm::StringSet<> namesOfShifted;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SHIFTREWRITER_H
