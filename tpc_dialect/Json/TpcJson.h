// SPDX-License-Identifier: Apache-2.0
//
// The JSON in which MCT stores a target platform, schema versions 1 and 2.
#ifndef TPC_DIALECT_JSON_TPCJSON_H
#define TPC_DIALECT_JSON_TPCJSON_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::tpc {

/// Returns a module with the `tpc.platform` that the text describes. Errors are
/// reported at `fileName` and say at which path of the document they are.
mlir::OwningOpRef<mlir::ModuleOp> importTpcJson(llvm::StringRef text,
                                                llvm::StringRef fileName,
                                                mlir::MLIRContext *context);

/// The schema version that MCT writes.
constexpr int64_t kCurrentTpcSchema = 2;

/// Writes the platform as MCT's exporter does, byte for byte. Fails when the
/// schema version has no words for what the platform says.
mlir::LogicalResult exportTpcJson(PlatformOp platform, llvm::raw_ostream &os,
                                  int64_t schema = kCurrentTpcSchema);

} // namespace mct::tpc

#endif // TPC_DIALECT_JSON_TPCJSON_H
