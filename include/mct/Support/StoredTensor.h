// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_STOREDTENSOR_H
#define MCT_SUPPORT_STOREDTENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mct::support {

enum class ElementType { F16, F32, F64, I8, U8, I16, U16, I32, U32, I64, Bool };

/// Returns the name of the type: `f32`, `u8`, ...
llvm::StringRef getName(ElementType type);
/// Returns the size in bytes of one element.
size_t getByteSize(ElementType type);

/// A tensor whose elements can be read from a file or from memory. Thread safe.
class StoredTensor {
public:
  virtual ~StoredTensor();
  StoredTensor(const StoredTensor &) = delete;
  StoredTensor &operator=(const StoredTensor &) = delete;

  /// Returns the name in messages: the path of a file.
  llvm::StringRef name() const { return given; }
  ElementType elementType() const { return type; }
  llvm::ArrayRef<int64_t> shape() const { return dimensions; }
  int64_t numElements() const { return elements; }
  /// Returns whether the first dimension, not the last, is contiguous.
  bool isFortranOrder() const { return fortranOrder; }

  /// Copies the bytes [offset, offset + size) of the elements, which are little
  /// endian.
  virtual llvm::Error read(uint64_t offset, size_t size, void *to) const = 0;

protected:
  StoredTensor() = default;
  StoredTensor(llvm::StringRef name, ElementType type,
               llvm::ArrayRef<int64_t> shape);

  std::string given;
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t> dimensions;
  int64_t elements = 0;
  bool fortranOrder = false;
};

/// Returns a view of an array in memory, row-major, which must outlive it.
std::shared_ptr<const StoredTensor> viewArray(llvm::StringRef name,
                                              ElementType type,
                                              llvm::ArrayRef<int64_t> shape,
                                              const void *data);

} // namespace mct::support

#endif // MCT_SUPPORT_STOREDTENSOR_H
