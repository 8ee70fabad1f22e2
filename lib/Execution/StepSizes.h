// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EXECUTION_STEPSIZES_H
#define MCT_LIB_EXECUTION_STEPSIZES_H

#include "Program.h"

namespace mct::execution {

/// Compares the bytes that each step of a program writes with the size of the
/// planned buffer, and the bytes that it reads with that of the buffer it
/// reads; arguments and results with their types. Fails, with an error at `loc`
/// that names the op. A difference is an error of the compiler, which would
/// overwrite memory if the program ran.
mlir::LogicalResult checkStepSizes(const Program &program, mlir::Location loc);

} // namespace mct::execution

#endif // MCT_LIB_EXECUTION_STEPSIZES_H
