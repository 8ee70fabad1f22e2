// SPDX-License-Identifier: Apache-2.0
#include "Schedule.h"

#include "MemoryPlan.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <cstring>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::execution;
using mct::tpc::QuantizeOp;

namespace {

/// More ops in one part than this do not run faster, but take long to compile.
constexpr size_t kLargestPart = 24;
/// Splats above this size are filled once instead of by compiled code.
constexpr int64_t kLargeSplatBytes = 4096;

int64_t byteSizeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * getElementBytes(tensor.getElementType());
}

int64_t elementsOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getNumElements();
}

/// Whether compiled code and constants hold the elements in the same form.
bool isStoredInBytes(RankedTensorType type) {
  Type element = type.getElementType();
  return element.isInteger(1) ||
         (element.isIntOrFloat() && int64_t(element.getIntOrFloatBitWidth()) ==
                                        8 * getElementBytes(element));
}

/// Everything an op reads, inside of its regions too.
llvm::SetVector<Value> readsOf(Operation *op) {
  llvm::SetVector<Value> reads;
  reads.insert(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads;
}

/// Ops whose result is the same memory with another shape.
bool isView(Operation *op) {
  if (isa<tosa::ReshapeOp, tosa::IdentityOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp>(op))
    return true;
  return isa<tensor::CastOp>(op) &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

bool hasOnlyScalars(Operation *op) {
  return op->getNumResults() != 0 && op->getNumRegions() == 0 &&
         llvm::none_of(op->getResultTypes(),
                       [](Type type) { return isa<TensorType>(type); });
}

/// Ops that linalg computes element by element.
bool isElementwise(Operation *op) {
  return isa<tosa::CastOp, tosa::MulOp, tosa::TableOp>(op) ||
         op->hasTrait<OpTrait::tosa::TosaElementwiseOperator>();
}

/// Makes a part that computes element by element, without broadcasting more
/// than single numbers, one of a block of its elements: then networks need the
/// same code for values of many sizes. Returns the number of blocks.
int64_t cutIntoBlocks(func::FuncOp part) {
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

  // Few sizes, so that they are shared; below that calls would cost too much.
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

bool isReduction(Operation *op) {
  return isa<tosa::ReduceAllOp, tosa::ReduceAnyOp, tosa::ReduceMaxOp,
             tosa::ReduceMinOp, tosa::ReduceProductOp, tosa::ReduceSumOp>(op);
}

} // namespace

/// The parameters of a point, ready to run.
static QuantizeSite makeQuantizer(QuantizeOp op) {
  QuantizeSite site;
  auto type = cast<RankedTensorType>(op.getType());
  llvm::append_range(site.shape, type.getShape());
  llvm::append_range(site.axes, op.getChannelAxes());
  if (!op.getParameters())
    return site;
  site.quantizer = op.getParameters()->prepare();
  SmallVector<mct::quantization::Grid> grids = op.getParameters()->getGrids();
  if (grids.size() == 1)
    site.grid = grids.front();
  return site;
}

Scheduler::Scheduler(func::FuncOp function, Program &program, PartSet &parts,
                     bool simulate, ArrayRef<Value> observed,
                     ArrayRef<Operation *> readers, size_t numEdited,
                     ArrayRef<OpOperand *> replaceable,
                     ArrayRef<QuantizeOp> replaceablePoints,
                     ArrayRef<Operation *> hostOps)
    : function(function), program(program), parts(parts), simulate(simulate),
      observed(observed), readers(readers), numEdited(numEdited),
      replaceable(replaceable), replaceablePoints(replaceablePoints) {
  for (auto [number, op] : llvm::enumerate(hostOps))
    hosts[op] = number;
  constants.handle<QuantizeOp>(
      [this](QuantizeOp point, ConstantEvaluator::Operands operands) {
        return quantizeConstant(point, operands.front());
      });
}

std::optional<ConstantTensor>
Scheduler::quantizeConstant(QuantizeOp point, const ConstantTensor &input) {
  auto host = hosts.find(point);
  bool isHost = host != hosts.end();
  if (!isHost && (!simulate || !point.getParameters()))
    return input;
  std::optional<ConstantFloats> floats = ConstantFloats::convert(input);
  if (!floats)
    return std::nullopt;
  std::vector<float> values(floats->values().size());
  if (!isHost) {
    makeQuantizer(point).run(floats->values().data(), values.data());
    return ConstantTensor::create(input.getType(), std::move(values));
  }
  // It may keep what it has seen: it sees a constant once.
  auto known = hostConstants.find(host->second);
  if (known != hostConstants.end())
    return ConstantTensor::create(input.getType(), known->second);
  const HostSite &site = program.hosts[host->second];
  if (llvm::Error error =
          site.run(floats->values().data(), nullptr, values.data(), 0)) {
    failedPoint = point;
    hostError = llvm::toString(std::move(error));
    return std::nullopt;
  }
  hostConstants[host->second] = values;
  return ConstantTensor::create(input.getType(), std::move(values));
}

//===----------------------------------------------------------------------===//
// Parts
//===----------------------------------------------------------------------===//

void Scheduler::markConstants() {
  auto isFixed = [&](Value value) { return !changing.contains(value); };
  for (Operation &op : function.getBody().front().without_terminator()) {
    visit(1 + op.getNumOperands());
    if ((op.hasTrait<OpTrait::ConstantLike>() ||
         (op.getNumOperands() != 0 && op.getNumRegions() == 0 &&
          llvm::all_of(op.getOperands(),
                       [&](Value operand) {
                         return constantValues.contains(operand);
                       }))) &&
        llvm::all_of(op.getResults(), isFixed))
      constantValues.insert(op.result_begin(), op.result_end());
  }
}

/// Which ops lead to a result or to an observer, and are no constants.
void Scheduler::markNeeded() {
  Block &body = function.getBody().front();
  llvm::DenseSet<Value> values(observed.begin(), observed.end());
  kept = values;
  for (Value result : body.getTerminator()->getOperands()) {
    values.insert(result);
    kept.insert(result);
  }
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    visit();
    if (sites->isCovered(&op) ||
        llvm::none_of(op.getResults(),
                      [&](Value result) { return values.contains(result); }))
      continue;
    // A constant that can be evaluated is not computed.
    if (op.getNumResults() == 1 && constantValues.contains(op.getResult(0)) &&
        (op.hasTrait<OpTrait::ConstantLike>() ||
         constants.evaluate(op.getResult(0))))
      continue;
    needed.insert(&op);
    if (const Site *site = sites->lookup(&op)) {
      values.insert(site->operands.begin(), site->operands.end());
      kept.insert(site->operands.begin(), site->operands.end());
      continue;
    }
    auto reads = readsOf(&op);
    visit(reads.size());
    values.insert(reads.begin(), reads.end());
    if (isView(&op) || isa<QuantizeOp>(op))
      kept.insert(op.getOperand(0));
    if (hosts.contains(&op))
      kept.insert(op.operand_begin(), op.operand_end());
  }
}

bool Scheduler::canMerge(Operation *producer, Operation *user) const {
  bool isTosa = isa<tosa::TosaDialect>(producer->getDialect());
  if (isTosa != isa<tosa::TosaDialect>(user->getDialect()))
    return false;
  // Initial tensors and what fills them.
  if (!isTosa)
    return producer->getNumResults() == 1;
  // What fusion makes one loop of. That loop would compute what is repeated as
  // often as it is read.
  return isElementwise(producer) &&
         (isElementwise(user) || isReduction(user)) &&
         elementsOf(producer->getResult(0)) >=
             elementsOf((isReduction(user) ? user->getOperand(0)
                                           : user->getResult(0)));
}

/// Whether to compute an op again in each of several parts moves less memory
/// than to write its result and read it there: and that costs nothing besides.
static bool isCheaperAgain(Operation *op, size_t numParts) {
  if (!isa<tosa::AbsOp, tosa::AddOp, tosa::CastOp, tosa::CeilOp, tosa::ClampOp,
           tosa::EqualOp, tosa::FloorOp, tosa::GreaterEqualOp, tosa::GreaterOp,
           tosa::LogicalAndOp, tosa::LogicalNotOp, tosa::LogicalOrOp,
           tosa::LogicalXorOp, tosa::MaximumOp, tosa::MinimumOp, tosa::MulOp,
           tosa::NegateOp, tosa::SelectOp, tosa::SubOp>(op))
    return false;
  // Loops that load truths do not become vector code.
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

/// An op joins the part of its users when they are in one, or cost less with
/// it in each of theirs: then every value inside of a part is read there alone,
/// and no part waits for another one that waits for it.
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
        auto users = rootsOf.find(next);
        visit();
        joins = users != rootsOf.end() && canMerge(&op, next);
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
    rootsOf[&op] = std::move(roots);
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
  // The lowering of a rescale wants to see its constants.
  if (!type || isa<tosa::RescaleOp>(user))
    return true;
  if (!isStoredInBytes(type) || type.getNumElements() <= 1)
    return true;
  std::optional<ConstantTensor> constant = ConstantTensor::get(value);
  if (!constant || !constant->isSplat())
    return false;
  return isElementwise(user) || byteSizeOf(type) <= kLargeSplatBytes;
}

/// Copies a constant or a scalar, and what it is computed from, into a part.
/// Tensors that such a scalar is read from become operands. Returns the number
/// of values that it looked at.
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
    for (Value read : readsOf(op))
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
    FailureOr<unsigned> buffer = bufferOf(operand);
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
    makerOf[next.writes.front()] = planned.size() - 1;
  return success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

Scheduler::Planned &Scheduler::add(Step::Kind kind, size_t index,
                                   Operation *op) {
  Step step;
  step.kind = kind;
  step.index = index;
  step.op = describeOp(op);
  step.stage = stage;
  planned.push_back({std::move(step), {}, {}});
  return planned.back();
}

unsigned Scheduler::newBuffer(Value value, ProgramBuffer::Place place,
                              int64_t index) {
  unsigned number = program.buffers.size();
  program.buffers.push_back({place, index, byteSizeOf(value.getType())});
  buffers[value] = number;
  return number;
}

FailureOr<unsigned> Scheduler::addConstant(Value value, ArrayRef<char> data) {
  constexpr int64_t kAlignment = 64;
  int64_t bytes = byteSizeOf(value.getType());
  int64_t size =
      std::max<int64_t>((bytes + kAlignment - 1) / kAlignment, 1) * kAlignment;
  ConstantBuffer buffer;
  buffer.data.reset(static_cast<char *>(std::aligned_alloc(kAlignment, size)));
  if (!buffer.data)
    return value.getDefiningOp()->emitOpError("cannot be executed: there are "
                                              "not ")
           << bytes << " bytes of memory for it";
  // A splat is one element.
  auto dataBytes = int64_t(data.size());
  if (bytes != 0 && (dataBytes == 0 || bytes % dataBytes != 0))
    return value.getDefiningOp()->emitOpError("cannot be executed: it has ")
           << dataBytes << " bytes for a value of " << bytes;
  for (int64_t at = 0; at < bytes; at += dataBytes)
    std::memcpy(buffer.data.get() + at, data.data(), data.size());
  program.constants.push_back(std::move(buffer));
  return newBuffer(value, ProgramBuffer::Place::Constant,
                   program.constants.size() - 1);
}

FailureOr<unsigned> Scheduler::bufferOf(Value value) {
  if (auto found = buffers.find(value); found != buffers.end())
    return found->second;
  // Everything that is computed has a buffer already: this is a constant.
  Operation *op = value.getDefiningOp();
  int64_t bytes = byteSizeOf(value.getType());
  program.memory.shared += bytes;
  if (program.memory.shared > program.maxMemory)
    return op->emitOpError("cannot be executed: the constants of the network "
                           "need more than ")
           << program.maxMemory
           << " bytes; raise the limit on memory, or run on a larger machine"
           << support::kTroubleshooting << "a-network-needs-too-much-memory";
  if (std::optional<ConstantTensor> constant = constants.evaluate(value);
      constant && isStoredInBytes(constant->getType()))
    return addConstant(value, constant->getBytes());
  // Compiled code knows how its elements lie in memory.
  members[op] = {op};
  if (failed(schedulePart(op)))
    return failure();
  return buffers.lookup(value);
}

void Scheduler::scheduleObserver(size_t number, unsigned buffer) {
  Step step;
  step.kind = Step::Kind::Observe;
  step.index = number;
  step.stage = stage;
  planned.push_back({std::move(step), {buffer}, {}});
}

/// Those that see the value when it is made.
void Scheduler::scheduleObservers(Value value) {
  auto found = observers.find(value);
  if (found == observers.end())
    return;
  for (size_t number : found->second)
    if (!readers[number])
      scheduleObserver(number, buffers.lookup(value));
}

/// Whether nobody but the point reads the buffer of its input.
bool Scheduler::isReadOnlyBy(QuantizeOp point) {
  Value value = point.getInput();
  while (value.hasOneUse() && !observers.contains(value)) {
    visit();
    Operation *op = value.getDefiningOp();
    if (!op || !isView(op))
      return true;
    value = op->getOperand(0);
  }
  return false;
}

LogicalResult Scheduler::scheduleOp(Operation *op) {
  visit(1 + op->getNumOperands());
  if (const Site *site = sites->lookup(op)) {
    SmallVector<unsigned, 4> reads;
    for (Value operand : site->operands) {
      FailureOr<unsigned> buffer = bufferOf(operand);
      if (failed(buffer))
        return failure();
      reads.push_back(*buffer);
    }
    auto select = [&](ArrayRef<unsigned> numbers) {
      return SmallVector<unsigned, 4>(
          llvm::map_range(numbers, [&](unsigned n) { return reads[n]; }));
    };
    for (const Site::Call &call : site->before) {
      Planned &next = add(call.kind, call.index, op);
      next.reads = select(call.reads);
      next.writes = {static_cast<unsigned>(program.buffers.size())};
      reads.push_back(next.writes.front());
      program.buffers.push_back({ProgramBuffer::Place::Block, 0, call.bytes});
    }
    Planned &next = add(site->kind, site->index, op);
    next.reads = site->before.empty() ? std::move(reads) : select(site->reads);
    next.writes = {newBuffer(op->getResult(0), ProgramBuffer::Place::Block)};
    makerOf[next.writes.front()] = planned.size() - 1;
    return success();
  }
  if (isView(op)) {
    FailureOr<unsigned> buffer = bufferOf(op->getOperand(0));
    if (failed(buffer))
      return failure();
    buffers[op->getResult(0)] = *buffer;
    return success();
  }
  if (auto host = hosts.find(op); host != hosts.end()) {
    SmallVector<unsigned, 4> reads;
    for (Value operand : op->getOperands()) {
      FailureOr<unsigned> buffer = bufferOf(operand);
      if (failed(buffer))
        return failure();
      reads.push_back(*buffer);
    }
    Planned &next = add(Step::Kind::Host, host->second, op);
    next.reads = std::move(reads);
    next.writes = {newBuffer(op->getResult(0), ProgramBuffer::Place::Block)};
    return success();
  }
  if (auto point = dyn_cast<QuantizeOp>(op)) {
    FailureOr<unsigned> buffer = bufferOf(point.getInput());
    if (failed(buffer))
      return failure();
    program.quantizers.push_back(makeQuantizer(point));
    size_t quantizer = program.quantizers.size() - 1;
    if (auto number = pointNumbers.find(op); number != pointNumbers.end()) {
      program.quantizers.back().grid = std::nullopt;
      program.replaceablePoints[number->second].site = quantizer;
      program.replaceablePoints[number->second].stage = stage;
    }
    // At once, where the value is made for this point alone.
    auto maker = makerOf.find(*buffer);
    if (maker != makerOf.end() && isReadOnlyBy(point) &&
        !planned[maker->second].step.quantizer) {
      planned[maker->second].step.quantizer = quantizer;
      buffers[point.getResult()] = *buffer;
      return success();
    }
    Planned &next = add(Step::Kind::Quantize, quantizer, op);
    next.reads = {*buffer};
    next.writes = {newBuffer(point.getResult(), ProgramBuffer::Place::Block)};
    return success();
  }
  if (llvm::is_contained(rootsOf.lookup(op), op))
    return schedulePart(op);
  return success();
}

/// What points that may change quantize: constants, which join `replaceable`,
/// or what is computed.
LogicalResult Scheduler::describePoints() {
  for (auto [number, point] : llvm::enumerate(replaceablePoints)) {
    ReplaceablePoint &found = program.replaceablePoints.emplace_back();
    auto type = cast<RankedTensorType>(point.getType());
    found.name = point.getUniqueName();
    llvm::append_range(found.shape, type.getShape());
    llvm::append_range(found.axes, point.getChannelAxes());
    for (int64_t axis : found.axes)
      found.numChannels *= type.getDimSize(axis);
    std::optional<ConstantTensor> constant =
        constants.evaluate(point.getInput());
    if (!constant) {
      pointNumbers[point] = number;
      continue;
    }
    std::optional<ConstantFloats> values = ConstantFloats::convert(*constant);
    if (!values)
      return point.emitOpError("cannot be executed with another quantizer: its "
                               "constant is too large");
    found.values = values->values().vec();
    program.memory.shared += int64_t(found.values.size() * sizeof(float));
    for (OpOperand &use : point.getResult().getUses()) {
      found.constants.push_back(replaceable.size());
      replaceable.push_back(&use);
    }
  }
  return success();
}

/// Other ops keep what they read.
void Scheduler::separateReplaceable() {
  for (OpOperand *operand : replaceable) {
    Value value = operand->get();
    if (value.getDefiningOp() && !value.hasOneUse()) {
      OpBuilder builder(operand->getOwner());
      Operation *copy = builder.clone(*value.getDefiningOp());
      operand->set(copy->getResult(cast<OpResult>(value).getResultNumber()));
    }
    replaceableValues.insert(operand->get());
  }
}

/// Where the values of the operands are.
LogicalResult Scheduler::findReplaceable() {
  for (OpOperand *operand : replaceable) {
    ReplaceableConstant &found = program.replaceable.emplace_back();
    Operation *op = operand->getOwner();
    found.elements =
        cast<RankedTensorType>(operand->get().getType()).getNumElements();
    if (std::optional<size_t> primitive = sites->lookupPrimitive(op);
        primitive && !buffers.contains(operand->get())) {
      found.place = operand->getOperandNumber() == 1
                        ? ReplaceableConstant::Place::Weights
                        : ReplaceableConstant::Place::Bias;
      found.index = *primitive;
      continue;
    }
    auto buffer = buffers.find(operand->get());
    if (buffer == buffers.end() ||
        program.buffers[buffer->second].place != ProgramBuffer::Place::Constant)
      return op->emitOpError("cannot be executed with other values of operand ")
             << operand->getOperandNumber()
             << ", which is not a constant of f32";
    found.index = program.buffers[buffer->second].index;
  }
  return success();
}

/// Ops of a stage come before those of later ones.
void Scheduler::sortByStage() {
  Block &body = function.getBody().front();
  llvm::DenseMap<Value, unsigned> stageBehind;
  for (BlockArgument argument : body.getArguments())
    stageBehind[argument] = changing.contains(argument);
  SmallVector<SmallVector<Operation *>> ops;
  for (Operation &op : body.without_terminator()) {
    unsigned own = 0;
    for (Value read : readsOf(&op)) {
      visit();
      own = std::max(own, stageBehind.lookup(read));
    }
    stageOf[&op] = own;
    for (Value result : op.getResults())
      stageBehind[result] = own + changing.contains(result);
    if (ops.size() <= own)
      ops.resize(own + 1);
    ops[own].push_back(&op);
  }
  for (ArrayRef<Operation *> ofStage : ops)
    for (Operation *op : ofStage)
      op->moveBefore(body.getTerminator());
}

/// Adds the observers of a value that has just been scheduled.
LogicalResult Scheduler::observe(Value value) {
  FailureOr<unsigned> buffer = bufferOf(value);
  if (failed(buffer))
    return failure();
  // What may be changed has memory of its own.
  Operation *op = value.getDefiningOp();
  if (changing.contains(value) &&
      (!op || isView(op) ||
       program.buffers[*buffer].place != ProgramBuffer::Place::Block)) {
    Planned &copy = add(Step::Kind::Copy, 0, op ? op : function);
    copy.reads = {*buffer};
    copy.writes = {newBuffer(value, ProgramBuffer::Place::Block)};
  }
  scheduleObservers(value);
  return success();
}

LogicalResult Scheduler::schedule(bool usePrimitives) {
  // Points that do not quantize would stand between a primitive and what it can
  // do itself.
  llvm::DenseSet<Operation *> stays(replaceablePoints.begin(),
                                    replaceablePoints.end());
  llvm::DenseMap<Value, Value> replaced;
  function.walk([&](QuantizeOp point) {
    if (!simulate)
      point.removeQuantizer();
    if (point.getParameters() || stays.contains(point) || hosts.contains(point))
      return;
    replaced[point.getResult()] = point.getInput();
    point.getResult().replaceAllUsesWith(point.getInput());
    point.erase();
  });
  for (Value &value : observed)
    for (auto it = replaced.find(value); it != replaced.end();
         it = replaced.find(value))
      value = it->second;
  if (failed(describePoints()))
    return failure();
  separateReplaceable();
  // What a value is changed to is not known before.
  for (Value value : edited())
    constants.leaveOut(value);
  sites.emplace(function, program, constants, observed, replaceable);
  if (usePrimitives) {
    // The number of threads is fixed in a primitive when it is made.
    SingleOpenMPThread singleThread;
    sites->findPrimitives();
  }
  for (auto [number, value] : llvm::enumerate(observed))
    observers[value].push_back(number);
  changing.insert(edited().begin(), edited().end());
  program.memory.shared += program.primitives.bytes();
  for (const std::unique_ptr<IntegerKernel> &kernel : program.integers) {
    program.memory.shared += kernel->bytes();
    program.scratchBytes =
        std::max(program.scratchBytes, kernel->scratchBytes());
  }
  program.scratchBytes = int64_t(llvm::alignTo(program.scratchBytes, 4096));
  if (numEdited != 0)
    sortByStage();
  markConstants();
  markNeeded();
  if (failedPoint)
    return failedPoint.emitOpError() << hostError;
  formGroups();

  Block &body = function.getBody().front();
  llvm::DenseMap<Operation *, SmallVector<size_t, 1>> readBy;
  for (auto [number, reader] : llvm::enumerate(readers))
    if (reader)
      readBy[reader].push_back(number);
  for (BlockArgument argument : body.getArguments()) {
    newBuffer(argument, ProgramBuffer::Place::Input, argument.getArgNumber());
    if (observers.contains(argument) && failed(observe(argument)))
      return failure();
  }
  for (Operation &op : body.without_terminator()) {
    stage = stageOf.lookup(&op);
    if (auto found = readBy.find(&op); found != readBy.end())
      for (size_t number : found->second) {
        FailureOr<unsigned> buffer = bufferOf(observed[number]);
        if (failed(buffer))
          return failure();
        scheduleObserver(number, *buffer);
      }
    if (needed.contains(&op) && failed(scheduleOp(&op)))
      return failure();
    for (Value result : op.getResults())
      if (observers.contains(result) && failed(observe(result)))
        return failure();
  }
  for (auto [number, value] :
       llvm::enumerate(body.getTerminator()->getOperands())) {
    FailureOr<unsigned> buffer = bufferOf(value);
    if (failed(buffer))
      return failure();
    // Copies, unless the value can be made where it is wanted.
    unsigned target = program.buffers.size();
    program.buffers.push_back({ProgramBuffer::Place::Output, int64_t(number),
                               byteSizeOf(value.getType())});
    Planned &next = add(Step::Kind::Copy, 0, body.getTerminator());
    next.reads = {*buffer};
    next.writes = {target};
  }
  for (ReplaceablePoint &point : program.replaceablePoints)
    for (auto [number, constant] : llvm::enumerate(point.constants)) {
      unsigned reader = stageOf.lookup(replaceable[constant]->getOwner());
      point.stage = number == 0 ? reader : std::min(point.stage, reader);
    }
  return findReplaceable();
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// The grid on which all values lie that the step makes of values on the grids
/// of `reads`.
static std::optional<quantization::Grid>
gridOf(const Program &program, const Step &step,
       ArrayRef<std::optional<quantization::Grid>> reads) {
  if (step.kind == Step::Kind::Quantize)
    return program.quantizers[step.index].grid;
  if (step.quantizer)
    return program.quantizers[*step.quantizer].grid;
  bool selects =
      step.kind == Step::Kind::Copy || step.kind == Step::Kind::MaximumPool ||
      (step.kind == Step::Kind::Move && program.moves[step.index].fill.empty());
  return selects && llvm::all_equal(reads) ? reads.front() : std::nullopt;
}

/// Bytes of the codes of a grid; none where its values have no codes that give
/// them back.
static std::optional<unsigned> codeBytes(const quantization::Grid &grid) {
  float step = float(grid.step);
  int64_t codes = grid.qmax - grid.qmin + 1;
  double end = grid.step * double(std::max(grid.qmax - grid.zeroPoint,
                                           grid.zeroPoint - grid.qmin));
  if (!std::isnormal(step) || !std::isnormal(1 / step) || codes > 1 << 16 ||
      end > double(std::numeric_limits<float>::max()))
    return std::nullopt;
  return codes > 1 << 8 ? 2 : 1;
}

/// Cuts the steps, which are in their order, and finds what crosses each cut.
void Scheduler::divideIntoStages() {
  unsigned count = planned.empty() ? 1 : planned.back().step.stage + 1;
  program.stages.resize(count);
  program.stageOfObserved.resize(observed.size());
  size_t number = 0;
  for (auto [index, own] : llvm::enumerate(program.stages)) {
    own.begin = number;
    for (; number != planned.size() && planned[number].step.stage == index;
         ++number) {
      const Planned &next = planned[number];
      own.readsInputs |= llvm::any_of(next.reads, [&](unsigned buffer) {
        return program.buffers[buffer].place == ProgramBuffer::Place::Input;
      });
      if (next.step.kind == Step::Kind::Observe)
        program.stageOfObserved[next.step.index] = index;
    }
    own.end = number;
  }
  assert(number == planned.size() && "steps of a stage come before later ones");
  if (numEdited == 0)
    return;

  std::vector<std::optional<quantization::Grid>> grids(program.buffers.size());
  std::vector<SmallVector<unsigned>> readBehind(count);
  // What is there all the time crosses nothing.
  auto isMade = [&](unsigned buffer) {
    return program.buffers[buffer].place == ProgramBuffer::Place::Block ||
           program.buffers[buffer].place == ProgramBuffer::Place::Output;
  };
  // The caller reads results behind the last stage, whichever makes them.
  llvm::DenseSet<unsigned> live;
  for (const Planned &next : planned)
    for (unsigned buffer : next.writes)
      if (program.buffers[buffer].place == ProgramBuffer::Place::Output)
        live.insert(buffer);
  for (unsigned last = count; last-- > 0;) {
    visit(live.size());
    readBehind[last].assign(live.begin(), live.end());
    llvm::sort(readBehind[last]);
    for (; number > program.stages[last].begin; --number) {
      const Planned &next = planned[number - 1];
      for (unsigned buffer : next.writes)
        live.erase(buffer);
      for (unsigned buffer : next.reads)
        if (isMade(buffer))
          live.insert(buffer);
    }
  }
  for (auto [index, own] : llvm::enumerate(program.stages)) {
    llvm::DenseMap<unsigned, SmallVector<size_t, 1>> editedIn;
    for (const Planned &next :
         ArrayRef(planned).slice(own.begin, own.end - own.begin)) {
      // An editor may leave the grid.
      if (next.step.kind == Step::Kind::Observe &&
          next.step.index < numEdited) {
        grids[next.reads[0]] = std::nullopt;
        editedIn[next.reads[0]].push_back(next.step.index);
      }
      SmallVector<std::optional<quantization::Grid>> reads =
          llvm::map_to_vector(next.reads,
                              [&](unsigned buffer) { return grids[buffer]; });
      for (unsigned buffer : next.writes)
        grids[buffer] = gridOf(program, next.step, reads);
    }
    for (unsigned buffer : readBehind[index]) {
      SavedBuffer &saved = own.saved.emplace_back();
      saved.buffer = buffer;
      saved.bytes = program.buffers[buffer].bytes;
      saved.offset = own.savedBytes;
      saved.observed = editedIn.lookup(buffer);
      std::optional<unsigned> codes;
      if (grids[buffer])
        codes = codeBytes(*grids[buffer]);
      if (codes) {
        saved.grid = grids[buffer];
        saved.codeBytes = *codes;
      }
      int64_t bytes =
          codes ? saved.bytes / int64_t(sizeof(float)) * *codes : saved.bytes;
      own.savedBytes += int64_t(llvm::alignTo(bytes, 64));
    }
  }
}

LogicalResult Scheduler::placeValues() {
  // Of every buffer the first and last step that touches it.
  std::vector<BufferLife> lives(program.buffers.size());
  for (auto [number, buffer] : llvm::enumerate(program.buffers))
    lives[number] = {buffer.bytes, std::numeric_limits<unsigned>::max(), 0};
  auto touch = [&](unsigned buffer, unsigned step) {
    lives[buffer].begin = std::min(lives[buffer].begin, step);
    lives[buffer].end = std::max(lives[buffer].end, step);
  };
  for (auto [number, next] : llvm::enumerate(planned))
    for (unsigned buffer : llvm::concat<unsigned>(next.reads, next.writes)) {
      visit();
      touch(buffer, number);
    }

  // The buffer whose memory another one takes.
  std::vector<unsigned> place(program.buffers.size());
  for (auto [number, taken] : llvm::enumerate(place))
    taken = number;
  auto isBlock = [&](unsigned buffer) {
    return program.buffers[buffer].place == ProgramBuffer::Place::Block;
  };
  for (auto [number, next] : llvm::enumerate(planned)) {
    for (unsigned &buffer : next.reads)
      buffer = place[buffer];
    if (next.step.kind != Step::Kind::Part &&
        next.step.kind != Step::Kind::Quantize)
      continue;
    std::optional<unsigned> updated;
    if (next.writes.size() == 1)
      for (auto [operand, buffer] : llvm::enumerate(next.reads))
        if (isBlock(buffer) && lives[buffer].end == number &&
            program.buffers[buffer].bytes ==
                program.buffers[next.writes[0]].bytes &&
            llvm::count(next.reads, buffer) == 1 &&
            (next.step.kind == Step::Kind::Quantize ||
             parts.canUpdate(next.part, operand))) {
          updated = operand;
          break;
        }
    if (updated) {
      unsigned buffer = next.reads[*updated], result = next.writes[0];
      place[result] = buffer;
      lives[buffer].end = std::max(lives[buffer].end, lives[result].end);
      lives[result] = {0, 0, 0};
      next.writes[0] = buffer;
    }
    if (next.step.kind == Step::Kind::Part) {
      next.step.index = parts.getCode(next.part, updated);
      // The code takes the updated buffer at the place of the operand.
      next.isUpdate = updated.has_value();
    }
  }

  // Results are made in the caller's memory where nothing else wants to be.
  for (Planned &next : planned) {
    if (next.step.kind != Step::Kind::Copy ||
        program.buffers[next.writes[0]].place != ProgramBuffer::Place::Output)
      continue;
    ProgramBuffer &source = program.buffers[next.reads[0]];
    if (source.place == ProgramBuffer::Place::Block) {
      source.place = ProgramBuffer::Place::Output;
      source.index = program.buffers[next.writes[0]].index;
      next.writes[0] = next.reads[0];
    }
  }
  llvm::erase_if(planned, [](const Planned &next) {
    return next.step.kind == Step::Kind::Copy && next.reads == next.writes;
  });

  SmallVector<unsigned> blocks;
  std::vector<BufferLife> blockLives;
  for (auto [number, buffer] : llvm::enumerate(program.buffers))
    if (isBlock(number) && place[number] == number) {
      blocks.push_back(number);
      blockLives.push_back(lives[number]);
    }
  std::optional<MemoryPlan> plan = planMemory(blockLives);
  if (!plan)
    return emitError(function.getLoc())
           << "the values of the function need more memory than can be "
              "addressed";
  // A worker needs its block, and what the caller reads and writes.
  program.memory.perWorker = plan->bytes + program.scratchBytes;
  for (const ProgramBuffer &buffer : program.buffers)
    if (buffer.place == ProgramBuffer::Place::Input ||
        buffer.place == ProgramBuffer::Place::Output)
      program.memory.perWorker += buffer.bytes;
  for (auto [number, offset] : llvm::zip(blocks, plan->offsets))
    program.buffers[number].index = offset;
  program.blockBytes = plan->bytes;

  divideIntoStages();
  for (Planned &next : planned) {
    Step step = std::move(next.step);
    step.buffers.assign(next.reads.begin(), next.reads.end());
    if (!next.writes.empty())
      step.result = next.writes.front();
    if (!next.isUpdate)
      step.buffers.append(next.writes.begin(), next.writes.end());
    program.steps.push_back(std::move(step));
  }
  return success();
}
