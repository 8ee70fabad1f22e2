// SPDX-License-Identifier: Apache-2.0
//
// The quantizers and methods that this dialect has, and what others inherit.
#include "mct/Quantization/Lut.h"
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcVerification.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Parameters of quantizers
//===----------------------------------------------------------------------===//

static void fakeQuantizeOnGrids(ArrayRef<mct::quantization::Grid> grids,
                                ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                                const float *input, float *output) {
  if (grids.size() == 1) {
    size_t count = 1;
    for (int64_t size : shape)
      count *= size;
    mct::quantization::fakeQuantize(grids.front(), input, output, count);
    return;
  }
  mct::quantization::fakeQuantizePerChannel(grids, shape, axes, input, output);
}

static LogicalResult verifyBits(EmitError emitError, unsigned bits) {
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
                                     unsigned bits, bool) {
  if (failed(verifyThresholds(emitError, thresholds, bits)))
    return failure();
  return verifyPowersOfTwo(emitError, thresholds);
}

LogicalResult SymmetricAttr::verify(EmitError emitError, RealList thresholds,
                                    unsigned bits, bool) {
  return verifyThresholds(emitError, thresholds, bits);
}

static SmallVector<mct::quantization::Grid>
gridsOf(ArrayRef<double> thresholds, unsigned bits, bool isSigned) {
  return llvm::map_to_vector(thresholds, [&](double threshold) {
    return mct::quantization::symmetricGrid(threshold, bits, isSigned);
  });
}

QuantizationMethod PowerOfTwoAttr::getMethod() const {
  return QuantizationMethod::PowerOfTwo;
}
size_t PowerOfTwoAttr::getNumChannels() const { return getThreshold().size(); }
SmallVector<mct::quantization::Grid> PowerOfTwoAttr::getGrids() const {
  return gridsOf(getThreshold(), getBits(), getIsSigned());
}
void PowerOfTwoAttr::fakeQuantize(ArrayRef<int64_t> shape,
                                  ArrayRef<int64_t> axes, const float *input,
                                  float *output) const {
  fakeQuantizeOnGrids(getGrids(), shape, axes, input, output);
}

QuantizationMethod SymmetricAttr::getMethod() const {
  return QuantizationMethod::Symmetric;
}
size_t SymmetricAttr::getNumChannels() const { return getThreshold().size(); }
SmallVector<mct::quantization::Grid> SymmetricAttr::getGrids() const {
  return gridsOf(getThreshold(), getBits(), getIsSigned());
}
void SymmetricAttr::fakeQuantize(ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> axes, const float *input,
                                 float *output) const {
  fakeQuantizeOnGrids(getGrids(), shape, axes, input, output);
}

LogicalResult UniformAttr::verify(EmitError emitError, RealList scales,
                                  ArrayRef<int64_t> zeroPoints, unsigned bits) {
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

QuantizationMethod UniformAttr::getMethod() const {
  return QuantizationMethod::Uniform;
}
size_t UniformAttr::getNumChannels() const { return getScale().size(); }
SmallVector<mct::quantization::Grid> UniformAttr::getGrids() const {
  SmallVector<mct::quantization::Grid> grids;
  for (auto [scale, zeroPoint] : llvm::zip_equal(getScale(), getZeroPoint()))
    grids.push_back(
        mct::quantization::uniformGrid(scale, zeroPoint, getBits()));
  return grids;
}
void UniformAttr::fakeQuantize(ArrayRef<int64_t> shape, ArrayRef<int64_t> axes,
                               const float *input, float *output) const {
  fakeQuantizeOnGrids(getGrids(), shape, axes, input, output);
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
  int64_t lo = mct::quantization::tableMin(isSigned, tableBits);
  int64_t hi = mct::quantization::tableMax(isSigned, tableBits);
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

size_t LookupTableAttr::getNumChannels() const { return getThreshold().size(); }
SmallVector<mct::quantization::Grid> LookupTableAttr::getGrids() const {
  return {};
}
void LookupTableAttr::fakeQuantize(ArrayRef<int64_t> shape,
                                   ArrayRef<int64_t> axes, const float *input,
                                   float *output) const {
  mct::quantization::LutQuantizer(getTable(), getThreshold(), getIsSigned(),
                                  getTableBits())
      .run(shape, axes, input, output);
}
