// SPDX-License-Identifier: Apache-2.0
//
// Executing what `mct::setBatch` makes is the test of its rules.
#include "Fixture.h"

#include "mct/Transforms/SetBatch.h"
#include "mlir/IR/Verifier.h"

using namespace mct::execution;

namespace {

struct SetBatchTest : ExecutionTest {
  /// Every sample of a batch of 3 must give what it gives alone.
  void expectSamplesIndependent(const std::string &text) {
    CompileOptions one, three;
    one.unit = 1;
    three.unit = 3;
    auto single = compile(text, one);
    ASSERT_TRUE(single) << llvm::join(diagnostics, "\n");
    auto batch = compile(text, three);
    ASSERT_TRUE(batch) << llvm::join(diagnostics, "\n");
    ASSERT_EQ(batch->unit(), 3);
    std::vector<Floats> inputs = randomInputs(*batch);
    Floats all = runUnit(*batch, inputs);
    size_t output = all.size() / 3;
    for (int64_t sample = 0; sample < 3; ++sample) {
      std::vector<Floats> alone;
      for (const Floats &input : inputs) {
        size_t size = input.size() / 3;
        alone.emplace_back(input.begin() + sample * size,
                           input.begin() + (sample + 1) * size);
      }
      Floats expected = runUnit(*single, alone);
      for (size_t i = 0; i < output; ++i)
        ASSERT_NEAR(all[sample * output + i], expected[i], 1e-6f)
            << "sample " << sample << " element " << i;
    }
  }
};

TEST_F(SetBatchTest, ReshapesThatMergeAndSplitTheBatch) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x2x12xf32> {
      %a = tosa.const_shape {values = dense<[4, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %b = tosa.const_shape {values = dense<[1, 2, 12]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %0 = tosa.reshape %x, %a : (tensor<1x4x6xf32>, !tosa.shape<2>) -> tensor<4x6xf32>
      %1 = tosa.exp %0 : (tensor<4x6xf32>) -> tensor<4x6xf32>
      %2 = tosa.reshape %1, %b : (tensor<4x6xf32>, !tosa.shape<3>) -> tensor<1x2x12xf32>
      return %2 : tensor<1x2x12xf32>
    })");
}

TEST_F(SetBatchTest, TransposeAwayAndBack) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x6x4xf32> {
      %0 = tosa.transpose %x {perms = array<i32: 1, 0, 2>} : (tensor<1x4x6xf32>) -> tensor<4x1x6xf32>
      %1 = tosa.reduce_max %0 {axis = 2 : i32} : (tensor<4x1x6xf32>) -> tensor<4x1x1xf32>
      %2 = tosa.sub %0, %1 : (tensor<4x1x6xf32>, tensor<4x1x1xf32>) -> tensor<4x1x6xf32>
      %3 = tosa.transpose %2 {perms = array<i32: 1, 2, 0>} : (tensor<4x1x6xf32>) -> tensor<1x6x4xf32>
      return %3 : tensor<1x6x4xf32>
    })");
}

TEST_F(SetBatchTest, SlicePadTileAndConcat) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x4x2xf32>) -> tensor<1x6x4xf32> {
      %start = tosa.const_shape {values = dense<[0, 1, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %size = tosa.const_shape {values = dense<[1, 2, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %pads = tosa.const_shape {values = dense<[0, 0, 1, 0, 0, 0]> : tensor<6xindex>} : () -> !tosa.shape<6>
      %twice = tosa.const_shape {values = dense<[1, 2, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %value = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
      %0 = tosa.slice %x, %start, %size : (tensor<1x4x2xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x2x2xf32>
      %1 = tosa.pad %0, %pads, %value : (tensor<1x2x2xf32>, !tosa.shape<6>, tensor<1xf32>) -> tensor<1x3x2xf32>
      %2 = tosa.tile %1, %twice : (tensor<1x3x2xf32>, !tosa.shape<3>) -> tensor<1x6x2xf32>
      %3 = tosa.concat %2, %2 {axis = 2 : i32} : (tensor<1x6x2xf32>, tensor<1x6x2xf32>) -> tensor<1x6x4xf32>
      return %3 : tensor<1x6x4xf32>
    })");
}

TEST_F(SetBatchTest, AttentionOfActivations) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x4x6xf32> {
      %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
      %0 = tosa.transpose %x {perms = array<i32: 0, 2, 1>} : (tensor<1x4x6xf32>) -> tensor<1x6x4xf32>
      %1 = tosa.matmul %x, %0, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
      %2 = tosa.matmul %1, %x, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x6xf32>
      return %2 : tensor<1x4x6xf32>
    })");
}

TEST_F(SetBatchTest, ToDynamicAndBackIsTheSameFunction) {
  const char *text = R"(
    func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x24xf32> {
      %a = tosa.const_shape {values = dense<[1, 24]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %0 = tosa.exp %x : (tensor<1x4x6xf32>) -> tensor<1x4x6xf32>
      %1 = tosa.reshape %0, %a : (tensor<1x4x6xf32>, !tosa.shape<2>) -> tensor<1x24xf32>
      return %1 : tensor<1x24xf32>
    })";
  module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  ASSERT_TRUE(module);
  auto print = [&] {
    std::string result;
    llvm::raw_string_ostream stream(result);
    module->print(stream);
    return result;
  };
  std::string before = print();
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  ASSERT_TRUE(
      mlir::succeeded(mct::setBatch(function, mlir::ShapedType::kDynamic)));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
  EXPECT_NE(print().find("tensor<?x24xf32>"), std::string::npos);
  ASSERT_TRUE(mlir::succeeded(mct::setBatch(function, 1)));
  ASSERT_TRUE(mlir::succeeded(mlir::verify(*module)));
  EXPECT_EQ(print(), before);
}

} // namespace
