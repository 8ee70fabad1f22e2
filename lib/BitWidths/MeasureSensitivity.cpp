// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"
#include "SelectionOptions.h"
#include "Sensitivities.h"
#include "mct/Analysis/EntryFunction.h"
#include "mct/Execution/RunCache.h"

namespace mct {
#define GEN_PASS_DEF_MEASURESENSITIVITYPASS
#include "mct/BitWidths/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

namespace {
struct MeasureSensitivityPass
    : public mct::impl::MeasureSensitivityPassBase<MeasureSensitivityPass> {
  using MeasureSensitivityPassBase::MeasureSensitivityPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<tpc::TpcDialect>();
    execution::Executor::registerDependencies(registry);
  }

  void runOnOperation() override {
    FailureOr<func::FuncOp> entry = findEntryFunction(getOperation(), function);
    if (failed(entry) || failed(checkMeasurable(*entry)))
      return signalPassFailure();
    std::vector<OperatorPoints> choices = findChoices(*entry);
    if (choices.empty())
      return;
    FailureOr<std::optional<Sensitivities>> present =
        Sensitivities::readFrom(*entry, choices);
    if (failed(present))
      return signalPassFailure();
    if (*present)
      return;
    if (!(comparePoints >= 0 && comparePoints <= 1)) {
      emitError(getOperation().getLoc())
          << "compare-points is " << double(comparePoints)
          << ", which is no fraction; give a number from 0 to 1";
      return signalPassFailure();
    }
    FailureOr<execution::RunSettings> settings = parseSettings();
    if (failed(settings))
      return signalPassFailure();
    auto candidates =
        selectCandidates(*entry, [&](ModuleOp copy) { return select(copy); });
    if (failed(candidates))
      return signalPassFailure();
    auto run = CandidateRun::create(*entry, *candidates, *settings,
                                    {metric, int64_t(uint64_t(maxSamples)),
                                     roundMaxBits, comparePoints, distance,
                                     weighting});
    if (failed(run))
      return signalPassFailure();
    auto distances = (*run)->measureEach();
    if (failed(distances))
      return signalPassFailure();
    Sensitivities found;
    found.metric = (*run)->usedMetric();
    found.samples = (*run)->numSamples();
    found.distances = std::move(*distances);
    found.writeTo(*entry, choices);
  }

private:
  FailureOr<execution::RunSettings> parseSettings() {
    if (calibrationData.empty())
      return emitError(getOperation().getLoc())
             << "measuring needs samples; give calibration-data=FILE.npy";
    return execution::RunSettings::parse(
        getOperation().getLoc(), calibrationData, inputScale, inputOffset,
        calibrationSamples, batchSize, threads, maxMemory,
        &getAnalysis<execution::RunCache>());
  }
  LogicalResult select(ModuleOp copy) {
    return selectMissing(
        copy,
        {weightsErrorMethod, lpNorm, percentile, minThreshold,
         /*zThreshold=*/0},
        {activationErrorMethod, lpNorm, percentile, minThreshold, zThreshold},
        threads);
  }
};
} // namespace
