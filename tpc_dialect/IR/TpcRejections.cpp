// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/IR/TpcRejections.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OperationSupport.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct::tpc;

static constexpr StringLiteral kCorrection = "correction", kLayers = "layers",
                               kLoss = "loss", kOutput = "output",
                               kSamples = "samples",
                               kStandardError = "standard_error";

static constexpr StringLiteral kNames[] = {kQuantizedNetworkCorrection,
                                           kInputMeanCorrection,
                                           kActivationBiasCorrection,
                                           kSecondMomentCorrection,
                                           kRoundedWeights,
                                           kShiftNegativeCorrection,
                                           kChannelEqualization,
                                           kResidualEqualization,
                                           kPartsRescaling,
                                           kThresholdRefinement};

static bool isNumber(Attribute attribute) {
  auto number = dyn_cast_or_null<FloatAttr>(attribute);
  return number && number.getType().isF64() && number.getValue().isFinite();
}

static bool isCount(Attribute attribute, int64_t least) {
  auto number = dyn_cast_or_null<IntegerAttr>(attribute);
  return number && number.getType().isSignlessInteger(64) &&
         number.getInt() >= least;
}

static bool areNames(Attribute attribute) {
  auto names = dyn_cast<ArrayAttr>(attribute);
  return names && !names.empty() &&
         llvm::all_of(names, llvm::IsaPred<StringAttr>);
}

LogicalResult mct::tpc::verifyRejectedCorrections(Operation *op,
                                                  Attribute attribute) {
  auto refuse = [&](const Twine &what) -> LogicalResult {
    return op->emitError() << "'" << kRejectedCorrectionsAttrName << "' "
                           << what
                           << "; expected dictionaries {correction = \"NAME\", "
                              "layers = [NAMES], loss = DECIBELS : f64, output "
                              "= N : i64, samples = N : i64, standard_error = "
                              "DECIBELS : f64}, of which layers, output and "
                              "standard_error may be absent";
  };
  auto list = dyn_cast<ArrayAttr>(attribute);
  if (!list)
    return refuse("is not a list");
  for (Attribute each : list) {
    auto members = dyn_cast<DictionaryAttr>(each);
    if (!members)
      return refuse("has something else than dictionaries");
    auto name = members.getAs<StringAttr>(kCorrection);
    if (!name || !llvm::is_contained(kNames, name.getValue()))
      return refuse("has a 'correction' that is none of " +
                    llvm::join(ArrayRef(kNames), ", "));
    if (!isNumber(members.get(kLoss)))
      return refuse("has no 'loss' that is a finite f64");
    if (!isCount(members.get(kSamples), 1))
      return refuse("has no 'samples' that are a positive i64");
    for (NamedAttribute member : members) {
      StringRef key = member.getName();
      if (key == kCorrection || key == kLoss || key == kSamples)
        continue;
      if (!(key == kLayers && areNames(member.getValue())) &&
          !(key == kOutput && isCount(member.getValue(), 0)) &&
          !(key == kStandardError && isNumber(member.getValue())))
        return refuse("has a member '" + key + "' that is not as expected");
    }
  }
  return success();
}

std::vector<RejectedCorrection>
mct::tpc::readRejectedCorrections(Operation *function) {
  std::vector<RejectedCorrection> found;
  auto list = function->getAttrOfType<ArrayAttr>(kRejectedCorrectionsAttrName);
  if (!list)
    return found;
  for (auto members : list.getAsRange<DictionaryAttr>()) {
    RejectedCorrection &added = found.emplace_back();
    added.correction = members.getAs<StringAttr>(kCorrection).str();
    if (auto layers = members.getAs<ArrayAttr>(kLayers))
      for (auto layer : layers.getAsRange<StringAttr>())
        added.layers.push_back(layer.str());
    if (auto output = members.getAs<IntegerAttr>(kOutput))
      added.output = output.getInt();
    added.loss = members.getAs<FloatAttr>(kLoss).getValueAsDouble();
    if (auto error = members.getAs<FloatAttr>(kStandardError))
      added.standardError = error.getValueAsDouble();
    added.samples = members.getAs<IntegerAttr>(kSamples).getInt();
  }
  return found;
}

void mct::tpc::addRejectedCorrection(Operation *function,
                                     const RejectedCorrection &rejected) {
  Builder builder(function->getContext());
  NamedAttrList members;
  members.set(kCorrection, builder.getStringAttr(rejected.correction));
  if (!rejected.layers.empty())
    members.set(kLayers, builder.getArrayAttr(llvm::map_to_vector(
                             rejected.layers,
                             [&](const std::string &layer) -> Attribute {
                               return builder.getStringAttr(layer);
                             })));
  if (rejected.output)
    members.set(kOutput, builder.getI64IntegerAttr(*rejected.output));
  members.set(kLoss, builder.getF64FloatAttr(rejected.loss));
  if (rejected.standardError)
    members.set(kStandardError,
                builder.getF64FloatAttr(*rejected.standardError));
  members.set(kSamples, builder.getI64IntegerAttr(rejected.samples));
  SmallVector<Attribute> list;
  if (auto before =
          function->getAttrOfType<ArrayAttr>(kRejectedCorrectionsAttrName))
    llvm::append_range(list, before);
  list.push_back(members.getDictionary(function->getContext()));
  function->setAttr(kRejectedCorrectionsAttrName, builder.getArrayAttr(list));
}

bool mct::tpc::isRejected(Operation *function, StringRef correction,
                          StringRef layer) {
  return llvm::any_of(readRejectedCorrections(function),
                      [&](const RejectedCorrection &each) {
                        return each.correction == correction &&
                               (each.layers.empty() ||
                                llvm::is_contained(each.layers, layer.str()));
                      });
}

bool mct::tpc::areEqualButForRejections(Operation *left, Operation *right) {
  auto getAttributes = [](Operation *function) {
    NamedAttrList attributes(function->getAttrDictionary());
    attributes.erase(kRejectedCorrectionsAttrName);
    return attributes.getDictionary(function->getContext());
  };
  return getAttributes(left) == getAttributes(right) &&
         llvm::equal(left->getRegions(), right->getRegions(),
                     [](Region &one, Region &other) {
                       return OperationEquivalence::isRegionEquivalentTo(
                           &one, &other,
                           OperationEquivalence::Flags::IgnoreLocations);
                     });
}
