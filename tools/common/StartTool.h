// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TOOLS_COMMON_STARTTOOL_H
#define MCT_TOOLS_COMMON_STARTTOOL_H

#include "llvm/Support/InitLLVM.h"

namespace mct::tools {

/// LLVM's start of a tool, and the end of one whose output cannot be written:
/// standard output that is full, closed, or a pipe without a reader is one
/// error with status 1, however late it is found. For `main` alone.
class StartTool {
public:
  StartTool(int &argc, char **&argv);
  ~StartTool();

private:
  llvm::InitLLVM initialized;
};

} // namespace mct::tools

#endif // MCT_TOOLS_COMMON_STARTTOOL_H
