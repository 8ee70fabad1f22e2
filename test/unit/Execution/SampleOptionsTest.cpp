// SPDX-License-Identifier: Apache-2.0
#include "mct/Execution/SampleSource.h"
#include "gtest/gtest.h"

using mct::execution::SampleOptions;

TEST(SampleOptionsTest, EmptyTextMeansNoScaleAndAllSamples) {
  auto options = SampleOptions::parse({"a.npy"}, "", "", 0);
  ASSERT_TRUE(static_cast<bool>(options));
  EXPECT_TRUE(options->scale.empty());
  EXPECT_TRUE(options->offset.empty());
  EXPECT_LT(options->limit, 0);
  EXPECT_EQ(options->files, (llvm::SmallVector<std::string>{"a.npy"}));
}

TEST(SampleOptionsTest, SemicolonsSeparateChannels) {
  auto options = SampleOptions::parse({}, "0.5; -1e2;3", "1", 7);
  ASSERT_TRUE(static_cast<bool>(options));
  EXPECT_EQ(options->scale, (llvm::SmallVector<double>{0.5, -100, 3}));
  EXPECT_EQ(options->offset, (llvm::SmallVector<double>{1}));
  EXPECT_EQ(options->limit, 7);
}

TEST(SampleOptionsTest, AnythingElseIsAnErrorThatNamesTheOption) {
  for (llvm::StringRef text : {"a", "1,2", "1;", ";", "nan", "inf", "1 2"}) {
    auto options = SampleOptions::parse({}, "1", text, 0);
    ASSERT_FALSE(static_cast<bool>(options)) << text.str();
    EXPECT_EQ(llvm::toString(options.takeError()),
              ("input-offset: expected a number, or numbers separated by ';', "
               "but got '" +
               text + "'")
                  .str());
  }
}
