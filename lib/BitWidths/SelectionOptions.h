// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H
#define MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H

#include "mct/Execution/NetworkPass.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mct::bit_widths {

/// Base of the passes that run a network with alternatives whose parameters
/// they select (Mct_CandidateSelectionOptions).
template <typename PassBase>
class SelectingPass : public execution::NetworkPass<PassBase> {
public:
  using execution::NetworkPass<PassBase>::NetworkPass;

protected:
  /// Selects the parameters of the points of `module`, which is not the module
  /// of the pass, that have none.
  mlir::LogicalResult selectMissing(mlir::ModuleOp module) {
    SelectWeightParametersPassOptions weights;
    SelectParametersPassOptions activations;
    auto set = [&](auto &options) {
      options.lpNorm = this->lpNorm;
      options.percentile = this->percentile;
      options.minThreshold = this->minThreshold;
      options.threads = this->threads;
    };
    set(weights);
    set(activations);
    weights.errorMethod = this->weightsErrorMethod;
    weights.errorTolerance = this->weightsErrorTolerance;
    activations.errorMethod = this->activationErrorMethod;
    activations.zThreshold = this->zThreshold;
    mlir::PassManager passes(module.getContext(),
                             mlir::ModuleOp::getOperationName());
    passes.addPass(createSelectWeightParametersPass(weights));
    passes.addPass(createSelectParametersPass(activations));
    return passes.run(module);
  }
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H
