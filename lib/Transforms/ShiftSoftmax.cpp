// SPDX-License-Identifier: Apache-2.0
#include "ScalingPath.h"
#include "mct/IR/Names.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Quantization/Corrections.h"
#include "mct/Transforms/ImportedPoints.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/StatisticsConversion.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "tpc_dialect/Lookup/Algebra.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {
#define GEN_PASS_DEF_SHIFTSOFTMAXPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns the input of a softmax if the value has no other users, or null.
static Value getSoftmaxInput(const tpc::FormulaMatch &match) {
  bool isAlone = llvm::all_of(match.input.getUsers(), [&](Operation *user) {
    return llvm::is_contained(match.ops, user);
  });
  return match.name == "softmax" && isAlone ? match.input : Value();
}

namespace {
struct ShiftSoftmaxPass
    : public WithOpModels<mct::impl::ShiftSoftmaxPassBase<ShiftSoftmaxPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    markAnalysesPreserved<KernelOps>();
    llvm::DenseSet<Value> inputs;
    getOperation().walk([&](Operation *op) {
      if (auto softmax = dyn_cast<linalg::SoftmaxOp>(op);
          softmax && softmax.getInput().hasOneUse())
        inputs.insert(softmax.getInput());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (const tpc::FormulaMatch &match : tpc::findFormulas(block))
            if (Value input = getSoftmaxInput(match))
              inputs.insert(input);
    });
    for (const KernelOp &layer : kernels.findBelow(getOperation()))
      shift(layer, inputs);
  }

private:
  void shift(const KernelOp &layer, const llvm::DenseSet<Value> &inputs) {
    SmallVector<Operation *> path;
    SmallVector<tpc::QuantizeOp> points;
    Value value = layer.getResult();
    while (!inputs.contains(value)) {
      if (!value.hasOneUse())
        return;
      OpOperand &use = *value.use_begin();
      Operation *user = use.getOwner();
      if (auto point = dyn_cast<tpc::QuantizeOp>(user))
        points.push_back(point);
      else if (getMovedOperand(user, commutesWithAffine) != &use)
        return;
      path.push_back(user);
      value = user->getResult(0);
    }
    if (points.empty() || !points.front().getStatisticsAttr())
      return leave(layer, Reason::NoStatistics);
    if (hasImportedKernel(layer) ||
        llvm::any_of(points, [](tpc::QuantizeOp point) {
          return point.hasImportedParameters();
        }))
      return leave(layer, Reason::ImportedParameters);
    tpc::StatisticsAttr inputStatistics = points.front().getStatisticsAttr();
    double offset = quantization::softmaxShift(inputStatistics.getMin(),
                                               inputStatistics.getMax());
    if (offset == 0)
      return;
    std::optional<std::vector<float>> bias = layer.getBias();
    if (!bias)
      return leave(layer, Reason::BiasNotConstant);
    for (float &element : *bias)
      element = float(element + offset);
    // Compute all statistics before anything changes, since that can fail.
    SmallVector<tpc::StatisticsAttr> shifted;
    for (tpc::QuantizeOp point : points) {
      FailureOr<tpc::StatisticsAttr> statistics =
          shiftStatistics(point.getStatisticsAttr(), offset,
                          (point.getPointName() + kShiftedSuffix).str(),
                          [&] { return point.emitOpError(); });
      if (failed(statistics))
        return signalPassFailure();
      shifted.push_back(*statistics);
    }
    OpBuilder builder(layer.getOperation());
    // The shift also applies to the float layer.
    layer.setBias(
        builder, *bias,
        layer.getCorrectionsAfter(*bias, /*scale=*/{},
                                  std::vector<double>(bias->size(), offset)));
    for (auto [point, statistics] : llvm::zip_equal(points, shifted)) {
      if (statistics)
        point.setStatisticsAttr(statistics);
      point.removeQuantizer();
      point.removeRangeAttr();
    }
    if (remarks)
      emitRecord(layer.getOperation(), getArgument(),
                 Record(Decision::Applied, Reason::Shifted)
                     << "is shifted before its softmax by "
                     << named("shift", offset));
    renameChanged(layer, path, kShiftedSuffix);
  }

  void leave(const KernelOp &layer, const Record &why) {
    if (remarks)
      emitRecord(layer.getOperation(), getArgument(), why,
                 "is not shifted before its softmax: ");
  }
};
} // namespace
