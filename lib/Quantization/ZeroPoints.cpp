// SPDX-License-Identifier: Apache-2.0

#include "ZeroPoints.h"

#include <cmath>

namespace mct::quantization {

ZeroPoints::ZeroPoints(const ScaledAtoms &atoms, int levelCount)
    : values(atoms.values().take_front(atoms.size())),
      lastLevel(levelCount - 1) {
  size_t count = values.size();
  weightBelow.resize(count + 1);
  sumBelow.resize(count + 1);
  for (size_t i = 0; i < count; ++i) {
    double weight = atoms.weights().empty() ? 1.0 : atoms.weights()[i];
    weightBelow[i + 1] = weightBelow[i] + weight;
    sumBelow[i + 1] = sumBelow[i] + weight * values[i];
  }
  if (count == 0)
    return;
  first = values.front();
  lastBucket = static_cast<double>((count - 1) / 2);
  double width = values.back() - first;
  bucketScale = width > 0 ? lastBucket / width : 0.0;
  size_t buckets = static_cast<size_t>(lastBucket) + 1;
  starts.assign(buckets + 1, static_cast<uint32_t>(count));
  for (size_t i = count; i-- > 0;)
    starts[getBucket(values[i])] = static_cast<uint32_t>(i);
  for (size_t bucket = buckets; bucket-- > 0;)
    starts[bucket] = std::min(starts[bucket], starts[bucket + 1]);
}

size_t ZeroPoints::rank(double value) const {
  size_t bucket = getBucket(value);
  const double *begin = values.begin() + starts[bucket];
  const double *end = values.begin() + starts[bucket + 1];
  if (end - begin > 8)
    return std::upper_bound(begin, end, value) - values.begin();
  while (begin < end && *begin <= value)
    ++begin;
  return begin - values.begin();
}

double ZeroPoints::cost(double step, int zeroPoint) const {
  double hi = lastLevel - zeroPoint - 1;
  size_t above = rank((hi + 0.5) * step);
  size_t below = rank(-(zeroPoint + 0.5) * step);
  double lost = 2 * (sumBelow.back() - sumBelow[above]) / step -
                (2 * hi + 1) * (weightBelow.back() - weightBelow[above]);
  double saved =
      -2 * sumBelow[below] / step - (2 * zeroPoint + 1.0) * weightBelow[below];
  return (lost - saved) * step * step;
}

bool ZeroPoints::same(double step, int zeroPoint) const {
  return rank((lastLevel - zeroPoint - 0.5) * step) == values.size() &&
         rank(-(zeroPoint + 0.5) * step) == 0;
}

int ZeroPoints::best(double step, int guess) const {
  // Find the first zero point from which a further increase does not pay:
  // double the stride from the guess, then bisect.
  auto reached = [&](int zeroPoint) {
    return zeroPoint >= lastLevel || cost(step, zeroPoint) >= 0;
  };
  if (values.empty())
    return 0;
  // If the levels have room for all values, the first zero point that clips
  // none below is the best.
  double covering = std::max(0.0, std::ceil(-values.front() / step - 0.5));
  if (covering + std::max(0.0, values.back() / step - 0.5) <= lastLevel)
    return static_cast<int>(covering);
  guess = std::clamp(guess, 0, lastLevel);
  int below, at; // not reached (or -1), reached
  if (reached(guess)) {
    at = guess;
    int stride = 1;
    for (below = guess - 1; below >= 0 && reached(below); stride *= 2) {
      at = below;
      below = std::max(-1, below - stride);
    }
  } else {
    below = guess;
    int stride = 1;
    for (at = guess + 1; !reached(at); stride *= 2) {
      below = at;
      at = std::min(lastLevel, at + stride);
    }
  }
  while (at - below > 1) {
    int middle = below + (at - below) / 2;
    (reached(middle) ? at : below) = middle;
  }
  return at;
}

} // namespace mct::quantization
