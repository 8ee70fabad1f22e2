// SPDX-License-Identifier: Apache-2.0
#include "FitMemory.h"

#include "tpc_dialect/IR/TpcRejections.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;

std::shared_ptr<Fit> FitMemory::Trial::getFit(func::FuncOp function) const {
  if (!memory.fitted ||
      !tpc::areEqualButForRejections(*memory.fitted->after, function))
    return nullptr;
  return memory.fitted;
}

std::shared_ptr<Fit> FitMemory::take(func::FuncOp function, StringRef method,
                                     StringRef samples) {
  std::shared_ptr<Fit> fit = std::move(kept);
  kept.reset();
  if (!fit || fit->method != method || fit->samples != samples ||
      !tpc::areEqualButForRejections(*fit->before, function))
    return nullptr;
  return fit;
}
