// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Parallel.h"

#include <atomic>

namespace mct::quantization {

void parallelFor(size_t count, const support::Threads &threads,
                 llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next{0};
  threads.run(count, [&](size_t) {
    for (size_t index; (index = next.fetch_add(1)) < count;)
      work(index);
  });
}

} // namespace mct::quantization
