// SPDX-License-Identifier: Apache-2.0
//
// The quantizers and methods that this dialect has, and what others inherit.
#include "mct/Quantizers/LutQuantizer.h"
#include "mct/Quantizers/Parameters.h"
#include "mlir/Dialect/Quant/IR/QuantTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcVerification.h"
#include "llvm/ADT/STLExtras.h"
#include <cassert>
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Parts of all quantizers
//===----------------------------------------------------------------------===//

static quantization::Rounding toRounding(RoundingMode mode) {
  return mode == RoundingMode::HalfUp ? quantization::Rounding::HalfUp
                                      : quantization::Rounding::HalfToEven;
}

static RoundingMode toRoundingMode(quantization::Rounding rounding) {
  return rounding == quantization::Rounding::HalfUp ? RoundingMode::HalfUp
                                                    : RoundingMode::HalfEven;
}

/// Returns whether `verify` accepts parameters that are only tried. An empty
/// diagnostic converts to success, so a failure is recognized by the request
/// for a diagnostic.
static bool isAllowed(function_ref<LogicalResult(EmitError)> verify) {
  bool isRefused = false;
  auto refuse = [&] {
    isRefused = true;
    return InFlightDiagnostic();
  };
  return succeeded(verify(refuse)) && !isRefused;
}

/// One factor is for all values.
static SmallVector<double> multiply(ArrayRef<double> values,
                                    ArrayRef<double> factors) {
  assert((factors.size() == 1 || factors.size() == values.size()) &&
         "one factor, or one for each parameter");
  SmallVector<double> products;
  for (auto [index, value] : llvm::enumerate(values))
    products.push_back(value * factors[factors.size() == 1 ? 0 : index]);
  return products;
}

//===----------------------------------------------------------------------===//
// Quantizers
//===----------------------------------------------------------------------===//

LogicalResult tpc::verifyBits(EmitError emitError, unsigned bits) {
  // 24 bits and more have no exact float representatives.
  if (bits < 1 || bits > 23)
    return emitError() << "quantizers have 1 to 23 bits, but got " << bits;
  return success();
}

static LogicalResult verifyThresholds(EmitError emitError,
                                      ArrayRef<double> thresholds,
                                      unsigned bits) {
  if (thresholds.empty())
    return emitError() << "a quantizer needs at least one threshold";
  for (double threshold : thresholds)
    if (!(threshold > 0) || !std::isfinite(threshold))
      return emitError() << "thresholds must be positive and finite, but got "
                         << threshold;
  return verifyBits(emitError, bits);
}

static LogicalResult verifyPowersOfTwo(EmitError emitError,
                                       ArrayRef<double> thresholds) {
  for (double threshold : thresholds) {
    int exponent = 0;
    if (std::frexp(threshold, &exponent) != 0.5)
      return emitError() << "threshold " << threshold
                         << " is not a power of two";
  }
  return success();
}

LogicalResult PowerOfTwoAttr::verify(EmitError emitError, RealList thresholds,
                                     unsigned bits, bool, RoundingMode) {
  if (failed(verifyThresholds(emitError, thresholds, bits)))
    return failure();
  return verifyPowersOfTwo(emitError, thresholds);
}

LogicalResult SymmetricAttr::verify(EmitError emitError, RealList thresholds,
                                    unsigned bits, bool, RoundingMode) {
  return verifyThresholds(emitError, thresholds, bits);
}

static SmallVector<quantization::Grid> gridsOf(ArrayRef<double> thresholds,
                                               unsigned bits, bool isSigned) {
  return llvm::map_to_vector(thresholds, [&](double threshold) {
    return quantization::symmetricGrid(threshold, bits, isSigned);
  });
}

static SmallVector<quantization::Grid>
withRounding(SmallVector<quantization::Grid> grids, RoundingMode rounding) {
  for (quantization::Grid &grid : grids)
    grid.rounding = toRounding(rounding);
  return grids;
}

QuantizationMethodAttrInterface PowerOfTwoAttr::getQuantizationMethod() const {
  return MethodAttr::get(getContext(), QuantizationMethod::PowerOfTwo);
}
size_t PowerOfTwoAttr::getNumChannels() const { return getThreshold().size(); }
ArrayRef<double> PowerOfTwoAttr::getThresholds() const {
  return getThreshold();
}
SmallVector<quantization::Grid> PowerOfTwoAttr::getGrids() const {
  return withRounding(gridsOf(getThreshold(), getBits(), getIsSigned()),
                      getRounding());
}
std::optional<quantization::Rounding> PowerOfTwoAttr::getRoundingMode() const {
  return toRounding(getRounding());
}
QuantizerAttrInterface
PowerOfTwoAttr::withRoundingMode(quantization::Rounding rounding) const {
  return get(getContext(), getThreshold(), getBits(), getIsSigned(),
             toRoundingMode(rounding));
}
QuantizerAttrInterface
PowerOfTwoAttr::withThresholds(ArrayRef<double> thresholds) const {
  return isAllowed([&](EmitError emitError) {
    return verify(emitError, thresholds, getBits(), getIsSigned(),
                  getRounding());
  })
             ? get(getContext(), thresholds, getBits(), getIsSigned(),
                   getRounding())
             : PowerOfTwoAttr();
}
QuantizerAttrInterface
PowerOfTwoAttr::scaledBy(ArrayRef<double> factors) const {
  return withThresholds(multiply(getThreshold(), factors));
}
LogicalResult PowerOfTwoAttr::verifyParameters(EmitError emitError) const {
  return verify(emitError, getThreshold(), getBits(), getIsSigned(),
                getRounding());
}

QuantizationMethodAttrInterface SymmetricAttr::getQuantizationMethod() const {
  return MethodAttr::get(getContext(), QuantizationMethod::Symmetric);
}
size_t SymmetricAttr::getNumChannels() const { return getThreshold().size(); }
ArrayRef<double> SymmetricAttr::getThresholds() const { return getThreshold(); }
SmallVector<quantization::Grid> SymmetricAttr::getGrids() const {
  return withRounding(gridsOf(getThreshold(), getBits(), getIsSigned()),
                      getRounding());
}
std::optional<quantization::Rounding> SymmetricAttr::getRoundingMode() const {
  return toRounding(getRounding());
}
QuantizerAttrInterface
SymmetricAttr::withRoundingMode(quantization::Rounding rounding) const {
  return get(getContext(), getThreshold(), getBits(), getIsSigned(),
             toRoundingMode(rounding));
}
QuantizerAttrInterface
SymmetricAttr::withThresholds(ArrayRef<double> thresholds) const {
  return isAllowed([&](EmitError emitError) {
    return verify(emitError, thresholds, getBits(), getIsSigned(),
                  getRounding());
  })
             ? get(getContext(), thresholds, getBits(), getIsSigned(),
                   getRounding())
             : SymmetricAttr();
}
// The verifier of the point reports an invalid product.
QuantizerAttrInterface SymmetricAttr::scaledBy(ArrayRef<double> factors) const {
  return get(getContext(), multiply(getThreshold(), factors), getBits(),
             getIsSigned(), getRounding());
}
LogicalResult SymmetricAttr::verifyParameters(EmitError emitError) const {
  return verify(emitError, getThreshold(), getBits(), getIsSigned(),
                getRounding());
}
bool SymmetricAttr::takesFactors() const { return true; }

LogicalResult UniformAttr::verify(EmitError emitError, RealList scales,
                                  ArrayRef<int64_t> zeroPoints, unsigned bits,
                                  RoundingMode) {
  if (scales.empty() || scales.size() != zeroPoints.size())
    return emitError() << "a uniform quantizer needs as many zero points as "
                          "scales, but got "
                       << zeroPoints.size() << " and " << scales.size();
  if (failed(verifyBits(emitError, bits)))
    return failure();
  for (auto [scale, zeroPoint] : llvm::zip_equal(scales, zeroPoints)) {
    if (!(scale > 0) || !std::isfinite(scale))
      return emitError() << "scales must be positive and finite, but got "
                         << scale;
    if (zeroPoint < 0 || zeroPoint >= (int64_t(1) << bits))
      return emitError() << "zero point " << zeroPoint << " is outside of "
                         << bits << " bits";
  }
  return success();
}

QuantizationMethodAttrInterface UniformAttr::getQuantizationMethod() const {
  return MethodAttr::get(getContext(), QuantizationMethod::Uniform);
}
size_t UniformAttr::getNumChannels() const { return getScale().size(); }
bool UniformAttr::getIsSigned() const { return false; }
SmallVector<quantization::Grid> UniformAttr::getGrids() const {
  SmallVector<quantization::Grid> grids;
  for (auto [scale, zeroPoint] : llvm::zip_equal(getScale(), getZeroPoint()))
    grids.push_back(quantization::uniformGrid(scale, zeroPoint, getBits()));
  return withRounding(std::move(grids), getRounding());
}
std::optional<quantization::Rounding> UniformAttr::getRoundingMode() const {
  return toRounding(getRounding());
}
QuantizerAttrInterface
UniformAttr::withRoundingMode(quantization::Rounding rounding) const {
  return get(getContext(), getScale(), getZeroPoint(), getBits(),
             toRoundingMode(rounding));
}
bool UniformAttr::takesFactors() const { return true; }
QuantizerAttrInterface UniformAttr::scaledBy(ArrayRef<double> factors) const {
  return get(getContext(), multiply(getScale(), factors), getZeroPoint(),
             getBits(), getRounding());
}
LogicalResult UniformAttr::verifyParameters(EmitError emitError) const {
  return verify(emitError, getScale(), getZeroPoint(), getBits(),
                getRounding());
}

LogicalResult LookupTableAttr::verify(EmitError emitError,
                                      QuantizationMethod method,
                                      RealList thresholds,
                                      ArrayRef<int64_t> table, unsigned bits,
                                      bool isSigned, unsigned tableBits) {
  // LT1
  if (method != QuantizationMethod::LutPowerOfTwo &&
      method != QuantizationMethod::LutSymmetric)
    return emitError() << "method of a lookup table must be lut_pot_quantizer "
                          "or lut_sym_quantizer, but got "
                       << stringifyQuantizationMethod(method);
  // LT2
  if (failed(verifyThresholds(emitError, thresholds, bits)) ||
      (method == QuantizationMethod::LutPowerOfTwo &&
       failed(verifyPowersOfTwo(emitError, thresholds))))
    return failure();
  // LT3
  if (tableBits > 8 || bits > tableBits)
    return emitError() << "an index into a lookup table has at most as many "
                          "bits as its entries, and these at most 8, but got "
                       << bits << " and " << tableBits;
  // LT4
  if (table.empty() || table.size() > (size_t(1) << bits))
    return emitError() << "a lookup table of " << bits << " bits has 1 to "
                       << (1 << bits) << " entries, but got " << table.size();
  // LT5
  int64_t lo = quantization::tableMin(isSigned, tableBits);
  int64_t hi = quantization::tableMax(isSigned, tableBits);
  for (auto [i, entry] : llvm::enumerate(table)) {
    if (entry < lo || entry > hi)
      return emitError() << "entry " << entry
                         << " of a lookup table is outside " << lo << " to "
                         << hi;
    if (i > 0 && entry <= table[i - 1])
      return emitError() << "entries of a lookup table must ascend, but got "
                         << table[i - 1] << " before " << entry;
  }
  return success();
}

QuantizationMethodAttrInterface LookupTableAttr::getQuantizationMethod() const {
  return MethodAttr::get(getContext(), getMethod());
}
size_t LookupTableAttr::getNumChannels() const { return getThreshold().size(); }
ArrayRef<double> LookupTableAttr::getThresholds() const {
  return getThreshold();
}
QuantizerAttrInterface
LookupTableAttr::withThresholds(ArrayRef<double> thresholds) const {
  return isAllowed([&](EmitError emitError) {
    return verify(emitError, getMethod(), thresholds, getTable(), getBits(),
                  getIsSigned(), getTableBits());
  })
             ? get(getContext(), getMethod(), thresholds, getTable(), getBits(),
                   getIsSigned(), getTableBits())
             : LookupTableAttr();
}
SmallVector<float> LookupTableAttr::getLevels(size_t channel) const {
  auto threshold = static_cast<float>(
      getThreshold()[getThreshold().size() == 1 ? 0 : channel]);
  int shift = int(getTableBits()) - (getIsSigned() ? 1 : 0);
  return llvm::map_to_vector(getTable(), [&](int64_t entry) {
    return std::ldexp(static_cast<float>(entry), -shift) * threshold;
  });
}
std::unique_ptr<quantization::TensorQuantizer>
LookupTableAttr::prepare() const {
  return std::make_unique<quantization::LutQuantizer>(
      getTable(), getThreshold(), getIsSigned(), getTableBits());
}
LogicalResult LookupTableAttr::verifyParameters(EmitError emitError) const {
  return verify(emitError, getMethod(), getThreshold(), getTable(), getBits(),
                getIsSigned(), getTableBits());
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

std::optional<QuantizationMethod> MethodAttr::getKnown(Attribute method) {
  if (auto known = dyn_cast<MethodAttr>(method))
    return known.getValue();
  return std::nullopt;
}

bool MethodAttr::isTable() const { return quantization::hasTable(getValue()); }

std::string MethodAttr::getMethodName() const {
  return stringifyQuantizationMethod(getValue()).str();
}

std::optional<QuantizationMethod> MethodAttr::getGridSearch() const {
  return isTable() ? std::nullopt : std::optional(getValue());
}

std::optional<QuantizationMethod> MethodAttr::getTableSearch() const {
  return isTable() ? std::optional(getValue()) : std::nullopt;
}

bool MethodAttr::hasPowerOfTwoThresholds() const {
  return getValue() == QuantizationMethod::PowerOfTwo ||
         getValue() == QuantizationMethod::LutPowerOfTwo;
}

QuantizerAttrInterface MethodAttr::createFixed(double step, int64_t zeroPoint,
                                               unsigned bits) const {
  quantization::SelectionOptions options;
  options.bits = bits;
  quantization::SelectedParameters fixed;
  int64_t half = int64_t(1) << (bits - 1);
  if (getValue() == QuantizationMethod::Uniform) {
    fixed.step = step;
    fixed.zeroPoint = zeroPoint;
  } else if (!isTable() && (zeroPoint == 0 || zeroPoint == half)) {
    options.isSigned = zeroPoint == half;
    fixed.threshold = std::ldexp(step, int(bits - options.isSigned));
  } else {
    return {};
  }
  return createQuantizer(fixed, options);
}

QuantizerAttrInterface MethodAttr::createQuantizer(
    ArrayRef<quantization::SelectedParameters> selected,
    const quantization::SelectionOptions &options) const {
  if (getValue() == QuantizationMethod::Uniform) {
    SmallVector<double> steps;
    SmallVector<int64_t> zeroPoints;
    for (const quantization::SelectedParameters &parameters : selected) {
      steps.push_back(parameters.step);
      zeroPoints.push_back(parameters.zeroPoint);
    }
    return UniformAttr::get(getContext(), steps, zeroPoints, options.bits,
                            RoundingMode::HalfEven);
  }
  SmallVector<double> thresholds = llvm::map_to_vector(
      selected, [](const quantization::SelectedParameters &parameters) {
        return parameters.threshold;
      });
  if (getValue() == QuantizationMethod::PowerOfTwo)
    return PowerOfTwoAttr::get(getContext(), thresholds, options.bits,
                               options.isSigned, RoundingMode::HalfEven);
  return SymmetricAttr::get(getContext(), thresholds, options.bits,
                            options.isSigned, RoundingMode::HalfEven);
}

QuantizerAttrInterface MethodAttr::createTableQuantizer(
    const quantization::LutParameters &selected,
    const quantization::SelectionOptions &options) const {
  return LookupTableAttr::get(getContext(), getValue(), selected.thresholds,
                              selected.table, options.bits, options.isSigned,
                              quantization::kTableBits);
}

//===----------------------------------------------------------------------===//
// Defaults of the interfaces
//===----------------------------------------------------------------------===//

SmallVector<float>
tpc::detail::getLevelsOfGrids(ArrayRef<quantization::Grid> grids,
                              size_t channel) {
  if (grids.empty())
    return {};
  const quantization::Grid &grid = grids[grids.size() == 1 ? 0 : channel];
  auto step = static_cast<float>(grid.step);
  SmallVector<float> levels;
  for (int64_t level = grid.qmin; level <= grid.qmax; ++level)
    levels.push_back(static_cast<float>(level - grid.zeroPoint) * step);
  return levels;
}

Type tpc::detail::getQuantizedType(QuantizerAttrInterface quantizer,
                                   FloatType expressed,
                                   ArrayRef<int64_t> axes) {
  SmallVector<quantization::Grid> grids = quantizer.getGrids();
  if (grids.empty() || (grids.size() != 1 && axes.size() != 1))
    return {};
  bool isSigned = quantizer.getIsSigned();
  unsigned flags = isSigned ? quant::QuantizationFlags::Signed : 0;
  Type storage = IntegerType::get(expressed.getContext(), quantizer.getBits());
  SmallVector<double> scales;
  SmallVector<int64_t> zeroPoints;
  for (const quantization::Grid &grid : grids) {
    scales.push_back(grid.step);
    zeroPoints.push_back(grid.zeroPoint);
  }
  int64_t qmin = grids.front().qmin, qmax = grids.front().qmax;
  if (grids.size() == 1) {
    using PerTensor = quant::UniformQuantizedType;
    return isAllowed([&](EmitError emitError) {
      return PerTensor::verifyInvariants(emitError, flags, storage, expressed,
                                         scales.front(), zeroPoints.front(),
                                         qmin, qmax);
    })
               ? PerTensor::get(flags, storage, expressed, scales.front(),
                                zeroPoints.front(), qmin, qmax)
               : PerTensor();
  }
  using PerAxis = quant::UniformQuantizedPerAxisType;
  auto axis = static_cast<int32_t>(axes.front());
  return isAllowed([&](EmitError emitError) {
    return PerAxis::verifyInvariants(emitError, flags, storage, expressed,
                                     scales, zeroPoints, axis, qmin, qmax);
  })
             ? PerAxis::get(flags, storage, expressed, scales, zeroPoints, axis,
                            qmin, qmax)
             : PerAxis();
}

std::unique_ptr<quantization::TensorQuantizer>
tpc::detail::prepare(QuantizerAttrInterface quantizer) {
  SmallVector<quantization::Grid> grids = quantizer.getGrids();
  if (!grids.empty())
    return std::make_unique<quantization::AffineQuantizer>(grids);
  std::vector<std::vector<float>> levels;
  for (size_t channel = 0; channel != quantizer.getNumChannels(); ++channel) {
    SmallVector<float> ofChannel = quantizer.getLevels(channel);
    levels.emplace_back(ofChannel.begin(), ofChannel.end());
  }
  return std::make_unique<quantization::LevelQuantizer>(
      levels,
      quantizer.getRoundingMode().value_or(quantization::Rounding::HalfUp));
}

void tpc::detail::fakeQuantize(QuantizerAttrInterface quantizer,
                               ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                               const float *input, float *output) {
  quantizer.prepare()->run(shape, axes, input, output);
}

std::optional<double>
tpc::detail::getGridThreshold(QuantizerAttrInterface quantizer) {
  ArrayRef<double> thresholds = quantizer.getThresholds();
  if (thresholds.size() != 1 || quantizer.getGrids().size() != 1)
    return std::nullopt;
  return thresholds.front();
}

std::string tpc::detail::printAttribute(Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

llvm::Error tpc::detail::cannotSelect(QuantizationMethodAttrInterface method,
                                      StringRef what) {
  return llvm::createStringError(
      "asks for the method " + method.getMethodName() +
      ", which has no selection of parameters for " + what);
}
