// SPDX-License-Identifier: Apache-2.0
//
// Quantizers made ready for any number of tensors.

#ifndef MCT_QUANTIZERS_TENSORQUANTIZER_H
#define MCT_QUANTIZERS_TENSORQUANTIZER_H

#include "mct/Quantizers/Grid.h"

#include "llvm/ADT/ArrayRef.h"

#include <vector>

namespace mct::quantization {

class TensorQuantizer {
public:
  virtual ~TensorQuantizer();

  /// Quantizes and dequantizes a row-major tensor; `input` may be `output`.
  /// `shape` and `axes` as for fakeQuantizePerChannel; a quantizer without
  /// channels does not read `axes`. Several threads may run it at once.
  virtual void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
                   const float *input, float *output) const = 0;
};

/// Evenly spaced levels: fakeQuantize with one grid, or one per channel.
class AffineQuantizer : public TensorQuantizer {
public:
  explicit AffineQuantizer(llvm::ArrayRef<Grid> grids);

  void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
           const float *input, float *output) const override;

private:
  std::vector<Grid> grids;
};

/// Any levels: a value becomes the level nearest to it.
///
/// Halfway between two levels half up takes the upper one, half to even the one
/// that is an even number of levels away from zero, or from the lowest level
/// where zero is none. A NaN becomes the lowest level, an infinity the end of
/// its side.
class LevelQuantizer : public TensorQuantizer {
public:
  /// `levels`: of the tensor, or of each channel; finite, ascending, none
  /// twice, at least one.
  LevelQuantizer(llvm::ArrayRef<std::vector<float>> levels, Rounding rounding);

  void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
           const float *input, float *output) const override;

private:
  /// Level i is taken from starts[i] on; the first one has no start.
  struct Row {
    std::vector<float> levels, starts;
  };
  static void runRow(const Row &row, const float *input, float *output,
                     size_t count);

  std::vector<Row> rows;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_TENSORQUANTIZER_H
