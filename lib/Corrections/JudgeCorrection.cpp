// SPDX-License-Identifier: Apache-2.0
#include "FitMemory.h"
#include "Rejections.h"
#include "mct/Corrections/Passes.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/Execution/RunCache.h"
#include "mct/IR/EntryFunction.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"
#include <array>

namespace mct {
#define GEN_PASS_DEF_JUDGECORRECTIONPASS
#include "mct/Corrections/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::corrections;

static constexpr StringLiteral kCorrections[] = {
    tpc::kShiftNegativeCorrection, tpc::kChannelEqualization,
    tpc::kResidualEqualization,    tpc::kPartsRescaling,
    tpc::kSecondMomentCorrection,  tpc::kActivationBiasCorrection,
    tpc::kInputMeanCorrection,     tpc::kThresholdRefinement};

static bool isSame(Operation *left, Operation *right) {
  return OperationEquivalence::isEquivalentTo(
      left, right, OperationEquivalence::Flags::IgnoreLocations);
}

static bool hasRemarksOff(Pass &pass) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  pass.printAsTextualPipeline(stream);
  return StringRef(text).contains("remarks=false");
}

namespace {
struct JudgeCorrectionPass
    : public execution::ShardedNetworkPass<
          mct::impl::JudgeCorrectionPassBase<JudgeCorrectionPass>> {
  using ShardedNetworkPass::ShardedNetworkPass;

  void getDependentDialects(DialectRegistry &registry) const override {
    NetworkPass::getDependentDialects(registry);
    for (const OpPassManager &passes : madeBy)
      passes.getDependentDialects(registry);
    for (const OpPassManager &passes : then)
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (failed(checkOptions()))
      return signalPassFailure();
    FailureOr<func::FuncOp> entry = findEntryFunction(getOperation(), function);
    if (failed(entry))
      return signalPassFailure();
    if (tpc::isRejected(*entry, correction, ""))
      return markAllAnalysesPreserved();
    OwningOpRef<ModuleOp> corrected = getOperation().clone();
    if (failed(run(madeBy, *corrected)))
      return signalPassFailure();
    if (isSame(*corrected, getOperation()))
      return markAllAnalysesPreserved();
    FailureOr<std::optional<JudgedLoss>> loss = judge(*corrected);
    if (failed(loss))
      return signalPassFailure();
    if (!*loss) {
      getOperation()->setAttrs((*corrected)->getAttrDictionary());
      getOperation().getBodyRegion().takeBody(corrected->getBodyRegion());
      return;
    }
    tpc::addRejectedCorrection(*entry, describeRejection(correction, **loss));
    if (remarks)
      emitRecord(*entry, getArgument(), describeLoss(**loss),
                 "'" + correction + "' is undone: ");
  }

private:
  LogicalResult checkOptions() {
    Location loc = getOperation().getLoc();
    if (!llvm::is_contained(kCorrections, correction))
      return emitError(loc) << "'" << correction
                            << "' is not a correction that is judged as a "
                               "whole; expected one of "
                            << llvm::join(ArrayRef(kCorrections), ", ");
    if (madeBy.empty())
      return emitError(loc) << "nothing makes the correction; give made-by="
                               "builtin.module(PASSES)";
    if (failed(checkSamples("judging")))
      return failure();
    for (const auto *passes : {&madeBy, &then})
      for (const OpPassManager &each : *passes)
        if (each.getOpName() != ModuleOp::getOperationName())
          return emitError(loc)
                 << "runs passes on the module, but got some "
                    "for '"
                 << each.getOpAnchorName() << "'; write builtin.module(PASSES)";
    return success();
  }
  /// Runs pipelines on a module other than that of the pass.
  template <typename List> LogicalResult run(List &all, ModuleOp module) {
    for (OpPassManager &each : all) {
      PassManager passes(&getContext(), ModuleOp::getOperationName());
      static_cast<OpPassManager &>(passes) = each;
      // If the records of this pass are for collectors only, so are those of
      // the passes that it runs.
      SilentPasses *silent = SilentPassesScope::find(&getContext());
      if (silent && !silent->contains(getArgument()))
        silent = nullptr;
      SmallVector<StringRef> silenced;
      for (Pass &pass : passes.getPasses()) {
        if (!remarks || !hasRemarksOff(pass))
          continue;
        if (failed(pass.initializeOptions(
                "remarks=true", [&](const Twine &message) -> LogicalResult {
                  return emitError(module.getLoc()) << message;
                })))
          return failure();
        if (silent)
          silent->add(silenced.emplace_back(pass.getArgument()));
      }
      LogicalResult ran = passes.run(module);
      for (StringRef pass : silenced)
        silent->remove(pass);
      if (failed(ran))
        return failure();
    }
    return success();
  }
  FailureOr<std::optional<JudgedLoss>> judge(ModuleOp corrected);
  /// Runs the passes that follow the correction on a module. Returns the last
  /// fit if it produced the module's function; otherwise null.
  FailureOr<std::shared_ptr<Fit>> complete(ModuleOp module,
                                           std::shared_ptr<const Fit> reference,
                                           FitMemory &memory);
  /// Returns the loss of the module with the correction compared with the one
  /// without, by running both.
  FailureOr<std::optional<JudgedLoss>>
  compare(ModuleOp with, ModuleOp without,
          const execution::RunSettings &settings);
  /// Returns whether the fits of both modules include the samples that judge.
  bool coverAllSamples(const Fit &with, const Fit &without) {
    auto most = int64_t(uint64_t(maxSamples));
    return with.errors && without.exact.results &&
           without.numSamples == without.available &&
           (most == 0 || without.available <= most);
  }
  /// Runs the float network on the samples and returns its unit; a `unit` of 0
  /// lets the executor choose it. The network is in memory only during the
  /// call.
  FailureOr<int64_t> runFloat(ModuleOp module,
                              const execution::RunSettings &settings,
                              int64_t unit, SampleRun::Networks &networks,
                              std::optional<SampleRun> &samples);
};
} // namespace

FailureOr<std::shared_ptr<Fit>> JudgeCorrectionPass::complete(
    ModuleOp module, std::shared_ptr<const Fit> reference, FitMemory &memory) {
  // Suppress the remarks of trials.
  ScopedDiagnosticHandler quiet(&getContext(), [](Diagnostic &diagnostic) {
    return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
  });
  FitMemory::Trial trial(memory, std::move(reference));
  if (failed(run(then, module)))
    return failure();
  FailureOr<func::FuncOp> entry = findEntryFunction(module, function);
  if (failed(entry))
    return failure();
  return trial.getFit(*entry);
}

FailureOr<int64_t> JudgeCorrectionPass::runFloat(
    ModuleOp module, const execution::RunSettings &settings, int64_t unit,
    SampleRun::Networks &networks, std::optional<SampleRun> &samples) {
  execution::CompileOptions options;
  options.function = networks.floatFunction.getSymName().str();
  options.simulateQuantization = false;
  options.unit = unit;
  auto executors = compileQuietly(module, options, settings);
  if (failed(executors))
    return failure();
  auto floating = execution::NetworkRun::prepare(
      networks.loc, std::move(executors->front()), settings);
  if (failed(floating) ||
      failed(floating->thin(int64_t(uint64_t(maxSamples)),
                            execution::SampleOrder::ByValue)))
    return failure();
  networks.floating = &floating->executor();
  samples.emplace(networks, floating->sharedSamples());
  if (failed(samples->runFloat(/*moments=*/false, /*keepsResults=*/true)))
    return failure();
  networks.floating = nullptr;
  return floating->executor().unit();
}

FailureOr<std::optional<JudgedLoss>>
JudgeCorrectionPass::judge(ModuleOp corrected) {
  FailureOr<execution::RunSettings> settings =
      parseRunSettings("judging", batchSize, threads,
                       {int64_t(uint64_t(maxSamples)), /*halves=*/false});
  if (failed(settings))
    return failure();
  // Let the passes that run on the modules find the cache, too.
  std::optional<execution::RunCacheScope> scope;
  if (!execution::RunCacheScope::find(&getContext()))
    scope.emplace(&getContext(), *settings->cache);
  auto &memory = settings->cache->get<FitMemory>();
  OwningOpRef<ModuleOp> with = corrected.clone(),
                        without = getOperation().clone();
  auto fitWithout = complete(*without, /*reference=*/nullptr, memory);
  if (failed(fitWithout))
    return failure();
  auto fitWith = complete(*with, *fitWithout, memory);
  if (failed(fitWith))
    return failure();
  FailureOr<std::optional<JudgedLoss>> loss = std::optional<JudgedLoss>();
  if (*fitWith && *fitWithout && coverAllSamples(**fitWith, **fitWithout))
    loss = findWorstLoss((*fitWithout)->exact.results.get(),
                         &*(*fitWith)->errors, &(*fitWithout)->measured.errors);
  else
    loss = compare(*with, *without, *settings);
  if (succeeded(loss))
    memory.keep(std::move(*loss ? *fitWithout : *fitWith));
  return loss;
}

FailureOr<std::optional<JudgedLoss>>
JudgeCorrectionPass::compare(ModuleOp with, ModuleOp without,
                             const execution::RunSettings &settings) {
  const KernelOps &kernels = getAnalysis<KernelOps>();
  auto before = Layers::find(without, kernels, function, getArgument(),
                             /*remarks=*/false),
       after = Layers::find(with, kernels, function, getArgument(),
                            /*remarks=*/false);
  if (failed(before) || failed(after))
    return failure();
  Layers::Networks networks = before->cloneBoth();
  func::FuncOp other = after->function.clone();
  other.setName((networks.floating.getSymName() + "_corrected").str());
  networks.module->push_back(other);
  Location loc = networks.module->getLoc();
  SampleRun::Networks compared{loc,
                               /*floating=*/nullptr,
                               /*quantized=*/nullptr,
                               networks.floating,
                               /*layers=*/{},
                               settings.run};
  std::optional<SampleRun> samples;
  std::vector<std::unique_ptr<execution::Executor>> executors;
  // Results can only be compared in units of the same size.
  int64_t unit = 0;
  do {
    executors.clear();
    FailureOr<int64_t> exact =
        runFloat(*networks.module, settings, unit, compared, samples);
    if (failed(exact))
      return failure();
    SmallVector<execution::CompileOptions, 2> options(2);
    for (auto [each, compiled] :
         llvm::zip_equal(options, std::array{networks.quantized, other})) {
      each.function = compiled.getSymName().str();
      each.unit = unit;
    }
    auto made = compileQuietly(*networks.module, options, settings);
    if (failed(made))
      return failure();
    executors = std::move(*made);
    int64_t least = *exact;
    bool isShared = true;
    for (const auto &each : executors) {
      isShared &= each->unit() == *exact;
      least = std::min(least, each->unit());
    }
    if (isShared || unit != 0)
      break;
    unit = settings.maxMemory > 0 ? least : *exact;
  } while (true);
  compared.quantized = executors.front().get();
  auto measuredWithout = samples->run(Version(), /*measuresLayers=*/false),
       measuredWith = samples->run(*executors.back(), Version(),
                                   /*measuresLayers=*/false);
  if (failed(measuredWithout) || failed(measuredWith))
    return failure();
  const SampleRun *run = &*samples;
  return findWorstLoss(run, *measuredWith, *measuredWithout);
}
