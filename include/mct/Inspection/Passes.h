// SPDX-License-Identifier: Apache-2.0
//
// Passes that report and change nothing.
#ifndef MCT_INSPECTION_PASSES_H
#define MCT_INSPECTION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

enum class ExplainFormat { Text, JSON };

#define GEN_PASS_DECL
#include "mct/Inspection/Passes.h.inc"

} // namespace mct

#endif // MCT_INSPECTION_PASSES_H
