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
        each.readers.push_back(&use);
    for (OpOperand *reader : each.readers)
      reader->set(source);
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

/// The quantizer of a method with the levels of another one; null, and why,
/// where it has none.
static tpc::QuantizerAttrInterface
convert(tpc::QuantizerAttrInterface imported,
        tpc::QuantizationMethodAttrInterface method, std::string &why) {
  if (imported.getQuantizationMethod() == method)
    return imported;
  SmallVector<quantization::Grid> grids = imported.getGrids();
  std::optional<quantization::QuantizationMethod> kind = method.getGridSearch();
  if (grids.empty() || !kind) {
    why = "its method is " + imported.getQuantizationMethod().getMethodName() +
          ", that of the target " + method.getMethodName();
    return nullptr;
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
      why = "it has the zero point " + std::to_string(zeroPoint) +
            " above its lowest code, and the method of the target is " +
            method.getMethodName();
      return nullptr;
    }
    each.threshold =
        std::ldexp(grid.step, int(options.bits) - int(options.isSigned));
    if (method.hasPowerOfTwoThresholds() &&
        !quantization::isPowerOfTwo(each.threshold)) {
      llvm::raw_string_ostream(why)
          << "its threshold " << llvm::format("%g", each.threshold)
          << " is not a power of two";
      return nullptr;
    }
  }
  tpc::QuantizerAttrInterface made = method.createQuantizer(selected, options);
  if (std::optional<quantization::Rounding> rounding =
          imported.getRoundingMode();
      made && rounding)
    if (tpc::QuantizerAttrInterface rounded = made.withRoundingMode(*rounding))
      made = rounded;
  return made;
}

static std::string describeBits(int64_t imported, int64_t target) {
  return "it has " + std::to_string(imported) + " bits, the target " +
         std::to_string(target);
}

static tpc::QuantizerAttrInterface
fitActivation(tpc::QuantizerAttrInterface imported,
              tpc::OpQuantConfigAttr config, std::string &why) {
  if (int64_t(imported.getBits()) != config.getActBits()) {
    why = describeBits(imported.getBits(), config.getActBits());
    return nullptr;
  }
  tpc::QuantizerAttrInterface made =
      convert(imported, config.getActMethod(), why);
  if (!made)
    return nullptr;
  SmallVector<quantization::Grid> grids = made.getGrids();
  if (FloatAttr fixed = config.getFixedScale();
      fixed && !grids.empty() &&
      std::abs(grids.front().step - fixed.getValueAsDouble()) >
          1e-6 * fixed.getValueAsDouble()) {
    llvm::raw_string_ostream(why)
        << "its scale is " << llvm::format("%g", grids.front().step)
        << ", and the target fixes "
        << llvm::format("%g", fixed.getValueAsDouble());
    return nullptr;
  }
  // A zero point says all of a uniform grid.
  bool isUniform = !grids.empty() && made.getThresholds().empty();
  if (config.getSignedness() != tpc::Signedness::Auto && !isUniform &&
      made.getIsSigned() !=
          (config.getSignedness() == tpc::Signedness::Signed)) {
    why = made.getIsSigned() ? "it is signed, and the target is not"
                             : "it is not signed, and the target is";
    return nullptr;
  }
  return made;
}

static tpc::QuantizerAttrInterface fitWeight(tpc::QuantizeOp imported,
                                             tpc::QuantizeOp planned,
                                             tpc::AttrQuantConfigAttr config,
                                             std::string &why) {
  tpc::QuantizerAttrInterface parameters = imported.getParametersAttr();
  // The indices of a table may be fewer than its bits.
  if (int64_t(parameters.getBits()) != config.getBits()) {
    why = describeBits(parameters.getBits(), config.getBits());
    return nullptr;
  }
  if (parameters.getNumChannels() > 1 &&
      imported.getChannelAxes() != planned.getChannelAxes()) {
    llvm::raw_string_ostream os(why);
    os << "it has channels along axes [";
    llvm::interleaveComma(imported.getChannelAxes(), os);
    os << "], the target along [";
    llvm::interleaveComma(planned.getChannelAxes(), os);
    os << "]";
    return nullptr;
  }
  tpc::QuantizerAttrInterface made =
      convert(parameters, config.getMethod(), why);
  if (made && !made.getThresholds().empty() && !made.getIsSigned()) {
    why = "it is not signed, and weights of the target are";
    return nullptr;
  }
  return made;
}

/// The parameters of a point of the file in the words of a config of the
/// target; null, and why, where it cannot hold them.
static tpc::QuantizerAttrInterface fit(tpc::QuantizeOp imported,
                                       tpc::QuantizeOp planned,
                                       Attribute config, std::string &why) {
  if (auto activation = dyn_cast_or_null<tpc::OpQuantConfigAttr>(config))
    return fitActivation(imported.getParametersAttr(), activation, why);
  if (auto weight = dyn_cast_or_null<tpc::AttrQuantConfigAttr>(config))
    return fitWeight(imported, planned, weight, why);
  return nullptr;
}

/// Takes the first alternative of a point's operator that holds what the file
/// says of the point, and of the operator's other points that have its
/// parameters already. Returns the parameters; null if there is none.
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
    std::string why;
    tpc::QuantizerAttrInterface parameters =
        fit(imported, planned, config, why);
    if (!parameters ||
        !llvm::all_of(points, [&, index = index](tpc::QuantizeOp point) {
          return point == planned || !point.hasImportedParameters() ||
                 fit(point, point, point.getAlternatives().getConfigs()[index],
                     why);
        }))
      continue;
    for (tpc::QuantizeOp point : points) {
      tpc::AlternativesAttr own = point.getAlternatives();
      point.setConfigAttr(own.getConfigs()[index]);
      point.setCandidatesAttr(own.withChosen(int64_t(index)));
    }
    return parameters;
  }
  return nullptr;
}

/// Gives a point of the target the parameters of one of the file, or says why
/// that cannot be.
bool KeptPoints::give(tpc::QuantizeOp planned, tpc::QuantizeOp imported) {
  std::string why;
  tpc::QuantizerAttrInterface parameters =
      fit(imported, planned, planned.getConfigAttr(), why);
  if (!parameters)
    parameters = chooseAlternative(planned, imported);
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
// Where they stand
//===----------------------------------------------------------------------===//

static bool isView(Operation *op) {
  return isa_and_nonnull<tosa::ReshapeOp, tosa::TransposeOp, tosa::IdentityOp>(
      op);
}

/// The point of the target on a value, or on what shows the same value: before
/// a reshape or a transposition, or behind one that alone reads it.
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
    Operation *maker = shown.getDefiningOp();
    auto point = dyn_cast_or_null<tpc::QuantizeOp>(maker);
    if (point && point.isActivation() && point->getBlock() &&
        !llvm::is_contained(inserted, point))
      return point;
    if (!isView(maker))
      return nullptr;
    shown = maker->getOperand(0);
  }
}

/// Returns true if every value is a level of the quantizer already: it comes
/// from such levels, and nothing but moved.
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
  if (Operation *maker = input.getDefiningOp())
    function.getBody().front().getOperations().insertAfter(maker->getIterator(),
                                                           taken.point);
  else
    function.getBody().front().push_front(taken.point);
  taken.point.getInputMutable().set(input);
  inserted.push_back(taken.point);
  for (OpOperand *reader : taken.readers)
    reader->set(taken.point.getOutput());
}

/// Drops the point that the target has in front of a ReLU if the file has only
/// the one behind it: a layer and its ReLU are one operator there.
static void dropPointBeforeRelu(tpc::QuantizeOp planned) {
  auto clamp = planned.getInput().getDefiningOp<tosa::ClampOp>();
  auto before = clamp ? clamp.getInput().getDefiningOp<tpc::QuantizeOp>()
                      : tpc::QuantizeOp();
  if (!before || !planned.hasImportedParameters() || !before.isActivation() ||
      before.getParametersAttr() || !before->hasOneUse())
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

void KeptPoints::putBackWeight(Taken &taken, OpOperand *reader) {
  if (auto planned = reader->get().getDefiningOp<tpc::QuantizeOp>()) {
    (void)give(planned, taken.point);
    return;
  }
  taken.readers = {reader};
  insert(taken, reader->get());
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

/// An operator whose widths the file says has no alternatives.
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
  for (Taken &taken : all) {
    if (taken.point.isActivation()) {
      putBackActivation(taken);
      continue;
    }
    // The importer gives every reader of a weight a point of its own.
    for (OpOperand *reader :
         llvm::make_early_inc_range(SmallVector<OpOperand *>(taken.readers)))
      if (!taken.point->getBlock())
        putBackWeight(taken, reader);
  }
  makeNamesUnique();
  fixOperators(function);
}
