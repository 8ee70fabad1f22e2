// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Check.h"

#include "mct/IR/EntryFunction.h"

using namespace mlir;
using namespace mct;
using support::ElementType;

std::optional<ElementType> execution::getFileType(Type type) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF16())
    return ElementType::F16;
  if (type.isInteger(1))
    return ElementType::Bool;
  if (type.isInteger(8))
    return type.isUnsignedInteger() ? ElementType::U8 : ElementType::I8;
  if (type.isInteger(16))
    return ElementType::I16;
  if (type.isInteger(32))
    return ElementType::I32;
  if (type.isInteger(64))
    return ElementType::I64;
  return std::nullopt;
}

LogicalResult execution::checkRunnable(ModuleOp module, StringRef function) {
  FailureOr<func::FuncOp> entry = findEntryFunction(module, function);
  if (failed(entry))
    return failure();
  auto check = [](Value value, StringRef kind,
                  unsigned number) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (type && getFileType(type.getElementType()))
      return success();
    InFlightDiagnostic error = emitError(value.getLoc());
    if (Operation *op = value.getDefiningOp())
      error << "'" << op->getName() << "' op makes ";
    return error << kind << " " << number << " of type " << value.getType()
                 << ", which the executor cannot "
                 << (kind == "argument" ? "read" : "write")
                 << "; expected f32, f16, or integers of 1, 8, 16, 32 or 64 "
                    "bits";
  };
  for (BlockArgument argument : entry->getArguments())
    if (failed(check(argument, "argument", argument.getArgNumber())))
      return failure();
  if (!entry->isExternal())
    for (auto [number, value] : llvm::enumerate(
             entry->getBody().back().getTerminator()->getOperands()))
      if (failed(check(value, "result", number)))
        return failure();
  CompileOptions options;
  options.function = entry->getName().str();
  return checkCompiles(module, options);
}
