// SPDX-License-Identifier: Apache-2.0
//
// Groups channels of a network's results by meaning: boxes beside scores.
#ifndef MCT_PLANNING_RESULTGROUPS_H
#define MCT_PLANNING_RESULTGROUPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <string>
#include <vector>

namespace mct {

/// Grouped channels of a result, which are the positions along one of its axes.
struct ResultGroups {
  /// Axis of the channels.
  int64_t axis = 0;
  /// Index of the group of each channel; empty if the result is one group.
  std::vector<int64_t> groupByChannel;
  /// Name of each group: that of the values that its channels come from.
  std::vector<std::string> names;
  /// True for each group whose values are results of sigmoids: probabilities,
  /// of classes for example.
  std::vector<char> areProbabilities;
};

/// Returns the groups of each result of the function. Channels are in one group
/// if their elements come, through ops that only move them, from the same
/// operands of concatenations. If several axes distinguish such groups, as the
/// sizes of a detector's feature maps do along the axis of its anchors, the
/// shortest axis is that of the channels. Without such a concatenation, `axis`
/// is the position of the last axis of the op that produces the values, or else
/// the last one.
///
/// The first axis of a result is the batch. Requires names of values
/// (`assignNames`).
std::vector<ResultGroups> findResultGroups(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_PLANNING_RESULTGROUPS_H
