// SPDX-License-Identifier: Apache-2.0
//
// The local rewrites, for passes of others. All patterns are meant for the
// greedy driver, which erases what becomes unused. Objects that are passed by
// reference outlive the patterns.
#ifndef MCT_TRANSFORMS_PATTERNS_H
#define MCT_TRANSFORMS_PATTERNS_H

#include "mct/IR/ConstantExpressions.h"
#include "mct/Planning/KernelOp.h"
#include "llvm/ADT/DenseSet.h"

namespace mct {

/// Adds what `mct-fold-constants` does: TOSA ops on constants become constants.
/// An expression is computed once, and only results that are used outside of it
/// become constants.
///
/// `expressions` belongs to one run of the driver, and listens to it
/// (`GreedyRewriteConfig::setListener`). Its evaluator has a budget for
/// expressions that are much larger than what they are made of.
void populateFoldConstantsPatterns(mlir::RewritePatternSet &patterns,
                                   ConstantExpressions &expressions);

/// Adds what `mct-normalize-activations` does: split clamps, sigmoids and
/// hard-swishes become the ops by which targets know them. Needs the tpc and
/// the tosa dialect loaded.
void populateNormalizeActivationsPatterns(mlir::RewritePatternSet &patterns);

/// Adds what `mct-fold-batch-norm` does: batch norms and other affine ops
/// around a layer, or behind a concatenation of layers, go into its kernel and
/// bias. `parts` are ops that stay as they are (`getOperatorParts`). Meant for
/// the order of the program.
void populateFoldBatchNormPatterns(
    mlir::RewritePatternSet &patterns, const KernelOps &kernels,
    const llvm::DenseSet<mlir::Operation *> &parts);

/// Adds what `mct-collapse-linear` does: a convolution and the pointwise one
/// behind it become one, and so do a layer and an addition of constants.
/// `parts` as above. Meant for the order from the last op to the first.
void populateCollapseLinearPatterns(
    mlir::RewritePatternSet &patterns, const KernelOps &kernels,
    const llvm::DenseSet<mlir::Operation *> &parts);

/// Adds what `mct-collapse-residual` does: a convolution whose input is added
/// to its result adds it by its kernel.
void populateCollapseResidualPatterns(mlir::RewritePatternSet &patterns,
                                      const KernelOps &kernels);

/// Adds the part of `mct-move-transposes` that is local: transpositions that
/// follow one another are joined, and those that move nothing vanish.
void populateJoinTransposesPatterns(mlir::RewritePatternSet &patterns);

/// Moves transpositions of a block through clusters of ops that compute the
/// same in another order of the axes, and returns whether anything changed. It
/// is the other part of `mct-move-transposes`, and no pattern: an op in the
/// middle of a cluster gains nothing by a transposition that moves past it
/// alone, since each of its other operands and users needs one then. Only the
/// sum over all values around the cluster tells whether less is moved, and all
/// ops of the cluster change at once. Clusters between reshapes that drop and
/// insert an axis of size 1 get it. Alternate it with the patterns above until
/// neither changes anything; `rewriter` tells its listener what happens.
bool moveTransposes(mlir::RewriterBase &rewriter, mlir::Block &block);

} // namespace mct

#endif // MCT_TRANSFORMS_PATTERNS_H
