// SPDX-License-Identifier: Apache-2.0
//
// Channels of a network's results that mean the same: boxes beside scores.
#ifndef MCT_PLANNING_RESULTGROUPS_H
#define MCT_PLANNING_RESULTGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mct {

/// Channels of a result, the positions along one of its axes, in groups.
struct ResultGroups {
  /// Axis of the channels.
  int64_t axis = 0;
  /// Index of the group of each channel; empty where the result is one group.
  std::vector<int64_t> groupOf;
  /// Name of each group: that of the values that its channels come from.
  std::vector<std::string> names;
};

/// Returns the groups of each result of the function. Channels are in one group
/// when their elements come, through ops that only move them, from the same
/// operands of concatenations. Where several axes tell such groups apart, as
/// the sizes of a detector's feature maps do along the axis of its anchors, the
/// shortest is that of the channels. Without such a concatenation `axis` is
/// where the last axis of the op that makes the values comes to lie, else the
/// last one.
///
/// The first axis of a result is the batch. Values have names (`assignNames`).
std::vector<ResultGroups> findResultGroups(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_PLANNING_RESULTGROUPS_H
