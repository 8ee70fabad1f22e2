// SPDX-License-Identifier: Apache-2.0
//
// Demands of the target on each operator of a function: its configurations,
// what is fused with what, and which tensors are quantized.
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

/// An alternative of an operator that it cannot take here.
struct DroppedCandidate {
  tpc::OpQuantConfigAttr config;
  /// Nodes that cannot read a result that wide; empty when an override, or an
  /// equal alternative, is the reason.
  llvm::SmallVector<size_t> readers;
  /// The override, or null.
  std::optional<mlir::FileLineColLoc> rule;
};

/// One constant operand of a node that the target speaks of.
struct PlannedWeight {
  mlir::OpOperand *operand = nullptr;
  /// The target's name of it: `kernel_attr`, `pos_attr`, …
  mlir::StringAttr genericName;
  /// The same, with a number where the node has several of that name.
  mlir::StringAttr name;
  tpc::AttrQuantConfigAttr config;
  /// Axes of its channels; null for one parameter per tensor.
  mlir::DenseI64ArrayAttr axes;
  /// Why it stays float; empty when it gets a point.
  std::string whyFloat;
  /// It stays float although the target quantizes it, and no override asked for
  /// that.
  bool isMissed = false;
};

/// Returns the axes along which a weight has its own parameters under `config`,
/// null for none. `info`: of the op that reads it, or null; `operand`: where it
/// is read; `result`: of the operator.
mlir::DenseI64ArrayAttr getChannelAxes(tpc::OpInfoAttr info,
                                       mlir::OpOperand &operand,
                                       llvm::StringRef genericName,
                                       mlir::Value result,
                                       tpc::AttrQuantConfigAttr config);

/// Returns the name under which a node's result is known, once values have
/// names
/// (`assignNames`).
mlir::StringAttr getNodeName(const tpc::Node &node);

/// Returns the values of f32 that the node reads, each once, constants apart.
llvm::SmallVector<mlir::Value> getFloatInputs(const tpc::Node &node);

/// Returns whether two alternatives quantize a result in the same way.
bool haveEqualActivation(tpc::OpQuantConfigAttr lhs,
                         tpc::OpQuantConfigAttr rhs);

/// The ways in which the result of a node is covered.
enum class ResultCover {
  /// A quantizer of its own.
  Point,
  /// Nothing: the value never leaves a fused chain.
  Fused,
  /// The quantizer of the value that it is moved or selected from.
  Preserved,
  /// Nothing: it stays float.
  None
};

/// One operator of the target, with what it may do here.
struct PlannedNode {
  tpc::Node node;
  /// Name of the node and of its points.
  mlir::StringAttr name;
  /// Alternatives that remain, distinct in what they quantize, by descending
  /// width of the kernel, then of the result; never empty.
  llvm::SmallVector<tpc::OpQuantConfigAttr> candidates;
  llvm::SmallVector<DroppedCandidate> dropped;
  /// The one that single-precision compilation takes.
  tpc::OpQuantConfigAttr base;
  /// Index into `QuantizationPlan::groups`, or none.
  std::optional<size_t> group;
  /// Node that a longer chain from here would need, but another chain has.
  std::optional<size_t> contested;

  ResultCover cover = ResultCover::None;
  /// Quantizer of a point.
  tpc::OpQuantConfigAttr activation;
  /// It is that of the base, not that of a fusing pattern.
  bool hasOwnActivation = false;
  /// Name of the point that covers a preserved result.
  mlir::StringAttr coveredBy;
  /// Why a result without any cover stays float.
  std::string whyFloat;

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
  /// Why it stays float; empty when it gets a point.
  std::string whyFloat;
};

/// Alternatives that the result (no name) and the weights, by their names, of
/// each operator took.
using TakenAlternatives = llvm::StringMap<
    llvm::SmallVector<std::pair<mlir::StringAttr, mlir::Attribute>>>;

/// Erases the points of a function and gives names to its values, so that it
/// can be planned anew. Returns what the points had taken.
TakenAlternatives takeOutPoints(mlir::func::FuncOp function);

/// The nodes of one function and the chains of them that run as one.
///
/// Fusing: from each node, in program order, the longest chain that some
/// pattern matches and whose inner results have one consumer and do not leave
/// the function; shorter ones are tried when a longer one fails. A node belongs
/// to one chain at most. An inner result gets a quantizer only where the
/// pattern has a config for it. No chain goes from a last layer into what
/// decodes its result in float (`OverrideRule::Selector::Decoding`).
///
/// Configurations: those whose width every consumer accepts, looking through
/// preserving ones; then those that the overrides leave. Where that excludes
/// the base: the widest that remains, the first of equals (MCT takes the last,
/// and so lands on its narrowest weights); after an override the one that
/// differs least from the base.
///
/// Preserving: such a node needs one float input that is itself covered by a
/// quantizer, which then covers the result too. Means get a point with the
/// parameters of that, because they are no values of their input.
///
/// Masks (`findMasks`) stay float, with the constants that they are made of and
/// what they are computed from at run time.
///
/// Weights: those that the binding or the framework names, and as `pos_attr`
/// every other constant among the data of an op that computes floats element by
/// element or moves them, and has several data operands (OpInterfaces.h).
///
/// Takes time linear in the number of ops.
///
/// Source: MCT `FusingInfoGenerator`, `filter_qc_options_by_next_nodes`,
/// `filter_nodes_candidates`.
class QuantizationPlan {
public:
  /// Plans a function whose values have names (`assignNames`). Fails, with a
  /// diagnostic, when the function has control flow or points already, an
  /// operator matches contradicting sets, nothing fits its consumers, or an
  /// override asks for what the target does not offer. Counts in `overrides`
  /// what each rule matched. `kernels`: of its module. `taken`: the
  /// alternatives that become the bases of operators.
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
  /// Returns whether that result of a node gets a point: where all do, and
  /// where it is a mean, which has to be rounded to the grid that it stays on.
  bool hasRepeatedPoint(const PlannedNode &planned) const;
  /// Values that stay float because they are part of a mask.
  llvm::DenseMap<mlir::Value, Mask> masks;

  /// Returns the node that an op belongs to, or none.
  std::optional<size_t> nodeOf(mlir::Operation *op) const;
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

  /// Returns the node that alone reads the result of `index`, when there is one
  /// and the result stays inside.
  std::optional<size_t> onlyConsumer(size_t index) const;
  /// Returns the nodes that read the result of `index`, looking through
  /// preserving ones.
  llvm::SmallVector<size_t> consumers(size_t index) const;

  llvm::DenseMap<mlir::Operation *, size_t> owner;
  /// Name of the point that covers a value.
  llvm::DenseMap<mlir::Value, mlir::StringAttr> coverOf;
};

} // namespace mct

#endif // MCT_PLANNING_QUANTIZATIONPLAN_H
