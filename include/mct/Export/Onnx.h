// SPDX-License-Identifier: Apache-2.0
//
// Export of quantized networks as ONNX files.
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

/// Format of the points in a file, and the checks that it has to pass.
enum class OnnxProfile {
  /// Ops of `mct_quantizers`; anything that a device cannot compute, or for
  /// which its tools silently assume something else, is an error.
  Device,
  /// Ops of `mct_quantizers`, without checks. A program that runs the file has
  /// to register these ops: `mct_quantizers.get_ort_session_options()`.
  MctQuantizers,
  /// QuantizeLinear and DequantizeLinear, and only ops of ONNX itself.
  Qdq
};
enum class OnnxFormat { Binary, Text };
/// Codes of activations in a file of profile Qdq.
enum class OnnxActivations { Unsigned, Signed };

/// Returns the values of the command-line option.
inline llvm::cl::ValuesClass onnxActivationsValues() {
  return llvm::cl::values(
      clEnumValN(OnnxActivations::Unsigned, "unsigned", "uint8 and uint16"),
      clEnumValN(OnnxActivations::Signed, "signed", "int8 and int16"));
}
inline llvm::cl::ValuesClass onnxFormatValues() {
  return llvm::cl::values(clEnumValN(OnnxFormat::Binary, "binary", "a file"),
                          clEnumValN(OnnxFormat::Text, "text", "text"));
}

/// Class-wise non-maximum suppression of the boxes of a detector: the op
/// `MultiClassNMS` of Sony's custom layers.
struct OnnxSuppression {
  /// Boxes need a larger score than `leastScore`, and may overlap (intersection
  /// over union) a box of a larger score by at most `mostOverlap`.
  double leastScore = 0, mostOverlap = 0;
  /// Number of detections in the result; invalid ones are 0.
  int64_t detections = 0;
  /// Domain of the op: `EdgeMDT`, or `Sony` in older releases of the package.
  std::string domain = "EdgeMDT";
};

struct OnnxOptions {
  /// Function to export; empty: `main`, or the only public one.
  std::string function;
  OnnxProfile profile = OnnxProfile::Device;
  /// Device of profile Device: a stock one, one of the module, or a file with a
  /// `tpc.device`; empty for that of the platform that the module is compiled
  /// for. It must have `tpc.onnx_limits`.
  std::string device;
  OnnxFormat format = OnnxFormat::Binary;
  /// Version of ONNX's operators; 0 for the default: 21 for Qdq, 20 for the
  /// others, which have no other. Qdq supports 13, 21 and 25.
  int64_t operatorSet = 0;
  /// Integers of activations in a file of profile Qdq.
  OnnxActivations activations = OnnxActivations::Unsigned;
  /// Producer of the file, and its version; empty for this project. The entries
  /// of `metadata_props` name this project in any case.
  std::string producer, producerVersion;
  /// Largest size of a file in bytes: the limit of protobuf parsers.
  uint64_t largestFile = (uint64_t(1) << 31) - 1;
  /// Name of a second file, in the same folder, for the elements of constants,
  /// and a function that opens it. It is written if a single file would be
  /// larger than `largestFile`; without it that is an error.
  std::string dataName;
  std::function<llvm::raw_ostream &()> openData;

  /// Last node of the file, after boxes and scores; if none, the file ends with
  /// the results of the function.
  std::optional<OnnxSuppression> suppression;

  /// Parses SCORE:OVERLAP:DETECTIONS or SCORE:OVERLAP:DETECTIONS:DOMAIN.
  llvm::Error setSuppression(llvm::StringRef text);
  /// Sets the profile from an option: `mct_quantizers`, `qdq`, or the name of a
  /// device.
  void setProfile(llvm::StringRef name);
};

/// Writes the network of `module`, whose points have parameters, with the ops
/// of ONNX and those of the profile for the points.
///
/// * Images are [N, C, H, W] in the file, including arguments and results;
///   transposes that an importer left are taken into account and not written.
///   The weights of a layer after a flattened image are reordered accordingly.
/// * A combination of several ops is written as one op: hard-swish,
///   hard-sigmoid, leaky ReLU, GELU, softmax, layer norm, means, divisions,
///   dense layers.
/// * Profiles of `mct_quantizers`: weights are on their levels, so that
///   quantizing them again changes nothing; biases are plain. For a device with
///   signed activations of 16 bits, those after a shift get the point of
///   `mct-insert-shift-points`.
/// * Profile Qdq: the network is that of
///   `mct-simulate-integers=rounding=half-even`; the kernel of a layer on
///   quantized values is a constant of integers with its scales, and the bias
///   is one of int32 in steps of the accumulator. A limit between a layer and
///   its point limits the integers after QuantizeLinear, and ops that move
///   values are between integers, where runtimes expect them.
/// * `metadata_props` have `axes.NAME`, the order of the axes of an input or
///   output if it is not that of the module (axis i of the tensor is the i-th
///   of the list), and `preprocessing.NAME`, the recorded preprocessing of
///   samples, as JSON and in terms of the module's axes.
/// * Points of the format round halves to the even level
///   (`mct-simulate-integers=rounding=half-even`).
///
/// The module stays unchanged. Fails with a diagnostic at the op before
/// anything is written. Requires the tpc dialect to be loaded.
mlir::LogicalResult exportOnnx(mlir::ModuleOp module,
                               const OnnxOptions &options,
                               llvm::raw_ostream &os);

} // namespace mct

#endif // MCT_EXPORT_ONNX_H
