// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "ChannelAffine.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Records.h"
#include "mct/Quantization/MatrixProduct.h"
#include "mct/Support/ContextThreads.h"
#include "mct/Transforms/OperatorParts.h"
#include "mct/Transforms/OutputMoments.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/SetVector.h"

namespace mct {
#define GEN_PASS_DEF_COLLAPSELINEARPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

namespace {
class Collapser {
public:
  /// `remarks`: reports why an op is not collapsed.
  Collapser(const KernelOps &kernelOps,
            const llvm::DenseSet<Operation *> &parts, bool remarks = false)
      : kernelOps(kernelOps), parts(parts), remarks(remarks) {}

  /// Collapses a layer with the convolution or the addition that follows it.
  LogicalResult collapse(Operation *op, RewriterBase &rewriter) const;

private:
  LogicalResult collapseConvolution(const KernelOp &first,
                                    RewriterBase &rewriter) const;
  LogicalResult collapseAddition(const KernelOp &kernelOp,
                                 RewriterBase &rewriter) const;

  /// Reports why `op` is not collapsed, and fails.
  LogicalResult remark(Operation *op, const Record &why) const {
    if (remarks)
      emitRecord(op, "mct-collapse-linear", why,
                 "not collapsed with what is before it: ");
    return failure();
  }

  const KernelOps &kernelOps;
  const llvm::DenseSet<Operation *> &parts;
  bool remarks;
};
} // namespace

/// Returns true for a convolution of MCT's pattern: every output channel reads
/// every input channel, at every position.
static bool isPlainConvolution(const KernelOp &op) {
  auto isOne = [](int64_t size) { return size == 1; };
  return op.isConvolution() && !op.isTransposed() && !op.isDepthwise() &&
         op.getInAxis() && op.getOutAxes().size() == 1 &&
         llvm::all_of(op.getStrides(), isOne) &&
         llvm::all_of(op.getDilations(), isOne);
}

/// Returns second[o, m] * first[m, …] summed over m, in the layout of `first`
/// with the output channels of `second`.
static std::vector<float> multiply(const KernelOp &first,
                                   const KernelOp &second) {
  ConstantFloats outer = second.getKernel(), inner = first.getKernel();
  int64_t middle = first.numOutputChannels();
  int64_t outputs = second.numOutputChannels();
  std::vector<float> matrix(outputs * middle);
  for (auto [element, value] : llvm::enumerate(outer.values()))
    matrix[second.outChannelOf(element) * middle +
           second.inChannelOf(element)] = value;

  // View the first kernel as an array [before, middle, after].
  ArrayRef<int64_t> shape = first.getKernelShape();
  int64_t axis = first.getOutAxes().front();
  int64_t before = llvm::product_of(shape.take_front(axis)),
          after = llvm::product_of(shape.drop_front(axis + 1));
  const float *values = inner.values().data();
  std::vector<float> product(before * outputs * after);
  support::Threads threads =
      support::getThreads(first.getOperation()->getContext(), /*count=*/0);
  if (after == 1) {
    quantization::multiplyMatrices({values, middle, 1},
                                   {matrix.data(), 1, middle}, middle,
                                   {product.data(), before, outputs}, threads);
    return product;
  }
  for (int64_t b = 0; b != before; ++b)
    quantization::multiplyMatrices(
        {matrix.data(), middle, 1}, {values + b * middle * after, after, 1},
        middle, {&product[b * outputs * after], outputs, after}, threads);
  return product;
}

LogicalResult Collapser::collapseConvolution(const KernelOp &first,
                                             RewriterBase &rewriter) const {
  Value between = first.getResult();
  if (!isPlainConvolution(first) || !between.hasOneUse())
    return failure();
  OpOperand &use = *between.use_begin();
  std::optional<KernelOp> second = kernelOps.get(use.getOwner());
  if (!second || &second->getInput() != &use || !isPlainConvolution(*second) ||
      !second->isPointwise())
    return failure();
  Operation *last = second->getOperation();
  auto decline = [&](const Record &why) { return remark(last, why); };
  if (second->hasPadding())
    return decline(Reason::Padded);
  if (first.getOperation()->getName() != last->getName())
    return decline(Reason::OtherLayout);
  if (first.getKernelPoint() || second->getKernelPoint())
    return decline(Record(Reason::KernelHasPoint)
                   << "a kernel has a quantization point");
  std::optional<std::vector<float>> firstBias = first.getBias(),
                                    secondBias = second->getBias();
  if (!firstBias || !secondBias)
    return decline(Record(Reason::BiasNotConstant) << "a bias is not constant");
  int64_t outputs = second->numOutputChannels();
  int64_t firstSize = ShapedType::getNumElements(first.getKernelShape());
  int64_t secondSize = ShapedType::getNumElements(second->getKernelShape());
  int64_t collapsed = firstSize / first.numOutputChannels() * outputs;
  if (firstSize + secondSize < collapsed)
    return decline(Record(Reason::Larger)
                   << "the kernel would have " << named("elements", collapsed)
                   << " elements instead of "
                   << named("elements_now", firstSize + secondSize));

  std::vector<float> kernel = multiply(first, *second);
  std::vector<double> shift(firstBias->begin(), firstBias->end());
  ConstantFloats secondKernel = second->getKernel();
  std::vector<double> moved = second->contract(secondKernel.values(), shift);
  for (auto [value, addend] : llvm::zip_equal(*secondBias, moved))
    value = float(value + addend);

  std::optional<OutputMoments> moments = getOutputMoments(*second);
  // Insert it in place of the second op, whose result and bias operand have the
  // right type already.
  Operation *op = first.getOperation();
  SmallVector<int64_t> shape(first.getKernelShape());
  shape[first.getOutAxes().front()] = outputs;
  rewriter.setInsertionPoint(last);
  Value product = second->createKernelConstant(
      rewriter, RankedTensorType::get(shape, rewriter.getF32Type()), kernel);
  Operation *merged = rewriter.clone(*op);
  merged->setLoc(last->getLoc());
  merged->getResult(0).setType(last->getResult(0).getType());
  for (auto [number, operand] : llvm::enumerate(last->getOperands()))
    if (number != second->getInput().getOperandNumber())
      merged->setOperand(number, operand);
  merged->setOperand(first.getKernelOperand().getOperandNumber(), product);
  SmallVector<Operation *> producers;
  for (Operation *old : {last, op})
    for (Value operand : old->getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer != op)
        producers.push_back(producer);
  rewriter.replaceOp(last, merged->getResults());
  rewriter.eraseOp(op);
  // Do this first, because replacing the bias may erase operands of the old
  // ops.
  eraseUnused(producers, rewriter.getListener());
  rewriter.setInsertionPoint(merged);
  KernelOp mergedOp = *kernelOps.get(merged);
  mergedOp.setBias(rewriter, *secondBias);
  if (moments)
    setOutputMoments(rewriter, mergedOp, *moments);
  return success();
}

LogicalResult Collapser::collapseAddition(const KernelOp &kernelOp,
                                          RewriterBase &rewriter) const {
  Value result = kernelOp.getResult();
  if (!result.hasOneUse())
    return failure();
  Operation *user = *result.user_begin();
  if (!isa<tosa::AddOp, tosa::SubOp, linalg::AddOp, linalg::SubOp>(user))
    return failure();
  std::optional<ChannelStep> step = getChannelStep(user, kernelOp.resultAxis());
  if (!step) {
    if (llvm::any_of(user->getOperands(), [](Value operand) {
          Operation *producer = operand.getDefiningOp();
          return producer && producer->hasTrait<OpTrait::ConstantLike>();
        }))
      return remark(user, Reason::ChannelsDiffer);
    return failure();
  }
  auto isOne = [](double scale) { return scale == 1; };
  if (!llvm::all_of(step->affine.scale, isOne))
    return failure();
  if (parts.contains(user))
    return failure();
  // One number for all channels, followed by a bound or a factor, is an
  // activation function of linalg, which could no longer be recognized.
  bool isActivation = llvm::any_of(user->getUsers(), [](Operation *next) {
    return isa<linalg::MaxOp, linalg::MinOp, linalg::MulOp>(next);
  });
  if (!step->affine.shiftsChannels &&
      (isActivation || isa<tosa::MatMulOp>(result.getDefiningOp())))
    return failure();
  std::optional<std::vector<float>> bias = kernelOp.getBias();
  if (!bias)
    return remark(user, Record(Reason::BiasNotConstant)
                            << "a bias is not constant");
  for (auto [value, addend] : llvm::zip_equal(*bias, step->affine.offset))
    value = float(value + addend);
  SmallVector<Operation *> producers;
  for (Value operand : user->getOperands())
    if (operand != result)
      producers.push_back(operand.getDefiningOp());
  result.getDefiningOp()->setLoc(user->getLoc());
  rewriter.replaceOp(user, result);
  eraseUnused(producers, rewriter.getListener());
  rewriter.setInsertionPoint(kernelOp.getOperation());
  rewriter.modifyOpInPlace(kernelOp.getOperation(), [&] {
    std::optional<OutputMoments> moments = getOutputMoments(kernelOp);
    kernelOp.setBias(rewriter, *bias);
    if (moments) {
      for (auto [mean, addend] :
           llvm::zip_equal(moments->mean, step->affine.offset))
        mean = float(mean + addend);
      setOutputMoments(rewriter, kernelOp, *moments);
    }
  });
  return success();
}

LogicalResult Collapser::collapse(Operation *op, RewriterBase &rewriter) const {
  std::optional<KernelOp> kernelOp = kernelOps.get(op);
  if (!kernelOp)
    return failure();
  if (succeeded(collapseAddition(*kernelOp, rewriter)))
    return success();
  return collapseConvolution(*kernelOp, rewriter);
}

namespace {
struct CollapseLayer : public RewritePattern {
  CollapseLayer(MLIRContext *context, const Collapser &collapser)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context),
        collapser(collapser) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    return collapser.collapse(op, rewriter);
  }

private:
  Collapser collapser;
};

struct CollapseLinearPass
    : public mct::impl::CollapseLinearPassBase<CollapseLinearPass> {
  using CollapseLinearPassBase::CollapseLinearPassBase;

  void runOnOperation() override {
    const KernelOps &kernelOps = getAnalysis<KernelOps>();
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      llvm::DenseSet<Operation *> parts = getOperatorParts(function, kernelOps);
      RewritePatternSet patterns(&getContext());
      populateCollapseLinearPatterns(patterns, kernelOps, parts);
      // Last first: before an op is collapsed with the next one, that one has
      // absorbed everything after it.
      if (failed(applyPatterns(function, std::move(patterns),
                               /*listener=*/nullptr, /*lastFirst=*/true)))
        return WalkResult::interrupt();
      if (remarks) {
        // Nothing is left to be collapsed, so this only emits the remarks.
        Collapser collapser(kernelOps, parts, /*remarks=*/true);
        IRRewriter rewriter(&getContext());
        function.walk(
            [&](Operation *op) { (void)collapser.collapse(op, rewriter); });
      }
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAnalysesPreserved<KernelOps>();
  }
};
} // namespace

void mct::populateCollapseLinearPatterns(
    RewritePatternSet &patterns, const KernelOps &kernels,
    const llvm::DenseSet<Operation *> &parts) {
  patterns.add<CollapseLayer>(patterns.getContext(), Collapser(kernels, parts));
}
