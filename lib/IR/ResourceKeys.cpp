// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/ResourceKeys.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace mct;

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

TrialConstants::~TrialConstants() {
  for (DenseResourceElementsHandle &handle : handles)
    handle.getResource()->setBlob(AsmResourceBlob());
}

void TrialConstants::add(DenseResourceElementsHandle handle) {
  std::lock_guard<std::mutex> lock(mutex);
  handles.push_back(handle);
}

DenseResourceElementsAttr mct::createResource(RankedTensorType type,
                                              StringRef name,
                                              AsmResourceBlob blob) {
  auto &manager =
      DenseResourceElementsHandle::getManagerInterface(type.getContext())
          .getBlobManager();
  std::string base = name.str();
  TrialConstants *trial = TrialConstantsScope::find(type.getContext());
  if (trial)
    base += ".trial";
  std::string key = findFreeKey(
      base, [&](StringRef key) { return manager.lookup(key) != nullptr; });
  auto made = DenseResourceElementsAttr::get(type, key, std::move(blob));
  if (trial)
    trial->add(made.getRawHandle());
  return made;
}
