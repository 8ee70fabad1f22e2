// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_EXECUTION_STOREDTENSOR_H
#define MCT_EXECUTION_STOREDTENSOR_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>

namespace mct::execution {

enum class ElementType { F16, F32, F64, I8, U8, I16, U16, I32, U32, I64, Bool };

/// `f32`, `u8`, ...
llvm::StringRef getName(ElementType type);
/// Size of one element in bytes.
size_t getByteSize(ElementType type);

/// A tensor whose elements can be read, wherever they lie. Thread safe.
class StoredTensor {
public:
  virtual ~StoredTensor();
  StoredTensor(const StoredTensor &) = delete;
  StoredTensor &operator=(const StoredTensor &) = delete;

  /// What messages call it: the path of a file.
  llvm::StringRef name() const { return given; }
  ElementType elementType() const { return type; }
  llvm::ArrayRef<int64_t> shape() const { return dimensions; }
  int64_t numElements() const { return elements; }
  /// Whether the first dimension, not the last, is contiguous.
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

/// An array in memory, row-major, which must outlive the tensor.
std::shared_ptr<const StoredTensor> viewArray(llvm::StringRef name,
                                              ElementType type,
                                              llvm::ArrayRef<int64_t> shape,
                                              const void *data);

/// What a generator makes: `pull` returns the bytes of some whole rows of
/// `rowShape`, none at the end; what it returns is not used after the next
/// call. All of it is pulled at once and kept in a temporary file, so that it
/// can be read as often as needed. The shape is N x `rowShape`. Fails with the
/// generator's error, and where it makes a part of a row.
llvm::Expected<std::shared_ptr<const StoredTensor>>
spool(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> rowShape,
      llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>()> pull);

} // namespace mct::execution

#endif // MCT_EXECUTION_STOREDTENSOR_H
