// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_TRANSFORMS_APPLYPATTERNS_H
#define MCT_LIB_TRANSFORMS_APPLYPATTERNS_H

#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mct {

/// Applies the patterns in program order until none matches, and nothing else:
/// no folders, and constants stay where they are. What becomes unused goes.
/// `listener` (may be null) is told what changes.
inline mlir::LogicalResult
applyPatterns(mlir::Operation *root, mlir::RewritePatternSet &&patterns,
              mlir::RewriterBase::Listener *listener = nullptr) {
  return mlir::applyPatternsGreedily(
      root, std::move(patterns),
      mlir::GreedyRewriteConfig()
          .enableFolding(false)
          .enableConstantCSE(false)
          .setRegionSimplificationLevel(
              mlir::GreedySimplifyRegionLevel::Disabled)
          .setListener(listener)
          .setMaxIterations(mlir::GreedyRewriteConfig::kNoLimit)
          .setUseTopDownTraversal());
}

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_APPLYPATTERNS_H
