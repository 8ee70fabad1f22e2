// SPDX-License-Identifier: Apache-2.0
#include "mct/BitWidths/Passes.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Transforms/SelectedParameters.h"
#include "tpc_dialect/Lookup/TpcLookup.h"

namespace mct {
#define GEN_PASS_DEF_ADDERRORTOLERANCESPASS
#include "mct/BitWidths/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the config of a kernel that may have an error tolerance but has
/// none, or null.
static tpc::AttrQuantConfigAttr getKernelConfig(tpc::QuantizeOp point,
                                                int64_t alternative) {
  if (!point.isWeight() || point.getWeight() != tpc::kKernelWeight)
    return {};
  auto config = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(
      OperatorPoints::getConfig(point, alternative));
  if (!config || !config.getEnabled() || config.getErrorTolerance() ||
      config.getBits() < kLeastTolerantBits ||
      !config.getMethod().getGridSearch())
    return {};
  return config;
}

namespace {
struct AddErrorTolerancesPass
    : public EntryFunctionPass<
          mct::impl::AddErrorTolerancesPassBase<AddErrorTolerancesPass>> {
  using EntryFunctionPass::EntryFunctionPass;

  LogicalResult runOn(func::FuncOp entry) override {
    for (int64_t tolerance : weightsErrorTolerances)
      if (tolerance <= 1)
        return emitError(getOperation().getLoc())
               << "weights-error-tolerances has " << tolerance
               << "; give factors of the squared error from 2 on";
    for (const OperatorPoints &of : findOperatorPoints(entry))
      add(of);
    return success();
  }

private:
  void add(const OperatorPoints &of);
};
} // namespace

void AddErrorTolerancesPass::add(const OperatorPoints &of) {
  // If a point has no config, its other alternatives are unknown.
  for (tpc::QuantizeOp point : of.points)
    if (!point.getConfigAttr())
      return;
  // The present alternatives keep their indices.
  SmallVector<SmallVector<Attribute>> configs(of.points.size());
  for (auto [own, point] : llvm::zip(configs, of.points))
    for (int64_t each = 0; each != of.numAlternatives(); ++each)
      own.push_back(OperatorPoints::getConfig(point, each));
  for (int64_t each = 0; each != of.numAlternatives(); ++each) {
    bool takes = llvm::any_of(of.points, [&](tpc::QuantizeOp point) {
      return bool(getKernelConfig(point, each));
    });
    if (!takes)
      continue;
    for (int64_t tolerance : weightsErrorTolerances)
      for (auto [own, point] : llvm::zip(configs, of.points)) {
        tpc::AttrQuantConfigAttr kernel = getKernelConfig(point, each);
        own.push_back(kernel ? kernel.withErrorTolerance(tolerance)
                             : OperatorPoints::getConfig(point, each));
      }
  }
  int64_t chosen = of.getChosen();
  if (int64_t(configs.front().size()) == of.numAlternatives())
    return;
  for (auto [own, point] : llvm::zip(configs, of.points))
    tpc::QuantizeOp(point).setCandidatesAttr(tpc::AlternativesAttr::get(
        &getContext(), of.name, ArrayAttr::get(&getContext(), own), chosen));
}
