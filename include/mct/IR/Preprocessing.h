// SPDX-License-Identifier: Apache-2.0
//
// Record of the preprocessing that turns samples into inputs of a network, in
// an attribute of builtin types, which tools without our dialect keep.
#ifndef MCT_IR_PREPROCESSING_H
#define MCT_IR_PREPROCESSING_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace mct {

/// Name of the attribute of an argument, a dictionary.
inline constexpr llvm::StringLiteral kPreprocessingAttrName =
    "tpc.preprocessing";

/// The argument's values: those of the sample with its axes reordered, times
/// `scale`, plus `offset`. As an attribute, of which every part may be missing,
///
///     {scale = array<f64: 0.017, 0.017, 0.018>, offset = array<f64: -2.1>,
///      axis = 1 : i64, permutation = array<i64: 2, 0, 1>}
struct Preprocessing {
  /// Finite; one value, or one for each index of the argument's dimension
  /// `axis`. Empty: 1 and 0.
  llvm::SmallVector<double> scale, offset;
  /// Dimension of the channels; the leading dimension, which holds the samples,
  /// is 0. None: the last.
  std::optional<int64_t> axis;
  /// Order of the dimensions after the leading one: dimension i of the argument
  /// is dimension permutation[i] of a sample. Empty: they are in order.
  llvm::SmallVector<int64_t> permutation;

  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
};

/// Records of the arguments, by number; none for an argument without a record.
/// Emits a diagnostic if a record is malformed, or does not fit its argument: a
/// scale or offset requires an argument of real numbers, f32 or integers that
/// represent them (`kQuantizedAttrName`).
using Preprocessings = llvm::SmallVector<std::optional<Preprocessing>>;
mlir::FailureOr<Preprocessings> readPreprocessing(mlir::func::FuncOp function);

} // namespace mct

#endif // MCT_IR_PREPROCESSING_H
