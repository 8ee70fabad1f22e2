// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_BUDGET_H
#define MCT_LIB_BITWIDTHS_BUDGET_H

#include "mct/Cost/Resources.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mct::bit_widths {

enum class Resource { Weights, Activations, Total, Bops, Compressed };
inline constexpr Resource kResources[] = {
    Resource::Weights, Resource::Activations, Resource::Total, Resource::Bops,
    Resource::Compressed};
llvm::StringRef stringifyResource(Resource resource);
/// Returns the name with its unit: `weights_bytes`.
llvm::StringRef getKey(Resource resource);
/// Returns the amount in bits, or operations on bits.
int64_t getUse(const ResourceUse &use, Resource resource);
/// Returns an amount for readers: "38680 bytes", or "1024 BOPS".
std::string describeUse(Resource resource, int64_t amount);

/// Limits in bits, or operations on bits.
struct Budget {
  std::optional<int64_t> limits[std::size(kResources)];

  std::optional<int64_t> of(Resource resource) const {
    return limits[size_t(resource)];
  }
  bool empty() const;
  /// Returns which are exceeded.
  llvm::SmallVector<Resource> findExceeded(const ResourceUse &use) const;

  /// Returns `tpc.budget` of a function; null without limits.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Reads `weights:50%` and the like; percent are of `at8Bits`.
  static llvm::Expected<Budget> parse(llvm::ArrayRef<std::string> limits,
                                      const ResourceUse &at8Bits);
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BUDGET_H
