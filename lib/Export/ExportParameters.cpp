// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/EntryFunction.h"
#include "mct/Analysis/Names.h"
#include "mct/Analysis/QuantizedValues.h"
#include "mct/Export/Parameters.h"
#include "mlir/IR/OwningOpRef.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mct;
using llvm::json::OStream;

static std::string print(Type type) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << type;
  return text;
}

static void write(OStream &json, const QuantizedValue &value) {
  json.attribute("scale", value.scale);
  json.attribute("zero_point", value.zeroPoint);
  json.attribute("bits", value.bits);
  json.attribute("is_signed", value.isSigned);
}

/// Names of importers outlive those of values.
static StringRef nameOf(Value value) {
  StringAttr name = getName(value);
  return name ? name.getValue() : StringRef("value");
}

static void write(OStream &json, tpc::QuantizeOp point) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  json.attribute("name", point.getUniqueName());
  if (point.isWeight()) {
    json.attribute("weight", *point.getWeight());
    json.attributeArray("axes", [&] {
      for (int64_t axis : point.getChannelAxes())
        json.value(axis);
    });
  }
  json.attribute("method", parameters.getQuantizationMethod().getMethodName());
  json.attribute("bits", int64_t(parameters.getBits()));
  json.attribute("is_signed", parameters.getIsSigned());
  std::optional<quantization::Rounding> rounding = parameters.getRoundingMode();
  json.attribute("rounding", !rounding ? llvm::json::Value(nullptr)
                             : *rounding == quantization::Rounding::HalfUp
                                 ? "half_up"
                                 : "half_even");
  auto list = [&](StringRef key, const auto &entries, auto value) {
    json.attributeArray(key, [&] {
      for (const auto &entry : entries)
        json.value(value(entry));
    });
  };
  if (!parameters.getThresholds().empty())
    list("threshold", parameters.getThresholds(), [](double x) { return x; });
  SmallVector<quantization::Grid> grids = parameters.getGrids();
  if (!grids.empty()) {
    using Grid = quantization::Grid;
    list("scale", grids, [](const Grid &grid) { return grid.step; });
    list("zero_point", grids, [](const Grid &grid) { return grid.zeroPoint; });
    list("lowest", grids, [](const Grid &grid) { return grid.qmin; });
    list("highest", grids, [](const Grid &grid) { return grid.qmax; });
    return;
  }
  json.attributeArray("levels", [&] {
    for (size_t i = 0; i < parameters.getNumChannels(); ++i)
      json.array([&] {
        for (float level : parameters.getLevels(i))
          json.value(double(level));
      });
  });
}

LogicalResult mct::exportParameters(ModuleOp module, StringRef name,
                                    raw_ostream &os) {
  // Names are given to a copy, those of integer networks before.
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> found = findEntryFunction(*copy, name);
  if (failed(found))
    return failure();
  func::FuncOp function = *found;
  FailureOr<QuantizedValues> inputs = readQuantizedArguments(function);
  FailureOr<QuantizedValues> outputs = readQuantizedResults(function);
  FailureOr<std::vector<RecordedValue>> recorded = findRecordedValues(function);
  if (failed(inputs) || failed(outputs) || failed(recorded))
    return failure();
  assignNames(function);
  SmallVector<Value> results;
  function.walk([&](func::ReturnOp end) {
    results.assign(end.getOperands().begin(), end.getOperands().end());
  });

  OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    json.attribute("function", function.getName());
    auto boundary = [&](StringRef key, ValueRange values,
                        const QuantizedValues &records) {
      json.attributeArray(key, [&] {
        for (auto [value, record] : llvm::zip_equal(values, records))
          json.object([&, &value = value, &record = record] {
            json.attribute("name",
                           record ? StringRef(record->name) : nameOf(value));
            json.attribute("type", print(value.getType()));
            if (record)
              write(json, *record);
          });
      });
    };
    boundary("inputs", function.getArguments(), *inputs);
    boundary("outputs", results, *outputs);
    json.attributeArray("points", [&] {
      for (const RecordedValue &point : *recorded)
        json.object([&] {
          json.attribute("name", point.record.name);
          write(json, point.record);
        });
      function.walk([&](tpc::QuantizeOp point) {
        if (point.getParametersAttr())
          json.object([&] { write(json, point); });
      });
    });
  });
  os << '\n';
  return success();
}
