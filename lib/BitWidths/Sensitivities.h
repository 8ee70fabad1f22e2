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

/// Description of the points inside a network that are compared in addition to
/// its results.
struct ComparedPoints {
  double fraction = 0;
  SensitivityDistance distance = SensitivityDistance::Auto;
  SensitivityWeighting weighting = SensitivityWeighting::Average;

  /// Ignores the way of comparing if there are no points.
  bool operator==(const ComparedPoints &other) const {
    return fraction == other.fraction &&
           (fraction == 0 ||
            (distance == other.distance && weighting == other.weighting));
  }
  /// Returns the text of the options.
  std::string describe() const;
};

/// The contents of `tpc.sensitivities` of a function.
struct Sensitivities {
  SensitivityMetric metric = SensitivityMetric::MSE;
  /// Number of samples; 0 if unknown, as in a table written by hand.
  int64_t samples = 0;
  ComparedPoints points;
  /// One number for each alternative of each operator of `findChoices`.
  std::vector<std::vector<double>> distances;

  /// Smooths the distances of alternatives that differ in the error tolerance
  /// of a kernel, which are small compared to those of the activations and
  /// their chance, by a line through them. The distance of alternatives with
  /// other bits becomes at least that of the largest tolerance.
  void smooth(llvm::ArrayRef<OperatorPoints> choices);

  void writeTo(mlir::func::FuncOp function,
               llvm::ArrayRef<OperatorPoints> choices) const;
  /// Returns none if there is no attribute. Emits a diagnostic if it does not
  /// fit these operators and their alternatives.
  static mlir::FailureOr<std::optional<Sensitivities>>
  readFrom(mlir::func::FuncOp function, llvm::ArrayRef<OperatorPoints> choices);
};

llvm::StringRef stringifyMetric(SensitivityMetric metric);
/// Returns the metric with that name; MSE for any other text.
SensitivityMetric readMetric(llvm::StringRef word);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SENSITIVITIES_H
