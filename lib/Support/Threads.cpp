// SPDX-License-Identifier: Apache-2.0
#include "mct/Support/Threads.h"

#include <mutex>
#include <pthread.h>
#include <vector>

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

/// Not std::thread, which throws where a thread is refused. Returns how many
/// were started.
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

void mct::support::runOnThreads(size_t count, Work work) {
  startAndJoin(count, work);
}

bool mct::support::canRunThreads(size_t count) {
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
