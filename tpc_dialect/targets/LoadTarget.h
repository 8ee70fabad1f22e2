// SPDX-License-Identifier: Apache-2.0
//
// Loads a tpc.platform by the name of a target, or from a file.
#ifndef TPC_DIALECT_TARGETS_LOADTARGET_H
#define TPC_DIALECT_TARGETS_LOADTARGET_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::tpc {

/// Reads a stock target, or a file with MLIR, bytecode or MCT's JSON (`.json`).
/// The result has one platform, with its bindings and frameworks. Null after an
/// error, which is reported at `requestedAt` or in the file.
mlir::OwningOpRef<mlir::ModuleOp> loadTarget(llvm::StringRef target,
                                             mlir::Location requestedAt);

/// Replaces a `tpc.derive` of the module by the platform that it describes.
/// Paths in it are relative to `folder`.
mlir::LogicalResult resolveDerivations(mlir::ModuleOp module,
                                       llvm::StringRef folder);

/// Returns the only platform of the module; null after an error, which names
/// the module `name`.
PlatformOp findPlatform(mlir::ModuleOp module, llvm::StringRef name,
                        mlir::Location requestedAt);

/// Returns the stock devices in one module. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> loadStockDevices(mlir::MLIRContext *context);

/// Reads a file with one `tpc.device`. Null after an error, which is reported
/// at `requestedAt` or in the file.
mlir::OwningOpRef<mlir::ModuleOp> loadDeviceFile(llvm::StringRef path,
                                                 mlir::Location requestedAt);

/// Returns the stock bindings and frameworks of all IRs, to be attached to any
/// platform.
mlir::OwningOpRef<mlir::ModuleOp>
loadStockVocabularies(mlir::MLIRContext *context);

} // namespace mct::tpc

#endif // TPC_DIALECT_TARGETS_LOADTARGET_H
