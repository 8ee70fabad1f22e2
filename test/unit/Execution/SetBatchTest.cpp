// SPDX-License-Identifier: Apache-2.0
//
// Executing what `mct::setBatch` makes is the test of its rules.
#include "Fixture.h"

#include "mct/Interfaces/SetBatch.h"
#include "mlir/IR/Verifier.h"

#include <cmath>

using namespace mct::execution;

namespace {

struct SetBatchTest : ExecutionTest {
  std::string withBatch(const std::string &text, int64_t size) {
    auto parsed = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!parsed)
      return "";
    auto function = *parsed->getOps<mlir::func::FuncOp>().begin();
    EXPECT_TRUE(mlir::succeeded(mct::setBatch(function, size)));
    EXPECT_TRUE(mlir::succeeded(mlir::verify(*parsed)));
    std::string result;
    llvm::raw_string_ostream stream(result);
    parsed->print(stream);
    return result;
  }

  /// Every sample of a batch of 3 must give what it gives alone.
  void expectSamplesIndependent(const std::string &text) {
    CompileOptions options;
    options.keepTypes = true;
    auto single = compile(withBatch(text, 1), options);
    ASSERT_TRUE(single) << llvm::join(diagnostics, "\n");
    auto batch = compile(withBatch(text, 3), options);
    ASSERT_TRUE(batch) << llvm::join(diagnostics, "\n");
    llvm::SmallVector<int64_t> shape(single->outputs().front().type.getShape());
    shape.front() *= 3;
    EXPECT_EQ(batch->outputs().front().type.getShape(),
              llvm::ArrayRef<int64_t>(shape));
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

// A number of each sample that meets a row of constants.
TEST_F(SetBatchTest, NumbersOfSamplesAreFlattenedAndBroadcast) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x3xf32>) -> tensor<1x4xf32> {
      %start = tosa.const_shape {values = dense<[0, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %size = tosa.const_shape {values = dense<1> : tensor<2xindex>} : () -> !tosa.shape<2>
      %flat = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
      %column = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %c = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
      %0 = tosa.slice %x, %start, %size : (tensor<1x3xf32>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x1xf32>
      %1 = tosa.reshape %0, %flat : (tensor<1x1xf32>, !tosa.shape<1>) -> tensor<1xf32>
      %2 = tosa.exp %1 : (tensor<1xf32>) -> tensor<1xf32>
      %3 = tosa.reshape %2, %column : (tensor<1xf32>, !tosa.shape<2>) -> tensor<1x1xf32>
      %4 = tosa.add %3, %c : (tensor<1x1xf32>, tensor<1x4xf32>) -> tensor<1x4xf32>
      return %4 : tensor<1x4xf32>
    })");
}

// With every size of the batch that the file may have been written for.
TEST_F(SetBatchTest, FlattenedNumbersOfAnyBatch) {
  for (const char *batch : {"1", "2", "4", "5", "?"}) {
    std::string text = R"(
    func.func @main(%x: tensor<Bx1xf32>) -> tensor<Bx4xf32> {
      %flat = tosa.const_shape {values = dense<-1> : tensor<1xindex>} : () -> !tosa.shape<1>
      %inner = tosa.const_shape {values = dense<[1, -1, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %column = tosa.const_shape {values = dense<[-1, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %c = "tosa.const"() <{values = dense<[[1.0, 2.0, 3.0, 4.0]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
      %0 = tosa.reshape %x, %flat : (tensor<Bx1xf32>, !tosa.shape<1>) -> tensor<Bxf32>
      %1 = tosa.reshape %0, %inner : (tensor<Bxf32>, !tosa.shape<3>) -> tensor<1xBx1xf32>
      %2 = tosa.exp %1 : (tensor<1xBx1xf32>) -> tensor<1xBx1xf32>
      %3 = tosa.reshape %2, %column : (tensor<1xBx1xf32>, !tosa.shape<2>) -> tensor<Bx1xf32>
      %4 = tosa.add %3, %c : (tensor<Bx1xf32>, tensor<1x4xf32>) -> tensor<Bx4xf32>
      return %4 : tensor<Bx4xf32>
    })";
    for (size_t at; (at = text.find("<Bx")) != std::string::npos;)
      text.replace(at + 1, 1, batch);
    for (size_t at; (at = text.find("xBx")) != std::string::npos;)
      text.replace(at + 1, 1, batch);
    CompileOptions options;
    options.unit = 3;
    auto executor = compile(text, options);
    ASSERT_TRUE(executor) << batch << llvm::join(diagnostics, "\n");
    ASSERT_EQ(executor->unit(), 3) << batch;
    Floats result = runUnit(*executor, Floats{-1.0f, 0.0f, 2.0f});
    ASSERT_EQ(result.size(), 12u);
    const float inputs[] = {-1.0f, 0.0f, 2.0f};
    for (size_t i = 0; i != result.size(); ++i)
      // One rounding of exp, one of the sum.
      EXPECT_NEAR(result[i], std::exp(inputs[i / 4]) + float(i % 4 + 1), 2e-6f)
          << batch;
  }
}

// [2, 1] + [1, 2] is one matrix; with the batch elsewhere it would be another.
TEST_F(SetBatchTest, SamplesThatMeetEachOtherAreNotFollowed) {
  auto parsed = mlir::parseSourceString<mlir::ModuleOp>(R"(
    func.func @main(%x: tensor<2x1xf32>) -> tensor<2x2xf32> {
      %0 = tosa.transpose %x {perms = array<i32: 1, 0>} : (tensor<2x1xf32>) -> tensor<1x2xf32>
      %1 = tosa.add %x, %0 : (tensor<2x1xf32>, tensor<1x2xf32>) -> tensor<2x2xf32>
      return %1 : tensor<2x2xf32>
    })",
                                                        &context);
  ASSERT_TRUE(parsed);
  auto function = *parsed->getOps<mlir::func::FuncOp>().begin();
  EXPECT_TRUE(mlir::failed(mct::setBatch(function, 3)));
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

TEST_F(SetBatchTest, RowsTimesConstantMatrix) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x4x5xf32> {\n" +
      std::string(kZero) + constant("w", {1, 6, 5}, 1) +
      constant("b", {1, 1, 5}, 2) + constant("positions", {1, 4, 5}, 3) + R"(
      %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
      %1 = tosa.add %0, %b : (tensor<1x4x5xf32>, tensor<1x1x5xf32>) -> tensor<1x4x5xf32>
      %2 = tosa.add %positions, %1 : (tensor<1x4x5xf32>, tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
      return %2 : tensor<1x4x5xf32>
    })");
}

TEST_F(SetBatchTest, ConstantMatrixTimesColumns) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x3x6xf32> {\n" +
      std::string(kZero) + constant("w", {1, 3, 4}, 1) + R"(
      %0 = tosa.matmul %w, %x, %zero, %zero : (tensor<1x3x4xf32>, tensor<1x4x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x3x6xf32>
      %1 = tosa.transpose %0 {perms = array<i32: 0, 2, 1>} : (tensor<1x3x6xf32>) -> tensor<1x6x3xf32>
      %2 = tosa.exp %1 : (tensor<1x6x3xf32>) -> tensor<1x6x3xf32>
      %3 = tosa.reduce_sum %2 {axis = 2 : i32} : (tensor<1x6x3xf32>) -> tensor<1x6x1xf32>
      %4 = tosa.sub %2, %3 : (tensor<1x6x3xf32>, tensor<1x6x1xf32>) -> tensor<1x6x3xf32>
      %5 = tosa.transpose %4 {perms = array<i32: 0, 2, 1>} : (tensor<1x6x3xf32>) -> tensor<1x3x6xf32>
      %back = tosa.const_shape {values = dense<[1, 18]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %forth = tosa.const_shape {values = dense<[1, 3, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %6 = tosa.reshape %5, %back : (tensor<1x3x6xf32>, !tosa.shape<2>) -> tensor<1x18xf32>
      %7 = tosa.reshape %6, %forth : (tensor<1x18xf32>, !tosa.shape<3>) -> tensor<1x3x6xf32>
      return %7 : tensor<1x3x6xf32>
    })");
}

TEST_F(SetBatchTest, HeadsTimesAConstantEach) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x2x4x6xf32>) -> tensor<1x2x4x5xf32> {\n" +
      std::string(kZero) + constant("w", {2, 6, 5}, 1) + R"(
      %heads = tosa.const_shape {values = dense<[2, 4, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %back = tosa.const_shape {values = dense<[1, 2, 4, 5]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %0 = tosa.reshape %x, %heads : (tensor<1x2x4x6xf32>, !tosa.shape<3>) -> tensor<2x4x6xf32>
      %1 = tosa.matmul %0, %w, %zero, %zero : (tensor<2x4x6xf32>, tensor<2x6x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x4x5xf32>
      %2 = tosa.reshape %1, %back : (tensor<2x4x5xf32>, !tosa.shape<4>) -> tensor<1x2x4x5xf32>
      return %2 : tensor<1x2x4x5xf32>
    })");
}

TEST_F(SetBatchTest, ClassTokenBeforeTheOthers) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x5x6xf32> {\n" +
      constant("token", {1, 1, 6}, 1) + constant("positions", {1, 5, 6}, 2) +
      R"(
      %0 = tosa.concat %token, %x {axis = 1 : i32} : (tensor<1x1x6xf32>, tensor<1x4x6xf32>) -> tensor<1x5x6xf32>
      %1 = tosa.add %0, %positions : (tensor<1x5x6xf32>, tensor<1x5x6xf32>) -> tensor<1x5x6xf32>
      return %1 : tensor<1x5x6xf32>
    })");
}

TEST_F(SetBatchTest, GatherWithConstantIndices) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x3x6xf32> {
      %i = "tosa.const"() <{values = dense<[[3, 0, 2]]> : tensor<1x3xi32>}> : () -> tensor<1x3xi32>
      %0 = tosa.gather %x, %i : (tensor<1x4x6xf32>, tensor<1x3xi32>) -> tensor<1x3x6xf32>
      return %0 : tensor<1x3x6xf32>
    })");
}

TEST_F(SetBatchTest, LookUpInAConstantTable) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x4x5xf32> {\n" +
      constant("table", {1, 6, 5}, 1) + R"(
      %0 = tosa.argmax %x {axis = 2 : i32} : (tensor<1x4x6xf32>) -> tensor<1x4xi32>
      %1 = tosa.gather %table, %0 : (tensor<1x6x5xf32>, tensor<1x4xi32>) -> tensor<1x4x5xf32>
      return %1 : tensor<1x4x5xf32>
    })");
}

TEST_F(SetBatchTest, ScatterIntoAConstant) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x2x6xf32>) -> tensor<1x4x6xf32> {\n" +
      constant("values", {1, 4, 6}, 1) + R"(
      %i = "tosa.const"() <{values = dense<[[3, 1]]> : tensor<1x2xi32>}> : () -> tensor<1x2xi32>
      %0 = tosa.scatter %values, %i, %x : (tensor<1x4x6xf32>, tensor<1x2xi32>, tensor<1x2x6xf32>) -> tensor<1x4x6xf32>
      return %0 : tensor<1x4x6xf32>
    })");
}

// torch-mlir drops the transposes of a recurrent network whose batch is 1: its
// steps are rows of what carries the batch.
TEST_F(SetBatchTest, StepsOfARecurrentNetwork) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x2x4xf32>) -> tensor<1x2x5xf32> {\n" +
      std::string(kZero) + constant("w", {1, 4, 5}, 1) +
      constant("u", {1, 5, 5}, 2) + constant("h", {1, 1, 5}, 3) +
      constant("b", {1, 5}, 4) + R"(
      %rows = tosa.const_shape {values = dense<[2, 5]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %steps = tosa.const_shape {values = dense<[2, 1, 5]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %step = tosa.const_shape {values = dense<[1, 1, 5]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %first = tosa.const_shape {values = dense<[0, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %second = tosa.const_shape {values = dense<[1, 0, 0]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %all = tosa.const_shape {values = dense<[1, 2, 5]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %0 = tosa.matmul %x, %w, %zero, %zero : (tensor<1x2x4xf32>, tensor<1x4x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x5xf32>
      %1 = tosa.reshape %0, %rows : (tensor<1x2x5xf32>, !tosa.shape<2>) -> tensor<2x5xf32>
      %2 = tosa.add %1, %b : (tensor<2x5xf32>, tensor<1x5xf32>) -> tensor<2x5xf32>
      %3 = tosa.reshape %2, %steps : (tensor<2x5xf32>, !tosa.shape<3>) -> tensor<2x1x5xf32>
      %4 = tosa.slice %3, %first, %step : (tensor<2x1x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x5xf32>
      %5 = tosa.slice %3, %second, %step : (tensor<2x1x5xf32>, !tosa.shape<3>, !tosa.shape<3>) -> tensor<1x1x5xf32>
      %6 = tosa.matmul %h, %u, %zero, %zero : (tensor<1x1x5xf32>, tensor<1x5x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x5xf32>
      %7 = tosa.add %6, %4 : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
      %8 = tosa.tanh %7 : (tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
      %9 = tosa.matmul %8, %u, %zero, %zero : (tensor<1x1x5xf32>, tensor<1x5x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x5xf32>
      %10 = tosa.add %9, %5 : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
      %11 = tosa.tanh %10 : (tensor<1x1x5xf32>) -> tensor<1x1x5xf32>
      %12 = tosa.concat %8, %11 {axis = 0 : i32} : (tensor<1x1x5xf32>, tensor<1x1x5xf32>) -> tensor<2x1x5xf32>
      %13 = tosa.reshape %12, %all : (tensor<2x1x5xf32>, !tosa.shape<3>) -> tensor<1x2x5xf32>
      return %13 : tensor<1x2x5xf32>
    })");
}

// The same of the transposes around the heads of an attention.
TEST_F(SetBatchTest, HeadsOfAnAttention) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x4x5xf32> {\n" +
      std::string(kZero) + constant("w", {1, 6, 5}, 1) + R"(
      %parts = tosa.const_shape {values = dense<[1, 4, 1, 2, 3]> : tensor<5xindex>} : () -> !tosa.shape<5>
      %flat = tosa.const_shape {values = dense<[2, 4, 1, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %part = tosa.const_shape {values = dense<[1, 4, 1, 3]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %first = tosa.const_shape {values = dense<[0, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %second = tosa.const_shape {values = dense<[1, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %heads = tosa.const_shape {values = dense<[4, 3, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %both = tosa.const_shape {values = dense<[1, 4, 6]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %0 = tosa.reshape %x, %parts : (tensor<1x4x6xf32>, !tosa.shape<5>) -> tensor<1x4x1x2x3xf32>
      %1 = tosa.transpose %0 {perms = array<i32: 3, 1, 2, 0, 4>} : (tensor<1x4x1x2x3xf32>) -> tensor<2x4x1x1x3xf32>
      %2 = tosa.reshape %1, %flat : (tensor<2x4x1x1x3xf32>, !tosa.shape<4>) -> tensor<2x4x1x3xf32>
      %3 = tosa.slice %2, %first, %part : (tensor<2x4x1x3xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x1x3xf32>
      %4 = tosa.slice %2, %second, %part : (tensor<2x4x1x3xf32>, !tosa.shape<4>, !tosa.shape<4>) -> tensor<1x4x1x3xf32>
      %5 = tosa.reshape %3, %heads : (tensor<1x4x1x3xf32>, !tosa.shape<3>) -> tensor<4x3x1xf32>
      %6 = tosa.transpose %5 {perms = array<i32: 1, 0, 2>} : (tensor<4x3x1xf32>) -> tensor<3x4x1xf32>
      %7 = tosa.reshape %4, %heads : (tensor<1x4x1x3xf32>, !tosa.shape<3>) -> tensor<4x3x1xf32>
      %8 = tosa.transpose %7 {perms = array<i32: 1, 2, 0>} : (tensor<4x3x1xf32>) -> tensor<3x1x4xf32>
      %9 = tosa.matmul %6, %8, %zero, %zero : (tensor<3x4x1xf32>, tensor<3x1x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x4x4xf32>
      %10 = tosa.matmul %9, %6, %zero, %zero : (tensor<3x4x4xf32>, tensor<3x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<3x4x1xf32>
      %11 = tosa.concat %10, %6 {axis = 2 : i32} : (tensor<3x4x1xf32>, tensor<3x4x1xf32>) -> tensor<3x4x2xf32>
      %12 = tosa.transpose %11 {perms = array<i32: 1, 0, 2>} : (tensor<3x4x2xf32>) -> tensor<4x3x2xf32>
      %13 = tosa.reshape %12, %both : (tensor<4x3x2xf32>, !tosa.shape<3>) -> tensor<1x4x6xf32>
      %14 = tosa.matmul %13, %w, %zero, %zero : (tensor<1x4x6xf32>, tensor<1x6x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x5xf32>
      return %14 : tensor<1x4x5xf32>
    })");
}

// Rows of one sample are reversed, padded, repeated and reduced where they
// carry the batch.
TEST_F(SetBatchTest, OpsAlongTheRowsOfEachSample) {
  expectSamplesIndependent(R"(
    func.func @main(%x: tensor<1x4x6xf32>) -> tensor<1x6xf32> {
      %rows = tosa.const_shape {values = dense<[4, 6]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %pads = tosa.const_shape {values = dense<[1, 0, 0, 0]> : tensor<4xindex>} : () -> !tosa.shape<4>
      %twice = tosa.const_shape {values = dense<[2, 1]> : tensor<2xindex>} : () -> !tosa.shape<2>
      %value = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
      %0 = tosa.reshape %x, %rows : (tensor<1x4x6xf32>, !tosa.shape<2>) -> tensor<4x6xf32>
      %1 = tosa.pad %0, %pads, %value : (tensor<4x6xf32>, !tosa.shape<4>, tensor<1xf32>) -> tensor<5x6xf32>
      %2 = tosa.reverse %1 {axis = 0 : i32} : (tensor<5x6xf32>) -> tensor<5x6xf32>
      %3 = tosa.reduce_max %1 {axis = 0 : i32} : (tensor<5x6xf32>) -> tensor<1x6xf32>
      %4 = tosa.sub %2, %3 : (tensor<5x6xf32>, tensor<1x6xf32>) -> tensor<5x6xf32>
      %5 = tosa.tile %4, %twice : (tensor<5x6xf32>, !tosa.shape<2>) -> tensor<10x6xf32>
      %6 = tosa.exp %5 : (tensor<10x6xf32>) -> tensor<10x6xf32>
      %7 = tosa.reduce_sum %6 {axis = 0 : i32} : (tensor<10x6xf32>) -> tensor<1x6xf32>
      return %7 : tensor<1x6xf32>
    })");
}

TEST_F(SetBatchTest, FromALargerBatchWhoseConstantsAreRepeated) {
  expectSamplesIndependent(
      "func.func @main(%x: tensor<2x4x6xf32>) -> tensor<2x5x5xf32> {\n" +
      std::string(kZero) + constant("token", {1, 1, 6}, 1) +
      constant("w", {1, 6, 5}, 2) + R"(
      %twice = tosa.const_shape {values = dense<[2, 1, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
      %ones = "tosa.const"() <{values = dense<[[[1.0], [2.0], [3.0], [4.0], [5.0]], [[1.0], [2.0], [3.0], [4.0], [5.0]]]> : tensor<2x5x1xf32>}> : () -> tensor<2x5x1xf32>
      %tokens = tosa.tile %token, %twice : (tensor<1x1x6xf32>, !tosa.shape<3>) -> tensor<2x1x6xf32>
      %both = tosa.tile %w, %twice : (tensor<1x6x5xf32>, !tosa.shape<3>) -> tensor<2x6x5xf32>
      %0 = tosa.concat %tokens, %x {axis = 1 : i32} : (tensor<2x1x6xf32>, tensor<2x4x6xf32>) -> tensor<2x5x6xf32>
      %1 = tosa.add %0, %ones : (tensor<2x5x6xf32>, tensor<2x5x1xf32>) -> tensor<2x5x6xf32>
      %2 = tosa.matmul %1, %both, %zero, %zero : (tensor<2x5x6xf32>, tensor<2x6x5xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<2x5x5xf32>
      return %2 : tensor<2x5x5xf32>
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
