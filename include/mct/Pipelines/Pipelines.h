// SPDX-License-Identifier: Apache-2.0
//
// Pipelines: the order of the passes.
#ifndef MCT_PIPELINES_PIPELINES_H
#define MCT_PIPELINES_PIPELINES_H

#include "mct/BitWidths/Passes.h"
#include "mct/Corrections/Passes.h"
#include "mct/Transforms/DecodingOption.h"
#include "mct/Transforms/ErrorMethodOption.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mct {

/// Time budget of `mct-ptq`.
enum class Effort { Fast, Default, Best };

inline llvm::cl::ValuesClass effortValues() {
  return llvm::cl::values(
      clEnumValN(Effort::Fast, "fast",
                 "no correction that runs the network: round-weights=false "
                 "weights-second-moment-correction=false "
                 "weights-bias-correction=false residual-equalization=false "
                 "rescale-parts=false judge-corrections=false"),
      clEnumValN(Effort::Default, "default", "the defaults of the options"),
      clEnumValN(Effort::Best, "best",
                 "training, and all samples for every correction: "
                 "gptq-epochs=20 round-weights-max-samples=0 "
                 "bias-max-samples=0 sensitivity-max-samples=0"));
}

// Groups of options, built from the definitions in Options.td that the passes
// share. They make up the options of the pipelines: PrepareOptions,
// CorrectOptions and PtqOptions, which is derived from CorrectOptions.
#include "mct/Pipelines/Options.h.inc"

/// Builds `mct-prepare`: variables become arguments and results, values get
/// names, then rewrites that are exact in float. If `decoding` requests it, a
/// decoding part becomes a function of its own. `function` is the entry
/// function; empty for the one that `findEntryFunction` finds.
void buildPreparePipeline(mlir::OpPassManager &passManager,
                          const PrepareOptionGroup &options,
                          const DecodingOptionGroup &decoding,
                          const RemarksOptionGroup &remarks,
                          llvm::StringRef function = "");

/// Builds `mct-prepare` with the defaults of its options.
inline void buildPreparePipeline(mlir::OpPassManager &passManager) {
  PrepareOptions options;
  buildPreparePipeline(passManager, options.prepare, options.decoding,
                       options.remarks);
}

/// Builds `mct-correct`: corrections of a module whose points have parameters.
void buildCorrectPipeline(mlir::OpPassManager &passManager,
                          const CorrectOptions &options);

/// Builds `mct-ptq`: from a float module to one whose points have parameters,
/// with corrections.
void buildPtqPipeline(mlir::OpPassManager &passManager,
                      const PtqOptions &options);

/// Registers all passes and pipelines of the project.
void registerAllMctPasses();

} // namespace mct

#endif // MCT_PIPELINES_PIPELINES_H
