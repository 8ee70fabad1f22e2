// SPDX-License-Identifier: Apache-2.0
//
// Every rewrite of a float network keeps what the network computes. The numbers
// are lower bounds of the graphs, of a hundred, that the pass finds something
// in.
#include "RandomGraphs.h"
#include "gtest/gtest.h"

using mct::testing::expectSameFunction;

TEST(RandomGraphs, FoldConstantsKeepsTheFunction) {
  expectSameFunction("func.func(mct-fold-constants)", 20);
}

TEST(RandomGraphs, FoldBatchNormKeepsTheFunction) {
  expectSameFunction("func.func(mct-fold-constants),mct-fold-batch-norm", 30);
}

TEST(RandomGraphs, NormalizeActivationsKeepsTheFunction) {
  expectSameFunction("func.func(mct-fold-constants,mct-normalize-activations)",
                     20);
}

TEST(RandomGraphs, CollapseLinearKeepsTheFunction) {
  expectSameFunction("func.func(mct-fold-constants),mct-collapse-linear", 10);
}

TEST(RandomGraphs, CollapseResidualKeepsTheFunction) {
  expectSameFunction("mct-collapse-residual", 5);
}

TEST(RandomGraphs, AllFoldsKeepTheFunction) {
  expectSameFunction(
      "func.func(mct-fold-constants,mct-normalize-activations),"
      "mct-fold-batch-norm,mct-collapse-linear,mct-collapse-residual",
      60);
}
