// SPDX-License-Identifier: Apache-2.0
#ifndef TPC_DIALECT_IR_ELEMENTS_H
#define TPC_DIALECT_IR_ELEMENTS_H

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace mct::tpc {

/// Returns the elements of an attribute, with splats expanded, wherever they
/// are stored. None if they are of another type than T (float, int32_t,
/// int64_t), or if a resource has no data or too few. For constants of a
/// network see `mct/IR/Constants.h`, which reads large ones in place.
template <typename T>
std::optional<llvm::SmallVector<T>> readElements(mlir::ElementsAttr elements);

} // namespace mct::tpc

#endif // TPC_DIALECT_IR_ELEMENTS_H
