// SPDX-License-Identifier: Apache-2.0
//
// Decisions of the user that go before those of the target, from a text file.
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
  /// The name that the pattern is compared with; `Decoding` selects the
  /// operators of a decoding part (`findDecoding`), `All` all that have a name.
  enum class Selector { Name, Op, Set, Pattern, Decoding, All };

  /// The use of the width that a rule for all operators asks for.
  struct WidthUse {
    /// Number of tensors that have it.
    size_t numTaken = 0;
    /// Widths that the other tensors may have instead.
    llvm::SmallSetVector<int64_t, 4> offered;
  };

  Selector selector;
  /// Pattern that a name, op or set has to match.
  llvm::GlobPattern pattern;
  /// Elements `#tpc.op` and `#tpc.subgraph`, for `Selector::Pattern`.
  mlir::ArrayAttr patterns;
  /// Width of the result in bits; 0: float.
  std::optional<int64_t> activationBits;
  /// Width of every quantized weight, in bits; 0: float.
  std::optional<int64_t> weightBits;
  /// Width by generic weight name, in bits; 0: float.
  llvm::StringMap<int64_t> namedWeightBits;
  /// Method of the result, of every quantized weight, and by generic weight
  /// name.
  std::optional<tpc::QuantizationMethod> activationMethod, weightMethod;
  llvm::StringMap<tpc::QuantizationMethod> namedWeightMethods;
  /// File and line of the rule.
  mlir::FileLineColLoc loc;
  /// The line, without what is around it.
  std::string text;
  /// True if the rule may have nothing to act on.
  bool isOptional = false;
  /// Operators that the pattern selects, and those for which it says anything.
  size_t numSelected = 0, numAffected = 0;
  /// Use of the widths of results and of weights, where the selector is `All`.
  WidthUse activationUse, weightUse;

  /// Returns whether the rule asks for tensors in float and for no width or
  /// method.
  bool asksForFloatAlone() const;
  /// Returns whether the rule leaves tensors alone that cannot have the width.
  bool appliesWhereOffered() const { return selector == Selector::All; }
  /// Returns the use of the widths of weights or of results.
  WidthUse &getUse(bool isWeight) {
    return isWeight ? weightUse : activationUse;
  }
};

/// Wishes of rules for one operator: bits, or 0 for float, or methods, and the
/// rule that says so.
struct Wishes {
  using Wish = std::optional<std::pair<int64_t, OverrideRule *>>;
  using MethodWish =
      std::optional<std::pair<tpc::QuantizationMethod, OverrideRule *>>;
  Wish activation, weights;
  llvm::StringMap<Wish> namedWeights;
  MethodWish activationMethod, weightMethod;
  llvm::StringMap<MethodWish> namedWeightMethods;

  /// Returns what is asked for of the weight with that generic name.
  Wish ofWeight(llvm::StringRef name) const {
    auto named = namedWeights.find(name);
    return named == namedWeights.end() ? weights : named->second;
  }
  MethodWish methodOfWeight(llvm::StringRef name) const {
    auto named = namedWeightMethods.find(name);
    return named == namedWeightMethods.end() ? weightMethod : named->second;
  }
};

/// The rules of a file, in order: of two that speak of one tensor the later
/// wins. One rule a line, `#` starts a comment:
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
/// whatever sets the target has: an op that is a part of a subgraph is none of
/// its own. `decoding` selects the operators behind the last layers of a
/// detector, which decode the places of objects. `all` selects every operator
/// and input, and changes those tensors for which the target offers the width.
/// `float` is short for `activation=float weights=float`. `activation-method`
/// and `weights-method` ask for a method that the target offers, or for a
/// special case of one (`isMethodWithin`). A rule that may have nothing to act
/// on begins with `?`.
///
/// Source: MCT `BitWidthConfig`.
struct Overrides {
  std::vector<OverrideRule> rules;

  /// Reads a file; no rules for an empty path. `loc`: where a diagnostic about
  /// the file as a whole belongs.
  static mlir::FailureOr<Overrides> read(llvm::StringRef path,
                                         mlir::Location loc);
  /// Reads a rule and puts it behind the others. `origin`: what diagnostics
  /// name in place of a file, for example an option.
  mlir::LogicalResult add(llvm::StringRef rule, llvm::StringRef origin,
                          mlir::MLIRContext *context);

  /// Puts the rule `?decoding float` in front of the others.
  void addDecodingFloat(mlir::MLIRContext *context);
  /// Returns whether a rule leaves results of the decoding part float.
  bool leavesDecodingFloat() const;

  /// Returns the rules that the points of a function were inserted by, as
  /// `setOn` left them; a diagnostic where one cannot be read.
  static mlir::FailureOr<Overrides> getFrom(mlir::func::FuncOp function);
  /// Finds the operators that rules with `Selector::Decoding` select in a
  /// block; before `getWishes`. `kernels`: of its module.
  void findDecoding(mlir::Block &block, const KernelOps &kernels);
  /// Returns whether `leavesDecodingFloat` is about an op.
  bool keepsFloatAsDecoding(mlir::Operation *op) const;
  /// Returns whether all users of a value are such operators, and there are
  /// any.
  bool isReadByDecodingAlone(mlir::Value value) const;

  /// Writes them on the function, for whoever asks later; nothing where there
  /// are none.
  void setOn(mlir::func::FuncOp function) const;
  /// Puts rules behind those that a function has.
  static void append(mlir::func::FuncOp function,
                     llvm::ArrayRef<std::string> rules);

  /// Returns the wishes for an operator; counts for `checkUsed`. `hasResult`:
  /// its result has a point. `hasWeight`: it has a quantized weight with that
  /// generic name, or any for the empty name.
  Wishes getWishes(mlir::StringAttr name, const tpc::Node &node, bool hasResult,
                   llvm::function_ref<bool(llvm::StringRef)> hasWeight);

  /// Fails for every rule that selected nothing, or nothing that it speaks of,
  /// unless it says that it may, and for every rule for all operators whose
  /// width none of the tensors may have.
  mlir::LogicalResult checkUsed() const;

private:
  bool selects(const OverrideRule &rule, mlir::StringAttr name,
               const tpc::Node &node) const;

  llvm::DenseSet<mlir::Operation *> decoding;
};

/// Returns how a rule selects the operators of exactly this name: `name
/// "conv\[1\]"`.
std::string selectByName(llvm::StringRef name);

/// Returns whether every grid of `method` is one of `offered`, too: thresholds
/// that are powers of two are thresholds, and a symmetric grid is one with a
/// zero point.
bool isMethodWithin(tpc::QuantizationMethod method,
                    tpc::QuantizationMethod offered);

/// Returns "8, 4 and 2", each width once.
std::string listWidths(llvm::ArrayRef<int64_t> widths);

} // namespace mct

#endif // MCT_PLANNING_OVERRIDES_H
