// SPDX-License-Identifier: Apache-2.0
//
// Sums from which the distances between the same values in two networks follow.
#ifndef MCT_EVALUATION_ERRORSUMS_H
#define MCT_EVALUATION_ERRORSUMS_H

#include "mct/Quantization/ExactSum.h"
#include "mct/Quantizers/Grid.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/JSON.h"
#include <array>
#include <string>

namespace mct::execution {

/// Sums over the elements of one value, from which the distances follow.
struct ErrorSums {
  double reference = 0; // sum of squares of the reference
  double value = 0;     // sum of squares of the compared value
  double product = 0;
  double error = 0; // sum of squares of the difference
  double largest = 0;

  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<float> references);
  void merge(const ErrorSums &other);

  /// Returns the signal-to-quantization-noise ratio in dB; infinite for equal
  /// values, NaN where values that differ are not finite.
  double sqnr() const;
  double cosine() const;
};

/// The sums of many samples: those of each sample are added without rounding,
/// so that they are the same in any order, and however samples are divided.
class ExactErrorSums {
public:
  /// Adds the sums over some elements, which are the same however samples are
  /// divided: those of one sample, for example.
  void add(const ErrorSums &sums);
  /// Adds the elements of `samples` samples, which follow one another, sample
  /// by sample; 0: samples are not apart, and elements are added one by one.
  void add(llvm::ArrayRef<float> values, llvm::ArrayRef<float> references,
           int64_t samples);
  void merge(const ExactErrorSums &other);

  /// Returns the sums, each rounded once.
  ErrorSums round() const;

  /// Writes the sums as words; equal sums give equal text.
  std::string toText() const;
  /// Reads what toText wrote.
  static llvm::Expected<ExactErrorSums> fromText(llvm::StringRef text);

private:
  struct Sum {
    quantization::ExactSum finite;
    /// Sum of what is not finite; 0 without.
    double other = 0;

    void add(double value);
    double round() const { return other == 0 ? finite.round() : other; }
  };
  /// One for each member of ErrorSums but the last, in order.
  std::array<Sum, 4> sums;
  double largest = 0;
};

/// Counts how often integers differ from those of a simulation, and how far.
struct StepCounts {
  int64_t values = 0, differing = 0;
  /// Largest difference in steps of the grid. A simulated value that does not
  /// lie on the grid is a difference, however small.
  double largest = 0;

  /// Compares integers of the grid with the values of a simulation.
  void add(const quantization::Grid &grid, llvm::ArrayRef<int64_t> stored,
           llvm::ArrayRef<float> simulated);
  void merge(const StepCounts &other);
};

} // namespace mct::execution

#endif // MCT_EVALUATION_ERRORSUMS_H
