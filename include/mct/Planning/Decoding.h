// SPDX-License-Identifier: Apache-2.0
//
// Decoding parts of detectors: ops without weights behind the last layers that
// turn offsets into coordinates.
#ifndef MCT_PLANNING_DECODING_H
#define MCT_PLANNING_DECODING_H

#include "mct/Planning/KernelOp.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mct {

/// Ops behind the last layers of a detector, and the values that they read.
struct Decoding {
  /// Ops of the part in program order, constants apart. Nothing else but the
  /// terminator reads their results.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Results of layers, and other values from outside of the part that are no
  /// constants, in the order in which `ops` read them.
  llvm::SmallVector<mlir::Value> heads;
};

/// Returns the part of a block behind its last layers, where that decodes the
/// places of objects; none for any other network.
///
/// No layer (`KernelOps`) is computed from a result of the part. A layer ends
/// with its bias and the clamp behind it. The part decodes places if one of its
/// ops
///  - adds, subtracts or multiplies with anchors, a grid of cells or strides: a
///    constant with at least three distinct values, which repeat, that varies
///    along another axis than the channels of the layer;
///  - takes the mean of bins: a product with the constant 0, 1, …, n - 1, n of
///    at least 4 (generalized focal loss, Li et al. 2020; YOLOv8, YOLO11);
///  - finds peaks: a comparison of a value with its own max pool of stride 1
///    (CenterNet, Zhou et al. 2019).
///
/// Takes time linear in the number of ops, and of elements of the constants
/// that the part reads.
std::optional<Decoding> findDecoding(mlir::Block &block,
                                     const KernelOps &kernels);

} // namespace mct

#endif // MCT_PLANNING_DECODING_H
