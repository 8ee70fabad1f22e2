// SPDX-License-Identifier: Apache-2.0
//
// A layer as a product: every position of its result is a row of inputs times
// columns of weights.
#ifndef MCT_LIB_CORRECTIONS_PRODUCTLAYOUT_H
#define MCT_LIB_CORRECTIONS_PRODUCTLAYOUT_H

#include "mct/Planning/KernelOp.h"

namespace mct::corrections {

/// Positions of the elements of a layer's kernel, input and result in that
/// product. Output channels come in groups that read the same columns; channel
/// group * outputs() + i is the i-th of its group.
class ProductLayout {
public:
  /// Returns none for a layer whose number of spatial axes is neither 0 nor 2,
  /// or whose result has no static spatial size.
  static std::optional<ProductLayout> create(const KernelOp &op);

  int64_t groups() const { return numGroups; }
  /// Returns the number of channels of a group.
  int64_t outputs() const { return numOutputs; }
  /// Returns the number of weights of a channel.
  int64_t columns() const { return numColumns; }
  int64_t rowSize() const { return numGroups * numColumns; }
  int64_t channels() const { return numGroups * numOutputs; }

  /// Convert from the layout of the kernel to [groups, outputs, columns], and
  /// back.
  std::vector<float> fromKernel(llvm::ArrayRef<float> kernel) const;
  std::vector<float> toKernel(llvm::ArrayRef<float> weights) const;

  /// Returns the number of rows in a result of that shape.
  int64_t getNumRows(llvm::ArrayRef<int64_t> resultShape) const;
  /// Gathers the elements of `input` that row `row` of the product reads,
  /// [groups, columns]; zero for padding.
  void gatherInput(const float *input, llvm::ArrayRef<int64_t> shape,
                   int64_t row, float *to) const;
  /// Gathers the channels of that row of a result.
  void gatherResult(const float *result, llvm::ArrayRef<int64_t> shape,
                    int64_t row, float *to) const;

private:
  /// Fills in `sizes` and `places`.
  void findPlaces(const KernelOp &op);
  /// Calls `visit` with the index of each element of the kernel and its
  /// position in [groups, outputs, columns].
  template <typename Visit> void forEachPlace(Visit visit) const;

  int64_t numGroups = 1, numOutputs = 0, numColumns = 0;
  int64_t inputAxis = 0, resultAxis = 0, inputChannels = 0;
  bool isConvolution = false, isTransposed = false, isDepthwise = false;
  llvm::SmallVector<int64_t, 2> window, strides, dilations;
  int64_t top = 0, left = 0;
  /// Height and width of the result of a convolution.
  int64_t height = 1, width = 1;
  /// Axes of the kernel with more than one element, and their strides in
  /// [groups, outputs, columns].
  llvm::SmallVector<int64_t, 4> sizes, places;
};

} // namespace mct::corrections

#endif // MCT_LIB_CORRECTIONS_PRODUCTLAYOUT_H
