// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/Passes.h"
#include "mct/Calibration/PointStatistics.h"
#include "mct/Evaluation/Evaluation.h"
#include "mct/Execution/Shards.h"
#include "mct/Support/ContextFiles.h"

namespace mct {
#define GEN_PASS_DEF_MERGESHARDSPASS
#include "mct/Calibration/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using execution::ShardFiles;
using execution::ShardPart;
namespace json = llvm::json;

/// Adds the statistics of points.
static llvm::Error mergeStatistics(json::Object &content,
                                   const json::Object &other) {
  calibration::StatisticsFile all;
  std::string digest;
  int64_t samples = 0;
  for (const json::Object *each : {&std::as_const(content), &other}) {
    const json::Object *points = each->getObject("points");
    auto own = each->getString("digest");
    auto count = each->getInteger("samples");
    if (!points || !own || !count)
      return llvm::createStringError(
          "expected 'points', 'digest' and 'samples'");
    auto read = calibration::StatisticsFile::pointsFromJson(*points);
    if (!read)
      return read.takeError();
    for (const auto &[name, point] : *read)
      if (llvm::Error error = all.merge(name, point))
        return error;
    samples += *count;
    if (llvm::Error error = execution::addDigest(digest, *own))
      return error;
  }
  content = json::Object{
      {"points", all.pointsToJson()}, {"digest", digest}, {"samples", samples}};
  return llvm::Error::success();
}

/// Adds a part to one about the same question; returns false for a kind whose
/// parts stay as they are.
static llvm::Expected<bool> merge(ShardPart &into, const ShardPart &part) {
  auto fail = [&](const Twine &message) {
    return llvm::createStringError("'" + part.file + "': " + message);
  };
  if (into.count != part.count)
    return fail("is one of " + Twine(part.count) + " shards, and '" +
                into.file + "' one of " + Twine(into.count) +
                "; merge files of the same shards");
  for (int64_t shard : part.shards)
    if (into.shards.count(shard))
      return fail("has the " + part.kind + " of shard " + Twine(shard) +
                  ", as '" + into.file + "' has; merge each shard once");
  if (part.kind == "calibration") {
    if (llvm::Error error = mergeStatistics(into.content, part.content))
      return fail(llvm::toString(std::move(error)));
  } else {
    bool isMerged = false;
    for (auto *mergeParts :
         {execution::mergeSampleParts, execution::mergeEvaluationParts}) {
      auto merged = mergeParts(part.kind, into.content, part.content);
      if (!merged)
        return fail(llvm::toString(merged.takeError()));
      isMerged |= *merged;
    }
    if (!isMerged)
      return false;
  }
  into.shards.insert(part.shards.begin(), part.shards.end());
  return true;
}

namespace {
struct MergeShardsPass
    : public mct::impl::MergeShardsPassBase<MergeShardsPass> {
  using MergeShardsPassBase::MergeShardsPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    if (llvm::Error error = mergeFiles()) {
      emitError(getOperation().getLoc()) << llvm::toString(std::move(error));
      signalPassFailure();
    }
  }

private:
  llvm::Error mergeFiles() {
    if (shardsIn.empty() || shardsOut.empty())
      return llvm::createStringError(
          "merging shards needs files and a file to write; give "
          "shards-in=A,B and shards-out=C");
    std::vector<std::string> paths(shardsIn.begin(), shardsIn.end());
    if (llvm::Error error = support::checkOutputFiles(
            &getContext(), std::string(shardsOut), paths))
      return error;
    auto files = ShardFiles::load(paths);
    if (!files)
      return files.takeError();
    std::vector<ShardPart> merged;
    for (const ShardPart &part : (*files)->getParts()) {
      bool isMerged = false;
      for (ShardPart &other : merged) {
        if (isMerged || other.kind != part.kind || other.key != part.key)
          continue;
        auto done = merge(other, part);
        if (!done)
          return done.takeError();
        isMerged = *done;
      }
      if (!isMerged)
        merged.push_back(part);
    }
    std::vector<const ShardPart *> parts;
    for (const ShardPart &part : merged)
      parts.push_back(&part);
    return ShardFiles::save(shardsOut, parts, (*files)->getInstructionSets());
  }
};
} // namespace
