// SPDX-License-Identifier: Apache-2.0
//
// Record that an importer writes at the arguments of a network that it cut at
// the points of a quantized one.
#ifndef MCT_LIB_TRANSFORMS_IMPORTEDRECORD_H
#define MCT_LIB_TRANSFORMS_IMPORTEDRECORD_H

#include "mct/IR/Constants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// The record of one argument: a point, or a constant.
struct ImportedRecord {
  /// Key of the result that the point quantizes; null for a constant.
  mlir::StringAttr point;
  /// Elements of a constant of f32, dequantized if the file has codes.
  std::vector<float> values;
  /// Quantizer; null for a constant without one.
  tpc::QuantizerAttrInterface parameters;
  /// Axes of the channels.
  llvm::SmallVector<int64_t> axes;
  /// Number of codes that f32 cannot represent.
  size_t numInexact = 0;
};

/// Returns the channel of each element of a row-major tensor: its row-major
/// index over `axes`.
std::vector<size_t> numberChannels(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> axes);

/// Reads the record `attribute` of an argument of type `type`; emits a
/// diagnostic if it is malformed.
mlir::FailureOr<ImportedRecord>
readImportedRecord(mlir::Attribute attribute, mlir::Type type,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_IMPORTEDRECORD_H
