// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/targets/Targets.h"
#include "Fixture.h"
#include "TestPaths.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mct::tpc;
using namespace mlir;

TEST(Targets, NamesAreSortedAndAliasesAreResolved) {
  std::vector<std::string> lines;
  for (const StockTarget &target : listTargets())
    if (target.isAlias())
      lines.push_back((target.name + " " + target.resolved).str());
  EXPECT_EQ(lines, (std::vector<std::string>{
                       "default imx500_v1_0", "imx500 imx500_v1_0",
                       "latest imx500_v1_0", "qnnpack qnnpack_v1",
                       "sdsp_3_14 imx500_v1_0", "sdsp_3_16 imx500_v4_0",
                       "sdsp_3_17 imx500_v5_0", "sdsp_3_18 imx500_v5_0",
                       "tflite tflite_v1"}));
  EXPECT_TRUE(llvm::is_sorted(
      listTargets(), [](const StockTarget &lhs, const StockTarget &rhs) {
        return lhs.name < rhs.name;
      }));
  EXPECT_EQ(lookupTarget("latest")->text, lookupTarget("imx500_v1_0")->text);
  EXPECT_FALSE(lookupTarget("no_such_target"));
  // A description of an IR is not a target.
  EXPECT_FALSE(lookupTarget("tosa"));
  ASSERT_FALSE(listStockVocabularies().empty());
  EXPECT_EQ(listStockVocabularies().front().name, "tosa");
}

TEST(Targets, NearestNameIsWithinOneSlipInThree) {
  EXPECT_EQ(findNearest("imx50", {"imx500", "imx500_v1_0"}), "imx500");
  EXPECT_EQ(findNearest("IMX500", {"qnnpack", "imx500"}), "imx500");
  // The first of two that are as near.
  EXPECT_EQ(findNearest("sdsp_3_15", {"sdsp_3_14", "sdsp_3_16"}), "sdsp_3_14");
  EXPECT_FALSE(findNearest("gpu", {"npus"}));
  EXPECT_FALSE(findNearest("", {"a"}));
}

namespace {
class StockTargets : public ::testing::Test {
protected:
  StockTargets() {
    context.loadDialect<TpcDialect, tosa::TosaDialect>();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      diagnostics.push_back(diagnostic.str());
    });
  }

  PlatformOp load(StringRef name) {
    modules.push_back(loadTarget(name, UnknownLoc::get(&context)));
    EXPECT_TRUE(modules.back()) << name.str();
    return modules.back() ? *modules.back()->getOps<PlatformOp>().begin()
                          : PlatformOp();
  }

  /// The configs of one operator set.
  ArrayRef<OpQuantConfigAttr> configs(StringRef target, StringRef set) {
    PlatformOp platform = load(target);
    return platform.getOptionsOf(set).getConfigs();
  }

  /// Method and bits of the kernel in each config.
  std::string kernels(StringRef target, StringRef set) {
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleave(
        configs(target, set), os,
        [&](OpQuantConfigAttr config) {
          AttrQuantConfigAttr kernel = config.getWeightConfig("kernel_attr");
          os << kernel.getMethod().getMethodName() << ' ' << kernel.getBits()
             << (kernel.getPerChannel() ? "" : " tensor")
             << (kernel.getEnabled() ? "" : " off");
        },
        ", ");
    return text;
  }

  /// Returns how the base config of a set quantizes results.
  std::string result(StringRef target, StringRef set) {
    OpQuantConfigAttr config = load(target).getOptionsOf(set).getBaseConfig();
    std::string text;
    llvm::raw_string_ostream os(text);
    os << config.getActMethod().getMethodName() << ' ' << config.getActBits();
    if (!config.getActEnabled())
      os << " off";
    if (config.getPreserving())
      os << " preserving";
    if (config.getFixedScale())
      os << " 1/" << int64_t(1 / config.getFixedScale().getValueAsDouble())
         << ' ' << *config.getFixedZeroPoint();
    return text;
  }

  MLIRContext context;
  std::vector<OwningOpRef<ModuleOp>> modules;
  std::vector<std::string> diagnostics;
};
} // namespace

TEST_F(StockTargets, AttachWithoutAWord) {
  for (const StockTarget &target : listTargets()) {
    OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));
    PassManager passes(&context);
    passes.addPass(createAttachTargetPass({target.name.str()}));
    EXPECT_TRUE(succeeded(passes.run(*module))) << target.name.str();
    EXPECT_EQ(!target.warning.empty(), target.name.ends_with("_mct"));
    // The platform that MCT ships contradicts itself in 16 sets.
    EXPECT_EQ(diagnostics.size(), target.name == "tflite_v1_mct" ? 16u : 0u)
        << target.name.str() << ": "
        << (diagnostics.empty() ? "" : diagnostics.front());
    diagnostics.clear();
  }
}

TEST_F(StockTargets, AreThoseOfMct) {
  const std::pair<StringRef, StringRef> pairs[] = {
      {"imx500_v1_0", "imx500_v1_0"},   {"imx500_v4_0", "imx500_v4_0"},
      {"imx500_v5_0", "imx500_v5_0"},   {"imx500_v6_0", "imx500_v6_0"},
      {"tflite_v1_mct", "tflite_v1_0"}, {"qnnpack_v1_mct", "qnnpack_v1_0"}};
  for (auto [target, file] : pairs) {
    auto golden = llvm::MemoryBuffer::getFile(
        mct::testing::getSharedPath(("golden/tpc/" + file + ".json").str()));
    if (!golden)
      GTEST_SKIP() << "no recorded targets";
    std::string text;
    llvm::raw_string_ostream os(text);
    ASSERT_TRUE(succeeded(exportTpcJson(load(target), os)));
    // Not EXPECT_EQ: it would print both.
    EXPECT_TRUE(text == (*golden)->getBuffer()) << target.str();
  }
}

TEST_F(StockTargets, HistoricalVersionsOfImx500DifferInKernelsAndArithmetic) {
  EXPECT_EQ(kernels("imx500_v1_0", "Conv"),
            "symmetric 8, symmetric 4, symmetric 2");
  EXPECT_EQ(kernels("imx500_v1_pot", "FullyConnected"),
            "power_of_two 8, power_of_two 4, power_of_two 2");
  EXPECT_EQ(kernels("imx500_v2", "Conv"),
            "symmetric 8, symmetric 4, symmetric 2");
  for (StringRef lut : {"imx500_v1_lut", "imx500_v2_lut", "imx500_v3_lut"})
    EXPECT_EQ(kernels(lut, "DepthwiseConv2D"),
              "symmetric 8, lut_sym_quantizer 4, lut_sym_quantizer 2")
        << lut.str();
  for (StringRef name : {"imx500_v1_lut", "imx500_v1_pot", "imx500_v2",
                         "imx500_v2_lut", "imx500_v3", "imx500_v3_lut"})
    EXPECT_EQ(result(name, "BatchNorm"), "power_of_two 8 off") << name.str();

  // The wider result comes first, and is not the base.
  EXPECT_EQ(configs("imx500_v3", "Add").front().getActBits(), 16);
  EXPECT_EQ(result("imx500_v3", "Add"), "power_of_two 8");
  EXPECT_EQ(configs("imx500_v3_lut", "Add").size(), 1u);
  EXPECT_TRUE(
      configs("imx500_v3_lut", "Div").front().getDefaultWeight().getEnabled());
  EXPECT_EQ(configs("imx500_v3", "Reshape").front().getMaxInputBits(), 16);

  auto describe = [&](StringRef name) {
    PlatformOp platform = load(name);
    return (platform.getSymName() + " " +
            llvm::Twine(*platform.getMinorVersion()) +
            (platform.getAddMetadata() ? " metadata" : "") +
            (platform.getSimdPadding() ? " padding" : ""))
        .str();
  };
  EXPECT_EQ(describe("imx500_v1_lut"), "imx500_lut_tp_model 1");
  EXPECT_EQ(describe("imx500_v1_pot"), "imx500_pot_tp_model 1");
  EXPECT_EQ(describe("imx500_v2"), "imx500_tp_model 2 metadata padding");
  EXPECT_EQ(describe("imx500_v2_lut"), "imx500_lut_tp_model 2 metadata");
  EXPECT_EQ(describe("imx500_v3"), "imx500_tp_model 3 metadata padding");
  EXPECT_EQ(describe("imx500_v3_lut"), "imx500_lut_tp_model 3 metadata");
}

// The platforms that MCT ships lose what its documentation promises.
TEST_F(StockTargets, TfliteAndQnnpackAreAsDocumented) {
  EXPECT_EQ(kernels("tflite_v1", "Conv"), "symmetric 8");
  EXPECT_EQ(kernels("tflite_v1", "DepthwiseConv2D"), "symmetric 8");
  EXPECT_EQ(kernels("tflite_v1", "FullyConnected"), "symmetric 8 tensor");
  EXPECT_EQ(result("tflite_v1", "no such set"), "uniform 8");
  EXPECT_EQ(result("tflite_v1", "MaxPool"), "uniform 8 off preserving");
  EXPECT_EQ(result("tflite_v1", "Concatenate"), "uniform 8");
  EXPECT_EQ(result("tflite_v1", "Mul"), "uniform 8");
  EXPECT_EQ(result("tflite_v1", "Tanh"), "uniform 8 1/128 0");
  EXPECT_EQ(result("tflite_v1", "Sigmoid"), "uniform 8 1/256 -128");
  EXPECT_EQ(result("tflite_v1", "Softmax"), "uniform 8 1/256 -128");
  EXPECT_EQ(result("tflite_v1", "L2Norm"), "uniform 8 1/128 0");
  EXPECT_EQ(result("tflite_v1", "LogSoftmax"), "uniform 8 1/16 127");
  EXPECT_EQ(result("tflite_v1_mct", "Tanh"), "power_of_two 8 1/256 -128");

  for (StringRef set :
       {"Conv", "DepthwiseConv2D", "ConvTranspose", "FullyConnected"}) {
    EXPECT_EQ(kernels("qnnpack_v1", set), "symmetric 8 tensor") << set.str();
    EXPECT_EQ(kernels("qnnpack_v1_mct", set), "symmetric 8 tensor off")
        << set.str();
  }
  EXPECT_EQ(result("qnnpack_v1", "Conv"), "uniform 8");
  EXPECT_EQ(result("qnnpack_v1", "ReLU"), "uniform 8");
  for (StringRef set : {"StridedSlice", "Reshape", "Transpose", "MaxPool"})
    EXPECT_EQ(result("qnnpack_v1", set), "uniform 8 off preserving")
        << set.str();
}
