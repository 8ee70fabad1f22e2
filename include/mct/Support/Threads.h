// SPDX-License-Identifier: Apache-2.0
//
// Threads that may be refused: a limit on processes or memory makes work slower
// and does not end it.
#ifndef MCT_SUPPORT_THREADS_H
#define MCT_SUPPORT_THREADS_H

#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>

namespace llvm {
class ThreadPoolInterface;
} // namespace llvm

namespace mct::support {

class Progress;

/// How many threads something may use, and from where it has them.
class Threads {
public:
  /// Started for each use. 0: one per core. A number stands for this.
  Threads(unsigned count = 0);
  /// Those of a pool, and the calling thread. 0: as many as the pool has.
  Threads(unsigned count, llvm::ThreadPoolInterface &pool);

  /// At least 1.
  unsigned count() const { return number; }
  /// The same for work that whoever watches `progress` may end; null: nobody.
  Threads watchedBy(const Progress *progress) const;
  /// Whether the work has been cancelled: what is computed is dropped, so that
  /// whoever computes may leave out what is left.
  bool isCancelled() const;

  /// From the same place, but at most so many, and at least 1.
  Threads atMost(size_t most) const;

  /// Calls `work(0)` on the calling thread and `work(1)` ... `work(calls - 1)`,
  /// at most `count()` in all, on others, and returns when all have returned.
  /// Calls for which there is no thread are left out, or come late, so that
  /// each must take what it does from something that all of them share.
  void run(size_t calls, llvm::function_ref<void(size_t)> work) const;

private:
  unsigned number;
  llvm::ThreadPoolInterface *pool = nullptr;
  const Progress *progress = nullptr;
};

/// Whether the system gives so many threads beside the calling one at once.
bool canRunThreads(size_t count);

} // namespace mct::support

#endif // MCT_SUPPORT_THREADS_H
