// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/EntryFunction.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

FailureOr<func::FuncOp> mct::findEntryFunction(ModuleOp module,
                                               StringRef name) {
  SmallVector<func::FuncOp> all, open;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    all.push_back(function);
    if (function.isPublic())
      open.push_back(function);
  }
  auto list = [](ArrayRef<func::FuncOp> functions) {
    return llvm::join(
        llvm::map_range(functions,
                        [](func::FuncOp function) {
                          return ("'" + function.getSymName() + "'").str();
                        }),
        ", ");
  };
  if (!name.empty()) {
    for (func::FuncOp function : all)
      if (function.getSymName() == name)
        return function;
    InFlightDiagnostic diagnostic = module.emitOpError("has no function '")
                                    << name << "' with a body";
    if (!all.empty())
      diagnostic << "; it has " << list(all);
    return diagnostic;
  }
  for (func::FuncOp function : open)
    if (function.getSymName() == "main")
      return function;
  if (open.size() == 1)
    return open.front();
  if (open.empty())
    return module.emitOpError("has no public function with a body");
  return module.emitOpError("has several public functions: ")
         << list(open) << "; choose one with the option 'function'";
}
