// SPDX-License-Identifier: Apache-2.0
//
// Integer forms of element-wise expressions of one stored value and of numbers,
// as one table.
#include "ElementwiseExpression.h"
#include "IntegerModels.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;

/// Returns the expression of one stored value that computes `value`, or nothing
/// if there is none or clamping the codes computes the same.
static std::optional<ElementwiseExpression>
findTableExpression(IntegerContext &context, Value value) {
  ElementwiseExpression expression;
  expression.result = value;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == expression.source)
      continue;
    if (context.getStored(next)) {
      if (expression.source)
        return std::nullopt;
      expression.source = next;
      continue;
    }
    Operation *op = next.getDefiningOp();
    if (expression.ops.contains(op))
      continue;
    std::optional<SmallVector<Value>> operands =
        expression.readOperands(op, context.getConstants());
    if (!operands || expression.ops.size() == expression.kMaxOps)
      return std::nullopt;
    expression.ops.insert(op);
    llvm::append_range(open, *operands);
  }
  if (!expression.source || expression.isClamp())
    return std::nullopt;
  return expression;
}

std::optional<IntegerOr<Value>> mct::lowerTable(IntegerContext &context,
                                                Value value,
                                                const Encoding &encoding) {
  std::optional<ElementwiseExpression> expression =
      findTableExpression(context, value);
  if (!expression || cast<RankedTensorType>(value.getType()).getRank() == 0)
    return std::nullopt;
  StoredIntegers stored = *context.getStored(expression->source);
  if (stored.encoding.storageBits != 8 || encoding.storageBits != 8)
    return IntegerFailure{IntegerReason::WideTable, value.getDefiningOp()};
  std::vector<float> inputs;
  for (int64_t code = -128; code < 128; ++code)
    inputs.push_back(stored.encoding.dequantize(code));
  std::optional<std::vector<float>> results = expression->evaluate(inputs);
  if (!results || results->size() != inputs.size())
    return std::nullopt;
  std::vector<int64_t> codes;
  for (float result : *results)
    codes.push_back(encoding.quantize(result));
  IntegerBuilder &b = context.getBuilder();
  return tosa::TableOp::create(b, b.getType(value, 8), stored.value,
                               b.createConstant(256, 8, codes))
      .getResult();
}
