// SPDX-License-Identifier: Apache-2.0
#include "CompiledTraining.h"
#include "mct/IR/HostQuantizers.h"
#include "mct/IR/Names.h"
#include "mct/Interfaces/SetBatch.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace mct;
using namespace mct::training;
using execution::Executor;

/// Returns the text of a function without names and with hashes of its
/// constants, which identifies what it computes.
static std::string describe(func::FuncOp function) {
  OwningOpRef<func::FuncOp> copy(function.clone());
  std::string text;
  copy->walk([&](Operation *op) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
      // The way in which parameters were found does not matter.
      point.removeStatisticsAttr();
      point.removeSelectionAttr();
      point.removeCandidatesAttr();
      point.removeConfigAttr();
    }
    SmallVector<StringAttr> hashed;
    for (NamedAttribute attribute : op->getAttrs()) {
      if (auto elements =
              dyn_cast<DenseResourceElementsAttr>(attribute.getValue())) {
        if (AsmResourceBlob *blob = elements.getRawHandle().getBlob())
          text += hashText({blob->getData().data(), blob->getData().size()});
        hashed.push_back(attribute.getName());
      } else if (auto dense = dyn_cast<DenseElementsAttr>(attribute.getValue());
                 dense && !dense.isSplat()) {
        text +=
            hashText({dense.getRawData().data(), dense.getRawData().size()});
        hashed.push_back(attribute.getName());
      }
    }
    for (StringAttr name : hashed)
      op->removeAttr(name);
  });
  llvm::raw_string_ostream stream(text);
  copy->print(stream, OpPrintingFlags().printGenericOpForm().useLocalScope());
  return text;
}

/// Removes results of a function.
static void eraseResults(func::FuncOp function, const llvm::BitVector &erased) {
  Operation *terminator = function.getBody().front().getTerminator();
  terminator->eraseOperands(erased);
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getArgumentTypes(),
                                             terminator->getOperandTypes()));
  function.setResAttrsAttr({});
}

/// Creates, in a copy of the module, the function with the gradients of the
/// learned values.
FailureOr<OwningOpRef<ModuleOp>>
CompiledTraining::makeFunction(const TrainingProblem &problem,
                               const TrainingSettings &settings) {
  shard = std::min(settings.shard, settings.batch);
  func::FuncOp network = problem.network;
  FailureOr<int64_t> ownBatch = getBatch(network, /*emitErrors=*/false);
  while (true) {
    OwningOpRef<ModuleOp> module(network->getParentOfType<ModuleOp>().clone());
    auto copy = module->lookupSymbol<func::FuncOp>(network.getName());
    TrainingRequest request = problem.request;
    request.name = (network.getName() + "_training").str();
    request.samples = succeeded(ownBatch) && *ownBatch == shard ? 0 : shard;
    FailureOr<TrainingFunction> made = makeTrainingFunction(copy, request);
    if (failed(made))
      return failure();
    function = std::move(*made);
    bool observes = llvm::any_of(function.learned, [](const auto &value) {
      return value.kind == LearnedKind::State;
    });
    // Quantizers of the caller may observe values, too.
    for (auto point : function.function.getOps<tpc::QuantizeOp>())
      if (std::optional<HostPoint> host = getHostPoint(point)) {
        observes = true;
        if (!settings.checkpoint.empty())
          return network.emitOpError()
                 << "cannot be trained with a checkpoint, which does not hold "
                    "what "
                 << host->quantizer.getName() << " of '" << host->name
                 << "' keeps; train it without";
      }
    if (!observes || shard == settings.batch)
      return module;
    // Ranges are those of a whole batch.
    shard = settings.batch;
  }
}

LogicalResult CompiledTraining::describeResults(Location loc) {
  for (auto point : function.function.getOps<tpc::QuantizeOp>())
    if (auto quantizer = dyn_cast_if_present<TrainableQuantizerAttrInterface>(
            point.getTrainableAttr())) {
      ValidPoint valid{quantizer, {}};
      for (auto [number, value] : llvm::enumerate(function.learned))
        if (value.role && value.point == point.getUniqueName())
          valid.values.push_back(number);
      points.push_back(std::move(valid));
    }
  for (Value value : function.function.getBody()
                         .front()
                         .getTerminator()
                         ->getOperands()
                         .take_front(function.numResults)) {
    auto type = cast<RankedTensorType>(value.getType());
    ComparedShape &shape = results.emplace_back();
    StringAttr name = mct::getName(value);
    shape.name = name ? name.str() : "#" + std::to_string(results.size() - 1);
    if (type.getRank() == 0 || type.getDimSize(0) % shard != 0)
      return fail(loc) << "'" << shape.name << "', which is compared, is "
                       << type << " for " << shard
                       << " samples, and does not begin with them";
    llvm::append_range(shape.sizes, type.getShape().drop_front());
    shape.elements = type.getNumElements() / shard;
    shape.channels =
        type.getRank() == 1 ? shape.elements : type.getShape().back();
  }
  return success();
}

/// Erases results that a step does not have to return: those that are compared
/// where they are computed, and unused gradients.
static void eraseUnused(TrainingStep &step, const TrainingFunction &function,
                        const TrainingSettings &settings) {
  llvm::BitVector erased(step.function.getNumResults());
  erased.set(0, function.numResults);
  unsigned number = function.numResults;
  for (const LearnedValue &value : function.learned)
    number += value.kind == LearnedKind::State;
  for (const LearnedValue &value : function.learned)
    if (value.isTrained()) {
      if (!getOptimizer(settings, value.kind))
        erased.set(number);
      ++number;
    }
  eraseResults(step.function, erased);
  SmallVector<Operation *> ops;
  for (Operation &op : step.function.getBody().front().without_terminator())
    ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty() && isPure(op) &&
        !llvm::is_contained(step.seeds, op->getResult(0)))
      op->erase();
}

LogicalResult CompiledTraining::compileStep(ModuleOp module,
                                            const TrainingProblem &problem,
                                            const TrainingSettings &settings,
                                            const execution::RunSettings &run) {
  FailureOr<TrainingStep> step = makeTrainingStep(function, problem.rules);
  if (failed(step))
    return failure();
  eraseUnused(*step, function, settings);
  execution::CompileOptions options;
  options.function = step->function.getName().str();
  options.keepTypes = true;
  options.observedValues = step->seeds;
  options.numEdited = step->seeds.size();
  options.maxMemory = run.maxMemory;
  for (Value seed : step->seeds)
    isSeedRead.push_back(!seed.use_empty());
  FailureOr<std::unique_ptr<Executor>> compiled =
      Executor::compile(module, options, run.cache.get());
  if (failed(compiled))
    return failure();
  executor = std::move(*compiled);
  // They belong to a module that is destroyed.
  function.function = nullptr;
  return success();
}

LogicalResult
CompiledTraining::compileTeacher(const TrainingProblem &problem,
                                 const execution::RunSettings &run) {
  if (!problem.loss->needsTeacher())
    return success();
  func::FuncOp network = problem.teacher ? problem.teacher : problem.network;
  execution::CompileOptions options;
  options.function = network.getName().str();
  options.simulateQuantization = false;
  options.observeAfterQuantization = false;
  options.observed = problem.teacherValues.empty() ? problem.request.compared
                                                   : problem.teacherValues;
  options.maxMemory = run.maxMemory;
  observesTeacher = !options.observed.empty();
  FailureOr<std::unique_ptr<Executor>> compiled = Executor::compile(
      network->getParentOfType<ModuleOp>(), options, run.cache.get());
  if (failed(compiled))
    return failure();
  teacher = std::move(*compiled);
  description += describe(network);
  description += llvm::join(options.observed, ";");

  ArrayRef<execution::TensorSpec> made =
      observesTeacher ? teacher->observed() : teacher->outputs();
  if (made.size() != results.size())
    return fail(func::FuncOp(problem.network).getLoc())
           << "the teacher has " << made.size() << " values to compare with "
           << results.size();
  for (auto [spec, result] : llvm::zip_equal(made, results)) {
    int64_t elements = spec.type.getNumElements() / teacher->unit();
    if (!spec.type.getElementType().isF32() || elements != result.elements)
      return fail(func::FuncOp(problem.network).getLoc())
             << "'" << spec.name << "' of the teacher is " << spec.type
             << " for " << teacher->unit() << " samples, and '" << result.name
             << "' of the network has " << result.elements
             << " values of f32 for each";
  }
  return success();
}

FailureOr<CompiledTraining>
CompiledTraining::create(const TrainingProblem &problem,
                         const TrainingSettings &settings,
                         const execution::RunSettings &run) {
  CompiledTraining made;
  // The caller's module is not changed.
  FailureOr<OwningOpRef<ModuleOp>> module =
      made.makeFunction(problem, settings);
  if (failed(module) ||
      failed(made.describeResults(func::FuncOp(problem.network).getLoc())))
    return failure();
  made.description = describe(made.function.function);
  for (const LearnedValue &value : made.function.learned)
    made.description += hashValues(value.initial.values);
  if (failed(made.compileStep(**module, problem, settings, run)) ||
      failed(made.compileTeacher(problem, run)))
    return failure();
  return std::move(made);
}
