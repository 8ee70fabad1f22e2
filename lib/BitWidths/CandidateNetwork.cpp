// SPDX-License-Identifier: Apache-2.0
#include "CandidateNetwork.h"
#include "mct/Planning/KernelOp.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;
using execution::Executor;

void mct::bit_widths::setAxes(tpc::QuantizeOp point, ArrayRef<int64_t> axes) {
  if (axes.empty())
    point.removeAxesAttr();
  else
    point.setAxes(axes);
}

/// Returns whether the function returns the value of a point.
static bool isResult(tpc::QuantizeOp point) {
  return llvm::any_of(point->getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
}

/// Makes the kernels that a point quantizes replaceable. Returns false if it
/// quantizes another constant.
bool CandidateNetwork::addKernel(tpc::QuantizeOp point,
                                 CandidatePoint &candidate,
                                 const KernelOps &kernels,
                                 const CandidateRunOptions &options,
                                 execution::CompileOptions &own) {
  SmallVector<KernelOp> kernelUsers;
  bool isKernel = !point->use_empty();
  for (Operation *user : point->getUsers()) {
    std::optional<KernelOp> layer = kernels.get(user);
    isKernel &= layer && layer->getKernelPoint() == point;
    if (isKernel)
      kernelUsers.push_back(*layer);
  }
  point.removeQuantizer();
  if (!isKernel)
    return false;
  candidate.kernel = kernelUsers.front().getKernel().values().vec();
  for (const KernelOp &layer : kernelUsers) {
    candidate.layers.push_back(layers.size());
    std::optional<std::vector<float>> bias = layer.getBias();
    CandidateLayer &added = layers.emplace_back(
        CandidateLayer{{layer, point, bias.value_or(std::vector<float>())},
                       bias.has_value(),
                       std::nullopt,
                       std::nullopt,
                       {layer.getResult(), layer.resultAxis()},
                       std::nullopt,
                       {}});
    added.empty.emplace(added.result, /*samples=*/0, /*moments=*/false);
    if (bias && kernelUsers.size() == 1 && options.roundMaxBits != 0)
      added.layout = corrections::ProductLayout::create(layer);
    own.replaceable.push_back(&layer.getKernelOperand());
    own.observedValues.push_back(layer.getResult());
    own.observedBefore.push_back(
        {layer.getInput().get(), layer.getOperation()});
  }
  return true;
}

FailureOr<CandidateNetwork>
CandidateNetwork::compile(func::FuncOp function, const KernelOps &kernels,
                          ArrayRef<OperatorCandidates> candidates,
                          const execution::RunSettings &settings,
                          const CandidateRunOptions &options) {
  CandidateNetwork made;
  made.module = ModuleOp::create(function.getLoc());
  func::FuncOp floating = function.clone(), quantized = function.clone();
  for (func::FuncOp copy : {floating, quantized}) {
    made.module->push_back(copy);
    if (copy != quantized || !options.keepsCorrections)
      takeBackCorrectionsBelow(copy, kernels);
  }
  quantized.setName((function.getSymName() + "_quantized").str());

  SmallVector<execution::CompileOptions, 2> all(2);
  all[0].function = floating.getSymName().str();
  all[0].simulateQuantization = false;
  execution::CompileOptions &own = all[1];
  own.function = quantized.getSymName().str();
  llvm::StringSet<> chosen;
  for (const OperatorCandidates &of : candidates)
    for (const auto &[name, quantizer] : of.alternatives.front())
      chosen.insert(name);
  made.comparedPoints =
      findComparePoints(quantized, kernels, options.comparePoints);
  made.floatPoints =
      findComparePoints(floating, kernels, options.comparePoints);
  for (const ComparePoint &point : made.floatPoints)
    all[0].observedValues.push_back(point.value);
  quantized.walk([&](tpc::QuantizeOp point) {
    if (!chosen.contains(point.getUniqueName())) {
      if (options.measuresParts || isResult(point))
        point.removeQuantizer();
      return;
    }
    CandidatePoint &candidate = made.points[point.getUniqueName()];
    candidate.shape.assign(
        cast<RankedTensorType>(point.getType()).getShape().begin(),
        cast<RankedTensorType>(point.getType()).getShape().end());
    if (point.isWeight() &&
        made.addKernel(point, candidate, kernels, options, own))
      return;
    candidate.number = own.replaceablePoints.size();
    own.replaceablePoints.push_back(point);
  });
  own.numEdited = made.layers.size();
  for (const ComparePoint &point : made.comparedPoints)
    own.observedValues.push_back(point.value);
  for (execution::CompileOptions &each : all)
    each.maxMemory = settings.maxMemory;
  // Calibration has reported already which ops run slowly.
  ScopedDiagnosticHandler quiet(
      function.getContext(), [](Diagnostic &diagnostic) {
        return success(diagnostic.getSeverity() == DiagnosticSeverity::Remark);
      });
  auto executors =
      Executor::compileAll(*made.module, all, settings.cache.get());
  if (failed(executors))
    return failure();
  made.floating = std::move(executors->front());
  made.quantized = std::move(executors->back());
  if (options.measuresParts)
    for (size_t number = 0; number != own.replaceablePoints.size(); ++number)
      if (llvm::Error error =
              made.quantized->replaceQuantizer(number, Attribute()))
        return emitError(function.getLoc()) << llvm::toString(std::move(error));
  return std::move(made);
}
