// SPDX-License-Identifier: Apache-2.0
//
// Target platforms to and from the JSON of MCT.
#include "mct/Execution/OutputFile.h"
#include "mct/Support/InputFile.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace mlir;
using namespace mct::tpc;

namespace cl = llvm::cl;

namespace {
enum class Action { Import, Export };
} // namespace

static cl::OptionCategory category("mct-translate options");
static cl::opt<Action>
    action(cl::desc("What to do:"), cl::cat(category),
           cl::values(clEnumValN(Action::Import, "import-tpc-json",
                                 "A target platform from the JSON of MCT"),
                      clEnumValN(Action::Export, "export-tpc-json",
                                 "A target platform to the JSON of MCT")));
static cl::opt<std::string> inputName(cl::Positional, cl::init("-"),
                                      cl::desc("<input file>"),
                                      cl::cat(category));
static cl::opt<std::string>
    outputName("o", cl::init("-"), cl::desc("Output file"), cl::cat(category));
static cl::opt<int64_t>
    schemaVersion("tpc-json-schema",
                  cl::desc("Schema version that is written: 1 or 2"),
                  cl::init(kCurrentTpcSchema), cl::cat(category));

static LogicalResult importPlatform(const llvm::MemoryBuffer &buffer,
                                    MLIRContext *context, raw_ostream &os) {
  OwningOpRef<ModuleOp> module =
      importTpcJson(buffer.getBuffer(), buffer.getBufferIdentifier(), context);
  if (!module)
    return failure();
  module->print(os);
  return success();
}

static LogicalResult
exportPlatform(const std::shared_ptr<llvm::SourceMgr> &sources,
               MLIRContext *context, raw_ostream &os) {
  auto module = parseSourceFile<ModuleOp>(sources, context);
  if (!module)
    return failure();
  // Paths in the file are relative to where it is.
  StringRef file = inputName;
  if (failed(resolveDerivations(*module, llvm::sys::path::parent_path(file))))
    return failure();
  PlatformOp platform = findPlatform(*module, file, module->getLoc());
  return platform ? exportTpcJson(platform, os, schemaVersion) : failure();
}

static LogicalResult fail(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return failure();
}

static LogicalResult translate(raw_ostream &os) {
  auto buffer = mct::support::readInputFile(inputName);
  if (!buffer)
    return fail("cannot read '" + inputName +
                "': " + llvm::toString(buffer.takeError()));
  auto sources = std::make_shared<llvm::SourceMgr>();
  const llvm::MemoryBuffer &text = **buffer;
  sources->AddNewSourceBuffer(std::move(*buffer), SMLoc());
  DialectRegistry registry;
  // A module with an attached target is a source as well.
  registerAllDialects(registry);
  registry.insert<TpcDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<TpcDialect>();
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticHandler handler(*sources, &context);
  return action == Action::Import ? importPlatform(text, &context, os)
                                  : exportPlatform(sources, &context, os);
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialized(argc, argv);
  // A limit of the size of files is an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Target platforms to and from the JSON of MCT\n");
  if (!action.getNumOccurrences())
    return failed(
        fail("say what to do: --import-tpc-json or --export-tpc-json"));
  if (outputName == "-")
    return succeeded(translate(llvm::outs())) ? EXIT_SUCCESS : EXIT_FAILURE;
  mct::execution::OutputFile output(outputName);
  if (failed(translate(output)))
    return EXIT_FAILURE;
  if (llvm::Error error = output.keep())
    return failed(fail(llvm::toString(std::move(error))));
  return EXIT_SUCCESS;
}
