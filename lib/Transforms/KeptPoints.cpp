// SPDX-License-Identifier: Apache-2.0
#include "KeptPoints.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantization/Selection.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace mct;

KeptPoints::KeptPoints(func::FuncOp function) : function(function) {
  function.walk([&](tpc::QuantizeOp point) {
    if (point.hasImportedParameters())
      all.push_back({point, {}});
  });
  llvm::SmallPtrSet<Operation *, 16> taken;
  for (Taken &each : all)
    taken.insert(each.point);
  for (Taken &each : all) {
    Value source = each.point.getInput();
    while (auto other = source.getDefiningOp<tpc::QuantizeOp>()) {
      if (!taken.contains(other))
        break;
      source = other.getInput();
    }
    for (OpOperand &use : each.point.getOutput().getUses())
      if (!taken.contains(use.getOwner()))
        each.uses.push_back(&use);
    for (OpOperand *use : each.uses)
      use->set(source);
  }
  for (Taken &each : all)
    each.point->remove();
}

KeptPoints::~KeptPoints() {
  for (Taken &each : all)
    if (!each.point->getBlock())
      each.point->dropAllReferences();
  for (Taken &each : all)
    if (!each.point->getBlock())
      each.point->destroy();
}

//===----------------------------------------------------------------------===//
// Limits of a target
//===----------------------------------------------------------------------===//

using Parameters = llvm::Expected<tpc::QuantizerAttrInterface>;

/// Returns the quantizer of `method` with the same levels as `imported`, or an
/// error with the reason why there is none.
static Parameters convert(tpc::QuantizerAttrInterface imported,
                          tpc::QuantizationMethodAttrInterface method) {
  if (imported.getQuantizationMethod() == method)
    return imported;
  SmallVector<quantization::Grid> grids = imported.getGrids();
  std::optional<quantization::QuantizationMethod> kind = method.getGridSearch();
  if (grids.empty() || !kind) {
    return llvm::createStringError(
        "its method is " + imported.getQuantizationMethod().getMethodName() +
        ", that of the target " + method.getMethodName());
  }
  quantization::SelectionOptions options;
  options.kind = *kind;
  options.bits = imported.getBits();
  SmallVector<quantization::SelectedParameters> selected;
  int64_t half = int64_t(1) << (options.bits - 1);
  int64_t first = grids.front().zeroPoint - grids.front().qmin;
  options.isSigned = first == half;
  for (const quantization::Grid &grid : grids) {
    quantization::SelectedParameters &each = selected.emplace_back();
    int64_t zeroPoint = grid.zeroPoint - grid.qmin;
    if (*kind == quantization::QuantizationMethod::Uniform) {
      each.step = grid.step;
      each.zeroPoint = zeroPoint;
      continue;
    }
    if (zeroPoint != first || (zeroPoint != 0 && zeroPoint != half)) {
      return llvm::createStringError(
          "it has the zero point " + Twine(zeroPoint) +
          " above its lowest code, and the method of the target is " +
          method.getMethodName());
    }
    each.threshold =
        std::ldexp(grid.step, int(options.bits) - int(options.isSigned));
    if (method.hasPowerOfTwoThresholds() &&
        !quantization::isPowerOfTwo(each.threshold))
      return llvm::createStringError("its threshold %g is not a power of two",
                                     each.threshold);
  }
  tpc::QuantizerAttrInterface made = method.createQuantizer(selected, options);
  if (std::optional<quantization::Rounding> rounding =
          imported.getRoundingMode();
      made && rounding)
    if (tpc::QuantizerAttrInterface rounded = made.withRoundingMode(*rounding))
      made = rounded;
  if (!made)
    return llvm::createStringError("the method of the target, " +
                                   method.getMethodName() +
                                   ", does not have its levels");
  return made;
}

static llvm::Error refuseBits(int64_t imported, int64_t target) {
  return llvm::createStringError("it has " + Twine(imported) +
                                 " bits, the target " + Twine(target));
}

static Parameters fitActivation(tpc::QuantizerAttrInterface imported,
                                tpc::OpQuantConfigAttr config) {
  if (int64_t(imported.getBits()) != config.getActBits())
    return refuseBits(imported.getBits(), config.getActBits());
  Parameters made = convert(imported, config.getActMethod());
  if (!made)
    return made;
  SmallVector<quantization::Grid> grids = made->getGrids();
  if (FloatAttr fixed = config.getFixedScale();
      fixed && !grids.empty() &&
      std::abs(grids.front().step - fixed.getValueAsDouble()) >
          1e-6 * fixed.getValueAsDouble())
    return llvm::createStringError("its scale is %g, and the target fixes %g",
                                   grids.front().step,
                                   fixed.getValueAsDouble());
  // A uniform grid has a zero point in place of a sign.
  bool isUniform = !grids.empty() && made->getThresholds().empty();
  if (config.getSignedness() != tpc::Signedness::Auto && !isUniform &&
      made->getIsSigned() !=
          (config.getSignedness() == tpc::Signedness::Signed))
    return llvm::createStringError(made->getIsSigned()
                                       ? "it is signed, and the target is not"
                                       : "it is not signed, and the target is");
  return made;
}

static Parameters fitWeight(tpc::QuantizeOp imported, tpc::QuantizeOp planned,
                            tpc::AttrQuantConfigAttr config) {
  tpc::QuantizerAttrInterface parameters = imported.getParametersAttr();
  // A table may have fewer entries than its bits allow.
  if (int64_t(parameters.getBits()) != config.getBits())
    return refuseBits(parameters.getBits(), config.getBits());
  if (parameters.getNumChannels() > 1 &&
      imported.getChannelAxes() != planned.getChannelAxes()) {
    std::string axes;
    llvm::raw_string_ostream os(axes);
    os << "it has channels along axes [";
    llvm::interleaveComma(imported.getChannelAxes(), os);
    os << "], the target along [";
    llvm::interleaveComma(planned.getChannelAxes(), os);
    os << "]";
    return llvm::createStringError(axes);
  }
  Parameters made = convert(parameters, config.getMethod());
  if (made && !made->getThresholds().empty() && !made->getIsSigned())
    return llvm::createStringError(
        "it is not signed, and weights of the target are");
  return made;
}

/// Returns the parameters of an imported point in the form that a config of the
/// target requires, or an error with the reason why the config cannot hold
/// them.
static Parameters fit(tpc::QuantizeOp imported, tpc::QuantizeOp planned,
                      Attribute config) {
  if (auto activation = dyn_cast_or_null<tpc::OpQuantConfigAttr>(config))
    return fitActivation(imported.getParametersAttr(), activation);
  if (auto weight = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(config))
    return fitWeight(imported, planned, weight);
  return llvm::createStringError("the target has no config for it");
}

/// Chooses the first alternative of a point's operator that can hold the
/// imported parameters of the point and of the operator's other points that
/// have theirs already. Returns the parameters of the point, or null if there
/// is none.
tpc::QuantizerAttrInterface
KeptPoints::chooseAlternative(tpc::QuantizeOp planned,
                              tpc::QuantizeOp imported) {
  tpc::AlternativesAttr alternatives = planned.getAlternatives();
  if (!alternatives)
    return nullptr;
  SmallVector<tpc::QuantizeOp> points;
  function.walk([&](tpc::QuantizeOp point) {
    if (tpc::AlternativesAttr others = point.getAlternatives();
        others && others.getOf() == alternatives.getOf())
      points.push_back(point);
  });
  for (auto [index, config] : llvm::enumerate(alternatives.getConfigs())) {
    std::optional<tpc::QuantizerAttrInterface> parameters =
        llvm::expectedToOptional(fit(imported, planned, config));
    if (!parameters ||
        !llvm::all_of(points, [&, index = index](tpc::QuantizeOp point) {
          return point == planned || !point.hasImportedParameters() ||
                 llvm::expectedToOptional(
                     fit(point, point,
                         point.getAlternatives().getConfigs()[index]));
        }))
      continue;
    for (tpc::QuantizeOp point : points) {
      tpc::AlternativesAttr own = point.getAlternatives();
      point.setConfigAttr(own.getConfigs()[index]);
      point.setCandidatesAttr(own.withChosen(int64_t(index)));
    }
    return *parameters;
  }
  return nullptr;
}

/// Gives a point of the target the parameters of an imported point, or warns
/// why it cannot hold them.
bool KeptPoints::give(tpc::QuantizeOp planned, tpc::QuantizeOp imported) {
  Parameters own = fit(imported, planned, planned.getConfigAttr());
  tpc::QuantizerAttrInterface parameters =
      own ? *own : chooseAlternative(planned, imported);
  std::string why = llvm::toString(own.takeError());
  if (!parameters) {
    InFlightDiagnostic warning =
        planned.emitWarning()
        << "the target cannot hold the parameters that '"
        << planned.getUniqueName() << "' has in its file: " << why
        << "; they are chosen anew";
    warning.attachNote() << "they are " << imported.getParametersAttr()
                         << "; ask for their bits with overrides, take a "
                            "target that has them, or choose all anew with "
                            "keep-points=false";
    return false;
  }
  if (planned.isWeight())
    planned.setAxesAttr(parameters.getNumChannels() > 1 ? imported.getAxesAttr()
                                                        : DenseI64ArrayAttr());
  planned.setQuantizer(parameters, describeImported(planned.getContext()));
  return true;
}

//===----------------------------------------------------------------------===//
// Positions of points
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::IdentityOp>(
      op);
}

/// Returns the point of the target that quantizes the value or a view of it:
/// after reshapes and transpositions that are its only users, or before those
/// that compute it.
tpc::QuantizeOp KeptPoints::findPlanned(Value value) const {
  auto on = [&](Value shown) -> tpc::QuantizeOp {
    for (Operation *user : shown.getUsers())
      if (auto point = dyn_cast<tpc::QuantizeOp>(user);
          point && point.isActivation() && point->getBlock() &&
          !llvm::is_contained(inserted, point))
        return point;
    return nullptr;
  };
  for (Value shown = value;;) {
    if (tpc::QuantizeOp point = on(shown))
      return point;
    if (!shown.hasOneUse() || !isView(*shown.user_begin()))
      break;
    shown = (*shown.user_begin())->getResult(0);
  }
  for (Value shown = value;;) {
    Operation *producer = shown.getDefiningOp();
    auto point = dyn_cast_or_null<tpc::QuantizeOp>(producer);
    if (point && point.isActivation() && point->getBlock() &&
        !llvm::is_contained(inserted, point))
      return point;
    if (!isView(producer))
      return nullptr;
    shown = producer->getOperand(0);
  }
}

/// Returns whether every value is a level of the quantizer already, because it
/// was quantized by it and has only been moved since.
static bool isOnLevels(Value value, tpc::QuantizerAttrInterface parameters) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      return point.getParametersAttr() == parameters;
    OpOperand *moved = getMovedOperand(op, [](Movement movement) {
      return movement != Movement::Fill && takesElements(movement);
    });
    if (!moved)
      return false;
    value = moved->get();
  }
  return false;
}

void KeptPoints::insert(Taken &taken, Value input) {
  OpBuilder builder(taken.point.getContext());
  builder.setInsertionPointAfterValue(input);
  builder.insert(taken.point.getOperation());
  taken.point.getInputMutable().set(input);
  inserted.push_back(taken.point);
  for (OpOperand *use : taken.uses)
    use->set(taken.point.getOutput());
}

/// Erases the target's point before a ReLU if the file has only the one after
/// it, where a layer and its ReLU are one operator.
void KeptPoints::dropPointBeforeRelu(tpc::QuantizeOp planned) {
  auto clamp = planned.getInput().getDefiningOp<tosa::ClampOp>();
  auto before = clamp ? clamp.getInput().getDefiningOp<tpc::QuantizeOp>()
                      : tpc::QuantizeOp();
  if (!before || !planned.hasImportedParameters() || !before.isActivation() ||
      before.getParametersAttr() || !before->hasOneUse() ||
      claimed.contains(before))
    return;
  before.getOutput().replaceAllUsesWith(before.getInput());
  before.erase();
}

void KeptPoints::putBackActivation(Taken &taken) {
  Value source = taken.point.getInput();
  auto replaced = replacements.find(source);
  if (replaced == replacements.end()) {
    if (tpc::QuantizeOp planned = findPlanned(source);
        planned && claimed.insert(planned).second) {
      replacements[taken.point.getOutput()] = planned.getOutput();
      (void)give(planned, taken.point);
      dropPointBeforeRelu(planned);
      return;
    }
  } else {
    source = replaced->second;
  }
  if (isOnLevels(source, taken.point.getParametersAttr())) {
    replacements[taken.point.getOutput()] = source;
    return;
  }
  insert(taken, source);
  replacements[taken.point.getOutput()] = taken.point.getOutput();
  emitRecord(taken.point, "mct-insert-quantizers",
             Record(Decision::Applied, Reason::PointBesideTarget)
                 << "the file has '" << taken.point.getPointName()
                 << "' where the target has no point of its own; it stays");
}

void KeptPoints::putBackWeight(Taken &taken) {
  llvm::erase_if(taken.uses, [&](OpOperand *use) {
    auto planned = use->get().getDefiningOp<tpc::QuantizeOp>();
    if (planned)
      (void)give(planned, taken.point);
    return planned != nullptr;
  });
  if (taken.uses.empty())
    return;
  insert(taken, taken.uses.front()->get());
  emitRecord(taken.point, "mct-insert-quantizers",
             Record(Decision::Applied, Reason::PointBesideTarget)
                 << "the file has '" << taken.point.getUniqueName()
                 << "' where the target has no point of its own; it stays");
}

void KeptPoints::makeNamesUnique() {
  llvm::StringSet<> taken;
  function.walk([&](tpc::QuantizeOp point) {
    if (!llvm::is_contained(inserted, point))
      taken.insert(point.getUniqueName());
  });
  for (tpc::QuantizeOp point : inserted) {
    std::string name = point.getPointName().str();
    for (unsigned number = 1; !taken.insert(point.getUniqueName()).second;
         ++number)
      point.setPointName(name + "_" + std::to_string(number));
  }
}

/// Removes the alternatives of operators whose widths the file determines.
static void fixOperators(func::FuncOp function) {
  llvm::StringSet<> fixed;
  function.walk([&](tpc::QuantizeOp point) {
    if (tpc::AlternativesAttr alternatives = point.getAlternatives();
        alternatives && point.hasImportedParameters())
      fixed.insert(alternatives.getOf().getValue());
  });
  function.walk([&](tpc::QuantizeOp point) {
    if (tpc::AlternativesAttr alternatives = point.getAlternatives();
        alternatives && fixed.contains(alternatives.getOf().getValue()))
      point.removeCandidatesAttr();
  });
}

void KeptPoints::putBack() {
  for (Taken &taken : all)
    if (taken.point.isActivation())
      putBackActivation(taken);
    else
      putBackWeight(taken);
  makeNamesUnique();
  fixOperators(function);
}
