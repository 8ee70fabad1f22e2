// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_PLANNING_MASKS_H
#define MCT_PLANNING_MASKS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {

/// The kinds of masks that a value may hold.
enum class Mask {
  /// Infinities: no code of any grid stands for one.
  Infinite,
  /// Numbers of magnitude 1000 and more in place of infinities, on the way to a
  /// softmax and nowhere else. A grid that is wide enough for them is too wide
  /// for the scores beside them; clamped to the grid of the scores they mask
  /// nothing.
  Large,
  /// Values from which masks alone are computed at run time: 1 where there is
  /// a token, 1 - that, comparisons of them. A code that is a little less
  /// than 1, times a number in place of infinity, is not 0.
  Flag
};

/// Returns the values of a block in which masks take part, with what they hold:
/// constants with infinities, and what ops that select, add, scale or move make
/// of them, up to the softmax or whatever else makes ordinary numbers of them.
/// Large numbers are masks where they are selected or added, or where flags are
/// multiplied with them: integers and truth values as f32, an argument less 1,
/// 1 less an argument, and sums and products of them. Flags that are read by
/// nothing else are among the values, arguments too.
///
/// Takes time linear in the number of ops, and of elements of the constants
/// that those read.
llvm::DenseMap<mlir::Value, Mask> findMasks(mlir::Block &block);

/// Returns whether an op computes a mask, or what becomes one, from flags: it
/// needs them as they are, also where something else reads them quantized.
bool readsFlags(mlir::Operation *op,
                const llvm::DenseMap<mlir::Value, Mask> &masks);

} // namespace mct

#endif // MCT_PLANNING_MASKS_H
