// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_INTERFACES_OPMODELS_H
#define MCT_LIB_INTERFACES_OPMODELS_H

#include "mlir/IR/MLIRContext.h"

namespace mct {

/// Implements `BatchOpInterface` for the ops of TOSA, which is loaded.
void attachTosaBatchModels(mlir::MLIRContext *context);

} // namespace mct

#endif // MCT_LIB_INTERFACES_OPMODELS_H
