// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/NestedPasses.h"

using namespace mlir;

LogicalResult mct::runPasses(ArrayRef<OpPassManager> pipelines,
                             ModuleOp module) {
  for (const OpPassManager &each : pipelines) {
    PassManager passes(module.getContext(), ModuleOp::getOperationName());
    static_cast<OpPassManager &>(passes) = each;
    if (failed(passes.run(module)))
      return failure();
  }
  return success();
}

LogicalResult mct::runQuietly(ArrayRef<OpPassManager> pipelines,
                              ModuleOp module) {
  ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &found) {
    return success(found.getSeverity() != DiagnosticSeverity::Error);
  });
  return runPasses(pipelines, module);
}
