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

namespace {
/// Order in which a device reads kernels.
struct Reading {
  /// Number of input channels that are read consecutively for one position of
  /// the window; fewer are padded to a multiple of it.
  int64_t inputs;
  /// Numbers of input channels and positions to whose multiples kernels are
  /// padded if their window is read first. The last group of positions has at
  /// least `fewest`.
  int64_t windowInputs, windowPositions, fewest;
  /// Numbers of output channels and positions of depthwise kernels that are
  /// read together.
  int64_t depthwiseOutputs, depthwisePositions;
};
} // namespace

/// Number of input and of output channels of a block; inputs vary fastest.
static constexpr int64_t kBlock = 8;
/// Number of rows and of columns of the part of a window that is read as one.
static constexpr int64_t kWindow = 8;

static const Reading &getReading(WeightOrder order) {
  static constexpr Reading kEthosU55 = {32, 8, 4, 4, 8, 4};
  static constexpr Reading kEthosU85 = {64, 16, 5, 2, 16, 10};
  return order == WeightOrder::EthosU85 ? kEthosU85 : kEthosU55;
}

/// Returns whether the device reads a window position by position for few input
/// channels, which it prefers if that fills its units better.
static bool readsWindowFirst(const KernelCodes &kernel,
                             const Reading &reading) {
  int64_t positions = kernel.height * kernel.width;
  int64_t rest = positions % reading.windowPositions;
  int64_t taken =
      positions - rest + (rest ? std::max(rest, reading.fewest) : 0);
  double byInputs = double(kernel.inputs) /
                    double(llvm::alignTo(kernel.inputs, reading.inputs));
  double byWindow =
      double(kernel.inputs * positions) /
      double(llvm::alignTo(kernel.inputs, reading.windowInputs) * taken);
  return byWindow >= byInputs || kernel.inputs <= kBlock;
}

/// Returns the positions of each part of the window. They are filled up to a
/// multiple of `group` by positions that do not exist, of -1.
static std::vector<std::vector<int64_t>> findParts(const KernelCodes &kernel,
                                                   int64_t group) {
  std::vector<std::vector<int64_t>> parts;
  for (int64_t top = 0; top < kernel.height; top += kWindow)
    for (int64_t left = 0; left < kernel.width; left += kWindow) {
      std::vector<int64_t> &part = parts.emplace_back();
      for (int64_t y = top; y != std::min(top + kWindow, kernel.height); ++y)
        for (int64_t x = left; x != std::min(left + kWindow, kernel.width); ++x)
          part.push_back(y * kernel.width + x);
      part.resize(llvm::alignTo(part.size(), group), -1);
    }
  return parts;
}

std::vector<int16_t>
mct::quantization::orderForDevice(const KernelCodes &kernel,
                                  WeightOrder order) {
  const Reading &reading = getReading(order);
  const int64_t positions = kernel.height * kernel.width;
  std::vector<int16_t> stream;
  auto add = [&](int64_t output, int64_t position, int64_t input) {
    bool exists =
        output < kernel.outputs && position >= 0 && input < kernel.inputs;
    stream.push_back(
        exists ? kernel.codes[(output * positions + position) * kernel.inputs +
                              input]
               : int16_t(0));
  };
  if (kernel.isDepthwise) {
    auto parts = findParts(kernel, reading.depthwisePositions);
    for (int64_t output = 0; output < kernel.outputs;
         output += reading.depthwiseOutputs)
      for (const std::vector<int64_t> &part : parts)
        for (int64_t position : part)
          for (int64_t o = 0; o != reading.depthwiseOutputs; ++o)
            add(output + o, position, 0);
    return stream;
  }
  bool isWindowFirst = readsWindowFirst(kernel, reading);
  int64_t together = isWindowFirst ? reading.windowInputs : reading.inputs;
  auto parts = findParts(kernel, isWindowFirst ? reading.windowPositions : 1);
  for (int64_t first = 0; first < kernel.inputs; first += together)
    for (const std::vector<int64_t> &part : parts)
      for (int64_t output = 0; output < kernel.outputs; output += kBlock)
        for (int64_t position : part)
          for (int64_t input = first; input != first + together;
               input += kBlock)
            for (int64_t o = output; o != output + kBlock; ++o)
              for (int64_t i = input; i != input + kBlock; ++i)
                add(o, position, i);
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

/// Returns the bits of the lengths of runs of zeros. Each of four divisors can
/// code any length, and the encoder compares what they have taken since the
/// start of the stream: it hardly changes them.
static int64_t getRunBits(ArrayRef<int> runs) {
  int64_t least = kNever;
  for (int divisor = 0; divisor != 4; ++divisor) {
    int64_t bits = 0;
    for (int zeros : runs)
      bits += int64_t(zeros >> divisor) + 1 + divisor;
    least = std::min(least, bits);
  }
  return least;
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
  bits += getRunBits(runs);
  int64_t slices =
      std::max<int64_t>(1, llvm::divideCeil(written.size(), kLongestSlice));
  // The end of a stream is filled up to 16 bytes.
  return llvm::alignTo(bits + symbols.headBits + slices * kSliceBits + 3, 128);
}

int64_t mct::quantization::estimateEncodedBits(const KernelCodes &kernel,
                                               WeightOrder order) {
  return estimateEncodedBits(orderForDevice(kernel, order));
}
