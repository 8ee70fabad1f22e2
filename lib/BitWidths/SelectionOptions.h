// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H
#define MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H

#include "mct/Corrections/Passes.h"
#include "mct/Execution/NetworkPass.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"

namespace mct::bit_widths {

/// Base of the passes that select the parameters of alternatives and run the
/// network with them (Mct_CandidateSelectionOptions).
template <typename PassBase>
class SelectingPass : public execution::ShardedNetworkPass<PassBase> {
public:
  using execution::ShardedNetworkPass<PassBase>::ShardedNetworkPass;

protected:
  /// Selects the missing parameters of the points of `module`, which is not the
  /// module of the pass.
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

  /// Rounds weights of few bits and corrects biases on one half of the samples,
  /// in `module`, which is not the module of the pass.
  mlir::LogicalResult correctOn(mlir::ModuleOp module,
                                execution::SampleHalf fitted) {
    mlir::PassManager passes(module.getContext(),
                             mlir::ModuleOp::getOperationName());
    auto set = [&](auto options) {
      options.function = this->function;
      options.calibrationData.assign(this->calibrationData.begin(),
                                     this->calibrationData.end());
      options.inputScale = this->inputScale;
      options.inputOffset = this->inputOffset;
      options.shardsIn.assign(this->shardsIn.begin(), this->shardsIn.end());
      options.shardsOut = this->shardsOut;
      options.shard = this->shard;
      options.calibrationSamples = this->calibrationSamples;
      options.batchSize = this->batchSize;
      options.threads = this->threads;
      options.maxMemory = this->maxMemory;
      options.maxSamples = this->maxSamples;
      options.half = fitted;
      return options;
    };
    if (this->roundMaxBits != 0) {
      auto options = set(RoundWeightsPassOptions());
      options.maxBits = this->roundMaxBits;
      options.judge = false;
      passes.addPass(createRoundWeightsPass(options));
    }
    // These passes need not judge: the measurement does.
    auto bias = set(CorrectBiasPassOptions());
    bias.judge = false;
    passes.addPass(createCorrectBiasPass(bias));
    return passes.run(module);
  }
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SELECTIONOPTIONS_H
