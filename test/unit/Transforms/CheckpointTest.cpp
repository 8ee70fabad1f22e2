// SPDX-License-Identifier: Apache-2.0
#include "lib/Transforms/CheckpointFile.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace mct;

namespace {
class Checkpoints : public testing::Test {
protected:
  Checkpoints() {
    context.loadDialect<func::FuncDialect, tosa::TosaDialect>();
    // A resource and a value whose uses are not in the order of the program.
    module = parseSourceString<ModuleOp>(R"mlir(
      func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
        %0 = "tosa.const"() <{values = dense_resource<weights> : tensor<4xf32>}> : () -> tensor<4xf32>
        %1 = tosa.add %arg0, %0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %2 = tosa.add %1, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        %3 = tosa.sub %2, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
        return %3 : tensor<4xf32>
      }
      {-# dialect_resources: { builtin: { weights: "0x040000000000803F000000400000404000008040" } } #-}
    )mlir",
                                         &context);
    state.run = {"1.0", "network", "options", "files"};
    state.stage = 3;
  }

  void SetUp() override {
    ASSERT_TRUE(module);
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("checkpoint", folder));
    path = folder;
    llvm::sys::path::append(path, "module.mlirbc");
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string write() {
    EXPECT_EQ(llvm::toString(writeCheckpoint(path, *module, state)), "");
    auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false);
    return file ? (*file)->getBuffer().str() : "";
  }
  void store(StringRef bytes) {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    ASSERT_FALSE(error);
    stream << bytes;
  }
  /// Returns the error of reading the file; empty if there is none.
  std::string read() {
    auto found = readCheckpoint(path, &context);
    return found ? "" : llvm::toString(found.takeError());
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  RunState state;
  SmallString<128> folder, path;
};
} // namespace

static std::vector<unsigned> orderOfUses(ModuleOp module) {
  std::vector<unsigned> order;
  auto main = *module.getOps<func::FuncOp>().begin();
  for (OpOperand &use : main.getArgument(0).getUses())
    order.push_back(use.getOwner()->getName().getStringRef() == "tosa.sub"
                        ? 10
                        : use.getOperandNumber());
  return order;
}

TEST_F(Checkpoints, AFlippedBitIsRefusedWithOneError) {
  std::string bytes = write();
  ASSERT_EQ(read(), "");
  for (size_t at = 0; at < bytes.size(); at += 3) {
    std::string damaged = bytes;
    damaged[at] ^= char(1 << (at % 8));
    store(damaged);
    EXPECT_EQ(read(), ("'" + path +
                       "' is damaged, or no checkpoint of this version of mct; "
                       "remove it to start again")
                          .str())
        << "byte " << at;
  }
}

TEST_F(Checkpoints, AnyTruncatedFileIsRefused) {
  std::string bytes = write();
  for (size_t size = 0; size < bytes.size(); size += 7) {
    store(StringRef(bytes).take_front(size));
    EXPECT_NE(read(), "") << size << " bytes";
  }
}

TEST_F(Checkpoints, KeepTheModuleAndTheOrderOfItsUses) {
  // Order in which bytecode writes them, which a copy of the module has not.
  auto main = *module->getOps<func::FuncOp>().begin();
  main.getArgument(0).shuffleUseList({1, 2, 0});
  std::vector<unsigned> order = orderOfUses(*module);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  write();
  std::string after;
  llvm::raw_string_ostream(after) << *module;
  EXPECT_EQ(after, text);
  EXPECT_EQ(orderOfUses(*module), order);
  auto found = readCheckpoint(path, &context);
  ASSERT_TRUE(bool(found)) << llvm::toString(found.takeError());
  std::string again;
  llvm::raw_string_ostream(again) << *found->second;
  EXPECT_EQ(again, text);
  EXPECT_EQ(orderOfUses(*found->second), order);
  EXPECT_EQ(found->first.stage, 3);
}

/// Returns the error of resuming a run of one stage with the file, after
/// `change` was made to the state of that run.
static std::string resumeWith(MLIRContext &context, ModuleOp module,
                              StringRef folder,
                              llvm::function_ref<void(RunState &)> change) {
  std::string errors;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    errors += diagnostic.str();
    return success();
  });
  auto run = [&] {
    OwningOpRef<ModuleOp> copy = module.clone();
    CheckpointPassOptions options;
    options.directory = folder.str();
    options.stages.emplace_back(ModuleOp::getOperationName())
        .addPass(createFoldBatchNormPass());
    PassManager passes(&context);
    passes.addPass(createCheckpointPass(options));
    (void)passes.run(*copy);
  };
  run();
  SmallString<128> path(folder);
  llvm::sys::path::append(path, "module.mlirbc");
  auto found = readCheckpoint(path, &context);
  if (!found)
    return llvm::toString(found.takeError());
  change(found->first);
  if (llvm::Error error = writeCheckpoint(path, *found->second, found->first))
    return llvm::toString(std::move(error));
  run();
  return errors;
}

TEST_F(Checkpoints, OfAnotherVersionOrOtherStagesAreRefused) {
  EXPECT_EQ(resumeWith(context, *module, folder, [](RunState &) {}), "");
  std::string made = ("'" + path + "' was made with ").str();
  EXPECT_EQ(resumeWith(context, *module, folder,
                       [](RunState &state) { state.run.version = "0.0.1"; }),
            made + "another version of mct");
  llvm::sys::fs::remove(path);
  EXPECT_EQ(resumeWith(context, *module, folder,
                       [](RunState &state) { state.stage = 7; }),
            made + "other stages");
}
