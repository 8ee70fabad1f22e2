// SPDX-License-Identifier: Apache-2.0
//
// Moments of the channels of a layer, from the batch norm that was folded into
// it.
#ifndef MCT_TRANSFORMS_OUTPUTMOMENTS_H
#define MCT_TRANSFORMS_OUTPUTMOMENTS_H

#include "mct/Planning/KernelOp.h"

namespace mct {

/// Mean and standard deviation of each output channel of a layer, in the unit
/// of the output.
struct OutputMoments {
  std::vector<float> mean, deviation;
};

/// Returns the moments recorded on the layer's bias (`tpc.bias`); none if there
/// are none.
std::optional<OutputMoments> getOutputMoments(const KernelOp &kernelOp);

/// Records the moments on the layer's bias. Does nothing if the bias is not a
/// constant. A new bias (`KernelOp::setBias`) loses them.
void setOutputMoments(mlir::OpBuilder &builder, const KernelOp &kernelOp,
                      const OutputMoments &moments);

/// A step of a batch norm: multiplies by, or adds, one value per channel.
struct BatchNormStep {
  bool multiplies = false;
  std::vector<double> values;
};

/// Returns the moments of the result of a batch norm: mean beta, deviation
/// |gamma|. None unless gamma is a step of its own: ..., multiply by 1 /
/// sqrt(variance + epsilon), multiply by gamma, add beta (which may be
/// missing).
std::optional<OutputMoments>
getBatchNormMoments(llvm::ArrayRef<BatchNormStep> steps);

} // namespace mct

#endif // MCT_TRANSFORMS_OUTPUTMOMENTS_H
