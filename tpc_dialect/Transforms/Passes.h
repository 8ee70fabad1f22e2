// SPDX-License-Identifier: Apache-2.0
//
// The `tpc-*` passes: they attach, match and check target descriptions, and
// never compute with data.
#ifndef TPC_DIALECT_TRANSFORMS_PASSES_H
#define TPC_DIALECT_TRANSFORMS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include <memory>
#include <string>

namespace mct::tpc {

#define GEN_PASS_DECL
#include "tpc_dialect/Transforms/Passes.h.inc"

} // namespace mct::tpc

#endif // TPC_DIALECT_TRANSFORMS_PASSES_H
