// SPDX-License-Identifier: Apache-2.0
//
// mlir-opt with the tpc dialect and the mct passes.
#include "mct/Execution/Executor.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace {
/// The output file: a temporary that is made when the first byte is written and
/// takes the file's name at the end, so that a run which fails or is killed
/// leaves nothing behind and an existing file alone.
class OutputFile : public llvm::raw_ostream {
public:
  explicit OutputFile(StringRef path) : path(path) {}

  ~OutputFile() override {
    flush();
    if (file)
      llvm::consumeError(file->discard());
  }

  /// Gives the file its name.
  llvm::Error keep() {
    flush();
    if (!error && !file)
      error = create();
    if (error)
      return llvm::createFileError(path, error);
    llvm::Error failed = file->keep(path);
    file.reset();
    return failed;
  }

private:
  std::error_code create() {
    auto made = llvm::sys::fs::TempFile::create(path + ".%%%%%%.tmp");
    if (!made)
      return llvm::errorToErrorCode(made.takeError());
    file.emplace(std::move(*made));
    return {};
  }

  void write_impl(const char *data, size_t size) override {
    if (!error && !file)
      error = create();
    if (error)
      return;
    llvm::raw_fd_ostream stream(file->FD, /*shouldClose=*/false,
                                /*unbuffered=*/true);
    stream.write(data, size);
    error = stream.error();
    stream.clear_error();
    written += size;
  }

  uint64_t current_pos() const override { return written; }

  std::string path;
  std::optional<llvm::sys::fs::TempFile> file;
  std::error_code error;
  uint64_t written = 0;
};
} // namespace

static llvm::cl::opt<bool>
    listTargets("tpc-list-targets",
                llvm::cl::desc("Print the names of the stock targets"));

static int fail(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return EXIT_FAILURE;
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialized(argc, argv);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<mct::tpc::TpcDialect>();
  registerAllPasses();
  mct::registerAllMctPasses();

  registerCLIOptions("mct-opt", registry);
  // A diagnostic says what is wrong; the op it is about may be a whole target,
  // or hold a megabyte of weights. The flag brings it back.
  constexpr llvm::StringLiteral kPrintOp = "mlir-print-op-on-diagnostic";
  if (llvm::cl::Option *option =
          llvm::cl::getRegisteredOptions().lookup(kPrintOp)) {
    option->setNumOccurrencesFlag(llvm::cl::ZeroOrMore);
    option->addOccurrence(0, kPrintOp, "false");
  }
  auto [inputName, outputName] = parseCLIOptions(
      argc, argv, "Quantization compiler for TOSA and linalg\n");
  if (listTargets) {
    for (StringRef name : mct::tpc::listTargets())
      llvm::outs() << name << '\n';
    return EXIT_SUCCESS;
  }

  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (StringRef(outputName).ends_with(".mlirbc"))
    config.emitBytecode(true);
  std::string message;
  std::unique_ptr<llvm::MemoryBuffer> input =
      openInputFile(inputName, &message);
  if (!input)
    return fail(message);
  if (outputName == "-")
    return asMainReturnCode(
        MlirOptMain(llvm::outs(), std::move(input), registry, config));

  OutputFile output(outputName);
  if (failed(MlirOptMain(output, std::move(input), registry, config)))
    return EXIT_FAILURE;
  if (llvm::Error error = output.keep())
    return fail(llvm::toString(std::move(error)));
  return EXIT_SUCCESS;
}
