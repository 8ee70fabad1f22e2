// SPDX-License-Identifier: Apache-2.0
#include "ShiftRewriter.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantization/HistogramShift.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/StringSwitch.h"
#include <variant>

namespace mct {
#define GEN_PASS_DEF_CORRECTSHIFTNEGATIVEPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using quantization::Atom;
using quantization::NegativeShift;

/// Returns whether values slightly below zero are typical of the operator.
static bool isNonLinearity(const tpc::Node &node) {
  StringRef name;
  if (auto subgraph = dyn_cast_or_null<tpc::SubgraphAttr>(node.pattern))
    name = subgraph.getName().getValue();
  bool isKnownForm = llvm::StringSwitch<bool>(name)
                         .Cases({"swish", "hard_swish", "gelu", "leaky_relu",
                                 "prelu", "elu", "scaled_elu"},
                                true)
                         .Default(false);
  StringRef set = node.operatorSet ? node.operatorSet.getValue() : StringRef();
  return isKnownForm ||
         llvm::StringSwitch<bool>(set)
             .Cases({"Swish", "HardSwish", "Gelu", "LeakyReLU", "PReLU", "Elu"},
                    true)
             .Default(false);
}

//===----------------------------------------------------------------------===//
// Effects of the shift on a point
//===----------------------------------------------------------------------===//

namespace {
/// The new attributes of a point.
struct NewPoint {
  tpc::StatisticsAttr statistics;
  tpc::QuantizerAttrInterface parameters;
  tpc::RangeAttr range;
  tpc::SelectionAttr selection;
};
} // namespace

static tpc::StatisticsAttr shiftStatistics(tpc::QuantizeOp point,
                                           double offset) {
  // Cannot fail: the histogram has been read before.
  return *mct::shiftStatistics(point.getStatisticsAttr(), offset,
                               (point.getPointName() + kShiftedSuffix).str(),
                               [&] { return point.emitOpError(); });
}

static constexpr StringLiteral kPassName = "mct-correct-shift-negative";

static NamedValue brief(StringRef name, double value) {
  return named(name, value, "%.6g");
}

static Record noShiftLifts(double minimum) {
  return Record(Reason::NoShiftBelowThreshold)
         << "no shift below its threshold lifts the minimum "
         << brief("minimum", minimum) << " to zero";
}

//===----------------------------------------------------------------------===//
// The correction of one function
//===----------------------------------------------------------------------===//

namespace {
/// The options of the pass.
struct Settings {
  double ratio;
  bool thresholdRecalculation, parameterSearch, biasCorrectionFollows, remarks;
  SelectionSettings selection;

  bool mustCover() const {
    return selection.errorMethod == quantization::ErrorMethod::NoClipping &&
           selection.zThreshold == 0;
  }
};

/// The values that calibration observed at a point.
struct Observed {
  quantization::Histogram histogram;
  std::vector<Atom> atoms;
};

/// A shift, the new attributes of the points that it reaches, and the sums of
/// their mean squared errors.
struct PlannedShift {
  NegativeShift shift;
  ShiftReach reach;
  SmallVector<std::pair<tpc::QuantizeOp, NewPoint>> points;
  double errorBefore = 0, errorAfter = 0;
};

class Corrector {
public:
  Corrector(func::FuncOp function, const KernelOps &kernelOps,
            const Settings &settings)
      : kernelOps(kernelOps), settings(settings),
        rewriter(function, settings.biasCorrectionFollows) {}

  /// Corrects the result of a non-linearity, or emits a remark with the reason
  /// not.
  LogicalResult visit(const tpc::Node &node);

private:
  /// The shift to apply, or the reason why there is none.
  using Planned = std::variant<PlannedShift, Record>;

  FailureOr<Planned> plan(const tpc::Node &node, tpc::QuantizeOp point);
  /// Adds a point after the shifted one, whose values are shifted by `offset`,
  /// to the plan, or returns the reason why it cannot be shifted.
  FailureOr<std::optional<Record>> add(PlannedShift &planned,
                                       tpc::QuantizeOp point, double offset);
  void apply(const tpc::Node &node, tpc::QuantizeOp point,
             const PlannedShift &planned);
  void leave(tpc::QuantizeOp point, const Record &why);

  std::variant<NegativeShift, Record>
  chooseShift(tpc::QuantizeOp point, double minimum, const Observed &seen);
  std::variant<NewPoint, Record>
  shiftPoint(tpc::QuantizeOp point, double offset, const Observed &seen);

  const KernelOps &kernelOps;
  const Settings &settings;
  ShiftRewriter rewriter;
};
} // namespace

static FailureOr<Observed> observe(tpc::QuantizeOp point) {
  FailureOr<quantization::Histogram> histogram = getHistogram(
      point.getStatisticsAttr(), [&] { return point.emitOpError(); });
  if (failed(histogram))
    return failure();
  std::vector<Atom> atoms = quantization::getAtoms(*histogram);
  return Observed{std::move(*histogram), std::move(atoms)};
}

/// Returns true if a grid search can select the parameters again.
static bool canSelectGrid(tpc::QuantizerAttrInterface parameters) {
  return parameters.getQuantizationMethod().getGridSearch() &&
         parameters.getGrids().size() == 1;
}

LogicalResult Corrector::visit(const tpc::Node &node) {
  tpc::QuantizeOp point;
  for (Operation *user : node.result().getUsers())
    if (auto candidate = dyn_cast<tpc::QuantizeOp>(user))
      point = candidate;
  // Nothing is quantized inside of a fused chain.
  if (!point)
    return success();
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!point.getStatisticsAttr() || !parameters) {
    InFlightDiagnostic diagnostic = point.emitOpError()
                                    << "needs statistics and parameters";
    diagnostic.attachNote() << "run mct-calibrate and mct-select-parameters "
                               "before";
    return failure();
  }
  if (!canSelectGrid(parameters)) {
    leave(point, Reason::NotSearchedGrid);
    return success();
  }
  if (!parameters.getGridThreshold()) {
    leave(point, Reason::HasZeroPoint);
    return success();
  }
  if (!parameters.getIsSigned())
    return success();
  FailureOr<Planned> planned = plan(node, point);
  if (failed(planned))
    return failure();
  if (auto *reason = std::get_if<Record>(&*planned))
    leave(point, *reason);
  else
    apply(node, point, std::get<PlannedShift>(*planned));
  return success();
}

void Corrector::leave(tpc::QuantizeOp point, const Record &why) {
  if (!settings.remarks)
    return;
  InFlightDiagnostic remark = emitRecord(
      point, kPassName, why, "'" + point.getPointName() + "' is not shifted: ");
  if (why.getCause())
    remark.attachNote(why.getCause()->getLoc()) << "the op is here";
}

/// Returns the options of a search for parameters like the present ones, which
/// belong to a method with a grid search.
static quantization::SelectionOptions
getSelectionOptions(tpc::QuantizerAttrInterface parameters,
                    const SelectionSettings &settings) {
  quantization::SelectionOptions options = settings.optionsFor(
      parameters.getQuantizationMethod(), parameters.getBits());
  options.isSigned = parameters.getIsSigned();
  return options;
}

/// Creates a quantizer with the selected grid, and with the method and the
/// rounding of the present one.
static tpc::QuantizerAttrInterface
createLike(tpc::QuantizerAttrInterface present,
           const quantization::SelectedParameters &selected,
           const quantization::SelectionOptions &options) {
  tpc::QuantizerAttrInterface created =
      present.getQuantizationMethod().createQuantizer(selected, options);
  if (std::optional<quantization::Rounding> rounding =
          present.getRoundingMode())
    if (tpc::QuantizerAttrInterface rounded =
            created.withRoundingMode(*rounding))
      return rounded;
  return created;
}

static quantization::Grid getGrid(tpc::QuantizerAttrInterface parameters) {
  return parameters.getGrids().front();
}

std::variant<NegativeShift, Record>
Corrector::chooseShift(tpc::QuantizeOp point, double minimum,
                       const Observed &seen) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  double threshold = *parameters.getGridThreshold();
  quantization::SelectionOptions selection =
      getSelectionOptions(parameters, settings.selection);
  if (settings.parameterSearch)
    return quantization::searchNegativeShift(seen.atoms, threshold,
                                             selection.bits);
  if (settings.thresholdRecalculation) {
    std::optional<NegativeShift> found = quantization::selectNegativeShift(
        seen.atoms, minimum, threshold, selection);
    if (!found)
      return noShiftLifts(minimum);
    // An unsigned grid of twice the threshold has the step of the present
    // signed grid.
    if (found->threshold >= 2 * threshold)
      return Record(Reason::ThresholdWouldDouble)
             << "its threshold would go from " << brief("threshold", threshold)
             << " to " << brief("new_threshold", found->threshold);
    return *found;
  }
  std::optional<double> shift =
      quantization::shiftForNegative(minimum, threshold, selection.bits);
  if (!shift)
    return noShiftLifts(minimum);
  quantization::Grid grid = quantization::symmetricGrid(
      threshold, selection.bits, /*isSigned=*/false);
  double largest = seen.histogram.max() + *shift;
  if (largest > grid.step * double(grid.qmax))
    return Record(Reason::NotCovered)
           << "the shifted maximum " << brief("maximum", largest)
           << " exceeds the largest level "
           << brief("level", grid.step * double(grid.qmax)) << " of threshold "
           << brief("threshold", threshold);
  return NegativeShift{*shift, threshold, 0};
}

static tpc::RangeAttr shiftRange(tpc::RangeAttr range, double offset) {
  if (!range)
    return {};
  auto shift = [&](std::optional<double> bound) {
    return bound ? std::optional<double>(*bound + offset) : std::nullopt;
  };
  return tpc::RangeAttr::get(range.getContext(), shift(range.getMin()),
                             shift(range.getMax()));
}

/// Returns none if the values of a point plus `offset` are in the range of f32
/// and a grid of its width can be selected again, or the reason why not.
static std::optional<Record> checkShifted(tpc::QuantizeOp point, double offset,
                                          const Observed &seen) {
  if (!std::isfinite(float(seen.histogram.min() + offset)) ||
      !std::isfinite(float(seen.histogram.max() + offset)))
    return Record(Decision::Declined, Reason::OutsideFloat, point)
           << "the values of '" << named("point", point.getPointName())
           << "' plus " << brief("offset", offset)
           << " would leave the range of f32";
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (parameters && parameters.getBits() > kMaxSelectableBits)
    return Record(Decision::Declined, Reason::TooManyBits, point)
           << "the grid of '" << named("point", point.getPointName())
           << "' has " << named("bits", int64_t(parameters.getBits()))
           << " bits; parameters can be selected for at most "
           << named("most", kMaxSelectableBits);
  return std::nullopt;
}

/// Returns the attributes of a point whose values are shifted by `offset`.
std::variant<NewPoint, Record> Corrector::shiftPoint(tpc::QuantizeOp point,
                                                     double offset,
                                                     const Observed &seen) {
  NewPoint result;
  if (std::optional<Record> reason = checkShifted(point, offset, seen))
    return *reason;
  result.range = shiftRange(point.getRangeAttr(), offset);
  result.statistics = shiftStatistics(point, offset);
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!parameters)
    return result;
  quantization::SelectionOptions selection =
      getSelectionOptions(parameters, settings.selection);
  double lo = seen.histogram.min() + offset, hi = seen.histogram.max() + offset;
  bool isBounded = result.range && result.range.isBounded();
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  if (!config || config.getSignedness() == tpc::Signedness::Auto)
    selection.isSigned = (isBounded ? *result.range.getMin() : lo) < 0;
  bool hasThreshold = parameters.getGridThreshold().has_value();

  quantization::SelectedParameters selected;
  bool isSearched = settings.thresholdRecalculation || !hasThreshold;
  if (isSearched) {
    std::vector<Atom> atoms = quantization::shiftAtoms(seen.atoms, offset);
    selected = isBounded ? quantization::selectForBounds(*result.range.getMin(),
                                                         *result.range.getMax(),
                                                         selection)
                         : quantization::selectForAtoms(atoms, selection);
  } else {
    selected.threshold = *parameters.getGridThreshold();
  }
  if (hasThreshold) {
    double before = *parameters.getGridThreshold();
    int levelsLog2 = int(selection.bits) - selection.isSigned;
    auto covers = [&] {
      return hi <=
             selected.threshold - std::ldexp(selected.threshold, -levelsLog2);
    };
    if (!settings.thresholdRecalculation) {
      if (!covers())
        return Record(Decision::Declined, Reason::NotCovered, point)
               << "the shifted maximum " << brief("maximum", hi) << " of '"
               << named("point", point.getPointName())
               << "' exceeds what threshold " << brief("threshold", before)
               << " can represent";
    } else if (settings.mustCover() && !covers()) {
      isSearched = false;
      if (parameters.getQuantizationMethod().hasPowerOfTwoThresholds())
        while (!covers() && std::isfinite(selected.threshold))
          selected.threshold *= 2;
      else
        selected.threshold =
            hi / (1 - std::ldexp(1.0, -levelsLog2)) * (1 + 1e-9);
      // A signed grid of one bit has no level above zero.
      if (!std::isfinite(selected.threshold))
        return Record(Decision::Declined, Reason::NotCovered, point)
               << "no threshold of " << named("bits", int64_t(selection.bits))
               << " bits covers the shifted maximum " << brief("maximum", hi)
               << " of '" << named("point", point.getPointName()) << "'";
    }
  }
  result.parameters = createLike(parameters, selected, selection);
  MLIRContext *context = point.getContext();
  if (!isSearched)
    result.selection =
        describeError(context, tpc::ErrorMethod::Given,
                      quantization::meanSquaredError(
                          quantization::shiftAtoms(seen.atoms, offset),
                          getGrid(result.parameters)));
  else if (isBounded)
    result.selection =
        describeBounds(context, *result.range.getMin(), *result.range.getMax());
  else
    result.selection = describeSelection(context, selected, selection);
  return result;
}

/// Returns why a signed grid has to stay, or that the negative tail is too
/// long; none if a shift may help. `minimum`: the smallest of the values.
static std::optional<Record> checkTail(tpc::QuantizeOp point, double minimum,
                                       double ratio) {
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  if (config && config.getSignedness() == tpc::Signedness::Signed)
    return Reason::TargetWantsSigned;
  if (config && config.getFixedScale())
    return Reason::FixedGrid;
  if (point.hasImportedParameters())
    return Reason::ImportedParameters;
  double threshold = *point.getParametersAttr().getGridThreshold();
  if (quantization::isShortNegativeTail(minimum, threshold, ratio))
    return std::nullopt;
  return Record(Reason::LongTail)
         << "its minimum " << brief("minimum", minimum) << " is "
         << brief("part", -minimum / threshold) << " of its threshold "
         << brief("threshold", threshold) << ", more than the ratio "
         << brief("ratio", ratio);
}

FailureOr<Corrector::Planned> Corrector::plan(const tpc::Node &node,
                                              tpc::QuantizeOp point) {
  // Calibration may not have seen the smallest value that can occur.
  double minimum = point.getStatisticsAttr().getMin();
  if (tpc::RangeAttr range = point.getRangeAttr(); range && range.getMin())
    minimum = std::min(minimum, *range.getMin());
  if (std::optional<Record> reason = checkTail(point, minimum, settings.ratio))
    return Planned(*reason);
  if (!ShiftRewriter::canAdd(node.result()))
    return Planned(Record(Decision::Declined, Reason::UnknownOp, node.root()));
  std::variant<ShiftReach, Record> reach = followShift(point, kernelOps);
  if (auto *reason = std::get_if<Record>(&reach))
    return Planned(*reason);

  FailureOr<Observed> seen = observe(point);
  if (failed(seen))
    return failure();
  if (std::optional<Record> reason = checkShifted(point, 0, *seen))
    return Planned(*reason);
  std::variant<NegativeShift, Record> chosen =
      chooseShift(point, minimum, *seen);
  if (auto *reason = std::get_if<Record>(&chosen))
    return Planned(*reason);
  PlannedShift planned;
  planned.shift = std::get<NegativeShift>(chosen);
  planned.reach = std::get<ShiftReach>(reach);
  double shift = planned.shift.shift;
  if (std::optional<Record> reason = checkShifted(point, shift, *seen))
    return Planned(*reason);

  // Start with the point itself, followed by the points that the shift passes.
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  quantization::SelectionOptions selection =
      getSelectionOptions(parameters, settings.selection);
  selection.isSigned = false;
  quantization::SelectedParameters selected;
  selected.threshold = planned.shift.threshold;
  NewPoint own;
  own.range = shiftRange(point.getRangeAttr(), shift);
  own.statistics = shiftStatistics(point, shift);
  own.parameters = createLike(parameters, selected, selection);
  planned.errorBefore =
      quantization::meanSquaredError(seen->atoms, getGrid(parameters));
  planned.errorAfter = quantization::meanSquaredError(
      quantization::shiftAtoms(seen->atoms, shift), getGrid(own.parameters));
  own.selection = describeError(point.getContext(), tpc::ErrorMethod::Given,
                                planned.errorAfter);
  planned.points.push_back({point, own});
  for (auto [other, times] : planned.reach.points) {
    FailureOr<std::optional<Record>> reason =
        add(planned, other, times * shift);
    if (failed(reason))
      return failure();
    if (*reason)
      return Planned(**reason);
  }
  if (planned.errorAfter >= planned.errorBefore)
    return Planned(Record(Reason::ErrorWouldRise)
                   << "the mean squared error of its points would go from "
                   << brief("error_before", planned.errorBefore) << " to "
                   << brief("error_after", planned.errorAfter));
  return Planned(std::move(planned));
}

FailureOr<std::optional<Record>>
Corrector::add(PlannedShift &planned, tpc::QuantizeOp point, double offset) {
  using Refused = std::optional<Record>;
  tpc::QuantizerAttrInterface old = point.getParametersAttr();
  if (offset == 0 || (!point.getStatisticsAttr() && !old))
    return Refused();
  if (!point.getStatisticsAttr())
    return Refused(Record(Decision::Declined, Reason::NoStatistics, point)
                   << "'" << named("point", point.getPointName())
                   << "' behind it has parameters but no statistics");
  if (old && !canSelectGrid(old))
    return Refused(Record(Decision::Declined, Reason::NotSearchedGrid, point)
                   << "the levels of '" << named("point", point.getPointName())
                   << "' behind it are not a grid that is searched");
  FailureOr<Observed> seen = observe(point);
  if (failed(seen))
    return failure();
  std::variant<NewPoint, Record> moved = shiftPoint(point, offset, *seen);
  if (auto *reason = std::get_if<Record>(&moved))
    return Refused(*reason);
  NewPoint &shifted = std::get<NewPoint>(moved);
  planned.points.push_back({point, shifted});
  if (old) {
    planned.errorBefore +=
        quantization::meanSquaredError(seen->atoms, getGrid(old));
    planned.errorAfter += quantization::meanSquaredError(
        quantization::shiftAtoms(seen->atoms, offset),
        getGrid(shifted.parameters));
  }
  return Refused();
}

void Corrector::apply(const tpc::Node &node, tpc::QuantizeOp point,
                      const PlannedShift &planned) {
  if (settings.remarks)
    emitRecord(
        point, kPassName,
        Record(Decision::Applied, Reason::Shifted)
            << "'" << point.getPointName() << "' is shifted by "
            << brief("shift", planned.shift.shift) << ": threshold "
            << brief("threshold", *point.getParametersAttr().getGridThreshold())
            << " to " << brief("new_threshold", planned.shift.threshold)
            << ", mean squared error of its points "
            << brief("error_before", planned.errorBefore) << " to "
            << brief("error_after", planned.errorAfter));
  for (auto [changed, attributes] : planned.points) {
    changed.setStatisticsAttr(attributes.statistics);
    changed.setQuantizer(attributes.parameters, attributes.selection);
    changed.setRangeAttr(attributes.range);
  }
  if (planned.shift.shift != 0)
    rewriter.apply(node, point, planned.shift.shift, planned.reach);
}

namespace {
struct CorrectShiftNegativePass
    : public WithOpModels<
          mct::impl::CorrectShiftNegativePassBase<CorrectShiftNegativePass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!(ratio >= 0)) {
      module.emitError() << "the ratio of negative shifts must be 0 or more, "
                            "but is "
                         << brief("ratio", ratio).text;
      return signalPassFailure();
    }
    Settings settings = {
        ratio,
        thresholdRecalculation,
        parameterSearch,
        biasCorrectionFollows,
        remarks,
        {errorMethod, lpNorm, percentile, minThreshold, zThreshold}};
    if (failed(settings.selection.verify([&] { return module.emitError(); })))
      return signalPassFailure();
    if (errorMethod == quantization::ErrorMethod::HMSE) {
      module.emitError() << "error-method=hmse weighs the elements of kernels; "
                            "for activations use mse";
      return signalPassFailure();
    }
    FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(module);
    if (failed(lookup))
      return signalPassFailure();
    const KernelOps &kernelOps = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    for (auto function : module.getOps<func::FuncOp>()) {
      // Only functions without control flow have points.
      if (!function.getBody().hasOneBlock())
        continue;
      FailureOr<SmallVector<tpc::Node>> nodes =
          lookup->match(function.getBody().front());
      if (failed(nodes))
        return signalPassFailure();
      Corrector corrector(function, kernelOps, settings);
      for (const tpc::Node &node : *nodes)
        if (isNonLinearity(node) && failed(corrector.visit(node)))
          return signalPassFailure();
    }
  }
};
} // namespace
