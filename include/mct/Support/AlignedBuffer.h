// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_ALIGNEDBUFFER_H
#define MCT_SUPPORT_ALIGNEDBUFFER_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>

namespace mct::support {

/// Memory for tensors, aligned for every vector type, not initialized.
class AlignedBuffer {
public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(size_t bytes) {
    constexpr size_t kAlignment = 64;
    if (bytes <= size_t(INT64_MAX) - kAlignment)
      data.reset(static_cast<char *>(std::aligned_alloc(
          kAlignment, (bytes + kAlignment) / kAlignment * kAlignment)));
  }
  /// Returns the memory, or null if there was not enough.
  char *get() const { return data.get(); }

private:
  struct Free {
    void operator()(char *pointer) const { std::free(pointer); }
  };
  std::unique_ptr<char, Free> data;
};

} // namespace mct::support

#endif // MCT_SUPPORT_ALIGNEDBUFFER_H
