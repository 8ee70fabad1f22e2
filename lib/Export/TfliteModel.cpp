// SPDX-License-Identifier: Apache-2.0
#include "TfliteModel.h"
#include "llvm/Support/Base64.h"
#include "llvm/Support/JSON.h"

using llvm::StringLiteral;
using llvm::StringRef;

namespace mct::tflite {

static StringRef nameOf(ElementType type) {
  static constexpr StringLiteral kNames[] = {
      "FLOAT32", "INT4", "INT8", "INT16", "INT32", "INT64", "BOOL"};
  return kNames[size_t(type)];
}

template <typename Range>
static void printList(llvm::json::OStream &json, StringRef name,
                      const Range &range) {
  json.attributeArray(name, [&] {
    for (const auto &element : range)
      json.value(element);
  });
}

static void print(const Tensor &tensor, llvm::json::OStream &json) {
  json.attribute("name", tensor.name);
  json.attribute("type", nameOf(tensor.type));
  json.attributeArray("shape", [&] {
    for (int64_t size : tensor.shape)
      json.value(mlir::ShapedType::isDynamic(size) ? -1 : size);
  });
  if (!tensor.scales.empty()) {
    printList(json, "scales", tensor.scales);
    printList(json, "zero_points", tensor.zeroPoints);
    if (tensor.scales.size() > 1)
      json.attribute("axis", tensor.axis);
  }
  if (tensor.isConstant)
    json.attribute("data", llvm::encodeBase64(tensor.data));
}

static void print(const Operator &op, llvm::json::OStream &json) {
  json.attribute("operator", op.code);
  json.attribute("version", op.version);
  printList(json, "inputs", op.inputs);
  printList(json, "outputs", op.outputs);
  if (op.optionsType.empty())
    return;
  json.attribute("options_type", op.optionsType);
  json.attributeObject("options", [&] {
    for (const Option &option : op.options)
      std::visit([&](const auto &value) { json.attribute(option.name, value); },
                 option.value);
  });
}

void print(const Model &model, llvm::raw_ostream &os) {
  llvm::json::OStream json(os, /*IndentSize=*/1);
  auto printAll = [&](StringRef name, const auto &elements) {
    json.attributeArray(name, [&] {
      for (const auto &element : elements)
        json.object([&] { print(element, json); });
    });
  };
  auto printNames = [&](StringRef name, const std::vector<int64_t> &numbers) {
    json.attributeArray(name, [&] {
      for (int64_t number : numbers)
        json.value(model.tensors[number].name);
    });
  };
  json.object([&] {
    json.attribute("function", model.function);
    printAll("tensors", model.tensors);
    printAll("operators", model.operators);
    printList(json, "inputs", model.inputs);
    printList(json, "outputs", model.outputs);
    json.attributeObject("signature", [&] {
      printNames("inputs", model.inputs);
      printNames("outputs", model.outputs);
    });
    json.attributeArray("normalization", [&] {
      for (const Normalization &entry : model.normalizations)
        json.object([&] {
          json.attribute("input", entry.input);
          printList(json, "mean", entry.mean);
          printList(json, "std", entry.deviation);
        });
    });
    json.attributeArray("float_parts", [&] {
      for (const FloatPart &part : model.floatParts)
        json.object([&] {
          json.attribute("name", part.name);
          json.attribute("reason", part.reason);
        });
    });
  });
  os << '\n';
}

} // namespace mct::tflite
