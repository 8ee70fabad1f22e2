// SPDX-License-Identifier: Apache-2.0
//
// Quantized networks as ONNX files.
#ifndef MCT_EXPORT_ONNX_H
#define MCT_EXPORT_ONNX_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace mct {

/// How points are written, and what a file is checked for.
enum class OnnxProfile {
  /// Ops of `mct_quantizers`; what a device cannot compute, and its tools
  /// assume without a word, is an error.
  Device,
  /// Ops of `mct_quantizers`, and no check. A program that runs it has to
  /// register these ops:
  /// `mct_quantizers.get_ort_session_options()`.
  MctQuantizers,
  /// QuantizeLinear and DequantizeLinear, and no op that is not of ONNX itself.
  Qdq
};
enum class OnnxFormat { Binary, Text };
/// Codes of activations in a file of profile Qdq.
enum class OnnxActivations { Unsigned, Signed };

/// Returns the command line's words for them.
inline llvm::cl::ValuesClass onnxActivationsValues() {
  return llvm::cl::values(
      clEnumValN(OnnxActivations::Unsigned, "unsigned", "uint8 and uint16"),
      clEnumValN(OnnxActivations::Signed, "signed", "int8 and int16"));
}
inline llvm::cl::ValuesClass onnxFormatValues() {
  return llvm::cl::values(clEnumValN(OnnxFormat::Binary, "binary", "a file"),
                          clEnumValN(OnnxFormat::Text, "text", "text"));
}

/// Non-maximum suppression, class by class, of the boxes of a detector: the op
/// `MultiClassNMS` of Sony's custom layers.
struct OnnxSuppression {
  /// Boxes need a larger score, and overlap (intersection over union) that
  /// of a larger score by no more.
  double leastScore = 0, mostOverlap = 0;
  /// Number of detections that there are; those that are not valid are 0.
  int64_t detections = 0;
  /// Domain of the op: `EdgeMDT`, or `Sony` in older releases of the package.
  std::string domain = "EdgeMDT";
};

struct OnnxOptions {
  /// The function; empty: `main`, or the only public one.
  std::string function;
  OnnxProfile profile = OnnxProfile::Device;
  /// The device of that profile: a stock one, one of the module, or a file with
  /// a `tpc.device`; empty: that of the platform which the module is compiled
  /// for. It has `tpc.onnx_limits`.
  std::string device;
  OnnxFormat format = OnnxFormat::Binary;
  /// Version of ONNX's operators; 0: 21 for Qdq, 20 for the others, which have
  /// no other. Qdq has 13, 21 and 25.
  int64_t operatorSet = 0;
  /// Integers of activations in a file of profile Qdq.
  OnnxActivations activations = OnnxActivations::Unsigned;
  /// Producer of the file, and its version; empty: this project. The entries of
  /// `metadata_props` name this project in any case.
  std::string producer, producerVersion;
  /// Largest size in bytes: what parsers of protobuf take.
  uint64_t largestFile = (uint64_t(1) << 31) - 1;
  /// Name, in the folder of the file, of a second one with the elements of
  /// constants, and what opens it. It is written where one alone would be
  /// larger than `largestFile`; without it that is an error.
  std::string dataName;
  std::function<llvm::raw_ostream &()> openData;

  /// Last node of the file, behind boxes and scores; none: it ends with the
  /// results of the function.
  std::optional<OnnxSuppression> suppression;

  /// Takes SCORE:OVERLAP:DETECTIONS or SCORE:OVERLAP:DETECTIONS:DOMAIN.
  llvm::Error setSuppression(llvm::StringRef text);
  /// Takes the profile of an option: `mct_quantizers`, `qdq`, or the name of a
  /// device.
  void setProfile(llvm::StringRef name);
};

/// Writes the network of `module`, whose points have parameters, with the ops
/// of ONNX, and with those that the profile has for the points.
///
/// * Images are [N, C, H, W] there, arguments and results too; transposes
///   that an importer left are taken into account and not written. A layer
///   behind a flattened image has its weights in the order that this makes.
/// * What several ops stand for is one op: hard-swish, hard-sigmoid,
///   leaky ReLU, GELU, softmax, layer norm, means, divisions, dense layers.
/// * Profiles of `mct_quantizers`: weights are on their levels, so that whoever
///   quantizes them again gets the same; biases are plain. For a device with
///   signed activations of 16 bits those behind a shift get the point of
///   `mct-insert-shift-points`.
/// * Profile Qdq: the network is that of
///   `mct-simulate-integers=rounding=half-even`, of a layer on quantized values
///   the kernel is a constant of integers with its scales, and the bias one of
///   int32 in steps of the accumulator. A limit between a layer and its
///   point is one of the integers behind QuantizeLinear, and what moves
///   values stands between integers, as runtimes look for it.
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
