// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_SENSITIVITIES_H
#define MCT_LIB_BITWIDTHS_SENSITIVITIES_H

#include "mct/Analysis/OperatorPoints.h"
#include "mct/BitWidths/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace mct::bit_widths {

/// Those of the operators that have several alternatives, in program order.
std::vector<OperatorPoints> findChoices(mlir::func::FuncOp function);

/// What `tpc.sensitivities` of a function says.
struct Sensitivities {
  SensitivityMetric metric = SensitivityMetric::MSE;
  int64_t samples = 0;
  /// For each operator of `findChoices` one number for each alternative.
  std::vector<std::vector<double>> distances;

  void writeTo(mlir::func::FuncOp function,
               llvm::ArrayRef<OperatorPoints> choices) const;
  /// None without the attribute. A diagnostic where it is not about these
  /// operators and their alternatives.
  static mlir::FailureOr<std::optional<Sensitivities>>
  readFrom(mlir::func::FuncOp function, llvm::ArrayRef<OperatorPoints> choices);
};

llvm::StringRef stringifyMetric(SensitivityMetric metric);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SENSITIVITIES_H
