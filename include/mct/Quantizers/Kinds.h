// SPDX-License-Identifier: Apache-2.0

#ifndef MCT_QUANTIZERS_KINDS_H
#define MCT_QUANTIZERS_KINDS_H

#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/LogicalResult.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

// The generated parsers of attributes use this name; nothing else of MLIR is
// needed.
namespace mlir {
using llvm::FailureOr;
} // namespace mlir

#include "mct/Quantizers/Kinds.h.inc"

namespace mct::quantization {

/// Returns whether the levels of a method come from a table.
inline bool hasTable(QuantizationMethod method) {
  return method == QuantizationMethod::LutPowerOfTwo ||
         method == QuantizationMethod::LutSymmetric;
}

/// Returns whether the method searches for parameters; the other values name
/// the source of the parameters.
inline bool isSearched(ErrorMethod method) {
  return method < ErrorMethod::Range;
}

} // namespace mct::quantization

#endif // MCT_QUANTIZERS_KINDS_H
