// SPDX-License-Identifier: Apache-2.0
//
// Lookup-table quantizers: a value is stored as an index into a short table of
// integers, and a threshold per tensor or channel gives the integers a unit.

#ifndef MCT_QUANTIZATION_LUT_H
#define MCT_QUANTIZATION_LUT_H

#include "mct/Quantization/Selection.h"
#include "mct/Quantization/TensorQuantizer.h"

#include "mct/Support/Threads.h"
#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mct::quantization {

/// Width in bits of a table's entries, whatever the width of the index. MCT's
/// `LUT_VALUES_BITWIDTH`.
constexpr unsigned kTableBits = 8;
/// Added to the threshold before the division, so that a threshold of zero
/// divides nothing by zero. MCT's `EPS`.
constexpr double kTableEpsilon = 1e-8;

/// Returns the smallest and largest integer that a table of `tableBits` bits
/// can hold.
constexpr int64_t tableMin(bool isSigned, unsigned tableBits = kTableBits) {
  return isSigned ? -(int64_t(1) << (tableBits - 1)) : 0;
}
constexpr int64_t tableMax(bool isSigned, unsigned tableBits = kTableBits) {
  return (int64_t(1) << (tableBits - (isSigned ? 1 : 0))) - 1;
}

/// Returns where a value lies between the integers of a table, in their unit
/// and not rounded: clamp(value / (threshold + kTableEpsilon) * 2^(tableBits -
/// isSigned)) to the range of the table.
double tablePosition(double value, double threshold, bool isSigned,
                     unsigned tableBits = kTableBits);

/// A table as the vector loops read it.
struct LutFloatTable;

/// A table made ready for any number of fake quantizations.
///
/// All in float: the position of the value, the entry nearest to it (the
/// distance is rounded to float too; of equal distances the first in the order
/// of the table wins), y = entry / 2^(tableBits - isSigned) * threshold. Same
/// bits as the deployed PyTorch quantizers of mct_quantizers
/// have. A NaN becomes the smallest entry, an infinity the end
/// of its side. A threshold that is no finite float is computed with in double,
/// and what leaves the range of float saturates.
class LutQuantizer : public TensorQuantizer {
public:
  /// `table`: 1 to 2^`tableBits` integers of the table's range, in any order;
  /// `tableBits` 1 to 8; `thresholds`: one, or one per channel, positive.
  LutQuantizer(llvm::ArrayRef<int64_t> table, llvm::ArrayRef<double> thresholds,
               bool isSigned, unsigned tableBits = kTableBits);

  /// Quantizes and dequantizes a row-major tensor; `input` may be `output`.
  /// `shape` and `axes` as for fakeQuantizePerChannel; `axes` are not read when
  /// there is one threshold.
  void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
           const float *input, float *output) const override;

private:
  LutFloatTable floatTable() const;
  void runRow(size_t channel, const float *input, float *output,
              size_t count) const;

  std::vector<int64_t> entries;
  std::vector<double> thresholds;
  std::vector<float> narrowThresholds, divisors;
  bool isSigned;
  unsigned tableBits;
  bool allNarrow = true;
  // Sorted entries in units of the threshold, and the smallest positions from
  // which each but the first of them wins.
  std::vector<float> levels, starts;
  // For long tables: positions by unit cells, each with one start at most.
  std::vector<float> cellStart, cellLow, cellHigh;
};

struct LutParameters {
  /// One, or one per channel.
  std::vector<double> thresholds;
  /// The table, ascending, without repetitions.
  std::vector<int64_t> table;
  /// Mean squared error over the given values.
  double error = 0;
  Certificate certificate = Certificate::ExactAtThreshold;
};

// Of the options, the functions below read `bits` (the width of the index: a
// table has at most 2^bits entries; 1..8), `kind` (whether thresholds are
// powers of two), `minThreshold` and, for activations, `isSigned` and
// `zThreshold`. Weights are always signed, and their tables always hold zero.
// The error method is not read: as in MCT, a table always minimizes the mean
// squared error.

/// Returns the best table at given thresholds (one, or one per channel): of all
/// tables of at most 2^bits integers, one of least squared error, and of those
/// one with the fewest entries. Values that are not finite are left out.
///
/// Dynamic program over the ordered entries. Two
/// neighbouring entries a < b share the values between them at (a + b) / 2, so
/// that the error is a sum over neighbours of (b - a) * Q[a + b], with Q from
/// the number and the sum of the values below each multiple of one half.
LutParameters bestLutTable(llvm::ArrayRef<float> values,
                           llvm::ArrayRef<int64_t> shape,
                           llvm::ArrayRef<int64_t> axes,
                           llvm::ArrayRef<double> thresholds,
                           const SelectionOptions &options);

/// Returns bestLutTable for weighted values with one threshold. Zero is an
/// entry only when `forceZero` asks for it. `zThreshold` is not read.
LutParameters bestLutTableForAtoms(llvm::ArrayRef<Atom> atoms, double threshold,
                                   const SelectionOptions &options,
                                   bool forceZero = false);

/// Returns one table for a tensor of weights, and a threshold for each channel.
///
/// From several sets of thresholds, among them those that cover every value
/// (widened by 128/127, so that the largest one is an entry; MCT widens by the
/// factor of the index width and loses part of the table's range), the one with
/// the least error at its best table; then better thresholds for that table,
/// channel by channel, the best table for these thresholds, and so on while the
/// error falls. The table is exact at the thresholds returned; the thresholds
/// are the best ones found. Never worse than the thresholds of MCT with their
/// best table.
///
/// Source: MCT `lut_kmeans_tensor`. Runs on up to
/// `threads` threads; the result does not depend on how many.
LutParameters selectLut(llvm::ArrayRef<float> values,
                        llvm::ArrayRef<int64_t> shape,
                        llvm::ArrayRef<int64_t> axes,
                        const SelectionOptions &options,
                        const support::Threads &threads);

/// Returns the axis whose thresholds fit best, for a tensor of at least one
/// axis that has no known channel axis: smallest error of selectLut, the first
/// of equal ones.
int64_t selectLutAxis(llvm::ArrayRef<float> values,
                      llvm::ArrayRef<int64_t> shape,
                      const SelectionOptions &options,
                      const support::Threads &threads);

/// Returns table and threshold for an activation. The threshold that covers
/// every value, twice it and fractions of it are tried, each with its best
/// table. Of equal errors the one that covers wins. Weights of the atoms are
/// positive. What withoutOutliers leaves out is neither covered nor part of the
/// error. Zero is an entry only when `forceZero` asks for it: it may cost
/// accuracy where few values are zero.
///
/// Source: MCT `lut_kmeans_histogram`, which takes the covering threshold.
LutParameters selectLutForAtoms(llvm::ArrayRef<Atom> atoms,
                                const SelectionOptions &options,
                                bool forceZero = false);

/// Returns selectLutForAtoms for the atoms of a histogram. Fails when nothing
/// finite was observed.
llvm::Expected<LutParameters>
selectLutForHistogram(const Histogram &histogram,
                      const SelectionOptions &options, bool forceZero = false);

} // namespace mct::quantization

#endif // MCT_QUANTIZATION_LUT_H
