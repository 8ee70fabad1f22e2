// SPDX-License-Identifier: Apache-2.0
//
// Rewrites that move factors and offsets between layers: the results of the
// network stay the same. The rewritten networks are compared with MCT in
// unit/Golden.
#include "GraphPasses.h"
#include "RandomGraphs.h"

using namespace mlir;
using namespace mct;
using namespace mct::testing;

namespace {
/// The stages of mct-ptq up to the points.
constexpr StringLiteral kInsertPoints =
    "tpc-attach-target{target=imx500},func.func(mct-fold-constants,mct-"
    "normalize-activations),mct-fold-batch-norm,mct-insert-quantizers";
constexpr StringLiteral kBound = "mct-bound-relu-to-power-of-two";
constexpr StringLiteral kEqualize =
    "mct-equalize-channels{only-if-better=false}";
constexpr StringLiteral kScaleInput = "mct-scale-input";
constexpr StringLiteral kShift = "mct-shift-softmax";

/// [1,6,6,4] -> conv with borders -> ReLU -> point -> `rest`, which makes %y.
std::string firstLayer(const std::string &activation) {
  return constant("k", {4, 3, 3, 3}, 11) + biasWithMoments("b", 4) +
         convolution("conv2d", "c", "x", {1, 6, 6, 3}, "k", {4, 3, 3, 3}, "b",
                     {1, 6, 6, 4}, 1) +
         activation;
}
} // namespace

//===----------------------------------------------------------------------===//
// Bounded ReLUs
//===----------------------------------------------------------------------===//

TEST_F(GraphPassesTest, BoundMovesBetweenConvolutionsWithBorders) {
  expectSame(function({1, 6, 6, 3}, {1, 6, 6, 2},
                      firstLayer(relu("r", "c", {1, 6, 6, 4}, "6.0")) +
                          constant("k2", {2, 3, 3, 4}, 12) +
                          constant("b2", {2}, 13) +
                          convolution("conv2d", "y", "r", {1, 6, 6, 4}, "k2",
                                      {2, 3, 3, 4}, "b2", {1, 6, 6, 2}, 1)),
             kBound);
}

TEST_F(GraphPassesTest, BoundMovesIntoADepthwiseConvolutionAfterAPool) {
  expectSame(
      function({1, 6, 6, 3}, {1, 3, 3, 8},
               firstLayer(relu("r", "c", {1, 6, 6, 4}, "3.0")) +
                   "%p = tosa.max_pool2d %r {kernel = array<i64: 2, 2>, pad = "
                   "array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : " +
                   types({{1, 6, 6, 4}}) + tensorType({1, 3, 3, 4}) + "\n" +
                   constant("k2", {3, 3, 4, 2}, 12) + constant("b2", {8}, 13) +
                   convolution("depthwise_conv2d", "y", "p", {1, 3, 3, 4}, "k2",
                               {3, 3, 4, 2}, "b2", {1, 3, 3, 8}, 1)),
      kBound);
}

TEST_F(GraphPassesTest, BoundMovesOnRandomGraphs) {
  mct::testing::RandomGraphsOptions options;
  options.prepare = [](ModuleOp module) {
    ASSERT_TRUE(
        succeeded(runPipeline("func.func(mct-fold-constants,mct-normalize-"
                              "activations),mct-fold-batch-norm",
                              module)));
  };
  expectSameFunction(kBound, 4, options);
}

//===----------------------------------------------------------------------===//
// Equalization
//===----------------------------------------------------------------------===//

TEST_F(GraphPassesTest, EqualizedConvolutionsComputeTheSame) {
  std::string first =
      firstLayer(relu("r", "c", {1, 6, 6, 4}) + point("q", "r", {1, 6, 6, 4}));
  expectSame(function({1, 6, 6, 3}, {1, 6, 6, 2},
                      first + constant("k2", {2, 3, 3, 4}, 12) +
                          constant("b2", {2}, 13) +
                          convolution("conv2d", "y", "q", {1, 6, 6, 4}, "k2",
                                      {2, 3, 3, 4}, "b2", {1, 6, 6, 2}, 1)),
             kEqualize);
  expectSame(
      function({1, 6, 6, 3}, {1, 6, 6, 8},
               first + constant("k2", {3, 3, 4, 2}, 12) +
                   constant("b2", {8}, 13) +
                   convolution("depthwise_conv2d", "y", "q", {1, 6, 6, 4}, "k2",
                               {3, 3, 4, 2}, "b2", {1, 6, 6, 8}, 1)),
      kEqualize);
  expectSame(
      function({1, 6, 6, 3}, {1, 7, 7, 2},
               first + constant("k2", {2, 2, 2, 4}, 12) +
                   constant("b2", {2}, 13) +
                   convolution("transpose_conv2d", "y", "q", {1, 6, 6, 4}, "k2",
                               {2, 2, 2, 4}, "b2", {1, 7, 7, 2})),
      kEqualize);
}

TEST_F(GraphPassesTest, EqualizedBoundedConvolutionsComputeTheSame) {
  // The convolution makes values well above the bound.
  expectSame(function({1, 6, 6, 3}, {1, 6, 6, 2},
                      firstLayer(relu("r", "c", {1, 6, 6, 4}, "0.5") +
                                 point("q", "r", {1, 6, 6, 4})) +
                          constant("k2", {2, 3, 3, 4}, 12) +
                          constant("b2", {2}, 13) +
                          convolution("conv2d", "y", "q", {1, 6, 6, 4}, "k2",
                                      {2, 3, 3, 4}, "b2", {1, 6, 6, 2}, 1)),
             "mct-equalize-channels{only-if-better=false "
             "per-channel-bounds=true}");
}

// After a flattening each channel is read once for every position.
TEST_F(GraphPassesTest, EqualizedDenseLayerAfterPoolAndZerosComputesTheSame) {
  expectSame(
      function(
          {1, 6, 6, 3}, {1, 1, 5},
          firstLayer(relu("r", "c", {1, 6, 6, 4}) +
                     point("q", "r", {1, 6, 6, 4})) +
              "%p = tosa.avg_pool2d %q, %zero, %zero {acc_type = f32, kernel = "
              "array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = "
              "array<i64: 2, 2>} : " +
              types({{1, 6, 6, 4}, {1}, {1}}) + tensorType({1, 3, 3, 4}) +
              "\n" + point("pq", "p", {1, 3, 3, 4}) +
              "%border = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 1, "
              "0, 0]> : tensor<8xindex>} : () -> !tosa.shape<8>\n"
              "%padded = tosa.pad %pq, %border, %zero : (" +
              tensorType({1, 3, 3, 4}) +
              ", !tosa.shape<8>, tensor<1xf32>) -> " +
              tensorType({1, 4, 4, 4}) +
              "\n%flat = tosa.const_shape {values = dense<[1, 1, 64]> : "
              "tensor<3xindex>} : () -> !tosa.shape<3>\n"
              "%f = tosa.reshape %padded, %flat : (" +
              tensorType({1, 4, 4, 4}) + ", !tosa.shape<3>) -> " +
              tensorType({1, 1, 64}) + "\n" + constant("m", {1, 64, 5}, 14) +
              "%y = tosa.matmul %f, %m, %zero, %zero : " +
              types({{1, 1, 64}, {1, 64, 5}, {1}, {1}}) +
              tensorType({1, 1, 5}) + "\n"),
      kEqualize);
}

TEST_F(GraphPassesTest, EqualizationKeepsRandomGraphs) {
  mct::testing::RandomGraphsOptions options;
  options.prepare = [](ModuleOp module) {
    ASSERT_TRUE(succeeded(runPipeline(kInsertPoints, module)));
    // Give every ReLU the statistics of a calibration.
    module.walk([](tpc::QuantizeOp point) {
      auto type = cast<RankedTensorType>(point.getType());
      if (point.isWeight() || type.getRank() == 0)
        return;
      int64_t channels = type.getShape().back();
      Builder builder(point.getContext());
      auto f64 = RankedTensorType::get(channels, builder.getF64Type());
      auto f32 = RankedTensorType::get(channels, builder.getF32Type());
      SmallVector<double> squares;
      for (int64_t channel = 0; channel != channels; ++channel)
        squares.push_back(2 + 3 * double(channel));
      point.setStatisticsAttr(tpc::StatisticsAttr::get(
          point.getContext(), 4, 0, 0.0, 9.0, tpc::HistogramAttr(),
          DenseElementsAttr::get(f64, 1.0),
          DenseElementsAttr::get(f64, ArrayRef<double>(squares)),
          DenseElementsAttr::get(f32, 0.0f),
          DenseElementsAttr::get(f32, 9.0f)));
    });
  };
  expectSameFunction(kEqualize, 3, options);
}

//===----------------------------------------------------------------------===//
// Input and softmax
//===----------------------------------------------------------------------===//

TEST_F(GraphPassesTest, ScaledInputOfTwoLayersComputesTheSame) {
  Shape in{1, 6, 6, 3}, out{1, 6, 6, 2};
  expectSame(
      function(in, out,
               point("q", "x", in,
                     "statistics(#tpc.statistics<count = 4, zeros = 0, min = "
                     "-3.0, max = 2.0>) parameters(#tpc.power_of_two<threshold "
                     "= [4.0], bits = 8>)") +
                   constant("k", {2, 3, 3, 3}, 21) + constant("b", {2}, 22) +
                   constant("k2", {2, 1, 1, 3}, 23) + constant("b2", {2}, 24) +
                   convolution("conv2d", "c", "q", in, "k", {2, 3, 3, 3}, "b",
                               out, 1) +
                   convolution("conv2d", "d", "q", in, "k2", {2, 1, 1, 3}, "b2",
                               out) +
                   "%y = tosa.add %c, %d : " + types({out, out}) +
                   tensorType(out) + "\n"),
      kScaleInput);
}

TEST_F(GraphPassesTest, ScaledInputKeepsRandomGraphs) {
  mct::testing::RandomGraphsOptions options;
  options.prepare = [](ModuleOp module) {
    ASSERT_TRUE(succeeded(runPipeline(kInsertPoints, module)));
    module.walk([](tpc::QuantizeOp point) {
      if (point.isWeight() || !isa<BlockArgument>(point.getInput()))
        return;
      point.setStatisticsAttr(tpc::StatisticsAttr::get(
          point.getContext(), 4, 0, -1.5, 1.75, tpc::HistogramAttr(),
          ElementsAttr(), ElementsAttr(), ElementsAttr(), ElementsAttr()));
      point.setQuantizer(tpc::PowerOfTwoAttr::get(
          point.getContext(), {2.0}, 8, true, tpc::RoundingMode::HalfEven));
    });
  };
  expectSameFunction(kScaleInput, 40, options);
}

static const char *const kSeen =
    "statistics(#tpc.statistics<count = 4, zeros = 0, min = -1.0, max = 5.5>)";

TEST_F(GraphPassesTest, ShiftedSoftmaxComputesTheSame) {
  expectSame(
      function({1, 2, 6}, {1, 2, 5},
               constant("m", {1, 6, 5}, 31) + constant("b", {1, 1, 5}, 32) +
                   "%p = tosa.matmul %x, %m, %zero, %zero : " +
                   types({{1, 2, 6}, {1, 6, 5}, {1}, {1}}) +
                   tensorType({1, 2, 5}) +
                   "\n%a = tosa.add %p, %b : " + types({{1, 2, 5}, {1, 1, 5}}) +
                   tensorType({1, 2, 5}) + "\n" +
                   point("q", "a", {1, 2, 5}, kSeen) + softmax({1, 2, 5})),
      kShift);
  expectSame(function({1, 3, 3, 2}, {1, 3, 3, 4},
                      constant("k", {4, 3, 3, 2}, 33) + constant("b", {4}, 34) +
                          convolution("conv2d", "a", "x", {1, 3, 3, 2}, "k",
                                      {4, 3, 3, 2}, "b", {1, 3, 3, 4}, 1) +
                          point("q", "a", {1, 3, 3, 4}, kSeen) +
                          softmax({1, 3, 3, 4})),
             kShift);
}

//===----------------------------------------------------------------------===//
// Activations
//===----------------------------------------------------------------------===//

TEST_F(GraphPassesTest, FormsOfHardSwishComputeTheSame) {
  Shape shape{1, 64, 64, 1};
  std::string type = tensorType(shape);
  auto number = [](const char *name, float value) {
    return constant(name, {1, 1, 1, 1}, Floats{value});
  };
  std::string numbers =
      number("three", 3) + number("sixth", 1.0f / 6) + number("half", 0.5f) +
      number("one", 1) + number("minus", -1) +
      "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
      "tensor<1xi8>\n";
  auto add = [&](const char *result, const char *x, const char *y) {
    return std::string("%") + result + " = tosa.add %" + x + ", %" + y + " : " +
           types({shape, {1, 1, 1, 1}}) + type + "\n";
  };
  auto scale = [&](const char *result, const char *x, const char *y) {
    return std::string("%") + result + " = tosa.mul %" + x + ", %" + y +
           ", %shift : (" + type + ", tensor<1x1x1x1xf32>, tensor<1xi8>) -> " +
           type + "\n";
  };
  auto multiply = [&](const char *result, const char *x, const char *y) {
    return std::string("%") + result + " = tosa.mul %" + x + ", %" + y +
           ", %shift : (" + type + ", " + type + ", tensor<1xi8>) -> " + type +
           "\n";
  };
  constexpr StringLiteral kNormalize = "func.func(mct-normalize-activations)";
  expectSame(
      function(shape, shape,
               numbers + scale("a", "x", "sixth") + add("b", "x", "three") +
                   relu("c", "b", shape, "6.0") + multiply("y", "c", "a")),
      kNormalize);
  expectSame(function(shape, shape,
                      numbers + scale("a", "x", "sixth") +
                          add("b", "a", "half") + relu("c", "b", shape, "1.0") +
                          multiply("y", "x", "c")),
             kNormalize);
  expectSame(
      function(shape, shape,
               numbers + add("a", "x", "three") + scale("b", "a", "sixth") +
                   relu("c", "b", shape, "1.0") + multiply("y", "x", "c")),
      kNormalize);
  // A sigmoid of its parts.
  expectSame(function(shape, shape,
                      numbers + scale("a", "x", "minus") +
                          "%b = tosa.exp %a : " + types({shape}) + type + "\n" +
                          add("c", "b", "one") +
                          "%d = tosa.reciprocal %c : " + types({shape}) + type +
                          "\n" + multiply("y", "x", "d")),
             kNormalize);
}
