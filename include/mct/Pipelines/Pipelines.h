// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes.
#ifndef MCT_PIPELINES_PIPELINES_H
#define MCT_PIPELINES_PIPELINES_H

#include "mct/BitWidths/Passes.h"
#include "mct/Corrections/Passes.h"
#include "mct/Transforms/ErrorMethodOption.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mct {

// Groups of options, made of the definitions in Options.td that the passes have
// as well. They are members of the pipelines that have them.
#include "mct/Pipelines/Options.h.inc"

/// Options of `mct-prepare`.
struct PrepareOptions : public mlir::PassPipelineOptions<PrepareOptions> {
  PrepareOptionGroup prepare{*this};
  RemarksOptionGroup remarks{*this};
};

/// Options of `mct-correct`.
struct CorrectOptions : public mlir::PassPipelineOptions<CorrectOptions> {
  SampleOptionGroup samples{*this};
  SelectionOptionGroup selection{*this};
  ActivationOptionGroup activations{*this};
  WeightOptionGroup weights{*this};
  CorrectionOptionGroup corrections{*this};
  RoundingOptionGroup rounding{*this};
  SecondMomentOptionGroup secondMoment{*this};
  ShiftNegativeOptionGroup shiftNegative{*this};
  BiasOptionGroup bias{*this};
  ActivationBiasOptionGroup activationBias{*this};
  RemarksOptionGroup remarks{*this};
};

/// Options of `mct-ptq`: those of `mct-prepare` and of `mct-correct`, with the
/// same defaults, and those of the passes between them.
struct PtqOptions : public CorrectOptions {
  TargetOptionGroup target{*this};
  PointOptionGroup points{*this};
  StatisticsOptionGroup statistics{*this};
  PrepareOptionGroup prepare{*this};
  EqualizationOptionGroup equalization{*this};
  SensitivityOptionGroup sensitivity{*this};
  ComparePointOptionGroup comparePoints{*this};
  BudgetOptionGroup budget{*this};
};

/// `mct-prepare`: names, then rewrites that are exact in float.
void buildPreparePipeline(mlir::OpPassManager &passManager,
                          const PrepareOptionGroup &options,
                          const RemarksOptionGroup &remarks);

/// `mct-prepare` with the defaults of its options.
inline void buildPreparePipeline(mlir::OpPassManager &passManager) {
  PrepareOptions options;
  buildPreparePipeline(passManager, options.prepare, options.remarks);
}

/// `mct-correct`: what mends a module whose points have parameters.
void buildCorrectPipeline(mlir::OpPassManager &passManager,
                          const CorrectOptions &options);

/// `mct-ptq`: from a float module to one whose points have parameters, with
/// corrections.
void buildPtqPipeline(mlir::OpPassManager &passManager,
                      const PtqOptions &options);

/// All passes and pipelines of the project.
void registerAllMctPasses();

} // namespace mct

#endif // MCT_PIPELINES_PIPELINES_H
