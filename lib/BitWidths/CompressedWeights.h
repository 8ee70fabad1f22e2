// SPDX-License-Identifier: Apache-2.0
//
// Size of weights in the compressed form in which Ethos-U reads them.
#ifndef MCT_LIB_BITWIDTHS_COMPRESSEDWEIGHTS_H
#define MCT_LIB_BITWIDTHS_COMPRESSEDWEIGHTS_H

#include "Candidates.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Planning/OperatorPoints.h"
#include "tpc_dialect/IR/TpcDevices.h"

namespace mct::bit_widths {

struct CompressedWeights {
  /// Estimated bits of each operator with a choice in each of its alternatives.
  std::vector<std::vector<int64_t>> bits;
  /// Estimated bits of all other weights.
  int64_t others = 0;
  /// Cycles that each of these operators waits for its weights; only if there
  /// is a device.
  std::vector<std::vector<int64_t>> waits;
};

/// Estimates the size from the nearest levels: if weights are rounded together,
/// their codes differ but take about the same space. `device` may be null.
CompressedWeights
estimateCompressedWeights(mlir::func::FuncOp function, const KernelOps &kernels,
                          llvm::ArrayRef<OperatorPoints> choices,
                          llvm::ArrayRef<OperatorCandidates> candidates,
                          tpc::DeviceOp device);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_COMPRESSEDWEIGHTS_H
