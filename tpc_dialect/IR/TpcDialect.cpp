// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/IR/TpcDialect.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/OpImplementation.h"
#include "tpc_dialect/IR/TpcBudget.h"
#include "tpc_dialect/IR/TpcBytecode.h"
#include "tpc_dialect/IR/TpcOverrides.h"
#include "tpc_dialect/IR/TpcRejections.h"
#include "tpc_dialect/IR/TpcRounding.h"
#include "tpc_dialect/IR/TpcSensitivities.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct::tpc;

#include "tpc_dialect/IR/TpcDialect.cpp.inc"

namespace {
/// A target repeats the same few configurations hundreds of times; aliases keep
/// it readable.
struct TpcAliases : public OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;

  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (isa<AttrQuantConfigAttr>(attribute))
      os << "weight_config";
    else if (isa<OpQuantConfigAttr>(attribute))
      os << "op_config";
    else if (isa<QCOptionsAttr>(attribute))
      os << "options";
    else if (isa<OperatorSetGroupAttr>(attribute))
      os << "group";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
} // namespace

/// Returns whether the attribute describes how points inside a network were
/// compared.
static bool isSensitivityPoints(Attribute attribute) {
  auto members = dyn_cast<DictionaryAttr>(attribute);
  if (!members || members.size() != 3)
    return false;
  auto fraction = members.getAs<FloatAttr>(kSensitivityFraction);
  auto isWord = [&](StringRef key, ArrayRef<StringLiteral> words) {
    auto word = members.getAs<StringAttr>(key);
    return word && llvm::is_contained(words, word.getValue());
  };
  return fraction && fraction.getType().isF64() &&
         fraction.getValueAsDouble() > 0 && fraction.getValueAsDouble() <= 1 &&
         isWord(kSensitivityDistance, kSensitivityDistances) &&
         isWord(kSensitivityWeighting, kSensitivityWeightings);
}

/// A table of finite numbers by operator, and how they were measured.
static LogicalResult verifySensitivities(Operation *op, Attribute attribute) {
  auto refuse = [&](const Twine &what) -> LogicalResult {
    return op->emitError()
           << "'" << TpcDialect::kSensitivitiesAttrName << "' " << what
           << "; expected {metric = \"kl\", \"mse\" or \"logits\", samples = "
              "N, of = "
              "{OPERATOR = [a number for each alternative], ...}}";
  };
  auto members = dyn_cast<DictionaryAttr>(attribute);
  if (!members)
    return refuse("is not a dictionary");
  auto table = members.getAs<DictionaryAttr>(TpcDialect::kSensitivityTable);
  if (!table)
    return refuse("has no table 'of'");
  for (NamedAttribute row : table) {
    auto numbers = dyn_cast<ArrayAttr>(row.getValue());
    if (!numbers || !llvm::all_of(numbers, [](Attribute each) {
          auto number = dyn_cast<FloatAttr>(each);
          return number && number.getValue().isFinite();
        }))
      return refuse("has something else than a list of finite numbers for '" +
                    row.getName().getValue() + "'");
  }
  Attribute metric = members.get(TpcDialect::kSensitivityMetric);
  auto text = dyn_cast_or_null<StringAttr>(metric);
  if (metric &&
      (!text || (text.getValue() != "kl" && text.getValue() != "mse" &&
                 text.getValue() != "logits")))
    return refuse("has another 'metric'");
  Attribute samples = members.get(TpcDialect::kSensitivitySamples);
  auto count = dyn_cast_or_null<IntegerAttr>(samples);
  if (samples &&
      (!count || !count.getType().isSignlessInteger(64) || count.getInt() <= 0))
    return refuse("has 'samples' that are not a positive i64");
  if (Attribute points = members.get(kSensitivityPoints);
      points && !isSensitivityPoints(points)) {
    std::string distances = llvm::join(ArrayRef(kSensitivityDistances), ", "),
                weightings = llvm::join(ArrayRef(kSensitivityWeightings), ", ");
    return op->emitError()
           << "'" << TpcDialect::kSensitivitiesAttrName
           << "' has other 'points' than {fraction = an f64 above 0 and at "
              "most 1, distance = one of "
           << distances << ", weighting = one of " << weightings << "}";
  }
  return success();
}

/// Limits by resource.
static LogicalResult verifyBudget(Operation *op, Attribute attribute) {
  auto limits = dyn_cast<DictionaryAttr>(attribute);
  if (limits && !limits.empty() &&
      llvm::all_of(limits, [](NamedAttribute limit) {
        auto number = dyn_cast<IntegerAttr>(limit.getValue());
        return llvm::is_contained(kBudgetKeys, limit.getName().getValue()) &&
               number && number.getType().isSignlessInteger(64) &&
               number.getInt() > 0;
      }))
    return success();
  return op->emitError() << "'" << kBudgetAttrName
                         << "' is not a dictionary of limits; expected "
                            "positive i64 for some of "
                         << llvm::join(ArrayRef(kBudgetKeys), ", ");
}

static LogicalResult verifyOverrides(Operation *op, Attribute attribute) {
  auto rules = dyn_cast<ArrayAttr>(attribute);
  if (rules && llvm::all_of(rules, llvm::IsaPred<StringAttr>))
    return success();
  return op->emitError() << "'" << kOverridesAttrName
                         << "' is not a list of rules; expected strings";
}

static LogicalResult verifyIntegerRounding(Operation *op, Attribute attribute) {
  auto word = dyn_cast<StringAttr>(attribute);
  if (word && llvm::is_contained(kIntegerRoundings, word.getValue()))
    return success();
  return op->emitError() << "'" << kIntegerRoundingAttrName
                         << "' is not the rounding of an integer network; "
                            "expected one of "
                         << llvm::join(ArrayRef(kIntegerRoundings), ", ");
}

LogicalResult TpcDialect::verifyOperationAttribute(Operation *op,
                                                   NamedAttribute attribute) {
  if (attribute.getName() == kSensitivitiesAttrName)
    return verifySensitivities(op, attribute.getValue());
  if (attribute.getName() == kBudgetAttrName)
    return verifyBudget(op, attribute.getValue());
  if (attribute.getName() == kOverridesAttrName)
    return verifyOverrides(op, attribute.getValue());
  if (attribute.getName() == kIntegerRoundingAttrName)
    return verifyIntegerRounding(op, attribute.getValue());
  if (attribute.getName() == kRejectedCorrectionsAttrName)
    return verifyRejectedCorrections(op, attribute.getValue());
  if (attribute.getName() != kSetAttrName ||
      isa<StringAttr>(attribute.getValue()))
    return success();
  return op->emitError() << "'" << kSetAttrName
                         << "' must be the name of an operator set, a string, "
                            "but got "
                         << attribute.getValue();
}

void TpcDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "tpc_dialect/IR/TpcOps.cpp.inc"
      >();
  registerDeviceOps();
  addInterfaces<TpcAliases>();
  addBytecodeInterface(this);
}
