// SPDX-License-Identifier: Apache-2.0
//
// The straight-through gradient of quantization points.
#include "GradientModels.h"
#include "TrainableModels.h"

#include "mct/IR/HostQuantizers.h"
#include "tpc_dialect/IR/TpcDialect.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using mct::quantization::Grid;
using mct::tpc::QuantizeOp;

namespace {
/// The range of values that a quantizer does not clip, including its ends.
struct Kept {
  double low, high;
};
} // namespace

/// Returns the range of values whose nearest code is on the grid. The rounding
/// of halves determines whether its ends belong to it.
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

Value mct::buildKept(GradientBuilder &b, QuantizeOp point) {
  Value x = point.getInput();
  SmallVector<double> low, high;
  for (const Kept &kept : keptBy(point.getParametersAttr())) {
    low.push_back(kept.low);
    high.push_back(kept.high);
  }
  SmallVector<int64_t> shape = getParameterShape(point, low.size());
  return b.both(b.greaterEqual(x, b.constant(low, shape, x)),
                b.greaterEqual(b.constant(high, shape, x), x));
}

static LogicalResult pointRule(QuantizeOp op, GradientBuilder &b, Value g,
                               OperandGradients &gradients) {
  if (!op.getLearned().empty()) {
    auto trainable =
        dyn_cast<TrainableQuantizerAttrInterface>(op.getTrainableAttr());
    if (!trainable)
      return noImplementation(op);
    trainable.buildGradients(b, op, g, gradients);
    return success();
  }
  if (std::optional<HostPoint> host = getHostPoint(op)) {
    gradients.set(0, buildHostGradient(b, b.getLoc(), *host, op.getInput(), g));
    return success();
  }
  tpc::QuantizerAttrInterface quantizer = op.getParametersAttr();
  auto straight =
      dyn_cast_if_present<tpc::StraightThroughAttr>(op.getTrainableAttr());
  bool masks = straight ? straight.getClip() == tpc::ClipGradient::Masked
                        : b.getRules().maskPoints;
  if (!quantizer || !masks) {
    gradients.set(0, g);
    return success();
  }
  gradients.set(0, b.where(buildKept(b, op), g));
  return success();
}

void mct::attachPointGradients(MLIRContext *context) {
  attachRules<pointRule>(context);
}
