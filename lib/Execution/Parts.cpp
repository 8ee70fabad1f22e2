// SPDX-License-Identifier: Apache-2.0
#include "Parts.h"

#include "mct/Support/ContextThreads.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Threading.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/ExecutionEngine/Orc/JITTargetMachineBuilder.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

using namespace mlir;
using namespace mct;
using namespace mct::execution;

//===----------------------------------------------------------------------===//
// Equal functions
//===----------------------------------------------------------------------===//

static size_t hashFunction(func::FuncOp function) {
  auto ignore = [](Value) { return llvm::hash_code{}; };
  llvm::hash_code hash =
      llvm::hash_value(function.getFunctionType().getAsOpaquePointer());
  function.getBody().walk([&](Operation *op) {
    hash = llvm::hash_combine(
        hash, OperationEquivalence::computeHash(
                  op, ignore, ignore, OperationEquivalence::IgnoreLocations));
  });
  return hash;
}

size_t PartSet::add(func::FuncOp function, IndexChecks checks) {
  SmallVector<size_t, 1> &candidates = byHash[hashFunction(function)];
  for (size_t candidate : candidates) {
    Part &part = parts[candidate];
    if (part.original.getFunctionType() == function.getFunctionType() &&
        OperationEquivalence::isRegionEquivalentTo(
            &part.original.getBody(), &function.getBody(),
            OperationEquivalence::IgnoreLocations)) {
      function->erase();
      return candidate;
    }
  }
  size_t number = parts.size();
  candidates.push_back(number);
  func::FuncOp original = function.clone();
  originals->push_back(original);
  added->push_back(function);
  parts.push_back({function, original, checks, {}});
  return number;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// Returns whether a scalar inside a linalg op depends on elements of tensors.
static bool dependsOnData(Value index) {
  SmallVector<Value> pending{index};
  llvm::DenseSet<Value> visited;
  while (!pending.empty()) {
    Value value = pending.pop_back_val();
    if (!visited.insert(value).second)
      continue;
    Operation *op = value.getDefiningOp();
    // The induction variable of a loop is not data, but the values that it
    // carries may be.
    if (!op || isa<tensor::ExtractOp>(op)) {
      auto argument = dyn_cast<BlockArgument>(value);
      auto loop = argument ? dyn_cast<LoopLikeOpInterface>(
                                 argument.getOwner()->getParentOp())
                           : LoopLikeOpInterface();
      if (!loop || !loop.getSingleInductionVar() ||
          *loop.getSingleInductionVar() != value)
        return true;
      continue;
    }
    llvm::append_range(pending, op->getOperands());
    if (op->getNumRegions() != 0)
      return true;
  }
  return false;
}

static void declare(ModuleOp module, StringRef name, ArrayRef<Type> types) {
  if (module.lookupSymbol(name))
    return;
  OpBuilder builder(module.getBodyRegion());
  func::FuncOp::create(builder, module.getLoc(), name,
                       builder.getFunctionType(types, TypeRange()))
      .setPrivate();
}

static constexpr StringLiteral kCheckIndex = "mctExecutionCheckIndex";
static constexpr StringLiteral kCheckDivision = "mctExecutionCheckDivision";

/// Returns whether the index is within the size in every iteration.
static bool isInside(Value index, int64_t size) {
  if (std::optional<int64_t> constant = getConstantIntValue(index))
    return *constant >= 0 && *constant < size;
  if (auto iteration = index.getDefiningOp<linalg::IndexOp>()) {
    auto parent = iteration->getParentOfType<linalg::LinalgOp>();
    int64_t range = parent ? parent.getStaticLoopRanges()[iteration.getDim()]
                           : ShapedType::kDynamic;
    return !ShapedType::isDynamic(range) && range <= size;
  }
  auto argument = dyn_cast<BlockArgument>(index);
  auto loop = argument
                  ? dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp())
                  : scf::ForOp();
  if (!loop || loop.getInductionVar() != index)
    return false;
  std::optional<int64_t> first = getConstantIntValue(loop.getLowerBound()),
                         end = getConstantIntValue(loop.getUpperBound());
  return first && end && *first >= 0 && *end <= size;
}

/// Compares indices with the sizes.
static void checkIndices(func::FuncOp function, IndexChecks checks) {
  auto check = [&](OpBuilder &builder, Location loc, Value index,
                   int64_t size) {
    Type i64 = builder.getI64Type();
    Value wide = arith::IndexCastOp::create(builder, loc, i64, index);
    Value limit = arith::ConstantIntOp::create(builder, loc, size, 64);
    func::CallOp::create(builder, loc, kCheckIndex, TypeRange(),
                         ValueRange{wide, limit});
  };
  function.walk([&](Operation *op) {
    OpBuilder builder(op);
    auto checkAll = [&](OperandRange indices, ArrayRef<int64_t> sizes) {
      for (auto [index, size] : llvm::zip(indices, sizes))
        if (checks == IndexChecks::All ? !isInside(index, size)
                                       : dependsOnData(index))
          check(builder, op->getLoc(), index, size);
    };
    if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
      checkAll(extract.getIndices(), extract.getTensor().getType().getShape());
    } else if (auto insert = dyn_cast<tensor::InsertOp>(op)) {
      checkAll(insert.getIndices(), insert.getDest().getType().getShape());
    } else if (isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op)) {
      auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
      auto whole = cast<RankedTensorType>(isa<tensor::ExtractSliceOp>(op)
                                              ? op->getOperand(0).getType()
                                              : op->getOperand(1).getType());
      auto asValue = [&](OpFoldResult number) {
        return getValueOrCreateConstantIndexOp(builder, op->getLoc(), number);
      };
      for (auto [axis, offset] : llvm::enumerate(slice.getMixedOffsets())) {
        OpFoldResult size = slice.getMixedSizes()[axis],
                     stride = slice.getMixedStrides()[axis];
        std::optional<int64_t> begin = getConstantIntValue(offset),
                               count = getConstantIntValue(size),
                               step = getConstantIntValue(stride);
        if (begin && count && step) {
          __int128 end = __int128(*count - 1) * *step + *begin;
          if (*count == 0 ||
              (*begin >= 0 && end >= 0 && end < whole.getDimSize(axis)))
            continue;
        }
        // The first and the last element, if there are any.
        Location loc = op->getLoc();
        Value first = asValue(offset);
        Value one = arith::ConstantIndexOp::create(builder, loc, 1);
        Value rest = arith::SubIOp::create(builder, loc, asValue(size), one);
        Value reach =
            arith::MulIOp::create(builder, loc, rest, asValue(stride));
        Value last = arith::AddIOp::create(builder, loc, first, reach);
        check(builder, loc, first, whole.getDimSize(axis));
        check(builder, loc, last, whole.getDimSize(axis));
      }
    }
  });
}

/// Inserts checks that divisions of integers by unknown values have a quotient.
static void checkDivisions(func::FuncOp function) {
  function.walk([&](Operation *op) {
    bool isSigned = isa<arith::DivSIOp, arith::RemSIOp, arith::CeilDivSIOp,
                        arith::FloorDivSIOp>(op);
    if (!isSigned &&
        !isa<arith::DivUIOp, arith::RemUIOp, arith::CeilDivUIOp>(op))
      return;
    Type type = op->getResult(0).getType();
    APInt divisor;
    if (!type.isIntOrIndex() ||
        (matchPattern(op->getOperand(1), m_ConstantInt(&divisor)) &&
         !divisor.isZero() && !divisor.isAllOnes()))
      return;
    OpBuilder builder(op);
    Location loc = op->getLoc();
    auto constant = [&](const APInt &value) -> Value {
      return arith::ConstantOp::create(builder, loc,
                                       builder.getIntegerAttr(type, value));
    };
    unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    using arith::CmpIPredicate;
    auto differs = [&](Value value, const APInt &from) -> Value {
      return arith::CmpIOp::create(builder, loc, CmpIPredicate::ne, value,
                                   constant(from));
    };
    Value defined = differs(op->getOperand(1), APInt::getZero(width));
    if (isSigned) {
      Value fits = arith::OrIOp::create(
          builder, loc,
          differs(op->getOperand(0), APInt::getSignedMinValue(width)),
          differs(op->getOperand(1), APInt::getAllOnes(width)));
      defined = arith::AndIOp::create(builder, loc, defined, fits);
    }
    func::CallOp::create(builder, loc, kCheckDivision, TypeRange(), defined);
  });
}

//===----------------------------------------------------------------------===//
// Lowering
//===----------------------------------------------------------------------===//

static void addNames(ModuleOp module, OpNames &names) {
  module.walk([&](Operation *op) {
    if (isa<tosa::TosaDialect>(op->getDialect()))
      names.try_emplace(op->getLoc(), op->getName().getStringRef());
  });
}

/// Returns the only linalg op of a part that computes something.
static linalg::GenericOp soleGeneric(func::FuncOp function) {
  Block &body = function.getBody().front();
  linalg::GenericOp found;
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>() || isa<tensor::EmptyOp>(op))
      continue;
    if (found || !isa<linalg::GenericOp>(op))
      return {};
    found = cast<linalg::GenericOp>(op);
  }
  Operation *terminator = body.getTerminator();
  if (!found || found.getNumResults() != 1 ||
      terminator->getNumOperands() != 1 ||
      terminator->getOperand(0) != found.getResult(0))
    return {};
  return found;
}

SmallVector<bool> PartSet::findUpdatable(func::FuncOp function) const {
  SmallVector<bool> updatable(function.getNumArguments(), false);
  linalg::GenericOp op = soleGeneric(function);
  if (!op || op.getNumLoops() != op.getNumParallelLoops())
    return updatable;
  OpOperand *init = op.getDpsInitOperand(0);
  if (!init->get().getDefiningOp<tensor::EmptyOp>() ||
      !op.getMatchingIndexingMap(init).isIdentity())
    return updatable;
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto argument = dyn_cast<BlockArgument>(input->get());
    // A second use might access other elements.
    if (argument && argument.hasOneUse() &&
        argument.getType() == init->get().getType() &&
        op.getMatchingIndexingMap(input).isIdentity())
      updatable[argument.getArgNumber()] = true;
  }
  return updatable;
}

LogicalResult PartSet::lowerToLinalg() {
  if (numLowered == parts.size())
    return success();
  for (auto [number, part] : llvm::enumerate(parts))
    part.function.setName("mct_part_" + std::to_string(number));
  addNames(*added, names);
  if (failed(execution::lowerToLinalg(*added, names)))
    return failure();
  // Pads are decomposed into ops that write to a destination.
  RewritePatternSet patterns(all->getContext());
  linalg::populateDecomposePadPatterns(patterns);
  FrozenRewritePatternSet frozen(std::move(patterns));
  for (Part &part : llvm::drop_begin(parts, numLowered)) {
    WalkResult hasPad = part.function.walk(
        [](tensor::PadOp) { return WalkResult::interrupt(); });
    if (hasPad.wasInterrupted())
      (void)applyPatternsGreedily(part.function, frozen);
    if (part.checks != IndexChecks::None)
      checkIndices(part.function, part.checks);
    checkDivisions(part.function);
    part.updatable = findUpdatable(part.function);
    part.function->remove();
    all->push_back(part.function);
  }
  numLowered = parts.size();
  return success();
}

size_t PartSet::getCode(size_t part, std::optional<unsigned> updated) {
  auto [it, isNew] = codeByPart.try_emplace(
      {part, updated ? int64_t(*updated) : -1}, codes.size());
  if (isNew)
    codes.push_back({part, updated, {}});
  return it->second;
}

static MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

/// Computes `result` in `destination`, if it is built step by step in a tensor
/// that is initially empty. This only helps bufferization: values stay the
/// same.
static void writeTo(Value result, Value destination) {
  OpBuilder builder(destination.getContext());
  // The operand that reads `result` on the path from the empty tensor.
  OpOperand *use = nullptr;
  while (Operation *op = result.getDefiningOp()) {
    builder.setInsertionPointAfterValue(destination);
    if (isa<tensor::EmptyOp>(op)) {
      if (use && use->get().getType() == destination.getType())
        use->set(destination);
      return;
    }
    // A value with other users must outlive the next write.
    if (use && !result.hasOneUse())
      return;
    if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      destination = tensor::CollapseShapeOp::create(
          builder, op->getLoc(), expand.getSrcType(), destination,
          expand.getReassociationIndices());
      use = &expand.getSrcMutable();
    } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
      destination = tensor::ExpandShapeOp::create(
          builder, op->getLoc(), collapse.getSrcType(), destination,
          collapse.getReassociationIndices());
      use = &collapse.getSrcMutable();
    } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      use =
          linalgOp.getDpsInitOperand(cast<OpResult>(result).getResultNumber());
    } else if (auto insert = dyn_cast<tensor::InsertSliceOp>(op)) {
      use = &insert.getDestMutable();
    } else {
      return;
    }
    result = use->get();
  }
}

/// A function of buffers: (operands, results) -> ().
func::FuncOp PartSet::takeDestinations(const Code &code, size_t number) {
  func::FuncOp function = parts[code.part].function.clone();
  function.setName("mct_code_" + std::to_string(number));
  function.setPublic();
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Operation *terminator = body.getTerminator();
  Location place = function.getLoc();
  auto asTensor = [&](Type type, Value buffer, bool writable) -> Value {
    return bufferization::ToTensorOp::create(builder, place, type, buffer,
                                             /*restrict=*/true, writable);
  };

  linalg::GenericOp generic = soleGeneric(function);
  SmallVector<BlockArgument> arguments(body.getArguments());
  for (BlockArgument argument : arguments) {
    bool isUpdated = code.updated == argument.getArgNumber();
    Type type = argument.getType();
    argument.setType(bufferType(type));
    Value value = asTensor(type, argument, isUpdated);
    argument.replaceAllUsesExcept(value, value.getDefiningOp());
    if (isUpdated)
      generic.getDpsInitOperand(0)->set(value);
  }
  // A part never reads memory that it writes elsewhere.
  SmallVector<unsigned> written;
  for (Value result : SmallVector<Value>(terminator->getOperands())) {
    Value target;
    if (code.updated) {
      target = body.getArgument(*code.updated);
      written.push_back(*code.updated);
    } else {
      written.push_back(body.getNumArguments());
      target = body.addArgument(bufferType(result.getType()), place);
      builder.setInsertionPointToStart(&body);
      writeTo(result, asTensor(result.getType(), target, /*writable=*/true));
    }
    builder.setInsertionPoint(terminator);
    bufferization::MaterializeInDestinationOp::create(
        builder, place, Type(), result, target, /*restrict=*/true,
        /*writable=*/true);
  }
  terminator->setOperands({});
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange()));
  function.removeArgAttrsAttr();
  function.removeResAttrsAttr();
  // LLVMDialect::getNoAliasAttrName(), whose header takes four seconds to
  // compile.
  for (unsigned argument : written)
    function.setArgAttr(argument, "llvm.noalias", builder.getUnitAttr());
  return function;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Returns the number of bytes that a function allocates, if it is known and
/// possible.
static std::optional<int64_t> allocatedBytes(func::FuncOp function,
                                             bool &allocates) {
  int64_t total = 0;
  bool overflows = false;
  function.walk([&](memref::AllocOp alloc) {
    allocates = true;
    MemRefType type = alloc.getType();
    if (!type.hasStaticShape())
      return;
    int64_t bytes = getElementBytes(type.getElementType());
    for (int64_t size : type.getShape())
      overflows |= llvm::MulOverflow(bytes, size, bytes);
    overflows |= llvm::AddOverflow(total, bytes, total);
  });
  if (overflows)
    return std::nullopt;
  return total;
}

static void initializeTarget() {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
}

/// Simplifies and vectorizes loops, but not straight-line code: looking for
/// vectors in unrolled code takes more than half of the time, and gains a tenth
/// where tensors are transposed, and nothing elsewhere.
///
/// Fails soon if `progress` (may be null) is cancelled.
static llvm::Error optimizeLoops(llvm::Module &module,
                                 llvm::TargetMachine &machine,
                                 const mct::support::Progress *progress) {
  auto isCancelled = [progress] { return progress && progress->isCancelled(); };
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = false;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](StringRef, const llvm::Any &) { return !isCancelled(); });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager calls;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(calls);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, calls, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
  // Unwanted parts get no code.
  return isCancelled() ? llvm::createStringError("cancelled")
                       : llvm::Error::success();
}

static llvm::Expected<std::shared_ptr<ExecutionEngine>>
makeEngine(ModuleOp shard, const mct::support::Progress *progress) {
  auto builder = llvm::orc::JITTargetMachineBuilder::detectHost();
  if (!builder)
    return builder.takeError();
  builder->setCodeGenOptLevel(llvm::CodeGenOptLevel::Default);
  auto machine = builder->createTargetMachine();
  if (!machine)
    return machine.takeError();

  ExecutionEngineOptions options;
  options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::Default;
  // The engine owns the machine by the time it optimizes.
  llvm::TargetMachine &target = **machine;
  auto optimize = [&](llvm::Module *module) -> llvm::Error {
    return optimizeLoops(*module, target, progress);
  };
  options.transformer = optimize;
  options.enableGDBNotificationListener = false;
  options.enablePerfNotificationListener = false;
  auto engine = ExecutionEngine::create(shard, options, std::move(*machine));
  if (!engine)
    return engine.takeError();
  std::shared_ptr<ExecutionEngine> shared = std::move(*engine);
  shared->registerSymbols([&](llvm::orc::MangleAndInterner intern) {
    llvm::orc::SymbolMap symbols;
    auto add = [&](StringRef name, auto *function) {
      symbols[intern(name)] = {llvm::orc::ExecutorAddr::fromPtr(function),
                               llvm::JITSymbolFlags::Exported |
                                   llvm::JITSymbolFlags::Callable};
    };
    add("_mlir_memref_to_llvm_alloc", &mctExecutionAllocate);
    add("_mlir_memref_to_llvm_aligned_alloc", &mctExecutionAlignedAllocate);
    add("_mlir_memref_to_llvm_free", &mctExecutionFree);
    add(kCheckIndex, &mctExecutionCheckIndex);
    add(kCheckDivision, &mctExecutionCheckDivision);
    return symbols;
  });
  return shared;
}

LogicalResult PartSet::compile() {
  size_t numCompiled = compiled->size(), numNew = codes.size() - numCompiled;
  if (numNew == 0)
    return success();
  auto now = std::make_shared<std::vector<CompiledPart>>(*compiled);
  now->resize(codes.size());
  MLIRContext *context = all->getContext();
  OwningOpRef<ModuleOp> shards = ModuleOp::create(loc);
  // Starting another thread's tools costs as much as compiling a dozen small
  // functions.
  constexpr size_t kCodesPerShard = 12;
  size_t threads =
      context->isMultithreadingEnabled() ? context->getNumThreads() : 1;
  size_t numShards = std::clamp<size_t>(numNew / kCodesPerShard, 1,
                                        std::max<size_t>(threads, 1));
  SmallVector<ModuleOp> modules;
  for (size_t shard = 0; shard != numShards; ++shard) {
    modules.push_back(ModuleOp::create(loc));
    shards->push_back(modules.back());
  }
  for (size_t number = numCompiled; number != codes.size(); ++number) {
    Code &code = codes[number];
    code.function = takeDestinations(code, number);
    modules[number % numShards].push_back(code.function);
  }
  for (ModuleOp module : modules) {
    OpBuilder builder(context);
    Type i64 = builder.getI64Type(), i1 = builder.getI1Type();
    declare(module, kCheckIndex, {i64, i64});
    declare(module, kCheckDivision, {i1});
  }

  if (failed(lowerToLoops(*shards, names)))
    return failure();
  for (size_t number = numCompiled; number != codes.size(); ++number) {
    func::FuncOp function = codes[number].function;
    CompiledPart &part = (*now)[number];
    std::optional<int64_t> bytes = allocatedBytes(function, part.canFail);
    if (!bytes)
      return emitError(function.getLoc())
             << "cannot be executed: its intermediate values need more memory "
                "than can be addressed";
    part.temporaryBytes = *bytes;
    for (Type type : function.getArgumentTypes())
      part.argumentBytes.push_back(
          cast<MemRefType>(type).getNumElements() *
          getElementBytes(cast<MemRefType>(type).getElementType()));
    function.walk([&](func::CallOp) { part.canFail = true; });
  }
  if (failed(lowerToLLVM(*shards, names)))
    return failure();
  const support::Progress *progress = support::findProgress(context);
  if (progress && progress->isCancelled())
    return emitError(loc, "is not compiled: cancelled");

  initializeTarget();
  size_t numEngines = jit.size();
  jit.resize(numEngines + numShards);
  SmallVector<std::string> errors(numShards);
  parallelFor(context, 0, numShards, [&](size_t shard) {
    auto engine = makeEngine(modules[shard], progress);
    if (!engine) {
      errors[shard] = llvm::toString(engine.takeError());
      return;
    }
    jit[numEngines + shard] = *engine;
    for (size_t number = numCompiled; number != codes.size(); ++number) {
      if (number % numShards != shard)
        continue;
      auto packed =
          (*engine)->lookupPacked("mct_code_" + std::to_string(number));
      if (!packed) {
        errors[shard] = llvm::toString(packed.takeError());
        return;
      }
      (*now)[number].entry = *packed;
    }
  });
  for (const std::string &error : errors)
    if (!error.empty())
      return emitError(loc, "cannot compile for this machine: ") << error;
  compiled = std::move(now);
  return success();
}
