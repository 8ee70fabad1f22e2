// SPDX-License-Identifier: Apache-2.0
//
// The order of the passes.
#ifndef MCT_PIPELINES_PIPELINES_H
#define MCT_PIPELINES_PIPELINES_H

#include "mct/Corrections/Passes.h"
#include "mct/Quantization/Selection.h"
#include "mct/Transforms/ErrorMethodOption.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassOptions.h"

namespace mct {

// Options of pipelines are the options of their passes, under the same names
// where only one pass has them, else under those of MCT's QuantizationConfig.
// The groups below are members of the pipelines that have them.

/// What the rewrites before the points leave out or add.
struct PrepareOptionGroup {
  using Options = mlir::detail::PassOptions;
  explicit PrepareOptionGroup(Options &parent) : parent(parent) {}
  Options &parent;

  Options::Option<bool> linearCollapsing{
      parent, "linear-collapsing",
      llvm::cl::desc("Join a convolution and the 1x1 convolution behind it"),
      llvm::cl::init(true)};
  Options::Option<bool> residualCollapsing{
      parent, "residual-collapsing",
      llvm::cl::desc("Join a convolution and the addition of its input"),
      llvm::cl::init(true)};
  Options::Option<bool> reluBoundToPowerOfTwo{
      parent, "relu-bound-to-power-of-2",
      llvm::cl::desc("Scale layers so that bounded ReLUs get the bound 8"),
      llvm::cl::init(false)};
};

/// The samples that the network runs on, and which function that is.
struct SampleOptionGroup {
  using Options = mlir::detail::PassOptions;
  explicit SampleOptionGroup(Options &parent) : parent(parent) {}
  Options &parent;

  Options::ListOption<std::string> calibrationData{
      parent, "calibration-data",
      llvm::cl::desc("Samples: FILE.npy or INPUT:FILE.npy, …")};
  Options::Option<uint64_t> calibrationSamples{
      parent, "calibration-samples",
      llvm::cl::desc("Read that many samples; 0: all"), llvm::cl::init(0)};
  Options::Option<uint64_t> batchSize{
      parent, "batch-size",
      llvm::cl::desc("Samples that a worker takes at once; 0: automatic"),
      llvm::cl::init(0)};
  Options::Option<unsigned> threads{
      parent, "threads", llvm::cl::desc("Worker threads; 0: one per core"),
      llvm::cl::init(0)};
  Options::Option<std::string> maxMemory{
      parent, "max-memory",
      llvm::cl::desc(
          "Refuse a network that needs more bytes to run, or K, M, G "
          "of them; default: what the machine has"),
      llvm::cl::init("")};
  Options::Option<std::string> inputScale{
      parent, "input-scale",
      llvm::cl::desc("Factor from stored value to network input, S or S;S;… "
                     "per channel"),
      llvm::cl::init("")};
  Options::Option<std::string> inputOffset{
      parent, "input-offset", llvm::cl::desc("Added after the factor"),
      llvm::cl::init("")};

  Options::Option<std::string> function{
      parent, "function",
      llvm::cl::desc("Function to quantize; default: main, or the only public "
                     "one"),
      llvm::cl::init("")};

  /// For a pass with the same options.
  template <typename PassOptions> void copyTo(PassOptions &pass) const {
    pass.calibrationData.assign(calibrationData.begin(), calibrationData.end());
    pass.calibrationSamples = calibrationSamples;
    pass.batchSize = batchSize;
    pass.threads = threads;
    pass.maxMemory = maxMemory;
    pass.inputScale = inputScale;
    pass.inputOffset = inputOffset;
    pass.function = function;
  }
};

/// How parameters are chosen.
struct SelectionOptionGroup {
  using Options = mlir::detail::PassOptions;
  explicit SelectionOptionGroup(Options &parent) : parent(parent) {}
  Options &parent;

  Options::Option<quantization::ErrorMethod> activationErrorMethod{
      parent, "activation-error-method",
      llvm::cl::desc("Error minimized when thresholds of activations are "
                     "chosen"),
      llvm::cl::init(quantization::ErrorMethod::MSE), errorMethodValues()};
  Options::Option<quantization::ErrorMethod> weightsErrorMethod{
      parent, "weights-error-method",
      llvm::cl::desc("Error minimized when thresholds of weights are chosen"),
      llvm::cl::init(quantization::ErrorMethod::MSE), errorMethodValues()};
  Options::Option<double> lpNorm{
      parent, "lp-norm",
      llvm::cl::desc("Error method lp: the power of the error, 1 to 64"),
      llvm::cl::init(2.0)};
  Options::Option<double> percentile{
      parent, "percentile",
      llvm::cl::desc("Error method percentile: percent to cover"),
      llvm::cl::init(99.99)};
  Options::Option<double> minThreshold{
      parent, "min-threshold", llvm::cl::desc("Smallest threshold; 0: 2^-16"),
      llvm::cl::init(0.0)};
  Options::Option<double> zThreshold{
      parent, "z-threshold",
      llvm::cl::desc("Activations: leave out values further than this many "
                     "standard deviations from the mean; 0: none"),
      llvm::cl::init(0.0)};

  /// For a pass that selects parameters of activations.
  template <typename PassOptions>
  void copyToActivations(PassOptions &pass) const {
    pass.errorMethod = activationErrorMethod;
    pass.lpNorm = lpNorm;
    pass.percentile = percentile;
    pass.minThreshold = minThreshold;
    pass.zThreshold = zThreshold;
  }
  /// For a pass that selects parameters of weights.
  template <typename PassOptions> void copyToWeights(PassOptions &pass) const {
    pass.errorMethod = weightsErrorMethod;
    pass.lpNorm = lpNorm;
    pass.percentile = percentile;
    pass.minThreshold = minThreshold;
  }
};

/// The correction that comes before the activations are calibrated.
struct SecondMomentOptionGroup {
  using Options = mlir::detail::PassOptions;
  SecondMomentOptionGroup(Options &parent, bool enabled)
      : parent(parent), enabledByDefault(enabled) {}
  Options &parent;
  bool enabledByDefault;

  Options::Option<bool> weightsSecondMoment{
      parent, "weights-second-moment-correction",
      llvm::cl::desc("Give layers back the deviation of their outputs"),
      llvm::cl::init(enabledByDefault)};
  Options::Option<unsigned> maxBits{
      parent, "second-moment-max-bits",
      llvm::cl::desc("Only layers whose kernels have at most that many bits"),
      llvm::cl::init(7)};
};

/// Which corrections run behind the selection, and how.
struct CorrectionOptionGroup {
  using Options = mlir::detail::PassOptions;
  explicit CorrectionOptionGroup(Options &parent) : parent(parent) {}
  Options &parent;

  Options::Option<bool> softmaxShift{
      parent, "softmax-shift",
      llvm::cl::desc("Center the range of what a softmax reads"),
      llvm::cl::init(false)};
  Options::Option<bool> inputScaling{
      parent, "input-scaling",
      llvm::cl::desc("Scale the input so that it fills its threshold"),
      llvm::cl::init(false)};
  Options::Option<bool> concatThresholdUpdate{
      parent, "concat-threshold-update",
      llvm::cl::desc("Give the operands of a concatenation its threshold"),
      llvm::cl::init(false)};
  Options::Option<bool> shiftNegative{
      parent, "shift-negative-activation-correction",
      llvm::cl::desc("Shift activations with a short negative tail above zero"),
      llvm::cl::init(true)};
  Options::Option<double> shiftNegativeRatio{
      parent, "shift-negative-ratio",
      llvm::cl::desc("Largest |minimum| / threshold that is shifted; inf: any"),
      llvm::cl::init(0.05)};
  Options::Option<bool> shiftNegativeThresholdRecalculation{
      parent, "shift-negative-threshold-recalculation",
      llvm::cl::desc("Choose thresholds again for the shifted values"),
      llvm::cl::init(true)};
  Options::Option<bool> shiftNegativeParametersSearch{
      parent, "shift-negative-params-search",
      llvm::cl::desc("Search shift and threshold together"),
      llvm::cl::init(false)};
  Options::Option<bool> weightsBias{
      parent, "weights-bias-correction",
      llvm::cl::desc("Give layers back the mean of their outputs"),
      llvm::cl::init(true)};
  Options::Option<BiasEstimate> biasEstimate{
      parent, "bias-estimate",
      llvm::cl::desc("Where the bias correction takes the error from"),
      llvm::cl::init(BiasEstimate::QuantizedNetwork), biasEstimateValues()};
  Options::Option<bool> activationBias{
      parent, "activation-bias-correction",
      llvm::cl::desc("Take the mean error of activations out of biases"),
      llvm::cl::init(false)};
  Options::Option<double> activationBiasThreshold{
      parent, "activation-bias-correction-threshold",
      llvm::cl::desc("Smallest error to correct, in percent of the mean"),
      llvm::cl::init(0.0)};
};

/// Options of `mct-prepare`.
struct PrepareOptions : public mlir::PassPipelineOptions<PrepareOptions> {
  PrepareOptionGroup prepare{*this};
};

/// Options of `mct-correct`.
struct CorrectOptions : public mlir::PassPipelineOptions<CorrectOptions> {
  SampleOptionGroup samples{*this};
  SelectionOptionGroup selection{*this};
  SecondMomentOptionGroup secondMoment{*this, /*enabled=*/false};
  CorrectionOptionGroup corrections{*this};
};

/// Options of `mct-ptq`.
struct PtqOptions : public mlir::PassPipelineOptions<PtqOptions> {
  Option<std::string> target{
      *this, "target",
      llvm::cl::desc("Target: a name of --tpc-list-targets, or a file"),
      llvm::cl::init("imx500")};
  Option<std::string> overrides{
      *this, "overrides",
      llvm::cl::desc("File with rules that go before the target's; see "
                     "mct-insert-quantizers"),
      llvm::cl::init("")};
  SampleOptionGroup samples{*this};
  ListOption<std::string> statisticsIn{
      *this, "statistics-in", llvm::cl::desc("Statistics files to start from")};
  Option<std::string> statisticsOut{*this, "statistics-out",
                                    llvm::cl::desc("Write the statistics here"),
                                    llvm::cl::init("")};
  PrepareOptionGroup prepare{*this};
  Option<bool> channelEqualization{
      *this, "activation-channel-equalization",
      llvm::cl::desc("Make the channels between two layers equally wide"),
      llvm::cl::init(false)};
  SelectionOptionGroup selection{*this};
  SecondMomentOptionGroup secondMoment{*this, /*enabled=*/true};
  CorrectionOptionGroup corrections{*this};
};

/// `mct-prepare`: names, then rewrites that are exact in float.
void buildPreparePipeline(mlir::OpPassManager &passManager,
                          const PrepareOptionGroup &options);

/// `mct-prepare` with the defaults of its options.
inline void buildPreparePipeline(mlir::OpPassManager &passManager) {
  PrepareOptions options;
  buildPreparePipeline(passManager, options.prepare);
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
