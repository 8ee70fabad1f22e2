// SPDX-License-Identifier: Apache-2.0
#include "OnnxRules.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

/// Returns the constant operand of a binary op, or null.
static Value getConstantOperand(Operation *op) {
  for (Value operand : op->getOperands().take_front(2))
    if (readConstant(operand))
      return operand;
  return {};
}

/// Writes a fully connected layer from rank 2 to rank 2, with weights [outputs,
/// inputs].
static FailureOr<bool> emitDense(GraphBuilder &graph, const Operator &matched) {
  Operation *root = matched.root();
  if (!matched.input || typeOf(matched.input).getRank() != 2 ||
      typeOf(root->getResult(0)).getRank() != 2)
    return false;
  Operation *product = matched.find(tosa::MatMulOp::getOperationName());
  if (!product)
    product = matched.find(tosa::Conv2DOp::getOperationName());
  std::optional<KernelOp> layer =
      product ? graph.kernels.get(product) : std::nullopt;
  std::optional<Constant> kernel =
      layer ? readConstant(product->getOperand(1)) : std::nullopt;
  std::optional<std::vector<float>> bias;
  if (layer)
    bias = layer->getBias();
  if (!kernel || !bias)
    return false;
  FailureOr<Layout> layout = graph.layoutOf(root, matched.input);
  if (failed(layout))
    return failure();
  if (layout->permutation != Layout::identity(2).permutation)
    layout = Layout::identity(2);
  FailureOr<std::string> input = graph.read(root, matched.input, *layout);
  if (failed(input))
    return failure();
  int64_t rows = layer->numOutputChannels(),
          columns = layer->numInputChannels();
  std::vector<int64_t> features = mapParts(*layout, columns), elements;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column : features)
      elements.push_back(isa<tosa::MatMulOp>(product) ? column * rows + row
                                                      : row * columns + column);
  std::string name = nameOf(root->getResult(0));
  auto constants = graph.writeLayer(product, *layer, *kernel, *bias, name,
                                    {rows, columns}, elements);
  if (failed(constants))
    return failure();
  auto [weights, added] = *constants;
  (void)graph.replace(root, "Gemm", {*input, weights, added},
                      Layout::identity(2), {{"transB", int64_t(1)}});
  return true;
}

static FailureOr<bool> emitLayerNorm(GraphBuilder &graph,
                                     const Operator &matched) {
  // (d * rsqrt(v + e) * scale) + offset over the last axis.
  if (graph.getOperatorSet() < 17)
    return false;
  int64_t rank = typeOf(matched.input).getRank();
  Operation *root = matched.root();
  Operation *inverse = matched.find(tosa::RsqrtOp::getOperationName());
  for (Operation *op : matched.ops)
    if (auto sum = dyn_cast<tosa::ReduceSumOp>(op))
      if (int64_t(sum.getAxis()) != rank - 1 ||
          typeOf(sum.getInput()).getRank() != rank)
        return false;
  Operation *variance =
      inverse ? inverse->getOperand(0).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<tosa::AddOp>(variance) || !isa<tosa::AddOp>(root))
    return false;
  Value offset = getConstantOperand(root);
  std::optional<float> epsilon = getConstantOperand(variance)
                                     ? readNumber(getConstantOperand(variance))
                                     : std::nullopt;
  Operation *scaled = nullptr;
  for (Value operand : root->getOperands())
    if (operand != offset)
      scaled = operand.getDefiningOp();
  if (!offset || !epsilon || !isa_and_nonnull<tosa::MulOp>(scaled))
    return false;
  Value scale = getConstantOperand(scaled);
  int64_t channels = typeOf(matched.input).getShape().back();
  if (!scale || ShapedType::isDynamic(channels))
    return false;
  auto spread = [&](Value value) -> std::optional<std::vector<float>> {
    std::optional<Constant> constant = readConstant(value);
    int64_t count = constant->values.size();
    if (count == 1)
      return std::vector<float>(channels, constant->values.front());
    if (count != channels || constant->shape.back() != channels)
      return std::nullopt;
    return constant->values;
  };
  std::optional<std::vector<float>> scales = spread(scale),
                                    offsets = spread(offset);
  if (!scales || !offsets)
    return false;
  Layout layout = Layout::identity(rank);
  FailureOr<std::string> input = graph.read(root, matched.input, layout);
  if (failed(input))
    return failure();
  std::string name = nameOf(root->getResult(0));
  std::vector<std::string> inputs{
      *input, graph.addFloats(name + "/scale", {channels}, std::move(*scales)),
      graph.addFloats(name + "/offset", {channels}, std::move(*offsets))};
  (void)graph.replace(root, "LayerNormalization", std::move(inputs), layout,
                      {{"axis", int64_t(-1)}, {"epsilon", *epsilon}});
  return true;
}

static FailureOr<bool> emitMean(GraphBuilder &graph, const Operator &matched) {
  // Sums along axes of the input in a row, followed by reshapes and the
  // division.
  SmallVector<int64_t> axes;
  Value value = matched.input;
  for (Operation *op : matched.ops) {
    if (!isa<tosa::ReduceSumOp, tosa::MulOp, tosa::ReshapeOp>(op) ||
        op->getOperand(0) != value)
      return false;
    if (auto sum = dyn_cast<tosa::ReduceSumOp>(op)) {
      if (typeOf(value).getRank() != typeOf(matched.input).getRank())
        return false;
      axes.push_back(sum.getAxis());
    }
    value = op->getResult(0);
  }
  Operation *root = matched.root();
  RankedTensorType from = typeOf(matched.input), to = typeOf(value);
  FailureOr<Layout> layout = graph.layoutOf(root, matched.input);
  if (failed(layout))
    return failure();
  if (axes.empty() || !layout->parts.empty())
    return false;
  llvm::sort(axes);
  SmallVector<int64_t> kept(from.getShape());
  for (int64_t axis : axes)
    kept[axis] = 1;
  // After the mean, the sizes are those of the result, or it is reshaped.
  std::optional<Layout> followed = followReshape(kept, *layout, to.getShape());
  if (!followed)
    return false;
  bool isImage = axes == SmallVector<int64_t>{1, 2} && from.getRank() == 4;
  if (isImage)
    layout = Layout::channelsFirst();
  FailureOr<std::string> tensor = graph.read(root, matched.input, *layout);
  if (failed(tensor))
    return failure();
  std::string name = nameOf(value), mean = name;
  bool isReshaped = kept != SmallVector<int64_t>(to.getShape());
  if (isReshaped)
    mean += "/mean";
  if (isImage) {
    mean = graph.addNode(root, "GlobalAveragePool", {*tensor}, mean);
    followed = isReshaped ? followReshape(kept, *layout, to.getShape())
                          : std::optional<Layout>(*layout);
  } else {
    std::vector<int64_t> places;
    for (int64_t axis : axes)
      places.push_back(layout->axisOf(axis));
    NodeInputs inputs =
        graph.withAxes("ReduceMean", *tensor, std::move(places), name);
    mean = graph.addNode(root, "ReduceMean", std::move(inputs.names), mean,
                         std::move(inputs.attributes));
    if (!isReshaped)
      followed = *layout;
  }
  if (isReshaped)
    mean = graph.addNode(
        root, "Reshape",
        {mean, graph.addIntegers(
                   name + "/shape",
                   integers(fileShape(followed->apply(to.getShape()))))},
        name);
  graph.define(value, mean, *followed);
  return true;
}

static FailureOr<bool> emitSoftmax(GraphBuilder &graph,
                                   const Operator &matched) {
  Operation *root = matched.root();
  auto largest = dyn_cast_or_null<tosa::ReduceMaxOp>(
      matched.find(tosa::ReduceMaxOp::getOperationName()));
  if (!largest || largest.getInput() != matched.input ||
      root->getResult(0).getType() != matched.input.getType())
    return false;
  FailureOr<TensorRef> input = graph.readPlain(root, matched.input);
  if (failed(input))
    return failure();
  (void)graph.replace(root, "Softmax", {input->name}, input->layout,
                      {{"axis", input->layout.axisOf(largest.getAxis())}});
  return true;
}

/// Writes the operator as one element-wise op.
static FailureOr<bool> emitUnary(GraphBuilder &graph, const Operator &matched,
                                 StringRef opType,
                                 std::vector<NodeAttribute> attributes = {}) {
  FailureOr<TensorRef> input = graph.read(matched.root(), matched.input);
  if (failed(input))
    return failure();
  (void)graph.replace(matched.root(), opType, {input->name}, input->layout,
                      std::move(attributes));
  return true;
}

static FailureOr<bool> emitGelu(GraphBuilder &graph, const Operator &matched) {
  if (graph.getOperatorSet() < 20 ||
      matched.root()->getResult(0).getType() != matched.input.getType())
    return false;
  bool isTanh = matched.find(tosa::TanhOp::getOperationName());
  return emitUnary(graph, matched, "Gelu",
                   {{"approximate", std::string(isTanh ? "tanh" : "none")}});
}

static FailureOr<bool> emitHardSwish(GraphBuilder &graph,
                                     const Operator &matched) {
  if (graph.getOperatorSet() < 14)
    return false;
  return emitUnary(graph, matched, "HardSwish");
}

static FailureOr<bool> emitHardSigmoid(GraphBuilder &graph,
                                       const Operator &matched) {
  // x / 6 + 1/2 or, in Keras 2, 0.2 x + 1/2.
  Operation *sum = matched.find(tosa::AddOp::getOperationName());
  bool isSixth = readNumber(getConstantOperand(sum)) == 3.0f;
  return emitUnary(graph, matched, "HardSigmoid",
                   {{"alpha", isSixth ? 1.0f / 6.0f : 0.2f}, {"beta", 0.5f}});
}

static FailureOr<bool> emitLeakyRelu(GraphBuilder &graph,
                                     const Operator &matched) {
  Operation *product = matched.find(tosa::MulOp::getOperationName());
  std::optional<float> slope = readNumber(getConstantOperand(product));
  if (!slope)
    return false;
  return emitUnary(graph, matched, "LeakyRelu", {{"alpha", *slope}});
}

/// Writes the operator as the positive part of its input, limited by `bound`.
static FailureOr<bool> emitPositive(GraphBuilder &graph,
                                    const Operator &matched, double bound) {
  if (failed(emitClamp(graph, matched.root(), matched.input, 0, bound)))
    return failure();
  return true;
}

static FailureOr<bool> emitRelu(GraphBuilder &graph, const Operator &matched) {
  return emitPositive(graph, matched, std::numeric_limits<double>::infinity());
}

static FailureOr<bool> emitBoundedRelu(GraphBuilder &graph,
                                       const Operator &matched) {
  std::optional<float> bound = readNumber(getConstantOperand(matched.root()));
  if (!bound)
    return false;
  return emitPositive(graph, matched, *bound);
}

static FailureOr<bool> emitDivision(GraphBuilder &graph,
                                    const Operator &matched) {
  Operation *root = matched.root(), *inverse = matched.ops.front();
  Value denominator = inverse->getOperand(0);
  Value numerator = root->getOperand(0) == inverse->getResult(0)
                        ? root->getOperand(1)
                        : root->getOperand(0);
  FailureOr<Layout> layout = graph.plainLayoutOf(
      root, graph.findLayout(numerator) ? numerator : denominator);
  if (failed(layout))
    return failure();
  FailureOr<std::string> lhs = graph.read(root, numerator, *layout);
  FailureOr<std::string> rhs = graph.read(root, denominator, *layout);
  if (failed(lhs) || failed(rhs))
    return failure();
  (void)graph.replace(root, "Div", {*lhs, *rhs}, *layout);
  return true;
}

void onnx::addOperatorRules(Rules &rules) {
  rules.addOperator("div", emitDivision);
  rules.addOperator("fully_connected", emitDense);
  rules.addOperator("gelu", emitGelu);
  rules.addOperator("global_avg_pool", emitMean);
  rules.addOperator("hard_sigmoid", emitHardSigmoid);
  rules.addOperator("hard_swish", emitHardSwish);
  rules.addOperator("hard_tanh", emitBoundedRelu);
  rules.addOperator("layer_norm", emitLayerNorm);
  rules.addOperator("leaky_relu", emitLeakyRelu);
  rules.addOperator("mean", emitMean);
  rules.addOperator("relu", emitRelu);
  rules.addOperator("relu6", emitBoundedRelu);
  rules.addOperator("softmax", emitSoftmax);
}
