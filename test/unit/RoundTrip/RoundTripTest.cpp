// SPDX-License-Identifier: Apache-2.0
//
// Every module that a lit test reads or writes is printed, as text and as
// bytecode, read back and printed again: the same text each time.
//
// MCT_ROUND_TRIP_DIR: a folder that `lit` filled with what the tools wrote
// (test/README.md); without it only the inputs are read.
#include "TestPaths.h"
#include "mct/IR/Shapes.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/Bytecode/BytecodeWriter.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "gtest/gtest.h"
#include <cstdlib>

using namespace mlir;

namespace {
/// A module in a context of its own: keys of resources are unique in a context,
/// and what is read a second time would get other ones.
struct Read {
  explicit Read(StringRef text) {
    static const DialectRegistry registry = [] {
      DialectRegistry all;
      registerAllDialects(all);
      all.insert<mct::tpc::TpcDialect>();
      return all;
    }();
    context.appendDialectRegistry(registry);
    context.allowUnregisteredDialects();
    context.getDiagEngine().registerHandler([&](Diagnostic &diagnostic) {
      if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
        errors += diagnostic.str() + "\n";
    });
    // Aligned as bytecode wants it.
    std::unique_ptr<llvm::WritableMemoryBuffer> buffer =
        llvm::WritableMemoryBuffer::getNewUninitMemBuffer(text.size(), "module",
                                                          llvm::Align(64));
    llvm::copy(text, buffer->getBufferStart());
    llvm::SourceMgr sources;
    sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
    module = parseSourceFile<ModuleOp>(sources, &context);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::string errors;
  /// Null, with `errors`, for what is no module.
  OwningOpRef<ModuleOp> module;
};

/// Prints a module with names and all: locations are a part of it.
std::string print(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  return text;
}

std::string firstDifference(StringRef before, StringRef after) {
  while (true) {
    auto [left, leftRest] = before.split('\n');
    auto [right, rightRest] = after.split('\n');
    if (left != right || leftRest.empty() || rightRest.empty())
      return ("  " + left.take_front(2000) + "\n  " + right.take_front(2000))
          .str();
    before = leftRest;
    after = rightRest;
  }
}

/// Returns what is not read back, or nothing.
std::string check(ModuleOp module) {
  std::string text = print(module);
  Read fromText(text);
  if (!fromText.module)
    return "the text is not read back: " + fromText.errors;
  if (std::string again = print(*fromText.module); again != text)
    return "from text:\n" + firstDifference(text, again);
  std::string bytes;
  llvm::raw_string_ostream os(bytes);
  if (failed(writeBytecodeToFile(module, os)))
    return "no bytecode is written";
  Read fromBytes(bytes);
  if (!fromBytes.module)
    return "the bytecode is not read back: " + fromBytes.errors;
  if (std::string again = print(*fromBytes.module); again != text)
    return "from bytecode:\n" + firstDifference(text, again);
  return "";
}

/// The modules of a file: several with a line of dashes between them.
std::vector<std::string> readModules(StringRef path) {
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return {};
  StringRef text = (*buffer)->getBuffer();
  std::vector<std::string> modules;
  if (isBytecode((*buffer)->getMemBufferRef()))
    return {text.str()};
  SmallVector<StringRef> parts;
  text.split(parts, "// -----\n");
  for (StringRef part : parts)
    if (!part.trim().empty())
      modules.push_back(part.str());
  return modules;
}

/// All files below a folder, in the order of their names.
std::vector<std::string> listFiles(StringRef folder) {
  std::vector<std::string> files;
  std::error_code error;
  for (llvm::sys::fs::recursive_directory_iterator it(folder, error), end;
       it != end && !error; it.increment(error))
    if (llvm::sys::fs::is_regular_file(it->path()))
      files.push_back(it->path());
  llvm::sort(files);
  return files;
}
} // namespace

TEST(RoundTrip, WhatTestsRead) {
  size_t numRead = 0;
  for (StringRef folder : {"test", "tpc_dialect/targets"})
    for (const std::string &file :
         listFiles(mct::testing::getSourcePath(folder))) {
      if (!StringRef(file).contains(".mlir"))
        continue;
      for (const std::string &text : readModules(file)) {
        // Tests of errors have modules that are none, or that the tools refuse.
        Read read(text);
        if (!read.module || failed(mct::verifyShapes(*read.module)))
          continue;
        ++numRead;
        EXPECT_EQ(check(*read.module), "")
            << "in " << file << ":\n"
            << StringRef(text).take_front(500).str();
      }
    }
  EXPECT_GT(numRead, 250u);
}

TEST(RoundTrip, WhatTestsWrite) {
  const char *folder = std::getenv("MCT_ROUND_TRIP_DIR");
  if (!folder)
    GTEST_SKIP() << "MCT_ROUND_TRIP_DIR names no folder of outputs; "
                    "tools/dev/check makes one";
  size_t numRead = 0;
  for (const std::string &file : listFiles(folder)) {
    if (llvm::sys::path::extension(file) == ".command")
      continue;
    auto command = llvm::MemoryBuffer::getFile(file + ".command");
    std::string from = command ? (*command)->getBuffer().str() : file;
    for (const std::string &text : readModules(file)) {
      ++numRead;
      Read read(text);
      if (!read.module) {
        ADD_FAILURE() << "the output of\n  " << from << "is not read back:\n"
                      << read.errors;
        continue;
      }
      EXPECT_EQ(check(*read.module), "") << "in the output of\n  " << from;
    }
  }
  EXPECT_GT(numRead, 300u);
}

/// A list of thresholds that is empty prints, and is not read back.
TEST(RoundTrip, FindsWhatIsNotReadBack) {
  Read read("module {}");
  ASSERT_TRUE(read.module);
  EXPECT_EQ(check(*read.module), "");
  read.context.loadDialect<mct::tpc::TpcDialect>();
  (*read.module)
      ->setAttr("test.a", mct::tpc::SymmetricAttr::get(
                              &read.context, llvm::ArrayRef<double>(), 8, true,
                              mct::tpc::RoundingMode::HalfEven));
  EXPECT_NE(
      check(*read.module).find("a quantizer needs at least one threshold"),
      std::string::npos)
      << check(*read.module);
}
