// SPDX-License-Identifier: Apache-2.0
#include "OnnxChecks.h"
#include "OnnxLayout.h"
#include "OnnxModel.h"
#include "OnnxOperators.h"
#include "OnnxResize.h"
#include "ShiftPoints.h"
#include "mct/Execution/Evaluation.h"
#include "mct/Export/Onnx.h"
#include "mct/IR/Constants.h"
#include "mct/IR/EntryFunction.h"
#include "mct/IR/FrozenPoints.h"
#include "mct/IR/Names.h"
#include "mct/IR/Preprocessing.h"
#include "mct/Planning/KernelOp.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "tpc_dialect/IR/TpcDialect.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/JSON.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mct;
using namespace mct::onnx;

// Of the package whose ops the points become.
static constexpr StringLiteral kQuantizerDomain = "mct_quantizers";
static constexpr StringLiteral kQuantizerVersion = "1.6.0";
// The largest operator set that the camera's tools read, and the first with
// GELU.
static constexpr int64_t kOperatorSet = 20;
static constexpr int64_t kIrVersion = 9;
// What weights, biases and activations share on the camera.
static constexpr int64_t kImx500Bytes = 8 << 20;

static constexpr StringLiteral kUnknownForm =
    "has no form in ONNX that is known here";

namespace {
/// A tensor of the file with the elements of a value.
struct Known {
  std::string name;
  Layout layout;
};

/// A constant, looking through its points.
struct Constant {
  SmallVector<tpc::QuantizeOp, 1> points;
  /// On the levels of the points.
  std::vector<float> values;
  SmallVector<int64_t> shape;
};

/// One op of ONNX for one of TOSA that computes element by element.
struct Elementwise {
  StringLiteral tosa, onnx;
};
} // namespace

static constexpr Elementwise kElementwise[] = {
    {"tosa.abs", "Abs"},
    {"tosa.add", "Add"},
    {"tosa.ceil", "Ceil"},
    {"tosa.cos", "Cos"},
    {"tosa.equal", "Equal"},
    {"tosa.erf", "Erf"},
    {"tosa.exp", "Exp"},
    {"tosa.floor", "Floor"},
    {"tosa.greater", "Greater"},
    {"tosa.greater_equal", "GreaterOrEqual"},
    {"tosa.log", "Log"},
    {"tosa.maximum", "Max"},
    {"tosa.minimum", "Min"},
    {"tosa.mul", "Mul"},
    {"tosa.negate", "Neg"},
    {"tosa.pow", "Pow"},
    {"tosa.reciprocal", "Reciprocal"},
    {"tosa.select", "Where"},
    {"tosa.sigmoid", "Sigmoid"},
    {"tosa.sin", "Sin"},
    {"tosa.sub", "Sub"},
    {"tosa.tanh", "Tanh"}};

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static ElementType elementTypeOf(Value value) {
  Type type = typeOf(value).getElementType();
  if (type.isInteger(1))
    return ElementType::Bool;
  return isa<IntegerType>(type) ? ElementType::Int64 : ElementType::Float;
}

/// A shape of a type as the file has it.
static SmallVector<int64_t> fileShape(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> result(shape);
  for (int64_t &size : result)
    if (ShapedType::isDynamic(size))
      size = kDynamic;
  return result;
}

static std::optional<Constant> readConstant(Value value) {
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

/// The number that a constant is everywhere, or none.
static std::optional<float> readNumber(Value value) {
  std::optional<Constant> constant = readConstant(value);
  if (!constant || constant->values.empty() ||
      !llvm::all_equal(constant->values))
    return std::nullopt;
  return constant->values.front();
}

static std::vector<int64_t> integers(ArrayRef<int64_t> values) {
  return std::vector<int64_t>(values.begin(), values.end());
}

/// ONNX has both begins before both ends, TOSA has them in pairs.
static std::vector<int64_t> padsOf(ArrayRef<int64_t> pad) {
  return {pad[0], pad[2], pad[1], pad[3]};
}

/// Tells readers of the file of a tensor whose axes are in another order than
/// those of the value, as `axes.NAME`: axis i of the tensor is axis i-th of the
/// list.
static void recordAxes(Model &model, const std::string &name,
                       const Layout &layout) {
  if (layout.isIdentity())
    return;
  std::string axes;
  llvm::raw_string_ostream os(axes);
  llvm::interleave(layout.permutation, os, ",");
  model.metadata.push_back({"axes." + name, axes});
}

/// Looks for what reads a value of rank 4 as an image [N, H, W, C], through ops
/// that leave its axes alone.
static bool isReadAsImage(Value value) {
  SmallVector<Value> open{value};
  llvm::DenseSet<Value> seen;
  while (!open.empty()) {
    Value next = open.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    for (Operation *user : next.getUsers()) {
      if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
              tosa::MaxPool2dOp, tosa::AvgPool2dOp, tosa::ResizeOp>(user))
        return true;
      if (isa<tosa::TransposeOp>(user))
        continue;
      for (Value result : user->getResults())
        if (auto type = dyn_cast<RankedTensorType>(result.getType());
            type && type.getRank() == 4)
          open.push_back(result);
    }
  }
  return false;
}

//===----------------------------------------------------------------------===//
// The exporter
//===----------------------------------------------------------------------===//

namespace {
class Exporter {
public:
  Exporter(func::FuncOp function, const OnnxOptions &options)
      : function(function), options(options),
        kernels(function->getParentOfType<ModuleOp>()) {}

  FailureOr<Model> run();

private:
  bool isForImx500() const { return options.profile == OnnxProfile::Imx500; }

  // Names and nodes.
  std::string makeName(const Twine &wanted);
  std::string nameOf(Value value);
  std::string addFloats(const Twine &name, ArrayRef<int64_t> shape,
                        std::vector<float> values);
  std::string addIntegers(const Twine &name, std::vector<int64_t> values);
  /// The name of its result.
  std::string addNode(Operation *source, StringRef opType,
                      std::vector<std::string> inputs, const Twine &name,
                      std::vector<NodeAttribute> attributes = {},
                      StringRef domain = "");
  void define(Value value, std::string name, Layout layout);
  std::string makeTransposed(Value value, const Known &known,
                             const Layout &wanted);

  // Values as operands.
  FailureOr<Layout> layoutOf(Operation *user, Value value);
  /// One in which no axis is made of several.
  FailureOr<Layout> plainLayoutOf(Operation *user, Value value);
  FailureOr<std::string> read(Operation *user, Value value,
                              const Layout &layout);
  FailureOr<std::string>
  writeConstant(Operation *user, const Constant &constant, const Twine &name,
                ArrayRef<int64_t> shape, ArrayRef<int64_t> elements,
                bool isKernel);

  // Points.
  LogicalResult emitPoint(tpc::QuantizeOp point);
  FailureOr<std::string> quantizeWeights(tpc::QuantizeOp point,
                                         const std::string &tensor,
                                         ArrayRef<int64_t> constantShape,
                                         ArrayRef<int64_t> shape,
                                         ArrayRef<int64_t> elements);

  // Ops.
  LogicalResult checkSizes(Operation *op);
  LogicalResult emit(Operation *op);
  LogicalResult emitOperator(const Operator &matched);
  /// These leave `isEmitted` alone where the operator is not written as a
  /// whole.
  LogicalResult emitDense(const Operator &matched, bool &isEmitted);
  LogicalResult emitLayerNorm(const Operator &matched, bool &isEmitted);
  LogicalResult emitMean(const Operator &matched, bool &isEmitted);
  LogicalResult emitConvolution(Operation *op);
  LogicalResult emitMatMul(tosa::MatMulOp op);
  LogicalResult emitPool(Operation *op, StringRef opType,
                         ArrayRef<int64_t> kernel, ArrayRef<int64_t> stride,
                         ArrayRef<int64_t> pad);
  LogicalResult emitElementwise(Operation *op, StringRef opType);
  LogicalResult emitClamp(Operation *op, Value input, double low, double high);
  LogicalResult emitUnary(Operation *op, Value input, StringRef opType,
                          std::vector<NodeAttribute> attributes = {});
  LogicalResult emitReshape(Operation *op, Value input);
  LogicalResult emitReduction(Operation *op, Value input, int64_t axis,
                              StringRef opType);
  LogicalResult emitConcat(tosa::ConcatOp op);
  LogicalResult emitSlice(tosa::SliceOp op);
  LogicalResult emitPad(tosa::PadOp op);
  LogicalResult emitResize(tosa::ResizeOp op);
  LogicalResult emitTile(tosa::TileOp op);
  LogicalResult checkMemory();
  LogicalResult emitArguments();
  LogicalResult emitResults(func::ReturnOp end);
  LogicalResult refuse(Operation *op, const Twine &why);
  FailureOr<SmallVector<int64_t>> readShape(Operation *op, Value shape);

  func::FuncOp function;
  const OnnxOptions &options;
  KernelOps kernels;
  Model model;
  llvm::StringSet<> names;
  /// Of weights and biases, in bits.
  int64_t weightBits = 0;
  llvm::DenseMap<Value, SmallVector<Known, 1>> known;
};
} // namespace

std::string Exporter::makeName(const Twine &wanted) {
  std::string name = wanted.str();
  for (unsigned number = 1; !names.insert(name).second; ++number)
    name = (wanted + "_" + Twine(number)).str();
  return name;
}

std::string Exporter::nameOf(Value value) {
  if (StringAttr name = getName(value))
    return name.str();
  return value.getDefiningOp()
             ? value.getDefiningOp()->getName().stripDialect().str()
             : "value";
}

std::string Exporter::addFloats(const Twine &name, ArrayRef<int64_t> shape,
                                std::vector<float> values) {
  Tensor tensor;
  tensor.name = makeName(name);
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.floats = std::move(values);
  model.graph.initializers.push_back(std::move(tensor));
  return model.graph.initializers.back().name;
}

std::string Exporter::addIntegers(const Twine &name,
                                  std::vector<int64_t> values) {
  Tensor tensor;
  tensor.name = makeName(name);
  tensor.type = ElementType::Int64;
  tensor.shape = {int64_t(values.size())};
  tensor.integers = std::move(values);
  model.graph.initializers.push_back(std::move(tensor));
  return model.graph.initializers.back().name;
}

std::string Exporter::addNode(Operation *source, StringRef opType,
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

void Exporter::define(Value value, std::string name, Layout layout) {
  known[value].push_back({std::move(name), std::move(layout)});
}

LogicalResult Exporter::refuse(Operation *op, const Twine &why) {
  InFlightDiagnostic error = op->emitOpError() << why;
  error.attachNote() << "mct-opt runs the passes that bring importers' forms "
                        "into those that are known: --mct-prepare; what stays "
                        "has to be computed outside of the network"
                     << support::kTroubleshooting
                     << "an-op-cannot-be-exported-to-onnx";
  return failure();
}

FailureOr<SmallVector<int64_t>> Exporter::readShape(Operation *op,
                                                    Value shape) {
  SmallVector<int64_t> values;
  if (!shape.getDefiningOp() ||
      !tosa::getConstShapeValues(shape.getDefiningOp(), values)) {
    (void)refuse(op, kUnknownForm);
    return failure();
  }
  return values;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// Adds the nodes that bring a tensor into another order.
std::string Exporter::makeTransposed(Value value, const Known &from,
                                     const Layout &wanted) {
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
  if (!layout.parts.empty() && layout != wanted) {
    // The flattened image, its axes in the order of the value again.
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
  if (haveSameOrder(shape, layout, wanted)) {
    if (layout != wanted)
      reshape(wanted.apply(shape));
    return name;
  }
  SmallVector<int64_t> axes;
  for (int64_t axis : wanted.permutation)
    axes.push_back(layout.axisOf(axis));
  transpose(axes);
  return name;
}

/// The layout in which a value is there already; that of a constant is any.
FailureOr<Layout> Exporter::layoutOf(Operation *user, Value value) {
  auto found = known.find(value);
  if (found != known.end())
    return found->second.front().layout;
  if (readConstant(value))
    return Layout::identity(typeOf(value).getRank());
  (void)refuse(user, "has an operand that is neither computed here nor an f32 "
                     "constant");
  return failure();
}

FailureOr<Layout> Exporter::plainLayoutOf(Operation *user, Value value) {
  FailureOr<Layout> layout = layoutOf(user, value);
  if (succeeded(layout) && !layout->parts.empty())
    layout = Layout::identity(layout->permutation.size());
  return layout;
}

FailureOr<std::string> Exporter::read(Operation *user, Value value,
                                      const Layout &layout) {
  auto found = known.find(value);
  if (found != known.end()) {
    for (const Known &tensor : found->second)
      if (tensor.layout == layout)
        return tensor.name;
    Known made{makeTransposed(value, found->second.front(), layout), layout};
    found->second.push_back(made);
    return made.name;
  }
  std::optional<Constant> constant = readConstant(value);
  if (!constant) {
    (void)refuse(user, "has an operand that is neither computed here nor an "
                       "f32 constant");
    return failure();
  }
  std::vector<int64_t> elements =
      mapElements(constant->shape, layout.permutation);
  int64_t last = constant->shape.empty() ? 1 : constant->shape.back();
  if (!layout.parts.empty() && last != 1) {
    // Constants are of the size of what they meet, or of one.
    std::vector<int64_t> parts = mapParts(layout, last);
    for (int64_t &element : elements)
      element = element / last * last + parts[element % last];
  }
  // That of a result of the function belongs to nobody else.
  std::string name = user->getNumResults() == 0
                         ? nameOf(value)
                         : nameOf(user->getResult(0)) + "/constant";
  return writeConstant(user, *constant, name, layout.apply(constant->shape),
                       elements, /*isKernel=*/false);
}

/// `elements`: for each element of the tensor that of the constant. A kernel
/// has to be quantized for the camera.
FailureOr<std::string>
Exporter::writeConstant(Operation *user, const Constant &constant,
                        const Twine &name, ArrayRef<int64_t> shape,
                        ArrayRef<int64_t> elements, bool isKernel) {
  std::vector<float> values;
  values.reserve(elements.size());
  for (int64_t element : elements)
    values.push_back(constant.values[element]);
  tpc::QuantizeOp point;
  for (tpc::QuantizeOp candidate : constant.points)
    if (candidate.getParametersAttr()) {
      point = candidate;
      break;
    }
  if (isKernel && !point && isForImx500()) {
    InFlightDiagnostic error = user->emitOpError()
                               << "has a kernel that is not quantized, which "
                                  "the IMX500 would take for one of 8 bits";
    if (tpc::QuantizeOp empty =
            constant.points.empty() ? point : constant.points.front())
      error.attachNote(empty.getLoc())
          << "its point has no parameters: run mct-select-weight-parameters";
    else
      error.attachNote() << "no point stands on it: tpc-explain says why, "
                            "overrides change it";
    return failure();
  }
  std::string tensor = addFloats(point ? Twine(point.getUniqueName()) : name,
                                 shape, std::move(values));
  weightBits += int64_t(elements.size()) *
                (point ? point.getParametersAttr().getBits() : 32);
  if (!point)
    return tensor;
  return quantizeWeights(point, tensor, constant.shape, shape, elements);
}

//===----------------------------------------------------------------------===//
// Points
//===----------------------------------------------------------------------===//

namespace {
/// What a quantizer is in the file.
struct PointForm {
  enum class Kind { Thresholds, Range, Table } kind;
  /// One, or one for each channel.
  std::vector<float> thresholds, lowest, highest;
  std::vector<float> table;
  bool isPowerOfTwo = false;
};
} // namespace

// Of the entries of a table, sign included.
static constexpr unsigned kTableBits = 8;

static FailureOr<PointForm> describe(tpc::QuantizeOp point) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  PointForm form;
  SmallVector<quantization::Grid> grids = parameters.getGrids();
  ArrayRef<double> thresholds = parameters.getThresholds();
  form.isPowerOfTwo = llvm::all_of(thresholds, quantization::isPowerOfTwo);
  for (double threshold : thresholds)
    form.thresholds.push_back(static_cast<float>(threshold));
  if (!grids.empty() && !thresholds.empty()) {
    form.kind = PointForm::Kind::Thresholds;
    return form;
  }
  if (!grids.empty()) {
    form.kind = PointForm::Kind::Range;
    for (const quantization::Grid &grid : grids) {
      form.lowest.push_back(grid.step * double(grid.qmin - grid.zeroPoint));
      form.highest.push_back(grid.step * double(grid.qmax - grid.zeroPoint));
    }
    return form;
  }
  form.kind = PointForm::Kind::Table;
  if (!thresholds.empty())
    for (float level : parameters.getLevels(0)) {
      double entry = double(level) / thresholds.front() *
                     double(1 << (kTableBits - parameters.getIsSigned()));
      // The levels are floats.
      double nearest = std::nearbyint(entry);
      if (std::abs(entry - nearest) > 1e-4 ||
          std::abs(nearest) > double(1 << (kTableBits - 1)))
        break;
      form.table.push_back(static_cast<float>(nearest));
    }
  if (form.table.empty() ||
      form.table.size() != parameters.getLevels(0).size()) {
    InFlightDiagnostic error =
        point.emitOpError()
        << "'" << point.getUniqueName() << "' has a quantizer, "
        << point.getParametersAttr() << ", that mct_quantizers has no op for";
    error.attachNote() << "there are powers of two, thresholds, ranges, and "
                          "for weights tables of 8-bit entries";
    return failure();
  }
  return form;
}

/// `what` is how the camera is disappointed, `remedy` what to do.
static LogicalResult notForImx500(tpc::QuantizeOp point, const Twine &what,
                                  const Twine &remedy) {
  InFlightDiagnostic error = point.emitOpError()
                             << "'" << point.getUniqueName() << "' " << what;
  error.attachNote() << remedy << ", or write the file with profile 'none'";
  return failure();
}

LogicalResult Exporter::emitPoint(tpc::QuantizeOp point) {
  // Those of constants belong to who reads them.
  if (point.isWeight())
    return success();
  if (!typeOf(point.getResult()).getElementType().isF32())
    return refuse(point, kUnknownForm);
  FailureOr<Layout> layout = layoutOf(point, point.getInput());
  if (failed(layout))
    return failure();
  FailureOr<std::string> input = read(point, point.getInput(), *layout);
  if (failed(input))
    return failure();
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  if (!parameters) {
    if (isForImx500())
      return notForImx500(point, "has no parameters",
                          "run mct-select-parameters, after mct-calibrate");
    define(point.getResult(), *input, *layout);
    return success();
  }
  if (parameters.getRoundingMode() == quantization::Rounding::HalfUp) {
    InFlightDiagnostic error =
        point.emitOpError()
        << "'" << point.getUniqueName()
        << "' rounds halves up; quantizers of the format round them to the "
           "even level";
    error.attachNote()
        << "--mct-simulate-integers=rounding=half-even changes it";
    return failure();
  }
  FailureOr<PointForm> form = describe(point);
  if (failed(form))
    return failure();
  unsigned bits = parameters.getBits();
  bool isSigned = parameters.getIsSigned();
  if (form->kind == PointForm::Kind::Table ||
      parameters.getNumChannels() != 1) {
    InFlightDiagnostic error = point.emitOpError()
                               << "'" << point.getUniqueName()
                               << "' is an activation with a table, or with "
                                  "parameters for each channel";
    error.attachNote() << "mct_quantizers has no op for that in ONNX";
    return failure();
  }
  if (isForImx500()) {
    if (form->kind == PointForm::Kind::Range)
      return notForImx500(point,
                          "has a zero point; activations of the IMX500 have a "
                          "threshold that is a power of two",
                          "choose a target with power-of-two activations");
    if (!form->isPowerOfTwo)
      return notForImx500(
          point,
          Twine("has the threshold ") +
              std::to_string(parameters.getThresholds().front()) +
              ", which the IMX500 would round up to a power of two",
          "choose a target with power-of-two activations");
    if (bits != 8 && !(bits == 16 && isSigned))
      return notForImx500(point,
                          Twine("has ") + Twine(bits) +
                              (isSigned ? " bits, signed" : " bits, unsigned") +
                              "; activations of the IMX500 have 8, or 16 "
                              "signed ones",
                          "give it 8 bits (overrides)");
  }
  std::vector<NodeAttribute> attributes{
      {"mctq_version", kQuantizerVersion.str()}, {"num_bits", int64_t(bits)}};
  StringRef opType = "ActivationUniformQuantizer";
  if (form->kind == PointForm::Kind::Thresholds) {
    opType = form->isPowerOfTwo ? "ActivationPOTQuantizer"
                                : "ActivationSymmetricQuantizer";
    attributes.push_back({"signed", int64_t(isSigned)});
    attributes.push_back({"threshold", form->thresholds.front()});
  } else {
    attributes.push_back({"min_range", form->lowest.front()});
    attributes.push_back({"max_range", form->highest.front()});
  }
  std::string output =
      addNode(point, opType, {*input}, point.getUniqueName() + "/quantized",
              std::move(attributes), kQuantizerDomain);
  model.graph.values.push_back(
      {output, ElementType::Float,
       fileShape(layout->apply(typeOf(point.getResult()).getShape()))});
  define(point.getResult(), output, *layout);
  return success();
}

FailureOr<std::string>
Exporter::quantizeWeights(tpc::QuantizeOp point, const std::string &tensor,
                          ArrayRef<int64_t> constantShape,
                          ArrayRef<int64_t> shape, ArrayRef<int64_t> elements) {
  tpc::QuantizerAttrInterface parameters = point.getParametersAttr();
  FailureOr<PointForm> form = describe(point);
  if (failed(form))
    return failure();
  unsigned bits = parameters.getBits();
  if (!parameters.getIsSigned() && form->kind != PointForm::Kind::Range) {
    InFlightDiagnostic error = point.emitOpError()
                               << "'" << point.getUniqueName()
                               << "' has unsigned codes, which weights of "
                                  "mct_quantizers cannot have";
    error.attachNote() << "choose its parameters anew: "
                          "mct-select-weight-parameters makes signed ones";
    return failure();
  }
  if (isForImx500()) {
    if (form->kind == PointForm::Kind::Range)
      return notForImx500(point,
                          "has zero points, which weights of the IMX500 cannot "
                          "have",
                          "choose a target with symmetric weights");
    if (bits != 2 && bits != 4 && bits != 8)
      return notForImx500(point,
                          Twine("has ") + Twine(bits) +
                              " bits; weights of the IMX500 have 2, 4 or 8",
                          "give it one of them (overrides)");
    if (form->kind == PointForm::Kind::Table &&
        form->table.size() == size_t(1) << bits &&
        !llvm::is_contained(form->table, 0.0f))
      return notForImx500(point,
                          Twine("has a table of ") + Twine(form->table.size()) +
                              " entries without 0, which the IMX500 refuses",
                          "choose its parameters anew with a target of fewer "
                          "bits, or without tables");
  }
  // The parameter of each element of the tensor.
  ArrayRef<int64_t> axes = point.getChannelAxes();
  std::vector<int64_t> numbers(elements.size(), 0);
  int64_t channels = parameters.getNumChannels();
  int64_t channelAxis = 0;
  std::vector<int64_t> order{0};
  if (channels != 1) {
    SmallVector<int64_t> strides(constantShape.size(), 1);
    for (size_t axis = constantShape.size(); axis-- > 1;)
      strides[axis - 1] = strides[axis] * constantShape[axis];
    for (auto [i, element] : llvm::enumerate(elements))
      for (int64_t axis : axes)
        numbers[i] = numbers[i] * constantShape[axis] +
                     element / strides[axis] % constantShape[axis];
    // The axis of the tensor along which they differ, alone.
    int64_t inner = 1;
    channelAxis = -1;
    for (int64_t axis = int64_t(shape.size()) - 1; axis >= 0 && channelAxis < 0;
         inner *= shape[axis--]) {
      order.assign(shape[axis], -1);
      bool isAlone = true;
      for (auto [i, number] : llvm::enumerate(numbers)) {
        int64_t &first = order[int64_t(i) / inner % shape[axis]];
        if (first < 0)
          first = number;
        isAlone &= first == number;
      }
      if (isAlone)
        channelAxis = axis;
    }
    if (channelAxis < 0) {
      InFlightDiagnostic error =
          point.emitOpError()
          << "'" << point.getUniqueName()
          << "' has channels over several axes, for which mct_quantizers has "
             "no op";
      error.attachNote() << "choose its parameters anew, per tensor or for "
                            "each output channel";
      return failure();
    }
  }
  auto list = [&](const std::vector<float> &values, StringRef name) {
    std::vector<float> chosen;
    for (int64_t number : order)
      chosen.push_back(values[number]);
    int64_t size = chosen.size();
    return addFloats(tensor + "/" + name, {size}, std::move(chosen));
  };
  std::vector<NodeAttribute> attributes{
      {"mctq_version", kQuantizerVersion.str()},
      {"num_bits", int64_t(bits)},
      {"per_channel", int64_t(channels != 1)},
      {"channel_axis", channelAxis}};
  std::vector<std::string> inputs{tensor};
  StringRef opType;
  switch (form->kind) {
  case PointForm::Kind::Thresholds:
    opType = form->isPowerOfTwo ? "WeightsPOTQuantizer"
                                : "WeightsSymmetricQuantizer";
    inputs.push_back(list(form->thresholds, "threshold"));
    attributes.push_back({"signed", int64_t(1)});
    break;
  case PointForm::Kind::Range:
    opType = "WeightsUniformQuantizer";
    inputs.push_back(list(form->lowest, "min_range"));
    inputs.push_back(list(form->highest, "max_range"));
    break;
  case PointForm::Kind::Table: {
    opType = form->isPowerOfTwo ? "WeightsLUTPOTQuantizer"
                                : "WeightsLUTSymmetricQuantizer";
    int64_t size = form->table.size();
    inputs.push_back(addFloats(tensor + "/table", {size}, form->table));
    inputs.push_back(list(form->thresholds, "threshold"));
    attributes.push_back({"signed", int64_t(1)});
    attributes.push_back({"lut_values_bitwidth", int64_t(kTableBits)});
    attributes.push_back({"eps", 1e-8f});
    attributes.push_back({"input_rank", int64_t(shape.size())});
    break;
  }
  }
  std::string output =
      addNode(point, opType, std::move(inputs), tensor + "/quantized",
              std::move(attributes), kQuantizerDomain);
  model.graph.values.push_back(
      {output, ElementType::Float, SmallVector<int64_t>(shape)});
  return output;
}

//===----------------------------------------------------------------------===//
// Layers
//===----------------------------------------------------------------------===//

LogicalResult Exporter::emitConvolution(Operation *op) {
  std::optional<KernelOp> layer = kernels.get(op);
  std::optional<Constant> kernel = readConstant(op->getOperand(1));
  std::optional<std::vector<float>> bias;
  if (layer)
    bias = layer->getBias();
  if (!layer || !kernel || !bias)
    return refuse(op, "has a kernel or bias that is not an f32 constant");
  FailureOr<std::string> input =
      read(op, op->getOperand(0), Layout::channelsFirst());
  if (failed(input))
    return failure();
  ArrayRef<int64_t> sizes = kernel->shape;
  std::vector<int64_t> elements;
  SmallVector<int64_t> shape;
  int64_t group = 1;
  bool isTransposed = isa<tosa::TransposeConv2DOp>(op);
  if (isa<tosa::DepthwiseConv2DOp>(op)) {
    // [KH, KW, C, M]: output channel c * M + m.
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
  std::string name = nameOf(op->getResult(0));
  FailureOr<std::string> weights = writeConstant(
      op, *kernel, name + "/kernel", shape, elements, /*isKernel=*/true);
  if (failed(weights))
    return failure();
  int64_t channels = bias->size();
  weightBits += 32 * channels;
  std::vector<std::string> inputs{*input, *weights,
                                  addFloats(name + "/bias", {channels}, *bias)};
  std::vector<NodeAttribute> attributes{
      {"kernel_shape", integers(layer->getWindow())},
      {"strides", integers(layer->getStrides())},
      {"group", group}};
  ArrayRef<int64_t> padding = layer->getPadding();
  if (isTransposed) {
    // What TOSA adds to the result ONNX takes away at the begins, or adds at
    // the ends.
    SmallVector<int64_t> pads, added;
    for (unsigned side : {0, 2, 1, 3}) {
      bool isEnd = side % 2;
      if (padding[side] > 0 && !isEnd)
        return refuse(op, "adds to its result at the top or at the left, which "
                          "ONNX has no way for");
      pads.push_back(std::max<int64_t>(0, -padding[side]));
      if (isEnd)
        added.push_back(std::max<int64_t>(0, padding[side]));
    }
    attributes.push_back({"pads", integers(pads)});
    attributes.push_back({"output_padding", integers(added)});
  } else {
    attributes.push_back({"pads", padsOf(padding)});
    attributes.push_back({"dilations", integers(layer->getDilations())});
  }
  define(op->getResult(0),
         addNode(op, isTransposed ? "ConvTranspose" : "Conv", std::move(inputs),
                 name, std::move(attributes)),
         Layout::channelsFirst());
  return success();
}

/// A layer of features, from rank 2 to rank 2: weights [outputs, inputs].
LogicalResult Exporter::emitDense(const Operator &matched, bool &isEmitted) {
  Operation *product = matched.find(tosa::MatMulOp::getOperationName());
  if (!product)
    product = matched.find(tosa::Conv2DOp::getOperationName());
  std::optional<KernelOp> layer = product ? kernels.get(product) : std::nullopt;
  std::optional<Constant> kernel =
      layer ? readConstant(product->getOperand(1)) : std::nullopt;
  std::optional<std::vector<float>> bias;
  if (layer)
    bias = layer->getBias();
  if (!kernel || !bias)
    return success();
  isEmitted = true;
  FailureOr<Layout> layout = layoutOf(matched.root(), matched.input);
  if (failed(layout))
    return failure();
  if (layout->permutation != Layout::identity(2).permutation)
    layout = Layout::identity(2);
  FailureOr<std::string> input = read(matched.root(), matched.input, *layout);
  if (failed(input))
    return failure();
  int64_t rows = layer->numOutputChannels(),
          columns = layer->numInputChannels();
  std::vector<int64_t> features = mapParts(*layout, columns), elements;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column : features)
      elements.push_back(isa<tosa::MatMulOp>(product) ? column * rows + row
                                                      : row * columns + column);
  std::string name = nameOf(matched.root()->getResult(0));
  FailureOr<std::string> weights =
      writeConstant(product, *kernel, name + "/kernel", {rows, columns},
                    elements, /*isKernel=*/true);
  if (failed(weights))
    return failure();
  std::string added = addFloats(name + "/bias", {rows}, *bias);
  weightBits += 32 * rows;
  define(matched.root()->getResult(0),
         addNode(matched.root(), "Gemm", {*input, *weights, added}, name,
                 {{"transB", int64_t(1)}}),
         Layout::identity(2));
  return success();
}

LogicalResult Exporter::emitMatMul(tosa::MatMulOp op) {
  FailureOr<Layout> layout = layoutOf(op, op.getA());
  if (failed(layout))
    return failure();
  if (layout->permutation != Layout::identity(3).permutation)
    layout = Layout::identity(3);
  std::string name = nameOf(op.getOutput());
  std::optional<Constant> kernel = readConstant(op.getB());
  FailureOr<std::string> rhs;
  if (kernel && kernel->shape[0] == 1) {
    // [K, M], its rows in the order of the features.
    int64_t rows = kernel->shape[1], columns = kernel->shape[2];
    std::vector<int64_t> elements;
    for (int64_t row : mapParts(*layout, rows))
      for (int64_t column = 0; column < columns; ++column)
        elements.push_back(row * columns + column);
    rhs = writeConstant(op, *kernel, name + "/kernel", {rows, columns},
                        elements, /*isKernel=*/true);
  } else {
    layout = Layout::identity(3);
    rhs = read(op, op.getB(), *layout);
  }
  FailureOr<std::string> lhs = read(op, op.getA(), *layout);
  if (failed(lhs) || failed(rhs))
    return failure();
  define(op.getOutput(), addNode(op, "MatMul", {*lhs, *rhs}, name),
         Layout::identity(3));
  return success();
}

LogicalResult Exporter::emitPool(Operation *op, StringRef opType,
                                 ArrayRef<int64_t> kernel,
                                 ArrayRef<int64_t> stride,
                                 ArrayRef<int64_t> pad) {
  FailureOr<std::string> input =
      read(op, op->getOperand(0), Layout::channelsFirst());
  if (failed(input))
    return failure();
  ArrayRef<int64_t> image = typeOf(op->getOperand(0)).getShape();
  bool isGlobal = opType == "AveragePool" && kernel == image.slice(1, 2) &&
                  llvm::all_of(pad, [](int64_t size) { return size == 0; });
  std::vector<NodeAttribute> attributes;
  if (!isGlobal)
    attributes = {{"kernel_shape", integers(kernel)},
                  {"strides", integers(stride)},
                  {"pads", padsOf(pad)}};
  define(op->getResult(0),
         addNode(op, isGlobal ? "GlobalAveragePool" : opType, {*input},
                 nameOf(op->getResult(0)), std::move(attributes)),
         Layout::channelsFirst());
  return success();
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

LogicalResult Exporter::emitElementwise(Operation *op, StringRef opType) {
  // Shifts and zero points come behind the values.
  size_t count = op->getNumOperands();
  if (isa<tosa::MulOp>(op))
    count = 2;
  if (isa<tosa::NegateOp>(op))
    count = 1;
  // The order of the first that is computed, as far as there is one.
  std::optional<Layout> layout;
  for (Value operand : op->getOperands().take_front(count))
    if (!layout && known.count(operand))
      layout = known[operand].front().layout;
  if (!layout)
    layout = Layout::identity(typeOf(op->getResult(0)).getRank());
  // A tensor that is broadcast along flattened axes would have other sizes.
  for (Value operand : op->getOperands().take_front(count))
    if (!layout->parts.empty() && known.count(operand) &&
        typeOf(operand).getShape() != typeOf(op->getResult(0)).getShape())
      layout = Layout::identity(typeOf(op->getResult(0)).getRank());
  std::vector<std::string> inputs;
  for (Value operand : op->getOperands().take_front(count)) {
    FailureOr<std::string> input = read(op, operand, *layout);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }
  define(op->getResult(0),
         addNode(op, opType, std::move(inputs), nameOf(op->getResult(0))),
         *layout);
  return success();
}

LogicalResult Exporter::emitUnary(Operation *op, Value input, StringRef opType,
                                  std::vector<NodeAttribute> attributes) {
  FailureOr<Layout> layout = layoutOf(op, input);
  if (failed(layout))
    return failure();
  FailureOr<std::string> tensor = read(op, input, *layout);
  if (failed(tensor))
    return failure();
  define(op->getResult(0),
         addNode(op, opType, {*tensor}, nameOf(op->getResult(0)),
                 std::move(attributes)),
         *layout);
  return success();
}

LogicalResult Exporter::emitClamp(Operation *op, Value input, double low,
                                  double high) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (low == 0 && high >= kLargest)
    return emitUnary(op, input, "Relu");
  FailureOr<Layout> layout = layoutOf(op, input);
  if (failed(layout))
    return failure();
  FailureOr<std::string> tensor = read(op, input, *layout);
  if (failed(tensor))
    return failure();
  std::string name = nameOf(op->getResult(0));
  // An input without a name is none.
  std::vector<std::string> inputs{*tensor, "", ""};
  if (low > -kLargest)
    inputs[1] = addFloats(name + "/min", {}, {static_cast<float>(low)});
  if (high < kLargest)
    inputs[2] = addFloats(name + "/max", {}, {static_cast<float>(high)});
  while (inputs.back().empty())
    inputs.pop_back();
  define(op->getResult(0), addNode(op, "Clip", std::move(inputs), name),
         *layout);
  return success();
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// The result of `op` has the elements of `input`.
LogicalResult Exporter::emitReshape(Operation *op, Value input) {
  ArrayRef<int64_t> from = typeOf(input).getShape();
  ArrayRef<int64_t> to = typeOf(op->getResult(0)).getShape();
  FailureOr<Layout> layout = layoutOf(op, input);
  if (failed(layout))
    return failure();
  std::optional<Layout> followed = followReshape(from, *layout, to);
  if (!followed) {
    layout = Layout::identity(from.size());
    followed = Layout::identity(to.size());
  }
  FailureOr<std::string> tensor = read(op, input, *layout);
  if (failed(tensor))
    return failure();
  std::string name = nameOf(op->getResult(0));
  std::string shape =
      addIntegers(name + "/shape", integers(fileShape(followed->apply(to))));
  define(op->getResult(0), addNode(op, "Reshape", {*tensor, shape}, name),
         *followed);
  return success();
}

LogicalResult Exporter::emitReduction(Operation *op, Value input, int64_t axis,
                                      StringRef opType) {
  FailureOr<Layout> layout = plainLayoutOf(op, input);
  if (failed(layout))
    return failure();
  FailureOr<std::string> tensor = read(op, input, *layout);
  if (failed(tensor))
    return failure();
  std::string name = nameOf(op->getResult(0));
  std::string axes = addIntegers(name + "/axes", {layout->axisOf(axis)});
  define(op->getResult(0), addNode(op, opType, {*tensor, axes}, name), *layout);
  return success();
}

LogicalResult Exporter::emitConcat(tosa::ConcatOp op) {
  std::optional<Layout> layout;
  for (Value operand : op.getInput1())
    if (!layout && known.count(operand))
      layout = known[operand].front().layout;
  if (!layout || !layout->parts.empty())
    layout = Layout::identity(typeOf(op.getOutput()).getRank());
  std::vector<std::string> inputs;
  for (Value operand : op.getInput1()) {
    FailureOr<std::string> input = read(op, operand, *layout);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }
  define(op.getOutput(),
         addNode(op, "Concat", std::move(inputs), nameOf(op.getOutput()),
                 {{"axis", layout->axisOf(op.getAxis())}}),
         *layout);
  return success();
}

LogicalResult Exporter::emitSlice(tosa::SliceOp op) {
  FailureOr<Layout> layout = plainLayoutOf(op, op.getInput1());
  FailureOr<SmallVector<int64_t>> starts = readShape(op, op.getStart());
  if (failed(layout) || failed(starts))
    return failure();
  FailureOr<std::string> tensor = read(op, op.getInput1(), *layout);
  if (failed(tensor))
    return failure();
  // Only the axes that are cut.
  ArrayRef<int64_t> from = typeOf(op.getInput1()).getShape();
  ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
  std::vector<int64_t> begins, ends, axes;
  for (auto [place, axis] : llvm::enumerate(layout->permutation)) {
    if (from[axis] == to[axis])
      continue;
    begins.push_back((*starts)[axis]);
    ends.push_back((*starts)[axis] + to[axis]);
    axes.push_back(place);
  }
  std::string name = nameOf(op.getOutput());
  if (axes.empty()) {
    define(op.getOutput(), *tensor, *layout);
    return success();
  }
  std::vector<std::string> inputs{
      *tensor, addIntegers(name + "/starts", std::move(begins)),
      addIntegers(name + "/ends", std::move(ends)),
      addIntegers(name + "/axes", std::move(axes))};
  define(op.getOutput(), addNode(op, "Slice", std::move(inputs), name),
         *layout);
  return success();
}

LogicalResult Exporter::emitPad(tosa::PadOp op) {
  FailureOr<Layout> layout = plainLayoutOf(op, op.getInput1());
  FailureOr<SmallVector<int64_t>> padding = readShape(op, op.getPadding());
  std::optional<float> number = readNumber(op.getPadConst());
  if (failed(layout) || failed(padding))
    return failure();
  if (!number)
    return refuse(op, "is filled with a value that is not a constant");
  FailureOr<std::string> tensor = read(op, op.getInput1(), *layout);
  if (failed(tensor))
    return failure();
  std::vector<int64_t> begins, ends;
  for (int64_t axis : layout->permutation) {
    begins.push_back((*padding)[2 * axis]);
    ends.push_back((*padding)[2 * axis + 1]);
  }
  llvm::append_range(begins, ends);
  std::string name = nameOf(op.getOutput());
  std::vector<std::string> inputs{
      *tensor, addIntegers(name + "/pads", std::move(begins)),
      addFloats(name + "/value", {}, {*number})};
  define(op.getOutput(),
         addNode(op, "Pad", std::move(inputs), name,
                 {{"mode", std::string("constant")}}),
         *layout);
  return success();
}

LogicalResult Exporter::emitResize(tosa::ResizeOp op) {
  FailureOr<SmallVector<int64_t>> scale = readShape(op, op.getScale());
  FailureOr<SmallVector<int64_t>> offset = readShape(op, op.getOffset());
  if (failed(scale) || failed(offset))
    return failure();
  ArrayRef<int64_t> from = typeOf(op.getInput()).getShape();
  ArrayRef<int64_t> to = typeOf(op.getOutput()).getShape();
  bool isBilinear = op.getMode() == tosa::ResizeMode::BILINEAR;
  std::optional<ResizeAttributes> found =
      findResize(isBilinear, *scale, *offset, from.slice(1, 2), to.slice(1, 2));
  if (!found)
    return refuse(op, "reads other positions than any 'Resize' of ONNX");
  FailureOr<std::string> tensor =
      read(op, op.getInput(), Layout::channelsFirst());
  if (failed(tensor))
    return failure();
  std::string name = nameOf(op.getOutput());
  std::vector<NodeAttribute> attributes{
      {"mode", found->mode},
      {"coordinate_transformation_mode", found->coordinates}};
  if (!isBilinear)
    attributes.push_back({"nearest_mode", found->nearestMode});
  float height = float(to[1]) / float(from[1]),
        width = float(to[2]) / float(from[2]);
  std::vector<std::string> inputs{
      *tensor, "", addFloats(name + "/scales", {4}, {1, 1, height, width})};
  // Scales that are not exact would make other sizes.
  if (float(from[1]) * height != float(to[1]) ||
      float(from[2]) * width != float(to[2]) ||
      std::floor(double(from[1]) * double(height)) != double(to[1]) ||
      std::floor(double(from[2]) * double(width)) != double(to[2])) {
    model.graph.initializers.pop_back();
    names.erase(inputs.back());
    if (ShapedType::isDynamic(to[0]))
      return refuse(op, "has a ratio of sizes that ONNX takes only for a batch "
                        "that is known");
    inputs.back() = "";
    inputs.push_back(
        addIntegers(name + "/sizes", {to[0], to[3], to[1], to[2]}));
  }
  define(op.getOutput(),
         addNode(op, "Resize", std::move(inputs), name, std::move(attributes)),
         Layout::channelsFirst());
  return success();
}

LogicalResult Exporter::emitTile(tosa::TileOp op) {
  FailureOr<Layout> layout = plainLayoutOf(op, op.getInput1());
  FailureOr<SmallVector<int64_t>> counts = readShape(op, op.getMultiples());
  if (failed(layout) || failed(counts))
    return failure();
  FailureOr<std::string> tensor = read(op, op.getInput1(), *layout);
  if (failed(tensor))
    return failure();
  std::string name = nameOf(op.getOutput());
  std::string repeats =
      addIntegers(name + "/repeats", integers(layout->apply(*counts)));
  define(op.getOutput(), addNode(op, "Tile", {*tensor, repeats}, name),
         *layout);
  return success();
}

//===----------------------------------------------------------------------===//
// Operators of several ops
//===----------------------------------------------------------------------===//

/// The constant operand of an op with two, or null.
static Value getConstantOperand(Operation *op) {
  for (Value operand : op->getOperands().take_front(2))
    if (readConstant(operand))
      return operand;
  return {};
}

LogicalResult Exporter::emitLayerNorm(const Operator &matched,
                                      bool &isEmitted) {
  // (d * rsqrt(v + e) * scale) + offset over the last axis.
  int64_t rank = typeOf(matched.input).getRank();
  Operation *root = matched.root();
  Operation *inverse = matched.find(tosa::RsqrtOp::getOperationName());
  for (Operation *op : matched.ops)
    if (auto sum = dyn_cast<tosa::ReduceSumOp>(op))
      if (int64_t(sum.getAxis()) != rank - 1 ||
          typeOf(sum.getInput()).getRank() != rank)
        return success();
  Operation *variance =
      inverse ? inverse->getOperand(0).getDefiningOp() : nullptr;
  if (!isa_and_nonnull<tosa::AddOp>(variance) || !isa<tosa::AddOp>(root))
    return success();
  Value offset = getConstantOperand(root);
  std::optional<float> epsilon = getConstantOperand(variance)
                                     ? readNumber(getConstantOperand(variance))
                                     : std::nullopt;
  Operation *scaled = nullptr;
  for (Value operand : root->getOperands())
    if (operand != offset)
      scaled = operand.getDefiningOp();
  if (!offset || !epsilon || !isa_and_nonnull<tosa::MulOp>(scaled))
    return success();
  Value scale = getConstantOperand(scaled);
  int64_t channels = typeOf(matched.input).getShape().back();
  if (!scale || ShapedType::isDynamic(channels))
    return success();
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
    return success();
  isEmitted = true;
  Layout layout = Layout::identity(rank);
  FailureOr<std::string> input = read(root, matched.input, layout);
  if (failed(input))
    return failure();
  std::string name = nameOf(root->getResult(0));
  std::vector<std::string> inputs{
      *input, addFloats(name + "/scale", {channels}, std::move(*scales)),
      addFloats(name + "/offset", {channels}, std::move(*offsets))};
  define(root->getResult(0),
         addNode(root, "LayerNormalization", std::move(inputs), name,
                 {{"axis", int64_t(-1)}, {"epsilon", *epsilon}}),
         layout);
  return success();
}

LogicalResult Exporter::emitMean(const Operator &matched, bool &isEmitted) {
  // Sums along axes of the input, one behind the other, then reshaped and
  // divided.
  SmallVector<int64_t> axes;
  Value value = matched.input;
  for (Operation *op : matched.ops) {
    if (!isa<tosa::ReduceSumOp, tosa::MulOp, tosa::ReshapeOp>(op) ||
        op->getOperand(0) != value)
      return success();
    if (auto sum = dyn_cast<tosa::ReduceSumOp>(op)) {
      if (typeOf(value).getRank() != typeOf(matched.input).getRank())
        return success();
      axes.push_back(sum.getAxis());
    }
    value = op->getResult(0);
  }
  Operation *root = matched.root();
  RankedTensorType from = typeOf(matched.input), to = typeOf(value);
  FailureOr<Layout> layout = layoutOf(root, matched.input);
  if (failed(layout))
    return failure();
  if (axes.empty() || !layout->parts.empty())
    return success();
  llvm::sort(axes);
  SmallVector<int64_t> kept(from.getShape());
  for (int64_t axis : axes)
    kept[axis] = 1;
  // Behind the mean, the sizes are those of the result, or it is reshaped.
  std::optional<Layout> followed = followReshape(kept, *layout, to.getShape());
  if (!followed)
    return success();
  isEmitted = true;
  bool isImage = axes == SmallVector<int64_t>{1, 2} && from.getRank() == 4;
  if (isImage)
    layout = Layout::channelsFirst();
  FailureOr<std::string> tensor = read(root, matched.input, *layout);
  if (failed(tensor))
    return failure();
  std::string name = nameOf(value), mean = name;
  bool isReshaped = kept != SmallVector<int64_t>(to.getShape());
  if (isReshaped)
    mean += "/mean";
  if (isImage) {
    mean = addNode(root, "GlobalAveragePool", {*tensor}, mean);
    followed = isReshaped ? followReshape(kept, *layout, to.getShape())
                          : std::optional<Layout>(*layout);
  } else {
    std::vector<int64_t> places;
    for (int64_t axis : axes)
      places.push_back(layout->axisOf(axis));
    mean = addNode(root, "ReduceMean",
                   {*tensor, addIntegers(name + "/axes", std::move(places))},
                   mean);
    if (!isReshaped)
      followed = *layout;
  }
  if (isReshaped)
    mean = addNode(
        root, "Reshape",
        {mean,
         addIntegers(name + "/shape",
                     integers(fileShape(followed->apply(to.getShape()))))},
        name);
  define(value, mean, *followed);
  return success();
}

LogicalResult Exporter::emitOperator(const Operator &matched) {
  Operation *root = matched.root();
  // What cannot be written as a whole is written op by op.
  bool isEmitted = false;
  if (matched.name == "fully_connected") {
    if (matched.input && typeOf(matched.input).getRank() == 2 &&
        typeOf(root->getResult(0)).getRank() == 2 &&
        failed(emitDense(matched, isEmitted)))
      return failure();
  } else if (matched.name == "layer_norm") {
    if (failed(emitLayerNorm(matched, isEmitted)))
      return failure();
  } else if (matched.name == "mean" || matched.name == "global_avg_pool") {
    if (failed(emitMean(matched, isEmitted)))
      return failure();
  } else if (matched.name == "softmax") {
    auto largest = dyn_cast_or_null<tosa::ReduceMaxOp>(
        matched.find(tosa::ReduceMaxOp::getOperationName()));
    FailureOr<Layout> layout = plainLayoutOf(root, matched.input);
    if (failed(layout))
      return failure();
    if (largest && largest.getInput() == matched.input &&
        root->getResult(0).getType() == matched.input.getType()) {
      FailureOr<std::string> input = read(root, matched.input, *layout);
      if (failed(input))
        return failure();
      define(root->getResult(0),
             addNode(root, "Softmax", {*input}, nameOf(root->getResult(0)),
                     {{"axis", layout->axisOf(largest.getAxis())}}),
             *layout);
      return success();
    }
  } else if (matched.name == "gelu") {
    bool isTanh = matched.find(tosa::TanhOp::getOperationName());
    if (root->getResult(0).getType() == matched.input.getType())
      return emitUnary(
          root, matched.input, "Gelu",
          {{"approximate", std::string(isTanh ? "tanh" : "none")}});
  } else if (matched.name == "hard_swish") {
    return emitUnary(root, matched.input, "HardSwish");
  } else if (matched.name == "hard_sigmoid") {
    // x / 6 + 1/2, or, of Keras 2, 0.2 x + 1/2.
    Operation *sum = matched.find(tosa::AddOp::getOperationName());
    bool isSixth = readNumber(getConstantOperand(sum)) == 3.0f;
    return emitUnary(root, matched.input, "HardSigmoid",
                     {{"alpha", isSixth ? 1.0f / 6.0f : 0.2f}, {"beta", 0.5f}});
  } else if (matched.name == "leaky_relu") {
    Operation *product = matched.find(tosa::MulOp::getOperationName());
    std::optional<float> slope = readNumber(getConstantOperand(product));
    if (slope)
      return emitUnary(root, matched.input, "LeakyRelu", {{"alpha", *slope}});
  } else if (matched.name == "relu") {
    return emitClamp(root, matched.input, 0,
                     std::numeric_limits<double>::infinity());
  } else if (matched.name == "relu6" || matched.name == "hard_tanh") {
    std::optional<float> bound = readNumber(getConstantOperand(root));
    if (bound)
      return emitClamp(root, matched.input, 0, *bound);
  } else if (matched.name == "div") {
    Operation *inverse = matched.ops.front();
    Value numerator = root->getOperand(0) == inverse->getResult(0)
                          ? root->getOperand(1)
                          : root->getOperand(0);
    FailureOr<Layout> layout = plainLayoutOf(
        root, known.count(numerator) ? numerator : inverse->getOperand(0));
    if (failed(layout))
      return failure();
    FailureOr<std::string> lhs = read(root, numerator, *layout);
    FailureOr<std::string> rhs = read(root, inverse->getOperand(0), *layout);
    if (failed(lhs) || failed(rhs))
      return failure();
    define(root->getResult(0),
           addNode(root, "Div", {*lhs, *rhs}, nameOf(root->getResult(0))),
           *layout);
    return success();
  }
  if (isEmitted)
    return success();
  for (Operation *op : matched.ops)
    if (failed(emit(op)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// The network
//===----------------------------------------------------------------------===//

/// Sizes are known, the first apart.
LogicalResult Exporter::checkSizes(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tosa::ConstShapeOp>(op))
    return success();
  for (Value result : op->getResults())
    if (!isa<RankedTensorType>(result.getType()) ||
        llvm::any_of(typeOf(result).getShape().drop_front(
                         typeOf(result).getRank() ? 1 : 0),
                     ShapedType::isDynamic))
      return refuse(op, "has a result whose sizes are not known, the batch "
                        "apart");
  return success();
}

LogicalResult Exporter::emit(Operation *op) {
  // Constants are written where they are read.
  if (op->hasTrait<OpTrait::ConstantLike>() || isa<tosa::ConstShapeOp>(op))
    return success();
  for (const Elementwise &entry : kElementwise)
    if (op->getName().getStringRef() == entry.tosa)
      return emitElementwise(op, entry.onnx);
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<tpc::QuantizeOp>([&](auto point) { return emitPoint(point); })
      .Case<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(
          [&](auto) { return emitConvolution(op); })
      .Case<tosa::MatMulOp>([&](auto matmul) { return emitMatMul(matmul); })
      .Case<tosa::MaxPool2dOp>([&](auto pool) {
        return emitPool(op, "MaxPool", pool.getKernel(), pool.getStride(),
                        pool.getPad());
      })
      .Case<tosa::AvgPool2dOp>([&](auto pool) {
        return emitPool(op, "AveragePool", pool.getKernel(), pool.getStride(),
                        pool.getPad());
      })
      .Case<tosa::ClampOp>([&](auto clamp) -> LogicalResult {
        auto low = dyn_cast<FloatAttr>(clamp.getMinVal());
        auto high = dyn_cast<FloatAttr>(clamp.getMaxVal());
        if (!low || !high)
          return refuse(op, "clamps integers");
        return emitClamp(op, clamp.getInput(), low.getValueAsDouble(),
                         high.getValueAsDouble());
      })
      .Case<tosa::RsqrtOp>([&](auto root) -> LogicalResult {
        FailureOr<Layout> layout = layoutOf(op, root.getInput1());
        if (failed(layout))
          return failure();
        FailureOr<std::string> input = read(op, root.getInput1(), *layout);
        if (failed(input))
          return failure();
        std::string name = nameOf(root.getOutput());
        std::string inner = addNode(op, "Sqrt", {*input}, name + "/root");
        define(root.getOutput(), addNode(op, "Reciprocal", {inner}, name),
               *layout);
        return success();
      })
      .Case<tosa::ReshapeOp>(
          [&](auto reshape) { return emitReshape(op, reshape.getInput1()); })
      .Case<tosa::TransposeOp>([&](auto transpose) -> LogicalResult {
        FailureOr<Layout> layout = plainLayoutOf(op, transpose.getInput1());
        if (failed(layout))
          return failure();
        FailureOr<std::string> input = read(op, transpose.getInput1(), *layout);
        if (failed(input))
          return failure();
        // The same tensor under other names of its axes.
        Layout renamed = *layout;
        for (int64_t &axis : renamed.permutation)
          axis = llvm::find(transpose.getPerms(), int32_t(axis)) -
                 transpose.getPerms().begin();
        define(transpose.getOutput(), *input, renamed);
        return success();
      })
      .Case<tosa::ReduceSumOp>([&](auto sum) {
        return emitReduction(op, sum.getInput(), sum.getAxis(), "ReduceSum");
      })
      .Case<tosa::ReduceMaxOp>([&](auto largest) {
        return emitReduction(op, largest.getInput(), largest.getAxis(),
                             "ReduceMax");
      })
      .Case<tosa::ReduceMinOp>([&](auto least) {
        return emitReduction(op, least.getInput(), least.getAxis(),
                             "ReduceMin");
      })
      .Case<tosa::ArgMaxOp>([&](auto largest) -> LogicalResult {
        FailureOr<Layout> layout = plainLayoutOf(op, largest.getInput());
        if (failed(layout))
          return failure();
        FailureOr<std::string> input = read(op, largest.getInput(), *layout);
        if (failed(input))
          return failure();
        int64_t axis = largest.getAxis();
        Layout left;
        for (int64_t other : layout->permutation)
          if (other != axis)
            left.permutation.push_back(other - (other > axis));
        define(
            largest.getOutput(),
            addNode(op, "ArgMax", {*input}, nameOf(largest.getOutput()),
                    {{"axis", layout->axisOf(axis)}, {"keepdims", int64_t(0)}}),
            left);
        return success();
      })
      .Case<tosa::ConcatOp>([&](auto concat) { return emitConcat(concat); })
      .Case<tosa::SliceOp>([&](auto slice) { return emitSlice(slice); })
      .Case<tosa::PadOp>([&](auto pad) { return emitPad(pad); })
      .Case<tosa::ResizeOp>([&](auto resize) { return emitResize(resize); })
      .Case<tosa::TileOp>([&](auto tile) { return emitTile(tile); })
      .Case<tosa::IdentityOp>([&](auto identity) -> LogicalResult {
        FailureOr<Layout> layout = layoutOf(op, identity.getInput1());
        if (failed(layout))
          return failure();
        FailureOr<std::string> input = read(op, identity.getInput1(), *layout);
        if (failed(input))
          return failure();
        define(identity.getOutput(), *input, *layout);
        return success();
      })
      .Default([&](Operation *) { return refuse(op, kUnknownForm); });
}

LogicalResult Exporter::emitArguments() {
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || !type.getElementType().isF32() ||
        llvm::any_of(type.getShape().drop_front(type.getRank() ? 1 : 0),
                     ShapedType::isDynamic)) {
      InFlightDiagnostic error =
          function.emitOpError()
          << "has argument " << argument.getArgNumber() << " of type "
          << argument.getType()
          << ", and a file has f32 tensors whose sizes are known, the batch "
             "apart";
      error.attachNote() << "integer networks have no points: export the "
                            "module of before mct-lower-to-integer";
      return failure();
    }
    if (isForImx500() && type.getRank() > 1 && type.getDimSize(0) != 1 &&
        !type.isDynamicDim(0)) {
      InFlightDiagnostic error = function.emitOpError()
                                 << "has a batch of " << type.getDimSize(0)
                                 << "; the IMX500 takes one image at a time";
      error.attachNote()
          << "--mct-set-batch=size=1, or size=0 for one that is not known";
      return failure();
    }
    bool isImage = type.getRank() == 4 && isReadAsImage(argument);
    Layout layout =
        isImage ? Layout::channelsFirst() : Layout::identity(type.getRank());
    std::string name = makeName(nameOf(argument));
    model.graph.inputs.push_back(
        {name, ElementType::Float, fileShape(layout.apply(type.getShape()))});
    recordAxes(model, name, layout);
    define(argument, name, layout);
  }
  return success();
}

LogicalResult Exporter::emitResults(func::ReturnOp end) {
  llvm::StringSet<> taken;
  for (const ValueInfo &input : model.graph.inputs)
    taken.insert(input.name);
  for (Value result : end.getOperands()) {
    FailureOr<Layout> layout = layoutOf(end, result);
    if (failed(layout))
      return failure();
    // Images stay as they are; whatever else is in no order of its own.
    if (*layout != Layout::channelsFirst())
      layout = Layout::identity(typeOf(result).getRank());
    FailureOr<std::string> tensor = read(end, result, *layout);
    if (failed(tensor))
      return failure();
    std::string name = *tensor;
    if (!taken.insert(name).second)
      taken.insert(
          name = addNode(function, "Identity", {*tensor}, *tensor + "/output"));
    recordAxes(model, name, *layout);
    model.graph.outputs.push_back(
        {name, elementTypeOf(result),
         fileShape(layout->apply(typeOf(result).getShape()))});
  }
  return success();
}

LogicalResult Exporter::checkMemory() {
  if (weightBits / 8 <= kImx500Bytes)
    return success();
  InFlightDiagnostic error = function.emitOpError()
                             << "has weights of " << weightBits / 8
                             << " bytes; the IMX500 has " << kImx500Bytes
                             << " for them and for activations";
  error.attachNote() << "--mct-assign-bit-widths=budget=weights:… finds fewer "
                        "bits; --mct-report-memory tells where they are";
  return failure();
}

FailureOr<Model> Exporter::run() {
  Block &body = function.getBody().front();
  auto end = dyn_cast<func::ReturnOp>(body.getTerminator());
  if (!function.getBody().hasOneBlock() || !end) {
    InFlightDiagnostic error =
        function.emitOpError("has several blocks, and a file holds one");
    error.attachNote() << "write what is computed under a condition outside";
    return failure();
  }
  model.irVersion = kIrVersion;
  model.operatorSets = {{"", kOperatorSet}, {kQuantizerDomain.str(), 1}};
  bool isOurs = options.producer.empty();
  model.producerName = isOurs ? "mct" : options.producer;
  model.producerVersion = options.producerVersion.empty() && isOurs
                              ? MCT_VERSION
                              : options.producerVersion;
  model.metadata = {{"exporter", "mct"}, {"exporter_version", MCT_VERSION}};
  model.graph.name = function.getName().str();
  FailureOr<Preprocessings> records = readPreprocessing(function);
  if (failed(records))
    return failure();

  FailureOr<Operators> operators = findOperators(body);
  if (failed(operators) || failed(emitArguments()))
    return failure();
  // What becomes of samples, about the axes of the module's argument.
  for (auto [input, record] : llvm::zip_equal(model.graph.inputs, *records)) {
    if (!record)
      continue;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::json::OStream json(os);
    execution::print(json, *record);
    model.metadata.push_back({"preprocessing." + input.name, text});
  }
  for (Operation &op : body.without_terminator()) {
    if (failed(checkSizes(&op)))
      return failure();
    if (operators->interior.contains(&op))
      continue;
    auto matched = operators->byRoot.find(&op);
    if (failed(matched != operators->byRoot.end()
                   ? emitOperator(matched->second)
                   : emit(&op)))
      return failure();
  }
  if (failed(emitResults(end)) ||
      (isForImx500() &&
       (failed(checkForImx500(model)) || failed(checkMemory()))))
    return failure();
  return std::move(model);
}

LogicalResult mct::exportOnnx(ModuleOp module, const OnnxOptions &options,
                              raw_ostream &os) {
  // Names and points are put into a copy.
  OwningOpRef<ModuleOp> copy = module.clone();
  FailureOr<func::FuncOp> function = findEntryFunction(*copy, options.function);
  if (failed(function) || failed(requireFrozenPoints(*function)))
    return failure();
  assignNames(*function);
  if (options.profile == OnnxProfile::Imx500)
    insertShiftPoints(*function);
  FailureOr<Model> model = Exporter(*function, options).run();
  if (failed(model))
    return failure();
  if (options.format == OnnxFormat::Text) {
    printModel(*model, os);
    return success();
  }
  uint64_t size = countBytes(*model);
  if (size > options.largestFile) {
    InFlightDiagnostic error = function->emitOpError()
                               << "makes a file of " << size
                               << " bytes, and protobuf is limited to "
                               << options.largestFile;
    error.attachNote() << "export parts of it";
    return failure();
  }
  writeModel(*model, os);
  return success();
}
