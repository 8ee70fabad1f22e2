// SPDX-License-Identifier: Apache-2.0
//
// Fits of networks that were only tried are not made again, and nothing depends
// on whether they were remembered.
#include "Fixture.h"
#include "lib/Corrections/Layers.h"
#include "mct/Execution/RunCache.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Support/Progress.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcRejections.h"

using namespace mct;
using namespace mct::testing;
using quantization::Affine;

namespace {

/// Makes what one layer, "normalized", makes so many times as large, as a
/// correction would.
struct ScaleLayer
    : mlir::PassWrapper<ScaleLayer, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScaleLayer)
  explicit ScaleLayer(double factor) : factor(factor) {}
  void runOnOperation() override {
    auto found = corrections::Layers::find(
        getOperation(), getAnalysis<KernelOps>(), "main", "test", false);
    ASSERT_TRUE(mlir::succeeded(found));
    corrections::Layer &layer = found->layers[6];
    llvm::SmallVector<Affine> change(layer.op.numOutputChannels(), {factor, 0});
    ASSERT_TRUE(mlir::succeeded(corrections::applyCorrection(
        layer, change, tpc::kSecondMomentCorrection)));
  }
  double factor;
};

/// Changes nothing that is run.
struct MarkFunction
    : mlir::PassWrapper<MarkFunction, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(MarkFunction)
  void runOnOperation() override {
    getOperation().lookupSymbol("main")->setAttr(
        "test.mark", mlir::UnitAttr::get(&getContext()));
  }
};

class FitMemoryTest : public CorrectionsTest {
protected:
  std::unique_ptr<mlir::Pass> judge(double factor, bool marks = false) {
    auto options = onSamples<JudgeCorrectionPassOptions>();
    options.correction = tpc::kSecondMomentCorrection.str();
    mlir::OpPassManager made(mlir::ModuleOp::getOperationName()), then = made;
    made.addPass(std::make_unique<ScaleLayer>(factor));
    then.addPass(createCorrectBiasPass(onSamples<CorrectBiasPassOptions>()));
    if (marks)
      then.addPass(std::make_unique<MarkFunction>());
    options.madeBy.push_back(made);
    options.then.push_back(then);
    return createJudgeCorrectionPass(options);
  }
  std::unique_ptr<mlir::Pass> correct() {
    auto options = onSamples<CorrectBiasPassOptions>();
    options.judge = true;
    return createCorrectBiasPass(options);
  }
  /// Runs passes that share a cache; returns how many runs over samples began.
  int64_t runTogether(mlir::ModuleOp target,
                      std::vector<std::unique_ptr<mlir::Pass>> passes) {
    support::Progress progress;
    support::ContextScope<support::Progress> progressScope(&context, progress);
    execution::RunCache cache;
    execution::RunCacheScope scope(&context, cache);
    for (std::unique_ptr<mlir::Pass> &pass : passes)
      run(target, std::move(pass));
    return progress.counts().runs;
  }
  template <typename... Passes>
  int64_t runTogether(mlir::ModuleOp target, Passes... passes) {
    std::vector<std::unique_ptr<mlir::Pass>> all;
    (all.push_back(std::move(passes)), ...);
    return runTogether(target, std::move(all));
  }
};

TEST_F(FitMemoryTest, WhatTheJudgeHasFittedIsNotFittedAgain) {
  // Kept, and undone: either network is known.
  for (double factor : {1.001, 4.0}) {
    auto together = parse(), apart = parse();
    int64_t shared = runTogether(*together, judge(factor), correct());
    int64_t judging = runTogether(*apart, judge(factor)),
            correcting = runTogether(*apart, correct());
    EXPECT_TRUE(printed(*together) == printed(*apart)) << factor;
    // The float network, and the layers one after the other, on all samples.
    EXPECT_LE(shared, judging + correcting - 1 - int64_t(kLayers.size() / 2))
        << factor;
    auto rejected = tpc::readRejectedCorrections(
        together->lookupSymbol<mlir::func::FuncOp>("main"));
    EXPECT_EQ(llvm::any_of(rejected,
                           [](const tpc::RejectedCorrection &each) {
                             return each.correction ==
                                    tpc::kSecondMomentCorrection;
                           }),
              factor == 4.0);
  }
}

TEST_F(FitMemoryTest, OtherSamplesAndNetworksAreFittedAgain) {
  auto expected = parse();
  run(*expected, correct());
  auto fewer = onSamples<CorrectBiasPassOptions>();
  fewer.maxSamples = 20;
  auto other = parse(), expectedOther = parse();
  run(*expectedOther, createCorrectBiasPass(fewer));
  ASSERT_TRUE(printed(*expectedOther) != printed(*expected));
  // The judge remembers the fit to all samples, of the network that it keeps.
  runTogether(*other, judge(4.0), createCorrectBiasPass(fewer));
  auto main = other->lookupSymbol<mlir::func::FuncOp>("main");
  main->removeAttr("tpc.rejected_corrections");
  EXPECT_TRUE(printed(*other) == printed(*expectedOther));
}

// The judge sees the results that the next correction has made on the way,
// or, where something comes after that, runs both networks.
TEST_F(FitMemoryTest, JudgesAlikeWithoutRunningTheNetworks) {
  std::vector<double> losses;
  std::vector<int64_t> runs;
  for (bool marks : {false, true}) {
    auto target = parse();
    runs.push_back(runTogether(*target, judge(4.0, marks)));
    auto rejected = tpc::readRejectedCorrections(
        target->lookupSymbol<mlir::func::FuncOp>("main"));
    ASSERT_EQ(rejected.size(), 1u);
    EXPECT_EQ(rejected[0].samples, kSamples);
    losses.push_back(rejected[0].loss);
  }
  // The float network, and both others.
  EXPECT_EQ(runs[1], runs[0] + 3);
  // Biases are added to sums before, or after, they are rounded.
  EXPECT_NEAR(losses[0], losses[1], 1e-3 * losses[1]);
}

/// Makes integers of the results, which are not compared.
void roundResults(mlir::ModuleOp target) {
  auto main = target.lookupSymbol<mlir::func::FuncOp>("main");
  mlir::Operation *end = main.getBody().front().getTerminator();
  mlir::OpBuilder builder(end);
  for (mlir::OpOperand &result : end->getOpOperands()) {
    auto type = mlir::cast<mlir::RankedTensorType>(result.get().getType());
    result.set(mlir::tosa::CastOp::create(builder, main.getLoc(),
                                          type.clone(builder.getI32Type()),
                                          result.get()));
  }
  main.setType(
      builder.getFunctionType(main.getArgumentTypes(), end->getOperandTypes()));
}

TEST_F(FitMemoryTest, ResultsThatAreNotComparedJudgeNothing) {
  auto target = parse();
  roundResults(*target);
  runTogether(*target, judge(4.0), correct());
  auto main = target->lookupSymbol<mlir::func::FuncOp>("main");
  EXPECT_FALSE(llvm::any_of(tpc::readRejectedCorrections(main),
                            [](const tpc::RejectedCorrection &each) {
                              return each.correction ==
                                     tpc::kSecondMomentCorrection;
                            }));
}

} // namespace
