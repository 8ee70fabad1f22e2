// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/PairedLoss.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

using namespace mct::quantization;

double PairedLoss::chance() const {
  if (samples < 4)
    return std::numeric_limits<double>::infinity();
  auto count = double(samples);
  return 2 * std::sqrt((count - 1) / (count - 3)) * standardError;
}

PairedLoss mct::quantization::compareErrors(llvm::ArrayRef<double> with,
                                            llvm::ArrayRef<double> without,
                                            double negligible) {
  auto isFinite = [](double error) { return std::isfinite(error); };
  auto samples = int64_t(with.size());
  bool withFinite = llvm::all_of(with, isFinite),
       withoutFinite = llvm::all_of(without, isFinite);
  if (!withFinite || !withoutFinite) {
    if (withFinite == withoutFinite)
      return {0, std::numeric_limits<double>::infinity(), samples};
    return {withFinite ? -kLargestLoss : kLargestLoss, 0, samples};
  }
  // Sums are the same in any order of the samples.
  std::vector<std::pair<double, double>> pairs;
  for (auto [left, right] : llvm::zip_equal(with, without))
    pairs.emplace_back(left, right);
  std::sort(pairs.begin(), pairs.end());
  double withSum = negligible, withoutSum = negligible;
  for (auto [left, right] : pairs) {
    withSum += left;
    withoutSum += right;
  }
  PairedLoss result;
  result.samples = samples;
  const double decibels = 10 / std::log(10.0);
  result.loss = std::clamp(decibels * std::log(withSum / withoutSum),
                           -kLargestLoss, kLargestLoss);
  if (samples < 4)
    return result;
  // Each sample's share of the logarithm, to first order; their mean is 0.
  double squares = 0;
  auto count = double(samples);
  for (auto [left, right] : pairs) {
    double share = count * ((left + negligible / count) / withSum -
                            (right + negligible / count) / withoutSum);
    squares += share * share;
  }
  result.standardError = decibels * std::sqrt(squares / (count - 1) / count);
  return result;
}
