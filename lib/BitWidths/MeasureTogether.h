// SPDX-License-Identifier: Apache-2.0
//
// Numbers that several processes measure together.
#ifndef MCT_LIB_BITWIDTHS_MEASURETOGETHER_H
#define MCT_LIB_BITWIDTHS_MEASURETOGETHER_H

#include "mct/Execution/Shards.h"

namespace mct::bit_widths {

/// Returns the bits of numbers as hexadecimal digits, so that parsing them is
/// lossless.
std::string toHex(llvm::ArrayRef<double> numbers);
/// Parses as many numbers as `numbers` has; returns false for other text.
bool fromHex(llvm::StringRef text, llvm::MutableArrayRef<double> numbers);

/// A module that is corrected on a half of the samples, and judged on the
/// other one.
struct HalfMeasurement {
  mlir::ModuleOp module;
  execution::SampleHalf fitted;
};
/// Returns a name of the measurements, derived from their content.
std::string nameMeasurements(llvm::ArrayRef<HalfMeasurement> all);

/// Returns the numbers that `measure` returns for 0 to `count` - 1. If `shards`
/// is not null, each shard measures some, and the others come from files;
/// fails, as `execution::Shards::stop` does, until all have been measured.
mlir::FailureOr<std::vector<double>>
measureTogether(execution::Shards *shards, llvm::StringRef kind,
                llvm::StringRef key, size_t count,
                llvm::function_ref<mlir::FailureOr<double>(size_t)> measure);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_MEASURETOGETHER_H
