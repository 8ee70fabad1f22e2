// SPDX-License-Identifier: Apache-2.0
#include "Sites.h"

#include "mct/IR/Names.h"
#include "mct/Support/ContextFiles.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"

using namespace mlir;
using namespace mct;
using namespace mct::execution;
using mct::tpc::QuantizeOp;

std::string mct::execution::describeOp(Operation *op) {
  if (StringAttr name = mct::getName(op->getLoc()))
    return name.str();
  return op->getName().getStringRef().str();
}

bool mct::execution::isStaticFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

bool SiteFinder::isZero(Value value) {
  std::optional<ConstantTensor> constant = constants.evaluate(value);
  return constant && constant->isUniformly(0);
}

std::optional<ConstantFloats> SiteFinder::evaluateFloats(Value value) {
  std::optional<ConstantTensor> constant = constants.evaluate(value);
  if (!constant || !constant->getType().getElementType().isF32())
    return std::nullopt;
  return ConstantFloats::convert(std::move(*constant));
}

/// Returns the op that is the only user of the value, or null.
Operation *SiteFinder::soleUser(Value value) const {
  if (!value.hasOneUse() || kept.contains(value))
    return nullptr;
  Operation *user = *value.user_begin();
  return user->getParentOp() == function ? user : nullptr;
}

/// Ops after a primitive that it can compute itself.
struct SiteFinder::Fusion {
  Epilogue epilogue;
  /// The addend.
  Value added;
  SmallVector<Operation *, 2> ops;
};

bool mct::execution::readClamp(tosa::ClampOp clamp, Epilogue &epilogue) {
  auto low = dyn_cast<FloatAttr>(clamp.getMinVal());
  auto high = dyn_cast<FloatAttr>(clamp.getMaxVal());
  if (!low || !high)
    return false;
  epilogue.clamp = true;
  epilogue.low = static_cast<float>(low.getValueAsDouble());
  epilogue.high = static_cast<float>(high.getValueAsDouble());
  return true;
}

std::optional<Record> SiteFinder::placePrimitive(
    Operation *op, ArrayRef<Value> operands,
    function_ref<llvm::Expected<size_t>(const Epilogue &)> add) {
  // Try the largest fusion first.
  SmallVector<Fusion, 3> fusions;
  Operation *user = soleUser(op->getResult(0));
  if (auto sum = dyn_cast_or_null<tosa::AddOp>(user);
      sum && operands.size() == 1 && !covered.contains(sum) &&
      !sites.contains(sum) && sum.getInput1().getType() == sum.getType() &&
      sum.getInput2().getType() == sum.getType() &&
      op->getResult(0).getType() == sum.getType()) {
    Fusion fusion{{}, nullptr, {sum}};
    fusion.epilogue.addOperand = true;
    fusion.added =
        sum.getInput1() == op->getResult(0) ? sum.getInput2() : sum.getInput1();
    Fusion clamped = fusion;
    if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(soleUser(sum));
        clamp && readClamp(clamp, clamped.epilogue)) {
      clamped.ops.push_back(clamp);
      fusions.push_back(clamped);
    }
    fusions.push_back(fusion);
  } else if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(user)) {
    Fusion fusion{{}, nullptr, {clamp}};
    if (readClamp(clamp, fusion.epilogue))
      fusions.push_back(fusion);
  }
  fusions.push_back({{}, nullptr, {}});

  std::string refusal;
  for (Fusion &fusion : fusions) {
    llvm::Expected<size_t> primitive = add(fusion.epilogue);
    if (!primitive) {
      refusal = llvm::toString(primitive.takeError());
      continue;
    }
    bool reference = program.primitives.isReference(*primitive);
    if ((reference || program.primitives.addsWrongly(*primitive)) &&
        !fusion.ops.empty()) {
      program.primitives.removeLast();
      continue;
    }
    std::string implementation = program.primitives.implementation(*primitive);
    if (reference)
      emitRecord(
          op, "execution",
          Record(Decision::Noted, Reason::ReferenceImplementation)
              << "'" << op->getName().getStringRef()
              << "' op runs with oneDNN's slow reference implementation '"
              << named("implementation", implementation) << "'");
    program.primitiveInfos.push_back({describeOp(op), implementation});
    primitives[op] = *primitive;

    Site site{
        Step::Kind::Primitive, *primitive, SmallVector<Value, 2>(operands), {}};
    if (fusion.added)
      site.operands.push_back(fusion.added);
    // The fused chain is op -> (add) -> (clamp); the call replaces its last op.
    Operation *last = op;
    for (Operation *next : fusion.ops) {
      covered.insert(last);
      last = next;
    }
    sites[last] = std::move(site);
    return std::nullopt;
  }
  // The last attempt fuses nothing, and only oneDNN itself refuses that.
  return Record(Reason::RefusedByOneDnn) << refusal;
}

Value mct::execution::dropUnreadRows(Value input, ConvolutionShape &shape) {
  auto slice = input.getDefiningOp<tosa::SliceOp>();
  if (!slice || shape.kind == ConvolutionShape::Kind::Transpose ||
      shape.hasDepth)
    return input;
  auto from = dyn_cast<RankedTensorType>(slice.getInput1().getType());
  SmallVector<int64_t> start;
  if (!from || !from.hasStaticShape() || from.getRank() != 4 ||
      !slice.getStart().getDefiningOp() ||
      !tosa::getConstShapeValues(slice.getStart().getDefiningOp(), start) ||
      llvm::any_of(start, [](int64_t s) { return s != 0; }) ||
      from.getDimSize(0) != shape.batch ||
      from.getDimSize(3) != shape.inputChannels)
    return input;
  auto unread = [](int64_t whole, int64_t sliced, int64_t output,
                   int64_t kernel, int64_t stride, int64_t dilation,
                   int64_t before, int64_t after) {
    if (whole == sliced)
      return true;
    int64_t window = (kernel - 1) * dilation + 1;
    return after == 0 && (whole + before - window) / stride + 1 == output;
  };
  if (!unread(from.getDimSize(1), shape.inputHeight, shape.outputHeight,
              shape.kernelHeight, shape.strideHeight, shape.dilationHeight,
              shape.padTop, shape.padBottom) ||
      !unread(from.getDimSize(2), shape.inputWidth, shape.outputWidth,
              shape.kernelWidth, shape.strideWidth, shape.dilationWidth,
              shape.padLeft, shape.padRight))
    return input;
  shape.inputHeight = from.getDimSize(1);
  shape.inputWidth = from.getDimSize(2);
  return slice.getInput1();
}

bool mct::execution::isTooLarge(Type type) {
  return cast<RankedTensorType>(type).getNumElements() >
         std::numeric_limits<int32_t>::max();
}

template <typename ConvolutionOp>
ConvolutionShape mct::execution::readShape(ConvolutionOp op) {
  constexpr bool isTranspose =
      std::is_same_v<ConvolutionOp, tosa::TransposeConv2DOp>;
  constexpr bool isDepthwise =
      std::is_same_v<ConvolutionOp, tosa::DepthwiseConv2DOp>;
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto kernel = cast<RankedTensorType>(op.getWeight().getType());
  auto output = cast<RankedTensorType>(op.getType());
  ConvolutionShape shape;
  shape.kind = isTranspose   ? ConvolutionShape::Kind::Transpose
               : isDepthwise ? ConvolutionShape::Kind::Depthwise
                             : ConvolutionShape::Kind::Plain;
  constexpr bool isDeep = std::is_same_v<ConvolutionOp, tosa::Conv3DOp>;
  // Index of the height in the shapes of images, and in the arrays of
  // attributes.
  constexpr unsigned row = isDeep ? 2 : 1, space = row - 1;
  shape.batch = input.getDimSize(0);
  shape.inputHeight = input.getDimSize(row);
  shape.inputWidth = input.getDimSize(row + 1);
  shape.inputChannels = input.getDimSize(row + 2);
  shape.outputHeight = output.getDimSize(row);
  shape.outputWidth = output.getDimSize(row + 1);
  shape.outputChannels = output.getDimSize(row + 2);
  shape.kernelHeight = kernel.getDimSize(isDepthwise ? 0 : row);
  shape.kernelWidth = kernel.getDimSize(isDepthwise ? 1 : row + 1);
  shape.strideHeight = op.getStride()[space];
  shape.strideWidth = op.getStride()[space + 1];
  ArrayRef<int64_t> pad;
  int64_t sign = 1;
  if constexpr (isTranspose) {
    pad = op.getOutPad();
    sign = -1;
  } else {
    shape.dilationHeight = op.getDilation()[space];
    shape.dilationWidth = op.getDilation()[space + 1];
    pad = op.getPad();
  }
  if constexpr (isDeep) {
    shape.hasDepth = true;
    shape.inputDepth = input.getDimSize(1);
    shape.outputDepth = output.getDimSize(1);
    shape.kernelDepth = kernel.getDimSize(1);
    shape.strideDepth = op.getStride()[0];
    shape.dilationDepth = op.getDilation()[0];
    shape.padFront = pad[0];
    shape.padBack = pad[1];
    pad = pad.drop_front(2);
  }
  shape.padTop = sign * pad[0];
  shape.padBottom = sign * pad[1];
  shape.padLeft = sign * pad[2];
  shape.padRight = sign * pad[3];
  return shape;
}
template ConvolutionShape mct::execution::readShape(tosa::Conv2DOp);
template ConvolutionShape mct::execution::readShape(tosa::DepthwiseConv2DOp);
template ConvolutionShape mct::execution::readShape(tosa::TransposeConv2DOp);
template ConvolutionShape mct::execution::readShape(tosa::Conv3DOp);

template <typename ConvolutionOp>
std::optional<Record> SiteFinder::findConvolution(ConvolutionOp op) {
  constexpr bool isTranspose =
      std::is_same_v<ConvolutionOp, tosa::TransposeConv2DOp>;
  if (!isStaticFloat(op.getInput()) || !isStaticFloat(op.getResult()))
    return Reason::DynamicShape;
  if (!isZero(op.getInputZp()) || !isZero(op.getWeightZp()))
    return Reason::ZeroPointNotZero;
  if (!isStaticFloat(op.getWeight()) || !isStaticFloat(op.getBias()))
    return Reason::DynamicShape;
  // Constants are packed once.
  std::optional<ConstantFloats> weights = evaluateFloats(op.getWeight());
  std::optional<ConstantFloats> bias = evaluateFloats(op.getBias());

  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto output = cast<RankedTensorType>(op.getType());
  if (input.getNumElements() == 0 || output.getNumElements() == 0)
    return Reason::Empty;
  if (isTooLarge(input) || isTooLarge(output))
    return Reason::TooLarge;
  ConvolutionShape shape = readShape(op);
  if (!bias &&
      cast<RankedTensorType>(op.getBias().getType()).getNumElements() !=
          shape.outputChannels)
    return Record(Reason::BiasNotConstant)
           << "its bias is one number for all channels, and not constant";
  if (isTranspose && std::min({shape.padTop, shape.padBottom, shape.padLeft,
                               shape.padRight}) < 0)
    return Reason::OutputPadded;
  SmallVector<Value, 3> operands{dropUnreadRows(op.getInput(), shape)};
  if (!weights)
    operands.push_back(op.getWeight());
  if (!bias)
    operands.push_back(op.getBias());
  auto getValues = [](const std::optional<ConstantFloats> &constant) {
    return constant ? constant->values() : ArrayRef<float>();
  };
  return placePrimitive(op, operands, [&](const Epilogue &epilogue) {
    return program.primitives.addConvolution(shape, getValues(weights),
                                             getValues(bias), epilogue);
  });
}

/// Returns the tensor [a, …, b] that is read as [b, …, a], or null.
static Value swappedEnds(Value value) {
  auto transpose = value.getDefiningOp<tosa::TransposeOp>();
  if (!transpose)
    return nullptr;
  ArrayRef<int32_t> perms = transpose.getPerms();
  auto last = static_cast<int32_t>(perms.size()) - 1;
  for (auto [number, axis] : llvm::enumerate(perms))
    if (axis != (number == 0           ? last
                 : int(number) == last ? 0
                                       : static_cast<int32_t>(number)))
      return nullptr;
  return transpose.getInput1();
}

std::optional<size_t>
SiteFinder::placeWeightGradient(Operation *op, const ConvolutionShape &shape,
                                bool inputChannelsFirst) {
  llvm::Expected<size_t> primitive =
      program.primitives.addWeightGradient(shape, inputChannelsFirst);
  if (!primitive) {
    // Compiled code computes it like any other op.
    llvm::consumeError(primitive.takeError());
    return std::nullopt;
  }
  if (program.primitives.isReference(*primitive)) {
    program.primitives.removeLast();
    return std::nullopt;
  }
  program.primitiveInfos.push_back(
      {describeOp(op), program.primitives.implementation(*primitive)});
  return *primitive;
}

/// A convolution over the samples, of an input and the gradient of an output,
/// is the gradient of the weights of the convolution between the two, whose
/// stride is its dilation and the other way round.
template <typename ConvolutionOp>
bool SiteFinder::findWeightGradient(ConvolutionOp op) {
  Value input = swappedEnds(op.getInput());
  Value gradient = swappedEnds(op.getWeight());
  if (!input || !gradient || !isStaticFloat(input) ||
      !isStaticFloat(gradient) || !isStaticFloat(op.getResult()) ||
      !isZero(op.getInputZp()) || !isZero(op.getWeightZp()) ||
      !isZero(op.getBias()))
    return false;
  auto from = cast<RankedTensorType>(input.getType());
  auto to = cast<RankedTensorType>(gradient.getType());
  auto product = cast<RankedTensorType>(op.getType());
  if (from.getNumElements() == 0 || to.getNumElements() == 0 ||
      isTooLarge(from) || isTooLarge(to) || isTooLarge(product))
    return false;
  // The op uses the gradient of the output as its kernel.
  ConvolutionShape shape = readShape(op);
  shape.batch = from.getShape().front();
  shape.inputChannels = from.getShape().back();
  shape.outputChannels = to.getShape().back();
  std::swap(shape.outputDepth, shape.kernelDepth);
  std::swap(shape.outputHeight, shape.kernelHeight);
  std::swap(shape.outputWidth, shape.kernelWidth);
  std::swap(shape.strideDepth, shape.dilationDepth);
  std::swap(shape.strideHeight, shape.dilationHeight);
  std::swap(shape.strideWidth, shape.dilationWidth);
  // oneDNN requires that the output channels of the weights come first.
  Operation *last = op;
  auto turned = dyn_cast_or_null<tosa::TransposeOp>(soleUser(op.getResult()));
  if (turned && swappedEnds(turned.getResult()))
    last = turned;
  std::optional<size_t> primitive =
      placeWeightGradient(op, shape, last == op.getOperation());
  if (!primitive)
    return false;
  for (Value operand : {op.getInput(), op.getWeight()})
    if (soleUser(operand) == op)
      covered.insert(operand.getDefiningOp());
  if (last != op.getOperation())
    covered.insert(op);
  sites[last] = {Step::Kind::Primitive, *primitive, {input, gradient}, {}};
  return true;
}

/// A depthwise convolution in which every channel of every sample is a channel
/// of its own, and the sum over the samples after it, are the gradient of the
/// weights of a depthwise convolution.
bool SiteFinder::findDepthwiseWeightGradient(tosa::DepthwiseConv2DOp op) {
  // Matches [N,H,W,C] that is viewed as [H,W,N * C] with unit dimensions.
  auto samplesInChannels = [](Value value) -> Value {
    auto reshape = value.getDefiningOp<tosa::ReshapeOp>();
    auto transpose =
        reshape ? reshape.getInput1().getDefiningOp<tosa::TransposeOp>()
                : nullptr;
    if (!transpose || transpose.getPerms() != ArrayRef<int32_t>{1, 2, 0, 3} ||
        !isStaticFloat(transpose.getInput1()))
      return nullptr;
    return transpose.getInput1();
  };
  Value input = samplesInChannels(op.getInput());
  Value gradient = samplesInChannels(op.getWeight());
  auto apart = dyn_cast_or_null<tosa::ReshapeOp>(soleUser(op.getResult()));
  auto sum =
      apart ? dyn_cast_or_null<tosa::ReduceSumOp>(soleUser(apart.getResult()))
            : nullptr;
  if (!input || !gradient || !sum || !isStaticFloat(sum.getResult()) ||
      !isZero(op.getInputZp()) || !isZero(op.getWeightZp()) ||
      !isZero(op.getBias()))
    return false;
  auto from = cast<RankedTensorType>(input.getType());
  auto to = cast<RankedTensorType>(gradient.getType());
  auto kernel = cast<RankedTensorType>(op.getWeight().getType());
  auto product = cast<RankedTensorType>(op.getType());
  if (from.getNumElements() == 0 || to.getNumElements() == 0 ||
      isTooLarge(from) || isTooLarge(to) || isTooLarge(product))
    return false;
  int64_t samples = from.getDimSize(0), channels = from.getDimSize(3),
          outputs = to.getDimSize(3);
  ArrayRef<int64_t> whole = product.getShape();
  SmallVector<int64_t> inputs{1, from.getDimSize(1), from.getDimSize(2),
                              samples * channels};
  SmallVector<int64_t> kernels{to.getDimSize(1), to.getDimSize(2),
                               samples * channels, outputs / channels};
  SmallVector<int64_t> taps{whole[1] * whole[2], samples, outputs};
  if (to.getDimSize(0) != samples || outputs % channels != 0 ||
      cast<RankedTensorType>(op.getInput().getType()).getShape() !=
          ArrayRef(inputs) ||
      kernel.getShape() != ArrayRef(kernels) || sum.getAxis() != 1 ||
      cast<RankedTensorType>(apart.getType()).getShape() != ArrayRef(taps))
    return false;
  ConvolutionShape shape = readShape(op);
  shape.batch = samples;
  shape.inputChannels = channels;
  shape.outputChannels = outputs;
  std::swap(shape.outputHeight, shape.kernelHeight);
  std::swap(shape.outputWidth, shape.kernelWidth);
  std::swap(shape.strideHeight, shape.dilationHeight);
  std::swap(shape.strideWidth, shape.dilationWidth);
  std::optional<size_t> primitive = placeWeightGradient(op, shape, false);
  if (!primitive)
    return false;
  covered.insert(op);
  sites[sum] = {Step::Kind::Primitive, *primitive, {input, gradient}, {}};
  return true;
}

std::optional<Record> SiteFinder::findMatMul(Operation *operation) {
  auto op = cast<tosa::MatMulOp>(operation);
  if (!isStaticFloat(op.getA()) || !isStaticFloat(op.getB()) ||
      !isStaticFloat(op.getResult()))
    return Reason::DynamicShape;
  if (!isZero(op.getAZp()) || !isZero(op.getBZp()))
    return Reason::ZeroPointNotZero;
  auto a = cast<RankedTensorType>(op.getA().getType());
  auto b = cast<RankedTensorType>(op.getB().getType());
  MatMulShape shape{a.getDimSize(0), a.getDimSize(1), a.getDimSize(2),
                    b.getDimSize(2)};
  if (a.getNumElements() == 0 || b.getNumElements() == 0)
    return Record(Reason::Empty) << "a factor is empty";
  if (isTooLarge(a) || isTooLarge(b) || isTooLarge(op.getType()))
    return Record(Reason::TooLarge) << "a factor is too large for oneDNN";
  std::optional<ConstantFloats> constant = evaluateFloats(op.getB());
  auto untransposed = [&](Value factor, bool &transposed) {
    auto transpose = factor.getDefiningOp<tosa::TransposeOp>();
    transposed = transpose && !kept.contains(factor) &&
                 transpose.getPerms() == ArrayRef<int32_t>{0, 2, 1};
    return transposed ? transpose.getInput1() : factor;
  };
  SmallVector<Value, 2> operands{
      untransposed(op.getA(), shape.firstTransposed)};
  ArrayRef<float> values;
  if (constant)
    values = constant->values();
  else
    operands.push_back(untransposed(op.getB(), shape.secondTransposed));
  return placePrimitive(op, operands, [&](const Epilogue &epilogue) {
    return program.primitives.addMatMul(shape, values, epilogue);
  });
}

template <typename PoolOp>
void SiteFinder::findPool(PoolOp op, Step::Kind kind) {
  auto input = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto output = dyn_cast<RankedTensorType>(op.getType());
  if (!input || !output || !input.hasStaticShape() || !output.hasStaticShape())
    return;
  PoolingShape shape;
  shape.batch = input.getDimSize(0);
  shape.inputHeight = input.getDimSize(1);
  shape.inputWidth = input.getDimSize(2);
  shape.channels = input.getDimSize(3);
  shape.outputHeight = output.getDimSize(1);
  shape.outputWidth = output.getDimSize(2);
  shape.kernelHeight = op.getKernel()[0];
  shape.kernelWidth = op.getKernel()[1];
  shape.strideHeight = op.getStride()[0];
  shape.strideWidth = op.getStride()[1];
  shape.padTop = op.getPad()[0];
  shape.padLeft = op.getPad()[2];
  program.pools.push_back(shape);
  sites[op] = {kind, program.pools.size() - 1, {op.getInput()}, {}};
}

/// A reshape between a primitive and what could be fused into it moves to the
/// other side: MLPs are imported as pointwise convolutions with reshapes around
/// them.
void SiteFinder::moveReshapesBack() {
  SmallVector<tosa::ReshapeOp> reshapes(function.getOps<tosa::ReshapeOp>());
  llvm::DenseMap<Value, SmallVector<size_t, 1>> observers;
  for (auto [number, value] : llvm::enumerate(observed))
    observers[value].push_back(number);
  for (tosa::ReshapeOp reshape : reshapes)
    // The reshape may be moved past several ops.
    while (Operation *user = soleUser(reshape)) {
      Value input = reshape.getInput1();
      auto point = dyn_cast<QuantizeOp>(user);
      bool movable =
          isa<tosa::ClampOp>(user) ||
          (point && point.getChannelAxes().empty() && !getHostPoint(point));
      Value result = user->getResult(0);
      if (!movable || !input.hasOneUse() || kept.contains(input) ||
          !input.getDefiningOp() || reshape.getType() != result.getType())
        break;
      if (kept.erase(result)) {
        kept.insert(reshape);
        SmallVector<size_t, 1> numbers = observers.lookup(result);
        observers.erase(result);
        for (size_t number : numbers)
          observed[number] = reshape;
        llvm::append_range(observers[reshape], numbers);
      }
      result.replaceAllUsesWith(reshape);
      user->setOperand(0, input);
      user->getResult(0).setType(input.getType());
      reshape->moveAfter(user);
      reshape.getInput1Mutable().set(user->getResult(0));
    }
}

/// Returns whether the second operand may be weights of a megabyte or more.
static bool hasLargeConstant(Operation &op) {
  constexpr int64_t kLeastElements = int64_t(1) << 18;
  if (op.getNumOperands() < 2)
    return false;
  auto type = dyn_cast<RankedTensorType>(op.getOperand(1).getType());
  return type && type.hasStaticShape() &&
         type.getNumElements() >= kLeastElements;
}

void SiteFinder::findPrimitives() {
  moveReshapesBack();
  for (Operation &op : function.getBody().front()) {
    std::optional<Record> reason;
    // Another call may already compute this op.
    if (op.getNumOperands() == 0 || op.getNumResults() != 1 ||
        covered.contains(&op) || sites.contains(&op))
      continue;
    if (isa<tosa::TransposeOp, tosa::SliceOp, tosa::ReverseOp, tosa::PadOp,
            tosa::ConcatOp>(op))
      findMove(&op);
    findInteger(&op);
    if (auto pool = dyn_cast<tosa::MaxPool2dOp>(op);
        pool && getElementTypeOrSelf(pool.getType()).isSignlessInteger(8))
      findPool(pool, Step::Kind::MaximumPoolBytes);
    if (!isStaticFloat(op.getOperand(0)))
      continue;
    if (auto conv = dyn_cast<tosa::Conv2DOp>(op)) {
      if (!findWeightGradient(conv))
        reason = findConvolution(conv);
    } else if (auto conv = dyn_cast<tosa::Conv3DOp>(op)) {
      if (!findWeightGradient(conv))
        reason = findConvolution(conv);
    } else if (auto conv = dyn_cast<tosa::DepthwiseConv2DOp>(op)) {
      if (!findDepthwiseWeightGradient(conv))
        reason = findConvolution(conv);
    } else if (auto conv = dyn_cast<tosa::TransposeConv2DOp>(op)) {
      if (!findPhases(conv))
        reason = findConvolution(conv);
    } else if (isa<tosa::MatMulOp>(op))
      reason = findMatMul(&op);
    else if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op)) {
      if (isZero(pool.getInputZp()) && isZero(pool.getOutputZp()))
        findPool(pool, Step::Kind::AveragePool);
    } else if (auto pool = dyn_cast<tosa::MaxPool2dOp>(op)) {
      if (pool.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
        findPool(pool, Step::Kind::MaximumPool);
    }
    // The constants are packed now; free them, as they are large.
    constants.clear();
    if (hasLargeConstant(op))
      support::releaseMappedFiles(op.getContext());
    if (reason)
      emitRecord(&op, "execution", *reason,
                 "'" + op.getName().getStringRef() +
                     "' op runs without oneDNN, slowly: ");
  }
}
