// SPDX-License-Identifier: Apache-2.0
#include "PlannedChanges.h"

#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mct/Transforms/Passes.h"
#include "mlir/IR/Builders.h"
#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mct;
using namespace mct::report;

ChangePlanner::ChangePlanner(ModuleOp quantized, const KernelOps &kernels,
                             StringRef function)
    : quantized(quantized), kernels(kernels), function(function.str()) {
  quantized.walk([&](tpc::QuantizeOp point) {
    if (point.getParametersAttr())
      names[point.getUniqueName()] = true;
  });
  present = planPoints("");
}

std::optional<ChangePlanner::PlannedPoints>
ChangePlanner::planPoints(StringRef line) {
  ScopedDiagnosticHandler silence(quantized.getContext(),
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = quantized.clone();
  if (module->getOps<tpc::PlatformOp>().empty())
    return std::nullopt;
  FailureOr<func::FuncOp> entry = findEntryFunction(*module, function);
  if (failed(entry))
    return std::nullopt;
  if (!line.empty())
    Overrides::append(*entry, line.str());
  FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(*module);
  FailureOr<Overrides> rules = Overrides::getFrom(*entry);
  if (failed(lookup) || failed(rules))
    return std::nullopt;
  TakenAlternatives taken = takeOutPoints(*entry);
  FailureOr<QuantizationPlan> plan =
      QuantizationPlan::create(*lookup, *entry, kernels, *rules, taken);
  if (failed(plan))
    return std::nullopt;
  PlannedPoints points;
  for (const PlannedInput &input : plan->inputs)
    if (input.floatReason.empty())
      points[input.name.getValue()] = {input.config, {}};
  for (const PlannedNode &node : plan->nodes) {
    if (!node.name)
      continue;
    if (node.cover == ResultCover::Point)
      points[node.name.getValue()] = {
          node.activation ? node.activation : node.base, {}};
    for (const PlannedWeight &weight : node.weights)
      if (weight.floatReason.empty())
        points[(node.name.getValue() + "/" + weight.name.getValue()).str()] = {
            weight.config, weight.axes};
  }
  return points;
}

/// Selects the parameters of points that get another config.
bool ChangePlanner::select(
    ArrayRef<std::pair<std::string, PlannedPoint>> requested,
    std::vector<PlannedChange> &changes) {
  if (requested.empty())
    return true;
  ScopedDiagnosticHandler silence(quantized.getContext(),
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> module = quantized.clone();
  llvm::StringMap<tpc::QuantizeOp> points;
  module->walk(
      [&](tpc::QuantizeOp point) { points[point.getUniqueName()] = point; });
  OpBuilder builder(module->getContext());
  for (const auto &[name, planned] : requested) {
    tpc::QuantizeOp point = points.lookup(name);
    // Parameters along other axes would require another kind of run.
    if (!point || (point.isWeight() && point.getAxesAttr() != planned.axes))
      return false;
    point.setConfigAttr(planned.config);
    point.removeQuantizer();
    // Weights that were rounded together are levels of their quantizer.
    tpc::CorrectionsAttr corrections = point.getCorrectionsAttr();
    if (!corrections || !corrections.getKernel())
      continue;
    for (Operation *user : point->getUsers())
      if (std::optional<KernelOp> layer = kernels.get(user);
          layer && layer->getKernelPoint() == point &&
          layer->canTakeBackCorrections()) {
        layer->takeBackCorrections(builder);
        break;
      }
  }
  PassManager manager(module->getContext());
  manager.addPass(createSelectWeightParametersPass());
  manager.addPass(createSelectParametersPass());
  if (failed(manager.run(*module)))
    return false;
  module->walk([&](tpc::QuantizeOp point) {
    for (const auto &[name, planned] : requested)
      if (point.getUniqueName() == name)
        changes.push_back({name, point.getParametersAttr()});
  });
  return llvm::all_of(changes, [](const PlannedChange &change) {
    return bool(change.quantizer);
  });
}

std::optional<std::vector<PlannedChange>> ChangePlanner::plan(StringRef line) {
  if (!present)
    return std::nullopt;
  std::optional<PlannedPoints> planned = planPoints(line);
  if (!planned)
    return std::nullopt;
  // A point that is shifted above zero has another name.
  auto findPoint = [&](StringRef name) {
    std::string shifted = (name + kShiftedSuffix).str();
    return names.contains(name)      ? name.str()
           : names.contains(shifted) ? shifted
                                     : std::string();
  };
  std::vector<PlannedChange> floats, selected;
  std::vector<std::pair<std::string, PlannedPoint>> requested;
  for (const auto &entry : *planned) {
    auto before = present->find(entry.getKey());
    if (before != present->end() && before->second == entry.second)
      continue;
    std::string name = findPoint(entry.getKey());
    // A point that does not exist cannot be tried.
    if (name.empty())
      return std::nullopt;
    requested.push_back({name, entry.second});
  }
  for (const auto &entry : *present)
    if (!planned->contains(entry.getKey()))
      if (std::string name = findPoint(entry.getKey()); !name.empty())
        floats.push_back({name, {}});
  if (!select(requested, selected))
    return std::nullopt;
  llvm::append_range(floats, selected);
  llvm::sort(floats, [](const PlannedChange &lhs, const PlannedChange &rhs) {
    return lhs.point < rhs.point;
  });
  if (floats.empty())
    return std::nullopt;
  return floats;
}
