// SPDX-License-Identifier: Apache-2.0
//
// Chains of ops that scale and shift every channel independently, like a batch
// norm.
#ifndef MCT_LIB_TRANSFORMS_CHANNELAFFINE_H
#define MCT_LIB_TRANSFORMS_CHANNELAFFINE_H

#include "mct/Planning/KernelOp.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <vector>

namespace mct {

/// The function value -> scale * value + offset, per channel. In double, so
/// that a chain is rounded once, when it is folded.
struct ChannelAffine {
  explicit ChannelAffine(int64_t channels)
      : scale(channels, 1.0), offset(channels, 0.0) {}

  std::vector<double> scale, offset;
  /// True if some step multiplies.
  bool scales = false;
  /// True if some step has a scale for each channel, not one number for all of
  /// them.
  bool scalesChannels = false;
  /// The same for an offset.
  bool shiftsChannels = false;

  /// Appends `next`, which applies to the results of this function.
  void append(const ChannelAffine &next);
  bool isFinite() const;
  /// Returns whether some offset is not zero.
  bool shifts() const;
};

/// Addition, subtraction or multiplication of a tensor and a constant that
/// varies along at most one axis.
struct ChannelStep {
  mlir::Operation *op;
  /// The tensor's operand.
  mlir::OpOperand *input;
  ChannelAffine affine;
};

/// Returns the step of `op` for the channels along `axis`, in `tosa` or
/// `linalg`. None for any other op, and for one that changes the tensor's type.
std::optional<ChannelStep> getChannelStep(mlir::Operation *op, int64_t axis);

/// Appends a suffix to the name of an op whose value changed; does nothing if
/// it has no name.
void renameChanged(mlir::Operation *op, llvm::StringRef suffix);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHANNELAFFINE_H
