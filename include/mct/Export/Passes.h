// SPDX-License-Identifier: Apache-2.0
//
// Passes that prepare a module for an exporter.
#ifndef MCT_EXPORT_PASSES_H
#define MCT_EXPORT_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mct {

#define GEN_PASS_DECL
#include "mct/Export/Passes.h.inc"

} // namespace mct

#endif // MCT_EXPORT_PASSES_H
