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

/// Returns the distance of one sample; `distance` is not Auto. `rowLength` is
/// the size of the last axis. A row is a distribution (`isDistribution`), or
/// becomes one by softmax. MSE is divided by the mean square; cosine is (1 - c)
/// / 2, and 0 where both are 0.
double distanceOf(SensitivityDistance distance, llvm::ArrayRef<float> expected,
                  llvm::ArrayRef<float> actual, int64_t rowLength,
                  bool isDistribution);

/// Returns one distance of those of the points in the order of the program; 0
/// without points. `scores`: of each point, for Hessian; not all 0.
double weigh(SensitivityWeighting weighting, llvm::ArrayRef<double> distances,
             llvm::ArrayRef<double> scores);

struct ComparePoint {
  /// The result of the operator, after the quantizer that alone uses it.
  mlir::Value value;
  /// The distance that MCT takes for operators like this one.
  SensitivityDistance distance = SensitivityDistance::MSE;
};

/// Returns the results of layers, additions, concatenations, sigmoids and
/// softmax in program order; of `fraction` < 1 so many, evenly spaced, the
/// first and the last among them. Those that are results of the function are
/// left out then.
llvm::SmallVector<ComparePoint> findComparePoints(mlir::func::FuncOp function,
                                                  const KernelOps &kernels,
                                                  double fraction);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_COMPAREPOINTS_H
