// SPDX-License-Identifier: Apache-2.0
//
// Writes ops of TOSA as operators of TensorFlow Lite, one by one.
#include "OnnxResize.h"
#include "TfliteGraph.h"
#include "TfliteWindows.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>
#include <limits>

using namespace mlir;

namespace mct::tflite {

using MaybeTensor = std::optional<int64_t>;

bool isMovement(Operation *op) {
  return isa<tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::TileOp,
             tosa::ReverseOp, tosa::GatherOp, tosa::ConcatOp, tosa::PadOp,
             tosa::IdentityOp, tosa::MaxPool2dOp, tosa::ReduceMaxOp,
             tosa::ReduceMinOp, tosa::MaximumOp, tosa::MinimumOp,
             tosa::SelectOp>(op);
}

/// Writes an operator whose operands are read in the form that is requested for
/// the result, and of the constants `lists`.
static Written writeAlike(GraphBuilder &graph, Operation *op,
                          ValueRange operands, const Form &form,
                          ArrayRef<int64_t> lists,
                          const RequestedForm &requested) {
  std::vector<int64_t> inputs;
  for (Value operand : operands) {
    FailureOr<int64_t> input = graph.read(op, operand, requested);
    if (failed(input))
      return failure();
    inputs.push_back(*input);
  }
  llvm::append_range(inputs, lists);
  return MaybeTensor(
      graph.write(form, std::move(inputs), op->getResult(0), requested));
}

Written writeOnOwnGrids(GraphBuilder &graph, Operation *op, ValueRange operands,
                        const Form &form, const RequestedForm &requested) {
  std::vector<int64_t> inputs;
  for (Value operand : operands) {
    Written read = graph.readOnOwnGrid(op, operand, requested);
    if (failed(read) || !*read)
      return read;
    inputs.push_back(**read);
  }
  if (requested.isCodes() && !graph.canScale(form, inputs, *requested.encoding))
    return MaybeTensor();
  return MaybeTensor(
      graph.write(form, std::move(inputs), op->getResult(0), requested));
}

/// Writes an operator that, as far as is known, files have for numbers only.
static Written writeNumbers(GraphBuilder &graph, Operation *op,
                            ValueRange operands, const Form &form,
                            const RequestedForm &requested) {
  if (requested.isCodes())
    return MaybeTensor();
  return writeAlike(graph, op, operands, form, /*lists=*/{}, requested);
}

/// Writes a comparison, of codes if both operands have the same grid.
static Written writeComparison(GraphBuilder &graph, Operation *op, Form form,
                               const RequestedForm &requested) {
  std::optional<Encoding> lhs = graph.findEncoding(op->getOperand(0)),
                          rhs = graph.findEncoding(op->getOperand(1));
  if (!lhs || !rhs || lhs->scale != rhs->scale ||
      lhs->zeroPoint != rhs->zeroPoint || lhs->storageBits != 8 ||
      rhs->storageBits != 8)
    return writeNumbers(graph, op, op->getOperands(), form, requested);
  std::vector<int64_t> inputs;
  for (Value operand : op->getOperands()) {
    FailureOr<int64_t> stored = graph.readStored(operand);
    if (failed(stored))
      return failure();
    inputs.push_back(*stored);
  }
  form.version = 2;
  return MaybeTensor(
      graph.write(form, std::move(inputs), op->getResult(0), requested));
}

//===----------------------------------------------------------------------===//
// Element by element
//===----------------------------------------------------------------------===//

/// Writes a binary operator whose operands have their own grids.
static Written writeArithmetic(GraphBuilder &graph, Operation *op, Value lhs,
                               Value rhs, Form form,
                               const RequestedForm &requested) {
  if (requested.isCodes()) {
    form.version = requested.encoding->storageBits != 16 ? 2
                   : form.code == "ADD"                  ? 3
                   : form.code == "SUB"                  ? 5
                                                         : 4;
    if (form.code != "MUL")
      form.options.push_back({"pot_scale_int16", false});
  }
  return writeOnOwnGrids(graph, op, {lhs, rhs}, form, requested);
}

Written writeOnFixedGrid(GraphBuilder &graph, Operation *op, Value operand,
                         const Form &form, double scale, int64_t zeroPoint,
                         const RequestedForm &requested) {
  bool isWide = requested.isCodes() && requested.encoding->storageBits == 16;
  if (requested.isCodes() &&
      (requested.encoding->scale != (isWide ? 0x1p-15 : scale) ||
       requested.encoding->zeroPoint != (isWide ? 0 : zeroPoint)))
    return MaybeTensor(graph.decline(
        "has codes on another grid than the one that its operator has"));
  return writeOnOwnGrids(graph, op, operand, form, requested);
}

/// Writes numbers clamped to [low, high].
static Written write(GraphBuilder &graph, tosa::ClampOp op,
                     const RequestedForm &requested) {
  auto lowest = dyn_cast<FloatAttr>(op.getMinVal());
  auto highest = dyn_cast<FloatAttr>(op.getMaxVal());
  if (requested.isCodes() || !lowest || !highest)
    return MaybeTensor();
  return writeLimits(graph, op, op.getInput(), lowest.getValueAsDouble(),
                     highest.getValueAsDouble(), requested);
}

Written writeLimits(GraphBuilder &graph, Operation *op, Value operand,
                    double low, double high, const RequestedForm &requested) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  FailureOr<int64_t> input = graph.readNumbers(op, operand);
  if (failed(input))
    return failure();
  StringRef code = low == 0 && high >= kLargest ? "RELU"
                   : low == 0 && high == 6      ? "RELU6"
                   : low == -1 && high == 1     ? "RELU_N1_TO_1"
                                                : "";
  Value result = op->getResult(0);
  if (!code.empty())
    return MaybeTensor(graph.write({code}, {*input}, result, requested));
  int64_t tensor = *input;
  for (auto [operation, number, isNeeded] :
       {std::tuple("MAXIMUM", low, low > -kLargest),
        std::tuple("MINIMUM", high, high < kLargest)}) {
    if (!isNeeded)
      continue;
    int64_t bound =
        graph.addNumbers(requested.name + "/bound", {1}, float(number));
    tensor = graph.write({operation, 1, "MaximumMinimumOptions"},
                         {tensor, bound}, result, requested);
  }
  return MaybeTensor(tensor);
}

static Written write(GraphBuilder &graph, tosa::ReciprocalOp op,
                     const RequestedForm &requested) {
  if (requested.isCodes())
    return MaybeTensor();
  FailureOr<int64_t> input = graph.readNumbers(op, op.getInput1());
  if (failed(input))
    return failure();
  int64_t one = graph.addNumbers(requested.name + "/one", {1}, 1.0f);
  return MaybeTensor(graph.write({"DIV", 1, "DivOptions", {}, true},
                                 {one, *input}, op.getResult(), requested));
}

static StringRef schemaTypeOf(Value value) {
  Type type = onnx::typeOf(value).getElementType();
  return type.isF32()         ? "FLOAT32"
         : type.isInteger(1)  ? "BOOL"
         : type.isInteger(64) ? "INT64"
                              : "INT32";
}

static Written write(GraphBuilder &graph, tosa::CastOp op,
                     const RequestedForm &requested) {
  if (requested.isCodes())
    return MaybeTensor();
  FailureOr<int64_t> input = graph.readNumbers(op, op.getInput());
  if (failed(input))
    return failure();
  int64_t tensor = *input;
  // TOSA rounds half to even, while TensorFlow Lite truncates.
  if (onnx::typeOf(op.getInput()).getElementType().isF32() &&
      !onnx::typeOf(op.getOutput()).getElementType().isInteger(1))
    tensor = graph.write({"ROUND"}, {tensor}, op.getInput(),
                         {std::nullopt, requested.name + "/rounded"});
  return MaybeTensor(
      graph.write({"CAST",
                   1,
                   "CastOptions",
                   {{"in_data_type", schemaTypeOf(op.getInput()).str()},
                    {"out_data_type", schemaTypeOf(op.getOutput()).str()}}},
                  {tensor}, op.getOutput(), requested));
}

static Written write(GraphBuilder &graph, tosa::SelectOp op,
                     const RequestedForm &requested) {
  FailureOr<int64_t> condition = graph.readNumbers(op, op.getInput1());
  FailureOr<int64_t> yes = graph.read(op, op.getInput2(), requested);
  if (failed(condition) || failed(yes))
    return failure();
  FailureOr<int64_t> no = graph.read(op, op.getInput3(), requested);
  if (failed(no))
    return failure();
  return MaybeTensor(graph.write({"SELECT_V2", 1, "SelectV2Options"},
                                 {*condition, *yes, *no}, op.getOutput(),
                                 requested));
}

//===----------------------------------------------------------------------===//
// Movements
//===----------------------------------------------------------------------===//

/// Returns sizes in the form of a file's lists: -1 for an unknown one.
static SmallVector<int64_t> toSizes(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> sizes(shape);
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size))
      size = -1;
  return sizes;
}

static Written write(GraphBuilder &graph, tosa::ReshapeOp op,
                     const RequestedForm &requested) {
  int64_t shape =
      graph.addList(requested.name + "/shape",
                    toSizes(onnx::typeOf(op.getOutput()).getShape()));
  return writeAlike(graph, op, op.getInput1(), {"RESHAPE", 1, "ReshapeOptions"},
                    shape, requested);
}

static Written write(GraphBuilder &graph, tosa::TransposeOp op,
                     const RequestedForm &requested) {
  SmallVector<int64_t> axes(op.getPerms());
  int64_t list = graph.addList(requested.name + "/axes", axes);
  return writeAlike(graph, op, op.getInput1(),
                    {"TRANSPOSE", 2, "TransposeOptions"}, list, requested);
}

static Written write(GraphBuilder &graph, tosa::SliceOp op,
                     const RequestedForm &requested) {
  FailureOr<SmallVector<int64_t>> starts = onnx::readShape(op, op.getStart());
  if (failed(starts))
    return failure();
  int64_t begin = graph.addList(requested.name + "/begin", *starts);
  int64_t size =
      graph.addList(requested.name + "/size",
                    toSizes(onnx::typeOf(op.getOutput()).getShape()));
  return writeAlike(graph, op, op.getInput1(), {"SLICE", 2, "SliceOptions"},
                    {begin, size}, requested);
}

static Written write(GraphBuilder &graph, tosa::TileOp op,
                     const RequestedForm &requested) {
  FailureOr<SmallVector<int64_t>> counts =
      onnx::readShape(op, op.getMultiples());
  if (failed(counts))
    return failure();
  int64_t list = graph.addList(requested.name + "/counts", *counts);
  return writeAlike(graph, op, op.getInput1(), {"TILE", 2, "TileOptions"}, list,
                    requested);
}

static Written write(GraphBuilder &graph, tosa::ReverseOp op,
                     const RequestedForm &requested) {
  int64_t axis = graph.addList(requested.name + "/axis", int64_t(op.getAxis()));
  return writeAlike(graph, op, op.getInput1(),
                    {"REVERSE_V2", 3, "ReverseV2Options"}, axis, requested);
}

static Written write(GraphBuilder &graph, tosa::PadOp op,
                     const RequestedForm &requested) {
  FailureOr<SmallVector<int64_t>> sizes = onnx::readShape(op, op.getPadding());
  if (failed(sizes))
    return failure();
  std::optional<float> number = onnx::readNumber(op.getPadConst());
  if (!number)
    return LogicalResult(refuse(op,
                                "is filled with a value that is not constant",
                                "compute it outside of the network"));
  int64_t rank = onnx::typeOf(op.getInput1()).getRank();
  int64_t list = graph.addIntegers(requested.name + "/pads", {rank, 2},
                                   ElementType::Int32, *sizes);
  // PAD fills tensors of codes with the zero point, which represents 0.
  if (*number == 0)
    return writeAlike(graph, op, op.getInput1(), {"PAD", 2, "PadOptions"}, list,
                      requested);
  int64_t filling;
  if (requested.isCodes()) {
    const Encoding &encoding = *requested.encoding;
    filling = graph.addIntegers(requested.name + "/filling", {1},
                                encoding.storageBits == 16 ? ElementType::Int16
                                                           : ElementType::Int8,
                                encoding.quantize(*number));
    graph.setGrid(filling, encoding);
  } else {
    filling = graph.addNumbers(requested.name + "/filling", {1}, *number);
  }
  return writeAlike(graph, op, op.getInput1(), {"PADV2", 2, "PadV2Options"},
                    {list, filling}, requested);
}

static Written write(GraphBuilder &graph, tosa::ConcatOp op,
                     const RequestedForm &requested) {
  return writeAlike(graph, op, op.getInput1(),
                    {"CONCATENATION",
                     2,
                     "ConcatenationOptions",
                     {{"axis", int64_t(op.getAxis())},
                      {"fused_activation_function", std::string("NONE")}}},
                    /*lists=*/{}, requested);
}

static Written write(GraphBuilder &graph, tosa::GatherOp op,
                     const RequestedForm &requested) {
  FailureOr<int64_t> values = graph.read(op, op.getValues(), requested);
  if (failed(values))
    return failure();
  FailureOr<int64_t> indices = graph.readNumbers(op, op.getIndices());
  if (failed(indices))
    return failure();
  return MaybeTensor(
      graph.write({"GATHER",
                   5,
                   "GatherOptions",
                   {{"axis", int64_t(1)}, {"batch_dims", int64_t(1)}}},
                  {*values, *indices}, op.getOutput(), requested));
}

//===----------------------------------------------------------------------===//
// Windows and reductions
//===----------------------------------------------------------------------===//

template <typename Op>
static Written writePool(GraphBuilder &graph, Op op, StringRef code,
                         std::optional<float> filling,
                         const RequestedForm &requested) {
  FailureOr<int64_t> input = graph.read(op, op.getInput(), requested);
  if (failed(input))
    return failure();
  static constexpr int64_t kOnes[] = {1, 1};
  Windows windows{op.getKernel(), op.getStride(), kOnes, op.getPad()};
  PaddedImage padded =
      padImage(graph, *input, onnx::typeOf(op.getInput()).getShape(),
               onnx::typeOf(op.getOutput()).getShape(), windows, requested.name,
               filling);
  return MaybeTensor(graph.write({code,
                                  requested.isCodes() ? 2 : 1,
                                  "Pool2DOptions",
                                  {{"padding", padded.padding.str()},
                                   {"stride_h", op.getStride()[0]},
                                   {"stride_w", op.getStride()[1]},
                                   {"filter_height", op.getKernel()[0]},
                                   {"filter_width", op.getKernel()[1]}},
                                  /*isFusing=*/true},
                                 {padded.tensor}, op.getOutput(), requested));
}

static Written write(GraphBuilder &graph, tosa::AvgPool2dOp op,
                     const RequestedForm &requested) {
  static constexpr int64_t kOnes[] = {1, 1};
  ArrayRef<int64_t> from = onnx::typeOf(op.getInput()).getShape();
  ArrayRef<int64_t> to = onnx::typeOf(op.getOutput()).getShape();
  bool hasPads =
      llvm::any_of(op.getPad(), [](int64_t size) { return size != 0; });
  if (hasPads &&
      !findPadding(from.slice(1, 2), to.slice(1, 2),
                   {op.getKernel(), op.getStride(), kOnes, op.getPad()}))
    return LogicalResult(
        refuse(op, "leaves out padding of other sizes than SAME has",
               "pad in front of it, where zeros are to be counted"));
  if (!requested.isCodes())
    return writePool(graph, op, "AVERAGE_POOL_2D", std::nullopt, requested);
  std::optional<Encoding> input = graph.findEncoding(op.getInput());
  if (!input)
    return MaybeTensor(graph.decline("reads an operand that is not quantized"));
  if (input->scale == requested.encoding->scale &&
      input->zeroPoint == requested.encoding->zeroPoint &&
      input->storageBits == requested.encoding->storageBits)
    return writePool(graph, op, "AVERAGE_POOL_2D", std::nullopt, requested);
  if (hasPads)
    return MaybeTensor(graph.decline(
        "is padded, and has codes on another grid than its input"));
  // The stride does not matter if there is only one window, and devices limit
  // it.
  int64_t stride[] = {to[1] == 1 ? 1 : op.getStride()[0],
                      to[2] == 1 ? 1 : op.getStride()[1]};
  return writeWindowSum(graph, op, op.getInput(), op.getKernel(), stride, to,
                        1.0 / double(op.getKernel()[0] * op.getKernel()[1]),
                        requested);
}

static Written write(GraphBuilder &graph, tosa::ResizeOp op,
                     const RequestedForm &requested) {
  FailureOr<SmallVector<int64_t>> scale = onnx::readShape(op, op.getScale());
  FailureOr<SmallVector<int64_t>> offset = onnx::readShape(op, op.getOffset());
  if (failed(scale) || failed(offset))
    return failure();
  bool isBilinear = op.getMode() == tosa::ResizeMode::BILINEAR;
  ArrayRef<int64_t> from = onnx::typeOf(op.getInput()).getShape();
  ArrayRef<int64_t> to = onnx::typeOf(op.getOutput()).getShape();
  static constexpr onnx::ResizeForm kForms[] = {
      {"half_pixel", "round_prefer_ceil"},
      {"asymmetric", "floor"},
      {"align_corners", "round_prefer_ceil"}};
  const onnx::ResizeForm *found = onnx::findResize(
      isBilinear, *scale, *offset, from.slice(1, 2), to.slice(1, 2), kForms);
  if (!found)
    return LogicalResult(
        refuse(op, "reads other positions than any resize of TensorFlow Lite",
               "compute it outside of the network"));
  if (requested.isCodes()) {
    std::optional<Encoding> input = graph.findEncoding(op.getInput());
    if (!input || (isBilinear && *input != *requested.encoding))
      return MaybeTensor(
          graph.decline(input ? "has codes on another grid than its input"
                              : "reads an operand that is not quantized"));
  }
  int64_t sizes = graph.addList(requested.name + "/sizes", to.slice(1, 2));
  std::vector<Option> options = {
      {"align_corners", found->coordinates == "align_corners"},
      {"half_pixel_centers", found->coordinates == "half_pixel"}};
  return writeAlike(
      graph, op, op.getInput(),
      {isBilinear ? "RESIZE_BILINEAR" : "RESIZE_NEAREST_NEIGHBOR", 3,
       isBilinear ? "ResizeBilinearOptions" : "ResizeNearestNeighborOptions",
       std::move(options)},
      sizes, requested);
}

template <typename Op>
static Written writeReduction(GraphBuilder &graph, Op op, StringRef code,
                              const RequestedForm &requested) {
  int64_t axis = graph.addList(requested.name + "/axes", int64_t(op.getAxis()));
  return writeAlike(graph, op, op.getInput(),
                    {code,
                     requested.isCodes() ? 2 : 1,
                     "ReducerOptions",
                     {{"keep_dims", true}}},
                    axis, requested);
}

/// Writes the codes of sums over images, along two axes one after the other.
static Written writeImageSum(GraphBuilder &graph, tosa::ReduceSumOp op,
                             const RequestedForm &requested) {
  auto inner = op.getInput().getDefiningOp<tosa::ReduceSumOp>();
  if (!inner || onnx::typeOf(inner.getInput()).getRank() != 4 ||
      inner.getAxis() + op.getAxis() != 3 ||
      inner.getAxis() * op.getAxis() != 2)
    return MaybeTensor();
  ArrayRef<int64_t> from = onnx::typeOf(inner.getInput()).getShape();
  return writeWindowSum(graph, op, inner.getInput(), from.slice(1, 2),
                        /*stride=*/{1, 1},
                        onnx::typeOf(op.getOutput()).getShape(),
                        /*weight=*/1, requested);
}

static Written write(GraphBuilder &graph, tosa::ArgMaxOp op,
                     const RequestedForm &requested) {
  FailureOr<int64_t> input = graph.findEncoding(op.getInput())
                                 ? graph.readStored(op.getInput())
                                 : graph.readNumbers(op, op.getInput());
  if (failed(input))
    return failure();
  int64_t axis = graph.addIntegers(requested.name + "/axis", {},
                                   ElementType::Int32, int64_t(op.getAxis()));
  return MaybeTensor(graph.write(
      {"ARG_MAX", 2, "ArgMaxOptions", {{"output_type", std::string("INT32")}}},
      {*input, axis}, op.getOutput(), requested));
}

static Written write(GraphBuilder &graph, tosa::MatMulOp op,
                     const RequestedForm &requested) {
  Form form{"BATCH_MATMUL",
            1,
            "BatchMatMulOptions",
            {{"adj_x", false},
             {"adj_y", false},
             {"asymmetric_quantize_inputs", false}}};
  if (requested.isCodes())
    form.version = requested.encoding->storageBits == 16 ? 3 : 2;
  return writeOnOwnGrids(graph, op, {op.getA(), op.getB()}, form, requested);
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// Returns the operator for numbers that corresponds to an op with all its
/// operands.
static std::optional<Form> findNumbersForm(Operation *op) {
  static const llvm::StringMap<Form> kForms{
      {tosa::AbsOp::getOperationName(), {"ABS", 1, "AbsOptions"}},
      {tosa::CeilOp::getOperationName(), {"CEIL"}},
      {tosa::CosOp::getOperationName(), {"COS", 1, "CosOptions"}},
      {tosa::ExpOp::getOperationName(), {"EXP", 1, "ExpOptions"}},
      {tosa::FloorOp::getOperationName(), {"FLOOR"}},
      {tosa::LogOp::getOperationName(), {"LOG"}},
      {tosa::RsqrtOp::getOperationName(), {"RSQRT"}},
      {tosa::SinOp::getOperationName(), {"SIN"}},
      {tosa::PowOp::getOperationName(), {"POW", 1, "PowOptions"}},
      {tosa::EqualOp::getOperationName(), {"EQUAL", 1, "EqualOptions"}},
      {tosa::GreaterOp::getOperationName(), {"GREATER", 1, "GreaterOptions"}},
      {tosa::GreaterEqualOp::getOperationName(),
       {"GREATER_EQUAL", 1, "GreaterEqualOptions"}},
      {tosa::LogicalAndOp::getOperationName(),
       {"LOGICAL_AND", 1, "LogicalAndOptions"}},
      {tosa::LogicalOrOp::getOperationName(),
       {"LOGICAL_OR", 1, "LogicalOrOptions"}},
      {tosa::LogicalXorOp::getOperationName(),
       {"NOT_EQUAL", 1, "NotEqualOptions"}},
      {tosa::LogicalNotOp::getOperationName(),
       {"LOGICAL_NOT", 1, "LogicalNotOptions"}},
  };
  auto form = kForms.find(op->getName().getStringRef());
  return form == kForms.end() ? std::nullopt : std::optional(form->second);
}

/// Writes movements, reductions and ops over windows.
static Written writeStructure(GraphBuilder &graph, Operation *op,
                              const RequestedForm &requested) {
  return llvm::TypeSwitch<Operation *, Written>(op)
      .Case([&](tosa::ReduceSumOp sum) -> Written {
        return requested.isCodes()
                   ? writeImageSum(graph, sum, requested)
                   : writeReduction(graph, sum, "SUM", requested);
      })
      .Case([&](tosa::ReduceProductOp product) -> Written {
        return requested.isCodes()
                   ? Written(MaybeTensor())
                   : writeReduction(graph, product, "REDUCE_PROD", requested);
      })
      .Case([&](tosa::ReduceMaxOp largest) {
        return writeReduction(graph, largest, "REDUCE_MAX", requested);
      })
      .Case([&](tosa::ReduceMinOp smallest) {
        return writeReduction(graph, smallest, "REDUCE_MIN", requested);
      })
      .Case([&](tosa::ReduceAnyOp any) {
        return writeReduction(graph, any, "REDUCE_ANY", requested);
      })
      .Case([&](tosa::ReduceAllOp all) {
        return writeReduction(graph, all, "REDUCE_ALL", requested);
      })
      .Case([&](tosa::MaxPool2dOp pool) {
        return writePool(graph, pool, "MAX_POOL_2D",
                         -std::numeric_limits<float>::infinity(), requested);
      })
      .Case<tosa::ClampOp, tosa::ReciprocalOp, tosa::CastOp, tosa::SelectOp,
            tosa::ReshapeOp, tosa::TransposeOp, tosa::SliceOp, tosa::TileOp,
            tosa::ReverseOp, tosa::PadOp, tosa::ConcatOp, tosa::GatherOp,
            tosa::AvgPool2dOp, tosa::ResizeOp, tosa::ArgMaxOp, tosa::MatMulOp>(
          [&](auto known) { return write(graph, known, requested); })
      .Default(Written(MaybeTensor()));
}

Written writeOp(GraphBuilder &graph, Operation *op,
                const RequestedForm &requested) {
  if (std::optional<Form> form = findNumbersForm(op);
      form && isa<tosa::EqualOp, tosa::GreaterOp, tosa::GreaterEqualOp>(op))
    return writeComparison(graph, op, *form, requested);
  else if (form)
    return writeNumbers(graph, op, op->getOperands(), *form, requested);
  Form limits{"", requested.isCodes() ? 2 : 1, "MaximumMinimumOptions"};
  return llvm::TypeSwitch<Operation *, Written>(op)
      .Case([&](tosa::AddOp add) {
        return writeArithmetic(graph, op, add.getInput1(), add.getInput2(),
                               {"ADD", 1, "AddOptions", {}, true}, requested);
      })
      .Case([&](tosa::SubOp sub) {
        return writeArithmetic(graph, op, sub.getInput1(), sub.getInput2(),
                               {"SUB", 1, "SubOptions", {}, true}, requested);
      })
      .Case([&](tosa::MulOp mul) {
        return writeArithmetic(graph, op, mul.getInput1(), mul.getInput2(),
                               {"MUL", 1, "MulOptions", {}, true}, requested);
      })
      .Case([&](tosa::MaximumOp) {
        limits.code = "MAXIMUM";
        return writeAlike(graph, op, op->getOperands(), limits, {}, requested);
      })
      .Case([&](tosa::MinimumOp) {
        limits.code = "MINIMUM";
        return writeAlike(graph, op, op->getOperands(), limits, {}, requested);
      })
      .Case([&](tosa::SigmoidOp) {
        return writeOnFixedGrid(graph, op, op->getOperand(0),
                                {"LOGISTIC", requested.isCodes() ? 2 : 1},
                                0x1p-8, -128, requested);
      })
      .Case([&](tosa::TanhOp) {
        return writeOnFixedGrid(graph, op, op->getOperand(0),
                                {"TANH", requested.isCodes() ? 2 : 1}, 0x1p-7,
                                0, requested);
      })
      .Case([&](tosa::NegateOp negate) {
        return writeNumbers(graph, op, negate.getInput1(),
                            {"NEG", 1, "NegOptions"}, requested);
      })
      .Case([&](tosa::IdentityOp) -> Written {
        FailureOr<int64_t> input = graph.read(op, op->getOperand(0), requested);
        if (failed(input))
          return failure();
        return MaybeTensor(*input);
      })
      .Default(
          [&](Operation *) { return writeStructure(graph, op, requested); });
}

} // namespace mct::tflite
