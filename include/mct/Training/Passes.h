// SPDX-License-Identifier: Apache-2.0
//
// Passes that prepare a network for training, and that train it.
#ifndef MCT_TRAINING_PASSES_H
#define MCT_TRAINING_PASSES_H

#include "mct/Training/GradientPtq.h"
#include "mct/Training/MakeTrainable.h"
#include "mct/Training/OptimizerOptions.h"
#include "mct/Training/Qat.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mct {

#define GEN_PASS_DECL
#include "mct/Training/Passes.h.inc"

} // namespace mct

#endif // MCT_TRAINING_PASSES_H
