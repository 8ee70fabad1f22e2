// SPDX-License-Identifier: Apache-2.0
#include "ElementwiseExpression.h"
#include "mct/Interfaces/OpInterfaces.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/IRMapping.h"
#include "tpc_dialect/IR/TpcDialect.h"

using namespace mlir;
using namespace mct;

std::optional<SmallVector<Value>>
ElementwiseExpression::readOperands(Operation *op,
                                    ConstantEvaluator &constants) {
  auto elementwise = dyn_cast_or_null<ElementwiseOpInterface>(op);
  if (!elementwise || isa<tpc::QuantizeOp>(op) || !constants.knows(op) ||
      op->getNumResults() != 1)
    return std::nullopt;
  auto resultType = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!resultType)
    return std::nullopt;
  SmallVector<Value> variables;
  for (Value operand :
       op->getOperands().take_front(elementwise.getNumDataOperands())) {
    if (std::optional<ConstantTensor> number = constants.evaluate(operand)) {
      if (number->getNumElements() != 1 && !number->isSplat())
        return std::nullopt;
      numbers[operand] = *number;
      continue;
    }
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || type.getShape() != resultType.getShape())
      return std::nullopt;
    variables.push_back(operand);
  }
  return variables;
}

bool ElementwiseExpression::isClamp() const {
  return llvm::all_of(ops, llvm::IsaPred<tosa::ClampOp, tosa::IdentityOp>);
}

std::optional<std::vector<float>>
ElementwiseExpression::evaluate(ArrayRef<float> inputs) const {
  auto type = cast<RankedTensorType>(source.getType());
  SmallVector<int64_t> one(type.getRank(), 1), all(one);
  if (all.empty())
    return std::nullopt;
  all[0] = int64_t(inputs.size());
  // Compute outside of the function.
  Block scratch;
  OpBuilder builder(source.getContext());
  builder.setInsertionPointToStart(&scratch);
  IRMapping mapping;
  ConstantEvaluator evaluator;
  auto provide = [&](Value of, ConstantTensor tensor) {
    Value argument = scratch.addArgument(tensor.getType(), source.getLoc());
    evaluator.provide(argument, std::move(tensor));
    mapping.map(of, argument);
  };
  provide(source, ConstantTensor::create<float>(type.clone(all), inputs.vec()));
  for (const auto &[value, tensor] : numbers)
    provide(value,
            ConstantTensor::create<double>(
                RankedTensorType::get(one, tensor.getType().getElementType()),
                {tensor.decode<double>().front()}));
  // The order of the ops in the block is an order of the expression.
  SmallVector<Operation *> ordered(ops.begin(), ops.end());
  llvm::sort(ordered,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : ordered) {
    Value made = builder.clone(*op, mapping)->getResult(0);
    made.setType(cast<RankedTensorType>(made.getType()).clone(all));
  }
  std::optional<ConstantTensor> computed =
      evaluator.evaluate(mapping.lookup(result));
  std::optional<std::vector<float>> values;
  if (computed) {
    values = computed->decode<float>();
    if (values->size() == 1)
      values->assign(inputs.size(), values->front());
  }
  scratch.dropAllReferences();
  scratch.clear();
  return values;
}
