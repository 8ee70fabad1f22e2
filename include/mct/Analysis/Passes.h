// SPDX-License-Identifier: Apache-2.0
//
// Passes that report and change nothing.
#ifndef MCT_ANALYSIS_PASSES_H
#define MCT_ANALYSIS_PASSES_H

#include "mct/Analysis/IntegerProfile.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

enum class ExplainFormat { Text, JSON };

#define GEN_PASS_DECL
#include "mct/Analysis/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mct/Analysis/Passes.h.inc"

} // namespace mct

#endif // MCT_ANALYSIS_PASSES_H
