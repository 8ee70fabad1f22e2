// SPDX-License-Identifier: Apache-2.0
//
// A front end that uses the package: it builds a module, runs passes, prints
// it.
#include "mct/Pipelines/Pipelines.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/Transforms/Passes.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

static constexpr llvm::StringLiteral kModule = R"(
func.func @main(%arg0: tensor<1x4xf32>) -> tensor<1x4xf32> {
  %0 = tosa.exp %arg0 : (tensor<1x4xf32>) -> tensor<1x4xf32>
  return %0 : tensor<1x4xf32>
}
)";

int main() {
  MLIRContext context;
  context.loadDialect<func::FuncDialect, tosa::TosaDialect,
                      mct::tpc::TpcDialect>();
  auto module = parseSourceString<ModuleOp>(kModule, &context);
  if (!module)
    return 1;
  PassManager passManager(&context);
  mct::tpc::AttachTargetPassOptions attach;
  attach.target = "imx500";
  passManager.addPass(mct::tpc::createAttachTargetPass(attach));
  mct::buildPreparePipeline(passManager);
  passManager.addPass(mct::createInsertQuantizersPass());
  if (failed(passManager.run(*module)))
    return 1;
  module->print(llvm::outs());
  return 0;
}
