// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/ChannelValues.h"
#include "gtest/gtest.h"

using mct::calibration::parseChannelValues;

TEST(ChannelValues, EmptyTextGivesNone) {
  auto values = parseChannelValues("", "input-scale");
  ASSERT_TRUE(bool(values));
  EXPECT_TRUE(values->empty());
}

TEST(ChannelValues, SemicolonsSeparateChannels) {
  auto values = parseChannelValues("0.5; -1e2;3", "input-scale");
  ASSERT_TRUE(bool(values));
  EXPECT_EQ(*values, (llvm::SmallVector<double>{0.5, -100, 3}));
}

TEST(ChannelValues, AnythingElseIsAnErrorThatNamesTheOption) {
  for (llvm::StringRef text : {"a", "1,2", "1;", ";", "nan", "inf", "1 2"}) {
    auto values = parseChannelValues(text, "input-scale");
    ASSERT_FALSE(bool(values)) << text.str();
    EXPECT_EQ(llvm::toString(values.takeError()),
              ("input-scale: expected a number, or numbers separated by ';', "
               "but got '" +
               text + "'")
                  .str());
  }
}
