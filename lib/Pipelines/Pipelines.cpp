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

void mct::buildPreparePipeline(OpPassManager &passManager,
                               const PrepareOptionGroup &options) {
  OpPassManager &functions = passManager.nest<func::FuncOp>();
  // Names come before any rewrite, so that a float module and everything that
  // is made from it speak of the same values.
  functions.addPass(createAssignNamesPass());
  // A batch norm's scale is a constant only after its rsqrt is evaluated.
  functions.addPass(createFoldConstantsPass());
  // Before anything is matched or folded: a transposition stands in between.
  functions.addPass(createMoveTransposesPass());
  // The bounds of a split ReLU6 may be computed.
  functions.addPass(createNormalizeActivationsPass());
  functions.addPass(createFoldBatchNormPass());
  if (options.reluBoundToPowerOfTwo)
    passManager.addPass(createBoundReluToPowerOfTwoPass());
  if (!options.linearCollapsing && !options.residualCollapsing)
    return;
  // Behind the batch norms, which stand between what is joined here.
  OpPassManager &collapsing = options.reluBoundToPowerOfTwo
                                  ? passManager.nest<func::FuncOp>()
                                  : functions;
  if (options.linearCollapsing)
    collapsing.addPass(createCollapseLinearPass());
  if (options.residualCollapsing)
    collapsing.addPass(createCollapseResidualPass());
}

static void addCalibration(OpPassManager &passManager,
                           const SampleOptionGroup &samples,
                           bool channelStatistics) {
  CalibratePassOptions calibrate;
  samples.copyTo(calibrate);
  calibrate.channelStatistics = channelStatistics;
  passManager.addPass(createCalibratePass(calibrate));
}

static void addWeightSelection(OpPassManager &passManager,
                               const SampleOptionGroup &samples,
                               const SelectionOptionGroup &selection) {
  SelectWeightParametersPassOptions weights;
  selection.copyToWeights(weights);
  weights.threads = samples.threads;
  passManager.addPass(createSelectWeightParametersPass(weights));
}

static void addActivationSelection(OpPassManager &passManager,
                                   const SampleOptionGroup &samples,
                                   const SelectionOptionGroup &selection) {
  SelectParametersPassOptions activations;
  selection.copyToActivations(activations);
  activations.threads = samples.threads;
  passManager.addPass(createSelectParametersPass(activations));
}

/// Whether the weights are chosen with the means of their inputs' squares.
static bool needsChannelStatistics(const SelectionOptionGroup &selection) {
  return selection.weightsErrorMethod == quantization::ErrorMethod::HMSE;
}

static void addSecondMoment(OpPassManager &passManager,
                            const SampleOptionGroup &samples,
                            const SecondMomentOptionGroup &options) {
  CorrectSecondMomentPassOptions secondMoment;
  samples.copyTo(secondMoment);
  secondMoment.maxBits = options.maxBits;
  passManager.addPass(createCorrectSecondMomentPass(secondMoment));
}

/// What comes behind the selection of all parameters. `runs`: whether there is
/// anything to run the network on.
static void addCorrections(OpPassManager &passManager,
                           const SampleOptionGroup &samples,
                           const SelectionOptionGroup &selection,
                           const CorrectionOptionGroup &corrections,
                           bool runs) {
  // Both drop the parameters of what they changed.
  if (corrections.softmaxShift)
    passManager.addPass(createShiftSoftmaxPass());
  if (corrections.inputScaling) {
    passManager.addPass(createScaleInputPass());
    addWeightSelection(passManager, samples, selection);
  }
  if (corrections.softmaxShift)
    addActivationSelection(passManager, samples, selection);
  if (corrections.concatThresholdUpdate)
    passManager.nest<func::FuncOp>().addPass(
        createUpdateConcatThresholdsPass());
  if (corrections.shiftNegative) {
    CorrectShiftNegativePassOptions shift;
    selection.copyToActivations(shift);
    shift.ratio = corrections.shiftNegativeRatio;
    shift.thresholdRecalculation =
        corrections.shiftNegativeThresholdRecalculation;
    shift.parameterSearch = corrections.shiftNegativeParametersSearch;
    shift.biasCorrectionFollows = corrections.weightsBias && runs;
    passManager.addPass(createCorrectShiftNegativePass(shift));
  }
  if (corrections.weightsBias && runs) {
    CorrectBiasPassOptions bias;
    samples.copyTo(bias);
    bias.estimate = corrections.biasEstimate;
    passManager.addPass(createCorrectBiasPass(bias));
  }
  if (corrections.activationBias) {
    CorrectActivationBiasPassOptions bias;
    bias.threshold = corrections.activationBiasThreshold;
    bias.function = samples.function;
    passManager.addPass(createCorrectActivationBiasPass(bias));
  }
}

void mct::buildCorrectPipeline(OpPassManager &passManager,
                               const CorrectOptions &options) {
  if (options.secondMoment.weightsSecondMoment) {
    addSecondMoment(passManager, options.samples, options.secondMoment);
    // The float network is another one now.
    addCalibration(passManager, options.samples,
                   /*channelStatistics=*/false);
    addActivationSelection(passManager, options.samples, options.selection);
  }
  addCorrections(passManager, options.samples, options.selection,
                 options.corrections, /*runs=*/true);
}

void mct::buildPtqPipeline(OpPassManager &passManager,
                           const PtqOptions &options) {
  tpc::AttachTargetPassOptions attach;
  attach.target = options.target;
  passManager.addPass(tpc::createAttachTargetPass(attach));

  buildPreparePipeline(passManager, options.prepare);
  InsertQuantizersPassOptions insert;
  insert.overrides = options.overrides;
  insert.function = options.samples.function;
  passManager.addPass(createInsertQuantizersPass(insert));

  const SampleOptionGroup &samples = options.samples;
  // Without samples or statistics only weights can be quantized, as
  // mct-calibrate checks, and nothing that runs the network can be corrected.
  bool runs = !samples.calibrationData.empty() || !options.statisticsIn.empty();
  if (options.channelEqualization && runs) {
    addCalibration(passManager, samples, /*channelStatistics=*/true);
    passManager.addPass(createEqualizeChannelsPass());
  }
  CalibratePassOptions calibrate;
  samples.copyTo(calibrate);
  calibrate.channelStatistics = needsChannelStatistics(options.selection);
  calibrate.statisticsIn.assign(options.statisticsIn.begin(),
                                options.statisticsIn.end());
  calibrate.statisticsOut = options.statisticsOut;
  bool secondMoment = options.secondMoment.weightsSecondMoment && runs;
  // Weights wait for statistics only where they are chosen with them. The
  // second-moment correction changes what the activations are calibrated on, so
  // that MCT, which has it behind them, calibrates twice.
  if (calibrate.channelStatistics)
    passManager.addPass(createCalibratePass(calibrate));
  addWeightSelection(passManager, samples, options.selection);
  if (secondMoment)
    addSecondMoment(passManager, samples, options.secondMoment);
  if (!calibrate.channelStatistics || secondMoment)
    passManager.addPass(createCalibratePass(calibrate));
  addActivationSelection(passManager, samples, options.selection);
  addCorrections(passManager, samples, options.selection, options.corrections,
                 runs);
}

void mct::registerAllMctPasses() {
  tpc::registerTpcTransformsPasses();
  registerMctAnalysisPasses();
  registerMctTransformsPasses();
  registerMctCalibrationPasses();
  registerMctCorrectionsPasses();
  PassPipelineRegistration<PrepareOptions>(
      "mct-prepare",
      "Names and float-exact rewrites that come before quantizer points",
      [](OpPassManager &passManager, const PrepareOptions &options) {
        buildPreparePipeline(passManager, options.prepare);
      });
  PassPipelineRegistration<CorrectOptions>(
      "mct-correct",
      "Corrections of a module whose points have parameters: negative tails, "
      "moments and biases",
      buildCorrectPipeline);
  PassPipelineRegistration<PtqOptions>(
      "mct-ptq",
      "Post-training quantization: attach a target, prepare, insert points, "
      "calibrate, choose parameters, correct",
      buildPtqPipeline);
}
