// SPDX-License-Identifier: Apache-2.0
//
// Target descriptions that come with the library.
#ifndef TPC_DIALECT_TARGETS_TARGETS_H
#define TPC_DIALECT_TARGETS_TARGETS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace mct::tpc {

/// A stock target: a name, the target that it resolves to (itself unless the
/// name is an alias), the MLIR text of that, and a reason not to use it, empty
/// for most.
struct StockTarget {
  llvm::StringRef name, resolved, text, warning = "";
  bool isAlias() const { return name != resolved; }
};

/// Returns all stock targets, including aliases, sorted by name.
llvm::ArrayRef<StockTarget> listTargets();

/// Prints a line for each stock target: its name, the one that it stands for,
/// and a reason not to use it, if there is one.
void printTargets(llvm::raw_ostream &os);

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
