// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_CHANNELS_H
#define MCT_QUANTIZERS_CHANNELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace mct::quantization {

// In what follows `shape` holds sizes >= 0 whose product fits, and `axes` are
// ascending, different and inside the shape.

/// Returns the number of channels: the product of the sizes of `axes` (1
/// without axes).
int64_t channelCount(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> axes);

/// Visits the tensor in memory order as runs of consecutive elements.
/// `channelStep` 0: the run [begin, begin + length) belongs to `channel`.
/// `channelStep` 1: its elements belong to `channel`, `channel` + 1, ...
void forEachChannelRun(
    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
    llvm::function_ref<void(size_t begin, size_t length, int64_t channel,
                            int64_t channelStep)>
        visit);

/// Returns the elements of each channel as one contiguous row, in memory order:
/// a row-major [channels, elements per channel] copy of the tensor.
std::vector<float> gatherChannels(llvm::ArrayRef<float> values,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> axes);

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_CHANNELS_H
