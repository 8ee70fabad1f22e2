// SPDX-License-Identifier: Apache-2.0
//
// Evaluations that are divided among several processes.
#include "mct/Evaluation/Evaluation.h"

#include "mct/Evaluation/EvaluationTotals.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Support/Digest.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;

FailureOr<std::string>
execution::nameEvaluation(ModuleOp module, ModuleOp reference,
                          const RunSettings &settings,
                          const EvaluationOptions &options) {
  FailureOr<func::FuncOp> entry = findEntryFunction(module, options.function);
  if (failed(entry))
    return failure();
  FailureOr<std::string> reading = nameReading(*entry, settings);
  if (failed(reading))
    return failure();
  support::DigestStream stream;
  stream << nameContent(module) << " "
         << (reference ? nameContent(reference) : "alone") << " " << *reading
         << " " << entry->getSymName() << "\n"
         << llvm::join(options.floatPoints, ",") << "\n"
         << options.metric;
  for (bool flag : {options.exact, options.local, options.splitErrors,
                    options.digest, options.hasLabels})
    stream << (flag ? '1' : '0');
  return stream.digits();
}

FailureOr<EvaluationTotals>
execution::mergeEvaluations(const Shards &shards,
                            ArrayRef<const ShardPart *> parts) {
  std::optional<EvaluationTotals> all;
  for (const ShardPart *part : parts)
    if (failed(shards.read(
            *part, [&](const llvm::json::Object &content) -> llvm::Error {
              auto own = EvaluationTotals::fromJson(content);
              if (!own)
                return own.takeError();
              if (all)
                return all->merge(*own);
              all = std::move(*own);
              return llvm::Error::success();
            })))
      return failure();
  return std::move(*all);
}

llvm::Expected<bool>
execution::mergeEvaluationParts(StringRef kind, llvm::json::Object &content,
                                const llvm::json::Object &other) {
  if (kind != kEvaluationPart)
    return false;
  auto all = EvaluationTotals::fromJson(content),
       added = EvaluationTotals::fromJson(other);
  if (!all || !added)
    return llvm::joinErrors(all.takeError(), added.takeError());
  if (llvm::Error error = all->merge(*added))
    return std::move(error);
  content = all->toJson();
  return true;
}

FailureOr<Evaluation>
execution::judgeEvaluation(Location loc, const EvaluationTotals &totals,
                           const EvaluationOptions &options) {
  std::unique_ptr<Metric> metric;
  if (!options.metric.empty()) {
    auto made = Metric::create(options.metric);
    if (!made)
      return emitError(loc) << llvm::toString(made.takeError());
    metric = std::move(*made);
  }
  auto judged = totals.judge(metric.get());
  if (!judged)
    return emitError(loc) << llvm::toString(judged.takeError());
  return std::move(*judged);
}

FailureOr<Evaluation> execution::evaluate(ModuleOp module, ModuleOp reference,
                                          RunSettings settings,
                                          const EvaluationOptions &options) {
  FailureOr<EvaluationTotals> totals =
      measure(module, reference, std::move(settings), options);
  if (failed(totals))
    return failure();
  return judgeEvaluation(module.getLoc(), *totals, options);
}

bool execution::haveLabels(const Shards &shards) {
  return llvm::any_of(
      shards.findKind(kEvaluationPart), [](const ShardPart *part) {
        return part->content.getBoolean("has_labels").value_or(false);
      });
}

FailureOr<std::optional<Evaluation>>
execution::evaluateShards(Shards &shards, ModuleOp module, ModuleOp reference,
                          RunSettings settings,
                          const EvaluationOptions &options) {
  FailureOr<std::string> key =
      nameEvaluation(module, reference, settings, options);
  if (failed(key))
    return failure();
  auto parts = shards.find(kEvaluationPart, *key);
  if (failed(parts))
    return failure();
  if (!parts->empty()) {
    FailureOr<EvaluationTotals> totals = mergeEvaluations(shards, *parts);
    if (failed(totals))
      return failure();
    FailureOr<Evaluation> judged =
        judgeEvaluation(module.getLoc(), *totals, options);
    if (failed(judged))
      return failure();
    return std::optional(std::move(*judged));
  }
  if (!shards.canMeasure())
    return shards.reportMissing(kEvaluationPart);
  FailureOr<EvaluationTotals> own =
      measure(module, reference, std::move(settings), options);
  if (failed(own))
    return failure();
  own->hasLabels = options.hasLabels;
  shards.record(kEvaluationPart, *key, own->toJson());
  return std::optional<Evaluation>();
}
