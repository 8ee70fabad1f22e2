// SPDX-License-Identifier: Apache-2.0
//
// Differences that weights are fitted to, judged by samples that nothing was
// fitted to.
#include "mct/Quantization/LeastSquaresRounding.h"

#include "gtest/gtest.h"

#include <cmath>
#include <random>

using namespace mct;
using namespace mct::quantization;

namespace {

/// A layer, and differences of its targets from its outputs: `known` times a
/// linear function of the inputs, plus noise that depends on the sample.
struct Differences {
  int64_t columns, outputs, rowsPerSample;
  std::vector<float> weights, change;
  float known;
  std::mt19937 random;

  Differences(unsigned seed, int64_t columns, int64_t outputs,
              int64_t rowsPerSample, float known)
      : columns(columns), outputs(outputs), rowsPerSample(rowsPerSample),
        known(known), random(seed) {
    std::normal_distribution<float> normal;
    for (int64_t i = 0; i != columns * outputs; ++i) {
      weights.push_back(normal(random));
      change.push_back(normal(random) / std::sqrt(float(columns)));
    }
  }

  struct Rows {
    std::vector<float> inputs, targets;
  };
  Rows draw(int64_t samples) {
    std::normal_distribution<float> normal;
    Rows rows;
    for (int64_t sample = 0; sample != samples; ++sample) {
      std::vector<float> chance(outputs);
      for (float &value : chance)
        value = normal(random);
      // Rows of one sample resemble each other, as positions of an image do.
      std::vector<float> common(columns);
      for (float &value : common)
        value = normal(random);
      for (int64_t row = 0; row != rowsPerSample; ++row) {
        size_t first = rows.inputs.size();
        for (int64_t i = 0; i != columns; ++i)
          rows.inputs.push_back(common[i] + 0.3f * normal(random));
        for (int64_t output = 0; output != outputs; ++output) {
          float sum = chance[output];
          for (int64_t i = 0; i != columns; ++i)
            sum +=
                rows.inputs[first + i] * (weights[output * columns + i] +
                                          known * change[output * columns + i]);
          rows.targets.push_back(sum);
        }
      }
    }
    return rows;
  }
  double shrink(Rows &rows, int64_t half, unsigned threads = 1) const {
    TargetRows layer;
    layer.rows = int64_t(rows.inputs.size()) / columns;
    layer.half = half * rowsPerSample;
    layer.columns = columns;
    layer.outputs = outputs;
    layer.inputs = rows.inputs.data();
    layer.targets = rows.targets.data();
    return shrinkTargets(layer, weights, RoundingProblem::kDamping, threads);
  }
  RoundedWeights round(const Rows &rows) const {
    auto count = int64_t(rows.inputs.size()) / columns;
    ProductMoments moments =
        productMoments({rows.inputs.data(), count, columns, columns},
                       {rows.targets.data(), count, outputs, outputs}, 1);
    std::vector<std::vector<WeightLevels>> levels{
        {{symmetricGrid(4, 8, true), {}}}};
    return roundLeastSquares({moments, weights, levels, true}, 1);
  }
  /// Returns the mean squared difference from targets.
  double measure(const RoundedWeights &rounded, const Rows &rows) const {
    double sum = 0;
    auto count = int64_t(rows.inputs.size()) / columns;
    for (int64_t row = 0; row != count; ++row)
      for (int64_t output = 0; output != outputs; ++output) {
        double value = rounded.bias[output];
        for (int64_t i = 0; i != columns; ++i)
          value += double(rows.inputs[row * columns + i]) *
                   double(rounded.weights[output * columns + i]);
        double difference =
            value - double(rows.targets[row * outputs + output]);
        sum += difference * difference;
      }
    return sum / double(count * outputs);
  }
};

TEST(ShrinkTargets, ADifferenceThatSamplesShareIsKept) {
  for (unsigned seed = 0; seed != 5; ++seed) {
    Differences layer(seed, 12, 6, 4, /*known=*/3);
    Differences::Rows rows = layer.draw(200), before = rows;
    EXPECT_GT(layer.shrink(rows, 100), 0.95);
    // A twentieth of a difference of about 3, and means that are chance: 0.07.
    double moved = 0;
    for (size_t i = 0; i != rows.targets.size(); ++i)
      moved += std::abs(rows.targets[i] - before.targets[i]);
    EXPECT_LT(moved / double(rows.targets.size()), 0.22);
  }
}

TEST(ShrinkTargets, WithFewSamplesTheirNoiseIsNotLearned) {
  double shrunk = 0, fitted = 0, least = 0;
  for (unsigned seed = 0; seed != 5; ++seed) {
    // 32 samples explain any difference by 96 columns.
    Differences layer(seed, 96, 6, 8, /*known=*/0);
    Differences::Rows rows = layer.draw(32), others = layer.draw(100);
    RoundedWeights learned = layer.round(rows);
    Differences::Rows own = rows;
    EXPECT_LT(layer.shrink(rows, 16), 0.4);
    RoundedWeights careful = layer.round(rows);
    // A judge that sees the samples of the fit prefers what was learned.
    EXPECT_LT(layer.measure(learned, own), layer.measure(careful, own));
    fitted += layer.measure(learned, others);
    shrunk += layer.measure(careful, others);
    RoundedWeights exact = careful;
    for (size_t i = 0; i != exact.weights.size(); ++i)
      exact.weights[i] = layer.weights[i];
    std::fill(exact.bias.begin(), exact.bias.end(), 0.0);
    least += layer.measure(exact, others);
  }
  EXPECT_GT(fitted, 1.3 * least);
  EXPECT_LT(shrunk, 1.1 * least);
}

TEST(ShrinkTargets, TheFactorIsThatOfBothHalvesByHand) {
  // One column, one output, weight 0: the slopes of the halves are 2 and 1,
  // their inputs have the variance 1. The damping of 0.01 divides what is
  // fitted by 1.01: the halves share 2 * 2 * 1 / 1.01 of (2^2 + 1^2) / 1.01^2.
  std::vector<float> inputs{-1, 1, -1, 1}, targets{-2, 2, -1, 1}, none{0};
  TargetRows layer;
  layer.rows = 4;
  layer.half = 2;
  layer.columns = layer.outputs = 1;
  layer.inputs = inputs.data();
  layer.targets = targets.data();
  EXPECT_NEAR(shrinkTargets(layer, none, RoundingProblem::kDamping, 1),
              8 / (4 + 5 / 1.01), 1e-6);
  EXPECT_FLOAT_EQ(targets[1], float(2 * 8 / (4 + 5 / 1.01)));
  // Opposite slopes have nothing in common.
  targets = {-2, 2, 1, -1};
  EXPECT_EQ(shrinkTargets(layer, none, RoundingProblem::kDamping, 1), 0);
}

TEST(ShrinkTargets, MeansHaveAFactorOfTheirOwn) {
  // The means of the halves are 2 and 1; the inputs explain nothing else.
  std::vector<float> inputs{-1, 1, -1, 1}, targets{2, 2, 1, 1}, none{0};
  TargetRows layer;
  layer.rows = 4;
  layer.half = 2;
  layer.columns = layer.outputs = 1;
  layer.inputs = inputs.data();
  layer.targets = targets.data();
  EXPECT_EQ(shrinkTargets(layer, none, RoundingProblem::kDamping, 1), 0);
  EXPECT_EQ(targets, std::vector<float>(4, float(1.5 * 8 / 9)));
}

TEST(ShrinkTargets, OneHalfAloneShowsNothing) {
  Differences layer(1, 4, 2, 3, /*known=*/1);
  Differences::Rows rows = layer.draw(5);
  EXPECT_EQ(layer.shrink(rows, 0), 0);
  // The targets are the outputs of the weights.
  Differences::Rows same = rows;
  EXPECT_EQ(layer.shrink(same, 5), 0);
  for (size_t row = 0; row != rows.targets.size() / 2; ++row)
    for (int64_t output = 0; output != 2; ++output) {
      double sum = 0;
      for (int64_t i = 0; i != 4; ++i)
        sum += double(rows.inputs[row * 4 + i]) *
               double(layer.weights[output * 4 + i]);
      EXPECT_NEAR(rows.targets[row * 2 + output], sum, 1e-5);
    }
}

TEST(ShrinkTargets, ThreadsChangeNothing) {
  Differences layer(2, 130, 9, 2, /*known=*/1);
  Differences::Rows alone = layer.draw(200), together = alone;
  EXPECT_EQ(layer.shrink(alone, 100, 1), layer.shrink(together, 100, 3));
  EXPECT_EQ(alone.targets, together.targets);
}

} // namespace
