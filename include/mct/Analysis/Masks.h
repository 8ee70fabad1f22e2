// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_ANALYSIS_MASKS_H
#define MCT_ANALYSIS_MASKS_H

#include "mlir/IR/Block.h"
#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

namespace mct {

/// What kind of mask a value holds.
enum class Mask {
  /// Infinities: no code of any grid stands for one.
  Infinite,
  /// Numbers of magnitude 1000 and more in place of infinities, on the way to a
  /// softmax and nowhere else. A grid that is wide enough for them is too wide
  /// for the scores beside them; clamped to the grid of the scores they mask
  /// nothing.
  Large
};

/// Values of a block in which masks take part, with what they hold: constants
/// with infinities, and what ops that select, add, scale or move make of them,
/// up to the softmax or whatever else makes ordinary numbers of them. Large
/// numbers are masks where they are selected or added, or where flags
/// (comparisons and integers as f32) are multiplied with them.
///
/// Takes time linear in the number of ops, and of elements of the constants
/// that those read.
llvm::DenseMap<mlir::Value, Mask> findMasks(mlir::Block &block);

} // namespace mct

#endif // MCT_ANALYSIS_MASKS_H
