// SPDX-License-Identifier: Apache-2.0
//
// Rules that the parameter selections of weights and activations have in
// common.
#ifndef MCT_TEST_UNIT_GOLDEN_SELECTION_H
#define MCT_TEST_UNIT_GOLDEN_SELECTION_H

#include "Golden.h"

#include "mct/Quantization/Selection.h"

#include <cmath>
#include <limits>

namespace mct::golden {

/// The error that an error method minimizes: its key in the results of MCT, and
/// its power.
struct Metric {
  std::string key;
  double power = 2;
};

inline Metric metricOf(const json::Object &recorded) {
  std::string method = text(recorded, "error_method");
  if (method == "MAE")
    return {"mae", 1};
  if (method == "LP")
    return {"lp", number(recorded.get("p"))};
  return {"mse", 2};
}

inline bool isTable(const json::Object &recorded) {
  return llvm::StringRef(text(recorded, "method")).starts_with("LUT");
}

inline quantization::SelectionOptions optionsOf(const json::Object &recorded) {
  using quantization::ErrorMethod;
  using quantization::QuantizationMethod;
  quantization::SelectionOptions options;
  std::string method = text(recorded, "method");
  options.kind = method == "POT"         ? QuantizationMethod::PowerOfTwo
                 : method == "SYMMETRIC" ? QuantizationMethod::Symmetric
                 : method == "UNIFORM"   ? QuantizationMethod::Uniform
                 : method == "LUT_POT"   ? QuantizationMethod::LutPowerOfTwo
                                         : QuantizationMethod::LutSymmetric;
  std::string error = text(recorded, "error_method");
  options.errorMethod = error == "NOCLIPPING" ? ErrorMethod::NoClipping
                        : error == "MAE"      ? ErrorMethod::MAE
                        : error == "LP"       ? ErrorMethod::LP
                        : error == "KL"       ? ErrorMethod::KL
                                              : ErrorMethod::MSE;
  options.bits = *recorded.getInteger("n_bits");
  options.lpNorm = recorded.getNumber("p").value_or(2);
  options.minThreshold = recorded.getNumber("min_threshold").value_or(0x1p-16);
  return options;
}

/// Returns the term that the rules add to the right-hand side of every
/// comparison of errors: (1e-6 of the root mean square) to the power of the
/// metric, which is 2 for MSE and 1 for MAE.
inline double slackOf(double meanSquare, const Metric &metric) {
  return std::pow(1e-6 * std::sqrt(meanSquare), metric.power);
}

/// Finite parameters that keep zero.
inline void expectUsable(const quantization::Grid &grid) {
  ASSERT_TRUE(std::isfinite(grid.step) && grid.step > 0);
  float zero = 0, quantizedZero = 1;
  quantization::fakeQuantize(grid, &zero, &quantizedZero, 1);
  EXPECT_EQ(quantizedZero, 0);
}

} // namespace mct::golden

#endif // MCT_TEST_UNIT_GOLDEN_SELECTION_H
