// SPDX-License-Identifier: Apache-2.0
//
// Evaluates networks that others give it by ReferenceEvaluator, for
// tools/dev/conformance. Reads one JSON object a line from standard input,
//
//   {"module": "<MLIR text of one function>", "inputs": [[numbers], ...]}
//
// perhaps with "codes_away" (ReferenceEvaluator::codesAway),
// it prints one a line: "outputs", a list of objects with "shape", "type",
// "values" and, if a correct execution may differ from these, "errors" (-1 if
// they are unknown); or "error". Points with parameters quantize.
//
//   {"random": SEED}
//   {"smaller": "<MLIR text of one function>"}
//
// are answered by "modules": the random float network of a seed, or networks
// that are smaller than the given one by one step of `shrink`.
#include "RandomNetworks.h"
#include "ReferenceEvaluator.h"

#include "mct/Support/ParseJson.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>
#include <iostream>
#include <string>

using namespace mlir;
using namespace mct::testing;
namespace json = llvm::json;

namespace {

json::Value refusal(const Twine &why) {
  return json::Object{{"error", why.str()}};
}

/// Returns the numbers of an argument, or none where there are not as many as
/// its type has.
std::optional<ReferenceTensor> readArgument(Type type, json::Value *given) {
  ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
  json::Array *values = given->getAsArray();
  if (!values || values->size() != tensor.numbers.size())
    return std::nullopt;
  for (auto [number, value] : llvm::zip(tensor.numbers, *values)) {
    std::optional<double> read = value.getAsNumber();
    if (!read)
      return std::nullopt;
    number.value = *read;
  }
  return tensor;
}

json::Value describe(const ReferenceTensor &tensor) {
  std::string type;
  llvm::raw_string_ostream(type) << tensor.element;
  json::Array values, errors;
  bool isExact = true;
  for (const Number &number : tensor.numbers) {
    values.push_back(number.value);
    errors.push_back(std::isfinite(number.error) ? number.error : -1.0);
    isExact &= number.isExact();
  }
  json::Object result{{"shape", json::Array(tensor.shape)},
                      {"type", type},
                      {"values", std::move(values)}};
  if (!isExact)
    result["errors"] = std::move(errors);
  return result;
}

json::Value smaller(ModuleOp module) {
  json::Array texts;
  shrink(module, [&](ModuleOp candidate) {
    texts.push_back(mct::testing::print(candidate));
    return false;
  });
  return json::Object{{"modules", std::move(texts)}};
}

json::Value evaluate(ModuleOp module, json::Array *inputs, double codesAway) {
  auto functions = module.getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return refusal("expected one function");
  func::FuncOp function = *functions.begin();
  if (function.getNumArguments() != inputs->size())
    return refusal("expected values for " + Twine(function.getNumArguments()) +
                   " arguments, found " + Twine(inputs->size()));
  std::vector<ReferenceTensor> arguments;
  for (auto [type, given] : llvm::zip(function.getArgumentTypes(), *inputs)) {
    std::optional<ReferenceTensor> tensor = readArgument(type, &given);
    if (!tensor)
      return refusal("the values of an argument are not those of its type");
    arguments.push_back(std::move(*tensor));
  }
  ReferenceEvaluator evaluator(function, /*simulate=*/true);
  evaluator.codesAway = codesAway;
  if (!evaluator.run(arguments))
    return refusal(evaluator.error);
  json::Array outputs;
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    outputs.push_back(describe(evaluator[result]));
  return json::Object{{"outputs", std::move(outputs)}};
}

json::Value answer(MLIRContext &context, StringRef line) {
  llvm::Expected<json::Value> job = mct::support::parseJson(line);
  if (!job)
    return refusal(llvm::toString(job.takeError()));
  json::Object *fields = job->getAsObject();
  if (std::optional<int64_t> seed =
          fields ? fields->getInteger("random") : std::nullopt)
    return json::Object{
        {"modules", json::Array{mct::testing::print(
                        *makeFloatNetwork(context, unsigned(*seed)))}}};
  std::optional<StringRef> whole, text;
  json::Array *inputs = nullptr;
  if (fields) {
    whole = fields->getString("smaller");
    text = whole ? whole : fields->getString("module");
    inputs = fields->getArray("inputs");
  }
  if (!text || (!whole && !inputs))
    return refusal("expected an object with \"module\" and \"inputs\"");

  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (message.empty())
      message = diagnostic.str();
  });
  OwningOpRef<ModuleOp> module =
      parseSourceString<ModuleOp>(*text, ParserConfig(&context));
  if (!module)
    return refusal(message);
  return whole ? smaller(*module)
               : evaluate(*module, inputs,
                          fields->getNumber("codes_away").value_or(0));
}

} // namespace

int main() {
  DialectRegistry registry;
  registry.insert<func::FuncDialect, tosa::TosaDialect, mct::tpc::TpcDialect>();
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  context.loadAllAvailableDialects();
  context.allowUnregisteredDialects();
  for (std::string line; std::getline(std::cin, line);) {
    llvm::outs() << answer(context, line) << '\n';
    llvm::outs().flush();
  }
  return 0;
}
