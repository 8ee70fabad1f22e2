// SPDX-License-Identifier: Apache-2.0
#include "ChannelAffine.h"
#include "mct/Transforms/OutputMoments.h"
#include "mct/Transforms/Passes.h"
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

// MCT's way to name what a batch norm was folded into.
static constexpr StringLiteral kSuffix = "_bn";

namespace {
class Folder {
public:
  Folder(KernelOps kernelOps, bool remarks)
      : kernelOps(std::move(kernelOps)), remarks(remarks) {}

  bool isKernelOp(Operation *op) const { return kernelOps.get(op).has_value(); }

  /// Whatever stands around `op`.
  void fold(Operation *op) {
    std::optional<KernelOp> kernelOp = kernelOps.get(op);
    if (!kernelOp)
      return;
    foldBehind(*kernelOp);
    foldBefore(*kernelOp);
  }

private:
  void foldBehind(const KernelOp &kernelOp);
  void foldBefore(const KernelOp &kernelOp);

  /// Reports why the batch norm `step` stays.
  void remark(Operation *step, const Twine &reason) {
    if (remarks)
      step->emitRemark("batch norm is not folded: ") << reason;
  }

  /// Puts the input of each step in its place.
  static void erase(ArrayRef<ChannelStep> steps);

  KernelOps kernelOps;
  bool remarks;
};
} // namespace

void Folder::erase(ArrayRef<ChannelStep> steps) {
  for (const ChannelStep &step : steps) {
    SmallVector<Operation *> producers;
    for (Value operand : step.op->getOperands())
      producers.push_back(operand.getDefiningOp());
    step.op->getResult(0).replaceAllUsesWith(step.input->get());
    step.op->erase();
    eraseUnusedConstants(producers);
  }
}

void Folder::foldBehind(const KernelOp &kernelOp) {
  int64_t channels = kernelOp.numOutputChannels();
  int64_t axis = kernelOp.resultAxis();
  Value result = kernelOp.getResult();
  ChannelAffine affine(channels);
  SmallVector<ChannelStep> steps;
  // Ops that move the channels, before the last step and perhaps behind it.
  SmallVector<Operation *> moves, trailing;
  while (result.hasOneUse()) {
    Operation *user = *result.user_begin();
    if (std::optional<int64_t> next = followChannels(user, axis)) {
      trailing.push_back(user);
      axis = *next;
    } else if (std::optional<ChannelStep> step = getChannelStep(user, axis)) {
      llvm::append_range(moves, trailing);
      trailing.clear();
      affine.append(step->affine);
      steps.push_back(*step);
    } else {
      break;
    }
    result = user->getResult(0);
  }
  if (!affine.scalesChannels) {
    if (remarks && !result.hasOneUse())
      for (Operation *user : result.getUsers())
        if (std::optional<ChannelStep> step = getChannelStep(user, axis);
            step && step->affine.scalesChannels)
          remark(user, "what it scales has other readers");
    return;
  }
  std::optional<std::vector<float>> bias = kernelOp.getBias();
  if (!bias)
    return remark(steps.back().op, "the bias before it is not constant");
  if (!affine.isFinite())
    return remark(steps.back().op, "a scale or an offset is not finite");

  ConstantFloats oldKernel = kernelOp.getKernel();
  std::vector<float> kernel(oldKernel.values());
  for (auto [element, value] : llvm::enumerate(kernel))
    value = float(affine.scale[kernelOp.outChannelOf(element)] * value);
  bool hasBias = false;
  for (int64_t channel = 0; channel != channels; ++channel) {
    float &value = (*bias)[channel];
    hasBias |= value != 0;
    value = float(affine.scale[channel] * value + affine.offset[channel]);
    hasBias |= value != 0;
  }

  std::vector<BatchNormStep> batchNorm;
  for (const ChannelStep &step : steps) {
    if (isa<tosa::MulOp, linalg::MulOp>(step.op))
      batchNorm.push_back({/*multiplies=*/true, step.affine.scale});
    else
      batchNorm.push_back({/*multiplies=*/false, step.affine.offset});
    // A constant minus the tensor is no batch norm.
    if (!batchNorm.back().multiplies && step.affine.scale.front() != 1)
      batchNorm.clear();
  }

  // The ops that stay compute other values now; the last of them those of the
  // last step.
  Location loc = steps.back().op->getLoc();
  erase(steps);
  SmallVector<Operation *> remaining = {kernelOp.getOperation()};
  while (remaining.back() != kernelOp.getResult().getDefiningOp())
    remaining.push_back(*remaining.back()->getResult(0).user_begin());
  llvm::append_range(remaining, moves);
  for (Operation *op : ArrayRef(remaining).drop_back())
    renameChanged(op, kSuffix);
  remaining.back()->setLoc(loc);

  OpBuilder builder(kernelOp.getOperation());
  kernelOp.setKernel(builder, kernel);
  if (hasBias)
    kernelOp.setBias(builder, *bias);
  if (std::optional<OutputMoments> moments = getBatchNormMoments(batchNorm))
    setOutputMoments(builder, kernelOp, *moments);
}

void Folder::foldBefore(const KernelOp &kernelOp) {
  int64_t axis = kernelOp.inputAxis();
  Value input = kernelOp.getInput().get();
  // From the last to the first.
  SmallVector<ChannelStep> steps;
  SmallVector<Operation *> moves, trailing;
  while (Operation *producer = input.getDefiningOp()) {
    if (!input.hasOneUse())
      break;
    if (std::optional<int64_t> next = followChannelsBack(producer, axis)) {
      trailing.push_back(producer);
      axis = *next;
      input = producer->getOperand(0);
      continue;
    }
    std::optional<ChannelStep> step = getChannelStep(producer, axis);
    if (!step)
      if (std::optional<KernelOp> first = kernelOps.get(producer);
          first && first->isDepthwise() && first->isPositionwise() &&
          first->numInputChannels() == first->numOutputChannels() &&
          first->getResult() == input)
        if (std::optional<std::vector<float>> bias = first->getBias()) {
          // One number for each channel: a batch norm of another name.
          step = ChannelStep{producer, &first->getInput(),
                             ChannelAffine(first->numOutputChannels())};
          step->affine.scalesChannels = true;
          ConstantFloats scale = first->getKernel();
          for (auto [element, value] : llvm::enumerate(scale.values())) {
            int64_t channel = first->outChannelOf(element);
            step->affine.scale[channel] = value;
            step->affine.offset[channel] = (*bias)[channel];
          }
        }
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
  if (!affine.scalesChannels)
    return;
  Operation *last = steps.front().op;
  // A border of zeros behind the batch norm is none before it.
  if (kernelOp.hasPadding())
    return remark(last, "the convolution behind it pads");
  if (!kernelOp.isPointwise())
    return remark(last, "the kernel behind it is larger than one position");
  if (kernelOp.isTransposed() && !kernelOp.isPositionwise())
    return remark(last, "positions of the transposed convolution behind it "
                        "read no input");
  std::optional<std::vector<float>> bias = kernelOp.getBias();
  if (!bias)
    return remark(last, "the bias behind it is not constant");
  if (!affine.isFinite())
    return remark(last, "a scale or an offset is not finite");

  ConstantFloats oldKernel = kernelOp.getKernel();
  std::vector<float> kernel(oldKernel.values());
  std::vector<double> added = kernelOp.contract(kernel, affine.offset);
  for (auto [element, value] : llvm::enumerate(kernel))
    value = float(affine.scale[kernelOp.inChannelOf(element)] * value);
  for (auto [value, addend] : llvm::zip_equal(*bias, added))
    value = float(value + addend);
  // What the layer makes stays the same.
  std::optional<OutputMoments> moments = getOutputMoments(kernelOp);
  OpBuilder builder(kernelOp.getOperation());
  kernelOp.setKernel(builder, kernel);
  if (llvm::any_of(added, [](double addend) { return addend != 0; }))
    kernelOp.setBias(builder, *bias);
  if (moments)
    setOutputMoments(builder, kernelOp, *moments);
  erase(steps);
  for (Operation *op : moves)
    renameChanged(op, kSuffix);
}

namespace {
struct FoldBatchNormPass
    : public mct::impl::FoldBatchNormPassBase<FoldBatchNormPass> {
  using FoldBatchNormPassBase::FoldBatchNormPassBase;

  void runOnOperation() override {
    Folder folder(
        KernelOps::forModule(getOperation()->getParentOfType<ModuleOp>()),
        remarks);
    SmallVector<Operation *> ops;
    getOperation().walk([&](Operation *op) {
      if (folder.isKernelOp(op))
        ops.push_back(op);
    });
    // One sweep in program order is enough: what stands before an op has been
    // taken by the ops before it, or is taken by this one. The only kernel ops
    // that vanish are such, and behind us.
    for (Operation *op : ops)
      folder.fold(op);
  }
};
} // namespace
