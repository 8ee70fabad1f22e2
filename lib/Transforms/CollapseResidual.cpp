// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "ChannelAffine.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Records.h"
#include "mct/Transforms/OutputMoments.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {
#define GEN_PASS_DEF_COLLAPSERESIDUALPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

/// Returns why the centre of the convolution's window is not at the position
/// that it computes, or none if it is, for all positions.
static std::optional<Reason> getNotCentredReason(const KernelOp &op) {
  if (op.isTransposed())
    return Reason::Transposed;
  for (auto [axis, size] : llvm::enumerate(op.getWindow())) {
    int64_t side = size / 2 * op.getDilations()[axis];
    if (op.getStrides()[axis] != 1)
      return Reason::Strided;
    if (size % 2 == 0)
      return Reason::NoCentre;
    if (op.getPadding()[2 * axis] != side ||
        op.getPadding()[2 * axis + 1] != side)
      return Reason::NotCentred;
  }
  return std::nullopt;
}

/// Returns true if an element of the row-major kernel is at the centre of its
/// window.
static bool isCentre(const KernelOp &op, int64_t element) {
  ArrayRef<int64_t> shape = op.getKernelShape();
  for (int64_t axis = shape.size(); axis-- > 0; element /= shape[axis]) {
    bool isChannelAxis =
        llvm::is_contained(op.getOutAxes(), axis) || op.getInAxis() == axis;
    if (!isChannelAxis && element % shape[axis] != shape[axis] / 2)
      return false;
  }
  return true;
}

/// Collapses the convolution with the addition after it, if that adds the
/// convolution's input. `remarks`: reports why they are not collapsed.
static LogicalResult collapseShortcut(const KernelOp &op,
                                      RewriterBase &rewriter,
                                      bool remarks = false) {
  Value result = op.getResult(), input = op.getInput().get();
  if (!op.isConvolution() || !op.getInAxis() || !result.hasOneUse())
    return failure();
  Operation *add = *result.user_begin();
  if (!isa<tosa::AddOp, linalg::AddOp>(add) ||
      add->getOperand(add->getOperand(0) == result ? 1 : 0) != input)
    return failure();
  auto remark = [&](Reason reason) {
    if (remarks)
      emitRecord(add, "mct-collapse-residual", reason,
                 "not collapsed with the convolution before it: ");
    return failure();
  };
  // A single channel would be broadcast.
  if (input.getType() != result.getType() ||
      add->getResult(0).getType() != result.getType())
    return remark(Reason::ShapesDiffer);
  if (std::optional<Reason> reason = getNotCentredReason(op))
    return remark(*reason);
  if (op.getKernelPoint())
    return remark(Reason::KernelHasPoint);

  ConstantFloats oldKernel = op.getKernel();
  std::vector<float> kernel(oldKernel.values());
  for (auto [element, value] : llvm::enumerate(kernel))
    if (op.outChannelOf(element) == op.inChannelOf(element) &&
        isCentre(op, element))
      value += 1;
  rewriter.setInsertionPoint(op.getOperation());
  op.setKernel(rewriter, kernel);
  // Drop the moments, which are those of the convolution without its input.
  if (getOutputMoments(op))
    op.setBias(rewriter, *op.getBias());
  op.getOperation()->setLoc(add->getLoc());
  SmallVector<Operation *> producers;
  for (Value operand : add->getOperands())
    if (operand != result && operand != input)
      producers.push_back(operand.getDefiningOp());
  rewriter.replaceOp(add, result);
  eraseUnused(producers, rewriter.getListener());
  return success();
}

namespace {
struct CollapseShortcut : public RewritePattern {
  CollapseShortcut(MLIRContext *context, const KernelOps &kernels)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        kernels(kernels) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<KernelOp> layer = kernels.get(op);
    return layer ? collapseShortcut(*layer, rewriter) : failure();
  }

private:
  const KernelOps &kernels;
};

struct CollapseResidualPass
    : public mct::impl::CollapseResidualPassBase<CollapseResidualPass> {
  using CollapseResidualPassBase::CollapseResidualPassBase;

  void runOnOperation() override {
    const KernelOps &kernels = getAnalysis<KernelOps>();
    RewritePatternSet patterns(&getContext());
    populateCollapseResidualPatterns(patterns, kernels);
    if (failed(applyPatterns(getOperation(), std::move(patterns))))
      return signalPassFailure();
    if (remarks) {
      // Nothing is left to be collapsed, so this only emits the remarks.
      IRRewriter rewriter(&getContext());
      getOperation().walk([&](Operation *op) {
        if (std::optional<KernelOp> layer = kernels.get(op))
          (void)collapseShortcut(*layer, rewriter, /*remarks=*/true);
      });
    }
    markAnalysesPreserved<KernelOps>();
  }
};
} // namespace

void mct::populateCollapseResidualPatterns(RewritePatternSet &patterns,
                                           const KernelOps &kernels) {
  patterns.add<CollapseShortcut>(patterns.getContext(), kernels);
}
