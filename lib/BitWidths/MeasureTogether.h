// SPDX-License-Identifier: Apache-2.0
//
// Numbers that several processes measure together.
#ifndef MCT_LIB_BITWIDTHS_MEASURETOGETHER_H
#define MCT_LIB_BITWIDTHS_MEASURETOGETHER_H

#include "mct/Execution/Shards.h"

namespace mct::bit_widths {

/// Returns the bits of numbers as hexadecimal digits, so that reading them back
/// loses nothing.
std::string toHex(llvm::ArrayRef<double> numbers);
/// Reads as many numbers as there are; returns false for other text.
bool fromHex(llvm::StringRef text, llvm::MutableArrayRef<double> numbers);

/// A module that is corrected on a half of the samples, and judged on the
/// other one.
struct HalfMeasurement {
  mlir::ModuleOp module;
  execution::SampleHalf fitted;
};
/// Returns a name of what is measured, by its content.
std::string nameMeasurements(llvm::ArrayRef<HalfMeasurement> all);

/// Returns the numbers that `measure` finds for 0 to `count` - 1. With `shards`
/// (null: alone) each of them measures some, and the others are those of the
/// files; fails, as `execution::Shards::stop` does, until all have.
mlir::FailureOr<std::vector<double>>
measureTogether(execution::Shards *shards, llvm::StringRef kind,
                llvm::StringRef key, size_t count,
                llvm::function_ref<mlir::FailureOr<double>(size_t)> measure);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_MEASURETOGETHER_H
