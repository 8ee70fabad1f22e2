// SPDX-License-Identifier: Apache-2.0
//
// Modules between two stages of a run, in a file from which the run is resumed.
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
  /// text names count by their content, not by their names; options that do not
  /// affect results (threads, names of output files) do not count.
  static llvm::Expected<RunIdentity> of(mlir::ModuleOp module,
                                        llvm::ArrayRef<std::string> stages);
};

/// State of a run after some of its stages, without the module.
struct RunState {
  RunIdentity run;
  /// Number of completed stages.
  int64_t stage = 0;
  /// Warnings and remarks of these stages, as returned by `describeDiagnostic`.
  llvm::SmallVector<mlir::Attribute> diagnostics;
  support::PassSideOutputs sideOutputs;
};

/// Describes a warning or a remark with its notes.
mlir::Attribute describeDiagnostic(mlir::Diagnostic &diagnostic);
/// Emits a diagnostic again. Skips remarks for collectors if there are no
/// collectors.
void emitAgain(mlir::Attribute diagnostic);

/// Writes module and state, with a digest of both, to a file that gets its name
/// when it is complete.
llvm::Error writeCheckpoint(llvm::StringRef path, mlir::ModuleOp module,
                            const RunState &state);

/// Reads the state, and the module, whose constants keep the keys of the
/// context in which they were written; so do those that are created later.
/// Fails if a bit of the file is not as it was written.
llvm::Expected<std::pair<RunState, mlir::OwningOpRef<mlir::ModuleOp>>>
readCheckpoint(llvm::StringRef path, mlir::MLIRContext *context);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_CHECKPOINTFILE_H
