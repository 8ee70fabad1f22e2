// SPDX-License-Identifier: Apache-2.0
//
// The exact search for levels, against all levels.
#include "lib/Quantization/ClosestLevels.h"

#include "gtest/gtest.h"
#include <cmath>
#include <random>

using namespace mct::quantization;

namespace {
struct Problem {
  std::vector<double> factor, target;
  WeightLevels levels;

  Problem(unsigned seed, int64_t columns, std::vector<float> numbers)
      : factor(columns * columns, 0.0), levels{{}, std::move(numbers)} {
    std::mt19937 random(seed);
    std::normal_distribution<double> normal;
    for (int64_t i = 0; i != columns; ++i) {
      target.push_back(normal(random));
      // Entries left of the diagonal are not read.
      for (int64_t j = 0; j != columns; ++j)
        factor[i * columns + j] = j < i ? NAN : 2 * normal(random);
      factor[i * columns + i] = 0.05 + std::abs(0.5 * factor[i * columns + i]);
    }
  }

  ClosestLevels find(int64_t maxSteps = 1 << 20) const {
    return findClosestLevels({factor, target, &levels, maxSteps});
  }

  double objectiveOf(llvm::ArrayRef<float> at) const {
    double sum = 0;
    for (size_t i = 0; i != at.size(); ++i) {
      double row = 0;
      for (size_t j = i; j != at.size(); ++j)
        row += factor[i * at.size() + j] * (double(at[j]) - target[j]);
      sum += row * row;
    }
    return sum;
  }

  double least() const {
    std::vector<size_t> code(target.size(), 0);
    std::vector<float> at(target.size());
    for (double best = INFINITY;;) {
      for (size_t i = 0; i != code.size(); ++i)
        at[i] = levels.levels[code[i]];
      best = std::min(best, objectiveOf(at));
      size_t i = 0;
      while (i != code.size() && ++code[i] == levels.levels.size())
        code[i++] = 0;
      if (i == code.size())
        return best;
    }
  }

  /// The last column to its nearest level, and so on.
  std::vector<float> nearestPlane() const {
    int64_t columns = int64_t(target.size());
    std::vector<float> at(columns);
    for (int64_t i = columns - 1; i >= 0; --i) {
      double wanted = target[i];
      for (int64_t j = i + 1; j != columns; ++j)
        wanted -= factor[i * columns + j] / factor[i * columns + i] *
                  (double(at[j]) - target[j]);
      at[i] = levels.nearest(wanted);
    }
    return at;
  }
};

const std::vector<float> kLevels = {-1.5f, -0.4f, 0, 0.3f, 1};

TEST(ClosestLevels, AreTheBestOfAll) {
  for (unsigned seed = 0; seed != 100; ++seed) {
    Problem problem(seed, 1 + seed % 6, kLevels);
    ClosestLevels found = problem.find();
    ASSERT_EQ(found.levels.size(), problem.target.size());
    // Sums of some dozens of doubles.
    double least = problem.least();
    EXPECT_NEAR(found.objective, least, 1e-10 * least);
    EXPECT_NEAR(problem.objectiveOf(found.levels), least, 1e-10 * least);
  }
}

TEST(ClosestLevels, AreThoseOfGridsToo) {
  for (unsigned seed = 0; seed != 50; ++seed) {
    Grid grid = uniformGrid(0.3, 5, 4);
    std::vector<float> numbers;
    for (int64_t code = 0; code != 16; ++code)
      numbers.push_back(float(code - 5) * float(grid.step));
    Problem table(seed, 4, numbers), codes = table;
    codes.levels = {grid, {}};
    EXPECT_EQ(codes.find().levels, table.find().levels);
  }
}

TEST(ClosestLevels, FindTheNearestPlaneFirst) {
  int better = 0;
  for (unsigned seed = 0; seed != 50; ++seed) {
    Problem problem(seed, 6, kLevels);
    ClosestLevels first = problem.find(/*maxSteps=*/6);
    EXPECT_EQ(first.steps, 6);
    EXPECT_EQ(first.levels, problem.nearestPlane());
    better += problem.find().objective < first.objective;
  }
  // Otherwise there would be nothing to search for.
  EXPECT_GT(better, 10);
}

TEST(ClosestLevels, NoneWhereStepsDoNotReachTheFirstColumn) {
  Problem problem(1, 6, kLevels);
  EXPECT_TRUE(problem.find(/*maxSteps=*/5).levels.empty());
}

} // namespace
