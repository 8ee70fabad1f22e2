// SPDX-License-Identifier: Apache-2.0
#include "StartTool.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <csignal>
#include <cstdlib>
#include <string>
#include <unistd.h>

/// Streams report errors that nobody has asked for when they are destroyed,
/// after `main`. LLVM handles what this function returns from.
static void handle(void *, const char *reason, bool) {
  llvm::StringRef text(reason);
  if (!text.consume_front("IO failure on output stream: "))
    return (void)(llvm::errs() << "LLVM ERROR: " << text << '\n');
  std::string message = "error: cannot write the output: " + text.str() + '\n';
  llvm::sys::RunInterruptHandlers();
  (void)!::write(STDERR_FILENO, message.data(), message.size());
  ::_exit(EXIT_FAILURE);
}

mct::tools::StartTool::StartTool(int &argc, char **&argv)
    : initialized(argc, argv) {
  // Exceeding a limit on file sizes is an error of the write, not a signal.
  std::signal(SIGXFSZ, SIG_IGN);
  llvm::install_fatal_error_handler(handle);
}

mct::tools::StartTool::~StartTool() {
  // Messages that nobody can read do not make a result wrong.
  llvm::errs().clear_error();
}
