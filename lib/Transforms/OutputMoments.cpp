// SPDX-License-Identifier: Apache-2.0
#include "mct/Transforms/OutputMoments.h"
#include "mct/IR/EraseUnused.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/STLExtras.h"
#include <cmath>

using namespace mlir;
using namespace mct;

std::optional<OutputMoments> mct::getOutputMoments(const KernelOp &kernelOp) {
  Value constant = kernelOp.getBiasConstant();
  auto bias = constant ? constant.getDefiningOp<tpc::BiasOp>() : tpc::BiasOp();
  if (!bias)
    return std::nullopt;
  auto moments = bias.getMoments();
  if (!moments ||
      int64_t(moments->first.size()) != kernelOp.numOutputChannels())
    return std::nullopt;
  return OutputMoments{{moments->first.begin(), moments->first.end()},
                       {moments->second.begin(), moments->second.end()}};
}

void mct::setOutputMoments(OpBuilder &builder, const KernelOp &kernelOp,
                           const OutputMoments &moments) {
  Value constant = kernelOp.getBiasConstant();
  ElementsAttr values;
  if (!constant || !matchPattern(constant, m_Constant(&values)))
    return;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(constant);
  auto type =
      RankedTensorType::get(int64_t(moments.mean.size()), builder.getF32Type());
  auto bias = tpc::BiasOp::create(
      builder, constant.getLoc(), constant.getType(), values,
      DenseElementsAttr::get(type, ArrayRef(moments.mean)),
      DenseElementsAttr::get(type, ArrayRef(moments.deviation)));
  // Other layers may share the constant, but not its moments.
  Operation *layer = kernelOp.getOperation();
  if (constant.hasOneUse()) {
    Operation *old = constant.getDefiningOp();
    constant.replaceAllUsesWith(bias.getOutput());
    return eraseOp(old, builder.getListener());
  }
  for (OpOperand &operand : layer->getOpOperands())
    if (operand.get() == constant)
      return operand.set(bias.getOutput());
  eraseOp(bias, builder.getListener());
}

std::optional<OutputMoments>
mct::getBatchNormMoments(ArrayRef<BatchNormStep> steps) {
  auto multiplies = [](const BatchNormStep &step) { return step.multiplies; };
  if (llvm::count_if(steps, multiplies) < 2)
    return std::nullopt;
  OutputMoments moments;
  moments.mean.assign(steps.front().values.size(), 0.0f);
  while (!steps.back().multiplies) {
    for (auto [beta, value] :
         llvm::zip_equal(moments.mean, steps.back().values))
      beta += float(value);
    steps = steps.drop_back();
  }
  for (double gamma : steps.back().values)
    moments.deviation.push_back(float(std::abs(gamma)));
  return moments;
}
