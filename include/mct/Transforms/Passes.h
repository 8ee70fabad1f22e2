// SPDX-License-Identifier: Apache-2.0
//
// Passes that keep a module on float tensors.
#ifndef MCT_TRANSFORMS_PASSES_H
#define MCT_TRANSFORMS_PASSES_H

#include "mct/Transforms/DecodingOption.h"
#include "mct/Transforms/ErrorMethodOption.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/Support/CommandLine.h"

namespace mct {

#define GEN_PASS_DECL
#include "mct/Transforms/Passes.h.inc"

} // namespace mct

#endif // MCT_TRANSFORMS_PASSES_H
