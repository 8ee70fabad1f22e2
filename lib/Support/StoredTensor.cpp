// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/StoredTensor.h"

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
} // namespace

std::shared_ptr<const StoredTensor>
mct::support::viewArray(llvm::StringRef name, ElementType type,
                        llvm::ArrayRef<int64_t> shape, const void *data) {
  return std::make_shared<Array>(name, type, shape, data);
}
