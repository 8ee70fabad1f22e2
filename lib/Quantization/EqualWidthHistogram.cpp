// SPDX-License-Identifier: Apache-2.0

#include "mct/Quantization/EqualWidthHistogram.h"

#include <algorithm>

namespace mct::quantization {

namespace {

std::vector<double> equalEdges(double lo, double hi, size_t bins) {
  std::vector<double> edges(bins + 1);
  double width = (hi - lo) / static_cast<double>(bins);
  for (size_t i = 0; i != bins; ++i)
    edges[i] = lo + static_cast<double>(i) * width;
  edges[bins] = hi;
  return edges;
}

/// Count below `x`, with the counts of a bin spread evenly.
double cumulative(const EqualWidthHistogram &histogram,
                  llvm::ArrayRef<double> countsBelow, double x) {
  const std::vector<double> &edges = histogram.edges;
  if (x <= edges.front())
    return 0;
  if (x >= edges.back())
    return countsBelow.back();
  size_t bin = std::upper_bound(edges.begin(), edges.end(), x) - edges.begin();
  double part = (x - edges[bin - 1]) / (edges[bin] - edges[bin - 1]);
  return countsBelow[bin - 1] + part * histogram.counts[bin - 1];
}

} // namespace

EqualWidthHistogram EqualWidthHistogram::create(llvm::ArrayRef<double> values,
                                                llvm::ArrayRef<double> weights,
                                                size_t bins) {
  auto [least, most] = std::minmax_element(values.begin(), values.end());
  double lo = *least, hi = *most;
  if (lo == hi) {
    lo -= 0.5;
    hi += 0.5;
  }
  EqualWidthHistogram result{equalEdges(lo, hi, bins),
                             std::vector<double>(bins, 0.0)};
  for (size_t i = 0; i != values.size(); ++i) {
    // By comparison with the edges themselves: a quotient would be rounded.
    size_t bin = std::upper_bound(result.edges.begin(), result.edges.end() - 1,
                                  values[i]) -
                 result.edges.begin() - 1;
    result.counts[bin] += weights.empty() ? 1.0 : weights[i];
  }
  return result;
}

EqualWidthHistogram
EqualWidthHistogram::merge(llvm::ArrayRef<EqualWidthHistogram> parts,
                           size_t bins) {
  double lo = parts.front().edges.front(), hi = parts.front().edges.back();
  for (const EqualWidthHistogram &part : parts) {
    lo = std::min(lo, part.edges.front());
    hi = std::max(hi, part.edges.back());
  }
  EqualWidthHistogram result{equalEdges(lo, hi, bins),
                             std::vector<double>(bins, 0.0)};
  for (const EqualWidthHistogram &part : parts) {
    std::vector<double> below(1, 0.0);
    for (double count : part.counts)
      below.push_back(below.back() + count);
    double last = 0;
    for (size_t bin = 0; bin != bins; ++bin) {
      double next = cumulative(part, below, result.edges[bin + 1]);
      result.counts[bin] += next - last;
      last = next;
    }
  }
  return result;
}

double EqualWidthHistogram::min() const {
  for (size_t bin = 0; bin != counts.size(); ++bin)
    if (counts[bin] > 0)
      return edges[bin];
  return edges.front();
}

double EqualWidthHistogram::max() const {
  for (size_t bin = counts.size(); bin-- != 0;)
    if (counts[bin] > 0)
      return edges[bin];
  return edges.back();
}

} // namespace mct::quantization
