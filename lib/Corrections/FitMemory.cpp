// SPDX-License-Identifier: Apache-2.0
#include "FitMemory.h"

#include "mlir/IR/OperationSupport.h"
#include "tpc_dialect/IR/TpcRejections.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;

/// Returns whether two functions compute the same.
static bool isSame(func::FuncOp left, func::FuncOp right) {
  auto getAttributes = [](func::FuncOp function) {
    NamedAttrList attributes(function->getAttrDictionary());
    attributes.erase(tpc::kRejectedCorrectionsAttrName);
    return attributes.getDictionary(function.getContext());
  };
  return getAttributes(left) == getAttributes(right) &&
         OperationEquivalence::isRegionEquivalentTo(
             &left.getBody(), &right.getBody(),
             OperationEquivalence::Flags::IgnoreLocations);
}

std::shared_ptr<Fit> FitMemory::Trial::getFit(func::FuncOp function) const {
  if (!memory.fitted || !isSame(*memory.fitted->after, function))
    return nullptr;
  return memory.fitted;
}

std::shared_ptr<Fit> FitMemory::take(func::FuncOp function, StringRef method,
                                     StringRef samples) {
  std::shared_ptr<Fit> fit = std::move(kept);
  kept.reset();
  if (!fit || fit->method != method || fit->samples != samples ||
      !isSame(*fit->before, function))
    return nullptr;
  return fit;
}
