// SPDX-License-Identifier: Apache-2.0
//
// The parts of training as passes: how points are trained, the functions that a
// run executes, and what trainable points compute.
#include "mct/IR/EntryFunction.h"
#include "mct/Training/MakeTrainable.h"
#include "mct/Training/Passes.h"
#include "mct/Training/Training.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

namespace mct {
#define GEN_PASS_DEF_MAKETRAINABLEPASS
#define GEN_PASS_DEF_MAKETRAININGFUNCTIONPASS
#define GEN_PASS_DEF_EXPANDTRAINABLEPOINTSPASS
#include "mct/Training/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
struct MakeTrainablePass
    : public EntryFunctionPass<
          mct::impl::MakeTrainablePassBase<MakeTrainablePass>> {
  using EntryFunctionPass::EntryFunctionPass;

  LogicalResult runOn(func::FuncOp entry) override {
    TrainableOptions options;
    options.weights = weights;
    options.activations = activations;
    options.masksClipped = maskClipped;
    options.isGradual = gradual;
    options.learnsScales = learnScales;
    options.mostLevels = mostLevels;
    if (!(mostLevels > 0))
      return entry.emitOpError()
             << "weights must be moved by a positive number of levels at most, "
                "but most-levels="
             << mostLevels;
    makeTrainable(entry, options);
    return success();
  }
};

struct MakeTrainingFunctionPass
    : public WithGradientModels<EntryFunctionPass<
          mct::impl::MakeTrainingFunctionPassBase<MakeTrainingFunctionPass>>> {
  using WithGradientModels::WithGradientModels;

  LogicalResult runOn(func::FuncOp entry) override {
    TrainingRequest request;
    request.name =
        name.empty() ? (entry.getName() + "_training").str() : name.getValue();
    request.samples = samples;
    request.compared.assign(compared.begin(), compared.end());
    request.weights = weights;
    request.biases = biases;
    request.kernels = &getAnalysis<KernelOps>();
    FailureOr<TrainingFunction> made = makeTrainingFunction(entry, request);
    if (failed(made) || (step && failed(makeTrainingStep(*made))))
      return failure();
    return success();
  }
};

struct ExpandTrainablePointsPass
    : public mct::impl::ExpandTrainablePointsPassBase<
          ExpandTrainablePointsPass> {
  using ExpandTrainablePointsPassBase::ExpandTrainablePointsPassBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    ExpandTrainablePointsPassBase::getDependentDialects(registry);
    registerTrainableQuantizers(registry);
  }

  void runOnOperation() override {
    if (failed(expandTrainablePoints(getOperation())))
      signalPassFailure();
  }
};
} // namespace
