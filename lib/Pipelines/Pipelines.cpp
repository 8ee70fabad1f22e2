// SPDX-License-Identifier: Apache-2.0
#include "mct/Pipelines/Pipelines.h"
#include "mct/BitWidths/Passes.h"
#include "mct/Calibration/Passes.h"
#include "mct/Conversion/Passes.h"
#include "mct/Corrections/Passes.h"
#include "mct/Export/Passes.h"
#include "mct/Inspection/Passes.h"
#include "mct/Training/Passes.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcRejections.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace mct;

/// Number of training steps between checkpoints.
static constexpr uint64_t kTrainingSteps = 100;

/// Returns the options of a pass, set from groups of options.
template <typename PassOptions, typename... Groups>
static PassOptions gather(const Groups &...groups) {
  PassOptions options;
  (groups.copyTo(options), ...);
  return options;
}

static void addCut(OpPassManager &passManager, StringRef function) {
  CutDecodingPassOptions cut;
  cut.function = function.str();
  passManager.addPass(createCutDecodingPass(cut));
}

void mct::buildPreparePipeline(OpPassManager &passManager,
                               const PrepareOptionGroup &options,
                               const DecodingOptionGroup &decoding,
                               const RemarksOptionGroup &remarks,
                               StringRef function) {
  // Before names are assigned: the arguments have the names of the variables.
  LiftVariablesPassOptions variables;
  variables.function = function.str();
  passManager.addPass(createLiftVariablesPass(variables));
  OpPassManager &functions = passManager.nest<func::FuncOp>();
  // All later passes support TOSA.
  functions.addPass(
      createRaiseLinalgPass(gather<RaiseLinalgPassOptions>(remarks)));
  // Assign names before any rewrite, so that a float module and everything
  // derived from it use the same names.
  functions.addPass(createAssignNamesPass());
  // A batch norm's scale is a constant only after its rsqrt has been evaluated.
  functions.addPass(createFoldConstantsPass());
  // Before anything is matched or folded, since a transposition may be in
  // between.
  functions.addPass(createMoveTransposesPass());
  // The bounds of a split ReLU6 may have been computed.
  functions.addPass(createNormalizeActivationsPass());
  passManager.addPass(
      createFoldBatchNormPass(gather<FoldBatchNormPassOptions>(remarks)));
  if (options.reluBoundToPowerOfTwo)
    passManager.addPass(createBoundReluToPowerOfTwoPass(
        gather<BoundReluToPowerOfTwoPassOptions>(remarks)));
  // After batch norms have been folded, which are between the layers to be
  // collapsed.
  if (options.linearCollapsing)
    passManager.addPass(
        createCollapseLinearPass(gather<CollapseLinearPassOptions>(remarks)));
  if (options.residualCollapsing)
    passManager.addPass(createCollapseResidualPass(
        gather<CollapseResidualPassOptions>(remarks)));
  if (decoding.decoding == DecodingMode::Cut)
    addCut(passManager, function);
}

static void addWeightSelection(OpPassManager &passManager,
                               const CorrectOptions &options) {
  auto weights = gather<SelectWeightParametersPassOptions>(
      options.selection, options.weights, options.remarks);
  weights.threads = options.samples.threads;
  passManager.addPass(createSelectWeightParametersPass(weights));
}

static void addActivationSelection(OpPassManager &passManager,
                                   const CorrectOptions &options) {
  auto activations = gather<SelectParametersPassOptions>(
      options.selection, options.activations, options.remarks);
  activations.threads = options.samples.threads;
  passManager.addPass(createSelectParametersPass(activations));
}

/// Returns whether there are samples, of this process or of shards.
static bool hasSampleFiles(const CorrectOptions &options) {
  return !options.samples.calibrationData.empty() ||
         !options.samples.shardsIn.empty();
}

/// Returns whether the weights are selected with the mean squares of their
/// inputs.
static bool needsChannelStatistics(const CorrectOptions &options) {
  return options.weights.weightsErrorMethod == quantization::ErrorMethod::HMSE;
}

/// Adds the selection of parameters for activations that have just been
/// calibrated.
static void addFirstActivationSelection(OpPassManager &passManager,
                                        const PtqOptions &options) {
  // A grid that is split does not get parameters.
  if (options.equalization.splitSharedGrids) {
    auto split = gather<SplitSharedGridsPassOptions>(options.remarks);
    if (hasSampleFiles(options)) {
      OpPassManager complete(ModuleOp::getOperationName());
      auto calibrate = gather<CalibratePassOptions>(options.samples);
      calibrate.channelStatistics = needsChannelStatistics(options);
      calibrate.onlyMissing = true;
      complete.addPass(createCalibratePass(calibrate));
      addWeightSelection(complete, options);
      split.completedBy.push_back(complete);
    }
    passManager.addPass(createSplitSharedGridsPass(split));
  }
  addActivationSelection(passManager, options);
}

/// Adds the passes that an equalized network needs before it can run.
static void addFirstParameters(OpPassManager &passManager,
                               const CorrectOptions &options) {
  auto calibrate = gather<CalibratePassOptions>(options.samples);
  calibrate.channelStatistics = needsChannelStatistics(options);
  passManager.addPass(createCalibratePass(calibrate));
  addWeightSelection(passManager, options);
  addActivationSelection(passManager, options);
}

/// Adds a correction of the whole network on a module, judged if there are
/// samples. `then`: adds the passes that the network needs before it can run;
/// these are not part of the result.
static void addJudged(OpPassManager &passManager, const CorrectOptions &options,
                      StringRef correction,
                      llvm::function_ref<void(OpPassManager &)> make,
                      llvm::function_ref<void(OpPassManager &)> then = {}) {
  if (!options.judge.judgeCorrections || !hasSampleFiles(options))
    return make(passManager);
  OpPassManager made(ModuleOp::getOperationName()),
      after(ModuleOp::getOperationName());
  make(made);
  auto judge =
      gather<JudgeCorrectionPassOptions>(options.samples, options.remarks);
  judge.correction = correction.str();
  judge.madeBy.push_back(made);
  if (then)
    then(after);
  if (!after.empty())
    judge.then.push_back(after);
  passManager.addPass(createJudgeCorrectionPass(judge));
}

/// Returns whether deviations are corrected, which rounded weights do not need.
static bool correctsSecondMoment(const CorrectOptions &options) {
  return options.corrections.weightsSecondMoment &&
         !options.corrections.roundWeights;
}

/// `then`: adds the passes that the network needs before it can run.
static void addSecondMoment(OpPassManager &passManager,
                            const CorrectOptions &options,
                            llvm::function_ref<void(OpPassManager &)> then) {
  auto secondMoment = gather<CorrectSecondMomentPassOptions>(
      options.samples, options.secondMoment, options.remarks);
  addJudged(
      passManager, options, tpc::kSecondMomentCorrection,
      [&](OpPassManager &passes) {
        passes.addPass(createCorrectSecondMomentPass(secondMoment));
      },
      then);
}

static CorrectBiasPassOptions biasOptions(const CorrectOptions &options) {
  return gather<CorrectBiasPassOptions>(options.samples, options.bias,
                                        options.judge, options.remarks);
}

/// Adds the passes after the selection of all parameters. `runs`: whether there
/// is anything to run the network on.
static void addCorrections(OpPassManager &passManager,
                           const CorrectOptions &options, bool runs) {
  const CorrectionOptionGroup &corrections = options.corrections;
  // Both passes drop the parameters of points that they change.
  if (corrections.softmaxShift)
    passManager.addPass(createShiftSoftmaxPass(
        gather<ShiftSoftmaxPassOptions>(options.remarks)));
  if (corrections.inputScaling) {
    passManager.addPass(
        createScaleInputPass(gather<ScaleInputPassOptions>(options.remarks)));
    addWeightSelection(passManager, options);
  }
  if (corrections.softmaxShift)
    addActivationSelection(passManager, options);
  if (corrections.concatThresholdUpdate)
    passManager.nest<func::FuncOp>().addPass(createUpdateConcatThresholdsPass(
        gather<UpdateConcatThresholdsPassOptions>(options.remarks)));
  // A network with such a change is judged with corrected biases if biases are
  // corrected later.
  auto correctBias = [&](OpPassManager &passes) {
    CorrectBiasPassOptions bias = biasOptions(options);
    bias.judge = false;
    if (corrections.weightsBias && runs)
      passes.addPass(createCorrectBiasPass(bias));
  };
  if (corrections.shiftNegative) {
    auto shift = gather<CorrectShiftNegativePassOptions>(
        options.selection, options.activations, options.shiftNegative,
        options.remarks);
    // A layer in which the correction of its bias is undone keeps what its
    // quantized kernel makes of the shift, unless that is subtracted. A formula
    // includes it.
    bool subtractsQuantized =
        corrections.refineThresholds &&
        options.bias.biasEstimate == BiasEstimate::QuantizedNetwork;
    shift.biasCorrectionFollows =
        corrections.weightsBias && runs && !subtractsQuantized;
    addJudged(
        passManager, options, tpc::kShiftNegativeCorrection,
        [&](OpPassManager &passes) {
          passes.addPass(createCorrectShiftNegativePass(shift));
        },
        correctBias);
  }
  if (corrections.refineThresholds && runs) {
    auto refine = gather<RefineThresholdsPassOptions>(
        options.samples, options.refinement, options.remarks);
    addJudged(
        passManager, options, tpc::kThresholdRefinement,
        [&](OpPassManager &passes) {
          passes.addPass(createRefineThresholdsPass(refine));
        },
        correctBias);
  }
  if (corrections.roundWeights && runs) {
    auto rounding = gather<RoundWeightsPassOptions>(
        options.samples, options.rounding, options.judge, options.remarks);
    rounding.correctBias = corrections.weightsBias;
    passManager.addPass(createRoundWeightsPass(rounding));
  }
  // Rounding has corrected the biases of rounded layers, and of layers between
  // them.
  if (corrections.weightsBias && runs) {
    CorrectBiasPassOptions bias = biasOptions(options);
    auto add = [&](OpPassManager &passes) {
      passes.addPass(createCorrectBiasPass(bias));
    };
    // Computed by a formula, it is not fitted to samples layer by layer.
    if (options.bias.biasEstimate == BiasEstimate::InputMean)
      addJudged(passManager, options, tpc::kInputMeanCorrection, add);
    else
      add(passManager);
  }
  if (corrections.activationBias) {
    auto bias = gather<CorrectActivationBiasPassOptions>(options.activationBias,
                                                         options.remarks);
    bias.function = options.samples.function;
    addJudged(passManager, options, tpc::kActivationBiasCorrection,
              [&](OpPassManager &passes) {
                passes.addPass(createCorrectActivationBiasPass(bias));
              });
  }
  // Start from the best result without gradients.
  if (options.training.gptqEpochs != 0 && runs) {
    auto training =
        gather<GradientPtqPassOptions>(options.samples, options.remarks);
    training.epochs = options.training.gptqEpochs;
    if (StringRef folder = options.checkpoint.checkpoint.getValue();
        !folder.empty()) {
      SmallString<128> path(folder);
      llvm::sys::path::append(path, "training");
      training.checkpoint = std::string(path);
      training.checkpointEvery = kTrainingSteps;
    }
    passManager.addPass(createGradientPtqPass(training));
  }
}

//===----------------------------------------------------------------------===//
// Checkpoints
//===----------------------------------------------------------------------===//

/// Passes that run the network, or take as long.
static constexpr StringLiteral kLongPasses[] = {"mct-assign-bit-widths",
                                                "mct-calibrate",
                                                "mct-correct-bias",
                                                "mct-correct-second-moment",
                                                "mct-gptq",
                                                "mct-judge-correction",
                                                "mct-measure-sensitivity",
                                                "mct-refine-thresholds",
                                                "mct-round-weights",
                                                "mct-select-parameters",
                                                "mct-select-weight-parameters",
                                                "mct-split-shared-grids"};

namespace {
/// Gives access to the copies of passes that pass managers create.
struct CopiedPass : public Pass {
  static std::unique_ptr<Pass> copy(const Pass &pass) {
    return (pass.*(&CopiedPass::clone))();
  }
};
} // namespace

/// Adds the passes that `build` adds. With a folder for a checkpoint, they are
/// divided into stages, each of which ends after a long pass.
static void addStages(OpPassManager &passManager, StringRef folder,
                      llvm::function_ref<void(OpPassManager &)> build) {
  if (folder.empty())
    return build(passManager);
  OpPassManager all(ModuleOp::getOperationName());
  build(all);
  CheckpointPassOptions checkpoint;
  checkpoint.directory = folder.str();
  bool hasEnded = true;
  for (const Pass &pass : all.getPasses()) {
    if (hasEnded)
      checkpoint.stages.emplace_back(ModuleOp::getOperationName());
    checkpoint.stages.back().addPass(CopiedPass::copy(pass));
    hasEnded = llvm::is_contained(kLongPasses, pass.getArgument());
  }
  passManager.addPass(createCheckpointPass(checkpoint));
}

static void addCorrectPasses(OpPassManager &passManager,
                             const CorrectOptions &options) {
  if (correctsSecondMoment(options)) {
    // After a layer that has changed, the float network is another one.
    auto calibrateAgain = [&](OpPassManager &passes) {
      auto calibrate = gather<CalibratePassOptions>(options.samples);
      calibrate.onlyMissing = true;
      passes.addPass(createCalibratePass(calibrate));
      addActivationSelection(passes, options);
    };
    addSecondMoment(passManager, options, calibrateAgain);
    calibrateAgain(passManager);
  }
  addCorrections(passManager, options, /*runs=*/true);
}

void mct::buildCorrectPipeline(OpPassManager &passManager,
                               const CorrectOptions &options) {
  addStages(passManager, options.checkpoint.checkpoint,
            [&](OpPassManager &passes) { addCorrectPasses(passes, options); });
}

/// Returns whether alternatives are chosen by the loss of the results.
static bool choosesByLoss(const PtqOptions &options) {
  return options.budget.maxLoss != 0 ||
         (!options.budget.device.empty() && options.budget.maxDrop == 0);
}

/// Returns whether cycles are limited or minimized.
static bool choosesByCycles(const PtqOptions &options) {
  return (options.budget.maxDrop != 0 &&
          options.budget.minimize == MinimizedResource::Cycles) ||
         llvm::any_of(options.budget.budget, [](StringRef limit) {
           return limit.starts_with("cycles:");
         });
}

/// Returns whether alternatives of the target are chosen for the network as a
/// whole.
static bool choosesBitWidths(const PtqOptions &options) {
  return !options.budget.budget.empty() ||
         !options.budget.bitWidthsIn.empty() || choosesByLoss(options) ||
         options.budget.maxDrop != 0;
}

/// Returns whether there is an option of a choice of bit widths.
static bool describesChoice(const PtqOptions &options) {
  const BudgetOptionGroup &budget = options.budget;
  return !options.tolerances.weightsErrorTolerances.empty() ||
         budget.dropMetric.hasValue() || budget.minimize.hasValue() ||
         !budget.validationData.empty() || budget.labels.hasValue() ||
         budget.costTable.hasValue() || budget.bitWidthsOut.hasValue();
}

/// Returns the error tolerances that kernels may have: the given ones, or
/// powers of two if the size of compressed weights matters, each of which saves
/// half a bit per weight.
static SmallVector<int64_t> getErrorTolerances(const PtqOptions &options) {
  SmallVector<int64_t> given(options.tolerances.weightsErrorTolerances.begin(),
                             options.tolerances.weightsErrorTolerances.end());
  bool compresses = choosesByLoss(options) || choosesByCycles(options) ||
                    llvm::any_of(options.budget.budget, [](StringRef limit) {
                      return limit.starts_with("compressed:");
                    });
  if (given.empty() && compresses)
    given = {2, 4, 8, 16, 32, 64};
  return given;
}

/// Adds the choice of bit widths. Requires points with parameters; after it,
/// the points of chosen alternatives have none. `complete`: adds the passes
/// that follow.
static void addBitWidths(OpPassManager &passManager, const PtqOptions &options,
                         llvm::function_ref<void(OpPassManager &)> complete) {
  auto setCommon = [&](auto &pass) {
    options.samples.copyTo(pass);
    options.selection.copyTo(pass);
    options.sensitivity.copyTo(pass);
    pass.activationErrorMethod = options.activations.activationErrorMethod;
    pass.zThreshold = options.activations.zThreshold;
    pass.weightsErrorMethod = options.weights.weightsErrorMethod;
    pass.weightsErrorTolerance = options.weights.weightsErrorTolerance;
    pass.roundMaxBits = options.corrections.roundWeights
                            ? options.rounding.roundWeightsMaxBits
                            : 0;
    // A loss in dB refers to squared errors. Errors of probabilities would be
    // those of the few samples about which the network is uncertain.
    if (choosesByLoss(options) &&
        !options.sensitivity.sensitivityMetric.hasValue())
      pass.metric = SensitivityMetric::Logits;
  };
  AddErrorTolerancesPassOptions tolerances;
  tolerances.function = options.samples.function;
  tolerances.weightsErrorTolerances = getErrorTolerances(options);
  if (!tolerances.weightsErrorTolerances.empty())
    passManager.addPass(createAddErrorTolerancesPass(tolerances));
  if (options.budget.bitWidthsIn.empty()) {
    MeasureSensitivityPassOptions measure;
    setCommon(measure);
    options.comparePoints.copyTo(measure);
    passManager.addPass(createMeasureSensitivityPass(measure));
  }
  AssignBitWidthsPassOptions assign;
  setCommon(assign);
  options.budget.copyTo(assign);
  options.points.copyTo(assign);
  options.remarks.copyTo(assign);
  if (options.budget.maxDrop != 0) {
    OpPassManager after(ModuleOp::getOperationName());
    complete(after);
    assign.completedBy.push_back(after);
  }
  passManager.addPass(createAssignBitWidthsPass(assign));
}

/// Sets an option that the user has not given.
template <typename OptionT, typename ValueT>
static void setUnlessGiven(OptionT &option, ValueT value) {
  if (!option.hasValue())
    option = value;
}

/// Sets the options that `effort` stands for, as listed in `effortValues`.
static void applyEffort(PtqOptions &options) {
  switch (options.effort.effort) {
  case Effort::Fast:
    setUnlessGiven(options.corrections.roundWeights, false);
    setUnlessGiven(options.corrections.weightsSecondMoment, false);
    setUnlessGiven(options.corrections.weightsBias, false);
    setUnlessGiven(options.equalization.residualEqualization, false);
    setUnlessGiven(options.equalization.rescaleParts, false);
    setUnlessGiven(options.judge.judgeCorrections, false);
    return;
  case Effort::Default:
    return;
  case Effort::Best:
    setUnlessGiven(options.training.gptqEpochs, 20);
    setUnlessGiven(options.rounding.roundWeightsMaxSamples, 0);
    setUnlessGiven(options.bias.biasMaxSamples, 0);
    setUnlessGiven(options.sensitivity.sensitivityMaxSamples, 0);
    return;
  }
}

/// Returns whether there is anything to run the network on. Without samples or
/// statistics only weights can be quantized, as mct-calibrate checks, and
/// corrections that run the network are not possible.
static bool hasSamples(const PtqOptions &options) {
  return hasSampleFiles(options) || !options.statistics.statisticsIn.empty();
}

/// Adds the passes after the choice of bit widths, or after the selection of
/// the weights' parameters.
static void addRest(OpPassManager &passManager, const PtqOptions &options,
                    const CalibratePassOptions &calibrate) {
  bool runs = hasSamples(options);
  bool secondMoment = correctsSecondMoment(options) && runs;
  // The second-moment correction changes the values on which activations are
  // calibrated. MCT, which applies it after calibration, calibrates twice.
  if (secondMoment)
    addSecondMoment(passManager, options, [&](OpPassManager &passes) {
      CalibratePassOptions again = calibrate;
      again.statisticsOut.clear();
      passes.addPass(createCalibratePass(again));
      addActivationSelection(passes, options);
    });
  if (!calibrate.channelStatistics || secondMoment)
    passManager.addPass(createCalibratePass(calibrate));
  addFirstActivationSelection(passManager, options);
  addCorrections(passManager, options, runs);
}

/// Number of samples that suffice to find channels of a residual sum, or parts
/// of a concatenation, with very different ranges.
static constexpr uint64_t kSamplesOfRanges = 64;

/// Adds all passes except for the cut after the last layers.
static void addQuantization(OpPassManager &passManager,
                            const PtqOptions &options) {
  // The pass refuses options of a choice that nothing decides.
  if (!choosesBitWidths(options) && describesChoice(options)) {
    AssignBitWidthsPassOptions assign;
    options.budget.copyTo(assign);
    passManager.addPass(createAssignBitWidthsPass(assign));
  }
  tpc::AttachTargetPassOptions attach;
  options.target.copyTo(attach);
  passManager.addPass(tpc::createAttachTargetPass(attach));

  buildPreparePipeline(passManager, options.prepare, options.decoding,
                       options.remarks, options.samples.function);
  auto insert = gather<InsertQuantizersPassOptions>(
      options.widths, options.points, options.keep, options.decoding);
  insert.function = options.samples.function;
  passManager.addPass(createInsertQuantizersPass(insert));

  bool runs = hasSamples(options);
  auto calibrate = gather<CalibratePassOptions>(options.samples);
  auto complete = [&](OpPassManager &passes) {
    addFirstParameters(passes, options);
  };
  if (options.equalization.channelEqualization && runs) {
    calibrate.channelStatistics = true;
    passManager.addPass(createCalibratePass(calibrate));
    addJudged(
        passManager, options, tpc::kChannelEqualization,
        [&](OpPassManager &passes) {
          passes.addPass(createEqualizeChannelsPass(
              gather<EqualizeChannelsPassOptions>(options.remarks)));
        },
        complete);
  }
  // Points that these passes create are not in any file of statistics.
  bool measures =
      hasSampleFiles(options) && options.statistics.statisticsIn.empty();
  auto measuring = gather<CalibratePassOptions>(options.samples);
  measuring.channelStatistics = true;
  measuring.maxSamples = kSamplesOfRanges;
  if (options.equalization.residualEqualization && measures) {
    auto equalize = gather<EqualizeResidualsPassOptions>(options.remarks);
    equalize.measuredBy.emplace_back(ModuleOp::getOperationName())
        .addPass(createCalibratePass(measuring));
    addJudged(
        passManager, options, tpc::kResidualEqualization,
        [&](OpPassManager &passes) {
          passes.addPass(createEqualizeResidualsPass(equalize));
        },
        complete);
  }
  if (options.equalization.rescaleParts && measures) {
    auto rescale = gather<RescalePartsPassOptions>(options.remarks);
    rescale.measuredBy.emplace_back(ModuleOp::getOperationName())
        .addPass(createCalibratePass(measuring));
    addJudged(
        passManager, options, tpc::kPartsRescaling,
        [&](OpPassManager &passes) {
          passes.addPass(createRescalePartsPass(rescale));
        },
        complete);
  }
  calibrate.channelStatistics = needsChannelStatistics(options);
  options.statistics.copyTo(calibrate);
  // Weights need statistics first only if these affect their selection.
  if (calibrate.channelStatistics)
    passManager.addPass(createCalibratePass(calibrate));
  addWeightSelection(passManager, options);
  if (choosesBitWidths(options)) {
    // Before any corrections, since their benefit depends on the bits.
    if (!calibrate.channelStatistics)
      passManager.addPass(createCalibratePass(calibrate));
    addFirstActivationSelection(passManager, options);
    // Points that have been calibrated already keep their statistics, and the
    // file has been written.
    CalibratePassOptions again = calibrate;
    again.onlyMissing = true;
    again.statisticsOut.clear();
    auto finish = [&](OpPassManager &passes, const PtqOptions &how) {
      addWeightSelection(passes, how);
      addRest(passes, how, again);
    };
    PtqOptions quiet;
    quiet.copyOptionValuesFrom(options);
    quiet.remarks.remarks = false;
    addBitWidths(passManager, options,
                 [&](OpPassManager &passes) { finish(passes, quiet); });
    return finish(passManager, options);
  }
  addRest(passManager, options, calibrate);
}

void mct::buildPtqPipeline(OpPassManager &passManager,
                           const PtqOptions &given) {
  PtqOptions options;
  options.copyOptionValuesFrom(given);
  applyEffort(options);
  // The part that is cut off shows which channels of a last layer differ in
  // meaning, and is used to judge the loss, so it stays until the end.
  bool isCut = options.decoding.decoding == DecodingMode::Cut;
  if (isCut)
    options.decoding.decoding = DecodingMode::Float;
  addStages(passManager, options.checkpoint.checkpoint,
            [&](OpPassManager &passes) {
              addQuantization(passes, options);
              if (isCut)
                addCut(passes, options.samples.function);
            });
}

// Declared here rather than in the headers: there, every source that names a
// pass would instantiate the registration of all passes.
namespace mct {
#define GEN_PASS_REGISTRATION
#include "mct/BitWidths/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Calibration/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Conversion/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Corrections/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Export/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Inspection/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Training/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "mct/Transforms/Passes.h.inc"
namespace tpc {
#define GEN_PASS_REGISTRATION
#include "tpc_dialect/Transforms/Passes.h.inc"
} // namespace tpc
} // namespace mct

void mct::registerAllMctPasses() {
  tpc::registerTpcTransformsPasses();
  registerMctInspectionPasses();
  registerMctTransformsPasses();
  registerMctCalibrationPasses();
  registerMctCorrectionsPasses();
  registerMctBitWidthsPasses();
  registerMctTrainingPasses();
  registerMctConversionPasses();
  registerMctExportPasses();
  PassPipelineRegistration<PrepareOptions>(
      PrepareOptions::flag(), PrepareOptions::summary(),
      [](OpPassManager &passManager, const PrepareOptions &options) {
        buildPreparePipeline(passManager, options.prepare, options.decoding,
                             options.remarks);
      });
  PassPipelineRegistration<CorrectOptions>(
      CorrectOptions::flag(), CorrectOptions::summary(), buildCorrectPipeline);
  PassPipelineRegistration<PtqOptions>(PtqOptions::flag(),
                                       PtqOptions::summary(), buildPtqPipeline);
}
