// SPDX-License-Identifier: Apache-2.0
//
// Assignments of alternatives as JSON, for people who read and edit them.
#ifndef MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H
#define MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H

#include "AccuracyContract.h"

namespace mct::bit_widths {

/// The choice, and the alternatives that it was made from.
struct Assignment {
  std::vector<unsigned> alternatives;
  /// Sum of the sensitivities; none where there are no sensitivities.
  std::optional<double> sum;
  /// Assignments that were run as a whole, with their distances.
  struct Measured {
    std::vector<unsigned> alternatives;
    double sum = 0, distance = 0;
  };
  std::vector<Measured> measured;
  /// Choices by rising weights, in bits; none where it has too many points.
  struct Point {
    int64_t weights = 0;
    double sum = 0;
    std::vector<unsigned> alternatives;
  };
  std::optional<std::vector<Point>> front;
  /// The promise about a metric; none where a budget or a file decides.
  std::optional<AccuracyContract> contract;
};

/// Returns "2 (kernel_attr 2 bits, activation 8 bits)".
std::string describeAlternative(const OperatorPoints &of, unsigned alternative);

/// Returns "conv1 4, add 8/16": bits of the kernel, or what differs, and of the
/// result.
std::string describeAlternatives(llvm::ArrayRef<OperatorPoints> choices,
                                 llvm::ArrayRef<unsigned> alternatives);

/// Tells what there was to choose from, where somebody asks. `use`: that of the
/// assignment.
void tellBitWidths(mlir::MLIRContext *context,
                   llvm::ArrayRef<OperatorPoints> choices,
                   const Assignment &assignment, const ResourceUse &use);

/// Emits a remark at each operator about its alternative, and one about the
/// promise. `pass`: the argument of the pass that has chosen.
void remarkBitWidths(mlir::func::FuncOp entry, llvm::StringRef pass,
                     llvm::ArrayRef<OperatorPoints> choices,
                     const std::optional<Sensitivities> &sensitivities,
                     const Assignment &assignment);

/// `sensitivities`: of all alternatives, or none.
llvm::Error writeBitWidths(llvm::StringRef path, llvm::StringRef function,
                           llvm::ArrayRef<OperatorPoints> choices,
                           const std::optional<Sensitivities> &sensitivities,
                           const Assignment &assignment, const Budget &budget,
                           const ResourceUse &use);

/// Returns the alternative of each operator; one that the file does not name
/// keeps its own. Where the file says `function` and `bits`, they have to be
/// right. Errors name the file and the operator.
llvm::Expected<std::vector<unsigned>>
readBitWidths(llvm::StringRef path, llvm::StringRef function,
              llvm::ArrayRef<OperatorPoints> choices);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BITWIDTHSFILE_H
