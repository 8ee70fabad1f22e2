// SPDX-License-Identifier: Apache-2.0
//
// Targets as the Python package reads them.
#ifndef MCT_PYTHON_NATIVE_TARGETS_H
#define MCT_PYTHON_NATIVE_TARGETS_H

#include "Module.h"

namespace mct::python {

/// The JSON, as MCT loads it, of a stock target or of that of a file. Empty,
/// and told to `job`, where there is none.
std::string exportTarget(llvm::StringRef target, Job &job);

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_TARGETS_H
