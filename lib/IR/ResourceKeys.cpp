// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ResourceKeys.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

std::string mct::findFreeKey(StringRef name,
                             llvm::function_ref<bool(StringRef)> isTaken) {
  auto makeKey = [&](uint64_t number) {
    return number == 0 ? name.str() : (name + "_" + Twine(number)).str();
  };
  if (!isTaken(name))
    return name.str();
  // Invariant: keys are taken up to `low`, and free at `high`.
  uint64_t low = 0, high = 1;
  while (isTaken(makeKey(high))) {
    low = high;
    high *= 2;
  }
  while (high - low > 1) {
    uint64_t middle = low + (high - low) / 2;
    (isTaken(makeKey(middle)) ? low : high) = middle;
  }
  return makeKey(high);
}

DenseResourceElementsAttr mct::createResource(RankedTensorType type,
                                              StringRef name,
                                              AsmResourceBlob blob) {
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(type.getContext())
          .getBlobManager();
  std::string base = name.str();
  if (TrialConstantsScope::find(type.getContext()))
    base += ".trial";
  std::string key = findFreeKey(
      base, [&](StringRef key) { return manager.lookup(key) != nullptr; });
  return DenseResourceElementsAttr::get(type, key, std::move(blob));
}
