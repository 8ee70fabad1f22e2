// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/SelectedParameters.h"
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
  // Written so that NaN fails as well.
  if (!(lpNorm >= 1 && lpNorm <= 64))
    return emitError() << "lp-norm is " << lpNorm << "; it must be 1 to 64";
  if (!(percentile > 0 && percentile <= 100))
    return emitError() << "percentile is " << percentile
                       << "; it must be above 0 and at most 100";
  // Outside of what f32 can say a grid would have no levels.
  constexpr double kLeast = std::numeric_limits<float>::min(),
                   kMost = std::numeric_limits<float>::max();
  if (!(minThreshold == 0 || (minThreshold >= kLeast && minThreshold <= kMost)))
    return emitError() << "min-threshold is " << minThreshold << "; it must be "
                       << kLeast << " to " << kMost << ", or 0 for 2^-16";
  if (!(zThreshold >= 0))
    return emitError() << "z-threshold is " << zThreshold
                       << "; it must be positive, or 0 for none";
  return success();
}

quantization::SelectionOptions
SelectionSettings::optionsFor(quantization::QuantizerKind kind,
                              int64_t bits) const {
  quantization::SelectionOptions options;
  options.kind = kind;
  options.bits = bits;
  options.errorMethod = errorMethod;
  options.lpNorm = lpNorm;
  options.percentile = percentile;
  if (minThreshold > 0)
    options.minThreshold = minThreshold;
  if (zThreshold > 0)
    options.zThreshold = zThreshold;
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

double mct::meanSquaredError(tpc::QuantizerAttrInterface quantizer,
                             ArrayRef<quantization::Atom> atoms) {
  std::vector<float> values;
  for (const quantization::Atom &atom : atoms)
    values.push_back(static_cast<float>(atom.value));
  quantizer.fakeQuantize({int64_t(values.size())}, {}, values.data(),
                         values.data());
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

void mct::remarkOnError(tpc::QuantizeOp point,
                        ArrayRef<quantization::SelectedParameters> selected,
                        const quantization::SelectionOptions &options) {
  if (selected.empty())
    return;
  double error = 0, bound = 0;
  for (const quantization::SelectedParameters &channel : selected) {
    error += channel.error / static_cast<double>(selected.size());
    bound = std::max(bound, channel.bound);
  }
  InFlightDiagnostic remark = point.emitRemark();
  switch (options.errorMethod) {
  case quantization::ErrorMethod::MAE:
    remark << "mean absolute error ";
    break;
  case quantization::ErrorMethod::LP:
    remark << "mean error to the power " << options.lpNorm << " ";
    break;
  case quantization::ErrorMethod::KL:
    remark << "divergence ";
    break;
  case quantization::ErrorMethod::HMSE:
    remark << "weighted mean squared error ";
    break;
  default:
    remark << "mean squared error ";
    break;
  }
  remark << error;
  if (bound == 0)
    remark << ", the least there is";
  else if (std::isfinite(bound))
    remark << ", at most " << 100 * bound << " % above the least there is";
}

void mct::remarkOnError(tpc::QuantizeOp point,
                        const quantization::LutParameters &selected) {
  point.emitRemark() << "mean squared error " << selected.error
                     << ", the least there is at these thresholds";
}

void mct::remarkOnError(tpc::QuantizeOp point, double meanSquaredError) {
  point.emitRemark() << "mean squared error " << meanSquaredError;
}
