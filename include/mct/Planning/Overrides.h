// SPDX-License-Identifier: Apache-2.0
//
// Decisions of the user that take precedence over those of the target, read
// from a text file.
#ifndef MCT_PLANNING_OVERRIDES_H
#define MCT_PLANNING_OVERRIDES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Location.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/GlobPattern.h"
#include <optional>
#include <string>
#include <vector>

namespace mct::tpc {
struct Node;
} // namespace mct::tpc

namespace mct {
class KernelOps;

/// One line of an overrides file.
struct OverrideRule {
  /// Property that the pattern is matched with; `Decoding` selects the
  /// operators of a decoding part (`findDecoding`), `All` all that have a name.
  enum class Selector { Name, Op, Set, Pattern, Decoding, All };

  /// Use of the width that a rule for all operators requests.
  struct WidthUse {
    /// Number of tensors that take the width.
    size_t numTaken = 0;
    /// Widths that the other tensors may have instead.
    llvm::SmallSetVector<int64_t, 4> offered;
  };

  Selector selector;
  /// Pattern that a name, op or set has to match.
  llvm::GlobPattern pattern;
  /// Elements `#tpc.op` and `#tpc.subgraph`, for `Selector::Pattern`.
  mlir::ArrayAttr patterns;
  /// Width of the result in bits; 0 for float.
  std::optional<int64_t> activationBits;
  /// Width of every quantized weight, in bits; 0 for float.
  std::optional<int64_t> weightBits;
  /// Width by generic weight name, in bits; 0 for float.
  llvm::StringMap<int64_t> namedWeightBits;
  /// Method of the result, of every quantized weight, and by generic weight
  /// name.
  std::optional<tpc::QuantizationMethod> activationMethod, weightMethod;
  llvm::StringMap<tpc::QuantizationMethod> namedWeightMethods;
  /// File and line of the rule.
  mlir::FileLineColLoc loc;
  /// Text of the line, trimmed.
  std::string text;
  /// True if the rule may select nothing.
  bool isOptional = false;
  /// Number of operators that the pattern selects, and of those that the rule
  /// affects.
  size_t numSelected = 0, numAffected = 0;
  /// Use of the widths of results and of weights if the selector is `All`.
  WidthUse activationUse, weightUse;

  /// Returns whether the rule requests tensors in float and no width or method.
  bool asksForFloatAlone() const;
  /// Returns whether the rule ignores tensors that cannot have the width.
  bool appliesWhereOffered() const { return selector == Selector::All; }
  /// Returns the use of the widths of weights or of results.
  WidthUse &getUse(bool isWeight) {
    return isWeight ? weightUse : activationUse;
  }
};

/// Requests of rules for one operator: bits, or 0 for float, or methods, each
/// with its rule.
struct Wishes {
  using Wish = std::optional<std::pair<int64_t, OverrideRule *>>;
  using MethodWish =
      std::optional<std::pair<tpc::QuantizationMethod, OverrideRule *>>;
  Wish activation, weights;
  llvm::StringMap<Wish> namedWeights;
  MethodWish activationMethod, weightMethod;
  llvm::StringMap<MethodWish> namedWeightMethods;

  /// Returns the request for the weight with that generic name.
  Wish ofWeight(llvm::StringRef name) const {
    auto named = namedWeights.find(name);
    return named == namedWeights.end() ? weights : named->second;
  }
  MethodWish methodOfWeight(llvm::StringRef name) const {
    auto named = namedWeightMethods.find(name);
    return named == namedWeightMethods.end() ? weightMethod : named->second;
  }
};

/// The rules of a file, in order: of two that apply to one tensor, the later
/// wins. There is one rule per line, and `#` starts a comment:
///
///     name "conv*"    weights=4 activation=16
///     op   tosa.add   activation=float
///     set  Conv       weights.kernel_attr=4
///     name last_conv  float
///     ?name "head*"   weights=8
///     pattern [#tpc.op<"tosa.conv2d">, #tpc.subgraph<"softmax">] activation=8
///     decoding        float
///     all             weights=4
///     set  Conv       weights-method.kernel_attr=power_of_two
///
/// `name`, `op` and `set` select by point name, name of an op and operator set,
/// all of them as globs. `pattern` selects the operators that a binding would,
/// whatever sets the target has: an op that is part of a subgraph is not an
/// operator of its own. `decoding` selects the operators after the last layers
/// of a detector, which decode the positions of objects. `all` selects every
/// operator and input, and changes those tensors for which the target offers
/// the width. `float` is short for `activation=float weights=float`.
/// `activation-method` and `weights-method` request a method that the target
/// offers, or a special case of one (`isMethodWithin`). A rule that may select
/// nothing begins with `?`.
///
/// Source: MCT `BitWidthConfig`.
struct Overrides {
  std::vector<OverrideRule> rules;

  /// Reads a file; an empty path gives no rules. `loc` is the location of
  /// diagnostics about the file as a whole.
  static mlir::FailureOr<Overrides> read(llvm::StringRef path,
                                         mlir::Location loc);
  /// Parses a rule and appends it to the others. `origin` is what diagnostics
  /// name in place of a file, for example an option.
  mlir::LogicalResult add(llvm::StringRef rule, llvm::StringRef origin,
                          mlir::MLIRContext *context);

  /// Inserts the rule `?decoding float` before the others.
  void addDecodingFloat(mlir::MLIRContext *context);
  /// Returns whether a rule leaves results of the decoding part float.
  bool leavesDecodingFloat() const;

  /// Returns the rules with which the points of a function were inserted, as
  /// `setOn` stored them; emits a diagnostic if one cannot be parsed.
  static mlir::FailureOr<Overrides> getFrom(mlir::func::FuncOp function);
  /// Finds the operators that rules with `Selector::Decoding` select in a
  /// block. Must be called before `getWishes`. `kernels` are those of the
  /// module of the block.
  void findDecoding(mlir::Block &block, const KernelOps &kernels);
  /// Returns whether `leavesDecodingFloat` applies to an op.
  bool keepsFloatAsDecoding(mlir::Operation *op) const;
  /// Returns whether a value has users, and all of them are such operators.
  bool isReadByDecodingAlone(mlir::Value value) const;

  /// Stores the rules on the function for `getFrom`; does nothing if there are
  /// none.
  void setOn(mlir::func::FuncOp function) const;
  /// Appends rules to those that a function has.
  static void append(mlir::func::FuncOp function,
                     llvm::ArrayRef<std::string> rules);

  /// Returns the requests for an operator, and counts them for `checkUsed`.
  /// `hasResult`: its result has a point. `hasWeight`: it has a quantized
  /// weight with that generic name, or any for the empty name.
  Wishes getWishes(mlir::StringAttr name, const tpc::Node &node, bool hasResult,
                   llvm::function_ref<bool(llvm::StringRef)> hasWeight);

  /// Fails for every rule that selected nothing, or nothing that it could
  /// affect, unless it is optional, and for every rule for all operators whose
  /// width no tensor may have.
  mlir::LogicalResult checkUsed() const;

private:
  bool selects(const OverrideRule &rule, mlir::StringAttr name,
               const tpc::Node &node) const;

  llvm::DenseSet<mlir::Operation *> decoding;
};

/// Returns the selector of the operators of exactly this name: `name
/// "conv\[1\]"`.
std::string selectByName(llvm::StringRef name);

/// Returns whether every grid of `method` is also one of `offered`: thresholds
/// that are powers of two are thresholds, and a symmetric grid is one with a
/// zero point.
bool isMethodWithin(tpc::QuantizationMethod method,
                    tpc::QuantizationMethod offered);

/// Returns "8, 4 and 2", each width once.
std::string listWidths(llvm::ArrayRef<int64_t> widths);

} // namespace mct

#endif // MCT_PLANNING_OVERRIDES_H
