// SPDX-License-Identifier: Apache-2.0
//
// mlir-lsp-server with the tpc dialect, to check target files in an editor.
#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/LogicalResult.h"
#include <cstdlib>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  registry.insert<mct::tpc::TpcDialect>();
  return failed(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_FAILURE
                                                               : EXIT_SUCCESS;
}
