// SPDX-License-Identifier: Apache-2.0
//
// Target platforms to and from the JSON of MCT, and quantized networks to ONNX,
// their parameters, and what a `.tflite` file of them has, to JSON.
#include "../common/StartTool.h"
#include "mct/Export/Onnx.h"
#include "mct/Export/Parameters.h"
#include "mct/Export/Tflite.h"
#include "mct/IR/Shapes.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Support/InputFile.h"
#include "mct/Support/OutputFile.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace mct::tpc;

namespace cl = llvm::cl;

namespace {
enum class Action {
  Import,
  Export,
  ExportOnnx,
  ExportParameters,
  ExportTflite
};
} // namespace

static cl::OptionCategory category("mct-translate options");
static cl::opt<Action> action(
    cl::desc("Action:"), cl::cat(category),
    cl::values(clEnumValN(Action::Import, "import-tpc-json",
                          "A target platform from the JSON of MCT"),
               clEnumValN(Action::Export, "export-tpc-json",
                          "A target platform to the JSON of MCT"),
               clEnumValN(Action::ExportOnnx, "export-onnx",
                          "A quantized network to ONNX"),
               clEnumValN(Action::ExportParameters, "export-parameters",
                          "Parameters of a quantized network, as JSON"),
               clEnumValN(Action::ExportTflite, "export-tflite-json",
                          "Tensors and operators of the .tflite file of a "
                          "quantized network, as JSON; the package mct writes "
                          "the file")));
static cl::opt<std::string> inputName(cl::Positional, cl::init("-"),
                                      cl::desc("<input file>"),
                                      cl::cat(category));
static cl::opt<std::string>
    outputName("o", cl::init("-"), cl::desc("Output file"), cl::cat(category));
static cl::opt<int64_t>
    schemaVersion("tpc-json-schema",
                  cl::desc("Schema version that is written: 1 or 2"),
                  cl::init(kCurrentTpcSchema), cl::cat(category));

static cl::opt<std::string> onnxProfile(
    "onnx-profile", cl::value_desc("profile"),
    cl::desc("Use of an ONNX file: qdq (points as QuantizeLinear and "
             "DequantizeLinear, for any user of ONNX), mct_quantizers (as ops "
             "of that package, which programs have to register: "
             "mct_quantizers.get_ort_session_options()), or a device, by name "
             "or as a file with a tpc.device: ops of mct_quantizers, and what "
             "the device cannot run is an error. Default: the device of the "
             "module's platform"),
    cl::cat(category));
static cl::opt<mct::OnnxFormat>
    onnxFormat("onnx-format", cl::desc("How it is written, default: binary"),
               cl::init(mct::OnnxFormat::Binary), mct::onnxFormatValues(),
               cl::cat(category));
static cl::opt<int64_t> onnxOpset(
    "onnx-opset",
    cl::desc("Operator set of a file of profile qdq: 13, 21 or 25, default: "
             "21. Kernels of 4 bits are int4 from 21 on, those of 2 bits int2 "
             "from 25 on"),
    cl::cat(category));
static cl::opt<mct::OnnxActivations> onnxActivations(
    "onnx-activations",
    cl::desc("Integers of activations in a file of profile qdq, default: "
             "unsigned"),
    cl::init(mct::OnnxActivations::Unsigned), mct::onnxActivationsValues(),
    cl::cat(category));
static cl::opt<uint64_t> onnxExternalDataAbove(
    "onnx-external-data-above",
    cl::desc("Size in bytes above which the constants of an ONNX file go to "
             "another one beside it, NAME.data; default: 2^31 - 1, which is "
             "what protobuf allows"),
    cl::init(mct::OnnxOptions().largestFile), cl::cat(category));
static cl::opt<std::string> onnxProducer(
    "onnx-producer",
    cl::desc(
        "NAME[:VERSION] of the producer in an ONNX file, default: mct. The "
        "IMX500's converter takes files of pytorch:2.0.0 and later only; "
        "metadata_props name mct in any case"),
    cl::cat(category));
static cl::opt<std::string> onnxNms(
    "onnx-nms", cl::value_desc("score:overlap:detections[:domain]"),
    cl::desc("End an ONNX file with MultiClassNMS of Sony's custom layers, of "
             "boxes with a larger score that overlap a better one by no more, "
             "0.25:0.7:300 for example; domain: EdgeMDT, or Sony in older "
             "releases. Results are boxes by their corners, and scores"),
    cl::cat(category));
static cl::opt<mct::IntegerBoundary> tfliteBoundary(
    "tflite-io",
    cl::desc("Inputs and outputs that have points, in a .tflite file, default: "
             "integer"),
    cl::init(mct::IntegerBoundary::Integer), mct::integerBoundaryValues(),
    cl::cat(category));
static cl::opt<bool>
    tfliteInt4("tflite-int4",
               cl::desc("Store kernels of at most 4 bits in INT4, in a .tflite "
                        "file"),
               cl::cat(category));
static cl::opt<std::string>
    function("function",
             cl::desc("Function to export, default: main, or the only public "
                      "one"),
             cl::cat(category));

static cl::list<std::string> dialectPlugins(
    "load-dialect-plugin",
    cl::desc("Load the dialects of a plugin, for quantizers that are not ours"),
    cl::cat(category));

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
  // Paths in the file are relative to its folder.
  StringRef file = inputName;
  if (failed(resolveDerivations(*module, llvm::sys::path::parent_path(file))))
    return failure();
  PlatformOp platform = findPlatform(*module, file, module->getLoc());
  return platform ? exportTpcJson(platform, os, schemaVersion) : failure();
}

/// Returns the file for constants that do not fit into an ONNX file.
static std::string dataPath() { return outputName + ".data"; }

static LogicalResult
exportNetwork(const std::shared_ptr<llvm::SourceMgr> &sources,
              MLIRContext *context, raw_ostream &os,
              mct::support::OutputFile *data) {
  auto module = parseSourceFile<ModuleOp>(sources, context);
  if (!module || failed(mct::verifyShapes(*module)))
    return failure();
  if (action == Action::ExportParameters)
    return mct::exportParameters(*module, function, os);
  if (action == Action::ExportTflite) {
    mct::TfliteOptions options;
    options.function = function;
    options.boundary = tfliteBoundary;
    options.allowsInt4 = tfliteInt4;
    return mct::exportTflite(*module, options, os);
  }
  mct::OnnxOptions options;
  options.function = function;
  bool isOldName = onnxProfile == "none";
  options.setProfile(isOldName ? "mct_quantizers" : StringRef(onnxProfile));
  options.format = onnxFormat;
  options.operatorSet = onnxOpset;
  options.activations = onnxActivations;
  options.largestFile = onnxExternalDataAbove;
  if (isOldName)
    llvm::errs() << "warning: --onnx-profile=none is mct_quantizers now; 0.3 "
                    "no longer reads the old name\n";
  if (data) {
    options.dataName = llvm::sys::path::filename(dataPath());
    options.openData = [data]() -> raw_ostream & { return *data; };
  }
  std::tie(options.producer, options.producerVersion) =
      StringRef(onnxProducer).split(':');
  if (!onnxNms.empty())
    if (llvm::Error error = options.setSuppression(onnxNms))
      return emitError(module->getLoc()) << llvm::toString(std::move(error));
  return mct::exportOnnx(*module, options, os);
}

static LogicalResult fail(const Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return failure();
}

static LogicalResult translate(raw_ostream &os,
                               mct::support::OutputFile *data) {
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
  mct::registerOpModels(registry);
  for (const std::string &path : dialectPlugins) {
    llvm::Expected<DialectPlugin> plugin = DialectPlugin::load(path);
    if (!plugin)
      return fail(llvm::toString(plugin.takeError()));
    plugin->registerDialectRegistryCallbacks(registry);
  }
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadDialect<TpcDialect>();
  context.printOpOnDiagnostic(false);
  SourceMgrDiagnosticHandler handler(*sources, &context);
  switch (action) {
  case Action::Import:
    return importPlatform(text, &context, os);
  case Action::Export:
    return exportPlatform(sources, &context, os);
  case Action::ExportOnnx:
  case Action::ExportParameters:
  case Action::ExportTflite:
    return exportNetwork(sources, &context, os, data);
  }
  llvm_unreachable("unknown action");
}

int main(int argc, char **argv) {
  mct::tools::StartTool started(argc, argv);
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv,
                              "Target platforms to and from the JSON of MCT, "
                              "quantized networks to ONNX and JSON\n");
  if (!action.getNumOccurrences())
    return failed(
        fail("expected an action: --import-tpc-json, --export-tpc-json, "
             "--export-onnx, --export-parameters or --export-tflite-json"));
  if (outputName == "-")
    return succeeded(translate(llvm::outs(), nullptr)) ? EXIT_SUCCESS
                                                       : EXIT_FAILURE;
  mct::support::OutputFile output(outputName), data(dataPath());
  if (failed(translate(output, &data)))
    return EXIT_FAILURE;
  // Keep the data first, so that no network exists without its constants.
  if (data.tell() > 0)
    if (llvm::Error error = data.keep())
      return failed(fail(llvm::toString(std::move(error))));
  if (llvm::Error error = output.keep())
    return failed(fail(llvm::toString(std::move(error))));
  return EXIT_SUCCESS;
}
