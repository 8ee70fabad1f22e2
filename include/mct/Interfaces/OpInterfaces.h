// SPDX-License-Identifier: Apache-2.0
//
// Interfaces that describe ops to passes, apart from their kernels (which
// `tpc.framework` describes): element-by-element ops, ops that only move
// values, and how the batch follows. A dialect that implements the interfaces
// for its ops takes part in every pass that uses them; tosa, linalg and tensor
// have external models.
#ifndef MCT_INTERFACES_OPINTERFACES_H
#define MCT_INTERFACES_OPINTERFACES_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace mlir {
class DialectRegistry;
class RankedTensorType;
} // namespace mlir

namespace mct {
class BatchFollower;

/// Kinds of movements of the elements of the moved operands.
enum class Movement {
  /// Each element is one element of the result: reshape, transpose, reverse,
  /// concat.
  Permute,
  /// Each element occurs equally often in the result: tile, broadcast.
  Repeat,
  /// Some elements occur in the result, possibly several times: slice, gather.
  Select,
  /// Some elements occur in the result, each the largest, or the smallest, of
  /// its neighbours: max pool.
  Extreme,
  /// The result has means of neighbours: average pool.
  Average,
  /// Each element is one element of the result; the others are one number: pad.
  Fill
};

/// Axes of an operand and of a result along which channels are the same.
struct ChannelMap {
  /// Not a channel of the operand: filled, or of another operand.
  static constexpr int64_t kNone = -1;

  /// Axis of the result.
  int64_t axis;
  /// Channel of the operand for each position along the axis.
  llvm::SmallVector<int64_t> channels;

  /// Returns whether these are all `count` channels in order, and nothing else.
  bool isIdentity(int64_t count) const;
};

} // namespace mct

#include "mct/Interfaces/OpInterfaces.h.inc"

namespace mct {

/// Attaches the models of the interfaces for ops of tosa, linalg, tensor and
/// quant, and for `tpc.quantize`, whenever those dialects are loaded. Callers
/// of passes or analyses of this project must register it; the passes
/// themselves do.
void registerOpModels(mlir::DialectRegistry &registry);

/// Base of a pass that uses the interfaces.
template <typename PassBase> class WithOpModels : public PassBase {
public:
  using PassBase::PassBase;
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PassBase::getDependentDialects(registry);
    registerOpModels(registry);
  }
};

/// Returns the number of operands of the op, from the first on, that hold data;
/// all of them for an op that implements none of the interfaces.
unsigned getNumDataOperands(mlir::Operation *op);

/// Returns whether constants among the data operands of the op are numbers like
/// those of its other operands, which a target may want to quantize
/// (`pos_attr`): true for ops with several data operands that compute element
/// by element or move values.
bool readsPositionalConstants(mlir::Operation *op);

/// Returns the only operand whose elements the op moves; null for any other op
/// and for movements that `is` rejects.
mlir::OpOperand *getMovedOperand(mlir::Operation *op,
                                 bool (*is)(Movement) = nullptr);

/// Returns the value from which all elements of `value` are moved by ops that
/// have a `getMovedOperand`; `value` itself if its op moves nothing.
mlir::Value getMovedSource(mlir::Value value);

/// Returns whether the result has only elements of the operand, and possibly
/// one other number.
bool takesElements(Movement movement);
/// Returns whether the result has each element of the operand equally often, so
/// that their distribution stays the same.
bool keepsDistribution(Movement movement);
/// Returns whether the movement is an f with f(a * x + c) = a * f(x) + c for
/// all a > 0, also for an a and a c of each channel if `mapChannels` knows the
/// channels.
bool commutesWithAffine(Movement movement);

/// Returns the axis of the result that has all channels along `axis` of the
/// operand, in order, if the op only permutes one operand.
std::optional<int64_t> followChannels(mlir::Operation *op, int64_t axis);
/// The same from the result to the operand.
std::optional<int64_t> followChannelsBack(mlir::Operation *op, int64_t axis);

/// Implements `DataMovementOpInterface::mapChannels` for an op whose result has
/// the same elements in the same row-major order.
std::optional<ChannelMap> mapThroughReshape(mlir::RankedTensorType from,
                                            mlir::RankedTensorType to,
                                            int64_t axis);
/// Returns the map of an op that keeps the channels at their positions, on
/// `axis`.
std::optional<ChannelMap> keepChannels(mlir::Value operand, int64_t axis);

} // namespace mct

#endif // MCT_INTERFACES_OPINTERFACES_H
