// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_QUANTIZATION_INTEGERPROGRAM_H
#define MCT_LIB_QUANTIZATION_INTEGERPROGRAM_H

#include "llvm/Support/Error.h"

#include <optional>
#include <utility>
#include <vector>

namespace mct::quantization {

/// Minimizes a linear function of nonnegative variables, some of which are 0 or
/// 1, under linear constraints.
class IntegerProgram {
public:
  /// Returns the index of the new variable; one that is not binary is any
  /// number from 0 on.
  size_t addVariable(double cost, bool isBinary);
  using Terms = std::vector<std::pair<size_t, double>>;
  /// Adds the constraint lower <= sum of factor * variable <= upper.
  void addRow(Terms terms, double lower, double upper);

  /// Returns an optimum, or none if there is no solution. Fails if CBC gives
  /// up. The same program always has the same result.
  llvm::Expected<std::optional<std::vector<double>>> solve() const;

private:
  struct Row {
    Terms terms;
    double lower, upper;
  };
  std::vector<double> costs;
  std::vector<bool> binary;
  std::vector<Row> rows;
};

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_INTEGERPROGRAM_H
