// SPDX-License-Identifier: Apache-2.0
//
// Local rewrites, for use in other passes. All patterns are meant for the
// greedy driver, which erases ops that become unused. Objects that are passed
// by reference must outlive the patterns.
#ifndef MCT_TRANSFORMS_PATTERNS_H
#define MCT_TRANSFORMS_PATTERNS_H

#include "mct/IR/ConstantExpressions.h"
#include "mct/Planning/KernelOp.h"
#include "llvm/ADT/DenseSet.h"

namespace mct {

/// Adds the patterns of `mct-fold-constants`: TOSA ops on constants become
/// constants. An expression is computed once, and only results that are used
/// outside it become constants.
///
/// `expressions` belongs to one run of the driver, and listens to it
/// (`GreedyRewriteConfig::setListener`). Its evaluator has a budget for
/// expressions that are much larger than their operands.
void populateFoldConstantsPatterns(mlir::RewritePatternSet &patterns,
                                   ConstantExpressions &expressions);

/// Adds the patterns of `mct-normalize-activations`: split clamps, sigmoids and
/// hard-swishes become the ops that targets describe. Requires the tpc and the
/// tosa dialect to be loaded.
void populateNormalizeActivationsPatterns(mlir::RewritePatternSet &patterns);

/// Adds the patterns of `mct-fold-batch-norm`: batch norms and other affine ops
/// before or after a layer, or after a concatenation of layers, are folded into
/// its kernel and bias. `parts` are ops that stay unchanged
/// (`getOperatorParts`). Meant for the order of the program.
void populateFoldBatchNormPatterns(
    mlir::RewritePatternSet &patterns, const KernelOps &kernels,
    const llvm::DenseSet<mlir::Operation *> &parts);

/// Adds the patterns of `mct-collapse-linear`: a convolution and the pointwise
/// one after it become one, and so do a layer and an addition of constants.
/// `parts` are as above. Meant for the order from the last op to the first.
void populateCollapseLinearPatterns(
    mlir::RewritePatternSet &patterns, const KernelOps &kernels,
    const llvm::DenseSet<mlir::Operation *> &parts);

/// Adds the patterns of `mct-collapse-residual`: if the input of a convolution
/// is added to its result, the addition becomes part of its kernel.
void populateCollapseResidualPatterns(mlir::RewritePatternSet &patterns,
                                      const KernelOps &kernels);

/// Adds the local patterns of `mct-move-transposes`: consecutive transpositions
/// are merged, and identity transpositions are erased.
void populateJoinTransposesPatterns(mlir::RewritePatternSet &patterns);

/// Moves transpositions of a block through clusters of ops that compute the
/// same in another order of the axes, and returns whether anything changed.
/// This is the other part of `mct-move-transposes`, and not a pattern: for a
/// single op in the middle of a cluster, moving a transposition past it gains
/// nothing, since each of its other operands and users then needs one. Only the
/// sum over all values around the cluster shows whether fewer elements are
/// moved, and all ops of the cluster change at once. Clusters between reshapes
/// that drop and insert an axis of size 1 get that axis. Alternate it with the
/// patterns above until neither changes anything; `rewriter` notifies its
/// listener.
bool moveTransposes(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace mct

#endif // MCT_TRANSFORMS_PATTERNS_H
