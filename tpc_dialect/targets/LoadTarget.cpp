// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/targets/LoadTarget.h"
#include "mct/Support/InputFile.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDevices.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

namespace {
/// Source of a target. `identity` is the same for all names of one source;
/// paths inside are relative to `folder`.
struct Source {
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  std::string identity, folder;
};

class Loader {
public:
  Loader(MLIRContext *context) : context(context) {}

  OwningOpRef<ModuleOp> load(StringRef target, StringRef folder,
                             Location requestedAt);
  LogicalResult resolve(ModuleOp module, StringRef folder);

private:
  OwningOpRef<ModuleOp> parse(std::unique_ptr<llvm::MemoryBuffer> buffer);

  MLIRContext *context;
  /// Identities of the sources that are being derived from.
  SmallVector<std::string> chain;
};
} // namespace

static SmallVector<StringRef> getNames(ArrayRef<StockTarget> stock) {
  SmallVector<StringRef> names;
  for (const StockTarget &each : stock)
    names.push_back(each.name);
  return names;
}

/// Reports that `name` is no `what` ("target", "device") of those known, and
/// whether it is an `other` of those.
static LogicalResult reportUnknown(StringRef what, StringRef name,
                                   ArrayRef<StringRef> names, StringRef other,
                                   ArrayRef<StringRef> otherNames,
                                   Location requestedAt) {
  InFlightDiagnostic diagnostic = emitError(requestedAt)
                                  << "unknown " << what << " '" << name << "'";
  if (std::optional<StringRef> nearest = findNearest(name, names))
    diagnostic << "; did you mean '" << *nearest << "'?";
  diagnostic << "; known: " << llvm::join(names, ", ")
             << ", or the path of a file";
  // The vendor's name of a configuration begins with that of its device.
  auto isMeant = [&](StringRef known) { return name.starts_with(known); };
  if (const StringRef *found = llvm::find_if(otherNames, isMeant);
      found != otherNames.end())
    diagnostic.attachNote() << "'" << *found << "' is a " << other
                            << ": it is given by " << other << "=" << *found;
  return diagnostic;
}

/// Returns whether a name that is not known was meant as the path of a file.
static bool isPath(StringRef name) {
  return name.contains('/') || name.ends_with(".mlir") ||
         name.ends_with(".mlirbc") || name.ends_with(".json");
}

static FailureOr<Source> open(StringRef target, StringRef folder,
                              Location requestedAt) {
  if (const StockTarget *stock = lookupTarget(target))
    // The name of the buffer is what diagnostics point to.
    return Source{llvm::MemoryBuffer::getMemBuffer(stock->text,
                                                   ("target:" + target).str()),
                  ("target:" + stock->resolved).str(), ""};
  SmallString<128> path(target);
  if (!folder.empty() && llvm::sys::path::is_relative(path)) {
    path = folder;
    llvm::sys::path::append(path, target);
  }
  auto file = mct::support::readInputFile(path);
  if (file) {
    SmallString<128> identity(path);
    if (llvm::sys::fs::real_path(path, identity))
      identity = path;
    return Source{std::move(*file), identity.str().str(),
                  llvm::sys::path::parent_path(path).str()};
  }
  std::string reason = llvm::toString(file.takeError());
  if (isPath(target))
    return emitError(requestedAt)
           << "cannot read target file '" << path << "': " << reason;
  return reportUnknown("target", target, getNames(listTargets()), "device",
                       getNames(listDevices()), requestedAt);
}

OwningOpRef<ModuleOp>
Loader::parse(std::unique_ptr<llvm::MemoryBuffer> buffer) {
  if (buffer->getBufferIdentifier().ends_with_insensitive(".json"))
    return importTpcJson(buffer->getBuffer(), buffer->getBufferIdentifier(),
                         context);
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(buffer), SMLoc());
  return parseSourceFile<ModuleOp>(sourceMgr, context);
}

//===----------------------------------------------------------------------===//
// Derivation
//===----------------------------------------------------------------------===//

/// The operator sets whose weights are a kernel and a bias.
static constexpr StringLiteral kLinearSets[] = {
    "Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected"};

/// Applies the changes of the derivation to `sets`, which are those of the
/// base.
static LogicalResult changeSets(DeriveOp derive, PlatformOp base,
                                SmallVectorImpl<Attribute> &sets) {
  llvm::StringMap<size_t> indices;
  for (auto [index, set] : llvm::enumerate(sets))
    indices[cast<OperatorSetAttr>(set).getName().getValue()] = index;
  // D2
  auto report = [&](StringRef what, StringRef name) {
    return derive.emitOpError() << what << " operator set '" << name
                                << "', which '" << derive.getBase() << "' ";
  };

  if (QCOptionsAttr linear = derive.getLinearOptionsAttr()) {
    bool isUsed = false;
    for (StringRef name : kLinearSets)
      if (auto it = indices.find(name); it != indices.end()) {
        auto set = cast<OperatorSetAttr>(sets[it->second]);
        sets[it->second] =
            OperatorSetAttr::get(derive.getContext(), set.getName(), linear,
                                 /*one_by_one=*/false);
        isUsed = true;
      }
    if (!isUsed)
      return derive.emitOpError()
             << "has options for linear operator sets, but '"
             << derive.getBase() << "' defines none of "
             << llvm::join(ArrayRef(kLinearSets), ", ");
  }

  llvm::StringSet<> changed;
  if (ArrayAttr changes = derive.getOperatorSetsAttr())
    for (auto set : changes.getAsRange<OperatorSetAttr>()) {
      StringRef name = set.getName().getValue();
      auto it = indices.find(name);
      if (it == indices.end()) {
        InFlightDiagnostic diagnostic = report("changes", name)
                                        << "does not define";
        SmallVector<StringRef> known(indices.keys());
        llvm::sort(known);
        if (std::optional<StringRef> nearest = findNearest(name, known))
          diagnostic << "; did you mean '" << *nearest << "'?";
        diagnostic << "; new sets go into 'new_operator_sets'";
        diagnostic.attachNote(base.getLoc()) << "the base is defined here";
        return diagnostic;
      }
      if (!changed.insert(name).second)
        return derive.emitOpError()
               << "changes operator set '" << name << "' more than once";
      sets[it->second] = set;
    }

  if (ArrayAttr additions = derive.getNewOperatorSetsAttr())
    for (auto set : additions.getAsRange<OperatorSetAttr>()) {
      StringRef name = set.getName().getValue();
      if (indices.contains(name)) {
        InFlightDiagnostic diagnostic =
            report("adds", name)
            << "defines already; changes go into 'operator_sets'";
        diagnostic.attachNote(base.getLoc()) << "the base is defined here";
        return diagnostic;
      }
      sets.push_back(set);
    }
  return success();
}

/// Replaces `derive` by the platform that it derives from `base`, and returns
/// it; null after an error.
static PlatformOp derivePlatform(DeriveOp derive, PlatformOp base) {
  auto sets = llvm::to_vector(base.getOperatorSets().getValue());
  if (failed(changeSets(derive, base, sets)))
    return {};
  OpBuilder builder(derive);
  auto choose = [](auto own, decltype(own) inherited) {
    return own ? own : inherited;
  };
  auto chooseFlag = [&](BoolAttr own, UnitAttr inherited) {
    bool isSet = own ? own.getValue() : inherited != nullptr;
    return isSet ? builder.getUnitAttr() : UnitAttr();
  };
  bool hasVersion =
      derive.getMinorVersionAttr() || derive.getPatchVersionAttr();
  auto platform = PlatformOp::create(
      builder, derive.getLoc(), derive.getSymNameAttr(),
      choose(derive.getPlatformTypeAttr(), base.getPlatformTypeAttr()),
      hasVersion ? derive.getMinorVersionAttr() : base.getMinorVersionAttr(),
      hasVersion ? derive.getPatchVersionAttr() : base.getPatchVersionAttr(),
      chooseFlag(derive.getAddMetadataAttr(), base.getAddMetadataAttr()),
      chooseFlag(derive.getSimdPaddingAttr(), base.getSimdPaddingAttr()),
      base.getInsertPreservingQuantizersAttr(),
      choose(derive.getDefaultOptionsAttr(), base.getDefaultOptionsAttr()),
      builder.getArrayAttr(sets),
      choose(derive.getFusingAttr(), base.getFusingAttr()));
  derive.erase();
  return platform;
}

/// Copies the vocabulary that the base has beside its platform, as far as
/// `module` lacks it.
static void inheritVocabulary(ModuleOp module, ModuleOp base,
                              PlatformOp platform) {
  SymbolTable symbols(module);
  if (module.getOps<BindingOp>().empty())
    for (auto binding : base.getOps<BindingOp>()) {
      auto copy = cast<BindingOp>(binding->clone());
      if (copy.getPlatformAttr())
        copy.setPlatformAttr(FlatSymbolRefAttr::get(platform.getSymNameAttr()));
      symbols.insert(copy);
    }
  if (module.getOps<FrameworkOp>().empty())
    for (auto framework : base.getOps<FrameworkOp>())
      symbols.insert(framework->clone());
  if (module.getOps<DeviceOp>().empty())
    for (auto device : base.getOps<DeviceOp>())
      symbols.insert(device->clone());
}

LogicalResult Loader::resolve(ModuleOp module, StringRef folder) {
  SmallVector<DeriveOp> derivations(module.getOps<DeriveOp>());
  if (derivations.empty())
    return success();
  DeriveOp derive = derivations.front();
  SmallVector<Operation *> others(module.getOps<PlatformOp>());
  llvm::append_range(others, ArrayRef(derivations).drop_front());
  if (!others.empty()) {
    InFlightDiagnostic diagnostic = derive.emitOpError()
                                    << "must be the only platform of its file";
    for (Operation *other : others)
      diagnostic.attachNote(other->getLoc()) << "another one is here";
    return diagnostic;
  }
  OwningOpRef<ModuleOp> base = load(derive.getBase(), folder, derive.getLoc());
  if (!base)
    return failure();
  PlatformOp platform =
      derivePlatform(derive, *base->getOps<PlatformOp>().begin());
  if (!platform)
    return failure();
  inheritVocabulary(module, *base, platform);
  return verify(module);
}

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

OwningOpRef<ModuleOp> Loader::load(StringRef target, StringRef folder,
                                   Location requestedAt) {
  FailureOr<Source> source = open(target, folder, requestedAt);
  if (failed(source))
    return {};
  // D1
  if (auto it = llvm::find(chain, source->identity); it != chain.end()) {
    emitError(requestedAt) << "target derives from itself: "
                           << llvm::join(it, chain.end(), " -> ") << " -> "
                           << source->identity;
    return {};
  }
  chain.push_back(source->identity);
  OwningOpRef<ModuleOp> module = parse(std::move(source->buffer));
  if (!module || failed(resolve(*module, source->folder)))
    return {};
  chain.pop_back();
  if (!findPlatform(*module, target, requestedAt))
    return {};
  return module;
}

PlatformOp mct::tpc::findPlatform(ModuleOp module, StringRef name,
                                  Location requestedAt) {
  SmallVector<PlatformOp> platforms(module.getOps<PlatformOp>());
  if (platforms.size() == 1)
    return platforms.front();
  InFlightDiagnostic diagnostic =
      emitError(requestedAt)
      << "target '" << name
      << "' must define one tpc.platform or tpc.derive, but has "
      << platforms.size();
  for (PlatformOp platform : platforms)
    diagnostic.attachNote(platform.getLoc())
        << "platform '@" << platform.getSymName() << "' is defined here";
  return {};
}

OwningOpRef<ModuleOp> mct::tpc::loadTarget(StringRef target,
                                           Location requestedAt) {
  return Loader(requestedAt.getContext()).load(target, "", requestedAt);
}

LogicalResult mct::tpc::resolveDerivations(ModuleOp module, StringRef folder) {
  return Loader(module.getContext()).resolve(module, folder);
}

/// Parses an embedded file. `kind` is what diagnostics call it.
static OwningOpRef<ModuleOp> parseStock(const StockTarget &stock,
                                        StringRef kind, MLIRContext *context) {
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(llvm::MemoryBuffer::getMemBuffer(
                                   stock.text, (kind + ":" + stock.name).str()),
                               SMLoc());
  return parseSourceFile<ModuleOp>(sourceMgr, context);
}

/// Parses embedded files into one module; null after an error.
static OwningOpRef<ModuleOp> loadStock(ArrayRef<StockTarget> files,
                                       StringRef kind, MLIRContext *context) {
  OpBuilder builder(context);
  OwningOpRef<ModuleOp> all = ModuleOp::create(builder.getUnknownLoc());
  for (const StockTarget &file : files) {
    OwningOpRef<ModuleOp> one = parseStock(file, kind, context);
    if (!one)
      return {};
    all->getBody()->getOperations().splice(all->getBody()->end(),
                                           one->getBody()->getOperations());
  }
  return all;
}

OwningOpRef<ModuleOp> mct::tpc::loadStockDevices(MLIRContext *context) {
  return loadStock(listDevices(), "device", context);
}

OwningOpRef<ModuleOp> mct::tpc::loadDeviceFile(StringRef path,
                                               Location requestedAt) {
  auto file = mct::support::readInputFile(path);
  if (!file) {
    std::string reason = llvm::toString(file.takeError());
    if (isPath(path)) {
      emitError(requestedAt)
          << "cannot read device file '" << path << "': " << reason;
      return {};
    }
    SmallVector<StringRef> names{"none"};
    llvm::append_range(names, getNames(listDevices()));
    (void)reportUnknown("device", path, names, "target",
                        getNames(listTargets()), requestedAt);
    return {};
  }
  llvm::SourceMgr sourceMgr;
  sourceMgr.AddNewSourceBuffer(std::move(*file), SMLoc());
  OwningOpRef<ModuleOp> module =
      parseSourceFile<ModuleOp>(sourceMgr, requestedAt.getContext());
  if (module && !llvm::hasSingleElement(module->getOps<DeviceOp>())) {
    emitError(requestedAt) << "'" << path
                           << "' must define one tpc.device, but has "
                           << llvm::range_size(module->getOps<DeviceOp>());
    return {};
  }
  return module;
}

OwningOpRef<ModuleOp> mct::tpc::loadStockVocabularies(MLIRContext *context) {
  return loadStock(listStockVocabularies(), "target", context);
}
