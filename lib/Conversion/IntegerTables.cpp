// SPDX-License-Identifier: Apache-2.0
//
// Element-wise expressions of one stored value and of numbers: one table.
#include "IntegerModels.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mct;

/// Ops of an expression that becomes one table.
static constexpr size_t kMaxTableOps = 64;

namespace {
struct TableExpression {
  /// The only value that is not constant.
  Value source;
  StoredIntegers stored;
  llvm::SetVector<Operation *> ops;
  DenseMap<Value, ConstantTensor> numbers;
};
} // namespace

static std::optional<TableExpression> findTable(IntegerContext &context,
                                                Value value) {
  TableExpression table;
  SmallVector<Value> open = {value};
  bool isMoreThanClamps = false;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(value.getType()).getShape();
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (next == table.source || table.numbers.count(next))
      continue;
    if (std::optional<ConstantTensor> number =
            context.getConstants().evaluate(next)) {
      if (number->getNumElements() != 1 && !number->isSplat())
        return std::nullopt;
      table.numbers[next] = *number;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(next.getType());
    if (!type || type.getShape() != shape)
      return std::nullopt;
    if (IntegerOr<StoredIntegers> leaf = context.getStored(next)) {
      if (table.source)
        return std::nullopt;
      table.source = next;
      table.stored = *leaf;
      continue;
    }
    Operation *op = next.getDefiningOp();
    auto elementwise = dyn_cast_or_null<ElementwiseOpInterface>(op);
    if (!elementwise || isa<tpc::QuantizeOp>(op) ||
        !context.getConstants().knows(op))
      return std::nullopt;
    if (!table.ops.insert(op))
      continue;
    if (table.ops.size() > kMaxTableOps)
      return std::nullopt;
    isMoreThanClamps |= !isa<tosa::ClampOp, tosa::IdentityOp>(op);
    for (Value operand :
         op->getOperands().take_front(elementwise.getNumDataOperands()))
      open.push_back(operand);
  }
  if (!table.source || !isMoreThanClamps || shape.empty())
    return std::nullopt;
  return table;
}

/// Computes the expression for all codes, beside the function. Returns the
/// codes of the results; none if one op refuses.
static std::vector<int64_t> computeTable(const TableExpression &table,
                                         Value value,
                                         const Encoding &encoding) {
  auto source = cast<RankedTensorType>(table.source.getType());
  Block scratch;
  OpBuilder inner(value.getContext());
  inner.setInsertionPointToStart(&scratch);
  SmallVector<int64_t> one(source.getRank(), 1), all(one);
  all[0] = 256;
  std::vector<float> inputs;
  for (int64_t code = -128; code < 128; ++code)
    inputs.push_back(table.stored.encoding.dequantize(code));
  IRMapping mapping;
  ConstantEvaluator evaluator;
  auto provide = [&](Value of, ConstantTensor tensor) {
    Value argument = scratch.addArgument(tensor.getType(), value.getLoc());
    evaluator.provide(argument, std::move(tensor));
    mapping.map(of, argument);
  };
  provide(table.source,
          ConstantTensor::create<float>(source.clone(all), std::move(inputs)));
  for (auto &[number, tensor] : table.numbers)
    provide(number,
            ConstantTensor::create<double>(tensor.getType().clone(one),
                                           {tensor.decode<double>().front()}));
  // In the order of the function, which is one of the expression.
  SmallVector<Operation *> ordered(table.ops.begin(), table.ops.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ordered) {
    Operation *copy = inner.clone(*op, mapping);
    for (OpResult result : copy->getResults())
      result.setType(cast<RankedTensorType>(result.getType()).clone(all));
  }
  std::vector<int64_t> codes;
  if (std::optional<ConstantTensor> results =
          evaluator.evaluate(mapping.lookup(value))) {
    std::vector<float> values = results->decode<float>();
    if (values.size() == 1)
      values.assign(256, values.front());
    for (float result : values)
      codes.push_back(encoding.quantize(result));
  }
  scratch.dropAllReferences();
  scratch.clear();
  return codes;
}

std::optional<IntegerOr<Value>> mct::lowerTable(IntegerContext &context,
                                                Value value,
                                                const Encoding &encoding) {
  std::optional<TableExpression> table = findTable(context, value);
  if (!table)
    return std::nullopt;
  if (table->stored.encoding.storageBits != 8 || encoding.storageBits != 8)
    return IntegerFailure{IntegerReason::WideTable, value.getDefiningOp()};
  std::vector<int64_t> codes = computeTable(*table, value, encoding);
  if (codes.size() != 256)
    return std::nullopt;
  IntegerBuilder &b = context.getBuilder();
  return tosa::TableOp::create(b, b.getType(value, 8), table->stored.value,
                               b.createConstant(256, 8, codes))
      .getResult();
}
