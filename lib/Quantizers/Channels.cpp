// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantizers/Channels.h"

#include "mct/Support/RowMajor.h"

#include <algorithm>
#include <cstring>

namespace mct::quantization {

int64_t channelCount(llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<int64_t> axes) {
  int64_t count = 1;
  for (int64_t axis : axes)
    count *= shape[axis];
  return count;
}

void forEachChannelRun(
    llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> axes,
    llvm::function_ref<void(size_t, size_t, int64_t, int64_t)> visit) {
  size_t elements = 1;
  for (int64_t size : shape)
    elements *= size;
  if (elements == 0)
    return;
  if (axes.empty()) {
    visit(0, elements, 0, 0);
    return;
  }

  // The distance between channels of neighbouring indices, 0 for an axis that
  // does not select a channel.
  size_t rank = shape.size();
  llvm::SmallVector<int64_t> channelStride =
      support::getStridesAlong(shape, axes);

  // The innermost axes merge into one run: all that follow the last channel
  // axis, or, when that axis is itself the innermost, the channel axes that end
  // the shape.
  size_t outerRank = axes.back() + 1;
  bool trailing = outerRank == rank;
  size_t length = 1;
  if (trailing)
    while (outerRank > 0 && channelStride[outerRank - 1] != 0)
      length *= shape[--outerRank];
  else
    for (size_t axis = outerRank; axis < rank; ++axis)
      length *= shape[axis];

  size_t begin = 0;
  support::forEachPosition<1>(
      shape.take_front(outerRank), {channelStride}, [&](auto channel) {
        visit(begin, length, channel[0], trailing ? 1 : 0);
        begin += length;
      });
}

std::vector<float> gatherChannels(llvm::ArrayRef<float> values,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> axes) {
  std::vector<float> rows(values.size());
  int64_t channels = channelCount(shape, axes);
  if (values.empty())
    return rows;
  size_t rowLength = values.size() / channels;
  // Every run visits a channel once, and runs come in memory order.
  std::vector<size_t> next(channels);
  for (int64_t channel = 0; channel < channels; ++channel)
    next[channel] = channel * rowLength;
  forEachChannelRun(
      shape, axes,
      [&](size_t begin, size_t length, int64_t channel, int64_t channelStep) {
        if (channelStep == 0) {
          std::memcpy(&rows[next[channel]], &values[begin],
                      length * sizeof(float));
          next[channel] += length;
          return;
        }
        for (size_t i = 0; i < length; ++i)
          rows[next[channel + i]++] = values[begin + i];
      });
  return rows;
}

} // namespace mct::quantization
