// SPDX-License-Identifier: Apache-2.0
//
// Values inside of a network that are compared with those of the float network,
// and distances between such values.
#ifndef MCT_LIB_BITWIDTHS_COMPAREPOINTS_H
#define MCT_LIB_BITWIDTHS_COMPAREPOINTS_H

#include "mct/BitWidths/Passes.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::bit_widths {

/// Returns the distance of one sample; `distance` must not be Auto. `rowLength`
/// is the size of the last axis. Rows are distributions (`isDistribution`) or
/// are converted to distributions by softmax. MSE is divided by the mean
/// square; cosine is (1 - c) / 2, or 0 if both values are 0.
double distanceOf(SensitivityDistance distance, llvm::ArrayRef<float> expected,
                  llvm::ArrayRef<float> actual, int64_t rowLength,
                  bool isDistribution);

/// Returns the weighted distance of points, given in program order; 0 if there
/// are no points. `scores`: one for each point, for Hessian weighting; not all
/// 0.
double weigh(SensitivityWeighting weighting, llvm::ArrayRef<double> distances,
             llvm::ArrayRef<double> scores);

struct ComparePoint {
  /// The result of the operator, after the quantizer if that is its only user.
  mlir::Value value;
  /// The distance that MCT uses for operators of this kind.
  SensitivityDistance distance = SensitivityDistance::MSE;
};

/// Returns the results of layers, additions, concatenations, sigmoids and
/// softmax in program order. If `fraction` < 1, returns that fraction of them,
/// evenly spaced and including the first and the last one, and leaves out
/// results of the function.
llvm::SmallVector<ComparePoint> findComparePoints(mlir::func::FuncOp function,
                                                  const KernelOps &kernels,
                                                  double fraction);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_COMPAREPOINTS_H
