// SPDX-License-Identifier: Apache-2.0
//
// Values inside a network that are compared with those of the float network,
// and distances between such values.
#ifndef MCT_LIB_BITWIDTHS_COMPAREPOINTS_H
#define MCT_LIB_BITWIDTHS_COMPAREPOINTS_H

#include "mct/BitWidths/Passes.h"
#include "mct/Planning/KernelOp.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mct::bit_widths {

/// Returns the distance of one sample; `distance` must not be Auto. `rowLength`
/// is the size of the last axis. A row is a distribution (`isDistribution`), or
/// becomes one by softmax. MSE is divided by the mean square; cosine is (1 - c)
/// / 2, and 0 if both are 0.
double distanceOf(SensitivityDistance distance, llvm::ArrayRef<float> expected,
                  llvm::ArrayRef<float> actual, int64_t rowLength,
                  bool isDistribution);

/// Combines the distances of the points, in the order of the program, into one;
/// 0 without points. `scores` are those of each point, for Hessian; not all 0.
double weigh(SensitivityWeighting weighting, llvm::ArrayRef<double> distances,
             llvm::ArrayRef<double> scores);

struct ComparePoint {
  /// The result of the operator, after its quantizer if that is its only user.
  mlir::Value value;
  /// Distance that MCT uses for operators like this one.
  SensitivityDistance distance = SensitivityDistance::MSE;
};

/// Returns the results of layers, additions, concatenations, sigmoids and
/// softmax in program order. If `fraction` < 1, returns that fraction of them,
/// evenly spaced, including the first and the last, without results of the
/// function.
llvm::SmallVector<ComparePoint> findComparePoints(mlir::func::FuncOp function,
                                                  const KernelOps &kernels,
                                                  double fraction);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_COMPAREPOINTS_H
