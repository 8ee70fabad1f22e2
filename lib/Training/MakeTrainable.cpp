// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/MakeTrainable.h"

#include "mct/IR/Constants.h"
#include "mct/Quantization/Selection.h"

using namespace mlir;
using namespace mct;
using mct::tpc::QuantizeOp;
using mct::tpc::TrainableAttrInterface;

llvm::cl::ValuesClass mct::trainingMethodValues() {
  return llvm::cl::values(
      clEnumValN(TrainingMethod::None, "none", "not at all"),
      clEnumValN(TrainingMethod::Fixed, "fixed", "quantizers stay as they are"),
      clEnumValN(TrainingMethod::STE, "ste",
                 "thresholds or ranges, by straight-through gradients"),
      clEnumValN(TrainingMethod::LSQ, "lsq",
                 "thresholds or ranges, by gradients of a learned step"),
      clEnumValN(TrainingMethod::SoftRounding, "soft-rounding",
                 "of weights: which of two levels each one takes"),
      clEnumValN(TrainingMethod::PerturbedRounding, "perturbed-rounding",
                 "of weights: by how many levels each one is moved"));
}

/// Returns a trainable that learns thresholds or ranges.
static TrainableAttrInterface learnGrid(QuantizeOp point,
                                        tpc::StepGradient gradient,
                                        tpc::ClipGradient clip) {
  MLIRContext *context = point.getContext();
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!parameters.getThresholds().empty())
    return tpc::LearnedThresholdAttr::get(
        context, parameters.getBits(), parameters.getIsSigned(),
        parameters.getQuantizationMethod().hasPowerOfTwoThresholds(), gradient,
        clip,
        /*gradient_scale=*/std::nullopt);
  return tpc::LearnedRangeAttr::get(context, parameters.getBits(), gradient,
                                    clip, /*gradient_scale=*/std::nullopt);
}

static TrainableAttrInterface choose(QuantizeOp point,
                                     const TrainableOptions &options) {
  MLIRContext *context = point.getContext();
  TrainingMethod method =
      point.isWeight() ? options.weights : options.activations;
  tpc::ClipGradient clip = options.masksClipped ? tpc::ClipGradient::Masked
                                                : tpc::ClipGradient::Passed;
  auto fixed = tpc::StraightThroughAttr::get(context, clip);
  bool isRounding = method == TrainingMethod::SoftRounding ||
                    method == TrainingMethod::PerturbedRounding;
  if (method == TrainingMethod::None || (isRounding && !point.isWeight()))
    return {};
  if (point.getParametersAttr().getGrids().empty())
    return fixed;
  switch (method) {
  case TrainingMethod::STE:
    return learnGrid(point, tpc::StepGradient::StraightThrough, clip);
  case TrainingMethod::LSQ:
    return learnGrid(point, tpc::StepGradient::LearnedStep,
                     tpc::ClipGradient::Masked);
  case TrainingMethod::SoftRounding:
    return tpc::SoftRoundingAttr::get(
        context, clip,
        options.learnsScales && point.getParametersAttr().takesFactors());
  case TrainingMethod::PerturbedRounding:
    return tpc::PerturbedRoundingAttr::get(context,
                                           tpc::Real(options.mostLevels));
  default:
    return fixed;
  }
}

TrainableAttrInterface mct::chooseTrainable(QuantizeOp point,
                                            const TrainableOptions &options) {
  // A weight that is computed cannot be learned.
  if (!point.getParametersAttr() ||
      (point.isWeight() && !ConstantFloats::exists(point.getInput())))
    return {};
  TrainableAttrInterface trainable = choose(point, options);
  if (trainable && options.isGradual && point.isActivation())
    return tpc::GradualAttr::get(point.getContext(), trainable);
  return trainable;
}

unsigned mct::makeTrainable(func::FuncOp network,
                            const TrainableOptions &options) {
  unsigned count = 0;
  for (auto point : network.getOps<QuantizeOp>()) {
    if (point.getTrainableAttr())
      continue;
    if (TrainableAttrInterface trainable = chooseTrainable(point, options)) {
      point.setTrainableAttr(trainable);
      ++count;
    }
  }
  return count;
}
