// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "AxisClusters.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>

namespace mct {
#define GEN_PASS_DEF_MOVETRANSPOSESPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Axis of the operand for each axis of the result, as in `tosa.transpose`.
using Permutation = SmallVector<int32_t, 4>;

// Number of axis orders that are tried for one cluster, the most promising
// first.
static constexpr size_t kMaxCandidates = 4;
// Moving some transpositions may bring others together. Every round reduces the
// moved elements, and the second is rarely needed.
static constexpr int kMaxRounds = 4;

//===----------------------------------------------------------------------===//
// Permutations
//===----------------------------------------------------------------------===//

static Permutation invert(ArrayRef<int32_t> permutation) {
  Permutation inverse(permutation.size());
  for (auto [axis, from] : llvm::enumerate(permutation))
    inverse[from] = axis;
  return inverse;
}

/// Returns the permutation that applies `first`, then `second`.
static Permutation compose(ArrayRef<int32_t> first, ArrayRef<int32_t> second) {
  Permutation both;
  for (int32_t axis : second)
    both.push_back(first[axis]);
  return both;
}

static bool isIdentity(ArrayRef<int32_t> permutation) {
  for (auto [axis, from] : llvm::enumerate(permutation))
    if (int32_t(axis) != from)
      return false;
  return true;
}

static bool isValid(ArrayRef<int32_t> permutation, int64_t rank) {
  if (int64_t(permutation.size()) != rank)
    return false;
  SmallVector<bool> taken(rank, false);
  for (int32_t from : permutation) {
    if (from < 0 || from >= rank || taken[from])
      return false;
    taken[from] = true;
  }
  return true;
}

/// Returns whether the transposition does not change the order of the elements:
/// it moves axes of size 1 only, like a reshape.
static bool movesNothing(RankedTensorType type, ArrayRef<int32_t> permutation) {
  int32_t last = -1;
  for (int32_t axis : permutation) {
    if (type.getDimSize(axis) == 1)
      continue;
    if (axis < last)
      return false;
    last = axis;
  }
  return true;
}

/// Returns the number of elements that a transposition of a value moves;
/// unknown sizes count as 1.
static int64_t getCost(RankedTensorType type, ArrayRef<int32_t> permutation) {
  if (movesNothing(type, permutation))
    return 0;
  int64_t count = 1;
  for (int64_t size : type.getShape())
    if (!ShapedType::isDynamic(size) && count < int64_t(1) << 40)
      count *= std::max<int64_t>(size, 1);
  return count;
}

static tosa::TransposeOp getTranspose(Operation *op) {
  auto transpose = dyn_cast_or_null<tosa::TransposeOp>(op);
  if (!transpose)
    return nullptr;
  RankedTensorType type = getRankedType(transpose.getInput1());
  return type && getRankedType(transpose.getOutput()) &&
                 isValid(transpose.getPerms(), type.getRank())
             ? transpose
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

namespace {
class Mover {
public:
  Mover(RewriterBase &rewriter, Block &block)
      : rewriter(rewriter), block(block) {}

  /// Moves transpositions through clusters where that reduces the moved
  /// elements. Returns whether anything changed.
  bool run();

private:
  bool move(const AxisCluster &cluster);
  /// Returns the cost of the transpositions around the cluster once it is
  /// permuted by `permutation`, or their present cost if that is null.
  int64_t getCostAround(const AxisCluster &cluster,
                        const Permutation *permutation);
  void apply(const AxisCluster &cluster, const Permutation &permutation);

  /// Creates a transposition of a value directly after it.
  Value transpose(Value value, ArrayRef<int32_t> permutation, Location loc);

  RewriterBase &rewriter;
  Block &block;
};
} // namespace

/// Returns a transposed constant.
static Value transposeConstant(RewriterBase &rewriter, Value value,
                               ArrayRef<int32_t> permutation) {
  Operation *op = value.getDefiningOp();
  rewriter.setInsertionPointAfter(op);
  auto transposed = tosa::TransposeOp::create(
      rewriter, op->getLoc(), rearrange(getRankedType(value), permutation),
      value, rewriter.getDenseI32ArrayAttr(permutation));
  return foldConstant(rewriter, transposed, "transposed");
}

int64_t Mover::getCostAround(const AxisCluster &cluster,
                             const Permutation *permutation) {
  int64_t cost = 0;
  for (Value input : cluster.getInputs()) {
    if (isConstantOp(input))
      continue;
    auto producer = getTranspose(input.getDefiningOp());
    RankedTensorType type = getRankedType(input);
    // A transposition between two values of the cluster is counted where the
    // cluster produces its input.
    if (producer && cluster.contains(producer.getInput1()))
      continue;
    if (!permutation) {
      // A transposition with users outside of the cluster stays in any case.
      if (producer && llvm::all_of(input.getUsers(), [&](Operation *user) {
            return cluster.contains(user);
          }))
        cost += getCost(type, invert(producer.getPerms()));
    } else if (producer) {
      Permutation both = compose(producer.getPerms(), *permutation);
      cost += getCost(getRankedType(producer.getInput1()), both);
    } else {
      cost += getCost(type, *permutation);
    }
  }
  for (Operation *op : cluster.ops()) {
    Value result = op->getResult(0);
    RankedTensorType type = getRankedType(result);
    bool isReadAsItIs = false;
    for (Operation *user : result.getUsers()) {
      if (cluster.contains(user))
        continue;
      auto consumer = getTranspose(user);
      if (!permutation) {
        cost += consumer ? getCost(type, consumer.getPerms()) : 0;
      } else if (consumer) {
        Permutation after = compose(invert(*permutation), consumer.getPerms());
        auto isReadInside = [&](Operation *outerUse) {
          return cluster.contains(outerUse);
        };
        if (!llvm::all_of(consumer->getUsers(), isReadInside))
          cost += getCost(rearrange(type, *permutation), after);
        if (llvm::any_of(consumer->getUsers(), isReadInside))
          cost += getCost(rearrange(type, *permutation),
                          compose(after, *permutation));
      } else {
        isReadAsItIs = true;
      }
    }
    if (permutation && isReadAsItIs)
      cost += getCost(type, *permutation);
  }
  return cost;
}

Value Mover::transpose(Value value, ArrayRef<int32_t> permutation,
                       Location loc) {
  RankedTensorType type = rearrange(getRankedType(value), permutation);
  rewriter.setInsertionPointAfterValue(value);
  if (!type.hasStaticShape() ||
      !movesNothing(getRankedType(value), permutation))
    return tosa::TransposeOp::create(
        rewriter, loc, type, value, rewriter.getDenseI32ArrayAttr(permutation));
  auto sizes = RankedTensorType::get(type.getRank(), rewriter.getIndexType());
  Value shape = tosa::ConstShapeOp::create(
      rewriter, loc,
      tosa::shapeType::get(rewriter.getContext(), type.getRank()),
      DenseIntElementsAttr::get(sizes, type.getShape()));
  // Two reshapes in a row are one.
  if (auto reshape = value.getDefiningOp<tosa::ReshapeOp>())
    value = reshape.getInput1();
  return tosa::ReshapeOp::create(rewriter, loc, type, value, shape);
}

void Mover::apply(const AxisCluster &cluster, const Permutation &permutation) {
  llvm::MapVector<Value, Value> movedValues;
  for (Value input : cluster.getInputs()) {
    Value moved;
    auto producer = getTranspose(input.getDefiningOp());
    if (isConstantOp(input)) {
      moved = transposeConstant(rewriter, input, permutation);
    } else if (producer) {
      Permutation both = compose(producer.getPerms(), permutation);
      moved = producer.getInput1();
      // `moved` is a value of the cluster that will be permuted itself.
      if (!isIdentity(both) || cluster.contains(moved))
        moved = transpose(moved, both,
                          getTransposedLoc(input.getLoc(), permutation));
    } else {
      moved = transpose(input, permutation,
                        getTransposedLoc(input.getLoc(), permutation));
    }
    movedValues[input] = moved;
  }
  for (Operation *op : cluster.ops())
    for (OpOperand &operand :
         op->getOpOperands().take_front(getNumDataOperands(op)))
      if (Value moved = movedValues.lookup(operand.get()))
        rewriter.modifyOpInPlace(op, [&] { operand.set(moved); });
  SmallVector<Operation *> producers;
  for (const auto &[input, moved] : movedValues)
    producers.push_back(input.getDefiningOp());
  eraseUnused(producers, rewriter.getListener());
  Permutation inverse = invert(permutation);
  for (Operation *op : cluster.ops()) {
    Location loc = op->getLoc();
    rearrangeOp(rewriter, op, permutation);
    rewriter.modifyOpInPlace(
        op, [&] { op->setLoc(getTransposedLoc(loc, permutation)); });
    Value result = op->getResult(0);
    SmallVector<OpOperand *> outerUses;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      Operation *user = use.getOwner();
      // A reshape depends only on the order of the elements.
      if (cluster.contains(user) ||
          (isa<tosa::ReshapeOp>(user) &&
           movesNothing(getRankedType(result), inverse)))
        continue;
      auto consumer = getTranspose(user);
      if (!consumer) {
        outerUses.push_back(&use);
        continue;
      }
      Permutation both = compose(inverse, consumer.getPerms());
      // Otherwise it keeps its place and its name.
      if (isIdentity(both))
        rewriter.replaceOp(consumer, result);
      else
        rewriter.modifyOpInPlace(consumer, [&] { consumer.setPerms(both); });
    }
    if (outerUses.empty())
      continue;
    // Value in the former order, for the users that know it by its name.
    Value back = transpose(result, inverse, loc);
    for (OpOperand *outerUse : outerUses)
      rewriter.modifyOpInPlace(outerUse->getOwner(),
                               [&] { outerUse->set(back); });
  }
}

bool Mover::move(const AxisCluster &cluster) {
  // Orders that would cancel a transposition around the cluster, and the number
  // of elements that these move.
  llvm::MapVector<Permutation, int64_t, std::map<Permutation, unsigned>> gains;
  for (Value input : cluster.getInputs())
    if (auto producer = getTranspose(input.getDefiningOp())) {
      Permutation inverse = invert(producer.getPerms());
      gains[inverse] += getCost(getRankedType(input), inverse);
    }
  for (Operation *op : cluster.ops())
    for (Operation *user : op->getResult(0).getUsers())
      if (auto consumer = getTranspose(user);
          consumer && !cluster.contains(user)) {
        Permutation perms(consumer.getPerms());
        gains[perms] += getCost(getRankedType(op->getResult(0)), perms);
      }
  auto candidates = gains.takeVector();
  llvm::sort(candidates, [](const auto &lhs, const auto &rhs) {
    return std::tie(rhs.second, lhs.first) < std::tie(lhs.second, rhs.first);
  });
  if (candidates.size() > kMaxCandidates)
    candidates.resize(kMaxCandidates);
  int64_t least = getCostAround(cluster, nullptr);
  const Permutation *best = nullptr;
  for (const auto &[permutation, gain] : candidates)
    if (int64_t cost = getCostAround(cluster, &permutation); cost < least) {
      least = cost;
      best = &permutation;
    }
  if (!best || isIdentity(*best))
    return false;
  apply(cluster, *best);
  return true;
}

bool Mover::run() {
  bool changed = false;
  for (const AxisCluster &cluster : findAxisClusters(block))
    changed |= move(cluster);
  return changed;
}

bool mct::moveTransposes(RewriterBase &rewriter, Block &block) {
  bool changed = keepUnitAxes(rewriter, block);
  return Mover(rewriter, block).run() || changed;
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Replaces a transposition that moves nothing by its input.
static LogicalResult removeTranspose(tosa::TransposeOp op,
                                     PatternRewriter &rewriter) {
  // Reshapes depend only on the order of the elements.
  if (!getTranspose(op) ||
      !(isIdentity(op.getPerms()) ||
        (movesNothing(getRankedType(op.getInput1()), op.getPerms()) &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<tosa::ReshapeOp>))))
    return failure();
  rewriter.replaceOp(op, op.getInput1());
  return success();
}

/// Merges a transposition with the one before it.
static LogicalResult joinTransposes(tosa::TransposeOp op,
                                    PatternRewriter &rewriter) {
  tosa::TransposeOp first = getTranspose(op.getInput1().getDefiningOp());
  if (!first || !getTranspose(op))
    return failure();
  Permutation both = compose(first.getPerms(), op.getPerms());
  if (isIdentity(both)) {
    rewriter.replaceOp(op, first.getInput1());
  } else {
    // If the first one has other users, it stays, and there would still be two.
    if (!first->hasOneUse())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      op->setOperand(0, first.getInput1());
      op.setPerms(both);
    });
  }
  eraseUnused(first.getOperation(), rewriter.getListener());
  return success();
}

void mct::populateJoinTransposesPatterns(RewritePatternSet &patterns) {
  patterns.add(joinTransposes);
  patterns.add(removeTranspose);
}

namespace {
struct MoveTransposesPass
    : public WithOpModels<
          mct::impl::MoveTransposesPassBase<MoveTransposesPass>> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    SmallVector<Block *> blocks;
    bool hasNames = false;
    function.walk([&](Block *block) { blocks.push_back(block); });
    function.walk([&](Operation *op) {
      hasNames |= isa<tosa::TransposeOp, tosa::ReshapeOp>(op) &&
                  mct::getName(op->getLoc());
    });
    RewritePatternSet patterns(&getContext());
    populateJoinTransposesPatterns(patterns);
    FrozenRewritePatternSet joining(std::move(patterns));
    IRRewriter rewriter(&getContext());
    bool changed = false;
    for (int round = 0; round != kMaxRounds; ++round) {
      bool moved = false;
      if (failed(applyPatterns(function, joining, /*listener=*/nullptr,
                               /*lastFirst=*/false, &moved)))
        return signalPassFailure();
      for (Block *block : blocks)
        moved |= moveTransposes(rewriter, *block);
      changed |= moved;
      if (!moved)
        break;
    }
    // A value may exist in several transposed forms now.
    if (changed && hasNames)
      assignNames(function);
  }
};
} // namespace
