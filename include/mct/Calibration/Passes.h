// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_CALIBRATION_PASSES_H
#define MCT_CALIBRATION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mct {

#define GEN_PASS_DECL
#include "mct/Calibration/Passes.h.inc"

} // namespace mct

#endif // MCT_CALIBRATION_PASSES_H
