// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/SelectedParameters.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Records.h"
#include "mct/Quantizers/Channels.h"
#include "mct/Transforms/StatisticsConversion.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;

LogicalResult mct::checkSelectableBits(tpc::QuantizeOp point, int64_t bits,
                                       quantization::ErrorMethod errorMethod) {
  if (bits < 1 || bits > kMaxSelectableBits)
    return point.emitOpError() << "asks for " << bits
                               << " bits; parameters can be selected for 1 to "
                               << kMaxSelectableBits;
  if (errorMethod == quantization::ErrorMethod::KL &&
      bits > quantization::kMaxDivergenceBits)
    return point.emitOpError() << "asks for " << bits
                               << " bits; histograms resolve grids of at most "
                               << quantization::kMaxDivergenceBits
                               << " bits, use another error-method than kl";
  return success();
}

LogicalResult
SelectionSettings::verify(function_ref<InFlightDiagnostic()> emitError) const {
  // Written so that a NaN is rejected, too.
  if (!(lpNorm >= 1 && lpNorm <= 64))
    return emitError() << "lp-norm is " << lpNorm << "; it must be 1 to 64";
  if (!(percentile > 0 && percentile <= 100))
    return emitError() << "percentile is " << percentile
                       << "; it must be above 0 and at most 100";
  // Outside of the range of f32, a grid would not have levels.
  constexpr double kLeast = std::numeric_limits<float>::min(),
                   kMost = std::numeric_limits<float>::max();
  if (!(minThreshold == 0 || (minThreshold >= kLeast && minThreshold <= kMost)))
    return emitError() << "min-threshold is " << minThreshold << "; it must be "
                       << kLeast << " to " << kMost << ", or 0 for 2^-16";
  if (!(zThreshold >= 0))
    return emitError() << "z-threshold is " << zThreshold
                       << "; it must be positive, or 0 for none";
  if (!(errorTolerance >= 1 && std::isfinite(errorTolerance)))
    return emitError() << "error-tolerance is " << errorTolerance
                       << "; it must be a number from 1 on";
  using quantization::ErrorMethod;
  bool squared = errorMethod == ErrorMethod::MSE ||
                 errorMethod == ErrorMethod::HMSE ||
                 (errorMethod == ErrorMethod::LP && lpNorm == 2);
  if (errorTolerance > 1 && !squared)
    return emitError() << "error-tolerance is " << errorTolerance
                       << "; it needs error-method=mse or hmse";
  return success();
}

quantization::SelectionOptions
SelectionSettings::optionsFor(tpc::QuantizationMethodAttrInterface method,
                              int64_t bits) const {
  quantization::SelectionOptions options;
  if (auto grid = method.getGridSearch())
    options.kind = *grid;
  else if (auto table = method.getTableSearch())
    options.kind = *table;
  options.bits = bits;
  options.errorMethod = errorMethod;
  options.lpNorm = lpNorm;
  options.percentile = percentile;
  if (minThreshold > 0)
    options.minThreshold = minThreshold;
  if (zThreshold > 0)
    options.zThreshold = zThreshold;
  if (bits >= kLeastTolerantBits)
    options.errorTolerance = errorTolerance;
  return options;
}

LogicalResult mct::checkSelectableTable(tpc::QuantizeOp point, int64_t bits,
                                        int64_t maxBits,
                                        std::optional<int64_t> entryBits) {
  if (bits < 1 || bits > maxBits)
    return point.emitOpError()
           << "asks for a table with an index of " << bits
           << " bits; tables can be selected for 1 to " << maxBits;
  if (entryBits && *entryBits != quantization::kTableBits)
    return point.emitOpError()
           << "asks for a table with entries of " << *entryBits
           << " bits ('lut_values_bits'); tables can be selected for "
           << quantization::kTableBits;
  return success();
}

double mct::meanSquaredError(const quantization::TensorQuantizer &quantizer,
                             ArrayRef<quantization::Atom> atoms) {
  std::vector<float> values;
  for (const quantization::Atom &atom : atoms)
    values.push_back(static_cast<float>(atom.value));
  quantizer.run({int64_t(values.size())}, {}, values.data(), values.data());
  double sum = 0, weight = 0;
  for (auto [atom, value] : llvm::zip_equal(atoms, values)) {
    double error = double(value) - atom.value;
    sum += atom.weight * error * error;
    weight += atom.weight;
  }
  return weight > 0 ? sum / weight : 0;
}

double mct::meanSquaredError(tpc::QuantizerAttrInterface quantizer,
                             ArrayRef<float> rows, int64_t channels) {
  int64_t length = channels ? int64_t(rows.size()) / channels : 0;
  std::vector<float> values(rows.size());
  quantizer.fakeQuantize({channels, length}, {0}, rows.data(), values.data());
  double sum = 0;
  for (auto [before, after] : llvm::zip_equal(rows, values))
    sum += (double(after) - before) * (double(after) - before);
  return rows.empty() ? 0 : sum / double(rows.size());
}

static tpc::SelectionAttr
createSelection(MLIRContext *context, tpc::ErrorMethod method,
                const quantization::SelectionOptions &options,
                ArrayRef<double> errors,
                tpc::Certificate certificate = tpc::Certificate::None,
                std::optional<tpc::Real> bound = std::nullopt) {
  if (llvm::any_of(errors, [](double error) { return std::isnan(error); }))
    return {};
  std::optional<tpc::Real> norm, percentile;
  if (method == tpc::ErrorMethod::LP)
    norm = options.lpNorm;
  if (method == tpc::ErrorMethod::Percentile)
    percentile = options.percentile;
  return tpc::SelectionAttr::get(context, method, norm, percentile,
                                 /*covers=*/{}, errors, certificate, bound);
}

tpc::SelectionAttr
mct::describeSelection(MLIRContext *context,
                       ArrayRef<quantization::SelectedParameters> selected,
                       const quantization::SelectionOptions &options) {
  if (selected.empty())
    return {};
  SmallVector<double> errors;
  double bound = 0;
  for (const quantization::SelectedParameters &channel : selected) {
    errors.push_back(channel.error);
    bound = std::max(bound, channel.bound);
  }
  tpc::ErrorMethod method = options.errorMethod;
  if (bound == 0)
    return createSelection(context, method, options, errors,
                           tpc::Certificate::Exact);
  if (std::isfinite(bound))
    return createSelection(context, method, options, errors,
                           tpc::Certificate::Bound, bound);
  return createSelection(context, method, options, errors);
}

tpc::SelectionAttr
mct::describeSelection(MLIRContext *context,
                       const quantization::LutParameters &selected) {
  return createSelection(context, tpc::ErrorMethod::MSE, {}, selected.error,
                         selected.certificate);
}

tpc::SelectionAttr mct::describeBounds(MLIRContext *context, double lo,
                                       double hi) {
  return tpc::SelectionAttr::get(context, tpc::ErrorMethod::Range,
                                 /*norm=*/std::nullopt,
                                 /*percentile=*/std::nullopt,
                                 /*covers=*/ArrayRef<double>({lo, hi}),
                                 /*error=*/{}, tpc::Certificate::None,
                                 /*bound=*/std::nullopt);
}

tpc::SelectionAttr mct::describeRounding(MLIRContext *context,
                                         ArrayRef<double> errors) {
  return createSelection(context, tpc::ErrorMethod::LeastSquares, {}, errors);
}

tpc::SelectionAttr mct::describeError(MLIRContext *context,
                                      tpc::ErrorMethod method,
                                      double meanSquaredError) {
  return createSelection(context, method, {}, meanSquaredError);
}

tpc::SelectionAttr mct::measureGiven(tpc::QuantizeOp point,
                                     tpc::QuantizerAttrInterface parameters) {
  if (!parameters)
    return {};
  MLIRContext *context = point.getContext();
  if (point.isActivation()) {
    tpc::StatisticsAttr statistics = point.getStatisticsAttr();
    if (!statistics)
      return {};
    llvm::Expected<quantization::Histogram> histogram =
        readHistogram(statistics);
    if (!histogram) {
      llvm::consumeError(histogram.takeError());
      return {};
    }
    return describeError(context, tpc::ErrorMethod::Given,
                         meanSquaredError(*parameters.prepare(),
                                          quantization::atomsOf(*histogram)));
  }
  std::optional<ConstantFloats> constant =
      ConstantFloats::get(point.getInput());
  if (!constant || constant->values().empty())
    return {};
  ArrayRef<float> values = constant->values();
  std::vector<float> quantized(values.size());
  parameters.fakeQuantize(constant->shape(), point.getChannelAxes(),
                          values.data(), quantized.data());
  for (auto [after, before] : llvm::zip_equal(quantized, values))
    after -= before;
  std::vector<float> rows = quantization::gatherChannels(
      quantized, constant->shape(), point.getChannelAxes());
  size_t count = parameters.getNumChannels(), length = rows.size() / count;
  SmallVector<double> errors;
  for (size_t channel = 0; channel != count; ++channel) {
    double sum = 0;
    for (float error : ArrayRef(rows).slice(channel * length, length))
      sum += double(error) * error;
    errors.push_back(sum / double(length));
  }
  return createSelection(context, tpc::ErrorMethod::Given, {}, errors);
}

void mct::remarkOnSelection(tpc::QuantizeOp point, StringRef pass,
                            int64_t largerSteps) {
  tpc::SelectionAttr selection = point.getSelectionAttr();
  if (!selection)
    return;
  if (selection.getErrorMethod() == tpc::ErrorMethod::Range) {
    ArrayRef<double> covers = selection.getCovers();
    emitRecord(point, pass,
               Record(Decision::Applied, Reason::CoversKnownRange)
                   << "covers " << named("from", covers[0]) << " to "
                   << named("to", covers[1]) << " without a search");
    return;
  }
  Record record(Decision::Applied, Reason::SelectedParameters);
  switch (selection.getErrorMethod()) {
  case tpc::ErrorMethod::MAE:
    record << "mean absolute error ";
    break;
  case tpc::ErrorMethod::LP:
    record << "mean error to the power "
           << named("norm", double(*selection.getNorm())) << " ";
    break;
  case tpc::ErrorMethod::KL:
    record << "divergence ";
    break;
  case tpc::ErrorMethod::HMSE:
    record << "weighted mean squared error ";
    break;
  default:
    record << "mean squared error ";
    break;
  }
  record << named("error", *selection.getMeanError());
  switch (selection.getCertificate()) {
  case tpc::Certificate::None:
    break;
  case tpc::Certificate::Exact:
    record << ", the least there is";
    break;
  case tpc::Certificate::ExactAtThreshold:
    record << ", the least there is at these thresholds";
    break;
  case tpc::Certificate::Bound:
    record << ", at most "
           << named("percent_above_least", 100 * double(*selection.getBound()))
           << " % above the least there is";
    break;
  }
  if (largerSteps != 0)
    record << ": error-tolerance made " << named("larger_steps", largerSteps)
           << " of " << named("steps", int64_t(selection.getError().size()))
           << " steps larger";
  record.add(named("error_method",
                   tpc::stringifyErrorMethod(selection.getErrorMethod())));
  record.add(named("certificate",
                   tpc::stringifyCertificate(selection.getCertificate())));
  emitRecord(point, pass, record);
}
