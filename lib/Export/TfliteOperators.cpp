// SPDX-License-Identifier: Apache-2.0
//
// Operators that TOSA expresses by several ops.
#include "TfliteGraph.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "tpc_dialect/Lookup/TpcLookup.h"
#include <limits>

using namespace mlir;

namespace mct::tflite {

using MaybeTensor = std::optional<int64_t>;

/// Returns the number that is one of the operands of a binary op, or none.
static std::optional<float> findNumber(Operation *op) {
  if (op)
    for (Value operand : op->getOperands().take_front(2))
      if (std::optional<float> number = onnx::readNumber(operand))
        return number;
  return std::nullopt;
}

/// Writes an operator of one value, whose 8-bit codes may have any grids.
static Written writeUnary(GraphBuilder &graph, const onnx::Operator &matched,
                          Form form, const RequestedForm &requested) {
  Operation *root = matched.root();
  if (!matched.input || matched.input.getType() != root->getResult(0).getType())
    return MaybeTensor();
  if (requested.isCodes() && requested.encoding->storageBits != 8)
    return MaybeTensor(graph.decline("makes codes of 16 bits"));
  // HARD_SWISH has supported codes since its first version.
  if (requested.isCodes() && form.code != "HARD_SWISH")
    form.version = 2;
  return writeOnOwnGrids(graph, root, matched.input, form, requested);
}

/// Writes the input clamped to [0, bound].
static Written writePositive(GraphBuilder &graph, const onnx::Operator &matched,
                             double bound, const RequestedForm &requested) {
  Operation *root = matched.root();
  if (!requested.isCodes())
    return writeLimits(graph, root, matched.input, 0, bound, requested);
  Encoding limited = *requested.encoding;
  limited.low = std::max(limited.low, limited.quantize(0));
  limited.high = std::min(limited.high, limited.quantize(float(bound)));
  limited.low = std::min(limited.low, limited.high);
  FailureOr<int64_t> codes =
      graph.makeCodes(root, matched.input, limited, requested.name);
  if (failed(codes))
    return failure();
  return MaybeTensor(*codes);
}

static Written writeDivision(GraphBuilder &graph, const onnx::Operator &matched,
                             const RequestedForm &requested) {
  Operation *root = matched.root(), *inverse = matched.ops.front();
  if (requested.isCodes())
    return MaybeTensor();
  bool isFirst = root->getOperand(0) == inverse->getResult(0);
  return writeOnOwnGrids(
      graph, root, {root->getOperand(isFirst ? 1 : 0), inverse->getOperand(0)},
      {"DIV", 1, "DivOptions", {}, true}, requested);
}

static Written writeSoftmax(GraphBuilder &graph, const onnx::Operator &matched,
                            const RequestedForm &requested) {
  Operation *root = matched.root();
  auto largest = dyn_cast_or_null<tosa::ReduceMaxOp>(
      matched.find(tosa::ReduceMaxOp::getOperationName()));
  if (!largest || largest.getInput() != matched.input ||
      root->getResult(0).getType() != matched.input.getType() ||
      int64_t(largest.getAxis()) != onnx::typeOf(matched.input).getRank() - 1)
    return MaybeTensor();
  Form form{"SOFTMAX",
            requested.isCodes() ? 2 : 1,
            "SoftmaxOptions",
            {{"beta", 1.0}}};
  return writeOnFixedGrid(graph, root, matched.input, form, 0x1p-8, -128,
                          requested);
}

static Written writeDenseOperator(GraphBuilder &graph,
                                  const onnx::Operator &matched,
                                  const RequestedForm &requested) {
  Operation *product = matched.find(tosa::MatMulOp::getOperationName());
  if (!product)
    product = matched.find(tosa::Conv2DOp::getOperationName());
  Value result = matched.root()->getResult(0);
  const KernelOp *layer = nullptr;
  for (Operation *op : matched.ops)
    if (const KernelOp *found = graph.findLayer(op->getResult(0));
        found && found->getOperation() == product)
      layer = found;
  if (!layer || !matched.input || onnx::typeOf(matched.input).getRank() != 2 ||
      onnx::typeOf(result).getRank() != 2 ||
      onnx::typeOf(matched.input).getShape().back() !=
          layer->numInputChannels() ||
      (isa<tosa::MatMulOp>(product) &&
       onnx::typeOf(layer->getKernelOperand().get()).getDimSize(0) != 1))
    return MaybeTensor();
  return writeDense(graph, *layer, matched.input, result, requested);
}

static Written writeMean(GraphBuilder &graph, const onnx::Operator &matched,
                         const RequestedForm &requested) {
  // Sums along axes of the input in a row, followed by reshapes and the
  // division.
  SmallVector<int64_t> axes;
  Value value = matched.input;
  ArrayRef<int64_t> from = onnx::typeOf(matched.input).getShape();
  for (Operation *op : matched.ops) {
    if (!isa<tosa::ReduceSumOp, tosa::MulOp, tosa::ReshapeOp>(op) ||
        op->getOperand(0) != value)
      return MaybeTensor();
    if (auto sum = dyn_cast<tosa::ReduceSumOp>(op)) {
      if (onnx::typeOf(value).getShape().size() != from.size())
        return MaybeTensor();
      axes.push_back(sum.getAxis());
    }
    value = op->getResult(0);
  }
  llvm::sort(axes);
  SmallVector<int64_t> kept(from);
  for (int64_t axis : axes)
    kept[axis] = 1;
  ArrayRef<int64_t> to = onnx::typeOf(value).getShape();
  RequestedForm inner = requested;
  bool isReshaped = kept != SmallVector<int64_t>(to);
  if (isReshaped)
    inner.name += "/mean";
  bool isImage = axes == SmallVector<int64_t>{1, 2} && from.size() == 4;
  if (requested.isCodes() && isImage && requested.encoding->storageBits == 8) {
    Written written = writeWindowSum(
        graph, matched.root(), matched.input, from.slice(1, 2),
        /*stride=*/{1, 1}, kept, 1.0 / double(from[1] * from[2]), inner);
    if (failed(written))
      return failure();
    if (*written)
      return MaybeTensor(isReshaped
                             ? graph.reshape(**written, to, requested.name)
                             : **written);
  }
  Form form{"MEAN",
            requested.isCodes() ? 2 : 1,
            "ReducerOptions",
            {{"keep_dims", true}}};
  Written read = graph.readOnOwnGrid(matched.root(), matched.input, requested);
  if (failed(read) || !*read)
    return read;
  int64_t list = graph.addList(requested.name + "/axes", axes);
  int64_t tensor = graph.write(form, {**read, list}, kept, inner);
  return MaybeTensor(isReshaped ? graph.reshape(tensor, to, requested.name)
                                : tensor);
}

static Written writeLeakyRelu(GraphBuilder &graph,
                              const onnx::Operator &matched,
                              const RequestedForm &requested) {
  std::optional<float> slope =
      findNumber(matched.find(tosa::MulOp::getOperationName()));
  if (!slope)
    return MaybeTensor();
  return writeUnary(
      graph, matched,
      {"LEAKY_RELU", 1, "LeakyReluOptions", {{"alpha", double(*slope)}}},
      requested);
}

/// Writes a ReLU with a table of slopes, whose codes have a grid of their own.
static Written writePrelu(GraphBuilder &graph, const onnx::Operator &matched,
                          const RequestedForm &requested) {
  Operation *root = matched.root(),
            *product = matched.find(tosa::MulOp::getOperationName());
  if (matched.input.getType() != root->getResult(0).getType())
    return MaybeTensor();
  if (requested.isCodes() && requested.encoding->storageBits != 8)
    return MaybeTensor(graph.decline("makes codes of 16 bits"));
  Value slopes = product->getOperand(0);
  if (!tpc::getConstantOp(slopes))
    slopes = product->getOperand(1);
  return writeOnOwnGrids(graph, root, {matched.input, slopes}, {"PRELU"},
                         requested);
}

Written writeOperator(GraphBuilder &graph, const onnx::Operator &matched,
                      const RequestedForm &requested) {
  StringRef name = matched.name;
  if (name == "fully_connected")
    return writeDenseOperator(graph, matched, requested);
  if (!matched.input && name != "div")
    return MaybeTensor();
  if (name == "relu")
    return writePositive(graph, matched, std::numeric_limits<float>::max(),
                         requested);
  if (name == "relu6" || name == "hard_tanh") {
    std::optional<float> bound = findNumber(matched.root());
    return bound ? writePositive(graph, matched, *bound, requested)
                 : Written(MaybeTensor());
  }
  if (name == "leaky_relu")
    return writeLeakyRelu(graph, matched, requested);
  if (name == "prelu")
    return writePrelu(graph, matched, requested);
  if (name == "hard_swish")
    return writeUnary(graph, matched, {"HARD_SWISH", 1, "HardSwishOptions"},
                      requested);
  if (name == "gelu")
    return writeUnary(
        graph, matched,
        {"GELU",
         1,
         "GeluOptions",
         {{"approximate",
           matched.find(tosa::TanhOp::getOperationName()) != nullptr}}},
        requested);
  if (name == "mean" || name == "global_avg_pool")
    return writeMean(graph, matched, requested);
  if (name == "softmax")
    return writeSoftmax(graph, matched, requested);
  if (name == "div")
    return writeDivision(graph, matched, requested);
  // Other operators are written op by op.
  return MaybeTensor();
}

} // namespace mct::tflite
