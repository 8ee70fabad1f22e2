// SPDX-License-Identifier: Apache-2.0
//
// The patterns of mct-raise-linalg, by subject.
#ifndef MCT_LIB_CONVERSION_RAISELINALG_H
#define MCT_LIB_CONVERSION_RAISELINALG_H

#include "mct/Conversion/Patterns.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// A pattern that reports the reason why it does not match.
template <typename Base> class RaisingPattern : public Base {
public:
  RaisingPattern(mlir::MLIRContext *context, RaiseFailures *failures,
                 mlir::PatternBenefit benefit = 1)
      : Base(context, benefit), failures(failures) {}

protected:
  /// Fails to match; if several patterns give a reason, the first counts.
  mlir::LogicalResult decline(mlir::Operation *op,
                              const llvm::Twine &reason) const {
    if (failures)
      failures->try_emplace(op, reason.str());
    return mlir::failure();
  }

private:
  RaiseFailures *failures;
};

/// Converts TOSA ops on f64 to f32; operands and results of ops of other
/// dialects and of the function keep their types. Returns true if there were
/// such ops.
bool narrowDoubles(mlir::func::FuncOp function);

/// Convolutions, matrix products and pools, in any layout.
void populateRaiseLayersPatterns(mlir::RewritePatternSet &patterns,
                                 RaiseFailures *failures);
/// All other ops of linalg with loops: bodies that run in parallel, and
/// reductions.
void populateRaiseBodiesPatterns(mlir::RewritePatternSet &patterns,
                                 RaiseFailures *failures);
/// Ops of the tensor dialect, constants, and softmax.
void populateRaiseTensorsPatterns(mlir::RewritePatternSet &patterns,
                                  RaiseFailures *failures);

} // namespace mct

#endif // MCT_LIB_CONVERSION_RAISELINALG_H
