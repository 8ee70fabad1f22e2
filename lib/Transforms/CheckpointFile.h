// SPDX-License-Identifier: Apache-2.0
//
// Files that hold the module between two stages of a run, which can be resumed
// from them.
#ifndef MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H
#define MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H

#include "mct/Support/PassSideOutputs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mct {

/// Digests of everything that the result of a run depends on.
struct RunIdentity {
  std::string version, network, options, files;

  /// Identifies a run of stages, given as text, on a module. Files named in the
  /// text are compared by their contents, not by their names; options that do
  /// not affect the result (threads, names of output files) are ignored.
  static llvm::Expected<RunIdentity> of(mlir::ModuleOp module,
                                        llvm::ArrayRef<std::string> stages);
};

/// State of a run after some of its stages, except for the module.
struct RunState {
  RunIdentity run;
  /// Number of completed stages.
  int64_t stage = 0;
  /// Warnings and remarks of the completed stages, in the form that
  /// `describeDiagnostic` returns.
  llvm::SmallVector<mlir::Attribute> diagnostics;
  support::PassSideOutputs sideOutputs;
};

/// Describes a warning or a remark, with its notes.
mlir::Attribute describeDiagnostic(mlir::Diagnostic &diagnostic);
/// Emits a diagnostic again, except for a remark that is meant for collectors
/// alone if there are none.
void emitAgain(mlir::Attribute diagnostic);

/// Writes the module and the state to a file, which appears under its name only
/// when it is complete.
llvm::Error writeCheckpoint(llvm::StringRef path, mlir::ModuleOp module,
                            const RunState &state);

/// Reads the state and the module. Its constants, and those that are made
/// later, get the keys that they had in the context in which the module was
/// written.
llvm::Expected<std::pair<RunState, mlir::OwningOpRef<mlir::ModuleOp>>>
readCheckpoint(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H
