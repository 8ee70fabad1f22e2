// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_CHANNELS_H
#define MCT_QUANTIZERS_CHANNELS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace mct::quantization {

// In this file `shape` holds sizes >= 0 whose product fits, and `axes` are
// ascending, different and inside the shape.

/// Returns the number of channels: the product of the sizes of `axes` (1
/// without axes).
int64_t channelCount(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> axes);

/// Visits the tensor in memory order as runs of consecutive elements. If
/// `channelStep` is 0, the run [begin, begin + length) belongs to `channel`; if
/// it is 1, its elements belong to `channel`, `channel` + 1, ...
void forEachChannelRun(
    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
    llvm::function_ref<void(size_t begin, size_t length, int64_t channel,
                            int64_t channelStep)>
        visit);

/// A row-major tensor whose channels are read as rows, in memory order, a few
/// at a time, so that no copy of the whole tensor is needed.
class ChannelRows {
public:
  ChannelRows() = default;
  /// Keeps a reference to `values`, which must outlive this object.
  ChannelRows(llvm::ArrayRef<float> values, llvm::ArrayRef<int64_t> shape,
              llvm::ArrayRef<int64_t> axes);

  /// Returns the number of elements of a channel; 0 if there are no channels.
  size_t length() const { return rowLength; }
  /// Returns how many neighbouring channels are best read at once: their
  /// elements share cache lines.
  size_t numTogether() const { return inPlace ? 1 : kTogether; }

  /// Returns the rows of the channels `first` ... `first + count - 1`, one
  /// after the other: in place, or copied to `buffer`.
  llvm::ArrayRef<float> read(size_t first, size_t count,
                             std::vector<float> &buffer) const;

private:
  friend std::vector<float> gatherChannels(llvm::ArrayRef<float>,
                                           llvm::ArrayRef<int64_t>,
                                           llvm::ArrayRef<int64_t>);
  static constexpr size_t kTogether = 16;

  size_t getStart(size_t channel) const;
  /// Writes at most kTogether rows.
  void copy(size_t first, size_t count, float *rows) const;
  void copyTransposed(llvm::ArrayRef<size_t> starts, float *rows) const;

  llvm::ArrayRef<float> values;
  bool inPlace = true;
  size_t rowLength = 0;
  // Sizes of the channel axes and distances of their indices.
  llvm::SmallVector<std::pair<size_t, size_t>, 4> channelAxes;
  // Begin of each run of consecutive elements of a channel, relative to its
  // first element.
  std::vector<size_t> runs;
  size_t runLength = 0;
};

/// Returns the elements of each channel as one contiguous row, in memory order:
/// a row-major [channels, elements per channel] copy of the tensor.
std::vector<float> gatherChannels(llvm::ArrayRef<float> values,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> axes);

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_CHANNELS_H
