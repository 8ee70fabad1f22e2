// SPDX-License-Identifier: Apache-2.0
//
// Passes that turn quantizer points into what other compilers take.
#ifndef MCT_CONVERSION_PASSES_H
#define MCT_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mct {

#define GEN_PASS_DECL
#include "mct/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mct/Conversion/Passes.h.inc"

} // namespace mct

#endif // MCT_CONVERSION_PASSES_H
