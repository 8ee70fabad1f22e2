// SPDX-License-Identifier: Apache-2.0
#include "OnnxRules.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

/// Returns the constant of a kernel [O, KH, KW, I] with zeros around its
/// windows; `pads`: at the top, at the bottom, at the left, at the right. None
/// if its quantizer has no zero, or has channels along the windows.
static std::optional<Constant> addZeros(const Constant &kernel,
                                        ArrayRef<int64_t> pads) {
  Constant result;
  result.shape = kernel.shape;
  result.points = kernel.points;
  result.shape[1] += pads[0] + pads[1];
  result.shape[2] += pads[2] + pads[3];
  result.values.assign(llvm::product_of(result.shape), 0);
  const int64_t inputs = kernel.shape[3];
  for (int64_t row = 0; row < kernel.shape[0] * kernel.shape[1]; ++row)
    for (int64_t column = 0; column < kernel.shape[2]; ++column) {
      int64_t place = row / kernel.shape[1] * result.shape[1] +
                      row % kernel.shape[1] + pads[0];
      place = place * result.shape[2] + column + pads[2];
      std::copy_n(kernel.values.begin() +
                      (row * kernel.shape[2] + column) * inputs,
                  inputs, result.values.begin() + place * inputs);
    }
  for (tpc::QuantizeOp point : kernel.points) {
    tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
    if (!parameters)
      continue;
    if (llvm::any_of(point.getChannelAxes(),
                     [](int64_t axis) { return axis == 1 || axis == 2; }))
      return std::nullopt;
    std::vector<float> levels(result.values.size());
    parameters.fakeQuantize(result.shape, point.getChannelAxes(),
                            result.values.data(), levels.data());
    if (levels != result.values)
      return std::nullopt;
  }
  return result;
}

/// Converts the padding of a transposed convolution to attributes of ONNX. TOSA
/// adds to the result where the pads of ONNX are subtracted from it; ONNX adds
/// at the ends only, and ONNX Runtime less than the stride. Elsewhere, zeros in
/// the kernel have the same effect.
static LogicalResult padTransposed(Operation *op, const KernelOp &layer,
                                   Constant &kernel,
                                   std::vector<NodeAttribute> &attributes) {
  ArrayRef<int64_t> padding = layer.getPadding();
  SmallVector<int64_t> zeros(4), pads, added;
  for (unsigned side : {0, 2, 1, 3}) {
    const int64_t size = std::max<int64_t>(0, padding[side]);
    const bool isEnd = side % 2,
               isAdded = isEnd && size < layer.getStrides()[side / 2];
    pads.push_back(std::max<int64_t>(0, -padding[side]));
    if (isEnd)
      added.push_back(isAdded ? size : 0);
    if (!isAdded)
      zeros[side] = size;
  }
  attributes.push_back({"pads", integers(pads)});
  attributes.push_back({"output_padding", integers(added)});
  if (llvm::all_of(zeros, [](int64_t size) { return size == 0; }))
    return success();
  std::optional<Constant> extended = addZeros(kernel, zeros);
  if (!extended)
    return refuse(op, "adds to its result where ONNX has no way but zeros in "
                      "the kernel, and the quantizer of its kernel has none");
  kernel = std::move(*extended);
  return success();
}

static LogicalResult emitConvolution(GraphBuilder &graph, Operation *op) {
  std::optional<KernelOp> layer = graph.kernels.get(op);
  std::optional<Constant> kernel = readConstant(op->getOperand(1));
  std::optional<std::vector<float>> bias;
  if (layer)
    bias = layer->getBias();
  if (!layer || !kernel || !bias)
    return refuse(op, "has a kernel or bias that is not an f32 constant");
  FailureOr<std::string> input =
      graph.read(op, op->getOperand(0), Layout::channelsFirst());
  if (failed(input))
    return failure();
  const bool isTransposed = isa<tosa::TransposeConv2DOp>(op);
  std::vector<NodeAttribute> padding;
  if (!isTransposed)
    padding = {{"pads", toPads(layer->getPadding())},
               {"dilations", integers(layer->getDilations())}};
  else if (failed(padTransposed(op, *layer, *kernel, padding)))
    return failure();
  ArrayRef<int64_t> sizes = kernel->shape;
  std::vector<int64_t> elements;
  SmallVector<int64_t> shape;
  int64_t group = 1;
  if (isa<tosa::DepthwiseConv2DOp>(op)) {
    // The kernel is [KH, KW, C, M], with output channel c * M + m.
    elements = mapElements(sizes, {2, 3, 0, 1});
    shape = {sizes[2] * sizes[3], 1, sizes[0], sizes[1]};
    group = sizes[2];
  } else if (isTransposed) {
    elements = mapElements(sizes, {3, 0, 1, 2});
    shape = {sizes[3], sizes[0], sizes[1], sizes[2]};
  } else {
    elements = mapElements(sizes, {0, 3, 1, 2});
    shape = {sizes[0], sizes[3], sizes[1], sizes[2]};
  }
  auto constants = graph.writeLayer(op, *layer, *kernel, *bias,
                                    nameOf(op->getResult(0)), shape, elements);
  if (failed(constants))
    return failure();
  std::vector<NodeAttribute> attributes{
      {"kernel_shape", integers(ArrayRef(shape).drop_front(2))},
      {"strides", integers(layer->getStrides())},
      {"group", group}};
  llvm::append_range(attributes, padding);
  return graph.replace(op, isTransposed ? "ConvTranspose" : "Conv",
                       {*input, (*constants)[0], (*constants)[1]},
                       Layout::channelsFirst(), std::move(attributes));
}

/// Writes the product of one matrix's rows and a kernel, including the addition
/// of its bias, as one integer layer. Runtimes support such a layer for
/// matrices only, and not for three axes. Returns whether the op was written in
/// this way.
static FailureOr<bool> emitRows(GraphBuilder &graph, tosa::MatMulOp op) {
  std::optional<KernelOp> layer = graph.kernels.get(op);
  std::optional<Constant> kernel = readConstant(op.getB());
  if (!layer || !kernel || layer->getResult() == op.getOutput() ||
      !findGrid(layer->getInput().get()))
    return false;
  std::optional<std::vector<float>> bias = layer->getBias();
  Value result = layer->getResult();
  tpc::QuantizeOp point = layer->getKernelPoint();
  if (!bias || !point || !point.getParametersAttr())
    return false;
  FailureOr<std::string> input = graph.read(op, op.getA(), Layout::identity(3));
  if (failed(input))
    return failure();
  const int64_t rows = kernel->shape[1], columns = kernel->shape[2];
  std::vector<int64_t> elements;
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t row = 0; row < rows; ++row)
      elements.push_back(row * columns + column);
  const std::string name = nameOf(result);
  auto constants = graph.writeLayer(op, *layer, *kernel, *bias, name,
                                    {columns, rows}, elements);
  if (failed(constants))
    return failure();
  auto reshape = [&](const std::string &tensor, std::vector<int64_t> sizes,
                     const Twine &label) {
    return graph.addNode(
        op, "Reshape",
        {tensor, graph.addIntegers(label + "/shape", std::move(sizes))}, label);
  };
  std::string matrix = reshape(*input, {-1, rows}, name + "/rows");
  std::vector<std::string> inputs{matrix, (*constants)[0], (*constants)[1]};
  std::string product =
      graph.addNode(op, "Gemm", std::move(inputs), name + "/product",
                    {{"transB", int64_t(1)}});
  graph.shapes[matrix] = {kDynamic, rows};
  graph.shapes[product] = {kDynamic, columns};
  ArrayRef<int64_t> shape = typeOf(result).getShape();
  graph.define(result, reshape(product, integers(fileShape(shape)), name),
               Layout::identity(shape.size()));
  for (Operation *part = result.getDefiningOp(); part != op;) {
    graph.written.insert(part);
    // The addition, perhaps after a reshape.
    Operation *next = nullptr;
    for (Value operand : part->getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && (producer == op || isa<tosa::ReshapeOp>(producer)) &&
          !readConstant(operand))
        next = producer;
    part = next;
  }
  return true;
}

static LogicalResult emitMatMul(GraphBuilder &graph, tosa::MatMulOp op) {
  if (graph.isQdq()) {
    FailureOr<bool> isEmitted = emitRows(graph, op);
    if (failed(isEmitted) || *isEmitted)
      return success(succeeded(isEmitted));
  }
  FailureOr<Layout> layout = graph.layoutOf(op, op.getA());
  if (failed(layout))
    return failure();
  if (layout->permutation != Layout::identity(3).permutation)
    layout = Layout::identity(3);
  std::string name = nameOf(op.getOutput());
  std::optional<Constant> kernel = readConstant(op.getB());
  FailureOr<std::string> rhs;
  if (kernel && kernel->shape[0] == 1) {
    // [K, M], with the rows in the order of the features.
    int64_t rows = kernel->shape[1], columns = kernel->shape[2];
    std::vector<int64_t> elements;
    for (int64_t row : mapParts(*layout, rows))
      for (int64_t column = 0; column < columns; ++column)
        elements.push_back(row * columns + column);
    rhs = graph.writeConstant(op, *kernel, name + "/kernel", {rows, columns},
                              elements, /*isKernel=*/true);
  } else {
    layout = Layout::identity(3);
    rhs = graph.read(op, op.getB(), *layout);
  }
  FailureOr<std::string> lhs = graph.read(op, op.getA(), *layout);
  if (failed(lhs) || failed(rhs))
    return failure();
  return graph.replace(op, "MatMul", {*lhs, *rhs}, Layout::identity(3));
}

template <typename Op>
static LogicalResult emitPool(GraphBuilder &graph, Op op, StringRef opType) {
  FailureOr<std::string> input =
      graph.read(op, op.getInput(), Layout::channelsFirst());
  if (failed(input))
    return failure();
  ArrayRef<int64_t> image = typeOf(op.getInput()).getShape();
  bool isGlobal =
      opType == "AveragePool" && op.getKernel() == image.slice(1, 2) &&
      llvm::all_of(op.getPad(), [](int64_t size) { return size == 0; });
  if (isGlobal)
    return graph.replace(op, "GlobalAveragePool", {*input},
                         Layout::channelsFirst());
  return graph.replace(op, opType, {*input}, Layout::channelsFirst(),
                       {{"kernel_shape", integers(op.getKernel())},
                        {"strides", integers(op.getStride())},
                        {"pads", toPads(op.getPad())}});
}

void onnx::addLayerRules(Rules &rules) {
  rules.add<tosa::Conv2DOp>(emitConvolution);
  rules.add<tosa::DepthwiseConv2DOp>(emitConvolution);
  rules.add<tosa::TransposeConv2DOp>(emitConvolution);
  rules.add<tosa::MatMulOp>(emitMatMul);
  rules.add<tosa::MaxPool2dOp>(emitPool<tosa::MaxPool2dOp>, "MaxPool");
  rules.add<tosa::AvgPool2dOp>(emitPool<tosa::AvgPool2dOp>, "AveragePool");
}
