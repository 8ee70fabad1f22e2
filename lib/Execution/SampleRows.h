// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_SAMPLEROWS_H
#define MCT_LIB_EXECUTION_SAMPLEROWS_H

#include "mct/Support/StoredTensor.h"

#include <cstring>
#include <vector>

namespace mct::execution {

/// Reads the elements of a range of rows of a file, in row-major order.
class RowReader {
public:
  RowReader(const support::StoredTensor &file, int64_t firstRow, int64_t rows)
      : file(file), firstRow(firstRow), rows(rows),
        bytes(support::getByteSize(file.elementType())),
        rowElements(file.numElements() / file.shape().front()) {}

  /// Copies the elements [begin, begin + count).
  llvm::Error read(int64_t begin, int64_t count, char *to) {
    if (file.isFortranOrder() && gathered.empty())
      if (llvm::Error error = gather())
        return error;
    if (file.isFortranOrder()) {
      std::memcpy(to, gathered.data() + begin * bytes, count * bytes);
      return llvm::Error::success();
    }
    return file.read((firstRow * rowElements + begin) * bytes, count * bytes,
                     to);
  }

private:
  /// Reads all rows of a file in Fortran order, in which the elements of one
  /// row are as far apart as there are rows.
  llvm::Error gather();

  const support::StoredTensor &file;
  int64_t firstRow, rows;
  size_t bytes;
  int64_t rowElements;
  std::vector<char> gathered;
};

/// Reads elements of any type that a network can read as f32.
llvm::Error readAsFloats(RowReader &rows, support::ElementType type,
                         int64_t elements, float *to);

/// Reorders the elements of each row for the network; an empty order keeps
/// them.
void reorder(llvm::ArrayRef<int64_t> order, int64_t elements,
             int64_t elementBytes, char *buffer);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_SAMPLEROWS_H
