// SPDX-License-Identifier: Apache-2.0
#include "SplitLayers.h"
#include "mct/IR/Constants.h"
#include "mct/IR/NestedPasses.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/Decoding.h"
#include "mct/Planning/Overrides.h"
#include "mct/Transforms/Passes.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SetVector.h"

namespace mct {
#define GEN_PASS_DEF_SPLITSHAREDGRIDSPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Three of eight bits: a value that is this much smaller than its neighbours
/// has five of them.
static constexpr double kRangeFactor = 8;

/// Most ops that are visited between a concatenation and its users.
static constexpr size_t kMaxOps = 1024;

/// Returns whether each element of an op's result is an element of an operand
/// or a number that is filled in. Max pooling does not count: it compares
/// values, which need a common grid.
static bool isMoving(Operation *op) {
  auto moving = dyn_cast_or_null<DataMovementOpInterface>(op);
  std::optional<Movement> movement =
      moving ? moving.getMovement() : std::nullopt;
  return movement && takesElements(*movement) && *movement != Movement::Extreme;
}

/// Returns the largest magnitude that calibration observed.
static double getMagnitude(tpc::StatisticsAttr statistics) {
  return std::max(std::abs(statistics.getMin()), std::abs(statistics.getMax()));
}

/// Returns the name of a point, or a description of another value.
static std::string describeSource(Value value) {
  if (auto point = value.getDefiningOp<tpc::QuantizeOp>())
    return "'" + point.getPointName().str() + "'";
  return "a constant";
}

namespace {
/// The sources of a shared grid with the smallest and the largest nonzero
/// magnitude: points or constants, or the points of groups of channels.
struct Extremes {
  std::pair<Value, double> smallest, largest;

  void add(Value source, double magnitude) {
    if (!(magnitude > 0))
      return;
    if (!smallest.first || magnitude < smallest.second)
      smallest = {source, magnitude};
    if (!largest.first || magnitude > largest.second)
      largest = {source, magnitude};
  }
  bool areFarApart() const {
    return smallest.first && largest.second > kRangeFactor * smallest.second;
  }
  /// Begins a record about the point that holds both.
  Record describe(tpc::QuantizeOp point, Decision decision, Reason reason,
                  Operation *at) const {
    return Record(decision, reason, at)
           << "'" << point.getPointName() << "' holds "
           << named("smallest", describeSource(smallest.first)) << " up to "
           << named("smallest_magnitude", smallest.second, "%.3g") << " and "
           << named("largest", describeSource(largest.first)) << " up to "
           << named("largest_magnitude", largest.second, "%.3g") << ", ";
  }
};

/// The values whose elements a value consists of.
struct Sources {
  /// Points and constants.
  llvm::SmallSetVector<Value, 8> values;
  /// True if there is a source without a point, or there are too many ops.
  bool hasOther = false;
  Extremes extremes;

  bool isMixed() const { return extremes.areFarApart(); }
};

struct SplitSharedGridsPass
    : public WithOpModels<
          mct::impl::SplitSharedGridsPassBase<SplitSharedGridsPass>> {
  using WithOpModels::WithOpModels;

  void getDependentDialects(DialectRegistry &registry) const override {
    WithOpModels::getDependentDialects(registry);
    for (const OpPassManager &passes : completedBy)
      passes.getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (failed(splitLayers()))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (failed(splitConcatenations(function)))
        return signalPassFailure();
  }

private:
  /// Splits or scales layers whose channels are separated again by slices into
  /// groups of very different ranges.
  LogicalResult splitLayers();
  /// Scales the groups of a layer that is decoded in float to a common range;
  /// the decoding part divides by the factors. Returns false, without changes,
  /// if a common grid would lose a bit for one of them. `groups`: points with
  /// statistics.
  bool scaleLayer(SlicedLayer &layer, ArrayRef<GroupPoints> groups,
                  const Extremes &extremes);
  /// Sets the statistics and parameters of the points of scaled layers.
  LogicalResult completeScaled(ArrayRef<SlicedLayer *> scaled);

  LogicalResult splitConcatenations(func::FuncOp function) {
    FailureOr<Overrides> found = Overrides::getFrom(function);
    if (failed(found))
      return failure();
    // In program order, so that a concatenation can also split the values that
    // an earlier one passes to it.
    SmallVector<tpc::QuantizeOp> points;
    function.walk([&](tpc::QuantizeOp point) {
      if (point.isActivation() && point.getStatisticsAttr() &&
          !point.getParametersAttr() &&
          isMoving(point.getInput().getDefiningOp()))
        points.push_back(point);
    });
    SmallVector<std::string> floats;
    for (tpc::QuantizeOp point : points)
      if (!erased.contains(point))
        split(point, floats);
    for (tpc::QuantizeOp point : erased)
      point.erase();
    erased.clear();
    Overrides::append(function, floats);
    return success();
  }

  Sources findSources(Value value);
  void split(tpc::QuantizeOp point, SmallVectorImpl<std::string> &floats);
  /// Returns the op that uses a moved value and needs one grid for all of it,
  /// or null if there is none. `between`: receives the points on the way that
  /// only repeat the grid.
  Operation *findGridUser(OpOperand &use,
                          SmallVectorImpl<tpc::QuantizeOp> &between,
                          SmallVectorImpl<tosa::SliceOp> &slices);

  /// Points without users, which are erased at the end.
  llvm::SmallSetVector<tpc::QuantizeOp, 8> erased;
};
} // namespace

Sources SplitSharedGridsPass::findSources(Value value) {
  Sources sources;
  auto add = [&](Value source, double magnitude) {
    if (sources.values.insert(source))
      sources.extremes.add(source, magnitude);
  };
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t next = 0; next != open.size(); ++next) {
    Operation *op = open[next].getDefiningOp();
    auto point = dyn_cast_or_null<tpc::QuantizeOp>(op);
    if (point && point.isActivation() && point.getStatisticsAttr()) {
      add(open[next], getMagnitude(point.getStatisticsAttr()));
      continue;
    }
    Value constant = point && point.isWeight() ? point.getInput() : open[next];
    if (std::optional<ConstantFloats> numbers = ConstantFloats::get(constant)) {
      double magnitude = 0;
      for (float number : numbers->values())
        magnitude = std::max(magnitude, std::abs(double(number)));
      add(open[next], magnitude);
      continue;
    }
    if (!isMoving(op) || open.size() > kMaxOps) {
      sources.hasOther = true;
      return sources;
    }
    for (unsigned number : cast<DataMovementOpInterface>(op).getMovedOperands())
      open.insert(op->getOperand(number));
  }
  return sources;
}

/// Returns the layers with statistics whose channels slices separate again, in
/// the order of the module.
static std::vector<SlicedLayer> findSlicedLayers(ModuleOp module,
                                                 const KernelOps &kernels) {
  std::vector<SlicedLayer> found;
  module.walk([&](tpc::QuantizeOp point) {
    if (!point.getStatisticsAttr() || point.getParametersAttr())
      return;
    if (std::optional<SlicedLayer> layer = findSlicedLayer(point, kernels))
      found.push_back(std::move(*layer));
  });
  return found;
}

/// Copies the statistics or parameters of the corresponding point of another
/// module.
static void takeFrom(tpc::QuantizeOp point, tpc::QuantizeOp same) {
  if (!point)
    return;
  if (point.isActivation())
    point.setStatisticsAttr(same.getStatisticsAttr());
  else if (same.getParametersAttr())
    point.setQuantizer(same.getParametersAttr(), same.getSelectionAttr());
}

/// The ops of the decoding part of a block; empty if it has none.
using DecodingOps = llvm::SmallPtrSet<Operation *, 16>;

/// Returns whether only the decoding part `part`, in float, uses the point.
static bool isDecodedInFloat(tpc::QuantizeOp point, const DecodingOps &part) {
  llvm::SetVector<Operation *> open;
  open.insert_range(point.getResult().getUsers());
  for (size_t next = 0; next != open.size(); ++next) {
    Operation *op = open[next];
    if (op->hasTrait<OpTrait::IsTerminator>())
      continue;
    if (!part.contains(op) || isa<tpc::QuantizeOp>(op))
      return false;
    open.insert_range(op->getUsers());
  }
  return true;
}

LogicalResult SplitSharedGridsPass::splitLayers() {
  if (completedBy.empty())
    return success();
  const KernelOps &kernels = getAnalysis<KernelOps>();
  std::vector<SlicedLayer> layers = findSlicedLayers(getOperation(), kernels);
  if (layers.empty())
    return success();
  // The ranges of groups are those of points that exist only after splitting,
  // so split all layers of a copy.
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  SmallVector<SmallVector<GroupPoints>> measured;
  std::vector<SlicedLayer> copies = findSlicedLayers(*copy, kernels);
  for (SlicedLayer &layer : copies)
    measured.push_back(splitLayer(layer));
  // The surrounding pipeline has emitted these diagnostics already.
  if (failed(runQuietly(completedBy, *copy)))
    return failure();
  // Determine this first, while all layers are those of the analysis.
  llvm::DenseMap<Block *, DecodingOps> decodings;
  llvm::SmallPtrSet<Operation *, 4> decoded;
  for (SlicedLayer &layer : layers) {
    Block *block = layer.point->getBlock();
    auto [part, isNew] = decodings.try_emplace(block);
    if (isNew)
      if (std::optional<Decoding> found = findDecoding(*block, kernels))
        part->second.insert_range(found->ops);
    if (!part->second.empty() && isDecodedInFloat(layer.point, part->second))
      decoded.insert(layer.point);
  }
  SmallVector<SlicedLayer *> scaled;
  for (auto [layer, groups] : llvm::zip_equal(layers, measured)) {
    Extremes extremes;
    for (const GroupPoints &group : groups) {
      tpc::QuantizeOp point = group.result;
      if (!point.getStatisticsAttr())
        return getOperation().emitError()
               << "'completed-by' leaves point '" << point.getPointName()
               << "' without statistics; give passes that calibrate";
      extremes.add(point.getResult(), getMagnitude(point.getStatisticsAttr()));
    }
    if (!extremes.areFarApart())
      continue;
    if (decoded.contains(layer.point) && scaleLayer(layer, groups, extremes)) {
      scaled.push_back(&layer);
      continue;
    }
    emitRecord(layer.point, getArgument(),
               extremes.describe(layer.point, Decision::Applied,
                                 Reason::GridSplit, nullptr)
                   << "and slices separate them again: the layer becomes "
                   << named("layers", int64_t(groups.size()))
                   << " layers, each with a grid of its own");
    for (auto [split, from] : llvm::zip_equal(splitLayer(layer), groups)) {
      takeFrom(split.result, from.result);
      for (auto [after, same] : llvm::zip_equal(split.after, from.after))
        takeFrom(after, same);
      takeFrom(split.kernel, from.kernel);
    }
  }
  return completeScaled(scaled);
}

bool SplitSharedGridsPass::scaleLayer(SlicedLayer &layer,
                                      ArrayRef<GroupPoints> groups,
                                      const Extremes &extremes) {
  SmallVector<std::pair<double, double>> ranges;
  for (const GroupPoints &group : groups) {
    tpc::StatisticsAttr statistics =
        tpc::QuantizeOp(group.result).getStatisticsAttr();
    ranges.emplace_back(statistics.getMin(), statistics.getMax());
  }
  std::optional<SmallVector<int>> exponents = findCommonRange(ranges);
  if (!exponents)
    return false;
  Record record = extremes.describe(layer.point, Decision::Applied,
                                    Reason::PartsRescaled, nullptr);
  if (!scaleGroups(layer, *exponents))
    return false;
  emitRecord(layer.point, getArgument(),
             record << "and what decodes them stays float: "
                    << named("scaled", llvm::count_if(*exponents,
                                                      [](int exponent) {
                                                        return exponent != 0;
                                                      }))
                    << " of its " << std::to_string(groups.size())
                    << " groups of channels take powers of two in the layer, "
                       "which a product behind it takes back");
  return true;
}

LogicalResult
SplitSharedGridsPass::completeScaled(ArrayRef<SlicedLayer *> scaled) {
  if (scaled.empty())
    return success();
  OwningOpRef<ModuleOp> copy = getOperation().clone();
  SmallVector<tpc::QuantizeOp> points, completed;
  getOperation().walk([&](tpc::QuantizeOp each) { points.push_back(each); });
  copy->walk([&](tpc::QuantizeOp each) { completed.push_back(each); });
  if (failed(runQuietly(completedBy, *copy)))
    return failure();
  llvm::SmallDenseSet<Operation *> taking;
  for (const SlicedLayer *layer : scaled) {
    taking.insert(layer->point);
    if (tpc::QuantizeOp kernel = layer->layer.getKernelPoint())
      taking.insert(kernel);
  }
  for (auto [point, same] : llvm::zip_equal(points, completed))
    if (taking.contains(point))
      takeFrom(point, same);
  return success();
}

/// Returns the operand of a concatenation from which a slice is taken, and sets
/// `start` to its position there; null if it is taken from several operands or
/// from another op. `value`: the operand of the slice, or the value that would
/// replace it.
static Value findPart(tosa::SliceOp slice, Value value, int64_t &start) {
  auto concat = value.getDefiningOp<tosa::ConcatOp>();
  SmallVector<int64_t> starts, sizes;
  if (!concat || !slice.getStart().getDefiningOp() ||
      !slice.getSize().getDefiningOp() ||
      !tosa::getConstShapeValues(slice.getStart().getDefiningOp(), starts) ||
      !tosa::getConstShapeValues(slice.getSize().getDefiningOp(), sizes))
    return {};
  int64_t axis = concat.getAxis();
  start = starts[axis];
  for (Value operand : concat.getInput1()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.isDynamicDim(axis))
      return {};
    if (start < type.getDimSize(axis))
      return start + sizes[axis] <= type.getDimSize(axis) ? operand : Value();
    start -= type.getDimSize(axis);
  }
  return {};
}

/// Takes the slice directly from the operand of the concatenation that contains
/// it.
static void cutFromPart(tosa::SliceOp slice) {
  int64_t start;
  while (Value part = findPart(slice, slice.getInput1(), start)) {
    auto concat = slice.getInput1().getDefiningOp<tosa::ConcatOp>();
    SmallVector<int64_t> starts;
    (void)tosa::getConstShapeValues(slice.getStart().getDefiningOp(), starts);
    starts[concat.getAxis()] = start;
    ImplicitLocOpBuilder builder(slice.getLoc(), slice);
    slice.getInput1Mutable().assign(part);
    slice.getStartMutable().assign(tosa::getTosaConstShape(builder, starts));
  }
  if (slice.getInput1().getType() != slice.getType())
    return;
  slice.getResult().replaceAllUsesWith(slice.getInput1());
  slice.erase();
}

Operation *
SplitSharedGridsPass::findGridUser(OpOperand &use,
                                   SmallVectorImpl<tpc::QuantizeOp> &between,
                                   SmallVectorImpl<tosa::SliceOp> &slices) {
  auto point = use.get().getDefiningOp<tpc::QuantizeOp>();
  SmallVector<OpOperand *> open = {&use};
  llvm::SmallPtrSet<Operation *, 8> visited;
  while (!open.empty()) {
    OpOperand *next = open.pop_back_val();
    Operation *user = next->getOwner();
    if (!visited.insert(user).second)
      continue;
    if (visited.size() > kMaxOps)
      return user;
    if (isa<func::ReturnOp>(user))
      continue;
    if (auto after = dyn_cast<tpc::QuantizeOp>(user)) {
      tpc::OpQuantConfigAttr config =
          after.isActivation() ? after.getActivationConfig() : nullptr;
      // A point with its own grid is handled separately.
      if (!config || !config.getPreserving())
        continue;
      between.push_back(after);
    } else if (!isMoving(user)) {
      return user;
    }
    if (auto slice = dyn_cast<tosa::SliceOp>(user)) {
      int64_t start;
      Value part = slice.getInput1() == point.getResult()
                       ? findPart(slice, point.getInput(), start)
                       : Value();
      // The slices separate the parts again.
      if (part && !findSources(part).isMixed()) {
        slices.push_back(slice);
        continue;
      }
    }
    for (OpOperand &each : user->getResult(0).getUses())
      open.push_back(&each);
  }
  return nullptr;
}

void SplitSharedGridsPass::split(tpc::QuantizeOp point,
                                 SmallVectorImpl<std::string> &floats) {
  Sources sources = findSources(point.getInput());
  if (!sources.isMixed())
    return;
  auto describe = [&](Decision decision, Reason reason, Operation *at) {
    return sources.extremes.describe(point, decision, reason, at);
  };
  if (sources.hasOther) {
    if (remarks)
      emitRecord(point, getArgument(),
                 describe(Decision::Declined, Reason::PartWithoutPoint, nullptr)
                     << "and keeps one grid for both, as another part has no "
                        "quantizer of its own");
    return;
  }
  SmallVector<OpOperand *> free;
  SmallVector<tpc::QuantizeOp> between;
  SmallVector<tosa::SliceOp> slices;
  Operation *gridUser = nullptr;
  for (OpOperand &use : point.getResult().getUses()) {
    SmallVector<tpc::QuantizeOp> repeated;
    SmallVector<tosa::SliceOp> separating;
    if (Operation *found = findGridUser(use, repeated, separating)) {
      gridUser = found;
      continue;
    }
    free.push_back(&use);
    between.append(repeated);
    slices.append(separating);
  }
  if (gridUser && remarks)
    emitRecord(point, getArgument(),
               describe(Decision::Declined, Reason::UserNeedsGrid, gridUser)
                   << "and keeps one grid for both: '"
                   << gridUser->getName().getStringRef() << "' reads it")
            .attachNote(gridUser->getLoc())
        << "it is read here";
  if (free.empty())
    return;
  for (OpOperand *use : free)
    use->set(point.getInput());
  for (tosa::SliceOp slice : slices)
    cutFromPart(slice);
  auto drop = [&](tpc::QuantizeOp dropped) {
    if (!erased.insert(dropped))
      return;
    dropped.getResult().replaceAllUsesWith(dropped.getInput());
    floats.push_back("?" + selectByName(dropped.getPointName()) +
                     " activation=float");
  };
  llvm::for_each(between, drop);
  if (!gridUser)
    drop(point);
  emitRecord(point, getArgument(),
             describe(Decision::Applied, Reason::GridSplit, nullptr)
                 << (gridUser ? "and what moves it past its quantizer gets no "
                                "common grid"
                              : "and gets no common grid")
                 << ": each part keeps its own");
}
