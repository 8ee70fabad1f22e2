// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_PLANNING_OPERATORPOINTS_H
#define MCT_PLANNING_OPERATORPOINTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <vector>

namespace mct {

/// The points of one operator, which take an alternative together.
struct OperatorPoints {
  /// Name of the operator when the points were inserted.
  mlir::StringAttr name;
  /// Points in program order.
  llvm::SmallVector<tpc::QuantizeOp> points;

  /// Returns the number of alternatives, 1 if there is no choice.
  int64_t numAlternatives() const;
  /// Returns the index of the alternative that the operator takes.
  int64_t getChosen() const;
  /// Returns the config of a point in an alternative; its `config` if there is
  /// no choice.
  static mlir::Attribute getConfig(tpc::QuantizeOp point, int64_t index);
  /// Returns the point of the result, or null.
  tpc::QuantizeOp getResultPoint() const;
};

/// Returns every operator of the function that has points, in program order of
/// their first points. A point without alternatives belongs to the operator in
/// its name.
std::vector<OperatorPoints> findOperatorPoints(mlir::func::FuncOp function);

/// Returns the target's name for the weight of a point: `pos_attr` for
/// `pos_attr_1`.
llvm::StringRef getGenericWeightName(tpc::QuantizeOp point);

} // namespace mct

#endif // MCT_PLANNING_OPERATORPOINTS_H
