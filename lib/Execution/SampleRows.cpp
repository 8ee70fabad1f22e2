// SPDX-License-Identifier: Apache-2.0
#include "SampleRows.h"
#include "mct/Support/RowMajor.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/bit.h"

#include <algorithm>
#include <cmath>

using namespace mct::execution;
using namespace mct::support;

/// One block at a time is read and converted, in memory that stays in the
/// cache.
static constexpr size_t kBlockBytes = 64 * 1024;

llvm::Error RowReader::gather() {
  gathered.resize(rows * rowElements * bytes);
  std::vector<char> column(rows * bytes);
  llvm::ArrayRef<int64_t> sizes = file.shape().drop_front();
  llvm::SmallVector<int64_t> strides{file.shape().front()};
  for (int64_t size : sizes.drop_back())
    strides.push_back(strides.back() * size);
  llvm::Error error = llvm::Error::success();
  int64_t element = 0;
  support::forEachPosition<1>(sizes, {strides}, [&](auto at) {
    if (error)
      return;
    error = file.read((firstRow + at[0]) * bytes, column.size(), column.data());
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(&gathered[(row * rowElements + element) * bytes],
                  &column[row * bytes], bytes);
    ++element;
  });
  return error;
}

static float fromHalf(uint16_t bits) {
  uint32_t sign = uint32_t(bits & 0x8000) << 16;
  uint32_t exponent = (bits >> 10) & 0x1f, mantissa = bits & 0x3ff;
  if (exponent == 0) {
    float value = std::ldexp(static_cast<float>(mantissa), -24);
    return sign ? -value : value;
  }
  uint32_t wide = exponent == 31 ? 0xff : exponent + 112;
  uint32_t result = sign | (wide << 23) | (mantissa << 13);
  float value;
  std::memcpy(&value, &result, sizeof(value));
  return value;
}

template <typename Stored, typename Convert>
static llvm::Error readAs(RowReader &rows, int64_t elements, float *to,
                          Convert toFloat) {
  constexpr int64_t kBlock = kBlockBytes / sizeof(Stored);
  alignas(64) Stored block[kBlock];
  for (int64_t begin = 0; begin < elements; begin += kBlock) {
    int64_t count = std::min(kBlock, elements - begin);
    if (llvm::Error error =
            rows.read(begin, count, reinterpret_cast<char *>(block)))
      return error;
    for (int64_t i = 0; i < count; ++i)
      to[begin + i] = toFloat(block[i]);
  }
  return llvm::Error::success();
}

llvm::Error mct::execution::readAsFloats(RowReader &rows, ElementType type,
                                         int64_t elements, float *to) {
  auto plain = [](auto value) { return static_cast<float>(value); };
  switch (type) {
  case ElementType::F16:
    return readAs<uint16_t>(rows, elements, to, fromHalf);
  case ElementType::I8:
    return readAs<int8_t>(rows, elements, to, plain);
  case ElementType::U8:
    return readAs<uint8_t>(rows, elements, to, plain);
  case ElementType::I16:
    return readAs<int16_t>(rows, elements, to, plain);
  case ElementType::U16:
    return readAs<uint16_t>(rows, elements, to, plain);
  case ElementType::I32:
    return readAs<int32_t>(rows, elements, to, plain);
  case ElementType::U32:
    return readAs<uint32_t>(rows, elements, to, plain);
  default:
    // `isConvertible` accepts no other type.
    return rows.read(0, elements, reinterpret_cast<char *>(to));
  }
}

/// Reorders the elements of each row for the network.
template <typename Element>
static void reorderAs(llvm::ArrayRef<int64_t> order, int64_t elements,
                      char *buffer) {
  auto *data = reinterpret_cast<Element *>(buffer);
  std::vector<Element> row(order.size());
  for (int64_t begin = 0; begin < elements;
       begin += static_cast<int64_t>(order.size())) {
    std::copy_n(data + begin, order.size(), row.begin());
    for (auto [to, from] : llvm::enumerate(order))
      data[begin + to] = row[from];
  }
}

void mct::execution::reorder(llvm::ArrayRef<int64_t> order, int64_t elements,
                             int64_t elementBytes, char *buffer) {
  if (order.empty())
    return;
  if (elementBytes == 1)
    reorderAs<uint8_t>(order, elements, buffer);
  else if (elementBytes == 2)
    reorderAs<uint16_t>(order, elements, buffer);
  else if (elementBytes == 4)
    reorderAs<uint32_t>(order, elements, buffer);
  else
    reorderAs<uint64_t>(order, elements, buffer);
}
