// SPDX-License-Identifier: Apache-2.0
//
// Turns the target's options into a search, and its result into the parameters
// of a point.
#ifndef MCT_TRANSFORMS_SELECTEDPARAMETERS_H
#define MCT_TRANSFORMS_SELECTEDPARAMETERS_H

#include "mct/Quantization/Lut.h"
#include "mct/Quantization/Selection.h"
#include "tpc_dialect/IR/TpcDialect.h"

namespace mct {

/// Widest grid for which parameters are searched. Statistics have 2^11 bins and
/// more on each side of zero; beyond 16 bits a search on them is meaningless.
inline constexpr int64_t kMaxSelectableBits = 16;

/// Narrowest grid that may have more than the least error. Narrower grids have
/// no error to spare, and mct-round-weights, which distributes the error that
/// they cost, starts from the least error.
inline constexpr int64_t kLeastTolerantBits = 8;

/// Settings for the selection of parameters, as given by the user. Zero stands
/// for the default where noted.
struct SelectionSettings {
  quantization::ErrorMethod errorMethod = quantization::ErrorMethod::MSE;
  double lpNorm = 2;
  double percentile = 99.99;
  double minThreshold = 0; // 0: 2^-16
  double zThreshold = 0;   // 0: none
  /// Applies to weights of kLeastTolerantBits and more.
  double errorTolerance = 1;

  /// Emits a diagnostic with the name of the option unless all values are
  /// valid.
  mlir::LogicalResult
  verify(llvm::function_ref<mlir::InFlightDiagnostic()> emitError) const;
  /// Returns options for a grid of `method`; the caller sets the signedness.
  quantization::SelectionOptions
  optionsFor(tpc::QuantizationMethodAttrInterface method, int64_t bits) const;
};

/// Emits a diagnostic at the point unless the searches can handle this width: 1
/// to 16 bits, and to 11 with the kl method.
mlir::LogicalResult checkSelectableBits(tpc::QuantizeOp point, int64_t bits,
                                        quantization::ErrorMethod errorMethod);

/// The same for a table: an index of up to `maxBits` bits; `entryBits` is the
/// width that the target requires, if it has one.
mlir::LogicalResult checkSelectableTable(tpc::QuantizeOp point, int64_t bits,
                                         int64_t maxBits,
                                         std::optional<int64_t> entryBits = {});

/// Returns the mean squared error of a quantizer over weighted values, or over
/// a tensor of `channels` rows, each with its own parameters or all with one.
double meanSquaredError(const quantization::TensorQuantizer &quantizer,
                        llvm::ArrayRef<quantization::Atom> atoms);
double meanSquaredError(tpc::QuantizerAttrInterface quantizer,
                        llvm::ArrayRef<float> rows, int64_t channels);

//===----------------------------------------------------------------------===//
// Records of a point about its parameters. They are null if an error is NaN.
//===----------------------------------------------------------------------===//

/// Describes a search for grids, one result for each parameter.
tpc::SelectionAttr
describeSelection(mlir::MLIRContext *context,
                  llvm::ArrayRef<quantization::SelectedParameters> selected,
                  const quantization::SelectionOptions &options);
/// Describes a search for a table.
tpc::SelectionAttr
describeSelection(mlir::MLIRContext *context,
                  const quantization::LutParameters &selected);
/// Describes a grid that covers known bounds.
tpc::SelectionAttr describeBounds(mlir::MLIRContext *context, double lo,
                                  double hi);
/// Describes parameters that were not searched for (`own` or `given`), with
/// their mean squared error.
tpc::SelectionAttr describeError(mlir::MLIRContext *context,
                                 tpc::ErrorMethod method,
                                 double meanSquaredError);
/// Describes parameters with which weights were rounded jointly: for each the
/// mean squared error of the outputs.
tpc::SelectionAttr describeRounding(mlir::MLIRContext *context,
                                    llvm::ArrayRef<double> errors);
/// Describes `parameters` that `point` is to get: the mean squared error over
/// its constant, for each parameter, or over the histogram of its statistics.
/// Null if there is neither.
tpc::SelectionAttr measureGiven(tpc::QuantizeOp point,
                                tpc::QuantizerAttrInterface parameters);

/// Emits a remark of the pass at a point that has a selection: the error in the
/// unit of the method (the mean over several channels), and the bound on its
/// distance from the least error. `largerSteps` is the number of parameters
/// with a larger step than that of the least error, because of error-tolerance.
void remarkOnSelection(tpc::QuantizeOp point, llvm::StringRef pass,
                       int64_t largerSteps = 0);

} // namespace mct

#endif // MCT_TRANSFORMS_SELECTEDPARAMETERS_H
