// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_PROGRESS_H
#define MCT_SUPPORT_PROGRESS_H

#include <atomic>
#include <cstdint>

namespace mct::support {

/// Tells another thread how far a run over samples is; that thread may also end
/// the run. Thread safe; one run at a time.
class Progress {
public:
  struct Counts {
    /// Numbers of samples, both 0 where no run is under way.
    int64_t done = 0, total = 0;
    /// Number of runs that have begun.
    int64_t runs = 0;
    /// Numbers of parts, both 0 where it is not known how many there are.
    int64_t partsDone = 0, parts = 0;
  };

  void begin(int64_t samples);
  void add(int64_t samples) { done.fetch_add(samples); }
  void end();

  /// Tells how many parts a stage has that take about as long, such as layers.
  /// Runs over samples belong to the part that is under way. 0: not known.
  void beginParts(int64_t count);
  void endPart() { ++partsDone; }

  /// Leaves out what was computed beyond the last sample, to fill a unit.
  Counts counts() const;

  /// Makes the run, and every later one, fail soon.
  void cancel() { cancelled = true; }
  bool isCancelled() const { return cancelled; }

private:
  std::atomic<int64_t> done{0}, total{0}, runs{0}, partsDone{0}, parts{0};
  std::atomic<bool> cancelled{false};
};

} // namespace mct::support

#endif // MCT_SUPPORT_PROGRESS_H
