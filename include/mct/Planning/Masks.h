// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_PLANNING_MASKS_H
#define MCT_PLANNING_MASKS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {

/// Kinds of masks that a value may hold.
enum class Mask {
  /// Infinities, which no code of any grid represents.
  Infinite,
  /// Numbers of magnitude 1000 and more in place of infinities, on the way to a
  /// softmax and nowhere else. A grid that is wide enough for them is too wide
  /// for the scores beside them; clamped to the grid of the scores, they do not
  /// mask.
  Large,
  /// Values from which only masks are computed at run time: 1 for a token, 1
  /// minus that, comparisons of them. A code that is a little less than 1,
  /// times a number in place of infinity, is not 0.
  Flag
};

/// Returns the values of a block that take part in masks, with their kinds:
/// constants with infinities, and the results of ops that select, add, scale or
/// move them, up to the softmax or another op that produces ordinary numbers
/// from them. Large numbers are masks where they are selected or added, or
/// where flags are multiplied by them: integers and truth values as f32, an
/// argument minus 1, 1 minus an argument, and sums and products of them. Flags
/// without other users are among the values, including arguments.
///
/// Takes time linear in the number of ops, and of elements of the constants
/// that those read.
llvm::DenseMap<mlir::Value, Mask> findMasks(mlir::Block &block);

/// Returns whether an op computes a mask, or a value that becomes one, from
/// flags: it needs unquantized flags, even if other users read them quantized.
bool readsFlags(mlir::Operation *op,
                const llvm::DenseMap<mlir::Value, Mask> &masks);

} // namespace mct

#endif // MCT_PLANNING_MASKS_H
