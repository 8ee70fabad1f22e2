// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Threads.h"

#include "mct/Support/Progress.h"

#include "llvm/Support/ThreadPool.h"

#include <algorithm>
#include <mutex>
#include <pthread.h>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace mct::support;
using Work = llvm::function_ref<void(size_t)>;

namespace {
struct Call {
  Work work;
  size_t number;
};
} // namespace

static void *run(void *argument) {
  auto *call = static_cast<Call *>(argument);
  call->work(call->number);
  return nullptr;
}

/// Runs the work on threads, and returns how many were started. Not
/// std::thread, which throws where a thread is refused.
static size_t startAndJoin(size_t count, Work work) {
  std::vector<Call> calls;
  std::vector<pthread_t> threads;
  calls.reserve(count);
  for (size_t number = 1; number < count; ++number) {
    calls.push_back({work, number});
    pthread_t thread;
    if (::pthread_create(&thread, nullptr, run, &calls.back()) != 0)
      break;
    threads.push_back(thread);
  }
  work(0);
  for (pthread_t thread : threads)
    ::pthread_join(thread, nullptr);
  return threads.size();
}

Threads::Threads(unsigned count)
    : number(count != 0 ? count
                        : std::max(1u, std::thread::hardware_concurrency())) {}

Threads::Threads(unsigned count, llvm::ThreadPoolInterface &pool)
    : number(count != 0 ? count : std::max(1u, pool.getMaxConcurrency())),
      pool(&pool) {}

Threads Threads::watchedBy(const Progress *watching) const {
  Threads watched = *this;
  watched.progress = watching;
  return watched;
}

bool Threads::isCancelled() const {
  return progress && progress->isCancelled();
}

Threads Threads::atMost(size_t most) const {
  Threads fewer = *this;
  fewer.number = unsigned(std::clamp<size_t>(most, 1, number));
  return fewer;
}

void Threads::run(size_t calls, Work work) const {
  calls = std::clamp<size_t>(calls, 1, number);
  if (!pool) {
    startAndJoin(calls, work);
    return;
  }
  llvm::ThreadPoolTaskGroup group(*pool);
  for (size_t call = 1; call < calls; ++call)
    group.async([work, call] { work(call); });
  work(0);
  group.wait();
}

bool mct::support::canRunThreads(size_t count) {
  // Threads that start later need what is left of the address space then.
  rlimit limit;
  if (count > 0 && ::getrlimit(RLIMIT_AS, &limit) == 0 &&
      limit.rlim_cur != RLIM_INFINITY)
    return false;
  // None ends before all are started.
  std::mutex starting;
  std::unique_lock<std::mutex> lock(starting);
  size_t started = startAndJoin(count + 1, [&](size_t number) {
    if (number == 0)
      return lock.unlock();
    std::lock_guard<std::mutex> ended(starting);
  });
  return started == count;
}
