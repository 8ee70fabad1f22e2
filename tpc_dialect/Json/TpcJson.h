// SPDX-License-Identifier: Apache-2.0
//
// Conversion from and to the JSON format of MCT's target platforms, schema
// versions 1 and 2.
#ifndef TPC_DIALECT_JSON_TPCJSON_H
#define TPC_DIALECT_JSON_TPCJSON_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct::tpc {

/// Returns a module with the `tpc.platform` that the text describes. Errors are
/// reported at `fileName` and name the path in the document.
mlir::OwningOpRef<mlir::ModuleOp> importTpcJson(llvm::StringRef text,
                                                llvm::StringRef fileName,
                                                mlir::MLIRContext *context);

/// Schema version that MCT writes.
constexpr int64_t kCurrentTpcSchema = 2;

/// Writes the platform as MCT's exporter does, byte for byte. Fails if the
/// schema version cannot express the platform.
mlir::LogicalResult exportTpcJson(PlatformOp platform, llvm::raw_ostream &os,
                                  int64_t schema = kCurrentTpcSchema);

} // namespace mct::tpc

#endif // TPC_DIALECT_JSON_TPCJSON_H
