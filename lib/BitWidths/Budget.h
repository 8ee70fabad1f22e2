// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_LIB_BITWIDTHS_BUDGET_H
#define MCT_LIB_BITWIDTHS_BUDGET_H

#include "mct/Cost/Resources.h"
#include "llvm/Support/Error.h"
#include <optional>
#include <string>

namespace mct::bit_widths {

enum class Resource { Weights, Activations, Total, Bops, Compressed, Cycles };
inline constexpr Resource kResources[] = {
    Resource::Weights, Resource::Activations, Resource::Total,
    Resource::Bops,    Resource::Compressed,  Resource::Cycles};
llvm::StringRef stringifyResource(Resource resource);
/// Returns the name with its unit, for example `weights_bytes`.
llvm::StringRef getKey(Resource resource);
/// Returns whether amounts are in bits, and displayed in bytes.
inline bool isInBits(Resource resource) {
  return resource != Resource::Bops && resource != Resource::Cycles;
}
/// Returns the amount in bits, bit operations, or cycles.
int64_t getUse(const ResourceUse &use, Resource resource);
/// Formats an amount: "38680 bytes", "1024 BOPS" or "128958 cycles".
std::string describeUse(Resource resource, int64_t amount);

/// Limits in bits, bit operations, or cycles.
struct Budget {
  std::optional<int64_t> limits[std::size(kResources)];

  std::optional<int64_t> of(Resource resource) const {
    return limits[size_t(resource)];
  }
  bool empty() const;
  /// Returns the resources whose limits are exceeded.
  llvm::SmallVector<Resource> findExceeded(const ResourceUse &use) const;

  /// Returns the value of `tpc.budget` for a function, or null if there are no
  /// limits.
  mlir::DictionaryAttr toAttribute(mlir::MLIRContext *context) const;
  /// Parses limits such as `weights:50%`, where percentages refer to `full`.
  static llvm::Expected<Budget> parse(llvm::ArrayRef<std::string> limits,
                                      const ResourceUse &full);
};

} // namespace mct::bit_widths

#endif // MCT_LIB_BITWIDTHS_BUDGET_H
