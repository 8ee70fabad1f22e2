// SPDX-License-Identifier: Apache-2.0
#include "Blas.h"

#include "mct/Quantization/InstructionSet.h"

#include <cblas.h>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>

// Of an OpenBLAS with kernels for several processors; null in others.
extern "C" {
__attribute__((weak)) void gotoblas_dynamic_init();
__attribute__((weak)) void gotoblas_dynamic_quit();
}

using namespace mct::quantization;

/// OpenBLAS takes its kernels by the model of the processor, those of older
/// ones for a model that it does not know, or by the environment. Roundings
/// that follow each other make much of the last bit of a sum, so that
/// accuracies would depend on all of that; here kernels are those of the
/// instruction set.
static void chooseKernels() {
  constexpr const char *kVariable = "OPENBLAS_CORETYPE";
  if (!gotoblas_dynamic_init || !gotoblas_dynamic_quit)
    return;
  std::string wanted;
  switch (instructionSet()) {
  case InstructionSet::AVX512VNNI:
  case InstructionSet::AVX512:
    wanted = "SkylakeX";
    break;
  case InstructionSet::AVX2:
    wanted = "Haswell";
    break;
  case InstructionSet::Portable:
    return;
  }
  if (wanted == openblas_get_corename())
    return;
  std::optional<std::string> given;
  if (const char *value = getenv(kVariable))
    given = value;
  setenv(kVariable, wanted.c_str(), /*overwrite=*/1);
  gotoblas_dynamic_quit();
  gotoblas_dynamic_init();
  if (given)
    setenv(kVariable, given->c_str(), /*overwrite=*/1);
  else
    unsetenv(kVariable);
}

void mct::quantization::callBlas(llvm::function_ref<void()> call) {
  static std::mutex mutex;
  static std::once_flag isChosen;
  std::lock_guard<std::mutex> lock(mutex);
  std::call_once(isChosen, chooseKernels);
  openblas_set_num_threads(1);
  call();
}
