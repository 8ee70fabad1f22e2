// SPDX-License-Identifier: Apache-2.0
//
// Target descriptions that come with the library.
#ifndef TPC_DIALECT_TARGETS_TARGETS_H
#define TPC_DIALECT_TARGETS_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace mct::tpc {

/// A stock target: a name, the target that it resolves to (itself unless the
/// name is an alias), and the MLIR text of that.
struct StockTarget {
  llvm::StringRef name, resolved, text;
  bool isAlias() const { return name != resolved; }
};

/// Returns all stock targets, including aliases, sorted by name.
llvm::ArrayRef<StockTarget> listTargets();

/// Returns the stock target `name`, or null.
const StockTarget *lookupTarget(llvm::StringRef name);

/// The same for the stock `tpc.binding` and `tpc.framework` of each IR.
llvm::ArrayRef<StockTarget> listStockVocabularies();

/// Returns the stock devices, sorted by name.
llvm::ArrayRef<StockTarget> listDevices();

/// Returns the element of `known` that `name` is probably a misspelling of, or
/// none.
std::optional<llvm::StringRef>
findNearest(llvm::StringRef name, llvm::ArrayRef<llvm::StringRef> known);

} // namespace mct::tpc

#endif // TPC_DIALECT_TARGETS_TARGETS_H
