// SPDX-License-Identifier: Apache-2.0
//
// Ops that are compiled together.
#include "Schedule.h"

#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;
using mct::tpc::QuantizeOp;

/// Limit on the ops in one part; more do not run faster, but take long to
/// compile.
static constexpr size_t kLargestPart = 24;
/// Size above which splats are filled once instead of by compiled code.
static constexpr int64_t kLargeSplatBytes = 4096;

static int64_t countElements(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Returns whether linalg computes the op element by element.
static bool isElementwise(Operation *op) {
  return isa<tosa::CastOp, tosa::MulOp, tosa::TableOp>(op) ||
         op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>();
}

/// Makes a part that computes element by element, and broadcasts nothing but
/// single numbers, compute one block of its elements: networks then need the
/// same code for values of many sizes. Returns the number of blocks.
static int64_t cutIntoBlocks(func::FuncOp part) {
  Block &body = part.getBody().front();
  Operation *terminator = body.getTerminator();
  if (terminator->getNumOperands() != 1)
    return 1;
  auto whole = dyn_cast<RankedTensorType>(terminator->getOperand(0).getType());
  if (!whole || whole.getRank() == 0 || whole.getNumElements() == 0)
    return 1;
  auto isWhole = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getShape() == whole.getShape() &&
           isStoredInBytes(tensor);
  };
  auto isWholeOrOne = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return isWhole(type) ||
           (tensor && tensor.hasStaticShape() && tensor.getNumElements() == 1);
  };
  if (!llvm::all_of(body.getArgumentTypes(), isWholeOrOne))
    return 1;
  for (Operation &op : body.without_terminator()) {
    DenseElementsAttr constant;
    if (auto value = dyn_cast<tosa::ConstOp>(op)) {
      constant = dyn_cast<DenseElementsAttr>(value.getValues());
      if (!constant || !constant.isSplat() ||
          (constant.getNumElements() != 1 && !isWhole(constant.getType())))
        return 1;
    } else if (!isElementwise(&op) || op.getNumResults() != 1 ||
               !isWholeOrOne(op.getResult(0).getType())) {
      return 1;
    }
  }

  // Use few block sizes, so that parts share code; with smaller blocks calls
  // would cost too much.
  int64_t count = whole.getNumElements(), block = count;
  for (int64_t size : {256, 1024, 4096})
    if (count % size == 0)
      block = size;
  auto blockType = [&](Type type) -> RankedTensorType {
    auto tensor = cast<RankedTensorType>(type);
    bool isOne = tensor.getShape() != whole.getShape();
    return RankedTensorType::get({isOne ? 1 : block}, tensor.getElementType());
  };
  for (BlockArgument argument : body.getArguments())
    argument.setType(blockType(argument.getType()));
  for (Operation &op : body.without_terminator()) {
    RankedTensorType type = blockType(op.getResult(0).getType());
    if (auto value = dyn_cast<tosa::ConstOp>(op))
      value.setValuesAttr(
          cast<DenseElementsAttr>(value.getValues()).resizeSplat(type));
    op.getResult(0).setType(type);
  }
  part.setType(FunctionType::get(part.getContext(), body.getArgumentTypes(),
                                 terminator->getOperandTypes()));
  return count / block;
}

bool Scheduler::canMerge(Operation *producer, Operation *user) const {
  bool isTosa = isa<tosa::TosaDialect>(producer->getDialect());
  if (isTosa != isa<tosa::TosaDialect>(user->getDialect()))
    return false;
  // Merge initial tensors with the ops that fill them.
  if (!isTosa)
    return producer->getNumResults() == 1;
  // Merge ops that fusion makes one loop, which computes an element once for
  // each read. Do not merge if that repeats work.
  return isElementwise(producer) &&
         (isElementwise(user) || isa<ReductionOpInterface>(user)) &&
         countElements(producer->getResult(0)) >=
             countElements((isa<ReductionOpInterface>(user)
                                ? user->getOperand(0)
                                : user->getResult(0)));
}

/// Returns whether computing an op again in each of several parts moves less
/// memory than writing its result and reading it there, and has no other cost.
static bool isCheaperAgain(Operation *op, size_t numParts) {
  if (!isa<tosa::AbsOp, tosa::AddOp, tosa::CastOp, tosa::CeilOp, tosa::ClampOp,
           tosa::EqualOp, tosa::FloorOp, tosa::GreaterEqualOp, tosa::GreaterOp,
           tosa::LogicalAndOp, tosa::LogicalNotOp, tosa::LogicalOrOp,
           tosa::LogicalXorOp, tosa::MaximumOp, tosa::MinimumOp, tosa::MulOp,
           tosa::NegateOp, tosa::SelectOp, tosa::SubOp>(op))
    return false;
  // Loops that load i1 values are not vectorized.
  constexpr size_t kMostParts = 4;
  if (getElementTypeOrSelf(op->getResult(0)).isInteger(1))
    return numParts <= kMostParts;
  llvm::SmallDenseSet<Value, 4> large;
  for (Value operand : op->getOperands())
    if (auto type = dyn_cast<RankedTensorType>(operand.getType());
        type && type.getNumElements() > 1 &&
        !matchPattern(operand, m_Constant()))
      large.insert(operand);
  return numParts * large.size() <= large.size() + 1 + numParts;
}

/// Forms the parts. An op joins the part of its users if they are in one, or if
/// it is cheaper in each of theirs: then every value inside a part has users
/// only there, and parts do not wait for each other in cycles.
void Scheduler::formGroups() {
  Block &body = function.getBody().front();
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    if (!needed.contains(&op) || sites->lookup(&op) || isView(&op) ||
        isa<QuantizeOp>(op) || hosts.contains(&op) || hasOnlyScalars(&op) ||
        isa<tensor::EmptyOp>(op))
      continue;
    SmallVector<Operation *, 1> roots;
    bool joins = op.getNumResults() == 1 && !kept.contains(op.getResult(0));
    if (joins)
      for (Operation *next : op.getResult(0).getUsers()) {
        next = body.findAncestorOpInBlock(*next);
        auto users = mergedRoots.find(next);
        visit();
        joins = users != mergedRoots.end() && canMerge(&op, next);
        if (!joins)
          break;
        for (Operation *root : users->second) {
          visit(1 + roots.size());
          if (!llvm::is_contained(roots, root))
            roots.push_back(root);
        }
      }
    joins &= !roots.empty() && llvm::all_of(roots, [&](Operation *root) {
      return members[root].size() < kLargestPart;
    }) && (roots.size() == 1 || isCheaperAgain(&op, roots.size()));
    if (!joins)
      roots = {&op};
    for (Operation *root : roots)
      members[root].push_back(&op);
    mergedRoots[&op] = std::move(roots);
  }
}

bool Scheduler::isCloned(Value value, Operation *user) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (hasOnlyScalars(op) || isa<tensor::EmptyOp>(op))
    return true;
  if (!op->hasTrait<OpTrait::ConstantLike>())
    return false;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (replaceableValues.contains(value))
    return false;
  // The lowering of a rescale needs its constants.
  if (!type || isa<tosa::RescaleOp>(user))
    return true;
  if (!isStoredInBytes(type) || type.getNumElements() <= 1)
    return true;
  std::optional<ConstantTensor> constant = ConstantTensor::get(value);
  if (!constant || !constant->isSplat())
    return false;
  return isElementwise(user) || byteSizeOf(type) <= kLargeSplatBytes;
}

/// Copies a constant or a scalar, with the ops that compute it, into a part.
/// Tensors from which such a scalar is read become operands. Returns the number
/// of visited values.
static size_t cloneTree(Value value, OpBuilder &builder, IRMapping &mapping,
                        function_ref<bool(Value)> isCloned,
                        function_ref<void(Value)> addOperand) {
  SmallVector<Value> pending{value};
  size_t numVisits = 0;
  while (!pending.empty()) {
    ++numVisits;
    Value next = pending.back();
    if (mapping.contains(next)) {
      pending.pop_back();
      continue;
    }
    if (!isCloned(next)) {
      addOperand(next);
      continue;
    }
    Operation *op = next.getDefiningOp();
    size_t before = pending.size();
    for (Value operand : op->getOperands())
      if (!mapping.contains(operand))
        pending.push_back(operand);
    if (pending.size() == before)
      builder.clone(*op, mapping)
          ->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  }
  return numVisits;
}

LogicalResult Scheduler::schedulePart(Operation *root) {
  MLIRContext *context = function.getContext();
  OpBuilder builder(context);
  auto part = func::FuncOp::create(root->getLoc(), "part",
                                   builder.getFunctionType({}, {}));
  Block *body = part.addEntryBlock();
  builder.setInsertionPointToStart(body);
  IRMapping mapping;
  SmallVector<Value> operands;
  auto addOperand = [&](Value value) {
    operands.push_back(value);
    mapping.map(value, body->addArgument(value.getType(), value.getLoc()));
  };
  auto checks = IndexChecks::None;
  for (Operation *op : llvm::reverse(members[root])) {
    for (Value read : findReads(op))
      if (!mapping.contains(read))
        visit(cloneTree(
            read, builder, mapping,
            [&](Value value) { return isCloned(value, op); }, addOperand));
    Operation *copy = builder.clone(*op, mapping);
    copy->walk([&](Operation *inner) {
      inner->setDiscardableAttrs(ArrayRef<NamedAttribute>());
    });
  }
  part.walk([&](Operation *op) {
    if (isa<tosa::GatherOp, tosa::ScatterOp>(op))
      checks = std::max(checks, IndexChecks::OfData);
    else if (isa<tensor::ExtractOp, tensor::InsertOp, tensor::ExtractSliceOp,
                 tensor::InsertSliceOp, tensor::PadOp>(op))
      checks = IndexChecks::All;
  });
  SmallVector<Value> results = llvm::map_to_vector(
      root->getResults(), [&](Value value) { return mapping.lookup(value); });
  func::ReturnOp::create(builder, root->getLoc(), results);
  part.setType(builder.getFunctionType(body->getArgumentTypes(),
                                       ValueRange(results).getTypes()));

  SmallVector<Type> wholes = llvm::map_to_vector(
      operands, [](Value operand) { return operand.getType(); });
  llvm::append_range(wholes, root->getResultTypes());
  int64_t numBlocks = cutIntoBlocks(part);
  SmallVector<unsigned, 4> reads;
  for (Value operand : operands) {
    FailureOr<unsigned> buffer = getBuffer(operand);
    if (failed(buffer)) {
      part->erase();
      return failure();
    }
    reads.push_back(*buffer);
  }
  Planned &next = add(Step::Kind::Part, 0, root);
  next.part = parts.add(part, checks);
  next.step.numBlocks = numBlocks;
  if (numBlocks != 1)
    for (Type type : wholes) {
      bool isOne = cast<RankedTensorType>(type).getNumElements() == 1;
      next.step.blockBytes.push_back(isOne ? 0 : byteSizeOf(type) / numBlocks);
    }
  next.reads = std::move(reads);
  for (Value result : root->getResults())
    next.writes.push_back(newBuffer(result, ProgramBuffer::Place::Block));
  if (next.writes.size() == 1)
    producers[next.writes.front()] = planned.size() - 1;
  return success();
}
