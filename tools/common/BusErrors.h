// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_TOOLS_COMMON_BUSERRORS_H
#define MCT_TOOLS_COMMON_BUSERRORS_H

#include "mct/Support/MappedFile.h"

namespace mct::tools {

/// While it lives, a process that reads what was cut off from a mapped file
/// removes its temporary files and ends with an error that names the file. It
/// handles `SIGBUS`, which a process has one handler for: for `main` alone.
class BusErrors {
public:
  explicit BusErrors(const support::MappedFiles &files);
  ~BusErrors();
  BusErrors(const BusErrors &) = delete;
  BusErrors &operator=(const BusErrors &) = delete;
};

} // namespace mct::tools

#endif // MCT_TOOLS_COMMON_BUSERRORS_H
