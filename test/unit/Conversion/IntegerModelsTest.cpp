// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of one op each, asked for without the pass.
#include "mct/Conversion/IntegerContext.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mct;
using namespace mlir;

namespace {

/// One op of two points of tensor<2x4xf32>: `%x`, signed on steps of 1/64, and
/// `%y`, unsigned on steps of 1/128.
class IntegerModels : public ::testing::Test {
protected:
  IntegerModels() {
    DialectRegistry registry;
    registry.insert<func::FuncDialect, tosa::TosaDialect, tpc::TpcDialect>();
    registerOpModels(registry);
    registerIntegerModels(registry);
    ir.appendDialectRegistry(registry);
    ir.loadAllAvailableDialects();
  }

  /// Creates a function that ends with these ops, the last of which is `%r`.
  void parse(const std::string &ops, const std::string &result,
             IntegerOptions options = {}) {
    std::string type = "tensor<2x4xf32>";
    module = parseSourceString<ModuleOp>(
        "func.func @main(%a: " + type + ", %b: " + type + ") -> " + result +
            " {\n%x = tpc.quantize %a as \"x\" activation "
            "parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, "
            "rounding = half_up>) : " +
            type +
            "\n%y = tpc.quantize %b as \"y\" activation "
            "parameters(#tpc.power_of_two<threshold = [2.0], bits = 8, "
            "is_signed = false, rounding = half_up>) : " +
            type + "\n" + ops + "\nreturn %r : " + result + "\n}",
        &ir);
    ASSERT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    kernels = KernelOps::forModule(*module);
    forms.emplace(function, kernels, options);
    deviations = {};
    context.emplace(*forms, deviations);
    Operation *end = function.front().getTerminator();
    op = end->getOperand(0).getDefiningOp();
    IntegerBuilder &b = forms->getBuilder();
    function.walk([&](tpc::QuantizeOp point) {
      if (!point.isActivation())
        return;
      b.setInsertionPointAfter(point);
      Encoding encoding = *Encoding::get(point.getParametersAttr());
      forms->setStored(point.getResult(),
                       {b.quantize(point.getInput(), encoding), encoding});
    });
    b.setInsertionPoint(end);
  }

  IntegerOr<IntegerAccumulator> getAccumulator() {
    return cast<IntegerOpInterface>(op).getAccumulator(*context);
  }
  /// Codes on steps of 1/32.
  IntegerOr<Value> getCodes() {
    Encoding encoding;
    encoding.scale = 1.0 / 32;
    encoding.low = -128;
    encoding.high = 127;
    return cast<IntegerOpInterface>(op).getCodes(*context, encoding);
  }
  template <typename T>
  void expectFailure(const T &form, IntegerReason reason) {
    ASSERT_FALSE(form);
    EXPECT_EQ(form.getFailure().reason, reason)
        << form.getFailure().getText().str();
    EXPECT_EQ(form.getFailure().cause, op);
    // The simulated network stays as it is, and all is well typed.
    EXPECT_TRUE(succeeded(module->verify()));
  }

  MLIRContext ir;
  OwningOpRef<ModuleOp> module;
  KernelOps kernels;
  std::optional<IntegerForms> forms;
  IntegerDeviations deviations;
  std::optional<IntegerContext> context;
  Operation *op = nullptr;
};

} // namespace

TEST_F(IntegerModels, ASumIsOnTheFinerGrid) {
  parse("%r = tosa.add %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> "
        "tensor<2x4xf32>",
        "tensor<2x4xf32>");
  IntegerOr<IntegerAccumulator> sums = getAccumulator();
  ASSERT_TRUE(sums);
  EXPECT_TRUE(isa<tosa::AddOp>(sums->value.getDefiningOp()));
  EXPECT_TRUE(getElementTypeOrSelf(sums->value).isInteger(32));
  EXPECT_EQ(sums->scales, std::vector<double>{1.0 / 128});
  // |x| reaches 128 steps of 1/64, and y 255 of 1/128; a rescale rounds each.
  EXPECT_EQ(sums->bound, (256 + 1) + (255 + 1));
  EXPECT_TRUE(succeeded(module->verify()));
}

TEST_F(IntegerModels, AProductMultipliesSteps) {
  parse("%s = \"tosa.const\"() <{values = dense<0> : tensor<1xi8>}> : () -> "
        "tensor<1xi8>\n"
        "%r = tosa.mul %x, %y, %s : (tensor<2x4xf32>, tensor<2x4xf32>, "
        "tensor<1xi8>) -> tensor<2x4xf32>",
        "tensor<2x4xf32>");
  IntegerOr<IntegerAccumulator> sums = getAccumulator();
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->scales, std::vector<double>{1.0 / 64 / 128});
  EXPECT_EQ(sums->bound, 128 * 255);
}

TEST_F(IntegerModels, AMovementKeepsIntegersExactly) {
  parse("%r = tosa.reverse %x {axis = 1 : i32} : (tensor<2x4xf32>) -> "
        "tensor<2x4xf32>",
        "tensor<2x4xf32>");
  IntegerOr<StoredIntegers> stored =
      cast<IntegerOpInterface>(op).getStoredIntegers(*context);
  ASSERT_TRUE(stored);
  EXPECT_EQ(stored->encoding.scale, 1.0 / 64);
  auto reverse = stored->value.getDefiningOp<tosa::ReverseOp>();
  ASSERT_TRUE(reverse);
  EXPECT_EQ(reverse.getAxis(), 1u);
  EXPECT_TRUE(getElementTypeOrSelf(stored->value).isInteger(8));
}

TEST_F(IntegerModels, AMaximumIsComparedIn32Bits) {
  parse("%r = tosa.maximum %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> "
        "tensor<2x4xf32>",
        "tensor<2x4xf32>");
  IntegerOr<Value> codes = getCodes();
  ASSERT_TRUE(codes);
  auto narrow = codes->getDefiningOp<tosa::RescaleOp>();
  ASSERT_TRUE(narrow);
  auto wide = narrow.getInput().getDefiningOp<tosa::MaximumOp>();
  ASSERT_TRUE(wide);
  EXPECT_TRUE(getElementTypeOrSelf(wide.getType()).isInteger(32));
  // It has no sums that are rounded later.
  expectFailure(getAccumulator(), IntegerReason::NoForm);
}

TEST_F(IntegerModels, AMeanKnowsItsSummands) {
  parse("%r = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<2x4xf32>) -> "
        "tensor<2x1xf32>",
        "tensor<2x1xf32>");
  IntegerOr<IntegerAccumulator> sums = getAccumulator();
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->bound, 4 * 128);
  ASSERT_TRUE(sums->summands);
  EXPECT_EQ(sums->summands->step, 1.0 / 64);
  EXPECT_TRUE(sums->summands->hasNegative);
}

TEST_F(IntegerModels, FailuresNameReasonAndCulprit) {
  std::string shape = "tensor<2x4xf32>";
  parse("%r = tosa.add %x, %b : (" + shape + ", " + shape + ") -> " + shape,
        shape);
  expectFailure(getAccumulator(), IntegerReason::InputNotQuantized);
  // The context gives the same answer again.
  EXPECT_FALSE(context->getAccumulator(op->getResult(0)));
  expectFailure(context->getAccumulator(op->getResult(0)),
                IntegerReason::InputNotQuantized);

  parse("%r = tosa.clamp %b {min_val = 0.0 : f32, max_val = 6.0 : f32} : (" +
            shape + ") -> " + shape,
        shape);
  IntegerOr<Value> codes = getCodes();
  ASSERT_FALSE(codes);
  EXPECT_EQ(codes.getFailure().reason, IntegerReason::ArgumentNotQuantized);
  EXPECT_EQ(codes.getFailure().cause, nullptr);

  // A number between two steps is no limit of sums.
  parse("%s = tosa.add %x, %y : (" + shape + ", " + shape + ") -> " + shape +
            "\n%r = tosa.clamp %s {min_val = 0.0 : f32, max_val = 0.3 : f32} "
            ": (" +
            shape + ") -> " + shape,
        shape);
  expectFailure(getAccumulator(), IntegerReason::BoundOffGrid);
}

TEST_F(IntegerModels, OptionsDecideHowHalvesAreRounded) {
  std::string add =
      "%r = tosa.add %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> "
      "tensor<2x4xf32>";
  parse(add, "tensor<2x4xf32>");
  ASSERT_TRUE(getCodes());
  size_t halfUp = std::distance(op->getBlock()->begin(), op->getBlock()->end());
  IntegerOptions options;
  options.rounding = IntegerRounding::HalfEven;
  parse(add, "tensor<2x4xf32>", options);
  ASSERT_TRUE(getCodes());
  EXPECT_EQ(deviations.roundHalfUpReason, "");
  // Middles are looked for with ops of their own.
  EXPECT_GT(
      size_t(std::distance(op->getBlock()->begin(), op->getBlock()->end())),
      halfUp);
}

namespace {
/// A form that the library does not have.
struct AbsModel : IntegerOpInterface::ExternalModel<AbsModel, tosa::AbsOp> {
  IntegerOr<IntegerAccumulator> getAccumulator(Operation *op,
                                               IntegerContext &context) const {
    IntegerOr<IntegerAccumulator> sums =
        context.getAccumulator(op->getOperand(0));
    if (sums)
      sums->value = tosa::AbsOp::create(context.getBuilder(),
                                        sums->value.getType(), sums->value);
    return sums;
  }
};
} // namespace

TEST_F(IntegerModels, OpsOfOthersGiveTheirForms) {
  tosa::AbsOp::attachInterface<AbsModel>(ir);
  parse("%s = tosa.add %x, %y : (tensor<2x4xf32>, tensor<2x4xf32>) -> "
        "tensor<2x4xf32>\n"
        "%r = tosa.abs %s : (tensor<2x4xf32>) -> tensor<2x4xf32>",
        "tensor<2x4xf32>");
  IntegerOr<Value> codes = getCodes();
  ASSERT_TRUE(codes);
  auto rescale = codes->getDefiningOp<tosa::RescaleOp>();
  ASSERT_TRUE(rescale);
  auto abs = rescale.getInput().getDefiningOp<tosa::AbsOp>();
  ASSERT_TRUE(abs);
  EXPECT_TRUE(getElementTypeOrSelf(abs.getType()).isInteger(32));
  EXPECT_TRUE(abs.getInput1().getDefiningOp<tosa::AddOp>());
}

// A 1x1 convolution of two channels whose kernel is {1, -0.5; 0.25, 0.5} on
// steps of 1/64 and 1/128.
TEST_F(IntegerModels, ALayerIsDescribedInIntegers) {
  parse("%w = \"tosa.const\"() <{values = dense<[[[[1.0, -0.5]]], [[[0.25, "
        "0.5]]]]> : tensor<2x1x1x2xf32>}> : () -> tensor<2x1x1x2xf32>\n"
        "%k = tpc.quantize %w as \"k\" weight \"kernel_attr\" axes [0] "
        "parameters(#tpc.power_of_two<threshold = [2.0, 1.0], bits = 8>) : "
        "tensor<2x1x1x2xf32>\n"
        "%c = \"tosa.const\"() <{values = dense<[0.5, -0.25]> : "
        "tensor<2xf32>}> : () -> tensor<2xf32>\n"
        "%z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : () -> "
        "tensor<1xf32>\n"
        "%shape = tosa.const_shape {values = dense<[1, 2, 2, 2]> : "
        "tensor<4xindex>} : () -> !tosa.shape<4>\n"
        "%i = tosa.reshape %x, %shape : (tensor<2x4xf32>, !tosa.shape<4>) -> "
        "tensor<1x2x2x2xf32>\n"
        "%r = tosa.conv2d %i, %k, %c, %z, %z {acc_type = f32, dilation = "
        "array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: "
        "1, 1>} : (tensor<1x2x2x2xf32>, tensor<2x1x1x2xf32>, tensor<2xf32>, "
        "tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x2xf32>",
        "tensor<1x2x2x2xf32>");
  std::optional<KernelOp> layer = kernels.get(op);
  ASSERT_TRUE(layer);
  Encoding input = context->getStored(op->getOperand(0))->encoding;
  auto described = IntegerLayer::get(*layer, input.getGrid());
  const auto *integers = std::get_if<IntegerLayer>(&described);
  ASSERT_TRUE(integers);
  EXPECT_EQ(integers->getKernelCodes().vec(),
            (std::vector<int64_t>{64, -32, 32, 64}));
  EXPECT_EQ(integers->getStep(0), 1.0 / 64 / 64);
  EXPECT_EQ(integers->getStep(1), 1.0 / 64 / 128);
  EXPECT_EQ(integers->getBiasCode(0, 0.5f), 2048);
  EXPECT_EQ(integers->getBiasCode(1, -0.25f), -2048);
  // Codes of the input lie in [-128, 127].
  EXPECT_EQ(integers->getReachAbove(0), 64 * 127 + 32 * 128);
  EXPECT_EQ(integers->getReachBelow(0), 64 * 128 + 32 * 127);
  EXPECT_EQ(integers->getReachAbove(1), 96 * 127);
  EXPECT_EQ(integers->getReach(1), 96 * 128);

  IntegerOr<IntegerAccumulator> sums =
      context->getAccumulator(op->getResult(0));
  ASSERT_TRUE(sums);
  EXPECT_EQ(sums->scales, (std::vector<double>{1.0 / 64 / 64, 1.0 / 64 / 128}));
  EXPECT_EQ(sums->bound, 96 * 128 + 2048);
  EXPECT_TRUE(succeeded(module->verify()));

  // A quantizer of another axis has no step for each output channel.
  layer->getKernelPoint().setAxes(ArrayRef<int64_t>{3});
  auto other = IntegerLayer::get(*layer, input.getGrid());
  ASSERT_TRUE(std::holds_alternative<Reason>(other));
  EXPECT_EQ(std::get<Reason>(other), Reason::NotPerChannel);
}
