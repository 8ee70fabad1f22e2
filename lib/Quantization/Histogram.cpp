// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/Histogram.h"

#include "BlockRange.h"
#include "mct/Quantizers/Simd.h"

#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cmath>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace mct::quantization {

namespace {

constexpr int kHalf = Histogram::kBins / 2;
constexpr int kHalfExponent = llvm::ConstantLog2<kHalf>();
/// Slot of zeros in the tables, in addition to the bins.
constexpr int kZeroSlot = Histogram::kBins;
/// A block stays in the first-level cache between the passes over it.
constexpr size_t kValuesPerBlock = 4096;
/// Length below which calls count into the histogram itself: adding the tables
/// would cost more than they save.
constexpr size_t kDirect = 16384;
/// Elements after which the 32-bit tables are added up.
constexpr size_t kFlushInterval = size_t(1) << 30;
/// Neighbouring values often share a bin, and increments of one counter wait
/// for each other, so neighbours are counted in different tables.
constexpr int kTables = 2;
/// Shift from which on every bin lands beside zero.
constexpr int kLargestShift = kHalfExponent + 1;

int exponentFor(float magnitude) {
  return magnitude > 0
             ? std::max(std::ilogb(magnitude) + 1, Histogram::kMinExponent)
             : Histogram::kMinExponent;
}

/// Multiplying by the scale is exact unless the product is subnormal. A
/// subnormal product belongs beside zero, but a negative one may round to -0,
/// whose floor is in the bin on the other side.
constexpr float kNegativeFloor = -std::numeric_limits<float>::min();

inline int32_t getSlot(float value, float scale) {
  if (value == 0)
    return kZeroSlot;
  float scaled = value * scale;
  if (value < 0)
    scaled = std::min(scaled, kNegativeFloor);
  // Truncation and a correction: floor is a call without SSE4.1.
  int32_t truncated = static_cast<int32_t>(scaled);
  return truncated - (scaled < static_cast<float>(truncated)) + kHalf;
}

/// Slots of finite values, zeros at kZeroSlot.
MCT_VECTOR_BODY void slotsBody(const float *data, size_t count, float scale,
                               int32_t *slots) {
  const Float16 zero{}, factor = zero + scale, floor = zero + kNegativeFloor;
  const Int16x32 half = Int16x32{} + kHalf, zeroSlot = Int16x32{} + kZeroSlot;
  size_t i = 0;
  for (; i + 16 <= count; i += 16) {
    Float16 x = loadVector<Float16>(data + i);
    Float16 scaled = x * factor;
    Float16 capped = scaled < floor ? scaled : floor;
    scaled = x < zero ? capped : scaled;
    Int16x32 truncated = __builtin_convertvector(scaled, Int16x32);
    // The result of a true vector comparison is -1.
    Int16x32 below = scaled < __builtin_convertvector(truncated, Float16);
    Int16x32 slot = truncated + below + half;
    slot = x == zero ? zeroSlot : slot;
    storeVector(slots + i, slot);
  }
  for (; i < count; ++i)
    slots[i] = getSlot(data[i], scale);
}

size_t slotsPortable(const float *data, size_t count, float scale,
                     int32_t *slots) {
  slotsBody(data, count, scale, slots);
  return count;
}

#if defined(__x86_64__)
MCT_TARGET_AVX2 size_t slotsAvx2(const float *data, size_t count, float scale,
                                 int32_t *slots) {
  slotsBody(data, count, scale, slots);
  return count;
}

/// Counts as the others, but zeros are left out: after a ReLU they are half the
/// data and would all wait for one counter.
MCT_TARGET_AVX512 size_t slotsAvx512(const float *data, size_t count,
                                     float scale, int32_t *slots) {
  const __m512 factor = _mm512_set1_ps(scale), zero = _mm512_setzero_ps(),
               floor = _mm512_set1_ps(kNegativeFloor);
  const __m512i half = _mm512_set1_epi32(kHalf);
  size_t written = 0, i = 0;
  for (; i + 16 <= count; i += 16) {
    __m512 x = _mm512_loadu_ps(data + i);
    __mmask16 nonZero = _mm512_cmp_ps_mask(x, zero, _CMP_NEQ_UQ);
    __mmask16 negative = _mm512_cmp_ps_mask(x, zero, _CMP_LT_OQ);
    __m512 scaled = _mm512_mul_ps(x, factor);
    scaled = _mm512_mask_min_ps(scaled, negative, scaled, floor);
    __m512i slot = _mm512_cvt_roundps_epi32(scaled, _MM_FROUND_TO_NEG_INF |
                                                        _MM_FROUND_NO_EXC);
    slot = _mm512_add_epi32(slot, half);
    // On some processors, compressing to a register and storing all of it is
    // faster than the compressing store; `slots` has room for it.
    _mm512_storeu_si512(slots + written,
                        _mm512_maskz_compress_epi32(nonZero, slot));
    written += llvm::popcount(static_cast<uint32_t>(nonZero));
  }
  for (; i < count; ++i)
    if (data[i] != 0)
      slots[written++] = getSlot(data[i], scale);
  return written;
}
#endif

/// Writes a slot per value and returns how many it wrote; values without one
/// are zeros.
size_t computeSlots(const float *data, size_t count, float scale,
                    int32_t *slots) {
#if defined(__x86_64__)
  switch (instructionSet()) {
  case InstructionSet::AVX512VNNI:
  case InstructionSet::AVX512:
    return slotsAvx512(data, count, scale, slots);
  case InstructionSet::AVX2:
    return slotsAvx2(data, count, scale, slots);
  case InstructionSet::Portable:
    break;
  }
#endif
  return slotsPortable(data, count, scale, slots);
}

} // namespace

struct HistogramScratch::Tables {
  alignas(64) uint32_t counts[kTables][Histogram::kBins + 16] = {};
  alignas(64) int32_t slots[kValuesPerBlock + 16];
  alignas(64) float finite[kValuesPerBlock];
  bool dirty = false;
};

HistogramScratch::HistogramScratch() : tables(std::make_unique<Tables>()) {}
HistogramScratch::~HistogramScratch() = default;
HistogramScratch::HistogramScratch(HistogramScratch &&) = default;
HistogramScratch &HistogramScratch::operator=(HistogramScratch &&) = default;

double Histogram::binWidth() const {
  return std::ldexp(1.0, rangeExponent - kHalfExponent);
}

double Histogram::binEdge(int bin) const { return (bin - kHalf) * binWidth(); }

void Histogram::addFolded(llvm::ArrayRef<uint64_t> other, int shift) {
  shift = std::min(shift, kLargestShift);
  for (int i = 0; i < kBins; ++i)
    bins[((i - kHalf) >> shift) + kHalf] += other[i];
}

void Histogram::widenTo(int newExponent) {
  if (bins.empty()) {
    bins.assign(kBins, 0);
  } else if (newExponent > rangeExponent) {
    std::vector<uint64_t> old(kBins, 0);
    old.swap(bins);
    addFolded(old, newExponent - rangeExponent);
  }
  rangeExponent = std::max(rangeExponent, newExponent);
}

void Histogram::flush(HistogramScratch &scratch) {
  HistogramScratch::Tables &tables = *scratch.tables;
  if (!tables.dirty)
    return;
  for (auto &table : tables.counts) {
    for (int i = 0; i < kBins; ++i)
      bins[i] += table[i];
    zeroCount += table[kZeroSlot];
    std::fill(std::begin(table), std::end(table), 0);
  }
  tables.dirty = false;
}

void Histogram::addRange(float low, float high, HistogramScratch &scratch) {
  // Adding +0 makes a minimum or maximum of -0 the same as one of +0.
  minimum = std::min(minimum, low + 0.0f);
  maximum = std::max(maximum, high + 0.0f);
  float magnitude = std::max(-low, high);
  if (magnitude == 0)
    return;
  int exponent = exponentFor(magnitude);
  if (bins.empty() || exponent > rangeExponent) {
    flush(scratch);
    widenTo(exponent);
  }
}

void Histogram::observeBlock(const float *data, size_t count, bool direct,
                             HistogramScratch &scratch) {
  HistogramScratch::Tables &tables = *scratch.tables;
  BlockRange range = blockRange(data, count);
  if (!range.allFinite()) {
    size_t finite = 0;
    for (size_t i = 0; i < count; ++i)
      if (std::isfinite(data[i]))
        tables.finite[finite++] = data[i];
    nonFiniteCount += count - finite;
    if (finite == 0)
      return;
    data = tables.finite;
    count = finite;
    range = blockRange(data, count);
  }
  finiteCount += count;
  addRange(range.min, range.max, scratch);
  if (range.largestBits == 0) {
    zeroCount += count;
    return;
  }

  float scale = std::ldexp(1.0f, kHalfExponent - rangeExponent);
  size_t written = computeSlots(data, count, scale, tables.slots);
  zeroCount += count - written;
  const int32_t *slots = tables.slots;
  if (direct) {
    for (size_t i = 0; i < written; ++i) {
      if (slots[i] == kZeroSlot)
        ++zeroCount;
      else
        ++bins[slots[i]];
    }
    return;
  }
  tables.dirty = true;
  uint32_t *table0 = tables.counts[0], *table1 = tables.counts[1];
  size_t i = 0;
  for (; i + 4 <= written; i += 4) {
    // Two slots in one load.
    uint64_t low, high;
    std::memcpy(&low, slots + i, sizeof(low));
    std::memcpy(&high, slots + i + 2, sizeof(high));
    ++table0[static_cast<uint32_t>(low)];
    ++table1[low >> 32];
    ++table0[static_cast<uint32_t>(high)];
    ++table1[high >> 32];
  }
  for (; i < written; ++i)
    ++table0[slots[i]];
}

void Histogram::observe(const float *data, size_t count,
                        HistogramScratch &scratch) {
  bool direct = count < kDirect;
  for (size_t begin = 0; begin < count; begin += kValuesPerBlock) {
    observeBlock(data + begin, std::min(kValuesPerBlock, count - begin), direct,
                 scratch);
    if (begin % kFlushInterval == kFlushInterval - kValuesPerBlock)
      flush(scratch);
  }
  flush(scratch);
}

void Histogram::merge(const Histogram &other) {
  minimum = std::min(minimum, other.minimum);
  maximum = std::max(maximum, other.maximum);
  finiteCount += other.finiteCount;
  zeroCount += other.zeroCount;
  nonFiniteCount += other.nonFiniteCount;
  if (other.bins.empty())
    return;
  // Copied, because a histogram may be merged with itself.
  std::vector<uint64_t> added = other.bins;
  int addedExponent = other.rangeExponent;
  widenTo(addedExponent);
  addFolded(added, rangeExponent - addedExponent);
}

bool Histogram::operator==(const Histogram &other) const {
  return minimum == other.minimum && maximum == other.maximum &&
         rangeExponent == other.rangeExponent &&
         finiteCount == other.finiteCount && zeroCount == other.zeroCount &&
         nonFiniteCount == other.nonFiniteCount && bins == other.bins;
}

Histogram::Parts Histogram::parts() const {
  Parts parts;
  parts.min = minimum;
  parts.max = maximum;
  parts.zeros = zeroCount;
  parts.nonFinite = nonFiniteCount;
  parts.exponent = rangeExponent;
  int first = 0, last = static_cast<int>(bins.size());
  while (first < last && bins[first] == 0)
    ++first;
  while (last > first && bins[last - 1] == 0)
    --last;
  if (first < last) {
    parts.firstBin = first;
    parts.counts.assign(bins.begin() + first, bins.begin() + last);
  }
  return parts;
}

llvm::Expected<Histogram> Histogram::fromParts(const Parts &parts) {
  auto invalid = [](const char *reason) {
    return llvm::createStringError("invalid histogram: %s", reason);
  };
  Histogram result;
  result.zeroCount = parts.zeros;
  result.finiteCount = parts.zeros;
  result.nonFiniteCount = parts.nonFinite;
  result.minimum = parts.min;
  result.maximum = parts.max;

  int runLength =
      static_cast<int>(std::min<size_t>(parts.counts.size(), kBins + 1));
  if (parts.firstBin < 0 || runLength > kBins ||
      parts.firstBin > kBins - runLength)
    return invalid("counts outside of the bins");
  for (uint64_t count : parts.counts) {
    if (count > std::numeric_limits<uint64_t>::max() - result.finiteCount)
      return invalid("the counts overflow");
    result.finiteCount += count;
  }
  bool hasBins = result.finiteCount > parts.zeros;
  if (result.finiteCount == 0) {
    // The defaults of an empty histogram.
    if (!(parts.min > parts.max) || !std::isinf(parts.min) ||
        !std::isinf(parts.max))
      return invalid("a range without a value");
    if (parts.exponent != kMinExponent)
      return invalid("the exponent does not follow from the range");
    return result;
  }
  if (!std::isfinite(parts.min) || !std::isfinite(parts.max) ||
      parts.min > parts.max)
    return invalid("minimum and maximum are not a range");
  float magnitude = std::max(-parts.min, parts.max);
  if (parts.exponent != exponentFor(magnitude))
    return invalid("the exponent does not follow from the range");
  result.rangeExponent = parts.exponent;
  if ((magnitude > 0) != hasBins)
    return invalid("counts and range disagree");
  if (parts.zeros > 0 && (parts.min > 0 || parts.max < 0))
    return invalid("zeros outside of the range");
  // Adding zero turns -0 into 0, as `observe` does.
  result.minimum += 0.0f;
  result.maximum += 0.0f;
  if (!hasBins)
    return result;

  result.bins.assign(kBins, 0);
  std::copy(parts.counts.begin(), parts.counts.end(),
            result.bins.begin() + parts.firstBin);
  int first = 0, last = kBins - 1;
  while (result.bins[first] == 0)
    ++first;
  while (result.bins[last] == 0)
    --last;
  float scale = std::ldexp(1.0f, kHalfExponent - parts.exponent);
  bool minimumFits = parts.min == 0 ? parts.zeros > 0 && first >= kHalf
                                    : getSlot(parts.min, scale) == first;
  bool maximumFits = parts.max == 0 ? parts.zeros > 0 && last < kHalf
                                    : getSlot(parts.max, scale) == last;
  if (!minimumFits || !maximumFits)
    return invalid("minimum or maximum is not in an outer populated bin");
  return result;
}

} // namespace mct::quantization
