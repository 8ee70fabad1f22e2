// SPDX-License-Identifier: Apache-2.0
//
// Interfaces of what passes know of ops beside their kernels (`tpc.framework`
// describes those): which ones compute element by element, which ones only move
// values, and how the batch follows. A dialect that implements the interfaces
// for its ops takes part in every pass that asks; for tosa, linalg and tensor
// external models do.
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

/// The kinds of movements of the elements of the moved operands.
enum class Movement {
  /// Each is one element of the result: reshape, transpose, reverse, concat.
  Permute,
  /// Each is equally many elements of the result: tile, broadcast.
  Repeat,
  /// Some are elements of the result, perhaps several times: slice, gather.
  Select,
  /// Some are, each the largest, or the smallest, of its neighbours: max pool.
  Extreme,
  /// The result has means of neighbours: average pool.
  Average,
  /// Each is one element of the result; the others are one number: pad.
  Fill
};

/// Axes of an operand and of a result along which channels are the same.
struct ChannelMap {
  /// Not a channel of the operand: filled, or of another operand.
  static constexpr int64_t kNone = -1;

  /// Axis of the result.
  int64_t axis;
  /// Channel of the operand for each position along it.
  llvm::SmallVector<int64_t> channels;

  /// Returns whether all `count` channels lie there in order, and nothing else.
  bool isIdentity(int64_t count) const;
};

} // namespace mct

#include "mct/Interfaces/OpInterfaces.h.inc"

namespace mct {

/// Implements the interfaces for ops of tosa, linalg, tensor and quant, and for
/// `tpc.quantize`, wherever those dialects are loaded. Whoever calls passes or
/// analyses of this project registers it; the passes themselves do.
void registerOpModels(mlir::DialectRegistry &registry);

/// Base of a pass that asks the interfaces.
template <typename PassBase> class WithOpModels : public PassBase {
public:
  using PassBase::PassBase;
  void getDependentDialects(mlir::DialectRegistry &registry) const override {
    PassBase::getDependentDialects(registry);
    registerOpModels(registry);
  }
};

/// Returns how many operands of the op, from the first on, hold data; all of an
/// op that implements none of the interfaces.
unsigned getNumDataOperands(mlir::Operation *op);

/// Returns whether constants among the data operands of the op are numbers like
/// those of the other ones, which a target may want to quantize (`pos_attr`):
/// true of ops with several data operands that compute element by element or
/// move.
bool readsPositionalConstants(mlir::Operation *op);

/// Returns the operand whose elements the op moves, the only one; null for any
/// other op and for movements that `is` refuses.
mlir::OpOperand *getMovedOperand(mlir::Operation *op,
                                 bool (*is)(Movement) = nullptr);

/// Has no elements but the operand's, and perhaps one number beside them.
bool takesElements(Movement movement);
/// Has each element of the operand equally often: their distribution stays.
bool keepsDistribution(Movement movement);
/// Returns whether it is an f with f(a * x + c) = a * f(x) + c for all a > 0,
/// also for an a and a c of each channel where `mapChannels` knows the
/// channels.
bool commutesWithAffine(Movement movement);

/// Returns the axis of the result that the channels along `axis` of the operand
/// lie on, all of them and in order, when the op does nothing but permute one
/// operand.
std::optional<int64_t> followChannels(mlir::Operation *op, int64_t axis);
/// The same from the result to the operand.
std::optional<int64_t> followChannelsBack(mlir::Operation *op, int64_t axis);

/// `DataMovementOpInterface::mapChannels` of an op whose result has the same
/// elements in the same row-major order.
std::optional<ChannelMap> mapThroughReshape(mlir::RankedTensorType from,
                                            mlir::RankedTensorType to,
                                            int64_t axis);
/// Returns the map of an op that keeps the channels where they are, on `axis`.
std::optional<ChannelMap> keepChannels(mlir::Value operand, int64_t axis);

} // namespace mct

#endif // MCT_INTERFACES_OPINTERFACES_H
