// SPDX-License-Identifier: Apache-2.0
#include "mct/Cost/Memory.h"
#include "mct/Cost/Resources.h"
#include "mct/Cost/StoredValues.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mct;
using Kind = TensorMemory::Kind;

StringRef mct::stringifyKind(Kind kind) {
  switch (kind) {
  case Kind::Kernel:
    return "kernel";
  case Kind::Bias:
    return "bias";
  case Kind::Constant:
    return "constant";
  case Kind::Activation:
    return "activation";
  }
  llvm_unreachable("unknown kind");
}

static uint64_t sum(const MemoryReport &report, Kind kind,
                    uint64_t (TensorMemory::*bits)() const) {
  uint64_t total = 0;
  for (const OpMemory &op : report.ops)
    for (const TensorMemory &tensor : op.tensors)
      if (tensor.kind == kind)
        total += (tensor.*bits)();
  return total;
}

uint64_t MemoryReport::totalBits(Kind kind) const {
  return sum(*this, kind, &TensorMemory::storedBits);
}

uint64_t MemoryReport::totalFloatBits(Kind kind) const {
  return sum(*this, kind, &TensorMemory::storedFloatBits);
}

//===----------------------------------------------------------------------===//
// Counting
//===----------------------------------------------------------------------===//

namespace {
class Counter {
public:
  Counter(func::FuncOp function, const KernelOps &kernels);
  MemoryReport run();

private:
  TensorMemory countConstant(Value constant, int64_t multiple,
                             ArrayRef<int64_t> outAxes);
  TensorMemory countActivation(Value value);
  void countConstants(Operation *user, OpMemory &memory);
  /// Returns the number of channels that are computed at once for this op, or 1
  /// if it is not specified.
  int64_t getMultiple(Operation *op);

  func::FuncOp function;
  const KernelOps &kernels;
  bool pads = false;
  llvm::DenseMap<Value, Kind> kinds;
  llvm::DenseSet<Value> counted;
  FusedChains fused;
};
} // namespace

Counter::Counter(func::FuncOp function, const KernelOps &kernels)
    : function(function), kernels(kernels), fused(function, kernels) {
  auto module = function->getParentOfType<ModuleOp>();
  if (auto target = module->getAttrOfType<SymbolRefAttr>(
          tpc::TpcDialect::kTargetAttrName))
    if (auto platform = SymbolTable::lookupNearestSymbolFrom<tpc::PlatformOp>(
            module, target))
      pads = platform.getSimdPadding();
  function.walk([&](Operation *op) {
    if (std::optional<KernelOp> kernel = kernels.get(op)) {
      kinds[kernel->getKernelConstant()] = Kind::Kernel;
      if (Value bias = kernel->getBiasConstant())
        kinds[bias] = Kind::Bias;
    }
  });
}

/// Returns the width of a value's elements in memory.
static unsigned getStoredBits(Value value) {
  WidthSource source = findWidthSource(value);
  if (source.point)
    return *getBits(source.point);
  Type type = getElementTypeOrSelf(source.value.getType());
  return type.isIntOrFloat() ? type.getIntOrFloatBitWidth() : 0;
}

int64_t Counter::getMultiple(Operation *op) {
  if (!pads)
    return 1;
  // Follow the fused chain to its end.
  while (op->getNumResults() == 1) {
    Value result = op->getResult(0);
    if (tpc::QuantizeOp point = getActivationPoint(result)) {
      tpc::OpQuantConfigAttr config = point.getActivationConfig();
      return config ? config.getSimdSize().value_or(1) : 1;
    }
    if (!result.hasOneUse())
      break;
    op = *result.user_begin();
  }
  return 1;
}

TensorMemory Counter::countConstant(Value constant, int64_t multiple,
                                    ArrayRef<int64_t> outAxes) {
  RankedTensorType type = getFloatTensor(constant);
  TensorMemory memory;
  auto kind = kinds.find(constant);
  memory.kind = kind == kinds.end() ? Kind::Constant : kind->second;
  if (StringAttr name = getName(constant))
    memory.name = name.str();
  memory.elements = countElements(type);
  memory.paddedElements = countElements(type, outAxes, multiple);
  memory.floatBits = type.getElementTypeBitWidth();
  for (Operation *user : constant.getUsers()) {
    auto point = dyn_cast<tpc::QuantizeOp>(user);
    if (point)
      memory.name = point.getUniqueName();
    std::optional<unsigned> bits = point ? getBits(point) : std::nullopt;
    memory.bits = std::max(memory.bits, bits.value_or(memory.floatBits));
  }
  return memory;
}

TensorMemory Counter::countActivation(Value value) {
  RankedTensorType type = getFloatTensor(value);
  TensorMemory memory;
  memory.kind = Kind::Activation;
  tpc::QuantizeOp point = getActivationPoint(value);
  StringAttr name = getName(value);
  if (point)
    memory.name = point.getUniqueName();
  else if (name)
    memory.name = name.str();
  memory.elements = countElements(type);
  int64_t multiple = 1;
  if (pads && point && type.getRank() > 0)
    if (tpc::OpQuantConfigAttr config = point.getActivationConfig())
      multiple = config.getSimdSize().value_or(1);
  memory.paddedElements =
      multiple == 1 ? memory.elements
                    : countElements(type, {type.getRank() - 1}, multiple);
  memory.floatBits = type.getElementTypeBitWidth();
  memory.bits = getStoredBits(value);
  memory.isFused = fused.isInside(value);
  return memory;
}

void Counter::countConstants(Operation *user, OpMemory &memory) {
  std::optional<KernelOp> kernel = kernels.get(user);
  for (Value operand : user->getOperands()) {
    while (auto point = operand.getDefiningOp<tpc::QuantizeOp>()) {
      if (point.isActivation())
        break;
      operand = point.getInput();
    }
    RankedTensorType type = getFloatTensor(operand);
    if (!type || !matchPattern(operand, m_Constant()) ||
        countElements(type) <= 1 || !counted.insert(operand).second)
      continue;
    bool isKernel = kernel && kernel->getKernelConstant() == operand;
    memory.tensors.push_back(
        countConstant(operand, isKernel ? getMultiple(user) : 1,
                      isKernel ? kernel->getOutAxes() : ArrayRef<int64_t>()));
  }
}

MemoryReport Counter::run() {
  MemoryReport report;
  report.function = function.getSymName().str();
  for (BlockArgument argument : function.getArguments())
    if (getFloatTensor(argument)) {
      StringAttr name = getName(Value(argument));
      report.ops.push_back(
          {name ? name.str() : "", "argument", {countActivation(argument)}});
    }
  function.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<tpc::QuantizeOp>(op) || matchPattern(op, m_Constant()))
      return;
    OpMemory memory;
    StringAttr name = getName(op->getLoc());
    memory.name = name ? name.str() : "";
    memory.op = op->getName().getStringRef().str();
    countConstants(op, memory);
    for (Value result : op->getResults())
      if (getFloatTensor(result))
        memory.tensors.push_back(countActivation(result));
    if (!memory.tensors.empty())
      report.ops.push_back(std::move(memory));
  });
  return report;
}

MemoryReport mct::computeMemory(func::FuncOp function,
                                const KernelOps &kernels) {
  return Counter(function, kernels).run();
}
