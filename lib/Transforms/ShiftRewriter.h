// SPDX-License-Identifier: Apache-2.0
//
// Adds a number behind a non-linearity, and takes it out of the biases of the
// layers that it reaches.
#ifndef MCT_LIB_TRANSFORMS_SHIFTREWRITER_H
#define MCT_LIB_TRANSFORMS_SHIFTREWRITER_H

#include "ShiftReach.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mct {

/// Keeps the names of one function, and who is fused with whom.
class ShiftRewriter {
public:
  /// `biasCorrectionFollows`: the bias makes up for the shift as the float
  /// kernel sees it, not as the quantized one does.
  ShiftRewriter(mlir::func::FuncOp function, bool biasCorrectionFollows);

  /// Returns whether `apply` can add behind the op that makes the value.
  static bool canAdd(mlir::Value value);

  /// Adds `shift` to the result of a node, which `point` quantizes. Parameters
  /// and statistics stay as they are.
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
  /// Point whose fused group has the op of a name.
  llvm::StringMap<tpc::QuantizeOp> pointOfMember;
  /// New names of values that are shifted.
  llvm::StringMap<mlir::StringAttr> shiftedNames;
  llvm::StringSet<> namesOfShifted;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SHIFTREWRITER_H
