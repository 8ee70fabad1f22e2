// SPDX-License-Identifier: Apache-2.0
//
// Checks whether a network can be run, without running it.
#ifndef MCT_EXECUTION_CHECK_H
#define MCT_EXECUTION_CHECK_H

#include "mct/Execution/Executor.h"
#include "mct/Support/StoredTensor.h"
#include <optional>

namespace mct::execution {

/// Checks whether `Executor::compile` accepts the function, apart from memory:
/// every op has a lowering for the types that it computes with. Fails with the
/// diagnostics of `compile`. No machine code is generated, so the check takes a
/// fraction of the time.
mlir::LogicalResult checkCompiles(mlir::ModuleOp module,
                                  const CompileOptions &options);

/// Checks whether the function (empty: `main`, or the only public one) can be
/// run on samples: the executor accepts it, and files can hold the types of its
/// arguments and results. Otherwise one error names the op or the value.
mlir::LogicalResult checkRunnable(mlir::ModuleOp module,
                                  llvm::StringRef function);

/// Returns the element type of a file that can hold values of `type`; none if
/// no file can.
std::optional<support::ElementType> getFileType(mlir::Type type);

} // namespace mct::execution

#endif // MCT_EXECUTION_CHECK_H
