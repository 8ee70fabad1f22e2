// SPDX-License-Identifier: Apache-2.0
//
// The order of the axes of a value in an ONNX file.
#ifndef MCT_LIB_EXPORT_ONNXLAYOUT_H
#define MCT_LIB_EXPORT_ONNXLAYOUT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

#include <cstdint>
#include <optional>
#include <vector>

namespace mct::onnx {

/// Order in which a tensor of the file holds the elements of a value.
struct Layout {
  /// Axis i of the tensor is axis `permutation[i]` of the value.
  llvm::SmallVector<int64_t> permutation;
  /// If the last axis consists of several flattened axes, their sizes in the
  /// order of the value, and the index of the one that comes i-th in the
  /// tensor.
  llvm::SmallVector<int64_t> parts, partOrder;

  static Layout identity(size_t rank);
  /// Returns the layout [N, C, H, W] of a value [N, H, W, C].
  static Layout channelsFirst() { return {{0, 3, 1, 2}, {}, {}}; }

  bool operator==(const Layout &other) const {
    return permutation == other.permutation && parts == other.parts &&
           partOrder == other.partOrder;
  }
  bool operator!=(const Layout &other) const { return !(*this == other); }
  bool isIdentity() const { return *this == identity(permutation.size()); }
  /// Returns the axis of the tensor that corresponds to an axis of the value.
  int64_t axisOf(int64_t axis) const;
  /// Returns a shape of the value in the order of the tensor.
  llvm::SmallVector<int64_t> apply(llvm::ArrayRef<int64_t> shape) const;
};

/// Returns, for each element of a row-major tensor whose axes are permuted by
/// `permutation`, the index of the element in the row-major original.
std::vector<int64_t> mapElements(llvm::ArrayRef<int64_t> shape,
                                 llvm::ArrayRef<int64_t> permutation);

/// Returns, for each index along the last axis of the tensor, the index in the
/// value.
std::vector<int64_t> mapParts(const Layout &layout, int64_t size);

/// Returns whether tensors of both layouts have their elements in the same
/// order, so that one is a reshape of the other.
bool haveSameOrder(llvm::ArrayRef<int64_t> shape, const Layout &lhs,
                   const Layout &rhs);

/// Returns the layout of a value that is reshaped from shape `from` with layout
/// `layout` to shape `to`, such that its tensor is a reshape of the other
/// tensor. Returns none if there is no such layout.
std::optional<Layout> followReshape(llvm::ArrayRef<int64_t> from,
                                    const Layout &layout,
                                    llvm::ArrayRef<int64_t> to);

} // namespace mct::onnx

#endif // MCT_LIB_EXPORT_ONNXLAYOUT_H
