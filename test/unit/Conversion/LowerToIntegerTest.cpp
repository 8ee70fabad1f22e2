// SPDX-License-Identifier: Apache-2.0
//
// The integer network computes what the simulated one does: both are run on
// the same samples, and every output is the very same number.
#include "../Execution/Fixture.h"
#include "../Execution/ReferenceEvaluator.h"
#include "mct/Conversion/Encoding.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/UniqueVector.h"

#include <set>

using namespace mct::execution;

/// What a point has.
static std::string powerOfTwo(double threshold, unsigned bits = 8,
                              bool isSigned = true) {
  std::string text = "parameters(#tpc.power_of_two<threshold = [" +
                     std::to_string(threshold) +
                     "], bits = " + std::to_string(bits);
  if (!isSigned)
    text += ", is_signed = false";
  return text + ", rounding = half_up>)";
}

/// A quantized value.
static std::string point(const std::string &result, const std::string &input,
                         const std::string &type,
                         const std::string &parameters) {
  return "%" + result + " = tpc.quantize %" + input + " as \"" + result +
         "\" activation " + parameters + " : " + type + "\n";
}

/// A kernel on the grid of one threshold for each of `channels` channels along
/// `axis`; of 8 bits, or fewer.
static std::string kernel(const std::string &name,
                          llvm::ArrayRef<int64_t> shape, int64_t axis,
                          unsigned seed, unsigned bits = 8) {
  std::string thresholds;
  for (int64_t i = 0; i < shape[axis]; ++i)
    thresholds += (i ? ", " : "") + std::to_string(i % 3 == 0 ? 1.0 : 0.5);
  return constant(name + "_floats", shape, seed) + "%" + name +
         " = tpc.quantize %" + name + "_floats as \"" + name +
         "\" weight \"kernel_attr\" axes [" + std::to_string(axis) +
         "] parameters(#tpc.power_of_two<threshold = [" + thresholds +
         "], bits = " + std::to_string(bits) + ">) : " + tensorType(shape) +
         "\n";
}

/// Biases that are multiples of every accumulator's unit here.
static std::string bias(const std::string &name, int64_t count) {
  Floats values;
  for (int64_t i = 0; i < count; ++i)
    values.push_back(float((i * 37) % 23 - 11) / 64);
  return constant(name, {count}, values);
}

static const char *const kShift =
    "%shift = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
    "tensor<1xi8>\n";

static std::string shapeConstant(const std::string &name,
                                 llvm::ArrayRef<int64_t> sizes) {
  std::string values;
  for (int64_t size : sizes)
    values += (values.empty() ? "" : ", ") + std::to_string(size);
  std::string rank = std::to_string(sizes.size());
  return "%" + name + " = tosa.const_shape {values = dense<[" + values +
         "]> : tensor<" + rank + "xindex>} : () -> !tosa.shape<" + rank + ">\n";
}

namespace {
/// Counts how often encodings are compared.
struct CountedEncoding : mct::Encoding {
  bool operator<(const CountedEncoding &other) const {
    ++numComparisons;
    return Encoding::operator<(other);
  }
  static size_t numComparisons;
};
size_t CountedEncoding::numComparisons = 0;
} // namespace

// The lowering numbers encodings by such a vector. One after the other would be
// 4000 * 3999 / 2 comparisons.
TEST(Encodings, ManyAreFoundWithFewComparisons) {
  constexpr unsigned kCount = 4000;
  auto create = [](unsigned number) {
    CountedEncoding encoding;
    // Each member tells some of them apart.
    encoding.scale = 1 + number / 16;
    encoding.zeroPoint = number % 2;
    encoding.low = -int64_t(number / 2 % 2);
    encoding.high = number / 4 % 2;
    encoding.storageBits = number / 8 % 2 ? 8 : 16;
    return encoding;
  };
  llvm::UniqueVector<CountedEncoding> encodings;
  for (unsigned number = 0; number != kCount; ++number)
    EXPECT_EQ(encodings.insert(create(number)), number + 1);
  EXPECT_LE(CountedEncoding::numComparisons, size_t(kCount) * 2 * 13);
  for (unsigned number = 0; number != kCount; ++number)
    EXPECT_EQ(encodings.idFor(create(number)), number + 1);
}

namespace {
class LowerToInteger : public ExecutionTest {
protected:
  LowerToInteger() {
    mlir::DialectRegistry more;
    mct::registerAllMctPasses();
    context.appendDialectRegistry(more);
  }

  bool run(mlir::ModuleOp network, const std::string &pipeline) {
    mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
    return succeeded(mlir::parsePassPipeline(pipeline, passes)) &&
           succeeded(passes.run(network));
  }

  /// The integer network of one, or null.
  mlir::OwningOpRef<mlir::ModuleOp> lower(const std::string &text,
                                          const std::string &options = "") {
    auto integers = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!integers) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n") << "\n" << text;
      return nullptr;
    }
    if (!run(*integers, "mct-lower-to-integer{" + options + "}")) {
      ADD_FAILURE() << llvm::join(diagnostics, "\n") << "\n" << text;
      return nullptr;
    }
    return integers;
  }

  /// Runs both networks; `inputs` fit to the arguments. Ends with a failure
  /// unless all outputs are equal, or differ by at most `tolerance`.
  void expectSame(const std::string &body, llvm::ArrayRef<Floats> inputs,
                  const std::string &options = "", double tolerance = 0) {
    std::string text = "func.func @main" + body;
    CompileOptions keep;
    keep.keepTypes = true;
    auto simulation = compile(text, keep);
    ASSERT_TRUE(simulation) << llvm::join(diagnostics, "\n") << text;
    diagnostics.clear();
    auto integers = lower(text, options);
    ASSERT_TRUE(integers);
    // Nothing stays float.
    EXPECT_EQ(llvm::join(diagnostics, "\n"), "") << text;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<Floats> expected = runOutputs(*simulation, inputs);
    std::vector<Floats> results = runOutputs(**executor, inputs);
    ASSERT_EQ(expected.size(), results.size());
    for (size_t output = 0; output != expected.size(); ++output) {
      size_t numDifferent = 0, first = 0;
      // An output that is the same everywhere shows nothing.
      EXPECT_TRUE(expected[output].size() <= 3 ||
                  !llvm::all_equal(expected[output]))
          << text;
      for (size_t i = 0; i != expected[output].size(); ++i) {
        if (std::abs(expected[output][i] - results[output][i]) <= tolerance)
          continue;
        if (numDifferent++ == 0)
          first = i;
      }
      EXPECT_EQ(numDifferent, 0u)
          << "of " << expected[output].size() << ", the first at " << first
          << ": " << expected[output][first] << " is " << results[output][first]
          << "\n"
          << text;
    }
  }

  /// The same by the evaluator, for points that the executor does not
  /// simulate, inside of other ops. All is exact.
  void expectEvaluated(const std::string &body, const Floats &input,
                       const std::string &options = "") {
    std::string text = "func.func @main" + body;
    auto network = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(network) << llvm::join(diagnostics, "\n") << text;
    auto function = *network->getOps<mlir::func::FuncOp>().begin();
    using mct::testing::ReferenceEvaluator;
    ReferenceEvaluator evaluator(function, /*simulate=*/true);
    auto argument =
        ReferenceEvaluator::zeros(function.getArgument(0).getType());
    for (auto [number, value] : llvm::zip_equal(argument.numbers, input))
      number.value = value;
    ASSERT_TRUE(evaluator.run(argument)) << evaluator.error << text;
    diagnostics.clear();
    auto integers = lower(text, options);
    ASSERT_TRUE(integers);
    EXPECT_EQ(llvm::join(diagnostics, "\n"), "") << text;
    CompileOptions keep;
    keep.keepTypes = true;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<Floats> results = runOutputs(**executor, {input});
    for (auto [result, value] : llvm::zip_equal(
             results, function.front().getTerminator()->getOperands()))
      for (auto [found, number] :
           llvm::zip_equal(result, evaluator[value].numbers)) {
        EXPECT_TRUE(number.isExact());
        ASSERT_EQ(found, number.value) << text;
      }
  }

  /// Ops of a kind in the integer network.
  template <typename Op> size_t count(mlir::ModuleOp network) {
    size_t number = 0;
    network.walk([&](Op) { ++number; });
    return number;
  }
};
} // namespace

/// Random samples for arguments of these shapes, in [-scale, scale).
static std::vector<Floats> samples(llvm::ArrayRef<std::vector<int64_t>> shapes,
                                   float scale = 4) {
  std::vector<Floats> all;
  for (auto [number, shape] : llvm::enumerate(shapes)) {
    all.push_back(randomFloats(elementCount(shape), unsigned(number) + 3));
    for (float &value : all.back())
      value *= scale;
  }
  return all;
}

/// Every code of two 8-bit grids with the steps, for arguments [256, 1] and [1,
/// 256].
static std::vector<Floats> allPairs(float stepA, float stepB,
                                    int first = -128) {
  std::vector<Floats> all(2);
  for (int code = first; code < first + 256; ++code) {
    all[0].push_back(float(code) * stepA);
    all[1].push_back(float(code) * stepB);
  }
  return all;
}

static const char *const kA = "tensor<256x1xf32>";
static const char *const kB = "tensor<1x256xf32>";
static const char *const kAB = "tensor<256x256xf32>";

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, ConvolutionsAndTheirClamps) {
  const char *type = "tensor<1x7x6x3xf32>", *to = "tensor<1x4x3x5xf32>";
  for (bool isSigned : {true, false})
    for (unsigned bits : {8u, 5u, 2u})
      for (const char *clamp :
           {"", "min_val = 0.0 : f32, max_val = 3.40282347E+38 : f32",
            "min_val = 0.0 : f32, max_val = 1.7 : f32",
            "min_val = -0.5 : f32, max_val = 0.8 : f32"}) {
        std::string text =
            std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
            point("in", "x", type, powerOfTwo(4, bits, isSigned)) +
            kernel("k", {5, 3, 2, 3}, 0, 7) + bias("b", 5) +
            "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
            "dilation = array<i64: 1, 2>, pad = array<i64: 1, 1, 0, 1>, stride "
            "= array<i64: 2, 2>} : (" +
            type +
            ", tensor<5x3x2x3xf32>, tensor<5xf32>, tensor<1xf32>, "
            "tensor<1xf32>) -> " +
            to + "\n";
        std::string last = "0";
        if (*clamp) {
          text += std::string("%1 = tosa.clamp %0 {") + clamp + "} : (" + to +
                  ") -> " + to + "\n";
          last = "1";
        }
        text +=
            point("out", last, to, powerOfTwo(2, bits, isSigned && !*clamp)) +
            "return %out : " + to + "\n}\n";
        expectSame(text, samples({{1, 7, 6, 3}}));
      }
}

TEST_F(LowerToInteger, OtherConvolutions) {
  std::string in = "tensor<1x5x6x4xf32>";
  auto network = [&](const std::string &kernelText, const std::string &op,
                     const std::string &from, const std::string &to,
                     int64_t outputs) {
    return "(%x: " + from + ") -> " + to + " {\n" + kZero +
           point("in", "x", from, powerOfTwo(4)) + kernelText +
           bias("b", outputs) + "%0 = " + op + " -> " + to + "\n" +
           point("out", "0", to, powerOfTwo(4)) + "return %out : " + to +
           "\n}\n";
  };
  // A depthwise kernel [KH, KW, C, 1] with scales along C.
  expectSame(
      network(kernel("k", {3, 3, 4, 1}, 2, 5),
              "tosa.depthwise_conv2d %in, %k, %b, %zero, %zero {acc_type = "
              "f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, "
              "1>, stride = array<i64: 1, 1>} : (tensor<1x5x6x4xf32>, "
              "tensor<3x3x4x1xf32>, tensor<4xf32>, tensor<1xf32>, "
              "tensor<1xf32>)",
              in, in, 4),
      samples({{1, 5, 6, 4}}));
  expectSame(
      network(kernel("k", {3, 3, 2, 4}, 0, 5),
              "tosa.transpose_conv2d %in, %k, %b, %zero, %zero {acc_type = "
              "f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, "
              "2>} : (tensor<1x5x6x4xf32>, tensor<3x3x2x4xf32>, "
              "tensor<3xf32>, tensor<1xf32>, tensor<1xf32>)",
              in, "tensor<1x11x12x3xf32>", 3),
      samples({{1, 5, 6, 4}}));
}

TEST_F(LowerToInteger, MatrixProducts) {
  // With a constant: a convolution, with the bias inside.
  std::string text =
      std::string("(%x: tensor<1x6x8xf32>) -> tensor<1x6x5xf32> {\n") + kZero +
      point("in", "x", "tensor<1x6x8xf32>", powerOfTwo(4)) +
      kernel("k", {1, 8, 5}, 2, 5) +
      constant("wide", {1, 1, 5}, Floats{0.5f, -0.25f, 0, 1, 0.125f}) +
      "%0 = tosa.matmul %in, %k, %zero, %zero : (tensor<1x6x8xf32>, "
      "tensor<1x8x5xf32>, tensor<1xf32>, tensor<1xf32>) -> "
      "tensor<1x6x5xf32>\n"
      "%1 = tosa.add %0, %wide : (tensor<1x6x5xf32>, tensor<1x1x5xf32>) -> "
      "tensor<1x6x5xf32>\n" +
      point("out", "1", "tensor<1x6x5xf32>", powerOfTwo(4)) +
      "return %out : tensor<1x6x5xf32>\n}\n";
  expectSame(text, samples({{1, 6, 8}}));
  auto integers = lower("func.func @main" + text);
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::Conv2DOp>(*integers), 1u);
  EXPECT_EQ(count<mlir::tosa::RescaleOp>(*integers), 1u);
  // Of two values, one unsigned.
  expectSame(std::string("(%x: tensor<2x6x8xf32>, %y: tensor<2x8x5xf32>) -> "
                         "tensor<2x6x5xf32> {\n") +
                 kZero + point("a", "x", "tensor<2x6x8xf32>", powerOfTwo(4)) +
                 point("b", "y", "tensor<2x8x5xf32>", powerOfTwo(4, 8, false)) +
                 "%0 = tosa.matmul %a, %b, %zero, %zero : (tensor<2x6x8xf32>, "
                 "tensor<2x8x5xf32>, tensor<1xf32>, tensor<1xf32>) -> "
                 "tensor<2x6x5xf32>\n" +
                 point("out", "0", "tensor<2x6x5xf32>", powerOfTwo(32)) +
                 "return %out : tensor<2x6x5xf32>\n}\n",
             samples({{2, 6, 8}, {2, 8, 5}}), "batch=0");
}

TEST_F(LowerToInteger, KernelsOfFourBits) {
  for (const char *options : {"", "extensions=int4"}) {
    const char *type = "tensor<1x4x4x3xf32>", *to = "tensor<1x4x4x5xf32>";
    std::string text =
        std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
        point("in", "x", type, powerOfTwo(4)) +
        kernel("k", {5, 1, 1, 3}, 0, 19, 4) + bias("b", 5) +
        "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation "
        "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
        "array<i64: 1, 1>} : (" +
        type +
        ", tensor<5x1x1x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) "
        "-> " +
        to + "\n" + point("out", "0", to, powerOfTwo(4)) +
        "return %out : " + to + "\n}\n";
    auto integers = lower("func.func @main" + text, options);
    ASSERT_TRUE(integers);
    integers->walk([&](mlir::tosa::Conv2DOp op) {
      mlir::Type element = mlir::getElementTypeOrSelf(op.getWeight().getType());
      // This one holds -8.
      EXPECT_TRUE(element.isInteger(8));
    });
  }
}

TEST_F(LowerToInteger, KernelsOfTables) {
  const char *type = "tensor<1x4x4x3xf32>", *to = "tensor<1x4x4x2xf32>";
  expectSame(
      std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
          point("in", "x", type, powerOfTwo(4)) +
          constant("k_floats", {2, 1, 1, 3}, 19) +
          "%k = tpc.quantize %k_floats as \"k\" weight \"kernel_attr\" axes "
          "[0] parameters(#tpc.lookup_table<method = lut_pot_quantizer, "
          "threshold = [1.0, 0.5], table = [-128, -64, 3, 32], bits = 2>) : "
          "tensor<2x1x1x3xf32>\n" +
          bias("b", 2) +
          "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
          "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride "
          "= array<i64: 1, 1>} : (" +
          type +
          ", tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, "
          "tensor<1xf32>) -> " +
          to + "\n" + point("out", "0", to, powerOfTwo(4)) +
          "return %out : " + to + "\n}\n",
      samples({{1, 4, 4, 3}}));
}

//===----------------------------------------------------------------------===//
// Two operands, all pairs of codes
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, SumsOfAllPairs) {
  for (const char *op : {"add", "sub"})
    for (auto [a, b, out] : {std::tuple{1.0, 1.0, 2.0},
                             {4.0, 1.0, 4.0},
                             {0.5, 8.0, 1.0},
                             {1.0, 1.0, 0.25},
                             {1.0, 1024.0, 2.0}}) {
      std::string text = std::string("(%x: ") + kA + ", %y: " + kB + ") -> " +
                         kAB + " {\n" + point("a", "x", kA, powerOfTwo(a)) +
                         point("b", "y", kB, powerOfTwo(b)) + "%0 = tosa." +
                         op + " %a, %b : (" + kA + ", " + kB + ") -> " + kAB +
                         "\n" + point("out", "0", kAB, powerOfTwo(out)) +
                         "return %out : " + kAB + "\n}\n";
      expectSame(text, allPairs(float(a) / 128, float(b) / 128), "batch=0");
    }
}

TEST_F(LowerToInteger, SumsOfUnsignedAndNarrowCodes) {
  expectSame(std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB +
                 " {\n" + point("a", "x", kA, powerOfTwo(2, 8, false)) +
                 point("b", "y", kB, powerOfTwo(4, 4)) +
                 "%0 = tosa.add %a, %b : (" + kA + ", " + kB + ") -> " + kAB +
                 "\n" + point("out", "0", kAB, powerOfTwo(4, 6)) +
                 "return %out : " + kAB + "\n}\n",
             allPairs(2.0f / 256, 4.0f / 128, 0), "batch=0");
}

TEST_F(LowerToInteger, SumsWithFreeScales) {
  // The exact sum is as near to a code as the sum of what the rescale of the
  // finer operand rounds to 2^-19 of a step: one step at a tie.
  auto symmetric = [](double threshold) {
    return "parameters(#tpc.symmetric<threshold = [" +
           std::to_string(threshold) + "], bits = 8, rounding = half_up>)";
  };
  expectSame(std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB +
                 " {\n" + point("a", "x", kA, symmetric(1.3)) +
                 point("b", "y", kB, symmetric(0.7)) +
                 "%0 = tosa.add %a, %b : (" + kA + ", " + kB + ") -> " + kAB +
                 "\n" + point("out", "0", kAB, symmetric(1.9)) +
                 "return %out : " + kAB + "\n}\n",
             allPairs(1.3f / 128, 0.7f / 128), "batch=0");
}

TEST_F(LowerToInteger, ProductsAndExtremesOfAllPairs) {
  for (const char *op : {"mul", "maximum", "minimum"})
    for (double out : {1.0, 4.0}) {
      std::string text =
          std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB + " {\n" +
          kShift + point("a", "x", kA, powerOfTwo(2)) +
          point("b", "y", kB, powerOfTwo(1)) + "%0 = tosa." + op + " %a, %b" +
          (op[1] == 'u' ? ", %shift : (" : " : (") + kA + ", " + kB +
          (op[1] == 'u' ? ", tensor<1xi8>" : "") + ") -> " + kAB + "\n" +
          point("out", "0", kAB, powerOfTwo(out)) + "return %out : " + kAB +
          "\n}\n";
      expectSame(text, allPairs(2.0f / 128, 1.0f / 128), "batch=0");
    }
}

TEST_F(LowerToInteger, HalfEvenIsThatOfTheSimulation) {
  std::string parameters = "parameters(#tpc.power_of_two<threshold = [2.0], "
                           "bits = 8>)";
  std::string finer = "parameters(#tpc.power_of_two<threshold = [0.5], bits = "
                      "8>)";
  expectSame(
      std::string("(%x: ") + kA + ", %y: " + kB + ") -> " + kAB + " {\n" +
          point("a", "x", kA, finer) + point("b", "y", kB, finer) +
          "%0 = tosa.add %a, %b : (" + kA + ", " + kB + ") -> " + kAB + "\n" +
          point("out", "0", kAB, parameters) + "return %out : " + kAB + "\n}\n",
      allPairs(0.5f / 128, 0.5f / 128), "batch=0 rounding=half-even");
}

//===----------------------------------------------------------------------===//
// One operand, all codes
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, TablesOfEveryFunction) {
  auto network = [&](const std::string &ops) {
    return std::string("(%x: ") + kA + ") -> " + kA + " {\n" + kShift +
           "%two = \"tosa.const\"() <{values = dense<2.0> : "
           "tensor<1x1xf32>}> : () -> tensor<1x1xf32>\n" +
           point("in", "x", kA, powerOfTwo(4)) + ops +
           point("out", "r", kA, powerOfTwo(2)) + "return %out : " + kA +
           "\n}\n";
  };
  std::string unary = std::string(" : (") + kA + ") -> " + kA + "\n";
  std::string two =
      std::string(" : (") + kA + ", tensor<1x1xf32>) -> " + kA + "\n";
  std::string twoShift = std::string(" : (") + kA +
                         ", tensor<1x1xf32>, tensor<1xi8>) -> " + kA + "\n";
  std::string both =
      std::string(" : (") + kA + ", " + kA + ", tensor<1xi8>) -> " + kA + "\n";
  for (const char *op :
       {"sigmoid", "tanh", "erf", "exp", "abs", "ceil", "floor"})
    expectSame(network(std::string("%r = tosa.") + op + " %in" + unary),
               allPairs(4.0f / 128, 1), "batch=0");
  // A leaky ReLU, x * sigmoid(x) and a hard swish.
  expectSame(network("%s = tosa.mul %in, %two, %shift" + twoShift +
                     "%r = tosa.maximum %s, %in" + std::string(" : (") + kA +
                     ", " + kA + ") -> " + kA + "\n"),
             allPairs(4.0f / 128, 1), "batch=0");
  expectSame(network("%s = tosa.sigmoid %in" + unary +
                     "%r = tosa.mul %in, %s, %shift" + both),
             allPairs(4.0f / 128, 1), "batch=0");
  expectSame(network("%s = tosa.add %in, %two" + two +
                     "%c = tosa.clamp %s {min_val = 0.0 : f32, max_val = 4.0 "
                     ": f32}" +
                     unary + "%r = tosa.mul %in, %c, %shift" + both),
             allPairs(4.0f / 128, 1), "batch=0");
  auto integers =
      lower("func.func @main" + network("%r = tosa.tanh %in" + unary),
            "io=integer batch=0");
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::TableOp>(*integers), 1u);
  EXPECT_EQ(count<mlir::tosa::RescaleOp>(*integers), 0u);
}

// Everything under one key would be tried one number after the other, and stay
// in memory.
TEST_F(LowerToInteger, TablesHaveTheOnlyResources) {
  constexpr size_t kTables = 40;
  const std::string type = "tensor<1x8xf32>";
  std::string text = "(%x: " + type + ") -> " + type + " {\n" +
                     point("p0", "x", type, powerOfTwo(1));
  for (size_t number = 1; number <= kTables; ++number) {
    std::string at = std::to_string(number);
    text += "%t" + at + " = tosa.tanh %p" + std::to_string(number - 1) +
            " : (" + type + ") -> " + type + "\n" +
            point("p" + at, "t" + at, type, powerOfTwo(1));
  }
  text += "return %p" + std::to_string(kTables) + " : " + type + "\n}\n";
  auto integers = lower("func.func @main" + text, "io=integer");
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::TableOp>(*integers), kTables);
  std::set<std::string> expected, found;
  for (size_t number = 1; number <= kTables; ++number)
    expected.insert("p" + std::to_string(number) + "/integer");
  mlir::DenseResourceElementsHandle::getManagerInterface(&context)
      .getBlobManager()
      .getBlobMap([&](const auto &blobs) {
        for (const auto &blob : blobs)
          found.insert(blob.getKey().str());
      });
  EXPECT_EQ(found, expected);
}

TEST_F(LowerToInteger, FactorsOfEveryChannel) {
  std::string type = "tensor<1x16x16x4xf32>";
  for (bool isSum : {false, true})
    for (const Floats &factors :
         {Floats{0.25f, -0.5f, 0, 1.375f}, Floats{-3, -3, -3, -3}}) {
      std::string text = "(%x: " + type + ") -> " + type + " {\n" + kShift +
                         constant("factor", {1, 1, 1, 4}, factors) +
                         point("in", "x", type, powerOfTwo(4));
      if (isSum)
        text += "%y = tosa.add %in, %in : (" + type + ", " + type + ") -> " +
                type + "\n";
      expectSame(text + "%p = tosa.mul %" + (isSum ? "y" : "in") +
                     ", %factor, %shift : (" + type +
                     ", tensor<1x1x1x4xf32>, tensor<1xi8>) -> " + type + "\n" +
                     point("out", "p", type, powerOfTwo(4)) +
                     "return %out : " + type + "\n}\n",
                 samples({{1, 16, 16, 4}}));
    }
}

TEST_F(LowerToInteger, SlopesOfEveryChannel) {
  // Of a stored value, all codes; of sums; slopes of both signs, and 0.
  std::string from = "tensor<1x16x16x1xf32>", to = "tensor<1x16x16x5xf32>",
              slopes = "tensor<1x1x1x5xf32>";
  auto network = [&](const std::string &y, const std::string &inner) {
    return "(%x: " + from + ") -> " + to + " {\n" + kZero + kShift +
           constant("slope", {1, 1, 1, 5},
                    Floats{0.25f, -0.5f, 0, 1.375f, -2}) +
           "%nought = \"tosa.const\"() <{values = dense<0.0> : "
           "tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>\n" +
           point("in", "x", from, powerOfTwo(4)) +
           kernel("k", {5, 1, 1, 1}, 0, 7) + bias("b", 5) +
           "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
           "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride "
           "= array<i64: 1, 1>} : (" +
           from +
           ", tensor<5x1x1x1xf32>, tensor<5xf32>, tensor<1xf32>, "
           "tensor<1xf32>) -> " +
           to + "\n" + inner + "%p = tosa.mul %" + y + ", %slope, %shift : (" +
           to + ", " + slopes + ", tensor<1xi8>) -> " + to +
           "\n%c = tosa.greater_equal %" + y + ", %nought : (" + to +
           ", tensor<1x1x1x1xf32>) -> tensor<1x16x16x5xi1>\n"
           "%r = tosa.select %c, %" +
           y + ", %p : (tensor<1x16x16x5xi1>, " + to + ", " + to + ") -> " +
           to + "\n" + point("out", "r", to, powerOfTwo(2)) +
           "return %out : " + to + "\n}\n";
  };
  std::vector<Floats> codes = {allPairs(4.0f / 128, 1)[0]};
  expectSame(network("y", point("y", "0", to, powerOfTwo(4))), codes);
  expectSame(network("0", ""), codes);
}

//===----------------------------------------------------------------------===//
// Reductions and pools
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, Pools) {
  struct Case {
    const char *attributes, *to;
  };
  std::vector<Floats> inputs = samples({{1, 8, 8, 3}});
  for (size_t i = 0; i != inputs[0].size(); ++i)
    inputs[0][i] *= float(1 + i % 3) / 6;
  for (const char *op : {"avg_pool2d", "max_pool2d"})
    for (bool isSigned : {true, false})
      for (double threshold : {4.0, 2.0})
        for (auto [attributes, to] :
             {Case{"kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, "
                   "stride = array<i64: 2, 2>",
                   "tensor<1x4x4x3xf32>"},
              Case{"kernel = array<i64: 3, 2>, pad = array<i64: 0, 0, 0, 0>, "
                   "stride = array<i64: 1, 2>",
                   "tensor<1x6x4x3xf32>"},
              Case{"kernel = array<i64: 8, 8>, pad = array<i64: 0, 0, 0, 0>, "
                   "stride = array<i64: 8, 8>",
                   "tensor<1x1x1x3xf32>"},
              Case{"kernel = array<i64: 4, 4>, pad = array<i64: 2, 1, 1, 2>, "
                   "stride = array<i64: 1, 1>",
                   "tensor<1x8x8x3xf32>"}}) {
          bool isMean = op[0] == 'a';
          std::string from = "tensor<1x8x8x3xf32>";
          expectSame(
              "(%x: " + from + ") -> " + to + " {\n" + kZero +
                  point("in", "x", from, powerOfTwo(4, 8, isSigned)) +
                  "%0 = tosa." + op + " %in" +
                  (isMean ? ", %zero, %zero {acc_type = f32, " : " {") +
                  attributes + "} : (" + from +
                  (isMean ? ", tensor<1xf32>, tensor<1xf32>" : "") + ") -> " +
                  to + "\n" +
                  point("out", "0", to, powerOfTwo(threshold, 8, isSigned)) +
                  "return %out : " + to + "\n}\n",
              inputs);
        }
}

TEST_F(LowerToInteger, MeansOfWholeImagesWhoseSizesAreNoPowersOfTwo) {
  // Sums of every size, so that many means lie halfway between two codes.
  std::vector<Floats> inputs = samples({{1, 3, 2, 600}});
  for (size_t i = 0; i != inputs[0].size(); ++i)
    inputs[0][i] *= float(1 + i % 600) / 400;
  for (bool isSigned : {true, false})
    for (double threshold : {16.0, 4.0, 1.0, 0.125, 0.03125})
      expectSame(
          "(%x: tensor<1x3x2x600xf32>) -> tensor<1x1x1x600xf32> {\n" +
              std::string(kZero) +
              point("in", "x", "tensor<1x3x2x600xf32>",
                    powerOfTwo(4, 8, isSigned)) +
              "%0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, kernel "
              "= array<i64: 3, 2>, pad = array<i64: 0, 0, 0, 0>, stride = "
              "array<i64: 1, 1>} : (tensor<1x3x2x600xf32>, tensor<1xf32>, "
              "tensor<1xf32>) -> tensor<1x1x1x600xf32>\n" +
              point("out", "0", "tensor<1x1x1x600xf32>",
                    powerOfTwo(threshold, 8, isSigned)) +
              "return %out : tensor<1x1x1x600xf32>\n}\n",
          inputs);
}

TEST_F(LowerToInteger, MeansWithStepsOfAnyRatio) {
  // What passes halves on the right side would move what is no half.
  std::string type = "tensor<1x16x16x8xf32>";
  expectSame("(%x: " + type + ") -> " + type + " {\n" + kZero +
                 point("in", "x", type,
                       "parameters(#tpc.symmetric<threshold = [0.874], bits = "
                       "8, rounding "
                       "= half_up>)") +
                 "%0 = tosa.avg_pool2d %in, %zero, %zero {acc_type = f32, "
                 "kernel = array<i64: 1, 2>, pad = array<i64: 0, 0, 1, 0>, "
                 "stride = array<i64: 1, 1>} : (" +
                 type + ", tensor<1xf32>, tensor<1xf32>) -> " + type + "\n" +
                 point("out", "0", type,
                       "parameters(#tpc.symmetric<threshold = [0.384], bits = "
                       "8, rounding "
                       "= half_up>)") +
                 "return %out : " + type + "\n}\n",
             samples({{1, 16, 16, 8}}));
}

TEST_F(LowerToInteger, MeanIsOneSum) {
  std::string text =
      std::string("(%x: tensor<1x8x4x3xf32>) -> tensor<1x3xf32> {\n") + kShift +
      "%n = \"tosa.const\"() <{values = dense<0.03125> : "
      "tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>\n" +
      shapeConstant("flat", {1, 3}) +
      point("in", "x", "tensor<1x8x4x3xf32>", powerOfTwo(4)) +
      "%0 = tosa.reduce_sum %in {axis = 1 : i32} : (tensor<1x8x4x3xf32>) -> "
      "tensor<1x1x4x3xf32>\n"
      "%1 = tosa.reduce_sum %0 {axis = 2 : i32} : (tensor<1x1x4x3xf32>) -> "
      "tensor<1x1x1x3xf32>\n"
      "%2 = tosa.mul %1, %n, %shift : (tensor<1x1x1x3xf32>, "
      "tensor<1x1x1x1xf32>, tensor<1xi8>) -> tensor<1x1x1x3xf32>\n"
      "%3 = tosa.reshape %2, %flat : (tensor<1x1x1x3xf32>, !tosa.shape<2>) -> "
      "tensor<1x3xf32>\n" +
      point("out", "3", "tensor<1x3xf32>", powerOfTwo(1)) +
      "return %out : tensor<1x3xf32>\n}\n";
  expectSame(text, samples({{1, 8, 4, 3}}));
  auto integers = lower("func.func @main" + text);
  ASSERT_TRUE(integers);
  EXPECT_EQ(count<mlir::tosa::ReduceSumOp>(*integers), 1u);
}

//===----------------------------------------------------------------------===//
// What moves values
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, WhatMovesCodes) {
  std::string in = "tensor<1x4x4x2xf32>";
  auto network = [&](const std::string &ops, const std::string &to,
                     bool isSigned, double threshold = 2) {
    return "(%x: " + in + ") -> " + to + " {\n" +
           point("in", "x", in, powerOfTwo(2, 8, isSigned)) + ops +
           point("out", "r", to, powerOfTwo(threshold, 8, isSigned)) +
           "return %out : " + to + "\n}\n";
  };
  for (bool isSigned : {true, false})
    for (double threshold : {2.0, 1.0}) {
      std::vector<Floats> inputs = samples({{1, 4, 4, 2}}, 2);
      expectSame(network(shapeConstant("s", {1, 32}) +
                             "%r = tosa.reshape %in, %s : (" + in +
                             ", !tosa.shape<2>) -> tensor<1x32xf32>\n",
                         "tensor<1x32xf32>", isSigned, threshold),
                 inputs);
      expectSame(network("%r = tosa.transpose %in {perms = array<i32: 0, 3, 1, "
                         "2>} : (" +
                             in + ") -> tensor<1x2x4x4xf32>\n",
                         "tensor<1x2x4x4xf32>", isSigned, threshold),
                 inputs);
      expectSame(network(shapeConstant("s", {0, 1, 0, 0}) +
                             shapeConstant("n", {1, 2, 4, 1}) +
                             "%r = tosa.slice %in, %s, %n : (" + in +
                             ", !tosa.shape<4>, !tosa.shape<4>) -> "
                             "tensor<1x2x4x1xf32>\n",
                         "tensor<1x2x4x1xf32>", isSigned, threshold),
                 inputs);
      expectSame(network(shapeConstant("s", {0, 0, 1, 2, 0, 1, 1, 0}) +
                             "%f = \"tosa.const\"() <{values = dense<0.3> : "
                             "tensor<1xf32>}> : () -> tensor<1xf32>\n"
                             "%r = tosa.pad %in, %s, %f : (" +
                             in +
                             ", !tosa.shape<8>, tensor<1xf32>) -> "
                             "tensor<1x7x5x3xf32>\n",
                         "tensor<1x7x5x3xf32>", isSigned, threshold),
                 inputs);
      expectSame(network("%h = tosa.reverse %in {axis = 1 : i32} : (" + in +
                             ") -> " + in + "\n" +
                             point("q", "h", in, powerOfTwo(1)) +
                             "%r = tosa.concat %in, %q {axis = 3 : i32} : (" +
                             in + ", " + in + ") -> tensor<1x4x4x4xf32>\n",
                         "tensor<1x4x4x4xf32>", isSigned, threshold),
                 inputs);
      expectSame(network("%r = tosa.reduce_max %in {axis = 2 : i32} : (" + in +
                             ") -> tensor<1x4x1x2xf32>\n",
                         "tensor<1x4x1x2xf32>", isSigned, threshold),
                 inputs);
    }
}

TEST_F(LowerToInteger, Resizes) {
  for (bool isSigned : {true, false})
    for (auto [mode, offset, border] : {std::tuple{"NEAREST_NEIGHBOR", 0, 2},
                                        {"BILINEAR", -1, 1},
                                        {"BILINEAR", 0, 2}})
      expectSame(
          std::string("(%x: tensor<1x4x5x3xf32>) -> tensor<1x8x10x3xf32> {\n") +
              shapeConstant("s", {4, 2, 4, 2}) +
              shapeConstant("o", {offset, offset}) +
              shapeConstant("b", {border, border}) +
              point("in", "x", "tensor<1x4x5x3xf32>",
                    powerOfTwo(2, 8, isSigned)) +
              "%0 = tosa.resize %in, %s, %o, %b {mode = " + mode +
              "} : (tensor<1x4x5x3xf32>, !tosa.shape<4>, !tosa.shape<2>, "
              "!tosa.shape<2>) -> tensor<1x8x10x3xf32>\n" +
              point("out", "0", "tensor<1x8x10x3xf32>",
                    powerOfTwo(2, 8, isSigned)) +
              "return %out : tensor<1x8x10x3xf32>\n}\n",
          samples({{1, 4, 5, 3}}, 2));
}

// Sums of 9 or 12 values that are the same one, halfway between two codes.
TEST_F(LowerToInteger, ResizesWithMiddlesByNoPowersOfTwo) {
  const std::string type = "tensor<1x1x1x256xf32>";
  Floats codes;
  for (int code = -128; code != 128; ++code)
    codes.push_back(float(code) / 128);
  for (int64_t factor : {3, 4})
    for (double threshold : {2.0, 1.0})
      expectSame("(%x: " + type + ") -> " + type + " {\n" +
                     point("in", "x", type, powerOfTwo(1)) +
                     shapeConstant("scale", {factor, 1, 3, 1}) +
                     shapeConstant("none", {0, 0}) +
                     "%0 = tosa.resize %in, %scale, %none, %none {mode = "
                     "BILINEAR} : (" +
                     type +
                     ", !tosa.shape<4>, !tosa.shape<2>, "
                     "!tosa.shape<2>) -> " +
                     type + "\n" +
                     point("out", "0", type, powerOfTwo(threshold)) +
                     "return %out : " + type + "\n}\n",
                 {codes});
}

TEST_F(LowerToInteger, SoftmaxIsWithinOneStep) {
  std::string type = "tensor<8x40xf32>", sum = "tensor<8x1xf32>";
  // The quotient of rounded exponentials is off by less than 2^-14, so that
  // only values that near to the middle of two codes take the other one.
  expectSame("(%x: " + type + ") -> " + type + " {\n" + kShift +
                 point("in", "x", type, powerOfTwo(8)) +
                 "%m = tosa.reduce_max %in {axis = 1 : i32} : (" + type +
                 ") -> " + sum + "\n%d = tosa.sub %in, %m : (" + type + ", " +
                 sum + ") -> " + type + "\n%e = tosa.exp %d : (" + type +
                 ") -> " + type +
                 "\n%s = tosa.reduce_sum %e {axis = 1 : i32} : (" + type +
                 ") -> " + sum + "\n%i = tosa.reciprocal %s : (" + sum +
                 ") -> " + sum + "\n%p = tosa.mul %e, %i, %shift : (" + type +
                 ", " + sum + ", tensor<1xi8>) -> " + type + "\n" +
                 point("out", "p", type, powerOfTwo(1, 8, false)) +
                 "return %out : " + type + "\n}\n",
             samples({{8, 40}}, 8), "batch=0 softmax=integer", 1.0 / 256);
}

/// A layer norm of rows of `count` values; its only point lies behind it.
static std::string layerNorm(int64_t rows, int64_t count, double epsilon,
                             const std::string &gain, const std::string &offset,
                             const std::string &input,
                             const std::string &output) {
  std::string type = tensorType({rows, count}), sum = tensorType({rows, 1}),
              one = tensorType({1, 1});
  auto binary = [&](const char *result, const char *op, const char *a,
                    const char *b, const std::string &left,
                    const std::string &right, const std::string &to) {
    bool isMul = std::string(op) == "mul";
    return "%" + std::string(result) + " = tosa." + op + " %" + a + ", %" + b +
           (isMul ? ", %shift : (" : " : (") + left + ", " + right +
           (isMul ? ", tensor<1xi8>" : "") + ") -> " + to + "\n";
  };
  return "(%x: " + type + ") -> " + type + " {\n" + kShift +
         constant("n", {1, 1}, Floats{float(1.0 / double(count))}) +
         constant("e", {1, 1}, Floats{float(epsilon)}) + gain + offset +
         point("in", "x", type, input) +
         "%s = tosa.reduce_sum %in {axis = 1 : i32} : (" + type + ") -> " +
         sum + "\n" + binary("m", "mul", "s", "n", sum, one, sum) +
         binary("d", "sub", "in", "m", type, sum, type) +
         binary("q", "mul", "d", "d", type, type, type) +
         "%t = tosa.reduce_sum %q {axis = 1 : i32} : (" + type + ") -> " + sum +
         "\n" + binary("v", "mul", "t", "n", sum, one, sum) +
         binary("w", "add", "v", "e", sum, one, sum) +
         "%r = tosa.rsqrt %w : (" + sum + ") -> " + sum + "\n" +
         binary("y", "mul", "d", "r", type, sum, type) +
         binary("z", "mul", "y", "g", type, tensorType({1, count}), type) +
         binary("o", "add", "z", "b", type, tensorType({1, count}), type) +
         point("out", "o", type, output) + "return %out : " + type + "\n}\n";
}

// Against the formula in double. The codes may only be others where the bound
// that the pass states reaches the middle between two.
TEST_F(LowerToInteger, LayerNormsAreWithinTheirBound) {
  constexpr int64_t kRows = 24, kZero = 37, kOutputZero = 120;
  constexpr double kStep = 0.013, kOutputStep = 0.031;
  for (int64_t count : {2, 8, 33, 64, 768, 2048})
    for (double epsilon : {0.0, 1e-5, 0.1}) {
      Floats gain = randomFloats(count, 5), offset = randomFloats(count, 6);
      // Negative ones are there; none, too.
      gain[count / 2] = 0;
      std::string text = layerNorm(
          kRows, count, epsilon, constant("g", {1, count}, gain),
          constant("b", {1, count}, offset),
          "parameters(#tpc.uniform<scale = [0.013], zero_point = [37], bits = "
          "8, rounding = half_up>)",
          "parameters(#tpc.uniform<scale = [0.031], zero_point = [120], bits "
          "= 8, rounding = half_up>)");
      // Rows from all alike to all codes there are.
      Floats input, spread = randomFloats(kRows * count, 7);
      std::vector<int64_t> codes;
      for (int64_t row = 0; row != kRows; ++row)
        for (int64_t i = 0; i != count; ++i) {
          double width = row == 0 ? 0 : std::exp2(double(row) / 3 - 1);
          int64_t code = std::clamp<int64_t>(
              std::lround(100 + double(row) +
                          width * double(spread[row * count + i])),
              0, 255);
          if (row == 1)
            code = i == 0 ? 101 : 100;
          if (row == 2)
            code = i % 2 == 0 ? 0 : 255;
          codes.push_back(code);
          input.push_back(float(double(code - kZero) * kStep));
        }
      diagnostics.clear();
      auto integers = lower("func.func @main" + text, "layer-norm=integer");
      ASSERT_TRUE(integers);
      EXPECT_EQ(llvm::join(diagnostics, "\n"), "");
      CompileOptions keep;
      keep.keepTypes = true;
      auto executor = Executor::compile(*integers, keep);
      ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
      Floats found = runUnit(**executor, {input});
      size_t others = 0;
      for (int64_t row = 0; row != kRows; ++row) {
        double mean = 0, squares = 0;
        const int64_t *own = &codes[row * count];
        for (int64_t i = 0; i != count; ++i)
          mean += double(own[i]) / double(count);
        for (int64_t i = 0; i != count; ++i)
          squares += (double(own[i]) - mean) * (double(own[i]) - mean);
        for (int64_t i = 0; i != count; ++i) {
          double deviation = std::sqrt(squares / double(count) * kStep * kStep +
                                       double(float(epsilon)));
          double x = deviation == 0 || squares == 0
                         ? 0
                         : (double(own[i]) - mean) * kStep / deviation;
          double error =
              (std::abs(x) * (0x1p-13 + 1 / std::max(squares, 0.5)) + 0x1p-13) *
              std::abs(double(gain[i]));
          // Offsets are rounded to 2^-8 steps where there is no gain.
          error += 0x1p-8 * kOutputStep;
          double value = x * double(gain[i]) + double(offset[i]);
          auto codeOf = [&](double real) {
            return std::clamp<double>(
                std::floor(real / kOutputStep + 0.5) + kOutputZero, 0, 255);
          };
          double code =
              std::round(double(found[row * count + i]) / kOutputStep) +
              kOutputZero;
          EXPECT_GE(code, codeOf(value - error))
              << count << " " << epsilon << " row " << row << " " << i;
          EXPECT_LE(code, codeOf(value + error))
              << count << " " << epsilon << " row " << row << " " << i;
          others += squares > 100 && code != codeOf(value);
        }
      }
      // Twice the bound of some 2^-13 times |x| is a hundredth of a step, so
      // that more would say that the bound is used up everywhere.
      EXPECT_LE(double(others), 0.01 * double(kRows * count));
    }
}

TEST_F(LowerToInteger, SlopesThatAreTooSmallForAMultiplier) {
  std::string type = "tensor<1x256x2xf32>", condition = "tensor<1x256x2xi1>";
  Floats codes;
  for (int code = -128; code != 128; ++code)
    codes.insert(codes.end(), 2, float(code));
  expectSame("(%x: " + type + ") -> " + type + " {\n" + kShift +
                 point("in", "x", type, powerOfTwo(128)) +
                 constant("s", {1, 1, 2}, Floats{0.1f, 1e-38f}) +
                 constant("z", {1, 1, 1}, Floats{0}) +
                 "%p = tosa.greater_equal %in, %z : (" + type +
                 ", tensor<1x1x1xf32>) -> " + condition +
                 "\n%n = tosa.mul %in, %s, %shift : (" + type +
                 ", tensor<1x1x2xf32>, tensor<1xi8>) -> " + type +
                 "\n%r = tosa.select %p, %in, %n : (" + condition + ", " +
                 type + ", " + type + ") -> " + type + "\n" +
                 point("out", "r", type, powerOfTwo(128)) +
                 "return %out : " + type + "\n}\n",
             {codes});
}

TEST_F(LowerToInteger, SumsFarBeyondTheResultsSaturate) {
  // Codes of the sums, rounded to even, that no rescale by 1 takes: their steps
  // are 393216.5 times those of the results.
  std::string in = "tensor<1x4x4x3xf32>", to = "tensor<1x4x4x2xf32>";
  std::string text =
      "func.func @main(%x: " + in + ") -> " + to + " {\n" + kZero +
      point("in", "x", in,
            "parameters(#tpc.power_of_two<threshold = [4.0], bits = 8>)") +
      constant("k_floats", {2, 1, 1, 3}, 5) +
      "%k = tpc.quantize %k_floats as \"k\" weight \"kernel_attr\" "
      "parameters(#tpc.symmetric<threshold = [0.7500009536743164], bits = "
      "8>) : tensor<2x1x1x3xf32>\n" +
      bias("b", 2) +
      "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation "
      "= array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
      "array<i64: 1, 1>} : (" +
      in +
      ", tensor<2x1x1x3xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) "
      "-> " +
      to + "\n" +
      point("out", "0", to,
            "parameters(#tpc.power_of_two<threshold = "
            "[1.52587890625e-05], bits = 16>)") +
      "return %out : " + to + "\n}\n";
  diagnostics.clear();
  auto integers = lower(text, "rounding=half-even extensions=int16 io=integer");
  ASSERT_TRUE(integers);
  mlir::PassManager passes(&context, mlir::ModuleOp::getOperationName());
  ASSERT_TRUE(succeeded(mlir::parsePassPipeline("mct-check-integer", passes)));
  EXPECT_TRUE(succeeded(passes.run(*integers)))
      << llvm::join(diagnostics, "\n");
}

TEST_F(LowerToInteger, ConditionsOnWiderFloats) {
  std::string type = "tensor<2x64xf32>", condition = "tensor<2x64xi1>";
  // 0.25 is a code, 0.3 lies between two, and minus infinity below all.
  for (const char *number : {"0.25", "0.3", "0xFFF0000000000000"})
    for (const char *chosen : {"e", "c"})
      expectSame("(%x: " + type + ", %y: " + type + ") -> " + type + " {\n" +
                     point("in", "x", type, powerOfTwo(1)) +
                     point("other", "y", type, powerOfTwo(1)) +
                     "%n = \"tosa.const\"() <{values = dense<" + number +
                     "> : tensor<1x1xf64>}> : () -> tensor<1x1xf64>\n"
                     "%w = tosa.cast %in : (" +
                     type +
                     ") -> tensor<2x64xf64>\n%e = tosa.equal %n, %w : "
                     "(tensor<1x1xf64>, tensor<2x64xf64>) -> " +
                     condition + "\n%c = tosa.logical_not %e : (" + condition +
                     ") -> " + condition + "\n%s = tosa.select %" + chosen +
                     ", %other, %in : (" + condition + ", " + type + ", " +
                     type + ") -> " + type + "\n" +
                     point("out", "s", type, powerOfTwo(2)) +
                     "return %out : " + type + "\n}\n",
                 samples({{2, 64}, {2, 64}}, 1));
}

TEST_F(LowerToInteger, ClampsInARow) {
  // Also such that share no value: the later one's nearer end is what is left.
  std::string type = "tensor<1x64xf32>";
  for (auto [low, high] :
       {std::pair{"2.0", "3.0"}, {"-3.0", "-2.0"}, {"-3.0", "0.5"}}) {
    std::string text =
        "(%x: " + type + ") -> (" + type + ", " + type + ") {\n" +
        point("in", "x", type, powerOfTwo(4)) +
        "%0 = tosa.clamp %in {min_val = -1.0 : f32, max_val = 1.0 : f32} : (" +
        type + ") -> " + type + "\n%1 = tosa.clamp %0 {min_val = " + low +
        " : f32, max_val = " + high + " : f32} : (" + type + ") -> " + type +
        "\n" + point("out", "1", type, powerOfTwo(4)) +
        "return %in, %out : " + type + ", " + type + "\n}\n";
    auto simulation = compile("func.func @main" + text);
    auto integers = lower("func.func @main" + text);
    ASSERT_TRUE(simulation && integers);
    auto executor = Executor::compile(*integers);
    ASSERT_TRUE(mlir::succeeded(executor));
    std::vector<Floats> inputs = samples({{simulation->unit(), 64}});
    EXPECT_EQ(runOutputs(*simulation, inputs), runOutputs(**executor, inputs));
  }
}

TEST_F(LowerToInteger, LargestPlacesOfMovedValues) {
  // What is moved is returned, too: its integers stand before both readers.
  std::string text =
      "func.func @main(%x: tensor<1x4xf32>) -> (tensor<1xi32>, "
      "tensor<4x1xf32>) {\n" +
      shapeConstant("s", {4, 1}) +
      point("in", "x", "tensor<1x4xf32>", powerOfTwo(4)) +
      "%r = tosa.reshape %in, %s : (tensor<1x4xf32>, !tosa.shape<2>) -> "
      "tensor<4x1xf32>\n"
      "%m = tosa.argmax %r {axis = 0 : i32} : (tensor<4x1xf32>) -> "
      "tensor<1xi32>\n"
      "return %m, %r : tensor<1xi32>, tensor<4x1xf32>\n}\n";
  for (const char *options : {"io=float", "io=integer"}) {
    auto integers = lower(text, options);
    ASSERT_TRUE(integers) << options;
    integers->walk([&](mlir::tosa::ArgMaxOp op) {
      EXPECT_TRUE(mlir::getElementTypeOrSelf(op.getInput()).isInteger(8));
    });
    EXPECT_EQ(count<mlir::tosa::ArgMaxOp>(*integers), 1u);
  }
}

//===----------------------------------------------------------------------===//
// 16 bits
//===----------------------------------------------------------------------===//

TEST_F(LowerToInteger, SixteenBits) {
  const char *type = "tensor<1x7x6x3xf32>", *to = "tensor<1x4x3x5xf32>";
  std::string text =
      std::string("(%x: ") + type + ") -> " + to + " {\n" + kZero +
      point("in", "x", type, powerOfTwo(4, 16)) +
      kernel("k", {5, 3, 2, 3}, 0, 7, 4) + bias("b", 5) +
      "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation = "
      "array<i64: 1, 2>, pad = array<i64: 1, 1, 0, 1>, stride = array<i64: 2, "
      "2>} : (" +
      type +
      ", tensor<5x3x2x3xf32>, tensor<5xf32>, tensor<1xf32>, tensor<1xf32>) "
      "-> " +
      to + "\n";
  // Down to 8 bits, and to 16.
  for (unsigned bits : {8u, 12u, 16u})
    expectSame(text + point("out", "0", to, powerOfTwo(4, bits)) +
                   "return %out : " + to + "\n}\n",
               samples({{1, 7, 6, 3}}), "extensions=int16");
  std::string wide = "tensor<1x40xf32>";
  for (const char *op : {"add", "sub"})
    expectSame(std::string("(%x: ") + wide + ", %y: " + wide + ") -> " + wide +
                   " {\n" + point("a", "x", wide, powerOfTwo(4, 16)) +
                   point("b", "y", wide, powerOfTwo(2, 8)) + "%0 = tosa." + op +
                   " %a, %b : (" + wide + ", " + wide + ") -> " + wide + "\n" +
                   point("out", "0", wide, powerOfTwo(8, 16)) +
                   "return %out : " + wide + "\n}\n",
               samples({{1, 40}, {1, 40}}), "extensions=int16");
}

//===----------------------------------------------------------------------===//
// Order and place
//===----------------------------------------------------------------------===//

// For Ethos-U a layer is computed for each of its readers.
TEST_F(LowerToInteger, RepeatedLayersMakeTheSameCodes) {
  std::string type = "tensor<1x8x8x4xf32>", to = "tensor<1x8x8x8xf32>";
  std::string text =
      "func.func @main(%x: " + type + ") -> (" + to + ", " + to + ") {\n" +
      kZero + point("in", "x", type, powerOfTwo(4)) +
      kernel("k", {8, 1, 1, 4}, 0, 7) + bias("b", 8) +
      "%0 = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, dilation = "
      "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, "
      "1>} : (" +
      type +
      ", tensor<8x1x1x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) "
      "-> " +
      to + "\n" + point("a", "0", to, powerOfTwo(8)) +
      point("c", "0", to, powerOfTwo(4, 8, false)) + "return %a, %c : " + to +
      ", " + to + "\n}\n";
  Floats noise = randomFloats(1 * 8 * 8 * 4, 11);
  std::vector<int8_t> codes;
  for (float value : noise)
    codes.push_back(int8_t(value * 127));
  std::vector<std::vector<int8_t>> all;
  for (const char *profile : {"none", "ethos-u55", "ethos-u85"}) {
    auto integers = lower(text, "io=integer profile=" + std::string(profile));
    ASSERT_TRUE(integers);
    EXPECT_EQ(count<mlir::tosa::Conv2DOp>(*integers), all.empty() ? 1u : 2u);
    CompileOptions keep;
    keep.keepTypes = true;
    auto executor = Executor::compile(*integers, keep);
    ASSERT_TRUE(mlir::succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<int8_t> results(size_t(2 * 8 * 8 * 8));
    llvm::SmallVector<void *> outputs{results.data(), &results[8 * 8 * 8]};
    Worker worker(**executor);
    const void *input = codes.data();
    llvm::cantFail(worker.run(input, outputs, 1));
    all.push_back(results);
  }
  EXPECT_FALSE(llvm::all_equal(all[0]));
  EXPECT_EQ(all[0], all[1]);
  EXPECT_EQ(all[0], all[2]);
}

/// A layer, and whether one of its first results is above zero.
static std::string layerAndCondition() {
  const char *type = "tensor<1x4x4x2xf32>";
  return kZero + std::string(kShift) + point("in", "x", type, powerOfTwo(4)) +
         kernel("k", {2, 1, 1, 2}, 0, 5) + bias("b", 2) +
         "%layer = tosa.conv2d %in, %k, %b, %zero, %zero {acc_type = f32, "
         "dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = "
         "array<i64: 1, 1>} : (tensor<1x4x4x2xf32>, tensor<2x1x1x2xf32>, "
         "tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> "
         "tensor<1x4x4x2xf32>\n" +
         shapeConstant("start", {0, 0, 0, 0}) +
         shapeConstant("one", {1, 1, 1, 1}) +
         "%none = tosa.const_shape {values = dense<> : tensor<0xindex>} : () "
         "-> !tosa.shape<0>\n" +
         constant("origin", {1, 1, 1, 1}, Floats{0}) +
         "%first = tosa.slice %in, %start, %one : (tensor<1x4x4x2xf32>, "
         "!tosa.shape<4>, !tosa.shape<4>) -> tensor<1x1x1x1xf32>\n"
         "%above = tosa.greater %first, %origin : (tensor<1x1x1x1xf32>, "
         "tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xi1>\n"
         "%condition = tosa.reshape %above, %none : (tensor<1x1x1x1xi1>, "
         "!tosa.shape<0>) -> tensor<i1>\n";
}

// The sums of the layer were computed in one branch, and read in the other and
// behind both.
TEST_F(LowerToInteger, PointsInBranchesReadWhatIsOutside) {
  const std::string type = "tensor<1x4x4x2xf32>",
                    sum = "(" + type + ", " + type + ") -> " + type + "\n",
                    yield = " : " + type + "\n";
  std::string text =
      "(%x: " + type + ") -> (" + type + ", " + type + ") {\n" +
      layerAndCondition() +
      "%branch = tosa.cond_if %condition : tensor<i1> "
      "-> " +
      type + " {\n" + point("a", "layer", type, powerOfTwo(8)) +
      "%0 = tosa.tanh %in : (" + type + ") -> " + type + "\n" +
      point("c", "0", type, powerOfTwo(1)) + "%1 = tosa.add %a, %c : " + sum +
      point("d", "1", type, powerOfTwo(4)) + "tosa.yield %d" + yield +
      "} else {\n" + point("a2", "layer", type, powerOfTwo(4)) +
      "tosa.yield %a2" + yield + "}\n" +
      point("out", "layer", type, powerOfTwo(8)) +
      "return %branch, %out : " + type + ", " + type + "\n}\n";
  for (float sign : {1.0f, -1.0f}) {
    std::vector<Floats> inputs = samples({{1, 4, 4, 2}});
    inputs[0][0] = sign;
    expectEvaluated(text, inputs[0]);
  }
}

TEST_F(LowerToInteger, PointsInLoopsReadWhatIsOutside) {
  const std::string type = "tensor<1x4x4x2xf32>",
                    sum = "(" + type + ", " + type + ") -> " + type + "\n";
  std::string text =
      "(%x: " + type + ") -> (" + type + ", " + type + ") {\n" +
      layerAndCondition() +
      "%from = \"tosa.const\"() <{values = dense<0> : tensor<i32>}> : () -> "
      "tensor<i32>\n"
      "%r:2 = tosa.while_loop (%i = %from, %v = %in) : (tensor<i32>, " +
      type + ") -> (tensor<i32>, " + type +
      ") {\n"
      "%end = \"tosa.const\"() <{values = dense<3> : tensor<i32>}> : () -> "
      "tensor<i32>\n"
      "%more = tosa.greater %end, %i : (tensor<i32>, tensor<i32>) -> "
      "tensor<i1>\n"
      "tosa.yield %more : tensor<i1>\n} do {\n^bb0(%j: tensor<i32>, %w: " +
      type +
      "):\n%by = \"tosa.const\"() <{values = dense<1> : tensor<i32>}> : () "
      "-> tensor<i32>\n"
      "%next = tosa.add %j, %by : (tensor<i32>, tensor<i32>) -> tensor<i32>\n" +
      point("a", "layer", type, powerOfTwo(8)) +
      "%0 = tosa.add %w, %a : " + sum + "tosa.yield %next, %0 : tensor<i32>, " +
      type + "\n}\n" + point("out", "layer", type, powerOfTwo(8)) +
      "return %r#1, %out : " + type + ", " + type + "\n}\n";
  expectEvaluated(text, samples({{1, 4, 4, 2}})[0]);
}

// What the reshape moves was computed for the point, behind the argmax.
TEST_F(LowerToInteger, LargestPlacesBeforeOtherReaders) {
  std::string text =
      "(%x: tensor<1x8xf32>) -> (tensor<2xf32>, tensor<2x4xf32>) {\n" +
      shapeConstant("s", {2, 4}) +
      point("in", "x", "tensor<1x8xf32>", powerOfTwo(4)) +
      "%r = tosa.reshape %in, %s : (tensor<1x8xf32>, !tosa.shape<2>) -> "
      "tensor<2x4xf32>\n"
      "%a = tosa.argmax %r {axis = 1 : i32} : (tensor<2x4xf32>) -> "
      "tensor<2xi32>\n"
      "%f = tosa.cast %a : (tensor<2xi32>) -> tensor<2xf32>\n"
      "%t = tosa.tanh %r : (tensor<2x4xf32>) -> tensor<2x4xf32>\n" +
      point("out", "t", "tensor<2x4xf32>", powerOfTwo(1)) +
      "return %f, %out : tensor<2xf32>, tensor<2x4xf32>\n}\n";
  expectSame(text, samples({{1, 8}}));
}

// One step is 2^24 of the finer point: what is not zero saturates, and with
// such a factor rescale takes codes below 32 only.
TEST_F(LowerToInteger, StepsThatAreFinerThanRescaleTakes) {
  std::string type = "tensor<1x256xf32>";
  std::string text =
      "(%x: " + type + ") -> " + type + " {\n" +
      point("in", "x", type, powerOfTwo(1)) +
      point("out", "in", type,
            "parameters(#tpc.power_of_two<threshold = "
            "[5.9604644775390625e-08], bits = 8, rounding = half_up>)") +
      "return %out : " + type + "\n}\n";
  Floats codes;
  for (int code = -128; code != 128; ++code)
    codes.push_back(float(code) / 128);
  expectSame(text, {codes});
  auto integers = lower("func.func @main" + text);
  ASSERT_TRUE(integers);
  EXPECT_TRUE(run(*integers, "mct-check-integer"))
      << llvm::join(diagnostics, "\n");
}

TEST_F(LowerToInteger, LooksThroughSoManyOpsOnly) {
  std::string type = "tensor<1x8xf32>";
  for (int length : {20, 3000}) {
    std::string text = "func.func @main(%x: " + type + ") -> " + type + " {\n" +
                       point("v0", "x", type, powerOfTwo(2));
    for (int i = 0; i != length; ++i)
      text += "%v" + std::to_string(i + 1) + " = tosa.clamp %v" +
              std::to_string(i) +
              " {min_val = -1.0 : f32, max_val = " + std::to_string(1 + i) +
              ".0 : f32} : (" + type + ") -> " + type + "\n";
    text += point("out", "v" + std::to_string(length), type, powerOfTwo(2)) +
            "return %out : " + type + "\n}\n";
    diagnostics.clear();
    ASSERT_TRUE(lower(text));
    std::string all = llvm::join(diagnostics, "\n");
    EXPECT_EQ(all.find("too many ops lie between it and the quantizers before "
                       "it") != std::string::npos,
              length > 1000)
        << all;
  }
}
