// SPDX-License-Identifier: Apache-2.0
//
// mlir-opt with the tpc dialect and the mct passes.
#include "../common/BusErrors.h"
#include "../common/EndWithShards.h"
#include "../common/StartTool.h"
#include "mct/Execution/RunCache.h"
#include "mct/Execution/Shards.h"
#include "mct/Inspection/Passes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Pipelines/Pipelines.h"
#include "mct/Report/Trace.h"
#include "mct/Support/ContextFiles.h"
#include "mct/Support/OutputFile.h"
#include "mct/Support/Threads.h"
#include "mlir/Bytecode/BytecodeReader.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Pass/PassInstrumentation.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Lookup/Subgraphs.h"
#include "tpc_dialect/targets/Targets.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include <malloc.h>

using namespace mlir;

static llvm::cl::opt<bool>
    listTargets("tpc-list-targets",
                llvm::cl::desc("Print the names of the stock targets, and "
                               "aliases with their targets"));

static llvm::cl::opt<bool> listSubgraphs(
    "tpc-list-subgraphs",
    llvm::cl::desc("Print the operators that are matched as several ops"));

static llvm::cl::opt<std::string> recordsName(
    "mct-records",
    llvm::cl::desc("Write the decisions of the passes and their reasons as "
                   "JSON: the remarks that their option 'remarks' prints"),
    llvm::cl::value_desc("file"));

static llvm::cl::opt<std::string> traceName(
    "mct-trace",
    llvm::cl::desc("Write how the module was made, for a report, as JSON: "
                   "seconds of passes, their decisions, options, versions, "
                   "digest of the samples, choices of bit widths"),
    llvm::cl::value_desc("file"));

static int fail(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return EXIT_FAILURE;
}

namespace {
/// Releases memory of the input file that parsing, or a pass, no longer needs.
class ReleaseInput : public PassInstrumentation {
public:
  explicit ReleaseInput(mct::support::MappedFiles &files) : files(files) {}
  void runBeforePass(Pass *, Operation *) override { files.release(); }
  void runAfterPass(Pass *, Operation *) override { files.release(); }

private:
  mct::support::MappedFiles &files;
};
} // namespace

/// Returns whether MLIR's reader refuses bytecode without a diagnostic.
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

/// Sets a flag of MLIR as if the user had given it.
static void setFlag(StringRef name, StringRef value) {
  if (llvm::cl::Option *option =
          llvm::cl::getRegisteredOptions().lookup(name)) {
    option->setNumOccurrencesFlag(llvm::cl::ZeroOrMore);
    option->addOccurrence(0, name, value);
  }
}

/// Records the command without the options for traces and records. A run that
/// read standard input cannot be repeated.
static void setCommand(mct::report::Trace &trace, ArrayRef<char *> words,
                       StringRef inputName) {
  trace.input = inputName.str();
  trace.command.push_back(llvm::sys::path::filename(words.front()).str());
  for (size_t index = 1; index != words.size(); ++index) {
    StringRef word = words[index];
    StringRef option = word.ltrim('-');
    bool isOwn = false;
    for (StringRef name : {traceName.ArgStr, recordsName.ArgStr}) {
      StringRef value = option;
      if (word == option || !value.consume_front(name) ||
          (!value.empty() && value.front() != '='))
        continue;
      isOwn = true;
      // The value is the next word.
      index += value.empty();
    }
    if (!isOwn)
      trace.command.push_back(word.str());
  }
  if (inputName != "-")
    return;
  llvm::erase(trace.command, "-");
  trace.input = "MODEL.mlirbc";
  trace.command.insert(trace.command.begin() + 1, trace.input);
  trace.placeholders.push_back(trace.input);
}

/// Opens one of the additional output files.
static llvm::Error openBeside(const llvm::cl::opt<std::string> &name,
                              mct::support::OutputFile &file,
                              ArrayRef<std::string> others,
                              const mct::support::ToolFiles &tool) {
  if (name.empty())
    return llvm::Error::success();
  llvm::Error error =
      mct::support::checkOutputFiles(name.getValue(), others, tool);
  if (!error)
    error = file.open();
  if (!error)
    return llvm::Error::success();
  return llvm::createStringError(name.ArgStr + ": " +
                                 llvm::toString(std::move(error)));
}

/// Registers the dialects and passes of MLIR and of this project.
static void registerAll(DialectRegistry &registry) {
  registerAllDialects(registry);
  registerAllExtensions(registry);
  registry.insert<mct::tpc::TpcDialect>();
  mct::registerOpModels(registry);
  registerAllPasses();
  mct::registerAllMctPasses();
}

/// Prints the requested lists; returns whether there were any.
static bool printLists() {
  if (listTargets)
    mct::tpc::printTargets(llvm::outs());
  else if (listSubgraphs)
    mct::tpc::printSubgraphs(llvm::outs());
  return listTargets || listSubgraphs;
}

/// Completes the additional output files that were requested.
static llvm::Error keepFilesBeside(ArrayRef<mct::CollectedRecord> records,
                                   mct::support::OutputFile &recordsFile,
                                   const mct::report::Trace &trace,
                                   mct::support::OutputFile &traceFile) {
  auto named = [](StringRef option, llvm::Error error) {
    return error ? llvm::createStringError(option + ": " +
                                           llvm::toString(std::move(error)))
                 : llvm::Error::success();
  };
  if (!recordsName.empty()) {
    mct::printRecords(records, recordsFile);
    if (llvm::Error error = named(recordsName.ArgStr, recordsFile.keep()))
      return error;
  }
  if (traceName.empty())
    return llvm::Error::success();
  {
    llvm::json::OStream stream(traceFile, /*IndentSize=*/1);
    mct::report::print(stream, trace);
  }
  traceFile << '\n';
  return named(traceName.ArgStr, traceFile.keep());
}

/// Returns freed blocks of 4 MB and more to the system: glibc would start to
/// keep those of up to 32 MB, with gaps between the used ones.
static void returnLargeBlocks() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, 4 << 20);
  mallopt(M_TRIM_THRESHOLD, 16 << 20);
#endif
}

int main(int argc, char **argv) {
  returnLargeBlocks();
  mct::tools::StartTool started(argc, argv);
  DialectRegistry registry;
  registerAll(registry);
  registerCLIOptions("mct-opt", registry);
  // Diagnostics describe the error, while the op may be a whole target or hold
  // a megabyte of weights. The user's flag restores the output.
  setFlag("mlir-print-op-on-diagnostic", "false");
  const std::pair<std::string, std::string> files = parseCLIOptions(
      argc, argv, "Quantization compiler for TOSA and linalg\n");
  const std::string &inputName = files.first, &outputName = files.second;
  if (printLists())
    return EXIT_SUCCESS;

  // Creating the context's own threads must not fail.
  if (!mct::support::canRunThreads(mct::support::Threads().count()))
    setFlag("mlir-disable-threading", "true");
  MlirOptMainConfig config = MlirOptMainConfig::createFromCLOptions();
  if (StringRef(outputName).ends_with(".mlirbc"))
    config.emitBytecode(true);
  mct::support::MappedFiles mappedFiles;
  mct::tools::BusErrors busErrors(mappedFiles);
  auto input = mappedFiles.readModule(inputName);
  if (!input)
    return fail("cannot read '" + inputName +
                "': " + llvm::toString(input.takeError()));
  bool isRead = false;
  std::vector<mct::CollectedRecord> records;
  mct::report::Trace trace;
  setCommand(trace, ArrayRef<char *>(argv, argc), inputName);
  bool isBinary = isBytecode((*input)->getMemBufferRef());
  // The dump may be used with another tool, which does not have this pass.
  bool verifies = isBinary || !config.shouldDumpPassPipeline();
  config.setPassPipelineSetupFn([&, requested = config](PassManager &passes) {
    isRead = true;
    if (verifies)
      passes.addPass(mct::createVerifyShapesPass());
    if (failed(requested.setupPassPipeline(passes)))
      return failure();
    mct::execution::RunCache::shareAmong(passes);
    passes.addInstrumentation(std::make_unique<ReleaseInput>(mappedFiles));
    if (!recordsName.empty() || !traceName.empty())
      mct::report::addTracing(passes, traceName.empty() ? nullptr : &trace,
                              &records);
    return success();
  });
  const mct::support::ToolFiles toolFiles{inputName, outputName};
  mct::support::ContextExtension<const mct::support::ToolFiles>::addTo(
      registry, toolFiles);
  mct::support::ContextExtension<mct::support::MappedFiles>::addTo(registry,
                                                                   mappedFiles);
  mct::execution::ShardState shards;
  mct::support::ContextExtension<mct::execution::ShardState>::addTo(registry,
                                                                    shards);
  auto process = [&](llvm::raw_ostream &stream) {
    // Keep the buffer to inspect it again.
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
  mct::support::OutputFile recordsFile(recordsName), traceFile(traceName);
  if (llvm::Error error = openBeside(recordsName, recordsFile, {}, toolFiles))
    return fail(llvm::toString(std::move(error)));
  if (llvm::Error error =
          openBeside(traceName, traceFile, {recordsName}, toolFiles))
    return fail(llvm::toString(std::move(error)));
  std::optional<mct::support::OutputFile> output;
  if (outputName != "-")
    output.emplace(outputName);
  bool isDone = process(output ? static_cast<llvm::raw_ostream &>(*output)
                               : llvm::outs());
  if (llvm::Error error = mappedFiles.check()) {
    // The system may have refused to write data that the file no longer has.
    llvm::outs().clear_error();
    return fail(llvm::toString(std::move(error)));
  }
  if (!isDone)
    return mct::tools::endWithShards(shards);
  if (llvm::Error error =
          keepFilesBeside(records, recordsFile, trace, traceFile))
    return fail(llvm::toString(std::move(error)));
  if (output)
    if (llvm::Error error = output->keep())
      return fail(llvm::toString(std::move(error)));
  return EXIT_SUCCESS;
}
