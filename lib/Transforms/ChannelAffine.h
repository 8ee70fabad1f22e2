// SPDX-License-Identifier: Apache-2.0
//
// Chains of ops that scale and shift every channel on its own, as a batch norm
// does.
#ifndef MCT_LIB_TRANSFORMS_CHANNELAFFINE_H
#define MCT_LIB_TRANSFORMS_CHANNELAFFINE_H

#include "mct/Planning/KernelOp.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <vector>

namespace mct {

/// value -> scale * value + offset, per channel. Kept in double: a chain is
/// rounded once, when it is folded.
struct ChannelAffine {
  explicit ChannelAffine(int64_t channels)
      : scale(channels, 1.0), offset(channels, 0.0) {}

  std::vector<double> scale, offset;
  /// Some step multiplies.
  bool scales = false;
  /// Some step has a scale for each channel, not one number for all of them.
  bool scalesChannels = false;
  /// The same for an offset.
  bool shiftsChannels = false;

  /// `next` of what this computes.
  void append(const ChannelAffine &next);
  bool isFinite() const;
  /// Some offset is not zero.
  bool shifts() const;
};

/// Addition, subtraction or multiplication of a tensor and a constant that
/// varies along one axis at most.
struct ChannelStep {
  mlir::Operation *op;
  /// The tensor's operand.
  mlir::OpOperand *input;
  ChannelAffine affine;
};

/// The step that `op` is for the channels along `axis`, in `tosa` or `linalg`.
/// None for any other op, and for one that changes the tensor's type.
std::optional<ChannelStep> getChannelStep(mlir::Operation *op, int64_t axis);

/// Appends a suffix to the name of an op whose value is no longer what it was;
/// nothing happens when it has none.
void renameChanged(mlir::Operation *op, llvm::StringRef suffix);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHANNELAFFINE_H
