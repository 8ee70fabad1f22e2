// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/ResultGroups.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <gtest/gtest.h>

using namespace mct;

namespace {

class ResultGroupsTest : public ::testing::Test {
protected:
  ResultGroupsTest() : context(makeRegistry()) {
    context.loadAllAvailableDialects();
  }

  static mlir::DialectRegistry makeRegistry() {
    mlir::DialectRegistry registry;
    registry.insert<mlir::func::FuncDialect, mlir::tosa::TosaDialect,
                    tpc::TpcDialect>();
    registerOpModels(registry);
    return registry;
  }

  std::vector<ResultGroups> find(const std::string &text) {
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    assignNames(function);
    return findResultGroups(function);
  }

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

using Numbers = std::vector<int64_t>;
using Names = std::vector<std::string>;

// Boxes beside scores in the layout of the network, which the results do not
// have: flattened over space and transposed, after a point.
TEST_F(ResultGroupsTest, OperandsOfAConcatenationAreFollowedThroughMovement) {
  auto groups = find(R"(
    func.func @main(%x: tensor<1x2x4x4xf32>, %y: tensor<1x3x4x4xf32>) -> tensor<1x16x5xf32> {
      %shape = tosa.const_shape {values = dense<[1, 5, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %b = tosa.abs %x : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> loc("boxes")
      %s = tosa.tanh %y : (tensor<1x3x4x4xf32>) -> tensor<1x3x4x4xf32> loc("scores")
      %c = tosa.concat %b, %s {axis = 1 : i32} : (tensor<1x2x4x4xf32>, tensor<1x3x4x4xf32>) -> tensor<1x5x4x4xf32>
      %q = tpc.quantize %c as "c" activation : tensor<1x5x4x4xf32>
      %r = tosa.reshape %q, %shape : (tensor<1x5x4x4xf32>, !tosa.shape<3>) -> tensor<1x5x16xf32>
      %t = tosa.transpose %r {perms = array<i32: 0, 2, 1>} : (tensor<1x5x16xf32>) -> tensor<1x16x5xf32>
      return %t : tensor<1x16x5xf32>
    })");
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].axis, 2);
  EXPECT_EQ(groups[0].groupByChannel, (Numbers{0, 0, 1, 1, 1}));
  EXPECT_EQ(groups[0].names, (Names{"boxes", "scores"}));
  EXPECT_EQ(groups[0].areProbabilities, (std::vector<char>{0, 0}));
}

// A group is probabilities if all its values come from sigmoids.
TEST_F(ResultGroupsTest, ResultsOfSigmoidsAreProbabilities) {
  auto groups = find(R"(
    func.func @main(%x: tensor<1x2x4xf32>, %y: tensor<1x3x4xf32>, %z: tensor<1x1x4xf32>) -> tensor<1x6x4xf32> {
      %s = tosa.sigmoid %y : (tensor<1x3x4xf32>) -> tensor<1x3x4xf32>
      %q = tpc.quantize %s as "scores" activation : tensor<1x3x4xf32>
      %c = tosa.concat %x, %q, %z {axis = 1 : i32} : (tensor<1x2x4xf32>, tensor<1x3x4xf32>, tensor<1x1x4xf32>) -> tensor<1x6x4xf32>
      return %c : tensor<1x6x4xf32>
    })");
  EXPECT_EQ(groups[0].groupByChannel, (Numbers{0, 0, 1, 1, 1, 2}));
  EXPECT_EQ(groups[0].areProbabilities, (std::vector<char>{0, 1, 0}));
}

// Two feature maps have a box and two scores for each anchor. Along the anchors
// they differ, too; the shorter axis is that of the channels.
TEST_F(ResultGroupsTest, FeatureMapsAreNoGroupsOfChannels) {
  auto groups = find(R"(
    func.func @main(%x: tensor<1x8x1xf32>, %y: tensor<1x8x2xf32>, %z: tensor<1x4x1xf32>, %w: tensor<1x4x2xf32>) -> tensor<1x12x3xf32> {
      %0 = tosa.concat %x, %y {axis = 2 : i32} : (tensor<1x8x1xf32>, tensor<1x8x2xf32>) -> tensor<1x8x3xf32>
      %1 = tosa.concat %z, %w {axis = 2 : i32} : (tensor<1x4x1xf32>, tensor<1x4x2xf32>) -> tensor<1x4x3xf32>
      %2 = tosa.concat %0, %1 {axis = 1 : i32} : (tensor<1x8x3xf32>, tensor<1x4x3xf32>) -> tensor<1x12x3xf32>
      return %2 : tensor<1x12x3xf32>
    })");
  EXPECT_EQ(groups[0].axis, 2);
  EXPECT_EQ(groups[0].groupByChannel, (Numbers{0, 1, 1}));
  EXPECT_EQ(groups[0].names.size(), 2u);
}

// Without a concatenation: where the last axis of the op before the movement
// comes to lie. Arithmetic after a concatenation hides it.
TEST_F(ResultGroupsTest, WithoutAConcatenationThereAreChannelsAlone) {
  auto groups = find(R"(
    func.func @main(%x: tensor<1x4x4x3xf32>, %y: tensor<1x2xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x4xf32>, tensor<1xf32>) {
      %v = tosa.abs %x : (tensor<1x4x4x3xf32>) -> tensor<1x4x4x3xf32>
      %t = tosa.transpose %v {perms = array<i32: 0, 3, 1, 2>} : (tensor<1x4x4x3xf32>) -> tensor<1x3x4x4xf32>
      %c = tosa.concat %y, %y {axis = 1 : i32} : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x4xf32>
      %a = tosa.abs %c : (tensor<1x4xf32>) -> tensor<1x4xf32>
      %s = "tosa.const"() <{values = dense<1.0> : tensor<1xf32>}> : () -> tensor<1xf32>
      return %t, %a, %s : tensor<1x3x4x4xf32>, tensor<1x4xf32>, tensor<1xf32>
    })");
  ASSERT_EQ(groups.size(), 3u);
  for (const ResultGroups &each : groups)
    EXPECT_TRUE(each.groupByChannel.empty() && each.names.empty());
  EXPECT_EQ(groups[0].axis, 1);
  EXPECT_EQ(groups[1].axis, 1);
  EXPECT_EQ(groups[2].axis, 0);
}

} // namespace
