// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Memory.h"
#include "StoredValues.h"
#include "mct/Analysis/KernelOp.h"
#include "mct/Analysis/Names.h"
#include "mct/Analysis/OpInterfaces.h"
#include "mct/Analysis/Passes.h"
#include "mct/Analysis/Resources.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/raw_ostream.h"

namespace mct {
#define GEN_PASS_DEF_REPORTMEMORYPASS
#include "mct/Analysis/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;
namespace json = llvm::json;
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
  explicit Counter(func::FuncOp function);
  MemoryReport run();

private:
  TensorMemory countConstant(Value constant, int64_t multiple,
                             ArrayRef<int64_t> outAxes);
  TensorMemory countActivation(Value value);
  void countConstants(Operation *reader, OpMemory &memory);
  /// By how many the channels of this op are computed at once; 1 if it is not
  /// said.
  int64_t getMultiple(Operation *op);

  func::FuncOp function;
  KernelOps kernels;
  bool pads = false;
  llvm::DenseMap<Value, Kind> kinds;
  llvm::DenseSet<Value> counted;
  FusedChains fused;
};
} // namespace

Counter::Counter(func::FuncOp function)
    : function(function),
      kernels(KernelOps::forModule(function->getParentOfType<ModuleOp>())),
      fused(function, kernels) {
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

/// Width of the elements of a value as it is stored.
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
  // Up to the end of the fused chain.
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

void Counter::countConstants(Operation *reader, OpMemory &memory) {
  std::optional<KernelOp> kernel = kernels.get(reader);
  for (Value operand : reader->getOperands()) {
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
        countConstant(operand, isKernel ? getMultiple(reader) : 1,
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

MemoryReport mct::computeMemory(func::FuncOp function) {
  return Counter(function).run();
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

static constexpr Kind kKinds[] = {Kind::Kernel, Kind::Bias, Kind::Constant,
                                  Kind::Activation};

static uint64_t toBytes(uint64_t bits) { return llvm::divideCeil(bits, 8); }

static json::Object toJSON(const MemoryReport &report) {
  json::Array ops;
  for (const OpMemory &op : report.ops) {
    json::Array tensors;
    for (const TensorMemory &tensor : op.tensors)
      tensors.push_back(
          json::Object{{"kind", stringifyKind(tensor.kind)},
                       {"name", json::fixUTF8(tensor.name)},
                       {"elements", tensor.elements},
                       {"padded_elements", tensor.paddedElements},
                       {"bits", int64_t(tensor.bits)},
                       {"float_bits", int64_t(tensor.floatBits)},
                       {"fused", tensor.isFused},
                       {"bytes", toBytes(tensor.storedBits())},
                       {"float_bytes", toBytes(tensor.storedFloatBits())}});
    ops.push_back(json::Object{{"name", json::fixUTF8(op.name)},
                               {"op", op.op},
                               {"tensors", std::move(tensors)}});
  }
  json::Object totals;
  for (Kind kind : kKinds)
    totals.try_emplace(
        stringifyKind(kind),
        json::Object{{"bits", report.totalBits(kind)},
                     {"float_bits", report.totalFloatBits(kind)}});
  return json::Object{{"name", report.function},
                      {"ops", std::move(ops)},
                      {"totals", std::move(totals)}};
}

static void print(const MemoryReport &report, raw_ostream &os) {
  os << "function " << report.function << '\n';
  os << llvm::format("  %-10s %12s %5s %12s %12s  %s\n", "kind", "elements",
                     "bits", "bytes", "float bytes", "name");
  for (const OpMemory &op : report.ops)
    for (const TensorMemory &tensor : op.tensors)
      os << llvm::format(
                "  %-10s %12lld %5u %12llu %12llu  ",
                stringifyKind(tensor.kind).data(),
                static_cast<long long>(tensor.paddedElements), tensor.bits,
                static_cast<unsigned long long>(toBytes(tensor.storedBits())),
                static_cast<unsigned long long>(
                    toBytes(tensor.storedFloatBits())))
         << (tensor.name.empty() ? op.op : tensor.name)
         << (tensor.isFused ? " (fused)" : "") << '\n';
  for (Kind kind : kKinds)
    os << llvm::format(
        "  total %-23s %12llu %12llu\n", stringifyKind(kind).data(),
        static_cast<unsigned long long>(toBytes(report.totalBits(kind))),
        static_cast<unsigned long long>(toBytes(report.totalFloatBits(kind))));
}

namespace {
struct ReportMemoryPass
    : public WithOpModels<mct::impl::ReportMemoryPassBase<ReportMemoryPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    std::string text;
    llvm::raw_string_ostream stream(text);
    json::Array functions;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      MemoryReport report = computeMemory(function);
      if (format == ExplainFormat::JSON)
        functions.push_back(toJSON(report));
      else
        print(report, stream);
    }
    if (format == ExplainFormat::JSON)
      stream << llvm::formatv(
          "{0:2}\n",
          json::Value(json::Object{{"functions", std::move(functions)}}));
    llvm::outs() << text;
    llvm::outs().flush();
    markAllAnalysesPreserved();
  }
};
} // namespace
