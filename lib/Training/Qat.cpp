// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/Qat.h"

#include "mct/IR/Constants.h"
#include "mct/IR/EraseUnused.h"
#include "mct/Interfaces/SetBatch.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/IR/SymbolTable.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace mct;
using mct::tpc::QuantizeOp;

llvm::cl::ValuesClass mct::qatLossValues() {
  return llvm::cl::values(
      clEnumValN(QatLoss::CrossEntropy, "cross-entropy",
                 "mean of -log p(label); needs labels"),
      clEnumValN(QatLoss::SquaredError, "mse",
                 "mean squared error by the mean square, of the results of the "
                 "float network"),
      clEnumValN(QatLoss::Divergence, "kl",
                 "Kullback-Leibler divergence from the distribution of the "
                 "float network"));
}

llvm::cl::ValuesClass mct::qatMethodValues() {
  return llvm::cl::values(
      clEnumValN(TrainingMethod::Fixed, "fixed", "quantizers stay as they are"),
      clEnumValN(TrainingMethod::STE, "ste",
                 "thresholds or ranges, by straight-through gradients"),
      clEnumValN(TrainingMethod::LSQ, "lsq",
                 "thresholds or ranges, by gradients of a learned step"));
}

/// Returns the input of the softmax that computes the value, or the value
/// itself if there is none.
static Value skipSoftmax(Value value) {
  Operation *op = value.getDefiningOp();
  while (auto point = dyn_cast_if_present<QuantizeOp>(op))
    op = point.getInput().getDefiningOp();
  if (!op)
    return value;
  for (const tpc::FormulaMatch &match : tpc::findFormulas(*op->getBlock()))
    if (match.name == "softmax" && match.ops.back() == op)
      return match.input;
  return value;
}

/// Lets the function return the inputs of softmaxes instead of its results.
static void returnScores(func::FuncOp function) {
  Operation *terminator = function.getBody().front().getTerminator();
  SmallVector<Operation *> unread;
  for (OpOperand &result : terminator->getOpOperands()) {
    unread.push_back(result.get().getDefiningOp());
    result.set(skipSoftmax(result.get()));
  }
  function.setFunctionType(FunctionType::get(function.getContext(),
                                             function.getArgumentTypes(),
                                             terminator->getOperandTypes()));
  function.setResAttrsAttr({});
  // Points after them are not trained.
  eraseUnused(unread);
}

/// Restores the float kernel and bias of every layer in the function.
static LogicalResult takeBackCorrections(func::FuncOp function,
                                         const KernelOps &kernels) {
  SmallVector<Operation *> ops;
  for (Operation &op : function.getBody().front())
    ops.push_back(&op);
  for (Operation *op : ops) {
    std::optional<KernelOp> layer = kernels.get(op);
    if (!layer || !layer->getCorrections())
      continue;
    if (!layer->canTakeBackCorrections())
      return op->emitOpError("does not have the kernel or bias of the float "
                             "network, with which the loss compares; use "
                             "loss=cross-entropy");
    OpBuilder builder(op);
    layer->takeBackCorrections(builder);
  }
  return success();
}

/// Largest distance of a weight from its level at the start, in levels.
static constexpr double kFarthestStart = 0.4;

/// Weights that were rounded together start at their float values, as far as
/// they keep their levels. If they started on the levels, the gradient of the
/// threshold would consist of rounding errors, which Adam scales up like any
/// other gradient.
static void startBetweenLevels(func::FuncOp network, const KernelOps &kernels,
                               llvm::StringMap<std::vector<float> *> &values) {
  for (Operation &op : network.getBody().front()) {
    std::optional<KernelOp> layer = kernels.get(&op);
    QuantizeOp point = layer ? layer->getKernelPoint() : QuantizeOp();
    if (!point || !point.getParametersAttr() || !layer->getCorrections() ||
        !layer->getCorrections().getKernel())
      continue;
    auto found = values.find(point.getUniqueName());
    std::optional<ConstantTensor> record =
        ConstantTensor::get(layer->getCorrections().getKernel());
    std::optional<ConstantFloats> exact =
        record ? ConstantFloats::convert(*std::move(record)) : std::nullopt;
    SmallVector<quantization::Grid> grids =
        point.getParametersAttr().getGrids();
    if (found == values.end() || !exact || grids.empty() ||
        exact->values().size() != found->second->size())
      continue;
    for (auto [element, weight] : llvm::enumerate(*found->second)) {
      size_t channel =
          grids.size() == 1 ? 0 : size_t(layer->outChannelOf(int64_t(element)));
      double step = grids[channel].step, level = std::nearbyint(weight / step),
             distance = exact->values()[element] / step - level;
      weight = float(step * (level + std::clamp(distance, -kFarthestStart,
                                                kFarthestStart)));
    }
  }
}

/// Sets the initial values of training where they differ from the network's.
static void chooseStart(func::FuncOp network, const KernelOps &kernels,
                        TrainingRun &run) {
  // A threshold that is rounded up to a power of two starts in the middle, by
  // ratio, of those that round to the same one: from the upper end, the first
  // step would double it.
  llvm::StringSet<> powers;
  for (auto point : network.getOps<QuantizeOp>()) {
    tpc::TrainableAttrInterface trainable = point.getTrainableAttr();
    if (auto gradual = dyn_cast_if_present<tpc::GradualAttr>(trainable))
      trainable = gradual.getOf();
    auto threshold = dyn_cast_if_present<tpc::LearnedThresholdAttr>(trainable);
    if (threshold && threshold.getPowerOfTwo())
      powers.insert(point.getUniqueName());
  }
  std::vector<std::vector<float>> values = run.values();
  llvm::StringMap<std::vector<float> *> weights;
  for (auto [value, tensor] : llvm::zip_equal(run.function().learned, values)) {
    if (value.kind == LearnedKind::Weight)
      weights[value.name] = &tensor;
    if (value.role == tpc::LearnedRole::Threshold &&
        powers.contains(value.point))
      for (float &threshold : tensor)
        threshold *= float(M_SQRT1_2);
  }
  startBetweenLevels(network, kernels, weights);
  run.setValues(values);
}

static std::shared_ptr<TrainingLoss> createLoss(const QatOptions &options) {
  switch (options.loss) {
  case QatLoss::CrossEntropy:
    return createCrossEntropyLoss(quantization::Scores::Logits, options.labels);
  case QatLoss::SquaredError:
    return createSquaredErrorLoss(ErrorUnit::Normalized);
  case QatLoss::Divergence:
    return createDivergenceLoss(quantization::Scores::Logits);
  }
  llvm_unreachable("a loss");
}

/// Converts trainable points to the ordinary points from which they would
/// start.
static LogicalResult finalize(func::FuncOp network, const KernelOps &kernels) {
  bool isTrainable =
      llvm::any_of(network.getOps<QuantizeOp>(), [](QuantizeOp point) {
        return bool(point.getTrainableAttr());
      });
  if (!isTrainable)
    return success();
  OwningOpRef<ModuleOp> module(network->getParentOfType<ModuleOp>().clone());
  TrainingRequest request;
  request.name = (network.getName() + "_training").str();
  auto copy = module->lookupSymbol<func::FuncOp>(network.getName());
  // The initial values do not depend on the batch, which may be dynamic.
  if (FailureOr<int64_t> batch = getBatch(copy, /*emitErrors=*/false);
      succeeded(batch) && ShapedType::isDynamic(*batch))
    request.samples = 1;
  request.kernels = &kernels;
  FailureOr<TrainingFunction> made = makeTrainingFunction(copy, request);
  if (failed(made))
    return failure();
  std::vector<std::vector<float>> values;
  for (const LearnedValue &value : made->learned)
    values.push_back(value.initial.values);
  return writeLearned(network, *made, values);
}

LogicalResult mct::trainQuantized(func::FuncOp network,
                                  const KernelOps &kernels,
                                  const QatOptions &options,
                                  const execution::RunSettings &runSettings) {
  if (options.settings.epochs == 0)
    return finalize(network, kernels);
  makeTrainable(network, options.trainable);

  // The trained network returns other values, and its teacher has other
  // kernels.
  OwningOpRef<ModuleOp> module(network->getParentOfType<ModuleOp>().clone());
  TrainingProblem problem;
  problem.network = module->lookupSymbol<func::FuncOp>(network.getName());
  returnScores(problem.network);
  problem.loss = createLoss(options);
  problem.request.biases = options.trainsBiases;
  problem.request.kernels = &kernels;
  if (problem.loss->needsTeacher()) {
    problem.teacher = problem.network.clone();
    SymbolTable(*module).insert(problem.teacher);
    if (failed(takeBackCorrections(problem.teacher, kernels)))
      return failure();
  }
  FailureOr<std::unique_ptr<TrainingRun>> run =
      TrainingRun::create(problem, options.settings, runSettings);
  if (failed(run))
    return failure();
  chooseStart(network, kernels, **run);
  if (failed((*run)->train()) || failed((*run)->write(network)))
    return failure();
  for (auto point : network.getOps<QuantizeOp>())
    if (point.isActivation())
      point.removeStatisticsAttr();
  return success();
}
