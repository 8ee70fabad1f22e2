// SPDX-License-Identifier: Apache-2.0
//
// Option of passes that treat the decoding part of a detector.
#ifndef MCT_TRANSFORMS_DECODINGOPTION_H
#define MCT_TRANSFORMS_DECODINGOPTION_H

#include "llvm/Support/CommandLine.h"

namespace mct {

/// Treatments of the decoding part of a detector (`findDecoding`).
enum class DecodingMode {
  /// It stays in float after the last layers, whose results are quantized.
  Float,
  /// It is quantized like any other part.
  Quantize,
  /// It becomes a function of its own.
  Cut
};

inline llvm::cl::ValuesClass decodingModeValues() {
  return llvm::cl::values(
      clEnumValN(DecodingMode::Float, "float",
                 "in float behind the last layers, whose results are "
                 "quantized"),
      clEnumValN(DecodingMode::Quantize, "quantize", "quantized as any other"),
      clEnumValN(DecodingMode::Cut, "cut",
                 "a function of its own, of the results of the last layers"));
}

} // namespace mct

#endif // MCT_TRANSFORMS_DECODINGOPTION_H
