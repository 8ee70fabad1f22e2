// SPDX-License-Identifier: Apache-2.0
#include "Blas.h"

#include <cblas.h>
#include <mutex>

void mct::quantization::callBlas(llvm::function_ref<void()> call) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  openblas_set_num_threads(1);
  call();
}
