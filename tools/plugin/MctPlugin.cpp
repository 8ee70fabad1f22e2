// SPDX-License-Identifier: Apache-2.0
//
// Entry points of the plugin: the dialect and the passes, in a stock mlir-opt.
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Pipelines/Pipelines.h"
#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"
#include "tpc_dialect/IR/TpcDialect.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Mct", "0.1",
          [](mlir::DialectRegistry *registry) {
            registry->insert<mct::tpc::TpcDialect>();
            mct::registerOpModels(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "Mct", "0.1", mct::registerAllMctPasses};
}
