// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_SHIFTEDNAMES_H
#define MCT_LIB_REPORT_SHIFTEDNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mct::report {

/// Returns the name from before mct-correct-shift-negative: `conv` for
/// `conv_shifted`, `conv_shifted_1` and, with its weight,
/// `conv_shifted/kernel_attr`; empty if it is the same.
std::string unshift(llvm::StringRef name);

} // namespace mct::report

#endif // MCT_LIB_REPORT_SHIFTEDNAMES_H
