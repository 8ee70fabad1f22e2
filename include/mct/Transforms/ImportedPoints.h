// SPDX-License-Identifier: Apache-2.0
//
// Points whose parameters are those of the file that a network was imported
// from: they are not estimated again.
#ifndef MCT_TRANSFORMS_IMPORTEDPOINTS_H
#define MCT_TRANSFORMS_IMPORTEDPOINTS_H

#include "mct/Planning/KernelOp.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// Name of the attribute of an argument that stands for a point or a constant
/// of the file, and of the result that such a point quantizes. See
/// `mct-insert-imported-points`.
inline constexpr llvm::StringLiteral kImportedAttrName = "tpc.imported";

/// Suffix of the names of ReLUs that a tool removed before a quantizer that
/// clips as well, and that the import restored: `conv1/relu`.
inline constexpr llvm::StringLiteral kRestoredReluSuffix = "/relu";

/// Returns the record of a selection for parameters given by an importer.
tpc::SelectionAttr describeImported(mlir::MLIRContext *context);

/// Returns whether the weights of the layer are on the levels of its file.
inline bool hasImportedKernel(const KernelOp &layer) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  return point && point.hasImportedParameters();
}

} // namespace mct

#endif // MCT_TRANSFORMS_IMPORTEDPOINTS_H
