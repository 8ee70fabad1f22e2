// SPDX-License-Identifier: Apache-2.0
#include "CandidateRun.h"
#include "SelectionOptions.h"
#include "Sensitivities.h"
#include "mct/IR/EntryFunction.h"
#include "mct/Training/Gradients.h"

namespace mct {
#define GEN_PASS_DEF_MEASURESENSITIVITYPASS
#include "mct/BitWidths/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

namespace {
struct MeasureSensitivityPass
    : public WithGradientModels<SelectingPass<EntryFunctionPass<
          mct::impl::MeasureSensitivityPassBase<MeasureSensitivityPass>>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override {
    ComparedPoints points{comparePoints, distance, weighting};
    if (failed(checkCompared(points)))
      return failure();
    if (failed(checkMeasurable(entry)))
      return failure();
    std::vector<OperatorPoints> choices = findChoices(entry);
    if (choices.empty())
      return success();
    FailureOr<std::optional<Sensitivities>> present =
        Sensitivities::readFrom(entry, choices);
    if (failed(present))
      return failure();
    if (*present) {
      if (failed(checkPresent(entry, **present, points)))
        return failure();
      return success();
    }
    FailureOr<execution::RunSettings> settings =
        parseRunSettings("measuring", batchSize, threads);
    if (failed(settings))
      return failure();
    const auto &kernels = getAnalysis<KernelOps>();
    auto candidates = selectCandidates(
        entry, kernels, [&](ModuleOp copy) { return selectMissing(copy); });
    if (failed(candidates))
      return failure();
    auto run = CandidateRun::create(entry, kernels, *candidates, *settings,
                                    {metric, int64_t(uint64_t(maxSamples)),
                                     roundMaxBits, comparePoints, distance,
                                     weighting});
    if (failed(run))
      return failure();
    auto distances = (*run)->measureEach();
    if (failed(distances))
      return failure();
    Sensitivities found;
    found.metric = (*run)->usedMetric();
    found.samples = (*run)->numSamples();
    found.points = points;
    found.distances = std::move(*distances);
    found.writeTo(entry, choices);
    return success();
  }

private:
  LogicalResult checkCompared(ComparedPoints points) {
    if (!(points.fraction >= 0 && points.fraction <= 1))
      return emitError(getOperation().getLoc())
             << "compare-points is " << points.fraction
             << ", which is not a fraction; give a number from 0 to 1";
    if (points.fraction != 0 ||
        (points.distance == SensitivityDistance::Auto &&
         points.weighting == SensitivityWeighting::Average))
      return success();
    points.fraction = 1;
    return emitError(getOperation().getLoc())
           << "distance and weighting are of points inside of the network, and "
              "compare-points=0 compares none; give, for example, "
           << points.describe() << " (mct-ptq: sensitivity-compare-points=1)";
  }
  /// A table that was measured in another way is another table. What a person
  /// has written says of no samples.
  LogicalResult checkPresent(func::FuncOp entry, const Sensitivities &present,
                             const ComparedPoints &points) {
    if (present.samples == 0)
      return success();
    if (metric != SensitivityMetric::Auto && metric != present.metric)
      return entry.emitOpError()
             << "has '" << tpc::TpcDialect::kSensitivitiesAttrName
             << "' of the metric " << stringifyMetric(present.metric)
             << ", and not " << stringifyMetric(metric)
             << "; remove it, and run mct-measure-sensitivity again";
    if (!(present.points == points))
      return entry.emitOpError()
             << "has '" << tpc::TpcDialect::kSensitivitiesAttrName
             << "' that was measured with " << present.points.describe()
             << ", and not with " << points.describe()
             << "; ask for the same, or remove it, and run "
                "mct-measure-sensitivity again";
    return success();
  }
};
} // namespace
