// SPDX-License-Identifier: Apache-2.0
#include "TestPaths.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/QuantizationPlan.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mct;
using namespace mlir;

namespace {
/// Describes the plan of one node on one line.
std::string describe(const QuantizationPlan &plan, const PlannedNode &planned) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << planned.name.getValue() << ": "
     << (planned.node.operatorSet ? planned.node.operatorSet.getValue()
                                  : "default")
     << ", ";
  for (const PlannedWeight &weight : planned.weights)
    if (weight.floatReason.empty())
      os << weight.name.getValue() << " " << weight.config.getBits() << ", ";
  switch (planned.cover) {
  case ResultCover::Fused:
    os << "fused with "
       << plan.nodes[plan.groups[*planned.group].end].name.getValue();
    break;
  case ResultCover::Preserved:
    os << "as " << planned.coveredBy.getValue();
    break;
  case ResultCover::None:
    os << "float";
    break;
  case ResultCover::Point:
    // Signedness `auto`: a known bound decides, else the data.
    EXPECT_EQ(planned.activation.getSignedness(), tpc::Signedness::Auto);
    bool isUnsigned = planned.node.range.first.value_or(-1) >= 0;
    os << planned.activation.getActBits() << " bits, "
       << (isUnsigned ? "unsigned" : "by data");
    break;
  }
  return text;
}

/// The plan of a model for a target, described; empty when the model is not on
/// this machine.
std::vector<std::string> planOf(StringRef model, StringRef target) {
  std::string path =
      mct::testing::getSharedPath(("data/models/" + model).str());
  if (!llvm::sys::fs::exists(path))
    return {};
  DialectRegistry registry;
  mct::registerOpModels(registry);
  MLIRContext context(registry);
  context.loadDialect<tpc::TpcDialect, func::FuncDialect, tosa::TosaDialect>();
  auto module = parseSourceFile<ModuleOp>(path, &context);
  EXPECT_TRUE(module);
  PassManager passes(&context);
  passes.addPass(tpc::createAttachTargetPass({target.str()}));
  OpPassManager &functions = passes.nest<func::FuncOp>();
  functions.addPass(createAssignNamesPass());
  functions.addPass(createFoldConstantsPass());
  passes.addPass(createFoldBatchNormPass());
  EXPECT_TRUE(succeeded(passes.run(*module)));
  auto lookup = tpc::TpcLookup::create(*module);
  EXPECT_TRUE(succeeded(lookup));
  Overrides none;
  func::FuncOp function = *module->getOps<func::FuncOp>().begin();
  assignNames(function);
  auto plan =
      QuantizationPlan::create(*lookup, function, KernelOps(*module), none);
  EXPECT_TRUE(succeeded(plan));
  std::vector<std::string> lines;
  for (const PlannedInput &input : plan->inputs)
    lines.push_back(input.name.str() + ": input, " +
                    std::to_string(input.config.getActBits()) + " bits");
  for (const PlannedNode &planned : plan->nodes)
    lines.push_back(describe(*plan, planned));
  return lines;
}
} // namespace

// MCT's rules for IMX500 version 1, applied by hand:
//  * the input, and what no operator set names (average pooling, softmax): the
//    default, 8 bits;
//  * kernels of convolutions and fully connected layers: 8 bits, the base of
//    8, 4 and 2; biases stay in float;
//  * convolution and ReLU, addition and ReLU: one operator, quantized after
//    the ReLU. A convolution whose result an addition reads ends in no pattern,
//    and keeps its own quantizer: the second of each block, and the projection;
//  * a slice is a GetItem, whose result is not quantized;
//  * signedness is automatic: no result of a ReLU or a softmax is negative;
//    of everything else the data decide, also of the average, whose inputs are
//    positive only by what comes before it.
TEST(ResNet8, IsPlannedAsMCTPlansIt) {
  std::vector<std::string> plan = planOf("resnet8_cifar10.mlirbc", "imx500");
  if (plan.empty())
    GTEST_SKIP() << "no shared models";
  std::vector<std::string> expected = {
      "arg0: input, 8 bits",
      // Stem.
      "conv2d: Conv, kernel_attr 8, fused with clamp",
      "clamp: ReLU, 8 bits, unsigned",
      // Block 1 adds its input.
      "conv2d_1: Conv, kernel_attr 8, fused with clamp_1",
      "clamp_1: ReLU, 8 bits, unsigned",
      "conv2d_2: Conv, kernel_attr 8, 8 bits, by data",
      "add: Add, fused with clamp_2", "clamp_2: ReLU, 8 bits, unsigned",
      // Block 2 adds a projection of its input; the converter spells its stride
      // as a slice.
      "conv2d_3: Conv, kernel_attr 8, fused with clamp_3",
      "clamp_3: ReLU, 8 bits, unsigned",
      "conv2d_4: Conv, kernel_attr 8, 8 bits, by data", "slice: GetItem, float",
      "conv2d_5: Conv, kernel_attr 8, 8 bits, by data",
      "add_1: Add, fused with clamp_4", "clamp_4: ReLU, 8 bits, unsigned",
      // Block 3 is like block 2.
      "conv2d_6: Conv, kernel_attr 8, fused with clamp_5",
      "clamp_5: ReLU, 8 bits, unsigned",
      "conv2d_7: Conv, kernel_attr 8, 8 bits, by data",
      "slice_1: GetItem, float",
      "conv2d_8: Conv, kernel_attr 8, 8 bits, by data",
      "add_2: Add, fused with clamp_6", "clamp_6: ReLU, 8 bits, unsigned",
      // Classifier.
      "avg_pool2d: default, 8 bits, by data",
      "conv2d_9: FullyConnected, kernel_attr 8, 8 bits, by data",
      "mul: default, 8 bits, unsigned"};
  // A slice is both of two sets with equal options; which one is named does not
  // matter.
  for (std::string &line : plan)
    if (size_t at = line.find("SplitChunk"); at != std::string::npos)
      line.replace(at, 10, "GetItem");
  EXPECT_EQ(plan, expected);
}

/// Number of nodes of a plan with each kind of cover, and of quantized kernels.
static std::string summarize(ArrayRef<std::string> plan) {
  size_t points = 0, fused = 0, floats = 0, kernels = 0;
  for (StringRef line : plan) {
    points += line.contains(" bits");
    fused += line.contains("fused with");
    floats += line.ends_with("float");
    kernels += line.contains("kernel_attr 8");
  }
  return llvm::formatv("{0} points, {1} fused, {2} float, {3} kernels", points,
                       fused, floats, kernels);
}

// 27 convolutions, each with a ReLU; average, classifier, softmax, input.
TEST(MobileNet, QuantizesAfterEveryReLU) {
  std::vector<std::string> plan = planOf("mobilenet_vww.mlirbc", "imx500");
  if (plan.empty())
    GTEST_SKIP() << "no shared models";
  EXPECT_EQ(summarize(plan), "31 points, 27 fused, 0 float, 28 kernels");
}

// Ten fully connected layers, nine with a ReLU; the input.
TEST(Autoencoder, QuantizesAfterEveryLayer) {
  std::vector<std::string> plan = planOf("autoencoder_ad.mlirbc", "imx500");
  if (plan.empty())
    GTEST_SKIP() << "no shared models";
  EXPECT_EQ(summarize(plan), "11 points, 9 fused, 0 float, 10 kernels");
}
