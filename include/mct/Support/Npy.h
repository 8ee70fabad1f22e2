// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_NPY_H
#define MCT_SUPPORT_NPY_H

#include "mct/Support/OutputFile.h"
#include "mct/Support/StoredTensor.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace mct::support {

/// A `.npy` file (format 1, 2 or 3), little endian. Its data are read, not
/// mapped, so that truncating the file meanwhile is an error.
class NpyFile : public StoredTensor {
public:
  ~NpyFile() override;

  /// Opens a file. Errors name the file, the expected and the actual contents.
  static llvm::Expected<std::unique_ptr<NpyFile>> open(llvm::StringRef path);

  llvm::Error read(uint64_t offset, size_t size, void *to) const override;
  /// Returns all elements in the order of the file; `T` has the element's size.
  template <typename T> llvm::Expected<std::vector<T>> readAll() const {
    std::vector<T> values(elements);
    if (llvm::Error error = read(0, elements * sizeof(T), values.data()))
      return std::move(error);
    return values;
  }

private:
  NpyFile() = default;
  int descriptor = -1;
  size_t dataOffset = 0;
};

/// Type, shape and offset of the data that a `.npy` header describes. `bytes`
/// is the beginning of the file, `path` is for messages only. A header of more
/// than kMaxNpyHeader bytes is an error.
constexpr size_t kMaxNpyHeader = size_t(1) << 20;
struct NpyHeader {
  ElementType type = ElementType::F32;
  llvm::SmallVector<int64_t> shape;
  bool fortranOrder = false;
  size_t dataOffset = 0;
};
llvm::Expected<NpyHeader> parseNpyHeader(llvm::ArrayRef<char> bytes,
                                         llvm::StringRef path);

/// Writes a `.npy` file sequentially; the file gets its name in `commit`, or
/// never (see OutputFile).
class NpyWriter {
public:
  ~NpyWriter();
  NpyWriter(const NpyWriter &) = delete;
  NpyWriter &operator=(const NpyWriter &) = delete;

  static llvm::Expected<std::unique_ptr<NpyWriter>>
  create(llvm::StringRef path, ElementType type, llvm::ArrayRef<int64_t> shape);

  /// Appends the next bytes of the data. Errors are reported by `commit`.
  void write(const void *data, size_t bytes);
  /// Fails if a write failed, or if the number of written bytes is not that of
  /// the shape.
  llvm::Error commit();

private:
  explicit NpyWriter(llvm::StringRef path);
  std::string path;
  std::unique_ptr<OutputFile> file;
  uint64_t expectedBytes = 0, writtenBytes = 0;
};

} // namespace mct::support

#endif // MCT_SUPPORT_NPY_H
