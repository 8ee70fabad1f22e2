// SPDX-License-Identifier: Apache-2.0
//
// Passes that choose among the alternatives of operators: what each costs, and
// which together keep to a budget.
#ifndef MCT_BITWIDTHS_PASSES_H
#define MCT_BITWIDTHS_PASSES_H

#include "mct/Transforms/ErrorMethodOption.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// How results of a network are compared with those of the float network.
enum class SensitivityMetric {
  /// KL for distributions, MSE for others.
  Auto,
  KL,
  MSE,
};

/// The command line's words for them.
inline llvm::cl::ValuesClass sensitivityMetricValues() {
  return llvm::cl::values(
      clEnumValN(SensitivityMetric::Auto, "auto",
                 "kl for results that are distributions, mse for others"),
      clEnumValN(SensitivityMetric::KL, "kl",
                 "Kullback-Leibler divergence of the distributions, or of the "
                 "softmax, along the last axis"),
      clEnumValN(SensitivityMetric::MSE, "mse",
                 "mean squared error by the mean square"));
}

#define GEN_PASS_DECL
#include "mct/BitWidths/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mct/BitWidths/Passes.h.inc"

} // namespace mct

#endif // MCT_BITWIDTHS_PASSES_H
