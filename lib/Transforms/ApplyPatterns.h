// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_TRANSFORMS_APPLYPATTERNS_H
#define MCT_LIB_TRANSFORMS_APPLYPATTERNS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mct {

/// Applies the patterns in program order, or from the last op to the first if
/// `lastFirst` is set, until none matches. Only the patterns run: ops are not
/// folded, and constants are not moved or merged. Ops that become unused are
/// erased. `listener` (may be null) is notified of the changes; `changed` (may
/// be null) is set to whether anything changed.
inline mlir::LogicalResult
applyPatterns(mlir::Operation *root,
              const mlir::FrozenRewritePatternSet &patterns,
              mlir::RewriterBase::Listener *listener = nullptr,
              bool lastFirst = false, bool *changed = nullptr) {
  return mlir::applyPatternsGreedily(
      root, patterns,
      mlir::GreedyRewriteConfig()
          .enableFolding(false)
          .enableConstantCSE(false)
          .setRegionSimplificationLevel(
              mlir::GreedySimplifyRegionLevel::Disabled)
          .setListener(listener)
          .setMaxIterations(mlir::GreedyRewriteConfig::kNoLimit)
          .setUseTopDownTraversal(!lastFirst),
      changed);
}

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_APPLYPATTERNS_H
