// SPDX-License-Identifier: Apache-2.0
//
// Command-line values of error methods, for every pass and pipeline that has
// the option.
#ifndef MCT_TRANSFORMS_ERRORMETHODOPTION_H
#define MCT_TRANSFORMS_ERRORMETHODOPTION_H

#include "mct/Quantization/Selection.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

inline llvm::cl::ValuesClass errorMethodValues() {
  using quantization::ErrorMethod;
  return llvm::cl::values(
      clEnumValN(ErrorMethod::NoClipping, "no-clipping",
                 "cover the whole range"),
      clEnumValN(ErrorMethod::MSE, "mse", "smallest mean squared error"),
      clEnumValN(ErrorMethod::MAE, "mae", "smallest mean absolute error"),
      clEnumValN(ErrorMethod::LP, "lp",
                 "smallest mean of the error to the power lp-norm"),
      clEnumValN(ErrorMethod::KL, "kl",
                 "smallest Kullback-Leibler divergence of the histograms"),
      clEnumValN(
          ErrorMethod::HMSE, "hmse",
          "weights: mse weighted by the mean square of the layer's input "
          "channels"),
      clEnumValN(ErrorMethod::Percentile, "percentile",
                 "cover the given percentile"),
      clEnumValN(ErrorMethod::OCTAV, "octav",
                 "recursion for the clipping of least mean squared error"));
}

} // namespace mct

#endif // MCT_TRANSFORMS_ERRORMETHODOPTION_H
