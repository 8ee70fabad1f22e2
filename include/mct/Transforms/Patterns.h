// SPDX-License-Identifier: Apache-2.0
//
// The local rewrites, for passes of others. All of them are meant for the
// greedy driver, which erases what nobody reads any more.
#ifndef MCT_TRANSFORMS_PATTERNS_H
#define MCT_TRANSFORMS_PATTERNS_H

#include "mct/IR/ConstantExpressions.h"

namespace mct {

/// What `mct-fold-constants` does: TOSA ops on constants become constants. Of
/// an expression only the result that somebody else reads, and once.
///
/// `expressions` belongs to one run of the driver, and listens to it
/// (`GreedyRewriteConfig::setListener`). Its evaluator has a budget for
/// expressions that are much larger than what they are made of.
void populateFoldConstantsPatterns(mlir::RewritePatternSet &patterns,
                                   ConstantExpressions &expressions);

/// What `mct-normalize-activations` does: split clamps, sigmoids and
/// hard-swishes become the ops by which targets know them. Needs the tpc and
/// the tosa dialect loaded.
void populateNormalizeActivationsPatterns(mlir::RewritePatternSet &patterns);

} // namespace mct

#endif // MCT_TRANSFORMS_PATTERNS_H
