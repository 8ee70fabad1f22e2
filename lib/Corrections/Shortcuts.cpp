// SPDX-License-Identifier: Apache-2.0
#include "Shortcuts.h"

#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct;
using namespace mct::corrections;

/// Returns the other summand of `value` if the addition is its only user.
static Value getOtherSummand(Value value) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (auto point = dyn_cast<tpc::QuantizeOp>(user)) {
      value = point.getResult();
      continue;
    }
    auto add = dyn_cast<tosa::AddOp>(user);
    if (!add)
      return {};
    Value other = add.getInput1() == value ? add.getInput2() : add.getInput1();
    return other.getType() == value.getType() ? other : Value();
  }
  return {};
}

SmallVector<Value>
mct::corrections::makeOtherSummands(ArrayRef<ChannelValue> layers) {
  SmallVector<Value> found(layers.size());
  if (layers.empty())
    return found;
  // The number of layers on the longest path to each value.
  llvm::DenseMap<Value, unsigned> depth;
  llvm::SmallDenseSet<Value> ends;
  for (const ChannelValue &layer : layers)
    ends.insert(layer.value);
  Block *body = Value(layers.front().value).getParentBlock();
  for (Operation &op : *body) {
    unsigned own = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        own = std::max(own, depth.lookup(operand));
    });
    for (Value result : op.getResults())
      depth[result] = own + ends.contains(result);
  }
  for (auto [other, layer] : llvm::zip(found, layers)) {
    Operation *op = layer.value.getDefiningOp();
    Value summand = op ? getOtherSummand(layer.value) : Value();
    // The depth of a layer includes the layer itself. A value of smaller depth
    // depends on no layer that runs together with this one or later.
    if (!summand || depth.lookup(summand) >= depth.lookup(layer.value))
      continue;
    IRRewriter rewriter(op->getContext());
    if (succeeded(moveValueDefinitions(rewriter, summand, op)))
      other = summand;
  }
  return found;
}
