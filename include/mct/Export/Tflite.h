// SPDX-License-Identifier: Apache-2.0
//
// Export of quantized networks as operators and tensors of TensorFlow Lite.
#ifndef MCT_EXPORT_TFLITE_H
#define MCT_EXPORT_TFLITE_H

#include "mct/Conversion/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace mct {

struct TfliteOptions {
  /// Function to export; empty: `main`, or the only public one.
  std::string function;
  /// Form of the inputs and outputs that have points: codes or floating-point
  /// numbers.
  IntegerBoundary boundary = IntegerBoundary::Integer;
  /// True if kernels of at most 4 bits are stored in INT4.
  bool allowsInt4 = false;
};

/// Describes the `.tflite` file of the network of `module`, whose points have
/// parameters, as a JSON object with all contents of the file:
///
/// * `tensors`: `name`, `type` and `shape` (-1 for an unknown batch); for a
///   tensor of codes `scales` and `zero_points`, one or, along `axis`, one for
///   each channel; for a constant `data`, its little-endian bytes in base64.
/// * `operators`: `operator`, `version`, `inputs` and `outputs` (indices of
///   tensors), and the `options` of the schema's table `options_type`.
/// * `inputs`, `outputs`: indices of tensors; `signature`: their names.
/// * `normalization`: for each input, `mean` and `std` of (x - mean) / std, if
///   the module records the preprocessing of samples.
/// * `float_parts`: `name` and `reason` of each op that reads or produces codes
///   but is computed in float between DEQUANTIZE and QUANTIZE.
///
/// Names are those of points and of the values of the module. The codes are
/// those of `mct-lower-to-integer`: signed; unsigned ones of 8 bits minus 128.
///
/// The module stays unchanged. Fails with a diagnostic at the op before
/// anything is written. Requires the tpc dialect to be loaded.
mlir::LogicalResult exportTflite(mlir::ModuleOp module,
                                 const TfliteOptions &options,
                                 llvm::raw_ostream &os);

} // namespace mct

#endif // MCT_EXPORT_TFLITE_H
