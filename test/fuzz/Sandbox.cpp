// SPDX-License-Identifier: Apache-2.0
#include "Sandbox.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/DebugInfo/Symbolize/Symbolize.h"
#include "llvm/Demangle/Demangle.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <new>
#include <optional>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <unwind.h>

using namespace mct::fuzz;
using llvm::StringRef;

// Null without the address sanitizer, with which only what is tested is
// compiled: the linker knows whether it is there.
extern "C" __attribute__((weak)) void
__sanitizer_set_death_callback(void (*callback)());

// The linker's names of where the code of this program lies.
extern "C" const char __executable_start;
extern "C" const char etext;

Board *mct::fuzz::board = nullptr;

const char *mct::fuzz::getName(Phase phase) {
  static constexpr const char *kNames[] = {"mutating", "parsing",   "passes",
                                           "writing",  "compiling", "running"};
  return kNames[int(phase)];
}

void mct::fuzz::enter(Phase phase, void *mark) {
  if (!board)
    return;
  board->phase = phase;
  board->mark = static_cast<const char *>(mark);
}

static _Unwind_Reason_Code recordFrame(_Unwind_Context *context, void *) {
  auto frame = reinterpret_cast<const char *>(_Unwind_GetCFA(context));
  if (frame > board->mark && syscall(SYS_gettid) == getpid()) {
    // The address of a frame is recorded with its caller: the last one is the
    // function that entered the phase.
    if (board->numFrames != 0 && board->numFrames < std::size(board->frames))
      --board->numFrames;
    return _URC_END_OF_STACK;
  }
  int before = 0;
  uintptr_t address = _Unwind_GetIPInfo(context, &before);
  if (!before && address)
    --address;
  if (board->numFrames == std::size(board->frames))
    return _URC_END_OF_STACK;
  board->frames[board->numFrames++] = address;
  return _URC_NO_REASON;
}

static void recordStack() {
  board->isReported = true;
  board->numFrames = 0;
  _Unwind_Backtrace(recordFrame, nullptr);
}

static void onSignal(int number) {
  // A second one, from the unwinder.
  if (board->isReported)
    _exit(4);
  board->signal = number;
  recordStack();
  _exit(3);
}

/// The unwinder calls the handler's own frame, and the kernel's, first; they
/// are no part of the crash.
static bool isMachinery(StringRef name) {
  for (StringRef prefix :
       {"recordStack", "onSignal", "__asan", "__sanitizer", "__interceptor",
        "___interceptor", "__ubsan", "__restore_rt", "_Unwind_", "raise",
        "abort", "__lsan", "pthread_kill", "gsignal", "operator new",
        "__interception", "tryAll"})
    if (name.starts_with(prefix))
      return true;
  return false;
}

/// `isOwn`: whether it is code of this program.
static std::string nameOf(uintptr_t address, bool &isOwn) {
  isOwn = false;
  Dl_info info{};
  if (!dladdr(reinterpret_cast<void *>(address), &info) || !info.dli_fname)
    return "?";
  auto *code = reinterpret_cast<const char *>(address);
  if (code < &__executable_start || code >= &etext) {
    if (info.dli_sname)
      return llvm::demangle(info.dli_sname);
    return llvm::StringRef(info.dli_fname).rsplit('/').second.str();
  }
  isOwn = true;
  // Deep stacks have the same address again and again.
  static auto *names = new std::map<uintptr_t, std::string>();
  auto known = names->find(address);
  if (known != names->end())
    return known->second;
  static auto *symbolizer = new llvm::symbolize::LLVMSymbolizer();
  auto base = reinterpret_cast<uintptr_t>(info.dli_fbase);
  std::string name = "?";
  if (auto line = symbolizer->symbolizeCode(
          "/proc/self/exe",
          {address - base, llvm::object::SectionedAddress::UndefSection}))
    name = line->FunctionName;
  else
    llvm::consumeError(line.takeError());
  return (*names)[address] = name;
}

std::string mct::fuzz::describe(const Failure &failure) {
  std::string text;
  switch (failure.kind) {
  case Failure::Wrong:
    return failure.message.substr(0, 2000);
  case Failure::Crash:
    text = failure.signal ? "signal " + std::to_string(failure.signal)
                          : std::string("sanitizer");
    break;
  case Failure::Hang:
    text = "no end";
    break;
  case Failure::Memory:
    text = "too much memory";
    break;
  }
  text += std::string(" while ") + getName(failure.phase);
  size_t shown = 0;
  for (const std::string &frame : failure.frames) {
    // Frames of libraries without names are not useful.
    if (StringRef(frame).contains(".so."))
      continue;
    if (shown++ == (failure.isOwn ? 12 : 3))
      break;
    // Without arguments, of which templates have many.
    StringRef name =
        StringRef(frame).take_until([](char c) { return c == '('; });
    text += "\n    " +
            (name.empty() ? StringRef(frame) : name).take_front(120).str();
  }
  return text;
}

static double now(clockid_t clock) {
  timespec time{};
  if (clock_gettime(clock, &time) != 0)
    return 0;
  return double(time.tv_sec) + double(time.tv_nsec) * 1e-9;
}

static uint64_t residentBytes(pid_t process) {
  char path[64], text[128] = {};
  (void)snprintf(path, sizeof(path), "/proc/%d/statm", int(process));
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0)
    return 0;
  ssize_t length = read(file, text, sizeof(text) - 1);
  close(file);
  uint64_t pages = 0;
  if (length > 0) {
    StringRef rest = StringRef(text).split(' ').second;
    rest.consumeInteger(10, pages);
  }
  return pages * uint64_t(sysconf(_SC_PAGESIZE));
}

/// An exception ends the process where it is thrown, and not in GoogleTest.
[[noreturn]] static void
tryAll(uint64_t from, uint64_t to, double end,
       llvm::function_ref<std::string(uint64_t)> attempt, int output) noexcept {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  // A stack that is used up has no room for the handler.
  static char room[1 << 16];
  stack_t other{};
  other.ss_sp = room;
  other.ss_size = sizeof(room);
  sigaltstack(&other, nullptr);
  struct sigaction action{};
  action.sa_handler = onSignal;
  action.sa_flags = SA_ONSTACK;
  for (int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGTRAP})
    sigaction(signal, &action, nullptr);
  if (__sanitizer_set_death_callback) {
    __sanitizer_set_death_callback([] {
      if (!board->isReported)
        recordStack();
    });
  } else {
    // Memory that is not touched cannot be measured from outside.
    rlimit space = {rlim_t(6) << 30, rlim_t(6) << 30};
    setrlimit(RLIMIT_AS, &space);
  }
  // As in the tools, a failed allocation ends the process where it occurs.
  std::set_new_handler([] { abort(); });
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  for (uint64_t number = from; number != to; ++number) {
    if (now(CLOCK_MONOTONIC) >= end)
      break;
    board->number = number;
    board->start = now(CLOCK_PROCESS_CPUTIME_ID);
    if (ftruncate(output, 0) == 0)
      lseek(output, 0, SEEK_SET);
    enter(Phase::Mutating, __builtin_frame_address(0));
    std::string wrong = attempt(number);
    if (wrong.empty())
      continue;
    strncpy(board->message, wrong.c_str(), sizeof(board->message) - 1);
    _exit(2);
  }
  _exit(0);
}

/// Tries the numbers from `from` until before `to` in one process. Nothing when
/// it came to the end of them, or of the time.
static std::optional<Failure>
tryIsolated(uint64_t from, uint64_t to, double end, const Limits &limits,
            llvm::function_ref<std::string(uint64_t)> attempt, int output) {
  board->signal = 0;
  board->isReported = false;
  board->numFrames = 0;
  memset(board->message, 0, sizeof(board->message));
  board->start = 0;
  board->number = from;
  pid_t child = fork();
  if (child == 0)
    tryAll(from, to, end, attempt, output);
  Failure failure;
  if (child < 0) {
    failure.number = from;
    failure.message = std::string("no process: ") + strerror(errno);
    return failure;
  }

  clockid_t clock = 0;
  bool hasClock = clock_getcpuclockid(child, &clock) == 0;
  bool isStopped = false;
  int status = 0;
  double spent = 0, spentSince = now(CLOCK_MONOTONIC), stoppedAt = 0;
  while (waitpid(child, &status, WNOHANG) == 0) {
    usleep(10000);
    double time = now(CLOCK_MONOTONIC);
    if (double used = hasClock ? now(clock) : time; used != spent) {
      spent = used;
      spentSince = time;
    }
    if (isStopped) {
      // The handler may wait for a lock of what it interrupted.
      if (time - stoppedAt > 5)
        kill(child, SIGKILL);
      continue;
    }
    bool isParsing = board->phase == Phase::Parsing;
    bool isFull =
        residentBytes(child) > (isParsing ? limits.parsingBytes : limits.bytes);
    double allowed = isParsing ? limits.parsingSeconds : limits.cpuSeconds;
    // A busy machine makes everything wait, but not for ever: who waits so long
    // waits for a lock, which the handler of a crash may do, too.
    bool isLong =
        (hasClock && board->start > 0 && spent - board->start > allowed) ||
        time - spentSince > limits.idleSeconds;
    if (isLong && board->isReported) {
      kill(child, SIGKILL);
      continue;
    }
    if (!isFull && !isLong)
      continue;
    failure.kind = isFull ? Failure::Memory : Failure::Hang;
    isStopped = true;
    stoppedAt = time;
    kill(child, SIGABRT);
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
    return std::nullopt;
  failure.number = board->number;
  failure.phase = board->phase;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2 && !isStopped) {
    failure.message = board->message;
    return failure;
  }
  if (!isStopped)
    failure.kind = Failure::Crash;
  failure.signal =
      WIFSIGNALED(status) && !board->signal ? WTERMSIG(status) : board->signal;
  failure.isOwn = !board->isReported;
  for (size_t i = 0; i != board->numFrames; ++i) {
    bool isOwn = false;
    std::string name = nameOf(board->frames[i], isOwn);
    if (isMachinery(name))
      continue;
    // Our handler prints what a diagnostic holds.
    failure.isOwn |= isOwn && !(StringRef(name).contains("CallImpl<") &&
                                StringRef(name).contains("mlir::Diagnostic"));
    failure.frames.push_back(std::move(name));
  }
  if (auto log =
          llvm::MemoryBuffer::getFile("/proc/self/fd/" + llvm::Twine(output)))
    failure.message = (*log)->getBuffer().take_front(6000).str();
  return failure;
}

/// The file that the processes print to.
static int outputDescriptor = -1;

bool mct::fuzz::succeedsAlone(const Limits &limits,
                              llvm::function_ref<void()> attempt) {
  uint64_t number = board->number;
  std::optional<Failure> failure = tryIsolated(
      0, 1, HUGE_VAL, limits,
      [&](uint64_t) {
        attempt();
        return std::string();
      },
      outputDescriptor);
  board->number = number;
  return !failure;
}

uint64_t
mct::fuzz::runIsolated(const Limits &limits,
                       llvm::function_ref<std::string(uint64_t)> attempt,
                       llvm::function_ref<bool(const Failure &)> onFailure) {
  board =
      static_cast<Board *>(mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  llvm::SmallString<128> outputPath;
  int output = -1;
  if (board == MAP_FAILED ||
      llvm::sys::fs::createTemporaryFile("mct-fuzz", "log", output, outputPath))
    return 0;
  outputDescriptor = output;
  double end = now(CLOCK_MONOTONIC) + limits.seconds;
  uint64_t next = 0;
  while (now(CLOCK_MONOTONIC) < end) {
    // Run this number in one process, which frees leaks and caches when it
    // ends.
    std::optional<Failure> failure =
        tryIsolated(next, next + 1000, end, limits, attempt, output);
    next = board->number + 1;
    if (!failure)
      continue;
    // Memory that an earlier one has damaged is not the fault of this one.
    if (failure->isOwn || failure->phase != Phase::Parsing) {
      uint64_t number = failure->number;
      std::optional<Failure> alone =
          tryIsolated(number, number + 1, HUGE_VAL, limits, attempt, output);
      if (alone)
        failure = alone;
      failure->isReproduced = alone.has_value();
    }
    if (!onFailure(*failure))
      break;
  }
  close(output);
  llvm::sys::fs::remove(outputPath);
  return next;
}
