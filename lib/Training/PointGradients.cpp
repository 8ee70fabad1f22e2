// SPDX-License-Identifier: Apache-2.0
//
// The gradient of quantizer points: straight through.
#include "GradientModels.h"

#include "tpc_dialect/IR/TpcDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using mct::quantization::Grid;
using mct::tpc::QuantizeOp;

namespace {
/// The values that a quantizer does not cut off, ends included.
struct Kept {
  double low, high;
};
} // namespace

/// The code nearest to a value lies on the grid. Halves are what decides
/// whether the ends belong to it.
static Kept keptBy(const Grid &grid) {
  double lowest = static_cast<double>(grid.qmin - grid.zeroPoint);
  double highest = static_cast<double>(grid.qmax - grid.zeroPoint);
  auto isEven = [](double code) { return std::fmod(code, 2) == 0; };
  bool halfUp = grid.rounding == quantization::Rounding::HalfUp;
  auto low = static_cast<float>(grid.step * (lowest - 0.5));
  auto high = static_cast<float>(grid.step * (highest + 0.5));
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (!halfUp && !isEven(lowest))
    low = std::nextafter(low, kInfinity);
  if (halfUp || !isEven(highest))
    high = std::nextafter(high, -kInfinity);
  return {low, high};
}

static SmallVector<Kept> keptBy(tpc::QuantizerAttrInterface quantizer) {
  SmallVector<Kept> kept;
  for (const Grid &grid : quantizer.getGrids())
    kept.push_back(keptBy(grid));
  if (!kept.empty())
    return kept;
  for (size_t channel = 0; channel != quantizer.getNumChannels(); ++channel) {
    SmallVector<float> levels = quantizer.getLevels(channel);
    kept.push_back({levels.front(), levels.back()});
  }
  return kept;
}

static LogicalResult pointRule(QuantizeOp op, GradientBuilder &b, Value g,
                               OperandGradients &gradients) {
  tpc::QuantizerAttrInterface quantizer = op.getParametersAttr();
  if (!quantizer || !b.getRules().maskPoints) {
    gradients.set(0, g);
    return success();
  }
  Value x = op.getInput();
  SmallVector<double> low, high;
  for (const Kept &kept : keptBy(quantizer)) {
    low.push_back(kept.low);
    high.push_back(kept.high);
  }
  SmallVector<int64_t> shape(GradientBuilder::shapeOf(x).size(), 1);
  if (low.size() != 1)
    for (int64_t axis : op.getChannelAxes())
      shape[axis] = GradientBuilder::shapeOf(x)[axis];
  Value inside = b.both(b.greaterEqual(x, b.constant(low, shape, x)),
                        b.greaterEqual(b.constant(high, shape, x), x));
  gradients.set(0, b.where(inside, g));
  return success();
}

void mct::attachPointGradients(MLIRContext *context) {
  attachRules<pointRule>(context);
}
