// SPDX-License-Identifier: Apache-2.0
//
// Decoding parts of detectors: ops without weights after the last layers that
// turn offsets into coordinates.
#ifndef MCT_PLANNING_DECODING_H
#define MCT_PLANNING_DECODING_H

#include "mct/Planning/KernelOp.h"
#include "mlir/IR/Block.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mct {

/// Ops after the last layers of a detector, and the values that they read.
struct Decoding {
  /// Ops of the part in program order, without constants. Their results have no
  /// users outside the part except the terminator.
  llvm::SmallVector<mlir::Operation *> ops;
  /// Results of layers, and other values from outside the part that are not
  /// constants, in the order in which `ops` read them.
  llvm::SmallVector<mlir::Value> heads;
};

/// Returns the part of a block after its last layers if it decodes the
/// positions of objects; none for any other network.
///
/// No layer (`KernelOps`) is computed from a result of the part. A layer
/// includes its bias and the clamp after it. The part decodes positions if one
/// of its ops
///  - adds, subtracts or multiplies with anchors, a grid of cells or strides: a
///    constant with at least three distinct values, which repeat, that varies
///    along an axis other than the channels of the layer;
///  - computes the mean of bins: a product with the constant 0, 1, …, n - 1,
///    where n is at least 4 (generalized focal loss, Li et al. 2020; YOLOv8,
///    YOLO11);
///  - finds peaks: a comparison of a value with its own max pool of stride 1
///    (CenterNet, Zhou et al. 2019).
///
/// Takes time linear in the number of ops, and of elements of the constants
/// that the part reads.
std::optional<Decoding> findDecoding(mlir::Block &block,
                                     const KernelOps &kernels);

} // namespace mct

#endif // MCT_PLANNING_DECODING_H
