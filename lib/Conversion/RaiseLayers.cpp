// SPDX-License-Identifier: Apache-2.0
#include "RaiseLinalg.h"
#include "mct/Conversion/TosaBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mct;

/// Returns the product of sizes; dynamic if one of them is.
static int64_t multiply(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes) {
    if (ShapedType::isDynamic(size))
      return size;
    product *= size;
  }
  return product;
}

/// Returns the axis of a map along which only this loop runs, or none.
static std::optional<int64_t> findAxis(AffineMap map, unsigned loop) {
  for (auto [axis, expression] : llvm::enumerate(map.getResults()))
    if (auto dimension = dyn_cast<AffineDimExpr>(expression);
        dimension && dimension.getPosition() == loop)
      return int64_t(axis);
  return std::nullopt;
}

/// Returns the axes of loops, in their order, or none if a loop has no axis.
static std::optional<SmallVector<int64_t>> findAxes(AffineMap map,
                                                    ArrayRef<unsigned> loops) {
  SmallVector<int64_t> axes;
  for (unsigned loop : loops) {
    std::optional<int64_t> axis = findAxis(map, loop);
    if (!axis)
      return std::nullopt;
    axes.push_back(*axis);
  }
  return axes;
}

/// Transposes a value whose axes are `loops` to the order of `map`.
static Value toOrder(TosaBuilder &builder, Value value,
                     ArrayRef<unsigned> loops, AffineMap map) {
  std::optional<SmallVector<int64_t>> axes = findAxes(map, loops);
  if (!axes || axes->size() != map.getNumResults())
    return nullptr;
  SmallVector<int64_t> order(axes->size());
  for (auto [from, to] : llvm::enumerate(*axes))
    order[to] = int64_t(from);
  return builder.transpose(value, order);
}

/// Adds the initial value of the op, unless it is 0.
static Value addInit(TosaBuilder &builder, Value value, Value init) {
  if (TosaBuilder::getNumber(init) == 0.0)
    return value;
  Value start = builder.read(init);
  return start ? builder.add(value, TosaBuilder::getRepeated(start)) : Value();
}

/// Returns true for products of f32 values that are summed in floating point.
static bool isFloat(Value input, Value kernel, Value result) {
  Type element = getTensorType(result).getElementType();
  return (element.isF32() || element.isF64()) &&
         getTensorType(input).getElementType().isF32() &&
         getTensorType(kernel).getElementType().isF32();
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

namespace {

struct RaiseContraction
    : RaisingPattern<OpInterfaceRewritePattern<linalg::LinalgOp>> {
  RaiseContraction(MLIRContext *context, RaiseFailures *failures)
      : RaisingPattern(context, failures, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || !linalg::isaContractionOpInterface(op))
      return failure();
    FailureOr<linalg::ContractionDimensions> loops =
        linalg::inferContractionDims(op);
    TosaBuilder builder(op, rewriter);
    Value left = builder.read(op.getDpsInputs()[0]),
          right = builder.read(op.getDpsInputs()[1]);
    if (failed(loops) || !left || !right ||
        !isFloat(left, right, op->getResult(0)))
      return decline(op, "is not a matrix product of floats");
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    left = flatten(builder, left, maps[0], {loops->batch, loops->m, loops->k});
    right =
        flatten(builder, right, maps[1], {loops->batch, loops->k, loops->n});
    if (!left || !right)
      return decline(op, "reads its operands by no "
                         "permutation of their axes");
    RankedTensorType a = getTensorType(left), b = getTensorType(right);
    Value product = tosa::MatMulOp::create(
        builder, a.clone({a.getDimSize(0), a.getDimSize(1), b.getDimSize(2)}),
        left, right);
    SmallVector<unsigned> order;
    SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
    for (ArrayRef<unsigned> part :
         {ArrayRef<unsigned>(loops->batch), ArrayRef<unsigned>(loops->m),
          ArrayRef<unsigned>(loops->n)})
      for (unsigned loop : part) {
        order.push_back(loop);
        shape.push_back(ranges[loop]);
      }
    Value result =
        toOrder(builder, builder.reshape(product, shape), order, maps[2]);
    result = result ? addInit(builder, result, op.getDpsInits()[0]) : Value();
    if (!result)
      return decline(op, "starts from a tensor that TOSA cannot add");
    builder.replace(result);
    return success();
  }

private:
  /// Collapses the axes of each of three groups of loops into one axis.
  static Value flatten(TosaBuilder &builder, Value value, AffineMap map,
                       std::array<ArrayRef<unsigned>, 3> groups) {
    SmallVector<int64_t> order, shape;
    for (ArrayRef<unsigned> group : groups) {
      std::optional<SmallVector<int64_t>> axes = findAxes(map, group);
      if (!axes)
        return nullptr;
      SmallVector<int64_t> sizes;
      for (int64_t axis : *axes)
        sizes.push_back(getTensorType(value).getDimSize(axis));
      shape.push_back(multiply(sizes));
      llvm::append_range(order, *axes);
    }
    if (order.size() != map.getNumResults() ||
        llvm::count_if(shape, ShapedType::isDynamic) > 1)
      return nullptr;
    return builder.reshape(builder.transpose(value, order), shape);
  }
};

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// An axis of the input along which windows are placed.
struct WindowAxis {
  int64_t axis;
  unsigned output, filter;
  int64_t stride, dilation;
  /// Size of the result, and of the window.
  int64_t numOutputs, size;
  /// Number of padded elements before and after the input.
  int64_t low = 0, high = 0;

  /// Returns the number of elements that all windows together cover.
  int64_t covered() const {
    return (numOutputs - 1) * stride + (size - 1) * dilation + 1;
  }
};

/// Adds the coefficients of the loops in an expression to `coefficients`.
bool addCoefficients(AffineExpr expression, int64_t factor,
                     SmallVectorImpl<int64_t> &coefficients) {
  if (auto dimension = dyn_cast<AffineDimExpr>(expression)) {
    coefficients[dimension.getPosition()] += factor;
    return true;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expression);
  if (!binary)
    return false;
  if (binary.getKind() == AffineExprKind::Add)
    return addCoefficients(binary.getLHS(), factor, coefficients) &&
           addCoefficients(binary.getRHS(), factor, coefficients);
  auto constant = dyn_cast<AffineConstantExpr>(binary.getRHS());
  return binary.getKind() == AffineExprKind::Mul && constant &&
         addCoefficients(binary.getLHS(), factor * constant.getValue(),
                         coefficients);
}

/// The loops of a convolution or a pool, and the windows over its input.
struct Windows {
  linalg::ConvolutionDimensions loops;
  SmallVector<WindowAxis> axes;

  static std::optional<Windows> get(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics() || op.getNumDpsInputs() != 2)
      return std::nullopt;
    FailureOr<linalg::ConvolutionDimensions> loops =
        linalg::inferConvolutionDims(op);
    if (failed(loops))
      return std::nullopt;
    Windows windows{std::move(*loops), {}};
    SmallVector<int64_t> ranges = op.getStaticLoopRanges();
    for (auto [axis, expression] :
         llvm::enumerate(op.getIndexingMapsArray()[0].getResults())) {
      if (isa<AffineDimExpr>(expression))
        continue;
      SmallVector<int64_t> coefficients(ranges.size(), 0);
      if (!addCoefficients(expression, 1, coefficients))
        return std::nullopt;
      std::optional<unsigned> output, filter;
      for (auto [loop, coefficient] : llvm::enumerate(coefficients)) {
        if (coefficient == 0)
          continue;
        bool isOutput = llvm::is_contained(windows.loops.outputImage, loop),
             isFilter = llvm::is_contained(windows.loops.filterLoop, loop);
        if (coefficient < 0 || isOutput == isFilter ||
            (isOutput ? output : filter))
          return std::nullopt;
        (isOutput ? output : filter) = unsigned(loop);
      }
      if (!output || !filter || ShapedType::isDynamic(ranges[*output]) ||
          ShapedType::isDynamic(ranges[*filter]))
        return std::nullopt;
      windows.axes.push_back({int64_t(axis), *output, *filter,
                              coefficients[*output], coefficients[*filter],
                              ranges[*output], ranges[*filter]});
    }
    if (windows.axes.empty() || windows.axes.size() > 2)
      return std::nullopt;
    return windows;
  }

  SmallVector<unsigned> outputs() const {
    return llvm::map_to_vector(axes, [](auto &axis) { return axis.output; });
  }
  SmallVector<unsigned> filters() const {
    return llvm::map_to_vector(axes, [](auto &axis) { return axis.filter; });
  }
  SmallVector<int64_t> places() const {
    return llvm::map_to_vector(axes, [](auto &axis) { return axis.axis; });
  }

  /// Absorbs padding by a number that satisfies `isPadding`, if only axes with
  /// windows are padded. Returns the input without padding.
  Value takePadding(Value input, function_ref<bool(double)> isPadding) {
    auto pad = input.getDefiningOp<tosa::PadOp>();
    DenseIntElementsAttr sizes;
    if (!pad || !matchPattern(pad.getPadding(), m_Constant(&sizes)))
      return input;
    std::optional<double> number = TosaBuilder::getNumber(pad.getPadConst());
    if (!number || !isPadding(*number))
      return input;
    SmallVector<int64_t> values(
        llvm::map_range(sizes.getValues<APInt>(),
                        [](const APInt &size) { return size.getSExtValue(); }));
    for (size_t axis = 0; 2 * axis != values.size(); ++axis)
      if ((values[2 * axis] != 0 || values[2 * axis + 1] != 0) &&
          !llvm::is_contained(places(), int64_t(axis)))
        return input;
    for (WindowAxis &axis : axes) {
      axis.low = values[2 * axis.axis];
      axis.high = values[2 * axis.axis + 1];
    }
    return pad.getInput1();
  }

  /// Removes elements that no window covers, first from the padding, then from
  /// the input.
  Value cut(TosaBuilder &builder, Value input) {
    SmallVector<int64_t> sizes(getTensorType(input).getShape());
    for (WindowAxis &axis : axes) {
      int64_t rest = axis.low + sizes[axis.axis] + axis.high - axis.covered();
      int64_t fromPadding = std::min(rest, axis.high);
      axis.high -= fromPadding;
      sizes[axis.axis] -= rest - fromPadding;
    }
    return builder.slice(input, SmallVector<int64_t>(sizes.size(), 0), sizes);
  }

  /// Returns the values of the first and the second axis. If there is only one
  /// axis, it is the second one.
  DenseI64ArrayAttr getPair(Builder &builder,
                            function_ref<int64_t(const WindowAxis &)> get) {
    return builder.getDenseI64ArrayAttr(
        {axes.size() == 1 ? 1 : get(axes.front()), get(axes.back())});
  }
  DenseI64ArrayAttr getStrides(Builder &builder) {
    return getPair(builder, [](auto &axis) { return axis.stride; });
  }
  DenseI64ArrayAttr getDilations(Builder &builder) {
    return getPair(builder, [](auto &axis) { return axis.dilation; });
  }
  DenseI64ArrayAttr getPadding(Builder &builder) {
    SmallVector<int64_t> sizes;
    if (axes.size() == 1)
      sizes = {0, 0};
    for (const WindowAxis &axis : axes)
      sizes.append({axis.low, axis.high});
    return builder.getDenseI64ArrayAttr(sizes);
  }
};

/// Inserts an axis of size 1 before the only image axis of a value.
Value toImage(TosaBuilder &builder, Value value, size_t numAxes, size_t place) {
  if (numAxes == 2)
    return value;
  SmallVector<int64_t> shape(getTensorType(value).getShape());
  shape.insert(shape.begin() + place, 1);
  return builder.reshape(value, shape);
}
Value fromImage(TosaBuilder &builder, Value value, size_t numAxes) {
  if (numAxes == 2)
    return value;
  SmallVector<int64_t> shape(getTensorType(value).getShape());
  shape.erase(shape.begin() + 1);
  return builder.reshape(value, shape);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Elements with zeros between, before and after them.
struct Spread {
  Value source;
  SmallVector<int64_t> sizes, strides, low;

  /// Matches the ops to which the insertion of a slice is raised.
  static std::optional<Spread> get(Value value) {
    Spread spread;
    size_t rank = getTensorType(value).getRank();
    spread.low.assign(rank, 0);
    auto isZero = [](tosa::PadOp pad) {
      return TosaBuilder::getNumber(pad.getPadConst()) == 0.0;
    };
    if (auto pad = value.getDefiningOp<tosa::PadOp>()) {
      DenseIntElementsAttr sizes;
      if (!isZero(pad) || !matchPattern(pad.getPadding(), m_Constant(&sizes)))
        return std::nullopt;
      for (size_t axis = 0; axis != rank; ++axis)
        spread.low[axis] =
            (*(sizes.value_begin<APInt>() + 2 * axis)).getSExtValue();
      value = pad.getInput1();
    }
    if (auto slice = value.getDefiningOp<tosa::SliceOp>()) {
      DenseIntElementsAttr start;
      if (!matchPattern(slice.getStart(), m_Constant(&start)) ||
          !llvm::all_of(start.getValues<APInt>(),
                        [](const APInt &each) { return each.isZero(); }))
        return std::nullopt;
      value = slice.getInput1();
    }
    auto joined = value.getDefiningOp<tosa::ReshapeOp>();
    auto pad = joined ? joined.getInput1().getDefiningOp<tosa::PadOp>()
                      : tosa::PadOp();
    auto apart = pad ? pad.getInput1().getDefiningOp<tosa::ReshapeOp>()
                     : tosa::ReshapeOp();
    if (!apart || !isZero(pad))
      return std::nullopt;
    spread.source = apart.getInput1();
    ArrayRef<int64_t> from = getTensorType(apart).getShape(),
                      to = getTensorType(value).getShape();
    if (from.size() != 2 * rank || to.size() != rank)
      return std::nullopt;
    for (size_t axis = 0; axis != rank; ++axis) {
      int64_t size = from[2 * axis];
      if (size == 0 || to[axis] % size != 0 || from[2 * axis + 1] != 1)
        return std::nullopt;
      spread.sizes.push_back(size);
      spread.strides.push_back(to[axis] / size);
    }
    return spread;
  }
};

struct RaiseConvolution
    : RaisingPattern<OpInterfaceRewritePattern<linalg::LinalgOp>> {
  RaiseConvolution(MLIRContext *context, RaiseFailures *failures)
      : RaisingPattern(context, failures, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!linalg::isaConvolutionOpInterface(op) || !multiplies(op))
      return failure();
    std::optional<Windows> windows = Windows::get(op);
    if (!windows)
      return decline(
          op, "is not a convolution along one or two axes of known sizes");
    TosaBuilder builder(op, rewriter);
    Value input = builder.read(op.getDpsInputs()[0]),
          kernel = builder.read(op.getDpsInputs()[1]);
    const linalg::ConvolutionDimensions &loops = windows->loops;
    if (!input || !kernel || !isFloat(input, kernel, op->getResult(0)) ||
        loops.batch.size() > 1 || loops.depth.size() > 1 ||
        loops.inputChannel.size() > 1 || loops.outputChannel.size() > 1 ||
        loops.depth.size() + loops.inputChannel.size() == 0)
      return decline(op, "has axes that no convolution of TOSA has");
    if (Value raised = raise(builder, op, *windows, input, kernel)) {
      builder.replace(raised);
      return success();
    }
    return decline(op,
                   "has a layout, or a start, that no convolution of TOSA has");
  }

private:
  /// Returns true if the body is a sum of products.
  static bool multiplies(linalg::LinalgOp op) {
    Operation *sum =
        op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    if (!isa_and_nonnull<arith::AddFOp>(sum))
      return false;
    return llvm::any_of(sum->getOperands(), [](Value operand) {
      return operand.getDefiningOp<arith::MulFOp>();
    });
  }

  static Value raise(TosaBuilder &builder, linalg::LinalgOp op,
                     Windows &windows, Value input, Value kernel) {
    const linalg::ConvolutionDimensions &loops = windows.loops;
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    bool isDepthwise = loops.inputChannel.empty();
    // A transposed convolution reads elements with zeros between them.
    std::optional<Spread> spread;
    if (loops.depth.empty())
      spread = Spread::get(input);
    if (spread && !isTransposed(windows, *spread))
      spread.reset();
    if (spread)
      input = builder.reshape(spread->source, spread->sizes);
    else
      input =
          windows.cut(builder, windows.takePadding(input, [](double number) {
            return number == 0;
          }));

    // Order of the input's axes: batch, image, group, channel.
    SmallVector<unsigned> inner(ArrayRef<unsigned>(loops.depth));
    llvm::append_range(inner, loops.inputChannel);
    std::optional<SmallVector<int64_t>> batch = findAxes(maps[0], loops.batch),
                                        channels = findAxes(maps[0], inner);
    if (!batch || !channels)
      return nullptr;
    SmallVector<int64_t> order(*batch);
    llvm::append_range(order, windows.places());
    llvm::append_range(order, *channels);
    if (order.size() != maps[0].getNumResults())
      return nullptr;
    input = builder.transpose(input, order);
    if (batch->empty()) {
      SmallVector<int64_t> shape(getTensorType(input).getShape());
      shape.insert(shape.begin(), 1);
      input = builder.reshape(input, shape);
    }
    input = toImage(builder, input, windows.axes.size(), 1);

    // Order of the kernel's axes: image, group, multiplier if depthwise;
    // otherwise group, output channel, image, input channel.
    SmallVector<unsigned> axes;
    if (isDepthwise) {
      axes = windows.filters();
      llvm::append_range(axes, loops.depth);
      llvm::append_range(axes, loops.outputChannel);
    } else {
      axes.assign(loops.depth.begin(), loops.depth.end());
      llvm::append_range(axes, loops.outputChannel);
      llvm::append_range(axes, windows.filters());
      llvm::append_range(axes, loops.inputChannel);
    }
    std::optional<SmallVector<int64_t>> kernelAxes = findAxes(maps[1], axes);
    if (!kernelAxes || kernelAxes->size() != maps[1].getNumResults())
      return nullptr;
    kernel = builder.transpose(kernel, *kernelAxes);
    kernel = toImage(
        builder, kernel, windows.axes.size(),
        isDepthwise ? 0 : loops.depth.size() + loops.outputChannel.size());
    if (loops.outputChannel.empty()) {
      SmallVector<int64_t> shape(getTensorType(kernel).getShape());
      shape.insert(
          isDepthwise ? shape.end() : shape.begin() + loops.depth.size(), 1);
      kernel = builder.reshape(kernel, shape);
    }

    // Order of the result's axes: batch, image, group, output channel.
    SmallVector<unsigned> outputs(ArrayRef<unsigned>(loops.batch));
    llvm::append_range(outputs, windows.outputs());
    llvm::append_range(outputs, loops.depth);
    llvm::append_range(outputs, loops.outputChannel);
    SmallVector<int64_t> ranges = op.getStaticLoopRanges(), shape;
    for (unsigned loop : outputs)
      shape.push_back(ranges[loop]);
    SmallVector<int64_t> channelAxes;
    for (ArrayRef<unsigned> part : {ArrayRef<unsigned>(loops.depth),
                                    ArrayRef<unsigned>(loops.outputChannel)})
      for (unsigned loop : part)
        channelAxes.push_back(ranges[loop]);
    int64_t numOutputs = multiply(channelAxes);
    Value init = op.getDpsInits()[0];
    Value bias = getBias(builder, init, maps[2], loops, numOutputs);
    Value result;
    if (spread)
      result = createTransposed(builder, windows, *spread, input, kernel, bias,
                                numOutputs);
    else if (isDepthwise)
      result = createConvolution<tosa::DepthwiseConv2DOp>(
          builder, windows, input, kernel, bias, numOutputs);
    else if (loops.depth.empty())
      result = createConvolution<tosa::Conv2DOp>(builder, windows, input,
                                                 kernel, bias, numOutputs);
    else
      result = createGroups(builder, windows, input, kernel, bias);
    if (!result)
      return nullptr;
    result = builder.reshape(result, shape);
    result = toOrder(builder, result, outputs, maps[2]);
    return result && !bias ? addInit(builder, result, init) : result;
  }

  /// Returns the initial value as one number per output channel, or null if it
  /// does not have that form.
  static Value getBias(TosaBuilder &builder, Value init, AffineMap map,
                       const linalg::ConvolutionDimensions &loops,
                       int64_t numOutputs) {
    if (std::optional<double> number = TosaBuilder::getNumber(init))
      return builder.createSplat(numOutputs, builder.getF32Type(), *number);
    Value start = builder.read(init);
    start = start ? TosaBuilder::getRepeated(start) : Value();
    if (!start)
      return nullptr;
    SmallVector<unsigned> channels(ArrayRef<unsigned>(loops.depth));
    llvm::append_range(channels, loops.outputChannel);
    std::optional<SmallVector<int64_t>> axes = findAxes(map, channels);
    if (!axes || !llvm::is_sorted(*axes))
      return nullptr;
    for (auto [axis, size] : llvm::enumerate(getTensorType(start).getShape()))
      if (size != 1 && !llvm::is_contained(*axes, int64_t(axis)))
        return nullptr;
    if (getTensorType(start).getNumElements() != numOutputs)
      return nullptr;
    return builder.reshape(start, numOutputs);
  }

  static SmallVector<int64_t> getImageShape(Windows &windows, Value input,
                                            int64_t numChannels) {
    SmallVector<int64_t> shape = {getTensorType(input).getDimSize(0)};
    if (windows.axes.size() == 1)
      shape.push_back(1);
    for (const WindowAxis &axis : windows.axes)
      shape.push_back(axis.numOutputs);
    shape.push_back(numChannels);
    return shape;
  }

  static Value orZero(TosaBuilder &builder, Value bias, int64_t numOutputs) {
    return bias ? bias
                : builder.createSplat(numOutputs, builder.getF32Type(), 0);
  }

  template <typename Op>
  static Value createConvolution(TosaBuilder &builder, Windows &windows,
                                 Value input, Value kernel, Value bias,
                                 int64_t numOutputs) {
    auto type =
        getTensorType(input).clone(getImageShape(windows, input, numOutputs));
    return Op::create(
        builder, type, input, kernel, orZero(builder, bias, numOutputs),
        windows.getPadding(builder), windows.getStrides(builder),
        windows.getDilations(builder), TypeAttr::get(builder.getF32Type()));
  }

  /// Creates one convolution for each group.
  static Value createGroups(TosaBuilder &builder, Windows &windows, Value input,
                            Value kernel, Value bias) {
    SmallVector<int64_t> from(getTensorType(input).getShape()),
        weights(getTensorType(kernel).getShape());
    int64_t numGroups = weights.front(), numOutputs = weights[1];
    SmallVector<Value> results;
    for (int64_t group = 0; group != numGroups; ++group) {
      SmallVector<int64_t> offsets(from.size(), 0), sizes(from);
      offsets[3] = group;
      sizes[3] = 1;
      Value part = builder.slice(input, offsets, sizes);
      sizes.erase(sizes.begin() + 3);
      part = builder.reshape(part, sizes);
      SmallVector<int64_t> first(weights.size(), 0), rows(weights);
      first[0] = group;
      rows[0] = 1;
      Value own = builder.slice(kernel, first, rows);
      own = builder.reshape(own, ArrayRef<int64_t>(rows).drop_front());
      Value ownBias =
          bias ? builder.slice(bias, group * numOutputs, numOutputs) : Value();
      results.push_back(createConvolution<tosa::Conv2DOp>(
          builder, windows, part, own, ownBias, numOutputs));
    }
    if (results.size() == 1)
      return results.front();
    auto type = getTensorType(input).clone(
        getImageShape(windows, input, numGroups * numOutputs));
    return tosa::ConcatOp::create(builder, type, results, 3u);
  }

  /// Returns true if the convolution of spread elements is a transposed
  /// convolution.
  static bool isTransposed(const Windows &windows, const Spread &spread) {
    for (auto [axis, stride] : llvm::enumerate(spread.strides))
      if (stride != 1 && !llvm::is_contained(windows.places(), int64_t(axis)))
        return false;
    bool isSpread = false;
    for (const WindowAxis &axis : windows.axes) {
      if (axis.stride != 1 || axis.dilation != 1 ||
          getOutputPadding(axis, spread).second <= -axis.size)
        return false;
      isSpread |= spread.strides[axis.axis] != 1;
    }
    return isSpread;
  }

  /// Returns TOSA's `out_pad` before and after an axis.
  static std::pair<int64_t, int64_t> getOutputPadding(const WindowAxis &axis,
                                                      const Spread &spread) {
    int64_t low = spread.low[axis.axis] - (axis.size - 1);
    return {low, axis.numOutputs -
                     (spread.sizes[axis.axis] - 1) * spread.strides[axis.axis] -
                     low - axis.size};
  }

  static Value createTransposed(TosaBuilder &builder, Windows &windows,
                                const Spread &spread, Value input, Value kernel,
                                Value bias, int64_t numOutputs) {
    SmallVector<int64_t> padding, strides;
    if (windows.axes.size() == 1) {
      padding = {0, 0};
      strides = {1};
    }
    for (const WindowAxis &axis : windows.axes) {
      auto [low, high] = getOutputPadding(axis, spread);
      padding.append({low, high});
      strides.push_back(spread.strides[axis.axis]);
    }
    for (uint32_t axis : {1u, 2u})
      if (getTensorType(kernel).getDimSize(axis) != 1)
        kernel =
            tosa::ReverseOp::create(builder, kernel.getType(), kernel, axis);
    auto type =
        getTensorType(input).clone(getImageShape(windows, input, numOutputs));
    return tosa::TransposeConv2DOp::create(
        builder, type, input, kernel, orZero(builder, bias, numOutputs),
        builder.getDenseI64ArrayAttr(padding),
        builder.getDenseI64ArrayAttr(strides),
        TypeAttr::get(builder.getF32Type()));
  }
};

//===----------------------------------------------------------------------===//
// Pools
//===----------------------------------------------------------------------===//

struct RaisePool : RaisingPattern<OpInterfaceRewritePattern<linalg::LinalgOp>> {
  RaisePool(MLIRContext *context, RaiseFailures *failures)
      : RaisingPattern(context, failures, /*benefit=*/2) {}

  LogicalResult matchAndRewrite(linalg::LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!linalg::isaConvolutionOpInterface(op) ||
        !op.getBlock()->getArgument(1).use_empty())
      return failure();
    std::optional<Windows> windows = Windows::get(op);
    if (!windows)
      return decline(op, "is not a pool along one or two axes of known sizes");
    Operation *last =
        op.getBlock()->getTerminator()->getOperand(0).getDefiningOp();
    bool isMaximum = isa_and_nonnull<arith::MaximumFOp, arith::MaxNumFOp>(last),
         isSum = isa_and_nonnull<arith::AddFOp>(last);
    std::optional<double> start = TosaBuilder::getNumber(op.getDpsInits()[0]);
    auto isLowest = [](double number) {
      return number <= double(std::numeric_limits<float>::lowest());
    };
    if (!llvm::is_contained(last ? last->getOperands() : ValueRange(),
                            Value(op.getBlock()->getArgument(0))) ||
        !start || (isMaximum ? !isLowest(*start) : !isSum || *start != 0) ||
        llvm::any_of(windows->axes,
                     [](auto &axis) { return axis.dilation != 1; }))
      return decline(
          op, "is neither the maximum nor the sum of windows without gaps");
    TosaBuilder builder(op, rewriter);
    Value input = builder.read(op.getDpsInputs()[0]);
    if (!input || !getTensorType(input).getElementType().isF32())
      return decline(op, "is not a pool of floats");
    if (isMaximum)
      input = windows->takePadding(input, isLowest);
    Value raised =
        raise(builder, op, *windows, windows->cut(builder, input), isMaximum);
    if (!raised)
      return decline(op, "has a layout that no pool has");
    builder.replace(raised);
    return success();
  }

private:
  static Value raise(TosaBuilder &builder, linalg::LinalgOp op,
                     Windows &windows, Value input, bool isMaximum) {
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    // The first axis other than the image is the batch; the others are
    // channels.
    SmallVector<unsigned> others(ArrayRef<unsigned>(windows.loops.batch));
    llvm::append_range(others, windows.loops.depth);
    std::optional<SmallVector<int64_t>> axes = findAxes(maps[0], others);
    if (!axes || axes->empty() ||
        axes->size() + windows.axes.size() != maps[0].getNumResults())
      return nullptr;
    llvm::sort(*axes);
    SmallVector<unsigned> loops;
    for (int64_t axis : *axes)
      loops.push_back(
          cast<AffineDimExpr>(maps[0].getResult(axis)).getPosition());
    SmallVector<int64_t> order = {axes->front()};
    llvm::append_range(order, windows.places());
    llvm::append_range(order, ArrayRef<int64_t>(*axes).drop_front());
    input = builder.transpose(input, order);
    ArrayRef<int64_t> sizes = getTensorType(input).getShape();
    int64_t numChannels = multiply(sizes.drop_front(1 + windows.axes.size()));
    SmallVector<int64_t> shape(sizes.take_front(1 + windows.axes.size()));
    shape.push_back(numChannels);
    if (llvm::count_if(shape, ShapedType::isDynamic) > 1)
      return nullptr;
    input =
        toImage(builder, builder.reshape(input, shape), windows.axes.size(), 1);
    SmallVector<int64_t> pooled = {shape.front()};
    if (windows.axes.size() == 1)
      pooled.push_back(1);
    int64_t count = 1;
    for (const WindowAxis &axis : windows.axes) {
      pooled.push_back(axis.numOutputs);
      count *= axis.size;
    }
    pooled.push_back(numChannels);
    RankedTensorType type = getTensorType(input).clone(pooled);
    DenseI64ArrayAttr kernel = windows.getPair(
        builder, [](const WindowAxis &axis) { return axis.size; });
    Value result;
    if (isMaximum) {
      result = tosa::MaxPool2dOp::create(builder, type, input, kernel,
                                         windows.getStrides(builder),
                                         windows.getPadding(builder));
    } else {
      result = tosa::AvgPool2dOp::create(
          builder, type, input, kernel, windows.getStrides(builder),
          windows.getPadding(builder), TypeAttr::get(builder.getF32Type()));
    }
    result = fromImage(builder, result, windows.axes.size());
    SmallVector<int64_t> ranges = op.getStaticLoopRanges(), apart = {shape[0]};
    SmallVector<unsigned> outputs = {loops.front()};
    for (const WindowAxis &axis : windows.axes) {
      apart.push_back(axis.numOutputs);
      outputs.push_back(axis.output);
    }
    for (unsigned loop : ArrayRef<unsigned>(loops).drop_front()) {
      apart.push_back(ranges[loop]);
      outputs.push_back(loop);
    }
    result = toOrder(builder, builder.reshape(result, apart), outputs, maps[2]);
    if (!result || isMaximum)
      return result;
    // Return the sum; a division by the count is raised to the mean again.
    return builder.multiply(
        result, builder.createSplat(
                    SmallVector<int64_t>(getTensorType(result).getRank(), 1),
                    builder.getF32Type(), double(count)));
  }
};

} // namespace

void mct::populateRaiseLayersPatterns(RewritePatternSet &patterns,
                                      RaiseFailures *failures) {
  patterns.add<RaiseContraction, RaiseConvolution, RaisePool>(
      patterns.getContext(), failures);
}
