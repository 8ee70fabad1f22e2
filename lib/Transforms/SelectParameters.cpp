// SPDX-License-Identifier: Apache-2.0
#include "ScoreLogits.h"
#include "mct/IR/Records.h"
#include "mct/Quantization/Parallel.h"
#include "mct/Support/ContextThreads.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/PreservedParameters.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mct/Transforms/StatisticsConversion.h"

namespace mct {
#define GEN_PASS_DEF_SELECTPARAMETERSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
/// A point, the options of its search, and the result.
struct ActivationSearch {
  tpc::QuantizeOp point;
  quantization::SelectionOptions options;
  std::optional<std::pair<double, double>> bounds;
  std::optional<quantization::Histogram> histogram; // no bounds, or a table
  quantization::SelectedParameters selected;
  quantization::LutParameters table;
  /// The quantizer made from these, or by the method's own selection.
  tpc::QuantizerAttrInterface quantizer;
  std::string error;

  /// True if the target fixes one grid for all networks, which is `quantizer`.
  bool isFixed = false;
  /// Why the grid that the target fixes is not used.
  std::string notFixedReason;

  tpc::QuantizationMethodAttrInterface method() const {
    return tpc::QuantizeOp(point).getActivationConfig().getActMethod();
  }
  void run();
  tpc::SelectionAttr describe() const;

private:
  template <typename Result, typename Create>
  void take(llvm::Expected<Result> found, Result &result, Create create) {
    if (!found) {
      error = llvm::toString(found.takeError());
      return;
    }
    result = std::move(*found);
    quantizer = create();
  }
};
} // namespace

/// The first of these decides: the target's config, the known range, the data.
static bool isSigned(tpc::OpQuantConfigAttr config,
                     const ActivationSearch &search) {
  if (config.getSignedness() != tpc::Signedness::Auto)
    return config.getSignedness() == tpc::Signedness::Signed;
  return search.bounds ? search.bounds->first < 0
                       : quantization::hasNegativeValue(
                             *search.histogram, search.options.zThreshold);
}

/// Returns the grid that the target fixes for results between `low` and `high`,
/// or null if it fixes none. Fails if it is not a grid of the method, or cannot
/// represent the sign of the results.
static llvm::Expected<tpc::QuantizerAttrInterface>
getFixed(tpc::OpQuantConfigAttr config, double low, double high) {
  FloatAttr scale = config.getFixedScale();
  if (!scale)
    return tpc::QuantizerAttrInterface();
  double step = scale.getValueAsDouble();
  int64_t zeroPoint = *config.getFixedZeroPoint();
  auto bits = unsigned(config.getActBits());
  // The target's zero point is that of signed integers, if possible; here zero
  // points count from the lowest code.
  int64_t half = int64_t(1) << (bits - 1);
  if (config.getSignedness() != tpc::Signedness::Unsigned && zeroPoint < half)
    zeroPoint += half;
  tpc::QuantizerAttrInterface fixed =
      config.getActMethod().createFixed(step, zeroPoint, bits);
  if (!fixed)
    return llvm::createStringError(
        "has a fixed zero point that no grid of its method has");
  int64_t last = 2 * half - 1;
  if ((zeroPoint == 0 && low < -step) || (zeroPoint == last && high > step))
    return llvm::createStringError(
        "has a fixed grid without the sign that its values have");
  return fixed;
}

static FailureOr<ActivationSearch>
createSearch(tpc::QuantizeOp point, const SelectionSettings &settings) {
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
  ActivationSearch search;
  search.point = point;
  llvm::Expected<tpc::QuantizerAttrInterface> fixed =
      getFixed(config, statistics.getMin(), statistics.getMax());
  if (!fixed) {
    search.notFixedReason = llvm::toString(fixed.takeError());
  } else if (*fixed) {
    search.isFixed = true;
    search.quantizer = *fixed;
    return search;
  }
  tpc::QuantizationMethodAttrInterface method = config.getActMethod();
  if ((method.getGridSearch() &&
       failed(checkSelectableBits(point, config.getActBits(),
                                  settings.errorMethod))) ||
      (method.getTableSearch() &&
       failed(checkSelectableTable(point, config.getActBits(),
                                   quantization::kTableBits))))
    return failure();

  search.options = settings.optionsFor(method, config.getActBits());
  if (tpc::RangeAttr range = point.getRangeAttr(); range && range.isBounded())
    search.bounds = {*range.getMin(), *range.getMax()};
  // Without clipping, the extremes suffice and no histogram is needed.
  else if (settings.errorMethod == quantization::ErrorMethod::NoClipping &&
           settings.zThreshold == 0)
    search.bounds = {statistics.getMin(), statistics.getMax()};
  // Most logits belong to the background, so a method that minimizes the error
  // over all of them would clip those of detected objects.
  else if (settings.zThreshold == 0 &&
           settings.errorMethod != quantization::ErrorMethod::Percentile &&
           holdsScoreLogits(point))
    search.bounds = getScoreRange(statistics.getMin(), statistics.getMax(),
                                  unsigned(config.getActBits()));
  // A table follows the distribution even if the bounds are known, and a method
  // with its own selection may need the histogram.
  if (!search.bounds || !method.getGridSearch()) {
    FailureOr<quantization::Histogram> histogram =
        getHistogram(statistics, [&] { return point.emitOpError(); });
    if (failed(histogram))
      return failure();
    search.histogram = std::move(*histogram);
  }
  search.options.isSigned = isSigned(config, search);
  return search;
}

void ActivationSearch::run() {
  if (isFixed)
    return;
  auto createQuantizer = [&] {
    return method().createQuantizer(selected, options);
  };
  if (method().getTableSearch())
    take(quantization::selectLutForHistogram(*histogram, options), table,
         [&] { return method().createTableQuantizer(table, options); });
  else if (!method().getGridSearch())
    take(method().selectForHistogram(*histogram, options), quantizer,
         [&] { return quantizer; });
  else if (!bounds)
    take(quantization::selectForHistogram(*histogram, options), selected,
         createQuantizer);
  else {
    selected =
        quantization::selectForBounds(bounds->first, bounds->second, options);
    quantizer = createQuantizer();
  }
}

tpc::SelectionAttr ActivationSearch::describe() const {
  if (isFixed)
    return measureGiven(point, quantizer);
  MLIRContext *context = method().getContext();
  if (method().getTableSearch())
    return describeSelection(context, table);
  if (!method().getGridSearch())
    return describeError(context, tpc::ErrorMethod::Own,
                         meanSquaredError(*quantizer.prepare(),
                                          quantization::atomsOf(*histogram)));
  return bounds ? describeBounds(context, bounds->first, bounds->second)
                : describeSelection(context, selected, options);
}

namespace {
struct SelectParametersPass
    : public mct::impl::SelectParametersPassBase<SelectParametersPass> {
  using SelectParametersPassBase::SelectParametersPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SelectionSettings settings = {errorMethod, lpNorm, percentile, minThreshold,
                                  zThreshold};
    if (failed(settings.verify([&] { return module.emitError(); })))
      return signalPassFailure();
    if (errorMethod == quantization::ErrorMethod::HMSE) {
      module.emitError() << "error-method=hmse weighs the elements of kernels; "
                            "for activations use mse";
      return signalPassFailure();
    }
    std::vector<tpc::QuantizeOp> points;
    module.walk([&](tpc::QuantizeOp point) {
      if (!point.isWeight() && !point.getParametersAttr() &&
          !getPreservedPoint(point))
        points.push_back(point);
    });
    for (ArrayRef<tpc::QuantizeOp> left = points; !left.empty();) {
      ArrayRef<tpc::QuantizeOp> some = left.take_front(kPointsAtATime);
      if (failed(select(some, settings)))
        return signalPassFailure();
      left = left.drop_front(some.size());
    }
    sharePreservedParameters(module);
  }

private:
  /// Number of points whose histograms, of 64 KiB each, are in memory at a
  /// time.
  static constexpr size_t kPointsAtATime = 64;

  LogicalResult select(ArrayRef<tpc::QuantizeOp> points,
                       const SelectionSettings &settings) {
    std::vector<ActivationSearch> searches;
    for (tpc::QuantizeOp point : points) {
      FailureOr<ActivationSearch> search = createSearch(point, settings);
      if (failed(search))
        return failure();
      searches.push_back(std::move(*search));
    }
    support::Threads workers = support::getThreads(&getContext(), threads);
    quantization::parallelFor(searches.size(), workers, [&](size_t i) {
      if (!workers.isCancelled())
        searches[i].run();
    });
    if (workers.isCancelled())
      return getOperation().emitOpError() << "got no parameters: cancelled";
    for (ActivationSearch &search : searches) {
      if (!search.error.empty())
        return search.point.emitOpError() << search.error;
      search.point.setQuantizer(search.quantizer, search.describe());
      if (remarks)
        remarkOn(search);
    }
    return success();
  }
  void remarkOn(const ActivationSearch &search) {
    tpc::QuantizeOp point = search.point;
    if (!search.notFixedReason.empty())
      emitRecord(point, getArgument(),
                 Record(Reason::FixedGridDeclined) << search.notFixedReason,
                 "'" + point.getPointName() + "' is searched for: it ");
    if (search.isFixed)
      emitRecord(point, getArgument(),
                 Record(Decision::Applied, Reason::FixedGrid)
                     << "'" << point.getPointName()
                     << "' takes the grid that its target fixes");
    else
      remarkOnSelection(point, getArgument());
  }
};
} // namespace
