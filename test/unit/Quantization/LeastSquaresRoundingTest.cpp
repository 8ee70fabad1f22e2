// SPDX-License-Identifier: Apache-2.0
//
// Weights that are rounded together: against all codes where these can be
// tried, and never worse than each for itself.
#include "mct/Quantization/LeastSquaresRounding.h"

#include "lib/Quantization/RoundingCandidates.h"
#include "mct/Quantizers/InstructionSet.h"

#include "gtest/gtest.h"

#include <array>
#include <cmath>
#include <random>

using namespace mct;
using namespace mct::quantization;

namespace {

/// Rows of correlated inputs, and targets that another kernel makes of them.
struct Layer {
  int64_t rows, columns, outputs;
  std::vector<float> inputs, targets, weights;

  Layer(unsigned seed, int64_t rows, int64_t columns, int64_t outputs)
      : rows(rows), columns(columns), outputs(outputs) {
    std::mt19937 random(seed);
    std::normal_distribution<float> normal;
    std::vector<float> mixing(columns * columns);
    for (float &value : mixing)
      value = normal(random);
    for (int64_t i = 0; i != outputs * columns; ++i)
      weights.push_back(0.4f * normal(random));
    for (int64_t row = 0; row != rows; ++row) {
      std::vector<float> source(columns), mixed(columns, 1.0f);
      for (float &value : source)
        value = normal(random);
      for (int64_t i = 0; i != columns; ++i)
        for (int64_t j = 0; j != columns; ++j)
          mixed[i] += mixing[i * columns + j] * source[j];
      for (int64_t output = 0; output != outputs; ++output) {
        float sum = 0.3f * normal(random);
        for (int64_t i = 0; i != columns; ++i)
          sum += mixed[i] * weights[output * columns + i];
        targets.push_back(sum + float(output));
      }
      inputs.insert(inputs.end(), mixed.begin(), mixed.end());
    }
  }

  ProductMoments moments(unsigned threads = 1) const {
    return productMoments({inputs.data(), rows, columns, columns},
                          {targets.data(), rows, outputs, outputs}, threads);
  }

  /// Mean of the squared difference from the targets of one output.
  double errorOf(llvm::ArrayRef<float> kernel, double bias,
                 int64_t output) const {
    double sum = 0;
    for (int64_t row = 0; row != rows; ++row) {
      double value = bias;
      for (int64_t i = 0; i != columns; ++i)
        value += double(inputs[row * columns + i]) * double(kernel[i]);
      double difference = value - double(targets[row * outputs + output]);
      sum += difference * difference / double(rows);
    }
    return sum;
  }
};

WeightLevels levelsOf(const Grid &grid) { return {grid, {}}; }

/// Candidates of every kind that there is.
std::vector<std::pair<const char *, std::vector<std::vector<WeightLevels>>>>
allKinds(int64_t channels) {
  std::vector<std::vector<WeightLevels>> symmetric, power, uniform, table,
      perChannel;
  for (double factor : {1.0, 0.6, 0.8, 1.25}) {
    symmetric.push_back({levelsOf(symmetricGrid(factor, 3, true))});
    uniform.push_back({levelsOf(uniformGrid(0.3 * factor, 3, 3))});
    auto unit = float(factor);
    table.push_back(
        {{{}, {-0.9f * unit, -0.2f * unit, 0, 0.1f * unit, 0.7f * unit}}});
    std::vector<WeightLevels> &each = perChannel.emplace_back();
    for (int64_t channel = 0; channel != channels; ++channel)
      each.push_back(levelsOf(
          symmetricGrid(factor * (1 + 0.1 * double(channel)), 3, true)));
  }
  for (double factor : {1.0, 0.5, 2.0})
    power.push_back({levelsOf(symmetricGrid(factor, 3, true))});
  return {{"symmetric", symmetric},
          {"power of two", power},
          {"uniform", uniform},
          {"table", table},
          {"one symmetric grid per channel", perChannel},
          {"a fixed grid", {symmetric.front()}}};
}

TEST(LeastSquaresRounding, MomentsAreThoseOfTheRows) {
  Layer layer(1, 700, 150, 3);
  ProductMoments moments = layer.moments();
  auto meanOf = [&](auto value) {
    double sum = 0;
    for (int64_t row = 0; row != layer.rows; ++row)
      sum += value(row);
    return sum / double(layer.rows);
  };
  for (int64_t i : {0, 17, 149})
    for (int64_t j : {0, 17, 130}) {
      double covariance = meanOf([&](int64_t row) {
        return (layer.inputs[row * 150 + i] - moments.inputMean[i]) *
               (layer.inputs[row * 150 + j] - moments.inputMean[j]);
      });
      EXPECT_NEAR(moments.covariance[i * 150 + j], covariance, 1e-3);
      EXPECT_EQ(moments.covariance[i * 150 + j],
                moments.covariance[j * 150 + i]);
    }
  double cross = meanOf([&](int64_t row) {
    return (layer.targets[row * 3 + 2] - moments.targetMean[2]) *
           (layer.inputs[row * 150 + 140] - moments.inputMean[140]);
  });
  EXPECT_NEAR(moments.cross[2 * 150 + 140], cross, 1e-3);
}

TEST(LeastSquaresRounding, ThreadsChangeNothing) {
  Layer layer(2, 600, 140, 40);
  ProductMoments one = layer.moments(1), three = layer.moments(3);
  ASSERT_EQ(one.covariance, three.covariance);
  ASSERT_EQ(one.cross, three.cross);
  for (const auto &[kind, candidates] : allKinds(40)) {
    SCOPED_TRACE(kind);
    RoundingProblem problem{one, layer.weights, candidates};
    RoundedWeights alone = roundLeastSquares(problem, 1);
    RoundedWeights together = roundLeastSquares(problem, 3);
    EXPECT_EQ(alone.weights, together.weights);
    EXPECT_EQ(alone.bias, together.bias);
    EXPECT_EQ(alone.objective, together.objective);
  }
}

TEST(LeastSquaresRounding, VectorSetsGiveTheSameBits) {
  if (!forceInstructionSetForTesting(InstructionSet::AVX512))
    GTEST_SKIP() << "the processor has no AVX-512";
  // Lanes and columns that do not fill vectors, and few rows of many columns.
  for (auto [rows, columns, outputs] :
       {std::array<int64_t, 3>{600, 141, 39}, {20, 130, 7}, {300, 9, 5}}) {
    Layer layer(2, rows, columns, outputs);
    for (const auto &[kind, candidates] : allKinds(outputs)) {
      SCOPED_TRACE(kind);
      auto round = [&, &candidates = candidates](InstructionSet set) {
        forceInstructionSetForTesting(set);
        ProductMoments moments = layer.moments();
        return roundLeastSquares({moments, layer.weights, candidates}, 1);
      };
      RoundedWeights wide = round(InstructionSet::AVX512);
      RoundedWeights narrow = round(InstructionSet::AVX2);
      EXPECT_EQ(wide.weights, narrow.weights);
      EXPECT_EQ(wide.bias, narrow.bias);
      EXPECT_EQ(wide.objective, narrow.objective);
    }
  }
  forceInstructionSetForTesting(std::nullopt);
}

TEST(LeastSquaresRounding, NeverWorseThanTheNearestLevels) {
  for (unsigned seed = 0; seed != 40; ++seed) {
    Layer layer(seed, 20 + 10 * int64_t(seed), 1 + seed % 23, 1 + seed % 5);
    ProductMoments moments = layer.moments();
    for (const auto &[kind, candidates] : allKinds(layer.outputs))
      for (bool perChannel : {true, false}) {
        SCOPED_TRACE(kind);
        RoundingProblem problem{moments, layer.weights, candidates, perChannel};
        RoundedWeights rounded = roundLeastSquares(problem, 1);
        double total = 0, nearest = 0;
        for (int64_t channel = 0; channel != layer.outputs; ++channel) {
          total += rounded.objective[channel];
          nearest += rounded.nearestObjective[channel];
          if (perChannel)
            EXPECT_LE(rounded.objective[channel],
                      rounded.nearestObjective[channel]);
          else
            EXPECT_EQ(rounded.chosen[channel], rounded.chosen[0]);
          // Every weight is a level.
          const auto &levels = candidates[rounded.chosen[channel]];
          for (int64_t i = 0; i != layer.columns; ++i) {
            float weight = rounded.weights[channel * layer.columns + i];
            EXPECT_EQ(levels[levels.size() == 1 ? 0 : channel].nearest(weight),
                      weight);
          }
        }
        EXPECT_LE(total, nearest);
      }
  }
}

TEST(LeastSquaresRounding, TellsTheErrorOfWhatItReturns) {
  Layer layer(5, 500, 12, 3);
  ProductMoments moments = layer.moments();
  auto candidates = allKinds(3).front().second;
  RoundedWeights rounded =
      roundLeastSquares({moments, layer.weights, candidates}, 1);
  for (int64_t output = 0; output != 3; ++output) {
    llvm::ArrayRef<float> kernel(&rounded.weights[output * 12], 12);
    double error = layer.errorOf(kernel, rounded.bias[output], output);
    EXPECT_NEAR(rounded.error[output], error, 1e-4 * error);
    // Any other bias is worse.
    EXPECT_LT(error, layer.errorOf(kernel, rounded.bias[output] + 0.1, output));
    EXPECT_LT(error, layer.errorOf(kernel, rounded.bias[output] - 0.1, output));
    EXPECT_LT(rounded.error[output], rounded.nearestError[output]);
  }
}

/// The least objective over all codes of one channel.
double leastObjective(const ProductMoments &moments,
                      llvm::ArrayRef<float> weights,
                      llvm::ArrayRef<float> levels, double damping) {
  int64_t columns = moments.columns;
  double mean = 0;
  for (int64_t i = 0; i != columns; ++i)
    mean += moments.covariance[i * columns + i] / double(columns);
  std::vector<size_t> code(columns, 0);
  double least = INFINITY;
  for (;;) {
    double objective = moments.targetVariance[0];
    for (int64_t i = 0; i != columns; ++i) {
      double moved = double(levels[code[i]]) - double(weights[i]);
      objective += damping * mean * moved * moved -
                   2 * moments.cross[i] * double(levels[code[i]]);
      for (int64_t j = 0; j != columns; ++j)
        objective += double(levels[code[i]]) * double(levels[code[j]]) *
                     moments.covariance[i * columns + j];
    }
    least = std::min(least, objective);
    int64_t i = 0;
    while (i != columns && ++code[i] == levels.size())
      code[i++] = 0;
    if (i == columns)
      return least;
  }
}

/// Ascending.
std::vector<float> allLevels(const WeightLevels &levels) {
  if (!levels.levels.empty())
    return levels.levels;
  std::vector<float> all;
  const Grid &grid = levels.grid;
  for (int64_t code = grid.qmin; code <= grid.qmax; ++code)
    all.push_back(float(code - grid.zeroPoint) * float(grid.step));
  return all;
}

WeightLevels tableOf(std::vector<float> levels) {
  return {{}, std::move(levels)};
}

TEST(LeastSquaresRounding, FindsTheBestCodesOfSmallLayers) {
  // The columns are so few that all combinations of their codes can be tried.
  struct Case {
    WeightLevels levels;
    int64_t columns;
  };
  std::vector<Case> cases = {
      {tableOf({-0.75f, -0.5f, -0.25f, 0, 0.25f, 0.5f}), 5},
      {tableOf({-0.8f, -0.1f, 0.05f, 0.6f}), 7},
      {levelsOf(symmetricGrid(0.75, 1, true)), 12},
      {levelsOf(symmetricGrid(0.75, 2, true)), 8},
      {levelsOf(symmetricGrid(0.75, 4, true)), 4},
      {levelsOf(symmetricGrid(1, 8, true)), 2},
  };
  for (auto [number, tried] : llvm::enumerate(cases))
    for (unsigned seed = 0; seed != 60; ++seed) {
      Layer layer(100 * (number + 1) + seed, 200, tried.columns, 1);
      ProductMoments moments = layer.moments();
      RoundingProblem problem{moments, layer.weights, {}};
      std::vector<std::vector<WeightLevels>> candidates = {{tried.levels}};
      problem.candidates = candidates;
      RoundedWeights rounded = roundLeastSquares(problem, 1);
      // Both are sums of some dozens of doubles.
      double least = leastObjective(moments, layer.weights,
                                    allLevels(tried.levels), problem.damping);
      EXPECT_NEAR(rounded.objective[0], least, 1e-9 * least)
          << "case " << number << ", seed " << seed;
      EXPECT_GE(rounded.nearestObjective[0], least * (1 - 1e-9));
    }
}

TEST(LeastSquaresRounding, IsExactWhereColumnsAreIndependent) {
  // Two columns that are never on at the same time, after the mean is taken
  // out: each weight for itself is the best there is.
  ProductMoments moments;
  moments.columns = 3;
  moments.outputs = 1;
  moments.inputMean = {0, 0, 0};
  moments.targetMean = {0};
  moments.covariance = {4, 0, 0, 0, 1, 0, 0, 0, 9};
  moments.cross = {4 * 0.33, 1 * -0.6, 9 * 0.1};
  moments.targetVariance = {1};
  std::vector<float> weights = {0.33f, -0.6f, 0.1f};
  std::vector<std::vector<WeightLevels>> candidates = {
      {levelsOf(symmetricGrid(1, 3, true))}};
  RoundedWeights rounded = roundLeastSquares({moments, weights, candidates}, 1);
  EXPECT_EQ(rounded.weights, (std::vector<float>{0.25f, -0.5f, 0.0f}));
}

TEST(LeastSquaresRounding, RepairsWhatTheTargetHasInAdvance) {
  // The targets are of a kernel that is twice the one given, as where the
  // inputs were halved before: the rounded one follows the targets.
  Layer layer(9, 400, 4, 1);
  for (float &weight : layer.weights)
    weight /= 2;
  ProductMoments moments = layer.moments();
  std::vector<std::vector<WeightLevels>> candidates = {
      {levelsOf(symmetricGrid(2, 8, true))}};
  RoundedWeights rounded =
      roundLeastSquares({moments, layer.weights, candidates}, 1);
  for (int64_t i = 0; i != 4; ++i)
    EXPECT_NEAR(rounded.weights[i], 2 * layer.weights[i],
                0.25 * std::abs(layer.weights[i]) + 0.05);
}

TEST(LeastSquaresRounding, ConstantColumnsKeepTheirWeights) {
  std::vector<float> inputs(40, 3.0f), targets(20, 1.0f);
  ProductMoments moments =
      productMoments({inputs.data(), 20, 2, 2}, {targets.data(), 20, 1, 1}, 1);
  std::vector<float> weights = {0.3f, -0.6f};
  std::vector<std::vector<WeightLevels>> candidates = {
      {levelsOf(symmetricGrid(1, 3, true))}};
  RoundedWeights rounded = roundLeastSquares({moments, weights, candidates}, 1);
  EXPECT_EQ(rounded.weights, (std::vector<float>{0.25f, -0.5f}));
  EXPECT_NEAR(rounded.bias[0], 1 + 3 * 0.25, 1e-6);
}

TEST(LeastSquaresRounding, GroupsAreLayersOfTheirOwn) {
  std::vector<ProductMoments> groups;
  std::vector<float> weights;
  std::vector<RoundedWeights> alone;
  auto candidates = allKinds(1).front().second;
  for (unsigned seed : {11, 12, 13}) {
    Layer layer(seed, 300, 9, 1);
    groups.push_back(layer.moments());
    weights.insert(weights.end(), layer.weights.begin(), layer.weights.end());
    alone.push_back(
        roundLeastSquares({groups.back(), layer.weights, candidates}, 1));
  }
  RoundedWeights together = roundLeastSquares({groups, weights, candidates}, 2);
  for (size_t group = 0; group != 3; ++group) {
    EXPECT_TRUE(std::equal(alone[group].weights.begin(),
                           alone[group].weights.end(),
                           together.weights.begin() + int64_t(9 * group)));
    EXPECT_EQ(alone[group].chosen[0], together.chosen[group]);
  }
}

// With more than 1024 columns not all candidates are tried, and products are
// taken in larger pieces: thresholds are as good as those of all.
TEST(LeastSquaresRounding, ManyColumnsAreAsGoodWithFewerCandidates) {
  std::mt19937 random(41);
  std::normal_distribution<float> normal;
  constexpr int64_t kRows = 96, kColumns = 1100, kOutputs = 5;
  std::vector<float> inputs(kRows * kColumns), weights(kOutputs * kColumns);
  for (float &value : inputs)
    value = std::max(0.0f, normal(random));
  for (float &value : weights)
    value = 0.05f * normal(random);
  std::vector<float> targets(kRows * kOutputs);
  for (int64_t row = 0; row != kRows; ++row)
    for (int64_t output = 0; output != kOutputs; ++output)
      for (int64_t i = 0; i != kColumns; ++i)
        targets[row * kOutputs + output] +=
            inputs[row * kColumns + i] * weights[output * kColumns + i];
  ProductMoments moments =
      productMoments({inputs.data(), kRows, kColumns, kColumns},
                     {targets.data(), kRows, kOutputs, kOutputs}, 1);
  std::vector<std::vector<WeightLevels>> candidates = {
      {levelsOf(symmetricGrid(0.15, 3, true))}};
  for (int step = -12; step <= 8; ++step)
    if (step != 0)
      candidates.push_back(
          {levelsOf(symmetricGrid(0.15 * std::exp2(step / 10.0), 3, true))});
  double least = 0, found = 0, nearest = 0;
  for (bool perChannel : {true, false}) {
    RoundedWeights rounded =
        roundLeastSquares({moments, weights, candidates, perChannel}, 1);
    RoundedWeights threads =
        roundLeastSquares({moments, weights, candidates, perChannel}, 3);
    EXPECT_EQ(rounded.weights, threads.weights);
    std::vector<double> best(kOutputs, INFINITY);
    double bestSum = INFINITY;
    for (const std::vector<WeightLevels> &candidate : candidates) {
      std::vector<std::vector<WeightLevels>> alone = {candidate};
      RoundedWeights one = roundLeastSquares({moments, weights, alone}, 1);
      double sum = 0;
      for (int64_t output = 0; output != kOutputs; ++output) {
        best[output] = std::min(best[output], one.objective[output]);
        sum += one.objective[output];
      }
      bestSum = std::min(bestSum, sum);
    }
    for (int64_t output = 0; output != kOutputs; ++output) {
      least += perChannel ? best[output] : bestSum / kOutputs;
      found += rounded.objective[output];
      nearest += rounded.nearestObjective[output];
      EXPECT_LE(rounded.objective[output], rounded.nearestObjective[output]);
    }
  }
  EXPECT_LT(found, least + 0.05 * (nearest - least));
}

TEST(LeastSquaresRounding, NoNeighbourOfTheChosenCandidateIsBetter) {
  Layer layer(43, 300, 150, 11);
  ProductMoments moments = layer.moments();
  // By width: the first one, of factor 1, lies after the sixteenth.
  constexpr size_t kCandidates = 25, kFirst = 16, kReach = 2;
  std::vector<std::vector<WeightLevels>> grids, tables;
  for (size_t step = 0; step != kCandidates; ++step) {
    double factor = std::exp2((step == 0 ? 0.0 : double(step) - kFirst) / 8.0 -
                              (step != 0 && step <= kFirst ? 1.0 / 8.0 : 0.0));
    grids.push_back({levelsOf(symmetricGrid(factor, 3, true))});
    auto unit = float(factor);
    tables.push_back({{{}, {-unit, -0.3f * unit, 0, 0.2f * unit, unit}}});
  }
  std::vector<size_t> byWidth;
  for (size_t step = 1; step != kCandidates; ++step) {
    byWidth.push_back(step);
    if (step == kFirst)
      byWidth.push_back(0);
  }
  for (const auto &candidates : {grids, tables}) {
    RoundingProblem problem{moments, layer.weights, candidates};
    std::vector<float> scores = scoreCandidates(problem, 1);
    std::vector<size_t> chosen = roundLeastSquares(problem, 1).chosen,
                        best = chooseCandidates(scores, kCandidates, true);
    double found = 0, least = 0;
    for (size_t channel = 0; channel != chosen.size(); ++channel) {
      auto scoreOf = [&](size_t candidate) {
        return scores[channel * kCandidates + candidate];
      };
      size_t place = llvm::find(byWidth, chosen[channel]) - byWidth.begin();
      for (size_t other = place - std::min(place, kReach);
           other < std::min(kCandidates, place + kReach + 1); ++other)
        EXPECT_LE(scoreOf(chosen[channel]), scoreOf(byWidth[other]));
      found += scoreOf(chosen[channel]);
      least += scoreOf(best[channel]);
    }
    // Scores have local minima, which differ little.
    EXPECT_LE(found, 1.02 * least);
  }
}

TEST(LeastSquaresRounding, FewRowsAreAsGoodAsTheirCovariance) {
  // Blocks of columns that are full and one that is not.
  for (int64_t columns : {160, 203}) {
    Layer layer(47, 31, columns, 9);
    ProductMoments rows = layer.moments(), covariance = rows;
    ASSERT_EQ(rows.centred.size(), size_t(31 * columns));
    covariance.centred.clear();
    for (const auto &[name, candidates] : allKinds(9)) {
      SCOPED_TRACE(name);
      RoundedWeights few =
          roundLeastSquares({rows, layer.weights, candidates}, 1);
      RoundedWeights all =
          roundLeastSquares({covariance, layer.weights, candidates}, 1);
      EXPECT_EQ(
          few.weights,
          roundLeastSquares({rows, layer.weights, candidates}, 3).weights);
      double sum = 0, expected = 0;
      size_t different = 0;
      for (size_t channel = 0; channel != 9; ++channel) {
        EXPECT_NEAR(few.nearestObjective[channel],
                    all.nearestObjective[channel],
                    1e-5 * all.nearestObjective[channel]);
        llvm::ArrayRef<float> one = few.weights, other = all.weights;
        different += one.slice(channel * columns, columns) !=
                     other.slice(channel * columns, columns);
        sum += few.objective[channel];
        expected += all.objective[channel];
      }
      // A tie that is broken in another way changes the columns after it.
      EXPECT_LE(different, 1U);
      EXPECT_NEAR(sum, expected, 0.02 * expected);
    }
  }
}

/// The problem of a layer by its rows.
WideRoundingProblem
wideProblem(const Layer &layer,
            llvm::ArrayRef<std::vector<WeightLevels>> candidates,
            bool perChannel, int64_t maxBytes) {
  WideRoundingProblem problem;
  problem.inputs = {layer.inputs.data(), layer.rows, layer.columns,
                    layer.columns};
  problem.targets = {layer.targets.data(), layer.rows, layer.outputs,
                     layer.outputs};
  problem.weights = layer.weights;
  problem.candidates = candidates;
  problem.choosesPerChannel = perChannel;
  problem.maxBytes = maxBytes;
  return problem;
}

TEST(LeastSquaresRounding, WideLayersThatFitAreNoBlocks) {
  Layer layer(21, 300, 30, 4);
  ProductMoments moments = layer.moments();
  for (const auto &[kind, candidates] : allKinds(4)) {
    SCOPED_TRACE(kind);
    RoundedWeights whole =
        roundLeastSquares({moments, layer.weights, candidates}, 1);
    RoundedWeights wide =
        roundWideLayer(wideProblem(layer, candidates, true, 20 * 30 * 30), 1);
    EXPECT_EQ(wide.weights, whole.weights);
    EXPECT_EQ(wide.bias, whole.bias);
    EXPECT_EQ(wide.objective, whole.objective);
  }
}

TEST(LeastSquaresRounding, BlocksAreBetweenTheNearestLevelsAndAll) {
  double whole = 0, blocks = 0, nearest = 0;
  for (unsigned seed = 0; seed != 12; ++seed) {
    Layer layer(300 + seed, 250, 20 + seed, 3);
    ProductMoments moments = layer.moments();
    for (const auto &[kind, candidates] : allKinds(3))
      for (bool perChannel : {true, false}) {
        SCOPED_TRACE(kind);
        // Blocks of at most 7 columns.
        RoundedWeights wide = roundWideLayer(
            wideProblem(layer, candidates, perChannel, 20 * 7 * 7), 1);
        RoundedWeights together = roundLeastSquares(
            {moments, layer.weights, candidates, perChannel}, 1);
        double total = 0, nearestTotal = 0;
        for (int64_t channel = 0; channel != 3; ++channel) {
          total += wide.objective[channel];
          nearestTotal += wide.nearestObjective[channel];
          if (perChannel)
            EXPECT_LE(wide.objective[channel], wide.nearestObjective[channel]);
          else
            EXPECT_EQ(wide.chosen[channel], wide.chosen[0]);
          const auto &levels = candidates[wide.chosen[channel]];
          llvm::ArrayRef<float> kernel(&wide.weights[channel * layer.columns],
                                       layer.columns);
          for (float weight : kernel)
            EXPECT_EQ(levels[levels.size() == 1 ? 0 : channel].nearest(weight),
                      weight);
          // From the rows, and as the moments have it.
          double error = layer.errorOf(kernel, wide.bias[channel], channel);
          EXPECT_NEAR(wide.error[channel], error, 1e-3 * error);
          EXPECT_NEAR(wide.nearestObjective[channel],
                      together.nearestObjective[channel],
                      1e-3 * together.nearestObjective[channel]);
          whole += together.objective[channel];
        }
        EXPECT_LE(total, nearestTotal);
        blocks += total;
        nearest += nearestTotal;
      }
  }
  EXPECT_LT(blocks, whole + 0.25 * (nearest - whole));
}

TEST(LeastSquaresRounding, BlocksDoNotDependOnThreads) {
  Layer layer(31, 200, 90, 40);
  for (const auto &[kind, candidates] : allKinds(40)) {
    SCOPED_TRACE(kind);
    WideRoundingProblem problem =
        wideProblem(layer, candidates, true, 20 * 32 * 32);
    RoundedWeights alone = roundWideLayer(problem, 1);
    RoundedWeights together = roundWideLayer(problem, 3);
    EXPECT_EQ(alone.weights, together.weights);
    EXPECT_EQ(alone.bias, together.bias);
  }
}

} // namespace
