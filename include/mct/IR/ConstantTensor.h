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

/// Elements of a constant tensor of static shape and of type float with 8, 16,
/// 32 or 64 bits or integer with 1, 2, 4, 8, 16, 32 or 64 bits.
///
/// They are row-major, each in whole bytes; a type of less than 8 bits has a
/// byte for each element, with the value sign-extended unless it is unsigned or
/// i1. A splat stores one element only, however large it is. Elements that the
/// IR stores in this form are read in place, and must outlive this object.
///
/// Copies are cheap: they share the elements.
class ConstantTensor {
public:
  /// Creates an empty object, which may only be assigned to.
  ConstantTensor() = default;

  /// Returns the elements of a constant; none if its type is not supported, or
  /// if its data are missing or of another size.
  static std::optional<ConstantTensor> get(mlir::Value value);
  static std::optional<ConstantTensor> get(mlir::ElementsAttr attribute);
  /// Returns whether a tensor of this type can be held.
  static bool isSupported(mlir::Type type);
  /// Creates a tensor of values rounded to the element type; integers wrap.
  /// There is one value, which makes a splat, or one for each element.
  template <typename T>
  static ConstantTensor create(mlir::RankedTensorType type,
                               std::vector<T> values);
  /// Creates a tensor of stored elements: one for a splat, else all of them.
  /// `owner` keeps `bytes` alive.
  static ConstantTensor create(mlir::RankedTensorType type,
                               llvm::ArrayRef<char> bytes,
                               std::shared_ptr<const void> owner);
  /// Returns memory for elements, aligned to a cache line.
  static std::pair<std::shared_ptr<const void>, llvm::MutableArrayRef<char>>
  allocate(size_t bytes);

  mlir::RankedTensorType getType() const { return type; }
  llvm::ArrayRef<int64_t> getShape() const { return type.getShape(); }
  int64_t getNumElements() const { return type.getNumElements(); }
  /// Returns whether one stored element stands for several equal ones.
  bool isSplat() const { return getNumStored() == 1 && getNumElements() != 1; }
  int64_t getNumStored() const { return bytes.size() / elementSize; }
  /// Returns the size in bytes of one stored element.
  size_t getElementSize() const { return elementSize; }
  llvm::ArrayRef<char> getBytes() const { return bytes; }

  /// Returns the stored elements as numbers (int64_t, float or double).
  template <typename T> std::vector<T> decode() const;
  /// Returns the stored elements in place; empty if they are not f32.
  llvm::ArrayRef<float> getFloats() const;
  /// Returns whether every element equals `number`.
  bool isUniformly(double number) const;
  /// Returns the same elements as a tensor of another shape with as many
  /// elements.
  ConstantTensor reshape(mlir::RankedTensorType newType) const;

  /// Returns an attribute with these elements, without a copy if possible.
  /// Large tensors become a `dense_resource`, of which the context keeps no
  /// uniqued copy; `name` is the key of that resource.
  mlir::ElementsAttr toAttribute(llvm::StringRef name) const;

private:
  mlir::RankedTensorType type;
  size_t elementSize = 1;
  llvm::ArrayRef<char> bytes;
  std::shared_ptr<const void> owner;
  /// The resource whose whole data is `bytes`.
  std::optional<mlir::DenseResourceElementsHandle> resource;
};

} // namespace mct

#endif // MCT_IR_CONSTANTTENSOR_H
