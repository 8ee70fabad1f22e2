// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/ConstantPool.h"

#include "Fixture.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

#include <cstdlib>

using namespace mct::execution;

namespace {
constexpr size_t kBytes = 5 * ConstantPool::kLeastBytes + 3;

std::shared_ptr<char> allocate(size_t bytes, char value, char last) {
  std::shared_ptr<char> data(static_cast<char *>(std::malloc(bytes)),
                             std::free);
  std::memset(data.get(), value, bytes);
  data.get()[bytes - 1] = last;
  return data;
}

class SharedConstants : public ExecutionTest {
protected:
  /// Compiles a product with a constant of 128 KB, which may be replaced,
  /// twice.
  std::vector<std::unique_ptr<Executor>> compileTwice() {
    constexpr int64_t kSize = 180;
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(%x: tensor<1x2x180xf32>) -> tensor<1x2x180xf32> {\n" +
            constant("k", {1, kSize, kSize}, /*seed=*/1) +
            "%z = \"tosa.const\"() <{values = dense<0.0> : tensor<1xf32>}> : "
            "() -> tensor<1xf32>\n"
            "%0 = tosa.matmul %x, %k, %z, %z : (tensor<1x2x180xf32>, "
            "tensor<1x180x180xf32>, tensor<1xf32>, tensor<1xf32>) -> "
            "tensor<1x2x180xf32>\n"
            "return %0 : tensor<1x2x180xf32>\n}",
        &context);
    CompileOptions options;
    module->walk([&](mlir::tosa::MatMulOp op) {
      options.replaceable = {&op->getOpOperand(1)};
    });
    auto executors = Executor::compileAll(*module, {options, options});
    EXPECT_TRUE(mlir::succeeded(executors)) << llvm::join(diagnostics, "\n");
    return std::move(*executors);
  }
};
} // namespace

TEST(ConstantPool, EqualBytesAreOneMemory) {
  ConstantPool pool;
  std::shared_ptr<char> first = allocate(kBytes, 1, 1);
  EXPECT_EQ(pool.share(first, kBytes), first);
  EXPECT_EQ(pool.share(allocate(kBytes, 1, 1), kBytes), first);
}

TEST(ConstantPool, OtherBytesAndSizesAreOtherMemory) {
  ConstantPool pool;
  std::shared_ptr<char> first = allocate(kBytes, 1, 1);
  pool.share(first, kBytes);
  // The hash looks at the last byte; 200 lies between the bytes it looks at.
  EXPECT_NE(pool.share(allocate(kBytes, 1, 2), kBytes), first);
  std::shared_ptr<char> hidden = allocate(kBytes, 1, 1);
  hidden.get()[200] = 2;
  EXPECT_EQ(pool.share(hidden, kBytes), hidden);
  EXPECT_NE(pool.share(allocate(kBytes - 1, 1, 1), kBytes - 1), first);
}

TEST(ConstantPool, KeepsNothingAliveAndNothingSmall) {
  ConstantPool pool;
  std::weak_ptr<char> gone = pool.share(allocate(kBytes, 1, 1), kBytes);
  EXPECT_TRUE(gone.expired());
  std::shared_ptr<char> later = allocate(kBytes, 1, 1);
  EXPECT_EQ(pool.share(later, kBytes), later);
  std::shared_ptr<char> small = allocate(100, 1, 1);
  pool.share(small, 100);
  EXPECT_NE(pool.share(allocate(100, 1, 1), 100), small);
}

TEST_F(SharedConstants, AReplacementInOneExecutorLeavesTheOtherAlone) {
  auto executors = compileTwice();
  ASSERT_EQ(executors.size(), 2u);
  auto inputs = randomInputs(*executors[0]);
  Floats before = runUnit(*executors[0], inputs);
  EXPECT_EQ(runUnit(*executors[1], inputs), before);
  // The first time takes memory of its own, the second writes into it.
  for (float value : {0.0f, 1.0f}) {
    llvm::cantFail(executors[1]->replaceConstant(0, Floats(180 * 180, value)));
    EXPECT_EQ(runUnit(*executors[0], inputs), before);
    Floats replaced = runUnit(*executors[1], inputs);
    EXPECT_NE(replaced, before);
    EXPECT_EQ(replaced.front() == 0, value == 0);
  }
}
