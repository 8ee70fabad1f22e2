// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_RESOURCEKEYS_H
#define MCT_IR_RESOURCEKEYS_H

#include "mct/Support/ContextScope.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <mutex>
#include <string>
#include <vector>

namespace mct {

/// Largest number of elements for which an inline attribute is smaller and more
/// readable than a resource.
inline constexpr int64_t kInlineElements = 32;

/// Returns the first free key of `name`, `name_1`, `name_2`, … if the taken
/// keys come first; otherwise any free one. Calls `isTaken` for few of them.
std::string findFreeKey(llvm::StringRef name,
                        llvm::function_ref<bool(llvm::StringRef)> isTaken);

/// Constants of networks that are measured and then discarded. While its scope
/// lives, keys have a name of their own, so that keys in the networks that stay
/// do not depend on the trials. The context keeps resources as long as it
/// lives, so the destructor frees their data; the networks must not be used
/// afterwards. Thread safe.
class TrialConstants {
public:
  TrialConstants() = default;
  TrialConstants(const TrialConstants &) = delete;
  TrialConstants &operator=(const TrialConstants &) = delete;
  ~TrialConstants();

  void add(mlir::DenseResourceElementsHandle handle);

private:
  std::mutex mutex;
  std::vector<mlir::DenseResourceElementsHandle> handles;
};
using TrialConstantsScope = support::ContextScope<TrialConstants>;

/// Creates a `dense_resource` with the data of `blob` under a key that
/// `findFreeKey` derives from `name`. MLIR itself would try one number after
/// the other.
mlir::DenseResourceElementsAttr createResource(mlir::RankedTensorType type,
                                               llvm::StringRef name,
                                               mlir::AsmResourceBlob blob);

} // namespace mct

#endif // MCT_IR_RESOURCEKEYS_H
