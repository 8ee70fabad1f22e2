// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/ResultDistance.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

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
    for (auto [wanted, found] : llvm::zip(p, q))
      total += wanted * std::log(wanted / found);
  }
  return total * double(rowLength) / double(expected.size());
}

double mct::execution::squaredError(ArrayRef<float> expected,
                                    ArrayRef<float> actual) {
  double error = 0;
  for (auto [wanted, found] : llvm::zip(expected, actual))
    error += (double(found) - wanted) * (double(found) - wanted);
  return error;
}

double mct::execution::energy(ArrayRef<float> values) {
  double sum = 0;
  for (float value : values)
    sum += double(value) * value;
  return sum;
}

/// Rows of the last axis that are distributions.
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

ResultDistance::ResultDistance(ArrayRef<TensorSpec> specs, int64_t unit,
                               int64_t samples, int64_t budget)
    : unit(unit), samples(samples) {
  auto units = int64_t(llvm::divideCeil(samples, unit));
  for (const TensorSpec &spec : specs) {
    Output &output = outputs.emplace_back();
    if (!spec.type.getElementType().isF32() || spec.type.getRank() == 0 ||
        spec.type.getDimSize(0) % unit != 0)
      continue;
    output.elements = spec.type.getNumElements() / unit;
    output.rowLength =
        spec.type.getRank() > 1 ? spec.type.getShape().back() : 1;
    output.distributions.resize(units, 1);
    output.energies.resize(samples);
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
    for (int64_t sample = 0; sample != valid; ++sample)
      output.energies[number * unit + sample] =
          energy(real.slice(sample * output.elements, output.elements));
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
  }
  return llvm::Error::success();
}

ResultMetric ResultDistance::usedMetric() const {
  return llvm::any_of(outputs,
                      [](const Output &output) {
                        return output.elements != 0 &&
                               output.metric == ResultMetric::KL;
                      })
             ? ResultMetric::KL
             : ResultMetric::MSE;
}

std::optional<ResultMetric> ResultDistance::metricOf(size_t output) const {
  if (outputs[output].elements == 0)
    return std::nullopt;
  return outputs[output].metric;
}

double ResultDistance::energyOf(size_t output) const {
  // The same in any order of the samples.
  std::vector<double> energies = outputs[output].energies;
  llvm::sort(energies);
  double sum = 0;
  for (double energyOfSample : energies)
    sum += energyOfSample;
  return sum;
}

/// Where the largest element is; -1 where one is NaN.
static int64_t findLargest(ArrayRef<float> row) {
  if (llvm::any_of(row, [](float value) { return std::isnan(value); }))
    return -1;
  return llvm::max_element(row) - row.begin();
}

ResultDistance::Found ResultDistance::createFound() const {
  Found found;
  for (const Output &output : outputs)
    found.distances.emplace_back(output.elements == 0 ? 0 : samples);
  found.agreeing.resize(samples);
  return found;
}

llvm::Error ResultDistance::compare(int64_t number, int64_t valid,
                                    ArrayRef<void *> made,
                                    std::vector<float> &scratch,
                                    Found &found) const {
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
      found.distances[index][first + sample] =
          output.metric == ResultMetric::KL
              ? divergence(expected, actual, output.rowLength,
                           output.isDistribution)
              : squaredError(expected, actual);
      if (index == 0 && hasScores)
        found.agreeing[first + sample] =
            findLargest(actual) == findLargest(expected);
    }
    block = block.drop_front(output.elements * unit);
  }
  return llvm::Error::success();
}

double ResultDistance::distance(const Found &found) const {
  double total = 0, count = 0;
  for (auto [output, distances] : llvm::zip(outputs, found.distances)) {
    if (output.elements == 0)
      continue;
    double sum = 0, scale = 0;
    for (auto [each, energyOfSample] : llvm::zip(distances, output.energies)) {
      sum += each;
      scale += output.metric == ResultMetric::KL ? 1 : energyOfSample;
    }
    total += scale > 0 ? sum / scale : sum;
    ++count;
  }
  return total / count;
}

double ResultDistance::deviation(const Found &found) const {
  std::vector<double> each(samples);
  double mean = distance(found), count = 0;
  for (const Output &output : outputs)
    count += output.elements != 0;
  for (auto [output, distances] : llvm::zip(outputs, found.distances)) {
    if (output.elements == 0)
      continue;
    double scale = 0;
    for (double energyOfSample : output.energies)
      scale += output.metric == ResultMetric::KL ? 1 : energyOfSample;
    // The mean of what a sample adds is the distance.
    double factor = double(each.size()) / (scale > 0 ? scale : 1);
    for (auto [sum, added] : llvm::zip(each, distances))
      sum += added * factor / count;
  }
  double squares = 0;
  for (double value : each)
    squares += (value - mean) * (value - mean);
  return each.size() > 1 ? std::sqrt(squares / double(each.size() - 1)) : 0;
}

std::optional<double> ResultDistance::agreement(const Found &found) const {
  if (!hasScores || samples == 0)
    return std::nullopt;
  return double(llvm::count(found.agreeing, 1)) / double(samples);
}
