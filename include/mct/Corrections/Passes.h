// SPDX-License-Identifier: Apache-2.0
//
// Passes that change biases and kernels so that a quantized network reproduces
// the float network.
#ifndef MCT_CORRECTIONS_PASSES_H
#define MCT_CORRECTIONS_PASSES_H

#include "mct/Execution/SampleSource.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// Source of the error of a layer for mct-correct-bias.
enum class BiasEstimate { QuantizedNetwork, InputMean };

/// Returns the values of the command-line option.
inline llvm::cl::ValuesClass biasEstimateValues() {
  return llvm::cl::values(clEnumValN(BiasEstimate::QuantizedNetwork,
                                     "quantized-network",
                                     "outputs of the quantized network"),
                          clEnumValN(BiasEstimate::InputMean, "input-mean",
                                     "mean inputs of the float network"));
}

/// Returns the values of the command-line option for the halves of the samples.
inline llvm::cl::ValuesClass sampleHalfValues() {
  using execution::SampleHalf;
  return llvm::cl::values(
      clEnumValN(SampleHalf::All, "none", "all samples"),
      clEnumValN(SampleHalf::First, "first", "one half"),
      clEnumValN(SampleHalf::Second, "second", "the other half"));
}

#define GEN_PASS_DECL
#include "mct/Corrections/Passes.h.inc"

} // namespace mct

#endif // MCT_CORRECTIONS_PASSES_H
