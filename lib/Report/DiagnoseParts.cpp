// SPDX-License-Identifier: Apache-2.0
#include "DiagnoseParts.h"
#include "mct/Planning/Overrides.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>
#include <limits>

using namespace mct;
using namespace mct::report;
using llvm::ArrayRef;
using llvm::StringRef;

// Distances below these are harmless, and severities are proportional to them.
// For divergences: by Pinsker's inequality, at most a tenth of the probability
// has moved. For mean squares: the error is a tenth of the values.
static constexpr Real kHarmfulDivergence = 0.02, kHarmfulMeanSquare = 0.01;

// Number of values that represent a bin.
static constexpr int kSamplesOfBin = 16;

//===----------------------------------------------------------------------===//
// DiagnosisContext
//===----------------------------------------------------------------------===//

/// Returns the number of elements of one sample, that is, without the first
/// axis.
static int64_t countSampleElements(const Point &point) {
  int64_t count = 1;
  for (int64_t size : ArrayRef(point.shape).drop_front(!point.shape.empty()))
    count *= std::max<int64_t>(size, 1);
  return count;
}

bool mct::report::isArgument(const Operator &op) {
  return op.ops.size() == 1 && op.ops.front() == "argument";
}

static bool isPositive(Real value) { return std::isfinite(value) && value > 0; }

DiagnosisContext::DiagnosisContext(const Report &report) : report(report) {
  for (const Operator &op : report.operators) {
    operators[op.name] = &op;
    for (const std::string &input : op.inputs)
      ++users[input];
  }
  for (const Point &point : report.points) {
    if (!point.parameters)
      continue;
    const Operator *owner = getOwner(point);
    if (point.isWeight()) {
      if (owner && (layers.empty() || layers.back() != owner))
        layers.push_back(owner);
      continue;
    }
    results[point.owner] = &point;
    if (!owner || isArgument(*owner))
      inputs.push_back(&point);
  }
  if (isPositive(report.distance))
    harm = std::min(1.0, report.distance / (report.comparesByDivergence()
                                                ? kHarmfulDivergence
                                                : kHarmfulMeanSquare));
  if (report.calibrationSamples)
    calibrationSamples = *report.calibrationSamples;
  else if (!inputs.empty() && inputs.front()->statistics)
    calibrationSamples = inputs.front()->statistics->count /
                         countSampleElements(*inputs.front());
}

Real DiagnosisContext::getShare(const Point &point) const {
  return point.effect ? point.effect->share.value_or(0) : 0;
}

Real DiagnosisContext::getSeverity(Real share) const {
  // Divergences include probabilities of unlikely classes on which no decision
  // depends, so nothing is grave if no prediction changes. An effect that a
  // single sample may have caused is not grave, either.
  bool changesNone = report.simulated.agreement == 1;
  Real severity = harm * share;
  return changesNone || isUncertain() ? kGrave / 2 * severity : severity;
}

Real DiagnosisContext::getStandardError(int64_t samples) const {
  return isPositive(report.distance) && isPositive(report.deviation) &&
                 samples > 0
             ? report.deviation / report.distance / std::sqrt(Real(samples))
             : 0;
}

bool DiagnosisContext::isUncertain() const {
  return getStandardError(report.effectSamples) > kLargestStandardError;
}

int64_t DiagnosisContext::getObservedSamples(const Point &point) const {
  return point.observed ? point.observed->count / countSampleElements(point)
                        : 0;
}

//===----------------------------------------------------------------------===//
// Values and grids
//===----------------------------------------------------------------------===//

std::optional<GridError>
mct::report::estimateError(const Statistics &statistics,
                           const Parameters &parameters, Real scale) {
  if (!statistics.histogram || parameters.step.empty() ||
      parameters.lowest.empty() || parameters.highest.empty() ||
      statistics.count <= 0)
    return std::nullopt;
  Real step = parameters.step.front() * scale,
       lowest = parameters.lowest.front() * scale,
       highest = parameters.highest.front() * scale;
  if (!isPositive(step))
    return std::nullopt;
  const Histogram &histogram = *statistics.histogram;
  GridError error;
  for (auto [bin, count] : llvm::enumerate(histogram.counts)) {
    if (count == 0)
      continue;
    for (int i = 0; i != kSamplesOfBin; ++i) {
      Real value = histogram.first +
                   (Real(bin) + (i + 0.5) / kSamplesOfBin) * histogram.width;
      value = std::clamp(value, statistics.min, statistics.max);
      Real level =
          std::clamp(std::nearbyint(value / step) * step, lowest, highest);
      bool isBeyond = value < lowest - step / 2 || value > highest + step / 2;
      (isBeyond ? error.clipping : error.rounding) +=
          Real(count) / kSamplesOfBin * (value - level) * (value - level);
    }
  }
  error.clipping /= Real(statistics.count);
  error.rounding /= Real(statistics.count);
  return error;
}

namespace {
/// Lower and upper bounds for the share of values below a number.
class Distribution {
public:
  explicit Distribution(const Statistics &statistics)
      : statistics(statistics), histogram(*statistics.histogram) {
    int64_t sum = 0;
    for (int64_t count : histogram.counts) {
      below.push_back(sum);
      sum += count;
    }
    below.push_back(sum);
    total = Real(sum + statistics.zeros);
  }

  Real edge(size_t bin) const {
    return histogram.first + Real(bin) * histogram.width;
  }
  size_t numEdges() const { return below.size(); }

  std::pair<Real, Real> bounds(Real x) const {
    if (total == 0)
      return {0, 1};
    Real zeros = x > 0 ? Real(statistics.zeros) : 0;
    Real position = (x - histogram.first) / histogram.width;
    if (!(position > 0))
      return {zeros / total, zeros / total};
    auto last = Real(histogram.counts.size());
    if (position >= last)
      return {(Real(below.back()) + zeros) / total,
              (Real(below.back()) + zeros) / total};
    return {(Real(below[size_t(std::floor(position))]) + zeros) / total,
            (Real(below[size_t(std::ceil(position))]) + zeros) / total};
  }

private:
  const Statistics &statistics;
  const Histogram &histogram;
  std::vector<int64_t> below;
  Real total = 0;
};
} // namespace

std::optional<Real> mct::report::compareDistributions(const Statistics &one,
                                                      const Statistics &other) {
  // A tensor of zeros has no bins.
  static const Histogram kNoBins = {0, 1, {0}};
  Statistics first = one, second = other;
  for (Statistics *statistics : {&first, &second}) {
    bool onlyZeros =
        statistics->count > 0 && statistics->zeros == statistics->count;
    if (onlyZeros)
      statistics->histogram = kNoBins;
    if (!statistics->histogram || statistics->histogram->counts.empty() ||
        !isPositive(statistics->histogram->width))
      return std::nullopt;
  }
  Distribution a(first), b(second);
  Real largest = 0;
  auto compareAt = [&](Real x) {
    auto [aLow, aHigh] = a.bounds(x);
    auto [bLow, bHigh] = b.bounds(x);
    largest = std::max({largest, aLow - bHigh, bLow - aHigh});
  };
  for (const Distribution *distribution : {&a, &b})
    for (size_t bin = 0; bin != distribution->numEdges(); ++bin)
      compareAt(distribution->edge(bin));
  // At zero, first without and then with the zeros.
  compareAt(0);
  compareAt(std::numeric_limits<Real>::denorm_min());
  return largest;
}

Real mct::report::getRootMeanSquare(const Statistics &statistics) {
  if (!statistics.histogram || statistics.count <= 0)
    return getMagnitude(statistics);
  const Histogram &histogram = *statistics.histogram;
  Real sum = 0;
  for (auto [bin, count] : llvm::enumerate(histogram.counts)) {
    Real centre =
        std::clamp(histogram.first + (Real(bin) + 0.5) * histogram.width,
                   statistics.min, statistics.max);
    sum += Real(count) * centre * centre;
  }
  return std::sqrt(sum / Real(statistics.count));
}

Real mct::report::getMagnitude(const Statistics &statistics) {
  return std::max(std::abs(statistics.min), std::abs(statistics.max));
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string mct::report::brief(Real value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g", value);
  return text;
}

std::string mct::report::percent(Real share) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%.3g %%", 100 * share);
  return text;
}

std::string mct::report::inDecibels(Real sqnr) {
  if (std::isnan(sqnr))
    return "not finite";
  if (std::isinf(sqnr))
    return sqnr > 0 ? "no error" : "no signal";
  // Do not print 3.2e-07 dB, or -0.
  return (std::abs(sqnr) < 0.005 ? "0" : brief(sqnr)) + " dB";
}

std::string mct::report::describeDecibels(Real distance) {
  return inDecibels(distance > 0 ? -10 * std::log10(distance)
                                 : std::numeric_limits<Real>::infinity());
}

std::string mct::report::describeGain(const Trial &trial) {
  if (trial.worstGain)
    return quoted(trial.worst) + " goes from " +
           describeDecibels(trial.worstBefore) + " to " +
           describeDecibels(trial.worstAfter);
  return "the divergence of the results goes from " + brief(trial.before) +
         " to " + brief(trial.after);
}

std::string mct::report::quoted(StringRef name) {
  return ("'" + name + "'").str();
}

std::string mct::report::listNumbers(ArrayRef<int64_t> numbers) {
  constexpr size_t kMost = 8;
  std::string text;
  for (auto [index, number] : llvm::enumerate(numbers.take_front(kMost))) {
    bool isLast = index + 1 == numbers.size();
    text += index == 0 ? "" : isLast ? " and " : ", ";
    text += std::to_string(number);
  }
  if (numbers.size() > kMost)
    text += " and " + std::to_string(numbers.size() - kMost) + " more";
  return text;
}

StringRef mct::report::getInsertedName(const Point &point) {
  StringRef name = point.owner;
  // Points are inserted before activations are shifted, so rules of overrides
  // have to use the name without the suffix.
  name.consume_back("_shifted");
  return name;
}

std::string mct::report::leaveFloat(StringRef name) {
  return selectByName(name) + " activation=float";
}

std::string mct::report::giveBits(const Point &point, int64_t bits) {
  return selectByName(getInsertedName(point)) + " " +
         (point.isWeight() ? "weights." + point.weight : "activation") + "=" +
         (bits == 0 ? "float" : std::to_string(bits));
}

MoreBits mct::report::proposeMoreBits(const DiagnosisContext &network,
                                      const Point &point) {
  int64_t best = 0;
  if (const Operator *owner = network.getOwner(point))
    for (const Operator::Alternative &alternative : owner->alternatives) {
      int64_t bits = point.isWeight() ? alternative.weightBits
                                      : alternative.activationBits;
      if (bits > point.parameters->bits && (best == 0 || bits < best))
        best = bits;
    }
  return {giveBits(point, best),
          best == 0 ? "leave it in float"
                    : "give it " + std::to_string(best) + " bits"};
}
