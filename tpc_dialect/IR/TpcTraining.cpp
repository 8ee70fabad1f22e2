// SPDX-License-Identifier: Apache-2.0
//
// Attributes that describe how points are trained.
#include "mlir/IR/Diagnostics.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "tpc_dialect/IR/TpcVerification.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/InterleavedRange.h"
#include <cmath>

using namespace mlir;
using namespace mct;
using namespace mct::tpc;

//===----------------------------------------------------------------------===//
// Learned values
//===----------------------------------------------------------------------===//

SmallVector<LearnedRole> StraightThroughAttr::getRoles() const { return {}; }
bool StraightThroughAttr::keepsParameters() const { return true; }

SmallVector<LearnedRole> LearnedThresholdAttr::getRoles() const {
  return {LearnedRole::Threshold};
}

SmallVector<LearnedRole> LearnedRangeAttr::getRoles() const {
  return {LearnedRole::Minimum, LearnedRole::Maximum};
}

SmallVector<LearnedRole> SoftRoundingAttr::getRoles() const {
  if (getLearnsScale())
    return {LearnedRole::Rounding, LearnedRole::Scale};
  return {LearnedRole::Rounding};
}
bool SoftRoundingAttr::keepsParameters() const { return true; }

SmallVector<LearnedRole> PerturbedRoundingAttr::getRoles() const {
  return {LearnedRole::Perturbation};
}
bool PerturbedRoundingAttr::keepsParameters() const { return true; }

SmallVector<LearnedRole> ObservedRangeAttr::getRoles() const {
  return {LearnedRole::ObservedMinimum, LearnedRole::ObservedMaximum};
}

SmallVector<LearnedRole> GradualAttr::getRoles() const {
  SmallVector<LearnedRole> roles = getOf().getRoles();
  roles.push_back(LearnedRole::Fraction);
  return roles;
}
bool GradualAttr::keepsParameters() const { return getOf().keepsParameters(); }

SmallVector<LearnedRole> HostQuantizerAttr::getRoles() const { return {}; }
bool HostQuantizerAttr::keepsParameters() const { return true; }

//===----------------------------------------------------------------------===//
// Configurations of operators
//===----------------------------------------------------------------------===//

DictionaryAttr QuantizeConfigAttr::getWeightQuantizers(Operation *) const {
  return getWeights();
}
bool QuantizeConfigAttr::isPerChannel(Operation *, StringAttr weight) const {
  return getPerChannel() && llvm::is_contained(getPerChannel(), weight);
}
ArrayAttr QuantizeConfigAttr::getActivationQuantizers(Operation *) const {
  return getActivations();
}
ArrayAttr QuantizeConfigAttr::getOutputQuantizers(Operation *) const {
  return getOutputs();
}

//===----------------------------------------------------------------------===//
// Verification
//===----------------------------------------------------------------------===//

static LogicalResult verifyScale(EmitError emitError,
                                 std::optional<double> scale) {
  if (scale && !(std::isfinite(*scale) && *scale > 0))
    return emitError() << "the scale of gradients must be positive and finite, "
                          "but is "
                       << *scale;
  return success();
}

LogicalResult LearnedThresholdAttr::verify(EmitError emitError, unsigned bits,
                                           bool isSigned, bool, StepGradient,
                                           ClipGradient,
                                           std::optional<Real> scale) {
  if (failed(verifyBits(emitError, bits)))
    return failure();
  if (isSigned && bits < 2)
    return emitError()
           << "a signed grid of 1 bit has no level above zero to learn from";
  return verifyScale(emitError, scale);
}

LogicalResult LearnedRangeAttr::verify(EmitError emitError, unsigned bits,
                                       StepGradient, ClipGradient,
                                       std::optional<Real> scale) {
  if (failed(verifyBits(emitError, bits)))
    return failure();
  return verifyScale(emitError, scale);
}

LogicalResult PerturbedRoundingAttr::verify(EmitError emitError,
                                            std::optional<Real> mostLevels) {
  if (mostLevels && !(std::isfinite(double(*mostLevels)) && *mostLevels > 0))
    return emitError() << "weights must be moved by a positive number of "
                          "levels at most, but got "
                       << double(*mostLevels);
  return success();
}

LogicalResult ObservedRangeAttr::verify(EmitError emitError, Observer observer,
                                        unsigned bits, bool isSymmetric,
                                        bool isNarrow,
                                        std::optional<Real> decay) {
  if (failed(verifyBits(emitError, bits)))
    return failure();
  if (bits < 2 && (isSymmetric || isNarrow))
    return emitError() << "a grid of 1 bit can be neither symmetric nor narrow";
  if (!decay)
    return success();
  if (observer != Observer::MovingAverage)
    return emitError() << "'decay' is only valid for moving averages";
  if (!(*decay >= 0 && *decay < 1))
    return emitError() << "'decay' must be at least 0 and below 1, but is "
                       << double(*decay);
  return success();
}

static LogicalResult verifyQuantizer(EmitError emitError, const Twine &where,
                                     Attribute quantizer) {
  // QC1
  if (isa<TrainableAttrInterface, QuantizerAttrInterface>(quantizer))
    return success();
  return emitError() << where
                     << " must be one that is trained, such as "
                        "#tpc.observed_range, or one that stays, such as "
                        "#tpc.symmetric, but is "
                     << quantizer;
}

LogicalResult QuantizeConfigAttr::verify(EmitError emitError,
                                         DictionaryAttr weights,
                                         ArrayAttr perChannel,
                                         ArrayAttr activations,
                                         ArrayAttr outputs, StringAttr name,
                                         DictionaryAttr config) {
  if (weights)
    for (NamedAttribute weight : weights)
      if (failed(verifyQuantizer(emitError,
                                 "the quantizer of weight '" +
                                     weight.getName().strref() + "'",
                                 weight.getValue())))
        return failure();
  for (auto [what, list] :
       {std::pair("a quantizer of 'activations'", activations),
        {"a quantizer of 'outputs'", outputs}})
    if (list)
      for (Attribute quantizer : list)
        if (failed(verifyQuantizer(emitError, what, quantizer)))
          return failure();
  // QC3
  if (perChannel)
    for (Attribute entry : perChannel) {
      auto weight = dyn_cast<StringAttr>(entry);
      if (!weight || !weights || !weights.contains(weight))
        return emitError() << "'per_channel' has the names of weights that "
                              "have a quantizer, but holds "
                           << entry;
    }
  // QC2
  if (name && name.empty())
    return emitError() << "'name' of what made the quantizers is empty";
  if (config && !name)
    return emitError() << "'config' belongs to a 'name', and there is none";
  return success();
}

/// Returns whether a learned value has a type that T2 requires; the next
/// function reports the required types.
static bool fits(QuantizeOp point, LearnedRole role, RankedTensorType learned) {
  auto type = cast<RankedTensorType>(point.getInput().getType());
  switch (role) {
  case LearnedRole::Rounding:
  case LearnedRole::Perturbation:
    return learned == type;
  case LearnedRole::Fraction:
    return learned.getElementType().isF32() && learned.hasStaticShape() &&
           learned.getNumElements() == 1;
  default:
    break;
  }
  if (!learned.getElementType().isF32() ||
      learned.getRank() != type.getRank() || !learned.hasStaticShape())
    return false;
  bool isAll = true, isOne = true;
  for (int64_t axis = 0; axis != type.getRank(); ++axis) {
    int64_t size = learned.getDimSize(axis);
    isOne &= size == 1;
    isAll &= size == (llvm::is_contained(point.getChannelAxes(), axis)
                          ? type.getDimSize(axis)
                          : 1);
  }
  return isOne || isAll;
}

LogicalResult tpc::verifyLearned(QuantizeOp point) {
  OperandRange learned = point.getLearned();
  TrainableAttrInterface trainable = point.getTrainableAttr();
  if (!trainable) {
    if (!learned.empty())
      return point.emitOpError(
          "has learned values, but no 'trainable' that describes them");
    return success();
  }
  SmallVector<LearnedRole> roles = trainable.getRoles();
  if (learned.empty())
    return success();
  for (LearnedRole role : {LearnedRole::Rounding, LearnedRole::Perturbation}) {
    QuantizerAttrInterface parameters = point.getParametersAttr();
    if (llvm::is_contained(roles, role) &&
        (!parameters || parameters.getGrids().empty()))
      return point.emitOpError()
             << "learns a " << stringifyLearnedRole(role)
             << " to evenly spaced levels, but has no parameters with such";
  }
  if (learned.size() != roles.size())
    return point.emitOpError()
           << "has " << learned.size() << " learned values, but " << trainable
           << " learns " << roles.size();
  for (auto [role, value] : llvm::zip_equal(roles, learned))
    if (auto type = cast<RankedTensorType>(value.getType());
        !fits(point, role, type))
      return point.emitOpError()
             << "cannot have " << type << " as " << stringifyLearnedRole(role)
             << " of " << point.getInput().getType()
             << (point.getChannelAxes().empty()
                     ? ""
                     : ", whose channels are on axes [")
             << llvm::interleaved(point.getChannelAxes())
             << (point.getChannelAxes().empty() ? "" : "]");
  return success();
}
