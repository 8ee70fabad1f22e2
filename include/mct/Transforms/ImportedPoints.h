// SPDX-License-Identifier: Apache-2.0
//
// Points whose parameters are those of the file that a network was imported
// from: nothing estimates them again.
#ifndef MCT_TRANSFORMS_IMPORTEDPOINTS_H
#define MCT_TRANSFORMS_IMPORTEDPOINTS_H

#include "mct/Planning/KernelOp.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// Attribute of an argument that stands for a point or a constant of the file,
/// and of the result that such a point quantizes. See
/// `mct-insert-imported-points`.
inline constexpr llvm::StringLiteral kImportedAttrName = "tpc.imported";

/// Behind the names of ReLUs that a tool has removed in front of a quantizer
/// that clips as well, and that the import has put back: `conv1/relu`.
inline constexpr llvm::StringLiteral kRestoredReluSuffix = "/relu";

/// What a point tells of parameters that an importer gave it.
tpc::SelectionAttr describeImported(mlir::MLIRContext *context);

/// Whether the layer has weights on the levels of its file.
inline bool hasImportedKernel(const KernelOp &layer) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  return point && point.hasImportedParameters();
}

} // namespace mct

#endif // MCT_TRANSFORMS_IMPORTEDPOINTS_H
