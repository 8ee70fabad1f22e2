// SPDX-License-Identifier: Apache-2.0
//
// Passes of one pipeline do not run a network twice on the same samples, and
// nothing depends on what they remember.
#include "Fixture.h"
#include "mct/Calibration/Passes.h"
#include "mct/Execution/RunCache.h"
#include "mct/Support/Progress.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mct;
using namespace mct::testing;

namespace {

class CalibrationMemoryTest : public CorrectionsTest {
protected:
  std::unique_ptr<mlir::Pass> calibrate(bool channels, int64_t samples = 0,
                                        bool onlyMissing = false) {
    auto options = onSamples<CalibratePassOptions>();
    options.channelStatistics = channels;
    options.maxSamples = uint64_t(samples);
    options.onlyMissing = onlyMissing;
    return createCalibratePass(options);
  }
  /// Runs `first`, changes the network, and runs `second`; returns the number
  /// of runs over samples.
  template <typename Change>
  int64_t runTogether(mlir::ModuleOp target, std::unique_ptr<mlir::Pass> first,
                      std::unique_ptr<mlir::Pass> second, Change change) {
    support::Progress progress;
    support::ContextScope<support::Progress> progressScope(&context, progress);
    execution::RunCache cache;
    execution::RunCacheScope scope(&context, cache);
    run(target, std::move(first));
    change(target);
    run(target, std::move(second));
    return progress.counts().runs;
  }
  /// Changes nothing of what is run.
  static void forget(mlir::ModuleOp target) {
    target.walk([](tpc::QuantizeOp point) {
      point.removeStatisticsAttr();
      point.removeQuantizer();
    });
  }
};

TEST_F(CalibrationMemoryTest, ACalibratedNetworkIsNotRunAgain) {
  for (bool channels : {false, true}) {
    auto together = parse(), alone = parse();
    forget(*alone);
    run(*alone, calibrate(channels));
    EXPECT_EQ(
        runTogether(*together, calibrate(true), calibrate(channels), forget),
        1);
    EXPECT_TRUE(printed(*together) == printed(*alone)) << channels;
  }
}

// The number in the name of a resource is that of a network that was run twice.
TEST_F(CalibrationMemoryTest, ResourcesHaveTheSameNames) {
  std::vector<std::string> texts;
  for (bool remembers : {false, true}) {
    auto target = parse();
    if (remembers) {
      runTogether(*target, calibrate(true), calibrate(false), forget);
    } else {
      run(*target, calibrate(true));
      forget(*target);
      run(*target, calibrate(false));
    }
    // Each target has names behind those of the targets before.
    std::string text = print(*target);
    std::smatch found;
    ASSERT_TRUE(std::regex_search(
        text, found,
        std::regex("dense_resource<histogram[.]point_a_([0-9]+)")));
    texts.push_back(found[1]);
  }
  EXPECT_EQ(std::stoi(texts[1]), std::stoi(texts[0]) + 2);
}

TEST_F(CalibrationMemoryTest, OtherSamplesAndChannelsAreRun) {
  struct {
    bool channels;
    int64_t samples;
  } second[] = {{true, 0}, {false, 20}};
  for (auto [channels, samples] : second) {
    auto together = parse(), alone = parse();
    forget(*alone);
    run(*alone, calibrate(channels, samples));
    EXPECT_EQ(runTogether(*together, calibrate(false),
                          calibrate(channels, samples), forget),
              2);
    EXPECT_TRUE(printed(*together) == printed(*alone)) << samples;
  }
}

TEST_F(CalibrationMemoryTest, AChangedNetworkIsRun) {
  auto negate = [](mlir::ModuleOp target) {
    forget(target);
    auto main = target.lookupSymbol<mlir::func::FuncOp>("main");
    mlir::OpBuilder builder(main.getBody());
    tpc::QuantizeOp first;
    main.walk([&](tpc::QuantizeOp point) {
      if (!first && point.isActivation())
        first = point;
    });
    builder.setInsertionPoint(first);
    mlir::Value input = first.getInput();
    first->setOperand(0, mlir::tosa::NegateOp::create(builder, first.getLoc(),
                                                      input.getType(), input));
  };
  auto together = parse(), alone = parse();
  negate(*alone);
  run(*alone, calibrate(false));
  EXPECT_EQ(runTogether(*together, calibrate(false), calibrate(false), negate),
            2);
  EXPECT_TRUE(printed(*together) == printed(*alone));
}

// Statistics that a pass has changed are neither overwritten nor remembered as
// those of the samples.
TEST_F(CalibrationMemoryTest, StatisticsThatAreKeptAreNotRemembered) {
  auto changed = [](mlir::ModuleOp target) {
    tpc::QuantizeOp first;
    target.walk([&](tpc::QuantizeOp point) {
      if (!point.isActivation())
        return;
      if (first)
        point.removeStatisticsAttr();
      else
        first = point;
    });
    first.setStatisticsAttr(
        mlir::cast<tpc::StatisticsAttr>(mlir::parseAttribute(
            "#tpc.statistics<count = 1, zeros = 1, min = 0.0, max = 0.0>",
            first.getContext())));
  };
  auto target = parse(), alone = parse();
  forget(*alone);
  run(*alone, calibrate(false));
  run(*target, calibrate(false));
  changed(*target);
  EXPECT_EQ(runTogether(*target, calibrate(false, 0, /*onlyMissing=*/true),
                        calibrate(false), forget),
            2);
  EXPECT_TRUE(printed(*target) == printed(*alone));
}

} // namespace
