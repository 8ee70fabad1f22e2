// SPDX-License-Identifier: Apache-2.0
//
// A point with parameters, as it quantizes a number.
#include "ReferenceOps.h"

#include <functional>

using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::reference;
namespace tpc = mct::tpc;

namespace {

/// A level that depends on x / step. `units`: roundings of the float
/// quantizer before the level is known.
struct AffineQuantizer {
  double step, zeroPoint, lowest, highest;
  bool tiesGoUp;
  double codesAway = 0;

  /// Returns whether steps and their inverses are floats, so that no rounding
  /// happens.
  bool isPowerOfTwo() const {
    int exponent;
    return std::frexp(step, &exponent) == 0.5;
  }
  double level(double position) const {
    double rounded = tiesGoUp && position - std::floor(position) == 0.5
                         ? std::ceil(position)
                         : roundHalfToEven(position);
    return std::clamp(rounded + zeroPoint, lowest, highest) - zeroPoint;
  }
  Number operator()(const Number &x) const {
    // step, 1 / step and the product are rounded to float.
    double slack = isPowerOfTwo() ? 0 : 3.01 * kUnit;
    double position = x.value / step;
    double error =
        x.error / step + slack * (std::abs(position) + x.error / step);
    double value = level(position);
    double below = level(position - error - codesAway);
    double above = level(position + error + codesAway);
    // Either of two levels that a rounding error lies between may come out.
    Number chosen = within(value, below, above);
    double scale = isPowerOfTwo() ? 0 : 2.01 * kUnit;
    return {chosen.value * step,
            chosen.error * step +
                scale * (std::abs(chosen.value) + chosen.error) * step};
  }
};

struct TableQuantizer {
  double threshold, shift, lowest, highest;
  ArrayRef<int64_t> table;

  double entry(double position) const {
    position = std::clamp(position, lowest, highest);
    int64_t best = table.front();
    for (int64_t candidate : table)
      if (std::abs(position - double(candidate)) <
          std::abs(position - double(best)))
        best = candidate;
    return double(best);
  }
  Number operator()(const Number &x) const {
    double unit = shift / (threshold + 1e-8);
    double position = x.value * unit;
    // threshold, its sum, the quotient and both distances are rounded. A
    // position that is no further than that from the middle of two entries
    // may go to either.
    double error = x.error * unit +
                   6 * kUnit * (std::abs(position) + x.error * unit) +
                   2 * kUnit * shift;
    double value = entry(position);
    Number chosen =
        within(value, entry(position - error), entry(position + error));
    double scale = threshold / shift;
    return {chosen.value * scale,
            chosen.error * scale +
                3 * kUnit * scale * (std::abs(chosen.value) + chosen.error)};
  }
};

std::function<Number(const Number &)>
quantizerOfChannel(tpc::QuantizerAttrInterface parameters, size_t channel,
                   double codesAway) {
  auto of = [&](auto list) {
    return list.size() == 1 ? list[0] : list[channel];
  };
  auto tiesGoUp = [](auto attribute) {
    return attribute.getRounding() == tpc::RoundingMode::HalfUp;
  };
  auto symmetric = [&](auto attribute) {
    unsigned bits = attribute.getBits();
    bool isSigned = attribute.getIsSigned();
    double levels = std::ldexp(1.0, int(bits) - (isSigned ? 1 : 0));
    return AffineQuantizer{of(attribute.getThreshold()) / levels,
                           0,
                           isSigned ? -levels : 0,
                           levels - 1,
                           tiesGoUp(attribute),
                           codesAway};
  };
  Attribute attribute = parameters;
  if (auto power = dyn_cast<tpc::PowerOfTwoAttr>(attribute))
    return symmetric(power);
  if (auto free = dyn_cast<tpc::SymmetricAttr>(attribute))
    return symmetric(free);
  if (auto uniform = dyn_cast<tpc::UniformAttr>(attribute))
    return AffineQuantizer{of(uniform.getScale()),
                           double(of(uniform.getZeroPoint())),
                           0,
                           std::ldexp(1.0, int(uniform.getBits())) - 1,
                           tiesGoUp(uniform),
                           codesAway};
  auto lookup = cast<tpc::LookupTableAttr>(attribute);
  double shift = std::ldexp(1.0, int(lookup.getTableBits()) -
                                     (lookup.getIsSigned() ? 1 : 0));
  return TableQuantizer{of(lookup.getThreshold()), shift,
                        lookup.getIsSigned() ? -shift : 0, shift - 1,
                        lookup.getTable()};
}

} // namespace

ReferenceTensor reference::quantize(tpc::QuantizeOp op,
                                    const ReferenceTensor &input,
                                    double codesAway) {
  if (!op.isActivation())
    codesAway = 0;
  ReferenceTensor result = input;
  result.terms = 0;
  for (size_t i = 0; i != input.numbers.size(); ++i) {
    Index index = unflatten(input.shape, int64_t(i));
    int64_t channel = 0;
    for (int64_t axis : op.getChannelAxes())
      channel = channel * input.shape[axis] + index[axis];
    result.numbers[i] = quantizerOfChannel(*op.getParameters(), channel,
                                           codesAway)(input.numbers[i]);
  }
  return result;
}
