// SPDX-License-Identifier: Apache-2.0
#include "Fixture.h"
#include "TestPaths.h"
#include "llvm/Support/FileSystem.h"
#include <map>

using namespace mct::tpc;
using namespace mlir;

namespace {
/// Models that TFLite's converter made, where they are available.
class RealModelsTest : public LookupTest {
protected:
  /// False when the model is not on this machine.
  bool load(StringRef name) {
    std::string path =
        mct::testing::getSharedPath(("data/models/" + name).str());
    if (!llvm::sys::fs::exists(path))
      return false;
    ParserConfig config(&context);
    module = parseSourceFile<ModuleOp>(path, config);
    attach("imx500");
    return true;
  }

  /// Number of nodes of each kind.
  std::map<std::string, int> count() {
    std::map<std::string, int> counts;
    for (const std::string &name : describeAll())
      ++counts[name];
    return counts;
  }
};
} // namespace

using Counts = std::map<std::string, int>;

TEST_F(RealModelsTest, ResNet8) {
  if (!load("resnet8_cifar10.mlirbc"))
    GTEST_SKIP() << "no shared models";
  // The two slices are what the converter makes of a strided 1x1 convolution.
  EXPECT_EQ(
      count(),
      Counts({{"Conv(conv2d)", 9},
              {"ReLU(clamp)", 7},
              {"Add(add)", 3},
              {"SplitChunk(slice)", 2},
              {"default(avg_pool2d)", 1},
              {"FullyConnected(conv2d reshape)", 1},
              {"softmax(reduce_max sub exp reduce_sum reciprocal mul)", 1}}));
}

TEST_F(RealModelsTest, MobileNet) {
  if (!load("mobilenet_vww.mlirbc"))
    GTEST_SKIP() << "no shared models";
  EXPECT_EQ(
      count(),
      Counts({{"Conv(conv2d)", 14},
              {"DepthwiseConv2D(depthwise_conv2d)", 13},
              {"ReLU(clamp)", 27},
              {"default(avg_pool2d)", 1},
              {"FullyConnected(conv2d reshape)", 1},
              {"softmax(reduce_max sub exp reduce_sum reciprocal mul)", 1}}));
}

TEST_F(RealModelsTest, Autoencoder) {
  if (!load("autoencoder_ad.mlirbc"))
    GTEST_SKIP() << "no shared models";
  EXPECT_EQ(count(), Counts({{"FullyConnected(reshape conv2d reshape)", 10},
                             {"ReLU(clamp)", 9}}));
  // Chains in program order, so that layer and ReLU can be fused.
  SmallVector<Node> nodes = match();
  for (size_t i = 1; i < nodes.size(); ++i)
    EXPECT_TRUE(llvm::is_contained(nodes[i].ops.front()->getOperands(),
                                   nodes[i - 1].result()));
}

TEST_F(RealModelsTest, ToyCnn) {
  if (!load("toy_cnn.mlir"))
    GTEST_SKIP() << "no shared models";
  EXPECT_EQ(
      describeAll(),
      std::vector<std::string>(
          {"Conv(conv2d)", "ReLU(clamp)", "DepthwiseConv2D(depthwise_conv2d)",
           "HardSwish(add clamp mul mul)", "Conv(conv2d)", "Add(add)",
           "default(avg_pool2d)", "FullyConnected(conv2d reshape)"}));
}
