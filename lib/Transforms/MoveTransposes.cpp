// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "ChannelAffine.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"
#include <map>
#include <numeric>

namespace mct {
#define GEN_PASS_DEF_MOVETRANSPOSESPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Axis of the operand for each axis of the result, as in `tosa.transpose`.
using Permutation = SmallVector<int32_t, 4>;

// Orders of the axes that are tried for one cluster, the most promising first.
static constexpr size_t kMaxCandidates = 4;
// Moving some transpositions may bring others together; each round makes the
// network move less, and the second is rarely needed.
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

/// `second` of what `first` makes.
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

template <typename T>
static SmallVector<T> permute(ArrayRef<T> values,
                              ArrayRef<int32_t> permutation) {
  SmallVector<T> result;
  for (int32_t from : permutation)
    result.push_back(values[from]);
  return result;
}

static RankedTensorType permute(RankedTensorType type,
                                ArrayRef<int32_t> permutation) {
  return RankedTensorType::get(permute<int64_t>(type.getShape(), permutation),
                               type.getElementType(), type.getEncoding());
}

/// Returns whether the transposition leaves all elements where they are: it
/// moves axes of size 1 only, and is a reshape.
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

static RankedTensorType getType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

/// Elements that a transposition of a value moves; unknown sizes count as 1.
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
  RankedTensorType type = getType(transpose.getInput1());
  return type && getType(transpose.getOutput()) &&
                 isValid(transpose.getPerms(), type.getRank())
             ? transpose
             : nullptr;
}

//===----------------------------------------------------------------------===//
// Ops that compute the same in another order of the axes
//===----------------------------------------------------------------------===//

static bool isElementwise(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  // The output operand would have to be permuted as well.
  if (!elementwise || isa<DestinationStyleOpInterface>(op))
    return false;
  return llvm::none_of(
      llvm::seq<int64_t>(0, getType(op->getResult(0)).getRank()),
      [&](int64_t axis) { return elementwise.hasParametersAlong(axis); });
}

/// Values of a `tosa.const_shape`; empty when they are unknown.
static SmallVector<int64_t> getShapeValues(Value value) {
  SmallVector<int64_t> values;
  auto op = value.getDefiningOp<tosa::ConstShapeOp>();
  auto elements =
      op ? dyn_cast<DenseIntElementsAttr>(op.getValuesAttr()) : nullptr;
  if (elements)
    for (const APInt &element : elements.getValues<APInt>())
      values.push_back(element.getSExtValue());
  return values;
}

/// Values of the operand that hold `perAxis` of them for each axis.
static bool hasSizes(Value value, int64_t rank, int64_t perAxis) {
  return int64_t(getShapeValues(value).size()) == rank * perAxis;
}

/// Returns whether `permuteOp` can be called.
static bool canPermute(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  RankedTensorType type = getType(op->getResult(0));
  if (!type || type.getRank() < 2 || op->getNumOperands() == 0)
    return false;
  int64_t rank = type.getRank();
  for (Value operand : op->getOperands().take_front(getNumDataOperands(op)))
    if (!getType(operand) || getType(operand).getRank() != rank)
      return false;
  if (auto point = dyn_cast<tpc::QuantizeOp>(op))
    return !point.isWeight() && !point.getStatistics() &&
           point.getChannelAxes().empty();
  if (auto slice = dyn_cast<tosa::SliceOp>(op))
    return hasSizes(slice.getStart(), rank, 1) &&
           hasSizes(slice.getSize(), rank, 1);
  if (auto pad = dyn_cast<tosa::PadOp>(op))
    return hasSizes(pad.getPadding(), rank, 2);
  if (auto tile = dyn_cast<tosa::TileOp>(op))
    return hasSizes(tile.getMultiples(), rank, 1);
  return isElementwise(op) ||
         isa<ReductionOpInterface, tosa::ConcatOp, tosa::ReverseOp>(op);
}

/// Puts the sizes of operand `number`, `perAxis` for each axis, in order.
static void permuteSizes(RewriterBase &rewriter, Operation *op, unsigned number,
                         int64_t perAxis, ArrayRef<int32_t> permutation) {
  Value old = op->getOperand(number);
  SmallVector<int64_t> from = getShapeValues(old), to;
  for (int32_t axis : permutation)
    for (int64_t i = 0; i != perAxis; ++i)
      to.push_back(from[axis * perAxis + i]);
  rewriter.setInsertionPoint(op);
  auto type =
      RankedTensorType::get(int64_t(to.size()), rewriter.getIndexType());
  op->setOperand(
      number, tosa::ConstShapeOp::create(rewriter, op->getLoc(), old.getType(),
                                         DenseIntElementsAttr::get(type, to)));
  eraseUnused(old.getDefiningOp(), rewriter.getListener());
}

/// Lets `op`, whose tensors are transposed already, make a transposed result.
static void permuteOp(RewriterBase &rewriter, Operation *op,
                      ArrayRef<int32_t> permutation) {
  rewriter.startOpModification(op);
  if (IntegerAttr axis = op->getAttrOfType<IntegerAttr>("axis")) {
    Permutation inverse = invert(permutation);
    op->setAttr("axis",
                IntegerAttr::get(axis.getType(), inverse[axis.getInt()]));
  }
  if (isa<tosa::SliceOp>(op)) {
    permuteSizes(rewriter, op, 1, 1, permutation);
    permuteSizes(rewriter, op, 2, 1, permutation);
  } else if (isa<tosa::PadOp>(op)) {
    permuteSizes(rewriter, op, 1, 2, permutation);
  } else if (isa<tosa::TileOp>(op)) {
    permuteSizes(rewriter, op, 1, 1, permutation);
  }
  Value result = op->getResult(0);
  result.setType(permute(getType(result), permutation));
  op->setLoc(getTransposedLoc(op->getLoc(), permutation));
  rewriter.finalizeOpModification(op);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

namespace {
/// Ops of one block that compute the same in another order of the axes, each
/// connected to the others by a value.
struct Cluster {
  /// Ops in program order.
  SmallVector<Operation *> ops;
};

class Mover {
public:
  Mover(RewriterBase &rewriter, Block &block)
      : rewriter(rewriter), block(block) {}

  /// Moves transpositions through clusters where less is moved then. Returns
  /// whether anything changed.
  bool run();

private:
  std::vector<Cluster> findClusters();
  bool move(const Cluster &cluster);
  /// Returns the cost around the cluster, moved by `permutation`; null: what
  /// it costs now.
  int64_t getCostAround(const Cluster &cluster, const Permutation *permutation);
  void apply(const Cluster &cluster, const Permutation &permutation);

  bool contains(const Cluster &cluster, Operation *op) const {
    auto found = clusterOf.find(op);
    return found != clusterOf.end() &&
           found->second == clusterOf.find(cluster.ops.front())->second;
  }
  bool isInside(const Cluster &cluster, Value value) const {
    return value.getDefiningOp() && contains(cluster, value.getDefiningOp());
  }
  /// Values from outside that the cluster has as tensors.
  SmallVector<Value> getInputs(const Cluster &cluster) const;
  /// A value in another order of its axes, made behind it.
  Value transpose(Value value, ArrayRef<int32_t> permutation, Location loc);

  RewriterBase &rewriter;
  Block &block;
  llvm::DenseMap<Operation *, size_t> clusterOf;
};
} // namespace

static bool isConstantOp(Value value) {
  return value.getDefiningOp<tosa::ConstOp>() ||
         value.getDefiningOp<arith::ConstantOp>();
}

/// A constant in another order of its axes; null when it cannot be read.
static Value transposeConstant(RewriterBase &rewriter, Value value,
                               ArrayRef<int32_t> permutation) {
  Operation *op = value.getDefiningOp();
  rewriter.setInsertionPointAfter(op);
  auto transposed = tosa::TransposeOp::create(
      rewriter, op->getLoc(), permute(getType(value), permutation), value,
      rewriter.getDenseI32ArrayAttr(permutation));
  auto tensor = ConstantEvaluator().evaluate(transposed.getResult());
  if (!tensor)
    return transposed.getResult();
  Value constant =
      tosa::ConstOp::create(rewriter, op->getLoc(), transposed.getType(),
                            tensor->toAttribute("transposed"));
  rewriter.eraseOp(transposed);
  return constant;
}

std::vector<Cluster> Mover::findClusters() {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, size_t> numberOf;
  for (Operation &op : block)
    if (canPermute(&op)) {
      numberOf[&op] = ops.size();
      ops.push_back(&op);
    }
  SmallVector<size_t> parent(ops.size());
  std::iota(parent.begin(), parent.end(), 0);
  auto find = [&](size_t number) {
    while (parent[number] != number)
      number = parent[number] = parent[parent[number]];
    return number;
  };
  for (auto [number, op] : llvm::enumerate(ops))
    for (Value operand : op->getOperands().take_front(getNumDataOperands(op)))
      if (auto found = numberOf.find(operand.getDefiningOp());
          found != numberOf.end())
        parent[find(number)] = find(found->second);
  std::vector<Cluster> clusters;
  llvm::DenseMap<size_t, size_t> clusterOfRoot;
  clusterOf.clear();
  for (auto [number, op] : llvm::enumerate(ops)) {
    auto [found, isNew] =
        clusterOfRoot.try_emplace(find(number), clusters.size());
    if (isNew)
      clusters.emplace_back();
    clusters[found->second].ops.push_back(op);
    clusterOf[op] = found->second;
  }
  return clusters;
}

SmallVector<Value> Mover::getInputs(const Cluster &cluster) const {
  llvm::SetVector<Value> inputs;
  for (Operation *op : cluster.ops)
    for (Value operand : op->getOperands().take_front(getNumDataOperands(op)))
      if (!operand.getDefiningOp() ||
          !contains(cluster, operand.getDefiningOp()))
        inputs.insert(operand);
  return inputs.takeVector();
}

int64_t Mover::getCostAround(const Cluster &cluster,
                             const Permutation *permutation) {
  int64_t cost = 0;
  for (Value input : getInputs(cluster)) {
    if (isConstantOp(input))
      continue;
    auto producer = getTranspose(input.getDefiningOp());
    RankedTensorType type = getType(input);
    // Between two values of the cluster: counted where it reads.
    if (producer && isInside(cluster, producer.getInput1()))
      continue;
    if (!permutation) {
      // One that others read stays, whatever happens here.
      if (producer && llvm::all_of(input.getUsers(), [&](Operation *user) {
            return contains(cluster, user);
          }))
        cost += getCost(type, invert(producer.getPerms()));
    } else if (producer) {
      Permutation both = compose(producer.getPerms(), *permutation);
      cost += getCost(getType(producer.getInput1()), both);
    } else {
      cost += getCost(type, *permutation);
    }
  }
  for (Operation *op : cluster.ops) {
    Value result = op->getResult(0);
    RankedTensorType type = getType(result);
    bool isReadAsItIs = false;
    for (Operation *user : result.getUsers()) {
      if (contains(cluster, user))
        continue;
      auto consumer = getTranspose(user);
      if (!permutation) {
        cost += consumer ? getCost(type, consumer.getPerms()) : 0;
      } else if (consumer) {
        Permutation behind = compose(invert(*permutation), consumer.getPerms());
        auto isReadInside = [&](Operation *reader) {
          return contains(cluster, reader);
        };
        if (!llvm::all_of(consumer->getUsers(), isReadInside))
          cost += getCost(permute(type, *permutation), behind);
        if (llvm::any_of(consumer->getUsers(), isReadInside))
          cost += getCost(permute(type, *permutation),
                          compose(behind, *permutation));
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
  RankedTensorType type = permute(getType(value), permutation);
  rewriter.setInsertionPointAfterValue(value);
  if (!type.hasStaticShape() || !movesNothing(getType(value), permutation))
    return tosa::TransposeOp::create(
        rewriter, loc, type, value, rewriter.getDenseI32ArrayAttr(permutation));
  auto sizes = RankedTensorType::get(type.getRank(), rewriter.getIndexType());
  Value shape = tosa::ConstShapeOp::create(
      rewriter, loc,
      tosa::shapeType::get(rewriter.getContext(), type.getRank()),
      DenseIntElementsAttr::get(sizes, type.getShape()));
  // A reshape of a reshape is one.
  if (auto reshape = value.getDefiningOp<tosa::ReshapeOp>())
    value = reshape.getInput1();
  return tosa::ReshapeOp::create(rewriter, loc, type, value, shape);
}

void Mover::apply(const Cluster &cluster, const Permutation &permutation) {
  llvm::MapVector<Value, Value> movedValues;
  for (Value input : getInputs(cluster)) {
    Value moved;
    auto producer = getTranspose(input.getDefiningOp());
    if (isConstantOp(input)) {
      moved = transposeConstant(rewriter, input, permutation);
    } else if (producer) {
      Permutation both = compose(producer.getPerms(), permutation);
      moved = producer.getInput1();
      // A value of the cluster is about to be turned itself.
      if (!isIdentity(both) || isInside(cluster, moved))
        moved = transpose(moved, both,
                          getTransposedLoc(input.getLoc(), permutation));
    } else {
      moved = transpose(input, permutation,
                        getTransposedLoc(input.getLoc(), permutation));
    }
    movedValues[input] = moved;
  }
  for (Operation *op : cluster.ops)
    for (OpOperand &operand :
         op->getOpOperands().take_front(getNumDataOperands(op)))
      if (Value moved = movedValues.lookup(operand.get()))
        rewriter.modifyOpInPlace(op, [&] { operand.set(moved); });
  SmallVector<Operation *> producers;
  for (const auto &[input, moved] : movedValues)
    producers.push_back(input.getDefiningOp());
  eraseUnused(producers, rewriter.getListener());
  Permutation inverse = invert(permutation);
  for (Operation *op : cluster.ops) {
    Location loc = op->getLoc();
    permuteOp(rewriter, op, permutation);
    Value result = op->getResult(0);
    SmallVector<OpOperand *> readers;
    for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
      Operation *user = use.getOwner();
      // Only the order of the elements counts in what a reshape reads.
      if (contains(cluster, user) || (isa<tosa::ReshapeOp>(user) &&
                                      movesNothing(getType(result), inverse)))
        continue;
      auto consumer = getTranspose(user);
      if (!consumer) {
        readers.push_back(&use);
        continue;
      }
      Permutation both = compose(inverse, consumer.getPerms());
      // Otherwise it stays where it is, under its name.
      if (isIdentity(both))
        rewriter.replaceOp(consumer, result);
      else
        rewriter.modifyOpInPlace(consumer, [&] { consumer.setPerms(both); });
    }
    if (readers.empty())
      continue;
    // Value that everybody knows under the name.
    Value back = transpose(result, inverse, loc);
    for (OpOperand *reader : readers)
      rewriter.modifyOpInPlace(reader->getOwner(), [&] { reader->set(back); });
  }
}

bool Mover::move(const Cluster &cluster) {
  // The orders that some transposition around the cluster would vanish with,
  // and how much those move.
  llvm::MapVector<Permutation, int64_t, std::map<Permutation, unsigned>> gains;
  for (Value input : getInputs(cluster))
    if (auto producer = getTranspose(input.getDefiningOp())) {
      Permutation inverse = invert(producer.getPerms());
      gains[inverse] += getCost(getType(input), inverse);
    }
  for (Operation *op : cluster.ops)
    for (Operation *user : op->getResult(0).getUsers())
      if (auto consumer = getTranspose(user);
          consumer && !contains(cluster, user)) {
        Permutation perms(consumer.getPerms());
        gains[perms] += getCost(getType(op->getResult(0)), perms);
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
  for (const Cluster &cluster : findClusters())
    changed |= move(cluster);
  return changed;
}

bool mct::moveTransposes(RewriterBase &rewriter, Block &block) {
  return Mover(rewriter, block).run();
}

//===----------------------------------------------------------------------===//
// Patterns
//===----------------------------------------------------------------------===//

/// Replaces what moves nothing by its input.
static LogicalResult removeTranspose(tosa::TransposeOp op,
                                     PatternRewriter &rewriter) {
  // Only the order of the elements counts in what a reshape makes of it.
  if (!getTranspose(op) ||
      !(isIdentity(op.getPerms()) ||
        (movesNothing(getType(op.getInput1()), op.getPerms()) &&
         llvm::all_of(op->getUsers(), llvm::IsaPred<tosa::ReshapeOp>))))
    return failure();
  rewriter.replaceOp(op, op.getInput1());
  return success();
}

/// Joins a transposition with the one before it.
static LogicalResult joinTransposes(tosa::TransposeOp op,
                                    PatternRewriter &rewriter) {
  tosa::TransposeOp first = getTranspose(op.getInput1().getDefiningOp());
  if (!first || !getTranspose(op))
    return failure();
  Permutation both = compose(first.getPerms(), op.getPerms());
  if (isIdentity(both)) {
    rewriter.replaceOp(op, first.getInput1());
  } else {
    // One that has other uses stays, and two would be as many.
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
      hasNames |= isa<tosa::TransposeOp>(op) && mct::getName(op->getLoc());
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
    // A value may have been turned in several ways.
    if (changed && hasNames)
      assignNames(function);
  }
};
} // namespace
