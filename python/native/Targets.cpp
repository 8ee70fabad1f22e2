// SPDX-License-Identifier: Apache-2.0
#include "Targets.h"

#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/Json/TpcJson.h"
#include "tpc_dialect/targets/LoadTarget.h"

using namespace mlir;
using namespace mct::python;

std::string mct::python::exportTarget(StringRef target, Job &job) {
  MLIRContext context(getRegistry(), MLIRContext::Threading::DISABLED);
  context.loadDialect<tpc::TpcDialect>();
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      job.fail(diagnostic.str());
  });
  OwningOpRef<ModuleOp> module =
      tpc::loadTarget(target, UnknownLoc::get(&context));
  if (!module)
    return {};
  std::string json;
  llvm::raw_string_ostream stream(json);
  if (failed(tpc::exportTpcJson(*module->getOps<tpc::PlatformOp>().begin(),
                                stream)))
    return {};
  return json;
}
