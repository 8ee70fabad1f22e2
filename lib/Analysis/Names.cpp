// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Names.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct;

namespace {
/// Hands out names that nobody has: `conv2d`, `conv2d_1`, …
class NameTable {
public:
  /// `reserved`: names that importers gave, which a made name must not take.
  explicit NameTable(llvm::StringSet<> reserved)
      : reserved(std::move(reserved)) {}

  std::string take(StringRef wanted, bool isGiven) {
    if ((isGiven || !reserved.contains(wanted)) && taken.insert(wanted).second)
      return wanted.str();
    unsigned &number = numbers[wanted];
    std::string name;
    do
      name = (wanted + "_" + Twine(++number)).str();
    while (reserved.contains(name) || !taken.insert(name).second);
    return name;
  }

private:
  llvm::StringSet<> reserved, taken;
  llvm::StringMap<unsigned> numbers;
};
} // namespace

StringAttr mct::getName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc))
    return name.getName();
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringAttr name = getName(part))
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getName(call.getCallee());
  return {};
}

StringAttr mct::getName(Value value) { return getName(value.getLoc()); }

/// Constants have no name, points have one of their own: their location may be
/// that of the op whose result or weight they are, which must keep its name.
static bool isNamed(Operation &op) {
  return op.getNumResults() > 0 && !op.hasTrait<OpTrait::ConstantLike>() &&
         !isa<tpc::QuantizeOp>(op) &&
         llvm::any_of(op.getResultTypes(), llvm::IsaPred<ShapedType>);
}

void mct::assignNames(func::FuncOp function) {
  if (function.isExternal())
    return;
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (op != function && isNamed(*op))
      ops.push_back(op);
  });
  llvm::StringSet<> given;
  for (BlockArgument argument : function.getArguments())
    if (StringAttr name = getName(argument))
      given.insert(name.getValue());
  for (Operation *op : ops)
    if (StringAttr name = getName(op->getLoc()))
      given.insert(name.getValue());

  NameTable table(std::move(given));
  auto rename = [&](Location loc, StringRef kind) -> Location {
    StringAttr present = getName(loc);
    std::string name = present
                           ? table.take(present.getValue(), /*isGiven=*/true)
                           : table.take(kind, false);
    if (isa<NameLoc>(loc) && present.getValue() == name)
      return loc;
    return NameLoc::get(StringAttr::get(function.getContext(), name), loc);
  };
  for (BlockArgument argument : function.getArguments())
    argument.setLoc(rename(argument.getLoc(),
                           ("arg" + Twine(argument.getArgNumber())).str()));
  for (Operation *op : ops)
    op->setLoc(rename(op->getLoc(), op->getName().stripDialect()));
}
