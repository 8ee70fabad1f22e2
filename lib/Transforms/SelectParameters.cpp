// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mct/Transforms/StatisticsConversion.h"

namespace mct {
#define GEN_PASS_DEF_SELECTPARAMETERSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// First rule that applies: the target's word, the known range, the data.
static bool isSigned(tpc::OpQuantConfigAttr config,
                     std::optional<std::pair<double, double>> bounds,
                     tpc::StatisticsAttr statistics) {
  if (config.getSignedness() != tpc::Signedness::Auto)
    return config.getSignedness() == tpc::Signedness::Signed;
  return bounds ? bounds->first < 0 : statistics.sawNegative();
}

static LogicalResult selectParameters(tpc::QuantizeOp point,
                                      quantization::ErrorMethod errorMethod) {
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  if (!config)
    return point.emitOpError()
           << "has no config; run mct-insert-quantizers, or give it one";
  tpc::StatisticsAttr statistics = point.getStatisticsAttr();
  if (!statistics) {
    InFlightDiagnostic diagnostic =
        point.emitOpError() << "needs calibration statistics but has none";
    diagnostic.attachNote() << "its config asks for " << config.getActBits()
                            << "-bit activations; run mct-calibrate before";
    return diagnostic;
  }
  quantization::QuantizerKind kind = getQuantizerKind(config.getActMethod());
  if (failed(hasTable(kind) ? checkSelectableTable(point, config.getActBits(),
                                                   quantization::kTableBits)
                            : checkSelectableBits(point, config.getActBits())))
    return failure();

  std::optional<std::pair<double, double>> bounds;
  if (tpc::RangeAttr range = point.getRangeAttr(); range && range.isBounded())
    bounds = {*range.getMin(), *range.getMax()};
  quantization::SelectionOptions options;
  options.kind = kind;
  options.bits = config.getActBits();
  options.isSigned = isSigned(config, bounds, statistics);
  options.errorMethod = errorMethod;

  // A table follows the distribution, also inside of known bounds.
  if (hasTable(kind)) {
    FailureOr<quantization::Histogram> histogram =
        getHistogram(statistics, [&] { return point.emitOpError(); });
    if (failed(histogram))
      return failure();
    llvm::Expected<quantization::LutParameters> found =
        quantization::selectLutForHistogram(*histogram, options);
    if (!found)
      return point.emitOpError() << llvm::toString(found.takeError());
    point.setParametersAttr(
        createParameters(point.getContext(), *found, options));
    return success();
  }

  // Without clipping the extremes say everything; a histogram is not asked for.
  if (!bounds && errorMethod == quantization::ErrorMethod::NoClipping)
    bounds = {statistics.getMin(), statistics.getMax()};

  quantization::SelectedParameters selected;
  if (bounds) {
    selected =
        quantization::selectForBounds(bounds->first, bounds->second, options);
  } else {
    FailureOr<quantization::Histogram> histogram =
        getHistogram(statistics, [&] { return point.emitOpError(); });
    if (failed(histogram))
      return failure();
    llvm::Expected<quantization::SelectedParameters> found =
        quantization::selectForHistogram(*histogram, options);
    if (!found)
      return point.emitOpError() << llvm::toString(found.takeError());
    selected = *found;
  }
  point.setParametersAttr(
      createParameters(point.getContext(), selected, options));
  return success();
}

namespace {
struct SelectParametersPass
    : public mct::impl::SelectParametersPassBase<SelectParametersPass> {
  using SelectParametersPassBase::SelectParametersPassBase;

  void runOnOperation() override {
    WalkResult result = getOperation().walk([&](tpc::QuantizeOp point) {
      if (point.isWeight() || point.getParametersAttr())
        return WalkResult::advance();
      return WalkResult(selectParameters(point, errorMethod));
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
