// SPDX-License-Identifier: Apache-2.0
#include "OnnxResize.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mct::onnx;
using llvm::ArrayRef;
using llvm::StringRef;

/// Returns the position among the `from` input positions that corresponds to an
/// output position.
static double getSource(StringRef coordinates, int64_t position, int64_t from,
                        int64_t to) {
  double factor = double(from) / double(to);
  if (coordinates == "asymmetric")
    return double(position) * factor;
  if (coordinates == "align_corners")
    return to == 1 ? 0 : double(position) * double(from - 1) / double(to - 1);
  return (double(position) + 0.5) * factor - 0.5;
}

static double roundTo(StringRef mode, double value) {
  if (mode == "floor")
    return std::floor(value);
  if (mode == "ceil")
    return std::ceil(value);
  if (mode == "round_prefer_ceil")
    return std::floor(value + 0.5);
  return std::ceil(value - 0.5); // round_prefer_floor
}

static double limit(double value, int64_t count) {
  return std::clamp(value, 0.0, double(count - 1));
}

const ResizeForm *
mct::onnx::findResize(bool isBilinear, ArrayRef<int64_t> scale,
                      ArrayRef<int64_t> offset, ArrayRef<int64_t> from,
                      ArrayRef<int64_t> to, ArrayRef<ResizeForm> forms) {
  // The position at which TOSA interpolates, or that it selects.
  auto expected = [&](unsigned axis, int64_t position) {
    int64_t numerator = scale[2 * axis], denominator = scale[2 * axis + 1];
    double source =
        double(position * denominator + offset[axis]) / double(numerator);
    return limit(isBilinear ? source : std::floor(source + 0.5), from[axis]);
  };
  auto agrees = [&](const ResizeForm &form) {
    for (unsigned axis = 0; axis < 2; ++axis)
      for (int64_t position = 0; position < to[axis]; ++position) {
        double source =
            getSource(form.coordinates, position, from[axis], to[axis]);
        if (!isBilinear)
          source = roundTo(form.nearest, source);
        // Positions are fractions, whose rounding errors do not matter.
        if (std::abs(limit(source, from[axis]) - expected(axis, position)) >
            1e-9)
          return false;
      }
    return true;
  };
  const ResizeForm *found = llvm::find_if(forms, agrees);
  return found == forms.end() ? nullptr : found;
}
