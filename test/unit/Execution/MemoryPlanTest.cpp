// SPDX-License-Identifier: Apache-2.0
#include "lib/Execution/MemoryPlan.h"
#include "gtest/gtest.h"

#include <algorithm>
#include <random>

using namespace mct::execution;

namespace {

/// Bytes that the buffers alive at the fullest step need.
int64_t fullestStep(const std::vector<BufferLife> &buffers, unsigned steps) {
  int64_t most = 0;
  for (unsigned step = 0; step != steps; ++step) {
    int64_t bytes = 0;
    for (const BufferLife &buffer : buffers)
      if (buffer.begin <= step && step <= buffer.end)
        bytes += (buffer.bytes + 63) / 64 * 64;
    most = std::max(most, bytes);
  }
  return most;
}

TEST(MemoryPlan, BuffersThatLiveTogetherDoNotOverlap) {
  std::mt19937 random(1);
  for (int round = 0; round != 300; ++round) {
    unsigned steps = 1 + random() % 40;
    std::vector<BufferLife> buffers(random() % 60);
    for (BufferLife &buffer : buffers) {
      buffer.bytes = random() % 4 ? random() % 1000 : 0;
      buffer.begin = random() % steps;
      buffer.end = buffer.begin + random() % (steps - buffer.begin);
    }
    std::optional<MemoryPlan> plan = planMemory(buffers);
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->offsets.size(), buffers.size());
    for (size_t a = 0; a != buffers.size(); ++a) {
      EXPECT_EQ(plan->offsets[a] % 64, 0);
      EXPECT_LE(plan->offsets[a] + buffers[a].bytes, plan->bytes);
      for (size_t b = 0; b != a; ++b) {
        bool together = buffers[a].begin <= buffers[b].end &&
                        buffers[b].begin <= buffers[a].end;
        bool apart = plan->offsets[a] + buffers[a].bytes <= plan->offsets[b] ||
                     plan->offsets[b] + buffers[b].bytes <= plan->offsets[a];
        EXPECT_TRUE(!together || apart || buffers[a].bytes == 0 ||
                    buffers[b].bytes == 0)
            << "round " << round << ": " << a << " and " << b;
      }
    }
    EXPECT_GE(plan->bytes, fullestStep(buffers, steps));
  }
}

// Each buffer of a chain is read by the next step only: two places suffice.
TEST(MemoryPlan, AChainTakesTwoPlaces) {
  std::vector<BufferLife> buffers;
  for (unsigned step = 0; step != 1000; ++step)
    buffers.push_back({640, step, step + 1});
  std::optional<MemoryPlan> plan = planMemory(buffers);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 2 * 640);
}

TEST(MemoryPlan, RangesThatMeetBecomeOne) {
  // Two buffers side by side die, one as large as both takes their place.
  std::optional<MemoryPlan> plan =
      planMemory({{64, 0, 1}, {64, 0, 1}, {128, 2, 3}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 128);
}

TEST(MemoryPlan, TheEndOfTheBlockGrows) {
  // Free bytes at the end count for a larger buffer.
  std::optional<MemoryPlan> plan = planMemory({{64, 0, 1}, {256, 2, 3}});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->bytes, 256);
}

TEST(MemoryPlan, MoreThanCanBeAddressedIsNoPlan) {
  int64_t half = int64_t(1) << 61;
  EXPECT_TRUE(planMemory({{half, 0, 1}}));
  EXPECT_FALSE(planMemory({{half, 0, 1}, {half, 0, 1}, {half, 0, 1}}));
  EXPECT_FALSE(planMemory({{std::numeric_limits<int64_t>::max(), 0, 1}}));
}

} // namespace
