// SPDX-License-Identifier: Apache-2.0
//
// Losses of the shards of a batch against those of the batch.
#include "ReferenceQuantizers.h"
#include "mct/Training/TrainingHost.h"

#include "llvm/ADT/STLExtras.h"
#include "gtest/gtest.h"

#include <random>

using namespace mct;
using quantization::Scores;

namespace {

constexpr int64_t kSamples = 20;

std::vector<float> draw(std::mt19937 &random, size_t count, float low) {
  std::vector<float> values(count);
  for (float &value : values)
    value = low + float(random() >> 8) * 0x1p-24f;
  return values;
}

/// A batch of some samples of a source of kSamples.
struct Batch {
  std::vector<int64_t> samples;
  std::vector<ComparedShape> shapes;
  std::vector<std::vector<float>> values, teacher, gradients;

  Batch(std::vector<int64_t> samples, std::vector<ComparedShape> shapes,
        float low = -0.5f)
      : samples(std::move(samples)), shapes(std::move(shapes)) {
    std::mt19937 random(5);
    for (const ComparedShape &shape : this->shapes) {
      size_t count = this->samples.size() * size_t(shape.elements);
      values.push_back(draw(random, count, low));
      teacher.push_back(draw(random, count, low));
      gradients.emplace_back(count, NAN);
    }
  }

  double compute(TrainingLoss &loss, int64_t shard) {
    llvm::cantFail(loss.check(shapes, kSamples, kSamples));
    TrainingBatch batch;
    batch.samples = samples;
    std::vector<llvm::ArrayRef<float>> all(teacher.begin(), teacher.end());
    if (loss.needsTeacher())
      batch.teacher = all;
    BatchLoss begun = loss.begin(batch);
    double sum = 0;
    for (int64_t first = 0; first < int64_t(samples.size()); first += shard) {
      TrainingShard own;
      own.first = first;
      own.samples = llvm::ArrayRef(samples).slice(
          first, std::min<int64_t>(shard, int64_t(samples.size()) - first));
      std::vector<TrainingShard::Result> results;
      for (size_t number = 0; number != shapes.size(); ++number) {
        size_t elements = size_t(shapes[number].elements),
               begin = size_t(first) * elements,
               count = own.samples.size() * elements;
        results.push_back({llvm::ArrayRef(values[number]).slice(begin, count),
                           llvm::ArrayRef(teacher[number]).slice(begin, count),
                           llvm::MutableArrayRef<float>(gradients[number])
                               .slice(begin, count)});
      }
      own.results = results;
      sum += llvm::cantFail(begun(own));
    }
    return sum;
  }

  void expectGradients(llvm::ArrayRef<std::vector<float>> wanted) const {
    for (auto [own, other] : llvm::zip_equal(gradients, wanted))
      for (auto [gradient, expected] : llvm::zip_equal(own, other))
        EXPECT_NEAR(gradient, expected, 1e-6 * std::abs(expected) + 1e-9);
  }
};

TEST(TrainingLoss, CrossEntropyIsThatOfTheBatch) {
  std::vector<int64_t> labels(kSamples);
  for (auto [number, label] : llvm::enumerate(labels))
    label = int64_t(number) % 4;
  for (Scores scores : {Scores::Logits, Scores::Probabilities}) {
    Batch batch({3, 19, 0, 7, 7, 2, 11}, {{"scores", 4, 4}}, 0.25f);
    auto loss = createCrossEntropyLoss(scores, labels);
    EXPECT_FALSE(loss->needsTeacher());
    double found = batch.compute(*loss, 3);
    std::vector<std::vector<float>> gradients = batch.gradients;
    std::vector<int64_t> own = {3, 3, 0, 3, 3, 2, 3};
    EXPECT_NEAR(found,
                llvm::cantFail(quantization::crossEntropy(
                    scores, batch.values[0], own, 4, gradients[0])),
                1e-12);
    batch.expectGradients(gradients);
  }
}

TEST(TrainingLoss, DivergenceIsThatOfTheBatch) {
  Batch batch({3, 19, 0, 7, 2}, {{"scores", 4, 4}});
  std::vector<std::vector<float>> gradients = batch.gradients;
  auto loss = createDivergenceLoss(Scores::Logits);
  EXPECT_NEAR(
      batch.compute(*loss, 2),
      quantization::divergenceFromTeacher(Scores::Logits, batch.values[0],
                                          batch.teacher[0], 4, gradients[0]),
      1e-12);
  batch.expectGradients(gradients);
}

TEST(TrainingLoss, SquaredErrorsAreMeansOfTheBatch) {
  Batch batch({3, 19, 0, 7, 2}, {{"a", 12, 3}, {"b", 5, 5}});
  std::vector<std::vector<float>> gradients = batch.gradients;
  double expected =
      quantization::normalizedSquaredError(batch.values[0], batch.teacher[0],
                                           3.0 / 2, gradients[0]) *
          3 / 2 +
      quantization::normalizedSquaredError(batch.values[1], batch.teacher[1],
                                           0.5 / 2, gradients[1]) *
          0.5 / 2;
  auto loss = createSquaredErrorLoss(ErrorUnit::Normalized, {3, 0.5});
  EXPECT_NEAR(batch.compute(*loss, 2), expected, 1e-12);
  batch.expectGradients(gradients);

  // Without weights all count 1; the plain error is not divided by anything.
  expected = 0;
  for (size_t number : {0, 1}) {
    double sum = 0, count = double(batch.values[number].size());
    for (auto [value, wanted, gradient] : llvm::zip(
             batch.values[number], batch.teacher[number], gradients[number])) {
      double difference = double(value) - wanted;
      sum += difference * difference;
      gradient = float(difference / count);
    }
    expected += sum / count / 2;
  }
  loss = createSquaredErrorLoss(ErrorUnit::Plain);
  EXPECT_NEAR(batch.compute(*loss, 4), expected, 1e-12);
  batch.expectGradients(gradients);
}

TEST(TrainingLoss, ASilentTeacherIsNoUnit) {
  Batch batch({0, 1}, {{"a", 2, 2}});
  llvm::fill(batch.teacher[0], 0.0f);
  llvm::fill(batch.values[0], 2.0f);
  EXPECT_EQ(batch.compute(*createSquaredErrorLoss(ErrorUnit::Normalized), 1),
            4);
}

TEST(TrainingLoss, AttentionIsThatOfTheBatch) {
  Batch batch({3, 19, 0, 7, 2}, {{"a", 12, 3}, {"b", 5, 5}});
  std::vector<double> attention(2 * kSamples);
  for (auto [number, each] : llvm::enumerate(attention))
    each = double(number * 7 % 11);
  std::vector<std::vector<float>> gradients = batch.gradients;
  std::vector<std::vector<double>> own(2);
  std::vector<quantization::ComparedLayer> layers(2);
  for (size_t number : {0, 1}) {
    for (int64_t sample : batch.samples)
      own[number].push_back(attention[size_t(sample) * 2 + number]);
    layers[number] = {batch.values[number], batch.teacher[number],
                      batch.shapes[number].channels, gradients[number],
                      own[number]};
  }
  double expected = llvm::cantFail(quantization::sampleLayerAttention(layers));
  EXPECT_NEAR(batch.compute(*createAttentionLoss(attention), 2), expected,
              1e-12);
  batch.expectGradients(gradients);
}

TEST(TrainingLoss, ABatchThatNobodyAttendsToIsNoLoss) {
  Batch batch({3, 4}, {{"a", 2, 2}});
  std::vector<double> attention(kSamples, 1.0);
  attention[3] = attention[4] = 0;
  EXPECT_EQ(batch.compute(*createAttentionLoss(attention), 1), 0);
  batch.expectGradients({std::vector<float>(4, 0.0f)});
}

/// Squared errors of two results; refuses values above a limit.
class SquaredErrorHost : public TrainingHost {
public:
  bool watchesSteps() const override { return false; }
  llvm::Error afterStep(const TrainingStepInfo &,
                        llvm::ArrayRef<std::string>) override {
    return llvm::Error::success();
  }
  bool hasLoss() const override { return true; }
  llvm::Expected<double>
  computeLoss(llvm::ArrayRef<ComparedShape> shapes,
              llvm::ArrayRef<TrainingShard::Result> results,
              llvm::ArrayRef<double> weights) override {
    double sum = 0;
    for (auto [shape, result, weight] :
         llvm::zip_equal(shapes, results, weights)) {
      if (result.values.front() > limit)
        return llvm::createStringError("it is too large");
      double samples = double(result.values.size()) / double(shape.elements);
      sum += quantization::squaredError(result.values, result.teacher,
                                        weight / samples, result.gradients);
    }
    return sum;
  }
  std::string describeLoss() const override { return "squares"; }

  float limit = 2;
};

TEST(TrainingLoss, OfTheProgramIsTheMeanOverShards) {
  SquaredErrorHost host;
  auto loss = createHostLoss(host, {1, 0.25});
  EXPECT_TRUE(loss->needsTeacher());
  // The last shard has fewer samples than the others.
  Batch batch({3, 19, 0, 7, 2}, {{"one", 6, 3}, {"two", 4, 4}});
  std::vector<std::vector<float>> gradients = batch.gradients;
  double wanted = 0;
  for (size_t number : {0, 1})
    wanted += quantization::squaredError(
        batch.values[number], batch.teacher[number],
        (number == 0 ? 1 : 0.25) / 5, gradients[number]);
  for (int64_t shard : {2, 5}) {
    EXPECT_NEAR(batch.compute(*loss, shard), wanted, 1e-12);
    batch.expectGradients(gradients);
  }
  EXPECT_NE(loss->describe(), createHostLoss(host, {1, 0.5})->describe());
  // A failure there is the failure of the shard.
  host.limit = -1;
  std::vector<TrainingShard::Result> results = {
      {batch.values[0], batch.teacher[0], batch.gradients[0]},
      {batch.values[1], batch.teacher[1], batch.gradients[1]}};
  EXPECT_EQ(llvm::toString(
                loss->begin({batch.samples, {}})({0, batch.samples, results})
                    .takeError()),
            "it is too large");
}

TEST(TrainingLoss, IsDescribedByWhatItDependsOn) {
  auto describe = [](std::unique_ptr<TrainingLoss> loss) {
    return loss->describe();
  };
  std::vector<std::string> texts = {
      describe(createCrossEntropyLoss(Scores::Logits, {0, 1})),
      describe(createCrossEntropyLoss(Scores::Probabilities, {0, 1})),
      describe(createCrossEntropyLoss(Scores::Logits, {1, 0})),
      describe(createDivergenceLoss(Scores::Logits)),
      describe(createDivergenceLoss(Scores::Probabilities)),
      describe(createSquaredErrorLoss(ErrorUnit::Plain, {1, 2})),
      describe(createSquaredErrorLoss(ErrorUnit::Normalized, {1, 2})),
      describe(createSquaredErrorLoss(ErrorUnit::Plain, {2, 1})),
      describe(createAttentionLoss({1, 2})),
      describe(createAttentionLoss({2, 1}))};
  for (size_t first = 0; first != texts.size(); ++first)
    for (size_t second = 0; second != first; ++second)
      EXPECT_NE(texts[first], texts[second]);
}

} // namespace
