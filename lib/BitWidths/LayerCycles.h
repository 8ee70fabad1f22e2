// SPDX-License-Identifier: Apache-2.0
//
// Cycles of alternatives on a device, according to a cost table.
#ifndef MCT_LIB_BITWIDTHS_LAYERCYCLES_H
#define MCT_LIB_BITWIDTHS_LAYERCYCLES_H

#include "Candidates.h"
#include "mct/Cost/CostTable.h"
#include "mct/Planning/OperatorPoints.h"

namespace mct::bit_widths {

struct LayerCycles {
  /// Cycles of each operator with a choice in each of its alternatives.
  std::vector<std::vector<int64_t>> cycles;
  /// Cycles of everything else.
  int64_t others = 0;
};

/// Fails with a diagnostic if the table lacks a layer, or if alternatives
/// change the width of an activation, which would affect the cycles of several
/// layers.
mlir::FailureOr<LayerCycles>
computeLayerCycles(mlir::func::FuncOp function, const KernelOps &kernels,
                   llvm::ArrayRef<OperatorPoints> choices,
                   llvm::ArrayRef<OperatorCandidates> candidates,
                   const CostTable &table);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_LAYERCYCLES_H
