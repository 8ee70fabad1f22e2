// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/Executor.h"

#include "MachineMemory.h"
#include "Pipeline.h"
#include "Program.h"
#include "Schedule.h"
#include "StepSizes.h"
#include "mct/Execution/Check.h"
#include "mct/Execution/RunCache.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Names.h"
#include "mct/IR/ResizeOffsets.h"
#include "mct/IR/Shapes.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Support/ContextFiles.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/TargetParser/Host.h"

#include <cstring>

using namespace mlir;
using namespace mct::execution;
using mct::tpc::QuantizeOp;
namespace tpc = mct::tpc;

namespace {

/// Converts one function to a program that is complete except for its code.
class Compiler {
public:
  Compiler(ModuleOp module, const CompileOptions &options)
      : module(module), options(options) {}

  /// Plans the steps; functions to be compiled are added to `parts`.
  LogicalResult plan(PartSet &parts);
  /// Places the values. Requires that the parts are linalg.
  LogicalResult placeValues();
  /// Completes the program. Requires that the parts are compiled.
  LogicalResult finish(const PartSet &parts);

  /// Largest number of samples of chosen units.
  int64_t mostUnit = std::numeric_limits<int64_t>::max();
  /// True if the network needs too much memory, and may need less with smaller
  /// units: compile again with those.
  bool wantsSmallerUnit = false;
  std::unique_ptr<Program> program = std::make_unique<Program>();

private:
  LogicalResult extract();
  LogicalResult checkOps();
  LogicalResult replaceQuantizers();
  LogicalResult findHosts();
  LogicalResult findObserved();
  LogicalResult checkBatchIsShared();
  LogicalResult chooseUnit();
  LogicalResult checkTypes();
  FollowedShape describeShape(Value value) const;
  void describeObserved();
  LogicalResult describeHosts();

  LogicalResult checkMemory();

  ModuleOp module;
  const CompileOptions &options;
  /// The function, in a module of its own.
  OwningOpRef<ModuleOp> scratch;
  func::FuncOp entry;
  std::optional<Scheduler> scheduler;

  struct Observation {
    std::string name;
    Value value;
    /// The op before which the value is observed; null if it is observed when
    /// it is computed.
    Operation *user = nullptr;
  };
  SmallVector<Observation> observations;
  /// The values of `options.observedBefore` in the copy.
  SmallVector<ObservedBefore> observedBefore;
  /// The values of `options.observedValues` in the copy.
  SmallVector<Value> observedValues;
  /// The operands of `options.replaceable` in the copy.
  SmallVector<OpOperand *> replaceable;
  /// The points of `options.replaceablePoints` in the copy.
  SmallVector<QuantizeOp> replaceablePoints;
  /// Ops that call the calling program, and their quantizers, in the order of
  /// the program.
  SmallVector<std::pair<Operation *, mct::HostPoint>> hosts;
  mct::Preprocessings preprocessing;
  /// True if the batch of the function was changed.
  bool hasOtherBatch = false;
  /// Positions of the batch in the values, if it could be followed.
  std::optional<mct::BatchDimensions> batch;
};

/// A module may be printed without its constants, or with truncated ones.
LogicalResult checkConstant(Operation *op) {
  DenseResourceElementsAttr attribute;
  if (!matchPattern(op, m_Constant(&attribute)))
    return success();
  AsmResourceBlob *blob = attribute.getRawHandle().getBlob();
  if (!blob)
    return op->emitOpError("cannot be executed: the data of its resource '")
           << attribute.getRawHandle().getKey() << "' are missing";
  Type element = attribute.getType().getElementType();
  if (!element.isIntOrFloat() || element.getIntOrFloatBitWidth() % 8 != 0)
    return success();
  // Sizes have not been checked yet.
  int64_t expected = element.getIntOrFloatBitWidth() / 8;
  for (int64_t size : attribute.getType().getShape())
    if (llvm::MulOverflow(expected, size, expected))
      return op->emitOpError("cannot be executed: its resource '")
             << attribute.getRawHandle().getKey()
             << "' would have more than 2^63 bytes";
  int64_t found = blob->getData().size();
  if (found == expected)
    return success();
  return op->emitOpError("cannot be executed: expected ")
         << expected << " bytes in its resource '"
         << attribute.getRawHandle().getKey() << "', found " << found;
}

/// Rejects rescales that the lowering does not support: it lists multipliers
/// one by one, even if they are a splat.
LogicalResult checkMultipliers(Operation *op) {
  constexpr int64_t kMaxMultipliers = int64_t(1) << 24;
  auto rescale = dyn_cast<tosa::RescaleOp>(op);
  auto type =
      rescale ? dyn_cast<RankedTensorType>(rescale.getMultiplier().getType())
              : nullptr;
  if (!type)
    return success();
  // The upstream lowering makes an op that cannot be verified.
  bool isConstant = matchPattern(rescale.getMultiplier(), m_Constant()) &&
                    matchPattern(rescale.getShift(), m_Constant());
  auto input = cast<ShapedType>(rescale.getInput().getType());
  if (!isConstant && input.hasRank() && input.getRank() == 0)
    return op->emitOpError("cannot be executed: its multiplier or its shift is "
                           "computed, and its input has rank 0; reshape the "
                           "input to one element");
  if (!type.hasStaticShape() || type.getNumElements() <= kMaxMultipliers)
    return success();
  return op->emitOpError("cannot be executed: it has ")
         << type.getNumElements() << " multipliers, and " << kMaxMultipliers
         << " at most are possible";
}

/// The upstream lowering rounds negative coordinates of images of integers
/// towards zero.
void avoidNegativeCoordinates(func::FuncOp function) {
  function.walk([](tosa::ResizeOp op) {
    SmallVector<int64_t> scale, offset;
    if (op.getMode() != tosa::ResizeMode::BILINEAR ||
        !isa<IntegerType>(getElementTypeOrSelf(op.getInput())) ||
        !tosa::getConstShapeValues(op.getScale().getDefiningOp(), scale) ||
        !tosa::getConstShapeValues(op.getOffset().getDefiningOp(), offset) ||
        (offset[0] >= 0 && offset[1] >= 0))
      return;
    OpBuilder builder(op);
    mct::ResizeSource source = mct::avoidNegativeOffsets(
        builder, op.getLoc(), {op.getInput(), {offset[0], offset[1]}}, scale);
    op.getInputMutable().assign(source.image);
    ImplicitLocOpBuilder here(op.getLoc(), builder);
    op.getOffsetMutable().assign(tosa::getTosaConstShape(here, source.offset));
  });
}

/// A copy of the function in a module of its own. Attributes, and with them the
/// weights, are shared with the original.
LogicalResult Compiler::extract() {
  auto function = module.lookupSymbol<func::FuncOp>(options.function);
  if (!function) {
    module.emitError("has no function '") << options.function << "' to run";
    return failure();
  }
  if (function.isExternal())
    return function.emitOpError("has no body to run");

  scratch = ModuleOp::create(function.getLoc());
  IRMapping mapping;
  entry = function.clone(mapping);
  scratch->push_back(entry);
  for (Value value : options.observedValues)
    observedValues.push_back(mapping.lookup(value));
  auto map = [&](OpOperand *operand) {
    return &mapping.lookup(operand->getOwner())
                ->getOpOperand(operand->getOperandNumber());
  };
  for (OpOperand *operand : options.replaceable)
    replaceable.push_back(map(operand));
  for (const ObservedBefore &observed : options.observedBefore)
    observedBefore.push_back(
        {mapping.lookup(observed.value), mapping.lookup(observed.op)});
  for (Operation *point : options.replaceablePoints)
    replaceablePoints.push_back(cast<QuantizeOp>(mapping.lookup(point)));
  bool hasCalls = false;
  entry.walk([&](func::CallOp) { hasCalls = true; });
  if (hasCalls) {
    for (auto other : module.getOps<func::FuncOp>())
      if (other != function) {
        func::FuncOp copy = other.clone();
        copy.setPrivate();
        scratch->push_back(copy);
      }
    PassManager pm(module.getContext(), ModuleOp::getOperationName());
    pm.addPass(createInlinerPass());
    if (failed(pm.run(*scratch)))
      return failure();
    for (auto other :
         llvm::make_early_inc_range(scratch->getOps<func::FuncOp>()))
      if (other != entry)
        other.erase();
  }
  // From here on biases are constants; their origin does not matter.
  entry.walk([&](tpc::BiasOp bias) {
    OpBuilder builder(bias);
    Value constant = tosa::ConstOp::create(builder, bias.getLoc(),
                                           bias.getType(), bias.getValues());
    llvm::replace(observedValues, Value(bias.getResult()), constant);
    bias.replaceAllUsesWith(constant);
    bias.erase();
  });
  FailureOr<mct::Preprocessings> records = mct::readPreprocessing(entry);
  if (failed(records))
    return failure();
  preprocessing = std::move(*records);
  entry.setPublic();
  entry->setDiscardableAttrs(ArrayRef<NamedAttribute>());
  entry.removeArgAttrsAttr();
  entry.removeResAttrsAttr();
  return success();
}

/// Returns whether the executor supports the type: numbers and tensors of them.
bool isComputable(Type type) {
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    type = tensor.getElementType();
  else if (isa<TensorType>(type))
    return false;
  return type.isIntOrIndexOrFloat() || isa<tosa::shapeType>(type);
}

LogicalResult Compiler::checkOps() {
  if (!llvm::hasSingleElement(entry.getBody()))
    return entry.emitOpError("cannot be executed: its body has several blocks");
  for (Type type : llvm::concat<const Type>(entry.getArgumentTypes(),
                                            entry.getResultTypes())) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.getElementType().isIntOrFloat())
      return entry.emitOpError("cannot be executed: ")
             << type << " is not a ranked tensor of numbers";
  }
  // Allow only computations on tensors, and no op that could access other
  // memory: the network may come from an untrusted source.
  llvm::StringSet<> dialects;
  for (StringRef name : {"tosa", "tensor", "arith", "math", "linalg", "scf",
                         "affine", "index", "ub"})
    dialects.insert(name);
  WalkResult result = entry.getBody().walk([&](Operation *op) {
    if (failed(checkConstant(op)))
      return WalkResult::interrupt();
    if (isa<func::ReturnOp>(op))
      return WalkResult::advance();
    if (!dialects.contains(op->getName().getDialectNamespace()) &&
        !isa<QuantizeOp>(op)) {
      op->emitOpError("cannot be executed: the executor does not know this op");
      return WalkResult::interrupt();
    }
    if (isa<tosa::VariableReadOp, tosa::VariableWriteOp>(op)) {
      InFlightDiagnostic diagnostic = op->emitOpError(
          "cannot be executed: samples have no order in which a variable could "
          "keep its value");
      diagnostic.attachNote()
          << "make it an argument and a result, by mct-lift-variables";
      return WalkResult::interrupt();
    }
    if (isa<QuantizeOp>(op) && op->getParentOp() != entry) {
      op->emitOpError("cannot be executed: the executor knows no points inside "
                      "of other ops");
      return WalkResult::interrupt();
    }
    auto check = [&](Type type) {
      if (isComputable(type))
        return true;
      op->emitOpError("cannot be executed: ")
          << type << " is not a number or a ranked tensor of numbers";
      return false;
    };
    if (!llvm::all_of(op->getOperandTypes(), check) ||
        !llvm::all_of(op->getResultTypes(), check))
      return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (!llvm::all_of(block.getArgumentTypes(), check))
          return WalkResult::interrupt();
    return failed(checkMultipliers(op)) ? WalkResult::interrupt()
                                        : WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Compiler::replaceQuantizers() {
  if (!options.simulateQuantization)
    entry.walk([](QuantizeOp point) { point.removeTrainableAttr(); });
  if (options.quantizers.empty())
    return success();
  llvm::StringSet<> found;
  WalkResult result = entry.walk([&](QuantizeOp point) {
    std::string name = point.getUniqueName();
    auto chosen = options.quantizers.find(name);
    if (chosen == options.quantizers.end()) {
      if (!options.simulateQuantization)
        point.removeQuantizer();
      return WalkResult::advance();
    }
    found.insert(name);
    auto quantizer =
        dyn_cast_or_null<mct::tpc::QuantizerAttrInterface>(chosen->second);
    if (chosen->second && !quantizer) {
      point.emitOpError("cannot quantize by ")
          << chosen->second << ", which is not a quantizer";
      return WalkResult::interrupt();
    }
    point.removeQuantizer();
    point.removeTrainableAttr();
    if (quantizer)
      point.setQuantizer(quantizer);
    return failed(point.verify()) ? WalkResult::interrupt()
                                  : WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  if (options.ignoreUnknownNames)
    return success();
  for (const auto &chosen : options.quantizers)
    if (!found.contains(chosen.getKey()))
      return emitError(entry.getLoc(), "function '")
             << options.function << "' has no point named '" << chosen.getKey()
             << "' whose quantizer could be replaced";
  return success();
}

LogicalResult Compiler::findHosts() {
  WalkResult result = entry.walk([&](Operation *op) {
    std::optional<mct::HostPoint> found = mct::getHostGradient(op);
    if (auto point = dyn_cast<QuantizeOp>(op)) {
      if (options.simulateQuantization &&
          failed(mct::requireNothingLearned(point)))
        return WalkResult::interrupt();
      found = mct::getHostPoint(point);
    }
    if (!found)
      return WalkResult::advance();
    if (llvm::is_contained(replaceablePoints, op)) {
      op->emitOpError("cannot be executed with another quantizer: ")
          << found->quantizer.getName() << " of the program quantizes it";
      return WalkResult::interrupt();
    }
    hosts.push_back({op, std::move(*found)});
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult Compiler::findObserved() {
  llvm::StringMap<QuantizeOp> points;
  SmallVector<QuantizeOp> inOrder;
  entry.walk([&](QuantizeOp point) {
    if (point.isActivation()) {
      points[point.getUniqueName()] = point;
      inOrder.push_back(point);
    }
  });
  // A rewrite can leave several ops with one name; the last of them makes the
  // result, unless it makes a shape, which has no numbers to observe.
  llvm::StringMap<Value> named;
  for (BlockArgument argument : entry.getArguments())
    if (StringAttr name = mct::getName(argument))
      named[name.getValue()] = argument;
  for (Operation &op : entry.getBody().front())
    if (op.getNumResults() == 1 && !isa<QuantizeOp>(op) &&
        isa<ShapedType>(op.getResult(0).getType()))
      if (StringAttr name = mct::getName(op.getResult(0)))
        named[name.getValue()] = op.getResult(0);

  auto add = [&](StringRef name, Value value) -> LogicalResult {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    if (!type || !type.getElementType().isIntOrFloat()) {
      emitError(value.getLoc(), "'")
          << name << "' cannot be observed: it has type " << value.getType()
          << ", not a tensor of numbers";
      return failure();
    }
    observations.push_back({name.str(), value});
    return success();
  };
  auto addPoint = [&](QuantizeOp point) {
    return add(point.getUniqueName(), options.observeAfterQuantization
                                          ? point.getResult()
                                          : point.getInput());
  };
  for (Value value : observedValues) {
    auto point = value.getDefiningOp<QuantizeOp>();
    StringAttr name = mct::getName(value);
    if (failed(point && point.isActivation()
                   ? addPoint(point)
                   : add(name ? name.getValue() : "", value)))
      return failure();
  }
  for (const std::string &name : options.observed) {
    if (QuantizeOp point = points.lookup(name)) {
      if (failed(addPoint(point)))
        return failure();
    } else if (Value value = named.lookup(name)) {
      if (failed(add(name, value)))
        return failure();
    } else if (!options.ignoreUnknownNames) {
      emitError(entry.getLoc(), "function '")
          << options.function << "' has no value named '" << name
          << "' to observe";
      return failure();
    }
  }
  if (options.observeAllPoints)
    for (QuantizeOp point : inOrder)
      if (!llvm::is_contained(options.observed, point.getUniqueName()) &&
          failed(addPoint(point)))
        return failure();
  for (const ObservedBefore &observed : observedBefore) {
    StringAttr name = mct::getName(observed.value);
    if (failed(add(name ? name.getValue() : "", observed.value)))
      return failure();
    observations.back().user = observed.op;
  }
  return success();
}

/// Samples per unit so that the largest activations stay in a core's second
/// level cache. A constant of the model, not of the machine: a different unit
/// may make oneDNN choose a different implementation.
int64_t unitFor(func::FuncOp function, const mct::BatchDimensions &dimensions,
                int64_t batch) {
  constexpr int64_t kCacheBytes = 768 * 1024;
  constexpr int64_t kLargestUnit = 32;
  int64_t largest = 1;
  for (auto [value, dimension] : dimensions) {
    auto type = cast<RankedTensorType>(value.getType());
    // Sizes have not been checked yet, so the product may overflow.
    int64_t bytes = dimension.rows;
    bool isHuge =
        llvm::MulOverflow(bytes, getElementBytes(type.getElementType()), bytes);
    for (auto [number, size] : llvm::enumerate(type.getShape()))
      if (static_cast<int64_t>(number) != dimension.dimension &&
          !ShapedType::isDynamic(size))
        isHuge |= llvm::MulOverflow(bytes, size, bytes);
    largest = std::max(largest, isHuge ? kCacheBytes : bytes);
  }
  int64_t unit = 1;
  while (2 * unit <= kLargestUnit && largest <= kCacheBytes / (2 * unit))
    unit *= 2;
  return unit;
}

/// Rejects a batch of unknown size that not all arguments have.
LogicalResult Compiler::checkBatchIsShared() {
  auto leading = [](Type type) -> std::optional<int64_t> {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || tensor.getRank() == 0)
      return std::nullopt;
    return tensor.getDimSize(0);
  };
  for (auto [number, type] : llvm::enumerate(entry.getArgumentTypes())) {
    if (leading(type) != ShapedType::kDynamic)
      continue;
    for (auto [other, otherType] : llvm::enumerate(entry.getArgumentTypes()))
      if (leading(otherType) != ShapedType::kDynamic)
        return entry.emitOpError("cannot be executed: argument ")
               << number << " (" << type
               << ") has a batch of unknown size, and argument " << other
               << " (" << otherType
               << ") has none; write the sizes into the types";
  }
  return success();
}

LogicalResult Compiler::chooseUnit() {
  program->unit = 1;
  if (entry.getNumArguments() == 0 || options.keepTypes)
    return success();
  FailureOr<int64_t> size = mct::getBatch(entry, /*emitErrors=*/false);
  if (failed(size))
    return checkBatchIsShared();
  bool isDynamic = ShapedType::isDynamic(*size);
  FailureOr<mct::BatchDimensions> dimensions =
      mct::followBatch(entry, /*emitErrors=*/isDynamic);
  if (failed(dimensions)) {
    if (isDynamic)
      return failure();
    // A leading dimension that not all results have, such as the steps of a
    // sequence beside a last state, does not hold samples.
    bool isShared = llvm::all_of(entry.getResultTypes(), [&](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return !tensor || tensor.getRank() == 0 ||
             tensor.getDimSize(0) % *size == 0;
    });
    program->unit = isShared ? *size : 1;
    program->allowsPartialUnits = program->unit == 1;
    return success();
  }

  // A prefix of the samples is a prefix in memory only if the batch is
  // outermost.
  auto isOutermost = [&](Value value) {
    auto it = dimensions->find(value);
    if (it == dimensions->end())
      return false;
    ArrayRef<int64_t> sizes =
        cast<RankedTensorType>(value.getType()).getShape();
    return llvm::all_of(sizes.take_front(it->second.dimension),
                        [](int64_t s) { return s == 1; });
  };
  Operation *terminator = entry.getBody().front().getTerminator();
  bool grows = llvm::all_of(terminator->getOperands(), isOutermost) &&
               llvm::all_of(observations,
                            [&](const Observation &o) {
                              return isOutermost(o.value);
                            }) &&
               llvm::all_of(hosts, [&](const auto &host) {
                 Value value = host.first->getResult(0);
                 return !dimensions->contains(value) || isOutermost(value);
               });
  if (!grows)
    program->unit = 1;
  else if (options.unit > 0)
    program->unit = options.unit;
  else
    program->unit = std::min(mostUnit, unitFor(entry, *dimensions, *size));
  hasOtherBatch = *size != program->unit;
  if (hasOtherBatch && failed(mct::setBatch(entry, program->unit)))
    return failure();
  if (grows)
    batch = std::move(*dimensions);
  return success();
}

/// Tensors have known sizes, which agree and can be computed with.
LogicalResult Compiler::checkTypes() {
  auto check = [](Type type, function_ref<InFlightDiagnostic()> error) {
    auto tensor = dyn_cast<TensorType>(type);
    if (!tensor || (tensor.hasRank() && tensor.hasStaticShape()))
      return success();
    error() << "cannot be executed: its shape is not known (" << type
            << "); run tosa-infer-shapes before";
    return failure();
  };
  for (BlockArgument argument : entry.getArguments())
    if (failed(check(argument.getType(), [&] {
          return entry.emitOpError()
                 << "argument " << argument.getArgNumber() << " ";
        })))
      return failure();
  WalkResult result = entry.walk([&](Operation *op) {
    for (Type type : op->getResultTypes())
      if (failed(check(type, [&] { return op->emitOpError(); })))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (result.wasInterrupted())
    return failure();
  // Verify again, since all sizes are known only now.
  if (hasOtherBatch && failed(mlir::verify(entry)))
    return failure();
  return mct::verifyShapes(entry);
}

FollowedShape Compiler::describeShape(Value value) const {
  FollowedShape shape;
  llvm::append_range(shape.shape,
                     cast<RankedTensorType>(value.getType()).getShape());
  if (!batch)
    return shape;
  auto it = batch->find(value);
  if (it == batch->end())
    return shape;
  shape.followed = true;
  shape.batchDimension = it->second.dimension;
  shape.rowsPerSample = it->second.rows;
  return shape;
}

void Compiler::describeObserved() {
  for (const Observation &observation : observations) {
    program->observed.push_back(
        {observation.name,
         cast<RankedTensorType>(observation.value.getType())});
    program->observedShapes.push_back(describeShape(observation.value));
  }
}

LogicalResult Compiler::describeHosts() {
  llvm::StringSet<> trained;
  for (const auto &[op, host] : hosts)
    if (!isa<QuantizeOp>(op))
      trained.insert(host.name);
  for (auto &[op, host] : hosts) {
    host.type = cast<RankedTensorType>(op->getResult(0).getType());
    FailureOr<std::shared_ptr<mct::HostQuantizer>> quantizer =
        mct::HostQuantizers::get(op, host);
    if (failed(quantizer))
      return failure();
    program->hosts.push_back({*quantizer, describeShape(op->getResult(0)),
                              !isa<QuantizeOp>(op),
                              trained.contains(host.name)});
    program->primitiveInfos.push_back(
        {host.name,
         (kHostImplementation + host.quantizer.getName().getValue()).str()});
  }
  return success();
}

LogicalResult Compiler::plan(PartSet &parts) {
  program->maxMemory =
      options.maxMemory > 0 ? options.maxMemory : machineMemory();
  if (failed(extract()) || failed(checkOps()) || failed(replaceQuantizers()) ||
      failed(findHosts()) || failed(findObserved()) || failed(chooseUnit()) ||
      failed(checkTypes()) || failed(describeHosts()))
    return failure();
  avoidNegativeCoordinates(entry);
  describeObserved();
  auto describe = [](StringAttr name, size_t number, Type type) {
    return TensorSpec{name ? name.str() : std::to_string(number),
                      cast<RankedTensorType>(type)};
  };
  for (auto [argument, record] :
       llvm::zip_equal(entry.getArguments(), preprocessing)) {
    program->inputs.push_back(describe(
        mct::getName(argument), argument.getArgNumber(), argument.getType()));
    program->inputs.back().preprocessing = std::move(record);
  }
  Operation *terminator = entry.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(terminator->getOperands()))
    program->outputs.push_back(
        describe(mct::getName(value), number, value.getType()));

  SmallVector<Value> observed = llvm::map_to_vector(
      observations, [](const Observation &o) { return o.value; });
  SmallVector<Operation *> users = llvm::map_to_vector(
      observations, [](const Observation &o) { return o.user; });
  SmallVector<Operation *> hostOps =
      llvm::map_to_vector(hosts, [](const auto &host) { return host.first; });
  scheduler.emplace(entry, *program, parts,
                    // Points that are not simulated have lost their parameters.
                    options.simulateQuantization || !options.quantizers.empty(),
                    observed, users, options.numEdited, replaceable,
                    replaceablePoints, hostOps);
  return scheduler->schedule(options.usePrimitives);
}

LogicalResult Compiler::checkMemory() {
  const Executor::Memory &memory = program->memory;
  if (memory.shared <= program->maxMemory &&
      memory.perWorker <= program->maxMemory - memory.shared)
    return success();
  // A smaller unit helps only if the unit was not given and the constants,
  // which are the same for all units, fit.
  if (batch && options.unit == 0 && program->unit > 1 &&
      memory.shared <= program->maxMemory) {
    wantsSmallerUnit = true;
    return failure();
  }
  return entry.emitError("the network needs ")
         << memory.shared << " bytes for its constants and " << memory.perWorker
         << " for the values of " << program->unit
         << (program->unit == 1 ? " sample" : " samples")
         << " that are computed at once; that is more than the "
         << program->maxMemory
         << " bytes there are: raise the limit on memory, or run on a larger "
            "machine"
         << mct::support::kTroubleshooting << "a-network-needs-too-much-memory";
}

LogicalResult Compiler::placeValues() {
  return success(succeeded(scheduler->placeValues()) &&
                 succeeded(checkMemory()));
}

LogicalResult Compiler::finish(const PartSet &parts) {
  program->parts = parts.code();
  program->engines.assign(parts.engines().begin(), parts.engines().end());
  int64_t temporary = 0;
  for (const Step &step : program->steps)
    if (step.kind == Step::Kind::Part)
      temporary =
          std::max(temporary, (*program->parts)[step.index].temporaryBytes);
  program->memory.perWorker += temporary;
  return success(succeeded(checkStepSizes(*program, entry.getLoc())) &&
                 succeeded(checkMemory()));
}

} // namespace

Executor::Executor(std::unique_ptr<Program> program)
    : program(std::move(program)) {}
Executor::~Executor() = default;

FailureOr<std::unique_ptr<Executor>>
Executor::compile(ModuleOp module, const CompileOptions &options,
                  RunCache *cache) {
  FailureOr<std::vector<std::unique_ptr<Executor>>> executors =
      compileAll(module, options, cache);
  if (failed(executors))
    return failure();
  return std::move(executors->front());
}

LogicalResult mct::execution::checkCompiles(ModuleOp module,
                                            const CompileOptions &options) {
  PartSet parts(module.getLoc());
  Compiler compiler(module, options);
  return success(succeeded(compiler.plan(parts)) &&
                 succeeded(parts.lowerToLinalg()));
}

FailureOr<std::vector<std::unique_ptr<Executor>>>
Executor::compileAll(ModuleOp module, ArrayRef<CompileOptions> options,
                     RunCache *cache) {
  RunCache own;
  std::vector<Compiler> compilers;
  auto compile = [&](PartSet &parts) -> LogicalResult {
    for (Compiler &compiler : compilers)
      if (failed(compiler.plan(parts)))
        return failure();
    if (failed(parts.lowerToLinalg()))
      return failure();
    for (Compiler &compiler : compilers)
      if (failed(compiler.placeValues()))
        return failure();
    if (failed(parts.compile()))
      return failure();
    for (Compiler &compiler : compilers)
      if (failed(compiler.finish(parts)))
        return failure();
    return success();
  };
  for (int64_t unit = std::numeric_limits<int64_t>::max();;) {
    compilers.clear();
    for (const CompileOptions &one : options)
      compilers.emplace_back(module, one).mostUnit = unit;
    if (succeeded((cache ? *cache : own).compileWith(module.getLoc(), compile)))
      break;
    auto tooLarge = llvm::find_if(
        compilers, [](const Compiler &each) { return each.wantsSmallerUnit; });
    if (tooLarge == compilers.end())
      return failure();
    unit = tooLarge->program->unit / 2;
  }
  // The programs have copies of everything that they read from the module.
  mct::support::releaseMappedFiles(module.getContext());
  std::vector<std::unique_ptr<Executor>> executors;
  for (Compiler &compiler : compilers)
    executors.push_back(
        std::unique_ptr<Executor>(new Executor(std::move(compiler.program))));
  return executors;
}

void Executor::registerDependencies(DialectRegistry &registry) {
  registerPipelineDependencies(registry);
}
