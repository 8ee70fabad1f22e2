// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_SUPPORT_PROGRESS_H
#define MCT_SUPPORT_PROGRESS_H

#include <atomic>
#include <cstdint>

namespace mct::support {

/// Reports the progress of a run over samples to another thread, which may also
/// cancel the run. Thread safe; one run at a time.
class Progress {
public:
  struct Counts {
    /// Numbers of samples; both are 0 if there is no current run.
    int64_t done = 0, total = 0;
    /// Number of runs that have begun.
    int64_t runs = 0;
    /// Numbers of parts; both are 0 if the number of parts is unknown.
    int64_t partsDone = 0, parts = 0;
  };

  void begin(int64_t samples);
  void add(int64_t samples) { done.fetch_add(samples); }
  void end();

  /// Sets the number of parts of a stage that take about equally long, such as
  /// layers; 0 if unknown. Runs over samples belong to the current part.
  void beginParts(int64_t count);
  void endPart() { ++partsDone; }

  /// Returns the counts, without the copies that were computed beyond the last
  /// sample to fill a unit.
  Counts counts() const;

  /// Makes the current run, and every later one, fail soon.
  void cancel() { cancelled = true; }
  bool isCancelled() const { return cancelled; }

private:
  std::atomic<int64_t> done{0}, total{0}, runs{0}, partsDone{0}, parts{0};
  std::atomic<bool> cancelled{false};
};

} // namespace mct::support

#endif // MCT_SUPPORT_PROGRESS_H
