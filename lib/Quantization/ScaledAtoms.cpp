// SPDX-License-Identifier: Apache-2.0

#include "StepSearch.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

namespace mct::quantization {

namespace {

// Atoms are padded to whole vectors of floats.
constexpr size_t kPadding = 16;

/// Number of values below which a comparison sort is faster than counting
/// digits.
constexpr size_t kRadixSize = 64;

/// Number of values up to which few agree in the first digits.
constexpr size_t kInsertedSize = size_t(1) << 17;

/// Bits of a float in the order of the floats, neither NaN nor -0.
uint32_t getKey(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits ^ (bits >> 31 ? ~uint32_t(0) : uint32_t(1) << 31);
}

float valueOf(uint32_t key) {
  uint32_t bits = key ^ (key >> 31 ? uint32_t(1) << 31 : ~uint32_t(0));
  float value;
  std::memcpy(&value, &bits, sizeof(bits));
  return value;
}

/// Replaces the counts of digits by the positions where their keys begin.
void countToStarts(llvm::MutableArrayRef<uint32_t> counts) {
  uint32_t next = 0;
  for (uint32_t &count : counts)
    count = std::exchange(next, next + count);
}

/// Does the stable pass of a radix sort over `digitBits` bits from `shift` on.
void moveByDigit(llvm::ArrayRef<uint32_t> from, uint32_t *to, int shift,
                 int digitBits, uint32_t *starts) {
  uint32_t mask = (uint32_t(1) << digitBits) - 1;
  for (uint32_t key : from)
    to[starts[(key >> shift) & mask]++] = key;
}

/// Sorts keys, of which `spare` has as many, from the lowest digit on.
void sortByDigits(std::vector<uint32_t> &keys, std::vector<uint32_t> &spare,
                  int digitBits) {
  uint32_t mask = (uint32_t(1) << digitBits) - 1;
  std::vector<uint32_t> starts;
  for (int shift = 0; shift < 32; shift += digitBits) {
    starts.assign(size_t(1) << digitBits, 0);
    for (uint32_t key : keys)
      ++starts[(key >> shift) & mask];
    countToStarts(starts);
    moveByDigit(keys, spare.data(), shift, digitBits, starts.data());
    keys.swap(spare);
  }
}

/// Sorts keys that are almost sorted by inserting them. Returns false, with the
/// keys in any order, if that takes more than a few moves for each.
bool sortByInsertion(llvm::MutableArrayRef<uint32_t> keys) {
  size_t moves = 8 * keys.size();
  for (size_t i = 1; i < keys.size(); ++i) {
    uint32_t key = keys[i];
    if (keys[i - 1] <= key)
      continue;
    size_t place = i;
    for (; place > 0 && keys[place - 1] > key; --place)
      keys[place] = keys[place - 1];
    keys[place] = key;
    if (i - place > moves)
      return false;
    moves -= i - place;
  }
  return true;
}

/// Sorts floats that are neither NaN nor -0.
void sortFloats(std::vector<float> &values) {
  size_t count = values.size();
  if (count < kRadixSize) {
    std::sort(values.begin(), values.end());
    return;
  }
  // Wider digits need fewer passes and larger tables. Values that agree in the
  // two highest digits are few, as a rule, and inserting them is faster than
  // passes over the digits that are left.
  int digitBits = count < 2048 ? 8 : 11;
  int low = 32 - 2 * digitBits, high = 32 - digitBits;
  size_t size = size_t(1) << digitBits;
  std::vector<uint32_t> keys(count), spare(count), starts(2 * size);
  uint32_t *lowStarts = starts.data(), *highStarts = lowStarts + size;
  for (size_t i = 0; i < count; ++i) {
    uint32_t key = getKey(values[i]);
    keys[i] = key;
    ++lowStarts[(key >> low) & (size - 1)];
    ++highStarts[key >> high];
  }
  bool isSorted = false;
  if (count < kInsertedSize) {
    countToStarts({lowStarts, size});
    countToStarts({highStarts, size});
    moveByDigit(keys, spare.data(), low, digitBits, lowStarts);
    moveByDigit(spare, keys.data(), high, digitBits, highStarts);
    isSorted = sortByInsertion(keys);
  }
  if (!isSorted)
    sortByDigits(keys, spare, digitBits);
  for (size_t i = 0; i < count; ++i)
    values[i] = valueOf(keys[i]);
}

} // namespace

ScaledAtoms::ScaledAtoms(llvm::ArrayRef<float> values) {
  narrow.reserve(values.size() + kPadding);
  narrow.resize(values.size());
  bool allFinite = true;
  for (size_t i = 0; i < values.size(); ++i) {
    allFinite &= std::isfinite(values[i]);
    // Adding +0 turns -0 into +0.
    narrow[i] = values[i] + 0.0f;
  }
  if (!allFinite)
    llvm::erase_if(narrow, [](float value) { return !std::isfinite(value); });
  sortFloats(narrow);
  scaled.reserve(narrow.size() + kPadding);
  scaled.assign(narrow.begin(), narrow.end());
  finish();
}

ScaledAtoms::ScaledAtoms(llvm::ArrayRef<double> values,
                         llvm::ArrayRef<double> weights,
                         llvm::ArrayRef<double> widths)
    : scaled(values.begin(), values.end()) {
  if (llvm::any_of(weights, [](double w) { return w != 1; }))
    weight.assign(weights.begin(), weights.end());
  if (llvm::any_of(widths, [](double w) { return w != 0; }))
    width.assign(widths.begin(), widths.end());
  for (double &value : scaled)
    value += 0.0;
  auto key = [&](size_t i) {
    return std::tuple(scaled[i], weight.empty() ? 1.0 : weight[i],
                      width.empty() ? 0.0 : width[i]);
  };
  bool sorted = true;
  for (size_t i = 1; i < scaled.size(); ++i)
    sorted &= !(key(i) < key(i - 1));
  if (!sorted) {
    std::vector<size_t> order(scaled.size());
    std::iota(order.begin(), order.end(), size_t(0));
    llvm::sort(order, [&](size_t a, size_t b) { return key(a) < key(b); });
    for (std::vector<double> *column : {&scaled, &weight, &width}) {
      if (column->empty())
        continue;
      std::vector<double> ordered;
      ordered.reserve(order.size());
      for (size_t i : order)
        ordered.push_back((*column)[i]);
      column->swap(ordered);
    }
  }
  finish();
}

void ScaledAtoms::finish() {
  count = scaled.size();
  double largest =
      count > 0 ? std::max(std::fabs(scaled.front()), std::fabs(scaled.back()))
                : 0;
  scaleExponent = largest > 0 ? std::ilogb(largest) : 0;
  // Two factors: one alone overflows for values below 2^-1023.
  double half = std::ldexp(1.0, -(scaleExponent / 2));
  double rest = std::ldexp(1.0, -(scaleExponent - scaleExponent / 2));
  size_t padded = (count + kPadding - 1) / kPadding * kPadding;
  scaled.resize(padded, 0.0);
  narrow.resize(padded);
  for (size_t i = 0; i < padded; ++i) {
    scaled[i] = scaled[i] * half * rest;
    narrow[i] = static_cast<float>(scaled[i]);
  }
  for (double &w : width)
    w = w * half * rest;
  if (count > 0) {
    minimum = std::min(0.0, scaled[0]);
    maximum = std::max(0.0, scaled[count - 1]);
  }
  if (!weight.empty()) {
    double heaviest = *std::max_element(weight.begin(), weight.end());
    if (heaviest > 0)
      weightScale = std::ldexp(1.0, -std::ilogb(heaviest));
    weight.resize(padded, 0.0);
    narrowWeight.resize(padded);
    for (size_t i = 0; i < padded; ++i)
      narrowWeight[i] = static_cast<float>(weight[i] * weightScale);
    total = std::accumulate(weight.begin(), weight.end(), 0.0);
  } else {
    total = static_cast<double>(count);
  }
  // Several partial sums break the chain of dependent additions.
  constexpr size_t kSums = 8;
  double sums[kSums] = {};
  for (size_t i = 0; i < padded; i += kSums)
    for (size_t j = 0; j < kSums; ++j) {
      double square = scaled[i + j] * scaled[i + j];
      sums[j] += weight.empty() ? square : square * weight[i + j];
    }
  for (double sum : sums)
    sumOfSquares += sum;
}

double ScaledAtoms::largestMagnitude() const {
  return std::max(-minimum, maximum);
}

} // namespace mct::quantization
