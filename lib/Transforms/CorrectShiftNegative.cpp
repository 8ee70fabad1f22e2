// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/KernelOp.h"
#include "mct/Analysis/Names.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Quantization/HistogramShift.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/SelectedParameters.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/Format.h"
#include <set>
#include <variant>

namespace mct {
#define GEN_PASS_DEF_CORRECTSHIFTNEGATIVEPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
using quantization::Atom;
using quantization::NegativeShift;

/// Behind the names of values that are shifted: they are not those of that name
/// in the float network.
static constexpr llvm::StringLiteral kShifted = "_shifted";

/// Ops that one shift may pass through. A value that is added to a long row of
/// residual blocks would reach all of them, which no short tail is worth; and
/// the pass stays linear in the size of the network.
static constexpr size_t kMaxReach = 64;
static constexpr int64_t kMaxTimes = int64_t(1) << 32;

/// Whether the operator has a short tail below zero by its nature.
static bool isNonLinearity(const tpc::Node &node) {
  StringRef name;
  if (auto subgraph = dyn_cast_or_null<tpc::SubgraphAttr>(node.pattern))
    name = subgraph.getName().getValue();
  bool isKnownForm = llvm::StringSwitch<bool>(name)
                         .Cases({"swish", "hard_swish", "gelu", "leaky_relu",
                                 "prelu", "elu", "scaled_elu"},
                                true)
                         .Default(false);
  StringRef set = node.operatorSet ? node.operatorSet.getValue() : StringRef();
  return isKnownForm ||
         llvm::StringSwitch<bool>(set)
             .Cases({"Swish", "HardSwish", "Gelu", "LeakyReLU", "PReLU", "Elu"},
                    true)
             .Default(false);
}

//===----------------------------------------------------------------------===//
// Where the shift goes
//===----------------------------------------------------------------------===//

namespace {
/// Why a point stays as it is, and the op at fault, if there is one.
struct Reason {
  std::string text;
  Operation *op = nullptr;
};

/// Everything that a shifted value reaches, up to the ops that take the shift
/// out again. Numbers say how many times the shift is in a value.
struct Reach {
  /// Ops on the way whose results are shifted, in program order.
  SmallVector<Operation *> moved;
  SmallVector<std::pair<tpc::QuantizeOp, int64_t>> points;
  SmallVector<std::pair<Operation *, int64_t>> pads;
  SmallVector<std::pair<KernelOp, int64_t>> kernels;
};

/// Ops of one block in program order.
struct InOrder {
  bool operator()(Operation *lhs, Operation *rhs) const {
    return lhs != rhs && lhs->isBeforeInBlock(rhs);
  }
};
} // namespace

static Reason readBy(Operation *op, const Twine &why) {
  return {("'" + op->getName().getStringRef() + "' reads it" + why).str(), op};
}

/// Whether the kernel op can take `constant times the kernel` out of its bias.
static std::optional<Reason> checkAbsorbs(const KernelOp &kernel) {
  Operation *op = kernel.getOperation();
  if (kernel.isTransposed())
    return readBy(op, ", whose borders see fewer elements of the kernel");
  if (!kernel.getBias())
    return readBy(op, " and has no constant bias");
  for (Value operand : op->getOperands())
    if (auto point = operand.getDefiningOp<tpc::QuantizeOp>();
        point && point.isWeight() && point.getParametersAttr() &&
        point != kernel.getKernelPoint())
      return readBy(op, ", whose bias has been quantized");
  return std::nullopt;
}

/// Whether the op fills its result with one number beside what it moves.
static bool fills(Operation *op) {
  auto moving = dyn_cast<DataMovementOpInterface>(op);
  return moving && moving.getMovement() == Movement::Fill;
}

/// Whether the result of an op is shifted by the sum of the shifts of its
/// operands, of which these are shifted.
static bool passesShift(Operation *op, ArrayRef<unsigned> shifted) {
  if (isa<tosa::AddOp, linalg::AddOp>(op))
    return shifted.back() < getNumDataOperands(op);
  OpOperand *moved = getMovedOperand(op);
  if (!moved || shifted.size() != 1 ||
      shifted.front() != moved->getOperandNumber())
    return false;
  return getMovedOperand(op, commutesWithAffine) ||
         cast<DataMovementOpInterface>(op).getFill().has_value();
}

/// Follows the result of `point`; a reason when some reader cannot do with a
/// shifted value.
static std::variant<Reach, Reason> follow(tpc::QuantizeOp point,
                                          const KernelOps &kernelOps) {
  Reach reach;
  llvm::DenseMap<Value, int64_t> times = {{point.getOutput(), 1}};
  std::set<Operation *, InOrder> pending;
  auto addReaders = [&](Value value) -> std::optional<Reason> {
    for (Operation *reader : value.getUsers()) {
      if (reader->getBlock() != point->getBlock())
        return readBy(reader, "");
      pending.insert(reader);
    }
    return std::nullopt;
  };
  if (std::optional<Reason> reason = addReaders(point.getOutput()))
    return *reason;
  while (!pending.empty()) {
    Operation *op = *pending.begin();
    pending.erase(pending.begin());
    SmallVector<unsigned> shifted;
    int64_t total = 0;
    for (OpOperand &operand : op->getOpOperands())
      if (int64_t count = times.lookup(operand.get())) {
        shifted.push_back(operand.getOperandNumber());
        total += count;
      }
    // Doubled by every value that is added to itself.
    if (total > kMaxTimes)
      return readBy(op, ", and would be shifted more than 2^32 times");
    if (op->hasTrait<OpTrait::IsTerminator>())
      return Reason{"it leaves the function", op};
    if (std::optional<KernelOp> kernel = kernelOps.get(op)) {
      if (shifted.size() != 1 ||
          shifted.front() != kernel->getInput().getOperandNumber())
        return readBy(op, ", and not as its input");
      if (std::optional<Reason> reason = checkAbsorbs(*kernel))
        return *reason;
      reach.kernels.push_back({*kernel, total});
      continue;
    }
    if (auto other = dyn_cast<tpc::QuantizeOp>(op);
        other && other.isActivation()) {
      reach.points.push_back({other, total});
    } else if (passesShift(op, shifted)) {
      if (reach.moved.size() == kMaxReach)
        return Reason{"it reaches more than " + std::to_string(kMaxReach) +
                          " ops that pass a shift on",
                      op};
      reach.moved.push_back(op);
      if (fills(op))
        reach.pads.push_back({op, total});
    } else {
      return readBy(op, "");
    }
    times[op->getResult(0)] = total;
    if (std::optional<Reason> reason = addReaders(op->getResult(0)))
      return *reason;
  }
  if (reach.kernels.empty())
    return Reason{"no convolution or fully connected op reads it"};
  return reach;
}

//===----------------------------------------------------------------------===//
// What the shift does to a point
//===----------------------------------------------------------------------===//

namespace {
/// What a point becomes.
struct NewPoint {
  tpc::StatisticsAttr statistics;
  tpc::QuantizerAttrInterface parameters;
  tpc::RangeAttr range;
};
} // namespace

static tpc::StatisticsAttr shiftStatistics(tpc::QuantizeOp point,
                                           double offset) {
  // Never fails: the histogram has been read before.
  return *mct::shiftStatistics(point.getStatisticsAttr(), offset,
                               (point.getPointName() + kShifted).str(),
                               [&] { return point.emitOpError(); });
}

static std::string format(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.6g", value);
  return text;
}

//===----------------------------------------------------------------------===//
// The correction of one function
//===----------------------------------------------------------------------===//

namespace {
/// The options of the pass.
struct Settings {
  double ratio;
  bool thresholdRecalculation, parameterSearch, biasCorrectionFollows, remarks;
  SelectionSettings selection;

  bool mustCover() const {
    return selection.errorMethod == quantization::ErrorMethod::NoClipping &&
           selection.zThreshold == 0;
  }
};

/// A point with what calibration saw of it.
struct Observed {
  quantization::Histogram histogram;
  std::vector<Atom> atoms;
};

class Corrector {
public:
  Corrector(func::FuncOp function, const KernelOps &kernelOps,
            const Settings &settings);

  /// Corrects the result of a non-linearity, or says in a remark why not.
  LogicalResult visit(const tpc::Node &node);

private:
  std::optional<Reason> tryToShift(const tpc::Node &node,
                                   tpc::QuantizeOp point);
  FailureOr<Observed> observe(tpc::QuantizeOp point);

  std::variant<NegativeShift, Reason>
  chooseShift(tpc::QuantizeOp point, double minimum, const Observed &seen);
  std::variant<NewPoint, Reason>
  shiftPoint(tpc::QuantizeOp point, double offset, const Observed &seen);

  void apply(const tpc::Node &node, tpc::QuantizeOp point, double shift,
             const Reach &reach);
  void pad(const KernelOp &kernel, double value);
  void compensate(const KernelOp &kernel, double offset);

  StringAttr makeName(const Twine &wanted);
  void rename(Operation *op);
  void replaceInGroup(StringRef member, ArrayRef<StringRef> replacement);

  func::FuncOp function;
  const KernelOps &kernelOps;
  const Settings &settings;
  OpBuilder builder;
  llvm::StringSet<> names;
  /// By name of an op: the point whose fused group it is in.
  llvm::StringMap<tpc::QuantizeOp> pointOfMember;
  /// New names of values that are shifted.
  llvm::StringMap<StringAttr> shiftedNames;
  llvm::StringSet<> namesOfShifted;
  /// A diagnostic was emitted.
  bool hasFailed = false;
};
} // namespace

Corrector::Corrector(func::FuncOp function, const KernelOps &kernelOps,
                     const Settings &settings)
    : function(function), kernelOps(kernelOps), settings(settings),
      builder(function.getContext()) {
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = getName(argument))
      names.insert(name.getValue());
  function.walk([&](Operation *op) {
    if (StringAttr name = getName(op->getLoc()))
      names.insert(name.getValue());
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point || !point.isActivation())
      return;
    names.insert(point.getPointName());
    if (ArrayAttr group = point.getGroupAttr())
      for (auto member : group.getAsValueRange<StringAttr>())
        pointOfMember[member] = point;
    else
      pointOfMember[point.getPointName()] = point;
  });
}

LogicalResult Corrector::visit(const tpc::Node &node) {
  tpc::QuantizeOp point;
  for (Operation *user : node.result().getUsers())
    if (auto candidate = dyn_cast<tpc::QuantizeOp>(user))
      point = candidate;
  // Inside of a fused chain nothing is quantized.
  if (!point)
    return success();
  std::optional<Reason> reason = tryToShift(node, point);
  if (hasFailed)
    return failure();
  if (reason && settings.remarks) {
    InFlightDiagnostic remark = point.emitRemark()
                                << "'" << point.getPointName()
                                << "' is not shifted: " << reason->text;
    if (reason->op)
      remark.attachNote(reason->op->getLoc()) << "the op is here";
  }
  return success();
}

FailureOr<Observed> Corrector::observe(tpc::QuantizeOp point) {
  FailureOr<quantization::Histogram> histogram = getHistogram(
      point.getStatisticsAttr(), [&] { return point.emitOpError(); });
  if (failed(histogram)) {
    hasFailed = true;
    return failure();
  }
  std::vector<Atom> atoms = quantization::getAtoms(*histogram);
  return Observed{std::move(*histogram), std::move(atoms)};
}

/// Threshold of a grid without a zero point.
static std::optional<double> getThreshold(tpc::QuantizerAttrInterface grid) {
  if (auto powerOfTwo = dyn_cast<tpc::PowerOfTwoAttr>(grid))
    return powerOfTwo.getThreshold().front();
  if (auto symmetric = dyn_cast<tpc::SymmetricAttr>(grid))
    return symmetric.getThreshold().front();
  return std::nullopt;
}

/// A search for parameters like the present ones.
static quantization::SelectionOptions
getSelectionOptions(tpc::QuantizerAttrInterface parameters,
                    const SelectionSettings &settings) {
  if (auto uniform = dyn_cast<tpc::UniformAttr>(parameters))
    return settings.optionsFor(quantization::QuantizerKind::Uniform,
                               uniform.getBits());
  auto create = [&](auto grid, quantization::QuantizerKind kind) {
    quantization::SelectionOptions options =
        settings.optionsFor(kind, grid.getBits());
    options.isSigned = grid.getIsSigned();
    return options;
  };
  if (auto powerOfTwo = dyn_cast<tpc::PowerOfTwoAttr>(parameters))
    return create(powerOfTwo, quantization::QuantizerKind::PowerOfTwo);
  return create(cast<tpc::SymmetricAttr>(parameters),
                quantization::QuantizerKind::Symmetric);
}

std::variant<NegativeShift, Reason>
Corrector::chooseShift(tpc::QuantizeOp point, double minimum,
                       const Observed &seen) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  double threshold = *getThreshold(parameters);
  quantization::SelectionOptions selection =
      getSelectionOptions(parameters, settings.selection);
  if (settings.parameterSearch)
    return quantization::searchNegativeShift(seen.atoms, threshold,
                                             selection.bits);
  if (settings.thresholdRecalculation) {
    std::optional<NegativeShift> found = quantization::selectNegativeShift(
        seen.atoms, minimum, threshold, selection);
    if (!found)
      return Reason{"no shift below its threshold lifts the minimum " +
                    format(minimum) + " to zero"};
    // An unsigned step of twice the threshold is the signed one of today.
    if (found->threshold >= 2 * threshold)
      return Reason{"its threshold would go from " + format(threshold) +
                    " to " + format(found->threshold)};
    return *found;
  }
  std::optional<double> shift =
      quantization::shiftForNegative(minimum, threshold, selection.bits);
  if (!shift)
    return Reason{"no shift below its threshold lifts the minimum " +
                  format(minimum) + " to zero"};
  quantization::Grid grid = quantization::symmetricGrid(
      threshold, selection.bits, /*isSigned=*/false);
  double largest = seen.histogram.max() + *shift;
  if (largest > grid.step * double(grid.qmax))
    return Reason{"the shifted maximum " + format(largest) +
                  " exceeds the largest level " +
                  format(grid.step * double(grid.qmax)) + " of threshold " +
                  format(threshold)};
  return NegativeShift{*shift, threshold, 0};
}

static tpc::RangeAttr shiftRange(tpc::RangeAttr range, double offset) {
  if (!range)
    return {};
  auto shift = [&](std::optional<double> bound) {
    return bound ? std::optional<double>(*bound + offset) : std::nullopt;
  };
  return tpc::RangeAttr::get(range.getContext(), shift(range.getMin()),
                             shift(range.getMax()));
}

/// Whether the values of a point plus `offset` are values, and its grid one
/// that can be chosen again.
static std::optional<Reason> checkShifted(tpc::QuantizeOp point, double offset,
                                          const Observed &seen) {
  if (!std::isfinite(float(seen.histogram.min() + offset)) ||
      !std::isfinite(float(seen.histogram.max() + offset)))
    return Reason{"the values of '" + point.getPointName().str() + "' plus " +
                      format(offset) + " would leave the range of f32",
                  point};
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (parameters && parameters.getBits() > kMaxSelectableBits)
    return Reason{"the grid of '" + point.getPointName().str() + "' has " +
                      std::to_string(parameters.getBits()) +
                      " bits; parameters can be selected for at most " +
                      std::to_string(kMaxSelectableBits),
                  point};
  return std::nullopt;
}

/// A point that holds values plus `offset` from now on.
std::variant<NewPoint, Reason> Corrector::shiftPoint(tpc::QuantizeOp point,
                                                     double offset,
                                                     const Observed &seen) {
  NewPoint result;
  if (std::optional<Reason> reason = checkShifted(point, offset, seen))
    return *reason;
  result.range = shiftRange(point.getRangeAttr(), offset);
  result.statistics = shiftStatistics(point, offset);
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!parameters)
    return result;
  quantization::SelectionOptions selection =
      getSelectionOptions(parameters, settings.selection);
  double lo = seen.histogram.min() + offset, hi = seen.histogram.max() + offset;
  bool isBounded = result.range && result.range.isBounded();
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  if (!config || config.getSignedness() == tpc::Signedness::Auto)
    selection.isSigned = (isBounded ? *result.range.getMin() : lo) < 0;
  bool isUniform = selection.kind == quantization::QuantizerKind::Uniform;

  quantization::SelectedParameters selected;
  if (settings.thresholdRecalculation || isUniform) {
    std::vector<Atom> atoms = quantization::shiftAtoms(seen.atoms, offset);
    selected = isBounded ? quantization::selectForBounds(*result.range.getMin(),
                                                         *result.range.getMax(),
                                                         selection)
                         : quantization::selectForAtoms(atoms, selection);
  } else {
    selected.threshold = *getThreshold(parameters);
  }
  if (!isUniform) {
    double before = *getThreshold(parameters);
    int levelsLog2 = int(selection.bits) - selection.isSigned;
    auto covers = [&] {
      return hi <=
             selected.threshold - std::ldexp(selected.threshold, -levelsLog2);
    };
    if (!settings.thresholdRecalculation) {
      if (!covers())
        return Reason{"the shifted maximum " + format(hi) + " of '" +
                          point.getPointName().str() +
                          "' exceeds what threshold " + format(before) +
                          " can represent",
                      point};
    } else if (settings.mustCover() && !covers()) {
      if (selection.kind == quantization::QuantizerKind::PowerOfTwo)
        while (!covers() && std::isfinite(selected.threshold))
          selected.threshold *= 2;
      else
        selected.threshold =
            hi / (1 - std::ldexp(1.0, -levelsLog2)) * (1 + 1e-9);
      // A signed grid of one bit has no level above zero.
      if (!std::isfinite(selected.threshold))
        return Reason{"no threshold of " + std::to_string(selection.bits) +
                          " bits covers the shifted maximum " + format(hi) +
                          " of '" + point.getPointName().str() + "'",
                      point};
    }
  }
  result.parameters =
      createParameters(builder.getContext(), selected, selection);
  return result;
}

static quantization::Grid getGrid(tpc::QuantizerAttrInterface parameters) {
  return parameters.getGrids().front();
}

/// Whether `createSum` can follow the op that makes the value.
static bool canAdd(Value value) {
  Dialect *dialect = value.getDefiningOp()->getDialect();
  return isa_and_present<tosa::TosaDialect>(dialect) ||
         (isa_and_present<linalg::LinalgDialect>(dialect) &&
          cast<RankedTensorType>(value.getType()).hasStaticShape());
}

std::optional<Reason> Corrector::tryToShift(const tpc::Node &node,
                                            tpc::QuantizeOp point) {
  if (!point.getStatisticsAttr() || !point.getParametersAttr()) {
    InFlightDiagnostic diagnostic = point.emitOpError()
                                    << "needs statistics and parameters";
    diagnostic.attachNote() << "run mct-calibrate and mct-select-parameters "
                               "before";
    hasFailed = true;
    return std::nullopt;
  }
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (isa<tpc::UniformAttr>(parameters))
    return Reason{"its grid has a zero point"};
  std::optional<double> threshold = getThreshold(parameters);
  if (!threshold)
    return Reason{"its grid is a table"};
  quantization::SelectionOptions selection =
      getSelectionOptions(parameters, settings.selection);
  if (!selection.isSigned)
    return std::nullopt;
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  if (config && config.getSignedness() == tpc::Signedness::Signed)
    return Reason{"the target asks for a signed grid"};
  // Calibration may not have met the lowest value that can occur.
  double minimum = point.getStatisticsAttr().getMin();
  if (tpc::RangeAttr range = point.getRangeAttr(); range && range.getMin())
    minimum = std::min(minimum, *range.getMin());
  if (!quantization::isShortNegativeTail(minimum, *threshold, settings.ratio))
    return Reason{"its minimum " + format(minimum) + " is " +
                  format(-minimum / *threshold) + " of its threshold " +
                  format(*threshold) + ", more than the ratio " +
                  format(settings.ratio)};
  if (!canAdd(node.result()))
    return Reason{"its op is neither of TOSA nor of linalg with a static shape",
                  node.root()};

  std::variant<Reach, Reason> followed = follow(point, kernelOps);
  if (auto *reason = std::get_if<Reason>(&followed))
    return *reason;
  const Reach &reach = std::get<Reach>(followed);

  FailureOr<Observed> seen = observe(point);
  if (failed(seen))
    return std::nullopt;
  if (std::optional<Reason> reason = checkShifted(point, 0, *seen))
    return *reason;
  std::variant<NegativeShift, Reason> chosen =
      chooseShift(point, minimum, *seen);
  if (auto *reason = std::get_if<Reason>(&chosen))
    return *reason;
  const NegativeShift &shift = std::get<NegativeShift>(chosen);
  if (std::optional<Reason> reason = checkShifted(point, shift.shift, *seen))
    return *reason;

  // The point itself, then those on the way.
  selection.isSigned = false;
  quantization::SelectedParameters selected;
  selected.threshold = shift.threshold;
  NewPoint own;
  own.range = shiftRange(point.getRangeAttr(), shift.shift);
  own.statistics = shiftStatistics(point, shift.shift);
  own.parameters = createParameters(builder.getContext(), selected, selection);
  double before =
      quantization::meanSquaredError(seen->atoms, getGrid(parameters));
  double after = quantization::meanSquaredError(
      quantization::shiftAtoms(seen->atoms, shift.shift),
      getGrid(own.parameters));
  SmallVector<std::pair<tpc::QuantizeOp, NewPoint>> newPoints = {{point, own}};
  for (auto [other, times] : reach.points) {
    double offset = times * shift.shift;
    if (offset == 0)
      continue;
    tpc::QuantizerAttrInterface old = other.getParametersAttr();
    if (!other.getStatisticsAttr()) {
      if (!old)
        continue;
      return Reason{"'" + other.getPointName().str() +
                        "' behind it has parameters but no statistics",
                    other};
    }
    if (old && old.getGrids().empty())
      return Reason{"the grid of '" + other.getPointName().str() +
                        "' behind it is a table",
                    other};
    FailureOr<Observed> otherSeen = observe(other);
    if (failed(otherSeen))
      return std::nullopt;
    std::variant<NewPoint, Reason> moved =
        shiftPoint(other, offset, *otherSeen);
    if (auto *reason = std::get_if<Reason>(&moved))
      return *reason;
    newPoints.push_back({other, std::get<NewPoint>(moved)});
    if (!old)
      continue;
    before += quantization::meanSquaredError(otherSeen->atoms, getGrid(old));
    after += quantization::meanSquaredError(
        quantization::shiftAtoms(otherSeen->atoms, offset),
        getGrid(newPoints.back().second.parameters));
  }
  if (after >= before)
    return Reason{"the mean squared error of its points would go from " +
                  format(before) + " to " + format(after)};

  if (settings.remarks)
    point.emitRemark() << "'" << point.getPointName() << "' is shifted by "
                       << format(shift.shift) << ": threshold "
                       << format(*threshold) << " to "
                       << format(shift.threshold)
                       << ", mean squared error of its points "
                       << format(before) << " to " << format(after);
  for (auto &[changed, attributes] : newPoints) {
    changed.setStatisticsAttr(attributes.statistics);
    changed.setParametersAttr(attributes.parameters);
    changed.setRangeAttr(attributes.range);
  }
  if (shift.shift != 0)
    apply(node, point, shift.shift, reach);
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// The rewrite
//===----------------------------------------------------------------------===//

StringAttr Corrector::makeName(const Twine &wanted) {
  std::string name = wanted.str();
  for (unsigned number = 1; !names.insert(name).second; ++number)
    name = (wanted + "_" + Twine(number)).str();
  return builder.getStringAttr(name);
}

/// In the list of fused ops that has it.
void Corrector::replaceInGroup(StringRef member,
                               ArrayRef<StringRef> replacement) {
  tpc::QuantizeOp point = pointOfMember.lookup(member);
  if (!point)
    return;
  SmallVector<StringRef> group;
  if (ArrayAttr present = point.getGroupAttr())
    llvm::append_range(group, present.getAsValueRange<StringAttr>());
  else
    group.push_back(point.getPointName());
  SmallVector<StringRef> changed;
  for (StringRef other : group)
    if (other == member)
      llvm::append_range(changed, replacement);
    else
      changed.push_back(other);
  for (StringRef added : replacement)
    pointOfMember[added] = point;
  if (changed.size() > 1)
    point.setGroupAttr(builder.getStrArrayAttr(changed));
}

void Corrector::rename(Operation *op) {
  StringAttr old = getName(op->getLoc());
  if (!old || namesOfShifted.contains(old.getValue()))
    return;
  StringAttr name = makeName(old.getValue() + kShifted);
  namesOfShifted.insert(name.getValue());
  shiftedNames[old.getValue()] = name;
  op->setLoc(NameLoc::get(name, op->getLoc()));
  replaceInGroup(old.getValue(), {name.getValue()});
}

/// A tensor of one number, with `rank` axes.
static Value createNumber(OpBuilder &builder, Location loc, double value,
                          int64_t rank) {
  SmallVector<int64_t> shape(rank, 1);
  return createConstant(builder, loc,
                        RankedTensorType::get(shape, builder.getF32Type()),
                        static_cast<float>(value), "shift");
}

/// `value + shift`, in the dialect of the op that makes the value.
static Value createSum(OpBuilder &builder, Location loc, Value value,
                       double shift) {
  auto type = cast<RankedTensorType>(value.getType());
  if (isa<tosa::TosaDialect>(value.getDefiningOp()->getDialect()))
    return tosa::AddOp::create(
        builder, loc, type, value,
        createNumber(builder, loc, shift, type.getRank()));
  Value number = arith::ConstantOp::create(
      builder, loc, builder.getF32FloatAttr(static_cast<float>(shift)));
  Value empty = tensor::EmptyOp::create(builder, loc, type.getShape(),
                                        type.getElementType());
  auto filled = linalg::FillOp::create(builder, loc, ValueRange(number),
                                       ValueRange(empty));
  auto sum = linalg::AddOp::create(builder, loc, TypeRange(type),
                                   ValueRange{value, filled->getResult(0)},
                                   ValueRange(empty));
  return sum->getResult(0);
}

void Corrector::pad(const KernelOp &kernel, double value) {
  OpOperand &input = kernel.getInput();
  auto type = cast<RankedTensorType>(input.get().getType());
  SmallVector<int64_t> shape(type.getShape());
  // Batch and channels stay, what is between them is padded.
  SmallVector<int64_t> sizes(2 * type.getRank(), 0);
  for (auto [index, size] : llvm::enumerate(kernel.getPadding())) {
    sizes[2 + index] = size;
    int64_t &extent = shape[1 + index / 2];
    if (!ShapedType::isDynamic(extent))
      extent += size;
  }
  builder.setInsertionPoint(kernel.getOperation());
  Location loc = kernel.getLoc();
  StringAttr name = getName(loc);
  if (name) {
    StringAttr padName = makeName(name.getValue() + "_pad");
    loc = NameLoc::get(padName, loc);
    replaceInGroup(name.getValue(), {padName.getValue(), name.getValue()});
  }
  auto shapeType =
      tosa::shapeType::get(builder.getContext(), int64_t(sizes.size()));
  Value amounts = tosa::ConstShapeOp::create(builder, loc, shapeType,
                                             builder.getIndexTensorAttr(sizes));
  auto padded = tosa::PadOp::create(
      builder, loc, RankedTensorType::get(shape, type.getElementType()),
      input.get(), amounts, createNumber(builder, loc, value, 1));
  input.set(padded.getOutput());
  KernelOp unpadded = kernel;
  unpadded.setPadding(SmallVector<int64_t>(kernel.getPadding().size(), 0));
}

void Corrector::compensate(const KernelOp &kernel, double offset) {
  ConstantFloats constant = kernel.getKernel();
  std::vector<float> quantized;
  ArrayRef<float> values = constant.values();
  tpc::QuantizeOp point = kernel.getKernelPoint();
  if (!settings.biasCorrectionFollows && point && point.getParametersAttr()) {
    quantized.resize(values.size());
    point.getParametersAttr().fakeQuantize(kernel.getKernelShape(),
                                           point.getChannelAxes(),
                                           values.data(), quantized.data());
    values = quantized;
  }
  std::vector<double> shift(kernel.numInputChannels(), offset);
  std::vector<float> bias = *kernel.getBias();
  for (auto [channel, sum] : llvm::enumerate(kernel.contract(values, shift)))
    bias[channel] = static_cast<float>(bias[channel] - sum);
  tpc::CorrectionsAttr corrections = kernel.getCorrections();
  if (corrections) {
    // The float layer makes what it did: its own kernel takes the shift out.
    std::vector<double> inFloat = kernel.contract(constant.values(), shift);
    for (auto [channel, sum] : llvm::enumerate(inFloat))
      sum /= -corrections.getScaleOf(channel);
    corrections = kernel.getCorrectionsAfter(bias, /*scale=*/{}, inFloat);
  }
  kernel.setBias(builder, bias, corrections);
}

void Corrector::apply(const tpc::Node &node, tpc::QuantizeOp point,
                      double shift, const Reach &reach) {
  // The sum behind the non-linearity, fused with it.
  Value result = node.result();
  StringAttr oldName = point.getPointNameAttr();
  StringAttr name = makeName(oldName.getValue() + kShifted);
  namesOfShifted.insert(name.getValue());
  Location loc = NameLoc::get(name, node.root()->getLoc());
  builder.setInsertionPointAfter(node.root());
  point.getInputMutable().set(createSum(builder, loc, result, shift));
  SmallVector<Attribute> group;
  if (ArrayAttr present = point.getGroupAttr())
    llvm::append_range(group, present);
  else
    group.push_back(oldName);
  group.push_back(name);
  point.setGroupAttr(builder.getArrayAttr(group));
  point.setPointNameAttr(name);
  pointOfMember[oldName.getValue()] = point;
  pointOfMember[name.getValue()] = point;

  for (Operation *op : reach.moved)
    rename(op);
  for (tpc::QuantizeOp other : llvm::make_first_range(reach.points)) {
    StringRef old = other.getPointName();
    if (namesOfShifted.contains(old))
      continue;
    StringAttr &renamed = shiftedNames[old];
    if (!renamed) {
      renamed = makeName(old + kShifted);
      namesOfShifted.insert(renamed.getValue());
    }
    other.setPointNameAttr(renamed);
  }
  for (auto [op, times] : reach.pads) {
    auto pad = cast<DataMovementOpInterface>(op);
    pad.setFill(builder, static_cast<float>(*pad.getFill() + times * shift));
  }
  for (const auto &[kernel, times] : reach.kernels) {
    if (kernel.hasPadding())
      pad(kernel, times * shift);
    compensate(kernel, times * shift);
  }
}

namespace {
struct CorrectShiftNegativePass
    : public WithOpModels<
          mct::impl::CorrectShiftNegativePassBase<CorrectShiftNegativePass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!(ratio >= 0)) {
      module.emitError() << "the ratio of negative shifts must be 0 or more, "
                            "but is "
                         << format(ratio);
      return signalPassFailure();
    }
    Settings settings = {
        ratio,
        thresholdRecalculation,
        parameterSearch,
        biasCorrectionFollows,
        remarks,
        {errorMethod, lpNorm, percentile, minThreshold, zThreshold}};
    if (failed(settings.selection.verify([&] { return module.emitError(); })))
      return signalPassFailure();
    if (errorMethod == quantization::ErrorMethod::HMSE) {
      module.emitError() << "error-method=hmse weighs the elements of kernels; "
                            "for activations use mse";
      return signalPassFailure();
    }
    FailureOr<tpc::TpcLookup> lookup = tpc::TpcLookup::create(module);
    if (failed(lookup))
      return signalPassFailure();
    KernelOps kernelOps = KernelOps::forModule(module);
    for (auto function : module.getOps<func::FuncOp>()) {
      // Points are only put into networks without control flow.
      if (!function.getBody().hasOneBlock())
        continue;
      FailureOr<SmallVector<tpc::Node>> nodes =
          lookup->match(function.getBody().front());
      if (failed(nodes))
        return signalPassFailure();
      Corrector corrector(function, kernelOps, settings);
      for (const tpc::Node &node : *nodes)
        if (isNonLinearity(node) && failed(corrector.visit(node)))
          return signalPassFailure();
    }
  }
};
} // namespace
