// SPDX-License-Identifier: Apache-2.0
#include "Sensitivities.h"

#include "mlir/IR/Builders.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcSensitivities.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/StringExtras.h"
#include <algorithm>

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
  switch (metric) {
  case SensitivityMetric::KL:
    return "kl";
  case SensitivityMetric::Logits:
    return "logits";
  case SensitivityMetric::Auto:
  case SensitivityMetric::MSE:
    return "mse";
  }
  llvm_unreachable("all metrics are covered");
}

SensitivityMetric mct::bit_widths::readMetric(StringRef word) {
  for (SensitivityMetric metric :
       {SensitivityMetric::KL, SensitivityMetric::Logits})
    if (word == stringifyMetric(metric))
      return metric;
  return SensitivityMetric::MSE;
}

static StringRef getKeyword(SensitivityDistance distance) {
  return tpc::kSensitivityDistances[size_t(distance)];
}

static StringRef getKeyword(SensitivityWeighting weighting) {
  return tpc::kSensitivityWeightings[size_t(weighting)];
}

std::string ComparedPoints::describe() const {
  std::string text = "compare-points=";
  llvm::raw_string_ostream stream(text);
  stream << llvm::format("%g", fraction);
  if (fraction != 0)
    stream << " distance=" << getKeyword(distance)
           << " weighting=" << getKeyword(weighting);
  return text;
}

static DictionaryAttr toAttribute(const ComparedPoints &points,
                                  Builder &builder) {
  NamedAttribute members[] = {
      builder.getNamedAttr(tpc::kSensitivityDistance,
                           builder.getStringAttr(getKeyword(points.distance))),
      builder.getNamedAttr(tpc::kSensitivityFraction,
                           builder.getF64FloatAttr(points.fraction)),
      builder.getNamedAttr(
          tpc::kSensitivityWeighting,
          builder.getStringAttr(getKeyword(points.weighting)))};
  return builder.getDictionaryAttr(members);
}

/// Returns the enumerator that a word names. The dialect has verified the
/// words.
template <typename Enum, size_t N>
static Enum readWord(DictionaryAttr members, StringRef key,
                     const llvm::StringLiteral (&words)[N]) {
  StringRef word = members.getAs<StringAttr>(key).getValue();
  return Enum(llvm::find(words, word) - std::begin(words));
}

static ComparedPoints readPoints(DictionaryAttr members) {
  return {
      members.getAs<FloatAttr>(tpc::kSensitivityFraction).getValueAsDouble(),
      readWord<SensitivityDistance>(members, tpc::kSensitivityDistance,
                                    tpc::kSensitivityDistances),
      readWord<SensitivityWeighting>(members, tpc::kSensitivityWeighting,
                                     tpc::kSensitivityWeightings)};
}

/// Returns the error tolerance of a kernel in an alternative of its operator,
/// which is 1 for the least error; none if the alternative has other bits than
/// the present one.
static std::optional<double> getTolerance(const OperatorPoints &of,
                                          int64_t alternative) {
  std::optional<double> tolerance;
  for (tpc::QuantizeOp point : of.points) {
    auto present = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(
        OperatorPoints::getConfig(point, of.getChosen()));
    auto other = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(
        OperatorPoints::getConfig(point, alternative));
    if (!present || !other || point.getWeight() != tpc::kKernelWeight)
      continue;
    if (present.getBits() != other.getBits())
      return std::nullopt;
    tolerance = double(other.getErrorTolerance().value_or(1));
  }
  return tolerance;
}

/// Returns the distances of an operator under the assumption that the error of
/// its kernel is proportional to the tolerance. `least`: distance of a network
/// without such an error.
static std::vector<double> smoothTolerances(const OperatorPoints &of,
                                            ArrayRef<double> distances,
                                            double least) {
  // Makes sure that a larger error is never free.
  constexpr double kSmallestSlope = 1e-5;
  double products = 0, squares = 0, most = 1;
  for (auto [index, distance] : llvm::enumerate(distances))
    if (auto tolerance = getTolerance(of, int64_t(index))) {
      products += *tolerance * (distance - least);
      squares += *tolerance * *tolerance;
      most = std::max(most, *tolerance);
    }
  std::vector<double> smooth(distances.begin(), distances.end());
  if (most == 1)
    return smooth;
  double slope = std::max(products / squares, kSmallestSlope * least);
  for (auto [index, distance] : llvm::enumerate(smooth))
    distance = std::max(distance, least + slope * most);
  for (size_t index = 0; index != smooth.size(); ++index)
    if (auto tolerance = getTolerance(of, int64_t(index)))
      smooth[index] = least + slope * *tolerance;
  return smooth;
}

void Sensitivities::smooth(ArrayRef<OperatorPoints> choices) {
  std::vector<double> present;
  for (auto [of, ofOperator] : llvm::zip(choices, distances))
    present.push_back(ofOperator[of.getChosen()]);
  if (present.empty())
    return;
  auto middle = present.begin() + int64_t(present.size() / 2);
  std::nth_element(present.begin(), middle, present.end());
  for (auto [of, ofOperator] : llvm::zip(choices, distances))
    ofOperator = smoothTolerances(of, ofOperator, *middle);
}

void Sensitivities::writeTo(func::FuncOp function,
                            ArrayRef<OperatorPoints> choices) const {
  Builder builder(function.getContext());
  SmallVector<NamedAttribute> table;
  for (auto [of, ofOperator] : llvm::zip(choices, distances))
    table.push_back(
        builder.getNamedAttr(of.name, builder.getF64ArrayAttr(ofOperator)));
  SmallVector<NamedAttribute> members = {
      builder.getNamedAttr(TpcDialect::kSensitivityMetric,
                           builder.getStringAttr(stringifyMetric(metric))),
      builder.getNamedAttr(TpcDialect::kSensitivitySamples,
                           builder.getI64IntegerAttr(samples)),
      builder.getNamedAttr(TpcDialect::kSensitivityTable,
                           builder.getDictionaryAttr(table))};
  if (points.fraction != 0)
    members.push_back(builder.getNamedAttr(tpc::kSensitivityPoints,
                                           toAttribute(points, builder)));
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
  // The dialect has verified the members.
  Sensitivities found;
  if (auto metric = attribute.getAs<StringAttr>(TpcDialect::kSensitivityMetric);
      metric)
    found.metric = readMetric(metric.getValue());
  if (auto samples =
          attribute.getAs<IntegerAttr>(TpcDialect::kSensitivitySamples))
    found.samples = samples.getInt();
  if (auto points = attribute.getAs<DictionaryAttr>(tpc::kSensitivityPoints))
    found.points = readPoints(points);
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
