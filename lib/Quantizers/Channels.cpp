// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantizers/Channels.h"

#include "mct/Support/RowMajor.h"
#include "llvm/ADT/STLExtras.h"

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
  size_t elements = llvm::product_of(shape);
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

ChannelRows::ChannelRows(llvm::ArrayRef<float> values,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<int64_t> axes)
    : values(values) {
  size_t channels = channelCount(shape, axes);
  if (channels == 0 || values.empty())
    return;
  rowLength = values.size() / channels;
  // The channels are the outermost axes.
  inPlace = axes.empty() || size_t(axes.back()) + 1 == axes.size();
  if (inPlace)
    return;

  // The other axes, from the innermost one on; those after the last axis of
  // channels form one run.
  llvm::SmallVector<int64_t> strides = support::getRowMajorStrides(shape);
  llvm::SmallVector<int64_t, 4> sizes, distances;
  runLength = 1;
  for (size_t axis = 0; axis != shape.size(); ++axis)
    if (llvm::is_contained(axes, int64_t(axis)))
      channelAxes.push_back({size_t(shape[axis]), size_t(strides[axis])});
    else if (int64_t(axis) > axes.back())
      runLength *= shape[axis];
    else {
      sizes.push_back(shape[axis]);
      distances.push_back(strides[axis]);
    }
  support::forEachPosition<1>(sizes, {distances},
                              [&](auto at) { runs.push_back(at[0]); });
}

size_t ChannelRows::getStart(size_t channel) const {
  size_t start = 0;
  for (auto [size, distance] : llvm::reverse(channelAxes)) {
    start += channel % size * distance;
    channel /= size;
  }
  return start;
}

void ChannelRows::copyTransposed(llvm::ArrayRef<size_t> starts,
                                 float *rows) const {
  // Copy through a tile, because rows at distances of a power of two compete
  // for few lines of the cache.
  constexpr size_t kColumns = 16;
  float tile[kTogether][kColumns];
  for (size_t column = 0; column < runs.size(); column += kColumns) {
    size_t columns = std::min(kColumns, runs.size() - column);
    for (size_t i = 0; i < columns; ++i) {
      const float *from = values.data() + runs[column + i];
      for (size_t row = 0; row < starts.size(); ++row)
        tile[row][i] = from[starts[row]];
    }
    for (size_t row = 0; row < starts.size(); ++row)
      std::memcpy(rows + row * rowLength + column, tile[row],
                  columns * sizeof(float));
  }
}

void ChannelRows::copy(size_t first, size_t count, float *rows) const {
  size_t starts[kTogether];
  for (size_t row = 0; row < count; ++row)
    starts[row] = getStart(first + row);
  if (runLength == 1)
    return copyTransposed(llvm::ArrayRef(starts, count), rows);
  for (size_t row = 0; row < count; ++row)
    for (size_t begin : runs) {
      std::memcpy(rows, values.data() + starts[row] + begin,
                  runLength * sizeof(float));
      rows += runLength;
    }
}

llvm::ArrayRef<float> ChannelRows::read(size_t first, size_t count,
                                        std::vector<float> &buffer) const {
  if (inPlace)
    return values.slice(first * rowLength, count * rowLength);
  buffer.resize(count * rowLength);
  for (size_t row = 0; row < count; row += kTogether)
    copy(first + row, std::min(kTogether, count - row),
         buffer.data() + row * rowLength);
  return buffer;
}

std::vector<float> gatherChannels(llvm::ArrayRef<float> values,
                                  llvm::ArrayRef<int64_t> shape,
                                  llvm::ArrayRef<int64_t> axes) {
  ChannelRows rows(values, shape, axes);
  std::vector<float> gathered;
  llvm::ArrayRef<float> all =
      rows.read(0, rows.length() ? values.size() / rows.length() : 0, gathered);
  return rows.inPlace ? all.vec() : std::move(gathered);
}

} // namespace mct::quantization
