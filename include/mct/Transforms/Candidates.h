// SPDX-License-Identifier: Apache-2.0
//
// Joint alternatives of the operators of a function that has points.
#ifndef MCT_TRANSFORMS_CANDIDATES_H
#define MCT_TRANSFORMS_CANDIDATES_H

#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"

namespace mct {

/// Returns the layer whose kernel has that point, or none.
std::optional<KernelOp> findLayer(tpc::QuantizeOp point,
                                  const KernelOps &kernels);

/// Makes all points of the operator take alternative `index`, which must exist.
///
/// Attributes that no longer hold are dropped: parameters of points that are
/// now quantized in another way, and the corrections that were measured with
/// the old ones: those of the operator's own kernel, and those of the following
/// layers that were measured in the quantized network. Their kernels and biases
/// become those of the float network again (a scaled kernel up to one rounding;
/// a rounded kernel also loses its parameters). If a second-moment correction
/// is undone, the parameters of its kernel and the statistics and parameters of
/// the activations after it are dropped, too. All other statistics and
/// parameters stay, so that selecting again selects only those that are
/// missing.
///
/// Fails, with a diagnostic and before anything is changed, if a correction
/// cannot be undone. Does nothing if the operator has that alternative already.
mlir::LogicalResult chooseCandidate(const OperatorPoints &of, int64_t index,
                                    const KernelOps &kernels);

} // namespace mct

#endif // MCT_TRANSFORMS_CANDIDATES_H
