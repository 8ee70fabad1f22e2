// SPDX-License-Identifier: Apache-2.0
//
// Statistics of a point, and corrections of its layer.
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcVerification.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace mct::tpc;

/// Bounds are of f32 values, and there is something between them.
LogicalResult mct::tpc::verifyBounds(EmitError emitError, const Twine &what,
                                     std::optional<Real> min,
                                     std::optional<Real> max) {
  for (std::optional<Real> bound : {min, max})
    if (bound && !std::isfinite(float(*bound)))
      return emitError() << what << " has the bound " << *bound
                         << ", which is not a finite f32 number; write ? where "
                            "there is none";
  if (min && max && *min > *max)
    return emitError() << what << " is empty: " << *min << " to " << *max;
  return success();
}

//===----------------------------------------------------------------------===//
// Statistics of a point
//===----------------------------------------------------------------------===//

LogicalResult RangeAttr::verify(EmitError emitError, std::optional<Real> min,
                                std::optional<Real> max) {
  return verifyBounds(emitError, "range", min, max);
}

LogicalResult HistogramAttr::verify(EmitError emitError, int64_t stepExponent,
                                    int64_t first, ElementsAttr counts) {
  // H1
  ShapedType type = counts.getShapedType();
  Type element = type.getElementType();
  if (type.getRank() != 1 ||
      !(element.isSignlessInteger(32) || element.isSignlessInteger(64)))
    return emitError() << "'counts' must be one-dimensional with element type "
                          "i32 or i64, but got "
                       << type;
  // H2
  constexpr int64_t kSmallest = -1074, kLargest = 1023;
  if (stepExponent < kSmallest || stepExponent > kLargest)
    return emitError() << "'step_exponent' must be " << kSmallest << " to "
                       << kLargest << ", but got " << stepExponent;
  // H3
  constexpr int64_t kExact = int64_t(1) << 52;
  int64_t size = type.getDimSize(0);
  if (first < -kExact || first > kExact || size > kExact)
    return emitError() << "bins " << first << " and the " << size
                       << " from it on are not all within 2^52 of zero";
  return success();
}

/// Values of each channel: dense, of the element type that is read.
static LogicalResult verifyPerChannel(EmitError emitError, StringRef name,
                                      ElementsAttr values, unsigned width,
                                      std::optional<int64_t> &channels) {
  ShapedType type = values.getShapedType();
  if (type.getRank() != 1 || (channels && *channels != type.getDimSize(0)))
    return emitError() << "per-channel statistics must be one-dimensional "
                          "and equally long, but got "
                       << type;
  channels = type.getDimSize(0);
  auto element = dyn_cast<FloatType>(type.getElementType());
  if (!element || !(width == 64 ? element.isF64() : element.isF32()))
    return emitError() << "'" << name << "' must have element type f" << width
                       << ", but got " << type;
  if (!isa<DenseFPElementsAttr>(values))
    return emitError() << "'" << name << "' must be dense<...>";
  return success();
}

LogicalResult StatisticsAttr::verify(EmitError emitError, int64_t count,
                                     int64_t zeros, Real min, Real max,
                                     HistogramAttr, ElementsAttr mean,
                                     ElementsAttr meanSquare,
                                     ElementsAttr channelMin,
                                     ElementsAttr channelMax) {
  if (count <= 0)
    return emitError() << "'count' must be positive, but got " << count;
  if (zeros < 0 || zeros > count)
    return emitError() << "'zeros' must be between 0 and 'count', but got "
                       << zeros << " of " << count;
  if (!(min <= max) || !std::isfinite(float(min)) || !std::isfinite(float(max)))
    return emitError() << "'min' and 'max' must be finite f32 numbers and "
                          "ordered, but got "
                       << min << " and " << max;
  std::optional<int64_t> channels;
  size_t given = 0;
  for (auto [name, values, width] :
       {std::tuple("channel_mean", mean, 64u),
        std::tuple("channel_mean_square", meanSquare, 64u),
        std::tuple("channel_min", channelMin, 32u),
        std::tuple("channel_max", channelMax, 32u)}) {
    if (!values)
      continue;
    ++given;
    if (failed(verifyPerChannel(emitError, name, values, width, channels)))
      return failure();
  }
  if (given != 0 && given != 4)
    return emitError()
           << "per-channel statistics must be given all or not at all";
  return success();
}

LogicalResult
SelectionAttr::verify(EmitError emitError, ErrorMethod errorMethod,
                      std::optional<Real> norm, std::optional<Real> percentile,
                      RealList covers, RealList error, Certificate certificate,
                      std::optional<Real> bound) {
  // S1; written so that NaN fails as well.
  for (double value : error)
    if (!(value >= 0))
      return emitError() << "'error' must not be negative, but got " << value;
  // S2
  if (bound.has_value() != (certificate == Certificate::Bound))
    return emitError() << "has the certificate "
                       << stringifyCertificate(certificate)
                       << (bound ? " and a bound" : " and no bound");
  if (bound && (!(*bound > 0) || !std::isfinite(*bound)))
    return emitError() << "'bound' must be positive and finite, but got "
                       << double(*bound);
  // S3
  auto belongs = [&](StringRef field, bool isGiven,
                     ErrorMethod owner) -> LogicalResult {
    if (isGiven == (errorMethod == owner))
      return success();
    return emitError() << "'" << field << "' must be given for '"
                       << stringifyErrorMethod(owner)
                       << "' and for nothing else, but the error method is '"
                       << stringifyErrorMethod(errorMethod) << "'";
  };
  if (failed(belongs("norm", norm.has_value(), ErrorMethod::LP)) ||
      failed(belongs("percentile", percentile.has_value(),
                     ErrorMethod::Percentile)) ||
      failed(belongs("covers", !covers.empty(), ErrorMethod::Range)))
    return failure();
  if (!covers.empty() && covers.size() != 2)
    return emitError() << "'covers' must be two numbers, but got "
                       << covers.size();
  if (!covers.empty() && failed(verifyBounds(emitError, "what it covers",
                                             Real(covers[0]), Real(covers[1]))))
    return failure();
  // S4
  bool measures =
      errorMethod != ErrorMethod::Range && errorMethod != ErrorMethod::Imported;
  if (error.empty() == measures)
    return emitError() << (error.empty() ? "has no error" : "has an error")
                       << ", but the error method is '"
                       << stringifyErrorMethod(errorMethod) << "'";
  return success();
}

std::optional<double> SelectionAttr::getMeanError() const {
  if (getError().empty())
    return std::nullopt;
  double mean = 0;
  for (double error : getError())
    mean += error / double(getError().size());
  return mean;
}

//===----------------------------------------------------------------------===//
// Corrections of a layer
//===----------------------------------------------------------------------===//

LogicalResult CorrectionsAttr::verify(EmitError emitError,
                                      ArrayRef<StringAttr> applied,
                                      RealList biasOffset, RealList kernelScale,
                                      std::optional<int64_t> samples,
                                      ElementsAttr kernel) {
  // K1
  if (applied.empty())
    return emitError() << "'applied' must name at least one correction";
  llvm::StringSet<> names;
  for (StringAttr name : applied) {
    if (name != kSecondMomentCorrection && name != kActivationBiasCorrection &&
        name != kInputMeanCorrection && name != kQuantizedNetworkCorrection &&
        name != kRoundedWeights)
      return emitError() << "'" << name.getValue()
                         << "' is not a correction; expected second_moment, "
                            "activation_bias, input_mean, quantized_network or "
                            "rounded_weights";
    if (!names.insert(name.getValue()).second)
      return emitError() << "'" << name.getValue() << "' is applied twice";
  }
  // K2
  if (biasOffset.empty())
    return emitError() << "'bias_offset' must have one number per channel";
  for (double offset : biasOffset)
    if (!std::isfinite(offset))
      return emitError() << "'bias_offset' must be finite, but got " << offset;
  for (double scale : kernelScale)
    if (!(scale > 0) || !std::isfinite(scale))
      return emitError()
             << "'kernel_scale' must be positive and finite, but got " << scale;
  // K3
  if (kernelScale.size() != 1 && kernelScale.size() != biasOffset.size())
    return emitError() << "has " << kernelScale.size() << " kernel scales for "
                       << biasOffset.size() << " bias offsets";
  // K4
  if (samples && *samples <= 0)
    return emitError() << "'samples' must be positive, but got " << *samples;
  // K5
  if (bool(kernel) != names.contains(kRoundedWeights))
    return emitError() << "'kernel' must be there where rounded_weights is "
                          "applied, and only there";
  if (!kernel)
    return success();
  if (!kernel.getElementType().isF32())
    return emitError() << "'kernel' must be of f32, but got "
                       << kernel.getShapedType();
  if (kernelScale.size() != 1 || kernelScale.front() != 1)
    return emitError()
           << "'kernel_scale' must be [1.0] where weights were rounded";
  return success();
}

bool CorrectionsAttr::isApplied(StringRef name) const {
  return llvm::any_of(getApplied(), [&](StringAttr applied) {
    return applied.getValue() == name;
  });
}
