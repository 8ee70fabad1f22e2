// SPDX-License-Identifier: Apache-2.0
#include "BusErrors.h"

#include "llvm/Support/Signals.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <unistd.h>

using namespace mct;
using namespace mct::tools;

// A handler of signals is given nothing of ours.
static std::atomic<const support::MappedFiles *> watched{nullptr};
static struct sigaction previousHandler;

static void handle(int signal, siginfo_t *info, void *) {
  llvm::StringRef message = watched.load()->describeLoss(info->si_addr);
  if (!message.empty()) {
    llvm::sys::RunInterruptHandlers();
    (void)!::write(STDERR_FILENO, message.data(), message.size());
    ::_exit(EXIT_FAILURE);
  }
  // The same instruction fails again.
  ::sigaction(signal, &previousHandler, nullptr);
}

BusErrors::BusErrors(const support::MappedFiles &files) {
  watched = &files;
  struct sigaction action = {};
  action.sa_sigaction = handle;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  ::sigemptyset(&action.sa_mask);
  ::sigaction(SIGBUS, &action, &previousHandler);
}

BusErrors::~BusErrors() {
  ::sigaction(SIGBUS, &previousHandler, nullptr);
  watched = nullptr;
}
