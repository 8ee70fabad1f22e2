// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a network can be run, without running it.
#ifndef MCT_EXECUTION_CHECK_H
#define MCT_EXECUTION_CHECK_H

#include "mct/Execution/Executor.h"
#include "mct/Support/StoredTensor.h"
#include <optional>

namespace mct::execution {

/// Checks whether `Executor::compile` takes the function, up to memory: every
/// op has a lowering for the types that it computes with. Fails as that does.
/// Nothing becomes machine code, so that it takes a fraction of the time.
mlir::LogicalResult checkCompiles(mlir::ModuleOp module,
                                  const CompileOptions &options);

/// Checks whether the function (empty: `main`, or the only public one) can be
/// run on samples: the executor takes it, and files hold the types of its
/// arguments and results. Otherwise one error names the op or the value.
mlir::LogicalResult checkRunnable(mlir::ModuleOp module,
                                  llvm::StringRef function);

/// Returns the type of the elements of a file that holds values of the type, or
/// none if no file does.
std::optional<support::ElementType> getFileType(mlir::Type type);

} // namespace mct::execution

#endif // MCT_EXECUTION_CHECK_H
