// SPDX-License-Identifier: Apache-2.0
//
// mlir-opt with the tpc dialect and the mct passes.
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Analysis/Passes.h"
#include "mct/Analysis/Records.h"
#include "mct/Execution/OutputFile.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/Threads.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>

using namespace mlir;

static llvm::cl::opt<bool> listTargets(
    "tpc-list-targets",
    llvm::cl::desc("Print the names of the stock targets, aliases with "
                   "what they stand for"));

static llvm::cl::opt<bool> listSubgraphs(
    "tpc-list-subgraphs",
    llvm::cl::desc("Print the operators that are matched as several ops"));

static llvm::cl::opt<std::string> recordsName(
    "mct-records",
    llvm::cl::desc("Write what passes did and left alone, and why, as JSON: "
                   "what their option 'remarks' prints"),
    llvm::cl::value_desc("file"));

namespace {
/// Collects while a pass manager lives, which is not longer than its context.
class RecordInstrumentation : public PassInstrumentation {
public:
  RecordInstrumentation(MLIRContext *context,
                        std::vector<mct::CollectedRecord> &records)
      : collector(context), records(records) {}
  ~RecordInstrumentation() override {
    llvm::append_range(records, collector.takeRecords());
  }

private:
  mct::RecordCollector collector;
  std::vector<mct::CollectedRecord> &records;
};
} // namespace

static int fail(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return EXIT_FAILURE;
}

/// Whether MLIR's reader refuses bytecode and does not say so.
static bool isSilentlyUnreadable(const llvm::MemoryBuffer &input,
                                 const DialectRegistry &registry) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.allowUnregisteredDialects();
  bool isSilent = true;
  ScopedDiagnosticHandler handler(&context,
                                  [&](Diagnostic &) { isSilent = false; });
  Block block;
  return failed(readBytecodeFile(input.getMemBufferRef(), &block,
                                 ParserConfig(&context))) &&
         isSilent;
}

/// Gives a flag of MLIR a value, as if the user had.
static void setFlag(StringRef name, StringRef value) {
  if (llvm::cl::Option *option =
          llvm::cl::getRegisteredOptions().lookup(name)) {
    option->setNumOccurrencesFlag(llvm::cl::ZeroOrMore);
    option->addOccurrence(0, name, value);
  }
}

int main(int argc, char **argv) {
  llvm::InitLLVM initialized(argc, argv);
  // A limit of the size of files is an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
  DialectRegistry registry;
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<mct::tpc::TpcDialect>();
  mct::registerOpModels(registry);
  registerAllPasses();
  mct::registerAllMctPasses();

  registerCLIOptions("mct-opt", registry);
  // A diagnostic says what is wrong; the op it is about may be a whole target,
  // or hold a megabyte of weights. The flag brings it back.
  setFlag("mlir-print-op-on-diagnostic", "false");
  const std::pair<std::string, std::string> files = parseCLIOptions(
      argc, argv, "Quantization compiler for TOSA and linalg\n");
  const std::string &inputName = files.first, &outputName = files.second;
  if (listTargets) {
    for (const mct::tpc::StockTarget &target : mct::tpc::listTargets())
      llvm::outs() << target.name
                   << (target.isAlias() ? " -> " + target.resolved : "")
                   << '\n';
    return EXIT_SUCCESS;
  }
  if (listSubgraphs) {
    mct::tpc::printSubgraphs(llvm::outs());
    return EXIT_SUCCESS;
  }

  // The context's own threads must not be refused.
  if (!mct::support::canRunThreads(mct::support::Threads().count()))
    setFlag("mlir-disable-threading", "true");
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (StringRef(outputName).ends_with(".mlirbc"))
    config.emitBytecode(true);
  auto input = mct::support::readInputFile(inputName);
  if (!input)
    return fail("cannot read '" + inputName +
                "': " + llvm::toString(input.takeError()));
  bool isRead = false;
  std::vector<mct::CollectedRecord> records;
  bool isBinary = isBytecode((*input)->getMemBufferRef());
  // What is dumped may go to another tool, which has no such pass.
  bool verifies = isBinary || !config.shouldDumpPassPipeline();
  config.setPassPipelineSetupFn(
      [asked = config, &isRead, &records, verifies](PassManager &passes) {
        isRead = true;
        if (!recordsName.empty())
          passes.addInstrumentation(std::make_unique<RecordInstrumentation>(
              passes.getContext(), records));
        if (verifies)
          passes.addPass(mct::createVerifyShapesPass());
        return asked.setupPassPipeline(passes);
      });
  mct::support::setProcessFiles(inputName, outputName);
  auto process = [&](llvm::raw_ostream &stream) {
    // The buffer stays ours, to be looked at again.
    if (succeeded(MlirOptMain(stream,
                              llvm::MemoryBuffer::getMemBuffer(
                                  (*input)->getMemBufferRef(),
                                  /*RequiresNullTerminator=*/!isBinary),
                              registry, config)))
      return true;
    if (isBinary && !isRead && isSilentlyUnreadable(**input, registry))
      (void)fail("'" + inputName + "' is damaged bytecode");
    return false;
  };
  mct::execution::OutputFile recordsFile(recordsName);
  if (!recordsName.empty()) {
    if (llvm::Error error =
            mct::support::checkOutputFiles(recordsName.getValue(), {}))
      return fail("mct-records: " + llvm::toString(std::move(error)));
    if (llvm::Error error = recordsFile.open())
      return fail("mct-records: " + llvm::toString(std::move(error)));
  }
  std::optional<mct::execution::OutputFile> output;
  if (outputName != "-")
    output.emplace(outputName);
  if (!process(output ? static_cast<llvm::raw_ostream &>(*output)
                      : llvm::outs()))
    return EXIT_FAILURE;
  if (!recordsName.empty()) {
    mct::printRecords(records, recordsFile);
    if (llvm::Error error = recordsFile.keep())
      return fail("mct-records: " + llvm::toString(std::move(error)));
  }
  if (output)
    if (llvm::Error error = output->keep())
      return fail(llvm::toString(std::move(error)));
  return EXIT_SUCCESS;
}
