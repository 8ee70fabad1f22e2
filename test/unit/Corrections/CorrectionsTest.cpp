// SPDX-License-Identifier: Apache-2.0
//
// Corrections of biases and second moments. The oracle is the executor: what
// the float and the corrected network make of the samples.
#include "Fixture.h"
#include "lib/Corrections/CorrectLayers.h"
#include "lib/Corrections/Layers.h"
#include "mct/Execution/RunCache.h"
#include "tpc_dialect/IR/TpcRejections.h"

#include <cmath>
#include <regex>
#include <set>

using namespace mct;
using namespace mct::testing;

namespace {

/// Puts something else into the place of a file.
struct ReplaceFile
    : mlir::PassWrapper<ReplaceFile, mlir::OperationPass<mlir::ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ReplaceFile)
  explicit ReplaceFile(std::string path) : path(std::move(path)) {}
  void runOnOperation() override {
    llvm::sys::fs::remove(path);
    std::error_code error;
    llvm::raw_fd_ostream(path, error) << "no samples";
  }
  std::string path;
};

double deviation(const ChannelStatistics::Channel &channel) {
  double mean = channel.mean();
  return std::sqrt(channel.sumOfSquares.round() / double(channel.count) -
                   mean * mean);
}

// The passes of a pipeline read the file that the first one has opened; the
// next run of the pipeline opens it again.
TEST_F(CorrectionsTest, PassesThatShareACacheOpenTheirSamplesOnce) {
  auto moments = onSamples<CorrectSecondMomentPassOptions>();
  auto bias = onSamples<CorrectBiasPassOptions>();
  auto expected = parse(), found = parse(), later = parse();
  run(*expected, createCorrectSecondMomentPass(moments));
  std::string half = print(*expected);
  run(*expected, createCorrectBiasPass(bias));
  EXPECT_NE(print(*expected), half);

  mlir::PassManager manager(&context);
  manager.addPass(createCorrectSecondMomentPass(moments));
  manager.addPass(std::make_unique<ReplaceFile>(file));
  manager.addPass(createCorrectBiasPass(bias));
  {
    execution::RunCache cache;
    execution::RunCacheScope scope(&context, cache);
    ASSERT_TRUE(mlir::succeeded(manager.run(*found)))
        << llvm::join(diagnostics, "\n");
  }
  // The context numbers resources of one name.
  auto withoutNumbers = [](const std::string &text) {
    return std::regex_replace(text, std::regex("kernel_[0-9]+"), "kernel");
  };
  EXPECT_EQ(withoutNumbers(print(*found)), withoutNumbers(print(*expected)));

  EXPECT_TRUE(mlir::failed(manager.run(*later)));
  ASSERT_EQ(diagnostics.size(), 1u);
  EXPECT_NE(diagnostics[0].find("expected a .npy file"), std::string::npos)
      << diagnostics[0];
}

// The correction is one of the whole network: every layer has its float
// mean although all of them, and the activations, are quantized coarsely. The
// tolerance covers the rounding of biases to f32 and the few values that it
// moves to another level of a 5-bit grid.
TEST_F(CorrectionsTest, AllLayersHaveTheirFloatMeans) {
  auto floating = parse(), corrected = parse();
  std::vector<ChannelStatistics> expected = observe(*floating, false);
  std::vector<ChannelStatistics> before = observe(*corrected, true);
  auto options = onSamples<CorrectBiasPassOptions>();
  options.shrink = false;
  run(*corrected, createCorrectBiasPass(options));
  std::vector<ChannelStatistics> found = observe(*corrected, true);
  for (size_t layer = 0; layer != kLayers.size(); ++layer) {
    double largestBefore = 0;
    for (size_t i = 0; i != expected[layer].channels().size(); ++i) {
      double mean = expected[layer].channels()[i].mean();
      EXPECT_NEAR(found[layer].channels()[i].mean(), mean, 1e-3)
          << kLayers[layer] << " channel " << i;
      largestBefore = std::max(
          largestBefore, std::abs(before[layer].channels()[i].mean() - mean));
    }
    // Several times what is allowed later.
    EXPECT_GT(largestBefore, 3e-3) << kLayers[layer];
  }
}

// Weights alone are quantized: mean and deviation of every layer are those of
// the float network. The tolerance is that of the thresholds, which become
// steps in f32.
TEST_F(CorrectionsTest, AllLayersHaveTheirFloatMoments) {
  auto floating = parse(), corrected = parse();
  std::vector<ChannelStatistics> expected = observe(*floating, false);
  run(*corrected, createCorrectSecondMomentPass(
                      onSamples<CorrectSecondMomentPassOptions>()));
  // The pass has taken the parameters of all activations but the input's.
  corrected->walk([&](tpc::QuantizeOp op) {
    if (op.isActivation())
      EXPECT_EQ(bool(op.getParametersAttr()), op.getPointName() == "point_in");
    if (op.isActivation())
      op.removeQuantizer();
  });
  std::vector<ChannelStatistics> found = observe(*corrected, true);
  for (size_t layer = 0; layer != kLayers.size(); ++layer)
    for (size_t i = 0; i != expected[layer].channels().size(); ++i) {
      const auto &wanted = expected[layer].channels()[i];
      EXPECT_NEAR(found[layer].channels()[i].mean(), wanted.mean(), 1e-4)
          << kLayers[layer] << " channel " << i;
      EXPECT_NEAR(deviation(found[layer].channels()[i]), deviation(wanted),
                  1e-3 * deviation(wanted) + 1e-5)
          << kLayers[layer] << " channel " << i;
    }
}

// The codes of the kernels are those of before.
TEST_F(CorrectionsTest, SecondMomentKeepsTheCodes) {
  auto plain = parse(), corrected = parse();
  run(*corrected, createCorrectSecondMomentPass(
                      onSamples<CorrectSecondMomentPassOptions>()));
  auto codes = [](mlir::ModuleOp target) {
    auto found = *corrections::Layers::find(
        target, KernelOps::forModule(target), "main", "test", false);
    std::vector<long> all;
    for (const corrections::Layer &layer : found.layers) {
      tpc::QuantizeOp op = layer.point;
      auto grids = op.getParametersAttr().getGrids();
      std::vector<float> values = corrections::quantizedKernel(layer);
      for (size_t i = 0; i != values.size(); ++i)
        all.push_back(
            std::lround(values[i] / grids[layer.op.outChannelOf(i)].step));
    }
    return all;
  };
  EXPECT_EQ(codes(*plain), codes(*corrected));
}

// The same bytes for any number of threads and any batch.
TEST_F(CorrectionsTest, ThreadsAndBatchesChangeNothing) {
  std::string expected;
  for (auto [threads, batch] :
       {std::pair<unsigned, uint64_t>{1, 0}, {2, 0}, {3, 1}, {2, 100}}) {
    auto target = parse();
    auto options = onSamples<CorrectBiasPassOptions>();
    options.threads = threads;
    options.batchSize = batch;
    run(*target, createCorrectBiasPass(options));
    if (expected.empty())
      expected = print(*target);
    EXPECT_EQ(print(*target), expected) << threads << " threads, " << batch;
  }
}

// Each half of the samples judges the correction fitted to the other half. The
// correction that is applied is fitted to all samples, and is judged, too: here
// those of the halves are zero, which loses nothing, and that of all samples
// changes the last layer by far too much.
TEST_F(CorrectionsTest, WhatIsFittedToAllSamplesIsJudgedToo) {
  auto target = parse();
  auto found = corrections::Layers::find(*target, KernelOps::forModule(*target),
                                         "main", "test", false);
  ASSERT_TRUE(mlir::succeeded(found));
  llvm::SmallVector<corrections::Layer *> layers;
  for (corrections::Layer &layer : found->layers)
    layers.push_back(&layer);
  std::vector<ChannelStatistics> before = observe(*target, true);

  execution::RunSettings settings;
  settings.samples.files = {file};
  corrections::LayerCorrectionOptions options;
  options.how = tpc::kQuantizedNetworkCorrection;
  options.judges = true;
  std::set<int64_t> fittedTo;
  ASSERT_TRUE(mlir::succeeded(corrections::correctLayers(
      *found, layers, settings, options,
      [&](size_t layer, const corrections::ChannelSummary &exact,
          const corrections::ChannelSummary &measured, int64_t samples) {
        fittedTo.insert(samples);
        llvm::SmallVector<quantization::Affine> correction;
        if (samples != kSamples)
          return correction;
        bool isLast = layer + 1 == layers.size();
        for (int64_t i = 0; i != exact.numChannels(); ++i)
          correction.push_back(
              {1, isLast ? 100 : exact.mean(i) - measured.mean(i)});
        return correction;
      })))
      << llvm::join(diagnostics, "\n");
  // Two halves, which the values of the samples choose, and all.
  ASSERT_EQ(fittedTo.size(), 3u);
  EXPECT_EQ(*fittedTo.rbegin(), kSamples);

  // The last layer is as before, and the others are corrected.
  std::vector<ChannelStatistics> after = observe(*target, true);
  auto mean = [](const ChannelStatistics &layer) {
    return layer.channels().front().mean();
  };
  EXPECT_NE(mean(after.front()), mean(before.front()));
  EXPECT_LT(std::abs(mean(after.back())), 50);
  auto rejected = tpc::readRejectedCorrections(found->function);
  ASSERT_EQ(rejected.size(), 1u);
  EXPECT_EQ(rejected[0].layers,
            (std::vector<std::string>{layers.back()->point.getUniqueName()}));
  EXPECT_EQ(rejected[0].samples, kSamples);
}

// Where each layer loses by its own correction all are undone, and neither
// fitted nor judged again.
TEST_F(CorrectionsTest, NothingIsRunWhenAllLayersAreUndone) {
  std::vector<int64_t> runs;
  for (double offset : {0.0, 100.0}) {
    auto target = parse();
    auto found = corrections::Layers::find(
        *target, KernelOps::forModule(*target), "main", "test", false);
    ASSERT_TRUE(mlir::succeeded(found));
    llvm::SmallVector<corrections::Layer *> layers;
    for (corrections::Layer &layer : found->layers)
      layers.push_back(&layer);
    support::Progress progress;
    execution::RunSettings settings;
    settings.samples.files = {file};
    settings.run.progress = &progress;
    corrections::LayerCorrectionOptions options;
    options.how = tpc::kQuantizedNetworkCorrection;
    options.judges = true;
    ASSERT_TRUE(mlir::succeeded(corrections::correctLayers(
        *found, layers, settings, options,
        [&](size_t, const corrections::ChannelSummary &exact,
            const corrections::ChannelSummary &, int64_t) {
          return llvm::SmallVector<quantization::Affine>(exact.numChannels(),
                                                         {1, offset});
        })))
        << llvm::join(diagnostics, "\n");
    runs.push_back(progress.counts().runs);
    auto rejected = tpc::readRejectedCorrections(found->function);
    if (offset == 0) {
      EXPECT_TRUE(rejected.empty());
      continue;
    }
    ASSERT_EQ(rejected.size(), 1u);
    EXPECT_EQ(rejected[0].layers.size(), layers.size());
  }
  // Otherwise both halves are run without the correction, all samples are
  // fitted to, layer by layer, and both halves judge that.
  EXPECT_LT(runs[1], runs[0] - 4);
}

} // namespace
