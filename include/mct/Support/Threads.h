// SPDX-License-Identifier: Apache-2.0
//
// Threads whose creation may fail: a limit on processes or memory makes work
// slower but does not end it.
#ifndef MCT_SUPPORT_THREADS_H
#define MCT_SUPPORT_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace llvm {
class ThreadPoolInterface;
} // namespace llvm

namespace mct::support {

class Progress;

/// A number of threads, and their source.
class Threads {
public:
  /// Starts threads for each use; one per core for 0. Converts implicitly from
  /// a number.
  Threads(unsigned count = 0);
  /// Uses threads of a pool, and the calling one; as many as the pool has if
  /// `count` is 0.
  Threads(unsigned count, llvm::ThreadPoolInterface &pool);

  /// Returns the number of threads, at least 1.
  unsigned count() const { return number; }
  /// Returns the same threads for work that ends when `progress` (may be null)
  /// is cancelled.
  Threads watchedBy(const Progress *progress) const;
  /// Returns whether the work has been cancelled: its results will be
  /// discarded, so that the rest may be skipped.
  bool isCancelled() const;

  /// Returns at most `most` of the threads, and at least 1.
  Threads atMost(size_t most) const;

  /// Calls `work(0)` on the calling thread and `work(1)` ... `work(calls - 1)`,
  /// at most `count()` in all, on others, and returns when all have returned.
  /// Calls without a thread are skipped or delayed, so that each call must take
  /// its work from a shared queue or counter.
  void run(size_t calls, llvm::function_ref<void(size_t)> work) const;

private:
  unsigned number;
  llvm::ThreadPoolInterface *pool = nullptr;
  const Progress *progress = nullptr;
};

/// Returns whether the system allows `count` threads in addition to the calling
/// one.
bool canRunThreads(size_t count);

} // namespace mct::support

#endif // MCT_SUPPORT_THREADS_H
