// SPDX-License-Identifier: Apache-2.0
//
// Measurements that several processes make together.
#ifndef MCT_LIB_BITWIDTHS_MEASURETOGETHER_H
#define MCT_LIB_BITWIDTHS_MEASURETOGETHER_H

#include "mct/Execution/Shards.h"

namespace mct::bit_widths {

/// Returns the bits of numbers as hexadecimal digits, so that they can be read
/// back exactly.
std::string toHex(llvm::ArrayRef<double> numbers);
/// Parses as many numbers as `numbers` has; returns false if the text has
/// another form.
bool fromHex(llvm::StringRef text, llvm::MutableArrayRef<double> numbers);

/// A module that is corrected on one half of the samples and judged on the
/// other.
struct HalfMeasurement {
  mlir::ModuleOp module;
  execution::SampleHalf fitted;
};
/// Returns a name derived from the content of what is measured.
std::string nameMeasurements(llvm::ArrayRef<HalfMeasurement> all);

/// Returns the results of `measure` for 0 to `count` - 1. If `shards` is not
/// null, each shard measures some of them and reads the others from files;
/// until all have been measured, fails in the same way as
/// `execution::Shards::stop`.
mlir::FailureOr<std::vector<double>>
measureTogether(execution::Shards *shards, llvm::StringRef kind,
                llvm::StringRef key, size_t count,
                llvm::function_ref<mlir::FailureOr<double>(size_t)> measure);

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_MEASURETOGETHER_H
