// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H
#define MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H

#include "mct/Transforms/Passes.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mlir/Pass/PassManager.h"

namespace mct::bit_widths {

/// Runs the passes that select parameters of points without, on a module that
/// is not the one of the pass.
inline mlir::LogicalResult
selectMissing(mlir::ModuleOp module, const SelectionSettings &forWeights,
              const SelectionSettings &forActivations, unsigned threads) {
  SelectWeightParametersPassOptions weights;
  SelectParametersPassOptions activations;
  auto set = [&](auto &options, const SelectionSettings &from) {
    options.errorMethod = from.errorMethod;
    options.lpNorm = from.lpNorm;
    options.percentile = from.percentile;
    options.minThreshold = from.minThreshold;
    options.threads = threads;
  };
  set(weights, forWeights);
  set(activations, forActivations);
  weights.errorTolerance = forWeights.errorTolerance;
  activations.zThreshold = forActivations.zThreshold;
  mlir::PassManager passes(module.getContext(),
                           mlir::ModuleOp::getOperationName());
  passes.addPass(createSelectWeightParametersPass(weights));
  passes.addPass(createSelectParametersPass(activations));
  return passes.run(module);
}

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H
