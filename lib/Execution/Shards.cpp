// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Shards.h"

#include "mct/Support/Digest.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/MeasuredFile.h"
#include "mct/Support/OutputFile.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;
namespace json = llvm::json;

static constexpr llvm::StringLiteral kFormat = "mct-shards";

llvm::Expected<Shard> Shard::parse(StringRef text) {
  Shard shard;
  if (text.empty())
    return shard;
  auto [index, count] = text.split('/');
  if (index.getAsInteger(10, shard.index) ||
      count.getAsInteger(10, shard.count) || shard.index < 0 ||
      shard.count < 1 || shard.index >= shard.count)
    return llvm::createStringError(
        "shard: expected I/N with I from 0 to N - 1, found '" + text + "'");
  return shard;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static bool readPart(json::Value &value, ShardPart &part, json::Path path) {
  json::Object *object = value.getAsObject();
  if (!object) {
    path.report("expected an object");
    return false;
  }
  json::ObjectMapper map(value, path);
  std::vector<int64_t> shards;
  if (!map || !map.map("kind", part.kind) || !map.map("key", part.key) ||
      !map.map("shards", shards) || !map.map("of", part.count))
    return false;
  for (int64_t shard : shards)
    if (shard < 0 || shard >= part.count || !part.shards.insert(shard).second) {
      path.field("shards").report("expected different numbers below 'of'");
      return false;
    }
  json::Object *content = object->getObject("content");
  if (!content) {
    path.field("content").report("expected an object");
    return false;
  }
  if (shards.empty()) {
    path.field("shards").report("expected numbers");
    return false;
  }
  part.content = std::move(*content);
  return true;
}

static llvm::Error readFile(const std::string &path,
                            std::vector<ShardPart> &parts,
                            std::set<std::string> &instructionSets) {
  return support::readMeasuredFile(
      path, kFormat, instructionSets,
      [&](json::Object &object, json::Path at, std::string &) {
        json::Array *array = object.getArray("parts");
        if (!array) {
          at.field("parts").report("expected an array");
          return false;
        }
        for (auto [index, value] : llvm::enumerate(*array)) {
          parts.emplace_back().file = path;
          if (!readPart(value, parts.back(),
                        at.field("parts").index(unsigned(index))))
            return false;
        }
        return true;
      });
}

llvm::Expected<std::shared_ptr<const ShardFiles>>
ShardFiles::load(ArrayRef<std::string> paths) {
  auto files = std::make_shared<ShardFiles>();
  for (auto [index, path] : llvm::enumerate(paths)) {
    for (const std::string &before : paths.take_front(index))
      if (support::FileIdentity(path).isSameFileAs(
              support::FileIdentity(before)))
        return llvm::createStringError("'" + path + "' is '" + before +
                                       "'; give each file once");
    if (llvm::Error error =
            readFile(path, files->parts, files->instructionSets))
      return std::move(error);
  }
  return files;
}

std::vector<const ShardPart *> ShardFiles::findKind(StringRef kind) const {
  std::vector<const ShardPart *> found;
  for (const ShardPart &part : parts)
    if (part.kind == kind)
      found.push_back(&part);
  return found;
}

llvm::Expected<std::vector<const ShardPart *>>
ShardFiles::find(StringRef kind, StringRef key) const {
  std::vector<const ShardPart *> found = findKind(kind);
  llvm::erase_if(found,
                 [&](const ShardPart *part) { return part->key != key; });
  std::map<int64_t, const ShardPart *> owners;
  for (const ShardPart *part : found) {
    if (part->count != found.front()->count)
      return llvm::createStringError(
          "'" + part->file + "' is one of " + llvm::Twine(part->count) +
          " shards, and '" + found.front()->file + "' one of " +
          llvm::Twine(found.front()->count) +
          "; divide the samples in one way, and give the files of these "
          "shards");
    for (int64_t shard : part->shards)
      if (auto [owner, isNew] = owners.try_emplace(shard, part); !isNew)
        return llvm::createStringError("'" + part->file + "' has the " + kind +
                                       " of shard " + llvm::Twine(shard) +
                                       " as '" + owner->second->file +
                                       "' has; give each shard once");
  }
  if (found.empty() || int64_t(owners.size()) == found.front()->count)
    return found;
  std::vector<std::string> missing;
  for (int64_t shard = 0; shard != found.front()->count; ++shard)
    if (!owners.count(shard))
      missing.push_back(std::to_string(shard));
  constexpr size_t kMost = 8;
  std::string names = llvm::join(ArrayRef(missing).take_front(kMost), ", ");
  if (missing.size() > kMost)
    names += " and " + std::to_string(missing.size() - kMost) + " more";
  return llvm::createStringError(
      "no file has the " + kind + " of shard " + names + " of " +
      llvm::Twine(found.front()->count) + ", which '" + found.front()->file +
      "' belongs to; give the files of all shards");
}

llvm::Error ShardFiles::save(StringRef path, ArrayRef<const ShardPart *> parts,
                             const std::set<std::string> &instructionSets,
                             StringRef missing) {
  support::OutputFile file(path);
  {
    json::OStream stream(file);
    stream.object([&] {
      support::writeMeasuredHeader(stream, kFormat, instructionSets);
      if (!missing.empty())
        stream.attribute("missing", missing);
      stream.attributeArray("parts", [&] {
        for (const ShardPart *part : parts)
          stream.object([&] {
            stream.attribute("kind", part->kind);
            stream.attribute("key", part->key);
            stream.attribute("shards", json::Array(part->shards));
            stream.attribute("of", part->count);
            stream.attribute("content", json::Object(part->content));
          });
      });
    });
  }
  file << '\n';
  return file.keep();
}

//===----------------------------------------------------------------------===//
// Passes
//===----------------------------------------------------------------------===//

FailureOr<Shards> Shards::open(ModuleOp module, const Options &options) {
  Shards shards(module);
  auto refuse = [&](const Twine &message) {
    return emitError(module.getLoc()) << message;
  };
  llvm::Expected<Shard> parsed = Shard::parse(options.shard);
  if (!parsed)
    return refuse(llvm::toString(parsed.takeError()));
  shards.shard = *parsed;
  shards.out = options.out;
  shards.hasSamples = options.hasSamples;
  auto *state = ShardStateScope::find(module.getContext());
  std::shared_ptr<const ShardFiles> &known =
      state ? state->files[options.in] : shards.files;
  if (!known) {
    auto files = ShardFiles::load(options.in);
    if (!files)
      return refuse(llvm::toString(files.takeError()));
    known = std::move(*files);
  }
  shards.files = known;
  const std::set<std::string> &sets = shards.files->getInstructionSets();
  if (sets.size() > 1 && !(state && state->warnsOfInstructionSets)) {
    InFlightDiagnostic warning = emitWarning(module.getLoc());
    warning << "merges statistics of machines with different instruction sets,"
               " whose last bits may differ: ";
    llvm::interleaveComma(sets, warning, [&](const std::string &name) {
      warning << "'" << name << "'";
    });
    if (state)
      state->warnsOfInstructionSets = true;
  }
  return shards;
}

FailureOr<std::vector<const ShardPart *>> Shards::find(StringRef kind,
                                                       StringRef key) const {
  auto found = files->find(kind, key);
  if (!found)
    return emitError(module.getLoc()) << llvm::toString(found.takeError());
  if (auto *state = ShardStateScope::find(module.getContext()))
    state->used.insert(found->begin(), found->end());
  return std::move(*found);
}

std::vector<const ShardPart *> Shards::findKind(StringRef kind) const {
  return files->findKind(kind);
}

void Shards::record(StringRef kind, StringRef key, json::Object content) {
  auto part = std::make_unique<ShardPart>();
  part->kind = kind.str();
  part->key = key.str();
  part->shards = {shard.index};
  part->count = shard.count;
  part->content = std::move(content);
  recorded.push_back(std::move(part));
}

LogicalResult Shards::checkOthers(StringRef kind) const {
  auto *state = ShardStateScope::find(module.getContext());
  if (!state)
    return success();
  for (const ShardPart *part : files->findKind(kind))
    if (!state->used.count(part))
      return emitError(module.getLoc())
             << "'" << part->file << "' has the " << kind
             << " of another network; give all shards the same module, target "
                "and options, and leave out files of earlier ones"
             << support::kTroubleshooting << "shards-of-another-network";
  return success();
}

LogicalResult Shards::stop(StringRef kind) const {
  // Other networks may read samples in the same way, and choose others.
  if (!kind.starts_with("sample") && failed(checkOthers(kind)))
    return failure();
  std::vector<const ShardPart *> parts;
  for (const auto &part : recorded)
    parts.push_back(part.get());
  if (llvm::Error error =
          ShardFiles::save(out, parts, {Executor::instructionSet()}))
    return emitError(module.getLoc()) << "cannot write the file of the shard: "
                                      << llvm::toString(std::move(error));
  auto *state = ShardStateScope::find(module.getContext());
  if (!state)
    return emitError(module.getLoc())
           << "has written the " << kind << " of shard " << shard.index
           << " of " << shard.count << " to '" << out
           << "', and ends here; give it with those of the other shards";
  state->written = out;
  state->missing = kind.str();
  return failure();
}

LogicalResult Shards::reportMissing(StringRef kind) const {
  if (!kind.starts_with("sample") && failed(checkOthers(kind)))
    return failure();
  auto *state = ShardStateScope::find(module.getContext());
  if (state)
    state->missing = kind.str();
  if (out.empty() || !state)
    return emitError(module.getLoc())
           << "no file of the shards has the " << kind
           << " of this network; run all shards again, with these files"
           << support::kTroubleshooting << "shards-run-in-rounds";
  if (llvm::Error error = ShardFiles::save(out, {}, {}, kind))
    return emitError(module.getLoc()) << "cannot write the file of the shard: "
                                      << llvm::toString(std::move(error));
  return failure();
}

LogicalResult
Shards::read(const ShardPart &part,
             llvm::function_ref<llvm::Error(const json::Object &)> read) const {
  if (llvm::Error error = read(part.content))
    return emitError(module.getLoc())
           << "'" << part.file << "': " << part.kind << ": "
           << llvm::toString(std::move(error));
  return success();
}

//===----------------------------------------------------------------------===//
// Names of networks
//===----------------------------------------------------------------------===//

std::string mct::execution::nameContent(ModuleOp module) {
  OwningOpRef<ModuleOp> copy = module.clone();
  auto unknown = UnknownLoc::get(module.getContext());
  copy->walk([&](Operation *op) {
    op->setLoc(unknown);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          argument.setLoc(unknown);
  });
  support::DigestStream stream;
  // Only an older version of the format can fail.
  (void)writeBytecodeToFile(*copy, stream);
  return stream.digits();
}
