// SPDX-License-Identifier: Apache-2.0
//
// Record that an importer attaches to the arguments of a network that it has
// cut at the points of a quantized one.
#ifndef MCT_LIB_TRANSFORMS_IMPORTEDRECORD_H
#define MCT_LIB_TRANSFORMS_IMPORTEDRECORD_H

#include "mct/IR/Constants.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// The record of one argument, which stands for a point or a constant.
struct ImportedRecord {
  /// Key of the result that the point quantizes, or null for a constant.
  mlir::StringAttr point;
  /// f32 elements of a constant, dequantized if the file has codes.
  std::vector<float> values;
  /// Null for a constant without a quantizer.
  tpc::QuantizerAttrInterface parameters;
  /// Axes of the channels.
  llvm::SmallVector<int64_t> axes;
  /// Number of codes whose distance from the zero point has no exact f32
  /// representation.
  size_t numInexact = 0;
};

/// Returns the channel of each element of a row-major tensor: its row-major
/// index over `axes`.
std::vector<size_t> numberChannels(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> axes);

/// Reads the record `attribute` of an argument of type `type`. Fails with a
/// diagnostic if it is not a record.
mlir::FailureOr<ImportedRecord>
readImportedRecord(mlir::Attribute attribute, mlir::Type type,
                   llvm::function_ref<mlir::InFlightDiagnostic()> emitError);

} // namespace mct

#endif // MCT_LIB_TRANSFORMS_IMPORTEDRECORD_H
