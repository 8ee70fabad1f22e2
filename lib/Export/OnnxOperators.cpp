// SPDX-License-Identifier: Apache-2.0
#include "OnnxOperators.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "tpc_dialect/Lookup/TpcLookup.h"

using namespace mlir;
using namespace mct::onnx;

Operation *Operator::find(StringRef opName) const {
  for (Operation *op : ops)
    if (op->getName().getStringRef() == opName)
      return op;
  return nullptr;
}

/// Formulas and forms that are written as one op; those that contain others
/// come first.
static constexpr StringLiteral kFormulas[] = {"layer_norm", "gelu", "softmax",
                                              "global_avg_pool", "mean"};
static constexpr StringLiteral kForms[] = {
    "fully_connected", "hard_swish", "hard_sigmoid", "leaky_relu", "prelu",
    "relu6",           "hard_tanh",  "relu",         "div"};

/// Returns the only non-constant value from outside that the ops use, or null.
static Value findInput(ArrayRef<Operation *> ops) {
  Value input;
  for (Operation *op : ops)
    for (Value operand : op->getOperands()) {
      Operation *producer = operand.getDefiningOp();
      if (llvm::is_contained(ops, producer) ||
          mct::tpc::getConstantOp(operand) ||
          !isa<RankedTensorType>(operand.getType()))
        continue;
      if (input && input != operand)
        return {};
      input = operand;
    }
  return input;
}

FailureOr<Operators> mct::onnx::findOperators(Block &block) {
  Operators result;
  auto take = [&](Operator candidate) {
    for (Operation *op : candidate.ops)
      if (result.interior.contains(op) || result.byRoot.contains(op))
        return;
    for (Operation *op : llvm::drop_end(candidate.ops))
      result.interior.insert(op);
    result.byRoot[candidate.root()] = std::move(candidate);
  };
  std::vector<tpc::FormulaMatch> formulas = tpc::findFormulas(block);
  // The longest of several matches with the same root comes last.
  for (StringRef name : kFormulas)
    for (tpc::FormulaMatch &match : llvm::reverse(formulas))
      if (match.name == name)
        take({name.str(), match.ops, match.input});
  std::vector<tpc::SubgraphForm> forms =
      tpc::listSubgraphs(block.back().getContext());
  for (StringRef name : kForms) {
    std::vector<std::shared_ptr<const tpc::CompiledSubgraph>> subgraphs;
    for (const tpc::SubgraphForm &form : forms) {
      if (form.name != name || form.ops.find("linalg.") != std::string::npos)
        continue;
      auto compiled = tpc::compileSubgraph(
          form, UnknownLoc::get(block.back().getContext()));
      if (failed(compiled))
        return failure();
      llvm::append_range(subgraphs, *compiled);
    }
    size_t longest = 0;
    for (const auto &subgraph : subgraphs)
      longest = std::max(longest, subgraph->steps.size());
    for (size_t length = longest; length > 0; --length)
      for (const auto &subgraph : subgraphs)
        for (Operation &op : block)
          if (subgraph->steps.size() != length)
            break;
          else if (std::optional<tpc::CompiledSubgraph::Match> match =
                       subgraph->match(&op))
            take({name.str(), match->ops, findInput(match->ops)});
  }
  return result;
}
