// SPDX-License-Identifier: Apache-2.0
//
// Helpers of tests of selections: options in one line, what a histogram sees,
// errors by their definition, and a loop over instruction sets.
#ifndef MCT_TEST_UNIT_QUANTIZATION_SELECTIONFIXTURE_H
#define MCT_TEST_UNIT_QUANTIZATION_SELECTIONFIXTURE_H

#include "mct/Quantization/Histogram.h"
#include "mct/Quantization/Selection.h"
#include "mct/Quantizers/InstructionSet.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace mct::quantization {

/// The kinds of grids.
constexpr QuantizationMethod kKinds[] = {QuantizationMethod::PowerOfTwo,
                                         QuantizationMethod::Symmetric,
                                         QuantizationMethod::Uniform};

inline SelectionOptions makeOptions(QuantizationMethod kind, unsigned bits,
                                    ErrorMethod errorMethod = ErrorMethod::MSE,
                                    double lpNorm = 3, bool isSigned = true) {
  SelectionOptions options;
  options.kind = kind;
  options.bits = bits;
  options.errorMethod = errorMethod;
  options.lpNorm = lpNorm;
  options.isSigned = isSigned;
  return options;
}

inline Histogram observed(const std::vector<float> &values) {
  HistogramScratch scratch;
  Histogram histogram;
  histogram.observe(values.data(), values.size(), scratch);
  return histogram;
}

/// Mean of |e|^p over the finite values; levels step * [lo, hi].
inline double meanError(const std::vector<float> &values, double p, double step,
                        double lo, double hi) {
  double sum = 0, count = 0;
  for (double x : values) {
    if (!std::isfinite(x))
      continue;
    double level = std::clamp(std::nearbyint(x / step), lo, hi);
    sum += std::pow(std::fabs(x - step * level), p);
    ++count;
  }
  return count == 0 ? 0 : sum / count;
}

inline double meanError(const std::vector<float> &values, double p,
                        const Grid &grid) {
  return meanError(values, p, grid.step, double(grid.qmin - grid.zeroPoint),
                   double(grid.qmax - grid.zeroPoint));
}

inline void expectSameParameters(const SelectedParameters &a,
                                 const SelectedParameters &b) {
  EXPECT_EQ(a.threshold, b.threshold);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.zeroPoint, b.zeroPoint);
  EXPECT_EQ(a.error, b.error);
  EXPECT_EQ(a.certificate, b.certificate);
  EXPECT_EQ(a.bound, b.bound);
}

/// Runs `check` with every instruction set of this processor.
template <typename Check> void withEveryInstructionSet(Check check) {
  for (InstructionSet set : {InstructionSet::Portable, InstructionSet::AVX2,
                             InstructionSet::AVX512}) {
    if (!forceInstructionSetForTesting(set))
      continue;
    SCOPED_TRACE("instruction set " + std::to_string(int(set)));
    check();
  }
  forceInstructionSetForTesting(std::nullopt);
}

} // namespace mct::quantization

#endif // MCT_TEST_UNIT_QUANTIZATION_SELECTIONFIXTURE_H
