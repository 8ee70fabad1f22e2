// SPDX-License-Identifier: Apache-2.0
//
// Assignments of alternatives as JSON, which users read and edit.
#ifndef MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H
#define MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H

#include "AccuracyContract.h"

namespace mct::bit_widths {

/// The choice, and the alternatives that it was made from.
struct Assignment {
  std::vector<unsigned> alternatives;
  /// Sum of the sensitivities; none if there are no sensitivities.
  std::optional<double> sum;
  /// Assignments that were run as complete networks, with their distances.
  struct Measured {
    std::vector<unsigned> alternatives;
    double sum = 0, distance = 0;
  };
  std::vector<Measured> measured;
  /// Points of the Pareto front in ascending order of weights, in bits; none if
  /// it has too many points.
  struct Point {
    int64_t weights = 0;
    double sum = 0;
    std::vector<unsigned> alternatives;
  };
  std::optional<std::vector<Point>> front;
  /// The guarantee about a metric; none if a budget or a file decides.
  std::optional<AccuracyContract> contract;
};

/// Returns "2 (kernel_attr 2 bits, activation 8 bits)".
std::string describeAlternative(const OperatorPoints &of, unsigned alternative);

/// Returns "conv1 4, add 8/16": bits of the kernel, or what differs, and of the
/// result.
std::string describeAlternatives(llvm::ArrayRef<OperatorPoints> choices,
                                 llvm::ArrayRef<unsigned> alternatives);

/// Reports the alternatives to `PassSideOutputs`, if the caller requested them.
/// `use` is that of the assignment.
void reportBitWidths(mlir::MLIRContext *context,
                     llvm::ArrayRef<OperatorPoints> choices,
                     const Assignment &assignment, const ResourceUse &use);

/// Emits a remark at each operator about its alternative, and one about the
/// guarantee. `pass` is the argument of the pass that chose.
void remarkBitWidths(mlir::func::FuncOp entry, llvm::StringRef pass,
                     llvm::ArrayRef<OperatorPoints> choices,
                     const std::optional<Sensitivities> &sensitivities,
                     const Assignment &assignment);

/// Writes an assignment. `sensitivities` are those of all alternatives, or
/// none.
llvm::Error writeBitWidths(llvm::StringRef path, llvm::StringRef function,
                           llvm::ArrayRef<OperatorPoints> choices,
                           const std::optional<Sensitivities> &sensitivities,
                           const Assignment &assignment, const Budget &budget,
                           const ResourceUse &use);

/// Returns the alternative of each operator; one that the file does not name
/// keeps its own. `function` and `bits` in the file must be right. Errors name
/// the file and the operator.
llvm::Expected<std::vector<unsigned>>
readBitWidths(llvm::StringRef path, llvm::StringRef function,
              llvm::ArrayRef<OperatorPoints> choices);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H
