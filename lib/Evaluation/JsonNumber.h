// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_EVALUATION_JSONNUMBER_H
#define MCT_LIB_EVALUATION_JSONNUMBER_H

#include "llvm/Support/JSON.h"
#include <cmath>

namespace mct::execution {

/// Returns null for infinity and NaN, which JSON does not have.
inline llvm::json::Value jsonNumber(double value) {
  if (std::isfinite(value))
    return value;
  return nullptr;
}

} // namespace mct::execution

#endif // MCT_LIB_EVALUATION_JSONNUMBER_H
