// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Parallel.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace mct::quantization {

void parallelFor(size_t count, unsigned threads,
                 llvm::function_ref<void(size_t)> work) {
  std::atomic<size_t> next{0};
  auto takeNext = [&] {
    for (size_t index; (index = next.fetch_add(1)) < count;)
      work(index);
  };
  std::vector<std::thread> workers;
  for (size_t i = 1, e = std::min<size_t>(threads, count); i < e; ++i)
    workers.emplace_back(takeNext);
  takeNext();
  for (std::thread &worker : workers)
    worker.join();
}

} // namespace mct::quantization
