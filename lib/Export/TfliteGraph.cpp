// SPDX-License-Identifier: Apache-2.0
#include "TfliteGraph.h"
#include "mct/Support/Troubleshooting.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/Support/Endian.h"
#include <cmath>

using namespace mlir;

namespace mct::tflite {

InFlightDiagnostic refuse(Operation *op, const Twine &why,
                          const Twine &remedy) {
  InFlightDiagnostic error = op->emitOpError() << why;
  error.attachNote() << remedy << support::kTroubleshooting
                     << "an-op-cannot-be-exported-to-tflite";
  return error;
}

static LogicalResult refuseUnknown(Operation *op) {
  return refuse(op, "has no form in TensorFlow Lite that is known here",
                "mct-prepare brings importers' forms into those that are "
                "known; what stays has to be computed outside");
}

static ElementType elementTypeOf(const Encoding &encoding) {
  return encoding.storageBits == 16 ? ElementType::Int16 : ElementType::Int8;
}

std::optional<ElementType> numberTypeOf(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    return std::nullopt;
  Type element = type.getElementType();
  if (element.isF32())
    return ElementType::Float32;
  if (element.isInteger(1))
    return ElementType::Bool;
  if (element.isInteger(32))
    return ElementType::Int32;
  if (element.isInteger(64))
    return ElementType::Int64;
  return std::nullopt;
}

GraphBuilder::GraphBuilder(func::FuncOp function, const TfliteOptions &options,
                           onnx::Operators operators)
    : function(function), options(options),
      kernels(function->getParentOfType<ModuleOp>()),
      operators(std::move(operators)), layers(kernels.findByResult(function)) {}

const KernelOp *GraphBuilder::findLayer(Value value) const {
  auto found = layers.find(value);
  return found == layers.end() ? nullptr : &found->second;
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

std::string GraphBuilder::makeName(const Twine &requested) {
  std::string name = requested.str();
  for (unsigned number = 1; !names.insert(name).second; ++number)
    name = (requested + "_" + Twine(number)).str();
  return name;
}

int64_t GraphBuilder::addTensor(const Twine &name, ElementType type,
                                ArrayRef<int64_t> shape) {
  Tensor tensor;
  tensor.name = makeName(name);
  tensor.type = type;
  tensor.shape.assign(shape.begin(), shape.end());
  model.tensors.push_back(std::move(tensor));
  return int64_t(model.tensors.size()) - 1;
}

int64_t GraphBuilder::addCodes(const Twine &name, ArrayRef<int64_t> shape,
                               const Encoding &encoding) {
  int64_t tensor = addTensor(name, elementTypeOf(encoding), shape);
  setGrid(tensor, encoding);
  return tensor;
}

void GraphBuilder::setGrid(int64_t tensor, const Encoding &encoding) {
  model.tensors[tensor].scales = {encoding.scale};
  model.tensors[tensor].zeroPoints = {encoding.zeroPoint};
}

int64_t GraphBuilder::addLike(int64_t like, ArrayRef<int64_t> shape,
                              const Twine &name) {
  int64_t tensor = addTensor(name, model.tensors[like].type, shape);
  model.tensors[tensor].scales = model.tensors[like].scales;
  model.tensors[tensor].zeroPoints = model.tensors[like].zeroPoints;
  return tensor;
}

template <typename T> static void append(std::string &bytes, T value) {
  char buffer[sizeof(T)];
  llvm::support::endian::write<T, llvm::endianness::little>(buffer, value);
  bytes.append(buffer, sizeof(T));
}

int64_t GraphBuilder::addNumbers(const Twine &name, ArrayRef<int64_t> shape,
                                 ArrayRef<float> values) {
  int64_t number = addTensor(name, ElementType::Float32, shape);
  Tensor &tensor = model.tensors[number];
  tensor.isConstant = true;
  for (float value : values)
    append(tensor.data, llvm::bit_cast<uint32_t>(value));
  return number;
}

int64_t GraphBuilder::addIntegers(const Twine &name, ArrayRef<int64_t> shape,
                                  ElementType type,
                                  ArrayRef<int64_t> integers) {
  int64_t number = addTensor(name, type, shape);
  Tensor &tensor = model.tensors[number];
  tensor.isConstant = true;
  for (auto [place, integer] : llvm::enumerate(integers)) {
    switch (type) {
    case ElementType::Int4:
      if (place % 2)
        tensor.data.back() = char(tensor.data.back() | (integer & 15) << 4);
      else
        tensor.data.push_back(char(integer & 15));
      break;
    case ElementType::Bool:
    case ElementType::Int8:
      tensor.data.push_back(char(integer));
      break;
    case ElementType::Int16:
      append(tensor.data, int16_t(integer));
      break;
    case ElementType::Int64:
      append(tensor.data, integer);
      break;
    case ElementType::Int32:
    case ElementType::Float32:
      append(tensor.data, int32_t(integer));
      break;
    }
  }
  return number;
}

int64_t GraphBuilder::addList(const Twine &name, ArrayRef<int64_t> integers) {
  return addIntegers(name, {int64_t(integers.size())}, ElementType::Int32,
                     integers);
}

void GraphBuilder::addOperator(const Form &form, std::vector<int64_t> inputs,
                               int64_t output) {
  Operator op;
  op.code = form.code.str();
  op.version = form.version;
  op.inputs = std::move(inputs);
  op.outputs = {output};
  op.optionsType = form.optionsType.str();
  op.options = form.options;
  model.operators.push_back(std::move(op));
}

/// Returns the activation that clamps codes to those of an encoding: "NONE" if
/// storing them does that, empty if there is none.
static StringRef findActivation(const Encoding &encoding) {
  int64_t limit = int64_t(1) << (encoding.storageBits - 1);
  auto codeOf = [&](double number) {
    return std::clamp<int64_t>(encoding.zeroPoint +
                                   std::llround(number / encoding.scale),
                               -limit, limit - 1);
  };
  if (encoding.low <= -limit && encoding.high >= limit - 1)
    return "NONE";
  if (encoding.low == codeOf(0)) {
    if (encoding.high >= limit - 1)
      return "RELU";
    if (encoding.high == codeOf(6))
      return "RELU6";
  }
  if (encoding.low == codeOf(-1) && encoding.high == codeOf(1))
    return "RELU_N1_TO_1";
  return "";
}

int64_t GraphBuilder::limit(int64_t tensor, const RequestedForm &requested) {
  const Encoding &encoding = *requested.encoding;
  SmallVector<int64_t> shape = model.tensors[tensor].shape;
  int64_t lowest = -(int64_t(1) << (encoding.storageBits - 1));
  StringRef activation = findActivation(encoding);
  if (activation == "NONE")
    return tensor;
  // No runtime has RELU_N1_TO_1 of codes as a separate operator.
  if (!activation.empty() && activation != "RELU_N1_TO_1") {
    int64_t output = addCodes(requested.name, shape, encoding);
    addOperator({activation, /*version=*/2}, {tensor}, output);
    return output;
  }
  bool hasHigh = encoding.high < -lowest - 1;
  auto bound = [&](StringRef code, int64_t number, const Twine &name) {
    int64_t constant = addIntegers(requested.name + "/bound", {1},
                                   elementTypeOf(encoding), number);
    setGrid(constant, encoding);
    int64_t output = addCodes(name, shape, encoding);
    addOperator({code, /*version=*/2, "MaximumMinimumOptions"},
                {tensor, constant}, output);
    tensor = output;
  };
  if (encoding.low > lowest)
    bound("MAXIMUM", encoding.low,
          hasHigh ? requested.name + "/limited" : requested.name);
  if (hasHigh)
    bound("MINIMUM", encoding.high, requested.name);
  return tensor;
}

int64_t GraphBuilder::write(const Form &form, std::vector<int64_t> inputs,
                            ArrayRef<int64_t> shape,
                            const RequestedForm &requested, ElementType type) {
  if (requested.isCodes()) {
    Encoding coarse = *requested.encoding;
    const double bound = findScaleBound(form, inputs, coarse.storageBits);
    if (coarse.scale <= bound) {
      while (coarse.scale <= bound)
        coarse.scale *= 2;
      coarse.low = -(int64_t(1) << (coarse.storageBits - 1));
      coarse.high = -coarse.low - 1;
      int64_t tensor = write(form, std::move(inputs), shape,
                             {coarse, requested.name + "/coarse"}, type);
      return write({"QUANTIZE", 2, "QuantizeOptions"}, {tensor}, shape,
                   requested, type);
    }
  }
  Form used = form;
  StringRef activation = "NONE";
  if (requested.isCodes())
    activation = findActivation(*requested.encoding);
  bool isFused = activation == "NONE" || (form.isFusing && !activation.empty());
  if (form.isFusing)
    used.options.push_back({"fused_activation_function",
                            std::string(isFused ? activation : "NONE")});
  std::string name = isFused ? requested.name : requested.name + "/unlimited";
  int64_t output = requested.isCodes()
                       ? addCodes(name, shape, *requested.encoding)
                       : addTensor(name, type, shape);
  addOperator(used, std::move(inputs), output);
  return isFused ? output : limit(output, requested);
}

int64_t GraphBuilder::write(const Form &form, std::vector<int64_t> inputs,
                            Value result, const RequestedForm &requested) {
  return write(form, std::move(inputs), onnx::typeOf(result).getShape(),
               requested, numberTypeOf(result).value_or(ElementType::Float32));
}

int64_t GraphBuilder::reshape(int64_t tensor, ArrayRef<int64_t> shape,
                              const Twine &name) {
  int64_t result = addLike(tensor, shape, name);
  SmallVector<int64_t> sizes = onnx::fileShape(shape);
  for (int64_t &size : sizes)
    size = size < 0 ? -1 : size;
  addOperator({"RESHAPE", 1, "ReshapeOptions"},
              {tensor, addList(name + "/shape", sizes)}, result);
  return result;
}

//===----------------------------------------------------------------------===//
// Grids
//===----------------------------------------------------------------------===//

static bool haveSameCodes(const Encoding &a, const Encoding &b) {
  return a.scale == b.scale && a.zeroPoint == b.zeroPoint &&
         a.storageBits == b.storageBits;
}

/// Returns the grid of a clamp's result.
static Encoding limitBy(const Encoding &encoding, tosa::ClampOp clamp) {
  auto codeOf = [&](Attribute number) {
    double value = cast<FloatAttr>(number).getValueAsDouble();
    return encoding.quantize(float(value));
  };
  Encoding result = encoding;
  result.low = std::max(encoding.low, codeOf(clamp.getMinVal()));
  result.high = std::min(encoding.high, codeOf(clamp.getMaxVal()));
  result.low = std::min(result.low, result.high);
  return result;
}

/// Returns whether the codes of a clamp's result are codes of its input.
static bool isOnGrid(const Encoding &encoding, tosa::ClampOp clamp) {
  auto isCode = [&](Attribute number, int64_t end, bool isLow) {
    auto value = float(cast<FloatAttr>(number).getValueAsDouble());
    float last = encoding.dequantize(end);
    return (isLow ? value <= last : value >= last) ||
           encoding.dequantize(encoding.quantize(value)) == value;
  };
  return isCode(clamp.getMinVal(), encoding.low, true) &&
         isCode(clamp.getMaxVal(), encoding.high, false);
}

std::optional<Encoding> GraphBuilder::findEncoding(Value value) {
  if (auto found = encodings.find(value); found != encodings.end())
    return found->second;
  std::optional<Encoding> result = createEncoding(value);
  encodings[value] = result;
  return result;
}

std::optional<Encoding> GraphBuilder::createEncoding(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op)) {
    if (point.isWeight())
      return std::nullopt;
    if (!point.getParametersAttr())
      return findEncoding(point.getInput());
    return Encoding::get(point.getParametersAttr());
  }
  if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(op);
      clamp && isa<FloatAttr>(clamp.getMinVal()) && !isPart(op)) {
    std::optional<Encoding> input = findEncoding(clamp.getInput());
    return input && isOnGrid(*input, clamp)
               ? std::optional<Encoding>(limitBy(*input, clamp))
               : std::nullopt;
  }
  if (!op || !isMovement(op) || isPart(op))
    return std::nullopt;
  std::optional<Encoding> common;
  for (Value operand : op->getOperands()) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    if (!type || !type.getElementType().isF32() || onnx::readConstant(operand))
      continue;
    std::optional<Encoding> encoding = findEncoding(operand);
    if (!encoding || (common && !haveSameCodes(*common, *encoding)))
      return std::nullopt;
    if (common) {
      common->low = std::min(common->low, encoding->low);
      common->high = std::max(common->high, encoding->high);
    } else {
      common = encoding;
    }
  }
  // Filled-in numbers must be codes, too.
  for (Value operand : op->getOperands()) {
    std::optional<onnx::Constant> constant =
        isa<RankedTensorType>(operand.getType()) && common
            ? onnx::readConstant(operand)
            : std::nullopt;
    if (constant && llvm::any_of(constant->values, [&](float number) {
          return common->dequantize(common->quantize(number)) != number;
        }))
      return std::nullopt;
  }
  return common;
}

void GraphBuilder::define(Value value, int64_t tensor,
                          const Encoding &encoding) {
  encodings[value] = encoding;
  codes[{value.getAsOpaquePointer(), encoding}] = tensor;
}

//===----------------------------------------------------------------------===//
// Codes
//===----------------------------------------------------------------------===//

FailureOr<int64_t> GraphBuilder::readStored(Value value) {
  Encoding encoding = *findEncoding(value);
  auto key = std::pair(value.getAsOpaquePointer(), encoding);
  if (auto found = codes.find(key); found != codes.end())
    return found->second;
  Operation *op = value.getDefiningOp();
  FailureOr<int64_t> tensor;
  if (auto point = dyn_cast<tpc::QuantizeOp>(op)) {
    tensor =
        point.getParametersAttr()
            ? makeCodes(op, point.getInput(), encoding, point.getUniqueName())
            : readStored(point.getInput());
  } else if (auto clamp = dyn_cast<tosa::ClampOp>(op)) {
    tensor = makeCodes(op, clamp.getInput(), encoding, onnx::nameOf(value));
  } else {
    Written written = writeOp(*this, op, {encoding, onnx::nameOf(value)});
    if (failed(written))
      return failure();
    if (!*written) {
      (void)refuseUnknown(op);
      return failure();
    }
    tensor = **written;
  }
  if (succeeded(tensor))
    codes[key] = *tensor;
  return tensor;
}

void GraphBuilder::explain(Value value) {
  std::string name = onnx::nameOf(value);
  for (const FloatPart &part : model.floatParts)
    if (part.name == name)
      return;
  model.floatParts.push_back(
      {name, reason.empty() ? "has no operator on codes" : reason});
}

Written GraphBuilder::writeValue(Value value, const RequestedForm &requested) {
  reason.clear();
  Operation *op = value.getDefiningOp();
  if (const KernelOp *layer = findLayer(value)) {
    Written written = writeLayer(*this, *layer, value, requested);
    if (failed(written) || *written)
      return written;
  }
  if (auto matched = operators.byRoot.find(op);
      matched != operators.byRoot.end()) {
    Written written = writeOperator(*this, matched->second, requested);
    if (failed(written) || *written)
      return written;
  }
  std::string why = reason;
  Written written = writeOp(*this, op, requested);
  if (reason.empty())
    reason = why;
  return written;
}

FailureOr<int64_t> GraphBuilder::makeCodes(Operation *user, Value value,
                                           const Encoding &encoding,
                                           StringRef name) {
  auto key = std::pair(value.getAsOpaquePointer(), encoding);
  if (auto found = codes.find(key); found != codes.end())
    return found->second;
  RequestedForm requested{encoding,
                          name.empty() ? onnx::nameOf(value) : name.str()};
  auto keep = [&](int64_t tensor) {
    codes[key] = tensor;
    return tensor;
  };
  if (std::optional<Encoding> present = findEncoding(value)) {
    FailureOr<int64_t> stored = readStored(value);
    if (failed(stored))
      return failure();
    if (haveSameCodes(*present, encoding))
      return keep(present->low >= encoding.low && present->high <= encoding.high
                      ? *stored
                      : limit(*stored, requested));
    return keep(
        write({"QUANTIZE", 2, "QuantizeOptions"}, {*stored}, value, requested));
  }
  if (std::optional<onnx::Constant> constant = onnx::readConstant(value)) {
    std::vector<int64_t> integers;
    for (float number : constant->values)
      integers.push_back(encoding.quantize(number));
    int64_t tensor = addIntegers(requested.name + "/constant", constant->shape,
                                 elementTypeOf(encoding), integers);
    setGrid(tensor, encoding);
    return tensor;
  }
  Operation *op = value.getDefiningOp();
  if (op && !isa<tpc::QuantizeOp>(op)) {
    if (auto clamp = dyn_cast<tosa::ClampOp>(op);
        clamp && isa<FloatAttr>(clamp.getMinVal()) && !isPart(op)) {
      FailureOr<int64_t> limited = makeCodes(
          op, clamp.getInput(), limitBy(encoding, clamp), requested.name);
      if (failed(limited))
        return failure();
      return keep(*limited);
    }
    Written written = writeValue(value, requested);
    if (failed(written))
      return failure();
    if (*written)
      return keep(**written);
    explain(value);
  }
  FailureOr<int64_t> read =
      readNumbers(user, value, requested.name + "/numbers");
  if (failed(read))
    return failure();
  return keep(
      write({"QUANTIZE", 1, "QuantizeOptions"}, {*read}, value, requested));
}

/// Returns a grid that contains exactly these numbers, or none.
static std::optional<Encoding> findExactGrid(ArrayRef<float> numbers,
                                             unsigned storageBits) {
  // Try the 64th part of the largest number as the step, of which all numbers
  // have to be multiples.
  float largest = 0;
  for (float number : numbers)
    largest = std::max(largest, std::abs(number));
  Encoding encoding;
  encoding.storageBits = encoding.bits = storageBits;
  encoding.high = storageBits == 8 ? 127 : 32767;
  encoding.low = -encoding.high;
  encoding.scale = largest == 0 ? 1 : double(largest) / 64;
  if (!std::isnormal(float(encoding.scale)) ||
      llvm::any_of(numbers, [&](float number) {
        return encoding.dequantize(encoding.quantize(number)) != number;
      }))
    return std::nullopt;
  return encoding;
}

Written GraphBuilder::readOperand(Operation *user, Value value,
                                  unsigned storageBits, Encoding *encoding) {
  std::optional<Encoding> found = findEncoding(value);
  if (found && found->storageBits == storageBits) {
    if (encoding)
      *encoding = *found;
    FailureOr<int64_t> stored = readStored(value);
    if (failed(stored))
      return failure();
    return std::optional<int64_t>(*stored);
  }
  if (found && found->storageBits == 8) {
    // The same numbers in 16 bits.
    Encoding wide = *found;
    wide.zeroPoint = 0;
    wide.low -= found->zeroPoint;
    wide.high -= found->zeroPoint;
    wide.storageBits = 16;
    if (encoding)
      *encoding = wide;
    wide.low = -32768;
    wide.high = 32767;
    FailureOr<int64_t> widened =
        makeCodes(user, value, wide, onnx::nameOf(value) + "/wide");
    if (failed(widened))
      return failure();
    return std::optional<int64_t>(*widened);
  }
  if (found)
    return std::optional<int64_t>(
        decline("reads codes of 16 bits and makes codes of 8"));
  std::optional<onnx::Constant> constant = onnx::readConstant(value);
  if (!constant)
    return std::optional<int64_t>(
        decline("reads an operand that is not quantized"));
  for (tpc::QuantizeOp point : constant->points)
    if (point.getParametersAttr() && !found)
      found = Encoding::get(point.getParametersAttr());
  if (!found || found->storageBits != storageBits)
    found = findExactGrid(constant->values, storageBits);
  if (!found)
    return std::optional<int64_t>(
        decline("reads constants that are not quantized"));
  if (encoding)
    *encoding = *found;
  FailureOr<int64_t> tensor =
      makeCodes(user, value, *found, onnx::nameOf(user->getResult(0)));
  if (failed(tensor))
    return failure();
  return std::optional<int64_t>(*tensor);
}

//===----------------------------------------------------------------------===//
// Numbers
//===----------------------------------------------------------------------===//

FailureOr<int64_t> GraphBuilder::readNumbers(Operation *user, Value value,
                                             StringRef requested) {
  if (auto found = numbers.find(value); found != numbers.end())
    return found->second;
  auto keep = [&](int64_t tensor) {
    numbers[value] = tensor;
    return tensor;
  };
  std::string name = requested.empty() ? onnx::nameOf(value) : requested.str();
  if (findEncoding(value)) {
    FailureOr<int64_t> stored = readStored(value);
    if (failed(stored))
      return failure();
    return keep(write({"DEQUANTIZE", 2, "DequantizeOptions"}, {*stored}, value,
                      {std::nullopt, name + "/numbers"}));
  }
  std::optional<ElementType> type = numberTypeOf(value);
  if (!type) {
    (void)refuse(
        user,
        "reads or makes a value of another type than tensors of f32, i64, i32 "
        "or i1",
        "export the module of before mct-lower-to-integer, and "
        "compute other types outside of the network");
    return failure();
  }
  if (std::optional<onnx::Constant> constant = onnx::readConstant(value))
    return keep(
        addNumbers(name + "/constant", constant->shape, constant->values));
  if (std::optional<ConstantTensor> constant = ConstantTensor::get(value)) {
    std::vector<int64_t> integers = constant->decode<int64_t>();
    if (constant->isSplat())
      integers.resize(constant->getNumElements(), integers.front());
    return keep(
        addIntegers(name + "/constant", constant->getShape(), *type, integers));
  }
  Operation *op = value.getDefiningOp();
  if (auto point = dyn_cast_or_null<tpc::QuantizeOp>(op))
    return readNumbers(user, point.getInput());
  if (op && op->getNumResults() == 1) {
    Written written = writeValue(value, {std::nullopt, name});
    if (failed(written))
      return failure();
    if (*written)
      return keep(**written);
  }
  (void)refuseUnknown(op ? op : user);
  return failure();
}

Written GraphBuilder::readOnOwnGrid(Operation *user, Value value,
                                    const RequestedForm &requested) {
  if (requested.isCodes())
    return readOperand(user, value,
                       requested.encoding->storageBits == 16 ? 16 : 8);
  FailureOr<int64_t> numbers = readNumbers(user, value);
  if (failed(numbers))
    return failure();
  return std::optional<int64_t>(*numbers);
}

FailureOr<int64_t> GraphBuilder::read(Operation *user, Value value,
                                      const RequestedForm &requested) {
  return requested.isCodes() ? makeCodes(user, value, *requested.encoding)
                             : readNumbers(user, value);
}

} // namespace mct::tflite
