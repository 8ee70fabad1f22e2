// SPDX-License-Identifier: Apache-2.0
#include "mct/Conversion/Encoding.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using quantization::Grid;

std::optional<Encoding> Encoding::get(tpc::QuantizerAttrInterface quantizer) {
  SmallVector<Grid> grids = quantizer.getGrids();
  if (grids.size() != 1)
    return std::nullopt;
  const Grid &grid = grids.front();
  Encoding result;
  result.bits = quantizer.getBits();
  result.scale = double(float(grid.step));
  result.rounding = grid.rounding;
  if (!(result.scale > 0) || !std::isfinite(result.scale))
    return std::nullopt;
  int64_t offset = 0;
  if (grid.qmin >= 0 && grid.qmax <= 255) {
    offset = grid.qmax > 127 ? 128 : 0;
  } else if (grid.qmin < -128 || grid.qmax > 127) {
    if (grid.qmin < -32768 || grid.qmax > 32767 || grid.zeroPoint != 0)
      return std::nullopt;
    result.storageBits = 16;
  }
  result.zeroPoint = grid.zeroPoint - offset;
  result.low = grid.qmin - offset;
  result.high = grid.qmax - offset;
  // The zero point has to be a code, too.
  int64_t limit = int64_t(1) << (result.storageBits - 1);
  if (result.zeroPoint < -limit || result.zeroPoint >= limit)
    return std::nullopt;
  return result;
}

int64_t Encoding::quantize(float value) const {
  float level;
  quantization::fakeQuantize(getGrid(), &value, &level, 1);
  return std::llround(double(level) / scale) + zeroPoint;
}

QuantizedValue Encoding::describe(StringRef name) const {
  return {name.str(), scale, zeroPoint, int64_t(bits), low < 0};
}
