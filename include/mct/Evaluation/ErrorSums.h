// SPDX-License-Identifier: Apache-2.0
//
// Sums from which the distances between the same values in two networks are
// computed.
#ifndef MCT_EVALUATION_ERRORSUMS_H
#define MCT_EVALUATION_ERRORSUMS_H

#include "mct/Quantization/ExactSum.h"
#include "mct/Quantizers/Grid.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <string>

namespace mct::execution {

/// Sums over the elements of one value, from which the distances are computed.
struct ErrorSums {
  double reference = 0; // sum of squares of the reference
  double value = 0;     // sum of squares of the compared value
  double product = 0;
  double error = 0; // sum of squares of the difference
  double largest = 0;

  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<float> references);
  void merge(const ErrorSums &other);

  /// Returns the signal-to-quantization-noise ratio in dB; infinite for equal
  /// values, NaN if differing values are not finite.
  double sqnr() const;
  double cosine() const;
};

/// Sums over many samples: those of each sample are added without rounding, so
/// that the result does not depend on the order and the division of samples.
class ExactErrorSums {
public:
  /// Adds sums over some elements, which must not depend on the division of
  /// samples: those of one sample, for example.
  void add(const ErrorSums &sums);
  /// Adds the elements of `samples` samples, which follow one another, sample
  /// by sample. If it is 0, samples are not separate, and elements are added
  /// one by one.
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<float> references,
           int64_t samples);
  void merge(const ExactErrorSums &other);

  /// Returns the sums, each rounded once.
  ErrorSums round() const;

  /// Returns the sums as text; equal sums give equal text.
  std::string toText() const;
  /// Parses the result of `toText`.
  static llvm::Expected<ExactErrorSums> fromText(llvm::StringRef text);

private:
  struct Sum {
    quantization::ExactSum finite;
    /// Sum of the values that are not finite; 0 if there are none.
    double other = 0;

    void add(double value);
    double round() const { return other == 0 ? finite.round() : other; }
  };
  /// Sum of each member of ErrorSums but the last, in order.
  std::array<Sum, 4> sums;
  double largest = 0;
};

/// Counts and sizes of the differences between integers and those of a
/// simulation.
struct StepCounts {
  int64_t values = 0, differing = 0;
  /// Largest difference in steps of the grid. A simulated value that is not on
  /// the grid counts as a difference, however small.
  double largest = 0;

  /// Compares stored integers of the grid with the values of a simulation.
  void add(const quantization::Grid &grid, llvm::ArrayRef<int64_t> stored,
           llvm::ArrayRef<float> simulated);
  void merge(const StepCounts &other);
};

} // namespace mct::execution

#endif // MCT_EVALUATION_ERRORSUMS_H
