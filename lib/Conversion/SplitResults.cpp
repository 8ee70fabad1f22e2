// SPDX-License-Identifier: Apache-2.0
#include "SplitResults.h"

#include "mct/Interfaces/OpInterfaces.h"
#include "mct/Transforms/MovedChannels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct;

/// Returns the parameters of the point that quantized a value, which may have
/// been moved since; null if there is none.
static tpc::QuantizerAttrInterface findParameters(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto point = dyn_cast<tpc::QuantizeOp>(op))
      if (point.getParametersAttr())
        return point.getParametersAttr();
    OpOperand *moved = isa<tpc::QuantizeOp>(op)
                           ? &op->getOpOperand(0)
                           : getMovedOperand(op, takesElements);
    if (!moved)
      return {};
    value = moved->get();
  }
  return {};
}

/// Returns true if all elements come from points whose parameters are not all
/// equal.
static bool hasSeveralGrids(tosa::ConcatOp concat) {
  SmallVector<tpc::QuantizerAttrInterface> grids;
  SmallVector<Value> open(concat.getInput1());
  while (!open.empty()) {
    Value part = open.pop_back_val();
    if (auto inner = part.getDefiningOp<tosa::ConcatOp>())
      llvm::append_range(open, inner.getInput1());
    else
      grids.push_back(findParameters(part));
  }
  return llvm::all_of(grids, [](auto grid) { return bool(grid); }) &&
         !llvm::all_equal(grids);
}

/// Returns the parts of a result that is a concatenation of values on different
/// grids, perhaps moved since. Returns none if it has one grid or cannot be
/// split.
static SmallVector<Value> divide(Value result, OpBuilder &builder) {
  SmallVector<Operation *> path;
  Value value = result;
  while (isa_and_present<tosa::ReshapeOp, tosa::TransposeOp>(
      value.getDefiningOp())) {
    path.push_back(value.getDefiningOp());
    value = path.back()->getOperand(0);
  }
  auto concat = value.getDefiningOp<tosa::ConcatOp>();
  if (!concat)
    return {};
  if (!hasSeveralGrids(concat))
    return {};
  SmallVector<int64_t> axes{int64_t(concat.getAxis())};
  for (Operation *op : llvm::reverse(path)) {
    std::optional<int64_t> axis = findMovedAxis(op, axes.back());
    if (!axis)
      return {};
    axes.push_back(*axis);
  }
  SmallVector<Value> parts;
  for (Value part : concat.getInput1()) {
    auto type = dyn_cast<RankedTensorType>(part.getType());
    if (!type || !type.hasStaticShape())
      return {};
    int64_t size = type.getDimSize(concat.getAxis());
    for (auto [op, axis] :
         llvm::zip_equal(llvm::reverse(path), ArrayRef(axes).drop_front()))
      part = cloneMoving(builder, op, part, axis, size);
    parts.push_back(part);
  }
  return parts;
}

void mct::splitMixedResults(func::FuncOp function) {
  Operation *end = function.front().getTerminator();
  OpBuilder builder(end);
  SmallVector<Value> results;
  SmallVector<Attribute> attributes;
  bool isSplit = false;
  for (auto [number, result] : llvm::enumerate(end->getOperands())) {
    Attribute own = function.getResultAttrDict(unsigned(number));
    if (!own)
      own = builder.getDictionaryAttr({});
    // Split the parts again, in order.
    SmallVector<Value> open{result};
    while (!open.empty()) {
      Value value = open.pop_back_val();
      SmallVector<Value> parts = divide(value, builder);
      if (parts.empty()) {
        results.push_back(value);
        attributes.push_back(own);
        continue;
      }
      isSplit = true;
      own = builder.getDictionaryAttr({});
      open.append(parts.rbegin(), parts.rend());
    }
  }
  if (!isSplit)
    return;
  end->setOperands(results);
  function.removeResAttrsAttr();
  function.setFunctionType(builder.getFunctionType(
      function.getArgumentTypes(), ValueRange(results).getTypes()));
  function.setAllResultAttrs(attributes);
}
