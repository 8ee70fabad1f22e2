// SPDX-License-Identifier: Apache-2.0
#include "mct/Training/TrainingLoss.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/xxhash.h"

#include <algorithm>
#include <cmath>

using namespace mct;
using llvm::ArrayRef;
using quantization::Scores;

TrainingLoss::~TrainingLoss() = default;

template <typename... Parts>
static llvm::Error fail(const char *format, Parts &&...parts) {
  return llvm::createStringError(
      llvm::formatv(format, std::forward<Parts>(parts)...).str());
}

template <typename T> static std::string hashOf(ArrayRef<T> values) {
  llvm::XXH128_hash_t hash =
      llvm::xxh3_128bits({reinterpret_cast<const uint8_t *>(values.data()),
                          values.size() * sizeof(T)});
  return llvm::formatv("{0} values {1:x-16}{2:x-16}", values.size(),
                       hash.high64, hash.low64)
      .str();
}

static llvm::Error checkScores(ArrayRef<ComparedShape> results) {
  if (results.size() != 1)
    return fail("the loss is of one result, the scores of classes, and {0} are "
                "compared",
                results.size());
  const ComparedShape &shape = results.front();
  if (shape.channels != shape.elements)
    return fail("'{0}' has {1} values for each sample, {2} of them on the last "
                "axis, so that it does not hold scores of classes",
                shape.name, shape.elements, shape.channels);
  return llvm::Error::success();
}

namespace {

class CrossEntropyLoss : public TrainingLoss {
public:
  CrossEntropyLoss(Scores scores, std::vector<int64_t> labels)
      : scores(scores), labels(std::move(labels)) {}

  bool needsTeacher() const override { return false; }

  llvm::Error check(ArrayRef<ComparedShape> results, int64_t numSamples,
                    int64_t numAvailable) override {
    if (llvm::Error error = checkScores(results))
      return error;
    auto count = int64_t(labels.size());
    if (count != numSamples && count != numAvailable)
      return fail("there are {0} labels for {1} samples", count, numAvailable);
    labels.resize(numSamples);
    classes = results.front().channels;
    for (auto [number, label] : llvm::enumerate(labels))
      if (label < 0 || label >= classes)
        return fail("label {0} of sample {1} is none of the {2} classes of "
                    "'{3}'",
                    label, number, classes, results.front().name);
    return llvm::Error::success();
  }

  BatchLoss begin(const TrainingBatch &batch) const override {
    return [this, rows = int64_t(batch.samples.size())](
               const TrainingShard &shard) -> llvm::Expected<double> {
      std::vector<int64_t> own;
      for (int64_t sample : shard.samples)
        own.push_back(labels[sample]);
      const TrainingShard::Result &result = shard.results.front();
      return quantization::crossEntropy(scores, result.values, own, classes,
                                        result.gradients, rows);
    };
  }

  std::string describe() const override {
    return llvm::formatv("cross entropy {0} {1}", int(scores),
                         hashOf(ArrayRef(labels)));
  }

private:
  Scores scores;
  std::vector<int64_t> labels;
  int64_t classes = 1;
};

class DivergenceLoss : public TrainingLoss {
public:
  explicit DivergenceLoss(Scores scores) : scores(scores) {}

  bool needsTeacher() const override { return true; }

  llvm::Error check(ArrayRef<ComparedShape> results, int64_t,
                    int64_t) override {
    if (llvm::Error error = checkScores(results))
      return error;
    classes = results.front().channels;
    return llvm::Error::success();
  }

  BatchLoss begin(const TrainingBatch &batch) const override {
    return [this, rows = int64_t(batch.samples.size())](
               const TrainingShard &shard) -> llvm::Expected<double> {
      const TrainingShard::Result &result = shard.results.front();
      return quantization::divergenceFromTeacher(scores, result.values,
                                                 result.teacher, classes,
                                                 result.gradients, rows);
    };
  }

  std::string describe() const override {
    return llvm::formatv("divergence {0}", int(scores));
  }

private:
  Scores scores;
  int64_t classes = 1;
};

class SquaredErrorLoss : public TrainingLoss {
public:
  SquaredErrorLoss(ErrorUnit unit, std::vector<double> weights)
      : unit(unit), weights(std::move(weights)) {}

  bool needsTeacher() const override { return true; }

  llvm::Error check(ArrayRef<ComparedShape> results, int64_t,
                    int64_t) override {
    if (weights.empty())
      weights.assign(results.size(), 1.0);
    if (weights.size() != results.size())
      return fail("there are {0} weights for {1} results that are compared",
                  weights.size(), results.size());
    for (double weight : weights)
      if (!(weight >= 0) || std::isinf(weight))
        return fail("the weight of a result is a finite number from 0 on, "
                    "found {0}",
                    weight);
    return llvm::Error::success();
  }

  BatchLoss begin(const TrainingBatch &batch) const override {
    std::vector<double> factors;
    for (auto [teacher, weight] : llvm::zip_equal(batch.teacher, weights)) {
      double energy = 0;
      if (unit == ErrorUnit::Normalized)
        for (float value : teacher)
          energy += double(value) * value;
      // If the energy is 0, do not divide by it.
      if (!(energy > 0))
        energy = std::max<double>(1, double(teacher.size()));
      factors.push_back(weight / (double(weights.size()) * energy));
    }
    return [factors = std::move(factors)](
               const TrainingShard &shard) -> llvm::Expected<double> {
      double loss = 0;
      for (auto [result, factor] : llvm::zip_equal(shard.results, factors))
        loss += quantization::squaredError(result.values, result.teacher,
                                           factor, result.gradients);
      return loss;
    };
  }

  std::string describe() const override {
    return llvm::formatv("squared error {0} {1}", int(unit),
                         hashOf(ArrayRef(weights)));
  }

private:
  ErrorUnit unit;
  std::vector<double> weights;
};

class AttentionLoss : public TrainingLoss {
public:
  explicit AttentionLoss(std::vector<double> attention)
      : attention(std::move(attention)) {}

  bool needsTeacher() const override { return true; }

  llvm::Error check(ArrayRef<ComparedShape> results, int64_t numSamples,
                    int64_t) override {
    shapes.assign(results.begin(), results.end());
    if (attention.size() != results.size() * size_t(numSamples))
      return fail("{0} scores are not those of {1} samples at {2} results",
                  attention.size(), numSamples, results.size());
    for (double score : attention)
      if (!(score >= 0) || std::isinf(score))
        return fail("the attention to a sample is a finite number from 0 on, "
                    "found {0}",
                    score);
    return llvm::Error::success();
  }

  double at(int64_t sample, size_t layer) const {
    return attention[size_t(sample) * shapes.size() + layer];
  }

  BatchLoss begin(const TrainingBatch &batch) const override {
    // This is the number of samples times the largest mean.
    double unit = 0;
    for (size_t layer = 0; layer != shapes.size(); ++layer) {
      double sum = 0;
      for (int64_t sample : batch.samples)
        sum += at(sample, layer);
      unit = std::max(unit, sum);
    }
    // If no sample counts, do not divide by 0.
    if (unit == 0)
      unit = 1;
    return [this, unit](const TrainingShard &shard) -> llvm::Expected<double> {
      double sum = 0;
      std::vector<double> own(shard.samples.size());
      for (auto [number, result] : llvm::enumerate(shard.results)) {
        for (auto [sample, each] : llvm::zip_equal(shard.samples, own))
          each = at(sample, number);
        quantization::ComparedLayer layer;
        layer.values = result.values;
        layer.expected = result.teacher;
        layer.gradients = result.gradients;
        layer.channels = shapes[number].channels;
        layer.attention = own;
        sum += quantization::attendedError(layer, unit);
      }
      return sum;
    };
  }

  std::string describe() const override {
    return llvm::formatv("attention {0}", hashOf(ArrayRef(attention)));
  }

private:
  std::vector<double> attention;
  std::vector<ComparedShape> shapes;
};

} // namespace

std::unique_ptr<TrainingLoss>
mct::createCrossEntropyLoss(Scores scores, std::vector<int64_t> labels) {
  return std::make_unique<CrossEntropyLoss>(scores, std::move(labels));
}

std::unique_ptr<TrainingLoss> mct::createDivergenceLoss(Scores scores) {
  return std::make_unique<DivergenceLoss>(scores);
}

std::unique_ptr<TrainingLoss>
mct::createSquaredErrorLoss(ErrorUnit unit, std::vector<double> weights) {
  return std::make_unique<SquaredErrorLoss>(unit, std::move(weights));
}

std::unique_ptr<TrainingLoss>
mct::createAttentionLoss(std::vector<double> attention) {
  return std::make_unique<AttentionLoss>(std::move(attention));
}
