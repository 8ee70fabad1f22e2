// SPDX-License-Identifier: Apache-2.0
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDevices.h"
#include "tpc_dialect/Lookup/CheckTarget.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "tpc_dialect/targets/LoadTarget.h"

namespace mct::tpc {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "tpc_dialect/Transforms/Passes.h.inc"
} // namespace mct::tpc

using namespace mlir;
using namespace mct::tpc;

/// Removes what an earlier run attached, and ops of the kind and name of those
/// that come in their place.
static LogicalResult removeEarlierTarget(ModuleOp module,
                                         ArrayRef<Operation *> replacements) {
  auto earlier =
      module->getAttrOfType<FlatSymbolRefAttr>(TpcDialect::kTargetAttrName);
  auto replaced = earlier ? module.lookupSymbol<PlatformOp>(earlier) : nullptr;
  StringAttr type = replaced ? replaced.getPlatformTypeAttr() : nullptr;
  SmallVector<Operation *> removed;
  for (Operation &op : module.getOps()) {
    auto device = dyn_cast<DeviceOp>(op);
    if (device && type && llvm::is_contained(device.getPlatforms(), type))
      removed.push_back(&op);
    auto platform = dyn_cast<PlatformOp>(op);
    auto binding = dyn_cast<BindingOp>(op);
    if (earlier &&
        ((platform && platform.getSymNameAttr() == earlier.getAttr()) ||
         (binding && binding.getPlatformAttr() == earlier)))
      removed.push_back(&op);
  }
  for (Operation *op : removed)
    op->erase();
  for (Operation *replacement : replacements) {
    StringAttr name = SymbolTable::getSymbolName(replacement);
    Operation *existing = SymbolTable::lookupSymbolIn(module, name);
    if (!existing)
      continue;
    bool isSameKind = existing->getName() == replacement->getName() ||
                      (isa<DeriveOp>(existing) && isa<PlatformOp>(replacement));
    if (!isSameKind) {
      InFlightDiagnostic diagnostic =
          emitError(existing->getLoc())
          << "symbol '@" << name.getValue()
          << "' is also a name in the target; rename it";
      diagnostic.attachNote(replacement->getLoc())
          << "the target defines it here";
      return diagnostic;
    }
    existing->erase();
  }
  return success();
}

/// Turns a binding for any platform into one for this: named after it, with the
/// operator sets that it defines.
static void specialize(BindingOp binding, PlatformOp platform) {
  if (binding.getPlatformAttr())
    return;
  SmallVector<Attribute> entries;
  for (auto entry : binding.getEntries().getAsRange<OpsOfAttr>())
    if (platform.lookupOperatorSet(entry.getSet().getValue()))
      entries.push_back(entry);
  binding.setEntriesAttr(ArrayAttr::get(binding.getContext(), entries));
  binding.setPlatformAttr(FlatSymbolRefAttr::get(platform.getSymNameAttr()));
  binding.setSymName(
      (platform.getSymName() + "_" + binding.getSymName()).str());
}

namespace {
struct AttachTargetPass
    : public mct::tpc::impl::AttachTargetPassBase<AttachTargetPass> {
  using AttachTargetPassBase::AttachTargetPassBase;

  void runOnOperation() override {
    if (failed(attach(getOperation())))
      signalPassFailure();
  }

private:
  LogicalResult attach(ModuleOp module) {
    OwningOpRef<ModuleOp> source = loadTarget(target, module.getLoc());
    OwningOpRef<ModuleOp> stock = loadStockVocabularies(&getContext());
    if (!source || !stock)
      return failure();
    PlatformOp platform = *source->getOps<PlatformOp>().begin();
    SmallVector<BindingOp> bindings(source->getOps<BindingOp>());
    if (bindings.empty())
      llvm::append_range(bindings, stock->getOps<BindingOp>());
    for (BindingOp binding : bindings)
      specialize(binding, platform);
    // The target's own descriptions come first and take precedence; the stock
    // ones are for all other ops.
    SmallVector<FrameworkOp> frameworks(source->getOps<FrameworkOp>());
    for (auto framework : stock->getOps<FrameworkOp>())
      if (!source->lookupSymbol(framework.getSymNameAttr()))
        frameworks.push_back(framework);
    SmallVector<Operation *> parts = {platform};
    llvm::append_range(parts, bindings);
    llvm::append_range(parts, frameworks);
    for (auto device : source->getOps<DeviceOp>()) {
      if (failed(checkDevice(device)))
        return failure();
      parts.push_back(device);
    }

    // The module may describe ops of its own.
    llvm::append_range(frameworks, module.getOps<FrameworkOp>());
    if (failed(checkTarget(platform, bindings, frameworks)))
      return failure();
    if (failed(removeEarlierTarget(module, parts)))
      return failure();
    OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
    for (Operation *part : parts)
      builder.clone(*part);
    module->setAttr(TpcDialect::kTargetAttrName,
                    FlatSymbolRefAttr::get(platform.getSymNameAttr()));
    return success();
  }
};
} // namespace
