// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/StoredTensor.h"

#include "mct/Support/TemporaryFile.h"

#include <cstring>
#include <numeric>

using namespace mct::support;

static int64_t product(llvm::ArrayRef<int64_t> shape) {
  return std::accumulate(shape.begin(), shape.end(), int64_t(1),
                         std::multiplies<int64_t>());
}

StoredTensor::~StoredTensor() = default;

StoredTensor::StoredTensor(llvm::StringRef name, ElementType type,
                           llvm::ArrayRef<int64_t> shape)
    : given(name.str()), type(type), dimensions(shape),
      elements(product(shape)) {}

namespace {
class Array : public StoredTensor {
public:
  Array(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> shape,
        const void *data)
      : StoredTensor(name, type, shape), data(static_cast<const char *>(data)) {
  }
  llvm::Error read(uint64_t offset, size_t size, void *to) const override {
    std::memcpy(to, data + offset, size);
    return llvm::Error::success();
  }

private:
  const char *data;
};

class Spooled : public StoredTensor {
public:
  Spooled(llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> shape,
          std::unique_ptr<mct::support::TemporaryFile> file)
      : StoredTensor(name, type, shape), file(std::move(file)) {}
  llvm::Error read(uint64_t offset, size_t size, void *to) const override {
    return file->read(offset, size, to);
  }

private:
  std::unique_ptr<mct::support::TemporaryFile> file;
};
} // namespace

std::shared_ptr<const StoredTensor>
mct::support::viewArray(llvm::StringRef name, ElementType type,
                        llvm::ArrayRef<int64_t> shape, const void *data) {
  return std::make_shared<Array>(name, type, shape, data);
}

llvm::Expected<std::shared_ptr<const StoredTensor>> mct::support::spool(
    llvm::StringRef name, ElementType type, llvm::ArrayRef<int64_t> rowShape,
    llvm::function_ref<llvm::Expected<llvm::ArrayRef<char>>()> pull) {
  auto file = support::TemporaryFile::create();
  if (!file)
    return file.takeError();
  size_t rowBytes = size_t(product(rowShape)) * getByteSize(type);
  uint64_t total = 0;
  while (true) {
    llvm::Expected<llvm::ArrayRef<char>> rows = pull();
    if (!rows)
      return rows.takeError();
    if (rows->empty())
      break;
    if (rowBytes == 0 || rows->size() % rowBytes != 0)
      return llvm::createStringError("'" + name + "': expected rows of " +
                                     llvm::Twine(rowBytes) + " bytes, found " +
                                     llvm::Twine(rows->size()) + " bytes");
    if (llvm::Error error = (*file)->write(total, rows->size(), rows->data()))
      return std::move(error);
    total += rows->size();
  }
  llvm::SmallVector<int64_t> shape{rowBytes == 0 ? 0
                                                 : int64_t(total / rowBytes)};
  shape.append(rowShape.begin(), rowShape.end());
  return std::make_shared<Spooled>(name, type, shape, std::move(*file));
}
