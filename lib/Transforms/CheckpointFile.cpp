// SPDX-License-Identifier: Apache-2.0
#include "CheckpointFile.h"

#include "mct/IR/Records.h"
#include "mct/IR/ResourceKeys.h"
#include "mct/Support/Digest.h"
#include "mct/Support/OutputFile.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/SourceMgr.h"
#include <cstring>

using namespace mlir;
using namespace mct;

static constexpr StringLiteral kState = "mct.checkpoint";
/// Prefix of the keys of constants in the file. They differ from those of the
/// module, so that a key that is read never exists in the context already.
static constexpr StringLiteral kAlias = "mct.checkpoint.constant";
/// Text in front of the digest that a file has of itself, with zeros in place
/// of the digest.
static constexpr StringLiteral kDigest = "mct.checkpoint.digest=";
static constexpr StringLiteral kNoDigest = "00000000000000000000000000000000";

//===----------------------------------------------------------------------===//
// Diagnostics
//===----------------------------------------------------------------------===//

Attribute mct::describeDiagnostic(Diagnostic &diagnostic) {
  Builder builder(diagnostic.getLocation().getContext());
  auto describe = [&](Diagnostic &each) {
    NamedAttrList entries;
    entries.append("location", LocationAttr(each.getLocation()));
    entries.append("text", builder.getStringAttr(each.str()));
    return entries;
  };
  NamedAttrList entries = describe(diagnostic);
  if (diagnostic.getSeverity() == DiagnosticSeverity::Warning)
    entries.append("warning", builder.getUnitAttr());
  SmallVector<Attribute> notes;
  for (Diagnostic &note : diagnostic.getNotes())
    notes.push_back(describe(note).getDictionary(builder.getContext()));
  if (!notes.empty())
    entries.append("notes", builder.getArrayAttr(notes));
  for (DiagnosticArgument &argument : diagnostic.getMetadata())
    if (argument.getKind() ==
        DiagnosticArgument::DiagnosticArgumentKind::Attribute)
      entries.append("record", argument.getAsAttribute());
  return entries.getDictionary(builder.getContext());
}

void mct::emitAgain(Attribute attribute) {
  auto entries = cast<DictionaryAttr>(attribute);
  MLIRContext *context = entries.getContext();
  auto record = entries.getAs<DictionaryAttr>("record");
  if (record && isSilent(record) && !SilentPassesScope::find(context))
    return;
  auto locationOf = [](DictionaryAttr from) {
    return Location(from.getAs<LocationAttr>("location"));
  };
  auto print = [](DictionaryAttr from) {
    return from.getAs<StringAttr>("text").getValue();
  };
  InFlightDiagnostic diagnostic = context->getDiagEngine().emit(
      locationOf(entries), entries.get("warning") ? DiagnosticSeverity::Warning
                                                  : DiagnosticSeverity::Remark);
  diagnostic << print(entries);
  if (auto notes = entries.getAs<ArrayAttr>("notes"))
    for (auto note : notes.getAsRange<DictionaryAttr>())
      diagnostic.attachNote(locationOf(note)) << print(note);
  if (record)
    diagnostic.getUnderlyingDiagnostic()->getMetadata().push_back(
        DiagnosticArgument(Attribute(record)));
}

/// Returns true if `emitAgain` can read the attribute.
static bool isDiagnostic(Attribute attribute) {
  auto entries = dyn_cast<DictionaryAttr>(attribute);
  if (!entries || !entries.getAs<LocationAttr>("location") ||
      !entries.getAs<StringAttr>("text"))
    return false;
  auto notes = entries.getAs<ArrayAttr>("notes");
  return !notes || llvm::all_of(notes, isDiagnostic);
}

//===----------------------------------------------------------------------===//
// Side outputs
//===----------------------------------------------------------------------===//

static void write(const support::PassSideOutputs &outputs,
                  NamedAttrList &entries, Builder &builder) {
  if (outputs.calibration) {
    entries.append("calibration",
                   builder.getStringAttr(outputs.calibration->digest));
    entries.append("calibration_samples",
                   builder.getI64IntegerAttr(outputs.calibration->count));
  }
  if (!outputs.bitWidths)
    return;
  SmallVector<Attribute> operators, choices;
  for (const std::string &name : outputs.bitWidths->operators)
    operators.push_back(builder.getStringAttr(name));
  for (const auto &choice : outputs.bitWidths->front) {
    NamedAttrList described;
    described.append("bytes", builder.getF64FloatAttr(choice.bytes));
    described.append("sensitivities",
                     builder.getF64FloatAttr(choice.sensitivities));
    described.append(
        "alternatives",
        builder.getDenseI64ArrayAttr(SmallVector<int64_t>(
            choice.alternatives.begin(), choice.alternatives.end())));
    described.append("chosen", builder.getBoolAttr(choice.isChosen));
    choices.push_back(described.getDictionary(builder.getContext()));
  }
  entries.append("operators", builder.getArrayAttr(operators));
  entries.append("front", builder.getArrayAttr(choices));
}

static support::PassSideOutputs readSideOutputs(DictionaryAttr entries) {
  support::PassSideOutputs outputs;
  auto digest = entries.getAs<StringAttr>("calibration");
  auto count = entries.getAs<IntegerAttr>("calibration_samples");
  if (digest && count)
    outputs.calibration = {digest.str(), count.getInt()};
  auto operators = entries.getAs<ArrayAttr>("operators");
  auto front = entries.getAs<ArrayAttr>("front");
  if (!operators || !front)
    return outputs;
  auto &widths = outputs.bitWidths.emplace();
  for (auto name : operators.getAsRange<StringAttr>())
    widths.operators.push_back(name.str());
  for (auto described : front.getAsRange<DictionaryAttr>()) {
    auto bytes = described.getAs<FloatAttr>("bytes");
    auto sum = described.getAs<FloatAttr>("sensitivities");
    auto alternatives = described.getAs<DenseI64ArrayAttr>("alternatives");
    auto isChosen = described.getAs<BoolAttr>("chosen");
    if (!bytes || !sum || !alternatives || !isChosen)
      continue;
    widths.front.push_back(
        {bytes.getValueAsDouble(),
         sum.getValueAsDouble(),
         {alternatives.asArrayRef().begin(), alternatives.asArrayRef().end()},
         isChosen.getValue()});
  }
  return outputs;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

static DialectResourceBlobManager &findConstants(MLIRContext *context) {
  return DenseResourceElementsHandle::getManagerInterface(context)
      .getBlobManager();
}

/// Renames the constants of the module that have data. `rename` returns the
/// handle that replaces the one of a constant.
static void renameConstants(
    ModuleOp module,
    llvm::function_ref<DenseResourceElementsHandle(DenseResourceElementsAttr)>
        rename) {
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](DenseResourceElementsAttr constant) -> std::optional<Attribute> {
        if (!constant.getRawHandle().getBlob())
          return constant;
        return DenseResourceElementsAttr::get(constant.getType(),
                                              rename(constant));
      });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/false);
}

/// Gives the constants keys that no context has, and returns pairs of a
/// constant and its former key. `former` gets the former handles, by new key.
static ArrayAttr
writeConstants(ModuleOp module,
               llvm::StringMap<DenseResourceElementsHandle> &former) {
  MLIRContext *context = module.getContext();
  Builder builder(context);
  DialectResourceBlobManager &constants = findConstants(context);
  llvm::StringMap<DenseResourceElementsHandle> aliases;
  SmallVector<Attribute> pairs;
  renameConstants(module, [&](DenseResourceElementsAttr constant) {
    DenseResourceElementsHandle handle = constant.getRawHandle();
    auto [found, isNew] = aliases.try_emplace(handle.getKey(), handle);
    if (!isNew)
      return found->second;
    AsmResourceBlob &blob = *handle.getBlob();
    std::string key = findFreeKey(kAlias, [&](StringRef name) {
      return constants.lookup(name) != nullptr;
    });
    // The alias borrows the data while the file is written.
    auto alias = DenseResourceElementsAttr::get(
        constant.getType(), key,
        AsmResourceBlob(
            blob.getData(), blob.getDataAlignment(),
            [](void *, size_t, size_t) {},
            /*dataIsMutable=*/false));
    found->second = alias.getRawHandle();
    former.try_emplace(found->second.getKey(), handle);
    pairs.push_back(alias);
    pairs.push_back(builder.getStringAttr(handle.getKey()));
    return found->second;
  });
  return builder.getArrayAttr(pairs);
}

/// Returns the keys that are taken, so that constants that are made later get
/// the same keys as without the checkpoint.
static ArrayAttr writeTakenKeys(MLIRContext *context) {
  std::vector<std::string> keys;
  findConstants(context).getBlobMap([&](const auto &all) {
    for (const auto &entry : all)
      if (!entry.getKey().starts_with(kAlias))
        keys.push_back(entry.getKey().str());
  });
  llvm::sort(keys);
  Builder builder(context);
  SmallVector<Attribute> names;
  for (const std::string &key : keys)
    names.push_back(builder.getStringAttr(key));
  return builder.getArrayAttr(names);
}

/// Returns the entry that has the data of `alias` under the key: the one of the
/// context if its data are equal, or a new one that takes over the data.
static DenseResourceElementsHandle
restoreConstant(DenseResourceElementsAttr alias, StringRef key) {
  MLIRContext *context = alias.getContext();
  DialectResourceBlobManager &constants = findConstants(context);
  AsmResourceBlob &blob = *alias.getRawHandle().getBlob();
  auto *dialect = context->getLoadedDialect<BuiltinDialect>();
  if (auto *entry = constants.lookup(key)) {
    AsmResourceBlob *present = entry->getBlob();
    if (present && present->getData().size() == blob.getData().size() &&
        std::memcmp(present->getData().data(), blob.getData().data(),
                    blob.getData().size()) == 0)
      return DenseResourceElementsHandle(entry, dialect);
    return createResource(cast<RankedTensorType>(alias.getType()), key,
                          std::move(blob))
        .getRawHandle();
  }
  return DenseResourceElementsHandle(&constants.insert(key, std::move(blob)),
                                     dialect);
}

/// Gives the constants the handles of their keys. Returns false if one has
/// none.
static bool
renameConstants(ModuleOp module,
                const llvm::StringMap<DenseResourceElementsHandle> &handles) {
  bool isComplete = true;
  renameConstants(module, [&](DenseResourceElementsAttr constant) {
    auto found = handles.find(constant.getRawHandle().getKey());
    isComplete &= found != handles.end();
    return found == handles.end() ? constant.getRawHandle() : found->second;
  });
  return isComplete;
}

/// Gives the constants their former keys. Returns false if `writeConstants`
/// cannot have written the array.
static bool readConstants(ModuleOp module, ArrayAttr pairs, ArrayAttr taken) {
  llvm::StringMap<DenseResourceElementsHandle> restored;
  for (size_t at = 0; at + 1 < pairs.size(); at += 2) {
    auto alias = dyn_cast<DenseResourceElementsAttr>(pairs[at]);
    auto key = dyn_cast<StringAttr>(pairs[at + 1]);
    if (!alias || !key || !isa<RankedTensorType>(alias.getType()) ||
        !alias.getRawHandle().getBlob())
      return false;
    restored.try_emplace(alias.getRawHandle().getKey(),
                         restoreConstant(alias, key.getValue()));
  }
  bool isComplete = renameConstants(module, restored);
  DialectResourceBlobManager &constants = findConstants(module.getContext());
  for (auto key : taken.getAsRange<StringAttr>())
    if (!constants.lookup(key.getValue()))
      constants.insert(key.getValue());
  return isComplete;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

llvm::Error mct::writeCheckpoint(StringRef path, ModuleOp module,
                                 const RunState &state) {
  MLIRContext *context = module.getContext();
  Builder builder(context);
  NamedAttrList entries;
  entries.append("version", builder.getStringAttr(state.run.version));
  entries.append("network", builder.getStringAttr(state.run.network));
  entries.append("options", builder.getStringAttr(state.run.options));
  entries.append("files", builder.getStringAttr(state.run.files));
  entries.append("stage", builder.getI64IntegerAttr(state.stage));
  entries.append("diagnostics", builder.getArrayAttr(state.diagnostics));
  write(state.sideOutputs, entries, builder);
  entries.append("taken", writeTakenKeys(context));
  // The uses of the values of a copy would have another order, which bytecode
  // has: the module itself is written, and gets its constants back.
  llvm::StringMap<DenseResourceElementsHandle> former;
  entries.append("constants", writeConstants(module, former));
  // Writing can only fail for an older version of the format.
  auto write = [&](StringRef digest, raw_ostream &stream) {
    entries.set("digest", builder.getStringAttr(kDigest + digest));
    module->setAttr(kState, entries.getDictionary(context));
    (void)writeBytecodeToFile(module, stream);
  };
  support::DigestStream contents;
  write(kNoDigest, contents);
  support::OutputFile file(path);
  write(contents.digits(), file);
  module->removeAttr(kState);
  renameConstants(module, former);
  return file.keep();
}

/// Returns whether the file has the digest of its other bytes.
static bool hasDigest(StringRef bytes) {
  size_t at = bytes.rfind(kDigest);
  if (at == StringRef::npos)
    return false;
  at += kDigest.size();
  support::DigestStream contents;
  contents << bytes.take_front(at) << kNoDigest
           << bytes.drop_front(at).drop_front(
                  std::min(kNoDigest.size(), bytes.size() - at));
  return bytes.substr(at, kNoDigest.size()) == contents.digits();
}

static llvm::Error fail(StringRef path, const llvm::Twine &what) {
  return llvm::createStringError("'" + path + "' " + what);
}

llvm::Expected<std::pair<RunState, OwningOpRef<ModuleOp>>>
mct::readCheckpoint(StringRef path, MLIRContext *context) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return fail(path, "cannot be read: " + file.getError().message());
  auto damaged = [&] {
    return fail(path, "is damaged, or no checkpoint of this version of mct; "
                      "remove it to start again");
  };
  // The parser may take damaged numbers, or fail on other bytes.
  if (!hasDigest((*file)->getBuffer()))
    return damaged();
  auto sources = std::make_shared<llvm::SourceMgr>();
  sources->AddNewSourceBuffer(std::move(*file), llvm::SMLoc());
  OwningOpRef<ModuleOp> module;
  {
    ScopedDiagnosticHandler quiet(context, [](Diagnostic &) {});
    module = parseSourceFile<ModuleOp>(sources, ParserConfig(context));
  }
  auto entries = module ? (*module)->getAttrOfType<DictionaryAttr>(kState)
                        : DictionaryAttr();
  if (!entries)
    return damaged();
  RunState state;
  for (auto [name, text] : {std::pair("version", &state.run.version),
                            std::pair("network", &state.run.network),
                            std::pair("options", &state.run.options),
                            std::pair("files", &state.run.files)}) {
    auto digest = entries.getAs<StringAttr>(name);
    if (!digest)
      return damaged();
    *text = digest.str();
  }
  auto stage = entries.getAs<IntegerAttr>("stage");
  auto diagnostics = entries.getAs<ArrayAttr>("diagnostics"),
       constants = entries.getAs<ArrayAttr>("constants"),
       taken = entries.getAs<ArrayAttr>("taken");
  if (!stage || !diagnostics || !llvm::all_of(diagnostics, isDiagnostic) ||
      !constants || !taken)
    return damaged();
  state.stage = stage.getInt();
  llvm::append_range(state.diagnostics, diagnostics);
  state.sideOutputs = readSideOutputs(entries);
  (*module)->removeAttr(kState);
  if (!readConstants(*module, constants, taken))
    return damaged();
  return std::pair(std::move(state), std::move(module));
}
