// SPDX-License-Identifier: Apache-2.0
#include "tpc_dialect/IR/Elements.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <cstring>
#include <type_traits>

using namespace mlir;
using namespace mct::tpc;

template <typename T>
std::optional<SmallVector<T>> mct::tpc::readElements(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    Type type = resource.getElementType();
    bool matches =
        std::is_same_v<T, float> ? type.isF32() : type.isInteger(8 * sizeof(T));
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    auto count = size_t(resource.getType().getNumElements());
    if (!matches || !blob || blob->getData().size() != count * sizeof(T))
      return std::nullopt;
    SmallVector<T> values(count);
    // Copy bytes, as bytecode may align the data less than a T.
    std::memcpy(values.data(), blob->getData().data(), count * sizeof(T));
    return values;
  }
  auto values = elements.tryGetValues<T>();
  if (!values)
    return std::nullopt;
  return SmallVector<T>(values->begin(), values->end());
}

template std::optional<SmallVector<float>>
    mct::tpc::readElements<float>(ElementsAttr);
template std::optional<SmallVector<int32_t>>
    mct::tpc::readElements<int32_t>(ElementsAttr);
template std::optional<SmallVector<int64_t>>
    mct::tpc::readElements<int64_t>(ElementsAttr);
