// SPDX-License-Identifier: Apache-2.0
//
// Quantized networks as ONNX files.
#ifndef MCT_EXPORT_ONNX_H
#define MCT_EXPORT_ONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <string>

namespace mct {

/// The checks that a file must pass.
enum class OnnxProfile {
  /// Limits of the camera IMX500, and tacit assumptions of its tools.
  Imx500,
  /// Limits of the format.
  None
};
enum class OnnxFormat { Binary, Text };

/// Returns the command line's words for them.
inline llvm::cl::ValuesClass onnxProfileValues() {
  return llvm::cl::values(
      clEnumValN(OnnxProfile::Imx500, "imx500",
                 "what is not for the IMX500 is an error"),
      clEnumValN(OnnxProfile::None, "none", "everything that the format has"));
}
inline llvm::cl::ValuesClass onnxFormatValues() {
  return llvm::cl::values(clEnumValN(OnnxFormat::Binary, "binary", "a file"),
                          clEnumValN(OnnxFormat::Text, "text", "text"));
}

struct OnnxOptions {
  /// The function; empty: `main`, or the only public one.
  std::string function;
  OnnxProfile profile = OnnxProfile::Imx500;
  OnnxFormat format = OnnxFormat::Binary;
  /// Producer of the file, and its version; empty: this project. The entries of
  /// `metadata_props` name this project in any case.
  std::string producer, producerVersion;
  /// In bytes: what readers of protobuf take.
  uint64_t largestFile = (uint64_t(1) << 31) - 1;
};

/// Writes the network of `module`, whose points have parameters, with the ops
/// of ONNX 1.17 (operator set 20) and with `mct_quantizers` ops for the points.
///
/// * Images are [N, C, H, W] there, arguments and results too; transposes
///   that an importer left are taken into account and not written. A layer
///   behind a flattened image has its weights in the order that this makes.
/// * What several ops stand for is one op: hard-swish, hard-sigmoid,
///   leaky ReLU, GELU, softmax, layer norm, means, divisions, dense layers.
/// * Weights are on their levels, so that whoever quantizes them again gets
///   the same; biases are plain. Activations behind a shift get the 16-bit
///   point of `mct-insert-shift-points`.
/// * `metadata_props` have `axes.NAME`, the order of the axes of an input or
///   output where it is not that of the module (axis i of the tensor is the
///   i-th of the list), and `preprocessing.NAME`, what is recorded of samples,
///   as JSON and about the module's axes.
/// * Points of the format round halves to the even level
///   (`mct-simulate-integers=rounding=half-even`).
///
/// The module stays as it is. Fails with a diagnostic at the op before
/// anything is written. Needs the tpc dialect loaded.
mlir::LogicalResult exportOnnx(mlir::ModuleOp module,
                               const OnnxOptions &options,
                               llvm::raw_ostream &os);

} // namespace mct

#endif // MCT_EXPORT_ONNX_H
