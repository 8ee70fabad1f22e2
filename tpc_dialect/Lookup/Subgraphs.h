// SPDX-License-Identifier: Apache-2.0
//
// Operators that consist of several ops in the IR, such as softmax.
#ifndef TPC_DIALECT_LOOKUP_SUBGRAPHS_H
#define TPC_DIALECT_LOOKUP_SUBGRAPHS_H

#include "mlir/IR/Operation.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace mct::tpc {

/// One form of a named operator, as text: one op per line in program order, the
/// last being the root. A line without `=` continues the one before.
///
///     RESULT = OP OPERAND... [same ATTRIBUTE] [kernel] [optional] [where F]
///
/// An operand is the RESULT of an earlier line, `const` (any constant),
/// `per_channel` (a constant with exactly one axis longer than 1), `scalar` (a
/// constant whose elements are all equal), a number (that one), `LO..HI` (one
/// between these), or any other word: an input, the same value wherever the
/// word is repeated. `each RESULT`, at the end: every operand from there on is
/// the result of an op like the line of that name, which names no operands
/// itself. Operands that a line does not name may be anything. Commutative
/// operands match in either order. `same ATTRIBUTE`: equal on all lines with
/// this attribute. `kernel`: the op that `weights` of a binding refers to
/// (default: the root). `optional`: the line may be missing; its RESULT then is
/// its first operand. `where F`: a filter as in `#tpc.op`.
struct SubgraphForm {
  std::string name;
  std::string ops;
};

/// Returns a form for every way in which importers write an operator.
std::vector<SubgraphForm> listOurSubgraphs();
/// Returns our forms and those that were registered for the context, in order;
/// only ours if it is null.
std::vector<SubgraphForm> listSubgraphs(mlir::MLIRContext *context);

/// Prints our forms and the formulas as a table in Markdown, one row for each
/// name.
void printSubgraphs(llvm::raw_ostream &os);

/// Adds a form to a context, also one more for an existing name. Takes effect
/// for every TpcLookup created afterwards. Must not be called while passes run
/// in the context.
void registerSubgraph(mlir::MLIRContext *context, llvm::StringRef name,
                      llvm::StringRef ops);

/// A form without optional lines, ready to be matched.
struct CompiledSubgraph {
  enum class OperandKind {
    Step,
    EachStep,
    Input,
    Constant,
    PerChannelConstant,
    Number
  };
  struct Operand {
    OperandKind kind;
    unsigned index = 0; // of the step or of the input
    double lowest = 0, highest = 0;
  };
  struct Step {
    std::string opName;
    llvm::SmallVector<Operand> operands;
    std::string same;
    PredicateAttr filter;
  };

  std::string name;
  std::vector<Step> steps;
  unsigned kernelStep = 0;
  unsigned numInputs = 0;

  struct Match {
    /// Ops in program order; the last one is the root.
    llvm::SmallVector<mlir::Operation *> ops;
    mlir::Operation *kernelOp = nullptr;
  };

  /// Returns the ops of the form with this root; none if it does not match or
  /// if an inner value is used outside. `visited` counts how often an op was
  /// compared with a step.
  std::optional<Match> match(mlir::Operation *root,
                             uint64_t *visited = nullptr) const;
};

/// Returns the form once for every combination of its optional lines. An
/// invalid form is reported at `loc`.
mlir::FailureOr<std::vector<std::shared_ptr<const CompiledSubgraph>>>
compileSubgraph(const SubgraphForm &form, mlir::Location loc);

} // namespace mct::tpc

#endif // TPC_DIALECT_LOOKUP_SUBGRAPHS_H
