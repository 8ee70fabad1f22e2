// SPDX-License-Identifier: Apache-2.0
//
// Ops of linalg and tensor and what they are raised to compute the same. The
// executor lowers both by conversions of MLIR, which know nothing of ours.
#include "mct/Conversion/Passes.h"
#include "mct/Conversion/Patterns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"
#include "test/unit/Execution/Fixture.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mct::execution;

namespace {
using Shape = std::vector<int64_t>;

/// An f32 constant of random values, as other compilers write it.
std::string weights(const std::string &name, const Shape &shape,
                    unsigned seed) {
  Floats values = randomFloats(elementCount(shape), seed);
  std::string bytes(values.size() * sizeof(float), '\0');
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return "  %" + name + " = arith.constant dense<\"0x" + llvm::toHex(bytes) +
         "\"> : " + tensorType(shape) + "\n";
}

/// A tensor of zeros that an op adds to.
std::string zeros(const std::string &name, const Shape &shape,
                  const std::string &number = "0.0") {
  std::string type = tensorType(shape);
  return "  %c_" + name + " = arith.constant " + number + " : f32\n  %e_" +
         name + " = tensor.empty() : " + type + "\n  %" + name +
         " = linalg.fill ins(%c_" + name + " : f32) outs(%e_" + name + " : " +
         type + ") -> " + type + "\n";
}

class RaiseLinalgTest : public ExecutionTest {
protected:
  /// `body` makes %r, of shape `to`, of %x, of shape `from`. Compares before
  /// and after; no op of linalg or tensor is left.
  void expectSame(const Shape &from, const Shape &to, const std::string &body) {
    SCOPED_TRACE(body.size() < 4000 ? body : body.substr(0, 4000));
    std::string text = "func.func @main(%x: " + tensorType(from) + ") -> " +
                       tensorType(to) + " {\n" + body +
                       "  return %r : " + tensorType(to) + "\n}\n";
    CompileOptions options;
    options.keepTypes = true;
    std::unique_ptr<Executor> before = compile(text, options);
    ASSERT_TRUE(before) << llvm::join(diagnostics, "\n");
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(mct::createRaiseLinalgPass());
    ASSERT_TRUE(succeeded(passes.run(*module)))
        << llvm::join(diagnostics, "\n");
    module->walk([](Operation *op) {
      StringRef dialect = op->getName().getDialectNamespace();
      EXPECT_FALSE(dialect == "linalg" || dialect == "tensor")
          << op->getName().getStringRef().str();
    });
    auto after = Executor::compile(*module, options);
    ASSERT_TRUE(succeeded(after)) << llvm::join(diagnostics, "\n");
    auto run = [&](const Executor &executor) {
      std::vector<Floats> inputs = {randomFloats(elementCount(from), 7)};
      Worker worker(executor);
      return runOutputs(worker, executor, inputs).front();
    };
    Floats expected = run(*before), actual = run(**after);
    float largest = 1;
    for (float value : expected)
      largest = std::max(largest, std::abs(value));
    for (size_t i = 0; i != expected.size(); ++i)
      // Sums are added up in another order, and quotients are products.
      ASSERT_NEAR(actual[i], expected[i], 1e-5f * largest) << "element " << i;
  }
};

/// A named op with two inputs, the second of which is a constant.
std::string layer(const std::string &op, const Shape &from, const Shape &kernel,
                  const Shape &to, const std::string &init = "init",
                  const std::string &input = "x") {
  return weights("k", kernel, 3) + "  %r = " + op + " ins(%" + input +
         ", %k : " + tensorType(from) + ", " + tensorType(kernel) + ") outs(%" +
         init + " : " + tensorType(to) + ") -> " + tensorType(to) + "\n";
}
} // namespace

TEST_F(RaiseLinalgTest, ConvolutionsOfAllLayouts) {
  struct Case {
    std::string op;
    Shape from, kernel, to;
  };
  const std::string geometry = " {dilations = dense<[1, 2]> : tensor<2xi64>, "
                               "strides = dense<[2, 1]> : tensor<2xi64>}";
  for (const Case &each : std::vector<Case>{
           {"linalg.conv_2d_nchw_fchw" + geometry,
            {1, 3, 8, 7},
            {4, 3, 3, 2},
            {1, 4, 3, 5}},
           {"linalg.conv_2d_nhwc_hwcf" + geometry,
            {1, 8, 7, 3},
            {3, 2, 3, 4},
            {1, 3, 5, 4}},
           {"linalg.conv_2d_nhwc_fhwc" + geometry,
            {1, 8, 7, 3},
            {4, 3, 2, 3},
            {1, 3, 5, 4}},
           {"linalg.depthwise_conv_2d_nchw_chw" + geometry,
            {1, 3, 8, 7},
            {3, 3, 2},
            {1, 3, 3, 5}},
           {"linalg.depthwise_conv_2d_nhwc_hwc" + geometry,
            {1, 8, 7, 3},
            {3, 2, 3},
            {1, 3, 5, 3}},
           {"linalg.depthwise_conv_2d_nhwc_hwcm" + geometry,
            {1, 8, 7, 3},
            {3, 2, 3, 2},
            {1, 3, 5, 3, 2}},
           {"linalg.conv_2d_ngchw_gfchw" + geometry,
            {1, 2, 3, 8, 7},
            {2, 4, 3, 3, 2},
            {1, 2, 4, 3, 5}},
           {"linalg.conv_2d_nhwgc_gfhwc" + geometry,
            {1, 8, 7, 2, 3},
            {2, 4, 3, 2, 3},
            {1, 3, 5, 2, 4}},
           {"linalg.conv_1d_ncw_fcw {dilations = dense<1> : tensor<1xi64>, "
            "strides = dense<2> : tensor<1xi64>}",
            {1, 3, 8},
            {4, 3, 3},
            {1, 4, 3}},
           {"linalg.conv_1d_nwc_wcf {dilations = dense<2> : tensor<1xi64>, "
            "strides = dense<1> : tensor<1xi64>}",
            {1, 8, 3},
            {3, 3, 4},
            {1, 4, 4}},
           {"linalg.depthwise_conv_1d_nwc_wc {dilations = dense<1> : "
            "tensor<1xi64>, strides = dense<1> : tensor<1xi64>}",
            {1, 8, 3},
            {3, 3},
            {1, 6, 3}},
       }) {
    expectSame(each.from, each.to,
               zeros("init", each.to) +
                   layer(each.op, each.from, each.kernel, each.to));
  }
}

TEST_F(RaiseLinalgTest, ConvolutionsTakeTheirPaddingAndTheirBias) {
  Shape from = {1, 3, 8, 7}, padded = {1, 3, 10, 8}, to = {1, 4, 4, 7};
  expectSame(from, to,
             R"mlir(
  %zero = arith.constant 0.0 : f32
  %p = tensor.pad %x low[0, 0, 1, 0] high[0, 0, 1, 1] {
  ^bb0(%i: index, %j: index, %k0: index, %l: index):
    tensor.yield %zero : f32
  } : tensor<1x3x8x7xf32> to tensor<1x3x10x8xf32>
  %e = tensor.empty() : tensor<1x4x4x7xf32>
)mlir" + weights("b", {4}, 5) +
                 "  %init = linalg.broadcast ins(%b : tensor<4xf32>) outs(%e : "
                 "tensor<1x4x4x7xf32>) dimensions = [0, 2, 3]\n" +
                 layer("linalg.conv_2d_nchw_fchw {dilations = dense<1> : "
                       "tensor<2xi64>, strides = dense<[2, 1]> : "
                       "tensor<2xi64>}",
                       padded, {4, 3, 3, 2}, to, "init", "p"));
  size_t pads = 0, sums = 0;
  module->walk([&](Operation *op) {
    pads += op->getName().getStringRef() == "tosa.pad";
    sums += op->getName().getStringRef() == "tosa.add";
  });
  EXPECT_EQ(pads, 0u);
  EXPECT_EQ(sums, 0u);
}

TEST_F(RaiseLinalgTest, ConvolutionsAddWhatTheyStartFrom) {
  Shape shape = {1, 3, 5, 5};
  expectSame(
      shape, shape,
      layer("linalg.conv_2d_nchw_fchw", shape, {3, 3, 1, 1}, shape, "x"));
}

TEST_F(RaiseLinalgTest, ConvolutionsOfSpreadElementsAreTransposed) {
  Shape from = {1, 2, 4, 3}, spread = {1, 2, 12, 8}, to = {1, 3, 10, 7};
  expectSame(from, to,
             zeros("z", spread) +
                 "  %s = tensor.insert_slice %x into %z[0, 0, 1, 1] [1, 2, 4, "
                 "3] [1, 1, 3, 2] : tensor<1x2x4x3xf32> into "
                 "tensor<1x2x12x8xf32>\n" +
                 zeros("init", to) +
                 layer("linalg.conv_2d_nchw_fchw", spread, {3, 2, 3, 2}, to,
                       "init", "s"));
  size_t transposed = 0;
  module->walk([&](Operation *op) {
    transposed += op->getName().getStringRef() == "tosa.transpose_conv2d";
  });
  EXPECT_EQ(transposed, 1u);
}

TEST_F(RaiseLinalgTest, PoolsOfAllLayouts) {
  const std::string lowest = "0xFF800000";
  const std::string geometry = " {dilations = dense<1> : tensor<2xi64>, "
                               "strides = dense<2> : tensor<2xi64>}";
  auto pool = [&](const std::string &op, const Shape &from, const Shape &to,
                  const std::string &number) {
    expectSame(from, to,
               zeros("init", to, number) +
                   "  %w = tensor.empty() : tensor<3x2xf32>\n  %r = " + op +
                   geometry + " ins(%x, %w : " + tensorType(from) +
                   ", tensor<3x2xf32>) outs(%init : " + tensorType(to) +
                   ") -> " + tensorType(to) + "\n");
  };
  pool("linalg.pooling_nchw_max", {1, 3, 8, 7}, {1, 3, 3, 3}, lowest);
  pool("linalg.pooling_nhwc_max", {1, 8, 7, 3}, {1, 3, 3, 3}, lowest);
  pool("linalg.pooling_nchw_sum", {1, 3, 8, 7}, {1, 3, 3, 3}, "0.0");
  pool("linalg.pooling_nhwc_sum", {1, 8, 7, 3}, {1, 3, 3, 3}, "0.0");
}

TEST_F(RaiseLinalgTest, SumsThatAreDividedByTheirCountAreMeans) {
  expectSame({1, 3, 4, 4}, {1, 3, 2, 2}, zeros("init", {1, 3, 2, 2}) + R"mlir(
  %w = tensor.empty() : tensor<2x2xf32>
  %s = linalg.pooling_nchw_sum {dilations = dense<1> : tensor<2xi64>, strides = dense<2> : tensor<2xi64>} ins(%x, %w : tensor<1x3x4x4xf32>, tensor<2x2xf32>) outs(%init : tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %e = tensor.empty() : tensor<1x3x2x2xf32>
  %four = arith.constant 4.0 : f32
  %r = linalg.map ins(%s : tensor<1x3x2x2xf32>) outs(%e : tensor<1x3x2x2xf32>) (%a: f32, %o: f32) {
    %q = arith.divf %a, %four : f32
    linalg.yield %q : f32
  }
)mlir");
  size_t means = 0, products = 0;
  module->walk([&](Operation *op) {
    means += op->getName().getStringRef() == "tosa.avg_pool2d";
    products += op->getName().getStringRef() == "tosa.mul";
  });
  EXPECT_EQ(means, 1u);
  EXPECT_EQ(products, 0u);
}

TEST_F(RaiseLinalgTest, ProductsOfAllLayouts) {
  struct Case {
    std::string op;
    Shape from, kernel, to;
  };
  auto generic = [](const std::string &left, const std::string &right,
                    const std::string &result, const std::string &loops,
                    const std::string &kinds) {
    auto map = [&](const std::string &results) {
      return "affine_map<(" + loops + ") -> (" + results + ")>";
    };
    return "linalg.generic {indexing_maps = [" + map(left) + ", " + map(right) +
           ", " + map(result) + "], iterator_types = [" + kinds + "]}";
  };
  const std::string body = R"mlir( {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> )mlir";
  for (const Case &each : std::vector<Case>{
           {"linalg.matmul", {5, 3}, {3, 4}, {5, 4}},
           {"linalg.batch_matmul", {2, 5, 3}, {2, 3, 4}, {2, 5, 4}},
           {"linalg.vecmat", {3}, {3, 4}, {4}},
           {"linalg.matvec", {5, 3}, {3}, {5}},
           {"linalg.dot", {3}, {3}, {}},
           {"linalg.batch_matvec", {2, 5, 3}, {2, 3}, {2, 5}},
       })
    expectSame(each.from, each.to,
               zeros("init", each.to) +
                   layer(each.op, each.from, each.kernel, each.to));
  const std::string p = "\"parallel\"", r = "\"reduction\"";
  for (const Case &each : std::vector<Case>{
           // The transposed operands and results of einsum.
           {generic("d3, d0, d1", "d2, d3, d0", "d1, d0, d2", "d0, d1, d2, d3",
                    p + ", " + p + ", " + p + ", " + r),
            {3, 2, 5},
            {4, 3, 2},
            {5, 2, 4}},
           {generic("d0, d2, d3", "d2, d1, d3", "d1, d0", "d0, d1, d2, d3",
                    p + ", " + p + ", " + r + ", " + r),
            {5, 2, 3},
            {2, 4, 3},
            {4, 5}},
       }) {
    std::string text = layer(each.op, each.from, each.kernel, each.to);
    size_t arrow = text.rfind(" -> ");
    text.replace(arrow, 4, body);
    expectSame(each.from, each.to, zeros("init", each.to) + text);
  }
}

// Random maps: each operand has its axes in an order of its own, leaves some
// out, and reads others at 0.
TEST_F(RaiseLinalgTest, BodiesReadTheirOperandsByAnyMap) {
  std::mt19937 random(11);
  auto draw = [&](int64_t below) { return int64_t(random() % below); };
  for (int run = 0; run != 40; ++run) {
    int64_t rank = 1 + draw(4);
    Shape sizes(rank);
    for (int64_t &size : sizes)
      size = 1 + draw(4);
    std::string loops, kinds;
    for (int64_t loop = 0; loop != rank; ++loop) {
      loops += (loop ? ", d" : "d") + std::to_string(loop);
      kinds += loop ? ", \"parallel\"" : "\"parallel\"";
    }
    auto permute = [&]() {
      Shape order(rank);
      std::iota(order.begin(), order.end(), 0);
      for (int64_t i = rank; i-- > 1;)
        std::swap(order[i], order[draw(i + 1)]);
      return order;
    };
    auto makeMap = [&](bool isWhole, Shape &shape) {
      std::string results;
      for (int64_t loop : permute()) {
        if (!isWhole && draw(4) == 0)
          continue;
        bool isZero = !isWhole && draw(4) == 0;
        shape.push_back(isZero ? 1 : sizes[loop]);
        results += (results.empty() ? "" : ", ") +
                   (isZero ? "0" : "d" + std::to_string(loop));
      }
      return "affine_map<(" + loops + ") -> (" + results + ")>";
    };
    Shape from, other, to;
    std::string maps = makeMap(true, from) + ", " + makeMap(false, other) +
                       ", " + makeMap(true, to);
    expectSame(
        from, to,
        weights("c", other, run) + "  %e = tensor.empty() : " + tensorType(to) +
            "\n  %r = linalg.generic {indexing_maps = [" + maps +
            "], iterator_types = [" + kinds +
            "]} ins(%x, %c : " + tensorType(from) + ", " + tensorType(other) +
            ") outs(%e : " + tensorType(to) + R"mlir() {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %m = arith.mulf %a, %b : f32
    %s = arith.subf %m, %a : f32
    linalg.yield %s : f32
  } -> )mlir" +
            tensorType(to) + "\n");
  }
}

TEST_F(RaiseLinalgTest, ScalarsOfAllKinds) {
  for (const char *body : {
           "%0 = arith.addf %a, %b : f32",
           "%0 = arith.divf %a, %half : f32",
           "%1 = math.absf %b : f32\n %2 = arith.addf %1, %half : f32\n"
           "%0 = arith.divf %a, %2 : f32",
           "%0 = arith.negf %a : f32",
           "%0 = arith.maximumf %a, %b : f32",
           "%0 = arith.minimumf %half, %a : f32",
           "%0 = arith.maxnumf %a, %half : f32",
           "%0 = arith.minnumf %a, %b : f32",
           "%0 = math.exp %a : f32",
           "%0 = math.tanh %a : f32",
           "%0 = math.erf %a : f32",
           "%0 = math.sin %a : f32",
           "%0 = math.cos %a : f32",
           "%0 = math.ceil %a : f32",
           "%0 = math.floor %a : f32",
           "%1 = math.absf %a : f32\n %0 = math.log %1 : f32",
           "%1 = math.absf %a : f32\n %0 = math.sqrt %1 : f32",
           "%1 = math.absf %a : f32\n %0 = math.rsqrt %1 : f32",
           "%1 = math.absf %a : f32\n %0 = math.powf %1, %half : f32",
           "%two = arith.constant 2 : i32\n"
           "%0 = math.fpowi %a, %two : f32, i32",
           "%0 = math.fma %a, %b, %half : f32",
           "%c = arith.cmpf ugt, %a, %half : f32\n"
           "%0 = arith.select %c, %a, %half : f32",
           "%c = arith.cmpf olt, %half, %a : f32\n"
           "%0 = arith.select %c, %half, %a : f32",
           "%c = arith.cmpf oge, %a, %b : f32\n"
           "%0 = arith.select %c, %b, %a : f32",
           "%c = arith.cmpf une, %a, %b : f32\n"
           "%0 = arith.select %c, %half, %a : f32",
           "%c = arith.cmpf one, %a, %b : f32\n"
           "%0 = arith.uitofp %c : i1 to f32",
           "%c = arith.cmpf ule, %a, %b : f32\n"
           "%d = arith.cmpf olt, %a, %half : f32\n"
           "%f = arith.andi %c, %d : i1\n %g = arith.xori %f, %c : i1\n"
           "%h = arith.ori %g, %d : i1\n %0 = arith.uitofp %h : i1 to f32",
           "%0 = math.expm1 %a : f32",
           "%1 = math.absf %a : f32\n %0 = math.log1p %1 : f32",
           "%0 = math.tan %a : f32",
           "%0 = math.sinh %a : f32",
           "%0 = math.cosh %a : f32",
           "%0 = math.erfc %a : f32",
           "%1 = arith.negf %a : f32\n %2 = arith.mulf %half, %1 : f32\n"
           "%0 = math.erfc %2 : f32",
           "%0 = math.copysign %a, %b : f32",
           "%c = arith.cmpf uno, %a, %b : f32\n"
           "%0 = arith.select %c, %half, %a : f32",
           "%1 = arith.subf %b, %b : f32\n %2 = arith.divf %1, %1 : f32\n"
           "%c = arith.cmpf ord, %2, %a : f32\n"
           "%0 = arith.select %c, %half, %a : f32",
           // Nothing is below, and all else stays.
           "%low = arith.constant 0xFF800000 : f32\n"
           "%0 = arith.maximumf %a, %low : f32",
           "%four = arith.constant 4.0 : f32\n"
           "%1 = arith.mulf %a, %four : f32\n %0 = math.trunc %1 : f32",
           // Ties among them.
           "%eight = arith.constant 8.0 : f32\n"
           "%1 = arith.mulf %a, %eight : f32\n %2 = math.floor %1 : f32\n"
           "%3 = arith.mulf %2, %half : f32\n %0 = math.round %3 : f32",
           "%eight = arith.constant 8.0 : f32\n"
           "%1 = arith.mulf %a, %eight : f32\n %2 = math.floor %1 : f32\n"
           "%3 = arith.mulf %2, %half : f32\n %0 = math.roundeven %3 : f32",
           "%big = arith.constant 40.0 : f32\n"
           "%1 = arith.mulf %a, %big : f32\n"
           "%2 = arith.fptosi %1 : f32 to i32\n"
           "%seven = arith.constant 7 : i32\n"
           "%3 = arith.remsi %2, %seven : i32\n"
           "%4 = arith.divsi %2, %seven : i32\n"
           "%5 = arith.muli %3, %4 : i32\n"
           "%0 = arith.sitofp %5 : i32 to f32",
           "%1 = arith.extf %a : f32 to f64\n %2 = arith.mulf %1, %1 : f64\n"
           "%0 = arith.truncf %2 : f64 to f32",
           "%four = arith.constant 4.0 : f32\n"
           "%1 = arith.mulf %a, %four : f32\n"
           "%2 = arith.fptosi %1 : f32 to i32\n"
           "%0 = arith.sitofp %2 : i32 to f32",
           "%i = linalg.index 1 : index\n"
           "%1 = arith.index_cast %i : index to i64\n"
           "%2 = arith.muli %1, %1 : i64\n %3 = arith.addi %2, %1 : i64\n"
           "%4 = arith.sitofp %3 : i64 to f32\n"
           "%0 = arith.mulf %a, %4 : f32",
       })
    expectSame({2, 3}, {2, 3}, weights("w", {2, 3}, 3) + R"mlir(
  %half = arith.constant 0.5 : f32
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %w : tensor<2x3xf32>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
)mlir" + std::string(body) + R"mlir(
    linalg.yield %0 : f32
  } -> tensor<2x3xf32>
)mlir");
}

// Places by steps, backwards, and by quotients.
TEST_F(RaiseLinalgTest, BodiesReadTheirOperandsByLines) {
  for (const char *map :
       {"affine_map<(i, j) -> (i * 2 + 1, j)>",
        "affine_map<(i, j) -> (i + 4, 4 - j)>",
        "affine_map<(i, j) -> (6 - i * 3, j)>",
        "affine_map<(i, j) -> (i + 1, j)>", "affine_map<(i, j) -> (3, j)>"})
    expectSame(
        {7, 5}, {3, 5},
        std::string(R"mlir(
  %e = tensor.empty() : tensor<3x5xf32>
  %r = linalg.generic {indexing_maps = [)mlir") +
            map +
            R"mlir(, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<7x5xf32>) outs(%e : tensor<3x5xf32>) {
  ^bb0(%a: f32, %o: f32):
    %n = arith.negf %a : f32
    linalg.yield %n : f32
  } -> tensor<3x5xf32>
)mlir");
}

// Ops of scalars have tensors as operands, too.
TEST_F(RaiseLinalgTest, ScalarsOfTensors) {
  expectSame({2, 3}, {2, 3}, weights("w", {2, 3}, 5) + R"mlir(
  %t = math.tanh %x : tensor<2x3xf32>
  %u = arith.mulf %t, %w : tensor<2x3xf32>
  %c = arith.cmpf ogt, %u, %x : tensor<2x3xf32>
  %r = arith.select %c, %u, %x : tensor<2x3xi1>, tensor<2x3xf32>
)mlir");
}

// Bodies may read an element of a tensor from outside.
TEST_F(RaiseLinalgTest, ScalarsFromOutside) {
  expectSame({2, 3}, {2, 3}, weights("w", {4}, 5) + R"mlir(
  %two = arith.constant 2 : index
  %s = tensor.extract %w[%two] : tensor<4xf32>
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.map ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) (%a: f32, %o: f32) {
    %y = arith.mulf %a, %s : f32
    linalg.yield %y : f32
  }
)mlir");
}

TEST_F(RaiseLinalgTest, ReductionsOfAllKinds) {
  struct Case {
    const char *op, *start;
  };
  for (const Case &each :
       {Case{"arith.addf", "0.0"}, Case{"arith.addf", "1.5"},
        Case{"arith.mulf", "1.0"}, Case{"arith.maximumf", "0xFF800000"},
        Case{"arith.maxnumf", "0.25"}, Case{"arith.minimumf", "0x7F800000"}})
    expectSame({2, 3, 4, 5}, {3, 5},
               zeros("init", {3, 5}, each.start) +
                   "  %r = linalg.reduce ins(%x : tensor<2x3x4x5xf32>) "
                   "outs(%init : tensor<3x5xf32>) dimensions = [0, 2]\n"
                   "    (%a: f32, %o: f32) {\n      %s = " +
                   each.op +
                   " %a, %o : f32\n      linalg.yield %s : f32\n    }\n");
  // With a body before the sum, and axes of size 1 that are kept.
  expectSame({2, 3, 4}, {2, 1, 4}, zeros("init", {2, 1, 4}) + R"mlir(
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, 0, k)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x3x4xf32>) outs(%init : tensor<2x1x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %q = arith.mulf %a, %a : f32
    %s = arith.addf %o, %q : f32
    linalg.yield %s : f32
  } -> tensor<2x1x4xf32>
)mlir");
}

TEST_F(RaiseLinalgTest, PlacesOfMaxima) {
  expectSame({2, 5, 3}, {2, 3}, zeros("init", {2, 3}, "0xFF800000") + R"mlir(
  %c0 = arith.constant 0 : i64
  %ei = tensor.empty() : tensor<2x3xi64>
  %zi = linalg.fill ins(%c0 : i64) outs(%ei : tensor<2x3xi64>) -> tensor<2x3xi64>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (i, k)>], iterator_types = ["parallel", "reduction", "parallel"]}
      ins(%x : tensor<2x5x3xf32>) outs(%init, %zi : tensor<2x3xf32>, tensor<2x3xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %i = linalg.index 1 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.maximumf %a, %o : f32
    %g = arith.cmpf ogt, %a, %o : f32
    %q = arith.select %g, %n, %p : i64
    linalg.yield %s, %q : f32, i64
  } -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %e = tensor.empty() : tensor<2x3xf32>
  %r = linalg.map ins(%m#1, %m#0 : tensor<2x3xi64>, tensor<2x3xf32>) outs(%e : tensor<2x3xf32>) (%a: i64, %b: f32, %o: f32) {
    %f = arith.sitofp %a : i64 to f32
    %s = arith.addf %f, %b : f32
    linalg.yield %s : f32
  }
)mlir");
}

// As JAX writes it, and the smallest element.
TEST_F(RaiseLinalgTest, PlacesOfMaximaAmongPlacesThatAreGiven) {
  for (bool isMaximum : {true, false})
    expectSame({2, 5}, {2},
               zeros("init", {2}, isMaximum ? "0xFF800000" : "0x7F800000") +
                   R"mlir(
  %n = arith.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %c0 = arith.constant 0 : i32
  %ei = tensor.empty() : tensor<2xi32>
  %zi = linalg.fill ins(%c0 : i32) outs(%ei : tensor<2xi32>) -> tensor<2xi32>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>], iterator_types = ["parallel", "reduction"]}
      ins(%x, %n : tensor<2x5xf32>, tensor<5xi32>) outs(%init, %zi : tensor<2xf32>, tensor<2xi32>) {
  ^bb0(%a: f32, %i: i32, %o: f32, %p: i32):
    %g = arith.cmpf )mlir" +
                   (isMaximum ? "ogt" : "olt") + R"mlir(, %o, %a : f32
    %u = arith.cmpf une, %o, %o : f32
    %k = arith.ori %g, %u : i1
    %q = arith.cmpf oeq, %o, %a : f32
    %l = arith.cmpi slt, %p, %i : i32
    %f = arith.andi %q, %l : i1
    %h = arith.ori %k, %f : i1
    %s = arith.select %k, %o, %a : f32
    %t = arith.select %h, %p, %i : i32
    linalg.yield %s, %t : f32, i32
  } -> (tensor<2xf32>, tensor<2xi32>)
  %e = tensor.empty() : tensor<2xf32>
  %r = linalg.map ins(%m#1, %m#0 : tensor<2xi32>, tensor<2xf32>) outs(%e : tensor<2xf32>) (%a: i32, %b: f32, %o: f32) {
    %f = arith.sitofp %a : i32 to f32
    %s = arith.addf %f, %b : f32
    linalg.yield %s : f32
  }
)mlir");
}

// Executed as it is and raised, beside its definition.
TEST_F(RaiseLinalgTest, Softmax) {
  for (bool isRaised : {false, true}) {
    module = parseSourceString<ModuleOp>(R"mlir(
func.func @main(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %e = tensor.empty() : tensor<2x3x4xf32>
  %r = linalg.softmax dimension(1) ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %r : tensor<2x3x4xf32>
})mlir",
                                         &context);
    ASSERT_TRUE(module);
    PassManager passes(&context);
    passes.addNestedPass<func::FuncOp>(mct::createRaiseLinalgPass());
    ASSERT_TRUE(!isRaised || succeeded(passes.run(*module)));
    CompileOptions options;
    options.keepTypes = true;
    auto executor = Executor::compile(*module, options);
    ASSERT_TRUE(succeeded(executor)) << llvm::join(diagnostics, "\n");
    std::vector<Floats> inputs = {randomFloats(24, 7)};
    Worker worker(**executor);
    Floats found = runOutputs(worker, **executor, inputs).front();
    auto at = [](int64_t i, int64_t j, int64_t k) {
      return (i * 3 + j) * 4 + k;
    };
    for (int64_t i = 0; i != 2; ++i)
      for (int64_t k = 0; k != 4; ++k) {
        double sum = 0;
        for (int64_t j = 0; j != 3; ++j)
          sum += std::exp(double(inputs[0][at(i, j, k)]));
        for (int64_t j = 0; j != 3; ++j)
          EXPECT_NEAR(found[at(i, j, k)],
                      std::exp(double(inputs[0][at(i, j, k)])) / sum, 1e-6);
      }
  }
}

TEST_F(RaiseLinalgTest, TensorsThatAreMoved) {
  expectSame({2, 3, 4}, {4, 6}, R"mlir(
  %e = tensor.empty() : tensor<4x2x3xf32>
  %t = linalg.transpose ins(%x : tensor<2x3x4xf32>) outs(%e : tensor<4x2x3xf32>) permutation = [2, 0, 1]
  %r = tensor.collapse_shape %t [[0], [1, 2]] : tensor<4x2x3xf32> into tensor<4x6xf32>
)mlir");
  expectSame({6, 4}, {2, 3, 1, 4}, R"mlir(
  %r = tensor.expand_shape %x [[0, 1], [2, 3]] output_shape [2, 3, 1, 4] : tensor<6x4xf32> into tensor<2x3x1x4xf32>
)mlir");
  expectSame({7, 9}, {3, 4}, R"mlir(
  %r = tensor.extract_slice %x[1, 2] [3, 4] [2, 2] : tensor<7x9xf32> to tensor<3x4xf32>
)mlir");
  expectSame({2, 7, 9}, {3, 9}, R"mlir(
  %r = tensor.extract_slice %x[1, 2, 0] [1, 3, 9] [1, 1, 1] : tensor<2x7x9xf32> to tensor<3x9xf32>
)mlir");
  expectSame({2, 3}, {5, 8}, zeros("z", {5, 8}, "0.5") + R"mlir(
  %r = tensor.insert_slice %x into %z[1, 0] [2, 3] [2, 3] : tensor<2x3xf32> into tensor<5x8xf32>
)mlir");
  expectSame({2, 3}, {2, 9}, weights("c", {2, 3}, 4) + R"mlir(
  %r = tensor.concat dim(1) %x, %c, %x : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x9xf32>
)mlir");
  expectSame({2, 3}, {2, 4, 3}, R"mlir(
  %e = tensor.empty() : tensor<2x4x3xf32>
  %r = linalg.broadcast ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x4x3xf32>) dimensions = [1]
)mlir");
}

// Rows that the input chooses, rows of constants in another order, and elements
// of a kernel that is turned around.
TEST_F(RaiseLinalgTest, Lookups) {
  expectSame({2, 3}, {2, 3, 4}, weights("t", {4, 5}, 4) + R"mlir(
  %e = tensor.empty() : tensor<2x3x4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (i, j, k)>], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x : tensor<2x3xf32>) outs(%e : tensor<2x3x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %two = arith.constant 2.0 : f32
    %s = arith.addf %a, %two : f32
    %n = arith.fptosi %s : f32 to i64
    %p = arith.index_cast %n : i64 to index
    %k = linalg.index 2 : index
    %v = tensor.extract %t[%k, %p] : tensor<4x5xf32>
    linalg.yield %v : f32
  } -> tensor<2x3x4xf32>
)mlir");
  expectSame({3, 4}, {4, 2}, R"mlir(
  %one = arith.constant 1 : index
  %e = tensor.empty() : tensor<4x2xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x2xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %three = arith.constant 3 : index
    %q = arith.subi %three, %i : index
    %p = arith.addi %j, %one : index
    %v = tensor.extract %x[%p, %q] : tensor<3x4xf32>
    linalg.yield %v : f32
  } -> tensor<4x2xf32>
)mlir");
}

// The patterns are of use without the pass; what fails to match changes
// nothing.
TEST_F(RaiseLinalgTest, OpsThatCannotBeRaisedStayAsTheyAre) {
  const char *text = R"mlir(
func.func @main(%x: tensor<4x4xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %r = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4x4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %0 = arith.addf %a, %a : f32
    linalg.yield %0 : f32
  } -> tensor<4xf32>
  return %r : tensor<4xf32>
})mlir";
  module = parseSourceString<ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto print = [&]() {
    std::string printed;
    llvm::raw_string_ostream stream(printed);
    module->print(stream);
    return printed;
  };
  std::string before = print();
  context.loadDialect<mlir::tosa::TosaDialect>();
  RewritePatternSet patterns(&context);
  mct::populateRaiseLinalgPatterns(patterns);
  walkAndApplyPatterns(*module, std::move(patterns));
  EXPECT_EQ(print(), before);
}
