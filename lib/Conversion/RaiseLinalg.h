// SPDX-License-Identifier: Apache-2.0
//
// The patterns of mct-raise-linalg, grouped by the ops that they raise.
#ifndef MCT_LIB_CONVERSION_RAISELINALG_H
#define MCT_LIB_CONVERSION_RAISELINALG_H

#include "mct/Conversion/Patterns.h"
#include "mlir/IR/PatternMatch.h"

namespace mct {

/// A pattern that records why it does not match.
template <typename Base> class RaisingPattern : public Base {
public:
  RaisingPattern(mlir::MLIRContext *context, RaiseFailures *failures,
                 mlir::PatternBenefit benefit = 1)
      : Base(context, benefit), failures(failures) {}

protected:
  /// Fails to match. If several patterns fail, the first reason is kept.
  mlir::LogicalResult decline(mlir::Operation *op,
                              const llvm::Twine &reason) const {
    if (failures)
      failures->try_emplace(op, reason.str());
    return mlir::failure();
  }

private:
  RaiseFailures *failures;
};

/// Lets f64 ops of TOSA compute in f32. Operands and results of other dialects'
/// ops and of the function keep their types. Returns true if there were such
/// ops.
bool narrowDoubles(mlir::func::FuncOp function);

/// Adds patterns for convolutions, matrix products and pools, in any layout.
void populateRaiseLayersPatterns(mlir::RewritePatternSet &patterns,
                                 RaiseFailures *failures);
/// Adds patterns for all other ops of linalg with loops: parallel bodies and
/// reductions.
void populateRaiseBodiesPatterns(mlir::RewritePatternSet &patterns,
                                 RaiseFailures *failures);
/// Adds patterns for ops of the tensor dialect, constants, and softmax.
void populateRaiseTensorsPatterns(mlir::RewritePatternSet &patterns,
                                  RaiseFailures *failures);

} // namespace mct

#endif // MCT_LIB_CONVERSION_RAISELINALG_H
