// SPDX-License-Identifier: Apache-2.0
//
// Networks whose variables became arguments and results, run step by step,
// against a loop that keeps them.
#include "mct/Transforms/LiftVariables.h"
#include "mct/Execution/Executor.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "gtest/gtest.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace mct;

namespace {
class LiftVariablesTest : public testing::Test {
protected:
  LiftVariablesTest() {
    DialectRegistry registry;
    execution::Executor::registerDependencies(registry);
    registry.insert<func::FuncDialect, tosa::TosaDialect>();
    context.appendDialectRegistry(registry);
    for (StringRef name : registry.getDialectNames())
      context.getOrLoadDialect(name);
  }

  LogicalResult lift(ModuleOp module) {
    PassManager passes(&context);
    passes.addPass(createLiftVariablesPass());
    return passes.run(module);
  }

  MLIRContext context;
};
} // namespace

// h is read, written, read again and written: a smoothed sum. n counts.
TEST_F(LiftVariablesTest, StepsAreThoseOfALoop) {
  auto module = parseSourceString<ModuleOp>(R"mlir(
    module {
      tosa.variable @h = dense<[[0.5, -1.0]]> : tensor<1x2xf32>
      tosa.variable @n = dense<3.0> : tensor<1x1xf32>
      func.func @main(%x: tensor<1x2xf32>) -> (tensor<1x2xf32>, tensor<1x1xf32>) {
        %half = "tosa.const"() <{values = dense<0.5> : tensor<1x2xf32>}> : () -> tensor<1x2xf32>
        %one = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
        %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
        %0 = tosa.variable_read @h : tensor<1x2xf32>
        %1 = tosa.mul %0, %half, %shift : (tensor<1x2xf32>, tensor<1x2xf32>, tensor<1xi8>) -> tensor<1x2xf32>
        tosa.variable_write @h, %1 : tensor<1x2xf32>
        %2 = tosa.variable_read @n : tensor<1x1xf32>
        %3 = tosa.add %2, %one : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>
        tosa.variable_write @n, %3 : tensor<1x1xf32>
        %4 = tosa.variable_read @h : tensor<1x2xf32>
        %5 = tosa.add %4, %x : (tensor<1x2xf32>, tensor<1x2xf32>) -> tensor<1x2xf32>
        tosa.variable_write @h, %5 : tensor<1x2xf32>
        %6 = tosa.tanh %0 : (tensor<1x2xf32>) -> tensor<1x2xf32>
        return %6, %2 : tensor<1x2xf32>, tensor<1x1xf32>
      }
    })mlir",
                                            &context);
  ASSERT_TRUE(module);
  ASSERT_TRUE(succeeded(lift(*module)));
  auto function = *module->getOps<func::FuncOp>().begin();
  auto initial = [&](unsigned argument) {
    auto values = function.getArgAttrOfType<DenseElementsAttr>(
        argument, kInitialValueAttrName);
    return llvm::to_vector(values.getValues<float>());
  };
  EXPECT_FALSE(function.getArgAttr(0, kInitialValueAttrName));
  std::array<float, 2> state, kept;
  llvm::copy(initial(1), state.begin());
  float count = initial(2).front(), keptCount = count;
  kept = state;

  execution::CompileOptions options;
  options.unit = 1;
  auto executor = execution::Executor::compile(*module, options);
  ASSERT_TRUE(succeeded(executor));
  ASSERT_EQ((*executor)->inputs().size(), 3u);
  EXPECT_EQ((*executor)->inputs()[1].name, "h");
  EXPECT_EQ((*executor)->inputs()[2].name, "n");
  ASSERT_EQ((*executor)->outputs().size(), 4u);
  EXPECT_EQ((*executor)->outputs()[2].name, "h_next");
  EXPECT_EQ((*executor)->outputs()[3].name, "n_next");
  execution::Worker worker(**executor);
  for (int step = 0; step != 10; ++step) {
    std::array<float, 2> x = {float(step) - 4, 1.5f}, result, next;
    float readCount = 0, nextCount = 0;
    const void *inputs[] = {x.data(), state.data(), &count};
    void *outputs[] = {result.data(), &readCount, next.data(), &nextCount};
    llvm::cantFail(worker.run(inputs, outputs, 1));
    for (int i = 0; i != 2; ++i) {
      // tanh is computed in f32 by a polynomial.
      EXPECT_NEAR(result[i], std::tanh(kept[i]), 1e-6f) << step;
      kept[i] = kept[i] * 0.5f + x[i];
    }
    EXPECT_EQ(readCount, keptCount);
    keptCount += 1;
    EXPECT_EQ(next, kept) << step;
    EXPECT_EQ(nextCount, keptCount);
    state = next;
    count = nextCount;
  }
}

TEST_F(LiftVariablesTest, AVariableThatIsNotDeclaredIsRefused) {
  std::vector<std::string> errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors.push_back(diagnostic.str());
  });
  ParserConfig config(&context, /*verifyAfterParse=*/false);
  auto module = parseSourceString<ModuleOp>(R"mlir(
    module {
      tosa.variable @s : tensor<2xf32>
      func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
        %0 = tosa.variable_read @t : tensor<2xf32>
        return %0 : tensor<2xf32>
      }
    })mlir",
                                            config);
  ASSERT_TRUE(module);
  EXPECT_TRUE(failed(lift(*module)));
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(errors[0].find("reads the variable 't', which the module does not "
                           "declare"),
            std::string::npos)
      << errors[0];
}
