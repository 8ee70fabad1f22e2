// SPDX-License-Identifier: Apache-2.0
#include "mct/Pipelines/Pipelines.h"
#include "mct/Analysis/Passes.h"
#include "mct/Calibration/Passes.h"
#include "mct/Corrections/Passes.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/Transforms/Passes.h"

using namespace mlir;
using namespace mct;

void mct::buildPreparePipeline(OpPassManager &passManager) {
  OpPassManager &functions = passManager.nest<func::FuncOp>();
  // Names come before any rewrite, so that a float module and everything that
  // is made from it speak of the same values.
  functions.addPass(createAssignNamesPass());
  // A batch norm's scale is a constant only after its rsqrt is evaluated.
  functions.addPass(createFoldConstantsPass());
  // The bounds of a split ReLU6 may be computed.
  functions.addPass(createNormalizeActivationsPass());
  functions.addPass(createFoldBatchNormPass());
}

void mct::buildPtqPipeline(OpPassManager &passManager,
                           const PtqOptions &options) {
  tpc::AttachTargetPassOptions attach;
  attach.target = options.target;
  passManager.addPass(tpc::createAttachTargetPass(attach));

  buildPreparePipeline(passManager);
  InsertQuantizersPassOptions insert;
  insert.overrides = options.overrides;
  passManager.addPass(createInsertQuantizersPass(insert));

  CalibratePassOptions calibrate;
  calibrate.calibrationData.assign(options.calibrationData.begin(),
                                   options.calibrationData.end());
  calibrate.calibrationSamples = options.calibrationSamples;
  calibrate.batchSize = options.batchSize;
  calibrate.threads = options.threads;
  calibrate.inputScale = options.inputScale;
  calibrate.inputOffset = options.inputOffset;
  calibrate.statisticsIn.assign(options.statisticsIn.begin(),
                                options.statisticsIn.end());
  calibrate.statisticsOut = options.statisticsOut;
  passManager.addPass(createCalibratePass(calibrate));

  SelectWeightParametersPassOptions weights;
  weights.errorMethod = options.weightsErrorMethod;
  weights.threads = options.threads;
  passManager.addPass(createSelectWeightParametersPass(weights));
  SelectParametersPassOptions activations;
  activations.errorMethod = options.activationErrorMethod;
  passManager.addPass(createSelectParametersPass(activations));
}

void mct::registerAllMctPasses() {
  tpc::registerTpcTransformsPasses();
  registerMctAnalysisPasses();
  registerMctTransformsPasses();
  registerMctCalibrationPasses();
  registerMctCorrectionsPasses();
  PassPipelineRegistration<>(
      "mct-prepare",
      "Names and float-exact rewrites that come before quantizer points",
      buildPreparePipeline);
  PassPipelineRegistration<PtqOptions>(
      "mct-ptq",
      "Post-training quantization: attach a target, prepare, insert points, "
      "calibrate, choose parameters",
      buildPtqPipeline);
}
