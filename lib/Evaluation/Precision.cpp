// SPDX-License-Identifier: Apache-2.0
//
// Uncertainty of the average precision of detectors.
#include "mct/Evaluation/Precision.h"

#include "llvm/ADT/bit.h"
#include <algorithm>
#include <limits>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;

/// Recalls at which COCO reads the precision: 0, 0.01, …, 1.
static constexpr size_t kRecalls = 101;

/// Returns the mean over the recalls of the largest precision from there on.
/// `points` are recall and precision after each detection that is right, by
/// ascending recall; the precisions are overwritten.
static double
averagePrecision(llvm::MutableArrayRef<std::pair<double, double>> points) {
  for (size_t index = points.size(); index-- > 1;)
    points[index - 1].second =
        std::max(points[index - 1].second, points[index].second);
  double sum = 0;
  size_t index = 0;
  for (size_t step = 0; step != kRecalls; ++step) {
    // The numbers of numpy.linspace.
    double recall = double(step) * 0.01;
    if (step + 1 == kRecalls)
      recall = 1;
    while (index != points.size() && points[index].first < recall)
      ++index;
    if (index == points.size())
      break;
    sum += points[index].second;
  }
  return sum / double(kRecalls);
}

/// Returns the sum of the average precisions of one class over the overlaps.
static double sumPrecisions(const MatchedClass &one, double boxes,
                            ArrayRef<uint32_t> counts, unsigned numOverlaps) {
  std::vector<std::vector<std::pair<double, double>>> points(numOverlaps);
  std::vector<double> right(numOverlaps);
  double all = 0;
  for (auto [image, matches] : llvm::zip_equal(one.images, one.matches)) {
    uint32_t count = counts[image];
    if (count == 0)
      continue;
    all += count;
    for (uint32_t left = matches; left != 0; left &= left - 1) {
      auto overlap = size_t(llvm::countr_zero(left));
      right[overlap] += count;
      points[overlap].emplace_back(right[overlap] / boxes,
                                   right[overlap] / all);
    }
  }
  double sum = 0;
  for (auto &each : points)
    sum += averagePrecision(each);
  return sum;
}

double MatchedDetections::aggregate(ArrayRef<uint32_t> counts) const {
  double sum = 0;
  size_t numMeans = 0;
  for (const MatchedClass &one : classes) {
    double boxes = 0;
    for (auto [image, number] : llvm::enumerate(one.boxes))
      boxes += double(counts[image]) * number;
    // A class without boxes has no precision.
    if (boxes == 0)
      continue;
    sum += sumPrecisions(one, boxes, counts, numOverlaps);
    numMeans += numOverlaps;
  }
  return numMeans == 0 ? std::numeric_limits<double>::quiet_NaN()
                       : sum / double(numMeans);
}
