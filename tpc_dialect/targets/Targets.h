// SPDX-License-Identifier: Apache-2.0
//
// Target descriptions that come with the library.
#ifndef TPC_DIALECT_TARGETS_TARGETS_H
#define TPC_DIALECT_TARGETS_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace mct::tpc {

/// The MLIR text of the target of that name, with platform and bindings.
std::optional<llvm::StringRef> lookupTarget(llvm::StringRef name);

/// All names that `lookupTarget` knows, aliases among them, sorted.
llvm::ArrayRef<llvm::StringRef> listTargets();

/// The MLIR text of the tpc.framework that a target without one gets: the ops
/// of TOSA.
llvm::StringRef getStockFramework();

} // namespace mct::tpc

#endif // TPC_DIALECT_TARGETS_TARGETS_H
