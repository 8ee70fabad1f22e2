// SPDX-License-Identifier: Apache-2.0
//
// Rewrites that move factors and offsets between layers write what MCT
// recorded: kinds relu_bound_to_power_of_2, channel_equalization, softmax_shift
// and concat_threshold_update of transforms.json.
#include "../Transforms/GraphPasses.h"
#include "Golden.h"

using namespace mlir;
using namespace mct;
using namespace mct::testing;

namespace {
using golden::json::Object;

constexpr StringLiteral kBound = "mct-bound-relu-to-power-of-two";
constexpr StringLiteral kEqualize =
    "mct-equalize-channels{only-if-better=false}";
constexpr StringLiteral kShift = "mct-shift-softmax";

struct Tensor {
  Shape shape;
  Floats values;
};

Tensor readTensor(const golden::json::Value *value) {
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
      return readTensor(value.getAsObject()->getObject("weights")->get(name));
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
    report.check(
        "transforms relu_bound_to_power_of_2", golden::text(*recorded, "id"),
        [&] {
          const Object &state = *recorded->getObject("state");
          Tensor k = toKernel(readTensor(state.get("l0.weight"))),
                 k2 = toKernel(readTensor(state.get("l2.weight")));
          std::string bound = StringRef(golden::text(*recorded, "activation"))
                                      .starts_with("ReLU6")
                                  ? "6.0"
                                  : "3.0";
          Shape in{1, 5, 5, k.shape[3]}, mid{1, 3, 3, k.shape[0]},
              out{1, 3, 3, k2.shape[0]};
          expectSame(
              function(in, out,
                       constant("k", k.shape, k.values) +
                           constant("b", {k.shape[0]},
                                    readTensor(state.get("l0.bias")).values) +
                           constant("k2", k2.shape, k2.values) +
                           constant("b2", {k2.shape[0]},
                                    readTensor(state.get("l2.bias")).values) +
                           convolution("conv2d", "c", "x", in, "k", k.shape,
                                       "b", mid) +
                           relu("r", "c", mid, bound.c_str()) +
                           convolution("conv2d", "y", "r", mid, "k2", k2.shape,
                                       "b2", out)),
              kBound);
          expectNear(
              constantOf<tosa::Conv2DOp>(0, 1),
              toKernel(weight(*recorded, "nodes_after", "l0", "weight")).values,
              1e-6f);
          expectNear(constantOf<tosa::Conv2DOp>(0, 2),
                     weight(*recorded, "nodes_after", "l0", "bias").values,
                     1e-6f);
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
    report.check(
        "transforms channel_equalization", golden::text(*recorded, "id"), [&] {
          bool transposed =
              golden::text(*recorded, "second") == "ConvTranspose2d";
          auto read = [&](StringRef when, StringRef node) {
            return toKernel(weight(*recorded, when, node, "weight"),
                            transposed && node == "l3");
          };
          Tensor k = read("nodes_before", "l0_bn"),
                 k2 = read("nodes_before", "l3");
          Floats values =
              weight(*recorded, "nodes_before", "l0_bn", "bias").values;
          int64_t channels = k.shape[0];
          std::string vector = tensorType({channels});
          std::vector<double> deviation =
              golden::numbers(recorded->get("gamma"));
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
                      convolution("conv2d", "c", "x", in, "k", k.shape, "b",
                                  mid, 1) +
                      relu("r", "c", mid) + point("q", "r", mid) +
                      convolution(transposed ? "transpose_conv2d" : "conv2d",
                                  "y", "q", mid, "k2", k2.shape, "b2", out, 1)),
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
    report.check(
        "transforms softmax_shift, pass", golden::text(*recorded, "id"), [&] {
          const Object &state = *recorded->getObject("state");
          Tensor kernel = readTensor(state.get("l1.weight"));
          Floats bias = readTensor(state.get("l1.bias")).values;
          int64_t out = kernel.shape[0], in = kernel.shape[1];
          // The layer's output on the recorded samples.
          double lowest = 0, highest = 0;
          bool isFirst = true;
          for (const golden::json::Value &value :
               *recorded->getArray("inputs")) {
            Tensor samples = readTensor(&value);
            for (size_t sample = 0; sample != samples.values.size() / in;
                 ++sample)
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
          std::string statistics;
          llvm::raw_string_ostream(statistics)
              << "statistics(#tpc.statistics<count = 4, zeros = 0, min = "
              << llvm::format("%.17e", double(float(lowest)))
              << ", max = " << llvm::format("%.17e", double(float(highest)))
              << ">)";
          expectSame(
              function({1, 2, in}, result,
                       constant("m", {1, in, out}, transposed) +
                           constant("b", {1, 1, out}, bias) +
                           "%p = tosa.matmul %x, %m, %zero, %zero : " +
                           types({{1, 2, in}, {1, in, out}, {1}, {1}}) +
                           tensorType(result) + "\n%a = tosa.add %p, %b : " +
                           types({result, {1, 1, out}}) + tensorType(result) +
                           "\n" + point("q", "a", result, statistics) +
                           softmax(result)),
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
  if (without.empty() || with.empty())
    GTEST_SKIP() << "no pair of cases without and with the option";
  auto parameters = [&](const char *name) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "parameters(#tpc.power_of_two<threshold = ["
        << llvm::format("%.1f", without[name]) << "], bits = 8>)";
    return text;
  };
  golden::Report report;
  report.check("transforms concat_threshold_update", "both cases", [&] {
    Shape half{1, 2}, whole{1, 4};
    expectSame(
        function(half, whole,
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
      EXPECT_EQ(point.getParametersAttr().getGridThreshold(),
                with[point.getPointName().str()])
          << point.getPointName().str();
    });
  });
}
