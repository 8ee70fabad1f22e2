// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_REPORT_SHIFTEDNAMES_H
#define MCT_LIB_REPORT_SHIFTEDNAMES_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace mct::report {

/// Returns the name before mct-correct-shift-negative: `conv` for
/// `conv_shifted` and `conv_shifted_1` and, with its weight, for
/// `conv_shifted/kernel_attr`. Returns an empty text if the name was not
/// changed.
std::string unshift(llvm::StringRef name);

} // namespace mct::report

#endif // MCT_LIB_REPORT_SHIFTEDNAMES_H
