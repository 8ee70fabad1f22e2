// SPDX-License-Identifier: Apache-2.0
//
// Convolutions, fully connected layers, and pools.
#include "TfliteGraph.h"
#include "TfliteWindows.h"
#include "mct/Planning/IntegerLayer.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include <cmath>

using namespace mlir;

namespace mct::tflite {

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

std::optional<StringRef> findPadding(ArrayRef<int64_t> from,
                                     ArrayRef<int64_t> to,
                                     const Windows &windows) {
  bool isSame = true, isValid = true;
  for (unsigned axis = 0; axis < 2; ++axis) {
    int64_t reach = (windows.sizes[axis] - 1) * windows.dilations[axis] + 1;
    int64_t stride = windows.strides[axis], before = windows.pads[2 * axis];
    int64_t total =
        std::max<int64_t>(0, (to[axis] - 1) * stride + reach - from[axis]);
    isSame &=
        to[axis] == (from[axis] + stride - 1) / stride && before == total / 2;
    isValid &= before == 0 && from[axis] >= reach &&
               to[axis] == (from[axis] - reach) / stride + 1;
  }
  // Prefer VALID to SAME if both pad nothing.
  if (isValid)
    return "VALID";
  return isSame ? std::optional<StringRef>("SAME") : std::nullopt;
}

Value skipCut(Value image, ArrayRef<int64_t> to, const Windows &windows) {
  auto slice = image.getDefiningOp<tosa::SliceOp>();
  // With larger strides than windows, Ethos-U85 takes fewer cycles if the slice
  // stays.
  if (!slice || windows.sizes[0] < windows.strides[0] ||
      windows.sizes[1] < windows.strides[1])
    return image;
  Value whole = slice.getInput1();
  ArrayRef<int64_t> from = onnx::typeOf(whole).getShape();
  ArrayRef<int64_t> cut = onnx::typeOf(image).getShape();
  FailureOr<SmallVector<int64_t>> starts =
      onnx::readShape(slice, slice.getStart());
  bool isCut =
      succeeded(starts) && from.size() == 4 &&
      llvm::all_of(*starts, [](int64_t start) { return start == 0; }) &&
      from.front() == cut.front() && from.back() == cut.back() &&
      findPadding(cut.slice(1, 2), to.slice(1, 2), windows) ==
          std::optional<StringRef>("VALID") &&
      findPadding(from.slice(1, 2), to.slice(1, 2), windows) ==
          std::optional<StringRef>("VALID");
  return isCut ? whole : image;
}

PaddedImage padImage(GraphBuilder &graph, int64_t tensor,
                     ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                     const Windows &windows, const Twine &name,
                     std::optional<float> filling) {
  std::optional<StringRef> padding =
      findPadding(from.slice(1, 2), to.slice(1, 2), windows);
  if (padding)
    return {tensor, *padding};
  // Pad as far as the last window reaches, which may be less than in TOSA.
  SmallVector<int64_t> shape(from), pads(8, 0);
  for (unsigned axis = 0; axis < 2; ++axis) {
    int64_t reach = (windows.sizes[axis] - 1) * windows.dilations[axis] + 1;
    int64_t before = windows.pads[2 * axis];
    int64_t needed = (to[axis + 1] - 1) * windows.strides[axis] + reach;
    int64_t after = std::max<int64_t>(0, needed - before - from[axis + 1]);
    pads[2 * axis + 2] = before;
    pads[2 * axis + 3] = after;
    shape[axis + 1] += before + after;
  }
  int64_t padded = graph.addLike(tensor, shape, name + "/padded");
  int64_t sizes =
      graph.addIntegers(name + "/pads", {4, 2}, ElementType::Int32, pads);
  if (!filling) {
    graph.addOperator({"PAD", 2, "PadOptions"}, {tensor, sizes}, padded);
    return {padded, "VALID"};
  }
  const Tensor like = graph.model.tensors[tensor];
  int64_t value;
  if (like.scales.empty()) {
    value = graph.addNumbers(name + "/filling", {1}, *filling);
  } else {
    // Use the lowest code, regardless of its value.
    int64_t code = like.type == ElementType::Int16 ? -32768 : -128;
    value = graph.addIntegers(name + "/filling", {1}, like.type, code);
    graph.model.tensors[value].scales = like.scales;
    graph.model.tensors[value].zeroPoints = like.zeroPoints;
  }
  graph.addOperator({"PADV2", 2, "PadV2Options"}, {tensor, sizes, value},
                    padded);
  return {padded, "VALID"};
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Emits an error: files cannot have the kernel of the layer.
static LogicalResult refuseKernel(const KernelOp &layer, const Twine &why) {
  InFlightDiagnostic error = refuse(
      layer.getOperation(), "has a kernel " + why,
      "kernels are symmetric there, of at most 8 bits, with a scale or one "
      "for each output channel; select others");
  if (tpc::QuantizeOp point = layer.getKernelPoint())
    error.attachNote(point.getLoc()) << "its point is here";
  return error;
}

namespace {
/// Kernel and bias of a layer in the form that a file has.
struct StoredLayer {
  std::vector<int64_t> kernel, bias;
  std::vector<double> scales, biasScales;
  ElementType kernelType = ElementType::Int8;
  /// Largest magnitude of a sum.
  double reach = 0;
};
} // namespace

/// Returns the integers of a layer whose input is on a grid, or none if it has
/// to be computed with numbers.
static FailureOr<std::optional<StoredLayer>>
readLayer(GraphBuilder &graph, const KernelOp &layer, const Encoding &input) {
  std::variant<IntegerLayer, Reason> read =
      IntegerLayer::get(layer, input.getGrid());
  if (Reason *failed = std::get_if<Reason>(&read)) {
    if (*failed == Reason::KernelNotQuantized)
      return std::optional<StoredLayer>(
          graph.decline("has a kernel that is not quantized"));
    return LogicalResult(refuseKernel(
        layer, *failed == Reason::NotPerChannel
                   ? "with scales along other axes than its output channels"
                   : "whose levels are not evenly spaced"));
  }
  const auto &integers = std::get<IntegerLayer>(read);
  for (const quantization::Grid &grid : integers.getKernelGrids())
    if (grid.zeroPoint != 0 || grid.qmin < -128 || grid.qmax > 127)
      return LogicalResult(refuseKernel(
          layer, grid.zeroPoint != 0 ? "with zero points"
                                     : "with levels beyond 8 signed bits"));
  std::optional<std::vector<float>> bias = layer.getBias();
  if (!bias)
    return std::optional<StoredLayer>(
        graph.decline("has a bias that is not one constant per channel"));
  StoredLayer stored;
  stored.kernel.assign(integers.getKernelCodes().begin(),
                       integers.getKernelCodes().end());
  for (const quantization::Grid &grid : integers.getKernelGrids())
    stored.scales.push_back(double(float(grid.step)));
  double limit = input.storageBits == 16 ? 0x1p47 : 0x1p31;
  for (int64_t channel = 0; channel < layer.numOutputChannels(); ++channel) {
    double code = integers.getBiasCode(channel, (*bias)[channel]);
    double reach = integers.getReach(channel) + std::abs(code);
    if (!(reach < limit))
      return std::optional<StoredLayer>(
          graph.decline("has sums that do not fit into its accumulator"));
    stored.bias.push_back(int64_t(code));
    stored.reach = std::max(stored.reach, reach);
  }
  for (double scale : stored.scales)
    stored.biasScales.push_back(double(float(scale * input.scale)));
  auto [smallest, largest] =
      std::minmax_element(stored.kernel.begin(), stored.kernel.end());
  if (graph.options.allowsInt4 && input.storageBits == 8 &&
      layer.getKernelPoint().getParametersAttr().getBits() <= 4 &&
      *smallest >= -7 && *largest <= 7)
    stored.kernelType = ElementType::Int4;
  return std::optional<StoredLayer>(std::move(stored));
}

/// Adds the constants of a layer: the kernel with this shape, its scales along
/// an axis of that shape, and the bias.
static std::pair<int64_t, int64_t>
addConstants(GraphBuilder &graph, const StoredLayer &stored,
             ArrayRef<int64_t> shape, int64_t axis, bool isWide,
             const KernelOp &layer, const Twine &name) {
  tpc::QuantizeOp point = layer.getKernelPoint();
  std::string kernelName =
      point ? point.getUniqueName() : (name + "/kernel").str();
  int64_t kernel =
      graph.addIntegers(kernelName, shape, stored.kernelType, stored.kernel);
  int64_t bias = graph.addIntegers(
      name + "/bias", {int64_t(stored.bias.size())},
      isWide ? ElementType::Int64 : ElementType::Int32, stored.bias);
  Tensor &kernelTensor = graph.model.tensors[kernel];
  kernelTensor.scales = stored.scales;
  kernelTensor.zeroPoints.assign(stored.scales.size(), 0);
  kernelTensor.axis = axis;
  Tensor &biasTensor = graph.model.tensors[bias];
  biasTensor.scales = stored.biasScales;
  biasTensor.zeroPoints.assign(stored.biasScales.size(), 0);
  return {kernel, bias};
}

/// Returns the f32 kernel, rounded to its levels, and bias of a layer.
static std::optional<std::pair<onnx::Constant, std::vector<float>>>
readFloatLayer(const KernelOp &layer) {
  std::optional<onnx::Constant> kernel =
      onnx::readConstant(layer.getKernelOperand().get());
  std::optional<std::vector<float>> bias = layer.getBias();
  if (!kernel || !bias)
    return std::nullopt;
  return std::pair(std::move(*kernel), std::move(*bias));
}

/// Transposes a kernel from [K, M] to [M, K].
template <typename T>
static std::vector<T> turn(const std::vector<T> &values, int64_t rows,
                           int64_t columns) {
  std::vector<T> turned(values.size());
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      turned[column * rows + row] = values[row * columns + column];
  return turned;
}

namespace {
/// Tensors that the operator of a layer reads.
struct LayerInputs {
  int64_t input, kernel, bias;
  bool isInt4 = false, isPerChannel = false;
  double reach = 0;
};
} // namespace

/// Writes the input of a layer, its kernel with this shape and its scales along
/// an axis of that shape, and its bias. The kernel of a matrix product is
/// transposed. Returns none if no operator supports these codes or, for
/// numbers, if kernel or bias are not constants of f32.
static FailureOr<std::optional<LayerInputs>>
writeInputs(GraphBuilder &graph, const KernelOp &layer, Value input,
            ArrayRef<int64_t> shape, int64_t axis,
            const RequestedForm &requested) {
  Operation *op = layer.getOperation();
  bool isProduct = isa<tosa::MatMulOp>(op);
  auto order = [&](auto &values) {
    if (isProduct)
      values =
          turn(values, layer.numInputChannels(), layer.numOutputChannels());
  };
  LayerInputs written;
  if (!requested.isCodes()) {
    auto constants = readFloatLayer(layer);
    if (!constants)
      return std::optional<LayerInputs>();
    auto &[kernel, bias] = *constants;
    FailureOr<int64_t> read = graph.readNumbers(op, input);
    if (failed(read))
      return failure();
    order(kernel.values);
    written.input = *read;
    written.kernel =
        graph.addNumbers(requested.name + "/kernel", shape, kernel.values);
    written.bias = graph.addNumbers(requested.name + "/bias",
                                    {int64_t(bias.size())}, bias);
    return std::optional(written);
  }
  bool isWide = requested.encoding->storageBits == 16;
  Encoding encoding;
  Written read = graph.readOperand(op, input, isWide ? 16 : 8, &encoding);
  if (failed(read))
    return failure();
  if (!*read)
    return std::optional<LayerInputs>();
  FailureOr<std::optional<StoredLayer>> stored =
      readLayer(graph, layer, encoding);
  if (failed(stored))
    return failure();
  if (!*stored)
    return std::optional<LayerInputs>();
  order((*stored)->kernel);
  written.input = **read;
  written.isInt4 = (*stored)->kernelType == ElementType::Int4;
  written.isPerChannel = (*stored)->scales.size() > 1;
  written.reach = (*stored)->reach;
  std::tie(written.kernel, written.bias) =
      addConstants(graph, **stored, shape, axis, isWide, layer, requested.name);
  return std::optional(written);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Returns the operator of a convolution, without its padding.
static Form formOfConvolution(const KernelOp &layer, bool isWide, bool isInt4) {
  ArrayRef<int64_t> strides = layer.getStrides();
  std::vector<Option> options{{"stride_h", strides[0]},
                              {"stride_w", strides[1]}};
  if (layer.isTransposed())
    return {"TRANSPOSE_CONV", 4, "TransposeConvOptions", std::move(options),
            /*isFusing=*/true};
  options.push_back({"dilation_h_factor", layer.getDilations()[0]});
  options.push_back({"dilation_w_factor", layer.getDilations()[1]});
  int64_t version = isInt4 ? 7 : isWide ? 5 : 3;
  if (!layer.isDepthwise())
    return {"CONV_2D", isInt4 ? 6 : version, "Conv2DOptions",
            std::move(options), /*isFusing=*/true};
  ArrayRef<int64_t> kernel = layer.getKernelShape();
  options.push_back({"depth_multiplier", kernel[3]});
  return {"DEPTHWISE_CONV_2D", version, "DepthwiseConv2DOptions",
          std::move(options), /*isFusing=*/true};
}

/// Writes a transposed convolution. The part of the result that TOSA cuts off
/// has to be that of SAME, or nothing.
static Written writeTransposed(GraphBuilder &graph, const KernelOp &layer,
                               Value result, Form form,
                               std::vector<int64_t> inputs,
                               const RequestedForm &requested) {
  ArrayRef<int64_t> to = onnx::typeOf(result).getShape();
  ArrayRef<int64_t> from = onnx::typeOf(layer.getInput().get()).getShape();
  ArrayRef<int64_t> cut = layer.getPadding();
  bool isSame = true, isValid = true;
  for (unsigned axis = 0; axis < 2; ++axis) {
    int64_t whole = (from[axis + 1] - 1) * layer.getStrides()[axis] +
                    layer.getWindow()[axis];
    int64_t total = std::max<int64_t>(0, whole - to[axis + 1]);
    isSame &= to[axis + 1] == from[axis + 1] * layer.getStrides()[axis] &&
              cut[2 * axis] == -(total / 2);
    isValid &= cut[2 * axis] == 0 && cut[2 * axis + 1] == 0;
  }
  if (!isSame && !isValid)
    return LogicalResult(
        refuse(layer.getOperation(),
               "crops its result in another way than SAME and VALID do",
               "crop behind the convolution, by a slice"));
  if (ShapedType::isDynamic(to[0]))
    return LogicalResult(refuse(layer.getOperation(),
                                "is transposed, and a file has the size of its "
                                "result with the batch",
                                "mct-set-batch=size=1 gives it one"));
  form.options.push_back({"padding", std::string(isValid ? "VALID" : "SAME")});
  inputs.insert(inputs.begin(), graph.addList(requested.name + "/shape", to));
  std::swap(inputs[1], inputs[2]);
  return std::optional<int64_t>(
      graph.write(form, std::move(inputs), result, requested));
}

static Written writeConvolution(GraphBuilder &graph, const KernelOp &layer,
                                Value result, const RequestedForm &requested) {
  Operation *op = layer.getOperation();
  Windows windows{layer.getWindow(), layer.getStrides(), layer.getDilations(),
                  layer.getPadding()};
  Value image = layer.getInput().get();
  if (!layer.isTransposed())
    image = skipCut(image, onnx::typeOf(op->getResult(0)).getShape(), windows);
  bool isWide = requested.isCodes() && requested.encoding->storageBits == 16;
  SmallVector<int64_t> kernelShape(layer.getKernelShape());
  if (isa<tosa::DepthwiseConv2DOp>(op))
    kernelShape = {1, kernelShape[0], kernelShape[1],
                   kernelShape[2] * kernelShape[3]};
  FailureOr<std::optional<LayerInputs>> inputs = writeInputs(
      graph, layer, image, kernelShape, layer.isDepthwise() ? 3 : 0, requested);
  if (failed(inputs))
    return failure();
  if (!*inputs && !requested.isCodes())
    return LogicalResult(
        refuse(op, "has a kernel or bias that is not an f32 constant",
               "fold what makes it, by mct-prepare"));
  if (!*inputs)
    return std::optional<int64_t>();
  auto [input, kernel, bias, isInt4, isPerChannel, reach] = **inputs;
  Form form = formOfConvolution(layer, isWide, isInt4);
  form.reach = reach;
  if (layer.isTransposed())
    return writeTransposed(graph, layer, result, form, {input, kernel, bias},
                           requested);
  PaddedImage padded = padImage(graph, input, onnx::typeOf(image).getShape(),
                                onnx::typeOf(op->getResult(0)).getShape(),
                                windows, requested.name);
  form.options.push_back({"padding", padded.padding.str()});
  return std::optional<int64_t>(
      graph.write(form, {padded.tensor, kernel, bias}, result, requested));
}

//===----------------------------------------------------------------------===//
// Layers of features
//===----------------------------------------------------------------------===//

/// Returns the value [..., inputs] that a layer reads through reshapes.
static Value skipReshapes(Value value, int64_t inputs) {
  while (auto reshape = value.getDefiningOp<tosa::ReshapeOp>()) {
    ArrayRef<int64_t> shape = onnx::typeOf(reshape.getInput1()).getShape();
    if (shape.size() < 2 || shape.back() != inputs)
      break;
    value = reshape.getInput1();
  }
  return value;
}

Written writeDense(GraphBuilder &graph, const KernelOp &layer, Value input,
                   Value result, const RequestedForm &requested) {
  int64_t inputs = layer.numInputChannels(),
          outputs = layer.numOutputChannels();
  FailureOr<std::optional<LayerInputs>> read =
      writeInputs(graph, layer, skipReshapes(input, inputs), {outputs, inputs},
                  0, requested);
  if (failed(read))
    return failure();
  if (!*read)
    return std::optional<int64_t>();
  auto [tensor, kernel, bias, isInt4, isPerChannel, reach] = **read;
  bool isWide = requested.isCodes() && requested.encoding->storageBits == 16;
  int64_t version = isPerChannel ? 12 : isInt4 ? 10 : isWide ? 7 : 4;
  Form form{
      "FULLY_CONNECTED",
      version,
      "FullyConnectedOptions",
      {{"weights_format", std::string("DEFAULT")}, {"keep_num_dims", false}},
      /*isFusing=*/true,
      reach};
  ArrayRef<int64_t> to = onnx::typeOf(result).getShape();
  int64_t rows = 1;
  for (int64_t size : to.drop_back())
    rows = ShapedType::isDynamic(size) || ShapedType::isDynamic(rows)
               ? ShapedType::kDynamic
               : rows * size;
  if (to.size() == 2)
    return std::optional<int64_t>(
        graph.write(form, {tensor, kernel, bias}, result, requested));
  RequestedForm flat{requested.encoding, requested.name + "/rows"};
  int64_t product =
      graph.write(form, {tensor, kernel, bias}, {rows, outputs}, flat);
  return std::optional<int64_t>(graph.reshape(product, to, requested.name));
}

Written writeLayer(GraphBuilder &graph, const KernelOp &layer, Value result,
                   const RequestedForm &requested) {
  Operation *op = layer.getOperation();
  if (isa<tosa::MatMulOp>(op))
    return onnx::typeOf(layer.getKernelOperand().get()).getDimSize(0) == 1
               ? writeDense(graph, layer, layer.getInput().get(), result,
                            requested)
               : Written(std::optional<int64_t>());
  if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp>(op))
    return writeConvolution(graph, layer, result, requested);
  return std::optional<int64_t>();
}

//===----------------------------------------------------------------------===//
// Sums of windows
//===----------------------------------------------------------------------===//

/// Code of the weights with which windows are summed, so that a bias of 1 is
/// less than any difference of sums, and halves are rounded up.
static constexpr int64_t kSumCode = 64;
/// A larger kernel would be most of the file.
static constexpr int64_t kLargestSumKernel = 1 << 18;

namespace {
/// Sums of codes times `scale`, plus an offset that is less than a step of the
/// sums.
struct CodeSums {
  int64_t tensor;
  Encoding input;
  double scale;
  int64_t offset;
  double reach;
};
} // namespace

/// Adds the kernel and the bias of a sum, for `outputs` output channels.
static std::pair<int64_t, int64_t>
addSumConstants(GraphBuilder &graph, const CodeSums &sums,
                ArrayRef<int64_t> shape, int64_t outputs,
                const RequestedForm &requested) {
  std::vector<int64_t> codes(ShapedType::getNumElements(shape), kSumCode),
      offsets(outputs, sums.offset);
  int64_t kernel = graph.addIntegers(requested.name + "/ones", shape,
                                     ElementType::Int8, codes);
  int64_t bias = graph.addIntegers(requested.name + "/bias", {outputs},
                                   ElementType::Int32, offsets);
  Encoding grid;
  grid.scale = sums.scale;
  graph.setGrid(kernel, grid);
  grid.scale = double(float(sums.scale * sums.input.scale));
  graph.setGrid(bias, grid);
  return {kernel, bias};
}

/// Largest number of positions for which the depthwise kernels of processors
/// are fast.
static constexpr int64_t kFastWindow = 25;

/// Returns the operator of a sum, without padding.
static Form formOfSums(const CodeSums &sums, bool isDepthwise,
                       int64_t strideHeight, int64_t strideWidth) {
  std::vector<Option> options{{"padding", std::string("VALID")},
                              {"stride_h", strideHeight},
                              {"stride_w", strideWidth},
                              {"dilation_h_factor", int64_t(1)},
                              {"dilation_w_factor", int64_t(1)}};
  if (!isDepthwise)
    return {"CONV_2D",         3,         "Conv2DOptions", std::move(options),
            /*isFusing=*/true, sums.reach};
  options.push_back({"depth_multiplier", int64_t(1)});
  return {"DEPTHWISE_CONV_2D",      3,
          "DepthwiseConv2DOptions", std::move(options),
          /*isFusing=*/true,        sums.reach};
}

/// Writes sums over whole images. The positions form a column with few
/// channels, which takes Ethos-U fewer cycles than a square with all channels.
/// If there are many positions, they become the channels of a convolution.
static Written writeWholeSum(GraphBuilder &graph, const CodeSums &sums,
                             ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                             const RequestedForm &requested) {
  int64_t batch = from[0], channels = from[3], positions = from[1] * from[2];
  RequestedForm row{requested.encoding, requested.name + "/row"};
  bool isDepthwise = positions <= kFastWindow;
  int64_t depth = !isDepthwise         ? 1
                  : channels % 16 == 0 ? 16
                  : channels % 8 == 0  ? 8
                                       : channels;
  int64_t image = sums.tensor;
  if (isDepthwise) {
    image = graph.reshape(image, {batch, positions, channels / depth, depth},
                          requested.name + "/column");
  } else {
    image = graph.reshape(image, {batch, positions, channels},
                          requested.name + "/positions");
    int64_t turned = graph.addLike(image, {batch, channels, positions},
                                   requested.name + "/channels");
    graph.addOperator(
        {"TRANSPOSE", 2, "TransposeOptions"},
        {image, graph.addList(requested.name + "/axes", {0, 2, 1})}, turned);
    image = graph.reshape(turned, {batch, 1, channels, positions},
                          requested.name + "/column");
  }
  SmallVector<int64_t> window{1, isDepthwise ? positions : 1, 1,
                              isDepthwise ? depth : positions};
  auto [kernel, bias] = addSumConstants(graph, sums, window, depth, requested);
  int64_t product =
      graph.write(formOfSums(sums, isDepthwise, 1, 1), {image, kernel, bias},
                  {batch, 1, channels / depth, depth}, row);
  return std::optional<int64_t>(graph.reshape(product, to, requested.name));
}

Written writeWindowSum(GraphBuilder &graph, Operation *op, Value input,
                       ArrayRef<int64_t> window, ArrayRef<int64_t> stride,
                       ArrayRef<int64_t> shape, double weight,
                       const RequestedForm &requested) {
  ArrayRef<int64_t> from = onnx::typeOf(input).getShape();
  int64_t channels = from.back(), positions = window[0] * window[1];
  bool isWhole = from.slice(1, 2) == window;
  if (requested.encoding->storageBits != 8 ||
      positions * (isWhole ? 1 : channels) > kLargestSumKernel)
    return std::optional<int64_t>(
        graph.decline("has too many weights as a convolution"));
  CodeSums sums;
  Written read = graph.readOperand(op, input, 8, &sums.input);
  if (failed(read) || !*read)
    return read;
  sums.reach = sums.input.getReach() * double(positions * kSumCode) + 1;
  if (!(sums.reach < 0x1p31))
    return std::optional<int64_t>(
        graph.decline("has sums that do not fit into its accumulator"));
  sums.tensor = **read;
  sums.scale = double(float(weight / double(kSumCode)));
  double factor = sums.input.scale * weight / requested.encoding->scale;
  bool hasMiddles =
      quantization::isPowerOfTwo(factor) &&
      requested.encoding->rounding == quantization::Rounding::HalfUp;
  sums.offset = hasMiddles ? 1 : 0;
  if (isWhole)
    return writeWholeSum(graph, sums, from, shape, requested);
  auto [kernel, bias] = addSumConstants(
      graph, sums, {1, window[0], window[1], channels}, channels, requested);
  return std::optional<int64_t>(
      graph.write(formOfSums(sums, /*isDepthwise=*/true, stride[0], stride[1]),
                  {sums.tensor, kernel, bias}, shape, requested));
}

} // namespace mct::tflite
