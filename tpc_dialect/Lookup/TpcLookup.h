// SPDX-License-Identifier: Apache-2.0
//
// Determines the options of each op, and the reasons for them. All other code
// queries this class.
#ifndef TPC_DIALECT_LOOKUP_TPCLOOKUP_H
#define TPC_DIALECT_LOOKUP_TPCLOOKUP_H

#include "mlir/IR/BuiltinOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include <memory>
#include <optional>
#include <utility>

namespace mct::tpc {

struct CompiledSubgraph;

/// Generic weight names that every stock target uses for kernel and bias.
inline constexpr llvm::StringLiteral kKernelWeight = "kernel_attr";
inline constexpr llvm::StringLiteral kBiasWeight = "bias_attr";

/// Generic name of a constant operand that neither binding nor framework names.
inline constexpr llvm::StringLiteral kPositionalWeight = "pos_attr";

/// Prefix of the name of a subgraph's description in tpc.framework:
/// "subgraph:softmax".
inline constexpr llvm::StringLiteral kSubgraphPrefix = "subgraph:";

/// An operator as the target describes it: a single op, or the ops that a named
/// subgraph combines.
struct Node {
  /// Ops in program order. The last is the root; its first result is the node's
  /// result. Constants and quantization points that are operands of the ops are
  /// not included.
  llvm::SmallVector<mlir::Operation *> ops;
  /// The op whose operand numbers `weights` refers to, and whose name
  /// `TpcLookup::getOpInfo` takes for kernel axes. The root of a single-op
  /// node.
  mlir::Operation *kernelOp = nullptr;
  /// Name of the operator set; null if no set matched, and the platform's
  /// default applies.
  mlir::StringAttr operatorSet;
  /// The #tpc.op or #tpc.subgraph that matched; null for an op that no pattern
  /// names, and for one whose tag names its set.
  mlir::Attribute pattern;
  /// Options of the operator set, or else the platform's default.
  QCOptionsAttr options;
  /// Map from generic weight names to operand numbers of `kernelOp`: that of
  /// the binding, or else kernel and bias of the framework's description of
  /// `kernelOp`. Null if there is neither.
  mlir::DictionaryAttr weights;
  /// Description of the op, or of "subgraph:NAME". May be null.
  OpInfoAttr info;
  /// Bounds that the result can never exceed, as far as they are known.
  std::pair<std::optional<double>, std::optional<double>> range;

  mlir::Operation *root() const { return ops.back(); }
  mlir::Value result() const { return root()->getResult(0); }
};

/// Returns whether an `#tpc.op` or `#tpc.subgraph` describes the operator, as
/// in a binding: an op within a subgraph, and one with a tag, is not an op of
/// its own.
bool matches(mlir::Attribute pattern, const Node &node);

/// A module's target, indexed for queries. Holds references into the module:
/// must be created again after the target changed.
class TpcLookup {
public:
  /// Returns the target, bindings and frameworks of the module whose attribute
  /// `tpc.target` names the platform. Reports an error with a remedy if there
  /// is none.
  static mlir::FailureOr<TpcLookup> create(mlir::ModuleOp module);

  PlatformOp platform() { return platformOp; }

  /// Returns the nodes of a block in program order of their roots. Every op
  /// that has a tensor result, other than constants and quantization points,
  /// belongs to exactly one node. An op with a tag (`TpcDialect::kSetAttrName`)
  /// is a node of the set that it names. Of the others, subgraphs are matched
  /// first (largest first; no inner value is used elsewhere), then patterns
  /// with a filter, then plain ones. Errors: an op claimed by two operator sets
  /// whose options differ (U1); a tag that names a set which the platform does
  /// not define. Takes time linear in the number of ops: `numVisited`.
  mlir::FailureOr<llvm::SmallVector<Node>> match(mlir::Block &block);

  /// Returns how often `match` compared an op with a line of a subgraph or
  /// evaluated it to find a formula: a measure of its cost that does not depend
  /// on the machine.
  uint64_t numVisited() const { return visited; }

  /// Returns the description of an op (or of "subgraph:NAME") in the module's
  /// tpc.framework; null if there is none.
  OpInfoAttr getOpInfo(llvm::StringRef opName) const {
    return infos.lookup(opName);
  }

  /// A pattern of a binding, with its operator set.
  struct Claim {
    mlir::Attribute pattern;
    OpsOfAttr entry;
    QCOptionsAttr options;
    BindingOp binding;
  };

private:
  /// The claims for one op name.
  struct Claims {
    llvm::SmallVector<Claim, 1> filtered, plain;
  };

  /// Completes the node of an op whose tag names its operator set.
  mlir::LogicalResult fillTagged(Node &node, mlir::StringAttr tag);

  /// Completes a node whose ops are known. `what` is the name of the op or
  /// "subgraph:NAME".
  mlir::LogicalResult fill(Node &node, llvm::StringRef what,
                           llvm::ArrayRef<const Claim *> claims);

  PlatformOp platformOp;
  uint64_t visited = 0;
  llvm::StringMap<OpInfoAttr> infos;
  llvm::StringMap<Claims> claimsByOp;
  llvm::StringMap<llvm::SmallVector<Claim, 1>> claimsBySubgraph;
  /// Names of the subgraphs whose ops are matched one by one.
  llvm::StringSet<> subgraphsOneByOne;
  llvm::StringMap<llvm::SmallVector<std::shared_ptr<const CompiledSubgraph>, 1>>
      subgraphsByRoot;
};

/// Returns the op that defines a constant, looking through weight points; null
/// if the value is not a constant.
mlir::Operation *getConstantOp(mlir::Value value);

/// Returns the elements of a constant, looking through weight points; null if
/// the value is not a constant.
mlir::ElementsAttr getConstant(mlir::Value value);

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_TPCLOOKUP_H
