// SPDX-License-Identifier: Apache-2.0
//
// Assignments of alternatives as JSON files that users can read and edit.
#ifndef MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H
#define MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H

#include "AccuracyContract.h"

namespace mct::bit_widths {

/// The chosen alternatives, and what they were chosen from.
struct Assignment {
  std::vector<unsigned> alternatives;
  /// Sum of the sensitivities, or none if there are no sensitivities.
  std::optional<double> sum;
  /// An assignment that was run as a complete network, with its distance.
  struct Measured {
    std::vector<unsigned> alternatives;
    double sum = 0, distance = 0;
  };
  std::vector<Measured> measured;
  /// A choice on the front of weights, in bits, and sensitivities; in order of
  /// increasing weights. There is no front if it would have too many points.
  struct Point {
    int64_t weights = 0;
    double sum = 0;
    std::vector<unsigned> alternatives;
  };
  std::optional<std::vector<Point>> front;
  /// The promise about a metric, or none if a budget or a file determines the
  /// assignment.
  std::optional<AccuracyContract> contract;
};

/// Returns "2 (kernel_attr 2 bits, activation 8 bits)".
std::string describeAlternative(const OperatorPoints &of, unsigned alternative);

/// Returns "conv1 4, add 8/16": the bits of the kernel (or of the points that
/// differ) and of the result.
std::string describeAlternatives(llvm::ArrayRef<OperatorPoints> choices,
                                 llvm::ArrayRef<unsigned> alternatives);

/// Records the choices for the report, if there is one. `use`: that of the
/// assignment.
void tellBitWidths(mlir::MLIRContext *context,
                   llvm::ArrayRef<OperatorPoints> choices,
                   const Assignment &assignment, const ResourceUse &use);

/// Emits a remark about each operator's alternative, and one about the promise.
/// `pass`: argument of the pass that made the choice.
void remarkBitWidths(mlir::func::FuncOp entry, llvm::StringRef pass,
                     llvm::ArrayRef<OperatorPoints> choices,
                     const std::optional<Sensitivities> &sensitivities,
                     const Assignment &assignment);

/// Writes an assignment to a file. `sensitivities`: those of all alternatives,
/// or none.
llvm::Error writeBitWidths(llvm::StringRef path, llvm::StringRef function,
                           llvm::ArrayRef<OperatorPoints> choices,
                           const std::optional<Sensitivities> &sensitivities,
                           const Assignment &assignment, const Budget &budget,
                           const ResourceUse &use);

/// Returns the alternative of each operator; operators that the file does not
/// mention keep theirs. If the file contains `function` and `bits`, they have
/// to match. Errors mention the file and the operator.
llvm::Expected<std::vector<unsigned>>
readBitWidths(llvm::StringRef path, llvm::StringRef function,
              llvm::ArrayRef<OperatorPoints> choices);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H
