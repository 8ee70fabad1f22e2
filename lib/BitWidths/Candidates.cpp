// SPDX-License-Identifier: Apache-2.0
#include "Candidates.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"
#include "mct/Transforms/Candidates.h"

using namespace mlir;
using namespace mct;
using namespace mct::bit_widths;

FailureOr<std::vector<OperatorCandidates>> mct::bit_widths::selectCandidates(
    func::FuncOp function, const KernelOps &kernels,
    llvm::function_ref<LogicalResult(ModuleOp)> select) {
  auto module = function->getParentOfType<ModuleOp>();
  std::vector<OperatorCandidates> found;
  int64_t most = 1;
  for (const OperatorPoints &of : findOperatorPoints(function))
    if (int64_t number = of.numAlternatives(); number > 1) {
      found.push_back({of.name.str(), std::vector<Quantizers>(number)});
      most = std::max(most, number);
    }
  for (int64_t index = 0; index != most; ++index) {
    OwningOpRef<ModuleOp> copy = module.clone();
    auto copied = cast<func::FuncOp>(
        SymbolTable::lookupSymbolIn(*copy, function.getSymName()));
    for (const OperatorPoints &of : findOperatorPoints(copied))
      if (index < of.numAlternatives() &&
          failed(chooseCandidate(of, index, kernels)))
        return failure();
    if (failed(select(*copy)))
      return failure();
    size_t number = 0;
    for (const OperatorPoints &of : findOperatorPoints(copied)) {
      if (of.numAlternatives() == 1)
        continue;
      OperatorCandidates &candidates = found[number++];
      if (index >= of.numAlternatives())
        continue;
      for (tpc::QuantizeOp point : of.points) {
        tpc::AttrQuantConfigAttr config;
        if (point.isWeight())
          config = point.getWeightConfig();
        candidates.alternatives[index][point.getUniqueName()] = {
            point.getParametersAttr(), llvm::to_vector(point.getChannelAxes()),
            config && config.getErrorTolerance()};
      }
    }
  }
  return found;
}

LogicalResult mct::bit_widths::checkMeasurable(func::FuncOp function) {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitOpError(
        "cannot be measured: its body has several blocks");
  WalkResult result = function.walk([](Operation *op) {
    if (auto call = dyn_cast<func::CallOp>(op)) {
      call.emitOpError("calls another function, and alternatives are measured "
                       "within one; run the pass inline before");
      return WalkResult::interrupt();
    }
    auto point = dyn_cast<tpc::QuantizeOp>(op);
    if (!point || point.getParametersAttr())
      return WalkResult::advance();
    point.emitOpError("has no parameters; run mct-calibrate, "
                      "mct-select-parameters and mct-select-weight-parameters "
                      "before");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
