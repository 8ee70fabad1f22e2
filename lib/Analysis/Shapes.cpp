// SPDX-License-Identifier: Apache-2.0
#include "mct/Analysis/Shapes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinTypeInterfaces.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;

LogicalResult mct::verifyShapes(Operation *root) {
  ShapedType bad;
  // Each type and attribute is looked at once, however often it is used.
  AttrTypeWalker walker;
  walker.addWalk([&](Type type) {
    auto shaped = dyn_cast<ShapedType>(type);
    if (!shaped || !shaped.hasRank())
      return WalkResult::advance();
    for (int64_t size : shaped.getShape())
      if (size < 0 && !ShapedType::isDynamic(size)) {
        bad = shaped;
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  auto isBad = [&](auto element) {
    return walker.walk<WalkOrder::PreOrder>(element).wasInterrupted();
  };
  WalkResult result = root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    bool found = isBad(Attribute(op->getAttrDictionary()));
    for (Type type : op->getResultTypes())
      found = found || isBad(type);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          found = found || isBad(type);
    if (!found)
      return WalkResult::advance();
    op->emitOpError() << "has the type " << bad
                      << ", which has a size below zero; the file is damaged";
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}
