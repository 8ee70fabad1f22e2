// SPDX-License-Identifier: Apache-2.0
#include "Fixture.h"
#include "tpc_dialect/Lookup/Subgraphs.h"

using namespace mct::tpc;
using namespace mlir;

using Names = std::vector<std::string>;

/// A function from `%x : TYPE` whose body is given; it returns `%y : TYPE`.
static std::string function(StringRef body, StringRef type = "tensor<2x4xf32>",
                            StringRef resultType = "") {
  if (resultType.empty())
    resultType = type;
  return ("func.func @main(%x: " + type + ") -> " + resultType + " {\n" + body +
          "\n  return %y : " + resultType + "\n}")
      .str();
}

//===----------------------------------------------------------------------===//
// Single ops
//===----------------------------------------------------------------------===//

TEST_F(LookupTest, FilterTellsReluFromRelu6FromHardTanh) {
  parse(function(R"(
    %a = tosa.clamp %x {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %c = tosa.clamp %b {min_val = 0.0 : f32, max_val = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %y = tosa.clamp %c {min_val = -1.0 : f32, max_val = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>)"));
  EXPECT_EQ(describeAll(), Names({"ReLU(clamp)", "ReLU6(clamp)",
                                  "HardTanh(clamp)", "default(clamp)"}));
}

TEST_F(LookupTest, ClampPromisesItsLowerBoundOnlyAndOnlyFromZeroOn) {
  parse(function(R"(
    %a = tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %b = tosa.clamp %a {min_val = -1.0 : f32, max_val = 1.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %y = tosa.tanh %b : (tensor<2x4xf32>) -> tensor<2x4xf32>)"));
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 3u);
  EXPECT_EQ(nodes[0].range.first, 0.0);
  EXPECT_EQ(nodes[0].range.second, std::nullopt);
  EXPECT_EQ(nodes[1].range.first, std::nullopt);
  EXPECT_EQ(nodes[2].range.first, -1.0);
  EXPECT_EQ(nodes[2].range.second, 1.0);
}

TEST_F(LookupTest, OpOfNoSetRunsWithThePlatformsDefault) {
  parse(function(R"(
    %y = tosa.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>)"));
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_FALSE(nodes[0].operatorSet);
  EXPECT_FALSE(nodes[0].pattern);
  TpcLookup lookup = *TpcLookup::create(*module);
  EXPECT_EQ(nodes[0].options, lookup.platform().getDefaultOptions());
}

TEST_F(LookupTest, SetOfSeveralEqualClaimsIsTheFirst) {
  parse(function(R"(
    %s = tosa.const_shape {values = dense<[4, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %y = tosa.reshape %x, %s : (tensor<2x4xf32>, !tosa.shape<2>) -> tensor<4x2xf32>)",
                 "tensor<2x4xf32>", "tensor<4x2xf32>"));
  EXPECT_EQ(describeAll(), Names({"Flatten(reshape)"}));
}

TEST_F(LookupTest, WeightsAreOperandNumbersOfTheKernelOp) {
  parse(function(R"(
    %k = "tosa.const"() <{values = dense<1.0> : tensor<3x3x4x1xf32>}> : () -> tensor<3x3x4x1xf32>
    %b = "tosa.const"() <{values = dense<1.0> : tensor<4xf32>}> : () -> tensor<4xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %y = tosa.depthwise_conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<3x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>)",
                 "tensor<1x8x8x4xf32>"));
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(describe(nodes[0]), "DepthwiseConv2D(depthwise_conv2d)");
  ASSERT_TRUE(nodes[0].weights);
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kKernelWeight).getInt(), 1);
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kBiasWeight).getInt(), 2);
  ASSERT_TRUE(nodes[0].info);
  EXPECT_EQ(nodes[0].info.getOutAxes(), ArrayRef<int64_t>({2, 3}));
  EXPECT_EQ(nodes[0].options.getConfigs().size(), 3u);
}

/// Everything that was reported, notes among them, one message a line.
static std::string collectDiagnostics(MLIRContext &context,
                                      llvm::function_ref<void()> run) {
  std::string text;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    text += diagnostic.str() + "\n";
    for (Diagnostic &note : diagnostic.getNotes())
      text += "note: " + note.str() + "\n";
    return success();
  });
  run();
  return text;
}

// U1
TEST_F(LookupTest, ContradictingFiltersAreReportedWithBothEntries) {
  parseWithTarget(R"(
    #w = #tpc.attr_quant_config<method = power_of_two, bits = 8>
    #c8 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 8, input_bits = [8], default_weight = #w>
    #c4 = #tpc.op_quant_config<act_method = power_of_two, act_bits = 4, input_bits = [8], default_weight = #w>
    module attributes {tpc.target = @p} {
    tpc.platform @p default(#tpc.qc_options<[#c8]>) operator_sets [
      #tpc.operator_set<"A">, #tpc.operator_set<"B", options = #tpc.qc_options<[#c4]>>]
    tpc.binding @b for @p [
      #tpc.ops_of<"A", [#tpc.op<"tosa.clamp" where min_val ge 0.0 : f32>]>,
      #tpc.ops_of<"B", [#tpc.op<"tosa.clamp" where max_val le 6.0 : f32>]>]
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %y = tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
      return %y : tensor<4xf32>
    }
    })");
  TpcLookup lookup = *TpcLookup::create(*module);
  std::string text = collectDiagnostics(
      context, [&] { EXPECT_TRUE(failed(lookup.match(body()))); });
  EXPECT_NE(text.find("'tosa.clamp' matches operator sets \"A\" and \"B\" with "
                      "different options"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("note: set \"A\" is bound here to"), std::string::npos);
  EXPECT_NE(text.find("note: set \"B\" is bound here to"), std::string::npos);
}

TEST_F(LookupTest, ModuleWithoutTargetSaysWhatToDo) {
  parseWithTarget("module {}");
  std::string text = collectDiagnostics(
      context, [&] { EXPECT_TRUE(failed(TpcLookup::create(*module))); });
  EXPECT_EQ(text, "module has no target; run tpc-attach-target first\n");
}

TEST_F(LookupTest, TargetThatIsNotInTheModuleSaysWhatToDo) {
  parseWithTarget("module attributes {tpc.target = @gone} {}");
  std::string text = collectDiagnostics(
      context, [&] { EXPECT_TRUE(failed(TpcLookup::create(*module))); });
  EXPECT_EQ(text, "target @gone is not a tpc.platform of the module; run "
                  "tpc-attach-target\n");
}

TEST_F(LookupTest, PlatformWithoutBindingSaysWhatToDo) {
  parseWithTarget(R"(
    module attributes {tpc.target = @p} {
    tpc.platform @p default(#tpc.qc_options<[#tpc.op_quant_config<act_method = power_of_two, act_bits = 8,
      input_bits = [8], default_weight = #tpc.attr_quant_config<method = power_of_two, bits = 8>>]>) operator_sets []
    })");
  std::string text = collectDiagnostics(
      context, [&] { EXPECT_TRUE(failed(TpcLookup::create(*module))); });
  EXPECT_NE(text.find("has no tpc.binding in the module"), std::string::npos)
      << text;
}

//===----------------------------------------------------------------------===//
// Subgraphs
//===----------------------------------------------------------------------===//

static constexpr StringRef kSoftmax = R"(
    %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %m = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %d = tosa.sub %x, %m : (tensor<2x4xf32>, tensor<2x1xf32>) -> tensor<2x4xf32>
    %e = tosa.exp %d : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %t = tosa.reduce_sum %e {axis = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x1xf32>
    %r = tosa.reciprocal %t : (tensor<2x1xf32>) -> tensor<2x1xf32>
    %y = tosa.mul %e, %r, %s : (tensor<2x4xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>)";

TEST_F(LookupTest, SoftmaxIsOneNodeWithKnownRange) {
  parse(function(kSoftmax));
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(describe(nodes[0]),
            "softmax(reduce_max sub exp reduce_sum reciprocal mul)");
  EXPECT_EQ(nodes[0].range.first, 0.0);
  EXPECT_EQ(nodes[0].range.second, 1.0);
}

// Its last two ops are a division of their own.
static const Names kSoftmaxOneByOne = {"default(reduce_max)", "Sub(sub)",
                                       "default(exp)", "default(reduce_sum)",
                                       "Div(reciprocal mul)"};

TEST_F(LookupTest, SoftmaxNeedsTheSameAxisTwice) {
  std::string text = function(kSoftmax);
  // A reduction over axis 0 of 2x4 has the result 1x4.
  size_t sum = text.find("%t = ");
  text.replace(text.find("axis = 1", sum), 8, "axis = 0");
  text.replace(text.find("tensor<2x1xf32>", sum), 15, "tensor<1x4xf32>");
  size_t reciprocal = text.find("%r = ");
  for (int i = 0; i < 3; ++i)
    text.replace(text.find("tensor<2x1xf32>", reciprocal), 15,
                 "tensor<1x4xf32>");
  parse(text);
  // The number that is subtracted is not the same for all of a sum: a softmax
  // of the difference.
  EXPECT_EQ(describeAll(), Names({"default(reduce_max)", "Sub(sub)",
                                  "softmax(exp reduce_sum reciprocal mul)"}));
}

TEST_F(LookupTest, InteriorValueUsedOutsideKeepsTheOpsApart) {
  std::string text = function(kSoftmax);
  text.replace(text.find("return %y : tensor<2x4xf32>"), 27,
               "return %y, %e : tensor<2x4xf32>, tensor<2x4xf32>");
  text.replace(text.find("-> tensor<2x4xf32> {"), 20,
               "-> (tensor<2x4xf32>, tensor<2x4xf32>) {");
  parse(text);
  EXPECT_EQ(describeAll(), kSoftmaxOneByOne);
}

TEST_F(LookupTest, ActivationPointInsideKeepsTheOpsApart) {
  std::string text = function(kSoftmax);
  text.replace(text.find("tosa.reduce_sum %e"), 18, "tosa.reduce_sum %q");
  text.insert(text.find("%t = "),
              "%q = tpc.quantize %e as \"e\" activation : tensor<2x4xf32>\n");
  parse(text);
  // The point itself belongs to no node.
  EXPECT_EQ(describeAll(), kSoftmaxOneByOne);
}

TEST_F(LookupTest, SwishTakesItsOperandsEitherWay) {
  for (StringRef operands : {"%x, %g", "%g, %x"}) {
    parse(function(
        (R"(
      %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
      %g = tosa.sigmoid %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
      %y = tosa.mul )" +
         operands +
         R"(, %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>)")
            .str()));
    SmallVector<Node> nodes = match();
    ASSERT_EQ(nodes.size(), 1u);
    EXPECT_EQ(describe(nodes[0]), "Swish(sigmoid mul)");
    EXPECT_EQ(nodes[0].range.first, -0.279);
    EXPECT_EQ(nodes[0].range.second, std::nullopt);
  }
}

TEST_F(LookupTest, ProductWithTheSigmoidOfSomethingElseIsNoSwish) {
  parse(function(R"(
    %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %n = tosa.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %g = tosa.sigmoid %n : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %y = tosa.mul %x, %g, %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>)"));
  EXPECT_EQ(describeAll(),
            Names({"default(exp)", "Sigmoid(sigmoid)", "Mul(mul)"}));
}

static constexpr StringRef kHardSwishConstants = R"(
    %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %3 = "tosa.const"() <{values = dense<3.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %6 = "tosa.const"() <{values = dense<6.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %z = "tosa.const"() <{values = dense<0.166666672> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %a = tosa.add %x, %3 : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
)";

TEST_F(LookupTest, HardSwishOfTfliteIsOneNode) {
  parse(function((kHardSwishConstants + R"(
    %c = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %m = tosa.mul %x, %c, %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.mul %m, %z, %s : (tensor<2x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>)")
                     .str()));
  EXPECT_EQ(describeAll(), Names({"HardSwish(add clamp mul mul)"}));
}

TEST_F(LookupTest, HardSwishOfTorchIsOneNode) {
  parse(function((kHardSwishConstants + R"(
    %c = tosa.clamp %a {min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %n = tosa.minimum %c, %6 : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>
    %m = tosa.mul %n, %z, %s : (tensor<2x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.mul %m, %x, %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>)")
                     .str()));
  EXPECT_EQ(describeAll(), Names({"HardSwish(add clamp minimum mul mul)"}));
}

TEST_F(LookupTest, OtherFactorsMakeNoHardSwish) {
  std::string text = function((kHardSwishConstants + R"(
    %c = tosa.clamp %a {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
    %m = tosa.mul %x, %c, %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.mul %m, %z, %s : (tensor<2x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>)")
                                  .str());
  text.replace(text.find("0.166666672"), 11, "0.2");
  parse(text);
  EXPECT_EQ(describeAll(),
            Names({"Add(add)", "ReLU6(clamp)", "Mul(mul)", "Mul(mul)"}));
}

//===----------------------------------------------------------------------===//
// Fully connected
//===----------------------------------------------------------------------===//

static constexpr StringRef kDense = R"(
    %s4 = tosa.const_shape {values = dense<[2, 1, 1, 4]> : tensor<4xindex>} : () -> !tosa.shape<4>
    %s2 = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %k = "tosa.const"() <{values = dense<1.0> : tensor<3x1x1x4xf32>}> : () -> tensor<3x1x1x4xf32>
    %b = "tosa.const"() <{values = dense<1.0> : tensor<3xf32>}> : () -> tensor<3xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %r = tosa.reshape %x, %s4 : (tensor<2x4xf32>, !tosa.shape<4>) -> tensor<2x1x1x4xf32>
    %c = tosa.conv2d %r, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<2x1x1x4xf32>, tensor<3x1x1x4xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x1x1x3xf32>
    %y = tosa.reshape %c, %s2 : (tensor<2x1x1x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>)";

TEST_F(LookupTest, DenseLayerIsReshapeConvReshape) {
  parse(function(kDense, "tensor<2x4xf32>", "tensor<2x3xf32>"));
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(describe(nodes[0]), "FullyConnected(reshape conv2d reshape)");
  EXPECT_EQ(nodes[0].kernelOp, nodes[0].ops[1]);
  ASSERT_TRUE(nodes[0].weights);
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kKernelWeight).getInt(), 1);
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kBiasWeight).getInt(), 2);
}

TEST_F(LookupTest, WeightPointsAreLookedThrough) {
  std::string text = function(kDense, "tensor<2x4xf32>", "tensor<2x3xf32>");
  text.replace(text.find("%r, %k, %b"), 10, "%r, %q, %b");
  text.insert(text.find("%r = "), "%q = tpc.quantize %k as \"dense\" weight "
                                  "\"kernel_attr\" : tensor<3x1x1x4xf32>\n");
  parse(text);
  EXPECT_EQ(describeAll(), Names({"FullyConnected(reshape conv2d reshape)"}));
}

TEST_F(LookupTest, SharedReshapeStaysOutOfTheDenseLayer) {
  std::string text = function(kDense, "tensor<2x4xf32>", "tensor<2x3xf32>");
  text.replace(text.find("return %y : tensor<2x3xf32>"), 27,
               "return %y, %r : tensor<2x3xf32>, tensor<2x1x1x4xf32>");
  text.replace(text.find("-> tensor<2x3xf32> {"), 20,
               "-> (tensor<2x3xf32>, tensor<2x1x1x4xf32>) {");
  parse(text);
  EXPECT_EQ(describeAll(),
            Names({"Flatten(reshape)", "FullyConnected(conv2d reshape)"}));
}

TEST_F(LookupTest, FlatteningReshapeStaysOutOfTheDenseLayer) {
  std::string text = function(kDense, "tensor<2x2x2x1xf32>", "tensor<2x3xf32>");
  text.replace(text.find("(tensor<2x4xf32>, !tosa.shape<4>)"), 16,
               "(tensor<2x2x2x1xf32>");
  parse(text);
  EXPECT_EQ(describeAll(),
            Names({"Flatten(reshape)", "FullyConnected(conv2d reshape)"}));
}

TEST_F(LookupTest, ConvolutionOnAnImageIsNotDense) {
  std::string text = function(kDense, "tensor<2x4xf32>", "tensor<2x3xf32>");
  // Two pixels instead of two samples.
  text.replace(text.find("[2, 1, 1, 4]"), 12, "[1, 2, 1, 4]");
  for (size_t at = text.find("tensor<2x1x1x"); at != std::string::npos;
       at = text.find("tensor<2x1x1x"))
    text.replace(at, 13, "tensor<1x2x1x");
  parse(text);
  EXPECT_EQ(describeAll(),
            Names({"Flatten(reshape)", "Conv(conv2d)", "Flatten(reshape)"}));
}

static constexpr StringRef kMatMul = R"(
    %s3 = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %s2 = tosa.const_shape {values = dense<[2, 3]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %k = "tosa.const"() <{values = dense<1.0> : tensor<1x4x3xf32>}> : () -> tensor<1x4x3xf32>
    %b = "tosa.const"() <{values = dense<1.0> : tensor<1x1x3xf32>}> : () -> tensor<1x1x3xf32>
    %c = "tosa.const"() <{values = dense<1.0> : tensor<1x3xf32>}> : () -> tensor<1x3xf32>
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %r = tosa.reshape %x, %s3 : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
    %m = tosa.matmul %r, %k, %z, %z : (tensor<1x2x4xf32>, tensor<1x4x3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x3xf32>
)";

TEST_F(LookupTest, DenseLayerOfTorchIsAProductWithItsBias) {
  parse(function((kMatMul + R"(
    %a = tosa.add %b, %m : (tensor<1x1x3xf32>, tensor<1x2x3xf32>) -> tensor<1x2x3xf32>
    %y = tosa.reshape %a, %s2 : (tensor<1x2x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>)")
                     .str(),
                 "tensor<2x4xf32>", "tensor<2x3xf32>"));
  SmallVector<Node> nodes = match();
  ASSERT_EQ(nodes.size(), 1u);
  EXPECT_EQ(describe(nodes[0]), "FullyConnected(reshape matmul add reshape)");
  EXPECT_EQ(nodes[0].kernelOp, nodes[0].ops[1]);
  // tosa.matmul has no bias operand.
  EXPECT_EQ(nodes[0].weights.getAs<IntegerAttr>(kKernelWeight).getInt(), 1);
  EXPECT_FALSE(nodes[0].weights.contains(kBiasWeight));
}

TEST_F(LookupTest, BiasOfADenseLayerMayFollowTheReshape) {
  parse(function((kMatMul + R"(
    %n = tosa.reshape %m, %s2 : (tensor<1x2x3xf32>, !tosa.shape<2>) -> tensor<2x3xf32>
    %y = tosa.add %n, %c : (tensor<2x3xf32>, tensor<1x3xf32>) -> tensor<2x3xf32>)")
                     .str(),
                 "tensor<2x4xf32>", "tensor<2x3xf32>"));
  EXPECT_EQ(describeAll(),
            Names({"FullyConnected(reshape matmul reshape add)"}));
}

TEST_F(LookupTest, ProductOfTwoActivationsIsNotDense) {
  parse(function(R"(
    %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %y = tosa.matmul %x, %x, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>)",
                 "tensor<1x4x4xf32>"));
  EXPECT_EQ(describeAll(), Names({"default(matmul)"}));
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

static constexpr StringRef kBatchNormConstants = R"(
    %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %m = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
    %e = "tosa.const"() <{values = dense<0.001> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
)";

TEST_F(LookupTest, BatchNormWithAllItsConstantsIsOneNode) {
  parse(function((kBatchNormConstants + R"(
    %d = tosa.sub %x, %m : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>
    %v = tosa.add %m, %e : (tensor<1x4xf32>, tensor<1x1xf32>) -> tensor<1x4xf32>
    %r = tosa.rsqrt %v : (tensor<1x4xf32>) -> tensor<1x4xf32>
    %n = tosa.mul %d, %r, %s : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %g = tosa.mul %n, %m, %s : (tensor<2x4xf32>, tensor<1x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.add %g, %m : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>)")
                     .str()));
  EXPECT_EQ(describeAll(), Names({"batch_norm(sub add rsqrt mul mul add)"}));
}

TEST_F(LookupTest, BatchNormWithFoldedConstantsIsOneNode) {
  parse(function((kBatchNormConstants + R"(
    %g = tosa.mul %m, %x, %s : (tensor<1x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.add %g, %m : (tensor<2x4xf32>, tensor<1x4xf32>) -> tensor<2x4xf32>)")
                     .str()));
  EXPECT_EQ(describeAll(), Names({"batch_norm(mul add)"}));
}

TEST_F(LookupTest, ScalarFactorAndOffsetAreNoBatchNorm) {
  parse(function((kBatchNormConstants + R"(
    %g = tosa.mul %x, %e, %s : (tensor<2x4xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.add %g, %e : (tensor<2x4xf32>, tensor<1x1xf32>) -> tensor<2x4xf32>)")
                     .str()));
  EXPECT_EQ(describeAll(), Names({"Mul(mul)", "Add(add)"}));
}

//===----------------------------------------------------------------------===//
// Subgraphs of the user
//===----------------------------------------------------------------------===//

TEST_F(LookupTest, RegisteredSubgraphIsMatchedLikeOurs) {
  registerSubgraph(&context, "square_plus_one", R"(
    s = tosa.mul x x
    y = tosa.add s 1)");
  parse(function(R"(
    %s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %o = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %q = tosa.mul %x, %x, %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> tensor<2x4xf32>
    %y = tosa.add %o, %q : (tensor<1x1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>)"));
  EXPECT_EQ(describeAll(), Names({"square_plus_one(mul add)"}));
}

TEST_F(LookupTest, FormThatCannotBeReadIsReported) {
  auto report = [&](StringRef ops) {
    return collectDiagnostics(context, [&] {
      EXPECT_TRUE(failed(
          compileSubgraph({"mine", ops.str()}, UnknownLoc::get(&context))));
    });
  };
  EXPECT_EQ(report("tosa.mul x y"), "subgraph 'mine' has the line 'tosa.mul x "
                                    "y', expected 'RESULT = OP OPERAND...'\n");
  EXPECT_EQ(report(""), "subgraph 'mine' has no ops\n");
  EXPECT_EQ(report("y = tosa.exp optional"),
            "subgraph 'mine' has the optional line 'y = tosa.exp optional' "
            "without an operand to take its place\n");
  EXPECT_EQ(
      report("a = tosa.exp x\ny = tosa.exp x"),
      "subgraph 'mine' has a 'tosa.exp' whose result no later line uses\n");
  EXPECT_NE(report("y = tosa.exp x where axis is 1")
                .find("has the filter 'axis is 1', which cannot be read"),
            std::string::npos);
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

// Each further piece of a chain of equal pieces costs the same: not more, as if
// the chain were followed back to its beginning, and not less, as if the piece
// were not visited.
TEST_F(LookupTest, OpsThatAreLookedAtGrowWithTheChain) {
  auto visitedIn = [&](int length) -> int64_t {
    std::string body =
        R"(%s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v0 = tosa.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
)";
    for (int i = 1; i <= length; ++i) {
      std::string before = std::to_string(i - 1), after = std::to_string(i);
      body += "%g" + after + " = tosa.sigmoid %v" + before +
              " : (tensor<2x4xf32>) -> tensor<2x4xf32>\n";
      body += "%t" + after + " = tosa.tanh %g" + after +
              " : (tensor<2x4xf32>) -> tensor<2x4xf32>\n";
      body += "%v" + after + " = tosa.mul %v" + before + ", %t" + after +
              ", %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> "
              "tensor<2x4xf32>\n";
    }
    parse(function(body + "%y = tosa.exp %v" + std::to_string(length) +
                   " : (tensor<2x4xf32>) -> tensor<2x4xf32>"));
    mlir::FailureOr<TpcLookup> lookup = TpcLookup::create(*module);
    EXPECT_TRUE(mlir::succeeded(lookup));
    EXPECT_TRUE(mlir::succeeded(lookup->match(this->body())));
    return int64_t(lookup->numVisited());
  };
  int64_t first = visitedIn(200), second = visitedIn(400),
          third = visitedIn(600);
  EXPECT_GE(second - first, 200);
  EXPECT_EQ(third - second, second - first);
}

TEST_F(LookupTest, EveryPairOfAChainOf20000OpsIsMatched) {
  std::string body =
      R"(%s = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
    %v0 = tosa.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
)";
  constexpr int kLength = 10000;
  for (int i = 1; i <= kLength; ++i) {
    std::string before = std::to_string(i - 1), after = std::to_string(i);
    body += "%g" + after + " = tosa.sigmoid %v" + before +
            " : (tensor<2x4xf32>) -> tensor<2x4xf32>\n";
    body += "%v" + after + " = tosa.mul %v" + before + ", %g" + after +
            ", %s : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<1xi8>) -> "
            "tensor<2x4xf32>\n";
  }
  body += "%y = tosa.exp %v" + std::to_string(kLength) +
          " : (tensor<2x4xf32>) -> tensor<2x4xf32>";
  parse(function(body));
  // Every value is read twice: 2^10000 paths lead back to the input.
  // MctTransformsBench measures the time.
  EXPECT_EQ(match().size(), size_t(kLength + 2));
}
