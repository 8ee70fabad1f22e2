// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/ResultDistance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <limits>

using namespace mct;
using namespace mct::execution;
using llvm::ArrayRef;

double mct::execution::divergence(ArrayRef<float> expected,
                                  ArrayRef<float> actual, int64_t rowLength,
                                  bool isDistribution) {
  constexpr double kLeast = 1e-10;
  std::vector<double> p(rowLength), q(rowLength);
  auto normalize = [&](ArrayRef<float> row, std::vector<double> &to) {
    double largest = *llvm::max_element(row), sum = 0;
    for (auto [value, probability] : llvm::zip(row, to)) {
      probability = isDistribution ? std::max(double(value), 0.0)
                                   : std::exp(double(value) - largest);
      sum += probability;
    }
    for (double &probability : to)
      probability = std::max(sum > 0 ? probability / sum : 0.0, kLeast);
  };
  double total = 0;
  for (size_t row = 0; row < expected.size(); row += rowLength) {
    normalize(expected.slice(row, rowLength), p);
    normalize(actual.slice(row, rowLength), q);
    for (auto [exactValue, found] : llvm::zip(p, q))
      total += exactValue * std::log(exactValue / found);
  }
  return total * double(rowLength) / double(expected.size());
}

double mct::execution::squaredError(ArrayRef<float> expected,
                                    ArrayRef<float> actual) {
  double error = 0;
  for (auto [exactValue, found] : llvm::zip(expected, actual))
    error += (double(found) - exactValue) * (double(found) - exactValue);
  return error;
}

double mct::execution::energy(ArrayRef<float> values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * value;
  return sum;
}

/// Returns whether the rows of the last axis are distributions.
static bool isDistribution(ArrayRef<float> values, int64_t rowLength) {
  constexpr double kTolerance = 1e-3;
  for (size_t row = 0; row < values.size(); row += rowLength) {
    double sum = 0;
    for (float value : values.slice(row, rowLength)) {
      if (!(value >= 0))
        return false;
      sum += value;
    }
    if (!(std::abs(sum - 1) <= kTolerance))
      return false;
  }
  return rowLength > 1;
}

/// Returns logarithms of the probabilities of each row, less their mean.
static std::vector<float> toLogits(ArrayRef<float> values, int64_t rowLength) {
  // Smaller probabilities count as this one.
  constexpr double kLeast = 1e-6;
  std::vector<float> logits;
  logits.reserve(values.size());
  for (size_t first = 0; first < values.size(); first += rowLength) {
    double sum = 0;
    for (float value : values.slice(first, rowLength)) {
      logits.push_back(float(std::log(std::max(double(value), kLeast))));
      sum += logits.back();
    }
    for (float &logit : llvm::MutableArrayRef(logits).drop_front(first))
      logit -= float(sum / double(rowLength));
  }
  return logits;
}

/// Returns the group of each element of a sample; empty if all are in one
/// group.
static std::vector<int64_t> spreadGroups(const TensorSpec &spec, int64_t unit,
                                         const ResultGroups &groups) {
  ArrayRef<int64_t> shape = spec.type.getShape();
  if (groups.names.size() < 2 || groups.axis <= 0 ||
      groups.axis >= int64_t(shape.size()) ||
      shape[groups.axis] != int64_t(groups.groupByChannel.size()))
    return {};
  int64_t inner = llvm::product_of(shape.drop_front(groups.axis + 1));
  std::vector<int64_t> partByChannel;
  for (int64_t at = 0; at != spec.type.getNumElements() / unit; ++at)
    partByChannel.push_back(
        groups
            .groupByChannel[size_t(at / inner) % groups.groupByChannel.size()]);
  return partByChannel;
}

ResultDistance::ResultDistance(ArrayRef<TensorSpec> specs, int64_t unit,
                               int64_t samples, int64_t budget,
                               ArrayRef<ResultGroups> groups)
    : unit(unit), samples(samples) {
  auto units = int64_t(llvm::divideCeil(samples, unit));
  for (auto [number, spec] : llvm::enumerate(specs)) {
    Output &output = outputs.emplace_back();
    if (!spec.type.getElementType().isF32() || spec.type.getRank() == 0 ||
        spec.type.getDimSize(0) % unit != 0)
      continue;
    output.elements = spec.type.getNumElements() / unit;
    output.rowLength =
        spec.type.getRank() > 1 ? spec.type.getShape().back() : 1;
    output.distributions.resize(units, 1);
    if (number < groups.size())
      output.partByChannel = spreadGroups(spec, unit, groups[number]);
    if (!output.partByChannel.empty()) {
      ArrayRef<int64_t> shape = spec.type.getShape();
      output.areProbabilities = groups[number].areProbabilities;
      output.channels = shape[groups[number].axis];
      output.inner =
          llvm::product_of(shape.drop_front(groups[number].axis + 1));
    }
    output.firstPart = parts.size();
    output.numParts =
        output.partByChannel.empty() ? 1 : groups[number].names.size();
    for (size_t group = 0; group != output.numParts; ++group) {
      Part &part = parts.emplace_back();
      part.output = number;
      if (output.numParts != 1)
        part.group = group;
      part.energies.resize(samples);
      part.energiesOfLogits.resize(samples);
    }
    blockElements += spec.type.getNumElements();
  }
  hasScores = !outputs.empty() && outputs.front().elements > 1 &&
              outputs.front().elements == outputs.front().rowLength;
  finite.resize(units, 1);
  reference = std::make_unique<Frontier>(
      units, blockElements * int64_t(sizeof(float)), budget);
}

bool ResultDistance::isEmpty() const { return blockElements == 0; }

llvm::Error ResultDistance::keep(int64_t number, int64_t valid,
                                 ArrayRef<void *> made) {
  std::vector<float> block;
  for (auto [output, pointer] : llvm::zip(outputs, made)) {
    if (output.elements == 0)
      continue;
    ArrayRef<float> values(static_cast<const float *>(pointer),
                           output.elements * unit);
    ArrayRef<float> real = values.take_front(output.elements * valid);
    output.distributions[number] = ::isDistribution(real, output.rowLength);
    for (int64_t sample = 0; sample != valid; ++sample) {
      ArrayRef<float> row =
          real.slice(sample * output.elements, output.elements);
      int64_t at = number * unit + sample;
      if (output.distributions[number])
        parts[output.firstPart].energiesOfLogits[at] =
            energy(toLogits(row, output.rowLength));
      if (output.partByChannel.empty()) {
        parts[output.firstPart].energies[at] = energy(row);
        continue;
      }
      for (auto [part, value, weight] :
           llvm::zip_equal(output.partByChannel, row, output.weigh(row)))
        parts[output.firstPart + part].energies[at] +=
            double(weight) * value * value;
    }
    finite[number] &=
        llvm::all_of(real, [](float value) { return std::isfinite(value); });
    block.insert(block.end(), values.begin(), values.end());
  }
  return reference->write(number, {reinterpret_cast<const char *>(block.data()),
                                   block.size() * sizeof(float)});
}

llvm::Error ResultDistance::decide(ResultMetric metric) {
  if (llvm::is_contained(finite, 0))
    return llvm::createStringError(
        "results of the float network are not finite");
  for (Output &output : outputs) {
    output.isDistribution = !llvm::is_contained(output.distributions, 0);
    output.metric = metric;
    if (metric == ResultMetric::Auto)
      output.metric =
          output.isDistribution ? ResultMetric::KL : ResultMetric::MSE;
    if (metric == ResultMetric::Logits && !output.isDistribution)
      output.metric = ResultMetric::MSE;
    // The probabilities of a row belong together.
    if (output.metric != ResultMetric::MSE)
      output.partByChannel.clear();
  }
  joinParts();
  for (Part &part : parts)
    if (outputs[part.output].metric == ResultMetric::Logits)
      part.energies = part.energiesOfLogits;
  return llvm::Error::success();
}

/// Joins the parts of each result that is compared as a whole.
void ResultDistance::joinParts() {
  std::vector<Part> joined;
  for (Output &output : outputs) {
    if (output.elements == 0)
      continue;
    llvm::ArrayRef<Part> own =
        llvm::ArrayRef(parts).slice(output.firstPart, output.numParts);
    output.firstPart = joined.size();
    if (!output.partByChannel.empty()) {
      joined.insert(joined.end(), own.begin(), own.end());
      continue;
    }
    Part &whole = joined.emplace_back(own.front());
    whole.group.reset();
    for (const Part &other : own.drop_front())
      for (auto [sum, added] : llvm::zip_equal(whole.energies, other.energies))
        sum += added;
    output.numParts = 1;
  }
  parts = std::move(joined);
}

ResultMetric ResultDistance::usedMetric() const {
  for (ResultMetric metric : {ResultMetric::KL, ResultMetric::Logits})
    if (llvm::any_of(outputs, [&](const Output &output) {
          return output.elements != 0 && output.metric == metric;
        }))
      return metric;
  return ResultMetric::MSE;
}

std::optional<ResultMetric> ResultDistance::getMetric(size_t output) const {
  if (outputs[output].elements == 0)
    return std::nullopt;
  return outputs[output].metric;
}

double ResultDistance::computeEnergy(size_t part) const {
  // Sort, so that the sum does not depend on the order of the samples.
  std::vector<double> energies = parts[part].energies;
  llvm::sort(energies);
  double sum = 0;
  for (double energyOfSample : energies)
    sum += energyOfSample;
  return sum;
}

/// Returns the index of the largest element, or -1 where one is NaN.
static int64_t findLargest(ArrayRef<float> row) {
  if (llvm::any_of(row, [](float value) { return std::isnan(value); }))
    return -1;
  return llvm::max_element(row) - row.begin();
}

ResultDistance::Comparison ResultDistance::createComparison() const {
  Comparison found;
  found.distances.assign(parts.size(), std::vector<double>(samples));
  found.agreeing.resize(samples);
  return found;
}

double ResultDistance::Output::measure(ArrayRef<float> expected,
                                       ArrayRef<float> actual) const {
  switch (metric) {
  case ResultMetric::KL:
    return divergence(expected, actual, rowLength, isDistribution);
  case ResultMetric::Logits:
    return squaredError(toLogits(expected, rowLength),
                        toLogits(actual, rowLength));
  case ResultMetric::Auto:
  case ResultMetric::MSE:
    return squaredError(expected, actual);
  }
  llvm_unreachable("unknown metric");
}

std::vector<float>
ResultDistance::Output::weigh(ArrayRef<float> expected) const {
  std::vector<float> weights(expected.size(), 1);
  if (!llvm::is_contained(areProbabilities, char(true)))
    return weights;
  // Elements of one position follow each other at this distance.
  for (int64_t block = 0; block != elements; block += channels * inner)
    for (int64_t at = block; at != block + inner; ++at) {
      float largest = 0;
      for (int64_t channel = 0; channel != channels; ++channel)
        if (size_t element = size_t(at + channel * inner);
            areProbabilities[size_t(partByChannel[element])])
          largest = std::max(largest, expected[element]);
      for (int64_t channel = 0; channel != channels; ++channel)
        if (size_t element = size_t(at + channel * inner);
            !areProbabilities[size_t(partByChannel[element])])
          weights[element] = largest;
    }
  return weights;
}

void ResultDistance::addByPart(const Output &output, ArrayRef<float> expected,
                               ArrayRef<float> actual, int64_t sample,
                               Comparison &found) const {
  for (size_t part = 0; part != output.numParts; ++part)
    found.distances[output.firstPart + part][sample] = 0;
  for (auto [part, exactValue, value, weight] : llvm::zip_equal(
           output.partByChannel, expected, actual, output.weigh(expected)))
    found.distances[output.firstPart + part][sample] +=
        weight * (double(value) - exactValue) * (double(value) - exactValue);
}

llvm::Error ResultDistance::compare(int64_t number, int64_t valid,
                                    ArrayRef<void *> made,
                                    std::vector<float> &scratch,
                                    Comparison &found) const {
  scratch.resize(blockElements);
  llvm::MutableArrayRef<float> block(scratch);
  if (llvm::Error error =
          reference->read(number, {reinterpret_cast<char *>(block.data()),
                                   block.size() * sizeof(float)}))
    return error;
  int64_t first = number * unit;
  for (auto [index, output] : llvm::enumerate(outputs)) {
    if (output.elements == 0)
      continue;
    for (int64_t sample = 0; sample != valid; ++sample) {
      ArrayRef<float> expected =
          block.slice(sample * output.elements, output.elements);
      ArrayRef<float> actual(static_cast<const float *>(made[index]) +
                                 sample * output.elements,
                             output.elements);
      if (output.partByChannel.empty())
        found.distances[output.firstPart][first + sample] =
            output.measure(expected, actual);
      else
        addByPart(output, expected, actual, first + sample, found);
      if (index == 0 && hasScores)
        found.agreeing[first + sample] =
            findLargest(actual) == findLargest(expected);
    }
    block = block.drop_front(output.elements * unit);
  }
  return llvm::Error::success();
}

double ResultDistance::computeScale(const Part &part) const {
  double scale = 0;
  bool isDivergence = outputs[part.output].metric == ResultMetric::KL;
  for (double energyOfSample : part.energies)
    scale += isDivergence ? 1 : energyOfSample;
  return scale > 0 ? scale : 1;
}

double ResultDistance::distanceOf(size_t part, const Comparison &found) const {
  double sum = 0;
  for (double each : found.distances[part])
    sum += each;
  return sum / computeScale(parts[part]);
}

double ResultDistance::distance(const Comparison &found) const {
  double total = 0;
  for (size_t part = 0; part != parts.size(); ++part)
    total += distanceOf(part, found);
  return total / double(parts.size());
}

/// Returns the standard deviation of values with that mean; 0 for one value.
static double findDeviation(ArrayRef<double> values, double mean) {
  double squares = 0;
  for (double value : values)
    squares += (value - mean) * (value - mean);
  return values.size() > 1 ? std::sqrt(squares / double(values.size() - 1)) : 0;
}

double ResultDistance::deviation(const Comparison &found) const {
  std::vector<double> each(samples);
  for (auto [number, part] : llvm::enumerate(parts)) {
    // The distance is the mean of the contributions of samples.
    double factor = double(samples) / computeScale(part) / double(parts.size());
    for (auto [sum, added] : llvm::zip(each, found.distances[number]))
      sum += added * factor;
  }
  return findDeviation(each, distance(found));
}

ResultDistance::Gain
ResultDistance::compareRuns(const Comparison &before, const Comparison &after,
                            std::optional<size_t> only) const {
  Gain gain;
  std::vector<double> each(samples), differences(samples);
  double count = only ? 1 : double(parts.size());
  for (auto [number, part] : llvm::enumerate(parts)) {
    if (only && *only != number)
      continue;
    double ratio = distanceOf(number, before) - distanceOf(number, after),
           factor = double(samples) / computeScale(part) / count;
    bool isDivergence = outputs[part.output].metric == ResultMetric::KL;
    gain.mean += ratio / count;
    // The distance is a ratio of sums: the contribution of a sample is its
    // error beyond its share of the energy.
    for (int64_t sample = 0; sample != samples; ++sample) {
      double difference =
          before.distances[number][sample] - after.distances[number][sample];
      differences[sample] += factor * difference;
      each[sample] +=
          factor *
          (difference - ratio * (isDivergence ? 1 : part.energies[sample]));
    }
  }
  for (double difference : differences) {
    gain.better += difference > 0;
    gain.worse += difference < 0;
  }
  gain.standardError = each.size() > 1
                           ? findDeviation(each, 0) / std::sqrt(double(samples))
                           : std::numeric_limits<double>::infinity();
  return gain;
}

std::optional<double> ResultDistance::agreement(const Comparison &found) const {
  if (!hasScores || samples == 0)
    return std::nullopt;
  return double(llvm::count(found.agreeing, 1)) / double(samples);
}
