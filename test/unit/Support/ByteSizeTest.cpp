// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/ByteSize.h"
#include "gtest/gtest.h"

using mct::support::parseByteSize;

TEST(ByteSizeTest, BytesOrMultiplesOf1024) {
  auto parse = [](const char *text) {
    return llvm::cantFail(parseByteSize(text, "limit"));
  };
  EXPECT_EQ(parse(""), 0);
  EXPECT_EQ(parse("0"), 0);
  EXPECT_EQ(parse("123"), 123);
  EXPECT_EQ(parse("2K"), 2048);
  EXPECT_EQ(parse("3m"), 3 << 20);
  EXPECT_EQ(parse("5G"), int64_t(5) << 30);
}

TEST(ByteSizeTest, EverythingElseIsAnError) {
  for (const char *text : {"K", "-1", "1.5G", "1T", "1 K", "1KB", "x", "0x10",
                           "9223372036854775808", "9000000000G"}) {
    auto size = parseByteSize(text, "limit");
    ASSERT_FALSE(static_cast<bool>(size)) << text;
    EXPECT_EQ(llvm::toString(size.takeError()),
              std::string("limit: expected a number of bytes, which may end in "
                          "K, M or G, but got '") +
                  text + "'");
  }
}
