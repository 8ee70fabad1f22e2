// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_SHIFTEDNAMES_H
#define MCT_LIB_REPORT_SHIFTEDNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mct::report {

/// Returns what a name was before mct-correct-shift-negative: `conv` of
/// `conv_shifted`, `conv_shifted_1` and, with its weight,
/// `conv_shifted/kernel_attr`; empty: the same.
std::string unshift(llvm::StringRef name);

} // namespace mct::report

#endif // MCT_LIB_REPORT_SHIFTEDNAMES_H
