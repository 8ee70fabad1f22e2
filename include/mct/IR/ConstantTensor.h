// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_CONSTANTTENSOR_H
#define MCT_IR_CONSTANTTENSOR_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Value.h"
#include <memory>
#include <optional>
#include <vector>

namespace mct {

/// Elements of a constant tensor of static shape, whose type is a float of 8,
/// 16, 32 or 64 bits or an integer of 1, 2, 4, 8, 16, 32 or 64.
///
/// They are row-major, each in whole bytes; a type of less than 8 bits has a
/// byte for each, with the value sign-extended unless it is unsigned or i1. A
/// splat stores one element only, however large it is. What the IR stores so is
/// read in place, and must live as long as this.
///
/// Copies are cheap: they share the elements.
class ConstantTensor {
public:
  /// Makes no tensor; of its members only the assignment may be used.
  ConstantTensor() = default;

  /// Returns the elements of a constant; none when it is of no such type, its
  /// data are missing or of another size.
  static std::optional<ConstantTensor> get(mlir::Value value);
  static std::optional<ConstantTensor> get(mlir::ElementsAttr attribute);
  /// Returns whether a tensor of this type can be held.
  static bool isSupported(mlir::Type type);
  /// Creates a tensor of values rounded to the element type; integers wrap; one
  /// value makes a splat. Otherwise there is one for each element.
  template <typename T>
  static ConstantTensor create(mlir::RankedTensorType type,
                               std::vector<T> values);
  /// Creates a tensor of elements as they are stored, in `bytes` that are kept
  /// alive by `owner`: one for a splat, else all of them.
  static ConstantTensor create(mlir::RankedTensorType type,
                               llvm::ArrayRef<char> bytes,
                               std::shared_ptr<const void> owner);
  /// Returns memory for elements, aligned to a cache line.
  static std::pair<std::shared_ptr<const void>, llvm::MutableArrayRef<char>>
  allocate(size_t bytes);

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  /// Returns whether one element is stored for several equal ones.
  bool isSplat() const { return getNumStored() == 1 && getNumElements() != 1; }
  int64_t getNumStored() const { return bytes.size() / elementSize; }
  /// Returns the bytes of one stored element.
  size_t getElementSize() const { return elementSize; }
  llvm::ArrayRef<char> getBytes() const { return bytes; }

  /// Returns the stored elements as numbers (int64_t, float or double).
  template <typename T> std::vector<T> decode() const;
  /// Returns the stored elements in place; empty when they are not f32.
  llvm::ArrayRef<float> getFloats() const;
  /// Returns whether every element is this number.
  bool isUniformly(double number) const;
  /// The same elements as a tensor of another shape, with as many of them.
  ConstantTensor reshape(mlir::RankedTensorType newType) const;

  /// Returns an attribute with these elements, without a copy where that is
  /// possible. Many of them become a `dense_resource`, which the context does
  /// not keep a uniqued copy of; `name` is the key of that resource.
  mlir::ElementsAttr toAttribute(llvm::StringRef name) const;

private:
  mlir::RankedTensorType type;
  size_t elementSize = 1;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  /// The resource whose whole data `bytes` is.
  std::optional<mlir::DenseResourceElementsHandle> resource;
};

} // namespace mct

#endif // MCT_IR_CONSTANTTENSOR_H
