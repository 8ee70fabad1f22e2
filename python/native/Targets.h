// SPDX-License-Identifier: Apache-2.0
//
// Targets as the Python package reads them.
#ifndef MCT_PYTHON_NATIVE_TARGETS_H
#define MCT_PYTHON_NATIVE_TARGETS_H

#include "Module.h"

namespace mct::python {

/// Returns a stock target, or the target of a file, as the JSON that MCT loads.
/// Returns an empty text, and reports to `job`, if there is no such target.
std::string exportTarget(llvm::StringRef target, Job &job);

} // namespace mct::python

#endif // MCT_PYTHON_NATIVE_TARGETS_H
