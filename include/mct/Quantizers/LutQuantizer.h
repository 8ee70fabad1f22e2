// SPDX-License-Identifier: Apache-2.0
//
// Lookup-table quantizers: a value is stored as an index into a short table of
// integers, whose unit is given by a threshold per tensor or channel.

#ifndef MCT_QUANTIZERS_LUTQUANTIZER_H
#define MCT_QUANTIZERS_LUTQUANTIZER_H

#include "mct/Quantizers/TensorQuantizer.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mct::quantization {

/// Width in bits of the entries of a table, whatever the width of the index.
/// MCT's `LUT_VALUES_BITWIDTH`.
constexpr unsigned kTableBits = 8;
/// Added to the threshold before the division, so that a threshold of zero does
/// not cause a division by zero. MCT's `EPS`.
constexpr double kTableEpsilon = 1e-8;

/// Returns the smallest and largest integer that a table of `tableBits` bits
/// can hold.
constexpr int64_t tableMin(bool isSigned, unsigned tableBits = kTableBits) {
  return isSigned ? -(int64_t(1) << (tableBits - 1)) : 0;
}
constexpr int64_t tableMax(bool isSigned, unsigned tableBits = kTableBits) {
  return (int64_t(1) << (tableBits - (isSigned ? 1 : 0))) - 1;
}

/// Returns the position of a value between the integers of a table, in their
/// unit and not rounded: clamp(value / (threshold + kTableEpsilon) *
/// 2^(tableBits - isSigned)) to the range of the table.
double tablePosition(double value, double threshold, bool isSigned,
                     unsigned tableBits = kTableBits);

/// A table in the layout of the vector loops.
struct LutFloatTable;

/// A table prepared for any number of fake quantizations.
///
/// All in float: the position of the value, the entry nearest to it (the
/// distance is rounded to float too; of equal distances the first in the order
/// of the table wins), y = entry / 2^(tableBits - isSigned) * threshold. The
/// bits are those of the deployed PyTorch quantizers of mct_quantizers. A NaN
/// becomes the smallest entry, an infinity the end of its side. For a threshold
/// that is not a finite float the computation is done in double, and results
/// outside the range of float saturate.
class LutQuantizer : public TensorQuantizer {
public:
  /// `table` has 1 to 2^`tableBits` integers of the table's range, in any
  /// order; `tableBits` is 1 to 8; `thresholds` has one positive entry, or one
  /// per channel.
  LutQuantizer(llvm::ArrayRef<int64_t> table, llvm::ArrayRef<double> thresholds,
               bool isSigned, unsigned tableBits = kTableBits);

  /// Quantizes and dequantizes a row-major tensor; `input` may be `output`.
  /// `shape` and `axes` are as for `fakeQuantizePerChannel`; `axes` are ignored
  /// if there is one threshold.
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
  // Sorted entries in units of the threshold, and the smallest position at
  // which each entry but the first is the nearest.
  std::vector<float> levels, starts;
  // For long tables: positions divided into unit cells, each with one start at
  // most.
  std::vector<float> cellStart, cellLow, cellHigh;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_LUTQUANTIZER_H
