// SPDX-License-Identifier: Apache-2.0
//
// Quantized networks as the operators and tensors of TensorFlow Lite.
#ifndef MCT_EXPORT_TFLITE_H
#define MCT_EXPORT_TFLITE_H

#include "mct/Conversion/Passes.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/raw_ostream.h"

#include <string>

namespace mct {

struct TfliteOptions {
  /// The function; empty: `main`, or the only public one.
  std::string function;
  /// Tells whether inputs and outputs that have points are codes or numbers.
  IntegerBoundary boundary = IntegerBoundary::Integer;
  /// Kernels of at most 4 bits are stored in INT4.
  bool allowsInt4 = false;
};

/// Describes the `.tflite` file of the network of `module`, whose points have
/// parameters, as a JSON object with all that the file has:
///
/// * `tensors`: `name`, `type` and `shape` (-1 for a batch that is not known);
///   of one that holds codes `scales` and `zero_points`, one or, along `axis`,
///   one for each channel; of a constant `data`, its little-endian bytes in
///   base64.
/// * `operators`: `operator`, `version`, `inputs` and `outputs` (indices of
///   tensors), and the `options` of the schema's table `options_type`.
/// * `inputs`, `outputs`: indices of tensors; `signature`: their names.
/// * `normalization`: by input, `mean` and `std` of (x - mean) / std, where the
///   module records what becomes of samples.
/// * `float_parts`: `name` and `reason` of each op that reads or makes codes
///   and is computed with numbers between DEQUANTIZE and QUANTIZE.
///
/// Names are those of points and of the values of the module. The codes are
/// those of `mct-lower-to-integer`: signed, unsigned ones of 8 bits less 128.
///
/// The module stays as it is. Fails with a diagnostic at the op before anything
/// is written. Needs the tpc dialect loaded.
mlir::LogicalResult exportTflite(mlir::ModuleOp module,
                                 const TfliteOptions &options,
                                 llvm::raw_ostream &os);

} // namespace mct

#endif // MCT_EXPORT_TFLITE_H
