// SPDX-License-Identifier: Apache-2.0
//
// Rewrites that move factors and offsets between layers: what they write is
// what MCT recorded, and what the network computes stays the same.
#include "../Execution/Fixture.h"
#include "../Golden/Golden.h"
#include "RandomGraphs.h"
#include "mct/Analysis/Constants.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct;
using execution::constant;
using execution::Floats;
using execution::tensorType;
using mct::testing::expectSameFunction;

namespace {
LogicalResult runPipeline(StringRef pipeline, ModuleOp module) {
  static const bool registered = [] {
    registerAllMctPasses();
    return true;
  }();
  (void)registered;
  PassManager passManager(module.getContext());
  return success(succeeded(parsePassPipeline(pipeline, passManager)) &&
                 succeeded(passManager.run(module)));
}

class GraphPassesTest : public execution::ExecutionTest {
protected:
  /// The result of @main on inputs in [-4, 4).
  Floats run() {
    execution::CompileOptions options;
    options.simulateQuantization = false;
    auto executor = execution::Executor::compile(*module, options);
    if (failed(executor)) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n");
      return {};
    }
    std::vector<Floats> inputs = execution::randomInputs(**executor);
    for (Floats &input : inputs)
      for (float &value : input)
        value *= 4;
    return execution::runUnit(**executor, inputs);
  }

  std::string print() {
    std::string text;
    llvm::raw_string_ostream stream(text);
    module->print(stream);
    return text;
  }

  /// Runs passes on @main and expects them to change the text, but not what is
  /// computed. A factor or an offset rounds each weight once more: a few float
  /// steps of the largest value.
  void expectSame(const std::string &text, StringRef pipeline) {
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << llvm::join(diagnostics, "\n") << "\n" << text;
    std::string textBefore = print();
    Floats before = run();
    ASSERT_TRUE(succeeded(runPipeline(pipeline, *module)))
        << llvm::join(diagnostics, "\n");
    EXPECT_NE(textBefore, print());
    Floats after = run();
    ASSERT_EQ(before.size(), after.size());
    ASSERT_FALSE(before.empty());
    float largest = 0;
    for (float value : before)
      largest = std::max(largest, std::abs(value));
    ASSERT_GT(largest, 0);
    for (size_t i = 0; i != before.size(); ++i)
      ASSERT_NEAR(before[i], after[i], 1e-5f * largest) << "element " << i;
  }

  /// The elements of a constant operand of the op of a kind that comes
  /// `index`-th.
  template <typename Op> Floats constantOf(size_t index, unsigned operand) {
    Floats values;
    module->walk([&](Op op) {
      if (index-- != 0)
        return;
      if (auto floats = ConstantFloats::get(op->getOperand(operand)))
        values.assign(floats->values().begin(), floats->values().end());
    });
    return values;
  }
};

using Shape = std::vector<int64_t>;

std::string types(std::initializer_list<Shape> shapes) {
  std::string text = "(";
  for (const Shape &shape : shapes)
    text += (text.size() > 1 ? ", " : "") + tensorType(shape);
  return text + ") -> ";
}

std::string function(const Shape &input, const Shape &result,
                     const std::string &body) {
  return "func.func @main(%x: " + tensorType(input) + ") -> " +
         tensorType(result) + " {\n" + execution::kZero + body +
         "return %y : " + tensorType(result) + "\n}";
}

/// `%result = op %input, kernel, bias`, stride and dilation 1.
std::string convolution(const std::string &op, const std::string &result,
                        const std::string &input, const Shape &from,
                        const std::string &kernel, const Shape &kernelShape,
                        const std::string &bias, const Shape &to,
                        int64_t pad = 0) {
  std::string p = std::to_string(pad);
  std::string attributes =
      op == "transpose_conv2d"
          ? "{acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = "
            "array<i64: 1, 1>}"
          : "{acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: " +
                p + ", " + p + ", " + p + ", " + p +
                ">, stride = array<i64: 1, 1>}";
  return "%" + result + " = tosa." + op + " %" + input + ", %" + kernel +
         ", %" + bias + ", %zero, %zero " + attributes + " : " +
         types({from, kernelShape, {to.back()}, {1}, {1}}) + tensorType(to) +
         "\n";
}

std::string relu(const std::string &result, const std::string &input,
                 const Shape &shape, const char *bound = "3.40282347E+38") {
  return "%" + result + " = tosa.clamp %" + input + " {min_val = 0.0 : f32, " +
         "max_val = " + bound + " : f32} : " + types({shape}) +
         tensorType(shape) + "\n";
}

std::string point(const std::string &result, const std::string &input,
                  const Shape &shape, const std::string &rest = "") {
  return "%" + result + " = tpc.quantize %" + input + " as \"" + result +
         "\" activation " + rest + " : " + tensorType(shape) + "\n";
}

/// `tpc.bias` whose channels deviate by up to 5.
std::string biasWithMoments(const std::string &name, int64_t channels) {
  std::string type = tensorType({channels});
  std::string mean, deviation, values;
  for (int64_t channel = 0; channel != channels; ++channel) {
    const char *comma = channel == 0 ? "" : ", ";
    mean += comma + std::to_string(0.25 * double(channel % 3) - 0.25);
    deviation += comma + std::to_string(0.5 + 1.5 * double(channel % 4));
    values += comma + std::to_string(0.5 - 0.25 * double(channel % 5));
  }
  return "%" + name + " = tpc.bias values(dense<[" + values + "]> : " + type +
         ") mean(dense<[" + mean + "]> : " + type + ") deviation(dense<[" +
         deviation + "]> : " + type + ") : " + type + "\n";
}

/// As in mct-ptq, up to the points.
constexpr StringLiteral kInsertPoints =
    "tpc-attach-target{target=imx500},func.func(mct-fold-constants,mct-"
    "normalize-activations,mct-fold-batch-norm),mct-insert-quantizers";
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

TEST_F(GraphPassesTest, BoundMovesIntoADepthwiseConvolutionBehindAPool) {
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
                              "activations,mct-fold-batch-norm)",
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

// Behind a flattening each channel is read once for every position.
TEST_F(GraphPassesTest, EqualizedDenseLayerBehindPoolAndZerosComputesTheSame) {
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
    // As if every ReLU had been calibrated.
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
      point.setParametersAttr(
          tpc::PowerOfTwoAttr::get(point.getContext(), {2.0}, 8, true));
    });
  };
  expectSameFunction(kScaleInput, 40, options);
}

static std::string softmax(const Shape &shape) {
  Shape one = shape;
  one.back() = 1;
  std::string axis =
      " {axis = " + std::to_string(shape.size() - 1) + " : i32} : ";
  return "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () "
         "-> tensor<1xi8>\n%max = tosa.reduce_max %q" +
         axis + types({shape}) + tensorType(one) +
         "\n%d = tosa.sub %q, %max : " + types({shape, one}) +
         tensorType(shape) + "\n%e = tosa.exp %d : " + types({shape}) +
         tensorType(shape) + "\n%s = tosa.reduce_sum %e" + axis +
         types({shape}) + tensorType(one) +
         "\n%r = tosa.reciprocal %s : " + types({one}) + tensorType(one) +
         "\n%y = tosa.mul %e, %r, %shift : (" + tensorType(shape) + ", " +
         tensorType(one) + ", tensor<1xi8>) -> " + tensorType(shape) + "\n";
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

//===----------------------------------------------------------------------===//
// What MCT recorded
//===----------------------------------------------------------------------===//

namespace {
using golden::json::Object;

struct Tensor {
  Shape shape;
  Floats values;
};

Tensor tensor(const golden::json::Value *value) {
  const Object *object = value->getAsObject();
  return {golden::integers(object->get("shape")),
          golden::floats(object->get("data"))};
}

/// [a, b, c, d] to [a, c, d, b]: an OIHW kernel as TOSA has it; to [b, c, d, a]
/// for the IOHW kernel of a transposed convolution.
Tensor toKernel(const Tensor &from, bool transposed = false) {
  auto [o, i, h, w] =
      std::tuple(from.shape[0], from.shape[1], from.shape[2], from.shape[3]);
  Tensor to;
  to.shape = transposed ? Shape{i, h, w, o} : Shape{o, h, w, i};
  to.values.resize(from.values.size());
  for (int64_t a = 0; a != o; ++a)
    for (int64_t b = 0; b != i; ++b)
      for (int64_t y = 0; y != h; ++y)
        for (int64_t x = 0; x != w; ++x) {
          int64_t source = ((a * i + b) * h + y) * w + x;
          int64_t target = transposed ? ((b * h + y) * w + x) * o + a
                                      : ((a * h + y) * w + x) * i + b;
          to.values[target] = from.values[source];
        }
  return to;
}

/// Weight `name` of node `node`, in `nodes_before` or `nodes_after`.
Tensor weight(const Object &recorded, StringRef when, StringRef node,
              StringRef name) {
  for (const golden::json::Value &value : *recorded.getArray(when))
    if (golden::text(*value.getAsObject(), "name") == node)
      return tensor(value.getAsObject()->getObject("weights")->get(name));
  ADD_FAILURE() << "no node " << node.str();
  return {};
}

void expectNear(const Floats &actual, const Floats &expected, float relative) {
  ASSERT_EQ(actual.size(), expected.size());
  float largest = 0;
  for (float value : expected)
    largest = std::max(largest, std::abs(value));
  for (size_t i = 0; i != expected.size(); ++i)
    ASSERT_NEAR(actual[i], expected[i], relative * largest) << "element " << i;
}

std::string list(const std::vector<double> &values) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::interleaveComma(values, stream, [&](double value) {
    stream << llvm::format("%.9e", value);
  });
  return "[" + text + "]";
}
} // namespace

TEST_F(GraphPassesTest, BoundsAreThoseOfMct) {
  golden::File file("transforms.json");
  MCT_REQUIRE_GOLDEN(file);
  golden::Report report;
  for (const Object *recorded : file.objects("cases")) {
    if (golden::text(*recorded, "kind") != "relu_bound_to_power_of_2")
      continue;
    report.check("relu bound", golden::text(*recorded, "id"), [&] {
      const Object &state = *recorded->getObject("state");
      Tensor k = toKernel(tensor(state.get("l0.weight"))),
             k2 = toKernel(tensor(state.get("l2.weight")));
      std::string bound =
          StringRef(golden::text(*recorded, "activation")).starts_with("ReLU6")
              ? "6.0"
              : "3.0";
      Shape in{1, 5, 5, k.shape[3]}, mid{1, 3, 3, k.shape[0]},
          out{1, 3, 3, k2.shape[0]};
      expectSame(function(in, out,
                          constant("k", k.shape, k.values) +
                              constant("b", {k.shape[0]},
                                       tensor(state.get("l0.bias")).values) +
                              constant("k2", k2.shape, k2.values) +
                              constant("b2", {k2.shape[0]},
                                       tensor(state.get("l2.bias")).values) +
                              convolution("conv2d", "c", "x", in, "k", k.shape,
                                          "b", mid) +
                              relu("r", "c", mid, bound.c_str()) +
                              convolution("conv2d", "y", "r", mid, "k2",
                                          k2.shape, "b2", out)),
                 kBound);
      expectNear(
          constantOf<tosa::Conv2DOp>(0, 1),
          toKernel(weight(*recorded, "nodes_after", "l0", "weight")).values,
          1e-6f);
      expectNear(constantOf<tosa::Conv2DOp>(0, 2),
                 weight(*recorded, "nodes_after", "l0", "bias").values, 1e-6f);
      expectNear(
          constantOf<tosa::Conv2DOp>(1, 1),
          toKernel(weight(*recorded, "nodes_after", "l2", "weight")).values,
          1e-6f);
    });
  }
}

TEST_F(GraphPassesTest, EqualizedKernelsAreThoseOfMct) {
  golden::File file("transforms.json");
  MCT_REQUIRE_GOLDEN(file);
  golden::Report report;
  for (const Object *recorded : file.objects("cases")) {
    if (golden::text(*recorded, "kind") != "channel_equalization")
      continue;
    report.check("channel equalization", golden::text(*recorded, "id"), [&] {
      bool transposed = golden::text(*recorded, "second") == "ConvTranspose2d";
      auto read = [&](StringRef when, StringRef node) {
        return toKernel(weight(*recorded, when, node, "weight"),
                        transposed && node == "l3");
      };
      Tensor k = read("nodes_before", "l0_bn"), k2 = read("nodes_before", "l3");
      Floats values = weight(*recorded, "nodes_before", "l0_bn", "bias").values;
      int64_t channels = k.shape[0];
      std::string vector = tensorType({channels});
      std::vector<double> deviation = golden::numbers(recorded->get("gamma"));
      for (double &gamma : deviation)
        gamma = std::abs(gamma);
      Shape in{1, 5, 5, k.shape[3]}, mid{1, 5, 5, channels};
      int64_t size = transposed ? 4 + k2.shape[1] : 8 - k2.shape[1];
      Shape out{1, size, size, k2.shape[0]};
      expectSame(
          function(
              in, out,
              constant("k", k.shape, k.values) +
                  constant("k2", k2.shape, k2.values) +
                  constant("b2", {k2.shape[0]}, 5) +
                  "%b = tpc.bias values(dense<" +
                  list({values.begin(), values.end()}) + "> : " + vector +
                  ") mean(dense<" +
                  list(golden::numbers(recorded->get("beta"))) +
                  "> : " + vector + ") deviation(dense<" + list(deviation) +
                  "> : " + vector + ") : " + vector + "\n" +
                  convolution("conv2d", "c", "x", in, "k", k.shape, "b", mid,
                              1) +
                  relu("r", "c", mid) + point("q", "r", mid) +
                  convolution(transposed ? "transpose_conv2d" : "conv2d", "y",
                              "q", mid, "k2", k2.shape, "b2", out, 1)),
          kEqualize);
      expectNear(constantOf<tosa::Conv2DOp>(0, 1),
                 read("nodes_after", "l0_bn").values, 1e-6f);
      expectNear(constantOf<tosa::Conv2DOp>(0, 2),
                 weight(*recorded, "nodes_after", "l0_bn", "bias").values,
                 1e-6f);
      expectNear(transposed ? constantOf<tosa::TransposeConv2DOp>(0, 1)
                            : constantOf<tosa::Conv2DOp>(1, 1),
                 read("nodes_after", "l3").values, 1e-6f);
    });
  }
}

TEST_F(GraphPassesTest, ShiftedBiasIsThatOfMct) {
  golden::File file("transforms.json");
  MCT_REQUIRE_GOLDEN(file);
  golden::Report report;
  for (const Object *recorded : file.objects("cases")) {
    if (golden::text(*recorded, "kind") != "softmax_shift")
      continue;
    report.check("softmax shift", golden::text(*recorded, "id"), [&] {
      const Object &state = *recorded->getObject("state");
      Tensor kernel = tensor(state.get("l1.weight"));
      Floats bias = tensor(state.get("l1.bias")).values;
      int64_t out = kernel.shape[0], in = kernel.shape[1];
      // The layer's output on the recorded samples.
      double lowest = 0, highest = 0;
      bool isFirst = true;
      for (const golden::json::Value &value : *recorded->getArray("inputs")) {
        Tensor samples = tensor(&value);
        for (size_t sample = 0; sample != samples.values.size() / in; ++sample)
          for (int64_t o = 0; o != out; ++o) {
            double sum = bias[o];
            for (int64_t i = 0; i != in; ++i)
              sum += double(kernel.values[o * in + i]) *
                     samples.values[sample * in + i];
            lowest = isFirst ? sum : std::min(lowest, sum);
            highest = isFirst ? sum : std::max(highest, sum);
            isFirst = false;
          }
      }
      Floats transposed(kernel.values.size());
      for (int64_t o = 0; o != out; ++o)
        for (int64_t i = 0; i != in; ++i)
          transposed[i * out + o] = kernel.values[o * in + i];
      Shape result{1, 2, out};
      std::string seen;
      llvm::raw_string_ostream(seen)
          << "statistics(#tpc.statistics<count = 4, zeros = 0, min = "
          << llvm::format("%.17e", double(float(lowest)))
          << ", max = " << llvm::format("%.17e", double(float(highest)))
          << ">)";
      expectSame(function({1, 2, in}, result,
                          constant("m", {1, in, out}, transposed) +
                              constant("b", {1, 1, out}, bias) +
                              "%p = tosa.matmul %x, %m, %zero, %zero : " +
                              types({{1, 2, in}, {1, in, out}, {1}, {1}}) +
                              tensorType(result) + "\n%a = tosa.add %p, %b : " +
                              types({result, {1, 1, out}}) +
                              tensorType(result) + "\n" +
                              point("q", "a", result, seen) + softmax(result)),
                 kShift);
      expectNear(constantOf<tosa::AddOp>(0, 1),
                 golden::floats(recorded->get("bias_after")), 1e-5f);
    });
  }
}

TEST_F(GraphPassesTest, ConcatThresholdsAreThoseOfMct) {
  golden::File file("transforms.json");
  MCT_REQUIRE_GOLDEN(file);
  // Thresholds of the nodes of a case, by name.
  auto thresholds = [](const Object &recorded) {
    std::map<std::string, double> result;
    for (const golden::json::Value &value : *recorded.getArray("nodes_after"))
      if (const Object *parameters =
              value.getAsObject()->getObject("activation_params"))
        result[golden::text(*value.getAsObject(), "name")] =
            golden::number(parameters->get("threshold"));
    return result;
  };
  std::map<std::string, double> without, with;
  for (const Object *recorded : file.objects("cases"))
    if (golden::text(*recorded, "kind") == "concat_threshold_update")
      (recorded->getBoolean("concat_threshold_update").value_or(false)
           ? with
           : without) = thresholds(*recorded);
  ASSERT_TRUE(without.count("mul") && with.count("mul"));
  auto parameters = [&](const char *name) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "parameters(#tpc.power_of_two<threshold = ["
        << llvm::format("%.1f", without[name]) << "], bits = 8>)";
    return text;
  };
  Shape half{1, 2}, whole{1, 4};
  expectSame(function(half, whole,
                      "%a = tosa.exp %x : " + types({half}) + tensorType(half) +
                          "\n%b = tosa.tanh %x : " + types({half}) +
                          tensorType(half) + "\n" +
                          point("mul", "a", half, parameters("mul")) +
                          point("mul_1", "b", half, parameters("mul_1")) +
                          "%c = tosa.concat %mul, %mul_1 {axis = 1 : i32} : " +
                          types({half, half}) + tensorType(whole) + "\n" +
                          point("cat", "c", whole, parameters("cat")) +
                          "%y = tosa.identity %cat : " + types({whole}) +
                          tensorType(whole) + "\n"),
             "func.func(mct-update-concat-thresholds)");
  module->walk([&](tpc::QuantizeOp point) {
    auto grid = cast<tpc::PowerOfTwoAttr>(point.getParametersAttr());
    EXPECT_EQ(grid.getThreshold().front(), with[point.getPointName().str()])
        << point.getPointName().str();
  });
}
