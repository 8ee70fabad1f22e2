// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/FiniteValues.h"

#include "BlockRange.h"
#include "mct/Quantization/Parallel.h"

#include <algorithm>
#include <atomic>
#include <cmath>

namespace mct::quantization {

std::optional<size_t> findNonFinite(llvm::ArrayRef<float> values,
                                    const support::Threads &threads) {
  constexpr size_t kBlock = size_t(1) << 17;
  size_t blocks = (values.size() + kBlock - 1) / kBlock;
  std::atomic<size_t> firstBlock{blocks};
  parallelFor(blocks, threads.atMost(blocks), [&](size_t block) {
    size_t begin = block * kBlock;
    if (blockRange(values.data() + begin,
                   std::min(kBlock, values.size() - begin))
            .allFinite())
      return;
    size_t first = firstBlock;
    while (block < first && !firstBlock.compare_exchange_weak(first, block)) {
    }
  });
  for (size_t i = firstBlock * kBlock; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      return i;
  return std::nullopt;
}

} // namespace mct::quantization
