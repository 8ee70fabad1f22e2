// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Signature.h"

#include "mct/IR/EntryFunction.h"
#include "mct/IR/Names.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mct;

std::string execution::getResultName(func::FuncOp function, unsigned number) {
  auto end =
      dyn_cast<func::ReturnOp>(function->getRegion(0).front().getTerminator());
  Value value = end ? end.getOperand(number) : Value();
  // A point has the name of the value that it quantizes.
  while (auto point =
             value ? value.getDefiningOp<tpc::QuantizeOp>() : tpc::QuantizeOp())
    value = point.getInput();
  StringAttr name = value ? mct::getName(value) : StringAttr();
  return name ? name.str() : std::to_string(number);
}

void execution::forEachPart(
    const Preprocessing &record,
    llvm::function_ref<void(StringRef, ArrayRef<double>)> numbers,
    llvm::function_ref<void(StringRef, ArrayRef<int64_t>)> integers) {
  if (!record.scale.empty())
    numbers("scale", record.scale);
  if (!record.offset.empty())
    numbers("offset", record.offset);
  if (record.axis)
    integers("axis", *record.axis);
  if (!record.permutation.empty())
    integers("permutation", record.permutation);
}

void execution::print(llvm::json::OStream &stream,
                      const Preprocessing &record) {
  auto list = [&](StringRef key, auto values) {
    stream.attributeArray(key, [&] {
      for (auto value : values)
        stream.value(value);
    });
  };
  stream.object([&] {
    forEachPart(
        record,
        [&](StringRef key, ArrayRef<double> values) { list(key, values); },
        [&](StringRef key, ArrayRef<int64_t> values) { list(key, values); });
  });
}

static void printSignature(llvm::json::OStream &stream, StringRef key,
                           ArrayRef<execution::Signature::Entry> entries) {
  stream.attributeArray(key, [&] {
    for (const execution::Signature::Entry &entry : entries)
      stream.object([&] {
        stream.attribute("name", entry.name);
        stream.attribute("type", llvm::formatv("{0}", entry.type).str());
        if (entry.preprocessing) {
          stream.attributeBegin("preprocessing");
          execution::print(stream, *entry.preprocessing);
          stream.attributeEnd();
        }
        if (!entry.stored)
          return;
        stream.attribute("scale", entry.stored->scale);
        stream.attribute("zero_point", entry.stored->zeroPoint);
        stream.attribute("bits", entry.stored->bits);
        stream.attribute("is_signed", entry.stored->isSigned);
      });
  });
}

void execution::printMembers(llvm::json::OStream &stream,
                             const Signature &signature) {
  stream.attribute("function", signature.function);
  printSignature(stream, "inputs", signature.inputs);
  printSignature(stream, "outputs", signature.outputs);
}

void execution::print(llvm::json::OStream &stream, const Signature &signature) {
  stream.object([&] { printMembers(stream, signature); });
}

FailureOr<execution::Signature> execution::readSignature(ModuleOp module,
                                                         StringRef name) {
  FailureOr<func::FuncOp> function = findEntryFunction(module, name);
  if (failed(function))
    return failure();
  FailureOr<QuantizedValues> arguments = readQuantizedArguments(*function);
  if (failed(arguments))
    return failure();
  FailureOr<QuantizedValues> results = readQuantizedResults(*function);
  if (failed(results))
    return failure();
  FailureOr<Preprocessings> preprocessing = readPreprocessing(*function);
  if (failed(preprocessing))
    return failure();
  for (auto other : module.getOps<func::FuncOp>())
    assignNames(other);
  Signature found;
  found.function = function->getSymName().str();
  for (auto [argument, stored, record] :
       llvm::zip_equal(function->getArguments(), *arguments, *preprocessing))
    found.inputs.push_back(
        {mct::getName(argument).str(), argument.getType(), stored, record});
  for (auto [number, stored] : llvm::enumerate(*results))
    found.outputs.push_back(
        {stored ? stored->name : getResultName(*function, unsigned(number)),
         function->getResultTypes()[number], stored});
  return found;
}
