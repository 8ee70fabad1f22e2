// SPDX-License-Identifier: Apache-2.0
//
// The target's requirements for each operator of a function: its
// configurations, the operators that are fused, and the tensors that are
// quantized.
#ifndef MCT_PLANNING_QUANTIZATIONPLAN_H
#define MCT_PLANNING_QUANTIZATIONPLAN_H

#include "mct/Planning/Masks.h"
#include "mct/Planning/Overrides.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"
#include <vector>

namespace mct {

/// An alternative that an operator cannot take here.
struct DroppedCandidate {
  tpc::OpQuantConfigAttr config;
  /// Nodes that cannot read a result of that width; empty if the reason is an
  /// override or an equal alternative.
  llvm::SmallVector<size_t> consumers;
  /// Location of the override, if that is the reason.
  std::optional<mlir::FileLineColLoc> rule;
};

/// A constant operand of a node that the target describes.
struct PlannedWeight {
  mlir::OpOperand *operand = nullptr;
  /// The target's name for it: `kernel_attr`, `pos_attr`, …
  mlir::StringAttr genericName;
  /// The same name, with a number if the node has several of that name.
  mlir::StringAttr name;
  tpc::AttrQuantConfigAttr config;
  /// Axes of its channels; null for one parameter per tensor.
  mlir::DenseI64ArrayAttr axes;
  /// Reason why it stays float; empty if it gets a point.
  std::string floatReason;
  /// True if it stays float although the target quantizes it and no override
  /// requested float.
  bool isMissed = false;
};

/// Returns the axes along which a weight has its own parameters under `config`;
/// null for none. `info` describes the op that reads the weight, or is null;
/// `operand` is its use; `result` is that of the operator.
mlir::DenseI64ArrayAttr getChannelAxes(tpc::OpInfoAttr info,
                                       mlir::OpOperand &operand,
                                       llvm::StringRef genericName,
                                       mlir::Value result,
                                       tpc::AttrQuantConfigAttr config);

/// Returns the name of a node's result. Requires names of values
/// (`assignNames`).
mlir::StringAttr getNodeName(const tpc::Node &node);

/// Returns the f32 values that the node reads, each once, without constants.
llvm::SmallVector<mlir::Value> getFloatInputs(const tpc::Node &node);

/// Returns whether two alternatives quantize a result in the same way.
bool haveEqualActivation(tpc::OpQuantConfigAttr lhs,
                         tpc::OpQuantConfigAttr rhs);

/// Ways in which the result of a node is covered.
enum class ResultCover {
  /// Covered by a quantizer of its own.
  Point,
  /// Not covered: the value never leaves a fused chain.
  Fused,
  /// Covered by the quantizer of the value that it is moved or selected from.
  Preserved,
  /// Not covered: it stays float.
  None
};

/// An operator of the target, with its possible configurations here.
struct PlannedNode {
  tpc::Node node;
  /// Name of the node and of its points.
  mlir::StringAttr name;
  /// Remaining alternatives, which quantize in different ways, by descending
  /// width of the kernel, then of the result; never empty.
  llvm::SmallVector<tpc::OpQuantConfigAttr> candidates;
  llvm::SmallVector<DroppedCandidate> dropped;
  /// The alternative that single-precision compilation takes.
  tpc::OpQuantConfigAttr base;
  /// Index into `QuantizationPlan::groups`, or none.
  std::optional<size_t> group;
  /// Node that a longer chain from here would need, but that belongs to another
  /// chain.
  std::optional<size_t> contested;

  ResultCover cover = ResultCover::None;
  /// Config of the quantizer of a point.
  tpc::OpQuantConfigAttr activation;
  /// True if `activation` is that of the base, not that of a fusing pattern.
  bool hasOwnActivation = false;
  /// Name of the point that covers a preserved result.
  mlir::StringAttr coveredBy;
  /// Reason why a result without any cover stays float.
  std::string floatReason;
  /// True if that is what an override requests.
  bool isFloatByRule = false;

  llvm::SmallVector<PlannedWeight> weights;
};

/// A chain of nodes that runs as one.
struct FusedGroup {
  /// Indices into `QuantizationPlan::nodes`, in order.
  llvm::SmallVector<size_t> nodes;
  tpc::FusingAttr pattern;
  /// The node whose result is quantized for the chain: the last one that is not
  /// preserving.
  size_t end;
};

/// An argument of the function.
struct PlannedInput {
  mlir::BlockArgument argument;
  mlir::StringAttr name;
  tpc::OpQuantConfigAttr config;
  /// Reason why it stays float; empty if it gets a point.
  std::string floatReason;
};

/// Alternatives that the result (without a name) and the weights (by name) of
/// each operator took.
using TakenAlternatives = llvm::StringMap<
    llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Attribute>>>;

/// Erases the points of a function and names its values, so that it can be
/// planned again. Returns the alternatives that the points had taken.
TakenAlternatives takeOutPoints(mlir::func::FuncOp function);

/// The nodes of one function and the chains of them that run as one.
///
/// Fusing: from each node, in program order, the longest chain that some
/// pattern matches and whose inner results have one user and do not leave the
/// function; shorter ones are tried if a longer one fails. A node belongs to at
/// most one chain. An inner result gets a quantizer only if the pattern has a
/// config for it. No chain goes from a last layer into ops that decode its
/// result in float (`OverrideRule::Selector::Decoding`).
///
/// Configurations: those whose width every user accepts, looking through
/// preserving ones; then those that the overrides allow. If that excludes the
/// base: the widest one that remains, the first of equals (MCT takes the last,
/// and thus its narrowest weights); after an override, the one that differs
/// least from the base.
///
/// Preserving: if such a node only moves the values of one float input, and
/// adds no number except 0, the quantizer that covers the input covers the
/// result too. Means and interpolated values get a point with the parameters of
/// that quantizer, because they are not values of their input. In every other
/// case, as for the larger of two values, or of a value and a constant, the
/// result has numbers that are on no grid, and a point of its own. It stays
/// float if its only float input does.
///
/// Masks (`findMasks`) stay float, with the constants and run-time values that
/// they are computed from.
///
/// Weights: those that the binding or the framework names, and, as `pos_attr`,
/// every other constant among the data of an op that has several data operands
/// (OpInterfaces.h) and computes floats element by element or moves them.
///
/// Takes time linear in the number of ops.
///
/// Source: MCT `FusingInfoGenerator`, `filter_qc_options_by_next_nodes`,
/// `filter_nodes_candidates`.
class QuantizationPlan {
public:
  /// Plans a function whose values have names (`assignNames`). Fails, with a
  /// diagnostic, if the function has control flow or already has points, if an
  /// operator matches contradicting sets, if no alternative fits its users, or
  /// if an override requests something that the target does not offer. Counts
  /// in `overrides` the matches of each rule. `kernels` are those of the module
  /// of the function. `taken` holds the alternatives that become the bases of
  /// operators.
  static mlir::FailureOr<QuantizationPlan>
  create(tpc::TpcLookup &lookup, mlir::func::FuncOp function,
         const KernelOps &kernels, Overrides &overrides,
         const TakenAlternatives &taken = {});

  /// Nodes in program order of their roots.
  std::vector<PlannedNode> nodes;
  llvm::SmallVector<FusedGroup> groups;
  llvm::SmallVector<PlannedInput> inputs;
  /// True if preserved results get points, too, with the parameters of those
  /// that cover them.
  bool repeatsPreserved = false;
  /// Returns whether the preserved result of a node gets a point: if all do, or
  /// if it is a mean, which has to be rounded to the grid that covers it.
  bool hasRepeatedPoint(const PlannedNode &planned) const;
  /// Values that stay float because they are part of a mask.
  llvm::DenseMap<mlir::Value, Mask> masks;

  /// Returns the value because of which no point covers `value`, looking
  /// through preserving operators, and the reason why it stays float; empty if
  /// a point covers it.
  std::pair<mlir::Value, llvm::StringRef>
  findFloatSource(mlir::Value value) const;

  /// Returns the node that an op belongs to, or none.
  std::optional<size_t> findNode(mlir::Operation *op) const;
  /// Names of the chain's nodes.
  llvm::SmallVector<mlir::StringAttr> getNames(const FusedGroup &group) const;

private:
  void fuse(tpc::PlatformOp platform, const Overrides &overrides);
  void planInputs(tpc::PlatformOp platform, mlir::Block &block);
  mlir::LogicalResult filterCandidates();
  mlir::LogicalResult planNode(const tpc::TpcLookup &lookup, size_t index,
                               Overrides &overrides);
  void takeBases(const tpc::TpcLookup &lookup, const TakenAlternatives &taken);
  void takeBase(const tpc::TpcLookup &lookup, PlannedNode &planned,
                tpc::OpQuantConfigAttr base);
  void coverResult(PlannedNode &planned, size_t index);
  void coverPreserved(PlannedNode &planned);
  mlir::LogicalResult overrideInputs(Overrides &overrides);
  Wishes getWishes(const PlannedNode &planned, Overrides &overrides) const;
  mlir::LogicalResult overrideActivation(PlannedNode &planned, Wishes &wishes);
  mlir::LogicalResult overrideWeights(PlannedNode &planned, Wishes &wishes);
  mlir::LogicalResult overrideMethods(PlannedNode &planned,
                                      const Wishes &wishes);

  /// Returns the only node that reads the result of `index`, if there is
  /// exactly one and the result does not leave the function.
  std::optional<size_t> onlyConsumer(size_t index) const;
  /// Returns the nodes that read the result of `index`, looking through
  /// preserving ones.
  llvm::SmallVector<size_t> consumers(size_t index) const;

  llvm::DenseMap<mlir::Operation *, size_t> owner;
  /// Name of the point that covers a value.
  llvm::DenseMap<mlir::Value, mlir::StringAttr> coveringPoints;
};

} // namespace mct

#endif // MCT_PLANNING_QUANTIZATIONPLAN_H
