// SPDX-License-Identifier: Apache-2.0
#include "Schedule.h"

#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using namespace mct;
using namespace mct::execution;
using mct::tpc::QuantizeOp;

int64_t execution::getElementBytes(Type type) {
  if (type.isIndex())
    return sizeof(int64_t);
  uint64_t bytes = llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
  constexpr uint64_t kLargestAlignment = 16;
  return int64_t(bytes <= kLargestAlignment
                     ? llvm::PowerOf2Ceil(bytes)
                     : llvm::alignTo(bytes, kLargestAlignment));
}

int64_t execution::byteSizeOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * getElementBytes(tensor.getElementType());
}

bool execution::isStoredInBytes(RankedTensorType type) {
  Type element = type.getElementType();
  return element.isInteger(1) ||
         (element.isIntOrFloat() && int64_t(element.getIntOrFloatBitWidth()) ==
                                        8 * getElementBytes(element));
}

llvm::SetVector<Value> execution::findReads(Operation *op) {
  llvm::SetVector<Value> reads;
  reads.insert(op->operand_begin(), op->operand_end());
  if (op->getNumRegions() != 0)
    getUsedValuesDefinedAbove(op->getRegions(), reads);
  return reads;
}

bool execution::isView(Operation *op) {
  if (isa<tosa::ReshapeOp, tosa::IdentityOp, tensor::ExpandShapeOp,
          tensor::CollapseShapeOp>(op))
    return true;
  return isa<tensor::CastOp>(op) &&
         op->getOperand(0).getType() == op->getResult(0).getType();
}

bool execution::hasOnlyScalars(Operation *op) {
  return op->getNumResults() != 0 && op->getNumRegions() == 0 &&
         llvm::none_of(op->getResultTypes(),
                       [](Type type) { return isa<TensorType>(type); });
}

/// Returns the parameters of a point, prepared to run.
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
                     ArrayRef<Operation *> users, size_t numEdited,
                     ArrayRef<OpOperand *> replaceable,
                     ArrayRef<QuantizeOp> replaceablePoints,
                     ArrayRef<Operation *> hostOps)
    : function(function), program(program), parts(parts), simulate(simulate),
      observed(observed), users(users), numEdited(numEdited),
      replaceable(replaceable), replaceablePoints(replaceablePoints) {
  for (auto [number, op] : llvm::enumerate(hostOps))
    hosts[op] = number;
  program.primitives.shareBy(parts.constants());
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
  // A host quantizer may have state, so it must see each constant only once.
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
// Needed ops
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

/// Marks the ops that lead to a result or to an observer, and are not
/// constants.
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
    // Constants that can be evaluated need no step.
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
    auto reads = findReads(&op);
    visit(reads.size());
    values.insert(reads.begin(), reads.end());
    if (isView(&op) || isa<QuantizeOp>(op))
      kept.insert(op.getOperand(0));
    if (hosts.contains(&op))
      kept.insert(op.operand_begin(), op.operand_end());
  }
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
  buffer.data.reset(static_cast<char *>(std::aligned_alloc(kAlignment, size)),
                    std::free);
  if (!buffer.data)
    return value.getDefiningOp()->emitOpError("cannot be executed: there are "
                                              "not ")
           << bytes << " bytes of memory for it";
  // A splat has one element, which is repeated.
  auto dataBytes = int64_t(data.size());
  if (bytes != 0 && (dataBytes == 0 || bytes % dataBytes != 0))
    return value.getDefiningOp()->emitOpError("cannot be executed: it has ")
           << dataBytes << " bytes for a value of " << bytes;
  for (int64_t at = 0; at < bytes; at += dataBytes)
    std::memcpy(buffer.data.get() + at, data.data(), data.size());
  if (!replaceableValues.contains(value))
    buffer.data = parts.constants()->share(std::move(buffer.data), bytes);
  program.constants.push_back(std::move(buffer));
  return newBuffer(value, ProgramBuffer::Place::Constant,
                   program.constants.size() - 1);
}

FailureOr<unsigned> Scheduler::getBuffer(Value value) {
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
  // Let compiled code make other constants, since it knows their layout in
  // memory.
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

/// Schedules the observers of the value that observe it when it is computed.
void Scheduler::scheduleObservers(Value value) {
  auto found = observers.find(value);
  if (found == observers.end())
    return;
  for (size_t number : found->second)
    if (!users[number])
      scheduleObserver(number, buffers.lookup(value));
}

/// Returns whether the point is the only user of the buffer of its input.
bool Scheduler::hasSingleUser(QuantizeOp point) {
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
      FailureOr<unsigned> buffer = getBuffer(operand);
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
    producers[next.writes.front()] = planned.size() - 1;
    return success();
  }
  if (isView(op)) {
    FailureOr<unsigned> buffer = getBuffer(op->getOperand(0));
    if (failed(buffer))
      return failure();
    buffers[op->getResult(0)] = *buffer;
    return success();
  }
  if (auto host = hosts.find(op); host != hosts.end()) {
    SmallVector<unsigned, 4> reads;
    for (Value operand : op->getOperands()) {
      FailureOr<unsigned> buffer = getBuffer(operand);
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
    FailureOr<unsigned> buffer = getBuffer(point.getInput());
    if (failed(buffer))
      return failure();
    program.quantizers.push_back(makeQuantizer(point));
    size_t quantizer = program.quantizers.size() - 1;
    if (auto number = pointNumbers.find(op); number != pointNumbers.end()) {
      program.quantizers.back().grid = std::nullopt;
      program.replaceablePoints[number->second].site = quantizer;
      program.replaceablePoints[number->second].stage = stage;
    }
    // Quantize in the step that makes the value if the point is its only user.
    auto producer = producers.find(*buffer);
    if (producer != producers.end() && hasSingleUser(point) &&
        !planned[producer->second].step.quantizer) {
      planned[producer->second].step.quantizer = quantizer;
      buffers[point.getResult()] = *buffer;
      return success();
    }
    Planned &next = add(Step::Kind::Quantize, quantizer, op);
    next.reads = {*buffer};
    next.writes = {newBuffer(point.getResult(), ProgramBuffer::Place::Block)};
    return success();
  }
  if (llvm::is_contained(mergedRoots.lookup(op), op))
    return schedulePart(op);
  return success();
}

/// Describes the operands of replaceable points: constants, which are added to
/// `replaceable`, or computed values.
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

/// Gives the replaceable operands separate constants: other ops keep theirs.
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

/// Finds the location of the values of the replaceable operands.
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

/// Sorts the ops so that those of a stage come before those of later ones.
void Scheduler::sortByStage() {
  Block &body = function.getBody().front();
  llvm::DenseMap<Value, unsigned> stageAfter;
  for (BlockArgument argument : body.getArguments())
    stageAfter[argument] = changing.contains(argument);
  SmallVector<SmallVector<Operation *>> ops;
  for (Operation &op : body.without_terminator()) {
    unsigned own = 0;
    for (Value read : findReads(&op)) {
      visit();
      own = std::max(own, stageAfter.lookup(read));
    }
    stageOf[&op] = own;
    for (Value result : op.getResults())
      stageAfter[result] = own + changing.contains(result);
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
  FailureOr<unsigned> buffer = getBuffer(value);
  if (failed(buffer))
    return failure();
  // Values that may be changed have memory of their own.
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
  // Remove points that do not quantize, as they would prevent fusion into
  // primitives.
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
  // A value is not known before it is changed.
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
  for (auto [number, user] : llvm::enumerate(users))
    if (user)
      readBy[user].push_back(number);
  for (BlockArgument argument : body.getArguments()) {
    newBuffer(argument, ProgramBuffer::Place::Input, argument.getArgNumber());
    if (observers.contains(argument) && failed(observe(argument)))
      return failure();
  }
  for (Operation &op : body.without_terminator()) {
    stage = stageOf.lookup(&op);
    if (auto found = readBy.find(&op); found != readBy.end())
      for (size_t number : found->second) {
        FailureOr<unsigned> buffer = getBuffer(observed[number]);
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
    FailureOr<unsigned> buffer = getBuffer(value);
    if (failed(buffer))
      return failure();
    // Copies the value, unless it can be computed in place.
    unsigned target = program.buffers.size();
    program.buffers.push_back({ProgramBuffer::Place::Output, int64_t(number),
                               byteSizeOf(value.getType())});
    Planned &next = add(Step::Kind::Copy, 0, body.getTerminator());
    next.reads = {*buffer};
    next.writes = {target};
  }
  for (ReplaceablePoint &point : program.replaceablePoints)
    for (auto [number, constant] : llvm::enumerate(point.constants)) {
      unsigned user = stageOf.lookup(replaceable[constant]->getOwner());
      point.stage = number == 0 ? user : std::min(point.stage, user);
    }
  return findReplaceable();
}
