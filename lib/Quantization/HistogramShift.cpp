// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/HistogramShift.h"

#include "llvm/Support/Error.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mct::quantization {

namespace {

constexpr int kFirstPositiveBin = Histogram::kBins / 2;

/// Returns the bin of a value for a range of this exponent, as Histogram counts
/// it.
int getBin(double value, int exponent) {
  int logBins = std::ilogb(double(Histogram::kBins));
  double bin =
      std::floor(std::ldexp(value, logBins - exponent - 1)) + kFirstPositiveBin;
  return static_cast<int>(
      std::clamp(bin, 0.0, static_cast<double>(Histogram::kBins - 1)));
}

int exponentFor(double magnitude) {
  return magnitude > 0
             ? std::max(std::ilogb(magnitude) + 1, Histogram::kMinExponent)
             : Histogram::kMinExponent;
}

/// Counts of a histogram that is being rebuilt.
class Rebuilt {
public:
  Rebuilt(float minimum, float maximum) {
    parts.min = minimum;
    parts.max = maximum;
    parts.exponent = exponentFor(std::max(-double(minimum), double(maximum)));
    // A value of zero is in no bin.
    first = minimum == 0 ? kFirstPositiveBin : getBin(minimum, parts.exponent);
    last =
        maximum == 0 ? kFirstPositiveBin - 1 : getBin(maximum, parts.exponent);
    counts.assign(Histogram::kBins, 0);
  }

  /// Adds `count` values spread evenly over [left, right).
  void add(double left, double right, uint64_t count) {
    int begin = clampBin(getBin(left, parts.exponent));
    // The right edge is not part of the interval.
    double width = std::ldexp(2.0 / Histogram::kBins, parts.exponent);
    int end = clampBin(getBin(right, parts.exponent));
    if (end > begin && right <= (end - kFirstPositiveBin) * width)
      --end;
    uint64_t remaining = count;
    for (int bin = begin; bin < end; ++bin) {
      double edge = (bin + 1 - kFirstPositiveBin) * width;
      double share = std::clamp((edge - left) / (right - left), 0.0, 1.0);
      uint64_t part = std::min(
          remaining, uint64_t(std::nearbyint(share * double(remaining))));
      counts[bin] += part;
      remaining -= part;
      left = std::max(left, edge);
    }
    counts[end] += remaining;
  }

  Histogram finish() && {
    // The extremes are observed values, so their bins cannot be empty.
    if (parts.max == 0)
      takeForZero(/*fromTop=*/true);
    else if (counts[last] == 0)
      moveTo(last, /*fromTop=*/true);
    if (parts.min == 0)
      takeForZero(/*fromTop=*/false);
    else if (counts[first] == 0)
      moveTo(first, /*fromTop=*/false);
    auto populated = [](uint64_t count) { return count != 0; };
    auto begin = std::find_if(counts.begin(), counts.end(), populated);
    auto end = std::find_if(counts.rbegin(), counts.rend(), populated).base();
    if (begin < end) {
      parts.firstBin = static_cast<int>(begin - counts.begin());
      parts.counts.assign(begin, end);
    }
    return llvm::cantFail(Histogram::fromParts(parts));
  }

  Histogram::Parts parts;

private:
  int clampBin(int bin) const { return std::clamp(bin, first, last); }

  uint64_t *outermost(bool fromTop) {
    for (int i = 0; i != Histogram::kBins; ++i) {
      uint64_t &count = counts[fromTop ? Histogram::kBins - 1 - i : i];
      if (count != 0)
        return &count;
    }
    return nullptr;
  }
  void moveTo(int bin, bool fromTop) {
    if (uint64_t *count = outermost(fromTop)) {
      --*count;
      ++counts[bin];
    }
  }
  void takeForZero(bool fromTop) {
    if (uint64_t *count = outermost(fromTop)) {
      --*count;
      ++parts.zeros;
    }
  }

  int first, last;
  std::vector<uint64_t> counts;
};

} // namespace

std::vector<Atom> getAtoms(const Histogram &histogram) {
  std::vector<Atom> atoms;
  auto add = [&](double value, uint64_t count) {
    if (count != 0)
      atoms.push_back({value, static_cast<double>(count)});
  };
  double lo = histogram.min(), hi = histogram.max();
  uint64_t atMin = lo != 0, atMax = hi != 0 && hi != lo;
  uint64_t binned = histogram.count() - histogram.zeros();
  llvm::ArrayRef<uint64_t> counts = histogram.counts();
  bool isFirst = true;
  for (int bin = 0, e = static_cast<int>(counts.size()); bin < e; ++bin) {
    uint64_t count = counts[bin];
    if (count == 0)
      continue;
    uint64_t least = isFirst ? atMin : 0;
    isFirst = false;
    binned -= count;
    uint64_t most = binned == 0 ? atMax : 0;
    add(lo, least);
    add(0.5 * (std::max(lo, histogram.binEdge(bin)) +
               std::min(hi, histogram.binEdge(bin + 1))),
        count - least - most);
    add(hi, most);
  }
  add(0.0, histogram.zeros());
  return atoms;
}

std::vector<Atom> shiftAtoms(llvm::ArrayRef<Atom> atoms, double offset) {
  std::vector<Atom> shifted(atoms.begin(), atoms.end());
  for (Atom &atom : shifted)
    atom.value += offset;
  return shifted;
}

double meanSquaredError(llvm::ArrayRef<Atom> atoms, const Grid &grid) {
  double error = 0, weight = 0;
  for (const Atom &atom : atoms) {
    double level =
        std::clamp(std::nearbyint(atom.value / grid.step) + grid.zeroPoint,
                   double(grid.qmin), double(grid.qmax));
    double difference = atom.value - grid.step * (level - grid.zeroPoint);
    error += atom.weight * difference * difference;
    weight += atom.weight;
  }
  return weight > 0 ? error / weight : 0.0;
}

Histogram shiftHistogram(const Histogram &histogram, double offset) {
  if (histogram.empty() || offset == 0)
    return histogram;
  float minimum = static_cast<float>(histogram.min() + offset) + 0.0f;
  float maximum = static_cast<float>(histogram.max() + offset) + 0.0f;
  Rebuilt rebuilt(minimum, maximum);
  rebuilt.parts.nonFinite = histogram.nonFinite();
  if (minimum == maximum) {
    // All values are equal, so they are all in one bin, or all zero.
    if (minimum == 0)
      rebuilt.parts.zeros = histogram.count();
    else
      rebuilt.add(minimum, minimum, histogram.count());
    return std::move(rebuilt).finish();
  }
  llvm::ArrayRef<uint64_t> counts = histogram.counts();
  for (int bin = 0, e = static_cast<int>(counts.size()); bin < e; ++bin)
    if (counts[bin] != 0)
      rebuilt.add(histogram.binEdge(bin) + offset,
                  histogram.binEdge(bin + 1) + offset, counts[bin]);
  if (histogram.zeros() != 0)
    rebuilt.add(offset, offset, histogram.zeros());
  return std::move(rebuilt).finish();
}

/// Returns the smallest threshold of an unsigned symmetric grid on which some
/// shift lifts `minimum` to zero and leaves `maximum` below the last level;
/// infinite if there are too few levels.
static double coveringThreshold(double minimum, double maximum, unsigned bits) {
  double levels = std::ldexp(1.0, static_cast<int>(bits));
  double best = std::numeric_limits<double>::infinity();
  // A shift by k steps requires k * step >= -minimum and maximum + k * step <=
  // (levels - 1) * step.
  for (double k = 1; k < levels - 1; ++k)
    best = std::min(best, std::max(-minimum / k, maximum / (levels - 1 - k)));
  // Rounding must not cost a level at either end.
  return best * levels * (1 + 1e-9);
}

std::optional<NegativeShift> selectNegativeShift(llvm::ArrayRef<Atom> atoms,
                                                 double minimum,
                                                 double threshold,
                                                 SelectionOptions options) {
  options.isSigned = false;
  double maximum = 0;
  for (const Atom &atom : atoms)
    maximum = std::max(maximum, atom.value);
  bool mustCover = options.errorMethod == ErrorMethod::NoClipping &&
                   std::isinf(options.zThreshold);
  auto covers = [&](double candidate, double shift) {
    return maximum + shift <=
           candidate - std::ldexp(candidate, -int(options.bits));
  };
  // The levels of one bit are zero and half of the threshold, and the shift is
  // as large: whatever the threshold, nothing above zero is covered.
  if (mustCover && options.bits == 1 && maximum > 0)
    return std::nullopt;
  std::optional<double> shift =
      shiftForNegative(minimum, threshold, options.bits);
  if (!shift)
    return std::nullopt;
  NegativeShift result{*shift, threshold, 0};
  // Two or three rounds settle it: a threshold that changes the shift by a step
  // rarely changes again. A cycle ends with a consistent pair all the same.
  for (int round = 0; round != 8; ++round) {
    double selected =
        selectForAtoms(shiftAtoms(atoms, result.shift), options).threshold;
    shift = shiftForNegative(minimum, selected, options.bits);
    if (mustCover && (!shift || !covers(selected, *shift))) {
      if (options.kind == QuantizationMethod::Symmetric) {
        selected = coveringThreshold(minimum, maximum, options.bits);
        if (!std::isfinite(selected))
          return std::nullopt;
        shift = shiftForNegative(minimum, selected, options.bits);
      } else {
        while (!shift || !covers(selected, *shift)) {
          selected *= 2;
          if (!std::isfinite(selected))
            return std::nullopt;
          shift = shiftForNegative(minimum, selected, options.bits);
        }
      }
    }
    if (!shift)
      return std::nullopt;
    bool isSettled = selected == result.threshold && *shift == result.shift;
    result.threshold = selected;
    result.shift = *shift;
    if (isSettled)
      break;
  }
  result.error = meanSquaredError(
      shiftAtoms(atoms, result.shift),
      symmetricGrid(result.threshold, options.bits, /*isSigned=*/false));
  return result;
}

} // namespace mct::quantization
