// SPDX-License-Identifier: Apache-2.0
//
// Quantizers prepared for any number of tensors.

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
  /// `shape` and `axes` are as for `fakeQuantizePerChannel`; a quantizer
  /// without channels ignores `axes`. Several threads may run it at once.
  virtual void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
                   const float *input, float *output) const = 0;
};

/// Quantizes to evenly spaced levels: `fakeQuantize` with one grid, or one per
/// channel.
class AffineQuantizer : public TensorQuantizer {
public:
  explicit AffineQuantizer(llvm::ArrayRef<Grid> grids);

  void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
           const float *input, float *output) const override;

private:
  std::vector<Grid> grids;
};

/// Quantizes to any levels: a value becomes the level nearest to it.
///
/// Halfway between two levels, half up takes the upper one, and half to even
/// takes the one that is an even number of levels away from zero, or from the
/// lowest level if zero is not a level. A NaN becomes the lowest level, an
/// infinity the end of its side.
class LevelQuantizer : public TensorQuantizer {
public:
  /// `levels` has one entry for the tensor, or one for each channel; each is
  /// finite, ascending, without repetitions and not empty.
  LevelQuantizer(llvm::ArrayRef<std::vector<float>> levels, Rounding rounding);

  void run(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
           const float *input, float *output) const override;

private:
  /// Levels of a channel. Values from starts[i] on take level i; the first
  /// level has no start.
  struct Row {
    std::vector<float> levels, starts;
  };
  static void runRow(const Row &row, const float *input, float *output,
                     size_t count);

  std::vector<Row> rows;
};

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_TENSORQUANTIZER_H
