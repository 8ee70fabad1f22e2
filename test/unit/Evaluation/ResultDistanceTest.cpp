// SPDX-License-Identifier: Apache-2.0
#include "mct/Evaluation/ResultDistance.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include <gtest/gtest.h>

#include <cmath>

using namespace mct::execution;

namespace {
/// Compares one sample of one row with that of a reference.
class ResultDistanceTest : public ::testing::Test {
protected:
  double compare(std::vector<float> reference, std::vector<float> found,
                 ResultMetric metric) {
    mlir::Builder builder(&context);
    TensorSpec spec{"y",
                    mlir::RankedTensorType::get({1, int64_t(reference.size())},
                                                builder.getF32Type())};
    ResultDistance distance(spec, /*unit=*/1, /*samples=*/1, /*budget=*/1024);
    llvm::cantFail(distance.keep(0, 1, {reference.data()}));
    llvm::cantFail(distance.decide(metric));
    used = distance.usedMetric();
    ResultDistance::Comparison each = distance.createComparison();
    std::vector<float> scratch;
    llvm::cantFail(distance.compare(0, 1, {found.data()}, scratch, each));
    return distance.distance(each);
  }

  mlir::MLIRContext context;
  ResultMetric used = ResultMetric::Auto;
};
} // namespace

TEST_F(ResultDistanceTest, LogitsOfDistributions) {
  // Logits 1, -1 and 1.5, -1.5: both differ by 0.5, and the squares add up
  // to 2.
  double p = 1 / (1 + std::exp(-2.0)), q = 1 / (1 + std::exp(-3.0));
  std::vector<float> reference{float(p), float(1 - p)},
      found{float(q), float(1 - q)};
  EXPECT_NEAR(compare(reference, found, ResultMetric::Logits), 0.25, 1e-5);
  EXPECT_EQ(used, ResultMetric::Logits);
  double error = 2 * (q - p) * (q - p), energy = p * p + (1 - p) * (1 - p);
  EXPECT_NEAR(compare(reference, found, ResultMetric::MSE), error / energy,
              1e-6);
}

TEST_F(ResultDistanceTest, ProbabilitiesNearZeroAreOneMillionth) {
  EXPECT_EQ(compare({1, 0}, {1, 1e-9F}, ResultMetric::Logits), 0);
  EXPECT_GT(compare({1, 0}, {1, 1e-5F}, ResultMetric::Logits), 0.01);
}

TEST_F(ResultDistanceTest, OtherResultsHaveNoLogits) {
  // (0.5^2 + 0) / (2^2 + 1).
  EXPECT_NEAR(compare({2, -1}, {2.5, -1}, ResultMetric::Logits), 0.05, 1e-6);
  EXPECT_EQ(used, ResultMetric::MSE);
}

// Three anchors along the last axis, with a box of one number and two scores.
TEST_F(ResultDistanceTest, BoxesCountWithTheLargestProbabilityAtTheirPlace) {
  mlir::Builder builder(&context);
  TensorSpec spec{"y",
                  mlir::RankedTensorType::get({1, 3, 3}, builder.getF32Type())};
  mct::ResultGroups groups{
      1, {0, 1, 1}, {"boxes", "scores"}, /*areProbabilities=*/{0, 1}};
  ResultDistance distance(spec, /*unit=*/1, /*samples=*/1, /*budget=*/1024,
                          groups);
  std::vector<float> reference{10, 20, 30, 0.5, 0, 0, 0.25, 0, 1},
      found{12, 99, 33, 0.5, 0.5, 0, 0.25, 0, 1};
  llvm::cantFail(distance.keep(0, 1, {reference.data()}));
  llvm::cantFail(distance.decide(ResultMetric::MSE));
  ResultDistance::Comparison each = distance.createComparison();
  std::vector<float> scratch;
  llvm::cantFail(distance.compare(0, 1, {found.data()}, scratch, each));
  ASSERT_EQ(distance.getParts().size(), 2u);
  // Weights 0.5, 0 and 1: there is nothing at the second anchor.
  EXPECT_NEAR(distance.distanceOf(0, each), (0.5 * 4 + 9) / (0.5 * 100 + 900),
              1e-9);
  // A score counts where there is nothing, too.
  EXPECT_NEAR(distance.distanceOf(1, each), 0.25 / (0.25 + 0.0625 + 1), 1e-9);
}
