// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/Signature.h"
#include "mct/Export/Parameters.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/QuantizedValues.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace mct;
using llvm::json::OStream;

static void write(OStream &json, const QuantizedValue &value) {
  json.attribute("scale", value.scale);
  json.attribute("zero_point", value.zeroPoint);
  json.attribute("bits", value.bits);
  json.attribute("is_signed", value.isSigned);
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
  FailureOr<func::FuncOp> found = findEntryFunction(module, name);
  if (failed(found))
    return failure();
  func::FuncOp function = *found;
  if (failed(requireFrozenPoints(function)))
    return failure();
  // Do this first, since the signature names ops.
  FailureOr<std::vector<RecordedValue>> recorded = findRecordedValues(function);
  if (failed(recorded))
    return failure();
  FailureOr<execution::Signature> signature =
      execution::readSignature(module, name);
  if (failed(signature))
    return failure();

  OStream json(os, /*IndentSize=*/1);
  json.object([&] {
    execution::printMembers(json, *signature);
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
