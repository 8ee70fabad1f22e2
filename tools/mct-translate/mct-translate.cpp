// SPDX-License-Identifier: Apache-2.0
//
// Target platforms to and from the JSON of MCT.
#include "mlir/IR/OwningOpRef.h"
#include "mlir/InitAllDialects.h"
#include "mlir/Tools/mlir-translate/MlirTranslateMain.h"
#include "mlir/Tools/mlir-translate/Translation.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/LoadTarget.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace mct::tpc;

static llvm::cl::opt<int64_t>
    schemaVersion("tpc-json-schema",
                  llvm::cl::desc("Schema version that is written: 1 or 2"),
                  llvm::cl::init(kCurrentTpcSchema));

static OwningOpRef<Operation *> importPlatform(llvm::SourceMgr &sources,
                                               MLIRContext *context) {
  const llvm::MemoryBuffer *buffer =
      sources.getMemoryBuffer(sources.getMainFileID());
  OwningOpRef<ModuleOp> module = importTpcJson(
      buffer->getBuffer(), buffer->getBufferIdentifier(), context);
  return module ? OwningOpRef<Operation *>(module.release())
                : OwningOpRef<Operation *>();
}

static LogicalResult exportPlatform(ModuleOp module, raw_ostream &os) {
  // Paths in the file are relative to where it is.
  StringRef file;
  if (auto loc = dyn_cast<FileLineColLoc>(module.getLoc()))
    file = loc.getFilename().getValue();
  if (failed(resolveDerivations(module, llvm::sys::path::parent_path(file))))
    return failure();
  PlatformOp platform = findPlatform(module, file, module.getLoc());
  return platform ? exportTpcJson(platform, os, schemaVersion) : failure();
}

int main(int argc, char **argv) {
  TranslateToMLIRRegistration importRegistration(
      "import-tpc-json", "A target platform from the JSON of MCT",
      importPlatform);
  TranslateFromMLIRRegistration exportRegistration(
      "export-tpc-json", "A target platform to the JSON of MCT", exportPlatform,
      [](DialectRegistry &registry) {
        // A module with an attached target is a source as well.
        registerAllDialects(registry);
        registry.insert<TpcDialect>();
      });
  return failed(mlirTranslateMain(
      argc, argv, "Target platforms to and from the JSON of MCT\n"));
}
