// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/Allocation.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <thread>

using namespace mct::quantization;

namespace {
AllocatedResource makeResource(AllocationProblem &problem,
                               std::mt19937_64 &random, int64_t largest) {
  AllocatedResource resource;
  for (const std::vector<double> &costs : problem.costs) {
    std::vector<int64_t> &amounts = resource.amounts.emplace_back();
    for (size_t choice = 0; choice != costs.size(); ++choice)
      amounts.push_back(int64_t(random() % uint64_t(largest)));
  }
  return resource;
}

/// Costs of which many are equal where `coarse`.
AllocationProblem makeProblem(std::mt19937_64 &random, size_t groups,
                              size_t choices, bool coarse) {
  AllocationProblem problem;
  for (size_t group = 0; group != groups; ++group) {
    std::vector<double> &costs = problem.costs.emplace_back();
    for (size_t choice = 0; choice != choices; ++choice)
      costs.push_back(coarse ? double(random() % 4) * 0.25
                             : double(random() >> 11) * 0x1p-53);
  }
  return problem;
}

bool nextChoices(const AllocationProblem &problem,
                 std::vector<unsigned> &choices) {
  for (size_t group = choices.size(); group-- != 0;) {
    if (++choices[group] != problem.costs[group].size())
      return true;
    choices[group] = 0;
  }
  return false;
}

bool fits(const AllocationProblem &problem,
          const std::vector<unsigned> &choices) {
  for (const AllocatedResource &resource : problem.resources)
    if (resource.limit && resource.computeAmount(choices) > *resource.limit)
      return false;
  return true;
}

/// Costs of everything that fits, the least first.
std::vector<double> costsByBruteForce(const AllocationProblem &problem) {
  std::vector<double> costs;
  std::vector<unsigned> choices(problem.costs.size());
  do
    if (fits(problem, choices))
      costs.push_back(problem.computeCost(choices));
  while (nextChoices(problem, choices));
  std::sort(costs.begin(), costs.end());
  return costs;
}

/// The largest ratio of an amount to its limit.
double excessOf(const AllocationProblem &problem,
                const std::vector<unsigned> &choices) {
  double excess = 0;
  for (const AllocatedResource &resource : problem.resources)
    excess = std::max(excess, double(resource.computeAmount(choices)) /
                                  double(*resource.limit));
  return excess;
}
} // namespace

TEST(AllocationTest, OneLimitIsTheOptimumOfBruteForce) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial != 60; ++trial) {
    // The largest have 3^10 allocations.
    size_t groups = trial < 3 ? 10 : 1 + trial % 7;
    AllocationProblem problem =
        makeProblem(random, groups, 3, /*coarse=*/trial % 2);
    AllocatedResource &resource = problem.resources.emplace_back(
        makeResource(problem, random, trial % 3 ? 1000 : 8));
    resource.limit = int64_t(groups) * (trial % 3 ? 350 : 2);
    std::vector<double> expected = costsByBruteForce(problem);
    llvm::Expected<AllocationResult> result = allocate(problem);
    ASSERT_TRUE(bool(result));
    ASSERT_EQ(result->best.empty(), expected.empty());
    if (expected.empty())
      continue;
    const Allocation &best = result->best.front();
    EXPECT_EQ(best.cost, expected.front());
    EXPECT_EQ(best.cost, problem.computeCost(best.choices));
    EXPECT_TRUE(fits(problem, best.choices));
  }
}

TEST(AllocationTest, TheBestFewAreThoseOfBruteForce) {
  std::mt19937_64 random(2);
  for (int trial = 0; trial != 30; ++trial) {
    AllocationProblem problem = makeProblem(random, 6, 3, /*coarse=*/trial % 2);
    problem.resources.push_back(makeResource(problem, random, 100));
    problem.resources.front().limit = 250;
    std::vector<double> expected = costsByBruteForce(problem);
    llvm::Expected<AllocationResult> result = allocate(problem, 7);
    ASSERT_TRUE(bool(result));
    ASSERT_EQ(result->best.size(), std::min<size_t>(7, expected.size()));
    for (size_t i = 0; i != result->best.size(); ++i) {
      EXPECT_EQ(result->best[i].cost, expected[i]);
      for (size_t j = 0; j != i; ++j)
        EXPECT_NE(result->best[i].choices, result->best[j].choices);
    }
  }
}

TEST(AllocationTest, EquallyCheapOnesUseLess) {
  AllocationProblem problem;
  problem.costs = {{0, 0, 0}, {1, 1, 0.5}};
  AllocatedResource resource;
  resource.amounts = {{8, 2, 4}, {1, 1, 90}};
  resource.limit = 50;
  problem.resources.push_back(resource);
  llvm::Expected<AllocationResult> result = allocate(problem);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(result->best.front().choices, (std::vector<unsigned>{1, 0}));
}

TEST(AllocationTest, TheFrontIsThatOfBruteForce) {
  std::mt19937_64 random(3);
  for (int trial = 0; trial != 30; ++trial) {
    AllocationProblem problem = makeProblem(random, 7, 3, trial % 2);
    problem.resources.push_back(makeResource(problem, random, 60));
    problem.resources.front().fixed = 5;
    std::map<int64_t, double> least;
    std::vector<unsigned> choices(7);
    do {
      double cost = problem.computeCost(choices);
      auto [found, isNew] = least.insert(
          {problem.resources.front().computeAmount(choices), cost});
      found->second = std::min(found->second, cost);
    } while (nextChoices(problem, choices));
    std::vector<std::pair<int64_t, double>> expected;
    double cheapest = std::numeric_limits<double>::infinity();
    for (auto [amount, cost] : least)
      if (cost < cheapest) {
        expected.push_back({amount, cost});
        cheapest = cost;
      }
    std::optional<std::vector<FrontPoint>> front =
        computeAllocationFront(problem);
    ASSERT_TRUE(front);
    std::vector<std::pair<int64_t, double>> found;
    for (const FrontPoint &point : *front) {
      found.push_back({point.amount, point.allocation.cost});
      EXPECT_EQ(point.amount, problem.resources.front().computeAmount(
                                  point.allocation.choices));
    }
    EXPECT_EQ(found, expected);
  }
}

TEST(AllocationTest, TooManySumsAreNoFrontAndAnIntegerProgram) {
  std::mt19937_64 random(4);
  AllocationProblem problem = makeProblem(random, 7, 3, /*coarse=*/false);
  problem.resources.push_back(makeResource(problem, random, 1000));
  problem.resources.front().limit = 2500;
  EXPECT_FALSE(computeAllocationFront(problem, /*maxStates=*/4));
  llvm::Expected<AllocationResult> result =
      allocate(problem, 1, /*maxStates=*/4);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(result->best.front().cost, costsByBruteForce(problem).front());
}

TEST(AllocationTest, SeveralLimitsAreTheOptimumOfBruteForce) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial != 40; ++trial) {
    size_t groups = trial == 0 ? 10 : 2 + trial % 6;
    AllocationProblem problem =
        makeProblem(random, groups, 3, /*coarse=*/trial % 4 == 0);
    for (int number = 0; number != 3; ++number) {
      AllocatedResource resource = makeResource(problem, random, 1000000);
      resource.fixed = 17;
      resource.limit = int64_t(groups) * (400000 + 50000 * number);
      // A resource that two groups use together, as a layer and its operand do.
      if (number == 2)
        for (size_t first = 0; first + 1 < groups; ++first) {
          AllocatedResource::Pair pair{first, first + 1, 3, {}};
          for (int i = 0; i != 9; ++i)
            pair.amounts.push_back(int64_t(random() % 300000));
          resource.pairs.push_back(pair);
          *resource.limit += 100000;
        }
      problem.resources.push_back(resource);
    }
    std::vector<double> expected = costsByBruteForce(problem);
    llvm::Expected<AllocationResult> result = allocate(problem, 3);
    ASSERT_TRUE(bool(result));
    ASSERT_EQ(result->best.size(), std::min<size_t>(3, expected.size()));
    for (size_t i = 0; i != result->best.size(); ++i) {
      EXPECT_TRUE(fits(problem, result->best[i].choices));
      EXPECT_NEAR(result->best[i].cost, expected[i], 1e-9);
    }
  }
}

TEST(AllocationTest, ManyAtOnceFindWhatEachFindsAlone) {
  auto solveAll = [](unsigned seed) {
    std::mt19937_64 random(seed);
    std::vector<double> costs;
    for (int trial = 0; trial != 8; ++trial) {
      AllocationProblem problem = makeProblem(random, 8, 3, /*coarse=*/false);
      for (int number = 0; number != 4; ++number) {
        problem.resources.push_back(makeResource(problem, random, 1000));
        problem.resources.back().limit = 8 * 500;
      }
      llvm::Expected<AllocationResult> result = allocate(problem);
      EXPECT_TRUE(bool(result));
      if (!result)
        llvm::consumeError(result.takeError());
      else if (!result->best.empty())
        costs.push_back(result->best.front().cost);
    }
    return costs;
  };
  constexpr unsigned kThreads = 4;
  std::vector<std::vector<double>> together(kThreads);
  std::vector<std::thread> threads;
  for (unsigned number = 0; number != kThreads; ++number)
    threads.emplace_back(
        [&, number] { together[number] = solveAll(10 + number); });
  for (std::thread &thread : threads)
    thread.join();
  for (unsigned number = 0; number != kThreads; ++number)
    EXPECT_EQ(together[number], solveAll(10 + number)) << number;
}

TEST(AllocationTest, WhatFitsNowhereIsReported) {
  std::mt19937_64 random(6);
  for (int trial = 0; trial != 20; ++trial) {
    AllocationProblem problem = makeProblem(random, 5, 3, /*coarse=*/false);
    for (int number = 0; number != 1 + trial % 3; ++number) {
      AllocatedResource &resource =
          problem.resources.emplace_back(makeResource(problem, random, 1000));
      resource.fixed = 300;
      // The second has room.
      resource.limit = number == 1 ? 1000000 : 250;
    }
    llvm::Expected<AllocationResult> result = allocate(problem);
    ASSERT_TRUE(bool(result));
    EXPECT_TRUE(result->best.empty());
    double least = std::numeric_limits<double>::infinity();
    std::vector<unsigned> choices(5);
    do
      least = std::min(least, excessOf(problem, choices));
    while (nextChoices(problem, choices));
    EXPECT_NEAR(excessOf(problem, result->closest.choices), least, 1e-6);
    EXPECT_EQ(result->exceeded,
              (trial % 3 == 2 ? llvm::SmallVector<size_t>{0, 2}
                              : llvm::SmallVector<size_t>{0}));
  }
}

TEST(AllocationTest, WithoutLimitsTheCheapestIsTaken) {
  AllocationProblem problem;
  problem.costs = {{3, 1, 2}, {0.5, 0.25}};
  llvm::Expected<AllocationResult> result = allocate(problem);
  ASSERT_TRUE(bool(result));
  EXPECT_EQ(result->best.front().choices, (std::vector<unsigned>{1, 1}));
  EXPECT_EQ(result->best.front().cost, 1.25);
}
