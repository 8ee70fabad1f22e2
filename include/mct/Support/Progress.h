// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_PROGRESS_H
#define MCT_SUPPORT_PROGRESS_H

#include "mct/Support/ContextScope.h"
#include <atomic>
#include <cstdint>

namespace mct::support {

/// How far a run over samples is, for another thread, which may also end it.
/// Thread safe; one run at a time.
class Progress {
public:
  struct Counts {
    /// Samples; 0 of 0 where no run is under way.
    int64_t done = 0, total = 0;
    /// Runs that have begun.
    int64_t runs = 0;
  };

  void begin(int64_t samples);
  void add(int64_t samples) { done.fetch_add(samples); }
  void end();
  /// What was computed beyond the last sample, to fill a unit, does not count.
  Counts counts() const;

  /// What runs, and whatever would run after it, fails soon.
  void cancel() { cancelled = true; }
  bool isCancelled() const { return cancelled; }

private:
  std::atomic<int64_t> done{0}, total{0}, runs{0};
  std::atomic<bool> cancelled{false};
};

/// While it lives, runs over samples of modules of a context are told to it.
using ProgressScope = ContextScope<Progress>;

/// What is told of runs of a context; null: nobody asks.
inline Progress *findProgress(mlir::MLIRContext *context) {
  return ProgressScope::find(context);
}

} // namespace mct::support

#endif // MCT_SUPPORT_PROGRESS_H
