// SPDX-License-Identifier: Apache-2.0
#include "mct/Calibration/PointStatistics.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "gtest/gtest.h"

#include <random>

using namespace mct::calibration;
using mct::quantization::ExactSum;
using mct::quantization::HistogramScratch;

namespace {
class StatisticsFileTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("mct", folder));
  }
  void TearDown() override { llvm::sys::fs::remove_directories(folder); }

  std::string path(llvm::StringRef name) {
    llvm::SmallString<128> result(folder);
    llvm::sys::path::append(result, name);
    return std::string(result);
  }

  std::string read(llvm::StringRef file) {
    return (*llvm::MemoryBuffer::getFile(file))->getBuffer().str();
  }

  void write(llvm::StringRef file, llvm::StringRef text) {
    std::error_code error;
    llvm::raw_fd_ostream(file, error) << text;
    ASSERT_FALSE(error);
  }

  /// Statistics of `count` random values in rows of four channels.
  PointStatistics randomPoint(unsigned seed, size_t count, bool perChannel) {
    std::mt19937 random(seed);
    std::normal_distribution<float> distribution(0.1f, 3.0f);
    std::vector<float> values(count);
    for (float &value : values)
      value = distribution(random);
    PointStatistics point;
    HistogramScratch scratch;
    point.histogram.observe(values.data(), values.size(), scratch);
    if (perChannel)
      point.channels.emplace().observe(values.data(), count / 4, 4);
    return point;
  }

  std::string loadError(llvm::StringRef text) {
    std::string file = path("bad.json");
    write(file, text);
    auto loaded = StatisticsFile::load(file);
    if (loaded)
      return "";
    std::string message = llvm::toString(loaded.takeError());
    EXPECT_NE(message.find("bad.json"), std::string::npos) << message;
    return message;
  }

  llvm::SmallString<128> folder;
};
} // namespace

TEST_F(StatisticsFileTest, ReadsBackExactlyWhatItWrote) {
  StatisticsFile file;
  file.instructionSets = {"test"};
  file.points["a \"quoted\" name"] = randomPoint(1, 4000, true);
  file.points["b"] = randomPoint(2, 4000, false);
  ASSERT_FALSE(bool(file.save(path("first.json"))));
  auto loaded = StatisticsFile::load(path("first.json"));
  ASSERT_TRUE(bool(loaded)) << llvm::toString(loaded.takeError());
  ASSERT_FALSE(bool(loaded->save(path("second.json"))));
  EXPECT_EQ(read(path("first.json")), read(path("second.json")));
  EXPECT_EQ(loaded->points.at("b").histogram, file.points.at("b").histogram);
  EXPECT_EQ(loaded->instructionSets, std::set<std::string>{"test"});
}

TEST_F(StatisticsFileTest, MergedShardsEqualTheWhole) {
  PointStatistics whole = randomPoint(3, 4000, true);
  PointStatistics first = whole, second = randomPoint(4, 4000, true);
  ASSERT_FALSE(bool(first.merge(second)));
  PointStatistics other = second;
  ASSERT_FALSE(bool(other.merge(whole)));
  EXPECT_EQ(first.histogram, other.histogram);
  EXPECT_EQ(first.channels->channels(), other.channels->channels());
}

TEST_F(StatisticsFileTest, DifferentChannelsDoNotMerge) {
  PointStatistics with = randomPoint(5, 40, true);
  PointStatistics without = randomPoint(5, 40, false);
  EXPECT_NE(llvm::toString(with.merge(without)).find("one side only"),
            std::string::npos);
  PointStatistics two = without;
  float values[] = {1, 2, 3, 4};
  two.channels.emplace().observe(values, 2, 2);
  EXPECT_EQ(llvm::toString(with.merge(two)),
            "has 4 channels on one side and 2 on the other");
}

TEST_F(StatisticsFileTest, ErrorsNameTheFileAndThePlace) {
  EXPECT_NE(loadError("{"), "");
  EXPECT_NE(loadError("[]").find("mct-statistics"), std::string::npos);
  EXPECT_NE(loadError(R"({"format": "mct-statistics", "version": 2})")
                .find("expected version 1"),
            std::string::npos);
  std::string header = R"({"format": "mct-statistics", "version": 1, )";
  EXPECT_NE(loadError(header + R"("points": {"p": 3}})").find("points.p"),
            std::string::npos);
  EXPECT_NE(loadError(header + R"("points": {"p": {"min": "low"}}})")
                .find("points.p.min"),
            std::string::npos);
  // One value, counted in a bin that does not hold it.
  std::string impossible =
      loadError(header + R"("points": {"p": {"min": 1.0, "max": 1.0, "zeros": 0,
                   "exponent": 1, "first": 0, "counts": [1]}}})");
  EXPECT_NE(impossible.find("points.p"), std::string::npos);
  auto absent = StatisticsFile::load(path("absent.json"));
  ASSERT_FALSE(bool(absent));
  EXPECT_NE(llvm::toString(absent.takeError()).find("absent.json"),
            std::string::npos);
}

/// One value of 3 in each of two channels, with parts replaced.
static std::string twoChannels(llvm::StringRef first,
                               llvm::StringRef counts = "[2]") {
  ExactSum sum, square;
  sum.add(3.0);
  square.add(9.0);
  std::string good = R"({"count": 1, "min": 3.0, "max": 3.0, "sum": ")" +
                     sum.toHex() + R"(", "sum_of_squares": ")" +
                     square.toHex() + R"("})";
  return (R"({"format": "mct-statistics", "version": 1, "points": {"p": {
             "min": 3.0, "max": 3.0, "zeros": 0, "exponent": 2, "first": 7168,
             "counts": )" +
          counts + R"(, "channels": [)" + (first.empty() ? good : first) +
          ", " + good + "]}}}")
      .str();
}

TEST_F(StatisticsFileTest, ChannelsThatNoValuesGiveAreRefused) {
  EXPECT_EQ(loadError(twoChannels("")), "");
  ExactSum three, nine;
  three.add(3.0);
  nine.add(9.0);
  auto channel = [&](llvm::StringRef count, llvm::StringRef min,
                     const ExactSum &sum, const ExactSum &square) {
    return (R"({"count": )" + count + R"(, "min": )" + min +
            R"(, "max": 3.0, "sum": ")" + sum.toHex() +
            R"(", "sum_of_squares": ")" + square.toHex() + R"("})")
        .str();
  };
  EXPECT_EQ(loadError(twoChannels(channel("1", "2.0", three, nine))), "");
  for (const std::string &bad :
       {channel("0", "3.0", three, nine), channel("1", "4.0", three, nine),
        channel("1", "3.0", nine, nine), channel("1", "3.0", three, three)})
    EXPECT_NE(loadError(twoChannels(bad)).find("points.p.channels[0]"),
              std::string::npos)
        << bad;
}

TEST_F(StatisticsFileTest, ChannelsCountWhatTheHistogramCounts) {
  EXPECT_NE(loadError(twoChannels("", "[1]")).find("more values in the chan"),
            std::string::npos);
  EXPECT_NE(loadError(twoChannels("", "[3]")).find("fewer values in the chan"),
            std::string::npos);
}

TEST_F(StatisticsFileTest, CountsThatNoAttributeHoldsAreRefused) {
  std::string header = R"({"format": "mct-statistics", "version": 1, )";
  std::string tooMany =
      loadError(header + R"("points": {"p": {"min": 3.0, "max": 3.0, "zeros": 0,
             "exponent": 2, "first": 7168, "counts": [9223372036854775808]}}})");
  EXPECT_NE(tooMany.find("more values than can be counted"), std::string::npos)
      << tooMany;
  // Most that can be, twice.
  std::string most = path("most.json");
  write(most, header + R"("points": {"p": {"min": 3.0, "max": 3.0, "zeros": 0,
             "exponent": 2, "first": 7168, "counts": [9223372036854775807]}}})");
  auto file = StatisticsFile::load(most);
  ASSERT_TRUE(bool(file)) << llvm::toString(file.takeError());
  EXPECT_EQ(llvm::toString(file->merge(StatisticsFile(*file))),
            "statistics of 'p': has 9223372036854775807 values on one side and "
            "9223372036854775807 on the other, together more than can be "
            "counted");
}

TEST_F(StatisticsFileTest, NamesOfInstructionSetsAreNames) {
  std::string header = R"({"format": "mct-statistics", "version": 1, )";
  EXPECT_NE(loadError(header + R"("instruction_set": 3, "points": {}})")
                .find("instruction_set"),
            std::string::npos);
  EXPECT_NE(loadError(header + R"("instruction_set": [3], "points": {}})")
                .find("instruction_set[0]"),
            std::string::npos);
  EXPECT_NE(loadError(header + R"("points": {"p": {"min": 3.0, "max": 3.0,
                "zeros": 0, "exponent": 2, "first": 7168, "counts": [1],
                "channels": 5}}})")
                .find("points.p.channels"),
            std::string::npos);
}

TEST_F(StatisticsFileTest, AnUnwritableFolderIsAnErrorAndLeavesNothing) {
  StatisticsFile file;
  llvm::Error error = file.save(path("no/such/folder/s.json"));
  ASSERT_TRUE(bool(error));
  EXPECT_NE(llvm::toString(std::move(error)).find("s.json"), std::string::npos);
}
