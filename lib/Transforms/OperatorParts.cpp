// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/OperatorParts.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "tpc_dialect/Lookup/Subgraphs.h"

using namespace mlir;
using namespace mct;

llvm::DenseSet<Operation *> mct::getOperatorParts(func::FuncOp function,
                                                  const KernelOps &kernelOps) {
  llvm::StringMap<std::vector<std::shared_ptr<const tpc::CompiledSubgraph>>>
      formsByRoot;
  for (const tpc::SubgraphForm &form :
       tpc::listSubgraphs(function.getContext())) {
    if (form.name == "batch_norm")
      continue;
    auto variants = tpc::compileSubgraph(form, function.getLoc());
    if (failed(variants))
      continue;
    for (auto &variant : *variants)
      if (variant->steps.size() > 1)
        formsByRoot[variant->steps.back().opName].push_back(variant);
  }
  llvm::DenseSet<Operation *> parts;
  auto add = [&](ArrayRef<Operation *> ops) {
    if (llvm::none_of(ops, [&](Operation *part) {
          return kernelOps.get(part).has_value();
        }))
      parts.insert_range(ops);
  };
  function.walk([&](Block *block) {
    for (const tpc::FormulaMatch &match : tpc::findFormulas(*block))
      add(match.ops);
  });
  function.walk([&](Operation *op) {
    auto forms = formsByRoot.find(op->getName().getStringRef());
    if (forms == formsByRoot.end())
      return;
    for (const auto &form : forms->second)
      if (std::optional<tpc::CompiledSubgraph::Match> match = form->match(op))
        add(match->ops);
  });
  return parts;
}
