// SPDX-License-Identifier: Apache-2.0
#ifndef MCT_IR_RESOURCEKEYS_H
#define MCT_IR_RESOURCEKEYS_H

#include "mct/Support/ContextScope.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <string>

namespace mct {

/// Up to this many elements an inline attribute is smaller and more readable
/// than a resource.
inline constexpr int64_t kInlineElements = 32;

/// Returns the first of `name`, `name_1`, `name_2`, … that is not taken, where
/// those that are come first; otherwise one that is not. Asks for few of them.
std::string findFreeKey(llvm::StringRef name,
                        llvm::function_ref<bool(llvm::StringRef)> isTaken);

/// Constants of networks that are measured and thrown away. While its scope
/// lives, keys have a name of their own, so that those of the networks that
/// stay do not depend on what was tried, and where.
struct TrialConstants {};
using TrialConstantsScope = support::ContextScope<TrialConstants>;

/// Creates a `dense_resource` with the data of `blob` under a key that
/// `findFreeKey` makes of `name`. Left to itself, MLIR would try one number
/// after the other.
mlir::DenseResourceElementsAttr createResource(mlir::RankedTensorType type,
                                               llvm::StringRef name,
                                               mlir::AsmResourceBlob blob);

} // namespace mct

#endif // MCT_IR_RESOURCEKEYS_H
