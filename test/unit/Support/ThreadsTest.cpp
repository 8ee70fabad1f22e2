// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Threads.h"
#include "mct/Quantization/Parallel.h"
#include "llvm/Support/ThreadPool.h"
#include "gtest/gtest.h"

#include <mutex>
#include <pthread.h>
#include <set>

using namespace mct::support;

namespace {
/// While it lives the system has no memory for the stack of another thread.
class NoMoreThreads {
public:
  NoMoreThreads() : before(setStackSize(size_t(1) << 50)) {}
  ~NoMoreThreads() { setStackSize(before); }

private:
  static size_t setStackSize(size_t size) {
    pthread_attr_t attributes;
    size_t old = 0;
    ::pthread_getattr_default_np(&attributes);
    ::pthread_attr_getstacksize(&attributes, &old);
    ::pthread_attr_setstacksize(&attributes, size);
    EXPECT_EQ(::pthread_setattr_default_np(&attributes), 0);
    ::pthread_attr_destroy(&attributes);
    return old;
  }
  size_t before;
};

std::set<size_t> numbersOf(size_t count) {
  std::mutex mutex;
  std::set<size_t> numbers;
  Threads(unsigned(count)).run(count, [&](size_t number) {
    std::lock_guard<std::mutex> lock(mutex);
    numbers.insert(number);
  });
  return numbers;
}
} // namespace

TEST(ThreadsTest, EveryNumberHasItsThread) {
  EXPECT_EQ(numbersOf(1), (std::set<size_t>{0}));
  EXPECT_EQ(numbersOf(4), (std::set<size_t>{0, 1, 2, 3}));
  EXPECT_TRUE(canRunThreads(3));
}

TEST(ThreadsTest, OfAPool) {
  llvm::StdThreadPool pool(llvm::hardware_concurrency(3));
  EXPECT_EQ(Threads(0, pool).count(), pool.getMaxConcurrency());
  Threads threads(5, pool);
  EXPECT_EQ(threads.count(), 5u);
  EXPECT_EQ(threads.atMost(2).count(), 2u);
  EXPECT_EQ(threads.atMost(0).count(), 1u);
  // The calling thread may be one of the pool.
  std::mutex mutex;
  std::multiset<size_t> numbers;
  threads.run(2, [&](size_t outer) {
    threads.run(3, [&](size_t inner) {
      std::lock_guard<std::mutex> lock(mutex);
      numbers.insert(10 * outer + inner);
    });
  });
  EXPECT_EQ(numbers, (std::multiset<size_t>{0, 1, 2, 10, 11, 12}));
}

TEST(ThreadsTest, WorkIsDoneWhereThreadsAreRefused) {
  NoMoreThreads limit;
  EXPECT_FALSE(canRunThreads(1));
  EXPECT_TRUE(canRunThreads(0));
  EXPECT_EQ(numbersOf(4), (std::set<size_t>{0}));
  std::set<size_t> done;
  mct::quantization::parallelFor(100, 4,
                                 [&](size_t index) { done.insert(index); });
  EXPECT_EQ(done.size(), 100u);
}
