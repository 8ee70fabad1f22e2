// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_QUANTIZATION_BLAS_H
#define MCT_LIB_QUANTIZATION_BLAS_H

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mct::quantization {

/// The only way to call OpenBLAS, and what calls it. Built without threads, as
/// Debian builds one of its variants, it hands the same buffer to two callers
/// at once, so that there is one at a time; built with threads of its own it
/// keeps to the calling one, because sums have one order then.
void callBlas(llvm::function_ref<void()> call);

} // namespace mct::quantization

#endif // MCT_LIB_QUANTIZATION_BLAS_H
