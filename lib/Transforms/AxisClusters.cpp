// SPDX-License-Identifier: Apache-2.0
#include "AxisClusters.h"
#include "mct/IR/ConstantEvaluator.h"
#include "mct/IR/EraseUnused.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include <numeric>

using namespace mlir;
using namespace mct;

RankedTensorType mct::getRankedType(Value value) {
  return dyn_cast<RankedTensorType>(value.getType());
}

RankedTensorType mct::rearrange(RankedTensorType type, ArrayRef<int32_t> axes) {
  SmallVector<int64_t> shape;
  for (int32_t axis : axes)
    shape.push_back(axis == kInsertedAxis ? 1 : type.getDimSize(axis));
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

//===----------------------------------------------------------------------===//
// Operands that hold numbers for each axis
//===----------------------------------------------------------------------===//

namespace {
/// An operand of an op that lists sizes axis by axis.
struct SizesOperand {
  unsigned operand;
  /// Length of the list per axis, and the value of each element of it for an
  /// axis of size 1.
  int64_t perAxis, ofUnitAxis;
};
} // namespace

static SmallVector<SizesOperand, 2> getSizesOperands(Operation *op) {
  if (isa<tosa::SliceOp>(op))
    return {{1, 1, 0}, {2, 1, 1}};
  if (isa<tosa::PadOp>(op))
    return {{1, 2, 0}};
  if (isa<tosa::TileOp>(op))
    return {{1, 1, 1}};
  return {};
}

/// Returns the values of a `tosa.const_shape`, or an empty list if they are
/// unknown.
static SmallVector<int64_t> getSizes(Value value) {
  SmallVector<int64_t> values;
  if (Operation *op = value.getDefiningOp())
    (void)tosa::getConstShapeValues(op, values);
  return values;
}

static bool hasKnownSizes(Operation *op, int64_t rank) {
  return llvm::all_of(getSizesOperands(op), [&](const SizesOperand &sizes) {
    return int64_t(getSizes(op->getOperand(sizes.operand)).size()) ==
           rank * sizes.perAxis;
  });
}

static void rearrangeSizes(RewriterBase &rewriter, Operation *op,
                           const SizesOperand &sizes, ArrayRef<int32_t> axes) {
  Value old = op->getOperand(sizes.operand);
  SmallVector<int64_t> from = getSizes(old), to;
  for (int32_t axis : axes)
    for (int64_t i = 0; i != sizes.perAxis; ++i)
      to.push_back(axis == kInsertedAxis ? sizes.ofUnitAxis
                                         : from[axis * sizes.perAxis + i]);
  rewriter.setInsertionPoint(op);
  ImplicitLocOpBuilder builder(op->getLoc(), rewriter);
  op->setOperand(sizes.operand, tosa::getTosaConstShape(builder, to));
  eraseUnused(old.getDefiningOp(), rewriter.getListener());
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

static bool isElementwise(Operation *op) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  // The output operand would have to be rearranged as well.
  if (!elementwise || isa<DestinationStyleOpInterface>(op))
    return false;
  return llvm::none_of(
      llvm::seq<int64_t>(0, getRankedType(op->getResult(0)).getRank()),
      [&](int64_t axis) { return elementwise.hasParametersAlong(axis); });
}

/// Returns true if `rearrangeOp` supports the op.
static bool canRearrange(Operation *op) {
  if (op->getNumResults() != 1)
    return false;
  RankedTensorType type = getRankedType(op->getResult(0));
  if (!type || type.getRank() < 2 || op->getNumOperands() == 0)
    return false;
  int64_t rank = type.getRank();
  for (Value operand : op->getOperands().take_front(getNumDataOperands(op)))
    if (!getRankedType(operand) || getRankedType(operand).getRank() != rank)
      return false;
  if (auto point = dyn_cast<tpc::QuantizeOp>(op))
    return !point.isWeight() && !point.getStatistics() &&
           point.getChannelAxes().empty();
  if (!getSizesOperands(op).empty())
    return hasKnownSizes(op, rank);
  return isElementwise(op) ||
         isa<ReductionOpInterface, tosa::ConcatOp, tosa::ReverseOp>(op);
}

void mct::rearrangeOp(RewriterBase &rewriter, Operation *op,
                      ArrayRef<int32_t> axes) {
  rewriter.startOpModification(op);
  if (IntegerAttr axis = op->getAttrOfType<IntegerAttr>("axis")) {
    int64_t moved = llvm::find(axes, axis.getInt()) - axes.begin();
    op->setAttr("axis", IntegerAttr::get(axis.getType(), moved));
  }
  for (const SizesOperand &sizes : getSizesOperands(op))
    rearrangeSizes(rewriter, op, sizes, axes);
  Value result = op->getResult(0);
  result.setType(rearrange(getRankedType(result), axes));
  rewriter.finalizeOpModification(op);
}

//===----------------------------------------------------------------------===//
// Clusters
//===----------------------------------------------------------------------===//

SmallVector<Value> AxisCluster::getInputs() const {
  llvm::SetVector<Value> inputs;
  for (Operation *op : members)
    for (Value operand : op->getOperands().take_front(getNumDataOperands(op)))
      if (!contains(operand))
        inputs.insert(operand);
  return inputs.takeVector();
}

std::vector<AxisCluster> mct::findAxisClusters(Block &block) {
  SmallVector<Operation *> ops;
  llvm::DenseMap<Operation *, size_t> indices;
  for (Operation &op : block)
    if (canRearrange(&op)) {
      indices[&op] = ops.size();
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
      if (auto found = indices.find(operand.getDefiningOp());
          found != indices.end())
        parent[find(number)] = find(found->second);
  std::vector<AxisCluster> clusters;
  llvm::DenseMap<size_t, size_t> clusterOfRoot;
  for (auto [number, op] : llvm::enumerate(ops)) {
    auto [found, isNew] =
        clusterOfRoot.try_emplace(find(number), clusters.size());
    if (isNew)
      clusters.emplace_back();
    clusters[found->second].add(op);
  }
  return clusters;
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool mct::isConstantOp(Value value) {
  return isa_and_nonnull<tosa::ConstOp, arith::ConstantOp>(
      value.getDefiningOp());
}

Value mct::foldConstant(RewriterBase &rewriter, Value made, StringRef key) {
  auto tensor = ConstantEvaluator().evaluate(made);
  if (!tensor)
    return made;
  Operation *op = made.getDefiningOp();
  rewriter.setInsertionPoint(op);
  Value constant = tosa::ConstOp::create(rewriter, op->getLoc(), made.getType(),
                                         tensor->toAttribute(key));
  eraseUnused(op, rewriter.getListener());
  return constant;
}
