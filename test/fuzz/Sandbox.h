// SPDX-License-Identifier: Apache-2.0
//
// Runs attempts in processes of their own, so that one that crashes, does not
// end or fills the memory is reported, and the next one runs.
#ifndef MCT_TEST_FUZZ_SANDBOX_H
#define MCT_TEST_FUZZ_SANDBOX_H

#include "llvm/ADT/STLFunctionalExtras.h"
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace mct::fuzz {

/// The work of the process that tries.
enum class Phase : int {
  Mutating,
  Parsing,
  Passes,
  Writing,
  Compiling,
  Running
};
const char *getName(Phase phase);

/// Shared by the process that tries and the one that waits.
struct Board {
  uint64_t number;
  Phase phase;
  /// Frame that entered the phase: what lies below it belongs to the phase.
  const char *mark;
  /// CPU time of the process when it began with this number.
  double start;
  uint64_t counts[16];
  char message[16384];
  /// Signal and frames of a crash in the phase, innermost first.
  int signal;
  bool isReported;
  size_t numFrames;
  uintptr_t frames[8192];
};

/// Null outside of `runIsolated`.
extern Board *board;

/// Says what comes now; `mark` is `__builtin_frame_address(0)`.
void enter(Phase phase, void *mark);

/// Frames that are called until it ends lie below `mark`; the phase is the
/// same.
class Scope {
public:
  explicit Scope(void *mark) : before(board ? board->mark : nullptr) {
    if (board)
      board->mark = static_cast<const char *>(mark);
  }
  ~Scope() {
    if (board)
      board->mark = before;
  }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  const char *before;
};

struct Failure {
  enum Kind { Wrong, Crash, Hang, Memory };
  Kind kind = Wrong;
  uint64_t number = 0;
  Phase phase = Phase::Mutating;
  int signal = 0;
  /// Code of this program is on the stack, and not only that of MLIR and LLVM.
  bool isOwn = true;
  /// Alone in a process it happens, too.
  bool isReproduced = true;
  /// Text that `attempt` returned, or a sanitizer's.
  std::string message;
  /// Names of functions, innermost first.
  std::vector<std::string> frames;
};
/// One line: what, where, the innermost functions. Equal for equal causes.
std::string describe(const Failure &failure);

struct Limits {
  double seconds = 15;
  /// CPU time of one attempt.
  double cpuSeconds = 20;
  /// Seconds without any CPU time in between.
  double idleSeconds = 60;
  /// Resident bytes of the process.
  uint64_t bytes = uint64_t(3) << 30;
  /// Both in `Phase::Parsing`, which takes little where it comes to an end.
  double parsingSeconds = 1;
  uint64_t parsingBytes = uint64_t(1) << 30;
};

/// Calls `attempt` in a process of its own, and returns whether it ended
/// normally. May only be called within `onFailure`.
bool succeedsAlone(const Limits &limits, llvm::function_ref<void()> attempt);

/// Calls `attempt` with 0, 1, 2, ... until the time is over; it returns what is
/// wrong, or nothing. `onFailure` is called in this process and returns false
/// to stop. Returns the number of attempts.
uint64_t runIsolated(const Limits &limits,
                     llvm::function_ref<std::string(uint64_t)> attempt,
                     llvm::function_ref<bool(const Failure &)> onFailure);

} // namespace mct::fuzz

#endif // MCT_TEST_FUZZ_SANDBOX_H
