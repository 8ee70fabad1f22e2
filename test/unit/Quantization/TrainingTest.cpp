// SPDX-License-Identifier: Apache-2.0
#include "ReferenceQuantizers.h"
#include "mct/Quantization/Optimizers.h"
#include "mct/Quantization/TrainingLosses.h"
#include "gtest/gtest.h"
#include <cmath>
#include <functional>
#include <random>

using namespace mct::quantization;
using Floats = std::vector<float>;

namespace {

/// Compares gradients with differences of a loss in double.
void expectGradients(const Floats &values, const Floats &gradients,
                     const std::function<double(const Floats &)> &loss) {
  constexpr float kDelta = 1e-2f;
  for (size_t i = 0; i != values.size(); ++i) {
    Floats more = values, less = values;
    more[i] += kDelta;
    less[i] -= kDelta;
    // The error is of third order in kDelta.
    EXPECT_NEAR(gradients[i],
                (loss(more) - loss(less)) / (double(more[i]) - less[i]), 2e-3)
        << i;
  }
}

Floats random(size_t size, uint64_t seed) {
  std::mt19937_64 generator(seed);
  std::uniform_real_distribution<float> unit(-1, 1);
  Floats values(size);
  for (float &value : values)
    value = unit(generator);
  return values;
}

//===----------------------------------------------------------------------===//
// Losses
//===----------------------------------------------------------------------===//

TEST(NormalizedSquaredError, IsDividedByTheEnergyOfWhatShouldBe) {
  Floats gradients(2);
  EXPECT_EQ(normalizedSquaredError({1, 2}, {2, 2}, 1, gradients), .125);
  EXPECT_EQ(gradients, (Floats{-.25f, 0}));
  normalizedSquaredError({1, 2}, {2, 2}, 3, gradients);
  EXPECT_EQ(gradients, (Floats{-.75f, 0}));
  EXPECT_EQ(normalizedSquaredError({1, 2}, {0, 0}, 1, gradients), 2.5);
  EXPECT_EQ(gradients, (Floats{1, 2}));
  Floats values = random(6, 1), wanted = random(6, 2), found(6), scratch(6);
  normalizedSquaredError(values, wanted, 1, found);
  expectGradients(values, found, [&](const Floats &at) {
    return normalizedSquaredError(at, wanted, 1, scratch);
  });
}

// Layers of 1/8 and 3/8 that count 1 and 3: the mean is 5/8. The gradient of a
// layer is its weight times its own, divided by the number of layers.
TEST(NormalizedSquaredError, LayersCountByTheirWeights) {
  const Floats first = {1, 2}, second = {0, 1, 1, 2};
  const double weights[] = {1, 3};
  Floats ofFirst(2), ofSecond(4);
  double loss =
      weights[0] / 2 *
          normalizedSquaredError(first, {2, 2}, weights[0] / 2, ofFirst) +
      weights[1] / 2 *
          normalizedSquaredError(second, {2, 2, 2, 2}, weights[1] / 2,
                                 ofSecond);
  EXPECT_EQ(loss, .625);
  EXPECT_EQ(ofFirst, (Floats{-.125f, 0}));
  EXPECT_EQ(ofSecond, (Floats{-.375f, -.1875f, -.1875f, 0}));
}

// Two samples: squares of layer A 2 and 4 with the attention 1 and 3, of layer
// B 1 and 1 with 1/2: (7 + 1/2) / 2.
TEST(SampleLayerAttention, WeighsSamplesAndLayers) {
  Floats a = {1, 1, 2, 0}, b = {1, 0, 0, 1}, zero(4), ofA(4), ofB(4);
  double loss = llvm::cantFail(sampleLayerAttention(
      {{a, zero, 2, ofA, {1, 3}}, {b, zero, 2, ofB, {.5, .5}}}));
  EXPECT_EQ(loss, 3.75);
  EXPECT_EQ(ofA, (Floats{.5f, .5f, 3, 0}));
  EXPECT_EQ(ofB, (Floats{.25f, 0, 0, .25f}));
}

// Over positions it is a mean, over channels a sum.
TEST(SampleLayerAttention, PositionsAreAveraged) {
  Floats values = random(2 * 3 * 4, 3), wanted = random(24, 4), found(24),
         scratch(24);
  auto loss = [&](const Floats &at, Floats &gradients) {
    return llvm::cantFail(
        sampleLayerAttention({{at, wanted, 4, gradients, {.25, .75}}}));
  };
  double expected = 0;
  for (size_t i = 0; i != 24; ++i)
    expected += (i < 12 ? .25 : .75) / 2 / 3 / .5 *
                std::pow(double(values[i]) - wanted[i], 2);
  EXPECT_NEAR(loss(values, found), expected, 1e-12);
  expectGradients(values, found,
                  [&](const Floats &at) { return loss(at, scratch); });
}

TEST(SampleLayerAttention, RefusesWhatDoesNotFit) {
  Floats values(6), gradients(6);
  auto refuse = [&](int64_t channels, llvm::ArrayRef<double> attention) {
    return llvm::toString(
        sampleLayerAttention({{values, values, channels, gradients, attention}})
            .takeError());
  };
  EXPECT_EQ(refuse(2, {1, 1}), "a layer of 6 values, 6 expected ones and 2 "
                               "channels cannot be divided into 2 samples");
  EXPECT_EQ(refuse(3, {0, 0}), "no sample counts in any layer");
}

TEST(CrossEntropy, OfLogitsAndOfProbabilities) {
  const std::vector<int64_t> labels = {2, 0};
  Floats logits = {0, 1, 2, -1, 0, .5f}, probabilities, found(6), scratch(6);
  double expected = 0;
  for (int row = 0; row != 2; ++row) {
    double sum = 0;
    for (int i = 0; i != 3; ++i)
      sum += std::exp(double(logits[3 * row + i]));
    for (int i = 0; i != 3; ++i)
      probabilities.push_back(float(std::exp(logits[3 * row + i]) / sum));
    expected -= std::log(std::exp(logits[3 * row + labels[row]]) / sum) / 2;
  }
  for (const auto &[scores, values] :
       {std::pair(Scores::Logits, logits),
        std::pair(Scores::Probabilities, probabilities)}) {
    auto loss = [&, scores = scores](const Floats &at, Floats &gradients) {
      return llvm::cantFail(crossEntropy(scores, at, labels, 3, gradients));
    };
    EXPECT_NEAR(loss(values, found), expected, 1e-6);
    // 1 / p bends more than the others: by 1 / p^3 at least 0.1.
    if (scores == Scores::Logits)
      expectGradients(values, found,
                      [&](const Floats &at) { return loss(at, scratch); });
    else
      EXPECT_NEAR(found[2], -.5 / probabilities[2], 1e-6);
  }
  EXPECT_EQ(
      llvm::toString(
          crossEntropy(Scores::Logits, logits, {2, 3}, 3, found).takeError()),
      "label 3 of sample 1 is none of 3 classes");
}

TEST(DivergenceFromTeacher, IsZeroForTheTeacherAlone) {
  Floats teacher = random(12, 5), values = random(12, 6), found(12),
         scratch(12);
  EXPECT_NEAR(divergenceFromTeacher(Scores::Logits, teacher, teacher, 4, found),
              0, 1e-12);
  EXPECT_LT(std::abs(found[0]), 1e-7);
  double divergence =
      divergenceFromTeacher(Scores::Logits, values, teacher, 4, found);
  EXPECT_GT(divergence, 0);
  expectGradients(values, found, [&](const Floats &at) {
    return divergenceFromTeacher(Scores::Logits, at, teacher, 4, scratch);
  });
  // ln 2 / 2 + ln(2/3) / 2, gradients -p / q.
  Floats both(2);
  EXPECT_NEAR(divergenceFromTeacher(Scores::Probabilities, {.25f, .75f},
                                    {.5f, .5f}, 2, both),
              .5 * std::log(2) + .5 * std::log(2. / 3), 1e-12);
  EXPECT_EQ(both[0], -2);
  // An impossible class counts as unlikely.
  EXPECT_TRUE(std::isfinite(
      divergenceFromTeacher(Scores::Probabilities, {0, 1}, {1, 0}, 2, both)));
}

TEST(SoftenedDivergence, IsOfLogitsThatAreDividedByTheTemperature) {
  Floats teacher{.7f, .2f, .1f}, values{.3f, .45f, .25f}, found(3), scratch(3);
  // Without a temperature it is the ordinary one, but that it makes the sum of
  // three floats 1.
  EXPECT_NEAR(softenedDivergence(values, teacher, 1, .5, found),
              .5 * divergenceFromTeacher(Scores::Probabilities, values, teacher,
                                         3, scratch),
              1e-7);
  // The gradients along distributions are the same.
  EXPECT_NEAR(found[0] - found[1], .5 * (scratch[0] - scratch[1]), 1e-6);
  // Logits, which are the logarithms, at a temperature.
  Floats logits(3), wanted(3);
  for (int i = 0; i != 3; ++i) {
    logits[i] = std::log(values[i]) / 4;
    wanted[i] = std::log(teacher[i]) / 4;
  }
  EXPECT_NEAR(
      softenedDivergence(values, teacher, 4, 2, found),
      2 * 16 *
          divergenceFromTeacher(Scores::Logits, logits, wanted, 3, scratch),
      1e-6);
  expectGradients(values, found, [&](const Floats &at) {
    return softenedDivergence(at, teacher, 4, 2, scratch);
  });
  // An impossible class counts as unlikely, and gets no gradient.
  EXPECT_TRUE(
      std::isfinite(softenedDivergence({0, 1, 0}, {1, 0, 0}, 4, 1, found)));
  EXPECT_EQ(found[0], 0);
}

TEST(NormalizeScores, LogarithmsBeginAtZero) {
  auto normalize = [](const std::vector<double> &scores, bool isScaled) {
    return llvm::cantFail(normalizeScores(
        scores, 3, {/*bySample=*/false, /*isLogarithmic=*/true, isScaled}));
  };
  auto expect = [](const std::vector<double> &found,
                   const std::vector<double> &expected) {
    for (size_t i = 0; i != expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 1e-12);
  };
  expect(normalize({.5, .05, .005}, false), {2, 1, 0});
  expect(normalize({.5, .05, .005}, true), {1, .5, 0});
  // Zero counts as the smallest that is not.
  expect(normalize({.5, 0, .05}, false), {1, 0, 0});
  expect(normalize({0, 0, 0}, true), {0, 0, 0});
  // The mean over two samples that weigh alike whatever their size.
  auto mean = llvm::cantFail(normalizeScores(
      {1, 3, 300, 100}, 2, {/*bySample=*/true, /*isLogarithmic=*/false}));
  EXPECT_NEAR(mean[0], .5, 1e-8);
  EXPECT_NEAR(mean[1], .5, 1e-8);
  EXPECT_EQ(llvm::toString(normalizeScores({1, 2, 3}, 2, {}).takeError()),
            "3 scores are not those of 2 layers");
  EXPECT_EQ(llvm::toString(normalizeScores({1, -2}, 2, {}).takeError()),
            "a score is a finite number from 0 on, found -2");
}

//===----------------------------------------------------------------------===//
// Optimizers
//===----------------------------------------------------------------------===//

TEST(Adam, TheFirstStepHasTheRate) {
  Floats mean(3), square(3), parameters = {1, 1, 1};
  step(Adam{.03}, 1, mean, square, {5, -.001f, 0}, parameters);
  EXPECT_NEAR(parameters[0], .97, 1e-6);
  EXPECT_NEAR(parameters[1], 1.03, 1e-6);
  EXPECT_EQ(parameters[2], 1);
}

// Straight from the definition, with the gradient of (p - 3)^2, for 50 steps.
TEST(Adam, FollowsItsDefinition) {
  Adam adam{.1, .8, .95, 1e-6};
  Floats mean(1), square(1), parameters = {0};
  double p = 0, m = 0, v = 0;
  for (int number = 1; number <= 50; ++number) {
    step(adam, number, mean, square, {float(2 * (parameters[0] - 3))},
         parameters, .5);
    double g = 2 * (p - 3);
    m = .8 * m + .2 * g;
    v = .95 * v + .05 * g * g;
    double first = m / (1 - std::pow(.8, number)),
           second = v / (1 - std::pow(.95, number));
    p -= .05 * first / (std::sqrt(second) + 1e-6);
    // Rounding to f32, step by step.
    ASSERT_NEAR(parameters[0], p, 1e-5) << number;
  }
  EXPECT_GT(parameters[0], 2);
}

TEST(GradientDescent, KeepsItsVelocity) {
  Floats velocity(1), parameters = {1};
  step(GradientDescent{.1, .9}, velocity, {1}, parameters);
  EXPECT_FLOAT_EQ(parameters[0], .9f);
  step(GradientDescent{.1, .9}, velocity, {1}, parameters);
  EXPECT_FLOAT_EQ(parameters[0], .71f);
  step(GradientDescent{.1}, {}, {1}, parameters, .5);
  EXPECT_FLOAT_EQ(parameters[0], .66f);
}

TEST(RateSchedule, RisesAndFalls) {
  RateSchedule cosine{RateSchedule::Kind::Cosine, 12, 2};
  EXPECT_EQ(cosine.at(0), .5);
  EXPECT_EQ(cosine.at(1), 1);
  EXPECT_EQ(cosine.at(2), 1);
  EXPECT_NEAR(cosine.at(7), .5, 1e-12);
  EXPECT_NEAR(cosine.at(12), 0, 1e-12);
  RateSchedule linear{RateSchedule::Kind::Linear, 4};
  EXPECT_EQ(linear.at(1), .75);
  EXPECT_EQ(linear.at(9), 0);
  EXPECT_EQ(RateSchedule{}.at(1000), 1);
}

} // namespace
