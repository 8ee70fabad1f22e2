// SPDX-License-Identifier: Apache-2.0
#include "Costs.h"

#include "mct/Cost/CostTable.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Transforms/Candidates.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;

/// Costs of layers, by name.
using CostsByName = llvm::StringMap<LayerCost>;

static FailureOr<CostsByName> findCosts(func::FuncOp function,
                                        const KernelOps &kernels,
                                        const CostTable &table) {
  CostsByName costs;
  for (const CostedLayer &layer : findCostedLayers(function, kernels)) {
    std::optional<LayerCost> cost = table.find(layer);
    if (!cost)
      return table.reportMissing(layer);
    costs[layer.name] = *cost;
  }
  return costs;
}

/// Returns the costs of layers when all operators have their first alternative.
static FailureOr<CostsByName> findFirstCosts(func::FuncOp function,
                                             const KernelOps &kernels,
                                             const CostTable &table) {
  auto takesAnother = [](const OperatorPoints &of) {
    return of.numAlternatives() > 1 && of.getChosen() != 0;
  };
  if (llvm::none_of(findOperatorPoints(function), takesAnother))
    return findCosts(function, kernels, table);
  OwningOpRef<ModuleOp> copy = function->getParentOfType<ModuleOp>().clone();
  auto copied = cast<func::FuncOp>(
      SymbolTable::lookupSymbolIn(*copy, function.getSymName()));
  for (const OperatorPoints &of : findOperatorPoints(copied))
    if (takesAnother(of) && failed(chooseCandidate(of, 0, kernels)))
      return failure();
  PassManager passes(function.getContext(), ModuleOp::getOperationName());
  passes.addPass(createSelectWeightParametersPass());
  passes.addPass(createSelectParametersPass());
  if (failed(passes.run(*copy)))
    return failure();
  return findCosts(copied, kernels, table);
}

LogicalResult report::addCosts(func::FuncOp function, const KernelOps &kernels,
                               StringRef path, Report &report) {
  auto table = findCostTable(path, /*device=*/nullptr,
                             function->getParentOfType<ModuleOp>());
  if (failed(table))
    return failure();
  if (!*table)
    return success();
  FailureOr<CostsByName> present = findCosts(function, kernels, **table);
  if (failed(present))
    return failure();
  FailureOr<CostsByName> first = findFirstCosts(function, kernels, **table);
  if (failed(first))
    return failure();
  report.costs = Report::Costs{(*table)->getDevice().str(), 0};
  for (const auto &each : *present)
    report.costs->cycles += each.second.cycles;
  for (Operator &of : report.operators) {
    auto known = present->find(of.name);
    if (known == present->end())
      continue;
    Operator::Cost &cost = of.cost.emplace();
    cost.cycles = known->second.cycles;
    cost.memoryBytes = known->second.memoryBytes;
    cost.savedCycles = first->lookup(of.name).cycles - cost.cycles;
    if (of.effect && cost.savedCycles > 0)
      cost.lossPerCycle = of.effect->gain / double(cost.savedCycles);
  }
  return success();
}
