// SPDX-License-Identifier: Apache-2.0
//
// Chains of ops that scale and shift each channel separately, as a batch norm
// does.
#ifndef MCT_LIB_TRANSFORMS_CHANNELAFFINE_H
#define MCT_LIB_TRANSFORMS_CHANNELAFFINE_H

#include "mct/Planning/KernelOp.h"
#include "mlir/IR/Operation.h"
#include <optional>
#include <vector>

namespace mct {

/// The function x -> scale * x + offset of each channel, in double: a chain is
/// rounded only once, when it is folded.
struct ChannelAffine {
  explicit ChannelAffine(int64_t channels)
      : scale(channels, 1.0), offset(channels, 0.0) {}

  std::vector<double> scale, offset;
  /// True if some step multiplies.
  bool scales = false;
  /// True if some step has a scale for each channel rather than one number for
  /// all of them.
  bool scalesChannels = false;
  /// True if some step has an offset for each channel.
  bool shiftsChannels = false;

  /// Applies `next` to the result of this function.
  void append(const ChannelAffine &next);
  bool isFinite() const;
  /// Returns true if some offset is not zero.
  bool shifts() const;
};

/// Addition, subtraction or multiplication of a tensor and a constant that
/// varies along at most one axis.
struct ChannelStep {
  mlir::Operation *op;
  /// Operand that holds the tensor.
  mlir::OpOperand *input;
  ChannelAffine affine;
};

/// Returns the function that `op`, of `tosa` or `linalg`, applies to the
/// channels along `axis`, or none if it is another op or changes the tensor's
/// type.
std::optional<ChannelStep> getChannelStep(mlir::Operation *op, int64_t axis);

/// Appends a suffix to the name of an op whose result has changed; does nothing
/// if it has no name.
void renameChanged(mlir::Operation *op, llvm::StringRef suffix);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHANNELAFFINE_H
