// SPDX-License-Identifier: Apache-2.0
#include "mct/Quantization/PairedLoss.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

using namespace mct::quantization;
using Errors = std::vector<double>;

namespace {

constexpr double kTiny = std::numeric_limits<double>::min();

TEST(PairedLoss, IsTheRatioOfTheSums) {
  // 10 log10(20 / 2).
  EXPECT_NEAR(
      compareErrors(Errors{5, 5, 5, 5}, Errors{1, 0.5, 0.25, 0.25}, kTiny).loss,
      10, 1e-12);
  EXPECT_NEAR(compareErrors(Errors{1, 1}, Errors{1, 3}, kTiny).loss,
              -10 * std::log10(2.0), 1e-12);
}

// A loss that all samples have in common is not chance.
TEST(PairedLoss, SamplesThatLoseAlikeLeaveNoDoubt) {
  Errors without, with;
  for (int i = 1; i != 9; ++i) {
    without.push_back(i * i);
    with.push_back(1.01 * i * i);
  }
  PairedLoss loss = compareErrors(with, without, kTiny);
  EXPECT_NEAR(loss.standardError, 0, 1e-12);
  EXPECT_TRUE(loss.isBeyondChance());
}

TEST(PairedLoss, OneSampleThatLosesAmongManyIsChance) {
  Errors without(16, 1.0), with(16, 1.0);
  with.front() = 3;
  PairedLoss loss = compareErrors(with, without, kTiny);
  EXPECT_GT(loss.loss, 0.5);
  EXPECT_FALSE(loss.isBeyondChance());
}

// The standard deviation of the loss over many draws is the oracle.
TEST(PairedLoss, StandardErrorIsThatOfOtherSamples) {
  std::mt19937 random(5);
  std::gamma_distribution<double> energy(2.0, 1.0), ratio(4.0, 0.25);
  double sum = 0, squares = 0, standardErrors = 0;
  constexpr int kDraws = 4000, kSamples = 64;
  for (int draw = 0; draw != kDraws; ++draw) {
    Errors without, with;
    for (int sample = 0; sample != kSamples; ++sample) {
      without.push_back(energy(random));
      with.push_back(1.2 * without.back() * ratio(random));
    }
    PairedLoss loss = compareErrors(with, without, kTiny);
    sum += loss.loss;
    squares += loss.loss * loss.loss;
    standardErrors += loss.standardError;
  }
  double mean = sum / kDraws;
  double deviation = std::sqrt(squares / kDraws - mean * mean);
  // First order, of 64 samples.
  EXPECT_NEAR(standardErrors / kDraws / deviation, 1, 0.06);
}

// One in fifty of networks that are equally good seems worse, whatever the
// number of samples.
TEST(PairedLoss, EqualNetworksSeldomLose) {
  std::mt19937 random(6);
  std::gamma_distribution<double> error(2.0, 1.0);
  for (int samples : {4, 8, 32}) {
    constexpr int kDraws = 2000;
    int lost = 0;
    for (int draw = 0; draw != kDraws; ++draw) {
      Errors without, with;
      for (int sample = 0; sample != samples; ++sample) {
        without.push_back(error(random));
        with.push_back(error(random));
      }
      lost += compareErrors(with, without, kTiny).isBeyondChance();
    }
    EXPECT_LT(lost, 0.05 * kDraws) << samples << " samples";
  }
}

TEST(PairedLoss, FewSamplesJudgeNothing) {
  EXPECT_FALSE(
      compareErrors(Errors{9, 9, 9}, Errors{1, 1, 1}, kTiny).isBeyondChance());
}

TEST(PairedLoss, NoErrorBesideATinyOneIsNoLoss) {
  PairedLoss loss = compareErrors(Errors(8, 1e-9), Errors(8, 0), 1e-2);
  EXPECT_NEAR(loss.loss, 0, 1e-5);
}

TEST(PairedLoss, DoesNotDependOnTheOrderOfTheSamples) {
  std::mt19937 random(7);
  std::lognormal_distribution<double> error(0.0, 3.0);
  Errors with, without;
  for (int sample = 0; sample != 50; ++sample) {
    with.push_back(error(random));
    without.push_back(error(random));
  }
  PairedLoss loss = compareErrors(with, without, 1e-3);
  std::reverse(with.begin(), with.end());
  std::reverse(without.begin(), without.end());
  PairedLoss reversed = compareErrors(with, without, 1e-3);
  EXPECT_EQ(loss.loss, reversed.loss);
  EXPECT_EQ(loss.standardError, reversed.standardError);
}

TEST(PairedLoss, WhatIsNotFiniteIsWorseThanWhatIs) {
  double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (double bad : {nan, infinity}) {
    Errors good(8, 1.0), wrong(8, 1.0);
    wrong[3] = bad;
    EXPECT_TRUE(compareErrors(wrong, good, kTiny).isBeyondChance());
    EXPECT_FALSE(compareErrors(good, wrong, kTiny).isBeyondChance());
    EXPECT_FALSE(compareErrors(wrong, wrong, kTiny).isBeyondChance());
  }
}

} // namespace
