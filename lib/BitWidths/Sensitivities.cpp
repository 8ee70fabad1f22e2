// SPDX-License-Identifier: Apache-2.0
#include "Sensitivities.h"

#include "mlir/IR/Builders.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using tpc::TpcDialect;

std::vector<OperatorPoints>
mct::bit_widths::findChoices(func::FuncOp function) {
  std::vector<OperatorPoints> found = findOperatorPoints(function);
  llvm::erase_if(found, [](const OperatorPoints &of) {
    return of.numAlternatives() == 1;
  });
  return found;
}

StringRef mct::bit_widths::stringifyMetric(SensitivityMetric metric) {
  return metric == SensitivityMetric::KL ? "kl" : "mse";
}

void Sensitivities::writeTo(func::FuncOp function,
                            ArrayRef<OperatorPoints> choices) const {
  Builder builder(function.getContext());
  SmallVector<NamedAttribute> table;
  for (auto [of, ofOperator] : llvm::zip(choices, distances))
    table.push_back(
        builder.getNamedAttr(of.name, builder.getF64ArrayAttr(ofOperator)));
  NamedAttribute members[] = {
      builder.getNamedAttr(TpcDialect::kSensitivityMetric,
                           builder.getStringAttr(stringifyMetric(metric))),
      builder.getNamedAttr(TpcDialect::kSensitivitySamples,
                           builder.getI64IntegerAttr(samples)),
      builder.getNamedAttr(TpcDialect::kSensitivityTable,
                           builder.getDictionaryAttr(table))};
  function->setAttr(TpcDialect::kSensitivitiesAttrName,
                    builder.getDictionaryAttr(members));
}

FailureOr<std::optional<Sensitivities>>
Sensitivities::readFrom(func::FuncOp function,
                        ArrayRef<OperatorPoints> choices) {
  auto attribute = function->getAttrOfType<DictionaryAttr>(
      TpcDialect::kSensitivitiesAttrName);
  if (!attribute)
    return std::optional<Sensitivities>();
  // The dialect has checked its members.
  Sensitivities found;
  if (auto metric = attribute.getAs<StringAttr>(TpcDialect::kSensitivityMetric);
      metric && metric.getValue() == "kl")
    found.metric = SensitivityMetric::KL;
  if (auto samples =
          attribute.getAs<IntegerAttr>(TpcDialect::kSensitivitySamples))
    found.samples = samples.getInt();
  auto table = attribute.getAs<DictionaryAttr>(TpcDialect::kSensitivityTable);
  for (const OperatorPoints &of : choices) {
    auto row = table.getAs<ArrayAttr>(of.name);
    tpc::QuantizeOp point = of.points.front();
    if (!row || int64_t(row.size()) != of.numAlternatives()) {
      InFlightDiagnostic diagnostic =
          function.emitOpError()
          << "has '" << TpcDialect::kSensitivitiesAttrName << "' with "
          << (row ? std::to_string(row.size()) + " numbers" : "no numbers")
          << " of '" << of.name.getValue() << "', which has "
          << of.numAlternatives()
          << " alternatives; remove it, and run mct-measure-sensitivity again";
      diagnostic.attachNote(point.getLoc()) << "a point of it is here";
      return diagnostic;
    }
    std::vector<double> &distances = found.distances.emplace_back();
    for (FloatAttr number : row.getAsRange<FloatAttr>())
      distances.push_back(number.getValueAsDouble());
  }
  return std::optional<Sensitivities>(std::move(found));
}
