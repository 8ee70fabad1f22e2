// SPDX-License-Identifier: Apache-2.0
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/CheckTarget.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"

namespace mct::tpc {
#define GEN_PASS_DEF_ATTACHTARGETPASS
#include "tpc_dialect/Transforms/Passes.h.inc"
} // namespace mct::tpc

using namespace mlir;
using namespace mct::tpc;

/// The text of a built-in target or of a file. `name` of the buffer is what
/// parse errors point to.
static FailureOr<std::unique_ptr<llvm::MemoryBuffer>>
openTarget(ModuleOp module, StringRef target) {
  if (std::optional<StringRef> text = lookupTarget(target))
    return llvm::MemoryBuffer::getMemBuffer(*text, ("target:" + target).str());
  llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>> file =
      llvm::MemoryBuffer::getFile(target);
  if (file)
    return std::move(*file);
  if (target.contains('/') || target.ends_with(".mlir") ||
      target.ends_with(".mlirbc"))
    return emitError(module.getLoc()) << "cannot read target file '" << target
                                      << "': " << file.getError().message();
  return emitError(module.getLoc())
         << "unknown target '" << target
         << "'; known: " << llvm::join(listTargets(), ", ")
         << ", or the path of a file";
}

static OwningOpRef<ModuleOp> parse(std::unique_ptr<llvm::MemoryBuffer> buffer,
                                   MLIRContext *context) {
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(buffer), SMLoc());
  return parseSourceFile<ModuleOp>(sourceMgr, context);
}

/// The only platform of a target; reports an error when there is not exactly
/// one.
static PlatformOp getPlatform(ModuleOp module, ModuleOp source,
                              StringRef target) {
  SmallVector<PlatformOp> platforms(source.getOps<PlatformOp>());
  if (platforms.size() == 1)
    return platforms.front();
  InFlightDiagnostic diagnostic = emitError(module.getLoc())
                                  << "target '" << target
                                  << "' must define one tpc.platform, but has "
                                  << platforms.size();
  for (PlatformOp platform : platforms)
    diagnostic.attachNote(platform.getLoc())
        << "platform '@" << platform.getSymName() << "' is defined here";
  return {};
}

/// Removes what an earlier run attached, and ops of the kind and name of those
/// that come in their place.
static LogicalResult removeEarlierTarget(ModuleOp module,
                                         ArrayRef<Operation *> replacements) {
  auto earlier =
      module->getAttrOfType<FlatSymbolRefAttr>(TpcDialect::kTargetAttrName);
  SmallVector<Operation *> removed;
  for (Operation &op : module.getOps()) {
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
    if (existing->getName() != replacement->getName()) {
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
    FailureOr<std::unique_ptr<llvm::MemoryBuffer>> buffer =
        openTarget(module, target);
    if (failed(buffer))
      return failure();
    OwningOpRef<ModuleOp> source = parse(std::move(*buffer), &getContext());
    if (!source)
      return failure();
    PlatformOp platform = getPlatform(module, *source, target);
    if (!platform)
      return failure();
    SmallVector<BindingOp> bindings(source->getOps<BindingOp>());
    if (bindings.empty())
      return emitError(module.getLoc())
             << "target '" << target
             << "' has no tpc.binding, which says how the operator sets of '@"
             << platform.getSymName() << "' are spelled";
    SmallVector<FrameworkOp> frameworks(source->getOps<FrameworkOp>());
    OwningOpRef<ModuleOp> stock;
    if (frameworks.empty()) {
      stock = parse(
          llvm::MemoryBuffer::getMemBuffer(getStockFramework(), "target:tosa"),
          &getContext());
      if (!stock)
        return failure();
      llvm::append_range(frameworks, stock->getOps<FrameworkOp>());
    }
    SmallVector<Operation *> parts = {platform};
    llvm::append_range(parts, bindings);
    llvm::append_range(parts, frameworks);

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
