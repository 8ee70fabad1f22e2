// SPDX-License-Identifier: Apache-2.0
//
// Adds a number after a non-linearity, and subtracts its effect from the biases
// of the layers that it reaches.
#ifndef MCT_LIB_TRANSFORMS_SHIFTREWRITER_H
#define MCT_LIB_TRANSFORMS_SHIFTREWRITER_H

#include "ShiftReach.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace mct {

/// Records the names of one function, and its fused groups.
class ShiftRewriter {
public:
  /// Biases compensate a shift by the quantized kernel, or, with
  /// `biasCorrectionFollows`, by the float kernel.
  ShiftRewriter(mlir::func::FuncOp function, bool biasCorrectionFollows);

  /// Returns whether `apply` can insert an addition after the op that defines
  /// the value.
  static bool canAdd(mlir::Value value);

  /// Adds `shift` to the result of a node, which `point` quantizes. Parameters
  /// and statistics stay.
  void apply(const tpc::Node &node, tpc::QuantizeOp point, double shift,
             const ShiftReach &reach);

private:
  void pad(const KernelOp &kernel, double value);
  void compensate(const KernelOp &kernel, double offset);

  mlir::StringAttr makeName(const llvm::Twine &base);
  void rename(mlir::Operation *op);
  void replaceInGroup(llvm::StringRef member,
                      llvm::ArrayRef<llvm::StringRef> replacement);

  mlir::OpBuilder builder;
  bool biasCorrectionFollows;
  llvm::StringSet<> names;
  /// Maps the name of an op to the point whose fused group includes the op.
  llvm::StringMap<tpc::QuantizeOp> pointOfMember;
  /// Maps the names of shifted values to their new names.
  llvm::StringMap<mlir::StringAttr> shiftedNames;
  llvm::StringSet<> namesOfShifted;
};

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_SHIFTREWRITER_H
