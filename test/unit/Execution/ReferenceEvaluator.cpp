// SPDX-License-Identifier: Apache-2.0
#include "ReferenceEvaluator.h"
#include "ReferenceOps.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;
using namespace mct::testing;
using namespace mct::testing::reference;

static double readElement(const char *data, int64_t i, Type type) {
  auto read = [&](auto value) {
    std::memcpy(&value, data + i * sizeof(value), sizeof(value));
    return static_cast<double>(value);
  };
  if (type.isF32())
    return read(float());
  if (type.isF64())
    return read(double());
  if (type.isInteger(8))
    return read(int8_t());
  if (type.isInteger(16))
    return read(int16_t());
  if (type.isInteger(32))
    return read(int32_t());
  return read(int64_t());
}

ReferenceTensor reference::readConstant(ElementsAttr attribute) {
  auto type = cast<RankedTensorType>(attribute.getShapedType());
  ReferenceTensor tensor = ReferenceEvaluator::zeros(type);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    ArrayRef<char> data = resource.getRawHandle().getBlob()->getData();
    for (size_t i = 0; i != tensor.numbers.size(); ++i)
      tensor.numbers[i].value =
          readElement(data.data(), int64_t(i), type.getElementType());
    return tensor;
  }
  auto dense = cast<DenseElementsAttr>(attribute);
  size_t i = 0;
  if (isa<FloatType>(type.getElementType()))
    for (APFloat value : dense.getValues<APFloat>())
      tensor.numbers[i++].value = value.convertToDouble();
  else
    for (APInt value : dense.getValues<APInt>())
      tensor.numbers[i++].value = isTruth(type.getElementType())
                                      ? double(value.getZExtValue())
                                      : double(value.getSExtValue());
  return tensor;
}

Index reference::readShape(Value value) {
  Index shape;
  auto op = value.getDefiningOp<tosa::ConstShapeOp>();
  for (APInt size : cast<DenseElementsAttr>(op.getValues()).getValues<APInt>())
    shape.push_back(size.getSExtValue());
  return shape;
}

bool Evaluation::run() {
  if (isa<tosa::Conv2DOp>(op))
    convolution(2, false);
  else if (isa<tosa::Conv3DOp>(op))
    convolution(3, false);
  else if (isa<tosa::DepthwiseConv2DOp>(op))
    convolution(2, true);
  else if (auto conv = dyn_cast<tosa::TransposeConv2DOp>(op))
    transposeConvolution(conv);
  else if (isa<tosa::MatMulOp>(op))
    matmul();
  else if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op))
    averagePool(pool);
  else if (auto pool = dyn_cast<tosa::MaxPool2dOp>(op))
    maximumPool(pool);
  else if (auto clampOp = dyn_cast<tosa::ClampOp>(op))
    clamp(clampOp);
  else if (isa<tosa::CastOp>(op))
    castElements();
  else if (auto resizeOp = dyn_cast<tosa::ResizeOp>(op))
    resize(resizeOp);
  else if (auto rescaleOp = dyn_cast<tosa::RescaleOp>(op))
    rescale(rescaleOp);
  else
    return reduction() || movement() || arithmetic();
  return true;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

ReferenceTensor ReferenceEvaluator::zeros(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  ReferenceTensor result;
  llvm::append_range(result.shape, tensor.getShape());
  result.element = tensor.getElementType();
  result.numbers.resize(size_t(countOf(result.shape)));
  return result;
}

const ReferenceTensor &ReferenceEvaluator::operator[](Value value) const {
  return values.find(value)->second;
}

bool ReferenceEvaluator::run(ArrayRef<ReferenceTensor> arguments) {
  Block &body = function.getBody().front();
  for (auto [argument, tensor] : llvm::zip(body.getArguments(), arguments))
    values[argument] = tensor;
  return evaluate(body);
}

bool ReferenceEvaluator::evaluate(Block &block) {
  for (Operation &op : block.without_terminator())
    if (!evaluate(op))
      return false;
  return true;
}

std::optional<std::vector<ReferenceTensor>>
ReferenceEvaluator::runBlock(Block &block,
                             ArrayRef<ReferenceTensor> arguments) {
  for (auto [argument, tensor] : llvm::zip(block.getArguments(), arguments))
    values[argument] = tensor;
  if (!evaluate(block))
    return std::nullopt;
  std::vector<ReferenceTensor> results;
  for (Value result : block.getTerminator()->getOperands())
    results.push_back((*this)[result]);
  return results;
}

bool ReferenceEvaluator::evaluate(tosa::IfOp branch) {
  const Number condition = (*this)[branch.getCondition()].numbers[0];
  std::vector<ReferenceTensor> inputs;
  for (Value input : branch.getInputList())
    inputs.push_back((*this)[input]);
  auto results = runBlock(condition.value != 0 ? branch.getThenGraph().front()
                                               : branch.getElseGraph().front(),
                          inputs);
  if (!results)
    return false;
  for (auto [result, tensor] : llvm::zip(branch.getResults(), *results)) {
    if (!condition.isExact())
      for (Number &number : tensor.numbers)
        number.error = kInfinity;
    values[result] = tensor;
  }
  return true;
}

bool ReferenceEvaluator::evaluate(tosa::WhileOp loop) {
  std::vector<ReferenceTensor> state;
  for (Value input : loop.getInputList())
    state.push_back((*this)[input]);
  while (true) {
    auto tested = runBlock(loop.getCondGraph().front(), state);
    if (!tested)
      return false;
    const Number &condition = tested->front().numbers[0];
    if (!condition.isExact())
      return fail(*loop, "the number of iterations is not known");
    if (condition.value == 0)
      break;
    auto next = runBlock(loop.getBodyGraph().front(), state);
    if (!next)
      return false;
    state = std::move(*next);
  }
  for (auto [result, tensor] : llvm::zip(loop.getResults(), state))
    values[result] = tensor;
  return true;
}

bool ReferenceEvaluator::fail(Operation &op, const Twine &why) {
  error = (op.getName().getStringRef() + ": " + why).str();
  return false;
}

bool ReferenceEvaluator::evaluate(Operation &op) {
  if (isa<tosa::ConstShapeOp>(op))
    return true;
  if (auto constant = dyn_cast<tosa::ConstOp>(op)) {
    ReferenceTensor tensor = readConstant(constant.getValues());
    for (Number &number : tensor.numbers)
      number.error = uncertain.lookup(constant);
    values[constant] = std::move(tensor);
    return true;
  }
  if (auto bias = dyn_cast<tpc::BiasOp>(op)) {
    values[bias] = readConstant(bias.getValues());
    return true;
  }
  if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
    ReferenceTensor input = (*this)[point.getInput()];
    values[point] =
        simulate && point.getParameters()
            ? quantize(point, input,
                       isa<BlockArgument>(point.getInput()) ? 0 : codesAway)
            : input;
    return true;
  }
  if (auto branch = dyn_cast<tosa::IfOp>(op))
    return evaluate(branch);
  if (auto loop = dyn_cast<tosa::WhileOp>(op))
    return evaluate(loop);
  if (!isa<tosa::TosaDialect>(op.getDialect()) || op.getNumResults() != 1 ||
      !isa<RankedTensorType>(op.getResult(0).getType()))
    return fail(op, "is not known");

  Evaluation evaluation{op, {}, zeros(op.getResult(0).getType())};
  // The map moves its entries when it grows; nothing is added before the end.
  for (Value operand : op.getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      evaluation.inputs.push_back(&values.find(operand)->second);
  roundsToFloat = !real;
  bool isKnown = evaluation.run();
  roundsToFloat = true;
  if (!isKnown)
    return fail(op, "is not known");
  if (real)
    for (Number &number : evaluation.result.numbers)
      number.error = 0;
  values[op.getResult(0)] = std::move(evaluation.result);
  return true;
}
