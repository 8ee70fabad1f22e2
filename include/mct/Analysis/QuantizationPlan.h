// SPDX-License-Identifier: Apache-2.0
//
// What the target asks of each operator of a block: its configurations, and
// what is fused with what.
#ifndef MCT_ANALYSIS_QUANTIZATIONPLAN_H
#define MCT_ANALYSIS_QUANTIZATIONPLAN_H

#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {

/// One operator of the target, with what it may do here.
struct PlannedNode {
  tpc::Node node;
  /// Alternatives that every consumer can read, in the target's order; never
  /// empty.
  llvm::SmallVector<tpc::OpQuantConfigAttr> candidates;
  /// The one that single-precision compilation takes.
  tpc::OpQuantConfigAttr base;
  /// Index into `QuantizationPlan::groups`, or none.
  std::optional<size_t> group;
};

/// The nodes of one block and the chains of them that run as one.
///
/// Fusing: from each node, in program order, the longest chain that some
/// pattern matches and whose inner results have one consumer and do not leave
/// the function; shorter ones are tried when a longer one fails. A node belongs
/// to one chain at most. Configurations: those whose width every consumer
/// accepts; where that excludes the base, the widest that remains, the first of
/// equals (MCT takes the last, and so lands on its narrowest weights).
///
/// Source: MCT `FusingInfoGenerator`, `filter_qc_options_by_next_nodes`;
/// spec/pipeline.md 4.2 and 5.3.
class QuantizationPlan {
public:
  /// Fails, with a diagnostic, when an operator matches contradicting sets or
  /// nothing fits its consumers.
  static mlir::FailureOr<QuantizationPlan> create(tpc::TpcLookup &lookup,
                                                  mlir::Block &block);

  /// In program order of their roots.
  llvm::SmallVector<PlannedNode> nodes;
  /// Indices into `nodes`, each chain in order.
  llvm::SmallVector<llvm::SmallVector<size_t>> groups;

  /// Node that an op belongs to, or none.
  std::optional<size_t> nodeOf(mlir::Operation *op) const;

private:
  void fuse(tpc::PlatformOp platform);
  mlir::LogicalResult filterCandidates();
  /// The node that alone reads the result of `index`, when there is one and the
  /// result stays inside.
  std::optional<size_t> onlyConsumer(size_t index) const;
  /// Nodes that read the result of `index`, looking through preserving ones.
  llvm::SmallVector<size_t> consumers(size_t index) const;

  llvm::DenseMap<mlir::Operation *, size_t> owner;
};

} // namespace mct

#endif // MCT_ANALYSIS_QUANTIZATIONPLAN_H
