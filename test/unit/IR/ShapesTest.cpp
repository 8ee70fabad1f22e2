// SPDX-License-Identifier: Apache-2.0
//
// Decisions of `verifyShapes`, against counting: windows are put down one after
// the other, and unknown sizes are tried. Modules are read without upstream's
// verifiers, so that nothing is refused before.
#include "mct/IR/Shapes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/FormatVariadic.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;

namespace {
class ShapesTest : public testing::Test {
protected:
  ShapesTest() : context(MLIRContext::Threading::DISABLED) {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect>();
    context.printOpOnDiagnostic(false);
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diagnostic) { errors.push_back(diagnostic.str()); });
  }

  /// Returns whether the body of a function is taken; a refusal has one error.
  bool isTaken(const std::string &arguments, const std::string &body) {
    std::string text =
        "func.func @main(" + arguments + ") {\n" + body + "\n  return\n}\n";
    ParserConfig config(&context, /*verifyAfterParse=*/false);
    auto module = parseSourceString<ModuleOp>(text, config);
    if (!module) {
      ADD_FAILURE() << text << errors.back();
      return false;
    }
    errors.clear();
    bool isTaken = succeeded(mct::verifyShapes(*module));
    EXPECT_EQ(errors.size(), isTaken ? 0u : 1u) << text;
    return isTaken;
  }

  size_t below(size_t end) { return random() % end; }

  MLIRContext context;
  std::vector<std::string> errors;
  std::mt19937 random{1};
};
} // namespace

/// Returns the number of windows if the last element of the last window is the
/// last one of the padded image; otherwise 0.
static int64_t countWindows(int64_t size, int64_t kernel, int64_t stride,
                            int64_t dilation, int64_t before, int64_t after) {
  if (kernel < 1 || stride < 1 || dilation < 1 || before < 0 || after < 0)
    return 0;
  int64_t last = -1;
  for (int64_t i = 0; i != kernel; ++i)
    last += i == 0 ? 1 : dilation;
  for (int64_t count = 1;; ++count, last += stride) {
    if (last == before + size + after - 1)
      return count;
    if (last > before + size + after - 1)
      return 0;
  }
}

TEST_F(ShapesTest, WindowsAreCounted) {
  size_t taken = 0;
  for (int round = 0; round != 3000; ++round) {
    auto size = int64_t(1 + below(6)), kernel = int64_t(below(4)),
         stride = int64_t(below(4)), dilation = int64_t(below(3)),
         before = int64_t(below(4)) - 1, after = int64_t(below(4)) - 1,
         claimed = int64_t(1 + below(6));
    // Few of these are all right by chance.
    if (int64_t right =
            countWindows(size, kernel, stride, dilation, before, after);
        right > 0 && below(2) == 0)
      claimed = right;
    bool expected =
        countWindows(size, kernel, stride, dilation, before, after) == claimed;
    std::string pads =
        llvm::formatv("array<i64: {0}, {1}, 0, 0>", before, after);
    std::string arguments = llvm::formatv(
        "%x: tensor<1x{0}x4x2xf32>, %k: tensor<3x{1}x1x2xf32>, %d: "
        "tensor<{1}x1x2x1xf32>, %v: tensor<1x{0}x4x4x2xf32>, %w: "
        "tensor<3x{1}x1x1x2xf32>, %b: tensor<1xf32>",
        size, kernel);
    std::string conv = llvm::formatv(
        "%0 = tosa.conv2d %x, %k, %b, %b, %b {{acc_type = f32, pad = {0}, "
        "stride = array<i64: {1}, 1>, dilation = array<i64: {2}, 1>} : "
        "(tensor<1x{3}x4x2xf32>, tensor<3x{4}x1x2xf32>, tensor<1xf32>, "
        "tensor<1xf32>, tensor<1xf32>) -> tensor<1x{5}x4x3xf32>",
        pads, stride, dilation, size, kernel, claimed);
    EXPECT_EQ(isTaken(arguments, conv), expected) << conv;
    std::string depthwise = llvm::formatv(
        "%0 = tosa.depthwise_conv2d %x, %d, %b, %b, %b {{acc_type = f32, pad = "
        "{0}, stride = array<i64: {1}, 1>, dilation = array<i64: {2}, 1>} : "
        "(tensor<1x{3}x4x2xf32>, tensor<{4}x1x2x1xf32>, tensor<1xf32>, "
        "tensor<1xf32>, tensor<1xf32>) -> tensor<1x{5}x4x2xf32>",
        pads, stride, dilation, size, kernel, claimed);
    EXPECT_EQ(isTaken(arguments, depthwise), expected) << depthwise;
    std::string volume = llvm::formatv(
        "%0 = tosa.conv3d %v, %w, %b, %b, %b {{acc_type = f32, pad = "
        "array<i64: {0}, {1}, 0, 0, 0, 0>, stride = array<i64: {2}, 1, 1>, "
        "dilation = array<i64: {3}, 1, 1>} : (tensor<1x{4}x4x4x2xf32>, "
        "tensor<3x{5}x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, "
        "tensor<1xf32>) -> tensor<1x{6}x4x4x3xf32>",
        before, after, stride, dilation, size, kernel, claimed);
    EXPECT_EQ(isTaken(arguments, volume), expected) << volume;
    taken += expected;
    // Pools have no dilation.
    expected = countWindows(size, kernel, stride, 1, before, after) == claimed;
    std::string pool = llvm::formatv(
        "%0 = tosa.max_pool2d %x {{kernel = array<i64: {0}, 1>, pad = {1}, "
        "stride = array<i64: {2}, 1>} : (tensor<1x{3}x4x2xf32>) -> "
        "tensor<1x{4}x4x2xf32>",
        kernel, pads, stride, size, claimed);
    EXPECT_EQ(isTaken(arguments, pool), expected) << pool;
    std::string mean = llvm::formatv(
        "%0 = tosa.avg_pool2d %x, %b, %b {{acc_type = f32, kernel = array<i64: "
        "{0}, 1>, pad = {1}, stride = array<i64: {2}, 1>} : "
        "(tensor<1x{3}x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> "
        "tensor<1x{4}x4x2xf32>",
        kernel, pads, stride, size, claimed);
    EXPECT_EQ(isTaken(arguments, mean), expected) << mean;
  }
  EXPECT_GT(taken, 200u);
}

// The size is what each element of the image reaches, less what is cropped.
TEST_F(ShapesTest, TransposedWindowsAreCounted) {
  size_t taken = 0;
  for (int round = 0; round != 2000; ++round) {
    auto size = int64_t(1 + below(4)), kernel = int64_t(1 + below(3)),
         stride = int64_t(below(4)), before = int64_t(below(6)) - 3,
         after = int64_t(below(6)) - 3;
    int64_t end = 0;
    for (int64_t i = 0; i != size; ++i)
      end = std::max(end, i * stride + kernel);
    int64_t right = end + before + after;
    int64_t claimed =
        right > 0 && below(2) == 0 ? right : int64_t(1 + below(8));
    bool expected =
        stride > 0 && before > -kernel && after > -kernel && right == claimed;
    std::string conv = llvm::formatv(
        "%0 = tosa.transpose_conv2d %x, %k, %b, %b, %b {{acc_type = f32, "
        "out_pad = array<i64: {0}, {1}, 0, 0>, stride = array<i64: {2}, 1>} : "
        "(tensor<1x{3}x4x2xf32>, tensor<3x{4}x1x2xf32>, tensor<1xf32>, "
        "tensor<1xf32>, tensor<1xf32>) -> tensor<1x{5}x4x3xf32>",
        before, after, stride, size, kernel, claimed);
    EXPECT_EQ(isTaken(llvm::formatv("%x: tensor<1x{0}x4x2xf32>, %k: "
                                    "tensor<3x{1}x1x2xf32>, %b: tensor<1xf32>",
                                    size, kernel),
                      conv),
              expected)
        << conv;
    taken += expected;
  }
  EXPECT_GT(taken, 200u);
}

TEST_F(ShapesTest, ResizedImagesEndWhereTheirLastElementIs) {
  size_t taken = 0;
  for (int round = 0; round != 3000; ++round) {
    auto size = int64_t(1 + below(5)), numerator = int64_t(below(5)),
         denominator = int64_t(below(4)), offset = int64_t(below(5)) - 2,
         border = int64_t(below(5)) - 2, claimed = int64_t(1 + below(8));
    // Element y of the result is at (y * denominator + offset) / numerator.
    auto isLast = [&](int64_t y) {
      return y * denominator + offset == (size - 1) * numerator + border;
    };
    for (int64_t y = 0; y != 8 && below(2) == 0; ++y)
      if (isLast(y))
        claimed = y + 1;
    bool expected = numerator > 0 && denominator > 0 && isLast(claimed - 1);
    std::string resize = llvm::formatv(
        "%s = tosa.const_shape {{values = dense<[{0}, {1}, 1, 1]> : "
        "tensor<4xindex>} : () -> !tosa.shape<4>\n"
        "%o = tosa.const_shape {{values = dense<[{2}, 0]> : tensor<2xindex>} : "
        "() -> !tosa.shape<2>\n"
        "%e = tosa.const_shape {{values = dense<[{3}, 0]> : tensor<2xindex>} : "
        "() -> !tosa.shape<2>\n"
        "%0 = tosa.resize %x, %s, %o, %e {{mode = BILINEAR} : "
        "(tensor<1x{4}x4x2xf32>, !tosa.shape<4>, !tosa.shape<2>, "
        "!tosa.shape<2>) -> tensor<1x{5}x4x2xf32>",
        numerator, denominator, offset, border, size, claimed);
    EXPECT_EQ(isTaken(llvm::formatv("%x: tensor<1x{0}x4x2xf32>", size), resize),
              expected)
        << resize;
    taken += expected;
  }
  EXPECT_GT(taken, 100u);
}

static std::string listOf(ArrayRef<int64_t> values) {
  return "[" +
         llvm::join(llvm::map_range(
                        values, [](int64_t v) { return std::to_string(v); }),
                    ", ") +
         "]";
}

static std::string typeOf(ArrayRef<int64_t> sizes) {
  std::string text = "tensor<";
  for (int64_t size : sizes)
    text += (size < 0 ? "?" : std::to_string(size)) + "x";
  return text + "f32>";
}

/// The product of the sizes that are known.
static int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    product *= size < 0 ? 1 : size;
  return product;
}

/// Returns whether the sizes, of which -1 are any from 1 on, are those of
/// `count` elements.
static bool canHave(ArrayRef<int64_t> sizes, int64_t count) {
  int64_t known = multiply(sizes);
  if (known == 0)
    return false;
  return llvm::is_contained(sizes, -1) ? count % known == 0 : count == known;
}

TEST_F(ShapesTest, ReshapedElementsAreCounted) {
  size_t taken = 0;
  for (int round = 0; round != 4000; ++round) {
    auto sizes = [&](int64_t low, size_t end) {
      std::vector<int64_t> result(below(4));
      for (int64_t &size : result)
        if (size = int64_t(below(end)) + low; size == 0 && low == -1)
          size = -1;
      return result;
    };
    std::vector<int64_t> from = sizes(-1, 5), shape = sizes(-2, 6), to = shape;
    for (int64_t &size : to)
      if (size < 1 || below(6) == 0)
        size = below(2) == 0 ? -1 : int64_t(1 + below(4));
    bool isSpelled =
        llvm::count(shape, -1) <= 1 &&
        llvm::all_of(shape, [](int64_t s) { return s > 0 || s == -1; });
    // All sizes of the input that is not known are tried.
    bool expected = false;
    for (int64_t count = 1; isSpelled && count != 200; ++count) {
      if (!canHave(from, count) || !canHave(shape, count))
        continue;
      bool isSame = true;
      for (auto [spelled, size] : llvm::zip(shape, to))
        isSame &= size < 0 ||
                  size == (spelled < 0 ? count / multiply(shape) : spelled);
      expected |= isSame;
    }
    // Two numbers that are not known: left to what infers them.
    if (llvm::is_contained(from, -1) && llvm::is_contained(shape, -1))
      continue;
    std::string reshape = llvm::formatv(
        "%s = tosa.const_shape {{values = dense<{0}> : tensor<{1}xindex>} : () "
        "-> !tosa.shape<{1}>\n%0 = tosa.reshape %x, %s : ({2}, "
        "!tosa.shape<{1}>) -> {3}",
        listOf(shape), shape.size(), typeOf(from), typeOf(to));
    if (shape.empty())
      continue;
    EXPECT_EQ(isTaken("%x: " + typeOf(from), reshape), expected) << reshape;
    taken += expected;
  }
  EXPECT_GT(taken, 100u);
}

TEST_F(ShapesTest, SizesOfOneDimensionAreCounted) {
  for (int64_t size = 1; size != 5; ++size)
    for (int64_t a = -3; a != 5; ++a)
      for (int64_t b = -3; b != 5; ++b)
        for (int64_t claimed = 1; claimed != 9; ++claimed) {
          std::string argument = "%x: " + typeOf({size}),
                      to = typeOf({claimed}), from = typeOf({size});
          auto shape = [](StringRef name, ArrayRef<int64_t> values) {
            return llvm::formatv("%{0} = tosa.const_shape {{values = dense<{1}>"
                                 " : tensor<{2}xindex>} : () -> "
                                 "!tosa.shape<{2}>\n",
                                 name, listOf(values), values.size())
                .str();
          };
          std::string slice = shape("a", {a}) + shape("b", {b}) +
                              "%0 = tosa.slice %x, %a, %b : (" + from +
                              ", !tosa.shape<1>, !tosa.shape<1>) -> " + to;
          int64_t read = b == -1 ? size - a : b;
          EXPECT_EQ(isTaken(argument, slice),
                    a >= 0 && read > 0 && a + read <= size && read == claimed)
              << slice;
          std::string pad = shape("a", {a, b}) +
                            "%0 = tosa.pad %x, %a, %x : (" + from +
                            ", !tosa.shape<2>, " + from + ") -> " + to;
          EXPECT_EQ(isTaken(argument, pad),
                    a >= 0 && b >= 0 && a + size + b == claimed)
              << pad;
          std::string tile = shape("a", {a}) + "%0 = tosa.tile %x, %a : (" +
                             from + ", !tosa.shape<1>) -> " + to;
          EXPECT_EQ(isTaken(argument, tile), a > 0 && a * size == claimed)
              << tile;
        }
}
