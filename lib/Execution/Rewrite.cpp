// SPDX-License-Identifier: Apache-2.0
#include "Rewrite.h"

#include "mct/Analysis/Names.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/Dialect/Tosa/Utils/ConversionUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Matchers.h"

#include <cstring>

using namespace mlir;
using namespace mct::execution;
using mct::tpc::QuantizeOp;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

namespace {

/// Constants below this size are left to the compiler, which may fold them into
/// the code; larger ones are passed as pointers.
constexpr int64_t kLargeConstant = 1024;

/// Float values of a constant, in place where the IR stores them as floats.
struct ConstantTensor {
  ConstantTensor() = default;
  ConstantTensor(ConstantTensor &&) = default;
  ConstantTensor &operator=(ConstantTensor &&) = default;

  SmallVector<int64_t> shape;
  ArrayRef<float> values;
  std::vector<float> owned;

  void own(std::vector<float> newValues) {
    owned = std::move(newValues);
    values = owned;
  }
};

/// The stored bytes of a constant that is not a splat, or nothing.
ArrayRef<char> rawData(ElementsAttr attribute) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    return blob ? blob->getData() : ArrayRef<char>();
  }
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute))
    if (!dense.isSplat())
      return dense.getRawData();
  return {};
}

template <typename Integer>
std::vector<float> convert(ArrayRef<char> bytes, int64_t count) {
  std::vector<float> values(count);
  for (int64_t i = 0; i < count; ++i) {
    Integer value;
    std::memcpy(&value, bytes.data() + i * sizeof(Integer), sizeof(Integer));
    values[i] = static_cast<float>(value);
  }
  return values;
}

std::optional<ConstantTensor> readElements(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getType());
  if (!type || !type.hasStaticShape())
    return std::nullopt;
  ConstantTensor tensor;
  tensor.shape.assign(type.getShape().begin(), type.getShape().end());
  int64_t count = type.getNumElements();
  Type element = type.getElementType();
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute);
      dense && dense.isSplat()) {
    if (element.isF32())
      tensor.own(std::vector<float>(count, dense.getSplatValue<float>()));
    else if (element.isSignlessInteger())
      tensor.own(std::vector<float>(
          count,
          static_cast<float>(dense.getSplatValue<APInt>().getSExtValue())));
    else
      return std::nullopt;
    return tensor;
  }
  ArrayRef<char> bytes = rawData(attribute);
  unsigned width = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 0;
  if (width % 8 != 0 || static_cast<int64_t>(bytes.size()) != count * width / 8)
    return std::nullopt;
  bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % 4 == 0;
  if (element.isF32() && aligned)
    tensor.values =
        ArrayRef<float>(reinterpret_cast<const float *>(bytes.data()), count);
  else if (element.isF32())
    tensor.own(convert<float>(bytes, count));
  else if (element.isSignlessInteger(8))
    tensor.own(convert<int8_t>(bytes, count));
  else if (element.isSignlessInteger(16))
    tensor.own(convert<int16_t>(bytes, count));
  else if (element.isSignlessInteger(32))
    tensor.own(convert<int32_t>(bytes, count));
  else
    return std::nullopt;
  return tensor;
}

/// Calls `visit(result index, source index)` for every element of a tensor of
/// shape `result` whose dimension d advances the source by strides[d].
template <typename Visit>
void forEachStrided(ArrayRef<int64_t> result, ArrayRef<int64_t> strides,
                    Visit visit) {
  int64_t count = 1;
  for (int64_t size : result)
    count *= size;
  SmallVector<int64_t> index(result.size(), 0);
  int64_t source = 0;
  for (int64_t i = 0; i < count; ++i) {
    visit(i, source);
    for (int64_t d = result.size() - 1; d >= 0; --d) {
      source += strides[d];
      if (++index[d] < result[d])
        break;
      source -= strides[d] * result[d];
      index[d] = 0;
    }
  }
}

SmallVector<int64_t> rowMajorStrides(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// Values of `tensor`, repeated to the shape of a larger one of the same rank.
std::vector<float> broadcast(const ConstantTensor &tensor,
                             ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides = rowMajorStrides(tensor.shape);
  for (auto [stride, size] : llvm::zip(strides, tensor.shape))
    if (size == 1)
      stride = 0;
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  std::vector<float> values(count);
  forEachStrided(shape, strides, [&](int64_t i, int64_t source) {
    values[i] = tensor.values[source];
  });
  return values;
}

QuantizeSite makeQuantizer(QuantizeOp op) {
  QuantizeSite site;
  site.quantizer = *op.getParameters();
  auto type = cast<RankedTensorType>(op.getType());
  llvm::append_range(site.shape, type.getShape());
  llvm::append_range(site.axes, op.getChannelAxes());
  site.elements = type.getNumElements();
  SmallVector<mct::quantization::Grid> grids = site.quantizer.getGrids();
  if (grids.size() == 1)
    site.grid = grids.front();
  if (auto lookup =
          dyn_cast<mct::tpc::LookupTableAttr>(Attribute(site.quantizer)))
    site.table.emplace(lookup.getTable(), lookup.getThreshold(),
                       lookup.getIsSigned(), lookup.getTableBits());
  return site;
}

/// Value of an expression of constants: weights are dequantized, scaled and
/// quantized in the graph. No attribute is made of it, because the context
/// would keep that for ever.
std::optional<ConstantTensor> evaluate(Value value, bool simulate) {
  ElementsAttr attribute;
  if (matchPattern(value, m_Constant(&attribute)))
    return readElements(attribute);
  Operation *op = value.getDefiningOp();
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!op || !type || !type.hasStaticShape() || op->getNumOperands() == 0)
    return std::nullopt;

  if (isa<tosa::AddOp, tosa::SubOp, tosa::MulOp>(op)) {
    if (!type.getElementType().isF32())
      return std::nullopt;
    auto left = evaluate(op->getOperand(0), simulate);
    if (!left)
      return std::nullopt;
    auto right = evaluate(op->getOperand(1), simulate);
    if (!right || left->shape.size() != right->shape.size())
      return std::nullopt;
    std::vector<float> a = broadcast(*left, type.getShape());
    std::vector<float> b = broadcast(*right, type.getShape());
    for (auto [x, y] : llvm::zip(a, b))
      x = isa<tosa::AddOp>(op) ? x + y : isa<tosa::SubOp>(op) ? x - y : x * y;
    ConstantTensor result;
    llvm::append_range(result.shape, type.getShape());
    result.own(std::move(a));
    return result;
  }

  if (!isa<QuantizeOp, tosa::CastOp, tosa::ReshapeOp, tosa::TransposeOp,
           tosa::IdentityOp>(op))
    return std::nullopt;
  std::optional<ConstantTensor> result = evaluate(op->getOperand(0), simulate);
  if (!result)
    return std::nullopt;
  if (auto quantize = dyn_cast<QuantizeOp>(op)) {
    if (simulate && quantize.getParameters()) {
      std::vector<float> values(result->values.size());
      makeQuantizer(quantize).run(result->values.data(), values.data());
      result->own(std::move(values));
    }
  } else if (auto cast = dyn_cast<tosa::CastOp>(op)) {
    if (!type.getElementType().isF32())
      return std::nullopt;
  } else if (auto transpose = dyn_cast<tosa::TransposeOp>(op)) {
    SmallVector<int64_t> from = rowMajorStrides(result->shape), strides;
    for (int32_t source : transpose.getPerms())
      strides.push_back(from[source]);
    std::vector<float> values(result->values.size());
    forEachStrided(type.getShape(), strides, [&](int64_t i, int64_t source) {
      values[i] = result->values[source];
    });
    result->own(std::move(values));
  }
  result->shape.assign(type.getShape().begin(), type.getShape().end());
  return result;
}

bool isZero(Value value) {
  std::optional<ConstantTensor> constant = evaluate(value, false);
  return constant &&
         llvm::all_of(constant->values, [](float v) { return v == 0; });
}

bool isStaticFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getElementType().isF32();
}

MemRefType bufferType(Type tensor) {
  auto type = cast<RankedTensorType>(tensor);
  return MemRefType::get(type.getShape(), type.getElementType());
}

std::string opName(Operation *op) {
  if (StringAttr name = mct::getName(op->getLoc()))
    return name.str();
  return op->getName().getStringRef().str();
}

/// The op that alone reads the value, or null.
Operation *soleUser(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

} // namespace

//===----------------------------------------------------------------------===//
// Calls
//===----------------------------------------------------------------------===//

std::string SiteRewriter::symbol(size_t program, size_t site) {
  return "mct_site_" + std::to_string(program) + "_" + std::to_string(site);
}

size_t SiteRewriter::addSite(Site site, unsigned arity) {
  program.sites.push_back(site);
  siteArities.push_back(arity);
  return program.sites.size() - 1;
}

Value SiteRewriter::bufferOf(OpBuilder &builder, Location loc, Value tensor) {
  return bufferization::ToBufferOp::create(
      builder, loc, bufferType(tensor.getType()), tensor, /*read_only=*/true);
}

/// Operands stay buffers, not pointers, until the end: the passes that free
/// buffers early must see every use. Each site has a declaration of its own
/// because bare pointers need static types.
void SiteRewriter::emitCall(OpBuilder &builder, Location loc, size_t site,
                            ArrayRef<Value> buffers) {
  Value number = arith::ConstantIntOp::create(builder, loc,
                                              static_cast<int64_t>(site), 64);
  SmallVector<Value> arguments{function.getArgument(0), number};
  llvm::append_range(arguments, buffers);
  SmallVector<Type> types(ValueRange(arguments).getTypes());
  auto module = function->getParentOfType<ModuleOp>();
  OpBuilder moduleBuilder(module.getBodyRegion());
  auto declaration =
      func::FuncOp::create(moduleBuilder, loc, symbol(programNumber, site),
                           builder.getFunctionType(types, TypeRange()));
  declaration.setPrivate();
  func::CallOp::create(builder, loc, declaration, arguments);
}

Value SiteRewriter::emitCall(OpBuilder &builder, Location loc, const Site &site,
                             ArrayRef<Value> operands,
                             RankedTensorType result) {
  SmallVector<Value> buffers;
  for (Value operand : operands)
    buffers.push_back(bufferOf(builder, loc, operand));
  Value target = memref::AllocOp::create(builder, loc, bufferType(result),
                                         builder.getI64IntegerAttr(64));
  buffers.push_back(target);
  size_t number = addSite(site, buffers.size());
  emitCall(builder, loc, number, buffers);
  Value tensor = bufferization::ToTensorOp::create(
      builder, loc, result, target, /*restrict=*/true, /*writable=*/true);
  siteOfValue[tensor] = number;
  return tensor;
}

SmallVector<Value> SiteRewriter::rewriteSignature() {
  Block &body = function.getBody().front();
  OpBuilder builder = OpBuilder::atBlockBegin(&body);
  Location loc = function.getLoc();
  SmallVector<Value> inputs;
  for (BlockArgument argument : body.getArguments()) {
    Type tensor = argument.getType();
    argument.setType(bufferType(tensor));
    auto value = bufferization::ToTensorOp::create(
        builder, argument.getLoc(), tensor, argument, /*restrict=*/true,
        /*writable=*/false);
    argument.replaceAllUsesExcept(value, value);
    inputs.push_back(value);
  }
  body.insertArgument(0u, builder.getI64Type(), loc);
  Operation *terminator = body.getTerminator();
  builder.setInsertionPoint(terminator);
  for (Value result : terminator->getOperands()) {
    Value target = body.addArgument(bufferType(result.getType()), loc);
    bufferization::MaterializeInDestinationOp::create(
        builder, loc, Type(), result, target, /*restrict=*/true,
        /*writable=*/true);
  }
  terminator->setOperands({});
  function.setType(
      builder.getFunctionType(body.getArgumentTypes(), TypeRange()));
  return inputs;
}

void SiteRewriter::observe(Value value, size_t index) {
  OpBuilder builder(function.getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  Value buffer = bufferOf(builder, loc, value);
  size_t site = addSite({Site::Kind::Observe, index, std::nullopt}, 1);
  emitCall(builder, loc, site, buffer);
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// Ops behind a kernel that it can do itself.
struct SiteRewriter::Fusion {
  Epilogue epilogue;
  /// The operand that is added.
  Value added;
  /// The op whose result the kernel then computes.
  Operation *last;
};

static bool readClamp(tosa::ClampOp clamp, Epilogue &epilogue) {
  auto low = dyn_cast<FloatAttr>(clamp.getMinVal());
  auto high = dyn_cast<FloatAttr>(clamp.getMaxVal());
  if (!low || !high)
    return false;
  epilogue.clamp = true;
  epilogue.low = static_cast<float>(low.getValueAsDouble());
  epilogue.high = static_cast<float>(high.getValueAsDouble());
  return true;
}

std::string SiteRewriter::placeKernel(
    Operation *op, ArrayRef<Value> operands,
    function_ref<std::optional<size_t>(const Epilogue &, std::string &)> add) {
  // Largest fusion first. A value that is observed has two uses and stays.
  SmallVector<Fusion, 3> fusions;
  Operation *user = soleUser(op->getResult(0));
  // oneDNN 2.7 adds wrong values behind a dilated convolution of an image that
  // is narrower than the dilation.
  auto dilation = op->getAttrOfType<DenseI64ArrayAttr>("dilation");
  bool canAdd = !dilation || llvm::all_of(dilation.asArrayRef(),
                                          [](int64_t d) { return d == 1; });
  if (auto sum = dyn_cast_or_null<tosa::AddOp>(user);
      sum && canAdd && operands.size() == 1 &&
      sum.getInput1().getType() == sum.getType() &&
      sum.getInput2().getType() == sum.getType() &&
      op->getResult(0).getType() == sum.getType()) {
    Fusion fusion{{}, nullptr, sum};
    fusion.epilogue.addOperand = true;
    fusion.added =
        sum.getInput1() == op->getResult(0) ? sum.getInput2() : sum.getInput1();
    Fusion clamped = fusion;
    if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(soleUser(sum));
        clamp && readClamp(clamp, clamped.epilogue)) {
      clamped.last = clamp;
      fusions.push_back(clamped);
    }
    fusions.push_back(fusion);
  } else if (auto clamp = dyn_cast_or_null<tosa::ClampOp>(user)) {
    Fusion fusion{{}, nullptr, clamp};
    if (readClamp(clamp, fusion.epilogue))
      fusions.push_back(fusion);
  }
  fusions.push_back({{}, nullptr, op});

  std::string error;
  for (Fusion &fusion : fusions) {
    std::optional<size_t> kernel = add(fusion.epilogue, error);
    if (!kernel)
      continue;
    bool reference = program.kernels.isReference(*kernel);
    if (reference && fusion.last != op) {
      program.kernels.removeLast();
      continue;
    }
    std::string implementation = program.kernels.implementation(*kernel);
    if (reference)
      emitRemark(op->getLoc()) << "'" << op->getName()
                               << "' op runs with oneDNN's slow reference "
                                  "implementation '"
                               << implementation << "'";
    program.kernelInfos.push_back({opName(op), implementation});

    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    program.kernelElements.resize(*kernel + 1);
    program.kernelElements[*kernel] = type.getNumElements();
    SmallVector<Value> all(operands);
    if (fusion.added)
      all.push_back(fusion.added);
    OpBuilder builder(fusion.last);
    Value result =
        emitCall(builder, op->getLoc(),
                 {Site::Kind::Kernel, *kernel, std::nullopt}, all, type);
    Operation *last = fusion.last;
    last->getResult(0).replaceAllUsesWith(result);
    while (last != op) {
      // The chain is op -> (add) -> (clamp).
      Operation *before = op;
      if (isa<tosa::ClampOp>(last) && fusion.added)
        before = last->getOperand(0).getDefiningOp();
      last->erase();
      last = before;
    }
    op->erase();
    return "";
  }
  return error;
}

/// A slice may cut rows off that a strided window never reaches: TOSA wants the
/// division exact, oneDNN rounds down. Returns the tensor before the slice.
static Value dropUnreadRows(Value input, ConvolutionShape &shape) {
  auto slice = input.getDefiningOp<tosa::SliceOp>();
  if (!slice || shape.kind == ConvolutionShape::Kind::Transpose)
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

template <typename ConvolutionOp>
std::string SiteRewriter::rewriteConvolution(ConvolutionOp op) {
  constexpr bool isTranspose =
      std::is_same_v<ConvolutionOp, tosa::TransposeConv2DOp>;
  constexpr bool isDepthwise =
      std::is_same_v<ConvolutionOp, tosa::DepthwiseConv2DOp>;
  if (!isStaticFloat(op.getInput()) || !isStaticFloat(op.getResult()))
    return "its shape is not static";
  if (!isZero(op.getInputZp()) || !isZero(op.getWeightZp()))
    return "a zero point is not zero";
  std::optional<ConstantTensor> weights = evaluate(op.getWeight(), simulate);
  if (!weights)
    return "its weights are not constant";
  std::optional<ConstantTensor> bias = evaluate(op.getBias(), simulate);
  if (!bias)
    return "its bias is not constant";

  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto output = cast<RankedTensorType>(op.getType());
  ConvolutionShape shape;
  shape.kind = isTranspose   ? ConvolutionShape::Kind::Transpose
               : isDepthwise ? ConvolutionShape::Kind::Depthwise
                             : ConvolutionShape::Kind::Plain;
  shape.batch = input.getDimSize(0);
  shape.inputHeight = input.getDimSize(1);
  shape.inputWidth = input.getDimSize(2);
  shape.inputChannels = input.getDimSize(3);
  shape.outputHeight = output.getDimSize(1);
  shape.outputWidth = output.getDimSize(2);
  shape.outputChannels = output.getDimSize(3);
  shape.kernelHeight = weights->shape[isDepthwise ? 0 : 1];
  shape.kernelWidth = weights->shape[isDepthwise ? 1 : 2];
  shape.strideHeight = op.getStride()[0];
  shape.strideWidth = op.getStride()[1];
  if constexpr (isTranspose) {
    ArrayRef<int64_t> pad = op.getOutPad();
    if (llvm::any_of(pad, [](int64_t p) { return p > 0; }))
      return "its output is padded";
    shape.padTop = -pad[0];
    shape.padBottom = -pad[1];
    shape.padLeft = -pad[2];
    shape.padRight = -pad[3];
  } else {
    shape.dilationHeight = op.getDilation()[0];
    shape.dilationWidth = op.getDilation()[1];
    ArrayRef<int64_t> pad = op.getPad();
    shape.padTop = pad[0];
    shape.padBottom = pad[1];
    shape.padLeft = pad[2];
    shape.padRight = pad[3];
  }
  Value source = dropUnreadRows(op.getInput(), shape);
  return placeKernel(
      op, source, [&](const Epilogue &epilogue, std::string &error) {
        return program.kernels.addConvolution(shape, weights->values,
                                              bias->values, epilogue, error);
      });
}

std::string SiteRewriter::rewriteMatMul(Operation *operation) {
  auto op = cast<tosa::MatMulOp>(operation);
  if (!isStaticFloat(op.getA()) || !isStaticFloat(op.getB()) ||
      !isStaticFloat(op.getResult()))
    return "its shape is not static";
  if (!isZero(op.getAZp()) || !isZero(op.getBZp()))
    return "a zero point is not zero";
  auto a = cast<RankedTensorType>(op.getA().getType());
  auto b = cast<RankedTensorType>(op.getB().getType());
  MatMulShape shape{a.getDimSize(0), a.getDimSize(1), a.getDimSize(2),
                    b.getDimSize(2)};
  std::optional<ConstantTensor> constant = evaluate(op.getB(), simulate);
  SmallVector<Value, 2> operands{op.getA()};
  ArrayRef<float> values;
  if (constant)
    values = constant->values;
  else
    operands.push_back(op.getB());
  return placeKernel(
      op, operands, [&](const Epilogue &epilogue, std::string &error) {
        return program.kernels.addMatMul(shape, values, epilogue, error);
      });
}

template <typename PoolOp>
void SiteRewriter::rewritePool(PoolOp op, Site::Kind kind) {
  if (!isStaticFloat(op.getInput()) || !isStaticFloat(op.getResult()))
    return;
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto output = cast<RankedTensorType>(op.getType());
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
  OpBuilder builder(op);
  Value result = emitCall(builder, op.getLoc(),
                          {kind, program.pools.size() - 1, std::nullopt},
                          op.getInput(), output);
  op.getResult().replaceAllUsesWith(result);
  op.erase();
}

/// A reshape between a kernel and what could be fused into it moves behind:
/// MLPs are imported as pointwise convolutions with reshapes around them.
void SiteRewriter::moveReshapesBehind() {
  bool changed = true;
  while (changed) {
    changed = false;
    function.walk([&](tosa::ReshapeOp reshape) {
      Operation *user = soleUser(reshape);
      Value input = reshape.getInput1();
      auto point = dyn_cast_or_null<QuantizeOp>(user);
      bool movable = isa_and_nonnull<tosa::ClampOp>(user) ||
                     (point && point.getChannelAxes().empty());
      if (!movable || !input.hasOneUse() || !input.getDefiningOp() ||
          reshape.getType() != user->getResult(0).getType())
        return;
      user->getResult(0).replaceAllUsesWith(reshape);
      user->setOperand(0, input);
      user->getResult(0).setType(input.getType());
      user->moveBefore(reshape);
      reshape.getInput1Mutable().set(user->getResult(0));
      changed = true;
    });
  }
}

void SiteRewriter::rewriteKernels() {
  moveReshapesBehind();
  SmallVector<Operation *> ops;
  function.walk([&](Operation *op) {
    if (isa<tosa::Conv2DOp, tosa::DepthwiseConv2DOp, tosa::TransposeConv2DOp,
            tosa::MatMulOp, tosa::AvgPool2dOp, tosa::MaxPool2dOp>(op) &&
        cast<ShapedType>(op->getOperand(0).getType()).getElementType().isF32())
      ops.push_back(op);
  });
  for (Operation *op : ops) {
    std::string reason;
    if (auto conv = dyn_cast<tosa::Conv2DOp>(op))
      reason = rewriteConvolution(conv);
    else if (auto conv = dyn_cast<tosa::DepthwiseConv2DOp>(op))
      reason = rewriteConvolution(conv);
    else if (auto conv = dyn_cast<tosa::TransposeConv2DOp>(op))
      reason = rewriteConvolution(conv);
    else if (isa<tosa::MatMulOp>(op))
      reason = rewriteMatMul(op);
    else if (auto pool = dyn_cast<tosa::AvgPool2dOp>(op)) {
      if (isZero(pool.getInputZp()) && isZero(pool.getOutputZp()))
        rewritePool(pool, Site::Kind::AveragePool);
    } else if (auto pool = dyn_cast<tosa::MaxPool2dOp>(op)) {
      if (pool.getNanMode() == tosa::NanPropagationMode::PROPAGATE)
        rewritePool(pool, Site::Kind::MaximumPool);
    }
    if (!reason.empty())
      emitRemark(op->getLoc())
          << "'" << op->getName()
          << "' op runs without oneDNN, slowly: " << reason;
  }
}

//===----------------------------------------------------------------------===//
// Points and constants
//===----------------------------------------------------------------------===//

Value SiteRewriter::addConstant(OpBuilder &builder, Location loc,
                                RankedTensorType type, const void *data,
                                size_t bytes) {
  constexpr size_t kAlignment = 64;
  size_t size = (bytes + kAlignment - 1) / kAlignment * kAlignment;
  ConstantBuffer buffer;
  buffer.data.reset(static_cast<char *>(std::aligned_alloc(kAlignment, size)));
  std::memcpy(buffer.data.get(), data, bytes);
  program.constants.push_back(std::move(buffer));
  Block &body = function.getBody().front();
  Value argument = body.addArgument(bufferType(type), loc);
  function.setType(builder.getFunctionType(body.getArgumentTypes(), {}));
  return bufferization::ToTensorOp::create(builder, loc, type, argument,
                                           /*restrict=*/true,
                                           /*writable=*/false);
}

void SiteRewriter::removeIdentityPoints() {
  SmallVector<QuantizeOp> points;
  function.walk([&](QuantizeOp point) {
    if (!simulate || !point.getParameters())
      points.push_back(point);
  });
  for (QuantizeOp point : points) {
    point.getResult().replaceAllUsesWith(point.getInput());
    point.erase();
  }
}

void SiteRewriter::rewritePoints() {
  SmallVector<QuantizeOp> points;
  function.walk([&](QuantizeOp point) { points.push_back(point); });
  for (QuantizeOp point : points) {
    OpBuilder builder(point);
    auto type = cast<RankedTensorType>(point.getType());
    Value result;
    if (point.use_empty()) {
      point.erase();
      continue;
    } else if (std::optional<ConstantTensor> constant =
                   evaluate(point.getResult(), simulate)) {
      result =
          addConstant(builder, point.getLoc(), type, constant->values.data(),
                      constant->values.size() * sizeof(float));
    } else {
      program.quantizers.push_back(makeQuantizer(point));
      size_t quantizer = program.quantizers.size() - 1;
      auto site = siteOfValue.find(point.getInput());
      if (site != siteOfValue.end() && point.getInput().hasOneUse() &&
          !program.sites[site->second].quantizer) {
        program.sites[site->second].quantizer = quantizer;
        result = point.getInput();
      } else {
        result = emitCall(builder, point.getLoc(),
                          {Site::Kind::Quantize, quantizer, std::nullopt},
                          point.getInput(), type);
      }
    }
    point.getResult().replaceAllUsesWith(result);
    point.erase();
  }
}

void SiteRewriter::rewriteConstants() {
  SmallVector<Operation *> constants;
  function.walk([&](Operation *op) {
    if (isa<tosa::ConstOp, arith::ConstantOp>(op))
      constants.push_back(op);
  });
  for (Operation *op : constants) {
    if (op->use_empty()) {
      op->erase();
      continue;
    }
    ElementsAttr attribute;
    auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
    if (!type || type.getNumElements() < kLargeConstant ||
        !matchPattern(op, m_Constant(&attribute)))
      continue;
    // The lowering of a rescale wants to see its constants.
    if (llvm::any_of(op->getUsers(), [](Operation *user) {
          return isa<tosa::RescaleOp>(user);
        }))
      continue;
    ArrayRef<char> bytes = rawData(attribute);
    unsigned width = type.getElementType().isIntOrFloat()
                         ? type.getElementTypeBitWidth()
                         : 0;
    if (width == 0 || width % 8 != 0 ||
        bytes.size() != size_t(type.getNumElements()) * (width / 8))
      continue;
    OpBuilder builder(op);
    Value value =
        addConstant(builder, op->getLoc(), type, bytes.data(), bytes.size());
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}
