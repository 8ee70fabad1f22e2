// SPDX-License-Identifier: Apache-2.0
#include "OnnxPoints.h"
#include "OnnxRules.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

/// `operands`: the values, without the shifts and zero points that follow them.
static LogicalResult emitElementwise(GraphBuilder &graph, Operation *op,
                                     ValueRange operands, StringRef opType) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  // Use the layout of the first operand that has one.
  const Layout *present = graph.findLayout(operands);
  Layout layout = present ? *present : Layout::identity(rank);
  // A tensor that is broadcast along flattened axes would have other sizes.
  for (Value operand : operands)
    if (!layout.parts.empty() && graph.findLayout(operand) &&
        typeOf(operand).getShape() != typeOf(op->getResult(0)).getShape())
      layout = Layout::identity(rank);
  FailureOr<std::vector<std::string>> inputs =
      graph.readAll(op, operands, layout);
  if (failed(inputs))
    return failure();
  return graph.replace(op, opType, std::move(*inputs), layout);
}

static LogicalResult emitAllOperands(GraphBuilder &graph, Operation *op,
                                     StringRef opType) {
  return emitElementwise(graph, op, op->getOperands(), opType);
}

static LogicalResult emitMul(GraphBuilder &graph, tosa::MulOp op) {
  return emitElementwise(graph, op, {op.getInput1(), op.getInput2()}, "Mul");
}

static LogicalResult emitNegate(GraphBuilder &graph, tosa::NegateOp op) {
  return emitElementwise(graph, op, op.getInput1(), "Neg");
}

LogicalResult onnx::emitClamp(GraphBuilder &graph, Operation *op, Value input,
                              double low, double high) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  FailureOr<TensorRef> tensor = graph.read(op, input);
  if (failed(tensor))
    return failure();
  if (low == 0 && high >= kLargest)
    return graph.replace(op, "Relu", {tensor->name}, tensor->layout);
  std::string name = nameOf(op->getResult(0));
  // An empty name stands for a missing input.
  std::vector<std::string> inputs{tensor->name, "", ""};
  if (low > -kLargest)
    inputs[1] = graph.addFloats(name + "/min", {}, {static_cast<float>(low)});
  if (high < kLargest)
    inputs[2] = graph.addFloats(name + "/max", {}, {static_cast<float>(high)});
  while (inputs.back().empty())
    inputs.pop_back();
  return graph.replace(op, "Clip", std::move(inputs), tensor->layout);
}

static LogicalResult emitClampOp(GraphBuilder &graph, tosa::ClampOp op) {
  auto low = dyn_cast<FloatAttr>(op.getMinVal());
  auto high = dyn_cast<FloatAttr>(op.getMaxVal());
  if (low && high)
    return emitClamp(graph, op, op.getInput(), low.getValueAsDouble(),
                     high.getValueAsDouble());
  FailureOr<TensorRef> tensor = graph.read(op, op.getInput());
  if (failed(tensor))
    return failure();
  std::vector<std::string> inputs{tensor->name};
  for (Attribute limit : {op.getMinVal(), op.getMaxVal()})
    inputs.push_back(graph.addPacked(
        nameOf(op.getOutput()) + "/limit", ElementType::Int64, {},
        [&](int64_t) { return cast<IntegerAttr>(limit).getInt(); }));
  return graph.replace(op, "Clip", std::move(inputs), tensor->layout);
}

static LogicalResult emitCast(GraphBuilder &graph, tosa::CastOp op) {
  for (Value value : {Value(op.getInput()), Value(op.getOutput())}) {
    Type element = typeOf(value).getElementType();
    if (!element.isF32() && !element.isInteger(1) && !element.isInteger(32) &&
        !element.isInteger(64))
      return refuse(op, kUnknownForm);
  }
  FailureOr<TensorRef> tensor = graph.read(op, op.getInput());
  if (failed(tensor))
    return failure();
  const ElementType from = elementTypeOf(op.getInput()),
                    to = elementTypeOf(op.getOutput());
  if (from == to) {
    graph.define(op.getOutput(), tensor->name, tensor->layout);
    return success();
  }
  // TOSA rounds to the nearest integer, and ONNX truncates.
  if (from == ElementType::Float && to == ElementType::Int64)
    tensor->name = graph.addNode(op, "Round", {tensor->name},
                                 nameOf(op.getOutput()) + "/rounded");
  return graph.replace(op, "Cast", {tensor->name}, tensor->layout,
                       {{"to", int64_t(to)}});
}

static LogicalResult emitRsqrt(GraphBuilder &graph, tosa::RsqrtOp op) {
  FailureOr<TensorRef> input = graph.read(op, op.getInput1());
  if (failed(input))
    return failure();
  std::string root = graph.addNode(op, "Sqrt", {input->name},
                                   nameOf(op.getOutput()) + "/root");
  return graph.replace(op, "Reciprocal", {root}, input->layout);
}

static LogicalResult emitIdentity(GraphBuilder &graph, tosa::IdentityOp op) {
  FailureOr<TensorRef> input = graph.read(op, op.getInput1());
  if (failed(input))
    return failure();
  graph.define(op.getOutput(), input->name, input->layout);
  return success();
}

void onnx::addElementwiseRules(Rules &rules) {
  rules.add<tosa::AbsOp>(emitAllOperands, "Abs");
  rules.add<tosa::AddOp>(emitAllOperands, "Add");
  rules.add<tosa::CeilOp>(emitAllOperands, "Ceil");
  rules.add<tosa::CosOp>(emitAllOperands, "Cos");
  rules.add<tosa::EqualOp>(emitAllOperands, "Equal");
  rules.add<tosa::ErfOp>(emitAllOperands, "Erf");
  rules.add<tosa::ExpOp>(emitAllOperands, "Exp");
  rules.add<tosa::FloorOp>(emitAllOperands, "Floor");
  rules.add<tosa::GreaterOp>(emitAllOperands, "Greater");
  rules.add<tosa::GreaterEqualOp>(emitAllOperands, "GreaterOrEqual");
  rules.add<tosa::IntDivOp>(emitAllOperands, "Div");
  rules.add<tosa::LogOp>(emitAllOperands, "Log");
  rules.add<tosa::LogicalAndOp>(emitAllOperands, "And");
  rules.add<tosa::LogicalNotOp>(emitAllOperands, "Not");
  rules.add<tosa::LogicalOrOp>(emitAllOperands, "Or");
  rules.add<tosa::LogicalXorOp>(emitAllOperands, "Xor");
  rules.add<tosa::MaximumOp>(emitAllOperands, "Max");
  rules.add<tosa::MinimumOp>(emitAllOperands, "Min");
  rules.add<tosa::PowOp>(emitAllOperands, "Pow");
  rules.add<tosa::ReciprocalOp>(emitAllOperands, "Reciprocal");
  rules.add<tosa::SelectOp>(emitAllOperands, "Where");
  rules.add<tosa::SigmoidOp>(emitAllOperands, "Sigmoid");
  rules.add<tosa::SinOp>(emitAllOperands, "Sin");
  rules.add<tosa::SubOp>(emitAllOperands, "Sub");
  rules.add<tosa::TanhOp>(emitAllOperands, "Tanh");
  rules.add<tosa::MulOp>(emitMul);
  rules.add<tosa::NegateOp>(emitNegate);
  rules.add<tosa::CastOp>(emitCast);
  rules.add<tosa::ClampOp>(emitClampOp);
  rules.add<tosa::RsqrtOp>(emitRsqrt);
  rules.add<tosa::IdentityOp>(emitIdentity);
  rules.add<tpc::QuantizeOp>(emitPoint);
}
