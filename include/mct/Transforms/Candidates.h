// SPDX-License-Identifier: Apache-2.0
//
// The joint alternatives of the operators of a function that has points, and
// how another one is taken.
#ifndef MCT_TRANSFORMS_CANDIDATES_H
#define MCT_TRANSFORMS_CANDIDATES_H

#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"

namespace mct {

/// Returns the layer whose kernel has that point, or none.
std::optional<KernelOp> findLayer(tpc::QuantizeOp point,
                                  const KernelOps &kernels);

/// Takes alternative `index`, which is one, at all points of the operator.
///
/// Attributes that no longer hold are dropped: parameters of points that are
/// quantized in another way now, and the corrections that were measured on what
/// they were: those of the operator's own kernel, and those of the layers
/// behind it that were measured in the quantized network. Their kernels and
/// biases become those of the float network again (a kernel that was scaled, up
/// to one rounding; parameters of one that was rounded go as well). Where a
/// second-moment correction is taken back, parameters of its kernel and
/// statistics and parameters of the activations behind it go as well. All other
/// statistics and parameters stay, so that selecting again selects what is
/// missing.
///
/// Fails, with a diagnostic and before anything is changed, where a correction
/// cannot be taken back. Nothing happens where the operator takes that
/// alternative already.
mlir::LogicalResult chooseCandidate(const OperatorPoints &of, int64_t index,
                                    const KernelOps &kernels);

} // namespace mct

#endif // MCT_TRANSFORMS_CANDIDATES_H
