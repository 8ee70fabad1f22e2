// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_SENSITIVITIES_H
#define MCT_LIB_BITWIDTHS_SENSITIVITIES_H

#include "mct/BitWidths/Passes.h"
#include "mct/Planning/OperatorPoints.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>
#include <vector>

namespace mct::bit_widths {

/// Returns those of the operators that have several alternatives, in program
/// order.
std::vector<OperatorPoints> findChoices(mlir::func::FuncOp function);

/// Points inside of a network that are compared beside its results, and how.
struct ComparedPoints {
  double fraction = 0;
  SensitivityDistance distance = SensitivityDistance::Auto;
  SensitivityWeighting weighting = SensitivityWeighting::Average;

  /// Ignores how points are compared where there are none.
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
  /// 0: not known, as in a table that somebody has written.
  int64_t samples = 0;
  ComparedPoints points;
  /// One number for each alternative of each operator of `findChoices`.
  std::vector<std::vector<double>> distances;

  /// Replaces the distances of alternatives that differ in the error tolerance
  /// of a kernel, which are small beside those of the activations and their
  /// chance, by a line through them. Alternatives of other bits come no nearer
  /// than the largest tolerance.
  void smooth(llvm::ArrayRef<OperatorPoints> choices);

  void writeTo(mlir::func::FuncOp function,
               llvm::ArrayRef<OperatorPoints> choices) const;
  /// Returns none without the attribute. A diagnostic where it is not about
  /// these operators and their alternatives.
  static mlir::FailureOr<std::optional<Sensitivities>>
  readFrom(mlir::func::FuncOp function, llvm::ArrayRef<OperatorPoints> choices);
};

llvm::StringRef stringifyMetric(SensitivityMetric metric);
/// Returns the metric of such a word; MSE for any other.
SensitivityMetric readMetric(llvm::StringRef word);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_SENSITIVITIES_H
