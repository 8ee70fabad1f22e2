// SPDX-License-Identifier: Apache-2.0
#include "OnnxResize.h"
#include "OnnxRules.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

static LogicalResult emitReshape(GraphBuilder &graph, tosa::ReshapeOp op) {
  Value input = op.getInput1();
  ArrayRef<int64_t> from = typeOf(input).getShape();
  ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
  FailureOr<Layout> layout = graph.layoutOf(op, input);
  if (failed(layout))
    return failure();
  std::optional<Layout> followed = followReshape(from, *layout, to);
  if (!followed) {
    layout = Layout::identity(from.size());
    followed = Layout::identity(to.size());
  }
  FailureOr<std::string> tensor = graph.read(op, input, *layout);
  if (failed(tensor))
    return failure();
  std::string shape =
      graph.addIntegers(nameOf(op.getOutput()) + "/shape",
                        integers(fileShape(followed->apply(to))));
  return graph.replace(op, "Reshape", {*tensor, shape}, *followed);
}

/// Defines the result as the same tensor with permuted axes.
static LogicalResult emitTranspose(GraphBuilder &graph, tosa::TransposeOp op) {
  FailureOr<TensorRef> input = graph.readPlain(op, op.getInput1());
  if (failed(input))
    return failure();
  Layout renamed = input->layout;
  for (int64_t &axis : renamed.permutation)
    axis = llvm::find(op.getPerms(), int32_t(axis)) - op.getPerms().begin();
  graph.define(op.getOutput(), input->name, renamed);
  return success();
}

template <typename Op>
static LogicalResult emitReduction(GraphBuilder &graph, Op op,
                                   StringRef opType) {
  // Merge consecutive reductions along single axes into one; the inner results
  // have no other users then.
  SmallVector<int64_t> reduced{op.getAxis()};
  Value source = op.getInput();
  if (graph.isQdq())
    while (auto first = source.getDefiningOp<Op>()) {
      if (!source.hasOneUse())
        break;
      reduced.push_back(first.getAxis());
      source = first.getInput();
    }
  FailureOr<TensorRef> input = graph.readPlain(op, source);
  if (failed(input))
    return failure();
  std::vector<int64_t> axes;
  for (int64_t axis : reduced)
    axes.push_back(input->layout.axisOf(axis));
  llvm::sort(axes);
  NodeInputs inputs = graph.withAxes(opType, input->name, std::move(axes),
                                     nameOf(op.getOutput()));
  return graph.replace(op, opType, std::move(inputs.names), input->layout,
                       std::move(inputs.attributes));
}

static LogicalResult emitArgMax(GraphBuilder &graph, tosa::ArgMaxOp op) {
  FailureOr<TensorRef> input = graph.readPlain(op, op.getInput());
  if (failed(input))
    return failure();
  int64_t axis = op.getAxis();
  Layout left;
  for (int64_t other : input->layout.permutation)
    if (other != axis)
      left.permutation.push_back(other - (other > axis));
  return graph.replace(
      op, "ArgMax", {input->name}, left,
      {{"axis", input->layout.axisOf(axis)}, {"keepdims", int64_t(0)}});
}

static LogicalResult emitConcat(GraphBuilder &graph, tosa::ConcatOp op) {
  const Layout *present = graph.findLayout(op.getInput1());
  Layout layout = present && present->parts.empty()
                      ? *present
                      : Layout::identity(typeOf(op.getOutput()).getRank());
  FailureOr<std::vector<std::string>> inputs =
      graph.readAll(op, op.getInput1(), layout);
  if (failed(inputs))
    return failure();
  return graph.replace(op, "Concat", std::move(*inputs), layout,
                       {{"axis", layout.axisOf(op.getAxis())}});
}

static LogicalResult emitSlice(GraphBuilder &graph, tosa::SliceOp op) {
  FailureOr<SmallVector<int64_t>> starts = readShape(op, op.getStart());
  if (failed(starts))
    return failure();
  FailureOr<TensorRef> tensor = graph.readPlain(op, op.getInput1());
  if (failed(tensor))
    return failure();
  // Slice only the axes that are cut.
  ArrayRef<int64_t> from = typeOf(op.getInput1()).getShape();
  ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
  std::vector<int64_t> begins, ends, axes;
  for (auto [place, axis] : llvm::enumerate(tensor->layout.permutation)) {
    if (from[axis] == to[axis])
      continue;
    begins.push_back((*starts)[axis]);
    ends.push_back((*starts)[axis] + to[axis]);
    axes.push_back(place);
  }
  if (axes.empty()) {
    graph.define(op.getOutput(), tensor->name, tensor->layout);
    return success();
  }
  std::string name = nameOf(op.getOutput());
  std::vector<std::string> inputs{
      tensor->name, graph.addIntegers(name + "/starts", std::move(begins)),
      graph.addIntegers(name + "/ends", std::move(ends)),
      graph.addIntegers(name + "/axes", std::move(axes))};
  return graph.replace(op, "Slice", std::move(inputs), tensor->layout);
}

static LogicalResult emitReverse(GraphBuilder &graph, tosa::ReverseOp op) {
  FailureOr<TensorRef> tensor = graph.readPlain(op, op.getInput1());
  if (failed(tensor))
    return failure();
  // A slice in steps of -1 from the last element to the one before the first.
  std::vector<std::string> inputs{tensor->name};
  const std::string name = nameOf(op.getOutput());
  for (auto [what, number] : {std::pair("/starts", int64_t(-1)),
                              {"/ends", std::numeric_limits<int64_t>::min()},
                              {"/axes", tensor->layout.axisOf(op.getAxis())},
                              {"/steps", int64_t(-1)}})
    inputs.push_back(graph.addIntegers(name + what, {number}));
  return graph.replace(op, "Slice", std::move(inputs), tensor->layout);
}

/// Writes the rows of a table: [N, K, C] and indices [N, W] to [N, W, C].
static LogicalResult emitGather(GraphBuilder &graph, tosa::GatherOp op) {
  FailureOr<std::string> table =
      graph.read(op, op.getValues(), Layout::identity(3));
  FailureOr<std::string> indices =
      graph.read(op, op.getIndices(), Layout::identity(2));
  if (failed(table) || failed(indices))
    return failure();
  const std::string name = nameOf(op.getOutput());
  const bool isOne = typeOf(op.getValues()).getDimSize(0) == 1;
  std::vector<int64_t> shape =
      integers(fileShape(typeOf(op.getIndices()).getShape()));
  if (isOne)
    shape.erase(shape.begin());
  else
    shape.push_back(1);
  const std::string rows = graph.addNode(
      op, "Reshape", {*indices, graph.addIntegers(name + "/shape", shape)},
      name + "/indices");
  if (isOne)
    return graph.replace(op, "Gather", {*table, rows}, Layout::identity(3),
                         {{"axis", int64_t(1)}});
  return graph.replace(op, "GatherND", {*table, rows}, Layout::identity(3),
                       {{"batch_dims", int64_t(1)}});
}

static LogicalResult emitPad(GraphBuilder &graph, tosa::PadOp op) {
  FailureOr<SmallVector<int64_t>> padding = readShape(op, op.getPadding());
  if (failed(padding))
    return failure();
  std::optional<float> number = readNumber(op.getPadConst());
  if (!number)
    return refuse(op, "is filled with a value that is not a constant");
  FailureOr<TensorRef> tensor = graph.readPlain(op, op.getInput1());
  if (failed(tensor))
    return failure();
  std::vector<int64_t> begins, ends;
  for (int64_t axis : tensor->layout.permutation) {
    begins.push_back((*padding)[2 * axis]);
    ends.push_back((*padding)[2 * axis + 1]);
  }
  llvm::append_range(begins, ends);
  std::string name = nameOf(op.getOutput());
  std::vector<std::string> inputs{
      tensor->name, graph.addIntegers(name + "/pads", std::move(begins)),
      graph.addFloats(name + "/value", {}, {*number})};
  return graph.replace(op, "Pad", std::move(inputs), tensor->layout,
                       {{"mode", std::string("constant")}});
}

/// Returns the forms of a `Resize`, first those that most devices support.
static SmallVector<ResizeForm> listForms(bool isBilinear) {
  if (isBilinear)
    return {{"half_pixel", ""}, {"asymmetric", ""}, {"align_corners", ""}};
  SmallVector<ResizeForm> forms;
  for (StringRef coordinates : {"asymmetric", "half_pixel", "align_corners"})
    for (StringRef nearest :
         {"floor", "round_prefer_floor", "round_prefer_ceil", "ceil"})
      forms.push_back({coordinates, nearest});
  return forms;
}

/// Returns whether the f32 scales give exactly the sizes of the result.
static bool makesSizes(ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                       ArrayRef<float> scales) {
  for (auto [before, after, scale] : llvm::zip_equal(from, to, scales))
    if (float(before) * scale != float(after) ||
        std::floor(double(before) * double(scale)) != double(after))
      return false;
  return true;
}

static LogicalResult emitResize(GraphBuilder &graph, tosa::ResizeOp op) {
  FailureOr<SmallVector<int64_t>> scale = readShape(op, op.getScale());
  FailureOr<SmallVector<int64_t>> offset = readShape(op, op.getOffset());
  if (failed(scale) || failed(offset))
    return failure();
  ArrayRef<int64_t> from = typeOf(op.getInput()).getShape();
  ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
  bool isBilinear = op.getMode() == tosa::ResizeMode::BILINEAR;
  const SmallVector<ResizeForm> forms = listForms(isBilinear);
  const ResizeForm *found = findResize(isBilinear, *scale, *offset,
                                       from.slice(1, 2), to.slice(1, 2), forms);
  if (!found)
    return refuse(op, "reads other positions than any 'Resize' of ONNX");
  FailureOr<std::string> tensor =
      graph.read(op, op.getInput(), Layout::channelsFirst());
  if (failed(tensor))
    return failure();
  std::string name = nameOf(op.getOutput());
  std::vector<NodeAttribute> attributes{
      {"mode", std::string(isBilinear ? "linear" : "nearest")},
      {"coordinate_transformation_mode", found->coordinates.str()}};
  if (!isBilinear)
    attributes.push_back({"nearest_mode", found->nearest.str()});
  float height = float(to[1]) / float(from[1]),
        width = float(to[2]) / float(from[2]);
  std::vector<std::string> inputs{*tensor, ""};
  if (makesSizes(from.slice(1, 2), to.slice(1, 2), {height, width})) {
    inputs.push_back(
        graph.addFloats(name + "/scales", {4}, {1, 1, height, width}));
  } else {
    if (ShapedType::isDynamic(to[0]))
      return refuse(op, "has a ratio of sizes that ONNX takes only for a batch "
                        "that is known");
    inputs.push_back("");
    inputs.push_back(
        graph.addIntegers(name + "/sizes", {to[0], to[3], to[1], to[2]}));
  }
  return graph.replace(op, "Resize", std::move(inputs), Layout::channelsFirst(),
                       std::move(attributes));
}

static LogicalResult emitTile(GraphBuilder &graph, tosa::TileOp op) {
  FailureOr<SmallVector<int64_t>> counts = readShape(op, op.getMultiples());
  if (failed(counts))
    return failure();
  FailureOr<TensorRef> tensor = graph.readPlain(op, op.getInput1());
  if (failed(tensor))
    return failure();
  std::string repeats =
      graph.addIntegers(nameOf(op.getOutput()) + "/repeats",
                        integers(tensor->layout.apply(*counts)));
  return graph.replace(op, "Tile", {tensor->name, repeats}, tensor->layout);
}

void onnx::addShapeRules(Rules &rules) {
  rules.add<tosa::ReshapeOp>(emitReshape);
  rules.add<tosa::TransposeOp>(emitTranspose);
  rules.add<tosa::ReduceSumOp>(emitReduction<tosa::ReduceSumOp>, "ReduceSum");
  rules.add<tosa::ReduceMaxOp>(emitReduction<tosa::ReduceMaxOp>, "ReduceMax");
  rules.add<tosa::ReduceMinOp>(emitReduction<tosa::ReduceMinOp>, "ReduceMin");
  rules.add<tosa::ArgMaxOp>(emitArgMax);
  rules.add<tosa::ConcatOp>(emitConcat);
  rules.add<tosa::SliceOp>(emitSlice);
  rules.add<tosa::ReverseOp>(emitReverse);
  rules.add<tosa::GatherOp>(emitGather);
  rules.add<tosa::PadOp>(emitPad);
  rules.add<tosa::ResizeOp>(emitResize);
  rules.add<tosa::TileOp>(emitTile);
}
