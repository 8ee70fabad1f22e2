// SPDX-License-Identifier: Apache-2.0
#include "AxisClusters.h"
#include "mct/IR/EraseUnused.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mct;

/// Returns the axes of a tensor of rank `rank` with one of size 1 inserted at
/// `position`.
static AxisMap insertAxis(int64_t rank, int64_t position) {
  AxisMap axes = llvm::to_vector_of<int32_t, 4>(llvm::seq<int64_t>(0, rank));
  axes.insert(axes.begin() + position, kInsertedAxis);
  return axes;
}

static RankedTensorType getSizedType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() ? type : nullptr;
}

namespace {
/// The reshapes around a cluster that drop or insert an axis of size 1 at one
/// position.
class UnitAxis {
public:
  UnitAxis(const AxisCluster &cluster, int64_t rank, int64_t position)
      : cluster(cluster), axes(insertAxis(rank, position)) {}

  /// Returns the number of these reshapes, or 0 if all of them are before or
  /// all after the cluster, since removing them would require others on the
  /// other side.
  unsigned count() const;
  /// Lets the ops of the cluster keep the axis.
  void keep(RewriterBase &rewriter) const;

private:
  /// Returns the value from which `input` is made by dropping the axis, or
  /// null.
  Value getSource(Value input) const {
    auto reshape = input.getDefiningOp<tosa::ReshapeOp>();
    return reshape && isWith(reshape.getInput1(), input) ? reshape.getInput1()
                                                         : Value();
  }
  bool inserts(Operation *user, Value result) const {
    auto reshape = dyn_cast<tosa::ReshapeOp>(user);
    return reshape && isWith(reshape.getOutput(), result);
  }
  bool isWith(Value value, Value without) const {
    return value.getType() == rearrange(getSizedType(without), axes);
  }
  Value insert(RewriterBase &rewriter, Value value) const;

  const AxisCluster &cluster;
  AxisMap axes;
};
} // namespace

static Value createReshape(RewriterBase &rewriter, Value value,
                           RankedTensorType type) {
  rewriter.setInsertionPointAfterValue(value);
  ImplicitLocOpBuilder builder(value.getLoc(), rewriter);
  Value shape = tosa::getTosaConstShape(builder, type.getShape());
  return tosa::ReshapeOp::create(builder, type, value, shape);
}

unsigned UnitAxis::count() const {
  unsigned before = 0, after = 0;
  for (Value input : cluster.getInputs())
    before += bool(getSource(input));
  for (Operation *op : cluster.ops())
    for (Operation *user : op->getUsers())
      after += inserts(user, op->getResult(0));
  return before && after ? before + after : 0;
}

/// Returns an input of the cluster with the axis: the operand of the reshape
/// that drops it, or a new reshape.
Value UnitAxis::insert(RewriterBase &rewriter, Value value) const {
  if (Value source = getSource(value))
    return source;
  Value reshaped =
      createReshape(rewriter, value, rearrange(getSizedType(value), axes));
  return isConstantOp(value) ? foldConstant(rewriter, reshaped, "reshaped")
                             : reshaped;
}

void UnitAxis::keep(RewriterBase &rewriter) const {
  llvm::MapVector<Value, Value> widened;
  for (Value input : cluster.getInputs())
    widened[input] = insert(rewriter, input);
  for (Operation *op : cluster.ops())
    for (OpOperand &operand : op->getOpOperands())
      if (Value value = widened.lookup(operand.get()))
        rewriter.modifyOpInPlace(op, [&] { operand.set(value); });
  SmallVector<Operation *> producers;
  for (const auto &[input, value] : widened)
    producers.push_back(input.getDefiningOp());
  eraseUnused(producers, rewriter.getListener());
  for (Operation *op : cluster.ops()) {
    Value result = op->getResult(0);
    auto type = cast<RankedTensorType>(result.getType());
    SmallVector<OpOperand *> outerUses;
    SmallVector<Operation *> insertions;
    for (OpOperand &use : result.getUses()) {
      if (inserts(use.getOwner(), result))
        insertions.push_back(use.getOwner());
      else if (!cluster.contains(use.getOwner()))
        outerUses.push_back(&use);
    }
    rearrangeOp(rewriter, op, axes);
    for (Operation *reshape : insertions) {
      Operation *shape = reshape->getOperand(1).getDefiningOp();
      rewriter.replaceOp(reshape, result);
      eraseUnused(shape, rewriter.getListener());
    }
    if (outerUses.empty())
      continue;
    Value without = createReshape(rewriter, result, type);
    for (OpOperand *outerUse : outerUses)
      rewriter.modifyOpInPlace(outerUse->getOwner(),
                               [&] { outerUse->set(without); });
  }
}

/// Returns whether the sizes of all inputs and results of the cluster are
/// known.
static bool isStatic(const AxisCluster &cluster) {
  auto isStaticValue = [](Value value) {
    return getSizedType(value) != nullptr;
  };
  return llvm::all_of(cluster.getInputs(), isStaticValue) &&
         llvm::all_of(cluster.ops(), [&](Operation *op) {
           return isStaticValue(op->getResult(0));
         });
}

bool mct::keepUnitAxes(RewriterBase &rewriter, Block &block) {
  bool changed = false;
  for (const AxisCluster &cluster : findAxisClusters(block)) {
    if (!isStatic(cluster))
      continue;
    int64_t rank = getSizedType(cluster.ops().front()->getResult(0)).getRank();
    unsigned most = 0;
    int64_t best = 0;
    for (int64_t position = 0; position <= rank; ++position)
      if (unsigned count = UnitAxis(cluster, rank, position).count();
          count > most) {
        most = count;
        best = position;
      }
    if (most == 0)
      continue;
    UnitAxis(cluster, rank, best).keep(rewriter);
    changed = true;
  }
  return changed;
}
