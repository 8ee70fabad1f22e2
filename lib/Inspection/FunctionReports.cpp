// SPDX-License-Identifier: Apache-2.0
#include "FunctionReports.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mct;
namespace json = llvm::json;

LogicalResult mct::writeFunctionReports(
    ModuleOp module, ExplainFormat format, raw_ostream &stream,
    llvm::function_ref<FailureOr<json::Object>(func::FuncOp)> describe,
    llvm::function_ref<LogicalResult(func::FuncOp, raw_ostream &)> print,
    json::Object document) {
  std::string text;
  llvm::raw_string_ostream textStream(text);
  json::Array functions;
  for (auto function : module.getOps<func::FuncOp>()) {
    if (function.isExternal())
      continue;
    if (format == ExplainFormat::Text) {
      if (failed(print(function, textStream)))
        return failure();
      continue;
    }
    FailureOr<json::Object> object = describe(function);
    if (failed(object))
      return failure();
    functions.push_back(std::move(*object));
  }
  if (format == ExplainFormat::JSON) {
    document["functions"] = std::move(functions);
    textStream << llvm::formatv("{0:2}\n", json::Value(std::move(document)));
  }
  stream << text;
  stream.flush();
  return success();
}
