// SPDX-License-Identifier: Apache-2.0
//
// Lookup-table quantizers: a value is stored as an index into a short table of
// integers, and a threshold per tensor or channel gives the integers a unit.

#ifndef MCT_QUANTIZERS_LUTQUANTIZER_H
#define MCT_QUANTIZERS_LUTQUANTIZER_H

#include "mct/Quantizers/TensorQuantizer.h"

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

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_LUTQUANTIZER_H
