// SPDX-License-Identifier: Apache-2.0
#include "ApplyPatterns.h"
#include "ChannelAffine.h"
#include "mct/IR/EraseUnused.h"
#include "mct/IR/Records.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Planning/KernelRows.h"
#include "mct/Transforms/OperatorParts.h"
#include "mct/Transforms/OutputMoments.h"
#include "mct/Transforms/Passes.h"
#include "mct/Transforms/Patterns.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {
#define GEN_PASS_DEF_FOLDBATCHNORMPASS
#include "mct/Transforms/Passes.h.inc"
} // namespace mct

using namespace mlir;
using namespace mct;

// MCT's suffix of ops into which a batch norm was folded.
static constexpr StringLiteral kFoldedSuffix = "_bn";

namespace {
class Folder {
public:
  /// `remarks`: reports why a step is not folded.
  Folder(const KernelOps &kernelOps, const llvm::DenseSet<Operation *> &parts,
         bool remarks = false)
      : kernelOps(kernelOps), parts(parts), remarks(remarks) {}

  /// Returns the layer of which `op` is the kernel op.
  std::optional<KernelOp> getLayer(Operation *op) const {
    return kernelOps.get(op);
  }
  /// Folds the steps after or before a layer into it; succeeds if a step was
  /// folded.
  LogicalResult foldAfter(const KernelOp &kernelOp,
                          RewriterBase &rewriter) const;
  /// Folds into the convolutions, one for each group, whose concatenated
  /// results are a grouped convolution.
  LogicalResult foldAfterConcat(tosa::ConcatOp concat,
                                RewriterBase &rewriter) const;
  LogicalResult foldBefore(const KernelOp &kernelOp,
                           RewriterBase &rewriter) const;

private:
  /// Returns the step of an op that is not part of a larger operator.
  std::optional<ChannelStep> getStep(Operation *op, int64_t axis) const {
    return parts.contains(op) ? std::nullopt : getChannelStep(op, axis);
  }

  /// Folds the affine steps after `result` into the layers that compute it.
  /// Each layer computes some of its channels along `axis`; `joining` is the op
  /// that joins them, or null for a single layer.
  LogicalResult foldAfter(ArrayRef<KernelOp> producers, Operation *joining,
                          Value result, int64_t axis,
                          RewriterBase &rewriter) const;

  /// A batch norm, or other affine steps, after a value.
  struct Chain {
    ChannelAffine affine;
    SmallVector<ChannelStep> steps;
    /// Ops before the last step that move the channels.
    SmallVector<Operation *> moves;
  };
  /// Returns none if no step after `result` multiplies it.
  std::optional<Chain> getChainAfter(Value result, int64_t axis) const;
  /// Multiplies each output channel by its scale and adds its offset.
  static void scaleOutputs(const KernelOp &kernelOp, RewriterBase &rewriter,
                           std::vector<float> bias, ArrayRef<double> scale,
                           ArrayRef<double> offset,
                           const std::optional<OutputMoments> &moments);

  /// Returns the step of a depthwise convolution before `layer` that
  /// multiplies each channel by one number, which amounts to a batch norm.
  std::optional<ChannelStep> getDepthwiseStep(Operation *op,
                                              const KernelOp &layer) const;

  /// Reports why `step` is not folded, and fails.
  LogicalResult remark(Operation *step, const Record &why) const {
    if (remarks)
      emitRecord(step, "mct-fold-batch-norm", why, "scale is not folded: ");
    return failure();
  }

  /// Replaces each step by its input.
  static void erase(ArrayRef<ChannelStep> steps, RewriterBase &rewriter);

  const KernelOps &kernelOps;
  const llvm::DenseSet<Operation *> &parts;
  bool remarks;
};
} // namespace

void Folder::erase(ArrayRef<ChannelStep> steps, RewriterBase &rewriter) {
  for (const ChannelStep &step : steps) {
    SmallVector<Operation *> producers;
    for (Value operand : step.op->getOperands())
      producers.push_back(operand.getDefiningOp());
    rewriter.replaceOp(step.op, step.input->get());
    eraseUnused(producers, rewriter.getListener());
  }
}

std::optional<Folder::Chain> Folder::getChainAfter(Value result,
                                                   int64_t axis) const {
  auto type = cast<RankedTensorType>(result.getType());
  Chain chain{ChannelAffine(type.getDimSize(axis)), {}, {}};
  SmallVector<Operation *> trailing;
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    if (std::optional<int64_t> next = followChannels(user, axis)) {
      trailing.push_back(user);
      axis = *next;
    } else if (std::optional<ChannelStep> step = getStep(user, axis)) {
      llvm::append_range(chain.moves, trailing);
      trailing.clear();
      chain.affine.append(step->affine);
      chain.steps.push_back(*step);
    } else {
      break;
    }
    result = user->getResult(0);
  }
  if (chain.affine.scales)
    return chain;
  if (remarks && !result.hasOneUse())
    for (Operation *user : result.getUsers())
      if (std::optional<ChannelStep> step = getStep(user, axis);
          step && step->affine.scales)
        (void)remark(user, Reason::OtherUsers);
  return std::nullopt;
}

/// Returns the moments of the output channels of `kernelOp`, whose first
/// channel is number `first` of the steps: those of the batch norm among the
/// steps if there is one, or else the known ones of the layer, with the
/// remaining steps applied.
static std::optional<OutputMoments> getMoments(ArrayRef<ChannelStep> steps,
                                               size_t first,
                                               const KernelOp &kernelOp) {
  size_t channels = kernelOp.numOutputChannels();
  std::vector<BatchNormStep> batchNorm;
  size_t known = 0;
  for (auto [number, step] : llvm::enumerate(steps))
    if (step.affine.scalesChannels)
      known = number + 1;
  while (known != 0 && known != steps.size() && !steps[known].affine.scales)
    ++known;
  for (const ChannelStep &step : steps.take_front(known)) {
    // A single number for all channels only changes the unit of the variance.
    if (step.affine.scales && !step.affine.scalesChannels)
      continue;
    ArrayRef<double> values =
        step.affine.scales ? step.affine.scale : step.affine.offset;
    batchNorm.push_back(
        {step.affine.scales, values.slice(first, channels).vec()});
  }
  std::optional<OutputMoments> moments = getBatchNormMoments(batchNorm);
  if (!moments) {
    moments = getOutputMoments(kernelOp);
    known = 0;
  }
  if (!moments)
    return std::nullopt;
  for (const ChannelStep &step : steps.drop_front(known))
    for (size_t channel = 0; channel != channels; ++channel) {
      double scale = step.affine.scale[first + channel];
      float &mean = moments->mean[channel];
      mean = float(scale * mean + step.affine.offset[first + channel]);
      moments->deviation[channel] *= float(std::abs(scale));
    }
  return moments;
}

void Folder::scaleOutputs(const KernelOp &kernelOp, RewriterBase &rewriter,
                          std::vector<float> bias, ArrayRef<double> scale,
                          ArrayRef<double> offset,
                          const std::optional<OutputMoments> &moments) {
  ConstantFloats oldKernel = kernelOp.getKernel();
  std::vector<float> kernel(oldKernel.values());
  forEachKernelElement(kernelOp, [&](int64_t element, int64_t to, int64_t) {
    kernel[element] = float(scale[to] * kernel[element]);
  });
  bool hasBias = false;
  for (auto [channel, value] : llvm::enumerate(bias)) {
    hasBias |= value != 0;
    value = float(scale[channel] * value + offset[channel]);
    hasBias |= value != 0;
  }
  tpc::CorrectionsAttr corrections =
      kernelOp.getCorrectionsAfter(bias, scale, offset);
  rewriter.setInsertionPoint(kernelOp.getOperation());
  rewriter.modifyOpInPlace(kernelOp.getOperation(), [&] {
    kernelOp.setKernel(rewriter, kernel, corrections);
    if (hasBias)
      kernelOp.setBias(rewriter, bias, corrections);
    if (moments)
      setOutputMoments(rewriter, kernelOp, *moments);
  });
}

/// Returns the ops from the kernel op to the one that defines `getResult()`.
static SmallVector<Operation *> getOps(const KernelOp &kernelOp) {
  SmallVector<Operation *> ops = {kernelOp.getOperation()};
  while (ops.back() != kernelOp.getResult().getDefiningOp())
    ops.push_back(*ops.back()->getResult(0).user_begin());
  return ops;
}

/// Returns the kernel op whose result, perhaps after the addition of its bias,
/// is `value`.
static std::optional<KernelOp> getProducer(const KernelOps &kernelOps,
                                           Value value) {
  for (Operation *op = value.getDefiningOp(); op;
       op = op->getOperand(0).getDefiningOp()) {
    if (std::optional<KernelOp> kernelOp = kernelOps.get(op))
      return kernelOp->getResult() == value ? kernelOp : std::nullopt;
    if (!isa<tosa::AddOp, tosa::ReshapeOp>(op))
      break;
  }
  return std::nullopt;
}

LogicalResult Folder::foldAfter(const KernelOp &kernelOp,
                                RewriterBase &rewriter) const {
  return foldAfter(kernelOp, nullptr, kernelOp.getResult(),
                   kernelOp.resultAxis(), rewriter);
}

LogicalResult Folder::foldAfterConcat(tosa::ConcatOp concat,
                                      RewriterBase &rewriter) const {
  SmallVector<KernelOp> producers;
  for (Value operand : concat.getOperands()) {
    std::optional<KernelOp> producer = getProducer(kernelOps, operand);
    if (!producer || !operand.hasOneUse() ||
        producer->resultAxis() != int64_t(concat.getAxis()))
      return failure();
    producers.push_back(*producer);
  }
  return foldAfter(producers, concat, concat.getResult(), concat.getAxis(),
                   rewriter);
}

LogicalResult Folder::foldAfter(ArrayRef<KernelOp> producers,
                                Operation *joining, Value result, int64_t axis,
                                RewriterBase &rewriter) const {
  std::optional<Chain> chain = getChainAfter(result, axis);
  if (!chain)
    return failure();
  SmallVector<std::vector<float>> biases;
  for (const KernelOp &producer : producers) {
    std::optional<std::vector<float>> bias = producer.getBias();
    if (!bias)
      return remark(chain->steps.back().op,
                    Record(Reason::BiasNotConstant)
                        << "the bias before it is not constant");
    biases.push_back(std::move(*bias));
  }
  if (!chain->affine.isFinite())
    return remark(chain->steps.back().op,
                  Record(Reason::NotFinite)
                      << "a scale or an offset is not finite");
  // The ops that stay compute other values now; the last of them those of the
  // last step.
  Location loc = chain->steps.back().op->getLoc();
  SmallVector<std::optional<OutputMoments>> moments;
  size_t first = 0;
  for (const KernelOp &producer : producers) {
    moments.push_back(getMoments(chain->steps, first, producer));
    first += producer.numOutputChannels();
  }
  erase(chain->steps, rewriter);
  SmallVector<Operation *> remaining;
  for (const KernelOp &producer : producers)
    llvm::append_range(remaining, getOps(producer));
  if (joining)
    remaining.push_back(joining);
  llvm::append_range(remaining, chain->moves);
  for (Operation *op : ArrayRef(remaining).drop_back())
    renameChanged(op, kFoldedSuffix);
  remaining.back()->setLoc(loc);
  ArrayRef<double> scale = chain->affine.scale, offset = chain->affine.offset;
  for (auto [producer, bias, known] :
       llvm::zip_equal(producers, biases, moments)) {
    size_t channels = producer.numOutputChannels();
    scaleOutputs(producer, rewriter, std::move(bias),
                 scale.take_front(channels), offset.take_front(channels),
                 known);
    scale = scale.drop_front(channels);
    offset = offset.drop_front(channels);
  }
  return success();
}

std::optional<ChannelStep>
Folder::getDepthwiseStep(Operation *op, const KernelOp &layer) const {
  if (!layer.isPointwise() || layer.hasPadding())
    return std::nullopt;
  std::optional<KernelOp> kernelOp = kernelOps.get(op);
  if (!kernelOp || !kernelOp->isDepthwise() || !kernelOp->isPositionwise() ||
      kernelOp->numInputChannels() != kernelOp->numOutputChannels() ||
      kernelOp->getResult() != op->getResult(0))
    return std::nullopt;
  std::optional<std::vector<float>> bias = kernelOp->getBias();
  if (!bias)
    return std::nullopt;
  ChannelStep step{op, &kernelOp->getInput(),
                   ChannelAffine(kernelOp->numOutputChannels())};
  step.affine.scales = step.affine.scalesChannels = true;
  ConstantFloats scale = kernelOp->getKernel();
  for (auto [element, value] : llvm::enumerate(scale.values())) {
    int64_t channel = kernelOp->outChannelOf(element);
    step.affine.scale[channel] = value;
    step.affine.offset[channel] = (*bias)[channel];
  }
  return step;
}

LogicalResult Folder::foldBefore(const KernelOp &kernelOp,
                                 RewriterBase &rewriter) const {
  int64_t axis = kernelOp.inputAxis();
  Value input = kernelOp.getInput().get();
  // The steps from the last to the first.
  SmallVector<ChannelStep> steps;
  SmallVector<Operation *> moves, trailing;
  while (Operation *producer = input.getDefiningOp()) {
    if (!input.hasOneUse()) {
      if (std::optional<ChannelStep> step = getStep(producer, axis);
          step && step->affine.scales && steps.empty())
        (void)remark(producer, Record(Reason::OtherUsers)
                                   << "its result has other users");
      break;
    }
    if (std::optional<int64_t> next = followChannelsBack(producer, axis)) {
      trailing.push_back(producer);
      axis = *next;
      input = producer->getOperand(0);
      continue;
    }
    std::optional<ChannelStep> step = getStep(producer, axis);
    if (!step)
      step = getDepthwiseStep(producer, kernelOp);
    if (!step)
      break;
    llvm::append_range(moves, trailing);
    trailing.clear();
    steps.push_back(*step);
    input = step->input->get();
  }
  ChannelAffine affine(kernelOp.numInputChannels());
  for (const ChannelStep &step : llvm::reverse(steps))
    affine.append(step.affine);
  if (!affine.scales)
    return failure();
  Operation *last = steps.front().op;
  // A border of zeros is not changed by a factor, but by an addition.
  if (affine.shifts() && kernelOp.hasPadding())
    return remark(last, Record(Reason::Padded)
                            << "it adds to what the convolution behind it pads "
                               "with zeros");
  if (affine.shifts() && kernelOp.isTransposed() && !kernelOp.isPositionwise())
    return remark(last, Reason::TransposedBorders);
  std::optional<std::vector<float>> bias = kernelOp.getBias();
  if (!bias)
    return remark(last, Record(Reason::BiasNotConstant)
                            << "the bias behind it is not constant");
  if (!affine.isFinite())
    return remark(last, Record(Reason::NotFinite)
                            << "a scale or an offset is not finite");

  ConstantFloats oldKernel = kernelOp.getKernel();
  std::vector<float> kernel(oldKernel.values());
  std::vector<double> added = kernelOp.contract(kernel, affine.offset);
  forEachKernelElement(kernelOp, [&](int64_t element, int64_t, int64_t from) {
    kernel[element] = float(affine.scale[from] * kernel[element]);
  });
  for (auto [value, addend] : llvm::zip_equal(*bias, added))
    value = float(value + addend);
  // The result of the layer does not change.
  std::optional<OutputMoments> moments = getOutputMoments(kernelOp);
  rewriter.setInsertionPoint(kernelOp.getOperation());
  rewriter.modifyOpInPlace(kernelOp.getOperation(), [&] {
    kernelOp.setKernel(rewriter, kernel);
    if (llvm::any_of(added, [](double addend) { return addend != 0; }))
      kernelOp.setBias(rewriter, *bias);
    if (moments)
      setOutputMoments(rewriter, kernelOp, *moments);
  });
  erase(steps, rewriter);
  for (Operation *op : moves)
    renameChanged(op, kFoldedSuffix);
  return success();
}

namespace {
/// Calls `fold` for each layer.
template <LogicalResult (Folder::*fold)(const KernelOp &, RewriterBase &) const>
struct FoldIntoLayer : public RewritePattern {
  FoldIntoLayer(MLIRContext *context, const Folder &folder,
                PatternBenefit benefit)
      : RewritePattern(MatchAnyOpTypeTag(), benefit, context), folder(folder) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    std::optional<KernelOp> kernelOp = folder.getLayer(op);
    return kernelOp ? (folder.*fold)(*kernelOp, rewriter) : failure();
  }

private:
  Folder folder;
};

struct FoldAfterConcat : public OpRewritePattern<tosa::ConcatOp> {
  FoldAfterConcat(MLIRContext *context, const Folder &folder)
      : OpRewritePattern(context), folder(folder) {}

  LogicalResult matchAndRewrite(tosa::ConcatOp op,
                                PatternRewriter &rewriter) const override {
    return folder.foldAfterConcat(op, rewriter);
  }

private:
  Folder folder;
};

struct FoldBatchNormPass
    : public WithOpModels<mct::impl::FoldBatchNormPassBase<FoldBatchNormPass>> {
  using WithOpModels::WithOpModels;

  void runOnOperation() override {
    const KernelOps &kernelOps = getAnalysis<KernelOps>();
    WalkResult result = getOperation().walk([&](func::FuncOp function) {
      llvm::DenseSet<Operation *> parts = getOperatorParts(function, kernelOps);
      RewritePatternSet patterns(&getContext());
      populateFoldBatchNormPatterns(patterns, kernelOps, parts);
      if (failed(applyPatterns(function, std::move(patterns))))
        return WalkResult::interrupt();
      if (remarks)
        explain(function, Folder(kernelOps, parts, /*remarks=*/true));
      return WalkResult::advance();
    });
    if (result.wasInterrupted())
      return signalPassFailure();
    markAnalysesPreserved<KernelOps>();
  }

private:
  /// Reports why steps have not been folded. Nothing is left to be folded, so
  /// this only emits the remarks.
  static void explain(func::FuncOp function, const Folder &folder) {
    IRRewriter rewriter(function.getContext());
    function.walk([&](Operation *op) {
      if (auto concat = dyn_cast<tosa::ConcatOp>(op))
        return (void)folder.foldAfterConcat(concat, rewriter);
      if (std::optional<KernelOp> kernelOp = folder.getLayer(op)) {
        (void)folder.foldAfter(*kernelOp, rewriter);
        (void)folder.foldBefore(*kernelOp, rewriter);
      }
    });
  }
};
} // namespace

void mct::populateFoldBatchNormPatterns(
    RewritePatternSet &patterns, const KernelOps &kernels,
    const llvm::DenseSet<Operation *> &parts) {
  Folder folder(kernels, parts);
  MLIRContext *context = patterns.getContext();
  // Fold an op between two layers into the one before it.
  patterns.add<FoldIntoLayer<&Folder::foldAfter>>(context, folder, 2);
  patterns.add<FoldIntoLayer<&Folder::foldBefore>>(context, folder, 1);
  patterns.add<FoldAfterConcat>(context, folder);
}
