// SPDX-License-Identifier: Apache-2.0
//
// Passes that change biases and kernels so that a quantized network makes what
// the float one made.
#ifndef MCT_CORRECTIONS_PASSES_H
#define MCT_CORRECTIONS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

/// Where mct-correct-bias takes the error of a layer from.
enum class BiasEstimate { QuantizedNetwork, InputMean };

#define GEN_PASS_DECL
#include "mct/Corrections/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mct/Corrections/Passes.h.inc"

} // namespace mct

#endif // MCT_CORRECTIONS_PASSES_H
