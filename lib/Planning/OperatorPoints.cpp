// SPDX-License-Identifier: Apache-2.0
#include "mct/Planning/OperatorPoints.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mct;

/// Returns the alternatives of the first point that has any, or null.
static tpc::AlternativesAttr findAlternatives(const OperatorPoints &of) {
  for (tpc::QuantizeOp point : of.points)
    if (tpc::AlternativesAttr alternatives = point.getAlternatives())
      return alternatives;
  return {};
}

int64_t OperatorPoints::numAlternatives() const {
  tpc::AlternativesAttr alternatives = findAlternatives(*this);
  return alternatives ? alternatives.size() : 1;
}

int64_t OperatorPoints::getChosen() const {
  tpc::AlternativesAttr alternatives = findAlternatives(*this);
  return alternatives ? alternatives.getChosen() : 0;
}

Attribute OperatorPoints::getConfig(tpc::QuantizeOp point, int64_t index) {
  tpc::AlternativesAttr alternatives = point.getAlternatives();
  return alternatives ? alternatives.getConfigs()[index]
                      : point.getConfigAttr();
}

tpc::QuantizeOp OperatorPoints::getResultPoint() const {
  for (tpc::QuantizeOp point : points)
    if (point.isActivation())
      return point;
  return {};
}

std::vector<OperatorPoints> mct::findOperatorPoints(func::FuncOp function) {
  llvm::MapVector<StringAttr, OperatorPoints> found;
  function.walk([&](tpc::QuantizeOp point) {
    tpc::AlternativesAttr alternatives = point.getAlternatives();
    StringAttr name =
        alternatives ? alternatives.getOf() : point.getPointNameAttr();
    OperatorPoints &of = found[name];
    of.name = name;
    of.points.push_back(point);
  });
  std::vector<OperatorPoints> operators;
  for (auto &[name, of] : found)
    operators.push_back(std::move(of));
  return operators;
}

StringRef mct::getGenericWeightName(tpc::QuantizeOp point) {
  StringRef name = *point.getWeight();
  return name.starts_with(tpc::kPositionalWeight)
             ? StringRef(tpc::kPositionalWeight)
             : name;
}
