// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/WeightCoding.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <limits>

using namespace mct::quantization;
using llvm::ArrayRef;

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

static constexpr int64_t kBlock = 8;
/// Input channels that are read consecutively for one position of the window,
/// and positions that are read together.
static constexpr int64_t kInputs = 32, kPositions = 4;

/// Returns whether the device reads a window position by position for few input
/// channels, which it prefers if that fills its units better.
static bool readsWindowFirst(const KernelCodes &kernel) {
  double byInputs =
      double(kernel.inputs) / double(llvm::alignTo(kernel.inputs, kInputs));
  double byWindow = double(kernel.inputs * kernel.positions) /
                    double(llvm::alignTo(kernel.inputs, kBlock) *
                           llvm::alignTo(kernel.positions, kPositions));
  return byWindow >= byInputs || kernel.inputs <= kBlock;
}

std::vector<int16_t>
mct::quantization::orderForDevice(const KernelCodes &kernel) {
  std::vector<int16_t> stream;
  auto add = [&](int64_t output, int64_t position, int64_t input) {
    bool exists = output < kernel.outputs && position < kernel.positions &&
                  input < kernel.inputs;
    stream.push_back(exists
                         ? kernel.codes[(output * kernel.positions + position) *
                                            kernel.inputs +
                                        input]
                         : int16_t(0));
  };
  auto addBlock = [&](int64_t output, int64_t position, int64_t input) {
    for (int64_t o = output; o != output + kBlock; ++o)
      for (int64_t i = input; i != input + kBlock; ++i)
        add(o, position, i);
  };
  if (kernel.isDepthwise) {
    int64_t positions = llvm::alignTo(kernel.positions, kPositions);
    for (int64_t output = 0; output < kernel.outputs; output += kBlock)
      for (int64_t position = 0; position != positions; ++position)
        for (int64_t o = output; o != output + kBlock; ++o)
          add(o, position, 0);
    return stream;
  }
  if (readsWindowFirst(kernel)) {
    int64_t positions = llvm::alignTo(kernel.positions, kPositions);
    for (int64_t input = 0; input < kernel.inputs; input += kBlock)
      for (int64_t output = 0; output < kernel.outputs; output += kBlock)
        for (int64_t position = 0; position != positions; ++position)
          addBlock(output, position, input);
    return stream;
  }
  for (int64_t first = 0; first < kernel.inputs; first += kInputs)
    for (int64_t output = 0; output < kernel.outputs; output += kBlock)
      for (int64_t position = 0; position != kernel.positions; ++position)
        for (int64_t input = first; input != first + kInputs; input += kBlock)
          addBlock(output, position, input);
  return stream;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

static constexpr int kLargest = 255;
static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;
/// Bits of the header of a slice, the cost that the encoder assumes for another
/// slice, and the bits of the header of the palette.
static constexpr int64_t kSliceBits = 23, kChangeBits = 40, kPaletteBits = 13;
static constexpr int64_t kLongestSlice = 1 << 15;

namespace {
/// Number of occurrences of each code, and of consecutive zeros.
struct CodeCounts {
  std::array<int64_t, 2 * kLargest + 1> counts{};
  int64_t total = 0;
  int64_t zeros = 0;
  int64_t zerosInRuns = 0;

  explicit CodeCounts(ArrayRef<int16_t> stream);
  int64_t of(int code) const { return counts[code + kLargest]; }
  /// True if zeros are counted instead of written, because they are by far the
  /// most frequent code, and occur in runs.
  bool takesRuns() const;
};

/// The symbol that is written for each code.
struct Symbols {
  std::array<int, 2 * kLargest + 1> symbols{};
  int64_t headBits = kPaletteBits;
  /// Bits of a symbol without a Golomb-Rice code; 0 if symbols need one.
  int plainBits = 0;

  Symbols(const CodeCounts &counts, bool withoutZero);
  int of(int code) const { return symbols[code + kLargest]; }
};
} // namespace

CodeCounts::CodeCounts(ArrayRef<int16_t> stream) : total(stream.size()) {
  int64_t run = 0;
  auto endRun = [&] {
    zerosInRuns += run >= 2 ? run : 0;
    run = 0;
  };
  for (int16_t code : stream) {
    assert(std::abs(code) <= kLargest && "codes have 9 bits");
    ++counts[code + kLargest];
    if (code == 0)
      ++run;
    else
      endRun();
  }
  endRun();
  zeros = of(0);
}

bool CodeCounts::takesRuns() const {
  int64_t most = 0;
  for (int code = -kLargest; code <= kLargest; ++code)
    if (code != 0)
      most = std::max(most, of(code));
  return zerosInRuns >= zeros / 2 && zeros > 5 * most;
}

/// Returns the position of a code in the sequence 0, 1, -1, 2, -2 and so on.
static int getPlace(int code) { return 2 * std::abs(code) + (code < 0); }

Symbols::Symbols(const CodeCounts &counts, bool withoutZero) {
  constexpr size_t kPalette = 32;
  std::vector<int> used;
  int64_t all = 0;
  int largest = 0;
  for (int code = -kLargest; code <= kLargest; ++code) {
    if (counts.of(code) == 0 || (code == 0 && withoutZero))
      continue;
    used.push_back(code);
    all += counts.of(code);
    largest = std::max(largest, getPlace(code));
  }
  // Frequent codes become small symbols.
  std::sort(used.begin(), used.end(), [&](int lhs, int rhs) {
    return std::pair(-counts.of(lhs), -getPlace(lhs)) <
           std::pair(-counts.of(rhs), -getPlace(rhs));
  });
  int offset = largest;
  for (int code : used)
    offset = std::min(offset, getPlace(code));
  bool isPaletteOnly = used.size() <= kPalette;
  size_t size = std::min<size_t>(
      used.size(),
      isPaletteOnly ? kPalette : std::min<int>(kPalette, 511 - largest));
  int64_t inPalette = 0;
  int widest = 0;
  for (size_t i = 0; i != size; ++i) {
    inPalette += counts.of(used[i]);
    widest = std::max(widest, getPlace(used[i]));
  }
  if (size < 2 || inPalette < all / 2) {
    size = 0;
    widest = largest;
  }
  int bits = std::max(2, int(llvm::Log2_32_Ceil(uint32_t(widest) + 1)));
  for (int code = -kLargest; code <= kLargest; ++code)
    symbols[code + kLargest] =
        int(size) - offset + getPlace(code) + (code == 0);
  for (size_t i = 0; i != size; ++i)
    symbols[used[i] + kLargest] = int(i);
  headBits += int64_t(size) * bits;
  if (size == 0)
    plainBits = bits;
  else if (isPaletteOnly)
    plainBits = int(llvm::Log2_32_Ceil(uint32_t(size)));
}

/// Returns the least bits of a sequence of numbers if each slice has one of
/// several codes; `bitsOf(value, code)` is the length of a number.
template <size_t numCodes, typename BitsOf>
static int64_t findLeastBits(ArrayRef<int> values, BitsOf bitsOf) {
  std::array<int64_t, numCodes> least{};
  int64_t best = 0;
  for (int value : values) {
    int64_t next = kNever;
    for (size_t code = 0; code != numCodes; ++code) {
      least[code] = std::min(least[code], best + kChangeBits);
      least[code] = std::min(kNever, least[code] + bitsOf(value, code));
      next = std::min(next, least[code]);
    }
    best = next;
  }
  return best;
}

/// Returns the bits of a symbol under one of 13 codes: six Golomb-Rice codes,
/// these with quotients of at most 2, and none.
static int64_t getSymbolBits(int symbol, size_t code, int plainBits) {
  if (code == 12)
    return plainBits ? plainBits : kNever;
  int divisor = int(code % 6), quotient = symbol >> divisor;
  if (code < 6)
    return quotient <= 31 ? quotient + 1 + divisor : kNever;
  return quotient <= 2 ? std::min(quotient + 1, 2) + divisor : kNever;
}

int64_t mct::quantization::estimateEncodedBits(ArrayRef<int16_t> stream) {
  if (stream.empty())
    return 0;
  CodeCounts counts(stream);
  bool takesRuns = counts.takesRuns();
  Symbols symbols(counts, takesRuns);
  std::vector<int> written, runs;
  int run = 0;
  for (int16_t code : stream) {
    if (takesRuns && code == 0) {
      ++run;
      continue;
    }
    if (takesRuns)
      runs.push_back(run);
    run = 0;
    written.push_back(symbols.of(code));
  }
  if (takesRuns)
    runs.push_back(run);
  std::vector<std::array<int64_t, 13>> lengths(2 * (kLargest + 1) + 32);
  for (size_t symbol = 0; symbol != lengths.size(); ++symbol)
    for (size_t code = 0; code != 13; ++code)
      lengths[symbol][code] =
          getSymbolBits(int(symbol), code, symbols.plainBits);
  int64_t bits = findLeastBits<13>(
      written, [&](int symbol, size_t code) { return lengths[symbol][code]; });
  bits += findLeastBits<4>(runs, [](int zeros, size_t divisor) {
    return int64_t(zeros >> divisor) + 1 + int64_t(divisor);
  });
  int64_t slices =
      std::max<int64_t>(1, llvm::divideCeil(written.size(), kLongestSlice));
  // The end of a stream is filled up to 16 bytes.
  return llvm::alignTo(bits + symbols.headBits + slices * kSliceBits + 3, 128);
}

int64_t mct::quantization::estimateEncodedBits(const KernelCodes &kernel) {
  return estimateEncodedBits(orderForDevice(kernel));
}
