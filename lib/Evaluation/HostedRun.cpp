// SPDX-License-Identifier: Apache-2.0
#include "HostedRun.h"

#include "Metrics.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ScopedPrinter.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;
using llvm::Expected;

MetricHost::~MetricHost() = default;

/// Returns the number of elements of one sample.
static size_t countOfSample(const MetricHost::Result &result) {
  size_t count = 1;
  for (int64_t size : ArrayRef(result.shape).drop_front())
    count *= size_t(size);
  return count;
}

Expected<HostedRun> HostedRun::create(ArrayRef<TensorSpec> specs, int64_t unit,
                                      int64_t samples) {
  HostedRun made;
  for (const TensorSpec &spec : specs) {
    MetricHost::Result result;
    result.shape.assign(spec.type.getShape().begin(),
                        spec.type.getShape().end());
    if (!spec.type.getElementType().isF32() || result.shape.empty() ||
        result.shape.front() != unit)
      return refuse("expected results of f32 with the batch, " +
                    llvm::Twine(unit) + ", first, found " +
                    llvm::to_string(spec.type));
    result.shape.front() = samples;
    result.values.resize(size_t(samples) * countOfSample(result));
    made.results.push_back(std::move(result));
  }
  return made;
}

void HostedRun::collect(const Unit &unit) {
  for (auto [result, output] : llvm::zip_equal(results, unit.outputs)) {
    size_t length = countOfSample(result);
    const auto *from = static_cast<const float *>(output);
    std::copy_n(from, length * size_t(unit.validSamples),
                result.values.begin() + int64_t(length) * unit.firstSample);
  }
}

HostedResults execution::takeSamples(ArrayRef<MetricHost::Result> results,
                                     ArrayRef<int64_t> positions) {
  HostedResults taken;
  for (const MetricHost::Result &result : results) {
    size_t length = countOfSample(result);
    MetricHost::Result &part = taken.emplace_back();
    part.shape = result.shape;
    part.shape.front() = int64_t(positions.size());
    for (int64_t position : positions)
      llvm::append_range(part.values,
                         ArrayRef<float>(result.values)
                             .slice(size_t(position) * length, length));
  }
  return taken;
}

static bool areShares(ArrayRef<double> numbers) {
  return llvm::all_of(numbers, [](double x) { return x == 0 || x == 1; });
}

Metric::Unit execution::findUnit(const MetricHost::Measured &measured) {
  return measured.detections || areShares(measured.values)
             ? Metric::Unit::Share
             : Metric::Unit::Number;
}

LossLimit execution::limitLoss(const MetricHost::Measured &measured,
                               const MetricHost::Measured &reference,
                               int64_t samples, double allowed,
                               double confidence) {
  if (measured.detections)
    return limitByBootstrap(
        samples,
        [&](ArrayRef<uint32_t> counts) {
          return reference.detections->aggregate(counts) -
                 measured.detections->aggregate(counts);
        },
        allowed, confidence);
  if (areShares(measured.values) && areShares(reference.values))
    return limitOfShares(measured.values, reference.values,
                         /*isHigherBetter=*/true, allowed, confidence);
  return limitByBootstrap(
      samples,
      [&](ArrayRef<uint32_t> counts) {
        double sum = 0, drawn = 0;
        for (auto [own, other, count] :
             llvm::zip_equal(measured.values, reference.values, counts)) {
          sum += count * (other - own);
          drawn += count;
        }
        return sum / drawn;
      },
      allowed, confidence);
}
