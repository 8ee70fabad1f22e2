// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_SENSITIVITIES_H
#define MCT_LIB_BITWIDTHS_SENSITIVITIES_H

#include "mct/BitWidths/Passes.h"
#include "mct/Planning/OperatorPoints.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace mct::bit_widths {

/// Returns the operators that have several alternatives, in program order.
std::vector<OperatorPoints> findChoices(mlir::func::FuncOp function);

/// Points inside of a network that are compared in addition to its results, and
/// how they are compared.
struct ComparedPoints {
  double fraction = 0;
  SensitivityDistance distance = SensitivityDistance::Auto;
  SensitivityWeighting weighting = SensitivityWeighting::Average;

  /// Ignores how points are compared if none are compared.
  bool operator==(const ComparedPoints &other) const {
    return fraction == other.fraction &&
           (fraction == 0 ||
            (distance == other.distance && weighting == other.weighting));
  }
  /// Returns the options as text.
  std::string describe() const;
};

/// The contents of a function's `tpc.sensitivities`.
struct Sensitivities {
  SensitivityMetric metric = SensitivityMetric::MSE;
  /// Number of samples; 0 if it is not known, as in a table written by a user.
  int64_t samples = 0;
  ComparedPoints points;
  /// The distance of each alternative of each operator of `findChoices`.
  std::vector<std::vector<double>> distances;

  /// Fits a line through the distances of alternatives that differ only in the
  /// error tolerance of a kernel: the differences are small compared to the
  /// errors of activations and to chance. The distances of alternatives with
  /// other bits become at least that of the largest tolerance.
  void smooth(llvm::ArrayRef<OperatorPoints> choices);

  void writeTo(mlir::func::FuncOp function,
               llvm::ArrayRef<OperatorPoints> choices) const;
  /// Returns none if the function does not have the attribute. Fails with a
  /// diagnostic if it does not match these operators and their alternatives.
  static mlir::FailureOr<std::optional<Sensitivities>>
  readFrom(mlir::func::FuncOp function, llvm::ArrayRef<OperatorPoints> choices);
};

llvm::StringRef stringifyMetric(SensitivityMetric metric);
/// Returns the metric with this name, or MSE for any other word.
SensitivityMetric readMetric(llvm::StringRef word);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SENSITIVITIES_H
