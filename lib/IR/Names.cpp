// SPDX-License-Identifier: Apache-2.0
#include "mct/IR/Names.h"
#include "mct/Support/Printable.h"
#include "mlir/IR/Matchers.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace mct;

namespace {
/// Generates unique names: `conv2d`, `conv2d_1`, …
class NameTable {
public:
  /// `reserved`: names given by importers, which are not generated.
  explicit NameTable(llvm::StringSet<> reserved)
      : reserved(std::move(reserved)) {}

  std::string take(StringRef base, bool isGiven) {
    if ((isGiven || !reserved.contains(base)) && taken.insert(base).second)
      return base.str();
    unsigned &number = numbers[base];
    std::string name;
    do
      name = (base + "_" + Twine(++number)).str();
    while (reserved.contains(name) || !taken.insert(name).second);
    return name;
  }

private:
  llvm::StringSet<> reserved, taken;
  llvm::StringMap<unsigned> numbers;
};
} // namespace

std::string mct::getNameOrKind(Operation *op) {
  StringAttr name = getName(op->getLoc());
  return name ? name.str() : op->getName().stripDialect().str();
}

std::string mct::getNameOrNumber(BlockArgument argument) {
  StringAttr name = getName(argument);
  return name ? name.str() : std::to_string(argument.getArgNumber());
}

Location mct::withoutName(Location loc) {
  for (;;) {
    if (auto name = dyn_cast<NameLoc>(loc))
      loc = name.getChildLoc();
    else if (auto fused = dyn_cast<FusedLoc>(loc);
             fused && fused.getLocations().size() == 1)
      loc = fused.getLocations().front();
    else
      return loc;
  }
}

// Names are printed wherever a value is meant: what could steer a terminal is
// written as `\1B`.
StringAttr mct::getName(Location loc) {
  if (auto name = dyn_cast<NameLoc>(loc)) {
    StringAttr own = name.getName();
    if (own.empty())
      return getName(name.getChildLoc());
    return support::isPrintable(own)
               ? own
               : StringAttr::get(loc.getContext(), support::makePrintable(own));
  }
  if (auto fused = dyn_cast<FusedLoc>(loc))
    for (Location part : fused.getLocations())
      if (StringAttr name = getName(part))
        return name;
  if (auto call = dyn_cast<CallSiteLoc>(loc))
    return getName(call.getCallee());
  return {};
}

StringAttr mct::getName(Value value) { return getName(value.getLoc()); }

// Suffix of a value whose axes are in another order.
static constexpr StringLiteral kTransposed = "_transposed";

Location mct::getTransposedLoc(Location loc, ArrayRef<int32_t> permutation) {
  StringAttr name = getName(loc);
  if (!name)
    return loc;
  MLIRContext *context = loc.getContext();
  return NameLoc::get(
      StringAttr::get(context, name.getValue() + kTransposed),
      FusedLoc::get(context, loc,
                    DenseI32ArrayAttr::get(context, permutation)));
}

bool mct::isTransposedName(StringRef name) {
  return name.ends_with(kTransposed);
}

std::optional<TransposedName> mct::getTransposed(Location loc) {
  auto name = dyn_cast<NameLoc>(loc);
  auto fused = name ? dyn_cast<FusedLoc>(name.getChildLoc()) : FusedLoc();
  auto order = fused ? dyn_cast_or_null<DenseI32ArrayAttr>(fused.getMetadata())
                     : nullptr;
  if (!order || fused.getLocations().size() != 1)
    return std::nullopt;
  Location before = fused.getLocations().front();
  StringAttr original = getName(before);
  StringRef expected = name.getName();
  if (!original || !expected.consume_back(kTransposed) ||
      original.getValue() != expected)
    return std::nullopt;
  TransposedName result{original, SmallVector<int32_t>(order.asArrayRef())};
  std::optional<TransposedName> earlier = getTransposed(before);
  if (!earlier)
    return result;
  // A file may contain anything.
  for (int32_t &axis : result.permutation) {
    if (axis < 0 || axis >= int32_t(earlier->permutation.size()))
      return std::nullopt;
    axis = earlier->permutation[axis];
  }
  result.original = earlier->original;
  return result;
}

/// Returns whether an op gets a name. Constants do not. Points have their own
/// name, and their location may be that of the op whose result or weight they
/// quantize, which must keep its name.
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
    if (isa<NameLoc>(loc) && present && present.getValue() == name)
      return loc;
    return NameLoc::get(StringAttr::get(function.getContext(), name), loc);
  };
  for (BlockArgument argument : function.getArguments())
    argument.setLoc(rename(argument.getLoc(),
                           ("arg" + Twine(argument.getArgNumber())).str()));
  for (Operation *op : ops)
    op->setLoc(rename(op->getLoc(), op->getName().stripDialect()));
}
