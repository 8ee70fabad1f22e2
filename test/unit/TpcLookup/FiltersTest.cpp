// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/Lookup/Filters.h"
#include "Fixture.h"
#include "mlir/AsmParser/AsmParser.h"

using namespace mct::tpc;
using namespace mlir;

namespace {
/// Filters on the ops of one function.
class FilterTest : public LookupTest {
protected:
  FilterTest() {
    parseWithTarget(R"(
      func.func @main(%x: tensor<1x8x9x4xf32>, %d: tensor<?x8x9x4xf32>, %m: tensor<1x2x2xi16>, %n: tensor<1x2x2xi16>, %mz: tensor<1xi16>) {
        %k = "tosa.const"() <{values = dense<1.0> : tensor<6x3x2x4xf32>}> : () -> tensor<6x3x2x4xf32>
        %b = "tosa.const"() <{values = dense<1.0> : tensor<6xf32>}> : () -> tensor<6xf32>
        %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
        %o = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
        %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x4xf32>, tensor<6x3x2x4xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x9x6xf32>
        %1 = tosa.avg_pool2d %x, %z, %z {acc_type = f32, kernel = array<i64: 2, 3>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 3>} : (tensor<1x8x9x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x3x4xf32>
        %2 = tosa.add %o, %x : (tensor<1x1x1x1xf32>, tensor<1x8x9x4xf32>) -> tensor<1x8x9x4xf32>
        %3 = tosa.clamp %x {min_val = 0.0 : f32, max_val = 6.0 : f32} : (tensor<1x8x9x4xf32>) -> tensor<1x8x9x4xf32>
        %4 = tosa.custom %x {domain_name = "mct", operator_name = "MulticlassNms", implementation_attrs = ""} : (tensor<1x8x9x4xf32>) -> tensor<1x8x9x4xf32>
        %5 = tosa.reduce_sum %x {axis = 2 : i32} : (tensor<1x8x9x4xf32>) -> tensor<1x8x1x4xf32>
        %s5 = tosa.const_shape {values = dense<[1, 8, 1, 9, 4]> : tensor<5xindex>} : () -> !tosa.shape<5>
        %r5 = tosa.reshape %x, %s5 : (tensor<1x8x9x4xf32>, !tosa.shape<5>) -> tensor<1x8x1x9x4xf32>
        %t = "tosa.const"() <{values = dense<1.0> : tensor<1x1x1x4xf32>}> : () -> tensor<1x1x1x4xf32>
        %d5 = tosa.sub %x, %t : (tensor<1x8x9x4xf32>, tensor<1x1x1x4xf32>) -> tensor<1x8x9x4xf32>
        %6 = tosa.exp %d : (tensor<?x8x9x4xf32>) -> tensor<?x8x9x4xf32>
        %7 = tosa.greater %x, %x : (tensor<1x8x9x4xf32>, tensor<1x8x9x4xf32>) -> tensor<1x8x9x4xi1>
        %8 = tosa.matmul %m, %n, %mz, %mz : (tensor<1x2x2xi16>, tensor<1x2x2xi16>, tensor<1xi16>, tensor<1xi16>) -> tensor<1x2x2xi48>
        %9 = tosa.max_pool2d %x {kernel = array<i64: 8, 9>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x9x4xf32>) -> tensor<1x1x1x4xf32>
        return
      }
    )");
  }

  bool holds(StringRef filter, StringRef opName) {
    auto predicate = dyn_cast_or_null<PredicateAttr>(
        parseAttribute(("#tpc.predicate<" + filter + ">").str(), &context));
    EXPECT_TRUE(predicate) << filter.str();
    for (Operation &op : body())
      if (predicate && op.getName().stripDialect() == opName)
        return matches(predicate, &op);
    return false;
  }
};
} // namespace

TEST_F(FilterTest, NumbersCompareByValueWhateverTheirType) {
  EXPECT_TRUE(holds("max_val eq 6", "clamp"));
  EXPECT_TRUE(holds("max_val eq 6.0 : f64", "clamp"));
  EXPECT_TRUE(holds("axis eq 2.0 : f32", "reduce_sum"));
  EXPECT_TRUE(holds("max_val ge 6 and max_val le 6", "clamp"));
  EXPECT_TRUE(holds("max_val gt 5 and max_val lt 7", "clamp"));
  EXPECT_FALSE(holds("max_val ne 6", "clamp"));
}

TEST_F(FilterTest, MissingAttributeMakesEveryComparisonFalse) {
  EXPECT_FALSE(holds("bogus eq 1", "clamp"));
  EXPECT_FALSE(holds("bogus ne 1", "clamp"));
  EXPECT_FALSE(holds("\"$kernel_h\" ne 1", "clamp"));
}

TEST_F(FilterTest, ValuesThatCannotBeComparedMakeItFalse) {
  EXPECT_FALSE(holds("operator_name gt 1", "custom"));
  EXPECT_FALSE(holds("operator_name ne 1", "custom"));
  EXPECT_FALSE(holds("max_val contains \"6\"", "clamp"));
}

TEST_F(FilterTest, TextIsEqualOrContained) {
  EXPECT_TRUE(holds("operator_name eq \"MulticlassNms\"", "custom"));
  EXPECT_TRUE(holds("operator_name ne \"topk\"", "custom"));
  EXPECT_TRUE(holds("operator_name contains \"Nms\"", "custom"));
  EXPECT_FALSE(holds("operator_name contains \"nms\"", "custom"));
}

TEST_F(FilterTest, OtherAttributesAreEqualOrNot) {
  EXPECT_TRUE(holds("pad eq array<i64: 1, 1, 1, 0>", "conv2d"));
  EXPECT_FALSE(holds("pad eq array<i64: 0, 0, 0, 0>", "conv2d"));
  EXPECT_TRUE(holds("pad ne array<i64: 0, 0, 0, 0>", "conv2d"));
  EXPECT_FALSE(holds("pad gt array<i64: 0, 0, 0, 0>", "conv2d"));
}

TEST_F(FilterTest, AndBindsCloserThanOrAndParenthesesClosest) {
  EXPECT_TRUE(holds("max_val eq 6 or max_val eq 1 and min_val eq 9", "clamp"));
  EXPECT_FALSE(
      holds("(max_val eq 6 or max_val eq 1) and min_val eq 9", "clamp"));
}

TEST_F(FilterTest, NamesAreDerivedFromTypes) {
  EXPECT_TRUE(holds("\"$kernel_h\" eq 3 and \"$kernel_w\" eq 2", "conv2d"));
  EXPECT_TRUE(holds("\"$in_h\" eq 8 and \"$in_w\" eq 9", "conv2d"));
  EXPECT_TRUE(
      holds("\"$in_channels\" eq 4 and \"$out_channels\" eq 6", "conv2d"));
  EXPECT_TRUE(holds("\"$kernel_h\" eq 2 and \"$kernel_w\" eq 3", "avg_pool2d"));
  EXPECT_TRUE(holds("\"$rank\" eq 4", "clamp"));
  EXPECT_TRUE(holds("\"$keeps_last_axis\" eq 1", "clamp"));
  EXPECT_TRUE(holds("\"$keeps_last_axis\" eq 0", "conv2d"));
}

TEST_F(FilterTest, WindowsCoverTheWholeImageOrNot) {
  EXPECT_TRUE(holds("\"$whole_image\" eq 0", "avg_pool2d"));
  EXPECT_TRUE(holds("\"$whole_image\" eq 1", "max_pool2d"));
  EXPECT_TRUE(holds("\"$whole_image\" eq 0", "clamp"));
}

TEST_F(FilterTest, OnlyConstantOperandIsFoundAmongData) {
  EXPECT_TRUE(holds("\"$const_operand\" eq 0", "add"));
  // Kernel and bias are two.
  EXPECT_FALSE(holds("\"$const_operand\" ge 0", "conv2d"));
  // Zero points are parameters.
  EXPECT_FALSE(holds("\"$const_operand\" ge 0", "avg_pool2d"));
}

TEST_F(FilterTest, ReshapeTellsWhatItDoesToTheAxes) {
  EXPECT_TRUE(
      holds("\"$rank_change\" eq 1 and \"$unit_axes\" eq 1", "reshape"));
  // An axis that becomes shorter is not one that is left out.
  EXPECT_FALSE(holds("\"$unit_axes\" le 9", "reduce_sum"));
  EXPECT_TRUE(holds("\"$rank_change\" eq 0", "reduce_sum"));
  EXPECT_FALSE(holds("\"$stacked_inputs\" ge 0", "reshape"));
}

TEST_F(FilterTest, ConstantTellsOverHowManyAxesItRuns) {
  EXPECT_TRUE(holds("\"$const_axes\" eq 1", "sub"));
  EXPECT_TRUE(holds("\"$const_axes\" eq 0", "add"));
  EXPECT_FALSE(holds("\"$const_axes\" ge 0", "clamp"));
}

TEST_F(FilterTest, BitsAndConditionsAreThoseOfTheTypes) {
  EXPECT_TRUE(holds("\"$bits\" eq 16", "matmul"));
  EXPECT_TRUE(holds("\"$bits\" eq 32", "greater"));
  EXPECT_TRUE(holds("\"$conditions\" eq 1", "greater"));
  EXPECT_TRUE(holds("\"$conditions\" eq 0", "clamp"));
}

TEST_F(FilterTest, KernelIsAnArgumentOrNot) {
  EXPECT_TRUE(holds("\"$argument_kernel\" eq 1", "matmul"));
  EXPECT_TRUE(holds("\"$argument_kernel\" eq 0", "conv2d"));
  EXPECT_FALSE(holds("\"$argument_kernel\" ge 0", "clamp"));
}

namespace {
struct Resize {
  const char *scale, *offset, *border;
  /// Answer for `$centred_enlargement`.
  bool isCentred;
};

class ResizeFilterTest : public FilterTest,
                         public testing::WithParamInterface<Resize> {};
} // namespace

TEST_P(ResizeFilterTest, EnlargesFromTheCentresOfPixels) {
  const Resize &resize = GetParam();
  auto shape = [](const char *name, const char *values, int rank) {
    std::string type = std::to_string(rank);
    return std::string("%") + name + " = tosa.const_shape {values = dense<" +
           values + "> : tensor<" + type + "xindex>} : () -> !tosa.shape<" +
           type + ">\n";
  };
  parseWithTarget("func.func @main(%x: tensor<1x?x?x1xf32>) {\n" +
                  shape("s", resize.scale, 4) + shape("o", resize.offset, 2) +
                  shape("b", resize.border, 2) +
                  "%0 = tosa.resize %x, %s, %o, %b {mode = NEAREST_NEIGHBOR} : "
                  "(tensor<1x?x?x1xf32>, !tosa.shape<4>, !tosa.shape<2>, "
                  "!tosa.shape<2>) -> tensor<1x?x?x1xf32>\nreturn\n}");
  EXPECT_EQ(holds("\"$centred_enlargement\" eq 1", "resize"), resize.isCentred);
  EXPECT_EQ(holds("\"$centred_enlargement\" eq 0", "resize"),
            !resize.isCentred);
}

INSTANTIATE_TEST_SUITE_P(
    Sizes, ResizeFilterTest,
    testing::Values(Resize{"[4, 2, 4, 2]", "[-1, -1]", "[1, 1]", true},
                    Resize{"[4, 2, 8, 2]", "[-1, -3]", "[1, 3]", true},
                    Resize{"[4, 2, 4, 2]", "[0, 0]", "[1, 1]", false},
                    Resize{"[6, 2, 6, 2]", "[-2, -2]", "[2, 2]", false},
                    // Odd numbers have no middle.
                    Resize{"[2, 1, 2, 1]", "[0, 0]", "[0, 0]", false},
                    // Twice the border overflows.
                    Resize{"[4, 2, 4, 2]", "[-1, -1]",
                           "[9223372036854775807, 1]", false}));

TEST_F(FilterTest, DynamicSizesHaveNoDerivedName) {
  EXPECT_TRUE(holds("\"$in_h\" eq 8", "exp"));
  EXPECT_TRUE(holds("\"$in_channels\" eq 4", "exp"));
}
