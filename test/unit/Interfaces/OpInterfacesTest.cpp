// SPDX-License-Identifier: Apache-2.0
//
// Models of ops that move values, against the results of these ops for
// constants; and an op of an unknown dialect.
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"
#include <map>
#include <set>

using namespace mct;
using namespace mlir;

namespace {
/// Reverses the channels of its operand, which lie along the last axis.
struct MirrorOp : Op<MirrorOp, OpTrait::OneOperand, OpTrait::OneResult,
                     DataMovementOpInterface::Trait> {
  using Op::Op;
  static StringRef getOperationName() { return "toy.mirror"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }

  std::optional<Movement> getMovement() { return Movement::Permute; }
  std::optional<ChannelMap> mapChannels(unsigned, int64_t axis) {
    Value operand = getOperation()->getOperand(0);
    std::optional<ChannelMap> map = keepChannels(operand, axis);
    if (map && axis + 1 == cast<RankedTensorType>(operand.getType()).getRank())
      std::reverse(map->channels.begin(), map->channels.end());
    return map;
  }
};

/// Says nothing.
struct OpaqueOp : Op<OpaqueOp, OpTrait::OneOperand, OpTrait::OneResult> {
  using Op::Op;
  static StringRef getOperationName() { return "toy.opaque"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
};

struct ToyDialect : Dialect {
  explicit ToyDialect(MLIRContext *context)
      : Dialect("toy", context, TypeID::get<ToyDialect>()) {
    addOperations<MirrorOp, OpaqueOp>();
  }
  static StringRef getDialectNamespace() { return "toy"; }
};

DialectRegistry getRegistry() {
  DialectRegistry registry;
  registry.insert<ToyDialect, tpc::TpcDialect, tosa::TosaDialect,
                  func::FuncDialect>();
  registerOpModels(registry);
  return registry;
}

std::string replaced(StringRef text, StringRef what, StringRef by) {
  size_t at = text.find(what);
  EXPECT_NE(at, StringRef::npos);
  return (text.take_front(at) + by + text.drop_front(at + what.size())).str();
}
} // namespace

//===----------------------------------------------------------------------===//
// Another dialect
//===----------------------------------------------------------------------===//

// Two layers, the first with a channel that deviates by 4.
static constexpr StringLiteral kLayers = R"mlir(
func.func @main(%arg0: tensor<1x4x4x1xf32>) -> tensor<1x4x4x1xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %kernel = "tosa.const"() <{values = dense<1.0> : tensor<2x1x1x1xf32>}> : () -> tensor<2x1x1x1xf32>
  %b = tpc.bias values(dense<1.0> : tensor<2xf32>) mean(dense<0.0> : tensor<2xf32>)
    deviation(dense<[4.0, 0.5]> : tensor<2xf32>) : tensor<2xf32>
  %kernel2 = "tosa.const"() <{values = dense<[[[[1.0, 3.0]]]]> : tensor<1x1x1x2xf32>}> : () -> tensor<1x1x1x2xf32>
  %bias2 = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %arg0, %kernel, %b, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x4x4x1xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x2xf32>
  %1 = tosa.clamp %0 {max_val = 3.40282347E+38 : f32, min_val = 0.0 : f32} : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %2 = tpc.quantize %1 as "relu" activation : tensor<1x4x4x2xf32>
  %3 = "toy.mirror"(%2) : (tensor<1x4x4x2xf32>) -> tensor<1x4x4x2xf32>
  %4 = tosa.conv2d %3, %kernel2, %bias2, %zero, %zero {acc_type = f32, dilation = array<i64: 1, 1>,
    pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
    : (tensor<1x4x4x2xf32>, tensor<1x1x1x2xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  return %4 : tensor<1x4x4x1xf32>
}
)mlir";

/// The kernel of the second layer after equalization.
static std::vector<float> equalizedKernel(StringRef text) {
  MLIRContext context(getRegistry());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  PassManager passes(&context);
  EqualizeChannelsPassOptions options;
  options.onlyIfBetter = false;
  passes.addPass(createEqualizeChannelsPass(options));
  if (!module || failed(passes.run(*module))) {
    ADD_FAILURE();
    return {};
  }
  std::vector<float> kernel;
  module->walk([&](tosa::Conv2DOp op) {
    std::optional<ConstantFloats> constant =
        ConstantFloats::get(op.getWeight());
    ASSERT_TRUE(constant);
    kernel = constant->values().vec();
  });
  return kernel;
}

TEST(ToyDialect, ChannelsAreEqualizedThroughAnOpThatMovesThem) {
  // The deviating channel is the last one after the op.
  std::vector<float> kernel = equalizedKernel(kLayers);
  ASSERT_EQ(kernel.size(), 2u);
  EXPECT_EQ(kernel[0], 1.0f);
  EXPECT_GT(kernel[1], 6.0f);
}

TEST(ToyDialect, NothingIsMovedThroughAnOpThatSaysNothing) {
  EXPECT_EQ(equalizedKernel(replaced(kLayers, "toy.mirror", "toy.opaque")),
            (std::vector<float>{1.0f, 3.0f}));
}

static constexpr StringLiteral kConcat = R"mlir(
func.func @main(%arg0: tensor<1x2xf32>, %arg1: tensor<1x2xf32>) -> tensor<1x4xf32> {
  %a = tpc.quantize %arg0 as "a" activation parameters(#tpc.power_of_two<threshold = [2.0], bits = 8>) : tensor<1x2xf32>
  %m = "toy.mirror"(%a) : (tensor<1x2xf32>) -> tensor<1x2xf32>
  %c = tosa.concat %m, %arg1 {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
  %0 = tpc.quantize %c as "c" activation parameters(#tpc.power_of_two<threshold = [16.0], bits = 8>) : tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
)mlir";

/// The threshold of point "a" after the update.
static double updateThreshold(StringRef text) {
  MLIRContext context(getRegistry());
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(module);
  PassManager passes(&context);
  passes.addNestedPass<func::FuncOp>(createUpdateConcatThresholdsPass());
  if (!module || failed(passes.run(*module))) {
    ADD_FAILURE();
    return 0;
  }
  double threshold = 0;
  module->walk([&](tpc::QuantizeOp point) {
    if (point.getPointName() == "a")
      threshold = cast<tpc::PowerOfTwoAttr>(*point.getParameters())
                      .getThreshold()
                      .front();
  });
  return threshold;
}

TEST(ToyDialect, ThresholdsReachThePointBeforeAnOpThatMovesValues) {
  EXPECT_EQ(updateThreshold(kConcat), 16.0);
  EXPECT_EQ(updateThreshold(replaced(kConcat, "toy.mirror", "toy.opaque")),
            2.0);
}

//===----------------------------------------------------------------------===//
// TOSA
//===----------------------------------------------------------------------===//

namespace {
/// Numbers for every element of operand `number` of the last op, the other
/// operands have -1.
ConstantTensor compute(Operation *op, unsigned number,
                       llvm::function_ref<float(ArrayRef<int64_t>)> valueAt) {
  ConstantEvaluator evaluator;
  auto moving = cast<DataMovementOpInterface>(op);
  for (unsigned moved : moving.getMovedOperands()) {
    auto type = cast<RankedTensorType>(op->getOperand(moved).getType());
    std::vector<float> values;
    SmallVector<int64_t> index(type.getRank(), 0);
    for (int64_t i = 0; i != type.getNumElements(); ++i) {
      int64_t rest = i;
      for (int64_t axis = type.getRank(); axis-- > 0;) {
        index[axis] = rest % type.getDimSize(axis);
        rest /= type.getDimSize(axis);
      }
      values.push_back(moved == number ? valueAt(index) : -1.0f);
    }
    op->getOperand(moved).getDefiningOp()->setAttr(
        "values", DenseElementsAttr::get(type, ArrayRef(values)));
  }
  std::optional<ConstantTensor> result = evaluator.evaluate(op->getResult(0));
  EXPECT_TRUE(result);
  return *result;
}

float elementOf(const ConstantTensor &tensor, int64_t i) {
  std::vector<float> values = tensor.decode<float>();
  return values[tensor.isSplat() ? 0 : i];
}
} // namespace

static const char *const kMoves[] = {
    R"(%0 = tosa.identity %x : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>)",
    R"(%0 = tosa.transpose %x {perms = array<i32: 2, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>)",
    R"(%0 = tosa.reverse %x {axis = 1 : i32} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>)",
    R"(%s = tosa.const_shape {values = dense<[6, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
       %0 = tosa.reshape %x, %s : (tensor<2x3x4xf32>, !tosa.shape<2>) -> tensor<6x4xf32>)",
    R"(%s = tosa.const_shape {values = dense<[2, 12]> : tensor<2xindex>} : () -> !tosa.shape<2>
       %0 = tosa.reshape %x, %s : (tensor<2x3x4xf32>, !tosa.shape<2>) -> tensor<2x12xf32>)",
    R"(%s = tosa.const_shape {values = dense<[2, 6, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
       %0 = tosa.reshape %x, %s : (tensor<2x3x4xf32>, !tosa.shape<3>) -> tensor<2x6x2xf32>)",
    R"(%s = tosa.const_shape {values = dense<[24]> : tensor<1xindex>} : () -> !tosa.shape<1>
       %0 = tosa.reshape %x, %s : (tensor<2x3x4xf32>, !tosa.shape<1>) -> tensor<24xf32>)",
    R"(%s = tosa.const_shape {values = dense<[1, 2, 3, 1, 4]> : tensor<5xindex>} : () -> !tosa.shape<5>
       %0 = tosa.reshape %x, %s : (tensor<2x3x4xf32>, !tosa.shape<5>) -> tensor<1x2x3x1x4xf32>)",
    R"(%s = tosa.const_shape {values = dense<[3, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
       %0 = tosa.reshape %x, %s : (tensor<2x3x4xf32>, !tosa.shape<2>) -> tensor<3x8xf32>)",
    R"(%s = tosa.const_shape {values = dense<[1, 2, 3]> : tensor<3xindex>} : () -> !tosa.shape<3>
       %0 = tosa.tile %x, %s : (tensor<2x3x4xf32>, !tosa.shape<3>) -> tensor<2x6x12xf32>)",
    R"(%b = tosa.const_shape {values = dense<[0, 1, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
       %s = tosa.const_shape {values = dense<[2, 2, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
       %0 = tosa.slice %x, %b, %s : (tensor<2x3x4xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<2x2x1xf32>)",
    R"(%p = tosa.const_shape {values = dense<[0, 0, 1, 2, 3, 0]> : tensor<6xindex>} : () -> !tosa.shape<6>
       %v = "tosa.const"() <{values = dense<-1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
       %0 = tosa.pad %x, %p, %v : (tensor<2x3x4xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<2x6x7xf32>)",
    R"(%y = "tosa.const"() <{values = dense<0.0> : tensor<2x5x4xf32>}> : () -> tensor<2x5x4xf32>
       %z = "tosa.const"() <{values = dense<0.0> : tensor<2x1x4xf32>}> : () -> tensor<2x1x4xf32>
       %0 = tosa.concat %x, %y, %z {axis = 1 : i32} : (tensor<2x3x4xf32>, tensor<2x5x4xf32>, tensor<2x1x4xf32>) -> tensor<2x9x4xf32>)",
};

// The evaluator moves numbered elements as the models say.
TEST(OpModels, MapsAndMovementsAreThoseOfTheOps) {
  MLIRContext context(getRegistry());
  size_t numMaps = 0;
  for (StringRef move : kMoves) {
    SCOPED_TRACE(move.str());
    std::string text =
        ("func.func @main() {\n%x = \"tosa.const\"() <{values = dense<0.0> : "
         "tensor<2x3x4xf32>}> : () -> tensor<2x3x4xf32>\n" +
         move + "\nreturn\n}")
            .str();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    Operation *op = function.front().getTerminator()->getPrevNode();
    auto moving = dyn_cast<DataMovementOpInterface>(op);
    ASSERT_TRUE(moving);

    for (unsigned number : moving.getMovedOperands()) {
      auto type = cast<RankedTensorType>(op->getOperand(number).getType());
      // Elements that there are, and how often.
      float next = 0;
      ConstantTensor all =
          compute(op, number, [&](ArrayRef<int64_t>) { return next++; });
      std::map<float, int> counts;
      for (int64_t i = 0; i != all.getNumElements(); ++i)
        ++counts[elementOf(all, i)];
      bool hasOthers = counts.erase(-1.0f) != 0;
      std::set<int> frequencies;
      for (auto [value, count] : counts)
        frequencies.insert(count);
      Movement movement = *moving.getMovement();
      bool isWhole = int64_t(counts.size()) == type.getNumElements();
      EXPECT_EQ(hasOthers, movement == Movement::Fill ||
                               moving.getMovedOperands().size() > 1);
      EXPECT_EQ(isWhole, movement != Movement::Select);
      EXPECT_EQ(isWhole && frequencies == std::set<int>{1},
                movement == Movement::Permute || movement == Movement::Fill);
      EXPECT_EQ(frequencies.size(), 1u);

      for (int64_t axis = 0; axis != type.getRank(); ++axis) {
        ConstantTensor channels =
            compute(op, number, [&](ArrayRef<int64_t> index) {
              return float(index[axis]);
            });
        // True if the channel is known along any axis of the result.
        auto result = cast<RankedTensorType>(op->getResult(0).getType());
        std::map<int64_t, SmallVector<int64_t>> reported;
        int64_t step = 1;
        for (int64_t to = result.getRank(); to-- > 0;) {
          int64_t size = result.getDimSize(to);
          SmallVector<std::set<float>> found(size);
          for (int64_t i = 0; i != result.getNumElements(); ++i) {
            float value = elementOf(channels, i);
            if (value >= 0)
              found[i / step % size].insert(value);
          }
          step *= size;
          if (llvm::any_of(found, [](auto &set) { return set.size() > 1; }))
            continue;
          for (auto &set : found)
            reported[to].push_back(set.empty() ? ChannelMap::kNone
                                               : int64_t(*set.begin()));
        }
        std::optional<ChannelMap> map = moving.mapChannels(number, axis);
        EXPECT_EQ(map.has_value(), !reported.empty()) << "axis " << axis;
        if (!map)
          continue;
        ++numMaps;
        EXPECT_EQ(reported[map->axis], map->channels) << "axis " << axis;
      }
    }
  }
  EXPECT_GE(numMaps, 40u);
}

TEST(OpModels, ReshapesOfUnknownBatchesKeepTheirChannels) {
  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  auto from = RankedTensorType::get({ShapedType::kDynamic, 3, 4}, f32);
  auto to = RankedTensorType::get({ShapedType::kDynamic, 12}, f32);
  std::optional<ChannelMap> map = mapThroughReshape(from, to, 2);
  ASSERT_TRUE(map);
  EXPECT_EQ(map->axis, 1);
  EXPECT_EQ(map->channels,
            (SmallVector<int64_t>{0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3}));
  EXPECT_FALSE(mapThroughReshape(from, to, 0));
  EXPECT_FALSE(mapThroughReshape(to, from, 0));
}
