// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ConstantEvaluator.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/AsmState.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "gtest/gtest.h"

#include <cmath>
#include <limits>
#include <random>

using namespace mlir;
using namespace mct;
using Doubles = std::vector<double>;

namespace {
class ConstantEvaluatorTest : public testing::Test {
protected:
  ConstantEvaluatorTest() {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                        arith::ArithDialect, tpc::TpcDialect>();
  }

  /// Parses the body of a function, and returns the operand of its return.
  Value parse(const std::string &type, const std::string &body,
              const std::string &resources = "") {
    module = parseSourceString<ModuleOp>(
        "func.func @main() -> " + type + " {\n" + body + "\n}\n" + resources,
        &context);
    if (!module) {
      ADD_FAILURE() << body;
      return {};
    }
    auto function = *module->getOps<func::FuncOp>().begin();
    return function.getBody().front().getTerminator()->getOperand(0);
  }

  /// All elements of what the body returns; empty when that has no value.
  Doubles evaluate(const std::string &type, const std::string &body,
                   const std::string &resources = "") {
    Value value = parse(type, body, resources);
    ConstantEvaluator evaluator;
    auto tensor = value ? evaluator.evaluate(value) : std::nullopt;
    if (!tensor)
      return {};
    EXPECT_EQ(tensor->getType(), value.getType());
    Doubles stored = tensor->decode<double>();
    return tensor->isSplat() ? Doubles(tensor->getNumElements(), stored[0])
                             : stored;
  }

  /// The value of one cast of a constant.
  Doubles castTo(const std::string &from, const std::string &values,
                 const std::string &to) {
    return evaluate("tensor<" + to + ">",
                    "%0 = arith.constant " + values + " : tensor<" + from +
                        ">\n%1 = tosa.cast %0 : (tensor<" + from +
                        ">) -> tensor<" + to + ">\nreturn %1 : tensor<" + to +
                        ">");
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};
} // namespace

//===----------------------------------------------------------------------===//
// Element types
//===----------------------------------------------------------------------===//

TEST_F(ConstantEvaluatorTest, FloatsOfEverySizeAreWidened) {
  EXPECT_EQ(castTo("3xf16", "dense<[0.5, -65504.0, 5.96046448e-08]>", "3xf32"),
            (Doubles{0.5, -65504, 0x1p-24}));
  EXPECT_EQ(castTo("2xbf16", "dense<[1.0e38, -3.0]>", "2xf32"),
            (Doubles{0x1.2cp126, -3})); // 1e38 to eight bits
  EXPECT_EQ(castTo("2xf64", "dense<[1.0000000001, 1.0e300]>", "2xf32"),
            (Doubles{1, std::numeric_limits<double>::infinity()}));
  EXPECT_EQ(castTo("2xf8E4M3FN", "dense<[448.0, -0.0625]>", "2xf32"),
            (Doubles{448, -0.0625}));
}

TEST_F(ConstantEvaluatorTest, FloatsAreNarrowedToTheNearestEven) {
  // 1 + 2^-11 lies between two f16; 65520 rounds to infinity.
  EXPECT_EQ(castTo("3xf32", "dense<[1.00048828125, 1.00146484375, 65520.0]>",
                   "3xf16"),
            (Doubles{1, 1.001953125, std::numeric_limits<double>::infinity()}));
}

TEST_F(ConstantEvaluatorTest, IntegersOfEverySizeAreNumbers) {
  EXPECT_EQ(castTo("3xi8", "dense<[-128, -1, 127]>", "3xf32"),
            (Doubles{-128, -1, 127}));
  EXPECT_EQ(castTo("3xi16", "dense<[-32768, 1, 2]>", "3xf32"),
            (Doubles{-32768, 1, 2}));
  EXPECT_EQ(castTo("2xi64", "dense<[-9007199254740992, 3]>", "2xf32"),
            (Doubles{-0x1p53, 3}));
  EXPECT_EQ(castTo("3xi4", "dense<[-8, 7, -1]>", "3xf32"),
            (Doubles{-8, 7, -1}));
  EXPECT_EQ(castTo("9xi1", "dense<[1, 0, 0, 1, 1, 0, 1, 0, 1]>", "9xf32"),
            (Doubles{1, 0, 0, 1, 1, 0, 1, 0, 1}));
  EXPECT_EQ(castTo("2xi1", "dense<true>", "2xi32"), (Doubles{1, 1}));
}

TEST_F(ConstantEvaluatorTest, FloatsRoundToEvenIntegersAndSaturate) {
  EXPECT_EQ(castTo("5xf32", "dense<[0.5, 1.5, -2.5, 1000.0, -1.0e30]>", "5xi8"),
            (Doubles{0, 2, -2, 127, -128}));
  EXPECT_EQ(castTo("2xf32", "dense<[0.25, 0.0]>", "2xi1"), (Doubles{1, 0}));
  EXPECT_TRUE(castTo("1xf32", "dense<0x7FC00000>", "1xi8").empty());
}

TEST_F(ConstantEvaluatorTest, IntegersWrap) {
  EXPECT_EQ(castTo("2xi32", "dense<[300, -129]>", "2xi8"), (Doubles{44, 127}));
}

/// Casts a resource of five elements to f32.
static std::string castResource(const std::string &type) {
  return "%0 = \"tosa.const\"() <{values = dense_resource<r> : tensor<5x" +
         type + ">}> : () -> tensor<5x" + type + ">\n" +
         "%1 = tosa.cast %0 : (tensor<5x" + type +
         ">) -> tensor<5xf32>\nreturn %1 : tensor<5xf32>";
}

static std::string resource(const std::string &bytes) {
  return "{-# dialect_resources: { builtin: { r: \"0x01000000" + bytes +
         "\" } } #-}";
}

TEST_F(ConstantEvaluatorTest, SubByteResourcesMayBePacked) {
  // 1, -2, 3, -4, 5: the first in the lowest four bits.
  EXPECT_EQ(evaluate("tensor<5xf32>", castResource("i4"), resource("E1C305")),
            (Doubles{1, -2, 3, -4, 5}));
  EXPECT_EQ(
      evaluate("tensor<5xf32>", castResource("i4"), resource("01FE03FC05")),
      (Doubles{1, -2, 3, -4, 5}));
  // 0b10110
  EXPECT_EQ(evaluate("tensor<5xf32>", castResource("i1"), resource("16")),
            (Doubles{0, 1, 1, 0, 1}));
}

TEST_F(ConstantEvaluatorTest, ResourcesOfAnotherSizeHaveNoValue) {
  EXPECT_TRUE(
      evaluate("tensor<5xf32>", castResource("i4"), resource("E1C3")).empty());
  EXPECT_TRUE(
      evaluate("tensor<5xf32>", castResource("i8"), resource("E1C3")).empty());
  EXPECT_TRUE(evaluate("tensor<5xf32>", castResource("i8")).empty());
}

TEST_F(ConstantEvaluatorTest, RankZeroAndSizeZero) {
  EXPECT_EQ(evaluate("tensor<f32>", R"(
    %0 = arith.constant dense<3.0> : tensor<f32>
    %1 = tosa.add %0, %0 : (tensor<f32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>)"),
            (Doubles{6}));
  Value none = parse("tensor<0x3xi4>", R"(
    %0 = arith.constant dense<> : tensor<0x3xi4>
    return %0 : tensor<0x3xi4>)");
  ASSERT_TRUE(none);
  auto tensor = ConstantEvaluator().evaluate(none);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->getNumStored(), 0);
  EXPECT_TRUE(tensor->toAttribute("none"));
}

TEST_F(ConstantEvaluatorTest, NarrowFloatsRoundAfterEachOp) {
  // In f16 2048 + 1 is 2048, and stays there.
  EXPECT_EQ(evaluate("tensor<1xf16>", R"(
    %0 = arith.constant dense<2048.0> : tensor<1xf16>
    %1 = arith.constant dense<1.0> : tensor<1xf16>
    %2 = tosa.add %0, %1 : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16>
    %3 = tosa.add %2, %1 : (tensor<1xf16>, tensor<1xf16>) -> tensor<1xf16>
    return %3 : tensor<1xf16>)"),
            (Doubles{2048}));
}

TEST_F(ConstantEvaluatorTest, DoublesKeepTheirDigits) {
  EXPECT_EQ(evaluate("tensor<1xf64>", R"(
    %0 = arith.constant dense<1.0> : tensor<1xf64>
    %1 = arith.constant dense<1.0e-15> : tensor<1xf64>
    %2 = tosa.add %0, %1 : (tensor<1xf64>, tensor<1xf64>) -> tensor<1xf64>
    return %2 : tensor<1xf64>)"),
            (Doubles{1.0 + 1.0e-15}));
}

TEST_F(ConstantEvaluatorTest, IntegerProductsNeedNoShift) {
  const char *body = R"(
    %0 = arith.constant dense<[-100, 100]> : tensor<2xi8>
    %1 = arith.constant dense<SHIFT> : tensor<1xi8>
    %2 = tosa.mul %0, %0, %1 : (tensor<2xi8>, tensor<2xi8>, tensor<1xi8>) -> tensor<2xi32>
    return %2 : tensor<2xi32>)";
  std::string text = body;
  EXPECT_EQ(evaluate("tensor<2xi32>", text.replace(text.find("SHIFT"), 5, "0")),
            (Doubles{10000, 10000}));
  text = body;
  EXPECT_TRUE(
      evaluate("tensor<2xi32>", text.replace(text.find("SHIFT"), 5, "1"))
          .empty());
}

//===----------------------------------------------------------------------===//
// Movements, against an index computation of their own
//===----------------------------------------------------------------------===//

static std::string shapeConstant(const std::string &name,
                                 const std::string &values, int rank) {
  std::string count = std::to_string(rank);
  return name + " = tosa.const_shape {values = dense<" + values +
         "> : tensor<" + count + "xindex>} : () -> !tosa.shape<" + count +
         ">\n";
}

/// tensor<2x3x4xi16> with the elements 0 to 23, as %0.
static std::string counting() {
  std::string values;
  for (int i = 0; i != 2; ++i) {
    values += i ? ", [" : "[[";
    for (int j = 0; j != 3; ++j) {
      values += j ? ", [" : "[";
      for (int k = 0; k != 4; ++k)
        values += (k ? ", " : "") + std::to_string(i * 12 + j * 4 + k);
      values += "]";
    }
    values += "]";
  }
  return "%0 = arith.constant dense<" + values + "]> : tensor<2x3x4xi16>\n";
}

/// Elements of a 3-D tensor of this shape, by index.
static Doubles tabulate(int64_t d0, int64_t d1, int64_t d2,
                        llvm::function_ref<double(int, int, int)> element) {
  Doubles values;
  for (int i = 0; i != d0; ++i)
    for (int j = 0; j != d1; ++j)
      for (int k = 0; k != d2; ++k)
        values.push_back(element(i, j, k));
  return values;
}

static double number(int i, int j, int k) { return i * 12 + j * 4 + k; }

TEST_F(ConstantEvaluatorTest, Transpose) {
  EXPECT_EQ(
      evaluate("tensor<4x2x3xi16>", counting() + R"(
    %1 = tosa.transpose %0 {perms = array<i32: 2, 0, 1>} : (tensor<2x3x4xi16>) -> tensor<4x2x3xi16>
    return %1 : tensor<4x2x3xi16>)"),
      tabulate(4, 2, 3, [](int i, int j, int k) { return number(j, k, i); }));
}

TEST_F(ConstantEvaluatorTest, Reverse) {
  for (int axis = 0; axis != 3; ++axis)
    EXPECT_EQ(evaluate("tensor<2x3x4xi16>",
                       counting() + "%1 = tosa.reverse %0 {axis = " +
                           std::to_string(axis) +
                           " : i32} : (tensor<2x3x4xi16>) -> "
                           "tensor<2x3x4xi16>\nreturn %1 : tensor<2x3x4xi16>"),
              tabulate(2, 3, 4, [&](int i, int j, int k) {
                return number(axis == 0 ? 1 - i : i, axis == 1 ? 2 - j : j,
                              axis == 2 ? 3 - k : k);
              }));
}

TEST_F(ConstantEvaluatorTest, Slice) {
  EXPECT_EQ(evaluate("tensor<1x2x3xi16>",
                     counting() + shapeConstant("%s", "[1, 1, 0]", 3) +
                         shapeConstant("%n", "[1, 2, 3]", 3) +
                         R"(
    %1 = tosa.slice %0, %s, %n : (tensor<2x3x4xi16>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x2x3xi16>
    return %1 : tensor<1x2x3xi16>)"),
            tabulate(1, 2, 3, [](int i, int j, int k) {
              return number(i + 1, j + 1, k);
            }));
}

TEST_F(ConstantEvaluatorTest, Tile) {
  EXPECT_EQ(evaluate("tensor<4x3x8xi16>",
                     counting() + shapeConstant("%n", "[2, 1, 2]", 3) + R"(
    %1 = tosa.tile %0, %n : (tensor<2x3x4xi16>, !tosa.shape<3>) -> tensor<4x3x8xi16>
    return %1 : tensor<4x3x8xi16>)"),
            tabulate(4, 3, 8, [](int i, int j, int k) {
              return number(i % 2, j, k % 4);
            }));
}

TEST_F(ConstantEvaluatorTest, Pad) {
  EXPECT_EQ(
      evaluate("tensor<2x5x5xi16>",
               counting() + shapeConstant("%p", "[0, 0, 2, 0, 0, 1]", 6) + R"(
    %v = arith.constant dense<-7> : tensor<1xi16>
    %1 = tosa.pad %0, %p, %v : (tensor<2x3x4xi16>, !tosa.shape<6>, tensor<1xi16>) -> tensor<2x5x5xi16>
    return %1 : tensor<2x5x5xi16>)"),
      tabulate(2, 5, 5, [](int i, int j, int k) {
        return j < 2 || k == 4 ? -7 : number(i, j - 2, k);
      }));
}

TEST_F(ConstantEvaluatorTest, ConcatOfStoredTensorsAndSplats) {
  EXPECT_EQ(evaluate("tensor<2x4x4xi16>", counting() + R"(
    %c = arith.constant dense<9> : tensor<2x1x4xi16>
    %1 = tosa.concat %0, %c {axis = 1 : i32} : (tensor<2x3x4xi16>, tensor<2x1x4xi16>) -> tensor<2x4x4xi16>
    return %1 : tensor<2x4x4xi16>)"),
            tabulate(2, 4, 4, [](int i, int j, int k) {
              return j == 3 ? 9 : number(i, j, k);
            }));
}

TEST_F(ConstantEvaluatorTest, SelectAndComparisonBroadcast) {
  // Where the column is above 1: the number, else -1.
  EXPECT_EQ(evaluate("tensor<2x3x4xi16>", counting() + R"(
    %k = arith.constant dense<[[[0, 1, 2, 3]]]> : tensor<1x1x4xi16>
    %one = arith.constant dense<1> : tensor<1x1x1xi16>
    %no = arith.constant dense<-1> : tensor<1x1x1xi16>
    %c = tosa.greater %k, %one : (tensor<1x1x4xi16>, tensor<1x1x1xi16>) -> tensor<1x1x4xi1>
    %1 = tosa.select %c, %0, %no : (tensor<1x1x4xi1>, tensor<2x3x4xi16>, tensor<1x1x1xi16>) -> tensor<2x3x4xi16>
    return %1 : tensor<2x3x4xi16>)"),
            tabulate(2, 3, 4, [](int i, int j, int k) {
              return k > 1 ? number(i, j, k) : -1;
            }));
}

//===----------------------------------------------------------------------===//
// Cost
//===----------------------------------------------------------------------===//

/// `count` additions, each of the sum before it to itself.
static std::string doublings(int count, const std::string &type) {
  std::string text = "%0 = arith.constant dense<1.0> : " + type + "\n";
  for (int i = 0; i != count; ++i) {
    std::string from = "%" + std::to_string(i);
    text += "%" + std::to_string(i + 1) + " = tosa.add " + from + ", " + from +
            " : (" + type + ", " + type + ") -> " + type + "\n";
  }
  return text + "return %" + std::to_string(count) + " : " + type;
}

TEST_F(ConstantEvaluatorTest, AValueIsComputedOnceHoweverOftenItIsRead) {
  Value value = parse("tensor<4xf32>", doublings(60, "tensor<4xf32>"));
  ConstantEvaluator evaluator;
  auto tensor = evaluator.evaluate(value);
  ASSERT_TRUE(tensor);
  EXPECT_TRUE(tensor->isUniformly(0x1p60));
  EXPECT_EQ(evaluator.getNumComputed(), 60u);
  // Small results stay: nothing is computed again.
  for (Operation &op : value.getDefiningOp()->getBlock()->without_terminator())
    EXPECT_TRUE(evaluator.evaluate(op.getResult(0)));
  EXPECT_EQ(evaluator.getNumComputed(), 60u);
}

TEST_F(ConstantEvaluatorTest, LongChainsNeedNoStack) {
  Value value = parse("tensor<1xf32>", R"(
    %0 = arith.constant dense<1.0> : tensor<1xf32>
    return %0 : tensor<1xf32>)");
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Value sum = value;
  for (int i = 0; i != 200000; ++i)
    sum = tosa::AddOp::create(builder, value.getLoc(), value.getType(), sum,
                              value);
  auto tensor = ConstantEvaluator().evaluate(sum);
  ASSERT_TRUE(tensor);
  EXPECT_TRUE(tensor->isUniformly(200001));
}

TEST_F(ConstantEvaluatorTest, HugeSplatsStaySplats) {
  Value value = parse("tensor<40000000000x2xf32>", R"(
    %s = arith.constant dense<0> : tensor<1xi8>
    %0 = arith.constant dense<1.5> : tensor<2x40000000000xf16>
    %1 = tosa.cast %0 : (tensor<2x40000000000xf16>) -> tensor<2x40000000000xf32>
    %2 = tosa.mul %1, %1, %s : (tensor<2x40000000000xf32>, tensor<2x40000000000xf32>, tensor<1xi8>) -> tensor<2x40000000000xf32>
    %3 = tosa.exp %2 : (tensor<2x40000000000xf32>) -> tensor<2x40000000000xf32>
    %4 = tosa.log %3 : (tensor<2x40000000000xf32>) -> tensor<2x40000000000xf32>
    %5 = tosa.transpose %4 {perms = array<i32: 1, 0>} : (tensor<2x40000000000xf32>) -> tensor<40000000000x2xf32>
    %6 = tosa.reverse %5 {axis = 1 : i32} : (tensor<40000000000x2xf32>) -> tensor<40000000000x2xf32>
    return %6 : tensor<40000000000x2xf32>)");
  auto tensor = ConstantEvaluator().evaluate(value);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->getNumStored(), 1);
  EXPECT_NEAR(tensor->decode<double>()[0], 2.25, 1e-6);
  EXPECT_TRUE(isa<SplatElementsAttr>(tensor->toAttribute("huge")));
}

TEST_F(ConstantEvaluatorTest, WhatIsMuchLargerThanItsConstantsHasNoValue) {
  // A tensor that is no splat, repeated to 2^40 elements.
  EXPECT_TRUE(evaluate("tensor<1099511627776xf32>",
                       shapeConstant("%n", "[549755813888]", 1) + R"(
    %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = tosa.tile %0, %n : (tensor<2xf32>, !tosa.shape<1>) -> tensor<1099511627776xf32>
    return %1 : tensor<1099511627776xf32>)")
                  .empty());
  EXPECT_TRUE(evaluate("tensor<1048576x1048576xf32>",
                       shapeConstant("%m", "[524288, 1]", 2) +
                           shapeConstant("%n", "[1, 524288]", 2) + R"(
    %0 = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %1 = arith.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
    %2 = tosa.tile %0, %m : (tensor<2x1xf32>, !tosa.shape<2>) -> tensor<1048576x1xf32>
    %3 = tosa.tile %1, %n : (tensor<1x2xf32>, !tosa.shape<2>) -> tensor<1x1048576xf32>
    %4 = tosa.add %2, %3 : (tensor<1048576x1xf32>, tensor<1x1048576xf32>) -> tensor<1048576x1048576xf32>
    return %4 : tensor<1048576x1048576xf32>)")
                  .empty());
}

TEST_F(ConstantEvaluatorTest, WhatHasAnArgumentHasNoValue) {
  module = parseSourceString<ModuleOp>(R"(
    func.func @main(%x: tensor<1xf32>) -> tensor<1xf32> {
      %0 = arith.constant dense<1.0> : tensor<1xf32>
      %1 = tosa.add %0, %x : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %2 = tosa.add %1, %0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      return %2 : tensor<1xf32>
    })",
                                       &context);
  ASSERT_TRUE(module);
  auto function = *module->getOps<func::FuncOp>().begin();
  EXPECT_FALSE(ConstantEvaluator().evaluate(
      function.getBody().front().getTerminator()->getOperand(0)));
}

TEST_F(ConstantEvaluatorTest, StoredFloatsAreNotCopied) {
  Value value = parse("tensor<1x5xf32>", R"(
    %s = tosa.const_shape {values = dense<[1, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %0 = "tosa.const"() <{values = dense_resource<r> : tensor<5xf32>}> : () -> tensor<5xf32>
    %1 = tosa.reshape %0, %s : (tensor<5xf32>, !tosa.shape<2>) -> tensor<1x5xf32>
    return %1 : tensor<1x5xf32>)",
                      "{-# dialect_resources: { builtin: { r: "
                      "\"0x040000000000803F0000803F0000803F0000803F0000803F\" "
                      "} } #-}");
  auto attribute =
      cast<DenseResourceElementsAttr>(value.getDefiningOp()
                                          ->getOperand(0)
                                          .getDefiningOp<tosa::ConstOp>()
                                          .getValues());
  auto tensor = ConstantEvaluator().evaluate(value);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->getBytes().data(),
            attribute.getRawHandle().getBlob()->getData().data());
  EXPECT_EQ(cast<DenseResourceElementsAttr>(tensor->toAttribute("copy"))
                .getRawHandle(),
            attribute.getRawHandle());
}

TEST_F(ConstantEvaluatorTest, CallersAddOps) {
  Value value = parse("tensor<2xf32>", R"(
    %0 = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %1 = tpc.quantize %0 as "w" weight "kernel_attr" axes [] : tensor<2xf32>
    %2 = tosa.add %1, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
    return %2 : tensor<2xf32>)");
  ASSERT_TRUE(value);
  EXPECT_FALSE(ConstantEvaluator().evaluate(value));
  ConstantEvaluator evaluator;
  evaluator.handle<tpc::QuantizeOp>(
      [](tpc::QuantizeOp op, ConstantEvaluator::Operands operands) {
        std::vector<float> values = operands.front().decode<float>();
        for (float &value : values)
          value += 0.5f;
        return ConstantTensor::create(cast<RankedTensorType>(op.getType()),
                                      std::move(values));
      });
  auto tensor = evaluator.evaluate(value);
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->decode<double>(), (Doubles{3, 5}));
}

TEST_F(ConstantEvaluatorTest, LargeResultsAreForgottenWhenTheyHaveBeenRead) {
  Value value =
      parse("tensor<100x100xf32>", shapeConstant("%n", "[100, 1]", 2) +
                                       shapeConstant("%m", "[1, 100]", 2) + R"(
    %0 = arith.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
    %k = tosa.const_shape {values = dense<[50, 100]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %1 = tosa.tile %0, %k : (tensor<2x1xf32>, !tosa.shape<2>) -> tensor<100x100xf32>
    %2 = tosa.exp %1 : (tensor<100x100xf32>) -> tensor<100x100xf32>
    %3 = tosa.add %2, %1 : (tensor<100x100xf32>, tensor<100x100xf32>) -> tensor<100x100xf32>
    return %3 : tensor<100x100xf32>)");
  ConstantEvaluator evaluator;
  ASSERT_TRUE(evaluator.evaluate(value));
  EXPECT_EQ(evaluator.getNumComputed(), 3u);
  // The sum is kept, what it was made of is not.
  ASSERT_TRUE(evaluator.evaluate(value));
  EXPECT_EQ(evaluator.getNumComputed(), 3u);
  ASSERT_TRUE(evaluator.evaluate(value.getDefiningOp()->getOperand(0)));
  EXPECT_EQ(evaluator.getNumComputed(), 5u);
}

// All layers may share one zero point.
TEST_F(ConstantEvaluatorTest, UsesOfSmallConstantsAreNotCounted) {
  constexpr int kUsers = 500;
  std::string text = "%0 = arith.constant dense<0.0> : tensor<1xf32>\n";
  for (int i = 1; i <= kUsers; ++i)
    text += "%" + std::to_string(i) +
            " = tosa.exp %0 : (tensor<1xf32>) -> tensor<1xf32>\n";
  Value last =
      parse("tensor<1xf32>",
            text + "return %" + std::to_string(kUsers) + " : tensor<1xf32>");
  ConstantEvaluator evaluator;
  for (Operation &op : last.getDefiningOp()->getBlock()->without_terminator()) {
    EXPECT_TRUE(evaluator.evaluate(op.getResult(0)));
    evaluator.clear();
  }
  EXPECT_EQ(evaluator.getNumCounted(), 0u);
}

TEST_F(ConstantEvaluatorTest, FewUsesOfLargeConstantsAreCounted) {
  constexpr int kUsers = 500;
  std::string type = "tensor<5000xf32>";
  std::string text = "%x = arith.constant dense<2.0> : tensor<1xf32>\n"
                     "%0 = arith.constant dense_resource<large> : " +
                     type + "\n";
  for (int i = 1; i <= kUsers; ++i)
    text += "%" + std::to_string(i) + " = tosa.mul %0, %x, %s : (" + type +
            ", tensor<1xf32>, tensor<1xi8>) -> " + type + "\n";
  std::string data;
  for (int i = 0; i != 5000; ++i)
    data += "0000803F";
  Value last = parse(
      type,
      "%s = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
      "tensor<1xi8>\n" +
          text + "return %" + std::to_string(kUsers) + " : " + type,
      "{-# dialect_resources: {builtin: {large: \"0x04000000" + data +
          "\"}} #-}");
  ASSERT_TRUE(last);
  ConstantEvaluator evaluator;
  auto tensor = evaluator.evaluate(last);
  ASSERT_TRUE(tensor);
  EXPECT_TRUE(tensor->isUniformly(2));
  // No more than this number are distinguished, and their operands are kept.
  EXPECT_LE(evaluator.getNumCounted(), 100u);
}

TEST_F(ConstantEvaluatorTest, ProvidedElementsStandForAValue) {
  Block scratch;
  auto type = RankedTensorType::get(2, Float32Type::get(&context));
  Location loc = UnknownLoc::get(&context);
  Value argument = scratch.addArgument(type, loc);
  OpBuilder builder(&context);
  builder.setInsertionPointToStart(&scratch);
  Value exp = tosa::ExpOp::create(builder, loc, type, argument);
  ConstantEvaluator evaluator;
  EXPECT_FALSE(evaluator.evaluate(exp));
  evaluator.clear();
  evaluator.provide(argument,
                    ConstantTensor::create<float>(type, {0.0f, 0.0f}));
  auto tensor = evaluator.evaluate(exp);
  ASSERT_TRUE(tensor);
  EXPECT_TRUE(tensor->isUniformly(1));
  scratch.dropAllReferences();
  scratch.clear();
}
