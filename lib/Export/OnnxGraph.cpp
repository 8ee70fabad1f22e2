// SPDX-License-Identifier: Apache-2.0
#include "OnnxGraph.h"
#include "OnnxPoints.h"
#include "OnnxQdq.h"
#include "mct/IR/ConstantTensor.h"
#include "mct/IR/Constants.h"
#include "mct/IR/Names.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

RankedTensorType onnx::typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

SmallVector<int64_t> onnx::fileShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  for (int64_t &size : result)
    if (ShapedType::isDynamic(size))
      size = kDynamic;
  return result;
}

std::optional<Constant> onnx::readConstant(Value value) {
  Constant constant;
  while (auto point = value.getDefiningOp<tpc::QuantizeOp>()) {
    if (!point.isWeight())
      return std::nullopt;
    constant.points.push_back(point);
    value = point.getInput();
  }
  std::optional<ConstantFloats> floats = ConstantFloats::get(value);
  if (!floats)
    return std::nullopt;
  constant.values.assign(floats->values().begin(), floats->values().end());
  constant.shape.assign(floats->shape().begin(), floats->shape().end());
  for (tpc::QuantizeOp point : llvm::reverse(constant.points))
    if (tpc::QuantizerAttrInterface parameters = point.getParametersAttr())
      parameters.fakeQuantize(constant.shape, point.getChannelAxes(),
                              constant.values.data(), constant.values.data());
  return constant;
}

std::optional<float> onnx::readNumber(Value value) {
  std::optional<Constant> constant = readConstant(value);
  if (!constant || constant->values.empty() ||
      !llvm::all_equal(constant->values))
    return std::nullopt;
  return constant->values.front();
}

FailureOr<SmallVector<int64_t>> onnx::readShape(Operation *op, Value shape) {
  SmallVector<int64_t> values;
  if (!shape.getDefiningOp() ||
      !tosa::getConstShapeValues(shape.getDefiningOp(), values)) {
    (void)refuse(op, kUnknownForm);
    return failure();
  }
  return values;
}

std::string onnx::nameOf(Value value) {
  if (StringAttr name = getName(value))
    return name.str();
  return value.getDefiningOp()
             ? value.getDefiningOp()->getName().stripDialect().str()
             : "value";
}

std::vector<int64_t> onnx::integers(ArrayRef<int64_t> values) {
  return std::vector<int64_t>(values.begin(), values.end());
}

std::vector<int64_t> onnx::toPads(ArrayRef<int64_t> pad) {
  return {pad[0], pad[2], pad[1], pad[3]};
}

FailureOr<RankedTensorType> onnx::readArgumentType(BlockArgument argument) {
  auto type = dyn_cast<RankedTensorType>(argument.getType());
  Type element = type ? type.getElementType() : Type();
  const bool isKnown = type && (element.isF32() || element.isInteger(64) ||
                                element.isInteger(32) || element.isInteger(1));
  if (isKnown &&
      llvm::none_of(type.getShape().drop_front(type.getRank() ? 1 : 0),
                    ShapedType::isDynamic))
    return type;
  InFlightDiagnostic error = argument.getOwner()->getParentOp()->emitOpError()
                             << "has argument " << argument.getArgNumber()
                             << " of type " << argument.getType()
                             << ", and a file has tensors of f32, i64, i32 or "
                                "i1 whose sizes are known, the batch apart";
  error.attachNote() << (isKnown
                             ? "import the network with sizes: example_inputs"
                             : "integer networks have no points: export "
                               "the module of before mct-lower-to-integer");
  return failure();
}

ElementType onnx::elementTypeOf(Value value) {
  Type type = typeOf(value).getElementType();
  if (type.isInteger(1))
    return ElementType::Bool;
  return isa<IntegerType>(type) ? ElementType::Int64 : ElementType::Float;
}

LogicalResult onnx::refuse(Operation *op, const Twine &why) {
  InFlightDiagnostic error = op->emitOpError() << why;
  error.attachNote() << "mct-opt runs the passes that bring importers' forms "
                        "into those that are known: mct-prepare; what stays "
                        "has to be computed outside of the network"
                     << support::kTroubleshooting
                     << "an-op-cannot-be-exported-to-onnx";
  return failure();
}

//===----------------------------------------------------------------------===//
// Nodes and constants
//===----------------------------------------------------------------------===//

int64_t GraphBuilder::getOperatorSet() const {
  // 20 is the largest set that the camera's tools support, and the first with
  // GELU; 21 is the first with scales of blocks and integers of 4 and 16 bits.
  if (options.operatorSet)
    return options.operatorSet;
  return isQdq() ? 21 : 20;
}

std::string GraphBuilder::makeName(const Twine &requested) {
  std::string name = requested.str();
  for (unsigned number = 1; !names.insert(name).second; ++number)
    name = (requested + "_" + Twine(number)).str();
  return name;
}

std::string GraphBuilder::addFloats(const Twine &name, ArrayRef<int64_t> shape,
                                    std::vector<float> values) {
  Tensor tensor;
  tensor.name = makeName(name);
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.floats = std::move(values);
  model.graph.initializers.push_back(std::move(tensor));
  return model.graph.initializers.back().name;
}

std::string GraphBuilder::addPacked(const Twine &name, ElementType type,
                                    ArrayRef<int64_t> shape,
                                    llvm::function_ref<int64_t(int64_t)> get) {
  Tensor tensor;
  tensor.name = makeName(name);
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.pack(get);
  model.graph.initializers.push_back(std::move(tensor));
  return model.graph.initializers.back().name;
}

std::string GraphBuilder::addIntegers(const Twine &name,
                                      std::vector<int64_t> values) {
  return addPacked(name, ElementType::Int64, {int64_t(values.size())},
                   [&](int64_t i) { return values[i]; });
}

std::string GraphBuilder::addNode(Operation *source, StringRef opType,
                                  std::vector<std::string> inputs,
                                  const Twine &name,
                                  std::vector<NodeAttribute> attributes,
                                  StringRef domain) {
  Node node;
  node.name = makeName(name);
  node.opType = opType.str();
  node.domain = domain.str();
  node.inputs = std::move(inputs);
  node.outputs = {node.name};
  node.attributes = std::move(attributes);
  node.source = source;
  model.graph.nodes.push_back(std::move(node));
  return model.graph.nodes.back().name;
}

NodeInputs GraphBuilder::withAxes(StringRef opType, const std::string &tensor,
                                  std::vector<int64_t> axes,
                                  const Twine &name) {
  const int64_t firstSet = opType == "ReduceSum" ? 13 : 18;
  if (getOperatorSet() < firstSet)
    return {{tensor}, {{"axes", std::move(axes)}}};
  return {{tensor, addIntegers(name + "/axes", std::move(axes))}, {}};
}

void GraphBuilder::define(Value value, std::string name, Layout layout) {
  shapes[name] = fileShape(layout.apply(typeOf(value).getShape()));
  known[value].push_back({std::move(name), std::move(layout)});
}

LogicalResult GraphBuilder::replace(Operation *op, StringRef opType,
                                    std::vector<std::string> inputs,
                                    Layout layout,
                                    std::vector<NodeAttribute> attributes) {
  Value result = op->getResult(0);
  define(result,
         addNode(op, opType, std::move(inputs), nameOf(result),
                 std::move(attributes)),
         std::move(layout));
  return success();
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Adds the nodes that convert a tensor to another order.
std::string GraphBuilder::makeTransposed(Value value, const TensorRef &from,
                                         const Layout &requested) {
  Operation *source = value.getDefiningOp();
  if (!source)
    source = function;
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  std::string name = from.name;
  Layout layout = from.layout;
  auto reshape = [&](ArrayRef<int64_t> sizes) {
    name = addNode(
        source, "Reshape",
        {name, addIntegers(from.name + "/shape", integers(fileShape(sizes)))},
        from.name + "/reshaped");
  };
  auto transpose = [&](ArrayRef<int64_t> axes) {
    name = addNode(source, "Transpose", {name}, from.name + "/transposed",
                   {{"perm", integers(axes)}});
  };
  if (!layout.parts.empty() && layout != requested) {
    // Restore the flattened image, with its axes in the order of the value.
    SmallVector<int64_t> sizes(shape.drop_back()), axes;
    size_t lead = sizes.size();
    for (int64_t part : layout.partOrder)
      sizes.push_back(layout.parts[part]);
    reshape(sizes);
    for (size_t i = 0; i < lead; ++i)
      axes.push_back(i);
    for (size_t part = 0; part < layout.parts.size(); ++part)
      axes.push_back(lead + (llvm::find(layout.partOrder, int64_t(part)) -
                             layout.partOrder.begin()));
    transpose(axes);
    reshape(shape);
    layout = Layout::identity(shape.size());
  }
  if (haveSameOrder(shape, layout, requested)) {
    if (layout != requested)
      reshape(requested.apply(shape));
    return name;
  }
  SmallVector<int64_t> axes;
  for (int64_t axis : requested.permutation)
    axes.push_back(layout.axisOf(axis));
  transpose(axes);
  return name;
}

const Layout *GraphBuilder::findLayout(ValueRange values) const {
  for (Value value : values)
    if (auto found = known.find(value); found != known.end())
      return &found->second.front().layout;
  return nullptr;
}

FailureOr<Layout> GraphBuilder::layoutOf(Operation *user, Value value) {
  if (const Layout *layout = findLayout(value))
    return *layout;
  if (readConstant(value) || ConstantTensor::get(value))
    return Layout::identity(typeOf(value).getRank());
  (void)refuse(user, "has an operand that is neither computed here nor a "
                     "constant");
  return failure();
}

FailureOr<Layout> GraphBuilder::plainLayoutOf(Operation *user, Value value) {
  FailureOr<Layout> layout = layoutOf(user, value);
  if (succeeded(layout) && !layout->parts.empty())
    layout = Layout::identity(layout->permutation.size());
  return layout;
}

FailureOr<std::string> GraphBuilder::read(Operation *user, Value value,
                                          const Layout &layout) {
  auto found = known.find(value);
  if (found != known.end()) {
    for (const TensorRef &tensor : found->second)
      if (tensor.layout == layout)
        return tensor.name;
    TensorRef made{makeTransposed(value, found->second.front(), layout),
                   layout};
    shapes[made.name] = fileShape(layout.apply(typeOf(value).getShape()));
    found->second.push_back(made);
    return made.name;
  }
  std::optional<Constant> constant = readConstant(value);
  std::optional<ConstantTensor> tensor;
  if (!constant)
    tensor = ConstantTensor::get(value);
  if (!constant && !tensor) {
    (void)refuse(user, "has an operand that is neither computed here nor a "
                       "constant");
    return failure();
  }
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  std::vector<int64_t> elements = mapElements(shape, layout.permutation);
  int64_t last = shape.empty() ? 1 : shape.back();
  if (!layout.parts.empty() && last != 1) {
    // A constant has the size of the value with which it is combined, or size
    // one.
    std::vector<int64_t> parts = mapParts(layout, last);
    for (int64_t &element : elements)
      element = element / last * last + parts[element % last];
  }
  // The name of a result of the function must not be used for a constant.
  std::string name = user->getNumResults() == 0
                         ? nameOf(value)
                         : nameOf(user->getResult(0)) + "/constant";
  if (constant)
    return writeConstant(user, *constant, name, layout.apply(shape), elements,
                         /*isKernel=*/false);
  const std::vector<int64_t> stored = tensor->decode<int64_t>();
  return addPacked(
      name, elementTypeOf(value), layout.apply(shape),
      [&](int64_t i) { return stored[stored.size() == 1 ? 0 : elements[i]]; });
}

FailureOr<std::vector<std::string>>
GraphBuilder::readAll(Operation *user, ValueRange values,
                      const Layout &layout) {
  std::vector<std::string> names;
  for (Value value : values) {
    FailureOr<std::string> name = read(user, value, layout);
    if (failed(name))
      return failure();
    names.push_back(std::move(*name));
  }
  return names;
}

FailureOr<TensorRef> GraphBuilder::read(Operation *user, Value value) {
  return readAs(user, value, layoutOf(user, value));
}

FailureOr<TensorRef> GraphBuilder::readPlain(Operation *user, Value value) {
  return readAs(user, value, plainLayoutOf(user, value));
}

FailureOr<TensorRef> GraphBuilder::readAs(Operation *user, Value value,
                                          FailureOr<Layout> layout) {
  if (failed(layout))
    return failure();
  FailureOr<std::string> name = read(user, value, *layout);
  if (failed(name))
    return failure();
  return TensorRef{*name, *layout};
}

FailureOr<std::string>
GraphBuilder::writeConstant(Operation *user, const Constant &constant,
                            const Twine &name, ArrayRef<int64_t> shape,
                            ArrayRef<int64_t> elements, bool isKernel) {
  tpc::QuantizeOp point;
  for (tpc::QuantizeOp candidate : constant.points)
    if (candidate.getParametersAttr()) {
      point = candidate;
      break;
    }
  if (isKernel && !point && limits) {
    InFlightDiagnostic error = user->emitOpError()
                               << "has a kernel that is not quantized; "
                               << limits.describeWeights();
    if (tpc::QuantizeOp empty =
            constant.points.empty() ? point : constant.points.front())
      error.attachNote(empty.getLoc())
          << "its point has no parameters: run mct-select-weight-parameters";
    else
      error.attachNote() << "no point stands on it: tpc-explain says why, "
                            "overrides change it";
    return failure();
  }
  if (point && isQdq())
    return writeQdqWeights(
        *this, point, constant, shape, elements,
        !isa<tosa::AddOp, tosa::MulOp, tosa::ConcatOp>(user));
  std::vector<float> values;
  values.reserve(elements.size());
  for (int64_t element : elements)
    values.push_back(constant.values[element]);
  std::string tensor = addFloats(point ? Twine(point.getUniqueName()) : name,
                                 shape, std::move(values));
  weightBits += int64_t(elements.size()) *
                (point ? point.getParametersAttr().getBits() : 32);
  if (!point)
    return tensor;
  return quantizeWeights(*this, point, tensor, constant.shape, shape, elements);
}

FailureOr<std::array<std::string, 2>>
GraphBuilder::writeLayer(Operation *user, const KernelOp &layer,
                         Constant kernel, ArrayRef<float> bias,
                         const Twine &name, ArrayRef<int64_t> shape,
                         ArrayRef<int64_t> elements) {
  std::optional<BiasCodes> codes;
  if (isQdq())
    codes = findBiasCodes(layer, bias);
  // Kernels of layers that are computed with real numbers are real numbers.
  if (codes && !codes->isInteger)
    kernel.points.clear();
  FailureOr<std::string> weights = writeConstant(
      user, kernel, name + "/kernel", shape, elements, /*isKernel=*/true);
  if (failed(weights))
    return failure();
  weightBits += 32 * int64_t(bias.size());
  return std::array{
      *weights,
      codes ? writeBiasCodes(*this, layer, *codes, name + "/bias")
            : addFloats(name + "/bias", {int64_t(bias.size())}, bias.vec())};
}
