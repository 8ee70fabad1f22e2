// SPDX-License-Identifier: Apache-2.0
//
// Passes that choose among the alternatives of operators: the cost of each, and
// the combinations that keep to a budget.
#ifndef MCT_BITWIDTHS_PASSES_H
#define MCT_BITWIDTHS_PASSES_H

#include "mct/Transforms/ErrorMethodOption.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// Comparison of the results of a network with those of the float network.
enum class SensitivityMetric {
  /// KL for distributions, MSE for others.
  Auto,
  KL,
  MSE,
  /// MSE of the logits of distributions, MSE for others.
  Logits,
};

/// Returns the values of the command-line option.
inline llvm::cl::ValuesClass sensitivityMetricValues() {
  return llvm::cl::values(
      clEnumValN(SensitivityMetric::Auto, "auto",
                 "kl for results that are distributions, mse for others"),
      clEnumValN(SensitivityMetric::KL, "kl",
                 "Kullback-Leibler divergence of the distributions, or of the "
                 "softmax, along the last axis"),
      clEnumValN(SensitivityMetric::MSE, "mse",
                 "mean squared error by the mean square"),
      clEnumValN(SensitivityMetric::Logits, "logits",
                 "mse of the logarithms of distributions, mse for others"));
}

/// Comparison of a value inside the network with that of the float network.
enum class SensitivityDistance {
  /// KL for softmax, Cosine for fully connected layers and sigmoids, MSE for
  /// others.
  Auto,
  MSE,
  Cosine,
  KL,
};

/// Returns the values of the command-line option.
inline llvm::cl::ValuesClass sensitivityDistanceValues() {
  return llvm::cl::values(
      clEnumValN(SensitivityDistance::Auto, "auto",
                 "kl for softmax, cosine for fully connected layers and "
                 "sigmoids, mse for others"),
      clEnumValN(SensitivityDistance::MSE, "mse",
                 "mean squared error by the mean square"),
      clEnumValN(SensitivityDistance::Cosine, "cosine",
                 "half of what the cosine is below 1"),
      clEnumValN(SensitivityDistance::KL, "kl",
                 "Kullback-Leibler divergence of the softmax along the last "
                 "axis"));
}

/// Combination of the distances of several such values.
enum class SensitivityWeighting { Average, LastLayer, Exponential, Hessian };

/// Returns the values of the command-line option.
inline llvm::cl::ValuesClass sensitivityWeightingValues() {
  return llvm::cl::values(
      clEnumValN(SensitivityWeighting::Average, "average", "their mean"),
      clEnumValN(SensitivityWeighting::LastLayer, "last-layer",
                 "that of the last one"),
      clEnumValN(SensitivityWeighting::Exponential, "exponential",
                 "their mean with the weights 1 - exp(-distance / 0.1)"),
      clEnumValN(SensitivityWeighting::Hessian, "hessian",
                 "their mean, weighted by how much the results of the float "
                 "network change with them"));
}

/// Resource that is minimized by an assignment with a limited drop.
enum class MinimizedResource { Weights, Total, Bops, Cycles };

/// Returns the values of the command-line option.
inline llvm::cl::ValuesClass minimizedResourceValues() {
  return llvm::cl::values(
      clEnumValN(MinimizedResource::Weights, "weights",
                 "bytes of all quantized weights"),
      clEnumValN(MinimizedResource::Total, "total",
                 "bytes of the weights and of the largest cut of the "
                 "activations"),
      clEnumValN(MinimizedResource::Bops, "bops", "operations on bits"),
      clEnumValN(MinimizedResource::Cycles, "cycles",
                 "cycles on the device, by a table of costs"));
}

#define GEN_PASS_DECL
#include "mct/BitWidths/Passes.h.inc"

} // namespace mct

#endif // MCT_BITWIDTHS_PASSES_H
