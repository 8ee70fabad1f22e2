// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/TrainingLosses.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace mct;
using namespace mct::quantization;
using llvm::ArrayRef;
using llvm::MutableArrayRef;

double quantization::squaredError(ArrayRef<float> values,
                                  ArrayRef<float> expected, double factor,
                                  MutableArrayRef<float> gradients) {
  double error = 0;
  for (auto [value, target, gradient] :
       llvm::zip(values, expected, gradients)) {
    double difference = double(value) - target;
    error += factor * difference * difference;
    gradient = float(factor * 2 * difference);
  }
  return error;
}

double quantization::normalizedSquaredError(ArrayRef<float> values,
                                            ArrayRef<float> expected,
                                            double factor,
                                            MutableArrayRef<float> gradients) {
  double error = 0, energy = 0;
  for (auto [value, target] : llvm::zip(values, expected)) {
    double difference = double(value) - target;
    error += difference * difference;
    energy += double(target) * target;
  }
  // Both means are over equally many values, whose number cancels.
  double unit =
      energy > 0 ? energy : std::max<double>(1, double(values.size()));
  for (auto [value, target, gradient] : llvm::zip(values, expected, gradients))
    gradient = float(factor * 2 * (double(value) - target) / unit);
  return error / unit;
}

double quantization::attendedError(const ComparedLayer &layer, double unit) {
  size_t size = layer.values.size() / layer.attention.size();
  double positions = double(size) / double(layer.channels), loss = 0;
  for (auto [sample, attention] : llvm::enumerate(layer.attention))
    loss += squaredError(layer.values.slice(sample * size, size),
                         layer.expected.slice(sample * size, size),
                         attention / (positions * unit),
                         layer.gradients.slice(sample * size, size));
  return loss;
}

/// Smallest probability: zero is not possible for networks of floats.
static constexpr double kSmallest = 0x1p-40;

/// The probabilities of a row.
static void normalize(Scores scores, ArrayRef<float> row,
                      MutableArrayRef<double> probabilities) {
  if (scores == Scores::Probabilities) {
    for (auto [score, probability] : llvm::zip(row, probabilities))
      probability = std::max(double(score), kSmallest);
    return;
  }
  double largest = *std::max_element(row.begin(), row.end()), sum = 0;
  for (auto [score, probability] : llvm::zip(row, probabilities))
    sum += probability = std::exp(double(score) - largest);
  for (double &probability : probabilities)
    probability = std::max(probability / sum, kSmallest);
}

llvm::Expected<double>
quantization::crossEntropy(Scores scores, ArrayRef<float> values,
                           ArrayRef<int64_t> labels, int64_t numClasses,
                           MutableArrayRef<float> gradients, int64_t allRows) {
  std::vector<double> row(numClasses);
  double loss = 0,
         rows = allRows == 0 ? double(labels.size()) : double(allRows);
  for (auto [number, label] : llvm::enumerate(labels)) {
    if (label < 0 || label >= numClasses)
      return llvm::createStringError(
          "label %lld of sample %zu is none of %lld classes",
          static_cast<long long>(label), number,
          static_cast<long long>(numClasses));
    size_t first = number * size_t(numClasses);
    normalize(scores, values.slice(first, numClasses), row);
    loss -= std::log(row[label]);
    for (int64_t each = 0; each != numClasses; ++each) {
      bool isLabel = each == label;
      gradients[first + each] =
          scores == Scores::Logits
              ? float((row[each] - (isLabel ? 1 : 0)) / rows)
              : float(isLabel ? -1 / (row[each] * rows) : 0);
    }
  }
  return rows == 0 ? 0 : loss / rows;
}

double quantization::divergenceFromTeacher(
    Scores scores, ArrayRef<float> values, ArrayRef<float> teacher,
    int64_t numClasses, MutableArrayRef<float> gradients, int64_t allRows) {
  std::vector<double> row(numClasses), target(numClasses);
  size_t own = values.size() / size_t(numClasses);
  double loss = 0, rows = allRows == 0 ? double(own) : double(allRows);
  for (size_t first = 0; first != own * size_t(numClasses);
       first += size_t(numClasses)) {
    normalize(scores, values.slice(first, numClasses), row);
    normalize(scores, teacher.slice(first, numClasses), target);
    for (int64_t each = 0; each != numClasses; ++each) {
      loss += target[each] * std::log(target[each] / row[each]);
      gradients[first + each] = scores == Scores::Logits
                                    ? float((row[each] - target[each]) / rows)
                                    : float(-target[each] / (row[each] * rows));
    }
  }
  return rows == 0 ? 0 : loss / rows;
}

/// Returns softmax(log(p) / temperature).
static std::vector<double> softenDistribution(ArrayRef<float> distribution,
                                              double temperature) {
  std::vector<double> soft;
  double sum = 0;
  for (float probability : distribution) {
    soft.push_back(
        std::pow(std::max(double(probability), kSmallest), 1 / temperature));
    sum += soft.back();
  }
  for (double &probability : soft)
    probability /= sum;
  return soft;
}

double quantization::softenedDivergence(ArrayRef<float> values,
                                        ArrayRef<float> teacher,
                                        double temperature, double factor,
                                        MutableArrayRef<float> gradients) {
  std::vector<double> actual = softenDistribution(values, temperature),
                      target = softenDistribution(teacher, temperature);
  double sum = 0;
  for (size_t i = 0; i != values.size(); ++i) {
    sum += target[i] * std::log(target[i] / actual[i]);
    // The derivative with respect to the logarithm is (actual - wanted) *
    // temperature. Values that are cut off get no gradient.
    gradients[i] = values[i] > kSmallest
                       ? float(factor * temperature * (actual[i] - target[i]) /
                               double(values[i]))
                       : 0.0F;
  }
  return factor * temperature * temperature * sum;
}

llvm::Expected<std::vector<double>>
quantization::normalizeScores(ArrayRef<double> scores, int64_t layers,
                              const ScoreNormalization &normalization) {
  if (layers <= 0 || scores.empty() || scores.size() % size_t(layers) != 0)
    return llvm::createStringError("%zu scores are not those of %lld layers",
                                   scores.size(),
                                   static_cast<long long>(layers));
  size_t samples = scores.size() / size_t(layers);
  std::vector<double> means(layers);
  for (size_t first = 0; first != scores.size(); first += size_t(layers)) {
    ArrayRef<double> row = scores.slice(first, layers);
    double sum = 0;
    for (double score : row) {
      if (!(score >= 0) || std::isinf(score))
        return llvm::createStringError(
            "a score is a finite number from 0 on, found %g", score);
      sum += score;
    }
    // MCT adds the same constant, so that a sample without any effect has no
    // weight.
    double unit = normalization.bySample ? sum + 1e-8 : 1;
    for (auto [mean, score] : llvm::zip(means, row))
      mean += score / unit / double(samples);
  }
  if (!normalization.isLogarithmic)
    return means;
  double smallest = 0;
  for (double mean : means)
    if (mean > 0 && (smallest == 0 || mean < smallest))
      smallest = mean;
  if (smallest == 0)
    return std::vector<double>(layers, 0.0);
  double largest = 0;
  for (double &mean : means) {
    mean = std::log10(std::max(mean, smallest) / smallest);
    largest = std::max(largest, mean);
  }
  if (normalization.isScaled && largest > 0)
    for (double &mean : means)
      mean /= largest;
  return means;
}
