// SPDX-License-Identifier: Apache-2.0
//
// Modules between two stages of a run, in a file from which the run goes on.
#ifndef MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H
#define MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H

#include "mct/Support/PassSideOutputs.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Error.h"
#include <string>

namespace mct {

/// Digests of everything that a run depends on.
struct RunIdentity {
  std::string version, network, options, files;

  /// Identifies a run of stages, given as text, on a module. Files that the
  /// text names count by their content, whatever their names; options that no
  /// result depends on (threads, names of output files) do not count.
  static llvm::Expected<RunIdentity> of(mlir::ModuleOp module,
                                        llvm::ArrayRef<std::string> stages);
};

/// State of a run behind some of its stages, except for the module.
struct RunState {
  RunIdentity run;
  /// Number of stages that have ended.
  int64_t stage = 0;
  /// Warnings and remarks of these, as `describeDiagnostic` returns them.
  llvm::SmallVector<mlir::Attribute> diagnostics;
  support::PassSideOutputs sideOutputs;
};

/// Describes a warning or a remark with its notes.
mlir::Attribute describeDiagnostic(mlir::Diagnostic &diagnostic);
/// Emits a diagnostic again. Remarks that were for collectors alone are left
/// out where there are none.
void emitAgain(mlir::Attribute diagnostic);

/// Writes module and state to a file that has its name when it is complete.
llvm::Error writeCheckpoint(llvm::StringRef path, mlir::ModuleOp module,
                            const RunState &state);

/// Reads the state, and the module, whose constants have the keys that they
/// had in the context in which it was written; so have those that are made
/// later.
llvm::Expected<std::pair<RunState, mlir::OwningOpRef<mlir::ModuleOp>>>
readCheckpoint(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H
