// SPDX-License-Identifier: Apache-2.0
#include "SplitLayers.h"

#include "ScaledRegion.h"
#include "ScalingPath.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Names.h"
#include "mct/Transforms/MovedChannels.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;

/// Most ops that are visited between a point and its slices.
static constexpr size_t kMaxSlicedOps = 1024;

std::string ChannelGroup::getName(StringRef ofAll) const {
  return (ofAll + "_channels_" + Twine(start) + "_" + Twine(start + size - 1))
      .str();
}

static RankedTensorType getStaticType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : RankedTensorType();
}

/// Returns the channels of a slice that covers all other axes, or none if it
/// takes all channels or its bounds are not constant.
static std::optional<ChannelGroup> findGroup(tosa::SliceOp slice,
                                             int64_t axis) {
  SmallVector<int64_t> starts, sizes;
  RankedTensorType type = getStaticType(slice.getInput1());
  if (!slice.getStart().getDefiningOp() || !slice.getSize().getDefiningOp() ||
      !tosa::getConstShapeValues(slice.getStart().getDefiningOp(), starts) ||
      !tosa::getConstShapeValues(slice.getSize().getDefiningOp(), sizes) ||
      sizes[axis] == type.getDimSize(axis))
    return std::nullopt;
  for (int64_t other = 0; other != type.getRank(); ++other)
    if (other != axis &&
        (starts[other] != 0 || sizes[other] != type.getDimSize(other)))
      return std::nullopt;
  ChannelGroup group;
  group.start = starts[axis];
  group.size = sizes[axis];
  return group;
}

/// Returns whether the layer is one op (for a matrix product, also the addition
/// of its bias) whose kernel and bias can be split.
static bool canDivide(const KernelOp &layer, Value result) {
  Operation *op = layer.getOperation();
  if (!isa<tosa::Conv2DOp, tosa::Conv3DOp, tosa::TransposeConv2DOp,
           tosa::MatMulOp>(op) ||
      layer.getOutAxes().size() != 1 || layer.isDepthwise() ||
      !layer.getBias() || !result.hasOneUse())
    return false;
  if (tpc::QuantizeOp point = layer.getKernelPoint())
    if (point.getCorrectionsAttr() ||
        point.getInput() != layer.getKernelConstant())
      return false;
  if (!isa<tosa::MatMulOp>(op))
    return op->getOperand(2) == layer.getBiasConstant();
  Operation *last = result.getDefiningOp();
  return last == op ||
         (isa<tosa::AddOp>(last) && op->hasOneUse() &&
          llvm::is_contained(last->getOperands(), op->getResult(0)) &&
          llvm::is_contained(last->getOperands(), layer.getBiasConstant()));
}

/// Returns whether an op computes each element of its result from the same
/// element of its only operand.
static bool isFunctionOfElements(Operation *op) {
  return isa<tosa::SigmoidOp, tosa::TanhOp, tosa::ExpOp, tosa::ClampOp>(op);
}

/// Returns whether the point only repeats the grid of its operand.
static bool isRepeated(tpc::QuantizeOp point) {
  tpc::OpQuantConfigAttr config = point.getActivationConfig();
  return config && config.getPreserving();
}

std::optional<SlicedLayer> mct::findSlicedLayer(tpc::QuantizeOp point,
                                                const KernelOps &kernels) {
  Operation *op = point.getInput().getDefiningOp();
  if (!op || !point.isActivation() || !getStaticType(point.getResult()))
    return std::nullopt;
  std::optional<KernelOp> layer = kernels.get(op);
  // The bias of a matrix product is added by a separate op.
  if (!layer && isa<tosa::AddOp>(op))
    for (Value operand : op->getOperands())
      if (auto product = operand.getDefiningOp<tosa::MatMulOp>())
        if (std::optional<KernelOp> found = kernels.get(product);
            found && found->getResult() == point.getInput())
          layer = found;
  if (!layer || layer->getResult() != point.getInput() ||
      !canDivide(*layer, point.getInput()))
    return std::nullopt;

  SlicedLayer sliced(point, *layer);
  sliced.axisOf[point.getResult()] = layer->resultAxis();
  llvm::MapVector<std::pair<int64_t, int64_t>, ChannelGroup> groups;
  SmallVector<Value> open{point.getResult()};
  while (!open.empty()) {
    Value value = open.pop_back_val();
    int64_t axis = sliced.axisOf[value];
    for (Operation *user : value.getUsers()) {
      if (user->getBlock() != point->getBlock() ||
          sliced.axisOf.size() > kMaxSlicedOps)
        return std::nullopt;
      std::optional<int64_t> moved;
      if (auto after = dyn_cast<tpc::QuantizeOp>(user)) {
        bool isOwn = isFunctionOfElements(value.getDefiningOp()) &&
                     after.getStatisticsAttr();
        if (!after.getParametersAttr() && (isOwn || isRepeated(after)))
          moved = axis;
      } else if (isFunctionOfElements(user)) {
        moved = axis;
      } else if (auto slice = dyn_cast<tosa::SliceOp>(user)) {
        std::optional<ChannelGroup> group = findGroup(slice, axis);
        if (!group)
          return std::nullopt;
        groups.insert({{group->start, group->size}, *group})
            .first->second.slices.push_back(slice);
        continue;
      } else {
        moved = findMovedAxis(user, axis);
      }
      if (!moved || !getStaticType(user->getResult(0)))
        return std::nullopt;
      sliced.axisOf[user->getResult(0)] = *moved;
      open.push_back(user->getResult(0));
    }
  }
  for (auto &[channels, group] : groups) {
    llvm::sort(group.slices, [](tosa::SliceOp lhs, tosa::SliceOp rhs) {
      return lhs->isBeforeInBlock(rhs);
    });
    sliced.groups.push_back(std::move(group));
  }
  llvm::sort(sliced.groups,
             [](const ChannelGroup &lhs, const ChannelGroup &rhs) {
               return lhs.start < rhs.start;
             });
  for (size_t next = 1; next < sliced.groups.size(); ++next)
    if (sliced.groups[next - 1].start + sliced.groups[next - 1].size >
        sliced.groups[next].start)
      return std::nullopt;
  if (sliced.groups.size() < 2)
    return std::nullopt;
  return sliced;
}

namespace {
/// Creates the layer of one group.
class GroupWriter {
public:
  GroupWriter(SlicedLayer &sliced, const ChannelGroup &group)
      : sliced(sliced), group(group), builder(sliced.point) {}

  GroupPoints write();

private:
  /// Returns the type of a value, restricted to the channels of the group along
  /// `axis`.
  RankedTensorType getType(Value value, int64_t axis) const {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] = group.size;
    return type.clone(shape);
  }
  Location getLoc(Operation *op) const {
    StringAttr name = mct::getName(op->getLoc());
    return name ? Location(NameLoc::get(
                      StringAttr::get(op->getContext(), group.getName(name)),
                      op->getLoc()))
                : op->getLoc();
  }
  Value writeKernel();
  Value writeLayer();
  /// Returns the group's channels of a value between the point and the slices.
  Value moved(Value value);
  /// Creates an op between the point and the slices for the channels of the
  /// group, `input`.
  Value writeMoved(Operation *op, Value input, int64_t axis);
  /// Clones a point for the channels of the group, without statistics and
  /// parameters of all channels.
  tpc::QuantizeOp clonePoint(tpc::QuantizeOp point, Value input);

  SlicedLayer &sliced;
  const ChannelGroup &group;
  OpBuilder builder;
  GroupPoints points;
  llvm::DenseMap<Value, Value> movedValues;
};
} // namespace

tpc::QuantizeOp GroupWriter::clonePoint(tpc::QuantizeOp point, Value input) {
  auto clone = cast<tpc::QuantizeOp>(builder.clone(*point));
  clone.getInputMutable().assign(input);
  clone.getResult().setType(cast<RankedTensorType>(input.getType()));
  clone.setPointName(group.getName(point.getPointName()));
  clone.removeQuantizer();
  clone.removeStatisticsAttr();
  if (tpc::AlternativesAttr alternatives = clone.getAlternatives())
    clone.setCandidatesAttr(tpc::AlternativesAttr::get(
        builder.getContext(),
        builder.getStringAttr(group.getName(alternatives.getOf().getValue())),
        alternatives.getConfigs(), alternatives.getChosen()));
  return clone;
}

/// Creates the part of the kernel that computes the channels of the group.
Value GroupWriter::writeKernel() {
  const KernelOp &layer = sliced.layer;
  ConstantFloats kernel = layer.getKernel();
  std::vector<float> values;
  for (auto [element, value] : llvm::enumerate(kernel.values())) {
    int64_t channel = layer.outChannelOf(int64_t(element)) - group.start;
    if (channel >= 0 && channel < group.size)
      values.push_back(value);
  }
  Value constant = layer.createKernelConstant(
      builder, getType(layer.getKernelConstant(), layer.getOutAxes().front()),
      values);
  if (!layer.getKernelPoint())
    return constant;
  points.kernel = clonePoint(layer.getKernelPoint(), constant);
  return points.kernel.getResult();
}

Value GroupWriter::writeLayer() {
  const KernelOp &layer = sliced.layer;
  Operation *op = layer.getOperation();
  std::vector<float> all = *layer.getBias();
  ArrayRef<float> bias =
      ArrayRef(all).slice(size_t(group.start), size_t(group.size));
  auto createBias = [&](ArrayRef<int64_t> shape) {
    return createConstant(builder, getLoc(op),
                          RankedTensorType::get(shape, builder.getF32Type()),
                          bias, "bias");
  };
  Value kernel = writeKernel();
  Operation *own = builder.clone(*op);
  own->setLoc(getLoc(op));
  own->setOperand(layer.getKernelOperand().getOperandNumber(), kernel);
  if (!isa<tosa::MatMulOp>(op)) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(own);
    own->setOperand(2, createBias(group.size));
  }
  Value result = op->getResult(0);
  own->getResult(0).setType(
      getType(result, cast<RankedTensorType>(result.getType()).getRank() - 1));
  Operation *add = sliced.point.getInput().getDefiningOp();
  if (add == op)
    return own->getResult(0);
  auto sum = cast<RankedTensorType>(add->getResult(0).getType());
  SmallVector<int64_t> shape(sum.getRank(), 1);
  shape.back() = group.size;
  return tosa::AddOp::create(builder, getLoc(add),
                             getType(add->getResult(0), sum.getRank() - 1),
                             own->getResult(0), createBias(shape));
}

Value GroupWriter::writeMoved(Operation *op, Value input, int64_t axis) {
  if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
    // A point that only repeats the grid is not needed.
    if (isRepeated(point))
      return input;
    points.after.push_back(clonePoint(point, input));
    return points.after.back().getResult();
  }
  Value own;
  if (isFunctionOfElements(op)) {
    Operation *clone = builder.clone(*op);
    clone->setOperand(0, input);
    own = clone->getResult(0);
    own.setType(input.getType());
  } else {
    own = cloneMoving(builder, op, input, axis, group.size);
  }
  own.getDefiningOp()->setLoc(getLoc(op));
  return own;
}

Value GroupWriter::moved(Value value) {
  if (Value known = movedValues.lookup(value))
    return known;
  // Walk back to the point, without recursion.
  SmallVector<Operation *> ops;
  for (Value next = value; !movedValues.contains(next);
       next = next.getDefiningOp()->getOperand(0))
    ops.push_back(next.getDefiningOp());
  for (Operation *op : llvm::reverse(ops)) {
    Value input = movedValues.lookup(op->getOperand(0)),
          result = op->getResult(0);
    movedValues[result] = writeMoved(op, input, sliced.axisOf.lookup(result));
  }
  return movedValues.lookup(value);
}

GroupPoints GroupWriter::write() {
  points.result = clonePoint(sliced.point, writeLayer());
  movedValues[sliced.point.getResult()] = points.result.getResult();
  for (tosa::SliceOp slice : group.slices) {
    builder.setInsertionPoint(slice);
    slice.getResult().replaceAllUsesWith(moved(slice.getInput1()));
  }
  return points;
}

SmallVector<GroupPoints> mct::splitLayer(SlicedLayer &sliced) {
  SmallVector<GroupPoints> points;
  for (const ChannelGroup &group : sliced.groups)
    points.push_back(GroupWriter(sliced, group).write());
  SmallVector<Operation *> slices;
  for (const ChannelGroup &group : sliced.groups)
    llvm::append_range(slices, group.slices);
  eraseUnused(slices);
  return points;
}

namespace {
/// Range of a grid, which includes zero.
struct Covered {
  double low = 0, high = 0;

  explicit Covered(std::pair<double, double> range)
      : low(std::min(range.first, 0.0)), high(std::max(range.second, 0.0)) {}
  double getWidth() const { return high - low; }
  Covered with(const Covered &other, int exponent) const {
    Covered both = *this;
    both.low = std::min(low, std::ldexp(other.low, exponent));
    both.high = std::max(high, std::ldexp(other.high, exponent));
    return both;
  }
};
} // namespace

std::optional<SmallVector<int>>
mct::findCommonRange(ArrayRef<std::pair<double, double>> ranges) {
  SmallVector<std::pair<size_t, Covered>> ordered;
  for (auto [index, range] : llvm::enumerate(ranges))
    if (Covered covered(range); covered.getWidth() > 0)
      ordered.emplace_back(index, covered);
  SmallVector<int> exponents(ranges.size(), 0);
  if (ordered.empty())
    return exponents;
  llvm::sort(ordered, [](const auto &lhs, const auto &rhs) {
    return std::make_pair(-lhs.second.getWidth(), lhs.first) <
           std::make_pair(-rhs.second.getWidth(), rhs.first);
  });
  Covered all = ordered.front().second;
  for (auto [earlier, each] : llvm::enumerate(ArrayRef(ordered).drop_front())) {
    const Covered &own = each.second;
    double fewest = HUGE_VAL;
    // One octave further, this range alone determines the width.
    int most = int(std::ceil(std::log2(all.getWidth() / own.getWidth()))) + 1;
    for (int exponent = 0; exponent <= most; ++exponent) {
      double width = all.with(own, exponent).getWidth();
      double lost = double(earlier + 1) * std::log2(width / all.getWidth()) +
                    std::log2(width / own.getWidth()) - exponent;
      if (lost < fewest) {
        fewest = lost;
        exponents[each.first] = exponent;
      }
    }
    all = all.with(own, exponents[each.first]);
  }
  for (const auto &[index, own] : ordered)
    if (all.getWidth() >= 2 * std::ldexp(own.getWidth(), exponents[index]))
      return std::nullopt;
  return exponents;
}

bool mct::scaleGroups(SlicedLayer &sliced, ArrayRef<int> exponents) {
  const KernelOp &layer = sliced.layer;
  tpc::QuantizeOp point = sliced.point;
  auto type = cast<RankedTensorType>(point.getType());
  int64_t axis = layer.resultAxis();
  std::vector<double> factors(size_t(type.getDimSize(axis)), 1.0);
  for (auto [group, exponent] : llvm::zip_equal(sliced.groups, exponents))
    std::fill_n(factors.begin() + group.start, group.size,
                std::ldexp(1.0, exponent));

  // The inverses have to be f32 numbers, too.
  constexpr int kMostExponent = 126;
  if (llvm::any_of(exponents, [](int each) { return each > kMostExponent; }))
    return false;
  std::vector<float> bias = *layer.getBias();
  for (auto [value, factor] : llvm::zip_equal(bias, factors))
    if (!scalesExactly(value, factor))
      return false;
  ConstantFloats kernel = layer.getKernel();
  for (auto [element, value] : llvm::enumerate(kernel.values()))
    if (!scalesExactly(value, factors[layer.outChannelOf(int64_t(element))]))
      return false;

  Location loc = point.getInput().getLoc();
  OpBuilder builder(layer.getOperation());
  bool hasScaled = scaleOutputs(builder, layer, factors);
  assert(hasScaled && "layers that can be divided have a constant bias");
  (void)hasScaled;
  renameChanged(layer, point.getOperation(), "_scaled");
  forgetValues(point);

  builder.setInsertionPointAfter(point);
  SmallVector<int64_t> shape(type.getRank(), 1);
  shape[axis] = type.getDimSize(axis);
  std::vector<float> inverses;
  for (double factor : factors)
    inverses.push_back(float(1 / factor));
  // The product has the former values of the point, and their name.
  Value numbers = createConstant(
      builder, loc, RankedTensorType::get(shape, builder.getF32Type()),
      inverses, "scale");
  auto back = createProduct(builder, loc, type, point.getResult(), numbers);
  point.getResult().replaceAllUsesExcept(back.getOutput(), back);
  return true;
}
